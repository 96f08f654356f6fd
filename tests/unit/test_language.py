"""Phrases that are hard to read, by file: the counts may only fall. CONTRIBUTING.md says what to write instead."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PHRASES = re.compile(r"(?i:of which|from which on|are told|is told|of these none)\b|(?<!there )\bis none\b")
"""`where there is none` is plain enough, and `is None` is Python."""
ALLOWED = {"lib/toporank/report/page.html.j2": 1}
"""How often the phrases may stand in a file: Jinja spells Python's `is None` in small letters."""


def text_of(path: Path) -> str:
    """What people read of a file: all of a page, the strings of a program; in one line, since phrases may be broken."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        nodes = ast.walk(ast.parse(text))
        text = "\n".join(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return " ".join(text.split())


def counts() -> dict[str, int]:
    """Phrases by file; only files with any."""
    files = [REPOSITORY / "README.md", *REPOSITORY.glob("docs/*.md")]
    files += [path for suffix in ("py", "j2") for path in REPOSITORY.glob(f"lib/**/*.{suffix}")]
    found = {str(path.relative_to(REPOSITORY)): len(PHRASES.findall(text_of(path))) for path in files}
    return {name: n for name, n in found.items() if n}


def test_hard_phrases_become_fewer():
    more = {name: n for name, n in counts().items() if n > ALLOWED.get(name, 0)}
    assert more == {}, "say it with a subject, a verb and an object: CONTRIBUTING.md, Plain English"


@pytest.mark.parametrize(
    "text", ["three, of\nwhich two", "from which on it counts", "this is none of them", "they are told", "who Is told"]
)
def test_a_hard_phrase_is_seen(text):
    assert PHRASES.search(" ".join(text.split()))


@pytest.mark.parametrize("text", ["where there is none", "is nonetheless", "told", "which of these"])
def test_other_words_are_not(text):
    assert not PHRASES.search(text)
