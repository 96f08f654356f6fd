"""Labels from natives, as jobs compute them: each decoy gets a row, and only what has changed is
computed again.
"""

from __future__ import annotations

import gzip
import shutil
import sys
from pathlib import Path

import pytest

from complexes import ANTIBODY, renamed, turned, write_pdb
from structures_text import EXAMPLES, Atom, atoms_of
from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import deal, planned, write_plans
from toporank.building.chunks.stages import structure_digest
from toporank.building.chunks.store import Store
from toporank.building.label_tables import describe, labels, read_decoys, write_tables
from toporank.building.local_quality import LocalQualities
from toporank.building.native_labels import (
    InterfaceLabel,
    LabelledDecoy,
    Labelling,
    dockq_of,
    label_chunk,
    read_labelled,
)
from toporank.chains.resolve import Chosen
from toporank.comparing.contacts import residue_contacts
from toporank.comparing.votes import pair_named
from toporank.files.atomic import sha256
from toporank.files.spreadsheets import read_rows
from toporank.finding.folders import find_decoys
from toporank.finding.labels import Label
from toporank.finding.natives import find_natives
from toporank.structures.read import read_complex

DOCKQ_OF_MID2 = 0.5584
"""That of 1KTZ/mid2 with near1 as its native, as DockQ 2.1.3 prints it."""


pytestmark = pytest.mark.usefixtures("own_folder")


def put(example: str, place: str) -> Path:
    """Copy a structure of the example."""
    target, name = example.split("/")
    source = next((EXAMPLES / target).glob(f"{name}.*"))
    suffix = source.name.partition(".")[2]
    path = Path(f"{place}.{suffix}")
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, path)
    return path


def run(
    store: Store | None = None,
    partners: dict[tuple[str, str], str] | None = None,
    own=None,
):
    """Label the folder `decoys` by the folder `natives`; the rows by decoy. own : partners by
    chains of the decoy.
    """
    chosen = {}
    for key, text in (partners or {}).items():
        chosen[key] = Chosen((own or {}).get(key, text), text)
    rows = planned(find_decoys("set", Path("decoys")), {}, chosen)
    chunks = deal(rows, len(rows))
    write_plans("set", chunks)
    store = store or Store(Path("store"))
    labelled = {}
    for name in chunks:
        found = label_chunk("set", name, find_natives(Path("natives")), store)
        assert read_labelled("set", [name]) == sorted(found)
        assert dockq_of("set", name) == {
            row.key: row.dockq for row in found if row.dockq is not None
        }
        labelled.update({row.key: row for row in found})
    return labelled


def antibody(place: str, atoms: list[Atom], names: str = "HLA") -> None:
    """Write an antibody on its antigen with these names of heavy chain, light chain and antigen."""
    write_pdb(Path(place), renamed(atoms, dict(zip("HLA", names, strict=True))))


@pytest.mark.parametrize(("native", "joined"), [("HLA", "A:H+L"), ("BCA", "A:B+C")])
def test_the_chains_of_an_antibody_in_the_native_are_one_partner(native, joined):
    """Whatever the native and its decoys call them; the interface between them lifts no label."""
    atoms = atoms_of(ANTIBODY)
    antibody("natives/T.pdb", atoms, native)
    antibody("decoys/T/right.pdb", atoms, "HLA")
    antibody("decoys/T/wrong.pdb", turned(atoms, "A"), "ABC")
    rows = run()
    wrong = rows["T", "wrong"]
    assert {row.partners for row in rows.values()} == {joined}
    assert rows["T", "right"].dockq == pytest.approx(1)
    assert wrong.dockq < 0.1
    ((interface),) = wrong.interfaces
    assert (interface.interface, interface.native) == ("A+B:C", joined)
    given = run(partners=dict.fromkeys(rows, joined))
    assert {key: row.dockq for key, row in given.items()} == {
        key: row.dockq for key, row in rows.items()
    }
    apart = run(partners=dict.fromkeys(rows, "chains"), own=dict.fromkeys(rows, ""))
    assert apart["T", "wrong"].dockq > 0.3
    assert len(apart["T", "wrong"].interfaces) == 3
    one, other, antigen = (*joined.split(":")[1].split("+"), "A")
    sentence = (
        f"in the native, {one} and {other} are an antibody: counted as {one}+{other} against "
        f"{antigen}"
    )
    assert sentence in describe(rows.values())[1]
    assert not any("antibody" in line for line in describe(apart.values()))


# ---- natives -------------------------------------------------------------------------------------


def test_a_native_is_named_by_its_target_or_lies_in_the_folder_of_its_target():
    one, two = (
        put("1KTZ/near1", "natives/1KTZ"),
        put("1PPE/near1", "natives/1PPE/native"),
    )
    put("1PPE/mid1", "natives/1PPE/model")
    Path("natives/readme.txt").touch()
    assert find_natives(Path("natives")) == {"1KTZ": one, "1PPE": two}


# ---- every decoy has a row -----------------------------------------------------------------------


def test_every_decoy_has_a_label_or_a_status_that_says_why_not():
    put("1KTZ/near1", "natives/1KTZ")
    Path("natives/1PPE.pdb").write_text("no structure")
    put("1KTZ/mid2", "decoys/1KTZ/good")
    put("1KTZ/near1", "decoys/1KTZ/itself")
    put("1AVZ/mid2", "decoys/1KTZ/stranger")
    Path("decoys/1KTZ/broken.pdb.gz").write_bytes(gzip.compress(b"no structure"))
    put("1PPE/mid1", "decoys/1PPE/one")
    put("1GCQ/mid1", "decoys/1GCQ/one")
    found = run()
    assert found["1KTZ", "good"].dockq == pytest.approx(DOCKQ_OF_MID2, abs=6e-5)
    assert found["1KTZ", "good"].mapping == "A=A B=B"
    said = {"/".join(key): (row.status, row.reason) for key, row in found.items()}
    assert said["1KTZ/itself"] == ("ok", "the same atoms as the native")
    for decoy, status, reason in (
        (
            "1KTZ/stranger",
            "other_protein",
            "no chain shares 70% of its residues with a chain of the native",
        ),
        ("1KTZ/broken", "unreadable", "no atoms found"),
        (
            "1PPE/one",
            "no_native",
            "the native natives/1PPE.pdb cannot be read: no atoms found",
        ),
        ("1GCQ/one", "no_native", "the target has no native"),
    ):
        assert said[decoy][0] == status
        assert reason in said[decoy][1]
    assert (
        "6 models = 2 no_native + 2 ok + 1 other_protein + 1 unreadable"
        in describe(found.values())[0]
    )
    assert "1KTZ/itself" in describe(found.values())[1]


def test_partners_are_those_of_the_native_also_where_the_decoy_calls_its_chains_otherwise():
    put("1KTZ/near1", "natives/1KTZ")
    put("1KTZ/mid1", "decoys/1KTZ/one")
    key = "1KTZ", "one"
    alike, renamed = (
        run(partners={key: "A:B"}, own=own)[key] for own in (None, {key: "6:7"})
    )
    assert renamed == alike
    assert (renamed.status, renamed.partners) == ("ok", "A:B")


def test_partners_are_named_by_chains_of_the_native():
    put("1KTZ/near1", "natives/1KTZ")
    put("1KTZ/mid2", "decoys/1KTZ/one")
    fits, does_not = (
        run(partners={("1KTZ", "one"): text})["1KTZ", "one"]
        for text in ("A:B", "A:H+L")
    )
    assert (fits.status, fits.partners) == ("ok", "A:B")
    assert does_not.status == "no_native"
    assert (
        "the native has no chains H, L, only A, B, in natives/1KTZ" in does_not.reason
    )


# ---- only what has changed -----------------------------------------------------------------------


def test_only_decoys_that_changed_or_whose_native_changed_are_labelled_again():
    for target in ("1KTZ", "1AVZ"):
        put(f"{target}/near1", f"natives/{target}/native")
        for decoy in ("mid2", "wrong1"):
            put(f"{target}/{decoy}", f"decoys/{target}/{decoy}")

    def computed() -> int:
        store = Store(Path("store"))
        run(store)
        assert store.computed["label"] == store.computed["counterparts"]
        return store.computed["label"]

    assert computed() == 4
    assert computed() == 0
    put("1KTZ/mid3", "decoys/1KTZ/new")
    assert computed() == 1
    next(Path("natives/1AVZ").iterdir()).unlink()
    put("1AVZ/mid3", "natives/1AVZ/native")
    assert computed() == 2
    shutil.move("natives", "elsewhere")
    shutil.move("elsewhere", "natives")
    Path("decoys/1KTZ").rename("decoys/renamed")
    Path("natives/1KTZ").rename("natives/renamed")
    assert computed() == 0


def test_a_label_tells_which_residues_of_the_native_its_own_are(tmp_path):
    put("1KTZ/near1", "natives/1KTZ")
    put("1KTZ/near1", "decoys/1KTZ/itself")
    store = Store(Path("store"))
    row = run(store)["1KTZ", "itself"]
    (member,) = planned(find_decoys("set", Path("decoys")), {})
    counterparts = Labelling(find_natives(Path("natives")), store).counterparts(
        member, sha256(Path(member.path))
    )
    n_residues = len(read_complex(Path(member.path)).residues)
    assert counterparts.tolist() == list(range(n_residues))
    assert row.counterparts
    assert store.computed["counterparts"] == 1


# ---- tables --------------------------------------------------------------------------------------


def test_local_quality_is_worked_out_again_when_its_code_changed(monkeypatch):
    put("1KTZ/near1", "natives/1KTZ")
    put("1KTZ/mid2", "decoys/1KTZ/mid2")

    def digest() -> str:
        (row,) = run().values()
        (chunk,) = (path.stem for path in Path("results/set/plan").glob("*.tsv"))
        return LocalQualities(
            "set", [chunk], {}, find_natives(Path("natives")), Store(Path("store"))
        ).digest(row.key)

    first = digest()
    assert digest() == first
    monkeypatch.setattr(
        sys.modules[LocalQualities.__module__], "code_of", lambda *parts: "other code"
    )
    assert len({first, digest(), ""}) == 3


def test_a_copy_of_the_native_has_all_that_touches_right_and_a_decoy_without_label_nothing():
    put("1KTZ/near1", "natives/1KTZ")
    decoys = {
        "copy": put("1KTZ/near1", "decoys/1KTZ/copy"),
        "stranger": put("1AVZ/mid2", "decoys/1KTZ/stranger"),
    }
    run()
    (chunk,) = (path.stem for path in Path("results/set/plan").glob("*.tsv"))
    digests = {name: structure_digest(path) for name, path in decoys.items()}
    fates = {
        ("1KTZ", n): LedgerRow("1KTZ", n, "ok", "graphs", structure_sha256=d)
        for n, d in digests.items()
    }
    known = LocalQualities(
        "set", [chunk], fates, find_natives(Path("natives")), Store(Path("store"))
    )
    complex_ = read_complex(decoys["copy"])
    names = [*map(str, complex_.residues)]
    residues, contacts = known.truth(("1KTZ", "copy"))
    pairs = residue_contacts(complex_).tolist()
    assert residues == {names[r]: True for pair in pairs for r in pair}
    assert contacts == {pair_named(names[i], names[j]) for i, j in pairs}
    assert known.truth(("1KTZ", "stranger")) is None


def test_the_tables_have_a_row_for_each_decoy_and_for_each_interface():
    put("1KTZ/near1", "natives/1KTZ")
    put("1KTZ/mid2", "decoys/1KTZ/good")
    put("1AVZ/mid2", "decoys/1KTZ/stranger")
    rows = run().values()
    write_tables(rows, Path("dockq.csv"), Path("interfaces.csv"))
    good, stranger = read_rows(Path("dockq.csv"))
    columns = "Target,Model,Partners,DockQ,CAPRI,fnat,iRMSD,LRMSD,Mapping,Status,Reason,Joined,Molecules,IsNative"
    assert ",".join(good) == columns
    assert good["CAPRI"] == "medium"
    assert float(good["fnat"]) == pytest.approx(0.3226, abs=6e-5)
    assert (stranger["DockQ"], stranger["Status"]) == ("", "other_protein")
    (interface,) = read_rows(Path("interfaces.csv"))
    assert (interface["Model"], interface["Interface"], interface["Native"]) == (
        "good",
        "A:B",
        "A:B",
    )
    assert [label[:3] for label in labels(rows)] == [
        ("1KTZ", "good", next(iter(rows)).dockq)
    ]
    assert describe(read_decoys(Path("dockq.csv"))) == describe(rows)


def test_a_label_has_no_group_but_partners_and_of_several_interfaces_each_its_own():
    parts = [
        InterfaceLabel(name, name, dockq, 0.5, 1.0, 2.0)
        for name, dockq in (("A+B:C", 0.6), ("A+B:D", 0.2))
    ]
    row = LabelledDecoy("T", "m", "A+B:C:D", 0.4, "", "ok", "", parts)
    assert labels([row]) == [
        Label("T", "m", 0.4, split="", group="", partners="A+B:C:D", interface=""),
        Label("T", "m", 0.6, split="", group="", partners="A+B:C:D", interface="A+B:C"),
        Label("T", "m", 0.2, split="", group="", partners="A+B:C:D", interface="A+B:D"),
    ]
    (whole, *_) = labels([row._replace(partners="")])
    assert (whole.partners, whole.interface) == ("", "")
