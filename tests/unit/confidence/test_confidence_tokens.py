"""Which rows of a predictor's arrays are those of a residue: where names, numbers and order do not
say the same, and where bonds, counts or the model's own pLDDT confirm them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _confidence import (
    MODELS,
    TAG,
    Model,
    alphafold3,
    assert_measured,
    assert_unused,
    boltz,
    cif,
    measured,
    pdb_of,
    plddt_of_atoms,
    renamed,
    reordered,
    row_of,
    with_decoy_chain,
    with_modified,
)

from structures_text import Atom, pdb, put
from toporank.confidence.chain_pairs import UNNAMED_PAIRS
from toporank.confidence.matrices import matrices_of
from toporank.confidence.place import ANOTHER_ORDER, shifted_b_factors
from toporank.confidence.place_by_names import UNCONFIRMED
from toporank.confidence.table import Confidence
from toporank.structures.read import read_complex

FIRST, SECOND = MODELS
both = pytest.mark.parametrize("model", MODELS, ids=["2", "4"])
AB, AC = (("A",), ("B",)), (("A",), ("C",))
JOINED = ("A", "C"), ("B",)
NO_ATOMS = {"atom_chain_ids": None, "atom_plddts": None}


def used(
    folder: Path,
    own: Model,
    tokens: Model | None = None,
    *,
    of: Model | None = None,
    partners: tuple = (),
    **how: object,
) -> Confidence:
    """The row of a model by AlphaFold 3, whose values are those of its first two chains.

    of : the model without what is no protein.
    """
    row = row_of(alphafold3(folder, own, tokens, **how), partners)
    first, second, *_ = dict.fromkeys((of or own).chains)
    assert_measured(row, of or own, first, second)
    return row


def unused(
    folder: Path,
    own: Model,
    tokens: Model | None = None,
    *,
    why: str = "",
    partners: tuple = (),
    **how: object,
) -> Confidence:
    """The row of a model whose PAE is not used, for this reason."""
    row = row_of(alphafold3(folder, own, tokens, **how), partners)
    assert_unused(row, why)
    return row


def without(model: Model, *places: int) -> Model:
    """The model without the residues at these places."""
    return model.at(np.setdiff1d(np.arange(len(model.residues)), places))


def of_equal_chains(model: Model) -> Model:
    """30 residues of each chain, numbered from 1, so that neither sizes nor numbers tell the chains
    apart.
    """
    return renumbered(renumbered(without(model, 60, 61), 1), 1, "B")


def renumbered(model: Model, first: int, chain: str = "A") -> Model:
    """A chain numbered from there."""
    shift = first - model.numbers[model.chains.index(chain)]
    residues = [(c, n + shift * (c == chain)) for c, n in model.residues]
    atoms = [
        replace(a, number=a.number + shift * (a.chain == chain)) for a in model.atoms
    ]
    return model._replace(residues=residues, atoms=atoms)


# ---- AlphaFold 3: names, numbers and order of chains ---------------------------------------------


@both
@pytest.mark.parametrize("names", [("H", "L"), ("B", "A"), ("X1", "Y")], ids=str)
def test_alphafold_3_0_0_calls_tokens_a_and_b_whatever_the_chains_are_called(
    tmp_path, model, names
):
    """google-deepmind/alphafold3#271: the names of the atoms' chains are right."""
    own = renamed(model, A=names[0], B=names[1])
    row = used(tmp_path, own, token_chain_ids=model.chains)
    assert (row.reason, row.plddt_source) == ("", "file")


@pytest.mark.parametrize("names", ["BAC", "ACB", "CBA"])
@pytest.mark.parametrize("flat", [False, True], ids=["plddt", "no plddt"])
def test_so_it_is_where_all_chains_are_of_one_size(tmp_path, names, flat):
    model = with_decoy_chain(of_equal_chains(FIRST))
    own = renamed(model, **dict(zip("ABC", names, strict=True)))
    how = {"token_chain_ids": model.chains, "text": cif(own, constant=flat)}
    used(tmp_path, own, partners=((names[0],), (names[1],)), **how)


def test_without_names_of_atoms_letters_from_a_on_say_the_order_only_and_others_are_believed(
    tmp_path,
):
    own = renamed(FIRST, A="H", B="L")
    row = used(tmp_path, own, token_chain_ids=FIRST.chains, **NO_ATOMS)
    assert row.plddt_source == "b_factor"
    others = renamed(FIRST, A="P", B="Q").chains
    why = "token_chain_ids has P (30), Q (32), and the model H (30), L (32)"
    unused(tmp_path, own, token_chain_ids=others, why=why, **NO_ATOMS)


@both
def test_chains_in_another_order_are_found_by_their_names_and_tokens_by_their_size(
    tmp_path, model
):
    """The model was written anew with B in front, and so may be its tokens."""
    turned = reordered(model, "B", "A")
    used(tmp_path, turned, model)
    used(tmp_path, model, turned)
    names = {"token_chain_ids": turned.chains, "token_res_ids": turned.numbers}
    used(tmp_path, model, **names, pae=turned.pae.tolist())


def test_lists_that_are_not_there_do_not_decide(tmp_path):
    """Without numbers or chains of tokens the names of chains count, and what they cannot say is
    not guessed.
    """
    turned, own = reordered(FIRST, "B", "A"), renamed(FIRST, A="H", B="L")
    used(tmp_path, turned, FIRST, token_res_ids=None)
    used(tmp_path, own, token_chain_ids=FIRST.chains, token_res_ids=None)
    nameless = {"token_chain_ids": None, "token_res_ids": None}
    used(tmp_path, FIRST, **nameless)
    why = "atom_chain_ids has chains A, B, and the model B, A: it is not known which"
    unused(tmp_path, turned, FIRST, why=why, **nameless)


OTHER_NUMBERS = {
    "name 60 tokens and have PAE of 62": {"token_chain_ids": ["A"] * 60, "token_res_ids": [1] * 60},
    "name 62 tokens and have PAE of 61": {"pae": FIRST.pae[:61, :61].tolist()},
    "": {"token_res_ids": [1, 2]},
}  # fmt: skip


@pytest.mark.parametrize("why", OTHER_NUMBERS)
def test_other_numbers_of_tokens_are_said(tmp_path, why):
    unused(tmp_path, FIRST, why=why, **OTHER_NUMBERS[why])


def test_where_lists_of_names_differ_and_nothing_decides_nothing_is_used(tmp_path):
    model = of_equal_chains(FIRST)
    swapped = renamed(model, A="B", B="A").chains
    why = "token_chain_ids has B (30), A (30), atom_chain_ids A, B, and the model A (30), B (30)"
    row = unused(tmp_path, model, token_chain_ids=swapped, why=why)
    of_interface = measured(model, "A", "B")["interface_plddt"]
    assert row.interface_plddt == pytest.approx(of_interface, abs=2e-4)


def test_chains_that_were_renamed_afterwards_are_found_by_plddt(tmp_path):
    model = of_equal_chains(FIRST)
    own = renamed(model, A="P", B="Q")
    used(tmp_path, own, model)
    unused(tmp_path, own, model, text=cif(own, constant=True))
    three = with_decoy_chain(model)
    used(tmp_path, renamed(three, A="A", B="C", C="B"), three, partners=AC)


@pytest.mark.parametrize("step", [-185, 0, 1, None])
def test_numbers_of_residues_may_begin_elsewhere_but_not_differ_otherwise(
    tmp_path, step
):
    numbers = [n * 7 % 61 if step is None else n + step for n in SECOND.numbers]
    (unused if step is None else used)(tmp_path, SECOND, token_res_ids=numbers)


@both
@pytest.mark.parametrize("names", [("A", "B"), ("H", "L"), ("B", "A")], ids=str)
def test_an_antibody_may_be_numbered_anew_where_plddt_says_that_its_residues_are_the_same(
    tmp_path, model, names
):
    """Three residues share a number and differ in their insertion codes, and further numbers are
    left out.
    """
    codes = {200: (199, "A"), 201: (199, "B")}
    own = renamed(model, A=names[0], B=names[1])
    atoms = []
    for atom in own.atoms:
        number, code = atom.number, ""
        if atom.chain == names[0]:
            number, code = codes.get(number, (number + 4 * (number >= 206), ""))
        atoms.append(replace(atom, number=number, insertion_code=code))
    numbered = own._replace(atoms=atoms)
    for of_atoms, as_said in (
        (plddt_of_atoms(own), used),
        ([50.0] * len(atoms), unused),
    ):
        text = cif(numbered, of_atoms=of_atoms)
        as_said(tmp_path, own, text=text, token_chain_ids=model.chains)


def test_a_chain_that_only_the_model_or_only_the_files_have(tmp_path):
    three = with_decoy_chain(FIRST)
    used(tmp_path, FIRST, three)
    unused(tmp_path, three, FIRST, partners=AB)


@pytest.mark.parametrize("number", [190, 640])
def test_alphafold_3_has_a_token_for_each_atom_of_a_modified_residue(tmp_path, number):
    model, tokens = with_modified(FIRST, number)
    names = {"token_chain_ids": tokens.chains, "token_res_ids": tokens.numbers}
    of_atoms = plddt_of_atoms(model)
    own = renamed(model, A="H", B="L")
    used(tmp_path, own, **names, pae=tokens.pae.tolist(), atom_plddts=of_atoms)


def with_ligand(model: Model, at: int) -> Model:
    """Two atoms of a ligand, chain Z, 80 Å away, as the chain at this place; a token for each
    atom.
    """
    ligand = [
        Atom(f"C{i}", "LIG", "Z", 1, 80.0 + i, 80.0, 80.0, het=True) for i in (1, 2)
    ]
    n = [0, 30, 62][at]
    n_atoms = len(model.at(range(n)).atoms)
    pae = np.insert(np.insert(model.pae, [n, n], 29.0, axis=0), [n, n], 29.0, axis=1)
    plddt = np.insert(model.plddt, [n, n], 40.0)
    residues = [*model.residues[:n], ("Z", 1), ("Z", 1), *model.residues[n:]]
    atoms = [*model.atoms[:n_atoms], *ligand, *model.atoms[n_atoms:]]
    return Model(atoms, plddt, pae, residues)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_ligand_may_stand_anywhere(tmp_path, at):
    """In front of, between and behind the chains, with the names of tokens of AlphaFold 3.0.0."""
    proteins = renamed(FIRST, A="H", B="L")
    own = with_ligand(proteins, at)
    order = list(dict.fromkeys(own.chains))
    letters = ["ABC"[order.index(chain)] for chain in own.chains]
    pairs = np.full((3, 3), 0.05)
    pairs[order.index("H"), order.index("L")] = 0.88
    summary = {"chain_pair_iptm": pairs.tolist()}
    row = used(tmp_path, own, of=proteins, token_chain_ids=letters, summary=summary)
    assert (row.reason, row.iptm_of, row.interface_iptm) == ("", "all_chains", 0.88)


def of_equal_size(model: Model, known: bool = True) -> Model:
    """30 residues of each chain. known : whether PAE says which residues touch."""
    model = model.at(range(60))
    ca = np.array([[a.x, a.y, a.z] for a in model.atoms if a.name == "CA"])
    apart = np.linalg.norm(ca[:, None] - ca, axis=-1)
    return model._replace(pae=model.pae + apart / 3) if known else model


@both
@pytest.mark.parametrize("of_atoms", [{}, NO_ATOMS])
def test_names_are_not_believed_where_contacts_say_another_order(
    tmp_path, model, of_atoms
):
    model = of_equal_size(model)
    used(tmp_path, model, **of_atoms)
    unused(tmp_path, renamed(model, A="B", B="A"), model, **of_atoms)


def test_plddt_of_atoms_that_a_cut_model_lacks_is_said(tmp_path):
    cut = FIRST.at(range(10, 62))
    path = alphafold3(tmp_path, cut, FIRST, text=cif(cut, constant=True))
    row = row_of(path)
    assert (row.status, row.plddt) == ("incomplete", None)
    assert row.reason.startswith("x_confidences.json has pLDDT of")
    expected = measured(cut, "A", "B")["interface_pae"]
    assert row.interface_pae == pytest.approx(expected, abs=2e-4)


@both
@pytest.mark.parametrize("number", [188, 200, 630])
@pytest.mark.parametrize("first", [0, 1, 186], ids=str)
@pytest.mark.parametrize("of_chain", [False, True], ids=["of all", "of a chain"])
def test_numbers_may_count_tokens(tmp_path, model, number, first, of_chain):
    """RoseTTAFold3 counts them over the whole complex; a modified residue has several."""
    own, tokens = with_modified(model, number)
    numbers = np.arange(len(tokens.residues)) + first
    if of_chain:
        numbers[tokens.chains.count("A") :] -= tokens.chains.count("A")
    how = {"atom_chain_ids": [a.chain for a in own.atoms], "atom_plddts": None}
    used(tmp_path, own, tokens, **how, token_res_ids=numbers.tolist())


@both
@pytest.mark.parametrize("cut", [3, 5, 8])
@pytest.mark.parametrize("end", ["first", "last"])
@pytest.mark.parametrize("anew", [False, True], ids=["kept", "numbered anew"])
def test_a_chain_that_was_cut_has_its_numbers_where_plddt_says_so(
    tmp_path, model, cut, end, anew
):
    """A tag that was cut off in front, after which people number from 1."""
    whole = renumbered(model, 1)
    own = without(whole, *(range(cut) if end == "first" else range(30 - cut, 30)))
    given = renumbered(own, 1) if anew else own
    if anew and end == "first":
        row = unused(tmp_path, given, whole, why=UNCONFIRMED)
        assert row.plddt == pytest.approx(own.plddt.mean(), abs=0.01)
    else:
        used(tmp_path, given, whole)


@both
def test_without_plddt_numbers_count_that_nobody_began_anew(tmp_path, model):
    whole = renumbered(model, 1)
    for cut, is_sure in ((range(5), True), (range(25, 30), False)):
        own = without(whole, *cut)
        text = cif(own, constant=True)
        row = row_of(alphafold3(tmp_path, own, whole, text=text))
        assert (row.ipsae is not None) == is_sure


# ---- ipTM of pairs of chains ---------------------------------------------------------------------

PAIRS = [[0.9, 0.95, 0.15], [0.95, 0.9, 0.1], [0.15, 0.1, 0.9]]
"""ipTM of chains A, B and C with each other."""


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 0, 2)], ids=str)
def test_iptm_of_pairs_is_in_the_order_of_chain_ids(tmp_path, order):
    three = with_decoy_chain(FIRST)
    pairs = np.array(PAIRS)[np.ix_(order, order)].tolist()
    summary = {"chain_pair_iptm": pairs, "chain_ids": ["ABC"[i] for i in order]}
    path = alphafold3(tmp_path, three, summary=summary)
    assert row_of(path, AB).interface_iptm == 0.95
    assert row_of(path, AC).interface_iptm is None  # they do not touch
    by_name = {"ABC"[i]: {"ABC"[j]: PAIRS[i][j] for j in order} for i in order}
    path = alphafold3(tmp_path, three, summary={"chain_pair_iptm": by_name})
    assert row_of(path, AB).interface_iptm == 0.95


def test_iptm_of_pairs_without_names_is_in_the_order_of_the_tokens(tmp_path):
    three, summary = with_decoy_chain(FIRST), {"chain_pair_iptm": PAIRS}
    path = alphafold3(tmp_path, reordered(three, *"CAB"), three, summary=summary)
    assert row_of(path, AB).interface_iptm == 0.95
    own, summary = (
        renamed(three, A="A", B="C", C="D"),
        summary | {"chain_ids": [*"ABC"]},
    )
    path = alphafold3(tmp_path, own, token_chain_ids=three.chains, summary=summary)
    assert row_of(path, AC).interface_iptm == 0.95


def test_iptm_of_pairs_of_other_chains_is_not_used(tmp_path):
    three = with_decoy_chain(FIRST)
    summary = {"chain_pair_iptm": PAIRS, "chain_ids": ["P", "Q", "R"]}
    row = row_of(alphafold3(tmp_path, three, summary=summary), AB)
    assert (row.status, row.interface_iptm, row.iptm) == ("incomplete", None, 0.4)
    why = "ipTM of pairs of chains is of P, Q, R, but the model has A, B, C"
    assert row.reason.startswith(why)
    assert_measured(row, three, status="incomplete")


def test_matrices_are_in_the_order_of_the_model_and_of_the_tokens_chains(tmp_path):
    """AlphaFold 3 writes chains in another order than that of the model."""
    rng = np.random.default_rng(1)
    probabilities = rng.uniform(0, 1, FIRST.pae.shape).round(2)
    path = alphafold3(
        tmp_path,
        reordered(FIRST, "B", "A"),
        FIRST,
        contact_probs=probabilities.tolist(),
        summary={"chain_pair_iptm": [[0.9, 0.7], [0.6, 0.8]]},
    )
    matrices = matrices_of(path, read_complex(path), None)
    assert [residue.chain for residue in matrices.residues[::40]] == ["B", "A"]
    first = FIRST.residues.index(("B", matrices.residues[0].number))
    last = FIRST.residues.index(("A", matrices.residues[-1].number))
    assert matrices.pae[0, -1] == pytest.approx(FIRST.pae[first, last])
    assert matrices.contact_probs[0, -1] == pytest.approx(probabilities[first, last])
    assert matrices.chains == ("A", "B")
    assert matrices.pair_iptm[0, 1] == pytest.approx(0.7)


def with_third_chain(model: Model) -> Model:
    """The last ten residues of B as a chain C of its own: another molecule by its PAE."""
    is_c = np.array(model.numbers) > 647
    residues = [("C" if n > 647 else chain, n) for chain, n in model.residues]
    atoms = [replace(a, chain="C") if a.number > 647 else a for a in model.atoms]
    pae = model.pae + 12 * (is_c[:, None] != is_c)
    return model._replace(atoms=atoms, residues=residues, pae=pae)


@both
@pytest.mark.parametrize("order", ["ABC", "ACB"])
def test_iptm_of_pairs_without_names_needs_a_known_order(tmp_path, model, order):
    """The summary of AlphaFold 3 alone, whatever the order in the model's file is."""
    model = reordered(with_third_chain(model), *order)
    summary = {"chain_pair_iptm": PAIRS}
    path = alphafold3(tmp_path, model, summary=summary)
    pairs = np.array(PAIRS)[order.index("B")][[order.index("A"), order.index("C")]]
    assert row_of(path, JOINED).interface_iptm == max(pairs)
    (tmp_path / "x_confidences.json").unlink()
    row = row_of(path, JOINED)
    assert (row.interface_iptm, row.reason) == (None, UNNAMED_PAIRS)
    alphafold3(tmp_path, model, summary=summary | {"chain_ids": list("ABC")})
    (tmp_path / "x_confidences.json").unlink()
    assert row_of(path, JOINED).interface_iptm == 0.95


def test_chai_gives_its_chains_their_letters_itself(tmp_path):
    model, path = with_third_chain(FIRST), tmp_path / "pred.model_idx_0.cif"
    scores = {"iptm": 0.5, "per_chain_pair_iptm": PAIRS}
    put(tmp_path, {"scores.model_idx_0.npz": scores})
    for order in ("ABC", "CBA"):
        path.write_text(cif(reordered(model, *order)))
        assert row_of(path, JOINED).interface_iptm == 0.95


@both
def test_values_of_chains_fall_with_those_of_residues(tmp_path, model):
    """A file of another model: one sentence for PAE, pLDDT and the ipTM of pairs."""
    model = with_third_chain(model)
    pairs = {str(i): dict(zip("012", row, strict=True)) for i, row in enumerate(PAIRS)}
    rows = model._replace(plddt=model.plddt[::-1])
    row = row_of(
        boltz(tmp_path, model, rows, model.plddt, pair_chains_iptm=pairs), JOINED
    )
    assert (row.ipsae, row.plddt, row.interface_iptm) == (None, None, None)
    assert row.reason.count("TopoRank") == 1
    row = row_of(
        boltz(tmp_path, model, model, model.plddt, pair_chains_iptm=pairs), JOINED
    )
    assert row.interface_iptm == 0.95


# ---- Boltz and Protenix: pLDDT of another residue in the B factors -------------------------------


@both
@pytest.mark.parametrize("number", [188, 200, 630])
def test_behind_a_modified_residue_the_file_of_boltz_counts(tmp_path, model, number):
    own, tokens = with_modified(model, number)
    row = row_of(boltz(tmp_path, own, tokens))
    assert row.plddt_source == "file"
    assert_measured(row, own)
    assert row.reason.startswith(
        "the B factors are not the pLDDT of plddt_p_model_0.npz for"
    )
    (tmp_path / "plddt_p_model_0.npz").unlink()
    row = row_of(tmp_path / "p_model_0.cif")
    ipsae = pytest.approx(measured(own, "A", "B")["ipsae"], abs=2e-4)
    assert (row.status, row.plddt, row.ipsae) == ("incomplete", None, ipsae)
    assert "its plddt_….npz does not lie beside this model" in row.reason


def test_a_ligand_between_the_chains_may_stand_there_as_well(tmp_path):
    model, tokens = with_modified(FIRST, 190)
    own = with_ligand(model, 1)
    n = tokens.chains.count("A")
    pae = np.insert(np.insert(tokens.pae, [n, n], 31.0, axis=0), [n, n], 31.0, axis=1)
    tokens = tokens._replace(plddt=np.insert(tokens.plddt, [n, n], 10.0), pae=pae)
    # the writer counts residues, and one for each atom of the ligand
    b_factors = tokens.plddt[[*range(31), *range(32, 64)]]
    residues = list(dict.fromkeys(own.residues))
    own = Model(own.atoms, b_factors, pae, residues)
    assert_measured(row_of(boltz(tmp_path, own, tokens, b_factors)), model)


def test_without_modified_residues_both_agree_and_files_of_another_model_are_not_used(
    tmp_path,
):
    row = row_of(boltz(tmp_path, FIRST, FIRST))
    assert (row.reason, row.plddt_source) == ("", "file")
    assert_measured(row, FIRST)
    others = FIRST._replace(pae=SECOND.pae, plddt=SECOND.plddt)
    row = row_of(boltz(tmp_path, FIRST, others, FIRST.plddt))
    assert_unused(row, "another pLDDT in plddt_p_model_0.npz")
    assert row.plddt_source == ""


def test_protenix_rounds_the_plddt_of_atoms_in_its_file_and_not_in_the_model(tmp_path):
    model, path = FIRST, tmp_path / "x_sample_0.cif"
    by_atom = [round(value / 100, 2) for value in plddt_of_atoms(model)]
    values = {"atom_plddt": by_atom, "token_pair_pae": model.pae.tolist()}
    put(tmp_path, {path.name: cif(model), "x_full_data_sample_0.json": values})
    row = row_of(path)
    assert (row.predictor, row.plddt_source) == ("Protenix", "b_factor")
    assert_measured(row, model)
    path.write_text(cif(model, constant=True))
    row = row_of(path)
    assert (row.plddt_source, row.plddt) == (
        "file",
        pytest.approx(model.plddt.mean(), abs=0.3),
    )
    others = values | {"atom_plddt": [round(value * 0.7, 2) for value in by_atom]}
    put(tmp_path, {path.name: cif(model), "x_full_data_sample_0.json": others})
    row = row_of(path)
    assert (row.status, row.ipsae, row.plddt_source) == ("incomplete", None, "")


# ---- models that were saved again, beside PAE alone ----------------------------------------------


def saved(folder: Path, program: str, model: Model, rows: Model) -> Confidence:
    """The row of such a model. rows : as it was predicted."""
    name, side, pae = {
        "Boltz": ("p_model_0.pdb", "pae_p_model_0.npz", "pae"),
        "Chai-1": ("pred.model_idx_0.pdb", "pae.model_idx_0.npz", "pae"),
        "Protenix": ("x_sample_0.pdb", "x_full_data_sample_0.json", "token_pair_pae"),
    }[program]
    put(folder, {side: {pae: rows.pae}, name: pdb_of(model)})
    return row_of(folder / name, AB)


@both
@pytest.mark.parametrize("program", ["Boltz", "Chai-1", "Protenix"])
@pytest.mark.parametrize("change", [lambda m: m, with_third_chain])
def test_chains_that_were_saved_in_another_order_are_noticed(
    tmp_path, model, program, change
):
    """As PyMOL saves them; the files name no chains, and only their sum fits."""
    model = change(model)
    assert_measured(saved(tmp_path, program, model, model), model)
    chains = sorted(set(model.chains), reverse=True)
    row = saved(tmp_path, program, reordered(model, *chains), model)
    assert_unused(row)
    assert row.reason.startswith(ANOTHER_ORDER)
    assert (row.plddt_source, row.reason.count("TopoRank")) == ("b_factor", 1)


@both
def test_a_ligand_that_stood_between_the_chains_is_noticed(tmp_path, model):
    """As PyMOL saves it behind them: only the sum of rows fits."""
    sites = [Atom(f"C{i}", "LIG", "L", 1, 60 + i, 0, 0, het=True) for i in range(1, 8)]
    with_ligand = model._replace(
        atoms=[*model.atoms, *sites],
        plddt=np.append(model.plddt, 50.0),
        residues=[*model.residues, ("L", 1)],
    )
    rows = [*range(62), *[62] * 7]
    pae = np.pad(model.pae, (0, 1), constant_values=20.0)
    pae[62, 62] = 1.0
    row = saved(tmp_path, "Boltz", with_ligand, model._replace(pae=pae[rows][:, rows]))
    assert_measured(row, model)
    rows = [*rows[:30], *rows[62:], *rows[30:62]]
    row = saved(tmp_path, "Boltz", with_ligand, model._replace(pae=pae[rows][:, rows]))
    assert_unused(row, ANOTHER_ORDER)


@both
@pytest.mark.parametrize("known", [True, False])
def test_of_chains_of_equal_size_contacts_say_the_order_or_nothing_does(
    tmp_path, model, known
):
    model = of_equal_size(model, known)
    row = saved(tmp_path, "Boltz", model, model)
    if known:
        assert_measured(row, model)
    else:
        assert_unused(row, ANOTHER_ORDER)
    assert_unused(saved(tmp_path, "Boltz", reordered(model, "B", "A"), model))


@both
def test_a_chain_that_is_uncertain_as_a_whole_is_no_sign_of_another_order(
    tmp_path, model
):
    model = with_decoy_chain(model)
    assert_measured(saved(tmp_path, "Boltz", model, model), model)


# ---- rows of residues without atoms --------------------------------------------------------------


def colabfold(
    folder: Path,
    model: Model,
    rows: Model,
    *,
    plddt: bool = True,
    b_factors: bool = True,
) -> Confidence:
    """The row of a model by ColabFold, whose scores have other rows than it has residues."""
    values = {"pae": rows.pae.tolist(), "ptm": 0.8, "iptm": 0.7}
    if plddt:
        values["plddt"] = rows.plddt.tolist()
    scores, name = f"q_scores_{TAG.format(1)}.json", f"q_unrelaxed_{TAG.format(1)}.pdb"
    put(
        folder, {scores: values, name: pdb_of(model) if b_factors else pdb(model.atoms)}
    )
    return row_of(folder / name)


def assert_ipsae(row: Confidence, model: Model) -> None:
    """Where pLDDT is not known."""
    assert (row.status, row.reason) == ("ok", "")
    expected = measured(model, "A", "B")
    values = expected["ipsae"], expected["lis"]
    assert (row.ipsae, row.lis) == pytest.approx(values, abs=2e-4)


@both
@pytest.mark.parametrize("x", [(20,), (5, 6), (3, 45), (10, 40, 41, 50)], ids=str)
@pytest.mark.parametrize("known", [True, False], ids=["plddt", "numbers alone"])
def test_numbers_say_where_a_residue_without_atoms_has_its_row(
    tmp_path, model, x, known
):
    """Such residues are X."""
    own = without(model, *x)
    row = colabfold(tmp_path, own, model, plddt=known, b_factors=known)
    assert_ipsae(row, own)
    if known:
        assert_measured(row, own)


@pytest.mark.parametrize(
    "x", [(0,), (29,), (30,), (61,), (0, 15, 30), (28, 29, 61)], ids=str
)
def test_at_the_ends_of_chains_plddt_says_it(tmp_path, x):
    own = without(SECOND, *x)
    assert_measured(colabfold(tmp_path, own, SECOND), own)


def test_or_numbers_from_1_on(tmp_path):
    model = of_equal_chains(SECOND)
    own = without(model, 0, 30, 31)
    assert_ipsae(colabfold(tmp_path, own, model, plddt=False, b_factors=False), own)


def padded(model: Model, n: int, value: float) -> Model:
    """So many further rows at the end."""
    pae = np.pad(model.pae, (0, n), constant_values=value)
    return model._replace(pae=pae, plddt=np.append(model.plddt, np.full(n, 0.0)))


@pytest.mark.parametrize(("n", "value"), [(14, 0.0), (3, 31.75), (1, 0.0)])
@pytest.mark.parametrize("known", [True, False])
def test_further_rows_at_the_end_are_left_out_where_they_are_all_alike(
    tmp_path, n, value, known
):
    rows = padded(FIRST, n, value)
    assert_ipsae(colabfold(tmp_path, FIRST, rows, plddt=known, b_factors=known), FIRST)


def test_where_nothing_says_which_rows_are_left_out_none_are_used(tmp_path):
    own = without(FIRST, 29)
    why = "the predictor's files describe 62 tokens, but the model has 61 protein residues"
    assert_unused(colabfold(tmp_path, own, FIRST, plddt=False, b_factors=False), why)
    assert_unused(colabfold(tmp_path, own, FIRST._replace(plddt=SECOND.plddt[::-1])))


@pytest.mark.parametrize("x", [(1,), (2, 3, 4), (31,), (59,)], ids=str)
def test_a_wrong_place_near_the_end_of_a_chain_is_not_taken(tmp_path, x):
    """Without a gap in the numbers all pLDDT but those of one or two residues would be alike."""
    model = of_equal_chains(FIRST)
    n = len(model.residues) + len(x)
    own = np.setdiff1d(np.arange(n), x)
    plddt, pae = np.full(n, 20.0), np.full((n, n), 3.0)
    plddt[own], pae[np.ix_(own, own)] = model.plddt, model.pae
    row = colabfold(tmp_path, model, Model([], plddt, pae, []))
    assert (row.status, row.ipsae, row.plddt_source) == ("incomplete", None, "b_factor")


def test_a_gap_and_rows_at_the_end_may_both_explain_further_rows(tmp_path):
    """Residues that were cut out leave a gap as X does; without pLDDT of the file it is not known
    which it is.
    """
    model = without(FIRST, 12)
    assert_unused(colabfold(tmp_path, model, padded(model, 1, 0.0), plddt=False))


@pytest.mark.parametrize("has_b_factor", [True, False])
def test_b_factors_may_be_shifted_behind_a_residue_without_one(has_b_factor):
    n_tokens = np.array([*[1] * 10, 5, *[1] * 20])
    token = np.cumsum(n_tokens) - n_tokens
    plddt = np.random.default_rng(0).uniform(30, 95, n_tokens.sum())
    b_factors = np.append(plddt[token[:11]], plddt[token[11:] - 4])
    b_factors[10] = b_factors[10] if has_b_factor else np.nan
    assert shifted_b_factors(None, token, plddt, b_factors)
    b_factors[20:] = 0.0
    assert not shifted_b_factors(None, token, plddt, b_factors)
