"""Whole feature configurations by name: `features: NAME` in place of modules and parameters."""

from __future__ import annotations

from typing import Any

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "topoqa_compat": {
        "interface": {
            "module": "interface/ca_cutoff/v1",
            "cutoff": 10.0,
            "residues": "atom_records",
        },
        "topology": {
            "module": "topology/persistence/v1",
            "radius": 8.0,
            "element_sets": ["C", "N", "O", "CN", "CO", "NO", "CNO"],
            "h0_max_death": 8.0,
            "min_persistence": 0.01,
            "atoms": "all",
            "precision": "float32",
            "engine": "compiled",
        },
        "nodes": {
            "module": "nodes/dssp_topology/v1",
            "scaling": "per_decoy",
            "modified": "lost",
            "orientation": "file",
            "dssp": "mkdssp",
        },
        "edges": {
            "module": "edges/legacy_v11",
            "cutoff": 10.0,
            "bins": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
            "coordinates": "xyy",
            "scaling": "per_decoy",
        },
    },
}
"""Complete records, so that a preset stays what it is when a default changes.

topoqa_compat : the published pipeline (Han et al. 2025) with its faults; what scores with published
weights.
"""
