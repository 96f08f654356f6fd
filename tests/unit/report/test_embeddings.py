"""Pooled vectors of decoys: the table of them, and the map on the page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from _shown import scored_example
from safetensors.numpy import load_file

from toporank.errors import RecordError
from toporank.report.decoy_map import STEPS, maps_for_script
from toporank.report.page import render
from toporank.report.results import _vectors, by_target
from toporank.scorer.embeddings import (
    principal_places,
    read_embeddings,
    read_training_vectors,
    write_embeddings,
    write_training_vectors,
)

NAMES = ("near1", "mid1", "mid2", "far1")


# ---- the tables -------------------------------------------------------------------------------------------


def test_the_table_has_a_row_for_each_decoy_with_exact_numbers(tmp_path):
    path, vector = tmp_path / "embeddings.csv", np.array([0.1, -1e-30], np.float32)
    write_embeddings(path, {("NA", "1"): vector, ("=T", "2"): vector})
    assert path.read_text() == "target,decoy,v0,v1\nNA,1,0.1,-1e-30\n'=T,2,0.1,-1e-30\n"
    vectors = read_embeddings(path)
    assert [*vectors] == [("NA", "1"), ("=T", "2")]
    assert all(np.array_equal(each, vector) for each in vectors.values())


def test_a_table_without_decoys_can_be_read(tmp_path):
    write_embeddings(tmp_path / "none.csv", {})
    assert read_embeddings(tmp_path / "none.csv") == {}


def test_the_vectors_of_a_scorer_are_safetensors_and_those_of_another_checkpoint_are_not_used(tmp_path):
    path = tmp_path / "training_vectors.safetensors"
    write_training_vectors(path, {("NA", "a"): np.array([1.0, 0.1])}, "1" * 64)
    assert np.array_equal(load_file(path)["vectors"], np.float32([[1.0, 0.1]]))
    assert [*read_training_vectors(path, "1" * 64)] == [("NA", "a")]
    assert read_training_vectors(path, "2" * 64) == {}
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(RecordError, match=r"training_vectors\.safetensors: not a table of vectors.*\(delete it"):
        read_training_vectors(path, "1" * 64)


# ---- the axes ---------------------------------------------------------------------------------------------


def test_the_plane_holds_what_lies_in_a_plane_and_says_how_much():
    """Of points in a plane, distances on the map are those between them; variances are of a 3 : 1 ellipse."""
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    flat = np.column_stack([3 * np.cos(angle), np.sin(angle)])
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 2)))[0]
    places, _, shares = principal_places(flat @ axes.T + 7, np.zeros((0, 5)), 2)
    assert np.linalg.norm(places[3] - places[17]) == pytest.approx(np.linalg.norm(flat[3] - flat[17]))
    assert shares == pytest.approx([0.9, 0.1])


def test_others_lie_along_the_same_axes():
    vectors = np.random.default_rng(1).normal(size=(30, 6))
    places, others, _ = principal_places(vectors, vectors[4:6], 2)
    assert others == pytest.approx(places[4:6])


def test_equal_vectors_make_a_map_too():
    places, _, shares = principal_places(np.ones((4, 3)), np.zeros((0, 3)), 2)
    assert places.tolist() == [[0, 0]] * 4
    assert shares.tolist() == [0, 0]


DAMAGED = {
    "empty": "",
    "not text": "\0junk",
    "no names": "v0\n1.0\n",
    "cut": "target,decoy,v0,v1\nT,a,1.0",
    "texts": "target,decoy,v0\nT,a,one\n",
    "unknown entries": "target,decoy,v0\nT,a,1.0\nT,b,\n",
    "not a number": "target,decoy,v0\nT,a,nan\n",
    "infinite": "target,decoy,v0\nT,a,inf\n",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_table_is_named_with_a_remedy(tmp_path, content):
    path = tmp_path / "embeddings.csv"
    path.write_text(content)
    with pytest.raises(RecordError, match=r"embeddings\.csv: not a table of vectors.*\(delete it") as caught:
        read_embeddings(path)
    assert len(str(caught.value).splitlines()) == 1


# ---- the map ----------------------------------------------------------------------------------------------


def mapped(study):
    """The maps of a study whose vectors are drawn at random."""
    for target in dict.fromkeys(row.target for row in study.decoys):
        rng = np.random.default_rng(len(target) + ord(target[0]))
        study.vectors.setdefault("bench", {}).update({(target, name): rng.normal(size=4) for name in NAMES})
    return maps_for_script(study)


def test_two_targets_with_the_same_names_have_their_own_places(tmp_path):
    maps = mapped(scored_example(tmp_path, ("S", "T")))
    assert maps["all"]["t"] == [0] * 4 + [1] * 4
    assert maps["all"]["i"] == [0, 1, 2, 3] * 2
    assert set(maps["each"]) == {"0", "1"}
    for shown in (maps["all"], *maps["each"].values()):
        assert {len(column) for column in shown["c"]} == {len(shown["i"])}
        assert {min(column) for column in shown["c"]} == {0}
        assert max(map(max, shown["c"])) == STEPS


def test_with_decoys_of_the_training_the_axes_are_theirs(tmp_path):
    study = scored_example(tmp_path)
    study.training_vectors.extend(
        np.diag([9.0, 3.0, 0.0, 0.0]) @ v for v in np.random.default_rng(2).normal(size=(50, 4))
    )
    maps = mapped(study)
    assert [len(column) for column in maps["all"]["c"]] == [4 + 50] * len(maps["all"]["c"])
    assert sum(maps["all"]["v"][:2]) == maps["all"]["v"][2] == 100
    assert len(maps["each"]["0"]["c"][0]) == 4


def test_distances_between_decoys_are_kept_but_for_rounding(tmp_path):
    study = scored_example(tmp_path)
    draw = np.random.default_rng(3)
    vectors = draw.normal(size=(4, 4))
    study.vectors["bench"] = {("1AVZ", name): vector for name, vector in zip(NAMES, vectors, strict=True)}
    (shown,) = maps_for_script(study)["each"].values()
    order = [[row.decoy for row in by_target(study.decoys)[0][1]][i] for i in shown["i"]]
    places, known = np.array(shown["c"]).T, vectors[[NAMES.index(name) for name in order]]
    between = [np.linalg.norm(a[:, None] - a[None], axis=2)[np.triu_indices(4, 1)] for a in (places, known)]
    assert between[0] / between[1] == pytest.approx(np.full(6, (between[0] / between[1])[0]), rel=0.01)


def test_without_vectors_there_is_no_map(tmp_path):
    assert maps_for_script(scored_example(tmp_path)) == {}


def test_vectors_of_the_training_of_another_length_are_left_out(tmp_path):
    study = scored_example(tmp_path)
    study.training_vectors.extend(np.ones(7) for _ in range(5))
    assert len(mapped(study)["all"]["c"][0]) == 4


def test_a_damaged_file_of_vectors_costs_the_map_and_the_page_says_so(tmp_path):
    (tmp_path / "embeddings.csv").write_bytes(b"junk")
    study = replace(scored_example(tmp_path), no_map=[])
    assert _vectors(lambda: read_embeddings(tmp_path / "embeddings.csv"), study.no_map) == {}
    page = render(study)
    assert "The map lacks what a file should tell" in page
    assert "embeddings.csv: not a table of vectors" in page
    assert '<canvas id="map"' not in page
    assert "near1" in page
    assert 'id="map-section"' not in render(scored_example(tmp_path))
