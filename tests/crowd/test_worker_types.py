"""The default: rounds are those of the page, what the types find, copies, and what is never silent."""

import warnings
from importlib import import_module
from inspect import signature

import numpy as np
import pytest
from scipy import sparse

import cofactor as cf
from cofactor import plain
from cofactor.core import latent_class
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning
from cofactor.core.tables import CategoricalTable
from cofactor.crowd import confidence, copies, fit, model
from cofactor.crowd.copies import Gains, candidates, joined, merged, owners
from cofactor.crowd.fit import Evidence, Fit
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.model import best_shares, type_probabilities
from cofactor.crowd.scores import error_rate
from cofactor.plain import copies as page_of_copies
from cofactor.plain.copies import bound, log_choices, log_probability
from cofactor.plain.worker_types import rounds
from tests.oracles.crowds import independent, over_callers, with_copies
from tests.oracles.generators import skilled_crowd, triples
from tests.oracles.worker_types import pairs_of_copies

page = import_module("cofactor.plain.worker_types")  # the name is also that of its function
ALL = ("coin", "class", "own", "none")


def default_of(function, parameter):
    return signature(function).parameters[parameter].default


def dense(codes, n_classes=None):
    """Return the labels of an (N, M) array of codes, -1 where there is none."""
    codes = np.asarray(codes)
    task, worker = np.nonzero(codes >= 0)
    return CrowdLabels.from_arrays(task, worker, codes[task, worker], n_classes, *codes.shape, unlabelled="keep")


def with_constant_workers(seed, n_constant=3, n_tasks=400, rate=1.0):
    """Three workers who are right in 90 %, and some who always say class 0."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_tasks)
    honest = np.where(rng.random((n_tasks, 3)) < 0.9, truth[:, None], 1 - truth[:, None])
    codes = np.hstack([honest, np.zeros((n_tasks, n_constant), dtype=int)])
    return dense(np.where(rng.random(codes.shape) < rate, codes, -1)), truth


# ---- the model ----


@pytest.mark.parametrize(("seed", "n_classes"), [(0, 2), (1, 3), (2, 5)])
def test_rounds_are_those_of_the_page(seed, n_classes):
    labels = skilled_crowd(seed, n_tasks=40, n_workers=6, n_classes=n_classes, label_rate=0.7, skill=0.3).labels
    labels = labels.take_tasks(labels.table.entries_per_row > 0)
    i, w, l = (np.array(x) for x in triples(labels))
    F = sparse.csr_array((np.ones(len(i)), (i, w * n_classes + l)), (labels.n_tasks, 6 * n_classes))
    fit = Fit(Evidence.of(labels), max_iter=6, tol=0.0)
    with pytest.warns(ConvergenceWarning):
        found = fit.run(ALL)
    page = rounds(F, vote_shares(labels), fit.alpha, ALL, 6)
    assert np.allclose(found.belief.q, page.q, atol=1e-10) and np.allclose(found.belief.rho, page.rho, atol=1e-12)
    assert np.allclose(found.belief.everywhere().posterior(labels.table), page.r, atol=1e-10)
    assert np.allclose(found.counts.classes, page.r.sum(axis=0))


CONSTANTS = {  # by their name on the page: there, and in the default
    "RIGHT, WRONG": ((page.RIGHT, page.WRONG), model.PRIOR),
    "ANY": (page.ANY, model.NO_INFORMATION_COUNT),
    "SHARING": (page.SHARING, model.SHARING),
    "FLOOR": (page.FLOOR, latent_class.FLOOR),
    "PULL": (page.PULL, confidence.SHRINKAGE_COUNT),
    "TOL": (page.TOL, WorkerTypes.tol),
    "ONE_STEP": (page.ONE_STEP, fit.ROUNDS_OF_ONE_STEP),
    "INDEPENDENT": (page.INDEPENDENT, confidence.MAX_INDEPENDENT_Z),
    "UNINFORMED": (page.UNINFORMED, fit.UNINFORMED),
    "POINTS": (page.POINTS.tolist(), confidence.NODES.tolist()),
    "WEIGHTS": (page.WEIGHTS.tolist(), confidence.WEIGHTS.tolist()),
    "EFFECTS": (page.EFFECTS.tolist(), confidence.DESIGN_EFFECTS.tolist()),
    "RESIDUAL": (page.RESIDUAL, confidence.RESIDUAL_DESIGN_EFFECT),
    "max_iter of worker_types": (default_of(page.worker_types, "max_iter"), WorkerTypes.max_iter),
    "spread of difficulty": (default_of(page.difficulty, "spread"), confidence.INITIAL_SPREAD),
    "FEWEST_TASKS, FALSE_ALARMS": (
        (page_of_copies.FEWEST_TASKS, page_of_copies.FALSE_ALARMS),
        (copies.MIN_COMMON, copies.FALSE_ALARMS),
    ),
    "FEW, HOPELESS": ((page_of_copies.FEW, page_of_copies.HOPELESS), (copies.FEW_ROUNDS, copies.HOPELESS)),
}


def test_constants_of_the_default_are_those_of_the_page():
    """Who changes one changes the other, and docs/default.md, which says how it was chosen."""
    differ = {name: pair for name, pair in CONSTANTS.items() if pair[0] != pair[1]}
    assert not differ, "on the page, and in the default"


def without(drawn, worker):
    """The crowd without the labels of this worker, but for the first one."""
    i, w, l, truth = drawn
    kept = (w != worker) | (np.cumsum(w == worker) <= 1)
    return i[kept], w[kept], l[kept], truth


CROWDS = {
    "plain": lambda seed: independent(seed, 120, 12, 2),
    "three classes, few labels": lambda seed: independent(seed, 150, 30, 3, per=4),
    "a rare class": lambda seed: independent(seed, 400, 10, 2, np.full(10, 0.9), prior=[0.98, 0.02]),
    "copies": lambda seed: with_copies(seed, 200, 3, 0.7, 5, 0.85),
    "four classes, copies": lambda seed: with_copies(seed, 200, 2, 0.6, 6, 0.8, K=4),
    "experts": lambda seed: independent(seed, 100, 13, 2, [0.99] * 3 + [0.7] * 10),
    "over-callers": over_callers,
    "a worker of one label": lambda seed: without(independent(seed, 60, 8, 2), 3),
    "coin flips": lambda seed: independent(seed, 100, 20, 2, np.full(20, 0.5)),
}


@pytest.mark.parametrize("name", CROWDS)
def test_the_whole_default_is_that_of_the_page(name):
    for seed in range(2):
        i, w, l, _ = CROWDS[name](seed)
        labels = CrowdLabels.from_arrays(i, w, l)
        with warnings.catch_warnings(action="ignore", category=DataWarning):  # of coin flips, that it is the vote
            method = WorkerTypes().fit(labels)
        owner = plain.owners(i, w, l, labels.n_classes)
        voices = plain.merged(i, w, l, owner)
        page = plain.worker_types(voices[0], np.unique(voices[1], return_inverse=True)[1], voices[2], labels.n_classes)
        assert np.allclose(method.predict_proba(labels), page.P, rtol=0, atol=1e-10)
        assert method.design_effect_ == pytest.approx(page.effect, abs=1e-9) and method.by_vote_ == page.uninformed
        assert np.allclose(method.type_probabilities_[np.unique(owner)], page.q, atol=1e-10)
        assert owners(labels).tolist() == owner.tolist() and method.result_.n_iter == page.rounds
        fit = Fit(Evidence.of(labels))
        apart = plain.worker_types(i, w, l, labels.n_classes, evidence=True)
        assert fit.log_probability(500) == pytest.approx(bound(apart), rel=1e-10)


def test_gains_are_those_of_the_page():
    i, w, l, _ = over_callers(0)
    labels, gains = CrowdLabels.from_arrays(i, w, l), Gains(CrowdLabels.from_arrays(i, w, l))
    for group in ([0, 1, 2, 3, 4], [5, 6], [0, 5]):
        owner = joined(np.arange(8), group)
        expected = [log_probability(i, w, l, 2, x, 500) for x in (owner, np.arange(8))]
        expected = expected[0] - expected[1] - log_choices(8, len(group))
        assert gains.of(group, difficulty=False) == pytest.approx(expected, abs=1e-8) or expected < -10
    assert gains.of([0, 1, 2, 3, 4]) == pytest.approx(16.170587, abs=1e-6)  # with what difficulty explains taken off
    assert Gains(labels).of([5, 6]) == pytest.approx(1.248356, abs=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_bound_never_falls(n_classes):
    for seed in range(4):
        crowd = skilled_crowd(seed, 10, n_classes, n_tasks=120, skill=0.3, label_rate=0.4)
        codes = crowd.labels.table.codes
        codes[:, :3] = np.where(codes[:, :3] >= 0, np.minimum(codes[:, :3], 1), -1)  # three who say less
        bounds = WorkerTypes(tol=1e-6, max_iter=2000).fit(dense(codes, n_classes)).result_.objective
        assert len(bounds) > 5 and (np.diff(bounds) > -1e-10 * abs(bounds[0])).all()


@pytest.mark.slow
def test_shares_settle_where_workers_have_few_labels(monkeypatch):
    labels = few_labels_each(n_tasks=400, n_workers=600, n_classes=3)
    method = WorkerTypes().fit(labels)
    assert method.result_.n_iter < 100 and (np.diff(method.result_.objective) > -1e-9).all()
    monkeypatch.setattr("cofactor.crowd.fit.ROUNDS_OF_ONE_STEP", 10_000)
    slow, limit = WorkerTypes().fit(labels), WorkerTypes(tol=1e-8, max_iter=10_000).fit(labels)
    assert slow.result_.n_iter > 200
    p, of_slow, expected = (found.predict_proba(labels) for found in (method, slow, limit))
    assert np.abs(p - expected).max() < min(0.005, np.abs(of_slow - expected).max())
    assert np.allclose(method.type_shares_, limit.type_shares_, atol=1e-3)


def few_labels_each(n_tasks, n_workers, n_classes):
    """Workers of two labels each, of whom few meet on a task."""
    rng = np.random.default_rng(0)
    truth, worker = rng.integers(n_classes, size=n_tasks), np.repeat(np.arange(n_workers), 2)
    task = rng.integers(n_tasks, size=2 * n_workers)
    task[1::2] = np.where(task[1::2] == task[::2], (task[1::2] + 1) % n_tasks, task[1::2])
    label = np.where(rng.random(len(task)) < 0.7, truth[task], rng.integers(n_classes, size=len(task)))
    return CrowdLabels.from_arrays(task, worker, label, n_classes, n_tasks, n_workers, unlabelled="keep")


def test_a_model_after_many_labels_is_their_share():
    crowd = skilled_crowd(0, n_workers=6, n_tasks=20_000, skill=0.8)
    method = WorkerTypes().fit(crowd.labels)
    assert np.abs(method.model_.stacked - crowd.model.stacked).max() < 0.08


# ---- types ----


def informed_workers(method):
    """Of every worker, one minus the probability of saying nothing beside the others."""
    return 1 - method.type_probabilities_[:, method.types_.index("none")]


def test_constant_workers_say_nothing_and_cost_nothing():
    for seed in range(3):
        labels, truth = with_constant_workers(seed, rate=0.8)
        method = WorkerTypes().fit(labels)
        error = error_rate(method.predict_proba(labels), truth)
        assert error < error_rate(vote_shares(labels), truth) - 0.1
        informed = informed_workers(method)
        assert informed[:3].min() > 0.9 and informed[3:].max() < 0.1
        assert not method.disagreement(labels).all() and method.disagreement(labels).mean() < error + 0.05


def test_workers_who_draw_labels_whatever_the_class_say_nothing():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=300)
    honest = np.where(rng.random((300, 6)) < 0.8, truth[:, None], rng.integers(3, size=(300, 6)))
    codes = np.hstack([honest, rng.choice(3, (300, 4), p=[0.7, 0.2, 0.1])])
    informed = informed_workers(WorkerTypes().fit(dense(codes)))
    assert informed[:6].min() > 0.9 and informed[6:].max() < 0.2


def test_errors_of_ones_own_are_offered_where_workers_do_not_err_together():
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=600)
    to = np.stack([rng.permutation(4) for _ in range(10)])  # where each worker's errors go
    right = rng.random((600, 10)) < 0.7
    labels = dense(np.where(right, truth[:, None], to[np.arange(10), truth[:, None]]))
    method = WorkerTypes().fit(labels)
    assert method.types_ == ("coin", "class", "own", "none") and method.type_shares_[2] > 0.5
    assert method.dependence_.z < 2
    together = np.where(rng.random((600, 1)) < 0.3, (truth[:, None] + 1) % 4, labels.table.codes)
    method = WorkerTypes().fit(dense(together))
    assert "own" not in method.types_ and method.dependence_.z > 2
    thin = WorkerTypes().fit(dense(np.where(np.arange(600)[:, None] < 3, labels.table.codes, -1)[:3]))
    assert "own" not in thin.types_


# ---- copies ----


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("seed", range(3))
def test_candidates_are_those_of_the_loops(seed):
    rng = np.random.default_rng(seed)
    codes = skilled_crowd(seed, n_workers=9, n_tasks=60, n_classes=3, skill=0.3).labels.table.codes
    copy = np.where(rng.random((60, 2)) < 0.7, codes[:, :1], -1)
    codes = np.hstack([codes, copy])[:, rng.permutation(11)]
    table = CategoricalTable(codes, np.full(11, 3))
    group = np.arange(11)
    for u, v in pairs_of_copies(codes):
        group[group == group[v]] = group[u]
    expected = [int(np.flatnonzero(group == group[w])[0]) for w in range(11)]
    assert len(set(expected)) < 11
    assert candidates(table).tolist() == expected


def test_copies_count_once_and_share_what_is_found():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=500)
    accuracy = np.array([0.7, 0.85, 0.85, 0.85])
    honest = np.where(rng.random((500, 4)) < accuracy, truth[:, None], 1 - truth[:, None])
    copied = dense(np.hstack([honest, honest[:, :1], honest[:, :1], honest[:, :1]]))
    method, alone = WorkerTypes().fit(copied), WorkerTypes().fit(dense(honest))
    assert method.copies_ == [[0, 4, 5, 6]]
    assert np.allclose(method.predict_proba(copied), alone.predict_proba(dense(honest)), atol=1e-6)
    assert np.array_equal(method.model_.conditionals[0], method.model_.conditionals[5])
    believed = WorkerTypes(merge_copies=False).fit(copied)
    assert believed.copies_ == []
    errors = [error_rate(one.predict_proba(copied), truth) for one in (method, believed)]
    assert errors[0] < errors[1] - 0.05


def test_workers_of_few_labels_are_no_candidates():
    alike = np.tile(np.arange(6) % 2, (2, 1)).T
    others = 1 - np.tile(alike[:, :1], (1, 30))
    for n_common, expected in ((5, [0, 0]), (4, [0, 1])):
        codes = np.hstack([np.where(np.arange(6)[:, None] < n_common, alike, -1), others])
        assert candidates(dense(codes).table)[:2].tolist() == expected
        assert candidates(dense(np.where(np.arange(6)[:, None] < 4, codes, -1)[:4]).table).tolist() == list(range(32))


def test_honest_workers_are_no_copies():
    for seed in range(5):
        assert WorkerTypes().fit(skilled_crowd(seed, n_classes=2, skill=0.8).labels).copies_ == []
    same = np.repeat(np.arange(40)[:, None] % 2, 2, axis=1)  # nobody else tells how easy these tasks are
    assert candidates(CategoricalTable(same)).tolist() == [0, 1]


def test_those_who_know_are_no_copies():
    for seed in range(3):
        i, w, l, _ = independent(seed, 60, 11, 3, [0.98] * 3 + [0.6] * 8)
        labels = CrowdLabels.from_arrays(i, w, l)
        assert WorkerTypes().fit(labels).copies_ == []
    found = []
    for seed in range(10):
        i, w, l, _ = with_copies(seed, 150, 2, 0.75, 8, 0.75)
        found.append(WorkerTypes().fit(CrowdLabels.from_arrays(i, w, l)).copies_ == [[0, 1]])
    assert all(found)


def test_a_group_says_what_most_of_it_say():
    table = CategoricalTable(np.array([[0, 1, 1, 0], [1, 0, -1, 0]]), np.full(4, 2))
    found = merged(CrowdLabels(table, range(2), range(4), range(2)), np.array([0, 0, 0, 3])).table
    assert found.rows.tolist() == [0, 0, 1, 1] and found.variables.tolist() == [0, 3, 0, 3]
    assert found.values.tolist() == [1, 0, 1, 0]  # two of three; of a tie, the first


# ---- never a silent collapse ----


def test_labels_whose_words_never_meet_are_left_out_by_name():
    for n in (60, 200):
        i, w, l, truth = independent(0, n, 6, 2, np.full(6, 0.8))
        labels = CrowdLabels.from_arrays(i, w, np.where(w == 2, l + 2, l), 4)
        with pytest.warns(DataWarning, match=f"left out {n} labels of 1 worker, .*: 2 used only 2, 3, the others"):
            method = WorkerTypes().fit(labels)
        rest = labels.take_workers([0, 1, 3, 4, 5])
        error = error_rate(method.predict_proba(labels), truth)
        assert method.left_out_ == [2] and error < error_rate(vote_shares(rest), truth) + 0.03
        assert set(method.predict(labels)) <= {0, 1}


def test_where_no_worker_knows_the_answer_is_the_vote():
    i, w, l, _ = independent(0, 300, 20, 2, np.full(20, 0.5))
    labels = CrowdLabels.from_arrays(i, w, l)
    with pytest.warns(DataWarning, match="do not show which workers know the answers.*majority vote"):
        method = WorkerTypes().fit(labels)
    assert method.by_vote_ and np.allclose(method.predict_proba(labels), (labels.votes + 0.5) / 21)
    task, worker = (
        np.repeat(np.arange(200), 2),
        np.random.default_rng(0).permuted(np.tile(np.arange(4), (200, 1)), axis=1),
    )
    functions = CrowdLabels.from_arrays(task, worker[:, :2].ravel(), worker[:, :2].ravel())  # a class each
    with pytest.warns(DataWarning, match="4 of 4 workers used only one class"):
        method = WorkerTypes().fit(functions)
    assert np.allclose(method.predict_proba(functions), (functions.votes + 1 / 4) / 3)


def test_gold_that_contradicts_the_vote_is_asked_about():
    labels, _ = with_constant_workers(0, n_constant=0)
    with pytest.warns(DataWarning, match="gold contradicts the vote on 20 of 20 tasks: are its classes swapped"):
        WorkerTypes().fit(labels, {i: int(1 - vote) for i, vote in enumerate(labels.votes[:20].argmax(axis=1))})


# ---- what cannot be known ----


def test_one_label_a_task_is_the_prior_and_nobody_is_known():
    labels = CrowdLabels.from_arrays(np.arange(50), np.arange(50) % 5, np.arange(50) % 10)
    method = WorkerTypes().fit(labels)
    p = method.predict_proba(labels)
    assert np.allclose(p[np.arange(50), np.arange(50) % 10], 0.8) and np.allclose(np.sort(p)[:, 0], 0.2 / 9)
    assert method.types_ == () and method.result_.n_iter == 0 and method.result_.converged
    assert not method.disagreement(labels).any()
    gold = np.where(np.arange(50) < 25, np.arange(50) % 10, -1)
    assert WorkerTypes().fit(labels, gold=gold).types_ != ()


def test_workers_and_tasks_that_were_not_there():
    labels, _ = with_constant_workers(1, n_constant=2, rate=0.8)
    method = WorkerTypes().fit(labels)
    later = CrowdLabels.from_arrays([0, 0, 2], [0, 7, 2], [1, 1, 0], 2, 3, 8, unlabelled="keep")
    with pytest.warns(UserWarning, match="not seen in fit"):
        p = method.predict_proba(later)
    assert p[0, 1] > 0.6 and p[2, 0] > 0.6
    assert np.allclose(p[1], method.model_.prior)


def test_gold_tasks_teach():
    gains = []
    for seed in range(2):
        crowd = skilled_crowd(seed, n_workers=10, n_classes=3, skill=0.2, label_rate=0.3)
        gold = np.where(np.arange(400) < 200, crowd.truth, -1)
        method = WorkerTypes().fit(crowd.labels, gold=gold)
        assert np.array_equal(method.predict(crowd.labels)[:200], crowd.truth[:200])
        assert not method.disagreement(crowd.labels)[:200].any()
        assert method.gold_check_.n_tasks == np.count_nonzero(crowd.labels.table.entries_per_row[:200])
        rest = np.where(gold < 0, crowd.truth, -1)
        without = error_rate(WorkerTypes().fit(crowd.labels).predict_proba(crowd.labels), rest)
        gains.append(without - error_rate(method.predict_proba(crowd.labels), rest))
    assert np.mean(gains) > 0.01


def test_labels_the_model_overrules_are_told():
    labels, _ = with_constant_workers(2, rate=0.8)
    method = WorkerTypes().fit(labels)
    shares, label = method.informed_votes(labels), method.predict(labels)
    told = method.disagreement(labels)
    assert np.allclose(shares.sum(axis=1), 1)
    for i in range(labels.n_tasks):
        assert told[i] == (shares[i].max() - shares[i, label[i]] > 1e-6)


@pytest.mark.parametrize(("name", "value"), [("diagonal", 0), ("off", -1), ("design_effect", -0.1), ("max_iter", 0)])
def test_refuses_settings_by_name(name, value):
    with pytest.raises(CofactorError, match=f"{name}="):
        WorkerTypes(**{name: value}).fit(skilled_crowd(0).labels)


# ---- levels on public sets ----

AWAY = (pytest.mark.needs_mirror, pytest.mark.slow)
LEVELS = {  # accuracy (%)
    "adult_content": 75.9760,
    "bluebird": 87.9630,
    "sentiment_polarity": 91.6383,
    "sentiment_polarity_amt": 94.4000,
    "trec": 69.4066,
    "weather_cf": 90.0000,
    "weather_amt": 86.3333,
    "web": 85.9028,
    "zencrowd_all": 80.2941,
    "zencrowd_in": 78.2353,
    "zencrowd_us": 83.4314,
    "dog": 82.7757,
    "face_sentiment": 63.3562,
    "music_genre": 79.7143,
    "product": 93.6500,
    "rte": 92.7500,
    "sentiment_1k": 95.9000,
}


@pytest.mark.parametrize("name", [name if name == "bluebird" else pytest.param(name, marks=AWAY) for name in LEVELS])
def test_levels_on_public_sets(name):
    found = cf.load(name)
    accuracy = 100 * (1 - error_rate(WorkerTypes().fit(found.labels).predict_proba(found.labels), found.truth))
    assert accuracy == pytest.approx(LEVELS[name], abs=1e-4)


def height(rho, L):
    return type_probabilities(rho, L)[1].sum() + np.log(rho).sum()


def one_step(rho, L):
    return (1 + type_probabilities(rho, L)[0].sum(axis=0)) / (len(L) + len(rho))


def evidence_of_types(seed, n_workers, spread):
    """Log-probabilities that tell the types apart more or less, of workers who gave more or fewer labels."""
    rng = np.random.default_rng(seed)
    return rng.normal(scale=spread, size=(n_workers, 3)) - rng.uniform(0, 900, size=(n_workers, 1))


def test_a_step_from_the_best_shares_leads_nowhere_and_all_starts_lead_there():
    starts = np.array([1, 1, 1]) / 3, np.array([1e-6, 1 - 2e-6, 1e-6]), np.array([0.9, 0.09, 0.01])
    for n_workers, spread in ((2, 1.0), (300, 0.02), (300, 0.5), (300, 2.0), (300, 40.0)):
        L = evidence_of_types(0, n_workers, spread)
        found = [best_shares(start, L) for start in starts]
        assert np.allclose(one_step(found[0], L), found[0], rtol=1e-10, atol=0), spread
        assert np.allclose(found, found[0], rtol=1e-8, atol=0), spread


def test_best_shares_are_where_many_steps_end():
    L, rho = evidence_of_types(0, 300, 2.0), np.full(3, 1 / 3)
    for _ in range(5000):
        rho = one_step(rho, L)
    assert np.allclose(best_shares(np.full(3, 1 / 3), L), rho, rtol=1e-6)


def test_steps_that_are_cut_off_do_not_fall(monkeypatch):
    start, L = np.array([1e-6, 1 - 2e-6, 1e-6]), evidence_of_types(1, 200, 3.0)
    bounds = [height(start, L)]
    for n_steps in range(1, 8):
        monkeypatch.setattr("cofactor.crowd.model.SHARE_STEPS", n_steps)
        found = best_shares(start, L)
        assert np.isclose(found.sum(), 1) and (found > 0).all()
        bounds.append(height(found, L))
    assert (np.diff(bounds) > 0).all()


def test_one_type_has_it_all():
    assert best_shares(np.ones(1), np.zeros((4, 1))).tolist() == [1.0]
