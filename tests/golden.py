"""Twelve small folders of models, and the whole answer to each, which lies in `tests/golden/`.

`make golden` writes the answers again; look at what changed before you commit it.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import toporank
from archived import archived
from complexes import (
    ANTIBODY,
    antibody_decoys,
    away,
    chains_of,
    moved,
    renamed,
    ring,
    turned,
    write_pdb,
)
from structures_text import EXAMPLES, atoms_of, mmcif, pdb, put, shifted, with_b
from toporank.app.commands.shown import answer

HERE = Path(__file__).parent / "golden"
EXAMPLE = EXAMPLES.parent
TABLES = ("targets", "models", "details", "interfaces", "confidence")
DECIMALS = 5
PAIR = {name: atoms_of(EXAMPLES / f"1AVZ/{name}.pdb.gz") for name in ("near1", "mid2")}
OTHER = atoms_of(EXAMPLES / "1PPE/near1.pdb.gz")
OF_ANTIBODY = atoms_of(ANTIBODY)
SURE = {"near1": 0.9, "mid2": 0.4}
"""Model → its ipTM."""


def plddt(name: str) -> np.ndarray:
    """Of more residues than a model has, which differ from model to model."""
    return np.linspace(100 * SURE[name] - 20, 95, 999)


def alphafold_3(folder: Path) -> None:
    """Two samples of a seed, of which the summary says ipTM, and PAE with its tokens."""
    for number, (name, atoms) in enumerate(PAIR.items()):
        residues = [(a.chain, a.number) for a in atoms if a.name == "CA"]
        names, numbers = zip(*residues, strict=True)
        pae = 30.0 * (1 - SURE[name]) * (1 - np.eye(len(names)))
        tokens = {"token_chain_ids": names, "token_res_ids": numbers}
        job = f"seed-1_sample-{number}/job_seed-1_sample-{number}"
        scores = {"ptm": 0.8, "iptm": SURE[name], "ranking_score": SURE[name]}
        put(folder, {
            f"{job}_model.cif": with_b(atoms, plddt(name)),
            f"{job}_summary_confidences.json": scores,
            f"{job}_confidences.json": {"pae": pae.round(1), **tokens},
            "notes_of_mine.json": {},
        })  # fmt: skip


def alphafold_2(folder: Path) -> None:
    """Each `ranked_` file is a copy of an unrelaxed one; one more is an intermediate state."""
    order = {f"model_{n}_multimer_v3_pred_0": v for n, v in enumerate(SURE.values(), 1)}
    put(folder, {"ranking_debug.json": {"iptm+ptm": order, "order": [*order]}})
    for place, (model, name) in enumerate(zip(order, SURE, strict=True)):
        text = pdb(with_b(PAIR[name], plddt(name)))
        names = f"ranked_{place}.pdb", f"unrelaxed_{model}.pdb"
        put(folder, dict.fromkeys(names, text))
    put(folder, {f"unrelaxed_{model}_recycle_1.pdb": turned(PAIR["near1"], "B")})


def haddock(folder: Path) -> None:
    """Two poses with the table of the last step."""
    rows = ["model\tscore\tvdw\telec\tdesolv\tair\tbsa"]
    for number, atoms in enumerate(PAIR.values(), 1):
        text = f"REMARK HADDOCK run for x\n{pdb(atoms)}"
        put(folder / "3_emref", {f"emref_{number}.pdb": text})
        scores = -100 + 40 * number, -20, -300, 5, 1, 1400
        rows.append("\t".join(map(str, [f"../3_emref/emref_{number}.pdb", *scores])))
    put(folder / "4_caprieval", {"capri_ss.tsv": "\n".join([*rows, ""])})


def server_zip(folder: Path) -> None:
    """A job of the AlphaFold Server, as it is downloaded."""
    files = {}
    for number, (name, atoms) in enumerate(PAIR.items()):
        files[f"fold_x_model_{number}.cif"] = mmcif(atoms)
        scores = f'{{"iptm": {SURE[name]}, "ranking_score": {SURE[name]}}}'
        files[f"fold_x_summary_confidences_{number}.json"] = scores
    folder.mkdir()
    archived(folder / "fold_x.zip", files)


def antibody(folder: Path) -> None:
    """An antibody on its antigen, turned, away and without it."""
    antibody_decoys(folder, OF_ANTIBODY, "A")


def antibody_by_chains(folder: Path) -> None:
    """The same with a file that says that each chain is a partner."""
    antibody(folder / "T")
    put(folder, {"partners.csv": "target,partners\nT,chains\n"})


def ring_of_five(folder: Path) -> None:
    """Five copies of a chain in a ring, and the ring without one."""
    five = ring(chains_of(OF_ANTIBODY, "H"), 5, 24.0)
    write_pdb(folder / "whole.pdb", five)
    write_pdb(folder / "off.pdb", away(five, "C", 60.0))


def loose_chains(folder: Path) -> None:
    """A pair with one or two chains that touch nothing."""
    for name, far in {"one": {"C": 150.0}, "two": {"C": -90.0, "D": 300.0}}.items():
        atoms = [*PAIR["near1"]]
        for chain, x in far.items():
            atoms += shifted(renamed(chains_of(OTHER, "B"), {"B": chain}), x)
        write_pdb(folder / f"{name}.pdb", atoms)
    write_pdb(folder / "pair.pdb", PAIR["near1"])


def without_a_score(folder: Path) -> None:
    """Poses of a ligand without its receptor, an empty file and one that is no structure."""
    turns = {"x": (0, 2, 1), "y": (2, 1, 0), "z": (1, 0, 2)}
    mirror = np.array([-1, 1, 1])  # two axes exchanged are one, too
    for name, axes in turns.items():
        pose = moved(PAIR["mid2"], "AB", lambda xyz, axes=axes: mirror * xyz[[*axes]])
        write_pdb(folder / f"pose_{name}.pdb", pose)
    put(folder, {"empty.pdb": "", "broken.pdb": "ATOM nonsense\n"})


def screen(folder: Path) -> None:
    """A model of each of six complexes, and a folder with a file that is none."""
    for path in EXAMPLES.glob("*/mid1.*"):
        put(folder / path.parent.name, {path.name: path.read_bytes()})
    put(folder / "lost", {"lost.pdb": ""})


Answer = Callable[[Path], toporank.Results]


def of_made(make: Callable[[Path], None], file: str = "", **options: str) -> Answer:
    """Scores the folder that a function makes."""

    def scored(home: Path) -> toporank.Results:
        folder = home / "models"
        make(folder)
        return toporank.score(folder / file, **options)

    return scored


ANSWERS: dict[str, Answer] = {
    "colabfold": lambda _: toporank.score(EXAMPLE / "binder/colabfold"),
    "boltz_without_confidence": lambda _: toporank.score(EXAMPLE / "binder/boltz", confidence=False),
    "alphafold_3": of_made(alphafold_3),
    "alphafold_2": of_made(alphafold_2),
    "haddock": of_made(haddock),
    "server_zip": of_made(server_zip, "fold_x.zip"),
    "antibody": of_made(antibody),
    "antibody_by_chains": of_made(antibody_by_chains, targets="folder", rank_by="min_interface"),
    "ring_of_five": of_made(ring_of_five),
    "loose_chains": of_made(loose_chains),
    "without_a_score": of_made(without_a_score),
    "screen": of_made(screen, targets="folder"),
}  # fmt: skip
"""What it is → scores it, with a folder to work in."""


def printed(results: toporank.Results, home: Path) -> str:
    """What the command prints, and the notes."""
    lines = answer(results._scored, home / "OUT")
    text = "\n".join([*lines, "", *results.notes, ""])
    for place in (str(home), str(EXAMPLE), os.path.relpath(EXAMPLE)):
        text = text.replace(place, "…")
    return re.sub(rf"{tempfile.gettempdir()}/toporank_\w+", "…", text)


def tables(results: toporank.Results) -> dict[str, pd.DataFrame]:
    """The tables, without what lies elsewhere on each machine."""
    found = {}
    for name in TABLES:
        table = getattr(results, name).drop(columns=["path", "file"], errors="ignore")
        found[name] = table.round(DECIMALS)
    return found


def main() -> None:
    """Write the answers again."""
    for name, scored in ANSWERS.items():
        with tempfile.TemporaryDirectory() as home:
            results = scored(Path(home).resolve())
            folder = HERE / name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "printed.txt").write_text(printed(results, Path(home).resolve()))
            for kind, table in tables(results).items():
                table.to_csv(folder / f"{kind}.csv", index=False)
        print(name)


if __name__ == "__main__":
    main()
