"""`toporank config`: every configuration key, as Markdown."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from toporank.app.config import Config
from toporank.features.registry import DEFAULT_MODULES, choose, modules

INTRODUCTION = """\
# Configuration

`config/config.yaml` is the embedded example; `config/study.yaml` is the original study. Give your
own with `--configfile FILE`, or put a `config/config.yaml` into your working directory: it is used
instead of the example. Unknown keys are errors. Relative paths are looked up in the working
directory and then in the repository.

The tables list every key; they are generated from the classes that check the configuration
(`python -m toporank config > config/README.md`), and a test checks that they agree.
"""
LIMITS = {
    "minimum": "≥",
    "exclusiveMinimum": ">",
    "maximum": "≤",
    "exclusiveMaximum": "<",
}
"""Limits of a number in a JSON schema, and their signs."""

Schema = dict[str, Any]
"""JSON schema of a section or a key, as pydantic makes it."""


def add(commands: Any) -> None:
    """The command; it has no arguments."""
    parser = commands.add_parser("config", help="every configuration key, as Markdown")
    parser.set_defaults(run=show)


def show(_: argparse.Namespace) -> int:
    """Print the text of config/README.md."""
    print(config_markdown(), end="")
    return 0


def config_markdown() -> str:
    """Return the text of config/README.md."""
    schema = Config.model_json_schema()
    lines = [INTRODUCTION, *_section("", schema, schema["$defs"])]
    lines.append("\n# Parameters of the feature modules\n")
    lines.append("The default of each stage is marked with a star.")
    for module in modules().values():
        mark = " *" if module.id in DEFAULT_MODULES.values() else ""
        summary = module.summary[0].upper() + module.summary[1:]
        columns = choose(module.stage, {"module": module.id}).columns
        lines.append(f"\n## {module.id}{mark}\n\n{summary}.\n")
        lines += _table(module.parameters.model_json_schema(), {})
        lines.append(f"\n{len(columns)} columns: {', '.join(columns)}")
    return "\n".join(lines) + "\n"


def _section(path: str, section: Schema, definitions: dict[str, Schema]) -> list[str]:
    """The text of a section and of those inside it; `[]` marks the entries of a list."""
    summary = section["description"].split("\n\n")[0]
    lines = [
        f"\n## {path or 'Top level'}\n\n{' '.join(summary.split())}\n",
        *_table(section, definitions),
    ]
    for name, key in section["properties"].items():
        for inner, brackets in ((key, ""), (key.get("items", {}), "[]")):
            if "$ref" in inner:
                definition = _definition(inner, definitions)
                inner_path = f"{path}.{name}{brackets}".lstrip(".")
                lines += _section(inner_path, definition, definitions)
    return lines


def _table(section: Schema, definitions: dict[str, Schema]) -> list[str]:
    """Markdown table of the keys of a section."""
    lines = [
        "| key | default | range | unit | meaning |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, key in section["properties"].items():
        # pydantic leaves it out where it is the section's
        description = key.get("description")
        if description is None:
            description = _definition(key, definitions)["description"]
        meaning = " ".join(description.split())
        cells = [f"`{name}`", _default(key), _range(key), key.get("unit", ""), meaning]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _definition(key: Schema, definitions: dict[str, Schema]) -> Schema:
    return definitions[key["$ref"].rpartition("/")[2]]


def _default(key: Schema) -> str:
    if "default" not in key:
        return "required"
    default = key["default"]
    if "$ref" in key or (default and "$ref" in key.get("items", {})):
        return "see below"
    return "–" if default is None else f"`{default}`"


def _range(key: Schema) -> str:
    """The bounds of a number, and the allowed values; empty where there are none."""
    bounds = []
    words = []
    for part in _alternatives(key):
        bounds += [
            f"{sign} {part[limit]}" for limit, sign in LIMITS.items() if limit in part
        ]
        words += [f"`{word}`" for word in part.get("enum", [])]
    return " or ".join(filter(None, (" and ".join(bounds), ", ".join(words))))


def _alternatives(key: Schema) -> Iterator[Schema]:
    """A key, the members of a union, and the entries of a list or dictionary."""
    yield key
    for part in [*key.get("anyOf", ()), key.get("items"), key.get("propertyNames")]:
        if part:
            yield from _alternatives(part)
