"""Jobs in processes that have everything imported already: importing takes longer than most of what
jobs do.

`started_quickly` makes a `python3` that asks a server for each workflow script it shall run; the
server forks, and the fork runs the script in the folder, environment and output of whoever asked.
It has imported TopoRank of this repository, too, and forgets that where a job is one of another.
tests/slurm, the documented commands and runs that are killed start their jobs in the ordinary way.
"""

from __future__ import annotations

import array
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import socket
import subprocess
import sys
import traceback
from pathlib import Path

LIBRARY = Path(__file__).parents[2] / "lib"
_servers: list[subprocess.Popen] = []
"""Their standard input must stay open."""
CLIENT = """\
#!/bin/sh
'''exec' "{python}" -IS "$0" "$@"
' '''
import os, sys
if len(sys.argv) < 2 or not os.path.dirname(sys.argv[1]).endswith("/.snakemake/scripts"):
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
import array, json, signal, socket
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    what = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    fds = array.array("i", [0, 1, 2])
    server.sendmsg([len(what).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
    server.sendall(what)
    status = server.recv(1)
os._exit(status[0]) if status else os.kill(os.getpid(), signal.SIGKILL)
"""


def started_quickly(folder: Path) -> str:
    """The path of a `python3` in a folder; its server ends when the process that called this
    does.
    """
    python, address = folder / "bin/python3", str(folder / "server")
    python.parent.mkdir()
    python.write_text(CLIENT.format(python=sys.executable, address=address))
    python.chmod(0o755)
    server = subprocess.Popen(
        [sys.executable, __file__, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": ""},
    )  # fmt: skip
    assert server.stdout.readline() == b"ready\n"
    _servers.append(server)
    return str(python)


def import_everything() -> None:
    """Import the whole library, and load what numba compiled for it."""
    import matplotlib.pyplot  # noqa: F401 -- jobs import it where they draw

    import toporank
    from toporank.app.installation import compile_everything

    for module in pkgutil.walk_packages(toporank.__path__, "toporank."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # needs what is not installed
                importlib.import_module(module.name)
    for part in compile_everything():
        if part == "edges":  # next is the network, whose threads no fork would have
            break
    gc.freeze()


def forget_another(library: Path) -> None:
    """Have TopoRank imported anew, unless it is the one of this folder that is imported."""
    if library != LIBRARY:
        for name in [*sys.modules]:
            if name.partition(".")[0] in ("toporank", "toporank_sampling"):
                del sys.modules[name]


def serve(address: str) -> None:
    """Fork for each request, until standard input ends."""
    sys.path.insert(0, str(LIBRARY))
    import_everything()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen(64)
        print("ready", flush=True)
        while (
            sys.stdin.buffer not in select.select([server, sys.stdin.buffer], [], [])[0]
        ):
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


def run(client: socket.socket) -> int:
    """Run the script that a client asks for, as Python would; its exit status."""
    fds = array.array("i")
    length, ((_, _, data),), *_ = client.recvmsg(8, socket.CMSG_SPACE(3 * fds.itemsize))
    fds.frombytes(data)
    what = bytearray()
    while len(what) < int.from_bytes(length, "big"):
        what += client.recv(1 << 20)
    arguments, folder, environment = json.loads(what)
    for target, fd in enumerate(fds):
        os.dup2(fd, target)
        os.close(fd)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[:] = arguments
    libraries = [*filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.path[:2] = [os.path.dirname(arguments[0]), *libraries]
    forget_another(Path(libraries[0]))
    _as_the_environment_says()
    try:
        runpy.run_path(arguments[0], run_name="__main__")
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


def _as_the_environment_says() -> None:
    """What the libraries would have read from the environment when they were imported."""
    import numba
    import threadpoolctl
    import torch

    numba.config.reload_config()
    if threads := os.environ.get("OMP_NUM_THREADS"):
        threadpoolctl.threadpool_limits(int(threads))
        torch.set_num_threads(int(threads))


if __name__ == "__main__":
    serve(sys.argv[1])
