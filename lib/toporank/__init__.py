"""TopoRank: rank the decoys of protein complexes by predicted DockQ."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
__all__ = [
    "Results",
    "Scorer",
    "__version__",
    "dockq",
    "embed",
    "features",
    "graphs",
    "interfaces",
    "score",
    "train",
]

_API = ("dockq", "embed", "graphs", "interfaces", "score", "train")
_FROM = {
    **dict.fromkeys(_API, "toporank.app.api"),
    "Results": "toporank.app.results",
    "Scorer": "toporank.scorer.scorer",
}
"""Where what people use is imported from, when they first use it: every job imports this file."""


def __getattr__(name: str) -> Any:
    if name == "features":
        return import_module("toporank.features")  # a package that can be called
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from toporank.garbage import not_searched

    with not_searched():
        return getattr(import_module(_FROM[name]), name)


def __dir__() -> list[str]:
    return [*__all__]  # not what this file imports
