"""The table of messages, `data/messages.yaml`: what was given, and what is said of it."""

from __future__ import annotations

import functools
from pathlib import Path

import yaml


@functools.cache
def _table() -> dict[str, list]:
    path = Path(__file__).parent / "data" / "messages.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def messages(section: str) -> list[tuple]:
    """The rows of a section, to parametrize a test."""
    return [tuple(row) for row in _table()[section]]
