"""Lays out the labelled decoys of which the scorer is trained, as `config/scorer.yaml` names them.

    python benchmarks/scorer_decoys.py FIRST SECOND FOURTH PERTURBED OUT

FIRST, SECOND and FOURTH are folders of data releases, PERTURBED what FIRST's `make_decoys.py` made.
OUT gets, for each group of decoys, `<group>/decoys/<target>/<decoy>.pdb`,
`<group>/natives/<target>.pdb` and `<group>/labels.csv`.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pandas as pd

LEFT_OUT = ("afm-rl", "foldbench", "membrane-zdock")
"""Groups of one target: the tables do not name the partners of the first, the second has five
models, and the poses of the third are among those of FOURTH.
"""
MEMBRANE = "membrane-zdock18"
NO_NATIVE = "4huq"
"""Its labels are its authors', since the native has other chains than the poses."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("first", "second", "fourth", "perturbed", "out"):
        parser.add_argument(name, type=Path)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    unpacked = args.out / "unpacked"
    unpack = [
        sys.executable,
        args.second / "structures.py",
        "unpack",
        args.second / "predicted.structures",
        unpacked,
    ]
    subprocess.run(unpack, check=True)
    with tarfile.open(args.first / "real_decoys.tar.gz") as archive:
        archive.extractall(unpacked, filter="data")
    with tarfile.open(args.fourth / f"{MEMBRANE}.tar.xz") as archive:
        archive.extractall(unpacked, filter="data")
    predicted = pd.read_csv(args.second / "predicted_labels.csv").assign(
        native="native"
    )
    predicted = predicted[~predicted["group"].isin(LEFT_OUT)]
    predicted["folder"] = [
        unpacked / group / target
        for group, target in predicted[["group", "target"]].values
    ]
    first = pd.read_csv(args.first / "labels.csv").assign(
        partners="A:B", native="native"
    )
    clusters = pd.read_csv(args.second / "first_sets_clusters.csv")
    first = first.merge(
        clusters[["set", "id"]].rename(columns={"set": "group", "id": "target"}),
        on="target",
    )
    roots = {"docked": unpacked / "real_decoys", "perturbed": args.perturbed}
    first["folder"] = [
        roots[group] / target for group, target in first[["group", "target"]].values
    ]
    for group, rows in pd.concat(
        [predicted, first, membrane(unpacked / MEMBRANE)], ignore_index=True
    ).groupby("group"):
        lay_out(rows, args.out / group)
        print(f"{group}: {len(rows)} decoys of {rows['target'].nunique()} targets")
    (args.out / f"membrane/natives/{NO_NATIVE}.pdb").unlink()
    shutil.rmtree(unpacked)


def membrane(folder: Path) -> pd.DataFrame:
    """The labels of the membrane poses, whose natives are put beside them."""
    table = pd.read_csv(folder / "labels.csv").rename(columns={"model": "decoy"})
    for target in table["target"].unique():
        shutil.copy(
            folder / f"natives/{target}.pdb", folder / f"models/{target}/native.pdb"
        )
    table["folder"] = [folder / "models" / target for target in table["target"]]
    return table.assign(group="membrane", native="native")


def lay_out(rows: pd.DataFrame, folder: Path) -> None:
    """Decoys, natives and labels of a group."""
    partners = []
    for row in rows.itertuples():
        decoys, natives = folder / "decoys" / row.target, folder / "natives"
        decoys.mkdir(parents=True, exist_ok=True)
        natives.mkdir(exist_ok=True)
        shutil.copy(row.folder / f"{row.decoy}.pdb", decoys)
        shutil.copy(row.folder / f"{row.native}.pdb", natives / f"{row.target}.pdb")
        partners.append(_partners(row.partners, decoys / f"{row.decoy}.pdb"))
    labels = {
        "Target": rows["target"],
        "Model": rows["decoy"],
        "DockQ": rows["dockq"],
        "Partners": partners,
    }
    pd.DataFrame({**labels, "group": rows["group"]}).to_csv(
        folder / "labels.csv", index=False
    )


def _partners(text: str, decoy: Path) -> str:
    """The partners with the chains that the decoy has."""
    there = {
        line[21] for line in decoy.read_text().splitlines() if line.startswith("ATOM")
    }
    return ":".join(
        "+".join(chain for chain in side if chain in there) for side in text.split(":")
    )


if __name__ == "__main__":
    main()
