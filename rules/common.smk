# Configuration and preflight: what all other rule files build on.
import sys
import time
from pathlib import Path

REPOSITORY = Path(workflow.basedir)
sys.path.insert(0, str(REPOSITORY.joinpath("lib")))

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.settings.enums import Quietness
from toporank import layout
from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.stages import code_digest, recipes
from toporank.app.config import load_config
from toporank.errors import TopoRankError
from toporank.features.registry import call_mkdssp, canonical, records
from toporank.learning.provenance import training_code
from toporank.app.workflow import data_sets, jobs, preflight, progress, runs
from toporank.app.workflow.data_sets import SampledNatives, natives_to_sample

if not workflow.overwrite_configfiles:  # --configfile replaces the example instead of mixing with it

    configfile: jobs.default_config(REPOSITORY)


try:
    CONFIG = load_config(config)
    CHOICES = data_sets.feature_choices(CONFIG, REPOSITORY)
except TopoRankError as error:
    raise WorkflowError(f"The configuration cannot be used:\n  {error}")
runs.use_this_environment(REPOSITORY, CONFIG.workflow.reuse_store)

STARTED, CHECK = time.time(), None  # no check in the process of a single job
if workflow.is_main_process:
    installed = not workflow.deployment_settings.deployment_method  # by conda, in the jobs' environment, if at all
    check_dssp = installed and call_mkdssp(CHOICES)
    CHECK = preflight.preflight(CONFIG, REPOSITORY, choices=CHOICES, check_dssp=check_dssp, check_installed=installed)
    for name, line in CHECK.summary.items():
        logger.info(f"{name}: {line}")
        for part in CHECK.gap[name]:
            logger.info(f"  {part}")
    runs.warn(logger, [*CHECK.problems, *CHECK.untrainable])

JOBS = jobs.Jobs(CONFIG, CHECK)
try:
    SAMPLING = natives_to_sample(CONFIG, REPOSITORY)
except TopoRankError:
    SAMPLING = SampledNatives()  # the preflight says why; what else the configuration asks for can be done
FEATURES = canonical(records(CHOICES))
SCORING_OPTIONS = JOBS.scoring_options()
SCORER_CONTENT = JOBS.scorer_content(REPOSITORY) if workflow.is_main_process else ""


def make_again(pattern, wildcards):
    """Have Snakemake make a file that it takes for finished, if the preflight says so; no input."""
    path = pattern.format(**wildcards)
    if CHECK and path in CHECK.of(wildcards.dataset).again:
        workflow.dag.forcefiles.add(path)
    return []


wildcard_constraints:
    dataset=jobs.one_of(JOBS.datasets),
    chunk=r"\d+-[0-9a-f]{16}",
    part=r"\d+-of-\d+",
    run=jobs.one_of([*CONFIG.sweep_runs(), *CONFIG.finetune_runs()]),


onstart:
    problems = runs.problems(workflow.dag, CHECK)
    if workflow.non_local_exec:
        problems += runs.submission_problems(workflow.executor_plugin.name, sys.executable)
    if problems:
        raise WorkflowError("Preflight failed, nothing was run:\n  " + "\n  ".join(problems))
    claimed = runs.claimed(workflow.dag)
    try:
        runs.take(claimed)
    except TopoRankError as error:
        raise WorkflowError(str(error))
    CHECK.write(claimed & {*JOBS.datasets})  # under these locks: nothing beside this run changes what its jobs read
    if not {Quietness.ALL, Quietness.PROGRESS} & set(workflow.output_settings.quiet or ()):
        progress.watch(JOBS.decoys_of_jobs(workflow.dag), logger)
        if runs.trains(workflow.dag):
            progress.watch_training(logger, STARTED)


onerror:
    for failure in runs.failures(workflow.dag, STARTED):
        logger.error(failure)
