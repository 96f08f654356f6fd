"""What it is worth to leave disordered residues out of predicted models: scores with and without them against DockQ.

    PYTHONPATH=lib python benchmarks/bench_disorder.py FOLDER docs/scorer/predictions.csv.gz

FOLDER is that of a group of `scorer_decoys.py`, such as `bm55-af2-boltz`. Only targets count that have a model with a
disordered residue at its interface. `scorer` is the scorer that ships, which has learned from these models as they are;
`network` is its network that never saw the cluster of the target, by the folds in the predictions.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import toporank
from toporank import layout
from toporank.comparing.contacts import interface_residues
from toporank.inputs.confidence.decoy import Asked
from toporank.inputs.confidence.job import masks
from toporank.layout import repository
from toporank.structures.masking import masked_places
from toporank.structures.partners import parse_partners
from toporank.structures.read import read_complex

DIFFER = 0.1
"""Models of a target differ by this or more in DockQ, or their order says nothing."""
DRAWS = 2000
MEASURES = ("squared error", "ranking loss", "Spearman")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("predictions", type=Path, help="has the fold and the cluster of each target")
    parser.add_argument("--cache", type=Path, help="keeps what is computed")
    args = parser.parse_args()
    labels = pd.read_csv(args.folder / "labels.csv")
    known = pd.read_csv(args.predictions).drop_duplicates("target").set_index("target")
    targets = [t for t in sorted(set(labels["Target"])) if t in known.index and _concerned(args.folder, t, labels)]
    rows = pd.concat([_scores(args.folder, t, labels, int(known.loc[t, "fold"]), args.cache) for t in targets])
    rows["cluster"] = rows["target"].map(known["cluster"])
    print_differences(rows, len(targets))


def print_differences(rows: pd.DataFrame, n_targets: int) -> None:
    """Print each measure, the mean over targets, as the models are and masked."""
    print(f"{len(rows)} models of {n_targets} targets, {int((rows['n_masked'] > 0).sum())} with disordered residues")
    for name in ("network", "scorer"):
        both = rows.dropna(subset=[name, f"{name}, masked"])
        plain, masked = _by_target(both, name), _by_target(both, f"{name}, masked")
        for measure in MEASURES:
            low, high = _interval(masked[measure] - plain[measure], plain["cluster"])
            means = f"{plain[measure].mean():.4f} as it is, {masked[measure].mean():.4f} masked"
            print(f"{name}: {measure}: {means} (difference {low:.4f} to {high:.4f})")


def _concerned(folder: Path, target: str, labels: pd.DataFrame) -> bool:
    """Whether a model of a target has a disordered residue at its interface."""
    partners = labels[labels["Target"] == target].set_index("Model")["Partners"]
    for path in sorted((folder / "decoys" / target).iterdir()):
        (text,) = masks([Asked(target, path.stem, path)])
        if text and _at_interface(path, masked_places(text), partners[path.stem]):
            return True
    return False


def _at_interface(path: Path, places: np.ndarray, partners: str) -> bool:
    complex_ = read_complex(path).with_partners(parse_partners(partners))
    return bool(interface_residues(complex_)[places].any())


def _scores(folder: Path, target: str, labels: pd.DataFrame, fold: int, cache: Path | None) -> pd.DataFrame:
    """A row for each model of a target: DockQ, and the scores with and without its disordered residues."""
    files = sorted((folder / "decoys" / target).iterdir())
    (network,) = (repository() / layout.SHIPPED_SCORER / "ensemble").glob(f"fold{fold}_*.ckpt")
    rows = labels[labels["Target"] == target]
    given = {"partners": rows["Partners"].mode()[0], "targets": "folder", "cache": cache}
    parts = []
    for name, scorer in (("network", network), ("scorer", None)):
        table = toporank.score(files, scorer=scorer, mask_disorder=True, **given)
        if "n_masked" not in table:
            table = table.assign(n_masked=0, pred_unmasked=table["pred_dockq"])
        names = {"pred_dockq": f"{name}, masked", "pred_unmasked": name}
        parts.append(table.set_index("decoy")[["pred_dockq", "pred_unmasked", "n_masked"]].rename(columns=names))
    dockq = rows.set_index("Model")["DockQ"]
    return pd.concat([parts[0].drop(columns="n_masked"), parts[1]], axis=1).assign(target=target, dockq=dockq)


def _by_target(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The measures of each target; order is NaN where its models are alike."""
    found = []
    for _, group in rows.groupby("target"):
        error = float(((group[column] - group["dockq"]) ** 2).mean())
        loss = order = np.nan
        if np.ptp(group["dockq"]) >= DIFFER:
            loss = group["dockq"].max() - group["dockq"].iloc[int(group[column].argmax())]
            order = group[column].corr(group["dockq"], method="spearman")
        found.append((error, loss, order, group["cluster"].iloc[0]))
    return pd.DataFrame(found, columns=[*MEASURES, "cluster"])


def _interval(differences: pd.Series, clusters: pd.Series) -> tuple[float, float]:
    """95 % interval of the mean over targets, by drawing clusters."""
    draw, known = np.random.default_rng(0), differences.notna()
    members = [differences[known & (clusters == cluster)].to_numpy() for cluster in clusters[known].unique()]
    picks = (draw.integers(len(members), size=len(members)) for _ in range(DRAWS))
    means = [np.concatenate([members[i] for i in pick]).mean() for pick in picks]
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


if __name__ == "__main__":
    main()
