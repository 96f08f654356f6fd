"""The natives that decoys are made from, and which of their chains are partners."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from toporank.decoys.identity import name_problem, split_suffix
from toporank.errors import ConfigError, StructureError

BOUND = "bound"
SIDES = ("receptor", "ligand")
LAYOUT = (
    "expected <target>/bound.pdb, with unbound_receptor.pdb and unbound_ligand.pdb where there are, or <target>.pdb"
)


@dataclass(frozen=True)
class Native:
    """A complex of known structure. unbound : of `receptor`, `ligand`, both or none, a file of that partner alone."""

    target: str
    bound: Path
    unbound: dict[str, Path]

    @property
    def files(self) -> list[Path]:
        """All its files."""
        return [self.bound, *self.unbound.values()]


def find_natives(folder: Path) -> dict[str, Native]:
    """All natives of a folder by target. Raises ConfigError when there are none, or two of one name."""
    found: dict[str, Native] = {}
    for entry in sorted(folder.iterdir()):
        native = _native(entry)
        if native is None:
            continue
        if native.target in found:
            raise ConfigError(f"two natives are called {native.target!r}", where=folder, remedy="rename one")
        problem = name_problem(native.target)
        if problem or not native.target[0].isalnum():
            what = problem or "begins neither with a letter nor a digit"
            raise ConfigError(f"the name of a native {native.target!r}: {what}", where=folder, remedy="rename it")
        found[native.target] = native
    if not found:
        raise ConfigError("no natives", where=folder, remedy=LAYOUT)
    return found


def _native(entry: Path) -> Native | None:
    """The native that a file or folder is, if any."""
    if not entry.is_dir():
        known = split_suffix(entry.name)
        return Native(known[0], entry, {}) if known else None
    files = {known[0]: path for path in sorted(entry.iterdir()) if (known := split_suffix(path.name))}
    if BOUND not in files:
        return None
    unbound = {side: files[f"unbound_{side}"] for side in SIDES if f"unbound_{side}" in files}
    return Native(entry.name, files[BOUND], unbound)


def read_partners(path: Path) -> dict[str, str]:
    """Partners of each target, such as `AB:C`, from a CSV with the columns `target` (or `id`) and `partners`.

    Raises ConfigError when it cannot be read.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as handle:
            rows = [{(k or "").lower(): v for k, v in row.items()} for row in csv.DictReader(handle, strict=True)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"the partners cannot be read: {error}", where=path, remedy="save it as UTF-8 CSV") from error
    if not rows or "partners" not in rows[0] or not {"target", "id"} & set(rows[0]):
        raise ConfigError("no columns target (or id) and partners", where=path, remedy="separate them by commas")
    return {row.get("target") or row["id"]: row["partners"] or "" for row in rows}


def sides(partners: str, chains: list[str]) -> tuple[list[str], list[str]]:
    """Chains of the receptor and the ligand. Raises StructureError when it cannot be told.

    partners : `AB:C`, where every letter is a chain, or `A1,A2:B` for longer names; "" for the two chains of a complex
    that has two.

    >>> sides("AB:C", list("ABC")), sides("", ["H", "L"])
    ((['A', 'B'], ['C']), (['H'], ['L']))
    """
    if not partners and len(chains) == 2:
        return [chains[0]], [chains[1]]
    if not partners:
        what = f"which of its {len(chains)} protein chains are partners is not said"
        raise StructureError(what, remedy="name them in the table `sampling.partners`, such as AB:C")
    both = [list(_chains(side, chains)) for side in partners.split(":")]
    if len(both) != 2 or not all(both) or set(both[0]) & set(both[1]):
        raise StructureError(f"partners {partners!r}", remedy="write them as AB:C, each chain once")
    return both[0], both[1]


def _chains(side: str, chains: list[str]) -> Iterator[str]:
    """The chains of one side: separated by commas, or one name, or one letter each."""
    side = side.strip()
    if "," in side or side in chains:
        return (name.strip() for name in side.split(","))
    return iter(side)


def chains_text(chains: list[str]) -> str:
    """The chains of one side as `sides` reads them."""
    return ("" if all(len(chain) == 1 for chain in chains) else ",").join(chains)
