"""Small files of every kind that people bring; cases.yaml says what each is for."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import zstandard

from structures_text import (
    EXAMPLES,
    Atom,
    atoms_of,
    changed,
    mmcif,
    pair,
    pdb,
    shifted,
    write,
)
from toporank.structures.text import MAX_BYTES

SPECIAL = 210
"""The residue of chain A that is made special."""


def base() -> list[Atom]:
    """Twelve residues each of two chains that touch: A:203-214 and B:626-637 of an example decoy,
    190 atoms.
    """
    near = {"A": range(203, 215), "B": range(626, 638)}
    atoms = atoms_of(EXAMPLES / "1GCQ" / "mid1.pdb")
    return [atom for atom in atoms if atom.number in near.get(atom.chain, ())]


BASE = base()
A = [atom for atom in BASE if atom.chain == "A"]
B = [atom for atom in BASE if atom.chain == "B"]
IN_MIDDLE = [atom for atom in BASE if atom.number == SPECIAL]
PLAIN = pdb(BASE)
LINES = PLAIN.splitlines()
ZIPPED = gzip.compress(PLAIN.encode())
B_AS_A = pdb(changed(B, chain="A"))


def named(first: str, second: str) -> list[Atom]:
    """The chains under other names."""
    return changed(A, chain=first) + changed(B, chain=second)


def with_special(**other) -> list[Atom]:
    """The atoms, those of the special residue with other values."""
    return [replace(atom, **other) if atom in IN_MIDDLE else atom for atom in BASE]


def with_atom(**other) -> list[Atom]:
    """The atoms, one of them with other values."""
    return [*BASE[:50], replace(BASE[50], **other), *BASE[51:]]


def without(name: str, residues: Iterable[int] = range(1000)) -> list[Atom]:
    """The atoms but those of this name in some residues, or in all."""
    return [atom for atom in BASE if atom.name != name or atom.number not in residues]


def with_line(start: int, stop: int, new: str) -> str:
    """The plain PDB file with other text in these columns of the 51st line."""
    lines = [*LINES]
    lines[50] = lines[50][:start] + new + lines[50][stop:]
    return "\n".join([*lines, ""])


def chains(first: str, between: str, second: str) -> str:
    """Two parts of a PDB file with a record behind each."""
    return f"{first}{between}\n{second}{between}\n"


def models(*atoms: list[Atom]) -> str:
    """A PDB file of several models."""
    numbered = enumerate(map(pdb, atoms), 1)
    return (
        "".join(f"MODEL     {n:4d}\n{text}ENDMDL\n" for n, text in numbered) + "END\n"
    )


def three_chains() -> list[Atom]:
    """A third chain on the other side of B."""
    xyz_a = np.array([(atom.x, atom.y, atom.z) for atom in A])
    xyz_b = np.array([(atom.x, atom.y, atom.z) for atom in B])
    third = xyz_a + 2 * (xyz_b.mean(axis=0) - xyz_a.mean(axis=0))
    return BASE + placed(changed(A, chain="C"), third)


def placed(atoms: Iterable[Atom], positions: np.ndarray) -> list[Atom]:
    """The atoms in other places."""
    pairs = zip(atoms, positions.round(3).tolist(), strict=True)
    return [replace(atom, x=x, y=y, z=z) for atom, (x, y, z) in pairs]


def many_chains(copies: int, names: str = "") -> list[Atom]:
    """Copies of the pair, 60 Å apart; names : of the chains, two for each copy."""
    atoms = []
    for i in range(copies):
        pair_of_names = names[2 * i : 2 * i + 2] or (f"A{i}", f"B{i}")
        atoms += shifted(named(*pair_of_names), 60.0 * i)
    return atoms


def crowd(count: int) -> list[Atom]:
    """Copies of the pair in one place, their atoms moved by some tenths of an Å."""
    draw = np.random.default_rng(0)
    xyz = np.array([(atom.x, atom.y, atom.z) for atom in BASE])
    atoms = []
    for i in range(count):
        atoms += placed(named(f"A{i}", f"B{i}"), xyz + draw.normal(0, 0.2, xyz.shape))
    return atoms


def ligands(
    x: float = BASE[0].x, y: float = BASE[0].y, z: float = BASE[0].z
) -> list[Atom]:
    """A ligand, an ion and two waters of chain A, near the interface."""
    place = {"y": y, "z": z, "het": True}
    return [
        Atom("PA", "ATP", "A", 901, x + 6, element="P", **place),
        Atom("C1", "ATP", "A", 901, x + 7, element="C", **place),
        Atom("CA", "CA", "A", 902, x + 9, element="CA", **place),
        Atom("O", "HOH", "A", 903, x + 11, element="O", **place),
        Atom("O", "HOH", "A", 904, x + 14, element="O", **place),
    ]


def dna(chain: str = "D") -> list[Atom]:
    """Two nucleotides beside chain A."""
    x, y, z = BASE[0].x, BASE[0].y + 12, BASE[0].z
    atoms = []
    for number in (1, 2):
        for i, name in enumerate(("P", "C1'", "N1", "C2")):
            place = x + 3 * number, y + i, z
            atoms.append(Atom(name, "DA", chain, number, *place, element=name[0]))
    return atoms


def hydrogens() -> list[Atom]:
    """A hydrogen beside each N, under names of several dialects."""
    atoms = []
    for i, atom in enumerate(BASE):
        atoms.append(atom)
        if atom.name == "N":
            name = ("H", "HN", "1H", "D")[i % 4]
            atoms.append(
                replace(atom, name=name, element="H", x=round(atom.x + 0.9, 3))
            )
    return atoms


def altlocs() -> list[Atom]:
    """Every side chain twice, the second place with the lower occupancy."""
    atoms = []
    for atom in BASE:
        if atom.name in ("N", "CA", "C", "O"):
            atoms.append(atom)
        else:
            atoms.append(replace(atom, altloc="A", occupancy=0.6))
            atoms.append(replace(atom, altloc="B", occupancy=0.4, y=atom.y + 0.5))
    return atoms


def chothia() -> list[Atom]:
    """Chain A in an antibody's numbering: 98 to 100, 100A to 100D, 101 to 105."""
    codes = [
        "98",
        "99",
        "100",
        "100A",
        "100B",
        "100C",
        "100D",
        *map(str, range(101, 106)),
    ]
    atoms = []
    for atom in A:
        code = codes[atom.number - 203]
        letter = code.lstrip("0123456789")
        number = int(code.removesuffix(letter))
        atoms.append(replace(atom, number=number, insertion_code=letter))
    return atoms + B


def numbered(numbers: Sequence[int | str]) -> list[Atom]:
    """Chain B with other residue numbers."""
    return A + [replace(atom, number=numbers[atom.number - 626]) for atom in B]


ALPHAFOLD3 = (
    "group_PDB id type_symbol label_atom_id label_alt_id label_comp_id label_asym_id "
    "label_entity_id label_seq_id pdbx_PDB_ins_code Cartn_x Cartn_y Cartn_z occupancy "
    "B_iso_or_equiv auth_seq_id auth_asym_id pdbx_PDB_model_num"
)
BOLTZ = (
    "group_PDB id type_symbol label_atom_id label_alt_id label_comp_id label_seq_id auth_seq_id "
    "pdbx_PDB_ins_code label_asym_id Cartn_x Cartn_y Cartn_z occupancy label_entity_id "
    "auth_asym_id auth_comp_id B_iso_or_equiv pdbx_PDB_model_num"
)
LABELS = " ".join(
    column for column in ALPHAFOLD3.split() if not column.startswith("auth")
)


def oddly_named(column: str, name: str) -> str:
    """An mmCIF file with this name in the column of one residue, quoted so that it may hold
    anything.
    """
    field = {
        "label_comp_id": "residue",
        "auth_asym_id": "chain",
        "label_atom_id": "name",
    }[column]
    special = {
        column: lambda a: (
            f"\n;{name}\n;\n" if a.number == SPECIAL else getattr(a, field)
        )
    }
    return mmcif(BASE, columns=ALPHAFOLD3, **special)


def unless(condition: bool, value: object) -> object:
    """The value, or what mmCIF writes where there is none."""
    return "." if condition else value


THREE = three_chains()
IN_MMCIF = mmcif(BASE)


# ---- the files, by the name of the case ----------------------------------------------------------

ATOMS_IN_PDB = {
    "pdb": BASE,
    "one": A,
    "three": THREE,
    "ten": many_chains(5, "ABCDEFGHIJ"),
    "apart": A + shifted(B, 200.0),
    "on_top": A + changed(A, chain="B"),
    "written_twice": BASE + changed(B, chain="C"),
    "two_letters": named("AA", "BA"),
    "digits": named("1", "2"),
    "blank": named(" ", "B"),
    "shared_name": BASE + shifted(B, 30.0),
    "dna": BASE + dna(),
    "one_protein_and_dna": A + dna(),
    "only_dna": dna() + dna("E"),
    "partners_each": BASE,
    "partners_joined": THREE,
    "partners_left_out": THREE,
    "partners_missing": BASE,
    "partners_letters": THREE,
    "partners_apart": A + shifted(B, 200.0),
    "chothia": chothia(),
    "negative": [replace(a, number=a.number - 210) for a in A] + B,
    "jumps": [replace(a, number=a.number * 3) for a in BASE],
    "hybrid36": numbered([*range(9995, 10000), *(f"A{i:03}" for i in range(7))]),
    "hydrogens": hydrogens(),
    "altlocs": altlocs(),
    "ligands": BASE + ligands(),
    "ligands_touching": BASE
    + ligands(IN_MIDDLE[0].x - 6, IN_MIDDLE[0].y, IN_MIDDLE[0].z),
    "mse": with_special(residue="MSE", het=True),
    "hetatm": with_special(het=True),
    "free_amino_acid": BASE + changed(shifted(IN_MIDDLE, 90.0), chain="L", het=True),
    "d_amino": with_special(residue="DAL", het=True),
    "rare": with_special(residue="SEC"),
    "oxygens": [
        replace(a, name="OT1") if (a.name, a.number) == ("O", 214) else a for a in BASE
    ],
    "no_side_chains": [a for a in BASE if a.name in ("N", "CA", "C", "O")],
    "force_field": with_special(residue="HSD"),
    "four_letters": with_special(residue="HIS", chain="EA"),
    "unk": with_special(residue="UNK"),
    "without_ca": without("CA", [SPECIAL]),
    "without_n": without("N", [SPECIAL]),
    "no_ca_at_all": without("CA"),
    "ca_only": [a for a in BASE if a.name == "CA"],
    "nanometres": placed(BASE, np.array([(a.x, a.y, a.z) for a in BASE]) / 10),
    "coordinate_nan": with_atom(y="nan"),
    "coordinate_stars": with_atom(y="********"),
    "coordinate_comma": with_atom(y="12,345"),
    "coordinate_two": with_atom(y="1.0 2.0"),
    "unknown_place": with_atom(y=9999.0),
    "zeros": changed(BASE, x=0.0, y=0.0, z=0.0),
}
ATOMS_IN_MMCIF = {
    "cif": BASE,
    "models_cif": BASE + changed(shifted(BASE, 9.0), model=2),
    "long_names": named("Heavy", "Light"),
    "very_long_names": named("ChainNumber1", "ChainNumber2"),
    "twenty_eight": many_chains(14),
    "chothia_cif": chothia(),
    "beyond_cif": numbered(range(9995, 10007)),
    "huge_number_cif": with_special(number=99999999999),
    "odd_occupancy": [
        *with_special(altloc="A", occupancy=0.1),
        *changed(IN_MIDDLE, residue="SER", altloc="B", occupancy="nan"),
    ],
    "hetatm_chain": A + changed(B, het=True),
    "sep": with_special(residue="SEP", het=True),
    "unheard": with_special(residue="A1XYZ", het=True),
    "crowd": crowd(20),
    "four_copies": crowd(4),
    "nan_cif": with_atom(y="nan"),
    "absurd": with_atom(y="1e30"),
    "far_off": shifted(BASE, 5000.0),
}
PDB = {
    "crlf": PLAIN.replace("\n", "\r\n"),
    "remark_latin1": b"REMARK Fa\xdf \xe9\n" + PLAIN.encode(),
    "decorated": (
        "HEADER    X\nCRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1\n"
        f"{pdb(A)}TER     999      ALA A 214\n{pdb(B)}TER\nCONECT    1    2\nMASTER\nEND\n"
    ),
    "bare_ter": chains(pdb(A), "TER", pdb(B)),
    "short_lines": "".join(f"{line[:54]}\n" for line in LINES),
    "charges": "".join(f"{line[:78]}0.\n" for line in LINES),
    "cif_in_remark": "REMARK converted from _atom_site.Cartn_x\n" + PLAIN,
    "serials": "".join(f"{line[:6]}*****{line[11:]}\n" for line in LINES),
    "end_inside": chains(pdb(A), "END", pdb(B)),
    "cluspro": chains(f"HEADER rec.pdb\n{pdb(A)}", "END", f"HEADER lig.pdb\n{B_AS_A}"),
    "end_models": chains(PLAIN, "END", pdb(shifted(BASE, 9.0))),
    "models": models(BASE, shifted(BASE, 9.0)),
    "assembly": models(A, B),
    "ensemble": models(A, shifted(A, 9.0)),
    # what tells the molecules apart stands in columns 73 to 76
    "all_blank": "".join(f"{line[:21]} {line[22:72]}PRO{line[21]}\n" for line in LINES),
    "one_name": chains(pdb(A), "TER", B_AS_A),
    "one_name_of_three": chains(
        PLAIN, "TER", pdb(changed(THREE[len(BASE) :], chain="B"))
    ),
    "one_name_ter_at_gap": chains(
        f"{pdb(A)}TER\n" + pdb(b for b in B if b.number < 631),
        "TER",
        pdb(b for b in B if b.number > 633),
    ),
    "five_digits": with_line(22, 27, "12345"),
    "stars_number": with_line(22, 26, "****"),
    "control_pdb": with_line(17, 20, "\x07\x07\x07"),
    "too_wide": with_line(30, 38, "-1234.567"),
    "four_letters_apart": pdb(
        atom
        for special, plain in zip(
            with_special(residue="HIS", chain="EA"), BASE, strict=True
        )
        for atom in shifted([special], 9.0 * (special != plain))
    ),
    "empty": "",
    "no_atoms": "<html><body>404 Not Found</body></html>\n",
    "cut_pdb": PLAIN[:-40],
    "is_gz": ZIPPED,
    "is_xz": lzma.compress(PLAIN.encode()),
    "cif_as_pdb": IN_MMCIF,
    "garbage": np.random.default_rng(0).bytes(5000),
    "utf16": PLAIN.encode("utf-16"),
}
MMCIF = {
    "alphafold3": mmcif(BASE, columns=ALPHAFOLD3),
    "boltz": mmcif(BASE, columns=BOLTZ),
    "chai": mmcif(BASE, columns=BOLTZ, without=["pdbx_PDB_ins_code"]),
    "archive": mmcif(
        BASE,
        label_asym_id=lambda a: {"A": "E", "B": "F"}[a.chain],
        label_seq_id=lambda a: a.number - {"A": 202, "B": 625}[a.chain],
    ),
    "few_columns": mmcif(
        BASE,
        without=[
            "type_symbol",
            "id",
            "occupancy",
            "B_iso_or_equiv",
            "label_alt_id",
            "label_asym_id",
        ],
    ),
    "labels_only": mmcif(BASE, columns=LABELS),
    "labels_ligands": mmcif(
        BASE + changed((a for a in ligands() if a.residue != "CA"), chain="C"),
        columns=LABELS,
        label_seq_id=lambda a: unless(a.het, a.number),
    ),
    "auth_empty": mmcif(
        BASE, columns=ALPHAFOLD3, auth_seq_id=lambda a: "?", auth_asym_id=lambda a: "."
    ),
    "column_order": mmcif(BASE, columns=" ".join(reversed(ALPHAFOLD3.split()))),
    "blocks": IN_MMCIF + mmcif(pair()).replace("data_test", "data_two"),
    "long_everything": mmcif(
        with_special(residue="MODIFIED_LYSINE"),
        label_entity_id=lambda a: f"entity_{a.chain}_of_the_complex",
    ),
    "no_number_cif": mmcif(
        BASE,
        columns=LABELS,
        label_seq_id=lambda a: unless(a.number == SPECIAL, a.number),
    ),
    "residue_quotes": oddly_named("label_comp_id", "A\"B'C"),
    "cut_cif": IN_MMCIF[:-60],
    "pdb_as_cif": PLAIN,
    "garbage_cif": np.random.default_rng(0).bytes(5000),
    "no_table": "data_x\n_entry.id x\n",
    "no_column": mmcif(BASE, without=["label_comp_id", "auth_comp_id"]),
}
for what, column in (
    ("residue", "label_comp_id"), ("chain", "auth_asym_id"), ("atom", "label_atom_id")
):  # fmt: skip
    MMCIF[f"{what}_tab"] = oddly_named(column, "A\tB")
    MMCIF[f"{what}_break"] = oddly_named(column, "A\nB")
    MMCIF[f"{what}_control"] = oddly_named(column, "\x07")
    MMCIF[f"{what}_endless"] = oddly_named(column, "X" * 10_000)

FILES = {
    "ent": ("d.ENT", PLAIN),
    "pdb_gz": ("d.pdb.gz", PLAIN),
    "cif_bz2": ("d.cif.bz2", IN_MMCIF),
    "cif_xz": ("d.cif.xz", IN_MMCIF),
    "cif_zst": ("d.cif.zst", IN_MMCIF),
    "mmcif_gz": ("d.mmcif.gz", IN_MMCIF),
    "multimember": (
        "d.pdb.gz",
        b"".join(gzip.compress(pdb(part).encode()) for part in (A, B)),
    ),
    "odd_path": ("Modell №1 (größer).pdb", PLAIN),
    "empty_gz": ("d.pdb.gz", b""),
    "cut_gz": ("d.pdb.gz", ZIPPED[:-200]),
    "flipped_gz": (
        "d.pdb.gz",
        ZIPPED[:900] + bytes([ZIPPED[900] ^ 255]) + ZIPPED[901:],
    ),
    "not_gz": ("d.pdb.gz", PLAIN.encode()),
    "cut_zst": ("d.cif.zst", zstandard.compress(IN_MMCIF.encode())[:-200]),
    "twice_gz": ("d.pdb.gz", gzip.compress(ZIPPED)),
    # small files that unpack to more than is allowed
    "bomb": ("d.pdb.gz", gzip.compress(b" " * (MAX_BYTES // 64)) * 65),
    "bomb_zst": ("d.pdb.zst", zstandard.compress(bytes(1 << 20), 19) * 300),
    **{name: ("d.pdb", text) for name, text in PDB.items()},
    **{name: ("d.cif", text) for name, text in MMCIF.items()},
}
"""Name and content of a file; bytes are written as they are, text is compressed where the name says
so.
"""
LINKS = {"link": "gone.pdb", "device": "/dev/zero"}


def make(case: str, folder: Path) -> Path:
    """The file of a case in a folder."""
    if case in ATOMS_IN_PDB:
        return write(folder / "d.pdb", pdb(ATOMS_IN_PDB[case]))
    if case in ATOMS_IN_MMCIF:
        return write(folder / "d.cif", mmcif(ATOMS_IN_MMCIF[case]))
    name, content = FILES.get(case, ("d.pdb", PLAIN))
    path = folder / name
    if case in LINKS:
        path.symlink_to(LINKS[case])
    elif case == "directory":
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        write(path, content)
    if case == "forbidden":
        path.chmod(0)
    return path
