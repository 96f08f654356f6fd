"""The page of a scored folder, as HTML and in a real browser: one table, a panel for each target,
no request.
"""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import re
import shutil
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

from browser import NAMES, Browser, find_browser
from scored_folders import EXAMPLE, LOST, open_folder, real_answer, write_answer
from toporank.app.results import Page
from toporank.building.chunks.store import Store
from toporank.inputs.confidence.table import Confidence
from toporank.ranking.target_result import TargetResult
from toporank.report import pae, structures
from toporank.report.page import render, write_page
from toporank.report.scripts import scripts
from toporank.structures.read import read_complex

MANY = {f"T{i}": {"m": 0.95 - i / 10, "n": 0.04} for i in range(10)} | {
    "1PPE": {"lost": LOST}
}


class Elements(HTMLParser):
    """Addresses, pictures and ids of a page."""

    def __init__(self, page: str):
        super().__init__()
        self.addresses: list[str] = []
        self.without_text: list[str] = []
        self.feed(page)

    def handle_starttag(
        self, tag: str, attributes: list[tuple[str, str | None]]
    ) -> None:
        known = dict(attributes)
        self.addresses += [known[name] for name in ("src", "href") if known.get(name)]
        if tag in ("img", "svg", "canvas") and not (
            known.get("alt") or known.get("aria-label")
        ):
            self.without_text.append(self.get_starttag_text())


def page_of(root: Path) -> str:
    scored = open_folder(root)
    return render(scored, folder=scored.folder)


def data_of(page: str) -> dict:
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


# ---- the HTML ------------------------------------------------------------------------------------


def test_the_page_loads_nothing_and_is_the_same_every_time(tmp_path):
    root = real_answer(tmp_path)
    page = page_of(root)
    assert page == page_of(root)
    assert "default-src 'none'" in page
    elements = Elements(page)
    assert elements.addresses == []
    assert elements.without_text == []
    assert "://" not in re.sub(
        r'<script type="text/plain".*?</script>', "", page, flags=re.DOTALL
    )


def test_names_are_text_wherever_they_stand(tmp_path):
    evil = "</script><img src=x onerror=alert(1)>"
    page = page_of(write_answer(tmp_path, {evil: {evil: 0.5, "lost": LOST}}))
    assert evil not in page
    assert data_of(page)["targets"]["target"] == [evil]


def test_every_model_is_in_the_page_with_the_number_of_the_tables(tmp_path):
    root = write_answer(tmp_path, {"T": {"a": 0.8, "b": 0.3, "lost": LOST}})
    page, models = page_of(root), open_folder(root).models
    (shown,) = data_of(page)["models"]
    assert shown["decoy"] == models["decoy"].tolist() == ["a", "b", "lost"]
    assert shown["dockq"][:2] == models["dockq"].tolist()[:2] == [0.8, 0.3]
    assert shown["verdict"][:2] == ["believe", "check"]
    assert "2 of 3 models were scored; 1 was not" in page
    assert "it is empty" in page


def test_all_is_well_is_one_line_and_copies_are_no_models(tmp_path):
    page = page_of(real_answer(tmp_path))
    assert "All 3 models were read and scored." in page
    assert "1 more file is a copy of these models and shares their rank" in page


def test_the_page_has_the_numbers_of_the_tables_and_rounds_them_once(tmp_path):
    """0.8352 is 0.84 in the terminal and 0.8352 in the tables: 0.835 would become 0.83."""
    scored = open_folder(write_answer(tmp_path, {"T": {"a": 0.8352, "b": 0.4951}}))
    data = data_of(render(scored))
    for name in ("dockq", "dockq_low", "dockq_high", "p_acceptable"):
        assert data["models"][0][name] == scored.models[name].round(7).tolist()
        assert data["targets"][name] == scored.targets[name].round(7).tolist()
    rows = scored.contacts[scored.contacts["decoy"] == "b"]
    (drawn,) = structures.contact_maps(rows, ())
    assert (drawn["k"], drawn["s"]) == ([0, 0, 50], 0)  # shown as 0.50, yet below 0.5


def test_a_screen_says_which_number_tells_whether_a_pair_interacts(tmp_path):
    confidence = [Confidence("T0", "m", iptm=0.8, status="ok")]
    page = page_of(write_answer(tmp_path, MANY, confidence=confidence))
    assert "To see which pairs interact, sort by ipTM" in page
    assert (
        "11 targets by the verdict on their best model – believe: 3, check: 4, do not believe: 3, "
        "nothing scored: 1." in page
    )
    assert data_of(page)["targets"]["p_interact"][0] == 0.773
    assert (
        "interact"
        not in re.search(
            "<header>.*</header>",
            page_of(write_answer(tmp_path / "one", {"T": {"m": 0.5}})),
            re.DOTALL,
        )[0]
    )


def test_without_a_calibration_the_page_says_how_the_number_is_made(tmp_path):
    page = page_of(write_answer(tmp_path, {"T": {"m": 0.9}}, width=None))
    assert "DockQ is its raw score, without interval and probability" in page
    assert data_of(page)["models"][0]["verdict"] == ["check"]


# ---- structures, contacts and PAE ----------------------------------------------------------------


def test_structures_are_packed_with_quality_plddt_and_contacts(tmp_path):
    scored = open_folder(real_answer(tmp_path))
    (models,) = structures.for_script(structures.embedded(scored, ["1AVZ"])).values()
    assert [model["i"] for model in models] == [0, 1, 3]  # no copy
    first = models[0]
    text = gzip.decompress(base64.b64decode(first["z"])).decode()
    assert text.startswith("data_shown")
    n_residues = int(read_complex(EXAMPLE / "near1.pdb.gz").is_protein.sum())
    quality = first["q"].split()
    assert len(quality) == n_residues
    assert sorted({*quality} - {"-"}) == ["85"]
    assert len([value for value in quality if value != "-"]) == 2
    assert first["b"] == ""
    assert first["c"] == [
        {"name": "A:B", "a": ["A 83 TYR"], "b": ["B 93 GLU"], "k": [0, 0, 85], "s": 1}
    ]
    assert first["p"] == (("A",), ("B",))


def test_b_factors_that_are_the_stated_plddt_colour_the_structure(tmp_path):
    path = tmp_path / "near1.pdb"
    lines = (
        gzip.decompress((EXAMPLE / "near1.pdb.gz").read_bytes()).decode().splitlines()
    )
    path.write_text(
        "\n".join(
            f"{line[:60]}{40 + int(line[22:26]) % 50:6.2f}{line[66:]}"
            if line.startswith("ATOM")
            else line
            for line in lines
        )
    )
    mean = np.mean(
        [
            float(line[60:66])
            for line in path.read_text().splitlines()
            if line.startswith("ATOM")
        ]
    )
    for stated, shown in ((mean, True), (mean - 20, False)):
        root = real_answer(
            tmp_path / str(shown),
            files={"near1": path},
            confidence=[Confidence("1AVZ", "near1", plddt=stated, status="ok")],
        )
        (models,) = structures.embedded(open_folder(root), ["1AVZ"]).values()
        assert bool(models[0].plddt) == shown


def test_a_page_holds_so_many_characters_of_structures_and_a_file_that_is_gone_is_left_out(
    tmp_path,
):
    scored = open_folder(real_answer(tmp_path, targets=("A", "B")))
    size = len(structures.embedded(scored, ["A", "B"])["A"][0].packed)
    shown = structures.embedded(scored, ["A", "B"], budget=3 * size)
    assert [len(models) for models in shown.values()] == [2, 1] or [
        len(models) for models in shown.values()
    ] == [1, 1]
    gone = open_folder(write_answer(tmp_path / "gone", {"T": {"m": 0.9}}))
    assert structures.embedded(gone, ["T"]) == {}


def test_a_model_that_was_drawn_before_is_not_read_again(tmp_path):
    path = Path(shutil.copy(EXAMPLE / "near1.pdb.gz", tmp_path))
    root = real_answer(tmp_path, targets=("A", "B"), files={"near1": path})
    scored = open_folder(root)
    store = Store(tmp_path / "store")

    def shown(*digests: str) -> dict:
        results = [
            TargetResult(target=target, digest=digest)
            for target, digest in zip("AB", digests, strict=True)
        ]
        drawings = structures.Drawings(store, results)
        return structures.for_script(
            structures.embedded(scored, ["A", "B"], drawings=drawings)
        )

    drawn = json.dumps(shown("digest of A", ""))
    path.unlink()
    again = shown("digest of A", "")
    assert json.dumps(again["A"]) == json.dumps(json.loads(drawn)["A"])
    assert "B" not in again  # its result is not in the store
    assert shown("another digest", "") == {}


@pytest.fixture
def with_pae(tmp_path) -> Path:
    """The example, whose best model has files of ColabFold beside it: 0 Å in the first chain, 30 Å
    elsewhere.
    """
    path = tmp_path / "q_unrelaxed_rank_001_m.pdb.gz"
    path.write_bytes((EXAMPLE / "near1.pdb.gz").read_bytes())
    residues = read_complex(path).residues
    values = np.full((len(residues), len(residues)), 30.0)
    first = np.array([residue.chain == residues[0].chain for residue in residues])
    values[np.ix_(first, first)] = 0.0
    (tmp_path / "q_scores_rank_001_m.json").write_text(
        json.dumps({"pae": values.tolist()})
    )
    stated = [Confidence("1AVZ", "near1", interface_pae=5.0, iptm=0.8, status="ok")]
    return real_answer(
        tmp_path,
        files={"near1": path, "mid1": EXAMPLE / "mid1.cif.gz"},
        confidence=stated,
    )


def test_pae_is_small_dark_within_a_chain_and_says_where_chains_end(
    with_pae, monkeypatch
):
    scored = open_folder(with_pae)
    picture = pae.pictures(scored, ["1AVZ"])["1AVZ"]["0"]
    values = np.frombuffer(base64.b64decode(picture["v"]), np.uint8).reshape(
        picture["n"], -1
    )
    assert len(values) == pae.SMALL
    assert (values[0, 0], values[0, -1]) == (0, 255)
    assert [chain for chain, _ in picture["e"]] == ["A", "B"]
    assert picture["e"][-1][1] == 1
    monkeypatch.setattr(pae, "LARGEST", 1000)
    assert pae.pictures(scored, ["1AVZ"]) == {}


# ---- scripts for other programs ------------------------------------------------------------------


def test_scripts_open_the_best_models_with_dockq_and_verdict_as_title(tmp_path):
    scored = open_folder(real_answer(tmp_path))
    found = scripts(scored, scored.folder)
    assert set(found) == {"top.pml", "top.cxc"}
    compiled = compile(
        found["top.pml"].split("\npython\n")[1].split("\npython end")[0],
        "top.pml",
        "exec",
    )
    assert compiled
    for text in found.values():
        assert "near1" in text
        assert "DockQ" in text
        assert "mid2" not in text, "it is a copy"
    assert '"DockQ\\x200.85\\x2c\\x20believe"' in found["top.pml"]
    assert "(DockQ 0.85, believe)" in found["top.cxc"]
    assert found["top.cxc"].count("matchmaker") == 2


@pytest.mark.parametrize("name", ['a"; quit', "x\nquit", "*", "a b#1"])
def test_no_name_of_a_file_is_a_command(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    path = folder / "near1.pdb.gz"
    path.write_bytes((EXAMPLE / "near1.pdb.gz").read_bytes())
    scored = open_folder(write_answer(tmp_path, {"T": {"m": 0.9}}, files={"m": path}))
    for text in scripts(scored, scored.folder).values():
        assert not [
            line for line in text.splitlines() if "near1" in line and name in line
        ]
        assert not [line for line in text.splitlines() if line.startswith("quit")]


# ---- in a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        pytest.skip(
            f"no browser: none of {', '.join(NAMES)} is installed (apt-get install chromium)"
        )
    opened = Browser(program, tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()


def opened(browser: Browser, root: Path) -> Browser:
    scored = open_folder(root)
    write_page(scored, scored.folder)
    browser.open(scored.folder / "report.html")
    return browser


def texts(page: Browser, selector: str) -> list[str]:
    return page.run(
        f"[...document.querySelectorAll({selector!r})].map(node => node.textContent.trim())"
    )


def shown_targets(page: Browser) -> list[str]:
    return texts(page, "#targets tr.row .open")


def set_value(page: Browser, control: str, value: str, event: str = "input") -> None:
    page.run(f"""(() => {{
        const control = document.getElementById({control!r});
        control.value = {value!r};
        control.dispatchEvent(new Event({event!r}, {{ bubbles: true }}));
    }})()""")


def click(page: Browser, selector: str) -> None:
    page.run(f"document.querySelector({selector!r}).click()")


def wait_for(page: Browser, condition: str) -> None:
    until = time.monotonic() + 30
    while not page.run(condition):
        assert time.monotonic() < until, condition
        time.sleep(0.02)


def assert_quiet(page: Browser) -> None:
    """No request but for the page, and not a word on the console."""
    assert len(page.requests) == 1
    assert page.complaints == []


def test_the_table_has_all_targets_in_full_height_and_its_first_row_is_open(
    browser, tmp_path
):
    page = opened(browser, write_answer(tmp_path, MANY))
    assert shown_targets(page) == [*(f"T{i}" for i in range(10)), "1PPE"]
    assert (
        texts(page, "#targets tr.row:first-child .verdict") == ["believe", "● believe"]
        or "believe" in texts(page, "#targets .verdict")[1]
    )
    assert page.run(
        "document.querySelector('.scroll').scrollHeight <= "
        "document.querySelector('.scroll').clientHeight + 1"
    )
    assert texts(page, "#panel h3") == ["m"]
    assert texts(page, "#panel .big b") == ["0.95"]
    assert (
        len(texts(page, "#targets > thead th"))
        - len(texts(page, "#targets > thead th.further"))
        <= 9
    )
    assert_quiet(page)


def test_the_table_is_sorted_searched_filtered_and_saved(browser, tmp_path):
    page = opened(browser, write_answer(tmp_path, {**MANY, "=1+1": {"x": 0.5}}))
    set_value(page, "find", "t1")
    assert shown_targets(page) == ["T1"]
    set_value(page, "find", "")
    set_value(page, "only", "do not believe", "change")
    assert shown_targets(page) == ["T7", "T8", "T9"][-len(shown_targets(page)) :]
    set_value(page, "only", "", "change")
    page.run(
        "[...document.querySelectorAll('#targets thead button')].find(b => b.textContent === "
        "'target').click()"
    )
    assert shown_targets(page)[:2] == ["=1+1", "1PPE"]
    page.run(
        "[...document.querySelectorAll('#targets thead button')].find(b => b.textContent === "
        "'DockQ').click()"
    )
    assert shown_targets(page)[0] == "T0"
    assert shown_targets(page)[-1] == "1PPE", "what is unknown comes last"
    saved = page.run("""(() => { const saved = []; const click = HTMLAnchorElement.prototype.click;
        HTMLAnchorElement.prototype.click = function() { saved.push(this.href); };
        document.getElementById("csv").click(); HTMLAnchorElement.prototype.click = click; return saved[0]; })()""")
    rows = list(csv.DictReader(io.StringIO(unquote(saved.partition(",")[2]))))
    assert len(rows) == 12
    assert "'=1+1" in [row["target"] for row in rows]
    assert_quiet(page)


def test_rows_of_a_large_table_follow_when_they_are_needed(browser, tmp_path):
    """How long that takes is measured by benchmarks/bench_page.py."""
    models = {f"T{i:03}": {"m": 0.9 - i / 1000} for i in range(250)}
    page = opened(browser, write_answer(tmp_path, models))
    assert 0 < len(shown_targets(page)) < 250
    for text in ("t24", "7", "77", "t249"):
        set_value(page, "find", text)
        assert shown_targets(page) == [name for name in models if text in name.lower()]
    set_value(page, "find", "")
    page.run("open(180)")
    assert shown_targets(page)[-1] == "T180"
    for _ in range(5):
        page.run("scrollTo(0, document.body.scrollHeight)")
        page.run("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    assert shown_targets(page) == [f"T{i:03}" for i in range(250)]
    assert texts(page, "#panel .eyebrow") == ["T180"]


def test_a_notebook_shows_the_page_with_a_row_open(browser, tmp_path):
    root = write_answer(tmp_path, MANY)
    frame = Page(render(open_folder(root), ("T4", "")), 700)._repr_html_()
    (tmp_path / "notebook.html").write_text(
        f"<!DOCTYPE html><meta charset=utf-8>{frame}"
    )
    browser.open(tmp_path / "notebook.html")
    wait_for(
        browser,
        "Boolean(document.querySelector('iframe').contentDocument?.querySelector('#panel'))",
    )
    assert (
        browser.run(
            "document.querySelector('iframe').contentDocument.querySelector('#panel "
            ".eyebrow').textContent"
        )
        == "T4"
    )
    assert (
        browser.run(
            "document.querySelector('iframe').contentDocument.querySelectorAll('#panel td "
            "a').length"
        )
        == 0
    )
    with pytest.raises(ValueError, match="T99"):
        render(open_folder(root), ("T99", ""))


def test_rows_open_by_click_and_key_one_at_a_time_and_more_columns_are_shown(
    browser, tmp_path
):
    page = opened(browser, write_answer(tmp_path, MANY))
    click(page, "tr.row[data-i='2'] td.n")
    assert texts(page, "#panel .eyebrow") == ["T2"]
    assert texts(page, ".open[aria-expanded='true']") == ["T2"]
    page.run("document.querySelector(\"tr.row[data-i='3'] .open\").focus()")
    page.run("document.activeElement.click()")  # what Enter and Space do to a button
    assert texts(page, "#panel .eyebrow") == ["T3"]
    click(page, "tr.row[data-i='3'] .open")
    assert texts(page, "#panel") == []
    visible = "[...document.querySelectorAll('#targets > thead th')].filter(th => th.offsetParent).length"
    before = page.run(visible)
    click(page, "#more")
    assert page.run(visible) > before
    click(page, "tr.row[data-i='10'] .open")
    assert "No model of this target was scored." in texts(page, "#panel")[0]


def test_structures_turn_are_coloured_and_change_with_the_model(browser, with_pae):
    page = opened(browser, with_pae)
    wait_for(page, "document.getElementById('canvas').dataset.drawn === 'near1'")
    assert texts(page, "#colour option") == ["partner", "predicted quality"]
    assert "1. near1 – DockQ 0.85, believe" in texts(page, "#shown option")
    set_value(page, "colour", "quality", "change")
    assert "no interface residue" in texts(page, "#legend li")
    before = page.run("JSON.stringify(viewer.getView())")
    page.run(
        "document.getElementById('canvas').dispatchEvent(new KeyboardEvent('keydown', { key: "
        "'ArrowLeft' }))"
    )
    assert page.run("JSON.stringify(viewer.getView())") != before
    assert page.run(
        "document.getElementById('canvas').getAttribute('aria-label')"
    ).startswith("Structure of near1: A and B, ")
    assert len(texts(page, "#pictures figure")) == 2
    assert page.run(
        "document.querySelector('#pictures svg').getAttribute('aria-label')"
    ) == ("Contact map of A:B: 1 contacts, 1 with a quality of 0.5 or more")
    assert "Predicted aligned error" in page.run(
        "document.querySelector('#pictures canvas').getAttribute('aria-label')"
    )
    assert "ALA 83 of chain A (0.85)" in texts(page, "#weak")[0]
    set_value(page, "shown", "1", "change")
    wait_for(page, "document.getElementById('canvas').dataset.drawn === 'mid1'")
    assert len(texts(page, "#pictures figure")) == 1, "it has no PAE"
    assert_quiet(page)


def test_without_webgl_maps_change_with_the_model_and_the_page_says_what_to_open(
    browser, with_pae
):
    page = opened(browser, with_pae)
    file = with_pae / "results/scores/part/report.html"
    file.write_text(file.read_text().replace('getContext("webgl', 'getContext("none'))
    page.open(file)
    assert "open top.pml in PyMOL" in texts(page, ".see .caution")[0]
    assert texts(page, "#colour, #interface, #save") == []
    assert len(texts(page, "#pictures figure")) == 2
    set_value(page, "shown", "1", "change")
    assert len(texts(page, "#pictures figure")) == 1, "the other model has no PAE"
    assert_quiet(page)


CONTRAST = """(() => {
    const channel = value => value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4;
    const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const parts = text => text.match(/[\\d.]+/g).map(Number);
    const backdrop = node => {
        for (let at = node; at; at = at.parentElement) {
            const colour = parts(getComputedStyle(at).backgroundColor);
            if (colour.length < 4 || colour[3] > 0.9) return colour;
        }
        return [255, 255, 255];
    };
    const low = [];
    for (const node of document.querySelectorAll("body *")) {
        const has_text = [...node.childNodes].some(child => child.nodeType === 3 && child.textContent.trim());
        if (!node.offsetParent || !has_text) continue;
        const tones = [luminance(parts(getComputedStyle(node).color)), luminance(backdrop(node))];
        const [a, b] = tones.sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < 4.5) low.push(`${node.tagName} ${node.className} ${node.textContent.trim()}`);
    }
    return low; })()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_is_easy_to_read_and_no_page_is_wider_than_a_telephone(
    browser, tmp_path, scheme
):
    browser._call(
        "Emulation.setEmulatedMedia",
        features=[{"name": "prefers-color-scheme", "value": scheme}],
    )
    browser._call(
        "Emulation.setDeviceMetricsOverride",
        width=420,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    try:
        page = opened(
            browser,
            write_answer(
                tmp_path,
                {**MANY, "a_very-long_name" * 6: {"another_long-name" * 6: 0.6}},
                domain=["T0"],
            ),
        )
        assert page.run("document.documentElement.scrollWidth") <= 420
        assert page.run(CONTRAST) == []
        page.run(
            "for (const each of document.querySelectorAll('details')) each.open = true"
        )
        unnamed = (
            "!node.closest('.stage') && !(node.getAttribute('aria-label') || node.alt)"
        )
        assert (
            page.run(
                "[...document.querySelectorAll('svg, canvas, img')].filter(node => "
                f"{unnamed}).length"
            )
            == 0
        )
    finally:
        browser._call("Emulation.clearDeviceMetricsOverride")
        browser._call("Emulation.setEmulatedMedia", features=[])
