"""`toporank runs`: every finished training run of a folder and its reuse store, newest last."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from toporank.errors import ConfigError
from toporank.files.spreadsheets import table_text

STORE = ".toporank/store"
SUMMARY = "summary.json"


def add(commands: Any) -> None:
    """Add the command and its arguments."""
    summary = "list training runs: configuration, seed, loss, Spearman, commit, when"
    parser = commands.add_parser("runs", help=summary, description=summary)
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(),
        help="where the workflow ran (the working directory)",
    )
    parser.add_argument(
        "--store",
        type=Path,
        help=f"the reuse store, where that is not {STORE} (workflow.reuse_store)",
    )
    parser.add_argument("--csv", action="store_true", help="print CSV")
    parser.set_defaults(run=show)


def show(args: argparse.Namespace) -> int:
    """Print a row for each run.

    Raises
    ------
    ConfigError : there is no run
    """
    # for which --help need not wait
    import pandas as pd

    store = args.store or args.folder / STORE
    rows = [*_rows(args.folder, store)]
    if not rows:
        remedy = "train first, or name the folder and --store of a workflow"
        raise ConfigError("no finished training run", where=args.folder, remedy=remedy)
    table = pd.DataFrame(rows).sort_values(["finished", "run"], ignore_index=True)
    if args.csv:
        print(table_text(table.columns, table.itertuples(index=False)), end="")
    else:
        print(table.to_string(index=False, float_format="{:.4f}".format, na_rep="–"))
    return 0


def _rows(folder: Path, store: Path) -> Iterator[dict[str, Any]]:
    """A row for each run; `folder` is empty for one that only the store still has."""
    in_results: dict[str, Path] = {}
    for path in sorted((folder / "results").rglob(SUMMARY)):
        if path.with_name("config.yaml").is_file():
            in_results[_identity(path.parent)] = path.parent
    places = {**in_results}
    for path in sorted((store / "runs").glob(f"*/{SUMMARY}")):
        places.setdefault(_identity(path.parent), path.parent)
    for identity, place in places.items():
        row = _row(place)
        is_shown = identity in in_results
        row["folder"] = str(place.relative_to(folder)) if is_shown else ""
        yield row


def _identity(run: Path) -> str:
    """The same for a run in the store and in results, which are links or copies."""
    return (run / "config.yaml").read_text() + (run / SUMMARY).read_text()


def _row(run: Path) -> dict[str, Any]:
    summary = json.loads((run / SUMMARY).read_text(encoding="utf-8"))
    record = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    finished = time.localtime((run / SUMMARY).stat().st_mtime)
    return {
        "run": summary["run"],
        "seed": summary["seed"],
        "configuration": _differences(record["hyperparameters"]),
        "parent": (summary["parent"] or {}).get("run", ""),
        "epochs": summary["epochs"],
        "val_loss": summary["best_loss"]["val_loss"],
        "val_spearman": summary["best_selection"]["val_spearman"],
        "stopped": summary["stopped"].partition(":")[0],
        "commit": record.get("provenance", {}).get("git", ""),
        "finished": time.strftime("%Y-%m-%d %H:%M", finished),
    }


def _differences(hyperparameters: dict[str, Any]) -> str:
    """The hyper-parameters that are not the default, as they would be typed."""
    from toporank.learning.hyperparameters import Hyperparameters

    defaults = Hyperparameters().model_dump()
    others = []
    for key, value in hyperparameters.items():
        if value != defaults.get(key, value):
            others.append(f"{key}={value}")
    return " ".join(others)
