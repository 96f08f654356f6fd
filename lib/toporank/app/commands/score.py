"""`toporank score`: the decoys of a folder, whatever predictor wrote it, scored by the workflow."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import webbrowser
from pathlib import Path
from typing import Any, get_args

from tqdm import tqdm

from toporank import layout
from toporank.app.commands.running import (
    SETTINGS,
    is_dry_run,
    lock_folder,
    run_snakemake,
)
from toporank.app.config import RankBy
from toporank.app.request import (
    INPUT,
    PARTNERS,
    STORE,
    Request,
    chains_of_decoys,
    check_partners,
    name_of,
)
from toporank.app.workflow import runs
from toporank.confidence.table import ALWAYS, NEVER
from toporank.errors import ConfigError
from toporank.files.atomic import write_text_if_changed
from toporank.files.printable_names import free_name
from toporank.finding.complexes import BY_FOLDER, BY_SEQUENCE
from toporank.workers import n_cores


def add(commands: Any, running: argparse.ArgumentParser) -> None:
    """The command and its arguments. running : those of all commands that run the workflow."""
    summary = "score and rank the models of a folder"
    parser = commands.add_parser(
        "score", help=summary, description=summary, parents=[running]
    )
    what = "what a predictor wrote, <target>/<model> files, an archive of them, or a single file"
    parser.add_argument("folder", metavar="FOLDER", type=Path, help=what)
    parser.add_argument("further", nargs="*", help=argparse.SUPPRESS)
    where = (
        "folder for everything that is written (toporank_<name of FOLDER> in the working "
        "directory; with a number where that has the results of another folder)"
    )
    parser.add_argument("-o", "--out", type=Path, metavar="OUT", help=where)
    parser.add_argument("--partners", help=PARTNERS)
    what = "models with the same chains are a target (sequence), or those in one folder (folder)"
    parser.add_argument(
        "--targets", choices=[BY_SEQUENCE, BY_FOLDER], default=BY_SEQUENCE, help=what
    )
    decides = (
        "rank by the score of the complex (the default), by its worst interface, or by the mean "
        "of its interfaces"
    )
    parser.add_argument("--rank-by", choices=get_args(RankBy), help=decides)
    of_b = "whether the B factors of the models are pLDDT (decided by the files and their numbers)"
    parser.add_argument("--plddt", choices=(ALWAYS, NEVER), help=of_b)
    apart = "score by the structure alone, whatever the predictor says of its models"
    parser.add_argument("--without-confidence", action="store_true", help=apart)
    other = (
        "scorer to use instead of the one that ships: its folder, an archive of it, or a single "
        "checkpoint"
    )
    parser.add_argument("--scorer", type=Path, metavar="PATH", help=other)
    what = "print nothing but errors; the exit status says whether a model was scored"
    parser.add_argument("-q", "--quiet", action="store_true", help=what)
    parser.add_argument("--open", action="store_true", help="open the page at the end")
    parser.set_defaults(run=score)


def out_of(folder: Path) -> Path:
    """The folder for results by default.

    It is that of the last run of this folder or archive, or a new one.
    """
    name = f"toporank_{name_of(folder)}"
    taken = {
        path.name for path in Path().glob(f"{name}*") if _is_of_another(path, folder)
    }
    free = free_name(name, taken)
    if free != name:
        what = f"{name} has the results of another folder of this name"
        print(f"{what}: these are written to {free}", flush=True)
    return Path(free)


def _is_of_another(out: Path, folder: Path) -> bool:
    """Whether a folder has the results of another folder or archive, as far as can be seen."""
    try:
        settings = json.loads((out / SETTINGS).read_text(encoding="utf-8"))
        scored = Path(settings["score_decoys"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    if scored.is_relative_to(out.resolve()):
        return folder.is_dir()  # an archive or a file is compared when it is unpacked
    return not scored.is_relative_to(folder.resolve())


def score(args: argparse.Namespace) -> int:
    """Score and print the answer; 1 if no model has a score.

    Raises TopoRankError when it cannot be done.
    """
    if not args.quiet:
        return _score(args)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        return _score(args)


def _score(args: argparse.Namespace) -> int:
    # numpy and pandas, for which --help need not wait
    from toporank.app.commands.shown import about_scorer, answer, described, near
    from toporank.app.commands.terminal import Terminal
    from toporank.app.results import write_results
    from toporank.app.score_folder import score_folder
    from toporank.ranking.scored import Scored
    from toporank.ranking.scored_folder import ScoredFolder

    if args.further:
        what = f"{1 + len(args.further)} files or folders were given"
        raise ConfigError(what, remedy="give the one folder in which they lie")
    if not args.folder.exists():
        what = "there is no such folder or file"
        raise ConfigError(what, where=args.folder, remedy="is it spelled right?")
    out = args.out or out_of(args.folder)
    request = Request.of(
        args.folder,
        lambda: lock_folder(out).resolve() / INPUT,
        args.partners,
        targets=args.targets,
        confidence=not args.without_confidence,
        scorer=args.scorer,
        plddt=args.plddt,
        rank_by=args.rank_by,
    )
    lock_folder(out)
    in_jobs = args.slurm or bool(args.snakemake_args)
    workers = args.cores or n_cores()
    models = request.models(out / STORE, workers, scores_here=not in_jobs)
    if not is_dry_run(args.snakemake_args):
        check_partners(args.partners, "model", chains_of_decoys(models.grouped))
    terminal = Terminal.of_output()
    print(*described(request, models, terminal), sep="\n", flush=True)
    write_text_if_changed(out / SETTINGS, json.dumps(request.settings, indent=1) + "\n")
    scored: Scored
    if in_jobs:
        if not run_snakemake("score", out / SETTINGS, out, args):
            return 0
        tables = out / layout.MODEL_TABLE.format(dataset=models.name)
        scored = ScoredFolder(tables.parent)
    else:
        if runs.first_compilation():
            print(runs.first_compilation(), flush=True)
        with tqdm(
            total=len(models.plan),
            unit=" models",
            disable=args.quiet or None,
            leave=False,
        ) as bar:
            scored = score_folder(request.config, models, workers, bar.update)
        write_results(scored, out)
    lines = answer(scored, out, models.notes, terminal)
    print("\n".join([*about_scorer(args.scorer), *lines]))
    if args.open:
        page = out / layout.SCORE_REPORT.format(dataset=models.name)
        if not webbrowser.open(page.resolve().as_uri()):
            print(f"no browser opens here: open {near(page)}")
    return 0 if scored.targets["dockq"].notna().any() else 1
