"""Plug-ins: what installed packages add by entry point, feature modules and networks.

Only what is asked for is imported: the names of networks are known without torch.
"""

from __future__ import annotations

import functools
from importlib import metadata
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from toporank.errors import ConfigError

FEATURES, NETWORKS = "toporank.features", "toporank.networks"
"""Groups of entry points: modules that register feature modules, and classes of networks."""
BUILT_IN = "gatv2"
"""The network of this package, which needs no entry point."""


@functools.cache
def plugins(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group."""
    return tuple(sorted(metadata.entry_points(group=group), key=lambda point: (point.name, point.value)))


def load(point: EntryPoint) -> Any:
    """Import what an entry point names. Raises ConfigError, naming the package, when it is not there."""
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"the plug-in {point.value} cannot be imported: {error}",
            where=f"package {point.dist.name}",
            remedy="install the package again, or uninstall it",
        ) from error


@functools.cache
def networks() -> dict[str, EntryPoint]:
    """The networks of plug-ins by name. Raises ConfigError when one has the name of another or of the built-in one."""
    found: dict[str, EntryPoint] = {}
    for point in plugins(NETWORKS):
        if point.name == BUILT_IN or point.name in found:
            other = f"package {found[point.name].dist.name}" if point.name in found else "TopoRank"
            raise ConfigError(
                f"its network {point.name!r} has the name of one of {other}",
                where=f"package {point.dist.name}",
                remedy="give it another name in the package's entry points, or uninstall one of them",
            )
        found[point.name] = point
    return found


def package_of(module: str) -> str:
    """The installed package with an entry point in the same top-level Python package; empty where there is none."""
    points = (point for group in (FEATURES, NETWORKS) for point in plugins(group))
    return next((point.dist.name for point in points if _top(point.module) == _top(module)), "")


def sources(module: str) -> tuple[str, ...]:
    """All Python files of the top-level package that a Python module is part of; none is imported."""
    found = find_spec(_top(module))
    if found is None:
        return ()
    if found.submodule_search_locations is None:
        return (str(found.origin),)
    return tuple(sorted(str(path) for place in found.submodule_search_locations for path in Path(place).rglob("*.py")))


def packages() -> list[str]:
    """Names of the installed packages with plug-ins."""
    return sorted({point.dist.name for group in (FEATURES, NETWORKS) for point in plugins(group)})


def _top(module: str) -> str:
    return module.partition(".")[0]
