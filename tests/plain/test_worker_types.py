"""The default on a page: its numbers on five crowds, what it does where nothing is known, and who is a copy."""

import numpy as np
import pytest

import cofactor as cf
from cofactor import plain
from cofactor.plain.copies import bound
from tests.oracles.crowds import independent, over_callers, with_copies

# accuracy, rounds, types, design effect, share of the last class, its mean p, p of it for three tasks, bound of all
# apart, q of the first worker, copies
EXPECTED = {
    "bluebird": (
        (87.962963, 8, 3, 2.500519, 0.348518, 0.424177, 0.970305, 0.909133, 0.978399, -2068.764462),
        (0.000003, 0.999997, 0),
        [],
    ),
    "rte": (
        (92.75, 35, 3, 1.032116, 0.515955, 0.487326, 0.899565, 0.011497, 0.257535, -4056.232927),
        (0.026605, 0.973393, 0.000002),
        [],
    ),
    "music_genre": (
        (79.714286, 65, 4, 2.468308, 0.088963, 0.092531, 0.017738, 0.000770, 0.004155, -4829.051080),
        (0.505688, 0.494312, 0, 0),
        [],
    ),
    "over-callers": (
        (82.0, 6, 3, 0.806744, 0.200875, 0.234290, 0.993501, 0.046255, 0.997637, -1404.866279),
        (0.234384, 0.765616, 0),
        [],
    ),
    "copies": (
        (95.5, 14, 3, 0.772955, 0.559640, 0.563223, 0.966497, 0.966497, 0.946684, -572.617538),
        (0.877630, 0.119207, 0.003163),
        [0, 1, 2, 3],
    ),
}
SIMULATED = {"over-callers": lambda: over_callers(0), "copies": lambda: with_copies(0, 200, 4, 0.7, 3, 0.85)}


def crowd(name):
    if name in SIMULATED:
        return SIMULATED[name]()
    data = cf.load(name)
    table = data.labels.table
    return table.rows, table.variables, table.values, data.truth


def voices(i, w, l, owner):
    """Return the labels of those who speak, workers counted anew."""
    i, w, l = plain.merged(i, w, l, owner)
    return i, np.unique(w, return_inverse=True)[1], l


@pytest.mark.parametrize(
    "name", ["bluebird", *SIMULATED, *(pytest.param(n, marks=pytest.mark.needs_mirror) for n in ("rte", "music_genre"))]
)
def test_numbers_of_five_crowds(name):
    i, w, l, truth = crowd(name)
    K = l.max() + 1
    owner = plain.owners(i, w, l, K)
    fit, apart = plain.worker_types(*voices(i, w, l, owner), K), plain.worker_types(i, w, l, K, evidence=True)
    numbers, q, copies = EXPECTED[name]
    found = [100 * (fit.P.argmax(axis=1) == truth).mean(), fit.rounds, len(fit.types), fit.effect]
    found += [fit.nu[-1] / fit.nu.sum(), fit.P[:, -1].mean(), *fit.P[:3, -1], bound(apart)]
    assert np.allclose(found, numbers, rtol=0, atol=5.01e-7)
    assert np.allclose(fit.q[0], q, rtol=0, atol=5.01e-7)
    assert np.flatnonzero(np.bincount(owner)[owner] > 1).tolist() == copies


def test_ten_digits_of_bluebird():
    i, w, l, _ = crowd("bluebird")
    fit = plain.worker_types(i, w, l, 2)
    assert np.allclose(fit.P[:4, 1], BLUEBIRD, rtol=0, atol=1e-9)


BLUEBIRD = (0.9703053031768103, 0.9091330981063023, 0.9783994451741336, 0.4238893445504832)  # p of class 1


def test_without_information_the_vote_is_the_answer():
    i, w, l, _ = independent(0, 300, 20, 2, np.full(20, 0.5))
    fit = plain.worker_types(i, w, l, 2)
    votes = np.bincount(i, l == 1)
    assert fit.uninformed and np.allclose(fit.P[:, 1], (votes + 1 / 2) / 21)
    assert not plain.worker_types(*independent(0, 300, 20, 2)[:3], 2).uninformed


def test_with_one_label_a_task_nothing_is_known():
    fit = plain.worker_types(np.arange(6), np.arange(6) % 2, np.arange(6) % 3, 3)
    assert fit.types == () and np.allclose(fit.P, np.where(np.eye(3)[np.arange(6) % 3], 0.8, 0.1))
    assert plain.owners(np.arange(8), np.arange(8) % 4, np.zeros(8, dtype=int), 2).tolist() == [0, 1, 2, 3]


def test_words_that_never_meet_are_left_out():
    i, w, l, _ = independent(0, 60, 6, 2, np.full(6, 0.8))
    other = np.where(w == 2, l + 2, l)
    assert plain.meeting(w, other).tolist() == np.flatnonzero(w != 2).tolist()
    linked = np.where((w == 2) & (i > 0), l + 2, l)  # one label is in the words of the others
    assert len(plain.meeting(w, linked)) == len(w)
    assert len(plain.meeting(w, w)) == len(w)  # a word each: none to go by


def test_a_group_says_what_most_of_it_say_or_else_the_first():
    i, w, l = plain.merged(*np.array([[0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1, 0, 0, 1, 0]]), np.zeros(3, dtype=int))
    assert i.tolist() == [0, 1] and w.tolist() == [0, 0] and l.tolist() == [0, 1]


def test_copies_are_wrong_alike():
    for seed in range(3):
        i, w, l, _ = with_copies(seed, 200, 2, 0.75, 8, 0.75)
        assert plain.owners(i, w, l, 2).tolist() == [0, 0, *range(2, 10)]
        experts = independent(seed, 100, 13, 2, [0.99] * 3 + [0.7] * 10)[:3]
        assert plain.owners(*experts, 2).tolist() == list(range(13))
