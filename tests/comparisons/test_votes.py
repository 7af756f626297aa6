"""Votes from files and frames: every way to say who won, and rows named where it cannot be read."""

from __future__ import annotations

import pandas as pd
import pytest

import cofactor as cf
from cofactor.comparisons import rank, read_votes
from tests.each import each


def written(tmp_path, text, name="votes.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf8")
    return path


def won(data):
    """Who won against whom, in words."""
    left, right = ([data.items[i] for i in side] for side in (data.left, data.right))
    return list(zip(left, right, data.outcome.tolist(), strict=True))


def test_winner_and_loser_alone_are_enough(tmp_path):
    data, X = read_votes(written(tmp_path, "Winner;LOSER\n a ;b\nb;c\n\nc;a\n"))
    assert won(data) == [("a", "b", 1.0), ("b", "c", 1.0), ("c", "a", 1.0)]
    assert data.n_users == 1
    assert X.shape == (3, 0)


@pytest.mark.parametrize(
    "cells", [("x", "y", "tie"), ("1", "0", "0.5"), ("1.0", "0.0", "Draw"), ("X", "Y", "tie (bad)")]
)
def test_outcomes_in_numbers_and_words(tmp_path, cells):
    text = "x,y,o\n" + "".join(f"a,b,{cell}\n" for cell in cells)
    data = read_votes(written(tmp_path, text), "x", "y", outcome="o")[0]
    assert data.outcome.tolist() == [1.0, 0.0, 0.5]


def test_ties_are_yes_or_no_and_empty_is_no(tmp_path):
    data = read_votes(written(tmp_path, "winner,loser,tie\na,b,yes\na,b,\na,b,FALSE\na,b,1\n"))[0]
    assert data.outcome.tolist() == [0.5, 1.0, 1.0, 0.5]


def test_columns_that_are_called_so_are_used_unless_refused(tmp_path):
    path = written(tmp_path, "winner,loser,user,weight\na,b,v,2\nb,a,u,0\na,b,u,3\n")
    data = read_votes(path)[0]
    assert data.users == ("u", "v")
    assert data.counts.tolist() == [3.0, 2.0]
    plain = read_votes(path, user="", weight="")[0]
    assert (plain.n_users, plain.counts, len(plain)) == (1, None, 3)


def test_covariates_stay_with_their_comparisons(tmp_path):
    path = written(tmp_path, "winner,loser,user,len\na,b,v,1\nb,c,u,2\nc,a,v,3\nc,b,u,4\n")
    data, X = read_votes(path, covariates=["len"])
    assert won(data) == [("b", "c", 1.0), ("c", "b", 1.0), ("a", "b", 1.0), ("c", "a", 1.0)]
    assert X["len"].tolist() == [2.0, 4.0, 1.0, 3.0]


def test_all_forms_of_a_table_are_read_alike(tmp_path):
    frame = pd.DataFrame(
        {"winner": [2, 10, 2], "loser": [10, 2, 10], "tie": [False, True, False], "len": [1.5, 2.0, 3.0]}
    )
    frame.to_csv(tmp_path / "v.csv", index=False)
    frame.to_csv(tmp_path / "v.tsv.gz", index=False, sep="\t")
    frame.to_parquet(tmp_path / "v.parquet")
    frame.to_json(tmp_path / "v.jsonl", orient="records", lines=True)
    for source in (frame, *(tmp_path / name for name in ("v.csv", "v.tsv.gz", "v.parquet", "v.jsonl"))):
        data, X = read_votes(source, covariates=["len"])
        assert won(data) == [(2, 10, 1.0), (10, 2, 0.5), (2, 10, 1.0)]
        assert X["len"].tolist() == [1.5, 2.0, 3.0]
        assert data.items == (2, 10)


def test_columns_that_nobody_asked_for_may_hold_anything(tmp_path):
    line = '{"winner": "a", "loser": "b", "talk": [{"role": "user"}]}\n'
    assert len(read_votes(written(tmp_path, 2 * line, "v.jsonl"))[0]) == 2


@each(
    "text, options, message",
    [
        ("winner,loser\na,b\nb,\n", {}, "missing loser in rows 3"),
        ("winner,loser,user\na,b,\n", {}, "missing user in rows 2"),
        ("winner,loser\na,b\nb,b\n", {}, r"compared with itself in rows 3 \('b'\)"),
        ("winner,loser,tie\na,b,maybe\n", {}, r"tie must hold yes or no; not so in rows 2 \('maybe'\)"),
        ("winner,loser,outcome\na,b,0.7\n", {}, r"outcome must hold 1, 0, tie, winner or loser; not so in rows 2"),
        ("winner,loser,weight\na,b,1\na,b,-1\n", {}, r"from 1e-100 to 1e\+100; not so in rows 3 \('-1'\)"),
        ("winner,loser,weight\na,b,1\na,b,5e-324\n", {}, r"from 1e-100 to 1e\+100; not so in rows 3 \('5e-324'\)"),
        ("winner,loser,weight\na,b,0\n", {}, "no comparisons of a weight above 0"),
        ("winner,loser,len\na,b,1\na,b,inf\n", {"covariates": ["len"]}, r"len .* numbers; not so in rows 3"),
        ("winner,loser,tie,outcome\na,b,1,1\n", {}, "tie and outcome both say"),
        ("winner,loser\na,b\n", {"covariates": ["len"]}, "no column len"),
        ("winner,loser\na,b\n", {"user": "who"}, "no column who"),
        ("model_a,model_b\na,b\n", {}, "no column winner, loser"),
    ],
)
def test_what_cannot_be_read_is_named_by_row(tmp_path, text, options, message):
    with pytest.raises(cf.CofactorError, match=message):
        read_votes(written(tmp_path, text), **options)


@pytest.mark.filterwarnings("ignore:these comparisons do not tell who wins")
def test_a_frame_of_votes_is_ranked():
    frame = pd.DataFrame({"winner": ["a", "b", "c"], "loser": ["b", "c", "a"]})
    assert rank(*read_votes(frame)[:1], random_state=0).utilities == pytest.approx(0)
