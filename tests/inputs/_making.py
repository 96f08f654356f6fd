"""Small files of every kind that people bring; what each is for is told in `_cases.py`."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from structures_text import EXAMPLES, Atom, changed, mmcif, pair, pdb, pdb_line, write
from toporank.structures.text import MAX_BYTES


def base() -> list[Atom]:
    """Twelve residues each of two chains that touch: A:203-214 and B:626-637 of an example decoy,
    190 atoms.
    """
    atoms = []
    for s in (EXAMPLES / "1GCQ" / "mid1.pdb").read_text().splitlines():
        number = int(s[22:26]) if s.startswith("ATOM") else 0
        if (s[21:22] == "A" and 203 <= number <= 214) or (s[21:22] == "B" and 626 <= number <= 637):
            xyz = [float(s[i : i + 8]) for i in (30, 38, 46)]
            atoms.append(
                Atom(s[12:16].strip(), s[17:20], s[21], number, *xyz, element=s[76:78].strip())
            )
    return atoms


def chain(name: str) -> list[Atom]:
    return [a for a in base() if a.chain == name]


def renamed(**names: str) -> list[Atom]:
    """The atoms with other chain names."""
    return [replace(a, chain=names[a.chain]) for a in base()]


def with_residue(which: int, **other) -> list[Atom]:
    """The atoms, those of one residue with other values."""
    return [replace(a, **other) if a.number == which else a for a in base()]


def with_atom(position: int, **other) -> list[Atom]:
    atoms = base()
    atoms[position] = replace(atoms[position], **other)
    return atoms


def shifted(atoms: Iterable[Atom], x: float) -> list[Atom]:
    return [replace(a, x=round(a.x + x, 3)) for a in atoms]


def shifted_residue(which: int, **other) -> list[Atom]:
    """`with_residue`, where this residue stands 9 Å aside."""
    return [
        a
        for atom in with_residue(which, **other)
        for a in shifted([atom], 9.0 * (atom.number == which))
    ]


def text(name: str, content: str | bytes | Callable[[], str | bytes]) -> Callable[[Path], Path]:
    """Make a file of this name; gzipped when the name says so."""
    return lambda folder: write(folder / name, content() if callable(content) else content)


def raw(name: str, content: Callable[[], bytes]) -> Callable[[Path], Path]:
    """Make a file of these very bytes, whatever its name says."""

    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content())
        return folder / name

    return make


def in_pdb(atoms: Callable[[], Iterable[Atom]]) -> Callable[[Path], Path]:
    return text("d.pdb", lambda: pdb(atoms()))


def in_mmcif(atoms: Callable[[], Iterable[Atom]]) -> Callable[[Path], Path]:
    return text("d.cif", lambda: mmcif(atoms()))


def zipped() -> bytes:
    return gzip.compress(pdb(base()).encode())


def flipped() -> bytes:
    """A gzip file with one byte in its middle changed."""
    data = zipped()
    return data[:900] + bytes([data[900] ^ 255]) + data[901:]


def in_parts() -> bytes:
    """A gzip file of one part for each chain."""
    return b"".join(gzip.compress(pdb(chain(c)).encode()) for c in "AB")


def decorated() -> str:
    """With everything that may stand around the atoms."""
    cell = "CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1"
    end = "TER\nCONECT    1    2\nMASTER\nEND\n"
    return (
        f"HEADER    X\n{cell}\n{pdb(chain('A'))}TER     999      ALA A 214\n{pdb(chain('B'))}{end}"
    )


def each_line(change: Callable[[str], str]) -> str:
    return "".join(change(line) + "\n" for line in pdb(base()).splitlines())


def two_blocks() -> str:
    return mmcif(base()) + mmcif(pair()).replace("data_test", "data_two")


def shared_name() -> list[Atom]:
    """Chain B and, 30 Å away, another of that name."""
    return base() + shifted(chain("B"), 30.0)


def called_a() -> str:
    """Chain B under the name of chain A."""
    return pdb(changed(chain("B"), chain="A"))


def one_name_of_three() -> str:
    """Chains A and B, and behind TER a third, which is called B, too."""
    third = [a for a in three_chains() if a.chain == "C"]
    return f"{pdb(base())}TER\n{pdb(changed(third, chain='B'))}TER\n"


def ter_at_gap() -> str:
    """TER where chain B lacks three residues."""
    before = [a for a in chain("B") if a.number < 631]
    behind = [a for a in chain("B") if a.number > 633]
    return f"{pdb(chain('A'))}TER\n{pdb(before)}TER\n{pdb(behind)}TER\n"


def two_models() -> list[Atom]:
    return [*base(), *changed(shifted(base(), 9.0), model=2)]


def empty_authors() -> str:
    return table(ALPHAFOLD3, base(), auth_seq_id=lambda a: "?", auth_asym_id=lambda a: ".")


def long_everything() -> str:
    return table(
        ALPHAFOLD3,
        with_residue(210, residue="MODIFIED_LYSINE"),
        label_entity_id=lambda a: f"entity_{a.chain}_of_the_complex",
    )


def numberless() -> str:
    return table(LABELS, base(), label_seq_id=lambda a: "." if a.number == 210 else a.number)


def link(folder: Path) -> Path:
    (folder / "d.pdb").symlink_to("gone.pdb")
    return folder / "d.pdb"


def directory(folder: Path) -> Path:
    (folder / "d.pdb").mkdir()
    return folder / "d.pdb"


def device(folder: Path) -> Path:
    (folder / "d.pdb").symlink_to("/dev/zero")
    return folder / "d.pdb"


def forbidden(folder: Path) -> Path:
    path = write(folder / "d.pdb", pdb(base()))
    path.chmod(0)
    return path


def bomb(folder: Path) -> Path:
    """A file of a quarter of a megabyte that unpacks to more than is allowed."""
    piece = gzip.compress(b" " * (MAX_BYTES // 64))
    (folder / "d.pdb.gz").write_bytes(piece * 65)
    return folder / "d.pdb.gz"


def table(columns: str, atoms: Iterable[Atom], **other: Callable[[Atom], object]) -> str:
    """An _atom_site table with exactly these columns; `other` gives the values of columns that are
    special.
    """
    usual = {
        "group_PDB": lambda a: "HETATM" if a.het else "ATOM", "type_symbol": lambda a: a.element,
        "label_alt_id": lambda a: ".", "label_entity_id": lambda a: 1 + (a.chain == "B"),
        "pdbx_PDB_ins_code": lambda a: a.insertion_code or "?",
        "Cartn_x": lambda a: a.x, "Cartn_y": lambda a: a.y, "Cartn_z": lambda a: a.z,
        "occupancy": lambda a: 1, "B_iso_or_equiv": lambda a: 74.41, "pdbx_PDB_model_num": lambda a: 1,
    }  # fmt: skip
    for side in ("label", "auth"):
        fields = {"asym_id": "chain", "seq_id": "number", "comp_id": "residue", "atom_id": "name"}
        for column, field in fields.items():
            usual[f"{side}_{column}"] = lambda a, field=field: getattr(a, field)
    values = {**usual, **other}
    rows = [
        " ".join(str(n) if c == "id" else str(values[c](a)) for c in columns.split())
        for n, a in enumerate(atoms, 1)
    ]
    head = "".join(f"_atom_site.{c}\n" for c in columns.split())
    return f"data_model\n_entry.id model\n#\nloop_\n{head}" + "\n".join(rows) + "\n#\n"


ALPHAFOLD3 = (
    "group_PDB id type_symbol label_atom_id label_alt_id label_comp_id label_asym_id "
    "label_entity_id label_seq_id"
    " pdbx_PDB_ins_code Cartn_x Cartn_y Cartn_z occupancy B_iso_or_equiv auth_seq_id auth_asym_id "
    "pdbx_PDB_model_num"
)
BOLTZ = (
    "group_PDB id type_symbol label_atom_id label_alt_id label_comp_id label_seq_id auth_seq_id "
    "pdbx_PDB_ins_code"
    " label_asym_id Cartn_x Cartn_y Cartn_z occupancy label_entity_id auth_asym_id auth_comp_id "
    "B_iso_or_equiv"
    " pdbx_PDB_model_num"
)
CHAI = BOLTZ.replace(" pdbx_PDB_ins_code", "")
ARCHIVE = ALPHAFOLD3.replace("auth_seq_id", "auth_seq_id auth_comp_id").replace(
    "auth_asym_id", "auth_asym_id auth_atom_id"
)
LABELS = " ".join(c for c in ALPHAFOLD3.split() if not c.startswith("auth"))


def archive() -> str:
    """As the PDB writes it: label names other than the author's, label numbers from 1."""
    return table(
        ARCHIVE,
        base(),
        label_asym_id=lambda a: {"A": "E", "B": "F"}[a.chain],
        label_seq_id=lambda a: a.number - {"A": 202, "B": 625}[a.chain],
    )


def labels_with_ligands() -> str:
    """No author's columns, a ligand and waters: these have no label number."""
    atoms = [*base(), *(replace(a, chain="C") for a in ligands() if a.residue in ("ATP", "HOH"))]
    return table(LABELS, atoms, label_seq_id=lambda a: "." if a.het else a.number)


def ligands() -> list[Atom]:
    """A ligand, an ion and two waters of chain A, near the interface."""
    near = base()[0]
    place = {"y": near.y, "z": near.z, "het": True}
    return [
        Atom("PA", "ATP", "A", 901, near.x + 6, element="P", **place),
        Atom("C1", "ATP", "A", 901, near.x + 7, element="C", **place),
        Atom("CA", "CA", "A", 902, near.x + 9, element="CA", **place),
        Atom("O", "HOH", "A", 903, near.x + 11, element="O", **place),
        Atom("O", "HOH", "A", 904, near.x + 14, element="O", **place),
    ]


def touching_ligands() -> list[Atom]:
    """The pair with the ligands moved to the middle of the interface, and the waters."""
    middle = next(a for a in base() if a.number == 210)
    first = base()[0]
    return base() + [
        replace(a, x=a.x - first.x + middle.x - 6, y=middle.y, z=middle.z) for a in ligands()
    ]


def dna() -> list[Atom]:
    first = base()[0]
    names = ("P", "C1'", "N1", "C2")
    return [
        Atom(
            name,
            "DA",
            "D",
            number,
            first.x + 3 * number,
            first.y + 12 + i,
            first.z,
            element=name[0],
        )
        for number in (1, 2)
        for i, name in enumerate(names)
    ]


def hydrogens() -> list[Atom]:
    """A hydrogen beside each N, under names of several dialects."""
    atoms = []
    for i, a in enumerate(base()):
        atoms.append(a)
        if a.name == "N":
            atoms.append(
                replace(a, name=("H", "HN", "1H", "D")[i % 4], element="H", x=round(a.x + 0.9, 3))
            )
    return atoms


def altlocs() -> list[Atom]:
    """Every side chain twice, the second place with the lower occupancy."""
    atoms = []
    for a in base():
        if a.name in ("N", "CA", "C", "O"):
            atoms.append(a)
        else:
            atoms += [
                replace(a, altloc="A", occupancy=0.6),
                replace(a, altloc="B", occupancy=0.4, y=a.y + 0.5),
            ]
    return atoms


def chothia() -> list[Atom]:
    """An antibody's numbering: 99, 100, 100A to 100D, 101 and so on."""
    places = [
        (98, ""),
        (99, ""),
        (100, ""),
        *((100, c) for c in "ABCD"),
        *((n, "") for n in range(101, 106)),
    ]
    place = {number: places[number - 203] for number in range(203, 215)}
    return [
        replace(a, number=place[a.number][0], insertion_code=place[a.number][1])
        if a.chain == "A"
        else a
        for a in base()
    ]


def hybrid36() -> list[Atom]:
    """Chain B numbered from 9995: 9999 is followed by A000."""
    return [replace(a, number=a.number - 626 + 9995) if a.chain == "B" else a for a in base()]


def hybrid36_pdb() -> str:
    return pdb(
        replace(a, number=a.number if a.number < 10000 else f"A{a.number - 10000:03}")
        for a in hybrid36()
    )


def ten_chains() -> list[Atom]:
    """Five copies of the pair, 60 Å apart."""
    pairs = ("AB", "CD", "EF", "GH", "IJ")
    return [
        replace(a, chain=names["AB".index(a.chain)])
        for i, names in enumerate(pairs)
        for a in shifted(base(), 60.0 * i)
    ]


def many_chains(copies: int) -> list[Atom]:
    """Copies of the pair, 60 Å apart."""
    return [
        replace(a, chain=f"{a.chain}{i}") for i in range(copies) for a in shifted(base(), 60.0 * i)
    ]


def three_chains() -> list[Atom]:
    """A third chain on the other side of B."""
    a, b = (np.array([(x.x, x.y, x.z) for x in chain(c)]) for c in "AB")
    across = 2 * (b.mean(axis=0) - a.mean(axis=0))
    third = [
        replace(
            x,
            chain="C",
            x=round(x.x + across[0], 3),
            y=round(x.y + across[1], 3),
            z=round(x.z + across[2], 3),
        )
        for x in chain("A")
    ]
    return [*base(), *third]


def models(*atoms: list[Atom]) -> str:
    return (
        "".join(f"MODEL     {n:4d}\n{pdb(part)}ENDMDL\n" for n, part in enumerate(atoms, 1))
        + "END\n"
    )


def lines_changed(change: Callable[[str], str]) -> str:
    """The plain PDB file, one atom line in the middle of it changed."""
    lines = pdb(base()).splitlines(keepends=True)
    lines[50] = change(lines[50])
    return "".join(lines)


def without_atoms(*names: str, numbers: Iterable[int] = ()) -> list[Atom]:
    """The atoms without these of some residues, or of all."""
    wanted = set(numbers)
    return [a for a in base() if not (a.name in names and (not wanted or a.number in wanted))]


def garbage() -> bytes:
    return np.random.default_rng(0).bytes(5000)


def charmm_blank() -> str:
    """No chain names; what tells the molecules apart stands in columns 73 to 76."""
    return "".join(f"{pdb_line(replace(a, chain=' '))[:72]}PRO{a.chain}\n" for a in base())


def in_nanometres() -> list[Atom]:
    return [
        replace(a, x=round(a.x / 10, 3), y=round(a.y / 10, 3), z=round(a.z / 10, 3)) for a in base()
    ]


def copies(count: int) -> list[Atom]:
    """Copies of the pair in one place, their atoms moved by some tenths of an Å, each with chains
    of its own.
    """
    draw, moved = np.random.default_rng(0), []
    for i in range(count):
        for a in base():
            x, y, z = (round(c + float(draw.normal(0, 0.2)), 3) for c in (a.x, a.y, a.z))
            moved.append(replace(a, chain=f"{a.chain}{i}", x=x, y=y, z=z))
    return moved


def odd_occupancy() -> list[Atom]:
    """A serine of occupancy `nan` in the place of an alanine or whatever stands there."""
    serine = [
        replace(a, residue="SER", altloc="B", occupancy="nan") for a in base() if a.number == 210
    ]
    return [
        replace(a, altloc="A", occupancy=0.1) if a.number == 210 else a for a in base()
    ] + serine


def oddly_named(column: str, name: str) -> str:
    """The mmCIF file with this name in the column of one residue, quoted so that it may hold
    anything.
    """
    field = {"label_comp_id": "residue", "auth_asym_id": "chain", "label_atom_id": "name"}[column]
    value = {column: lambda a: f"\n;{name}\n;\n" if a.number == 210 else getattr(a, field)}
    return table(ALPHAFOLD3, base(), **value)
