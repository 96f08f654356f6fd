"""What predictors write beside their models, file by file, and what is made of files that are not as they should be."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import zipfile
from pathlib import Path

import gemmi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from structures_text import alanine, changed, mmcif, pdb, write
from toporank.confidence import files, haddock
from toporank.confidence.content import read_values
from toporank.confidence.decoy import confidence_of
from toporank.confidence.pickles import read_pickle
from toporank.confidence.table import Confidence, read_confidence, write_confidence
from toporank.errors import ConfidenceError
from toporank.evaluation.agreement import disagreements
from toporank.evaluation.ranking import RankedDecoy

ATOMS = alanine("A", 1, 0.0) + alanine("A", 2, 0.0, 4.0) + alanine("B", 1, 5.0)
"""Two residues of chain A, one of chain B, all at the interface."""
PAE = [[0.0, 1.0, 2.0], [1.0, 0.0, 4.0], [3.0, 5.0, 0.0]]
IPTM_PTM = {"ptm": 0.75, "iptm": 0.5}


def with_b(values: list[float], atoms=ATOMS) -> str:
    """PDB text in which the residues have these B-factors."""
    places = list(dict.fromkeys((a.chain, a.number) for a in atoms))
    lines = zip(atoms, pdb(atoms).splitlines(), strict=True)
    return "".join(f"{t[:60]}{values[places.index((a.chain, a.number))]:6.2f}{t[66:]}\n" for a, t in lines)


def laid(folder: Path, model: str, beside: dict[str, object], text: str | None = None) -> Path:
    """A model and the files beside it: JSON, npz or pickle by their names. Returns the model's path."""
    for name, values in beside.items():
        path = folder / name
        if name.endswith(".npz"):
            np.savez(path, **values)
        elif name.endswith(".pkl"):
            path.write_bytes(pickle.dumps(values, protocol=4))
        elif name.endswith(".gz"):
            path.write_bytes(gzip.compress(json.dumps(values).encode()))
        else:
            path.write_text(values if isinstance(values, str) else json.dumps(values))
    return write(folder / model, text or (mmcif(ATOMS) if ".cif" in model else with_b([90.0, 80.0, 70.0])))


TAG = "rank_001_alphafold2_multimer_v3_model_1_seed_000"
ORDER = {"iptm+ptm": {"model_2_pred_0": 0.6, "model_1_pred_0": 0.4}, "order": ["model_2_pred_0", "model_1_pred_0"]}
RESULT = {
    "predicted_aligned_error": np.array(PAE, np.float32),
    "plddt": np.array([90.0, 80.0, 70.0]),
    "ptm": np.array(0.75, np.float32),
    "iptm": np.float64(0.5),
    "ranking_confidence": np.float64(0.55),
    "distogram": {"logits": np.zeros((3, 3, 2))},
}
OF_TOKENS = {"token_chain_ids": ["A", "A", "B"], "token_res_ids": [1, 2, 1]}
LAYOUTS = {
    "ColabFold": (f"q_relaxed_{TAG}.pdb", {f"q_scores_{TAG}.json": {**IPTM_PTM, "pae": PAE}}, 0.55),
    "ColabFold, early": (
        "q_unrelaxed_rank_1_model_3.pdb", {"q_unrelaxed_rank_1_model_3_scores.json": {**IPTM_PTM, "pae": PAE}}, 0.55,
    ),
    "AlphaFold-Multimer": ("ranked_0.pdb", {"ranking_debug.json": ORDER, "result_model_2_pred_0.pkl": RESULT}, 0.55),
    "AlphaFold-Multimer, one of its own": ("relaxed_model_1_pred_0.pdb", {"result_model_1_pred_0.pkl": RESULT}, 0.55),
    "AlphaFold 3": (
        "job_seed-1_sample-0_model.cif",
        {
            "job_seed-1_sample-0_summary_confidences.json": {**IPTM_PTM, "ranking_score": 0.55},
            "job_seed-1_sample-0_confidences.json": {"pae": PAE, **OF_TOKENS},
        },
        0.55,
    ),
    "AlphaFold 3, early": (
        "model.cif",
        {
            "summary_confidences.json": {**IPTM_PTM, "ranking_score": 0.55},
            "confidences.json.gz": {"pae": PAE, **OF_TOKENS},
        },
        0.55,
    ),
    "AlphaFold 3, server": (
        "fold_x_model_2.cif",
        {
            "fold_x_summary_confidences_2.json": {**IPTM_PTM, "ranking_score": 0.55},
            "fold_x_full_data_2.json": {"pae": PAE, **OF_TOKENS},
        },
        0.55,
    ),
    "Boltz": (
        "x_model_0.cif",
        {"confidence_x_model_0.json": {**IPTM_PTM, "confidence_score": 0.9}, "pae_x_model_0.npz": {"pae": PAE}},
        0.9,
    ),
    "Chai-1": (
        "pred.model_idx_0.cif",
        {
            "scores.model_idx_0.npz": {"ptm": [0.75], "iptm": [0.5], "aggregate_score": [0.55]},
            "pae.model_idx_0.npz": {"pae": PAE},
        },
        0.55,
    ),
    "Protenix": (
        "x_sample_0.cif",
        {
            "x_summary_confidence_sample_0.json": {**IPTM_PTM, "ranking_score": 0.55},
            "x_full_data_sample_0.json": {"token_pair_pae": PAE},
        },
        0.55,
    ),
}  # fmt: skip


@pytest.mark.parametrize("program", LAYOUTS)
def test_what_a_predictor_writes_is_found_by_its_names(tmp_path, program):
    model, beside, score = LAYOUTS[program]
    row = confidence_of("T", "d", laid(tmp_path, model, beside))
    assert (row.predictor, row.status, row.reason) == (program.partition(",")[0], "ok", "")
    assert (row.ptm, row.iptm, row.ranking_score) == (0.75, 0.5, pytest.approx(score))
    assert row.interface_pae == pytest.approx((2 + 4 + 3 + 5) / 4)


def test_of_a_link_to_a_model_the_files_beside_the_model_count(tmp_path):
    model, scores = (tmp_path / name for name in ("job_model_0.cif", "confidence_job_model_0.json"))
    model.write_text(mmcif(ATOMS))
    scores.write_text(json.dumps({"iptm": 0.5}))
    link = tmp_path / "elsewhere/d.cif"
    link.parent.mkdir()
    link.symlink_to(model)
    assert files.place_of(link) == model.resolve()
    assert files.place_of(model) == model


def test_the_ranked_models_of_alphafold_2_take_their_scores_by_the_order(tmp_path):
    pae = {f"pae_model_{n}_pred_0.json": [{"predicted_aligned_error": [[n] * 3] * 3}] for n in (1, 2)}
    first, second = (
        confidence_of("T", name, laid(tmp_path, f"{name}.pdb", {"ranking_debug.json": ORDER, **pae}))
        for name in ("ranked_0", "ranked_1")
    )
    assert (first.ranking_score, first.interface_pae) == (0.6, 2)
    assert (second.ranking_score, second.interface_pae) == (0.4, 1)


def test_a_modified_residue_has_a_token_for_each_heavy_atom_or_one_that_is_named(tmp_path):
    atoms = [*ATOMS[:5], *changed(ATOMS[5:10], residue="MSE"), *ATOMS[10:]]
    by_atom = np.zeros((7, 7))
    by_atom[0, 6], by_atom[1, 6], by_atom[6, :2] = 2, 4, (3, 5)  # the first token of the residue counts
    by_atom[2:6, 6] = by_atom[6, 2:6] = 30
    beside = {"pae_x_model_0.npz": {"pae": by_atom}}
    assert confidence_of("T", "d", laid(tmp_path, "x_model_0.cif", beside, mmcif(atoms))).interface_pae == 3.5


@pytest.mark.parametrize(
    ("beside", "reason"),
    [
        ({"confidence_x_model_0.json": '{"ptm": 0.7'}, "confidence_x_model_0.json is no readable json file"),
        ({"confidence_x_model_0.json": "[1, 2]"}, "confidence_x_model_0.json holds no values by name"),
        ({"confidence_x_model_0.json": {"iptm": "high"}}, "iptm is no array of numbers"),
        ({"confidence_x_model_0.json": {"iptm": [0.1, 0.2]}}, "iptm is not one number"),
        ({"pae_x_model_0.npz": {"pae": np.zeros((4, 4))}}, "files have 4 residues or atoms, the model 3 of protein"),
        ({"pae_x_model_0.npz": {"plddt": [0.9] * 3}}, "pae_x_model_0.npz has no pae"),
        ({"pae_x_model_0.npz": {"pae": np.zeros((3, 2))}}, "pae is no square matrix, but of shape (3, 2)"),
        ({"pae_x_model_0.npz": {"pae": np.full((3, 3), -1)}}, "pae holds negative numbers, or none"),
        ({"pae_x_model_0.npz": {"pae": np.array([object()])}}, "pae_x_model_0.npz is no readable npz file"),
    ],
)
def test_what_cannot_be_used_is_named_and_the_rest_is_kept(tmp_path, beside, reason):
    whole = {"confidence_x_model_0.json": IPTM_PTM, **beside}
    row = confidence_of("T", "d", laid(tmp_path, "x_model_0.cif", whole))
    assert row.status == "incomplete"
    assert reason in row.reason
    assert row.interface_pae is None
    assert row.plddt is None


@pytest.mark.parametrize("program", ["ColabFold", "AlphaFold 3", "Boltz", "AlphaFold-Multimer, one of its own"])
def test_a_number_that_cannot_be_used_does_not_take_others_along(tmp_path, program):
    model, beside, score = LAYOUTS[program]
    bad = {
        name: {**values, "ptm": np.array([0.6, 0.7])} if "ptm" in values else values for name, values in beside.items()
    }
    bad = {
        name: {k: v if name[-3:] == "pkl" else np.asarray(v).tolist() for k, v in of.items()}
        for name, of in bad.items()
    }
    row = confidence_of("T", "d", laid(tmp_path, model, bad))
    assert (row.status, row.reason, row.ptm, row.iptm) == ("incomplete", "ptm is not one number", None, 0.5)
    assert row.ranking_score == (None if program == "ColabFold" else score)
    assert row.interface_pae == 3.5


@pytest.mark.parametrize("odd", ["charge", "mark", "suffix"])
def test_a_model_that_is_odd_and_can_be_read_is_as_any_other(tmp_path, odd):
    """Text in the columns of the charge, the mark of the order of bytes, a suffix in capitals."""
    name, text = ("pred.model_idx_1.cif", mmcif(ATOMS)) if odd == "mark" else ("ranked_0.pdb", PLDDT)
    expected = confidence_of("T", "d", laid(tmp_path, name, {}, text))
    if odd == "charge":
        text = "".join(f"{line[:78]:78}A1\n" for line in text.splitlines())
    (tmp_path / name).write_text("\ufeff" * (odd == "mark") + text)
    if odd == "suffix":
        name += ".GZ"
        (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    assert confidence_of("T", "d", tmp_path / name) == expected


def test_an_array_that_claims_to_be_large_is_refused(tmp_path):
    claim = io.BytesIO()
    shape = (3, 10**14)
    np.lib.format.write_array_header_1_0(claim, {"descr": "<f8", "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(tmp_path / "pae_x_model_0.npz", "w") as archive:
        archive.writestr("pae.npy", claim.getvalue() + bytes(72))
    row = confidence_of("T", "d", laid(tmp_path, "x_model_0.cif", {}))
    assert (row.status, row.reason) == ("incomplete", "pae_x_model_0.npz asks for more memory than there is")


def test_tokens_of_another_model_are_noticed(tmp_path):
    model, beside, _ = LAYOUTS["AlphaFold 3, early"]
    other = {**beside, "confidences.json.gz": {"pae": PAE, **OF_TOKENS, "token_chain_ids": ["A", "A", "C"]}}
    row = confidence_of("T", "d", laid(tmp_path, model, other))
    assert row.reason == "the predictor's files do not have all residues of the model"


def test_without_files_and_plddt_there_is_nothing_and_no_noise(tmp_path):
    row = confidence_of("T", "d", laid(tmp_path, "d.pdb", {"notes.json": {"iptm": 1}}))
    assert row == Confidence("T", "d")
    write_confidence(tmp_path / "c.csv", [row])
    assert (tmp_path / "c.csv").read_text() == "target,decoy,predictor,status,reason\n"


def test_a_model_that_cannot_be_read_is_named_where_its_predictor_says_something_of_it(tmp_path):
    beside = {"confidence_x_model_0.json": IPTM_PTM}
    row = confidence_of("T", "d", laid(tmp_path, "x_model_0.cif", beside, "no structure"))
    assert (row.status, row.iptm) == ("incomplete", None)
    assert row.reason.startswith("not a readable mmcif file")
    os.mkfifo(tmp_path / "waits_for_ever.pdb")
    assert confidence_of("T", "d", tmp_path / "waits_for_ever.pdb") == Confidence("T", "d")


def test_a_table_has_the_columns_that_have_a_value_and_is_read_back(tmp_path):
    rows = [Confidence("T", "=a", "Boltz", iptm=0.5, status="ok"), Confidence("T", "b")]
    write_confidence(tmp_path / "c.csv", rows)
    assert (tmp_path / "c.csv").read_text().startswith("target,decoy,predictor,iptm,status,reason\nT,'=a,Boltz,0.5,ok")
    assert read_confidence(tmp_path / "c.csv") == rows


PLDDT = with_b([90.0, 80.0, 70.0])
WITHIN = PLDDT[:60] + " 12.00" + PLDDT[66:]
"""The first atom has another B-factor than its residue."""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("ranked_0.pdb", PLDDT, 80),
        (f"q_unrelaxed_{TAG}.pdb", PLDDT, 80),
        ("ranked_0.pdb", with_b([0.9, 0.8, 0.7]), 80),
        ("d.pdb", PLDDT, None),
        ("ranked_0.pdb", WITHIN, None),
        ("ranked_0.pdb", with_b([90.0, 80.0, 170.0]), None),
        ("ranked_0.pdb", with_b([15.0, 15.0, 15.0]), None),
        ("ranked_0.pdb", "EXPDTA    X-RAY DIFFRACTION\n" + PLDDT, None),
        ("ranked_0.pdb", "EXPDTA    THEORETICAL MODEL\n" + PLDDT, 80),
        ("ranked_0.pdb", "CRYST1   52.000   58.600   61.900  90.00  90.00  90.00 P 21 21 21\n" + PLDDT, None),
        ("ranked_0.pdb", "REMARK HADDOCK run for ranked_0.pdb\n" + PLDDT, None),
    ],
)
def test_b_factors_are_plddt_only_where_something_says_so(tmp_path, name, text, expected):
    row = confidence_of("T", "d", laid(tmp_path, name, {}, text))
    assert (row.plddt, row.interface_plddt) == (pytest.approx(expected, abs=1e-4) if expected else None,) * 2


def test_an_mmcif_file_that_declares_plddt_has_it_unless_it_names_an_experiment(tmp_path):
    block = gemmi.cif.read_string(mmcif(ATOMS)).sole_block()
    block.set_pair("_ma_qa_metric.name", "pLDDT")
    column = block.find_loop("_atom_site.B_iso_or_equiv")
    for k in range(len(column)):
        column[k] = str(10 + k)
    row = confidence_of("T", "d", laid(tmp_path, "any.cif", {}, block.as_string()))
    assert row.plddt == pytest.approx(np.mean(range(10, 25)))
    assert row.predictor == ""
    block.set_pair("_exptl.method", "'X-RAY DIFFRACTION'")
    assert confidence_of("T", "d", laid(tmp_path, "any.cif", {}, block.as_string())) == Confidence("T", "d")


HEADER = """\
REMARK FILENAME="{module}_1.pdb"
REMARK HADDOCK run for x
REMARK            total,bonds,angles,improper,dihe,vdw,elec,air,cdih,coup
REMARK energies: -349.593, 0, 0, 0, 0, -24.865, -333.853, 9.126, 0, 0
REMARK Desolvation energy: -17.764
REMARK buried surface area: 1440.26
"""


def test_the_score_of_haddock_from_a_header_is_that_of_its_own_table():
    """Terms and score of a model of `emref`, as HADDOCK3's manual prints them."""
    found = haddock.of_header(HEADER.format(module="emref"))
    assert found.score == pytest.approx(-108.487, abs=1e-3)
    assert found[1:] == (-24.865, -333.853, -17.764, 9.126, 1440.26)
    weighted = 0.01 * -24.865 - 333.853 - 17.764 + 0.01 * 9.126 - 0.01 * 1440.26
    assert haddock.of_header(HEADER.format(module="rigidbody")).score == pytest.approx(weighted)
    assert haddock.of_header(HEADER.format(module="mine")).score is None
    assert haddock.of_header(PLDDT) is None


def test_a_table_of_haddock_goes_before_the_header_and_the_last_step_before_others(tmp_path):
    models = tmp_path / "4_seletopclusts"
    models.mkdir()
    text = HEADER.format(module="emref") + PLDDT
    for step, score in (("2_caprieval", -1.0), ("10_caprieval", -2.5)):
        (tmp_path / step).mkdir()
        table = f"model\tscore\tvdw\n../4_seletopclusts/other.pdb\t-9\t1\n../4_seletopclusts/m.pdb\t{score}\t-\n"
        (tmp_path / step / "capri_ss.tsv").write_text(table)
    row = confidence_of("T", "m", write(models / "m.pdb.gz", text))
    assert (row.predictor, row.status, row.haddock_score, row.haddock_vdw) == ("HADDOCK", "ok", -2.5, -24.865)
    assert row.plddt is None
    (tmp_path / "10_caprieval" / "capri_ss.tsv").write_text("model\tscore\n../4_seletopclusts/m.pdb\t-1.2.3\n")
    row = confidence_of("T", "m", models / "m.pdb.gz")
    assert row.status == "incomplete"
    assert "capri_ss.tsv: could not convert" in row.reason


numbers = arrays.arrays(
    st.sampled_from([np.float16, np.float32, np.float64, np.int32, np.uint8, np.bool_, np.dtype(">f4")]),
    arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@settings(deadline=None)
@given(numbers, st.booleans())
def test_a_pickled_array_is_read_as_it_was(array, by_column):
    array = np.asfortranarray(array) if by_column else array
    found = read_pickle(pickle.dumps({"a": array, "b": array.dtype.type(1), "c": 2.5, "d": {"e": array}}, protocol=4))
    assert set(found) == {"a", "b", "c"}
    np.testing.assert_array_equal(found["a"], array)
    assert (found["b"], found["c"]) == (1, 2.5)


class Hostile:
    def __reduce__(self):
        return os.mkdir, ("made-by-a-pickle",)


def test_a_pickle_runs_nothing_and_says_why_it_is_not_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "result_x.pkl").write_bytes(pickle.dumps({"plddt": Hostile()}, protocol=4))
    with pytest.raises(ConfidenceError, match=r"^result_x.pkl: .* asks for posix.mkdir, which is not run"):
        read_values(tmp_path / "result_x.pkl")
    assert not Path("made-by-a-pickle").exists()


@pytest.mark.parametrize("cut", range(0, 200, 7))
def test_a_damaged_pickle_or_one_whose_array_is_too_short_is_refused(cut):
    whole = pickle.dumps({"a": np.arange(12.0).reshape(3, 4)}, protocol=4)
    with pytest.raises(ConfidenceError):
        read_pickle(whole[:cut])
    with pytest.raises(ConfidenceError, match="does not have the numbers"):
        read_pickle(whole.replace(b"K\x03K\x04\x86", b"K\x03K\x7f\x86"))


def test_the_state_of_the_files_changes_with_them_and_with_nothing_else(tmp_path):
    """What makes the workflow read them again."""

    def state() -> list:
        files._names_in.cache_clear()
        files._steps.cache_clear()
        return files.state({tmp_path / "models"})

    (tmp_path / "models").mkdir()
    model = laid(tmp_path / "models", *LAYOUTS["Boltz"][:2])
    before = state()
    assert [Path(path).name for path, *_ in before] == ["confidence_x_model_0.json", "pae_x_model_0.npz"]
    model.write_text("other")
    assert state() == before
    (tmp_path / "models" / "confidence_x_model_0.json").write_text("{}")
    changed_file = state()
    assert changed_file != before
    (tmp_path / "1_caprieval").mkdir()
    (tmp_path / "1_caprieval" / "capri_ss.tsv").write_text("model\n")
    assert len(state()) == len(changed_file) + 1


def ranked(*predicted: tuple[str, float, str]) -> list[RankedDecoy]:
    unknown = dict.fromkeys(RankedDecoy._fields)
    rows = [{"decoy": name, "pred_dockq": dockq, "pred_capri": capri} for name, dockq, capri in predicted]
    return [RankedDecoy(**{**unknown, "target": "T", "duplicate_of": "", **row}) for row in rows]


MEDIUM = [("a", 0.7, "medium"), ("b", 0.6, "medium"), ("c", 0.55, "medium"), ("d", 0.5, "medium")]
FIVE = ranked(*MEDIUM, ("e", 0.2, "incorrect"))


@pytest.mark.parametrize(("preferred", "differ"), [("a", False), ("b", False), ("c", False), ("d", True), ("e", True)])
def test_the_two_disagree_by_class_or_when_the_preferred_decoy_is_in_the_lower_half(preferred, differ):
    said = [Confidence("T", row.decoy, "Boltz", ranking_score=0.9 if row.decoy == preferred else 0.5) for row in FIVE]
    found = disagreements(FIVE, said)
    assert bool(found) == differ
    if found:
        assert (found[0].theirs.decoy, found[0].ours.decoy, found[0].n) == (preferred, "a", 5)


def test_copies_do_not_count_where_the_two_are_held_against_each_other():
    """Of four, the third is in the upper half; with two copies of the first it would be the fifth of six."""
    four = ranked(*MEDIUM[:2], ("c", 0.55, "medium"), ("d", 0.5, "medium"))
    copies = [four[0]._replace(decoy=name, duplicate_of="a") for name in ("a2", "a3")]
    table = [four[0], *copies, *four[1:]]
    said = [Confidence("T", row.decoy, "Boltz", ranking_score=0.9 if row.decoy == "d" else 0.5) for row in table]
    (found,) = disagreements(table, said)
    assert (found.theirs.decoy, found.place, found.n) == ("d", 4, 4)
    liked = [row._replace(ranking_score=0.9 if row.decoy == "b" else 0.5) for row in said]
    assert disagreements(table, liked) == []


def test_a_decoy_of_which_the_predictor_says_nothing_can_come_first():
    said = [Confidence("T", "b", "Boltz", iptm=0.4), Confidence("T", "e", "Boltz", iptm=0.9)]
    (found,) = disagreements(FIVE, said)
    assert (found.theirs.decoy, found.ours.decoy, found.place, found.n) == ("e", "a", 5, 5)


def test_scores_of_different_predictors_are_not_compared():
    said = [Confidence("T", name, by, iptm=iptm, ranking_score=own) for name, by, iptm, own in (
        ("a", "Boltz", 0.9, 0.1), ("e", "AlphaFold 3", 0.2, 0.95),
    )]  # fmt: skip
    assert disagreements(FIVE, said) == []
    assert [d.measure for d in disagreements(FIVE, [row._replace(predictor="Boltz") for row in said])] == [
        "ranking_score"
    ]


def test_of_haddock_scores_the_lowest_is_preferred_and_equal_ones_decide_nothing():
    said = [Confidence("T", "a", "HADDOCK", haddock_score=-50.0), Confidence("T", "e", "HADDOCK", haddock_score=-90.0)]
    assert disagreements(FIVE, said)[0].theirs.decoy == "e"
    assert disagreements(FIVE, [row._replace(haddock_score=-50.0) for row in said]) == []
