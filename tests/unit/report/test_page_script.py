"""The report in a real browser: sorting, filtering and ordering, without an error or a request."""

from __future__ import annotations

import base64
import dataclasses
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from _shown import scored_example

from browser import NAMES, Browser, find_browser
from described_checkpoint import DESCRIPTION, METRICS
from toporank.building.coverage import CoverageRow
from toporank.files.spreadsheets import defused
from toporank.inputs.labels import Label
from toporank.learning.selection import leaderboard
from toporank.ranking.evaluation import evaluate
from toporank.ranking.interfaces import InterfaceRow
from toporank.ranking.ranked import ComparedDecoy, ranking
from toporank.ranking.residues import ResidueRow
from toporank.report.page import render
from toporank.report.results import Study, joined_results
from toporank.scorer.prediction import Estimate, Score
from toporank.structures.identity import Status

TARGETS = ("1PPE", "1AVZ", "1GCQ", "1E10", "T10", "T9", "2I25", "7CEI")
"""Some begin with a number, some are one for a careless reader."""
SCORES = (0.31, 0.9, 0.12, 0.5, 0.7, 0.65, 0.2, 0.45)
TRUE = (0.5, 0.1, 0.2, 0.55, 0.75, 0.6, 0.3, 0.4)


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed (apt-get install chromium)")
    opened = Browser(program, tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()


def study(targets: tuple[str, ...], board: pd.DataFrame | None, *, labelled: bool) -> Study:
    """Two decoys of each target that are scored, `best` and `rest`, and one that failed."""
    rows, scores = [], []
    for k, target in enumerate(targets):
        for name, place in (("best", k), ("rest", k + 1)):
            dockq = TRUE[place % len(TRUE)] if labelled else None
            rows.append(CoverageRow(target, name, Status.OK, "graphs", "", dockq, "val" * labelled, 2, 10 + k, "x"))
            scores.append(Score(target, name, SCORES[k % len(SCORES)] / (1 if name == "best" else 2), None))
        rows.append(CoverageRow(target, f"lost{k}", Status.FAILED, "nodes", f"reason {k}", None, "", None, None, "x"))
    rows.sort()
    table = ranking(rows, scores)
    labels = [Label(row.target, row.decoy, row.dockq, row.split) for row in rows if row.dockq is not None]
    evaluations = {"bench": evaluate(table, labels)[1]} if labelled else {}
    return Study(["bench"], joined_results("bench", rows, table), evaluations, board, {}, DESCRIPTION)


def write(folder: Path, shown: Study) -> Path:
    path = folder / "report.html"
    path.write_text(render(shown), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def board(tmp_path_factory) -> pd.DataFrame:
    """Runs whose numbers sort otherwise as texts, one of them without a Spearman."""
    folder, paths = tmp_path_factory.mktemp("runs"), []
    for name, seed, epochs, spearman in (("a_seed10", 10, 9, -0.2), ("a_seed9", 9, 100, 0.1), ("b_seed2", 2, 20, None)):
        values = {"epoch": epochs - 1, **METRICS, "val_loss": 1 / epochs, "val_spearman": spearman}
        checkpoints = dict.fromkeys(("best_loss", "best_selection", "best_ranking"), values)
        summary = {"run": name, "seed": seed, "epochs": epochs, "stopped": "", "parent": None, **checkpoints}
        paths.append(folder / "training" / name / "summary.json")
        paths[-1].parent.mkdir(parents=True)
        paths[-1].write_text(json.dumps(summary))
    return leaderboard(paths, "val_loss")


@pytest.fixture(scope="module")
def page(browser, board, tmp_path_factory) -> Browser:
    """The browser with the page of a labelled study."""
    browser.open(write(tmp_path_factory.mktemp("page"), study(TARGETS, board, labelled=True)))
    return browser


def sorted_by(page: Browser, section: str, column: str, clicks: int = 1) -> list[str]:
    """Texts of a column, or of its cells' first column, after clicks on its header."""
    return page.run(f"""(() => {{
        const table = document.querySelector("#{section} table.sortable");
        const head = [...table.querySelectorAll("th[data-c]")].find(th => th.textContent.trim() === {column!r});
        for (let i = 0; i < {clicks}; i++) head.querySelector("button").click();
        return [...table.tBodies[0].rows].map(row => row.cells[head.dataset.c].textContent.trim());
    }})()""")


def shown_targets(page: Browser) -> list[str]:
    return page.run("[...document.querySelectorAll('.target:not([hidden])')].map(node => node.dataset.name)")


def set_value(page: Browser, control: str, value: str, event: str) -> None:
    """As a user does; the filter waits for the next key."""
    page.run(f"""new Promise(done => {{
        const control = document.getElementById("{control}");
        control.value = {value!r};
        control.dispatchEvent(new Event("{event}"));
        setTimeout(done, 200);
    }})""")


SAVED = """(async () => {
    const saved = [];
    HTMLAnchorElement.prototype.click = function () { saved.push([this.download, this.href]); };
    for (const button of document.querySelectorAll(%r)) button.click();
    await new Promise(done => setTimeout(done, 800));
    return saved;
})()"""
"""What the buttons of a page save: names and addresses."""


def pixels_of(address: str) -> np.ndarray:
    head, _, content = address.partition(",")
    assert head == "data:image/png;base64"
    return matplotlib.image.imread(io.BytesIO(base64.b64decode(content)))


# ---- sorting ----------------------------------------------------------------------------------------------


def test_names_sort_as_people_sort_them_and_not_by_a_number_they_begin_with(page):
    assert sorted_by(page, "skipped", "target") == ["1AVZ", "1E10", "1GCQ", "1PPE", "2I25", "7CEI", "T9", "T10"]
    assert sorted_by(page, "skipped", "target") == ["T10", "T9", "7CEI", "2I25", "1PPE", "1GCQ", "1E10", "1AVZ"]


def test_the_header_says_how_a_table_is_sorted(page):
    sorted_by(page, "skipped", "model", 2)
    heads = "[...document.querySelectorAll('#skipped th[aria-sort]')].map(th => th.textContent + th.ariaSort)"
    assert page.run(heads) == ["modeldescending"]


def test_numbers_sort_by_size(page):
    assert sorted_by(page, "leaderboard", "seed") == ["2", "9", "10"]
    assert sorted_by(page, "leaderboard", "epochs", 2) == ["100", "20", "9"]
    assert sorted_by(page, "leaderboard", "loss") == ["0.0100", "0.0500", "0.1111"]


def test_a_missing_number_comes_last_in_both_directions(page):
    assert sorted_by(page, "leaderboard", "Spearmanpooled") == ["−0.200", "0.100", "–"]
    assert sorted_by(page, "leaderboard", "Spearmanpooled") == ["0.100", "−0.200", "–"]


# ---- the rankings -----------------------------------------------------------------------------------------


def test_a_target_that_is_opened_shows_its_decoys_best_first(page):
    rows = page.run("""new Promise(done => {
        const node = [...document.querySelectorAll(".target")].find(node => node.dataset.name === "1PPE");
        node.addEventListener("toggle", () => setTimeout(() =>
            done([...node.querySelectorAll("tbody tr")].map(row => [...row.cells].map(cell => cell.textContent)))));
        node.open = true;
    })""")
    assert [row[:4] for row in rows] == [
        ["1", "best", "0.310", "acceptable"], ["2", "rest", "0.155", "incorrect"], ["–", "lost0", "–", "–"],
    ]  # fmt: skip


def test_every_target_has_its_strip(page):
    assert page.run("document.querySelectorAll('.target .see svg.strip').length") == len(TARGETS)


@pytest.mark.parametrize(
    ("query", "found"), [("1a", ["1AVZ"]), ("LOST4", ["T10"]), ("t", sorted(TARGETS)), ("nothing like it", [])]
)
def test_the_filter_finds_targets_and_decoys(page, query, found):
    set_value(page, "order", "", "change")
    set_value(page, "filter", query, "input")
    assert shown_targets(page) == found
    assert page.run("document.getElementById('empty').hidden") == bool(found)
    set_value(page, "filter", "", "input")
    assert shown_targets(page) == sorted(TARGETS)


def test_one_target_can_be_chosen_and_is_opened(page):
    index = sorted(TARGETS).index("2I25")
    set_value(page, "choice", str(index), "change")
    assert shown_targets(page) == ["2I25"]
    assert page.run("document.querySelector('.target:not([hidden])').open")
    set_value(page, "choice", "", "change")


def test_targets_can_be_put_in_another_order(page):
    by_score = [target for _, target in sorted(zip(SCORES, TARGETS, strict=True))]
    for value, expected in (("pred up", by_score), ("pred down", by_score[::-1]), ("", sorted(TARGETS))):
        set_value(page, "order", value, "change")
        assert shown_targets(page) == expected


# ---- the table of a target, and the CSV -------------------------------------------------------------------


def open_target(page: Browser, name: str) -> None:
    page.run(f"""new Promise(done => {{
        const node = [...document.querySelectorAll(".target")].find(node => node.dataset.name === {name!r});
        node.open = true;
        setTimeout(() => done(), 50);
    }})""")


def decoys_by(page: Browser, name: str, column: str) -> list[str]:
    """The decoys of a target after a click on a heading of its table."""
    return page.run(f"""(() => {{
        const node = [...document.querySelectorAll(".target")].find(node => node.dataset.name === {name!r});
        const button = [...node.querySelectorAll("thead button")].find(button => button.textContent === {column!r});
        button.click();
        return [...node.querySelectorAll("tbody tr")].map(row => row.cells[1].textContent);
    }})()""")


def test_the_decoys_of_a_target_sort_by_any_column_and_what_is_missing_comes_last(page):
    open_target(page, "1PPE")
    assert decoys_by(page, "1PPE", "predicted DockQ") == ["rest", "best", "lost0"]
    assert decoys_by(page, "1PPE", "predicted DockQ") == ["best", "rest", "lost0"]
    assert decoys_by(page, "1PPE", "class") == ["rest", "best", "lost0"]
    assert decoys_by(page, "1PPE", "model") == ["best", "lost0", "rest"]
    sorted_by = "[...document.querySelectorAll('.target[open] th[aria-sort]')].map(th => th.textContent + th.ariaSort)"
    assert page.run(sorted_by) == ["modelascending"]
    assert page.run("document.activeElement.textContent") == "model"
    assert decoys_by(page, "1PPE", "rank") == ["best", "rest", "lost0"]


def test_decoys_are_filtered_by_predicted_class(page):
    set_value(page, "least", "2", "change")
    assert shown_targets(page) == sorted(t for t, s in zip(TARGETS, SCORES, strict=True) if s >= 0.49)
    assert page.run("document.getElementById('count').textContent") == "4 of 24 models, 4 of 8 targets"
    set_value(page, "least", "0", "change")


def test_the_csv_has_what_is_shown_in_its_order(page):
    set_value(page, "filter", "1PPE", "input")
    open_target(page, "1PPE")
    assert decoys_by(page, "1PPE", "predicted DockQ")[0] == "rest"
    table = pd.read_csv(io.StringIO(page.run("csvText()")))
    set_value(page, "filter", "", "input")
    assert table["decoy"].tolist() == ["rest", "best", "lost0"]
    assert set(table["dataset"]) == {"bench"}
    assert set(table["target"]) == {"1PPE"}
    assert table["pred_dockq"].tolist()[:2] == [0.155, 0.31]
    assert table["pred_capri"].tolist()[:2] == ["incorrect", "acceptable"]
    assert table["dockq"].tolist()[:2] == [0.1, 0.5]
    assert table["status"].tolist() == ["scored", "scored", "failed"]


def test_a_drawing_is_saved_as_svg_and_as_png_and_looks_the_same_without_the_page(page, browser, tmp_path):
    (svg_name, svg), (png_name, png) = page.run(SAVED % "#scatter figure:first-of-type .save")[:2]
    assert (svg_name[-4:], png_name[-4:]) == (".svg", ".png")
    assert svg_name[:-4] == png_name[:-4]
    text = unquote(svg.partition(",")[2])
    root = ElementTree.fromstring(text)
    size = np.array([float(root.get(name)) for name in ("height", "width")])
    pixels = pixels_of(png)
    np.testing.assert_allclose(pixels.shape[:2], 3 * size, atol=1)
    assert len(np.unique(pixels[pixels[..., 3] > 0][:, :3], axis=0)) > 10
    assert "var(" not in "".join(node.get("style", "") for node in root.iter())


def test_a_page_says_and_asks_nothing(page):
    assert page.complaints == []
    assert [url.split("/")[-1] for url in page.requests] == ["report.html"]


def test_what_a_page_says_and_asks_is_noticed(browser, tmp_path):
    """The control of the test above, after which `page` is another one."""
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<img src='x.png'><script>console.error('said'); setTimeout(() => { throw Error('thrown'); })</script>"
    )
    browser.open(bad)
    browser.run("new Promise(done => setTimeout(done, 100))")
    assert [url.split("/")[-1] for url in browser.requests] == ["bad.html", "x.png"]
    assert all(any(word in complaint for complaint in browser.complaints) for word in ("said", "thrown"))


# ---- other pages ------------------------------------------------------------------------------------------


def test_a_long_list_is_shown_in_two_steps(browser, tmp_path):
    browser.open(write(tmp_path, study(tuple(f"T{i:02}" for i in range(30)), None, labelled=False)))
    assert len(shown_targets(browser)) == 25
    assert browser.run("document.getElementById('more').textContent") == "Show all 30 targets"
    browser.run("document.getElementById('more').click()")
    assert len(shown_targets(browser)) == 30


def test_a_single_target_is_open_and_names_stay_text(browser, tmp_path):
    browser.open(write(tmp_path, study(("<img src=x onerror=alert(1)>",), None, labelled=False)))
    assert browser.run("document.querySelector('.target').open")
    assert browser.run("[...document.querySelectorAll('.of-many')].every(label => label.hidden)")
    assert browser.run("document.querySelectorAll('main img').length") == 0
    assert browser.complaints == []
    assert len(browser.requests) == 1


def test_a_name_that_a_spreadsheet_would_calculate_and_a_comma_come_out_as_text(browser, tmp_path):
    names = ('=1+1,"x"', "＝1+1", "'=1+1", "plain")
    browser.open(write(tmp_path, study(names, None, labelled=False)))
    found = pd.read_csv(io.StringIO(browser.run("csvText()")))["target"]
    assert set(found) == {defused(name) for name in names}
    assert sum(name.startswith("'") for name in set(found)) == 3


def test_a_page_without_decoys_has_no_error(browser, tmp_path):
    browser.open(write(tmp_path, study((), None, labelled=False)))
    assert "There is no model to rank" in browser.run("document.body.textContent")
    assert browser.complaints == []


def test_interfaces_have_a_column_each_and_what_is_wrong_is_written_out_in_red(browser, tmp_path):
    """In a table of their own. Of three chains; the partner that is apart is named in words, which have a colour, too.

    Ranked by the worst interface, and the page says so; what else is known of a decoy has a column, too.
    """
    rows = [
        CoverageRow("T", "good", Status.OK, "graphs", "", None, "", 3, 20, "x"),
        CoverageRow("T", "off", Status.PARTNER_APART, "interface", "partner A touches no other", None, "", 3, 9, "x"),
    ]
    interfaces = [
        InterfaceRow("T", decoy, name, n, n, 5.0 if n else 60.0, score, None, "", "ok" if n else "apart")
        for decoy, name, n, score in (
            ("good", "A:H", 30, 0.7), ("good", "H:L", 50, 0.9), ("off", "A:H", 0, None), ("off", "H:L", 49, 0.8),
        )
    ]  # fmt: skip
    among = [ComparedDecoy("T", "good", 1, 0.25, "other")]
    trusted = {("T", "good"): Estimate(0.5, 0.875, "3 chains, training had 2")}
    table = ranking(rows, [Score("T", "good", 0.75, 0.01)], interfaces, "min_interface", among, trusted)
    results = joined_results("bench", rows, table)
    shown = Study(["bench"], results, {}, None, {}, DESCRIPTION, interfaces={"bench": interfaces})
    browser.open(write(tmp_path, shown))
    cells = "[...document.querySelectorAll('.decoys tr')].map(row => [...row.cells].map(cell => cell.textContent))"
    head, good, off, *by_interface = browser.run(cells)
    assert by_interface == [
        ["rank", "model", "A:H", "H:L"], ["1", "good", "0.700", "0.900"], ["2", "off", "apart", "0.800"],
    ]  # fmt: skip
    shown_of = dict(zip(head, good, strict=True))
    assert shown_of["interval"] == "[0.50, 0.88]"
    assert shown_of["out of domain"] == "3 chains, training had 2"
    assert (shown_of["cluster (rank)"], shown_of["consensus"], shown_of["twin of"]) == ("1 (1)", "0.250", "other")
    assert shown_of["disagreement of the ensemble"] == "0.010"
    caption = browser.run("document.querySelector('.decoys caption').textContent")
    assert caption == "2 models of T, best worst interface first"
    assert (good[-1], off[-1]) == ("scored", "partner apart")
    wrong = (
        "[...document.querySelectorAll('.decoys .wrong')].map(node => [node.textContent, getComputedStyle(node).color])"
    )
    found = browser.run(wrong)
    assert [text for text, _ in found] == ["partner apart", "apart"]
    red, green, blue = (int(part) for part in re.findall(r"\d+", found[0][1])[:3])
    assert red > green + 80
    assert red > blue + 80
    hint = "H and L touch in every model; if they are one partner, say --partners H+L:A"
    assert hint in browser.run("[...document.querySelectorAll('.caveats li')].map(node => node.textContent)")
    assert browser.complaints == []


def test_of_many_interfaces_those_predicted_worst_are_shown_and_how_many_there_are(browser, tmp_path):
    rows = [CoverageRow("T", "d", Status.OK, "graphs", "", None, "", 15, 20, "x")]
    scores = {f"A:{letter}": 0.9 - place / 20 for place, letter in enumerate("BCDEFGHIJKLMNO")}
    interfaces = [InterfaceRow("T", "d", name, 9, 9, 5.0, score, None, "", "ok") for name, score in scores.items()]
    results = joined_results("bench", rows, ranking(rows, [Score("T", "d", 0.5, None)], interfaces))
    shown = Study(["bench"], results, {}, None, {}, DESCRIPTION, interfaces={"bench": interfaces})
    browser.open(write(tmp_path, shown))
    heads = browser.run("[...document.querySelectorAll('.decoys th')].map(node => node.textContent)")
    assert [head for head in heads if ":" in head] == [f"A:{letter}" for letter in "DEFGHIJKLMNO"]
    (_, caption) = browser.run("[...document.querySelectorAll('.decoys caption')].map(node => node.textContent)")
    said = "Predicted DockQ of each interface by itself (12 of 14, those predicted worst; all in interfaces.csv): "
    assert caption.startswith(said)


# ---- the answer, in three dimensions ----------------------------------------------------------------------

DRAWN = """new Promise((done, fail) => {
    const view = document.getElementById("view"), since = Date.now();
    const look = () => {
        if (view.dataset.drawn === "%d") done();
        else if (Date.now() - since > 60000) fail(Error("not drawn"));
        else setTimeout(look, 50);
    };
    look();
})"""
"""Waits for the structures of the target at a place."""
COLOURED = """[...document.querySelectorAll(".canvas canvas")].map(canvas => {
    const flat = document.createElement("canvas");
    flat.width = canvas.width; flat.height = canvas.height;
    const context = flat.getContext("2d");
    context.drawImage(canvas, 0, 0);
    const pixels = context.getImageData(0, 0, flat.width, flat.height).data, found = [0, 0];
    for (let i = 0; i < pixels.length; i += 4) {
        if (pixels[i + 3] < 200) continue;
        if (pixels[i + 2] > pixels[i] + 40) found[0] += 1;
        if (pixels[i] > pixels[i + 2] + 40) found[1] += 1;
    }
    return found;
})"""
"""Of each canvas the numbers of its blue and its orange pixels, in which the first two partners are drawn."""


@pytest.fixture(scope="module")
def answered(browser, tmp_path_factory) -> Browser:
    """The browser with the page of two targets that were scored, and of which only the first has its files."""
    folder = tmp_path_factory.mktemp("answer")
    shown = scored_example(folder, ("S", "T"))
    browser.open(write(folder, shown))
    browser.run("document.getElementById('view').scrollIntoView()")
    browser.run(DRAWN % 0)
    return browser


def test_the_two_best_decoys_are_drawn_side_by_side_each_partner_in_its_colour(answered):
    left, right = answered.run(COLOURED)
    assert min(*left, *right) > 100
    chosen = "[...document.querySelectorAll('.pane select')].map(select => select.selectedOptions[0].textContent)"
    assert answered.run(chosen) == ["1. near1 (0.850)", "2. mid1 (0.500)"]
    labels = answered.run("[...document.querySelectorAll('.canvas')].map(node => node.getAttribute('aria-label'))")
    assert labels[0].startswith("Structure of near1: partners A, B, ")
    assert answered.run("[...document.querySelectorAll('#legend .key')].map(key => key.textContent)") == [
        "chain A", "chain B",
    ]  # fmt: skip


def test_the_arrow_keys_turn_both_structures(answered):
    image = "document.querySelectorAll('.canvas canvas')[%d].toDataURL()"
    before = [answered.run(image % k) for k in (0, 1)]
    answered.run("""new Promise(done => {
        const canvas = document.querySelector(".canvas");
        canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
        setTimeout(done, 500);
    })""")
    assert all(answered.run(image % k) != before[k] for k in (0, 1))


def test_another_target_is_chosen_and_another_decoy_shown_from_its_table(answered):
    set_value(answered, "which", "1", "change")
    answered.run(DRAWN % 1)
    articles = "[...document.querySelectorAll('.answer')].map(node => node.hidden)"
    assert answered.run(articles) == [True, False]
    answered.run("document.querySelectorAll('.target')[0].open = true")
    answered.run("new Promise(done => setTimeout(done, 100))")
    names = answered.run("[...document.querySelectorAll('button.see')].map(node => node.ariaLabel)")
    assert names == ["show near1 in 3-D", "show mid1 in 3-D", "show far1 in 3-D"]
    answered.run("document.querySelectorAll('button.see')[2].click()")
    answered.run(DRAWN % 0)
    assert answered.run("document.querySelectorAll('.pane select')[1].selectedOptions[0].textContent") == (
        "3. far1 (0.100)"
    )


def test_a_structure_is_saved_as_it_is_turned(answered):
    (name, picture), _ = answered.run(SAVED % ".pane .save")
    assert name == "S_near1.png"
    drawn = pixels_of(picture)
    assert len(np.unique(drawn[drawn[..., 3] > 0], axis=0)) > 100


def test_structures_need_no_request_and_give_no_complaint(answered):
    assert answered.complaints == []
    assert len(answered.requests) == 1


def test_what_is_chosen_before_the_structures_were_in_sight_stays(browser, tmp_path):
    page = write(tmp_path, scored_example(tmp_path))
    below = "<head><style>#answer { padding-top: 5000px }</style>"
    page.write_text(page.read_text(encoding="utf-8").replace("<head>", below, 1), encoding="utf-8")
    browser.open(page)
    asked = browser.run("""new Promise(done => {
        const asked = [];
        showStructures = (...places) => { asked.push(places); };
        const view = document.getElementById("view");
        const inSight = entries => entries.some(entry => entry.isIntersecting) && setTimeout(() => done(asked));
        document.querySelectorAll("button.see")[2].click();
        new IntersectionObserver(inSight).observe(view);
        view.scrollIntoView();
    })""")
    assert asked == [[0, 2]]


LISTED = (
    "[...document.querySelectorAll('#listed-table tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))"
)


def test_all_targets_are_a_table_to_sort_and_search_that_leads_to_the_answer(browser, tmp_path):
    given = dataclasses.replace(study(TARGETS, None, labelled=False), leaderboard=None)
    browser.open(write(tmp_path, given))
    rows = browser.run(LISTED)
    heads = browser.run("[...document.querySelectorAll('#listed-table thead th')].map(head => head.textContent)")
    assert heads[:3] == ["target", "acceptable?", "expected DockQ"]
    assert [row[0] for row in rows] == ["1AVZ", "T10", "T9", "1E10", "7CEI", "1PPE", "2I25", "1GCQ"]
    assert [row[1] for row in rows[-3:]] == ["doubtful", "wrong", "wrong"]
    browser.run("document.querySelectorAll('#listed-table thead button')[0].click()")
    assert [row[0] for row in browser.run(LISTED)] == ["1AVZ", "1E10", "1GCQ", "1PPE", "2I25", "7CEI", "T9", "T10"]
    set_value(browser, "find-target", "wrong", "input")
    browser.run("new Promise(done => setTimeout(done, 200))")
    assert [row[0] for row in browser.run(LISTED)] == ["1GCQ", "2I25"]
    browser.run("document.querySelectorAll('#listed-table tbody button')[1].click()")
    shown = "[...document.querySelectorAll('.answer')].filter(node => !node.hidden).map(node => node.dataset.target)"
    assert browser.run(shown) == ["2I25"]
    assert browser.run("document.getElementById('which').selectedOptions[0].textContent").startswith("2I25")


def test_the_map_names_decoys_one_by_one_and_takes_its_colours_from_what_is_asked_for(browser, tmp_path):
    shown = scored_example(tmp_path, ("S", "T"))
    draw = np.random.default_rng(0)
    shown.vectors["bench"] = {(row.target, row.decoy): draw.normal(size=4) for row in shown.decoys}
    shown.training_vectors.extend(draw.normal(size=(9, 4)))
    browser.open(write(tmp_path, shown))
    browser.run("document.getElementById('map').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }))")
    assert browser.run("document.getElementById('map-said').textContent") == "S/near1: predicted 0.850"
    keys = "[...document.querySelectorAll('#map-keys .key')].map(key => key.textContent)"
    assert browser.run(keys) == ["incorrect", "acceptable", "medium", "high", "a model of the training"]
    set_value(browser, "map-by", "target", "change")
    assert browser.run(keys) == ["S", "T", "a model of the training"]
    set_value(browser, "map-of", "1", "change")
    assert browser.run("document.getElementById('map-share').textContent").startswith("4 models; ")
    painted = """(() => {
        const canvas = document.getElementById("map");
        const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        return pixels.filter((value, k) => k % 4 === 3 && value > 0).length;
    })()"""
    assert browser.run(painted) > 100
    assert browser.complaints == []


def test_without_webgl_the_page_says_what_to_open_instead(browser, tmp_path):
    page = write(tmp_path, scored_example(tmp_path))
    text = page.read_text(encoding="utf-8")
    page.write_text(
        text.replace("<head>", "<head><script>HTMLCanvasElement.prototype.getContext = () => null</script>", 1)
    )
    browser.open(page)
    assert browser.run("document.getElementById('view').hidden")
    assert browser.run("document.getElementById('no-view').textContent").startswith("This browser has no WebGL")
    assert browser.complaints == []


# ---- t-SNE ------------------------------------------------------------------------------------------------

CENTRES = np.array([(100, 0, 0), (-50, 90, 0), (-50, -90, 30), (-50, -90, -30)])
"""Of groups, of which the two leading axes do not tell the last from the one before."""
GROUP = np.r_[0, 0, 0, 0, np.repeat([0, 1, 2, 3], 10)]
"""Of the decoys and of those of the training."""


@pytest.fixture
def grouped(browser, tmp_path) -> Browser:
    """The page of a target whose four decoys, and forty of the training, lie in four groups."""
    shown, draw = scored_example(tmp_path), np.random.default_rng(0)
    own, learned = np.split(CENTRES[GROUP] + draw.normal(0, 5, size=(44, 3)), [4])
    shown.vectors["bench"] = {(row.target, row.decoy): vector for row, vector in zip(shown.decoys, own, strict=True)}
    shown.training_vectors.extend(learned)
    browser.open(write(tmp_path, shown))
    return browser


def strangers(places: np.ndarray) -> int:
    """How many of the points, (44, 2), have one of another group nearest to them."""
    far = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(far, np.inf)
    return int((GROUP[far.argmin(axis=1)] != GROUP).sum())


def test_tsne_keeps_groups_apart_that_two_axes_mix_and_gives_the_same_twice(grouped):
    columns = grouped.run("JSON.parse(document.getElementById('map-data').textContent).all.c")
    ends = f"(() => {{ const {{ x, y }} = [...tsne({columns})].at(-1); return [[...x], [...y]]; }})()"
    first, second = grouped.run(ends), grouped.run(ends)
    assert strangers(np.array(columns[:2]).T) > 3
    assert strangers(np.array(first).T) == 0
    assert first == second


def test_tsne_of_equal_points_and_of_copies_is_a_number(grouped):
    for columns in ([[5] * 12] * 2, [[0] * 6 + [9] * 6] * 2):
        ends = grouped.run(f"(() => {{ const {{ x, y }} = [...tsne({columns})].at(-1); return [...x, ...y]; }})()")
        assert np.isfinite(ends).all()
        assert np.ptp(ends[:6]) == 0


def test_tsne_runs_on_demand_says_how_far_it_is_and_leaves_the_keyboard_alone(grouped):
    told = grouped.run("""new Promise(done => {
        const said = document.getElementById("map-said"), way = document.getElementById("map-way"), told = [];
        new MutationObserver(() => {
            told.push(said.textContent);
            if (told.at(-1) === "t-SNE is done.") done(told);
        }).observe(said, { childList: true });
        way.value = "tsne";
        way.dispatchEvent(new Event("change"));
    })""")
    assert told[0] == "t-SNE of 44 points has begun."
    share = grouped.run("document.getElementById('map-share').textContent")
    assert share.startswith(
        "4 models and 40 of the training; t-SNE, perplexity 14, of the 3 leading principal axes with 100 %"
    )
    assert share.endswith("mean nothing.")
    grouped.run("document.getElementById('map').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft' }))")
    assert grouped.run("document.getElementById('map-said').textContent") == "1AVZ/far1: predicted 0.100"
    set_value(grouped, "map-of", "0", "change")
    assert grouped.run("document.getElementById('map-said').textContent") == "t-SNE needs 10 points or more."
    assert "This is PCA" in grouped.run("document.getElementById('map-share').textContent")
    assert grouped.complaints == []


def test_of_many_decoys_tsne_takes_an_even_sample_and_says_so(browser, tmp_path):
    rows = [CoverageRow(f"T{k % 5}", f"d{k:04}", Status.OK, "graphs", "", None, "", 2, 20, "x") for k in range(2500)]
    scores, draw = [Score(row.target, row.decoy, 0.5, None) for row in rows], np.random.default_rng(0)
    results = joined_results("bench", sorted(rows), ranking(sorted(rows), scores))
    vectors = {"bench": {(row.target, row.decoy): draw.normal(size=3) for row in rows}}
    browser.open(write(tmp_path, Study(["bench"], results, {}, None, {}, DESCRIPTION, vectors=vectors)))
    set_value(browser, "map-way", "tsne", "change")
    share = browser.run("document.getElementById('map-share').textContent")
    kept, _, all_, *_ = share.split()
    assert abs(int(kept) - 2000) <= 2
    assert all_ == "2500"
    assert "an even sample" in share
    assert re.search(r"t-SNE, \d+ % done", share)
    set_value(browser, "map-way", "pca", "change")
    assert browser.run("document.getElementById('map-share').textContent").startswith("2500 models; the axes hold")
    assert browser.complaints == []


# ---- each residue -----------------------------------------------------------------------------------------


def test_the_residues_of_the_chosen_decoy_are_bars_and_a_table(browser, tmp_path):
    def rows(target: str, decoy: str, quality: float) -> list[ResidueRow]:
        return [
            ResidueRow(target, decoy, *place, quality, quality, None)
            for place in (("A", "52"), ("A", "52A"), ("B", "-3"))
        ]

    known = {(t, d): rows(t, d, q) for t in ("1PPE", "T9") for d, q in (("best", 0.75), ("rest", 0.25))}
    known["T9", "best"] += [ResidueRow("T9", "best", chain, "7", None, None, None) for chain in "BC"]
    shown = study(TARGETS, None, labelled=False)
    browser.open(write(tmp_path, dataclasses.replace(shown, residues={"bench": known})))
    texts = "[...document.querySelectorAll('#profile title')].map(node => node.textContent)"
    options = "[...document.getElementById('residues-target').options].map(node => node.textContent)"
    assert browser.run(options) == ["1PPE", "T9"]
    assert browser.run(texts) == ["A 52: 0.75", "A 52A: 0.75", "B -3: 0.75"]
    set_value(browser, "residues-decoy", "1", "change")
    assert browser.run(texts) == ["A 52: 0.25", "A 52A: 0.25", "B -3: 0.25"]
    set_value(browser, "residues-target", "1", "change")
    cells = browser.run("""new Promise(done => {
        const table = document.querySelector("#profile details"), cell = row => [...row.cells].map(c => c.textContent);
        const read = () => done([...table.querySelectorAll("tbody tr")].map(row => cell(row).join(" ")));
        table.addEventListener("toggle", () => setTimeout(read, 50));
        table.open = true;
    })""")
    assert cells == ["A 52 0.75", "A 52A 0.75", "B -3 0.75", "B 7 –", "C 7 –"]
    labels = browser.run("[...document.querySelectorAll('#profile svg')].map(node => node.getAttribute('aria-label'))")
    assert labels[1].startswith("Quality of 2 residues of chain B, from 0.75 to 0.75")
    assert labels[2] == "Quality of 1 residues of chain C, not known"
    assert browser.complaints == []
    assert len(browser.requests) == 1


def test_a_page_without_residues_has_no_section_for_them(browser, tmp_path):
    browser.open(write(tmp_path, study(TARGETS[:1], None, labelled=False)))
    assert browser.run("document.getElementById('residues')") is None
