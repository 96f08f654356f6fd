"""pLDDT where predictors put it, in the column of B-factors; only where that is what the column holds.

It takes more than fitting numbers: the mmCIF file declares a metric pLDDT, files of a predictor lie beside the model,
or its name is one that only a predictor gives. Never of a file that names an experiment, a crystal's cell or HADDOCK.
"""

from __future__ import annotations

import re

import numpy as np

from toporank.decoys.identity import ResidueId
from toporank.structures.read import parse_mmcif, parse_pdb

NO_PREDICTION = re.compile(r"^(EXPDTA(?!.*THEORETICAL)|REMARK   2 RESOLUTION\.\s+\d|REMARK.*HADDOCK)", re.MULTILINE)
"""Lines of a PDB file that no model of a predictor has."""


def plddt_of_residues(text: str, file_format: str, *, of_predictor: bool, named: bool) -> dict[ResidueId, float]:
    """pLDDT of each residue, 0 to 100, mean over its atoms; empty if the B-factors are something else.

    text : of a structure file that can be read. of_predictor : whether a predictor's files lie beside it. named :
    whether its name is one that only a predictor gives; it then takes one value for all atoms of a residue, too.
    """
    if file_format == "pdb":
        if NO_PREDICTION.search(text):
            return {}
        (structure, _), declared = parse_pdb(text), False
    else:
        block, structure, _ = parse_mmcif(text)
        declared = "plddt" in " ".join([*block.find_values("_ma_qa_metric.name")]).lower()
        if any(method[:1] not in ".?" for method in block.find_values("_exptl.method")):
            return {}
    if structure.cell.is_crystal() or not (declared or of_predictor or named):
        return {}
    residues = [(chain.name, residue) for chain in structure[0] for residue in chain]
    values = [np.array([atom.b_iso for atom in residue]) for _, residue in residues]
    everything = np.concatenate(values)
    if not (everything.min() >= 0 and everything.min() < everything.max() <= 100):
        return {}
    if not (declared or of_predictor) and any(np.ptp(of_atoms) > 0 for of_atoms in values):
        return {}
    scale = 100.0 if everything.max() <= 1 else 1.0
    places = (ResidueId(chain, residue.seqid.num, residue.seqid.icode.strip()) for chain, residue in residues)
    return {place: scale * float(of_atoms.mean()) for place, of_atoms in zip(places, values, strict=True)}
