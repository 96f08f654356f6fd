"""scored_with.json: which scorer gave the scores of a data set, and how; what makes two runs
comparable.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import toporank
from toporank.errors import RecordError
from toporank.files.atomic import write_text
from toporank.scorer.scorer import Scorer


class ScoredWith(NamedTuple):
    """What gave the scores of a data set.

    version : of TopoRank. scorer : `Scorer.digest`. checkpoint : SHA-256 of the one that gives
    pooled vectors. rank_by, use_confidence : as the configuration has them.
    """

    version: str
    scorer: str
    checkpoint: str
    rank_by: str
    use_confidence: bool

    @classmethod
    def of(cls, scorer: Scorer, *, rank_by: str, use_confidence: bool) -> ScoredWith:
        """For scores that this version gives now."""
        made = toporank.__version__, scorer.digest, scorer.digests[scorer.checkpoint]
        return cls(*made, rank_by, use_confidence)


def write_record(path: Path | str, record: ScoredWith) -> None:
    """Write scored_with.json."""
    write_text(path, json.dumps(record._asdict(), indent=1) + "\n")


def read_record(path: Path | str) -> ScoredWith | None:
    """Read scored_with.json; None where there is none, as in a folder of an earlier version.

    Raises RecordError when it is something else.
    """
    try:
        entries = dict(json.loads(Path(path).read_text(encoding="utf-8")))
        return ScoredWith(
            **{name: value for name, value in entries.items() if name in ScoredWith._fields}
        )
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        remedy = "delete it and run `toporank score` again"
        raise RecordError("does not say what gave the scores", where=path, remedy=remedy) from error
