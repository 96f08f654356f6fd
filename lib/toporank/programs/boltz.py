"""Boltz-1, Boltz-2 and their service."""

from __future__ import annotations

import re

from toporank.errors import ConfidenceError
from toporank.programs.formats import (
    pae_matrix,
    scores_of_json,
    table_in,
    token_plddt,
    values_of,
)
from toporank.programs.program import (
    PredictorOutput,
    Program,
    SideFileNames,
    SideFiles,
)
from toporank.programs.values import WRONG_FILE, Values


def service(files: SideFiles, output: PredictorOutput) -> None:
    """Read `metrics.json` of the service: the numbers of all samples of a job."""
    if not files.scores or "sample" not in files.names:
        return
    metrics = _of_sample(values_of(files.scores), int(files.names["sample"]))
    if not metrics:
        raise ConfidenceError(
            f"{files.scores.name} has no sample {files.names['sample']}",
            remedy=WRONG_FILE,
        )
    output.put_numbers(
        metrics, ptm="ptm", iptm="iptm", ranking_score="structure_confidence"
    )


def _of_sample(values: Values, sample: int) -> Values:
    """The metrics of a sample, which the service writes in three ways; empty where it has none."""
    results = values.get("all_sample_results")
    if not isinstance(results, list):
        results = [values.get("best_sample")]
    for result in results:
        if isinstance(result, dict) and result.get("sample") == sample:
            metrics = table_in(result, "metrics")
            if metrics:
                return metrics
    return table_in(table_in(values, "sample_results"), f"sample_{sample}")


BOLTZ = Program(
    name="Boltz",
    model=re.compile(
        r"(?:.*/)?(?:predictions/(?P<boltz>[^/]+)/(?P=boltz)_model_\d+"
        r"|sample_\d+_predicted_structure)"
    ),
    files=(
        SideFileNames(
            model=re.compile(r"(?P<model>.+_model_\d+)"),
            scores=("confidence_{model}.json",),
            pae=("pae_{model}.npz",),
            plddt=("plddt_{model}.npz",),
        ),
        SideFileNames(  # of its service
            model=re.compile(r"sample_(?P<sample>\d+)_predicted_structure"),
            scores=("metrics.json",),
            pae=("sample_{sample}_pae.npz",),
            plddt=("sample_{sample}_plddt.npz",),
        ),
    ),
    readers=(
        scores_of_json("confidence_score", "pair_chains_iptm"),
        service,
        pae_matrix("pae"),
        token_plddt,
    ),
    called="boltz",
    writes="predictions",
    given="processed|msas?",
    # a job `fold_x` of AlphaFold Server
    named_like=True,
    shifts_plddt=True,
)
