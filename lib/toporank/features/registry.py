"""Feature modules: the ways to compute each stage, with their parameters and columns.

A module is one file that calls `register`, in this folder or in an installed package that names it
as a plug-in. A feature configuration picks one module per stage; the resolved choice travels in
every artefact, graph and checkpoint.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import itertools
import json
import pkgutil
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

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

Scaling = Literal["per_decoy", "training_set", "none"]
"""`per_decoy`: each column to [0, 1] within a decoy, as published. `training_set`: features stay as
they are, and the network scales them by mean and standard deviation of its training graphs. `none`:
no scaling.
"""


Angstrom = Annotated[float, Field(gt=0, json_schema_extra={"unit": "Å"})]
"""The type of a parameter that is a distance."""


def _with_docstrings(schema: dict[str, Any], parameters: type[BaseModel]) -> None:
    """Describe each parameter in a schema by its docstring.

    Pydantic would read the source of each class when that is imported, in every process.
    """
    for kind in parameters.__mro__:
        if not issubclass(kind, BaseModel) or kind is BaseModel:
            continue
        (source,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        for field, text in itertools.pairwise(getattr(source, "body", ())):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                name = ast.unparse(field.target)
                description = inspect.cleandoc(ast.literal_eval(text.value))
                schema["properties"][name].setdefault("description", description)


class Parameters(BaseModel):
    """Base of the parameter sets.

    Unknown keys are errors, values do not change, and the docstring of a parameter is its
    description.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        defer_build=True,  # most modules are never chosen
        json_schema_extra=_with_docstrings,
    )

    @property
    def calls_mkdssp(self) -> bool:
        """Whether computing with these parameters runs that program."""
        return False

    @property
    def reach(self) -> float:
        """Å from the partners beyond which no atom changes the result.

        Infinite unless a module knows better.
        """
        return float("inf")


@dataclass(frozen=True)
class Module:
    """One way to compute one stage; `register` explains the fields."""

    id: str
    alias: str
    summary: str
    parameters: type[Parameters]
    columns: Callable[[Any], list[str]]
    compute: Callable[..., Any]
    ready: Callable[[], object] | None = None

    @property
    def stage(self) -> str:
        """The stage this module computes: the first part of its id."""
        return self.id.split("/")[0]

    @property
    def package(self) -> str:
        """The installed package that brings it; empty for those of this folder."""
        return plugins.package_of(self.compute.__module__)

    @property
    def package_files(self) -> tuple[str, ...]:
        """All Python files of the package that brings it; none for the modules of this folder."""
        return plugins.sources(self.compute.__module__) if self.package else ()


@dataclass(frozen=True)
class FeatureChoice:
    """A module with its resolved parameters. Called, it computes."""

    module: Module
    parameters: Parameters

    @property
    def columns(self) -> list[str]:
        """Names of the numeric columns this choice yields."""
        return self.module.columns(self.parameters)

    def record(self) -> dict[str, Any]:
        """What artefacts and checkpoints keep of it.

        `{"module": id, ...parameters}`, and the package if any.
        """
        package = {"package": self.module.package} if self.module.package else {}
        return {
            "module": self.module.id,
            **package,
            **self.parameters.model_dump(mode="json"),
        }

    def __call__(self, *args: Any) -> Any:
        """Compute the features with these parameters."""
        return self.module.compute(self.parameters, *args)


_MODULES: dict[str, Module] = {}


def register(
    id: str,
    *,
    alias: str,
    summary: str,
    parameters: type[Parameters],
    columns: Callable[[Any], list[str]],
    ready: Callable[[], object] | None = None,
) -> Callable:
    """Decorator that registers a compute function `(parameters, ...)` as a feature module.

    Parameters
    ----------
    id : such as `edges/contacts/v1`; it begins with the stage and ends with a version
    alias : a short name for configurations
    summary : one line for `toporank config`
    parameters : the class of its parameters
    columns : function of the parameters that returns the names of the numeric columns
    ready : function that raises ConfigError where something that the module needs is not installed

    Returns
    -------
    decorator : returns the function unchanged

    Raises
    ------
    ConfigError
        when the id names no stage, or when another module of the stage has the id or alias
    """

    def decorate(compute: Callable) -> Callable:
        module = Module(id, alias, summary, parameters, columns, compute, ready)
        _check_name(module)
        _MODULES[id] = module
        return compute

    return decorate


def _check_name(new: Module) -> None:
    where = f"feature module {new.id} of {new.compute.__module__}"
    if new.stage not in DEFAULT_MODULES:
        remedy = f"begin its id with one of {', '.join(DEFAULT_MODULES)}"
        raise ConfigError(
            f"there is no stage {new.stage!r}", where=where, remedy=remedy
        )
    for module in _MODULES.values():
        taken = {new.id, new.alias} & {module.id, module.alias}
        if module.stage == new.stage and taken:
            what = f"{module.id} of {module.compute.__module__} is called {min(taken)!r}, too"
            remedy = "give one of them another id and alias, or uninstall its package"
            raise ConfigError(what, where=where, remedy=remedy)


@functools.cache
def modules() -> dict[str, Module]:
    """All modules by id: every file of this folder, and every plug-in, is imported once."""
    for file in pkgutil.iter_modules(
        [str(Path(__file__).parent)], "toporank.features."
    ):
        if not file.ispkg:
            importlib.import_module(file.name)
    for point in plugins.plugins():
        plugins.load(point)
    return dict(sorted(_MODULES.items()))


def choose(stage: str, record: dict[str, Any]) -> FeatureChoice:
    """Resolve `{"module": id or alias, ...parameters}` as a user gives it, filling in defaults.

    Raises ConfigError naming the stage, the key and the nearest spelling, or the package that is
    not installed.
    """
    where = f"features.{stage}"
    by_name = {}
    for module in modules().values():
        if module.stage == stage:
            by_name[module.id] = by_name[module.alias] = module
    name = record.get("module", DEFAULT_MODULES[stage])
    if str(name) not in by_name:
        remedy = did_you_mean(str(name), by_name)
        if package := record.get("package"):
            remedy = (
                f"it is part of the package {package!r}: install that, if you trust it, wherever "
                "jobs run"
            )
        raise ConfigError(f"no feature module {name!r}", where=where, remedy=remedy)
    module = by_name[name]
    values = {
        key: value for key, value in record.items() if key not in ("module", "package")
    }
    return FeatureChoice(module, checked(module.parameters, values, where=where))


def resolve(records: dict[str, dict[str, Any]]) -> dict[str, FeatureChoice]:
    """Resolve what a user gives for the modules of interface, topology, nodes and edges."""
    return {stage: choose(stage, records[stage]) for stage in DEFAULT_MODULES}


def resolve_recorded(records: dict[str, dict[str, Any]]) -> dict[str, FeatureChoice]:
    """Resolve the stored records of interface, topology, nodes and edges to what wrote them.

    Raises ConfigError, also when a record lacks a parameter or a stage: today's defaults may be
    others.
    """
    choices = {}
    for stage in DEFAULT_MODULES:
        # without a module, `choose` raises
        record = {"module": None, **(records.get(stage) or {})}
        choices[stage] = choose(stage, record)
        module = choices[stage].module
        missing = [
            name for name in module.parameters.model_fields if name not in record
        ]
        if missing:
            what = f"the record of {module.id} does not say what {' and '.join(missing)} was"
            remedy = "the file is damaged, or was made by another program"
            raise ConfigError(what, where=f"features.{stage}", remedy=remedy)
    return choices


def records(choices: dict[str, FeatureChoice]) -> dict[str, dict[str, Any]]:
    """What is stored of choices; `resolve_recorded` is the inverse."""
    return {stage: choice.record() for stage, choice in choices.items()}


def node_columns(choices: dict[str, FeatureChoice]) -> list[str]:
    """Names of the node features: those of the node module, then those of the topology module."""
    return choices["nodes"].columns + choices["topology"].columns


def call_mkdssp(choices: dict[str, FeatureChoice]) -> bool:
    """Whether any of the choices needs mkdssp to be installed."""
    return any(choice.parameters.calls_mkdssp for choice in choices.values())


def canonical(value: Any) -> str:
    """JSON with one spelling per value: for keys, fingerprints and metadata."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def scaled(values: np.ndarray, scaling: Scaling) -> np.ndarray:
    """The columns of `values`, shape (N, k), as they go into the graph."""
    return min_max(values, values) if scaling == "per_decoy" else values


def min_max(values: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Scale each column to [0, 1] by the smallest and largest value of that column in `reference`.

    values, reference : shape (N, k) or (N,), and the same trailing shape. A constant column becomes
    0.
    """
    if len(reference) == 0:
        return np.zeros_like(values, dtype=np.float64)
    low, high = reference.min(axis=0), reference.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    return (values - low) / width
