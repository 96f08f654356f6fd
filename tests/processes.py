"""Programs in a process of their own, which import the checkout: `conftest.py` puts it on their
path.
"""

from __future__ import annotations

import subprocess
import sys


def printed(program: str, *arguments: object, **how: object) -> str:
    """What a program prints that ends well. how : for `subprocess.run`."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
