"""Snakemake that looks at its Slurm jobs every second: the plug-in waits ten seconds longer each
time.
"""

import sys

from snakemake.cli import main
from snakemake_executor_plugin_slurm import Executor

SECONDS = 1
Executor.next_seconds_between_status_checks = property(
    lambda _: SECONDS, lambda *_: None
)

if __name__ == "__main__":
    main(sys.argv[1:])
