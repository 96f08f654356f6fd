"""Checkpoints: what they say of themselves, that reading them runs nothing, and what is no
checkpoint.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import torch
from _chains import chain
from _synthetic import Evil, predict, small_run, training_pack
from safetensors import safe_open
from safetensors.torch import save_file

import toporank
from toporank.comparing.homology.remembered import remember
from toporank.errors import CheckpointError
from toporank.learning.checkpoint import KEY, describe, read_description, toy
from toporank.learning.data import GraphStore
from toporank.learning.splits import fingerprint
from toporank.learning.train import TrainingGraphs, train_run
from toporank.learning.weights import build_network, load_weights, network_bytes

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*LeafSpec.*"),
    pytest.mark.filterwarnings("ignore:.*weights_only.*"),
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """The folder of a run of two epochs."""
    folder = tmp_path_factory.mktemp("trained")
    pack = training_pack(folder / "pack.safetensors")
    run = small_run("Größe_1", seed=7, max_epochs=2)
    train_run(run, TrainingGraphs([pack]), 1, folder / "run", folder / "store")
    return folder


@pytest.fixture(scope="module")
def checkpoint(trained) -> Path:
    return trained / "run" / "last.ckpt"


@pytest.fixture(scope="module")
def network(trained, checkpoint) -> Path:
    """The same network as a scorer has it."""
    path = trained / "network.safetensors"
    path.write_bytes(network_bytes(checkpoint))
    return path


def altered(checkpoint: Path, path: Path, **changes) -> Path:
    """A copy with some of its parts replaced."""
    torch.save({**torch.load(checkpoint, weights_only=True), **changes}, path)
    return path


# ---- the description -----------------------------------------------------------------------------


def test_a_description_says_where_the_checkpoint_comes_from(checkpoint, trained):
    description = read_description(checkpoint)
    assert (description["run"], description["seed"], description["epoch"]) == (
        "Größe_1",
        7,
        1,
    )
    assert description["parent"] is None
    assert description["selection"] == {"spearman_weight": 1.0}
    assert set(description["metrics"]) >= {
        "val_loss",
        "val_selection",
        "val_spearman",
        "val_ranking_loss",
    }
    assert description["training_set"] == {
        "fingerprint": fingerprint(GraphStore.open([trained / "pack.safetensors"])), "train": 18, "val": 12,
        "joined": 0,
    }  # fmt: skip


def test_a_description_says_what_it_was_made_with(checkpoint):
    provenance = read_description(checkpoint)["provenance"]
    versions = provenance["versions"]
    for package in (
        "torch",
        "torch-geometric",
        "pytorch-lightning",
        "gudhi",
        "gemmi",
        "numpy",
    ):
        assert versions[package] == metadata.version(package)
    assert versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert versions["toporank"] == toporank.__version__
    assert re.fullmatch(
        r"[0-9a-f]{12,40}(\+changes)?|not a clone|git is not available",
        provenance["git"],
    )


def test_a_network_of_a_scorer_is_safetensors_that_say_what_the_checkpoint_says_but_for_the_commit(
    checkpoint, network
):
    description = read_description(checkpoint)
    description["provenance"].pop("git")
    assert read_description(network) == description
    with safe_open(network, "pt") as file:
        assert json.loads(file.metadata()[KEY]) == description
        state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    saved = load_weights(checkpoint)[0].state_dict()
    assert {*state} == {*saved}
    for loaded in (state, load_weights(network)[0].state_dict()):
        assert all(torch.equal(loaded[name], tensor) for name, tensor in saved.items())
    assert network_bytes(network) == network.read_bytes()


def test_the_description_of_a_network_of_a_scorer_is_that_of_its_checkpoint(network):
    description = read_description(network)
    assert (description["run"], description["epoch"]) == ("Größe_1", 1)


# ---- no code is run ------------------------------------------------------------------------------


def test_code_in_a_checkpoint_is_not_run(checkpoint, tmp_path):
    mark = tmp_path / "was run"
    bad = altered(checkpoint, tmp_path / "bad.ckpt", extra=Evil(mark))
    for read in (read_description, load_weights):
        with pytest.raises(
            CheckpointError,
            match=r"bad\.ckpt: not a readable checkpoint: it asks for \S*mkdir, which",
        ):
            read(bad)
    assert not mark.exists()
    torch.load(bad, weights_only=False)  # the control: an unguarded load does run it
    assert mark.exists()


# ---- no checkpoint -------------------------------------------------------------------------------


def zip_with(name: str, path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, "garbage")


UNREADABLE = "not a readable checkpoint"
NO_CHECKPOINTS = {
    "missing": (lambda path, _: None, "no such checkpoint"),
    "empty": (lambda path, _: path.write_bytes(b""), UNREADABLE),
    "garbage": (lambda path, _: path.write_bytes(b"\x80\x02garbage" * 50), UNREADABLE),
    "text": (lambda path, _: path.write_text('{"toporank_checkpoint": 1}'), UNREADABLE),
    "folder": (lambda path, _: path.mkdir(), UNREADABLE),
    "half": (lambda path, good: path.write_bytes(good.read_bytes()[:9000]), UNREADABLE),
    "another zip": (lambda path, _: zip_with("word/document.xml", path), UNREADABLE),
    "broken zip": (lambda path, _: zip_with("archive/data.pkl", path), UNREADABLE),
    "broken text": (
        lambda path, good: altered(good, path, **{KEY: describe({"run": "x"})[:-5]}),
        UNREADABLE,
    ),
    "deep text": (
        lambda path, good: altered(good, path, **{KEY: "[" * 10**6}),
        f"{UNREADABLE}: its description is damaged",
    ),
    "other arrays": (
        lambda path, _: save_file({"weight": torch.zeros(3)}, path),
        f"{UNREADABLE}: TopoRank did not write it",
    ),
    "half a network": (
        lambda path, good: path.write_bytes(network_bytes(good)[:-100]),
        f"{UNREADABLE}: .*incomplete metadata",
    ),
    "foreign": (
        lambda path, _: torch.save(
            {"state_dict": {"weight": torch.zeros(3)}, "epoch": 3}, path
        ),
        r"not a TopoRank checkpoint \(use",
    ),
}


@pytest.mark.parametrize("name", NO_CHECKPOINTS)
@pytest.mark.parametrize("read", [read_description, load_weights])
def test_what_is_no_checkpoint_is_an_error_that_names_it(
    tmp_path, checkpoint, name, read
):
    make, complaint = NO_CHECKPOINTS[name]
    path = tmp_path / "file.ckpt"
    make(path, checkpoint)
    with pytest.raises(CheckpointError, match=r"file\.ckpt: " + complaint):
        read(path)


def test_weights_that_do_not_fit_the_description_are_an_error(checkpoint, tmp_path):
    state = torch.load(checkpoint, weights_only=True)["state_dict"]
    name = "network.embed_nodes.weight"
    for changed, complaint in [
        ({**state, name: state[name][:, :-1]}, "embed_nodes.weight has the shape"),
        (
            {key: value for key, value in state.items() if key != name},
            "embed_nodes.weight is missing",
        ),
        (
            {**state, name: state[name].long()},
            "embed_nodes.weight has numbers of type int64",
        ),
        ({**state, name: state[name] * torch.inf}, "values that are not finite"),
        ([state], "is missing"),
    ]:
        bad = altered(checkpoint, tmp_path / "bad.ckpt", state_dict=changed)
        with pytest.raises(
            CheckpointError, match=rf"bad\.ckpt: weights do not load: .*{complaint}"
        ):
            load_weights(bad)


def test_weights_may_be_saved_as_parameters(checkpoint, tmp_path):
    """As DeepSpeed has them."""
    state = torch.load(checkpoint, weights_only=True)["state_dict"]
    parameters = {
        name: torch.nn.Parameter(values) if values.is_floating_point() else values
        for name, values in state.items()
    }
    path = altered(checkpoint, tmp_path / "parameters.ckpt", state_dict=parameters)
    found, expected = [load_weights(one)[0].state_dict() for one in (path, checkpoint)]
    for name in expected:
        torch.testing.assert_close(found[name], expected[name], rtol=0, atol=0)


# ---- a description from elsewhere ----------------------------------------------------------------


def redescribed(checkpoint: Path, path: Path, changes: dict) -> Path:
    """A copy whose description has other values; keys as `hyperparameters.hidden`, None takes one
    out.
    """
    description = read_description(checkpoint)
    for key, value in changes.items():
        *owners, last = key.split(".")
        owner = description
        for part in owners:
            owner = owner[part]
        owner.pop(last, None)
        owner |= {} if value is None else {last: value}
    return altered(checkpoint, path, **{KEY: describe(description)})


KNOWN = remember({"1AVZ": [chain(1)]})
"""The chains of a training target, as a checkpoint remembers them."""


def known(**changes) -> dict:
    return {**KNOWN, "chains": [{**KNOWN["chains"][0], **changes}]}


@pytest.mark.parametrize(
    ("chains", "fault"),
    [
        ({"targets": []}, ".chains: required, but not given"),
        (
            KNOWN | {"targets": ["A" * 301]},
            r".targets\[0\]: String should have at most 300",
        ),
        (KNOWN | {"targets": []}, ": a chain of a target that is not listed"),
        (known(smallest="?" * 8), r".chains\[0\]: Only base64 data is allowed"),
        (
            known(smallest="AgAAAAEAAAA="),
            r".chains\[0\]: the hashes of a chain are not sorted",
        ),
        (
            known(smallest="A" * 348),
            r".chains\[0\].smallest: String should have at most 344",
        ),
        (known(kmers=1), r".chains\[0\]: more hashes than k-mers"),
        (known(of=[]), r".chains\[0\].of: List should have at least 1"),
        (
            known(of=[-1]),
            r".chains\[0\].of\[0\]: Input should be greater than or equal to 0",
        ),
        (known(of=[10**30]), ": a chain of a target that is not listed"),
    ],
)
def test_faulty_chains_are_refused(checkpoint, tmp_path, chains, fault):
    bad = redescribed(
        checkpoint, tmp_path / "bad.ckpt", {"training_set.chains": chains}
    )
    with pytest.raises(
        CheckpointError, match=f"description.training_set.chains{fault}"
    ):
        read_description(bad)


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("hyperparameters", None, "description.hyperparameters: required, but not given"),
        ("hyperparameters.hidden", "32", "description.hyperparameters.hidden: Input should be a valid integer"),
        ("hyperparameters.heads", 10**9, "description.hyperparameters.heads: Input should be less than or equal to 25"),
        ("hyperparameters.layers", 0, "description.hyperparameters.layers: Input should be greater than or equal to 1"),
        ("hyperparameters.attention_dropout", None, "description.hyperparameters.attention_dropout: required"),
        ("hyperparameters.network", 5, "description.hyperparameters.network: Input should be a valid string"),
        ("node_width", 10**8, "description.node_width: Input should be less than or equal to 100000"),
        ("features.edges", {"cutoff": 10}, "description.features.edges.module: required, but not given"),
        ("run", "x" * 10_000, "description.run: String should have at most 300 characters (got 'xxx"),
        ("run", "line\nline", r"description.run: String should match pattern"),
        ("provenance.git", 7, "description.provenance.git: Input should be a valid string (got 7)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("read", [read_description, load_weights])
def test_a_faulty_description_is_one_line_that_names_the_key(
    checkpoint, tmp_path, key, value, fault, read
):
    bad = redescribed(checkpoint, tmp_path / "bad.ckpt", {key: value})
    with pytest.raises(CheckpointError) as caught:
        read(bad)
    assert str(caught.value).startswith(f"{bad}: not a usable checkpoint: {fault}")
    assert len(str(caught.value).removeprefix(str(bad)).splitlines()) == 1
    assert len(str(caught.value).removeprefix(str(bad))) < 400


def test_several_faults_are_named_at_once(checkpoint, tmp_path):
    bad = redescribed(
        checkpoint,
        tmp_path / "bad.ckpt",
        dict.fromkeys(("run", "seed", "epoch", "metrics")),
    )
    with pytest.raises(
        CheckpointError,
        match=r"description\.run: .*description\.seed: .*description\.epoch: .*1 more",
    ):
        read_description(bad)


@pytest.mark.parametrize(
    ("n_decoys", "n_targets", "learned"),
    [(48, 5, "5 targets"), (90_000, 19, "19 targets"), (90_000, 20, ""), (48, 20, ""),
     (48, None, "48 models"), (499, None, "499 models"), (500, None, "")],
)  # fmt: skip
def test_a_scorer_trained_on_few_targets_is_a_toy_or_on_few_decoys_where_it_does_not_list_them(
    n_decoys, n_targets, learned
):
    chains = (
        {}
        if n_targets is None
        else {"chains": {"targets": [f"T{i}" for i in range(n_targets)], "chains": []}}
    )
    assert toy({"origin": "TopoQA"}) == ""
    said = toy(
        {"training_set": {"fingerprint": "", "train": n_decoys, "val": 9, **chains}}
    )
    assert (said.startswith("toy: ") and learned in said) if learned else said == ""


def test_keys_of_a_later_version_are_kept(checkpoint, tmp_path):
    later = {**read_description(checkpoint), "later": {"key": 1}}
    assert (
        read_description(
            altered(checkpoint, tmp_path / "x.ckpt", **{KEY: describe(later)})
        )
        == later
    )


# ---- attacks -------------------------------------------------------------------------------------

LARGE = {
    "hyperparameters.hidden": 4096,
    "hyperparameters.heads": 256,
    "node_width": 100_000,
}


def test_a_small_file_that_describes_a_large_network_takes_no_memory(
    checkpoint, tmp_path
):
    """16 GB in 1.3 kB: each size is plausible by itself."""
    described = redescribed(checkpoint, tmp_path / "large.ckpt", LARGE)
    with pytest.raises(
        CheckpointError, match=r"weights do not load: \S+ has the shape \("
    ):
        load_weights(described)


def test_one_number_for_all_weights_takes_no_memory(checkpoint, tmp_path):
    described = read_description(redescribed(checkpoint, tmp_path / "x.ckpt", LARGE))
    with torch.device("meta"):
        shapes = build_network(
            100_000,
            described["edge_width"],
            described["hyperparameters"],
            described["features"],
        )
    state = {
        f"network.{name}": torch.zeros(1).expand(each.shape)
        for name, each in shapes.state_dict().items()
    }
    torch.save({KEY: describe(described), "state_dict": state}, tmp_path / "one.ckpt")
    with pytest.raises(
        CheckpointError,
        match=r"weights do not load: \S+ has fewer numbers than its shape",
    ):
        load_weights(tmp_path / "one.ckpt")


# ---- weights -------------------------------------------------------------------------------------


def test_a_loaded_network_is_ready_to_score(checkpoint, trained):
    network, description = load_weights(checkpoint)
    assert description == read_description(checkpoint)
    assert not network.training
    store = GraphStore.open([trained / "pack.safetensors"])
    once, again = predict(network, store), predict(load_weights(checkpoint)[0], store)
    assert torch.equal(once, again)
    assert once.shape == (30,)
    assert once.std() > 0


def test_a_checkpoint_of_before_local_quality_scores_the_same(
    checkpoint, trained, tmp_path
):
    description = read_description(checkpoint)
    older = {key: value for key, value in description["hyperparameters"].items()
             if key not in ("local", "local_weight", "dropout")}  # fmt: skip
    text = json.dumps({**description, "hyperparameters": older})
    store = GraphStore.open([trained / "pack.safetensors"])
    scores = [predict(load_weights(path)[0], store)
              for path in (checkpoint, altered(checkpoint, tmp_path / "older.ckpt", toporank=text))]  # fmt: skip
    assert torch.equal(*scores)


def test_weights_that_decayed_to_nothing_are_zero(checkpoint):
    """Products of smaller ones are numbers that a processor takes a hundred times as long for."""
    weights = torch.cat(
        [weight.ravel() for weight in load_weights(checkpoint)[0].state_dict().values()]
    )
    shipped = load_weights(
        Path(__file__).resolve().parents[3] / "resources/scorer/best.safetensors"
    )[0]
    shipped = torch.cat([weight.ravel() for weight in shipped.state_dict().values()])
    for values in (weights, shipped):
        assert not ((values != 0) & (values.abs() < 1e-20)).any()
    assert (shipped == 0).sum() > 1000
