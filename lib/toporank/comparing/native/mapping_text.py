"""Which chain of a decoy is which of its native, as text.

The partners of the native are written by the chains of a decoy, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote, unquote

from toporank.comparing.native.mapping import Counterparts, inverted
from toporank.errors import ConfigError
from toporank.structures.partners import parse_partners, partners_text


def mapping_text(counterparts: Counterparts) -> str:
    """Which chains are which in one line.

    Chains that are joined in either structure stand together.

    >>> mapping_text({"A": ("B",), "B": ("A",)})
    'A=B B=A'
    >>> mapping_text({"H": ("A",), "L": ("A",), "A": ("B", "C")})
    'H+L=A A=B+C'
    """
    natives_of = inverted(counterparts)
    return " ".join(
        f"{_joined_names(natives)}={_joined_names(decoy)}"
        for decoy, natives in natives_of.items()
    )


def read_mapping(text: str, where: object = "Mapping") -> dict[str, tuple[str, ...]]:
    """The inverse of `mapping_text`.

    Raises ConfigError, which names the place given as `where`, for other texts.

    >>> read_mapping("H+L=A A=B+C")
    {'H': ('A',), 'L': ('A',), 'A': ('B', 'C')}
    """
    holders: dict[str, tuple[str, ...]] = {}
    for pair in text.split():
        native, _, decoy = pair.partition("=")
        if not native or not decoy or "=" in decoy:
            raise ConfigError(
                f"Mapping is {text!r}, not `<chain of the native>=<chain of the model> …`",
                where=where,
                remedy=(
                    "correct it, or leave out the column; then Partners are chains of the models"
                ),
            )
        for name in native.split("+"):
            holders[unquote(name)] = tuple(map(unquote, decoy.split("+")))
    return holders


def in_decoy(partners: str, counterparts: Counterparts) -> str:
    """Partners of a native by the chains of a decoy.

    A chain that the decoy lacks gets a name that says so, and so do chains that are in one chain of
    the decoy but in different partners: no graph can be built of either.

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
    partners_in: dict[str, set[tuple[str, ...]]] = {}
    for partner in named:
        for name in partner:
            for chain in counterparts.get(name, ()):
                partners_in.setdefault(chain, set()).add(partner)
    translated = []
    for partner in named:
        chains: set[str] = set()
        for name in partner:
            holders = counterparts.get(name, ())
            if not holders:
                chains.add(f"{name} of the native")
            elif any(len(partners_in[chain]) > 1 for chain in holders):
                chains.add(f"{name} of the native without the other partner")
            else:
                chains.update(holders)
        translated.append(tuple(sorted(chains)))
    return partners_text(tuple(sorted(translated)))


def _joined_names(names: Iterable[str]) -> str:
    """Names joined by +, special characters in them as %XX."""
    return "+".join(quote(name, safe="") for name in names)
