"""Comparisons: what is accepted, what is refused and how, what is known about the graph of items, splits."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from cofactor import CofactorError, Comparisons, DataWarning
from cofactor.comparisons.data import folds, held_out_once, user_pairs
from cofactor.comparisons.estimators import FitSettings, split
from tests.comparisons.problems import few
from tests.each import each
from tests.oracles.generators import laws, seeds


def test_sorted_by_user_and_kept_in_order_within():
    data = Comparisons([2, 0, 2, 0], [0, 1, 2, 3], [1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4])
    assert data.user.tolist() == [0, 0, 2, 2]
    assert data.left.tolist() == [1, 3, 0, 2] and data.right.tolist() == [2, 4, 1, 3]
    assert data.outcome.tolist() == [0.2, 0.4, 0.1, 0.3]
    assert (data.n_users, data.n_items, len(data)) == (3, 5, 4)
    assert data.per_user.tolist() == [2, 0, 2] and data.per_item.tolist() == [1, 2, 2, 2, 1]


@each(
    "change, message",
    [
        ({"left": [0, 1, 1]}, "lengths differ: 2 of user, 3 of left"),
        ({"user": [0, -1]}, "user must be whole numbers from 0.*row 1: -1"),
        ({"user": [0, 0.5]}, r"row 1: 0\.5"),
        ({"user": [0, np.nan]}, "row 1: nan"),
        ({"user": ["a", "b"]}, "use from_frame for other ids"),
        ({"user": [[0, 0]]}, r"one-dimensional, got shape \(1, 2\)"),
        ({"user": [0, 3_000_000_000]}, "row 1: 3000000000"),
        ({"outcome": [1, np.nan]}, "outcomes must lie in .*row 1: nan"),
        ({"outcome": [-1, 1]}, r"row 0: -1\.0; drop these rows, or rescale"),
        ({"outcome": ["x", 1]}, "outcome must contain numbers"),
        ({"right": [0, 2]}, "compared with itself in rows 0"),
        ({"n_items": 2}, "item codes must be below n_items=2, but these are not: 2"),
        ({"n_users": 0}, "n_users=0"),
        ({"counts": [1, 0]}, r"counts must be positive.*row 1: 0\.0"),
        ({"counts": [1e-101, 1e101]}, r"counts must lie between 1e-100 and 1e\+100.*row 0: 1e-101, row 1: 1e\+101"),
        ({"same_item": "keep"}, "same_item='keep'"),
        ({"user": [], "left": [], "right": [], "outcome": []}, "no comparisons"),
    ],
)
def test_bad_rows_are_named(change, message):
    good = {"user": [0, 0], "left": [0, 1], "right": [1, 2], "outcome": [1, 0]}
    with pytest.raises(CofactorError, match=message):
        Comparisons(**(good | change))


def test_an_item_with_itself_can_be_dropped():
    with pytest.warns(DataWarning, match="1 comparisons of an item with itself were dropped \\(rows 0\\)") as caught:
        data = Comparisons([0, 0], [0, 1], [0, 2], [1, 1], same_item="drop")
    assert len(data) == 1
    assert caught[0].filename == __file__  # the line of who called
    with pytest.raises(CofactorError, match="every comparison is of an item with itself"):
        Comparisons([0], [0], [0], [1], same_item="drop")


def test_choices_are_told_from_chances():
    assert Comparisons([0, 0, 0], [0] * 3, [1] * 3, [1, 0, 0.5]).noisy
    assert not Comparisons([0], [0], [1], [0.7]).noisy
    assert Comparisons([0], [0], [1], [0.7], counts=[10]).noisy


def test_ids_survive_a_table_and_a_file(tmp_path):
    frame = pd.DataFrame({"who": ["bob", "ann"], "a": ["tea", "gin"], "b": ["gin", "milk"], "y": [1, 0.5], "n": [2, 3]})
    data = Comparisons.from_frame(frame, "who", "a", "b", "y", "n")
    assert data.users == ("ann", "bob") and data.items == ("gin", "milk", "tea")
    assert data.left.tolist() == [0, 2] and data.outcome.tolist() == [0.5, 1] and data.total == 5
    frame.to_csv(tmp_path / "x.csv", index=False)
    read = Comparisons.from_csv(tmp_path / "x.csv", "who", "a", "b", "y", "n")
    assert read.items == data.items and np.array_equal(read.left, data.left)
    for sep in (",", ";", "\t", "|"):  # ids that are whole numbers are numbers
        (tmp_path / "x.csv").write_text("user,left,right,outcome\n7,10,9,1\n12,9,10,0\n".replace(",", sep))
        data = Comparisons.from_csv(tmp_path / "x.csv")
        assert data.users == (7, 12) and data.items == (9, 10)


# ---- nothing can be changed ----


@pytest.mark.parametrize("again", [lambda data: data, lambda data: pickle.loads(pickle.dumps(data))])
def test_nothing_can_be_changed(again):
    data = again(few(counts=np.full(40, 2.0), prompt=range(40)))
    for name in ("user", "left", "right", "outcome", "counts", "prompt", "per_user", "per_item", "components"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(data, name)[0] = 1
        with pytest.raises(FrozenInstanceError):
            setattr(data, name, None)


def test_what_was_given_can_still_be_changed_and_changes_nothing():
    outcome = np.array([0.5, 1.0])
    data = Comparisons([0, 1], [0, 1], [1, 2], outcome)
    outcome[:] = 0.7
    assert data.outcome.tolist() == [0.5, 1.0] and data.noisy


def test_other_ids_are_another_object():
    data = Comparisons([0, 1], [0, 1], [1, 2], [1, 0], counts=[1, 2])
    named = data.with_ids(items=["tea", "gin", "milk"])
    assert named.items == ("tea", "gin", "milk") and named.users == range(2) and data.items == range(3)
    assert named.take([1]).items == named.items and named.counts.tolist() == [1, 2]


@each(
    "text, message",
    [
        ("user,left,right\n1,2,3\n", "no column says who won"),
        ("user,left,right,outcome\n", "no comparisons: the table has a header"),
        ("user,left,right,outcome\n1,2,3,yes\n", r"row 2 \('yes'\)"),
        ("user,left,right,outcome\n1,,3,1\n", "missing left in row 2 "),
        ("user,left,right,outcome\n,2,3,1\n", "missing user in row 2 "),
        ("", "one row per comparison"),
    ],
)
def test_a_bad_file_is_refused(tmp_path, text, message):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(CofactorError, match=message):
        Comparisons.from_csv(tmp_path / "x.csv")


def test_connected_parts_of_the_items():
    data = Comparisons([0, 1, 2], [0, 1, 5], [1, 2, 4], [1, 1, 1], n_items=7)
    assert data.components.tolist() == [0, 0, 0, -1, 1, 1, -1]
    assert data.n_components == 2


@pytest.mark.slow
@laws
@given(seed=seeds)
def test_held_out_comparisons_are_the_rest_and_nobody_loses_all(seed):
    data = few(seed, n1=30, m=60)  # most users have one to three
    learn, held = data.hold_out(0.3, seed)
    assert len(learn) + len(held) == len(data)
    assert sorted([*learn.outcome, *held.outcome]) == sorted(data.outcome)
    assert (learn.per_user[data.per_user > 0] > 0).all()
    assert (np.abs(held.per_user - 0.3 * data.per_user) < 1).all()


def test_holding_out_needs_somebody_with_two():
    with pytest.raises(CofactorError, match="nothing to hold out"):
        Comparisons([0, 1], [0, 1], [1, 2], [1, 1]).hold_out(0.1, 0)
    with pytest.raises(CofactorError, match="no user compared two pairs of items"):
        folds(Comparisons([0, 1, 1], [0, 1, 2], [1, 2, 1], [1, 1, 0]), 5, np.random.default_rng(0))
    with pytest.raises(CofactorError, match="share=1"):
        few().hold_out(1)


@laws
@given(seed=seeds)
def test_hidden_items_are_in_no_comparison_that_is_learnt_from(seed):
    data = few(seed, n1=8, n2=9, m=4000)  # so many that each user met each pair
    learn, held = data.hold_out(0.2, seed, by_items=True)
    between = 0
    for u in range(8):
        known = set(learn.left[learn.user == u]) | set(learn.right[learn.user == u])
        assert len(known) in (4, 5)  # sqrt(0.2) of nine items, 4.02 of them, are hidden
        pairs = zip(data.left[data.user == u], data.right[data.user == u], strict=True)
        between += sum(not known & set(pair) for pair in pairs)
        assert not known & {*held.left[held.user == u], *held.right[held.user == u]}
    assert len(held) == between


# ---- folds hold every comparison out once, pairs as a whole, and leave everybody something ----


def keys(data):
    low, high = np.minimum(data.left, data.right), np.maximum(data.left, data.right)
    return list(zip(data.user.tolist(), low.tolist(), high.tolist(), strict=True))


@each("seed", range(5))
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


def test_one_fold_is_one_tenth_and_hidden_items_are_hidden_as_often_as_there_are_folds():
    data, rng = few(n1=30, n2=20, m=3000), np.random.default_rng(0)
    ((learn, held),) = split(data, FitSettings(folds=1), rng)
    assert len(learn) + len(held) == 3000 and 250 < len(held) < 350
    for learn, held in (splits := split(data, FitSettings(new_items=True), rng)):
        for user in range(30):
            items = [set(d.left[d.user == user]) | set(d.right[d.user == user]) for d in (learn, held)]
            assert not items[0] & items[1]
    assert len(splits) == 5
