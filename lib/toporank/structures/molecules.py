"""Two molecules under one chain name, as docking programs leave them: each gets a name of its own.

A chain that merely lacks residues stays one chain. Where a chain goes on without a peptide bond, something else has to
say that another molecule begins: residue numbers or atom numbers that start anew, another chain in between, or a TER
record that is not one of those that some programs write at every gap. Another `label_asym_id` of mmCIF says
as much as TER.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain as chained
from itertools import compress, groupby, pairwise
from typing import NamedTuple

import gemmi
import numpy as np

from toporank.structures.identity import free_name
from toporank.structures.residue_names import PEPTIDE_BOND

FEWEST = 5
"""Amino acids of a molecule, at least; fewer are a ligand or a loose end."""
LONGEST_GAP = 100
"""Residues that a chain may lack in one place. Programs that write TER at gaps do so at shorter ones."""
FAR = 20.0
"""Å between CA atoms beyond which a chain that goes on without a peptide bond is worth a word."""
APART = 40.0
"""Å between the CA atoms at a TER record beyond which another molecule begins; without TER it is worth a word. In the
bound and unbound structures of 99 complexes the ends of a gap of 2 to 100 residues are 25 Å apart at most, joints of
merged chains left out; once a chain goes on by number 39 Å away (1FQJ, unbound), so that the margin is small."""
STEP = 3.8
"""Å between the CA atoms of two residues with a peptide bond."""
SAME_PLACE = 5.0
"""Å, mean distance of CA atoms with the same residue numbers: up to this, two conformations of one molecule."""
SEVERAL = "is several molecules"
"""What a note says of a chain that was parted."""
READ_AS_ONE = "without a peptide bond: read as one chain"
"""What a note says of a chain that may be several molecules."""
LAST_SERIAL = 99_000
"""Atom numbers may start anew beyond this because their column is full."""


class _Residue(NamedTuple):
    """An amino acid of a chain. part : the place of its gemmi chain in the model. place : in that chain."""

    part: int
    place: int
    residue: gemmi.Residue
    number: int
    code: str


class _Seam(NamedTuple):
    """Where a chain goes on without a peptide bond. after : the place among its amino acids of the first one behind it.

    ter : whether a TER record or another chain stands in between. new : whether another molecule surely begins.
    gap : difference of residue numbers. distance : Å between the CA atoms.
    """

    after: int
    ter: bool
    new: bool
    gap: int
    distance: float


Piece = list[_Residue]
"""The amino acids of a molecule, or of a part of it, in the order of the file."""


class BrokenChain(NamedTuple):
    """A chain that goes on without a peptide bond somewhere: its amino acids in the order of the file, and where."""

    amino_acids: Piece
    seams: list[_Seam]


def chains_in_question(
    model: gemmi.Model, residues: list[list[gemmi.Residue]], parents: list[list[str]]
) -> dict[str, BrokenChain]:
    """Each chain that goes on without a peptide bond where its numbers jump or another part of the file begins.

    Parameters
    ----------
    residues, parents : of each gemmi chain of the model, parted at TER records, by residue

    Returns
    -------
    Chain name → where it goes on. Empty if a residue has no number or no atoms.
    """
    parts: dict[str, list[int]] = defaultdict(list)
    for part, chain in enumerate(model):
        if any(parents[part]):
            parts[chain.name].append(part)
    chains = {}
    for name, of_chain in parts.items():
        protein = [residue for part in of_chain for residue in compress(residues[part], parents[part])]
        numbers = [residue.seqid.num for residue in protein]
        if None in numbers or not all(map(len, protein)):
            return {}
        serials = [residue[0].serial for residue in protein]
        if len(of_chain) > 1 or _jump(numbers) or _start_anew(serials) or _is_torn(protein):
            amino_acids = _amino_acids(of_chain, residues, parents)
            chains[name] = BrokenChain(amino_acids, list(_seams(amino_acids, parents, model)))
    return {name: chain for name, chain in chains.items() if chain.seams}


def part_molecules(
    model: gemmi.Model, chains: dict[str, BrokenChain], residues: list[list[gemmi.Residue]], parents: list[list[str]]
) -> list[str]:
    """Give each molecule of a model a chain name of its own; the first one keeps the name.

    Parameters
    ----------
    model : changed in place where a chain is several molecules; otherwise left as it is
    chains : as from `chains_in_question`
    residues, parents : of each gemmi chain of the model, parted at TER records, by residue; `""` is the parent of what
        is not protein

    Returns
    -------
    A note for each molecule that has another name now. None where nothing has changed.
    """
    of_all_chains = chained.from_iterable(chain.seams for chain in chains.values())
    ter_at_gaps = not any(seam.gap > 1 and not seam.ter and not seam.new for seam in of_all_chains)
    molecules = {name: _molecules(chain, ter_at_gaps) for name, chain in chains.items()}
    several = {name: of_chain for name, of_chain in molecules.items() if len(of_chain) > 1}
    if not several or _is_repeated(model, parents, several):
        return []
    names = {chain.name for chain in model}
    notes, new_names = [], {}
    for name, (_, *further) in several.items():
        for molecule in further:
            new_name = free_name(name, names)
            names.add(new_name)
            first, last = molecule[0].number, molecule[-1].number
            notes.append(f"chain {name!r} {SEVERAL}: TopoRank calls {first} to {last} of it {new_name!r}")
            new_names.update({(amino_acid.part, amino_acid.place): new_name for amino_acid in molecule})
    _rename(model, residues, new_names)
    return notes


def far_apart(chains: dict[str, BrokenChain]) -> list[str]:
    """A note on each chain that goes on far away, without a peptide bond, and is read as one all the same.

    chains : as from `chains_in_question`.
    """
    notes = []
    for name, (chain, seams) in chains.items():
        stops = [*(seam.after for seam in seams[1:]), len(chain)]
        for seam, stop in zip(seams, stops, strict=False):
            unlikely = seam.ter or seam.new or abs(seam.gap) > LONGEST_GAP or seam.distance > STEP * (seam.gap + 1)
            piece = chain[seam.after : stop]
            if not unlikely or seam.distance <= FAR or len(chain) - seam.after < FEWEST:
                continue
            if not _belong_together(chain[: seam.after], piece):
                before, behind = chain[seam.after - 1], chain[seam.after]
                notes.append(
                    f"chain {name!r} goes on at {behind.number}, {seam.distance:.0f} Å from {before.number}"
                    f" and {READ_AS_ONE} (if it is two molecules, give each its own name)"
                )
    return notes


def _jump(numbers: list[int]) -> bool:
    """Whether residue numbers do not go up in steps of one; several residues may have the same one."""
    return any(not 0 <= second - first <= 1 for first, second in pairwise(numbers))


def _start_anew(serials: list[int]) -> bool:
    """Whether atom numbers go back."""
    return any(second < first < LAST_SERIAL for first, second in pairwise(serials))


def _is_torn(protein: list[gemmi.Residue]) -> bool:
    """Whether residues that follow each other are farther apart than a chain can be, or of two `label_asym_id`."""
    for before, behind in pairwise(protein):
        if before.subchain != behind.subchain or before[0].pos.dist(behind[0].pos) > APART:
            return True
    return False


def _amino_acids(parts: list[int], residues: list[list[gemmi.Residue]], parents: list[list[str]]) -> Piece:
    """The amino acids of a chain that consists of some parts of a model."""
    chain = []
    for part in parts:
        for place, residue in enumerate(residues[part]):
            if parents[part][place]:
                seqid = residue.seqid
                chain.append(_Residue(part, place, residue, seqid.num, seqid.icode))
    return chain


def _seams(chain: Piece, parents: list[list[str]], model: gemmi.Model) -> Iterator[_Seam]:
    """Where a chain goes on without a peptide bond, and in another part of the file or with other numbers."""
    for after, (before, behind) in enumerate(pairwise(chain), 1):
        ter = before.part != behind.part or before.residue.subchain != behind.residue.subchain
        gap = behind.number - before.number
        anew = behind.residue[0].serial < before.residue[0].serial < LAST_SERIAL
        goes_on = 0 <= gap <= 1 and not ter and not anew
        if (goes_on and _distance(before, behind) <= APART) or _bonded(before, behind):
            continue
        between = range(before.part + 1, behind.part)
        another = any(any(parents[part]) and model[part].name != model[before.part].name for part in between)
        yield _Seam(after, ter, gap < 0 or anew or another, gap, _distance(before, behind))


def _bonded(before: _Residue, behind: _Residue) -> bool:
    """Whether a peptide bond may join two residues; by their CA atoms where C or N is missing."""
    c = before.residue.find_atom("C", "*")
    n = behind.residue.find_atom("N", "*")
    if c and n:
        return c.pos.dist(n.pos) <= PEPTIDE_BOND
    return _distance(before, behind) <= STEP + 1.0


def _distance(before: _Residue, behind: _Residue) -> float:
    """Å between the CA atoms of two residues, or their first atoms."""
    first = before.residue.find_atom("CA", "*") or before.residue[0]
    second = behind.residue.find_atom("CA", "*") or behind.residue[0]
    return first.pos.dist(second.pos)


def _molecules(broken: BrokenChain, ter_at_gaps: bool) -> list[Piece]:
    """The molecules of a chain. ter_at_gaps : whether all gaps of the file have TER records, which say little then."""
    chain, seams = broken
    cuts = []
    for seam in seams:
        ter_parts = seam.gap > LONGEST_GAP or seam.distance > APART or not ter_at_gaps
        if seam.new or (seam.ter and ter_parts):
            cuts.append(seam.after)
    molecules: list[Piece] = []
    for first, stop in pairwise([0, *cuts, len(chain)]):
        piece = chain[first:stop]
        home = next((molecule for molecule in molecules if _belong_together(molecule, piece)), None)
        if home is not None:
            home += piece
        elif molecules and len(piece) < FEWEST:
            molecules[-1] += piece
        else:
            molecules.append(piece)
    if len(molecules) > 1 and len(molecules[0]) < FEWEST:
        molecules[:2] = [molecules[0] + molecules[1]]
    return molecules


def _belong_together(molecule: Piece, piece: Piece) -> bool:
    """Whether a piece is part of a molecule: bonded to it, in its place, or with numbers that it lacks."""
    at = {(amino_acid.number, amino_acid.code): amino_acid for amino_acid in molecule}
    of_number = {amino_acid.number: amino_acid for amino_acid in molecule}
    before, behind = of_number.get(piece[0].number - 1), of_number.get(piece[-1].number + 1)
    if (before and _bonded(before, piece[0])) or (behind and _bonded(piece[-1], behind)):
        return True
    twins = [(at[key], other) for other in piece if (key := (other.number, other.code)) in at]
    if twins:
        return bool(np.mean([_distance(one, other) for one, other in twins]) <= SAME_PLACE)
    numbers = np.sort(list(of_number))
    return bool(
        numbers[0] < piece[0].number
        and piece[-1].number < numbers[-1]
        and np.searchsorted(numbers, piece[0].number) == np.searchsorted(numbers, piece[-1].number)
    )


def _is_repeated(model: gemmi.Model, parents: list[list[str]], several: dict[str, list[Piece]]) -> bool:
    """Whether the whole complex stands in the file again: then these are models, not molecules."""
    protein = {chain.name for chain, of_chain in zip(model, parents, strict=True) if any(of_chain)}
    return len(protein) > 1 and several.keys() == protein and all(_alike(*of[:2]) for of in several.values())


def _alike(first: Piece, second: Piece) -> bool:
    """Whether most residues of the smaller of two pieces are in the other, too, by number and name."""
    named = [{(each.number, each.code, each.residue.name) for each in piece} for piece in (first, second)]
    return 2 * len(named[0] & named[1]) > min(map(len, named))


def _rename(model: gemmi.Model, residues: list[list[gemmi.Residue]], new_names: dict[tuple[int, int], str]) -> None:
    """Put the amino acids with new names, and what stands between them, into chains of their own.

    new_names : of amino acids, by part and place.
    """
    chains = []
    for part, chain in enumerate(model):
        names = [chain.name] * len(residues[part])
        last: dict[str, int] = {}
        for place in range(len(names)):
            name = new_names.get((part, place))
            if name:
                first = last.get(name, place)
                names[first : place + 1] = [name] * (place + 1 - first)
                last[name] = place
        for name, places in groupby(range(len(names)), key=names.__getitem__):
            new_chain = gemmi.Chain(name)
            new_chain.append_residues([residues[part][place] for place in places])
            chains.append(new_chain)
    while len(model):
        del model[0]
    for new_chain in chains:
        model.add_chain(new_chain)
