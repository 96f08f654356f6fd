"""Files of `torch.save`, opened without running anything that is in them.

Importing torch takes seconds: import this module inside the function that has such a file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import torch

LONGEST = 200
"""Characters of torch's message about a file."""


def load(file: Path | str | BinaryIO, safe: Sequence[type] = ()) -> Any:
    """Return what was saved in a file, its tensors on the CPU.

    Parameters
    ----------
    file : its path, or an open one
    safe : classes that it may hold beside tensors and plain values

    Raises
    ------
    OSError : where the file cannot be opened
    ValueError : where it is damaged, or holds anything else; one line says what
    """
    try:
        with torch.serialization.safe_globals([*safe]):
            return torch.load(file, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:
        raise ValueError(_in_one_line(error)) from error


def _in_one_line(error: Exception) -> str:
    """The cause that torch names, without its advice to run the file."""
    cause = str(error)
    named = re.search(r"nsupported (?:global: )?GLOBAL (\S+)", cause)
    if named:
        return f"it asks for {named[1]}, which is not run"
    if "WeightsUnpickler error:" in cause:
        cause = cause.partition("WeightsUnpickler error:")[2].partition("\n\n")[0]
    return " ".join(cause.split())[:LONGEST] or type(error).__name__
