"""Partners that are named by chains of natives, in the names of each decoy."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from toporank.building.chunks.plan import PlannedDecoy
from toporank.chains.chain import Chain, ChainSequences
from toporank.chains.immune import bodies_of
from toporank.chains.mapping import (
    correspond,
    counterparts,
    counterparts_of_file,
)
from toporank.chains.partners import (
    EACH_CHAIN,
    Counterparts,
    in_decoy,
    parse_partners,
    partners_text,
    read_mapping,
)
from toporank.errors import ConfigError, printable
from toporank.structures.identity import DecoyKey

if TYPE_CHECKING:
    from toporank.structures.sketch import Sketch


class Natives(NamedTuple):
    """All facts about the natives of a data set.

    chains : target → name and sequence of each chain of its native; None where the file cannot be
        read.
    bodies : target → the partners that the chains of its native are by nature, as text; empty where
        each is one.
    mapping : gives which chain is which, as `chains.partners.mapping_text` writes it, of a
        decoy whose label has to decide between copies of a chain; empty where it has none.
    """

    chains: Mapping[str, ChainSequences | None]
    bodies: Mapping[str, str]
    mapping: Callable[[PlannedDecoy], str]


def known_natives(
    sketches: Mapping[str, Sketch | None], mapping: Callable[[PlannedDecoy], str]
) -> Natives:
    """What a look into the file of each native says.

    sketches : by target. mapping : as in `Natives`.
    """
    chains: dict[str, ChainSequences | None] = {}
    bodies: dict[str, str] = {}
    for target, sketch in sketches.items():
        chains[target] = sketch.chains if sketch else None
        if sketch:
            names = [name for name, _ in sketch.chains]
            bodies[target] = partners_text(bodies_of(names, sketch.pairs_of_model(0)))
    return Natives(chains, bodies, mapping)


def in_names_of_decoys(
    rows: Iterable[PlannedDecoy],
    natives: Natives,
    chains: Mapping[DecoyKey, ChainSequences],
) -> list[PlannedDecoy]:
    """The planned decoys; those whose target has a native with their partners by their own chains.

    Sequences say which chain is which. Where copies of a chain could be in one partner or in the
    other, the label decides. Where nothing is given, partners are those that the label is about:
    what the chains of the native are by nature, and what is one chain of the native and several of
    the decoy.

    Parameters
    ----------
    rows : iterable of PlannedDecoy
        The planned decoys.
    natives : Natives
        All facts about the natives of their targets.
    chains : mapping
        Target and decoy → its chains; decoys that cannot be read are left out.
    """
    placed = []
    for row in rows:
        if row.target in natives.chains and row.key in chains:
            if row.native_partners in ("", EACH_CHAIN):
                row = _by_nature(row, natives, chains[row.key])
            else:
                row = _as_given(row, natives, chains[row.key])
        placed.append(row)
    return placed


def _as_given(
    row: PlannedDecoy, natives: Natives, chains: ChainSequences
) -> PlannedDecoy:
    """A decoy with the given partners of its native."""
    of_native = row.native_partners
    possible = ways(of_native, natives.chains[row.target] or (), chains)
    if len(possible) == 1:
        (partners,) = possible
    else:
        mapping = natives.mapping(row._replace(partners=of_native, partners_given=""))
        partners = in_decoy(of_native, read_mapping(mapping))
    are_renamed = partners != of_native
    return row._replace(
        partners=partners, partners_given=of_native if are_renamed else ""
    )


def _by_nature(
    row: PlannedDecoy, natives: Natives, chains: ChainSequences
) -> PlannedDecoy:
    """A decoy without given partners, with those of its native."""
    native = natives.chains[row.target]
    if not native:
        return row
    keeps_chains_apart = row.native_partners == EACH_CHAIN
    bodies = "" if keeps_chains_apart else natives.bodies.get(row.target, "")
    possible = ways_by_nature(bodies, native, chains)
    if len(possible) == 1:
        (partners,) = possible
    else:
        mapping = natives.mapping(row)
        if not mapping:  # no label, so there is nothing to agree with
            return row
        partners = bodies_in_decoy(bodies, read_mapping(mapping))
    if keeps_chains_apart:
        return row._replace(partners=partners)
    return row._replace(partners=partners, recognised="yes" if partners else "")


@functools.lru_cache(maxsize=1 << 12)
def ways(
    partners: str, native: ChainSequences, decoy: ChainSequences
) -> frozenset[str]:
    """What partners of a native may be in a decoy, as texts; none where there are too many ways."""
    named = _names(partners)
    chains = tuple((name, sequence) for name, sequence in native if name in named)
    return frozenset(in_decoy(partners, way) for way in _possible(chains, decoy))


@functools.lru_cache(maxsize=1 << 12)
def ways_by_nature(
    bodies: str, native: ChainSequences, decoy: ChainSequences
) -> frozenset[str]:
    """As `ways`, of partners that nobody gave; the text is empty where each chain is one.

    bodies : what the chains of the native are by nature, as text; empty where each is one.
    """
    if not bodies and len(decoy) <= len(native):
        return frozenset({""})
    possible = _possible(native, decoy)
    if not possible and not bodies:  # many copies of whole chains
        return frozenset({""})
    return frozenset(bodies_in_decoy(bodies, way) for way in possible)


def bodies_in_decoy(bodies: str, counterparts: Counterparts) -> str:
    """The partners of a decoy whose native has these bodies; empty where each of its chains is one.

    Chains that the decoy does not have are left out, and bodies that share a chain of the decoy are
    one.

    >>> bodies_in_decoy("A:H+L", {"A": ("C",), "H": ("A",), "L": ("B",)})
    'A+B:C'
    >>> bodies_in_decoy("", {"A": ("B",), "B": ("A",)})
    ''
    """
    of_native = parse_partners(bodies) if bodies else [(name,) for name in counterparts]
    partners: list[set[str]] = []
    for body in of_native:
        merged = set().union(*[counterparts.get(name, ()) for name in body])
        apart = []
        for partner in partners:
            if partner & merged:
                merged |= partner
            else:
                apart.append(partner)
        partners = [*apart, merged] if merged else apart
    if len(partners) < 2 or max(map(len, partners)) == 1:
        return ""
    return sorted_text(partners)


def sorted_text(partners: Iterable[Iterable[str]]) -> str:
    """Partners as text, in alphabetical order, whatever the order of their chains."""
    of_chains = [tuple(sorted(chains)) for chains in partners]
    return partners_text(tuple(sorted(of_chains)))


def _names(partners: str) -> list[str]:
    """The chains that a text of partners names."""
    return list(chain.from_iterable(parse_partners(partners)))


def _possible(
    native: ChainSequences, decoy: ChainSequences
) -> list[dict[str, tuple[str, ...]]]:
    """The ways in which a decoy may have the chains of a native.

    A way is chain of the native → its chains in the decoy.

    Empty where there are too many ways to try.
    """
    of_native = {name: Chain.of_sequence(name, letters) for name, letters in native}
    of_decoy = {name: Chain.of_sequence(name, letters) for name, letters in decoy}
    alike = correspond(of_native, of_decoy)
    if not alike.mappings[0]:
        return [] if any(counterparts(of_native, of_decoy).values()) else [{}]
    return [counterparts_of_file(alike, mapping) for mapping in alike.mappings]


def check_named(
    partners: Mapping[DecoyKey, str], natives: Natives, where: str
) -> list[str]:
    """Where partners name chains that natives do not have, a sentence for the first.

    Parameters
    ----------
    partners : mapping
        Target and decoy → as they were given.
    natives : Natives
        All facts about the natives.
    where : str
        What messages call the partners.

    Raises
    ------
    ConfigError
        When they fit no native.
    """
    missing: dict[DecoyKey, list[str]] = {}
    for (target, _), text in partners.items():
        native = dict(natives.chains.get(target) or ())
        if native and text != EACH_CHAIN:
            missing[target, text] = [
                name for name in _names(text) if name not in native
            ]
    unfit = sorted(key for key, names in missing.items() if names)
    if not unfit:
        return []
    target, text = unfit[0]
    of_native = ", ".join(printable(name) for name, _ in natives.chains[target])
    of_partners = ", ".join(map(printable, missing[target, text]))
    what = (
        f"partners {text} are chains of the native, but that of {printable(target)} has no "
        f"{of_partners}, only {of_native}"
    )
    remedy = "name the chains as the natives do, not as the models do"
    if len(unfit) == len(missing):
        raise ConfigError(what, where=where, remedy=remedy)
    return [f"{what} ({len(unfit)} of {len(missing)} targets; {remedy})"]


def called_in_models(rows: Iterable[PlannedDecoy]) -> list[str]:
    """That models call the partners of their native otherwise, with an example.

    The text is empty where no model does.
    """
    renamed = [row for row in rows if row.partners_given not in ("", EACH_CHAIN)]
    if not renamed:
        return []
    first = renamed[0]
    number = "1 model calls" if len(renamed) == 1 else f"{len(renamed)} models call"
    return [
        f"partners {first.partners_given} are chains of the native: {number} them otherwise, such "
        f"as {printable(first.target)}/{printable(first.decoy)}, where they are {first.partners}"
    ]
