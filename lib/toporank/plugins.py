"""Plug-ins: feature modules and networks that installed packages add by entry point.

Only what is used is imported: names of networks are known without torch.
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


@functools.cache
def plugins(group: str = FEATURES) -> tuple[EntryPoint, ...]:
    """The entry points of all plug-ins of a group."""
    points = metadata.entry_points(group=group)
    return tuple(sorted(points, key=lambda point: (point.name, point.value)))


def networks() -> dict[str, EntryPoint]:
    """The networks of plug-ins by name.

    Raises ConfigError when two have the same.
    """
    by_name: dict[str, EntryPoint] = {}
    for point in plugins(NETWORKS):
        if point.name in by_name:
            both = f"{package(by_name[point.name])} and {package(point)}"
            raise ConfigError(
                f"two packages have a network {point.name!r}: {both}",
                remedy="uninstall one",
            )
        by_name[point.name] = point
    return by_name


def load(point: EntryPoint) -> Any:
    """Import what an entry point names.

    Raises ConfigError, naming the package, when it is not there.
    """
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"the plug-in {point.value} cannot be imported: {error}",
            where=f"package {package(point)}",
            remedy="install the package again, or uninstall it",
        ) from error


def package_of(module: str) -> str:
    """The installed plug-in whose top-level Python package a module is in.

    The text is empty where there is no such package.
    """
    for point in (*plugins(), *plugins(NETWORKS)):
        if _top(point.module) == _top(module):
            return package(point)
    return ""


def sources(module: str) -> tuple[str, ...]:
    """All Python files of the top-level package that a Python module is part of.

    It imports none of them.
    """
    spec = find_spec(_top(module))
    if spec is None:
        return ()
    if spec.submodule_search_locations is None:
        return (str(spec.origin),)
    files: list[Path] = []
    for folder in spec.submodule_search_locations:
        files += Path(folder).rglob("*.py")
    return tuple(sorted(map(str, files)))


def packages() -> list[str]:
    """Names of the installed packages with plug-ins."""
    return sorted({package(point) for point in (*plugins(), *plugins(NETWORKS))})


def package(point: EntryPoint) -> str:
    """The installed package that an entry point is of."""
    return point.dist.name if point.dist else ""


def _top(module: str) -> str:
    return module.partition(".")[0]
