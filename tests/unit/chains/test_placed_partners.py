"""Partners that name chains of the native, in the graphs of decoys that call their chains
otherwise.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import gemmi
import pytest

from structures_text import EXAMPLES
from toporank.app.config import load_config
from toporank.app.workflow.preflight import Preflight, preflight
from toporank.building.chunks.plan import PlannedDecoy
from toporank.chains.resolve import (
    Chosen,
    Given,
    Natives,
    resolve,
    ways,
    ways_by_nature,
)
from toporank.finding.complexes import Grouped

HEAVY = "EVQLVESGGGLVQPGGSLRLSCAASGFTFSSYAMSWVRQAPGKGLEWVS"
LIGHT = "DIQMTQSPSSLSASVGDRVTITCRASQSISSYLNWYQQKPGKAPKLLIY"
ANTIGEN = "KVFGRCELAAAMKRHGLDNYRGYSLGNWVCAAKFESNFNTQATNRNTDG"
NATIVE = (("A", ANTIGEN), ("B", HEAVY), ("C", LIGHT))


@pytest.mark.parametrize(
    ("partners", "native", "decoy", "expected"),
    [
        ("A:B+C", NATIVE, (("A", HEAVY), ("B", LIGHT), ("C", ANTIGEN)), {"A+B:C"}),
        ("A:B+C", NATIVE, (("X", LIGHT), ("Y", ANTIGEN), ("Z", HEAVY)), {"X+Z:Y"}),
        ("A:B+C", NATIVE, (("A", ANTIGEN), ("B", HEAVY + LIGHT)), {"A:B"}),
        (
            "A:B+C",
            NATIVE,
            (("A", LIGHT + "GGGGSGGGGS" + HEAVY), ("B", ANTIGEN)),
            {"A:B"},
        ),
        ("A:B", (("A", ANTIGEN), ("B", HEAVY + LIGHT)), NATIVE, {"A:B+C"}),
        ("A:B+C", NATIVE, (("A", HEAVY), ("C", ANTIGEN)), {"A+C of the native:C"}),
        (
            "A:B+C",
            NATIVE,
            (("A", "GSHMK" * 9), ("B", "PNTDE" * 9)),
            {"A of the native:B of the native+C of the native"},
        ),
        ("A:B", (("A", HEAVY), ("B", HEAVY)), (("X", HEAVY), ("Y", HEAVY)), {"X:Y"}),
        (
            "A+B:C+D",
            (("A", HEAVY), ("B", LIGHT), ("C", HEAVY), ("D", LIGHT)),
            (("W", HEAVY), ("X", HEAVY), ("Y", LIGHT), ("Z", LIGHT)),
            {"W+Y:X+Z", "W+Z:X+Y"},
        ),
    ],
    ids=[
        "other order",
        "other names",
        "joined",
        "linker",
        "cut",
        "lacking",
        "other protein",
        "dimer",
        "copies",
    ],
)
def test_sequences_say_which_chains_of_a_decoy_are_partners(
    partners, native, decoy, expected
):
    assert ways(partners, native, decoy) == expected


@pytest.mark.parametrize(
    ("bodies", "native", "decoy", "expected"),
    [
        ("A:B+C", NATIVE, (("A", HEAVY), ("B", LIGHT), ("C", ANTIGEN)), "A+B:C"),
        ("A:B+C", NATIVE, (("A", HEAVY + LIGHT), ("B", ANTIGEN)), ""),
        ("", (("A", ANTIGEN), ("B", HEAVY + LIGHT)), NATIVE, "A:B+C"),
        ("A:B+C", NATIVE, (("A", HEAVY), ("B", ANTIGEN)), ""),
        (
            "",
            (("A", ANTIGEN), ("B", HEAVY)),
            (("B", ANTIGEN), ("A", HEAVY), ("C", LIGHT)),
            "",
        ),
    ],
    ids=["antibody", "joined in the decoy", "cut in the decoy", "lacking", "one more"],
)
def test_where_nothing_is_given_the_partners_are_what_the_label_is_about(
    bodies, native, decoy, expected
):
    assert ways_by_nature(bodies, native, decoy) == {expected}


def test_the_label_decides_between_copies():
    native = (("A", HEAVY), ("B", LIGHT), ("C", HEAVY), ("D", LIGHT))
    decoy = (("W", HEAVY), ("X", HEAVY), ("Y", LIGHT), ("Z", LIGHT))
    natives = Natives({"T": native}, {"T": ""}, lambda *_: "A=W B=Z C=X D=Y")
    key = "T", "m"
    decoys = Grouped([], [], kinds={key: {}}, sketches={}, chains={key: decoy})
    chosen = resolve(decoys, {key: Given("A+B:C+D")}, natives)
    assert chosen == {key: Chosen("W+Z:X+Y", "A+B:C+D", "given")}


# ---- with files ----------------------------------------------------------------------------------


pytestmark = pytest.mark.usefixtures("own_folder")


def put(example: str, place: str, names: str = "AB") -> None:
    """A structure of the example as PDB file, its chains A and B under other names."""
    target, name = example.split("/")
    path = Path(place)
    path.parent.mkdir(parents=True, exist_ok=True)
    called = dict(zip("AB", names, strict=True))
    structure = gemmi.read_structure(str(next((EXAMPLES / target).glob(f"{name}.*"))))
    for chain in structure[0]:
        chain.name = called[chain.name]
    path.write_text(structure.make_pdb_string())


def check(**dataset) -> Preflight:
    config = load_config({"datasets": [{"name": "d", "decoys": "decoys", **dataset}]})
    return preflight(config, choices=config.choices(), check_dssp=False)


def rows(result: Preflight) -> list[PlannedDecoy]:
    assert result.problems == []
    (members,) = result.datasets["d"].chunks.values()
    return members


def test_graphs_and_labels_are_about_the_same_partners_whatever_the_decoys_call_their_chains():
    put("1KTZ/near1", "natives/1KTZ.pdb", "BA")
    put("1KTZ/mid2", "decoys/1KTZ/same.pdb", "AB")
    put("1KTZ/far1", "decoys/1KTZ/other.pdb", "XY")
    found = {row.decoy: row for row in rows(check(natives="natives", partners="A:B"))}
    assert {name: row.native_partners for name, row in found.items()} == {
        "same": "A:B",
        "other": "A:B",
    }
    assert (found["same"].partners, found["other"].partners) == ("A:B", "X:Y")


def test_a_table_of_labels_with_a_mapping_says_what_its_partners_are_in_each_decoy():
    put("1KTZ/mid2", "decoys/1KTZ/m.pdb", "XY")
    Path("labels.csv").write_text(
        "Target,Model,Partners,DockQ,Mapping\n1KTZ,m,H+L:A,0.5,H+L=X A=Y\n"
    )
    (row,) = rows(check(labels="labels.csv"))
    assert (row.partners, row.partners_given) == ("X:Y", "A:H+L")


def test_partners_that_are_not_chains_of_the_native_stop_the_run():
    put("1KTZ/near1", "natives/1KTZ.pdb", "HL")
    put("1KTZ/mid2", "decoys/1KTZ/m.pdb")
    (problem,) = check(natives="natives", partners="A:B").problems
    assert (
        "partners A:B are chains of the native, but that of 1KTZ has no A, B, only H, L"
        in problem
    )
    assert "name the chains as the natives do" in problem


# ---- natives under names that nearly fit ---------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "native"),
    [
        ("1KTZ", "1ktz.pdb"),
        ("1ktz", "1KTZ.pdb"),
        ("1KTZ", "pdb1ktz.ent"),
        ("1KTZ", "1ktz.pdb1"),
        ("pdb1ktz", "1KTZ.pdb"),
        ("1KTZ", "1ktz-assembly1.pdb"),
    ],
)
def test_a_native_is_known_by_the_name_that_the_wwpdb_gives_it(target, native):
    put("1KTZ/near1", f"natives/{native}")
    put("1KTZ/mid2", f"decoys/{target}/m.pdb")
    result = check(natives="natives")
    assert list(result.datasets["d"].natives) == [target]
    assert not any(
        "belongs to no target" in line for line in result.datasets["d"].notes
    )


def test_of_two_natives_that_fit_equally_well_none_is_taken():
    put("1KTZ/near1", "natives/1KTZ.pdb")
    for name in ("1avz-assembly1.pdb", "1avz-assembly2.pdb"):
        shutil.copy("natives/1KTZ.pdb", f"natives/{name}")
    for target in ("1KTZ", "1AVZ"):
        put("1KTZ/mid2", f"decoys/{target}/m.pdb")
    lines = check(natives="natives").datasets["d"].notes
    assert any(
        "1avz-assembly1.pdb and 1avz-assembly2.pdb could both be the native of 1AVZ"
        in line
        for line in lines
    )
