"""Figures by matplotlib, and the command that writes them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from scored_folders import EXAMPLE, LOST, open_folder, real_answer, write_answer
from toporank.__main__ import main
from toporank.errors import ConfigError
from toporank.inputs.confidence.decoy import NOT_OF_THIS_MODEL, Pae
from toporank.inputs.confidence.table import Confidence
from toporank.report import figures
from toporank.structures.identity import ResidueId
from toporank.structures.read import read_complex


def test_the_ranking_shows_each_scored_model_with_its_interval(tmp_path):
    models = open_folder(
        write_answer(tmp_path, {"T": {"a": 0.9, "b": 0.3, "lost": LOST}})
    ).models
    (axes,) = figures.ranking_figure(models).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert axes.get_title() == "T"
    with pytest.raises(ConfigError, match="no model of this target has a score"):
        figures.ranking_figure(models[models["decoy"] == "lost"])


def test_pae_has_lines_between_chains_and_contacts_their_residues():
    residues = tuple(
        ResidueId(chain, number, "") for chain in "AB" for number in (1, 2)
    )
    axes, _ = figures.pae_figure(
        Pae(np.zeros((4, 4), np.float32), residues), "title"
    ).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["A", "B"]
    assert len(axes.lines) == 2
    contacts = {
        "name": "A:B",
        "a": ["A 1 SER", "A 2 SER"],
        "b": ["B 1 SER"],
        "k": [0, 0, 90, 1, 0, 20],
    }
    axes, _ = figures.contact_figure(contacts, "title").axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "A 1 SER",
        "A 2 SER",
    ]
    assert axes.images[0].get_array().tolist() == [[0.9], [0.2]]


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError, match=r"pip install 'toporank\[figures\]'"):
        figures.new_figure(1, 1)


@pytest.fixture
def with_pae(tmp_path) -> Path:
    """The example, whose best model has a PAE of ColabFold beside it."""
    path = tmp_path / "q_unrelaxed_rank_001_m.pdb.gz"
    path.write_bytes((EXAMPLE / "near1.pdb.gz").read_bytes())
    n = len(read_complex(path).residues)
    (tmp_path / "q_scores_rank_001_m.json").write_text(
        json.dumps({"pae": np.ones((n, n)).tolist()})
    )
    files = {"near1": path, "mid1": path, "far1": EXAMPLE / "far1.pdb"}
    return real_answer(
        tmp_path,
        files=files,
        confidence=[Confidence("1AVZ", "near1", interface_pae=1.0, status="ok")],
    )


def drawn(answer: Path, *options: str) -> int:
    return main(["figure", str(answer), "-o", str(answer / "pictures"), *options])


def test_files_are_named_after_target_and_model_and_a_line_says_what_is_missing(
    with_pae, capsys
):
    assert drawn(with_pae) == 0
    names = {"1AVZ_ranking.png", "1AVZ_near1_pae.png", "1AVZ_near1_contacts.png"}
    assert {path.name for path in (with_pae / "pictures").iterdir()} == names
    assert drawn(with_pae, "--model", "far1", "--format", "svg") == 0
    assert "no pae: " in capsys.readouterr().out
    assert (with_pae / "pictures/1AVZ_far1_contacts.svg").exists()


def test_the_pae_of_a_copy_is_that_of_its_original(with_pae):
    assert drawn(with_pae, "--kind", "pae", "--model", "mid2") == 0  # of mid1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--target", "1AVY"), "there is no target '1AVY' (did you mean '1AVZ'?)"),
        (
            ("--model", "near2"),
            "the target '1AVZ' has no model 'near2' (did you mean 'near1'?)",
        ),
        (
            ("--kind", "pae", "--model", "far1"),
            "the predictor left no PAE beside this model",
        ),
    ],
)
def test_what_cannot_be_drawn_is_an_error_with_a_remedy(with_pae, options, message):
    with pytest.raises(SystemExit, match=re.escape(message)):
        drawn(with_pae, *options)


def test_a_pae_that_is_not_of_the_model_is_not_drawn(tmp_path):
    reason = f"76% {NOT_OF_THIS_MODEL} q_scores_rank_001_m.json"
    root = real_answer(
        tmp_path,
        confidence=[Confidence("1AVZ", "near1", status="incomplete", reason=reason)],
    )
    with pytest.raises(SystemExit, match=reason):
        drawn(root, "--kind", "pae")
