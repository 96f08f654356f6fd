"""Feature modules and networks of installed packages. The package of docs/extending.md is built as it stands
there.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from _scoring import score_pack
from _synthetic import small_run

from building import build
from conftest import REPOSITORY
from messages import messages
from structures_text import EXAMPLES, put
from toporank import code, plugins
from toporank.__main__ import main
from toporank.app.config import load_config
from toporank.app.data_sets import feature_choices
from toporank.building.chunks.chunk import artefact
from toporank.building.chunks.plan import planned
from toporank.building.chunks.stages import PACKAGES, code_digest
from toporank.building.chunks.store import Store
from toporank.building.packing import Member, write_pack
from toporank.errors import CheckpointError, ConfigError
from toporank.features import registry
from toporank.learning.checkpoint import read_description
from toporank.learning.hyperparameters import Hyperparameters
from toporank.learning.provenance import training_code
from toporank.learning.train import TrainingGraphs, train_run
from toporank.learning.weights import build_network, load_weights, network_bytes
from toporank.structures.identity import Decoy
from toporank.structures.read import read_complex

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning"
)

MANUAL = (REPOSITORY / "docs/extending.md").read_text()
PROJECT = tomllib.loads(re.search(r"```toml\n(.*?)```", MANUAL, re.DOTALL)[1])[
    "project"
]
DECOYS = {
    ("1GCQ", "mid1.pdb"): 0.6,
    ("1GCQ", "far1.pdb.gz"): 0.1,
    ("1AVZ", "far1.pdb"): 0.2,
    ("1AVZ", "near1.pdb.gz"): 0.8,
}
WIDTHS = (5, 3)


def code_of_the_manual() -> dict[str, str]:
    """File name → Python code, told by the docstring that each begins with."""
    blocks = re.findall(r"```python\n(.*?)```", MANUAL, re.DOTALL)
    begin = {
        '"""Nodes': "nodes.py",
        '"""Edges': "edges.py",
        '"""A network': "network.py",
    }
    return {
        name: code
        for start, name in begin.items()
        for code in blocks
        if code.startswith(start)
    }


def write_package(
    folder: Path,
    name: str,
    entry_points: dict[str, dict[str, str]],
    code: dict[str, str],
) -> None:
    """What installing would leave: the code, and what the metadata say of it."""
    info = folder / f"{name.replace('-', '_')}-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n"
    )
    lines = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in of.items())
        for group, of in entry_points.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    put(folder, code)


def look_again() -> None:
    """Forget what was found installed, as a new process would."""
    for cache in (plugins.plugins, registry.modules):
        cache.cache_clear()


Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path, monkeypatch) -> Install:
    """A function that installs a package for as long as a test runs; without arguments, that of the
    manual.
    """
    registry.modules()
    monkeypatch.setattr(registry, "_MODULES", dict(registry._MODULES))

    def add(
        name: str = PROJECT["name"], entry_points=PROJECT["entry-points"], code=None
    ) -> Path:
        folder = tmp_path / "site" / name
        written = {
            f"hydropathy/{file}": text for file, text in code_of_the_manual().items()
        }
        write_package(
            folder,
            name,
            entry_points,
            {"hydropathy/__init__.py": "", **written} if code is None else code,
        )
        monkeypatch.syspath_prepend(folder)
        look_again()
        return folder

    yield add
    theirs = [
        name
        for name, module in sys.modules.items()
        if str(tmp_path) in (getattr(module, "__file__", None) or "")
    ]
    for name in theirs:  # and no other: what Numba and torch register when they are imported, they register once
        del sys.modules[name]
    monkeypatch.undo()
    look_again()


# ---- feature modules -----------------------------------------------------------------------------


def test_modules_of_a_package_are_listed(install, capsys):
    install()
    main(["config"])
    sections = capsys.readouterr().out.split("\n## ")
    for module, columns in (
        ("nodes/hydropathy_v1", "hydropathy, rasa"),
        ("edges/distance_v1", "ca_distance"),
    ):
        (section,) = (section for section in sections if section.startswith(module))
        assert f"columns: {columns}" in section


def test_the_modules_of_the_manual_compute_what_they_say(install):
    install()
    complex_ = read_complex(EXAMPLES / "1GCQ/mid1.pdb")
    choices = registry.resolve(
        {
            **NOTHING,
            "nodes": {"module": "hydropathy"},
            "edges": {"module": "distance", "cutoff": 9},
        }
    )
    residues = choices["interface"](complex_).index
    topology = np.zeros((len(residues), 0))
    nodes, theirs = (
        choices["nodes"](complex_, residues, topology),
        registry.choose("nodes", {"module": "dssp_topology"})(
            complex_, residues, topology
        ),
    )
    assert choices["nodes"].columns[:2] == ["hydropathy", "rasa"]
    np.testing.assert_array_equal(nodes.values[:, 1:], theirs.values)
    is_lysine = np.array([complex_.parents[residue] == "LYS" for residue in residues])
    assert is_lysine.any()
    np.testing.assert_array_equal(nodes.values[:, 0] == -3.9, is_lysine)
    edges = choices["edges"](complex_, residues)
    ends = complex_.xyz[complex_.ca[residues]][edges.index]
    np.testing.assert_allclose(
        edges.attributes[:, 0], np.linalg.norm(ends[0] - ends[1], axis=1), rtol=1e-6
    )
    assert 0 < edges.attributes.max() < 9


NOTHING = {stage: {} for stage in registry.DEFAULT_MODULES}


@pytest.mark.parametrize("changed", ["edges.py", "__init__.py", "nodes.py"])
def test_a_change_of_any_code_of_the_package_rebuilds_its_stage_and_no_other(
    install, changed
):
    folder = install()
    choices = registry.resolve({**NOTHING, "edges": {"module": "distance"}})

    def digests() -> dict[str, str]:
        code.code_of.cache_clear()
        code._source.cache_clear()
        return {kind: code_digest(kind, choices) for kind in PACKAGES}

    before, file = digests(), folder / "hydropathy" / changed
    file.write_text(file.read_text() + "\nOTHER = 1\n")
    after = digests()
    assert {kind for kind in PACKAGES if after[kind] != before[kind]} == {
        "edges",
        "graphs",
    }


def registering(**changes: str) -> str:
    """Code of a module of edges."""
    values = {"id": "edges/mine", "alias": "mine", **changes}
    return (
        "from toporank.features.registry import Parameters, register\n"
        f"@register({values['id']!r}, alias={values['alias']!r}, summary='none', "
        "parameters=Parameters, columns=list)\n"
        "def edges(parameters, complex_, nodes): ...\n"
    )


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            registering(id="edges/legacy_v11"),
            r"edges/legacy_v11 of mine: edges/legacy_v11 of toporank\.features\.legacy_edges",
        ),
        (
            registering(alias="legacy"),
            r"edges/mine of mine: edges/legacy_v11 of .* is called 'legacy', too .*another id",
        ),
        (
            registering(id="edge/mine"),
            r"edge/mine of mine: there is no stage 'edge' .*interface, topology, nodes, edges",
        ),
        (
            "import no_such_package",
            r"package toporank-mine: the plug-in mine cannot be imported: .*no_such_package",
        ),
    ],
)
def test_a_plug_in_that_cannot_be_used_is_an_error_that_names_it(install, code, says):
    install("toporank-mine", {plugins.FEATURES: {"mine": "mine"}}, {"mine.py": code})
    with pytest.raises(ConfigError, match=says):
        registry.modules()


# ---- networks ------------------------------------------------------------------------------------


def naming(module: str) -> dict[str, dict[str, str]]:
    return {plugins.NETWORKS: {"mine": f"mine:{module}"}}


@pytest.mark.parametrize(("hyperparameters", "says"), messages("plugin_networks"))
def test_a_network_that_cannot_be_used_is_an_error(install, hyperparameters, says):
    install()
    install("toporank-mine", naming("NoNetwork"), {"mine.py": "class NoNetwork: ..."})
    chosen = Hyperparameters(**hyperparameters).model_dump()
    with pytest.raises(ConfigError, match=says):
        build_network(*WIDTHS, chosen, None)


def test_a_change_of_a_network_makes_it_another_run(install):
    folder = install()
    before, built_in = training_code("means"), training_code()
    (folder / "hydropathy/network.py").write_text("")
    code.code_of.cache_clear()
    code._source.cache_clear()
    assert training_code() == built_in
    assert training_code("means") != before


# ---- from decoys to scores -----------------------------------------------------------------------


def train_and_score(
    choices: dict[str, registry.FeatureChoice], **hyperparameters
) -> Path:
    """Build four decoys, train a network on them and score them; its checkpoint."""
    decoys = [
        Decoy("mini", target, file.split(".")[0], EXAMPLES / target / file)
        for target, file in DECOYS
    ]
    labels = dict(zip([decoy.key for decoy in decoys], DECOYS.values(), strict=True))
    store = Store(Path("store"))
    rows = build(decoys, choices, store, labels)
    plan = {decoy.key: decoy for decoy in planned(decoys, labels)}
    assert [row.status for row in rows] == ["ok"] * 4
    members = []
    for row in rows:
        content = partial(
            artefact, "graphs", row.graphs, plan[row.key], row, choices, store
        )
        members.append(
            Member(
                *row.key,
                "train" if row.target == "1GCQ" else "val",
                Path(row.decoy),
                row.graphs,
                content,
            )
        )
    write_pack(Path("pack"), members)
    source = TrainingGraphs([Path("pack")])
    run = small_run(batch_size=2, max_epochs=2, **hyperparameters)
    train_run(run, source, 1, Path("run"), Path("store"))
    checkpoint = Path("run/best_loss.ckpt")
    scores = score_pack(checkpoint, [], Path("pack"))
    assert sorted(score.target for score in scores) == sorted(
        target for target, _ in DECOYS
    )
    assert len({score.pred_dockq for score in scores}) == 4
    assert all(0 < score.pred_dockq < 1 for score in scores)
    return checkpoint


def test_decoys_are_scored_with_a_plug_in_and_without_its_package_the_checkpoint_names_it(
    install, tmp_path, monkeypatch
):
    install()
    monkeypatch.chdir(tmp_path)
    mine = {
        "topology": {"module": "none"},
        "nodes": {"module": "hydropathy"},
        "edges": {"module": "distance"},
    }
    choices = registry.resolve({**NOTHING, **mine})
    checkpoint = train_and_score(choices, network="means")
    network, _ = load_weights(checkpoint)
    assert type(network).__module__ == "hydropathy.network"
    made = Path("network.safetensors")
    made.write_bytes(network_bytes(checkpoint))
    assert score_pack(made, [], Path("pack")) == score_pack(
        checkpoint, [], Path("pack")
    )

    package, description = PROJECT["name"], read_description(checkpoint)
    assert description["features"]["edges"] == {
        "module": "edges/distance_v1",
        "package": package,
        "cutoff": 12.0,
    }
    assert description["provenance"]["versions"][package] == "0.1"
    scoring = load_config({"score_decoys": "decoys", "scorer": str(checkpoint)})
    assert feature_choices(scoring)["nodes"].module.package == package

    monkeypatch.setattr(
        sys, "path", [path for path in sys.path if not path.startswith(str(tmp_path))]
    )
    for name in ("nodes/hydropathy_v1", "edges/distance_v1"):
        del registry._MODULES[name]
    look_again()
    with pytest.raises(CheckpointError, match=rf"'means' of a .* package '{package}'"):
        load_weights(checkpoint)
    with pytest.raises(
        ConfigError,
        match=rf"features\.nodes: no feature module .*part of the package '{package}'",
    ):
        registry.resolve_recorded(description["features"])
