"""Readings: what one set of labels can be taken to say, where they differ, and which gold tasks choose."""

import numpy as np
import pytest

import cofactor as cf
from cofactor.core.tables import CategoricalTable
from cofactor.crowd.copies import one_voice, without_copies
from cofactor.crowd.groups import closest_group, linked_groups, pairwise_agreement
from cofactor.crowd.readings import MANY_DIFFER, believed, readings

N, FAMILY = 300, 3


def judges(seed, alike=0.95):
    """Three judges of one family, wrong on 35 % of the tasks and mostly on the same ones, and four others."""
    rng = np.random.default_rng(seed)
    truth, hard = rng.integers(0, 2, N), rng.random(N) < 0.35
    own = [np.where(rng.random(N) < alike, hard, rng.random(N) < 0.35) for _ in range(FAMILY)]
    wrong = np.array([*own, *(rng.random(N) > skill for skill in (0.7, 0.75, 0.8, 0.8))])
    said = np.where(wrong, 1 - truth, truth)
    task, worker = np.meshgrid(np.arange(N), np.arange(len(said)))
    return cf.CrowdLabels.from_arrays(task.ravel(), worker.ravel(), said.ravel()), truth


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_family_is_found_and_counts_as_one_voice(seed):
    labels, truth = judges(seed)
    found = readings(labels)
    assert found.names == ("vote", "model", "one voice") and found.one_voice == list(range(FAMILY))
    error = [cf.crowd.error_rate(posterior, truth) for posterior in found.posteriors]
    assert error[2] < error[0] < error[1]  # the model believes the family
    assert found.ambiguous and "more than one reading" in found.warning() and "--checks 10" in found.warning()


def test_readings_of_independent_workers_agree():
    model = cf.simulate.dawid_skene_model(8, 3, skill=0.7, random_state=0)
    found = readings(cf.simulate.crowd(model, 300, random_state=0).labels)
    assert found.share_differing < MANY_DIFFER and not found.warning()


def test_a_label_among_tied_classes_is_no_difference():
    labels = cf.CrowdLabels.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 1, 0, 0, 1, 1])
    assert not readings(labels).differ.any()


def test_checks_are_drawn_among_the_differing_tasks_and_go_on_with_doubtful_ones():
    labels, _ = judges(0)
    found = readings(labels)
    ten = found.checks(10)
    assert len(ten) == 10 and ten["differ"].all() and ten["task"].is_unique
    assert list(ten.columns) == ["task", "vote", "model", "one voice", "differ"]
    assert ten.equals(readings(labels).checks(10))
    all_of_them = found.checks(labels.n_tasks)
    assert sorted(all_of_them["task"]) == list(range(N))
    assert all_of_them["differ"].sum() == found.differ.sum() == all_of_them["differ"][: found.differ.sum()].sum()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ten_checked_tasks_choose_the_reading(seed):
    labels, truth = judges(seed)
    told = cf.crowd.WorkerTypes().fit(labels)
    ten = readings(labels, told).checks(10)["task"]
    known = {task: int(truth[task]) for task in ten}
    fitted, right = believed(labels, known)
    assert right["one voice"] >= right["model"] + 2 and fitted.copies_ == [list(range(FAMILY))]
    assert fitted.predict(labels)[ten].tolist() == [known[task] for task in ten]
    rest = ~np.isin(np.arange(N), ten)
    before, after = (cf.crowd.error_rate(m.predict_proba(labels)[rest], truth[rest]) for m in (told, fitted))
    assert after < before - 0.1


def test_the_vote_is_taken_where_gold_tasks_say_so():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, N)
    said = np.array([np.where(rng.random(N) < skill, truth, 1 - truth) for skill in (0.97, *[0.65] * 5)])
    task, worker = np.meshgrid(np.arange(N), np.arange(6))
    labels = cf.CrowdLabels.from_arrays(task.ravel(), worker.ravel(), said.ravel())
    found = readings(labels)  # the others follow the one who knows; here somebody says that the vote is right
    vote, *others = found.posteriors.argmax(axis=2)
    against = np.flatnonzero((vote != others).all(axis=0) & found.differ)[:5]
    fitted, right = believed(labels, {task: int(vote[task]) for task in against})
    assert len(against) == 5 and right == {"vote": 5, "model": 0, "one voice": 0}
    assert isinstance(fitted, cf.crowd.MajorityVote) and np.array_equal(fitted.predict(labels)[against], vote[against])
    assert np.ptp(fitted.weights_) == 0


def test_fewer_than_five_gold_tasks_choose_nothing():
    labels, truth = judges(0)
    four = {task: int(truth[task]) for task in readings(labels).checks(4)["task"]}
    fitted, right = believed(labels, four)
    assert isinstance(fitted, cf.crowd.WorkerTypes) and not right and not fitted.copies_


def test_workers_who_are_said_to_be_one_are_merged():
    labels, _ = judges(0)
    fitted = cf.crowd.WorkerTypes(one_voice=[[1, 2], [2, 0]]).fit(labels)
    assert fitted.copies_ == [[0, 1, 2]]
    with pytest.raises(cf.CofactorError, match="one_voice names workers that gave no label: 'x'"):
        cf.crowd.WorkerTypes(one_voice=[[1, "x"]]).fit(labels)


def test_linkage_is_that_of_scipy():
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    a = np.random.default_rng(0).random((9, 9))
    a = (a + a.T) / 2
    distance = 1 - a
    np.fill_diagonal(distance, 0.0)
    groups = {m: [m] for m in range(9)}
    theirs = []
    for step, (u, v, *_) in enumerate(linkage(squareform(distance), "average")):
        groups[9 + step] = sorted(groups[int(u)] + groups[int(v)])
        theirs.append(groups[9 + step])
    assert [sorted(group) for group in linked_groups(a)] == theirs


def test_agreement_is_counted_over_common_tasks():
    codes = np.array([[0, 0, -1], [1, 0, 1], [1, 1, 1], [-1, 1, 0]])
    a = pairwise_agreement(CategoricalTable(codes))
    mean = (2 + 2 + 1) / (3 + 2 + 3)  # pairs 01, 02, 12: equal labels over common tasks
    assert a[0, 1] == pytest.approx((2 + 5 * mean) / (3 + 5)) and a[0, 2] == pytest.approx((2 + 5 * mean) / (2 + 5))
    assert a[1, 2] == pytest.approx((1 + 5 * mean) / (3 + 5))


def test_few_and_many_workers_have_no_closest_group():
    rng = np.random.default_rng(0)
    for M in (3, 101):
        assert not len(closest_group(CategoricalTable(rng.integers(0, 2, (20, M)))))


def test_a_group_says_what_most_of_it_say():
    table = CategoricalTable(np.array([[0, 1, 1, 0], [1, 0, -1, 0]]))
    merged = one_voice(table, [[0, 1, 2]])
    assert merged.rows.tolist() == [0, 0, 1, 1] and merged.variables.tolist() == [0, 3, 0, 3]
    assert merged.values.tolist() == [1, 0, 1, 0]  # two of three; of a tie, the first
    assert without_copies(table, np.array([0, 0, 0, 3])).values.tolist() == [0, 0, 1, 0]  # of copies, the first
