"""`toporank`, or `python -m toporank`: everything a user types.

score FOLDER         the decoys of a folder, scored and ranked
train, label, report the same for a configuration
compare A B          two scored folders, target by target
figure ANSWER        pictures for slides, of what `score` wrote
doctor               checks the installation
features list        all feature modules
features show ID     one module with its parameters and columns, or what a preset stands for
config               every configuration key, as Markdown (the source of config/README.md)
compile              compiles what is compiled, once after installing
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from toporank import __version__
from toporank.app.commands import compare, doctor, figure, score, study
from toporank.app.commands.running import running_arguments
from toporank.app.config import Config
from toporank.errors import ConfigError, TopoRankError
from toporank.features.presets import PRESETS
from toporank.features.registry import DEFAULT_MODULES, Module, choose, modules
from toporank.settings import did_you_mean

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
    parser = argparse.ArgumentParser(prog=prog, description="Rank the decoys of protein complexes by predicted DockQ.")
    parser.add_argument("--version", action="version", version=f"toporank {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    running = running_arguments()
    score.add(commands, running)
    study.add(commands, running)
    compare.add(commands)
    figure.add(commands)
    doctor.add(commands)
    features = commands.add_parser("features", help="feature modules").add_subparsers(dest="what", required=True)
    features.add_parser("list", help="all feature modules")
    features.add_parser("show", help="one module or preset").add_argument("id", help="id or alias")
    commands.add_parser("config", help="every configuration key, as Markdown")
    commands.add_parser("compile", help="compile all numba code, once after installing")
    args = parser.parse_args(arguments)
    args.typed = f"{prog} {shlex.join(sys.argv[1:] if arguments is None else arguments)}"
    answers = {"config": lambda _: config_markdown(), "features": _features, "compile": _compile}
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


def _features(args: argparse.Namespace) -> str:
    return features_list() if args.what == "list" else features_show(args.id)


def features_list() -> str:
    """One line for each module; the default of each stage is marked."""
    rows = [("id", "alias", "columns", "summary")]
    for module in modules().values():
        mark = " *" if module.id in DEFAULT_MODULES.values() else ""
        columns = len(choose(module.stage, {"module": module.id}).columns)
        package = f" (package {module.package})" if module.package else ""
        rows.append((module.id + mark, module.alias, str(columns), module.summary + package))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", "* default of its stage", f"Presets: {', '.join(PRESETS)}", ""])


def features_show(name: str) -> str:
    """Modules of this id or alias with parameters and columns, or a preset as YAML. Raises ConfigError without any."""
    if name in PRESETS:
        return yaml.safe_dump({"features": PRESETS[name]}, sort_keys=False)
    found = [m for m in modules().values() if name in (m.id, m.alias)]
    if not found:
        raise ConfigError(f"no feature module {name!r}", remedy=did_you_mean(name, [*modules(), *PRESETS]))
    return "\n".join(map(_shown, found))


def _shown(module: Module) -> str:
    columns = choose(module.stage, {"module": module.id}).columns
    title, names = f"{module.id} ({module.alias}): {module.summary}", f"{len(columns)} columns: {', '.join(columns)}"
    return "\n".join([title, "", *_table(module.parameters), "", names, ""])


def config_markdown() -> str:
    """The text of config/README.md."""
    parts = [CONFIG_INTRODUCTION]
    for path, section in _sections(Config, ""):
        parts += [f"\n## {path or 'Top level'}\n", section.__doc__.split("\n\n")[0].strip() + "\n", *_table(section)]
    parts.append("\n# Parameters of the feature modules\n\nThe default of each stage is marked with a star.")
    for module in modules().values():
        mark = " *" if module.id in DEFAULT_MODULES.values() else ""
        parts += [f"\n## {module.id}{mark}\n", module.summary[0].upper() + module.summary[1:] + ".\n"]
        parts += _table(module.parameters)
    return "\n".join(parts) + "\n"


def _sections(model: type[BaseModel], path: str) -> list[tuple[str, type[BaseModel]]]:
    """A model and those inside it, with the key path of each; `[]` stands for the entries of a list."""
    found = [(path, model)]
    for name, field in model.model_fields.items():
        inner = [a for a in (field.annotation, *get_args(field.annotation)) if _is_model(a)]
        brackets = "[]" if inner and inner[0] is not field.annotation else ""
        found += [each for a in inner for each in _sections(a, f"{path}.{name}{brackets}".lstrip("."))]
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
    if isinstance(value, BaseModel) or (isinstance(value, list) and value and isinstance(value[0], BaseModel)):
        return "see below"
    if isinstance(value, tuple):
        value = list(value)
    return {None: "–"}.get(value if not isinstance(value, list | dict) else 0, f"`{value}`")


def _range(field: FieldInfo) -> str:
    """The allowed values, or the bounds of a number; empty where there are none."""
    words = ", ".join(f"`{choice}`" for choice in _literals(field.annotation) if choice is not None)
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    limits = [*field.metadata, *(m for part in get_args(field.annotation) for m in _limits(part))]
    bounds = " and ".join(f"{s} {getattr(m, name)}" for m in limits for name, s in signs.items() if hasattr(m, name))
    return " or ".join(filter(None, (bounds, words)))


def _limits(annotation: Any) -> list[Any]:
    """The bounds on numbers in one part of a union."""
    return [m for given in getattr(annotation, "__metadata__", ()) for m in getattr(given, "metadata", [])]


def _literals(annotation: Any) -> list[Any]:
    """The values of a Literal, also inside a union."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [word for part in get_args(annotation) for word in _literals(part)]


def _unit(field: FieldInfo) -> str:
    return (field.json_schema_extra or {}).get("unit", "")


if __name__ == "__main__":
    sys.exit(main())
