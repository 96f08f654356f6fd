"""What decoys are made from: a native, its partners, and structures of the partners alone."""

from __future__ import annotations

from pathlib import Path

from toporank.errors import NativeError
from toporank.inputs.natives import STEM
from toporank.structures.identity import split_suffix
from toporank.structures.partners import Partners, parse_partners

UNBOUND = "unbound_"
"""How the names of files begin that hold one partner alone, beside `<target>/native.pdb`."""


def unbound_files(native: Path) -> list[Path]:
    """Structures of single partners that lie beside a native; none beside `<target>.pdb`."""
    if (split_suffix(native.name) or ("",))[0] != STEM:
        return []
    return sorted(path for path in native.parent.glob(f"{UNBOUND}*") if split_suffix(path.name))


def two_partners(partners: str, chains: list[str]) -> Partners:
    """The two partners of a complex. Raises NativeError when there are not two.

    partners : such as `H+L:A`; "" for the two chains of a complex that has two. chains : its protein chains.
    """
    found = parse_partners(partners) if partners else tuple((chain,) for chain in chains)
    if len(found) != 2:
        what = (
            f"{len(found)} partners, two can be docked" if partners else f"{len(found)} chains, and no partners given"
        )
        raise NativeError(what, remedy="name two partners, such as H+L:A, in `sampling.partners`")
    return found
