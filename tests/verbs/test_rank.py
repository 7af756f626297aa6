"""The verb `rank`: every way in gives the same ranking, rows are the user's, warnings are kept."""

import warnings

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.verbs.rank import half_wins

pytestmark = pytest.mark.filterwarnings("ignore:these comparisons do not predict the outcome")


@pytest.fixture(scope="module")
def votes():
    """Sixty votes between five items, the first ones better."""
    rng = np.random.default_rng(0)
    left = rng.integers(0, 5, 200)
    right = (left + rng.integers(1, 5, 200)) % 5
    won = rng.random(200) < 1 / (1 + np.exp(0.6 * (left - right)))
    names = np.array(list("abcde"))
    return pd.DataFrame({"winner": names[np.where(won, left, right)], "loser": names[np.where(won, right, left)]})


def test_every_way_in_gives_the_same_ranking(votes, tmp_path):
    import pyarrow

    votes.to_csv(tmp_path / "v.csv", index=False)
    votes.iloc[:80].to_csv(tmp_path / "one.csv", index=False)
    votes.iloc[80:].to_csv(tmp_path / "two.csv", index=False)
    wins = pd.crosstab(votes["winner"], votes["loser"]).reindex(index=list("abcde"), columns=list("abcde")).fillna(0)
    wins.to_csv(tmp_path / "square.csv")
    renamed = votes.rename(columns={"winner": "one", "loser": "two"})

    class Streamed:
        def __arrow_c_stream__(self, requested_schema=None):
            return pyarrow.Table.from_pandas(votes).__arrow_c_stream__(requested_schema)

    ways = {
        "path": (tmp_path / "v.csv", {}),
        "several": ([tmp_path / "one.csv", tmp_path / "two.csv"], {}),
        "frame": (votes, {}),
        "arrow": (pyarrow.Table.from_pandas(votes), {}),
        "stream": (Streamed(), {}),
        "array": (votes.to_numpy(), {}),
        "named": (renamed, {"winner": "one", "loser": "two"}),
        "square file": (tmp_path / "square.csv", {}),
        "square frame": (wins, {}),
        "own class": (cf.Comparisons.from_frame(votes), {}),
    }
    expected = cf.rank(votes).items
    assert expected["item"].tolist()[0] == "a" and len(expected) == 5
    for name, (source, how) in ways.items():
        with warnings.catch_warnings(action="ignore", category=cf.DataWarning):  # a square table is recognised
            found = cf.rank(source, **how).items
        pd.testing.assert_frame_equal(found, expected, check_dtype=False, obj=name)
    unasked = renamed.assign(choice=["one", ""] + ["one"] * (len(votes) - 2))
    with pytest.warns(cf.DataWarning) as caught:
        found = cf.rank(unasked, winner="one", loser="two")
    said = [str(one.message) for one in caught]
    assert "columns used by default: choice" in said and any(
        "1 comparison without a result: data row 1" in one for one in said
    )
    assert set(said) <= set(found.notes)


@pytest.mark.slow
def test_a_data_set_is_known_by_name_and_warnings_are_kept():
    with pytest.warns(cf.DataWarning) as caught:
        found = cf.rank("food")
    assert {str(one.message) for one in caught} == set(found.warnings)
    assert any(text.startswith("fewer than 5 users compared") for text in found.warnings)
    assert len(found.items) == 85 and found.summary[0].startswith("85 items, 11,340 comparisons")
    assert set(found.warnings) <= set(found.notes) and any("16 in all" in note for note in found.warnings)


def test_every_item_has_its_row_or_is_named(votes):
    more = pd.concat([votes, pd.DataFrame({"winner": ["x"], "loser": ["y"]})])
    with pytest.warns(cf.DataWarning, match="no comparisons link these items with it: x, y"):
        found = cf.rank(more)
    named = " ".join(found.notes)
    assert all(item in set(found.items["item"]) or item in named for item in [*"abcde", "x", "y"])
    assert found.items["rank"].is_monotonic_increasing


def test_truth_values_are_numbers_and_sets_of_games_say_who_won():
    rows = [("a", "b", "6-4 3-6 7-6(5)", "TRUE"), ("b", "c", "0-6, 1-6", "FALSE"), ("c", "a", "2:1", "TRUE")] * 4
    frame = pd.DataFrame([*rows, ("a", "c", "0-0", "FALSE")], columns=["player1", "player2", "score", "seeded"])
    with warnings.catch_warnings(action="ignore"):
        found = cf.rank(frame, covariates=["seeded"])
    assert found.comparisons.outcome.tolist() == [1.0, 0.0, 1.0] * 4 + [0.5]
    assert found.coefficients["name"].tolist() == ["seeded", "log of tie parameter"]


def test_bradley_terry_takes_a_tie_for_half_a_win_of_either_side():
    data = cf.Comparisons([0, 1, 0], [0, 1, 2], [1, 2, 0], [1, 0.5, 0], counts=[2, 1, 3])
    X = pd.DataFrame({"home": [1.0, 2.0, 3.0]})
    halved, Y = half_wins(data, X)
    rows = list(zip(halved.left, halved.right, halved.outcome, halved.counts, Y["home"], strict=True))
    assert sorted(rows) == [(0, 1, 1, 2, 1), (1, 2, 0, 0.5, 3), (1, 2, 1, 0.5, 3), (2, 0, 0, 3, 2)]
    votes = pd.DataFrame({"a": list("xyzx") * 9, "b": list("yzxy") * 9, "winner": ["A", "B", "tie", "A"] * 9})
    with warnings.catch_warnings(action="ignore"):
        assert cf.rank(votes, method="BradleyTerry").probabilities["tie"].eq(0).all()
        assert cf.rank(votes).probabilities["tie"].gt(0).all()


def test_the_screen_shows_no_negative_zero(votes):
    found = cf.rank(votes)
    found.items.loc[0, ["utility", "low", "high"]] = -0.001
    assert "0.00 (0.00 to 0.00)" in repr(found) and "-0.00" not in repr(found)


@pytest.mark.slow
def test_the_result_shows_itself_and_writes_a_page(votes, tmp_path):
    found = cf.rank(votes, elo=("a", 1500))
    assert "rank  (90 %)" in repr(found) and "5 items, 200 comparisons" in found._repr_html_()
    assert found.items.set_index("item").loc["a", "elo"] == 1500
    found.report(tmp_path / "page.html")
    assert "<h1>DataFrame</h1>" in (tmp_path / "page.html").read_text(encoding="utf8")
    with pytest.raises(cf.CofactorError, match="already exists: name another file, or set force=True"):
        found.report(tmp_path / "page.html")


def test_what_is_no_table_of_votes_is_refused(votes):
    data = cf.Comparisons.from_frame(votes)
    refused = {
        "no method 'Elo'": lambda: cf.rank(votes, method="Elo"),
        "of shape .3,.: give a path, a DataFrame": lambda: cf.rank(np.zeros(3)),
        "cannot use winner: Comparisons have no columns": lambda: cf.rank(data, winner="x"),
        "covariates of a table must be names": lambda: cf.rank(votes, covariates=np.zeros((3, 1))),
        "no such file": lambda: cf.rank("nowhere.csv"),
    }
    for message, ask in refused.items():
        with warnings.catch_warnings(action="ignore"), pytest.raises(cf.CofactorError, match=message):
            ask()
