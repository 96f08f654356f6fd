"""`toporank score`: the decoys of a folder, whatever predictor wrote it, scored by the workflow."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, get_args

from toporank.app.commands.given import PARTNERS, STORE, look_at, look_at_partners, name_of, partners_setting
from toporank.app.commands.running import LOG, SETTINGS, claimed, make, only_shows
from toporank.app.config import Config, RankBy, load_config
from toporank.building.planning import plan_of, recognised
from toporank.errors import ConfigError
from toporank.files.atomic import write_text_if_changed
from toporank.inputs.complexes import BY_FOLDER, BY_SEQUENCE
from toporank.inputs.confidence.table import ALWAYS, NEVER
from toporank.inputs.discovery import decoys_of
from toporank.layout import THOROUGH_SCORER, repository


def add(commands: Any, running: argparse.ArgumentParser) -> None:
    """The command and its arguments. running : those of all commands that run the workflow."""
    said = "score and rank the models of a folder"
    parser = commands.add_parser("score", help=said, description=said, parents=[running])
    what = "what a predictor wrote, <target>/<model> files, an archive of them, or a single file"
    parser.add_argument("folder", metavar="FOLDER", type=Path, help=what)
    where = "folder for everything that is written (toporank_<name of FOLDER> in the working directory)"
    parser.add_argument("-o", "--out", type=Path, metavar="OUT", help=where)
    parser.add_argument("--partners", help=PARTNERS)
    what = "models with the same chains are a target (sequence), or those in one folder (folder)"
    parser.add_argument("--targets", choices=[BY_SEQUENCE, BY_FOLDER], default=BY_SEQUENCE, help=what)
    decides = "what the ranking goes by: complex (the default), its worst interface, or the mean of all"
    parser.add_argument("--rank-by", choices=get_args(RankBy), help=decides)
    of_b = "whether the B factors of the models are pLDDT (decided by the files and their numbers)"
    parser.add_argument("--plddt", choices=(ALWAYS, NEVER), help=of_b)
    apart = "score by the structure alone, whatever the predictor says of its models"
    parser.add_argument("--without-confidence", action="store_true", help=apart)
    tails = "leave out disordered residues, runs of 10 or more with a pLDDT below 50, such as tails across the partner"
    parser.add_argument("--mask-disorder", action="store_true", help=tails)
    other = "scorer to use instead of the one that ships: its folder, an archive of it, or a single checkpoint"
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--scorer", "--checkpoint", type=Path, metavar="PATH", help=other)
    better = "also ask inverse folding (ProteinMPNN): 0.3 CPU seconds a model more, better on predicted models"
    which.add_argument(
        "--thorough", dest="scorer", action="store_const", const=repository() / THOROUGH_SCORER, help=better
    )
    parser.set_defaults(run=score)


def settings_of(
    folder: Path,
    name: str,
    partners: str | None,
    *,
    targets: str,
    confidence: bool,
    scorer: Path | None,
    mask_disorder: bool = False,
    plddt: str | None = None,
    rank_by: str | None = None,
) -> dict[str, Any]:
    """The configuration that scores a folder; keys that have their default are left out.

    name : of the results. partners, targets, scorer : as the command takes them. confidence : whether the predictor's
    own counts. mask_disorder : whether disordered residues are left out. plddt, rank_by : as in the configuration.
    """
    settings = {"score_decoys": str(folder), "score_name": name, **partners_setting(partners)}
    settings |= {"group_by": targets} if targets != BY_SEQUENCE else {}
    settings |= {} if confidence else {"use_confidence": False}
    settings |= {"mask_disorder": True} if mask_disorder else {}
    settings |= {key: value for key, value in {"plddt": plddt, "rank_by": rank_by}.items() if value}
    return settings | ({"scorer": str(scorer.resolve())} if scorer else {})


def one_partner(config: Config, folder: Path, store: Path) -> list[str]:
    """Which chains TopoRank takes for one partner where nobody gives partners, in sentences. folder : of the models."""
    from toporank.app.workflow.preflight import said_partners  # imports much, for which --help need not wait

    (dataset,) = config.datasets
    for_all, of_targets = said_partners(config, dataset, folder, repository())
    grouped = decoys_of(dataset.name, folder, config.grouped_by(dataset), store, of_targets)
    return recognised(plan_of(grouped, for_all, of_targets), grouped, "scored")


def score(args: argparse.Namespace) -> int:
    """Score and print the answer; 1 if no decoy has a score. Raises TopoRankError when it cannot be done."""
    from toporank.app.commands.shown import about_scorer, answer  # imports numpy, for which --help need not wait

    if not args.folder.exists():
        raise ConfigError("there is no such folder or file", where=args.folder, remedy="is it spelled right?")
    out = args.out or Path(f"toporank_{name_of(args.folder)}")
    given = look_at(args.folder, out, args.targets)
    print(given.said, flush=True)
    claimed(out)
    if args.partners and not only_shows(args.snakemake_args):
        for line in look_at_partners(args.partners, given.folder, out, args.targets):
            print(f"  {line}", flush=True)
    chosen = {"targets": args.targets, "confidence": not args.without_confidence, "scorer": args.scorer}
    chosen |= {"mask_disorder": args.mask_disorder, "plddt": args.plddt, "rank_by": args.rank_by}
    settings = settings_of(given.folder, given.name, args.partners, **chosen)
    for line in one_partner(load_config(settings), given.folder, out / STORE):
        print(line, flush=True)
    write_text_if_changed(out / SETTINGS, json.dumps(settings, indent=1) + "\n")
    if not make("score", out / SETTINGS, out, args):
        return 0
    said, scored = answer(out, given.name)
    print("\n".join([*about_scorer(args.scorer), *said, f"log:     {out / LOG}"]))
    return 0 if scored else 1
