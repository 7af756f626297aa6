"""``cofactor rank``: the tables are those of the library, outputs are whole, warnings come first."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cofactor.comparisons import rank, rank_orders, rank_users
from cofactor.reading.votes import read_votes
from cofactor_app.cli import main
from cofactor_app.plots.comparisons import draw_ranking
from cofactor_app.plots.style import to_png
from cofactor_app.reading.orders import read_orders

ARENA = [
    "--winner",
    "model_a",
    "--loser",
    "model_b",
    "--outcome",
    "chosen",
    "--user",
    "judge",
    "--covariates",
    "length",
]


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    """A file of votes between models, by twelve judges."""
    rng = np.random.default_rng(0)
    m, names = 900, np.array(["gpt", "<b>llama</b>", "=cmd()", "opus"])
    left = rng.integers(0, 4, m)
    right = (left + rng.integers(1, 4, m)) % 4
    length = 100 * rng.standard_normal(m)
    z = 0.4 * (right - left) + 0.005 * length
    chosen = np.where(rng.random(m) < 0.2, "tie", np.where(rng.random(m) < 1 / (1 + np.exp(-z)), "model_a", "model_b"))
    frame = {"model_a": names[left], "model_b": names[right], "chosen": chosen, "judge": rng.integers(0, 12, m)}
    path = tmp_path_factory.mktemp("arena") / "arena.csv"
    pd.DataFrame({**frame, "length": length}).to_csv(path, index=False)
    return path


def read(path):
    return read_votes(path, "model_a", "model_b", "judge", outcome="chosen", covariates=["length"])


def test_tables_are_those_of_the_library(arena, tmp_path, capsys):
    names = ("places.parquet", "pairs.csv", "coefficients.tsv", "users.csv.gz")
    paths = [str(tmp_path / name) for name in names]
    options = [
        word
        for pair in zip(("-o", "--probabilities", "--coefficients", "--users"), paths, strict=True)
        for word in pair
    ]
    assert main(["rank", str(arena), *ARENA, *options, "--raw-cells", "--level", "0.8"]) == 0
    data, X = read(arena)
    found = rank(data, X, level=0.8, random_state=0)
    places = pd.read_parquet(paths[0])
    pd.testing.assert_frame_equal(places, found.table().round(6), check_dtype=False)
    assert ",".join(places) == "item,utility,low,high,rank,rank_low,rank_high,wins,losses,comparisons"
    pd.testing.assert_frame_equal(pd.read_csv(paths[1]), found.probabilities().round(6), check_dtype=False)
    pd.testing.assert_frame_equal(pd.read_csv(paths[2], sep="\t"), found.coefficients(), check_dtype=False)
    users = pd.read_csv(paths[3])
    pd.testing.assert_frame_equal(users, rank_users(data, X, level=0.8).round(6), check_dtype=False)
    assert users["user"].nunique() == 12
    printed = capsys.readouterr().out
    assert "900 comparisons" in printed
    assert "comparisons, " in printed and " of them ties, 12 users\n" in printed
    assert "intervals of 80 %, taking users as independent" in printed
    assert f"standard deviation {found.sd:.3g}, chosen by the evidence" in printed
    assert f"held out: {found.log_loss:.4f}; the trivial guess: {found.trivial_log_loss:.4f}" in printed


def test_page_holds_the_ranking_and_escapes_ids(arena, tmp_path):
    page = tmp_path / "page.html"
    assert main(["rank", str(arena), *ARENA, "--report", str(page)]) == 0
    text = page.read_text(encoding="utf8")
    assert "&lt;b&gt;llama&lt;/b&gt;" in text
    assert "<b>llama" not in text
    found = rank(*read(arena), random_state=0).table()
    for row in found.itertuples():
        assert f"{row.rank} ({row.rank_low} to {row.rank_high})" in text
        assert f"{row.utility:.2f} ({row.low:.2f} to {row.high:.2f})" in text
    assert "length" in text.split("Covariates and ties", 1)[1]


def test_standard_input_and_output(arena, monkeypatch, capsys):
    class Stdin:
        buffer = io.BytesIO(arena.read_bytes())

    monkeypatch.setattr("sys.stdin", Stdin)
    assert main(["rank", "-", *ARENA, "-o", "-"]) == 0
    printed = capsys.readouterr()
    table = pd.read_csv(io.StringIO(printed.out))
    assert table["item"].tolist()[0] in {"gpt", "'=cmd()", "<b>llama</b>", "opus"}
    assert "'=cmd()" in set(table["item"])
    assert "900 comparisons" in printed.err


def test_nothing_is_overwritten_unasked(arena, tmp_path, capsys):
    there = tmp_path / "there.csv"
    there.write_text("precious")
    assert main(["rank", str(arena), *ARENA, "-o", str(there)]) == 1
    assert there.read_text() == "precious"
    assert "--force" in capsys.readouterr().err
    assert main(["rank", str(arena), *ARENA, "-o", str(there), "--force"]) == 0
    assert there.read_text().startswith("item,utility")


def test_an_error_leaves_no_output_and_speaks_of_options(tmp_path, capsys):
    path, out = tmp_path / "votes.csv", tmp_path / "out.csv"
    path.write_text("model_a,loser\na,b\n")
    assert main(["rank", str(path), "-o", str(out)]) == 1
    assert not out.exists()
    assert "--winner model_a" in capsys.readouterr().err
    path.write_text("winner,loser,tie,outcome\na,b,0,1\n")
    assert main(["rank", str(path)]) == 1
    assert "--tie ''" in capsys.readouterr().err


def test_warnings_come_first_on_terminal_and_page(tmp_path, capsys):
    path, page = tmp_path / "votes.csv", tmp_path / "page.html"
    path.write_text("winner,loser\na,b\na,c\nb,c\nc,b\n")
    assert main(["rank", str(path), "--report", str(page)]) == 0
    said = "items that never lost to the others, or never won, not even through third ones: a; how far"
    printed = capsys.readouterr().out
    assert printed.startswith(f"WARNING: {said}")
    assert "WARNING: these comparisons do not tell who wins the next one (log-loss" in printed.split("rank")[0]
    assert said in page.read_text(encoding="utf8").split("<h2>")[0]
    assert "the prior decides" in page.read_text(encoding="utf8")


def test_items_that_few_users_judged_are_named_on_terminal_and_page(tmp_path, capsys):
    path, page = tmp_path / "votes.csv", tmp_path / "page.html"
    rows = [f"{who},{'ab'[k]},{'ba'[k]}\n" for who in range(9) for k in (0, 1)]
    path.write_text("user,winner,loser\n" + "".join(rows) + "0,c,a\n1,a,c\n")
    assert main(["rank", str(path), "--report", str(page)]) == 0
    said = "fewer than 5 users compared c: the intervals of these items are too short"
    assert f"WARNING: {said}\n" in capsys.readouterr().out
    assert f"{said}." in page.read_text(encoding="utf8").split("<h2>")[0]


@pytest.mark.filterwarnings("ignore:these comparisons do not tell who wins")
def test_picture_names_who_may_be_best_and_fits_many_items():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"winner": [f"$m_{k}^" for k in rng.integers(0, 60, 4000)]})
    frame["loser"] = [f"$m_{k}^" for k in rng.integers(0, 60, 4000)]
    found = rank(read_votes(frame[frame["winner"] != frame["loser"]])[0], random_state=0)
    fig = draw_ranking(found)
    best = int((found.table()["rank_low"] == 1).sum())
    assert f"{best} of 60 items may be the best" in fig.get_suptitle().replace("\n", " ")
    assert len(fig.axes[0].get_yticks()) == 40
    assert Image.open(io.BytesIO(to_png(fig))).size[1] > 600


def test_items_whose_rank_is_settled_are_counted(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("winner,loser\n" + "tea,milk\n" * 40 + "milk,tea\n")
    assert main(["rank", str(tmp_path / "a.csv")]) == 0
    assert "items that may be the best: 1; items with one possible rank: 2" in capsys.readouterr().out


NO_ORDER, FEW = (
    "no order can be told: the allowed ranks of all items overlap\n",
    "or fewer, whose ranks are hardly told: ",
)
SMALL = {  # votes of small boards: whether an order is told, and who has few comparisons
    "one match": (["ab"], False, "a, b"),
    "one match won, one lost": (["ab", "ba"], False, "a, b"),
    "a cycle": (["ab", "bc", "ca"], False, "a, b, c"),
    "five items in a chain": (["ab", "bc", "cd", "de"], False, "a, b, c, d, e"),
    "an undefeated one": (["ab", "ac", "ad", "bc", "cd", "db", "bc"], False, None),
    "two parts": (["ab", "ba", "cd", "dc", "de"], False, "c, e"),
    "a newcomer who beat the best": (["ab"] * 20 + ["ba", "na"], True, "n"),
    "ten to nil": (["ab"] * 10, True, None),
    "three items, far apart": (["ab", "bc"] * 30 + ["ba", "cb"], True, None),
}


def test_small_boards_say_that_no_order_can_be_told(tmp_path, capsys):
    path, page = tmp_path / "votes.csv", tmp_path / "page.html"
    for name, (votes, told, few) in SMALL.items():
        path.write_text("winner,loser\n" + "".join(f"{one},{two}\n" for one, two in votes))
        assert main(["rank", str(path), "--report", str(page), "--force"]) == 0
        printed = capsys.readouterr().out
        assert (NO_ORDER in printed.split("rank  ")[0]) == (not told), name
        assert (NO_ORDER.strip() in page.read_text(encoding="utf8")) == (not told), name
        assert (printed.split(FEW)[1].split("\n")[0] if FEW in printed else None) == few, name
    for votes in (["ab", "ac", "ad"], ["ab", "cd"]):
        path.write_text("winner,loser\n" + "".join(f"{one},{two}\n" for one, two in votes))
        assert main(["rank", str(path)]) == 1
        assert "or every item won always or lost always, which tells no order" in capsys.readouterr().err
    path.write_text("1st,2nd,3rd\na,b,c\n")
    assert main(["rank", str(path), "--places", "1st", "2nd", "3rd"]) == 0
    assert NO_ORDER in capsys.readouterr().out


def test_two_columns_of_users_are_a_user_and_a_prompt(tmp_path, capsys):
    rows = [f"{'ab'[k % 2]},{'ba'[k % 2]},p{k % 6},u{k // 6}\n" for k in range(60)]
    path = tmp_path / "votes.csv"
    path.write_text("winner,loser,prompt,voter\n" + "".join(rows))
    assert main(["rank", str(path), "--user", "voter", "--user", "prompt"]) == 0
    printed = capsys.readouterr().out
    assert "10 users, 6 prompts\n" in printed
    assert "taking users and prompts as independent of each other (they count as 10 and 6 equally busy" in printed
    assert main(["rank", str(path), "--user", "voter"]) == 0
    assert "--user prompt beside --user voter allows for that" in capsys.readouterr().out


def test_orders_of_several_items_are_ranked(tmp_path, capsys):
    rng, path, out, page = np.random.default_rng(0), *(tmp_path / name for name in ("o.csv", "out.csv", "page.html"))
    places = np.argsort(-(np.array([1.0, 0.5, 0.0, -0.5]) + rng.gumbel(size=(40, 4))), axis=1)
    frame = pd.DataFrame(np.array(list("abcd"))[places], columns=["1st", "2nd", "3rd", "4th"])
    frame.assign(who=np.arange(40) % 8).to_csv(path, index=False)
    asked = ["rank", str(path), "--places", "1st", "2nd", "3rd", "4th", "--user", "who"]
    assert main([*asked, "-o", str(out), "--report", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "4 items, 40 orders, of 4 to 4 items, 8 users\n" in printed
    found = rank_orders(read_orders(path, ["1st", "2nd", "3rd", "4th"], user="who"), random_state=0)
    pd.testing.assert_frame_equal(pd.read_csv(out), found.table().round(6), check_dtype=False)
    assert "40 orders" in page.read_text(encoding="utf8")
    frame.assign(n=2.5).to_csv(path, index=False)
    assert main(["rank", str(path), "--places", "1st", "2nd", "--weight", "n"]) == 0
    assert "4 items, 100 orders, of 2 to 2 items\n" in capsys.readouterr().out
    assert main([*asked, "--home"]) == 1
    assert "--home: of pairs of items only, not of --places" in capsys.readouterr().err
    assert main(["rank", str(path), "--places", "1st", "--others", "2nd", "3rd"]) == 0
    assert "40 orders, of 3 to 3 items\n" in capsys.readouterr().out


def test_a_season_with_home_side_elo_and_a_part_by_itself(tmp_path, capsys):
    rng, rows = np.random.default_rng(0), ["home,away,hg,ag"]
    for one in range(5):
        for two in range(5):
            if one != two:
                goals = rng.poisson([1.8 - 0.2 * one, 1.2 - 0.2 * two], (6, 2))
                rows += [f"team{one},team{two},{a},{b}" for a, b in goals]
    path, out = tmp_path / "season.csv", tmp_path / "out.csv"
    path.write_text("\n".join([*rows, "other,else,1,0"]))
    assert main(["rank", str(path), "--home", "--elo", "team2=1500", "-o", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "columns taken unasked: home, away, hg, ag\n" in printed
    assert "else, other; ranked are the 5 items of that part" in printed.split("rank  ")[0]
    assert "team2  1500 (1500 to 1500)" in printed
    assert "\nhome: 0." in printed
    table = pd.read_csv(out).set_index("item")
    assert table.loc["team0", "elo"] > table.loc["team2", "elo"] == 1500 > table.loc["team4", "elo"]
    assert main(["rank", str(path), "--home", "--baselines", "-o", str(out), "--force"]) == 0
    told = capsys.readouterr().out.split("each fold with its own prior: ")[1].split("\n")[0]
    assert [part.rsplit(" ", 1)[0] for part in told.split(", ")] == [
        *("rank", "Elo", "average win rate", "PageRank", "trivial guess")
    ]
    assert pd.read_csv(out).columns.tolist()[-3:] == ["elo", "average_win_rate", "pagerank"]
    assert main(["rank", str(path), "--home", "--chance", "team0", "team4", "--given", "home=1", "--next", "2"]) == 0
    printed = capsys.readouterr().out
    assert "chance that team0 beats team4, if one does: 0." in printed and ", of a tie 0." in printed
    assert printed.split("compare next: ")[1].count(" and ") == 2
    for wrong, said in ((["--given", "home=1"], "name its two items by --chance"), (["--next", "-1"], "n_pairs")):
        assert main(["rank", str(path), *wrong]) == 1
        assert said in capsys.readouterr().err
    assert main(["rank", str(path), "--all-parts"]) == 1
    assert "2 parts that no comparison links" in capsys.readouterr().err
    assert main(["rank", str(path), "--elo", "high"]) == 1
    assert "--elo high: give ITEM=NUMBER" in capsys.readouterr().err


def test_by_adds_a_board_for_every_category(tmp_path, capsys):
    rows = [f"{a},{b},{'A' if (lang == 'en') == (a < b) else 'B'},{lang}" for a in "abc" for b in "abc" if a != b
            for lang in ("en", "de", "")] * 4  # fmt: skip
    (tmp_path / "votes.csv").write_text("model_a,model_b,winner,language\n" + "\n".join(rows) + "\n")
    out = tmp_path / "boards.csv"
    assert main(["rank", str(tmp_path / "votes.csv"), "--by", "language", "--elo", "a=1500", "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "  en: 3 items, 24 comparisons; may be the best: a\n" in said
    assert "24 comparisons have no language, and are in no board" in said
    table = pd.read_csv(out)
    assert table.groupby("board", sort=False).size().to_dict() == {"(all)": 3, "en": 3, "de": 3}
    assert table[table["rank"] == 1].set_index("board").loc[["en", "de"], "item"].tolist() == ["a", "c"]
    assert (table[table["item"] == "a"]["elo"] == 1500).all()
    beside = ["--baselines", "-o", str(out), "--force"]
    assert main(["rank", str(tmp_path / "votes.csv"), "--by", "language", *beside]) == 0
    scores = pd.read_csv(out).groupby("board", sort=False)["average_win_rate"].count()
    assert scores.to_dict() == {"(all)": 3, "en": 0, "de": 0}
    text = (tmp_path / "votes.csv").read_text().replace(",de", ",(all)")
    (tmp_path / "votes.csv").write_text(text)
    assert main(["rank", str(tmp_path / "votes.csv"), "--by", "language"]) == 1
    assert "(all) is the board of all comparisons: call that category otherwise" in capsys.readouterr().err
