"""The page of a scored data set: one HTML file that loads nothing."""

from __future__ import annotations

import base64
import contextlib
import gzip
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps

import toporank
from toporank.errors import TopoRankError
from toporank.files.atomic import write_text
from toporank.files.spreadsheets import FORMULA
from toporank.finding.graph_files import SUFFIX
from toporank.lookup import places_of
from toporank.metrics import ACCEPTABLE, CAPRI_NAMES, HIGH, MEDIUM
from toporank.ranking.agreement import DERIVED
from toporank.ranking.interface_words import (
    CLASH,
    apart,
    best_first,
    clashes,
    in_a_word,
)
from toporank.ranking.interfaces import BESIDE, SIDE
from toporank.ranking.model_table import distinct_models
from toporank.ranking.scored import Scored
from toporank.ranking.target_table import OUT_OF_DOMAIN, doubt_of, interfaces_in_words
from toporank.ranking.verdict import (
    ADVICE,
    REJECT,
    RULES,
    VERDICTS,
    WITHOUT_CALIBRATION,
    counted,
    in_words,
)
from toporank.report import scripts
from toporank.report.citation import methods, program
from toporank.report.colours import (
    PAE_COLOURS,
    PARTNER_COLOURS,
    PLDDT_COLOURS,
    QUALITY_COLOURS,
)
from toporank.report.drawings import Drawn, drawn_models
from toporank.scorer.embeddings import principal_places
from toporank.scorer.interaction import interaction_sentence
from toporank.scorer.prediction import KEY, LEVEL
from toporank.structures.identity import DecoyKey, Status
from toporank.tables.columns import CONFIDENCE, DETAILS, INTERFACES, MODELS, TARGETS
from toporank.tables.frames import BETWEEN, to_page

FEWEST_ON_MAP, MOST_ON_MAP = 4, 4000
"""Models of a map."""
OF_MODELS = (*MODELS.columns, *DETAILS.columns, *CONFIDENCE.columns)
"""The columns of the page's tables of models, as far as they have a place on it."""
MOST_TO_OPEN = 2
"""Targets up to which the first row is open: of a screen, people see the rows first."""
OF_INTERFACES = [
    "interface",
    "n_residues",
    "n_contacts",
    "good_contacts",
    "dockq",
    "role",
    "pair_iptm",
    "pair_pae",
    "word",
]
_WORD = re.compile(r"[+.]|_and_|_vs_|__|[_-]")
"""What parts the names of proteins in the name of a target."""
_INDENTED = re.compile(r"\n[ \t\n]+<")
"""An element on a line of its own."""


def write_page(scored: Scored, folder: Path) -> None:
    """Write report.html and the scripts for PyMOL and ChimeraX beside the tables.

    folder : of the tables
    """
    page = folder / "report.html"
    write_text(page, render(scored, folder=folder))
    for name, text in scripts.scripts(scored, folder).items():
        write_text(page.with_name(name), text)


def render(
    scored: Scored, opened: DecoyKey = ("", ""), folder: Path | None = None
) -> str:
    """Return the page as HTML that loads nothing; the same tables give the same bytes.

    opened : target whose row is open, by default the most promising of a few, and which of its
        models is selected, by default the best.
    folder : of the page, from which models have links to their files.
    """
    page = (
        environment()
        .get_template("page.html.j2")
        .render(content(scored, opened, folder))
    )
    return compact(page)


def compact(page: str) -> str:
    r"""Return a page without the indentation of its elements.

    >>> compact("<p>\n    <b>a</b>\n  text")
    '<p>\n<b>a</b>\n  text'
    """
    return _INDENTED.sub("\n<", page)


def environment() -> Environment:
    """Return what renders the templates, in which all text is escaped."""
    return Environment(
        loader=PackageLoader("toporank.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def content(
    scored: Scored, opened: DecoyKey = ("", ""), folder: Path | None = None
) -> dict[str, Any]:
    """Return what the template shows."""
    targets, models = scored.targets, scored.facts
    order = targets["target"].tolist()
    drawn = drawn_models(scored, order, named=opened)
    is_calibrated = (
        targets["p_acceptable"].notna().any() or targets["dockq"].isna().all()
    )
    data = data_for_script(scored, drawn, folder)
    data["open"] = 0 if len(order) <= MOST_TO_OPEN else -1
    if opened[0]:
        data["open"] = order.index(opened[0])
    of_target = models.loc[models["target"] == opened[0], "decoy"].tolist()
    data["model"] = of_target.index(opened[1]) if opened[1] else 0
    return {
        "title": scored.name,
        "summary": summary(targets),
        "answer": answer(models) if len(order) == 1 else "",
        "n_models": len(distinct_models(models)),
        "n_copies": int((models["duplicate_of"] != "").sum()),
        "interact": interaction_sentence(targets),
        "without_calibration": "" if is_calibrated else WITHOUT_CALIBRATION,
        "toy": scored.scorer.toy if scored.scorer else "",
        "of_graphs": bool(models["path"].str.endswith(SUFFIX).any()),
        "n_drawn": sum(map(len, drawn.values())),
        "n_scored": int(models.loc[models["duplicate_of"] == "", "dockq"].count()),
        "not_scored": not_scored(models),
        "intermediate": int((models["status"] == Status.INTERMEDIATE).sum()),
        "seen": targets.sort_values(["containment", "target"], ascending=[False, True]),
        "run_card": run_card(scored),
        "methods": methods(scored),
        "viewer": viewer_packed() if drawn else "",
        "level": round(100 * LEVEL),
        "verdict_rules": RULES,
        "data": htmlsafe_json_dumps(data, separators=(",", ":"), ensure_ascii=False),
    }


def answer(models: pd.DataFrame) -> str:
    """Return the answer about the only target, as the terminal has it; nothing without a score."""
    best = models.iloc[0]
    if not best["verdict"]:
        return ""
    n_scored = distinct_models(models)["dockq"].count()
    place = (
        f"is the best of {n_scored}"
        if n_scored > 1
        else "is the only model with a score"
    )
    return f"{best['decoy']} {place}: {in_words(best)}"


def summary(targets: pd.DataFrame) -> str:
    """Return how many targets have which verdict, or nothing for a single target.

    An example is `3 complexes by their best model: believe 2, check 1`.
    """
    n = len(targets)
    if n < 2:
        return ""
    n_without = (targets["verdict"] == "").sum()
    if n_without == n:
        return f"{n:,} complexes; none could be scored"
    parts = counted(targets["verdict"])
    if n_without:
        parts.append(f"not scored {n_without:,}")
    return f"{n:,} complexes by their best model: {', '.join(parts)}"


def not_scored(models: pd.DataFrame) -> list[dict[str, str]]:
    """Return every model without a score, with status and reason.

    Copies are named after their original.
    """
    rows = models[models["dockq"].isna() & (models["duplicate_of"] == "")]
    rows = rows[rows["status"] != Status.INTERMEDIATE]
    return rows[["target", "decoy", "status", "reason"]].to_dict("records")


def data_for_script(
    scored: Scored, drawn: Mapping[str, list[Drawn]], folder: Path | None
) -> dict[str, Any]:
    """Return everything that the page's script shows.

    `targets` and `models` have `columns`, which say where and how each is shown
    (`tables.frames.to_page`), and `values`, by name; those of models are apart for each target.
    """
    models = to_page(OF_MODELS, with_measures(scored))
    return {
        "targets": to_page(TARGETS.columns, scored.targets),
        "models": {
            "columns": models["columns"],
            "values": _of_models(scored, models["values"], folder),
        },
        "interfaces": interfaces_of(scored),
        "doubts": doubts(scored),
        "advice": ADVICE,
        "of_interfaces": to_page(INTERFACES.columns, scored.interfaces)["columns"],
        "proteins": proteins(scored),
        "drawn": drawn,
        "map": places_on_map(scored),
        "program": program(scored),
        "methods": methods(scored),
        "verdicts": VERDICTS,
        "thresholds": [ACCEPTABLE, MEDIUM, HIGH],
        "classes": CAPRI_NAMES,
        "colours": {
            "partner": PARTNER_COLOURS,
            "quality": QUALITY_COLOURS,
            "pae": PAE_COLOURS,
            "plddt": PLDDT_COLOURS,
        },
        "formula": FORMULA.pattern,
        "unlike": OUT_OF_DOMAIN,
        "between": BETWEEN,
        "beside": BESIDE,
        "side": SIDE,
        "derived": DERIVED,
    }


def doubts(scored: Scored) -> dict[str, dict[str, list[str]]]:
    """Return target → model → which partners clash, and that its predictor doubts it."""
    found: dict[str, dict[str, list[str]]] = {}
    rows = scored.interfaces
    rows = rows[rows["closest"] < CLASH]
    for (target, decoy), of_model in rows.groupby(KEY):
        sentences = clashes(of_model.itertuples())
        found.setdefault(target, {}).setdefault(decoy, []).extend(sentences)
    facts = scored.facts
    is_asked = (facts["verdict"] != REJECT) & (facts["status"] == Status.OK)
    asked = set(facts.loc[is_asked, KEY].itertuples(index=False, name=None))
    for row in scored.confidence.itertuples():
        sentence = doubt_of(row)
        if sentence and (row.target, row.decoy) in asked:
            found.setdefault(row.target, {}).setdefault(row.decoy, []).append(sentence)
    return found


def with_measures(scored: Scored) -> pd.DataFrame:
    """Return the models with the columns of confidence.csv that the page has."""
    names = [column.name for column in CONFIDENCE.columns if column.page]
    names = [name for name in names if name not in scored.facts]
    stated = scored.confidence[[*KEY, *names]]
    return scored.facts.merge(stated, how="left", on=KEY)


def _of_models(
    scored: Scored, columns: dict[str, list[Any]], folder: Path | None
) -> list[dict[str, Any]]:
    """The columns of the models of each target, in the order of the targets.

    folder : from which the links to the files lead; None for no links
    """
    models = scored.facts
    links = [_link(path, folder) for path in models["path"]]
    places = models.groupby("target", sort=False).indices
    of_targets = []
    for target in scored.targets["target"]:
        rows = places[target].tolist()
        of_target = {}
        for name, values in columns.items():
            of_rows = [values[row] for row in rows]
            if name != "target" and any(value not in (None, "") for value in of_rows):
                of_target[name] = of_rows
        if "p_acceptable" not in of_target:
            of_target.pop("dockq_low", None)
        of_target["link"] = [links[row] for row in rows]
        of_targets.append(of_target)
    return of_targets


def _link(path: str, folder: Path | None) -> str:
    """The link from a folder to a file; nothing where either is missing."""
    return quote(os.path.relpath(path, folder)) if path and folder else ""


def interfaces_of(scored: Scored) -> dict[str, dict[int, dict[str, Any]]]:
    """Return target → place of a model → its interfaces, where it has several.

    They are `rows`, as the terminal has them, and `words` on them. A partner of the best model that
    touches no other has a caveat.
    """
    facts = scored.facts
    places = facts.groupby("target", sort=False).cumcount()
    keys = list(zip(facts["target"], facts["decoy"], strict=True))
    place_of = dict(zip(keys, places.tolist(), strict=True))
    caution_of = dict(zip(keys, facts["weak_partners"].fillna(""), strict=True))
    rows = scored.interfaces
    rows = rows[rows.groupby(KEY)["interface"].transform("size") > 1]
    named = rows["chains"].where(rows["chains"] != "", rows["interface"])
    rows = best_first(rows).assign(interface=named)
    rows = rows.astype(object).where(rows.notna(), None)
    rows["word"] = [in_a_word(row) for row in rows.itertuples()]
    shown: dict[str, dict[int, dict[str, Any]]] = {}
    for (target, decoy), of_model in rows.groupby(KEY, sort=False):
        place = place_of[target, decoy]
        records = list(of_model.itertuples(index=False))
        caution = caution_of[target, decoy]
        words = [interfaces_in_words(records, caution)]
        if place and not caution:
            words += apart(records)
        shown.setdefault(target, {})[place] = {
            "words": "; ".join(filter(None, words)),
            "rows": of_model[OF_INTERFACES].to_dict("records"),
        }
    return shown


def proteins(scored: Scored) -> dict[str, Any]:
    """Return the proteins of the targets, as a screen has them.

    A protein of several targets is called what their names, and no others, have in common; that of
    one target what is left of its name; else by its length and its first target.

    Returns
    -------
    proteins : `names`, and `of`: for each target the places of its proteins among these. Nothing
        where no two targets have a protein in common
    """
    place_of = places_of(scored.targets["target"])
    having: dict[str, set[int]] = {}
    for row in scored.chains:
        if row.target in place_of and row.sequence:
            having.setdefault(row.sequence, set()).add(place_of[row.target])
    if max(map(len, having.values()), default=0) < 2:
        return {"names": [], "of": []}
    words = [_WORD.split(target) for target in place_of]
    first_in = list(place_of)
    names: list[str] = []
    of_targets: list[list[int]] = [[] for _ in words]
    for sequence in sorted(having, key=lambda one: -len(having[one])):
        targets = having[sequence]
        first = min(targets)
        common = [word for word in words[first] if word]
        for place in targets:
            common = [word for word in common if word in words[place]]
        if len(targets) < 2:
            called = [names[place] for place in of_targets[first]]
            common = ["_".join(word for word in common if word not in called)]
        elif len(targets) < len(words):
            others = set().union(
                *(words[p] for p in range(len(words)) if p not in targets)
            )
            common = sorted(word for word in common if word not in others)
        name = next(filter(None, common), "")
        for place in targets:
            of_targets[place].append(len(names))
        n = len(sequence)
        names.append(name or f"protein of {n} residues in {first_in[first]}")
    return {"names": names, "of": of_targets}


def places_on_map(scored: Scored) -> dict[str, list[Any]]:
    """Return where models lie along the two leading principal axes of their pooled vectors.

    It returns nothing without vectors.

    x, y : from 0 to 1000. t : places of targets. n : names. v : share of variance of either axis in
    per cent.
    """
    table = scored.vectors
    order = places_of(scored.targets["target"])
    table = table[table["target"].isin(order)].head(MOST_ON_MAP)
    if len(table) < FEWEST_ON_MAP:
        return {}
    matrix = table.drop(columns=KEY).to_numpy(dtype=float)
    places, shares = principal_places(matrix, 2)
    places = places - places.min(axis=0)
    places = np.rint(1000 * places / max(places.max(), 1e-9)).astype(int)
    if places.shape[1] < 2:
        return {}
    return {
        "x": places[:, 0].tolist(),
        "y": places[:, 1].tolist(),
        "t": table["target"].map(order).tolist(),
        "n": table["decoy"].tolist(),
        "v": [round(100 * share) for share in shares[:2].tolist()],
    }


def viewer_packed() -> str:
    """Return 3Dmol.js, packed for the page."""
    program = (Path(__file__).parent / "3dmol" / "3Dmol-min.js").read_bytes()
    return base64.b64encode(gzip.compress(program, 9, mtime=0)).decode()


def run_card(scored: Scored) -> list[tuple[str, str]]:
    """Return what gave the scores, as names and values."""
    card = {"TopoRank": toporank.__version__}
    with contextlib.suppress(TopoRankError):  # the record is damaged
        record = scored.record
        if record:
            card["scorer"] = record.scorer[:16]
            card["ranked by"] = record.rank_by.replace("_", " ")
            use = "counts in the score" if record.use_confidence else "is not used"
            card["predictor's confidence"] = use
    scorer = scored.scorer
    if scorer is None:
        return list(card.items())
    card["networks"] = (
        f"mean of {len(scorer.members)}" if scorer.mean else "one checkpoint"
    )
    for role, choice in scorer.features.items():
        parameters = [choice["module"]]
        for name, value in choice.items():
            if name != "module":
                parameters.append(f"{name.replace('_', ' ')} {value}")
        card[role] = ", ".join(parameters)
    training = scorer.description.get("training_set") or {}
    if "train" in training:
        card["trained on"] = (
            f"{training['train']:,} models; {training['val']:,} to choose"
        )
    versions = scorer.description.get("provenance", {}).get("versions", {})
    for name, version in versions.items():
        card[f"trained with {name}"] = version
    return list(card.items())
