"""Structures of the partners alone, which lie beside a native."""

from __future__ import annotations

from pathlib import Path

from toporank.inputs.natives import STEM
from toporank.structures.identity import split_suffix

UNBOUND = "unbound_"
"""How the names of files begin that hold one partner alone, beside `<target>/native.pdb`."""


def unbound_files(native: Path) -> list[Path]:
    """Structures of single partners that lie beside a native; none beside `<target>.pdb`."""
    if (split_suffix(native.name) or ("",))[0] != STEM:
        return []
    return sorted(path for path in native.parent.glob(f"{UNBOUND}*") if split_suffix(path.name))
