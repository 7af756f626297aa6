"""What notebook 08 computes and draws: anchors, pictures, its panel."""

import math
from itertools import combinations

import numpy as np
import pytest

from cofactor import simulate
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from course.desk import exercises_of
from course.nb08 import panels
from course.nb08.panels import polygon
from tests.course import moved

TRUTH = simulate.joint_model(5, 10, 3, 0.1, random_state=0)
BLURRED = simulate.joint_model(5, 10, 3, random_state=0)


def exact(model, split=3):
    """Pairs of the first variables with the others, without noise."""
    return np.vstack(model.conditionals[:split]) * model.prior @ np.vstack(model.conditionals[split:]).T


# ---- anchors ----


def test_without_noise_coordinates_are_the_classes_given_the_value():
    found = panels.anchors(BLURRED, exact(BLURRED), split=3)
    by_hand = np.vstack(BLURRED.conditionals[3:]) * BLURRED.prior
    assert np.allclose(found.theta, by_hand / by_hand.sum(axis=1, keepdims=True), atol=1e-5)
    assert np.all(found.theta >= -1e-6)


def test_the_gap_of_a_corner_is_the_distance_to_the_nearest_anchor():
    theta = np.array([[1, 0, 0], [0, 0.8, 0.2], [0.5, 0.5, 0], [0, 0, 1.0]])
    gaps = panels.Anchors(theta, np.array([0, 1, 2])).gaps
    assert np.allclose(gaps, [0, math.hypot(0.2, 0.2), math.sqrt(0.64 + 0.64)])


def test_planted_anchors_are_found_and_without_them_corners_are_missed():
    gaps = [panels.anchors(model, exact(model)).gaps.max() for model in (TRUTH, BLURRED)]
    assert gaps[0] < 0.01 < 0.3 < gaps[1]


def test_values_that_never_occur_are_left_out():
    X = np.hstack([exact(BLURRED), np.zeros((30, 1))])
    assert panels.anchors(BLURRED, X).theta.shape == (20, 3)


# ---- pictures ----


def test_corners_of_three_classes_are_equally_far_apart():
    P = polygon(3)
    assert np.allclose([np.linalg.norm(P[i] - P[j]) for i, j in combinations(range(3), 2)], math.sqrt(3))


# ---- live figures, and what the notebook says of them ----


@pytest.mark.slow
def test_pairs_are_nearer_than_counts_at_every_size():
    _, found = panels.learnt()
    errors = np.array([[panels.off(table) for table in tables] for tables in found.values()])
    assert (errors[:, 1] < errors[:, 0]).all()
    assert "counting is off by 0.28, pairs by 0.14" in moved(panels.slice_live(), rows=1000, first=5, shown=True)


@pytest.mark.slow
def test_votes_tell_a_party_as_the_library_does():
    model, codes = panels.congress()
    chances = panels.told_by_votes(codes[3])
    table = CategoricalTable(codes[3:4], model.sizes)
    assert len(chances) == 17 and np.isclose(chances[-1], model.conditional(table, target=0)[0, 1])
    assert np.isclose(chances[0], model.marginal(0)[1])
    assert moved(panels.member_live(), member=3, known=16, shown=True).endswith("the model is right")


# ---- exercises that judge ----


def test_held_out_rows_are_judged_as_the_library_does_and_little_smoothing_loses_to_the_constant():
    exercise = exercises_of("nb08")["held_out"]
    prior, T, alpha, own_rows, rows = exercise.given().values()
    nats, better = (np.asarray(part.answer) for part in exercise.parts)
    assert better.tolist() == [0, 1, 1] and nats.argmax() == 1
    own = []
    for a, told in zip(alpha, nats, strict=True):
        model = LatentClassModel(prior, list((T + a) / (T + a).sum(axis=1, keepdims=True)))
        seen, unseen = (CategoricalTable(some, [3] * 4) for some in (own_rows, rows))
        assert np.isclose(model.log_likelihood(unseen) / 40, told)
        own.append(model.log_likelihood(seen) / 14)
    assert np.all(np.diff(own) < 0) and own[0] > 4 * math.log(1 / 3) > nats[0]


def test_pairs_are_blind_to_parity_and_too_few_rows_blind_to_all():
    exercise = exercises_of("nb08")["blind"]
    tables = exercise.given()["tables"]
    pairs, rows, verdict = (np.asarray(part.answer) for part in exercise.parts)
    assert sorted(verdict) == [0, 0, 2, 3, 3]
    for table, z in zip(tables, pairs, strict=True):
        counts = [np.zeros((2, 2)) for _ in range(3)]
        for count, (a, b) in zip(counts, combinations(range(3), 2), strict=True):
            seen = table[(table[:, a] >= 0) & (table[:, b] >= 0)]
            np.add.at(count, (seen[:, a], seen[:, b]), 1)
        share = [abs(2 * np.trace(count) / count.sum() - 1) * math.sqrt(count.sum()) for count in counts]
        assert np.isclose(max(share), z)
    assert np.all(rows[verdict == 3] > 5) and np.all(pairs[verdict == 3] < 3)
