"""The page of claims: every claim and every verdict, with its numbers, counted, linked from the first page."""

import re
from pathlib import Path

import pytest

from docs import claims
from docs.tables import LINES, cell
from evaluation import EXPERIMENTS
from evaluation.claims import VERDICTS
from evaluation.claims.estimates import Estimate, exact
from evaluation.claims.quantities import Quantity, Rows, kept, mean, share
from evaluation.trials import KEPT

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def judged():
    return {line: claims.claims(line) for line in LINES}


@pytest.fixture(scope="module")
def page():
    return claims.claims_page()


def test_every_claim_is_told_with_its_verdict_and_a_place_to_link_to(judged, page):
    for line, found in judged.items():
        for each in found:
            target = claims.target(line, each.claim)
            assert page.count(f"({target})=") == 1 and f"](#{target}) |" in page
            told = page.partition(f"({target})=")[2].partition(")=\n")[0]
            assert f"*{each.verdict}*" in told and cell(each.claim.place) in told
            texts = (each.claim.says, each.claim.measured, each.claim.untestable, each.claim.note)
            assert all(cell(text) in told for text in (*texts, *each.claim.assumes, *each.claim.defects))


def test_every_number_of_a_rule_is_told(judged, page):
    for each in (each for found in judged.values() for each in found):
        for rule in each.rules:
            assert all(cell(claims.written(rule.quantity, case.number)) in page for case in rule.quantity.cases)
            assert cell(claims.asked(rule)) in page


def test_the_summary_counts_claims_and_theorems(judged, page):
    rows = {row.split("|")[1].strip(): row.split("|")[2:-1] for row in page.splitlines() if row.startswith("| ")}
    for line, title in LINES.items():
        found = [each for each in judged[line] if not each.claim.is_theorem]
        counts = [sum(each.verdict == verdict for each in found) for verdict in VERDICTS]
        assert [int(text or 0) for text in map(str.strip, rows[f"{title}: claims"])] == [len(found), *counts]
    assert int(rows["together"][0]) == sum(map(len, judged.values()))


def test_links_lead_to_sections_and_notebooks_that_exist(page):
    for line, name in re.findall(r"\]\(results/(\w+)\.md#([\w-]+)\)", page):
        assert name in EXPERIMENTS and line in LINES and (KEPT / f"{name}.csv").exists()
    for name in re.findall(r"\]\(\.\./notebooks/([\w.]+)\)", page):
        assert (ROOT / "notebooks" / name).exists()


def test_the_page_is_the_first_evidence_and_the_commands_lead_to_it():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf8")
    assert re.search(r":caption: Evidence\n:maxdepth: 1\n\ndocs/claims\n", index)
    assert "python -m evaluation.claims" in (ROOT / "docs" / "commands.md").read_text(encoding="utf8")


VALUE = Quantity(Rows(), "Value", [])
DIFFERENCE = Quantity(Rows(), "Difference", [], is_difference=True)


@pytest.mark.parametrize(
    ("quantity", "number", "text"),
    [
        (VALUE, exact(12.34), "12.3"),
        (DIFFERENCE, Estimate(-1.5, -2, -1), "-1.5 (-2 to -1)"),
        (DIFFERENCE, Estimate(1.5, 1, 2), "+1.5 (+1 to +2)"),
        (VALUE, Estimate(1234.5, 1000, 1500), "1,234 (1,000 to 1,500)"),
        (VALUE, Estimate(0.5, float("-inf"), float("inf")), "0.5 (no interval)"),
        (VALUE, exact(float("nan")), "no value"),
    ],
)
def test_numbers_are_written_with_their_interval(quantity, number, text):
    assert claims.written(quantity, number) == text


def test_it_is_told_what_a_rule_asks():
    error, steps = kept("crowd-table2", "error"), kept("crowd-figure2", "t=5", "t=10")
    ours, vote = error["RobSymNMF (paper protocol)"], error["MajorityVote"]
    there = error.within("crowd-table1")
    elsewhere = mean((ours - vote) - (there["RobSymNMF (paper protocol)"] - there["MajorityVote"]))
    told = {
        "Difference above 0": ours - vote > 0,
        "Difference less that elsewhere, mean over settings, above 0": elsewhere > 0,
        "Ratio, geometric mean over steps, below 1": steps["no shift"] / steps["zero below the shift"] < 1,
        "Share of trials with 30 or more at least 0.02": share(ours, 30) >= 0.02,
        "Value at least 0.5 of the printed one": (ours >= 0.5).of_the_printed(),
    }
    assert {text: claims.asked(rule) for text, rule in told.items()} == {text: text for text in told}


def test_of_several_cases_it_is_told_how_many_hold():
    error = kept("crowd-table4", "error")
    rule = (error["MajorityVote"] - error["KOS"] < 0).need(1)
    assert claims.in_short(rule) == "1 of 2 hold, 1 needed, in print 1 of 2"
