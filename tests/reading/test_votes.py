"""Votes from files and frames: every way to say who won, and rows named where it cannot be read."""

from __future__ import annotations

import os
import threading

import pandas as pd
import pytest

import cofactor as cf
from cofactor.comparisons import rank
from cofactor.reading.votes import read_votes, reading
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


def test_votes_may_share_a_prompt_as_well_as_a_user(tmp_path):
    rows = [f"{'ab'[k % 2]},{'ba'[k % 2]},p{k % 5},u{k % 3}\n" for k in range(15)]
    path = written(tmp_path, "winner,loser,prompt,voter\n" + "".join(rows))
    data = read_votes(path, user=["voter", "prompt"])[0]
    assert (data.n_users, data.take([0, 1]).prompt.tolist()) == (3, [0, 3])
    assert data.prompt.tolist() == [0, 3, 1, 4, 2, 1, 4, 2, 0, 3, 2, 0, 3, 1, 4]
    named = dict.fromkeys(("winner", "loser", "user", "tie", "outcome", "weight"))
    notes = reading(path, {**named, "user": "voter"}).notes
    assert [note.split(":")[0] for note in notes] == ["column prompt has 5 values in 15 votes"]
    assert "to allow for that, set user='prompt' in addition to user='voter'" in notes[0]
    assert reading(path, {**named, "user": ["voter", "prompt"]}).notes == []
    with pytest.raises(cf.CofactorError, match=r"3 user columns \(voter, prompt, day\): give one or two"):
        read_votes(path, user=["voter", "prompt", "day"])


@each(
    "text, options, message",
    [
        ("winner,loser\na,b\nb,\n", {}, "missing loser in row 3"),
        ("winner,loser,user\na,b,\n", {}, "missing user in row 2"),
        ("winner,loser\na,b\nb,b\n", {}, r"compared with itself in row 3 \('b'\)"),
        ("winner,loser,tie\na,b,maybe\n", {}, r"tie must hold yes or no; see row 2 \('maybe'\)"),
        (
            "winner,loser,outcome\na,b,0.7\n",
            {},
            r"must hold 1, 0, tie, .* name; see row 2",
        ),
        ("winner,loser,weight\na,b,1\na,b,-1\n", {}, r"from 1e-100 to 1e\+100; see row 3 \('-1'\)"),
        (
            "winner,loser,weight\na,b,1\na,b,5e-324\n",
            {"weight": "weight"},
            r"from 1e-100 to 1e\+100; see row 3 \('5e-324'\)",
        ),
        ("winner,loser,weight\na,b,0\n", {}, "no comparison is left: every weight is 0"),
        ("winner,loser,len\na,b,1\na,b,inf\n", {"covariates": ["len"]}, r"len .* numbers; see row 3"),
        ("winner,loser,tie,outcome\na,b,1,1\n", {}, "tie and outcome both say"),
        ("winner,loser\na,b\n", {"covariates": ["len"]}, "no column len"),
        ("winner,loser\na,b\n", {"user": "who"}, "no column who"),
        ("one,two\na,b\n", {}, "no column winner, loser"),
        ("model_a,model_b\na,b\n", {}, "model_a and model_b hold items, but no column says who won"),
        (
            "model_a,model_b,winner\nx,y,M\n",
            {},
            r"or the winner's name; see row 2 \('M'\).*: pass the two words",
        ),
        ("model_a,winner\nx,model_a\ny,model_b\n", {"loser": "model_a"}, "no item occurs in both columns"),
        ("a,b,winner_a,winner_b\nx,y,1,1\n", {}, "at most one of winner_a, winner_b must be 1; see row 2"),
        ("winner,loser,len\na,b,1\n", {"covariates": ["len - size"]}, "no column size"),
        ("winner,loser\na,b\n", {"home": True}, "home needs two sides and an outcome"),
    ],
)
def test_what_cannot_be_read_is_named_by_row(tmp_path, text, options, message):
    with pytest.raises(cf.CofactorError, match=message):
        read_votes(written(tmp_path, text), **options)


@pytest.mark.filterwarnings("ignore:these comparisons do not predict the outcome")
def test_a_frame_of_votes_is_ranked():
    frame = pd.DataFrame({"winner": ["a", "b", "c"], "loser": ["b", "c", "a"]})
    assert rank(*read_votes(frame)[:1], random_state=0).utilities == pytest.approx(0)


# ---- columns as people have them ----


def read(tmp_path, text, name="votes.csv", **options):
    named = dict.fromkeys(("winner", "loser", "user", "tie", "outcome", "weight"))
    how = {option: options.pop(option) for option in list(options) if option not in named}
    return reading(written(tmp_path, text, name), {**named, **options}, **how)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("model_a,model_b,winner", ("A", "B", "tie", "both bad")),
        ("model_a,model_b,winner", ("model_a", "model_b", "tie (bothbad)", "bothbad")),
        ("model_a,model_b,Winner", ("x", "y", "Tie", "neither")),
        ("left,right,winner", ("left", "right", "draw", "both good")),
        ("home,away,res", ("H", "A", "D", "D")),
        ("home_team,away_team,result", ("Home", "Away", "draw", "Draw")),
        ("player1,player2,outcome", ("1", "2", "X", "x")),
        ("white,black,result", ("1-0", "0-1", "1/2-1/2", "½")),
        ("home,away,hg,ag", ("2,1", "0,3", "0,0", "1,1")),
        ("model_a,model_b,winner_model_a,winner_model_b,winner_tie", ("1,0,0", "0,1,0", "0,0,1", "0,0,1")),
        ("a,b,a_won,b_won", ("True,False", "False,True", "False,False", "0,0")),
        ("response_a,response_b,better", ("response_a", "response_b", "tie", "equal")),
        ("item_a,item_b,a_wins,b_wins", ("1,0", "0,1", "0,0", "0,0")),
        ("item_a,item_b,a_wins", ("True", "False", "tie", "0.5")),
        ("option1,option2,choice", ("option1", "option2", "neither", "both")),
        ("team1,team2,score", ("2-1", "0:3", "1 - 1", "0\u20130")),
    ],
)
def test_usual_spellings_of_who_won_are_read_and_named(tmp_path, header, words):
    cells = "".join(f"{pair},{word}\n" for pair, word in zip(("p,q", "p,q", "q,p", "p,q"), words, strict=True))
    found = read(tmp_path, f"{header}\n{cells}")
    assert found.comparisons.outcome.tolist() == [1.0, 0.0, 0.5, 0.5]
    columns = header.lower().split(",")
    assert found.notes == [f"columns used by default: {', '.join(columns)}"]


@pytest.mark.parametrize(
    "header",
    ["winner_name,loser_name", "Winner Name,Loser Name", "chosen,rejected", "better,worse", "winner-id,loser-id"],
)
def test_winners_and_losers_by_other_names(tmp_path, header):
    found = read(tmp_path, f"date,{header},score\n1,x,y,3\n2,y,x,1\n3,x,y,2\n")
    assert won(found.comparisons) == [("x", "y", 1.0), ("y", "x", 1.0), ("x", "y", 1.0)]
    named = header.casefold().replace(" ", "_").replace("-", "_").replace(",", ", ")
    assert found.notes == [f"columns used by default: {named}"]


def test_blanks_and_lines_in_names_of_columns_do_not_matter(tmp_path):
    found = read(tmp_path, "Player 1,PLAYER-2,Result\nx,y,1-0\ny,x,0-1\n")
    assert won(found.comparisons) == [("x", "y", 1.0), ("y", "x", 0.0)]


@pytest.mark.parametrize(
    "header", ["rank1,rank2,rank3", "Place 1,Place 2,Place 3", "1st,2nd,3rd", "choice_1,choice_2,choice_3"]
)
def test_orders_of_three_are_told_from_pairs(tmp_path, header):
    with pytest.raises(cf.CofactorError, match=r"seem to hold orderings of several items"):
        read(tmp_path, f"{header}\na,b,c\n")


def test_an_outcome_of_one_side_takes_ties_from_its_sibling(tmp_path):
    text = "model_a,model_b,winner_model_a,winner_model_b,winner_tie\nx,y,0,0,1\ny,x,0,1,0\n"
    found = read(tmp_path, text, outcome="winner_model_a")
    assert found.comparisons.outcome.tolist() == [0.5, 0.0]


def test_words_that_no_list_knows_can_be_given(tmp_path):
    text = "one,two,who\nx,y,upper\ny,x,lower\nx,y,tie\n"
    data = read_votes(written(tmp_path, text), "one", "two", outcome="who", words=("Upper", "lower"))[0]
    assert data.outcome.tolist() == [1.0, 0.0, 0.5]


def test_json_of_pairs_and_of_records(tmp_path):
    pairs = read(tmp_path, '[["GPT", "Claude"], ["Claude", "Llama"]]', "v.json")
    assert won(pairs.comparisons) == [("GPT", "Claude", 1.0), ("Claude", "Llama", 1.0)]
    record = (
        '[{"model_a": "x", "model_b": "y", "winner": "model_b"}, {"model_a": "y", "model_b": "x", "winner": "tie"}]'
    )
    assert won(read(tmp_path, record, "r.json").comparisons) == [("x", "y", 0.0), ("y", "x", 0.5)]
    with pytest.raises(cf.CofactorError, match=r'for example \{"winner": "x", "loser": "y"\}, or \["x", "y"\]'):
        read(tmp_path, "[3, 4]", "bad.json")


def test_weights_that_are_no_counts_are_left_and_named(tmp_path):
    found = read(tmp_path, "winner,loser,weight\na,b,97.5\nb,a,93.4\n")
    assert found.comparisons.counts is None
    assert found.notes == [
        "column weight was not used, since its numbers are not whole and so are not counts: "
        "to use it, set weight='weight'"
    ]
    asked = read(tmp_path, "winner,loser,weight\na,b,97.5\nb,a,93.4\n", weight="weight")
    assert (asked.comparisons.total, asked.notes) == (190.9, [])
    assert read(tmp_path, "winner,loser,weight\na,b,9\nb,a,3\n").notes == ["columns used by default: weight"]


def test_names_that_look_alike_are_noted_or_merged(tmp_path):
    rows = "Claude,GPT 4,Ann\nclaude,GPT4,ann\nGPT4,Cl\u0430ude,Ann\nGPT4,Claude,Bo\n"
    found = read(tmp_path, "winner,loser,user\n" + rows)
    alike, how = "look alike count as different:", "; if they are the same, "
    assert found.notes[1:] == [
        f"items that {alike} 'Claude' = 'Cl\\u0430ude' = 'claude', 'GPT 4' = 'GPT4'{how}write them in one way",
        f"users that {alike} 'Ann' = 'ann'{how}spelling='all' makes them one",
    ]
    merged = read(tmp_path, "winner,loser,user\n" + rows, spelling="all")
    items = ("Claude", "Cl\u0430ude", "GPT 4", "GPT4")
    assert (sorted(merged.comparisons.items), merged.comparisons.users) == (sorted(items), ("Ann", "Bo"))
    one = "that differ only in capitals, blanks or invisible characters count as one:"
    assert [note for note in merged.notes if one in note] == [
        f"items {one} 'Claude' = 'claude'; spelling='keep' keeps them apart",
        f"users {one} 'Ann' = 'ann'; spelling='keep' keeps them apart",
    ]
    named = read(tmp_path, "model_a,model_b,winner\nx,Y,y\nX,y,x\nx,y,X\n", spelling="all")
    assert won(named.comparisons) == [("x", "y", 0.0), ("x", "y", 1.0), ("x", "y", 1.0)]


def test_a_column_that_is_used_and_there_twice_is_refused(tmp_path):
    for text in (
        "winner,loser,loser\na,b,c\n",
        "model_a,model_b,winner,winner\na,b,a,b\n",
        "winner,loser,user,user\na,b,1,2\n",
    ):
        twice = text.split("\n")[0].split(",")[-1]
        with pytest.raises(cf.CofactorError, match=f"more than one column is called {twice}: rename all but one"):
            read(tmp_path, text)
    assert read(tmp_path, "winner,loser,x,x\na,b,1,2\n").comparisons.items == ("a", "b")


def test_items_that_look_like_no_answer_are_noted_with_their_counts(tmp_path):
    found = read(tmp_path, "winner,loser\na,b\nb,NA\n?,a\n?,b\nnone,a\n").notes
    assert found == [
        "items that look like non-answers count as items: '?' (2), 'NA' (1); if they are not, drop their rows"
    ]


def test_differences_of_columns_and_the_first_side_are_covariates(tmp_path):
    text = "model_a,model_b,winner,len_a,len_b\nx,y,A,5,3\ny,x,B,1,4\n"
    data, X = read_votes(written(tmp_path, text), covariates=["len_a - len_b"], home=True)
    assert data.outcome.tolist() == [1.0, 0.0]
    assert X.to_dict("list") == {"len_a - len_b": [2.0, -3.0], "home": [1.0, 1.0]}


# ---- names before words for sides ----


def sided(tmp_path, rows, name="winner", **how):
    return read(tmp_path, f"model_a,model_b,{name}\n" + "".join(f"{row}\n" for row in rows), **how)


def test_names_of_items_come_before_words_for_sides(tmp_path):
    named = sided(tmp_path, ["B,A,A", "C,B,B", "C,A,A", "A,B,tie"])  # who always won would else come last
    assert won(named.comparisons) == [("B", "A", 0.0), ("C", "B", 0.0), ("C", "A", 0.0), ("A", "B", 0.5)]
    sides = sided(tmp_path, ["B2,A2,A", "C2,B2,B", "A2,C2,B"])
    assert won(sides.comparisons) == [("B2", "A2", 1.0), ("C2", "B2", 0.0), ("A2", "C2", 0.0)]


def test_a_is_away_beside_h_whatever_teams_are_called(tmp_path):
    found = read(tmp_path, "home,away,res\nA,B,H\nB,A,D\nC,A,A\nA,C,A\n")
    assert won(found.comparisons) == [("A", "B", 1.0), ("B", "A", 0.5), ("C", "A", 0.0), ("A", "C", 0.0)]


def test_a_word_that_is_an_item_and_a_side_is_refused_with_the_option_that_settles_it(tmp_path):
    for rows in (["C,B,A", "B,A,B"], ["0,1,0", "1,0,1"]):  # A is no item of its row; both 0 are items and sides
        with pytest.raises(cf.CofactorError, match=r"is an item, but may also say which side won: .*--words"):
            sided(tmp_path, rows)
    assert won(sided(tmp_path, ["C,B,A", "B,A,B"], words=("A", "B")).comparisons) == [("C", "B", 1.0), ("B", "A", 0.0)]


def test_which_side_zero_and_one_are_is_said_or_asked_for(tmp_path):
    said = sided(tmp_path, ["p,q,1", "q,r,0"], "outcome")
    assert said.notes[-1].startswith("outcome: 1 means model_a and 0 means model_b")
    for name in ("chosen", "Preferred"):
        with pytest.raises(cf.CofactorError, match=rf"(?i){name} holds 0 and 1, .* --words 0 1"):
            sided(tmp_path, ["p,q,1", "q,r,0"], name)
        turned = sided(tmp_path, ["p,q,1", "q,r,0"], name, words=("0", "1"))
        assert won(turned.comparisons) == [("p", "q", 0.0), ("q", "r", 1.0)]


def test_words_that_are_numbers_match_however_they_are_written():
    frame = pd.DataFrame({"home": ["a", "b", "c"], "away": ["b", "c", "a"], "picked": [1.0, 0.0, 1.0]})
    assert read_votes(frame, "home", "away", outcome="picked", words=("1", "0"))[0].outcome.tolist() == [1.0, 0.0, 1.0]
    assert read_votes(frame, "home", "away", outcome="picked", words=("0", "1"))[0].outcome.tolist() == [0.0, 1.0, 0.0]


def test_what_has_no_result_is_left_out_by_name_in_every_layout():
    layouts = {
        "scores": {"hg": [1, 2, None, 0], "ag": [0, 2, None, 1]},
        "one cell": {"ft": ["1-0", "2-2", "postponed", "0-1"]},
        "words": {"result": ["H", "D", "", "A"]},
        "sides": {"home_wins": [1, 0, None, 0], "away_wins": [0, 0, None, 1]},
    }
    for name, columns in layouts.items():
        frame = pd.DataFrame({"home": list("pqrp"), "away": list("qrpr"), **columns})
        found = reading(frame, dict.fromkeys(("winner", "loser", "user", "tie", "outcome", "weight")))
        assert found.comparisons.outcome.tolist() == [1.0, 0.5, 0.0], name
        assert "left out 1 comparison without a result: data row 2 (counting from 0)" in found.notes, name


def test_among_scores_the_odd_word_is_named_and_nothing_else():
    frame = pd.DataFrame({"home": list("pqrp"), "away": list("qrpr"), "ft": ["1-0", "2-2", "one nil", "0-1"]})
    named = dict.fromkeys(("winner", "loser", "user", "tie", "outcome", "weight"))
    with pytest.raises(cf.CofactorError, match=r"see data row 2 \('one nil'\) \(counting from 0\): pass"):
        reading(frame, named)
    found = reading(frame.replace("one nil", "canc."), named)
    assert "left out 1 comparison without a result: data row 2 (counting from 0)" in found.notes


def test_items_may_be_called_as_what_was_not_played():
    frame = pd.DataFrame({"left": ["NA", "v", "tbd"], "right": ["v", "tbd", "NA"], "winner": ["NA", "v", "NA"]})
    named = dict.fromkeys(("winner", "loser", "user", "tie", "outcome", "weight"))
    found = reading(frame, named)
    assert found.comparisons.outcome.tolist() == [1.0, 1.0, 0.0] and not any("left out" in one for one in found.notes)
    found = reading(frame.assign(winner=["NA", "v", "v"]), named)
    assert "left out 1 comparison without a result: data row 2 (counting from 0)" in found.notes


def test_a_square_table_counts_wins_and_nothing_else_is_taken_for_one(tmp_path):
    path = tmp_path / "wins.csv"
    path.write_text("team,a,b,c\nb,2,-,1\na,,3,0\nc,0,4,\n")
    data = read_votes(path)[0]
    wins = {(data.items[i], data.items[j]): n for i, j, n in zip(data.left, data.right, data.counts, strict=True)}
    assert wins == {("b", "a"): 2, ("b", "c"): 1, ("a", "b"): 3, ("c", "b"): 4}
    path.write_text("team,a,b\na,,3\nx,1,\n")
    with pytest.raises(cf.CofactorError, match=r"no column says who won|no column winner"):
        read_votes(path)


def test_an_item_that_won_is_no_tie_however_its_name_begins(tmp_path):
    cases = {
        "another case": (["Drawing 1,Drawing 2,drawing 1", "Drawing 2,Drawing 1,Drawing 1"], [1.0, 0.0]),
        "beside a tie": (["Equalizer,Amp,EQUALIZER", "Amp,Equalizer,equalizer", "Amp,Equalizer,tie"], [1.0, 0.0, 0.5]),
        "a tie word": (["Tie Fighter,Both Ends,tie fighter", "Tie Fighter,Both Ends,both ends"], [1.0, 0.0]),
        "beside a side": (["tie fighter,x,tie fighter", "x,tie fighter,model_a"], [1.0, 1.0]),
        "one in another case": (["Tea,tea,tea", "Tea,gin,Gin", "tea,gin,tea", "gin,Tea,Tea"], [0.0, 0.0, 1.0, 0.0]),
    }
    for name, (rows, outcome) in cases.items():
        assert sided(tmp_path, rows).comparisons.outcome.tolist() == outcome, name


def test_a_winner_who_did_not_take_part_is_named_however_its_name_begins(tmp_path):
    for row in ("Drawing 1,Drawing 2,Drawing 9", "Tie Fighter,x,Both Ends", "Tea,tea,TEA"):
        with pytest.raises(cf.CofactorError, match=f"or the winner's name; see row 4 .'{row.split(',')[2]}'"):
            sided(tmp_path, ["x,Tie Fighter,tie", "Both Ends,x,x", row])


def test_weights_are_numbers_in_any_form_and_a_blank_one_is_named_by_row(tmp_path):
    rows = "winner;loser;weight\na;b;2,0\nb;a;3,0\n"
    with pytest.warns(cf.DataWarning, match="weight: numbers with a decimal comma"):
        assert read(tmp_path, rows).comparisons.counts.tolist() == [2.0, 3.0]
    with pytest.raises(cf.CofactorError, match=r"weight .* must hold 0, or numbers from .*; see row 4 \(''\)"):
        read(tmp_path, "winner,loser,weight\na,b,2\nb,a,3\nb,a,\n")
    found = read(tmp_path, "winner,loser,weight\na,b,2\nb,a,3\nb,a,\n", skip_bad=True)
    assert found.comparisons.counts.tolist() == [2.0, 3.0]
    assert "see row 4 ('')" in found.notes[-1]
    words = read(tmp_path, "winner,loser,weight\na,b,heavy\nb,a,light\n")
    assert words.comparisons.counts is None
    assert words.notes == ["column weight was not used, since it holds no numbers: to use it, set weight='weight'"]


def test_a_row_and_a_column_of_sums_are_no_item_of_a_square_table(tmp_path):
    note = "left out row and column Summe, since they hold the sums of the others"
    tables = {
        "whole": (";A;B;C;Summe\nA;0;5;3;8\nB;2;0;4;6\nC;1;2;0;3\nSumme;3;7;7;17\n", ("A", "B", "C")),
        "with the diagonal": (";A;B;C;Summe\nA;9;5;3;17\nB;2;9;4;15\nC;1;2;9;12\nSumme;12;16;16;44\n", ("A", "B", "C")),
        "without the diagonal": (";A;B;C;Summe\nC;1;2;9;3\nA;9;5;3;8\nB;2;9;4;6\nSumme;3;7;7;\n", ("A", "B", "C")),
        "two items": (";A;B;Summe\nA;;1.5;1.5\nB;0.5;;0.5\nSumme;0.5;1.5;2\n", ("A", "B")),
    }
    for name, (text, items) in tables.items():
        found = read(tmp_path, text)
        assert (found.comparisons.items, found.notes[-1]) == (items, note), name
    others = {
        "three equal items": ";A;B;C\nA;;1;1\nB;1;;1\nC;1;1;\n",
        "a column alone": ";A;B;C\nA;;1;1\nB;1;;1\nC;1;2;\n",
        "a single win": ";A;B;C;D\nA;;0;0;0\nB;0;;0;0\nC;0;0;;1\nD;0;0;0;\n",
    }
    for name, text in others.items():
        assert not any("left out" in one for one in read(tmp_path, text).notes), name
    wins = pd.crosstab(pd.Series([*"aabbcc"]), pd.Series([*"bcacab"]), margins=True)
    assert read_votes(wins)[0].items == ("a", "b", "c")


def test_blank_items_of_frames_are_missing_as_in_files():
    votes = pd.DataFrame([("a", "b"), ("b", "c"), ("c", "a"), ("a", ""), (" ", "b")], columns=["winner", "loser"])
    for rows, missing in ((votes[:4], "loser in data row 3 "), (votes, "winner in data row 4 ")):
        with pytest.raises(cf.CofactorError, match=f"missing {missing}"):
            read_votes(rows)


def test_a_usual_name_that_is_not_there_is_said(tmp_path):
    for name in ("user", "tie", "outcome", "weight"):
        for column in ("judge", "draw", "result", "weight"):
            with pytest.raises(cf.CofactorError, match=f"no column {column}; found winner, loser"):
                read(tmp_path, "winner,loser\na,b\nb,c\nc,a\n", **{name: column})


def test_ties_and_counts_beside_winners_and_losers_are_used_or_named(tmp_path):
    rows = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "b")]

    def of(names, *cells):
        lines = [",".join((*pair, *one)) + "\n" for pair, one in zip(rows, zip(*cells, strict=True), strict=True)]
        return read(tmp_path, f"winner,loser,{names}\n" + "".join(lines))

    for name in ("tie", "draw", "tied", "is_tie"):
        found = of(name, "0101")
        assert found.comparisons.outcome.tolist() == [1, 0.5, 1, 0.5] and found.notes[0].endswith(f"default: {name}")
    said = "column {0} says that some comparisons are ties: to use it, set outcome='{0}'"
    for name, cells in {"result": ["win", "draw", "win", "win"], "score": ["2-1", "1-1", "3-0", "2-0"]}.items():
        assert of(name, cells).notes == [said.format(name)]
        with_ties = read(tmp_path, (tmp_path / "votes.csv").read_text(), outcome=name)
        assert with_ties.comparisons.outcome.tolist() == [1, 0.5, 1, 1]
    assert of("winner_score,loser_score", "2534", "1513").notes[0].startswith("winner_score and loser_score are equal")
    assert of("winner_score,loser_score", "2534", "1213").notes == of("score", "2534").notes == []
    for name in ("count", "n", "times"):
        assert of(name, "8231").notes == [
            f"column {name} is not used: if it says how often each comparison was made, set weight='{name}'"
        ]
    assert of("count", ["1.5", "2", "3", "1"]).notes == of("weight", "8231").notes[1:] == []


def test_which_side_a_number_means_is_said(tmp_path):
    for header, cells, outcome, said in (
        (
            "left,right,right_won",
            "01",
            [1, 0],
            "right_won: 1 means right and 0 means left; to swap them, set words=('1'",
        ),
        ("left,right,left_won", "10", [1, 0], "left_won: 1 means left and 0 means right; to swap them, set words=('0"),
        ("model_a,model_b,b_wins", "01", [1, 0], "b_wins: 1 means model_b and 0 means model_a"),
        ("left,right,right_won", ("no", "yes"), [1, 0], ""),
        (
            "left,right,outcome",
            ("1", "-1"),
            [1, 0],
            "outcome: 1 means left and -1 means right; to swap them",
        ),
    ):
        text = f"{header}\nx,y,{cells[0]}\nx,y,{cells[1]}\ny,x,{cells[1]}\n"
        for named in ({}, {"outcome": header.split(",")[2]}):
            found = read(tmp_path, text, **named)
            assert found.comparisons.outcome.tolist() == [*outcome, outcome[1]], header
            assert not said or any(note.startswith(said) for note in found.notes), header
    reversed_ = read(tmp_path, "left,right,right_won\nx,y,0\nx,y,1\ny,x,1\n", words=("1", "0"))
    assert reversed_.comparisons.outcome.tolist() == [0, 1, 1]
    signs = read(tmp_path, "left,right,outcome\nx,y,1\nx,y,-1\ny,x,-1\n", words=("-1", "1"))
    assert signs.comparisons.outcome.tolist() == [0, 1, 1]


def test_cells_name_columns_however_their_words_are_joined(tmp_path):
    found = read(tmp_path, "option 1,option 2,choice\na,b,option 1\nb,c,Option_2\nc,a,option-1\n")
    assert found.comparisons.outcome.tolist() == [1, 0, 1]
    text = "The One,The Other,choice\na,b,the one\nb,c,the other\nc,a,The_One\n"
    assert read(tmp_path, text, winner="The One", loser="The Other", outcome="choice").comparisons.outcome[0] == 1


def test_a_column_of_draws_beside_one_that_says_who_won_is_no_second_answer(tmp_path):
    found = read(tmp_path, "home,away,winner,draw\na,b,a,0\nb,c,tie,1\nc,a,c,0\n")
    assert found.comparisons.outcome.tolist() == [1, 0.5, 1]


def test_a_word_for_ties_is_asked_for_where_the_other_two_are_given(tmp_path):
    text = "home,away,res\na,b,Sieg\nb,c,Remis\nc,a,Niederlage\n"
    with pytest.raises(cf.CofactorError, match=r"see row 3 \('Remis'\) .*: write ties as tie, or correct or drop"):
        read(tmp_path, text, words=("Sieg", "Niederlage"))


def test_a_square_table_is_read_from_a_pipe(tmp_path):
    rows = ",A,B,C\nA,,3,4\nB,1,,5\nC,0,2,\n"
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(rows,))
    writer.start()
    found = reading(tmp_path / "pipe", dict.fromkeys(("winner", "loser", "user", "tie", "outcome", "weight")))
    writer.join()
    expected = read(tmp_path, rows)
    assert found.comparisons.counts.tolist() == expected.comparisons.counts.tolist()
    assert found.comparisons.items == ("A", "B", "C") and found.notes == expected.notes


def test_equal_texts_of_different_kinds_are_named():
    frame = pd.DataFrame({"winner": [1, "1", 2], "loser": [2, 2, "1"]})
    found = reading(frame, dict.fromkeys(("winner", "loser", "user", "tie", "outcome", "weight")))
    assert found.notes[0].startswith("items contain different values with the same text (1 and '1')")
