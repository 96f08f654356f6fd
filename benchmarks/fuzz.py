"""Damage files of predictors at random and score them: `python benchmarks/fuzz.py FOLDER…`.

Each FOLDER is an output of a predictor, or holds such outputs, a folder `input` each. Three kinds
of damage, each with its own seeds: most structure files of a folder; most files beside its models;
the folder itself (a file or folder is renamed, removed, emptied, exchanged, doubled, moved or
packed). Every structure file must have a row or a sentence that it is not read, and nothing but an
error of TopoRank may be raised. Prints how often each outcome was met, and every seed that failed.

    python benchmarks/fuzz.py --structures 3200 --side-files 1000 --folders 1000 FOLDER…
    python benchmarks/fuzz.py --structures 1 --first 77 FOLDER…     # seed 77 again
"""

from __future__ import annotations

import argparse
import gzip
import logging
import re
import shutil
import sys
import tempfile
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import toporank
from toporank.errors import TopoRankError
from toporank.structures.identity import split_suffix

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests/inputs"))
from _fuzz import DAMAGES, flip_bytes

NOT_READ = re.compile(r"^(\d+) files? (?:is|are) not read")
FEW_LINES = 4
"""A file of fewer is one line of JSON or binary, which has only bytes to damage."""
SHARE = 0.75
"""Of the files of a folder that are damaged at once."""
Draw = np.random.Generator


# ---- the three kinds of damage -------------------------------------------------------------------


def damage_structures(folder: Path, draw: Draw) -> list[str]:
    """Damage the content of structure files; returns how."""
    return _damage_content(_structures(folder), draw)


def damage_side_files(folder: Path, draw: Draw) -> list[str]:
    """Damage the content of files that are no structures; returns how."""
    structures = set(_structures(folder))
    return _damage_content([f for f in _files(folder) if f not in structures], draw)


def damage_folder(folder: Path, draw: Draw) -> list[str]:
    """Change which files lie where; returns how."""
    files = _files(folder)
    file = files[draw.integers(len(files))]
    other = files[draw.integers(len(files))]
    way = str(draw.choice(list(WAYS)))
    WAYS[way](file, other)
    return [f"{way} {file.name} {other.name}"]


def _exchange(file: Path, other: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(other.read_bytes())
    other.write_bytes(content)


def _double(file: Path, other: Path) -> None:
    if file != other:
        shutil.copy(file, other.with_name(f"copy_of_{file.name}"))


def _move_into(file: Path, other: Path) -> None:
    folder = other.with_name(f"{other.name}.d")
    folder.mkdir(exist_ok=True)
    file.rename(folder / file.name)


def _rename_folder(file: Path, other: Path) -> None:
    folder = other.parent
    folder.rename(folder.with_name(f"x {folder.name}"))


def _pack(file: Path, other: Path) -> None:
    with zipfile.ZipFile(other.with_name("packed.zip"), "w") as archive:
        for each in {file, other}:
            archive.write(each, each.name)
            each.unlink()


def _link_to_nothing(file: Path, other: Path) -> None:
    file.unlink()
    file.symlink_to("nowhere")


def _be_a_folder(file: Path, other: Path) -> None:
    file.unlink()
    file.mkdir()


WAYS: dict[str, Callable[[Path, Path], object]] = {
    "rename": lambda file, other: file.rename(file.with_name(f"x{file.name}")),
    "rename like": lambda file, other: file.rename(
        file.with_name(f"{file.stem}{other.suffix}")
    ),
    "remove": lambda file, other: file.unlink(),
    "empty": lambda file, other: file.write_bytes(b""),
    "exchange": _exchange,
    "double": _double,
    "move": _move_into,
    "rename folder": _rename_folder,
    "pack": _pack,
    "compress": lambda file, other: file.with_name(f"{file.name}.gz").write_bytes(
        gzip.compress(file.read_bytes())
    ),
    "link": _link_to_nothing,
    "folder": _be_a_folder,
}


def _damage_content(files: list[Path], draw: Draw) -> list[str]:
    """Damage three of four files; returns how, a text for each."""
    ways = []
    for file in files:
        content = file.read_bytes()
        if not content or draw.random() > SHARE:
            continue
        binary = content.count(b"\n") < FEW_LINES
        change = flip_bytes if binary else DAMAGES[draw.integers(len(DAMAGES))]
        file.write_bytes(change(content, draw))
        ways.append(f"{change.__name__} {file.name}")
    return ways


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _structures(folder: Path) -> list[Path]:
    return [path for path in _files(folder) if split_suffix(path.name)]


KINDS: dict[str, Callable[[Path, Draw], list[str]]] = {
    "structures": damage_structures,
    "side_files": damage_side_files,
    "folders": damage_folder,
}


# ---- scoring -------------------------------------------------------------------------------------


def attempt(source: Path, kind: str, seed: int, cache: str) -> tuple[int, Counter, str]:
    """Return how much one seed damaged, the outcomes, and what is wrong, or nothing."""
    draw = np.random.default_rng([list(KINDS).index(kind), seed])
    with tempfile.TemporaryDirectory() as room:
        folder = Path(shutil.copytree(source, Path(room, "models")))
        how = KINDS[kind](folder, draw)
        if not how:
            return 0, Counter(), ""
        outcomes, problem = _scored(folder, cache)
    if problem:
        problem = f"{kind} {seed}, {source.parent.name}, {'; '.join(how)}: {problem}"
    return len(how), outcomes, problem


def _scored(folder: Path, cache: str) -> tuple[Counter, str]:
    """The outcome of each model of a folder, and what is wrong, or nothing."""
    try:
        results = toporank.score(folder, cache=cache)
        tables = results.models, results.targets, results.interfaces
    except TopoRankError as error:
        lines = len(str(error).splitlines())
        return Counter([type(error).__name__]), "several lines" if lines > 1 else ""
    except Exception:  # noqa: BLE001 -- each is what this looks for
        return Counter(["uncaught"]), traceback.format_exc()
    unexpected = [note for note in results.notes if "unexpected" in note]
    if unexpected:
        return Counter(["uncaught"]), unexpected[0]
    return Counter(tables[0]["status"]), _lost(folder, results)


def _lost(folder: Path, results: toporank.Results) -> str:
    """Say which models have no row though no sentence says that they are not read."""
    models = results.models
    paths = {str(Path(path).resolve()) for path in models["path"] if path}
    others = [file for file in _structures(folder) if str(file.resolve()) not in paths]
    # a model that is refused, such as a state on the way, has a row without a path
    n_explained = int((models["path"] == "").sum())
    for note in results.notes:
        match = NOT_READ.match(note)
        n_explained += int(match[1]) if match else 0
    if len(others) <= n_explained:
        return ""
    return f"no row for {', '.join(sorted(file.name for file in others)[:3])}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    for kind in KINDS:
        parser.add_argument(
            f"--{kind.replace('_', '-')}", type=int, default=0, dest=f"n_{kind}"
        )
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    choices = parser.parse_args()
    logging.disable(logging.CRITICAL)
    sources = []
    for folder in choices.folders:
        sources += sorted(folder.glob("*/input")) or [folder]
    sources = [source for source in sources if _structures(source)]
    failed = 0
    with tempfile.TemporaryDirectory() as cache:
        for kind in KINDS:
            outcomes: Counter[str] = Counter()
            n = getattr(choices, f"n_{kind}")
            damaged, seed = 0, choices.first
            while damaged < n:
                source = sources[seed % len(sources)]
                n_damaged, of_seed, problem = attempt(source, kind, seed, cache)
                damaged += n_damaged
                outcomes += of_seed
                failed += bool(problem)
                seed += 1
                if problem:
                    print(problem, flush=True)
                if seed % 50 == 0 or damaged >= n:
                    print(f"{damaged} {kind}: {dict(outcomes)}", flush=True)
    raise SystemExit(f"{failed} failed" if failed else 0)


if __name__ == "__main__":
    main()
