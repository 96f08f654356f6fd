"""Checkpoints: what they say of themselves, that reading them runs nothing, and what is no checkpoint."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import torch
from _synthetic import METADATA, SMALL, small_run, training_pack
from hypothesis import given, settings
from hypothesis import strategies as st

import toporank
from toporank.errors import CheckpointError
from toporank.graphs.pack import GraphStore
from toporank.model.checkpoint import KEY, describe, read_description
from toporank.model.scorer import load_weights, predict
from toporank.training.data import fingerprint
from toporank.training.provenance import TRAINING_SOURCES
from toporank.training.train import train_run

pytestmark = [pytest.mark.filterwarnings("ignore:.*LeafSpec.*"), pytest.mark.filterwarnings("ignore:.*weights_only.*")]


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """The folder of a run of two epochs."""
    folder = tmp_path_factory.mktemp("trained")
    pack = training_pack(folder / "pack.safetensors")
    train_run(small_run("Größe_1", seed=7, max_epochs=2), [pack], 1, folder / "run", folder / "store")
    return folder


@pytest.fixture(scope="module")
def checkpoint(trained) -> Path:
    return trained / "run" / "last.ckpt"


def altered(checkpoint: Path, path: Path, **changes) -> Path:
    """A copy with some of its parts replaced."""
    torch.save({**torch.load(checkpoint, weights_only=True), **changes}, path)
    return path


class Evil:
    """Makes a folder when unpickled."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


# ---- the description --------------------------------------------------------------------------------------


def test_a_description_says_everything_that_is_needed_to_score(checkpoint):
    description = read_description(checkpoint)
    assert {key: description[key] for key in METADATA} == METADATA
    assert (description["node_width"], description["edge_width"]) == (5, 3)
    assert {key: description["hyperparameters"][key] for key in SMALL} == {**SMALL, "max_epochs": 2}


def test_a_description_says_where_the_checkpoint_comes_from(checkpoint, trained):
    description = read_description(checkpoint)
    assert (description["run"], description["seed"], description["epoch"]) == ("Größe_1", 7, 1)
    assert description["parent"] is None
    assert description["selection"]["rule"] == "val_loss"
    assert set(description["metrics"]) >= {"val_loss", "val_selection", "val_spearman", "val_ranking_loss"}
    assert description["training_set"] == {
        "fingerprint": fingerprint(GraphStore.open([trained / "pack.safetensors"])), "train": 18, "val": 12,
    }  # fmt: skip


def test_a_description_says_what_it_was_made_with(checkpoint):
    provenance = read_description(checkpoint)["provenance"]
    versions = provenance["versions"]
    for package in ("torch", "torch-geometric", "pytorch-lightning", "gudhi", "gemmi", "numpy"):
        assert versions[package] == metadata.version(package)
    assert versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert versions["toporank"] == toporank.__version__
    assert re.fullmatch(r"[0-9a-f]{12,40}(\+changes)?|not a clone|git is not available", provenance["git"])


def test_a_description_is_read_without_torch(checkpoint):
    program = (
        "import json, sys\n"
        "from toporank.model.checkpoint import read_description\n"
        "description = read_description(sys.argv[1])\n"
        "loaded = [m for m in ('torch', 'torch_geometric', 'pytorch_lightning') if m in sys.modules]\n"
        "print(json.dumps([loaded, description['run'], description['epoch']]))\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program, str(checkpoint)], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(Path(toporank.__file__).parents[1])},
    )  # fmt: skip
    assert json.loads(answer.stdout) == [[], "Größe_1", 1]


def test_descriptions_are_told_apart_by_epoch(trained):
    epochs = {name: read_description(trained / "run" / f"{name}.ckpt")["epoch"] for name in ("best_loss", "last")}
    assert epochs["last"] == 1
    assert epochs["best_loss"] in (0, 1)


# ---- no code is run ---------------------------------------------------------------------------------------


def test_code_in_a_checkpoint_is_not_run(checkpoint, tmp_path):
    mark = tmp_path / "was run"
    bad = altered(checkpoint, tmp_path / "bad.ckpt", extra=Evil(mark))
    assert read_description(bad) == read_description(checkpoint)
    with pytest.raises(CheckpointError, match=r"bad\.ckpt: weights do not load"):
        load_weights(bad)
    assert not mark.exists()
    torch.load(bad, weights_only=False)  # the control: an unguarded load does run it
    assert mark.exists()


# ---- no checkpoint ----------------------------------------------------------------------------------------


def missing(path: Path, checkpoint: Path) -> None:
    pass


def empty(path: Path, checkpoint: Path) -> None:
    path.write_bytes(b"")


def garbage(path: Path, checkpoint: Path) -> None:
    path.write_bytes(b"\x80\x02garbage" * 50)


def text(path: Path, checkpoint: Path) -> None:
    path.write_text('{"toporank_checkpoint": 1}')


def folder(path: Path, checkpoint: Path) -> None:
    path.mkdir()


def half(path: Path, checkpoint: Path) -> None:
    path.write_bytes(checkpoint.read_bytes()[: checkpoint.stat().st_size // 2])


def another_zip(path: Path, checkpoint: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<text/>")


def zip_of_garbage(path: Path, checkpoint: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"garbage")


def foreign(path: Path, checkpoint: Path) -> None:
    torch.save({"state_dict": {"weight": torch.zeros(3)}, "epoch": 3}, path)


def broken_description(path: Path, checkpoint: Path) -> None:
    altered(checkpoint, path, **{KEY: describe({"run": "x"})[:-5]})


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (missing, "no such checkpoint"),
        (empty, "not a readable checkpoint"),
        (garbage, "not a readable checkpoint"),
        (text, "not a readable checkpoint"),
        (folder, "not a readable checkpoint"),
        (half, "not a readable checkpoint"),
        (zip_of_garbage, "not a readable checkpoint"),
        (broken_description, "not a readable checkpoint"),
        (another_zip, r"not a TopoRank checkpoint \(use"),
        (foreign, r"not a TopoRank checkpoint \(use"),
    ],
)
@pytest.mark.parametrize("read", [read_description, load_weights])
def test_what_is_no_checkpoint_is_an_error_that_names_it(tmp_path, checkpoint, make, complaint, read):
    path = tmp_path / "file.ckpt"
    make(path, checkpoint)
    with pytest.raises(CheckpointError, match=r"file\.ckpt: " + complaint):
        read(path)


@settings(deadline=None, max_examples=150)
@given(st.binary(max_size=60))
def test_any_bytes_in_place_of_the_pickle_are_a_checkpoint_error(tmp_path_factory, pickled):
    path = tmp_path_factory.getbasetemp() / "fuzzed.ckpt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
    with pytest.raises(CheckpointError):
        read_description(path)


def test_weights_that_do_not_fit_the_description_are_an_error(checkpoint, tmp_path):
    state = torch.load(checkpoint, weights_only=True)["state_dict"]
    name = "network.embed_nodes.weight"
    bad = altered(checkpoint, tmp_path / "bad.ckpt", state_dict={**state, name: state[name][:, :-1]})
    with pytest.raises(CheckpointError, match=r"bad\.ckpt: weights do not load"):
        load_weights(bad)
    bad = altered(checkpoint, tmp_path / "bad.ckpt", state_dict={k: v for k, v in state.items() if k != name})
    with pytest.raises(CheckpointError, match=r"bad\.ckpt: weights do not load"):
        load_weights(bad)


# ---- weights ----------------------------------------------------------------------------------------------


def test_a_loaded_network_is_ready_to_score(checkpoint, trained):
    network, description = load_weights(checkpoint)
    assert description == read_description(checkpoint)
    assert not network.training
    store = GraphStore.open([trained / "pack.safetensors"])
    once, again = predict(network, store), predict(load_weights(checkpoint)[0], store)
    assert torch.equal(once, again)
    assert once.shape == (30,)
    assert once.std() > 0


@pytest.mark.parametrize("batch_size", [1, 7, 30, 1000])
def test_predictions_do_not_depend_on_the_size_of_batches(checkpoint, trained, batch_size):
    network, _ = load_weights(checkpoint)
    store = GraphStore.open([trained / "pack.safetensors"])
    torch.testing.assert_close(predict(network, store, batch_size), predict(network, store), rtol=0, atol=1e-6)


def test_a_training_is_known_by_all_code_that_decides_its_result():
    """Whatever of these folders a run imports is part of its key, or stands here with the reason why not."""
    others = {
        "model/checkpoint.py",  # how weights are read and written
        "model/topoqa.py",  # how those of others are
        "training/provenance.py",  # says what a result was made with
        "training/trackers.py",  # show metrics, and change nothing
    }
    code = (
        "import sys, toporank.training.fit, toporank.training.train;"
        "print(*(m for m in sys.modules if m.startswith('toporank.')))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    told = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()
    imported = {name.removeprefix("toporank.").replace(".", "/") + ".py" for name in told}
    deciding = {file for file in imported if file.startswith(("model/", "training/"))}
    assert deciding - others == {s for s in TRAINING_SOURCES if s.startswith(("model/", "training/"))}
    assert set(TRAINING_SOURCES) <= imported
