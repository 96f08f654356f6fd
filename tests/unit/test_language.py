"""Habits that make sentences hard to read. docs/style.md says what to write instead; their number
may only fall.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
NEVER = re.compile(
    r"(?i:of which|from which on|are told|is told|of these none)\b|(?<!there )\bis none\b"
)
"""Relative clauses without an actor. `where there is none` is plain enough, and `is None` is
Python.
"""
ALLOWED: dict[str, int] = {}
"""How often these may stand in a file."""
HABITS = re.compile(
    r"\b(?:stands? for|speaks? (?:for|of)|held against|by (?:itself|themselves)|go(?:es)? (?:before|by)"
    r"|do(?:es)? without|(?:is|are) not there|what (?:\w+ ){1,3}says? of|(?:is|are) known of|what bec[oa]mes? of"
    r"|says? (?:nothing|little) of|last word|to speak of|from \d[\d.]* on)\b",
    re.IGNORECASE,
)
"""Verbs that need a second look, and clauses whose subject is missing."""
MOST = 40
"""Habits in all files together."""
SHOWN = 25
"""Files that a failure lists."""


def text_of(path: Path) -> str:
    """Return what people read of a file, in one line: all of a page, the strings and docstrings of
    a program.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        nodes = ast.walk(ast.parse(text))
        text = "\n".join(
            node.value
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
    return " ".join(text.split())


def phrases(pattern: re.Pattern) -> dict[str, list[str]]:
    """Return file → the phrases in it; only files with any. docs/style.md names them, so it does
    not count.
    """
    paths = [
        REPOSITORY / "README.md",
        REPOSITORY / "CONTRIBUTING.md",
        *REPOSITORY.glob("docs/**/*.md"),
    ]
    for suffix in ("py", "j2"):
        paths += REPOSITORY.glob(f"lib/**/*.{suffix}")
    matches = {
        str(path.relative_to(REPOSITORY)): pattern.findall(text_of(path))
        for path in paths
    }
    return {
        name: words
        for name, words in matches.items()
        if words and name != "docs/style.md"
    }


def test_hard_phrases_are_gone():
    more = {
        name: words
        for name, words in phrases(NEVER).items()
        if len(words) > ALLOWED.get(name, 0)
    }
    assert more == {}, "say it with a subject, a verb and an object: docs/style.md"


def test_habits_become_fewer():
    by_file = phrases(HABITS)
    total = sum(len(words) for words in by_file.values())
    worst = sorted(by_file.items(), key=lambda item: -len(item[1]))[:SHOWN]
    listed = "\n".join(f"{name}: {', '.join(words)}" for name, words in worst)
    assert total <= MOST, (
        f"{total} phrases, {MOST} are allowed: see docs/style.md\n{listed}"
    )


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (NEVER, "three, of\nwhich two"),
        (NEVER, "this is none of them"),
        (NEVER, "who Is told"),
        (HABITS, "it stands for both"),
        (HABITS, "what the scorer\nsays of it"),
        (HABITS, "nothing is known of them"),
    ],
)
def test_a_hard_phrase_is_seen(pattern, text):
    assert pattern.search(" ".join(text.split()))


@pytest.mark.parametrize(
    "text",
    ["where there is none", "is nonetheless", "told", "which of these", "it is known"],
)
def test_other_words_are_not(text):
    assert not NEVER.search(text)
    assert not HABITS.search(text)
