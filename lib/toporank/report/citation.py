"""What a text says about scores of TopoRank."""

from __future__ import annotations

import toporank
from toporank.ranking.scored import Scored
from toporank.scorer.prediction import LEVEL

CITED = (
    f"TopoRank {toporank.__version__}, the TopoRank authors, MIT licence",
    "Han et al., TopoQA, Briefings in Bioinformatics 26(2), 2025, doi:10.1093/bib/bbaf083",
)
"""As CITATION.cff has it: the program, and the article whose method it implements."""


def program(scored: Scored) -> str:
    """Return the program with its version and the digest of the scorer, where that is known."""
    digest = scored.record.scorer[:16] if scored.record else ""
    scorer = f" (scorer {digest})" if digest else ""
    return f"TopoRank {toporank.__version__}{scorer}"


def methods(scored: Scored) -> str:
    """Return a paragraph for the methods of a paper."""
    networks = ""
    if scored.scorer and scored.scorer.mean:
        networks = f" the mean of {len(scored.scorer.members)} graph networks over"
    record = scored.record
    parts = [f"{networks} topological features of their interfaces"]
    if record is None or record.use_confidence:
        parts.append("the confidence of the predictor")
    parts.append("the agreement between the models of a complex")
    evidence = f"{', '.join(parts[:-1])} and {parts[-1]}"
    return (
        f"Models were ranked by the DockQ that {program(scored)} [1] expects. It rests on"
        f"{evidence}; the networks follow TopoQA [2]. Intervals hold the DockQ of "
        f"{100 * LEVEL:.0f} % of such models; a model is acceptable from a DockQ of 0.23. "
        f"[1] {CITED[0]}. [2] {CITED[1]}."
    )
