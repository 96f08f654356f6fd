"""Snakemake that looks at its Slurm jobs every second, or as often as the variable
SECONDS_BETWEEN_LOOKS tells: the plug-in waits ten seconds longer each time. Jobs are started by
the Python that PYTHON_OF_JOBS names, otherwise by this one.
"""

import os
import sys

from snakemake.cli import main
from snakemake_executor_plugin_slurm import Executor

SECONDS = float(os.environ.get("SECONDS_BETWEEN_LOOKS", "1"))
Executor.next_seconds_between_status_checks = property(
    lambda _: SECONDS, lambda *_: None
)

if __name__ == "__main__":
    sys.executable = os.environ.get("PYTHON_OF_JOBS", sys.executable)
    main(sys.argv[1:])
