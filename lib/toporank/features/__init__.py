"""Complex in, arrays out: the pure functions of the four feature stages and their registry.

The package can be called, `toporank.features("model.pdb")`: then it is `toporank.app.api.features`.
A function of that name could not stand in `toporank`, where Python puts this package as soon as
anything imports it.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> Any:
        return import_module("toporank.app.api").features(*args, **options)


sys.modules[__name__].__class__ = _Callable
