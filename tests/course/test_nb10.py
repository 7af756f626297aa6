"""Notebook 10's messy files hold the mistakes that it speaks of; its plans and pictures say what they rest on."""

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.reading.truth import read_truth
from course.nb10 import draws, exercises, files, panels
from course.nb10.files import ANSWERS, BRIDGE, KNOWN, PER_BRIDGE, SHIFTS, sorting_crowd
from tests.course import moved
from tests.each import each

NAMES = {"task": "message", "worker": "rater", "label": "answer"}


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    return files.example_file(tmp_path_factory.mktemp("example"))


def test_the_same_files_every_time(example, tmp_path):
    assert files.example_file(tmp_path).read_bytes() == example.read_bytes()
    assert files.example_file(tmp_path, seed=1).read_bytes() != example.read_bytes()


def test_labels_come_with_every_mistake(example):
    with pytest.raises(cf.CofactorError, match="no column task, worker, label; found message, rater, answer"):
        cf.CrowdLabels.from_csv(example)
    with (
        pytest.warns(cf.DataWarning, match="count as one"),
        pytest.raises(cf.CofactorError, match="missing answer in rows"),
    ):
        cf.CrowdLabels.from_csv(example, **NAMES)
    frame = pd.read_csv(example, dtype=str).dropna()
    with (
        pytest.warns(cf.DataWarning, match="count as one"),
        pytest.raises(cf.CofactorError, match="conflicting labels"),
    ):
        cf.CrowdLabels.from_frame(frame, **NAMES)
    with pytest.warns(cf.DataWarning, match="given again"), pytest.warns(cf.DataWarning, match="count as one"):
        labels = cf.CrowdLabels.from_frame(frame, **NAMES, conflicts="last")
    assert labels.table.entries_per_variable[labels.workers.index("trainee")] == 1
    assert cf.crowd.diagnose(labels)["co-labelling graph"].value.startswith("2 components")


def test_a_second_file_links_the_shifts(example):
    labels = files.clean_labels(example)
    assert labels.classes == list(ANSWERS)
    assert cf.crowd.diagnose(labels)["co-labelling graph"].status == "pass"
    more = pd.read_csv(example.with_name("more_labels.csv"))
    assert len(more) == 2 * BRIDGE * PER_BRIDGE


def test_known_answers_are_true(example):
    labels = files.clean_labels(example)
    truth = read_truth(example.with_name("known_answers.csv"), labels)
    assert np.sum(truth >= 0) == KNOWN
    skills = {f"{shift}-{m + 1}": skill for shift, skills in SHIFTS.items() for m, skill in enumerate(skills)}
    right = pd.Series(labels.table.values == truth[labels.table.rows])[truth[labels.table.rows] >= 0]
    who = pd.Series([labels.workers[m] for m in labels.table.variables])[right.index]
    expected = who.map(skills).mean()
    assert abs(right.mean() - expected) < 4 * np.sqrt(expected * (1 - expected) / len(right))


def test_a_file_of_ones_own_needs_no_other(tmp_path):
    rows = [(n, m, label) for n in range(8) for m, label in enumerate(("Yes", "yes", "no"))]
    pd.DataFrame(rows, columns=["photo", "who", "what"]).to_csv(tmp_path / "mine.csv", index=False)
    labels = files.clean_labels(tmp_path / "mine.csv")
    assert labels.classes == ["no", "yes"] and labels.n_labels == 24 and labels.workers == ["0", "1", "2"]


def test_workers_of_the_crowd_are_right_as_often_as_said():
    assert np.allclose(cf.crowd.worker_accuracy(sorting_crowd([0.9, 0.4])), [0.9, 0.4])


def test_groups_are_counted_in_files_that_are_hard_to_count_in():
    """Ids with gaps, one group, links that come late, a label given twice."""
    exercise = exercises.Groups()
    counts = [exercise.solve(**case)[0].answer for case in (exercise.given(), *exercise.cases())]
    assert counts == [4, 1, 4, 1, 2]
    assert any(len(np.unique(case["worker"])) <= case["worker"].max() for case in exercise.cases())
    for says, function in exercise.wrong.items():
        assert any(
            function(*case.values()) != count for case, count in zip(exercise.cases(), counts[1:], strict=True)
        ), says


def test_all_definitions_of_a_quantile_are_right_and_nothing_else():
    (part,) = exercises.Refits().parts
    refits, scale = exercises.Refits().given()["refits"], np.max(part.answer)
    methods = ("inverted_cdf", "weibull", "hazen", "higher", "lower", "median_unbiased")
    for method in methods:
        assert np.abs(np.quantile(refits, [0.05, 0.95], method=method) - part.answer).max() < part.tolerance * scale
    for says, wrong in part.mistakes.items():
        assert np.abs(np.asarray(wrong) - part.answer).max() > 3 * part.tolerance * scale, says


def test_what_is_enough_is_enough_by_one_reading_only():
    amount = exercises.Enough().parts[1]
    assert len({int(amount.answer), *map(int, amount.mistakes.values())}) == 1 + len(amount.mistakes)


@each("seed", range(8))
def test_every_slip_in_a_messy_file_changes_a_count(seed):
    rows = draws.messy(seed)
    texts = [str(answer) for _, _, answer in rows]
    assert set(texts) & set(draws.GAPS) and any(text != text.lower() for text in texts)
    n, left = draws.contradictions(rows), draws.count_labels(rows)
    assert 3 <= n <= 6 and sum(left) == len({(task, rater) for task, rater, text in rows if text not in draws.GAPS})
    assert n < draws.contradictions(rows, again=True) and n < draws.contradictions(rows, capitals=True)
    assert n < draws.contradictions(rows, gaps=True) and draws.count_labels(rows, "first") != left
    assert sum(draws.count_labels(rows, "none")) == sum(left) - n
    assert sum(draws.count_labels(rows, "all")) == sum(text not in draws.GAPS for text in texts)


def test_crowds_are_the_witnesses_of_intervals_and_both_verdicts_occur():
    verdicts = []
    for seed in range(20):
        mean, error, naive = draws.coverage(draws.intervals_that_hold(seed))
        assert 0.9 - mean > 2 * naive  # 300 independent intervals would always refute 90 %
        verdicts.append(0.9 - mean > 2 * error)
    assert 4 < sum(verdicts) < 16


# ---- live figures, and what the notebook says of them ----


@pytest.mark.slow
def test_what_is_enough_for_the_mean_is_not_enough_for_nine_of_ten():
    assert moved(panels.enough_live(), guessed=9, shown=True).endswith("nine of ten need 11")
    assert moved(panels.enough_live(), wanted=20, shown=True).startswith("with 5 labels 70")


def test_two_people_are_told_apart_by_the_difference_while_their_intervals_overlap():
    ends = [panels.interval(share, 30) for share in (0.59, 0.81)]
    assert ends[0][1] > ends[1][0] and panels.difference(0.59, 0.81, 30)[0] > 0
    told = moved(panels.two_live(), n=30, shown=True)
    assert told.startswith("30 labels each: the two intervals overlap; the difference is")
