"""Lays out the natives of which the decoys of the scorer's training set are made.

    python benchmarks/scorer_natives.py FIRST SECOND OUT [--residues 650] [--a-cluster N]

FIRST and SECOND are the folders of both data releases. OUT gets `natives/<target>/native.pdb`,
files of unbound partners beside it, and `partners.csv`: what the keys `natives` and `partners` of
`sampling` name. No native has more than 650 residues, an interface of fewer than 40 pairs of CA
atoms, or chains that wrap around each other. With
--a-cluster, at most so many natives of a cluster are taken, first those whose unbound partners are
known.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd

RESIDUES, PAIRS, PAIRS_A_RESIDUE = 650, 40, 2.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--residues", type=int, default=RESIDUES, help="at most (default: %(default)s)"
    )
    parser.add_argument("--a-cluster", type=int, help="at most (default: all)")
    args = parser.parse_args()
    natives = args.out / "natives"
    natives.mkdir(parents=True, exist_ok=True)
    releases = [
        first_release(args.first, args.second, args.residues),
        second_release(args.second, args.residues),
    ]
    table = pd.concat(releases, ignore_index=True).sort_values(
        "unbound", ascending=False, kind="stable"
    )
    if args.a_cluster:
        table = table.groupby("cluster").head(args.a_cluster)
    table = table.sort_values("target")
    ids = [id_ for id_ in table["id"] if id_]
    unpacked = args.out / "unpacked"
    subprocess.run(
        [sys.executable, args.second / "structures.py", "unpack", args.second / "natives.structures", unpacked,
         "--only", *ids],
        check=True,
    )  # fmt: skip
    for target, id_ in zip(table["target"], table["id"], strict=True):
        if id_:
            copy_second(unpacked / id_, natives / target)
        else:
            copy_first(args.first / "natives", target, natives / target)
    shutil.rmtree(unpacked)
    table[["target", "partners"]].to_csv(args.out / "partners.csv", index=False)
    print(
        f"{len(table)} natives of {table['cluster'].nunique()} clusters, {table['unbound'].sum()} "
        "with unbound partners"
    )


def first_release(first: Path, second: Path, largest: int) -> pd.DataFrame:
    """Docking Benchmark complexes, chains A and B, each with its unbound partners."""
    clusters = (
        pd.read_csv(second / "first_sets_clusters.csv")
        .query("set == 'perturbed'")
        .set_index("id")["cluster"]
    )
    rows = []
    for path in sorted((first / "natives").glob("*_bound.pdb.gz")):
        target = path.name.removesuffix("_bound.pdb.gz")
        residues = sum(
            line.startswith("ATOM") and line[12:16] == " CA " for line in _lines(path)
        )
        if residues <= largest:
            known = {
                "partners": "A:B",
                "cluster": clusters[target],
                "unbound": True,
                "residues": residues,
            }
            rows.append({"target": target, "id": "", **known})
    if not rows:
        raise SystemExit(f"no natives/*_bound.pdb.gz of the first release in {first}")
    return pd.DataFrame(rows)


def second_release(folder: Path, largest: int) -> pd.DataFrame:
    table = pd.read_csv(folder / "natives.csv")
    table["residues"] = residues = table["n_res_receptor"] + table["n_res_ligand"]
    table = table[
        (residues <= largest)
        & (table["ca_pairs10"] >= PAIRS)
        & (table["pairs_per_res"] <= PAIRS_A_RESIDUE)
    ]
    partners = [
        ":".join("+".join(side) for side in text.split(":"))
        for text in table["partners"]
    ]
    unbound = table["has_unbound"].isin(["both", "receptor", "ligand"])
    return pd.DataFrame(
        {
            "target": table["id"],
            "id": table["id"],
            "partners": partners,
            "cluster": table["cluster"],
            "unbound": unbound,
            "residues": table["residues"],
        }
    )


def copy_second(source: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    shutil.copy(source / "bound.pdb", folder / "native.pdb")
    for path in source.glob("unbound_*.pdb"):
        shutil.copy(path, folder)


def copy_first(source: Path, target: str, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "native.pdb").write_bytes(
        gzip.decompress((source / f"{target}_bound.pdb.gz").read_bytes())
    )
    lines = _lines(source / f"{target}_unbound.pdb.gz")
    for name, chain in (("receptor", "A"), ("ligand", "B")):
        own = [line for line in lines if line.startswith("ATOM") and line[21] == chain]
        (folder / f"unbound_{name}.pdb").write_text("".join(own) + "END\n")


def _lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines(keepends=True)


if __name__ == "__main__":
    main()
