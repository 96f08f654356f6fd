"""How well clusters of targets agree with a table of clusters made otherwise.

    PYTHONPATH=lib python benchmarks/bench_clusters.py DATA

DATA : a folder with `natives.csv` (id, partners, kind, cluster), `predicted_labels.csv` (group,
target, cluster), `natives.structures`, `predicted.structures` and `structures.py`, which unpacks
them. Where MMseqs2 is installed, the clusters that it adds to are measured, too.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

from toporank.chains.kmers import ANTIBODY, PROTEIN, kind_of
from toporank.chains.thresholds import ALIKE
from toporank.comparing.homology.clusters import clusters, hold_out, nearest, references
from toporank.comparing.homology.mmseqs import aligned
from toporank.structures.read import read_complex


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    natives = {f"{row['id']}/bound": row for row in rows(data / "natives.csv")}
    models = {
        f"{row['group']}/{row['target']}/native": row
        for row in rows(data / "predicted_labels.csv")
    }
    chains = dict(read(data, "natives", natives)) | dict(
        read(data, "predicted", models)
    )
    print_antibodies(natives, chains)
    print_leaks({name: chains[name] for name in natives})
    theirs = {target: row["cluster"] for target, row in (natives | models).items()}
    print_clusters(chains, theirs)
    if shutil.which("mmseqs"):
        print_homologues({name: chains[name] for name in natives})
        print("with MMseqs2, and compared with ours without it:")
        print_clusters(chains, clusters(comparable(chains)), align=True)


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def read(data: Path, pack: str, wanted: dict) -> Iterator[tuple[str, dict[str, str]]]:
    """Chains of each structure of a pack that is wanted."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "one.pdb")
        for name, text in unpacker(data)(data / f"{pack}.structures"):
            if name in wanted:
                file.write_text(text)
                yield name, read_complex(file).sequences


def unpacker(data: Path) -> Callable:
    """`unpack` of structures.py, which yields names and texts of PDB files."""
    spec = importlib.util.spec_from_file_location("structures", data / "structures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.unpack


def print_antibodies(natives: dict, chains: dict) -> None:
    """Chains told to be antibodies: of the partner that holds more of them in an antibody's
    complex, and elsewhere.
    """
    counts = {"antibody": [0, 0], "other": [0, 0]}
    for name, row in natives.items():
        sides = [
            [chains[name][c] for c in side if c in chains[name]]
            for side in row["partners"].split(":")
        ]
        told = [[kind_of(sequence) == ANTIBODY for sequence in side] for side in sides]
        told.sort(key=lambda side: sum(side) / max(1, len(side)))
        parts = (
            {"other": told[0] + told[1]}
            if row["kind"] in ("hetero", "homo")
            else zip(counts, told[::-1], strict=True)
        )
        for part, found in dict(parts).items():
            counts[part][0] += sum(found)
            counts[part][1] += len(found)
    for part, (found, of) in counts.items():
        print(f"{part} chains of the natives: {found} of {of} told to be antibodies")


def print_leaks(chains: dict) -> None:
    """Share of the validation targets that share a chain with a training target, split either
    way.
    """
    compared = comparable(chains)
    for name, groups in (
        ("target", {target: target for target in compared}),
        ("cluster", clusters(compared)),
    ):
        shares = []
        for seed in range(5):
            held = hold_out(groups, 20, seed)
            known = references(
                {target: compared[target] for target in compared.keys() - held}
            )
            near = [
                n
                for n in nearest(
                    {target: compared[target] for target in held}, known
                ).values()
                if n
            ]
            shares.append(sum(n.containment >= ALIKE for n in near) / len(near))
        print(
            f"split by {name}: {', '.join(f'{share:.0%}' for share in shares)} of the validation "
            "targets leak"
        )


def comparable(chains: dict) -> dict[str, list[str]]:
    return {
        t: [s for s in found.values() if kind_of(s) == PROTEIN]
        for t, found in chains.items()
    }


def print_homologues(chains: dict) -> None:
    """Share of the validation targets, split by cluster, with a chain that MMseqs2 finds in a
    training target.
    """
    compared = comparable(chains)
    sequences = sorted({sequence for found in compared.values() for sequence in found})
    targets = [
        {target for target, found in compared.items() if sequence in found}
        for sequence in sequences
    ]
    near: dict[str, set[str]] = {}
    for a, b in aligned(sequences):
        for one, other in ((one, other) for one in targets[a] for other in targets[b]):
            near.setdefault(one, set()).add(other)
            near.setdefault(other, set()).add(one)
    groups, shares = clusters(compared), []
    for seed in range(5):
        held = [target for target in hold_out(groups, 20, seed) if compared[target]]
        shares.append(
            sum(not near.get(target, set()) <= set(held) for target in held) / len(held)
        )
    print(
        f"split by cluster: {', '.join(f'{share:.0%}' for share in shares)} have a homologue to "
        "train on"
    )


def print_clusters(chains: dict, theirs: dict, *, align: bool = False) -> None:
    """Pairs of targets that are in one cluster in both, in ours alone, in theirs alone."""
    compared = comparable(chains)
    started = sum(os.times()[:4])
    ours = clusters(compared, align=align)
    seconds = sum(os.times()[:4]) - started
    print(
        f"{len(ours)} targets in {len(set(ours.values()))} clusters, in "
        f"{len(set(theirs.values()))} of theirs;"
        f" {seconds:.1f} CPU s"
    )
    holds = {
        target: any(kind_of(s) == ANTIBODY for s in found.values())
        for target, found in chains.items()
    }
    counts = dict.fromkeys(
        ("both", "ours", "theirs", "theirs, both with an antibody chain"), 0
    )
    for a, b in combinations(sorted(ours), 2):
        one, other = ours[a] == ours[b], theirs[a] == theirs[b]
        if one or other:
            counts["both" if one and other else "ours" if one else "theirs"] += 1
            counts["theirs, both with an antibody chain"] += (
                other and not one and holds[a] and holds[b]
            )
    for name, n in counts.items():
        print(
            f"pairs in one cluster in {name}{'' if name == 'both' or ',' in name else ' alone'}: "
            f"{n}"
        )


if __name__ == "__main__":
    main()
