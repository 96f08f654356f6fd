"""What the configuration names.

These are folders, tables, features and scorer of data sets, and natives to sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toporank import layout
from toporank.app.config import Config, Dataset
from toporank.chains.partners import FILE, is_file, read_partners
from toporank.errors import CheckpointError, ConfigError, printable
from toporank.features.registry import FeatureChoice, resolve_recorded
from toporank.finding.labels import Label, read_labels
from toporank.finding.natives import EXPECTED, find_natives, unbound_files
from toporank.scorer.scorer import Scorer
from toporank.settings import did_you_mean

NO_FEATURES = (
    "does not say which features it was trained on, so it cannot score structures"
)
ONLY_GRAPHS = (
    "one that was trained on `graphs` of another pipeline scores such graphs: name it at their "
    "data set, `scorer: [FILE]`"
)
NO_SCORER = "make_scorer: it needs structures (score `graphs` with results/final of their study)"


def locate(path: str) -> Path:
    """A path of the configuration.

    It counts from the working directory or, if it does not lead to a file there, from the
    repository.
    """
    in_repository = layout.repository() / path
    if Path(path).exists() or not in_repository.exists():
        return Path(path)
    return in_repository


def check_is_there(path: str, where: str) -> None:
    """Raise ConfigError, with all places `locate` looks in, unless the path is in one of them."""
    if locate(path).exists():
        return
    first = str(Path(path).absolute())
    second = str((layout.repository() / path).absolute())
    if first == second:
        what = f"there is no {printable(first)}"
        raise ConfigError(what, where=where, remedy="is it spelled right?")
    raise ConfigError(
        f"there is no {printable(first)} and no {printable(second)}",
        where=where,
        remedy="relative paths start in the working directory, which --directory changes, or in "
        "the repository",
    )


def feature_choices(config: Config) -> dict[str, FeatureChoice]:
    """The feature modules.

    They are those of the scorer where decoys alone are scored, and otherwise the configured
    ones.
    """
    if config.score_decoys is None:
        return config.choices()
    return features_of(open_scorer(config))


def open_scorer(config: Config) -> Scorer:
    """Open the scorer. Raises CheckpointError when it is missing or cannot be used."""
    path = scorer_of(config)
    if config.scorer is None and not Path(path).exists():
        raise CheckpointError(
            "the scorer that ships with TopoRank is missing",
            where=path,
            remedy="restore the folder resources/scorer, or say which scorer to use, such as "
            f"scorer={layout.FINAL_SCORER} of a study in this folder",
        )
    return Scorer.open(path)


def features_of(scorer: Scorer) -> dict[str, FeatureChoice]:
    """The feature modules of a scorer.

    Raises CheckpointError when it names none, or one that is unknown here.
    """
    if not scorer.features:
        raise CheckpointError(NO_FEATURES, where=scorer.checkpoint, remedy=ONLY_GRAPHS)
    try:
        return resolve_recorded(scorer.features)
    except ConfigError as error:
        raise CheckpointError(str(error), where=scorer.checkpoint) from error


def scorer_of(config: Config) -> str:
    """The scorer's folder or checkpoint.

    It is that of the study or, where decoys alone are scored, the given or the shipped one.
    """
    if config.score_decoys is None:
        return layout.FINAL_SCORER
    return config.scorer or str(layout.repository() / layout.SHIPPED_SCORER)


def configured_partners(
    config: Config, dataset: Dataset, folder: Path
) -> tuple[str, dict[str, str]]:
    """Return the partners of all targets of a data set, or empty, and those of single targets.

    The setting of the data set overrides the general one. A table in the folder of decoys counts
    unless the setting is a table itself.
    """
    setting = dataset.partners or config.partners or ""
    if is_file(setting):
        check_is_there(setting, f"dataset {dataset.name}, partners")
        return "", read_partners(locate(setting))
    table = folder / FILE
    return setting, read_partners(table) if table.exists() else {}


def labels_of(config: Config, dataset: str) -> list[Label]:
    """Labels of a data set; none where it has no label table."""
    tables = label_tables(config, dataset)
    return read_labels(tables, config.split_rules) if tables else []


def label_tables(config: Config, dataset: str) -> dict[str, Path]:
    """The label table of each split of a data set, or of all splits under an empty name."""
    labels = config.dataset(dataset).labels or {}
    tables = labels if isinstance(labels, dict) else {"": labels}
    return {split: locate(path) for split, path in tables.items()}


def graphs_of(config: Config, dataset: str) -> Path:
    """Return the folder of the graphs of a data set."""
    return locate(config.dataset(dataset).folder)


@dataclass(frozen=True)
class SampledNatives:
    """Natives and, where a setting or table names them, partners, by target.

    The record is empty where nothing can be sampled.
    """

    natives: Mapping[str, Path] = field(default_factory=dict)
    partners_of: Mapping[str, str] = field(default_factory=dict)

    def native(self, wildcards: Any) -> str:
        """The file of a target's native."""
        return str(self.natives[wildcards.target])

    def unbound(self, wildcards: Any) -> list[str]:
        """Files of its partners alone."""
        return list(map(str, unbound_files(self.natives[wildcards.target])))

    def partners(self, wildcards: Any) -> str:
        """Its partners; empty where nothing names them."""
        return self.partners_of.get(wildcards.target, "")

    def folders(self) -> list[str]:
        """Where the decoys of each target will lie."""
        return [layout.SAMPLED.format(target=target) for target in self.natives]

    def collected(self) -> list[str]:
        """Those, and the folders of targets that were sampled before.

        Their decoys keep their labels.
        """
        folders = set(self.folders())
        for poses in Path(layout.SAMPLED.format(target="")).glob(f"*/{layout.POSES}"):
            folders.add(str(poses.parent))
        return sorted(folders)


def natives_to_sample(config: Config) -> SampledNatives:
    """What a configuration asks for.

    Raises ConfigError when it names no natives, or they or partners cannot be found or read.
    """
    if config.sampling.natives is None:
        remedy = "name the folder of the natives to sample"
        raise ConfigError("not given", where="sampling.natives", remedy=remedy)
    check_is_there(config.sampling.natives, "sampling.natives")
    folder = locate(config.sampling.natives)
    natives = find_natives(folder)
    if not natives:
        raise ConfigError(
            f"no natives in {folder}", where="sampling.natives", remedy=EXPECTED
        )
    for target in sorted(set(config.only) - natives.keys()):
        remedy = did_you_mean(target, natives)
        raise ConfigError(f"no native {target!r}", where="only", remedy=remedy)
    if config.only:
        natives = {target: natives[target] for target in config.only}
    partners = config.sampling.partners or ""
    if not is_file(partners):
        return SampledNatives(natives, dict.fromkeys(natives, partners))
    check_is_there(partners, "sampling.partners")
    return SampledNatives(natives, read_partners(locate(partners)))
