"""ColabFold: one JSON file beside each model, all queries of a run in one folder."""

from __future__ import annotations

import re

from toporank.programs.formats import values_of
from toporank.programs.program import (
    PredictorOutput,
    Program,
    SideFileNames,
    SideFiles,
)

QUERY = r"(.+)_(?:un)?relaxed_(?:rank_\d+_|model_\d+_|(?:alphafold2|deepfold)_)"
"""How the name of a model begins, with its query."""


def read(files: SideFiles, output: PredictorOutput) -> None:
    """Read the one file that has it all.

    ColabFold ranks models of complexes by 0.8 ipTM + 0.2 pTM.
    """
    values = values_of(files.scores)
    output.put_numbers(values, ptm="ptm", iptm="iptm")
    if output.ptm is not None and output.iptm is not None:
        output.ranking_score = 0.8 * output.iptm + 0.2 * output.ptm
    output.put_plddt(values, files.scores, "plddt")
    output.put_pae(values, "pae")


COLABFOLD = Program(
    name="ColabFold",
    model=re.compile(rf"(?:.*/)?{QUERY}[^/]*"),
    files=(
        SideFileNames(
            model=re.compile(
                r"(?P<query>.+)_(?:un)?relaxed_"
                r"(?P<tag>(?:rank_\d+|model_\d+|alphafold2|deepfold).*)"
            ),
            scores=(
                "{query}_scores_{tag}.json",
                "{query}_unrelaxed_{tag}_scores.json",
                "{query}_relaxed_{tag}_scores.json",
            ),
        ),
    ),
    readers=(read,),
    called="colabfold",
    query=rf"{QUERY}(?s:.*)",
    writes=rf"{QUERY}.*",
    given=r"templates(_\d+)?|(?P<query>.+)_env",
    # `--save-recycles`
    recycle=rf"(?P<model>{QUERY}.*(?=\.r\d))\.r(?P<number>\d+)",
    same_values=r".+_predicted_aligned_error_v\d+\.json",
    named_alone=True,
    proteins_only=True,
)
