"""What a notebook or a program calls: `import toporank`, then `toporank.score(…)` and its like.

Everything happens in this process and in memory, in a temporary folder, or in the cache that is
given. No function changes the working directory, and several threads may call them.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from toporank import layout
from toporank.app.request import (
    INPUT,
    Request,
    chains_of_decoys,
    check_partners,
    name_of,
)
from toporank.app.results import Results
from toporank.app.score_folder import ScoringInput, score_folder
from toporank.chains.partners import (
    Partners,
    checked_partners,
    partner_name,
    partners_text,
)
from toporank.chains.resolve import of_complex
from toporank.comparing.native.label import Native, label
from toporank.errors import ConfigError, NoInterfaceError
from toporank.features.interface import Meeting
from toporank.features.registry import FeatureChoice, node_columns, resolve_recorded
from toporank.features.steps import Made, graph_steps
from toporank.files.atomic import check_writable, write_text_if_changed
from toporank.finding.complexes import BY_SEQUENCE
from toporank.finding.scan import is_model
from toporank.garbage import not_searched
from toporank.layout import repository
from toporank.scorer.scorer import Scorer
from toporank.settings import check_argument, path_of
from toporank.structures.complex import Complex
from toporank.structures.in_memory import complex_of, is_structure, write_structures

if TYPE_CHECKING:
    from torch_geometric.data import Data

PathLike = str | os.PathLike[str]
Structure = Any
"""A structure in memory: Biopython's `Structure`, biotite's `AtomArray` or gemmi's `Structure`."""
ModelSources = (
    PathLike
    | Sequence[PathLike]
    | Structure
    | Sequence[Structure]
    | Mapping[str, Structure]
)
IN_MEMORY = "structures"
"""Name of a target of structures in memory where they have nothing else in common."""
MEETING = ("first", "second", "n_residues", "n_ca_pairs", "closest")
"""Columns of `interfaces` behind the name of the interface: the fields of a `Meeting`."""


def score(  # noqa: PLR0913 -- the options of the command
    models: ModelSources,
    *,
    partners: str | None = None,
    scorer: PathLike | Scorer | None = None,
    confidence: bool = True,
    targets: str = BY_SEQUENCE,
    plddt: str | None = None,
    rank_by: str | None = None,
    cache: PathLike | None = None,
    workers: int = 1,
) -> Results:
    """Return the scored and ranked models, as the command `toporank score` does.

    Parameters
    ----------
    models : what a predictor wrote: a folder of models, an archive or a single file; a list of
        files; or structures in memory of Biopython, biotite or gemmi (one, a list, or a dictionary
        by name)
    partners : which chains are one partner, such as `"H+L:A"`, or a CSV file that says so. By
        default the chains of an antibody, T-cell receptor or MHC molecule are one partner, and
        every other chain is one; `"chains"` keeps each chain apart
    scorer : its folder, a single checkpoint or an open `Scorer`; by default the one that ships
    confidence : whether the predictor's own confidence counts in the score
    targets : `"sequence"`: models with the same chains are a target; `"folder"`: those in one
        folder
    plddt : whether the B factors of the models are pLDDT: `"b_factor"`, they are, or `"none"`; by
        default the files and their numbers decide
    rank_by : order of the models: by the score of the `"complex"` (default), of its worst interface
        (`"min_interface"`), or by the mean of its interfaces (`"mean_interface"`)
    cache : folder that keeps results, so that the same models cost little the next time, such as
        the `.toporank/store` of an earlier command. By default nothing is kept
    workers : number of processes

    Returns
    -------
    results : DataFrames with the columns of docs/results.md: `models`, one row for every model,
        best first within each target; `targets`, `details`, `interfaces`, `residues`, `contacts`
        and `confidence`. DockQ and probabilities lie between 0 and 1. A model that cannot be scored
        has a row in `models`; its `status` and `reason` say why. `notes` are sentences about what
        TopoRank decided. `write(folder)` writes the tables and the page, `show(target)` shows the
        page in a notebook

    Raises
    ------
    ConfigError
        There are no models, or an argument is impossible.
    CheckpointError
        The scorer cannot be used.
    RecordError
        The cache or the scorer is damaged.

    Examples
    --------
    >>> results = score(repository() / "resources/example/decoys/1PPE")
    >>> results.models.loc[0, ["target", "decoy", "status"]].tolist()
    ['1PPE', 'near1', 'ok']
    """
    options = {
        "targets": targets,
        "confidence": confidence,
        "plddt": plddt,
        "rank_by": rank_by,
    }
    return _scored(models, partners, scorer, cache, workers, **options)


def embed(
    models: ModelSources,
    *,
    partners: str | None = None,
    scorer: PathLike | Scorer | None = None,
    targets: str = BY_SEQUENCE,
    cache: PathLike | None = None,
) -> pd.DataFrame:
    """Return what the first network of a scorer sees in each model.

    That is a vector, such as for a map or a search of neighbours.

    Parameters
    ----------
    models : as for `score`
    partners : as for `score`
    scorer : as for `score`
    targets : as for `score`
    cache : as for `score`

    Returns
    -------
    table : a row for each scored model, the columns of embeddings.csv: `target`, `decoy`, and the k
        entries `v0`, `v1` … of its vector (float32, no units; k is 50 in the scorer that ships).
        Models without a score have no row; `attrs["notes"]` says why. Vectors of different scorers
        cannot be compared

    Raises
    ------
    ConfigError : there are no models, or an argument is impossible
    CheckpointError : the scorer cannot be used
    RecordError : the cache or the scorer is damaged

    Examples
    --------
    >>> embed(repository() / "resources/example/decoys/1PPE")[["target", "v0"]].shape
    (11, 2)
    """
    results = _scored(
        models, partners, scorer, cache, targets=targets, confidence=False
    )
    frame = results.vectors
    frame.attrs["notes"] = results.notes
    return frame


def features(path: PathLike | Structure, partners: str | None = None) -> pd.DataFrame:
    """Return the features of the interface residues of a model.

    They are those that the scorer that ships reads.

    Parameters
    ----------
    path : PDB or mmCIF file, or a structure in memory of Biopython, biotite or gemmi. Of several
        models the first counts
    partners : which chains are one partner, such as `"H+L:A"`, or `"chains"`; by default as for
        `score`

    Returns
    -------
    table : a row for each of N interface residues, in order of chain and number: `chain`, `number`,
        `insertion_code`, `residue`, the k node columns, unscaled (docs/features.md has their
        units), and `lost`: why the residue is no node (its features are 0), or an empty text.
        `attrs["notes"]` says what was left out

    Raises
    ------
    StructureError : the file cannot be read as a complex
    ChainMissingError : the model lacks a chain of a partner
    NoInterfaceError : no two partners touch
    FeatureError : a feature cannot be computed

    Examples
    --------
    >>> table = features(repository() / "resources/example/decoys/1PPE/near1.pdb.gz")
    >>> sorted(set(table["chain"]))
    ['A', 'B']
    """
    made = _made(path, partners, _choices())
    complex_ = made["complex"]
    residues = made["interface"].index
    nodes = made["nodes"]
    ids = pd.DataFrame(complex_.residues_at(residues))
    ids.columns = ["chain", "number", "insertion_code"]
    ids["residue"] = [complex_.names[r] for r in residues]
    frame = pd.concat(
        [ids, pd.DataFrame(nodes.values, columns=node_columns(_choices()))], axis=1
    )
    frame["lost"] = nodes.lost
    frame.attrs["notes"] = [*complex_.notes]
    return frame


def graphs(
    structures: PathLike
    | Structure
    | Sequence[PathLike | Structure]
    | Mapping[str, PathLike | Structure],
    partners: str | None = None,
) -> list[Data]:
    """Return the graphs of models, as the networks of the scorer that ships see them.

    Parameters
    ----------
    structures : PDB or mmCIF files, or structures in memory of Biopython, biotite or gemmi; one or
        several, which may have names. Of several models in one of them the first counts
    partners : as for `features`

    Returns
    -------
    graphs : a `torch_geometric.data.Data` for each structure, in their order: `x`, (n, k) node
        features, `edge_index`, (2, E), `edge_attr`, (E, m), and `metadata`, which names columns
        and residues

    Raises
    ------
    StructureError : a file cannot be read as a complex
    ChainMissingError : a model lacks a chain of a partner
    NoInterfaceError : no two partners of a model touch
    FeatureError : a feature cannot be computed

    Examples
    --------
    >>> (graph,) = graphs(repository() / "resources/example/decoys/1PPE/near1.pdb.gz")
    >>> graph.num_nodes == len(graph.metadata["residues"])
    True
    """
    from toporank.learning.pyg_files import as_data  # torch

    if isinstance(structures, str | os.PathLike) or is_structure(structures):
        structures = [structures]
    if isinstance(structures, Mapping):
        structures = structures.values()
    choices = _choices()
    of_structures = []
    for structure in _several(structures):
        made = _made(structure, partners, choices)
        of_structures.append(as_data(made["graphs"]))
    return of_structures


def train(
    config: PathLike | Mapping[str, Any],
    out: PathLike = ".",
    *,
    cores: int | None = None,
    slurm: bool = False,
) -> Scorer:
    """Run the study of a configuration, as the command `toporank train` does.

    Snakemake runs it and prints what it does. After an interruption the same call goes on.

    Parameters
    ----------
    config : YAML file, or the same as a dictionary (config/README.md has every key)
    out : folder for results and logs, in which relative paths of the configuration begin
    cores : processor cores to use; all by default
    slurm : whether the jobs are submitted to Slurm

    Returns
    -------
    scorer : the new one, for `score(models, scorer=scorer)`

    Raises
    ------
    ConfigError : there is no such configuration, or the folder cannot be written
    RunError : the workflow did not reach its end; Snakemake has printed why

    Examples
    --------
    >>> train("missing.yaml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    toporank.errors.ConfigError: missing.yaml: there is no such configuration ...
    """
    from toporank.app.commands.running import RunError
    from toporank.app.commands.train_and_label import run, scorer_in

    check_argument(cores, int | None, "cores")
    folder = path_of(out, "out")
    file = folder / layout.SETTINGS
    if isinstance(config, Mapping):
        try:
            text = json.dumps(config, indent=1)
        except TypeError as error:
            remedy = "give texts, numbers, lists and dictionaries"
            raise ConfigError(str(error), where="config", remedy=remedy) from error
        check_writable(folder, "give another folder")
        write_text_if_changed(file, text + "\n")
    else:
        file = path_of(config, "config")
    arguments = argparse.Namespace(
        command="train",
        config=file,
        out=folder,
        cores=cores,
        slurm=slurm,
        snakemake_args=[],
    )
    run(arguments)
    made = scorer_in(folder)
    if made is None:
        raise RunError(f"the configuration makes no scorer: {folder} has none")
    return Scorer.open(made)


def interfaces(path: PathLike | Structure, partners: str | None = None) -> pd.DataFrame:
    """Return which partners of a model touch, and how much.

    Parameters
    ----------
    path : as for `features`
    partners : as for `features`

    Returns
    -------
    table : a row for every two partners: `interface`, such as `A:H+L`; the partners `first` and
        `second`; `n_residues`, the residues whose CA is within 10 Å of a CA of the other partner;
        `n_ca_pairs`, the pairs of such residues; `closest`, the smallest distance of CA atoms in Å.
        Partners that do not touch have 0 residues

    Raises
    ------
    StructureError : the file cannot be read as a complex
    ChainMissingError : the model lacks a chain of a partner

    Examples
    --------
    >>> model = repository() / "resources/example/decoys/1PPE/near1.pdb.gz"
    >>> interfaces(model)["interface"].tolist()
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


def dockq(
    model: PathLike | Structure,
    native: PathLike | Structure,
    partners: str | None = None,
) -> dict[str, Any]:
    """Return DockQ of a model against its native, as docs/labels.md defines it.

    Parameters
    ----------
    model : PDB or mmCIF file, or a structure in memory. Sequences say which of its chains is which
        of the native
    native : the same of the native complex
    partners : which chains of the native are one partner, such as `"H+L:A"`, or `"chains"`; by
        default as for `score`

    Returns
    -------
    answer : `dockq` and `fnat` (0 to 1), `irmsd` and `lrmsd` (Å), each the mean over all
        interfaces; `interfaces`, the same four numbers of each interface, by its name; `mapping`,
        chain of the native to chain of the model, or to several, such as `"A+B"`; `notes`, what was
        joined or left out

    Raises
    ------
    StructureError
        A file cannot be read as a complex.
    NativeError
        The partners do not fit the native, or no two of them touch.
    LabelError
        The model has nothing of the interface, or is of another protein.

    Examples
    --------
    >>> native = repository() / "resources/example/decoys/1PPE/near1.pdb.gz"
    >>> dockq(native, native)["fnat"]
    1.0
    """
    of_native, of_model = complex_of(native), complex_of(model)
    of_partners = _partners(of_native, partners)
    label_ = label(Native(of_native, of_partners, are_given=bool(partners)), of_model)
    scores = {}
    for sides, of_interface in label_.interfaces.items():
        scores[partners_text(tuple(sorted(sides)))] = of_interface._asdict()
    return {
        **pd.DataFrame(scores.values()).mean().to_dict(),
        "dockq": label_.dockq,
        "interfaces": scores,
        "mapping": {
            chain: partner_name(other) for chain, other in label_.mapping.items()
        },
        "notes": [*of_native.notes, *of_model.notes, *label_.notes],
    }


@not_searched()
def _scored(
    models: ModelSources,
    partners: str | None,
    scorer: PathLike | Scorer | None,
    cache: PathLike | None,
    workers: int = 1,
    **options: Any,
) -> Results:
    """The results of scoring models. options : further settings of the command."""
    # goes with the results that refer to it
    check_argument(partners, str | None, "partners")
    check_argument(workers, int, "workers")
    room = tempfile.TemporaryDirectory(prefix="toporank_")
    store = Path(room.name, "store") if cache is None else path_of(cache, "cache")
    check_writable(store, "give another folder as cache")
    inputs = Path(room.name, INPUT)
    files: list[Path] = []
    if _in_memory(models):
        source = Path(room.name, IN_MEMORY)
        write_structures(models, source)
    elif isinstance(models, str | os.PathLike):
        source = Path(models)
    else:
        paths = [path_of(file, "models") for file in _several(models)]
        files = [Path(os.path.abspath(path)) for path in paths]
        source = _linked(files, inputs)
    opened = scorer if isinstance(scorer, Scorer) else None
    options["scorer"] = None
    if scorer and not isinstance(scorer, Scorer):
        options["scorer"] = path_of(scorer, "scorer")
    request = Request.of(source, lambda: inputs, partners, **options)
    found = request.models(store, workers)
    _check_complete(found, files)
    check_partners(partners, "model", chains_of_decoys(found.grouped), "partners")
    scored = score_folder(request.config, found, workers, scorer=opened, room=room)
    return Results(scored)


def _check_complete(scoring_input: ScoringInput, files: Iterable[Path]) -> None:
    """Raise ConfigError unless all these files are among the models."""
    models = {os.path.realpath(decoy.path) for decoy in scoring_input.grouped.decoys}
    unread = {}
    for path, why in scoring_input.grouped.passed_over.items():
        unread[os.path.realpath(path)] = why
    for file in files:
        if os.path.realpath(file) not in models:
            what = unread.get(os.path.realpath(file)) or "not read beside the others"
            raise ConfigError(
                what, where=file, remedy="call score for the models of each folder"
            )


def _in_memory(models: Any) -> bool:
    """Whether models are structures in memory."""
    if isinstance(models, Mapping) or is_structure(models):
        return True
    if isinstance(models, str | os.PathLike):
        return False
    return any(is_structure(model) for model in _several(models))


def _several(models: Any) -> list[Any]:
    """The models of a list. Raises ConfigError where they are something else."""
    if isinstance(models, Iterable) and not isinstance(models, bytes):
        return [*models]
    what = f"{type(models).__name__} is not a path, a list of files or a structure"
    remedy = "give a folder, files, or structures of Biopython, biotite or gemmi"
    raise ConfigError(what, where="models", remedy=remedy)


def _linked(files: Sequence[Path], inputs: Path) -> Path:
    """A folder with links to some files, which lie in it as below their common folder."""
    if not files:
        raise ConfigError(
            "the list of models is empty", remedy="give files, or a folder"
        )
    for file in files:
        if not file.is_file():
            remedy = "is it spelled right? Give a folder alone"
            raise ConfigError("there is no such file", where=file, remedy=remedy)
        if not is_model(file):
            raise ConfigError(
                "not a structure file", where=file, remedy="give PDB or mmCIF files"
            )
    common = Path(os.path.commonpath([file.parent for file in files]))
    root = inputs / name_of(common)
    for file in dict.fromkeys(files):
        link = root / file.relative_to(common)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(file)
    return root


def _complex(path: PathLike | Structure, partners: str | None) -> Complex:
    complex_ = complex_of(path)
    return complex_.with_partners(_partners(complex_, partners))


def _made(
    path: PathLike | Structure, partners: str | None, choices: dict[str, FeatureChoice]
) -> Made:
    """The values of a model, up to its graph."""
    complex_ = _complex(path, partners)
    return Made(graph_steps(choices), complex=complex_, dockq=None)


def _partners(complex_: Complex, partners: str | None) -> Partners:
    """The partners of a complex, given or by nature; empty when each chain is one."""
    check_argument(partners, str | None, "partners")
    given = checked_partners(partners) if partners else ""
    return of_complex(complex_.protein_chains, given)


def _choices() -> dict[str, FeatureChoice]:
    """The feature modules of the scorer that ships."""
    return resolve_recorded(Scorer.open(repository() / layout.SHIPPED_SCORER).features)
