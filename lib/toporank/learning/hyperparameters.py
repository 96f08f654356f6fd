"""How networks are trained, and which result counts.

This is the section `training` of the configuration.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from toporank.settings import LARGEST_NETWORK, Name, Section, Seed, checked, distinct

SHAPE_KEYS = ("hidden", "heads", "layers", "readout", "local")
"""Hyper-parameters that decide which weights a network has."""
EPOCHS = {"unit": "epochs"}
"""Of a field that counts epochs."""
ON_ONE_CPU = {"accelerator": "cpu", "devices": 1}
"""What Lightning's `Trainer` gets unless the configuration says otherwise."""


def shape_of(hyperparameters: dict[str, Any]) -> dict[str, Any]:
    """Return the hyper-parameters that decide on the weights.

    Older checkpoints do not have `local`.
    """
    with_local = {"local": False, **hyperparameters}
    return {key: with_local[key] for key in SHAPE_KEYS}


class Schedule(Section):
    """How a network is trained."""

    FORMER: ClassVar[dict[str, str]] = {
        "gradient_clip": "use training.trainer: {gradient_clip_val: …}",
        "plateau_factor": "it is 0.2",
        "ranking_term": "gone: it did not help on docked models, docs/study.md",
        "ranking_weight": "gone with ranking_term",
        "decoys_per_target": "gone with ranking_term",
    }

    learning_rate: float = Field(
        0.005, gt=0, le=1, description="Initial learning rate of Adam."
    )
    weight_decay: float = Field(0.0, ge=0, description="Weight decay of Adam.")
    batch_size: int = Field(
        16,
        ge=1,
        json_schema_extra={"unit": "decoys"},
        description="Graphs in one batch of each device.",
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
        description="Epochs without a lower `val_loss` before the learning rate falls to a fifth.",
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
        description="What an epoch sees: every decoy once, or as many draws with every cluster of "
        "targets that share a chain drawn equally often, and every target in it.",
    )


class Hyperparameters(Schedule):
    """How one network is built and trained."""

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

    @model_validator(mode="before")
    @classmethod
    def _predicts_what_it_learns(cls, values: Any) -> Any:
        weight = values.get("local_weight") if isinstance(values, dict) else None
        return (
            {"local": True, **values}
            if isinstance(weight, int | float) and weight > 0
            else values
        )

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
        "spearman": "gone: it is that of all validation decoys",
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
        description="Weight of the Spearman of all validation decoys in `val_selection`.",
    )


class ScorerMaking(Section):
    """What a scorer is made from, by the target `make_scorer`."""

    config: Name | None = Field(
        None,
        description="Configuration of the sweep whose networks, one of each "
        "fold with the first seed, "
        "the scorer has; the first by default.",
    )
    made: list[str] = Field(
        [],
        description="Groups of decoys that were made around natives, which weigh less. A group is "
        "that of the labels, or the data set.",
    )
    quality_of: list[str] = Field(
        [],
        description="Groups from which the quality of residues and contacts "
        "is learned, such as will "
        "be scored; all but `made` if empty.",
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


class Phase(Schedule):
    """One fine-tune phase: its parent's network and weights with a fresh optimiser and schedule."""

    FORMER: ClassVar[dict[str, str]] = {
        **Schedule.FORMER,
        "seed": "now `seeds: [N]`; the run is called <name>_seed<N>",
    }

    name: Name = Field(description="Name of the phase.")
    parent: Name = Field(
        "sweep",
        description="`sweep`, or the name of an earlier phase with a single seed.",
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
            if phase.parent not in parents:
                wrong = (
                    f"parent {phase.parent!r} is neither `sweep` nor an "
                    "earlier phase with one seed"
                )
                raise ValueError(f"phase {phase.name!r}: {wrong}")
            if len(phase.seeds) == 1:
                parents.add(phase.name)
        return self


class Hardware(Section):
    """What networks are trained on. The defaults are the safest, and the quickest on a CPU."""

    trainer: dict[str, Any] = Field(
        ON_ONE_CPU,
        description="Entries for Lightning's `Trainer`, as they are: "
        "accelerator, devices, strategy, "
        "precision, gradient_clip_val, …; see docs/training.md.",
    )
    compile: bool = Field(
        False,
        description=(
            "Compile the network with `torch.compile`: minutes at the beginning, for long "
            "runs on a GPU."
        ),
    )
    activation_checkpointing: bool = Field(
        False,
        description="Recompute layers in the backward pass instead of keeping their results: less "
        "memory, more time, identical results.",
    )
    fused_optimizer: bool = Field(
        False, description="Run each step of Adam as one fused operation."
    )
    offload_optimizer: bool = Field(
        False,
        description=(
            "Keep the state of Adam in the memory of the CPU while a GPU trains; needs torchao."
        ),
    )

    @field_validator("trainer")
    @classmethod
    def _on_one_cpu_by_default(cls, trainer: dict[str, Any]) -> dict[str, Any]:
        return {**ON_ONE_CPU, **trainer}

    @property
    def devices(self) -> int:
        """Devices of one run; 1 where Lightning chooses."""
        devices = self.trainer["devices"]
        if isinstance(devices, list):
            return len(devices)
        return devices if isinstance(devices, int) and devices > 0 else 1


class Training(Hardware):
    """What is trained on, how, and which result is kept."""

    FORMER: ClassVar[dict[str, str]] = {
        "hardware": "its keys are in training.trainer, under the names of Lightning, or in training"
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
        "antibodies excepted; `target`: the decoys of a target.",
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
    threads: int = Field(
        1, ge=1, description="CPU threads of a run on each of its devices."
    )
    sweep: Sweep = Field(Sweep(), description="Configurations × seeds.")
    selection: Selection = Field(Selection(), description="Which checkpoint is best.")
    final: Final = Field(Final(), description="One checkpoint or an ensemble.")
    scorer: ScorerMaking = Field(
        ScorerMaking(),
        description="Networks, judge and map in one folder, `results/scorer`.",
    )
    finetune: Finetune = Field(Finetune(), description="Phases after the sweep.")

    @property
    def hardware(self) -> Hardware:
        """What networks are trained on."""
        return Hardware(**self.model_dump(include=set(Hardware.model_fields)))

    @property
    def cores(self) -> int:
        """CPU cores of one run: its threads, in each of its processes."""
        return self.threads * self.devices

    @property
    def gpus(self) -> int:
        """GPUs of one run to request from a scheduler.

        With `auto` the number is unknown before the run starts.
        """
        return self.devices if self.trainer["accelerator"] in ("gpu", "cuda") else 0
