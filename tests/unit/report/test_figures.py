"""Figures by matplotlib, and the command that writes them."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from messages import messages
from scored_folders import EXAMPLE, LOST, open_folder, real_answer, write_answer
from toporank.__main__ import main
from toporank.chains.chain import ResidueId
from toporank.confidence.examine import NOT_OF_THIS_MODEL
from toporank.confidence.table import Confidence
from toporank.errors import ConfigError
from toporank.ranking.interfaces import MAIN, SIDE
from toporank.report import figures
from toporank.report.figure_kinds import DRAWN, FigureChoice
from toporank.report.names import shortened
from toporank.report.superposed import lying, turned
from toporank.structures.read import read_complex


def test_models_and_targets_are_shown_with_their_intervals_in_the_width_of_a_column(
    tmp_path,
):
    scored = open_folder(
        write_answer(
            tmp_path,
            {
                "T": {"q_rank_1_m_4": 0.9, "q_rank_2_m_2": 0.3, "q_rank_3_m_1": LOST},
                "U": {"u": 0.1},
            },
        )
    )
    models = scored.facts[scored.facts["target"] == "T"]
    figure = figures.ranking_figure(models, columns=1)
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["rank 1 m 4", "rank 2 m 2"]
    assert figure.get_figwidth() == figures.WIDTHS[1]
    figure = figures.screen_figure(scored.targets, "screen", columns=2)
    assert figure.get_suptitle() == "screen: 2 complexes, 1 believe, 1 do not believe"
    lost = scored.targets.assign(verdict=["believe", ""], dockq=[0.9, None])
    figure = figures.screen_figure(lost, "screen", columns=2)
    assert figure.get_suptitle() == "screen: 2 complexes, 1 believe, 1 not scored"
    assert figure.get_figwidth() == figures.WIDTHS[2]
    with pytest.raises(ConfigError, match="no model of this target has a score"):
        figures.ranking_figure(models[models["dockq"].isna()])


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (
            ["fold_seed-1_sample-0_model", "fold_seed-2_sample-0_model"],
            ["seed 1", "seed 2"],
        ),
        (["1AVZ", "1PPE"], ["1AVZ", "1PPE"]),
        (["a_b", "a_b_c"], ["a_b", "a_b_c"]),
        (["x" * 60], ["x" * 20 + "…" + "x" * 19]),
    ],
)
def test_names_lose_what_they_share(names, short):
    assert shortened(names) == short


def test_pae_has_lines_between_chains_and_contacts_their_residues():
    residues = [ResidueId(chain, number, "") for chain in "AB" for number in (1, 2)]
    axes, _ = figures.pae_figure(np.zeros((4, 4), np.float32), residues, "title").axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["A 1", "B 1"]
    assert len(axes.lines) == 2
    contacts = {
        "name": "A:B",
        "a": ["A 1 SER", "A 2 SER"],
        "b": ["B 1 SER"],
        "k": [0, 0, 90, 1, 0, 20],
    }
    axes, _ = figures.contact_figure(contacts, "title").axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "A 1 SER",
        "A 2 SER",
    ]
    assert axes.images[0].get_array().tolist() == [[0.9], [0.2]]


@pytest.mark.parametrize("colour", ["partner", "quality", "plddt"])
def test_a_structure_has_a_key_of_its_colours(colour):
    complex_ = turned(read_complex(EXAMPLE / "near1.pdb.gz"))
    values = np.full(len(complex_.residues), 95.0)
    known = {"quality": {"quality": values / 100}, "plddt": {"plddt": values}}
    figure = figures.structure_figure(complex_, "title", **known.get(colour, {}))
    keys = []
    for legend in figure.legends:
        keys += [text.get_text() for text in legend.get_texts()]
    labels = [axes.get_xlabel() for axes in figure.axes]
    expected = {
        "partner": "partner A",
        "plddt": "pLDDT > 90",
        "quality": "predicted quality (grey: no interface residue)",
    }
    assert expected[colour] in keys + labels


@pytest.mark.parametrize("beyond", [-3.0, 0.0, 3.0])
def test_a_piece_in_front_of_all_atoms_or_behind_has_a_colour(monkeypatch, beyond):
    """Pure blue has no red; curves pass beyond the atoms between which they run."""
    complex_ = turned(read_complex(EXAMPLE / "near1.pdb.gz"))
    pieces = figures.cartoon.pieces(complex_)
    depth = [piece.depth for piece in pieces]
    ends = min(depth) - beyond, max(depth) + beyond
    pieces = [
        piece._replace(depth=end)
        for piece, end in zip(pieces, ends * len(pieces), strict=False)
    ]
    monkeypatch.setattr(figures.cartoon, "pieces", lambda complex_: pieces)
    high = np.full(len(complex_.residues), 95.0)
    figure = figures.structure_figure(complex_, "title", plddt=high)
    (drawn, *_) = figure.axes[0].collections
    assert drawn.get_facecolor().min() >= 0


def test_letters_of_a_vector_figure_stay_letters():
    models = pd.DataFrame(
        {"target": ["T"], "decoy": ["m"], "dockq": [0.5], "dockq_low": [0.2], "dockq_high": [0.8],
         "verdict": ["check"], "duplicate_of": [""]}
    )  # fmt: skip
    figure = figures.ranking_figure(models)
    svg, pdf = io.BytesIO(), io.BytesIO()
    figure.savefig(svg, format="svg")
    figure.savefig(pdf, format="pdf")
    assert ">acceptable</text>" in svg.getvalue().decode()
    assert b"/Type3" not in pdf.getvalue()
    assert b"/CIDFontType2" in pdf.getvalue()


def test_a_tall_structure_is_laid_down_with_its_largest_partner_to_the_left():
    complex_ = turned(read_complex(EXAMPLE / "near1.pdb.gz"))
    tall = replace(complex_, xyz=complex_.xyz * (0.2, 1.0, 1.0))
    laid = lying(tall)
    before, after = (each.xyz[each.ca[each.ca >= 0]] for each in (tall, laid))
    width, height = np.ptp(after[:, :2], axis=0)
    assert width > height
    np.testing.assert_allclose(after[:, 2], before[:, 2])
    distances = [np.linalg.norm(xyz[1:] - xyz[0], axis=1) for xyz in (before, after)]
    np.testing.assert_allclose(*distances, atol=1e-4)
    body = laid.body_of[laid.ca >= 0]
    largest = body == np.bincount(body).argmax()
    assert after[largest, 0].mean() < after[~largest, 0].mean()
    assert lying(laid) is laid


def of_three_partners(interface: str = "") -> FigureChoice:
    """A model that touches by A:B, its only main interface, and by A:C."""
    key = {"target": "T", "decoy": "m"}
    rows = pd.DataFrame(
        {
            "interface": ["A:B", "A:C"],
            "chains": ["A:B", "A:C"],
            "dockq": [0.8, 0.17],
            "dockq_alone": [0.8, 0.17],
            "role": [MAIN, SIDE],
            "status": "ok",
            **key,
        }
    )
    contact = {"chain_1": "A", "residue_1": "1", "residue_name_1": "SER", **key}
    contact |= {"residue_2": "1", "residue_name_2": "SER", "pred_quality": 0.9}
    contacts = pd.DataFrame([contact | {"chain_2": chain} for chain in "BC"])
    partners = {("T", "m"): (("A",), ("B",), ("C",))}
    scored = SimpleNamespace(interfaces=rows, contacts=contacts, partners=partners)
    weak = "C looks wrong (B:C, 10 residues, 0.21)"
    model = SimpleNamespace(**key, dockq=0.7, verdict="check", weak_partners=weak)
    return FigureChoice(scored, pd.DataFrame([key]), model, interface=interface)


@pytest.mark.parametrize(
    ("interface", "name", "title"),
    [
        ("", "T_m_contacts_A-B", "T, m, A:B:\nexpected DockQ 0.80, right"),
        ("C:A", "T_m_contacts_A-C", "T, m, A:C:\nexpected DockQ 0.17, side contact"),
    ],
)
def test_contacts_are_drawn_of_main_interfaces_and_of_others_that_one_names(
    interface, name, title
):
    choice = of_three_partners(interface)
    assert choice.title == "T, m:\nexpected DockQ 0.70, check, C looks wrong"
    ((found, figure),) = DRAWN["contacts"](choice)
    assert (found, figure.get_suptitle()) == (name, title)


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    remedy = r"pip install 'toporank\[figures\]'"
    with pytest.raises(ConfigError, match=remedy), figures.new_figure(1, 1):
        pass


@pytest.fixture
def with_pae(tmp_path) -> Path:
    """The example, whose best model has a PAE of ColabFold beside it."""
    path = tmp_path / "q_unrelaxed_rank_001_m.pdb.gz"
    path.write_bytes((EXAMPLE / "near1.pdb.gz").read_bytes())
    n = len(read_complex(path).residues)
    (tmp_path / "q_scores_rank_001_m.json").write_text(
        json.dumps({"pae": np.ones((n, n)).tolist()})
    )
    files = {"near1": path, "mid1": path, "far1": EXAMPLE / "far1.pdb"}
    return real_answer(
        tmp_path,
        files=files,
        confidence=[Confidence("1AVZ", "near1", interface_pae=1.0, status="ok")],
    )


def drawn(answer: Path, *options: str) -> int:
    return main(["figure", str(answer), "-o", str(answer / "pictures"), *options])


def test_files_are_named_after_target_and_model_and_a_line_says_what_is_missing(
    with_pae, capsys
):
    assert drawn(with_pae) == 0
    kinds = ("near1_pae", "near1_contacts", "near1_structure_partner", "ranking")
    names = {f"1AVZ_{kind}.png" for kind in kinds}
    assert {path.name for path in (with_pae / "pictures").iterdir()} == names
    assert drawn(with_pae, "--model", "far1", "--format", "svg") == 0
    assert "no pae: " in capsys.readouterr().out
    assert (with_pae / "pictures/1AVZ_far1_contacts.svg").exists()


def test_both_widths_of_a_figure_lie_in_one_folder(with_pae):
    for columns in "12":
        assert drawn(with_pae, "--kind", "ranking", "--columns", columns) == 0
    names = {path.name for path in (with_pae / "pictures").iterdir()}
    assert names == {"1AVZ_ranking.png", "1AVZ_ranking_2_columns.png"}


@pytest.mark.parametrize(
    ("model", "stem"),
    [
        ("pdl1_rank_1", "pdl1_rank_1"),
        ("pdl1", "pdl1"),
        ("pdl12_a", "pdl1_pdl12_a"),
    ],
)
def test_a_name_that_begins_with_the_target_has_it_once(model, stem):
    row = SimpleNamespace(target="pdl1", decoy=model)
    assert FigureChoice(None, None, row).stem == stem


def test_the_pae_of_a_copy_is_that_of_its_original(with_pae):
    assert drawn(with_pae, "--kind", "pae", "--model", "mid2") == 0  # of mid1


@pytest.mark.parametrize(("options", "message"), messages("figures"))
def test_what_cannot_be_drawn_is_an_error_with_a_remedy(with_pae, options, message):
    with pytest.raises(SystemExit, match=re.escape(message)):
        drawn(with_pae, *options)


def test_where_nothing_can_be_written_or_no_model_is_there_no_figure_is(with_pae):
    with pytest.raises(SystemExit, match="cannot be written"):
        main(["figure", str(with_pae), "-o", str(Path(__file__))])
    (table,) = with_pae.rglob("models.csv")
    header, *_ = table.read_text().splitlines()
    table.write_text(f"{header}\n")
    with pytest.raises(SystemExit, match=r"no model of the target '1AVZ' \(score the"):
        drawn(with_pae)


def test_a_pae_that_is_not_of_the_model_is_not_drawn(tmp_path):
    reason = f"76% {NOT_OF_THIS_MODEL} q_scores_rank_001_m.json"
    root = real_answer(
        tmp_path,
        confidence=[Confidence("1AVZ", "near1", status="incomplete", reason=reason)],
    )
    with pytest.raises(SystemExit, match=reason):
        drawn(root, "--kind", "pae")
