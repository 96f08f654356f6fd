"""What `toporank.score` gives to Python: tables, and what can be done with them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from toporank.errors import ConfigError
from toporank.files.atomic import check_writable
from toporank.ranking.model_table import in_words
from toporank.ranking.scored import Scored, ScoredTargets
from toporank.ranking.verdict import VERDICTS
from toporank.settings import check_argument, did_you_mean, path_of
from toporank.structures.identity import DecoyKey

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LISTED = 2
"""Targets that `repr` has in a line each."""


@dataclass(frozen=True)
class Page:
    """A page that a notebook shows.

    Attributes
    ----------
    html : the page
    height : in pixels
    """

    html: str
    height: int

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html)}" width="100%" height="{self.height}" '
            'frameborder="0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<page of {len(self.html):,} characters: a notebook shows it>"


class Results:
    """What scoring a folder found out: the tables, and the page made from them.

    docs/results.md describes the columns of all tables.

    Attributes
    ----------
    models, targets, details : DataFrames of models and targets
    interfaces, residues, contacts : of these, of each model
    confidence, vectors : what its predictor says, and what the first network sees
    notes : what TopoRank decided, and which models have no score

    Examples
    --------
    >>> import toporank
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example/made_up_colabfold"
    >>> results = toporank.score(example)
    >>> results.models["verdict"].tolist()[:2]
    ['check', 'check']
    >>> results.targets[["target", "n_models", "verdict"]].values.tolist()
    [['pair', 5, 'check']]
    """

    def __init__(self, scored: Scored):
        self._scored = scored

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Results:
        """Open what `toporank score` or `write` wrote.

        Parameters
        ----------
        folder : the OUT of the command, or `results/scores/<name>` in it

        Returns
        -------
        results : with the tables of the folder

        Raises
        ------
        ConfigError : there are no results, or several

        Examples
        --------
        >>> import tempfile, toporank
        >>> from toporank.layout import repository
        >>> results = toporank.score(repository() / "resources/example/made_up_colabfold")
        >>> with tempfile.TemporaryDirectory() as out:
        ...     results.write(out)
        ...     results.open(out).models["decoy"].equals(results.models["decoy"])
        True
        """
        from toporank.ranking.scored_folder import open_answer

        return cls(open_answer(path_of(folder, "folder")))

    @property
    def models(self) -> pd.DataFrame:
        """A row for each model, best first within its target."""
        return self._scored.models

    @property
    def targets(self) -> pd.DataFrame:
        """A row for each target, the most promising first."""
        return self._scored.targets

    @property
    def details(self) -> pd.DataFrame:
        """A row for each model: what its numbers are made of."""
        return self._scored.details

    @property
    def interfaces(self) -> pd.DataFrame:
        """A row for each interface of each model."""
        return self._scored.interfaces

    @property
    def residues(self) -> pd.DataFrame:
        """A row for each interface residue of each scored model."""
        return self._scored.residues

    @property
    def contacts(self) -> pd.DataFrame:
        """A row for each contact of each scored model."""
        return self._scored.contacts

    @property
    def confidence(self) -> pd.DataFrame:
        """The confidence of its predictor in each model."""
        return self._scored.confidence

    @property
    def vectors(self) -> pd.DataFrame:
        """What the first network sees in each scored model."""
        return self._scored.vectors

    @property
    def notes(self) -> list[str]:
        """What TopoRank decided, and which models have no score, in sentences."""
        return self._scored.notes

    def write(self, out: str | os.PathLike[str]) -> None:
        """Write all tables, the best models and the page.

        Parameters
        ----------
        out : folder for `results/scores/NAME/`; made where it is missing

        Raises
        ------
        ConfigError : the folder cannot be written, or the results were opened from one

        Examples
        --------
        >>> import tempfile, toporank
        >>> from toporank.layout import repository
        >>> results = toporank.score(repository() / "resources/example/made_up_colabfold")
        >>> with tempfile.TemporaryDirectory() as out:
        ...     results.write(out)
        ...     sorted(path.name for path in Path(out).glob("*/scores/*/*.csv"))[:3]
        ['confidence.csv', 'contacts.csv', 'details.csv']
        """
        if not isinstance(self._scored, ScoredTargets):
            what = "the results were opened from here, and are written already"
            raise ConfigError(what, where=self._scored.folder, remedy="copy the folder")
        folder = path_of(out, "out")
        check_writable(folder, "give another folder")
        write_results(self._scored, folder)

    def show(self, name: str = "", height: int = 900) -> Page:
        """Return the page for a notebook: structure in 3-D, contact map, PAE and the tables.

        Parameters
        ----------
        name : of the model to draw, as in `models`, or of the target whose row is open; by default
            the most promising target and its best model. Models of two targets may have one name:
            `TARGET/MODEL` is one of them
        height : of the page in the notebook, in pixels

        Returns
        -------
        page : what the notebook shows; `page.html` is its text

        Raises
        ------
        ConfigError : no target or model has that name, models of several targets have it, or the
            height is no number of pixels

        Examples
        --------
        >>> import toporank
        >>> from toporank.layout import repository
        >>> results = toporank.score(repository() / "resources/example/made_up_colabfold")
        >>> "believe" in results.show(results.models["decoy"][1], height=600).html
        True
        """
        from toporank.report.page import render

        check_argument(height, int, "height")
        named = self._named(name) if name else ("", "")
        page = render(self._scored, named)
        return Page(page, height)

    def figure(
        self,
        kind: str = "ranking",
        name: str = "",
        *,
        colour: str = "partner",
        interface: str = "",
        columns: int = 1,
    ) -> Figure:
        """Return a figure of matplotlib, as `toporank figure` draws it.

        Parameters
        ----------
        kind : `ranking`, the models of the target; `screen`, the best model of each target;
            `structure`; `pae`; or `contacts`, which residues touch, of the interface with most
        name : of the target or model, as for `show`
        colour : of a structure, `partner`, `quality` or `plddt`
        interface : the partners of a contact map, such as `A:B`
        columns : of a journal, 1 or 2, that the figure is wide

        Returns
        -------
        figure : `figure.savefig("figure.pdf")` writes it

        Raises
        ------
        ConfigError : no target or model has that name, or an argument is impossible
        TopoRankError : it cannot be drawn, as a model without PAE

        Examples
        --------
        >>> import toporank
        >>> from toporank.layout import repository
        >>> results = toporank.score(repository() / "resources/example/made_up_colabfold")
        >>> results.figure("contacts").axes[0].get_xlabel()
        'partner B'
        """
        from toporank.report.figure_kinds import DRAWN, choice_of

        if kind not in DRAWN:
            what, remedy = f"there is no kind {kind!r}", did_you_mean(str(kind), DRAWN)
            raise ConfigError(what, where="kind", remedy=remedy)
        target, model = self._named(name) if name else ("", "")
        options = {"colour": colour, "interface": interface, "columns": columns}
        drawn = DRAWN[kind](choice_of(self._scored, target, model, **options))
        return next(iter(drawn))[1]

    def _named(self, name: str) -> DecoyKey:
        """Target and model of that name; the model is empty where it is the name of a target."""
        models = self.models
        if name in set(models["target"]):
            return name, ""
        full_names = models["target"] + "/" + models["decoy"]
        named = models[(models["decoy"] == name) | (full_names == name)]
        if named.empty:
            names = dict.fromkeys([*models["target"], *models["decoy"]])
            what = f"no target or model is called {name!r}"
            remedy = f"`models` has all names; {did_you_mean(str(name), names)}"
            if ":" in str(name):
                remedy += '; partners of a contact map: figure("contacts", interface=…)'
            raise ConfigError(what, where="name", remedy=remedy)
        if len(named) > 1:
            targets = ", ".join(named["target"].head(3))
            what = f"{len(named)} targets have a model {name!r} ({targets} …)"
            raise ConfigError(what, where="name", remedy=f"say TARGET/{name}")
        target, decoy = named[["target", "decoy"]].iloc[0]
        return target, decoy

    def _lines(self) -> list[str]:
        """The answer in at most five lines."""
        targets, models = self.targets, self.models
        counts = targets["verdict"].value_counts()
        verdicts = [f"{word} {counts[word]}" for word in VERDICTS if word in counts]
        n_models, n_targets = len(models), len(targets)
        lines = [
            f"{n_models:,} model{'s' * (n_models != 1)} of "
            f"{n_targets:,} target{'s' * (n_targets != 1)}: "
            f"{', '.join(verdicts) or 'none was scored'}"
        ]
        best = models.drop_duplicates("target").set_index("target")
        interfaces = targets.set_index("target")["interfaces"]
        for target in targets["target"].head(LISTED):
            row = best.loc[target]
            said = "no score"
            if row.verdict:
                said = f"{row.decoy}, {in_words(row)}"
            elif row.reason:
                said += f" ({row.status.replace('_', ' ')}: {row.reason})"
            parts = [f"  {target}: {said}", interfaces[target]]
            lines.append("; ".join(filter(None, parts)))
        if n_targets > LISTED:
            lines.append(f"  and {n_targets - LISTED:,} more targets")
        lines.append(
            "tables: models, targets, details, interfaces, residues, contacts, confidence, "
            "vectors; notes; show(), figure(), write(folder)"
        )
        return lines

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        shown = ["target", "verdict", "dockq", "dockq_low", "dockq_high", "best"]
        if self.targets["interfaces"].any():
            shown.append("interfaces")
        table = self.targets[shown].head(10).round(2)
        lines = self._lines()
        with pd.option_context("display.max_colwidth", None):
            html = table.to_html(index=False)
        return f"<p>{escape(lines[0])}</p>{html}<p>{escape(lines[-1])}</p>"


def write_results(scored: ScoredTargets, out: Path) -> None:
    """Write all tables, the best models, the page, and scripts for PyMOL and ChimeraX."""
    # Python's users, who ask for tables, need not wait for these
    from toporank.report.page import write_page

    scored.write_tables(out)
    if scored.folder:
        write_page(scored, scored.folder)
