"""A Slurm cluster of one node on this machine, for tests: munged, slurmctld and slurmd as this
process's children.

`cluster` starts the three, gives the environment with the cluster's client programs on its PATH,
stops the three, and writes the CPU seconds of everything that ran on the node to
FOLDER/node_seconds. Run as a program this file is that node. Configuration,
state, logs and sockets lie in FOLDER, ports are free ones; nothing else of the machine is touched,
a real cluster's configuration included. Needs root.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import resource
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
CLIENTS = (
    "sbatch",
    "srun",
    "squeue",
    "scancel",
    "scontrol",
    "sinfo",
    "sacct",
    "sacctmgr",
    "sshare",
)
PARTITION = "ci"
SECONDS_TO_START = 60
PR_SET_CHILD_SUBREAPER = 36

CONFIGURATION = Path(__file__).with_name("slurm.conf").read_text()


def missing() -> list[str]:
    """What a cluster lacks here; empty when it can be started."""
    absent = [
        name for name in (*DAEMONS, "munge", "sbatch", "srun") if not _program(name)
    ]
    return absent + ([] if os.geteuid() == 0 else ["root"])


@contextlib.contextmanager
def cluster(folder: Path, memory: int) -> Iterator[dict[str, str]]:
    """The environment in which its client programs are found. Stops what it started, and nothing
    else.
    """
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    configuration = folder / "slurm.conf"
    ports = dict(zip(("controller_port", "node_port"), _free_ports(2), strict=True))
    configuration.write_text(
        CONFIGURATION.format(
            folder=folder, host=socket.gethostname().split(".")[0], cpus=os.cpu_count(), memory=memory,
            partition=PARTITION, **ports,
        )
    )  # fmt: skip
    for name in (
        CLIENTS
    ):  # SLURM_CONF alone will not do: it is removed from the environment inside a job
        if program := _program(name):
            script = folder / "bin" / name
            script.write_text(
                f'#!/bin/sh\nSLURM_CONF={configuration} exec {program} "$@"\n'
            )
            script.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{folder}/bin:{os.environ['PATH']}",
        "SLURM_CONF": str(configuration),
    }
    running: list[subprocess.Popen] = []
    try:
        key = folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        files = {"key-file": key, "socket": "munge.socket", "pid-file": "munged.pid", "log-file": "munged.log",
                 "seed-file": "munge.seed"}  # fmt: skip
        options = [f"--{option}={folder / file}" for option, file in files.items()]
        running.append(
            _start(folder, environment, "munged", "--foreground", "--force", *options)
        )
        _wait_for(environment, "munge", "-n", f"--socket={folder}/munge.socket")
        running.append(
            _start(
                folder, environment, "slurmctld", "-D", "-c", "-f", str(configuration)
            )
        )
        _wait_for(environment, "scontrol", "ping")
        node = [
            sys.executable,
            __file__,
            str(folder / "node_seconds"),
            _program("slurmd"),
        ]
        running.append(
            _spawn(
                folder, environment, "slurmd", [*node, "-D", "-f", str(configuration)]
            )
        )
        _wait_for(
            environment,
            "sh",
            "-c",
            "sinfo --noheader --format %T | grep -qE 'idle|mixed|allocated'",
        )
        yield environment
    finally:
        if len(running) == len(DAEMONS):
            subprocess.run(
                ["scancel", f"--partition={PARTITION}"],
                env=environment,
                timeout=30,
                check=False,
            )
            _settle(environment)
        for process in reversed(running):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _settle(environment: dict[str, str]) -> None:
    """Give cancelled jobs a moment to end."""
    for _ in range(50):
        queue = subprocess.run(
            ["squeue", "--noheader", "--states=R,CG"],
            env=environment,
            capture_output=True,
            check=False,
        )
        if not queue.stdout.strip():
            return
        time.sleep(0.2)


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


def _start(
    folder: Path, environment: dict[str, str], name: str, *arguments: str
) -> subprocess.Popen:
    return _spawn(folder, environment, name, [_program(name), *arguments])


def _spawn(
    folder: Path, environment: dict[str, str], name: str, command: list[str]
) -> subprocess.Popen:
    with open(folder / f"{name}.out", "wb") as output:
        return subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT
        )


def _wait_for(environment: dict[str, str], *command: str) -> None:
    """Try a command until it succeeds. Raises TimeoutError with what it said last."""
    until = time.monotonic() + SECONDS_TO_START
    while (
        answer := subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        )
    ).returncode:
        if time.monotonic() > until:
            raise TimeoutError(f"{' '.join(command)}: {answer.stdout}{answer.stderr}")
        time.sleep(0.2)


def _free_ports(n: int) -> list[int]:
    """Ports nobody uses, below those that outgoing connections are given: it stays free until a
    daemon takes it.
    """
    free: list[int] = []
    for port in random.SystemRandom().sample(range(12_000, 32_000), 1000):
        with contextlib.suppress(OSError), socket.socket() as one:
            one.bind(("", port))
            free.append(port)
        if len(free) == n:
            return free
    raise OSError("no free port was found")


def node(seconds: Path, command: list[str]) -> None:
    """Run slurmd and adopt what its jobs leave behind, so that this process's CPU account holds all
    of it.
    """
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    daemon = subprocess.Popen(command)
    signal.signal(signal.SIGTERM, lambda *_: daemon.terminate())
    with contextlib.suppress(ChildProcessError):  # no child is left
        while True:
            os.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds.write_text(f"{used.ru_utime + used.ru_stime:.2f}\n")


if __name__ == "__main__":
    node(Path(sys.argv[1]), sys.argv[2:])
