"""Folders as `toporank score` writes them, made of tables; with real files where a page shows
structures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from toporank import layout
from toporank.building.coverage import CoverageRow
from toporank.comparing.homology.chain_tables import ChainRow, write_chains
from toporank.confidence.table import Confidence
from toporank.files.atomic import write_text
from toporank.layout import repository
from toporank.ranking.interfaces import InterfaceRow
from toporank.ranking.leakage import LeakageRow
from toporank.ranking.model_table import score_record
from toporank.ranking.residues import contact_rows, residue_rows
from toporank.ranking.score import ScoringOptions
from toporank.ranking.scored import ScoredTargets
from toporank.ranking.scored_folder import ScoredFolder
from toporank.ranking.target_result import TargetResult
from toporank.scorer.prediction import Score
from toporank.scorer.scorer import ScoredWith, Scorer, write_record
from toporank.structures.identity import Status

SCORER = Scorer.open(repository() / layout.SHIPPED_SCORER)
RECORD = ScoredWith.of(SCORER, rank_by="complex", use_confidence=True)
EXAMPLE = repository() / "resources/example/decoys/1AVZ"
LOST = None
"""In the place of a score: the model cannot be read."""
UNLIKE = "9 chains; its interface is 7.1 away from all in training (usual: up to 6.2)"
"""Two reasons, which are one caveat."""
PROTEINS = {
    "left": (
        "TPQVPLRPMTYKAAVDLSHFLKEKGGLEGLIHSQRRQDILDLWIYHTQGYFPDWQNYTPGPGVRYPLTFGWCYKLVPVEVLEWRFDSRLAFHH"
    ),
    "right": "TLFVALYDYEARTEDDLSFHKGEKFQILNSSEGDWWEARSLTTGETGYIPSNYVAPV",
    "other": (
        "IVGGYTCGANTVPYQVSLNSGYHFCGGSLINSQWVVSAAHCYKSGIQVRLGEDNINVVEGNEQFISASKSIVHPSYNSNTLNNDIMLIKLKSAASL"
    ),
}


def write_answer(
    root: Path,
    models: Mapping[str, Mapping[str, float | None]],
    *,
    name: str = "part",
    width: float | None = 0.1,
    record: ScoredWith | None = RECORD,
    chains: Mapping[str, tuple[str, ...]] | None = None,
    domain: Iterable[str] = (),
    confidence: Iterable[Confidence] = (),
    files: Mapping[str, Path] | None = None,
    copies: Mapping[str, str] | None = None,
    interfaces: Iterable[InterfaceRow] = (),
    learned: Iterable[str] = (),
) -> Path:
    """A folder with these scores by target and model; `LOST` for a model without.

    width : of intervals, to either side; None without a calibration. chains : proteins of targets,
    two of them by default. domain : targets whose models are out of domain. confidence : of models.
    files : of models by name. copies : model → the one that it is a copy of. interfaces : of models,
    in place of one of each. learned : targets of the training.
    """
    results = []
    for target, scores in sorted(models.items()):
        result = TargetResult(
            target, confidence=[row for row in confidence if row.target == target]
        )
        proteins = (chains or {}).get(target, ("left", "right"))
        for letter, protein in zip("ABCD", proteins, strict=False):
            result.chains.append(
                ChainRow(target, "m", "", letter, "protein", PROTEINS[protein])
            )
        for decoy, value in sorted(scores.items()):
            path = (files or {}).get(decoy, root / f"models/{target}/{decoy}.pdb")
            _add(
                result,
                decoy,
                value,
                str(path),
                (copies or {}).get(decoy, ""),
                width,
                target in domain,
            )
        rows = [row for row in interfaces if row.target == target]
        result.interfaces = rows or result.interfaces
        results.append(result)
    scored = ScoredTargets(
        name=name,
        target_results=results,
        plan=[],
        scorer=SCORER,
        options=ScoringOptions(),
        store=None,
    )
    scored.leakage = []
    for target in sorted(models):
        row = LeakageRow(target, "no", "1ABC", 0.1, "new")
        if target in learned:
            row = LeakageRow(target, "yes", target, 1.0, "it is a training target")
        scored.leakage.append(row)
    scored.write_tables(root, of_graphs=True)
    write_chains(root / layout.CHAINS.format(dataset=name), scored.rows("chains"))
    file = root / layout.SCORED_WITH.format(dataset=name)
    file.unlink() if record is None else write_record(file, record)
    write_text(
        root / layout.SETTINGS, f'{{"score_decoys": "x", "score_name": "{name}"}}'
    )
    return root


def open_folder(root: Path, name: str = "part") -> ScoredFolder:
    """The folder that `write_answer` wrote."""
    return ScoredFolder(root / "results/scores" / name, SCORER)


def real_answer(
    root: Path, targets: Iterable[str] = ("1AVZ",), **options: object
) -> Path:
    """The same four real models of each target, of which mid2 is said to be a copy of mid1."""
    names = {
        "near1": "near1.pdb.gz",
        "mid1": "mid1.cif.gz",
        "mid2": "mid2.pdb.gz",
        "far1": "far1.pdb",
    }
    files = {model: EXAMPLE / file for model, file in names.items()}
    scores = {"near1": 0.85, "mid1": 0.5, "mid2": 0.5, "far1": 0.1}
    options.setdefault("files", files)
    return write_answer(
        root, dict.fromkeys(targets, scores), copies={"mid2": "mid1"}, **options
    )


def _add(
    result: TargetResult,
    decoy: str,
    value: float | None,
    path: str,
    copy_of: str,
    width: float | None,
    unlike: bool,
) -> None:
    key = result.target, decoy
    if value is LOST:
        result.coverage.append(
            CoverageRow(
                *key,
                Status.UNREADABLE,
                "read",
                "it is empty",
                None,
                "",
                None,
                None,
                path,
            )
        )
        return
    result.coverage.append(
        CoverageRow(*key, Status.OK, "graphs", "", None, "", 2, 20, path, copy_of)
    )
    result.interfaces.append(
        InterfaceRow(*key, "A:B", 20, 40, 4.0, value, None, Status.OK, "A:B")
    )
    score = Score(*key, value, 0.01, pooled=(value, 1.0, 0.5))
    record = score_record(score)
    quality = {"pred_network": value, "agreement": np.nan, "pred_quality": value}
    residues = pd.DataFrame(
        {"residue": ["A:83", "B:93"], "residue_name": ["TYR", "GLU"]}
    )
    residues = residues.assign(target=key[0], decoy=decoy, **quality)
    contact = {
        "first": "A:83",
        "second": "B:93",
        "distance": 4.5,
        "type": "salt bridge",
    }
    contacts = pd.DataFrame([{"target": key[0], "decoy": decoy, **contact, **quality}])
    if width is not None:
        bounds = {
            "dockq_low": max(value - width, 0.0),
            "dockq_high": min(value + width, 1.0),
        }
        record.update(
            dockq=value,
            p_acceptable=value,
            confidence=value,
            out_of_domain=UNLIKE if unlike else "",
            **bounds,
        )
    result.scores.append(record)
    result.vectors[decoy] = [*score.pooled]
    result.residues = pd.concat([result.residues, residue_rows(residues)])
    result.contacts = pd.concat([result.contacts, contact_rows(contacts, residues)])
