"""The quality of each residue: the mean over its contacts, under the names of the structure, as
table and B-factor.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import gemmi
import numpy as np
import pandas as pd
import pytest
import torch
from _synthetic import (
    METADATA,
    labelled,
    members,
    packed,
    random_graph,
)
from torch_geometric.data import Data

from structures_text import Atom, alanine, complex_of, pair, pdb, write
from toporank.building.packing import write_pack
from toporank.errors import GraphError
from toporank.files.packfile import PackedGraphs
from toporank.learning.data import GraphStore
from toporank.learning.inference import open_network, predict_all
from toporank.learning.network import Architecture, DockQNet
from toporank.learning.weights import OfTorch
from toporank.ranking.models import MANY, write_models
from toporank.ranking.residues import (
    contact_rows,
    leading,
    residue_rows,
    why_no_quality,
)
from toporank.ranking.scored import of_models
from toporank.scorer.networks import Networks, contact_table, residue_table
from toporank.scorer.residue_quality import with_quality
from toporank.scorer.scorer import Scorer
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex
from toporank.structures.write import QUALITY, mmcif
from toporank.tables import frames as tables
from toporank.tables.columns import CONTACTS, RESIDUES
from toporank.tables.frames import packed as packed_table
from toporank.tables.frames import read, unpacked

# ---- what is predicted ---------------------------------------------------------------------------


def chain_graph(seed: int, names: list[str]) -> Data:
    """Residues 0 – 1 – 2 in contact in both directions, and one more without any contact."""
    graph = random_graph(seed, nodes=4, edges=4)
    graph.edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    graph.metadata["residues"] = names
    return graph


def test_the_quality_of_a_residue_is_the_mean_over_the_contacts_that_point_to_it(
    tmp_path,
):
    torch.manual_seed(3)
    architecture = Architecture(hidden=8, heads=2, layers=1, readout=8, local=True)
    network = DockQNet(5, 3, architecture).eval()
    graphs = {
        ("T", f"d{i}", ""): chain_graph(i, ["A:1", "A:2", "B:1", "B:2"])
        for i in range(3)
    }
    store = GraphStore.open([packed(tmp_path / "pack", graphs)])
    found = predict_all([OfTorch(network)], store)[0].residues.reshape(3, 4)
    for i in range(3):
        batch = store.batch([i])
        with torch.no_grad():
            edges = torch.sigmoid(network.predictions(batch).edge_logit)
        expected = [
            edges[batch.edge_index[1] == node].mean().item() for node in range(4)
        ]
        np.testing.assert_allclose(found[i], expected, atol=1e-6)
    assert np.isnan(found[:, 3]).all()
    assert found[:, :3].std() > 0


def test_an_ensemble_predicts_the_mean_of_its_members_that_predict_it(trained):
    pack, paths = trained
    store = GraphStore.open([pack])
    one, two = (
        predict_all([open_network(path)[0]], store)[0].residues for path in paths[:2]
    )
    graphs = PackedGraphs.open([pack])
    table = Networks(Scorer.of(paths[0], paths, mean=True)).predict(graphs).residues
    np.testing.assert_allclose(table["pred_network"], (one + two) / 2, atol=1e-4)
    assert (
        table.groupby(["target", "decoy"], sort=False).size().tolist()
        == store.n_nodes.tolist()
    )
    assert table["residue"][:3].tolist() == ["A:0", "A:1", "A:2"]


def test_a_scorer_without_local_quality_has_no_residues_nor_structure_files(
    trained, tmp_path
):
    pack, (*_, without) = trained
    predicted = Networks(Scorer.of(without)).predict(PackedGraphs.open([pack]))
    residues, contacts = with_quality(
        predicted.residues, predicted.contacts, {}, None, {}
    )
    table = residue_rows(residues)
    assert table.empty
    assert contact_rows(contacts, residues).empty
    write_models(tmp_path / "models", ranked(("T", "d0", 1)), {"T": table}, None)
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.parametrize(
    ("n_scored", "has_residues", "has_contacts", "why"),
    [
        (0, False, False, ""),
        (2, True, True, ""),
        (2, False, False, "the scorer does not predict the quality of residues"),
        (2, True, False, "contacts.csv is empty: the scorer looks at edges"),
    ],
)
def test_an_empty_table_has_a_reason(n_scored, has_residues, has_contacts, why):
    reason = why_no_quality(
        n_scored, has_residues=has_residues, has_contacts=has_contacts
    )
    assert reason[: len(why) or None] == why


def test_interfaces_have_no_residues_of_their_own(trained):
    pack, (first, *_) = trained
    networks = Networks(Scorer.of(first))
    both = networks.predict(PackedGraphs.open([pack, pack]))
    alone = networks.predict(PackedGraphs.open([pack]))
    assert len(both.scores) == 2 * len(alone.scores)
    pd.testing.assert_frame_equal(both.residues, alone.residues)


# ---- names of residues in packs ------------------------------------------------------------------


def named(*names: str, seed: int = 0) -> Data:
    graph = labelled(seed, nodes=4)
    graph.metadata = {**METADATA, "residues": list(names)}
    return graph


NAMES = ["A:52", "A:52A", "A:-3", "x:y:1"]


def test_a_pack_names_the_residues_of_its_graphs(tmp_path):
    table = members(
        tmp_path / "graphs",
        {("T", "d0", ""): named(*NAMES), ("T", "d1", ""): named(*"abcd")},
    )
    write_pack(tmp_path / "pack", table[:1])
    first = GraphStore.open([tmp_path / "pack"]).names(0)
    write_pack(tmp_path / "pack", table)  # the first is copied
    store = GraphStore.open([tmp_path / "pack"])
    assert (first, store.names(0)) == (NAMES, NAMES)
    assert store.names(1) == [*"abcd"]


def test_a_pack_that_names_too_few_residues_is_refused(tmp_path):
    write_pack(
        tmp_path / "pack",
        members(tmp_path / "graphs", {("T", "d0", ""): named(*NAMES)}),
    )
    store = dataclasses.replace(
        GraphStore.open([tmp_path / "pack"]), residues=np.array(["A:52"], dtype=object)
    )
    with pytest.raises(GraphError, match="names 1 residues of T/d0, which has 4 nodes"):
        store.names(0)


def ranked(*rows: tuple[str, str, int]) -> pd.DataFrame:
    """As much of a table of models as `leading` looks at."""
    return pd.DataFrame(rows, columns=["target", "decoy", "rank"]).assign(dockq=0.5)


# ---- the table -----------------------------------------------------------------------------------


def table_of(
    target: str, decoy: str, quality: dict[str, float | None], **known: object
) -> pd.DataFrame:
    table = pd.DataFrame(
        {"residue": list(quality), "pred_network": list(quality.values())}
    )
    known = {
        "agreement": None,
        "residue_name": "",
        "pred_quality": table["pred_network"],
        **known,
    }
    return residue_rows(table.assign(target=target, decoy=decoy, **known))


def test_the_table_has_a_row_for_each_residue_as_the_structure_numbers_it(tmp_path):
    path = tmp_path / "residues.csv"
    quality = {"A:52": 0.9, "A:52A": 0.25, "A:-3": 0.5, "x:y:-1B": None}
    other = table_of(
        "T", "d1", {"B:1": 0.1}, agreement=0.75, residue_name="SER", pred_quality=0.425
    )
    table = pd.concat([table_of("T", "=d0", quality), other], ignore_index=True)
    tables.write(RESIDUES, table, path)
    assert path.read_text().splitlines() == [
        "target,decoy,chain,residue,pred_quality,pred_network,agreement,residue_name",
        "T,'=d0,A,52,0.9,0.9,,",  # no formula
        "T,'=d0,A,52A,0.25,0.25,,",
        "T,'=d0,A,-3,0.5,0.5,,",
        "T,'=d0,x:y,'-1B,,,,",
        "T,d1,B,1,0.425,0.1,0.75,SER",
    ]
    found = read(RESIDUES, path)
    pd.testing.assert_frame_equal(found, table)
    pd.testing.assert_frame_equal(unpacked(packed_table(table)), table)
    rows = of_models(found, [("T", "=d0"), ("T", "d2")])["T", "=d0"]
    assert rows["residue"].tolist() == ["52", "52A", "-3", "-1B"]
    assert rows["chain"].tolist() == ["A", "A", "A", "x:y"]
    assert rows["pred_quality"][:3].tolist() == [0.9, 0.25, 0.5]
    assert rows[["pred_quality", "agreement"]].iloc[3].isna().all()
    assert of_models(found, [("T", "d2")]) == {}


def test_a_table_without_the_newer_columns_is_read(tmp_path):
    (tmp_path / "residues.csv").write_text(
        "target,decoy,chain,residue,pred_quality\nT,d,NA,52A,0.25\n"
    )
    rows = read(RESIDUES, tmp_path / "residues.csv")
    assert rows.iloc[0, :5].tolist() == ["T", "d", "NA", "52A", 0.25]


def test_the_first_of_each_of_the_first_three_ranks_is_shown():
    rows = [
        ("T", name, rank, 0.5)
        for rank, name in zip((1, 1, 2, 3, 4), "axbcd", strict=True)
    ]
    table = pd.DataFrame(
        [*rows, ("T", "e", None, None)], columns=["target", "decoy", "rank", "dockq"]
    )
    assert leading(table)["decoy"].tolist() == ["a", "b", "c"]


# ---- contacts ------------------------------------------------------------------------------------

TOUCH = (
    "contact",
    "nearest_atoms",
    "salt_bridges",
    "hydrogen_bonds",
    "apolar_contacts",
)
"""Edge columns of the graphs below."""


def touching(
    seed: int,
    edges: dict[tuple[int, int], tuple[float, ...]],
    scaling: str = "training_set",
) -> Data:
    """Four residues with edges in both directions, and the columns of each."""
    graph = random_graph(seed, nodes=4, edges=2 * len(edges))
    graph.edge_index = torch.tensor(
        [[*ends] for pair in edges for ends in (pair, pair[::-1])]
    ).T
    graph.edge_attr = torch.tensor(
        [values for values in edges.values() for _ in range(2)]
    )
    features = {
        **METADATA["features"],
        "edges": {"module": "edges/contacts/v1", "scaling": scaling},
    }
    graph.metadata = {
        **METADATA,
        "features": features,
        "edge_columns": [*TOUCH],
        "residues": ["A:1", "A:2A", "B:1", "B:2"],
    }
    return graph


EDGES = {
    (0, 2): (1.0, 2.75, 1.0, 2.0, 3.0),  # all at once: a salt bridge
    (0, 3): (1.0, 3.0, 0.0, 1.0, 1.0),
    (1, 2): (1.0, 4.0, 0.0, 0.0, 1.0),
    (1, 3): (1.0, 2.875, 0.0, 0.0, 1.0),  # too near for carbons
    (2, 3): (0.0, 7.0, 0.0, 0.0, 0.0),  # not in contact
}


def contacts_in(pack: Path) -> tuple[GraphStore, np.ndarray, pd.DataFrame]:
    """What a store has, what a network says of its edges in contact, and the contacts."""
    torch.manual_seed(5)
    network = DockQNet(
        5, 5, Architecture(hidden=8, heads=2, layers=1, readout=8, local=True)
    ).eval()
    store = GraphStore.open([pack])
    predicted = predict_all([OfTorch(network)], store)
    graphs = PackedGraphs.open([pack])
    contacts = contact_table(graphs, predicted, residue_table(graphs, predicted))
    return store, predicted[0].contacts, contacts


def test_a_contact_has_the_mean_of_its_two_directions_its_nearest_atoms_and_a_type(
    tmp_path,
):
    pack = packed(
        tmp_path / "pack", {("T", f"d{i}", ""): touching(i, EDGES) for i in range(2)}
    )
    store, predicted, table = contacts_in(pack)
    for i in range(2):
        contacts = table[table["decoy"] == f"d{i}"]
        assert contacts[["first", "second", "distance", "type"]].values.tolist() == [
            ["A:1", "B:1", 2.75, "salt bridge"],
            ["A:1", "B:2", 3.0, "hydrogen bond"],
            ["A:2A", "B:1", 4.0, "apolar"],
            ["A:2A", "B:2", 2.875, "other"],
        ]
        batch = store.batch([i])
        ends = batch.edge_index[:, batch.edge_attr[:, 0] > 0].T.tolist()
        quality = dict(zip(map(tuple, ends), predicted[8 * i : 8 * i + 8], strict=True))
        expected = [(quality[a, b] + quality[b, a]) / 2 for a, b in [*EDGES][:4]]
        np.testing.assert_allclose(contacts["pred_network"], expected, atol=1e-6)


def test_edges_that_do_not_say_how_near_atoms_are_give_no_contacts(tmp_path):
    graph = touching(0, EDGES, "per_decoy")
    assert contacts_in(packed(tmp_path / "pack", {("T", "d", ""): graph}))[2].empty


def test_a_contact_has_the_names_of_its_residues_and_no_name_becomes_a_formula(
    tmp_path,
):
    names = {"A:1": "ALA", "A:2": "GLY", "B:1": "SER", "B:-2A": ""}
    residues = pd.DataFrame(
        {"residue": list(names), "residue_name": list(names.values())}
    )
    residues = residues.assign(target="=T", decoy="a")
    contacts = pd.DataFrame({
        "first": ["A:1", "A:2"], "second": ["B:1", "B:-2A"], "distance": np.float32([3.4, 3.456]),
        "type": ["salt bridge", "other"], "pred_quality": [0.75, 0.125],
        "pred_network": [0.5, 0.25], "agreement": [1.0, np.nan],
    })  # fmt: skip
    table = contact_rows(contacts.assign(target="=T", decoy="a"), residues)
    tables.write(CONTACTS, table, tmp_path / "contacts.csv")
    assert (tmp_path / "contacts.csv").read_text().splitlines()[1:] == [
        "'=T,a,A,1,ALA,B,1,SER,3.4,salt bridge,0.75,0.5,1.0",
        "'=T,a,A,2,GLY,B,'-2A,,3.46,other,0.125,0.25,",
    ]
    assert table["target"].tolist() == ["=T", "=T"]
    assert table["residue_2"].tolist() == ["1", "-2A"]


# ---- structure files -----------------------------------------------------------------------------

COMPLEX = complex_of(
    [
        *alanine("A", 52, 0.0),
        *alanine("A", 52, 4.0, insertion_code="A"),
        *alanine("A", -3, 8.0),
        *alanine("long", 7, 3.0, 5.0),
        *alanine("long", 8, 30.0, 5.0),
    ]
)


def atoms_of(key: tuple[str, str]) -> Complex:
    """Of each decoy the same."""
    return COMPLEX


def b_factors(path: Path) -> dict[str, set[float]]:
    """Chain and residue → B-factors of its atoms."""
    (model,) = gemmi.read_structure(str(path))
    return {
        f"{chain.name}:{residue.seqid}": {atom.b_iso for atom in residue}
        for chain in model
        for residue in chain
    }


def test_b_factors_are_the_quality_in_per_cent_and_zero_outside_the_interface(tmp_path):
    quality = {"A:52": 0.9, "A:52A": 0.2534, "A:-3": 0.0, "long:7": None}
    lines = {"T": table_of("T", "d0", quality)}
    write_models(tmp_path / "models", ranked(("T", "d0", 1)), lines, atoms_of)
    path = tmp_path / "models/T/1_d0.cif"
    found = b_factors(path)
    expected = {
        "A:52": 90.0,
        "A:52A": 25.34,
        "A:-3": 0.01,
        "long:7": 0.0,
        "long:8": 0.0,
    }
    assert {name: round(value, 4) for name, (value,) in found.items()} == expected
    (model,) = gemmi.read_structure(str(path))
    atoms = [atom for chain in model for residue in chain for atom in residue]
    assert [atom.name for atom in atoms] == [
        name.decode() for name in COMPLEX.atom_names
    ]
    assert all(atom.element.name == atom.name[0] for atom in atoms)
    np.testing.assert_allclose(
        [atom.pos.tolist() for atom in atoms], COMPLEX.xyz, atol=1e-9
    )
    assert (
        gemmi.cif.read(str(path)).sole_block().find_value("_struct.title")
        == f"'{QUALITY}'"
    )


def test_the_first_three_of_each_target_become_files_and_of_many_targets_the_first(
    tmp_path,
):
    def files(n_targets: int) -> list[str]:
        targets = [f"T{i}" for i in range(n_targets)]
        table = ranked(
            *((target, f"d{rank}", rank) for target in targets for rank in (1, 2, 3, 4))
        )
        lines = {
            target: pd.concat(
                table_of(target, f"d{i}", {"A:52": 0.5}) for i in range(5)
            )
            for target in targets
        }
        write_models(tmp_path / "models", table, lines, atoms_of)
        return sorted(
            str(path.relative_to(tmp_path / "models"))
            for path in (tmp_path / "models").rglob("*.cif")
        )

    assert files(MANY) == sorted(f"T{i}/1_d1.cif" for i in range(MANY))
    assert files(1) == [
        "T0/1_d1.cif",
        "T0/2_d2.cif",
        "T0/3_d3.cif",
    ]  # and what was there before is gone


def test_a_file_that_was_made_of_the_same_result_stays(tmp_path):
    table = ranked(("T", "d0", 1))
    lines = {"T": table_of("T", "d0", {"A:52": 0.5})}
    path = tmp_path / "T/1_d0.cif"

    def written(digest: str) -> int:
        """Inode of the file: another one where it was written again."""
        write_models(tmp_path, table, lines, atoms_of, {"T": digest})
        return path.stat().st_ino

    first = written("digest")
    whole = path.read_text()
    gemmi.read_structure(str(path))
    assert written("digest") == first
    assert written("other digest") != first
    path.write_text(whole[:-9])  # damaged
    written("digest")
    assert path.read_text() == whole
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone/1_d.cif").write_text("of a target that is not there any more")
    written("digest")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["T"]


@pytest.mark.parametrize(
    ("atom", "residue", "element"),
    [
        ("CA", "CA", "Ca"),
        ("CL1", "LIG", "Cl"),
        ("C1'", "LIG", "C"),
        ("FE", "HEM", "Fe"),
        ("O", "HOH", "O"),
    ],
)
def test_ligands_keep_their_elements(tmp_path, atom, residue, element):
    ligand = Atom(atom, residue, "L", 1, 20.0, 0.0, 0.0, het=True, element=element)
    complex_ = read_complex(write(tmp_path / "d.pdb", pdb([*pair(), ligand])))
    model = gemmi.make_structure_from_block(
        gemmi.cif.read_string(mmcif(complex_, np.zeros(3)))[0]
    )[0]
    assert model["L"][0][0].element.name == element
    assert model["A"][0]["CA"][0].element.name == "C"
