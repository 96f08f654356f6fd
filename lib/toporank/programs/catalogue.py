"""The programs whose output TopoRank knows, and which of them wrote a file.

To add a program, write its file and put it into `PROGRAMS`.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from toporank.errors import ConfidenceError
from toporank.programs.alphafold2 import ALPHAFOLD2
from toporank.programs.alphafold3 import ALPHAFOLD3, INTELLIFOLD, SERVER
from toporank.programs.alphafold_database import ALPHAFOLD_DATABASE
from toporank.programs.boltz import BOLTZ
from toporank.programs.chai import CHAI
from toporank.programs.colabfold import COLABFOLD
from toporank.programs.file_names import file_called, stem_of
from toporank.programs.haddock import HADDOCK
from toporank.programs.openfold3 import OPENFOLD3
from toporank.programs.program import (
    MEASURED,
    PredictorOutput,
    Program,
    SideFileNames,
    SideFiles,
    Terms,
)
from toporank.programs.protenix import PROTENIX
from toporank.programs.rfdiffusion import RFDIFFUSION
from toporank.programs.values import WRONG_FILE
from toporank.structures.identity import Decoy, split_suffix

PROGRAMS = (
    COLABFOLD,
    ALPHAFOLD2,
    OPENFOLD3,
    SERVER,
    ALPHAFOLD3,
    INTELLIFOLD,
    BOLTZ,
    CHAI,
    PROTENIX,
    ALPHAFOLD_DATABASE,
    HADDOCK,
    RFDIFFUSION,
)
"""The first that fits counts, by the files beside a model or by its path: special names come first.
"""
PLAIN = "Plain structure files"
UNKNOWN = Program(name=PLAIN)
"""In the place of a program that TopoRank does not know."""
ANYWHERE = "(?:.*/)?"
_MODELS = [program.model.pattern for program in PROGRAMS if program.model]
ANY_NAME = re.compile(
    f"{ANYWHERE}(?:%s)" % "|".join(name.removeprefix(ANYWHERE) for name in _MODELS)
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
    """Return what the predictor of a model wrote beside it; an empty output without any files.

    Where several readers find a value, the last counts.
    """
    program, files = _program_and_files(model)
    output = PredictorOutput()
    if files is None:
        return output
    for reader in program.readers:
        try:
            reader(files, output)
        except ConfidenceError as error:
            output.add_problem(error)
    if not output.problems and all(getattr(output, name) is None for name in MEASURED):
        paths = (files.scores, files.pae, files.plddt)
        names = ", ".join(path.name for path in paths if path)
        what = f"{names} has none of the values that TopoRank reads of {program.name}"
        output.add_problem(ConfidenceError(what, remedy=WRONG_FILE))
    return output


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


def looked_for(model: Path) -> list[str]:
    """Return the names of files with PAE that this model may have beside it; `…` is any text.

    >>> looked_for(Path("ranked_0.pdb"))[:2]
    ['pae_….json', 'result_….pkl']
    >>> looked_for(Path("complex.pdb"))
    []
    """
    files: dict[str, None] = {}
    for _, way, names in ways_to_name(stem_of(model.name)):
        texts = {group: text or "…" for group, text in names.items()}
        for pattern in (*way.pae, *way.scores):
            files[re.sub("…+", "…", pattern.format(**texts))] = None
    return [*files]


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


def predictor_of(model: Path) -> str:
    """Return the predictor that has files beside a model, or alone gives it such a name."""
    files = files_of_model(model)
    return files.predictor if files else named_by(model)


@functools.cache
def program_called(name: str) -> Program:
    """Return the program of this name; `UNKNOWN` for any other."""
    return next((program for program in PROGRAMS if program.name == name), UNKNOWN)


# ---- which program wrote a folder ----------------------------------------------------------------


def program_of(path: str | os.PathLike) -> str:
    """Return the program that wrote a model, by its path and the files of its confidence.

    It is `PLAIN` if none is known.

    >>> [program_of(path) for path in ("pred.model_idx_0.cif", "my_ranked_3.pdb", "model_3.pdb")]
    ['Chai-1', 'AlphaFold-Multimer', 'Plain structure files']
    """
    path = os.fspath(path)
    file = path.rpartition("/")[2]
    name, suffix = split_suffix(file) or (stem_of(file), "")
    stem = path.removesuffix(suffix)
    if not ANY_NAME.fullmatch(stem) and not ANY_WAY.fullmatch(name):
        return PLAIN
    by_files, _ = _program_and_files(Path(path))
    if not by_files.named_like:
        for program in PROGRAMS:
            if program.model and program.model.fullmatch(stem):
                return program.name
    if by_files is UNKNOWN:
        return named_by(Path(path)) or PLAIN
    return by_files.name


def programs_of(decoys: Iterable[Decoy]) -> str:
    """Return the programs that wrote these decoys, the most frequent first, in words.

    A copy of the best sample, such as `<job>_model.cif`, is called after the samples beside it.
    """
    counts: Counter[str] = Counter()
    for decoy in itertools.islice(decoys, LOOKED_AT):
        counts[program_of(os.path.realpath(decoy.path))] += 1
    if ALPHAFOLD3.name in counts:
        del counts[PLAIN]
    is_plain = counts.pop(PLAIN, 0) > 0
    names = [name for name, _ in counts.most_common()]
    if not names:
        return PLAIN
    if is_plain:
        names.append("others")
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


# ---- what the programs say together --------------------------------------------------------------


@functools.cache
def _patterns(field: str) -> list[re.Pattern[str]]:
    patterns = [getattr(program, field) for program in PROGRAMS]
    return [re.compile(pattern) for pattern in patterns if pattern]


def match_of(field: str, name: str) -> re.Match[str] | None:
    """Return how the first program that does calls something so; None where none does.

    Parameters
    ----------
    field : of `Program`, with a pattern
    name : of a file, folder or model
    """
    for pattern in _patterns(field):
        match = pattern.fullmatch(name)
        if match:
            return match
    return None


def first_group(field: str, name: str) -> str:
    """Return what the first group of the pattern in a field is in a name, or nothing."""
    match = match_of(field, name)
    return match[1] if match else ""


@functools.cache
def _called() -> re.Pattern[str]:
    names = "|".join(program.called for program in PROGRAMS if program.called)
    return re.compile(rf"({names})[\d._]*(m|multimer)?(_?v\d+)?", re.IGNORECASE)


def names_a_program(text: str) -> bool:
    """Return whether a name says only which program made the files."""
    return bool(_called().fullmatch(text))


def further_files(folder: Path) -> list[Path]:
    """Return files that count for models of a folder, but are not called after one of them."""
    files = []
    for program in PROGRAMS:
        files += program.further(folder) if program.further else []
    return files


def docked_by(text: str) -> tuple[Program, Terms] | None:
    """Return the docking program that wrote a PDB file, and the terms of its score."""
    for program in PROGRAMS:
        terms = program.docking.of_header(text) if program.docking else None
        if terms is not None:
            return program, terms
    return None


def is_docked(text: str) -> bool:
    """Return whether a line of a PDB file names a docking program."""
    return any(
        program.docking and program.docking.is_docked(text) for program in PROGRAMS
    )


def last_step(run: Path, names: Iterable[str]) -> tuple[str, Program] | None:
    """Return the last step of a run of docking that has models, below the run, and the program.

    None of any other folder.

    Parameters
    ----------
    names : of what is in the folder
    """
    for program in PROGRAMS:
        step = program.docking.last_step(run, names) if program.docking else None
        if step:
            return step, program
    return None
