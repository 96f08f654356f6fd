"""A scorer made from a cross-validation: whole, the same for the same seeds, and plain about what it lacks."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from _contacts import content
from safetensors.torch import load_file

from toporank.comparing.decoys import Compared
from toporank.errors import TrainingError
from toporank.layout import repository
from toporank.learning.checkpoint import read_description
from toporank.learning.weights import network_bytes
from toporank.scorer import make
from toporank.scorer.calibration import read_calibration, why_of_another
from toporank.scorer.combine import read_trees
from toporank.scorer.make import Evidence, for_calibration, make_scorer
from toporank.scorer.prediction import CONTACTS, ResidueScore, Score
from toporank.scorer.residue_quality import Truth, Witness, read_quality
from toporank.scorer.scorer import Scorer

SHIPPED = repository() / "resources/scorer"
TABLES = repository() / "docs/scorer"
CLUSTERS, EACH, WIDTH = 24, 5, 50


@pytest.fixture(autouse=True)
def few_trees(monkeypatch) -> None:
    monkeypatch.setattr(make, "TREES_GROWN", 5)


@pytest.fixture
def evidence() -> Evidence:
    """Decoys of a target in each cluster, of which a descriptor and the networks know something."""
    draw, n = np.random.default_rng(1), CLUSTERS * EACH
    number = np.arange(n) // EACH
    dockq = draw.uniform(size=n)
    decoys = pd.DataFrame({
        "dataset": "d", "target": [f"T{i}" for i in number], "decoy": [f"m{i % EACH}" for i in range(n)],
        "group": np.where(np.arange(n) % EACH == 0, "sampled", "predicted"), "cluster": [f"c{i}" for i in number],
        "fold": number % 3, "dockq": dockq, "pred_dockq": np.clip(dockq + draw.normal(0, 0.1, n), 0, 1),
        "pred_local": dockq, "consensus": 0.5, "n_interface_residues": 50 + number, "n_chains": 2,
        "contact_plddt": 40 + 50 * dockq, "pdockq": dockq / 2,
    })  # fmt: skip
    names = [path.stem for path in sorted(SHIPPED.glob("ensemble/*.safetensors"))]
    descriptors = np.column_stack([dockq + draw.normal(0, 0.2, n), draw.normal(size=n)])
    alike = {("d", target): np.full((EACH, EACH), 0.5) for target in decoys["target"].unique()}
    sample = [Score("T0", "m0", 0.0, None, pooled=(0.5,) * WIDTH)]
    networks = {name: (SHIPPED / f"ensemble/{name}.safetensors").read_bytes() for name in names}
    pooled = draw.normal(size=(n, WIDTH))
    features = Scorer.open(SHIPPED).features
    witnesses = {"d": [witness(row.target, row.decoy, row.dockq) for row in decoys.itertuples()]}
    known = networks, names[1], pooled, sample, features, witnesses
    return Evidence(decoys, ["size", "noise"], descriptors, alike, *known)


def test_decoys_whose_networks_say_nothing_of_residues_tell_nothing_of_their_quality(evidence):
    mute = [one._replace(score=one.score._replace(residues=(), contacts=b"")) for one in evidence.witnesses["d"]]
    known = make.judged_by_natives({"d": mute}, evidence.decoys.assign(predicted=0.5))
    assert known["cluster"].nunique() == 0


def witness(target: str, decoy: str, dockq: float) -> Witness:
    """A decoy with two residues in contact, of which a good one has both right and others one."""
    known = np.array([(0, 1, 4.0, 0, dockq, np.nan, np.nan)], CONTACTS).tobytes()
    score = Score(target, decoy, 0.0, None, residues=(ResidueScore("A:1", dockq), ResidueScore("B:1", 0.5)))
    pairs = frozenset([("A:1", "B:1")] if dockq > 0.5 else [])
    truth = Truth({"A:1": True, "B:1": dockq > 0.5}, pairs)
    return Witness(score._replace(contacts=known), Compared(decoy, content({1})), truth)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_made_scorer_is_whole_and_its_calibration_its_own(evidence, tmp_path):
    scorer = make_scorer(evidence, tmp_path / "out", made=["sampled"])
    assert scorer.missing == ""
    assert scorer.mean
    assert [path.stem for path in scorer.members] == [*evidence.networks]
    assert scorer.checkpoint.read_bytes() == scorer.members[1].read_bytes()
    known = read_calibration(scorer.calibration)
    assert why_of_another(known, scorer.identity) == ""
    assert known.expected is not None
    assert known.in_domain.n_decoys + known.out_of_domain.n_decoys == CLUSTERS * (EACH - 1)  # none of the sampled
    assert [*scorer.training_vectors()] == [("T0", "m0")]
    assert read_quality(scorer.quality).residues.alone.weights["decoy"] > 0
    assert [len(forest.leaf) for forest in (lambda t: (t.alone, *t.judges))(read_trees(scorer.trees)[0])] == [5] * 3
    card = (tmp_path / "out/README.md").read_text()
    assert "120 labelled decoys of 24 targets in 24 clusters" in card
    assert "| sampled | 24 | 24 |" in card
    assert "| made at | " in card


def test_a_network_of_a_scorer_is_the_same_whatever_commit_trained_it(tmp_path):
    shipped = SHIPPED / "best.safetensors"
    description, weights = read_description(shipped), load_file(shipped)
    for commit in ("0123456789ab", "ba9876543210"):
        described = {**description, "provenance": {**description["provenance"], "git": commit}}
        state = {f"network.{name}": tensor for name, tensor in weights.items()}
        torch.save({"state_dict": state, "toporank": json.dumps(described)}, tmp_path / f"{commit}.ckpt")
    one, other = map(network_bytes, sorted(tmp_path.iterdir()))
    assert one == other == shipped.read_bytes()


def test_the_same_seeds_make_the_same_files_also_over_an_older_scorer(evidence, tmp_path):
    make_scorer(evidence, tmp_path / "one")
    (tmp_path / "two/ensemble").mkdir(parents=True)
    (tmp_path / "two/ensemble/stale.safetensors").touch()
    (tmp_path / "two/trees.safetensors").touch()
    make_scorer(evidence, tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_graphs_that_cannot_be_described_make_a_scorer_without_trees_and_without_lightgbm(
    evidence, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    bare = replace(evidence, names=[], descriptors=np.zeros((len(evidence.decoys), 0)))
    scorer = make_scorer(bare, tmp_path / "out")
    assert scorer.missing == "the scorer has no trees.safetensors (its networks have the last word)"
    assert scorer.calibration
    assert f"| lacks | {scorer.missing} |" in (tmp_path / "out/README.md").read_text()
    with pytest.raises(TrainingError, match=r"LightGBM.* is not installed \(pip install 'toporank\[train\]'"):
        make_scorer(evidence, tmp_path / "other")


def test_a_card_of_folds_that_divide_clusters_says_so(evidence, tmp_path):
    make_scorer(evidence, tmp_path / "by_cluster")
    pairs = {f"c{i}": f"c{i // 2}" for i in range(CLUSTERS)}  # of two targets in different folds
    split = replace(evidence, decoys=evidence.decoys.replace({"cluster": pairs}))
    make_scorer(split, tmp_path / "by_target")
    said = [(tmp_path / name / "README.md").read_text() for name in ("by_cluster", "by_target")]
    assert ["neither networks nor trees had seen the cluster" in text for text in said] == [True, False]
    assert ["had seen other targets of the cluster" in text for text in said] == [False, True]


@pytest.mark.parametrize("what", ["made", "calibrated_on", "poses"])
def test_a_group_that_no_decoy_is_of_is_refused_by_name(evidence, tmp_path, what):
    with pytest.raises(TrainingError, match=r"no decoy is of the group 'dockd' \(`training.scorer` names groups"):
        make_scorer(evidence, tmp_path, **{what: ["dockd"]})
    assert not list(tmp_path.iterdir())


def test_few_clusters_have_no_calibration(evidence, tmp_path):
    few = evidence.decoys["cluster"].isin([f"c{i}" for i in range(4)]).to_numpy()
    part = replace(
        evidence,
        decoys=evidence.decoys[few].reset_index(drop=True),
        descriptors=evidence.descriptors[few],
        pooled=evidence.pooled[few],
    )
    assert make_scorer(part, tmp_path / "out").missing.startswith("the scorer has no calibration.json (no intervals")


def test_the_intervals_that_ship_follow_from_the_predictions_in_docs():
    """The table has six decimals. Domain and vectors need the graphs, which are not here."""
    table = pd.read_csv(TABLES / "predictions.csv.gz", dtype={"target": str, "decoy": str, "cluster": str})
    table = table.assign(predicted=table["scorer"], n_interface_residues=50, n_chains=2)
    docked = ("docked", "protac-megadock", "sabdab-docked", "membrane-zdock")
    groups = ("perturbed", "sampled"), ("bm55-af2-boltz",), docked
    shown, seen = for_calibration(table, np.random.default_rng(0).normal(size=(len(table), 3)), *groups)
    known = read_calibration(SHIPPED / "calibration.json")
    made = make.calibrate(shown, seen, known.scorer)
    for name in ("expected", "expected_alone", "poses", "poses_alone"):
        theirs, ours = (numbers(getattr(each, name).model_dump()) for each in (known, made))
        assert ours == pytest.approx(theirs, abs=2e-6), name


def test_docked_poses_are_no_predicted_models_in_a_calibration():
    table = pd.DataFrame({"dataset": "d", "target": "t", "group": ["models", "docked", "sampled"]})
    said = [for_calibration(table, np.zeros((3, 1)), ["sampled"], on, ["docked"])[0] for on in ([], ["models"])]
    for kinds in said:
        assert kinds[["group", "for_intervals", "pose"]].values.tolist() == [
            ["models", True, False],
            ["docked", False, True],
        ]


def numbers(content) -> list[float]:
    """All numbers in dictionaries and lists, in their order."""
    if isinstance(content, dict | list | tuple):
        return [x for part in (content.values() if isinstance(content, dict) else content) for x in numbers(part)]
    return [content]


def test_without_natives_quality_is_no_probability(evidence, tmp_path):
    scorer = make_scorer(replace(evidence, witnesses={"d": []}), tmp_path / "out")
    assert scorer.quality is None
    assert scorer.missing == "the scorer has no quality.json (the quality of residues and contacts is no probability)"


def test_without_plddt_nothing_is_said_of_what_it_is_worth(evidence, tmp_path):
    blind = replace(evidence, decoys=evidence.decoys.drop(columns=["contact_plddt", "pdockq"]))
    scorer = make_scorer(blind, tmp_path / "out")
    assert scorer.own_confidence is None
    assert scorer.missing == "the scorer has no confidence.json (the predictor's confidence does not count)"
