"""Partners as text: which chains of a complex are one body. The interface lies between partners.

Where the user names no partners, `chains.immune` recognises chains that are one body by nature.

Partners are written `H+L:A`: chains joined by `+`, partners parted by `:`. Several partners,
`A:B:C`, mean every pair. In the name of a chain, `+`, `:` and `%` are written `%2B`, `%3A` and
`%25`. Which chain of one structure is which of another is written `A=B H+L=C`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

from toporank.chains.chain import inverted
from toporank.errors import ConfigError
from toporank.files.printable_names import table_name
from toporank.files.user_tables import read_table

Partners = tuple[tuple[str, ...], ...]
"""The chains of each partner; partners and their chains in order of name."""

AMBIGUOUS = re.compile(r"[%+:]|^ | $")
"""What would mean something else in the name of a chain."""

EACH_CHAIN = "chains"
"""In place of partners: each chain is one, also those of an antibody."""

FILE = "partners.csv"
"""Where a folder of decoys may say the partners of its targets: columns `target` and `partners`."""


def parse_partners(text: str, where: object = "partners") -> Partners:
    """The partners that a text names.

    Raises ConfigError, which names the place given as `where`.

    >>> parse_partners("H+L:A"), parse_partners("A%2BB:C")
    ((('A',), ('H', 'L')), (('A+B',), ('C',)))
    """
    partners = []
    for partner in text.split(":"):
        names = [unquote(name.strip()) for name in partner.split("+")]
        partners.append(tuple(sorted(names)))
    chains = list(itertools.chain.from_iterable(partners))
    twice = sorted({name for name in chains if chains.count(name) > 1})
    what = ""
    if not all(chains):
        what = f"{text!r} has a partner or chain without a name"
    elif twice:
        what = f"{text!r} names chain {twice[0]!r} twice"
    elif len(partners) < 2:
        what = f"{text!r} is one partner, at least two are needed"
    if what:
        remedy = (
            f"join chains by + and part partners by :, such as H+L:A, or say {EACH_CHAIN} to keep "
            "each chain apart"
        )
        raise ConfigError(what, where=where, remedy=remedy)
    return tuple(sorted(partners))


def checked_partners(text: str, where: object = "partners") -> str:
    """Partners as a user may give them, in one spelling.

    They are those of `parse_partners`, or `EACH_CHAIN`.

    Raises ConfigError as `parse_partners` does.

    >>> checked_partners("H+L:A"), checked_partners(" chains ")
    ('A:H+L', 'chains')
    """
    if text.strip() == EACH_CHAIN:
        return EACH_CHAIN
    return partners_text(parse_partners(text, where))


def given_partners(text: str) -> Partners:
    """The partners that a checked text names; empty when each chain is one."""
    return parse_partners(text) if text not in ("", EACH_CHAIN) else ()


def partner_name(partner: Iterable[str]) -> str:
    """A partner as text.

    >>> partner_name(("H", "L")), partner_name(("A+B:C",))
    ('H+L', 'A%2BB%3AC')
    """
    return "+".join(AMBIGUOUS.sub(_percent_code, name) for name in partner)


def _percent_code(letter: re.Match[str]) -> str:
    return f"%{ord(letter[0]):02X}"


def chains_of(name: str) -> tuple[str, ...]:
    """The inverse of `partner_name`.

    >>> chains_of("H+L")
    ('H', 'L')
    """
    return tuple(unquote(part) for part in name.split("+"))


def partners_text(partners: Partners) -> str:
    """The inverse of `parse_partners`.

    >>> partners_text((("A",), ("H", "L")))
    'A:H+L'
    """
    return ":".join(map(partner_name, partners))


def sorted_text(partners: Iterable[Iterable[str]]) -> str:
    """Partners as text, in alphabetical order, whatever the order of their chains."""
    of_chains = [tuple(sorted(chains)) for chains in partners]
    return partners_text(tuple(sorted(of_chains)))


def listed(names: Sequence[str]) -> str:
    """Names in words.

    >>> listed(["A", "B", "C"]), listed(["A"])
    ('A, B and C', 'A')
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def is_file(text: str) -> bool:
    """Whether a setting names a table of partners, and not the partners themselves."""
    return text.lower().endswith((".csv", ".tsv"))


def read_partners(path: Path) -> dict[str, str]:
    """Target → partners, of a table with columns `target` and `partners`.

    Raises ConfigError naming file and line.
    """
    partners_of_target: dict[str, str] = {}
    names = {"target": "target", "partners": "partners"}
    for where, row in read_table(path, names, names, "the partners").rows:
        target = table_name(row.get("target", ""))
        partners = checked_partners(row.get("partners", ""), where)
        if not target:
            raise ConfigError("a row without target", where=where)
        if partners_of_target.setdefault(target, partners) != partners:
            what = f"target {target!r} has other partners in an earlier line"
            raise ConfigError(what, where=where)
    return partners_of_target


# ---- which chain is which ------------------------------------------------------------------------

Counterparts = Mapping[str, tuple[str, ...]]
"""Chain of the native → the chains of the decoy that hold its residues."""
ChainMap = dict[str, str]
"""Chain of a decoy → chain of its target."""


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
        f"{_quoted(natives)}={_quoted(decoy)}" for decoy, natives in natives_of.items()
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
        translated.append(chains)
    return sorted_text(translated)


def _quoted(names: Iterable[str]) -> str:
    """Names joined by +, special characters in them as %XX."""
    return "+".join(quote(name, safe="") for name in names)


def chain_map_text(chain_map: ChainMap) -> str:
    """As `mapping_text`, sorted by the chains of the target; empty where the names are the same.

    >>> chain_map_text({"6": "A", "7": "B"}), chain_map_text({"A": "A"})
    ('A=6 B=7', '')
    """
    if all(chain == target for chain, target in chain_map.items()):
        return ""
    of_targets = sorted((target, (chain,)) for chain, target in chain_map.items())
    return mapping_text(dict(of_targets))


def read_chain_map(text: str) -> ChainMap:
    """The inverse of `chain_map_text`.

    >>> read_chain_map("A=6 B=7")
    {'6': 'A', '7': 'B'}
    """
    chain_map = {}
    for pair in text.split():
        target, chain = pair.split("=")  # a chain may be called nothing
        chain_map[unquote(chain)] = unquote(target)
    return chain_map
