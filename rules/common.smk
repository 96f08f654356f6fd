# Configuration and preflight: what all other rule files build on.
import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir, "lib")))

from snakemake.logging import logger
from snakemake.settings.enums import Quietness
from toporank import layout
from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.stages import code_digest, recipes
from toporank.app.config import load_config
from toporank.errors import TopoRankError
from toporank.features.registry import call_mkdssp, canonical, records
from toporank.learning.provenance import training_code
from toporank.app import data_sets
from toporank.app.workflow import inputs, preflight, progress, runs
from toporank.app.data_sets import SampledNatives, natives_to_sample

if not workflow.overwrite_configfiles:  # --configfile replaces the example instead of mixing with it
    for path in inputs.default_config("score_decoys" in config):

        configfile: path


try:
    CONFIG = load_config(config, workflow.configfiles)
    CHOICES = data_sets.feature_choices(CONFIG)
except TopoRankError as error:
    sys.exit(f"The configuration cannot be used:\n  {error}")  # alone, without a line of this file
runs.use_this_environment(CONFIG.workflow.reuse_store)

CHECK = None  # no check in the process of a single job
if workflow.is_main_process:
    installed = not workflow.deployment_settings.deployment_method  # by conda, in the jobs' environment, if at all
    check_dssp = installed and call_mkdssp(CHOICES)
    CHECK = preflight.preflight(CONFIG, choices=CHOICES, check_dssp=check_dssp, check_installed=installed)
    for name, planned in CHECK.datasets.items():
        logger.info("\n  ".join([f"{name}: {planned.summary}", *planned.notes]))
    logger.info(f"mkdssp: {CHECK.mkdssp}")
    of_training = CHECK.problems_of["check_coverage"] + CHECK.problems_of[layout.TRAINING]
    for problem in of_training if CHECK.lacks_plan else [*CHECK.problems, *of_training]:
        logger.warning(f"Preflight: {problem}")

    logger.addHandler(runs.BeforeJobs(workflow, CHECK))

PLANS = inputs.Plans(CONFIG, CHOICES, CHECK)
try:
    SAMPLING = natives_to_sample(CONFIG)
except TopoRankError:
    SAMPLING = SampledNatives()  # the preflight says why; what else the configuration asks for can be done

FEATURES = canonical(records(CHOICES))
TRAINING_CODE = training_code(*[entry.network for entry in CONFIG.training.sweep.configs])
CODE = {stage: digest for stage, (digest, _) in recipes(CHOICES).items()}
IN_STUDY = CONFIG.score_decoys is None  # otherwise decoys are scored with a given scorer, and nothing is trained
DATASETS = [dataset.name for dataset in CONFIG.datasets]
OF_DECOYS = [dataset.name for dataset in CONFIG.datasets if dataset.graphs is None]
OF_GRAPHS = [dataset.name for dataset in CONFIG.datasets if dataset.graphs is not None]
LABELLED = [dataset.name for dataset in CONFIG.datasets if dataset.is_labelled]
WITH_NATIVES = [dataset.name for dataset in CONFIG.datasets if dataset.natives is not None]
LABELLED_BY_NATIVES = [dataset.name for dataset in CONFIG.datasets if dataset.labels_from_natives]
TRAINED_ON = CONFIG.training_datasets
SWEEP = [*CONFIG.sweep_runs()]
FINETUNED = [*CONFIG.finetune_runs()]
FOLDS = range(CONFIG.training.folds)


def code(script):
    """Digest of a script and of the code that it uses: a parameter of every rule, so that a change runs it again."""
    return inputs.step_code(script)


def cores_of(n_runs):
    """How many cores a training run gets, which is known when it is known where the jobs run."""

    def of_run(wildcards):
        on_cluster = workflow.remote_exec or not workflow.local_exec
        return CONFIG.training.cores(n_runs, None if on_cluster else workflow.resource_settings.cores)

    return of_run


def make_again(stage, wildcards):
    """Have Snakemake make an artefact that it takes for finished, if the preflight knows better; no input."""
    path = layout.ARTEFACT[stage].format(**wildcards)
    if CHECK and (path in CHECK.of(wildcards.dataset).again or PLANS.is_outdated(stage, wildcards)):
        workflow.dag.forcefiles.add(path)
    return []


def publish_again(wildcards):
    """Have Snakemake publish again where files differ from what was published; no input."""
    path = layout.PUBLISHED.format(**wildcards)
    if CHECK and CHECK.of(wildcards.dataset).again:
        workflow.dag.forcefiles.add(path)
    return []


wildcard_constraints:
    dataset=inputs.any_name_of(DATASETS),
    chunk="[0-9a-f]{16}",
    part="[0-9a-f]{16}",
    run=inputs.any_name_of([*SWEEP, *FINETUNED]),


onstart:
    problems = runs.problems(workflow.dag, CHECK)
    if workflow.non_local_exec:
        problems += runs.submission_problems(workflow.executor_plugin.name, sys.executable)
    if problems:
        runs.refuse(problems)
    claimed = runs.claimed(workflow.dag)
    try:
        runs.lock(claimed)
    except TopoRankError as error:
        sys.exit(str(error))
    runs.forget_killed(workflow.dag)
    CHECK.write_plans()
    if runs.first_compilation():
        logger.info(runs.first_compilation())
    CHECK.write(claimed & {*DATASETS})  # under these locks: nothing beside this run changes what its jobs read
    if not {Quietness.ALL, Quietness.PROGRESS} & set(workflow.output_settings.quiet or ()):
        progress.watch(PLANS.decoys_of_jobs(workflow.dag), logger)
        progress.watch_training(runs.trained(workflow.dag), logger)


def write_gaps():
    """What is left to do, and why, after a run."""
    try:
        CHECK.write_gaps()
    except TopoRankError as error:
        logger.warning(f"gap.tsv is that of before this run: {error}")


onsuccess:
    write_gaps()


onerror:
    for line in runs.killed(workflow.dag):
        logger.error(line)
    write_gaps()
