"""Comparisons: answers are those published, whatever else a file holds is one error that says where."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import savemat

import cofactor as cf
from cofactor.core.errors import CofactorError
from cofactor.data import comparisons_from_ratings
from cofactor.data.comparisons import read_car_features, read_cars, read_colors, read_food
from cofactor.data.registry import entries
from tests.each import each

FOOD = ["user,item_a,item_b,preference", "0,1,2,1", "0,3,1,-1", "1,2,3,0"]
RECIPES = ["item,name", "1,Tè", "2,Pane e olio", "3,Acqua"]
CHOICES = ["User ID, Item1 ID, Item2 ID, Is Control", "1,2,1,0", "2,1,3,0", "2,3,1,1"]
CARS = ["Item ID, BodyType, Engin Capacity", "1,2,2.5", "2,1,5.5", "3,1,4"]


def write(folder, name, lines, end="\n"):
    path = folder / name
    path.write_bytes((end.join(lines) + end).encode())
    return path


def manifest(name):
    path = Path(os.environ["COFACTOR_MIRROR"]).parent / "manifest.json"
    return json.loads(path.read_text(encoding="utf8"))["sets"][name]


def expected(name, part):
    return pd.read_csv(Path(os.environ["COFACTOR_MIRROR"]).parent / "expected" / f"{name}_{part}.csv.gz")


def rows(comparisons, winner_first=False):
    """Rows (user, left, right, outcome), or winner and loser; sorted."""
    data = comparisons
    left, right, w = data.left, data.right, data.outcome
    if winner_first:
        left, right, w = np.where(w == 1, left, right), np.where(w == 1, right, left), np.ones_like(w)
    found = np.column_stack([data.user, left, right, w])
    return found[np.lexsort(found.T[::-1])]


# ---- the registered sets ----


@pytest.mark.needs_mirror
def test_food_is_exactly_the_expected_one():
    food, answers, items = cf.load("food"), expected("food", "comparisons"), expected("food", "items")
    given = np.column_stack([answers.user, answers.item_a - 1, answers.item_b - 1, (answers.preference + 1) / 2])
    assert np.array_equal(rows(food.comparisons), given[np.lexsort(given.T[::-1])])
    assert list(food.comparisons.items) == items.name.tolist() and food.features.shape == (101, 0)


@pytest.mark.needs_mirror
@each("name", ["cars1", "cars2"])
def test_cars_are_exactly_the_expected_ones(name):
    cars, answers, items = cf.load(name), expected(name, "comparisons"), expected(name, "items")
    for is_control, found in ((0, cars.comparisons), (1, cars.controls)):
        given = answers[answers.is_control == is_control][["user", "winner", "loser"]].assign(w=1).to_numpy()
        assert np.array_equal(rows(found), given[np.lexsort(given.T[::-1])])
    assert np.array_equal(cars.features, items.drop(columns="id"))
    assert len(cars.feature_names) == cars.features.shape[1]


@pytest.mark.needs_mirror
def test_colors_are_exactly_the_expected_ones():
    colors, answers = cf.load("colors"), expected("colors", "comparisons")
    given = answers[["user", "winner", "loser"]].assign(w=1).to_numpy()
    assert np.array_equal(rows(colors.comparisons, winner_first=True), given[np.lexsort(given.T[::-1])])
    shown = answers.assign(right=answers.winner + answers.loser - answers.left)[["user", "left", "right"]]
    found = rows(colors.comparisons)[:, :3]
    assert np.array_equal(found, shown.sort_values(["user", "left", "right"]))
    assert np.allclose(colors.features, expected("colors", "items"), rtol=0, atol=1e-6)


@pytest.mark.needs_mirror
@each("name", ["food", "cars1", "cars2", "colors"])
def test_registry_tells_sizes_and_where_downloads_are(name):
    data, entry = cf.load(name), entries()[name]
    found = data.comparisons
    assert (found.n_users, found.n_items, len(found)) == (entry.n_users, entry.n_items, entry.n_comparisons)
    assert entry.n_controls == (None if data.controls is None else len(data.controls))
    known = {(one.get("mirror"), one["url"], one["sha256"], one["bytes"]) for one in manifest(name)["raw"]}
    assert {(file.name, file.url, file.sha256, file.bytes) for file in entry.files if file.url} <= known


def test_food_needs_no_network_and_recommends_by_name(data):
    food = cf.data.load("food", "comparisons")
    assert repr(food) == "ComparisonsDataset('food', 11340 comparisons of 101 items by 54 users)"
    favourite = cf.comparisons.BradleyTerry(ridge=1.0).fit(food.comparisons).recommend(user=0, k=1)
    assert favourite[0] in food.comparisons.items and not data.exists()
    # manifest.json, food, stats
    assert np.sum(food.comparisons.per_item > 0) == 85 and np.sum(food.comparisons.outcome == 0.5) == 1248


# ---- files ----


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_reads_what_was_written(tmp_path, end):
    food = read_food(write(tmp_path, "a.csv", FOOD, end), write(tmp_path, "b.csv", RECIPES, end), 2, 3)
    assert rows(food).tolist() == [[0, 0, 1, 1], [0, 2, 0, 0], [1, 1, 2, 0.5]]
    assert food.items == ("Tè", "Pane e olio", "Acqua")
    asked, again = read_cars(write(tmp_path, "c.csv", CHOICES, end), 2, 3)
    assert rows(asked).tolist() == [[0, 1, 0, 1], [1, 0, 2, 1]] and rows(again).tolist() == [[1, 2, 0, 1]]
    features, names = read_car_features(write(tmp_path, "d.csv", CARS, end), 3)
    assert features.tolist() == [[2, 2.5], [1, 5.5], [1, 4]] and names == ["BodyType", "Engin Capacity"]


@each(
    "lines, message",
    [
        ([*FOOD, "0,1,2,2"], "lines do not match the header: line 5: '0,1,2,2'"),
        ([*FOOD, "0,1,2"], "line 5"),
        ([*FOOD, "0,1,x,1"], "line 5"),
        ([*FOOD, "", "0,1,2,1"], "line 5: ''"),
        (FOOD[:1], "the file ends after line 1"),
        (["user,a,b,preference", *FOOD[1:]], "line 1: expected 'user,item_a,item_b,preference', got"),
        ([*FOOD, "0,1,4,1"], "item codes must be below n_items=3, but these are not: 3"),
        ([*FOOD, "2,1,2,1"], "user codes must be below n_users=2, but these are not: 2"),
        ([*FOOD, "0,0,1,1"], "left must be whole numbers from 0, .* see row 3: -1"),
        ([*FOOD, "0,2,2,1"], "an item is compared with itself in rows 3"),
    ],
)
def test_answers_that_are_none_are_named(tmp_path, lines, message):
    with pytest.raises(CofactorError, match=message) as caught:
        read_food(
            write(tmp_path, "a.csv", lines),
            write(tmp_path, "b.csv", RECIPES),
            2,
            3,
        )
    assert "a.csv" in str(caught.value)


def test_items_that_are_none_are_named(tmp_path):
    answers = write(tmp_path, "a.csv", FOOD)
    for lines in (RECIPES[:-1], [*RECIPES[:2], "3,Acqua", "2,Pane"], [*RECIPES, "4,Vino"]):
        with pytest.raises(CofactorError, match=r"b\.csv: expected the items 1 to 3 in order, one line each"):
            read_food(answers, write(tmp_path, "b.csv", lines), 2, 3)
    with pytest.raises(CofactorError, match=r"b\.csv: lines do not match the header: line 3: '2,a,b'"):
        read_food(answers, write(tmp_path, "b.csv", [*RECIPES[:2], "2,a,b"]), 2, 3)
    with pytest.raises(CofactorError, match=r"d\.csv: expected items 1 to 3 in order, 2 numbers each"):
        read_car_features(write(tmp_path, "d.csv", [*CARS[:3], "3,1"]), 3)
    with pytest.raises(CofactorError, match=r"d\.csv, line 1: expected Item ID and further columns, got 'ID,x'"):
        read_car_features(write(tmp_path, "d.csv", ["ID,x", *CARS[1:]]), 3)
    with pytest.raises(CofactorError, match=r"d\.csv: lines do not match the header: line 2: '1,-2,2\.5'"):
        read_car_features(write(tmp_path, "d.csv", [CARS[0], "1,-2,2.5"]), 3)


def test_colours_of_another_shape_or_with_other_answers(tmp_path):
    answers, lab = np.zeros((3, 3, 2), dtype=np.uint8), np.arange(9.0).reshape(3, 3)
    answers[0, 1, 0], answers[1, 0, 0], answers[2, 0, 1] = 1, 2, 1
    savemat(tmp_path / "x.mat", {"SingPrefAFCload": answers, "CIELAB": lab})
    found, colours = read_colors(tmp_path / "x.mat", 2, 3)
    assert rows(found).tolist() == [[0, 0, 1, 1], [0, 1, 0, 0], [1, 2, 0, 1]] and np.array_equal(colours, lab)
    with pytest.raises(CofactorError, match=r"expected answers 0 to 2 of shape \(3, 3, 4\)"):
        read_colors(tmp_path / "x.mat", 4, 3)
    answers[0, 2, 0] = 3
    savemat(tmp_path / "x.mat", {"SingPrefAFCload": answers, "CIELAB": lab})
    with pytest.raises(CofactorError, match=r"x\.mat: expected answers 0 to 2"):
        read_colors(tmp_path / "x.mat", 2, 3)
    (tmp_path / "x.mat").write_bytes(b"nothing of the kind")
    with pytest.raises(CofactorError, match=r"x\.mat cannot be read as MATLAB arrays"):
        read_colors(tmp_path / "x.mat", 2, 3)


@pytest.mark.slow
@given(content=st.one_of(st.binary(max_size=60), st.text("0123456789,\r\n .-e", max_size=60)))
def test_whatever_a_file_holds_only_cofactor_errors_escape(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("comparisons")
    body = content if isinstance(content, bytes) else content.encode()
    readers = {
        FOOD[0]: lambda path: read_food(path, write(folder, "b.csv", RECIPES), 2, 3),
        CHOICES[0]: lambda path: read_cars(path, 2, 3),
        CARS[0]: lambda path: read_car_features(path, 3),
    }
    for header, read in readers.items():
        path = folder / "x.csv"
        path.write_bytes(header.encode() + b"\n" + body)
        try:
            read(path)
        except CofactorError as error:
            assert str(path) in str(error)


# ---- from ratings ----


@pytest.mark.slow
@given(
    entries=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(1, 5)),
        min_size=2,
        max_size=20,
        unique_by=lambda entry: entry[:2],
    )
)
def test_every_pair_rated_differently_is_there_once_and_the_better_one_won(entries):
    user, item, rating = np.array(entries).T
    stars = {(u, i): r for u, i, r in entries}
    wanted = {(u, *sorted((i, j))) for u, i in stars for v, j in stars if u == v and stars[u, i] != stars[v, j]}
    if not wanted:
        with pytest.raises(CofactorError, match="no user rated two items differently"):
            comparisons_from_ratings(user, item, rating)
        return
    made = comparisons_from_ratings(user, item, rating, n_users=5, n_items=6)
    found = [(u, *sorted((i, j))) for u, i, j in zip(made.user, made.left, made.right, strict=True)]
    assert sorted(found) == sorted(wanted)
    for u, i, j, w in zip(made.user, made.left, made.right, made.outcome, strict=True):
        assert w == (stars[u, i] > stars[u, j])


def test_no_user_has_more_pairs_than_asked_for():
    user, item, rating = np.repeat([0, 1], 6), np.tile(np.arange(6), 2), np.tile(np.arange(6), 2)
    few = comparisons_from_ratings(user, item, rating, most=4, random_state=0)
    assert few.per_user.tolist() == [4, 4]
    again = comparisons_from_ratings(user, item, rating, most=4, random_state=0)
    assert np.array_equal(rows(few), rows(again)) and len(np.unique(rows(few), axis=0)) == 8
    with pytest.raises(CofactorError, match="12 users, 12 items and 11 ratings: give equal lengths"):
        comparisons_from_ratings(user, item, rating[1:])
