"""What the rules that sample decoys need: natives, parameters, and whether everything is there."""

from __future__ import annotations

from importlib import util
from pathlib import Path
from typing import Any

import toporank
from toporank import layout
from toporank.code import source_digest
from toporank.config import Config, check_is_there, locate
from toporank.decoys.natives import EXPECTED, find_natives
from toporank.decoys.partners import is_file, read_partners
from toporank.errors import ConfigError, TopoRankError
from toporank.sampling.natives import unbound_files
from toporank.validation import did_you_mean

NEEDED = ("openmm", "pdbfixer")
"""Packages that only sampling needs."""
CODE = ("sampling", "labelling", "structures")
"""The packages that decide what becomes of a native, below this one."""


class Sampling:
    """The natives of a configuration by target, and what is to be made of them; all empty where none are given.

    Raises ConfigError when the natives or their partners cannot be found or read.
    """

    def __init__(self, config: Config, repository: Path):
        self._config, self.natives, self._partners = config.sampling, {}, {}
        if self._config.natives is None:
            return
        where = "sampling.natives"
        check_is_there(self._config.natives, repository, where)
        folder, partners = locate(self._config.natives, repository), self._config.partners or ""
        found = find_natives(folder)
        if not found:
            raise ConfigError(f"no natives in {folder}", where=where, remedy=EXPECTED)
        for target in sorted(set(config.targets) - found.keys()):
            raise ConfigError(f"no native {target!r}", where="targets", remedy=did_you_mean(target, found))
        self.natives = {t: path for t, path in found.items() if not config.targets or t in config.targets}
        if is_file(partners):
            check_is_there(partners, repository, "sampling.partners")
            self._partners = read_partners(locate(partners, repository))
        else:
            self._partners = dict.fromkeys(found, partners)

    def native(self, wildcards: Any) -> str:
        """The file of a target's native."""
        return str(self.natives[wildcards.target])

    def unbound(self, wildcards: Any) -> list[str]:
        """Files of its partners alone."""
        return list(map(str, unbound_files(self.natives[wildcards.target])))

    def partners(self, wildcards: Any) -> str:
        """Its partners; empty where nothing is said of them."""
        return self._partners.get(wildcards.target, "")

    def folders(self) -> list[str]:
        """Where the decoys of each target will lie."""
        return [layout.SAMPLED.format(target=target) for target in self.natives]


def sampling_problems(config: Config, repository: Path, *, installed: bool) -> list[str]:
    """Why no decoys can be sampled, a line each. installed : whether jobs run with the packages installed here."""
    if config.sampling.natives is None:
        return ["sampling.natives: not given (name the folder of the natives to sample)"]
    missing = [package for package in NEEDED if installed and util.find_spec(package) is None]
    remedy = "pip install -r requirements-sampling.txt"
    problems = [f"sampling: {' and '.join(missing)} not installed ({remedy})"] if missing else []
    try:
        Sampling(config, repository)
    except TopoRankError as error:
        problems.append(str(error))
    return problems


def sampling_code() -> str:
    """Digest of the code that decides what becomes of a native."""
    root = Path(toporank.__file__).parent
    return source_digest(str(path) for package in CODE for path in sorted((root / package).glob("*.py")))
