"""Two molecules under one chain name, as docking programs leave them.

A chain that merely lacks residues stays one chain. Where a chain goes on without a peptide bond,
something else has to say that another molecule begins: residue numbers or atom numbers that start
anew, another chain in between, or a TER record that is not one of those that some programs write at
every gap. Another `label_asym_id` of mmCIF says as much as TER.

Beside other chains a name is a partner: all its molecules keep it, as HADDOCK wants it. A molecule
gets a name of its own where other chains stand in between, where nature joins the other molecule
with another chain, and where else there would be no two partners.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from toporank.chains.chain import ResidueId, chains_by_name, overlapping
from toporank.chains.immune import PEPTIDE, joined, pairs_of
from toporank.chains.partners import listed
from toporank.chains.thresholds import LONGEST_GAP, STEP
from toporank.files.printable_names import free_name
from toporank.structures.model_residue import ModelResidue, ca_places, letters_of

FEWEST = 5
"""Amino acids of a molecule, at least; fewer are a ligand or a loose end."""
FAR = 20.0
"""Å between CA atoms beyond which a note names a chain that goes on without a peptide bond."""
APART = 40.0
"""Å between the CA atoms at a TER record beyond which another molecule begins; without TER a note
names it. In the bound and unbound structures of 99 complexes the ends of a gap of 2 to 100 residues
are 25 Å apart at most, joints of merged chains left out; once a chain goes on by number 39 Å away
(1FQJ, unbound), so that the margin is small.
"""
SAME_PLACE = 5.0
"""Å, mean distance of CA atoms with the same residue numbers: up to this, two conformations of one
molecule.
"""
FURTHER = 1000
"""What is added to the residue numbers of a molecule where another one of its chain has them."""
LAST_SERIAL = 99_000
"""Atom numbers may start anew beyond this because their column is full."""

AminoAcids = list[ModelResidue]
"""The amino acids of a molecule, or of a part of it, in the order of the file."""


class _Seam(NamedTuple):
    """Where a chain goes on without a peptide bond.

    Attributes
    ----------
    after : place among the amino acids of the chain of the first one behind it
    ter : whether a TER record or another chain stands in between
    new : whether another molecule surely begins
    back : whether numbers go back, and nothing else says so: a fused domain, or another molecule
    gap : difference of residue numbers
    distance : Å between the CA atoms
    """

    after: int
    ter: bool
    new: bool
    back: bool
    gap: int
    distance: float


class BrokenChain(NamedTuple):
    """A chain that goes on without a peptide bond somewhere.

    It has its amino acids in the order of the file, and where that is.
    """

    amino_acids: AminoAcids
    seams: list[_Seam]


def broken_chains(residues: list[ModelResidue]) -> dict[str, BrokenChain]:
    """Find each chain that goes on without a peptide bond.

    There its numbers jump, or another part of the file begins.

    Returns
    -------
    dict, chain name → where it goes on; empty if an amino acid has no number or no atoms
    """
    chains: dict[str, AminoAcids] = defaultdict(list)
    chain_of_part: dict[int, str] = {}
    for residue in residues:
        if residue.parent:
            if not residue.has_number or not len(residue.residue):
                return {}
            chains[residue.chain].append(residue)
            chain_of_part[residue.part] = residue.chain
    broken = {}
    for name, amino_acids in chains.items():
        seams = _seams(amino_acids, chain_of_part)
        if seams:
            broken[name] = BrokenChain(amino_acids, seams)
    return broken


def _seams(chain: AminoAcids, chain_of_part: dict[int, str]) -> list[_Seam]:
    """Where a chain goes on without a peptide bond, and in another part or with other numbers.

    chain_of_part : the name of the chain of each part that has amino acids
    """
    seams = []
    ids = _ids(chain)
    are_unique = len(set(ids)) == len(ids)
    for after, (before, behind) in enumerate(pairwise(chain), start=1):
        ter = (
            before.part != behind.part
            or before.residue.subchain != behind.residue.subchain
        )
        gap = behind.number - before.number
        anew = behind.residue[0].serial < before.residue[0].serial < LAST_SERIAL
        goes_on = 0 <= gap <= 1 and not ter and not anew
        is_near = before.residue[0].pos.dist(behind.residue[0].pos) <= APART
        if (goes_on and is_near) or _bonded(before, behind):
            continue
        names_between = {
            chain_of_part.get(part, before.chain)
            for part in range(before.part + 1, behind.part)
        }
        is_between = not names_between <= {before.chain}
        back = gap < 0 and are_unique and not (ter or anew or is_between)
        seam = _Seam(
            after=after,
            ter=ter,
            new=(gap < 0 and not back) or anew or is_between,
            back=back,
            gap=gap,
            distance=before.distance(behind),
        )
        seams.append(seam)
    return seams


def _bonded(before: ModelResidue, behind: ModelResidue) -> bool:
    """Whether a peptide bond may join two residues; by their CA atoms where C or N is missing."""
    bonded = before.bonded(behind)
    return before.distance(behind) <= STEP + 1.0 if bonded is None else bonded


def name_molecules(
    residues: list[ModelResidue], chains: dict[str, BrokenChain]
) -> tuple[list[str], set[str]]:
    """Give molecules a chain name of their own, where they cannot be one partner.

    The first one of a chain keeps the name.

    Parameters
    ----------
    residues : of a model; `chain` and `part` are changed where a molecule gets a name
    chains : as from `broken_chains`

    Returns
    -------
    notes : a sentence for each molecule that has another name now, and each chain that keeps its
    whole : the names of these
    """
    n_names = len(_protein_chains(residues))
    several = _several(chains, with_back=False)
    if not several and n_names == 1:
        several = _several(chains, with_back=True)
    if not several or _is_repeated(residues, several):
        return [], set()
    whole = _one_partner_each(residues, several) if n_names > 1 else set()
    names = {residue.chain for residue in residues}
    new_names: dict[int, str] = {}
    notes = []
    for name, (_, *further) in several.items():
        if name in whole:
            notes.append(_as_one_partner(name, several[name]))
            continue
        for molecule in further:
            new_name = free_name(name, names)
            names.add(new_name)
            first, last = molecule[0].number, molecule[-1].number
            notes.append(
                f"chain {name!r} is several molecules: TopoRank calls {first} to {last} of it "
                f"{new_name!r}"
            )
            for amino_acid in molecule:
                new_names[amino_acid.place] = new_name
    _rename(residues, new_names)
    return notes, whole


def _several(
    chains: dict[str, BrokenChain], *, with_back: bool
) -> dict[str, list[AminoAcids]]:
    """The molecules of each chain that has several.

    with_back : whether numbers that go back are enough.
    """
    # Where every gap of the file has a TER record, such records say little.
    seams = itertools.chain.from_iterable(chain.seams for chain in chains.values())
    ter_at_gaps = all(seam.gap <= 1 or seam.ter or seam.new for seam in seams)
    several = {}
    for name, chain in chains.items():
        molecules = _molecules(chain, ter_at_gaps, with_back)
        if len(molecules) > 1:
            several[name] = molecules
    return several


def _one_partner_each(
    residues: list[ModelResidue], several: dict[str, list[AminoAcids]]
) -> set[str]:
    """The chains whose molecules are one partner, so that the name says which.

    It is empty where they would be the only partner.
    """
    protein = [residue for residue in residues if residue.parent]
    molecule_of = {}
    for name, molecules in several.items():
        for number, molecule in enumerate(molecules):
            for amino_acid in molecule:
                molecule_of[amino_acid.place] = name, number
    bodies = _bodies(protein, molecule_of)
    name_at = {residue.place: residue.chain for residue in protein}
    whole = set()
    for name, molecules in several.items():
        last = max(molecule[-1].place for molecule in molecules)
        places = range(molecules[0][0].place, last + 1)
        stands_alone = {name_at.get(place, name) for place in places} == {name}
        parted_by_nature = False
        for body in bodies:
            members = [number for chain, number in body if chain == name]
            crosses = 0 < len(members) < len(body)
            parted_by_nature |= crosses and len(members) < len(molecules)
        if stands_alone and not parted_by_nature:
            whole.add(name)

    def called(body: set[tuple[str, int]]) -> set[str]:
        return {name if name in whole else f"{name} {n}" for name, n in body}

    return whole if len(overlapping(map(called, bodies))) > 1 else set()


def _bodies(
    protein: list[ModelResidue], molecule_of: dict[int, tuple[str, int]]
) -> list[set[tuple[str, int]]]:
    """Molecules that are one body by nature: name of the chain, and which of its molecules."""
    residues = []
    molecules = {}
    for residue in protein:
        molecule = molecule_of.get(residue.place, (residue.chain, 0))
        name = " ".join(map(str, molecule))
        molecules[name] = molecule
        residues.append(ResidueId(name, residue.number))
    chains = chains_by_name(residues, letters_of(protein), ca_places(protein))
    pairs = [pair for pair in pairs_of(chains) if pair.what != PEPTIDE]
    return [set(map(molecules.__getitem__, body)) for body in joined(chains, pairs)]


def far_apart(chains: dict[str, BrokenChain]) -> list[str]:
    """Name each chain that goes on far away without a peptide bond, and is read as one.

    chains : as from `broken_chains`.
    """
    notes = []
    for name, (chain, seams) in chains.items():
        ends = [seam.after for seam in seams] + [len(chain)]
        for seam, stop in zip(seams, ends[1:], strict=True):
            is_too_far = (
                seam.distance > STEP * (seam.gap + 1) or abs(seam.gap) > LONGEST_GAP
            )
            unlikely = seam.ter or seam.new or is_too_far
            if not unlikely or seam.distance <= FAR or len(chain) - seam.after < FEWEST:
                continue
            if not _belong_together(chain[: seam.after], chain[seam.after : stop]):
                before, behind = chain[seam.after - 1], chain[seam.after]
                notes.append(
                    f"chain {name!r} goes on at {behind.number}, {seam.distance:.0f} Å from "
                    f"{before.number} and without a peptide bond: read as one chain (if it "
                    "is two molecules, give each its own name)"
                )
    return notes


def _molecules(
    broken: BrokenChain, ter_at_gaps: bool, with_back: bool
) -> list[AminoAcids]:
    """The molecules of a chain.

    ter_at_gaps : whether all gaps of the file have TER records, which say little then. with_back :
    as for `_several`.
    """
    chain, seams = broken
    cuts = []
    for seam in seams:
        ter_parts = seam.gap > LONGEST_GAP or seam.distance > APART or not ter_at_gaps
        is_cut = seam.new or (seam.back and with_back)
        if is_cut or (seam.ter and ter_parts):
            cuts.append(seam.after)
    molecules: list[AminoAcids] = []
    for first, stop in pairwise([0, *cuts, len(chain)]):
        piece = chain[first:stop]
        home = next(
            (molecule for molecule in molecules if _belong_together(molecule, piece)),
            None,
        )
        if home is None and molecules and len(piece) < FEWEST:
            home = molecules[-1]
        if home is None:
            molecules.append(piece)
        else:
            home += piece
    if len(molecules) > 1 and len(molecules[0]) < FEWEST:
        molecules[:2] = [molecules[0] + molecules[1]]
    return molecules


def _belong_together(molecule: AminoAcids, piece: AminoAcids) -> bool:
    """Whether a piece is part of a molecule.

    It is if it is bonded to it, in its place, or has numbers that the molecule lacks.
    """
    of_number = {}
    of_identity = {}
    for amino_acid in molecule:
        of_number[amino_acid.number] = amino_acid
        of_identity[amino_acid.number, amino_acid.code] = amino_acid
    before = of_number.get(piece[0].number - 1)
    behind = of_number.get(piece[-1].number + 1)
    if (before and _bonded(before, piece[0])) or (
        behind and _bonded(piece[-1], behind)
    ):
        return True
    apart = []
    for amino_acid in piece:
        twin = of_identity.get((amino_acid.number, amino_acid.code))
        if twin:
            apart.append(twin.distance(amino_acid))
    if apart:
        return bool(np.mean(apart) <= SAME_PLACE)
    numbers = np.sort(list(of_number))
    first, last = piece[0].number, piece[-1].number
    in_one_gap = np.searchsorted(numbers, first) == np.searchsorted(numbers, last)
    return bool(numbers[0] < first and last < numbers[-1] and in_one_gap)


def _protein_chains(residues: list[ModelResidue]) -> set[str]:
    """The names of the chains that hold protein."""
    return {residue.chain for residue in residues if residue.parent}


def _ids(residues: list[ModelResidue]) -> list[tuple[int, str]]:
    """Number and insertion code of each residue."""
    return [(residue.number, residue.code) for residue in residues]


def _ids_with_names(residues: list[ModelResidue]) -> set[tuple[int, str, str]]:
    """Number, insertion code and name of the residues."""
    return {(residue.number, residue.code, residue.name) for residue in residues}


def _is_repeated(
    residues: list[ModelResidue], several: dict[str, list[AminoAcids]]
) -> bool:
    """Whether the whole complex stands in the file again: then these are models, not molecules."""
    protein = _protein_chains(residues)
    if len(protein) < 2 or several.keys() != protein:
        return False
    for first, second, *_ in several.values():
        one = _ids_with_names(first)
        other = _ids_with_names(second)
        if 2 * len(one & other) <= min(len(one), len(other)):
            return False
    return True


def _as_one_partner(name: str, molecules: list[AminoAcids]) -> str:
    """A note on a chain whose molecules are one partner.

    Where residues of two of them have one number, those of the second get others.
    """
    taken = set(_ids(molecules[0]))
    starts = []
    for molecule in molecules[1:]:
        start = str(molecule[0].number)
        ids = _ids(molecule)
        further = 0
        while any((number + further, code) in taken for number, code in ids):
            further += FURTHER
        if further:
            start = f"{start}, which TopoRank calls {molecule[0].number + further},"
        for residue in molecule:
            residue.number += further
            taken.add((residue.number, residue.code))
        starts.append(start)
    return (
        f"chain {name!r} is several molecules, others from {listed(starts)} on: counted as "
        "one partner (give each its own name to part them)"
    )


def _rename(residues: list[ModelResidue], new_names: dict[int, str]) -> None:
    """Put the amino acids with new names, and what stands between them, into chains of their own.

    new_names : of amino acids, by place.
    """
    for _, of_part in groupby(residues, key=lambda residue: residue.part):
        part = list(of_part)
        last: dict[str, int] = {}
        for k, residue in enumerate(part):
            name = new_names.get(residue.place)
            if name:
                for between in part[last.get(name, k) : k + 1]:
                    between.chain = name
                last[name] = k
    stretches = groupby(residues, key=lambda residue: (residue.part, residue.chain))
    for number, (_, stretch) in enumerate(stretches):
        for residue in list(stretch):
            residue.part = number
