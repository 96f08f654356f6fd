"""Every kind of file that people bring, and what must become of it.

`CASES` is the specification that `test_input_matrix.py` tries one by one and `docs/inputs.md` is generated from:

    PYTHONPATH=lib:tests python tests/inputs/_cases.py > docs/inputs.md
"""

from __future__ import annotations

import lzma
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import _layouts
import _tables
import zstandard
from _making import (
    ALPHAFOLD3,
    BOLTZ,
    CHAI,
    LABELS,
    altlocs,
    archive,
    base,
    bomb,
    called_a,
    chain,
    charmm_blank,
    chothia,
    copies,
    decorated,
    device,
    directory,
    dna,
    each_line,
    empty_authors,
    flipped,
    forbidden,
    garbage,
    hybrid36,
    hybrid36_pdb,
    hydrogens,
    in_mmcif,
    in_nanometres,
    in_parts,
    in_pdb,
    labels_with_ligands,
    ligands,
    lines_changed,
    link,
    long_everything,
    many_chains,
    models,
    numberless,
    odd_occupancy,
    oddly_named,
    one_name_of_three,
    raw,
    renamed,
    shared_name,
    shifted,
    shifted_residue,
    table,
    ten_chains,
    ter_at_gap,
    text,
    three_chains,
    touching_ligands,
    two_blocks,
    two_models,
    with_atom,
    with_residue,
    without_atoms,
    zipped,
)

from structures_text import changed, mmcif, pdb
from toporank.structures.identity import Status

OK, NO_INTERFACE, UNREADABLE, FAILED = Status.OK, Status.NO_INTERFACE, Status.UNREADABLE, Status.FAILED
MISSING = Status.CHAIN_MISSING
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
    chains: str | tuple[str, ...] = ""
    partners: str = ""


# ---- the table --------------------------------------------------------------------------------------------

READ = "read"
IS_CALLED_A_2 = "chain 'A' is several molecules: TopoRank calls 626 to 637 of it 'A_2'"
CASES: dict[str, list[Case]] = {
    "Formats": [
        Case("pdb", "PDB, `.pdb`; no HEADER, CRYST1, TER, END needed", in_pdb(base), OK, READ, same=True),
        Case("ent", "PDB, `.ent`, in any case", text("d.ENT", lambda: pdb(base())), OK, READ, same=True),
        Case(
            "pdb_gz",
            "PDB, gzipped",
            text("d.pdb.gz", lambda: pdb(base())),
            OK,
            "the same graph, byte for byte",
            same=True,
        ),
        *(
            Case(
                f"cif{ending.replace('.', '_')}",
                f"mmCIF, compressed as `{ending}`",
                text(f"d.cif{ending}", lambda: mmcif(base())),
                OK,
                "the same graph, byte for byte",
                same=True,
            )
            for ending in (".bz2", ".xz", ".zst")
        ),
        Case("cif", "mmCIF, `.cif`", in_mmcif(base), OK, "the same graph, byte for byte", same=True),
        Case(
            "mmcif_gz",
            "mmCIF, `.mmcif`, gzipped",
            text("d.mmcif.gz", lambda: mmcif(base())),
            OK,
            "the same graph, byte for byte",
            same=True,
        ),
        Case(
            "alphafold3",
            "AlphaFold 3 (`auth_comp_id`, `auth_atom_id` missing)",
            text("d.cif", lambda: table(ALPHAFOLD3, base())),
            OK,
            READ,
            same=True,
        ),
        Case("boltz", "Boltz", text("d.cif", lambda: table(BOLTZ, base())), OK, READ, same=True),
        Case(
            "chai", "Chai (no insertion code column)", text("d.cif", lambda: table(CHAI, base())), OK, READ, same=True
        ),
        Case(
            "archive",
            "mmCIF of the PDB, author's and label names differ",
            text("d.cif", archive),
            OK,
            "the author's chains and numbers count and are reported",
            same=True,
            chains="AB",
        ),
        Case(
            "labels_only",
            "mmCIF without any `auth_*` column",
            text("d.cif", lambda: table(LABELS, base())),
            OK,
            "the label's chains and numbers count",
            same=True,
        ),
        Case(
            "labels_ligands",
            "the same, with ligands and waters (no label number)",
            text("d.cif", labels_with_ligands),
            OK,
            "ligands and waters are numbered from 1",
            same=True,
        ),
        Case(
            "auth_empty",
            "mmCIF whose `auth_*` values are `?` or `.`",
            text("d.cif", empty_authors),
            OK,
            "the label's value counts",
            same=True,
        ),
        Case(
            "column_order",
            "mmCIF columns in another order",
            text("d.cif", lambda: table(" ".join(reversed(ALPHAFOLD3.split())), base())),
            OK,
            READ,
            same=True,
        ),
        Case(
            "blocks",
            "several structures in one mmCIF file",
            text("d.cif", two_blocks),
            OK,
            "the first is used, and the reason column says so",
            "2 structures in one file, the first is used",
            "split the file if you meant another",
            same=True,
        ),
        Case(
            "multimember",
            "gzip file made of several parts (bgzip, `cat a.gz b.gz`)",
            raw("d.pdb.gz", in_parts),
            OK,
            READ,
            same=True,
        ),
        Case(
            "crlf",
            "line ends of Windows",
            text("d.pdb", lambda: pdb(base()).replace("\n", "\r\n")),
            OK,
            READ,
            same=True,
        ),
        Case(
            "remark_latin1",
            "letters outside ASCII in REMARK lines",
            text("d.pdb", lambda: b"REMARK Fa\xdf \xe9\n" + pdb(base()).encode()),
            OK,
            READ,
            same=True,
        ),
        Case(
            "odd_path",
            "spaces and letters of any alphabet in the name",
            text("Modell №1 (größer).pdb", lambda: pdb(base())),
            OK,
            READ,
            same=True,
        ),
    ],
    "Records": [
        Case("decorated", "HEADER, CRYST1, TER, CONECT, MASTER, END", text("d.pdb", decorated), OK, READ, same=True),
        Case(
            "bare_ter",
            "bare TER",
            text("d.pdb", lambda: f"{pdb(chain('A'))}TER\n{pdb(chain('B'))}TER\n"),
            OK,
            READ,
            same=True,
        ),
        Case(
            "short_lines",
            "lines cut after the coordinates",
            text("d.pdb", lambda: each_line(lambda s: s[:54])),
            OK,
            READ,
            same=True,
        ),
        Case(
            "charges",
            "something else in place of the charge (columns 79 and 80)",
            text("d.pdb", lambda: each_line(lambda s: s[:78] + "0.")),
            OK,
            "it is not read",
            same=True,
        ),
        Case(
            "cif_in_remark",
            "`_atom_site.` in a REMARK line",
            text("d.pdb", lambda: "REMARK converted from _atom_site.Cartn_x\n" + pdb(base())),
            OK,
            READ,
            same=True,
        ),
        Case(
            "serials",
            "atom serial numbers `*****` or in hybrid-36",
            text("d.pdb", lambda: each_line(lambda s: s[:6] + "*****" + s[11:])),
            OK,
            READ,
            same=True,
        ),
        Case(
            "end_inside",
            "END between the parts of one complex (two files joined)",
            text("d.pdb", lambda: f"{pdb(chain('A'))}END\n{pdb(chain('B'))}END\n"),
            OK,
            "one model; the reason column says so",
            "1 END between the parts of one complex, read as TER",
            same=True,
        ),
        Case(
            "cluspro",
            "END and HEADER between receptor and ligand, both called A (ClusPro)",
            text("d.pdb", lambda: f"HEADER rec.pdb\n{pdb(chain('A'))}END\nHEADER lig.pdb\n{called_a()}END\n"),
            OK,
            "one model; the ligand is called A_2",
            "1 END between the parts of one complex, read as TER; " + IS_CALLED_A_2,
            chains=("A", "A_2"),
        ),
        Case(
            "end_models",
            "END between models without MODEL records",
            text("d.pdb", lambda: f"{pdb(base())}END\n{pdb(shifted(base(), 9.0))}END\n"),
            UNREADABLE,
            "refused: other programs would drop the second model",
            r"atoms after END in line \d+",
            "write MODEL and ENDMDL around each, or a file for each",
        ),
        Case(
            "models",
            "several models",
            text("d.pdb", lambda: models(base(), shifted(base(), 9.0))),
            OK,
            "each is a decoy of its own, `d#1` and `d#2` of `d`",
            "",
            "nothing",
            same=True,
        ),
        Case(
            "models_cif",
            "several models in mmCIF",
            in_mmcif(two_models),
            OK,
            "each is a decoy of its own, `d#1` and `d#2` of `d`",
            "",
            "nothing",
            same=True,
        ),
        Case(
            "assembly",
            "one chain a model (biological assembly files)",
            text("d.pdb", lambda: models(chain("A"), chain("B"))),
            UNREADABLE,
            "the first model alone is not a complex",
            r"only one protein chain \('A'\).*2 models, the first is used",
            "write all chains into one model",
        ),
        Case(
            "ensemble",
            "several models of one chain (NMR)",
            text("d.pdb", lambda: models(chain("A"), shifted(chain("A"), 9.0))),
            UNREADABLE,
            "one chain is not a complex",
            r"only one protein chain \('A'\).*an ensemble of 2 models of one chain, the first is used",
            "leave it out",
        ),
    ],
    "Chains": [
        Case(
            "one",
            "a single chain",
            in_pdb(lambda: chain("A")),
            UNREADABLE,
            "there is no interface to score",
            r"only one protein chain \('A'\).*at least two are needed \(",
            "leave it out",
        ),
        Case("three", "three chains", in_pdb(three_chains), OK, "every pair of chains counts", chains="ABC"),
        Case("ten", "ten chains", in_pdb(ten_chains), OK, "every pair of chains counts", chains="ABCDEFGHIJ"),
        Case(
            "apart",
            "chains that do not touch",
            in_pdb(lambda: chain("A") + shifted(chain("B"), 200.0)),
            NO_INTERFACE,
            "ranked last; the reason says how close they come",
            r"no CA of one chain within 10 Å of another chain's \(closest \d+\.\d Å\)",
        ),
        Case(
            "on_top",
            "two identical copies on top of each other",
            in_pdb(lambda: chain("A") + changed(chain("A"), chain="B")),
            UNREADABLE,
            "a chain that is written twice is read once, and one chain is not a complex",
            r"only one protein chain \('A'\).*chain B is a copy of chain A in the same place: left out",
            "write each chain in its own place",
        ),
        Case(
            "written_twice",
            "a chain written twice in one place, under two names",
            in_pdb(lambda: base() + changed(chain("B"), chain="C")),
            OK,
            "the second is left out, and the reason column says so",
            "chain C is a copy of chain B in the same place: left out",
            same=True,
            chains="AB",
        ),
        Case(
            "long_names",
            "chain names of several letters",
            in_mmcif(lambda: renamed(A="Heavy", B="Light")),
            OK,
            READ,
            same=True,
        ),
        Case(
            "two_letters",
            "the same in PDB, of two letters (columns 21 and 22)",
            in_pdb(lambda: renamed(A="AA", B="BA")),
            OK,
            READ,
            same=True,
        ),
        Case(
            "very_long_names",
            "chain names alike in their first eight letters",
            in_mmcif(lambda: renamed(A="ChainNumber1", B="ChainNumber2")),
            OK,
            "names are kept whole",
            same=True,
        ),
        Case(
            "long_everything",
            "long entity and residue names",
            text("d.cif", long_everything),
            OK,
            "a name nobody knows counts as UNK",
            "1 MODIFIED_LYSINE read as UNK; 1 of 12 interface residues left out: .*",
        ),
        Case(
            "twenty_eight",
            "28 chains (mkdssp itself stops at 26)",
            in_mmcif(lambda: many_chains(14)),
            OK,
            "every pair of chains counts",
        ),
        Case("digits", "digits as chain names", in_pdb(lambda: renamed(A="1", B="2")), OK, READ, same=True),
        Case(
            "blank",
            "one chain without a name",
            in_pdb(lambda: renamed(A=" ", B="B")),
            OK,
            "its name is empty",
            same=True,
        ),
        Case(
            "all_blank",
            "no chain names at all (segment names only)",
            text("d.pdb", charmm_blank),
            UNREADABLE,
            "all atoms are one chain",
            r"only one protein chain \(''\)",
            "write chain names into column 22",
        ),
        Case(
            "shared_name",
            "two chains of one name, with the same residue numbers",
            in_pdb(shared_name),
            OK,
            "each is a chain; the second is called B_2, and the reason column says so",
            "chain 'B' is several molecules: TopoRank calls 626 to 637 of it 'B_2'",
            chains="AB",
        ),
        Case(
            "one_name",
            "two molecules of one chain name, TER between them, as docking programs write them",
            text("d.pdb", lambda: f"{pdb(chain('A'))}TER\n{called_a()}TER\n"),
            OK,
            "each is a chain; the second is called A_2, and the reason column says so",
            IS_CALLED_A_2,
            chains=("A", "A_2"),
        ),
        Case(
            "one_name_of_three",
            "the same beside a third chain (H, L and an antigen called L)",
            text("d.pdb", one_name_of_three),
            OK,
            "the second is called B_2: `--partners A+B:B_2`",
            "chain 'B' is several molecules: TopoRank calls 203 to 214 of it 'B_2'",
            chains=("A", "B", "B_2"),
        ),
        Case(
            "one_name_ter_at_gap",
            "TER at a gap of a chain (pdb_tidy)",
            text("d.pdb", ter_at_gap),
            OK,
            "it stays one chain",
            chains="AB",
        ),
        Case(
            "dna",
            "a nucleic acid chain beside two of protein",
            in_pdb(lambda: base() + dna()),
            OK,
            "only protein chains make an interface; the reason column names DNA and RNA that touch it",
            r"at the interface, but not looked at: DNA \(chain D\)",
            same=True,
            chains="AB",
        ),
        Case(
            "one_protein_and_dna",
            "one protein chain and a nucleic acid",
            in_pdb(lambda: chain("A") + dna()),
            UNREADABLE,
            "there is no interface of proteins to score",
            r"only one protein chain \('A'\).*DNA \(chain D\): TopoRank scores interfaces of proteins only",
            "leave it out",
        ),
        Case(
            "only_dna",
            "nucleic acids only",
            in_pdb(lambda: dna() + changed(dna(), chain="E")),
            UNREADABLE,
            "no protein, no graph",
            "no protein chain with CA atoms",
            "leave it out",
        ),
    ],
    "Partners": [
        Case(
            "partners_each",
            "two chains, `partners=B:A`",
            in_pdb(base),
            OK,
            "the same graph, byte for byte",
            same=True,
            partners="B:A",
        ),
        Case(
            "partners_joined",
            "three chains, `partners=A+C:B`",
            in_pdb(three_chains),
            OK,
            "A and C are one body",
            chains="ABC",
            partners="A+C:B",
        ),
        Case(
            "partners_left_out",
            "three chains, `partners=A:B`",
            in_pdb(three_chains),
            OK,
            "C has no part in the interface, and the row says so",
            "no partner names chain C: left out of the interface",
            chains="AB",
            partners="A:B",
        ),
        Case(
            "partners_missing",
            "two chains, `partners=A+C:B`",
            in_pdb(base),
            MISSING,
            "ranked behind complete decoys; the reason names the chain",
            "no protein chain 'C', only A, B",
            "correct the partners, or the chain names of the decoy",
            partners="A+C:B",
        ),
        Case(
            "partners_letters",
            "three chains, `partners=AC:B`",
            in_pdb(three_chains),
            MISSING,
            "AC is the name of one chain",
            r"no protein chain 'AC', only A, B, C \(join chains by \+, such as A\+C\)",
            "write `A+C:B`",
            partners="AC:B",
        ),
        Case(
            "partners_apart",
            "chains that do not touch, `partners=A:B`",
            in_pdb(lambda: chain("A") + shifted(chain("B"), 200.0)),
            NO_INTERFACE,
            "`partner_apart` in the tables: ranked behind complete decoys; the reason says how far it is",
            r"no CA of one chain within 10 Å of another chain's \(closest \d+\.\d Å\)",
            partners="A:B",
        ),
    ],
    "Residue numbers": [
        Case(
            "chothia",
            "insertion codes (an antibody in Chothia numbering)",
            in_pdb(chothia),
            OK,
            "number and code together are the residue",
            same=True,
        ),
        Case("chothia_cif", "the same in mmCIF", in_mmcif(chothia), OK, "the same graph, byte for byte", same=True),
        Case(
            "negative",
            "negative numbers",
            in_pdb(lambda: [replace(a, number=a.number - 210) if a.chain == "A" else a for a in base()]),
            OK,
            READ,
            same=True,
        ),
        Case(
            "jumps",
            "gaps in the numbering",
            in_pdb(lambda: [replace(a, number=a.number * 3) for a in base()]),
            OK,
            "bonds are recognised by distance, not by number",
            same=True,
        ),
        Case(
            "hybrid36",
            "numbers beyond 9999 in hybrid-36",
            text("d.pdb", hybrid36_pdb),
            OK,
            "`A000` is 10000",
            same=True,
        ),
        Case("beyond_cif", "numbers beyond 9999 in mmCIF", in_mmcif(hybrid36), OK, READ, same=True),
        Case(
            "five_digits",
            "numbers of five digits in PDB columns",
            text("d.pdb", lambda: lines_changed(lambda s: s[:22] + "12345" + s[27:])),
            UNREADABLE,
            "refused: 12345 would be residue 1234, insertion code 5",
            "residue number of more than four digits in line 51",
            "number each chain from 1, or write mmCIF",
        ),
        Case(
            "stars_number",
            "residue number `****`",
            text("d.pdb", lambda: lines_changed(lambda s: s[:22] + "****" + s[26:])),
            UNREADABLE,
            "refused with the line",
            "not a residue number in line 51",
            "number each chain from 1, or write mmCIF",
        ),
        Case(
            "no_number_cif",
            "amino acid without a number in mmCIF",
            text("d.cif", numberless),
            UNREADABLE,
            "refused with the residue",
            "a residue [A-Z]{3} of chain 'A' has no number",
            "number it",
        ),
        Case(
            "huge_number_cif",
            "absurd number in mmCIF",
            in_mmcif(lambda: with_residue(210, number=99999999999)),
            UNREADABLE,
            "refused",
            "not a residue number in _atom_site.auth_seq_id: 99999999999",
            "renumber the residues",
        ),
    ],
    "Atoms and residues": [
        Case(
            "hydrogens",
            "hydrogens, under any name",
            in_pdb(hydrogens),
            OK,
            "they count in atom–atom distances as in the published method",
        ),
        Case(
            "altlocs",
            "alternate locations",
            in_pdb(altlocs),
            OK,
            "the most occupied one is kept, and the reason column says so",
            r"\d+ atoms in alternate locations left out",
            same=True,
        ),
        Case(
            "odd_occupancy",
            "an occupancy that is no number",
            in_mmcif(odd_occupancy),
            OK,
            "counts as 0",
            r"\d+ atoms in alternate locations left out",
            same=True,
        ),
        Case(
            "ligands",
            "ligands, ions, waters",
            in_pdb(lambda: base() + ligands()),
            OK,
            "no residues of the interface; seen by topology only with `atoms: all`",
            same=True,
        ),
        Case(
            "ligands_touching",
            "ligands and ions that touch the interface",
            in_pdb(touching_ligands),
            OK,
            "the same, and the reason column names them",
            r"at the interface, but not looked at: ATP \(A:901\), CA \(A:902\)",
            same=True,
        ),
        Case(
            "mse",
            "selenomethionine (MSE)",
            in_pdb(lambda: with_residue(210, residue="MSE", het=True)),
            OK,
            "counts as MET, and the reason column says so",
            "1 MSE read as MET",
        ),
        Case(
            "hetatm",
            "a standard amino acid written as HETATM, with a peptide bond to its chain",
            in_pdb(lambda: with_residue(210, het=True)),
            OK,
            "part of the chain, and the reason column says so",
            "1 amino acid of chain A written as HETATM, read as part of it",
            same=True,
        ),
        Case(
            "hetatm_chain",
            "a whole chain written as HETATM",
            in_mmcif(lambda: [*chain("A"), *changed(chain("B"), het=True)]),
            OK,
            "the same",
            r"\d+ amino acids of chain B written as HETATM, read as part of it",
            same=True,
        ),
        Case(
            "free_amino_acid",
            "an amino acid written as HETATM without a peptide bond",
            in_pdb(
                lambda: [*base(), *changed(shifted([a for a in base() if a.number == 210], 90.0), chain="L", het=True)]
            ),
            OK,
            "a ligand",
            same=True,
            chains="AB",
        ),
        Case(
            "sep",
            "phosphoserine (SEP) and other known modifications",
            in_mmcif(lambda: with_residue(210, residue="SEP", het=True)),
            OK,
            "counts as its parent, and the reason column says so",
            "1 SEP read as SER",
        ),
        Case(
            "d_amino",
            "D-amino acid (DAL)",
            in_pdb(lambda: with_residue(210, residue="DAL", het=True)),
            OK,
            "counts as its L form, and the reason column says so",
            "1 DAL read as ALA",
        ),
        Case(
            "rare",
            "selenocysteine and pyrrolysine (SEC, PYL)",
            in_pdb(lambda: with_residue(210, residue="SEC")),
            OK,
            "they count as CYS and LYS",
            "1 SEC read as CYS",
        ),
        Case(
            "oxygens",
            "oxygen atoms at the end of a chain called OT1, OT2 (CHARMM) or O1, O2 (GROMACS)",
            in_pdb(lambda: [replace(a, name="OT1") if (a.name, a.number) == ("O", 214) else a for a in base()]),
            OK,
            "they are read as O and OXT",
            same=True,
        ),
        Case(
            "no_side_chains",
            "a backbone without side chains (RFdiffusion)",
            in_pdb(lambda: [a for a in base() if a.name in ("N", "CA", "C", "O")]),
            OK,
            "scored, but the reason column and the answer say that the score means little",
            r"no side chains in chains A and B \(backbone only\): the score means little",
        ),
        Case(
            "force_field",
            "names of Amber and CHARMM (HSD, CYX)",
            in_pdb(lambda: with_residue(210, residue="HSD")),
            OK,
            "counts as the amino acid",
            "1 HSD read as HIS",
        ),
        Case(
            "four_letters",
            "PDB names of four letters (HISE, LYSH, CYS2, NALA of GROMACS, Amber, CHARMM, VMD)",
            in_pdb(lambda: with_residue(210, residue="HIS", chain="EA")),
            OK,
            "the fourth letter, in column 21, is that of the residue, since a peptide bond leads into the chain",
            "1 HISE read as HIS",
            chains="AB",
        ),
        Case(
            "four_letters_apart",
            "the same, where no peptide bond leads to the residue",
            in_pdb(lambda: shifted_residue(210, residue="HIS", chain="EA")),
            UNREADABLE,
            "refused: column 21 may be the first letter of a chain name, such as EA",
            "column 21 of line .* belongs to residue HISE of chain 'A' or to residue HIS of chain 'EA', number 210: .*",
            "write residue names of three letters, or mmCIF",
        ),
        Case(
            "unk",
            "UNK",
            in_pdb(lambda: with_residue(210, residue="UNK")),
            OK,
            "its atoms count, but it is no node",
            "1 of 12 interface residues left out: not reported by DSSP .*",
        ),
        Case(
            "unheard",
            "a residue name nobody knows, with N, CA, C and O",
            in_mmcif(lambda: with_residue(210, residue="A1XYZ", het=True)),
            OK,
            "counts as UNK",
            "1 A1XYZ read as UNK; 1 of 12 interface residues left out: not reported by DSSP .*",
        ),
        Case(
            "without_ca",
            "a residue without CA",
            in_pdb(lambda: without_atoms("CA", numbers=[210])),
            OK,
            "it is no node, and the reason column says so",
            "1 amino acids without CA atom",
        ),
        Case(
            "without_n",
            "a residue without N, C or O",
            in_pdb(lambda: without_atoms("N", numbers=[210])),
            OK,
            "it is no node, and the reason column says so",
            r"1 of 12 interface residues left out: not reported by DSSP .*",
            "rebuild the backbone if there are many",
        ),
        Case(
            "no_ca_at_all",
            "no CA atoms at all",
            in_pdb(lambda: without_atoms("CA")),
            UNREADABLE,
            "refused",
            "no protein chain with CA atoms.*24 amino acids without CA atom",
            "give the full backbone",
        ),
        Case(
            "ca_only",
            "CA atoms only",
            in_pdb(lambda: [a for a in base() if a.name == "CA"]),
            FAILED,
            "DSSP needs the backbone",
            "none of the 12 interface residues can become a node.*each residue needs its N, CA, C and O.*"
            r"no side chains in chains A and B \(CA atoms only\)",
            "rebuild the other atoms",
        ),
    ],
    "Names inside a file": [
        *(
            Case(
                f"{what}_{kind}",
                f"{shown} in the name of {a} in mmCIF",
                text("d.cif", lambda column=column, name=name: oddly_named(column, name)),
                UNREADABLE,
                "refused with the name",
                says.format(thing=thing),
                "make or fetch the file again",
            )
            for what, a, thing, column in (
                ("residue", "a residue", "residue name", "label_comp_id"),
                ("chain", "a chain", "chain name", "auth_asym_id"),
                ("atom", "an atom", "atom name", "label_atom_id"),
            )
            for kind, shown, name, says in (
                ("tab", "a tab", "A\tB", r"cannot be printed in the {thing} 'A\\tB' \("),
                ("break", "a line break", "A\nB", r"cannot be printed in the {thing} 'A\\nB' \("),
                ("control", "a control character", "\x07", r"cannot be printed in the {thing} '\\x07' \("),
                ("endless", "10,000 letters", "X" * 10_000, "name of (10000|eight) letters"),
            )
        ),
        Case(
            "residue_quotes",
            "quotation marks in the name of a residue in mmCIF",
            text("d.cif", lambda: oddly_named("label_comp_id", "A\"B'C")),
            OK,
            "a name nobody knows counts as UNK",
            "1 A\"B'C read as UNK; 1 of 12 interface residues left out: .*",
        ),
        Case(
            "control_pdb",
            "a control character in the name of a residue in PDB",
            text("d.pdb", lambda: lines_changed(lambda s: s[:17] + "\x07\x07\x07" + s[20:])),
            UNREADABLE,
            "refused with the name",
            r"cannot be printed in the residue name '\\x07\\x07\\x07' \(",
            "make or fetch the file again",
        ),
    ],
    "Coordinates": [
        Case(
            "nanometres",
            "coordinates in nanometres",
            in_pdb(in_nanometres),
            UNREADABLE,
            "refused",
            r"coordinates look like nanometres: .* \(multiply them by 10\)",
            "multiply them by 10",
        ),
        Case(
            "crowd",
            "many copies of a complex in one place",
            in_mmcif(lambda: copies(20)),
            UNREADABLE,
            "refused: no matter is that dense (four copies in one place still pass)",
            r"\d+ residues within a cube of 10 Å, where a protein has about 8 \(",
            "keep one copy",
        ),
        Case(
            "four_copies",
            "four copies of a complex in one place, chains grown into each other",
            in_mmcif(lambda: copies(4)),
            OK,
            "read",
            "...",
            "leave such decoys out: their scores mean little",
        ),
        *(
            Case(
                f"coordinate_{name}",
                f"`{value}` as a coordinate in PDB",
                in_pdb(lambda v=value: with_atom(50, y=v)),
                UNREADABLE,
                "refused with residue and line",
                r"a coordinate of A:2\d\d is not a number: '.*' in line 51 \(",
                "make the file again, or as mmCIF",
            )
            for name, value in (("nan", "nan"), ("stars", "********"), ("comma", "12,345"), ("two", "1.0 2.0"))
        ),
        Case(
            "too_wide",
            "a coordinate wider than its column",
            text("d.pdb", lambda: lines_changed(lambda s: s[:30] + "-1234.567" + s[38:-1])),
            UNREADABLE,
            "refused with residue and line",
            r"a coordinate of A:2\d\d is not a number: .* in line 51 \(",
            "move the complex to the origin, or write mmCIF",
        ),
        Case(
            "nan_cif",
            "`nan`, `?` or text as a coordinate in mmCIF",
            in_mmcif(lambda: with_atom(50, y="nan")),
            UNREADABLE,
            "refused with the residue",
            r"a coordinate of A:2\d\d is not a number \(",
            "make the file again",
        ),
        Case(
            "absurd",
            "`1e30` as a coordinate",
            in_mmcif(lambda: with_atom(50, y="1e30")),
            UNREADABLE,
            "refused with the residue",
            r"a coordinate of A:2\d\d is 1e\+30 Å, which is outside any complex",
            "remove atoms of unknown place",
        ),
        Case(
            "unknown_place",
            "9999 or 99999 as a coordinate (unknown place)",
            in_pdb(lambda: with_atom(50, y=9999.0)),
            UNREADABLE,
            "refused with the residue",
            r"a coordinate of A:2\d\d is 9999 Å, which is outside any complex",
            "remove atoms of unknown place",
        ),
        Case(
            "zeros",
            "all coordinates 0",
            in_pdb(lambda: changed(base(), x=0.0, y=0.0, z=0.0)),
            UNREADABLE,
            "refused",
            "all coordinates are 0",
            "make the file again",
        ),
        Case(
            "far_off",
            "a complex far from the origin",
            in_mmcif(lambda: shifted(base(), 5000.0)),
            OK,
            "nothing depends on where the origin is",
        ),
    ],
    "Damaged and misnamed files": [
        Case(
            "empty",
            "empty file",
            text("d.pdb", ""),
            UNREADABLE,
            "refused",
            r"the file is empty \(",
            "make or fetch it again",
        ),
        Case(
            "empty_gz",
            "empty gzip file",
            raw("d.pdb.gz", lambda: b""),
            UNREADABLE,
            "refused",
            r"the file is empty \(",
            "make or fetch it again",
        ),
        Case(
            "no_atoms",
            "no atoms (an HTML error page, say)",
            text("d.pdb", "<html><body>404 Not Found</body></html>\n"),
            UNREADABLE,
            "refused",
            r"no atoms found in this pdb file \(",
            "fetch it again",
        ),
        Case(
            "cut_pdb",
            "PDB cut off within a line",
            text("d.pdb", lambda: pdb(base())[:-40]),
            UNREADABLE,
            "refused; a file cut between lines cannot be told from a whole one",
            r"not a readable pdb file: .* \(make or fetch it again\)",
            "make or fetch it again",
        ),
        Case(
            "cut_cif",
            "mmCIF cut off within a row",
            text("d.cif", lambda: mmcif(base())[:-60]),
            UNREADABLE,
            "refused",
            r"not a readable mmcif file: .* \(make or fetch it again\)",
            "make or fetch it again",
        ),
        Case(
            "cut_gz",
            "gzip file cut off",
            raw("d.pdb.gz", lambda: zipped()[:-200]),
            UNREADABLE,
            "refused",
            r"damaged gzip file: .* \(",
            "make or fetch it again",
        ),
        Case(
            "flipped_gz",
            "damaged gzip file",
            raw("d.pdb.gz", flipped),
            UNREADABLE,
            "refused",
            r"damaged gzip file: .* \(",
            "make or fetch it again",
        ),
        Case(
            "not_gz",
            "plain text called `.gz`",
            raw("d.pdb.gz", lambda: pdb(base()).encode()),
            UNREADABLE,
            "refused",
            r"damaged gzip file: .*take \.gz off its name",
            "rename it",
        ),
        Case(
            "is_gz",
            "gzip file not called `.gz`",
            raw("d.pdb", zipped),
            UNREADABLE,
            "refused",
            r"it is gzipped \(rename it to end in \.gz\)",
            "rename it",
        ),
        Case(
            "cut_zst",
            "Zstandard file cut off",
            raw("d.cif.zst", lambda: zstandard.compress(mmcif(base()).encode())[:-200]),
            UNREADABLE,
            "refused",
            r"damaged Zstandard file: it ends too early \(",
            "make or fetch it again",
        ),
        Case(
            "is_xz",
            "xz file not called `.xz`",
            raw("d.pdb", lambda: lzma.compress(pdb(base()).encode())),
            UNREADABLE,
            "refused",
            r"it is compressed by xz \(rename it to end in \.xz\)",
            "rename it",
        ),
        Case(
            "twice_gz",
            "compressed twice",
            text("d.pdb.gz", zipped),
            UNREADABLE,
            "refused",
            r"it is gzipped \(compressed twice: unpack it once\)",
            "unpack it once",
        ),
        Case(
            "pdb_as_cif",
            "PDB text called `.cif`",
            text("d.cif", lambda: pdb(base())),
            UNREADABLE,
            "refused: a wrong name often means a wrong file",
            r"this is PDB format \(rename it to end in \.pdb\)",
            "rename it",
        ),
        Case(
            "cif_as_pdb",
            "mmCIF text called `.pdb`",
            text("d.pdb", lambda: mmcif(base())),
            UNREADABLE,
            "refused: a wrong name often means a wrong file",
            r"this is mmCIF \(rename it to end in \.cif\)",
            "rename it",
        ),
        Case(
            "garbage",
            "binary data",
            raw("d.pdb", garbage),
            UNREADABLE,
            "refused",
            r"binary data, not text \(",
            "fetch it again",
        ),
        Case(
            "garbage_cif",
            "binary data called mmCIF",
            raw("d.cif", garbage),
            UNREADABLE,
            "refused",
            r"binary data, not text \(",
            "fetch it again",
        ),
        Case(
            "utf16",
            "text in UTF-16",
            raw("d.pdb", lambda: pdb(base()).encode("utf-16")),
            UNREADABLE,
            "refused",
            r"binary data, not text \(.*plain text",
            "save it as plain text",
        ),
        Case(
            "no_table",
            "mmCIF without atoms (structure factors, a ligand's dictionary)",
            text("d.cif", "data_x\n_entry.id x\n"),
            UNREADABLE,
            "refused",
            r"no _atom_site table in this mmcif file \(",
            "fetch the coordinates",
        ),
        Case(
            "no_column",
            "mmCIF without a column that is needed",
            text("d.cif", lambda: mmcif(base(), without=["label_alt_id"])),
            UNREADABLE,
            "refused with the column",
            r"the _atom_site table has no column label_alt_id \(",
            "write it with all columns",
        ),
        Case(
            "bomb",
            "file that unpacks to more than 256 MiB",
            bomb,
            UNREADABLE,
            "refused before it fills the memory",
            r"more than 256 MiB of text \(",
            "leave it out",
        ),
        Case(
            "bomb_zst",
            "the same, of Zstandard",
            raw("d.pdb.zst", lambda: zstandard.compress(bytes(1 << 20), 19) * 300),
            UNREADABLE,
            "refused before it fills the memory",
            r"more than 256 MiB of text \(",
            "leave it out",
        ),
        Case(
            "link",
            "link to nowhere",
            link,
            UNREADABLE,
            "refused",
            r"cannot be read: No such file or directory \(a broken link\?\)",
            "repair the link",
        ),
        Case(
            "directory",
            "folder in place of a file",
            directory,
            UNREADABLE,
            "refused",
            r"cannot be read: Is a directory \(",
            "put the file in its place",
        ),
        Case(
            "device",
            "pipe or device in place of a file",
            device,
            UNREADABLE,
            "refused without waiting for it",
            r"cannot be read: not a regular file \(",
            "put the file in its place",
        ),
        Case(
            "forbidden",
            "file without permission to read",
            forbidden,
            UNREADABLE,
            "refused",
            r"cannot be read: Permission denied \(",
            "`chmod +r`",
        ),
    ],
}
ALL = [case for group in CASES.values() for case in group]

INTRODUCTION = """\
# What becomes of every kind of file

Generated from `tests/inputs/_cases.py`, where each line is a test that goes from the file to the graph.

No file stops a run. Each decoy ends with a status in `results/<dataset>/coverage.tsv`: `ok` has a graph and a score,
`no_interface` is ranked last, `unreadable`, `failed` and `intermediate` have no rank. The column `reason` says what
is wrong, where and what to do; for an `ok` decoy it says what was decided on your behalf, or is empty.

Very large complexes are no special case: 20,000 residues with 6,000 at their interfaces go through all stages in ten
seconds of one core and 0.3 GB (0.5 GB where the kernels are compiled first); mkdssp alone, where it is asked for,
takes minutes. A whole scoring of a capsid of 120 chains, with 14,580 residues and 8,760 of them at 210 interfaces,
takes 30 CPU seconds and 0.7 GB on a busy machine (`make bench-capsid`).

## What is a target

Models of one complex are a target: they are held against each other and ranked. **Sequences decide, not folders.**

- Chains are of one kind when 90 % of the residues of the shorter one are in the other, and half of the longer one's:
  mutants, cut ends and missing loops leave a protein what it is. Names and order of chains and numbers of residues
  decide nothing. Peptides of up to 30 residues are of one kind when all their letters are the same: each peptide of a
  scan is a target, wherever the exchange is, and so are a 9-mer and a 10-mer.
- Models in one folder with the same kinds of chains, in the same numbers of copies, are a target. A folder with the
  best models of forty pairs of proteins has forty targets, called after what the names of their files share
  (`af2_7ACV_model_0` and `boltz_7ACV_model_1`: 7ACV), else after the folder.
- A model that lacks chains is `chain_missing` where four times as many models of its folder have them, or where one
  chain alone is left. Otherwise it is a model of another complex. So are 1:1 beside 2:2 and two copies beside four,
  however many models there are of each: all chains are there, in the same proportions.
- Models of one complex in several folders are one target, where copies of chains are as many and no residue is
  exchanged; a mutant in a folder of its own is a target of its own. Files of the same name are then called
  `<folder>_<file>`. A folder to which `partners.csv` gives other partners is kept apart.
- Mutants in one folder, such as nanobodies that differ in a loop, are one target and compared as one complex.
  TopoRank names the first such target and how many residues differ: put each into a folder of its own to score them
  apart.
- Each archive in the folder is a job: its models are not joined with those of other archives or folders.
- Each model of a file is a decoy, `<file>#1`, `<file>#2` and so on; an ensemble of a single chain is not a complex.

The first lines of its answer say where sequences and folders differ. `toporank score FOLDER --targets folder`, or
`targets: folder` in the configuration, keeps to the folders: each is a target. Where labels or natives name targets,
folders count by default.

In `coverage.tsv`, `chains` says which chains of the target a model's chains are where the names differ (`A=6 B=7`: 6
is the target's A), and `model` which model of its file it is (0 for the only one). In `interfaces.csv`, `interface`
has the names of the target and `chains` those of the model.

## What counts as a model

- **A copy does not count**: a file with the same atoms in the same places, to 0.001 Å, as another one of its target.
  It may have another format, such as `ranked_0.cif` beside `ranked_0.pdb`, or another name, such as the `ranked_`
  files of AlphaFold-Multimer. It has a row of its own, `duplicate_of` says which model it is, it shares the rank of
  that model, and it has no vote. All counts, in the terminal, on the page and in `targets.csv`, are of models without
  copies.
- **A relaxed model counts** beside the unrelaxed one: its coordinates differ, and so may its score. `twin_of` says
  that the interfaces are nearly the same.
- **An intermediate state does not count**: a recycle of ColabFold (`--save-recycles`, `….r3.pdb`) or another program
  (`…_recycle_3.pdb`), or a trajectory of RFdiffusion. Its status is `intermediate`; it has neither score nor vote.
  Where the final model is not there, because the program was stopped, the last recycle stands for it.
- **No clash of names stops a run.** Of files that would be called alike, PDB keeps the name and the others get their
  ending behind it: `ranked_0_cif`. Where the atoms differ, TopoRank says so.
"""


def markdown() -> str:
    """The text of docs/inputs.md."""
    parts = [INTRODUCTION, *_layouts.markdown()]
    for group, cases in CASES.items():
        rows = [f"| {c.input} | `{c.status}` | {c.happens} | {c.remedy} |" for c in cases]
        parts += [f"## {group}\n", "| input | status | what happens | what to do |", "| --- | --- | --- | --- |", *rows]
        parts.append("")
    return "\n".join([*parts, *_tables.markdown()])


if __name__ == "__main__":
    sys.stdout.write(markdown())
