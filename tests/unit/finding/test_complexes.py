"""What a target is: models with the same kinds of chains are of one complex, whatever folders and
chains are called.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from _chains import chain, exchanged
from hypothesis import example, given, settings
from hypothesis import strategies as st

from structures_text import by_target, shape_named
from toporank.chains.kinds import exchanges, same_kind, same_protein
from toporank.chains.resolve import Given, called_otherwise, in_names_of_each
from toporank.files.printable_names import name_problem
from toporank.finding.complexes import (
    BY_FOLDER,
    BY_SEQUENCE,
    Grouped,
    group,
)
from toporank.finding.decoy_names import copies_among
from toporank.finding.sketch import ModelSketch, Sketch
from toporank.structures.identity import Decoy, split_suffix

A, B, C, D = (
    chain(seed, length) for seed, length in ((1, 150), (2, 110), (3, 90), (4, 130))
)


def grouped(
    files: dict[str, object],
    by: str = BY_SEQUENCE,
    partners: dict[str, str] | None = None,
) -> Grouped:
    """Of files `<folder>/<decoy>`, each with its sequences (chains A, B …), pairs of name and
    sequence, or a sketch; None of a file that cannot be read.
    """
    decoys = [Decoy("ds", *path.split("/"), f"in/{path}.pdb") for path in files]
    return group(
        decoys,
        {f"in/{path}.pdb": sketched(seen) for path, seen in files.items()},
        by,
        "given",
        partners,
    )


def sketched(seen: object) -> Sketch | None:
    if seen is None or isinstance(seen, Sketch):
        return seen
    chains = zip("ABCDEFGH", seen, strict=False) if isinstance(seen[0], str) else seen
    return of_models(tuple(chains))


def of_models(*chains: tuple, numbers: tuple[int, ...] = (1,)) -> Sketch:
    """Of a file with the chains of each model."""
    return Sketch(numbers, tuple(map(ModelSketch, chains)))


def targets(found: Grouped) -> dict[str, list[str]]:
    """Target → its decoys."""
    return by_target(found.decoys)


# ---- which files are of one target ---------------------------------------------------------------

MUTANT = exchanged(A, 70)
AB, CD = (("A", A), ("B", B)), (("A", C), ("B", D))
FILES = {
    "called after what names share": (
        {"x/af2_7ACV_m_0": [A, B], "x/boltz_7ACV_m_1": [A, B], "x/af2_7XYZ_0": [C, D], "x/boltz_7XYZ_1": [C, D]},
        {"7ACV_m": ["af2_7ACV_m_0", "boltz_7ACV_m_1"], "7XYZ": ["af2_7XYZ_0", "boltz_7XYZ_1"]},
    ),
    "numbered where no name tells them apart": (
        {"x/model_0": [A, B], "x/model_1": [A, B], "x/rank_2": [C, D], "x/best_3": [C, D]},
        {"given": ["model_0", "model_1"], "given_2": ["best_3", "rank_2"]},
    ),
    "jobs that differ by a number": (
        {f"x/{job}_model_{n}": [A, B if job == "fold_a" else C] for job in ("fold_a", "fold_a_1") for n in (0, 1)},
        {job: [f"{job}_model_0", f"{job}_model_1"] for job in ("fold_a", "fold_a_1")},
    ),
    "homodimers and a heterodimer": (
        {"x/aa": [A, A], "x/ab": [A, B], "x/bb": [B, B]}, {"aa": ["aa"], "ab": ["ab"], "bb": ["bb"]},
    ),
    "mutants in one folder": ({"T/wild": [A, B], "T/mutant": [MUTANT, B]}, {"T": ["mutant", "wild"]}),
    "mutants in folders": (
        {"wild/a": [A, B], "wild/b": [A, B], "E70W/a": [MUTANT, B], "E70W/b": [MUTANT, B]},
        {"E70W": ["a", "b"], "wild": ["a", "b"]},
    ),
    "folders named alike": (
        {"af2_7ACV/model_0": [A, B], "boltz_7ACV/model_1": [A, B], "af2_7XYZ/m": [C, D]},
        {"7ACV": ["model_0", "model_1"], "af2_7XYZ": ["m"]},
    ),
    "complexes of two programs in each folder": (
        {f"{pdb}/{program}_{n}": [*pair, *extra] for pdb, pair in (("1EER", (A, B)), ("1EZU", (C, D)))
         for program, extra in (("af2m", ()), ("boltz1", pair[1:])) for n in (0, 1)},
        {f"{pdb}_{program}": [f"{program}_0", f"{program}_1"] for pdb in ("1EER", "1EZU") for program in ("af2m", "boltz1")},
    ),
    "a name that two folders have": (
        {"x/dimer_0": [A, B], "x/dimer_1": [A, B], "x/a": [C, D], "y/dimer_0": [A, D], "y/dimer_1": [A, D], "y/b": [C, B]},
        {"x_dimer": ["dimer_0", "dimer_1"], "a": ["a"], "y_dimer": ["dimer_0", "dimer_1"], "b": ["b"]},
    ),
    "a name that two folders have, and one of them is called so": (
        {"x/x_m_0": [A, B], "x/x_m_1": [A, B], "x/a": [C, D], "y/x_m_0": [A, D], "y/x_m_1": [A, D], "y/b": [C, B]},
        {"x_m": ["x_m_0", "x_m_1"], "a": ["a"], "y_x_m": ["x_m_0", "x_m_1"], "b": ["b"]},
    ),
    "one complex in folders whose names have nothing in common": (
        {"3P57/m_0": [A, B], "BP57/n_1": [A, B], "7XYZ/m_0": [C, D]}, {"3P57_BP57": ["m_0", "n_1"], "7XYZ": ["m_0"]},
    ),
    "files of one name": (
        {"af2/m_0": [A, B], "af2/m_1": [A, B], "boltz/m_0": [A, B]}, {"m": ["af2_m_0", "boltz_m_0", "m_1"]},
    ),
    "other numbers of copies": ({"dimer/a": [A, A], "trimer/a": [A, A, A]}, {"dimer": ["a"], "trimer": ["a"]}),
    "one that cannot be read": ({"T/a": [A, B], "T/bad": None}, {"T": ["a", "bad"]}),
    "none that can be read": ({"T/bad": None, "T/worse": None, "U/bad": None}, {"T": ["bad", "worse"], "U": ["bad"]}),
    "one of several that cannot": (
        {"T/ab": [A, B], "T/cd": [C, D], "T/bad": None}, {"ab": ["ab"], "cd": ["cd"], "bad": ["bad"]},
    ),
    "complexes in one file": (
        {"T/best": of_models(AB, CD, AB, numbers=(1, 2, 3))}, {"best": ["best#1", "best#3"], "best_2": ["best#2"]},
    ),
    "models numbered alike": ({"T/a": of_models(AB, AB, AB, numbers=(1, 1, 1))}, {"T": ["a#1", "a#2", "a#3"]}),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_files_of_one_complex_are_a_target(case):
    files, expected = FILES[case]
    assert targets(grouped(files)) == expected


# ---- one folder ----------------------------------------------------------------------------------


def test_the_best_models_of_pairs_in_one_folder_are_targets_called_after_their_files():
    found = grouped(
        {"best/7ACV_model_0": [A, B], "best/7XYZ_model_0": [C, D], "best/8ABC": [A, D]}
    )
    assert targets(found) == {
        name: [name] for name in ("7ACV_model_0", "7XYZ_model_0", "8ABC")
    }
    assert found.notes == [
        "folder best holds models of 3 different complexes, as their sequences say: each complex "
        "is a target"
    ]
    assert {decoy.folder for decoy in found.decoys} == {"best"}


def test_a_folder_of_one_complex_is_a_target_of_its_own_name_and_says_nothing():
    found = grouped({"T/a": [A, B], "T/b": [("7", B), ("6", A)]})
    assert (targets(found), found.notes) == ({"T": ["a", "b"]}, [])
    assert {decoy.folder for decoy in found.decoys} == {""}


def test_of_models_with_and_without_a_chain_a_large_majority_says_that_it_is_missing():
    whole = {f"T/whole{i}": [A, B, C] for i in range(4)}
    found = grouped({**whole, "T/less": [A, B]})
    assert set(targets(found)) == {"T"}
    assert {decoy.name: decoy.lacks for decoy in found.decoys if decoy.lacks} == {
        "less": "of 3 protein chains that most models of the target have, 2: no C"
    }
    tie = grouped({"T/ab": [A, B], "T/abc": [A, B, C]})
    assert targets(tie) == {"ab": ["ab"], "abc": ["abc"]}
    assert not any(decoy.lacks for decoy in tie.decoys)


def test_a_single_chain_is_no_complex_but_part_of_one():
    found = grouped({"T/whole": [A, B], "T/alone": [B]})
    assert {decoy.name: decoy.lacks for decoy in found.decoys} == {
        "whole": "", "alone": "of 2 protein chains that most models of the target have, 1: no A"
    }  # fmt: skip


def stoichiometries(*models: tuple[str, int]) -> dict[str, object]:
    """Files of models, so many of each kind: `("AAB", 3)` has two copies of A and one of B."""
    known = {"A": A, "B": B, "C": C}
    return {
        f"T/{what}_{n}": [known[x] for x in what]
        for what, many in models
        for n in range(many)
    }


@pytest.mark.parametrize(
    "models",
    [
        [("AB", 3), ("AABB", 4)],
        [("AB", 1), ("AABB", 20)],
        [("AB", 5), ("AABB", 5), ("AAABBB", 5)],
        [("AA", 5), ("AAAA", 5)],
        [("AA", 1), ("AAAA", 9)],
        [("AAA", 3), ("AAAA", 5)],
        [("AB", 2), ("AAB", 2), ("ABB", 2)],
    ],
    ids=lambda models: "+".join(f"{n}x{what}" for what, n in models),
)
def test_other_numbers_of_copies_are_other_complexes(models):
    found = grouped(stoichiometries(*models))
    assert {
        names[0].rpartition("_")[0]: len(names) for names in targets(found).values()
    } == dict(models)
    assert not any(decoy.lacks or decoy.spare for decoy in found.decoys)
    assert (
        "(some differ in the number of copies of a chain): each complex is a target"
        in found.notes[0]
    )


@pytest.mark.parametrize(
    ("many", "few", "lacks", "spare"),
    [
        (
            "AABB",
            "AAB",
            "of 4 protein chains that most models of the target have, 3: no D",
            "",
        ),
        (
            "AAAA",
            "AAA",
            "of 4 protein chains that most models of the target have, 3: no D",
            "",
        ),
        (
            "AA",
            "A",
            "of 2 protein chains that most models of the target have, 1: no B",
            "",
        ),
        ("AB", "AAB", "", "A+B"),
    ],
)
def test_a_broken_model_among_many_is_of_their_complex(many, few, lacks, spare):
    found = grouped(stoichiometries((many, 4), (few, 1)))
    assert set(targets(found)) == {"T"}
    assert [
        (decoy.lacks, decoy.spare) for decoy in found.decoys if decoy.name == f"{few}_0"
    ] == [(lacks, spare)]
    assert not any(decoy.lacks for decoy in found.decoys if decoy.name != f"{few}_0")


def test_names_of_chains_and_their_order_do_not_tell_complexes_apart():
    found = grouped(
        {
            "T/a": [A, B, B],
            "T/b": [("B", A), ("A", B), ("", B)],
            "T/c": [("x", B), ("y", B), ("z", A)],
        }
    )
    assert set(targets(found)) == {"T"}
    assert len({tuple(sorted(kinds.values())) for kinds in found.kinds.values()}) == 1


# ---- the same protein ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        A[5:],
        A[:-30],
        A[10:-10],
        A[:40] + A[52:],
        A[3:60] + A[68:],
        exchanged(A, 3, 40, 90),
    ],
    ids=["start", "end", "ends", "loop", "start and loop", "mutant"],
)
def test_cut_ends_missing_loops_and_a_few_exchanges_leave_a_protein_the_same(other):
    assert same_kind(A, other)
    assert same_kind(other, A)
    assert targets(grouped({"T/a": [A, B], "T/b": [other, B]})) == {"T": ["a", "b"]}


@pytest.mark.parametrize(
    ("one", "other"), [(A[5:], A[:-5]), (A[:40] + A[52:], A[:90] + A[97:]), (A[8:], A)]
)
def test_folders_with_constructs_of_one_protein_are_one_target(one, other):
    assert same_protein(one, other)
    assert len(targets(grouped({"x/a": [one, B], "y/b": [other, B]}))) == 1


@pytest.mark.parametrize("place", [0, 1, 75, 148, 149])
def test_an_exchange_at_any_place_is_noticed(place):
    assert same_kind(A, exchanged(A, place))
    assert not same_protein(A, exchanged(A, place))


@pytest.mark.parametrize(
    "other", [A[:60], B, "", "X" * 150, exchanged(A, *range(0, 150, 8))]
)
def test_a_domain_a_relative_and_another_protein_are_of_another_kind(other):
    assert not same_kind(A, other)


@pytest.mark.parametrize("length", [5, 9, 10, 15, 23, 30, 42, 50])
def test_a_scan_of_a_peptide_is_a_target_for_each_peptide_wherever_the_exchange_is(
    length,
):
    wild = chain(7, length).replace("A", "G")
    scan = {"wt": wild} | {
        f"{x}{k + 1}A": wild[:k] + "A" + wild[k + 1 :] for k, x in enumerate(wild)
    }
    found = grouped(
        {
            f"x/pep_{name}_model_{n}": [B, peptide]
            for name, peptide in scan.items()
            for n in (0, 1)
        }
    )
    assert targets(found) == {
        f"pep_{name}": [f"pep_{name}_model_0", f"pep_{name}_model_1"] for name in scan
    }


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("SLLMWITQC", "SLLMWITQC", True),
        ("GILG", "GILA", False),
        ("SLLMWITQC", "SLLMWITQ", False),
        ("SLLMWITQC", "ASLLMWITQC", False),
        ("SLLMWITQC", "SLLAWATQC", False),
        ("SLLMWITQC", "SLLXWITQC", True),
        (A[:30], A[:29], False),
        (A[:50], A[:49], False),
        (A[:40], exchanged(A[:40], 3), False),
        (A[:45], "X" + A[1:45], True),
        (A[:56], A[:54], True),
        (A[:60], exchanged(A[:60], 0, 19, 39), True),
    ],
)
def test_peptides_are_told_apart_by_every_letter_that_is_known(one, other, same):
    assert same_kind(one, other) == same_kind(other, one) == same
    assert len(targets(grouped({"x/a": [B, one], "x/b": [B, other]}))) == (
        1 if same else 2
    )


@pytest.mark.parametrize(
    ("one", "other", "n"),
    [
        (A, exchanged(A, 75), 1),
        (A, exchanged(A, *range(90, 100)), 10),
        (A, exchanged(A, 75)[20:140], 1),
        (A, exchanged(A, 3), 1),
        (A, A[:75] + "X" + A[76:], 0),
        (A, A[:75] + "X" + exchanged(A, 76)[76:], 1),
        (A, A[5:60] + A[70:140], 0),
        (A, A[:60] + "GSGS" + A[60:], 0),
        (f"MGSSHHHHHHSSG{A}", f"GP{A}", 0),
        (f"GSHM{A}", f"SNA{A}", 0),
        (A, exchanged(A, 0), 1),
        (A, exchanged(A, 148, 149), 2),
        (A[:40], exchanged(A[:40], 0, 20, 39), 3),
        (A, exchanged(A, 0, 1, 2)[:-1], 3),
        (A, exchanged(A, 147, 149)[4:], 2),
    ],
)  # fmt: skip
def test_exchanges_are_counted_and_missing_loops_tags_and_tails_are_none(one, other, n):
    assert (exchanges(one, other), exchanges(other, one)) == (n, n)


# ---- several folders -----------------------------------------------------------------------------

PREDICTORS = ("af2", "boltz", "chai", "protenix")


def test_one_complex_from_four_predictors_is_one_target_in_one_folder_or_in_four():
    files = {f"{program}_7ACV_model_{n}": [("A", A), ("B", B)] if n else [("1", B), ("2", A)]
             for program in PREDICTORS for n in range(2)}  # fmt: skip
    flat = grouped({f"7ACV/{name}": seen for name, seen in files.items()})
    assert targets(flat) == {"7ACV": sorted(files)}
    apart = grouped(
        {f"{name.split('_')[0]}/{name}": seen for name, seen in files.items()}
    )
    assert targets(apart) == {"7ACV": sorted(files)}
    assert apart.notes == [
        "folders af2, boltz, chai and 1 more hold models of the same complexes, as their "
        "sequences say: one target"
    ]
    assert {decoy.folder for decoy in apart.decoys} == set(PREDICTORS)


def test_a_table_of_partners_keeps_folders_with_other_partners_apart():
    files = {"one/a": [A, B, C], "two/b": [A, B, C]}
    assert len(targets(grouped(files, partners={"one": "A:B+C"}))) == 2
    assert len(targets(grouped(files, partners={"one": "A:B+C", "two": "A:B+C"}))) == 1


def test_who_wants_it_keeps_to_the_folders():
    files = {"x/ab": [A, B], "x/cd": [C, D], "y/ab": [A, B]}
    found = grouped(files, BY_FOLDER)
    assert targets(found) == {"x": ["ab", "cd"], "y": ["ab"]}
    assert found.notes == [
        "folder x holds models of 2 different complexes, as their sequences say: each folder is a "
        "target"
    ]
    assert len(targets(grouped(files))) == 2


VARIANTS = {"wt": A[:60], "v1": exchanged(A[:60], 3, 13, 23, 33), "v2": exchanged(A[:60], 8, 18, 28, 38)}  # fmt: skip


def test_where_folders_decide_a_model_lacks_no_chain_that_its_own_complex_has_not():
    """Two variants that are less alike than each is to the wild type; one model has lost a chain."""
    files = {f"T/{name}_{n}": [B, seen] for name, seen in VARIANTS.items() for n in range(5)}  # fmt: skip
    found = grouped(files | {"T/v2_lost": [B]}, BY_FOLDER)
    assert {decoy.name for decoy in found.decoys if decoy.lacks} == {"v2_lost"}
    assert "3 different complexes" in found.notes[0]


@pytest.mark.parametrize(
    "letters", [str, lambda s: s[::-1], lambda s: s.translate(str.maketrans("WA", "AW"))]
)  # fmt: skip
def test_likeness_is_decided_for_a_group_whatever_its_letters(letters):
    """The wild type is like each variant; where these are not alike, each is a target."""
    files = {f"T/{name}": [B, letters(seen)] for name, seen in VARIANTS.items()}
    assert targets(grouped(files)) == {name: [name] for name in VARIANTS}
    del files["T/v2"]
    assert targets(grouped(files)) == {"T": ["v1", "wt"]}


def test_constructs_of_a_protein_stay_with_it_where_its_mutants_do_not():
    far = {"m": exchanged(A, *range(0, 64, 8)), "n": exchanged(A, *range(70, 150, 8))}
    files = {f"T/{name}_0": [B, seen] for name, seen in {"wt": A, **far}.items()}
    files |= {"T/wt_1": [B, A[4:]], "T/wt_2": [B, A[:40] + A[52:]]}
    assert targets(grouped(files)) == {
        "wt": ["wt_0", "wt_1", "wt_2"], "m_0": ["m_0"], "n_0": ["n_0"]
    }  # fmt: skip


# ---- modified residues and numbers of copies -----------------------------------------------------


def phosphorylated(chains: list[str], place: int, name: str = "SEP") -> Sketch:
    """With a modified residue in chain B."""
    seen = sketched(chains)
    return seen._replace(models=(seen.first._replace(modified=(("B", place, name),)),))


@pytest.mark.parametrize("length", [12, 40])
def test_a_modified_residue_of_a_peptide_is_another_residue(length):
    peptide = A[:length]
    files = {
        "T/plain": [B, peptide],
        "T/plain_2": [B, peptide],
        "T/sep": phosphorylated([B, peptide], 6),
        "U/sep": phosphorylated([B, peptide], 6),
        "T/tpo": phosphorylated([B, peptide], 6, "TPO"),
        "T/elsewhere": phosphorylated([B, peptide], 7),
    }
    assert sorted(targets(grouped(files)).values()) == [
        ["T_sep", "U_sep"], ["elsewhere"], ["plain", "plain_2"], ["tpo"]
    ]  # fmt: skip


def test_a_modified_protein_in_a_folder_of_its_own_is_a_target():
    files = {"apo/m": [B, A], "apo/n": [B, A], "p/m": phosphorylated([B, A], 70)}
    assert targets(grouped(files)) == {"apo": ["m", "n"], "p": ["m"]}
    files["p/m"] = [B, A]
    assert len(targets(grouped(files))) == 1


def test_other_numbers_of_copies_in_other_folders_are_said_in_one_sentence():
    files = {
        "1EER_af2/m": [A, B, A],
        "1EER_boltz/m": [A, B],
        "1EZU_af2/m": [C, D, C],
        "1EZU_boltz/m": [C, D],
    }
    (note,) = grouped(files).notes
    assert note == (
        "1EER_af2 2:1, 1EER_boltz 1:1: the same chains in different numbers of copies, each a "
        "target of its own; so it is with 1 more"
    )
    one_folder = {path.replace("/", "_").replace("_", "/", 1): seen for path, seen in files.items()}  # fmt: skip
    (note,) = grouped(one_folder).notes
    assert "some differ in the number of copies of a chain" in note
    (note,) = grouped({"af/m": [A, B, B], "boltz/m": [B, A], "chai/m": [A, A, B, B]}).notes  # fmt: skip
    assert "boltz 1:1, chai 2:2: the same chains" in note


# ---- files that are no usual models --------------------------------------------------------------


def test_each_model_of_a_file_is_a_decoy_and_an_ensemble_of_a_single_chain_is_one():
    two = of_models(AB, AB, numbers=(1, 5))
    found = grouped(
        {
            "T/a": two,
            "T/b": [A, B],
            "T/nmr": of_models(*[(("A", A),)] * 20, numbers=tuple(range(1, 21))),
        }
    )
    assert [(d.name, d.model, d.path) for d in found.decoys] == [
        ("a#1", 1, "in/T/a.pdb"), ("a#5", 2, "in/T/a.pdb"), ("b", 0, "in/T/b.pdb"), ("nmr", 0, "in/T/nmr.pdb"),
    ]  # fmt: skip


def test_a_refused_name_keeps_its_row_and_its_reason():
    decoy = Decoy("ds", "T", "bad~1", "in/T/bad\t.pdb", "cannot be printed")
    found = group([decoy], {}, BY_SEQUENCE, "given").decoys
    assert found == [decoy]


# ---- names that clash ----------------------------------------------------------------------------


def placed(*places: str) -> Sketch:
    """Of a file with a model for each of these shapes."""
    models = [ModelSketch(AB, shape=shape_named(place)) for place in places]
    return Sketch(tuple(range(1, len(places) + 1)), tuple(models))


def of_files(files: dict[str, Sketch], by: str = BY_SEQUENCE) -> Grouped:
    """Of files `<folder>/<decoy>.<suffix>`."""
    decoys = []
    for path in files:
        folder, file = path.split("/")
        decoys.append(Decoy("ds", folder, split_suffix(file)[0], f"in/{path}"))
    return group(
        decoys, {f"in/{path}": seen for path, seen in files.items()}, by, "given"
    )


@pytest.mark.parametrize("by", [BY_SEQUENCE, BY_FOLDER])
def test_one_stem_under_two_endings_is_two_decoys_and_one_model_if_the_atoms_are_the_same(
    by,
):
    endings = (
        "ranked_0.cif",
        "ranked_0.pdb",
        "ranked_0.pdb.gz",
        "ranked_0.ent",
        "ranked_0.mmcif.gz",
    )
    found = of_files({f"T/{name}": placed("one") for name in endings}, by)
    names = {Path(decoy.path).name: decoy.name for decoy in found.decoys}
    assert names == {
        "ranked_0.pdb": "ranked_0", "ranked_0.pdb.gz": "ranked_0_pdb_gz", "ranked_0.ent": "ranked_0_ent",
        "ranked_0.cif": "ranked_0_cif", "ranked_0.mmcif.gz": "ranked_0_mmcif_gz",
    }  # fmt: skip
    copies = copies_among(
        found.decoys, {f"in/T/{name}": placed("one") for name in endings}
    )
    assert copies == {
        ("T", name): "ranked_0" for name in names.values() if name != "ranked_0"
    }
    assert list(found.renamed) == []


def test_of_one_stem_with_other_atoms_the_new_name_is_said_once():
    atoms = {"a.pdb": "one", "a.cif": "two", "b.pdb": "three", "b.cif": "four"}
    found = of_files({f"T/{name}": placed(place) for name, place in atoms.items()})
    assert targets(found) == {"T": ["a", "a_cif", "b", "b_cif"]}
    assert found.renamed == [
        "TopoRank calls a.cif a_cif, since another model has its name; 1 more have other names, too"
    ]


def test_a_model_of_a_file_gives_way_to_a_file_of_its_name():
    found = of_files({"x/wt.pdb": placed("one", "two"), "x/wt#1.pdb": placed("three")})
    assert targets(found) == {"x": ["wt#1", "wt#2", "wt_pdb#1"]}
    assert {decoy.name: (decoy.path, decoy.model) for decoy in found.decoys} == {
        "wt#1": ("in/x/wt#1.pdb", 0), "wt#2": ("in/x/wt.pdb", 2), "wt_pdb#1": ("in/x/wt.pdb", 1),
    }  # fmt: skip
    assert found.renamed == [
        "TopoRank calls wt.pdb, model 1, wt_pdb#1, since another model has its name"
    ]


@pytest.mark.parametrize(
    "files",
    [
        ["x/a.pdb", "x_b/a.pdb", "y/b_a.pdb", "x/b_a.pdb"],
        ["T/a.pdb", "T/a.cif", "T/a_cif.pdb", "T/a_cif_2.pdb"],
        ["T/wt.pdb", "T/wt#1.pdb", "T/wt_pdb#1.pdb", "T/wt#2.cif"],
        ["T/{a}.pdb", "T/{a}.cif", "T/a %.pdb", "T/a %.ent", "T/ä#1.pdb", "T/ä.pdb", "T/A.pdb", "T/a.PDB"],
        [f"T/{'x' * 240}.pdb", f"T/{'x' * 240}.cif", f"T/{'x' * 240}.ent"],
    ],
)  # fmt: skip
def test_no_clash_of_names_stops_a_run(files):
    two_models = ("T/wt.pdb", "T/ä.pdb")
    found = of_files(
        {
            path: placed(path, f"{path} 2") if path in two_models else placed(path)
            for path in files
        }
    )
    keys = [decoy.key for decoy in found.decoys]
    assert (
        len(set(keys))
        == len(keys)
        == len(files) + sum(path in two_models for path in files)
    )
    assert {decoy.path for decoy in found.decoys} == {f"in/{path}" for path in files}
    assert not any(name_problem(name) for _, name in keys)
    assert sorted(found.kinds) == keys


def test_targets_whose_names_cannot_be_written_stay_apart():
    long = "x" * 250
    names = (f"{long}1", f"{long}2")
    found = group(
        [Decoy("ds", folder, name, f"in/{folder}/{name}.pdb") for folder in ("u", "v") for name in names],
        {f"in/{folder}/{long}{n}.pdb": sketched([A, B] if n == 1 else [C, D]) for folder in ("u", "v") for n in (1, 2)},
        BY_SEQUENCE,
        long,
    )  # fmt: skip
    assert {len(decoys) for decoys in targets(found).values()} == {2}
    assert len(targets(found)) == 2


# ---- partners ------------------------------------------------------------------------------------


def test_partners_are_said_in_the_names_that_a_model_has():
    found = grouped(
        {
            "T/usual": [("H", A), ("L", B), ("A", C)],
            "T/other": [("1", C), ("2", A), ("3", B)],
        }
    )
    partners = dict.fromkeys(found.kinds, "A:H+L")
    assert in_names_of_each(partners, found) == {
        ("T", "usual"): "A:H+L",
        ("T", "other"): "1:2+3",
    }


def test_names_mean_what_they_mean_in_the_model_after_which_the_target_calls_its_chains_and_copies_go_by_their_place():
    """The model with most chains, of several with most residues, of these the first: as hints and
    tables say it.
    """
    found = grouped({
        "T/a": [("A", A), ("B", B), ("C", B)], "T/b": [("A", A), ("B", B), ("C", B)],
        "T/swapped": [("A", B), ("B", A), ("C", B)],
    })  # fmt: skip
    partners = in_names_of_each(dict.fromkeys(found.kinds, "A+B:C"), found)
    assert partners["T", "swapped"] == "A+B:C"
    partners = in_names_of_each(dict.fromkeys(found.kinds, "A:B+C"), found)
    assert partners["T", "swapped"] == "A+C:B"
    assert called_otherwise(dict.fromkeys(found.kinds, Given("A:B+C")), found) == [
        "partners A:B+C are chains of a; swapped has these names for other chains: there they are "
        "A+C:B"
    ]
    assert (
        called_otherwise(
            dict.fromkeys(found.kinds, Given("A:B")),
            grouped({"T/a": [("A", A), ("B", B)]}),
        )
        == []
    )


@pytest.mark.parametrize("longest", ["m0", "m1"])
def test_where_most_models_call_the_chains_otherwise_the_names_of_the_target_count(
    longest,
):
    """A hint says H+P:L of m0, or of the one with most residues; a user who says so means these
    chains.
    """
    models = {name: [("P", A), ("H", B), ("L", C)] for name in ("m1", "m2")} | {
        "m0": [("H", A), ("L", B), ("P", C)]
    }
    models[longest] = [
        (name, sequence + "G" * (sequence == C)) for name, sequence in models[longest]
    ]
    found = grouped({f"T/{name}": chains for name, chains in models.items()})
    partners = in_names_of_each(dict.fromkeys(found.kinds, "H+P:L"), found)
    own = (
        {"m0": "H+P:L", "m1": "H:L+P"}
        if longest == "m0"
        else {"m0": "H+L:P", "m1": "H+P:L"}
    )
    assert {name: partners["T", name] for name in own} == own
    (note,) = called_otherwise(dict.fromkeys(found.kinds, Given("H+P:L")), found)
    assert note.startswith(f"partners H+P:L are chains of {longest}; ")


def test_partners_that_a_model_lacks_stay_as_they_were_said():
    found = grouped(
        {
            **{f"T/{i}": [("H", A), ("L", B), ("A", C)] for i in range(4)},
            "T/less": [("H", A), ("L", B)],
        }
    )
    assert (
        in_names_of_each(dict.fromkeys(found.kinds, "A:H+L"), found)["T", "less"]
        == "A:H+L"
    )


def test_complexes_that_lie_in_two_folders_are_counted_once():
    two = {"1": [("A", A), ("B", B)], "2": [("A", A), ("B", C)]}
    found = grouped(
        {
            f"{folder}/m{name}": chains
            for folder in ("one", "two")
            for name, chains in two.items()
        }
    )
    assert found.notes[0].startswith(
        "folders one, two hold models of 2 different complexes"
    )


# ---- names, order, time --------------------------------------------------------------------------


POOL = {"A": A, "B": B, "C": C, "mutant": exchanged(A, 50), "cut": A[9:]}
MODELS = st.dictionaries(
    st.tuples(
        st.sampled_from(["x", "y", "run_7ACV"]),
        st.sampled_from(["model_1", "af_7ACV", "a", "b_7ACV", "c"]),
    ),
    st.one_of(
        st.none(), st.lists(st.sampled_from(sorted(POOL)), min_size=1, max_size=4)
    ),
    min_size=1,
)


@settings(max_examples=60)
@example(
    {("x", "m"): ["A", "A", "C"], ("x", "n"): None, ("y", "m"): ["A", "C", "mutant"]},
    random.Random(0),
)
@given(MODELS, st.randoms(use_true_random=False))
def test_targets_depend_neither_on_the_order_of_files_nor_on_the_names_and_order_of_chains(
    models, shuffle
):
    files = {
        "/".join(key): seen and [POOL[name] for name in seen]
        for key, seen in models.items()
    }
    found = grouped(files)
    assert len({decoy.key for decoy in found.decoys}) == len(files)
    assert sorted(decoy.path for decoy in found.decoys) == sorted(
        f"in/{path}.pdb" for path in files
    )
    other = {}
    for path, seen in shuffle.sample(sorted(files.items()), len(files)):
        names = shuffle.sample("QRSTUVWX", len(seen or []))
        other[path] = seen and list(
            zip(names, shuffle.sample(seen, len(seen)), strict=True)
        )
    again = grouped(other)
    assert [decoy[:4] for decoy in again.decoys] == [
        decoy[:4] for decoy in found.decoys
    ]
    assert again.notes == found.notes
    assert [bool(decoy.lacks) for decoy in again.decoys] == [
        bool(decoy.lacks) for decoy in found.decoys
    ]


def cpu_seconds(sequences: list[list[str]]) -> tuple[float, int]:
    """To group models with these sequences, and the number of targets."""
    files = {f"x/m{i:05}": chains for i, chains in enumerate(sequences)}
    start = time.process_time()
    found = grouped(files)
    return time.process_time() - start, len(targets(found))


def test_a_thousand_complexes_and_a_thousand_mutants_take_seconds():
    """Five times as many take five times as long: 10,000 sequences less than ten seconds of an idle
    core.
    """
    draw = random.Random(0)
    seconds, n = cpu_seconds(
        [[chain(10 + 2 * i, 250), chain(11 + 2 * i, 250)] for i in range(1000)]
    )
    assert (n, seconds < 10) == (1000, True)
    wild = chain(0, 300)
    seconds, n = cpu_seconds(
        [[exchanged(wild, draw.randrange(300))[i % 7 :], B] for i in range(1000)]
    )
    assert (n, seconds < 10) == (1, True)
