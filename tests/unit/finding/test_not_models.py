"""What lies among models and is none: experiments, dictionaries, trajectories, and what predictions
began with.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from given_models import look_at
from structures_text import (
    Atom,
    alanine,
    mmcif,
    pair,
    pdb,
    put,
    shifted,
)
from toporank.errors import ConfigError
from toporank.finding.complexes import BY_FOLDER, BY_SEQUENCE, Grouped
from toporank.finding.discovery import decoys_of
from toporank.structures.identity import INTERMEDIATE

EXPDTA = "EXPDTA    X-RAY DIFFRACTION\n"
HEADER = f"{'HEADER    HYDROLASE':<62}{{0}}\n"
OF_CIF = "_entry.id {0}\n_exptl.entry_id {0}\n_exptl.method '{1}'\n"


def model(seed: int = 0, n: int = 8) -> list[Atom]:
    """A complex of two chains; its residues lie elsewhere for each seed."""
    draw = random.Random(seed)
    atoms = []
    for chain, y in (("A", 0.0), ("B", 5.0)):
        for number in range(1, n + 1):
            x = 3.8 * number + draw.random()
            atoms += alanine(chain, number, x, y)
    return atoms


def in_one_file(*states: list[Atom]) -> str:
    parts = []
    for place, atoms in enumerate(states, 1):
        parts.append(f"MODEL     {place:>4}\n{pdb(atoms)}ENDMDL\n")
    return "".join(parts)


def measured(seed: int, *lines: str) -> str:
    return "".join(lines) + pdb(model(seed))


def measured_cif(seed: int, entry: str, method: str) -> str:
    head, loop, atoms = mmcif(model(seed)).partition("loop_")
    return head + OF_CIF.format(entry, method) + loop + atoms


def boltz(seeds: Iterable[int], folder: str = "predictions/q") -> dict[str, str]:
    """Models of Boltz with their files."""
    files = {}
    for seed in seeds:
        files[f"{folder}/q_model_{seed}.cif"] = mmcif(model(seed))
        files[f"{folder}/confidence_q_model_{seed}.json"] = json.dumps({"iptm": 0.5})
    return files


def found(tmp_path: Path, files: dict[str, str], by: str = BY_SEQUENCE, **how) -> Grouped:  # fmt: skip
    folder = put(tmp_path / "given", files)
    return decoys_of("d", folder, by, tmp_path / "store", **how)


def models(grouped: Grouped) -> set[str]:
    """The names of files that count as models."""
    return {Path(decoy.path).name for decoy in grouped.decoys if not decoy.refused}


def left_out(grouped: Grouped) -> dict[str, str]:
    return {path.name: why for path, why in grouped.passed_over.items()}


# ---- experiments ---------------------------------------------------------------------------------

EXPERIMENTS = {
    "a crystal": measured(9, HEADER.format("9XYZ"), EXPDTA),
    "by electron microscopy": measured(9, "EXPDTA    ELECTRON MICROSCOPY\n"),
    "of a known resolution": measured(9, "REMARK   2 RESOLUTION.    1.68 ANGSTROMS.\n"),
    "mmCIF": measured_cif(9, "9XYZ", "X-RAY DIFFRACTION"),
    "NMR": measured_cif(9, "9XYZ", "SOLUTION NMR"),
    "neutrons": measured_cif(9, "?", "NEUTRON DIFFRACTION"),
}  # fmt: skip


@pytest.mark.parametrize("what", EXPERIMENTS)
@pytest.mark.parametrize("place", ["9xyz", "predictions/q/9xyz", "any/deeper/9xyz"])
def test_an_experiment_among_models_is_left_out_with_a_word(tmp_path, what, place):
    text = EXPERIMENTS[what]
    name = f"{place}.{'cif' if text.startswith('data_') else 'pdb'}"
    files = boltz(range(3)) | {name: text}
    grouped = found(tmp_path, files)
    assert models(grouped) == {f"q_model_{n}.cif" for n in range(3)}
    (why,) = left_out(grouped).values()
    assert why.startswith("it names an experiment (")
    assert {decoy.target for decoy in grouped.decoys} == {"q"}
    said = look_at(tmp_path / "given", tmp_path / "out").said
    assert f"{Path(name).name}: it names an experiment" in said


def test_nothing_is_said_of_the_chains_of_a_file_that_is_left_out(tmp_path):
    near, far = model(9, n=40), []
    for atom in shifted(near[:200], 300.0):
        far.append(replace(atom, number=atom.number + 500))
    files = {"9xyz.pdb": pdb([*near[:200], *far, *near[200:]])}
    (note,) = found(tmp_path / "alone", files).molecules
    assert note.startswith("in 9xyz.pdb: chain 'A'")
    files["9xyz.pdb"] = EXPDTA + files["9xyz.pdb"]
    assert not found(tmp_path / "beside", boltz(range(3)) | files).molecules


def test_a_folder_of_templates_makes_no_targets(tmp_path):
    templates = {}
    for n, residue in enumerate(("ALA", "GLY", "SER")):
        text = measured_cif(n, f"9AB{n}", "X-RAY DIFFRACTION").replace("ALA", residue)
        templates[f"my_templates/9ab{n}.cif"] = text
    templates["my_templates/9abd.pdb"] = EXPDTA + pdb(model(4)[:40])
    grouped = found(tmp_path, boltz(range(2)) | templates)
    assert len(models(grouped)) == 2
    assert len(left_out(grouped)) == 4


MODELS_AFTER_ALL = {
    "a theory": {"a.pdb": measured(8, "EXPDTA    THEORETICAL MODEL\n")},
    "a prediction with its files": {
        "x_model_0.pdb": measured(8, HEADER.format("9XYZ"), EXPDTA),
        "confidence_x_model_0.json": "{}",
    },
    "poses that inherit the lines of one entry": {
        f"pose_{n}.pdb": measured(10 + n, HEADER.format("9XYZ"), EXPDTA) for n in range(3)
    },
    "ModelCIF": {"a.cif": f"{measured_cif(8, 'a', 'X-RAY DIFFRACTION')}_ma_qa_metric.id 1\n"},
}  # fmt: skip


@pytest.mark.parametrize("what", MODELS_AFTER_ALL)
def test_models_that_have_lines_of_an_experiment_are_read(tmp_path, what):
    others = {f"other_{n}.pdb": pdb(model(n)) for n in range(3)}
    grouped = found(tmp_path, others | MODELS_AFTER_ALL[what])
    n = sum("json" not in name for name in MODELS_AFTER_ALL[what])
    assert len(models(grouped)) == 3 + n


def test_experiments_alone_and_labelled_decoys_are_what_shall_be_scored(tmp_path):
    alone = {f"{n}.pdb": measured(n, HEADER.format(f"9AB{n}"), EXPDTA) for n in "123"}
    assert len(models(found(tmp_path / "a", alone))) == 3
    among = alone | {"m.pdb": pdb(model())}
    assert len(models(found(tmp_path / "b", among, labelled=True))) == 4


# ---- mmCIF of another kind -----------------------------------------------------------------------

OTHER_FILES = {
    "structure factors": "data_r9xyzsf\n_cell.length_a 58.2\nloop_\n_refln.index_h\n_refln.F_meas_au\n1 2.0\n",
    "a dictionary": "data_comp_list\nloop_\n_chem_comp.id\nLIG\ndata_comp_LIG\nloop_\n_chem_comp_atom.atom_id\nC1\n",
    "pairs of residues": "data_q\n_entry.id q\nloop_\n_ma_qa_metric_local_pairwise.ordinal_id\n_ma_qa_metric_local_pairwise.metric_value\n1 2.0\n",
    "a small molecule": "data_global\n_cell_length_a 5.4\nloop_\n_atom_site_label\n_atom_site_fract_x\nC1 0.5\n",
    "a report": "data_v\n_entry.id 9XYZ\n_pdbx_vrpt_summary.entry_id 9XYZ\n",
}  # fmt: skip


@pytest.mark.parametrize("name", ["x.cif", "r9xyzsf.ent"])
@pytest.mark.parametrize("what", OTHER_FILES)
def test_mmcif_without_a_structure_is_no_damaged_model(tmp_path, what, name):
    files = {"m_0.pdb": pdb(model(0)), "m_1.pdb": pdb(model(1)), name: OTHER_FILES[what]}  # fmt: skip
    grouped = found(tmp_path, files)
    assert {Path(decoy.path).name for decoy in grouped.decoys} == {"m_0.pdb", "m_1.pdb"}
    assert left_out(grouped) == {name: "no structure, but mmCIF tables of another kind"}  # fmt: skip


def test_what_holds_no_protein_is_no_model(tmp_path):
    others = {}
    for residue, name in (("LIG", "C1"), ("HOH", "O"), ("DA", "P")):
        atoms = [Atom(name, residue, "X", n, 4.0 * n, 0.0, 0.0) for n in range(8)]
        others[f"{residue}.pdb"] = pdb(atoms)
    files = {"m_0.pdb": pdb(model(0)), "m_1.pdb": pdb(model(1))} | others
    assert models(found(tmp_path / "beside", files)) == {"m_0.pdb", "m_1.pdb"}
    assert models(found(tmp_path / "alone", others)) == set(others)
    labelled = found(tmp_path / "labelled", files, labelled=True)
    assert models(labelled) == set(files)


@pytest.mark.parametrize(
    "text",
    [
        "data_x\n",
        "data_x\n_entry.id x\nloop_\n_entity_poly.entity_id\n1\n",
        "data_x\nloop_\n_struct_asym.id\nA\nB\n",
        "data_x\nloop_\n_atom_site.id\n1\n",
    ],
)
def test_a_structure_that_is_cut_off_keeps_its_row(tmp_path, text):
    grouped = found(tmp_path, {"m_0.pdb": pdb(model(0)), "x.cif": text})
    assert len(grouped.decoys) == 2


def test_where_nothing_else_is_there_the_message_says_so(tmp_path):
    (tmp_path / "given").mkdir()
    (tmp_path / "given/x.cif").write_text(OTHER_FILES["a dictionary"])
    with pytest.raises(ConfigError, match="no structure file found; 1 file is not read"):  # fmt: skip
        look_at(tmp_path / "given", tmp_path / "out")


# ---- trajectories --------------------------------------------------------------------------------


def several(seeds: Iterable[int], n: int = 8) -> str:
    """A file with a model for each seed."""
    return in_one_file(*(model(seed, n) for seed in seeds))


def poses() -> str:
    return in_one_file(*(model()[:40] + shifted(model()[40:], x) for x in (1.0, 2.0)))


@pytest.mark.parametrize(
    ("design", "trajectory"),
    [
        ("ppi_0_model_1.pdb", "ppi_0_denoised_model_1.pdb"),
        ("ppi_0_model_1.pdb", "steps/ppi_0_noisy_model_1.pdb"),
        ("design_7.pdb", "traj/design_7_pX0_traj.pdb"),
        ("x-y.pdb", "x-y-frames.pdb"),
        ("best.pdb", "trajectory_of_best.pdb"),
    ],
)
def test_steps_to_a_model_are_none_whatever_their_program_calls_them(
    tmp_path, design, trajectory
):
    files = {design: pdb(model(0)), trajectory: several((5, 6, 0)), "other.pdb": pdb(model(4))}  # fmt: skip
    grouped = found(tmp_path, files)
    assert models(grouped) == {design, "other.pdb"}
    (refused,) = (decoy.refused for decoy in grouped.decoys if decoy.refused)
    assert refused == f"{INTERMEDIATE}the steps of a trajectory"


def test_so_they_are_where_atoms_of_a_step_have_no_place(tmp_path):
    first = []
    for atom in model(5):
        is_lost = atom.chain == "A" and atom.number == 3
        first.append(replace(atom, x=1.0, y=1.0, z=1.0) if is_lost else atom)
    steps = f"MODEL        1\n{pdb(first)}ENDMDL\n{several((6,))}"
    grouped = found(tmp_path, {"x.pdb": pdb(model(0)), "x_steps.pdb": steps})
    assert models(grouped) == {"x.pdb"}


def noise(seed: int) -> str:
    draw = random.Random(seed)
    atoms = [replace(atom, x=draw.gauss(0, 12)) for atom in model(seed)]
    return pdb(atoms)


def test_so_they_are_in_a_file_each_where_one_is_noise(tmp_path):
    frames = {f"frames/q_model_0_step_{n}.pdb": pdb(model(n)) for n in (20, 30, 40)}
    files = boltz(range(2)) | frames
    assert len(models(found(tmp_path, files))) == 5
    frames["frames/q_model_0_step_10.pdb"] = noise(10)
    grouped = found(tmp_path, frames)
    assert models(grouped) == {"q_model_0.cif", "q_model_1.cif"}
    refused = {decoy.refused for decoy in grouped.decoys if decoy.refused}
    assert refused == {f"{INTERMEDIATE}the steps of a trajectory"}


def test_a_failed_model_is_no_step_to_others(tmp_path):
    files = {f"m_{n}.pdb": pdb(model(n)) for n in range(3)} | {"m_3.pdb": noise(3)}
    assert len(models(found(tmp_path, files))) == 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("wt_poses.pdb", poses()),
        ("ensemble.pdb", several((5, 6, 0))),
        ("wt_longer.pdb", several((5, 6, 0), 9)),
    ],
    ids=["rigid poses", "called otherwise", "another protein"],
)
def test_other_files_of_several_models_are_models(tmp_path, name, text):
    grouped = found(tmp_path, {"wt.pdb": pdb(model(0)), name: text})
    assert len(grouped.decoys) == 1 + text.count("ENDMDL")
    assert not any(decoy.refused for decoy in grouped.decoys)


# ---- what predictions began with -----------------------------------------------------------------

START = pdb(model(30))
ALONE = {
    "in a folder of its own": {"start/complex_clean.pdb": START},
    "beside the predictions": {"predictions/q/native.pdb": START},
    "with a cell": {"ref/x.pdb": f"CRYST1   50.000   50.000   50.000  90.00  90.00  90.00 P 1\n{START}"},
    "called after the job": {"start/q.pdb": START},
    "a chain of it": {"start/receptor.pdb": pdb(model(30)[:40])},
    "with its parts": {
        "start/complex.pdb": START,
        "start/receptor.pdb": pdb(model(30)[:40]),
        "start/ligand.pdb": pdb(model(30)[40:]),
    },
    "it and what was made of it": {
        "start/a.pdb": START,
        "start/a_clean.pdb": pdb(replace(a, x=round(a.x + a.number % 2, 3)) for a in model(30)),
    },
    "states of one pose": {"nmr.pdb": in_one_file(model(30), shifted(model(30), 1.0))},
    "two, each in a folder": {"start/a.pdb": START, "other/b.cif": mmcif(model(31))},
}  # fmt: skip


@pytest.mark.parametrize("what", ALONE)
def test_the_one_structure_that_no_predictor_wrote_is_asked_about(tmp_path, what):
    grouped = found(tmp_path, boltz(range(3)) | ALONE[what])
    assert models(grouped) == {f"q_model_{n}.cif" for n in range(3)}
    assert {decoy.target for decoy in grouped.decoys} == {"q"}
    assert len(left_out(grouped)) == len(ALONE[what])
    assert all("no predictor is known that wrote it" in why for why in left_out(grouped).values())  # fmt: skip
    by_folder = found(tmp_path, {}, BY_FOLDER)
    assert len(models(by_folder)) == 3 + len(ALONE[what])


NOT_ALONE = {
    "two poses": {
        "docked/one.pdb": START,
        "docked/two.pdb": pdb(model(30)[:40] + shifted(model(30)[40:], 12.0)),
    },
    "two poses in a file": {
        "docked.pdb": in_one_file(
            model(30), model(30)[:40] + shifted(model(30)[40:], 12.0)
        )
    },
    "several": {f"docked/pose_{n}.pdb": pdb(model(30 + n)) for n in range(3)},
    "called after a model": {"refined/q_model_0_relaxed.pdb": START},
    "a copy": {"best/best.cif": mmcif(model(1))},
    "of a known program": {"haddock/emref_1.pdb": START},
    "another complex": {"other/x.pdb": pdb(model(30)).replace("ALA", "GLY")},
}


@pytest.mark.parametrize("what", NOT_ALONE)
def test_other_models_beside_those_of_a_predictor_are_read(tmp_path, what):
    grouped = found(tmp_path, boltz(range(3)) | NOT_ALONE[what])
    assert len(models(grouped)) == 3 + len(NOT_ALONE[what])
    assert left_out(grouped) == {}


def test_models_without_a_file_of_a_predictor_are_read(tmp_path):
    files = {f"run/m_{n}.pdb": pdb(model(n)) for n in range(3)} | {"start/x.pdb": START}
    assert len(models(found(tmp_path, files))) == 4


def test_an_interface_of_two_alanines_is_enough(tmp_path):
    assert models(found(tmp_path, {"a.pdb": pdb(pair())})) == {"a.pdb"}
