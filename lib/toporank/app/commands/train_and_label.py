"""`toporank train` and `label`: targets of the workflow for a configuration, or for decoys with
natives.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from toporank import layout
from toporank.app.commands.given import (
    PARTNERS,
    chains_of_natives,
    check_partners,
    name_of,
    partners_setting,
)
from toporank.app.commands.running import SETTINGS, claimed, make, only_shows
from toporank.app.commands.shown import about_scorer
from toporank.app.config import Dataset, load_config
from toporank.building.coverage import conflicting, counts, read_coverage
from toporank.building.label_tables import describe, read_decoys
from toporank.building.planning import recognised
from toporank.comparing.homology.chain_tables import read_splits
from toporank.errors import ConfigError
from toporank.files.atomic import write_text_if_changed
from toporank.inputs.natives import find_natives, unmatched
from toporank.layout import repository
from toporank.learning.assignment import describe_leaks, leaks
from toporank.learning.conclusion import conclusion
from toporank.structures.identity import Status

OWN_CONFIG = Path("config/config.yaml")
OF_STUDY = layout.FINAL_SCORER, layout.MADE_SCORER, layout.REPORT
COMMANDS = {
    "train": (
        "all make_scorer",
        OF_STUDY,
        "the study of a configuration, from models to report and scorer",
    ),
    "label": ("label_decoys", (layout.DOCKQ,), "DockQ of models whose natives are known"),
}
"""Command → targets of the workflow, the results that are named at the end, and help."""


def add(commands: Any, running: argparse.ArgumentParser) -> None:
    """The two commands and their arguments. running : those of all commands that run the
    workflow.
    """
    for name, (_, _, help_) in COMMANDS.items():
        parser = commands.add_parser(name, help=help_, description=help_, parents=[running])
        what = (
            "configuration, or a folder of decoys with --natives"
            if name == "label"
            else "configuration"
        )
        parser.add_argument(
            "config", metavar="CONFIG", type=Path, nargs="?", default=OWN_CONFIG, help=what
        )
        where = (
            "folder for results and logs, in which relative paths of CONFIG begin (the working "
            "directory)"
        )
        parser.add_argument("-o", "--out", type=Path, metavar="OUT", default=Path(), help=where)
        if name == "label":
            parser.add_argument(
                "--natives", type=Path, metavar="FOLDER", help="<target>.pdb or <target>/native.pdb"
            )
            parser.add_argument("--partners", help=PARTNERS)
        parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the workflow and say where the results are. Raises TopoRankError when it cannot be
    done.
    """
    target, results, _ = COMMANDS[args.command]
    if not args.config.exists():
        remedy = f"give a file, such as a copy of {repository() / OWN_CONFIG}"
        raise ConfigError("there is no such configuration", where=args.config, remedy=remedy)
    if args.command == "label" and not args.config.is_dir() and (args.natives or args.partners):
        remedy = "say both for its data sets in the file"
        raise ConfigError(
            "--natives and --partners are for a folder of decoys", where=args.config, remedy=remedy
        )
    folder = args.config.is_dir()
    if folder and getattr(args, "natives", None) is None:
        remedy = "give a file; `toporank label` takes a folder together with --natives"
        raise ConfigError("a folder is no configuration", where=args.config, remedy=remedy)
    out = claimed(args.out)
    if folder and not only_shows(args.snakemake_args):
        check_partners(args.partners, "native", chains_of_natives(args.natives, out))
    config = _for_natives(args, out) if folder else args.config
    if args.command == "train" and _has_graphs(config):
        target = "all"  # the scorer of a cross-validation needs structures
    if make(target, config, out, args):
        datasets = data_sets(config)
        names = [dataset.name for dataset in datasets]
        files = [str(path) for pattern in results for path in _of_each(out, pattern, names)]
        lines = labelled(out, datasets) if args.command == "label" else learned(out, names)
        print("\n".join([*lines, *files]))
    return 0


def _has_graphs(config: Path) -> bool:
    """Whether a data set of a configuration is graphs of another pipeline; what is wrong with it,
    the workflow says.
    """
    try:
        settings = yaml.safe_load(config.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return False
    datasets = settings.get("datasets") if isinstance(settings, dict) else None
    return any(isinstance(each, dict) and each.get("graphs") for each in datasets or ())


def data_sets(config: Path) -> list[Dataset]:
    """The data sets of a configuration: a folder may have results of others, too."""
    values = yaml.safe_load(config.read_text(encoding="utf-8")) or {}
    return load_config(values).datasets


def _of_each(out: Path, pattern: str, names: Iterable[str]) -> list[Path]:
    """The files of a pattern with `{dataset}` that are there, one for each data set; or its only
    file.
    """
    paths = dict.fromkeys(out / pattern.format(dataset=name) for name in names)
    return [path for path in paths if path.exists()]


def labelled(out: Path, datasets: Iterable[Dataset]) -> list[str]:
    """What became of the decoys of each data set, in numbers that add up, and which are the native
    itself.

    Where targets have no native, files of natives that belong to no target are named.
    """
    lines = []
    for dataset in datasets:
        table = out / layout.DOCKQ.format(dataset=dataset.name)
        if not table.exists():
            continue
        rows = read_decoys(table)
        sentences = describe(rows)
        if dataset.natives is not None and any(row.status == Status.NO_NATIVE for row in rows):
            natives = find_natives(_natives_folder(out, dataset))
            sentences += unmatched(natives, {row.target for row in rows})
        lines += [f"{dataset.name}: {sentence}" for sentence in sentences]
    return lines


def _natives_folder(out: Path, dataset: Dataset) -> Path:
    """Where the natives lie: relative paths begin in `out`, or else in the repository."""
    folder = out / dataset.natives
    return folder if folder.exists() else repository() / dataset.natives


def learned(out: Path, names: Iterable[str]) -> list[str]:
    """What became of decoys and labels of each data set, which splits leak, and what the scorer
    lacks.
    """
    lines = []
    for path in _of_each(out, layout.COVERAGE, names):
        rows = read_coverage(path)
        lines.append(f"{path.parent.name}: {counts(rows)}")
        lines += [f"{path.parent.name}: {line}" for line in recognised(rows)]
        lines += (
            [f"warning: {path.parent.name}: {warning}; see {path}"]
            if (warning := conflicting(rows))
            else []
        )
    splits = out / layout.SPLITS
    if splits.exists() and (leaking := leaks(read_splits(splits))):
        lines.append(f"warning: the splits leak: {describe_leaks(leaking)}; see {splits}")
    made = next(
        (path for path in (out / layout.MADE_SCORER, out / layout.FINAL_SCORER) if path.exists()),
        None,
    )
    return [*lines, *about_scorer(made), *conclusion(out, names, made)]


def _for_natives(args: argparse.Namespace, out: Path) -> Path:
    """A configuration that labels the decoys of a folder."""
    folders = {"decoys": str(args.config.resolve()), "natives": str(args.natives.resolve())}
    datasets = [{"name": name_of(args.config), **folders, **partners_setting(args.partners)}]
    write_text_if_changed(out / SETTINGS, json.dumps({"datasets": datasets}, indent=1) + "\n")
    return out / SETTINGS
