"""interfaces.csv: every interface of every decoy, and what it says of the decoy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from _chains import ALPHA, BETA, HEAVY, LIGHT, NANOBODY
from _ranked import covered, met

from toporank.building.chunks.ledger import LedgerRow, meetings_text
from toporank.chains.chain import ResidueId
from toporank.confidence.matrices import Matrices
from toporank.errors import ConfidenceError
from toporank.features.interface import Meeting
from toporank.ranking.headlines import summaries, with_headlines
from toporank.ranking.interface_words import (
    clashes,
    described,
    in_a_word,
    quality_word,
    weak_partners,
)
from toporank.ranking.interfaces import (
    InterfaceRow,
    dockq_of_chains,
    interface_table,
    scored_interfaces,
    with_contacts,
    with_roles,
)
from toporank.ranking.model_table import model_table, score_record
from toporank.ranking.partner_hints import hints, partners_doubt, partners_hint
from toporank.ranking.target_table import interfaces_in_words
from toporank.scorer.prediction import KEY, Score
from toporank.structures.identity import Status
from toporank.tables.columns import INTERFACES
from toporank.tables.frames import of_records, read, to_records, write


def meeting(name: str, contacts: int, closest: float = 5.0) -> Meeting:
    return Meeting(*name.split(":"), contacts // 2, contacts, closest)


MEETINGS = {
    "ring": [meeting("A:B", 40), meeting("A:C", 30), meeting("B:C", 20)],
    "open": [meeting("A:B", 40), meeting("A:C", 30), meeting("B:C", 0, 12.3)],
    "off": [meeting("A:B", 40), meeting("A:C", 0, 60.0), meeting("B:C", 0, 55.5)],
}
STATUS = {
    "ring": Status.OK,
    "open": Status.OK,
    "off": Status.PARTNER_APART,
    "dust": Status.UNREADABLE,
}
SCORES = [
    Score("T", "ring", 0.9, 0.1), Score("T", "open", 0.95, 0.1),
    *(Score("T", "ring", p, 0.1, name) for name, p in (("A:B", 0.8), ("A:C", 0.7), ("B:C", 0.6))),
    *(Score("T", "open", p, 0.1, name) for name, p in (("A:B", 0.9), ("A:C", 0.1))),
    Score("T", "off", 0.85, 0.1),
]  # fmt: skip


def models(statuses: dict[str, str], table: list[InterfaceRow]) -> pd.DataFrame:
    """The table of models of `SCORES`."""
    coverage = [covered(decoy, status) for decoy, status in sorted(statuses.items())]
    records = [score_record(score) for score in SCORES if not score.interface]
    return model_table(coverage, {"T": records}, table)


@pytest.fixture
def table() -> list[InterfaceRow]:
    """A ring, one that is open, one with a chain off, and a file that cannot be read."""
    coverage = [covered(decoy, status) for decoy, status in sorted(STATUS.items())]
    fates = {
        ("T", decoy): fate(decoy, meetings) for decoy, meetings in MEETINGS.items()
    }
    fates["T", "dust"] = LedgerRow("T", "dust", Status.UNREADABLE, "interface")
    return with_roles(scored_interfaces(interface_table(coverage, fates), SCORES))


def test_every_decoy_has_a_row_for_every_interface_that_any_of_them_has(table):
    assert [
        (row.decoy, row.interface, row.n_ca_pairs, row.closest, row.dockq, row.status)
        for row in table
    ] == [
        ("dust", "A:B", None, None, None, "unreadable"),
        ("dust", "A:C", None, None, None, "unreadable"),
        ("dust", "B:C", None, None, None, "unreadable"),
        ("off", "A:B", 40, 5.0, 0.85, "ok"),
        ("off", "A:C", 0, 60.0, None, "apart"),
        ("off", "B:C", 0, 55.5, None, "apart"),
        ("open", "A:B", 40, 5.0, 0.9, "ok"),
        ("open", "A:C", 30, 5.0, 0.1, "ok"),
        ("open", "B:C", 0, 12.3, None, "apart"),
        ("ring", "A:B", 40, 5.0, 0.8, "ok"),
        ("ring", "A:C", 30, 5.0, 0.7, "ok"),
        ("ring", "B:C", 20, 5.0, 0.6, "ok"),
    ]


def fate(decoy: str, meetings: list[Meeting]) -> LedgerRow:
    return LedgerRow("T", decoy, Status.OK, "graphs", meetings=meetings_text(meetings))


def test_the_only_interface_of_a_decoy_has_the_score_of_the_decoy_and_no_other_has():
    scores = [Score("T", "d", 0.4, None)]
    fates = {("T", "d"): fate("d", [meeting("A:B", 9)])}
    (row,) = scored_interfaces(interface_table([covered("d")], fates), scores)
    assert (row.interface, row.dockq, row.status) == ("A:B", 0.4, "ok")
    fates = {("T", "d"): fate("d", MEETINGS["ring"])}
    rows = scored_interfaces(interface_table([covered("d")], fates), scores)
    assert [(row.dockq, row.status) for row in rows] == [(None, "failed")] * 3


def test_an_interface_that_a_whole_model_does_not_have_takes_no_score_from_its_own():
    """A dimer among models of two dimers: its only interface has the score of the dimer."""
    fates = {
        ("T", "dimer"): fate("dimer", [meeting("A:B", 9)]),
        ("T", "both"): fate("both", [meeting("A:B", 9), meeting("C:D", 9)]),
    }
    scores = [Score("T", "both", 0.5, None), Score("T", "dimer", 0.4, None)]
    scores += [
        Score("T", "both", 0.6, None, "A:B"),
        Score("T", "both", 0.7, None, "C:D"),
    ]
    table = interface_table([covered("both"), covered("dimer")], fates)
    rows = scored_interfaces(table, scores)
    assert [(row.decoy, row.interface, row.dockq, row.status) for row in rows] == [
        ("both", "A:B", 0.6, "ok"),
        ("both", "C:D", 0.7, "ok"),
        ("dimer", "A:B", 0.4, "ok"),
        ("dimer", "C:D", None, "absent"),
    ]
    assert summaries(with_roles(rows)).iloc[1].tolist() == [
        "T", "dimer", 1, False, "", 0.4, 0.4, "",
    ]  # fmt: skip


def test_what_is_written_is_read_back(tmp_path, table):
    frame = of_records(INTERFACES, table)
    write(INTERFACES, frame, tmp_path / "interfaces.csv")
    found = read(INTERFACES, tmp_path / "interfaces.csv")
    assert list(map(InterfaceRow._make, to_records(INTERFACES, found))) == table


def test_the_ranking_sums_up_the_interfaces(table):
    assert summaries(table).values.tolist() == [
        ["T", "off", 1, False, "C touches nothing", 0.85, 0.85, ""],
        [
            "T",
            "open",
            2,
            False,
            "C looks wrong (A:C, 15 residues, 0.10)",
            0.1,
            0.5,
            "A:C",
        ],
        ["T", "ring", 3, False, "", 0.6, 0.7, "B:C"],
    ]


def test_the_first_of_its_program_has_the_highest_number_of_its_target(table):
    scores = [score for score in SCORES if not score.interface]
    numbers = [score.pred_dockq for score in with_headlines(scores, table)]
    assert numbers == pytest.approx([0.8, 0.5, 0.85])
    ranked = [score._replace(is_first=score.decoy == "open") for score in scores]
    numbers = [score.pred_dockq for score in with_headlines(ranked, table)]
    assert numbers == pytest.approx([0.8, 0.85, 0.85])


def test_a_model_with_a_partner_apart_has_the_score_of_the_others_and_comes_last(table):
    ranked = models(STATUS, table)
    assert ranked["decoy"].tolist() == ["ring", "open", "off", "dust"]
    assert ranked["rank"].tolist()[:3] == [1, 2, 3]
    off = ranked.iloc[2]
    assert (off["dockq"], off["n_interfaces"], off["verdict"]) == (0.85, 1, "check")


def test_contacts_of_an_interface_are_the_rows_of_contacts_csv():
    """Chains of a model that calls those of the target otherwise, and two in one partner."""
    table = [
        touch("A+B:C", 9, 30, 0.5)._replace(chains="H+L:X"),
        touch("A+B:D", 0, 0, None)._replace(chains="H+L:Y"),
        touch("A+B:C", 9, 30, 0.5)._replace(decoy="n"),
    ]
    ends = [("H:1", "X:52A"), ("X:2", "L:7"), ("H:2", "X:3")]
    contacts = pd.DataFrame(ends, columns=["first", "second"])
    contacts = contacts.assign(target="T", decoy="m", pred_quality=0.5)
    counted = [row.n_contacts for row in with_contacts(table, contacts)]
    assert counted == [3, 0, None]
    assert with_contacts(table, contacts[:0]) == table


@pytest.mark.parametrize(
    ("known", "expected"),
    [(("m",), [(0.8, 5.0), (None, 5.0)]), ((), [(None, None), (None, None)])],
)
def test_pairs_have_a_word_and_what_the_predictor_says_of_them(known, expected):
    """The second pair has no DockQ; a decoy with one pair has the numbers of the whole."""
    table = [
        touch("A:B", 9, 30, 0.5),
        touch("A:C", 9, 30, None),
        touch("A:B", 9, 30, 0.1)._replace(decoy="n"),
    ]
    rows = [("T", "m", "A", "1", "B", "1"), ("T", "m", "A", "1", "C", "1")]
    rows.append(("T", "n", *rows[0][2:]))
    ends = ["chain_1", "residue_1", "chain_2", "residue_2"]
    contacts = pd.DataFrame(rows, columns=["target", "decoy", *ends])
    contacts["pred_quality"] = 0.5
    residues = tuple(ResidueId(chain, 1, "") for chain in "ABC")
    iptm = np.array([[np.nan, 0.8], [0.7, np.nan]])
    said = Matrices(residues, np.full((3, 3), 5.0), None, ("A", "B"), iptm)

    def matrices(key):
        if key[1] not in known:
            raise ConfidenceError("nothing lies beside it")
        return said

    found = described(with_roles(table), contacts, matrices)
    assert [row.looks for row in found] == ["right", "no score", "wrong"]
    numbers = [(row.pair_iptm, row.pair_pae) for row in found]
    assert numbers == [*expected, (None, None)]


@pytest.mark.parametrize(
    ("dockq", "quality", "n_contacts", "expected"),
    [
        ((0.2, 0.9, 0.8), 0.9, 10, (0.8, 0.9, 0.8)),
        ((0.2, 0.9, 0.8), 0.9, 9, (0.2, 0.9, 0.8)),  # it has too few of them
        ((0.2, 0.9, 0.8), 0.5, 10, (0.5, 0.9, 0.8)),  # its contacts agree by half
        ((0.2, 0.9, 0.1), 0.9, 10, (0.2, 0.9, 0.2)),  # the third is no help
        ((0.2, 0.9, None), 0.9, 10, (0.2, 0.9, None)),
    ],
)
def test_partners_that_lie_right_to_a_third_lie_right_to_each_other(
    dockq, quality, n_contacts, expected
):
    names = ("A:B", "A:C", "B:C")
    table = [
        touch(name, 30, 90, q)._replace(dockq_alone=q)
        for name, q in zip(names, dockq, strict=True)
    ]
    rows = []
    for name, of_interface in zip(names, (quality, 0.9, 0.9), strict=True):
        first, second = name.split(":")
        n = n_contacts if name == "A:B" else 10
        rows += [(f"{first}:{k}", f"{second}:1", of_interface) for k in range(n)]
    contacts = pd.DataFrame(rows, columns=["first", "second", "pred_quality"])
    found = with_contacts(with_roles(table), contacts.assign(target="T", decoy="m"))
    assert tuple(row.dockq for row in found) == expected
    assert tuple(row.dockq_alone for row in found) == dockq


def test_chains_of_a_model_with_several_interfaces_have_the_dockq_of_theirs():
    table = [
        touch("A+B:C", 30, 90, 0.8)._replace(chains="H+L:X"),
        touch("A+B:D", 30, 90, 0.1)._replace(chains="H+L:Y"),
        touch("C:D", 0, 0, None)._replace(chains="X:Y"),
        touch("A+B:C", 30, 90, 0.8)._replace(decoy="n"),  # its only one
    ]
    expected = {"HX": 0.8, "LX": 0.8, "HY": 0.1, "LY": 0.1}
    of_model = {frozenset(pair): dockq for pair, dockq in expected.items()}
    assert dockq_of_chains(table) == {("T", "m"): of_model}


def test_of_interfaces_that_a_third_partner_made_equal_the_weakest_is_so_by_itself():
    rows = [
        touch("A:B", 30, 90, 0.8),
        touch("A:C", 30, 90, 0.8),
        touch("B:C", 30, 90, 0.9),
    ]
    alone = (0.8, 0.3, 0.9)
    table = [
        row._replace(dockq_alone=one) for row, one in zip(rows, alone, strict=True)
    ]
    (found,) = summaries(with_roles(table))["weakest_interface"]
    assert found == "A:C"


@pytest.mark.parametrize(
    ("dockq", "alone", "qualities", "word"),
    [
        (0.5, 0.1, (0.5, 0.4, 0.4), "doubtful, alone 0.10"),
        (0.5, 0.1, (0.5, 0.5, 0.4), "right, alone 0.10"),
        (
            0.5,
            0.1,
            (np.nan,) * 3,
            "right, alone 0.10",
        ),  # networks without local quality
        (0.5, 0.3, (0.4, 0.4, 0.4), "right"),  # alone it is doubtful, not wrong
        (0.3, 0.1, (0.5, 0.5, 0.5), "doubtful, alone 0.10"),
    ],
)
def test_what_a_third_partner_made_right_is_doubtful_with_few_good_contacts(
    dockq, alone, qualities, word
):
    row = touch("A+B:C", 30, 90, dockq)._replace(
        chains="H+L:X", n_contacts=3, dockq_alone=alone
    )
    contacts = pd.DataFrame({"chain_1": ["H", "X", "L"], "chain_2": ["X", "H", "X"]})
    contacts = contacts.assign(target="T", decoy="m", pred_quality=qualities)
    (found,) = described(with_roles([row]), contacts, lambda key: None)
    assert in_a_word(found) == word
    known = None if np.isnan(qualities[0]) else sum(q >= 0.5 for q in qualities)
    assert found.good_contacts == known


def test_one_pair_has_one_word_in_the_table_and_where_people_read_it():
    table = with_roles(
        [
            touch("A:B", 40, 90, 0.6),
            touch("B:C", 40, 90, 0.3),
            touch("A:C", 4, 3, 0.1),
            touch("C:D", 0, 0, None),
        ]
    )
    nothing = pd.DataFrame(columns=[*KEY, "chain_1", "chain_2", "pred_quality"])
    found = described(table, nothing, lambda key: None)
    words = ["right", "doubtful", "side contact", "apart"]
    assert [row.looks for row in found] == words
    assert [in_a_word(row) for row in found] == [*words[:3], "apart, 5 Å"]


def rows(**contacts: list[int]) -> list[InterfaceRow]:
    return [
        met(f"d{i}", name.replace("_", ":"), n_residues=n, n_ca_pairs=n)
        for name, found in contacts.items()
        for i, n in enumerate(found)
    ]


def test_two_chains_that_always_touch_alike_may_be_one_partner():
    said = "H and L always touch; to score only how A lies to both: --partners H+L:A"
    assert partners_hint(rows(A_H=[40, 90], A_L=[12, 0], H_L=[110, 112])) == said
    assert partners_hint(rows(A_H=[400, 90], A_L=[12, 300], H_L=[110, 112])) == said
    one = rows(A_H=[40, 90], A_L=[12, 0], H_L=[110, 112])
    assert hints([*one, *(row._replace(target="U") for row in one)]) == [
        f"T and 1 more: {said}"
    ]


DOMAINS = {
    "H": HEAVY,
    "L": LIGHT,
    "a": ALPHA,
    "b": BETA,
    "N": NANOBODY,
    "HL": f"{HEAVY}GGGGSGGGGSGGGGS{LIGHT}",
}


def test_two_chains_of_an_antibody_that_are_not_one_partner_need_no_hint():
    """They were kept apart on purpose, or do not lie as in an antibody."""
    apart = rows(A_B=[80, 70], A_C=[40, 40], B_C=[9, 9])
    assert partners_hint(apart).startswith("A and C always touch")
    assert partners_hint(apart, {"A": HEAVY, "B": LIGHT}) == ""
    assert partners_hint(apart, {"A": HEAVY}) == partners_hint(apart)


@pytest.mark.parametrize(
    ("partners", "domains", "said"),
    [
        ("A+B_C", {"A": "H", "C": "L"}, "A and C look like one antibody, but are different partners in A+B:C, so scores count the contacts between them; to score them as one: --partners A+C:B"),
        ("A+B_C", {"A": "a", "C": "b"}, "A and C look like one antibody"),
        ("A+B_H_L", {"H": "H", "L": "L"}, "H and L look like one antibody, but are different partners in A+B:H:L, so scores count the contacts between them; to score them as one: --partners H+L:A"),
        ("A+H_B+L", {"H": "H", "L": "L"}, "H and L look like one antibody, but are different partners in A+H:B+L, so scores count the contacts between them; to score them as one: --partners H+L:A"),
        ("A_H+L", {"H": "H", "L": "L"}, ""),
        ("A+B_C", {"A": "N", "C": "H"}, ""),  # two heavy chains
        # a chain with both domains needs no other
        ("A+B_C", {"A": "HL", "C": "L"}, ""),
        ("H+L_N", {"H": "H", "L": "L", "N": "L"}, ""),  # an antibody against another
        ("A+B_C", {"A": "H"}, ""),
    ],
)  # fmt: skip
def test_partners_that_part_the_chains_of_an_antibody_are_told(partners, domains, said):
    known = {
        f"{one}_{other}": [90, 80]
        for one, other in combinations(partners.split("_"), 2)
    }
    sequences = {chain: DOMAINS[name] for chain, name in domains.items()}
    doubt = partners_doubt(rows(**known), sequences)
    assert doubt.startswith(said)
    assert bool(doubt) == bool(said)
    apart = {name: [90, 0] for name in known}
    assert partners_doubt(rows(**apart), sequences) == ""


def test_the_number_of_a_decoy_is_the_mean_of_the_whole_and_of_its_interfaces(table):
    """The score stays that of the whole; of one interface all three are the same.

    Where a partner looks wrong, as C of `open`, the mean of the interfaces alone counts.
    """
    of_decoys = [score for score in SCORES if not score.interface]
    numbers = {
        score.decoy: score.pred_dockq for score in with_headlines(of_decoys, table)
    }
    assert numbers == {"ring": 0.8, "open": 0.5, "off": 0.85}
    ranked = models(STATUS, table).set_index("decoy")[:3]
    assert ranked["dockq"].to_dict() == numbers
    assert ranked["score"].to_dict() == {"ring": 0.9, "open": 0.95, "off": 0.85}


def touch(name: str, residues: int, pairs: int, dockq: float | None) -> InterfaceRow:
    """Of a model m."""
    status = Status.OK if pairs else "apart"
    return met("m", name, dockq, n_residues=residues, n_ca_pairs=pairs, status=status)


def test_an_interface_is_right_from_a_medium_dockq_on():
    raised = met("m", "A:B", 0.51, role="main")
    of_its_own = [raised._replace(dockq_alone=alone) for alone in (0.11, 0.4, None)]
    assert [in_a_word(row) for row in of_its_own] == [
        "right, alone 0.11",
        "right",
        "right",
    ]
    other = met("m", "B:C", 0.8, role="main")
    assert interfaces_in_words([of_its_own[0], other]) == (
        "B:C (0.80) and A:B (0.51, alone 0.11) look right"
    )
    words = [quality_word(dockq) for dockq in (0.49, 0.48, 0.23, 0.22)]
    assert words == ["right", "doubtful", "doubtful", "wrong"]


G_PROTEIN = [touch("A:B", 86, 161, 0.48), touch("A:C", 5, 3, 0.14), touch("B:C", 140, 359, 0.79)]  # fmt: skip
ANTIGEN_DIMER = [touch("A+B:C", 53, 78, 0.41), touch("A+B:D", 53, 108, 0.34), touch("C:D", 165, 413, 0.8)]  # fmt: skip


PAIRS = [touch("A:B", 40, 90, 0.6), touch("B:C", 30, 60, 0.6)]


@pytest.mark.parametrize(
    ("rows", "antibodies", "words"),
    [
        ([touch("A:B", 86, 161, 0.49), touch("A:C", 86, 161, 0.1), touch("B:C", 86, 161, 0.5)], "", ""),
        (G_PROTEIN, "", "A is doubtful (A:B, 86 residues, 0.48)"),
        # a side contact does not count, however good it is
        ([touch("A:B", 86, 161, 0.9), touch("A:C", 5, 3, 0.6), touch("B:C", 39, 60, 0.1)], "",
         "C looks wrong (B:C, 39 residues, 0.10)"),
        ([touch("A:B", 86, 161, 0.9), touch("B:C", 39, 60, 0.22)], "", "C looks wrong (B:C, 39 residues, 0.22)"),
        ([touch("A:B", 86, 161, 0.4), touch("B:C", 39, 60, 0.3)], "", "no interface looks right"),
        (ANTIGEN_DIMER, "AB", ""),  # the number is about the antibody alone
        ([touch("A:B", 86, 161, 0.9), touch("A:P", 14, 25, 0.8)], "", ""),
        ([touch("A:B", 86, 161, 0.9), touch("B:C", 4, 3, 0.04)], "",
         "C is hardly attached (B:C, 4 residues, 0.04)"),
        ([touch("A:B", 86, 161, 0.9), touch("A:C", 5, 3, 0.3), touch("B:C", 1, 1, None)], "",
         "C is hardly attached (A:C, 5 residues, 0.30; B:C, 1 residue)"),
        ([touch("A:B", 40, 90, 0.9), touch("A:C", 0, 0, None), touch("A:D", 0, 0, None)], "",
         "C and D touch nothing"),
        # a light chain is held by the heavy one, a nanobody by its antigen
        ([touch("A:H", 30, 40, 0.2), touch("A:L", 5, 4, 0.1), touch("H:L", 90, 200, 0.9)], "HL", ""),
        ([touch("A:B", 90, 200, 0.9), touch("A:N", 4, 3, 0.1)], "N",
         "N is hardly attached (A:N, 4 residues, 0.10)"),
        ([touch("A:B", 6, 4, 0.3), touch("B:C", 4, 2, 0.1)], "", "no interface looks right"),
        ([touch("A:B", 4, 3, 0.3)], "", ""),
    ],
)  # fmt: skip
def test_a_partner_that_touches_nothing_or_little_or_looks_wrong_is_named(
    rows, antibodies, words
):
    assert weak_partners(with_roles(rows, antibodies)) == words


def test_partners_that_run_through_each_other_clash():
    rows = [met("m", name, 0.3) for name in ("A:B", "B:C", "A:C")]
    far = [3.0, 2.94, 1.0]
    rows = [row._replace(closest=q) for row, q in zip(rows, far, strict=True)]
    rows[2] = rows[2]._replace(n_ca_pairs=0)
    assert clashes(rows) == ["B and C clash: their closest CA atoms are 2.9 Å apart"]


@pytest.mark.parametrize(
    ("rows", "antibodies", "roles", "number"),
    [
        (G_PROTEIN, "", ["main", "side contact", "main"], 0.635),
        # ten residues in ten contacts are an interface; fewer of either are a touch
        ([*PAIRS, touch("A:C", 10, 10, 0.2)], "", ["main"] * 3, (0.9 + 1.4 / 3) / 2),
        ([*PAIRS, touch("A:C", 10, 9, 0.2)], "", ["main", "main", "side contact"], 0.75),
        ([*PAIRS, touch("A:C", 9, 20, 0.2)], "", ["main", "main", "side contact"], 0.75),
        # where a partner looks wrong the whole is no better than its interfaces: five rows below, too
        # all that holds a partner counts, a peptide in its groove or a touch
        ([touch("A:B", 86, 161, 0.9), touch("A:P", 14, 25, 0.8)], "", ["main", "main"], 0.875),
        ([touch("A:B", 86, 161, 0.9), touch("B:C", 4, 3, 0.1)], "", ["main", "main"], 0.5),
        ([touch("A:B", 86, 161, 0.9), touch("A:C", 5, 3, 0.3), touch("B:C", 4, 3, 0.0)], "", ["main"] * 3, 0.4),
        # where all touch little, all count
        ([touch("A:B", 6, 4, 0.3), touch("B:C", 4, 2, 0.1)], "", ["main", "main"], 0.2),
        # chains that touch nothing, one or several
        ([touch("A:B", 40, 90, 0.9), touch("A:C", 0, 0, None)], "", ["main", ""], 0.9),
        ([touch("A:B", 40, 90, 0.9), touch("A:C", 0, 0, None), touch("A:D", 0, 0, None), touch("D:E", 8, 9, 0.1)],
         "", ["main", "", "", "main"], 0.5),
        # an antibody is asked for where it binds, whatever else is right
        (ANTIGEN_DIMER, "AB", ["main", "main", "beside the antibody"], 0.375),
        ([touch("A:H", 30, 40, 0.2), touch("A:L", 5, 4, 0.1), touch("H:L", 90, 200, 0.9)],
         "HL", ["main", "side contact", "beside the antibody"], 0.2),
        ([touch("A:B", 90, 200, 0.9), touch("A:N", 4, 3, 0.1)], "N", ["beside the antibody", "main"], 0.1),
        ([touch("A:H", 0, 0, None), touch("H:L", 90, 200, 0.9)], "HL", ["", "beside the antibody"], None),
        # two antibodies, one against the other
        ([touch("H:L", 90, 200, 0.9), touch("H:K", 30, 40, 0.3)], "HLK", ["main", "main"], 0.6),
    ],
)  # fmt: skip
def test_which_interfaces_make_the_number(rows, antibodies, roles, number):
    table = with_roles(rows, antibodies)
    assert [row.role for row in table] == roles
    (score,) = with_headlines([Score("T", "m", 0.9, None)], table)
    if number is not None:
        assert score.pred_dockq == pytest.approx(number, abs=1e-6)


def test_models_whose_partners_differ_are_named_and_missing_chains_are_no_difference():
    """Copies of a chain, B and D, that two files call the other way round."""
    said = partners_doubt(
        [
            *rows(**{"A+B_C+D": [9, 9]}),
            *(row._replace(decoy="x") for row in rows(**{"A+D_B+C": [9]})),
        ]
    )
    assert said.startswith(
        "models have different partners, d0 A+B:C+D and x A+D:B+C by the chains of the target"
    )
    assert partners_doubt(rows(**{"A+B_C+D": [9, 9], "A_C+D": [9]})) == ""
    assert partners_doubt(rows(**{"A+B_C+D": [9], "A+B_E": [9], "C+D_E": [9]})) == ""
    assert partners_doubt(rows(**{"A+B_C+D": [9, 9], "A+D_B+C": [0, 0]})) == ""


def test_chains_that_no_one_could_say_are_not_advised():
    odd = [
        row._replace(interface=row.interface.replace("A", "A:1"))
        for row in rows(A_H=[40], A_L=[12], H_L=[110])
    ]
    assert partners_hint(odd) == ""


@pytest.mark.parametrize(
    "found",
    [
        {"A_B": [9, 9]},
        {"A_B": [9, 0], "A_C": [0, 9]},
        {"A_B": [9, 9], "C_D": [9, 9]},  # as one partner, A and B would touch nothing
        {"A_B": [9, 9], "B_C": [9, 0]},
        {"A_H+L": [9], "A_B": [9]},
        {},
    ],
)
def test_nothing_is_advised_for_two_chains_or_where_none_always_touch_or_partners_are_given(
    found,
):
    assert partners_hint(rows(**found)) == ""
    assert hints(rows(**found)) == []
