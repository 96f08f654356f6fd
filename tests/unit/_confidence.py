"""Models of the example, cut to what is near the interface, as predictors write them.

Expected numbers come from `measured`, which follows the published formulae and knows which row is
whose.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from conftest import REPOSITORY
from structures_text import Atom, atoms_of, mmcif, pdb, put
from toporank.confidence.confidences import confidences
from toporank.confidence.examine import DecoyFile
from toporank.confidence.table import Confidence

COLABFOLD = REPOSITORY / "resources/example/made_up_colabfold"
TAG = "rank_00{0}_alphafold2_multimer_v3_model_{0}_seed_000"
KEPT = {"A": range(186, 216), "B": range(626, 658)}


class Model(NamedTuple):
    """atoms : in the order of residues. plddt, pae : of these residues. residues : chain and number
    of each.
    """

    atoms: list[Atom]
    plddt: np.ndarray
    pae: np.ndarray
    residues: list[tuple[str, int]]

    @property
    def chains(self) -> list[str]:
        """Of each residue."""
        return [chain for chain, _ in self.residues]

    @property
    def numbers(self) -> list[int]:
        """Of each residue."""
        return [number for _, number in self.residues]

    def at(self, places: Sequence[int]) -> Model:
        """The model with the residues at these places, in their order."""
        residues = [self.residues[i] for i in places]
        atoms = []
        for residue in residues:
            atoms += [
                atom for atom in self.atoms if (atom.chain, atom.number) == residue
            ]
        pae = self.pae[np.ix_(places, places)]
        return Model(atoms, self.plddt[places], pae, residues)


def example(k: int) -> Model:
    """The k-th model of the example, 30 residues of chain A and 32 of chain B."""
    atoms = atoms_of(COLABFOLD / f"pair_unrelaxed_{TAG.format(k)}.pdb.gz")
    scores = gzip.decompress(
        (COLABFOLD / f"pair_scores_{TAG.format(k)}.json.gz").read_bytes()
    )
    values = json.loads(scores)
    residues = list(dict.fromkeys((atom.chain, atom.number) for atom in atoms))
    whole = Model(
        atoms, np.array(values["plddt"], float), np.array(values["pae"]), residues
    )
    return whole.at(
        [i for i, (chain, number) in enumerate(residues) if number in KEPT[chain]]
    )


MODELS = [example(k) for k in (2, 4)]


def measured(model: Model, first: str, second: str) -> dict[str, float]:
    """ipSAE, LIS, interface PAE and interface pLDDT of two chains, by the published formulae."""
    chain = np.array(model.chains)
    ca = np.array([[a.x, a.y, a.z] for a in model.atoms if a.name == "CA"])
    one, other = np.flatnonzero(chain == first), np.flatnonzero(chain == second)
    best, local = 0.0, []
    for rows, columns in ((one, other), (other, one)):
        block = model.pae[np.ix_(rows, columns)]
        for row in block:
            near = row[row < 10]
            if len(near):
                d0 = max(1.0, 1.24 * (max(len(near), 27) - 15) ** (1 / 3) - 1.8)
                best = max(best, float(np.mean(1 / (1 + (near / d0) ** 2))))
        counted = block[block < 12]
        local.append(float(((12 - counted) / 12).mean()) if counted.size else 0.0)
    distance = np.linalg.norm(ca[one][:, None] - ca[other][None], axis=-1)
    i, j = np.nonzero(distance < 10)
    both = (model.pae[one[i], other[j]].mean() + model.pae[other[j], one[i]].mean()) / 2
    of_interface = model.plddt[np.unique(np.concatenate([one[i], other[j]]))].mean()
    return {
        "ipsae": best,
        "lis": np.mean(local),
        "interface_pae": both,
        "interface_plddt": of_interface,
    }


def assert_measured(
    row: Confidence,
    model: Model,
    first: str = "A",
    second: str = "B",
    status: str = "ok",
) -> None:
    expected = measured(model, first, second)
    assert row.status == status, row.reason
    assert {name: getattr(row, name) for name in expected} == pytest.approx(
        expected, abs=2e-4
    )


def assert_unused(row: Confidence, reason: str = "") -> None:
    """PAE is not used, for this reason."""
    assert (row.status, row.ipsae, row.interface_pae) == ("incomplete", None, None)
    assert reason in row.reason


def renamed(model: Model, **names: str) -> Model:
    atoms = [replace(atom, chain=names[atom.chain]) for atom in model.atoms]
    return model._replace(
        atoms=atoms,
        residues=[(names[chain], number) for chain, number in model.residues],
    )


def with_decoy_chain(model: Model) -> Model:
    """A third chain: a copy of B 60 Å away, of which PAE is 28 Å everywhere and pLDDT is about 30."""
    b = [i for i, (chain, _) in enumerate(model.residues) if chain == "B"]
    n, far = (
        len(model.residues),
        [replace(a, chain="C", x=a.x + 60) for a in model.atoms if a.chain == "B"],
    )
    pae = np.full((n + len(b), n + len(b)), 28.0)
    pae[:n, :n] = model.pae
    residues = model.residues + [("C", model.residues[i][1]) for i in b]
    return Model(
        model.atoms + far,
        np.append(model.plddt, np.linspace(29, 31, len(b)).round(2)),
        pae,
        residues,
    )


def reordered(model: Model, *chains: str) -> Model:
    """The chains in another order, in everything."""
    return model.at(
        sorted(range(len(model.residues)), key=lambda i: chains.index(model.chains[i]))
    )


def plddt_of_atoms(model: Model) -> list[float]:
    of_residue = dict(zip(model.residues, model.plddt.tolist(), strict=True))
    return [of_residue[atom.chain, atom.number] for atom in model.atoms]


def with_plddt(
    model: Model, of_atoms: list[float] | None = None, *, constant: bool = False
) -> list[Atom]:
    """Atoms whose B factors are pLDDT. of_atoms : other ones. constant : whether all are alike."""
    values = (
        [50.0] * len(model.atoms) if constant else of_atoms or plddt_of_atoms(model)
    )
    return [
        replace(atom, b_factor=value)
        for atom, value in zip(model.atoms, values, strict=True)
    ]


def cif(
    model: Model, of_atoms: list[float] | None = None, *, constant: bool = False
) -> str:
    """mmCIF text that declares pLDDT as B factors."""
    text = mmcif(with_plddt(model, of_atoms, constant=constant))
    return text.replace("data_test\n#\n", "data_x\n_ma_qa_metric.name pLDDT\n#\n")


def pdb_of(model: Model, of_atoms: list[float] | None = None) -> str:
    """PDB text with pLDDT as B factors. of_atoms : other ones."""
    return pdb(with_plddt(model, of_atoms))


def alphafold3(
    folder: Path,
    model: Model,
    tokens: Model | None = None,
    *,
    text: str = "",
    **other: object,
) -> Path:
    """A model as AlphaFold 3 writes it. tokens : the model by the names and order of
    confidences.json. text : of the model's file. other : values of confidences.json, None to leave
    one out, and `summary`.
    """
    tokens = tokens or model
    values = {
        "atom_chain_ids": [atom.chain for atom in tokens.atoms],
        "atom_plddts": plddt_of_atoms(tokens),
        "pae": tokens.pae.tolist(),
        "token_chain_ids": tokens.chains,
        "token_res_ids": tokens.numbers,
    }
    summary = {
        "ptm": 0.8,
        "iptm": 0.4,
        "ranking_score": 0.5,
        **other.pop("summary", {}),
    }
    values = {
        name: value for name, value in (values | other).items() if value is not None
    }
    files = {"x_summary_confidences.json": summary, "x_confidences.json": values}
    put(folder, files | {"x_model.cif": text or cif(model)})
    return folder / "x_model.cif"


def row_of(path: Path, partners: tuple = (), **about: object) -> Confidence:
    """The row of a decoy by itself."""
    (row,) = confidences([DecoyFile("T", "d", path, partners, **about)])
    return row


def with_modified(model: Model, number: int, name: str = "SEP") -> tuple[Model, Model]:
    """A residue of another name, and the model with a row for each of its atoms: PAE 30 Å, pLDDT
    20.
    """
    atoms = [
        replace(a, residue=name, het=True) if a.number == number else a
        for a in model.atoms
    ]
    rows = []
    for i, (_, n) in enumerate(model.residues):
        rows += [i] * (sum(a.number == number for a in atoms) if n == number else 1)
    further = np.flatnonzero(np.diff(rows, prepend=-1) == 0)
    pae, plddt = model.pae[np.ix_(rows, rows)].copy(), model.plddt[rows].copy()
    pae[further], pae[:, further], plddt[further] = 30.0, 30.0, 20.0
    own = model._replace(atoms=atoms)
    return own, Model(atoms, plddt, pae, [model.residues[i] for i in rows])


BOLTZ = {"ptm": 0.7, "iptm": 0.6, "confidence_score": 0.8}


def boltz(
    folder: Path,
    model: Model,
    tokens: Model,
    plddt: np.ndarray | None = None,
    **values: object,
) -> Path:
    """A model as Boltz writes it: B factors by counting residues, arrays by tokens. plddt : B
    factors of residues. values : of its JSON.
    """
    of_residues = tokens.plddt[: len(model.residues)] if plddt is None else plddt
    put(
        folder,
        {
            "p_model_0.cif": cif(model._replace(plddt=of_residues)),
            "pae_p_model_0.npz": {"pae": tokens.pae.astype(np.float32)},
            "plddt_p_model_0.npz": {"plddt": (tokens.plddt / 100).astype(np.float32)},
            "confidence_p_model_0.json": BOLTZ | values,
        },
    )
    return folder / "p_model_0.cif"
