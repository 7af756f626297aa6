"""BayesDS and its relatives: equal to the loops, below the evidence, level with the measured tables, gold tasks."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor import simulate
from cofactor.core.errors import CofactorError, ConvergenceWarning
from cofactor.crowd.base import error_rate
from cofactor.crowd.baselines.bayesian import EBCC, IBCC
from cofactor.crowd.baselines.voting import DawidSkene
from cofactor.crowd.baselines.weighted_votes import Wawa
from cofactor.crowd.bayes import BayesDS
from cofactor.crowd.calibration import tempered
from cofactor.crowd.dependence import accuracies, dependence
from cofactor.crowd.evidence import Evidence, split_by_agreement
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.variational import Belief, Cells, Priors, SharedErrors, more_probable_strengths, variational_em
from tests.oracles.bayes import exact_evidence, rounds_of_bayes
from tests.oracles.generators import skilled_crowd, triples


def believed(labels, kinds=1, n_rounds=5, kind_of_belief=Belief):
    """Belief and bounds after so many rounds, whatever they say about convergence."""
    evidence = Evidence.of(labels)
    votes = evidence.start()
    priors = Priors(4.0, 1.0, votes.classes, kinds)
    cells = [Cells.all(labels.n_workers, labels.n_classes)] if kind_of_belief is SharedErrors else []
    start = votes if kinds == 1 else evidence.start(split_by_agreement)
    with pytest.warns(ConvergenceWarning):
        belief, result = variational_em(
            evidence.e_step, start, lambda counts: kind_of_belief.after(counts, priors, *cells), n_rounds, -1.0
        )
    return belief, result.objective


# ---- the fit ----


@pytest.mark.parametrize("kinds", [1, 2])
@pytest.mark.parametrize("seed", [0, 1])
def test_rounds_are_those_of_the_loops(kinds, seed):
    labels = skilled_crowd(seed, n_tasks=30, n_workers=5, n_classes=3, label_rate=0.7).labels
    belief, bounds = believed(labels, kinds)
    posterior, expected = rounds_of_bayes(*triples(labels), 3, kinds, 5)
    states = belief.expected_logs().posterior(labels.table)
    assert np.allclose(bounds, expected, rtol=1e-10)
    assert np.allclose(states.reshape(-1, 3, kinds).sum(axis=2), posterior, atol=1e-10)


@pytest.mark.parametrize("kinds", [1, 2])
def test_the_bound_is_below_the_evidence_and_near_it(kinds):
    task, worker = np.repeat(np.arange(5), 3), np.tile(np.arange(3), 5)
    label = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1])
    _, bounds = believed(CrowdLabels.from_arrays(task, worker, label), kinds, n_rounds=50)
    exact = exact_evidence(task, worker, label, 2, kinds)
    assert exact - 4 < bounds[-1] < exact


@pytest.mark.parametrize("kind_of_belief", [Belief, SharedErrors])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_never_falls(seed, kind_of_belief):
    labels = skilled_crowd(seed, n_classes=4, skill=0.3, label_rate=0.3).labels
    _, bounds = believed(labels, n_rounds=60, kind_of_belief=kind_of_belief)
    assert (np.diff(bounds) > -1e-8 * abs(bounds[0])).all()


def test_shared_errors_of_two_classes_are_errors_of_ones_own():
    labels = skilled_crowd(3, n_classes=2, skill=0.4).labels
    (own, bounds), (shared, same) = believed(labels), believed(labels, kind_of_belief=SharedErrors)
    assert np.allclose(bounds, same)
    assert np.allclose(own.mean().stacked, shared.mean().stacked)
    assert np.allclose(own.population(), shared.population())


def test_a_belief_after_many_labels_is_their_share():
    crowd = simulate.crowd(simulate.dawid_skene_model(6, 3, skill=0.8, random_state=0), 20_000, random_state=0)
    method = BayesDS(structure="own").fit(crowd.labels)
    assert np.abs(method.model_.stacked - crowd.model.stacked).max() < 0.08


def test_one_kind_wins_where_workers_are_independent():
    for seed in range(5):
        assert BayesDS().fit(skilled_crowd(seed, n_classes=2, label_rate=0.5).labels).kinds_ == 1


def test_two_kinds_win_where_half_the_tasks_are_hard():
    rng = np.random.default_rng(0)
    truth, hard = rng.integers(2, size=600), rng.random(600) < 0.5
    right = rng.random((600, 12)) < np.where(hard, 0.55, 0.97)[:, None]
    task, worker = np.repeat(np.arange(600), 12), np.tile(np.arange(12), 600)
    labels = CrowdLabels.from_arrays(task, worker, np.where(right, truth[:, None], 1 - truth[:, None]).ravel())
    method = BayesDS().fit(labels)
    assert method.kinds_ == 2 and method.evidence_["kinds"] > method.evidence_["own"] + 10
    assert method.model_.stacked.shape == (24, 2)


def test_beats_maximum_likelihood_on_thin_crowds():
    """Five labels a task, 24 a worker, six classes: the case the prior is for."""
    ours, theirs = [], []
    for seed in range(5):
        crowd = skilled_crowd(seed, n_tasks=300, n_workers=60, n_classes=6, skill=0.6, label_rate=0.08)
        ours.append(error_rate(BayesDS().fit(crowd.labels).predict_proba(crowd.labels), crowd.truth))
        likely = DawidSkene(pseudo_counts=(0, 0)).fit(crowd.labels)
        theirs.append(error_rate(likely.predict_proba(crowd.labels), crowd.truth))
    assert np.mean(ours) < np.mean(theirs) - 0.02


@pytest.mark.parametrize(
    ("name", "value"), [("structure", "other"), ("diagonal", 0), ("off", -1), ("design_effect", -0.1), ("max_iter", 0)]
)
def test_refuses_settings_by_name(name, value):
    with pytest.raises(CofactorError, match=f"{name}="):
        BayesDS(**{name: value}).fit(skilled_crowd(0).labels)


def test_errors_are_shared_where_workers_err_together():
    """Half the tasks mislead everybody towards the next class."""
    rng = np.random.default_rng(1)
    truth, misleading = rng.integers(3, size=800), rng.random(800) < 0.4
    wrong = rng.random((800, 10)) < np.where(misleading, 0.6, 0.1)[:, None]
    label = np.where(wrong, (truth[:, None] + 1) % 3, truth[:, None]).ravel()
    task, worker = np.repeat(np.arange(800), 10), np.tile(np.arange(10), 800)
    labels = CrowdLabels.from_arrays(task, worker, label)
    method = BayesDS().fit(labels)
    assert method.structure_ != "own"
    assert method.dependence_.z > 5
    independent = skilled_crowd(0, n_tasks=800).labels
    assert BayesDS().fit(independent).dependence_.z < 2


def test_dependence_of_parts_adds_up_and_is_that_of_the_loops():
    labels = skilled_crowd(0, n_tasks=60).labels
    method = BayesDS(structure="own").fit(labels)
    model = method.belief_.expected_logs()
    z, p = model.posterior(labels.table), accuracies(*method.belief_.right_and_given())
    whole = dependence(labels, z, p)
    parts = [dependence(labels.take_tasks(rows), z[rows], p) for rows in (np.arange(20), np.arange(20, 60))]
    assert np.allclose(
        np.array([whole.excess, whole.squares, whole.most]),
        np.array([sum(getattr(part, name) for part in parts) for name in ("excess", "squares", "most")]),
    )
    excess = 0.0
    for i in range(labels.n_tasks):
        mine = [(w, y) for t, w, y in zip(*triples(labels), strict=True) if t == i]
        for k in range(3):
            errors = [(y == k) - p[w, k] for w, y in mine]
            excess += z[i, k] * 2 * sum(a * b for a, b in combinations(errors, 2))
    assert whole.excess == pytest.approx(excess)
    assert method.dependence_.excess == pytest.approx(excess)


def test_strengths_learned_are_the_most_probable():
    rng = np.random.default_rng(0)
    accuracy = rng.beta(6.0, 2.0, size=(3000, 1))
    right = rng.binomial(40, accuracy).astype(float)
    a, b = 4.0, 1.0
    for _ in range(300):
        a, b = more_probable_strengths(right, 40 - right, a, b)
    assert a == pytest.approx(6.0, rel=0.1) and b == pytest.approx(2.0, rel=0.1)


def test_many_classes_and_few_labels_are_not_worse_than_the_vote():
    """Fewer labels than cells of confusion matrices; workers mistake the same classes for one another."""
    rng = np.random.default_rng(0)
    K, N, M = 60, 800, 15
    errors = np.eye(K)[(np.arange(K) + 1) % K] * 0.8 + 0.2 / K
    truth = rng.integers(K, size=N)
    task = np.repeat(np.arange(N), 4)
    worker = np.concatenate([rng.choice(M, 4, replace=False) for _ in range(N)])
    right = rng.random(len(task)) < rng.beta(5, 3, size=M)[worker]
    drawn = np.array([rng.choice(K, p=errors[k]) for k in truth[task]])
    labels = CrowdLabels.from_arrays(task, worker, np.where(right, truth[task], drawn), K, N, M)
    method = BayesDS().fit(labels)
    assert method.structure_ == "shared" and "kinds" not in method.evidence_
    assert error_rate(method.predict_proba(labels), truth) < error_rate(vote_shares(labels), truth) - 0.03


# ---- tempering ----


def test_tempering_flattens_the_more_the_more_labels_there_are():
    p = tempered(np.array([[0.9, 0.1]] * 3), np.array([0, 1, 6]), 0.4)
    assert np.allclose(p[:2], [[0.9, 0.1]] * 2)
    assert np.allclose(p[2, 0] / p[2, 1], 9 ** (1 / 3**0.5))  # 1 + 0.4 * 5 = 3
    assert np.allclose(tempered(np.array([[1.0, 0.0]]), np.array([5]), 0.4), [[1, 0]])


def test_tempering_changes_no_label():
    labels = skilled_crowd(2).labels
    one, two = BayesDS(design_effect=0).fit(labels), BayesDS(design_effect=2.0).fit(labels)
    assert np.array_equal(one.predict(labels), two.predict(labels))
    assert one.predict_proba(labels).max(axis=1).mean() > two.predict_proba(labels).max(axis=1).mean() + 0.02


# ---- gold tasks ----


def gold_of(crowd, n):
    return np.where(np.arange(crowd.labels.n_tasks) < n, crowd.truth, -1)


@pytest.mark.parametrize("make", [BayesDS, lambda: BayesDS(structure="kinds"), DawidSkene, IBCC])
def test_gold_tasks_keep_their_class_and_help_the_others(make):
    gains = []
    for seed in range(4):
        crowd = skilled_crowd(seed, n_workers=15, n_classes=4, skill=0.1, label_rate=0.3)
        gold = gold_of(crowd, 200)
        method = make().fit(crowd.labels, gold=gold)
        assert np.array_equal(method.predict(crowd.labels)[:200], crowd.truth[:200])
        rest = np.where(gold < 0, crowd.truth, -1)
        without = error_rate(make().fit(crowd.labels).predict_proba(crowd.labels), rest)
        gains.append(without - error_rate(method.predict_proba(crowd.labels), rest))
    assert np.mean(gains) > 0.01


def test_where_all_tasks_are_gold_confusion_matrices_are_counts():
    crowd = skilled_crowd(0, n_classes=3)
    task, worker, label = triples(crowd.labels)
    counts = np.zeros((crowd.labels.n_workers, 3, 3))
    np.add.at(counts, (worker, label, crowd.truth[task]), 1)
    likely = DawidSkene(pseudo_counts=(0, 0)).fit(crowd.labels, gold=crowd.truth).model_
    assert np.allclose(likely.stacked, (counts / counts.sum(axis=1, keepdims=True)).reshape(-1, 3))
    counts += np.where(np.eye(3, dtype=bool), 4, 1)
    bayes = BayesDS(structure="own").fit(crowd.labels, gold=crowd.truth).model_
    assert np.allclose(bayes.stacked, (counts / counts.sum(axis=1, keepdims=True)).reshape(-1, 3))


def test_gold_may_be_named_by_task():
    frame = pd.DataFrame({"task": list("aabb"), "worker": [1, 2, 1, 2], "label": ["cat", "dog", "dog", "dog"]})
    found = BayesDS().fit_predict(frame, gold={"a": "dog"})
    assert found.to_dict() == {"a": "dog", "b": "dog"}
    assert BayesDS().fit_predict(frame, gold=pd.Series({"a": "cat"}))["a"] == "cat"


@pytest.mark.parametrize(
    ("gold", "problem"),
    [
        ([0, 5], r"gold codes must lie between -1 and 1; not so for task 'b': 5"),
        ([-1, -1], "gold knows the class of no task"),
        ([0], "gold must hold one class code a task"),
        ([0.0, 1.0], "gold must hold one class code a task"),
        ({"a": "cow"}, "gold of classes that no label has: task 'a': 'cow'"),
        ({"z": "cat"}, "gold knows none of the labelled tasks: it has 'z'"),
    ],
)
def test_refuses_gold_that_makes_no_sense(gold, problem):
    frame = pd.DataFrame({"task": list("aabb"), "worker": [1, 2, 1, 2], "label": ["cat", "dog", "dog", "dog"]})
    with pytest.raises(CofactorError, match=problem):
        BayesDS().fit(frame, gold=gold)


def test_methods_without_use_for_gold_say_which_have():
    with pytest.raises(CofactorError, match="Wawa cannot use gold tasks: give them to BayesDS"):
        Wawa().fit(skilled_crowd(0).labels, gold=skilled_crowd(0).truth)


def test_design_effect_is_learned_from_gold_tasks_held_out():
    """Every worker copies one of three: labels repeat one another, and the posterior must know."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=600)
    three = np.where(rng.random((600, 3)) < 0.75, truth[:, None], 1 - truth[:, None])
    copied = three[:, rng.integers(3, size=15)]
    task, worker = np.repeat(np.arange(600), 15), np.tile(np.arange(15), 600)
    labels = CrowdLabels.from_arrays(task, worker, copied.ravel())
    gold = np.where(np.arange(600) < 200, truth, -1)
    method = BayesDS().fit(labels, gold=gold)
    sure = BayesDS(design_effect=0).fit(labels, gold=gold)
    rest = np.where(gold < 0, truth, -1)
    known = rest >= 0
    loss = [-np.log(m.predict_proba(labels)[known, rest[known]]).mean() for m in (method, sure)]
    assert method.design_effect_ > 0.3
    assert loss[0] < loss[1]
    check = method.gold_check_
    assert check.n_tasks == 200 and abs(check.confidence - (1 - check.error)) < 0.1
    assert abs(check.error - error_rate(method.predict_proba(labels), rest)) < 0.1
    assert BayesDS().fit(labels, gold=np.where(np.arange(600) < 29, truth, -1)).gold_check_ is None


# ---- the relatives ----


def test_ebcc_keeps_the_start_of_largest_evidence():
    labels = skilled_crowd(0, n_tasks=100).labels
    runs = [EBCC(kinds=3, n_starts=n, random_state=1).fit(labels).result_.objective[-1] for n in (1, 4)]
    assert runs[1] >= runs[0]
    again = EBCC(kinds=3, n_starts=4, random_state=1).fit(labels)
    assert again.result_.objective[-1] == runs[1]


# ---- levels on public sets ----

LEVELS = {  # accuracy, and the structure that is chosen
    "weather_cf": (0.897, "shared"),
    "weather_amt": (0.857, "shared"),
    "music_genre": (0.797, "shared"),
    "sentiment_polarity": (0.915, "own"),
    "sentiment_polarity_amt": (0.944, "kinds"),
    "zencrowd_all": (0.851, "kinds"),
    "zencrowd_in": (0.773, "kinds"),
    "zencrowd_us": (0.915, "kinds"),
    "product": (0.935, "own"),
    "sentiment_1k": (0.961, "kinds"),
    "face_sentiment": (0.639, "kinds"),
    "adult_content": (0.772, "shared"),
    "bluebird": (0.861, "kinds"),
    "dog": (0.836, "shared"),
    "rte": (0.931, "own"),
    "trec": (0.703, "own"),
    "web": (0.869, "shared"),
}


@pytest.mark.parametrize(
    "name", [name if name == "bluebird" else pytest.param(name, marks=pytest.mark.needs_mirror) for name in LEVELS]
)
def test_levels_on_public_sets(name):
    found = cf.load(name)
    method = BayesDS().fit(found.labels)
    accuracy, structure = LEVELS[name]
    assert method.structure_ == structure
    assert 1 - error_rate(method.predict_proba(found.labels), found.truth) == pytest.approx(accuracy, abs=0.006)
    vote = 1 - error_rate(vote_shares(found.labels), found.truth)
    assert accuracy > vote


# accuracy with one kind and with two, and the two bounds: measured with another implementation of the same equations
WITH_ANOTHER = {
    "bluebird": (0.8889, 0.8611, -2077.67, -2071.41),
    "dog": (0.8414, 0.8414, -6107.38, -6111.30),
    "rte": (0.9313, 0.9313, -4062.25, -4064.28),
    "web": (0.7689, 0.7433, -20122.74, -20130.36),
    "music_genre": (0.7871, 0.7871, -5717.68, -5726.95),
    "face_sentiment": (0.6404, 0.6387, -4467.87, -4423.45),
    "sentiment_1k": (0.9600, 0.9610, -9235.32, -9205.02),
}


@pytest.mark.parametrize(
    "name",
    [name if name == "bluebird" else pytest.param(name, marks=pytest.mark.needs_mirror) for name in WITH_ANOTHER],
)
def test_one_and_two_kinds_are_those_of_another_implementation(name):
    found = cf.load(name)
    expected = WITH_ANOTHER[name]
    for structure, accuracy, bound in zip(("own", "kinds"), expected[:2], expected[2:], strict=True):
        method = BayesDS(structure=structure).fit(found.labels)
        assert method.result_.objective[-1] == pytest.approx(bound, abs=0.3)
        assert 1 - error_rate(method.predict_proba(found.labels), found.truth) == pytest.approx(accuracy, abs=0.004)


@pytest.mark.needs_mirror
def test_ibcc_has_the_measured_mean():
    found = [cf.load(name) for name in LEVELS]
    accuracies = [1 - error_rate(IBCC().fit(one.labels).predict_proba(one.labels), one.truth) for one in found]
    assert np.mean(accuracies) == pytest.approx(0.834, abs=0.001)
