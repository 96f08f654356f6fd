"""What predictors write beside their models, file by file, and what is made of files that are not
as they should be.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import warnings
import zipfile
from pathlib import Path

import gemmi
import numpy as np
import pytest
from _confidence import row_of
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from predictor_files import FILES
from replacing import WAYS
from structures_text import (
    Atom,
    alanine,
    changed,
    mmcif,
    pdb,
    protein,
    put,
    with_b,
    write,
)
from toporank.confidence import bfactors
from toporank.confidence.beside import state_beside, states
from toporank.confidence.chain_pairs import UNNAMED_PAIRS
from toporank.confidence.confidences import confidences
from toporank.confidence.examine import DecoyFile
from toporank.confidence.table import (
    ALL_CHAINS,
    Confidence,
    read_confidence,
    write_confidence,
)
from toporank.errors import ConfidenceError
from toporank.files.compressed import ENDINGS, without_compression
from toporank.files.state import state_of
from toporank.programs import haddock
from toporank.programs import values as files_as_values
from toporank.programs.catalogue import place_of
from toporank.programs.file_names import KINDS, look_anew
from toporank.programs.values import read_pickle, read_values
from toporank.structures.read import read_complex

ATOMS = alanine("A", 1, 0.0) + alanine("A", 2, 0.0, 4.0) + alanine("B", 1, 5.0)
"""Two residues of chain A, one of chain B, all at the interface."""
PAE = [[0.0, 1.0, 2.0], [1.0, 0.0, 4.0], [3.0, 5.0, 0.0]]
IPTM_PTM = {"ptm": 0.75, "iptm": 0.5}


def with_plddt(values: list[float], atoms=ATOMS) -> str:
    """PDB text in which the residues have these B factors."""
    return pdb(with_b(atoms, values))


def laid(
    folder: Path, model: str, beside: dict[str, object], text: str | None = None
) -> Path:
    """A model and the files beside it, by the endings of their names. Returns the model's path."""
    put(folder, beside)
    return write(folder / model, text or (mmcif(ATOMS) if ".cif" in model else PLDDT))


PLDDT = with_plddt([90.0, 80.0, 70.0])
TAG = "rank_001_alphafold2_multimer_v3_model_1_seed_000"
ORDER = {
    "iptm+ptm": {"model_2_pred_0": 0.6, "model_1_pred_0": 0.4},
    "order": ["model_2_pred_0", "model_1_pred_0"],
}
RESULT = {
    "predicted_aligned_error": np.array(PAE, np.float32),
    "plddt": np.array([90.0, 80.0, 70.0]),
    "ptm": np.array(0.75, np.float32),
    "iptm": np.float64(0.5),
    "ranking_confidence": np.float64(0.55),
    "distogram": {"logits": np.zeros((3, 3, 2))},
}
OF_TOKENS = {"token_chain_ids": ["A", "A", "B"], "token_res_ids": [1, 2, 1]}
BESIDE = {}
"""Program → model and files beside it."""
RANKED_BY = {}
"""Program → ranking score, None where it writes none."""
for program, row in FILES["layouts"].items():
    beside = {
        name: RESULT if values is None else values
        for name, values in row["beside"].items()
    }
    BESIDE[program] = row["model"], beside
    RANKED_BY[program] = row.get("ranking_score", 0.55)


@pytest.mark.parametrize("program", BESIDE)
def test_what_a_predictor_writes_is_found_by_its_names(tmp_path, program):
    row = row_of(laid(tmp_path, *BESIDE[program]))
    assert (row.predictor, row.status, row.reason) == (
        program.partition(",")[0],
        "ok",
        "",
    )
    assert (row.ptm, row.iptm, row.ranking_score) == (0.75, 0.5, RANKED_BY[program])
    assert row.interface_pae == (2 + 4 + 3 + 5) / 4


OF_DATABASE = """
loop_
_ma_qa_metric.id
_ma_qa_metric.name
_ma_qa_metric.mode
1 pLDDT global
2 ipTM global
3 pDockQ global
loop_
_ma_qa_metric_global.ordinal_id
_ma_qa_metric_global.model_id
_ma_qa_metric_global.metric_id
_ma_qa_metric_global.metric_value
1 1 1 80.0
2 1 2 {iptm}
3 1 3 0.04
"""


@pytest.mark.parametrize("entry", ["0000000066503175", "P00520-F1", "P00520-2-F1"])
@pytest.mark.parametrize(("iptm", "expected"), [("0.5", 0.5), ("?", None)])
def test_a_complex_of_the_alphafold_database_is_read_with_its_pae_and_iptm(
    tmp_path, entry, iptm, expected
):
    files = {
        f"AF-{entry}-predicted_aligned_error_v1.json": [{"predicted_aligned_error": PAE}],
        f"AF-{entry}-confidence_v1.json": {"residueNumber": [1, 2, 3], "confidenceScore": [90.0, 80.0, 70.0]},
    }  # fmt: skip
    text = mmcif(ATOMS) + OF_DATABASE.format(iptm=iptm)
    row = row_of(laid(tmp_path, f"AF-{entry}-model_v1.cif", files, text))
    assert (row.predictor, row.status) == ("AlphaFold Database", "ok")
    assert (row.iptm, row.plddt) == (expected, 80.0)
    assert row.interface_pae == (2 + 4 + 3 + 5) / 4


def test_a_file_with_none_of_the_expected_values_is_a_problem(tmp_path):
    """A release of a predictor that renames its values must not pass without a word."""
    model, _ = BESIDE["ColabFold"]
    scores = model.replace("_relaxed_", "_scores_").replace(".pdb", ".json")
    row = row_of(
        laid(tmp_path, model, {scores: {"iptm_score": 0.5, "pae_matrix": [[0]]}})
    )
    assert (row.status, row.iptm) == ("incomplete", None)
    assert (
        f"{scores} has none of the values that TopoRank reads of ColabFold"
        in row.reason
    )


def test_of_a_link_to_a_model_the_files_beside_the_model_count(tmp_path):
    model, scores = (
        tmp_path / name for name in ("job_model_0.cif", "confidence_job_model_0.json")
    )
    model.write_text(mmcif(ATOMS))
    scores.write_text(json.dumps({"iptm": 0.5}))
    link = tmp_path / "elsewhere/d.cif"
    link.parent.mkdir()
    link.symlink_to(model)
    assert place_of(link) == model.resolve()
    assert place_of(model) == model


THREE = alanine("H", 1, 0.0) + alanine("L", 1, 0.0, 4.0) + alanine("C", 1, 5.0)
"""Chains H and L of an antibody, and C of its antigen: both touch it."""
SURE_OF_ANTIBODY = np.array([[0.9, 0.8, 0.1], [0.85, 0.9, 0.2], [0.15, 0.1, 0.9]])
PAIRS = {
    "matrix": SURE_OF_ANTIBODY.tolist(),
    "one of several": SURE_OF_ANTIBODY[None],
    "by name": {
        str(i): {str(j): value for j, value in enumerate(row)}
        for i, row in enumerate(SURE_OF_ANTIBODY.tolist())
    },
}
OF_PAIRS_OF_CHAINS = FILES["pairs_of_chains"]
JOINED, EACH = (("H", "L"), ("C",)), ()


def of_three(
    folder: Path, program: str, partners: tuple, atoms=THREE, pae=True, **other: object
) -> Confidence:
    """The row of a model of three chains, with an ipTM of 0.72, and PAE in its order or none."""
    row = OF_PAIRS_OF_CHAINS[program]
    beside = {row["file"]: {"iptm": 0.72, row["name"]: PAIRS[row["as"]], **other}}
    if pae:
        beside[row["pae_file"]] = {row["pae"]: np.ones((3, 3))}
    path = laid(folder, row["model"], beside, mmcif(atoms))
    row = row_of(path, partners)
    assert (row.predictor, row.iptm) == (program, 0.72)
    return row


@pytest.mark.parametrize("program", OF_PAIRS_OF_CHAINS)
def test_iptm_of_joined_chains_is_that_between_the_partners(tmp_path, program):
    row = of_three(tmp_path, program, JOINED)
    assert (row.status, row.iptm_of, row.interface_iptm) == ("ok", ALL_CHAINS, 0.2)
    row = of_three(tmp_path, program, EACH)
    assert (row.iptm_of, row.interface_iptm) == ("", None)
    (tmp_path / OF_PAIRS_OF_CHAINS[program]["pae_file"]).unlink()
    row = of_three(tmp_path, program, JOINED, pae=False)
    assert (row.status, row.interface_iptm) == ("incomplete", None)
    assert row.reason == UNNAMED_PAIRS
    apart = [*THREE[:10], *changed(THREE[10:], x=90.0)]
    row = of_three(tmp_path, program, JOINED, apart)
    assert (row.iptm_of, row.interface_iptm) == (ALL_CHAINS, None)


def test_iptm_is_that_between_the_partners_where_other_chains_are_in_the_model(
    tmp_path,
):
    dna = [
        Atom("P", "DA", "H", 1, 9.0, 9.0, 9.0),
        Atom("C1'", "DA", "H", 1, 9.0, 9.0, 12.0),
    ]
    row = of_three(tmp_path, "Boltz", EACH, [*dna, *THREE[5:]])
    assert (row.iptm_of, row.interface_iptm) == (ALL_CHAINS, 0.2)
    row = of_three(tmp_path, "Boltz", (("L",), ("C",)))
    assert (row.iptm_of, row.interface_iptm) == (ALL_CHAINS, 0.2)


@pytest.mark.parametrize("program", OF_PAIRS_OF_CHAINS)
def test_iptm_of_more_chains_than_the_model_still_has_is_said_to_be(tmp_path, program):
    row = of_three(tmp_path, program, (), THREE[5:], pae=False)
    assert (row.iptm_of, row.interface_iptm) == (ALL_CHAINS, None)
    assert row.reason.startswith("ipTM of pairs of chains is of 3 chains, but the mod")


@pytest.mark.parametrize(
    "odd", [None, {}, [[0.5]], {"0": {"0": 0.5}}, [["a"] * 3] * 3, [[1.5] * 3] * 3]
)
def test_where_iptm_between_the_partners_is_not_known_there_is_none(tmp_path, odd):
    row = of_three(tmp_path, "Boltz", JOINED, pair_chains_iptm=odd)
    assert (row.iptm_of, row.interface_iptm) == (ALL_CHAINS, None)
    of_one_chain = odd in ([[0.5]], {"0": {"0": 0.5}})
    why = (
        "ipTM of pairs of chains is of 1 chains, but the model has H, L, C: TopoRank does not use "
        "it"
    )
    assert row.reason == (why if of_one_chain else "")
    assert of_three(tmp_path, "Boltz", EACH, pair_chains_iptm=odd).iptm_of == ""


def test_alphafold_2_predicts_proteins_so_its_iptm_is_of_all_partners_beside_an_ion(
    tmp_path,
):
    ion = Atom("ZN", "ZN", "Z", 1, 9.0, 9.0, 9.0, het=True, element="Zn")
    beside = {f"q_scores_{TAG}.json": IPTM_PTM}
    path = laid(tmp_path, f"q_unrelaxed_{TAG}.pdb", beside, pdb([*THREE, ion]))
    for partners, expected in ((EACH, ""), (JOINED, ALL_CHAINS)):
        row = row_of(path, partners)
        assert (row.iptm, row.iptm_of, row.interface_iptm) == (0.5, expected, None)


SURE = np.array([97.0, 96.0, 95.0, 80.0, 60.0])
"""pLDDT of chain A (three residues) and chain B (two); so sure are the best models of ColabFold."""
FIVE_RESIDUES = protein("A", "AAA") + protein("B", "AA", y=5.0)


@pytest.mark.parametrize(
    ("b_factors", "reason"),
    [
        (SURE, ""),
        (SURE + np.array([0.4, -0.4, 0.4, -0.4, 0.4]), ""),
        (SURE / 100, ""),
        (np.full(5, 20.0), ""),
        (SURE[[3, 4, 0, 1, 2]], "100% of the residues have another pLDDT in q_scores"),
        (
            SURE - np.array([0, 0, 0, 0, 20]),
            "20% of the residues have another pLDDT in q_scores",
        ),
    ],
    ids=["the same", "rounded", "0 to 1", "none", "chain B first", "another model"],
)
def test_plddt_and_pae_of_another_model_or_order_of_chains_are_not_used(
    tmp_path, b_factors, reason
):
    pae = np.full((5, 5), 4.0)
    beside = {
        f"q_scores_{TAG}.json": {
            **IPTM_PTM,
            "plddt": SURE.tolist(),
            "pae": pae.tolist(),
        }
    }
    model = laid(
        tmp_path,
        f"q_unrelaxed_{TAG}.pdb",
        beside,
        with_plddt(b_factors.tolist(), FIVE_RESIDUES),
    )
    row = row_of(model)
    assert (row.status, row.iptm) == ("incomplete" if reason else "ok", 0.5)
    assert row.reason[: len(reason)] == reason
    used = (row.interface_pae, row.plddt, row.plddt_source)
    assert used == (
        (None, None, "")
        if reason
        else (4.0, pytest.approx(SURE.mean(), abs=1e-4), "file")
    )
    (row,) = confidences([DecoyFile("T", "d", model)], "none")
    assert (row.status, row.interface_pae) == ("ok", 4.0)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ('{"ptm": 0.7', "confidence_x_model_0.json is no readable json file"),
        ("[1, 2]", "confidence_x_model_0.json holds no values by name"),
        ({"iptm": "high"}, "iptm is no array of numbers"),
        ({"iptm": [0.1, 0.2]}, "iptm is not one number"),
        ({"ptm": -3}, "ptm is -3, not a number from 0 to 1"),
        ({"ptm": float("nan")}, "ptm is nan, not a number from 0 to 1"),
        ({"iptm": float("inf")}, "iptm is inf, not a number from 0 to 1"),
        (
            {"confidence_score": 1e6},
            "confidence_score is 1e+06, not a number from -101 to 101",
        ),
        (np.zeros((4, 4)), "describe 4 tokens, but the model has 3 protein residues"),
        (np.zeros((3, 2)), "pae is no square matrix, but of shape (3, 2)"),
        (np.zeros((2, 3, 3)), "is no square matrix, but of shape (2, 3, 3)"),
        (np.full((3, 3), -1), "pae holds negative numbers, or none"),
        (np.full((3, 3), 1e9), "pae holds 1e+09 Å; predictors write up to 32"),
        (np.array([object()]), "pae_x_model_0.npz is no readable npz file"),
        (None, "pae_x_model_0.npz has no pae"),
    ],
)
def test_what_cannot_be_used_is_named_and_the_rest_is_kept(tmp_path, values, reason):
    beside = {"confidence_x_model_0.json": values}
    if values is None:
        beside = {"pae_x_model_0.npz": {"plddt": [0.9] * 3}}
    elif isinstance(values, np.ndarray):
        beside = {"pae_x_model_0.npz": {"pae": values}}
    row = row_of(laid(tmp_path, "x_model_0.cif", beside))
    assert row.status == "incomplete"
    assert reason in row.reason
    assert (row.ptm, row.iptm, row.interface_pae, row.plddt) == (None,) * 4


@pytest.mark.parametrize(
    "program",
    ["ColabFold", "AlphaFold 3", "Boltz", "AlphaFold-Multimer, one of its own"],
)
def test_a_number_that_cannot_be_used_does_not_take_others_along(tmp_path, program):
    model, beside = BESIDE[program]
    bad = {
        name: {**values, "ptm": np.array([0.6, 0.7])} if "ptm" in values else values
        for name, values in beside.items()
    }
    row = row_of(laid(tmp_path, model, bad))
    assert (row.status, row.reason) == ("incomplete", "ptm is not one number")
    assert (row.ptm, row.iptm) == (None, 0.5)
    assert row.ranking_score == (None if program == "ColabFold" else 0.55)
    assert row.interface_pae == 3.5


@pytest.mark.parametrize("odd", ["charge", "mark", "suffix"])
def test_a_model_that_is_odd_and_can_be_read_is_as_any_other(tmp_path, odd):
    """Text in the columns of the charge, the mark of the order of bytes, a suffix in capitals."""
    name, text = (
        ("pred.model_idx_1.cif", mmcif(ATOMS))
        if odd == "mark"
        else ("ranked_0.pdb", PLDDT)
    )
    expected = row_of(laid(tmp_path, name, {}, text))
    if odd == "charge":
        text = "".join(f"{line[:78]:78}A1\n" for line in text.splitlines())
    (tmp_path / name).write_text("\ufeff" * (odd == "mark") + text)
    if odd == "suffix":
        name += ".GZ"
        (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    assert row_of(tmp_path / name) == expected


def zipped(name: str, member: bytes, **changes) -> bytes:
    """An npz archive of one member, with these attributes of it changed in the directory of the
    archive.
    """
    file = io.BytesIO()
    with zipfile.ZipFile(
        file, "w", changes.pop("compression", zipfile.ZIP_STORED)
    ) as archive:
        archive.writestr(name, member)
        for attribute, value in changes.items():
            setattr(archive.filelist[0], attribute, value)
    return file.getvalue()


def npy(header: bytes, numbers: bytes = bytes(72)) -> bytes:
    """An array in NumPy's format with any header."""
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + numbers


HEADER_OF_9 = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }\n"
LZMA = zipped("pae.npy", npy(HEADER_OF_9), compression=zipfile.ZIP_LZMA)
DAMAGED = {
    "endless number as token": ("confidences.json", json.dumps({**OF_TOKENS, "token_res_ids": [1, float("inf"), 1]})),
    "deep": ("confidences.json", "[" * 100_000),
    "number of many digits": ("confidences.json", '{"pae": ' + "9" * 5000 + "}"),
    "huge shape": ("pae.npz", zipped("pae.npy", npy(HEADER_OF_9.replace(b"(3, 3)", b"(3, 99999999999999)")))),
    "negative shape": ("pae.npz", zipped("pae.npy", npy(HEADER_OF_9.replace(b"(3, 3)", b"(-3, -3)")))),
    "empty shape beyond all bounds": (
        "pae.npz", zipped("pae.npy", npy(HEADER_OF_9.replace(b"(3, 3)", b"(0, 9999999999999999999999)"), b"")),
    ),
    "unbalanced header": ("pae.npz", zipped("pae.npy", npy(HEADER_OF_9.replace(b"}", b"((")))),
    "encrypted": ("pae.npz", zipped("pae.npy", npy(HEADER_OF_9), flag_bits=1)),
    "unknown compression": ("pae.npz", zipped("pae.npy", npy(HEADER_OF_9), compress_type=97)),
    "damaged LZMA": ("pae.npz", LZMA[:60] + b"\xff\xff\xff" + LZMA[63:]),
    "no zip archive": ("pae.npz", b"PK\x03\x04 and no more"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_costs_one_row_and_is_named_in_it(tmp_path, caplog, damage):
    """Of three models; nothing unexpected is logged."""
    name, bad = DAMAGED[damage]
    beside = (
        {"confidences.json": {"pae": PAE, **OF_TOKENS}}
        if name.endswith("json")
        else {"pae.npz": {"pae": PAE}}
    )
    asked = []
    for i in range(3):
        names = {
            "pae.npz": f"pae_x_model_{i}.npz",
            "confidences.json": f"s{i}_confidences.json",
        }
        model = f"x_model_{i}.cif" if name == "pae.npz" else f"s{i}_model.cif"
        asked.append(
            DecoyFile(
                "T",
                f"d{i}",
                laid(tmp_path, model, {names[k]: v for k, v in beside.items()}),
            )
        )
        if i == 1:
            (tmp_path / names[name]).write_bytes(
                bad if isinstance(bad, bytes) else bad.encode()
            )
    rows = confidences(asked)
    assert [row.status for row in rows] == ["ok", "incomplete", "ok"]
    assert [row.interface_pae for row in rows] == [3.5, None, 3.5]
    assert rows[1].reason
    assert "unexpected" not in rows[1].reason
    assert not caplog.records


def test_what_nobody_foresaw_costs_one_row_and_is_logged_with_its_traceback(
    tmp_path, monkeypatch, caplog
):
    def fails(text: str) -> None:
        if "REMARK bad" in text:
            raise ZeroDivisionError("of\nall things")

    monkeypatch.setattr(bfactors, "docked_by", fails)
    texts = {"ranked_0": PLDDT, "ranked_1": "REMARK bad\n" + PLDDT, "ranked_2": PLDDT}
    rows = confidences(
        [
            DecoyFile("T", name, laid(tmp_path, f"{name}.pdb", {}, text))
            for name, text in texts.items()
        ]
    )
    assert [row.status for row in rows] == ["ok", "incomplete", "ok"]
    assert rows[1].reason == "unexpected ZeroDivisionError: of all things"
    assert "Traceback" in caplog.text


def test_a_link_to_itself_costs_nobody_else_a_row(tmp_path):
    model = laid(tmp_path, *BESIDE["Boltz"])
    for name in ("loop.pdb", "x_model_1.cif", "pae_x_model_1.npz"):
        (tmp_path / name).symlink_to(tmp_path / name)
    look_anew()
    rows = confidences(
        [
            DecoyFile("T", p.stem, p)
            for p in (model, tmp_path / "loop.pdb", tmp_path / "x_model_1.cif")
        ]
    )
    assert [row.status for row in rows] == ["ok", "none", "none"]
    (tmp_path / "ranked_0.pdb").symlink_to(tmp_path / "ranked_0.pdb")
    assert "cannot be read" in row_of(tmp_path / "ranked_0.pdb").reason
    assert states({tmp_path})


@pytest.mark.parametrize("more", [0, 1], ids=["at the bound", "above it"])
def test_what_unpacks_to_more_than_the_bound_is_refused(tmp_path, monkeypatch, more):
    (tmp_path / "a.npz").write_bytes(zipped("pae.npy", npy(HEADER_OF_9)))
    monkeypatch.setattr(files_as_values, "MAX_BYTES", len(npy(HEADER_OF_9)) - more)
    monkeypatch.setattr(
        files_as_values,
        "state_of",
        lambda path: files_as_values.ContentState(path, 1, more),
    )
    if not more:
        assert files_as_values.read_values(tmp_path / "a.npz")["pae"].shape == (3, 3)
        return
    with pytest.raises(ConfidenceError, match="unpacks to more than"):
        files_as_values.read_values(tmp_path / "a.npz")


def test_a_number_of_json_that_float32_cannot_hold_prints_no_warning(tmp_path):
    (tmp_path / "a.json").write_text('{"pae": [[1e300, 0], [1, 2]]}')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(read_values(tmp_path / "a.json")["pae"][0, 0])


@pytest.mark.parametrize("name", ["a.json", *(f"a.json{ending}" for ending in ENDINGS)])
def test_a_file_larger_than_the_bound_is_refused(tmp_path, monkeypatch, name):
    text = json.dumps(IPTM_PTM).encode() + b" " * 1000
    write(tmp_path / name, text)
    monkeypatch.setattr(files_as_values, "MAX_BYTES", len(text))
    assert files_as_values.read_bytes(tmp_path / name) == text
    monkeypatch.setattr(files_as_values, "MAX_BYTES", len(text) - 1)
    with pytest.raises(ConfidenceError, match="has more than"):
        files_as_values.read_bytes(tmp_path / name)


@pytest.mark.parametrize(
    ("plddt", "reason"),
    [
        ([90.0, 80.0, 170.0], "plddt holds other numbers than those from 0 to 100"),
        ([90.0, float("nan"), 70.0], "plddt holds other numbers"),
        (90.0, "plddt is no list of numbers"),
        ([90.0, 80.0], "give PAE of 3 tokens, but pLDDT of 2"),
    ],
)
def test_plddt_out_of_its_range_or_of_another_length_is_unknown(
    tmp_path, plddt, reason
):
    beside = {f"q_scores_{TAG}.json": {**IPTM_PTM, "pae": PAE, "plddt": plddt}}
    row = row_of(laid(tmp_path, f"q_relaxed_{TAG}.pdb", beside))
    assert (row.status, row.ptm, row.interface_pae) == ("incomplete", 0.75, 3.5)
    assert reason in row.reason
    assert (row.plddt, row.plddt_source) == (80, "b_factor")


# ---- each file once ------------------------------------------------------------------------------


def test_each_file_is_parsed_once_however_many_models_share_it(tmp_path, monkeypatch):
    """Ranked, relaxed and unrelaxed models of AlphaFold 2 share their files; damaged ones are not
    tried again.
    """
    opened = []
    read = files_as_values.read_bytes
    monkeypatch.setattr(
        files_as_values,
        "read_bytes",
        lambda path: opened.append(path.name) or read(path),
    )
    names = [f"model_{n}_pred_0" for n in range(10)]
    ranking = {"iptm+ptm": dict.fromkeys(names, 0.5), "order": names}
    beside = {"ranking_debug.json": ranking}
    for name in names:
        beside[f"pae_{name}.json"] = {"predicted_aligned_error": PAE}
    damaged = write(tmp_path / "result_model_3_pred_0.pkl", b"damaged")
    decoys = []
    for n, name in enumerate(names):
        for stem in (f"ranked_{n}", f"relaxed_{name}", f"unrelaxed_{name}"):
            decoys.append(DecoyFile("T", stem, laid(tmp_path, f"{stem}.pdb", beside)))
    decoys.sort(key=lambda decoy: decoy.decoy)
    rows = confidences(decoys)
    assert sorted(opened) == sorted([*beside, damaged.name])
    assert sum(row.status == "ok" for row in rows) == 27
    assert all(row.interface_pae == 3.5 for row in rows)


@pytest.mark.parametrize(
    ("table", "score", "reason"),
    [
        ("model\tscore\tnote\nm.pdb\t-7\t" + "x" * 200_000 + "\n", -7, ""),
        ("model\tscore\rother.pdb\t-9\rm.pdb\t-7\r", -7, ""),
        ('model\tscore\nm.pdb\t"-7\n', None, "score is '\"-7', not a number"),
        ("model\tscore\nm.pdb\t1e999\n", None, "score is '1e999', not a number"),
        ("\0\xff", None, "capri_ss.tsv has no column `model`"),
    ],
)
def test_a_table_of_haddock_with_odd_cells_costs_at_most_the_row_of_its_model(
    tmp_path, table, score, reason
):
    (tmp_path / "capri_ss.tsv").write_text(table, newline="")
    row = row_of(laid(tmp_path, "m.pdb", {}, HEADER.format(module="mine") + PLDDT))
    assert (row.haddock_score, row.haddock_vdw) == (score, -24.865)
    assert reason in row.reason
    assert row.status == ("incomplete" if reason else "ok")


def test_a_model_that_the_table_of_haddock_lacks_has_no_score_to_be_compared_with_that_of_the_others(
    tmp_path,
):
    """Its header has one, by the default weights; those of the others may be by the user's."""
    for step in ("1_emref", "2_caprieval"):
        (tmp_path / step).mkdir()
    (tmp_path / "2_caprieval" / "capri_ss.tsv").write_text(
        "model\tscore\n../1_emref/m.pdb\t-7\n../0_other/n.pdb\t-8\n"
    )
    text = HEADER.format(module="emref") + PLDDT
    row = row_of(laid(tmp_path / "1_emref", "m.pdb", {}, text))
    assert (row.haddock_score, row.status) == (-7, "ok")
    row = row_of(laid(tmp_path / "1_emref", "n.pdb", {}, text))
    assert (row.haddock_score, row.haddock_vdw, row.status) == (
        None,
        -24.865,
        "incomplete",
    )
    assert row.reason.startswith(
        "capri_ss.tsv has other models of this folder, but not this one"
    )


# ---- AlphaFold-Multimer and AlphaPulldown --------------------------------------------------------


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_iptm_and_plddt_of_alphapulldown_are_read_by_name_and_by_order(
    tmp_path, suffix
):
    ranking = {**ORDER, "iptm": {"model_2_pred_0": 0.7, "model_1_pred_0": 0.3}}
    beside = {"ranking_debug.json" + suffix: ranking}
    for n in (1, 2):
        scores = {
            "residueNumber": [1, 2, 3],
            "confidenceScore": [10 * n, 20 * n, 30 * n],
        }
        beside[f"confidence_model_{n}_pred_0.json{suffix}"] = scores
    of_model = {1: (0.3, 0.4, 20), 2: (0.7, 0.6, 40)}
    models = {
        "ranked_0": 2,
        "ranked_1": 1,
        "unrelaxed_model_1_pred_0": 1,
        "relaxed_model_2_pred_0": 2,
    }
    for name, n in models.items():
        text = with_plddt([10.0 * n, 20.0 * n, 30.0 * n])
        row = row_of(laid(tmp_path, f"{name}.pdb", beside, text))
        assert (row.iptm, row.ranking_score, row.plddt) == of_model[n]
        assert row.plddt_source == "file"
    row = row_of(laid(tmp_path, "ranked_2.pdb", beside))
    assert (row.iptm, row.plddt, row.plddt_source) == (None, 80, "b_factor")
    assert row.reason == "ranking_debug.json orders 2 models, so there is no ranked_2"


def test_one_order_is_not_that_of_two_runs_whose_models_lie_in_one_folder(tmp_path):
    """`pairA_ranked_0` and `pairB_ranked_0` beside the ranking_debug.json of one of them;
    `ranked_0` is its own.
    """
    ranking = {**ORDER, "iptm": {"model_2_pred_0": 0.7, "model_1_pred_0": 0.3}}

    def rows(*names: str) -> list[Confidence]:
        folder = tmp_path / "_".join(names)
        folder.mkdir()
        paths = [
            laid(folder, f"{name}.pdb", {"ranking_debug.json": ranking})
            for name in names
        ]
        return confidences([DecoyFile("T", path.stem, path) for path in paths])

    for row in rows("a_ranked_0", "b_ranked_0"):
        assert (row.iptm, row.ranking_score, row.plddt) == (None, None, 80)
        assert row.status == "incomplete"
        assert row.reason.startswith(
            "ranking_debug.json ranks the models of one run, and here are models called a_ranked"
        )
    assert [row.iptm for row in rows("a_ranked_0", "b_ranked_1")] == [None, None]
    assert [row.iptm for row in rows("a_ranked_0", "ranked_0")] == [None, 0.7]
    assert [row.iptm for row in rows("a_ranked_0", "a_ranked_1")] == [0.7, 0.3]


# ---- the file that was scored --------------------------------------------------------------------


def test_atoms_come_from_where_they_were_built_and_not_from_the_file(tmp_path):
    model = laid(tmp_path, *BESIDE["Boltz"])
    atoms = alanine("A", 1, 0.0) + alanine("A", 2, 4.0) + alanine("B", 1, 90.0)
    apart = write(tmp_path / "apart.cif", mmcif(atoms))
    row = row_of(model, atoms=lambda: read_complex(apart))
    assert (row.iptm, row.interface_pae) == (0.5, None)


def test_without_files_and_plddt_there_is_nothing_and_no_noise(tmp_path):
    row = row_of(laid(tmp_path, "d.pdb", {"notes.json": {"iptm": 1}}))
    assert row == Confidence("T", "d")
    write_confidence(tmp_path / "c.csv", [row])
    assert (tmp_path / "c.csv").read_text() == "target,decoy,predictor,status,reason\n"


def test_a_model_that_cannot_be_read_is_named_where_its_predictor_says_something_of_it(
    tmp_path,
):
    beside = {"confidence_x_model_0.json": IPTM_PTM}
    row = row_of(laid(tmp_path, "x_model_0.cif", beside, "no structure"))
    assert (row.status, row.iptm) == ("incomplete", None)
    assert row.reason.startswith("not a readable mmcif file")
    os.mkfifo(tmp_path / "waits_for_ever.pdb")
    assert row_of(tmp_path / "waits_for_ever.pdb") == Confidence("T", "d")


def test_a_table_has_the_columns_that_have_a_value_and_is_read_back(tmp_path):
    rows = [Confidence("T", "=a", "Boltz", iptm=0.5, status="ok"), Confidence("T", "b")]
    write_confidence(tmp_path / "c.csv", rows)
    assert (
        (tmp_path / "c.csv")
        .read_text()
        .startswith("target,decoy,predictor,iptm,status,reason\nT,'=a,Boltz,0.5,ok")
    )
    assert read_confidence(tmp_path / "c.csv") == rows


WITHIN = PLDDT[:60] + " 12.00" + PLDDT[66:]
"""The first atom has another B-factor than its residue."""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("ranked_0.pdb", PLDDT, 80),
        (f"q_unrelaxed_{TAG}.pdb", PLDDT, 80),
        ("ranked_0.pdb", with_plddt([0.9, 0.8, 0.7]), 80),
        ("d.pdb", PLDDT, None),
        ("ranked_0.pdb", WITHIN, 74.8),
        ("ranked_0.pdb", with_plddt([90.0, 80.0, 170.0]), None),
        ("ranked_0.pdb", with_plddt([15.0, 15.0, 15.0]), None),
        ("ranked_0.pdb", "EXPDTA    X-RAY DIFFRACTION\n" + PLDDT, None),
        ("ranked_0.pdb", "EXPDTA    THEORETICAL MODEL\n" + PLDDT, 80),
        (
            "ranked_0.pdb",
            "CRYST1   52.000   58.600   61.900  90.00  90.00  90.00 P 21 21 21\n"
            + PLDDT,
            None,
        ),
        ("ranked_0.pdb", "REMARK HADDOCK run for ranked_0.pdb\n" + PLDDT, None),
    ],
)
def test_b_factors_are_plddt_only_where_something_says_so(
    tmp_path, name, text, expected
):
    row = row_of(laid(tmp_path, name, {}, text))
    assert (row.plddt, row.interface_plddt) == (
        pytest.approx(expected, abs=1e-4) if expected else None,
    ) * 2


def test_an_mmcif_file_that_declares_plddt_has_it_unless_it_names_an_experiment(
    tmp_path,
):
    block = gemmi.cif.read_string(mmcif(ATOMS)).sole_block()
    block.set_pair("_ma_qa_metric.name", "pLDDT")
    column = block.find_loop("_atom_site.B_iso_or_equiv")
    for k in range(len(column)):
        column[k] = str(10 + k)
    row = row_of(laid(tmp_path, "any.cif", {}, block.as_string()))
    assert row.plddt == pytest.approx(np.mean(range(10, 25)))
    assert row.predictor == ""
    block.set_pair("_exptl.method", "'X-RAY DIFFRACTION'")
    assert row_of(laid(tmp_path, "any.cif", {}, block.as_string())) == Confidence(
        "T", "d"
    )


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

    def terms(module: str) -> list[float | None]:
        return list(haddock.of_header(HEADER.format(module=module)).values())

    found = terms("emref")
    assert found[0] == pytest.approx(-108.487, abs=1e-3)
    assert found[1:] == [-24.865, -333.853, -17.764, 9.126, 1440.26]
    weighted = 0.01 * -24.865 - 333.853 - 17.764 + 0.01 * 9.126 - 0.01 * 1440.26
    assert terms("rigidbody")[0] == pytest.approx(weighted)
    assert terms("mdref") == found
    assert terms("mine")[0] is None
    flexible = -24.865 - 333.853 - 17.764 + 0.1 * 9.126 - 0.01 * 1440.26
    assert terms("flexref")[0] == pytest.approx(flexible)
    assert haddock.of_header(PLDDT) is None


def test_a_table_of_haddock_goes_before_the_header_and_the_last_step_before_others(
    tmp_path,
):
    models = tmp_path / "4_seletopclusts"
    models.mkdir()
    text = HEADER.format(module="emref") + PLDDT
    for step, score in (("2_caprieval", -1.0), ("10_caprieval", -2.5)):
        (tmp_path / step).mkdir()
        table = f"model\tscore\tvdw\n../4_seletopclusts/other.pdb\t-9\t1\n../4_seletopclusts/m.pdb\t{score}\t-\n"
        (tmp_path / step / "capri_ss.tsv").write_text(table)
    row = row_of(write(models / "m.pdb.gz", text))
    assert (row.predictor, row.status, row.haddock_score, row.haddock_vdw) == (
        "HADDOCK",
        "ok",
        -2.5,
        -24.865,
    )
    assert row.plddt is None
    (tmp_path / "10_caprieval" / "capri_ss.tsv").write_text(
        "model\tscore\n../4_seletopclusts/m.pdb\t-1.2.3\n"
    )
    row = row_of(models / "m.pdb.gz")
    assert row.status == "incomplete"
    assert "capri_ss.tsv: score is '-1.2.3', not a number" in row.reason


numbers = arrays.arrays(
    st.sampled_from(
        [
            np.float16,
            np.float32,
            np.float64,
            np.int32,
            np.uint8,
            np.bool_,
            np.dtype(">f4"),
        ]
    ),
    arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@given(numbers, st.booleans(), st.sampled_from(range(6)))
def test_a_pickled_array_is_read_as_it_was(array, by_column, protocol):
    """Protocols 0 to 2 make bytes of text, and 5, that of Python 3.14, arrays of buffers."""
    array = np.asfortranarray(array) if by_column else array
    found = read_pickle(
        pickle.dumps(
            {"a": array, "b": array.dtype.type(1), "c": 2.5, "d": {"e": array}},
            protocol=protocol,
        )
    )
    assert set(found) == {"a", "b", "c"}
    np.testing.assert_array_equal(found["a"], array)
    assert (found["b"], found["c"]) == (1, 2.5)


class Hostile:
    def __reduce__(self):
        return os.mkdir, ("made-by-a-pickle",)


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_pickle_runs_nothing_and_says_why_it_is_not_read(
    tmp_path, monkeypatch, protocol
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "result_x.pkl").write_bytes(
        pickle.dumps({"plddt": Hostile()}, protocol=protocol)
    )
    with pytest.raises(
        ConfidenceError,
        match=r"^result_x.pkl: .* asks for posix.mkdir, which is not run",
    ):
        read_values(tmp_path / "result_x.pkl")
    assert not Path("made-by-a-pickle").exists()


WHOLE_PICKLE = pickle.dumps({"a": np.arange(12.0).reshape(3, 4)}, protocol=4)
TOO_SHORT = WHOLE_PICKLE.replace(b"K\x03K\x04\x86", b"K\x03K\x7f\x86")


@pytest.mark.parametrize(
    "damaged", [*(WHOLE_PICKLE[:n] for n in range(0, 200, 7)), TOO_SHORT]
)
def test_a_damaged_pickle_or_one_whose_array_is_too_short_is_refused(tmp_path, damaged):
    (tmp_path / "result_x.pkl").write_bytes(damaged)
    with pytest.raises(ConfidenceError, match="is no readable pkl file"):
        read_values(tmp_path / "result_x.pkl")


def test_the_state_of_the_files_changes_with_them_and_with_nothing_else(tmp_path):
    """What makes the workflow read them again."""

    def state() -> list:
        look_anew()
        return states({tmp_path / "models"})

    (tmp_path / "models").mkdir()
    model = laid(tmp_path / "models", *BESIDE["Boltz"])
    before = state()
    assert [Path(path).name for path, *_ in before] == [
        "confidence_x_model_0.json",
        "pae_x_model_0.npz",
    ]
    model.write_text("other")
    assert state() == before
    (tmp_path / "models" / "confidence_x_model_0.json").write_text("{}")
    changed_file = state()
    assert changed_file != before
    (tmp_path / "1_caprieval").mkdir()
    (tmp_path / "1_caprieval" / "capri_ss.tsv").write_text("model\n")
    assert len(state()) == len(changed_file) + 1


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_file_of_a_predictor_is_read_again_where_size_and_time_are_as_before(
    tmp_path, way
):
    (tmp_path / "models").mkdir()
    model = laid(tmp_path / "models", *BESIDE["Boltz"])
    path = model.parent / "confidence_x_model_0.json"
    path.write_text('{"iptm": 0.1}')
    assert read_values(path) == {"iptm": 0.1}
    before = states({model.parent}), state_beside([model])
    way(path, b'{"iptm": 0.9}')
    assert read_values(path) == {"iptm": 0.9}
    after = states({model.parent}), state_beside([model])
    assert [then == now for then, now in zip(before, after, strict=True)] == [
        False,
        False,
    ]


def state_before_and_after(folder: Path, files: list[str], new: list[str]) -> list[str]:
    states = []
    for names in (files, new):
        for name in names:
            (folder / name).touch()
        look_anew()
        states.append(state_beside([folder / files[0]]))
    return states


@pytest.mark.parametrize("case", FILES["of_other_targets"])
def test_what_comes_for_another_target_leaves_a_target_as_it_was(tmp_path, case):
    rows = FILES["of_other_targets"][case].values()
    before, after = state_before_and_after(tmp_path, *rows)
    assert before == after


@pytest.mark.parametrize("case", FILES["of_the_model"])
def test_what_comes_for_a_model_is_noticed(tmp_path, case):
    rows = FILES["of_the_model"][case].values()
    before, after = state_before_and_after(tmp_path, *rows)
    assert before != after


def test_a_folder_of_many_targets_is_listed_once(tmp_path, monkeypatch):
    """Ten times as many targets cost ten times as much, not a hundred times."""
    models = []
    for n in range(200):
        model, scores = f"{n}_unrelaxed_{TAG}.pdb", f"{n}_scores_{TAG}.json"
        models.append(tmp_path / model)
        for name in (model, scores):
            (tmp_path / name).touch()
    listed, looked_at = [], []
    scandir, state = os.scandir, state_of
    monkeypatch.setattr(
        os, "scandir", lambda path: listed.append(path) or scandir(path)
    )
    monkeypatch.setattr(
        "toporank.confidence.beside.state_if_there",
        lambda path: looked_at.append(path) or state(path),
    )
    look_anew()
    for model in models:
        state_beside([model])
    assert len([path for path in listed if path == tmp_path]) == 1
    assert len(looked_at) == len(models)


# ---- any damage ----------------------------------------------------------------------------------

MUTATED = int(os.environ.get("TOPORANK_MUTATED_FILES", "60"))
"""How many damaged files are tried, a few seconds of them in the suite."""


def mutated(whole: bytes, draw: np.random.Generator) -> bytes:
    """The bytes of a file with one to three changes: cut, doubled or overwritten parts, other
    numbers and words.
    """
    content = bytearray(whole)
    words = rb"""Infinity NaN -1e999 null [[ } ' ( 9999999999999999999999999999999999999999""".split()
    words += [b"\r", b"\t", b"\0", b"\xff\xfe"]
    for _ in range(draw.integers(1, 4)):
        start = int(draw.integers(0, max(len(content), 1)))
        end = min(len(content), start + int(draw.integers(1, 20)))
        kind = draw.integers(0, 5)
        if kind == 0:
            del content[start:]
        elif kind == 1:
            content[start:start] = content[start:end] * int(draw.integers(1, 50))
        elif kind == 2:
            content[start:end] = draw.bytes(end - start)
        elif kind == 3:
            content[start:end] = words[draw.integers(len(words))]
        else:
            del content[start:end]
    return bytes(content)


def test_whatever_happens_to_a_file_each_model_has_a_row_and_nothing_is_unexpected(
    tmp_path, caplog
):
    """A seed of its own in each run; it is in the message."""
    seed = int.from_bytes(os.urandom(4))
    draw = np.random.default_rng(seed)
    folder = tmp_path / "4_emref"
    folder.mkdir()
    haddock3 = write(folder / "m.pdb", HEADER.format(module="emref") + PLDDT)
    table = "model\tscore\tvdw\telec\n../4_emref/m.pdb\t-1.5\t2\t3\n"
    asked = [DecoyFile("T", "haddock", haddock3)]
    for program, (model, beside) in BESIDE.items():
        inner = tmp_path / program.replace(", ", "_")
        inner.mkdir()
        asked.append(DecoyFile("T", program, laid(inner, model, beside)))
    (folder / "capri_ss.tsv").write_text(table)
    files = [path for path in sorted(tmp_path.rglob("*.*")) if path.is_file()]
    side = [path for path in files if without_compression(path.name).endswith(KINDS)]
    whole = {path: path.read_bytes() for path in side}
    assert all(row.status == "ok" for row in confidences(asked))
    for tried in range(MUTATED):
        path = side[tried % len(side)]
        path.write_bytes(mutated(whole[path], draw))
        of_it = next(each for each in asked if each.path.parent in path.parents)
        other = next(each for each in asked if each is not of_it)
        rows = confidences([of_it, other])
        path.write_bytes(whole[path])
        assert [row.decoy for row in rows] == [of_it.decoy, other.decoy]
        assert rows[1].status == "ok"
        assert rows[0].status in ("ok", "incomplete")
        assert not [record.exc_text for record in caplog.records], (
            f"seed {seed}, {path.name}"
        )
