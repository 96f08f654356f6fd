"""`python -m toporank`, and the manual that is made of it."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from toporank.__main__ import main
from toporank.app.commands.config_reference import config_markdown


@pytest.mark.parametrize("arguments", [[], ["compare"], ["report"], ["nonsense"]])
def test_an_incomplete_command_shows_the_usage(capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: python -m toporank" in capsys.readouterr().err


COMPLETED = (
    ("toporank sc", "score"),
    ("toporank score --rank", "--rank-by"),
    ("toporank score --rank-by m", "min_interface mean_interface"),
    ("toporank completion z", "zsh"),
)


def completing(shell: str, capsys) -> str:
    """The script of a shell."""
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(("typed", "offered"), COMPLETED)
def test_bash_completes_commands_options_and_choices(capsys, typed, offered):
    words = typed.split()
    script = f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}\n_toporank"
    asked = f'{completing("bash", capsys)}\n{script}; echo "${{COMPREPLY[*]}}"'
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == (offered, "")


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
@pytest.mark.parametrize(("typed", "offered"), COMPLETED)
def test_zsh_completes_them_at_a_tab(capsys, tmp_path, typed, offered):
    (tmp_path / "script").write_text(completing("zsh", capsys))
    ours, of_zsh = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "xterm"}
    zsh = subprocess.Popen(
        ["zsh", "-f", "-i"], stdin=of_zsh, stdout=of_zsh, stderr=of_zsh, cwd=tmp_path,
        env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(of_zsh)
    start, end = "\x01", "\x05"  # keys that go to the start and the end of the line
    os.write(ours, f"source script\n{typed}\t{start}: '{end}'; exit\n".encode())
    shown = ""
    try:
        while select.select([ours], [], [], 20)[0]:
            shown += os.read(ours, 4096).decode()
    except OSError:  # zsh has left
        pass
    zsh.kill()
    zsh.wait()
    os.close(ours)
    assert [word for word in offered.split() if word not in shown] == []


def test_the_manual_of_the_configuration_is_up_to_date(repository):
    written = (repository / "config" / "README.md").read_text(encoding="utf-8")
    assert written == config_markdown(), (
        "run `python -m toporank config > config/README.md`"
    )


def test_of_each_stage_one_module_is_marked_as_the_default_and_each_has_its_columns():
    text = config_markdown()
    assert sorted(re.findall(r"^## (\w+)/\S+ \*$", text, re.MULTILINE)) == [
        "edges",
        "interface",
        "nodes",
        "topology",
    ]
    assert "| `cutoff` | `10.0` | > 0 and ≤ 50 | Å |" in text
    legacy = text.partition("## edges/legacy_v11\n")[2].partition("\n## ")[0]
    assert re.search(
        r"^11 columns: ca_distance, atom_pairs_from_1, .*, atom_pairs_from_10$",
        legacy,
        re.MULTILINE,
    )


@pytest.mark.parametrize("command", [["config"]])
def test_the_commands_work_from_a_shell_and_without_torch(
    tmp_path, repository, command
):
    (tmp_path / "torch.py").write_text("raise RuntimeError('torch is not needed here')")
    answer = subprocess.run(
        [sys.executable, "-m", "toporank", *command], capture_output=True, text=True, check=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(repository, "lib"))])},
    )  # fmt: skip
    assert answer.stderr == ""
    assert len(answer.stdout.splitlines()) > 5
