"""Pictures for slides: what is drawn, how it is written, and what the command says when something is missing."""

from __future__ import annotations

import argparse
import builtins
import importlib.util
import json
import re
import struct
import xml.etree.ElementTree as ET
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _shown import EXAMPLE, scored_example

from structures_text import alanine, complex_of
from toporank.app.commands import figure
from toporank.errors import ConfidenceError, ConfigError
from toporank.inputs.confidence.decoy import NOT_OF_THIS_MODEL, pae_of
from toporank.inputs.confidence.table import Confidence
from toporank.ranking.residues import ContactRow, ResidueRow
from toporank.report import pae
from toporank.report.page import render
from toporank.report.slides import cartoon
from toporank.report.slides.canvas import Canvas, blended, hexed, png, png_bytes, shade, svg
from toporank.report.slides.contact_map import by_partners, contacts_slide
from toporank.report.slides.drawings import TINTS, complex_slide, outlines, pae_slide
from toporank.report.slides.ranking_plot import ranking_slide
from toporank.structures.identity import ResidueId
from toporank.structures.read import read_complex

SVG = "{http://www.w3.org/2000/svg}"


def texts(canvas: Canvas) -> list[str]:
    return [element.text for element in ET.fromstring(svg(canvas)).iter(f"{SVG}text")]


# ---- files ------------------------------------------------------------------------------------------------


def test_a_png_file_has_its_pixels_row_by_row():
    pixels = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
    content = png_bytes(pixels)
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">IIBB", content[16:26]) == (3, 2, 8, 6)
    start = content.index(b"IDAT")
    (length,) = struct.unpack(">I", content[start - 4 : start])
    rows = np.frombuffer(zlib.decompress(content[start + 4 : start + 4 + length]), np.uint8).reshape(2, 13)
    assert not rows[:, 0].any()
    np.testing.assert_array_equal(rows[:, 1:].reshape(2, 3, 4), pixels)


def test_colours_between_two_are_mixed():
    assert [shade(("#000000", "#ffffff", "#ff0000"), value) for value in (0.0, 0.25, 0.5, 1.0)] == [
        "#000000", "#808080", "#ffffff", "#ff0000",
    ]  # fmt: skip
    assert blended(("#000000", "#ffffff"), np.zeros((4, 5))).shape == (4, 5, 3)
    assert hexed((0.0, 0.5, 1.0)) == "#0080ff"


@pytest.fixture
def everything() -> Canvas:
    canvas = Canvas(300, 200, 'a "label" & more')
    canvas.box(10, 10, 50, 20, "#ff0000", stroke="#000000", thick=2, opacity=0.5)
    canvas.line([(0, 0), (100, 50)], "#00ff00", 3)
    canvas.dot(150, 100, 10, "#0000ff")
    canvas.text(20, 150, "<A&B>", 20, bold=True)
    canvas.picture(200, 100, 50, 50, np.full((4, 4, 3), 200, np.uint8))
    return canvas


def test_svg_is_well_formed_and_takes_names_as_text(everything):
    root = ET.fromstring(svg(everything))
    assert root.find(f"{SVG}title").text == 'a "label" & more'
    assert texts(everything) == ["<A&B>"]
    kinds = [element.tag.removeprefix(SVG) for element in root]
    assert kinds == ["title", "rect", "path", "path", "circle", "text", "image"]
    assert svg(everything) == svg(everything)


def test_png_has_the_size_of_the_canvas_and_what_was_drawn(everything):
    pytest.importorskip("matplotlib")
    content = png(everything)
    assert struct.unpack(">II", content[16:24]) == (300, 200)
    assert len(content) > len(png(Canvas(300, 200, "")))


def test_without_matplotlib_the_message_says_what_to_install(everything, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"PNG pictures need matplotlib .*toporank\[train\].*--format svg"):
        png(everything)


def test_svg_needs_no_matplotlib(monkeypatch):
    def without(name, *rest):
        assert not name.startswith("matplotlib")
        return real(name, *rest)

    real = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", without)
    assert "<svg" in svg(ranking_slide(study().decoys[:2], {}))


# ---- the cartoon ------------------------------------------------------------------------------------------


def study():
    return scored_example(Path("results"))


@pytest.fixture(scope="module")
def model():
    return read_complex(EXAMPLE / "near1.pdb.gz")


def test_partners_lie_side_by_side_the_largest_on_the_left(model):
    axes = cartoon.view(model)
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-9)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    own = model.ca >= 0
    x = (model.xyz[model.ca[own]] @ axes.T)[:, 0]
    first = model.body_of[own] == 0
    assert first.mean() > 0.5
    assert x[first].mean() < x[~first].mean()


def test_the_surface_is_near_the_ca_atoms_and_each_residue_has_a_part(model):
    surface = cartoon.mesh(model, np.eye(3))
    own = np.flatnonzero((model.ca >= 0) & (model.body_of >= 0))
    assert {*surface.residue.tolist()} == {*own.tolist()}
    away = np.linalg.norm(surface.corners.mean(axis=1) - model.xyz[model.ca[surface.residue]], axis=1)
    assert away.max() < 6.0
    np.testing.assert_allclose(np.linalg.norm(surface.normals, axis=2), 1.0, atol=1e-6)


def test_the_picture_shows_the_nearest_surface_without_holes(model):
    surface = cartoon.mesh(model, cartoon.view(model))
    colours = np.full((len(model.residues), 3), 0.5)
    pixels = cartoon.painted(surface, colours, 240, 160)
    assert pixels.shape == (160, 240, 4)
    inside = pixels[..., 3] > 0
    assert 0.1 < inside.mean() < 0.8
    assert not inside[0].any()
    assert not inside[:, 0].any()


def test_a_wall_hides_what_lies_behind_it():
    square = np.array([[0, 0, 0], [10, 0, 0], [10, 10, 0], [0, 10, 0]], dtype=float)
    corners = np.stack([square + np.array([0.0, 0.0, 5.0]), square])
    normals = np.broadcast_to((0.0, 0.0, 1.0), corners.shape)
    wall = cartoon.Mesh(corners, normals, np.array([1, 0]), np.array([True, True]))
    pixels = cartoon.painted(wall, np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), 60, 60)
    assert pixels[30, 30, 2] > 100 > pixels[30, 30, 0]
    assert (pixels[10:50, 10:50, 3] == 255).all()  # and has no holes


def test_loose_ends_do_not_set_the_frame():
    core = [*(atom for i in range(12) for atom in alanine("A", i, 3.8 * (i % 3), 3.8 * (i // 3)))]
    tail = [*(atom for i in range(12, 60) for atom in alanine("A", i, 3.8 * (i - 9), 0.0))]
    found = cartoon.packed(complex_of([*core, *tail]))
    assert found[:12].all()
    assert not found[30:].any()


def test_short_helices_and_single_strands_are_loops():
    kinds = [cartoon.HELIX] * 3 + [cartoon.STRAND] + [cartoon.HELIX] * 4 + [cartoon.STRAND] * 2
    assert cartoon._without_singles(kinds) == [cartoon.LOOP] * 4 + kinds[4:]


def test_residues_of_the_interface_have_the_colour_of_their_quality(model, monkeypatch):
    seen = {}

    def painted(surface, colours, width, height):
        seen["colours"] = colours
        return np.zeros((height, width, 4), np.uint8)

    monkeypatch.setattr(cartoon, "painted", painted)
    row = study().decoys[0]
    chain, number, code = model.residues[5]
    rows = [ResidueRow(row.target, row.decoy, chain, f"{number}{code}", 1.0)]
    canvas = complex_slide(row, model, rows)
    assert [hexed(seen["colours"][r]) for r in (4, 5)] == [TINTS[0], "#1c5fa8"]
    assert {"1AVZ", "near1", "chain A", "chain B", "predicted quality at the interface"} <= {*texts(canvas)}


# ---- PAE --------------------------------------------------------------------------------------------------


def residues(**lengths: int) -> tuple[ResidueId, ...]:
    return tuple(ResidueId(chain, i) for chain, n in lengths.items() for i in range(n))


def test_chains_are_runs_of_residues():
    assert pae.runs(residues(A=3, B=2)) == [("A", 0, 3), ("B", 3, 5)]


def test_a_large_matrix_becomes_the_mean_of_blocks():
    values = np.arange(36.0).reshape(6, 6)
    np.testing.assert_allclose(pae.smaller(values, 3), values.reshape(3, 2, 3, 2).mean(axis=(1, 3)))
    assert pae.smaller(values, 6) is values
    assert pae.smaller(np.ones((7, 7)), 3).tolist() == [[1.0] * 3] * 3


def test_a_small_picture_is_dark_where_the_error_is_small_and_has_lines_between_chains():
    values = np.full((400, 400), 30.0)
    values[:200, :200] = 0.0
    pixels = pae.picture(pae.Pae(values, residues(A=200, B=200)))
    assert pixels.shape == (160, 160, 3)
    assert pixels[10, 10].tolist() == [11, 79, 92]
    assert pixels[150, 150].tolist() == [255, 255, 255]
    assert pixels[80, 10].max() < 60
    assert pixels[10, 80].max() < 60


def test_contacts_are_outlined_in_both_directions_within_their_chains():
    lines = outlines(np.array([[2, 7]]), np.repeat([0, 1], [4, 6]), reach=1)
    corners = {point for line in lines for point in line}
    assert corners == {(x, y) for x in (6, 9) for y in (1, 4)} | {(x, y) for x in (1, 4) for y in (6, 9)}
    cut = outlines(np.array([[3, 4]]), np.repeat([0, 1], [4, 6]), reach=1)
    assert {point for line in cut for point in line} == {(4, 2), (6, 2), (6, 4), (2, 4), (2, 6), (4, 6)}
    assert outlines(np.zeros((0, 2), int), np.zeros(5, int)) == []


def test_the_slide_names_the_chains():
    row, values = study().decoys[0], np.random.default_rng(0).uniform(0, 30, (50, 50))
    canvas = pae_slide(row, values, pae.runs(residues(A=30, B=20)), np.array([[3, 40]]))
    assert texts(canvas).count("chain A") == texts(canvas).count("chain B") == 2
    assert "30 Å" in texts(canvas)


def test_a_model_without_pae_says_so(model):
    with pytest.raises(ConfidenceError, match=r"near1.pdb.gz: the predictor left no PAE beside this model"):
        pae_of(EXAMPLE / "near1.pdb.gz", model)


@pytest.fixture
def with_pae(tmp_path, model):
    """The example, whose best model has files of ColabFold beside it: 0 Å in the first chain, 30 Å elsewhere."""
    path = tmp_path / "q_unrelaxed_rank_001_m.pdb.gz"
    path.write_bytes((EXAMPLE / "near1.pdb.gz").read_bytes())
    values = np.full((len(model.residues), len(model.residues)), 30.0)
    first = np.array([residue.chain == model.residues[0].chain for residue in model.residues])
    values[np.ix_(first, first)] = 0.0
    (tmp_path / "q_scores_rank_001_m.json").write_text(json.dumps({"pae": values.tolist()}))
    found = scored_example(tmp_path)
    found.results[0] = found.results[0]._replace(path=str(path))
    said = [Confidence("1AVZ", row.decoy, interface_pae=5.0) for row in found.decoys]
    return replace(found, confidence={"bench": said})


def test_the_page_has_a_picture_of_the_models_with_pae_and_no_other(with_pae):
    ((place, (picture,)),) = pae.pictures(with_pae).items()
    assert (place, picture["name"], picture["chains"]) == (0, "near1", "A, B")
    assert picture["src"].startswith("data:image/png;base64,")
    assert len(picture["src"]) < 40_000
    page = render(with_pae)
    assert page.count('alt="Predicted aligned error of near1"') == page.count("data:image/png") == 1


def test_a_page_without_pae_has_no_picture():
    assert pae.pictures(study()) == {}
    assert "data:image/png" not in render(study())


def test_a_predictors_file_that_is_too_large_for_the_page_has_no_picture(with_pae, monkeypatch):
    monkeypatch.setattr(pae, "LARGEST", 1000)
    assert pae.pictures(with_pae) == {}


def test_pae_has_the_residues_of_partners_in_the_order_of_the_file(with_pae, model):
    found = pae.pae_of_result(with_pae.decoys[0], (("A",), ("B",)))
    assert found.residues == model.residues
    assert found.values[0, 0] == 0.0
    assert found.values[0, -1] == 30.0


# ---- the ranking ------------------------------------------------------------------------------------------


def test_each_model_of_a_ranking_has_a_line_but_copies_have_none():
    said = {"near1": Confidence("1AVZ", "near1", iptm=0.9)}
    found = texts(ranking_slide(study().decoys, said))
    assert "1AVZ: 3 models by predicted DockQ" in found
    assert [text for text in found if re.fullmatch(r"\d+  \w+\d", text)] == ["1  near1", "2  mid1", "3  far1"]
    assert {"0.85", "0.50", "0.10", "ipTM", "0.90", "–", "likely", "wrong"} <= {*found}
    assert "pLDDT" not in found


def test_many_models_are_strokes_side_by_side():
    row = study().decoys[0]
    rows = [row._replace(decoy=f"d{i}", rank=i + 1, pred_dockq=1 - i / 200) for i in range(200)]
    found = texts(ranking_slide(rows, {}))
    assert "1AVZ: 200 models by predicted DockQ" in found
    assert "200" in found
    assert "d7" not in found


# ---- contacts ---------------------------------------------------------------------------------------------


def contact(first: str, second: str, kind: str = "other", quality: float | None = 0.5) -> ContactRow:
    (a, i), (b, j) = first.split(":"), second.split(":")
    names = ({"A": "SER", "B": "LYS"}.get(chain, "GLY") for chain in (a, b))
    return ContactRow("1AVZ", "near1", a, i, next(names), b, j, next(names), 3.0, kind, quality, quality, None)


def test_contacts_are_parted_by_partners_the_one_with_fewer_residues_first():
    rows = [contact("A:1", "H:5"), contact("L:2", "A:1"), contact("H:1", "L:1"), contact("A:3", "C:9")]
    found = by_partners(rows, (("H", "L"), ("A",), ("C",)))
    assert [len(group) for group in found] == [2, 1, 1]
    assert [(row.chain_1, row.residue_1, row.chain_2, row.residue_2) for row in found[0]] == [
        ("A", "1", "H", "5"), ("A", "1", "L", "2"),
    ]  # fmt: skip


def test_a_contact_map_has_the_residues_in_the_order_of_their_numbers_and_marks_bonds():
    rows = [
        contact("A:10", "B:7"),
        contact("A:9", "B:-2", "salt bridge"),
        contact("A:9A", "B:7", "hydrogen bond", None),
    ]
    found = texts(contacts_slide(study().decoys[0], rows))
    assert [text for text in found if re.fullmatch(r"[SK]-?\d+A?", text)] == ["S9", "S9A", "S10", "K-2", "K7"]
    assert {"hydrogen bond", "salt bridge"} <= {*found}


# ---- the command ------------------------------------------------------------------------------------------


@pytest.fixture
def scored(monkeypatch, tmp_path) -> Path:
    """A folder that looks scored; what is in it is the example."""
    scores = tmp_path / "results/scores/bench"
    scores.mkdir(parents=True)
    (scores / "ranking.csv").touch()
    example = scored_example(scores)
    monkeypatch.setattr("toporank.app.commands.shown.study_of", lambda out, dataset: example)
    example.confidence["bench"] = []
    return tmp_path


def drawn(answer: Path, **wanted: str | None) -> int:
    given = {"target": None, "model": None, "kind": None, "format": "svg", "out": answer / "pictures"}
    return figure.figure(argparse.Namespace(answer=answer, **given | wanted))


def test_files_are_named_after_target_and_model_and_a_line_says_what_is_missing(scored, capsys):
    assert drawn(scored) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [Path(line).name for line in lines[::2]] == ["1AVZ_near1_complex.svg", "1AVZ_ranking.svg"]
    assert lines[1].startswith("no pae: ")
    assert lines[3].startswith("no contacts: 1AVZ/near1: contacts.csv has no contact of this model")
    assert {path.name for path in (scored / "pictures").iterdir()} == {"1AVZ_near1_complex.svg", "1AVZ_ranking.svg"}


def test_what_was_asked_for_by_name_and_is_missing_is_an_error(scored):
    with pytest.raises(ConfidenceError, match="no PAE"):
        drawn(scored, kind="pae")


def test_a_pae_that_is_not_of_the_model_is_not_drawn(scored, with_pae, monkeypatch):
    monkeypatch.setattr("toporank.app.commands.shown.study_of", lambda out, dataset: with_pae)
    assert drawn(scored, kind="pae") == 0
    reason = f"76% {NOT_OF_THIS_MODEL} q_scores_rank_001_m.json"
    with_pae.confidence["bench"][0] = Confidence("1AVZ", "near1", status="incomplete", reason=reason)
    with pytest.raises(ConfidenceError, match=reason):
        drawn(scored, kind="pae")


def test_the_pae_of_a_copy_is_that_of_the_model_that_stands_for_it(scored, with_pae, monkeypatch):
    rows = [row._replace(duplicate_of="near1") if row.decoy == "far1" else row for row in with_pae.results]
    study_with_copy = replace(with_pae, results=rows)
    monkeypatch.setattr("toporank.app.commands.shown.study_of", lambda out, dataset: study_with_copy)
    assert drawn(scored, kind="pae", model="far1") == 0
    with pytest.raises(ConfidenceError, match="left no PAE"):
        drawn(scored, kind="pae", model="mid1")


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"target": "1AVY"}, r"there is no target '1AVY' \(did you mean '1AVZ'\?\)"),
        ({"model": "near2"}, r"the target '1AVZ' has no model 'near2' \(did you mean 'near1'\?\)"),
    ],
)
def test_a_misspelled_name_comes_with_the_nearest_one(scored, wanted, message):
    with pytest.raises(ConfigError, match=message):
        drawn(scored, **wanted)
