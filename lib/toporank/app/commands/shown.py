"""The answer in the terminal: the best model of each target, the verdict on it, and its caveats."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from toporank import layout
from toporank.app.commands.terminal import Terminal
from toporank.confidence.beside import unread
from toporank.confidence.table import INCOMPLETE
from toporank.errors import printable
from toporank.finding.complexes import Grouped
from toporank.finding.scan import is_model
from toporank.lookup import targets_of
from toporank.metrics import MEDIUM
from toporank.programs.catalogue import place_of, programs_of
from toporank.ranking.agreement import DERIVED, rank_in_words
from toporank.ranking.interface_words import best_first, in_a_word
from toporank.ranking.leakage import SEEN
from toporank.ranking.model_table import distinct_models
from toporank.ranking.scored import Scored
from toporank.ranking.target_table import lost
from toporank.ranking.verdict import WITHOUT_CALIBRATION, counted, in_words
from toporank.scorer.scorer import Scorer
from toporank.structures.identity import Status
from toporank.tables.frames import BETWEEN

if TYPE_CHECKING:
    from toporank.app.request import Request
    from toporank.app.score_folder import ScoringInput

FEW_CAVEATS = 5
"""Targets whose caveats are printed below a table."""
IN_DETAIL, LISTED = 2, 10
"""Targets up to which each has several lines; of more, those that have a row each."""
INDENT = "  "
NUMBERS = (
    "residues",
    "good contacts",
    "DockQ",
    "ipTM",
    "PAE, Å",
    "acceptable",
    "models",
    "interact",
)
"""Heads of columns that are aligned to the right."""
SPARE = ("models", "acceptable", "ipTM", "80 % interval")
"""Heads of columns that a narrow terminal leaves out."""
RELAXED = re.compile(r"(^|_)relaxed_")
"""In the name of a model that AlphaFold 2 or ColabFold relaxed."""


def about_scorer(path: Path | None) -> list[str]:
    """Return lines on what a scorer lacks, and whether it is a toy.

    path : None for the one that ships.
    """
    if path is None:
        return []
    scorer = Scorer.open(path)
    return [line for line in (scorer.missing, scorer.toy) if line]


def answer(
    scored: Scored,
    out: Path,
    printed: Collection[str] = (),
    terminal: Terminal | None = None,
) -> list[str]:
    """Return the lines about a scored data set.

    Parameters
    ----------
    scored : its tables
    out : the folder of the results
    printed : sentences that were printed before, such as `1WEJ: A and B are an antibody`
    terminal : where they are shown
    """
    terminal = terminal or Terminal()
    targets, models = scored.targets, scored.facts
    best = models.drop_duplicates("target").set_index("target")
    lines: list[str] = []
    if len(targets) <= IN_DETAIL:
        for row in targets.itertuples():
            lines += _in_detail(scored, row, best.loc[row.target], printed, terminal)
    else:
        lines += _overview(targets, best, terminal)
        for text in _unread(scored):
            lines += terminal.wrapped("", text)
        lines += _few_caveats(targets, terminal)
        lines += _about_all(targets, terminal)
    if targets["p_acceptable"].isna().all() and targets["dockq"].notna().any():
        lines += terminal.wrapped("", WITHOUT_CALIBRATION)
    if len(targets) > IN_DETAIL:
        lines += _lost(models, terminal)
    names = {
        "page": layout.SCORE_REPORT,
        "targets": layout.TARGETS,
        "models": layout.MODEL_TABLE,
    }
    for name, pattern in names.items():
        if name != "targets" or len(targets) > 1:
            path = near(out / pattern.format(dataset=scored.name))
            lines.append(f"{name + ':':8} {path}")
    return lines


def near(path: Path | str) -> str:
    """Return a path as one types it here: relative where the file lies below this folder."""
    path = os.path.abspath(path)
    here = os.path.relpath(path)
    return path if here.startswith(os.pardir) or here == os.curdir else here


def _in_detail(
    scored: Scored,
    row: Any,
    best: pd.Series,
    printed: Collection[str],
    terminal: Terminal,
) -> list[str]:
    """A few lines on a target."""
    if not row.best:
        lines = [f"{row.target}: no model was scored"]
    else:
        said = in_words(best).removesuffix(row.verdict)
        lines = terminal.wrapped(f"{row.target}:", said + row.verdict)
        lines[-1] = terminal.painted(lines[-1], row.verdict)
        place = f"best of {row.n_scored:,}" if row.n_scored > 1 else "only model"
        ranked = ", ".join(filter(None, [row.best, rank_in_words(best)]))
        lines += _labelled(f"{place}:", ranked, terminal)
        lines += _labelled("file:", near(row.file), terminal)
        lines += _interfaces(scored, row, terminal)
        if row.seen_in_training == SEEN:
            text = f"{row.why_seen}, so its score may be too good"
            lines += _labelled("training:", text, terminal)
    sentences = {"caveat:": row.caveats, "hint:": row.hint, "note:": row.notes}
    for label, cell in sentences.items():
        for text in filter(None, cell.split(BETWEEN)):
            is_in_answer = best["weak_partners"] and best["weak_partners"] in text
            if not is_in_answer and f"{row.target}: {text}" not in printed:
                lines += _labelled(label, text, terminal)
    if not row.best and best["reason"]:
        lines += _labelled(f"{best['decoy']}:", best["reason"], terminal)
    return lines


def _labelled(label: str, text: str, terminal: Terminal) -> list[str]:
    return terminal.wrapped(label.ljust(11), text, INDENT)


def _interfaces(scored: Scored, row: Any, terminal: Terminal) -> list[str]:
    """A row for each pair of partners of the best model, where there are several."""
    table = scored.interfaces[scored.interfaces["n_ca_pairs"].notna()]
    of_best = table[(table["target"] == row.target) & (table["decoy"] == row.best)]
    if len(of_best) < 2:
        return []
    lines = _labelled("interfaces:", row.interfaces, terminal) if row.interfaces else []
    of_best = best_first(of_best)
    named = of_best["chains"] != ""
    pair = of_best["chains"].where(named, of_best["interface"])
    columns: dict[str, list[str]] = {
        "pair": pair.tolist(),
        "residues": _numbers(of_best["n_residues"], 0),
        "good contacts": _good_contacts(of_best),
        "DockQ": _numbers(of_best["dockq"], 2),
        "ipTM": _numbers(of_best["pair_iptm"], 2),
        "PAE, Å": _numbers(of_best["pair_pae"], 1),
        "": [in_a_word(pair) for pair in of_best.itertuples()],
    }
    return [*lines, *_table(columns, terminal, ["pair"], INDENT * 2)]


def _good_contacts(interfaces: pd.DataFrame) -> list[str]:
    """How many of the contacts of each interface are good, such as `2 of 14`."""
    contacts = _numbers(interfaces["n_contacts"], 0)
    good = _numbers(interfaces["good_contacts"], 0)
    return [
        of if n == "–" else f"{n} of {of}" for n, of in zip(good, contacts, strict=True)
    ]


def _table(
    columns: Any, terminal: Terminal, names: list[str], indent: str = ""
) -> list[str]:
    """Aligned rows of the columns in which something is known."""
    table = pd.DataFrame(columns)
    table = table.loc[:, ~table.isin(["", "–"]).all()]
    rows = table.to_numpy().tolist()
    return terminal.table([*table], rows, NUMBERS, names, SPARE, indent)


def _numbers(values: pd.Series, decimals: int) -> list[str]:
    """The numbers of a column as text."""
    return [_number(value, decimals) for value in values]


def _number(value: float, decimals: int) -> str:
    return "–" if pd.isna(value) else f"{value:.{decimals}f}"


def _percent(share: float) -> str:
    return "–" if pd.isna(share) else f"{100 * share:.0f} %"


def _overview(
    targets: pd.DataFrame, best: pd.DataFrame, terminal: Terminal
) -> list[str]:
    """A row for each of the most promising targets, and for those that are new."""
    is_listed = (targets.index < LISTED) | (
        (targets["new"] != "") & ((targets["new"] != "").cumsum() <= LISTED)
    )
    listed = targets[is_listed]
    rows = []
    for row in listed.itertuples():
        interval = f"{_number(row.dockq_low, 2)} to {_number(row.dockq_high, 2)}"
        marks = [
            word for word, cell in (("new", row.new), ("caveat", row.caveats)) if cell
        ]
        cells = {
            "target": row.target,
            "verdict": row.verdict or "no score",
            "DockQ": _number(row.dockq, 2),
            "80 % interval": interval if pd.notna(row.dockq_low) else "–",
            "acceptable": _percent(row.p_acceptable),
            "best model": row.best,
            "models": f"{row.n_scored}",
            "predictor's": _of_predictor(row, best.loc[row.target]),
            "ipTM": _number(row.iptm, 2),
            "interact": _percent(row.p_interact),
            "": ", ".join(marks),
        }
        rows.append(cells)
    return _table(rows, terminal, ["target", "best model"])


def _few_caveats(targets: pd.DataFrame, terminal: Terminal) -> list[str]:
    """The first caveat of each target, where so few have one that they can be read."""
    warned = targets[targets["caveats"] != ""]
    lines: list[str] = []
    if len(warned) <= FEW_CAVEATS:
        for row in warned.itertuples():
            lines += terminal.wrapped(
                f"{row.target}:", row.caveats.split(BETWEEN)[0], INDENT
            )
    return lines


def _of_predictor(row: Any, best: pd.Series) -> str:
    """Rank and score that the predictor gives to the best model of a target, among several."""
    if pd.isna(row.predictor_rank) or row.n_models == 1:
        return "–"
    rank = f"rank {row.predictor_rank}"
    if row.predictor_order == DERIVED:
        return f"{rank} by {best['predictor_measure']}"
    known = pd.notna(row.predictor_score)
    return f"{rank} ({row.predictor_score:.2f})" if known else rank


def _about_all(targets: pd.DataFrame, terminal: Terminal) -> list[str]:
    n_without = (targets["verdict"] == "").sum()
    parts = counted(targets["verdict"])
    if n_without and parts:
        parts.append(f"not scored {n_without:,}")
    of_all = ", ".join(parts) or "none was scored"
    n_more = max(len(targets) - LISTED, 0)
    n_warned = (targets["caveats"] != "").sum()
    n_seen = (targets["seen_in_training"] == SEEN).sum()
    n_new = (targets["new"] != "").sum()
    parts = []
    if n_more:
        parts.append(f"{n_more:,} more in targets.csv")
    if n_new:
        parts.append(f"{n_new:,} new")
    if n_warned:
        parts.append(f"{n_warned:,} {'has' if n_warned == 1 else 'have'} a caveat")
    if n_seen:
        were = "was" if n_seen == 1 else "were"
        parts.append(f"{n_seen:,} {were} seen in training, so scores may be too good")
    lines = terminal.wrapped("", f"{len(targets):,} targets: {of_all}")
    for text in ("; ".join(parts), _other_firsts(targets)):
        lines += terminal.wrapped("", text)
    return lines


def _other_firsts(targets: pd.DataFrame) -> str:
    """How often the predictor ranks another model first, and whether that matters."""
    n = (targets["predictor_first"] != "").sum()
    n_alike = (targets["dockq_between"] >= MEDIUM).sum()
    which = "all" if n == n_alike else f"{n_alike:,}" if n_alike else "none"
    derived = (targets["predictor_first"] != "") & (
        targets["predictor_order"] == DERIVED
    )
    n_derived = derived.sum()
    who = "the predictor or its confidence" if n_derived else "the predictor"
    if n_derived == n:
        who = "the predictor's confidence"
    what = f"of {n:,} {who} ranks another model first"
    return f"{what}; in {which} of these the two bind alike" if n else ""


def _lost(models: pd.DataFrame, terminal: Terminal) -> list[str]:
    """How many models have no score, and why the first has none."""
    missing = lost(models)
    if not missing:
        return []
    without = distinct_models(models)
    first = without[without["dockq"].isna()].iloc[0]
    reason = first["reason"] or "no reason was recorded"
    such = f"{missing}, such as {first['target']}/{first['decoy']}: {reason}"
    return terminal.wrapped("", such)


def _unread(scored: Scored) -> list[str]:
    """Which files of predictors are not read, a line for each folder.

    There is one more line where there are many folders.
    """
    sentences: dict[str, None] = {}
    for model in scored.models.itertuples():
        row = scored.stated.get((model.target, model.decoy))
        if row and row.status == INCOMPLETE and model.path:
            place = place_of(Path(model.path))
            sentences[unread(place.parent).about(place)] = None
    lines = [*filter(None, sentences)]
    n_more = len(lines) - LISTED
    if n_more <= 0:
        return lines
    return [*lines[:LISTED], f"so it is in {n_more:,} more folders (confidence.csv)"]


def described(request: Request, models: ScoringInput, terminal: Terminal) -> list[str]:
    """What the models of a folder are, and what TopoRank decided about them, in lines.

    terminal : where the lines are shown.
    """
    source, folder = request.source, request.folder
    if (source.is_dir() or is_model(source)) and not folder.is_relative_to(
        source.resolve()
    ):
        folder = source.resolve()
    grouped = models.grouped
    what = f"{programs_of(grouped.decoys)}: {describe_models(grouped)} in {printable(near(folder))}"
    lines = [what]  # whose end is a path
    for note in models.notes:
        lines += terminal.wrapped("", note, INDENT)
    return lines


def describe_models(grouped: Grouped) -> str:
    """`5 models of 1 target and 5 copies of them`.

    Copies and intermediate states do not count as models.
    """
    decoys = grouped.decoys
    n_intermediate = sum(decoy.refused_as == Status.INTERMEDIATE for decoy in decoys)
    n_copies = len(grouped.copies)
    n_targets = len(targets_of(decoys))
    n_models = len(decoys) - n_copies - n_intermediate
    text = f"{_several(n_models, 'model')} of {_several(n_targets, 'target')}"
    n_relaxed = _relaxed(grouped)
    if n_relaxed:
        text += f" ({n_relaxed:,} of them relaxed from another)"
    if n_copies:
        text += ", " if n_intermediate else " and "
        text += "1 copy of them" if n_copies == 1 else f"{n_copies:,} copies of them"
    if n_intermediate:
        states = _several(n_intermediate, "intermediate state")
        text += f" and {states} that TopoRank does not score"
    return text


def _relaxed(grouped: Grouped) -> int:
    """The number of models that a predictor relaxed and whose unrelaxed state is a model, too."""
    models = {
        decoy.key: grouped.copies.get(decoy.key, decoy.name) for decoy in grouped.decoys
    }
    relaxed = set()
    for (target, name), model in models.items():
        unrelaxed = models.get((target, RELAXED.sub(r"\1unrelaxed_", name)))
        if unrelaxed not in (None, model):
            relaxed.add((target, model))
    return len(relaxed)


def _several(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
