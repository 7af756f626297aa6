import re
from html.parser import HTMLParser

import pytest

from cofactor import CofactorError
from evaluation import EXPERIMENTS, report, runner
from evaluation.record import write_record
from tests.evaluation.toy import toy

TOY = toy(metrics={"error": "%"}, published="crowd_table4")


class Page(HTMLParser):
    """Cells of every table row, and every reference to something outside the page."""

    def __init__(self):
        super().__init__()
        self.rows, self.outside, self.classes, self.inside = [], [], [], False

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.inside |= tag == "tr"
        if tag == "tr":
            self.rows.append([])
            self.classes.append(named.get("class"))
        address = named.get("src") or named.get("href") or ""
        if address and not address.startswith(("#", "data:")):
            self.outside.append(address)

    def handle_endtag(self, tag):
        self.inside &= tag != "tr"

    def handle_data(self, data):
        if self.inside and data.strip():
            self.rows[-1].append(data.strip())


@pytest.fixture
def written(tmp_path):
    outcomes = runner.run(TOY, tmp_path, trials=3)
    write_record(tmp_path, TOY, outcomes, began=0.0, jobs=1)
    names = report.write_report(tmp_path / "report.html", tmp_path, {"toy": TOY, "none": EXPERIMENTS["crowd-figure2"]})
    return names, (tmp_path / "report.html").read_text(encoding="utf8")


def parse(text):
    page = Page()
    page.feed(text)
    return page


def test_only_experiments_with_results_are_there(written):
    names, text = written
    assert names == ["toy"]
    assert 'id="toy"' in text and EXPERIMENTS["crowd-figure2"].title not in text


def test_the_page_needs_no_other_file(written):
    page = parse(written[1])
    assert page.outside == []
    assert "<script" not in written[1] and "@import" not in written[1]
    assert len(re.findall(r'src="data:image/png;base64,', written[1])) == 1


def test_tables_show_ours_with_a_reason_where_there_is_none(written):
    rows = parse(written[1]).rows
    assert any(row[0] == "Sum" and "±" in row[1] for row in rows if row)
    number = next(int(row[-1].strip("()")) for row in rows if row and row[0] == "Never")
    assert re.findall("<li>(.*?)</li>", written[1])[number - 1] == "not for this data"


def test_verdicts_are_coloured(tmp_path, monkeypatch):
    from evaluation import summary
    from tests.evaluation.test_summary import FACTS

    monkeypatch.setattr(summary, "published", lambda name: FACTS)
    runner.run(TOY, tmp_path, trials=3)
    report.write_report(tmp_path / "report.html", tmp_path, {"toy": TOY})
    page = parse((tmp_path / "report.html").read_text())
    colours = {row[0]: colour for row, colour in zip(page.rows, page.classes, strict=True) if row and colour}
    assert colours == {"Sum": "better", "Largest": "better", "Elsewhere": "none"}


def test_results_of_other_code_are_marked(tmp_path, monkeypatch):
    runner.run(TOY, tmp_path, trials=1)
    monkeypatch.setattr(report, "code_of", lambda experiment, setting: "newer")
    report.write_report(tmp_path / "report.html", tmp_path, {"toy": TOY})
    assert "made by other code" in (tmp_path / "report.html").read_text()


def test_the_page_says_when_where_and_of_which_commit_results_were_made(written):
    from evaluation import machine

    sentence = re.search(r"5 trials[^.]*\.\s+(Run 20\d\d-.*?)</p>", written[1], re.S).group(1)
    assert machine.cpu_model() in sentence and f"commit {machine.where()['commit']}" in sentence
    assert "of computing" in sentence


def test_differences_on_the_same_data_are_folded_below_the_tables(written):
    folded = (
        written[1].partition("<details><summary>Differences on the same data</summary>")[2].partition("</details>")[0]
    )
    rows = [row for row in parse(folded).rows if row]
    assert rows[0] == ["data", "other method", "difference", "trials"]
    assert [(row[:2], row[3]) for row in rows[1:]] == [(["small set", "Largest"], "3"), (["large set", "Largest"], "3")]
    assert all(" to " in row[2] for row in rows[1:]) and "Sum less each other method" in folded


def test_without_results_it_says_how_to_get_some(tmp_path):
    with pytest.raises(CofactorError, match=r"no results in .* run 'cofactor reproduce"):
        report.write_report(tmp_path / "report.html", tmp_path, {"toy": TOY})
    assert not (tmp_path / "report.html").exists()


def test_names_no_machine_and_no_path(written, tmp_path):
    import platform
    from pathlib import Path

    text = re.sub(r"data:image/png;base64,[^\"]*", "", written[1])
    assert not re.search(rf"\b{re.escape(platform.node())}\b", text)
    assert str(Path.home()) not in text and str(tmp_path) not in text
