"""`toporank figure`: pictures for slides, of a folder that `toporank score` wrote."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from toporank.errors import ConfidenceError, ConfigError, TopoRankError
from toporank.files.atomic import write_bytes

KINDS = ("complex", "pae", "ranking", "contacts")
FORMATS = ("svg", "png")
MOST_MAPS = 6
"""Contact maps of a model of many partners: those with the most contacts."""


def add(commands: Any) -> None:
    """The command and its arguments."""
    said = "pictures for slides, of a folder that `score` wrote"
    parser = commands.add_parser("figure", help=said, description=said)
    parser.add_argument("answer", metavar="ANSWER", type=Path, help="the OUT of `toporank score`")
    parser.add_argument("--target", metavar="T", help="target (the most promising one)")
    parser.add_argument("--model", metavar="M", help="one of its models (the best one)")
    what = (
        "complex: a cartoon; pae: predicted aligned error; ranking: the models of the target; contacts: which residues"
        " touch (all of these)"
    )
    parser.add_argument("--kind", choices=KINDS, help=what)
    how = "svg needs nothing else, png needs matplotlib (svg)"
    parser.add_argument("--format", choices=FORMATS, default="svg", help=how)
    parser.add_argument("-o", "--out", type=Path, metavar="FOLDER", default=Path(), help="where to write (here)")
    parser.set_defaults(run=figure)


def figure(args: argparse.Namespace) -> int:
    """Draw, and print the name of each file. Raises TopoRankError when something that was asked for cannot be drawn.

    Where all kinds are drawn, a line says why one is missing.
    """
    from toporank.app.commands.running import out_folder
    from toporank.report.slides.canvas import check_matplotlib, png, svg

    if args.format == "png":
        check_matplotlib()
    chosen = _chosen(args)
    writers: dict[str, Callable] = {"svg": lambda canvas: svg(canvas).encode(), "png": png}
    for kind in [args.kind] if args.kind else KINDS:
        try:
            for name, canvas in DRAWN[kind](chosen):
                content = writers[args.format](canvas)
                path = out_folder(args.out) / f"{name}.{args.format}"
                write_bytes(path, content)
                print(path, flush=True)
        except (TopoRankError, OSError) as error:
            if args.kind:
                raise
            print(f"no {kind}: {error}", flush=True)
    return 0


class Chosen(NamedTuple):
    """What to draw. folder : that of the ranking. study : what was read of it. rows : of the target, best first.
    row : the model. partners : of the model, empty where they are not known.
    """

    folder: Path
    study: Any
    rows: list[Any]
    row: Any
    partners: tuple[tuple[str, ...], ...]


def _chosen(args: argparse.Namespace) -> Chosen:
    """The target and the model that are asked for. Raises ConfigError when there is none, with the nearest spelling."""
    from toporank.app.commands.shown import answer_folder, study_of
    from toporank.report.results import by_target
    from toporank.report.targets import target_rows
    from toporank.report.views import partners_of_decoys
    from toporank.settings import did_you_mean

    folder = answer_folder(args.answer)
    study = study_of(folder.parents[2], folder.name)
    targets = {target: rows for (_, target), rows in by_target(study.decoys)}
    if args.target is not None and args.target not in targets:
        remedy = did_you_mean(args.target, targets)
        raise ConfigError(f"there is no target {args.target!r}", where=folder, remedy=remedy)
    rows = targets[args.target or target_rows(study)[0].target]
    names = {row.decoy: row for row in rows}
    if args.model is not None and args.model not in names:
        what = f"the target {rows[0].target!r} has no model {args.model!r}"
        raise ConfigError(what, where=folder, remedy=did_you_mean(args.model, names))
    row = names[args.model] if args.model is not None else rows[0]
    partners = partners_of_decoys(study).get((row.dataset, row.target, row.decoy), ())
    return Chosen(folder, study, rows, row, partners)


def _complex(chosen: Chosen) -> Any:
    """The atoms of the model with its partners. Raises ConfigError when its file is gone."""
    from toporank.report.views import file_to_show
    from toporank.structures.read import read_complex

    row = chosen.row
    path = file_to_show(chosen.folder, row)
    if not row.path:
        raise ConfigError("this model has no file", where=f"{row.target}/{row.decoy}", remedy="name another model")
    if not path.is_file():
        raise ConfigError("the file of the model is gone", where=path, remedy="put it back where it was scored")
    place = row.model - 1 if row.model and path == Path(row.path) else None
    return read_complex(path, place).with_partners(chosen.partners)


def _draw_complex(chosen: Chosen) -> Iterator[tuple[str, Any]]:
    from toporank import layout
    from toporank.ranking.residues import read_residues
    from toporank.report.slides.drawings import complex_slide

    row, path = chosen.row, chosen.folder / Path(layout.RESIDUES).name
    rows = read_residues(path) if path.is_file() else ()
    residues = [each for each in rows if each[:2] == (row.target, row.decoy)]
    yield _file(row, "complex"), complex_slide(row, _complex(chosen), residues)


def _contacts(chosen: Chosen) -> list[Any]:
    """The rows of contacts.csv of the model; none where an earlier version scored it."""
    from toporank import layout
    from toporank.ranking.residues import contacts_of

    path = chosen.folder / Path(layout.CONTACTS).name
    return contacts_of(path, chosen.row.target, chosen.row.decoy) if path.is_file() else []


def _draw_pae(chosen: Chosen) -> Iterator[tuple[str, Any]]:
    import numpy as np

    from toporank.inputs.confidence.decoy import NOT_OF_THIS_MODEL
    from toporank.report.pae import pae_of_result, runs
    from toporank.report.slides.drawings import pae_slide

    row = next((row for row in chosen.rows if row.decoy == chosen.row.duplicate_of), chosen.row)  # has most files
    if not Path(row.path).is_file():
        what = "the file of the model is gone, and so is its PAE"
        raise ConfigError(what, where=row.path, remedy="put both back where they were scored")
    said = chosen.study.confidence.get(row.dataset, [])
    key = row.target, row.decoy
    reason = next((each.reason for each in said if (each.target, each.decoy) == key), "")
    if NOT_OF_THIS_MODEL in reason:
        raise ConfidenceError(reason, where=row.path)
    pae = pae_of_result(row, chosen.partners)
    place = {(residue.chain, f"{residue.number}{residue.insertion_code}"): i for i, residue in enumerate(pae.residues)}
    ends = [((c.chain_1, c.residue_1), (c.chain_2, c.residue_2)) for c in _contacts(chosen)]
    pairs = [(place[a], place[b]) for a, b in ends if a in place and b in place]
    contacts = np.array(pairs, dtype=int).reshape(-1, 2)
    yield _file(chosen.row, "pae"), pae_slide(chosen.row, pae.values, runs(pae.residues), contacts)


def _draw_ranking(chosen: Chosen) -> Iterator[tuple[str, Any]]:
    from toporank.report.slides.ranking_plot import ranking_slide

    rows = [row for row in chosen.rows if row.pred_dockq is not None]
    if not rows:
        target = chosen.row.target
        raise ConfigError("no model of this target has a score", where=target, remedy="ranking.csv has the reasons")
    said = {each.decoy: each for each in chosen.study.confidence[rows[0].dataset] if each.target == rows[0].target}
    yield f"{_plain(rows[0].target)}_ranking", ranking_slide(rows, said)


def _draw_contacts(chosen: Chosen) -> Iterator[tuple[str, Any]]:
    from toporank.report.slides.contact_map import by_partners, contacts_slide

    rows = _contacts(chosen)
    if not rows:
        where = f"{chosen.row.target}/{chosen.row.decoy}"
        remedy = "run `toporank score` again if an earlier version scored it; a model without a score has none"
        raise ConfigError("contacts.csv has no contact of this model", where=where, remedy=remedy)
    chains = sorted({chain for row in rows for chain in (row.chain_1, row.chain_2)})
    partners = chosen.partners or tuple((chain,) for chain in chains)
    for nth, group in enumerate(by_partners(rows, partners)[:MOST_MAPS], 1):
        number = f"_{nth}" if nth > 1 else ""
        yield f"{_file(chosen.row, 'contacts')}{number}", contacts_slide(chosen.row, group)


def _file(row: Any, kind: str) -> str:
    return f"{_plain(row.target)}_{_plain(row.decoy)}_{kind}"


def _plain(name: str) -> str:
    """A name in letters that every path may have."""
    return re.sub(r"[^\w.+-]", "_", name)


DRAWN: dict[str, Callable[[Chosen], Iterator[tuple[str, Any]]]] = {
    "complex": _draw_complex,
    "pae": _draw_pae,
    "ranking": _draw_ranking,
    "contacts": _draw_contacts,
}
