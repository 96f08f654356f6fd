"""Settings of the hardware: what this machine cannot do is refused with a reason, the rest does what it says."""

from __future__ import annotations

import sys
import tracemalloc
from datetime import timedelta
from types import ModuleType, SimpleNamespace

import pandas as pd
import pytest
import torch
from _synthetic import labelled, members, random_graph, small_run, training_pack
from pydantic import ValidationError
from pytorch_lightning.loggers import CSVLogger
from pytorch_lightning.plugins.precision import FSDPPrecision, MixedPrecision
from pytorch_lightning.strategies import DDPStrategy, FSDPStrategy
from pytorch_lightning.utilities.exceptions import MisconfigurationException
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from toporank.building.packing import write_pack
from toporank.errors import ConfigError
from toporank.learning import accelerator, data, fit, splits, trackers, train
from toporank.learning.accelerator import device_of, prepare, refusals
from toporank.learning.checkpoint import read_description
from toporank.learning.data import loader_options
from toporank.learning.graphs import GraphStore
from toporank.learning.hardware import Hardware, Loading
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
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(major=capability[0]))
    monkeypatch.setattr(torch.cuda, "_check_bf16_tensor_supported", lambda device: True)  # slowly, by emulation
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
     ({"backend": "nccl"}, "backend: nccl: connects CUDA devices, not cpu; use auto"),
     ({"devices": 10_000}, "devices: 10000: there are"),
     ({"accelerator": "mps", "devices": 2}, "devices: 2: a Mac has one GPU"),
     ({"offload_optimizer": True}, "offload_optimizer: on cpu the state of Adam is where the network is")],
)  # fmt: skip
def test_devices_that_cannot_work_together_are_refused(bare, settings, reason):
    assert any(line.startswith(reason) for line in refusals(Hardware(**settings)))


def test_more_gpus_than_there_are_and_a_missing_package_are_refused(bare, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert refusals(Hardware(accelerator="cuda", devices=2, strategy="fsdp")) == []
    assert refusals(Hardware(accelerator="cuda", devices=3)) == ["devices: 3: there are 2 CUDA devices; use fewer"]
    monkeypatch.setattr("toporank.learning.hardware.find_spec", lambda name: None)
    (line,) = refusals(Hardware(accelerator="cuda", offload_optimizer=True))
    assert line == "offload_optimizer: torchao is not installed; pip install torchao, or leave it out"


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


@pytest.fixture
def two_gpus(monkeypatch):
    """A machine with two GPUs, as far as anybody asks."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: True)
    monkeypatch.setattr("toporank.learning.hardware.find_spec", lambda name: object())


@pytest.mark.parametrize("name", LATE)
def test_what_cannot_be_done_to_clipped_gradients_is_refused_when_a_run_starts(tmp_path, two_gpus, name):
    settings, reason = LATE[name]
    hardware = Hardware(accelerator="cuda", **settings)
    assert refusals(hardware) == []
    (line,) = refusals(hardware, clipped=True)
    assert line.startswith(reason)
    run = Run(**{**vars(small_run(gradient_clip=1.0)), "hardware": hardware})
    with pytest.raises(ConfigError, match=reason):
        train.train_run(run, [training_pack(tmp_path / "pack")], 1, tmp_path / "run", tmp_path / "store")


@pytest.mark.parametrize("other", [{"precision": "16-mixed"}, {"devices": 2}], ids=lambda other: next(iter(other)))
def test_an_offloaded_optimiser_is_refused_what_comes_after_the_gradient_of_each_weight(two_gpus, other):
    assert refusals(Hardware(accelerator="cuda", **other)) == []
    (line,) = refusals(Hardware(accelerator="cuda", offload_optimizer=True, **other))
    assert line.startswith(f"offload_optimizer: gradients are gone before {next(iter(other))}: ")


def test_lightning_still_cannot_clip_these():
    """The control: otherwise they need not be refused."""
    fused = torch.optim.Adam([torch.zeros(2, requires_grad=True)], fused=True)
    for precision in ("16-mixed", "bf16-mixed"):
        with pytest.raises(RuntimeError, match="does not allow for gradient clipping"):
            MixedPrecision(precision, "cpu").clip_gradients(fused, 1.0)
    with pytest.raises(MisconfigurationException, match="not supported"):
        FSDPPrecision("32-true").clip_gradients(fused, 1.0)


class Offloading(torch.optim.Optimizer):
    """Stands for torchao's class where there is no GPU: an optimiser for each weight, and no `Optimizer.__init__`."""

    def __init__(self, params, optimizer_class, *, offload_gradients=False, minimal_size=4096, **options):
        self.each = [optimizer_class([weight], **options) for weight in params]

    @torch.no_grad()
    def step(self, closure=None):
        loss = closure()
        for one in self.each:
            one.step()
        return loss

    def zero_grad(self, set_to_none=True):
        for one in self.each:
            one.zero_grad(set_to_none)

    @property
    def param_groups(self):
        return [group for one in self.each for group in one.param_groups]

    def state_dict(self):
        return {"offloaded": [one.state_dict() for one in self.each]}

    def load_state_dict(self, state):
        for one, own in zip(self.each, state["offloaded"], strict=True):
            one.load_state_dict(own)


def test_an_offloaded_optimiser_is_that_of_torchao_and_trains_as_adam_does(tmp_path, monkeypatch):
    """Only how it is asked for, and that Lightning takes what has no state: neither torchao nor a GPU is used here."""
    made = []
    monkeypatch.setattr(Offloading, "__new__", lambda cls, *a, **k: (made.append((a[1], k)), object.__new__(cls))[1])
    monkeypatch.setitem(sys.modules, "torchao", ModuleType("torchao"))
    monkeypatch.setitem(sys.modules, "torchao.optim", SimpleNamespace(CPUOffloadOptimizer=Offloading))
    monkeypatch.setattr(accelerator, "contradictions", lambda *_, **__: [])  # on a CPU it is refused
    pack, weights = training_pack(tmp_path / "pack"), []
    for offload in (False, True):
        schedule = {"max_epochs": 4, "plateau_patience": 0, "weight_decay": 0.01}
        run = Run(**{**vars(small_run(**schedule)), "hardware": Hardware(offload_optimizer=offload)})
        train.train_run(run, [pack], 1, tmp_path / f"{offload}", tmp_path / "store")
        weights.append(torch.load(tmp_path / f"{offload}" / "last.ckpt", weights_only=True)["state_dict"])
    assert made == [(torch.optim.Adam, {"lr": 0.02, "weight_decay": 0.01, "fused": False})]
    assert all(torch.equal(weights[1][name], value) for name, value in weights[0].items())


@pytest.mark.parametrize(("settings", "kind"), [({}, DDPStrategy), ({"strategy": "fsdp"}, FSDPStrategy)])
def test_two_gpus_are_joined_by_the_strategy_that_is_asked_for(bare, monkeypatch, network, settings, kind):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    found = prepare(Hardware(accelerator="cuda", devices=2, timeout=3, **settings), network)
    assert type(found["strategy"]) is kind
    assert found["strategy"]._process_group_backend == "nccl"
    assert found["strategy"]._timeout == timedelta(minutes=3)
    assert found["devices"] == 2


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


# ---- loading and trackers: they change no result ------------------------------------------------------------


def test_workers_and_pinning_are_chosen_by_device_and_size(tmp_path, monkeypatch):
    store = GraphStore.open([training_pack(tmp_path / "pack")])
    assert loader_options(Loading(), store, "cpu") == {"pin_memory": False}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert loader_options(Loading(), store, "cuda") == {"pin_memory": True}
    monkeypatch.setattr(data, "LARGE", 1)
    monkeypatch.setattr(data.os, "cpu_count", lambda: 8)
    assert loader_options(Loading(), store, "cuda")["num_workers"] == 4
    assert loader_options(Loading(in_memory=True), store, "cuda") == {"pin_memory": True}
    assert loader_options(Loading(), store, "cpu") == {"pin_memory": False}
    chosen = Loading(workers=1, prefetch=5, pin_memory=False, persistent_workers=False)
    assert loader_options(chosen, store, "cpu") == {
        "num_workers": 1, "prefetch_factor": 5, "pin_memory": False, "persistent_workers": False,
    }  # fmt: skip


def test_packs_that_do_not_fit_into_memory_are_refused_with_sizes_and_remedy(tmp_path, monkeypatch):
    pack = training_pack(tmp_path / "pack")
    size = pack.stat().st_size
    free = SimpleNamespace(available=2 * size)
    monkeypatch.setattr(splits.psutil, "virtual_memory", lambda: free)
    monkeypatch.setattr(train, "open_graphs", None)  # nothing is read before
    run = Run(**{**vars(small_run()), "loading": Loading(in_memory=True), "hardware": Hardware(devices=3)})
    said = r"training.loading.in_memory: the packs take 0.0 GiB of memory \(3 processes\), 0.0 GiB are free \(leave it"
    with pytest.raises(ConfigError, match=said):
        train.train_run(run, [pack], 1, tmp_path / "run", tmp_path / "store")
    splits.check_memory([pack, pack], 2)  # learned from and validated on: one pack
    free.available = size - 1
    with pytest.raises(ConfigError, match=r"memory, 0.0 GiB"):
        splits.check_memory([pack], 1)


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


@pytest.mark.parametrize("workers", [-1, "many"])
def test_a_number_of_workers_that_makes_no_sense_is_refused(workers):
    with pytest.raises(ValidationError, match="workers"):
        Loading(workers=workers)


def test_neither_workers_nor_memory_nor_trackers_change_a_result(tmp_path, monkeypatch):
    """And none of them makes the run another one."""
    monkeypatch.setattr(fit, "provenance", lambda: {})
    pack = training_pack(tmp_path / "pack.safetensors")
    other = {"loading": Loading(workers=1, in_memory=True), "trackers": ("tensorboard",)}
    bytes_of = []
    for name, settings in {"plain": {}, "other": other}.items():
        run = Run(**{**vars(small_run(max_epochs=2)), **settings})
        for store in (tmp_path / name / "store", tmp_path / "shared"):
            train.train_run(run, [pack], 1, tmp_path / name / "run", store)
        bytes_of.append((tmp_path / name / "run" / "last.ckpt").read_bytes())
        bytes_of.append((tmp_path / name / "run" / "metrics.csv").read_bytes())
    assert bytes_of[:2] == bytes_of[2:]
    assert len(list((tmp_path / "shared" / "runs").iterdir())) == 1
    events = list((tmp_path / "other" / "run").glob("tensorboard/*tfevents*"))
    assert events


def test_tensorboard_shows_the_metrics_of_every_epoch(tmp_path):
    run = Run(**{**vars(small_run(max_epochs=3)), "trackers": ("tensorboard",)})
    train.train_run(run, [training_pack(tmp_path / "pack")], 1, tmp_path / "run", tmp_path / "store")
    table = pd.read_csv(tmp_path / "run" / "metrics.csv")
    shown = EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
    assert {name for name in table.columns if name not in ("epoch", "learning_rate")} <= set(shown.Tags()["scalars"])
    for name in ("train_loss", "val_loss", "val_ranking_loss"):
        assert [event.value for event in shown.Scalars(name)] == pytest.approx(table[name].tolist())


def test_a_tracker_gets_the_metrics_of_every_epoch(tmp_path, monkeypatch):
    """MLflow is stood in for; what is asked of Lightning is a logger."""
    seen = []

    class Recorder(CSVLogger):
        def log_metrics(self, metrics, step=None):
            seen.append(metrics)

    made = lambda experiment, run, tracking_uri: Recorder(tmp_path, f"{experiment}_{run}")  # noqa: E731
    monkeypatch.setattr(trackers, "MLFlowLogger", made)
    monkeypatch.setattr("toporank.learning.hardware.find_spec", lambda name: object())
    run = Run(**{**vars(small_run(max_epochs=3)), "trackers": ("mlflow",)})
    train.train_run(run, [training_pack(tmp_path / "pack")], 1, tmp_path / "run", tmp_path / "store")
    losses = [metrics["val_loss"] for metrics in seen if "val_loss" in metrics]
    assert losses == pytest.approx(pd.read_csv(tmp_path / "run" / "metrics.csv")["val_loss"].tolist())


def test_a_tracker_that_is_not_installed_is_refused_before_training(tmp_path, monkeypatch):
    monkeypatch.setattr("toporank.learning.hardware.find_spec", lambda name: None)
    run = Run(**{**vars(small_run()), "trackers": ("tensorboard", "mlflow")})
    with pytest.raises(ConfigError, match=r"(?s)tensorboard is not installed; pip install .*mlflow is not installed"):
        train.train_run(run, [training_pack(tmp_path / "pack")], 1, tmp_path / "run", tmp_path / "store")
