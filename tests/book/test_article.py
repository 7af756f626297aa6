"""The article: every number comes from the kept results and holds its sentence; page and PDF are whole."""

import re
from pathlib import Path

import pandas as pd
import pytest
from jinja2 import UndefinedError

from cofactor.core.errors import CofactorError
from docs.article import build, figures, quoted
from evaluation import EXPERIMENTS
from evaluation.verdicts import VERDICTS

HERE = Path(quoted.__file__).parent
TEXT = (HERE / "article.md").read_text(encoding="utf8")
# digits that the text may have otherwise: sizes of data and protocol
SIZES = """
95 %; 30 of the 39; probability 0.01; chance of 0.3; 15 variables; 200 sweeps; 1,000 tasks; 1,000 rows; 50 rows and
40 anchors; 50 draws; 50 random choices; 20 clusterings; MovieLens 20M; 4,000 points; 12 dB; 10 dB; 8 dB; 10 anchors
among 2,000 points; 500 iterations; 200 users and 300 items; 2,000 users and 3,000 items; rank 3; rank 6; 300
epochs; 100,000 comparisons; 50,000 comparisons; 100 rows; 70 anchors in 80 dimensions; 70 % of the co-occurrences;
with 30 %.; 20 runs; 30 rounds; 50 passes; 70,000 comparisons; with 60,000; with 50,000
"""
PLAIN = " ".join(SIZES.split()).split("; ")
TAG = re.compile(r"\{\{\s*(.*?)\s*\}\}", re.S)
SET = re.compile(r"\{% set (\w+) = (.*?) %\}")
WITHIN = re.compile(r"\| within\((\S+), (\S+?)(?:, \"[^\"]+\")?\)")
YEAR = re.compile(r"\b(19|20)\d\d\b")
NUMBERED = r"\b(Tables?|Figures?|Theorem|Proposition|Algorithm)"
PLACE = re.compile(NUMBERED + r" [\dIV.]+[a-z]?(?:(?:,? (?:and|to) | ?, )[\dIV]+[a-z]?)*")
WITHOUT = re.compile(
    r"\{\{.*?\}\}|\{%.*?%\}|`[^`]*`|\]\([^)]*\)|\$[^$]*\$"
)  # numbers quoted, code, addresses, formulas


# ---- numbers ----


def test_every_number_that_is_quoted_has_a_range():
    ranged = {name for name, value in SET.findall(TEXT) if WITHIN.search(" ".join(value.split()))}
    flat = [" ".join(found.split()) for found in TAG.findall(TEXT)]
    assert len(flat) > 200 and not [found for found in flat if found not in ranged and not WITHIN.search(found)]


def test_what_is_named_is_used():
    names = [name for name, _ in SET.findall(TEXT)]
    assert len(set(names)) == len(names) and all(len(re.findall(rf"\b{name}\b", TEXT)) > 1 for name in names)


def test_every_number_is_there_and_within_its_range():
    filled = quoted.filled(TEXT)
    assert not re.search(r"\{[{%]|[%}]\}|⟦", filled) and "nan" not in filled.split()


def test_a_number_out_of_its_range_is_an_error_that_tells_number_and_sentence():
    wrong = TEXT.replace("within(48.7, 48.8,", "within(10, 20,")
    with pytest.raises(CofactorError, match=r"'This gives ⟦48\.75, not 10 to 20⟧ %; the largest") as told:
        quoted.filled(wrong)
    assert "On TREC" not in str(told.value)  # a sentence after it


def test_a_number_that_is_not_there_is_an_error():
    with pytest.raises(CofactorError, match=r"'No such method'.*of which 0 rows were kept"):
        quoted.filled('{{ cells("crowd-table5", "rte", "error")["No such method"] | within(0, 1) }}')
    with pytest.raises(UndefinedError, match="'rte' is undefined"):
        quoted.filled("{{ rte | within(0, 1) }}")


def test_a_number_without_a_value_is_an_error(monkeypatch):
    row = {"setting": "s", "method": "m", "metric": "e", "ours": float("nan")}
    monkeypatch.setattr(quoted, "kept", lambda _: pd.DataFrame([row]))
    with pytest.raises(CofactorError, match="⟦nan, not 0 to 1⟧"):
        quoted.filled('{{ cells("t", "s", "e")["m"] | within(0, 1) }}')


def test_ranges_are_ranges_and_printed_numbers_are_exact():
    for expression in [*TAG.findall(TEXT), *(value for _, value in SET.findall(TEXT))]:
        for low, high in WITHIN.findall(" ".join(expression.split())):
            assert -1e9 < float(low) <= float(high) < 1e9, expression
            assert low == high or ".printed" not in expression, expression


def test_signs_and_powers_are_written_as_people_write_them():
    assert quoted.written(-0.5, ".2f") == "−0.50"
    assert quoted.written(3.2e-5, ".0e") == "3·10⁻⁵"


def test_numbers_are_divided_and_multiplied(monkeypatch):
    rows = [{"setting": "s", "method": name, "metric": "m", "ours": ours} for name, ours in (("a", 2), ("b", 40))]
    monkeypatch.setattr(quoted, "kept", lambda _: pd.DataFrame(rows).assign(trials=7))
    tag = '{% set of = cells("e", "s", "m") %}{{ (of["a"] / of["b"] * 100) | within(4.9, 5.1) }}'
    assert quoted.filled(tag) == "5"
    assert quoted.filled('{{ cells("e", "s", "m")["a"].trials | within(1, 9) }}') == "7"


def other_digits(text):
    """Digits that are neither quoted numbers, code, formulas, years, places in papers nor on the list."""
    text = PLACE.sub("", YEAR.sub("", WITHOUT.sub("", " ".join(text.split()))))
    for allowed in PLAIN:
        text = text.replace(allowed, "")
    names = re.sub(r"\b[A-Z]+\w*\d\w*", "", re.sub(r"\(\d\) ", "", text))  # TDT2; (1) of a list
    return re.findall(r"\S*\d\S*", names)


def test_no_number_is_typed_by_hand():
    assert not other_digits(TEXT)


def test_the_rule_sees_a_number_typed_by_hand():
    assert other_digits("RTE errs on 48.75 %, see Table 5 of 2021.") == ["48.75"]
    assert not other_digits("RTE errs on {{rte-singular}} %, see Tables 4, 5 and 6, Figure 2a and $x^2$.")


def test_every_number_on_the_list_of_others_is_used():
    flat = " ".join(TEXT.split())
    assert not [text for text in PLAIN if text not in flat]


# ---- counts ----


def test_printed_cells_are_counted_once_by_line_and_verdict():
    cells = quoted.printed_cells()
    assert sum(len(quoted.chosen(verdict=verdict)) for verdict in VERDICTS) == len(cells)
    assert not cells.duplicated(["table", "setting", "method", "metric"]).any()
    assert all(not EXPERIMENTS[name].source.startswith("Beyond ") for name in cells["table"])
    worse = [len(quoted.chosen(verdict="worse", remark=remark)) for remark in ("cause", "chance", "none")]
    assert sum(worse) == len(quoted.chosen(verdict=["worse"]))


def test_a_reason_that_says_unknown_is_none_and_chance_stands_apart():
    notes = ["a; cause unknown", "", quoted.CHANCE, "no settings are published for it"]
    assert [quoted.remark(note) for note in notes] == ["none", "none", "chance", "cause"]


def test_the_papers_own_methods_are_told_from_those_they_compare_with():
    own = set(quoted.chosen(proposed=True)["method"])
    assert {"RobSymNMF-EM", "SymNMF(no imputation)", "CNMF-SPA-EM", "CNMF-OPT", "MERIT(0)"} <= own
    assert not own & {"CNMF", "MV-EM", "CTD", "RAND-EM", "SPA", "SPOC", "truth"}


def test_differences_are_taken_on_the_same_data(monkeypatch):
    trials = pd.DataFrame({"setting": "s", "trial": [0, 1, 2, 1, 2, 3], "method": list("aaabbb"), "metric": "m"})
    monkeypatch.setattr(quoted, "raw_trials", lambda _: trials.assign(value=[9.0, 2, 5, 1, 2, 9]))
    cells = quoted.Cells("e", "s", "m")
    lead = cells["a"] - cells["b"]  # trials 1 and 2 are shared: differences of 1 and 3
    assert float(lead) == pytest.approx(2) and lead.above == 2
    assert lead.half == pytest.approx(12.706204736)  # Student's, one degree of freedom
    assert cells["a"].median == 5 and cells["b"].below(cells["a"]) == 1 and cells["a"].between(2, 5) == 2


def test_differences_over_settings_are_of_means(monkeypatch):
    means = {"setting": ["s", "t"] * 2, "method": list("aabb"), "metric": "m", "ours": [1.0, 2, 3, 2]}
    monkeypatch.setattr(quoted, "kept", lambda _: pd.DataFrame(means))
    cells = quoted.Cells("e", "", "m")
    lead = cells["b"] - cells["a"]
    assert float(lead) == pytest.approx(1) and lead.above == 1  # equal ones are not above
    assert float(cells["b"]) == 2.5


# ---- page and PDF ----


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    for module in ("typst", "pypandoc"):
        pytest.importorskip(module)
    folder = tmp_path_factory.mktemp("article")
    build.write(folder)
    return folder


def test_the_pdf_has_six_to_ten_pages_and_the_same_bytes_each_time(folder):
    pdf = (folder / build.PDF).read_bytes()
    assert pdf.startswith(b"%PDF") and pdf == build.compiled(folder)
    assert 6 <= build.pages(folder) <= 10


def test_pictures_are_drawn_as_lines_and_all_are_shown(folder):
    names = {match[1] for match in build.PICTURE.findall(TEXT)}
    assert names == {path.name for path in folder.glob("*.svg")} and len(names) == 5
    for name in names:
        svg = (folder / name).read_text(encoding="utf8")
        assert "<path" in svg and "<image" not in svg and "<dc:date" not in svg
        assert name in build.typst_source() and f"```{{figure}} {name}" in build.page()


def test_nothing_of_the_article_comes_from_the_network(folder):
    source = build.typst_source()
    assert "@preview" not in source and "#import" not in source
    assert not re.search(r"image\([^)]*https?:", source)


def test_authors_and_papers_are_those_of_the_citation_file():
    citation = build.citation()
    for entry in citation["references"]:
        assert entry["title"] in build.page()
    assert citation["authors"][0]["name"] in build.page() and f"({build.PDF})" in build.page()


def test_the_page_has_the_text_of_the_pdf_and_its_links_lead_somewhere():
    links = re.findall(r"\]\((\.\./[\w/]+)\.md\)", TEXT)
    made = {"../fidelity", "../results/index", "../claims", "../errata"}
    assert links and set(links) <= made


def test_curves_are_ordered_by_the_number_in_the_setting():
    values = pd.Series([2.0, 1.0], index=["m=100,000", "m=30,000"])
    assert list(figures.by_number(values).index) == [30_000, 100_000]
    named = pd.Series([2.0, 1.0], index=["dog", "bluebird"])
    assert list(figures.by_number(named).index) == ["dog", "bluebird"]


def test_bars_are_students_interval_of_the_mean():
    rows = pd.DataFrame({"se": [0.5, 0.0, 2.0], "trials": [4, 10, 1]}, index=["a", "b", "c"])
    assert figures.half_interval(rows).tolist() == pytest.approx([0.5 * 3.182446, 0.0, 2.0 * 12.706205])


def test_every_drawn_mean_has_its_interval_and_shares_end_at_all():
    released = figures.separable().axes[0]
    ends = [segment[:, 1] for bars in released.collections for segment in bars.get_segments()]
    assert len(ends) == sum(len(line.get_xdata()) for line in released.lines if line.get_linestyle() != "None")
    assert min(map(min, ends)) == 0 and max(map(max, ends)) == 100
