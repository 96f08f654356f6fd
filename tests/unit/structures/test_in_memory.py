"""Structures of Biopython, biotite and gemmi in memory give what their files give."""

from __future__ import annotations

import gzip
import io

import gemmi
import numpy as np
import pytest
from Bio.PDB import PDBParser

import toporank
from structures_text import EXAMPLES
from toporank.errors import ConfigError
from toporank.structures.in_memory import complex_of
from toporank.structures.read import read_complex

PATH = EXAMPLES / "1PPE" / "near1.pdb.gz"
TEXT = gzip.decompress(PATH.read_bytes()).decode()


def of_biopython() -> object:
    return PDBParser(QUIET=True).get_structure("near1", io.StringIO(TEXT))


def of_gemmi() -> object:
    structure = gemmi.read_pdb_string(TEXT)
    structure.name = "near1"
    return structure


def of_biotite() -> object:
    pdb = pytest.importorskip("biotite.structure.io.pdb")
    return pdb.PDBFile.read(io.StringIO(TEXT)).get_structure(model=1)


LIBRARIES = pytest.mark.parametrize("library", [of_biopython, of_gemmi, of_biotite])


@LIBRARIES
def test_a_structure_in_memory_is_the_complex_of_its_file(library):
    found, expected = complex_of(library()), read_complex(PATH)
    assert found.residues == expected.residues
    assert found.atom_names.tolist() == expected.atom_names.tolist()
    np.testing.assert_allclose(found.xyz, expected.xyz, atol=0.0005)
    assert complex_of(found) is found


@LIBRARIES
def test_every_function_takes_it(library):
    structure = library()
    assert toporank.interfaces(structure).equals(toporank.interfaces(PATH))
    assert toporank.features(structure).shape == toporank.features(PATH).shape
    assert toporank.dockq(structure, PATH)["dockq"] == pytest.approx(1.0, abs=1e-6)


def test_structures_are_scored_by_name():
    expected = toporank.score([PATH], confidence=False).models
    for models in (
        {"near1": of_gemmi(), "again": of_biopython()},
        [of_gemmi(), of_biopython()],
        of_gemmi(),
    ):
        found = toporank.score(models, confidence=False).models
        assert (found["dockq"] - expected["dockq"][0]).abs().max() < 0.005
        assert set(found["decoy"]) <= {"near1", "near1_2", "again"}


@pytest.mark.parametrize(
    ("source", "words"),
    [(5, "not a structure"), (".", "a folder, not a structure file .give its files")],
)
def test_something_else_is_refused(source, words):
    with pytest.raises(ConfigError, match=words):
        complex_of(source)
