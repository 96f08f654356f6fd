"""Where the scorer and the predictor's own confidence disagree on which decoy is best."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from toporank.inputs.confidence.table import MEASURES, Confidence, of_copies, oriented
from toporank.ranking.ranked import RankedDecoy

OWN = ("ranking_score", "haddock_score")
"""What a predictor ranks its own models by; of no use between predictors."""
COMMON = ("iptm", "interface_plddt")
"""What can be compared between predictors, by and large."""


RANK = "rank"
"""The measure of predictors that say only in the names of their models which they prefer."""
_RANK_IN_NAME = re.compile(r"(?:^|[_.-])rank(?:ed)?[_-]?(\d+)(?=[_.#-]|$)")
_RELAXED = re.compile(r"_(un)?relaxed")


class Disagreement(NamedTuple):
    """A target on which the two disagree. measure : of `MEASURES`, or `RANK`; theirs, ours : the decoys preferred.

    place : of theirs in our ranking of the `n` decoys that have a score, from 1. Copies do not count.
    """

    target: str
    measure: str
    value: float
    theirs: RankedDecoy
    ours: RankedDecoy
    place: int
    n: int

    @property
    def preference(self) -> str:
        """Which decoy it is about and why: what a predictor ranks by is its preference, all else is a measure."""
        if self.measure == RANK:
            return f"the predictor prefers {self.theirs.decoy} (as its name says)"
        value = f"{self.value:.3g}"
        if self.measure in OWN:
            return f"the predictor prefers {self.theirs.decoy} ({MEASURES[self.measure]} {value})"
        return f"{self.theirs.decoy} has the highest {MEASURES[self.measure]} ({value})"

    def __str__(self) -> str:
        return (
            f"{self.preference}, which is number {self.place} of {self.n} here with predicted DockQ"
            f" {self.theirs.pred_dockq:.3f} ({self.theirs.pred_capri}); {self.ours.decoy} comes first with"
            f" {self.ours.pred_dockq:.3f} ({self.ours.pred_capri})"
        )


def disagreements(ranking: Iterable[RankedDecoy], confidence: Iterable[Confidence]) -> list[Disagreement]:
    """The targets on which the two disagree, in order of the ranking.

    They do when the decoy that the predictor prefers and the one ranked first differ in predicted CAPRI class, or the
    former is in the lower half of our ranking. Copies count once. What the predictor prefers is decided by its own
    ranking score or HADDOCK's or by the ranks in the names of its models, where all decoys of the target are of one
    predictor. Where it says nothing of the kind, the decoy with the highest ipTM counts, else the one with the highest
    interface pLDDT; a measure that two decoys do not have, or that is the same for all, decides nothing.
    """
    ranking = list(ranking)
    copies = {(row.target, row.decoy): row.duplicate_of for row in ranking if row.duplicate_of}
    known = {(row.target, row.decoy): row for row in of_copies(confidence, copies)}
    found = []
    for target, rows in groupby(ranking, key=attrgetter("target")):
        decoys = [row for row in rows if row.pred_dockq is not None and not row.duplicate_of]
        if said := _preferred(decoys, known):
            measure, values = said
            able = [row for row in decoys if row.decoy in values]
            theirs = max(able, key=lambda row: values[row.decoy])  # of equals the one that comes first here
            ours, place, n = decoys[0], decoys.index(theirs) + 1, len(decoys)
            if place > 1 and (theirs.pred_capri != ours.pred_capri or 2 * place > n + 1):
                value = abs(values[theirs.decoy]) if measure == RANK else getattr(known[target, theirs.decoy], measure)
                found.append(Disagreement(target, measure, value, theirs, ours, place, n))
    return found


def _preferred(
    decoys: list[RankedDecoy], known: Mapping[tuple[str, str], Confidence]
) -> tuple[str, dict[str, float]] | None:
    """The measure that decides for a target, and its values by decoy, higher is better."""
    said = [known[row.target, row.decoy] for row in decoys if (row.target, row.decoy) in known]
    one = len({row.predictor for row in said if row.predictor}) == 1
    for measure in (*OWN, RANK, *COMMON) if one else COMMON:
        if measure == RANK:
            values = _ranks([row.decoy for row in said])
        else:
            values = {row.decoy: value for row in said if (value := oriented(row, measure)) is not None}
        if len(set(values.values())) > 1:
            return measure, values
    return None


def _ranks(decoys: list[str]) -> dict[str, float]:
    """The ranks in the names of decoys, negative, so that higher is better; none where two models have the same rank.

    The relaxed and the unrelaxed model of a rank are one model.
    """
    ranks: dict[str, float] = {}
    model_of_rank: dict[int, str] = {}
    for decoy in decoys:
        if match := _RANK_IN_NAME.search(decoy):
            rank = int(match[1])
            model = _RELAXED.sub("", decoy)
            if model_of_rank.setdefault(rank, model) != model:
                return {}
            ranks[decoy] = -float(rank)
    return ranks
