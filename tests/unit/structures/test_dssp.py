"""mkdssp: what it is given, what is read back, and that it is the right program."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dssp_agreement import needs_mkdssp
from oracle import reference
from structures_text import EXAMPLES, Atom, alanine, ca_trace, changed, pdb, write
from toporank.chains.chain import ResidueId
from toporank.errors import FeatureError
from toporank.structures.dssp import (
    DsspMissingError,
    dssp_version,
    normalised_pdb,
    run_dssp,
)
from toporank.structures.read import read_complex


@pytest.fixture(scope="module")
def dssp(decoy):
    return run_dssp(decoy)


def assert_same(one, other, within: float = 0.0):
    np.testing.assert_array_equal(one.reported, other.reported)
    np.testing.assert_array_equal(one.structure, other.structure)
    for name in ("accessibility", "phi", "psi"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=0, atol=within, err_msg=name
        )


# ---- what mkdssp is given ---------------------------------------------------------------------------------


def test_only_protein_is_given_and_modified_residues_under_their_parent_s_name(
    tmp_path,
):
    others = [
        Atom("O", "HOH", "A", 5, 9.0, 9.0, 9.0, het=True),
        Atom("P", "DA", "C", 1, 20.0, 0.0, 0.0),
    ]
    atoms = [
        *changed(alanine("A", 1, 0.0), residue="MSE", het=True),
        *alanine("B", 1, 5.0),
        *others,
    ]
    text, position = normalised_pdb(read_complex(write(tmp_path / "d.pdb", pdb(atoms))))
    assert [line[17:22] for line in text.splitlines()[1:-1]] == ["MET A"] * 5 + [
        "ALA B"
    ] * 5
    assert position == {("A", 1): 0, ("B", 1): 1}


def test_more_than_26_chains_share_letters_for_mkdssp_reports_no_more():
    residues = [(f"chain{i:02}", 1, "", (4.0 * i, 0.0, 0.0)) for i in range(63)]
    text, position = normalised_pdb(ca_trace(residues))
    assert {line[21] for line in text.splitlines()[1:-1]} == set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    )
    assert sorted(position.values()) == list(range(63))


def test_more_residues_in_a_chain_than_the_format_holds_are_an_error():
    trace = ca_trace([("A", 1, "", (0.0, 0.0, 0.0))])
    many = dataclasses.replace(
        trace,
        residues=tuple(ResidueId("A", n) for n in range(10000)),
        parents=("ALA",) * 10000,
        xyz=np.zeros((10000, 3)),
        atom_names=np.full(10000, b"CA"),
        residue_of=np.arange(10000),
    )
    with pytest.raises(FeatureError, match="more than 9999 residues"):
        normalised_pdb(many)


def test_a_complex_far_from_the_origin_is_moved_into_the_columns_by_whole_angstrom():
    near = ca_trace([("A", 1, "", (0.25, 0.0, 0.0)), ("B", 1, "", (8.0, 0.0, 0.0))])
    far = dataclasses.replace(near, xyz=near.xyz - 1234.0)
    text, _ = normalised_pdb(far)
    x = [float(line[30:38]) for line in text.splitlines() if line.startswith("ATOM")]
    assert x[1] - x[0] == pytest.approx(7.75)
    assert x[0] % 1 == pytest.approx(0.25)
    assert -999.0 < min(x) < 0.0


# ---- against plain computations ---------------------------------------------------------------------------


@needs_mkdssp
@pytest.mark.parametrize(
    "name",
    ["1GCQ/mid1.pdb", "1AVZ/far1.pdb", "1PPE/near1.pdb.gz", "1GCQ/wrong2.cif.gz"],
)
def test_the_normalised_file_gets_the_same_answers_as_the_user_s_file_read_by_biopython(
    name,
):
    path = EXAMPLES / name
    complex_, expected = read_complex(path), reference.dssp(path)
    dssp = run_dssp(complex_)
    protein = np.flatnonzero(complex_.is_protein)
    assert dssp.reported[protein].all()
    assert not np.delete(dssp.reported, protein).any()
    assert [
        (dssp.structure[r].decode(), dssp.accessibility[r], dssp.phi[r], dssp.psi[r])
        for r in protein
    ] == [expected[complex_.residues[r]] for r in protein]


@needs_mkdssp
@pytest.mark.parametrize(
    "shift", [[1500.0, 0, 0], [-2000.0, -2000, -2000], [0, 0, 30000.0]]
)
def test_coordinates_wider_than_a_pdb_column_are_no_obstacle(decoy, dssp, shift):
    there = run_dssp(dataclasses.replace(decoy, xyz=decoy.xyz + shift))
    np.testing.assert_array_equal(there.structure, dssp.structure)
    np.testing.assert_allclose(there.accessibility, dssp.accessibility, atol=3)


# ---- the program itself -----------------------------------------------------------------------------------


@pytest.fixture
def mkdssp(tmp_path, monkeypatch):
    """Put a script called mkdssp, or nothing, on an otherwise empty PATH."""

    def install(script: str | None) -> None:
        if script is not None:
            (tmp_path / "mkdssp").write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / "mkdssp").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        dssp_version.cache_clear()

    yield install
    dssp_version.cache_clear()


@pytest.mark.parametrize(
    ("script", "version"),
    [
        ("echo 'mkdssp version 4.0.4'", "4.0.4"),
        ("echo 'mkdssp version 4.2.2' >&2", "4.2.2"),
        ("echo 'version 4.10.1'", "4.10.1"),
    ],
)
def test_any_version_4_is_supported(mkdssp, script, version):
    mkdssp(script)
    assert dssp_version() == version


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            "echo 'mkdssp version 3.1.4'",
            r"version 3\.1\.4 is not supported, 4\.x is .*apt-get install dssp",
        ),
        ("echo 'mkdssp version 5.0.0'", r"version 5\.0\.0 is not supported"),
        (None, r"not found on the PATH .*apt-get install dssp.*conda install"),
        ("echo hello", "does not report its version"),
        ("exit 1", "does not report its version"),
    ],
)
def test_another_version_or_none_is_an_error_with_the_remedy(mkdssp, script, message):
    mkdssp(script)
    with pytest.raises(DsspMissingError, match=message):
        dssp_version()


def test_a_program_that_cannot_be_run_is_an_error(mkdssp, tmp_path):
    mkdssp("")
    (tmp_path / "mkdssp").write_text("#!/no/such/interpreter\n")
    with pytest.raises(DsspMissingError, match="does not run"):
        dssp_version()


def test_an_mkdssp_that_fails_or_hangs_is_a_feature_error_of_this_decoy(
    mkdssp, decoy, monkeypatch
):
    mkdssp("echo one; echo the last word >&2; exit 3")
    with pytest.raises(
        FeatureError, match="failed with exit status 3 and said: the last word"
    ):
        run_dssp(decoy)
    mkdssp("exit 0")  # and writes nothing
    with pytest.raises(FeatureError, match="and said: nothing"):
        run_dssp(decoy)
    mkdssp("while :; do :; done")
    monkeypatch.setattr("toporank.structures.dssp.TIMEOUT_SECONDS", 0.2)
    with pytest.raises(FeatureError, match="did not finish within"):
        run_dssp(decoy)
