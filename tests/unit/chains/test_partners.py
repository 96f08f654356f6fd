"""Partners: how they are said, and that the interface lies between them and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from building import build, published_graph
from complexes import chains_of, write_pdb
from messages import messages
from structures_text import EXAMPLES, Atom, atoms_of, changed, shifted, sketch
from toporank.building.chunks.chunk import artefact, interface_graphs
from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.store import Store
from toporank.building.coverage import CoverageRow, coverage_table
from toporank.chains.partners import (
    parse_partners,
    partners_text,
    read_partners,
)
from toporank.chains.resolve import FOR_ALL, LABEL, TABLE, Given, given_for
from toporank.errors import ConfigError
from toporank.features.registry import DEFAULT_MODULES, resolve
from toporank.files.graph_file import Graph
from toporank.finding.complexes import BY_FOLDER, group
from toporank.learning.pyg_files import as_file
from toporank.structures.identity import Decoy, Status

CHOICES = resolve({stage: {} for stage in DEFAULT_MODULES})

# ---- how they are said ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "partners"),
    [
        ("A:B", (("A",), ("B",))),
        ("H+L:A", (("A",), ("H", "L"))),
        (" L + H : A ", (("A",), ("H", "L"))),
        ("A:B:C", (("A",), ("B",), ("C",))),
        ("Heavy+light:1", (("1",), ("Heavy", "light"))),
        ("A%2BB%3AC:H%3AL", (("A+B:C",), ("H:L",))),
        ("=1%2B1:100%25", (("100%",), ("=1+1",))),
    ],
)
def test_partners_are_the_same_in_whatever_order_they_are_said(text, partners):
    assert parse_partners(text) == partners
    assert parse_partners(partners_text(partners)) == partners


@pytest.mark.parametrize(("text", "problem"), messages("partners"))
def test_what_is_wrong_with_partners_is_said(text, problem):
    with pytest.raises(ConfigError) as error:
        parse_partners(text)
    assert str(error.value).startswith(f"partners: {problem}")


def test_a_table_gives_the_partners_of_each_target(tmp_path):
    path = tmp_path / "partners.csv"
    path.write_text("Target;Partners\n1AVZ;H+L:A\n2I25;B:A\n")
    assert read_partners(path) == {"1AVZ": "A:H+L", "2I25": "A:B"}


@pytest.mark.parametrize(("rows", "problem"), messages("partner_tables"))
def test_a_wrong_row_is_named(tmp_path, rows, problem):
    (tmp_path / "partners.csv").write_text(f"target,partners\n{rows}")
    with pytest.raises(ConfigError, match=r"partners\.csv, ") as error:
        read_partners(tmp_path / "partners.csv")
    assert problem in str(error.value)


def test_a_table_goes_before_what_is_said_of_all_and_must_agree_with_labels():
    decoys = [("T", "a"), ("U", "a"), ("V", "a")]
    of_labels = {("V", "a"): Given("B:C", LABEL)}
    assert given_for(decoys, "A:B", {"T": "A:H+L"}, of_labels) == {
        decoys[0]: Given("A:H+L", TABLE),
        decoys[1]: Given("A:B", FOR_ALL),
        decoys[2]: Given("B:C", LABEL),
    }
    assert given_for(decoys, "", {}, {}) == {}
    with pytest.raises(
        ConfigError, match=r"partners of V/a are B:C in the labels and A:B in the table"
    ):
        given_for(decoys, "", {"V": "A:B"}, of_labels)


# ---- graphs --------------------------------------------------------------------------------------


pytestmark = pytest.mark.usefixtures("own_folder")


ATOMS = atoms_of(EXAMPLES / "1AVZ" / "near1.pdb.gz")
FIRST, SECOND = sorted({atom.chain for atom in ATOMS})
MIDDLE = 110
"""A residue number that parts the first chain in two, which both touch the second."""


def written(
    name: str,
    chain: Callable[[str, int], str],
    shift: dict[str, float] | None = None,
    more: Iterable[Atom] = (),
) -> Decoy:
    """The example with chains renamed by old name and residue number; `""` is left out; moved along
    x, in Å.
    """
    atoms = []
    for atom in ATOMS:
        if new := chain(atom.chain, atom.number):
            x = atom.x + (shift or {}).get(new, 0.0)
            atoms.append(replace(atom, chain=new, x=x))
    path = write_pdb(Path("in", f"{name}.pdb"), [*atoms, *more])
    return Decoy("ds", "T", name, path)


def whole(chain: str, number: int) -> str:
    return chain


def cut(chain: str, number: int) -> str:
    """The first chain as H and L, the second as A."""
    return "A" if chain == SECOND else "H" if number < MIDDLE else "L"


def graphs_of(*decoys: tuple[Decoy, str]) -> list[Graph]:
    """The graphs of decoys with these partners."""
    rows = built(*decoys)
    assert [row.status for row in rows] == [Status.OK] * len(rows), [
        row.reason for row in rows
    ]
    return [
        published_graph(Path("results/ds/graphs/T", f"{row.decoy}.pt")) for row in rows
    ]


def built(*decoys: tuple[Decoy, str]) -> list[LedgerRow]:
    partners = {
        decoy.key: partners_text(parse_partners(text)) for decoy, text in decoys if text
    }
    rows = build(
        [decoy for decoy, _ in decoys], CHOICES, Store(Path("store")), partners=partners
    )
    return [next(row for row in rows if row.key == decoy.key) for decoy, _ in decoys]


def told(*decoys: tuple[Decoy, str]) -> dict[str, CoverageRow]:
    """Coverage of built decoys."""
    seen = {d.path: sketch(Path(d.path)) for d, _ in decoys}
    grouped = group([d for d, _ in decoys], seen, BY_FOLDER, "in").decoys
    text_of = {decoy.name: text for decoy, text in decoys}
    plan = []
    for d in grouped:
        names = str(d.path), 1, 0, "", "", text_of[d.name], 0
        plan.append(PlannedDecoy(*d.key, *names, d.lacks, d.spare))
    return {row.decoy: row for row in coverage_table(plan, built(*decoys), [])}


def test_two_chains_as_one_partner_have_the_interface_of_one_chain():
    """Cut in two and joined by the partners, a chain meets the other as before; only DSSP sees the
    cut.
    """
    plain, joined = graphs_of(
        (written("plain", whole), ""), (written("cut", cut), "H+L:A")
    )
    chain, number = np.char.partition(plain.metadata["residues"], ":")[:, [0, 2]].T
    order = np.argsort(chain != SECOND, kind="stable")
    numbers = np.char.partition(joined.metadata["residues"], ":")[:, 2]
    np.testing.assert_array_equal(number[order], numbers)
    np.testing.assert_array_equal(plain.x[order, 32:], joined.x[:, 32:])  # topology
    assert (plain.x[order] != joined.x).any(axis=1).sum() < len(order) / 2
    place = np.argsort(order)
    of_plain = np.column_stack([place[plain.edge_index.T], plain.edge_attr])
    of_joined = np.column_stack([joined.edge_index.T, joined.edge_attr])
    assert set(map(tuple, of_plain.tolist())) == set(map(tuple, of_joined.tolist()))
    assert joined.metadata["partners"] == "A:H+L"
    assert "partners" not in plain.metadata


@pytest.mark.parametrize("module", ["", "contacts"])
def test_a_chain_that_touches_nothing_changes_no_number(module, monkeypatch):
    """As where a predictor was given a copy too many, which it put far away."""
    if module:
        choices = {"interface": {}, "topology": {}, "nodes": {"module": module}}
        choices["edges"] = choices["nodes"]
        monkeypatch.setitem(globals(), "CHOICES", resolve(choices))
    far = shifted(changed(chains_of(ATOMS, FIRST), chain="Z"), 400.0)
    plain, beside = graphs_of(
        (written("plain", whole), ""), (written("beside", whole, more=far), "")
    )
    for name in ("x", "edge_index", "edge_attr"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(beside, name))


def test_an_interface_is_the_graph_of_its_two_partners_byte_for_byte():
    decoy = written("all", cut)
    (row,) = built((decoy, ""))
    member = PlannedDecoy(*decoy.key, str(decoy.path), 1, 0, "")
    known = (CHOICES, Store(Path("store")))
    found = {name: digest for _, _, name, digest in interface_graphs([(member, row)])}
    assert sorted(found) == ["A:H", "A:L", "H:L"]
    for name, digest in found.items():
        content = artefact("graphs", digest, member, row, *known)
        built((decoy, name))
        assert (
            as_file("graphs", content)
            == Path("results/ds/graphs/T/all.pt").read_bytes()
        )


# ---- what becomes of a decoy ---------------------------------------------------------------------


def test_a_partner_that_touches_no_other_is_named_with_its_distance():
    away = written("away", cut, {"A": 200.0})
    rows = told((written("near", cut), ""), (away, ""))
    assert rows["near"].status == Status.OK
    assert rows["away"].status == Status.PARTNER_APART
    assert rows["away"].reason.startswith("partner A touches no other (the closest is ")
    assert 150 < float(rows["away"].reason.split(", ")[1].split()[0]) < 250
    row = told((away, "H+L:A"))["away"]
    assert (row.status, row.n_interface_residues) == (Status.PARTNER_APART, 0)
    assert "partner A touches no other (the closest is H+L, " in row.reason


def test_a_chain_that_the_other_decoys_have_is_missed():
    less = written(
        "less", lambda chain, number: "" if chain == SECOND else cut(chain, number)
    )
    rows = told(*((written(f"full{i}", cut), "") for i in range(2)), (less, ""))
    assert (rows["less"].status, rows["less"].n_chains) == (Status.CHAIN_MISSING, 2)
    assert (
        rows["less"].reason
        == "of 3 protein chains that most models of the target have, 2: no A"
    )
    assert rows["full0"].status == Status.OK


def test_a_single_chain_is_missed_where_others_have_two_and_cannot_be_read_where_none_has():
    single = written("single", lambda chain, number: chain if chain == FIRST else "")
    rows = told((single, ""), *((written(f"two{i}", whole), "") for i in range(2)))
    assert rows["single"].status == Status.CHAIN_MISSING
    assert rows["single"].reason.startswith(
        "of 2 protein chains that most models of the target have, 1: no B; only one protein"
    )
    assert told((single, ""))["single"].status == Status.UNREADABLE


def test_the_same_atoms_between_other_partners_are_no_copy():
    """One touches as it is asked about, the other does not: what is said of one is not said of the
    other.
    """
    first, second, third = (written(name, cut) for name in ("first", "second", "third"))
    rows = told((first, "H+L:A"), (second, "H:L"), (third, "H+L:A"))
    assert [rows[name].duplicate_of for name in ("first", "second", "third")] == [
        "",
        "",
        "first",
    ]


@pytest.mark.parametrize(("partners", "reason"), messages("partners_of_models"))
def test_a_partner_that_the_decoy_does_not_have_is_named(partners, reason):
    row = told((written("cut", cut), partners))["cut"]
    assert (row.status, row.n_chains, row.reason) == (Status.CHAIN_MISSING, 3, reason)
