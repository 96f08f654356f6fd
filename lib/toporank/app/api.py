"""What a notebook or a program calls: `import toporank`, then `toporank.score(…)` and its like.

Everything happens in this process and in memory, in a temporary folder, or in the cache that is given. No function
changes the working directory, and several threads may call them.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from threadpoolctl import threadpool_limits

from toporank import layout
from toporank.app.commands.given import INPUT, chains_of_decoys, check_partners, folder_to_score, name_of
from toporank.app.commands.score import settings_of
from toporank.app.config import Config, load_config
from toporank.app.workflow.preflight import check_writable, feature_choices, said_partners, scorer_of
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.store import Store
from toporank.building.masked import with_disorder_masked
from toporank.building.native_labels import partners_of_native
from toporank.building.planning import partners_given, plan_of
from toporank.building.target_chains import target_chains
from toporank.comparing.homology.chain_tables import antibodies, compared
from toporank.comparing.native.label import Native, label
from toporank.errors import ConfigError, NoInterfaceError
from toporank.features.interface import Meeting
from toporank.features.registry import Choice, node_columns, resolve_recorded
from toporank.inputs.complexes import BY_SEQUENCE, called_otherwise
from toporank.inputs.discovery import decoys_of
from toporank.inputs.folders import describe_passed_over, passed_over
from toporank.layout import repository
from toporank.ranking.interfaces import hints
from toporank.ranking.leakage import describe, leakage
from toporank.ranking.ranked import TEXTS, WHOLE_NUMBERS, RankedDecoy, columns_of
from toporank.ranking.score import Scored, Ways, score_plan
from toporank.scorer.embeddings import columns_of_vectors
from toporank.scorer.scorer import Scorer
from toporank.structures.complex import Complex
from toporank.structures.identity import split_suffix
from toporank.structures.partners import parse_partners, partner_name, partners_text
from toporank.structures.read import read_complex

PathLike = str | os.PathLike[str]
MEETING = ("first", "second", "n_residues", "n_contacts", "closest")
"""Columns of `interfaces` behind the name of the interface: the fields of a `Meeting`."""
_ARITHMETIC = threading.Lock()


def score(
    models: PathLike | Sequence[PathLike],
    *,
    partners: str | None = None,
    scorer: PathLike | Scorer | None = None,
    confidence: bool = True,
    targets: str = BY_SEQUENCE,
    plddt: str | None = None,
    mask_disorder: bool = False,
    rank_by: str | None = None,
    cache: PathLike | None = None,
) -> pd.DataFrame:
    """Score and rank models, as the command `toporank score` does.

    Parameters
    ----------
    models : what a predictor wrote, a folder of models, an archive or a single file; or a list of files
    partners : which chains are one partner, such as `"H+L:A"`, or a CSV file that says so; by default each chain is one
    scorer : its folder, a single checkpoint or an open `Scorer`; by default the one that ships
    confidence : whether the predictor's own confidence counts in the score
    targets : `"sequence"`, models with the same chains are a target, or `"folder"`, those in one folder
    plddt : whether the B factors of the models are pLDDT: `"b_factor"`, they are, or `"none"`; by default the files and
        their numbers decide
    mask_disorder : whether residues in runs of 10 or more with a pLDDT below 50 are left out of the models; then
        `n_masked` has their number and `pred_unmasked` the score that the model has otherwise (docs/confidence.md)
    rank_by : what the ranking goes by: `"complex"`, by default, `"min_interface"` or `"mean_interface"`
    cache : folder that keeps what was computed, so that the same models cost little the next time; the
        `.toporank/store` of an earlier command will do. By default nothing is kept

    Returns
    -------
    DataFrame with the rows and columns of ranking.csv (docs/results.md): one row for every model, best first within
    each target. DockQ is between 0 and 1. A model that cannot be scored is a row, too, and `status` says what became
    of it. `attrs["notes"]` are sentences: why a model has no score, what was passed over, how far to trust the scores.

    Raises
    ------
    ConfigError : there are no models, or an argument is impossible
    CheckpointError : the scorer cannot be used
    RecordError : the cache or the scorer is damaged

    Examples
    --------
    >>> table = score(repository() / "resources/example/decoys/1PPE")
    >>> table.loc[0, ["target", "decoy", "status"]].tolist()
    ['1PPE', 'near1', 'ok']
    """
    chosen = {"confidence": confidence, "mask_disorder": mask_disorder, "plddt": plddt, "rank_by": rank_by}
    found, notes = _scored(models, partners, scorer, cache, targets=targets, **chosen)
    frame = _frame(columns_of(found.table), found.table)
    frame.attrs["notes"] = notes
    return frame


def embed(
    models: PathLike | Sequence[PathLike],
    *,
    partners: str | None = None,
    scorer: PathLike | Scorer | None = None,
    targets: str = BY_SEQUENCE,
    cache: PathLike | None = None,
) -> pd.DataFrame:
    """What the first network of a scorer sees in each model, as a vector, such as for a map or a search of neighbours.

    Parameters
    ----------
    models, partners, scorer, targets, cache : as for `score`

    Returns
    -------
    DataFrame with the rows and columns of embeddings.parquet: `target`, `decoy`, and the k entries `v0`, `v1` … of the
    vector, float32, without units. Models without a score have no row; `attrs["notes"]` says why, as for `score`.
    Vectors of different scorers cannot be compared.

    Raises
    ------
    ConfigError, CheckpointError, RecordError : as for `score`

    Examples
    --------
    >>> embed(repository() / "resources/example/decoys/1PPE")[["target", "v0"]].shape
    (11, 2)
    """
    found, notes = _scored(models, partners, scorer, cache, targets=targets, confidence=False)
    frame = pd.DataFrame(columns_of_vectors([*found.vectors.items()]))
    frame.attrs["notes"] = notes
    return frame


def features(path: PathLike, partners: str | None = None) -> pd.DataFrame:
    """The features of the interface residues of a model, those that the scorer that ships looks at.

    Parameters
    ----------
    path : PDB or mmCIF file; of several models in it the first counts
    partners : which chains are one partner, such as `"H+L:A"`; by default each chain is one

    Returns
    -------
    DataFrame with a row for each of N interface residues, in order of chain and number: `chain`, `number`,
    `insertion_code`, `residue`, the k node columns, unscaled (docs/features.md has their units), and `lost`: why the
    residue is no node, with zeros for its features, or an empty text. `attrs["notes"]` says what was left out.

    Raises
    ------
    StructureError : the file cannot be read as a complex
    ChainMissingError, NoInterfaceError : it lacks a chain of a partner, or no two partners touch
    FeatureError : a feature cannot be computed

    Examples
    --------
    >>> table = features(repository() / "resources/example/decoys/1PPE/near1.pdb.gz")
    >>> sorted(set(table["chain"]))
    ['A', 'B']
    """
    complex_, choices = _complex(path, partners), _choices()
    residues = choices["interface"](complex_).index
    nodes = choices["nodes"](complex_, residues, choices["topology"](complex_, residues))
    ids = pd.DataFrame([complex_.residues[r] for r in residues], columns=["chain", "number", "insertion_code"])
    ids["residue"] = [complex_.names[r] for r in residues]
    frame = pd.concat([ids, pd.DataFrame(nodes.values, columns=node_columns(choices))], axis=1)
    frame["lost"] = nodes.lost
    frame.attrs["notes"] = [*complex_.notes]
    return frame


def interfaces(path: PathLike, partners: str | None = None) -> pd.DataFrame:
    """How the partners of a model meet.

    Parameters
    ----------
    path, partners : as for `features`

    Returns
    -------
    DataFrame with a row for every two partners: `interface`, such as `A:H+L`; its partners `first` and `second`;
    `n_residues`, its residues with a CA within 10 Å of a CA of the other partner; `n_contacts`, the pairs of these;
    `closest`, the smallest distance between CA atoms, in Å. Partners that do not touch have 0 residues.

    Raises
    ------
    StructureError, ChainMissingError : as for `features`

    Examples
    --------
    >>> interfaces(repository() / "resources/example/decoys/1PPE/near1.pdb.gz")["interface"].tolist()
    ['A:B']
    """
    complex_ = _complex(path, partners)
    try:
        meetings = _choices()["interface"](complex_).meetings
    except NoInterfaceError as error:
        meetings = error.facts["meetings"]
    rows = [(Meeting(*meeting).interface, *meeting) for meeting in meetings]
    frame = pd.DataFrame(rows, columns=["interface", *MEETING])
    frame.attrs["notes"] = [*complex_.notes]
    return frame


def dockq(model: PathLike, native: PathLike, partners: str | None = None) -> dict[str, Any]:
    """DockQ of a model against its native, as docs/labels.md defines it.

    Parameters
    ----------
    model, native : PDB or mmCIF files; sequences say which chain of the model is which of the native
    partners : which chains of the native are one partner, such as `"H+L:A"`; by default each chain is one

    Returns
    -------
    dict : `dockq`, `fnat` (shares from 0 to 1), `irmsd` and `lrmsd` (Å), each the mean over all interfaces;
    `interfaces`, the same four numbers of each, by its name; `mapping`, chain of the native to chain of the model, or to
    several, such as `"A+B"`; `notes`, what was joined or left out.

    Raises
    ------
    StructureError : a file cannot be read as a complex
    NativeError : the partners do not fit the native, or no two of them touch
    LabelError : the model has nothing of the interface, or is of another protein

    Examples
    --------
    >>> native = repository() / "resources/example/decoys/1PPE/near1.pdb.gz"
    >>> dockq(native, native)["fnat"]
    1.0
    """
    of_native, of_model = read_complex(Path(native)), read_complex(Path(model))
    of_partners = partners_of_native(partners or "", of_native)
    label_ = label(Native(of_native, of_partners or (), are_given=bool(partners)), of_model)
    each = {partners_text(tuple(sorted(sides))): s._asdict() for sides, s in label_.interfaces.items()}
    notes = [*of_native.notes, *of_model.notes, *label_.notes]
    mapping = {chain: partner_name(of_model) for chain, of_model in label_.mapping.items()}
    means = pd.DataFrame(each.values()).mean().to_dict() | {"dockq": label_.dockq}
    return {**means, "interfaces": each, "mapping": mapping, "notes": notes}


def _scored(
    models: PathLike | Sequence[PathLike],
    partners: str | None,
    scorer: PathLike | Scorer | None,
    cache: PathLike | None,
    **chosen: Any,
) -> tuple[Scored, list[str]]:
    """Models, scored, and what to know about it. chosen : further settings of the command."""
    with tempfile.TemporaryDirectory(prefix="toporank_") as name:
        room = Path(name)
        store = Path(cache) if cache is not None else room / "store"
        check_writable(store, "give another folder as cache")
        folder, called = _folder_of(models, room / INPUT)
        given = scorer.path if isinstance(scorer, Scorer) else scorer
        chosen["scorer"] = Path(given) if given else None
        config = load_config(settings_of(folder, called, partners, **chosen))
        plan, notes = _plan(config, folder, store, partners, None if _is_path(models) else models)
        found, more = _ranked(config, plan, Store(store, thin=True))
    return found, [*notes, *more]


def _is_path(models: PathLike | Iterable[PathLike]) -> bool:
    return isinstance(models, str | os.PathLike)


def _folder_of(models: PathLike | Iterable[PathLike], inputs: Path) -> tuple[Path, str]:
    """The folder with the decoys, and what it is called. inputs : where something may be unpacked or linked."""
    if _is_path(models):
        return folder_to_score(Path(models), lambda: inputs), name_of(Path(models))
    root = _linked([Path(os.path.abspath(file)) for file in models], inputs)
    return folder_to_score(root, lambda: inputs), root.name


def _linked(files: Sequence[Path], inputs: Path) -> Path:
    """A folder with links to some files, which lie in it as they lie in the folder that they have in common."""
    if not files:
        raise ConfigError("the list of models is empty", remedy="give files, or a folder")
    for file in files:
        if not file.is_file():
            raise ConfigError("there is no such file", where=file, remedy="is it spelled right? Give a folder alone")
        if not split_suffix(file.name):
            raise ConfigError("not a structure file", where=file, remedy="give PDB or mmCIF files")
    common = Path(os.path.commonpath([file.parent for file in files]))
    root = inputs / name_of(common)
    for file in dict.fromkeys(files):
        link = root / file.relative_to(common)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(file)
    return root


class _Plan(NamedTuple):
    """What will be built. notes : what TopoRank decided on the user's behalf, and what it passed over."""

    decoys: list[PlannedDecoy]
    notes: list[str]


def _plan(config: Config, folder: Path, store: Path, partners: str | None, files: Iterable[PathLike] | None) -> _Plan:
    """The decoys of a folder with their targets and partners. files : that must all be among them."""
    (dataset,) = config.datasets
    for_all, of_targets = said_partners(config, dataset, folder, repository())
    grouped = decoys_of(dataset.name, folder, config.grouped_by(dataset), store, of_targets)
    there = {os.path.realpath(decoy.path) for decoy in grouped.decoys}
    for file in files or ():
        if os.path.realpath(file) not in there:
            what = "TopoRank would pass over this file: other models lie in a folder above it"
            raise ConfigError(what, where=file, remedy="call score for the models of each folder")
    check_partners(partners, "model", chains_of_decoys(grouped), "partners")
    skipped = describe_passed_over(folder, passed_over(folder, grouped.decoys))
    plan = plan_of(grouped, for_all, of_targets)
    if config.masks_disorder(dataset.name):
        plan = with_disorder_masked(plan, config.plddt, Store(store))
    otherwise = called_otherwise(partners_given(grouped, for_all, of_targets), grouped)
    return _Plan(plan, [*grouped.notes, *grouped.mutants, *otherwise, *skipped])


def _ranked(config: Config, plan: list[PlannedDecoy], store: Store) -> tuple[Scored, list[str]]:
    """The decoys of a plan, scored and ranked, and what to know about it."""
    choices = feature_choices(config, repository())
    scorer = Scorer.open(scorer_of(config, repository()))
    chosen = {"rank_by": config.rank_by, "fold_twins": config.fold_twins, "use_confidence": config.use_confidence}
    ways = Ways(config.plddt, **chosen, arithmetic=_one_thread)
    built, coverage, found = score_plan(scorer, plan, choices, store, ways)
    chains = target_chains(plan, built.fates, (), store)
    seen = leakage({row.target for row in found.table}, compared(chains), scorer.descriptions)
    notes = [f"{row.target}/{row.decoy}: {row.status}: {row.reason}" for row in coverage if row.reason]
    notes += [*hints(found.interfaces, antibodies(chains)), found.why_not, scorer.missing, scorer.toy]
    return found, [*filter(None, notes), describe(seen)]


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """One call at a time, with one thread of arithmetic, as the jobs of the command have it.

    Sums depend on the number of threads, so the last digit would; small graphs take longer with more. The number
    belongs to the process: two calls at once would change it for one another.
    """
    import torch

    with _ARITHMETIC, threadpool_limits(1, "blas"):
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def _frame(columns: list[str], table: Sequence[RankedDecoy]) -> pd.DataFrame:
    """Rows of a ranking. What is not known is NaN, <NA> in a column of whole numbers, or an empty text."""
    kinds = dict.fromkeys(WHOLE_NUMBERS, "Int64") | dict.fromkeys(TEXTS, "object")
    return pd.DataFrame(
        {name: pd.Series([getattr(row, name) for row in table], dtype=kinds.get(name, "float64")) for name in columns}
    )


def _complex(path: PathLike, partners: str | None) -> Complex:
    return read_complex(Path(path)).with_partners(parse_partners(partners) if partners else ())


def _choices() -> dict[str, Choice]:
    """The feature modules of the scorer that ships."""
    return resolve_recorded(Scorer.open(repository() / layout.SHIPPED_SCORER).features)
