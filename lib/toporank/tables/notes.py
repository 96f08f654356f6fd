"""Sentences for people, with a code by which programs know them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

BETWEEN = " | "
"""Between the sentences of a cell. No sentence has it, as some have "; "."""


class Code(StrEnum):
    """What a sentence is about."""

    PARTNERS = "partners"
    APART = "apart"
    VERDICT = "verdict"
    OUT_OF_DOMAIN = "out of domain"
    SIDE_CHAINS = "side chains"
    PREDICTOR_FILES = "files of the predictor"
    WITHOUT_CONFIDENCE = "without confidence"
    RIVAL = "rival"
    OTHER_FIRST = "other first"
    DOUBT = "doubt of the predictor"
    ONE_MODEL = "one model"
    JOINED = "joined"
    LOST = "without score"


class Note(NamedTuple):
    """A sentence.

    Attributes
    ----------
    code : what it is about
    text : as people read it
    """

    code: Code
    text: str


def cell(notes: Iterable[Note]) -> str:
    """Return notes as a cell of a table has them."""
    return BETWEEN.join(note.text for note in notes)
