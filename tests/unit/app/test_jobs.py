"""What goes into each job: files and parameters, for a study and for scoring alone."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toporank.app.workflow.jobs import Jobs, default_config, one_of

from described_checkpoint import write_description
from replacing import copied_there, moved_there, written_over
from toporank.app.config import Config, load_config
from toporank.app.workflow.preflight import PlannedDataset, Preflight
from toporank.building.chunks.plan import Current, PlannedDecoy, write_current
from toporank.errors import ConfigError
from toporank.learning.hyperparameters import Hyperparameters
from toporank.scorer.manifest import seal

REPOSITORY = Path("/repository")
STUDY = {
    "datasets": [
        {"name": "one", "decoys": "a", "labels": "a.csv"},
        {"name": "two", "decoys": "b", "labels": "b.csv"},
        {"name": "bare", "decoys": "c"},
    ],
    "training": {
        "sweep": {
            "defaults": {"max_epochs": 30},
            "configs": [{"name": "small", "hidden": 16}, {"name": "standard"}],
            "seeds": [222, 777],
        },
        "selection": {"rule": "val_selection", "spearman_weight": 0.5},
        "finetune": {
            "defaults": {"max_epochs": 15},
            "phases": [
                {"name": "phase1", "seeds": [5]},
                {"name": "phase2", "parent": "phase1", "seeds": [6, 7]},
            ],
        },
    },
}
CHUNKS = {"one": ["001-aa", "002-bb"], "two": ["001-cc"], "bare": ["001-dd"]}
CURRENT = {
    name: Current(("in", "/in"), chunks, chunks) for name, chunks in CHUNKS.items()
}
CHECK = Preflight(
    datasets={
        name: PlannedDataset(current=current) for name, current in CURRENT.items()
    }
)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def rules() -> Jobs:
    return Jobs(load_config(STUDY), CHECK)


def wildcards(**values: str) -> SimpleNamespace:
    return SimpleNamespace(**values)


# ---- files ---------------------------------------------------------------------------------------


def test_a_data_set_has_a_ledger_for_each_chunk_also_in_the_process_of_a_job(rules):
    ledgers = ["results/one/ledger/001-aa.tsv", "results/one/ledger/002-bb.tsv"]
    assert rules.ledgers(wildcards(dataset="one")) == ledgers
    job = Jobs(rules.config)
    assert job.ledgers(wildcards(dataset="one")) == []
    write_current("one", CURRENT["one"])
    assert job.ledgers(wildcards(dataset="one")) == ledgers


def test_a_run_is_trained_on_the_named_data_sets_alone():
    study = {**STUDY, "training": {**STUDY["training"], "datasets": ["two"]}}
    assert Jobs(load_config(study), CHECK).training_inputs("{dataset}") == ["two"]


def test_every_configuration_is_trained_with_every_seed(rules):
    assert rules.sweep_summaries() == [
        f"results/training/{run}/summary.json"
        for run in (
            "small_seed222",
            "small_seed777",
            "standard_seed222",
            "standard_seed777",
        )
    ]


def test_every_phase_is_trained_with_its_seeds(rules):
    assert rules.finetune_summaries() == [
        f"results/finetune/{run}/summary.json"
        for run in ("phase1_seed5", "phase2_seed6", "phase2_seed7")
    ]


def test_a_phase_starts_from_the_best_of_the_sweep_or_of_its_parent_under_the_rule(
    rules,
):
    assert rules.parent(wildcards(run="phase1_seed5")) == "results/training/best.ckpt"
    assert (
        rules.parent(wildcards(run="phase2_seed6"))
        == "results/finetune/phase1_seed5/best_selection.ckpt"
    )
    any_file = {"name": "p", "seeds": [1], "parent": "elsewhere/best_loss.ckpt"}
    fine_tuning = Jobs(load_config({"training": {"finetune": {"phases": [any_file]}}}))
    assert fine_tuning.parent(wildcards(run="p_seed1")) == any_file["parent"]
    study = {
        **STUDY,
        "training": {**STUDY["training"], "selection": {"rule": "val_loss"}},
    }
    by_loss = Jobs(load_config(study), CHECK)
    assert (
        by_loss.parent(wildcards(run="phase2_seed7"))
        == "results/finetune/phase1_seed5/best_loss.ckpt"
    )


def test_every_data_set_is_ranked_and_every_labelled_one_evaluated(rules):
    assert rules.rankings() == [
        f"results/scores/{name}/models.csv" for name in ("one", "two", "bare")
    ]
    assert rules.evaluations() == [
        f"results/evaluation/{name}/summary.json" for name in ("one", "two")
    ]
    pages = [f"results/scores/{name}/report.html" for name in ("one", "two", "bare")]
    assert rules.reports() == ["results/report.html", *pages]


def test_a_study_scores_with_its_final_checkpoint_and_ensemble(rules):
    assert not rules.scoring_only
    assert rules.scorer(REPOSITORY) == "results/final"
    # which is written last
    assert rules.scorer_files(REPOSITORY) == ["results/final/scorer.json"]


# ---- natives -------------------------------------------------------------------------------------


@pytest.fixture
def by_natives() -> Jobs:
    """`two` has labels and natives, `bare` natives alone."""
    study = json.loads(json.dumps(STUDY))
    for dataset in study["datasets"][1:]:
        dataset["natives"] = "natives"
    bare = PlannedDataset(
        current=CURRENT["bare"],
        natives={"T": ("natives/T.pdb", 5, 6), "U": ("natives/U.pdb", 7, 8)},
        chunks={"001-dd": [PlannedDecoy("T", "d", "path", 1, 2, "")]},
    )
    return Jobs(
        load_config(study), Preflight(datasets={**CHECK.datasets, "bare": bare})
    )


def test_a_data_set_with_natives_alone_is_labelled_before_training(by_natives):
    assert by_natives.training_inputs("{dataset}") == ["one", "two", "bare"]
    assert by_natives.dockq_tables() == [
        "results/two/dockq.csv",
        "results/bare/dockq.csv",
    ]
    assert by_natives.label_table(wildcards(dataset="bare")) == [
        "results/bare/labels.csv"
    ]
    assert by_natives.label_table(wildcards(dataset="two")) == []
    labelled = ["results/bare/ledger/labels/001-dd.json"]
    assert by_natives.labelled_chunks(wildcards(dataset="bare")) == labelled
    assert (
        by_natives.chunk_labels(wildcards(dataset="bare", chunk="001-dd")) == labelled
    )
    assert by_natives.chunk_labels(wildcards(dataset="two", chunk="001-cc")) == []
    assert by_natives.known_labels(wildcards(dataset="bare")) == labelled
    assert by_natives.known_labels(wildcards(dataset="one")) == []
    assert by_natives.natives_option(wildcards(dataset="one"), Path()) == []


def test_a_chunk_is_labelled_again_when_a_native_of_its_targets_changes_and_no_other(
    by_natives,
):
    chunk = wildcards(dataset="bare", chunk="001-dd")
    before = by_natives.natives_state(chunk)
    natives = by_natives.check.datasets["bare"].natives
    natives["U"] = ("natives/U.pdb", 7, 9)
    assert by_natives.natives_state(chunk) == before
    natives["T"] = ("natives/T.pdb", 5, 9)
    assert by_natives.natives_state(chunk) != before


# ---- parameters ----------------------------------------------------------------------------------


def test_parameters_of_a_run_are_those_of_its_configuration(rules):
    parameters = json.loads(rules.training_parameters(wildcards(run="small_seed777")))
    assert parameters["seed"] == 777
    assert (
        parameters["hyperparameters"]
        == Hyperparameters(hidden=16, max_epochs=30).model_dump()
    )
    assert parameters["selection"] == {"rule": "val_selection", "spearman_weight": 0.5}


def test_the_final_ensemble_is_everyone_unless_told_otherwise(rules):
    assert rules.final_options() == "--score best"
    study = {
        **STUDY,
        "training": {**STUDY["training"], "final": {"score": "mean", "members": 3}},
    }
    assert Jobs(load_config(study), CHECK).final_options() == "--score mean --members 3"


def test_parameters_of_a_phase_leave_the_shape_to_its_parent(rules):
    given = json.loads(rules.training_parameters(wildcards(run="phase2_seed6")))[
        "hyperparameters"
    ]
    assert given["max_epochs"] == 15
    assert {
        "hidden",
        "heads",
        "layers",
        "readout",
        "name",
        "seed",
        "seeds",
        "parent",
    }.isdisjoint(given)


def test_equal_configurations_give_equal_parameters(rules):
    """Else Snakemake would train again."""
    study = json.loads(json.dumps(STUDY))
    study["training"]["sweep"] = dict(reversed(study["training"]["sweep"].items()))
    study["training"]["sweep"]["configs"][0] = {
        "hidden": 16.0,
        "name": "small",
        "max_epochs": 30,
    }
    other = Jobs(load_config(study), CHECK)
    for run in ("small_seed222", "standard_seed777", "phase1_seed5"):
        assert other.training_parameters(
            wildcards(run=run)
        ) == rules.training_parameters(wildcards(run=run))


# ---- scoring alone -------------------------------------------------------------------------------


def scoring(**other: str) -> Jobs:
    config: Config = load_config({**STUDY, "score_decoys": "my/decoys", **other})
    return Jobs(config)


def test_scoring_alone_ranks_the_given_decoys_and_nothing_else():
    rules = scoring()
    assert rules.scoring_only
    assert rules.rankings() == ["results/scores/decoys/models.csv"]
    assert rules.reports() == ["results/scores/decoys/report.html"]
    assert (
        rules.evaluations()
        == rules.training_inputs("{dataset}")
        == rules.published()
        == []
    )


def test_scoring_alone_uses_the_given_scorer_and_depends_on_all_its_files():
    assert scoring().scorer(REPOSITORY) == "/repository/resources/scorer"
    rules = scoring(scorer="elsewhere")
    assert rules.scorer(REPOSITORY) == "elsewhere"
    # which is missing: Snakemake says so
    assert rules.scorer_files(REPOSITORY) == ["elsewhere"]
    Path("elsewhere/ensemble").mkdir(parents=True)
    for name in ("best.ckpt", "ensemble/a.ckpt"):
        write_description(Path("elsewhere", name))
    for name in ("judge.json", "notes.txt"):
        Path("elsewhere", name).touch()
    seal(Path("elsewhere"), mean=True)
    files = ("scorer.json", "best.ckpt", "ensemble/a.ckpt", "judge.json")
    known = [f"elsewhere/{name}" for name in files]
    assert rules.scorer_files(REPOSITORY) == known
    assert scoring(scorer="elsewhere/ensemble/a.ckpt").scorer_files(REPOSITORY) == [
        "elsewhere/ensemble/a.ckpt"
    ]


@pytest.mark.parametrize(
    "way", [written_over, moved_there, copied_there], ids=lambda way: way.__name__
)
def test_another_scorer_at_the_same_path_scores_again_whatever_its_size_and_time(way):
    """Snakemake itself sees only that a file is newer than the ranking."""
    Path("a.ckpt").write_text("one")

    def content() -> str:
        return scoring(scorer="a.ckpt").scorer_content(REPOSITORY)

    before = content()
    os.utime("a.ckpt", (1, 1))
    assert content() == before
    way(Path("a.ckpt"), b"two")
    assert content() != before


def test_the_content_of_a_scorer_is_asked_for_where_it_is_there_before_the_run(rules):
    assert rules.scorer_content(REPOSITORY) == ""
    assert scoring(scorer="nowhere").scorer_content(REPOSITORY) == ""


def test_a_complete_scorer_is_made_where_there_is_a_cross_validation(rules):
    assert rules.made_scorer() == []
    training = {**STUDY["training"], "cross_validate": True, "folds": 3}
    training["scorer"] = {"config": "standard", "made": ["docked by us", "sampled"]}
    making = Jobs(load_config({**STUDY, "training": training}), CHECK)
    assert making.made_scorer() == ["results/scorer/scorer.json"]
    assert (
        making.scorer_options(REPOSITORY)
        == "--run standard_seed222 --made 'docked by us' sampled"
    )
    summaries = [
        f"results/cross_validation/fold{fold}/standard_seed222/summary.json"
        for fold in range(3)
    ]
    assert making.scorer_summaries() == summaries
    assert rules.scorer_options(REPOSITORY) == "--run small_seed222"


def test_a_scorer_of_a_configuration_that_is_not_trained_is_refused():
    training = {**STUDY["training"], "scorer": {"config": "large"}}
    with pytest.raises(
        ConfigError,
        match=r"training\.scorer\.config: no configuration 'large'; there is small",
    ):
        load_config({**STUDY, "training": training})


# ---- names and defaults --------------------------------------------------------------------------


@given(
    st.lists(st.text("ab.-_+(|", min_size=1), max_size=4),
    st.text("ab.-_+(|", min_size=1),
)
def test_a_wildcard_matches_the_given_names_and_nothing_else(names, other):
    matches = re.compile(f"(?:{one_of(names)})").fullmatch
    assert all(matches(name) for name in names)
    assert bool(matches(other)) == (other in names)


def test_a_configuration_in_the_working_directory_goes_before_the_example(tmp_path):
    repository = tmp_path / "repository"
    assert default_config(repository) == repository / "config/config.yaml"
    Path("config").mkdir()
    Path("config/config.yaml").write_text("{}")
    assert default_config(repository) == Path("config/config.yaml")


def test_a_phase_learns_from_its_own_data_sets_and_freezes_what_it_says():
    tuned = {
        "phases": [
            {"name": "p", "seeds": [1], "datasets": ["two"], "freeze": ["embed_nodes"]},
            {"name": "q", "seeds": [1]},
        ]
    }
    rules = Jobs(
        load_config({**STUDY, "training": {**STUDY["training"], "finetune": tuned}}),
        CHECK,
    )
    inputs = rules.finetune_inputs("{dataset}")
    assert inputs(wildcards(run="p_seed1")) == ["two"]
    assert inputs(wildcards(run="q_seed1")) == ["one", "two"]
    assert "--finetune" not in rules.split_options()
    of_one = Jobs(
        load_config({**STUDY, "training": {"datasets": ["one"], "finetune": tuned}}),
        CHECK,
    )
    assert of_one.split_options().endswith(" --similarity kmers --finetune two")
    assert json.loads(rules.training_parameters(wildcards(run="p_seed1")))[
        "freeze"
    ] == ["embed_nodes"]
    assert "freeze" not in json.loads(
        rules.training_parameters(wildcards(run="small_seed222"))
    )


def test_a_phase_cannot_learn_from_a_data_set_that_is_not_there():
    tuned = {"phases": [{"name": "p", "seeds": [1], "datasets": ["three"]}]}
    with pytest.raises(ConfigError, match=r"phases, p: datasets: no data set 'three'"):
        load_config({**STUDY, "training": {**STUDY["training"], "finetune": tuned}})


@pytest.mark.parametrize(
    ("trainer", "gpus", "cores"),
    [({}, 0, 3), ({"devices": 2}, 0, 6), ({"accelerator": "auto"}, 0, 3), ({"accelerator": "cuda"}, 1, 3),
     ({"accelerator": "gpu", "devices": [0, 3]}, 2, 6), ({"devices": "auto"}, 0, 3)],
)  # fmt: skip
def test_a_run_asks_for_its_gpus_and_for_the_cores_of_its_processes(
    trainer, gpus, cores
):
    training = load_config(
        {**STUDY, "training": {"trainer": trainer, "threads": 3}}
    ).training
    assert (training.gpus, training.cores) == (gpus, cores)
