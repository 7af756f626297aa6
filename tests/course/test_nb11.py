"""Notebook 11: every seed draws a crowd of the same build, whose checks accept what is right there and nothing else."""

import nbformat
import numpy as np
import pytest
from scipy.stats import binom

from cofactor.core.errors import CofactorError
from cofactor.crowd import WorkerTypes, believed
from course import desk, seeds
from course.grading import TOLERANCE, FunctionExercise, same, told_apart
from course.nb11 import crowd, panels, pictures, unseen
from course.nb11.choosing import best_of, strata
from course.nb11.crowd import BUDGET, COPIES, GUIDE, N_TASKS, Shop, differ, drawn, known, split_evenly
from course.nb11.exercises import EXERCISES, NINETY, disputed, estimate
from tests.each import each
from tools.learner import NOTEBOOKS

NOTEBOOK = NOTEBOOKS / "11_capstone.ipynb"
NAMES = ("your name", "Ada", "Bo", "Chen", "Dilip", "Eve", "Fatima", "Gus", "Hana", "José", "中村")
DRAWS = 1000  # of twenty checks: a share is then known to 6 points, four standard errors


@pytest.fixture
def nobody(monkeypatch, tmp_path):
    """A session without a seed and without a shop, in a folder that is no learner's."""
    monkeypatch.setattr(seeds, "_chosen", {})
    monkeypatch.setattr(crowd, "_sold", {})
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@each("name", NAMES)
def test_labels_allow_two_readings_and_the_truth_one(name):
    """The larger family is taken for merged, copies are found, and the right reading is right by far."""
    made = drawn(name)
    labels, shares = made.crowd.labels, (made.said == made.crowd.truth).mean(axis=1)
    assert (labels.n_tasks, labels.n_workers, labels.n_classes) == (300, 12, 3)
    assert made.found.groups["merged"] == np.flatnonzero(made.are(GUIDE)).tolist()
    assert WorkerTypes().fit(labels).copies_ == [np.flatnonzero(made.are(COPIES)).tolist()]
    assert 0.1 < made.found.differ.mean() < 0.4
    best = 2 if made.guide_is_wrong else 1
    assert shares.argmax() == best and shares[best] > 0.88 and np.sort(shares)[1] < shares[best] - 0.03


@pytest.mark.slow
def test_either_guide_can_be_wrong_and_labels_do_not_tell():
    wrong = [drawn(name).guide_is_wrong for name in NAMES]
    assert 2 < sum(wrong) < len(wrong) - 2
    assert {drawn("Ada", number).guide_is_wrong for number in range(2)} == {True, False}


@pytest.mark.slow
def test_a_name_is_a_crowd_on_every_machine():
    assert seeds.number_of("Ada") == seeds.number_of(" ada ") == 2372962152
    assert seeds.number_of("José") == seeds.number_of("Jose\N{COMBINING ACUTE ACCENT}")
    assert drawn("Ada").crowd.labels.table.values[:9].tolist() != drawn("Bo").crowd.labels.table.values[:9].tolist()


@pytest.mark.slow
def test_mistakes_are_told_apart_with_every_seed_and_neighbours_differ(nobody):
    answers = {}
    for name in NAMES:
        seeds.choose(name)
        for key, exercise in EXERCISES.items():
            if not isinstance(exercise, FunctionExercise):
                answers.setdefault(key, []).append(str([part.answer for part in exercise.parts]))
                for part in exercise.parts:
                    wide = part._replace(tolerance=4 * TOLERANCE)
                    values = [np.asarray(value, dtype=float) for value in (part.answer, *part.mistakes.values())]
                    assert len(part.mistakes) >= 2, (name, part.name)
                    assert not any(same(a, wide, b) for i, a in enumerate(values) for b in values[:i]), (name, key)
    assert all(len(set(own)) > len(NAMES) / 2 for own in answers.values())


def test_choosing_half_where_readings_differ_beats_chance_and_a_function_that_raises_on_new_data_is_told(nobody):
    choose = EXERCISES["choose"]
    seen = choose.given()["posteriors"]

    def by_heart(posteriors, budget):
        if not np.array_equal(posteriors, seen):
            raise ValueError("new")
        return split_evenly(posteriors, budget)

    assert "raises ValueError: new" in choose.judge(by_heart).words

    def raises_at_times(posteriors, budget):
        if posteriors[0, 0].argmax() != posteriors[0, 1].argmax() != posteriors[0, 2].argmax():
            raise KeyError("at times")
        return split_evenly(posteriors, budget)

    def twice_at_times(posteriors, budget):
        tasks = split_evenly(posteriors, budget)
        return tasks if posteriors[0, 0].argmax() == 0 else [tasks[0], *tasks[:-1]]

    assert "raises KeyError" in choose.judge(raises_at_times).words
    assert "a task is chosen twice" in choose.judge(twice_at_times).words

    def split(posteriors, budget):
        some = split_evenly(posteriors, budget)[:14]
        return np.append(some, np.setdiff1d(np.flatnonzero(~differ(posteriors)), some)[:6])

    assert choose.judge(split).right


@pytest.mark.slow
@each("name", NAMES[1:3])  # of either guide, beside the stored run; what differs between seeds is judged for all above
def test_the_notebook_runs_with_other_seeds_and_its_solutions_are_right(name, nobody, capsys):
    """Cells in their order, those for the author left out; where checks mislead, the other reading is taken."""
    seeds._chosen.clear()
    session, cells = {}, nbformat.read(NOTEBOOK, as_version=4).cells
    for cell in cells:
        if cell.cell_type == "code" and "told" not in cell.metadata.get("tags", []):
            exec(cell.source.replace('desk.seed("your name")', f"desk.seed({name!r})"), session)
    said = capsys.readouterr().out
    assert session["seed"] == name and said.count("correct: ") == said.count("not yet: ") == len(EXERCISES)
    assert session["shares_right"]["delivered"] > 0.85 and "refused: 21 labels" in said
    assert 0.7 < session["number"] < 1 and 0 < session["reach"] < 0.25


# ---- the shop ----


def test_the_twenty_first_label_is_refused_and_a_task_is_paid_once(nobody):
    shop = Shop("Ada")
    with pytest.raises(CofactorError, match="21 labels asked for, 20 of 20 left"):
        shop.buy(range(21))
    assert shop.left == BUDGET
    truth = shop.buy(range(15))
    assert np.array_equal(truth[:15], drawn("Ada").crowd.truth[:15]) and (truth[15:] == -1).all()
    shop.buy([3, 3, 4, *range(15, 20)])
    assert shop.left == 0 and (shop.buy([0]) >= 0).sum() == BUDGET
    with pytest.raises(CofactorError, match="1 labels asked for, 0 of 20 left"):
        shop.buy(20)


@each(
    "tasks, message",
    [([300], "no task 300"), ([-1, 5], "no task -1"), ([0.5], "whole numbers"), (np.ones(300, bool), "whole numbers")],
)
def test_what_is_no_task_is_not_sold(tasks, message, nobody):
    shop = Shop("Ada")
    with pytest.raises(CofactorError, match=message):
        shop.buy(tasks)
    assert shop.left == BUDGET


def test_the_exercises_are_about_what_the_learner_bought(nobody):
    desk.seed("Ada")
    before = EXERCISES["reading"].given()["truth"]
    assert np.array_equal(np.flatnonzero(before >= 0), np.sort(split_evenly(drawn("Ada").found.posteriors, BUDGET)))
    bought = Shop("Ada").buy(range(12))
    assert np.array_equal(EXERCISES["reading"].given()["truth"], bought)
    assert EXERCISES["defended"].given()["bought"].sum() == 12


# ---- the number ----


@pytest.mark.slow
def test_intervals_hold_the_truth_at_least_as_often_as_they_say_and_checks_find_the_reading():
    """99 % of 200 crowds when this was written, for 90 %; the right reading in 99 %."""
    held, found = [], []
    for number in range(40):
        made = drawn("many", number)
        tasks, truth = split_evenly(made.found.posteriors, BUDGET), made.crowd.truth
        taken = best_of((made.said[:, tasks] == truth[tasks]).sum(axis=1))
        p, s = estimate(*strata(made.said[taken], made.found.posteriors, truth, tasks))
        held.append(abs(p - (made.said[taken] == truth).mean()) <= NINETY * s)
        found.append(taken == (2 if made.guide_is_wrong else 1))
    assert np.mean(held) >= 0.9 and np.mean(found) >= 0.9


@pytest.mark.slow
@each("name", NAMES[:5])
def test_the_library_believes_the_same_reading(name):
    made = drawn(name)
    truth = known(name, split_evenly(made.found.posteriors, BUDGET))
    method, right = believed(made.crowd.labels, truth, group=made.group)
    ours = (method.predict_proba(made.crowd.labels).argmax(axis=1) == made.crowd.truth).mean()
    assert max(right, key=right.get) == ("groups" if made.guide_is_wrong else "model") and ours > 0.88


# ---- pictures and panel ----


@pytest.mark.slow
def test_the_figure_says_what_either_half_of_the_budget_is_for():
    (found, wide), (fewer, wider) = panels.splits(BUDGET), panels.splits(10)
    assert found[0] == 0.5 and found[5] > 0.95 and found[-1] > 0.95
    assert wide[5] < 0.12 < wide[0] < wide[-1]
    assert fewer[2] > 0.9 and (wide[5] < wider).all()
    live = panels.budget_live()
    live.controls["apart"].value, live.controls["shown"].value = 10, True
    assert live.text.startswith("10 of 20 where answers differ: the right answer in 98")


def test_agreement_is_of_tasks_that_both_have_labelled():
    labels = drawn("Ada").crowd.labels
    found, codes = pictures.agreement(labels), labels.table.codes
    both = (codes[:, 2] >= 0) & (codes[:, 5] >= 0)
    assert found[2, 5] == found[5, 2] == np.mean(codes[both, 2] == codes[both, 5])
    assert "3 pairs always do" in pictures.draw_agreement(labels).get_suptitle().replace("\n", " ")
    assert len(codes) == N_TASKS


@pytest.mark.slow
@each("name", NAMES)
def test_model_and_merged_part_on_the_kind_of_leaf_in_dispute(name):
    made = drawn(name)
    model, voice = disputed(made.said)
    parted = made.said[1] != made.said[2]
    of_kind = (made.said[1] == model) & (made.said[2] == voice)
    assert model != voice and of_kind.sum() > 0.6 * parted.sum()
    right = voice if made.guide_is_wrong else model
    assert np.mean(made.crowd.truth[of_kind] == right) > 0.8
    leaves, _ = EXERCISES["parted"].solve(made.found.posteriors)
    assert leaves.answer[2] == parted.sum() and made.found.differ.sum() >= leaves.answer.max()


@pytest.mark.slow
@each("name", NAMES)
def test_what_checks_show_is_what_drawn_checks_show(name, nobody):
    """The cases A to D by drawing; in D the leaves that are drawn are right."""
    seeds.choose(name)
    given, rng = EXERCISES["unseen"].given(), np.random.default_rng(0)
    where = [np.flatnonzero(mask) for mask in (given["apart"], ~given["apart"])]
    seen = np.zeros(4)
    for _ in range(DRAWS):
        orders = [rng.permutation(own) for own in where]
        for case, checks in enumerate(given["checks"]):
            drawn_here = np.concatenate([order[:n] for order, n in zip(orders, checks, strict=True)])
            seen[case] += case < 3 and given["wrong"][case, drawn_here].any()
    ab, cd, *_ = EXERCISES["unseen"].parts
    assert np.abs(seen / DRAWS - [*ab.answer, *cd.answer]).max() < 4 * 0.5 / DRAWS**0.5


@pytest.mark.slow
def test_four_cases_are_as_the_text_tells(nobody):
    for number in range(10):
        seeds.choose(f"learner {number}")
        given = EXERCISES["unseen"].given()
        size, faulty = unseen.groups(given["apart"], given["wrong"])
        assert size.sum() == N_TASKS and faulty[0].tolist() == [0, 6] and (faulty[1] > 4).all()
        assert faulty[2].tolist() == [0, round(size[1] / 10)] and faulty[3].sum() == 90
        assert (given["checks"].sum(axis=1) == BUDGET).all() and 1 <= given["n_wrong"] <= 4
        assert told_apart(EXERCISES["unseen"].parts)


def test_ends_and_the_least_difference_meet_their_definitions():
    for k in range(1, 5):
        low, high = unseen.exact(k)
        assert np.allclose([binom.sf(k - 1, BUDGET, low), binom.cdf(k, BUDGET, high)], 0.05)
    q = unseen.surely_ahead(10)
    assert np.isclose(binom.sf(10, BUDGET, q), 0.9) and 0.6 < q < 0.7
