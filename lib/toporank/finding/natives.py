"""Finding the natives of targets."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from toporank.errors import ConfigError, printable
from toporank.files.printable_names import table_name
from toporank.structures.identity import split_suffix

STEM = "native"
"""Name, without suffix, of a native in the folder of its target."""
UNBOUND = "unbound_"
"""How the names of files begin that hold one partner alone, beside `<target>/native.pdb`."""
EXPECTED = (
    "expected <target>.pdb, .ent, .cif or .mmcif, compressed or not (.gz, .bz2, .xz, .zst), or "
    "<target>/native.pdb and so on"
)
_OF_WWPDB = re.compile(r"(?:pdb_0000|pdb)?([1-9][a-z0-9]{3})(?:-assembly\d+|_xyz)?")
"""How the wwPDB and the RCSB name the file of an entry, in small letters and without ending:
`pdb1abc.ent.gz`, `1abc-assembly1.cif.gz`, `pdb_00001abc_xyz.cif.gz`; `1abc.pdb1.gz` has the number
of the assembly in its ending.
"""


def find_natives(folder: Path) -> dict[str, Path]:
    """Return the natives in a folder: `<name>.<suffix>` and `<name>/native.<suffix>`.

    `natives_of` says whose natives they are.

    Parameters
    ----------
    folder : where they lie

    Returns
    -------
    natives : name → file, in order of name

    Raises
    ------
    ConfigError
        when the folder cannot be listed or two natives have one name

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "1PPE.pdb").touch()
    >>> [*find_natives(folder)]
    ['1PPE']
    """
    natives: dict[str, Path] = {}
    try:
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if entry.name.startswith("."):
                continue
            is_folder = entry.is_dir()
            files = sorted(Path(entry).iterdir()) if is_folder else [Path(entry)]
            for path in files:
                stem, _ = split_suffix(path.name) or ("", "")
                if not stem or (is_folder and stem != STEM):
                    continue
                target = entry.name if is_folder else stem
                other = natives.setdefault(table_name(target), path)
                if other != path:
                    raise ConfigError(
                        f"target {printable(target)} has two natives, {printable(str(other))} and"
                        f" {printable(str(path))}",
                        remedy="remove one of them",
                    )
    except FileNotFoundError as error:
        what = "there is no such folder of natives"
        raise ConfigError(what, where=folder, remedy="is it spelled right?") from error
    except OSError as error:
        where = printable(os.fspath(error.filename or folder))
        what = f"the folder of natives cannot be listed: {error.strerror}"
        raise ConfigError(what, where=where, remedy=EXPECTED) from error
    return natives


def natives_of(
    natives: Mapping[str, Path], targets: Iterable[str]
) -> tuple[dict[str, Path], dict[str, str]]:
    """Return the native of each target.

    For the others it returns why the native is not clear, where some come near.

    A native of the target's name goes first, then one that differs in capitals alone, then one
    that the wwPDB calls after the same entry. Where several come equally near, none is taken.

    Parameters
    ----------
    natives : as `find_natives` finds them
    """
    alike: dict[str, list[str]] = {}
    of_entry: dict[str, list[str]] = {}
    for name in natives:
        alike.setdefault(name.casefold(), []).append(name)
        of_entry.setdefault(_entry(name), []).append(name)
    matched: dict[str, Path] = {}
    unclear: dict[str, str] = {}
    for target in targets:
        candidates = alike.get(target.casefold()) or of_entry.get(_entry(target), [])
        candidates = [target] if target in natives else sorted(candidates)
        if len(candidates) == 1:
            matched[target] = natives[candidates[0]]
        elif candidates:
            first = printable(natives[candidates[0]].name)
            second = printable(natives[candidates[1]].name)
            unclear[target] = (
                f"{first} and {second} could both be the native of {printable(target)}"
            )
    return matched, unclear


def _entry(name: str) -> str:
    """The PDB entry that a file or target is named after, in small letters; or its name."""
    entry = _OF_WWPDB.fullmatch(name.casefold())
    return entry[1] if entry else name.casefold()


def small_letters(names: Iterable[str]) -> frozenset[str]:
    """Names of natives or labels as folders of their targets may be called, in small letters.

    Examples
    --------
    >>> sorted(small_letters(["pdb1ppe", "T1"]))
    ['1ppe', 'pdb1ppe', 't1']
    """
    names = list(names)
    return frozenset(map(str.casefold, names)) | frozenset(map(_entry, names))


def unmatched(natives: Mapping[str, Path], targets: Iterable[str]) -> list[str]:
    """Return what to tell a user about natives and targets that do not belong together.

    There is one sentence of each kind at most.
    """
    targets = sorted(targets)
    of_targets, unclear = natives_of(natives, targets)
    lines = []
    if unclear:
        lines.append(
            f"{next(iter(unclear.values()))} (name the right one after the target)"
        )
    without = sorted(set(targets).difference(of_targets))
    if without:
        lines.append(
            f"targets without native: {len(without)} of {len(targets)}, such as "
            f"{printable(without[0])}"
        )
    used = set(of_targets.values())
    stray = sorted(name for name, path in natives.items() if path not in used)
    if stray:
        name, hint = stray[0], ""
        for other in stray:
            nearest = _nearest(other, without)
            if nearest:
                name, hint = other, f", did you mean {printable(nearest)}?"
                break
        n = f" ({len(stray)} natives without target in all)" if len(stray) > 1 else ""
        lines.append(f"{printable(natives[name].name)} belongs to no target{hint}{n}")
    return lines


def _nearest(name: str, targets: list[str]) -> str:
    """The target whose name is in that of a native, or else most like it; empty without any."""
    by_letters = dict(zip(map(str.casefold, targets), targets, strict=True))
    within = [letters for letters in by_letters if letters in name.casefold()]
    near = sorted(within, key=len, reverse=True) or difflib.get_close_matches(
        name.casefold(), by_letters, n=1
    )
    return by_letters[near[0]] if near else ""


def unbound_files(native: Path) -> list[Path]:
    """Return structures of single partners that lie beside a native; none beside `<target>.pdb`."""
    if (split_suffix(native.name) or ("",))[0] != STEM:
        return []
    return sorted(
        path for path in native.parent.glob(f"{UNBOUND}*") if split_suffix(path.name)
    )
