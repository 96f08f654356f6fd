"""What a process has ready before it forks for a Snakemake: that, its plug-ins and TopoRank."""

import gc

import psutil  # noqa: F401
import snakemake.report.html_reporter  # noqa: F401
from snakemake.cli import get_argument_parser

import toporank.app.workflow.planned
import toporank.learning.provenance  # noqa: F401

get_argument_parser()
gc.freeze()
