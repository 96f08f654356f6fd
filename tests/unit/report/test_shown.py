"""Structures that the page shows, and the scripts beside it that open them."""

from __future__ import annotations

import ast
import base64
import gzip
import json
import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import gemmi
import numpy as np
import pytest
from _shown import CHAINS, EXAMPLE, scored_example
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toporank.layout import repository
from toporank.ranking.residues import ResidueRow
from toporank.report import views
from toporank.report.beside import beside
from toporank.report.formatting import PARTNER_COLOURS
from toporank.report.page import render
from toporank.report.views import BACKBONE, embedded, file_to_show, for_script, superposed, viewer_packed
from toporank.scorer.scorer import Scorer
from toporank.structures.partners import partner_name
from toporank.structures.read import read_complex
from toporank.structures.write import mmcif


def unpacked(text: str) -> gemmi.Model:
    content = gzip.decompress(base64.b64decode(text)).decode()
    return gemmi.make_structure_from_block(gemmi.cif.read_string(content).sole_block())[0]


@pytest.fixture(scope="module")
def shown():
    return embedded(scored_example(Path("results")))[0]


# ---- what is embedded -------------------------------------------------------------------------------------


def test_the_best_decoys_are_embedded_without_copies_and_each_has_its_partners(shown):
    assert [each.decoy for each in shown] == [0, 1, 3]
    assert {each.partners for each in shown} == {(("A",), ("B",))}
    assert not any(each.graded for each in shown)


def test_backbones_are_whole_and_only_residues_in_contact_have_side_chains(shown):
    model = unpacked(shown[0].packed)
    assert {chain.name: len(chain) for chain in model} == CHAINS
    backbone = {name.decode() for name in BACKBONE}
    residues = [residue for chain in model for residue in chain]
    assert all(backbone <= {atom.name for atom in residue} for residue in residues)
    with_side_chain = {i for i, residue in enumerate(residues) if {atom.name for atom in residue} - backbone}
    glycines = {i for i, residue in enumerate(residues) if residue.name == "GLY"}
    assert with_side_chain == set(shown[0].touching) - glycines
    assert 10 < len(with_side_chain) < 60


def test_coordinates_are_those_of_the_file_but_for_a_motion_and_a_tenth_of_an_angstrom(shown):
    model = unpacked(shown[0].packed)
    file = read_complex(EXAMPLE / "near1.pdb.gz")
    ours = np.array([residue["CA"][0].pos.tolist() for chain in model for residue in chain])
    theirs = file.xyz[file.ca]
    apart = [np.linalg.norm(xyz[:, None] - xyz, axis=2) for xyz in (ours, theirs)]
    assert np.abs(apart[0] - apart[1]).max() < 0.2
    assert np.abs(ours.mean(axis=0)).max() < 0.1


def test_all_decoys_of_a_target_are_superposed_on_their_larger_partner(shown):
    """Rigid docking leaves each partner as it is, so that one can lie on the other exactly."""
    first, other = (unpacked(shown[i].packed) for i in (0, 2))
    distance = {
        name: max(a["CA"][0].pos.dist(b["CA"][0].pos) for a, b in zip(first[name], other[name], strict=True))
        for name in CHAINS
    }
    assert distance["A"] < 0.2
    assert distance["B"] > 5


def test_a_mirror_image_is_not_turned_inside_out():
    file = read_complex(EXAMPLE / "near1.pdb.gz")
    mirrored = replace(file, xyz=file.xyz * [1, 1, -1])
    moved = superposed(mirrored, file, {"A": "A", "B": "B"})
    volume = [np.linalg.det(c.xyz[c.ca[:3]] - c.xyz[c.ca[3]]) for c in (mirrored, moved)]
    assert volume[0] == pytest.approx(volume[1])


def test_a_decoy_with_a_file_of_its_own_shows_the_quality_of_its_residues(tmp_path):
    path = tmp_path / "models" / "1AVZ" / "1_near1.cif"
    path.parent.mkdir(parents=True)
    path.write_text(mmcif(read_complex(EXAMPLE / "near1.pdb.gz"), np.zeros(1000)))
    row = ResidueRow("1AVZ", "near1", "B", "100", 0.746)
    study = replace(scored_example(tmp_path), residues={"bench": {("1AVZ", "near1"): [row]}})
    assert file_to_show(tmp_path, study.decoys[0]) == path
    assert file_to_show(tmp_path, study.decoys[1]) == EXAMPLE / "mid1.cif.gz"
    best, second, _ = embedded(study)[0]
    assert (best.graded, second.graded) == (True, False)
    quality = {(chain.name, r.seqid.num): r[0].b_iso for chain in unpacked(best.packed) for r in chain}
    assert {place: value for place, value in quality.items() if value} == {("B", 100): 75}


def test_the_page_says_what_quality_means_for_this_scorer(tmp_path):
    row = ResidueRow("1AVZ", "near1", "B", "100", 0.746)
    study = replace(scored_example(tmp_path), residues={"bench": {("1AVZ", "near1"): [row]}})
    shipped, probability, mean = (
        Scorer.open(repository() / "resources/scorer"),
        "how probable it is",
        "how well the networks",
    )
    for scorer, said, other in ((shipped, probability, mean), (replace(shipped, quality=None), mean, probability)):
        (lead,) = re.findall(r"Predicted quality of each.*?</p>", render(replace(study, scorer=scorer)), re.S)
        assert said in lead
        assert other not in lead


def test_what_does_not_fit_is_left_out_the_best_of_each_target_first(tmp_path):
    study = scored_example(tmp_path, ("S", "T"))
    size = len(embedded(study)[0][0].packed)
    assert {k: [each.decoy for each in found] for k, found in embedded(study, 0).items()} == {}
    assert {k: [each.decoy for each in found] for k, found in embedded(study, 2 * size).items()} == {0: [0], 1: [0]}
    assert len(json.dumps(for_script(embedded(study, 2 * size)))) < 2 * size + 2000


def test_without_any_structure_the_page_says_why(tmp_path):
    why = "No structure is shown here: the files of the models were moved or changed"
    assert why in render(scored_example(tmp_path, files=tmp_path))
    assert why not in render(scored_example(tmp_path))


def test_one_complex_without_room_does_not_keep_the_others_from_the_page(tmp_path, monkeypatch):
    large = "1" * 10_000
    sizes = {"S": large, "T": "1"}
    one = views.Shown(0, (), [], False, "")
    monkeypatch.setattr(views, "_of_target", lambda rows, *_: (one._replace(packed=sizes[row.target]) for row in rows))
    study = scored_example(tmp_path, ("S", "T"))
    assert {target: len(found) for target, found in embedded(study, len(large) - 1).items()} == {1: 4}
    assert {target: len(found) for target, found in embedded(study, len(large) + 4).items()} == {0: 1, 1: 4}


def test_a_full_page_reads_no_more_structures(tmp_path, monkeypatch):
    reads = []
    one = views.Shown(0, (), [], False, "12")
    monkeypatch.setattr(views, "_of_target", lambda rows, *_: (reads.append(row) or one for row in rows))
    embedded(scored_example(tmp_path, tuple(f"T{i}" for i in range(50))), 3)
    assert len(reads) == 1 + views.TRIES


def test_a_decoy_whose_file_has_other_chains_now_is_left_out(tmp_path):
    study = scored_example(tmp_path)
    other = [row._replace(interface="A:Z") if row.decoy == "mid1" else row for row in study.interfaces["bench"]]
    assert [each.decoy for each in embedded(replace(study, interfaces={"bench": other}))[0]] == [0, 3]


@pytest.mark.parametrize("name", ["A+B:C", "H:L", "=1+1", "%2B"])
def test_a_chain_of_any_name_is_a_partner_on_the_page(tmp_path, name):
    for file in ("near1.pdb.gz", "mid1.cif.gz", "mid2.pdb.gz", "far1.pdb"):
        structure = gemmi.read_structure(str(EXAMPLE / file))
        structure[0]["A"].name = name
        structure.setup_entities()
        structure.make_mmcif_document().write_file(str(tmp_path / f"{file}.cif"))
    written = [partner_name((chain,)) for chain in (name, "B")]
    study = scored_example(tmp_path, files=tmp_path)
    rows = [row._replace(path=f"{row.path}.cif") for row in study.results]
    named = {"bench": [row._replace(interface=":".join(written)) for row in study.interfaces["bench"]]}
    study = replace(study, results=rows, interfaces=named)
    assert {each.partners for each in embedded(study)[0]} == {tuple(sorted(((name,), ("B",))))}
    assert len(embedded(study)[0]) == 3
    PyMOL(beside(study, tmp_path)["top.pml"])


def test_a_decoy_whose_file_is_gone_is_left_out(tmp_path):
    shutil.copy(EXAMPLE / "far1.pdb", tmp_path)
    assert [each.decoy for each in embedded(scored_example(tmp_path, files=tmp_path))[0]] == [3]


def test_the_viewer_is_3dmol_with_its_licence_beside_it():
    program = gzip.decompress(base64.b64decode(viewer_packed())).decode()
    assert "createViewer" in program
    assert "</script" not in program
    folder = Path(views.__file__).parent / "3dmol"
    assert "University of Pittsburgh" in (folder / "LICENSE").read_text()


@pytest.mark.parametrize("interface", [":B", "+:B", "::B"])
def test_where_a_chain_has_no_name_each_chain_is_one(interface):
    study = scored_example(Path("results"))
    named = {"bench": [row._replace(interface=interface) for row in study.interfaces["bench"]]}
    assert views.partners_of_decoys(replace(study, interfaces=named)) == {}


def test_a_chain_without_a_name_leaves_the_page_as_it_is(tmp_path):
    study = scored_example(tmp_path)
    named = {"bench": [row._replace(interface=":B") for row in study.interfaces["bench"]]}
    assert embedded(replace(study, interfaces=named), 10**5) == embedded(study, 10**5)
    assert '"p":[["A"],["B"]]' in render(replace(study, interfaces=named))


# ---- beside the page --------------------------------------------------------------------------------------


@pytest.fixture
def scripts(tmp_path) -> dict[str, str]:
    """Of a data set whose decoys lie two folders above its scores."""
    return beside(scored_example(tmp_path / "scores" / "bench", files=tmp_path / "in"), tmp_path / "scores" / "bench")


class PyMOL:
    """What a script asks of PyMOL, by its parser: outside of `python` blocks it knows comments alone.

    There PyMOL would split lines at `;` before it looks for comments, and join those that end in a backslash; within
    a block it hands them to Python as they are.
    """

    def __init__(self, script: str, missing: str = ""):
        self.calls: list[tuple] = []
        self._missing, block, inside = missing, [], False
        for line in script.splitlines():
            if line.strip() == ("python end" if inside else "python"):
                inside = not inside
            elif inside:
                block.append(line)
            else:
                assert re.fullmatch(r"# [A-Za-z :.]+", line), line
        assert not inside
        modules = {"pymol": SimpleNamespace(cmd=self, util=self)}
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "pymol", modules["pymol"])
            patch.setattr(os, "chdir", lambda path: None)
            exec("\n".join(block), {"__script__": "top.pml"})

    def __getattr__(self, name: str):
        return lambda *args, **known: self.calls.append((name, *args))

    def load(self, path: str, name: str) -> None:
        if path == self._missing:
            raise OSError(path)
        self.calls.append(("load", path, name))

    def get_names(self, _: str) -> list[str]:
        return [call[2] for call in self.all("load")]

    def all(self, name: str) -> list[tuple]:
        return [call for call in self.calls if call[0] == name]


CHIMERAX = re.compile(
    r'# [A-Za-z :.]+|(# )?open ("[^"]+") id \d+\.\d name "\w+"|'
    r'(# )?(matchmaker|hide|cartoon|color|show|view)\b[^;"\\]*|',
    re.ASCII,
)


def opened_by_chimerax(script: str) -> list[str]:
    """The paths that a script opens; it has no other commands than it should."""
    lines = [CHIMERAX.fullmatch(line) or re.fullmatch(r"# \w*", line, re.ASCII) for line in script.split("\n")]
    assert all(lines), script
    return [ast.literal_eval(line[2]) for line in lines if line.re is CHIMERAX and line[2] and not line[1]]


def test_the_scripts_open_the_best_decoys_by_paths_that_move_with_them(scripts):
    files = [f"../../in/{file}" for file in ("near1.pdb.gz", "mid1.cif.gz", "far1.pdb")]
    assert [path for _, path, _ in PyMOL(scripts["top.pml"]).all("load")] == files
    assert opened_by_chimerax(scripts["top.cxc"]) == files


def test_the_scripts_superpose_on_the_best_and_colour_each_partner(scripts):
    names = ["model_1", "model_2", "model_3"]
    pymol = PyMOL(scripts["top.pml"])
    assert pymol.all("align") == [("align", f"{name} and chain A", f"{names[0]} and chain A") for name in names[1:]]
    assert ("color", f"0x{PARTNER_COLOURS[1][1:]}", f"{names[2]} and chain B") in pymol.calls
    assert "matchmaker #1.3/A to #1.1/A" in scripts["top.cxc"]
    assert f"color #1.2/B {PARTNER_COLOURS[1]}" in scripts["top.cxc"]


def test_a_decoy_whose_file_is_gone_does_not_keep_pymol_from_the_others(scripts, capsys):
    pymol = PyMOL(scripts["top.pml"], missing="../../in/near1.pdb.gz")
    assert "near1.pdb.gz is not shown" in capsys.readouterr().out
    assert pymol.all("group") == [("group", "target_1AVZ", "model_2 model_3")]


@pytest.mark.parametrize("name", ["", "A-2", "A;/print()", "A\nB"])
def test_of_a_chain_whose_name_could_mean_something_else_there_the_scripts_say_nothing(tmp_path, name):
    study = scored_example(tmp_path)
    named = {"bench": [row._replace(interface=f"{name}:B") for row in study.interfaces["bench"]]}
    scripts = beside(replace(study, interfaces=named), tmp_path)
    assert PyMOL(scripts["top.pml"]).all("align")[0] == ("align", "model_2", "model_1")
    assert not PyMOL(scripts["top.pml"]).all("color")
    assert not re.search(r"#\d.\d/", scripts["top.cxc"])


NASTY = st.text(
    st.one_of(st.sampled_from(";#\\\"'\n\r\t /@$`%{}[]()\u2028\x85\x00\x1a"), st.characters(exclude_categories=())),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60)
@given(target=NASTY, decoy=NASTY, folder=NASTY)
@example("1A; system touch X", "a\\", 'a" b\\c')
@example("python end", "python end\nsystem touch X", "'); import os #")
@example("x\\", "{0}", "; exit")
def test_no_name_is_a_command_and_every_file_is_opened(target, decoy, folder):
    """A model of both parsers sees what is meant, whatever target, decoy and folder are called."""
    study = scored_example(Path("scores"), files=Path(f"in{folder}"))
    row = study.results[0]._replace(target=target, decoy=decoy)
    scripts = beside(replace(study, results=[row]), Path("scores"))
    path = os.path.relpath(row.path, "scores")
    ((_, opened, name),) = PyMOL(scripts["top.pml"]).all("load")
    assert (opened, opened_by_chimerax(scripts["top.cxc"])) == (path, [path])
    assert re.fullmatch(r"\w+", name, re.ASCII)
    usual = beside(scored_example(Path("scores")), Path("scores"))
    for script in ("top.pml", "top.cxc"):
        lines = {*scripts[script].split("\n")} - {*usual[script].split("\n")}
        assert all(re.fullmatch(r'[A-Za-z0-9_./\\ "#,\[\]-]*', line) for line in lines), lines


def test_no_two_objects_or_groups_of_pymol_have_one_name(tmp_path):
    pymol = PyMOL(beside(scored_example(tmp_path, ("a-b", "a_b", "a b")), tmp_path)["top.pml"])
    loaded, groups = pymol.get_names("objects"), pymol.all("group")
    assert len(set(loaded)) == len(loaded) == 9
    assert len({name for _, name, _ in groups}) == 3
    assert " ".join(members for *_, members in groups).split() == loaded


def test_targets_that_are_too_many_are_in_the_scripts_but_not_opened(tmp_path):
    scripts = beside(scored_example(tmp_path, tuple(f"T{i:02}" for i in range(21))), tmp_path)
    assert [name for _, name, _ in PyMOL(scripts["top.pml"]).all("group")] == [f"target_T{i:02}" for i in range(20)]
    assert "target_T20" in scripts["top.pml"]
    last = scripts["top.cxc"].index("# T20")
    assert "\nopen " in scripts["top.cxc"][:last]
    assert "\nopen " not in scripts["top.cxc"][last:]
    assert "\n# open " in scripts["top.cxc"][last:]


def test_names_are_no_html_in_multiqc(tmp_path):
    content = json.loads(beside(scored_example(tmp_path, ("<b>",)), tmp_path)["toporank_mqc.json"])
    assert [*content["data"]] == ["&lt;b&gt;"]


def test_multiqc_gets_a_row_for_each_target(scripts):
    """Keys of MultiQC's custom content: https://docs.seqera.io/multiqc/custom_content."""
    content = json.loads(scripts["toporank_mqc.json"])
    assert content["plot_type"] == "table"
    assert content["id"] == "toporank_bench"
    assert content["data"] == {"1AVZ": {"decoy": "near1", "pred_dockq": 0.85, "pred_capri": "high"}}
    assert set(content["headers"]) == set(content["data"]["1AVZ"])
