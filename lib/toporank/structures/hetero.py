"""Standard amino acids in HETATM records: part of a chain where a peptide bond says so, ligands otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import gemmi

from toporank.structures.complex import STANDARD
from toporank.structures.residue_names import PEPTIDE_BOND

LEAST = 3
"""Amino acids in a row that are a chain by themselves; fewer are a ligand."""
Place = tuple[int, int]
"""A part of a chain, and a residue in it."""


def join(
    chains: list[str], residues: list[list[gemmi.Residue]], names: list[list[str]], parents: list[list[str]]
) -> list[str]:
    """Notes on amino acids in HETATM records; those that are part of a chain get their parent.

    They are bonded to an amino acid of their chain, directly or by others, or are the whole of it. chains : of each
    part, its name. residues, names, parents : of each part, by residue; `""` is the parent of what is not protein.
    """
    free: dict[str, list[Place]] = defaultdict(list)
    for i, (of_names, of_parents) in enumerate(zip(names, parents, strict=True)):
        for k, parent in enumerate(of_parents):
            if not parent and of_names[k] in STANDARD and residues[i][k].find_atom("CA", "*"):
                free[chains[i]].append((i, k))
    notes = []
    for chain, places in free.items():
        parts = [i for i, name in enumerate(chains) if name == chain]
        known = {(i, k): residues[i][k] for i in parts for k, parent in enumerate(parents[i]) if parent}
        joined = _joined(known, {(i, k): residues[i][k] for i, k in places})
        for i, k in joined:
            parents[i][k] = names[i][k]
        if joined:
            notes.append(f"{_amino_acids(len(joined))} of chain {chain} written as HETATM, read as part of it")
        if (left := len(places) - len(joined)) >= LEAST:
            notes.append(
                f"{_amino_acids(left)} of chain {chain} written as HETATM and not bonded to others, read as ligands"
            )
    return notes


def _amino_acids(n: int) -> str:
    return f"{n} amino acid{'s' * (n > 1)}"


def _joined(known: dict[Place, gemmi.Residue], free: dict[Place, gemmi.Residue]) -> set[Place]:
    """Those free amino acids that are part of the chain. known : the others of it."""
    every = known | free
    near = _near(every)
    alone = all(residue.het_flag == "H" for residue in known.values())
    joined: set[Place] = set()
    for first in free:
        if first in joined:
            continue
        group, reached = {first}, [first]
        while reached:
            here = reached.pop()
            new = [p for p in near[here] if p not in group and _bonded(every[here], every[p])]
            group.update(new)
            reached += (place for place in new if place in free)
        if not group <= free.keys() or (alone and len(group) >= LEAST):
            joined |= group & free.keys()
    return joined


def _near(residues: dict[Place, gemmi.Residue]) -> dict[Place, set[Place]]:
    """The neighbours of each residue in the file and by number."""
    of_number: dict[int, list[Place]] = defaultdict(list)
    for place, residue in residues.items():
        of_number[residue.seqid.num or 0].append(place)
    order = sorted(residues)
    near = {place: set(order[max(0, k - 1) : k + 2]) for k, place in enumerate(order)}
    for place, residue in residues.items():
        number = residue.seqid.num or 0
        near[place].update(*(of_number.get(n, ()) for n in (number - 1, number, number + 1)))
    return near


def _bonded(one: gemmi.Residue, other: gemmi.Residue) -> bool:
    """Whether a peptide bond joins two residues, whichever comes first."""
    return any(c.pos.dist(n.pos) <= PEPTIDE_BOND for c, n in _ends(one, other) if c and n)


def _ends(one: gemmi.Residue, other: gemmi.Residue) -> Iterator[tuple[gemmi.Atom | None, gemmi.Atom | None]]:
    for first, second in ((one, other), (other, one)):
        yield first.find_atom("C", "*"), second.find_atom("N", "*")
