"""What is to be scored and how: command, Python and workflow share this one request.

The models may be in a folder, the output of a predictor, an archive or a single file.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from toporank.app.config import RESERVED, Config, load_config
from toporank.chains.partners import (
    EACH_CHAIN,
    is_file,
    parse_partners,
    partner_name,
    read_partners,
)
from toporank.errors import ConfigError, printable
from toporank.files.archives import UNKNOWN, archive_name, unpacked
from toporank.finding.complexes import BY_SEQUENCE, Grouped
from toporank.finding.gather import Gathered, gathered
from toporank.finding.look import sketches
from toporank.finding.natives import find_natives
from toporank.finding.scan import Scan, is_model
from toporank.structures.identity import split_suffix

if TYPE_CHECKING:
    from toporank.app.score_folder import ScoringInput

INPUT = "input"
"""Folder in OUT for what is unpacked or linked."""
STORE = ".toporank/store"
"""The reuse store, in OUT."""
PARTNERS = (
    "which chains are one partner, such as H+L:A, or a CSV file that says so; default: antibodies, "
    "TCRs and MHC molecules are one partner each, other chains alone; chains: none is joined"
)
"""Help of `--partners`."""


def name_of(source: Path) -> str:
    """The name of the results: that of the input, in letters that every path may have.

    >>> name_of(Path("out/my run")), name_of(Path("fold_x.zip")), name_of(Path("model.cif.gz"))
    ('my_run', 'fold_x', 'model')
    """
    name = archive_name(source)
    stem = split_suffix(source.name)
    if not name and stem and not source.is_dir():
        name = stem[0]
    name = name or source.resolve().name
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name).lstrip("_.-") or "decoys"
    return f"{plain}_decoys" if plain in RESERVED else plain


def folder_to_score(source: Path, inputs: Callable[[], Path]) -> Gathered:
    """Return what is in the folder with the decoys of a folder, archive or file.

    There are notes on archives in it.

    Parameters
    ----------
    source
        The input.
    inputs
        Returns the folder for what is unpacked or linked; called only if anything is.

    Raises
    ------
    ConfigError
        There are no decoys.
    """
    if not source.exists():
        what = "there is no such folder or file"
        raise ConfigError(what, where=source, remedy="is it spelled right?")
    if source.is_dir():
        scan, notes = gathered(source.resolve(), lambda: inputs() / name_of(source))
        try:
            return Gathered(scan.part_to_score(), notes)
        except ConfigError as error:
            what = "; ".join([error.what, *notes])
            raise ConfigError(what, where=error.where, remedy=error.remedy) from error
    if archive_name(source):
        return Gathered(Scan(unpacked(source, inputs())).part_to_score(), [])
    if is_model(source):
        return Gathered(Scan(_linked(source, inputs())), [])
    remedy = "give the folder it lies in"
    if source.suffix.lower() in UNKNOWN:
        remedy = "unpack it and give the folder"
    what = "neither a structure nor an archive that is read"
    raise ConfigError(what, where=source, remedy=remedy)


def _linked(file: Path, inputs: Path) -> Path:
    """A folder with a link to a single file."""
    folder = inputs / name_of(file)
    folder.mkdir(parents=True, exist_ok=True)
    for before in folder.iterdir():
        if (
            not before.is_symlink()
            or before.readlink().parent != file.absolute().parent
        ):
            what = (
                f"holds results of the same name, of {before.resolve()}, "
                f"not of {file.absolute()}"
            )
            remedy = f"choose another folder with -o, or delete {folder}"
            raise ConfigError(what, where=inputs.parent, remedy=remedy)
        before.unlink()
    (folder / file.name).symlink_to(file.absolute())
    return folder


def partners_setting(partners: str | None) -> dict[str, str]:
    """What `--partners` is in a configuration.

    A file is named by its whole path, since paths there begin elsewhere.
    """
    if not partners:
        return {}
    return {
        "partners": str(Path(partners).resolve()) if is_file(partners) else partners
    }


DEFAULTS = {
    "targets": BY_SEQUENCE,
    "confidence": True,
    "plddt": None,
    "rank_by": None,
    "scorer": None,
}
"""Options of a request, by their keys in the configuration."""


@dataclass(frozen=True)
class Request:
    """Models that are to be scored, and how.

    Attributes
    ----------
    source : what the user named
    scan : the folder where its models lie, which for a single file and for archives is elsewhere
    settings : keys of the configuration that are not as by default
    notes : sentences about archives in the folder
    """

    source: Path
    scan: Scan
    settings: dict[str, Any]
    notes: list[str]

    @classmethod
    def of(
        cls,
        source: Path,
        inputs: Callable[[], Path],
        partners: str | None = None,
        **options: Any,
    ) -> Request:
        """Return the request for a folder, an archive or a file.

        Parameters
        ----------
        source : it
        inputs : gives the folder for what is unpacked or linked; called only if anything is
        partners : as the command takes them
        options : keys of `DEFAULTS` that are not as by default

        Raises
        ------
        ConfigError : there are no models
        """
        scan, notes = folder_to_score(source, inputs)
        settings = {"score_decoys": str(scan.folder), "score_name": name_of(source)}
        settings |= partners_setting(partners)
        for name, value in options.items():
            if value != DEFAULTS[name]:
                is_path = isinstance(value, Path)
                settings[name] = os.path.realpath(value) if is_path else value
        return cls(source, scan, settings, notes)

    @property
    def folder(self) -> Path:
        """Where the models lie."""
        return self.scan.folder

    @functools.cached_property
    def config(self) -> Config:
        """The configuration. Raises ConfigError where an option is impossible."""
        return load_config(self.settings)

    def models(
        self, store: Path, workers: int | None = None, *, scores_here: bool = True
    ) -> ScoringInput:
        """Return the models with their targets and partners, as from `find_models`."""
        from toporank.app.score_folder import find_models  # pandas

        return find_models(
            self.config,
            self.scan,
            store,
            self.notes,
            workers=workers,
            scores_here=scores_here,
        )


class FileChains(NamedTuple):
    """The chains of a model or native.

    targets : names that a table of partners may have for it. file : its name. names : of chains.
    """

    targets: set[str]
    file: str
    names: set[str]


def chains_of_decoys(grouped: Grouped) -> list[FileChains]:
    """The chains of decoys that can be read."""
    of_decoys = []
    for decoy in grouped.decoys:
        kinds = grouped.kinds[decoy.key]
        if kinds:
            targets = {decoy.target, decoy.folder}
            of_decoys.append(
                FileChains(targets, file=Path(decoy.path).name, names=set(kinds))
            )
    return of_decoys


def chains_of_natives(folder: Path, out: Path) -> list[FileChains]:
    """The chains of the natives in a folder. out : has the reuse store."""
    natives = find_natives(folder)
    of_files = sketches(map(str, natives.values()), out / STORE)
    of_natives = []
    for target, path in natives.items():
        sketch = of_files[str(path)]
        if sketch:
            of_natives.append(
                FileChains(
                    {target}, file=path.name, names=set(dict(sketch.first.chains))
                )
            )
    return of_natives


def check_partners(
    partners: str | None,
    what: str,
    chains: Iterable[FileChains],
    where: str = "--partners",
) -> None:
    """Raise ConfigError when partners name chains that nothing has together.

    It does so before results are replaced.

    Parameters
    ----------
    partners
        As `--partners` takes them. A table may have targets that the input lacks.
    what
        `model` or `native`.
    chains
        Of the models or natives.
    where
        The name of the setting in the message.
    """
    if not partners:
        return
    rows = read_partners(Path(partners)) if is_file(partners) else {"": partners}
    chains = list(chains)
    for target, text in rows.items():
        if text.strip() == EACH_CHAIN:
            continue
        names = set(itertools.chain.from_iterable(parse_partners(text, where)))
        of_target = [each for each in chains if not target or target in each.targets]
        if of_target and not any(names <= each.names for each in of_target):
            nearest = max(of_target, key=lambda each: len(each.names & names))
            kind = f"{what} of {target}" if target else what
            nowhere = names.difference(*(each.names for each in of_target))
            raise ConfigError(
                f"no {kind} has the chains {_written(nowhere or names)}; "
                f"{printable(nearest.file)} has {_written(nearest.names)}",
                where=f"{where} {text}",
                remedy=f"{_spelling(text, names, nearest)} Nothing was changed",
            )


def _spelling(text: str, names: set[str], nearest: FileChains) -> str:
    """Advice on partners such as `HL:A`, where H and L are chains."""
    for name in sorted(names - nearest.names):
        if set(name) <= nearest.names:
            return f"join chains by +, such as {text.replace(name, '+'.join(name))}."
    return "is a name misspelled?"


def _written(chains: Iterable[str]) -> str:
    """Names of chains as `--partners` takes them."""
    return ", ".join(printable(partner_name((chain,))) for chain in sorted(chains))
