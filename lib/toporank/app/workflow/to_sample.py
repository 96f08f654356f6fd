"""What the rules that sample decoys need: natives, parameters, and whether everything is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toporank import layout
from toporank.app.config import Config, check_is_there, locate
from toporank.errors import ConfigError, TopoRankError
from toporank.inputs.natives import EXPECTED, find_natives
from toporank.inputs.unbound import unbound_files
from toporank.settings import did_you_mean
from toporank.structures.partners import is_file, read_partners


@dataclass(frozen=True)
class Sampling:
    """Natives by target, and the partners where a setting or table names them; empty where nothing can be sampled."""

    natives: Mapping[str, Path] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)

    def native(self, wildcards: Any) -> str:
        """The file of a target's native."""
        return str(self.natives[wildcards.target])

    def unbound(self, wildcards: Any) -> list[str]:
        """Files of its partners alone."""
        return list(map(str, unbound_files(self.natives[wildcards.target])))

    def partners(self, wildcards: Any) -> str:
        """Its partners; empty where nothing is said of them."""
        return self.said.get(wildcards.target, "")

    def folders(self) -> list[str]:
        """Where the decoys of each target will lie."""
        return [layout.SAMPLED.format(target=target) for target in self.natives]

    def collected(self) -> list[str]:
        """Those, and the folders of targets that were sampled before: their decoys are there, and keep their labels."""
        before = Path(layout.SAMPLED.format(target="")).glob(f"*/{layout.POSES}")
        return sorted({*self.folders(), *(str(poses.parent) for poses in before)})


def natives_to_sample(config: Config, repository: Path) -> Sampling:
    """What a configuration asks for. Raises ConfigError when natives or partners cannot be found or read."""
    if config.sampling.natives is None:
        return Sampling()
    where, partners = "sampling.natives", config.sampling.partners or ""
    check_is_there(config.sampling.natives, repository, where)
    folder = locate(config.sampling.natives, repository)
    found = find_natives(folder)
    if not found:
        raise ConfigError(f"no natives in {folder}", where=where, remedy=EXPECTED)
    for target in sorted(set(config.targets) - found.keys()):
        raise ConfigError(f"no native {target!r}", where="targets", remedy=did_you_mean(target, found))
    chosen = {target: path for target, path in found.items() if not config.targets or target in config.targets}
    if not is_file(partners):
        return Sampling(chosen, dict.fromkeys(chosen, partners))
    check_is_there(partners, repository, "sampling.partners")
    return Sampling(chosen, read_partners(locate(partners, repository)))


def sampling_problems(config: Config, repository: Path) -> list[str]:
    """Why no decoys can be sampled, a line each."""
    if config.sampling.natives is None:
        return ["sampling.natives: not given (name the folder of the natives to sample)"]
    try:
        natives_to_sample(config, repository)
    except TopoRankError as error:
        return [str(error)]
    return []
