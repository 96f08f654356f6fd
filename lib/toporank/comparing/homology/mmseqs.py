"""Chains aligned by MMseqs2 (Steinegger & Söding 2017), which finds homologues that share few k-mers."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from toporank.errors import ConfigError

PROGRAM = "mmseqs"
IDENTITY, COVERED = 0.3, 0.8
"""Chains are alike from these shares: equal residues in an alignment, and residues of the shorter chain in it."""


def check_installed() -> None:
    """Raise ConfigError with the remedy when MMseqs2 is not on the PATH."""
    if shutil.which(PROGRAM) is None:
        remedy = "apt-get install mmseqs2, conda install -c bioconda mmseqs2, or set it to kmers"
        raise ConfigError(f"{PROGRAM} is not on the PATH", where="training.similarity", remedy=remedy)


def aligned(sequences: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of different chains that are alike, by index. Raises ConfigError when MMseqs2 is not there or fails."""
    check_installed()
    if len(sequences) < 2:  # MMseqs2 would call that an error
        return []
    with tempfile.TemporaryDirectory() as folder:
        chains, hits = Path(folder, "chains.fasta"), Path(folder, "hits.tsv")
        chains.write_text("".join(f">{i}\n{sequence}\n" for i, sequence in enumerate(sequences)), encoding="ascii")
        options = f"-k 5 -s 7.5 --max-seqs {max(1, len(sequences))} --min-seq-id {IDENTITY} --threads 1 -v 1"
        command = [PROGRAM, "easy-search", chains, chains, hits, Path(folder, "tmp"), *options.split()]
        columns = ["--format-output", "query,target,alnlen"]
        done = subprocess.run([*command, *columns], capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stdout + done.stderr).strip().splitlines() or ["nothing"]
            raise ConfigError(f"{PROGRAM} fails and says: {said[-1]}", where="training.similarity", remedy="set kmers")
        rows = [map(int, line.split("\t")) for line in hits.read_text(encoding="ascii").splitlines()]
    return [(a, b) for a, b, n in rows if a != b and n >= COVERED * min(len(sequences[a]), len(sequences[b]))]
