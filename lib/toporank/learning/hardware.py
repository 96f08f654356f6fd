"""What networks are trained on. Whether this machine has it is found out when a run starts: `learning.accelerator`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated, Literal

from pydantic import Field

from toporank.settings import Section


class Hardware(Section):
    """What networks are trained on. The defaults are the safest, and the quickest on a CPU."""

    accelerator: Literal["cpu", "cuda", "mps", "auto"] = Field(
        "cpu",
        description="`auto`: the first of `cuda`, `mps` and `cpu` that is there. Results are the same bits on"
        " every run with `cpu` only.",
    )
    devices: int = Field(
        1,
        ge=1,
        description="Processes of one run, on a CPU, or GPUs. Each takes its share of every batch, so that"
        " `batch_size` keeps its meaning.",
    )
    strategy: Literal["ddp", "fsdp"] = Field(
        "ddp",
        description="With several devices: each has the whole network or, with `fsdp` on GPUs, a part of it.",
    )
    backend: Literal["auto", "gloo", "nccl"] = Field(
        "auto", description="How devices talk: `auto` is `nccl` between GPUs, otherwise `gloo`."
    )
    timeout: int = Field(
        30, ge=1, json_schema_extra={"unit": "min"}, description="How long a device waits for the others."
    )
    precision: Literal["32", "bf16-mixed", "16-mixed"] = Field(
        "32", description="Precision of products and activations; all but `32` need a GPU."
    )
    tf32: bool = Field(False, description="Let a GPU round the factors of matrix products to 10 bits.")
    fused_optimizer: bool = Field(False, description="Run each step of Adam as one fused operation.")
    offload_optimizer: bool = Field(
        False, description="Keep the state of Adam in the memory of the CPU while a GPU trains; needs torchao."
    )
    activation_checkpointing: bool = Field(
        False,
        description="Recompute layers in the backward pass instead of keeping their results: less memory,"
        " more time, identical results.",
    )
    compile: Literal["no", "default", "reduce-overhead", "max-autotune"] = Field(
        "no",
        description="Mode of `torch.compile`; takes a minute, so only for long runs. On a CPU it replaces loops that"
        " are already compiled.",
    )
    validation_batch: int | None = Field(
        None,
        ge=1,
        json_schema_extra={"unit": "decoys"},
        description="Graphs in one batch of validation; four times `batch_size` by default.",
    )


class Loading(Section):
    """How graphs come from packs to the network. It changes no result and no run's identity."""

    in_memory: bool = Field(False, description="Read packs into memory at the start; otherwise they are memory-mapped.")
    workers: Annotated[int, Field(ge=0)] | Literal["auto"] = Field(
        "auto",
        description="Processes that make batches; `auto`: none, or up to 4 where a GPU reads mapped packs above 1 GiB.",
    )
    prefetch: int = Field(
        2, ge=1, json_schema_extra={"unit": "batches"}, description="Batches that each of them makes in advance."
    )
    pin_memory: bool | Literal["auto"] = Field(
        "auto", description="Put batches into pinned memory, which a GPU can fetch; `auto`: if there is a CUDA device."
    )
    persistent_workers: bool = Field(True, description="Keep these processes from epoch to epoch.")


Tracker = Literal["tensorboard", "mlflow"]


def contradictions(hardware: Hardware, device: str, *, clipped: bool = False, installed: bool = True) -> list[str]:
    """Settings that no machine can use together on a device (cpu, cuda or mps): one line each, none if there are none.

    clipped : whether a run has a `gradient_clip`. installed : whether what is needed must be installed here.
    """
    found = []
    if hardware.precision != "32" and device == "cpu":
        found.append(f"precision: {hardware.precision}: the loops for CPUs are in single precision; use 32 or a GPU")
    if hardware.tf32 and device != "cuda":
        found.append(f"tf32: {device} has no TF32; leave it out or use cuda")
    if hardware.devices > 1 and device == "mps":
        found.append(f"devices: {hardware.devices}: a Mac has one GPU; use devices: 1 or accelerator: cpu")
    if hardware.strategy == "fsdp" and (device != "cuda" or hardware.devices < 2):
        found.append("strategy: fsdp: needs two CUDA devices or more; use ddp")
    if hardware.backend == "nccl" and device != "cuda":
        found.append(f"backend: nccl: connects CUDA devices, not {device}; use auto")
    if hardware.offload_optimizer and device != "cuda":
        found.append(f"offload_optimizer: on {device} the state of Adam is where the network is; leave it out")
    elif hardware.offload_optimizer and installed and find_spec("torchao") is None:
        found.append("offload_optimizer: torchao is not installed; pip install torchao, or leave it out")
    return found + _late_refusals(hardware, clipped)


def _late_refusals(hardware: Hardware, clipped: bool) -> list[str]:
    """What Lightning would refuse only at the first step, and what torchao would silently do wrong.

    torchao sends the gradient of each weight to the CPU as soon as it is known: before gradients are clipped, unscaled
    (16-mixed) or summed over devices.
    """
    found = []
    if clipped and hardware.strategy == "fsdp":
        found.append("strategy: fsdp: Lightning cannot clip gradients in parts; use ddp, or no gradient_clip")
    if clipped and hardware.fused_optimizer and hardware.precision != "32":
        found.append(
            f"fused_optimizer: Lightning cannot clip gradients for it with precision {hardware.precision};"
            " leave it out, or gradient_clip"
        )
    if hardware.offload_optimizer:
        alone = {
            "gradient_clip": clipped,
            "precision: 16-mixed": hardware.precision == "16-mixed",
            f"devices: {hardware.devices}": hardware.devices > 1,
        }
        for setting in [setting for setting, used in alone.items() if used]:
            found.append(f"offload_optimizer: gradients are gone before {setting} could act on them; leave one out")
    return found


def missing_trackers(trackers: tuple[Tracker, ...] | list[Tracker]) -> list[str]:
    """Trackers that are not installed, one line each."""
    return [f"{name} is not installed; pip install {name}, or leave it out" for name in trackers if not find_spec(name)]
