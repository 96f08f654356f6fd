"""Natives to sample, what the workflow asks of them, and the decoys of one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from complexes import renamed, write_pdb
from structures_text import EXAMPLES, alanine, atoms_of, pdb, put
from toporank.app.config import load_config
from toporank.app.data_sets import natives_to_sample
from toporank.app.workflow import inputs, runs
from toporank.app.workflow.preflight import Preflight, preflight
from toporank.app.workflow.progress import line
from toporank.comparing.native.label import Native, label
from toporank.errors import ConfigError, DockingError, NativeError
from toporank.files.atomic import write_text
from toporank.finding.labels import SplitRules, read_labels
from toporank.structures.complex import Complex
from toporank.structures.identity import Status
from toporank.structures.read import read_complex
from toporank.structures.write import write_structure
from toporank_sampling import sides, target
from toporank_sampling.rows import Row, read_rows, write_rows

pytestmark = pytest.mark.usefixtures("own_folder")


def natives(*files: str) -> None:
    put(Path("natives"), dict.fromkeys(files, pdb(alanine("A", 1, 0.0))))


def config(**sampling):
    return load_config({"sampling": sampling})


# ---- natives -------------------------------------------------------------------------------------


def test_two_partners_come_from_the_setting_or_from_the_two_chains_of_a_complex():
    assert sides.two_partners("H+L:A", list("AHL")) == (("A",), ("H", "L"))
    assert sides.two_partners("", list("AB")) == (("A",), ("B",))


@pytest.mark.parametrize(
    ("given", "chains"), [("", "ABC"), ("", "A"), ("A:B:C", "ABC")]
)
def test_anything_but_two_partners_is_refused_with_what_to_do(given, chains):
    with pytest.raises(NativeError, match=r"name two partners, such as H\+L:A"):
        sides.two_partners(given, list(chains))


# ---- in the workflow -----------------------------------------------------------------------------


def test_each_target_is_a_job_with_its_files_and_partners():
    natives("T/native.pdb", "T/unbound_r.pdb", "U.pdb")
    Path("partners.csv").write_text("target,partners\nT,B+C:A\n")
    sampling = natives_to_sample(config(natives="natives", partners="partners.csv"))
    t, u = (SimpleNamespace(target=name) for name in "TU")
    assert sampling.folders() == ["results/sampling/T", "results/sampling/U"]
    assert (sampling.native(t), sampling.unbound(t)) == (
        "natives/T/native.pdb",
        ["natives/T/unbound_r.pdb"],
    )
    assert (sampling.partners(t), sampling.partners(u)) == ("A:B+C", "")


def test_one_setting_of_partners_counts_for_all_and_targets_can_be_chosen():
    natives("T.pdb", "U.pdb")
    chosen = load_config(
        {"sampling": {"natives": "natives", "partners": "A:B"}, "only": ["U"]}
    )
    sampling = natives_to_sample(chosen)
    assert list(sampling.natives) == ["U"]
    assert sampling.partners(SimpleNamespace(target="U")) == "A:B"
    assert sampling.folders() == sampling.collected() == ["results/sampling/U"]
    write_rows(Path("results/sampling/T/poses.csv"), [])
    Path("results/sampling/unfinished").mkdir()
    assert sampling.collected() == [
        "results/sampling/T",
        "results/sampling/U",
    ]  # labels of decoys that are there


def test_what_is_missing_is_said_with_its_remedy():
    with pytest.raises(ConfigError, match="name the folder"):
        natives_to_sample(config())
    with pytest.raises(ConfigError, match="nowhere"):
        natives_to_sample(config(natives="nowhere"))
    natives()
    Path("natives").mkdir()
    with pytest.raises(ConfigError, match="no natives in natives"):
        natives_to_sample(config(natives="natives"))


class Wildcards(SimpleNamespace):
    def keys(self):
        return vars(self).keys()


def dag(*rules: str):
    """Jobs that a run will do, all of target T."""
    of_target = {"wildcards": Wildcards(target="T"), "output": ["results/sampling/T"]}
    needed = [
        SimpleNamespace(rule=SimpleNamespace(name=name), **of_target) for name in rules
    ]
    return SimpleNamespace(needrun_jobs=lambda: needed)


def test_sampling_may_come_before_the_data_sets_that_it_is_for():
    check = Preflight(
        problems=["no decoys yet"], problems_of={"sampling": ["no natives"]}
    )
    assert runs.problems(dag("sample_target", "sample_decoys"), check) == ["no natives"]
    assert runs.problems(dag("build_chunk"), check) == ["no decoys yet"]
    assert runs.problems(dag("sample_target", "build_chunk"), check) == [
        "no decoys yet",
        "no natives",
    ]


def test_only_labelling_by_natives_needs_natives():
    check = preflight(config(), choices=config().choices(), check_dssp=False)
    (refused,) = set(runs.problems(dag("label_decoys"), check)) - set(check.problems)
    assert (
        refused
        == "no data set has natives to label its models by (give `natives: FOLDER`)"
    )
    assert runs.problems(dag("build_graphs"), check) == check.problems


def test_sampling_has_a_lock_of_its_own_and_reports_decoys_as_they_get_ready():
    run = dag("sample_target", "sample_tables")
    assert runs.claimed(run) == {"sampling"}
    plans = inputs.Plans(config(natives="natives", decoys=24), {})
    (part,) = counts = plans.decoys_of_jobs(run)
    assert counts[part] == 24
    write_text(part.path, "6\t1\n")
    text, _ = line("sampling", counts, seconds=10.0)
    assert (
        text == "sampling: 6/24 models, 1 without result, 25% done, 0.6/s, 00:30 left"
    )


def test_rows_come_back_as_they_were_and_are_a_table_of_labels():
    rows = [
        Row("T", "T_0001", "A:H+L", "0.5", "medium"),
        Row("U", "U_0001", "A:B", "0.1", "incorrect", Reason="a, b"),
    ]
    write_rows(Path("labels.csv"), rows)
    assert read_rows(Path("labels.csv")) == rows
    named = [Row("=T", "=T_0001", Reason="-")]
    write_rows(Path("others.csv"), named)
    assert "\n'=T,'=T_0001," in Path("others.csv").read_text()
    assert read_rows(Path("others.csv")) == named
    rules = SplitRules(split_by="target", percent=50, seed=1, folds=5)
    labels = read_labels(Path("labels.csv"), rules)
    assert [(label.target, label.decoy, label.dockq) for label in labels] == [
        ("T", "T_0001", 0.5),
        ("U", "U_0001", 0.1),
    ]


# ---- one target ----------------------------------------------------------------------------------


def sampled(
    native: Path,
    unbound: tuple[Path, ...] = (),
    partners: str = "",
    decoys=2,
    n_rotations=10,
) -> list[Row]:
    source = target.Sampled("T", native, list(unbound), partners)
    settings = target.SamplingSettings(decoys, n_rotations, seed=7)
    return target.sample(source, Path("out"), settings, lambda *counts: None)


def test_a_native_that_cannot_be_used_is_a_row_with_the_reason():
    Path("bad.pdb").write_text("no structure\n")
    (row,) = sampled(Path("bad.pdb"))
    assert (row.Target, row.Status, row.DockQ) == ("T", Status.UNREADABLE, "")
    (row,) = sampled(EXAMPLES / "1PPE/near1.pdb.gz", partners="A:B:C")
    assert row.Status == Status.NO_NATIVE
    assert "two can be docked" in row.Reason


def test_a_file_of_one_partner_may_have_chains_that_the_native_has_not():
    atoms = atoms_of(EXAMPLES / "1PPE/near1.pdb.gz")
    complex_ = read_complex(EXAMPLES / "1PPE/near1.pdb.gz")
    bound = [sides.partner(complex_, chain) for chain in complex_.chains]
    for side, other in ((0, 1), (1, 0)):
        stranger = complex_.chains[other]
        write_pdb(Path("unbound_x.pdb"), renamed(atoms, {stranger: "Z"}))
        free = target._unbound([Path("unbound_x.pdb")], *bound)
        assert free[other] is bound[other]
        assert free[side] is not bound[side]
        assert free[side].chains == bound[side].chains


def of_size(dockq: float, size: float) -> SimpleNamespace:
    """A labelled pose, as far as the last choice looks at it."""
    return SimpleNamespace(scores=SimpleNamespace(dockq=dockq), properties=(size, 0.0))


@pytest.mark.parametrize("sign", [1, -1])
def test_no_decoys_are_made_of_a_target_where_size_tells_dockq_in_every_choice(sign):
    telling = [
        of_size(dockq, 50 + sign * 10 * dockq) for dockq in np.linspace(0, 0.9, 24)
    ]
    with pytest.raises(
        DockingError,
        match=rf"size of the interface would tell DockQ, .* of {'-' * (sign < 0)}[01]",
    ):
        target._last_choice(telling, 12, np.random.default_rng(1))
    assert (
        len(target._last_choice(telling, 9, np.random.default_rng(1))) == 9
    )  # of so few, it may be chance
    mixed = [
        of_size(one.scores.dockq, size)
        for one, size in zip(telling, [50, 60, 55] * 8, strict=True)
    ]
    assert (
        len(target._last_choice([*telling, *mixed], 12, np.random.default_rng(1))) == 12
    )


def piece(complex_: Complex, centre: np.ndarray) -> Complex:
    """The residues within 16 Å of a point."""
    return complex_.only(
        np.flatnonzero(np.linalg.norm(complex_.xyz[complex_.ca] - centre, axis=1) < 16)
    )


@pytest.fixture
def small() -> Path:
    """A native of two small partners: what lies around an interface."""
    complex_ = read_complex(EXAMPLES / "1PPE/near1.pdb.gz")
    both = [sides.partner(complex_, chain) for chain in complex_.chains]
    middle = min(both, key=lambda side: len(side.residues)).xyz.mean(axis=0)
    return write_structure(
        Path("small"), sides.joined(piece(side, middle) for side in both)
    )


def test_decoys_of_a_target_keep_their_partners_as_they_are_and_are_the_same_for_a_seed(
    small,
):
    rows = sampled(small, decoys=6, n_rotations=40)
    good = [row for row in rows if row.Status == Status.OK]
    assert [row.Model for row in good] == [f"T_000{number}" for number in range(1, 7)]
    assert max(float(row.DockQ) for row in good) > 0.6
    assert min(float(row.DockQ) for row in good) < 0.23
    complex_ = read_complex(small)
    native = Native(complex_)
    place = complex_.index()
    for row in good:
        decoy = read_complex(Path("out", f"{row.Model}.pdb.gz"))
        assert decoy.chains == complex_.chains
        assert not decoy.is_hydrogen.any()
        assert label(native, decoy).dockq == pytest.approx(float(row.DockQ), abs=0.002)
        for chain in complex_.chains:
            residues = [
                i for i, residue in enumerate(decoy.residues) if residue.chain == chain
            ]
            theirs = complex_.xyz[
                complex_.ca[[place[decoy.residues[i]] for i in residues]]
            ]
            np.testing.assert_allclose(
                distances(decoy.xyz[decoy.ca[residues]]), distances(theirs), atol=0.01
            )
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    assert sampled(small, decoys=6, n_rotations=40) == rows
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == before


def test_unbound_partners_that_do_not_fit_are_a_row_and_the_bound_ones_are_sampled(
    small,
):
    stranger = write_structure(
        Path("unbound_x"), read_complex(EXAMPLES / "1GCQ/mid1.pdb")
    )
    rows = sampled(small, (stranger,))
    (refused,) = (row for row in rows if row.Form == "unbound")
    assert refused.Status == Status.UNREADABLE
    assert "7 residues in common with 29 of the native" in refused.Reason
    assert any(row.Status == Status.OK for row in rows)


def distances(xyz: np.ndarray) -> np.ndarray:
    return np.linalg.norm(xyz[:, None] - xyz, axis=-1)
