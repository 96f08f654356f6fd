"""A `python3` whose processes have everything imported already: importing takes longer than most of
what tests ask of Snakemake, of its jobs and of `toporank`.

`quick_python` asks a server for what it shall run: `-m snakemake`, `-m toporank`, or a script of a
job. The server forks, and the fork runs it in the folder, environment and output of whoever asked.
It has imported TopoRank of this repository, and forgets it where PYTHONPATH begins with another.
All else, and what a test kills or stops, goes the ordinary way: a fork is no child of who asked.
"""

from __future__ import annotations

import array
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import traceback
import uuid
from pathlib import Path

from filelock import FileLock

LIBRARY = Path(__file__).parents[1] / "lib"
PATIENCE = 600
"""Seconds for one run."""
RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID")
SESSION = (RUN, os.getppid()) if RUN else (uuid.uuid4().hex, os.getpid())
"""Name of the session of tests, and its first process, of which workers are children."""
_servers: list[subprocess.Popen] = []
LOOKS = 1.0
"""Seconds between looks of the server whether the session goes on."""
CLIENT = """\
#!/bin/sh
'''exec' "{python}" -IS "$0" "$@"
' '''
import os, sys
words = sys.argv[1:]
script = bool(words) and os.path.dirname(words[0]).endswith("/.snakemake/scripts")
if not script and words[:2] not in (["-m", "snakemake"], ["-m", "toporank"]):
    os.execv({python!r}, [{python!r}, *words])
import array, json, signal, socket
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    what = json.dumps([words, os.getcwd(), dict(os.environ)]).encode()
    fds = array.array("i", [0, 1, 2])
    server.sendmsg([len(what).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
    server.sendall(what)
    status = server.recv(1)
os._exit(status[0]) if status else os.kill(os.getpid(), signal.SIGKILL)
"""


@functools.cache
def quick_python() -> str:
    """The path of this `python3`. The first process of a session of tests that asks starts its
    server, which ends when the session does.
    """
    name, session = SESSION
    folder = Path(tempfile.gettempdir()) / f"toporank-jobs-{name}"
    folder.mkdir(exist_ok=True)
    python = folder / "python3"
    with FileLock(folder / "lock"):
        if not python.exists():
            start_server(folder, session)
            names = {"python": sys.executable, "address": str(folder / "server")}
            python.write_text(CLIENT.format(**names))
            python.chmod(0o755)
    return str(python)


def start_server(folder: Path, session: int) -> None:
    """Start a server and wait until it has imported everything."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(LIBRARY)}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
    command = [sys.executable, __file__, str(folder), str(session)]
    server = subprocess.Popen(command, env=environment, start_new_session=True, **pipes)
    assert server.stdout.readline() == b"ready\n"
    _servers.append(server)


def quickly(
    words: list[str], folder: Path, python: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """What a Python, a quick one by default, does with these words in a folder; `stdout` has all
    that was printed.

    Unless the environment has another PYTHONPATH, the folder is a repository.
    """
    environment = {"PYTHONPATH": str(folder / "lib"), **environment}
    return subprocess.run(
        [python or quick_python(), *words], cwd=folder, env={**os.environ, **environment}, timeout=PATIENCE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip


# ---- the server ----------------------------------------------------------------------------------


def import_everything() -> None:
    """Import the whole library and Snakemake, and load what numba compiled."""
    import snakemake.report.html_reporter  # noqa: F401
    from snakemake.cli import get_argument_parser

    import toporank
    from toporank.app.installation import compile_everything

    get_argument_parser()  # finds the plug-ins
    for module in pkgutil.walk_packages(toporank.__path__, "toporank."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # needs what is not installed
                importlib.import_module(module.name)
    for part in compile_everything():
        if part == "edges":  # next is the network, whose threads no fork would have
            break
    gc.freeze()


def serve(folder: str, session: int) -> None:
    """Fork for each request, until the process of the session ends."""
    import_everything()
    sys.executable = f"{folder}/python3"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/server")
        server.listen(64)
        print("ready", flush=True)
        while is_there(session):
            if not select.select([server], [], [], LOOKS)[0]:
                continue
            client = server.accept()[0]
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if os.fork() == 0:
                server.close()
                status = run(client)
                client.send(bytes([status]))
                os._exit(status)
            client.close()
    shutil.rmtree(folder)


def is_there(process: int) -> bool:
    """Whether a process lives."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def run(client: socket.socket) -> int:
    """Run what a client asks for, as Python would; its exit status."""
    fds = array.array("i")
    length, ((_, _, data),), *_ = client.recvmsg(8, socket.CMSG_SPACE(3 * fds.itemsize))
    fds.frombytes(data)
    what = bytearray()
    while len(what) < int.from_bytes(length, "big"):
        what += client.recv(1 << 20)
    words, folder, environment = json.loads(what)
    for target, fd in enumerate(fds):
        os.dup2(fd, target)
        os.close(fd)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    as_the_environment_says()
    try:
        if words[0] == "-m":
            sys.path[0] = folder
            sys.argv[:] = words[1:]
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(words[0])
            sys.argv[:] = words
            runpy.run_path(words[0], run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:  # noqa: BLE001 -- as Python itself does with what a script raises
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def as_the_environment_says() -> None:
    """What was read from the environment when everything was imported."""
    import numba
    import threadpoolctl
    import torch

    paths = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    sys.path[1:1] = paths
    if paths and Path(paths[0]) != LIBRARY:
        for name in [*sys.modules]:
            if name.startswith("toporank"):
                del sys.modules[name]
    numba.config.reload_config()
    if threads := os.environ.get("OMP_NUM_THREADS"):
        threadpoolctl.threadpool_limits(int(threads))
        torch.set_num_threads(int(threads))


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
