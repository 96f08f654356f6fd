"""What mkdocs does besides: pages from outside docs/, what code declares, and links as they are on
the site.

In the repository every link is relative to its file, as a forge shows it. On the site a link to a
file that is not a page, such as one of code, is its text alone, and a page is called by its title.
"""

from __future__ import annotations

import argparse
import html
import json
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from toporank.app.commands import figure, score
from toporank.app.commands.running import running_arguments
from toporank.tables.columns import TABLES
from toporank.tables.frames import to_markdown

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
FUNCTIONS = {
    "Score": (
        "app.api.score",
        "app.results.Results",
        "app.api.embed",
        "app.api.train",
        "scorer.scorer.Scorer",
    ),
    "One model": (
        "app.api.interfaces",
        "app.api.features",
        "app.api.graphs",
        "app.api.dockq",
    ),
    "Structures": (
        "structures.read.read_complex",
        "structures.read.open_structure",
        "structures.in_memory.complex_of",
        "structures.complex.Complex",
        "structures.dssp.builtin_dssp",
    ),
    "Features": (
        "features.interface.ca_cutoff_interface",
        "features.interface.Interface",
        "features.topology.persistence_topology",
        "features.topology.h1_bars",
        "features.dssp_nodes.dssp_topology_nodes",
        "features.multiscale_edges.multiscale_edges",
    ),
    "Models and natives": (
        "comparing.native.label.Native",
        "comparing.native.label.label",
        "comparing.native.label.NativeLabel",
        "chains.match.superposition",
        "chains.alignment.align",
        "comparing.native.local.local_quality",
        "comparing.homology.clusters.clusters",
    ),
    "Files": (
        "finding.folders.find_decoys",
        "finding.labels.read_labels",
        "finding.natives.find_natives",
        "confidence.matrices.pae_of",
        "confidence.measures.ipsae",
    ),
    "Networks": (
        "learning.network.DockQNet",
        "learning.message_passing.FusedGATv2Conv",
        "learning.weights.load_weights",
        "learning.pyg_files.read_pyg_graph",
    ),
    "From networks to the answer": (
        "scorer.judge.Judge",
        "scorer.judge.ordered",
        "scorer.curves.fit_curve",
        "scorer.interaction.p_interact",
        "ranking.verdict.verdict_of",
    ),
    "Metrics": (
        "metrics.spearman",
        "metrics.capri_class",
        "metrics.per_target",
        "metrics.summarise",
        "metrics.validation_scores",
        "ranking.evaluation.calibration",
    ),
}
"""What the page of the reference shows, by title: what people call from their own programs. Each
has sections and an example; `tests/unit/test_reference.py` checks it.
"""
DECLARED = re.compile(r"<!-- (columns|options of \w+)\b.*?-->")
"""Where a page gets what code declares."""
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
    markdown = DECLARED.sub(lambda match: declared(match[1]), markdown)
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


def declared(what: str) -> str:
    """The columns of all tables, or the options of a command."""
    if what == "columns":
        return to_markdown(TABLES)
    commands = argparse.ArgumentParser().add_subparsers()
    score.add(commands, running_arguments())
    figure.add(commands)
    lines = ["| option | meaning |", "| --- | --- |"]
    actions = commands.choices[what.removeprefix("options of ")]._actions
    for action in sorted(actions, key=lambda action: bool(action.option_strings)):
        if action.help == argparse.SUPPRESS or action.dest == "help":
            continue
        names = ", ".join(action.option_strings)
        values = ",".join(map(str, action.choices or ()))
        value = f"{{{values}}}" if values else action.metavar or ""
        shown = f"{names} {value}".strip()
        lines.append(f"| `{shown}` | {html.escape(action.help or '')} |")
    return "\n".join(lines)


def reference() -> str:
    """The page that mkdocstrings fills with the docstrings of `FUNCTIONS`."""
    parts = [
        "# Reference\n\nFunctions and classes for your own programs. [Python](api.md) shows how "
        "to begin."
    ]
    for title, names in FUNCTIONS.items():
        parts.append(f"## {title}")
        parts += [f"::: toporank.{name}" for name in names]
    return "\n\n".join(parts) + "\n"
