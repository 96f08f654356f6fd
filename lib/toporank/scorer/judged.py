"""What a scorer says of single graphs, kept in the reuse store: one that it judged before costs next to nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from toporank.building.chunks.store import Entry, Store
from toporank.building.packed import Packed
from toporank.building.packing import Member, write_pack
from toporank.files.packfile import PackedGraphs
from toporank.scorer.descriptors import describe
from toporank.scorer.kept import KIND, Kept
from toporank.scorer.prediction import ResidueScore, Score
from toporank.scorer.scorer import Scorer


class Judged(NamedTuple):
    """What a scorer says of a graph by itself.

    score : of its networks. descriptors : `scorer.descriptors`, by name; empty where the scorer has no trees.
    """

    score: Score
    descriptors: dict[str, float]


def judged(scorer: Scorer, packed: Packed, store: Store) -> tuple[list[Judged], set[tuple[str, str]]]:
    """What a scorer says of the graph of each decoy, then of that of each interface, in their order; and what is new.

    Only the graphs of new decoys, target and name, are read: the scorer has not judged them before. Raises
    CheckpointError or GraphError when the scorer does not fit the graphs, or a score is not a number.
    """
    members, n = [*packed.decoys, *packed.interfaces], len(packed.decoys)
    kept = Kept(scorer)
    keys = [kept.key(member.sha256, i >= n) for i, member in enumerate(members)]
    places: dict[str, list[int]] = {}
    for i, member in enumerate(members):
        places.setdefault(member.target, []).append(i)
    found = {}
    for target, own in places.items():
        box = kept.box(store, target)
        found |= {i: _read(entry, members[i], i >= n) for i in own if (entry := box.known(KIND, keys[i]))}
    new = [i for i in range(len(members)) if i not in found]
    parts = Packed([members[i] for i in new if i < n], [members[i] for i in new if i >= n], packed.joined)
    found |= zip(new, _asked(scorer, parts), strict=True)
    for target in dict.fromkeys(members[i].target for i in new):
        box = kept.box(store, target)
        for i in set(places[target]).intersection(new):
            box.obtain(KIND, keys[i], lambda i=i: _written(found[i]))
        box.save()
    return [found[i] for i in range(len(members))], {(members[i].target, members[i].decoy) for i in new}


def _asked(scorer: Scorer, parts: Packed) -> list[Judged]:
    """What the scorer says now."""
    if not parts.decoys and not parts.interfaces:
        return []
    from toporank.scorer.networks import Networks  # with torch, which nobody needs for answers that are kept

    with tempfile.TemporaryDirectory(prefix="toporank_") as room:
        packs = Path(room, "graphs"), Path(room, "interfaces")
        write_pack(packs[0], parts.decoys, parts.joined)
        write_pack(packs[1], parts.interfaces)
        scores = Networks(scorer).score(*packs)
        names, values = describe(PackedGraphs.open([*packs])) if scorer.trees else ([], [[]] * len(scores))
    return [
        Judged(one, dict(zip(names, map(float, row), strict=True))) for one, row in zip(scores, values, strict=True)
    ]


def _written(one: Judged) -> tuple[bytes, dict[str, Any]]:
    """The contacts as bytes, the rest as facts; JSON keeps every digit."""
    kept = one.score._asdict()
    residues = [[residue.name, residue.pred_network] for residue in one.score.residues]
    said = {name: kept[name] for name in ("pred_dockq", "pred_sd", "pred_local", "pooled")}
    return one.score.contacts, {**said, "residues": residues, "descriptors": one.descriptors}


def _read(entry: Entry, member: Member, part: bool) -> Judged:
    """part : whether the graph is that of an interface."""
    facts = dict(entry.facts)
    residues, descriptors = tuple(ResidueScore(*each) for each in facts.pop("residues")), facts.pop("descriptors")
    facts["pooled"] = tuple(facts["pooled"])
    score = Score(member.target, member.decoy, **facts, interface=member.split if part else "")
    return Judged(score._replace(residues=residues, contacts=entry.content), descriptors)


def descriptors_of(found: Sequence[Judged]) -> dict[str, list[float]]:
    """The descriptors of all graphs, by name."""
    names = [*found[0].descriptors] if found else []
    return {name: [one.descriptors[name] for one in found] for name in names}
