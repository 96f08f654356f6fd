"""What is read out of a structure file, and ways in which a file can be unfit: those that
tests/inputs has not.
"""

from __future__ import annotations

import gzip
import itertools
import re
import tracemalloc
from dataclasses import replace

import gemmi
import numpy as np
import pytest
from _complexes import assert_same

from structures_text import (
    Atom,
    alanine,
    changed,
    mmcif,
    pair,
    pdb,
    pdb_line,
    sketch,
    write,
)
from toporank.errors import StructureError
from toporank.structures.read import read_complex


def both_formats(test):
    """Run a test on the PDB and on the mmCIF text of the same atoms."""
    return pytest.mark.parametrize(
        ("as_text", "name"), [(pdb, "d.pdb"), (mmcif, "d.cif")], ids=["pdb", "mmcif"]
    )(test)


def ids(complex_) -> list[str]:
    return [str(residue) for residue in complex_.residues]


A_BIT_OF_ALL = [
    *alanine("A", -3, 0.0),
    *alanine("A", 52, 4.0),
    *alanine("A", 52, 8.0, insertion_code="A"),
    *alanine("1", 7, 0.0, 6.0),
    *changed(alanine("1", 8, 4.0, 6.0), residue="MSE", het=True),
    Atom("P", "DA", "C", 1, 20.0, 0.0, 0.0),
    Atom("CA", "CA", "A", 201, 1.0, 2.0, 3.0, het=True, element="CA"),
    Atom("O", "HOH", "A", 301, 9.0, 9.0, 9.0, het=True),
]


# ---- what is read --------------------------------------------------------------------------------


@both_formats
def test_every_atom_comes_out_as_it_stands_in_the_file(read, as_text, name):
    complex_ = read(as_text(A_BIT_OF_ALL), name)
    assert complex_.xyz.dtype == np.float64
    np.testing.assert_array_equal(complex_.xyz, [[a.x, a.y, a.z] for a in A_BIT_OF_ALL])
    assert [n.decode() for n in complex_.atom_names] == [a.name for a in A_BIT_OF_ALL]
    assert [
        (*complex_.residues[r], complex_.names[r]) for r in complex_.residue_of
    ] == [(a.chain, a.number, a.insertion_code, a.residue) for a in A_BIT_OF_ALL]


def test_pdb_and_mmcif_of_the_same_atoms_give_the_same_complex(read):
    assert_same(
        read(pdb(A_BIT_OF_ALL)),
        replace(read(mmcif(A_BIT_OF_ALL), "decoy.cif"), labels=()),
    )


@pytest.mark.parametrize("plain", ["d.pdb", "d.ent", "d.CIF"])
@pytest.mark.parametrize("compression", [".gz", ".GZ", ".bz2", ".xz", ".zst", ".ZST"])
def test_compressed_equals_plain_in_any_case_of_the_suffix(read, plain, compression):
    text = mmcif(A_BIT_OF_ALL) if "CIF" in plain else pdb(A_BIT_OF_ALL)
    assert_same(read(text, plain), read(text, plain + compression))


def test_a_protein_residue_without_ca_has_none(read):
    complex_ = read(pdb([a for a in pair() if not (a.chain == "B" and a.name == "CA")]))
    assert complex_.ca.tolist() == [1, -1]
    assert complex_.is_protein.tolist() == [True, True]


# ---- what counts as protein ----------------------------------------------------------------------


@both_formats
def test_waters_ions_ligands_and_nucleic_acids_are_read_but_are_not_protein(
    read, as_text, name
):
    others = [
        Atom("O", "HOH", "A", 301, 1.0, 1.0, 1.0, het=True),
        Atom("CA", "CA", "A", 302, 2.0, 2.0, 2.0, het=True, element="CA"),
        Atom("C1", "ATP", "B", 303, 3.0, 3.0, 3.0, het=True),
        Atom("CA", "GLY", "B", 304, 4.0, 4.0, 4.0, het=True),  # free glycine, a ligand
        Atom("P", "DA", "C", 1, 5.0, 5.0, 5.0),
        Atom("P", "U", "D", 1, 6.0, 6.0, 6.0),
    ]
    complex_ = read(as_text([*pair(), *others]), name)
    assert complex_.parents[2:] == ("",) * 6
    assert complex_.ca[2:].tolist() == [-1] * 6
    assert complex_.chains == ["A", "B"]


READ_AS = """
HID HIS, HIE HIS, HIP HIS, HSD HIS, HSE HIS, HSP HIS, CYX CYS, CYM CYS, LYN LYS, LSN LYS, MLY LYS,
ASH ASP, GLH GLU, ARN ARG, MSE MET, SEP SER, TPO THR, PTR TYR
"""


@pytest.mark.parametrize("het", [True, False])
@both_formats
def test_names_of_force_fields_and_modified_residues_count_as_their_parent(
    read, as_text, name, het
):
    for names in READ_AS.split(","):
        modified, parent = names.split()
        first = changed(alanine("A", 1, 0.0), residue=modified, het=het)
        complex_ = read(as_text([*first, *alanine("B", 1, 5.0)]), name)
        assert (complex_.names[0], complex_.parents[0]) == (modified, parent)
        assert complex_.notes == (f"1 {modified} read as {parent}",)


# ---- models and alternate locations --------------------------------------------------------------


@both_formats
def test_of_several_models_the_first_is_used_and_that_is_noted(read, as_text, name):
    complex_ = read(three_models(as_text), name)
    one = [*alanine("A", 1, 0.0), *alanine("B", 1, 9.0)]
    np.testing.assert_array_equal(complex_.xyz, read(pdb(one), "one.pdb").xyz)
    assert complex_.notes == ("3 models, the first is used",)


def three_models(as_text) -> str:
    """Three models of the smallest complex; the partners come nearer from one to the next."""
    models = {n: [*alanine("A", 1, 0.0), *alanine("B", 1, 10.0 - n)] for n in (1, 2, 3)}
    if as_text is mmcif:
        return mmcif(
            atom for n, atoms in models.items() for atom in changed(atoms, model=n)
        )
    return "".join(
        f"MODEL     {n:4d}\n{pdb(atoms)}ENDMDL\n" for n, atoms in models.items()
    )


@both_formats
def test_a_model_that_the_file_does_not_have_is_refused(tmp_path, as_text, name):
    with pytest.raises(StructureError, match="no model 4, only 3 models"):
        read_complex(write(tmp_path / name, three_models(as_text)), 3)
    with pytest.raises(StructureError, match="no model 2, only one model"):
        read_complex(write(tmp_path / f"one_{name}", as_text(pair())), 1)


def test_a_model_is_as_if_it_were_the_only_one_of_the_file(tmp_path, read):
    later = pdb(changed(pair(), x=3.0, y=50.0, z=9.0))
    text = (
        f"REMARK 1\nMODEL        1\n{pdb(A_BIT_OF_ALL)}ENDMDL\nEND\nMODEL        "
        f"2\n{pdb(pair())}ENDMDL\n{later}"
    )
    path = write(tmp_path / "several.pdb", text)
    assert_same(read_complex(path, 0), read(pdb(A_BIT_OF_ALL)))
    assert_same(read_complex(path, 1), read(pdb(pair())))


def test_what_is_wrong_in_a_later_model_is_said_with_its_line(tmp_path):
    text = (
        f"MODEL        1\n{pdb(pair())}ENDMDL\nMODEL        "
        f"2\n{pdb(changed(pair(), x='********'))}ENDMDL\n"
    )
    with pytest.raises(StructureError, match=r"not a number.* in line 14"):
        read_complex(write(tmp_path / "d.pdb", text), 1)
    cut = text.replace("********", " " * 8, 1).splitlines()
    cut[13] = cut[13][:40]
    with pytest.raises(StructureError, match="line 14"):
        read_complex(write(tmp_path / "cut.pdb", "\n".join(cut)), 1)


# ---- copies of chains ----------------------------------------------------------------------------


def dimer(shift: float = 0.0, **other) -> list[Atom]:
    """Chain A of two residues and chain B beside it, moved and changed."""
    b = [*alanine("B", 1, 5.0), *alanine("B", 2, 5.0, 4.0)]
    return [
        *alanine("A", 1, 0.0),
        *alanine("A", 2, 0.0, 4.0),
        *[replace(a, x=a.x + shift, **other) for a in b],
    ]


@both_formats
@pytest.mark.parametrize("shift", [0.0, 0.2, -0.2])
def test_a_chain_that_is_written_twice_is_read_once(read, as_text, name, shift):
    water = Atom("O", "HOH", "C", 301, 9.0, 9.0, 9.0, het=True)
    copy = [*dimer(shift, chain="C")[10:], water]
    complex_ = read(as_text([*dimer(), *copy]), name)
    assert complex_.chains == ["A", "B"]
    assert complex_.notes == (
        "chain C is a copy of chain B in the same place: left out",
    )
    assert_same(replace(complex_, notes=()), read(as_text(dimer()), f"plain_{name}"))


@pytest.mark.parametrize(
    "third",
    [
        dimer(9.0, chain="C")[10:],
        dimer(0.6, chain="C")[10:],
        [
            *dimer(chain="C")[10:15],
            *[replace(a, x=a.x + 1.5) for a in dimer(chain="C")[15:]],
        ],
        dimer(chain="C")[10:15],
        dimer(0.2, chain="C", residue="SER")[10:],
    ],
    ids=[
        "elsewhere",
        "beside it",
        "the first residue alone",
        "a part of it",
        "another sequence",
    ],
)
def test_a_chain_that_only_resembles_another_stays(read, third):
    assert read(pdb([*dimer(), *third])).chains == ["A", "B", "C"]


@both_formats
def test_of_alternate_locations_the_one_with_the_highest_occupancy_stays(
    read, as_text, name
):
    atoms = pair()
    atoms[1:2] = [
        replace(atoms[1], altloc="A", occupancy=0.3, x=0.1),
        replace(atoms[1], altloc="B", occupancy=0.5, x=0.2),
        replace(atoms[1], altloc="C", occupancy=0.2, x=0.3),
    ]
    complex_ = read(as_text(atoms), name)
    assert complex_.xyz[complex_.ca[0]].tolist() == [0.2, 0.0, 0.0]
    assert len(complex_.xyz) == 10
    assert complex_.notes == ("2 atoms in alternate locations left out",)


def test_of_alternate_residues_at_one_place_only_one_stays(read):
    serine = changed(alanine("A", 1, 0.0), residue="SER", altloc="A", occupancy=0.4)
    serine.append(Atom("OG", "SER", "A", 1, 2.0, 2.0, 2.0, altloc="A", occupancy=0.4))
    glycine = changed(
        alanine("A", 1, 0.1)[:4], residue="GLY", altloc="B", occupancy=0.6
    )
    complex_ = read(pdb([*serine, *glycine, *alanine("B", 1, 5.0)]))
    assert {complex_.names[r] for r in complex_.residue_of} == {"GLY", "ALA"}
    assert complex_.atom_names[:4].tolist() == [b"N", b"CA", b"C", b"O"]
    assert len(complex_.xyz) == 9


def serine(chain: str, number: int, x: float, **other) -> list[Atom]:
    """A serine; it has a side chain, so that its chain has."""
    og = Atom("OG", "SER", chain, number, x, 2.0, 2.0, **other)
    return [*changed(alanine(chain, number, x), residue="SER", **other), og]


def conformations(how: str) -> list[Atom]:
    """A dimer of twelve serines each; what chain A has in a second conformation."""
    atoms = [serine("A", number, 3.8 * number) for number in range(1, 13)]
    if how == "a chain after the other":
        atoms = [changed(residue, altloc="A", occupancy=0.6) for residue in atoms]
        for number in range(1, 13):
            atoms.append(serine("A", number, 3.8 * number + 0.8, altloc="B"))
        atoms[12:] = [changed(residue, occupancy=0.4) for residue in atoms[12:]]
    elif how == "a chain twice":
        atoms += [serine("A", number, 3.8 * number + 0.3) for number in range(1, 13)]
    else:
        for number in (7, 4):
            x = 3.8 * number + 0.3
            other = changed(alanine("A", number, x), residue="GLY", occupancy=0.6)[:4]
            marked = [changed(atoms[number - 1], occupancy=0.4), other]
            if how == "marked residues":
                marked = [changed(marked[k], altloc="AB"[k]) for k in (0, 1)]
            atoms[number - 1 : number] = marked
    partner = [serine("B", number, 3.8 * number) for number in range(1, 13)]
    beside = [replace(atom, y=atom.y + 9) for atom in itertools.chain(*partner)]
    return [*itertools.chain(*atoms), *beside]


@both_formats
@pytest.mark.parametrize(
    "how",
    ["a chain after the other", "a chain twice", "marked residues", "plain residues"],
)
def test_a_chain_in_two_conformations_has_one_sequence_everywhere(
    tmp_path, as_text, name, how
):
    path = write(tmp_path / name, as_text(conformations(how)))
    complex_ = read_complex(path)
    a = "SSSGSSGSSSSS" if "residues" in how else "S" * 12
    sequences = {"A": a, "B": "S" * 12}
    of_labels = complex_.protein_chains.items()
    assert dict(sketch(path).first.chains) == complex_.sequences == sequences
    assert {chain: of_chain.sequence for chain, of_chain in of_labels} == sequences
    assert np.count_nonzero(complex_.is_protein) == 24
    assert not any("side chains" in note for note in complex_.notes)
    assert any("alternate locations" in note for note in complex_.notes)


@both_formats
@pytest.mark.parametrize("how", ["a chain after the other", "a chain twice"])
@pytest.mark.parametrize("lost", [range(1, 13), range(4, 9)])
def test_so_it_has_where_the_place_is_not_known(tmp_path, as_text, name, how, lost):
    atoms = []
    for atom in conformations(how):
        is_lost = atom.chain == "A" and atom.number in lost
        atoms.append(replace(atom, x=0.5, y=40.0, z=0.5) if is_lost else atom)
    path = write(tmp_path / name, as_text(atoms))
    assert dict(sketch(path).first.chains) == {"A": "S" * 12, "B": "S" * 12}


def test_a_residue_whose_atoms_stand_apart_in_the_file_is_one_residue(read):
    later = [Atom("HA", "ALA", "A", 1, 0.5, 0.5, 0.5)]
    complex_ = read(pdb([*alanine("A", 1, 0.0), *alanine("B", 1, 5.0), *later]))
    r = complex_.index()[complex_.residues[0]]
    names = complex_.atom_names[slice(*complex_.atom_slices[r : r + 2])]
    assert names.tolist() == [b"N", b"CA", b"C", b"O", b"CB", b"HA"]
    assert complex_.atom_names[complex_.ca[r]] == b"CA"
    assert (np.diff(complex_.residue_of) >= 0).all()
    assert complex_.notes == ()


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("name", ["HOH", "CA"])
def test_a_water_or_ion_with_the_number_of_a_residue_does_not_take_its_place(
    read, name, first
):
    other = [
        Atom(
            "O" if name == "HOH" else "CA",
            name,
            "A",
            1,
            9.0,
            9.0,
            9.0,
            het=True,
            occupancy=1.0,
        )
    ]
    protein = changed(alanine("A", 1, 0.0), occupancy=0.9) + alanine("B", 1, 5.0)
    complex_ = read(pdb(other + protein if first else protein + other))
    r = next(r for r, parent in enumerate(complex_.parents) if parent == "ALA")
    assert complex_.index()[complex_.residues[r]] == r
    assert complex_.xyz[complex_.ca[r]].tolist() == [0.0, 0.0, 0.0]
    assert len(complex_.xyz) == 11


# ---- odd but valid files -------------------------------------------------------------------------


def test_residue_numbers_beyond_9999_are_read_in_hybrid_36(read):
    atoms = alanine("A", "A000", 0.0) + alanine("A", "A001", 4.0) + alanine("B", 1, 8.0)
    assert ids(read(pdb(atoms))) == ["A:10000", "A:10001", "B:1"]


@pytest.mark.parametrize(
    "change",
    [lambda t: t.replace("\n", "\r\n"), lambda t: t.rstrip("\n"), lambda t: t + "\n\n"],
)
@both_formats
def test_line_ends_make_no_difference(read, as_text, name, change):
    assert_same(
        read(change(as_text(pair())), name), read(as_text(pair()), "plain" + name)
    )


def test_mmcif_with_author_columns_uses_these(read):
    document = gemmi.cif.read_string(mmcif(pair()))
    for row in document[0].find("_atom_site.", ["auth_asym_id", "auth_seq_id"]):
        row[0] = f"Z{row[0]}"
        row[1] = "101"
    assert ids(read(document.as_string(), "d.cif")) == ["ZA:101", "ZB:101"]


def test_mmcif_with_the_least_columns_is_read(read):
    optional = [
        "group_PDB",
        "label_entity_id",
        "pdbx_PDB_ins_code",
        "occupancy",
        "B_iso_or_equiv",
    ]
    author = ["auth_seq_id", "auth_comp_id", "auth_asym_id", "auth_atom_id"]
    text = mmcif(pair(), without=[*optional, *author, "pdbx_PDB_model_num"])
    assert_same(read(text, "d.cif"), read(mmcif(pair()), "full.cif"))


# ---- unfit files ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "name", "says"),
    [
        (" \n\n", "d.cif", "the file is empty"),
        ("", "d.pdb.gz", "the file is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "d.pdb", "binary data"),
        (pdb(pair()).encode() + b"\0", "d.pdb", "binary data"),
        ("HEADER    NOTHING ELSE\nEND\n", "d.pdb", "no atoms found"),
        (mmcif(pair()).split("ATOM ")[0], "d.cif", "no atoms found|not a readable"),
        (mmcif(pair(), without=["Cartn_z"]), "d.cif", "no atoms found|Cartn_z"),
    ],
)
def test_an_unfit_file_is_a_structure_error_that_names_file_and_reason(
    read, content, name, says
):
    with pytest.raises(StructureError, match=says) as error:
        read(content, name)
    assert str(error.value.where).endswith(name)
    assert "\n" not in error.value.reason


NO_NUMBERS = ("nan", "inf", "********", "abc", "12,345", "1.2.3")


@both_formats
@pytest.mark.parametrize("coordinate", NO_NUMBERS)
@pytest.mark.parametrize("axis", ["x", "z"])
def test_a_coordinate_that_is_no_number_is_an_error(
    read, as_text, name, axis, coordinate
):
    atoms = pair()
    atoms[6] = replace(atoms[6], **{axis: coordinate})
    with pytest.raises(StructureError, match=r"(of B:1 is not a number|coordinate)"):
        read(as_text(atoms), name)


@pytest.mark.parametrize(
    "coordinate", ["", "--1.000", "-", "1.5 2.5", "A.500", "1 2.500"]
)
def test_a_column_of_a_pdb_file_that_is_no_number_is_an_error(read, coordinate):
    atoms = pair()
    atoms[6] = replace(atoms[6], x=coordinate)
    with pytest.raises(StructureError, match=r"coordinate|number"):
        read(pdb(atoms))
    with pytest.raises(StructureError, match="number"):
        read(pdb([*pair(), *alanine("B", coordinate[:4] or "****", 9.0)]))


@pytest.mark.parametrize("parts", [1, 2])
def test_no_more_is_unpacked_than_the_limit_tells(tmp_path, monkeypatch, parts):
    monkeypatch.setattr(
        "toporank.structures.text.MAX_BYTES", 100_000
    )  # more than the file itself has
    (tmp_path / "d.pdb.gz").write_bytes(gzip.compress(bytes(20 << 20)) * parts)
    tracemalloc.start()
    with pytest.raises(StructureError, match="MiB of text"):
        read_complex(tmp_path / "d.pdb.gz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20


# ---- names that would tear a table ---------------------------------------------------------------

HOSTILE = {
    "tab": "A\tB", "line break": "A\nB", "escape": "A\x1b[31m", "bell": "\x07", "delete": "A\x7f",
    "separator": "A\u2028B",
    "right to left": "A\u202eB", "quotes": "A\"B'C", "ten thousand letters": "X" * 10_000, "semicolon": ";A",
    "emoji": "😀", "braces": "%s{x}",
}  # fmt: skip
COLUMNS_OF_NAMES = (
    "auth_comp_id", "auth_asym_id", "auth_atom_id", "label_asym_id", "pdbx_PDB_ins_code", "label_alt_id",
    "type_symbol", "auth_seq_id", "label_entity_id", "group_PDB", "pdbx_PDB_model_num",
)  # fmt: skip


@pytest.mark.parametrize("column", COLUMNS_OF_NAMES)
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_an_odd_name_in_an_mmcif_file_is_kept_if_it_can_be_printed_or_refused_in_words(
    read, column, name
):
    document = gemmi.cif.read_string(mmcif(pair()))
    table = document[0].find("_atom_site.", ["auth_asym_id", column])
    for row in table:
        if row[0] == "B":
            row[1] = f"\n;{name}\n;\n"
    assert len(table) == len(pair())
    refusal = None
    try:
        complex_ = read(document.as_string(), "d.cif")
    except StructureError as error:
        refusal = error
    if refusal:
        assert refusal.reason.isprintable()
        assert refusal.remedy
        assert len(refusal.reason) < 500
        return
    names = [*complex_.names, *complex_.notes, *np.char.decode(complex_.atom_names)]
    for residue, (label, _) in zip(complex_.residues, complex_.labels, strict=True):
        names += [residue.chain, label]
    assert all(each.isprintable() and len(each) <= 100 for each in names)


@pytest.mark.parametrize(
    "columns", [slice(12, 16), slice(17, 20), slice(21, 22), slice(26, 27)]
)
def test_a_control_character_in_a_name_of_a_pdb_file_is_refused(read, columns):
    line = pdb_line(Atom("CA", "ALA", "C", 1, 0.0, 0.0, 9.0))
    odd = (
        line[: columns.start]
        + "\x07" * (columns.stop - columns.start)
        + line[columns.stop :]
    )
    with pytest.raises(
        StructureError, match=r"cannot be printed in the .* '(\\x07)+'"
    ) as error:
        read(pdb(pair()) + odd + "\n")
    assert error.value.reason.isprintable()


# ---- numbers that mmCIF gives itself -------------------------------------------------------------


def test_labels_are_carried_beside_the_authors_numbers(read):
    """As in deposited files: label_asym_id and label_seq_id are not what the authors use."""
    text = mmcif(
        [
            *alanine("H", 52, 0.0, insertion_code="A"),
            *changed(alanine("L", 7, 5.0), residue="HOH", het=True),
        ]
    )
    text = re.sub(r"^(ATOM .*?) H 1 52 ", r"\1 Aa 1 3 ", text, flags=re.MULTILINE)
    text = re.sub(r"^(HETATM .*?) L 1 7 ", r"\1 B 2 . ", text, flags=re.MULTILINE)
    complex_ = read(text, "d.cif")
    assert ids(complex_) == ["H:52A", "L:7"]
    assert complex_.labels == (("Aa", 3), ("B", None))


def test_some_residues_of_a_complex_keep_their_atoms_and_their_ca(read):
    """The first residue has only a CA, which is the first atom of all."""
    only_ca = alanine("A", 1, 0.0)[1:2]
    complex_ = read(pdb([*only_ca, *alanine("A", 2, 4.0), *alanine("B", 1, 8.0)]))
    np.testing.assert_array_equal(complex_.xyz[complex_.ca][:, 0], [0.0, 4.0, 8.0])
    assert_same(complex_.only(np.arange(3)), complex_)
    some = complex_.only(np.array([0, 2]))
    assert ids(some) == [ids(complex_)[0], ids(complex_)[2]]
    np.testing.assert_array_equal(some.xyz[some.ca], complex_.xyz[complex_.ca[[0, 2]]])
    assert len(some.xyz) == 1 + len(alanine("B", 1, 8.0))
