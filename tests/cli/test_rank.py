"""``cofactor rank``: the tables are those of the verb, outputs are whole, notes stand on standard error."""

from __future__ import annotations

import io
import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import cofactor as cf
from cofactor.comparisons import rank
from cofactor.reading.votes import read_votes
from cofactor_app.cli import main
from cofactor_app.plots.results import draw_ranking
from cofactor_app.plots.style import to_png

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


def test_tables_are_those_of_the_verb(arena, tmp_path, capsys):
    paths = [str(tmp_path / name) for name in ("places.parquet", "pairs.csv", "coefficients.tsv")]
    options = [word for pair in zip(("-o", "--probabilities", "--coefficients"), paths, strict=True) for word in pair]
    assert main(["rank", str(arena), *ARENA, *options, "--raw-cells"]) == 0
    found = cf.rank(arena, winner="model_a", loser="model_b", user=["judge"], outcome="chosen", covariates=["length"])
    pd.testing.assert_frame_equal(pd.read_parquet(paths[0]), found.items.round(6), check_dtype=False)
    assert ",".join(found.items) == "item,utility,low,high,rank,rank_low,rank_high,wins,losses,comparisons"
    pd.testing.assert_frame_equal(pd.read_csv(paths[1]), found.probabilities.round(6), check_dtype=False)
    pd.testing.assert_frame_equal(pd.read_csv(paths[2], sep="\t"), found.coefficients, check_dtype=False)
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[:7] == found.screen(f"-o {paths[0]}")
    assert (
        lines[0] == f"4 items, 900 comparisons ({100 * np.mean(found.comparisons.outcome == 0.5):.0f} % ties), 12 users"
    )
    assert lines[7:] == [
        f"wrote {p} ({what})" for p, what in zip(paths, ("4 items", "6 pairs of items", "2 coefficients"), strict=True)
    ]
    assert said.err.splitlines() == [f"{'warning' if n in found.warnings else 'note'}: {n}" for n in found.notes]


def test_quiet_prints_nothing_and_verbose_the_fit(arena, tmp_path, capsys):
    assert main(["rank", str(arena), *ARENA, "-q", "-o", str(tmp_path / "a.csv")]) == 0
    assert capsys.readouterr().out == ""
    assert main(["rank", str(arena), *ARENA, "-v"]) == 0
    printed = capsys.readouterr().out
    assert "90 % intervals, assuming independent users" in printed and "\nlength: 0.00" in printed
    assert "chosen by marginal likelihood" in printed


def test_page_holds_the_ranking_and_escapes_ids(arena, tmp_path):
    page = tmp_path / "page.html"
    assert main(["rank", str(arena), *ARENA, "--report", str(page)]) == 0
    text = page.read_text(encoding="utf8")
    assert "&lt;b&gt;llama&lt;/b&gt;" in text
    assert "<b>llama" not in text
    for row in rank(*read(arena), random_state=0).table().itertuples():
        assert f"{row.rank} ({row.rank_low} to {row.rank_high})" in text
        assert f"{row.utility:.2f} ({row.low:.2f} to {row.high:.2f})" in text
    assert "length" in text.split("<h2>Covariates", 1)[1]


def test_without_covariates_a_page_with_ties_has_no_section_for_them_and_no_zero_in_front(tmp_path):
    rows = [f"{a},{b},{won}" for a, b in combinations("abcd", 2) for won in ("left", "right", "tie")]
    (tmp_path / "votes.csv").write_text("\n".join(["left,right,outcome", *rows]))
    assert main(["rank", str(tmp_path / "votes.csv"), "--report", str(tmp_path / "page.html")]) == 0
    text = (tmp_path / "page.html").read_text(encoding="utf8")
    assert "log of tie parameter" in text and "Covariates" not in text
    assert "only one possible rank" not in text and "<strong>0</strong>" not in text


def test_a_pair_that_is_best_asked_again_is_named_once(tmp_path, capsys):
    rows = ["a,b", "b,a"] + ["c,d", "d,c"] * 200 + ["a,c", "c,a"] * 200
    (tmp_path / "votes.csv").write_text("\n".join(["winner,loser", *rows]))
    for n_asked in (2, 4):
        assert main(["rank", str(tmp_path / "votes.csv"), "--next", str(n_asked)]) == 0
        (line,) = re.findall("most informative comparisons: (.*)", capsys.readouterr().out)
        counts = [int(n or 1) for n in re.findall(r"\w and \w(?: \((\d) times\))?", line)]
        assert sum(counts) == n_asked and max(counts) > 1 and len(set(line.split(", "))) == len(counts)


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


def test_an_error_leaves_no_output_and_speaks_of_options(tmp_path, capsys):
    path, out = tmp_path / "votes.csv", tmp_path / "out.csv"
    path.write_text("model_a,loser\na,b\n")
    assert main(["rank", str(path), "-o", str(out)]) == 1
    assert not out.exists()
    assert "--winner model_a" in capsys.readouterr().err
    path.write_text("winner,loser,tie,outcome\na,b,0,1\n")
    assert main(["rank", str(path)]) == 1
    assert "--tie ''" in capsys.readouterr().err


@pytest.mark.slow
def test_warnings_stand_on_standard_error_and_on_top_of_the_page(tmp_path, capsys):
    path, page = tmp_path / "votes.csv", tmp_path / "page.html"
    path.write_text("winner,loser\na,b\na,c\nb,c\nc,b\n")
    assert main(["rank", str(path), "--report", str(page)]) == 0
    said = "only the prior determines the distance of these items from the others: a; they"
    printed = capsys.readouterr()
    assert f"warning: {said}" in printed.err and "warning: " not in printed.out
    assert "warning: these comparisons do not predict the outcome of further ones (log-loss" in printed.err
    assert said in page.read_text(encoding="utf8").split("<h2>")[0]
    assert main(["rank", str(path), "--strict", "-o", str(tmp_path / "no.csv")]) == 1
    assert (
        "error: --strict: only the prior determines" in capsys.readouterr().err and not (tmp_path / "no.csv").exists()
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:these comparisons do not predict")
def test_picture_names_who_may_be_best_and_fits_many_items():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"winner": [f"$m_{k}^" for k in rng.integers(0, 60, 4000)]})
    frame["loser"] = [f"$m_{k}^" for k in rng.integers(0, 60, 4000)]
    found = rank(read_votes(frame[frame["winner"] != frame["loser"]])[0], random_state=0)
    fig = draw_ranking(found)
    best = int((found.table()["rank_low"] == 1).sum())
    assert f"{best} of 60 items could be the best" in fig.get_suptitle().replace("\n", " ")
    assert len(fig.axes[0].get_yticks()) == 40
    assert Image.open(io.BytesIO(to_png(fig))).size[1] > 600


NO_ORDER, FEW = (
    "no order can be inferred: the rank intervals of all items overlap\n",
    "or fewer are uncertain: ",
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


@pytest.mark.slow
def test_few_comparisons_say_that_no_order_can_be_told(tmp_path, capsys):
    path, page = tmp_path / "votes.csv", tmp_path / "page.html"
    for name, (votes, told, few) in SMALL.items():
        path.write_text("winner,loser\n" + "".join(f"{one},{two}\n" for one, two in votes))
        assert main(["rank", str(path), "--report", str(page), "--force"]) == 0
        printed = capsys.readouterr().err
        assert (NO_ORDER in printed) == (not told), name
        assert (NO_ORDER.strip() in page.read_text(encoding="utf8")) == (not told), name
        assert (printed.split(FEW)[1].split("\n")[0] if FEW in printed else None) == few, name
    for votes in (["ab", "ac", "ad"], ["ab", "cd"]):
        path.write_text("winner,loser\n" + "".join(f"{one},{two}\n" for one, two in votes))
        assert main(["rank", str(path)]) == 1
        assert "or every item always won or always lost, so none can be ranked" in capsys.readouterr().err


def test_two_columns_of_users_are_a_user_and_a_prompt(tmp_path, capsys):
    rows = [f"{'ab'[k % 2]},{'ba'[k % 2]},p{k % 6},u{k // 6}\n" for k in range(60)]
    path = tmp_path / "votes.csv"
    path.write_text("winner,loser,prompt,voter\n" + "".join(rows))
    assert main(["rank", str(path), "--user", "voter", "--user", "prompt", "-v"]) == 0
    printed = capsys.readouterr().out
    assert "10 users, 6 prompts\n" in printed
    assert "assuming independent users and prompts (they count as 10 and 6 equally active" in printed
    assert main(["rank", str(path), "--user", "voter"]) == 0
    assert "to allow for that, set --user prompt in addition to --user voter" in capsys.readouterr().err


def test_a_season_with_home_side_elo_and_a_part_by_itself(tmp_path, capsys):
    rng, rows = np.random.default_rng(0), ["home,away,hg,ag"]
    for one in range(5):
        for two in range(5):
            if one != two:
                goals = rng.poisson([1.8 - 0.2 * one, 1.2 - 0.2 * two], (6, 2))
                rows += [f"team{one},team{two},{a},{b}" for a, b in goals]
    path, out = tmp_path / "season.csv", tmp_path / "out.csv"
    path.write_text("\n".join([*rows, "other,else,1,0", "team0,team1,,"]))
    assert main(["rank", str(path), "--home", "--elo", "team2=1500", "-o", str(out), "-v"]) == 0
    printed = capsys.readouterr()
    assert "note: columns used by default: home, away, hg, ag\n" in printed.err
    assert "note: left out 1 comparison without a result: row 123 (counting the header line)\n" in printed.err
    assert (
        "only the 5 items of the largest component are ranked; no comparisons link these items with it: else, other"
        in printed.err
    )
    assert "team2  1500 (1500 to 1500)" in printed.out and "the sides alone" in printed.out
    assert "\nhome: 0." in printed.out
    table = pd.read_csv(out).set_index("item")
    assert table.loc["team0", "elo"] > table.loc["team2", "elo"] == 1500 > table.loc["team4", "elo"]
    assert main(["rank", str(path), "--home", "--chance", "team0", "team4", "--next", "2"]) == 0
    printed = capsys.readouterr().out
    assert "probability that team0 beats team4, ties aside: 0." in printed and "; probability of a tie: 0." in printed
    assert "most informative comparisons: team" in printed
    for wrong, said in (
        (["--next", "-1"], "error: --next -1: give a whole number of at least 1"),
        (["--next", "0"], "error: --next 0: "),
        (["--elo", "high"], "--elo high: give ITEM=NUMBER"),
        (["--method", "Glicko"], "choose Davidson or BradleyTerry"),
        (["--chance", "team0", "nobody"], "no item nobody: the ranking has"),
    ):
        assert main(["rank", str(path), *wrong]) == 1
        assert said in capsys.readouterr().err
