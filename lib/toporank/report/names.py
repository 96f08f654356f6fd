"""Names of models, shortened by what they have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"[^_.\-+ ]+")
ELLIPSIS = "…"


def shortened(names: Sequence[str], most: int = 40) -> list[str]:
    """Return the names without the words that all of them have at the same place.

    A number keeps the word before it. Names that then are longer lose their middle.

    Parameters
    ----------
    names : that differ from each other
    most : characters of a name

    Examples
    --------
    >>> shortened(["q_relaxed_rank_001_model_4", "q_relaxed_rank_002_model_1"])
    ['rank 001 model 4', 'rank 002 model 1']
    >>> shortened(["seed-1_sample-0_model", "seed-1_sample-1_model"])
    ['sample 0', 'sample 1']
    >>> shortened(["P1+Q2", "P3+Q4"]), shortened(["near1"])
    (['P1+Q2', 'P3+Q4'], ['near1'])
    """
    words = [_WORD.findall(name) for name in names]
    n_words = {len(of_name) for of_name in words}
    short = list(names)
    if len(names) > 1 and len(n_words) == 1 and n_words != {1}:
        kept = _telling(words)
        short = [_joined(of_name, kept) for of_name in words]
        if kept == [*range(len(words[0]))] or len(set(short)) < len(set(names)):
            short = list(names)
    return [_fitting(name, most) for name in short]


def _telling(words: Sequence[Sequence[str]]) -> list[int]:
    """The places of words that differ, and of a word that stands before a number that does."""
    places = set()
    for place in range(len(words[0])):
        different = {of_name[place] for of_name in words}
        if len(different) > 1:
            places.add(place)
            if place and all(word.isdecimal() for word in different):
                places.add(place - 1)
    return sorted(places)


def _joined(words: Sequence[str], places: Sequence[int]) -> str:
    return " ".join(words[place] for place in places)


def _fitting(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    half = (most - len(ELLIPSIS)) // 2
    return name[: most - half - len(ELLIPSIS)] + ELLIPSIS + name[-half:]
