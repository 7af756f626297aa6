"""The page of claims: every claim and every verdict, with its numbers, counted, linked from the first page."""

import re
from pathlib import Path

import pytest

from docs import claims
from docs.tables import LINES, cell
from evaluation import EXPERIMENTS
from evaluation.claims import VERDICTS, Rule, rules
from evaluation.claims.estimates import Estimate, exact
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
        for ruling in each.rulings:
            assert all(cell(claims.written(ruling.rule, case.number)) in page for case in ruling.cases)
            assert cell(claims.asked(ruling.rule)) in page


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


@pytest.mark.parametrize(
    ("rule", "number", "text"),
    [
        (Rule(), exact(12.34), "12.3"),
        (Rule(than=["B"]), Estimate(-1.5, -2, -1), "-1.5 (-2 to -1)"),
        (Rule(than=["B"]), Estimate(1.5, 1, 2), "+1.5 (+1 to +2)"),
        (Rule(than=["B"], of="ratio"), Estimate(1234.5, 1000, 1500), "1,234 (1,000 to 1,500)"),
        (Rule(), Estimate(0.5, float("-inf"), float("inf")), "0.5 (no interval)"),
        (Rule(), exact(float("nan")), "no value"),
    ],
)
def test_numbers_are_written_with_their_interval(rule, number, text):
    assert claims.written(rule, number) == text


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (Rule(than=["B"], above=0), "Difference above 0"),
        (
            Rule(than=["B"], against={"experiment": "a"}, pool=True, above=0),
            "Difference less that elsewhere, mean over settings, above 0",
        ),
        (Rule(than=["B"], of="ratio", metrics=["t=1", "t=2"], below=1), "Ratio, geometric mean over steps, below 1"),
        (Rule(of="share", limit=30, at_least=0.02), "Share of trials with 30 or more at least 0.02"),
        (Rule(against={"metric": "a"}, of_printed=True, at_least=0.5), "Difference at least 0.5 of the printed one"),
    ],
)
def test_it_is_told_what_a_rule_asks(rule, text):
    assert claims.asked(rule) == text


def test_of_several_cases_it_is_told_how_many_hold():
    rule = Rule(experiment="crowd-table4", methods=["MajorityVote"], metric="error", than=["KOS"], below=0, need=1)
    assert claims.in_short(rules.ruling(rule)) == "1 of 2 hold, 1 needed, in print 1 of 2"
