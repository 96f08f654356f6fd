"""`toporank`, or `python -m toporank`: everything a user types.

score FOLDER         the decoys of a folder, scored and ranked
train, label         a scorer of your own, and labels from natives
compare A B          two scored folders, target by target
figure ANSWER        pictures for slides, of what `score` wrote
doctor               checks the installation
config               every configuration key, as Markdown (the source of config/README.md)
compile              compiles what is compiled, once after installing
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from toporank import __version__
from toporank.app.commands import compare, doctor, figure, score, train_and_label
from toporank.app.commands.running import running_arguments
from toporank.app.config import Config
from toporank.errors import TopoRankError
from toporank.features.registry import DEFAULT_MODULES, choose, modules

CONFIG_INTRODUCTION = """\
# Configuration

`config/config.yaml` is the embedded example; `config/study.yaml` is the original study. Give your own with
`--configfile FILE`, or put a `config/config.yaml` into your working directory: it is used instead
of the example. Unknown keys are errors. Relative paths are looked up in the working directory and then in
the repository.

The tables list every key; they are generated from the classes that check the configuration
(`python -m toporank config > config/README.md`), and a test checks that they agree.
"""


def main(arguments: list[str] | None = None) -> int:
    prog = "toporank" if Path(sys.argv[0]).name == "toporank" else "python -m toporank"
    parser = argparse.ArgumentParser(
        prog=prog, description="Rank the decoys of protein complexes by predicted DockQ."
    )
    parser.add_argument("--version", action="version", version=f"toporank {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    running = running_arguments()
    score.add(commands, running)
    train_and_label.add(commands, running)
    compare.add(commands)
    figure.add(commands)
    doctor.add(commands)
    commands.add_parser("config", help="every configuration key, as Markdown")
    commands.add_parser("compile", help="compile all numba code, once after installing")
    args = parser.parse_args(arguments)
    answers = {"config": lambda _: config_markdown(), "compile": _compile}
    try:
        if "run" in args:
            return args.run(args)
        print(answers[args.command](args), end="")
    except (TopoRankError, OSError) as error:
        sys.exit(str(error))
    return 0


def _compile(_: argparse.Namespace) -> str:
    """Name each part while it compiles; code that is already compiled is only loaded."""
    from toporank.app import installation  # imports torch and numba

    begin = before = time.monotonic()
    print("Compiling: about 40 s, once. Later runs use what is compiled now.", flush=True)
    for part in installation.compile_everything():
        print(f"  {part}: {time.monotonic() - before:.1f} s", flush=True)
        before = time.monotonic()
    folders = "".join(f"  {folder}\n" for folder in installation.cache_folders())
    return f"Compiled in {time.monotonic() - begin:.0f} s. Kept in\n{folders}"


def config_markdown() -> str:
    """The text of config/README.md."""
    parts = [CONFIG_INTRODUCTION]
    for path, section in _sections(Config, ""):
        parts += [
            f"\n## {path or 'Top level'}\n",
            section.__doc__.split("\n\n")[0].strip() + "\n",
            *_table(section),
        ]
    parts.append(
        "\n# Parameters of the feature modules\n\nThe default of each stage is marked with a star."
    )
    for module in modules().values():
        mark = " *" if module.id in DEFAULT_MODULES.values() else ""
        parts += [
            f"\n## {module.id}{mark}\n",
            module.summary[0].upper() + module.summary[1:] + ".\n",
        ]
        columns = choose(module.stage, {"module": module.id}).columns
        parts += [*_table(module.parameters), "", f"{len(columns)} columns: {', '.join(columns)}"]
    return "\n".join(parts) + "\n"


def _sections(model: type[BaseModel], path: str) -> list[tuple[str, type[BaseModel]]]:
    """A model and those inside it, with the key path of each; `[]` stands for the entries of a
    list.
    """
    found = [(path, model)]
    for name, field in model.model_fields.items():
        inner = [a for a in (field.annotation, *get_args(field.annotation)) if _is_model(a)]
        brackets = "[]" if inner and inner[0] is not field.annotation else ""
        found += [
            each for a in inner for each in _sections(a, f"{path}.{name}{brackets}".lstrip("."))
        ]
    return found


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _table(model: type[BaseModel]) -> list[str]:
    """Markdown table of the keys of a model."""
    rows = [
        f"| `{key}` | {_default(field)} | {_range(field)} | {_unit(field)} | {field.description} |"
        for key, field in model.model_fields.items()
    ]
    return ["| key | default | range | unit | meaning |", "| --- | --- | --- | --- | --- |", *rows]


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if isinstance(value, BaseModel) or (
        isinstance(value, list) and value and isinstance(value[0], BaseModel)
    ):
        return "see below"
    if isinstance(value, tuple):
        value = list(value)
    return {None: "–"}.get(value if not isinstance(value, list | dict) else 0, f"`{value}`")


def _range(field: FieldInfo) -> str:
    """The allowed values, or the bounds of a number; empty where there are none."""
    words = ", ".join(f"`{choice}`" for choice in _literals(field.annotation) if choice is not None)
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    limits = [*field.metadata, *(m for part in get_args(field.annotation) for m in _limits(part))]
    bounds = " and ".join(
        f"{s} {getattr(m, name)}" for m in limits for name, s in signs.items() if hasattr(m, name)
    )
    return " or ".join(filter(None, (bounds, words)))


def _limits(annotation: Any) -> list[Any]:
    """The bounds on numbers in one part of a union."""
    return [
        m
        for given in getattr(annotation, "__metadata__", ())
        for m in getattr(given, "metadata", [])
    ]


def _literals(annotation: Any) -> list[Any]:
    """The values of a Literal, also inside a union."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [word for part in get_args(annotation) for word in _literals(part)]


def _unit(field: FieldInfo) -> str:
    return (field.json_schema_extra or {}).get("unit", "")


if __name__ == "__main__":
    sys.exit(main())
