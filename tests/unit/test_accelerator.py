"""Settings of the hardware: what this machine cannot do is refused with a reason, the rest does what it says."""

from __future__ import annotations

import pytest
import torch
from _synthetic import small_run, training_pack

from toporank.config.hardware import Hardware
from toporank.errors import ConfigError
from toporank.model.checkpoint import read_description
from toporank.model.network import DockQNet
from toporank.training import accelerator, fit
from toporank.training.accelerator import device_of, prepare, refusals


@pytest.fixture
def bare(monkeypatch):
    """A machine without GPU and compiler."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(accelerator.shutil, "which", lambda name: None)


@pytest.fixture
def network() -> DockQNet:
    return DockQNet(5, 3, hidden=8, heads=2, layers=1, attention_dropout=0.0, readout=8)


REFUSED = {
    "cuda": ({"accelerator": "cuda"}, ["accelerator: cuda", "finds no CUDA device; use auto or cpu"]),
    "mps": ({"accelerator": "mps"}, ["accelerator: mps", "no Mac"]),
    "bf16": ({"precision": "bf16-mixed"}, ["precision: bf16-mixed", "use 32 or a GPU"]),
    "half": ({"accelerator": "auto", "precision": "16-mixed"}, ["precision: 16-mixed", "use 32 or a GPU"]),
    "tf32": ({"tf32": True}, ["tf32: cpu has no TF32"]),
    "compile": ({"compile": "default"}, ["compile: torch.compile needs a C++ compiler"]),
    "all": ({"precision": "16-mixed", "tf32": True, "compile": "default"}, ["precision:", "tf32:", "compile:"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_machine_cannot_do_is_refused_with_a_reason(bare, network, name):
    settings, reasons = REFUSED[name]
    with pytest.raises(ConfigError) as caught:
        prepare(Hardware(**settings), network)
    assert all(reason in str(caught.value) for reason in reasons)
    assert str(caught.value).count("training.hardware: ") == len(refusals(Hardware(**settings)))


def test_the_defaults_are_refused_nowhere(bare, network):
    assert refusals(Hardware()) == []
    assert prepare(Hardware(), network)["deterministic"] is True


def test_auto_takes_what_is_there(bare, monkeypatch):
    assert device_of(Hardware(accelerator="auto")) == "cpu"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert device_of(Hardware(accelerator="auto")) == "mps"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert device_of(Hardware(accelerator="auto")) == "cuda"


@pytest.mark.parametrize(
    ("capability", "settings", "reason"),
    [((7, 5), {"tf32": True}, "older than TF32"), ((8, 0), {"tf32": True}, None),
     ((7, 0), {"precision": "bf16-mixed"}, "no bfloat16"), ((7, 0), {"precision": "16-mixed"}, None)],
)  # fmt: skip
def test_an_old_gpu_is_asked_for_no_more_than_it_can(bare, monkeypatch, capability, settings, reason):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: capability >= (8, 0))
    found = refusals(Hardware(accelerator="cuda", **settings))
    assert found == [] if reason is None else reason in found[0]


def test_a_run_is_trained_and_described_with_its_settings(tmp_path, monkeypatch):
    """A fused optimiser and another batch of validation change results by rounding alone."""
    monkeypatch.chdir(tmp_path)
    pack = training_pack(tmp_path / "pack.safetensors")
    seen = []
    step = torch.optim.Adam.__init__
    monkeypatch.setattr(
        torch.optim.Adam, "__init__", lambda self, *a, **k: (seen.append(k.get("fused")), step(self, *a, **k))[1]
    )
    metrics = {}
    for name, settings in {"plain": {}, "other": {"fused_optimizer": True, "validation_batch": 5}}.items():
        run = fit.Run(**{**vars(small_run(max_epochs=2)), "hardware": Hardware(**settings)})
        fit.train_run(run, [pack], 1, tmp_path / name, tmp_path / "store")
        description = read_description(tmp_path / name / "last.ckpt")
        assert description["hardware"] == Hardware(**settings).model_dump()
        metrics[name] = description["metrics"]
    assert seen == [False, True]
    assert metrics["other"] == pytest.approx(metrics["plain"], abs=1e-6)
