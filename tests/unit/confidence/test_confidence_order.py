"""Order and numbers are believed where bonds, counts or the model's own pLDDT confirm them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _confidence import (
    MODELS,
    Model,
    alphafold3,
    assert_measured,
    assert_unused,
    boltz,
    cif,
    measured,
    pdb_of,
    renamed,
    reordered,
    row_of,
    with_decoy_chain,
    with_modified,
)

from toporank.confidence.chain_pairs import UNNAMED_PAIRS
from toporank.confidence.place import ANOTHER_ORDER
from toporank.confidence.place_by_names import UNCONFIRMED
from toporank.confidence.table import Confidence

both = pytest.mark.parametrize("model", MODELS, ids=["2", "4"])


def with_third_chain(model: Model) -> Model:
    """The last ten residues of B as a chain C of its own: another molecule by its PAE."""
    residues = [
        ("C", number) if chain == "B" and number > 647 else (chain, number)
        for chain, number in model.residues
    ]
    atoms = [
        replace(atom, chain="C") if atom.chain == "B" and atom.number > 647 else atom
        for atom in model.atoms
    ]
    pae = model.pae.copy()
    is_c = np.array([chain == "C" for chain, _ in residues])
    pae[np.ix_(is_c, ~is_c)] += 12
    pae[np.ix_(~is_c, is_c)] += 12
    return model._replace(atoms=atoms, residues=residues, pae=pae)


def saved(folder: Path, program: str, model: Model, rows: Model) -> Confidence:
    """The row of a model that was saved again, beside PAE alone. rows : as it was predicted."""
    if program == "Boltz":
        boltz(folder, rows, rows)
        (folder / "plddt_p_model_0.npz").unlink()
        (folder / "p_model_0.cif").unlink()
        path = folder / "p_model_0.pdb"
    elif program == "Chai-1":
        np.savez(folder / "pae.model_idx_0.npz", pae=rows.pae)
        path = folder / "pred.model_idx_0.pdb"
    else:
        values = {"token_pair_pae": rows.pae.tolist()}
        (folder / "x_full_data_sample_0.json").write_text(json.dumps(values))
        path = folder / "x_sample_0.pdb"
    path.write_text(pdb_of(model))
    return row_of(path, (("A",), ("B",)))


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


def of_equal_size(model: Model, known: bool = True) -> Model:
    """30 residues of each chain. known : whether PAE says which residues touch."""
    model = model.at(range(60))
    ca = np.array([[a.x, a.y, a.z] for a in model.atoms if a.name == "CA"])
    apart = np.linalg.norm(ca[:, None] - ca, axis=-1)
    return model._replace(pae=model.pae + apart / 3) if known else model


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
@pytest.mark.parametrize(
    "of_atoms", [{}, {"atom_chain_ids": None, "atom_plddts": None}]
)
def test_names_are_not_believed_where_contacts_say_another_order(
    tmp_path, model, of_atoms
):
    model = of_equal_size(model)
    assert_measured(row_of(alphafold3(tmp_path, model, **of_atoms)), model)
    exchanged = renamed(model, A="B", B="A")
    row = row_of(alphafold3(tmp_path, exchanged, model, **of_atoms))
    assert_unused(row)


def test_plddt_of_atoms_that_a_cut_model_lacks_is_said(tmp_path):
    cut = MODELS[0].at(range(10, 62))
    path = alphafold3(tmp_path, cut, MODELS[0], text=cif(cut, constant=True))
    row = row_of(path)
    assert (row.status, row.plddt) == ("incomplete", None)
    assert row.reason.startswith("x_confidences.json has pLDDT of")
    expected = measured(cut, "A", "B")["interface_pae"]
    assert row.interface_pae == pytest.approx(expected, abs=2e-4)


@both
def test_a_chain_that_is_uncertain_as_a_whole_is_no_sign_of_another_order(
    tmp_path, model
):
    model = with_decoy_chain(model)
    assert_measured(saved(tmp_path, "Boltz", model, model), model)


PAIRS = np.array([[0.9, 0.8, 0.15], [0.8, 0.9, 0.15], [0.15, 0.15, 0.9]])
JOINED = ("A", "C"), ("B",)


@both
@pytest.mark.parametrize("order", ["ABC", "ACB"])
def test_iptm_of_pairs_without_names_needs_a_known_order(tmp_path, model, order):
    """The summary of AlphaFold 3 alone, whatever the order in the model's file is."""
    model = reordered(with_third_chain(model), *order)
    summary = {"chain_pair_iptm": PAIRS.tolist()}
    path = alphafold3(tmp_path, model, summary=summary)
    pairs = PAIRS[order.index("B")][[order.index("A"), order.index("C")]]
    assert row_of(path, JOINED).interface_iptm == max(pairs)
    (tmp_path / "x_confidences.json").unlink()
    row = row_of(path, JOINED)
    assert (row.interface_iptm, row.reason) == (None, UNNAMED_PAIRS)
    alphafold3(tmp_path, model, summary=summary | {"chain_ids": list("ABC")})
    (tmp_path / "x_confidences.json").unlink()
    assert row_of(path, JOINED).interface_iptm == 0.8


def test_chai_gives_its_chains_their_letters_itself(tmp_path):
    model = with_third_chain(MODELS[0])
    path = tmp_path / "pred.model_idx_0.cif"
    np.savez(tmp_path / "scores.model_idx_0.npz", iptm=0.5, per_chain_pair_iptm=PAIRS)
    for order in ("ABC", "CBA"):
        path.write_text(cif(reordered(model, *order)))
        assert row_of(path, JOINED).interface_iptm == 0.8


@both
def test_values_of_chains_fall_with_those_of_residues(tmp_path, model):
    """A file of another model: one sentence for PAE, pLDDT and the ipTM of pairs."""
    model = with_third_chain(model)
    path = boltz(tmp_path, model, model._replace(plddt=model.plddt[::-1]), model.plddt)
    pairs = {str(i): dict(zip("012", row, strict=True)) for i, row in enumerate(PAIRS)}
    values = {"ptm": 0.7, "iptm": 0.6, "pair_chains_iptm": pairs}
    (tmp_path / "confidence_p_model_0.json").write_text(json.dumps(values))
    row = row_of(path, JOINED)
    assert (row.ipsae, row.plddt, row.interface_iptm) == (None, None, None)
    assert row.reason.count("TopoRank") == 1
    boltz(tmp_path, model, model, model.plddt)
    (tmp_path / "confidence_p_model_0.json").write_text(json.dumps(values))
    assert row_of(path, JOINED).interface_iptm == 0.8


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
    path = alphafold3(
        tmp_path,
        own,
        tokens,
        atom_chain_ids=[atom.chain for atom in own.atoms],
        atom_plddts=None,
        token_res_ids=numbers.tolist(),
    )
    assert_measured(row_of(path), own)


def renumbered(model: Model, first: int) -> Model:
    """Chain A numbered from there."""
    shift = first - model.residues[0][1]
    residues = [(c, n + shift * (c == "A")) for c, n in model.residues]
    atoms = [
        replace(atom, number=atom.number + shift * (atom.chain == "A"))
        for atom in model.atoms
    ]
    return model._replace(residues=residues, atoms=atoms)


@both
@pytest.mark.parametrize("cut", [3, 5, 8])
@pytest.mark.parametrize("end", ["first", "last"])
@pytest.mark.parametrize("anew", [False, True], ids=["kept", "numbered anew"])
def test_a_chain_that_was_cut_has_its_numbers_where_plddt_says_so(
    tmp_path, model, cut, end, anew
):
    """A tag that was cut off in front, after which people number from 1."""
    whole = renumbered(model, 1)
    places = np.arange(len(whole.residues))
    kept = np.delete(places, places[:cut] if end == "first" else places[30 - cut : 30])
    own = whole.at(kept.tolist())
    row = row_of(alphafold3(tmp_path, renumbered(own, 1) if anew else own, whole))
    if anew and end == "first":
        assert_unused(row, UNCONFIRMED)
        assert row.plddt == pytest.approx(own.plddt.mean(), abs=0.01)
    else:
        assert_measured(row, own)


@both
def test_without_plddt_numbers_count_that_nobody_began_anew(tmp_path, model):
    whole = renumbered(model, 1)
    for kept, is_sure in ((range(5, 62), True), ([*range(25), *range(30, 62)], False)):
        own = whole.at([*kept])
        text = cif(own, constant=True)
        row = row_of(alphafold3(tmp_path, own, whole, text=text))
        assert (row.ipsae is not None) == is_sure
