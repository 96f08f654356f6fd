"""Which rows of a predictor's arrays are those of a residue: where names, numbers and order do not
say the same.

The models are of the example, cut to what is near the interface. Expected numbers come from
`measured`, which follows the published formulae and knows which row is whose.
"""

from __future__ import annotations

import json
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

from structures_text import Atom, pdb
from toporank.confidence.matrices import matrices_of
from toporank.confidence.place import shifted_b_factors
from toporank.structures.read import read_complex


@pytest.mark.parametrize("model", MODELS, ids=["2", "4"])
@pytest.mark.parametrize("names", [("H", "L"), ("B", "A"), ("X1", "Y")], ids=str)
def test_alphafold_3_0_0_calls_tokens_a_and_b_whatever_the_chains_are_called(
    tmp_path, model, names
):
    """google-deepmind/alphafold3#271: the names of the atoms' chains are right."""
    own = renamed(model, A=names[0], B=names[1])
    row = row_of(alphafold3(tmp_path, own, token_chain_ids=model.chains))
    assert (row.status, row.reason, row.plddt_source) == ("ok", "", "file")
    assert_measured(row, own, *names)


@pytest.mark.parametrize(
    "names", [("B", "A", "C"), ("A", "C", "B"), ("C", "B", "A")], ids=str
)
@pytest.mark.parametrize("flat", [False, True], ids=["plddt", "no plddt"])
def test_so_it_is_where_all_chains_are_of_one_size(tmp_path, names, flat):
    model = with_decoy_chain(of_equal_chains(MODELS[0]))
    own = renamed(model, A=names[0], B=names[1], C=names[2])
    tokens = model.chains
    assert_measured(
        row_of(
            alphafold3(
                tmp_path, own, token_chain_ids=tokens, text=cif(own, constant=flat)
            ),
            partners_of(names),
        ),
        own,
        names[0],
        names[1],
    )


def partners_of(names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The first two chains, each a partner."""
    return (names[0],), (names[1],)


def test_without_names_of_atoms_letters_from_a_on_say_the_order_only_and_others_are_believed(
    tmp_path,
):
    own = renamed(MODELS[0], A="H", B="L")
    letters = MODELS[0].chains
    row = row_of(
        alphafold3(
            tmp_path,
            own,
            atom_chain_ids=None,
            atom_plddts=None,
            token_chain_ids=letters,
        )
    )
    assert (row.status, row.plddt_source) == ("ok", "b_factor")
    assert_measured(row, own, "H", "L")
    others = [{"A": "P", "B": "Q"}[chain] for chain in letters]
    assert_unused(
        row_of(
            alphafold3(
                tmp_path,
                own,
                atom_chain_ids=None,
                atom_plddts=None,
                token_chain_ids=others,
            )
        ),
        "token_chain_ids has P (30), Q (32), and the model H (30), L (32)",
    )


@pytest.mark.parametrize("model", MODELS, ids=["2", "4"])
def test_chains_in_another_order_are_found_by_their_names(tmp_path, model):
    """The model was written anew with B in front, and so may be its tokens."""
    assert_measured(
        row_of(alphafold3(tmp_path, reordered(model, "B", "A"), model)), model
    )
    assert_measured(
        row_of(alphafold3(tmp_path, model, reordered(model, "B", "A"))), model
    )


def test_tokens_in_another_order_than_atoms_are_found_by_their_size(tmp_path):
    model = MODELS[0]
    turned = reordered(model, "B", "A")
    names = {
        "token_chain_ids": turned.chains,
        "token_res_ids": turned.numbers,
    }
    assert_measured(
        row_of(alphafold3(tmp_path, model, **names, pae=turned.pae.tolist())), model
    )


def test_lists_that_are_not_there_do_not_decide(tmp_path):
    """Without numbers or chains of tokens the names of chains count, and what they cannot say is
    not guessed.
    """
    model = MODELS[0]
    assert_measured(
        row_of(
            alphafold3(tmp_path, reordered(model, "B", "A"), model, token_res_ids=None)
        ),
        model,
    )
    own = renamed(model, A="H", B="L")
    tokens = model.chains
    assert_measured(
        row_of(alphafold3(tmp_path, own, token_chain_ids=tokens, token_res_ids=None)),
        own,
        "H",
        "L",
    )
    nameless = {"token_chain_ids": None, "token_res_ids": None}
    assert_measured(row_of(alphafold3(tmp_path, model, **nameless)), model)
    assert_unused(
        row_of(alphafold3(tmp_path, reordered(model, "B", "A"), model, **nameless)),
        "atom_chain_ids has chains A, B, and the model B, A: it is not known which",
    )


def test_other_numbers_of_tokens_are_said(tmp_path):
    model = MODELS[0]
    assert_unused(
        row_of(
            alphafold3(
                tmp_path, model, token_chain_ids=["A"] * 60, token_res_ids=[1] * 60
            )
        ),
        "the predictor's files name 60 tokens and have PAE of 62",
    )
    row = row_of(alphafold3(tmp_path, model, pae=model.pae[:61, :61].tolist()))
    assert row.reason.startswith(
        "the predictor's files name 62 tokens and have PAE of 61"
    )
    assert_unused(row_of(alphafold3(tmp_path, model, token_res_ids=[1, 2])))


def of_equal_chains(model: Model) -> Model:
    """30 residues of each chain, numbered from 1, so that neither sizes nor numbers tell the chains
    apart.
    """
    first = {"A": 185, "B": 625}
    model = without(model, 60, 61)
    atoms = [
        replace(atom, number=atom.number - first[atom.chain]) for atom in model.atoms
    ]
    residues = [(chain, number - first[chain]) for chain, number in model.residues]
    return model._replace(atoms=atoms, residues=residues)


def test_where_lists_of_names_differ_and_nothing_decides_nothing_is_used(tmp_path):
    model = of_equal_chains(MODELS[0])
    swapped = [{"A": "B", "B": "A"}[chain] for chain in model.chains]
    row = row_of(alphafold3(tmp_path, model, token_chain_ids=swapped))
    assert_unused(
        row,
        "token_chain_ids has B (30), A (30), atom_chain_ids A, B, and the model A (30), B (30)",
    )
    of_interface = measured(model, "A", "B")["interface_plddt"]
    assert row.interface_plddt == pytest.approx(of_interface, abs=2e-4)


def test_chains_that_were_renamed_afterwards_are_found_by_plddt(tmp_path):
    model = of_equal_chains(MODELS[0])
    own = renamed(model, A="P", B="Q")
    assert_measured(row_of(alphafold3(tmp_path, own, model)), own, "P", "Q")
    assert_unused(
        row_of(alphafold3(tmp_path, own, model, text=cif(own, constant=True)))
    )
    three = with_decoy_chain(model)
    exchanged = renamed(three, A="A", B="C", C="B")
    row = row_of(alphafold3(tmp_path, exchanged, three), (("A",), ("C",)))
    assert_measured(row, exchanged, "A", "C")


@pytest.mark.parametrize(
    ("step", "used"), [(-185, True), (0, True), (1, True), (None, False)]
)
def test_numbers_of_residues_may_begin_elsewhere_but_not_differ_otherwise(
    tmp_path, step, used
):
    model = MODELS[1]
    numbers = [n * 7 % 61 if step is None else n + step for _, n in model.residues]
    row = row_of(alphafold3(tmp_path, model, token_res_ids=numbers))
    assert row.status == ("ok" if used else "incomplete")
    if used:
        assert_measured(row, model)
    else:
        assert (row.ipsae, row.interface_pae) == (None, None)


@pytest.mark.parametrize("model", MODELS, ids=["2", "4"])
@pytest.mark.parametrize("names", [("A", "B"), ("H", "L"), ("B", "A")], ids=str)
def test_an_antibody_may_be_numbered_anew_where_plddt_says_that_its_residues_are_the_same(
    tmp_path, model, names
):
    """Three residues share a number and differ in their insertion codes, and further numbers are
    left out.
    """
    codes = {200: (199, "A"), 201: (199, "B")}
    renumber = {
        n: codes.get(n, (n if n < 206 else n + 4, "")) for _, n in model.residues
    }
    own = renamed(model, A=names[0], B=names[1])
    atoms = []
    for atom in own.atoms:
        number, code = (
            renumber[atom.number] if atom.chain == names[0] else (atom.number, "")
        )
        atoms.append(replace(atom, number=number, insertion_code=code))
    tokens = {"token_chain_ids": model.chains}
    text = cif(own._replace(atoms=atoms), of_atoms=plddt_of_atoms(own))
    assert_measured(row_of(alphafold3(tmp_path, own, text=text, **tokens)), own, *names)
    flat = cif(own._replace(atoms=atoms), of_atoms=[50.0] * len(atoms))
    assert_unused(row_of(alphafold3(tmp_path, own, text=flat, **tokens)))


def test_a_chain_that_only_the_model_or_only_the_files_have(tmp_path):
    three = with_decoy_chain(MODELS[0])
    assert_measured(row_of(alphafold3(tmp_path, MODELS[0], three)), MODELS[0])
    assert_unused(row_of(alphafold3(tmp_path, three, MODELS[0]), (("A",), ("B",))))


@pytest.mark.parametrize("number", [190, 640])
def test_alphafold_3_has_a_token_for_each_atom_of_a_modified_residue(tmp_path, number):
    model, tokens = with_modified(MODELS[0], number)
    own = renamed(model, A="H", B="L")
    assert_measured(
        row_of(
            alphafold3(
                tmp_path,
                own,
                pae=tokens.pae.tolist(),
                token_chain_ids=tokens.chains,
                token_res_ids=tokens.numbers,
                atom_plddts=plddt_of_atoms(model),
            )
        ),
        own,
        "H",
        "L",
    )


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
    return Model(
        [*model.atoms[:n_atoms], *ligand, *model.atoms[n_atoms:]], plddt, pae, residues
    )


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_ligand_may_stand_anywhere(tmp_path, at):
    """In front of, between and behind the chains, with the names of tokens of AlphaFold 3.0.0."""
    model = MODELS[0]
    own = with_ligand(renamed(model, A="H", B="L"), at)
    order = list(dict.fromkeys(chain for chain, _ in own.residues))
    letters = ["ABC"[order.index(chain)] for chain, _ in own.residues]
    pairs = np.full((3, 3), 0.05)
    pairs[order.index("H"), order.index("L")] = 0.88
    path = alphafold3(
        tmp_path,
        own,
        token_chain_ids=letters,
        summary={"chain_pair_iptm": pairs.tolist()},
    )
    row = row_of(path)
    assert (row.reason, row.iptm_of, row.interface_iptm) == ("", "all_chains", 0.88)
    assert_measured(row, renamed(model, A="H", B="L"), "H", "L")


PAIRS = [[0.9, 0.95, 0.15], [0.95, 0.9, 0.1], [0.15, 0.1, 0.9]]
"""ipTM of chains A, B and C with each other."""


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 0, 2)], ids=str)
def test_iptm_of_pairs_is_in_the_order_of_chain_ids(tmp_path, order):
    three = with_decoy_chain(MODELS[0])
    pairs = np.array(PAIRS)[np.ix_(order, order)].tolist()
    summary = {"chain_pair_iptm": pairs, "chain_ids": ["ABC"[i] for i in order]}
    path = alphafold3(tmp_path, three, summary=summary)
    assert row_of(path, (("A",), ("B",))).interface_iptm == 0.95
    assert row_of(path, (("A",), ("C",))).interface_iptm is None  # they do not touch
    by_name = {"ABC"[i]: {"ABC"[j]: PAIRS[i][j] for j in order} for i in order}
    path = alphafold3(tmp_path, three, summary={"chain_pair_iptm": by_name})
    assert row_of(path, (("A",), ("B",))).interface_iptm == 0.95


def test_iptm_of_pairs_without_names_is_in_the_order_of_the_tokens(tmp_path):
    three = with_decoy_chain(MODELS[0])
    path = alphafold3(
        tmp_path,
        reordered(three, "C", "A", "B"),
        three,
        summary={"chain_pair_iptm": PAIRS},
    )
    assert row_of(path, (("A",), ("B",))).interface_iptm == 0.95
    own = renamed(three, A="A", B="C", C="D")
    letters = three.chains
    summary = {"chain_pair_iptm": PAIRS, "chain_ids": ["A", "B", "C"]}
    path = alphafold3(tmp_path, own, token_chain_ids=letters, summary=summary)
    assert row_of(path, (("A",), ("C",))).interface_iptm == 0.95


def test_matrices_are_in_the_order_of_the_model_and_of_the_tokens_chains(tmp_path):
    """AlphaFold 3 writes chains in another order than that of the model."""
    tokens = MODELS[0]
    model = reordered(tokens, "B", "A")
    rng = np.random.default_rng(1)
    probabilities = rng.uniform(0, 1, tokens.pae.shape).round(2)
    path = alphafold3(
        tmp_path,
        model,
        tokens,
        contact_probs=probabilities.tolist(),
        summary={"chain_pair_iptm": [[0.9, 0.7], [0.6, 0.8]]},
    )
    matrices = matrices_of(path, read_complex(path), None)
    assert [residue.chain for residue in matrices.residues[::40]] == ["B", "A"]
    first = tokens.residues.index(("B", matrices.residues[0].number))
    last = tokens.residues.index(("A", matrices.residues[-1].number))
    assert matrices.pae[0, -1] == pytest.approx(tokens.pae[first, last])
    assert matrices.contact_probs[0, -1] == pytest.approx(probabilities[first, last])
    assert matrices.chains == ("A", "B")
    assert matrices.pair_iptm[0, 1] == pytest.approx(0.7)


def test_iptm_of_pairs_of_other_chains_is_not_used(tmp_path):
    three = with_decoy_chain(MODELS[0])
    summary = {"chain_pair_iptm": PAIRS, "chain_ids": ["P", "Q", "R"]}
    row = row_of(alphafold3(tmp_path, three, summary=summary), (("A",), ("B",)))
    assert (row.status, row.interface_iptm, row.iptm) == ("incomplete", None, 0.4)
    assert row.reason.startswith(
        "ipTM of pairs of chains is of P, Q, R, but the model has A, B, C"
    )
    assert_measured(row, three, status="incomplete")


# ---- Boltz: pLDDT of another residue in the B factors --------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=["2", "4"])
@pytest.mark.parametrize("number", [188, 200, 630])
def test_behind_a_modified_residue_the_file_of_boltz_counts(tmp_path, model, number):
    own, tokens = with_modified(model, number)
    row = row_of(boltz(tmp_path, own, tokens))
    assert (row.status, row.plddt_source) == ("ok", "file")
    assert_measured(row, own)
    assert row.reason.startswith(
        "the B factors are not the pLDDT of plddt_p_model_0.npz for"
    )
    (tmp_path / "plddt_p_model_0.npz").unlink()
    row = row_of(tmp_path / "p_model_0.cif")
    assert (row.status, row.plddt, row.ipsae) == (
        "incomplete",
        None,
        pytest.approx(measured(own, "A", "B")["ipsae"], abs=2e-4),
    )
    assert "its plddt_….npz does not lie beside this model" in row.reason


def test_a_ligand_between_the_chains_may_stand_there_as_well(tmp_path):
    model, tokens = with_modified(MODELS[0], 190)
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
    model, other = MODELS
    row = row_of(boltz(tmp_path, model, model))
    assert (row.status, row.reason, row.plddt_source) == ("ok", "", "file")
    assert_measured(row, model)
    row = row_of(
        boltz(
            tmp_path,
            model,
            model._replace(pae=other.pae, plddt=other.plddt),
            model.plddt,
        )
    )
    assert (row.status, row.ipsae, row.plddt_source) == ("incomplete", None, "")
    assert "another pLDDT in plddt_p_model_0.npz" in row.reason


def test_protenix_rounds_the_plddt_of_atoms_in_its_file_and_not_in_the_model(tmp_path):
    model = MODELS[0]
    by_atom = [round(value / 100, 2) for value in plddt_of_atoms(model)]
    (tmp_path / "x_sample_0.cif").write_text(cif(model))
    values = {"atom_plddt": by_atom, "token_pair_pae": model.pae.tolist()}
    (tmp_path / "x_full_data_sample_0.json").write_text(json.dumps(values))
    row = row_of(tmp_path / "x_sample_0.cif")
    assert (row.predictor, row.status, row.plddt_source) == (
        "Protenix",
        "ok",
        "b_factor",
    )
    assert_measured(row, model)
    (tmp_path / "x_sample_0.cif").write_text(cif(model, constant=True))
    row = row_of(tmp_path / "x_sample_0.cif")
    assert (row.plddt_source, row.plddt) == (
        "file",
        pytest.approx(model.plddt.mean(), abs=0.3),
    )
    other = [round(value * 0.7, 2) for value in by_atom]
    (tmp_path / "x_full_data_sample_0.json").write_text(
        json.dumps(values | {"atom_plddt": other})
    )
    (tmp_path / "x_sample_0.cif").write_text(cif(model))
    row = row_of(tmp_path / "x_sample_0.cif")
    assert (row.status, row.ipsae, row.plddt_source) == ("incomplete", None, "")


# ---- rows of residues without atoms --------------------------------------------------------------


def colabfold(
    folder: Path,
    model: Model,
    rows: Model,
    *,
    plddt: bool = True,
    b_factors: bool = True,
) -> Path:
    """A model as ColabFold writes it, whose scores have other rows than it has residues."""
    values = {"pae": rows.pae.tolist(), "ptm": 0.8, "iptm": 0.7} | (
        {"plddt": rows.plddt.tolist()} if plddt else {}
    )
    (folder / f"q_scores_{TAG.format(1)}.json").write_text(json.dumps(values))
    path = folder / f"q_unrelaxed_{TAG.format(1)}.pdb"
    path.write_text(pdb_of(model) if b_factors else pdb(model.atoms))
    return path


def without(model: Model, *places: int) -> Model:
    """The model without the residues at these places, which are X."""
    return model.at(np.setdiff1d(np.arange(len(model.residues)), places))


@pytest.mark.parametrize("model", MODELS, ids=["2", "4"])
@pytest.mark.parametrize("x", [(20,), (5, 6), (3, 45), (10, 40, 41, 50)], ids=str)
@pytest.mark.parametrize("known", ["plddt", "numbers alone"])
def test_numbers_say_where_a_residue_without_atoms_has_its_row(
    tmp_path, model, x, known
):
    own = without(model, *x)
    row = row_of(
        colabfold(
            tmp_path, own, model, plddt=known == "plddt", b_factors=known == "plddt"
        )
    )
    assert (row.status, row.reason) == ("ok", "")
    expected = measured(own, "A", "B")
    assert (row.ipsae, row.lis) == pytest.approx(
        (expected["ipsae"], expected["lis"]), abs=2e-4
    )
    if known == "plddt":
        assert_measured(row, own)


@pytest.mark.parametrize(
    "x", [(0,), (29,), (30,), (61,), (0, 15, 30), (28, 29, 61)], ids=str
)
def test_at_the_ends_of_chains_plddt_says_it(tmp_path, x):
    model = MODELS[1]
    own = without(model, *x)
    assert_measured(row_of(colabfold(tmp_path, own, model)), own)


def test_or_numbers_from_1_on(tmp_path):
    model = of_equal_chains(MODELS[1])
    own = without(model, 0, 30, 31)
    row = row_of(colabfold(tmp_path, own, model, plddt=False, b_factors=False))
    assert row.ipsae == pytest.approx(measured(own, "A", "B")["ipsae"], abs=2e-4)


def padded(model: Model, n: int, value: float) -> Model:
    n_all = len(model.residues) + n
    pae = np.full((n_all, n_all), value)
    pae[:-n, :-n] = model.pae
    return model._replace(pae=pae, plddt=np.append(model.plddt, np.full(n, 0.0)))


@pytest.mark.parametrize(("n", "value"), [(14, 0.0), (3, 31.75), (1, 0.0)])
def test_further_rows_at_the_end_are_left_out_where_they_are_all_alike(
    tmp_path, n, value
):
    model = MODELS[0]
    for plddt in (True, False):
        row = row_of(
            colabfold(
                tmp_path, model, padded(model, n, value), plddt=plddt, b_factors=plddt
            )
        )
        assert (row.status, row.reason) == ("ok", "")
        assert row.ipsae == pytest.approx(measured(model, "A", "B")["ipsae"], abs=2e-4)


def test_where_nothing_says_which_rows_are_left_out_none_are_used(tmp_path):
    model = MODELS[0]
    own = without(model, 29)
    assert_unused(
        row_of(colabfold(tmp_path, own, model, plddt=False, b_factors=False)),
        "the predictor's files describe 62 tokens, but the model has 61 protein residues",
    )
    other = colabfold(tmp_path, own, model._replace(plddt=MODELS[1].plddt[::-1]))
    assert (row_of(other).status, row_of(other).ipsae) == ("incomplete", None)


@pytest.mark.parametrize("x", [(1,), (2, 3, 4), (31,), (59,)], ids=str)
def test_a_wrong_place_near_the_end_of_a_chain_is_not_taken(tmp_path, x):
    """Without a gap in the numbers all pLDDT but those of one or two residues would be alike."""
    model = of_equal_chains(MODELS[0])
    n = len(model.residues) + len(x)
    own = np.setdiff1d(np.arange(n), x)
    plddt, pae = np.full(n, 20.0), np.full((n, n), 3.0)
    plddt[own], pae[np.ix_(own, own)] = model.plddt, model.pae
    rows = Model([], plddt, pae, [])
    row = row_of(colabfold(tmp_path, model, rows))
    assert (row.status, row.ipsae, row.plddt_source) == ("incomplete", None, "b_factor")


def test_a_gap_and_rows_at_the_end_may_both_explain_further_rows(tmp_path):
    """Residues that were cut out leave a gap as X does; without pLDDT of the file it is not known
    which it is.
    """
    model = without(MODELS[0], 12)
    assert_unused(
        row_of(colabfold(tmp_path, model, padded(model, 1, 0.0), plddt=False))
    )


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
