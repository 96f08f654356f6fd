#!/usr/bin/env python3
"""Make the example data set: rigid-body decoys of six complexes with labels.

The native complexes come from the source distribution of prodigy-prot (either
its tarball or the folder it unpacks to).  In each of them the smaller partner
is moved as a rigid body, DockQ scores every candidate, and the candidates that
fill the empty DockQ bins are kept.  The result is the same at every run:

    decoys/<target>/<decoy>.{pdb,pdb.gz,ent.gz,cif,cif.gz}
    labels.csv      columns Target,Model,DockQ,CAPRI,split

Needs Python 3.11, numpy<2 and DockQ==2.1.3 (see README.md).

Throughout, coordinates are arrays of float64 in angstrom; angles are in
degrees where a name ends in _deg and in radians elsewhere.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import io
import itertools
import math
import shutil
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np

# --- what is made -----------------------------------------------------------

SPLIT_OF_TARGET = {
    "1AVZ": "train",
    "1EMV": "val",
    "1GCQ": "train",
    "1KTZ": "val",
    "1PPE": "train",
    "2I25": "train",
}
APART_TARGET = "2I25"  # has the decoy whose chains do not touch
WATER_DECOY = ("1AVZ", 6)  # (target, rank) of the decoy that carries waters

# A decoy's rank is its place in its target, by falling DockQ, from 0.
DEFAULT_FORMATS = ("pdb.gz", "cif.gz", "pdb.gz")  # taken in turn by rank
SPECIAL_FORMATS = {
    ("1AVZ", 6): "pdb",
    ("1GCQ", 1): "pdb",
    ("1GCQ", 4): "cif",
    ("1KTZ", 3): "ent.gz",
}

SEED = 20240229
DOCKQ_VERSION = "2.1.3"
LABEL_DIGITS = 4
CAPRI_THRESHOLDS = (0.23, 0.49, 0.80)  # acceptable, medium, high
LABEL_COLUMNS = ("Target", "Model", "DockQ", "CAPRI", "split")

N_BINS = 10  # equal DockQ bins over 0..1
BIN_QUOTA = (2,) + (1,) * (N_BINS - 1)  # decoys wanted in each bin
MAX_DRAWS = 4000  # a target that is not full by then is an error

# --- where the natives lie in the source distribution ------------------------

DATASET_PATH = "tests/test_data/dataset.tgz"  # below the top folder
DATASET_SHA256 = "d4d1ec74d2bbf93570ea8d93f06d39edc74bac853daa513e99637a684b35e58c"
NATIVE_MEMBER = "PRODIGYdataset/{target}.pdb"

# --- chemistry and geometry ---------------------------------------------------

STANDARD_RESIDUES = frozenset(
    [
        "ALA",
        "ARG",
        "ASN",
        "ASP",
        "CYS",
        "GLN",
        "GLU",
        "GLY",
        "HIS",
        "ILE",
        "LEU",
        "LYS",
        "MET",
        "PHE",
        "PRO",
        "SER",
        "THR",
        "TRP",
        "TYR",
        "VAL",
    ]
)
BACKBONE = frozenset(("N", "CA", "C", "O"))
FIRST_ALTLOCS = frozenset((" ", "A", "1"))

CLASH_DISTANCE = 2.5  # angstrom, heavy atoms of different partners
MAX_CLASHES = 25  # atom pairs
MIN_DISTANCE = 1.7  # angstrom, heavy atoms of different partners
TOUCH_DISTANCE = 3.2  # angstrom; a partner is slid until pairs come this near
TOUCHING_PAIRS = (12, 48)  # how many such pairs end a slide (drawn)
CONTACT_DISTANCE = 5.0  # angstrom, heavy atoms
MIN_CONTACT_SHARE = 0.2  # of the native's contact pairs, for a sensible interface
APART_GAP = 25.0  # angstrom between the nearest atoms, well past any cutoff
WATER_DISTANCE = 2.9  # angstrom from the atom it binds
WATER_SLACK = 0.01  # angstrom, so that the bound atom itself does not count as too near
WATER_FIRST_NUMBER = 901
N_WATERS = 2


class Move(NamedTuple):
    """How a kind of decoy is made: ranges of turn and shift, and the slide."""

    turn_deg: tuple[float, float]
    shift: tuple[float, float]  # angstrom
    slide: bool  # bring the partner to touching distance afterwards


MOVES = {
    "near": Move((0.0, 5.0), (0.0, 1.0), slide=False),
    "mid": Move((4.0, 20.0), (1.0, 4.0), slide=True),
    "far": Move((20.0, 60.0), (2.0, 8.0), slide=True),
}
WRONG, APART = "wrong", "apart"
KIND_BINS = {  # the DockQ bins a kind may fill; the kinds are drawn in turn
    "near": range(6, 10),
    "mid": range(2, 9),
    "far": range(1, 5),
    WRONG: range(0, 1),
}


class Atom(NamedTuple):
    """What is said of an atom, its place aside."""

    name: str
    residue: str
    chain: str
    number: int
    icode: str  # " " for none

    @property
    def residue_key(self) -> tuple[str, int, str]:
        """What tells residues apart: chain, number, insertion code."""
        return self.chain, self.number, self.icode

    @property
    def element(self) -> str:
        """Right for the heavy atoms of the standard residues and of water."""
        return self.name[0]


@dataclass(frozen=True)
class Complex:
    """Two partners: n atoms, xyz (n, 3) in angstrom, moving (n,) of bool."""

    atoms: tuple[Atom, ...]
    xyz: np.ndarray
    moving: np.ndarray

    def place(self, ligand: np.ndarray) -> Complex:
        """The same complex with the moving partner at ligand, (m, 3)."""
        xyz = self.xyz.copy()
        xyz[self.moving] = ligand
        return replace(self, xyz=xyz)

    @property
    def ligand(self) -> np.ndarray:
        """Coordinates of the moving partner, (m, 3)."""
        return self.xyz[self.moving]

    @property
    def receptor(self) -> np.ndarray:
        """Coordinates of the partner that stays, (n - m, 3)."""
        return self.xyz[~self.moving]


class Decoy(NamedTuple):
    """A kept candidate; dockq is DockQ's of the candidate, unrounded."""

    kind: str
    complex: Complex
    dockq: float


# --- reading the natives --------------------------------------------------------


def read_dataset(source: Path) -> bytes:
    """The bytes of the data set archive in a source distribution.

    source is the distribution's tarball or the folder it unpacks to.
    """
    if source.is_dir():
        found = [source / DATASET_PATH, *sorted(source.glob(f"*/{DATASET_PATH}"))]
        data = next((path.read_bytes() for path in found if path.is_file()), None)
    else:
        with tarfile.open(source) as outer:
            names = [n for n in outer.getnames() if n.endswith("/" + DATASET_PATH)]
            data = outer.extractfile(names[0]).read() if names else None
    if data is None:
        raise FileNotFoundError(f"{source} holds no {DATASET_PATH}")
    if hashlib.sha256(data).hexdigest() != DATASET_SHA256:
        print(
            "warning: not the data set archive of prodigy-prot 2.4.0", file=sys.stderr
        )
    return data


def read_natives(source: Path, targets: Iterable[str]) -> dict[str, str]:
    """Target to the text of its native PDB file."""
    with tarfile.open(fileobj=io.BytesIO(read_dataset(source))) as archive:
        return {
            target: archive.extractfile(NATIVE_MEMBER.format(target=target))
            .read()
            .decode("ascii")
            for target in targets
        }


def first_model_lines(pdb_text: str) -> Iterator[str]:
    """The ATOM lines up to the first ENDMDL."""
    for line in pdb_text.splitlines():
        if line.startswith("ENDMDL"):
            return
        if line.startswith("ATOM  "):
            yield line


def clean_native(pdb_text: str) -> Complex:
    """Standard residues with a whole backbone, heavy atoms, first altloc.

    There must be two chains; the one with fewer atoms is the moving partner.
    """
    atoms: list[Atom] = []
    xyz: list[tuple[float, float, float]] = []
    for line in first_model_lines(pdb_text):
        atom = Atom(
            line[12:16].strip(), line[17:20], line[21], int(line[22:26]), line[26]
        )
        hydrogen = atom.name.lstrip("0123456789")[:1] in ("H", "D")
        if (
            hydrogen
            or atom.residue not in STANDARD_RESIDUES
            or line[16] not in FIRST_ALTLOCS
        ):
            continue
        atoms.append(atom)
        xyz.append((float(line[30:38]), float(line[38:46]), float(line[46:54])))

    names: dict[tuple[str, int, str], set[str]] = {}
    for atom in atoms:
        names.setdefault(atom.residue_key, set()).add(atom.name)
    kept = [i for i, atom in enumerate(atoms) if names[atom.residue_key] >= BACKBONE]
    atoms = [atoms[i] for i in kept]

    sizes = Counter(atom.chain for atom in atoms)
    if len(sizes) != 2:
        raise ValueError(f"two chains wanted, not {sorted(sizes)}")
    smaller = min(sizes, key=sizes.__getitem__)
    moving = np.array([atom.chain == smaller for atom in atoms])
    return Complex(tuple(atoms), np.array(xyz)[kept], moving)


# --- rigid-body moves -------------------------------------------------------------


def unit(vector: np.ndarray) -> np.ndarray:
    """The vector (k,) scaled to length 1."""
    return vector / np.linalg.norm(vector)


def random_unit_vector(rng: np.random.Generator) -> np.ndarray:
    """A direction drawn evenly from the sphere, (3,)."""
    return unit(rng.normal(size=3))


def rotation_matrix(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation about a unit axis (3,) by an angle in radians, (3, 3)."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * cross @ cross


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """A rotation drawn evenly from all of them, (3, 3), by a unit quaternion."""
    quaternion = unit(rng.normal(size=4))
    cosine, vector = quaternion[0], quaternion[1:]  # of half the angle
    sine = np.linalg.norm(vector)
    return rotation_matrix(vector / sine, 2.0 * math.atan2(sine, cosine))


def turn(points: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Points (n, 3) turned about their centroid by rotation (3, 3)."""
    centre = points.mean(axis=0)
    return (points - centre) @ rotation.T + centre


def squared_distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Squared distances (angstrom^2) of points (n, 3) and (m, 3), (n, m)."""
    return sum(np.square(np.subtract.outer(a[:, i], b[:, i])) for i in range(3))


def slide_to_touch(
    receptor: np.ndarray,
    ligand: np.ndarray,
    out: np.ndarray,
    distance: float,
    pairs: int,
) -> np.ndarray:
    """Slide the ligand along a line until it touches the receptor.

    receptor (n, 3), ligand (m, 3), out (3,) a unit vector that leads away from
    the receptor.  The ligand comes in from outside along -out and stops when
    `pairs` atom pairs have come within `distance` angstrom.  Returns (m, 3).

    At the offset t along out a pair lies at sqrt(perp2 + (along + t)^2), so it
    comes within the distance at t = sqrt(distance^2 - perp2) - along.
    """
    along = np.subtract.outer(-(receptor @ out), -(ligand @ out))
    room2 = distance**2 - (squared_distances(receptor, ligand) - along**2)
    meets = room2 > 0.0
    entries = np.sqrt(room2[meets]) - along[meets]
    if entries.size < pairs:
        raise ValueError("the ligand slides past the receptor")
    offset = np.partition(entries, -pairs)[-pairs]
    return ligand + offset * out


def perturb(native: Complex, move: Move, rng: np.random.Generator) -> Complex:
    """The native with its moving partner turned, shifted and perhaps slid."""
    angle = math.radians(rng.uniform(*move.turn_deg))
    ligand = turn(native.ligand, rotation_matrix(random_unit_vector(rng), angle))
    ligand = ligand + rng.uniform(*move.shift) * random_unit_vector(rng)
    if move.slide:
        out = unit(ligand.mean(axis=0) - native.receptor.mean(axis=0))
        pairs = int(rng.integers(*TOUCHING_PAIRS))
        ligand = slide_to_touch(native.receptor, ligand, out, TOUCH_DISTANCE, pairs)
    return native.place(ligand)


def misplace(native: Complex, rng: np.random.Generator) -> Complex:
    """The moving partner in a random orientation at a random side."""
    out = random_unit_vector(rng)
    ligand = turn(native.ligand, random_rotation(rng))
    ligand = ligand - ligand.mean(axis=0) + native.receptor.mean(axis=0)
    pairs = int(rng.integers(*TOUCHING_PAIRS))
    return native.place(
        slide_to_touch(native.receptor, ligand, out, TOUCH_DISTANCE, pairs)
    )


def pull_apart(native: Complex) -> Complex:
    """The moving partner moved straight out until APART_GAP is free."""
    out = unit(native.ligand.mean(axis=0) - native.receptor.mean(axis=0))
    return native.place(
        slide_to_touch(native.receptor, native.ligand, out, APART_GAP, 1)
    )


def count_pairs(model: Complex, distance: float) -> int:
    """Heavy-atom pairs of the two partners nearer than distance (angstrom)."""
    return int((squared_distances(model.receptor, model.ligand) < distance**2).sum())


def is_sensible(model: Complex, min_contacts: float) -> bool:
    """Few and mild clashes, and an interface of at least min_contacts atom pairs."""
    return (
        count_pairs(model, MIN_DISTANCE) == 0
        and count_pairs(model, CLASH_DISTANCE) <= MAX_CLASHES
        and count_pairs(model, CONTACT_DISTANCE) >= min_contacts
    )


# --- writing structures -------------------------------------------------------------


def place_waters(model: Complex) -> np.ndarray:
    """Oxygen positions of waters on the outermost receptor atoms, (N_WATERS, 3)."""
    outward = model.receptor - model.receptor.mean(axis=0)
    radius = np.linalg.norm(outward, axis=1)
    waters: list[np.ndarray] = []
    for i in np.argsort(-radius, kind="stable"):
        water = model.receptor[i] + WATER_DISTANCE * outward[i] / radius[i]
        others = np.vstack([model.xyz, *waters])
        if np.linalg.norm(others - water, axis=1).min() > WATER_DISTANCE - WATER_SLACK:
            waters.append(water)
        if len(waters) == N_WATERS:
            return np.array(waters)
    raise ValueError("no room for the waters")


def pdb_atom_line(record: str, serial: int, atom: Atom, xyz: np.ndarray) -> str:
    """One ATOM or HETATM line; xyz (3,) in angstrom, occupancy 1, B factor 0."""
    name = f" {atom.name:<3s}" if len(atom.name) < 4 else atom.name
    return (
        f"{record:<6s}{serial:5d} {name} {atom.residue:>3s} {atom.chain}{atom.number:4d}"
        f"{atom.icode}   {xyz[0]:8.3f}{xyz[1]:8.3f}{xyz[2]:8.3f}{1:6.2f}{0:6.2f}"
        f"          {atom.element:>2s}  "
    )


def to_pdb(target: str, name: str, model: Complex, waters: np.ndarray) -> str:
    """The complex as PDB text; waters (k, 3) follow as HETATM of the first chain."""
    lines = [
        f"HEADER    PROTEIN-PROTEIN DOCKING DECOY{'':23s}{target}".ljust(80),
        f"TITLE     RIGID-BODY DECOY {name.upper()} OF {target}, NOT AN EXPERIMENTAL MODEL".ljust(
            80
        ),
    ]
    serial = 0
    for _, chain in itertools.groupby(
        zip(model.atoms, model.xyz, strict=True), key=lambda a: a[0].chain
    ):
        for atom, xyz in chain:
            serial += 1
            lines.append(pdb_atom_line("ATOM", serial, atom, xyz))
        serial += 1
        end = f"TER   {serial:5d}      {atom.residue:>3s} {atom.chain}{atom.number:4d}{atom.icode}"
        lines.append(end.ljust(80))
    for i, xyz in enumerate(waters):
        serial += 1
        water = Atom("O", "HOH", model.atoms[0].chain, WATER_FIRST_NUMBER + i, " ")
        lines.append(pdb_atom_line("HETATM", serial, water, xyz))
    lines.append("END".ljust(80))
    return "\n".join(lines) + "\n"


CIF_COLUMNS = [
    "group_PDB",
    "id",
    "type_symbol",
    "label_atom_id",
    "label_alt_id",
    "label_comp_id",
    "label_asym_id",
    "label_entity_id",
    "label_seq_id",
    "pdbx_PDB_ins_code",
    "Cartn_x",
    "Cartn_y",
    "Cartn_z",
    "occupancy",
    "B_iso_or_equiv",
    "auth_seq_id",
    "auth_comp_id",
    "auth_asym_id",
    "auth_atom_id",
    "pdbx_PDB_model_num",
]


def to_cif(target: str, name: str, model: Complex) -> str:
    """The complex as mmCIF text: one atom_site loop, one entity for each chain."""
    lines = [
        f"data_{target}_{name}",
        "#",
        f"_entry.id   {target}_{name}",
        f"_struct.entry_id   {target}_{name}",
        f"_struct.title   'Rigid-body decoy {name} of {target}, not an experimental model'",
        "#",
        "loop_",
        *(f"_atom_site.{column}" for column in CIF_COLUMNS),
    ]
    serial = 0
    chains = itertools.groupby(
        zip(model.atoms, model.xyz, strict=True), key=lambda a: a[0].chain
    )
    for entity, (_, chain) in enumerate(chains, start=1):
        residues = itertools.groupby(chain, key=lambda a: a[0].residue_key)
        for position, (_, residue) in enumerate(residues, start=1):
            for atom, (x, y, z) in residue:
                serial += 1
                icode = "?" if atom.icode == " " else atom.icode
                lines.append(
                    f"ATOM {serial} {atom.element} {atom.name} . {atom.residue} {atom.chain} "
                    f"{entity} {position} {icode} {x:.3f} {y:.3f} {z:.3f} 1.00 0.00 "
                    f"{atom.number} {atom.residue} {atom.chain} {atom.name} 1"
                )
    lines.append("#")
    return "\n".join(lines) + "\n"


def gzip_bytes(data: bytes) -> bytes:
    """The data in gzip form, without a time or a file name in its header."""
    buffer = io.BytesIO()
    with gzip.GzipFile("", "wb", compresslevel=9, fileobj=buffer, mtime=0) as packed:
        packed.write(data)
    return buffer.getvalue()


def encode(
    target: str, name: str, model: Complex, form: str, waters: np.ndarray
) -> bytes:
    """The bytes of a decoy file of the form pdb, ent or cif, perhaps with .gz."""
    if form.startswith("cif"):
        if len(waters):
            raise ValueError("waters are written to PDB files alone")
        text = to_cif(target, name, model)
    else:
        text = to_pdb(target, name, model, waters)
    data = text.encode("ascii")
    return gzip_bytes(data) if form.endswith(".gz") else data


# --- scoring and choosing ----------------------------------------------------------


class Scorer:
    """DockQ against one native, its chains mapped to themselves."""

    def __init__(self, target: str, native: Complex, folder: Path) -> None:
        """Write the native into folder, where the candidates pass through too."""
        from DockQ.DockQ import load_PDB, run_on_all_native_interfaces

        self._load, self._run = load_PDB, run_on_all_native_interfaces
        self._target, self._folder, self._drawn = target, folder, 0
        self._native_path = folder / f"{target}_native.pdb"
        self._native_path.write_bytes(
            encode(target, "native", native, "pdb", np.empty((0, 3)))
        )
        self._chain_map = {
            chain: chain for chain in sorted({a.chain for a in native.atoms})
        }
        self._native = load_PDB(str(self._native_path))

    def score_file(self, path: Path) -> float:
        """DockQ of a file; DockQ caches by path, so no path may serve twice."""
        results, total = self._run(
            self._load(str(path)), self._native, chain_map=self._chain_map
        )
        if len(results) != 1:
            raise ValueError(f"one interface wanted in {path.name}, not {len(results)}")
        return float(total)

    def score(self, model: Complex) -> float:
        """DockQ of a complex, through a file of its own."""
        self._drawn += 1
        path = self._folder / f"{self._target}_{self._drawn}.pdb"
        path.write_bytes(
            encode(self._target, "candidate", model, "pdb", np.empty((0, 3)))
        )
        value = self.score_file(path)
        path.unlink()
        return value


def draw_decoys(
    native: Complex, scorer: Scorer, rng: np.random.Generator
) -> list[Decoy]:
    """Draw candidates, kind by kind in turn, until every DockQ bin is full.

    A kind is passed over once the bins it may fill are full.
    """
    min_contacts = MIN_CONTACT_SHARE * count_pairs(native, CONTACT_DISTANCE)
    wanted = list(BIN_QUOTA)
    decoys: list[Decoy] = []
    for kind in itertools.islice(itertools.cycle(KIND_BINS), MAX_DRAWS):
        if not any(wanted[slot] for slot in KIND_BINS[kind]):
            continue
        model = (
            misplace(native, rng)
            if kind == WRONG
            else perturb(native, MOVES[kind], rng)
        )
        if not is_sensible(model, min_contacts):
            continue
        dockq = scorer.score(model)
        slot = min(int(dockq * N_BINS), N_BINS - 1)
        if slot in KIND_BINS[kind] and wanted[slot]:
            wanted[slot] -= 1
            decoys.append(Decoy(kind, model, dockq))
        if not any(wanted):
            return decoys
    raise RuntimeError(f"bins still to fill after {MAX_DRAWS} draws: {wanted}")


def add_apart(decoys: list[Decoy], native: Complex, scorer: Scorer) -> list[Decoy]:
    """The decoys with the worst of them replaced by one without an interface."""
    model = pull_apart(native)
    worst = min(decoys, key=lambda decoy: decoy.dockq)
    return [d for d in decoys if d is not worst] + [
        Decoy(APART, model, scorer.score(model))
    ]


def name_decoys(decoys: list[Decoy]) -> list[tuple[str, Decoy]]:
    """(name, decoy) by falling DockQ; a name is the kind and a count from 1."""
    counts: Counter[str] = Counter()
    named = []
    for decoy in sorted(decoys, key=lambda d: -d.dockq):
        counts[decoy.kind] += 1
        named.append((f"{decoy.kind}{counts[decoy.kind]}", decoy))
    return named


def capri_class(dockq: float) -> int:
    """0 incorrect, 1 acceptable, 2 medium, 3 high."""
    return sum(dockq >= threshold for threshold in CAPRI_THRESHOLDS)


def file_format(target: str, rank: int) -> str:
    """The suffix, without its first dot, of the decoy of that rank."""
    default = DEFAULT_FORMATS[rank % len(DEFAULT_FORMATS)]
    return SPECIAL_FORMATS.get((target, rank), default)


def make_target(
    target: str, pdb_text: str, out: Path, scratch: Path
) -> list[dict[str, object]]:
    """Write the decoys of a target below out; the rows of labels.csv for them."""
    rng = np.random.default_rng([SEED, *target.encode("ascii")])
    native = clean_native(pdb_text)
    scorer = Scorer(target, native, scratch)
    decoys = draw_decoys(native, scorer, rng)
    if target == APART_TARGET:
        decoys = add_apart(decoys, native, scorer)

    folder = out / target
    folder.mkdir(parents=True)
    rows: list[dict[str, object]] = []
    for rank, (name, decoy) in enumerate(name_decoys(decoys)):
        model = decoy.complex
        waters = (
            place_waters(model) if (target, rank) == WATER_DECOY else np.empty((0, 3))
        )
        path = folder / f"{name}.{file_format(target, rank)}"
        path.write_bytes(encode(target, name, model, file_format(target, rank), waters))
        label = round(scorer.score_file(path), LABEL_DIGITS)
        values = (
            target,
            name,
            f"{label:.{LABEL_DIGITS}f}",
            capri_class(label),
            SPLIT_OF_TARGET[target],
        )
        rows.append(dict(zip(LABEL_COLUMNS, values, strict=True)))
    return rows


# --- command line --------------------------------------------------------------------


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """The command line: where the natives are and where the result goes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "source",
        type=Path,
        help="source distribution of prodigy-prot 2.4.0: tarball or folder",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(__file__).parent,
        help="folder for decoys/ and labels.csv, both replaced (default: this script's)",
    )
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Make decoys/ and labels.csv."""
    arguments = parse_arguments(argv)
    if version("DockQ") != DOCKQ_VERSION:
        sys.exit(f"DockQ {DOCKQ_VERSION} wanted, not {version('DockQ')}")

    natives = read_natives(arguments.source, SPLIT_OF_TARGET)
    decoys = arguments.out / "decoys"
    shutil.rmtree(decoys, ignore_errors=True)
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as scratch:
        for target in sorted(natives):
            rows += make_target(target, natives[target], decoys, Path(scratch))
            print(f"{target}: done", file=sys.stderr)

    with (arguments.out / "labels.csv").open(
        "w", newline="", encoding="ascii"
    ) as handle:
        writer = csv.DictWriter(handle, LABEL_COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
