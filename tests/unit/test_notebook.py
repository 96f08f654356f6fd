"""docs/notebook.ipynb: what it shows is what its cells give today, and the site has a page of
it.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from types import ModuleType

import pytest

from conftest import REPOSITORY


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    """docs/notebook.py."""
    spec = importlib.util.spec_from_file_location(
        "notebook", REPOSITORY / "docs/notebook.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def notebook(runner) -> dict:
    return json.loads(runner.NOTEBOOK.read_text(encoding="utf-8"))


def cell(kind: str, *lines: str, **other) -> dict:
    return {"cell_type": kind, "source": [*lines], **other}


def of_type(outputs: list[dict], kind: str) -> list[str]:
    return [
        "".join(output["data"][kind])
        for output in outputs
        if kind in output.get("data", {})
    ]


@pytest.mark.slow
def test_the_notebook_shows_what_its_cells_give(runner, notebook):
    pytest.importorskip("matplotlib")
    shown = [code["outputs"] for code in runner.code_cells(notebook)]
    given = runner.run(notebook)
    assert [[output.get("text") for output in outputs] for outputs in given] == [
        [output.get("text") for output in outputs] for outputs in shown
    ]
    for new, old in zip(
        given, shown, strict=True
    ):  # two digits of a score may round otherwise on another processor
        assert [_words(text) for text in of_type(new, "text/html")] == [
            _words(text) for text in of_type(old, "text/html")
        ]
        numbers = [
            [
                *map(
                    float,
                    re.findall(
                        r"(?<=<td>)\d\.\d+", "".join(of_type(each, "text/html"))
                    ),
                )
            ]
            for each in (new, old)
        ]
        assert numbers[0] == pytest.approx(numbers[1], abs=0.02)
        assert len(of_type(new, "image/png")) == len(of_type(old, "image/png"))


def _words(html: str) -> str:
    return re.sub(r"(?<=<td>)\d\.\d+", "#", html)


def test_every_cell_has_been_run_and_shows_three_pictures_and_the_structure(
    runner, notebook
):
    outputs = [
        output for code in runner.code_cells(notebook) for output in code["outputs"]
    ]
    assert len(notebook["cells"]) <= 12
    assert all(code["outputs"] for code in runner.code_cells(notebook))
    assert len(of_type(outputs, "image/png")) == 3
    structure = of_type(outputs, "text/html")[-1]
    assert "3Dmol" in structure


def test_cells_share_their_variables_and_show_what_they_print_and_their_last_value(
    runner,
):
    cells = [
        cell("code", "x = 2\n", "print('first')"),
        cell("markdown", "# Title"),
        cell("code", "x + 1"),
        cell("code", "y = x"),
    ]
    pytest.importorskip("matplotlib")
    printed, shown, nothing = runner.run({"cells": cells})
    assert printed == [{"name": "stdout", "output_type": "stream", "text": ["first\n"]}]
    assert shown == [
        {"data": {"text/plain": ["3"]}, "metadata": {}, "output_type": "display_data"}
    ]
    assert nothing == []


def test_the_page_has_text_code_and_outputs_as_they_are(runner):
    html = "<table>\n\n  <tr><td>*1*</td></tr></table>"
    shown = [
        {"data": {"text/html": html.splitlines(True)}, "output_type": "display_data"}
    ]
    cells = {
        "cells": [cell("markdown", "# Title"), cell("code", "table", outputs=shown)]
    }
    text = runner.page(cells)
    assert text == "# Title\n\n```python\ntable\n```\n\noutput-of-cell-1\n"
    assert (
        runner.with_html("<p>output-of-cell-1</p>", cells)
        == f'<div class="output">{html}</div>'
    )


def test_the_notebook_reads_the_folder_that_its_script_makes(tmp_path, monkeypatch):
    source = REPOSITORY / "resources/example/make_colabfold.py"
    spec = importlib.util.spec_from_file_location("make_colabfold", source)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "make_colabfold", module)
    spec.loader.exec_module(module)
    (tmp_path / "decoys").symlink_to(REPOSITORY / "resources/example/decoys")
    monkeypatch.setattr(module, "HERE", tmp_path)
    module.main()
    shipped = REPOSITORY / "resources/example/made_up_colabfold"
    assert sorted(
        path.name for path in (tmp_path / "made_up_colabfold").iterdir()
    ) == sorted(p.name for p in shipped.iterdir())
    for path in (tmp_path / "made_up_colabfold").iterdir():
        assert module.gzip.decompress(path.read_bytes()) == module.gzip.decompress(
            (shipped / path.name).read_bytes()
        )
