"""Grades: graders are one more type, equal to the loops, and the answer is the median grade."""

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor import CofactorError, CrowdLabels, simulate
from cofactor.core.errors import ConvergenceWarning, DataWarning
from cofactor.crowd.fit import Evidence, Fit
from cofactor.crowd.labels import in_order
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.model import graded_tables
from cofactor.crowd.scores import score
from tests.oracles.generators import triples
from tests.oracles.graders import grader_crowd, rounds_of_graders, tables

ORDER = [0, 1, 2, 3, 4]


def steps(answers, truth):
    return np.abs(answers - truth).mean()


def graded(labels):
    return WorkerTypes(order=labels.classes).fit(labels)


def rounded_mean(labels):
    return np.rint(cf.crowd.vote_shares(labels) @ np.arange(labels.n_classes)).astype(int)


# ---- the model ----


@pytest.mark.slow
def test_tables_are_those_of_graders_one_by_one():
    for K in (3, 5):
        log_tables, log_weights = graded_tables(K)
        expected = tables(K)
        assert np.allclose(np.exp(log_tables), [P for _, P in expected], atol=1e-12)
        assert np.allclose(log_weights, [weight for weight, _ in expected])


@pytest.mark.parametrize(("seed", "n_grades"), [(0, 3), (1, 5)])
def test_rounds_are_those_of_the_loops(seed, n_grades):
    labels, _ = grader_crowd(25, 5, n_grades, 3, offset=0.5, reversed_share=0.2, seed=seed)
    types = ("coin", "class", "none", "graded")
    with pytest.warns(ConvergenceWarning):
        found = Fit(Evidence.of(labels), max_iter=4, tol=0.0, grades=np.arange(n_grades)).run(types)
    r, q, rho = rounds_of_graders(*triples(labels), n_grades, types[:3], 4)
    assert np.allclose(found.belief.q, q, atol=1e-10) and np.allclose(found.belief.rho, rho, atol=1e-12)
    assert np.allclose(found.belief.everywhere().posterior(labels.table), r, atol=1e-10)
    assert np.allclose(found.counts.classes, r.sum(axis=0))


# ---- answers ----


@pytest.mark.slow
def test_graders_are_read_better_than_by_classes_or_by_the_mean():
    gains = {"types": [], "mean": []}
    for setting in ({"spread": (0.2, 2.0)}, {"random_share": 1 / 3}, {"reversed_share": 0.2}, {"offset": 0.7}):
        for seed in range(2):
            labels, truth = grader_crowd(200, 20, **setting, seed=seed)
            off = steps(graded(labels).predict(labels), truth)
            gains["types"].append(steps(WorkerTypes().fit(labels).predict(labels), truth) - off)
            gains["mean"].append(steps(rounded_mean(labels), truth) - off)
    for name, gain in gains.items():
        assert np.mean(gain) > 0.08 and np.min(gain) > -0.03, (name, gain)


@pytest.mark.slow
def test_little_is_lost_where_workers_err_by_classes():
    lost = []
    for seed in range(3):
        model = simulate.dawid_skene_model(15, 5, skill=0.5, random_state=seed)
        drawn = simulate.large_crowd(model, 200, 7, activity=0.0, random_state=seed)
        p, ours = (WorkerTypes(**s).fit(drawn.labels).predict_proba(drawn.labels) for s in ({}, {"order": ORDER}))
        lost.append(score(p, drawn.truth).accuracy - score(ours, drawn.truth).accuracy)
    assert np.mean(lost) < 0.01


@pytest.mark.needs_mirror
def test_grades_of_web_pages():
    web = cf.load("web")
    known = web.truth >= 0
    answer = graded(web.labels).predict(web.labels)[known]
    assert steps(answer, web.truth[known]) == pytest.approx(WEB[0], abs=1e-3)
    assert np.mean(answer == web.truth[known]) == pytest.approx(WEB[1], abs=1e-3)


WEB = 0.1459, 0.8775  # steps off, share right


@pytest.mark.slow
def test_the_answer_is_the_median_and_the_interval_holds_nine_of_ten():
    inside = []
    for seed in range(4):
        labels, truth = grader_crowd(400, 25, spread=(0.2, 2.0), seed=seed)
        fitted = graded(labels)
        p, answer = fitted.predict_proba(labels), fitted.predict(labels)
        below = np.cumsum(p, axis=1)[np.arange(400), answer]
        assert ((below >= 0.5 - 1e-9) & (below - p[np.arange(400), answer] < 0.5)).all()
        low, high = fitted.interval(p)
        assert ((low <= answer) & (answer <= high)).all()
        inside.append(np.mean((low <= truth) & (truth <= high)))
    assert np.mean(inside) > 0.9


@pytest.mark.slow
def test_names_and_their_order_do_not_matter():
    labels, _ = grader_crowd(150, 10, offset=0.5, seed=1)
    words = ["awful", "weak", "mixed", "fine", "best"]  # sorted by name: 0, 4, 3, 2, 1
    named = CrowdLabels(labels.table, labels.tasks, labels.workers, words).to_frame()
    by_name = CrowdLabels.from_frame(named)
    plain, shuffled = graded(labels), WorkerTypes(order=words).fit(by_name)
    code = [by_name.classes.index(word) for word in words]
    assert np.allclose(shuffled.predict_proba(by_name)[:, code], plain.predict_proba(labels), atol=1e-5)
    assert [by_name.classes[k] for k in shuffled.predict(by_name)] == [words[k] for k in plain.predict(labels)]
    stranger = named.assign(worker=named["worker"].replace({3: 99}))
    with pytest.warns(DataWarning, match="99"):
        assert shuffled.predict(stranger).isin(words).all()
    turned = WorkerTypes(order=words[::-1]).fit(by_name)
    assert np.mean(turned.predict(by_name) == shuffled.predict(by_name)) > 0.97  # but for halves of ties


def test_gold_keeps_its_class_and_tasks_without_labels_have_the_prior():
    labels, truth = grader_crowd(100, 10, seed=2)
    gold = np.where(np.arange(100) < 10, truth, -1)
    found = WorkerTypes(order=ORDER).fit(labels, gold)
    assert (found.predict(labels)[:10] == gold[:10]).all()
    empty = CrowdLabels.from_arrays([60], [0], [1], 5, 62, 1, unlabelled="keep")
    assert np.allclose(found.predict_proba(empty)[61], found.model_.prior)


def test_one_label_a_task_and_two_grades_are_left_to_the_classes():
    alone = CrowdLabels.from_arrays(range(8), [0, 1] * 4, [0, 1, 2, 3, 4, 0, 1, 2])
    two, _ = grader_crowd(60, 5, 2, 3)
    for labels in (alone, two):
        found = graded(labels)
        assert "graded" not in found.types_
        assert (found.predict(labels) == WorkerTypes().fit(labels).predict(labels)).all()


def test_orders_that_are_none_are_refused():
    labels, _ = grader_crowd(30, 5, 4, 3)
    for order, words in (
        ([0, 1, 2], "leaves out 3"),
        ([0, 1, 2, 3, 4], "classes that these labels do not have: 4.*in_order"),
        ("0123", "must be a list of all classes"),
    ):
        with pytest.raises(CofactorError, match=words):
            WorkerTypes(order=order).fit(labels)
    wider = in_order(labels, [0, 1, 2, 3, 4])
    assert WorkerTypes(order=wider.classes).fit(wider).predict_proba(wider).shape == (30, 5)


@pytest.mark.slow
def test_copies_count_once_among_graders():
    labels, _ = grader_crowd(500, 6, per=6, spread=(0.8, 0.8), seed=4)
    frame = labels.to_frame()
    copied = CrowdLabels.from_frame(pd.concat([frame, *(frame[frame["worker"] == 0].assign(worker=w) for w in (7, 8))]))
    found, plain = graded(copied), graded(labels)
    assert found.copies_ == [[0, 7, 8]]
    assert np.allclose(found.predict_proba(copied), plain.predict_proba(labels), atol=1e-4)


def test_answers_of_one_worker_to_one_task_are_one_opinion():
    frame = grader_crowd(60, 6, per=4)[0].to_frame()
    again = frame.assign(label=np.where(frame.index % 3 == 0, (frame["label"] + 2) % 5, frame["label"]))
    both = CrowdLabels.from_frame(pd.concat([frame, again]).drop_duplicates(), conflicts="all")
    p = graded(both).predict_proba(both)
    assert p.shape == (60, 5) and np.allclose(p.sum(axis=1), 1)
