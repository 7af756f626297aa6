"""The pages are those of the kept results, every printed cell counts once, and claims are judged by their cases."""

import re

import nbformat
import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

import cofactor as cf
from cofactor.data.published import published
from evaluation import EXPERIMENTS, claims, pages, real_data
from evaluation.claims import Case, Rule, judged
from evaluation.methods import METHODS
from evaluation.summary import UNKNOWN
from evaluation.verdicts import VERDICTS

REASON = re.compile(
    r"\d+ (GB|bytes|words|hours|s\b)|Error|public, not downloaded here|not published|depend on|has rank below"
)  # a size, an error


@pytest.mark.slow
@pytest.mark.parametrize("name", ["results.md", "real_data.md"])
def test_a_page_is_what_the_kept_results_give(name):
    text = (pages.DOCS / name).read_text(encoding="utf8")
    assert text == pages.written(text, pages.PAGES[name]), "python -m evaluation pages"


def test_four_pages_have_few_words():
    names = ("results", "real_data", "errata", "reviewer")
    texts = {name: (pages.DOCS / f"{name}.md").read_text("utf8") for name in names}
    words = {name: len(re.findall(r"\S*\w\S*", text)) for name, text in texts.items()}  # bars of tables are none
    assert sum(words.values()) <= 9_000, words


@pytest.mark.slow
def test_every_printed_cell_counts_once_with_its_number_and_a_verdict():
    cells = pages.printed_cells()
    assert len(cells) == 947 and not cells.duplicated(["printed in", "setting", "method", "metric"]).any()
    assert set(cells["verdict"]) == set(VERDICTS)
    for name, mine in cells.groupby("table"):
        experiment = EXPERIMENTS[name]
        facts = published(experiment.published).set_index(["setting", "method", "metric"])["value"]
        for row in mine.itertuples():
            printed = facts[row.setting, row.method, experiment.printed_as.get(row.metric, row.metric)]
            assert row.published == pytest.approx(printed)
    known = cells[cells["verdict"].isin(["same", "differs", "open"])]
    reach = known["high"].sub(known["low"]).div(2)
    assert (known.loc[known["verdict"] == "same", "difference"].abs() >= 0).all() and reach.gt(0).all()
    differ = known[known["verdict"] == "differs"]
    assert (np.sign(differ["low"]) == np.sign(differ["high"])).all()  # the whole interval on one side


@pytest.mark.slow
def test_what_differs_or_has_no_value_has_a_reason():
    for row in pages.printed_cells().itertuples():
        if row.verdict == "no value":
            assert REASON.search(row.note), (row.table, row.setting, row.method, row.note)
        if row.verdict in ("differs", "not comparable"):
            assert row.note and (row.note != UNKNOWN or row.direction == "better"), (row.table, row.setting, row.method)
        assert not re.search(r"\b\w+Error: ", row.note)  # refusals are words; these are bugs


@pytest.mark.slow
def test_baselines_are_counted_apart_from_the_papers_own_methods():
    own = set(pages.printed_cells().query("proposed")["method"])
    assert {"RobSymNMF-EM", "SymNMF(no imputation)", "CNMF-SPA-EM", "CNMF-OPT", "MERIT(0)"} <= own
    assert not own & {"CNMF", "MV-EM", "CTD", "RAND-EM", "SPA", "SPOC", "truth"}
    rows = [line.strip("| ").split(" | ") for line in pages.counts()[2:]]
    assert sum(int(row[-1]) for row in rows if row[0] == "all") == 947
    assert all(sum(map(int, row[2:-1])) == int(row[-1]) for row in rows)


# ---- claims ----


def test_a_case_holds_where_its_whole_interval_is_within():
    exact, wide, ratio = Case(1.0, 0.0, 1), Case(1.0, 0.5, 9), Case(2.0, 0.1, 9, of_logs=True)
    half = student.ppf(0.975, 9)
    assert wide.ends == pytest.approx((1 - half / 2, 1 + half / 2))
    assert ratio.ends == pytest.approx((2 * np.exp(-half / 10), 2 * np.exp(half / 10)))
    verdicts = {
        "supported": [Rule([exact, ratio], low=0.5)],
        "open": [Rule([exact, wide], low=0.5)],
        "not supported": [Rule([exact, wide], low=1.0)],  # equal is not above
    }
    assert [judged(rules)["verdict"] for rules in verdicts.values()] == list(verdicts)
    counted = {"verdict": "supported", "hold": "1", "fail": "1", "open": "1", "range": "1…2"}
    assert judged([Rule([exact, wide, ratio], high=1.5, need=1)]) == counted
    assert judged([Rule([exact], high=2), Rule([exact], low=2)])["verdict"] == "not supported"


def test_methods_are_compared_trial_by_trial(monkeypatch):
    one, other = pd.Series([2.0, 4.0, 9.0]), pd.Series([1.0, 2.0], index=[1, 2])
    monkeypatch.setattr(claims, "EXPERIMENTS", {"e": EXPERIMENTS["crowd-table6"], "f": EXPERIMENTS["crowd-table6"]})
    a, b = {("e", "s", "A"): one}, {("e", "s", "B"): other}
    (apart,) = claims.less(a, b)
    assert apart.value == 5 and apart.error == pytest.approx(np.std([3, 7], ddof=1) / np.sqrt(2)) and apart.freedom == 1
    assert claims.over(a, b)[0].value == pytest.approx(5 / 1.5)
    assert not claims.less(a, {("f", "s", "B"): other})  # other data
    assert claims.mean([Case(1.0, 0.3, 9), Case(3.0, 0.4, 5)]) == [Case(2.0, 0.25, 5)]
    power = {("e", f"N={n}", "A"): pd.Series([n**-0.5, n**-0.5]) for n in (10, 100, 1000)}
    assert claims.slope(power)[0].value == pytest.approx(-0.5)


@pytest.mark.slow
def test_every_claim_has_a_rule_and_every_paper_eight_or_more():
    table = claims.claims()
    assert set(table["name"]) == set(claims.RULES) and not table["name"].duplicated().any()
    assert table.groupby("paper").size().between(8, 10).all()
    assert set(table["verdict"]) == {"supported", "not supported", "open"}
    assert (table[["place", "says", "criterion"]] != "").all().all()


# ---- real data ----


def test_what_draws_at_random_is_the_mean_of_five_seeds():
    drawn = pd.read_csv(real_data.KEPT / "seeds.csv")
    counts = drawn.groupby(["method", "set"])["seed"].nunique()
    assert (counts == 5).all() and set(drawn["method"]) == {"EBCC"}
    assert set(real_data.FAMILY) - set(drawn["set"]) <= {"fact", "product"}
    (row,) = (line for line in real_data.SECTIONS["crowds"]() if line.startswith("| EBCC |"))
    assert re.search(r"\| \d\d\.\d\d ± 0\.\d\d \|", row)


@pytest.mark.slow
def test_a_method_is_run_again_on_the_sets_where_it_stands(tmp_path):
    kept = pd.read_csv(real_data.KEPT / "crowd.csv").query("set in ['sim_spammers', 'sim_copies']")
    other = kept.assign(accuracy=kept["accuracy"].where(kept["method"] != "MV-EM", 1.0))
    other.to_csv(tmp_path / "crowd.csv", index=False)
    assert real_data.bench_again("MV-EM", tmp_path) == 2 and real_data.bench_again("MV-EM", tmp_path) == 0
    found = pd.read_csv(tmp_path / "crowd.csv")
    assert np.allclose(found["accuracy"], kept["accuracy"], atol=0.3, equal_nan=True)
    assert found["method"].tolist() == kept["method"].tolist()


# ---- names ----

SETS = "|".join(sorted(real_data.FAMILY, key=len, reverse=True))
NAMED = re.compile(rf"([A-Z][\w&=()\- ]*?[\w)]) on (?:{SETS})\b")  # such as "MinimaxEntropy on bluebird"
GONE = re.compile(r"\b(BayesDS|TwoKinds|SharedErrors|CrowdKinds)\b")


@pytest.mark.parametrize("path", sorted((pages.DOCS.parent / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_method_named_in_a_stored_output_is_in_the_registry(path):
    for at, cell in enumerate(nbformat.read(path, as_version=4).cells):
        for output in cell.get("outputs", []):
            texts = [text for kind, text in output.get("data", {}).items() if not kind.startswith("image")]
            text = " ".join(map(str, [*texts, output.get("text", "")]))
            named = {name.split(": ")[-1] for name in NAMED.findall(text)}
            assert named <= set(cf.crowd.METHODS) and not GONE.search(text), (at, named)


def test_every_method_of_the_kept_results_and_the_leaderboard_is_in_a_registry():
    known = {name for line in METHODS.values() for name in line}
    assert {"PG-TAC", "CRIAV"} <= known and set(cf.crowd.METHODS) <= known
    listed = set(real_data.kept().query("source.str.startswith('cofactor')")["method"])
    assert listed <= known, listed - known
