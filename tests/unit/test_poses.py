"""Partners of a complex, and how near a pose of them is to the native."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from structures_text import EXAMPLES
from toporank.errors import StructureError
from toporank.sampling import partners, rotations
from toporank.sampling.quality import CONTACT, Quality, Reference
from toporank.structures.read import read_complex

COMPLEX = read_complex(EXAMPLES / "1PPE/near1.pdb.gz")
RECEPTOR, LIGAND = (partners.partner(COMPLEX, chain) for chain in COMPLEX.chains)
NATIVE = (RECEPTOR, LIGAND)
REFERENCE = Reference(NATIVE, NATIVE)


def moved(partner, by) -> np.ndarray:
    return partner.xyz + np.asarray(by, dtype=float)


def without(partner, *residues: int):
    kept = np.ones(len(partner.residues), dtype=bool)
    kept[list(residues)] = False
    return partners._selected(partner, kept)


# ---- partners ---------------------------------------------------------------------------------------------


def test_partners_are_all_chains_of_a_complex_and_join_to_it_again():
    both = partners.joined(NATIVE)
    assert both.chains == COMPLEX.chains
    assert [both.residues[r] for r in both.residue_of[both.ca]] == list(both.residues)
    np.testing.assert_array_equal(both.xyz, np.vstack([RECEPTOR.xyz, LIGAND.xyz]))


def test_a_chain_that_is_not_there_is_an_error_that_names_those_that_are():
    with pytest.raises(StructureError, match=r"no protein chain X \(the protein chains are .+\)"):
        partners.partner(COMPLEX, ["X"])


def test_a_chain_is_cut_where_residues_are_missing():
    before = len(partners.pieces(RECEPTOR))
    assert len(partners.pieces(without(RECEPTOR, 50, 51))) == before + 1


def test_residues_without_backbone_and_single_residues_between_gaps_are_left_out():
    nitrogen = np.flatnonzero((COMPLEX.atom_names == b"N") & np.isin(COMPLEX.residue_of, [50, 52]))
    damaged = partners.with_atoms(COMPLEX, ~np.isin(np.arange(len(COMPLEX.xyz)), nitrogen))
    found = partners.partner(damaged, [COMPLEX.residues[50].chain])
    assert len(found.residues) == len(RECEPTOR.residues) - 3


def test_sequences_match_across_a_gap_and_under_other_numbers():
    shorter = without(RECEPTOR, 80, 81, 82)
    renumbered = replace(shorter, residues=tuple(r._replace(number=r.number + 500) for r in shorter.residues))
    pairs = partners.matching(renumbered, RECEPTOR)
    assert len(pairs) == len(shorter.residues)
    assert [shorter.residues[i] for i in pairs[:, 0]] == [RECEPTOR.residues[j] for j in pairs[:, 1]]


def test_superposing_undoes_any_motion():
    rotation = rotations.uniform(np.random.default_rng(1))
    away = replace(RECEPTOR, xyz=RECEPTOR.xyz @ rotation.T + [10, -20, 5])
    np.testing.assert_allclose(partners.superposed(away, RECEPTOR).xyz, RECEPTOR.xyz, atol=1e-9)


def test_an_unbound_partner_of_another_protein_is_refused():
    other = replace(LIGAND, residues=tuple(r._replace(chain=RECEPTOR.chains[0]) for r in LIGAND.residues))
    with pytest.raises(StructureError, match="residues in common"):
        partners.superposed(other, RECEPTOR)


def test_only_copies_of_one_another_change_places():
    copy = replace(RECEPTOR, residues=tuple(r._replace(chain="Z") for r in RECEPTOR.residues))
    assert partners.exchanged(RECEPTOR, copy) == {RECEPTOR.chains[0]: "Z", "Z": RECEPTOR.chains[0]}
    assert partners.exchanged(RECEPTOR, LIGAND) is None


# ---- quality ----------------------------------------------------------------------------------------------


def test_the_native_itself_is_perfect_and_stays_so_as_a_whole_in_any_frame():
    turn = rotations.uniform(np.random.default_rng(2))
    quality = REFERENCE(RECEPTOR.xyz @ turn.T + 7, LIGAND.xyz @ turn.T + 7)
    assert (quality.fnat, quality.irmsd, quality.lrmsd) == pytest.approx((1, 0, 0), abs=1e-6)
    assert quality.dockq == pytest.approx(1)


def test_a_shifted_ligand_has_the_shift_as_its_rmsd_and_fewer_contacts():
    quality = REFERENCE(RECEPTOR.xyz, moved(LIGAND, (3, 4, 0)))
    assert quality.lrmsd == pytest.approx(5)
    assert 0 < quality.irmsd < 5
    assert quality.fnat < 1
    assert REFERENCE(RECEPTOR.xyz, moved(LIGAND, (500, 0, 0))).fnat == 0


def test_fnat_is_what_plain_loops_count():
    def contacts(ligand: np.ndarray) -> set[tuple[int, int]]:
        close = np.argwhere(np.linalg.norm(RECEPTOR.xyz[:, None] - ligand, axis=-1) < CONTACT)
        return {(int(RECEPTOR.residue_of[i]), int(LIGAND.residue_of[j])) for i, j in close}

    shifted = moved(LIGAND, (1.0, 1.0, -1.0))
    native = contacts(LIGAND.xyz)
    assert REFERENCE(RECEPTOR.xyz, shifted).fnat == pytest.approx(len(native & contacts(shifted)) / len(native))


def test_dockq_has_the_published_value_where_all_its_parts_are_one_half():
    assert Quality(0.5, 1.5, 8.5).dockq == pytest.approx(0.5)


def test_contacts_of_residues_that_a_partner_lacks_are_lost():
    touching = sorted({int(i) for i in REFERENCE._contacts[1][:, 0]})
    lacking = without(LIGAND, LIGAND.residue_of[touching[0]])
    reference = Reference(NATIVE, (RECEPTOR, lacking))
    quality = reference(RECEPTOR.xyz, lacking.xyz)
    assert quality.fnat == pytest.approx(reference.covered)
    assert reference.covered < 1
    assert quality.irmsd == pytest.approx(0, abs=1e-6)
