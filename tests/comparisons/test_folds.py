"""Folds hold every comparison out once, pairs as a whole, and leave everybody something."""

import numpy as np
import pytest

from cofactor import CofactorError, Comparisons
from cofactor.comparisons.data import folds, held_out_once, user_pairs
from cofactor.comparisons.estimators import FitSettings, split
from tests.comparisons.problems import few


def keys(data):
    low, high = np.minimum(data.left, data.right), np.maximum(data.left, data.right)
    return list(zip(data.user.tolist(), low.tolist(), high.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_every_comparison_is_held_out_once_and_pairs_as_a_whole(seed):
    data = few(seed, n1=12, n2=6, m=120)
    splits = folds(data, 5, np.random.default_rng(seed))
    assert sorted(key for _, held in splits for key in keys(held)) == sorted(keys(data))
    for learn, held in splits:
        assert len(learn) + len(held) == len(data) and not set(keys(learn)) & set(keys(held))
        assert len(held) < 2 * len(data) / 5


def test_everybody_gives_each_fold_the_same_share():
    user, rng = np.repeat(np.arange(30), 10), np.random.default_rng(0)
    data = Comparisons(user, np.tile(np.arange(10), 30), np.tile(np.arange(10), 30) + 10, np.ones(300))
    for _, held in folds(data, 5, rng):
        assert held.per_user.tolist() == [2] * 30


def test_who_compared_one_pair_keeps_it():
    data = Comparisons([0, 0, 1, 1, 1], [0, 1, 0, 1, 2], [1, 0, 1, 2, 0], [1, 0, 1, 1, 1])
    assert user_pairs(data)[1].tolist() == [0, 1, 1, 1] and held_out_once(data) == 3
    for learn, _ in folds(data, 3, np.random.default_rng(0)):
        assert learn.per_user[0] == 2 and learn.per_user[1] == 2


def test_nothing_to_hold_out_is_refused():
    data = Comparisons([0, 1, 1], [0, 1, 2], [1, 2, 1], [1, 1, 0])
    with pytest.raises(CofactorError, match="nobody compared two pairs of items"):
        folds(data, 5, np.random.default_rng(0))


def test_one_fold_is_one_tenth_and_hidden_items_are_hidden_as_often_as_there_are_folds():
    data, rng = few(n1=30, n2=20, m=3000), np.random.default_rng(0)
    ((learn, held),) = split(data, FitSettings(folds=1), rng)
    assert len(learn) + len(held) == 3000 and 250 < len(held) < 350
    for learn, held in (splits := split(data, FitSettings(new_items=True), rng)):
        for user in range(30):
            items = [set(d.left[d.user == user]) | set(d.right[d.user == user]) for d in (learn, held)]
            assert not items[0] & items[1]
    assert len(splits) == 5
