"""Settings of the hardware: whether this machine can use them, and what they mean to Lightning and torch."""

from __future__ import annotations

import os
import shutil
from typing import Any

import torch
from pytorch_lightning.strategies import DDPStrategy, FSDPStrategy, Strategy

from toporank.errors import ConfigError
from toporank.learning.hardware import Hardware, contradictions
from toporank.learning.network import Network


def device_of(hardware: Hardware) -> str:
    """cpu, cuda or mps."""
    if hardware.accelerator != "auto":
        return hardware.accelerator
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def refusals(hardware: Hardware, *, clipped: bool = False) -> list[str]:
    """Why this machine cannot train so; one line for each setting it has to refuse, none if it can.

    clipped : whether gradients are.
    """
    device, found = device_of(hardware), []
    if device == "cuda" and not torch.cuda.is_available():
        found.append(f"accelerator: cuda: torch {torch.__version__} finds no CUDA device; use auto or cpu")
    elif device == "mps" and not torch.backends.mps.is_available():
        found.append("accelerator: mps: this is no Mac with a GPU that torch can use; use auto or cpu")
    elif hardware.precision == "bf16-mixed" and device == "cuda" and not torch.cuda.is_bf16_supported(False):
        found.append("precision: bf16-mixed: this GPU has no bfloat16; use 16-mixed or 32")
    found += contradictions(hardware, device, clipped=clipped)
    there = torch.cuda.device_count() if device == "cuda" else os.cpu_count() or 1
    if hardware.devices > max(1, there) and device != "mps":
        what = "CUDA devices" if device == "cuda" else "CPU cores"
        found.append(f"devices: {hardware.devices}: there are {there} {what}; use fewer")
    if hardware.devices > 1 and not torch.distributed.is_available():
        found.append(f"devices: {hardware.devices}: torch was built without torch.distributed; use 1")
    if hardware.compile != "no" and device == "cpu" and not any(map(shutil.which, ("c++", "g++", "clang++"))):
        found.append("compile: torch.compile needs a C++ compiler and none is installed; use compile: no")
    return found


def check(hardware: Hardware, *, clipped: bool = False) -> None:
    """Raise ConfigError with all `refusals`."""
    faults = refusals(hardware, clipped=clipped)
    if faults:
        raise ConfigError("training.hardware: " + "\n  training.hardware: ".join(faults))


def prepare(hardware: Hardware, network: Network, *, clipped: bool = False) -> dict[str, Any]:
    """Set up torch and the network; returns the settings of the Trainer. Raises as `check` does."""
    check(hardware, clipped=clipped)
    device = device_of(hardware)
    if device == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # as its deterministic algorithms demand
    torch.set_float32_matmul_precision("highest")
    if hardware.compile != "no":
        network.compile(dynamic=True, mode=hardware.compile)
    network.recompute = hardware.activation_checkpointing
    return {
        "accelerator": device,
        "devices": hardware.devices,
        "strategy": _strategy(hardware) if hardware.devices > 1 else "auto",
        "precision": {"32": "32-true"}.get(hardware.precision, hardware.precision),
        "deterministic": True if device == "cpu" else "warn",
    }


def _strategy(hardware: Hardware) -> Strategy:
    """How several devices share a run; Lightning takes NCCL between GPUs, and gloo otherwise."""
    if hardware.strategy == "fsdp":
        return FSDPStrategy(state_dict_type="full")  # checkpoints are the same as of one device
    return DDPStrategy()
