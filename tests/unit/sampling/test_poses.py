"""Partners of a complex, and how near a pose of them is to the native."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from structures_text import EXAMPLES
from toporank.comparing.native.label import Native, label
from toporank.errors import StructureError
from toporank.structures.read import read_complex
from toporank_sampling import sides
from toporank_sampling.quality import Reference

COMPLEX = read_complex(EXAMPLES / "1PPE/near1.pdb.gz")
RECEPTOR, LIGAND = (sides.partner(COMPLEX, chain) for chain in COMPLEX.chains)
NATIVE = Native(COMPLEX, tuple((chain,) for chain in COMPLEX.chains))
REFERENCE = Reference(NATIVE, (RECEPTOR, LIGAND))


def without(partner, *residues: int):
    kept = np.ones(len(partner.residues), dtype=bool)
    kept[list(residues)] = False
    return partner.only(np.flatnonzero(kept))


# ---- partners ------------------------------------------------------------------------------------


def test_a_chain_that_is_not_there_is_an_error_that_names_those_that_are():
    with pytest.raises(
        StructureError, match=r"no protein chain X \(the protein chains are .+\)"
    ):
        sides.partner(COMPLEX, ["X"])


def test_a_chain_is_cut_where_residues_are_missing():
    before = len(sides.pieces(RECEPTOR))
    assert len(sides.pieces(without(RECEPTOR, 50, 51))) == before + 1


def test_residues_without_backbone_and_single_residues_between_gaps_are_left_out():
    nitrogen = np.flatnonzero(
        (COMPLEX.atom_names == b"N") & np.isin(COMPLEX.residue_of, [50, 52])
    )
    damaged = sides.with_atoms(COMPLEX, ~np.isin(np.arange(len(COMPLEX.xyz)), nitrogen))
    found = sides.partner(damaged, [COMPLEX.residues[50].chain])
    assert len(found.residues) == len(RECEPTOR.residues) - 3


def test_sequences_match_across_a_gap_and_under_other_numbers():
    shorter = without(RECEPTOR, 80, 81, 82)
    renumbered = replace(
        shorter,
        residues=tuple(r._replace(number=r.number + 500) for r in shorter.residues),
    )
    pairs = sides.matching(renumbered, RECEPTOR)
    assert len(pairs) == len(shorter.residues)
    assert [shorter.residues[i] for i in pairs[:, 0]] == [
        RECEPTOR.residues[j] for j in pairs[:, 1]
    ]


def test_an_unbound_partner_of_another_protein_is_refused():
    other = replace(
        LIGAND,
        residues=tuple(r._replace(chain=RECEPTOR.chains[0]) for r in LIGAND.residues),
    )
    with pytest.raises(StructureError, match="residues in common"):
        sides.superposed(other, RECEPTOR)


def test_only_copies_of_one_another_change_places():
    copy = replace(
        RECEPTOR, residues=tuple(r._replace(chain="Z") for r in RECEPTOR.residues)
    )
    assert sides.exchanged(RECEPTOR, copy) == {
        RECEPTOR.chains[0]: "Z",
        "Z": RECEPTOR.chains[0],
    }
    assert sides.exchanged(RECEPTOR, LIGAND) == {}


# ---- quality -------------------------------------------------------------------------------------


def test_the_native_pose_is_perfect_and_any_other_has_the_label_of_its_complex():
    assert REFERENCE.dockq(lambda xyz: xyz) == pytest.approx(1)
    assert REFERENCE.covered == 1
    for by in ((1.0, 2.0, 0.5), (4.0, -4.0, 3.0)):
        pose = sides.joined((RECEPTOR, replace(LIGAND, xyz=LIGAND.xyz + by)))
        assert REFERENCE.dockq(lambda xyz, by=by: xyz + by) == pytest.approx(
            label(NATIVE, pose).dockq
        )


def test_partners_that_lack_residues_have_the_label_of_what_is_left():
    touching = int(NATIVE.interface(*NATIVE.partners).pairs[0, 1])
    lacking = without(LIGAND, touching)
    reference = Reference(NATIVE, (RECEPTOR, lacking))
    assert 0 < reference.covered < 1
    assert reference.dockq(lambda xyz: xyz) == pytest.approx(
        label(NATIVE, sides.joined((RECEPTOR, lacking))).dockq
    )


def test_a_copy_may_stand_for_the_other_partner():
    copy = replace(
        RECEPTOR, residues=tuple(r._replace(chain="Z") for r in RECEPTOR.residues)
    )
    half_turn = np.array([-1.0, -1.0, 1.0])
    other = replace(copy, xyz=RECEPTOR.xyz * half_turn + [25.0, 0.0, 0.0])
    native = Native(sides.joined((RECEPTOR, other)), ((RECEPTOR.chains[0],), ("Z",)))
    swapped = Reference(native, (RECEPTOR, other), sides.exchanged(RECEPTOR, other))
    assert swapped.dockq(lambda xyz: xyz) == pytest.approx(1)
