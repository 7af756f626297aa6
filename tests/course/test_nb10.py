"""Notebook 10's messy files hold the mistakes that it speaks of; its plans and pictures say what they rest on."""

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.reading.truth import read_truth
from course.nb10 import draws, exercises, files, panels, pictures, pilots
from course.nb10.files import ANSWERS, BRIDGE, KNOWN, PER_BRIDGE, SHIFTS, sorting_crowd
from tests.each import each

NAMES = {"task": "message", "worker": "rater", "label": "answer"}


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    return files.example_files(tmp_path_factory.mktemp("examples"))


def test_the_same_files_every_time(examples, tmp_path):
    again = files.example_files(tmp_path)
    for name in ("labels", "samples", "texts", "comparisons"):
        assert getattr(examples, name).read_bytes() == getattr(again, name).read_bytes()
    assert files.example_files(tmp_path, seed=1).labels.read_bytes() != examples.labels.read_bytes()


def test_labels_come_with_every_mistake(examples):
    with pytest.raises(cf.CofactorError, match="no column task, worker, label; found message, rater, answer"):
        cf.CrowdLabels.from_csv(examples.labels)
    with (
        pytest.warns(cf.DataWarning, match="alone are one"),
        pytest.raises(cf.CofactorError, match="missing answer in rows"),
    ):
        cf.CrowdLabels.from_csv(examples.labels, **NAMES)
    frame = pd.read_csv(examples.labels, dtype=str).dropna()
    with (
        pytest.warns(cf.DataWarning, match="alone are one"),
        pytest.raises(cf.CofactorError, match="conflicting labels"),
    ):
        cf.CrowdLabels.from_frame(frame, **NAMES)
    with pytest.warns(cf.DataWarning, match="given again"), pytest.warns(cf.DataWarning, match="alone are one"):
        labels = cf.CrowdLabels.from_frame(frame, **NAMES, conflicts="last")
    assert labels.table.entries_per_variable[labels.workers.index("trainee")] == 1
    assert cf.crowd.diagnose(labels)["co-labelling graph"].value.startswith("2 components")


def test_a_second_file_links_the_shifts(examples):
    labels = files.clean_labels(examples.labels)
    assert labels.classes == list(ANSWERS)
    assert cf.crowd.diagnose(labels)["co-labelling graph"].status == "pass"
    more = pd.read_csv(examples.labels.with_name("more_labels.csv"))
    assert len(more) == 2 * BRIDGE * PER_BRIDGE


def test_known_answers_are_true(examples):
    labels = files.clean_labels(examples.labels)
    truth = read_truth(examples.labels.with_name("known_answers.csv"), labels)
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


def test_samples_hold_a_column_twice_and_two_signs_for_missing(examples):
    survey = pd.read_csv(examples.samples, dtype=str)
    assert survey["person"].is_unique and (survey["shift"] == "?").any() and survey["shift"].isna().any()
    table = cf.CategoricalTable(pd.read_csv(examples.samples, na_values="?").apply(lambda c: pd.factorize(c)[0]))
    report = cf.pmf.diagnose(table)
    assert "3 goes with one value of 6" in report["redundant columns"].value


def test_comparisons_hold_minus_ones_and_dishes_beside_themselves(examples):
    choices = pd.read_csv(examples.comparisons)
    assert set(choices["preferred"]) == {-1, 1} and (choices["this"] == choices["that"]).sum() == 3


def test_workers_of_the_crowd_are_right_as_often_as_said():
    assert np.allclose(cf.crowd.worker_accuracy(sorting_crowd([0.9, 0.4])), [0.9, 0.4])


def test_better_workers_and_bolder_wishes_need_fewer_labels():
    def needed(accuracy, wanted):
        return panels.plan_pilot(accuracy, 4, wanted).plan.needed()["amount"].to_numpy()

    assert (needed(0.9, 0.05) < needed(0.7, 0.05)).all() and (needed(0.7, 0.2) < needed(0.7, 0.05)).all()


def test_kept_plans_are_those_that_are_computed():
    found = np.array(list(pilots.pilot_plan(0.8, 10).errors.values()))
    assert np.abs(found - pilots.kept_errors()[0.8, 10]).mean() < 0.002  # BLAS may move a tie
    assert len(pilots.kept_errors()) == len(pilots.ACCURACIES) * len(pilots.PER_TASK)


def test_an_amount_is_told_once_where_all_simulations_agree():
    panel = panels.plan_panel()
    assert panel.text.count(" to ") == 2
    panel.controls["accuracy"].value = 0.4
    assert "MV-EM more than 20 labels" in panel.text and " to " not in panel.text


@pytest.mark.slow
def test_the_picture_of_the_path_tells_doubts_and_labels(examples):
    labels = files.clean_labels(examples.labels)
    method = cf.crowd.METHODS["MV-EM"]().fit(labels)
    found = cf.crowd.bootstrap(method, labels, n_draws=10, random_state=0)
    plan = cf.plan(labels, 0.05, amounts=[3, 6, 9], n_trials=3, random_state=0)
    posterior = method.predict_proba(labels)
    said = pictures.draw_path(posterior, found, plan).get_suptitle().replace("\n", " ")
    assert said.startswith(f"{np.sum(posterior.max(axis=1) < 0.9)} of 360 tasks are doubtful")
    assert f"takes {plan.answers()['WorkerTypes']} labels per task (WorkerTypes)" in said


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


@each("seed", range(8))
def test_gaps_filled_one_by_one_are_not_the_most_probable_pair(seed):
    lam, A, known = draws.gaps(seed)
    model = cf.LatentClassModel(lam, list(A))
    rows = np.array([[-1, -1, known]])
    table = cf.CategoricalTable(rows, sizes=[3, 3, 3])
    p = draws.pair_chances(lam, A, known)
    assert np.allclose(p.sum(axis=1), model.conditional(table, target=0)[0])
    assert np.allclose(p.sum(axis=0), model.conditional(table, target=1)[0])
    alone, pair = draws.one_by_one(p), draws.together(p)
    assert (alone != pair).any() and p[tuple(alone)] < p[tuple(pair)] == p.max()


def test_crowds_are_the_witnesses_of_intervals_and_both_verdicts_occur():
    verdicts = []
    for seed in range(20):
        mean, error, naive = draws.coverage(draws.intervals_that_hold(seed))
        assert 0.9 - mean > 2 * naive  # 300 independent intervals would always refute 90 %
        verdicts.append(0.9 - mean > 2 * error)
    assert 4 < sum(verdicts) < 16
