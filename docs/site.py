"""What mkdocs does besides: pages from outside docs/ and from code, and links as they are on the
site.

In the repository every link is relative to its file, as a forge shows it. On the site a link to a
file that is not a page, such as one of code, is its text alone, and a page is called by its title.
"""

from __future__ import annotations

import ast
import json
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
import notebook  # beside this file, which mkdocs loads by its path

REPOSITORY = Path(__file__).resolve().parent.parent
OUTSIDE = {
    "README.md": "index.md",
    "config/README.md": "configuration.md",
    "resources/scorer/README.md": "model-card.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "docs/notebook.ipynb": "notebook.md",
}
"""Pages that lie elsewhere in the repository or are no Markdown, and what they are called on the
site.
"""
REFERENCE = "reference.md"
ROOMS = {
    "app": "Score, and what comes out",
    "structures": "Structures",
    "features": "Features",
    "comparing": "Comparing structures, DockQ, clusters",
    "inputs": "Models, labels, confidence files",
    "learning": "Training",
    "scorer": "Scoring",
    "ranking": "Ranking",
    "metrics": "Metrics",
}
"""Rooms of the library whose documented functions and classes are on the page of the reference, and
their titles.
"""
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
PICTURE = re.compile(r"(?<=\]\()docs/([^)\s]+\.(?:png|svg))(?=\))")
"""A picture on a page that lies outside docs/."""


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from outside docs/, the notebook and the reference."""
    for source, name in OUTSIDE.items():
        text = (REPOSITORY / source).read_text(encoding="utf-8")
        text = notebook.page(json.loads(text)) if source.endswith(".ipynb") else text
        files.append(File.generated(config, name, content=text))
    files.append(File.generated(config, REFERENCE, content=reference()))
    return files


def on_page_content(html: str, page: Page, config: Any, files: Files) -> str:
    """Put the outputs of the notebook into its page."""
    if page.file.src_uri != OUTSIDE["docs/notebook.ipynb"]:
        return html
    return notebook.with_html(
        html, json.loads(notebook.NOTEBOOK.read_text(encoding="utf-8"))
    )


def on_page_markdown(markdown: str, page: Page, config: Any, files: Files) -> str:
    """Turn links relative to the file in the repository into links of the site."""
    here = next(
        (source for source, name in OUTSIDE.items() if name == page.file.src_uri),
        f"docs/{page.file.src_uri}",
    )
    markdown = (
        PICTURE.sub(r"\1", markdown) if not here.startswith("docs/") else markdown
    )
    folder = posixpath.dirname(page.file.src_uri)
    return LINK.sub(
        lambda match: site_link(*match.groups(), here, folder, files), markdown
    )


def site_link(text: str, target: str, here: str, folder: str, files: Files) -> str:
    """One link as the site has it.

    here : path of its page in the repository. folder : of the page on the site, empty at the top.
    """
    path, mark, anchor = target.partition("#")
    if not path or ":" in path:  # within the page, or of the web
        return f"[{text}]({target})"
    there = posixpath.normpath(posixpath.join(posixpath.dirname(here), path))
    if not (REPOSITORY / there).exists():
        return f"[{text}]({target})"  # mkdocs says that it leads nowhere
    name = OUTSIDE.get(
        there, there.removeprefix("docs/") if there.startswith("docs/") else ""
    )
    page = files.get_file_from_path(name)
    if page is None:
        return text
    title = (
        text == path
        and page.is_documentation_page()
        and re.search(r"^# (.+)", page.content_string, re.MULTILINE)
    )
    shown = title[1] if title else text
    address = posixpath.relpath(name, folder or ".")
    return f"[{shown}]({address}{mark}{anchor})"


def reference() -> str:
    """The page that mkdocstrings fills with the docstrings of all functions and classes that have
    numpydoc sections.
    """
    parts = [
        "# Reference\n\nFunctions and classes for your own programs. [Python](api.md) shows how "
        "to begin."
    ]
    for room, title in ROOMS.items():
        names = documented_names(REPOSITORY / "lib/toporank" / room)
        if names:
            parts.append(f"## {title}")
        parts += [f"::: {name}" for name in names]
    return "\n\n".join(parts) + "\n"


def documented_names(room: Path) -> list[str]:
    """Full names of the public functions and classes of a room (folder or module) whose docstrings
    have sections.
    """
    files = sorted(room.rglob("*.py")) or [room.with_suffix(".py")]
    names = []
    for path in files:
        module = ".".join(
            path.relative_to(REPOSITORY / "lib").with_suffix("").parts
        ).removesuffix(".__init__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(
                node, ast.FunctionDef | ast.ClassDef
            ) or node.name.startswith("_"):
                continue
            if re.search(
                r"^(Parameters|Returns|Attributes)\n-+$",
                ast.get_docstring(node) or "",
                re.MULTILINE,
            ):
                names.append(f"{module}.{node.name}")
    return names
