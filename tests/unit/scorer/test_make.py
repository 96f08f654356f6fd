"""A scorer made from a cross-validation: whole, the same for the same seeds, and plain about what
it lacks.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from _contacts import content
from safetensors.torch import load_file

from toporank.chains.complex_kinds import ANTIBODY, PEPTIDE, PROTEINS
from toporank.comparing.decoys import Compared
from toporank.errors import TrainingError
from toporank.layout import repository
from toporank.learning.checkpoint import read_description
from toporank.learning.weights import network_bytes
from toporank.metrics import ACCEPTABLE
from toporank.scorer.curves import Curve, fit_curve
from toporank.scorer.fitting import (
    FEWEST_CLUSTERS,
    fit_calibration,
    fit_judge,
    fit_levels,
    observations,
    uncalibrated,
)
from toporank.scorer.judge import BINDERS, OF_PAIRS, OF_RESIDUES, REST, read_judge
from toporank.scorer.make import Evidence, judged_by_natives, make_scorer
from toporank.scorer.prediction import CONTACTS, KEY, LEVEL, RESIDUES, table_of
from toporank.scorer.residue_quality import LabelledContacts

SHIPPED = repository() / "resources/scorer"
CLUSTERS, EACH, WIDTH = 24, 5, 50


@pytest.fixture
def evidence() -> Evidence:
    """Decoys of a target in each cluster, of which the networks know something."""
    draw, n = np.random.default_rng(1), CLUSTERS * EACH
    number = np.arange(n) // EACH
    dockq = draw.uniform(size=n)
    decoys = pd.DataFrame({
        "dataset": "d", "target": [f"T{i}" for i in number], "decoy": [f"m{i % EACH}" for i in range(n)],
        "group": np.where(np.arange(n) % EACH == 0, "sampled", "predicted"), "cluster": [f"c{i}" for i in number],
        "fold": number % 3, "dockq": dockq, "pred_dockq": np.clip(dockq + draw.normal(0, 0.1, n), 0, 1),
        "n_interface_residues": 50 + number, "n_chains": 2, "kind": np.where(number < 9, PEPTIDE, PROTEINS),
        "contact_plddt": 40 + 50 * dockq, "pdockq": dockq / 2,
    })  # fmt: skip
    names = [path.stem for path in sorted(SHIPPED.glob("ensemble/*.safetensors"))]
    alike = {
        ("d", target): np.full((EACH, EACH), 0.5)
        for target in decoys["target"].unique()
    }
    networks = {
        name: (SHIPPED / f"ensemble/{name}.safetensors").read_bytes() for name in names
    }
    pooled = draw.normal(size=(n, WIDTH))
    return Evidence(decoys, alike, networks, names[1], pooled, {"d": labelled(decoys)})


def labelled(decoys: pd.DataFrame) -> LabelledContacts:
    """Decoys with two residues in contact, of which a good one has both right and others one."""
    keys = {"target": decoys["target"], "decoy": decoys["decoy"]}
    one = pd.DataFrame(keys).assign(
        residue="A:1", pred_network=decoys["dockq"], right=True
    )
    other = pd.DataFrame(keys).assign(
        residue="B:1", pred_network=0.5, right=decoys["dockq"] > 0.5
    )
    residues = pd.concat([one, other])
    contacts = pd.DataFrame(keys).assign(
        first="A:1", second="B:1", distance=4.0, type="other"
    )
    contacts["pred_network"] = decoys["dockq"]
    compared = {
        key: Compared(key[1], content({1}))
        for key in decoys[KEY].itertuples(index=False, name=None)
    }
    return LabelledContacts(
        residues=residues[list(RESIDUES)],
        contacts=contacts.astype(CONTACTS),
        compared=compared,
        in_native=residues[[*KEY, "residue", "right"]],
        native_contacts=contacts.loc[decoys["dockq"] > 0.5, [*KEY, "first", "second"]],
    )


def test_decoys_whose_networks_say_nothing_of_residues_tell_nothing_of_their_quality(
    evidence,
):
    mute = evidence.labelled["d"]._replace(
        residues=table_of(RESIDUES), contacts=table_of(CONTACTS)
    )
    table = judged_by_natives(
        {"d": mute}, evidence.decoys.assign(predicted=0.5, alone=0.5)
    )
    assert table["cluster"].nunique() == 0


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_made_scorer_is_whole(evidence, tmp_path):
    scorer = make_scorer(evidence, tmp_path / "out", made=["sampled"])
    assert scorer.missing == ""
    assert scorer.mean
    assert [path.stem for path in scorer.members] == [*evidence.networks]
    assert scorer.checkpoint.read_bytes() == scorer.members[1].read_bytes()
    judge = read_judge(scorer.judge)
    assert judge.quality.residues.alone.weights["decoy"] > 0
    assert judge.with_confidence is not None
    assert judge.domain.n_chains == (2, 2)
    # nine clusters of peptides are too few
    assert judge.domain.kinds == (PROTEINS,)
    card = (tmp_path / "out/README.md").read_text()
    assert "120 labelled decoys of 24 targets in 24 clusters" in card
    assert "| sampled | 24 | 24 |" in card
    assert "| made at | " in card


def test_a_network_of_a_scorer_is_the_same_whatever_commit_trained_it(tmp_path):
    shipped = SHIPPED / "best.safetensors"
    description, weights = read_description(shipped), load_file(shipped)
    for commit in ("0123456789ab", "ba9876543210"):
        described = {
            **description,
            "provenance": {**description["provenance"], "git": commit},
        }
        state = {f"network.{name}": tensor for name, tensor in weights.items()}
        torch.save(
            {"state_dict": state, "toporank": json.dumps(described)},
            tmp_path / f"{commit}.ckpt",
        )
    one, other = map(network_bytes, sorted(tmp_path.iterdir()))
    assert one == other == shipped.read_bytes()


def test_the_same_seeds_make_the_same_files_also_over_an_older_scorer(
    evidence, tmp_path
):
    make_scorer(evidence, tmp_path / "one")
    (tmp_path / "two/ensemble").mkdir(parents=True)
    (tmp_path / "two/ensemble/stale.safetensors").touch()
    (tmp_path / "two/judge.json").touch()
    make_scorer(evidence, tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_card_of_folds_that_divide_clusters_says_so(evidence, tmp_path):
    make_scorer(evidence, tmp_path / "by_cluster")
    # of two targets in different folds
    pairs = {f"c{i}": f"c{i // 2}" for i in range(CLUSTERS)}
    split = replace(evidence, decoys=evidence.decoys.replace({"cluster": pairs}))
    make_scorer(split, tmp_path / "by_target")
    said = [
        (tmp_path / name / "README.md").read_text()
        for name in ("by_cluster", "by_target")
    ]
    assert ["the networks had not seen the cluster" in text for text in said] == [
        True,
        False,
    ]
    assert ["had seen other targets of the cluster" in text for text in said] == [
        False,
        True,
    ]


def test_a_group_that_no_decoy_is_of_is_refused_by_name(evidence, tmp_path):
    with pytest.raises(
        TrainingError,
        match=r"no model is of the group 'dockd' \(`training.scorer` names groups",
    ):
        make_scorer(evidence, tmp_path, made=["dockd"])
    assert not list(tmp_path.iterdir())


def test_few_clusters_have_no_judge(evidence, tmp_path):
    few = (
        evidence.decoys["cluster"]
        .isin([f"c{i}" for i in range(FEWEST_CLUSTERS - 1)])
        .to_numpy()
    )
    part = replace(
        evidence,
        decoys=evidence.decoys[few].reset_index(drop=True),
        pooled=evidence.pooled[few],
    )
    scorer = make_scorer(part, tmp_path / "out")
    assert (
        scorer.missing
        == "the scorer has no judge.json (its networks alone give the score, without intervals and domain)"
    )
    assert f"| lacks | {scorer.missing} |" in (tmp_path / "out/README.md").read_text()


@pytest.mark.parametrize("unknown", [["contact_plddt", "pdockq"], []])
def test_what_is_not_known_is_not_learned(evidence, tmp_path, unknown):
    """Without pLDDT nothing of confidence, without natives nothing of residues."""
    decoys = evidence.decoys.assign(**dict.fromkeys(unknown, np.nan))
    judge = read_judge(
        make_scorer(
            replace(evidence, decoys=decoys, labelled={}), tmp_path / "out"
        ).judge
    )
    assert judge.quality is None
    assert (judge.with_confidence is None) == bool(unknown)


def test_bounds_and_probabilities_are_true_of_what_they_were_fitted_to(evidence):
    judge = fit_judge(evidence.decoys, evidence.similarity, evidence.pooled)
    rows = observations(judge, evidence.decoys, evidence.similarity, confidence=False)
    dockq = judge.expected(
        rows["level"].to_numpy(), rows["above"].to_numpy(), np.full(len(rows), np.nan)
    )
    low, high, probability = judge.structure.about(dockq)
    assert LEVEL - 0.1 < rows["dockq"].between(low, high).mean() < 1
    assert probability.mean() == pytest.approx(
        (rows["dockq"] >= ACCEPTABLE).mean(), abs=0.1
    )
    assert np.abs(dockq - rows["dockq"]).mean() < 0.15


def test_bounds_of_a_group_are_read_off_at_what_the_others_expect():
    """Two sources, alike but for DockQ: what either expects of the other's best is far off."""
    level = np.tile(np.linspace(0, 1, 60), 2)
    group = np.repeat(["a", "b"], 60)
    observed = pd.DataFrame({
        "group": group, "size": 0, "cluster": [f"c{i}" for i in range(120)], "level": level, "above": 0.0,
        "dockq": np.where(group == "a", level, level / 3),
    })  # fmt: skip
    best = fit_calibration(observed).knots[-1]
    assert best.dockq > 0.75
    assert best.low < 0.4
    single = fit_calibration(observed[observed["group"] == "a"]).knots[-1]
    assert single.low > 0.6


def test_confidence_has_a_level_for_each_kind_of_complex(evidence):
    """DockQ with an antibody is half of what the same pLDDT says of others."""
    kind = np.where(np.arange(len(evidence.decoys)) % 2, ANTIBODY, PROTEINS)
    decoys = evidence.decoys.assign(kind=kind)
    decoys["dockq"] *= np.where(kind == ANTIBODY, 0.5, 1)
    curve = fit_curve(decoys, OF_RESIDUES)
    levels = fit_levels(decoys, [curve])
    judge = uncalibrated(decoys, [curve])
    measures = {name: np.full(len(decoys), np.nan) for name in OF_PAIRS}
    for name in OF_RESIDUES:
        measures[name] = decoys[name].to_numpy(float)
    error = judge.confidence(measures, [*kind], [""] * len(decoys)) - decoys["dockq"]
    assert levels[BINDERS].residues < 0 < levels[REST].residues
    assert error.groupby(kind).mean().abs().max() < 0.01


def test_of_several_groups_the_bounds_allow_for_a_further_one(evidence):
    def coverage(groups: list[str]) -> float:
        decoys = evidence.decoys.assign(group=groups)
        judge = fit_judge(decoys, evidence.similarity, evidence.pooled)
        rows = observations(judge, decoys, evidence.similarity, confidence=False)
        confidence = np.full(len(rows), np.nan)
        dockq = judge.expected(*rows[["level", "above"]].to_numpy().T, confidence)
        low, high, _ = judge.structure.about(dockq)
        return rows["dockq"].between(low, high).mean()

    n = len(evidence.decoys)
    assert coverage(["one"] * n) == pytest.approx(LEVEL, abs=0.1)
    assert coverage([f"group {i % 3}" for i in range(n)]) > coverage(["one"] * n)


def test_a_curve_finds_the_one_that_made_the_data_and_never_turns_a_measure_around():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({
        "iptm": rng.random(2000), "wrong": rng.random(2000), "cluster": rng.integers(40, size=2000),
    })  # fmt: skip
    true = Curve(weights={"iptm": 5.0}, constant=-2.0)
    known = {"iptm": table["iptm"].to_numpy()}
    table["dockq"] = true(known) - 0.1 * table["wrong"] + rng.normal(0, 0.02, 2000)
    found = fit_curve(table, ["iptm", "wrong"])
    assert found.weights["wrong"] == pytest.approx(0, abs=1e-6)
    assert found.weights["iptm"] == pytest.approx(5.0, abs=0.4)
