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
import time
from collections.abc import Iterator
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
import yaml

import toporank
from browser import NAMES, Browser, find_browser
from scored_folders import (
    EXAMPLE,
    LOST,
    PROTEINS,
    RECORD,
    open_folder,
    real_answer,
    write_answer,
)
from toporank.app.commands.shown import answer
from toporank.app.results import Page
from toporank.building.chunks.store import Store
from toporank.confidence.matrices import Matrices
from toporank.confidence.table import Confidence
from toporank.layout import repository
from toporank.ranking.interfaces import MAIN, SIDE, InterfaceRow
from toporank.ranking.scored_folder import open_answer
from toporank.ranking.target_table import read_targets
from toporank.ranking.verdict import in_words
from toporank.report import drawings
from toporank.report.contact_maps import contact_maps
from toporank.report.drawings import drawn_models
from toporank.report.packed import packed_matrices
from toporank.report.page import render, write_page
from toporank.report.scripts import scripts
from toporank.structures.read import read_complex
from toporank.tables.columns import INTERFACES

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
    assert data_of(page)["targets"]["values"]["target"] == [evil]


def test_every_model_is_in_the_page_with_the_number_of_the_tables(tmp_path):
    root = write_answer(tmp_path, {"T": {"a": 0.8, "b": 0.3, "lost": LOST}})
    page, models = page_of(root), open_folder(root).models
    (shown,) = data_of(page)["models"]["values"]
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
        of_target = data["models"]["values"][0]
        assert of_target[name] == scored.models[name].round(7).tolist()
        of_all = data["targets"]["values"]
        assert of_all[name] == scored.targets[name].round(7).tolist()
    rows = scored.contacts[scored.contacts["decoy"] == "b"]
    (drawn,) = contact_maps(rows, ())
    assert (drawn["k"], drawn["s"]) == ([0, 0, 50], 0)  # shown as 0.50, yet below 0.5


def test_a_screen_says_which_number_tells_whether_a_pair_interacts(tmp_path):
    confidence = [Confidence("T0", "m", iptm=0.8, status="ok")]
    page = page_of(write_answer(tmp_path, MANY, confidence=confidence))
    assert "Do they interact? Sort by “interact”, known for 1 of 11" in page
    assert (
        "11 complexes by their best model: believe 3, check 4, do not believe 3, not scored 1."
        in page
    )
    assert data_of(page)["targets"]["values"]["p_interact"][0] == 0.773
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
    assert data_of(page)["models"]["values"][0]["verdict"] == ["check"]


def test_a_protein_of_several_complexes_has_the_name_that_these_share(tmp_path):
    chains = {
        "bait+a": ("left", "right"),
        "bait+b": ("left", "other"),
        "c+d": ("right", "other"),
    }
    scores = {"bait+a": {"m": 0.9}, "bait+b": {"m": 0.8}, "c+d": {"m": 0.7}}
    page = page_of(write_answer(tmp_path, scores, chains=chains))
    assert data_of(page)["proteins"] == {
        "names": [
            "bait",
            f"protein of {len(PROTEINS['right'])} residues in bait+a",
            f"protein of {len(PROTEINS['other'])} residues in bait+b",
        ],
        "of": [[0, 1], [0, 2], [1, 2]],
    }


def test_methods_name_what_citation_cff_says(tmp_path):
    text = data_of(page_of(write_answer(tmp_path, {"T": {"m": 0.5}})))["methods"]
    cited = yaml.safe_load((repository() / "CITATION.cff").read_text())
    assert f"TopoRank {cited['version']}" in text
    assert cited["references"][0]["doi"] in text
    assert f"scorer {RECORD.scorer[:16]}" in text


# ---- structures, contacts and PAE ----------------------------------------------------------------


class Unpacked:
    """A text of `report.packed`, read as the page's script does."""

    def __init__(self, text: str):
        content = gzip.decompress(base64.b64decode(text))
        head, _, self._numbers = content.partition(b"\n")
        self.head = json.loads(head)

    def take(self, n: int) -> np.ndarray:
        """The next n numbers."""
        pairs = np.frombuffer(self._numbers[: 2 * n], np.uint8).reshape(2, n)
        self._numbers = self._numbers[2 * n :]
        folded = pairs[0].astype(int) + 256 * pairs[1].astype(int)
        return np.where(folded % 2, -(folded + 1) // 2, folded // 2)


def test_a_model_is_packed_with_atoms_quality_plddt_and_contacts(tmp_path):
    scored = open_folder(real_answer(tmp_path))
    models = drawn_models(scored, ["1AVZ"])["1AVZ"]
    assert [model.place for model in models] == [0, 1, 3]  # no copy
    first = Unpacked(models[0].model)
    head = first.head
    complex_ = read_complex(EXAMPLE / "near1.pdb.gz")
    n = int(complex_.is_protein.sum())
    assert "".join(head["letters"]) == complex_.letters[:n]
    assert [chain for chain, _ in head["chains"]] == ["A", "B"]
    sets, quality, plddt = first.take(n), first.take(n), first.take(n)
    assert sorted(set(quality)) == [85, 255]
    assert (quality == 85).sum() == 2
    assert set(plddt) == {255}
    n_atoms = sum(len(head["names"][place].split()) for place in sets)
    xyz = first.take(3 * n_atoms).reshape(3, -1).cumsum(axis=1).T / 10
    between = np.linalg.norm(xyz[1] - xyz[0])  # N and CA, wherever it was turned to
    assert between == pytest.approx(1.46, abs=0.15)
    assert head["maps"] == [
        {"name": "A:B", "a": ["A 83 TYR"], "b": ["B 93 GLU"], "k": [0, 0, 85], "s": 1}
    ]
    assert head["partners"] == [["A"], ["B"]]


def test_b_factors_that_are_the_stated_plddt_colour_the_structure(tmp_path):
    path = tmp_path / "near1.pdb"
    text = gzip.decompress((EXAMPLE / "near1.pdb.gz").read_bytes()).decode()
    lines = []
    values = []
    for line in text.splitlines():
        if line.startswith("ATOM"):
            values.append(40 + int(line[22:26]) % 50)
            line = f"{line[:60]}{values[-1]:6.2f}{line[66:]}"
        lines.append(line)
    path.write_text("\n".join(lines))
    for stated, shown in ((np.mean(values), True), (np.mean(values) - 20, False)):
        root = real_answer(
            tmp_path / str(shown),
            files={"near1": path},
            confidence=[Confidence("1AVZ", "near1", plddt=stated, status="ok")],
        )
        (models,) = drawn_models(open_folder(root), ["1AVZ"]).values()
        first = Unpacked(models[0].model)
        n = len(first.head["letters"])
        first.take(2 * n)
        assert (set(first.take(n)) != {255}) == shown


def test_a_page_holds_so_many_characters_of_structures_and_a_file_that_is_gone_is_left_out(
    tmp_path,
):
    scored = open_folder(real_answer(tmp_path, targets=("A", "B")))
    of_all = drawn_models(scored, ["A", "B"])
    assert [len(models) for models in of_all.values()] == [3, 3]
    size = len(of_all["A"][0].model)
    shown = drawn_models(scored, ["A", "B"], room=int(2.5 * size))
    assert [len(models) for models in shown.values()] == [1, 1]
    gone = open_folder(write_answer(tmp_path / "gone", {"T": {"m": 0.9}}))
    assert drawn_models(gone, ["T"]) == {}


def test_models_that_were_drawn_before_come_from_the_store(tmp_path, monkeypatch):
    scored = open_folder(real_answer(tmp_path, targets=("A", "B")))
    from_files = drawings.FromFiles().model
    from_store = lambda scored: drawings.FromStore(scored, scored.store)  # noqa: E731
    monkeypatch.setattr(drawings, "source_of", from_store)

    def drawn(*digests: str) -> dict:
        scored.store = Store(tmp_path / "store")
        scored.digests = dict(zip("AB", digests, strict=True))
        scored.plan = []
        scored.rows = lambda table: []
        return drawn_models(scored, ["A", "B"])

    monkeypatch.setattr(drawings.FromStore, "model", lambda self, row: from_files(row))
    first = drawn("digest of A", "digest of B")
    assert [model.place for model in first["A"]] == [0, 1, 3]
    monkeypatch.setattr(drawings.FromStore, "model", None)  # nothing is read again
    assert drawn("digest of A", "digest of B") == first
    with pytest.raises(TypeError):
        drawn("digest of A", "")  # the store has no result of B


def test_a_matrix_has_its_values_and_becomes_coarser_where_there_is_no_room():
    complex_ = read_complex(EXAMPLE / "near1.pdb.gz")
    residues = complex_.residues
    n = len(residues)
    pae = np.random.default_rng(1).uniform(0, 31, (n, n))
    matrices = Matrices(
        residues,
        pae=pae,
        chains=("A", "B"),
        pair_iptm=np.array([[0.9, 0.5], [0.4, 0.9]]),
    )
    fine = Unpacked(packed_matrices(matrices, complex_, 1_000_000))
    assert fine.head["pairs"] == [[0.9, 0.5], [0.4, 0.9]]
    (about,) = fine.head["shown"]
    assert about == {"name": "pae", "n": n, "merged": 1, "step": 0.25}
    levels = fine.take(n * n).reshape(n, n).cumsum(axis=1)
    assert np.abs(0.25 * levels - np.minimum(pae, 30)).max() <= 0.125
    (about,) = Unpacked(packed_matrices(matrices, complex_, 6000)).head["shown"]
    assert about["step"] == 1
    assert about["merged"] > 1
    assert packed_matrices(Matrices(residues), complex_, 1000) == ""


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


def test_a_file_of_a_predictor_that_is_too_large_is_not_read(with_pae, monkeypatch):
    scored = open_folder(with_pae)
    assert drawn_models(scored, ["1AVZ"])["1AVZ"][0].matrices
    monkeypatch.setattr(drawings, "LARGEST", 1000)
    assert not drawn_models(scored, ["1AVZ"])["1AVZ"][0].matrices


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
    hidden = [
        line for line in found["top.cxc"].splitlines() if line.endswith(" models")
    ]
    assert hidden == ["hide #1.2 models", "hide #1.3 models"], "the first is in sight"
    assert "cmd.disable(decoy[1])" in found["top.pml"]


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


def test_the_table_has_all_targets_in_full_height_and_of_a_few_the_first_row_is_open(
    browser, tmp_path
):
    page = opened(browser, write_answer(tmp_path / "few", {"T": {"m": 0.5}, "U": {}}))
    assert texts(page, "#panel h2") == ["T"]
    page = opened(browser, write_answer(tmp_path, MANY))
    assert texts(page, "#panel h2") == []
    page.run("open(0)")
    assert shown_targets(page) == [*(f"T{i}" for i in range(10)), "1PPE"]
    assert (
        texts(page, "#targets tr.row:first-child .verdict") == ["believe", "● believe"]
        or "believe" in texts(page, "#targets .verdict")[1]
    )
    assert page.run(
        "document.querySelector('#all .scroll').scrollHeight <= "
        "document.querySelector('#all .scroll').clientHeight + 1"
    )
    assert texts(page, "#says h3") == ["m file"]
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
    page.run("open(T.target.indexOf('T3'))")
    page.run(
        "[...document.querySelectorAll('#targets thead button')].find(b => b.textContent === "
        "'complex').click()"
    )
    assert shown_targets(page)[:2] == ["=1+1", "1PPE"]
    assert "sorted by complex, the first first" in texts(page, "#count")[0]
    assert texts(page, "#panel h2") == ["T3"], "what is open stays open"
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


def test_baits_and_their_partners_are_a_table_whose_cells_open_rows(browser, tmp_path):
    proteins = {"L": "left", "R": "right", "O": "other"}
    chains = {
        pair: tuple(proteins[letter] for letter in pair.split("+"))
        for pair in ("R+L", "R+O", "R+R", "O+L", "O+O")
    }
    scores = {pair: {"m": 0.9 - nth / 10} for nth, pair in enumerate(chains)}
    page = opened(browser, write_answer(tmp_path, scores, chains=chains))
    page.run("document.getElementById('pairs').open = true")
    wait_for(page, "document.querySelectorAll('#pairs table').length")
    assert texts(page, "#pairs thead th") == ["L", "O", "R"]
    assert texts(page, "#pairs tbody tr") == ["O0.600.50", "R0.900.800.70"]
    page.run("document.querySelector('#pairs button span').click()")
    assert texts(page, "#panel h2") == ["O+L"]


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
    assert texts(page, "#panel h2") == ["T180"]


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
            "h2').textContent"
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
    assert texts(page, "#panel h2") == ["T2"]
    assert texts(page, ".open[aria-expanded='true']") == ["T2"]
    page.run("document.querySelector(\"tr.row[data-i='3'] .open\").focus()")
    page.run("document.activeElement.click()")  # what Enter and Space do to a button
    assert texts(page, "#panel h2") == ["T3"]
    click(page, "tr.row[data-i='3'] .open")
    assert texts(page, "#panel") == []
    set_value(page, "find", "T2")
    for target in ("T3", "T2", ""):
        page.run("history.back()")
        shown = "document.querySelector('#panel h2')?.textContent ?? ''"
        wait_for(page, f"({shown}) === {target!r}")
    visible = "[...document.querySelectorAll('#targets > thead th')].filter(th => th.offsetParent).length"
    before = page.run(visible)
    click(page, "#more")
    assert page.run(visible) > before
    click(page, "tr.row[data-i='10'] .open")
    assert "No score: unreadable." in texts(page, "#says")[0]


def test_a_row_selects_a_model_and_all_that_is_shown_follows(browser, with_pae):
    page = opened(browser, with_pae)
    wait_for(page, "document.getElementById('canvas').dataset.drawn === 'near1'")
    assert texts(page, ".models tbody .name button") == ["near1", "mid1", "far1"]
    assert "mid2 is a copy" in texts(page, ".models tr[data-k='1']")[0]
    assert texts(page, "#colour option") == ["partner", "predicted quality"]
    set_value(page, "colour", "quality", "change")
    assert "no interface residue" in texts(page, "#legend li")
    before = page.run("JSON.stringify(viewer.getView())")
    page.run(
        "document.getElementById('canvas').dispatchEvent(new KeyboardEvent('keydown', { key: "
        "'ArrowLeft' }))"
    )
    assert page.run("JSON.stringify(viewer.getView())") != before
    assert "A 83 ALA (0.85)" in texts(page, "#weak")[0]
    assert texts(page, "figcaption b") == [
        "Predicted aligned error",
        "Contacts of A and B",
    ]
    click(page, ".models tr[data-k='1']")
    wait_for(page, "document.getElementById('canvas').dataset.drawn === 'mid1'")
    assert page.run("location.hash") == "#1AVZ/mid1"
    assert texts(page, "#says h3, #says .big b") == ["mid1 file", "0.50"]
    assert texts(page, ".models tr.selected .n")[0] == "2"
    assert texts(page, "figcaption b") == ["Contacts of A and B"], "it has no PAE"
    assert texts(page, "#pictures > .note") == [
        "No map of predicted aligned error: no file of a predictor belongs to it, by its name."
    ]
    page.run("history.back()")
    wait_for(page, "document.getElementById('canvas').dataset.drawn === 'near1'")
    assert page.run("location.hash") == ""
    page.run("history.forward()")
    wait_for(page, "document.getElementById('canvas').dataset.drawn === 'mid1'")
    page.run("location.hash = '#1AVZ/near1'")
    wait_for(page, "document.getElementById('canvas').dataset.drawn === 'near1'")
    assert page.run("document.querySelectorAll('#undefined').length") == 0
    page.run("location.hash = '#1AVZ/mid2'")
    wait_for(page, "location.hash === '#1AVZ/mid1'")  # a copy is its original
    assert_quiet(page)


def test_a_region_takes_the_place_of_a_pair_that_was_selected(browser, with_pae):
    page = opened(browser, with_pae)
    wait_for(page, "document.getElementById('canvas').dataset.drawn === 'near1'")
    pair = "state.pair = 'A:B'; showInterface()"
    framed = "document.querySelector('.framed').getAttribute('d').length > 0"
    for figure, keeps in (("turned", True), ("matrix:not(.turned)", False)):
        page.run(pair)
        assert page.run(framed)
        (read, *_) = texts(page, ".matrix:not(.turned) output")
        assert read == "A and B, all residues of both: 30.0 Å on average"
        page.run(f"choose([0, 1], [2], document.querySelector('.{figure}'))")
        assert page.run("state.pair") == ("A:B" if keeps else "")
        assert page.run(framed) is keeps
        assert page.run("picked.map(residues => residues.size)") == [2, 1]
    page.run("state.pair = 'A:C'; showInterface()")  # its partners are apart
    words = "A and C do not touch: there are no contacts to show."
    assert texts(page, "#pictures figcaption")[1] == words
    assert page.run("picked.map(residues => residues.size)") == [0, 0]
    page.run("state.pair = ''; showInterface()")
    assert texts(page, "#pictures figcaption b")[1] == "Contacts of A and B"
    assert_quiet(page)


def test_a_model_without_a_score_is_opened_without_a_complaint(browser, tmp_path):
    page = opened(browser, write_answer(tmp_path, {"T": {"m": None}, "U": {"m": 0.9}}))
    page.run("location.hash = '#T/m'")
    wait_for(page, "state.open === T.target.indexOf('T')")
    wait_for(page, "document.querySelector('#says').textContent.includes('No score')")
    time.sleep(0.2)  # what is drawn later complains later
    assert_quiet(page)


@pytest.mark.parametrize(
    ("address", "expected"),
    [("#T/m/C:B", "#T/m/B:C"), ("#T/nope/x", "#T/m"), ("#nope/m", "#T/m")],
)
def test_an_address_that_names_nothing_becomes_that_of_what_is_shown(
    browser, tmp_path, address, expected
):
    interfaces = [
        InterfaceRow("T", "m", name, 9, 9, 5.0, 0.8, None, "ok", name, MAIN, 9)
        for name in ("A:B", "B:C")
    ]
    root = write_answer(tmp_path, {"T": {"m": 0.6}}, interfaces=interfaces)
    page = opened(browser, root)
    page.run(f"location.hash = '{address}'")
    wait_for(page, f"location.hash === '{expected}'")
    assert_quiet(page)


def test_the_map_of_contacts_begins_with_the_worst_interface_that_does_not_look_right(
    browser, tmp_path
):
    interfaces = [
        InterfaceRow("T", "m", name, 9, 9, 5.0, q, None, "ok", name, role, 9, word)
        for name, q, role, word in (
            ("A:B", 0.9, MAIN, "right"),
            ("A:D", 0.4, MAIN, "doubtful"),
            ("B:C", 0.1, SIDE, SIDE),
            ("A:C", 0.2, MAIN, "wrong"),
        )
    ]
    root = write_answer(tmp_path, {"T": {"m": 0.6}}, interfaces=interfaces)
    assert opened(browser, root).run("firstPair()") == "A:C"


KEY_DOWN = """document.querySelector('.matrix canvas').dispatchEvent(
    new KeyboardEvent('keydown', {{ key: '{key}', shiftKey: {shift}, bubbles: true }}))"""


def test_a_region_of_the_pae_is_chosen_by_keys_or_by_the_pointer(browser, with_pae):
    page = opened(browser, with_pae)
    wait_for(page, "document.getElementById('canvas').dataset.drawn === 'near1'")
    size = page.run(
        "(({ width, height }) => [width, height])(document.querySelector('.matrix canvas'))"
    )
    n = len(read_complex(EXAMPLE / "near1.pdb.gz").residues)
    assert size == [n, n], "a cell for each pair of residues"
    assert texts(page, ".matrix .left .chain") == ["A", "B"]
    page.run(KEY_DOWN.format(key="ArrowRight", shift="false"))
    (read,) = texts(page, ".matrix:not(.turned) output")
    assert re.fullmatch(r"aligned on A \d+ \w+, error of A \d+ \w+: 0.0 Å", read)
    page.run(KEY_DOWN.format(key="ArrowDown", shift="true"))
    (read,) = texts(page, ".matrix:not(.turned) output")
    words = r"aligned on A .* to A .*, error of A \d+ \w+: 0.0 Å on average"
    assert re.fullmatch(words, read)
    page.run("document.querySelector('.matrix').frame(['A'], ['B'])")
    blocks = page.run("document.querySelector('.framed').getAttribute('d')").split("M")
    n_first = page.run("document.querySelector('.matrix path').getAttribute('d')")
    first = re.fullmatch(r"M0 (\d+)H.*", n_first)[1]
    assert blocks[1:] == [
        f"{first} 0H{n}V{first}H{first}Z",
        f"0 {first}H{first}V{n}H0Z",
    ]
    page.run(KEY_DOWN.format(key="Enter", shift="false"))
    assert page.run("picked.map(residues => residues.size)")[0] > 1
    assert "selected, rows" in texts(page, "#legend li")
    page.run(KEY_DOWN.format(key="Escape", shift="false"))
    assert page.run("picked.map(residues => residues.size)") == [0, 0]
    page.run(KEY_DOWN.format(key="Enter", shift="false"))
    page.run(KEY_DOWN.format(key="ArrowDown", shift="true"))
    page.run("""(() => {
        const canvas = document.querySelector('.turned canvas'), box = canvas.getBoundingClientRect();
        canvas.setPointerCapture = () => {};
        for (const kind of ['pointerdown', 'pointerup'])
            canvas.dispatchEvent(new PointerEvent(kind, { clientX: box.x + 2, clientY: box.y + 2 }));
    })()""")
    assert texts(page, ".turned output") == ["A 83 TYR and B 93 GLU: quality 0.85"]
    assert page.run("picked.map(residues => residues.size)") == [1, 1]
    widths = "$('.matrix .chosen').map(box => box.getAttribute('width'))"
    assert page.run(widths) == ["0", "1"], "one selection"
    assert_quiet(page)


def test_of_three_partners_each_pair_has_a_row_and_a_sentence_names_good_and_bad(
    browser, tmp_path
):
    rows = [
        ("A:C", 4, 0.1, "ok", "side contact"),
        ("B:C", 30, 0.3, "ok", MAIN),
        ("C:D", 0, None, "apart", ""),
        ("A:B", 40, 0.82, "ok", MAIN),
    ]
    interfaces = [
        InterfaceRow(
            "T", "m", name, n, n, 62.0, dockq, None, status, name, role, n, "right"
        )
        for name, n, dockq, status, role in rows
    ]
    root = write_answer(tmp_path, {"T": {"m": 0.9}}, interfaces=interfaces)
    page = opened(browser, root)
    assert texts(page, "#interfaces tbody .name") == ["A:B", "B:C", "A:C", "C:D"]
    words = "#interfaces tbody td:nth-child(3)"
    assert texts(page, words) == ["right", "doubtful", "side contact", "apart, 62 Å"]
    hints = page.run("$('#interfaces th').map(head => [head.textContent, head.title])")
    declared = {
        (one.head or one.name): one.meaning.replace("`", "")
        for one in INTERFACES.columns
    }
    assert [declared[head] for head, _ in hints] == [hint for _, hint in hints]
    assert texts(page, "#interfaces p")[0].endswith(
        " A side contact is small, and both its partners bind elsewhere: it does not count."
        " No other pair touches in any model."
    )
    weak = "D touches nothing and C is doubtful (B:C, 30 residues, 0.30)"
    assert texts(page, ".says .caution, .says .caution + p")[:2] == [
        f"{weak}.",
        "A:B (0.82) looks right; A:C (4 residues) is a side contact and does not count.",
    ]
    assert weak not in "".join(texts(page, ".says .caveats")), "it is told once"
    option = '<span class="option">--partners</span> A+<wbr>B:C'
    assert page.run("wrapped('--partners A+B:C')") == option, "it stays in one line"
    assert f"but {weak}: check." in texts(page, ".lead")[0]
    page.run("showInterface = () => { document.title = state.pair || 'all' }")
    maps, partners = (
        "[{ name: 'C:B', k: [0, 0, 0], s: 0 }]",
        "['A', 'B', 'C', 'D'].map(one => [one])",
    )
    page.run(
        f"drawInterfaces(0, 0, {{ head: {{ maps: {maps}, partners: {partners} }} }})"
    )
    address_and_title = []
    for row in "[1]", "[0]", "[0]":  # contacts of the first pair are not drawn
        page.run(f"$('#interfaces tbody tr'){row}.querySelector('td.n').click()")
        address_and_title.append(page.run("location.hash + ' ' + document.title"))
    assert address_and_title == ["#T/m/B:C B:C", "#T/m/A:B A:B", "#T/m all"]
    page.run("location.hash = '#T/m/B:C'")
    wait_for(page, "state.pair === 'B:C'")
    assert texts(page, "#interfaces tr.selected .name") == ["B:C"]


@pytest.mark.parametrize(("n", "is_long"), [(10, False), (11, True)])
def test_up_to_ten_models_are_seen_without_scrolling(browser, tmp_path, n, is_long):
    models = {f"a_long_name_of_a_model_{i}": 0.9 - i / 20 for i in range(n)}
    page = opened(browser, write_answer(tmp_path, {"T": models}))
    box = "document.querySelector('.models .scroll')"
    page.run("document.body.style.width = '420px'")
    assert page.run(f"{box}.scrollHeight > {box}.clientHeight + 1") == is_long
    hint = [f"Scroll to see all {n} rows."] if is_long else []
    assert texts(page, ".models .note") == hint


def test_a_click_copies_the_sentence_and_the_methods(browser, tmp_path):
    browser._call(
        "Browser.grantPermissions",
        permissions=["clipboardReadWrite", "clipboardSanitizedWrite"],
    )
    page = opened(browser, write_answer(tmp_path, {"T": {"m": 0.62, "n": 0.3}}))
    page._call("Page.bringToFront")
    # only a page with focus may write to the clipboard, and other browsers run beside this one
    page._call("Emulation.setFocusEmulationEnabled", enabled=True)
    for button, words in (
        (
            "sentence",
            " ranks model m of T 1 of 2 and expects a DockQ of 0.62",
        ),
        ("methods", "Models were ranked by the DockQ that TopoRank"),
    ):
        page.run(f"document.getElementById({button!r}).click()")
        wait_for(page, f"document.getElementById({button!r}).textContent === 'Copied'")
        assert words in page.run("navigator.clipboard.readText()")


def test_the_parts_of_a_number_add_up(browser, tmp_path):
    page = opened(browser, write_answer(tmp_path, {"T": {"m": 0.62, "n": 0.3}}))
    page.run("Object.assign(M[0], { network: [0.75, 0.2], confidence: [0.79, 0.2] })")
    page.run("select(0)")
    assert texts(page, ".why li")[-2:] == [
        "their mean is 0.77",
        "0.62, lowered by 0.15: it is the best of 2, and the best of several is rarely as good as "
        "it looks",
    ]
    page.run("select(1)")
    assert texts(page, ".why li")[-1] == (
        "0.30, raised by 0.10: such models turned out to be better"
    )


SAID = """M.flatMap((m, i) => m.decoy.map((decoy, k) => {
    if (isCopy(m, k) || m.dockq?.[k] == null) return null;
    const box = make("div", {}, ...saysOf(i, k)), text = one => one.textContent;
    return {
        target: T.target[i], decoy, sentence: sentenceOf(i, k), why: $(".why li", box).map(text),
        card: text(box.querySelector(".big")) + text(box.querySelector(".ends + p")),
    };
})).filter(Boolean)"""
NUMBER = r"\d\.\d\d"


def real_folder(name: str, root: Path) -> Path:
    if name == "ties":  # 0.125 is 0.12 in the terminal, and 62.5 % is 62 %
        return write_answer(root, {"T": {"a": 0.625, "b": 0.125, "c": 0.8352}})
    results = toporank.score(repository() / "resources/example" / name)
    results.write(root)
    return root


@pytest.mark.parametrize(
    "folder", ["made_up_colabfold", "binder", "decoys/1PPE", "ties"]
)
def test_all_that_is_said_of_a_model_agrees_and_adds_up(browser, tmp_path, folder):
    scored = open_answer(real_folder(folder, tmp_path))
    write_page(scored, scored.folder)
    browser.open(scored.folder / "report.html")
    models = scored.facts[scored.facts["dockq"].notna()].set_index(["target", "decoy"])
    said = browser.run(SAID)
    assert len(said) == (models["duplicate_of"] == "").sum()
    for of_model in said:
        row = models.loc[(of_model["target"], of_model["decoy"])]
        in_terminal = in_words(row)
        numbers = re.findall(NUMBER, in_terminal) + re.findall(
            r"\d+(?= %:)", in_terminal
        )
        assert re.findall(rf"{NUMBER}|\d+(?= are)", of_model["card"]) == numbers
        assert in_terminal[6:].replace(": ", "; verdict: ") in of_model["sentence"]
        *_, last = steps = [re.findall(NUMBER, line) for line in of_model["why"]]
        assert last[0] == numbers[0]
        for line, before, step in zip(
            of_model["why"][1:], steps, steps[1:], strict=False
        ):
            if "ed by" in line:
                change = Decimal(step[1]) * (1 if "raised" in line else -1)
                before = (
                    before or steps[steps.index(step) - 2]
                )  # a share stands between
                assert Decimal(before[0]) + change == Decimal(step[0]), of_model["why"]
    targets = scored.targets.merge(
        read_targets(scored.folder / "targets.csv"), on="target"
    )
    assert targets["dockq_y"].equals(targets["dockq_x"].round(3))


@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_rank_and_score_of_the_predictor_stand_beside_ours(browser, tmp_path, n):
    """Its first is our last: page, terminal and targets.csv say so, with both numbers."""
    names = [f"m{place}" for place in range(n)]
    scores = {name: 0.9 - 0.03 * place for place, name in enumerate(names)}
    stated = [
        Confidence("T", name, "Boltz", ranking_score=0.5 + 0.02 * place, status="ok")
        for place, name in enumerate(names)
    ]
    root = write_answer(tmp_path, {"T": scores}, confidence=stated)
    page = opened(browser, root)
    first, last = scores[names[-1]], 0.5 + 0.02 * (n - 1)
    sentence = (
        f"Boltz's first is m{n - 1}: DockQ {first:.2f} against 0.90, its ranking score "
        f"{last:.2f} against 0.50"
    )
    assert f"Rank {n} among the models of Boltz (ranking score 0.50)." in texts(
        page, "#says p"
    )
    assert f"{sentence}." in texts(page, "#says p")
    ranks = page.run("M[0].predictor_rank")
    assert ranks == [*range(n, 0, -1)]
    scored = open_folder(root)
    printed = re.sub(r"\s+", " ", " ".join(answer(scored, root)))
    assert f"m0, Boltz's rank {n} (ranking score 0.50)" in printed
    assert sentence in printed
    (row,) = scored.targets.itertuples()
    assert (row.best, row.predictor_rank, row.predictor_first) == ("m0", n, f"m{n - 1}")
    assert row.predictor_score == 0.5
    assert row.predictor_first_dockq == pytest.approx(first)


def test_without_webgl_matrices_change_with_the_model_and_the_page_says_what_to_open(
    browser, with_pae
):
    page = opened(browser, with_pae)
    file = with_pae / "results/scores/part/report.html"
    file.write_text(file.read_text().replace('getContext("webgl', 'getContext("none'))
    page.open(file)
    assert "open top.pml in PyMOL" in texts(page, ".see .caution")[0]
    assert page.run("document.getElementById('canvas').offsetHeight") == 0
    wait_for(page, "document.querySelectorAll('#pictures figure').length === 2")
    click(page, ".models tr[data-k='1']")
    wait_for(page, "document.querySelectorAll('#pictures figure').length === 1")
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
        widths = "(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])"
        of_table, in_sight = page.run(
            f"{widths}(document.querySelector('#all .scroll'))"
        )
        assert of_table <= in_sight, "caveats, too, are read without scrolling"
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
