"""Finding the natives of targets."""

from __future__ import annotations

import os
from pathlib import Path

from toporank.errors import ConfigError, printable
from toporank.structures.identity import split_suffix, table_name

STEM = "native"
"""Name, without suffix, of a native in the folder of its target."""
EXPECTED = (
    "expected <target>.pdb, .ent, .cif or .mmcif, compressed or not (.gz, .bz2, .xz, .zst), or <target>/native.pdb and"
    " so on"
)


def find_natives(folder: Path) -> dict[str, Path]:
    """Target → native, of `<folder>/<target>.<suffix>` and `<folder>/<target>/native.<suffix>`; targets in order.

    Raises ConfigError when the folder cannot be listed or a target has two natives.
    """
    found: dict[str, Path] = {}
    try:
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            for target, path in _in_folder(entry) if entry.is_dir() else _by_name(entry):
                other = found.setdefault(table_name(target), path)
                if other != path:
                    raise ConfigError(
                        f"target {printable(target)} has two natives, {printable(str(other))} and"
                        f" {printable(str(path))}",
                        remedy="remove one of them",
                    )
    except OSError as error:
        what = f"the folder of natives cannot be listed: {error.strerror}"
        raise ConfigError(what, where=printable(os.fspath(error.filename or folder)), remedy=EXPECTED) from error
    return found


def _by_name(entry: os.DirEntry) -> list[tuple[str, Path]]:
    known = split_suffix(entry.name)
    return [(known[0], Path(entry.path))] if known and not entry.name.startswith(".") else []


def _in_folder(entry: os.DirEntry) -> list[tuple[str, Path]]:
    names = sorted(os.listdir(entry.path)) if not entry.name.startswith(".") else []
    return [(entry.name, Path(entry.path, name)) for name in names if (split_suffix(name) or ("",))[0] == STEM]
