"""Partners that are named by chains of a native, in the names of a decoy: which chain is which, as text and back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

from toporank.errors import ConfigError
from toporank.structures.partners import parse_partners, partners_text

Counterparts = Mapping[str, tuple[str, ...]]
"""Chain of the native → the chains of the decoy that hold its residues."""
_SPECIAL = re.compile(r"[%+:=\s]")


def mapping_text(counterparts: Counterparts) -> str:
    """Which chains are which in one line; chains that are joined in either structure stand together.

    >>> mapping_text({"A": ("B",), "B": ("A",)}), mapping_text({"H": ("A",), "L": ("A",), "A": ("B", "C")})
    ('A=B B=A', 'H+L=A A=B+C')
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for native, decoy in counterparts.items():
        groups.setdefault(tuple(decoy), []).append(native)
    return " ".join(f"{_joined(native)}={_joined(decoy)}" for decoy, native in groups.items())


def read_mapping(text: str, where: object = "Mapping") -> dict[str, tuple[str, ...]]:
    """The inverse of `mapping_text`. Raises ConfigError, which names the place given as `where`, for other texts.

    >>> read_mapping("H+L=A A=B+C")
    {'H': ('A',), 'L': ('A',), 'A': ('B', 'C')}
    """
    counterparts: dict[str, tuple[str, ...]] = {}
    for pair in text.split():
        native, equals, decoy = pair.partition("=")
        if not (native and equals and decoy) or "=" in decoy:
            raise ConfigError(
                f"Mapping is {text!r}, not `<chain of the native>=<chain of the model> …`",
                where=where,
                remedy="correct it, or leave out the column; then Partners are chains of the models",
            )
        for name in native.split("+"):
            counterparts[unquote(name)] = tuple(unquote(chain) for chain in decoy.split("+"))
    return counterparts


def in_decoy(partners: str, counterparts: Counterparts) -> str:
    """Partners of a native by the chains of a decoy.

    A chain that the decoy lacks gets a name that says so, and so do chains that are in one chain of the decoy
    but in different partners: no graph can be built of either.

    Parameters
    ----------
    partners : as text, by chains of the native
    counterparts : of the chains that the decoy has

    Returns
    -------
    partners as text

    >>> in_decoy("A:H+L", {"H": ("A",), "L": ("A",), "A": ("B",)}), in_decoy("A:B", {"A": ("C",)})
    ('A:B', 'B of the native:C')
    """
    named = parse_partners(partners)
    holders: dict[str, set[int]] = {}
    for place, partner in enumerate(named):
        for name in partner:
            for chain in counterparts.get(name, ()):
                holders.setdefault(chain, set()).add(place)
    translated = []
    for partner in named:
        chains: set[str] = set()
        for name in partner:
            there = counterparts.get(name, ())
            if not there:
                chains.add(f"{name} of the native")
            elif any(len(holders[chain]) > 1 for chain in there):
                chains.add(f"{name} of the native without the other partner")
            else:
                chains.update(there)
        translated.append(tuple(sorted(chains)))
    return partners_text(tuple(sorted(translated)))


def _joined(names: list[str] | tuple[str, ...]) -> str:
    return "+".join(_SPECIAL.sub(lambda special: f"%{ord(special[0]):02X}", name) for name in names)
