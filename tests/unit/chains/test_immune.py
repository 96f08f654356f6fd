"""Chains that are one body by nature: antibodies, T-cell receptors and MHC molecules."""

from __future__ import annotations

import numpy as np
import pytest
from _chains import (
    ALPHA,
    B2M,
    BETA,
    CLASS_1,
    CLASS_2_ALPHA,
    CLASS_2_BETA,
    DELTA,
    GAMMA,
    HEAVY,
    LAMBDA,
    LIGHT,
    LYSOZYME,
    NANOBODY,
    PEPTIDE,
    chain,
)

from complexes import ANTIBODY, away, positions, renamed, write_pdb
from structures_text import Atom, atoms_of, sketch
from toporank.chains.body_names import sentence_of_pairs
from toporank.chains.chain import Chain, ResidueId, chains_by_name
from toporank.chains.complex_kinds import kind_of_complex
from toporank.chains.immune import ANTIBODY as ANTIBODY_PAIR
from toporank.chains.immune import MHC as MHC_PAIR
from toporank.chains.immune import PEPTIDE as PEPTIDE_PAIR
from toporank.chains.immune import RECEPTOR as RECEPTOR_PAIR
from toporank.chains.immune import (
    Pair,
    bodies_of,
    domains_of,
    natural_bodies,
    pairs_of,
)
from toporank.structures.read import read_complex

SINGLE_CHAIN = f"{HEAVY}GGGGSGGGGSGGGGS{LIGHT}"
FACING, TOUCHING, APART = 11.0, 7.0, 60.0
"""Å between chains that lie side by side: as two variable domains do, nearer, and far away."""


def trace(sequence: str, place: float) -> Chain:
    """A straight chain at a place along x, with residue 44 of its first variable domain, if it has
    one, at z = 0.
    """
    domains = domains_of(sequence)
    middle = domains[0].face if domains else len(sequence) // 2
    z = 3.8 * (np.arange(len(sequence)) - middle)
    ca = np.stack([np.full(len(z), place), np.zeros(len(z)), z], axis=1)
    residues = [ResidueId("A", number) for number in range(len(sequence))]
    return chains_by_name(residues, sequence, ca)["A"]


def bodies(**chains: tuple[str, float]) -> str:
    """The partners of chains with these sequences at these places, as text; empty if each chain is
    one.
    """
    traces = {name: trace(*of_chain) for name, of_chain in chains.items()}
    return " ".join("+".join(body) for body in bodies_of(traces, pairs_of(traces)))


ANTIGEN = LYSOZYME, -TOUCHING


@pytest.mark.parametrize(
    "pair",
    [(HEAVY, LIGHT), (LIGHT, HEAVY), (HEAVY, LAMBDA), (ALPHA, BETA), (GAMMA, DELTA)],
)
def test_two_variable_domains_that_face_each_other_are_one_body(pair):
    assert bodies(A=(pair[0], 0.0), B=(pair[1], FACING), C=ANTIGEN) == "A+B C"
    assert bodies(A=(pair[0], 0.0), B=(pair[1], APART), C=ANTIGEN) == "", (
        "they are of two antibodies"
    )


@pytest.mark.parametrize(
    "pair",
    [
        (LIGHT, LIGHT),
        (LIGHT, LIGHT.replace("S", "T", 3)),
        (HEAVY, NANOBODY),
        (BETA, BETA),
    ],
)
def test_two_domains_of_one_class_are_two_bodies(pair):
    """Such as a dimer of light chains, which pack as heavy and light chain do."""
    assert bodies(A=(pair[0], 0.0), B=(pair[1], FACING), C=ANTIGEN) == ""


@pytest.mark.parametrize("single", [NANOBODY, SINGLE_CHAIN, HEAVY])
def test_a_nanobody_and_a_single_chain_antibody_have_no_partner(single):
    assert bodies(A=(single, 0.0), B=ANTIGEN) == ""
    assert bodies(A=(single, 0.0), B=ANTIGEN, C=(chain(1), 2 * FACING)) == ""


def test_of_two_antibodies_each_chain_has_the_one_that_it_faces():
    """Whatever the order in the file, and whether they are copies or not."""
    near, far = FACING, 300.0 + FACING
    heavy = {"A": ANTIGEN, "H": (HEAVY, 0.0), "I": (HEAVY, 300.0)}
    assert bodies(**heavy, L=(LIGHT, near), M=(LIGHT, far)) == "A H+L I+M"
    assert bodies(**heavy, L=(LIGHT, far), M=(LIGHT, near)) == "A H+M I+L"
    assert bodies(**heavy, M=(LAMBDA, near), K=(LIGHT, far)) == "A H+M I+K"


def test_an_mhc_molecule_is_one_body_with_its_microglobulin_or_its_other_chain():
    assert bodies(A=(CLASS_1, 0.0), B=(B2M, TOUCHING), C=ANTIGEN) == "A+B C"
    assert bodies(A=(CLASS_1, 0.0), B=(B2M, APART), C=ANTIGEN) == ""
    assert (
        bodies(A=(CLASS_2_ALPHA, 0.0), B=(CLASS_2_BETA, TOUCHING), C=ANTIGEN) == "A+B C"
    )
    antigen = {"B": (B2M, -TOUCHING), "H": (HEAVY, 0.0), "L": (LIGHT, FACING)}
    assert bodies(**antigen) == "B H+L", "an antibody is no MHC molecule"


MHC = {"A": (CLASS_1, 0.0), "B": (B2M, TOUCHING), "C": (PEPTIDE, -5.0)}
RECEPTOR = {"D": (ALPHA, -40.0), "E": (BETA, -40.0 - FACING)}


def test_a_peptide_is_a_partner_of_its_own_until_something_binds_to_both():
    assert bodies(**MHC) == "A+B C"
    assert bodies(**MHC, **RECEPTOR) == "A+B+C D+E"
    without = {name: of_chain for name, of_chain in MHC.items() if name != "B"}
    assert bodies(**without, **RECEPTOR) == "A+C D+E"
    class_2 = {
        "A": (CLASS_2_ALPHA, 0.0),
        "B": (CLASS_2_BETA, TOUCHING),
        "C": (PEPTIDE, -5.0),
    }
    assert bodies(**class_2) == "A+B C"
    assert bodies(**class_2, **RECEPTOR) == "A+B+C D+E"
    loose = {**MHC, "C": (PEPTIDE, 500.0)}
    assert bodies(**loose, **RECEPTOR) == "A+B C D+E"


def test_a_sentence_names_each_body_and_how_it_counts():
    mhc = [Pair(MHC_PAIR, "A", "B"), Pair(PEPTIDE_PAIR, "A", "C")]
    receptor = [Pair(RECEPTOR_PAIR, "D", "E")]
    both = "A, B and C are an MHC molecule with its peptide, and D and E are a T-cell receptor"
    partners = (("A", "B", "C"), ("D", "E"))
    assert (
        sentence_of_pairs(partners, [*mhc, *receptor])
        == f"{both}: counted as A+B+C against D+E"
    )
    mhc_alone = "A and B are an MHC molecule: counted as A+B against C"
    assert sentence_of_pairs((("A", "B"), ("C",)), mhc[:1]) == mhc_alone
    assert sentence_of_pairs((("A", "D"), ("B",)), mhc) == ""
    antibody = [Pair(ANTIBODY_PAIR, "H", "L")]
    three = "H and L are an antibody: counted as 3 partners, H+L, A and B"
    assert sentence_of_pairs((("A",), ("B",), ("H", "L")), antibody) == three


@pytest.mark.parametrize("names", ["HLA", "ABC", "BAC", "XYZ"])
def test_in_files_chains_may_have_any_name(tmp_path, names):
    atoms = renamed(atoms_of(ANTIBODY), dict(zip("HLA", names, strict=True)))
    path = write_pdb(tmp_path / "model.pdb", atoms)
    joined = tuple(sorted([tuple(sorted(names[:2])), (names[2],)]))
    assert natural_bodies(read_complex(path).protein_chains) == joined
    model = sketch(path).first
    assert bodies_of([chain for chain, _ in model.chains], model.pairs) == joined


def near(atoms: list[Atom], distance: float, wider: int) -> list[Atom]:
    """Atoms of residues of each chain that are near the antigen, or near such a residue in the
    sequence.
    """
    ca = [atom for atom in atoms if atom.name == "CA"]
    xyz, chain = positions(ca), np.array([atom.chain for atom in ca])
    is_antigen = chain == "A"
    is_near = np.linalg.norm(xyz[:, None] - xyz, axis=2) <= distance
    touches = (is_near & (is_antigen[:, None] != is_antigen)).any(axis=1)
    residues = set()
    for i in np.flatnonzero(touches):
        for k in range(max(i - wider, 0), min(i + wider + 1, len(ca))):
            if chain[k] == chain[i]:
                residues.add((chain[k], ca[k].number))
    return [atom for atom in atoms if (atom.chain, atom.number) in residues]


@pytest.mark.parametrize(("distance", "wider"), [(12.0, 1), (12.0, 2), (15.0, 1)])
def test_an_antibody_that_is_cut_to_its_interface_is_recognised_by_the_pieces(
    tmp_path, distance, wider
):
    atoms = near(atoms_of(ANTIBODY), distance, wider)
    complex_ = read_complex(write_pdb(tmp_path / "cut.pdb", atoms))
    assert not any(
        domains_of(sequence)
        for _, sequence in sketch(tmp_path / "cut.pdb").first.chains
    )
    assert natural_bodies(complex_.protein_chains) == (("A",), ("H", "L"))
    far = away(atoms, "L", 60.0)
    assert (
        natural_bodies(
            read_complex(write_pdb(tmp_path / "far.pdb", far)).protein_chains
        )
        == ()
    )


@pytest.mark.parametrize(
    ("sequences", "kind"),
    [([LYSOZYME, LYSOZYME], "proteins"), ([HEAVY, LIGHT], "proteins"), ([HEAVY, LIGHT, LYSOZYME], "antibody and antigen"),
     ([HEAVY, PEPTIDE], "antibody and antigen"), ([LYSOZYME, PEPTIDE], "protein and peptide"), ([PEPTIDE], "proteins"),
     ([CLASS_1, B2M, PEPTIDE], "protein and peptide"), ([CLASS_1, B2M, PEPTIDE, ALPHA, BETA], "T-cell receptor and MHC molecule")],
)  # fmt: skip
def test_sequences_say_which_kind_of_complex_it_is(sequences, kind):
    assert kind_of_complex(sequences) == kind
