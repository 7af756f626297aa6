"""``cofactor rank --method``: a ranking by a method from outside, or another one of this kit."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from cofactor.comparisons import Comparisons, rank
from cofactor.core.errors import CofactorError
from cofactor.reading.votes import read_votes
from cofactor_app.cli import main
from cofactor_app.cli.own_rank import rank_by

pytestmark = pytest.mark.filterwarnings("ignore::cofactor.DataWarning")

MINE = '''
import numpy as np
import cofactor as cf


def wins(comparisons):
    """Log-odds of the share of wins."""
    assert comparisons.counts is None and comparisons.per_item.sum() == 2 * len(comparisons)
    n = comparisons.n_items
    won = np.bincount(comparisons.left, comparisons.outcome, n)
    won += np.bincount(comparisons.right, 1 - comparisons.outcome, n)
    share = (won + 1) / (comparisons.per_item + 2)
    return np.log(share / (1 - share))


class ByUser:
    """Every user likes one item by two more, the one with the number of this user."""

    def fit(self, comparisons):
        self.u = wins(comparisons)

    def predict_proba(self, user, left, right):
        own = 2.0 * ((user == left) * 1.0 - (user == right))
        return 1 / (1 + np.exp(self.u[right] - self.u[left] - own))


class OutOfRange(ByUser):
    def predict_proba(self, user, left, right):
        return np.full(len(user), 1.5)


def fails_where_something_repeats(comparisons):
    if len(set(zip(comparisons.user.tolist(), comparisons.left.tolist(), comparisons.right.tolist()))) < MOST:
        raise ValueError("too few")
    return wins(comparisons)


def fails(comparisons):
    raise ValueError("too short")


def one_number(comparisons):
    return 0.5


def fails_for_few(comparisons):
    if len(comparisons) < 120:
        raise ValueError("too few")
    return wins(comparisons)


def names(comparisons):
    return ["best"] * comparisons.n_items


def endless(comparisons):
    return np.full(comparisons.n_items, np.inf)
'''


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """A file with methods, and one of 1,200 votes of 30 users about 6 items, a tenth of them ties."""
    rng, m, folder = np.random.default_rng(0), 1200, tmp_path_factory.mktemp("rank")
    left = rng.integers(0, 6, m)
    right, user = (left + rng.integers(1, 6, m)) % 6, rng.integers(0, 30, m)
    won = np.where(rng.random(m) < expit(0.5 * (right - left)), "model_a", "model_b")
    won[rng.random(m) < 0.1] = "tie"
    names = np.array(["p", "q", "<c>", "r", "s", "t"])
    frame = {
        "model_a": names[left],
        "model_b": names[right],
        "winner": won,
        "user": user,
        "prompt": rng.integers(25, size=m),
    }
    pd.DataFrame(frame).to_csv(folder / "votes.csv", index=False)
    (folder / "my.py").write_text(
        MINE.replace("MOST", str(len(set(zip(user, left, right, strict=True))))), encoding="utf8"
    )
    return folder


def votes(mine, **more):
    return read_votes(mine / "votes.csv", **more)[0]


def test_everything_of_rank_works_with_it(mine, tmp_path, capsys):
    names = ("places.csv", "pairs.csv", "coefficients.csv", "page.html")
    out = dict(
        zip(("-o", "--probabilities", "--coefficients", "--report"), (str(tmp_path / n) for n in names), strict=True)
    )
    options = [word for pair in out.items() for word in pair]
    asked = ["--method", f"{mine}/my.py:wins", "--elo", "p=1500", "--chance", "p", "q", "--next", "2", "--baselines"]
    assert main(["rank", str(mine / "votes.csv"), *asked, *options, "--level", "0.8"]) == 0
    printed, found = capsys.readouterr().out, rank_by(f"{mine}/my.py:wins", votes(mine), level=0.8)
    table = pd.read_csv(out["-o"])
    pd.testing.assert_frame_equal(table.iloc[:, :10], found.table().round(6), check_dtype=False)
    assert table["item"].tolist() == ["p", "q", "<c>", "r", "s", "t"] and {"elo", "elo_baseline", "pagerank"} <= set(
        table
    )
    pd.testing.assert_frame_equal(
        pd.read_csv(out["--probabilities"]), found.probabilities().round(6), check_dtype=False
    )
    assert pd.read_csv(out["--coefficients"])["name"].tolist() == ["log of tie parameter"]
    assert f"held out: {found.log_loss:.4f}; the trivial guess: {found.trivial_log_loss:.4f}" in printed
    assert "my.py:wins against the other items; intervals are those of its refits" in printed
    assert "intervals of 80 %, taking users as independent" in printed and "compare next: " in printed
    page = re.sub(r"base64,[^\"]*", "", (tmp_path / "page.html").read_text(encoding="utf8"))
    words = page.lower().split("</style>")[-1].split("<svg")[0]
    assert "&lt;c&gt;" in page and "<c>" not in page and "nan" not in words


def test_utilities_intervals_and_losses_are_near_those_of_the_default(mine):
    data = votes(mine)
    one, other = rank_by("BradleyTerry", data, level=0.9), rank(data, random_state=0)
    odds = np.polyfit(other.utilities, one.utilities, 1)[0]
    assert 0.75 < odds < 0.95  # a tie counts for half a win, which draws utilities together
    assert np.allclose(one.utilities, odds * other.utilities, atol=0.03)
    ratio = np.sqrt(np.diag(one.covariance) / np.diag(other.covariance))
    assert 0.7 < ratio[:6].mean() < 1.15 and np.isclose(ratio[6], 1, atol=0.25)
    assert one.log_loss == pytest.approx(other.log_loss, abs=0.01) and one.log_loss < one.trivial_log_loss
    assert one.trivial_log_loss == pytest.approx(other.trivial_log_loss, abs=0.005)
    assert one.n_users == other.n_users and (one.ranks[:, 0] == other.ranks[:, 0]).all() and np.isnan(one.sd)


def test_users_and_prompts_are_drawn_with_all_their_votes(mine):
    """Votes that are given three times tell as much if the users are the same, or others who repeat the prompts."""
    data = votes(mine)
    often = np.tile(np.arange(len(data)), 3)
    user = data.user[often] + 30 * (np.arange(len(often)) // len(data))
    parts = (user, data.left[often], data.right[often], data.outcome[often])
    given = (data, data.take(often), Comparisons(*parts, prompt=often), Comparisons(*parts))
    found = [rank_by(f"{mine}/my.py:wins", one, level=0.9) for one in given]
    once, same, prompts, others = (np.sqrt(np.diag(one.covariance)[:6]).mean() for one in found)
    assert same == pytest.approx(once, rel=0.2) and prompts == pytest.approx(once, rel=0.2)
    assert others == pytest.approx(once / np.sqrt(3), rel=0.2)
    assert [one.n_prompts > 0 for one in found] == [False, False, True, False]


def test_chances_are_means_over_users_who_count_by_their_comparisons(mine, tmp_path):
    rows = ["x,y,0"] * 30 + ["y,x,0"] * 20 + ["x,y,1"] * 5 + ["y,x,1"] * 5
    (tmp_path / "two.csv").write_text("\n".join(["winner,loser,user", *rows]), encoding="utf8")
    found = rank_by(f"{mine}/my.py:ByUser", read_votes(tmp_path / "two.csv")[0], level=0.9)
    share = np.log(36 / 26)  # of each item's log-odds of wins, one is the other's negative
    p = 50 / 60 * expit(2 * share + 2) + 10 / 60 * expit(2 * share - 2)
    assert found.table()["item"].tolist() == ["x", "y"]
    assert found.chance("x", "y")["chance"] == pytest.approx(p, abs=1e-9)


def test_weights_are_as_many_comparisons(mine, tmp_path):
    (tmp_path / "w.csv").write_text("winner,loser,weight\nx,y,30\ny,x,20\n", encoding="utf8")
    (tmp_path / "m.csv").write_text("winner,loser\n" + "x,y\n" * 30 + "y,x\n" * 20, encoding="utf8")
    one, other = (rank_by(f"{mine}/my.py:wins", read_votes(tmp_path / f"{n}.csv")[0], level=0.9) for n in "wm")
    pd.testing.assert_frame_equal(one.table(), other.table())
    (tmp_path / "w.csv").write_text("winner,loser,weight\nx,y,30.5\ny,x,20\n", encoding="utf8")
    with pytest.raises(CofactorError, match="give weights that are whole"):
        rank_by(f"{mine}/my.py:wins", read_votes(tmp_path / "w.csv", weight="weight")[0], level=0.9)


def test_every_category_and_every_user_has_fits_of_its_own(mine, tmp_path, capsys):
    rng, m = np.random.default_rng(1), 240
    user = np.repeat(["ann", "bob", "eve"], [110, 111, 19])
    frame = pd.DataFrame({"user": user, "kind": np.tile(["a", "b"], m // 2)})
    first, kind = rng.random(m), frame["kind"] == "b"
    won = np.where(kind, first < 0.7, first < 0.3)  # x wins in the one category, y in the other
    frame["winner"], frame["loser"] = np.where(won, "x", "y"), np.where(won, "y", "x")
    frame.to_csv(tmp_path / "two.csv", index=False)
    asked = ["rank", f"{tmp_path}/two.csv", "--by", "kind", "-o", f"{tmp_path}/o.csv", "--users", f"{tmp_path}/u.csv"]
    assert main([*asked, "--method", f"{mine}/my.py:wins"]) == 0
    said = capsys.readouterr().out
    assert "by category, each with fits of its own:" in said and "2 of 3 users, who have 10 comparisons" in said
    boards, users = pd.read_csv(tmp_path / "o.csv").set_index(["board", "item"]), pd.read_csv(tmp_path / "u.csv")
    for name in ("a", "b"):
        part = frame[frame["kind"] == name].drop(columns="kind")
        part.to_csv(tmp_path / "part.csv", index=False)
        alone = rank_by(f"{mine}/my.py:wins", read_votes(tmp_path / "part.csv", user="user")[0], level=0.9).table()
        ours = boards.loc[name].reset_index()[alone.columns]
        pd.testing.assert_frame_equal(ours, alone.round(6), check_dtype=False)
    assert boards.loc[("a", "y"), "rank"] == 1 and boards.loc[("b", "x"), "rank"] == 1
    share = (frame[frame["user"] == "ann"]["winner"].eq("x").sum() + 1) / 112
    found = users.set_index(["user", "item"]).loc[("ann", "x")]
    assert set(users["user"]) == {"ann", "bob"} and found["utility"] == pytest.approx(
        np.log(share / (1 - share)), abs=1e-6
    )

    assert main([*asked[:2], "--users", f"{tmp_path}/f.csv", "--method", f"{mine}/my.py:fails_for_few"]) == 0
    said = capsys.readouterr().out
    assert "0 of 3 users" in said and "the method fails on those of ann (" in said and "ValueError: too few" in said


def test_what_does_not_work_gets_one_sentence(mine, capsys):
    for name, said in (
        ("fails", "the method stops in my.py, line .*: ValueError: too short"),
        ("one_number", r"must answer with 6 finite scores or with predict_proba, not shape \(\) of float64"),
        ("names", "must answer with 6 finite scores or with predict_proba, not list"),
        ("endless", "must answer with 6 finite scores"),
        ("OutOfRange", "must answer with 15 probabilities from 0 to 1"),
        ("fails_where_something_repeats", r"\d+ of 100 refits for the intervals failed; the last: .*too few"),
    ):
        with pytest.raises(CofactorError, match=said):
            rank_by(f"{mine}/my.py:{name}", votes(mine), level=0.9)
    asked = ["rank", str(mine / "votes.csv"), "--method", f"{mine}/my.py:wins"]
    for more in (["--home"], ["--covariates", "prompt"]):
        assert main([*asked, *more]) == 1
        assert f"and nothing more: leave out {more[0]}" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*asked[:-1], "ByLuck"])
