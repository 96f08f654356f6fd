#!/usr/bin/env python3
"""Compare labels with those of a table, such as one made with DockQ 2.1.3, and look for the cause
of each difference.

    PYTHONPATH=lib python benchmarks/label_agreement.py TABLE FOLDER

TABLE has the columns target, decoy and dockq and may have group (a folder around the target's) and
partners (`AB:C`, each letter a chain). FOLDER holds `[<group>/]<target>/native.pdb` and
`[<group>/]<target>/<decoy>.pdb`.
"""

from __future__ import annotations

import argparse
import csv
import functools
import itertools
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from toporank.chains.alignment import align
from toporank.chains.chain import Chain
from toporank.chains.mapping import Mapping, correspond
from toporank.chains.match import same_residues
from toporank.chains.partners import Partners
from toporank.comparing.native.dockq import NativeInterface, residue_sides, score
from toporank.comparing.native.label import (
    DecoyScores,
    Interfaces,
    Native,
    Partner,
    label,
)
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex

LIMITS = (0.0001, 0.001, 0.003, 0.01)
ROUNDING = 0.00006
ENOUGH = 0.003
OTHER_SIDE = "the other of two equally long sides was superposed for LRMSD"
OTHER_MAPPING = "another mapping of the copies of a chain"
JOINED = "chains of a partner were joined before they were aligned"
MOST = 4096
"""Combinations of sides that are tried."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=Path)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    with open(args.table, encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))

    @functools.cache
    def native_of(path: Path, partners: Partners) -> tuple[Native, Complex]:
        complex_ = read_complex(path)
        return Native(complex_, partners), complex_

    differences, causes, seconds, n_without_native = [], Counter(), 0.0, 0
    for row in rows:
        folder = args.folder / row.get("group", "") / row["target"]
        if not (folder / "native.pdb").exists():
            n_without_native += 1
            continue
        partners = tuple(
            tuple(chains) for chains in row.get("partners", "").split(":") if chains
        )
        started = time.process_time()
        native, of_native = native_of(folder / "native.pdb", partners)
        decoy = read_complex(folder / f"{row['decoy']}.pdb")
        dockq = label(native, decoy).dockq
        seconds += time.process_time() - started
        expected = float(row["dockq"])
        differences.append(abs(dockq - expected))
        if differences[-1] > ENOUGH:
            cause = cause_of(expected, native, of_native, decoy)
            causes[cause] += 1
            print(
                f"{row['target']}/{row['decoy']}: {expected:.4f} in the table, {dockq:.4f} here: "
                f"{cause}"
            )
    if n_without_native:
        print(f"{n_without_native} rows left out: no native.pdb")
    n = len(differences)
    print(
        f"{n} labels, {seconds / n:.4f} CPU s each; largest difference {max(differences):.4f}"
    )
    for limit in LIMITS:
        within = sum(difference < limit + ROUNDING for difference in differences)
        print(f"within {limit}: {within} = {within / n:.3%}")
    for cause, count in causes.most_common():
        print(f"{count} differ by more than {ENOUGH}: {cause}")


def cause_of(
    expected: float, native: Native, of_native: Complex, decoy: Complex
) -> str:
    """The other choice that gives the value of the table."""
    for cause, value in other_choices(native, of_native, decoy):
        if abs(value - expected) < ROUNDING:
            return cause
    return "unknown"


def other_choices(
    native: Native, of_native: Complex, decoy: Complex
) -> Iterator[tuple[str, float]]:
    """Other ways to compute a label, and what each gives."""
    found = correspond(native.chains, decoy.protein_chains)
    native = native.with_chains(found.native)
    for alignment, find in WAYS.items():
        scored = DecoyScores(native, found.decoy, residue_sides(decoy), find)
        chosen = max(found.mappings, key=scored.sum_over_chains)
        for mapping in [chosen, *found.mappings]:
            interfaces = scored.interfaces(mapping, native.partners)
            if not interfaces:
                continue
            another = "" if mapping is chosen else OTHER_MAPPING
            yield told(alignment, another), mean_of(interfaces)
            for value in either_side(native, scored, mapping, interfaces):
                yield told(alignment, another, OTHER_SIDE), value
        if len(native.partners) == 2 and len(chosen) == len(native.chains):
            names = {own: own for own in native.chains}
            joined_native = Native(merged(of_native, native.partners, names))
            merged_decoy = merged(decoy, native.partners, chosen)
            joined = correspond(joined_native.chains, merged_decoy.protein_chains)
            sides = residue_sides(merged_decoy)
            scored = DecoyScores(joined_native, joined.decoy, sides, find)
            interfaces = scored.interfaces(joined.mappings[0], joined_native.partners)
            if interfaces:
                yield told(alignment, JOINED), mean_of(interfaces)


def told(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def mean_of(interfaces: Interfaces) -> float:
    return sum(scores.dockq for scores in interfaces.values()) / len(interfaces)


def first_alignment(native: Chain, decoy: Chain) -> np.ndarray:
    """As `same_residues`, the first of equally good alignments, which DockQ takes."""
    return align(native.sequence, decoy.sequence).residue


def either_side(
    native: Native, scored: DecoyScores, mapping: Mapping, interfaces: Interfaces
) -> Iterator[float]:
    """The labels when, of interfaces whose sides are equally long, the other side is superposed for
    LRMSD.
    """
    choices = []
    for (one, other), scores in interfaces.items():
        of_one = tuple(name for name in one if name in mapping)
        of_other = tuple(name for name in other if name in mapping)
        interface = native.interface(of_one, of_other)
        sides = []
        for side in (of_other, of_one):
            sides.append(scored.side({name: mapping[name] for name in side}))
        values = [scores.dockq]
        if len(sides[0].atoms) == len(sides[1].atoms):
            exchanged = NativeInterface(
                interface.sides[::-1], interface.pairs[:, ::-1], interface.contact
            )
            values.append(score(exchanged, tuple(sides)).dockq)
        choices.append(values)
    for values in itertools.islice(itertools.product(*choices), MOST):
        yield sum(values) / len(values)


def merged(complex_: Complex, partners: tuple[Partner, ...], names: Mapping) -> Complex:
    """The complex with the chains of each partner under one name. names : chain of the native → its
    own.
    """
    new_name = {
        names[name]: partner[0]
        for partner in partners
        for name in partner
        if name in names
    }
    residues = (
        residue._replace(chain=new_name.get(residue.chain, "other"))
        for residue in complex_.residues
    )
    return replace(complex_, residues=tuple(residues))


WAYS = {"": same_residues, "the first of equally good alignments": first_alignment}


if __name__ == "__main__":
    main()
