"""The output of `toporank score` that README.md and the pages of the predictors show, and the models it is of.

python tests/shown_scores.py FOLDER puts there what is printed today. FOLDER holds the files that `PREDICTORS` names.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
EXAMPLE = REPOSITORY / "resources/example/decoys/1PPE"
MULTIMER = "rank_001_alphafold2_multimer_v3_model_1_seed_000"
PREDICTORS = {
    "docs/colabfold.md": {
        f"homodimer_relaxed_{MULTIMER}.pdb": "colabfold_homodimer_relaxed_hydrogens.pdb.gz",
        f"pdl1_binder_unrelaxed_{MULTIMER}.pdb": f"colabfold_pdl1_binder_unrelaxed_{MULTIMER}.pdb.gz",
        f"pdl1_binder_scores_{MULTIMER}.json": f"colabfold_pdl1_binder_scores_{MULTIMER}.json.gz",
    },
    "docs/alphafold3.md": {
        "H1140/pred.model_idx_0.cif": "chai1_H1140_pred.model_idx_0.cif.gz",
        "H1140/scores.model_idx_0.npz": "chai1_H1140_scores.model_idx_0.npz.gz",
    },
    "docs/boltz.md": {
        "predictions/multichain/multichain_model_0.cif": "boltz_multichain_model_0.cif.gz",
        "predictions/pdl1_binder/pdl1_binder_model_0.cif": "boltz_pdl1_binder_model_0.cif.gz",
        "predictions/pdl1_binder/confidence_pdl1_binder_model_0.json": "boltz_confidence_pdl1_binder_model_0.json.gz",
    },
    "docs/haddock.md": {"1_rigidbody/rigidbody_1.pdb": "haddock3_protprot_complex_1.pdb.gz"},
}
"""Page → place of each file below the folder that is scored → name of the file, gzipped."""
README = {
    "README.md": {
        f"1PPE/{name.removesuffix('.gz')}": str(EXAMPLE / name)
        for name in ("far1.pdb.gz", "mid1.cif.gz", "mid2.pdb.gz", "near1.pdb.gz", "wrong1.pdb.gz")
    }
}
BLOCK = re.compile(r"(?<=^```text\n).+?^ranking: .+?(?=^```$)", re.MULTILINE | re.DOTALL)


def lay_out(page: str, folder: Path, models: Path = EXAMPLE) -> None:
    """Lay the models of a page into a folder as the predictor left them. models : where the files lie."""
    for place, name in (PREDICTORS | README)[page].items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.decompress((models / name).read_bytes()))


def block_of(page: str) -> str:
    """The output that a page shows; paths begin in the working directory."""
    (block,) = BLOCK.findall((REPOSITORY / page).read_text(encoding="utf-8"))
    return block


def as_shown(printed: str, home: Path) -> str:
    """What was printed in a working directory as pages show it: paths begin there, and slow runs are not told apart."""
    lines = printed.replace(f"{home}/", "").splitlines(keepends=True)
    return "".join(line for line in lines if "% done" not in line)


def main(models: Path) -> None:
    for page in PREDICTORS | README:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder).resolve()
            lay_out(page, home / "FOLDER", models)
            command = [sys.executable, "-m", "toporank", "score", "FOLDER"]
            ours = {**os.environ, "PYTHONPATH": str(REPOSITORY / "lib")}
            printed = subprocess.run(command, cwd=home, env=ours, check=True, stdout=subprocess.PIPE, text=True).stdout
        before, now = block_of(page), as_shown(printed, home)
        text = (REPOSITORY / page).read_text(encoding="utf-8")
        (REPOSITORY / page).write_text(text.replace(before, now), encoding="utf-8")
        print(f"{page}: {'as it was' if now == before else 'changed: read its sentences again'}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
