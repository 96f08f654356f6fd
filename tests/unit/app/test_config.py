"""The configuration: defaults, how parts of it are merged, and what is said of a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from messages import messages
from toporank import layout
from toporank.app.config import Config, load_config
from toporank.app.data_sets import check_is_there, locate
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


@pytest.mark.parametrize(
    ("text", "says"), [(text, says) for text, *says in messages("config")]
)
def test_a_mistake_is_told_with_its_path_and_a_remedy(text, says):
    """Of names: 1_2 would be target 12, and 010 target 8."""
    told = message(yaml.safe_load(text))
    assert [part for part in says if part not in told] == []


@pytest.mark.parametrize(("text", "lines"), messages("keys_given_twice"))
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


def test_an_empty_file_is_an_error_and_not_a_crash():
    assert message(None)


# ---- data sets -----------------------------------------------------------------------------------


def test_labels_may_be_one_file_or_one_for_each_split():
    labels = {"train": "a.csv", "val": "b.csv"}
    assert (
        load_config({"datasets": [{"name": "a", "decoys": "d", "labels": labels}]})
        .datasets[0]
        .labels
        == labels
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


def test_scores_do_not_take_the_place_of_a_data_set():
    other = load_config({**ONE, "score_decoys": "elsewhere/one", "score_name": "other"})
    assert [dataset.name for dataset in other.datasets] == ["other"]


def test_a_path_is_looked_for_in_the_working_directory_and_then_in_the_repository(
    tmp_path, monkeypatch
):
    repository, here = tmp_path / "repository", tmp_path / "here"
    for path in (repository / "both", repository / "there", here / "both"):
        path.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.setattr(layout, "repository", lambda: repository)
    assert locate("both") == Path("both")
    assert locate("there") == repository / "there"
    assert locate("nowhere") == Path("nowhere")
    assert locate(str(here / "both")) == here / "both"


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


def test_what_is_in_none_of_its_places_is_an_error_that_names_them_all(
    tmp_path, monkeypatch
):
    here, repository = tmp_path / "here", tmp_path / "repository"
    for folder in (here, repository):
        folder.mkdir()
    (repository / "there").touch()
    monkeypatch.chdir(here)
    monkeypatch.setattr(layout, "repository", lambda: repository)
    check_is_there("there", "score_decoys")
    with pytest.raises(ConfigError) as error:
        check_is_there("gone", "score_decoys")
    assert str(error.value) == (
        f"score_decoys: there is no {here / 'gone'} and no {repository / 'gone'}"
        " (relative paths start in the working directory, which --directory changes, or in the "
        "repository)"
    )
    with pytest.raises(
        ConfigError, match=r"there is no /gone \(is it spelled right\?\)"
    ):
        check_is_there("/gone", "score_decoys")
