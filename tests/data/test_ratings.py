"""Ratings: what was written is read, tables hold it under both scales, everything else is one error that says where."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cofactor as cf
from cofactor.core.errors import CofactorError
from cofactor.data import SCALES, RatingsDataset, load_movielens, movie_lists
from cofactor.data import ratings as module
from cofactor.data.registry import entries
from tests.each import each

HEADER = "userId,movieId,rating,timestamp"
MOVIES = (
    'movieId,title,genres\n10,"Piano, The (1993)",Drama|Romance\n20,Up (2009),Animation\n30,Dust,(no genres listed)\n'
)
LINES = ["3,10,4.0,100", "3,20,0.5,101", "1,20,2.5,99", "2,30,5.0,7"]


def write(folder, lines=LINES, header=HEADER, movies=MOVIES):
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "ratings.csv").write_bytes(("\r\n".join([header, *lines]) + "\r\n").encode())
    (folder / "movies.csv").write_bytes(movies.encode())
    return folder


def frame(ratings):
    columns = {"user": ratings.user, "item": ratings.item, "rating": ratings.rating}
    return pd.DataFrame(columns).sort_values(["user", "item"], ignore_index=True)


def mirror_path(*parts):
    return Path(os.environ["COFACTOR_MIRROR"]).parent.joinpath(*parts)


# ---- the public set, against the files of whoever prepared the mirror ----


@pytest.mark.slow
@pytest.mark.needs_mirror
@each("name", ["ratings", "action30", "animation30", "romance30"])
def test_movielens_small_and_the_lists_of_the_paper_are_exactly_the_expected_ones(name):
    ratings = cf.load("movielens_small")
    if name != "ratings":
        ratings = ratings.only(movie_lists()[name], min_ratings=5)
    expected = pd.read_csv(mirror_path("expected", f"movielens_latest_small_{name}.csv.gz"))
    expected = expected.sort_values(["user", "item"], ignore_index=True)
    pd.testing.assert_frame_equal(frame(ratings), expected, check_dtype=False)


@pytest.mark.needs_mirror
def test_movielens_small_is_what_the_registry_says():
    ratings, entry = cf.load("movielens_small"), entries()["movielens_small"]
    assert (len(ratings.users), len(ratings.items), len(ratings.rating)) == (
        entry.n_users,
        entry.n_items,
        entry.n_ratings,
    )
    movies = pd.read_csv(mirror_path("expected", "movielens_latest_small_movies.csv.gz"), index_col="movieId")
    assert ratings.titles == movies.title.to_dict()
    assert ratings.genres[1] == ("Adventure", "Animation", "Children", "Comedy", "Fantasy")
    assert set(ratings.items.tolist()) <= set(ratings.titles)
    # the first line: 1,1,4.0,964982703
    assert (ratings.user[0], ratings.item[0], ratings.rating[0], ratings.timestamp[0]) == (1, 1, 4.0, 964982703)


def test_lists_name_every_movie_once():
    assert {name: len(set(movies)) for name, movies in movie_lists().items()} == {
        "action30": 29,  # the authors' list has 1036 twice
        "animation30": 30,
        "romance30": 30,
    }


@pytest.mark.needs_mirror
def test_lists_are_those_of_the_manifest():
    listed = json.loads(mirror_path("manifest.json").read_text(encoding="utf8"))["sets"]["movielens_latest_small"]
    for genre, movies in listed["movie_lists"].items():
        assert movie_lists()[f"{genre}30"] == list(dict.fromkeys(movies))


# ---- a folder that the user downloaded ----


def test_a_folder_of_movielens(tmp_path):
    ratings = load_movielens(write(tmp_path))
    assert ratings.user.tolist() == [3, 3, 1, 2] and ratings.item.tolist() == [10, 20, 20, 30]
    assert ratings.rating.tolist() == [4.0, 0.5, 2.5, 5.0] and ratings.timestamp.tolist() == [100, 101, 99, 7]
    assert ratings.titles[10] == "Piano, The (1993)"
    assert (ratings.genres[10], ratings.genres[30]) == (("Drama", "Romance"), ())
    assert "MovieLens" in ratings.citation and "GroupLens" in ratings.licence


def test_pieces_make_the_whole_and_only_what_is_asked_for_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 2)
    assert len(load_movielens(write(tmp_path)).rating) == 4
    few = load_movielens(tmp_path, items=[20, 999])
    assert (few.user.tolist(), few.item.tolist()) == ([3, 1], [20, 20])
    with pytest.raises(CofactorError, match=r"ratings\.csv has no ratings of these items"):
        load_movielens(tmp_path, items=[999])


def test_without_times(tmp_path):
    lines = [line.rpartition(",")[0] for line in LINES]
    ratings = load_movielens(write(tmp_path, lines, header="userId,movieId,rating"))
    assert ratings.timestamp is None and ratings.only([10]).timestamp is None and len(ratings.rating) == 4


@each(
    "line",
    [
        "3,30,4.2,1",
        "3,30,0,1",
        "3,30,5.5,1",
        "3,30,,1",
        "3,30,four,1",
        "3,x,4.0,1",
        "-3,30,4.0,1",
        "3,30",
        "3,30,4.0,1,1",
        "99999999999,30,4.0,1",
        "3;30;4.0;1",
    ],
)
def test_names_file_line_and_what_stands_there(tmp_path, line):
    folder = write(tmp_path, [*LINES[:2], line, *LINES[2:]])
    with pytest.raises(CofactorError, match="expected user,movie,rating,time") as caught:
        load_movielens(folder)
    assert str(folder / "ratings.csv") in str(caught.value)
    assert f"line 4: {line!r}" in str(caught.value)
    assert "line 1:" not in str(caught.value) and "line 5:" not in str(caught.value)


def test_every_line_too_long(tmp_path):
    with pytest.raises(CofactorError, match=r"line 2: '3,10,4\.0,100,9', line 3"):
        load_movielens(write(tmp_path, [f"{line},9" for line in LINES]))


def test_other_header_other_movies_no_ratings(tmp_path):
    with pytest.raises(
        CofactorError, match=r"line 1: expected userId,movieId,rating,timestamp; got '1::1193::5::978300760'"
    ):
        load_movielens(write(tmp_path, header="1::1193::5::978300760"))
    with pytest.raises(
        CofactorError, match=r"movies\.csv: expected the columns movieId, title, genres; got movieId, name"
    ):
        load_movielens(write(tmp_path, movies="movieId,name\n1,x\n"))
    for movie in ("one", "1e40"):
        with pytest.raises(CofactorError, match=r"movies\.csv cannot be read as movieId,title,genres"):
            load_movielens(write(tmp_path, movies=f"movieId,title,genres\n{movie},x,y\n"))
    with pytest.raises(CofactorError, match=r"ratings\.csv has no ratings$"):
        load_movielens(write(tmp_path, []))


def test_a_folder_without_the_files_tells_where_they_are(tmp_path):
    write(tmp_path / "ml-20m")
    with pytest.raises(CofactorError, match=r"ratings\.csv or movies\.csv: did you mean .*ml-20m\? Download"):
        load_movielens(tmp_path)
    with pytest.raises(CofactorError, match=r"nowhere does not contain ratings\.csv .*grouplens\.org"):
        load_movielens(tmp_path / "nowhere")
    (tmp_path / "ml-20m" / "movies.csv").unlink()
    with pytest.raises(CofactorError, match=r"ml-20m does not contain movies\.csv"):
        load_movielens(tmp_path / "ml-20m")


# ---- the data set and its tables ----


pairs = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 5)), min_size=1, max_size=20, unique=True)


@pytest.mark.slow
@given(pairs=pairs, data=st.data())
def test_a_table_gives_back_every_rating(pairs, data):
    user, item = np.array(pairs).T
    rating = data.draw(st.lists(st.sampled_from(SCALES["halves"]), min_size=len(pairs), max_size=len(pairs)))
    made = RatingsDataset("made", "Made", user, item, rating)
    codes = made.table().codes
    assert np.sum(codes >= 0) == len(pairs)
    for u, i, r in zip(user, item, rating, strict=True):
        code = codes[made.users.tolist().index(u), made.items.tolist().index(i)]
        assert SCALES["halves"][code] == r


def test_ids_that_32_bits_do_not_hold_are_refused():
    largest = RatingsDataset("made", "Made", np.array([2**31 - 1]), np.array([1]), np.array([4.0]))
    assert largest.user.tolist() == [2**31 - 1]
    with pytest.raises(CofactorError, match=r"user must be whole numbers below 2147483648, .* row 0: 2147483648"):
        RatingsDataset("made", "Made", np.array([2**31]), np.array([1]), np.array([4.0]))


def test_ids_and_times_are_whole_numbers_one_of_each_a_rating():
    for ids, told in (([1.5, 2.0], r"user must be .* row 0: 1\.5$"), (["a", "b"], "user must contain numbers")):
        with pytest.raises(CofactorError, match=told):
            RatingsDataset("made", "Made", ids, [1, 2], [4.0, 2.5])
    made = RatingsDataset("made", "Made", [7, 9], [1, 5], [4.0, 2.5], timestamp=[1260759144, 3])
    assert made.only([5]).timestamp.tolist() == [3]
    for items, told in (([1.7], r"item must be .* row 0: 1\.7$"), (["a"], "item must contain numbers")):
        with pytest.raises(CofactorError, match=told):
            made.only(items)
        with pytest.raises(CofactorError, match=told):
            made.table(items)
    for times, told in (([3], "1 timestamps for 2 ratings"), ([3.5, 4.0], r"timestamp must be .* row 0: 3\.5$")):
        with pytest.raises(CofactorError, match=told):
            RatingsDataset("made", "Made", [7, 9], [1, 5], [4.0, 2.5], timestamp=times)


def test_stars_are_rounded_half_up():
    halves = np.array(SCALES["halves"])
    made = RatingsDataset("made", "Made", np.arange(10), np.ones(10), halves)
    stars = np.array(SCALES["stars"])[made.table(scale="stars").codes[:, 0]]
    assert stars.tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert made.table(scale="stars").sizes.tolist() == [5] and made.table().sizes.tolist() == [10]
    with pytest.raises(CofactorError, match="no scale 'star': choose one of halves, stars"):
        made.table(scale="star")


def test_variables_are_the_items_asked_for_in_that_order_and_rows_are_all_users():
    made = RatingsDataset("made", "Made", [5, 5, 7, 9], [1, 2, 2, 3], [1, 2, 3, 4])
    assert made.table([2, 8, 1], "stars").codes.tolist() == [[1, -1, 0], [2, -1, -1], [-1, -1, -1]]
    with pytest.raises(CofactorError, match=r"items named twice: 2: keep each once"):
        made.table([2, 1, 2])


def test_only_counts_ratings_among_the_items_asked_for():
    made = RatingsDataset("made", "Made", [5, 5, 5, 7, 7], [1, 2, 3, 1, 4], [1, 2, 3, 4, 5], np.arange(5))
    few = made.only([1, 2, 4], min_ratings=2)
    assert few.user.tolist() == [5, 5, 7, 7] and few.timestamp.tolist() == [0, 1, 3, 4]
    assert made.only([1, 2], min_ratings=2).users.tolist() == [5]
    with pytest.raises(CofactorError, match="no user rated at least 3 of these items"):
        made.only([1, 2], min_ratings=3)


def test_a_rating_twice_off_the_scale_or_of_nobody():
    with pytest.raises(CofactorError, match=r"rated more than once: user 5, item 2: keep one rating each$"):
        RatingsDataset("made", "Made", [5, 7, 5], [2, 2, 2], [1, 2, 3])
    with pytest.raises(CofactorError, match=r"in steps of 0.5; see rating 1: 0.0, rating 2: nan"):
        RatingsDataset("made", "Made", [5, 7, 8], [2, 2, 2], [1, 0, np.nan])
    with pytest.raises(CofactorError, match="2 users, 1 items and 1 ratings: give equal lengths"):
        RatingsDataset("made", "Made", [5, 7], [2], [1])
