"""One training run: from packed graphs (and parent weights) to the files every run leaves behind.

A run that was finished before is taken from the reuse store without importing torch, which takes seconds.
"""

from __future__ import annotations

import csv
import hashlib
import json
import logging
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from filelock import FileLock

from toporank.comparing.homology.chain_tables import compared, read_chains, read_splits
from toporank.comparing.homology.remembered import merged, remember
from toporank.errors import ConfigError
from toporank.features.registry import canonical
from toporank.files.atomic import link_or_copy, sha256, write_text
from toporank.files.packfile import PackedGraphs
from toporank.layout import RUN_FILES, RUNNERS_UP
from toporank.learning.checkpoint import MOST_KNOWN, read_description
from toporank.learning.provenance import training_code
from toporank.learning.run import KEPT, Best, Run
from toporank.learning.splits import (
    LEARNED,
    SPLITS,
    Sources,
    check_labels,
    check_local,
    check_splits,
    fingerprint,
    open_graphs,
    split_indices,
)

log = logging.getLogger(__name__)

CHECKSUMS = "checksums.json"


def train_run(
    run: Run,
    packs: list[Path],
    threads: int,
    output: Path,
    store: Path,
    *,
    validation: list[Path] | None = None,
    splits: Path | None = None,
    fold: int | None = None,
    chains: Iterable[Path] = (),
) -> dict[str, Any]:
    """Train one network and write `layout.RUN_FILES` and the second and third best checkpoints.

    The run is kept in the reuse store under a key of everything its result depends on: a run that was finished
    before is taken from there, an interrupted one goes on from its last epoch. Returns the summary.
    packs, validation (`packs` by default), splits, fold : as in `Sources`. threads : of all devices of a CPU together.
    splits also says which targets are one cluster, for runs in which clusters are balanced.
    chains : chains.csv of the training data sets; without them the checkpoint does not know what it was trained on.
    """
    sources = Sources(packs, packs if validation is None else validation, splits, fold)
    threads = max(1, threads // run.hardware.devices)
    graphs = open_graphs(*sources)
    check_splits(graphs)
    check_labels(graphs)
    if run.hyperparameters.local_weight:
        check_local(graphs)
    sizes = {split: len(split_indices(graphs, split)) for split in SPLITS}
    known = {"joined": graphs.joined, **_remembered(run, graphs, chains), **_clusters(run, graphs, splits)}
    training_set = {"fingerprint": fingerprint(graphs), **sizes, **known}
    kept = store / "runs" / _key(run, training_set)
    kept.mkdir(parents=True, exist_ok=True)
    with FileLock(kept / "lock"):  # the store may be shared
        if _is_finished(kept):
            log.info("finished before, taken from the reuse store")
        else:
            from toporank.learning.fit import fit_on_devices

            best, stopped = fit_on_devices(run, graphs, sources, threads, training_set, kept, output)
            _finish(run, kept, best, stopped)
    shutil.rmtree(output / RUNNERS_UP, ignore_errors=True)
    (output / RUNNERS_UP).mkdir(parents=True)
    for name in json.loads((kept / CHECKSUMS).read_text()):
        link_or_copy(kept / name, output / name)
    return json.loads((kept / "summary.json").read_text())


def _remembered(run: Run, graphs: PackedGraphs, tables: Iterable[Path]) -> dict[str, Any]:
    """The chains of the training targets and those of the parent, under `chains`; nothing when not all are known."""
    known = compared(row for table in tables for row in read_chains(table))
    learned = sorted(set(graphs.target[split_indices(graphs, LEARNED)]))
    if not set(learned) <= set(known):
        return {}
    record = remember({target: known[target] for target in learned})
    if run.parent:
        inherited = read_description(run.parent).get("training_set", {}).get("chains")
        record = merged(record, inherited) if inherited else None
    if record is None or max(map(len, record.values())) > MOST_KNOWN:
        log.warning(
            "the checkpoints cannot say what they were trained on: of the parent it is unknown, or it is too much"
        )
        return {}
    return {"chains": record}


def _clusters(run: Run, graphs: PackedGraphs, splits: Path | None) -> dict[str, Any]:
    """The cluster of each training target, under `clusters`, if they are balanced. Raises ConfigError when unknown."""
    if run.hyperparameters.sampling != "cluster_balanced":
        return {}
    known = {row.target: row.cluster for row in read_splits(splits)} if splits else {}
    learned = sorted(set(graphs.target[split_indices(graphs, LEARNED)]))
    if unknown := [target for target in learned if target not in known]:
        raise ConfigError(
            f"which chains are alike is not known of {len(unknown)} training targets, such as {unknown[0]}",
            where="sampling: cluster_balanced",
            remedy="give --splits with the splits.csv of the training data sets, or leave `sampling` out",
        )
    return {"clusters": {target: known[target] for target in learned}}


def _key(run: Run, training_set: dict[str, Any]) -> str:
    """Names everything the result depends on."""
    parent = sha256(run.parent) if run.parent else None
    identity = {**run.record(), "parent_sha256": parent, "training_set": training_set, "code": training_code()}
    return hashlib.sha256(canonical(identity).encode()).hexdigest()


def _is_finished(kept: Path) -> bool:
    """Whether all files of a run are there with the bytes they were finished with."""
    if not (kept / CHECKSUMS).exists():
        return False
    checksums = json.loads((kept / CHECKSUMS).read_text())
    if all((kept / name).exists() and sha256(kept / name) == checksum for name, checksum in checksums.items()):
        return True
    log.warning("the kept run is damaged and is trained again")
    for file in [path for path in kept.rglob("*") if path.is_file() and path.name != "lock"]:
        file.unlink()
    return False


def _rows(table: Path) -> list[dict[str, str]]:
    with open(table, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _finish(run: Run, kept: Path, best: Best, stopped: str) -> None:
    """Write checkpoints, config, summary and, last of all, the checksums that make the run a finished one."""
    summary = {
        "run": run.name,
        "seed": run.seed,
        "epochs": len(_rows(kept / "metrics.csv")),
        "stopped": stopped,
        "parent": run.record()["parent"],
    }
    files = list(RUN_FILES)
    for rule, epochs in best.items():
        names = [f"{rule}.ckpt", *(f"{RUNNERS_UP}/{rule}_{place}.ckpt" for place in range(2, KEPT + 1))]
        for name, epoch in zip(names, epochs, strict=False):
            link_or_copy(epoch, kept / name)
        files += names[1 : len(epochs)]
        description = read_description(kept / names[0])
        summary[rule] = {"epoch": description["epoch"], **description["metrics"]}
    write_text(kept / "config.yaml", yaml.safe_dump(run.record(), sort_keys=False))
    write_text(kept / "summary.json", json.dumps(summary, indent=1))
    write_text(kept / CHECKSUMS, json.dumps({name: sha256(kept / name) for name in files}))
    for file in kept.glob("*.epoch*.ckpt"):
        file.unlink()
