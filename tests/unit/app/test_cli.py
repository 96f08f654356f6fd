"""`python -m toporank`, and the manual that is made of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from toporank.__main__ import main
from toporank.app.commands.config_reference import config_markdown
from toporank.app.config import Config, load_config
from toporank.features.registry import modules
from toporank.learning.hyperparameters import Hyperparameters


@pytest.mark.parametrize("arguments", [[], ["compare"], ["report"], ["nonsense"]])
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


def fields(model: type[BaseModel]) -> set[tuple[str, str]]:
    """The keys of a section and of those inside it, each with the class that defines it."""
    found = set()
    for name, field in model.model_fields.items():
        inner = [
            part
            for part in (field.annotation, *get_args(field.annotation))
            if isinstance(part, type)
        ]
        sections = [part for part in inner if issubclass(part, BaseModel)]
        owner = next(
            each for each in reversed(model.__mro__) if name in getattr(each, "__annotations__", ())
        )
        found |= set().union(*map(fields, sections)) if sections else {(owner.__name__, name)}
    return found


def test_the_configuration_has_80_keys_at_most():
    """One of sweep and fine-tuning counts once; parameters of feature modules are listed by
    module.
    """
    assert len(fields(Config)) <= 80


def test_every_key_is_in_the_manual_with_a_meaning():
    rows = re.findall(r"^\| `(\w+)` \| .+ \| .* \| (.+) \|$", config_markdown(), re.MULTILINE)
    assert keys(Config) <= {name for name, _ in rows}
    assert all(len(meaning) > 10 and meaning != "None" for _, meaning in rows)
    for module in modules().values():
        assert set(module.parameters.model_fields) <= {name for name, _ in rows}


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


def test_defaults_in_the_manual_are_the_defaults():
    table = dict(re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", config_markdown(), re.MULTILINE))
    defaults = Hyperparameters()
    for name in ("hidden", "heads", "layers", "readout", "accumulate"):
        assert table[name] == str(getattr(defaults, name))
    assert table["chunk_size"] == str(load_config({}).workflow.chunk_size)


@pytest.mark.parametrize("command", [["config"]])
def test_the_commands_work_from_a_shell_and_without_torch(tmp_path, repository, command):
    (tmp_path / "torch.py").write_text("raise RuntimeError('torch is not needed here')")
    answer = subprocess.run(
        [sys.executable, "-m", "toporank", *command], capture_output=True, text=True, check=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(repository, "lib"))])},
    )  # fmt: skip
    assert answer.stderr == ""
    assert len(answer.stdout.splitlines()) > 5
