"""Labelled poses of HADDOCK3 from unbound partners, smaller complexes first.

    PYTHONPATH=lib python benchmarks/study/haddock.py dock HADDOCK3 FIFTH OUT [--pairs 40]
    PYTHONPATH=lib python benchmarks/study/haddock.py witnesses OUT WORK

HADDOCK3 is the program, FIFTH the folder of the fifth data release. Restraints are true, half true
(half of them kept, and as many moved to other residues) and by centre of mass in turn. OUT gets
`decoys/<id>/<step>_<n>.pdb`, `natives/<id>.pdb` and labels.csv, with HADDOCK's score and the part of
it that restraints give; a pair that is there is left as it is. A rigid-body pose of a small pair
takes 5 CPU seconds, a flexible one 30. `witnesses` adds the poses to docs/scorer/predictions.csv.gz
once `on_device.py build` and `on_device.py haddock OUT WORK` have made graphs: with what the
networks of the scorer say that had not seen their cluster, and HADDOCK's score without restraints.
Poses of other pairs that are in the table stay. No network has seen such a pose. CNS, which
HADDOCK3 runs, is free for non-profit use only, so that poses stay outside the repository.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from toporank.chains.complex_kinds import kind_of_complex
from toporank.comparing.homology.chain_tables import read_chains, sequences_of_chains
from toporank.comparing.native.label import Native, label
from toporank.files.packfile import PackedGraphs
from toporank.learning.inference import open_network, predict_all
from toporank.structures.read import read_complex

sys.path.insert(0, str(Path(__file__).parents[1]))
import transfer

RESTRAINTS = ("true", "half", "centre")
AIR = {"rigidbody": 0.01, "flexref": 0.1, "emref": 0.1}
"""Weight of the energy of restraints in the score of a step, by default."""
PARTNERS = (("A",), ("B",))
NETWORKS = Path("resources/scorer/ensemble")
KEYS = ["dataset", "target", "decoy"]
TEXT = dict.fromkeys([*KEYS, "group", "cluster"], str)
HADDOCK = "haddock"
SAME = 1e-4
"""DockQ within which two networks are the same."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(dest="step", required=True)
    docking = steps.add_parser("dock")
    docking.add_argument("haddock", type=Path)
    docking.add_argument("fifth", type=Path)
    docking.add_argument("out", type=Path)
    docking.add_argument("--pairs", type=int, default=40)
    docking.add_argument("--rigid", type=int, default=40)
    docking.add_argument("--flexible", type=int, default=4)
    judging = steps.add_parser("witnesses")
    judging.add_argument("out", type=Path)
    judging.add_argument("work", type=Path)
    args = parser.parse_args()
    dock(args) if args.step == "dock" else witnesses(args.out, args.work)


def dock(args: argparse.Namespace) -> None:
    table = pd.read_csv(args.fifth / "bm5-haddock.csv")
    table["size"] = table["n_res_receptor"] + table["n_res_ligand"]
    table = table.sort_values("size").head(args.pairs)
    inputs = args.out / "inputs"
    if not inputs.exists():
        with tarfile.open(args.fifth / "bm5-haddock.tar.xz") as archive:
            archive.extractall(inputs, filter="data")
    for number, pair in enumerate(table["id"]):
        done = args.out / f"pairs/{pair}.csv"
        if done.exists():
            continue
        kind = RESTRAINTS[number % len(RESTRAINTS)]
        (folder,) = inputs.rglob(f"{pair}/receptor_u.pdb")
        work = prepared(folder.parent, args.out / "runs" / pair, kind)
        write_steps(work, kind, args.rigid, args.flexible)
        run = subprocess.run([args.haddock.resolve(), "dock.toml"], cwd=work)
        if run.returncode:
            print(f"{pair}: HADDOCK3 ended with {run.returncode}", flush=True)
        rows = poses(work / "out", args.out, pair, folder.parent / "target.pdb")
        done.parent.mkdir(exist_ok=True)
        pd.DataFrame(rows).assign(restraints=kind).to_csv(done, index=False)
        shutil.rmtree(work)
        print(f"{pair}: {len(rows)} poses, restraints {kind}", flush=True)
    paths = sorted((args.out / "pairs").glob("*.csv"))
    parts = [pd.read_csv(path, dtype=str) for path in paths]
    pd.concat(parts).to_csv(args.out / "labels.csv", index=False)


def prepared(source: Path, work: Path, kind: str) -> Path:
    """A folder with the input of a run."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(source, work)
    if kind == "half":
        text = (work / "ambig.tbl").read_text()
        rng = np.random.default_rng(zlib.crc32(work.name.encode()))
        (work / "ambig.tbl").write_text(half_true(text, rng))
    return work


def half_true(text: str, rng: np.random.Generator) -> str:
    """Half of the restraints as they are, and as many whose residues are moved by 10 to 30."""
    blocks = re.split(r"(?m)^(?=assign)", text)[1:]
    rng.shuffle(blocks)
    kept = blocks[: len(blocks) // 2]
    moved = []
    for block in kept:
        shift = int(rng.integers(10, 30))
        moved.append(
            re.sub(r"resid\s+(\d+)", lambda m, s=shift: f"resid {int(m[1]) + s}", block)
        )
    return "".join([*kept, *moved])


def write_steps(work: Path, kind: str, rigid: int, flexible: int) -> None:
    """dock.toml of a run."""
    restraints = []
    if kind != "centre":
        restraints.append('ambig_fname = "ambig.tbl"')
    if (work / "bodies.tbl").exists():
        restraints.append('unambig_fname = "bodies.tbl"')
    if kind == "centre":
        restraints.append("cmrest = true")
    steps = [f"[rigidbody]\nsampling = {rigid}"]
    if flexible:
        steps += [f"[seletop]\nselect = {flexible}", "[flexref]", "[emref]"]
    lines = [
        'run_dir = "out"\nmode = "local"\nncores = 1\npostprocess = false',
        'molecules = ["receptor_u.pdb", "ligand_u.pdb"]',
        "[topoaa]",
    ]
    for step in steps:
        has_restraints = not step.startswith("[seletop]")
        if has_restraints:
            step += "\ntolerance = 99  # % of the poses that may fail"
        used = [
            line for line in restraints if "cmrest" not in line or "emref" not in step
        ]
        lines.append("\n".join([step, *(used if has_restraints else [])]))
    (work / "dock.toml").write_text("\n\n".join(lines) + "\n")


def poses(run: Path, out: Path, pair: str, target: Path) -> list[dict]:
    """Label the poses of all steps, and copy them."""
    (out / "natives").mkdir(parents=True, exist_ok=True)
    native_file = Path(shutil.copy(target, out / f"natives/{pair}.pdb"))
    native = Native(read_complex(native_file), PARTNERS)
    folder = out / "decoys" / pair
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for step, weight in AIR.items():
        for path in sorted(run.glob(f"*_{step}/{step}_[0-9]*.pdb*")):
            text = path.read_bytes()
            if path.suffix == ".gz":
                text = gzip.decompress(text)
            name = path.name.partition(".")[0]
            (folder / f"{name}.pdb").write_bytes(text)
            decoy = read_complex(folder / f"{name}.pdb").with_partners(PARTNERS)
            score, air = energies(path.parent, name)
            rows.append(
                {
                    "Target": pair,
                    "Model": name,
                    "DockQ": round(label(native, decoy).dockq, 4),
                    "Partners": "A:B",
                    "haddock": score,
                    "restraints_part": round(weight * air, 4),
                }
            )
    return rows


def energies(step: Path, name: str) -> tuple[float, float]:
    """The score of a pose, and its energy of restraints."""
    for each in json.loads((step / "io.json").read_text())["output"]:
        if str(each.get("file_name", "")).startswith(f"{name}."):
            return round(each["score"], 4), each["unw_energies"]["air"]
    return np.nan, np.nan


def witnesses(out: Path, work: Path) -> None:
    """Put the poses into the table of predictions, in place of those of the same pairs."""
    predictions = pd.read_csv(transfer.PREDICTIONS, dtype=TEXT)
    decoys = pd.read_csv(work / "decoys.csv", dtype=TEXT)
    decoys = decoys[decoys["dataset"] == HADDOCK].drop(columns=["cluster", "fold"])
    docked = pd.concat([pd.read_csv(p) for p in sorted((out / "pairs").glob("*.csv"))])
    docked["own_score"] = docked["haddock"] - docked["restraints_part"]
    docked = docked.rename(columns={"Target": "target", "Model": "decoy"})
    decoys = decoys.merge(docked[["target", "decoy", "own_score"]])
    others = predictions[predictions["dataset"] != HADDOCK]
    known = others.drop_duplicates("target")[["target", "cluster", "fold"]]
    decoys = decoys.merge(known, how="left", validate="many_to_one")
    sequences = sequences_of_chains(read_chains(work / HADDOCK / "chains.csv"))
    kinds = {
        target: kind_of_complex(chains.values()) for target, chains in sequences.items()
    }
    decoys["kind"] = decoys["target"].map(kinds)
    unseen = {"gatv2": "local", "contacts": "contacts"}
    for name, kind in unseen.items():
        found = by_fold(decoys, work, kind)
        fold = fold_of_targets(others, work, name, kind)
        place = decoys["target"].map(fold)
        decoys[name] = found.to_numpy()[np.arange(len(decoys)), place.astype(int)]
        for without in (f"{name}_without", f"{name}_one_without"):
            decoys[without] = decoys[name]
    is_new = (predictions["dataset"] == HADDOCK) & predictions["target"].isin(
        decoys["target"]
    )
    decoys = transfer.with_means(decoys)
    joined = pd.concat([predictions[~is_new], decoys], ignore_index=True)
    transfer.write(joined.sort_values(KEYS))
    print(decoys.groupby("target")[["dockq", "network"]].agg(["size", "max", "mean"]))


def by_fold(decoys: pd.DataFrame, work: Path, kind: str) -> pd.DataFrame:
    """DockQ by the network of each fold, a column for each; decoys of one data set."""
    store = PackedGraphs.open(
        [
            work / dataset / "graphs.safetensors"
            for dataset in decoys["dataset"].unique()
        ]
    )
    place = pd.DataFrame({"target": store.target, "decoy": store.decoy})
    place["place"] = range(len(place))
    chosen = decoys.merge(place, how="left", validate="one_to_one")["place"]
    of_folds = {}
    for path in sorted(NETWORKS.glob(f"fold*_{kind}_*.safetensors")):
        fold = int(path.name.removeprefix("fold").partition("_")[0])
        network, _ = open_network(path)
        found = predict_all([network], store.some(chosen.to_numpy()))[0]
        of_folds[fold] = found.score.astype(float)
    return pd.DataFrame(of_folds, index=decoys.index)


def fold_of_targets(
    predictions: pd.DataFrame, work: Path, name: str, kind: str
) -> dict[str, int]:
    """Target → fold of the network that has not seen its cluster.

    Networks of either kind have folds of their own. The one that was left out for a target is the
    one whose DockQ of its other models, of which WORK has graphs, is in the table of predictions.
    """
    built = pd.read_csv(work / "decoys.csv", dtype=TEXT)[KEYS]
    models = built[built["dataset"] != HADDOCK].merge(predictions[[*KEYS, name]])
    first = models.drop_duplicates(["target"])
    folds = {}
    for _, of_dataset in first.groupby("dataset"):
        error = by_fold(of_dataset, work, kind).sub(of_dataset[name], axis=0).abs()
        if error.min(axis=1).max() > SAME:
            raise SystemExit(f"{kind}: graphs in {work} are not those of the table")
        folds |= dict(zip(of_dataset["target"], error.idxmin(axis=1), strict=True))
    return folds


if __name__ == "__main__":
    main()
