"""What was given to score: a folder, the output of a predictor, an archive or a single file; as a folder of decoys."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from toporank.app.commands.running import claimed
from toporank.app.config import RESERVED
from toporank.building.planning import partners_given
from toporank.errors import ConfigError, printable
from toporank.files.unpacking import UNKNOWN, archive_name, unpacked
from toporank.inputs.complexes import BY_SEQUENCE, Grouped, called_otherwise
from toporank.inputs.discovery import decoys_of, sketches
from toporank.inputs.folders import EXPECTED, describe_passed_over, passed_over
from toporank.inputs.natives import find_natives
from toporank.inputs.predictors import part_to_score, programs
from toporank.structures.identity import split_suffix
from toporank.structures.partners import EACH_CHAIN, is_file, parse_partners, partner_name, read_partners

INPUT = "input"
"""Folder in OUT for what is unpacked or linked."""
OVERRULE = "--targets folder keeps to the folders"
STORE = ".toporank/store"
"""The reuse store, in OUT."""
PARTNERS = (
    "which chains are one partner, such as H+L:A, or a CSV file that says so; by default those of an antibody, T-cell"
    " receptor or MHC molecule are one, and every other chain; chains keeps each chain apart"
)
"""Help of `--partners`."""


class Given(NamedTuple):
    """A folder to score. name : of its results. said : what it is, and what there is not read, in lines."""

    folder: Path
    name: str
    said: str


def name_of(given: Path) -> str:
    """What results are called after: the folder or file that was given, in letters that every path may have.

    >>> name_of(Path("out/my run")), name_of(Path("fold_x.zip")), name_of(Path("model.cif.gz"))
    ('my_run', 'fold_x', 'model')
    """
    known = split_suffix(given.name)
    name = archive_name(given) or (known[0] if known and not given.is_dir() else "") or given.resolve().name
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name).lstrip("_.-") or "decoys"
    return f"{plain}_decoys" if plain in RESERVED else plain


def look_at(given: Path, out: Path, by: str = BY_SEQUENCE) -> Given:
    """The folder to score, and what it is. Raises ConfigError when there are no decoys, with what to give instead.

    out : what is unpacked or linked goes there. by : what makes decoys a target.
    """
    folder = folder_to_score(given, lambda: claimed(out).resolve() / INPUT)
    grouped = decoys_of(given.name, folder, by, out / STORE)
    decoys = grouped.decoys
    targets = len({decoy.target for decoy in decoys})
    count = f"{_several(len(decoys), 'model')} of {_several(targets, 'target')}"
    first = f"{programs(decoys)}: {count} in {printable(str(folder))}"
    notes = [*(f"  {note} ({OVERRULE})" for note in grouped.notes), *(f"  {note}" for note in grouped.mutants)]
    unread = [f"  {line} ({EXPECTED})" for line in describe_passed_over(folder, passed_over(folder, decoys))]
    return Given(folder, name_of(given), "\n".join([first, *notes, *unread]))


def folder_to_score(given: Path, inputs: Callable[[], Path]) -> Path:
    """The folder with the decoys of a folder, an archive or a single file.

    inputs : gives the folder for what is unpacked or linked, if anything is. Raises ConfigError, which says what to
    give, when there are no decoys.
    """
    if not given.exists():
        raise ConfigError("there is no such folder or file", where=given, remedy="is it spelled right?")
    if given.is_dir():
        return part_to_score(given.resolve())
    if archive_name(given):
        return part_to_score(unpacked(given, inputs()))
    if split_suffix(given.name):
        return _linked(given, inputs())
    remedy = "unpack it and give the folder" if given.suffix.lower() in UNKNOWN else "give the folder it lies in"
    raise ConfigError("neither a structure nor an archive that is read", where=given, remedy=remedy)


def _linked(file: Path, inputs: Path) -> Path:
    """A folder with a link to a single file."""
    folder = inputs / name_of(file)
    folder.mkdir(parents=True, exist_ok=True)
    for before in folder.iterdir():
        if not before.is_symlink() or before.readlink().parent != file.absolute().parent:
            what = f"holds results of the same name, of {before.resolve()}, not of {file.absolute()}"
            remedy = f"choose another folder with -o, or delete {folder}"
            raise ConfigError(what, where=inputs.parent, remedy=remedy)
        before.unlink()
    (folder / file.name).symlink_to(file.absolute())
    return folder


def partners_setting(partners: str | None) -> dict[str, str]:
    """What `--partners` is in a configuration: a file by its whole path, since paths there begin elsewhere."""
    if not partners:
        return {}
    return {"partners": str(Path(partners).resolve()) if is_file(partners) else partners}


class Chains(NamedTuple):
    """The chains of a model or native. targets : names that a table of partners may have for it. file : its name."""

    targets: set[str]
    file: str
    names: set[str]


def look_at_partners(partners: str | None, folder: Path, out: Path, by: str = BY_SEQUENCE) -> list[str]:
    """Where models have the names of these partners for other chains, in sentences; raises as `check_partners`.

    partners : as `--partners` takes them. folder : of the models. out, by : as for `look_at`.
    """
    grouped = decoys_of(folder.name, folder, by, out / STORE)
    check_partners(partners, "model", chains_of_decoys(grouped))
    for_all, of_targets = ("", read_partners(Path(partners))) if is_file(partners or "") else (partners or "", {})
    return called_otherwise(partners_given(grouped, for_all, of_targets), grouped)


def chains_of_decoys(grouped: Grouped) -> list[Chains]:
    """The chains of decoys that can be read."""
    kinds = grouped.kinds
    return [Chains({d.target, d.folder}, Path(d.path).name, {*kinds[d.key]}) for d in grouped.decoys if kinds[d.key]]


def chains_of_natives(folder: Path, out: Path) -> list[Chains]:
    """The chains of the natives in a folder. out : has the reuse store."""
    natives = find_natives(folder)
    seen = sketches(map(str, natives.values()), out / STORE)
    known = {target: (path.name, found) for target, path in natives.items() if (found := seen[str(path)])}
    return [Chains({target}, file, {*dict(found.chains)}) for target, (file, found) in known.items()]


def check_partners(partners: str | None, what: str, known: Iterable[Chains], where: str = "--partners") -> None:
    """Raise ConfigError when partners name chains that nothing has together, before results are replaced.

    A table may also have targets that are not there. partners : as `--partners` takes them. what : `model` or `native`.
    where : what the message calls them.
    """
    rows = read_partners(Path(partners)) if is_file(partners or "") else {"": partners} if partners else {}
    rows = {target: text for target, text in rows.items() if text.strip() != EACH_CHAIN}
    chains = list(known) if rows else []
    for target, text in rows.items():
        able = [each for each in chains if not target or target in each.targets]
        named = {chain for partner in parse_partners(text, where) for chain in partner}
        if able and not any(named <= each.names for each in able):
            nearest = max(able, key=lambda each: len(each.names & named))
            missing = f"no {what}{f' of {target}' if target else ''} has the chains {', '.join(_written(named))}"
            there = f"{printable(nearest.file)} has {', '.join(_written(nearest.names))}"
            remedy = "is a name misspelled? Nothing was changed"
            raise ConfigError(f"{missing}; {there}", where=f"{where} {text}", remedy=remedy)


def _written(chains: Iterable[str]) -> list[str]:
    """Names of chains as `--partners` takes them."""
    return [printable(partner_name((chain,))) for chain in sorted(chains)]


def _several(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
