"""Feature modules: how one is chosen, what is recorded of the choice, and what is said of a wrong
one.
"""

from __future__ import annotations

import json

import pytest

from messages import messages
from toporank.errors import ConfigError
from toporank.features.presets import PRESETS
from toporank.features.registry import (
    DEFAULT_MODULES,
    Parameters,
    call_mkdssp,
    canonical,
    choose,
    modules,
    records,
    resolve,
    resolve_recorded,
)

LENGTHS = {"cutoff", "nearest", "radius", "bins", "h0_max_death", "min_persistence"}
NOTHING = {stage: {} for stage in DEFAULT_MODULES}


# ---- what there is -------------------------------------------------------------------------------


def test_every_stage_has_its_default_module():
    assert list(DEFAULT_MODULES) == ["interface", "topology", "nodes", "edges"]
    for stage, name in DEFAULT_MODULES.items():
        assert modules()[name].stage == stage


def test_within_a_stage_ids_and_aliases_are_all_different_and_every_module_says_what_it_does():
    names = set()
    for module in modules().values():
        names |= {(module.stage, module.id), (module.stage, module.alias)}
        assert len(module.summary) > 10
    assert len(names) == 2 * len(modules())


def test_every_parameter_has_a_description_a_default_and_a_unit_where_it_is_a_length():
    for module in modules().values():
        schema = module.parameters.model_json_schema()
        assert not schema.get("required"), module.id
        for name, field in schema.get("properties", {}).items():
            assert field["description"], f"{module.id}: {name}"
            if name in LENGTHS:
                assert "Å" in field["unit"], f"{module.id}: {name}"


@pytest.mark.parametrize(
    ("stage", "name", "count"),
    [
        ("nodes", "dssp_topology", 32),
        ("topology", "persistence", 140),
        ("edges", "legacy", 11),
        ("edges", "multiscale", 24),
        ("nodes", "contacts", 42),
        ("edges", "contacts", 42),
    ],
)
def test_modules_yield_the_documented_number_of_columns(stage, name, count):
    assert len(choose(stage, {"module": name}).columns) == count


def test_the_published_parameters_are_the_defaults():
    assert choose("interface", {}).parameters.cutoff == 10.0
    topology = choose("topology", {}).parameters
    assert (topology.radius, topology.h0_max_death, topology.min_persistence) == (
        8.0,
        8.0,
        0.01,
    )
    assert topology.element_sets == ("C", "N", "O", "CN", "CO", "NO", "CNO")
    assert choose("edges", {"module": "legacy"}).parameters.bins == tuple(range(1, 11))


# ---- choosing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", DEFAULT_MODULES)
def test_id_alias_and_silence_name_the_same_module(stage):
    default = modules()[DEFAULT_MODULES[stage]]
    given = [
        choose(stage, record)
        for record in ({}, {"module": default.id}, {"module": default.alias})
    ]
    assert given[0] == given[1] == given[2]


def test_parameters_given_replace_defaults_and_the_others_stay():
    chosen = choose("topology", {"radius": 6, "element_sets": ["CN", "O"]})
    assert (chosen.parameters.radius, chosen.parameters.element_sets) == (
        6.0,
        ("CN", "O"),
    )
    assert chosen.parameters.min_persistence == 0.01
    assert len(chosen.columns) == 40


def test_mkdssp_is_needed_where_it_is_chosen_and_for_the_published_features():
    assert not call_mkdssp(resolve(NOTHING))
    assert call_mkdssp(resolve({**NOTHING, "nodes": {"dssp": "mkdssp"}}))
    assert call_mkdssp(resolve(PRESETS["topoqa_compat"]))


@pytest.mark.parametrize(("stage", "record", "says"), messages("features"))
def test_a_wrong_choice_is_an_error_with_stage_key_and_nearest_spelling(
    stage, record, says
):
    with pytest.raises(ConfigError, match=says) as error:
        choose(stage, record)
    assert str(error.value).startswith(f"features.{stage}")


@pytest.mark.parametrize(
    ("stage", "record"),
    [
        ("edges", {"module": "legacy", "bins": [3, 2, 1]}),
        ("edges", {"module": "legacy", "bins": [1, 2, 2]}),
        ("topology", {"element_sets": ["C", "C"]}),
        ("topology", {"element_sets": ["c"]}),
        ("topology", {"element_sets": ["C", ""]}),
    ],
)
def test_limits_that_do_not_rise_and_element_sets_without_sense_are_errors(
    stage, record
):
    with pytest.raises(ConfigError, match=rf"features\.{stage}\.(bins|element_sets)"):
        choose(stage, record)


# ---- what is stored ------------------------------------------------------------------------------


def test_what_is_recorded_resolves_to_the_same_choice_again():
    chosen = resolve(
        {
            **NOTHING,
            "edges": {"module": "legacy", "cutoff": 9.5},
            "topology": {"atoms": "all"},
        }
    )
    stored = json.loads(canonical(records(chosen)))
    assert resolve(stored) == chosen
    assert stored["edges"]["module"] == "edges/legacy_v11"
    assert stored["edges"]["cutoff"] == 9.5
    assert (
        stored["topology"]["radius"] == 8.0
    )  # defaults are written out, so that they may change later


RECORDS = records(
    resolve(
        {**NOTHING, "nodes": {"module": "dssp_topology"}, "edges": {"module": "legacy"}}
    )
)


@pytest.mark.parametrize(
    ("stage", "lost"),
    [
        ("nodes", "scaling"),
        ("edges", "scaling"),
        ("topology", "precision"),
        ("interface", "cutoff"),
    ],
)
def test_a_record_that_lacks_what_it_always_had_is_an_error_that_names_it(stage, lost):
    record = {key: value for key, value in RECORDS[stage].items() if key != lost}
    with pytest.raises(
        ConfigError,
        match=rf"features\.{stage}: the record of {record['module']} .* what {lost} was",
    ):
        resolve_recorded({**RECORDS, stage: record})


@pytest.mark.parametrize(
    "record",
    [None, {}, {"cutoff": 10.0}, {"module": "nodes/dssp_topology/v1"}, {"module": "x"}],
)
def test_a_record_without_a_module_of_its_stage_is_an_error(record):
    with pytest.raises(ConfigError, match=r"features\.edges: no feature module"):
        resolve_recorded({**RECORDS, "edges": record})


def test_canonical_text_does_not_depend_on_the_order_of_keys_or_on_tuples():
    assert (
        canonical({"b": (1, 2.0), "a": "Å"})
        == canonical({"a": "Å", "b": [1, 2.0]})
        == '{"a":"Å","b":[1,2.0]}'
    )


class Base(Parameters):
    """Those of a plug-in."""

    shared: int = 1
    """What all have."""


def test_the_docstring_of_a_parameter_is_its_description_also_where_it_is_inherited():
    class Own(Base):
        """Those of one of its modules."""

        near: float = 2.0
        """How near."""
        plain: int = 3

    properties = Own.model_json_schema()["properties"]
    told = {name: field.get("description") for name, field in properties.items()}
    assert told == {"shared": "What all have.", "near": "How near.", "plain": None}
