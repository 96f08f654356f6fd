"""What was given to score: a folder, the output of a predictor, an archive or a single file; as a
folder of decoys.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toporank.app.config import RESERVED
from toporank.errors import ConfigError, printable
from toporank.files.archives import UNKNOWN, archive_name, unpacked
from toporank.inputs.complexes import Grouped
from toporank.inputs.discovery import sketches
from toporank.inputs.folders import part_to_score
from toporank.inputs.listing import is_model
from toporank.inputs.natives import find_natives
from toporank.inputs.predictors import programs
from toporank.inputs.unpacked_jobs import Gathered, gathered
from toporank.structures.identity import INTERMEDIATE, split_suffix
from toporank.structures.partners import (
    EACH_CHAIN,
    is_file,
    parse_partners,
    partner_name,
    read_partners,
)

if TYPE_CHECKING:
    from toporank.app.score_folder import ScoringInput

INPUT = "input"
"""Folder in OUT for what is unpacked or linked."""
RELAXED = re.compile(r"(^|_)relaxed_")
"""In the name of a model that AlphaFold 2 or ColabFold relaxed."""
STORE = ".toporank/store"
"""The reuse store, in OUT."""
PARTNERS = (
    "which chains are one partner, such as H+L:A, or a CSV file that says so; by default those of "
    "an antibody, T-cell"
    " receptor or MHC molecule are one, and every other chain; chains keeps each chain apart"
)
"""Help of `--partners`."""


def name_of(given: Path) -> str:
    """What results are called after: the folder or file that was given, in letters that every path
    may have.

    >>> name_of(Path("out/my run")), name_of(Path("fold_x.zip")), name_of(Path("model.cif.gz"))
    ('my_run', 'fold_x', 'model')
    """
    known = split_suffix(given.name)
    name = (
        archive_name(given)
        or (known[0] if known and not given.is_dir() else "")
        or given.resolve().name
    )
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name).lstrip("_.-") or "decoys"
    return f"{plain}_decoys" if plain in RESERVED else plain


def described(models: ScoringInput, given: Path, folder: Path) -> list[str]:
    """What the models of a folder are, and what TopoRank decided about them, in lines.

    given : what the user named. folder : where its models lie, which for archives in it is
    elsewhere.
    """
    elsewhere = given.is_dir() and not folder.is_relative_to(given.resolve())
    shown = printable(str(given.resolve() if elsewhere else folder))
    first = f"{programs(models.grouped.decoys)}: {describe_models(models.grouped)} in {shown}"
    return [first, *(f"  {note}" for note in models.notes)]


def describe_models(grouped: Grouped) -> str:
    """`5 models of 1 target and 5 copies of them`: copies and intermediate states are no models of
    their own.
    """
    decoys = grouped.decoys
    intermediate = sum(decoy.refused.startswith(INTERMEDIATE) for decoy in decoys)
    copies = len(grouped.copies)
    targets = len({decoy.target for decoy in decoys})
    text = (
        f"{_several(len(decoys) - copies - intermediate, 'model')} of {_several(targets, 'target')}"
    )
    relaxed = _relaxed(grouped)
    text += f" ({relaxed:,} of them relaxed from another)" if relaxed else ""
    others = [f"{copies:,} {'copy' if copies == 1 else 'copies'} of them"] if copies else []
    others += (
        [f"{_several(intermediate, 'intermediate state')} that TopoRank does not score"]
        if intermediate
        else []
    )
    return " and ".join([", ".join([text, *others[:-1]]), *others[-1:]])


def _relaxed(grouped: Grouped) -> int:
    """How many models are there as their predictor relaxed them, beside the unrelaxed ones."""
    models = {decoy.key: grouped.copies.get(decoy.key, decoy.name) for decoy in grouped.decoys}
    found = set()
    for (target, name), model in models.items():
        unrelaxed = models.get((target, RELAXED.sub(r"\1unrelaxed_", name)))
        if unrelaxed not in (None, model):
            found.add((target, model))
    return len(found)


def folder_to_score(given: Path, inputs: Callable[[], Path]) -> Gathered:
    """The folder with the decoys of a folder, an archive or a single file, and what to say of
    archives in it.

    inputs : gives the folder for what is unpacked or linked, if anything is. Raises ConfigError,
    which says what to give, when there are no decoys.
    """
    if not given.exists():
        raise ConfigError(
            "there is no such folder or file", where=given, remedy="is it spelled right?"
        )
    if given.is_dir():
        folder, notes = gathered(given.resolve(), lambda: inputs() / name_of(given))
        try:
            return Gathered(part_to_score(folder), notes)
        except ConfigError as error:
            raise ConfigError(
                "; ".join([error.what, *notes]), where=error.where, remedy=error.remedy
            ) from error
    if archive_name(given):
        return Gathered(part_to_score(unpacked(given, inputs())), [])
    if is_model(given):
        return Gathered(_linked(given, inputs()), [])
    remedy = (
        "unpack it and give the folder"
        if given.suffix.lower() in UNKNOWN
        else "give the folder it lies in"
    )
    raise ConfigError("neither a structure nor an archive that is read", where=given, remedy=remedy)


def _linked(file: Path, inputs: Path) -> Path:
    """A folder with a link to a single file."""
    folder = inputs / name_of(file)
    folder.mkdir(parents=True, exist_ok=True)
    for before in folder.iterdir():
        if not before.is_symlink() or before.readlink().parent != file.absolute().parent:
            what = (
                f"holds results of the same name, of {before.resolve()}, not of {file.absolute()}"
            )
            remedy = f"choose another folder with -o, or delete {folder}"
            raise ConfigError(what, where=inputs.parent, remedy=remedy)
        before.unlink()
    (folder / file.name).symlink_to(file.absolute())
    return folder


def partners_setting(partners: str | None) -> dict[str, str]:
    """What `--partners` is in a configuration: a file by its whole path, since paths there begin
    elsewhere.
    """
    if not partners:
        return {}
    return {"partners": str(Path(partners).resolve()) if is_file(partners) else partners}


class Chains(NamedTuple):
    """The chains of a model or native. targets : names that a table of partners may have for it.
    file : its name.
    """

    targets: set[str]
    file: str
    names: set[str]


def chains_of_decoys(grouped: Grouped) -> list[Chains]:
    """The chains of decoys that can be read."""
    kinds = grouped.kinds
    return [
        Chains({d.target, d.folder}, Path(d.path).name, {*kinds[d.key]})
        for d in grouped.decoys
        if kinds[d.key]
    ]


def chains_of_natives(folder: Path, out: Path) -> list[Chains]:
    """The chains of the natives in a folder. out : has the reuse store."""
    natives = find_natives(folder)
    seen = sketches(map(str, natives.values()), out / STORE)
    known = {
        target: (path.name, found) for target, path in natives.items() if (found := seen[str(path)])
    }
    return [
        Chains({target}, file, {*dict(found.chains)}) for target, (file, found) in known.items()
    ]


def check_partners(
    partners: str | None, what: str, known: Iterable[Chains], where: str = "--partners"
) -> None:
    """Raise ConfigError when partners name chains that nothing has together, before results are
    replaced.

    A table may also have targets that are not there. partners : as `--partners` takes them. what :
    `model` or `native`. where : what the message calls them.
    """
    rows = (
        read_partners(Path(partners))
        if is_file(partners or "")
        else {"": partners}
        if partners
        else {}
    )
    rows = {target: text for target, text in rows.items() if text.strip() != EACH_CHAIN}
    chains = list(known) if rows else []
    for target, text in rows.items():
        able = [each for each in chains if not target or target in each.targets]
        named = {chain for partner in parse_partners(text, where) for chain in partner}
        if able and not any(named <= each.names for each in able):
            nearest = max(able, key=lambda each: len(each.names & named))
            missing = (
                f"no {what}{f' of {target}' if target else ''} has the chains "
                f"{', '.join(_written(named))}"
            )
            there = f"{printable(nearest.file)} has {', '.join(_written(nearest.names))}"
            letters = [
                chain for chain in sorted(named - nearest.names) if set(chain) <= nearest.names
            ]
            joined = (
                f"join chains by +, such as {text.replace(letters[0], '+'.join(letters[0]))}"
                if letters
                else ""
            )
            remedy = (
                f"{joined or 'is a name misspelled?'}{';' if joined else ''} Nothing was changed"
            )
            raise ConfigError(f"{missing}; {there}", where=f"{where} {text}", remedy=remedy)


def _written(chains: Iterable[str]) -> list[str]:
    """Names of chains as `--partners` takes them."""
    return [printable(partner_name((chain,))) for chain in sorted(chains)]


def _several(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
