"""Chains aligned by MMseqs2 (Steinegger & Söding 2017).

It finds homologues that share few k-mers.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from toporank.errors import ConfigError

PROGRAM = "mmseqs"
IDENTITY, COVERED = 0.3, 0.8
"""Chains are alike from these shares: equal residues in an alignment, and residues of the shorter
chain in it.
"""


def check_installed() -> None:
    """Raise ConfigError with the remedy when MMseqs2 is not on the PATH."""
    if shutil.which(PROGRAM) is None:
        remedy = "apt-get install mmseqs2, conda install -c bioconda mmseqs2, or set it to kmers"
        raise ConfigError(
            f"{PROGRAM} is not on the PATH", where="training.similarity", remedy=remedy
        )


def aligned(sequences: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of different chains that are alike, by index.

    Raises ConfigError when MMseqs2 is not there or fails.
    """
    check_installed()
    if len(sequences) < 2:  # MMseqs2 would call that an error
        return []
    with tempfile.TemporaryDirectory() as folder:
        chains = Path(folder, "chains.fasta")
        hits = Path(folder, "hits.tsv")
        records = [f">{i}\n{sequence}\n" for i, sequence in enumerate(sequences)]
        chains.write_text("".join(records), encoding="ascii")
        options = (
            f"-k 5 -s 7.5 --max-seqs {len(sequences)} --min-seq-id "
            f"{IDENTITY} --threads 1 -v 1"
        )
        columns = "--format-output query,target,alnlen"
        command = [
            PROGRAM,
            "easy-search",
            chains,
            chains,
            hits,
            Path(folder, "tmp"),
            *options.split(),
            *columns.split(),
        ]
        done = subprocess.run(
            [*map(str, command)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            last_line = ((done.stdout + done.stderr).strip() or "nothing").splitlines()[
                -1
            ]
            what = f"{PROGRAM} fails and says: {last_line}"
            raise ConfigError(what, where="training.similarity", remedy="set kmers")
        pairs = []
        for line in hits.read_text(encoding="ascii").splitlines():
            query, target, length = map(int, line.split("\t"))
            shorter = min(len(sequences[query]), len(sequences[target]))
            if query != target and length >= COVERED * shorter:
                pairs.append((query, target))
        return pairs
