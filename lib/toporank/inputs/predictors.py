"""The programs whose output TopoRank knows: how they name files, and what reads them.

To add a program, write an entry of `PROGRAMS`, and a reader in `confidence.readers` where none
fits. What people call its files for short stands in `complexes.OF_PROGRAM`.
"""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from toporank.inputs.confidence import readers
from toporank.inputs.confidence.readers import PredictorOutput, Reader, read_output
from toporank.inputs.confidence.side_files import SideFiles, file_called, stem_of
from toporank.inputs.listing import COLABFOLD
from toporank.structures.identity import Decoy, split_suffix


class SideFileNames(NamedTuple):
    """One way in which a program names the files of a model; a program may have several.

    Attributes
    ----------
    model : pattern that the file name of a model, without its ending, must match as a whole
    scores, pae, plddt : names of the files beside it, best first. `{group}` is a named group of
        `model`, `{stem}` the whole name. A file that has everything is listed under `scores`.
    needs_scores : whether a model is of this program only where a file of `scores` exists
    """

    model: re.Pattern[str]
    scores: tuple[str, ...]
    pae: tuple[str, ...] = ()
    plddt: tuple[str, ...] = ()
    needs_scores: bool = False


class Program(NamedTuple):
    """A program that makes models: everything that TopoRank knows of it.

    Attributes
    ----------
    name : of the program
    model : pattern that the path of a model, without its ending, must match as a whole; None where
        only files beside the model tell
    files : how it names the files beside a model, special ways first
    readers : of these files, run in this order; a later one overwrites an earlier one
    named_alone : whether no other program gives such names to its models
    proteins_only : whether its models have other chains only if these were added since
    shifts_plddt : whether B factors behind a modified residue are the pLDDT of other residues
    letters : whether it calls the chains of its models A, B and so on, in the order of its values
    """

    name: str
    model: re.Pattern[str] | None = None
    files: tuple[SideFileNames, ...] = ()
    readers: tuple[Reader, ...] = ()
    named_alone: bool = False
    proteins_only: bool = False
    shifts_plddt: bool = False
    letters: bool = False


HADDOCK = "HADDOCK"
PROGRAMS = (
    Program(
        name="ColabFold",
        model=re.compile(rf"(?:.*/)?{COLABFOLD.pattern}[^/]*"),
        files=(
            SideFileNames(
                model=re.compile(
                    r"(?P<query>.+)_(?:un)?relaxed_"
                    r"(?P<tag>(?:rank_\d+|model_\d+|alphafold2|deepfold).*)"
                ),
                scores=(
                    "{query}_scores_{tag}.json",
                    "{query}_unrelaxed_{tag}_scores.json",
                    "{query}_relaxed_{tag}_scores.json",
                ),
            ),
        ),
        readers=(readers.colabfold,),
        named_alone=True,
        proteins_only=True,
    ),
    Program(
        name="AlphaFold-Multimer",
        model=re.compile(
            r"(?:.*/)?(?:ranked_\d+|(?:ranked_\d+_)?(?:un)?relaxed_(?:[^/]*_)?model_\d+_[^/]+)"
        ),
        files=(
            # `ranked_0`, `unrelaxed_model_1_…`, and MassiveFold's `ranked_0_unrelaxed_model_1_…`
            SideFileNames(
                model=re.compile(
                    r"(?P<prefix>.*_)?ranked_(?P<rank>\d+)"
                    r"|(?:.*_)?ranked_\d+_(?:(?:un)?relaxed_)?(?P<listed>(?:.*_)?model_\d+.*)"
                    r"|(?:un)?relaxed_(?P<name>(?:.*_)?model_\d+.*)"
                ),
                scores=("ranking_debug.json",),
                pae=(
                    "pae_{name}{listed}.json",
                    "result_{name}{listed}.pkl",
                    "confidence_{name}{listed}.json",
                    "{stem}.pkl",
                ),
            ),
        ),
        readers=(
            readers.alphafold2_ranking,
            readers.alphafold2_result,
            readers.alphafold2_plddt,
            readers.alphafold2_pae,
        ),
        named_alone=True,
        proteins_only=True,
    ),
    Program(
        name="OpenFold3",
        model=re.compile(r"(?:.*/)?seed_\d+/[^/]+_seed_\d+_sample_\d+_model"),
        files=(
            SideFileNames(
                model=re.compile(r"(?P<job>.+_seed_\d+_sample_\d+)_model"),
                scores=("{job}_confidences_aggregated.json",),
                pae=("{job}_confidences.json", "{job}_confidences.npz"),
            ),
            SideFileNames(
                model=re.compile(r"(?P<job>.+)_model"),
                scores=("{job}_confidences_aggregated.json",),
                pae=("{job}_confidences.json", "{job}_confidences.npz"),
                needs_scores=True,
            ),
        ),
        readers=(
            readers.scores_of_json("sample_ranking_score", "chain_pair_iptm"),
            readers.openfold3_pae,
            readers.atom_plddt("plddt"),
        ),
    ),
    Program(  # whose files are those of AlphaFold 3
        name="AlphaFold Server",
        model=re.compile(r"(?:.*/)?fold_[^/]+_model_\d+"),
    ),
    Program(
        name="AlphaFold 3",
        model=re.compile(r"(?:.*/)?seed-\d+_sample-\d+/[^/]+"),
        files=(
            SideFileNames(
                model=re.compile(r"(?P<job>.*_)?model"),
                scores=("{job}summary_confidences.json",),
                pae=("{job}confidences.json",),
            ),
            SideFileNames(
                model=re.compile(r"(?P<job>.+)_model_(?P<n>\d+)"),
                scores=("{job}_summary_confidences_{n}.json",),
                pae=("{job}_full_data_{n}.json",),
            ),
        ),
        readers=(
            readers.scores_of_json("ranking_score", "chain_pair_iptm"),
            readers.pae_matrix("pae"),
            readers.atom_plddt("atom_plddts"),
        ),
    ),
    Program(  # with the values of AlphaFold 3
        name="IntelliFold",
        model=re.compile(r"(?:.*/)?[^/]+[_-]seed-\d+[_-]sample-\d+"),
        files=(
            SideFileNames(
                model=re.compile(r".+[_-]seed-\d+[_-]sample-\d+"),
                scores=("{stem}_summary_confidences.json",),
                pae=("{stem}_confidences.json",),
            ),
        ),
        readers=(
            readers.scores_of_json("ranking_score", "chain_pair_iptm"),
            readers.pae_matrix("pae"),
            readers.atom_plddt("atom_plddts"),
        ),
    ),
    Program(
        name="Boltz",
        model=re.compile(
            r"(?:.*/)?(?:predictions/(?P<boltz>[^/]+)/(?P=boltz)_model_\d+"
            r"|sample_\d+_predicted_structure)"
        ),
        files=(
            SideFileNames(
                model=re.compile(r"(?P<model>.+_model_\d+)"),
                scores=("confidence_{model}.json",),
                pae=("pae_{model}.npz",),
                plddt=("plddt_{model}.npz",),
            ),
            SideFileNames(  # of its service
                model=re.compile(r"sample_(?P<sample>\d+)_predicted_structure"),
                scores=("metrics.json",),
                pae=("sample_{sample}_pae.npz",),
                plddt=("sample_{sample}_plddt.npz",),
            ),
        ),
        readers=(
            readers.scores_of_json("confidence_score", "pair_chains_iptm"),
            readers.boltz_service,
            readers.pae_matrix("pae"),
            readers.token_plddt,
        ),
        shifts_plddt=True,
    ),
    Program(
        name="Chai-1",
        model=re.compile(r"(?:.*/)?pred\.(?:model_idx|rank)_\d+[^/]*"),
        files=(
            SideFileNames(  # `rank_N` and JSON files are those of its server
                model=re.compile(
                    r"(?P<job>.*)pred\.(?P<tag>model_idx_\d+(?:\.rank_\d+)?|rank_\d+)"
                ),
                scores=("{job}scores.{tag}.npz", "{job}scores.{tag}.json"),
                pae=("{job}pae.{tag}.npz", "{job}pae.{tag}.npy"),
                plddt=("{job}plddt.{tag}.npz", "{job}plddt.{tag}.npy"),
            ),
        ),
        readers=(
            readers.scores_of_json("aggregate_score", "per_chain_pair_iptm"),
            readers.pae_matrix("pae"),
            readers.token_plddt,
        ),
        named_alone=True,
        letters=True,
    ),
    Program(
        name="Protenix",
        model=re.compile(r"(?:.*/)?seed_\d+/(?:predictions/)?[^/]+_sample_\d+"),
        files=(
            SideFileNames(
                model=re.compile(r"(?P<job>.+)_sample_(?P<n>\d+)"),
                scores=("{job}_summary_confidence_sample_{n}.json",),
                pae=("{job}_full_data_sample_{n}.json",),
            ),
        ),
        readers=(
            readers.scores_of_json("ranking_score", "chain_pair_iptm"),
            readers.pae_matrix("token_pair_pae"),
            readers.atom_plddt("atom_plddt"),
        ),
    ),
    Program(
        name="AlphaFold Database",
        model=re.compile(r"(?:.*/)?AF-[A-Z0-9]+(?:-[F\d]+)*-model_v\d+"),
        files=(
            SideFileNames(
                model=re.compile(r"AF-(?P<entry>.+)-model_v(?P<version>\d+)"),
                scores=(),
                pae=("AF-{entry}-predicted_aligned_error_v{version}.json",),
                plddt=("AF-{entry}-confidence_v{version}.json",),
            ),
        ),
        readers=(readers.alphafold_database,),
        named_alone=True,
        proteins_only=True,
    ),
    Program(
        name=HADDOCK,
        model=re.compile(
            r"(?:.*/)?(?:(?:rigidbody|flexref|(?:em|md)(?:ref|scoring))_\d+"
            r"|cluster_?\d+_(?:model_)?\d+|complex_(?:it[01]_)?\d+w?)"
        ),
    ),
)
"""The first that fits counts, by the files beside a model or by its path: special names come first.
"""
PLAIN = "Plain structure files"
UNKNOWN = Program(name=PLAIN)
"""In the place of a program that TopoRank does not know."""
ANYWHERE = "(?:.*/)?"
ANY_NAME = re.compile(
    f"{ANYWHERE}(?:%s)"
    % "|".join(
        program.model.pattern.removeprefix(ANYWHERE)
        for program in PROGRAMS
        if program.model
    )
)
"""Of a model by its path: most models of most folders are of no program, which one look says."""
_WAYS = itertools.chain.from_iterable(program.files for program in PROGRAMS)
ANY_WAY = re.compile(
    "|".join(re.sub(r"\?P<\w+>", "?:", way.model.pattern) for way in _WAYS)
)
"""The same of the file of a model."""
LOOKED_AT = 500
"""Models by whose names a folder is judged."""


# ---- the files of a model ------------------------------------------------------------------------


def files_of_model(model: Path) -> SideFiles | None:
    """Return the files of the first program that has any beside this model; None without any."""
    _, files = _program_and_files(model)
    return files


def output_of_predictor(model: Path) -> PredictorOutput:
    """Return what the predictor of a model wrote beside it; an empty output without any files."""
    program, files = _program_and_files(model)
    return read_output(files, program.readers) if files else PredictorOutput()


def _program_and_files(model: Path) -> tuple[Program, SideFiles | None]:
    for program, way, names in ways_to_name(stem_of(model.name)):
        files = SideFiles(
            predictor=program.name,
            folder=model.parent,
            names=names,
            scores=_first_file(way.scores, names, model.parent),
            pae=_first_file(way.pae, names, model.parent),
            plddt=_first_file(way.plddt, names, model.parent),
        )
        if files.scores or (not way.needs_scores and (files.pae or files.plddt)):
            return program, files
    return UNKNOWN, None


def ways_to_name(stem: str) -> Iterator[tuple[Program, SideFileNames, dict[str, str]]]:
    """Yield the programs that may call a model so, with what stands in the names of its files.

    Parameters
    ----------
    stem : the name of its file without ending

    Yields
    ------
    program
    way : how it names the files of the model
    names : the text of each group in the patterns of `way`
    """
    for program in PROGRAMS:
        for way in program.files:
            match = way.model.fullmatch(stem)
            if match:
                names = {"stem": stem}
                for group, text in match.groupdict().items():
                    names[group] = text or ""
                yield program, way, names


def names_of_files(stem: str, *kinds: str) -> set[str]:
    """Return the names that files of a model may have, without compression.

    Parameters
    ----------
    stem : the name of the model's file without ending
    kinds : fields of `SideFileNames`
    """
    files: set[str] = set()
    for _, way, names in ways_to_name(stem):
        for kind in kinds:
            files.update(pattern.format(**names) for pattern in getattr(way, kind))
    return files


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
    for program, _, _ in ways_to_name(stem_of(model.name)):
        if program.named_alone:
            return program.name
    return ""


def program_called(name: str) -> Program:
    """Return what is known of a program by its name; `UNKNOWN` if that is nothing."""
    return next((program for program in PROGRAMS if program.name == name), UNKNOWN)


# ---- which program wrote a folder ----------------------------------------------------------------


def program_of(path: str | os.PathLike) -> str:
    """Return the program that wrote a model, by its path and the files of its confidence.

    It is `PLAIN` if none is known.

    >>> [program_of(path) for path in ("pred.model_idx_0.cif", "my_ranked_3.pdb", "model_3.pdb")]
    ['Chai-1', 'AlphaFold-Multimer', 'Plain structure files']
    """
    folder, file = os.path.split(os.fspath(path))
    stem = os.path.join(folder, (split_suffix(file) or (file,))[0])
    if not ANY_NAME.fullmatch(stem) and not ANY_WAY.fullmatch(stem_of(file)):
        return PLAIN
    by_files, _ = _program_and_files(Path(path))
    # whose model of a job `fold_x` is called as those of AlphaFold Server
    if by_files.name != "Boltz":
        for program in PROGRAMS:
            if program.model and program.model.fullmatch(stem):
                return program.name
    if by_files is UNKNOWN:
        return named_by(Path(path)) or PLAIN
    return by_files.name


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
    names = " and ".join(dict(counts.most_common())) or PLAIN
    return names.replace(f"and {PLAIN}", f"and {PLAIN.lower()}")
