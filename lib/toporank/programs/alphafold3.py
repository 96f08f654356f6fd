"""AlphaFold 3, its server, and IntelliFold, which writes the same values."""

from __future__ import annotations

import re

from toporank.programs.formats import atom_plddt, pae_matrix, scores_of_json
from toporank.programs.program import Program, SideFileNames

READERS = (
    scores_of_json("ranking_score", "chain_pair_iptm"),
    pae_matrix("pae"),
    atom_plddt("atom_plddts"),
)

JOB = r"(fold_.+)_model_\d+\.cif(?:\.gz)?"

SERVER = Program(  # whose files are those of AlphaFold 3
    name="AlphaFold Server",
    model=re.compile(r"(?:.*/)?fold_[^/]+_model_\d+"),
    job=JOB,
    writes=JOB,
    unused=r"(?:.*[_.-])?job_request\.json",
)
ALPHAFOLD3 = Program(
    name="AlphaFold 3",
    model=re.compile(r"(?:.*/)?seed-\d+_sample-\d+/[^/]+"),
    files=(
        SideFileNames(
            model=re.compile(r"(?P<job>.*_)?model"),
            scores=("{job}summary_confidences.json",),
            pae=("{job}confidences.json",),
        ),
        SideFileNames(
            model=re.compile(r"(?P<job>.+)_model_(?P<n>\d+)"),
            scores=("{job}_summary_confidences_{n}.json",),
            pae=("{job}_full_data_{n}.json",),
        ),
    ),
    readers=READERS,
    called="alphafold|af",
    writes=r"seed-\d+.*",
    given="templates",
    samples=r"seed-\d+_sample-\d+",
    # all samples, each of which says so itself
    unused=r"(?:.*_)?ranking_scores\.csv|(?:.*[_.-])?data\.json",
)
INTELLIFOLD = Program(
    name="IntelliFold",
    model=re.compile(r"(?:.*/)?[^/]+[_-]seed-\d+[_-]sample-\d+"),
    files=(
        SideFileNames(
            model=re.compile(r".+[_-]seed-\d+[_-]sample-\d+"),
            scores=("{stem}_summary_confidences.json",),
            pae=("{stem}_confidences.json",),
        ),
    ),
    readers=READERS,
    called="intellifold",
)
