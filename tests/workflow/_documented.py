"""The shell commands of the documentation, as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

DOCUMENTS = (
    "README.md", "CONTRIBUTING.md", "docs/**/*.md", "config/README.md", "resources/example/README.md",
    "config/*.yaml", "slurm/*.yaml", "profiles/*/*.yaml",
)  # fmt: skip
PROGRAMS = (
    "apt-get", "bash", "cd", "conda", "cp", "curl", "export", "git", "make", "mamba", "mkdir", "pip", "pipx",
    "pre-commit", "pytest", "python", "python3", "python3.11", "sbatch", "snakemake", "source", "sudo", "toporank",
)  # fmt: skip
STARTS_LIKE_A_COMMAND = re.compile(
    rf"(?:[A-Z_]+=\S+ )*(?:\S*/bin/\S+|(?:{'|'.join(map(re.escape, PROGRAMS))}))(?= |$)"
)
INLINE = re.compile(
    r"(?<!`)`((?:\S*/bin/)?(?:snakemake|toporank|make|python3?|apt-get) [^`]+)`(?!`)"
)
COMMENT = re.compile(r"^ *# +(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """One command and the document it stands in, relative to the repository."""

    text: str
    document: str


def commands(repository: Path) -> list[Command]:
    """Every command of the documentation, each once, in the order of the documents."""
    found: dict[str, Command] = {}
    for pattern in DOCUMENTS:
        for path in sorted(repository.glob(pattern)):
            name = str(path.relative_to(repository))
            text = path.read_text(encoding="utf-8")
            lines = _in_markdown(text) if path.suffix == ".md" else _in_comments(text)
            for command in map(_bare, lines):
                found.setdefault(command, Command(command, name))
    return list(found.values())


def _in_comments(text: str) -> Iterator[str]:
    """Comments of YAML that start like a command."""
    return filter(STARTS_LIKE_A_COMMAND.match, COMMENT.findall(text))


def _in_markdown(text: str) -> Iterator[str]:
    """Commands in blocks and within the text; of the latter those with an argument."""
    yield from _code(text)
    yield from INLINE.findall(text)


def _code(text: str) -> Iterator[str]:
    """The lines of a Markdown document that are commands, or ought to be.

    Those are all lines of fenced blocks of a shell, of indented blocks that are no YAML, and of
    fenced blocks of no language, which may be the output of something, those that start like a
    command.
    """
    for language, lines in _blocks(text):
        joined = list(_joined(lines))
        if language is None and not _is_yaml(lines):
            yield from filter(None, map(str.strip, joined))
        elif language in ("sh", "bash"):
            yield from filter(None, joined)
        elif language == "":
            yield from filter(STARTS_LIKE_A_COMMAND.match, joined)


def _blocks(text: str) -> Iterator[tuple[str | None, list[str]]]:
    """Code blocks of Markdown: their language, "" where a fence names none, and None where they are
    indented.
    """
    for fenced in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield fenced[1], fenced[2].splitlines()
    plain = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for indented in re.finditer(
        r"(?:^|\n)[ ]*\n((?: {4}.*\n)(?:(?: {4}.*)?\n)*)", plain
    ):
        yield None, indented[1].splitlines()


def _is_yaml(lines: list[str]) -> bool:
    """Whether a block is a part of a configuration."""
    if STARTS_LIKE_A_COMMAND.match(lines[0].strip()):
        return False
    try:
        return isinstance(yaml.safe_load("\n".join(lines)), dict | list)
    except yaml.YAMLError:
        return False


def _joined(lines: list[str]) -> Iterator[str]:
    """Lines with those that end in a backslash joined to the next."""
    yield from re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()


def _bare(line: str) -> str:
    """A line without indentation and comment."""
    return re.sub(r"\s+# .*$", "", line).strip()
