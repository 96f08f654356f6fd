"""pLDDT in the B factors of models of which nothing but their numbers is known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import gemmi
import numpy as np
import pytest
from _complexes import renamed
from _confidence import (
    Model,
    cif,
    example,
    measured,
    pdb_of,
    plddt_of_atoms,
    row_of,
    with_decoy_chain,
)
from Bio.PDB import PDBParser
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from structures_text import (
    EXAMPLES,
    Atom,
    alanine,
    atoms_of,
    ca_trace,
    pdb,
    pdb_with,
    protein,
    put,
    shifted,
    with_b,
)
from toporank.building.planning import plan_of
from toporank.confidence.bfactors import (
    LIKE_CRYSTAL,
    LIKE_MASK,
    NOT_SMOOTH,
    OF_A_MONOMER,
    OF_TOPORANK,
)
from toporank.confidence.confidences import confidences, displacement
from toporank.confidence.examine import DecoyFile
from toporank.confidence.table import Confidence
from toporank.finding.discovery import decoys_of
from toporank.structures.complex import Complex
from toporank.structures.in_memory import mmcif_of
from toporank.structures.read import read_complex
from toporank.structures.write import QUALITY, mmcif

CRYST1 = "CRYST1{:9.3f}{:9.3f}{:9.3f}  90.00  90.00  90.00 P 1           1\n"
NEAR, FAR = (EXAMPLES / "1GCQ" / name for name in ("near1.pdb.gz", "far1.pdb.gz"))
"""Two poses of the same residues."""


def core(complex_: Complex, seed: int = 0) -> np.ndarray:
    """Numbers from 30 to 97, high in the core, that change little along a chain, as pLDDT does;
    shape (R,).
    """
    ca = complex_.xyz[complex_.ca]
    buried = cKDTree(ca).query_ball_point(ca, 10.0, return_length=True).astype(float)
    smooth = np.convolve(buried, np.ones(5) / 5, mode="same") + np.random.default_rng(
        seed
    ).normal(0, 0.1, len(ca))
    return (30 + 67 * (smooth - smooth.min()) / np.ptp(smooth)).round(2)


@pytest.fixture(scope="module")
def near() -> Complex:
    return read_complex(NEAR)


@pytest.fixture(scope="module")
def far() -> Complex:
    return read_complex(FAR)


def sources(folder: Path, *texts: str, **how: object) -> list[str]:
    """Where the pLDDT of models of one target comes from."""
    return [row.plddt_source for row in rows_of(folder, *texts, **how)]


def rows_of(
    folder: Path, *texts: str, names: tuple[str, ...] = (), choice: str = "auto"
) -> list[Confidence]:
    """The rows of models of one target, called `mine_0` and so on."""
    asked = []
    for i, text in enumerate(texts):
        path = folder / f"{names[i] if names else f'mine_{i}'}.pdb"
        path.write_text(text)
        asked.append(DecoyFile("T", path.stem, path))
    return confidences(asked, choice)


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_a_renamed_model_of_a_predictor_has_its_plddt(tmp_path, near, scale):
    (row,) = rows_of(tmp_path, pdb_with(NEAR, core(near) * scale))
    assert row.plddt == pytest.approx(core(near).mean(), abs=0.6 if scale < 1 else 1e-3)
    assert (row.status, row.plddt_source, row.predictor) == ("ok", "b_factor", "")
    assert row.pdockq > 0


def test_an_atom_without_plddt_at_the_end_of_a_chain_changes_nothing(tmp_path, near):
    """OpenMM adds it when it relaxes a model."""
    atoms = with_b(atoms_of(NEAR), core(near))
    atoms[-1] = replace(atoms[-1], b_factor=0.0)
    (row,) = rows_of(tmp_path, pdb(atoms))
    assert row.plddt_source == "b_factor"


NO_PLDDT = {
    "at the surface": {"change": lambda values: 127 - values},  # as in a crystal
    "rough": {"change": np.random.default_rng(1).permutation},
    "low": {"change": lambda values: values * 0.45},
    "above 100": {"change": lambda values: values + 5},
}


@pytest.mark.parametrize("what", NO_PLDDT)
def test_other_numbers_are_no_plddt(tmp_path, near, what):
    case = {"before": "", "change": np.array} | NO_PLDDT[what]
    text = case["before"] + pdb_with(NEAR, case["change"](core(near)))
    assert rows_of(tmp_path, text) == [Confidence("T", "mine_0")]


def test_docked_poses_with_the_b_factors_of_their_partners_have_no_plddt(
    tmp_path, near, far
):
    """The numbers say nothing of the pose; a model of a predictor among them keeps its own."""
    copied, own = core(near), core(near, seed=1)
    rows = rows_of(
        tmp_path, pdb_with(NEAR, copied), pdb_with(FAR, copied), pdb_with(NEAR, own)
    )
    assert [row.plddt_source for row in rows] == ["", "", "b_factor"]
    assert rows[0] == Confidence(
        "T", "mine_0", status="incomplete", reason=OF_A_MONOMER
    )


def test_also_where_a_small_ligand_moves_little_beside_a_large_receptor(tmp_path, near):
    """Over all residues these poses are less than 2 Å apart."""
    receptor, ligand = near.chains
    few = [residue.number for residue in near.residues if residue.chain == ligand][:8]
    atoms = with_b(atoms_of(NEAR), core(near))
    side = [atom for atom in atoms if atom.chain == ligand and atom.number in few]
    large = [atom for atom in atoms if atom.chain == receptor]
    poses = [pdb(large + shifted(side, moved)) for moved in (0.0, 4.0)]
    assert sources(tmp_path, poses[0]) == ["b_factor"]
    assert sources(tmp_path, *poses) == ["", ""]


@pytest.mark.parametrize("change", ["cut", "split"])
def test_also_where_a_partner_was_cut_or_has_two_names(tmp_path, near, change):
    """The poses of one chain; the same place is not another pose."""
    texts = []
    for place, is_whole in ((NEAR, True), (NEAR, False), (FAR, False)):
        atoms = with_b(atoms_of(place), core(near))
        numbers = sorted({a.number for a in atoms if a.chain == near.chains[0]})
        kept = []
        for atom in atoms:
            is_first = atom.chain == near.chains[0]
            if is_whole or not is_first:
                kept.append(atom)
            elif change == "split" and atom.number > numbers[len(numbers) // 2]:
                kept.append(replace(atom, chain="X"))
            elif change == "split" or atom.number > numbers[3]:
                kept.append(atom)
        texts.append(pdb(kept))
    assert sources(tmp_path, *texts[:2]) == ["b_factor"] * 2
    assert sources(tmp_path, texts[0], texts[2]) == ["", ""]


def test_also_where_only_one_partner_was_copied(tmp_path, near):
    one, other = core(near), core(near, seed=1)
    first = np.array([residue.chain == near.chains[0] for residue in near.residues])
    assert sources(
        tmp_path, pdb_with(NEAR, one), pdb_with(FAR, np.where(first, one, other))
    ) == [
        "",
        "",
    ]


def test_a_relaxed_model_keeps_the_plddt_that_it_shares_with_the_unrelaxed_one(
    tmp_path, near
):
    assert (
        sources(
            tmp_path, pdb_with(NEAR, core(near)), pdb_with(NEAR, core(near), jitter=0.3)
        )
        == ["b_factor"] * 2
    )


def test_models_of_a_target_are_judged_together(tmp_path, near):
    """Where the numbers of one leave it open; a crystal structure among them is none of them."""
    rising = pdb_with(NEAR, core(near))
    falling = pdb_with(NEAR, 127 - core(near, seed=1))
    rough = np.random.default_rng(0).normal(0, 20, len(near.residues))
    along = 40 + np.convolve(rough, np.ones(15) / 5, mode="same").clip(-35, 35)
    open_ = pdb_with(NEAR, along.round(2))
    assert sources(tmp_path, rising, open_, falling) == ["b_factor", "b_factor", ""]
    assert sources(tmp_path, falling, open_) == ["", ""]
    assert sources(tmp_path, falling, open_, names=("a", "ranked_0")) == [
        "",
        "b_factor",
    ]


def test_the_user_may_say_that_b_factors_are_plddt_or_are_not(tmp_path, near):
    crystal = "EXPDTA    X-RAY DIFFRACTION\n" + pdb_with(
        NEAR, 127 - core(near), within=1.0
    )
    predicted = pdb_with(NEAR, core(near))
    for text in (crystal, predicted):
        assert rows_of(tmp_path, text, choice="b_factor")[0].plddt_source == "b_factor"
        assert rows_of(tmp_path, text, choice="none") == [Confidence("T", "mine_0")]
    assert (
        sources(tmp_path, predicted, pdb_with(FAR, core(near)), choice="b_factor")
        == ["b_factor"] * 2
    )
    assert (
        rows_of(tmp_path, predicted, names=("ranked_0",), choice="none")[0].plddt
        is None
    )


def test_where_the_predictors_file_has_another_plddt_neither_counts(tmp_path, near):
    """But what the user says."""
    scores = {"plddt": core(near, seed=1)[::-1].tolist(), "iptm": 0.5}
    (tmp_path / "q_scores_rank_001_m.json").write_text(json.dumps(scores))
    names = ("q_unrelaxed_rank_001_m",)
    text = pdb_with(NEAR, core(near))
    (row,) = rows_of(tmp_path, text, names=names)
    assert (row.status, row.plddt, row.iptm) == ("incomplete", None, 0.5)
    assert "another pLDDT in q_scores_rank_001_m.json" in row.reason
    (row,) = rows_of(tmp_path, text, names=names, choice="b_factor")
    assert row.plddt == pytest.approx(core(near).mean(), abs=1e-3)
    (crystal,) = rows_of(tmp_path, pdb_with(NEAR, 127 - core(near)), names=names)
    assert (crystal.status, crystal.plddt) == ("incomplete", None)


@pytest.mark.parametrize(
    ("of_protein", "of_ion", "expected"),
    [
        ([0.9, 0.8, 0.7], 20.0, 80.0),
        ([90.0, 80.0, 70.0], 250.0, 80.0),
        ([90.0, 80.0, 70.0], -1.0, 80.0),
        ([100.0, 100.0, 100.0], 0.0, None),
        ([20.0, 20.0, 20.0], 90.0, None),
        ([90.0, 80.0, 170.0], 20.0, None),
        ([90.0, 80.0, -1.0], 20.0, None),
    ],
)
def test_the_atoms_of_amino_acids_alone_say_whether_b_factors_are_plddt(
    tmp_path, of_protein, of_ion, expected
):
    """And on which scale. A predictor's ions and ligands may have anything."""
    atoms = alanine("A", 1, 0.0) + alanine("A", 2, 0.0, 4.0) + alanine("B", 1, 5.0)
    atoms.append(Atom("CA", "CA", "C", 1, 9.0, 9.0, 9.0, het=True))
    text = pdb(with_b(atoms, [*of_protein, of_ion]))
    (row,) = rows_of(tmp_path, text, names=("ranked_0",))
    assert row.plddt == (expected and pytest.approx(expected, abs=1e-3))


@pytest.mark.parametrize("written", ["now", "before they had a title", "as PDB since"])
def test_qualities_that_toporank_wrote_are_no_plddt(tmp_path, near, written):
    """The models that a run writes, scored again."""
    text = mmcif(near, core(near), QUALITY)
    block = gemmi.cif.read_string(text).sole_block()
    if written == "before they had a title":
        text = mmcif(near, core(near))
    if written == "as PDB since":
        text = gemmi.make_structure_from_block(block).make_pdb_string()
    path = tmp_path / ("mine.pdb" if "PDB" in written else "mine.cif")
    path.write_text(text)
    (row,) = confidences([DecoyFile("T", "mine", path)])
    assert (row.status, row.reason, row.plddt) == ("incomplete", OF_TOPORANK, None)
    assert confidences([DecoyFile("T", "mine", path)], "none") == [
        Confidence("T", "mine")
    ]
    assert (
        confidences([DecoyFile("T", "mine", path)], "b_factor")[0].plddt_source
        == "b_factor"
    )


def test_but_a_file_of_the_predictor_is_used_and_other_files_by_gemmi_may_have_plddt(
    tmp_path, near
):
    scores = {"plddt": core(near, seed=1).tolist()}
    (tmp_path / "q_scores_rank_001_m.json").write_text(json.dumps(scores))
    (tmp_path / "q_unrelaxed_rank_001_m.cif").write_text(
        mmcif(near, core(near), QUALITY)
    )
    row = row_of(tmp_path / "q_unrelaxed_rank_001_m.cif")
    assert (row.status, row.plddt_source, row.reason) == (
        "incomplete",
        "file",
        OF_TOPORANK,
    )
    structure = gemmi.read_pdb_string(pdb_with(NEAR, core(near)))
    for name in ("", "mine"):
        structure.name = name
        (tmp_path / "mine.cif").write_text(structure.make_mmcif_document().as_string())
        assert (
            confidences([DecoyFile("T", "mine", tmp_path / "mine.cif")])[0].plddt_source
            == "b_factor"
        )


def trace(*chains: np.ndarray) -> Complex:
    """CA atoms of the chains A, B and so on, (n, 3) each."""
    rows = [
        (name, i + 1, "", tuple(xyz))
        for name, ca in zip("ABC", chains, strict=False)
        for i, xyz in enumerate(ca)
    ]
    return ca_trace(rows)


def test_of_two_poses_the_chain_counts_that_moved_most_beside_the_largest():
    """A short ligand on a large receptor, and a second receptor that did not move."""
    draw = np.random.default_rng(0)
    ligand, receptor, second = (
        draw.normal(0, size, (n, 3)) for n, size in ((18, 5), (295, 20), (200, 20))
    )
    here = trace(ligand, receptor, second)
    turn = Rotation.from_euler("xyz", [1, 2, 3])
    there = trace(
        *(turn.apply(ca) + 5 for ca in (ligand + np.array([4, 0, 0]), receptor, second))
    )
    assert [displacement(here, there), displacement(there, here)] == pytest.approx(
        [4, 4]
    )
    assert (
        displacement(
            here, trace(*(turn.apply(ca) + 5 for ca in (ligand, receptor, second)))
        )
        < 1e-6
    )


def test_residues_that_both_have_are_compared(near, far):
    assert displacement(near, far) > 2
    assert (
        displacement(
            near,
            renamed(near, dict.fromkeys(near.chains, "Z")),
        )
        == np.inf
    )


def test_each_model_of_a_file_has_the_plddt_of_its_own_atoms(tmp_path, near):
    ensemble = ""
    for number, shift in ((1, 0.0), (2, -20.0)):
        atoms = pdb_with(NEAR, core(near) + shift)
        ensemble += f"MODEL     {number:4d}\n{atoms}ENDMDL\n"
    path = tmp_path / "ensemble.pdb"
    path.write_text(ensemble)
    models = [DecoyFile("T", f"ensemble#{n}", path, model=n) for n in (1, 2)]
    first, second = confidences(models, "b_factor")
    assert first.plddt - second.plddt == pytest.approx(20.0, abs=0.1)


# ---- labels decide nothing that the numbers say --------------------------------------------------

LABELS = {
    "nothing": ("mine.pdb", ""),
    "the name of ColabFold": ("q_unrelaxed_rank_001_alphafold2_m_processed.pdb", ""),
    "the name of AlphaFold": ("ranked_0.pdb", ""),
    "an empty cell": ("mine.pdb", CRYST1.format(0, 0, 0)),
    "a box around the model": ("mine.pdb", CRYST1.format(62.5, 58.6, 71.9)),
    "an experiment": ("mine.pdb", "EXPDTA    X-RAY DIFFRACTION\n"),
    "a theoretical model": ("mine.pdb", "EXPDTA    THEORETICAL MODEL\n"),
    "a resolution": ("mine.pdb", "REMARK   2 RESOLUTION.    2.10 ANGSTROMS.\n"),
    "pLDDT in mmCIF": ("mine.cif", "_ma_qa_metric.name pLDDT\n"),
    "a theoretical model in mmCIF": ("m.cif", "_exptl.method 'THEORETICAL MODEL'\n"),
    "an experiment in mmCIF": ("m.cif", "_exptl.method 'X-RAY DIFFRACTION'\n"),
}
"""Name of a file, and lines in front of its atoms."""
MODEL = example(4)
"""Of 62 residues, with the pLDDT of its predictor."""


def phenix(plddt: np.ndarray) -> np.ndarray:
    """B factors as Phenix makes them of pLDDT for molecular replacement."""
    error = 1.5 * np.exp(4 * (0.7 - plddt / 100))
    return 8 * np.pi**2 / 3 * error**2


OTHER_NUMBERS = {
    "the mask of a design": (lambda plddt: np.arange(62) % 3 > 0, LIKE_MASK),
    "a mask of a chain": (lambda plddt: np.arange(62) < 30, LIKE_MASK),
    "colours": (lambda plddt: np.arange(62) % 3 * 20 + 60, LIKE_MASK),
    "B factors of Phenix": (lambda p: phenix(p).clip(max=100), LIKE_CRYSTAL),
    "B factors of Phenix above 100": (phenix, "they go from 8.01 to 280.46"),
    "100 - pLDDT": (lambda plddt: 100 - plddt, LIKE_CRYSTAL),
    "1 - pLDDT": (lambda plddt: 1 - plddt / 100, LIKE_CRYSTAL),
    "grades of conservation": (lambda p: (p / 11).round(), "none of them is above 9"),
    "of one chain only": (
        lambda p: np.where(np.arange(62) < 30, 0, p),
        "in all of chain A",
    ),
    "and 100 in the other": (
        lambda p: np.where(np.arange(62) < 30, p, 100),
        "in all of chain B",
    ),
    "in any order": (lambda p: np.random.default_rng(0).permutation(p), NOT_SMOOTH),
}


def labelled(folder: Path, label: str, model: Model) -> Path:
    """A file with a label whose B factors are the pLDDT of the model."""
    name, before = LABELS[label]
    text = before + pdb_of(model)
    if name.endswith(".cif"):
        text = cif(model).replace("_ma_qa_metric.name pLDDT\n", before)
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_plddt_is_read_whatever_label_the_file_has(tmp_path, label, k):
    model = example(k)
    row = row_of(labelled(tmp_path, label, model))
    assert (row.status, row.plddt_source) == ("ok", "b_factor")
    assert row.plddt == pytest.approx(model.plddt.mean(), abs=0.006)
    expected = measured(model, "A", "B")["interface_plddt"]
    assert row.interface_plddt == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize("what", OTHER_NUMBERS)
@pytest.mark.parametrize("label", LABELS)
def test_other_numbers_are_not_read_whatever_label_the_file_has(tmp_path, label, what):
    """Where the file says that they are pLDDT, the row says why they are not."""
    change, why = OTHER_NUMBERS[what]
    model = MODEL._replace(plddt=change(MODEL.plddt))
    row = row_of(labelled(tmp_path, label, model))
    assert (row.plddt, row.interface_plddt, row.pdockq) == (None, None, None)
    says_plddt = "the name" in label or label == "pLDDT in mmCIF"
    assert (why in row.reason and "B factor" in row.reason) == says_plddt


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("within", ["side chains lower", "noise"])
def test_each_atom_may_have_its_own_plddt(tmp_path, label, within):
    """As AlphaFold 3, Chai, Protenix and ESMFold write it: the mean of a residue counts."""
    model = example(3)
    draw = np.random.default_rng(2)
    of_atoms = []
    for atom, value in zip(model.atoms, plddt_of_atoms(model), strict=True):
        lower = 3.0 if atom.name not in ("N", "CA", "C", "O") else 0.0
        noise = lower if within == "side chains lower" else draw.uniform(-2, 2)
        of_atoms.append(round(value - noise, 2))
    name, before = LABELS[label]
    if name.endswith(".cif"):
        text = cif(model, of_atoms=of_atoms)
        text = text.replace("_ma_qa_metric.name pLDDT\n", before)
    else:
        text = before + pdb_of(model, of_atoms)
    (tmp_path / name).write_text(text)
    row = row_of(tmp_path / name)
    sums = dict.fromkeys(model.residues, (0.0, 0))
    for atom, value in zip(model.atoms, of_atoms, strict=True):
        total, n = sums[atom.chain, atom.number]
        sums[atom.chain, atom.number] = total + value, n + 1
    means = [total / n for total, n in sums.values()]
    assert row.plddt == pytest.approx(np.mean(means), abs=1e-3)


@pytest.mark.parametrize("of_hydrogens", ["  0.00", "  1.00", " 99.00"])
def test_heavy_atoms_alone_count(tmp_path, of_hydrogens):
    """Hydrogens that were added since have other B factors, and an added OXT has none."""
    model = example(2)
    text = ""
    for line in pdb_of(model).splitlines():
        text += f"{line}\n"
        if line[12:16] == " CA ":
            hydrogen = f"{line[:12]} HA {line[16:60]}{of_hydrogens}{line[66:76]} H"
            text += f"{hydrogen}\n"
    oxt = f"{line[:12]} OXT{line[16:30]}{float(line[30:38]) + 1:8.3f}{line[38:60]}"
    text += f"{oxt}  0.00{line[66:76]} O\n"
    for name in ("ranked_0.pdb", "mine.pdb"):
        (tmp_path / name).write_text(text)
        row = row_of(tmp_path / name)
        assert row.plddt == pytest.approx(model.plddt.mean(), abs=0.006)


@pytest.mark.parametrize(
    "metric", ["1", "2", "4"], ids=["of the table", "not in the table", "by its type"]
)
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_where_the_table_of_a_file_has_another_plddt_neither_counts(
    tmp_path, metric, scale
):
    """`_ma_qa_metric_local`; BoltzGen names another metric there than in its list."""
    path = tmp_path / "design.cif"
    for change, source in ((0.0, "b_factor"), (-12.0, "")):
        rows = ""
        for (chain, number), value in zip(MODEL.residues, MODEL.plddt, strict=True):
            rows += f"1 {chain} {number} {metric} {(value + change) * scale:.4f}\n"
        table = "loop_\n_ma_qa_metric.id\n_ma_qa_metric.name\n_ma_qa_metric.type\n"
        table += "1 pLDDT other\n3 PAE PAE\n4 'of residues' pLDDT\nloop_\n"
        for column in ["model_id", "label_asym_id", "label_seq_id", "metric_id"]:
            table += f"_ma_qa_metric_local.{column}\n"
        table += f"_ma_qa_metric_local.metric_value\n{rows}#\n"
        path.write_text(cif(MODEL).replace("_ma_qa_metric.name pLDDT\n", table))
        row = row_of(path)
        assert row.plddt_source == source
    assert (
        "_ma_qa_metric_local has another pLDDT for 100% of the residues" in row.reason
    )


@pytest.mark.parametrize("as_", ["gemmi", "Bio.PDB"])
def test_a_model_in_memory_has_the_plddt_of_its_file(tmp_path, as_):
    path = labelled(tmp_path, "nothing", MODEL)
    structure = gemmi.read_structure(str(path))
    if as_ == "Bio.PDB":
        structure = PDBParser(QUIET=True).get_structure("x", path)
    (tmp_path / "memory.cif").write_text(mmcif_of(structure))
    file, memory = row_of(path), row_of(tmp_path / "memory.cif")
    assert memory._replace(decoy=file.decoy) == file


def screen(folder: Path, ligands: dict[str, Model]) -> list[str]:
    """Where the pLDDT of complexes of one receptor comes from, each a target."""
    for name, model in ligands.items():
        (folder / name).mkdir()
        (folder / name / "pose.pdb").write_text(pdb_of(model))
    grouped = decoys_of("d", folder, "folder", folder / "store")
    plan = plan_of(grouped, {})
    asked = []
    for decoy in plan:
        of_monomers = bool(decoy.of_monomers)
        path = Path(decoy.path)
        asked.append(
            DecoyFile(decoy.target, decoy.decoy, path, of_monomers=of_monomers)
        )
    return [row.plddt_source for row in confidences(asked)]


def without_ends(model: Model, n_first: int, n_last: int) -> Model:
    """A model whose chains lack residues at their ends."""
    places = []
    for chain in dict.fromkeys(model.chains):
        of_chain = [i for i, c in enumerate(model.chains) if c == chain]
        places += of_chain[n_first : len(of_chain) - n_last]
    return model.at(places)


@pytest.mark.parametrize("n_cut", [0, 3])
@pytest.mark.parametrize("shared", ["A", "B"])
def test_b_factors_that_a_chain_has_in_several_complexes_are_of_its_monomer(
    tmp_path, shared, n_cut
):
    """A screen by docking, one pose of each pair, whose receptors may lack their ends; a predictor
    is never so alike.
    """
    own = [example(k) for k in (2, 3, 4)]
    docked = []
    for k, model in enumerate(own):
        is_shared = np.array(model.chains) == shared
        plddt = np.where(is_shared, own[0].plddt, model.plddt - k)
        n_first, n_last = [(0, 0), (n_cut, 0), (0, n_cut)][k]
        changed = model._replace(plddt=plddt.round(2))
        docked.append(without_ends(changed, n_first, n_last))
    predicted = dict(zip("abc", own, strict=True))
    assert screen(tmp_path, predicted) == ["b_factor"] * 3
    (tmp_path / "docked").mkdir()
    assert (
        screen(tmp_path / "docked", dict(zip("abc", docked, strict=True))) == [""] * 3
    )
    (tmp_path / "copies").mkdir()
    copies = {"a": own[0], "b": without_ends(own[0], n_cut, 0)}
    assert screen(tmp_path / "copies", copies) == ["b_factor"] * 2


def test_a_receptor_that_has_two_names_in_one_pose_is_recognised(tmp_path):
    """Its halves are the chains of a larger complex, out of which the other pose was not cut."""
    values = np.random.default_rng(0).uniform(50, 99, 120).round(2)
    atoms = [*protein("A", "A" * 80), *protein("B", "G" * 40, y=8.0)]
    whole = with_b(atoms, values)
    split = []
    for atom in whole:
        is_second = atom.chain == "A" and atom.number > 40
        split.append(replace(atom, chain="X") if is_second else atom)
    put(tmp_path / "models", {"one/pose.pdb": whole, "two/pose.pdb": split})
    grouped = decoys_of("d", tmp_path / "models", "folder", tmp_path / "store")
    assert grouped.of_monomers == {("one", "pose"), ("two", "pose")}


@pytest.mark.parametrize("parts", ["AB AC ABC", "AB ABC", "AB AC"])
def test_complexes_that_were_cut_out_of_one_model_have_its_plddt(tmp_path, parts):
    """Of two alone nobody knows; a chain alone may be what was docked."""
    whole = with_decoy_chain(example(3))
    plddt = np.append(whole.plddt[:62], whole.plddt[30:62] - 3)
    whole = whole._replace(plddt=plddt.round(2))
    cut = {}
    for name in parts.split():
        cut[name] = whole.at([i for i, c in enumerate(whole.chains) if c in name])
    known = "b_factor" if "ABC" in parts else ""
    assert screen(tmp_path, cut) == [known] * len(cut)
