"""What networks are trained on: keys of the section `training`."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from toporank.learning.trainer_entries import trainer_faults, typed
from toporank.settings import Section

ON_ONE_CPU = {"accelerator": "cpu", "devices": 1}
"""What Lightning's `Trainer` gets unless the configuration says otherwise."""
LOADING = ("num_workers", "pin_memory", "prefetch_factor")
"""Keys of the hardware that change no number."""

CompileMode = Literal[
    False,
    True,
    "default",
    "reduce-overhead",
    "max-autotune",
    "max-autotune-no-cudagraphs",
]


class Hardware(Section):
    """What networks are trained on. The defaults are the safest, and the quickest on a CPU."""

    trainer: dict[str, Any] = Field(
        ON_ONE_CPU,
        description="Entries for Lightning's `Trainer`, as they are: "
        "accelerator, devices, strategy, "
        "precision, gradient_clip_val, …; see docs/training.md.",
    )
    compile: CompileMode = Field(
        False,
        description=(
            "Compile the network with `torch.compile`, in its default mode or another: minutes at "
            "the beginning, for long runs on a GPU. Where that fails, it trains without, and says "
            "so."
        ),
    )
    tf32: bool = Field(
        False,
        description="Let a GPU round the factors of matrix products to 10 bits.",
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

    num_workers: int = Field(
        0,
        ge=0,
        json_schema_extra={"unit": "processes"},
        description="Processes that make batches; 0: the one that trains. Graphs lie in one mapped "
        "file, so that a batch takes a few percent of a step.",
    )
    pin_memory: bool = Field(
        False,
        description="Put batches into pinned memory, from which a GPU fetches them while it "
        "computes.",
    )
    prefetch_factor: int | None = Field(
        None,
        ge=1,
        json_schema_extra={"unit": "batches"},
        description="Batches that each of `num_workers` makes in advance; 2 by default.",
    )

    @field_validator("trainer")
    @classmethod
    def _on_one_cpu_by_default(cls, trainer: dict[str, Any]) -> dict[str, Any]:
        trainer = {entry: typed(value) for entry, value in trainer.items()}
        faults = [] if trainer == ON_ONE_CPU else trainer_faults(trainer)
        if faults:
            raise ValueError("; ".join(faults))
        return {**ON_ONE_CPU, **trainer}

    @model_validator(mode="after")
    def _someone_prefetches(self) -> Self:
        if self.prefetch_factor is not None and self.num_workers == 0:
            raise ValueError("prefetch_factor is for num_workers above 0")
        return self

    @property
    def validate_every(self) -> int:
        """Epochs from one validation to the next."""
        return self.trainer.get("check_val_every_n_epoch", 1)

    @property
    def smoke_test(self) -> int:
        """Batches of a run that only shows that everything works; 0 for any other."""
        return int(self.trainer.get("fast_dev_run", 0))

    @property
    def devices(self) -> int:
        """Devices of one run; 1 where Lightning chooses."""
        devices = self.trainer["devices"]
        if isinstance(devices, list):
            return len(devices)
        return devices if isinstance(devices, int) and devices > 0 else 1
