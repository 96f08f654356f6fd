"""Chains that are alike, clusters of targets that share them, splits and folds of whole
clusters.
"""

from __future__ import annotations

import shutil
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from _chains import ALPHA, B2M, HEAVY, LIGHT, LYSOZYME, chain
from hypothesis import given, settings
from hypothesis import strategies as st

from toporank.chains.kmers import containments, kind_of, kmers, sample
from toporank.comparing.homology.clusters import (
    Nearest,
    clusters,
    deal_folds,
    hold_out,
    nearest,
    references,
)
from toporank.comparing.homology.remembered import (
    KEPT,
    LONGEST,
    hashes,
    merged,
    recall,
    remember,
)
from toporank.errors import ConfigError
from toporank.finding.labels import Label, split_by_target

LETTERS = "ACDEFGHIKLMNPQRSTVWY"


def containment(one: str, other: str) -> float:
    *_, shared = containments([one], [sample(other)])
    return float(shared[0]) if len(shared) else 0.0


def words(sequence: str) -> set[str]:
    """The 5-mers of a sequence, the plain way."""
    return {
        w
        for i in range(len(sequence) - 4)
        if set(w := sequence[i : i + 5]) <= set(LETTERS)
    }


# ---- chains --------------------------------------------------------------------------------------


def test_hashes_are_those_that_checkpoints_remember():
    """fmix32 of MurmurHash3 (Appleby) of the number of a k-mer. Others would recognise nothing."""
    assert [kmers(word).tolist() for word in ("AAAAA", "CAAAA", "DAAAA")] == [
        [0],
        [0x514E28B7],
        [0x30F4C306],
    ]


@settings(max_examples=30)
@given(st.text(alphabet="ACDX", max_size=40), st.text(alphabet="ACDX", max_size=40))
def test_containment_is_that_of_the_sets_of_words(one, other):
    a, b = words(one), words(other)
    assert containment(one, other) == pytest.approx(
        len(a & b) / max(1, min(len(a), len(b)))
    )


def test_the_containment_in_a_sample_is_an_estimate_without_bias():
    errors = []
    for seed in range(60):
        whole = chain(seed, 400)
        other = whole[:200] + chain(seed + 100, 200)
        errors.append(
            float(containments([other], [sample(whole, KEPT)])[2][0])
            - containment(other, whole)
        )
    assert np.std(errors) == pytest.approx(
        0.06, abs=0.02
    )  # of a share of one half, from 64 of 396 k-mers
    assert np.mean(errors) == pytest.approx(0, abs=0.025)
    assert containments([whole], [sample(whole, KEPT)])[2].tolist() == [1.0]


TRYPSIN = (
    "IVGGYTCGANTVPYQVSLNSGYHFCGGSLINSQWVVSAAHCYKSGIQVRLGEDNINVVEGNEQFISASKSIVHPSYNSNTLNNDIMLIKLKSAASLNSRVASISLPTSCASAGTQCLISG"
    "WGNTKSSGTSYPDVLKCLKAPILSDSSCKSAYPGQITSNMFCAGYLEGGKDSCQGDSGGPVVCSGKLQGIVSWGSGCAQKNKPGVYTKVCNYVSWIKQTIASN"
)


@pytest.mark.parametrize(
    "sequence",
    [
        HEAVY,
        LIGHT,
        ALPHA,
        f"MKKTAIAIAV{HEAVY}ASTKGPSVFPLAPSSKSTSG",
        HEAVY.replace("WGQG", "RGQG"),
    ],
)
def test_variable_domains_of_antibodies_and_receptors_are_recognised(sequence):
    assert kind_of(sequence) == "antibody"


@pytest.mark.parametrize("sequence", [LYSOZYME, TRYPSIN, B2M, chain(1)])
def test_other_proteins_are_not_taken_for_antibodies(sequence):
    """Beta-2-microglobulin is an immunoglobulin domain, too, but a constant one; trypsin has all
    the cysteines.
    """
    assert kind_of(sequence) == "protein"


def test_a_chain_that_tells_no_more_than_19_residues_is_a_peptide():
    assert [kind_of(chain(1, n)) for n in (19, 20)] == ["peptide", "protein"]
    assert [
        kind_of(s) for s in ("X" * 300, "G" * 300, "X" * 300 + "HHHHHH", "GS" * 30)
    ] == ["peptide"] * 4


# ---- clusters ------------------------------------------------------------------------------------

A, B, C = chain(1), chain(2), chain(3)
FAMILY = {
    "t1": [A, B],
    "t2": [B[:60] + chain(4, 60), C],
    "t3": [C],
    "t4": [chain(5)],
    "t5": [],
}
"""t1 and t2 share a half of a chain, t2 and t3 a whole one; t4 is alone, and of t5 nothing is
compared.
"""


def test_targets_that_share_a_chain_are_linked_over_each_other():
    assert clusters(FAMILY) == {
        "t1": "t1",
        "t2": "t1",
        "t3": "t1",
        "t4": "t4",
        "t5": "t5",
    }


def test_less_than_two_fifths_of_the_kmers_do_not_link():
    shared = [
        clusters({"t1": [A], "t2": [A[: 20 * n] + chain(9, 120 - 20 * n)]})["t2"]
        for n in (2, 3)
    ]
    assert shared == ["t2", "t1"]  # 36 of 116 and 56 of 116


LACTALBUMIN = (
    "KQLTKCEVFRELKDLKGYGGVSLPEWVCTTFHTSGYDTQAIVQNNDSTEYGLFQINNKIWCKDDQNPHSSNICNISCDKFLDDDLTDDIMCVKKILDKVGINYWLAHKALCSEKLDQW"
    "LCEKL"
)
"""Of cattle: a homologue of lysozyme that shares hardly a 5-mer with it."""


def test_mmseqs_links_homologues_that_share_few_kmers():
    if shutil.which("mmseqs") is None:
        pytest.skip("MMseqs2 is not installed")
    targets = {"t1": [LYSOZYME], "t2": [LACTALBUMIN], "t3": [A], "t4": [A[:60]]}
    assert clusters(targets) == {"t1": "t1", "t2": "t2", "t3": "t3", "t4": "t3"}
    assert clusters(targets, align=True) == {
        "t1": "t1",
        "t2": "t1",
        "t3": "t3",
        "t4": "t3",
    }
    assert clusters({"t1": []}, align=True) == {"t1": "t1"}


def test_without_mmseqs_it_is_said_how_to_get_it_or_do_without(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(
        ConfigError,
        match=r"training\.similarity: mmseqs is not on the PATH \(.*set it to kmers\)",
    ):
        clusters({"t1": [LYSOZYME], "t2": [LACTALBUMIN]}, align=True)


random_targets = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3),
    st.lists(st.integers(0, 30).map(lambda seed: chain(seed, 25 + seed)), max_size=2),
    max_size=12,
)


@settings(max_examples=30)
@given(random_targets, st.randoms())
def test_the_order_of_targets_and_chains_does_not_matter(targets, draw):
    items = [(name, draw.sample(found, len(found))) for name, found in targets.items()]
    draw.shuffle(items)
    assert clusters(dict(items)) == clusters(targets)


@settings(max_examples=30)
@given(random_targets)
def test_identical_chains_are_always_linked_and_the_name_of_a_cluster_is_one_of_its_targets(
    targets,
):
    found = clusters(targets)
    for one, other in combinations(targets, 2):
        assert found[one] == found[other] or not set(targets[one]) & set(targets[other])
    assert all(found[name] == name for name in found.values())


# ---- splits and folds ----------------------------------------------------------------------------

clusterings = st.lists(st.integers(1, 9), min_size=2, max_size=40).map(
    lambda sizes: {
        f"{c}-{i}": f"{c}-0" for c, size in enumerate(sizes) for i in range(size)
    }
)


@settings(max_examples=60)
@given(clusterings, st.floats(1, 99), st.integers(0, 5))
def test_no_cluster_is_on_two_sides_and_neither_side_is_empty(
    cluster_of, percent, seed
):
    held = hold_out(cluster_of, percent, seed)
    sides = {(name, target in held) for target, name in cluster_of.items()}
    assert len(sides) == len(set(cluster_of.values()))
    assert 0 < len(held) < len(cluster_of)
    smallest = min(Counter(cluster_of.values()).values())
    assert len(held) <= max(round(len(cluster_of) * percent / 100), smallest)


@given(st.integers(2, 40), st.floats(1, 99), st.integers(0, 5))
def test_without_any_shared_chain_the_split_is_that_of_targets(n, percent, seed):
    names = [f"t{i}" for i in range(n)]
    by_target = split_by_target(
        [Label(name, "d", 0.5, "") for name in names], percent, seed
    )
    assert hold_out({name: name for name in names}, percent, seed) == {
        x.target for x in by_target if x.split == "val"
    }


def test_one_cluster_cannot_be_split():
    with pytest.raises(
        ConfigError, match=r"all 2 targets share chains .*split_by: target"
    ):
        hold_out({"a": "a", "b": "a"}, 20, 0)


@settings(max_examples=60)
@given(clusterings, st.integers(2, 6), st.integers(0, 5))
def test_folds_hold_whole_clusters_and_differ_by_no_more_than_the_largest(
    cluster_of, folds, seed
):
    sizes = Counter(cluster_of.values())
    if len(sizes) < folds:
        with pytest.raises(ConfigError, match="cannot be dealt"):
            deal_folds(cluster_of, folds, seed)
        return
    fold_of = deal_folds(cluster_of, folds, seed)
    assert len({(cluster_of[target], fold) for target, fold in fold_of.items()}) == len(
        sizes
    )
    filled = Counter(fold_of.values())
    assert set(filled) == set(range(folds))
    assert max(filled.values()) - min(filled.values()) <= max(sizes.values())


# ---- the nearest training target -----------------------------------------------------------------


def test_the_nearest_target_is_the_one_with_the_most_similar_chain():
    known = references({"t1": [A], "t2": [A[:100] + chain(9, 20), B]})
    near = nearest(
        {"same": [A], "part": [chain(8), B[:60]], "far": [C], "none": []}, known
    )
    assert near == {
        "same": Nearest("t1", 1.0),
        "part": Nearest("t2", 1.0),
        "far": Nearest("", 0.0),
        "none": None,
    }


@pytest.mark.parametrize("names", [("t1", "t2"), ("t2", "t1")])
def test_of_different_chains_that_are_equally_near_it_is_the_first_target_by_name_too(
    names,
):
    longer = sorted([chain(8, 30) + A, chain(9, 30) + A])
    known = references(
        dict(zip(names, ([sequence] for sequence in longer), strict=True))
    )
    assert nearest({"q": [A]}, known) == {"q": Nearest("t1", 1.0)}


def test_a_record_recognises_chains_from_few_kmers():
    record = remember({"t1": [A, B], "t2": [A], "t0": []})
    assert record["targets"] == ["t0", "t1", "t2"]
    assert [len(c["smallest"]) <= LONGEST for c in record["chains"]] == [True, True]
    near = nearest({"q": [A], "r": [B[:70] + chain(9, 50)], "s": [C]}, recall(record))
    assert near["q"] == Nearest("t1", 1.0)
    assert near["r"].target == "t1"
    assert near["r"].containment == pytest.approx(66 / 116, abs=0.15)
    assert near["s"] == Nearest("", 0.0)


def test_a_record_is_the_same_in_any_order_and_merges_with_another():
    one, other = {"t1": [A, B], "t2": [A]}, {"t2": [A, C], "t0": []}
    assert remember(dict(reversed(one.items()))) == remember(one)
    assert merged(remember(one), remember(other)) == remember(
        {"t0": [], "t1": [A, B], "t2": [A, C]}
    )
    assert merged(remember(one), remember({})) == remember(one)


@pytest.mark.parametrize(
    "text",
    ["AAAA*", "AAA=", "AgAAAAEAAAA="],
    ids=["no base64", "cut off", "not rising"],
)
def test_damaged_hashes_are_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011 -- whoever checks the checkpoint words it
        hashes(text)
