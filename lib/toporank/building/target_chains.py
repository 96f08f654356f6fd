"""The sequences of the chains of every target, from one of its decoys, and how the chains of its
decoys correspond.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from toporank.building.chunks.chunk import making
from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.store import Store
from toporank.comparing.correspondence import chain_map_text
from toporank.comparing.decoys import maps_of_target
from toporank.comparing.homology.chain_tables import Chain
from toporank.comparing.homology.kmers import kind_of
from toporank.comparing.moved import moved_as_whole
from toporank.structures.complex import Complex
from toporank.structures.identity import Status
from toporank.structures.stored import from_bytes


def sequences(complex_: Complex) -> dict[str, str]:
    """One-letter codes of the protein residues of each chain, in the order of the file."""
    found: dict[str, list[str]] = {}
    for residue, parent, letter in zip(
        complex_.residues, complex_.parents, complex_.letters, strict=True
    ):
        if parent:
            found.setdefault(residue.chain, []).append(letter)
    return {chain: "".join(letters) for chain, letters in sorted(found.items())}


def target_chains(
    plan: Iterable[PlannedDecoy],
    fates: Mapping[tuple[str, str], LedgerRow],
    earlier: Iterable[Chain],
    store: Store,
) -> list[Chain]:
    """The chains of every target with a graph, sorted by target.

    They are read from the decoy with most chains, the first by name of several; what was read from
    the same file before is taken from `earlier`. Raises StructureError when the file is no longer
    what was built.
    """
    chosen: dict[str, PlannedDecoy] = {}
    for decoy in sorted(plan):
        fate, best = fates.get(decoy.key), chosen.get(decoy.target)
        if (
            fate
            and fate.status == Status.OK
            and (best is None or fate.n_chains > fates[best.key].n_chains)
        ):
            chosen[decoy.target] = decoy
    known: dict[tuple[str, str, str], list[Chain]] = {}
    for row in earlier:
        known.setdefault(row[:3], []).append(row)
    rows = []
    for target, decoy in chosen.items():
        digest = fates[decoy.key].structure_sha256
        rows += known.get((*decoy.key, digest)) or _read(target, decoy, digest, store)
    return rows


class Correspondence(NamedTuple):
    """How the decoys of each target correspond.

    chains : (target, decoy) → which chains of the target its chains are, as
    `correspondence.chain_map_text` writes it, of decoys whose interface is known. moved : (target,
    decoy) → how many decoys of its target are the same complex, moved as a whole, of those that
    are.
    """

    chains: dict[tuple[str, str], str]
    moved: dict[tuple[str, str], int]


def correspondence_of(
    plan: Iterable[PlannedDecoy], fates: Mapping[tuple[str, str], LedgerRow], store: Store
) -> Correspondence:
    """How the decoys of a plan correspond. Raises StructureError when a file is no longer what was
    built.
    """
    chains: dict[tuple[str, str], str] = {}
    moved: dict[tuple[str, str], int] = {}
    built = (
        decoy for decoy in sorted(plan) if (fate := fates.get(decoy.key)) and fate.atoms_sha256
    )
    for target, decoys in groupby(built, key=attrgetter("target")):
        known = {d: fates[d.key] for d in decoys}
        made = {d: making(d, row.structure_sha256, {}, store) for d, row in known.items()}
        contents = {d.decoy: of_decoy.contacts.content for d, of_decoy in made.items()}
        for name, chain_map in maps_of_target(contents.items()).items():
            chains[target, name] = chain_map_text(chain_map)
        scored = {d.decoy: row.atoms_sha256 for d, row in known.items() if row.status == Status.OK}
        of_atoms = {atoms: name for name, atoms in reversed(scored.items())}  # copies count once
        bodies = moved_as_whole({name: contents[name] for name in sorted(of_atoms.values())})
        of_bodies = {scored[name] for name in bodies}
        moved.update(
            {(target, name): len(bodies) for name, atoms in scored.items() if atoms in of_bodies}
        )
    return Correspondence(chains, moved)


def _read(target: str, decoy: PlannedDecoy, digest: str, store: Store) -> list[Chain]:
    made = making(decoy, digest, {}, store)
    complex_ = from_bytes(made.complex.content)
    made.save()
    names: dict[str, list[str]] = {}
    for chain, sequence in sequences(complex_).items():
        names.setdefault(sequence, []).append(chain)
    return [
        Chain(target, decoy.decoy, digest, " ".join(of), kind_of(s), s) for s, of in names.items()
    ]
