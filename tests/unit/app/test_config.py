"""The configuration: defaults, how parts of it are merged, and what is said of a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from toporank.app.config import Config, check_is_there, load_config, locate
from toporank.app.repeated_keys import repeated_keys
from toporank.errors import ConfigError
from toporank.learning.hyperparameters import Hyperparameters

ONE = {"datasets": [{"name": "one", "decoys": "d", "labels": "l.csv"}]}


def sweep(**section):
    return load_config({"training": {"sweep": section}}).training.sweep


def finetune(**section):
    return load_config({"training": {"finetune": section}})


def message(values: dict) -> str:
    with pytest.raises(ConfigError) as error:
        load_config(values)
    return str(error.value)


# ---- defaults ------------------------------------------------------------------------------------


def test_nothing_at_all_is_a_configuration_with_the_defaults_of_the_method():
    config = load_config({})
    assert config.datasets == []
    assert config.coverage.minimum_percent == 90.0
    assert config.training.sweep.seeds == [222, 777, 1337]
    assert list(config.sweep_runs()) == [
        "sched_boost_seed222",
        "sched_boost_seed777",
        "sched_boost_seed1337",
    ]
    assert config.finetune_runs() == {}
    assert {
        stage: choice.module.alias for stage, choice in config.choices().items()
    } == {
        "interface": "ca_cutoff",
        "topology": "persistence",
        "nodes": "contacts",
        "edges": "contacts",
    }
    assert Hyperparameters().model_dump(
        include={"learning_rate", "batch_size", "accumulate", "max_epochs"}
    ) == {
        "learning_rate": 0.005,
        "batch_size": 16,
        "accumulate": 16,
        "max_epochs": 260,
    }


def test_the_configuration_of_the_repository_is_valid(repository: Path):
    config = load_config(
        yaml.safe_load((repository / "config" / "config.yaml").read_text())
    )
    assert [d.name for d in config.datasets] == config.training_datasets == ["example"]
    assert config.sweep_runs()


def test_there_are_90_keys_at_most_and_each_has_a_meaning():
    """One of sweep and fine-tuning counts once; parameters of feature modules are listed by
    module.
    """
    schema = Config.model_json_schema()
    keys = set()
    for section in (schema, *schema["$defs"].values()):
        for name, key in section["properties"].items():
            if "$ref" not in str(key):
                keys.add((name, key["description"]))
    assert len(keys) <= 90
    assert min(len(meaning) for _, meaning in keys) > 10


def test_a_stage_can_be_named_alone():
    named = load_config({"features": {"edges": "edges/multiscale_v24"}}).choices()[
        "edges"
    ]
    assert (
        named.record()
        == load_config({"features": {"edges": {"module": "multiscale"}}})
        .choices()["edges"]
        .record()
    )


def test_a_configuration_does_not_change():
    with pytest.raises(Exception, match="frozen"):
        load_config({}).training.split_seed = 3


def test_entries_of_the_trainer_may_come_as_texts_as_from_the_command_line():
    texts = {"fast_dev_run": "true", "devices": "2", "precision": "bf16-mixed"}
    training = load_config({"training": {"trainer": texts}}).training
    assert (training.smoke_test, training.devices) == (1, 2)
    assert training.trainer["precision"] == "bf16-mixed"


# ---- mistakes ------------------------------------------------------------------------------------

MISTAKES = {
    # unknown keys
    "trainng: {}": "trainng: unknown key (did you mean 'training'?)",
    "training: {sweeps: {}}": "training.sweeps: unknown key (did you mean 'sweep'?)",
    "features: {edge: {}}": "features.edge: unknown key (did you mean 'edges'?)",
    "features: {topology: {radus: 8}}": "features.topology.radus: unknown key (did you mean 'radius",
    "features: {edges: {module: legcy}}": "features.edges: no feature module 'legcy' (did you mean",
    "coverage: {xyz: 1}": "coverage.xyz: unknown key (known: minimum_percent)",
    "datasets: [{name: a, decoys: d}, {name: b, decoys: d, lables: x}]": "datasets[1].lables: unknown",
    "training: {sweep: {configs: [{name: a}, {name: b, heds: 1}]}}": "sweep.configs[1].heds: unknown",
    "training: {finetune: {phases: [{name: p, sead: [1]}]}}": "phases[0].sead: unknown key (did you",
    "training: {sweep: {defaults: {batchsize: 4}}}": ".batchsize: unknown key (did you mean 'batch_s",
    "training: {finetune: {defaults: {batchsize: 4}}}": "finetune.defaults.batchsize: unknown key",
    # keys of others, and keys in another place
    "training: {validate_every: 2}": "training.trainer: {check_val_every_n_epoch: …}",
    "training: {resume_from: a.ckpt}": "start a phase of training.finetune with `parent: FILE`",
    "training: {precision: 16-mixed}": "training.trainer: {precision: …}",
    "training: {non_blocking: true}": "training: {pin_memory: true}",
    "training: {sweep: {defaults: {val_batch_size: 64}}}": "four times batch_size",
    "training: {learning_rate: 0.1}": "it is a key of training.sweep.configs",
    "training: {sweep: {defaults: {num_workers: 2}}}": "training: {num_workers: …}",
    "training: {sweep: {defaults: {lr_scheduler: step}}}": "plateau_patience, plateau_factor",
    # entries for Lightning
    "training: {trainer: {gpus: 1}}": "gpus: cannot be set: give accelerator: gpu",
    "training: {trainer: {acelerator: gpu}}": "did you mean 'accelerator'?",
    "training: {trainer: {max_epochs: 3}}": "max_epochs: it is the key max_epochs of training.sweep",
    "training: {trainer: {num_nodes: 2}}": "num_nodes: cannot be 2: the devices of a run are in one",
    "training: {trainer: {limit_val_batches: 0}}": "limit_val_batches: cannot be 0: nothing would",
    "training: {trainer: {logger: false}}": "logger: cannot be False: TopoRank needs",
    "training: {trainer: {precision: fp16}}": "precision: Lightning's Trainer does not take 'fp16' (",
    "training: {trainer: {check_val_every_n_epoch: 0}}": "must be a whole number from 1, not 0",
    "training: {trainer: {check_val_every_n_epoch: 300}}": "no epoch would be judged",
    "training: {prefetch_factor: 2}": "prefetch_factor is for num_workers above 0",
    # parts to freeze
    "training: {finetune: {phases: [{name: p, seeds: [1], freeze: [embed_node]}]}}": "mean 'embed_nodes'?",
    "training: {finetune: {phases: [{name: p, seeds: [1], freeze: [layers.2]}]}}": "no part 'layers.2'",
    "training: {finetune: {phases: [{name: p, seeds: [1], freeze: [embed_nodes, embed_edges, layers,"
    " pooled_edges, head]}]}}": "every part of the network is frozen",
    # wrong values
    "coverage: {minimum_percent: 101}": "(got 101)",
    "training: {threads: 0}": "training.threads: Input should be greater than or equal to 1 (got 0)",
    "training: {validation_percent: 100}": "training.validation_percent: ",
    "training: {sweep: {seeds: [x]}}": "training.sweep.seeds[0]: ",
    "training: {sweep: {configs: [{name: a, heads: 0}]}}": "training.sweep.configs[0].heads: ",
    "training: {sweep: {configs: [{name: a, learning_rate: .nan}]}}": "(got nan)",
    "training: {selection: {rule: best}}": "(got 'best')",
    "workflow: {chunk_size: 0}": "workflow.chunk_size: ",
    "training:": "training: ",
    "features: {topology: {radius: -1}}": "features.topology.radius: ",
    # data sets
    "datasets: [{name: a}]": "data set 'a': give either `decoys` or `graphs`",
    "datasets: [{name: a, decoys: d, graphs: g}]": "data set 'a': give either `decoys` or `graphs`",
    "datasets: [{name: a, graphs: g, natives: n}]": "data set 'a': `natives` needs structures",
    "datasets: [{name: a, graphs: g}, {name: b, decoys: d}]": "'a' has `graphs` and 'b' has `decoys`",
    "datasets: [{name: a, decoys: d}, {name: a, decoys: d}]": "data set name used more than once: a",
    "datasets: [{name: training, decoys: d}]": "a data set cannot be called 'training'",
    "datasets: [{name: scores, decoys: d}]": "a data set cannot be called 'scores'",
    # the sweep
    "training: {sweep: {configs: [{name: a}, {name: a}]}}": "configuration name used more than once",
    "training: {sweep: {seeds: [7, 7]}}": "seed used more than once: 7",
    "training: {sweep: {seeds: []}}": "training.sweep.seeds: ",
    "training: {sweep: {seeds: [-5]}}": "training.sweep.seeds[0]: ",
    "training: {sweep: {configs: []}}": "training.sweep.configs: ",
    "training: {sweep: {configs: [{}]}}": "training.sweep.configs[0].name: required, but not given",
    "training: {sweep: {configs: a}}": "training.sweep.configs: ",
    "training: {sweep: {configs: [a]}}": "training.sweep.configs[0]",
}
"""Part of a configuration → part of the message."""
PHASES = {
    "{name: p}": "phases[0].seeds: required, but not given",
    "{name: p, seed: 1, seeds: [2]}": "seed: unknown key (now `seeds: [N]`",
    "{name: p, seeds: []}": "phases[0].seeds",
    "{name: p, seeds: [-5]}": "phases[0].seeds[0]",
    "{name: p, seeds: [1, 1]}": "seed used more than once: 1",
    "{name: p, seeds: [1], parent: q}": "phase 'p': parent 'q'",
    "{name: p, seeds: [1], parent: p}": "phase 'p': parent 'p'",
    "{name: p, seeds: [1], parent: q}, {name: q, seeds: [1]}": "phase 'p': parent 'q'",
    "{name: p, seeds: [1, 2]}, {name: q, seeds: [1], parent: p}": "phase 'q': parent 'p'",
    "{name: p, seeds: [1]}, {name: p, seeds: [2]}": "phase name used more than once: p",
    "{name: sweep, seeds: [1]}": "a phase cannot be called 'sweep'",
}
"""Phases of fine-tuning → part of the message."""
MISTAKES |= {
    f"training: {{finetune: {{phases: [{key}]}}}}": says for key, says in PHASES.items()
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_told_with_its_path_and_a_remedy(text):
    assert MISTAKES[text] in message(yaml.safe_load(text))


@pytest.mark.parametrize(
    ("text", "lines"),
    [("training: {folds: 4}\ndatasets: []\ntraining: {leakage: refuse}", ["training: given twice, in lines 1 and 3"]),
     ("training:\n  sweep:\n    seeds: [1]\n    seeds: [2]\n    'seeds': [3]", ["training.sweep.seeds: given 3 times, in lines 3, 4 and 5"]),
     ("datasets:\n- {name: a, decoys: d}\n- {name: b, name: c, decoys: d, decoys: e}",
      ["datasets[1].decoys: given twice, in lines 3 and 3", "datasets[1].name: given twice"]),
     ('{"only": ["A"],\n "only": ["B"]}', ["only: given twice, in lines 1 and 2"]),
     ("x: &a {b: 1, c: 2}\ny: {<<: *a, b: 3}\nz: [*a, *a, {<<: *a, <<: {d: 1}}]", []), ("", [])],
)  # fmt: skip
def test_a_key_that_is_given_twice_is_named_with_its_lines(tmp_path, text, lines):
    file = tmp_path / "config.yaml"
    file.write_text(text)
    if not lines:
        assert repeated_keys(text) == []
        return
    with pytest.raises(ConfigError) as error:
        load_config(yaml.safe_load(text), [file])
    told = str(error.value).splitlines()
    assert len(told) == len(lines)
    for line, begin in zip(told, lines, strict=True):
        assert line.strip().startswith(f"{file}: {begin}")


def test_all_mistakes_are_told_at_once():
    text = message(
        {
            "trainig": {},
            "coverage": {"minimum_percent": -1},
            "datasets": [{"name": "a/b", "decoys": "d"}],
        }
    )
    assert len(text.splitlines()) == 3
    assert all(
        part in text
        for part in ("trainig", "coverage.minimum_percent", "datasets[0].name")
    )


def test_an_empty_section_in_the_file_is_an_error_and_not_a_crash():
    assert message({"datasets": None}).startswith("datasets: ")
    assert message(None)


# ---- data sets -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["a/b", "..", "a b", "", "-a", ".a", "a\n", "ä", True, 1.5, None]
)
def test_a_name_that_is_no_good_for_a_path_is_an_error(name):
    assert "datasets[0].name: " in message(
        {"datasets": [{"name": name, "decoys": "d"}]}
    )


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("only: [1_2]", "only"),
        ("only: 010", "only"),
        ("only: [2024-11-01]", "only"),
        ("score_decoys: 1.5", "score_decoys"),
        ("score_decoys: d\nscore_name: 1_2", "score_name"),
        ("datasets: [{name: 1_2, decoys: d}]", "datasets[0].name"),
        ("datasets: [{name: d, decoys: 2024_11}]", "datasets[0].decoys"),
        ("datasets: [{name: d, decoys: d, natives: true}]", "datasets[0].natives"),
    ],
)
def test_a_name_that_yaml_reads_as_something_else_is_refused_with_what_to_write(
    text, key
):
    """1_2 would be target 12, and 010 target 8."""
    said = message(yaml.safe_load(text))
    assert f"{key}: " in said
    assert "so the name that was meant is not known: put it in quotes" in said


def test_labels_may_be_one_file_or_one_for_each_split():
    labels = {"train": "a.csv", "val": "b.csv"}
    assert (
        load_config({"datasets": [{"name": "a", "decoys": "d", "labels": labels}]})
        .datasets[0]
        .labels
        == labels
    )
    assert "vall" in message(
        {"datasets": [{"name": "a", "decoys": "d", "labels": {"vall": "x"}}]}
    )


def test_every_labelled_data_set_is_trained_on_unless_some_are_named():
    sets = [
        *ONE["datasets"],
        {"name": "two", "decoys": "d"},
        {"name": "three", "decoys": "d", "labels": "l.csv"},
    ]
    assert load_config({"datasets": sets}).training_datasets == ["one", "three"]
    assert load_config(
        {"datasets": sets, "training": {"datasets": ["three"]}}
    ).training_datasets == ["three"]
    assert "no data set 'tow'; there is one, two, three" in message(
        {"datasets": sets, "training": {"datasets": ["tow"]}}
    )
    assert "data set 'two' has neither labels nor natives" in message(
        {"datasets": sets, "training": {"datasets": ["two"]}}
    )


# ---- sweep ---------------------------------------------------------------------------------------


def test_entries_of_the_sweep_take_the_defaults_they_do_not_set_themselves():
    small, big = sweep(
        defaults={"batch_size": 8, "hidden": 16},
        configs=[{"name": "small"}, {"name": "big", "hidden": 64}],
    ).configs
    assert (small.batch_size, small.hidden, big.batch_size, big.hidden) == (
        8,
        16,
        8,
        64,
    )
    assert small.accumulate == Hyperparameters().accumulate


# ---- fine-tuning ---------------------------------------------------------------------------------


def test_phases_take_the_defaults_and_are_named_by_their_seeds():
    config = finetune(
        defaults={"learning_rate": 0.001, "batch_size": 48},
        phases=[
            {"name": "first", "seeds": [222]},
            {
                "name": "second",
                "seeds": [101, 555],
                "parent": "first",
                "batch_size": 16,
            },
        ],
    )
    runs = config.finetune_runs()
    assert {run: seed for run, (_, seed) in runs.items()} == {
        "first_seed222": 222,
        "second_seed101": 101,
        "second_seed555": 555,
    }
    assert [runs[run][0].batch_size for run in ("first_seed222", "second_seed101")] == [
        48,
        16,
    ]
    assert runs["second_seed555"][0].learning_rate == 0.001
    assert [runs[run][0].parent for run in ("first_seed222", "second_seed101")] == [
        "sweep",
        "first",
    ]


# ---- scoring a folder ----------------------------------------------------------------------------


def test_a_folder_to_score_takes_the_place_of_the_data_sets():
    config = load_config(
        {
            **ONE,
            "score_decoys": "/data/my decoys (new)/",
            "training": {"datasets": ["one"]},
        }
    )
    assert [(d.name, d.decoys, d.labels) for d in config.datasets] == [
        ("my_decoys__new_", "/data/my decoys (new)/", None)
    ]
    assert (
        load_config({"score_decoys": "/data/x", "score_name": "mine"}).datasets[0].name
        == "mine"
    )


@pytest.mark.parametrize(
    "named",
    [{"score_decoys": "elsewhere/one"}, {"score_decoys": "x", "score_name": "one"}],
)
def test_scores_do_not_take_the_place_of_a_data_set(named):
    assert "results/one/ belongs to the data set 'one'" in message(
        {"datasets": [{"name": "one", "decoys": "a"}], **named}
    )
    other = load_config(
        {"datasets": [{"name": "one", "decoys": "a"}], **named, "score_name": "other"}
    )
    assert [dataset.name for dataset in other.datasets] == ["other"]


@pytest.mark.parametrize("values", [{"scorer": "a"}, {"score_name": "x"}])
def test_what_goes_with_a_folder_to_score_is_refused_without_one(values):
    assert "give score_decoys=FOLDER too" in message(values)


@pytest.mark.parametrize("folder", ["/data/final", "/data/_decoys", "/"])
def test_a_folder_to_score_whose_name_is_no_good_tells_to_give_score_name(folder):
    assert "score_name" in message({"score_decoys": folder})


def test_a_path_is_looked_for_in_the_working_directory_and_then_in_the_repository(
    tmp_path, monkeypatch
):
    repository, here = tmp_path / "repository", tmp_path / "here"
    for path in (repository / "both", repository / "there", here / "both"):
        path.mkdir(parents=True)
    monkeypatch.chdir(here)
    assert locate("both", repository) == Path("both")
    assert locate("there", repository) == repository / "there"
    assert locate("nowhere", repository) == Path("nowhere")
    assert locate(str(here / "both"), repository) == here / "both"


def test_local_quality_is_learned_from_data_sets_with_natives():
    one = {"name": "one", "decoys": "d", "labels": "l.csv"}
    training = {
        "sweep": {
            "defaults": {"local_weight": 0.5},
            "configs": [{"name": "c"}],
            "seeds": [1],
        }
    }
    known = load_config({"datasets": [{**one, "natives": "n"}], "training": training})
    assert known.training.sweep.configs[0].local
    assert "run 'c_seed1' has a local_weight, but no data set" in message(
        {"datasets": [one], "training": training}
    )


def test_what_is_in_none_of_its_places_is_an_error_that_names_them_all(
    tmp_path, monkeypatch
):
    here, repository = tmp_path / "here", tmp_path / "repository"
    for folder in (here, repository):
        folder.mkdir()
    (repository / "there").touch()
    monkeypatch.chdir(here)
    check_is_there("there", repository, "score_decoys")
    with pytest.raises(ConfigError) as error:
        check_is_there("gone", repository, "score_decoys")
    assert str(error.value) == (
        f"score_decoys: there is no {here / 'gone'} and no {repository / 'gone'}"
        " (relative paths start in the working directory, which --directory changes, or in the "
        "repository)"
    )
    with pytest.raises(
        ConfigError, match=r"there is no /gone \(is it spelled right\?\)"
    ):
        check_is_there("/gone", repository, "score_decoys")
