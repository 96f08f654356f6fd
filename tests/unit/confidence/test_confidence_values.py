"""Numbers of a predictor's file, by name: what is taken, and what is refused in words."""

from __future__ import annotations

import numpy as np
import pytest

from structures_text import Atom, alanine, mmcif, write
from toporank.confidence.tokens import described, differing
from toporank.errors import ConfidenceError
from toporank.programs import values
from toporank.programs.values import array, number
from toporank.structures.read import read_complex


@pytest.mark.parametrize("value", [0.0, 1.0, 0.25, np.float64(0.25), [0.25], [[0.25]]])
def test_a_number_within_its_bounds_is_taken_in_any_shape(value):
    assert number({"iptm": value}, "iptm", 0, 1) == np.asarray(value).item()


@pytest.mark.parametrize("value", [np.float32(1.0000001), 1.00001, -1e-9])
def test_a_number_that_rounding_took_beyond_its_bound_is_the_bound(value):
    assert number({"iptm": value}, "iptm", 0, 1) == round(float(value))


def test_what_is_not_there_is_no_number():
    assert number({"iptm": None}, "iptm", 0, 1) is number({}, "iptm", 0, 1) is None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1.01, "iptm is 1.01, not a number from 0 to 1"),
        (-0.1, "not a number from 0 to 1"),
        (np.nan, "iptm is nan"),
        ([0.1, 0.2], "iptm is not one number"),
        ("high", "iptm is no array of numbers"),
        ("0.5", "iptm is no array of numbers"),
        (True, "iptm is no array of numbers"),
        (1.001, "iptm is 1.001, not"),
    ],
)
def test_another_value_is_refused_by_name(value, message):
    with pytest.raises(ConfidenceError, match=message):
        number({"iptm": value}, "iptm", 0, 1)


def test_an_array_of_more_than_the_limit_is_refused_before_it_is_copied(monkeypatch):
    monkeypatch.setattr(values, "MAX_BYTES", 400)
    assert len(array({"pae": np.zeros(100)}, "pae")) == 100
    with pytest.raises(ConfidenceError, match="pae has 101 numbers"):
        array({"pae": np.zeros(101)}, "pae")


def test_plddt_that_is_not_known_in_both_differs_in_nothing():
    known, unknown = np.array([50.0, 60, 70, 80]), np.full(4, np.nan)
    assert differing(known, unknown) == differing(unknown, known) == 0.0
    assert differing(known, np.full(4, 50.0)) == 0.0  # B factors that are all the same
    assert differing(known, known + np.array([0, 0, 9, np.nan])) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("n_ligands", "words"),
    [
        (0, "2 protein residues"),
        (1, "2 protein residues and 1 other"),
        (2, "2 protein residues and 2 others"),
    ],
)
def test_what_a_model_has_is_counted_in_words(tmp_path, n_ligands, words):
    atoms = alanine("A", 1, 0.0) + alanine("B", 1, 5.0)
    for i in range(n_ligands):
        atoms.append(Atom("C1", "LIG", "A", 20 + i, 9.0 * i, 9.0, 0.0, het=True))
    assert described(read_complex(write(tmp_path / "m.cif", mmcif(atoms)))) == words
