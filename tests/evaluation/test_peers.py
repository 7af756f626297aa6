"""Aggregators of others: each agrees with plain loops or the exact evidence, and has the accuracy that was measured."""

import warnings

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import cofactor as cf
from cofactor.core.errors import ConvergenceWarning
from cofactor.crowd import error_rate, vote_shares
from cofactor.crowd.fit import Evidence
from cofactor_app.bench import bench, known_sets
from evaluation.peers.bwa import BWA
from evaluation.peers.catd import CATD
from evaluation.peers.ebcc import EBCC
from evaluation.peers.glad import GLAD
from evaluation.peers.ibcc import IBCC, Belief
from evaluation.peers.mace import MACE
from evaluation.peers.one_coin import OneCoin
from evaluation.peers.wawa import Wawa
from evaluation.trials import HERE
from tests.oracles import bayes, weighted_votes
from tests.oracles import glad as slow_glad
from tests.oracles import mace as slow_mace
from tests.oracles import one_coin as slow_one_coin
from tests.oracles.generators import recorded, skilled_crowd, triples

SEEDS = pytest.mark.parametrize("seed", range(3))


def drawn(seed, n_workers=5, n_tasks=20, n_classes=3):
    labels = skilled_crowd(seed, n_workers=n_workers, n_tasks=n_tasks, n_classes=n_classes).labels
    return labels.take_tasks(labels.table.entries_per_row > 0)


@SEEDS
@pytest.mark.parametrize(("make", "weight"), [(Wawa, weighted_votes.wawa), (CATD, weighted_votes.catd)])
def test_weighted_votes_are_those_of_plain_loops(make, weight, seed):
    labels = drawn(seed)
    method = recorded(make(max_iter=2).fit, labels)[0]
    rounds = method.result_.n_iter
    expected, v = weighted_votes.weighted_vote(triples(labels), (labels.n_tasks, 5, 3), weight, rounds)
    np.testing.assert_allclose(method.posterior_, expected, rtol=1e-9)
    np.testing.assert_allclose(method.weights_, v, rtol=1e-9)


@SEEDS
def test_bwa_is_that_of_plain_loops(seed):
    labels = drawn(seed)
    method = recorded(BWA(max_iter=4, tol=0.0).fit, labels)[0]
    found = [weighted_votes.bwa_of_class(triples(labels), k, (labels.n_tasks, 5, 3), 4) for k in range(3)]
    z = np.stack([z for z, _ in found], axis=1)
    np.testing.assert_allclose(method.posterior_, z / z.sum(axis=1, keepdims=True), atol=1e-9)
    np.testing.assert_allclose(method.weights_, np.stack([v for _, v in found], axis=1), rtol=1e-9)
    assert (np.diff(method.result_.objective) >= -1e-9).all()


@SEEDS
@pytest.mark.parametrize("estimate_prior", [False, True])
def test_one_coin_is_that_of_plain_loops(estimate_prior, seed):
    labels = drawn(seed)
    method = recorded(OneCoin((4.0, 0.5), estimate_prior, max_iter=4, tol=0).fit, labels)[0]
    rounds = method.result_.n_iter
    p, Q, values = slow_one_coin.em(triples(labels), vote_shares(labels), 5, rounds, 4.0, 0.5, estimate_prior)
    np.testing.assert_allclose(method.accuracy_, p, rtol=1e-9)
    np.testing.assert_allclose(method.predict_proba(labels), Q, atol=1e-9)
    np.testing.assert_allclose(method.result_.objective, values, rtol=1e-9)


@SEEDS
def test_mace_is_that_of_plain_loops_and_its_bound_rises(seed):
    labels = drawn(seed)
    method = recorded(MACE(max_iter=4, tol=0).fit, labels)[0]
    _, k, s, _ = slow_mace.run(triples(labels), (labels.n_tasks, 5, 3), slow_mace.variational, method.result_.n_iter)
    know, xi = (k + 0.5) / (k + s.sum(axis=1) + 1), (s + 10) / (s + 10).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(method.competence_, know, rtol=1e-8)
    for A, theta, habit in zip(method.model_.conditionals, know, xi, strict=True):
        np.testing.assert_allclose(A, theta * np.eye(3) + (1 - theta) * habit[:, None], atol=1e-9)
    bound = recorded(MACE(tol=1e-10).fit, labels)[0].result_.objective
    assert len(bound) > 5 and (np.diff(bound) >= -1e-9 * np.abs(bound[1:])).all()


def test_the_evidence_of_mace_is_above_its_bound():
    """With one label a worker, theta and xi integrate out: a label says its class with chance 1/2, else each of K."""
    labels = cf.CrowdLabels.from_arrays([0, 0, 0, 1, 1], [0, 1, 2, 3, 4], [0, 0, 1, 2, 2], 3)
    exact = 0.0
    for said in ([0, 0, 1], [2, 2]):
        exact += np.log(np.mean([np.prod([(label == c) / 2 + 1 / 6 for label in said]) for c in range(3)]))
    assert exact - 3 < MACE(tol=1e-12).fit(labels).result_.objective[-1] < exact


def test_a_fit_of_glad_is_a_stationary_point_of_the_slow_objective():
    labels = drawn(1, n_workers=4, n_tasks=12)
    method = GLAD(max_iter=2000, tol=1e-14, steps=50).fit(labels)
    x = np.r_[method.ability_, np.log(method.easiness_)]

    def objective(x):
        return slow_glad.log_posterior(triples(labels), x[:4], x[4:], 3)

    assert method.result_.objective[-1] == pytest.approx(objective(x))
    np.testing.assert_allclose(approx_fprime(x, objective, 1e-6), 0, atol=2e-3)
    expected = slow_glad.joint(triples(labels), x[:4], x[4:], 3)
    np.testing.assert_allclose(method.posterior_, expected / expected.sum(axis=1, keepdims=True), atol=1e-9)


def split_by_agreement(shares, first=0):
    """Split (N, K) vote shares into (N, 2 K) shares of states: the more the votes agree, the more a task is easy."""
    agreement = np.sum(shares**2, axis=1, keepdims=True)
    return (shares[:, :, None] * np.stack([agreement, 1 - agreement], axis=2)).reshape(len(shares), -1)


def believed(labels, kinds, rounds) -> tuple[Belief, np.ndarray]:
    evidence = Evidence.of(labels)
    start = evidence.start() if kinds == 1 else evidence.start(split_by_agreement)
    with pytest.warns(ConvergenceWarning):
        method = IBCC(max_iter=rounds, tol=-1.0)
        belief, result = method._rounds_from(evidence, start, evidence.start().classes, kinds)
    return belief, result.objective


@pytest.mark.parametrize("kinds", [1, 2])
def test_rounds_of_bayes_are_those_of_the_loops_and_stay_below_the_evidence(kinds):
    labels = skilled_crowd(0, n_tasks=30, n_workers=5, n_classes=3, label_rate=0.7).labels
    belief, bounds = believed(labels, kinds, 5)
    posterior, expected = bayes.rounds_of_bayes(*triples(labels), 3, kinds, 5)
    states = belief.expected_logs().posterior(labels.table)
    np.testing.assert_allclose(bounds, expected, rtol=1e-10)
    np.testing.assert_allclose(states.reshape(-1, 3, kinds).sum(axis=2), posterior, atol=1e-10)
    task, worker = np.repeat(np.arange(5), 3), np.tile(np.arange(3), 5)
    label = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1])
    _, bounds = believed(cf.CrowdLabels.from_arrays(task, worker, label), kinds, 50)
    exact = bayes.exact_evidence(task, worker, label, 2, kinds)
    assert exact - 4 < bounds[-1] < exact and (np.diff(bounds) > -1e-8 * abs(bounds[0])).all()


def test_ebcc_keeps_the_start_of_largest_bound():
    labels = skilled_crowd(0, n_tasks=100).labels
    one, four, again = (EBCC(kinds=3, n_starts=n, random_state=1).fit(labels).result_.objective[-1] for n in (1, 4, 4))
    assert four == again >= one


@pytest.mark.slow
def test_the_bench_takes_each_of_them():
    names = {"bwa": "BWA", "catd": "CATD", "ebcc": "EBCC(n_starts=1)", "glad": "GLAD", "ibcc": "IBCC", "mace": "MACE"}
    names |= {"one_coin": "OneCoin", "wawa": "Wawa"}
    methods = [f"{HERE}/peers/{file}.py:{name}" for file, name in names.items()]
    trials = [trial for trial in bench(methods, known_sets("crowd", ["sim_spammers"])) if trial.method in methods]
    assert len(trials) == len(names) and not any(trial.error for trial in trials)


LEVELS = {  # accuracy in per cent, ties split, measured
    "bluebird": {"OneCoin": 72.22, "GLAD": 72.22, "MACE": 86.11, "IBCC": 88.89},
    "weather_cf": {"OneCoin": 88.33, "GLAD": 88.0},
    "music_genre": {"OneCoin": 79.57, "GLAD": 79.57},
    "rte": {"OneCoin": 92.38, "GLAD": 92.62},
}


@pytest.mark.parametrize(
    "name", ["bluebird", *(pytest.param(n, marks=pytest.mark.needs_mirror) for n in [*LEVELS][1:])]
)
def test_accuracy_on_public_data(name):
    found = cf.load(name)
    for make in (OneCoin, GLAD, MACE, IBCC):
        if make.__name__ in LEVELS[name]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", cf.DataWarning)
                accuracy = 100 - 100 * error_rate(make().fit(found.labels).predict_proba(found.labels), found.truth)
            assert accuracy == pytest.approx(LEVELS[name][make.__name__], abs=0.15), make
