"""A folder in which archives lie beside structures, as a folder in which they are unpacked.

The rest of the folder is linked.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from toporank.errors import ConfigError, printable
from toporank.files.archives import MARK, free_folder, holds_only, job_name, unpacked
from toporank.finding.scan import RESULTS, Scan
from toporank.structures.identity import STRUCTURE_LIKE, split_suffix

GATHERED = ".toporank_gathered.json"
"""In a folder that was made here: the folder that it replaces."""
SINGLE = ".single"
"""A folder in it for what was in archives of single structures."""


class Gathered(NamedTuple):
    """scan : of the structures. notes : what TopoRank did with archives, a sentence each."""

    scan: Scan
    notes: list[str]


def gathered(source: Path, place: Callable[[], Path]) -> Gathered:
    """Return the folder, or one with its archives unpacked if it has any with structures.

    Parameters
    ----------
    source : a folder
    place : gives the folder to make, if there are archives; one that was made before is brought up
        to date

    Returns
    -------
    The folder to look for structures in. An archive that cannot be unpacked stays as it is, and so
    does one whose structures lie beside it already; notes say so.

    Raises
    ------
    ConfigError
        when the folder cannot be listed, or something else stands in its place
    """
    files = Scan(source)
    by_name: dict[str, list[Path]] = {}
    for _, entry in files.models:
        by_name.setdefault(entry.name, []).append(Path(entry.path))
    same_files = []
    wanted = []
    for archive in files.archives:
        if by_name and _lies_beside(archive, by_name):
            same_files.append(archive)
            del files.unread[archive]  # the note says why
        else:
            wanted.append(archive)
    notes = []
    if same_files:
        notes.append(
            f"{_named(same_files, source)} not unpacked: the same files lie beside"
        )
    if not wanted:
        return Gathered(files, notes)
    to = place()
    _prepare(to, source)
    failed = _gather(source, to, set(wanted), to.parent.parent)
    done = [archive for archive in wanted if archive not in failed]
    if done:
        notes.append(f"{_named(done, source)} unpacked into {printable(str(to))}")
    for archive, why in sorted(failed.items()):
        notes.append(f"{printable(str(archive.relative_to(source)))} {why}")
    return Gathered(Scan(to) if done else files, notes)


def _named(archives: list[Path], source: Path) -> str:
    """The number of some archives, with one by name."""
    first = printable(str(archives[0].relative_to(source)))
    n = len(archives)
    return f"{first} is" if n == 1 else f"{n} archives, such as {first}, are"


def _lies_beside(archive: Path, structures: Mapping[str, list[Path]]) -> bool:
    """Whether each structure in an archive lies in the folder, too.

    structures : in the folder, by name.
    """
    try:
        return holds_only(archive, _is_structure, structures)
    except (ConfigError, OSError):
        return False


def _is_structure(filename: str) -> bool:
    return split_suffix(filename) is not None


def _prepare(to: Path, source: Path) -> None:
    """Make the folder, or see that it replaces the same one and take out its links.

    Raises ConfigError.
    """
    about = {"folder": str(source.absolute())}
    if os.path.lexists(to):
        try:
            before = json.loads((to / GATHERED).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            before = {}
        if before != about:
            made_for = before.get("folder", "something else")
            raise ConfigError(
                f"{to} is in the way: it was made for {made_for}, not for {source}",
                where=to.parent.parent,
                remedy=f"choose another folder with -o, or move {to} away",
            )
    to.mkdir(parents=True, exist_ok=True)
    (to / GATHERED).write_text(json.dumps(about), encoding="utf-8")
    for parent, folders, files in os.walk(to):
        for name in (*folders, *files):
            path = Path(parent, name)
            if path.is_symlink():
                path.unlink()
            if (path / MARK).exists():
                folders.remove(name)


def _gather(source: Path, to: Path, archives: set[Path], out: Path) -> dict[Path, str]:
    """Fill a folder with links to what is in another, and with what is in its archives.

    out : the folder for results, which may lie in `source`. Returns the archives that could not be
    unpacked → why.
    """
    failed: dict[Path, str] = {}
    for entry in sorted(source.iterdir()):
        leads_around = entry.is_symlink() and source.is_relative_to(
            os.path.realpath(entry)
        )
        has_results = (entry / RESULTS).is_dir() or entry == out
        if entry.name.startswith(".") or has_results or leads_around:
            continue
        deeper = {archive for archive in archives if entry in archive.parents}
        if deeper or entry in out.parents:
            (to / entry.name).mkdir(exist_ok=True)
            failed |= _gather(entry, to / entry.name, deeper, out)
        elif entry not in archives:
            (to / entry.name).symlink_to(entry.absolute())
    unpacked_here: set[str] = set()
    for archive in sorted(archives):
        if archive.parent == source:
            try:
                unpacked_here.add(_unpack_into(to, archive).name)
            except ConfigError as error:
                failed[archive] = error.reason
                (to / archive.name).symlink_to(archive.absolute())
    for mark in (*to.glob(f"*/{MARK}"), *to.glob(f"{SINGLE}/*/{MARK}")):
        folder = mark.parent
        if not folder.is_symlink() and folder.name not in unpacked_here:
            shutil.rmtree(folder)  # its archive is gone
    return failed


def _unpack_into(to: Path, archive: Path) -> Path:
    """The folder with the files of an archive.

    The files of an archive that is called like a structure are linked.

    `model_1.pdb.zip` is no job but a compressed structure. Raises ConfigError as `unpacked` does.
    """
    if STRUCTURE_LIKE.search(archive.name):
        folder = unpacked(archive, to / SINGLE, archive.name)
        for file in sorted(folder.rglob("*")):
            if file.is_file() and file.name != MARK:
                (to / free_folder(file.name, to)).symlink_to(file)
        return folder
    name = job_name(archive)
    if os.path.lexists(to / name) and not (to / name / MARK).exists():
        name = free_folder(name, to)
    return unpacked(archive, to, name)
