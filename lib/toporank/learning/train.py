"""One training run: from packed graphs (and parent weights) to the files every run leaves behind.

A run that was finished before is taken from the reuse store without importing torch, which takes
seconds.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from filelock import FileLock

from toporank.comparing.homology.chain_tables import (
    ChainRow,
    compared,
    read_chains,
    read_splits,
)
from toporank.comparing.homology.remembered import merged, remember
from toporank.errors import ConfigError
from toporank.features.registry import canonical
from toporank.files.atomic import link_or_copy, sha256, write_text
from toporank.files.packfile import PackedGraphs
from toporank.layout import RUN_FILES, RUNNERS_UP
from toporank.learning.checkpoint import MOST_KNOWN, read_description
from toporank.learning.hardware import LOADING
from toporank.learning.provenance import training_code
from toporank.learning.run import N_BEST, PROFILE, Run
from toporank.learning.splits import (
    SPLITS,
    check_trainable,
    fingerprint,
    open_graphs,
    split_indices,
)
from toporank.lookup import only
from toporank.workers import keep_freed_memory

log = logging.getLogger(__name__)

CHECKSUMS = "checksums.json"


class TrainingGraphs(NamedTuple):
    """The packs that a run learns from, and what says how they are split.

    packs : their `train` splits are learned from. validation : packs whose `val` splits judge;
    `packs` where it is None. splits, fold : as in `splits.open_graphs`; `splits` also says which
    targets are one cluster. chains : chains.csv of the training data sets; without them the
    checkpoint does not know what it was trained on.
    """

    packs: list[Path]
    validation: list[Path] | None = None
    splits: Path | None = None
    fold: int | None = None
    chains: Sequence[Path] = ()


def train_run(
    run: Run, source: TrainingGraphs, threads: int, output: Path, store: Path
) -> dict[str, Any]:
    """Train one network and write `layout.RUN_FILES` and the second and third best checkpoints.

    The run is kept in the reuse store under a key of everything its result depends on: a run that
    was finished before is taken from there, an interrupted one goes on from its last epoch.

    Parameters
    ----------
    run : Run
        What is trained.
    source : TrainingGraphs
        What it learns from.
    threads : int
        CPU threads of all devices together.
    output, store : Path
        Folder of the results, and the reuse store.

    Returns
    -------
    dict
        The content of summary.json.

    Raises
    ------
    ConfigError
        Where the labels or splits cannot be trained on, or the configuration cannot be followed.
    """
    threads = max(1, threads // run.hardware.devices)
    validation = source.packs if source.validation is None else source.validation
    graphs = open_graphs(source.packs, validation, source.splits, source.fold)
    check_trainable(graphs, learns_local=run.hyperparameters.local_weight > 0)
    training_set = {
        **_counts(graphs),
        **_remembered(run, graphs, source.chains),
        **_clusters(run, graphs, source.splits),
    }
    folder = store / "runs" / _key(run, training_set)
    folder.mkdir(parents=True, exist_ok=True)
    # Lightning starts a process for each further device of a run
    if os.environ.get("LOCAL_RANK", "0") != "0":
        _fit(run, graphs, training_set, folder, threads)
        return {}
    with FileLock(folder / "lock"):  # the store may be shared
        if _is_finished(folder):
            log.info("finished before, taken from the reuse store")
        else:
            _finish(run, folder, *_fit(run, graphs, training_set, folder, threads))
    _publish(folder, output)
    return json.loads((folder / "summary.json").read_text())


def _publish(folder: Path, output: Path) -> None:
    """Link the files of a finished run to where the workflow wants them."""
    for name in (RUNNERS_UP, PROFILE):
        shutil.rmtree(output / name, ignore_errors=True)
    (output / RUNNERS_UP).mkdir(parents=True)
    for name in json.loads((folder / CHECKSUMS).read_text()):
        (output / name).parent.mkdir(exist_ok=True)
        link_or_copy(folder / name, output / name)


def _fit(*arguments: Any) -> tuple[dict[str, list[Path]], str]:
    # threads of torch that wait for work would take time from those that have some
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    keep_freed_memory()
    # with torch and Lightning, which take seconds to import
    from toporank.learning.fit import fit

    return fit(*arguments)


def _counts(graphs: PackedGraphs) -> dict[str, Any]:
    """Return what identifies the graphs, and how many there are of each split."""
    counts = {split: len(split_indices(graphs, split)) for split in SPLITS}
    return {"fingerprint": fingerprint(graphs), **counts, "joined": graphs.joined}


def _remembered(
    run: Run, graphs: PackedGraphs, tables: Iterable[Path]
) -> dict[str, Any]:
    """Return the chains of the training targets and of the parent's, under `chains`.

    It returns nothing where some are unknown.
    """
    rows: list[ChainRow] = []
    for table in tables:
        rows += read_chains(table)
    sequences = compared(rows)
    targets = _training_targets(graphs)
    if not set(targets) <= set(sequences):
        return {}
    record: dict[str, Any] | None
    record = remember(only(sequences, targets))
    if run.parent:
        inherited = read_description(run.parent).get("training_set", {}).get("chains")
        record = merged(record, inherited) if inherited else None
    if record is None or max(map(len, record.values())) > MOST_KNOWN:
        log.warning(
            "the checkpoints cannot say what they were trained on: it is too much, or the parent "
            "does not say it"
        )
        return {}
    return {"chains": record}


def _clusters(run: Run, graphs: PackedGraphs, splits: Path | None) -> dict[str, Any]:
    """Return the cluster of each training target.

    They lie under `clusters`, where clusters are drawn equally often.

    Raises ConfigError when the cluster of a target is unknown.
    """
    if run.hyperparameters.sampling != "cluster_balanced":
        return {}
    cluster_of = (
        {row.target: row.cluster for row in read_splits(splits)} if splits else {}
    )
    targets = _training_targets(graphs)
    unknown = [target for target in targets if target not in cluster_of]
    if unknown:
        raise ConfigError(
            f"nothing says to which cluster {len(unknown)} training targets belong, such as "
            f"{unknown[0]}",
            where="sampling: cluster_balanced",
            remedy="give --splits with the splits.csv of the training data sets, or leave "
            "`sampling` out",
        )
    return {"clusters": only(cluster_of, targets)}


def _training_targets(graphs: PackedGraphs) -> list[str]:
    return sorted(set(graphs.target[split_indices(graphs, "train")]))


def _key(run: Run, training_set: dict[str, Any]) -> str:
    """Return a name for everything that the result depends on."""
    parent = sha256(run.parent) if run.parent else None
    identity = {
        **run.record(),
        "hardware": run.hardware.model_dump(exclude=set(LOADING)),
        "parent_sha256": parent,
        "training_set": training_set,
        "code": training_code(run.hyperparameters.network),
    }
    return hashlib.sha256(canonical(identity).encode()).hexdigest()


def _is_finished(folder: Path) -> bool:
    """Return whether all files of a run have the bytes they were finished with.

    What is damaged is deleted.
    """
    if not (folder / CHECKSUMS).exists():
        return False
    checksums = json.loads((folder / CHECKSUMS).read_text())
    paths = {folder / name: checksum for name, checksum in checksums.items()}
    if all(
        path.exists() and sha256(path) == checksum for path, checksum in paths.items()
    ):
        return True
    log.warning("the kept run is damaged and is trained again")
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "lock":
            path.unlink()
    return False


def _finish(run: Run, folder: Path, best: dict[str, list[Path]], stopped: str) -> None:
    """Write checkpoints, config, summary and, last, the checksums that finish the run."""
    from toporank.learning.fit import LOGS, epoch_table
    from toporank.learning.selection import GPU_MEMORY

    epochs = epoch_table(folder)
    write_text(folder / "metrics.csv", epochs.to_csv(index=False))
    summary = {
        "run": run.name,
        "seed": run.seed,
        "epochs": len(epochs),
        "stopped": stopped,
        "parent": run.record()["parent"],
    }
    if GPU_MEMORY in epochs:
        summary[GPU_MEMORY] = float(epochs[GPU_MEMORY].max())
    files = list(RUN_FILES)
    reports = sorted(folder.glob(f"{PROFILE}/*"))
    files += [str(path.relative_to(folder)) for path in reports]
    for rule, checkpoints in best.items():
        runners_up = [
            f"{RUNNERS_UP}/{rule}_{place}.ckpt" for place in range(2, N_BEST + 1)
        ]
        names = [f"{rule}.ckpt", *runners_up]
        for name, checkpoint in zip(names, checkpoints, strict=False):
            link_or_copy(checkpoint, folder / name)
        files += names[1 : len(checkpoints)]
        description = read_description(folder / names[0])
        summary[rule] = {"epoch": description["epoch"], **description["metrics"]}
    record = {**run.record(), "provenance": description["provenance"]}
    write_text(folder / "config.yaml", yaml.safe_dump(record, sort_keys=False))
    write_text(folder / "summary.json", json.dumps(summary, indent=1))
    write_text(
        folder / CHECKSUMS, json.dumps({name: sha256(folder / name) for name in files})
    )
    for checkpoint in folder.glob("*.epoch*.ckpt"):
        checkpoint.unlink()
    shutil.rmtree(folder / LOGS)
