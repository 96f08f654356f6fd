"""What `toporank figure` draws of a scored folder, by kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from toporank.confidence.table import INCOMPLETE
from toporank.errors import ConfidenceError, ConfigError
from toporank.ranking.interface_words import in_a_word
from toporank.ranking.interfaces import MAIN
from toporank.ranking.scored import Scored, of_models
from toporank.report import figures
from toporank.report.contact_maps import contact_maps
from toporank.report.drawings import matrices_of_model, plddt_of, quality_of, source_of
from toporank.report.names import shortened
from toporank.report.superposed import lying, turned
from toporank.settings import check_argument, did_you_mean
from toporank.structures.identity import DecoyKey

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("partner", "quality", "plddt")
MOST_MAPS = 6
"""Contact maps of a model of many partners: those with the most contacts."""

Figures = Iterator[tuple[str, "Figure"]]


@dataclass(frozen=True)
class FigureChoice:
    """What to draw.

    Attributes
    ----------
    scored : the folder
    models : rows of the target, best first
    model : one of them
    colour : of a structure, one of `COLOURS`
    interface : two partners, such as `A:B`; empty for all
    columns : of a journal, 1 or 2, that a figure is wide
    """

    scored: Scored
    models: pd.DataFrame
    model: Any
    colour: str = "partner"
    interface: str = ""
    columns: int = 1

    @property
    def key(self) -> DecoyKey:
        """Target and name of the model."""
        return self.model.target, self.model.decoy

    @property
    def stem(self) -> str:
        """Start of the names of its files: target and model, the target once."""
        target, model = self.key
        rest = model.removeprefix(target)
        starts_with_it = rest != model and not rest[:1].isalnum()
        return model if starts_with_it else f"{target}_{model}"

    @property
    def title(self) -> str:
        """Target and model with the answer about it."""
        model = self.model
        places = self.models["decoy"].tolist().index(model.decoy)
        name = shortened(self.models["decoy"].tolist())[places]
        start = "" if name.startswith(model.target) else f"{model.target}, "
        score = (
            f":\nexpected DockQ {model.dockq:.2f}, {model.verdict}"
            if model.verdict
            else ""
        )
        weak = model.weak_partners.partition(" (")[0]
        return f"{start}{name}{score}{', ' if weak else ''}{weak}"


def choice_of(
    scored: Scored, target: str = "", model: str = "", **options: Any
) -> FigureChoice:
    """Return what to draw of a target, by default the most promising, and of a model of it.

    Raises
    ------
    ConfigError : either does not exist, or an option is impossible; it has the nearest spelling
    """
    for name, known in (("colour", COLOURS), ("columns", tuple(figures.WIDTHS))):
        value = options.get(name, known[0])
        if value not in known:
            remedy = did_you_mean(str(value), map(str, known))
            raise ConfigError(f"there is no {value!r}", where=name, remedy=remedy)
    check_argument(options.get("interface", ""), str, "interface")
    targets = scored.targets["target"].tolist()
    target = target or targets[0]
    if target not in targets:
        remedy = did_you_mean(target, targets)
        raise ConfigError(
            f"there is no target {target!r}", where=scored.folder, remedy=remedy
        )
    models = scored.facts[scored.facts["target"] == target]
    names = models["decoy"].tolist()
    if not names:
        what = f"models.csv has no model of the target {target!r}"
        raise ConfigError(what, where=scored.folder, remedy="score the models again")
    model = model or names[0]
    if model not in names:
        what = f"the target {target!r} has no model {model!r}"
        raise ConfigError(what, where=scored.folder, remedy=did_you_mean(model, names))
    row = next(models[models["decoy"] == model].itertuples())
    return FigureChoice(scored, models, row, **options)


def _ranking(choice: FigureChoice) -> Figures:
    name = f"{choice.model.target}_ranking"
    yield name, figures.ranking_figure(choice.models, choice.columns)


def _screen(choice: FigureChoice) -> Figures:
    targets, name = choice.scored.targets, choice.scored.name
    if len(targets) < 2:
        raise ConfigError("a screen has several targets", where=choice.scored.folder)
    yield f"{name}_screen", figures.screen_figure(targets, name, choice.columns)


def _structure(choice: FigureChoice) -> Figures:
    scored, key = choice.scored, choice.key
    complex_, values = source_of(scored).model(_at_hand(choice))
    complex_ = turned(complex_.with_partners(scored.partners.get(key, ())))
    complex_ = lying(complex_)
    known: dict[str, np.ndarray | None] = {}
    if choice.colour == "quality":
        rows = of_models(scored.residues, [key]).get(key, pd.DataFrame())
        known["quality"] = quality_of(complex_, rows) / 100
    elif choice.colour == "plddt":
        confidence = scored.stated.get(key)
        stated = confidence.plddt if confidence else None
        known["plddt"] = plddt_of(complex_, values, stated)
        if known["plddt"] is None:
            what = "the predictor left no pLDDT in this model"
            raise ConfigError(what, where="/".join(key))
    drawn = figures.structure_figure(
        complex_, choice.title, **known, columns=choice.columns
    )
    yield f"{choice.stem}_structure_{choice.colour}", drawn


def _at_hand(choice: FigureChoice) -> Any:
    """The row of the model; of a copy that of its original, which has most of the files.

    Raises ConfigError where its file is gone.
    """
    model = choice.model
    if model.duplicate_of:
        is_original = choice.models["decoy"] == model.duplicate_of
        model = next(choice.models[is_original].itertuples())
    if not Path(model.path).is_file():
        what = "the file of the model is gone, and what lay beside it"
        remedy = "put both back where they were scored"
        raise ConfigError(what, where=model.path, remedy=remedy)
    return model


def _pae(choice: FigureChoice) -> Figures:
    model = _at_hand(choice)
    confidence = choice.scored.stated.get(choice.key)
    is_unused = confidence and confidence.status == INCOMPLETE
    if confidence and is_unused and confidence.interface_pae is None:
        raise ConfidenceError(confidence.reason, where=model.path)
    matrices = matrices_of_model(model, choice.scored)
    if matrices.pae is None:
        remedy = "docs/inputs.md says which files have it"
        raise ConfidenceError(matrices.problem, where=model.path, remedy=remedy)
    drawn = figures.pae_figure(
        matrices.pae, matrices.residues, choice.title, choice.columns
    )
    yield f"{choice.stem}_pae", drawn


def _contacts(choice: FigureChoice) -> Figures:
    rows = of_models(choice.scored.contacts, [choice.key]).get(
        choice.key, pd.DataFrame()
    )
    maps = contact_maps(rows, choice.scored.partners.get(choice.key, ()))
    if not maps:
        raise ConfigError(
            "contacts.csv has no contacts of this model", where="/".join(choice.key)
        )
    names = [contacts["name"] for contacts in maps]
    interfaces = _interfaces(choice)
    if choice.interface:
        wanted = choice.interface.split(":")
        maps = [one for one in maps if sorted(one["name"].split(":")) == sorted(wanted)]
        if not maps:
            what = f"the model has no interface {choice.interface}"
            remedy = f"its interfaces are {', '.join(names)}"
            raise ConfigError(what, where="/".join(choice.key), remedy=remedy)
    else:
        main = []
        for one in maps:
            row = interfaces.get(_pair(one["name"]))
            if row is not None and row.role == MAIN:
                main.append(one)
        maps = main or maps
    for contacts in maps[:MOST_MAPS]:
        partners = contacts["name"].replace(":", "-") if len(names) > 1 else ""
        name = "_".join(filter(None, [choice.stem, "contacts", partners]))
        title = _about_interface(choice, interfaces.get(_pair(contacts["name"])))
        yield name, figures.contact_figure(contacts, title, choice.columns)


def _interfaces(choice: FigureChoice) -> dict[frozenset[str], Any]:
    """Two partners, as the file of the model calls them → their row of interfaces.csv."""
    table = choice.scored.interfaces
    is_model = (table["target"] == choice.key[0]) & (table["decoy"] == choice.key[1])
    rows = {}
    for row in table[is_model].itertuples():
        rows[_pair(row.chains or row.interface)] = row
    return rows


def _pair(name: str) -> frozenset[str]:
    return frozenset(name.split(":"))


def _about_interface(choice: FigureChoice, row: Any) -> str:
    """The title of a contact map: of several interfaces it has the DockQ of this one."""
    if row is None or pd.isna(row.dockq) or row.dockq == choice.model.dockq:
        return choice.title
    model = choice.title.partition(":\n")[0]
    name = row.chains or row.interface
    return f"{model}, {name}:\nexpected DockQ {row.dockq:.2f}, {in_a_word(row)}"


DRAWN: dict[str, Callable[[FigureChoice], Figures]] = {
    "ranking": _ranking,
    "screen": _screen,
    "structure": _structure,
    "pae": _pae,
    "contacts": _contacts,
}
