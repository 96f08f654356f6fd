"""`python -m toporank`, and the manual that is made of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from toporank.__main__ import config_markdown, features_show, main
from toporank.app.config import Config, load_config
from toporank.errors import ConfigError
from toporank.features.registry import modules
from toporank.learning.hyperparameters import Hyperparameters


def printed(capsys, *arguments: str) -> str:
    main(list(arguments))
    return capsys.readouterr().out


def test_every_feature_module_is_listed_with_alias_and_width(capsys):
    lines = printed(capsys, "features", "list").splitlines()
    assert lines[0].split() == ["id", "alias", "columns", "summary"]
    listed = {line.split()[0]: line for line in lines[1:] if "/" in line.split("  ")[0]}
    assert set(listed) == set(modules())
    assert re.search(r"edges/legacy_v11\s+legacy\s+11\s", listed["edges/legacy_v11"])
    assert re.search(r"topology/persistence/v1 \*\s+persistence\s+140\s", listed["topology/persistence/v1"])


def test_one_module_of_each_stage_is_marked_as_the_default(capsys):
    marked = re.findall(r"^(\w+)/\S+ \*", printed(capsys, "features", "list"), re.MULTILINE)
    assert sorted(marked) == ["edges", "interface", "nodes", "topology"]


def test_a_module_is_shown_with_parameters_and_columns(capsys):
    text = printed(capsys, "features", "show", "ca_cutoff")
    assert text == printed(capsys, "features", "show", "interface/ca_cutoff/v1")
    assert "| `cutoff` | `10.0` | > 0 and ≤ 50 | Å |" in text
    assert text.endswith("4 columns: x, y, z, nearest\n")


def test_the_columns_that_are_shown_are_all_there_are():
    text = features_show("legacy")
    names = text.rstrip().split(": ")[-1].split(", ")
    assert f"{len(names)} columns" in text
    assert names == ["ca_distance", *(f"atom_pairs_from_{edge}" for edge in range(1, 11))]


def test_a_misspelt_module_is_an_error_with_the_nearest_name(capsys):
    with pytest.raises(ConfigError, match=r"no feature module 'edges/legacy_v12'.*did you mean 'edges/legacy_v11'"):
        features_show("edges/legacy_v12")
    with pytest.raises(SystemExit, match="did you mean 'edges/legacy_v11'"):
        main(["features", "show", "edges/legacy_v12"])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("arguments", [[], ["features"], ["features", "show"], ["nonsense"]])
def test_an_incomplete_command_shows_the_usage(capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: python -m toporank" in capsys.readouterr().err


def test_the_manual_of_the_configuration_is_up_to_date(repository):
    written = (repository / "config" / "README.md").read_text(encoding="utf-8")
    assert written == config_markdown(), "run `python -m toporank config > config/README.md`"


def keys(model, prefix: str = "") -> set[str]:
    """Every key of the configuration, from the schema that pydantic makes."""
    schema = model.model_json_schema()
    found = set(schema["properties"])
    for definition in schema.get("$defs", {}).values():
        found |= set(definition.get("properties", {}))
    return found


def test_every_key_is_in_the_manual_with_a_meaning():
    rows = re.findall(r"^\| `(\w+)` \| .+ \| .* \| (.+) \|$", config_markdown(), re.MULTILINE)
    assert keys(Config) <= {name for name, _ in rows}
    assert all(len(meaning) > 10 and meaning != "None" for _, meaning in rows)
    for module in modules().values():
        assert set(module.parameters.model_fields) <= {name for name, _ in rows}


def test_defaults_in_the_manual_are_the_defaults():
    table = dict(re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", config_markdown(), re.MULTILINE))
    defaults = Hyperparameters()
    for name in ("hidden", "heads", "layers", "readout", "accumulate"):
        assert table[name] == str(getattr(defaults, name))
    assert table["chunk_size"] == str(load_config({}).workflow.chunk_size)


@pytest.mark.parametrize("command", [["config"], ["features", "list"]])
def test_the_commands_work_from_a_shell_and_without_torch(tmp_path, repository, command):
    (tmp_path / "torch.py").write_text("raise RuntimeError('torch is not needed here')")
    answer = subprocess.run(
        [sys.executable, "-m", "toporank", *command], capture_output=True, text=True, check=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(repository, "lib"))])},
    )  # fmt: skip
    assert answer.stderr == ""
    assert len(answer.stdout.splitlines()) > 5
