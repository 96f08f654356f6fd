"""Complexes of the AlphaFold Database."""

from __future__ import annotations

import re
from pathlib import Path

from toporank.programs.file_names import file_called
from toporank.programs.formats import values_of
from toporank.programs.program import (
    PredictorOutput,
    Program,
    SideFileNames,
    SideFiles,
)
from toporank.programs.values import Values, read_bytes, unreadable


def read(files: SideFiles, output: PredictorOutput) -> None:
    """Read PAE and pLDDT of a complex, and ipTM of its mmCIF file."""
    output.put_pae(values_of(files.pae), "predicted_aligned_error")
    output.put_plddt(values_of(files.plddt), files.plddt, "confidenceScore")
    model = file_called(files.folder, f"{files.names['stem']}.cif")
    output.put_numbers(_global_metrics(model), ptm="ptm", iptm="iptm")


def _global_metrics(model: Path | None) -> Values:
    """The measures of a whole model in its mmCIF file, by name in small letters."""
    if model is None:
        return {}
    import gemmi  # takes a while, and few models need it

    try:
        block = gemmi.cif.read_string(read_bytes(model)).sole_block()
    except (RuntimeError, ValueError) as error:
        raise unreadable(model, error) from error
    rows = block.find("_ma_qa_metric.", ["id", "name"])
    names = {row[0]: row[1] for row in rows}
    values: Values = {}
    for metric, value in block.find(
        "_ma_qa_metric_global.", ["metric_id", "metric_value"]
    ):
        name = gemmi.cif.as_string(names.get(metric, "")).lower()
        if not gemmi.cif.is_null(value):
            values[name] = gemmi.cif.as_number(value)
    return values


ALPHAFOLD_DATABASE = Program(
    name="AlphaFold Database",
    model=re.compile(r"(?:.*/)?AF-[A-Z0-9]+(?:-[F\d]+)*-model_v\d+"),
    files=(
        SideFileNames(
            model=re.compile(r"AF-(?P<entry>.+)-model_v(?P<version>\d+)"),
            pae=("AF-{entry}-predicted_aligned_error_v{version}.json",),
            plddt=("AF-{entry}-confidence_v{version}.json",),
        ),
    ),
    readers=(read,),
    named_alone=True,
    proteins_only=True,
)
