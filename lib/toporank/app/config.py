"""The configuration: every key with its type, default, limits and description, in this one place.

`config/README.md` is generated from these classes (`python -m toporank config`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from toporank.app.repeated_keys import repeated_keys
from toporank.building.coverage import Coverage
from toporank.chains.partners import checked_partners, is_file
from toporank.confidence.table import AUTO, PlddtChoice
from toporank.errors import ConfigError
from toporank.features.presets import PRESETS
from toporank.features.registry import DEFAULT_MODULES, FeatureChoice, resolve
from toporank.finding.labels import SplitRules
from toporank.learning.hyperparameters import Phase, SweepConfig, Training
from toporank.settings import (
    Name,
    Section,
    Seed,
    checked,
    did_you_mean,
    distinct,
)


def _partners(value: Any) -> Any:
    """Partners in one spelling, or the name of a table of them."""
    if isinstance(value, str) and not is_file(value):
        try:
            return checked_partners(value)
        except ConfigError as error:
            raise ValueError(f"{error.what} ({error.remedy})") from error
    return value


RESERVED = {"training", "finetune", "final", "scorer", "scores", "evaluation"}
RESERVED |= {"cross_validation", "sampling"}
"""Names that no data set can have: folders in `results/`."""
PartnersSetting = Annotated[str | None, BeforeValidator(_partners)]
Targets = Literal["sequence", "folder"] | None
RankBy = Literal["complex", "min_interface", "mean_interface"]


class Dataset(Section):
    """A set of models or of graphs of another pipeline; `decoys` or `graphs` must be given."""

    name: Name = Field(
        description="Name of the data set; its results lie under `results/<name>/`."
    )
    decoys: str | None = Field(
        None, description="Folder of `<target>/<decoy>.{pdb,ent,cif,mmcif}[.gz]`."
    )
    graphs: str | None = Field(
        None,
        description="Folder of PyTorch Geometric `Data` files, `<target>/<decoy>.pt`, in the place "
        "of `decoys`; see docs/training-your-own.md.",
    )

    @property
    def folder(self) -> str:
        """Its folder of decoys or of graphs."""
        return self.decoys or self.graphs or ""

    labels: str | dict[Literal["train", "val", "test"], str] | None = Field(
        None,
        description="CSV with `Target,Model,DockQ[,CAPRI][,split][,group]`, or one such file per "
        "split; unset for a data set that is only scored.",
    )
    natives: str | None = Field(
        None,
        description="Folder of the natives, `<target>.{pdb,cif}[.gz]` or `<target>/native.*`, from "
        "which labels are computed where `labels` gives none.",
    )
    partners: PartnersSetting = Field(
        None, description="Overrides the top-level `partners` for this data set."
    )
    plddt: PlddtChoice | None = Field(
        None, description="Overrides the top-level `plddt` for this data set."
    )
    targets: Targets = Field(
        None, description="Overrides the top-level `targets` for this data set."
    )
    scorer: list[str] = Field(
        [],
        description="With `graphs`: checkpoints or folders of scorers that score them in the place "
        "of the study's own. The first counts that was trained on graphs with these columns.",
    )

    @model_validator(mode="after")
    def _decoys_or_graphs(self) -> Dataset:
        where = f"data set {self.name!r}"
        if (self.decoys is None) == (self.graphs is None):
            raise ValueError(f"{where}: give either `decoys` or `graphs`")
        for key in ("natives", "partners", "plddt", "targets"):
            if self.graphs is not None and getattr(self, key) is not None:
                raise ValueError(
                    f"{where}: `{key}` needs structures, and it has `graphs`"
                )
        if self.scorer and self.graphs is None:
            raise ValueError(f"{where}: `scorer` is for `graphs` (use score_decoys)")
        return self

    @property
    def is_labelled(self) -> bool:
        """Whether it can be trained on. Graphs have their labels in them, or in a table."""
        return (
            self.labels is not None
            or self.natives is not None
            or (self.graphs is not None and not self.scorer)
        )

    @property
    def labels_from_natives(self) -> bool:
        """Whether its labels are computed."""
        return self.labels is None and self.natives is not None


def _module_by_name(stage: Any) -> Any:
    """A stage that is only named, such as `edges/legacy_v11`, as a mapping."""
    return {"module": stage} if isinstance(stage, str) else stage


Stage = Annotated[dict[str, Any], BeforeValidator(_module_by_name)]


class Features(Section):
    """For each stage `module: ID` and its parameters, or the ID alone; all else has its default."""

    interface: Stage = Field({}, description="Which residues form the interface.")
    topology: Stage = Field(
        {}, description="Persistent homology around each interface residue."
    )
    nodes: Stage = Field({}, description="Node features.")
    edges: Stage = Field({}, description="Edge features.")


def _preset(section: Any) -> Any:
    """The features of a preset that is given by its name."""
    if not isinstance(section, str):
        return section
    if section not in PRESETS:
        raise ValueError(f"no preset of that name, {did_you_mean(section, PRESETS)}")
    return PRESETS[section]


def _names(value: Any) -> Any:
    """`A,B` as a list."""
    if not isinstance(value, str):
        return value
    names = [part.strip() for part in value.split(",")]
    return list(filter(None, names))


class Workflow(Section):
    """How the work is divided, and where finished work is kept for reuse."""

    chunk_size: int = Field(
        500,
        ge=1,
        json_schema_extra={"unit": "models"},
        description="Approximate number of models in one job that computes features or scores.",
    )
    jobs: Literal["chunk", "artefact"] = Field(
        "chunk",
        description="What a job of the features is: a `chunk` of models with all stages, or each "
        "`artefact` of each model, which shows every file in `--dag` and suits some hundred "
        "models.",
    )
    reuse_store: str = Field(
        ".toporank/store",
        description="Folder of finished artefacts by content; may be shared between working "
        "directories.",
    )


class Sampling(Section):
    """Labelled decoys made of natives by the target `sample_decoys`; docs/sampling.md."""

    natives: str | None = Field(
        None,
        description="Folder of natives, `<target>.{pdb,cif}[.gz]` or `<target>/native.*`; files "
        "`unbound_*` beside the latter hold one partner alone.",
    )
    partners: PartnersSetting = Field(
        None,
        description="The two partners, such as `H+L:A`, or a CSV file with columns "
        "`target,partners`; a complex of two chains needs none.",
    )
    decoys: int = Field(60, ge=1, le=1_000, description="Decoys of each native.")
    rotations: int = Field(
        600,
        ge=10,
        le=100_000,
        description="Rotations of global docking of each native; local docking adds 40 %.",
    )
    seed: Seed = Field(
        1, description="The same seed gives the same decoys on one machine."
    )


class Config(Section):
    """The whole configuration."""

    datasets: list[Dataset] = Field([], description="The data sets.")
    features: Annotated[Features, BeforeValidator(_preset)] = Field(
        Features(),
        description="Feature module and parameters of each stage, or the name of a preset: "
        f"`{'`, `'.join(PRESETS)}`.",
    )
    coverage: Coverage = Field(
        Coverage(), description="When to stop for lack of graphs."
    )
    training: Training = Field(
        Training(), description="Sweep, selection and fine-tuning."
    )
    workflow: Workflow = Field(
        Workflow(), description="Size of jobs, reuse of results."
    )
    sampling: Sampling = Field(Sampling(), description="Decoys made of natives.")
    only: Annotated[list[str], BeforeValidator(_names)] = Field(
        [],
        description="Build only these targets (`--config only=1AVZ,2I25`); all by default.",
    )
    partners: PartnersSetting = Field(
        None,
        description="Which chains are one partner, such as `H+L:A`, or a CSV file with columns "
        "`target,partners`; see docs/partners.md. They are chains of the native where a target has "
        "one. By default antibodies, T-cell receptors and MHC molecules are one partner each, and "
        "other chains are alone; `chains` joins none.",
    )
    targets: Targets = Field(
        None,
        description="How models are grouped into targets: by `sequence`, their chains are the "
        "same, wherever the files lie, or by `folder`. By default `folder` where there are labels "
        "or natives, which name targets, and `sequence` elsewhere; see docs/inputs.md.",
    )
    plddt: PlddtChoice = Field(
        AUTO,
        description="Whether the B factors of models are pLDDT: where a predictor says so or their "
        "numbers look like it (`auto`), always (`b_factor`), or never (`none`); see "
        "docs/confidence.md.",
    )
    confidence: bool = Field(
        True,
        description="Whether the predictor's own confidence counts in the score, where there is "
        "any and the scorer was trained with it; see docs/confidence.md.",
    )
    rank_by: RankBy = Field(
        "complex",
        description="What decides on the ranking: the score of the whole complex, of its worst "
        "interface, or the mean of its interfaces. docs/partners.md says when which is right.",
    )
    score_decoys: str | None = Field(
        None,
        description="Folder of models to score instead of the data sets "
        "(`--config score_decoys=…`).",
    )
    score_name: Name | None = Field(
        None,
        description="Data-set name for `score_decoys`; the folder's name by default.",
    )
    scorer: str | None = Field(
        None,
        description="What to score `score_decoys` with: the folder of a scorer, such as "
        "`results/final` of a study of your own, or a single checkpoint; "
        "the scorer that ships with "
        "TopoRank by default.",
    )

    @model_validator(mode="after")
    def _references(self) -> Config:
        names = [dataset.name for dataset in self.datasets]
        distinct(names, "data set name")
        for name in names:
            if name in RESERVED:
                what = f"a data set cannot be called {name!r}: results/{name}/ is taken"
                raise ValueError(what)
        self._check_learned(self.training.datasets, "training.datasets")
        for phase in self.training.finetune.phases:
            self._check_learned(
                phase.datasets, f"training.finetune.phases, {phase.name}: datasets"
            )
        return self

    def _check_learned(self, names: list[str], key: str) -> None:
        """Raise ValueError unless these data sets can be trained on."""
        datasets = {dataset.name: dataset for dataset in self.datasets}
        for name in names:
            if name not in datasets:
                known = ", ".join(datasets) or "none"
                raise ValueError(f"{key}: no data set {name!r}; there is {known}")
            if not datasets[name].is_labelled:
                raise ValueError(
                    f"{key}: data set {name!r} has neither labels nor natives"
                )

    @model_validator(mode="after")
    def _one_kind_of_graphs(self) -> Config:
        of_decoys = [
            dataset.name for dataset in self.datasets if dataset.graphs is None
        ]
        of_graphs = [
            dataset.name for dataset in self.datasets if dataset.graphs is not None
        ]
        if of_decoys and of_graphs:
            raise ValueError(
                f"data set {of_graphs[0]!r} has `graphs` and {of_decoys[0]!r} has `decoys`: no "
                "scorer takes both, so give each a configuration and a folder of its own"
            )
        return self

    @model_validator(mode="after")
    def _runs(self) -> Config:
        distinct([*self.sweep_runs(), *self.finetune_runs()], "run name")
        names = [entry.name for entry in self.training.sweep.configs]
        for config in self.scorer_configs:
            if config not in names:
                where = "training.scorer.config"
                raise ValueError(
                    f"{where}: no configuration {config!r}; there is {', '.join(names)}"
                )
        return self

    @model_validator(mode="after")
    def _local_quality(self) -> Config:
        with_natives = {
            dataset.name for dataset in self.datasets if dataset.natives is not None
        }
        for run, (entry, _) in self.runs().items():
            of_phase = entry.datasets if isinstance(entry, Phase) else []
            learned = set(of_phase or self.training_datasets)
            if entry.local_weight > 0 and learned and not learned & with_natives:
                what = f"run {run!r} has a local_weight"
                raise ValueError(
                    f"{what}, but no data set that it learns from has `natives`"
                )
        return self

    def dataset(self, name: str) -> Dataset:
        """The data set of that name."""
        return next(dataset for dataset in self.datasets if dataset.name == name)

    def plddt_of(self, dataset: str) -> PlddtChoice:
        """Whether the B factors of a data set are pLDDT."""
        return self.dataset(dataset).plddt or self.plddt

    @property
    def has_graphs_of_others(self) -> bool:
        """Whether a data set is of graphs that another program made."""
        return any(dataset.graphs is not None for dataset in self.datasets)

    @property
    def training_datasets(self) -> list[str]:
        """Names of the data sets that are trained on."""
        labelled = [dataset.name for dataset in self.datasets if dataset.is_labelled]
        return self.training.datasets or labelled

    @property
    def learned_datasets(self) -> list[str]:
        """Those, and the ones that fine-tune phases learn from."""
        names = list(self.training_datasets)
        for phase in self.training.finetune.phases:
            names += phase.datasets
        return list(dict.fromkeys(names))

    def grouped_by(self, dataset: Dataset) -> str:
        """What makes the decoys of a data set a target."""
        return (
            dataset.targets
            or self.targets
            or ("folder" if dataset.is_labelled else "sequence")
        )

    def choices(self) -> dict[str, FeatureChoice]:
        """The resolved feature modules."""
        return resolve(
            {stage: getattr(self.features, stage) for stage in DEFAULT_MODULES}
        )

    @property
    def split_rules(self) -> SplitRules:
        """How targets are split."""
        training = self.training
        return SplitRules(
            training.split_by,
            training.validation_percent,
            training.split_seed,
            training.folds,
            align=training.similarity == "mmseqs2",
        )

    def sweep_runs(self) -> dict[str, tuple[SweepConfig, int]]:
        """Run name `<config>_seed<seed>` to its configuration and seed."""
        sweep = self.training.sweep
        runs = itertools.product(sweep.configs, sweep.seeds)
        return {f"{config.name}_seed{seed}": (config, seed) for config, seed in runs}

    @property
    def scorer_configs(self) -> list[str]:
        """The configurations whose networks `make_scorer` takes."""
        named = self.training.scorer.config or self.training.sweep.configs[0].name
        return [named] if isinstance(named, str) else named

    @property
    def scorer_runs(self) -> list[str]:
        """Their runs, one of each."""
        seed = self.training.sweep.seeds[0]
        return [f"{config}_seed{seed}" for config in self.scorer_configs]

    def runs_of(self, phase: Phase) -> list[str]:
        """The runs of a fine-tune phase, `<phase>_seed<seed>`."""
        return [f"{phase.name}_seed{seed}" for seed in phase.seeds]

    def finetune_runs(self) -> dict[str, tuple[Phase, int]]:
        """Run name `<phase>_seed<seed>` to its phase and seed."""
        runs = {}
        for phase in self.training.finetune.phases:
            for run, seed in zip(self.runs_of(phase), phase.seeds, strict=True):
                runs[run] = phase, seed
        return runs

    def runs(self) -> dict[str, tuple[SweepConfig | Phase, int]]:
        """Name of each run to its configuration or phase, and its seed."""
        return {**self.sweep_runs(), **self.finetune_runs()}


def load_config(values: dict[str, Any], files: Iterable[Path | str] = ()) -> Config:
    """Check a configuration and fill in the defaults.

    Parameters
    ----------
    values : dict
        What is configured.
    files : iterable of Path
        The YAML files that it was read from, which are looked through for keys given twice: of
        these the values have the last alone.

    Raises
    ------
    ConfigError
        Listing every fault.
    """
    repeated = []
    for path in files:
        lines = repeated_keys(Path(path).read_text(encoding="utf-8"))
        repeated += [f"{path}: {line}" for line in lines]
    if repeated:
        raise ConfigError("\n  ".join(repeated))
    config = checked(Config, values, where="")
    config.choices()
    if config.score_decoys is None:
        if config.scorer or config.score_name:
            what = "`scorer` and `score_name` go with `score_decoys`"
            raise ConfigError(what, remedy="give score_decoys=FOLDER too")
        return config
    folder = Path(config.score_decoys).resolve()
    name = config.score_name or re.sub(r"[^A-Za-z0-9_.-]", "_", folder.name)
    remedy = "give another name with score_name=NAME"
    if any(dataset.name == name for dataset in config.datasets):
        what = f"score_decoys: results/{name}/ belongs to the data set {name!r}"
        raise ConfigError(what, remedy=remedy)
    try:
        settings = {"name": name, "decoys": config.score_decoys}
        dataset = checked(Dataset, settings, where="score_decoys").model_dump()
        return checked(
            Config, {**values, "datasets": [dataset], "training": {}}, where=""
        )
    except ConfigError as error:
        raise ConfigError(error.what, remedy=remedy) from error
