"""How networks are trained, and which result counts.

This is the section `training` of the configuration.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from toporank import plugins
from toporank.learning import other_keys, shapes
from toporank.learning.hardware import Hardware
from toporank.settings import (
    LARGEST_NETWORK,
    Name,
    Section,
    Seed,
    checked,
    did_you_mean,
    distinct,
)

EPOCHS: dict[str, Any] = {"unit": "epochs"}
"""Of a field that counts epochs."""


class Schedule(Section):
    """How a network is trained."""

    FORMER: ClassVar[dict[str, str]] = other_keys.OF_A_CONFIGURATION

    learning_rate: float = Field(
        0.005, gt=0, le=1, description="Initial learning rate of Adam."
    )
    weight_decay: float = Field(0.0, ge=0, description="Weight decay of Adam.")
    batch_size: int = Field(
        16,
        ge=1,
        json_schema_extra={"unit": "models"},
        description="Graphs in one batch of each device.",
    )
    drop_last: bool = Field(
        False,
        description="Leave out the last batch of an epoch where it is smaller than the others.",
    )
    accumulate: int = Field(
        16,
        ge=1,
        json_schema_extra={"unit": "batches"},
        description="Batches in one optimiser step.",
    )
    plateau_patience: int = Field(
        6,
        ge=0,
        json_schema_extra=EPOCHS,
        description="Epochs without a lower `val_loss` before the learning rate falls.",
    )
    plateau_factor: float = Field(
        0.2, gt=0, lt=1, description="What the learning rate is multiplied by then."
    )
    early_stop_patience: int = Field(
        45,
        ge=1,
        json_schema_extra=EPOCHS,
        description="Epochs without a lower `val_loss` before stopping.",
    )
    max_epochs: int = Field(
        260, ge=1, json_schema_extra=EPOCHS, description="Most epochs of a run."
    )
    attention_dropout: float = Field(
        0.25, ge=0, lt=1, description="Dropout on attention weights during training."
    )
    dropout: float = Field(
        0.0,
        ge=0,
        lt=1,
        description=(
            "Dropout on the inputs of each layer between pooling and score, during training."
        ),
    )
    loss: Literal["mse", "bce"] = Field(
        "mse",
        description="What is minimised: squared error, or cross-entropy with "
        "DockQ as a probability. "
        "`val_loss` is always the mean squared error, so that runs can be compared.",
    )
    local_weight: float = Field(
        0.0,
        ge=0,
        description="Weight of the cross-entropy between true and predicted local quality of "
        "contacts, which data sets with `natives` have. Above 0 it switches `local` on.",
    )
    sampling: Literal["shuffle", "cluster_balanced"] = Field(
        "shuffle",
        description="What an epoch sees: every model once, or as many draws with every cluster of "
        "targets that share a chain drawn equally often, and every target in it.",
    )


class Hyperparameters(Schedule):
    """How one network is built and trained."""

    network: str = Field(
        shapes.BUILT_IN,
        description="Name of the network: `gatv2`, `contacts` (which sees one contact at a time "
        "and adds up areas), or one of a plug-in; see docs/extending.md.",
    )
    hidden: int = Field(
        32,
        ge=1,
        le=LARGEST_NETWORK["hidden"],
        description="Width of node and edge embeddings.",
    )
    heads: int = Field(
        8,
        ge=1,
        le=LARGEST_NETWORK["heads"],
        description="Attention heads of each layer; their results are averaged.",
    )
    layers: int = Field(
        2, ge=1, le=LARGEST_NETWORK["layers"], description="Edge-aware GATv2 layers."
    )
    readout: int = Field(
        64,
        ge=1,
        le=LARGEST_NETWORK["readout"],
        description="Width of the two layers between pooling and score.",
    )
    local: bool = Field(
        False,
        description="Whether it predicts the local quality of contacts, too, and scores by it.",
    )

    @field_validator("network")
    @classmethod
    def _installed(cls, name: str) -> str:
        if name not in shapes.OWN and name not in plugins.networks():
            hint = did_you_mean(name, [*shapes.OWN, *plugins.networks()])
            raise ValueError(f"no network of that name is installed, {hint}")
        return name

    @model_validator(mode="before")
    @classmethod
    def _predicts_what_it_learns(cls, values: Any) -> Any:
        if isinstance(values, dict):
            weight = values.get("local_weight")
            learns = isinstance(weight, int | float) and weight > 0
            if learns or values.get("network") == shapes.OF_CONTACTS:
                return {"local": True, **values}
        return values

    @model_validator(mode="after")
    def _learns_what_it_predicts(self) -> Hyperparameters:
        if self.local_weight > 0 and not self.local:
            raise ValueError(
                "local_weight is for a network that predicts local quality: set `local: true`"
            )
        return self


DEFAULT_SWEEP_CONFIG = "sched_boost"


def _with_defaults(section: Any, entries: str) -> Any:
    """Give each entry the keys of `defaults` that it does not set itself."""
    if not isinstance(section, dict) or not isinstance(
        section.get("defaults") or {}, dict
    ):
        return section
    defaults = section.get("defaults") or {}
    if defaults and entries == "configs":
        section = {"configs": [{"name": DEFAULT_SWEEP_CONFIG}], **section}
    if not isinstance(section.get(entries), list):
        return section
    merged = [
        {**defaults, **entry} if isinstance(entry, dict) else entry
        for entry in section[entries]
    ]
    return {**section, entries: merged}


class SweepConfig(Hyperparameters):
    """One configuration of the sweep: a name, and what differs from `sweep.defaults`."""

    name: Name = Field(description="Name of the configuration.")


class Sweep(Section):
    """Every configuration is trained with every seed."""

    defaults: dict[str, Any] = Field(
        {}, description="Hyper-parameters shared by all entries of `configs`."
    )
    configs: list[SweepConfig] = Field(
        [SweepConfig(name=DEFAULT_SWEEP_CONFIG)],
        min_length=1,
        description="The configurations: `name` and the hyper-parameters that differ.",
    )
    seeds: list[Seed] = Field(
        [222, 777, 1337], min_length=1, description="Seeds of the sweep."
    )

    _fill = model_validator(mode="before")(
        lambda section: _with_defaults(section, "configs")
    )

    @model_validator(mode="after")
    def _names(self) -> Sweep:
        distinct([c.name for c in self.configs], "configuration name")
        distinct([str(s) for s in self.seeds], "seed")
        return self


class Selection(Section):
    """Which checkpoint is best."""

    FORMER: ClassVar[dict[str, str]] = {
        "minimum_delta": "gone",
        "spearman": "gone: it is that of all validation models",
    }

    rule: Literal["val_loss", "val_selection", "val_ranking_loss"] = Field(
        "val_loss",
        description="`val_loss`: lowest validation loss. `val_selection`: lowest `val_loss − "
        "spearman_weight · Spearman`. `val_ranking_loss`: lowest mean ranking loss of the "
        "validation targets. All are tracked and shown; this one chooses.",
    )
    spearman_weight: float = Field(
        1.0,
        ge=0,
        description="Weight of the Spearman of all validation models in `val_selection`.",
    )


class ScorerMaking(Section):
    """What a scorer is made from, by the target `make_scorer`."""

    config: Name | list[Name] = Field(
        [],
        description="Configurations of the sweep whose networks, one of each fold with the first "
        "seed, the scorer has; the first configuration if empty. One may stand without brackets.",
    )
    made: list[str] = Field(
        [],
        description="Groups of models that were made around natives, which weigh less. A group is "
        "that of the labels, or the data set.",
    )
    quality_of: list[str] = Field(
        [],
        description="Groups from which the quality of residues and contacts "
        "is learned, such as will be scored; all but `made` if empty.",
    )


class Final(Section):
    """The final scorer."""

    score: Literal["best", "mean"] = Field(
        "best",
        description="`pred_dockq` is that of the best checkpoint, or the mean over the ensemble.",
    )
    members: int | None = Field(
        None,
        ge=2,
        json_schema_extra={"unit": "runs"},
        description=(
            "The ensemble, which gives `pred_sd`: the top N runs of the final leaderboard; "
            "unset means all."
        ),
    )


CHECKPOINTS = "`*.ckpt` or `*.safetensors`"


class Phase(Schedule):
    """One fine-tune phase: its parent's network and weights with a fresh optimiser and schedule."""

    FORMER: ClassVar[dict[str, str]] = {
        **Schedule.FORMER,
        "seed": "now `seeds: [N]`; the run is called <name>_seed<N>",
    }

    name: Name = Field(description="Name of the phase.")
    parent: str | list[str] = Field(
        "sweep",
        description="`sweep`, the name of an earlier phase with a single seed, or the file of any "
        f"checkpoint: {CHECKPOINTS}. In a list of files, the first that was trained on such graphs "
        "counts.",
    )
    seeds: list[Seed] = Field(
        min_length=1,
        description="Seeds of the phase, whose runs are `<name>_seed<seed>`.",
    )
    freeze: list[str] = Field(
        [],
        description=(
            "Parts of the network that keep their parent's weights, such as `embed_nodes` or "
            "`layers.0`."
        ),
    )
    datasets: list[Name] = Field(
        [],
        description="Data sets whose training targets this phase learns "
        "from; empty for those of the "
        "study. Validation is always that of the study, so that a phase can be compared "
        "with its parent.",
    )

    @property
    def parent_files(self) -> list[str]:
        """The files of its parent; it starts from the first that fits. Empty for a phase."""
        parents = [self.parent] if isinstance(self.parent, str) else self.parent
        is_file = all(name.endswith((".ckpt", ".safetensors")) for name in parents)
        return parents if is_file else []

    @model_validator(mode="after")
    def _names(self) -> Phase:
        if self.name == "sweep":
            raise ValueError(
                "a phase cannot be called 'sweep': as a parent that means the sweep"
            )
        distinct(list(map(str, self.seeds)), "seed")
        return self


class Finetune(Section):
    """The fine-tune phases, in order."""

    defaults: dict[str, Any] = Field(
        {}, description="Hyper-parameters shared by all phases."
    )
    phases: list[Phase] = Field([], description="The phases; empty for no fine-tuning.")

    _fill = model_validator(mode="before")(
        lambda section: _with_defaults(section, "phases")
    )

    @field_validator("defaults")
    @classmethod
    def _hyperparameters(cls, defaults: dict[str, Any]) -> dict[str, Any]:
        checked(Hyperparameters, defaults, where="training.finetune.defaults")
        return defaults

    @model_validator(mode="after")
    def _chain(self) -> Finetune:
        distinct([phase.name for phase in self.phases], "phase name")
        parents = {"sweep"}
        for phase in self.phases:
            if not phase.parent_files and phase.parent not in parents:
                wrong = (
                    f"parent {phase.parent!r} is neither `sweep` nor an "
                    f"earlier phase with one seed nor a checkpoint, {CHECKPOINTS}"
                )
                raise ValueError(f"phase {phase.name!r}: {wrong}")
            if len(phase.seeds) == 1:
                parents.add(phase.name)
        return self


class Training(Hardware):
    """What is trained on, how, and which result is kept."""

    FORMER: ClassVar[dict[str, str]] = {
        **dict.fromkeys(Schedule.model_fields, other_keys.IN_SWEEP),
        **other_keys.OF_TRAINING,
    }

    datasets: list[Name] = Field(
        [],
        description="Names of the data sets to train on; empty for every labelled one.",
    )
    validation_percent: float = Field(
        20.0,
        gt=0,
        lt=100,
        json_schema_extra={"unit": "% of targets"},
        description="Targets set aside for validation where the labels have no split.",
    )
    split_by: Literal["cluster", "target"] = Field(
        "cluster",
        description="What stays on one side there. `cluster`: all targets that share a chain, "
        "antibodies excepted; `target`: the models of a target.",
    )
    similarity: Literal["kmers", "mmseqs2"] = Field(
        "kmers",
        description="Which chains count as the same when targets are "
        "clustered. `kmers`: those that "
        "share 40 % of their 5-mers. `mmseqs2`: also those that MMseqs2, which must be "
        "installed, aligns with 30 % identity.",
    )
    split_seed: int = Field(0, description="Seed of that choice, and of the folds.")
    leakage: Literal["warn", "refuse"] = Field(
        "warn",
        description=(
            "What happens when a target that is held out shares a chain with a training target."
        ),
    )
    folds: int = Field(
        5,
        ge=3,
        description=(
            "Parts of the targets in a cross-validation: one is judged, one validates, the "
            "others train."
        ),
    )
    cross_validate: bool = Field(
        False,
        description="Whether the study has a cross-validation, which its report shows. The target "
        "`cross_validate` makes one without this, too.",
    )
    threads: int | None = Field(
        None,
        ge=1,
        description="CPU threads of a run on each of its devices. By default the runs of a step "
        "share the cores of the machine; on a cluster each has 1.",
    )
    sweep: Sweep = Field(Sweep(), description="Configurations × seeds.")
    selection: Selection = Field(Selection(), description="Which checkpoint is best.")
    final: Final = Field(Final(), description="One checkpoint or an ensemble.")
    scorer: ScorerMaking = Field(
        ScorerMaking(),
        description="Networks, judge and map in one folder, `results/scorer`.",
    )
    finetune: Finetune = Field(Finetune(), description="Phases after the sweep.")

    @model_validator(mode="after")
    def _can_be_trained(self) -> Training:
        every = self.validate_every
        entries: list[SweepConfig | Phase] = [*self.sweep.configs]
        for entry in entries + self.finetune.phases:
            if entry.max_epochs < every:
                raise ValueError(
                    f"{entry.name}: max_epochs: {entry.max_epochs} is less than "
                    f"training.trainer: {{check_val_every_n_epoch: {every}}}, so that no epoch "
                    "would be judged"
                )
        for phase in self.finetune.phases:
            if fault := shapes.missing_parts(
                phase.freeze, self._networks_before(phase)
            ):
                raise ValueError(f"finetune.phases, {phase.name}: freeze: {fault}")
        return self

    def _networks_before(self, phase: Phase) -> list[dict[str, Any]]:
        """Shapes that the network of a phase may have; empty where a file decides."""
        by_name = {earlier.name: earlier for earlier in self.finetune.phases}
        while not phase.parent_files and phase.parent in by_name:
            phase = by_name[phase.parent]
        if phase.parent_files:
            return []
        return [shapes.shape_of(config.model_dump()) for config in self.sweep.configs]

    @property
    def hardware(self) -> Hardware:
        """What networks are trained on."""
        return Hardware(**self.model_dump(include=set(Hardware.model_fields)))

    def cores(self, n_runs: int, of_machine: int | None) -> int:
        """CPU cores of one run: its threads, in each of its processes.

        Parameters
        ----------
        n_runs : runs that may train at the same time
        of_machine : cores that they share; None on a cluster
        """
        shared = (of_machine or 1) // (n_runs * self.devices)
        return (self.threads or max(1, shared)) * self.devices

    @property
    def gpus(self) -> int:
        """GPUs of one run to request from a scheduler.

        With `auto` the number is unknown before the run starts.
        """
        return self.devices if self.trainer["accelerator"] in ("gpu", "cuda") else 0
