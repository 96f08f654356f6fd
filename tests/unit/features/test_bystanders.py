"""What touches an interface and is not protein is named, since no feature looks at it."""

from __future__ import annotations

import pytest

from structures_text import Atom, alanine, changed, pair, pdb, write
from toporank.features.bystanders import not_looked_at
from toporank.features.interface import CaCutoff, ca_cutoff_interface
from toporank.structures.read import read_complex


@pytest.fixture
def noted(tmp_path):
    """The notes on a pair of alanines, 5 Å apart along x, with other atoms beside it."""

    def note(*others: Atom) -> list[str]:
        complex_ = read_complex(write(tmp_path / "d.pdb", pdb([*pair(), *others])))
        return not_looked_at(complex_, ca_cutoff_interface(CaCutoff(), complex_).index)

    return note


def het(
    residue: str,
    number: int,
    chain: str = "A",
    z: float = 4.0,
    name: str = "C1",
    **other,
) -> Atom:
    return Atom(name, residue, chain, number, 2.5, 0.0, z, het=True, **other)


def test_of_protein_and_water_nothing_is_said(noted):
    assert noted() == []
    assert noted(het("HOH", 301, name="O"), het("WAT", 302, name="O")) == []


def test_nucleic_acids_are_named_by_chain_ligands_by_place_and_ions_by_number(noted):
    acids = [
        Atom("P", kind, chain, n, 2.5, 0.0, 4.0)
        for chain, kind, n in [
            ("D", "DG", 1),
            ("C", "DA", 1),
            ("C", "DT", 2),
            ("E", "U", 1),
        ]
    ]
    ions = [het("MG", n, name="MG") for n in (402, 403)]
    assert noted(*acids, het("ATP", 401), het("ATP", 401, name="C2"), *ions) == [
        "at the interface, but not looked at: DNA (chains C, D), RNA (chain E), ATP (A:401), 2 MG"
    ]


def test_only_what_touches_an_interface_residue_is_named(noted):
    assert noted(het("ATP", 401, z=7.0)) == []
    assert noted(het("ATP", 401, z=7.0), het("ATP", 401, z=5.2, name="C2")) == [
        "at the interface, but not looked at: ATP (A:401)"
    ]
    assert (
        noted(
            *changed(alanine("A", 2, 40.0)),
            Atom("C1", "ATP", "A", 401, 40.0, 0.0, 4.0, het=True),
        )
        == []
    )


def test_hydrogens_touch_nothing(noted):
    assert (
        noted(het("ATP", 401, z=7.0), het("ATP", 401, z=4.0, name="H1", element="H"))
        == []
    )


def test_of_many_the_rest_is_counted(noted):
    (note,) = noted(*[het(f"L{n:02d}", n) for n in range(10)])
    assert note.endswith("L05 (A:5), 4 others")
