"""What networks are trained on. Whether this machine has it is found out when a run starts: `training.accelerator`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from toporank.config.base import Section


class Hardware(Section):
    """What networks are trained on. The defaults are the safest, and the quickest on a CPU."""

    accelerator: Literal["cpu", "cuda", "mps", "auto"] = Field(
        "cpu", description="`auto`: the first of `cuda`, `mps` and `cpu` that is there. Results are the same bits on"
        " every run with `cpu` only.",
    )  # fmt: skip
    precision: Literal["32", "bf16-mixed", "16-mixed"] = Field(
        "32", description="Of products and activations; the others on a GPU only."
    )
    tf32: bool = Field(False, description="Let a GPU round the factors of products to 10 bits.")
    fused_optimizer: bool = Field(False, description="One step of Adam as one operation.")
    compile: Literal["no", "default", "reduce-overhead", "max-autotune"] = Field(
        "no", description="Mode of `torch.compile`; takes a minute, so for long runs. On a CPU it replaces loops that"
        " are compiled already.",
    )  # fmt: skip
    validation_batch: int | None = Field(
        None, ge=1, json_schema_extra={"unit": "decoys"},
        description="Graphs in one batch of validation; four times `batch_size` by default.",
    )  # fmt: skip
