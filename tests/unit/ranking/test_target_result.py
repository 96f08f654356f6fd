"""The cache of targets: what was scored before is not computed again, and is the same."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import toporank
from complexes import ANTIBODY, antibody_decoys
from conftest import REPOSITORY
from structures_text import atoms_of, pdb_with
from toporank.app import score_folder
from toporank.app.request import Request
from toporank.finding.scan import Scan
from toporank.ranking.score import TargetScorer
from toporank.ranking.score_targets import score_targets
from toporank.ranking.target_result import TargetCache, TargetResult

DECOYS = REPOSITORY / "resources/example/decoys"
predicted = TargetScorer._predicted


@pytest.fixture
def models(tmp_path) -> Path:
    """Three models of each of two targets."""
    for target in ("1AVZ", "1PPE"):
        (tmp_path / "models" / target).mkdir(parents=True)
        for path in sorted((DECOYS / target).glob("[fn]*1.*"))[:3] + sorted(
            (DECOYS / target).glob("mid1.*")
        ):
            shutil.copy(path, tmp_path / "models" / target)
    return tmp_path / "models"


class DecoyFile:
    """What came out, and of which targets the networks were asked for graphs, each time models are
    scored.
    """

    def __init__(self, monkeypatch):
        self.found: list[list[TargetResult]] = []
        self.targets: list[set[str]] = []
        monkeypatch.setattr(score_folder, "score_targets", self._scored)
        monkeypatch.setattr(
            TargetScorer,
            "_predicted",
            lambda scorer, graphs: self._of_scorer(scorer, graphs),
        )

    def _scored(self, *args) -> list[TargetResult]:
        self.targets.append(set())
        results = score_targets(*args)
        self.found.append([replace(result, is_new=False) for result in results])
        return results

    def _of_scorer(self, scorer, graphs):
        self.targets[-1] |= {member.target for member in graphs.decoys}
        return predicted(scorer, graphs)


def texts(results: list[TargetResult]) -> list[str]:
    """As the store has them."""
    return [result.to_json() for result in results]


def test_a_target_that_came_out_before_is_not_looked_at_again_and_the_same(
    models, tmp_path, monkeypatch
):
    asked = DecoyFile(monkeypatch)
    for _ in range(2):
        toporank.score(models, cache=tmp_path / "cache")
    assert asked.targets == [{"1AVZ", "1PPE"}, set()]
    first, again = asked.found
    assert texts(again) == texts(first)
    for result in first:
        assert len(result.scores) == len(result.vectors) >= 3
        assert len(result.residues)


def test_a_new_model_costs_its_own_target_and_all_is_as_if_scored_at_once(
    models, tmp_path, monkeypatch
):
    asked, late = DecoyFile(monkeypatch), models / "1PPE/mid1.cif.gz"
    late.rename(tmp_path / late.name)
    toporank.score(models, cache=tmp_path / "cache")
    (tmp_path / late.name).rename(late)
    for cache in ("cache", "other"):
        toporank.score(models, cache=tmp_path / cache)
    assert asked.targets[1:] == [{"1PPE"}, {"1AVZ", "1PPE"}]
    found = list(map(texts, asked.found))
    assert found[1] == found[2] != found[0]


@pytest.mark.parametrize(
    "others",
    [
        {"rank_by": "min_interface"},
        {"confidence": False},
        {
            "scorer": REPOSITORY
            / "resources/scorer/ensemble/fold0_local_seed222.safetensors"
        },
    ],
)
def test_another_question_has_another_answer(models, tmp_path, monkeypatch, others):
    asked = DecoyFile(monkeypatch)
    for options in ({}, others):
        toporank.score(models, cache=tmp_path / "cache", **options)
    assert asked.targets[1] == {"1AVZ", "1PPE"}


def test_a_model_whose_atoms_moved_is_looked_at_again(models, tmp_path, monkeypatch):
    asked, file = DecoyFile(monkeypatch), models / "1AVZ/far1.pdb"
    toporank.score(models, cache=tmp_path / "cache")
    head, record, rest = file.read_text().partition("ATOM  ")
    # the last decimal of an x
    file.write_text(f"{head}{record}{rest[:31]}9{rest[32:]}")
    toporank.score(models, cache=tmp_path / "cache")
    assert asked.targets[1] == {"1AVZ"}


def test_what_the_predictor_says_is_part_of_the_question(tmp_path):
    (tmp_path / "model.pdb").write_text(
        pdb_with(DECOYS / "1AVZ/near1.pdb.gz", np.linspace(40.0, 95.0, 300))
    )
    found = [
        toporank.score([tmp_path / "model.pdb"], cache=tmp_path / "cache", plddt=said)
        .models["dockq"]
        .item()
        for said in ("b_factor", "none", "b_factor")
    ]
    assert found[0] == found[2] != found[1]


def test_a_damaged_side_file_is_damaged_until_it_is_written_again(
    models, tmp_path, monkeypatch
):
    asked = DecoyFile(monkeypatch)
    shutil.move(models / "1AVZ/far1.pdb", models / "1AVZ/p_model_0.pdb")
    side_file = models / "1AVZ/confidence_p_model_0.json"
    iptm = []
    for written in ("{", "", '{"iptm": 0.7}', ""):
        if written:
            side_file.write_text(written)
        results = toporank.score(models, cache=tmp_path / "cache")
        iptm.append(results.confidence["iptm"].max())
    assert asked.targets == [{"1AVZ", "1PPE"}, set(), {"1AVZ"}, set()]
    assert iptm == pytest.approx([np.nan, np.nan, 0.7, 0.7], nan_ok=True)


def test_a_side_file_that_is_written_meanwhile_is_read_next_time(
    models, tmp_path, monkeypatch
):
    shutil.move(models / "1AVZ/far1.pdb", models / "1AVZ/p_model_0.pdb")
    side_file = models / "1AVZ/confidence_p_model_0.json"
    side_file.write_text("{")
    keep = TargetCache.keep

    def write_and_keep(cache, plan, result):
        side_file.write_text('{"iptm": 0.7}')
        keep(cache, plan, result)

    monkeypatch.setattr(TargetCache, "keep", write_and_keep)
    for iptm in (np.nan, 0.7):
        results = toporank.score(models, cache=tmp_path / "cache")
        assert results.confidence["iptm"].max() == pytest.approx(iptm, nan_ok=True)


def test_a_damaged_answer_is_made_again(models, tmp_path, monkeypatch):
    asked = DecoyFile(monkeypatch)
    toporank.score(models, cache=tmp_path / "cache")
    for box in (tmp_path / "cache").rglob("*.zip"):
        if b"target/" in (content := box.read_bytes()):
            box.write_bytes(content[: len(content) // 2])
    toporank.score(models, cache=tmp_path / "cache")
    assert asked.targets[1] == {"1AVZ", "1PPE"}
    assert texts(asked.found[0]) == texts(asked.found[1])


def test_a_file_that_was_changed_while_it_was_scored_is_looked_at_again(
    models, tmp_path, monkeypatch
):
    asked = DecoyFile(monkeypatch)
    store = tmp_path / "store"
    store.mkdir()
    config = Request.of(models, lambda: tmp_path / "input").config
    score_folder.find_models(config, Scan(models), store, scores_here=False)
    found = score_folder.find_models(config, Scan(models), store)
    changed, other = sorted((models / "1PPE").glob("*.pdb.gz"))[:2]
    content = changed.read_bytes()
    shutil.copy(other, changed)
    results = score_folder.score_folder(config, found)
    assert (results.facts["status"] == "unreadable").sum() == 1
    changed.write_bytes(content)
    found = score_folder.find_models(config, Scan(models), store)
    results = score_folder.score_folder(config, found)
    assert (results.facts["status"] == "ok").all()
    assert asked.targets[1] == {"1PPE"}


def test_what_a_model_with_several_interfaces_comes_out_with_is_that_of_the_whole(
    tmp_path, monkeypatch
):
    asked = DecoyFile(monkeypatch)
    antibody_decoys(tmp_path / "models", atoms_of(ANTIBODY), "A")
    results = toporank.score(tmp_path / "models", partners="chains")
    ((found,),) = asked.found
    table = results.models.merge(results.details)
    several = table.loc[
        (table["n_interfaces"] > 1) & table["dockq"].notna(), "decoy"
    ].tolist()
    assert len(several) >= 2
    chains = results.residues.groupby("decoy")["chain"].nunique()
    assert (chains[several] == 3).all()
    assert set(several) <= set(results.contacts["decoy"])
    assert (
        len({*map(tuple, found.vectors.values())}) == len(found.vectors) == len(chains)
    )
