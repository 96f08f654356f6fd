"""`toporank train` and `label`.

They make targets of the workflow, for a configuration or for decoys with natives.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from toporank import layout
from toporank.app.commands.running import (
    SETTINGS,
    is_dry_run,
    lock_folder,
    out_folder,
    run_snakemake,
)
from toporank.app.commands.shown import about_scorer
from toporank.app.config import Dataset, load_config
from toporank.app.request import (
    PARTNERS,
    chains_of_natives,
    check_partners,
    name_of,
    partners_setting,
)
from toporank.building.coverage import (
    conflicting,
    counts,
    describe_labels,
    read_coverage,
)
from toporank.building.label_tables import describe, read_decoys
from toporank.building.planning import recognised
from toporank.comparing.homology.chain_tables import read_splits, split_of_targets
from toporank.errors import ConfigError
from toporank.files.atomic import write_text_if_changed
from toporank.finding.natives import find_natives, unmatched
from toporank.layout import repository
from toporank.learning.assignment import describe_leaks, leaks
from toporank.learning.conclusion import conclusion
from toporank.lookup import targets_of
from toporank.structures.identity import Status

DEFAULT_CONFIG = Path("config/config.yaml")
RESULTS = {
    "train": (layout.FINAL_SCORER, layout.MADE_SCORER, layout.REPORT),
    "label": (layout.DOCKQ,),
}
"""Command → the results that are named at the end."""


def add(commands: Any, running: argparse.ArgumentParser) -> None:
    """The two commands and their arguments. running : those of all that run the workflow."""
    summary = "the study of a configuration, from models to report and scorer"
    train = commands.add_parser(
        "train", help=summary, description=summary, parents=[running]
    )
    _add_arguments(train, "configuration")
    summary = "DockQ of models whose natives are known"
    label = commands.add_parser(
        "label", help=summary, description=summary, parents=[running]
    )
    _add_arguments(label, "configuration, or a folder of models with --natives")
    what = "<target>.pdb or <target>/native.pdb"
    label.add_argument("--natives", type=Path, metavar="FOLDER", help=what)
    label.add_argument("--partners", help=PARTNERS)


def _add_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    config = parser.add_argument(
        "config", metavar="CONFIG", type=Path, nargs="?", help=what
    )
    config.default = DEFAULT_CONFIG
    where = (
        "folder for results and logs, in which relative paths of CONFIG begin (the working "
        "directory)"
    )
    parser.add_argument(
        "-o", "--out", type=Path, metavar="OUT", default=Path(), help=where
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the workflow and say where the results are.

    Raises TopoRankError when it cannot be done.
    """
    _check_arguments(args)
    config = args.config
    only_looks = is_dry_run(args.snakemake_args)
    out = out_folder(args.out) if only_looks else lock_folder(args.out)
    if config.is_dir():
        if not only_looks:
            check_partners(
                args.partners, "native", chains_of_natives(args.natives, out)
            )
        config = _for_natives(args, out)
    if args.command == "label":
        target = "label_decoys"
    elif _has_graphs(config):
        target = "all"  # the scorer of a cross-validation needs structures
    else:
        target = "all make_scorer"
    if not run_snakemake(target, config, out, args):
        return 0
    datasets = data_sets(config)
    names = [dataset.name for dataset in datasets]
    lines = labelled(out, datasets) if args.command == "label" else learned(out, names)
    for pattern in RESULTS[args.command]:
        lines += map(str, _of_each(out, pattern, names))
    print("\n".join(lines))
    return 0


def _check_arguments(args: argparse.Namespace) -> None:
    """Raise ConfigError unless there is a configuration, or a folder together with natives."""
    natives, partners = getattr(args, "natives", None), getattr(args, "partners", None)
    if not args.config.exists():
        what = "there is no such configuration"
        remedy = f"give a file, such as a copy of {repository() / DEFAULT_CONFIG}"
    elif args.config.is_dir() and natives is None:
        what = "a folder is no configuration"
        remedy = "give a file; `toporank label` takes a folder together with --natives"
    elif not args.config.is_dir() and (natives or partners):
        what = "--natives and --partners are for a folder of models"
        remedy = "say both for its data sets in the file"
    elif args.config.is_file() and not _is_text(args.config):
        what = "it cannot be read as a text in UTF-8"
        remedy = "give a configuration in YAML"
    else:
        return
    raise ConfigError(what, where=args.config, remedy=remedy)


def _is_text(file: Path) -> bool:
    """Whether a file can be read as a text in UTF-8."""
    try:
        file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return True


def _has_graphs(config: Path) -> bool:
    """Whether a data set of a configuration is graphs of another pipeline.

    The workflow says what is wrong with the configuration.
    """
    try:
        datasets = yaml.safe_load(config.read_text(encoding="utf-8"))["datasets"]
        return any(dataset.get("graphs") for dataset in datasets)
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        yaml.YAMLError,
    ):
        return False


def data_sets(config: Path) -> list[Dataset]:
    """The data sets of a configuration: a folder may have results of others, too."""
    values = yaml.safe_load(config.read_text(encoding="utf-8")) or {}
    return load_config(values).datasets


def _of_each(out: Path, pattern: str, names: Iterable[str]) -> list[Path]:
    """The existing files of a pattern with `{dataset}`, one for each data set; or its only file."""
    paths = dict.fromkeys(out / pattern.format(dataset=name) for name in names)
    return [path for path in paths if path.exists()]


def labelled(out: Path, datasets: Iterable[Dataset]) -> list[str]:
    """Return the fates of the decoys of each data set in numbers, and which are the native itself.

    Where targets have no native, files of natives that belong to no target are named.
    """
    lines = []
    for dataset in datasets:
        table = out / layout.DOCKQ.format(dataset=dataset.name)
        if not table.exists():
            continue
        rows = read_decoys(table)
        sentences = describe(rows)
        if dataset.natives is not None and any(
            row.status == Status.NO_NATIVE for row in rows
        ):
            natives = find_natives(_natives_folder(out, dataset.natives))
            sentences += unmatched(natives, targets_of(rows))
        lines += [f"{dataset.name}: {sentence}" for sentence in sentences]
    return lines


def _natives_folder(out: Path, natives: str) -> Path:
    """Where the natives lie: relative paths begin in `out`, or else in the repository."""
    folder = out / natives
    return folder if folder.exists() else repository() / natives


def learned(out: Path, names: Iterable[str]) -> list[str]:
    """Return the fates of decoys and labels, which splits leak, and what the scorer lacks."""
    lines = []
    splits = out / layout.SPLITS
    split_rows = read_splits(splits) if splits.exists() else []
    split_of = split_of_targets(split_rows)
    for path in _of_each(out, layout.COVERAGE, names):
        dataset = path.parent.name
        rows = read_coverage(path)
        lines.append(f"{dataset}: {counts(rows)}")
        for i, row in enumerate(rows):
            split = row.split or split_of.get((dataset, row.target), "")
            rows[i] = row._replace(split=split)
        about_labels = describe_labels(rows)
        lines += [f"{dataset}: {about_labels}"] if about_labels else []
        lines += [f"{dataset}: {line}" for line in recognised(rows)]
        warning = conflicting(rows)
        if warning:
            lines.append(f"warning: {dataset}: {warning}; see {path}")
    leaking = leaks(split_rows)
    if leaking:
        lines.append(
            f"warning: the splits leak: {describe_leaks(leaking)}; see {splits}"
        )
    scorer = scorer_in(out)
    return [*lines, *about_scorer(scorer), *conclusion(out, names, scorer)]


def scorer_in(out: Path) -> Path | None:
    """Return the folder of the scorer that a study made in a folder, if it made one."""
    folders = (out / layout.MADE_SCORER, out / layout.FINAL_SCORER)
    return next(filter(Path.exists, folders), None)


def _for_natives(args: argparse.Namespace, out: Path) -> Path:
    """A configuration that labels the decoys of a folder."""
    dataset = {
        "name": name_of(args.config),
        "decoys": str(args.config.resolve()),
        "natives": str(args.natives.resolve()),
        **partners_setting(args.partners),
    }
    write_text_if_changed(
        out / SETTINGS, json.dumps({"datasets": [dataset]}, indent=1) + "\n"
    )
    return out / SETTINGS
