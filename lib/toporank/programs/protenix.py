"""Protenix."""

from __future__ import annotations

import re

from toporank.programs.formats import atom_plddt, pae_matrix, scores_of_json
from toporank.programs.program import Program, SideFileNames

PROTENIX = Program(
    name="Protenix",
    model=re.compile(r"(?:.*/)?seed_\d+/(?:predictions/)?[^/]+_sample_\d+"),
    files=(
        SideFileNames(
            model=re.compile(r"(?P<job>.+)_sample_(?P<n>\d+)"),
            scores=("{job}_summary_confidence_sample_{n}.json",),
            pae=("{job}_full_data_sample_{n}.json",),
        ),
    ),
    readers=(
        scores_of_json("ranking_score", "chain_pair_iptm"),
        pae_matrix("token_pair_pae"),
        atom_plddt("atom_plddt"),
    ),
    called="protenix",
    writes=r"seed_\d+.*",
    samples=r"seed_\d+",
)
