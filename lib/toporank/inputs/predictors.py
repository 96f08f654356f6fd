"""The programs whose output TopoRank knows: how they name files, and what reads them.

To add a predictor, write a reader in `confidence.readers` where none fits, and a row in
`PREDICTORS`. `LAYOUTS` names the program of models without such files, by their paths;
`of_interfaces.PROTEINS_ONLY` has the programs that predict proteins alone.
"""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from toporank.inputs.confidence import readers
from toporank.inputs.confidence.readers import PredictorOutput, Reader, read_output
from toporank.inputs.confidence.side_files import SideFiles, file_called, stem_of
from toporank.inputs.folders import COLABFOLD
from toporank.structures.identity import Decoy, split_suffix


class Predictor(NamedTuple):
    """One way in which a predictor names the files of a model; a predictor may have several.

    Attributes
    ----------
    name : of the predictor
    model : pattern that the file name of a model, without its ending, must match as a whole
    scores, pae, plddt : names of the files beside it, best first. `{group}` is a named group of
        `model`, `{stem}` the whole name. A file that has everything is listed under `scores`.
    readers : run in this order; a later one overwrites an earlier one
    needs_scores : whether a model is of this predictor only where a file of `scores` exists
    """

    name: str
    model: re.Pattern[str]
    readers: tuple[Reader, ...]
    scores: tuple[str, ...]
    pae: tuple[str, ...] = ()
    plddt: tuple[str, ...] = ()
    needs_scores: bool = False


ALPHAFOLD3_READERS = (
    readers.scores_of_json("ranking_score", "chain_pair_iptm"),
    readers.pae_matrix("pae"),
    readers.atom_plddt("atom_plddts"),
)
OPENFOLD3_READERS = (
    readers.scores_of_json("sample_ranking_score", "chain_pair_iptm"),
    readers.openfold3_pae,
    readers.atom_plddt("plddt"),
)
BOLTZ_READERS = (
    readers.scores_of_json("confidence_score", "pair_chains_iptm"),
    readers.boltz_service,
    readers.pae_matrix("pae"),
    readers.token_plddt,
)
PREDICTORS = (
    Predictor(
        name="ColabFold",
        model=re.compile(
            r"(?P<query>.+)_(?:un)?relaxed_(?P<tag>(?:rank_\d+|model_\d+|alphafold2|deepfold).*)"
        ),
        readers=(readers.colabfold,),
        scores=(
            "{query}_scores_{tag}.json",
            "{query}_unrelaxed_{tag}_scores.json",
            "{query}_relaxed_{tag}_scores.json",
        ),
    ),
    # `ranked_0`, `unrelaxed_model_1_…`, and MassiveFold's `ranked_0_unrelaxed_model_1_…`
    Predictor(
        name="AlphaFold-Multimer",
        model=re.compile(
            r"(?P<prefix>.*_)?ranked_(?P<rank>\d+)"
            r"|(?:.*_)?ranked_\d+_(?:(?:un)?relaxed_)?(?P<listed>(?:.*_)?model_\d+.*)"
            r"|(?:un)?relaxed_(?P<name>(?:.*_)?model_\d+.*)"
        ),
        readers=(
            readers.alphafold2_ranking,
            readers.alphafold2_result,
            readers.alphafold2_plddt,
            readers.alphafold2_pae,
        ),
        scores=("ranking_debug.json",),
        pae=(
            "pae_{name}{listed}.json",
            "result_{name}{listed}.pkl",
            "confidence_{name}{listed}.json",
            "{stem}.pkl",
        ),
    ),
    Predictor(
        name="OpenFold3",
        model=re.compile(r"(?P<job>.+_seed_\d+_sample_\d+)_model"),
        readers=OPENFOLD3_READERS,
        scores=("{job}_confidences_aggregated.json",),
        pae=("{job}_confidences.json", "{job}_confidences.npz"),
    ),
    Predictor(
        name="OpenFold3",
        model=re.compile(r"(?P<job>.+)_model"),
        readers=OPENFOLD3_READERS,
        scores=("{job}_confidences_aggregated.json",),
        pae=("{job}_confidences.json", "{job}_confidences.npz"),
        needs_scores=True,
    ),
    Predictor(
        name="AlphaFold 3",
        model=re.compile(r"(?P<job>.*_)?model"),
        readers=ALPHAFOLD3_READERS,
        scores=("{job}summary_confidences.json",),
        pae=("{job}confidences.json",),
    ),
    Predictor(
        name="AlphaFold 3",
        model=re.compile(r"(?P<job>.+)_model_(?P<n>\d+)"),
        readers=ALPHAFOLD3_READERS,
        scores=("{job}_summary_confidences_{n}.json",),
        pae=("{job}_full_data_{n}.json",),
    ),
    Predictor(
        name="Boltz",
        model=re.compile(r"(?P<model>.+_model_\d+)"),
        readers=BOLTZ_READERS,
        scores=("confidence_{model}.json",),
        pae=("pae_{model}.npz",),
        plddt=("plddt_{model}.npz",),
    ),
    Predictor(  # of its service
        name="Boltz",
        model=re.compile(r"sample_(?P<sample>\d+)_predicted_structure"),
        readers=BOLTZ_READERS,
        scores=("metrics.json",),
        pae=("sample_{sample}_pae.npz",),
        plddt=("sample_{sample}_plddt.npz",),
    ),
    Predictor(  # `rank_N` and JSON files are those of its server
        name="Chai-1",
        model=re.compile(
            r"(?P<job>.*)pred\.(?P<tag>model_idx_\d+(?:\.rank_\d+)?|rank_\d+)"
        ),
        readers=(
            readers.scores_of_json("aggregate_score", "per_chain_pair_iptm"),
            readers.pae_matrix("pae"),
            readers.token_plddt,
        ),
        scores=("{job}scores.{tag}.npz", "{job}scores.{tag}.json"),
        pae=("{job}pae.{tag}.npz", "{job}pae.{tag}.npy"),
        plddt=("{job}plddt.{tag}.npz", "{job}plddt.{tag}.npy"),
    ),
    Predictor(
        name="Protenix",
        model=re.compile(r"(?P<job>.+)_sample_(?P<n>\d+)"),
        readers=(
            readers.scores_of_json("ranking_score", "chain_pair_iptm"),
            readers.pae_matrix("token_pair_pae"),
            readers.atom_plddt("atom_plddt"),
        ),
        scores=("{job}_summary_confidence_sample_{n}.json",),
        pae=("{job}_full_data_sample_{n}.json",),
    ),
)
"""The first whose pattern matches, and that has a file beside the model, counts: special patterns
come first.
"""
UNMISTAKABLE = ("ColabFold", "AlphaFold-Multimer", "Chai-1")
"""Predictors that alone give such names to their models."""
LAYOUTS = {
    "AlphaFold Server": re.compile(r"(?:.*/)?fold_[^/]+_model_\d+"),
    "AlphaFold 3": re.compile(r"(?:.*/)?seed-\d+_sample-\d+/[^/]+"),
    "Protenix": re.compile(r"(?:.*/)?seed_\d+/(?:predictions/)?[^/]+_sample_\d+"),
    "OpenFold3": re.compile(r"(?:.*/)?seed_\d+/[^/]+_seed_\d+_sample_\d+_model"),
    "Boltz": re.compile(
        r"(?:.*/)?(?:predictions/([^/]+)/\1_model_\d+|sample_\d+_predicted_structure)"
    ),
    "Chai-1": re.compile(r"(?:.*/)?pred\.(?:model_idx|rank)_\d+[^/]*"),
    "ColabFold": re.compile(rf"(?:.*/)?{COLABFOLD.pattern}[^/]*"),
    "AlphaFold-Multimer": re.compile(
        r"(?:.*/)?(?:ranked_\d+|(?:ranked_\d+_)?(?:un)?relaxed_(?:[^/]*_)?model_\d+_[^/]+)"
    ),
    "HADDOCK": re.compile(
        r"(?:.*/)?(?:(?:rigidbody|flexref|(?:em|md)(?:ref|scoring))_\d+"
        r"|cluster_?\d+_(?:model_)?\d+|complex_(?:it[01]_)?\d+w?)"
    ),
}
"""Program → the path of its models, without suffix; the first that fits counts. A program of
`PREDICTORS` that writes files beside its models needs no entry.
"""
PLAIN = "Plain structure files"
LOOKED_AT = 500
"""Models by whose names a folder is judged."""


# ---- the files of a model ------------------------------------------------------------------------


def files_of_model(model: Path) -> SideFiles | None:
    """Return the files of the first predictor that has any beside this model; None without any."""
    _, files = _predictor_and_files(model)
    return files


def output_of_predictor(model: Path) -> PredictorOutput:
    """Return what the predictor of a model wrote beside it; an empty output without any files."""
    predictor, files = _predictor_and_files(model)
    return read_output(files, predictor.readers) if files else PredictorOutput()


def _predictor_and_files(model: Path) -> tuple[Predictor | None, SideFiles | None]:
    stem = stem_of(model.name)
    for predictor in PREDICTORS:
        names = names_of(predictor, stem)
        if not names:
            continue
        files = SideFiles(
            predictor=predictor.name,
            folder=model.parent,
            names=names,
            scores=_first_file(predictor.scores, names, model.parent),
            pae=_first_file(predictor.pae, names, model.parent),
            plddt=_first_file(predictor.plddt, names, model.parent),
        )
        if files.scores or (not predictor.needs_scores and (files.pae or files.plddt)):
            return predictor, files
    return None, None


def names_of(predictor: Predictor, stem: str) -> dict[str, str]:
    """Return what stands in the names of the files of a model, by group.

    It is empty where the model is called otherwise.

    Parameters
    ----------
    stem : the name of its file without ending
    """
    match = predictor.model.fullmatch(stem)
    if not match:
        return {}
    names = {"stem": stem}
    for group, text in match.groupdict().items():
        names[group] = text or ""
    return names


def _first_file(
    patterns: Iterable[str], names: Mapping[str, str], folder: Path
) -> Path | None:
    for pattern in patterns:
        path = file_called(folder, pattern.format(**names))
        if path:
            return path
    return None


def place_of(model: Path) -> Path:
    """Return the model, or the file it links to, if no predictor's files lie beside the link."""
    if files_of_model(model):
        return model
    return Path(os.path.realpath(model))  # of a link to itself, the link


def named_by(model: Path) -> str:
    """Return the predictor that alone gives such names to its models, or nothing.

    The model may have other files beside it or not.
    """
    stem = stem_of(model.name)
    for predictor in PREDICTORS:
        if predictor.name in UNMISTAKABLE and predictor.model.fullmatch(stem):
            return predictor.name
    return ""


# ---- which program wrote a folder ----------------------------------------------------------------


def program_of(path: str | os.PathLike) -> str:
    """Return the program that wrote a model, by its path and the files of its confidence.

    `PLAIN` if none is known.

    >>> program_of("out/pred.model_idx_0.cif"), program_of("mine/model_3.pdb")
    ('Chai-1', 'Plain structure files')
    """
    folder, file = os.path.split(os.fspath(path))
    stem = os.path.join(folder, (split_suffix(file) or (file,))[0])
    files = files_of_model(Path(path))
    predictor = files.predictor if files else PLAIN
    if predictor != "Boltz":
        for program, layout in LAYOUTS.items():
            if layout.fullmatch(stem):
                return program
    return predictor


def programs(decoys: Iterable[Decoy]) -> str:
    """Return the programs that wrote these decoys, the most frequent first, in words.

    `<job>_model.cif`, which AlphaFold 3 copies from its best sample, is called after the samples
    beside it.
    """
    counts = Counter()
    for decoy in itertools.islice(decoys, LOOKED_AT):
        counts[program_of(os.path.realpath(decoy.path))] += 1
    if "AlphaFold 3" in counts:
        del counts[PLAIN]
    return " and ".join(dict(counts.most_common())) or PLAIN
