"""From a folder of models to the answer.

The command, Python and the workflow share this one way.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from toporank import layout
from toporank.app.config import Config
from toporank.app.workflow.data_sets import (
    configured_partners,
    features_of,
    open_scorer,
)
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.stages import keep_file
from toporank.building.chunks.store import Store
from toporank.building.planning import bodies_alone, partners_given, plan_of, recognised
from toporank.inputs.complexes import BY_SEQUENCE, Grouped
from toporank.inputs.discovery import decoys_of
from toporank.inputs.folders import describe_passed_over, no_decoys
from toporank.inputs.natural_partners import called_otherwise
from toporank.layout import repository
from toporank.ranking.score import ScoringOptions, TargetScorer
from toporank.ranking.score_targets import Show, score_targets
from toporank.ranking.tables import ScoredModels
from toporank.scorer.scorer import Scorer
from toporank.structures.identity import DecoyKey

KEEP_TO_FOLDERS = "--targets folder keeps to the folders"
GO_BY_SEQUENCES = "without --targets folder, sequences decide"


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


class Results(ScoredModels):
    """What scoring a folder found out: the tables, and the page made from them.

    Attributes
    ----------
    models, details : a row for each model; docs/results.md describes the columns of all tables
    targets : a row for each target, the most promising first
    interfaces, residues, contacts : a row for each of these, of each model
    confidence : what predictors say of each model
    vectors : what the first network sees in each model
    notes : what TopoRank decided, and which models have no score, in sentences

    Examples
    --------
    >>> import toporank
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example/colabfold"
    >>> results = toporank.score(example)
    >>> results.models["verdict"].tolist()[:2]
    ['believe', 'check']
    >>> results.targets[["target", "n_models", "verdict"]].values.tolist()
    [['pair', 5, 'believe']]
    """

    def write(self, out: Path | str) -> None:
        """Write all tables, the best models and the page.

        Parameters
        ----------
        out : folder for `results/scores/NAME/`; made where it is missing

        Raises
        ------
        OSError : the folder cannot be written

        Examples
        --------
        >>> import toporank
        >>> from toporank.layout import repository
        >>> results = toporank.score(repository() / "resources/example/colabfold")
        >>> with tempfile.TemporaryDirectory() as out:
        ...     results.write(out)
        ...     sorted(path.name for path in Path(out).glob("*/scores/*/*.csv"))[:3]
        ['confidence.csv', 'contacts.csv', 'details.csv']
        """
        folder = Path(out)
        self.write_tables(folder)
        write_page(self, folder)

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
        ValueError : no target or model has that name, or models of several targets have it

        Examples
        --------
        >>> import toporank
        >>> from toporank.layout import repository
        >>> results = toporank.score(repository() / "resources/example/colabfold")
        >>> "believe" in results.show(results.models["decoy"][1], height=600).html
        True
        """
        from toporank.report.page import render
        from toporank.report.results import ScoredFolder
        from toporank.report.structures import Drawings

        with tempfile.TemporaryDirectory(prefix="toporank_") as folder:
            self.write_tables(Path(folder))
            table = Path(folder, layout.MODEL_TABLE.format(dataset=self.name))
            page = render(
                ScoredFolder(table.parent, self.scorer),
                self._named(name),
                linked=False,  # the folder goes
                drawings=Drawings(self.store, self.target_results),
            )
            return Page(page, height)

    def _named(self, name: str) -> DecoyKey:
        """Target and model of that name; the model is empty where it is the name of a target."""
        if not name or name in set(self.models["target"]):
            return name, ""
        full_names = self.models["target"] + "/" + self.models["decoy"]
        named = self.models[(self.models["decoy"] == name) | (full_names == name)]
        if named.empty:
            raise ValueError(
                f"no target or model is called {name!r}; `models` has their names"
            )
        if len(named) > 1:
            targets = ", ".join(named["target"].head(3))
            raise ValueError(
                f"{len(named)} targets have a model {name!r} ({targets} …): say TARGET/{name}"
            )
        target, decoy = named[["target", "decoy"]].iloc[0]
        return target, decoy


@dataclass
class ScoringInput:
    """The models of a folder, as they will be scored.

    Attributes
    ----------
    name : of the results
    grouped : decoys with their targets
    plan : the same with partners and the states of files, in order of target and name
    notes : what TopoRank decided on the user's behalf, and what it passed over, in sentences
    """

    name: str
    grouped: Grouped
    plan: list[PlannedDecoy]
    notes: list[str]

    def targets(self) -> list[list[PlannedDecoy]]:
        """The decoys of each target, in order of target."""
        return [
            list(decoys) for _, decoys in groupby(self.plan, key=attrgetter("target"))
        ]


def find_models(
    config: Config,
    folder: Path,
    store: Path,
    of_archives: Iterable[str] = (),
    *,
    scores_here: bool = True,
    workers: int | None = None,
) -> ScoringInput:
    """The models in a folder with their targets and partners.

    Parameters
    ----------
    config : settings of the command; it has one data set
    folder : where the models lie
    store : the reuse store, which knows files that were looked into before
    of_archives : sentences about archives that lie in the folder
    scores_here : whether this process scores them: then the store keeps the atoms of new files,
        which are not opened again; otherwise the jobs that score them read them
    workers : processes, as many as there are cores by default

    Returns
    -------
    models : with their targets and partners, and what TopoRank decided

    Raises
    ------
    ConfigError : the folder cannot be listed or has no models, or partners contradict each other
    """
    (dataset,) = config.datasets
    for_all, of_targets = configured_partners(config, dataset, folder, repository())
    keep = functools.partial(keep_file, store=store) if scores_here else None
    by = config.grouped_by(dataset)
    grouped = decoys_of(dataset.name, folder, by, store, of_targets, keep, workers)
    if not grouped.decoys:
        raise no_decoys(dataset.name, folder, grouped.passed_over)
    renamed = called_otherwise(partners_given(grouped, for_all, of_targets), grouped)
    unread = describe_passed_over(folder, grouped.passed_over)
    plan = plan_of(grouped, for_all, of_targets)
    advice = KEEP_TO_FOLDERS if by == BY_SEQUENCE else GO_BY_SEQUENCES
    return ScoringInput(
        name=dataset.name,
        grouped=grouped,
        plan=plan,
        notes=[
            *(f"{note} ({advice})" for note in grouped.notes),
            *grouped.mutants,
            *grouped.molecules,
            *grouped.renamed,
            *of_archives,
            *recognised(plan),
            *bodies_alone(plan, grouped),
            *renamed,
            *unread,
        ],
    )


def score_folder(
    config: Config,
    models: ScoringInput,
    store: Path,
    workers: int = 1,
    show: Show | None = None,
    scorer: Scorer | None = None,
) -> Results:
    """Score the models of a folder and rank them.

    Nothing crosses targets but the tables: a target whose files and settings are those of an
    earlier run comes from the store; of the others, the features of each model that is new are
    computed, then each target is scored. After an interruption the same call goes on at the last
    finished model.

    Parameters
    ----------
    config : settings of the command
    models : from `find_models`
    store : the reuse store
    workers : processes
    show : is called with the number of models that are done, in steps that add up to all
    scorer : an open one; by default that of the settings

    Returns
    -------
    results : the tables, and what writes and shows the page

    Raises
    ------
    CheckpointError, GraphError, RecordError, StructureError : the scorer or the store is damaged or
        does not fit
    """
    scorer = scorer or open_scorer(config, repository())
    options = ScoringOptions(
        plddt=config.plddt_of(models.name),
        rank_by=config.rank_by,
        use_confidence=config.confidence,
    )
    opened = Store(store, graphs_only=True)
    contents = models.grouped.contents
    target_scorer = TargetScorer(scorer, features_of(scorer), opened, options, contents)
    results = score_targets(
        target_scorer, models.targets(), workers, show or (lambda n: None)
    )
    return Results(
        name=models.name,
        target_results=results,
        plan=models.plan,
        scorer=scorer,
        options=options,
        store=opened,
        decisions=models.notes,
    )


def write_page(results: ScoredModels, out: Path) -> None:
    """Write the page of a scored folder from its tables, and scripts for PyMOL and ChimeraX."""
    # Python's users, who ask for tables, need not wait for these
    from toporank.report.page import write_page_of
    from toporank.report.structures import Drawings

    table = out / layout.MODEL_TABLE.format(dataset=results.name)
    drawings = Drawings(results.store, results.target_results)
    write_page_of(table, results.scorer, drawings)
