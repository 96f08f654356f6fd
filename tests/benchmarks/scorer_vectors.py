#!/usr/bin/env python3
"""Where a scorer sees the decoys it learned from: a sample of them for the map on its pages.

    PYTHONPATH=lib python tests/benchmarks/scorer_vectors.py STUDY --scorer resources/scorer

Writes training_vectors.parquet beside the checkpoint of a scorer. STUDY is the folder it was trained in; of each of its
data sets as many labelled decoys are drawn as its share, at random, the same ones every time. To be run again whenever
the checkpoint changes: a page does not use vectors of another one.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from toporank import layout
from toporank.graphs.pack import GraphStore
from toporank.model.weights import load_weights, predict_all
from toporank.scorer.embeddings import write_embeddings
from toporank.scorer.prediction import Score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("--scorer", type=Path, required=True, help="folder of the checkpoint; written")
    parser.add_argument("--decoys", type=int, default=600)
    args = parser.parse_args()
    checkpoint = args.scorer / Path(layout.SHIPPED_CHECKPOINT).name
    packs = sorted(args.study.glob(layout.PACK.format(dataset="*")))
    store = GraphStore.open(packs)
    labelled = np.flatnonzero(np.isfinite(store.dockq))
    chosen = np.sort(np.random.default_rng(0).permutation(labelled)[: args.decoys])
    sample = store.some(chosen)
    (found,) = predict_all([load_weights(checkpoint)[0]], sample)
    names = zip(sample.target.tolist(), sample.decoy.tolist(), strict=True)
    pooled = map(tuple, found.pooled.double().tolist())
    scores = [Score(*name, 0.0, None, pooled=vector) for name, vector in zip(names, pooled, strict=True)]
    path = args.scorer / layout.TRAINING_VECTORS
    write_embeddings(path, scores, checkpoint)
    print(f"{path}: {len(scores)} of {len(labelled)} decoys, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
