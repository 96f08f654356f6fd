"""Chai-1 and its server, which ranks its models and writes JSON."""

from __future__ import annotations

import re

from toporank.programs.formats import pae_matrix, scores_of_json, token_plddt
from toporank.programs.program import Program, SideFileNames

CHAI = Program(
    name="Chai-1",
    model=re.compile(r"(?:.*/)?pred\.(?:model_idx|rank)_\d+[^/]*"),
    files=(
        SideFileNames(
            model=re.compile(
                r"(?P<job>.*)pred\.(?P<tag>model_idx_\d+(?:\.rank_\d+)?|rank_\d+)"
            ),
            scores=("{job}scores.{tag}.npz", "{job}scores.{tag}.json"),
            pae=("{job}pae.{tag}.npz", "{job}pae.{tag}.npy"),
            plddt=("{job}plddt.{tag}.npz", "{job}plddt.{tag}.npy"),
        ),
    ),
    readers=(
        scores_of_json("aggregate_score", "per_chain_pair_iptm"),
        pae_matrix("pae"),
        token_plddt,
    ),
    called="chai",
    samples=r"trunk_\d+",
    named_alone=True,
    letters=True,
)
