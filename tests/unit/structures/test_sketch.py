"""A quick look into a structure file: its models, and the sequences of its chains as the reader has
them.
"""

from __future__ import annotations

import pytest

from structures_text import (
    EXAMPLES,
    Atom,
    alanine,
    changed,
    mmcif,
    pair,
    pdb,
    shifted,
    sketch,
    write,
)
from toporank.comparing.copies import copies_of
from toporank.confidence.bfactors import b_factors
from toporank.errors import StructureError
from toporank.structures import read
from toporank.structures.model_shape import shape_of
from toporank.structures.read import read_complex

BOTH = pytest.mark.parametrize(
    ("as_text", "name"), [(pdb, "d.pdb"), (mmcif, "d.cif")], ids=["pdb", "mmcif"]
)


def in_models(*models: str, mark: str = "MODEL     {:4d}\n") -> str:
    return "".join(
        f"{mark.format(n)}{text}ENDMDL\n" for n, text in enumerate(models, 1)
    )


@pytest.mark.parametrize(
    "path", sorted(EXAMPLES.rglob("*.pdb*")) + sorted(EXAMPLES.rglob("*.cif*")), ids=str
)
def test_chains_and_sequences_are_those_of_the_reader(path):
    found = sketch(path)
    assert found.numbers == (1,)
    assert dict(found.first.chains) == read_complex(path).sequences


@BOTH
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_one_letter_for_each_protein_residue_in_the_order_of_the_file(
    tmp_path, as_text, name, suffix
):
    atoms = [
        *alanine("B", 7, 0.0),
        *changed(alanine("B", 8, 4.0), residue="MSE", het=True),
        *changed(alanine("A", 1, 4.0, 9.0), residue="XYZ"),
        *changed(alanine("A", 2, 8.0, 9.0), residue="HIE"),
        Atom("P", "DA", "C", 1, 20.0, 0.0, 0.0),
        Atom("CA", "GLY", "D", 1, 30.0, 0.0, 0.0, het=True),  # free glycine, a ligand
        Atom("O", "HOH", "A", 301, 9.0, 9.0, 9.0, het=True),
        *alanine("B", 9, 8.0),  # a chain goes on behind others
    ]
    path = write(tmp_path / f"{name}{suffix}", as_text(atoms))
    assert sketch(path).first.chains == (("B", "AMA"), ("A", "XH"))
    assert dict(sketch(path).first.chains) == read_complex(path).sequences


@pytest.mark.parametrize("as_text", [pdb, mmcif])
@pytest.mark.parametrize(
    ("name", "is_another"),
    [("SEP", True), ("TPO", True), ("SEC", True), ("MSE", False), ("HIE", False), ("UNK", False)],
)  # fmt: skip
def test_a_modified_residue_is_named_with_its_place(tmp_path, as_text, name, is_another):  # fmt: skip
    atoms = alanine("A", 1, 0.0) + changed(alanine("A", 2, 3.8), residue=name, het=True)
    atoms += alanine("A", 3, 7.6) + alanine("B", 1, 0.0, 5.0)
    path = write(tmp_path / ("a.pdb" if as_text is pdb else "a.cif"), as_text(atoms))
    model = sketch(path).first
    assert model.modified == ((("A", 1, name),) if is_another else ())
    assert model.chains[0][0] == "A"


def test_the_shape_of_a_model_is_the_same_in_every_format_and_precision(tmp_path):
    atoms = shifted([*pair(), *alanine("C", 1, 9.0)], -3.001)
    finer = shifted(atoms, 0.0004)
    files = {
        "a.pdb": pdb(atoms),
        "a.pdb.gz": pdb(atoms),
        "a.cif": mmcif(atoms),
        "b.cif": mmcif(finer),
    }
    paths = [write(tmp_path / name, text) for name, text in files.items()]
    relaxed = write(tmp_path / "c.pdb", pdb([*atoms[:-1], *shifted(atoms[-1:], 0.5)]))
    shapes = {path.name: sketch(path).first.shape for path in [*paths, relaxed]}
    assert copies_of(shapes).original == dict.fromkeys(list(files)[1:], "a.pdb")
    assert shape_of(read_complex(paths[0])) == shapes["a.pdb"]


@BOTH
def test_each_model_of_a_file_has_its_own_shape(tmp_path, as_text, name):
    further = shifted(pair(), 5.0)
    models = [
        *changed(pair(), model=1),
        *changed(further, model=2),
        *changed(pair(), model=3),
    ]
    text = (
        in_models(pdb(pair()), pdb(further), pdb(pair()))
        if as_text is pdb
        else mmcif(models)
    )
    found = sketch(write(tmp_path / name, text))
    first, second, third = (model.shape for model in found.models)
    assert first == third != second != ""
    alone = sketch(write(tmp_path / "one.pdb", pdb(pair())))
    assert found.of_model(0).shape == found.of_model(1).shape == alone.first.shape


# ---- models --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        in_models(pdb(pair()), pdb(pair())),
        in_models(pdb(pair()), pdb(pair()), mark=""),
        f"{pdb(pair())}ENDMDL\n{pdb(pair())}",
        f"MODEL        1\n{pdb(pair())}MODEL        2\n{pdb(pair())}",
        in_models(pdb(pair()), pdb(pair())).replace("ENDMDL\n", "ENDMDL\nEND\n"),
        in_models("", pdb(pair()), "", pdb(pair()), mark=""),
        "MODEL        7\nENDMDL\n" + in_models(pdb(pair()), pdb(pair())),
    ],
    ids=[
        "both marks",
        "ENDMDL alone",
        "nothing behind the last",
        "MODEL alone",
        "END behind each",
        "empty ones",
        "an empty one",
    ],
)
def test_models_end_where_they_end_however_that_is_written(tmp_path, text):
    assert sketch(write(tmp_path / "d.pdb", text)).numbers == (1, 2)


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.pdb", ""),
        ("d.pdb", "REMARK nothing\n"),
        ("d.cif", "data_x\n"),
        ("d.cif", mmcif(pair(), without=["Cartn_x"])),
        ("d.pdb", b"\x1f\x8b damaged"),
        ("d.pdb", pdb(changed(pair(), x="********"))),
        ("d.pdb", f"{pdb(pair())}END\n{pdb(changed(pair(), x=9.0))}"),
        ("d.pdb", in_models(pdb(changed(pair(), x="********")), pdb(pair()))),
        ("d.pdb", in_models(pdb(pair())[:40] + "\n", pdb(pair()))),
    ],
)
def test_a_file_that_the_reader_refuses_is_refused_in_the_same_words(
    tmp_path, name, text
):
    path = write(tmp_path / name, text)
    with pytest.raises(StructureError) as of_reader:
        read_complex(path)
    with pytest.raises(StructureError) as of_sketch:
        sketch(path)
    assert str(of_sketch.value) == str(of_reader.value)


def test_sketch_complex_and_b_factors_of_a_file_take_one_read_and_one_parse(
    tmp_path, monkeypatch
):
    path = write(tmp_path / "d.pdb", pdb(pair()))
    calls = []
    for module, name in ((read, "read_text"), (read, "parse_model")):
        plain = getattr(module, name)
        monkeypatch.setattr(
            module,
            name,
            lambda *args, plain=plain, name=name: calls.append(name) or plain(*args),
        )
    sketch(path)
    read_complex(path, content=path.read_bytes())
    b_factors(read.open_structure(path))
    assert calls == ["read_text", "parse_model"]
    write(path, pdb([*pair(), *alanine("C", 1, 9.0)]))
    assert read_complex(path).chains == ["A", "B", "C"]
