"""What training minimises: single scores, and the order of decoys within their target."""

from __future__ import annotations

import math

import pytest
import torch
from _synthetic import SMALL

from toporank.errors import ConfigError
from toporank.learning.hyperparameters import Hyperparameters, SweepConfig
from toporank.learning.losses import Objective, bce, listwise, local_errors, pointwise
from toporank.settings import checked

Y = torch.tensor([0.9, 0.5, 0.1, 0.8, 0.2])
P = torch.tensor([0.7, 0.6, 0.2, 0.1, 0.3])
TARGET = torch.tensor([0, 0, 0, 1, 1])


def schedule(**keys: object) -> Hyperparameters:
    return Hyperparameters(**{**SMALL, "decoys_per_target": 2, **keys})


def objective(**keys: object) -> float:
    return float(Objective(schedule(**keys))(P, Y, TARGET))


# ---- single scores ----------------------------------------------------------------------------------------


def test_squared_error_is_what_it_says():
    assert float(pointwise(schedule(loss="mse"))(P, Y)) == pytest.approx(float(((P - Y) ** 2).mean()))


def test_cross_entropy_is_what_it_says_and_least_where_the_score_is_true():
    expected = -(Y * P.log() + (1 - Y) * (1 - P).log()).mean()
    assert float(bce(P, Y)) == pytest.approx(float(expected))
    scores = torch.linspace(0.01, 0.99, 99)
    losses = torch.stack([bce(score[None], torch.tensor([0.3])) for score in scores])
    assert float(scores[losses.argmin()]) == pytest.approx(0.3)


def test_cross_entropy_of_a_certain_and_wrong_score_is_large_and_finite():
    losses = [float(bce(torch.tensor([p]), torch.tensor([1 - p]))) for p in (0.0, 1.0)]
    assert losses == pytest.approx([126 * math.log(2), 24 * math.log(2)])  # of single precision


@pytest.mark.parametrize("logit", [-110.0, 17.0, 40.0])
@pytest.mark.parametrize("dockq", [0.0, 0.5, 1.0])
def test_gradients_of_the_cross_entropy_of_a_certain_score_are_numbers(logit, dockq):
    given = torch.tensor([logit, 0.0], requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        bce(torch.sigmoid(given), torch.full((2,), dockq)).backward()
    assert given.grad.isfinite().all()
    assert given.grad[1] == pytest.approx((0.5 - dockq) / 2)


# ---- local quality of edges -------------------------------------------------------------------------------


def test_local_errors_are_means_over_the_edges_of_a_graph_that_are_known():
    q, y = torch.tensor([0.8, 0.3, 0.5, 0.9, 0.6]), torch.tensor([1.0, 0.25, math.nan, 0.0, math.nan])
    found = local_errors(torch.logit(q), y, torch.tensor([0, 0, 0, 1, 2]), 3)
    expected = [float(bce(q[:2], y[:2])), float(bce(q[3:4], y[3:4]))]
    assert found[:2].tolist() == pytest.approx(expected, rel=1e-5)
    assert found[2].isnan()


def test_edges_of_unknown_quality_give_no_gradient_and_no_nan():
    logit = torch.zeros(3, requires_grad=True)
    errors = local_errors(logit, torch.tensor([1.0, math.nan, math.nan]), torch.tensor([0, 0, 1]), 2)
    Objective(schedule(local_weight=2.0))(P, Y, TARGET, errors).backward()
    assert logit.grad.tolist() == [-1.0, 0.0, 0.0]  # weight · (sigmoid(0) - 1)


def test_the_local_term_is_the_mean_over_graphs_by_its_weight():
    loss = Objective(schedule(local_weight=0.3))
    alone = objective()
    assert float(loss(P, Y, TARGET, torch.tensor([0.2, math.nan, 0.6]))) == pytest.approx(alone + 0.3 * 0.4)
    assert float(loss(P, Y, TARGET, torch.full((2,), math.nan))) == pytest.approx(alone)


def test_a_weight_above_zero_makes_a_network_predict_local_quality():
    assert not schedule().local
    assert schedule(local_weight=0.1).local
    with pytest.raises(ConfigError, match="set `local: true`"):
        checked(Hyperparameters, {"local_weight": 0.1, "local": False}, where="here")


# ---- order within a target --------------------------------------------------------------------------------


def lists_by_hand(temperature: float) -> float:
    """The definition of `listwise` as loops."""
    found = []
    for target in (0, 1):
        truth = torch.softmax(Y[target == TARGET] / temperature, 0)
        guess = torch.softmax(P[target == TARGET] / temperature, 0)
        found.append(float((truth * (truth / guess).log()).sum()))
    return sum(found) / 2


def test_the_listwise_term_follows_its_definition():
    assert float(listwise(P, Y, TARGET)) == pytest.approx(lists_by_hand(0.1), rel=1e-5)


def test_the_truth_has_no_ranking_term_and_the_reverse_order_a_large_one():
    assert float(listwise(Y, Y, TARGET)) == pytest.approx(0.0, abs=1e-6)
    assert float(listwise(1 - Y, Y, TARGET)) > float(listwise(P, Y, TARGET)) > 0


def test_only_decoys_of_one_target_are_compared():
    assert float(listwise(P, Y, torch.arange(5))) == pytest.approx(0.0, abs=1e-7)
    shifted = P + 0.1 * TARGET  # moves one target against the other
    assert float(listwise(shifted, Y, TARGET)) == pytest.approx(float(listwise(P, Y, TARGET)), rel=1e-5)


def test_equal_labels_give_finite_gradients():
    p = P.clone().requires_grad_()
    listwise(p, Y, TARGET).backward()
    assert p.grad.isfinite().all()
    assert p.grad.abs().sum() > 0


def test_a_batch_of_one_decoy_has_no_ranking_term():
    assert float(listwise(P[:1], Y[:1], TARGET[:1])) == 0.0


# ---- both -------------------------------------------------------------------------------------------------


def test_the_term_is_added_with_its_weight():
    found = objective(ranking_term="listwise", ranking_weight=0.5)
    assert found == pytest.approx(objective() + 0.5 * float(listwise(P, Y, TARGET)), rel=1e-5)


def test_the_default_is_the_squared_error_alone():
    assert float(Objective(Hyperparameters())(P, Y, TARGET)) == pytest.approx(float(((P - Y) ** 2).mean()))


@pytest.mark.parametrize(
    ("keys", "together"),
    [
        ({}, 1),
        ({"decoys_per_target": 3}, 3),
        ({"ranking_term": "listwise"}, 4),
        ({"ranking_term": "listwise", "batch_size": 3}, 3),
        ({"ranking_term": "listwise", "decoys_per_target": 8}, 8),
    ],
)
def test_as_many_decoys_of_a_target_share_a_batch_as_the_term_needs(keys, together):
    assert Hyperparameters(**keys).decoys_together == together


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"ranking_term": "listwise", "decoys_per_target": 1}, "set `batch_size` and `decoys_per_target` to 2 or more"),
        ({"ranking_term": "listwise", "batch_size": 1}, "set `batch_size` and `decoys_per_target` to 2 or more"),
        ({"decoys_per_target": 20}, "decoys_per_target 20 is more than batch_size 16"),
        ({"loss": "mae"}, "loss"),
        ({"sampling": "targets"}, "sampling"),
    ],
)
def test_an_impossible_choice_is_refused_with_what_to_do(keys, said):
    with pytest.raises(ConfigError, match=said):
        checked(SweepConfig, {"name": "x", **keys}, where="training.sweep.configs")


def test_a_diverged_score_has_no_finite_loss():
    broken = torch.tensor([math.nan, 0.5])
    for loss in ("mse", "bce"):
        assert not pointwise(schedule(loss=loss))(broken, Y[:2]).isfinite()
