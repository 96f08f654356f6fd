"""Settings of the hardware: what this machine cannot do is refused with a reason, the rest does what it says."""

from __future__ import annotations

import tracemalloc

import pytest
import torch
from _synthetic import labelled, members, random_graph, small_run, training_pack
from pytorch_lightning.plugins.precision import FSDPPrecision, MixedPrecision
from pytorch_lightning.strategies import DDPStrategy, FSDPStrategy
from pytorch_lightning.utilities.exceptions import MisconfigurationException

from toporank.building.packing import write_pack
from toporank.errors import ConfigError
from toporank.learning import accelerator, splits, train
from toporank.learning.accelerator import prepare, refusals
from toporank.learning.checkpoint import read_description
from toporank.learning.graphs import GraphStore
from toporank.learning.hardware import Hardware, contradictions
from toporank.learning.network import DockQNet
from toporank.learning.run import Run


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
    "compile": ({"compile": "default"}, ["compile: torch.compile needs a C++ compiler"]),
    "all": ({"precision": "16-mixed", "compile": "default"}, ["precision:", "compile:"]),
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


def test_a_run_is_trained_and_described_with_its_settings(tmp_path, monkeypatch):
    """A fused optimiser changes results by rounding alone."""
    monkeypatch.chdir(tmp_path)
    pack = training_pack(tmp_path / "pack.safetensors")
    seen = []
    step = torch.optim.Adam.__init__
    monkeypatch.setattr(
        torch.optim.Adam, "__init__", lambda self, *a, **k: (seen.append(k.get("fused")), step(self, *a, **k))[1]
    )
    metrics = {}
    for name, settings in {"plain": {}, "other": {"fused_optimizer": True}}.items():
        run = Run(**{**vars(small_run(max_epochs=2)), "hardware": Hardware(**settings)})
        train.train_run(run, [pack], 1, tmp_path / name, tmp_path / "store")
        description = read_description(tmp_path / name / "last.ckpt")
        assert description["hardware"] == Hardware(**settings).model_dump()
        metrics[name] = description["metrics"]
    assert seen == [False, True]
    assert metrics["other"] == pytest.approx(metrics["plain"], abs=1e-6)


# ---- several devices, offloading ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "reason"),
    [({"strategy": "fsdp", "devices": 2}, "strategy: fsdp: needs two CUDA devices or more; use ddp"),
     ({"devices": 10_000}, "devices: 10000: there are"),
     ({"accelerator": "mps", "devices": 2}, "devices: 2: a Mac has one GPU"),
     ({"offload_optimizer": True}, "offload_optimizer: on cpu the state of Adam is where the network is")],
)  # fmt: skip
def test_devices_that_cannot_work_together_are_refused(bare, settings, reason):
    assert any(line.startswith(reason) for line in refusals(Hardware(**settings)))


LATE = {
    "clipping of parts": ({"strategy": "fsdp", "devices": 2}, "strategy: fsdp: Lightning cannot clip"),
    "clipping of a fused step, half": (
        {"fused_optimizer": True, "precision": "16-mixed"}, "fused_optimizer: Lightning cannot clip"),
    "clipping of a fused step, bf16": (
        {"fused_optimizer": True, "precision": "bf16-mixed"}, "fused_optimizer: Lightning cannot clip"),
    "clipping what has gone": (
        {"offload_optimizer": True}, "offload_optimizer: gradients are gone before gradient_clip could"),
}  # fmt: skip
"""Settings of a GPU that go without `gradient_clip` and not with it."""


@pytest.mark.parametrize("name", LATE)
def test_what_cannot_be_done_to_clipped_gradients_is_refused(name):
    settings, reason = LATE[name]
    hardware = Hardware(accelerator="cuda", **settings)
    assert contradictions(hardware, "cuda", installed=False) == []
    (line,) = contradictions(hardware, "cuda", clipped=True, installed=False)
    assert line.startswith(reason)


@pytest.mark.parametrize("other", [{"precision": "16-mixed"}, {"devices": 2}], ids=lambda other: next(iter(other)))
def test_an_offloaded_optimiser_is_refused_what_comes_after_the_gradient_of_each_weight(other):
    assert contradictions(Hardware(**other), "cuda") == []
    (line,) = contradictions(Hardware(offload_optimizer=True, **other), "cuda", installed=False)
    assert line.startswith(f"offload_optimizer: gradients are gone before {next(iter(other))}: ")


def test_lightning_still_cannot_clip_these():
    """The control: otherwise they need not be refused."""
    fused = torch.optim.Adam([torch.zeros(2, requires_grad=True)], fused=True)
    for precision in ("16-mixed", "bf16-mixed"):
        with pytest.raises(RuntimeError, match="does not allow for gradient clipping"):
            MixedPrecision(precision, "cpu").clip_gradients(fused, 1.0)
    with pytest.raises(MisconfigurationException, match="not supported"):
        FSDPPrecision("32-true").clip_gradients(fused, 1.0)


@pytest.mark.parametrize(("strategy", "kind"), [("ddp", DDPStrategy), ("fsdp", FSDPStrategy)])
def test_devices_are_joined_by_the_strategy_that_is_asked_for(strategy, kind):
    assert type(accelerator._strategy(Hardware(devices=2, strategy=strategy))) is kind


def test_layers_that_are_computed_again_give_the_same_bits_and_keep_less(tmp_path):
    store = GraphStore.open([training_pack(tmp_path / "pack")])
    batch, results = store.batch(list(range(12))), []
    for recompute in (False, True):
        torch.manual_seed(3)
        network = DockQNet(5, 3, hidden=8, heads=2, layers=3, attention_dropout=0.5, readout=8).train()
        network.recompute = recompute
        kept = 0

        def pack(tensor):
            nonlocal kept
            kept += tensor.nbytes
            return tensor

        torch.manual_seed(4)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            loss = network(batch).square().sum()
        loss.backward()
        results.append((loss, kept, [weight.grad for weight in network.parameters()]))
    (loss, kept, gradients), (loss_again, kept_again, gradients_again) = results
    assert torch.equal(loss, loss_again)
    assert all(torch.equal(a, b) for a, b in zip(gradients, gradients_again, strict=True))
    assert kept_again < kept / 2


def test_what_is_trained_on_is_known_by_a_digest_that_copies_nothing(tmp_path):
    graphs = {("T0", "d0", "train"): random_graph(1, nodes=200_000, dockq=0.5), ("V0", "d0", "val"): labelled(2)}
    write_pack(tmp_path / "pack", members(tmp_path / "graphs", graphs))
    store = GraphStore.open([tmp_path / "pack"])
    tracemalloc.start()
    try:
        digest, (_, most) = splits.fingerprint(store), tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < store.parts[0]["x"].nbytes / 4
    assert digest == splits.fingerprint(GraphStore.open([tmp_path / "pack"], in_memory=True))
    store.parts[0]["x"] = store.parts[0]["x"] + 1
    assert digest != splits.fingerprint(store)
