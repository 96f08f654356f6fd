"""The features equal those of the published implementation, on decoys it was run on.

Its topology was computed with all atoms and in single precision; its histogram is the one with the third
coordinate put right (`edge_attr_z`). Accessibility and states came from mkdssp; our own may be 1 Å² and 0.1° off.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dssp_agreement import needs_mkdssp
from toporank.features.nodes import MAX_ACCESSIBILITY
from toporank.features.registry import choose, resolve
from toporank.structures.read import read_complex

SMALL = [
    "1A2K_trimer_model", "1AHW_bound", "1AY7_bound", "1BUH_bound", "1DFJ_bound", "1E6E_unbound", "1GLA_unbound",
    "1NW9_cluspro", "1PPE_bound", "1VFB_bound", "2SIC_bound", "2SIC_patchdock", "6AL0_af2_0", "dips_2aqp_attract",
    "dockq_model",
]  # fmt: skip
LARGE = [pytest.param("1N2C_bound", marks=pytest.mark.slow)]

pytestmark = needs_mkdssp


def test_all_decoys_of_the_reference_are_compared(reference_dir: Path):
    files = {path.name.removesuffix(".pdb.gz") for path in (reference_dir / "topoqa" / "pdb").iterdir()}
    assert files == {*SMALL, "1N2C_bound"}


@pytest.mark.parametrize("name", [*SMALL, *LARGE])
def test_features_equal_the_published_ones(name: str, reference_dir: Path):
    published = np.load(reference_dir / "topoqa" / "npz" / f"{name}.npz")
    complex_ = read_complex(reference_dir / "topoqa" / "pdb" / f"{name}.pdb.gz")
    given = {"scaling": "per_decoy", "orientation": "file"}
    compute = resolve(
        {
            "interface": {},
            "topology": {"atoms": "all", "precision": "float32"},
            "nodes": {**given, "dssp": "mkdssp"},
            "edges": {"module": "legacy", "scaling": "per_decoy"},
        }
    )

    residues = compute["interface"](complex_).index
    np.testing.assert_array_equal(complex_.xyz[complex_.ca[residues]], published["ca"])

    topology = compute["topology"](complex_, residues)
    np.testing.assert_allclose(topology, published["topo_raw"], rtol=0, atol=1e-9)

    nodes = compute["nodes"](complex_, residues, topology)
    assert not any(nodes.lost)
    np.testing.assert_allclose(nodes.values, published["x"], rtol=0, atol=1e-6)

    ours = choose("nodes", given)(complex_, residues, topology)
    assert ours.lost == nodes.lost
    one_square = 1 / min(MAX_ACCESSIBILITY.values())
    np.testing.assert_allclose(ours.values[:, 0], published["x"][:, 0], rtol=0, atol=one_square)
    np.testing.assert_allclose(ours.values[:, 1:], published["x"][:, 1:], rtol=0, atol=0.1 / 360)

    edges = compute["edges"](complex_, residues)
    np.testing.assert_array_equal(edges.index, published["edge_index"])
    np.testing.assert_allclose(edges.attributes, published["edge_attr_z"], rtol=0, atol=1e-7)
