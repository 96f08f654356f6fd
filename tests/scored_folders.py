"""Small folders as `toporank score` writes them, made of tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from toporank import layout
from toporank.app.commands.shown import study_of
from toporank.building.chunks.ledger import Ledger, LedgerRow, write_ledger
from toporank.building.chunks.plan import Current
from toporank.building.coverage import CoverageRow, write_coverage
from toporank.comparing.homology.chain_tables import Chain, write_chains
from toporank.files.atomic import write_text
from toporank.inputs.confidence.table import Confidence, write_confidence
from toporank.layout import repository
from toporank.ranking.interfaces import InterfaceRow, write_interfaces
from toporank.ranking.leakage import LeakageRow, write_leakage
from toporank.ranking.ranked import ranking, write_model_pred_dockq, write_ranking
from toporank.ranking.residues import contact_lines, residue_lines, write_contact_lines, write_residue_lines
from toporank.report.targets import targets_text
from toporank.scorer.embeddings import write_embeddings
from toporank.scorer.prediction import CONTACTS, Estimate, ResidueScore, Score
from toporank.scorer.record import ScoredWith, write_record
from toporank.scorer.scorer import Scorer
from toporank.structures.identity import Status

SCORER = Scorer.open(repository() / layout.SHIPPED_SCORER)
RECORD = ScoredWith.of(SCORER, rank_by="complex", use_confidence=True)
LOST = None
"""In the place of a score: the model cannot be read."""
PROTEINS = {
    "left": "TPQVPLRPMTYKAAVDLSHFLKEKGGLEGLIHSQRRQDILDLWIYHTQGYFPDWQNYTPGPGVRYPLTFGWCYKLVPVEVLEWRFDSRLAFHH",
    "right": "TLFVALYDYEARTEDDLSFHKGEKFQILNSSEGDWWEARSLTTGETGYIPSNYVAPV",
    "other": "IVGGYTCGANTVPYQVSLNSGYHFCGGSLINSQWVVSAAHCYKSGIQVRLGEDNINVVEGNEQFISASKSIVHPSYNSNTLNNDIMLIKLKSAASL",
}
RECIPES = {stage: ["code", "{}"] for stage in layout.STAGES}


def write_answer(
    root: Path,
    models: Mapping[str, Mapping[str, float | None]],
    *,
    name: str = "part",
    width: float = 0.1,
    record: ScoredWith | None = RECORD,
    chains: Mapping[str, tuple[str, ...]] | None = None,
    contents: Mapping[str, str] | None = None,
    domain: tuple[str, ...] = (),
    predictor: str = "",
    recipes: Mapping[str, list[str]] = RECIPES,
    interface: str = "A:B",
) -> Path:
    """A folder with these scores by target and model; `LOST` for a model without.

    width : of intervals, to either side. chains : proteins of targets, two of them by default. contents : digests of
    atoms by `target/model`; the name by default. domain : targets whose models are out of domain. predictor : that
    speaks of all models, if any.
    """
    keys = [(target, model) for target in models for model in models[target]]
    read = [key for key in keys if models[key[0]][key[1]] is not LOST]
    coverage = sorted(_covered(root, key, key in read) for key in keys)
    scores = [_score(key, models[key[0]][key[1]]) for key in sorted(read)]
    meetings = [InterfaceRow(*key, interface, 20, 40, 4.0, None, None, "", Status.OK) for key in sorted(read)]
    estimates = {s[:2]: _estimate(s, width, "unlike" if s.target in domain else "") for s in scores}
    table = ranking(coverage, scores, meetings, estimates=estimates)

    def path(pattern: str) -> Path:
        return root / pattern.format(dataset=name)

    write_coverage(path(layout.COVERAGE), coverage)
    write_ranking(path(layout.RANKING), table)
    write_model_pred_dockq(path(layout.MODEL_PRED_DOCKQ), table)
    write_interfaces(path(layout.SCORED_INTERFACES), meetings)
    write_leakage(path(layout.LEAKAGE), [LeakageRow(target, "no", "", 0.0, "new") for target in sorted(models)])
    said = [Confidence(*key, predictor, iptm=0.8, status="ok") for key in sorted(keys)] if predictor else []
    write_confidence(path(layout.CONFIDENCE), said)
    write_embeddings(path(layout.EMBEDDINGS), {score[:2]: np.array(score.pooled) for score in scores})
    write_residue_lines(path(layout.RESIDUES), map(residue_lines, scores))
    write_contact_lines(path(layout.CONTACTS), map(contact_lines, scores))
    sequences = {target: (chains or {}).get(target, ("left", "right")) for target in sorted(models)}
    rows = [Chain(t, "m", "", "AB"[i], "protein", PROTEINS[p]) for t, of in sequences.items() for i, p in enumerate(of)]
    write_chains(path(layout.CHAINS), rows)
    if record:
        write_record(path(layout.SCORED_WITH), record)
    for row in table:
        if row.rank == 1:
            write_text(path(layout.MODELS) / row.target / f"1_{row.decoy}.cif", "data_shown\n")
    chunk = f"001-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    fates = [_fate(key, (contents or {}).get("/".join(key), "/".join(key))) for key in sorted(read)]
    write_ledger(root / layout.LEDGER.format(dataset=name, chunk=chunk), Ledger(dict(recipes), fates))
    write_text(path(layout.CURRENT), json.dumps(Current(("", ""), [chunk], [chunk])._asdict()))
    write_text(root / layout.SETTINGS, json.dumps({"score_decoys": "x", "score_name": name}))
    write_text(path(layout.TARGETS), targets_text(study_of(root, name)))
    return root


def _covered(root: Path, key: tuple[str, str], read: bool) -> CoverageRow:
    status, stage, why = (Status.OK, "graphs", "") if read else (Status.UNREADABLE, "read", "it is empty")
    return CoverageRow(*key, status, stage, why, None, "", 2, 20, f"{root}/models/{key[0]}/{key[1]}.pdb")


def _score(key: tuple[str, str], value: float) -> Score:
    residues = (ResidueScore("A:-5", value, pred_quality=value), ResidueScore("B:52A", value, pred_quality=value))
    contacts = np.array([(0, 1, 4.5, 0, value, np.nan, value)], CONTACTS).tobytes()
    known = {"residues": residues, "contacts": contacts, "pred_network": value}
    return Score(*key, value, 0.01, pooled=(value, 1.0, 0.5), **known)


def _estimate(score: Score, width: float, domain: str) -> Estimate:
    low, high = max(score.pred_dockq - width, 0.0), min(score.pred_dockq + width, 1.0)
    return Estimate(low, high, domain, score.pred_dockq, score.pred_dockq)


def _fate(key: tuple[str, str], content: str) -> LedgerRow:
    return LedgerRow(*key, Status.OK, "graphs", atoms_sha256=content)
