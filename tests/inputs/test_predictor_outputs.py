"""Files as structure predictors and docking programs write them, untouched, from the file to the
graph.

They are not part of the repository; small files of the same shape are in `_cases.py`.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from test_input_matrix import build

from building import published_graph
from structures_text import Atom, mmcif, write
from toporank.structures.identity import Status, split_suffix
from toporank.structures.read import read_complex


@pytest.fixture(
    params=[
        "af2multimer",
        "boltz_multichain",
        "boltz_pdl1",
        "chai1",
        "colabfold_homodimer",
        "colabfold_pdl1",
        "haddock3",
    ]
)
def output(request, predictor_outputs) -> Path:
    (path,) = (
        p for p in predictor_outputs.glob(f"{request.param}*") if split_suffix(p.name)
    )
    return path


def plain_interface(complex_) -> list[str]:
    """Residues with a CA within 10 Å of a CA of another chain, by every pair."""
    residues = np.flatnonzero(complex_.ca >= 0)
    xyz, chain = (
        complex_.xyz[complex_.ca[residues]],
        np.array([complex_.residues[r].chain for r in residues]),
    )
    near = np.linalg.norm(xyz[:, None] - xyz, axis=-1) < 10
    near[chain[:, None] == chain] = False
    return [
        str(r) for r in sorted(complex_.residues[r] for r in residues[near.any(axis=1)])
    ]


def test_an_untouched_output_becomes_a_graph_of_its_whole_interface(output, tmp_path):
    row, path = build(output, tmp_path)
    complex_ = read_complex(output)
    assert row.status == Status.OK
    assert row.reason == ("1 NEP read as HIS" if "haddock3" in output.name else "")
    graph = published_graph(path)
    assert graph.metadata["residues"] == plain_interface(complex_)
    assert np.isfinite(graph.x).all()
    assert np.isfinite(graph.edge_attr).all()


def test_written_anew_as_plain_mmcif_it_is_the_same_complex(output, tmp_path):
    complex_ = read_complex(output)
    atoms = [
        Atom(
            name.decode(),
            complex_.names[r],
            *complex_.residues[r][:2],
            *xyz,
            complex_.residues[r].insertion_code,
        )
        for name, r, xyz in zip(
            complex_.atom_names, complex_.residue_of, complex_.xyz.tolist(), strict=True
        )
    ]
    anew = read_complex(write(tmp_path / "d.cif.gz", mmcif(atoms)))
    for field in (f for f in fields(complex_) if f.name != "labels"):
        np.testing.assert_array_equal(
            getattr(anew, field.name), getattr(complex_, field.name), err_msg=field.name
        )
