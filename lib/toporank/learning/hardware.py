"""What networks are trained on. Whether this machine has it is found out when a run starts: `learning.accelerator`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal

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
    precision: Literal["32", "bf16-mixed", "16-mixed"] = Field(
        "32", description="Precision of products and activations; all but `32` need a GPU."
    )
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


def contradictions(hardware: Hardware, device: str, *, clipped: bool = False, installed: bool = True) -> list[str]:
    """Settings that no machine can use together on a device (cpu, cuda or mps): one line each, none if there are none.

    clipped : whether a run has a `gradient_clip`. installed : whether what is needed must be installed here.
    """
    found = []
    if hardware.precision != "32" and device == "cpu":
        found.append(f"precision: {hardware.precision}: the loops for CPUs are in single precision; use 32 or a GPU")
    if hardware.devices > 1 and device == "mps":
        found.append(f"devices: {hardware.devices}: a Mac has one GPU; use devices: 1 or accelerator: cpu")
    if hardware.strategy == "fsdp" and (device != "cuda" or hardware.devices < 2):
        found.append("strategy: fsdp: needs two CUDA devices or more; use ddp")
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
