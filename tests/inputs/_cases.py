"""Every kind of file that people bring, how a small one is made, and what must become of it.

`CASES` is the specification that `test_input_matrix.py` tries one by one and `docs/inputs.md` is generated from:

    PYTHONPATH=lib:tests python tests/inputs/_cases.py > docs/inputs.md
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from structures_text import EXAMPLES, Atom, changed, mmcif, pair, pdb, pdb_line, write
from toporank.identity import Status
from toporank.structures.read import MAX_BYTES

OK, NO_INTERFACE, UNREADABLE, FAILED = Status.OK, Status.NO_INTERFACE, Status.UNREADABLE, Status.FAILED
NOTHING = "nothing"


@dataclass(frozen=True)
class Case:
    """One kind of input.

    make : writes the file into a folder and returns its path
    status, says : status of the decoy and part of its reason; of an `ok` decoy the whole of it, notes on what was
        decided, and `...` for anything
    same : the graph has the very numbers of the plain PDB file's
    chains : names of the chains in the graph, where they matter
    happens, remedy : for the user
    """

    name: str
    input: str
    make: Callable[[Path], Path]
    status: str
    happens: str
    says: str = ""
    remedy: str = NOTHING
    same: bool = False
    chains: str = ""


# ---- making files -----------------------------------------------------------------------------------------


def base() -> list[Atom]:
    """Twelve residues each of two chains that touch: A:203-214 and B:626-637 of an example decoy, 190 atoms."""
    atoms = []
    for s in (EXAMPLES / "1GCQ" / "mid1.pdb").read_text().splitlines():
        number = int(s[22:26]) if s.startswith("ATOM") else 0
        if (s[21:22] == "A" and 203 <= number <= 214) or (s[21:22] == "B" and 626 <= number <= 637):
            xyz = [float(s[i : i + 8]) for i in (30, 38, 46)]
            atoms.append(Atom(s[12:16].strip(), s[17:20], s[21], number, *xyz, element=s[76:78].strip()))
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


def text(name: str, content: str | bytes | Callable[[], str | bytes]) -> Callable[[Path], Path]:
    """Make a file of this name; gzipped when the name says so."""
    return lambda folder: write(folder / name, content() if callable(content) else content)


def raw(name: str, content: Callable[[], bytes]) -> Callable[[Path], Path]:
    """Make a file of these very bytes, whatever its name says."""

    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content())
        return folder / name

    return make


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
    """An _atom_site table with exactly these columns; `other` gives the values of columns that are special."""
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
        " ".join(str(n) if c == "id" else str(values[c](a)) for c in columns.split()) for n, a in enumerate(atoms, 1)
    ]
    head = "".join(f"_atom_site.{c}\n" for c in columns.split())
    return f"data_model\n_entry.id model\n#\nloop_\n{head}" + "\n".join(rows) + "\n#\n"


ALPHAFOLD3 = (
    "group_PDB id type_symbol label_atom_id label_alt_id label_comp_id label_asym_id label_entity_id label_seq_id"
    " pdbx_PDB_ins_code Cartn_x Cartn_y Cartn_z occupancy B_iso_or_equiv auth_seq_id auth_asym_id pdbx_PDB_model_num"
)
BOLTZ = (
    "group_PDB id type_symbol label_atom_id label_alt_id label_comp_id label_seq_id auth_seq_id pdbx_PDB_ins_code"
    " label_asym_id Cartn_x Cartn_y Cartn_z occupancy label_entity_id auth_asym_id auth_comp_id B_iso_or_equiv"
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


def dna() -> list[Atom]:
    first = base()[0]
    names = ("P", "C1'", "N1", "C2")
    return [
        Atom(name, "DA", "D", number, first.x + 3 * number, first.y + 12 + i, first.z, element=name[0])
        for number in (1, 2)
        for i, name in enumerate(names)
    ]


def hydrogens() -> list[Atom]:
    """A hydrogen beside each N, under names of several dialects."""
    atoms = []
    for i, a in enumerate(base()):
        atoms.append(a)
        if a.name == "N":
            atoms.append(replace(a, name=("H", "HN", "1H", "D")[i % 4], element="H", x=round(a.x + 0.9, 3)))
    return atoms


def altlocs() -> list[Atom]:
    """Every side chain twice, the second place with the lower occupancy."""
    atoms = []
    for a in base():
        if a.name in ("N", "CA", "C", "O"):
            atoms.append(a)
        else:
            atoms += [replace(a, altloc="A", occupancy=0.6), replace(a, altloc="B", occupancy=0.4, y=a.y + 0.5)]
    return atoms


def chothia() -> list[Atom]:
    """An antibody's numbering: 99, 100, 100A to 100D, 101 and so on."""
    places = [(98, ""), (99, ""), (100, ""), *((100, c) for c in "ABCD"), *((n, "") for n in range(101, 106))]
    place = {number: places[number - 203] for number in range(203, 215)}
    return [
        replace(a, number=place[a.number][0], insertion_code=place[a.number][1]) if a.chain == "A" else a
        for a in base()
    ]


def hybrid36() -> list[Atom]:
    """Chain B numbered from 9995: 9999 is followed by A000."""
    return [replace(a, number=a.number - 626 + 9995) if a.chain == "B" else a for a in base()]


def hybrid36_pdb() -> str:
    return pdb(replace(a, number=a.number if a.number < 10000 else f"A{a.number - 10000:03}") for a in hybrid36())


def ten_chains() -> list[Atom]:
    """Five copies of the pair, 60 Å apart."""
    pairs = ("AB", "CD", "EF", "GH", "IJ")
    return [
        replace(a, chain=names["AB".index(a.chain)]) for i, names in enumerate(pairs) for a in shifted(base(), 60.0 * i)
    ]


def many_chains(copies: int) -> list[Atom]:
    """Copies of the pair, 60 Å apart."""
    return [replace(a, chain=f"{a.chain}{i}") for i in range(copies) for a in shifted(base(), 60.0 * i)]


def three_chains() -> list[Atom]:
    """A third chain on the other side of B."""
    a, b = (np.array([(x.x, x.y, x.z) for x in chain(c)]) for c in "AB")
    across = 2 * (b.mean(axis=0) - a.mean(axis=0))
    third = [
        replace(x, chain="C", x=round(x.x + across[0], 3), y=round(x.y + across[1], 3), z=round(x.z + across[2], 3))
        for x in chain("A")
    ]
    return [*base(), *third]


def models(*atoms: list[Atom]) -> str:
    return "".join(f"MODEL     {n:4d}\n{pdb(part)}ENDMDL\n" for n, part in enumerate(atoms, 1)) + "END\n"


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


# ---- the table --------------------------------------------------------------------------------------------

READ = "read"
CASES: dict[str, list[Case]] = {
    "Formats": [
        Case("pdb", "PDB, `.pdb`; no HEADER, CRYST1, TER, END needed", text("d.pdb", lambda: pdb(base())), OK, READ, same=True),
        Case("ent", "PDB, `.ent`, in any case", text("d.ENT", lambda: pdb(base())), OK, READ, same=True),
        Case("pdb_gz", "PDB, gzipped", text("d.pdb.gz", lambda: pdb(base())), OK, "the same graph, byte for byte", same=True),
        Case("cif", "mmCIF, `.cif`", text("d.cif", lambda: mmcif(base())), OK, "the same graph, byte for byte", same=True),
        Case("mmcif_gz", "mmCIF, `.mmcif`, gzipped", text("d.mmcif.gz", lambda: mmcif(base())), OK, "the same graph, byte for byte", same=True),
        Case("alphafold3", "AlphaFold 3 (`auth_comp_id`, `auth_atom_id` missing)", text("d.cif", lambda: table(ALPHAFOLD3, base())), OK, READ, same=True),
        Case("boltz", "Boltz", text("d.cif", lambda: table(BOLTZ, base())), OK, READ, same=True),
        Case("chai", "Chai (no insertion code column)", text("d.cif", lambda: table(CHAI, base())), OK, READ, same=True),
        Case("archive", "mmCIF of the PDB, author's and label names differ", text("d.cif", archive), OK, "the author's chains and numbers count and are reported", same=True, chains="AB"),
        Case("labels_only", "mmCIF without any `auth_*` column", text("d.cif", lambda: table(LABELS, base())), OK, "the label's chains and numbers count", same=True),
        Case("labels_ligands", "the same, with ligands and waters (no label number)", text("d.cif", labels_with_ligands), OK, "ligands and waters are numbered from 1", same=True),
        Case("auth_empty", "mmCIF whose `auth_*` values are `?` or `.`", text("d.cif", lambda: table(ALPHAFOLD3, base(), auth_seq_id=lambda a: "?", auth_asym_id=lambda a: ".")), OK, "the label's value counts", same=True),
        Case("column_order", "mmCIF columns in another order", text("d.cif", lambda: table(" ".join(reversed(ALPHAFOLD3.split())), base())), OK, READ, same=True),
        Case("blocks", "several structures in one mmCIF file", text("d.cif", lambda: mmcif(base()) + mmcif(pair()).replace("data_test", "data_two")), OK, "the first is used, and the reason column says so", "2 structures in one file, the first is used", "split the file if you meant another", same=True),
        Case("multimember", "gzip file made of several parts (bgzip, `cat a.gz b.gz`)", raw("d.pdb.gz", lambda: b"".join(gzip.compress(pdb(chain(c)).encode()) for c in "AB")), OK, READ, same=True),
        Case("crlf", "line ends of Windows", text("d.pdb", lambda: pdb(base()).replace("\n", "\r\n")), OK, READ, same=True),
        Case("remark_latin1", "letters outside ASCII in REMARK lines", text("d.pdb", lambda: b"REMARK Fa\xdf \xe9\n" + pdb(base()).encode()), OK, READ, same=True),
        Case("odd_path", "spaces and letters of any alphabet in the name", text("Modell №1 (größer).pdb", lambda: pdb(base())), OK, READ, same=True),
    ],
    "Records": [
        Case("decorated", "HEADER, CRYST1, TER, CONECT, MASTER, END", text("d.pdb", lambda: f"HEADER    X\nCRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1\n{pdb(chain('A'))}TER     999      ALA A 214\n{pdb(chain('B'))}TER\nCONECT    1    2\nMASTER\nEND\n"), OK, READ, same=True),
        Case("bare_ter", "bare TER", text("d.pdb", lambda: f"{pdb(chain('A'))}TER\n{pdb(chain('B'))}TER\n"), OK, READ, same=True),
        Case("short_lines", "lines cut after the coordinates", text("d.pdb", lambda: "".join(line[:54] + "\n" for line in pdb(base()).splitlines())), OK, READ, same=True),
        Case("serials", "atom serial numbers `*****` or in hybrid-36", text("d.pdb", lambda: "".join(pdb_line(a, "*****") + "\n" for a in base())), OK, READ, same=True),
        Case("end_inside", "atoms after END", text("d.pdb", lambda: f"{pdb(chain('A'))}END\n{pdb(chain('B'))}END\n"), UNREADABLE, "refused: other programs would drop the second part", r"atoms after END in line \d+", "remove END lines between the parts"),
        Case("models", "several models", text("d.pdb", lambda: models(base(), shifted(base(), 9.0))), OK, "the first is used, and the reason column says so", "2 models, the first is used", "split the file if each model is a decoy", same=True),
        Case("models_cif", "several models in mmCIF", text("d.cif", lambda: mmcif([*base(), *changed(shifted(base(), 9.0), model=2)])), OK, "the first is used, and the reason column says so", "2 models, the first is used", "split the file if each model is a decoy", same=True),
        Case("assembly", "one chain a model (biological assembly files)", text("d.pdb", lambda: models(chain("A"), chain("B"))), UNREADABLE, "the first model alone is no complex", r"only one protein chain \('A'\).*2 models, the first is used", "write all chains into one model"),
    ],
    "Chains": [
        Case("one", "a single chain", text("d.pdb", lambda: pdb(chain("A"))), UNREADABLE, "there is no interface to score", r"only one protein chain \('A'\).*at least two are needed \(", "leave it out"),
        Case("three", "three chains", text("d.pdb", lambda: pdb(three_chains())), OK, "every pair of chains counts", chains="ABC"),
        Case("ten", "ten chains", text("d.pdb", lambda: pdb(ten_chains())), OK, "every pair of chains counts", chains="ABCDEFGHIJ"),
        Case("apart", "chains that do not touch", text("d.pdb", lambda: pdb(chain("A") + shifted(chain("B"), 200.0))), NO_INTERFACE, "ranked last; the reason tells how near they come", r"no CA of one chain within 10 Å of another chain's \(closest \d+\.\d Å\)"),
        Case("on_top", "two identical copies on top of each other", text("d.pdb", lambda: pdb(chain("A") + changed(chain("A"), chain="B"))), OK, "read; residues in one place are not joined by an edge", "...", "remove the copy: the score of such a decoy means little"),
        Case("long_names", "chain names of several letters", text("d.cif", lambda: mmcif(renamed(A="Heavy", B="Light"))), OK, READ, same=True),
        Case("very_long_names", "chain names alike in their first eight letters", text("d.cif", lambda: mmcif(renamed(A="ChainNumber1", B="ChainNumber2"))), OK, "names are kept whole", same=True),
        Case("long_everything", "long entity and residue names", text("d.cif", lambda: table(ALPHAFOLD3, with_residue(210, residue="MODIFIED_LYSINE"), label_entity_id=lambda a: f"entity_{a.chain}_of_the_complex")), OK, "a name nobody knows counts as UNK", "1 MODIFIED_LYSINE read as UNK; 1 of 12 interface residues left out: .*"),
        Case("forty", "forty chains (mkdssp itself stops at 26)", text("d.cif", lambda: mmcif(many_chains(20))), OK, "every pair of chains counts"),
        Case("digits", "digits as chain names", text("d.pdb", lambda: pdb(renamed(A="1", B="2"))), OK, READ, same=True),
        Case("blank", "one chain without a name", text("d.pdb", lambda: pdb(renamed(A=" ", B="B"))), OK, "its name is empty", same=True),
        Case("all_blank", "no chain names at all (segment names only)", text("d.pdb", charmm_blank), UNREADABLE, "all atoms are one chain", r"only one protein chain \(''\)", "write chain names into column 22"),
        Case("shared_name", "two chains of one name, with the same residue numbers", text("d.pdb", lambda: pdb(base() + shifted(changed(chain("A"), chain="B", residue="ALA"), 25.0) + changed(shifted(chain("B"), 30.0)))), UNREADABLE, "refused: one of them would be lost", r"residue B:626 stands twice in the file, \d+\.\d Å apart", "give each chain its own name"),
        Case("dna", "a nucleic acid chain beside two of protein", text("d.pdb", lambda: pdb(base() + dna())), OK, "only protein chains make an interface", same=True, chains="AB"),
        Case("only_dna", "nucleic acids only", text("d.pdb", lambda: pdb(dna() + changed(dna(), chain="E"))), UNREADABLE, "no protein, no graph", "no protein chain with CA atoms", "leave it out"),
    ],
    "Residue numbers": [
        Case("chothia", "insertion codes (an antibody in Chothia numbering)", text("d.pdb", lambda: pdb(chothia())), OK, "number and code together are the residue", same=True),
        Case("chothia_cif", "the same in mmCIF", text("d.cif", lambda: mmcif(chothia())), OK, "the same graph, byte for byte", same=True),
        Case("negative", "negative numbers", text("d.pdb", lambda: pdb(replace(a, number=a.number - 210) if a.chain == "A" else a for a in base())), OK, READ, same=True),
        Case("jumps", "gaps in the numbering", text("d.pdb", lambda: pdb(replace(a, number=a.number * 3) for a in base())), OK, "bonds are told by distance, not by number", same=True),
        Case("hybrid36", "numbers beyond 9999 in hybrid-36", text("d.pdb", hybrid36_pdb), OK, "`A000` is 10000", same=True),
        Case("beyond_cif", "numbers beyond 9999 in mmCIF", text("d.cif", lambda: mmcif(hybrid36())), OK, READ, same=True),
        Case("five_digits", "numbers of five digits in PDB columns", text("d.pdb", lambda: lines_changed(lambda s: s[:22] + "12345" + s[27:])), UNREADABLE, "refused: 12345 would be residue 1234, insertion code 5", "residue number of more than four digits in line 51", "number each chain from 1, or write mmCIF"),
        Case("stars_number", "residue number `****`", text("d.pdb", lambda: lines_changed(lambda s: s[:22] + "****" + s[26:])), UNREADABLE, "refused with the line", "not a residue number in line 51", "number each chain from 1, or write mmCIF"),
        Case("no_number_cif", "amino acid without a number in mmCIF", text("d.cif", lambda: table(LABELS, base(), label_seq_id=lambda a: "." if a.number == 210 else a.number)), UNREADABLE, "refused with the residue", "a residue [A-Z]{3} of chain 'A' has no number", "number it"),
        Case("huge_number_cif", "absurd number in mmCIF", text("d.cif", lambda: mmcif(with_residue(210, number=99999999999))), UNREADABLE, "refused", "not a residue number in _atom_site.auth_seq_id: 99999999999", "renumber the residues"),
    ],
    "Atoms and residues": [
        Case("hydrogens", "hydrogens, under any name", text("d.pdb", lambda: pdb(hydrogens())), OK, "they count in atom–atom distances as in the published method"),
        Case("altlocs", "alternate locations", text("d.pdb", lambda: pdb(altlocs())), OK, "the most occupied one is kept, and the reason column says so", r"\d+ atoms in alternate locations left out", same=True),
        Case("ligands", "ligands, ions, waters", text("d.pdb", lambda: pdb(base() + ligands())), OK, "no residues of the interface; seen by topology only with `atoms: all`", same=True),
        Case("mse", "selenomethionine (MSE)", text("d.pdb", lambda: pdb(with_residue(210, residue="MSE", het=True))), OK, "counts as MET, and the reason column says so", "1 MSE read as MET"),
        Case("sep", "phosphoserine (SEP) and other known modifications", text("d.cif", lambda: mmcif(with_residue(210, residue="SEP", het=True))), OK, "counts as its parent, and the reason column says so", "1 SEP read as SER"),
        Case("d_amino", "D-amino acid (DAL)", text("d.pdb", lambda: pdb(with_residue(210, residue="DAL", het=True))), OK, "counts as its L form, and the reason column says so", "1 DAL read as ALA"),
        Case("force_field", "names of Amber and CHARMM (HSD, CYX)", text("d.pdb", lambda: pdb(with_residue(210, residue="HSD"))), OK, "counts as the amino acid", "1 HSD read as HIS"),
        Case("unk", "UNK", text("d.pdb", lambda: pdb(with_residue(210, residue="UNK"))), OK, "its atoms count, but it is no node", "1 of 12 interface residues left out: not reported by DSSP .*"),
        Case("unheard", "a residue name nobody knows, with N, CA, C and O", text("d.cif", lambda: mmcif(with_residue(210, residue="A1XYZ", het=True))), OK, "counts as UNK", "1 A1XYZ read as UNK; 1 of 12 interface residues left out: not reported by DSSP .*"),
        Case("without_ca", "a residue without CA", text("d.pdb", lambda: pdb(without_atoms("CA", numbers=[210]))), OK, "it is no node, and the reason column says so", "1 amino acids without CA atom"),
        Case("without_n", "a residue without N, C or O", text("d.pdb", lambda: pdb(without_atoms("N", numbers=[210]))), OK, "it is no node, and the reason column says so", r"1 of 12 interface residues left out: not reported by DSSP .*", "rebuild the backbone if there are many"),
        Case("no_ca_at_all", "no CA atoms at all", text("d.pdb", lambda: pdb(without_atoms("CA"))), UNREADABLE, "refused", "no protein chain with CA atoms.*24 amino acids without CA atom", "give the full backbone"),
        Case("ca_only", "CA atoms only", text("d.pdb", lambda: pdb(a for a in base() if a.name == "CA")), FAILED, "DSSP needs the backbone", "none of the 12 interface residues can become a node.*each residue needs its N, CA, C and O", "rebuild the other atoms"),
    ],
    "Coordinates": [
        *(
            Case(f"coordinate_{name}", f"`{value}` as a coordinate in PDB", text("d.pdb", lambda v=value: pdb(with_atom(50, y=v))), UNREADABLE, "refused with residue and line", rf"a coordinate of A:2\d\d is not a number: '.*' in line 51 \(", "make the file again, or as mmCIF")
            for name, value in (("nan", "nan"), ("stars", "********"), ("comma", "12,345"), ("two", "1.0 2.0"))
        ),
        Case("too_wide", "a coordinate wider than its column", text("d.pdb", lambda: lines_changed(lambda s: s[:30] + "-1234.567" + s[38:-1])), UNREADABLE, "refused with residue and line", r"a coordinate of A:2\d\d is not a number: .* in line 51 \(", "move the complex to the origin, or write mmCIF"),
        Case("nan_cif", "`nan`, `?` or text as a coordinate in mmCIF", text("d.cif", lambda: mmcif(with_atom(50, y="nan"))), UNREADABLE, "refused with the residue", r"a coordinate of A:2\d\d is not a number \(", "make the file again"),
        Case("absurd", "`1e30` as a coordinate", text("d.cif", lambda: mmcif(with_atom(50, y="1e30"))), UNREADABLE, "refused with the residue", r"a coordinate of A:2\d\d is 1e\+30 Å, which is no place", "remove atoms of unknown place"),
        Case("unknown_place", "9999 or 99999 as a coordinate (unknown place)", text("d.pdb", lambda: pdb(with_atom(50, y=9999.0))), UNREADABLE, "refused with the residue", r"a coordinate of A:2\d\d is 9999 Å, which is no place", "remove atoms of unknown place"),
        Case("zeros", "all coordinates 0", text("d.pdb", lambda: pdb(changed(base(), x=0.0, y=0.0, z=0.0))), UNREADABLE, "refused", "all coordinates are 0", "make the file again"),
        Case("far_off", "a complex far from the origin", text("d.cif", lambda: mmcif(shifted(base(), 5000.0))), OK, "nothing depends on where the origin is"),
    ],
    "Damaged and misnamed files": [
        Case("empty", "empty file", text("d.pdb", ""), UNREADABLE, "refused", r"the file is empty \(", "make or fetch it again"),
        Case("empty_gz", "empty gzip file", raw("d.pdb.gz", lambda: b""), UNREADABLE, "refused", r"the file is empty \(", "make or fetch it again"),
        Case("no_atoms", "no atoms (an HTML error page, say)", text("d.pdb", "<html><body>404 Not Found</body></html>\n"), UNREADABLE, "refused", r"no atoms found in this pdb file \(", "fetch it again"),
        Case("cut_pdb", "PDB cut off within a line", text("d.pdb", lambda: pdb(base())[:-40]), UNREADABLE, "refused; a file cut between lines cannot be told from a whole one", r"not a readable pdb file: .* \(make or fetch it again\)", "make or fetch it again"),
        Case("cut_cif", "mmCIF cut off within a row", text("d.cif", lambda: mmcif(base())[:-60]), UNREADABLE, "refused", r"not a readable mmcif file: .* \(make or fetch it again\)", "make or fetch it again"),
        Case("cut_gz", "gzip file cut off", raw("d.pdb.gz", lambda: gzip.compress(pdb(base()).encode())[:-200]), UNREADABLE, "refused", r"damaged gzip file: .* \(", "make or fetch it again"),
        Case("flipped_gz", "damaged gzip file", raw("d.pdb.gz", lambda: (z := gzip.compress(pdb(base()).encode()))[:900] + bytes([z[900] ^ 255]) + z[901:]), UNREADABLE, "refused", r"damaged gzip file: .* \(", "make or fetch it again"),
        Case("not_gz", "plain text called `.gz`", raw("d.pdb.gz", lambda: pdb(base()).encode()), UNREADABLE, "refused", r"damaged gzip file: .*take \.gz off its name", "rename it"),
        Case("is_gz", "gzip file not called `.gz`", raw("d.pdb", lambda: gzip.compress(pdb(base()).encode())), UNREADABLE, "refused", r"it is gzipped \(rename it to end in \.gz\)", "rename it"),
        Case("twice_gz", "compressed twice", text("d.pdb.gz", lambda: gzip.compress(pdb(base()).encode())), UNREADABLE, "refused", r"it is gzipped \(compressed twice: unpack it once\)", "unpack it once"),
        Case("pdb_as_cif", "PDB text called `.cif`", text("d.cif", lambda: pdb(base())), UNREADABLE, "refused: a wrong name often means a wrong file", r"this is PDB format \(rename it to end in \.pdb\)", "rename it"),
        Case("cif_as_pdb", "mmCIF text called `.pdb`", text("d.pdb", lambda: mmcif(base())), UNREADABLE, "refused: a wrong name often means a wrong file", r"this is mmCIF \(rename it to end in \.cif\)", "rename it"),
        Case("garbage", "binary data", raw("d.pdb", garbage), UNREADABLE, "refused", r"binary data, not text \(", "fetch it again"),
        Case("garbage_cif", "binary data called mmCIF", raw("d.cif", garbage), UNREADABLE, "refused", r"binary data, not text \(", "fetch it again"),
        Case("utf16", "text in UTF-16", raw("d.pdb", lambda: pdb(base()).encode("utf-16")), UNREADABLE, "refused", r"binary data, not text \(.*plain text", "save it as plain text"),
        Case("no_table", "mmCIF without atoms (structure factors, a ligand's dictionary)", text("d.cif", "data_x\n_entry.id x\n"), UNREADABLE, "refused", r"no _atom_site table in this mmcif file \(", "fetch the coordinates"),
        Case("no_column", "mmCIF without a column that is needed", text("d.cif", lambda: mmcif(base(), without=["label_alt_id"])), UNREADABLE, "refused with the column", r"the _atom_site table has no column label_alt_id \(", "write it with all columns"),
        Case("bomb", "file that unpacks to more than 256 MiB", bomb, UNREADABLE, "refused before it fills the memory", r"more than 256 MiB of text \(", "leave it out"),
        Case("link", "link to nowhere", link, UNREADABLE, "refused", r"cannot be read: No such file or directory \(a broken link\?\)", "mend the link"),
        Case("directory", "folder in place of a file", directory, UNREADABLE, "refused", r"cannot be read: Is a directory \(", "put the file in its place"),
        Case("device", "pipe or device in place of a file", device, UNREADABLE, "refused without waiting for it", r"cannot be read: not a regular file \(", "put the file in its place"),
        Case("forbidden", "file without permission to read", forbidden, UNREADABLE, "refused", r"cannot be read: Permission denied \(", "`chmod +r`"),
    ],
}  # fmt: skip
ALL = [case for group in CASES.values() for case in group]

INTRODUCTION = """\
# What becomes of every kind of file

Generated from `tests/inputs/_cases.py`, where each line is a test that goes from the file to the graph.

No file stops a run. Each decoy ends with a status in `results/<dataset>/coverage.tsv`: `ok` has a graph and a score,
`no_interface` is ranked last, `unreadable` and `failed` have no rank. The column `reason` says what is wrong, where and
what to do; for an `ok` decoy it says what was decided on your behalf, or is empty.

Very large complexes are no special case: 20,000 residues in 40 chains with 6,000 residues at their interfaces go
through all stages in about six minutes and 0.8 GB, two thirds of the time in mkdssp.
"""


def markdown() -> str:
    """The text of docs/inputs.md."""
    parts = [INTRODUCTION]
    for group, cases in CASES.items():
        rows = [f"| {c.input} | `{c.status}` | {c.happens} | {c.remedy} |" for c in cases]
        parts += [f"## {group}\n", "| input | status | what happens | what to do |", "| --- | --- | --- | --- |", *rows]
        parts.append("")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(markdown())
