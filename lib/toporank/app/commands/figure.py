"""`toporank figure`: pictures of a folder that `toporank score` wrote."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toporank.errors import ConfidenceError, ConfigError, TopoRankError
from toporank.structures.identity import DecoyKey

if TYPE_CHECKING:
    from toporank.ranking.scored import Scored

KINDS = ("ranking", "pae", "contacts")
FORMATS = ("png", "svg", "pdf")
MOST_MAPS = 6
"""Contact maps of a model of many partners: those with the most contacts."""
DPI = 200


def add(commands: Any) -> None:
    """Add the command and its arguments."""
    summary = "pictures of a folder that `score` wrote"
    parser = commands.add_parser("figure", help=summary, description=summary)
    parser.add_argument(
        "answer", metavar="ANSWER", type=Path, help="the OUT of `toporank score`"
    )
    parser.add_argument("--target", metavar="T", help="target (the most promising one)")
    parser.add_argument("--model", metavar="M", help="one of its models (the best one)")
    what = (
        "ranking: the models of the target; pae: predicted aligned error; contacts: which "
        "residues touch (all)"
    )
    parser.add_argument("--kind", choices=KINDS, help=what)
    parser.add_argument(
        "--format", choices=FORMATS, default="png", help="of the files (png)"
    )
    where = "where to write (here)"
    parser.add_argument(
        "-o", "--out", type=Path, metavar="FOLDER", default=Path(), help=where
    )
    parser.set_defaults(run=figure)


@dataclass(frozen=True)
class FigureChoice:
    """What to draw.

    Attributes
    ----------
    scored : the folder
    models : rows of the target, best first
    model : one of them
    """

    scored: Scored
    models: Any
    model: Any

    @property
    def key(self) -> DecoyKey:
        """Target and name of the model."""
        return self.model.target, self.model.decoy


def figure(args: argparse.Namespace) -> int:
    """Draw, and print the name of each file.

    Where all kinds are drawn, a line says why one is missing.

    Raises
    ------
    TopoRankError : a picture that the user names cannot be drawn
    """
    from toporank.app.commands.running import out_folder
    from toporank.ranking.scored_folder import open_answer

    chosen = choice(open_answer(args.answer), args.target, args.model)
    kinds = [args.kind] if args.kind else KINDS
    for kind in kinds:
        try:
            for name, drawing in DRAWN[kind](chosen):
                plain = re.sub(r"[^\w.+-]+", "_", name)
                path = out_folder(args.out) / f"{plain}.{args.format}"
                drawing.savefig(path, dpi=DPI)
                print(path, flush=True)
        except (TopoRankError, OSError) as error:
            if args.kind:
                raise
            print(f"no {kind}: {error}", flush=True)
    return 0


def choice(scored: Scored, target: str | None, model: str | None) -> FigureChoice:
    """Return the target and the model to draw: by default the best of the most promising target.

    Raises ConfigError, with the nearest spelling, when neither exists.
    """
    from toporank.report.figures import new_figure
    from toporank.settings import did_you_mean

    new_figure(1, 1)  # says at once how to install matplotlib
    targets = scored.targets["target"].tolist()
    target = target or targets[0]
    if target not in targets:
        remedy = did_you_mean(target, targets)
        raise ConfigError(
            f"there is no target {target!r}", where=scored.folder, remedy=remedy
        )
    models = scored.facts[scored.facts["target"] == target]
    names = models["decoy"].tolist()
    model = model or names[0]
    if model not in names:
        what = f"the target {target!r} has no model {model!r}"
        raise ConfigError(what, where=scored.folder, remedy=did_you_mean(model, names))
    return FigureChoice(
        scored, models, next(models[models["decoy"] == model].itertuples())
    )


def _ranking(choice: FigureChoice) -> Iterator[tuple[str, Any]]:
    from toporank.report.figures import ranking_figure

    yield f"{choice.model.target}_ranking", ranking_figure(choice.models)


def _pae(choice: FigureChoice) -> Iterator[tuple[str, Any]]:
    from toporank.inputs.confidence.table import INCOMPLETE
    from toporank.report.figures import pae_figure
    from toporank.report.pae import pae_of_model

    model = choice.model
    if model.duplicate_of:  # the original has most of the predictor's files
        model = next(
            choice.models[choice.models["decoy"] == model.duplicate_of].itertuples()
        )
    if not Path(model.path).is_file():
        what = "the file of the model is gone, and so is its PAE"
        raise ConfigError(
            what, where=model.path, remedy="put both back where they were scored"
        )
    confidence = choice.scored.stated.get(choice.key)
    if (
        confidence
        and confidence.status == INCOMPLETE
        and confidence.interface_pae is None
    ):
        raise ConfidenceError(confidence.reason, where=model.path)
    pae = pae_of_model(model, choice.scored.partners.get(choice.key, ()))
    yield f"{'_'.join(choice.key)}_pae", pae_figure(pae, _title(choice))


def _contacts(choice: FigureChoice) -> Iterator[tuple[str, Any]]:
    import pandas as pd

    from toporank.ranking.scored import of_models
    from toporank.report.figures import contact_figure
    from toporank.report.structures import contact_maps

    rows = of_models(choice.scored.contacts, [choice.key])
    maps = contact_maps(
        rows.get(choice.key, pd.DataFrame()), choice.scored.partners.get(choice.key, ())
    )
    if not maps:
        raise ConfigError(
            "contacts.csv has no contacts of this model", where="/".join(choice.key)
        )
    for contacts in maps[:MOST_MAPS]:
        partners = contacts["name"].replace(":", "-") if len(maps) > 1 else ""
        name = "_".join(filter(None, [*choice.key, "contacts", partners]))
        yield name, contact_figure(contacts, _title(choice))


def _title(choice: FigureChoice) -> str:
    model = choice.model
    score = f": DockQ {model.dockq:.2f}, {model.verdict}" if model.verdict else ""
    return f"{model.target}, {model.decoy}{score}"


DRAWN = {"ranking": _ranking, "pae": _pae, "contacts": _contacts}
