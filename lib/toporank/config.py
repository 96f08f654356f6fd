"""The configuration: every key with its type, default, limits and description, in this one place.

`config/README.md` is generated from these classes (`python -m toporank config`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from toporank.errors import ConfigError
from toporank.features.presets import PRESETS
from toporank.features.registry import DEFAULT_MODULES, Choice, resolve
from toporank.spelling import checked, did_you_mean


def _plain_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise ValueError("a name is made of letters, digits, '_', '.' and '-' and becomes part of paths")
    return name


def _text(name: Any) -> Any:
    return str(name) if isinstance(name, int) and not isinstance(name, bool) else name


Seed = Annotated[int, Field(ge=0, lt=2**32)]
"""What every random number generator in use takes."""

Name = Annotated[str, BeforeValidator(_text), AfterValidator(_plain_name)]
"""A name that becomes part of paths. YAML reads `1234` as a number; it is a name here."""


class Section(BaseModel):
    """Base of all sections: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Dataset(Section):
    """One set of decoys."""

    name: Name = Field(description="Name of the data set; its results lie under `results/<name>/`.")
    decoys: str = Field(description="Folder of `<target>/<decoy>.{pdb,ent,cif,mmcif}[.gz]`.")
    labels: str | dict[Literal["train", "val", "test"], str] | None = Field(
        None,
        description="CSV with `Target,Model,DockQ[,CAPRI][,split]`, or one such file per split;"
        " nothing for a data set that is only scored.",
    )


class Features(Section):
    """For each stage `module: ID` and its parameters; what is left out has its default."""

    interface: dict[str, Any] = Field({}, description="Which residues are interface.")
    topology: dict[str, Any] = Field({}, description="Persistent homology around each interface residue.")
    nodes: dict[str, Any] = Field({}, description="Node features.")
    edges: dict[str, Any] = Field({}, description="Edge features.")


def _preset(section: Any) -> Any:
    """The mapping that the name of a preset stands for."""
    if not isinstance(section, str):
        return section
    if section not in PRESETS:
        raise ValueError(f"no preset of that name, {did_you_mean(section, PRESETS)}")
    return PRESETS[section]


class Coverage(Section):
    """When too few labelled decoys became graphs to go on with training."""

    minimum_percent: float = Field(
        90.0, ge=0, le=100, json_schema_extra={"unit": "%"},
        description="Least share of the labels of a data set that must have a graph before it is trained on.",
    )  # fmt: skip
    fail_on_missing: bool = Field(False, description="Stop as soon as a single label has no graph.")


class Schedule(Section):
    """How a network is trained."""

    learning_rate: float = Field(0.005, gt=0, le=1, description="First learning rate of Adam.")
    weight_decay: float = Field(0.0, ge=0, description="Weight decay of Adam.")
    batch_size: int = Field(16, ge=1, json_schema_extra={"unit": "decoys"}, description="Graphs in one batch.")
    accumulate: int = Field(
        16, ge=1, json_schema_extra={"unit": "batches"}, description="Batches in one optimiser step."
    )
    plateau_factor: float = Field(
        0.2, gt=0, lt=1, description="The learning rate is multiplied by this when `val_loss` stops falling."
    )
    plateau_patience: int = Field(
        6, ge=0, json_schema_extra={"unit": "epochs"}, description="Epochs without a lower `val_loss` before that."
    )
    early_stop_patience: int = Field(
        45, ge=1, json_schema_extra={"unit": "epochs"}, description="Epochs without a lower `val_loss` before stopping."
    )
    max_epochs: int = Field(260, ge=1, json_schema_extra={"unit": "epochs"}, description="Most epochs of a run.")
    gradient_clip: float | None = Field(None, gt=0, description="Largest norm of the gradient; nothing for no limit.")
    attention_dropout: float = Field(0.25, ge=0, lt=1, description="Dropout on attention weights during training.")


class Hyperparameters(Schedule):
    """How one network is built and trained."""

    hidden: int = Field(32, ge=1, description="Width of node and edge embeddings.")
    heads: int = Field(8, ge=1, description="Attention heads of each layer; their results are averaged.")
    layers: int = Field(2, ge=1, description="Edge-aware GATv2 layers.")
    readout: int = Field(64, ge=1, description="Width of the two layers between pooling and score.")


DEFAULT_SWEEP_CONFIG = "sched_boost"


def _merge_defaults(section: Any, entries: str) -> Any:
    """Give each entry the keys of `defaults` that it does not set itself."""
    if isinstance(section, dict) and section.get("defaults") and entries == "configs":
        section = {"configs": [{"name": DEFAULT_SWEEP_CONFIG}], **section}
    if isinstance(section, dict) and isinstance(section.get(entries), list):
        defaults = section.get("defaults") or {}
        merged = [
            {**defaults, **e} if isinstance(e, dict) and isinstance(defaults, dict) else e for e in section[entries]
        ]
        return {**section, entries: merged}
    return section


def _distinct(names: list[str], what: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{what} used more than once: {', '.join(twice)}")


class SweepConfig(Hyperparameters):
    """One configuration of the sweep: a name, and what differs from `sweep.defaults`."""

    name: Name = Field(description="Name of the configuration.")


class Sweep(Section):
    """Every configuration is trained with every seed."""

    defaults: dict[str, Any] = Field({}, description="Hyper-parameters shared by all entries of `configs`.")
    configs: list[SweepConfig] = Field(
        [SweepConfig(name=DEFAULT_SWEEP_CONFIG)], min_length=1,
        description="The configurations: `name` and the hyper-parameters that differ.",
    )  # fmt: skip
    seeds: list[Seed] = Field([222, 777, 1337], min_length=1, description="Seeds of the sweep.")

    _fill = model_validator(mode="before")(lambda section: _merge_defaults(section, "configs"))

    @model_validator(mode="after")
    def _names(self) -> Sweep:
        _distinct([c.name for c in self.configs], "configuration name")
        _distinct([str(s) for s in self.seeds], "seed")
        return self


class Selection(Section):
    """Which checkpoint is best."""

    rule: Literal["val_loss", "val_selection"] = Field(
        "val_loss",
        description="`val_loss`: lowest validation loss. `val_selection`: lowest"
        " `val_loss − spearman_weight · val_spearman`. Both are tracked and shown; this one chooses.",
    )
    spearman_weight: float = Field(
        1.0, ge=0, description="Weight of the pooled validation Spearman in `val_selection`."
    )
    minimum_delta: float = Field(
        0.0, ge=0, description="A later epoch must be better by more than this to replace the best."
    )


class Phase(Schedule):
    """One fine-tune phase: its parent's network and weights with a fresh optimiser and schedule."""

    name: Name = Field(description="Name of the phase.")
    parent: Name = Field("sweep", description="`sweep`, or the name of an earlier phase with a single seed.")
    seed: Seed | None = Field(None, description="Seed of a phase with one run, which is then called like the phase.")
    seeds: list[Seed] | None = Field(None, min_length=1, description="Seeds of a phase with runs `<name>_seed<seed>`.")

    @model_validator(mode="after")
    def _one_kind_of_seed(self) -> Phase:
        if (self.seed is None) == (self.seeds is None):
            raise ValueError(f"phase {self.name!r} needs either `seed` or `seeds`")
        if self.name == "sweep":
            raise ValueError("a phase cannot be called 'sweep': as a parent that means the sweep")
        _distinct([str(seed) for seed in self.seeds or []], "seed")
        return self

    def runs(self) -> dict[str, int]:
        """Run name to seed."""
        if self.seeds is None:
            return {self.name: self.seed}
        return {f"{self.name}_seed{seed}": seed for seed in self.seeds}


class Finetune(Section):
    """The fine-tune phases, in order."""

    defaults: dict[str, Any] = Field({}, description="Hyper-parameters shared by all phases.")
    phases: list[Phase] = Field([], description="The phases; none for no fine-tuning.")

    _fill = model_validator(mode="before")(lambda section: _merge_defaults(section, "phases"))

    @field_validator("defaults")
    @classmethod
    def _known(cls, defaults: dict[str, Any]) -> dict[str, Any]:
        checked(Hyperparameters, defaults, where="training.finetune.defaults")
        return defaults

    @model_validator(mode="after")
    def _chain(self) -> Finetune:
        _distinct([run for phase in self.phases for run in phase.runs()], "run name")
        known = {"sweep"}
        for phase in self.phases:
            if phase.parent not in known:
                raise ValueError(
                    f"phase {phase.name!r}: parent {phase.parent!r} is not `sweep` nor an earlier phase with one seed"
                )
            if phase.seed is not None:
                known.add(phase.name)
        return self


class Training(Section):
    """What is trained on, how, and which result is kept."""

    datasets: list[Name] = Field([], description="Names of the data sets to train on; empty for every labelled one.")
    validation_percent: float = Field(
        20.0, gt=0, lt=100, json_schema_extra={"unit": "% of targets"},
        description="Targets set aside for validation where the labels have no split.",
    )  # fmt: skip
    split_seed: int = Field(0, description="Seed of that choice.")
    threads: int = Field(1, ge=1, description="CPU threads of one training run; Snakemake runs as many as cores allow.")
    sweep: Sweep = Field(Sweep(), description="Configurations × seeds.")
    selection: Selection = Field(Selection(), description="Which checkpoint is best.")
    finetune: Finetune = Field(Finetune(), description="Phases after the sweep.")


class Workflow(Section):
    """How the work is cut and where finished work is kept for reuse."""

    chunk_size: int = Field(
        250, ge=1, json_schema_extra={"unit": "decoys"}, description="Decoys that one feature job handles, about."
    )
    reuse_store: str = Field(
        ".toporank/store",
        description="Folder of finished artefacts by content; may be shared between working directories.",
    )


class Config(Section):
    """The whole configuration."""

    datasets: list[Dataset] = Field([], description="The data sets.")
    features: Annotated[Features, BeforeValidator(_preset)] = Field(
        Features(),
        description=f"Feature module and parameters of each stage, or the name of a preset: `{'`, `'.join(PRESETS)}`.",
    )
    coverage: Coverage = Field(Coverage(), description="When to stop for lack of graphs.")
    training: Training = Field(Training(), description="Sweep, selection and fine-tuning.")
    workflow: Workflow = Field(Workflow(), description="Cutting and keeping work.")
    score_decoys: str | None = Field(
        None,
        description="Folder of decoys to score with `checkpoint` instead of the data sets (`--config score_decoys=…`).",
    )
    score_name: Name | None = Field(None, description="Data-set name for `score_decoys`; the folder's name by default.")
    checkpoint: str | None = Field(
        None, description="Checkpoint to score `score_decoys` with; `results/final/best.ckpt` by default."
    )

    @model_validator(mode="after")
    def _references(self) -> Config:
        names = [d.name for d in self.datasets]
        _distinct(names, "data set name")
        for reserved in sorted({"training", "finetune", "final", "scores", "evaluation"} & set(names)):
            raise ValueError(f"a data set cannot be called {reserved!r}: results/{reserved}/ is taken")
        for name in self.training.datasets:
            if name not in names:
                raise ValueError(f"training.datasets: no data set {name!r}; there is {', '.join(names) or 'none'}")
            if self.dataset(name).labels is None:
                raise ValueError(f"training.datasets: data set {name!r} has no labels")
        return self

    @model_validator(mode="after")
    def _runs(self) -> Config:
        _distinct([*self.sweep_runs(), *self.finetune_runs()], "run name")
        return self

    def dataset(self, name: str) -> Dataset:
        """The data set of that name."""
        return next(d for d in self.datasets if d.name == name)

    @property
    def training_datasets(self) -> list[str]:
        """Names of the data sets that are trained on."""
        return self.training.datasets or [d.name for d in self.datasets if d.labels is not None]

    def choices(self) -> dict[str, Choice]:
        """The resolved feature modules."""
        return resolve({stage: getattr(self.features, stage) for stage in DEFAULT_MODULES})

    def sweep_runs(self) -> dict[str, tuple[SweepConfig, int]]:
        """Run name `<config>_seed<seed>` to its configuration and seed."""
        return {f"{c.name}_seed{s}": (c, s) for c in self.training.sweep.configs for s in self.training.sweep.seeds}

    def finetune_runs(self) -> dict[str, tuple[Phase, int]]:
        """Run name to its phase and seed."""
        return {run: (phase, seed) for phase in self.training.finetune.phases for run, seed in phase.runs().items()}


def load_config(values: dict[str, Any]) -> Config:
    """Check a configuration and fill in the defaults. Raises ConfigError listing every fault."""
    config = checked(Config, values, where="")
    config.choices()
    if config.score_decoys is None:
        if config.checkpoint or config.score_name:
            raise ConfigError(
                "`checkpoint` and `score_name` go with `score_decoys`", remedy="give score_decoys=FOLDER too"
            )
        return config
    name = config.score_name or re.sub(r"[^A-Za-z0-9_.-]", "_", Path(config.score_decoys).resolve().name)
    try:
        scored = checked(Dataset, {"name": name, "decoys": config.score_decoys}, where="score_decoys")
        return checked(Config, {**values, "datasets": [scored.model_dump()], "training": {}}, where="")
    except ConfigError as error:
        raise ConfigError(error.what, remedy="give another name with score_name=NAME") from error


def locate(path: str, repository: Path) -> Path:
    """A path of the configuration: as given from the working directory or, if not there, in the repository."""
    return Path(path) if Path(path).exists() or not (repository / path).exists() else repository / path
