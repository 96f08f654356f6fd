"""Runs docs/notebook.ipynb in plain Python and keeps what its cells show: PYTHONPATH=lib python
docs/notebook.py

Also the notebook as a page of the documentation (`page`). Neither needs Jupyter.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).with_name("notebook.ipynb")


def main() -> None:
    """Run the notebook and write it with its outputs."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    for cell, outputs in zip(code_cells(notebook), run(notebook), strict=True):
        cell["outputs"] = outputs
    NOTEBOOK.write_text(
        json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells with code, in their order."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The outputs of each code cell, in the format of notebooks: what it prints, and the value of
    its last line.

    All cells share their variables, as in Jupyter. Whatever a cell raises ends the run.
    """
    import matplotlib as mpl

    mpl.use("agg")  # nothing opens a window
    names: dict[str, Any] = {"__name__": "__main__"}
    return [_run_cell("".join(cell["source"]), names) for cell in code_cells(notebook)]


def _run_cell(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs of one cell."""
    tree, printed, shown = ast.parse(source), io.StringIO(), None
    last = (
        tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    )
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        if last:
            shown = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    outputs = []
    if printed.getvalue():
        outputs.append(
            {
                "name": "stdout",
                "output_type": "stream",
                "text": printed.getvalue().splitlines(True),
            }
        )
    if shown is not None:
        outputs.append(
            {"data": _data(shown), "metadata": {}, "output_type": "display_data"}
        )
    return outputs


def _data(shown: Any) -> dict[str, Any]:
    """A value as a notebook keeps it, by type of content."""
    from matplotlib.figure import Figure

    if isinstance(shown, Figure):
        picture = io.BytesIO()
        shown.savefig(
            picture,
            format="png",
            dpi=90,
            bbox_inches="tight",
            metadata={"Software": None},
        )
        return {"image/png": base64.b64encode(picture.getvalue()).decode()}
    if hasattr(shown, "_repr_html_"):
        return {"text/html": shown._repr_html_().splitlines(True)}
    return {"text/plain": repr(shown).splitlines(True)}


def page(notebook: dict[str, Any]) -> str:
    """The notebook as Markdown, with the outputs that it holds; `with_html` puts those of HTML into
    it.
    """
    return (
        "\n\n".join(
            _cell_markdown(place, cell) for place, cell in enumerate(notebook["cells"])
        )
        + "\n"
    )


def with_html(content: str, notebook: dict[str, Any]) -> str:
    """The page after its Markdown became HTML, with the outputs that are HTML themselves."""
    for place, cell in enumerate(notebook["cells"]):
        for output in cell.get("outputs", ()):
            if html := output.get("data", {}).get("text/html"):
                content = content.replace(
                    f"<p>{_mark(place)}</p>",
                    f'<div class="output">{"".join(html)}</div>',
                )
    return content


def _mark(place: int) -> str:
    """Stands for the output of a cell while Markdown is read: Markdown would change what it takes
    for its own.
    """
    return f"output-of-cell-{place}"


def _cell_markdown(place: int, cell: dict[str, Any]) -> str:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return text
    return "\n\n".join(
        [
            f"```python\n{text}\n```",
            *(_output_markdown(place, output) for output in cell["outputs"]),
        ]
    )


def _output_markdown(place: int, output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text'])}```"
    data = output["data"]
    if "image/png" in data:
        return (
            '<img alt="output of the cell above" '
            f'src="data:image/png;base64,{data["image/png"]}">'
        )
    return (
        _mark(place)
        if "text/html" in data
        else f"```text\n{''.join(data['text/plain'])}\n```"
    )


if __name__ == "__main__":
    main()
