"""What Snakemake costs with many decoys, as a Markdown table with its floors.

    PYTHONPATH=lib:tests/slurm python benchmarks/bench_scale.py [--decoys 1000] [--distinct 1000]

Counted are CPU seconds of the Snakemake process and everything it started and waited for, on two
cores, and the largest resident memory of any of these processes. The decoys are those of the
embedded example over and over under new names, as hard links: a tree with all of them built is real
in every file Snakemake and the preflight look at, but cheap to make, for equal content is computed
once and then found in the reuse store. The overhead of a build is measured with another set, in
which a last digit of one coordinate makes every decoy differ, so that everything is computed: what
the feature jobs say they spent on features is subtracted from the CPU seconds of the whole.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import gzip
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from one_node import cluster, missing

from toporank.app.config import load_config
from toporank.app.workflow.preflight import preflight
from toporank.building.chunks.ledger import Ledger, read_ledger, write_ledger
from toporank.building.chunks.published import (
    Published,
    made_of,
    place,
    write_published,
)
from toporank.files.atomic import link_or_copy, sha256
from toporank.layout import LEDGER

REPOSITORY = Path(__file__).parents[1]
EXAMPLE = REPOSITORY / "resources" / "example"
DECOYS_PER_TARGET = 1000
EXCHANGED = (b"ARG", b"ASN", b"GLU", b"LEU", b"LYS", b"MET", b"THR", b"TRP")
"""Residues of variants."""
JOB_SECONDS = re.compile(r"([0-9.]+) CPU s, ([0-9.]+) of them in features")

N_SOURCES = len(list(EXAMPLE.glob("decoys/*/*")))
MOST_BUILT = 20_000
"""With more decoys, the built state is laid out instead of built: links to the results of a small
real build.
"""

FLOORS = {
    "dry run, nothing built": {10_000: (2, 300), 100_000: (6, 1000)},
    "dry run, everything built": {10_000: (5, None), 100_000: (20, None)},
    "one changed decoy, whole rerun": {10_000: (15, None)},
}
"""What → number of decoys → most CPU seconds, most MB."""
MULTIPLES = {
    "dry run, nothing built": {10_000: 1.1},
    "dry run of scoring, nothing scored": {10_000: 1.3, 100_000: 4},
}
"""What → number of decoys → most CPU seconds, as a multiple of those of the imports."""
MOST_OVERHEAD = 12
"""ms of CPU for each decoy of a full build, beside its features."""
MOST_ON_NODE = 20
"""ms of CPU for each decoy on the nodes of a Slurm cluster, beside the jobs themselves."""


@dataclass(frozen=True)
class Cost:
    """CPU seconds of a process and its children; MB of the largest of them."""

    seconds: float
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--decoys", type=int, default=1000, help="of the dry runs and the rerun"
    )
    parser.add_argument(
        "--distinct",
        type=int,
        default=1000,
        help="of the build whose overhead is measured; 0: none",
    )
    parser.add_argument(
        "--on-slurm", type=int, default=1000, help="of the build on Slurm; 0: none"
    )
    parser.add_argument(
        "--no-build", action="store_true", help="only the dry run with nothing built"
    )
    parser.add_argument(
        "--shapes",
        type=int,
        default=0,
        help="of the dry runs: models of so many variants of the complexes, each with "
        "a sequence and a shape of its own; 0: those of the example",
    )
    parser.add_argument(
        "--folder", type=Path, help="where to work, and to leave what was made"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="toporank-scale-") as temporary:
        folder = args.folder or Path(temporary)
        rows = list(
            overhead(folder / "distinct", args.distinct) if args.distinct else ()
        )
        if args.on_slurm and not missing():
            rows += on_slurm(folder / "slurm", args.on_slurm)
        elif args.on_slurm:
            print(
                f"Slurm is not measured: missing here: {', '.join(missing())}",
                file=sys.stderr,
            )
        rows += many(
            folder / "equal", args.decoys, build=not args.no_build, shapes=args.shapes
        )
        print(
            "\n".join(
                [
                    "| | decoys | CPU s | MB | floor | |",
                    "| --- | ---: | ---: | ---: | --- | --- |",
                    *rows,
                ]
            )
        )
    if any("**missed**" in row for row in rows):
        raise SystemExit("a floor was missed")


def many(home: Path, n: int, *, build: bool, shapes: int = 0) -> Iterator[str]:
    """Dry runs before and after a build of n decoys, and a rerun with one of them changed."""
    decoys = make_dataset(home, n, distinct=False, shapes=shapes)
    snakemake(home, "-n")  # the first start reads files that later ones find in memory
    imports = imported()
    yield row("imports of a dry run", 0, imports)
    building = snakemake(home, "-n")
    yield row("dry run, nothing built", n, building)
    yield multiple("dry run, nothing built", n, building, imports)
    settings = ("score", "--config", "score_decoys=decoys", "score_name=scored")
    scoring = snakemake(home, "-n", target=settings)
    yield row("dry run of scoring, nothing scored", n, scoring)
    yield multiple("dry run of scoring, nothing scored", n, scoring, imports)
    if not build:
        return
    if n <= MOST_BUILT:
        yield row("build, content known", n, snakemake(home))
    else:
        lay_out(home, home.with_name("sample"))
    yield row("dry run, everything built", n, snakemake(home, "-n"))
    if "Nothing to be done" not in (home / "printed.txt").read_text():
        raise AssertionError("not everything was built")
    if n > MOST_BUILT:  # there is no reuse store
        return
    changed = next(path for path in decoys if path.suffix == ".gz")
    text = gzip.decompress(changed.read_bytes())
    changed.unlink()  # it is a link
    changed.write_bytes(
        gzip.compress(
            b"REMARK   changed\n" + text
            if b"data_" not in text[:9]
            else b"# changed\n" + text
        )
    )
    yield row("one changed decoy, whole rerun", n, snakemake(home))


def lay_out(home: Path, sample: Path) -> None:
    """Bring a data set to its built state from a real build of the example's decoys, which it
    consists of.

    Every artefact becomes a link, every ledger is written, and Snakemake takes note of them as its
    own.
    """
    make_dataset(sample, N_SOURCES, distinct=False)
    snakemake(sample)
    ledgers = [
        read_ledger(path) for path in (sample / "results/many/ledger").glob("*.tsv")
    ]
    fates = {row.decoy: row for ledger in ledgers for row in ledger.rows}
    names, table = sorted(fates), {}
    with contextlib.chdir(home):
        config = load_config(yaml.safe_load(Path("config/config.yaml").read_text()))
        check = preflight(config, choices=config.choices(), check_dssp=False)
        check.write_plans()
        for chunk, members in check.of("many").chunks.items():
            rows = []
            for member in members:
                fate = fates[names[int(member.decoy[1:]) % N_SOURCES]]
                for stage, digest in fate.artefacts.items():
                    path = place("many", stage, *member.key)
                    link_or_copy(
                        sample.resolve() / place("many", stage, *fate.key), path
                    )
                    state = path.stat()
                    table[stage, *member.key] = Published(
                        artefact=digest,
                        file=sha256(path),
                        state=(state.st_size, state.st_mtime_ns),
                        made_of=made_of(member, stage, ledgers[0].recipes),
                    )
                rows.append(fate._replace(target=member.target, decoy=member.decoy))
            write_ledger(
                Path(LEDGER.format(dataset="many", chunk=chunk)),
                Ledger(ledgers[0].recipes, rows),
            )
        write_published("many", table)
    snakemake(home, "--touch")
    snakemake(home)  # the coverage


def overhead(home: Path, n: int) -> Iterator[str]:
    """A build of n decoys of different content."""
    make_dataset(home, n, distinct=True)
    cost = snakemake(home)
    jobs, features = job_seconds(home)
    yield row("full build, every content new", n, cost)
    yield f"| … of which features | {n:,} | {features:.1f} | | | |"
    yield f"| … of which starts and files of the jobs | {n:,} | {jobs - features:.1f} | | | |"
    yield f"| … of which Snakemake | {n:,} | {cost.seconds - jobs:.1f} | | | |"
    yield each_decoy("… overhead", n, cost.seconds - features, MOST_OVERHEAD)


def on_slurm(home: Path, n: int) -> Iterator[str]:
    """A build of n decoys of known content on a Slurm of one node: what the node spends beside the
    jobs.
    """
    make_dataset(home, n, distinct=False)
    settings = "--profile slurm --slurm-status-command squeue --slurm-init-seconds-before-status-checks 10"
    with cluster(home / "cluster", memory=20_000) as environment:
        snakemake(home, *settings.split(), **environment)
    node = float((home / "cluster/node_seconds").read_text())
    jobs, _ = job_seconds(home)
    yield f"| build on Slurm, content known, on the node | {n:,} | {node:.1f} | | | |"
    yield each_decoy("… of which not the jobs themselves", n, node - jobs, MOST_ON_NODE)


def job_seconds(home: Path) -> tuple[float, float]:
    """CPU seconds that the feature jobs say they used, and used for features."""
    said = JOB_SECONDS.findall(
        "".join(path.read_text() for path in home.glob("logs/*/many/*.log"))
    )
    jobs, features = (sum(map(float, column)) for column in zip(*said, strict=True))
    return jobs, features


def each_decoy(what: str, n: int, seconds: float, most: float) -> str:
    """A line of the table about milliseconds a decoy."""
    each = 1000 * seconds / n
    return (
        f"| {what}, a decoy | {n:,} | {each:.1f} ms | | ≤ {most} ms | "
        f"{'met' if each <= most else '**missed**'} |"
    )


def row(what: str, n: int, cost: Cost) -> str:
    """A line of the table, with the floor where there is one for this number of decoys."""
    seconds, megabytes = FLOORS.get(what, {}).get(n, (None, None))
    floor = ", ".join(
        [f"≤ {seconds} s"] * bool(seconds) + [f"≤ {megabytes} MB"] * bool(megabytes)
    )
    missed = cost.seconds > (seconds or 1e9) or cost.megabytes > (megabytes or 1e9)
    verdict = ("**missed**" if missed else "met") if floor else ""
    return f"| {what} | {n:,} | {cost.seconds:.1f} | {cost.megabytes:.0f} | {floor} | {verdict} |"


def multiple(what: str, n: int, cost: Cost, imports: Cost) -> str:
    """A line of the table: CPU seconds as a multiple of those of the imports."""
    ratio = cost.seconds / imports.seconds
    most = MULTIPLES.get(what, {}).get(n)
    floor, verdict = "", ""
    if most:
        floor, verdict = f"≤ {most} ×", "met" if ratio <= most else "**missed**"
    return f"| {what}, multiple of the imports | {n:,} | {ratio:.2f} × | | {floor} | {verdict} |"


def imported() -> Cost:
    """What Snakemake and the modules that the Snakefile imports cost alone."""
    modules = (
        "snakemake.cli, toporank.app.workflow.inputs, toporank.app.workflow.preflight"
    )
    command = [sys.executable, "-c", f"import {modules}"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "lib")}
    process = subprocess.Popen(command, env=environment)
    _, _, used = os.wait4(process.pid, 0)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def make_dataset(home: Path, n: int, *, distinct: bool, shapes: int = 0) -> list[Path]:
    """n decoys in targets of a thousand, labelled; their paths.

    shapes : of how many variants they are, over and over; 0: of the example's models.
    """
    with open(EXAMPLE / "labels.csv", newline="") as handle:
        labels = {(r["Target"], r["Model"]): r["DockQ"] for r in csv.DictReader(handle)}
    files = sorted(path for path in EXAMPLE.glob("decoys/*/*") if path.is_file())
    if shapes:
        files = make_variants(home / "variants", files, shapes)
    sources = itertools.cycle(files)
    rows, paths = ["Target,Model,DockQ,split"], []
    for i, source in zip(range(n), sources, strict=False):
        target, (stem, _, suffix) = (
            f"T{i // DECOYS_PER_TARGET:03d}",
            source.name.partition("."),
        )
        path = home / "decoys" / target / f"d{i:06d}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        paths.append(path)
        if not distinct:
            os.link(source, path)
        else:
            packed = source.suffix == ".gz"
            content = (
                gzip.decompress(source.read_bytes()) if packed else source.read_bytes()
            )
            content = moved(content, i)
            path.write_bytes(gzip.compress(content, 1) if packed else content)
        if (source.parent.name, stem) in labels:
            split = "val" if target == "T000" else "train"
            rows.append(f"{target},d{i:06d},{labels[source.parent.name, stem]},{split}")
    (home / "config").mkdir()
    (home / "config/config.yaml").write_text(
        "datasets: [{name: many, decoys: decoys, labels: labels.csv}]\n"
    )
    (home / "labels.csv").write_text("\n".join(rows) + "\n")
    return paths


def make_variants(folder: Path, files: Sequence[Path], n: int) -> list[Path]:
    """Models with other residues in up to eight places, and a first coordinate of their own.

    They are called as the models that they were made of, and so are their folders.
    """
    rng = random.Random(1)
    variants = []
    sources = itertools.cycle(path for path in files if path.name.endswith(".pdb.gz"))
    for number, source in zip(range(n), sources, strict=False):
        content = moved(gzip.decompress(source.read_bytes()), number)
        lines = content.split(b"\n")
        # chain and number
        residues = sorted({line[21:27] for line in lines if line[:4] == b"ATOM"})
        names = {residue: rng.choice(EXCHANGED) for residue in rng.sample(residues, 8)}
        for i, line in enumerate(lines):
            if line[:4] == b"ATOM" and line[21:27] in names:
                lines[i] = line[:17] + names[line[21:27]] + line[20:]
        name = source.name.removesuffix(".gz")
        path = folder / str(number) / source.parent.name / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"\n".join(lines))
        variants.append(path)
    return variants


def moved(content: bytes, number: int) -> bytes:
    """A structure with its first coordinate moved by some thousandths of an Å, as many as its
    number says.
    """
    x = re.search(rb"^ATOM.*?(-?\d+\.\d{3})", content, re.MULTILINE)
    other = b"%.3f" % (float(x[1]) + (number + 1) / 1000)
    return (
        content[: x.start(1)]
        + other.rjust(len(x[1]))[-len(x[1]) :].rjust(len(x[1]))
        + content[x.end(1) :]
    )


def snakemake(
    home: Path,
    *arguments: str,
    target: Sequence[str] = ("build_graphs",),
    **environment: str,
) -> Cost:
    """Run Snakemake on two cores; raises CalledProcessError when it fails."""
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        str(REPOSITORY / "Snakefile"),
        "--cores",
        "2",
    ]
    command += ["--directory", str(home), *arguments, *target]
    with open(home / "printed.txt", "w") as printed:
        process = subprocess.Popen(
            command,
            stdout=printed,
            stderr=subprocess.STDOUT,
            cwd=REPOSITORY,
            env=environment or None,
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(
            process.returncode, command, (home / "printed.txt").read_text()
        )
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
