"""What goes into each job: files and parameters, for a study and for scoring alone."""

from __future__ import annotations

import inspect
import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from described_checkpoint import write_description
from replacing import copied_there, moved_there, written_over
from toporank import layout
from toporank.app.config import load_config
from toporank.app.workflow.inputs import Plans, any_name_of, default_config, made_of
from toporank.app.workflow.preflight import PlannedDataset, Preflight
from toporank.building.chunks.plan import Current, PlannedDecoy, write_current
from toporank.building.chunks.published import Published, write_published
from toporank.building.chunks.stages import recipes
from toporank.errors import ConfigError
from toporank.finding.labels import Label
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
CHUNKS = {"one": ["aa", "bb"], "two": ["cc"], "bare": ["dd"]}
CURRENT = {
    name: Current(("in", "/in"), chunks, chunks, {f"part-{name}": chunks})
    for name, chunks in CHUNKS.items()
}
CHECK = Preflight(
    datasets={
        name: PlannedDataset(current=current) for name, current in CURRENT.items()
    }
)


@pytest.fixture(autouse=True)
def _of_a_repository(own_folder, monkeypatch):
    monkeypatch.setattr(layout, "repository", lambda: REPOSITORY)


def plans_of(study: dict, check: Preflight | None = None) -> Plans:
    config = load_config(study)
    return Plans(config, config.choices(), check)


@pytest.fixture
def plans() -> Plans:
    return plans_of(STUDY, CHECK)


class Wildcards(SimpleNamespace):
    """As Snakemake gives them."""

    def keys(self):
        return vars(self).keys()

    def __getitem__(self, name):
        return getattr(self, name)


def wildcards(**values: str) -> Wildcards:
    return Wildcards(**values)


# ---- files ---------------------------------------------------------------------------------------


def test_a_data_set_has_a_ledger_for_each_chunk_also_in_the_process_of_a_job(plans):
    ledgers = ["results/one/ledger/aa.tsv", "results/one/ledger/bb.tsv"]
    assert plans.ledgers(wildcards(dataset="one")) == ledgers
    of_job = plans_of(STUDY)
    assert of_job.ledgers(wildcards(dataset="one")) == []
    write_current("one", CURRENT["one"])
    assert of_job.ledgers(wildcards(dataset="one")) == ledgers
    parts = ["results/scores/one/parts/part-one.jsonl"]
    for each in (plans, of_job):
        assert each.scored_parts(wildcards(dataset="one")) == parts


def test_a_part_of_a_study_waits_for_its_own_chunks_alone_and_one_that_is_scored_for_none():
    parts = {"first": ["aa"], "second": ["bb", "cc"]}
    current = Current(("in", "/in"), ["aa", "bb", "cc"], ["aa", "bb", "cc"], parts)
    check = Preflight(datasets={"one": PlannedDataset(current=current)})
    second = wildcards(dataset="one", part="second")
    ledgers = [f"results/one/ledger/{chunk}.tsv" for chunk in ("bb", "cc")]
    assert plans_of(STUDY, check).ledgers_of_part(second) == ledgers
    assert plans_of(STUDY, check).chunks_of_part(second) == ["bb", "cc"]
    scored = plans_of({"score_decoys": "my/decoys", "score_name": "one"}, check)
    assert scored.ledgers_of_part(second) == []


def test_a_phase_starts_from_the_best_of_the_sweep_or_of_its_parent_under_the_rule(
    plans,
):
    first, second = plans.config.training.finetune.phases
    assert plans.parent(first) == ["results/training/best.ckpt"]
    best = "results/finetune/phase1_seed5/best_selection.ckpt"
    assert plans.parent(second) == [best]
    any_file = {"name": "p", "seeds": [1], "parent": "elsewhere/best_loss.ckpt"}
    fine_tuned = plans_of({"training": {"finetune": {"phases": [any_file]}}})
    (phase,) = fine_tuned.config.training.finetune.phases
    assert fine_tuned.parent(phase) == [any_file["parent"]]
    by_loss = {**STUDY["training"], "selection": {"rule": "val_loss"}}
    of_loss = plans_of({**STUDY, "training": by_loss}, CHECK).parent(second)
    assert of_loss == ["results/finetune/phase1_seed5/best_loss.ckpt"]


def test_a_study_scores_with_its_final_checkpoint_and_ensemble(plans):
    assert plans.scorer == "results/final"
    # which is written last
    of_study = wildcards(dataset="one")
    assert plans.scorer_files(of_study) == ["results/final/scorer.json"]
    assert plans.scorer_content == ""


# ---- artefacts of single decoys ------------------------------------------------------------------

DECOY = PlannedDecoy("T", "d", "in/T/d.pdb", 5, 6, "0.5", partners="A:B", joined="x")


def plans_with(decoy: PlannedDecoy, **features: dict) -> Plans:
    current = Current(("in", "/in"), ["aa"], ["aa"], {"part": ["aa"]})
    planned = PlannedDataset(current=current, chunks={"aa": [decoy]})
    study = {**STUDY, "features": features}
    return plans_of(study, Preflight(datasets={"one": planned}))


def depends_on(plans: Plans, stage: str) -> tuple:
    """What makes Snakemake run the rule of a stage again, beside the stage before."""
    of_decoy = plans.decoy_of(stage)(wildcards(dataset="one", target="T", decoy="d"))
    return of_decoy, plans.features_of(stage)


@pytest.mark.parametrize(
    ("change", "stages"),
    [
        ({"version": 7}, layout.STAGES),
        ({"partners": "A+B:C"}, layout.STAGES),
        ({"dockq": "0.6"}, layout.STAGES[3:]),
        ({"path": "moved/d.pdb"}, ()),
        ({"joined": "another sentence"}, ()),
    ],
    ids=lambda value: " ".join(value),
)
def test_an_artefact_depends_on_the_file_and_partners_of_its_decoy_a_graph_on_the_label(
    change, stages
):
    before, after = plans_with(DECOY), plans_with(DECOY._replace(**change))
    changed = [
        s for s in layout.STAGES if depends_on(before, s) != depends_on(after, s)
    ]
    assert changed == list(stages)


@pytest.mark.parametrize(
    ("features", "stages"),
    [
        ({"interface": {"cutoff": 9}}, layout.STAGES),
        ({"topology": {"radius": 9}}, layout.STAGES[1:]),
        ({"nodes": "dssp_topology"}, layout.STAGES[2:]),
        ({"edges": "legacy"}, layout.STAGES[3:]),
    ],
)
def test_an_artefact_depends_on_the_parameters_of_its_stage_and_of_those_before(
    features, stages
):
    before, after = plans_with(DECOY), plans_with(DECOY, **features)
    changed = [
        s for s in layout.STAGES if depends_on(before, s) != depends_on(after, s)
    ]
    assert changed == list(stages)


def test_what_was_published_is_outdated_where_it_would_now_be_another():
    plans = plans_with(DECOY)
    key = wildcards(dataset="one", target="T", decoy="d")
    assert not plans.is_outdated("topology", key)
    for stage in ("interface", "topology"):
        row = Published("a", "b", (1, 2), made_of(DECOY, stage, recipes(plans.choices)))
        write_published("one", {(stage, "T", "d"): row})
        assert not plans_with(DECOY).is_outdated(stage, key)
        changed = plans_with(DECOY, topology={"radius": 9})
        assert changed.is_outdated(stage, key) == (stage == "topology")


def test_a_decoy_that_is_not_there_is_named_with_one_that_is():
    with pytest.raises(ConfigError, match=r"no model T/e \(did you mean 'T/d'"):
        plans_with(DECOY).decoy(wildcards(dataset="one", target="T", decoy="e"))


# ---- natives -------------------------------------------------------------------------------------


@pytest.fixture
def by_natives() -> Plans:
    """`two` has labels and natives, `bare` natives alone."""
    study = json.loads(json.dumps(STUDY))
    for dataset in study["datasets"][1:]:
        dataset["natives"] = "natives"
    bare = PlannedDataset(
        current=CURRENT["bare"],
        natives={"T": ("natives/T.pdb", 5, 6), "U": ("natives/U.pdb", 7, 8)},
        chunks={"dd": [PlannedDecoy("T", "d", "path", 1, 2, "")]},
    )
    return plans_of(study, Preflight(datasets={**CHECK.datasets, "bare": bare}))


def test_a_data_set_with_natives_alone_is_labelled_before_training(by_natives):
    bare, two = (
        wildcards(dataset="bare", chunk="dd"),
        wildcards(dataset="two", chunk="cc"),
    )
    assert by_natives.label_table(bare) == ["results/bare/labels.csv"]
    assert by_natives.label_table(two) == []
    labelled = ["results/bare/ledger/labels/dd.json"]
    assert by_natives.labelled_chunks(bare) == labelled
    assert by_natives.labels_of_chunk(bare) == labelled
    assert by_natives.labels_of_chunk(two) == []
    assert by_natives.natives_folder("one") == ""
    assert by_natives.natives_folder("two") == "natives"


def test_a_chunk_is_labelled_again_when_a_native_of_its_targets_changes_and_no_other(
    by_natives,
):
    chunk = wildcards(dataset="bare", chunk="dd")
    before = by_natives.natives_state(chunk)
    natives = by_natives.check.datasets["bare"].natives
    natives["U"] = ("natives/U.pdb", 7, 9)
    assert by_natives.natives_state(chunk) == before
    natives["T"] = ("natives/T.pdb", 5, 9)
    assert by_natives.natives_state(chunk) != before


# ---- parameters ----------------------------------------------------------------------------------


def test_parameters_of_a_run_are_those_of_its_configuration_whatever_chooses_among_runs(
    plans,
):
    parameters = plans.training_parameters(wildcards(run="small_seed777"))
    assert parameters["seed"] == 777
    expected = Hyperparameters(hidden=16, max_epochs=30).model_dump()
    assert parameters["hyperparameters"] == expected
    assert parameters["selection"] == {"spearman_weight": 0.5}
    assert "freeze" not in parameters


def test_parameters_of_a_phase_leave_the_shape_to_its_parent(plans):
    parameters = plans.training_parameters(wildcards(run="phase2_seed6"))
    given = parameters["hyperparameters"]
    assert given["max_epochs"] == 15
    of_others = {"hidden", "heads", "layers", "readout", "name", "seed", "seeds"}
    assert of_others.isdisjoint(given)
    assert parameters["freeze"] == []


def test_equal_configurations_give_equal_parameters(plans):
    """Else Snakemake would train again."""
    study = json.loads(json.dumps(STUDY))
    study["training"]["sweep"] = dict(reversed(study["training"]["sweep"].items()))
    again = {"hidden": 16.0, "name": "small", "max_epochs": 30}
    study["training"]["sweep"]["configs"][0] = again
    other = plans_of(study, CHECK)
    for run in ("small_seed222", "standard_seed777", "phase1_seed5"):
        of_run = wildcards(run=run)
        same = plans.training_parameters(of_run)
        assert repr(other.training_parameters(of_run)) == repr(same)


# ---- scoring alone -------------------------------------------------------------------------------


def scoring(**other: str) -> Plans:
    check = Preflight()
    return plans_of({**STUDY, "score_decoys": "my/decoys", **other}, check)


def test_scoring_alone_uses_the_given_scorer_and_depends_on_all_its_files():
    assert scoring().scorer == "/repository/resources/scorer"
    assert scoring(scorer="elsewhere").scorer == "elsewhere"
    of_decoys = wildcards(dataset="decoys")
    # which is missing: Snakemake says so
    assert scoring(scorer="elsewhere").scorer_files(of_decoys) == ["elsewhere"]
    Path("elsewhere/ensemble").mkdir(parents=True)
    for name in ("best.ckpt", "ensemble/a.ckpt"):
        write_description(Path("elsewhere", name))
    for name in ("judge.json", "notes.txt"):
        Path("elsewhere", name).touch()
    seal(Path("elsewhere"), mean=True)
    files = ("scorer.json", "best.ckpt", "ensemble/a.ckpt", "judge.json")
    known = [f"elsewhere/{name}" for name in files]
    assert scoring(scorer="elsewhere").scorer_files(of_decoys) == known
    assert scoring(scorer="elsewhere/ensemble/a.ckpt").scorer_files(of_decoys) == [
        "elsewhere/ensemble/a.ckpt"
    ]


@pytest.mark.parametrize(
    "way", [written_over, moved_there, copied_there], ids=lambda way: way.__name__
)
def test_another_scorer_at_the_same_path_scores_again_whatever_its_size_and_time(way):
    """Snakemake itself sees only that a file is newer than the ranking."""
    Path("a.ckpt").write_text("one")

    def content() -> str:
        return scoring(scorer="a.ckpt").scorer_content

    before = content()
    os.utime("a.ckpt", (1, 1))
    assert content() == before
    way(Path("a.ckpt"), b"two")
    assert content() != before


def test_of_a_scorer_that_is_not_there_nothing_is_known():
    assert scoring(scorer="nowhere").scorer_content == ""


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
    matches = re.compile(f"(?:{any_name_of(names)})").fullmatch
    assert all(matches(name) for name in names)
    assert bool(matches(other)) == (other in names)


def test_a_configuration_in_the_working_directory_goes_before_the_example(
    tmp_path, monkeypatch
):
    repository = tmp_path / "repository"
    (repository / "config").mkdir(parents=True)
    example = repository / "config/config.yaml"
    example.touch()
    monkeypatch.setattr(layout, "repository", lambda: repository)
    assert default_config(scores_folder=False) == [example]
    # the example says nothing about a folder of the user
    assert default_config(scores_folder=True) == []
    Path("config").mkdir()
    mine = Path("config/config.yaml")
    mine.write_text("{}")
    for scores_folder in (True, False):
        assert default_config(scores_folder) == [mine]


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
    assert (training.gpus, training.cores(1, 16)) == (gpus, cores)


@pytest.mark.parametrize(
    ("n_runs", "of_machine", "devices", "cores"),
    [(1, 16, 1, 16), (3, 16, 1, 5), (9, 4, 1, 1), (1, None, 1, 1), (2, 16, 2, 8)],
)
def test_the_runs_of_a_step_share_the_cores_of_the_machine(
    n_runs, of_machine, devices, cores
):
    trainer = {"trainer": {"devices": devices}}
    training = load_config({**STUDY, "training": trainer}).training
    assert training.cores(n_runs, of_machine) == cores


def test_rules_give_wildcards_to_functions_that_take_them(repository):
    """A function of a data set's name would find nothing by wildcards, and depend on nothing."""
    named = set()
    for rules in (repository / "rules").glob("*.smk"):
        named |= set(re.findall(r"=PLANS\.(\w+),", rules.read_text()))
    assert {"scored_parts", "natives_state"} <= named
    for name in sorted(named):
        function = getattr(Plans, name)
        if callable(function):
            assert [*inspect.signature(function).parameters] == ["self", "wildcards"]


def test_a_changed_label_changes_what_the_steps_behind_it_depend_on():
    digests = set()
    for dockq in (0.1, 0.2):
        labels = [Label("T", "d", dockq, "train")]
        dataset = PlannedDataset(current=CURRENT["one"], labels=labels)
        plans = plans_of(STUDY, Preflight(datasets={"one": dataset}))
        digests.add(plans.contents("one"))
    assert len(digests) == 2
