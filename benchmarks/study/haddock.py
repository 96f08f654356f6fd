"""Labelled poses of HADDOCK3 from unbound partners, smaller complexes first.

    PYTHONPATH=lib python benchmarks/study/haddock.py dock HADDOCK3 FIFTH OUT [--pairs 40]
    PYTHONPATH=lib python benchmarks/study/haddock.py witnesses OUT WORK NETWORKS

HADDOCK3 is the program, FIFTH the folder of the fifth data release. Restraints are true, half true
(half of them kept, and as many moved to other residues) and by centre of mass in turn. OUT gets
`decoys/<id>/<step>_<n>.pdb`, `natives/<id>.pdb` and labels.csv, with HADDOCK's score and the part of
it that restraints give; a pair that is there is left as it is. A rigid-body pose of a small pair
takes 5 CPU seconds, a flexible one 30. `witnesses` adds the poses to docs/scorer/predictions.csv.gz
once `on_device.py haddock OUT WORK` has made their graphs: with what networks say that had not
seen their cluster (NETWORKS, of contacts, is what `on_device.py train` made), and HADDOCK's score without restraints. No network has seen such a pose. CNS, which HADDOCK3 runs, is free for non-profit use only, so
that poses stay outside the repository.
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
    judging.add_argument("networks", type=Path)
    args = parser.parse_args()
    dock(args) if args.step == "dock" else witnesses(args.out, args.work, args.networks)


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


def witnesses(out: Path, work: Path, networks: Path) -> None:
    """Put the poses into the table of predictions, in place of those that are there."""
    predictions = pd.read_csv(transfer.PREDICTIONS, dtype=TEXT)
    predictions = predictions[predictions["dataset"] != HADDOCK]
    decoys = pd.read_csv(work / "decoys.csv", dtype=TEXT)
    decoys = decoys[decoys["dataset"] == HADDOCK].drop(columns=["cluster", "fold"])
    docked = pd.concat([pd.read_csv(p) for p in sorted((out / "pairs").glob("*.csv"))])
    docked["own_score"] = docked["haddock"] - docked["restraints_part"]
    docked = docked.rename(columns={"Target": "target", "Model": "decoy"})
    decoys = decoys.merge(docked[["target", "decoy", "own_score"]])
    known = predictions.drop_duplicates("target")[["target", "cluster", "fold"]]
    decoys = decoys.merge(known, how="left")
    decoys["cluster"] = decoys["cluster"].fillna(decoys["target"])
    sequences = sequences_of_chains(read_chains(work / HADDOCK / "chains.csv"))
    kinds = {
        target: kind_of_complex(chains.values()) for target, chains in sequences.items()
    }
    decoys["kind"] = decoys["target"].map(kinds)
    decoys["gatv2"] = by_unseen(decoys, work)
    for name in ("gatv2_without", "gatv2_one_without"):
        decoys[name] = decoys["gatv2"]
    for name, pattern in (("", "*"), ("_without", "*"), ("_one_without", "*_222")):
        paths = (networks / "predictions").glob(f"contacts_haddock_{pattern}.csv")
        found = pd.concat([pd.read_csv(path, dtype=TEXT) for path in sorted(paths)])
        mean = found.groupby(KEYS)["network"].mean().rename(f"contacts{name}")
        decoys = decoys.merge(mean.reset_index(), on=KEYS, how="left")
    joined = pd.concat([predictions, decoys], ignore_index=True).sort_values(KEYS)
    transfer.write(transfer.with_means(joined))
    print(decoys.groupby("target")[["dockq", "gatv2"]].agg(["size", "max", "mean"]))


def by_unseen(decoys: pd.DataFrame, work: Path) -> pd.Series:
    """DockQ by the network of the fold of each decoy; by all where it is in none."""
    store = PackedGraphs.open([work / HADDOCK / "graphs.safetensors"])
    place = pd.DataFrame({"target": store.target, "decoy": store.decoy})
    place["place"] = range(len(place))
    chosen = decoys.merge(place, how="left")["place"]
    by_fold = {}
    for path in sorted(NETWORKS.glob("fold*_local_*.safetensors")):
        fold = int(path.name.removeprefix("fold").partition("_")[0])
        network, _ = open_network(path)
        found = predict_all([network], store.some(chosen.to_numpy()))[0]
        by_fold[fold] = found.score.astype(float)
    of_folds = pd.DataFrame(by_fold, index=decoys.index)
    predicted = of_folds.mean(axis=1)
    for fold, scores in of_folds.items():
        predicted = predicted.mask(decoys["fold"] == fold, scores)
    return predicted


if __name__ == "__main__":
    main()
