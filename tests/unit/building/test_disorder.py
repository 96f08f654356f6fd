"""Disordered residues: which they are, and that a model without them is scored as if its file did not have them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toporank
from structures_text import EXAMPLES, ca_trace, pdb_with, random_complex
from toporank.building import masked
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.store import Store
from toporank.building.masked import with_disorder_masked
from toporank.errors import StructureError
from toporank.inputs.confidence.decoy import Asked
from toporank.inputs.confidence.disorder import RUN, disordered
from toporank.inputs.confidence.job import confidences, masks
from toporank.structures.masking import mask_text, masked_places, without
from toporank.structures.read import read_complex
from toporank.structures.stored import atoms_digest

NEAR = EXAMPLES / "1PPE/near1.pdb.gz"
TAIL = ("A", 16, 12)
"""Chain, place of the first residue in it and number of residues of a run of low pLDDT."""
NAME = "ranked_0.pdb"
"""Only AlphaFold gives such names, so B factors are pLDDT."""
HIGH = np.linspace(60.0, 95.0, 300)
"""pLDDT of more residues than any model here has."""


def chain(name: str, n: int) -> list[tuple[str, int, str, tuple[float, float, float]]]:
    return [(name, i, "", (3.8 * i, 0.0, 0.0)) for i in range(1, n + 1)]


# ---- which residues -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plddt", "masked"),
    [
        ([90] * 40, ""),
        ([90] * 20 + [30] * RUN + [90] * 10, "20-29"),
        ([90] * 20 + [30] * (RUN - 1) + [90] * 11, ""),
        ([49.99] * RUN + [90] * 30, "0-9"),
        ([50.0] * RUN + [90] * 30, ""),
        ([90] * 30 + [30] * 10, "30-39"),
        ([30] * 5 + [np.nan] + [30] * 5 + [90] * 29, ""),  # what is not known is not low
        ([30] * 12 + [90] * 10 + [30] * 18, "0-11 22-39"),
        ([30] * 31 + [90] * 9, ""),  # too little of the chain would be left
        ([30] * 30 + [90] * 10, "0-29"),
    ],
)
def test_runs_of_very_low_plddt_are_disordered(plddt, masked):
    assert mask_text(disordered(ca_trace(chain("A", 40)), np.array(plddt, dtype=float))) == masked


def test_a_run_ends_where_the_chain_ends():
    complex_ = ca_trace(chain("A", 20) + chain("B", 20))
    low = np.full(40, 90.0)
    low[15:25] = 20.0
    assert not disordered(complex_, low).any()


@given(st.lists(st.booleans(), max_size=60))
def test_a_mask_is_read_as_it_is_written(values):
    assert masked_places(mask_text(np.array(values, dtype=bool))).tolist() == np.flatnonzero(values).tolist()


# ---- a complex without them -----------------------------------------------------------------------------------


def test_a_masked_complex_is_as_its_file_without_these_lines(tmp_path):
    complex_ = read_complex(NEAR)
    (tmp_path / "cut.pdb").write_text(cut(pdb_with(NEAR, np.full(len(complex_.residues), 90.0)), complex_))
    masked = without(complex_, mask_text(tail_of(complex_)), "low")
    expected = read_complex(tmp_path / "cut.pdb")
    assert atoms_digest(masked) == atoms_digest(expected)
    assert masked.ca.tolist() == expected.ca.tolist()
    assert masked.notes == (*complex_.notes, "12 residues masked, low: A 32–34, A 37–45")  # there are no 35 and 36
    assert without(complex_, "", "low") is complex_


def test_a_mask_of_another_file_is_refused():
    with pytest.raises(StructureError, match="the file was changed"):
        without(random_complex(1), "3-500", "low")


# ---- whole models ---------------------------------------------------------------------------------------------


def tail_of(complex_) -> np.ndarray:
    """The residues of `TAIL`; bool, shape (R,)."""
    name, first, n = TAIL
    places = [i for i, residue in enumerate(complex_.residues) if residue.chain == name][first : first + n]
    return np.isin(np.arange(len(complex_.residues)), places)


def cut(text: str, complex_) -> str:
    """PDB text without the residues of `TAIL`."""
    gone = {(r.chain, r.number) for r, low in zip(complex_.residues, tail_of(complex_), strict=True) if low}
    lines = text.splitlines(keepends=True)
    return "".join(t for t in lines if not (t.startswith("ATOM") and (t[21], int(t[22:26])) in gone))


@pytest.fixture
def folder(tmp_path) -> Path:
    """A model with a run of low pLDDT at its interface, and one without."""
    complex_, given_ = read_complex(NEAR), tmp_path / "given"
    given_.mkdir()
    (given_ / NAME).write_text(pdb_with(NEAR, np.where(tail_of(complex_), 30.0, HIGH[: len(complex_.residues)])))
    (given_ / "ranked_1.pdb").write_text(pdb_with(EXAMPLES / "1PPE/mid2.pdb.gz", HIGH))
    return given_


def test_a_masked_model_is_scored_as_its_cut_file_and_says_so(folder, tmp_path):
    plain = toporank.score(folder, cache=tmp_path / "cache")
    masked = toporank.score(folder, cache=tmp_path / "cache", mask_disorder=True)  # one cache: no key is mistaken
    again = toporank.score(folder, cache=tmp_path / "cache")
    path = folder / NAME
    path.write_text(cut(path.read_text(), read_complex(NEAR)))
    expected = toporank.score(folder)
    assert {"n_masked", "pred_unmasked"}.isdisjoint(plain.columns)
    pd.testing.assert_frame_equal(again, plain)
    pd.testing.assert_frame_equal(masked[expected.columns], expected)
    by_name = masked.set_index("decoy")
    assert by_name["n_masked"].to_dict() == {"ranked_0": 12, "ranked_1": 0}
    assert by_name["pred_unmasked"].to_dict() == plain.set_index("decoy")["pred_dockq"].to_dict()
    assert by_name.loc["ranked_0", "pred_unmasked"] != by_name.loc["ranked_0", "pred_dockq"]
    assert any("12 residues masked, disordered: runs of 10 or more" in note for note in masked.attrs["notes"])


def test_a_model_whose_tails_alone_touch_has_no_interface_and_its_row_says_why(tmp_path):
    complex_, interface = read_complex(NEAR), toporank.features(NEAR)
    touching = {*zip(interface["chain"], interface["number"], interface["insertion_code"], strict=True)}
    of_a = [i for i, residue in enumerate(complex_.residues) if residue.chain == "A"]
    runs = (of_a[first : first + 14] for first in range(len(of_a) - 14))
    kept = next(run for run in runs if not any(tuple(complex_.residues[i]) in touching for i in run))
    low = np.where(np.isin(np.arange(300), [*set(of_a) - set(kept)]), 30.0, HIGH)
    (tmp_path / NAME).write_text(pdb_with(NEAR, low))
    table = toporank.score(tmp_path, mask_disorder=True)
    row = table.iloc[0]
    assert (row["status"], row["n_masked"]) == ("no_interface", len(of_a) - 14)
    assert np.isnan(row["pred_dockq"])
    assert row["pred_unmasked"] > 0
    assert f"{len(of_a) - 14} disordered residues are left out of it" in table.attrs["notes"][0]


def test_nothing_changes_where_nothing_is_disordered_or_b_factors_are_something_else(tmp_path):
    (tmp_path / "mine.pdb").write_text(pdb_with(NEAR, np.where(tail_of(read_complex(NEAR)), 30.0, 90.0), within=5.0))
    pd.testing.assert_frame_equal(toporank.score(tmp_path, mask_disorder=True), toporank.score(tmp_path))


def test_the_confidence_of_a_masked_model_is_that_of_what_is_left(tmp_path):
    complex_ = read_complex(NEAR)
    tail, n = tail_of(complex_), len(complex_.residues)
    stem = "q_scores_rank_001_alphafold2_multimer_v3_model_1_seed_000"
    model = tmp_path / f"{stem.replace('scores', 'unrelaxed')}.pdb"
    model.write_text(pdb_with(NEAR, np.full(n, 50.0)))
    values = {
        "plddt": np.where(tail, 30.0, 90.0).tolist(),
        "pae": np.full((n, n), 5.0).tolist(),
        "ptm": 0.5,
        "iptm": 0.5,
    }
    (tmp_path / f"{stem}.json").write_text(json.dumps(values))
    asked = Asked("T", "d", model)
    (text,) = masks([asked])
    assert text == mask_text(tail)
    (whole,), (masked,) = confidences([asked]), confidences([asked._replace(masked=text)])
    assert (masked.status, masked.reason, masked.plddt, masked.interface_plddt) == ("ok", "", 90.0, 90.0)
    assert whole.interface_plddt < 90.0


def test_a_mask_is_kept_until_a_file_changes(folder, tmp_path):
    store = Store(tmp_path / "store")

    def plan() -> list[PlannedDecoy]:
        state = (folder / NAME).stat()
        return [PlannedDecoy("T", "ranked_0", str(folder / NAME), state.st_size, state.st_mtime_ns, "")]

    (first,) = with_disorder_masked(plan(), "auto", store)
    assert first.masked == mask_text(tail_of(read_complex(NEAR)))
    assert with_disorder_masked(plan(), "auto", store) == [first]
    assert (store.computed["masks"], store.reused["masks"]) == (1, 1)
    (folder / NAME).write_text(pdb_with(NEAR, HIGH))
    assert with_disorder_masked(plan(), "auto", store)[0].masked == ""
    assert with_disorder_masked(plan(), "none", store)[0].masked == ""


def test_many_models_are_read_by_several_processes(folder, tmp_path, monkeypatch):
    states = {path: path.stat() for path in sorted(folder.iterdir())}
    plan = [PlannedDecoy(p.stem, p.stem, str(p), state.st_size, state.st_mtime_ns, "") for p, state in states.items()]
    expected = with_disorder_masked(plan, "auto", Store(tmp_path / "one"))
    monkeypatch.setattr(masked, "MANY", 1)
    assert with_disorder_masked(plan, "auto", Store(tmp_path / "many")) == expected
    assert [bool(decoy.masked) for decoy in expected] == [True, False]
