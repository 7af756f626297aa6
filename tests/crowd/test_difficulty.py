"""Tasks with effects of their own: the model, its M-step against numerical slopes, what it says of confidence."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import cofactor as cf
from cofactor.crowd.confidence import (
    DESIGN_EFFECTS,
    NODES,
    RESIDUAL_DESIGN_EFFECT,
    WEIGHTS,
    Difficulty,
    confidence,
    fit_difficulty,
    tempered,
)
from cofactor.crowd.fit import Evidence
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.model import Rows
from cofactor.crowd.scores import score


def uneven_crowd(spread, K=3, N=2000, M=12, seed=0):
    """Labels of tasks with effects of their own: worker w is right with Phi(ability_w + spread b_i)."""
    rng = np.random.default_rng(seed)
    truth, effect = rng.integers(K, size=N), rng.normal(size=N)
    ability = norm.ppf(rng.uniform(0.6, 0.9, size=M)) * np.sqrt(1 + spread**2)
    right = rng.random((N, M)) < norm.cdf(ability + spread * effect[:, None])
    label = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, K, size=(N, M))) % K)
    task, worker = np.repeat(np.arange(N), M), np.tile(np.arange(M), N)
    return CrowdLabels.from_arrays(task, worker, label.ravel(), K, N, M), truth


def a_crowd(K=3, M=4, spread=0.8, seed=0):
    rng = np.random.default_rng(seed)
    errors = np.where(np.eye(K, dtype=bool), 0.0, rng.uniform(1, 2, size=(K, K)))
    return Difficulty(rng.dirichlet(np.ones(K)), errors / errors.sum(axis=0), rng.normal(1, 0.5, (M, K)), spread)


def test_the_model_is_that_of_the_formula():
    crowd = a_crowd()
    model = crowd.model(Rows.all(4, 3))
    cells = model.stacked.reshape(4, 3, 3, len(NODES))
    for w, k, q in np.ndindex(4, 3, len(NODES)):
        p = norm.cdf(crowd.ability[w, k] + crowd.spread * NODES[q])
        assert cells[w, k, k, q] == pytest.approx(p)
        assert np.allclose(cells[w, :, k, q].sum(), 1)
        assert np.allclose(np.delete(cells[w, :, k, q], k), (1 - p) * np.delete(crowd.errors[:, k], k))
    assert np.allclose(model.prior.reshape(3, -1), crowd.prior[:, None] * WEIGHTS)
    mean = np.einsum("wkkq,q->wk", cells, WEIGHTS)
    assert np.allclose(mean, norm.cdf(crowd.ability / np.sqrt(1 + crowd.spread**2)), atol=1e-3)


def test_scores_are_the_slopes_of_the_likelihood():
    rng = np.random.default_rng(1)
    crowd, given = a_crowd(), rng.uniform(5, 10, size=(4, 3, len(NODES)))
    right = given * rng.uniform(0.3, 0.9, size=given.shape)

    def likelihood(other):
        p = other._right()
        return np.sum(right * np.log(p) + (given - right) * np.log(1 - p))

    slope, _ = crowd._scores(right, given)
    h = 1e-5
    up, down = (likelihood(replace(crowd, spread=crowd.spread + step)) for step in (h, -h))
    assert np.sum(slope * NODES) == pytest.approx((up - down) / (2 * h), rel=1e-5)
    one = np.zeros_like(crowd.ability)
    one[2, 1] = h
    up, down = (likelihood(replace(crowd, ability=crowd.ability + step)) for step in (one, -one))
    assert slope[2, 1].sum() == pytest.approx((up - down) / (2 * h), rel=1e-5)


def test_rounds_make_the_labels_more_probable():
    labels, _ = uneven_crowd(1.0, N=300)
    evidence, votes = Evidence.of(labels), np.full(3, 100.0)
    rows, bounds = Rows.all(12, 3), []
    crowd = Difficulty.start(evidence.start(), rows, votes, 0.5)
    for _ in range(15):
        counts = evidence.e_step(crowd.model(rows))
        crowd = crowd.after(counts, rows, votes)
        bounds.append(counts.log_likelihood)
    by_class = counts.classes.reshape(3, len(NODES)).sum(axis=1)
    assert np.allclose(crowd.prior, (by_class + 100) / (by_class.sum() + 300))
    assert bounds[-1] > bounds[0] + 5
    assert min(np.diff(bounds)) > -0.5  # abilities are drawn to the crowd's mean, so it need not rise to the end


def test_pieces_of_workers_make_the_whole_crowd(monkeypatch):
    evidence, votes = Evidence.of(uneven_crowd(1.0, N=100)[0]), np.full(3, 10.0)
    seen = np.setdiff1d(np.arange(36), [0, 13, 14, 35])  # some rows do not occur

    def one_round():
        rows = Rows(seen // 3, seen % 3, 12, 3)
        start = Difficulty.start(replace(evidence.start(), cells=evidence.start().cells[seen]), rows, votes, 0.5)
        some = evidence.pieces.map(lambda piece: replace(piece, table=piece.table.take_values(seen)))
        counts = Evidence(some, rows).e_step(start.model(rows))
        return len(rows.pieces), start.model(rows).stacked, start.after(counts, rows, votes)

    _, cells, whole = one_round()
    monkeypatch.setattr("cofactor.crowd.model.WORKERS_OF_A_PIECE", 5)
    n_pieces, same, crowd = one_round()
    assert n_pieces == 3 and np.allclose(same, cells, atol=1e-14)
    assert np.allclose(crowd.ability, whole.ability, atol=1e-12) and crowd.spread == pytest.approx(whole.spread)
    assert np.allclose(crowd.errors, whole.errors) and np.allclose(crowd.prior, whole.prior)


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.7, 1.0])
def test_the_spread_is_found(spread):
    labels, _ = uneven_crowd(spread)
    model = WorkerTypes(design_effect=0.0).fit(labels).model_
    e_step, rows, alpha = Evidence.of(labels).e_step, Rows.all(12, 3), np.full(3, 1.0)
    found, value = fit_difficulty(e_step, model, rows, alpha)
    even, less = fit_difficulty(e_step, model, rows, alpha, spread=0.0)
    assert even.spread == 0 and (value > less + 20 if spread else value > less - 1e-4 * abs(less))
    assert found.correlation == pytest.approx(spread**2 / (1 + spread**2), abs=0.06)


def test_confidence_of_parts_adds_up_and_is_met_by_the_effect():
    rng = np.random.default_rng(0)
    z, p, n = (
        rng.dirichlet(np.full(3, 0.1), size=200),
        rng.dirichlet(np.full(3, 0.2), size=200),
        rng.integers(0, 9, 200),
    )
    found = confidence(z, p, n)
    parts = confidence(z[:50], p[:50], n[:50]) + confidence(z[50:], p[50:], n[50:])
    assert np.allclose(found.tempered, parts.tempered) and found.by_difficulty == pytest.approx(parts.by_difficulty)
    assert found.tempered[7] == pytest.approx(tempered(z, n, DESIGN_EFFECTS[7]).max(axis=1).sum())
    q = tempered(p, n, RESIDUAL_DESIGN_EFFECT)[np.arange(200), z.argmax(axis=1)]
    assert found.by_difficulty == pytest.approx(q.sum())
    same = confidence(z, z, n)
    assert same.design_effect == pytest.approx(RESIDUAL_DESIGN_EFFECT, rel=0.01)  # nothing but the constant
    sure = confidence(z, np.where(np.eye(3)[z.argmax(axis=1)] > 0, 1.0, 0.0), n)
    assert sure.design_effect == 0.0


def test_labels_of_uneven_tasks_are_believed_less():
    even, uneven = (uneven_crowd(spread, N=800)[0] for spread in (0.0, 1.5))
    one, other = WorkerTypes().fit(even), WorkerTypes().fit(uneven)
    assert other.design_effect_ > 2 * one.design_effect_
    p = other.difficulty_.model(Rows.all(uneven.n_workers, 3)).posterior(uneven.table).reshape(800, 3, -1).sum(axis=2)
    said = tempered(p, uneven.table.entries_per_row, RESIDUAL_DESIGN_EFFECT)
    chosen = other.predict_proba(uneven)
    assert chosen.max(axis=1).mean() == pytest.approx(said[np.arange(800), chosen.argmax(axis=1)].mean(), abs=0.002)


def test_many_classes_have_the_usual_effect():
    rng = np.random.default_rng(0)
    truth = rng.integers(51, size=300)
    label = np.where(rng.random((300, 4)) < 0.7, truth[:, None], rng.integers(51, size=(300, 4)))
    many = CrowdLabels.from_arrays(np.repeat(np.arange(300), 4), np.tile(np.arange(4), 300), label.ravel(), 51)
    method = WorkerTypes().fit(many)
    assert method.difficulty_ is None and method.design_effect_ == 2.4


@pytest.mark.slow
@pytest.mark.needs_mirror
def test_probabilities_of_real_crowds_can_be_believed():
    """Mean calibration error of seven sets: .065; .084 where only correlations of errors were looked at."""
    names = ("weather_amt", "music_genre", "sentiment_polarity_amt", "zencrowd_all", "face_sentiment", "rte", "web")
    errors = []
    for name in names:
        data = cf.data.load(name, "crowd")
        errors.append(score(WorkerTypes().fit(data.labels).predict_proba(data.labels), data.truth).ece)
    assert np.mean(errors) < 0.07
