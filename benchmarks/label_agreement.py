#!/usr/bin/env python3
"""Compare labels with those of a table, such as one made with DockQ 2.1.3, and look for the cause of each difference.

    PYTHONPATH=lib python benchmarks/label_agreement.py TABLE FOLDER

TABLE has the columns target, decoy and dockq and may have group (a folder around the target's) and partners (`AB:C`,
each letter a chain). FOLDER holds `[<group>/]<target>/native.pdb` and `[<group>/]<target>/<decoy>.pdb`.
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

from toporank.comparing.native.chains import chains_of

from toporank.comparing.native.dockq import Interface, score
from toporank.comparing.native.label import Label, Native, Partner, _Decoy, _side, label
from toporank.comparing.native.mapping import mappings
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex

LIMITS = (0.0001, 0.001, 0.003, 0.01)
ROUNDING = 0.00006
ENOUGH = 0.003
OTHER_SIDE = "the other of two equally long sides was superposed for LRMSD"
MOST = 4096
"""Combinations of sides that are tried."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    with open(args.table, encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))

    @functools.cache
    def native(path: Path, partners: tuple[Partner, ...]) -> Native:
        return Native(read_complex(path), partners)

    differences, causes, seconds, examined, skipped = [], Counter(), 0.0, 0, 0
    for row in rows:
        place = args.folder / row.get("group", "") / row["target"]
        if not (place / "native.pdb").exists():
            skipped += 1
            continue
        partners = tuple(tuple(chains) for chains in row.get("partners", "").split(":") if chains)
        started = time.process_time()
        of_target, decoy = native(place / "native.pdb", partners), read_complex(place / f"{row['decoy']}.pdb")
        found = label(of_target, decoy)
        seconds += time.process_time() - started
        expected, examined = float(row["dockq"]), examined + 1
        differences.append(abs(found.dockq - expected))
        if differences[-1] > ENOUGH:
            complex_ = read_complex(place / "native.pdb")
            tried = others(of_target, complex_, decoy, found)
            cause = next((why for why, value in tried if abs(value - expected) < ROUNDING), "unknown")
            causes[cause] += 1
            print(f"{row['target']}/{row['decoy']}: {expected:.4f} in the table, {found.dockq:.4f} here: {cause}")
    if skipped:
        print(f"{skipped} rows left out: no native.pdb")
    print(f"{examined} labels, {seconds / examined:.4f} CPU s each; largest difference {max(differences):.4f}")
    for limit in LIMITS:
        within = sum(difference < limit + ROUNDING for difference in differences)
        print(f"within {limit}: {within} = {within / examined:.3%}")
    for cause, n in causes.most_common():
        print(f"{n} differ by more than {ENOUGH}: {cause}")


def others(native: Native, complex_: Complex, decoy: Complex, found: Label) -> Iterator[tuple[str, float]]:
    """Other ways to compute a label, and what each gives."""
    scored = _Decoy(native, chains_of(decoy))
    yield from ((OTHER_SIDE, value) for value in either_side(native, scored, found))
    if len(native.partners) == 2 and len(found.mapping) == len(native.chains):
        merged = [joined(one, native.partners, names) for one, names in ((complex_, None), (decoy, found.mapping))]
        yield "chains of a partner were joined before they were aligned", label(Native(merged[0]), merged[1]).dockq
    for mapping in mappings(native.chains, chains_of(decoy)):
        interfaces = scored.interfaces(mapping, native.partners)
        if interfaces:
            mean = sum(scores.dockq for scores in interfaces.values()) / len(interfaces)
            yield "another mapping of the copies of a chain", mean
            sides = either_side(native, scored, Label(mean, mapping, interfaces, ()))
            yield from ((f"another mapping, and {OTHER_SIDE}", value) for value in sides)


def either_side(native: Native, scored: _Decoy, found: Label) -> Iterator[float]:
    """The labels when, of interfaces whose sides are equally long, the other side is superposed for LRMSD."""
    choices = []
    for pair, scores in found.interfaces.items():
        one, other = (tuple(name for name in side if name in found.mapping) for side in pair)
        interface = native.interface(one, other)
        exchanged = Interface(interface.sides[::-1], interface.pairs[:, ::-1], interface.contact)
        sides = [_side([scored._follow(name, found.mapping[name]) for name in side]) for side in (other, one)]
        equal = len(sides[0].atoms) == len(sides[1].atoms)
        choices.append((scores.dockq, score(exchanged, sides).dockq) if equal else (scores.dockq,))
    for values in itertools.islice(itertools.product(*choices), MOST):
        yield sum(values) / len(values)


def joined(complex_: Complex, partners: tuple[Partner, ...], names: dict[str, str] | None) -> Complex:
    """The complex with the chains of each partner under one name."""
    own = {(names or {}).get(name, name): partner[0] for partner in partners for name in partner}
    return replace(complex_, residues=tuple(r._replace(chain=own.get(r.chain, "other")) for r in complex_.residues))


if __name__ == "__main__":
    main()
