"""Feature modules: which ways there are to compute each stage, with what parameters and columns.

A module is one file in this folder that calls `register`. A feature configuration picks one module per
stage; the resolved choice travels in every artefact, graph and checkpoint.
"""

from __future__ import annotations

import functools
import importlib
import json
import pkgutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

import toporank.features
from toporank.errors import ConfigError
from toporank.validation import checked, did_you_mean

DEFAULT_MODULES = {
    "interface": "interface/ca_cutoff/v1",
    "topology": "topology/persistence/v1",
    "nodes": "nodes/dssp_topology/v1",
    "edges": "edges/legacy_v11",
}
"""The stages with a choice of module, and the choice when none is named."""


class Parameters(BaseModel):
    """Base of the parameter sets: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @property
    def calls_mkdssp(self) -> bool:
        """Whether computing with these parameters runs that program."""
        return False


@dataclass(frozen=True)
class Module:
    """One way to compute one stage.

    `columns` maps parameters to the names of the numeric columns; `compute` is the pure function.
    """

    id: str
    alias: str
    summary: str
    parameters: type[Parameters]
    columns: Callable[[Any], list[str]]
    compute: Callable[..., Any]

    @property
    def source(self) -> str:
        """The file it is in."""
        return sys.modules[self.compute.__module__].__file__

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
        """What is written into artefacts and checkpoints: `{"module": id, ...parameters}`."""
        return {"module": self.module.id, **self.parameters.model_dump(mode="json")}

    def __call__(self, *args: Any) -> Any:
        return self.module.compute(self.parameters, *args)


_MODULES: dict[str, Module] = {}


def register(id: str, *, alias: str, summary: str, parameters: type[Parameters], columns: Callable) -> Callable:
    """Decorator that registers a compute function `(parameters, ...)` as a module."""

    def decorate(compute: Callable) -> Callable:
        _MODULES[id] = Module(id, alias, summary, parameters, columns, compute)
        return compute

    return decorate


@functools.cache
def modules() -> dict[str, Module]:
    """All modules by id: every file of this folder is imported once."""
    for found in pkgutil.iter_modules(toporank.features.__path__, "toporank.features."):
        importlib.import_module(found.name)
    return dict(sorted(_MODULES.items()))


def choose(stage: str, record: dict[str, Any]) -> Choice:
    """Resolve `{"module": id or alias, ...parameters}`, filling in defaults.

    Raises ConfigError naming the stage, the key and the nearest spelling.
    """
    where = f"features.{stage}"
    candidates = {m.id: m for m in modules().values() if m.stage == stage}
    aliases = {m.alias: m for m in candidates.values()}
    name = record.get("module", DEFAULT_MODULES[stage])
    module = {**aliases, **candidates}.get(name if isinstance(name, str) else "")
    if module is None:
        known = [*candidates, *aliases]
        raise ConfigError(f"no feature module {name!r}", where=where, remedy=did_you_mean(str(name), known))
    given = {key: value for key, value in record.items() if key != "module"}
    return Choice(module, checked(module.parameters, given, where=where))


def resolve(records: dict[str, dict[str, Any]]) -> dict[str, Choice]:
    """Resolve the records of all four feature stages."""
    return {stage: choose(stage, records[stage]) for stage in DEFAULT_MODULES}


def records(choices: dict[str, Choice]) -> dict[str, dict[str, Any]]:
    """The inverse of `resolve`: what is stored."""
    return {stage: choice.record() for stage, choice in choices.items()}


def call_mkdssp(choices: dict[str, Choice]) -> bool:
    """Whether any of the choices needs mkdssp to be installed."""
    return any(choice.parameters.calls_mkdssp for choice in choices.values())


def same(theirs: Any, ours: Any) -> bool:
    """Whether two sets of records mean the same features: a parameter that one does not know yet has its default."""
    return theirs == ours or _completed(theirs) == _completed(ours)


def _completed(given: Any) -> Any:
    try:
        return records(resolve(given))
    except (ConfigError, KeyError, TypeError):  # of modules or stages that are not ours
        return given


def canonical(value: Any) -> str:
    """JSON with one spelling per value: for keys, fingerprints and metadata."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
