"""Grades: both readings equal to the loops, the choice between them, and what they answer."""

import warnings

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor import CofactorError, CrowdLabels, simulate
from cofactor.core.errors import ConvergenceWarning, DataWarning
from cofactor.crowd.additive import fit_additive, score_posterior
from cofactor.crowd.evidence import Evidence
from cofactor.crowd.graders import Settings, graded_tables, read_classes
from cofactor.crowd.order import in_order
from cofactor.crowd.ordinal import held_out_labels, opinions
from cofactor.crowd.scores import score
from cofactor.crowd.types import ByClass, Coin, NoInformation
from cofactor.crowd.worker_types import WorkerTypes
from tests.oracles.generators import triples
from tests.oracles.graders import additive_rounds, rounds_of_graders, tables

TYPES = (Coin(4.0, 1.0), ByClass(4.0, 1.0), NoInformation())
NAMES = ["coin", "class", "none"]
ORDER = [0, 1, 2, 3, 4]
OPINIONS = {"skewed": True, "task_spread": 2.0, "offset": 0.3}


def steps(answers, truth):
    return np.abs(answers - truth).mean()


def graded(labels, **settings):
    return WorkerTypes(order=labels.classes, **settings).fit(labels)


def rounded_mean(labels):
    return np.rint(cf.crowd.vote_shares(labels) @ np.arange(labels.n_classes)).astype(int)


# ---- the models ----


def test_tables_are_those_of_graders_one_by_one():
    for K in (3, 5):
        log_tables, log_weights = graded_tables(K)
        expected = tables(K)
        assert np.allclose(np.exp(log_tables), [P for _, P in expected], atol=1e-12)
        assert np.allclose(log_weights, [weight for weight, _ in expected])


@pytest.mark.parametrize(("seed", "n_grades"), [(0, 3), (1, 5)])
def test_rounds_of_the_class_reading_are_those_of_the_loops(seed, n_grades):
    labels = simulate.grader_crowd(25, 5, n_grades, 3, offset=0.5, reversed_share=0.2, random_state=seed).labels
    with pytest.warns(ConvergenceWarning):
        found = read_classes(Evidence.of(labels), Settings(TYPES, 4, 0.0))
    r, q, rho = rounds_of_graders(*triples(labels), n_grades, NAMES, 4)
    assert np.allclose(found.belief.q, q, atol=1e-10) and np.allclose(found.belief.rho, rho, atol=1e-12)
    assert np.allclose(found.states.posterior(labels.table), r, atol=1e-10)
    assert np.allclose(found.counts.classes, r.sum(axis=0))


def test_rounds_of_the_mean_reading_are_those_of_the_loops():
    task, worker, y = triples(simulate.grader_crowd(20, 6, labels_per_task=4, offset=0.7, random_state=0).labels)
    found = fit_additive(np.array(task), np.array(worker), np.array(y, dtype=float), 20, 6, max_rounds=7, tol=0.0)
    for name, value in zip(("mu", "u", "b", "ve", "vq", "vb"), additive_rounds(task, worker, y, 7), strict=True):
        assert np.allclose(getattr(found, name), value, atol=1e-12), name
    assert not found.converged and fit_additive(np.array(task), np.array(worker), np.array(y, float), 20, 6).converged


def test_offsets_of_graders_are_found_and_a_score_between_grades_is_neither_for_sure():
    drawn = simulate.grader_crowd(800, 8, labels_per_task=4, offset=1.0, random_state=3)
    t = drawn.labels.table
    found = fit_additive(t.rows, t.variables, t.values.astype(float), 800, 8)
    off = np.array([np.mean((t.values - drawn.truth[t.rows])[t.variables == w]) for w in range(8)])
    assert np.corrcoef(found.b, off)[0, 1] > 0.99 and np.std(found.b) == pytest.approx(np.std(off), rel=0.2)
    theta, p = score_posterior(np.array([0, 0, 1, 1]), np.array([1.0, 2.0, 0.0, 0.0]), 0.5, 3, 5)
    assert theta[:2].tolist() == [1.5, 0.0] and p[0, 1] == pytest.approx(p[0, 2]) and np.allclose(p.sum(axis=1), 1)
    assert p[2].tolist() == [0.2] * 5 and p[1].argmax() == 0
    beyond = score_posterior(np.array([0, 1]), np.array([4.0, 9.0]), 0.5, 2, 5)[1]  # a score ends with the scale
    assert np.allclose(*beyond)


# ---- the choice ----


def test_held_out_labels_tell_opinions_from_grades():
    read = {"mean": [], "class": []}
    for seed in range(2):
        read["mean"].append(simulate.grader_crowd(200, 20, labels_per_task=10, **OPINIONS, random_state=seed))
        read["class"].append(simulate.grader_crowd(120, 20, labels_per_task=8, random_share=0.4, random_state=seed))
    for reading, crowds in read.items():
        for drawn in crowds:
            found = graded(drawn.labels).grading_
            assert found.reading == reading and found.chosen_by == "by labels held out"
            assert (found.held_out.z > 2) == (reading == "mean")


def test_held_out_predictions_are_worked_by_the_definition():
    """Of one fold of five: whoever knows the fits can predict every label that was left out."""
    labels = simulate.grader_crowd(40, 6, 4, 4, random_state=5).labels
    settings = Settings(TYPES, 300, 1e-6)
    t, fold, squares = labels.table, np.random.default_rng(0).integers(0, 5, labels.n_labels), []
    for k in range(5):
        rest = [np.asarray(x)[fold != k] for x in (t.rows, t.variables, t.values)]
        kept = CrowdLabels.from_arrays(*rest, 4, 40, 6, unlabelled="keep")
        found, scores = read_classes(Evidence.of(kept), settings), fit_additive(rest[0], rest[1], rest[2] * 1.0, 40, 6)
        r, E = found.states.posterior(kept.table), found.states.stacked.reshape(6, 4, 12)
        for i, w, y in zip(t.rows[fold == k], t.variables[fold == k], t.values[fold == k], strict=True):
            if i in rest[0]:
                C = np.where(np.eye(4, dtype=bool), 4.0, 1.0)
                for j, v, label in zip(*rest, strict=True):
                    if v == w:
                        C[label] += r[j].reshape(4, 3).sum(axis=1)
                counted = r[i].reshape(4, 3).sum(axis=1) @ (np.arange(4) @ C / C.sum(axis=0))
                typed = r[i] @ (np.arange(4) @ E[w] / E[w].sum(axis=0))
                squares.append((np.array([counted, typed, scores.mu + scores.u[i] + scores.b[w]]) - y) ** 2)
    errors = np.array(squares)
    gain = errors[:, errors[:, :2].mean(axis=0).argmin()] - errors[:, 2]
    found = held_out_labels(labels, settings)
    assert np.allclose(found.errors, errors.mean(axis=0), rtol=1e-6)
    assert found.z == pytest.approx(gain.mean() / (gain.std() / np.sqrt(len(gain))), rel=1e-5)


def test_the_user_decides_before_gold_and_gold_before_held_out_labels():
    drawn = simulate.grader_crowd(120, 20, labels_per_task=8, random_share=0.4, random_state=0)
    labels = drawn.labels
    assert graded(labels).grading_.reading == "class"
    asked = graded(labels, reading="mean")
    assert asked.grading_.reading == "mean" and asked.grading_.chosen_by == "as asked for"
    means = asked.predict(labels)
    gold = np.where(np.arange(120) < 40, means, -1)  # whose truth is what the mean says
    fitted = WorkerTypes(order=ORDER).fit(labels, gold)
    told = fitted.grading_
    assert fitted.gold_check_ is None  # gold tasks choose the reading, and no design effect: nothing is held out
    assert told.reading == "mean" and told.chosen_by == "by gold tasks" and told.gold_t >= 1.5
    few = np.where(np.arange(120) < 4, means, -1)
    assert WorkerTypes(order=ORDER).fit(labels, few).grading_.chosen_by == "by labels held out"
    assert WorkerTypes(order=ORDER, reading="class").fit(labels, gold).grading_.reading == "class"


# ---- answers ----


def test_graders_are_read_better_than_by_classes_or_by_the_mean():
    gains = {"types": [], "mean": []}
    for setting in ({"spread": (0.2, 2.0)}, {"random_share": 1 / 3}, {"reversed_share": 0.2}, {"offset": 0.7}):
        for seed in range(2):
            drawn = simulate.grader_crowd(200, 20, labels_per_task=5, **setting, random_state=seed)
            off = steps(graded(drawn.labels, reading="class").predict(drawn.labels), drawn.truth)
            gains["types"].append(steps(WorkerTypes().fit(drawn.labels).predict(drawn.labels), drawn.truth) - off)
            gains["mean"].append(steps(rounded_mean(drawn.labels), drawn.truth) - off)
    for name, gain in gains.items():  # measured: .15 and .13 steps in the mean, none below 0
        assert np.mean(gain) > 0.08 and np.min(gain) > -0.03, name


def test_nothing_is_lost_where_workers_err_by_classes():
    lost = []
    for seed in range(3):
        model = simulate.dawid_skene_model(15, 5, skill=0.5, random_state=seed)
        drawn = simulate.large_crowd(model, 200, 7, activity=0.0, random_state=seed)
        plain, ours = (
            WorkerTypes(**s).fit(drawn.labels) for s in ({}, {"order": ORDER, "loss": "errors", "reading": "class"})
        )
        lost.append(score(plain.predict(drawn.labels), drawn.truth).accuracy)
        lost[-1] -= score(ours.predict(drawn.labels), drawn.truth).accuracy
    assert np.mean(lost) < 0.01


@pytest.mark.needs_mirror
def test_grades_of_web_pages():
    web = cf.load("web")
    known = web.truth >= 0
    by_steps, by_errors = graded(web.labels), graded(web.labels, loss="errors", reading="class")
    assert by_steps.grading_.held_out.z == pytest.approx(-2.2, abs=0.1)  # close, and rightly for classes
    assert steps(by_steps.predict(web.labels)[known], web.truth[known]) == pytest.approx(0.149, abs=1e-3)
    assert np.mean(by_steps.predict(web.labels)[known] == web.truth[known]) == pytest.approx(0.875, abs=1e-3)
    assert np.mean(by_errors.predict(web.labels)[known] == web.truth[known]) == pytest.approx(0.882, abs=1e-3)
    assert graded(web.labels, reading="mean").grading_.scores.mu == pytest.approx(2.681488, abs=3e-4)


def test_the_answer_is_the_median_or_the_mode_and_the_interval_holds_nine_of_ten():
    inside = []
    for seed in range(4):
        drawn = simulate.grader_crowd(400, 25, labels_per_task=5, spread=(0.2, 2.0), random_state=seed)
        by_steps = graded(drawn.labels, reading="class")
        p, answer = by_steps.predict_proba(drawn.labels), by_steps.predict(drawn.labels)
        below = np.cumsum(p, axis=1)[np.arange(400), answer]
        assert ((below >= 0.5 - 1e-9) & (below - p[np.arange(400), answer] < 0.5)).all()
        by_errors = graded(drawn.labels, loss="errors", reading="class")
        assert (by_errors.predict(drawn.labels) == p.argmax(axis=1)).all()
        low, high = by_steps.grading_.interval(p)
        assert ((low <= answer) & (answer <= high)).all()
        inside.append(np.mean((low <= drawn.truth) & (drawn.truth <= high)))
    assert np.mean(inside) > 0.9


def test_names_and_their_order_do_not_matter():
    labels = simulate.grader_crowd(150, 10, labels_per_task=5, offset=0.5, random_state=1).labels
    words = ["awful", "weak", "mixed", "fine", "best"]  # sorted by name: 0, 4, 3, 2, 1
    named = CrowdLabels(labels.table, labels.tasks, labels.workers, words).to_frame()
    by_name = CrowdLabels.from_frame(named)
    for reading in ("class", "mean"):
        plain = graded(labels, reading=reading)
        shuffled = WorkerTypes(order=words, reading=reading).fit(by_name)
        code = [by_name.classes.index(word) for word in words]
        assert np.allclose(shuffled.predict_proba(by_name)[:, code], plain.predict_proba(labels), atol=1e-5)
        assert [by_name.classes[k] for k in shuffled.predict(by_name)] == [words[k] for k in plain.predict(labels)]
        stranger = named.assign(worker=named["worker"].replace({3: 99}))
        with pytest.warns(DataWarning, match="99") if reading == "class" else warnings.catch_warnings():
            assert shuffled.predict(stranger).isin(words).all()
        turned = WorkerTypes(order=words[::-1], reading=reading).fit(by_name)
        assert np.mean(turned.predict(by_name) == shuffled.predict(by_name)) > 0.97  # but for halves of ties


def test_gold_keeps_its_class_in_both_readings_and_tasks_without_labels_have_the_prior():
    drawn = simulate.grader_crowd(100, 10, labels_per_task=5, random_state=2)
    gold = np.where(np.arange(100) < 10, (drawn.truth + 1) % 5, -1)
    for reading in ("class", "mean"):
        found = WorkerTypes(order=ORDER, reading=reading).fit(drawn.labels, gold)
        assert (found.predict(drawn.labels)[:10] == gold[:10]).all()
        empty = CrowdLabels.from_arrays([60], [0], [1], 5, 62, 1, unlabelled="keep")
        assert np.allclose(found.predict_proba(empty)[61], found.model_.prior)


def test_one_label_a_task_and_two_grades_are_left_to_the_classes():
    alone = CrowdLabels.from_arrays(range(8), [0, 1] * 4, [0, 1, 2, 3, 4, 0, 1, 2])
    two = simulate.grader_crowd(60, 5, 2, 3, random_state=0).labels
    for labels in (alone, two):
        found = graded(labels)
        assert found.grading_ is None and "graded" not in found.types_
        assert (found.predict(labels) == WorkerTypes().fit(labels).predict(labels)).all()


def test_many_grades_are_read_as_numbers():
    drawn = simulate.grader_crowd(100, 10, 41, 5, random_state=0)
    found = graded(drawn.labels)
    assert found.grading_.reading == "mean" and "more than 20 grades" in found.grading_.chosen_by
    assert steps(found.predict(drawn.labels), drawn.truth) < 0.6


def test_orders_and_settings_that_are_none_are_refused():
    labels = simulate.grader_crowd(30, 5, 4, 3, random_state=0).labels
    for settings, words in (
        ({"order": [0, 1, 2]}, "leaves out 3"),
        ({"order": [0, 1, 2, 3, 4]}, "no classes of these labels: 4.*in_order"),
        ({"order": "0123"}, "give all classes in a list"),
        ({"order": [0, 1, 2, 3], "reading": "median"}, "reading='median': choose one of auto, class, mean"),
        ({"order": [0, 1, 2, 3], "loss": "squares"}, "loss='squares': choose one of steps, errors"),
    ):
        with pytest.raises(CofactorError, match=words):
            WorkerTypes(**settings).fit(labels)
    wider = in_order(labels, [0, 1, 2, 3, 4])
    assert WorkerTypes(order=wider.classes).fit(wider).predict_proba(wider).shape == (30, 5)


def test_copies_count_once_among_graders():
    drawn = simulate.grader_crowd(120, 6, labels_per_task=6, spread=(0.8, 0.8), random_state=4)
    frame = drawn.labels.to_frame()
    copies = pd.concat([frame, *(frame[frame["worker"] == 0].assign(worker=w) for w in (7, 8, 9))])
    labels = CrowdLabels.from_frame(copies)
    for reading in ("class", "mean"):
        found, plain = graded(labels, reading=reading), graded(drawn.labels, reading=reading)
        assert found.copies_ == [[0, 7, 8, 9]]
        assert np.allclose(found.predict_proba(labels), plain.predict_proba(drawn.labels), atol=1e-4)


def test_answers_of_one_worker_to_one_task_are_one_opinion():
    frame = simulate.grader_crowd(60, 6, labels_per_task=4, random_state=0).labels.to_frame()
    again = frame.assign(label=np.where(frame.index % 3 == 0, (frame["label"] + 2) % 5, frame["label"]))
    both = CrowdLabels.from_frame(pd.concat([frame, again]).drop_duplicates(), conflicts="all")
    for order in (both.classes, [4, 3, 2, 1, 0]):
        found = WorkerTypes(order=order).fit(both)  # held-out labels are asked, too
        assert found.predict_proba(both).shape == (60, 5) and np.isfinite(found.grading_.held_out.z)
    task, worker, y = opinions(both.table)
    means = pd.concat([frame, again]).groupby(["task", "worker"])["label"].mean()
    assert len(y) == len(means) and np.allclose(y, means.loc[list(zip(task, worker, strict=True))])
