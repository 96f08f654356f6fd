# Configuration and preflight: what all other rule files build on.
import sys
from pathlib import Path

REPOSITORY = Path(workflow.basedir)
sys.path.insert(0, str(REPOSITORY.joinpath("lib")))

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.settings.enums import Quietness
from toporank import layout
from toporank.workflow import preflight
from toporank.workflow import jobs
from toporank.building import progress
from toporank.building.stages import code_digest, stage_features
from toporank.config import load_config
from toporank.workflow.environment import use_this_environment
from toporank.errors import TopoRankError
from toporank.features.registry import call_mkdssp
from toporank.training.provenance import training_code

if not workflow.overwrite_configfiles:  # --configfile replaces the example instead of mixing with it

    configfile: jobs.default_config(REPOSITORY)


try:
    CONFIG = load_config(config)
    CHOICES = preflight.feature_choices(CONFIG)
except TopoRankError as error:
    raise WorkflowError(f"The configuration cannot be used:\n  {error}")
use_this_environment(REPOSITORY, CONFIG.workflow.reuse_store)

if workflow.is_main_process:
    installed = not workflow.deployment_settings.deployment_method  # by conda, in the jobs' environment, if at all
    check_dssp = installed and call_mkdssp(CHOICES)
    CHECK = preflight.preflight(CONFIG, REPOSITORY, choices=CHOICES, check_dssp=check_dssp, check_installed=installed)
    CHUNKS = CHECK.chunks
    for name, line in CHECK.summary.items():
        logger.info(f"{name}: {line}")
        for part in CHECK.gap[name]:
            logger.info(f"  {part}")
    for problem in CHECK.problems:
        logger.warning(f"Preflight: {problem}")
else:
    CHECK = preflight.Preflight()
    CHUNKS = preflight.written_chunks(CONFIG)

JOBS = jobs.Jobs(CONFIG, CHUNKS, planning=workflow.is_main_process)


wildcard_constraints:
    dataset=jobs.one_of(CHUNKS),
    chunk=r"(only-[0-9a-f]{8}-)?\d+-of-\d+",
    run=jobs.one_of([*CONFIG.sweep_runs(), *CONFIG.finetune_runs()]),


onstart:
    problems = CHECK.problems + (preflight.submission_problems(sys.executable) if workflow.non_local_exec else [])
    if problems:
        raise WorkflowError("Preflight failed, nothing was run:\n  " + "\n  ".join(problems))
    if not {Quietness.ALL, Quietness.PROGRESS} & set(workflow.output_settings.quiet or ()):
        progress.watch(jobs.feature_jobs(workflow.dag), logger, CONFIG.workflow.progress_seconds)
