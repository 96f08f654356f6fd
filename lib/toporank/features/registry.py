"""Feature modules: the ways to compute each stage, with their parameters and columns.

A module is one file that calls `register`, in this folder or in an installed package that names it as a plug-in. A
feature configuration picks one module per stage; the resolved choice travels in every artefact, graph and checkpoint.
"""

from __future__ import annotations

import functools
import importlib
import json
import pkgutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from toporank import plugins
from toporank.errors import ConfigError
from toporank.settings import checked, did_you_mean

DEFAULT_MODULES = {
    "interface": "interface/ca_cutoff/v1",
    "topology": "topology/persistence/v1",
    "nodes": "nodes/contacts/v1",
    "edges": "edges/contacts/v1",
}
"""The stages with a choice of module, and the choice when none is named."""


class Parameters(BaseModel):
    """Base of the parameter sets: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)  # most modules are never chosen

    @property
    def calls_mkdssp(self) -> bool:
        """Whether computing with these parameters runs that program."""
        return False

    @property
    def reach(self) -> float:
        """Å from the partners beyond which no atom changes what is computed. Infinite unless a module knows better."""
        return float("inf")


@dataclass(frozen=True)
class Module:
    """One way to compute one stage.

    `columns` maps parameters to the names of the numeric columns; `compute` is the pure function. `uses` : files beside
    it that its results depend on and that nothing imports, such as tables. `extends` : id of the module with the same
    parameters whose columns are among its own, with the same values. `ready` raises where something that it needs is
    not installed.
    """

    id: str
    alias: str
    summary: str
    parameters: type[Parameters]
    columns: Callable[[Any], list[str]]
    compute: Callable[..., Any]
    uses: tuple[str, ...] = ()
    extends: str = ""
    ready: Callable[[], object] | None = None

    @property
    def package(self) -> str:
        """The installed package that brings it; empty for those of this folder."""
        return plugins.package_of(self.compute.__module__)

    @property
    def sources(self) -> tuple[str, ...]:
        """What `code.closure` begins with: the module, all Python files of a plug-in, and the files it uses."""
        name = self.compute.__module__
        code = plugins.sources(name) if self.package else (name.removeprefix("toporank."),)
        beside = Path(sys.modules[name].__file__).parent
        return *code, *(str(beside / used) for used in self.uses)

    @property
    def stage(self) -> str:
        """The stage this module computes: the first part of its id."""
        return self.id.split("/")[0]


@dataclass(frozen=True)
class Choice:
    """A module with its resolved parameters."""

    module: Module
    parameters: Parameters

    @property
    def columns(self) -> list[str]:
        """Names of the numeric columns this choice yields."""
        return self.module.columns(self.parameters)

    def record(self) -> dict[str, Any]:
        """What is written into artefacts and checkpoints: `{"module": id, ...parameters}`, and the package if any."""
        package = {"package": self.module.package} if self.module.package else {}
        return {"module": self.module.id, **package, **self.parameters.model_dump(mode="json")}

    def __call__(self, *args: Any) -> Any:
        return self.module.compute(self.parameters, *args)


_MODULES: dict[str, Module] = {}


def register(
    id: str,
    *,
    alias: str,
    summary: str,
    parameters: type[Parameters],
    columns: Callable,
    uses: tuple[str, ...] = (),
    extends: str = "",
    ready: Callable[[], object] | None = None,
) -> Callable:
    """Decorator that registers a compute function `(parameters, ...)` as a module.

    Raises ConfigError when its id names no stage, or when another module of the stage has its id or alias.
    """

    def decorate(compute: Callable) -> Callable:
        module = Module(id, alias, summary, parameters, columns, compute, uses, extends, ready)
        _check_name(module)
        _MODULES[id] = module
        return compute

    return decorate


def _check_name(new: Module) -> None:
    where = f"feature module {new.id} of {new.compute.__module__}"
    if new.stage not in DEFAULT_MODULES:
        remedy = f"begin its id with one of {', '.join(DEFAULT_MODULES)}"
        raise ConfigError(f"there is no stage {new.stage!r}", where=where, remedy=remedy)
    names = {new.id, new.alias}
    for known in _MODULES.values():
        if known.stage == new.stage and (shared := sorted(names & {known.id, known.alias})):
            raise ConfigError(
                f"{known.id} of {known.compute.__module__} is called {shared[0]!r}, too",
                where=where,
                remedy="give one of them another id and alias, or uninstall its package",
            )


@functools.cache
def modules() -> dict[str, Module]:
    """All modules by id: every file of this folder and of `topoqa`, and every plug-in, is imported once."""
    here = Path(__file__).parent
    for folder, package in ((here, "toporank.features."), (here / "topoqa", "toporank.features.topoqa.")):
        for found in pkgutil.iter_modules([str(folder)], package):
            if not found.ispkg:
                importlib.import_module(found.name)
    for point in plugins.plugins():
        plugins.load(point)
    return dict(sorted(_MODULES.items()))


def choose(stage: str, record: dict[str, Any]) -> Choice:
    """Resolve `{"module": id or alias, ...parameters}` as a user gives it, filling in defaults.

    Raises ConfigError naming the stage, the key and the nearest spelling, or the package that is not installed.
    """
    where = f"features.{stage}"
    candidates = {m.id: m for m in modules().values() if m.stage == stage}
    aliases = {m.alias: m for m in candidates.values()}
    name = record.get("module", DEFAULT_MODULES[stage])
    module = {**aliases, **candidates}.get(name if isinstance(name, str) else "")
    if module is None:
        remedy = did_you_mean(str(name), [*candidates, *aliases])
        if package := record.get("package"):
            remedy = f"it is part of the package {package!r}: install that, if you trust it, wherever jobs run"
        raise ConfigError(f"no feature module {name!r}", where=where, remedy=remedy)
    given = {key: value for key, value in record.items() if key not in ("module", "package")}
    return Choice(module, checked(module.parameters, given, where=where))


def resolve(records: dict[str, dict[str, Any]]) -> dict[str, Choice]:
    """Resolve what a user gives for the four feature stages."""
    return {stage: choose(stage, records[stage]) for stage in DEFAULT_MODULES}


def resolve_recorded(records: dict[str, dict[str, Any]]) -> dict[str, Choice]:
    """Resolve the stored records of the four feature stages to what was computed when they were written.

    Raises ConfigError, also when a record lacks a parameter or a stage: no default of today stands for it.
    """
    return {stage: _choose_recorded(stage, records.get(stage)) for stage in DEFAULT_MODULES}


def _choose_recorded(stage: str, record: dict[str, Any] | None) -> Choice:
    module = modules().get((record or {}).get("module"))
    if module is None or module.stage != stage:
        return choose(stage, {"module": None, **(record or {})})  # raises: nothing is a default here
    missing = [name for name in module.parameters.model_fields if name not in record]
    if missing:
        raise ConfigError(
            f"the record of {module.id} does not say what {' and '.join(missing)} was",
            where=f"features.{stage}",
            remedy="the file is damaged, or was made by another program",
        )
    return choose(stage, record)


def records(choices: dict[str, Choice]) -> dict[str, dict[str, Any]]:
    """What is stored of choices; `resolve_recorded` is the inverse."""
    return {stage: choice.record() for stage, choice in choices.items()}


def node_columns(choices: dict[str, Choice]) -> list[str]:
    """Names of the node features: those of the node module, then those of the topology module."""
    return choices["nodes"].columns + choices["topology"].columns


def call_mkdssp(choices: dict[str, Choice]) -> bool:
    """Whether any of the choices needs mkdssp to be installed."""
    return any(choice.parameters.calls_mkdssp for choice in choices.values())


def narrowed(features: Any, wanted: Any) -> Any:
    """The records of graphs, as those of graphs with only the columns of the node module that `wanted` names.

    A node module that extends the wanted one, or one that does, stands for it; everything else stays as it is.
    """
    if not features or not wanted:
        return features
    ours, theirs = (records_.get("nodes") or {} for records_ in (features, wanted))
    name, wanted_name = ours.get("module"), theirs.get("module")
    while name != wanted_name and (module := modules().get(name)):
        name = module.extends
    return {**features, "nodes": {**ours, "module": name}} if name and name == wanted_name else features


def canonical(value: Any) -> str:
    """JSON with one spelling per value: for keys, fingerprints and metadata."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
