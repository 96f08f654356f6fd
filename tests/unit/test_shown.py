"""Structures that the page shows, and the scripts beside it that open them."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import gemmi
import numpy as np
import pytest
from _shown import CHAINS, EXAMPLE, scored_example

from toporank.report import structures
from toporank.report.beside import beside
from toporank.report.formatting import PARTNER_COLOURS
from toporank.report.page import render
from toporank.report.structures import (
    BACKBONE,
    embedded,
    file_to_show,
    for_script,
    superposed,
    viewer_packed,
)
from toporank.structures.read import read_complex


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
    moved = superposed(mirrored, file)
    volume = [np.linalg.det(c.xyz[c.ca[:3]] - c.xyz[c.ca[3]]) for c in (mirrored, moved)]
    assert volume[0] == pytest.approx(volume[1])


def test_quality_comes_from_the_file_that_has_it_as_b_factors(tmp_path):
    graded = gemmi.read_structure(str(EXAMPLE / "near1.pdb.gz"))
    for chain in graded[0]:
        for residue in chain:
            for atom in residue:
                atom.b_iso = 75.0 if residue.seqid.num == 100 else 0.0
    path = tmp_path / "models" / "1AVZ" / "1_near1.cif"
    path.parent.mkdir(parents=True)
    graded.setup_entities()
    graded.make_mmcif_document().write_file(str(path))
    study = scored_example(tmp_path)
    assert file_to_show(tmp_path, study.decoys[0]) == path
    assert file_to_show(tmp_path, study.decoys[1]) == EXAMPLE / "mid1.cif.gz"
    best, second, _ = embedded(study)[0]
    assert (best.graded, second.graded) == (True, False)
    quality = {residue.seqid.num: residue[0].b_iso for chain in unpacked(best.packed) for residue in chain}
    assert {number for number, value in quality.items() if value} == {100}
    assert quality[100] == 75


def test_what_does_not_fit_is_left_out_the_best_of_each_target_first(tmp_path):
    study = scored_example(tmp_path, ("S", "T"))
    size = len(embedded(study)[0][0].packed)
    assert {k: [each.decoy for each in found] for k, found in embedded(study, 0).items()} == {}
    assert {k: [each.decoy for each in found] for k, found in embedded(study, 2 * size).items()} == {0: [0], 1: [0]}
    assert len(json.dumps(for_script(embedded(study, 2 * size)))) < 2 * size + 2000


def test_a_decoy_whose_file_is_gone_is_left_out(tmp_path):
    shutil.copy(EXAMPLE / "far1.pdb", tmp_path)
    assert [each.decoy for each in embedded(scored_example(tmp_path, files=tmp_path))[0]] == [3]


def test_the_viewer_is_3dmol_with_its_licence_beside_it():
    program = gzip.decompress(base64.b64decode(viewer_packed())).decode()
    assert "createViewer" in program
    assert "</script" not in program
    folder = Path(structures.__file__).parent / "3dmol"
    assert "University of Pittsburgh" in (folder / "LICENSE").read_text()


@pytest.mark.parametrize("interface", [":B", "+:B", "::B"])
def test_where_partners_cannot_be_written_each_chain_is_one(interface):
    """Of a chain without a name, and of those whose names stand for something else there."""
    study = scored_example(Path("results"))
    named = {"bench": [row._replace(interface=interface) for row in study.interfaces["bench"]]}
    assert structures.partners_of_decoys(replace(study, interfaces=named)) == {}


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


def test_the_scripts_open_the_best_decoys_by_paths_that_move_with_them(scripts):
    for script in (scripts["top.pml"], scripts["top.cxc"]):
        opened = [line for line in script.splitlines() if "load(" in line or line.startswith("open ")]
        files = ("near1.pdb.gz", "mid1.cif.gz", "far1.pdb")
        assert all(f"../../in/{file}" in line for file, line in zip(files, opened, strict=True))


def test_the_scripts_superpose_on_the_best_and_colour_each_partner(scripts):
    names = ["1AVZ_1_near1", "1AVZ_2_mid1", "1AVZ_3_far1"]
    superpositions = [line for line in scripts["top.pml"].splitlines() if line.startswith("align")]
    assert superpositions == [f"align {name} and chain A, {names[0]} and chain A" for name in names[1:]]
    assert f"color 0x{PARTNER_COLOURS[1][1:]}, {names[2]} and chain B" in scripts["top.pml"]
    assert "matchmaker #1.3/A to #1.1/A" in scripts["top.cxc"]
    assert f"color #1.2/B {PARTNER_COLOURS[1]}" in scripts["top.cxc"]


@pytest.mark.parametrize("name", ["", "A-2", "A;/print()"])
def test_of_a_chain_whose_name_could_mean_something_else_there_the_scripts_say_nothing(tmp_path, name):
    study = scored_example(tmp_path)
    named = {"bench": [row._replace(interface=f"{name}:B") for row in study.interfaces["bench"]]}
    scripts = beside(replace(study, interfaces=named), tmp_path)
    assert " chain " not in scripts["top.pml"]
    assert "print" not in scripts["top.pml"]
    assert not re.search(r"#\d.\d/", scripts["top.cxc"])
    assert "align 1AVZ_2_mid1, 1AVZ_1_near1" in scripts["top.pml"]


def test_a_quotation_mark_in_a_path_does_not_end_it(tmp_path):
    """Escapes are those of Python, and any mark before a blank ends it: `next_token` in ChimeraX's commands/cli.py."""
    script = beside(scored_example(tmp_path / "out", files=tmp_path / 'a" b\\c'), tmp_path / "out")["top.cxc"]
    assert r'open "../a\x22 b\\c/near1.pdb.gz" id 1.1' in script


def test_no_two_objects_or_groups_of_pymol_have_one_name(tmp_path):
    script = beside(scored_example(tmp_path, ("a-b", "a_b", "a b")), tmp_path)["top.pml"]
    loaded = re.findall(r"^/cmd\.load\('.*', '(\w+)'\)$", script, re.MULTILINE)
    groups = re.findall(r"^group (\w+), (.+)$", script, re.MULTILINE)
    assert len(set(loaded)) == len(loaded) == 9
    assert len({name for name, _ in groups}) == 3
    assert " ".join(members for _, members in groups).split() == loaded


def test_targets_that_are_too_many_to_open_are_there_as_comments(tmp_path):
    script = beside(scored_example(tmp_path, tuple(f"T{i:02}" for i in range(21))), tmp_path)["top.cxc"]
    last = script.index("# T20")
    assert "\nopen " in script[:last]
    assert "\nopen " not in script[last:]
    assert "\n# open " in script[last:]


def test_multiqc_gets_a_row_for_each_target(scripts):
    """Keys of MultiQC's custom content: https://docs.seqera.io/multiqc/custom_content."""
    content = json.loads(scripts["toporank_mqc.json"])
    assert content["plot_type"] == "table"
    assert content["id"] == "toporank_bench"
    assert content["data"] == {"1AVZ": {"decoy": "near1", "pred_dockq": 0.85, "pred_capri": "high"}}
    assert set(content["headers"]) == set(content["data"]["1AVZ"])
