"""OpenFold3."""

from __future__ import annotations

import re

from toporank.programs.formats import atom_plddt, scores_of_json, values_of
from toporank.programs.program import (
    PredictorOutput,
    Program,
    SideFileNames,
    SideFiles,
)

SCORES = ("{job}_confidences_aggregated.json",)
PAE = ("{job}_confidences.json", "{job}_confidences.npz")


def pae(files: SideFiles, output: PredictorOutput) -> None:
    """Read PAE, which most runs do not write."""
    output.put_pae(values_of(files.pae), "pae")


OPENFOLD3 = Program(
    name="OpenFold3",
    model=re.compile(r"(?:.*/)?seed_\d+/[^/]+_seed_\d+_sample_\d+_model"),
    files=(
        SideFileNames(
            model=re.compile(r"(?P<job>.+_seed_\d+_sample_\d+)_model"),
            scores=SCORES,
            pae=PAE,
        ),
        SideFileNames(
            model=re.compile(r"(?P<job>.+)_model"),
            scores=SCORES,
            pae=PAE,
            needs_scores=True,
        ),
    ),
    readers=(
        scores_of_json("sample_ranking_score", "chain_pair_iptm"),
        pae,
        atom_plddt("plddt"),
    ),
    called="openfold",
    samples=r"seed_\d+",
    unused=r"(?:.*[_.-])?inference_query_set\.json",
)
