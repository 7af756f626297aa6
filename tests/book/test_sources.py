"""What the pages are made from: complete against the library, the registry and the fidelity table."""

import json
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

import cofactor
from cofactor.data.published import published
from cofactor.data.registry import entries
from docs import api, build, docstrings, notebooks, results, slides, tables
from evaluation import EXPERIMENTS, raw_trials
from evaluation.fidelity import deviations, fidelity
from evaluation.summary import UNKNOWN, difference, number
from evaluation.verdicts import VERDICTS

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


# ---- API reference ----


@pytest.fixture(scope="module")
def pages():
    return api.pages()


def test_every_room_has_a_page(pages):
    rooms = {f"{path.parents[1].name}.{path.parent.name}" for path in (ROOT / "lib").glob("*/*/__init__.py")}
    assert rooms - set(pages) <= api.PRIVATE
    assert {"index", "cofactor"} < set(pages)


@pytest.mark.parametrize("module", api.packages(), ids=lambda module: module.__name__)
def test_every_public_name_is_in_the_table_of_its_page(module, pages):
    for name in getattr(module, "__all__", []):
        is_page = f"{module.__name__}.{name}" in pages  # a package within
        assert is_page or f":py:obj:`{name} <" in pages[module.__name__], name


def test_every_class_and_function_is_described_once(pages):
    text = "\n".join(pages.values())
    for thing, home in api.homes_of_things().items():
        directive = "autoclass" if api.kind_of(thing) == "class" else "autofunction"
        assert f".. {directive}:: {home}\n" in text + "\n", home


def test_table_of_methods_names_them_all(pages):
    assert all(f"``{name}``" in pages["cofactor.crowd"] for name in cofactor.crowd.METHODS)


# ---- docstrings ----


def test_fields_become_definitions_and_bare_ones_too():
    lines = ["Find.", "", "Parameters", "----------", "X : (M, N) array", "    Points.", "n : int", "", "Text *here*."]
    new = [line for line in docstrings.converted(lines) if line]
    assert new[1:4] == [".. rubric:: Parameters", "**X** : (M, N) array", "    Points."]
    assert new[4:] == ["**n** : int", "    ..", r"Text \*here\*."]


def test_formulas_are_literal_and_examples_stay():
    lines = ["A formula", "    x_ = |y|", "follows.", "", "Examples", "--------", ">>> print(1)", "1"]
    new = docstrings.converted(lines)
    assert new[:6] == ["A formula", "", "::", "", "    x_ = |y|", ""]
    assert new[-3:] == [">>> print(1)", "1", ""]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [("x_ and x_n", r"x\_ and x_n"), ("||r||^2", r"\|\|r\|\|^2"), ("`a_ * b` * c", r"`a_ * b` \* c")],
)
def test_signs_of_mathematics_are_escaped_outside_code(text, escaped):
    assert docstrings.escaped(text) == escaped


def test_members_written_by_scikit_learn_are_left_out():
    assert docstrings.skip_member(None, "class", "set_fit_request", print, False, None) is True
    assert docstrings.skip_member(None, "class", "fit", print, False, None) is None


# ---- tables ----


def test_fidelity_page_has_every_row():
    text, table, undone = tables.fidelity_page(), fidelity(), deviations()
    assert text.count("\n| ") == len(table) + table["line"].nunique() + len(undone) + 1  # and a head per section
    assert all(tables.cell(words) in text for words in [*table["equation"], *undone["deviation"], *undone["undone"]])


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_was_kept_beside_the_numbers_published_today(name):
    table, experiment = results.kept(name), EXPERIMENTS[name]
    facts = published(experiment.published).set_index(["setting", "method", "metric"])["value"]
    assert set(table["setting"]) <= set(experiment.settings)
    assert (results.KEPT / f"{name}.png").stat().st_size < 200_000
    assert not table["note"].str.contains(r"\b\w+Error: ").any()  # refusals are words; these are bugs
    for row in table[table["published"].notna()].to_dict("records"):
        metric = experiment.printed_as.get(row["metric"], row["metric"])
        method = row["method"].split(" (")[0]
        assert row["published"] == pytest.approx(facts[row["setting"], method, metric], rel=1e-4)


def test_results_say_every_number_and_every_reason():
    texts = results.pages()
    for name in EXPERIMENTS:
        text, table = texts[f"docs/results/{name.removeprefix('practice-').split('-')[0]}.md"], results.kept(name)
        assert f"({name})=" in text and f"{{image}} {name}.png" in text
        assert all(tables.cell(reason) in text for reason in set(table["note"]))
        for row in table[table["trials"] > 0].head(3).to_dict("records"):
            assert f"| {tables.cell(row['method'])} |" in text
            assert number(row["ours"], row["se"], row["digits"], row["trials"]) in text
        assert f".md#{name})" in texts["docs/results/index.md"]


def test_printed_numbers_that_are_not_met_are_counted_and_told_why():
    kept = {name: results.kept(name) for name in EXPERIMENTS if (results.KEPT / f"{name}.csv").exists()}
    cells, text = results.printed_cells(kept), results.unmet(kept)
    for name, mine in cells.groupby("table"):
        (row,) = (line for line in text.splitlines() if line.startswith("| ") and f"#{name})" in line)
        counts = [int(count or 0) for count in row.strip("|").replace(" ", "").split("|")[-7:]]
        assert counts[0] == len(mine) == sum(counts[1:]), name
    told = re.findall(r"^## (.+): (\d+) printed cells$", text, re.M)
    assert [verdict.lower() for verdict, _ in told] == list(VERDICTS)
    for verdict, count in told:
        mine, below = cells[cells["verdict"] == verdict.lower()], text.partition(f"## {verdict}: ")[2].split("\n## ")[0]
        assert int(count) == len(mine)
        assert below.count("\n| ") - below.count("\n| data |") == (verdict != "Reproduced") * len(mine)
        assert all(tables.cell(reason) in below for reason in set(mine["note"]) - {""})


def test_every_printed_cell_that_is_not_met_has_a_row_below_its_reason():
    cells = results.kept("crowd-table4").query("method == 'TensorADMM' and setting == 'dog'")
    (row,) = cells.to_dict("records")
    text = "\n".join(results.by_reason(cells.assign(table="crowd-table4", note="luck [1]")))
    assert re.search(r"\), 1: luck \\\[1\\\]\.\n", text)
    data = EXPERIMENTS["crowd-table4"].settings["dog"]
    ours = number(row["ours"], row["se"], row["digits"], row["trials"])
    assert f"| {data} | TensorADMM | error (%) | {ours} |" in text
    assert f" | {number(row['published'], digits=row['digits'])} | {difference(row['difference'])}" in text


def test_the_table_by_age_tells_commit_and_versions():
    told = results.by_age(["crowd-table4", "pmf-table1"])
    for name in ("crowd-table4", "pmf-table1"):
        (row,) = (line for line in told if f"#{name})" in line)
        made = results.facts(name)
        assert all(f" {made[what]} |" in row for what in ("commit", "python", "numpy", "scipy", "numba", "blas"))
    dates = [line.split("|")[2].strip() for line in told if ".md#" in line]
    assert dates == sorted(dates) and len(dates) == 2


def test_differences_on_the_same_data_are_those_of_the_kept_trials():
    experiment = EXPERIMENTS["separable-table1"]
    trials = raw_trials(experiment.name).query("setting == 'K=50' and metric == 'success'")
    wide = trials.pivot(index="trial", columns="method", values="value")
    text = "\n".join(results.differences(experiment))
    assert text.count("<details>") == 1 and "::::{container} results" in text
    mean = difference((wide["MERIT"] - wide["SPA"]).mean())
    assert f"| SPA | {experiment.settings['K=50']} | {mean}" in text


def test_numbers_of_the_text_stand_beside_ours_with_their_place():
    kept = {name: results.kept(name) for name in EXPERIMENTS}
    text, stated = results.stated(kept), [e for e in EXPERIMENTS.values() if re.search("_(text|figure)", e.published)]
    assert {e.line for e in stated} == {"crowd", "separable", "comparisons"}
    for experiment in stated:
        facts, told = published(experiment.published), results.beside_the_text(experiment, kept[experiment.name])
        assert results.link(experiment.name) in text
        assert all(tables.cell(place) in text for place in facts["note"])
        assert set(told["place"]) == set(facts["note"]) and len(told) >= len(facts)
        assert set(told["verdict"]) <= set(VERDICTS)


REASON = re.compile(
    r"\d+ (GB|bytes|words|hours|s\b)|Error|public, not downloaded here|not published|depend on|has rank below"
)  # a size, an error


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_printed_number_without_one_of_ours_has_a_reason_that_is_one(name):
    table = results.kept(name)
    without = table[table["published"].notna() & (table["trials"] == 0)]
    assert (without["verdict"] == "no value").all()
    for row in without.to_dict("records"):
        assert REASON.search(row["note"]), (row["setting"], row["method"], row["note"])


def test_data_page_tells_licence_citation_and_size_of_every_set():
    text = tables.data_page()
    for name, entry in entries().items():
        assert f"[{name}](cards/{name}.md)" in text or f"`{name}`" in text
        assert tables.cell(entry.licence) in text and tables.cell(entry.citation) in text
    assert all(f"cards/{card.stem}\n" in text for card in tables.cards())


def test_a_cell_of_a_table_holds_no_markup():
    assert tables.cell("a|b\n[c] <d> $e$") == r"a\|b \[c\] \<d\> \$e\$"


# ---- notebooks ----


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def staged(request):
    return nbformat.reads(notebooks.staged(request.param), as_version=4), json.loads(request.param.read_text("utf8"))


def test_outputs_are_those_stored_without_fingerprints(staged):
    book, stored = staged
    for cell, original in zip(book.cells, stored["cells"], strict=True):
        kept = nbformat.from_dict(json_like(original)).get("outputs")
        for output in kept or ():
            output.get("data", {}).pop("text/x-fingerprint", None)  # the sphinx extension has no place for them
        assert nbformat.from_dict(cell).get("outputs") == kept


def json_like(cell):
    """Join the lines of texts, as a reader of notebooks does."""
    joined = nbformat.reads(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), 4)
    return joined.cells[0]


def test_solutions_are_folded_and_nothing_else(staged):
    book, stored = staged
    for cell, original in zip(book.cells, stored["cells"], strict=True):
        folded = original["metadata"].get("jupyter", {}).get("source_hidden", False)
        assert ("hide-input" in cell.metadata.get("tags", [])) == folded


def folded(cell):
    return "hide-output" in cell.metadata.get("tags", [])


def test_results_below_a_prediction_are_folded_down_to_its_answer(staged):
    cells = staged[0].cells
    for first in (at for at, cell in enumerate(cells) if notebooks.PREDICT in cell.source):
        last = next(at for at in range(first + 1, len(cells)) if notebooks.ANSWER in cells[at].source)
        shown = [cell for cell in cells[first:last] if cell.get("outputs")]
        assert (
            shown and all(map(folded, shown)) and shown[0].metadata["mystnb"]["code_prompt_show"] == "Show the result"
        )


def test_no_other_results_are_folded():
    texts = ["a **Predict.** b", "code", "between", "code", f"<details>{notebooks.ANSWER} b", "code"]
    texts += [f"{notebooks.ANSWER} c **Predict.** d", "code", f"**Predict.** d {notebooks.ANSWER}", "code"]
    asked, found = False, []
    for text in texts:
        asked = asked if text == "code" else notebooks.is_asked(text, asked)
        found += [asked] * (text == "code")
    assert found == [True, True, False, True, False]


def test_every_picture_has_words(staged):
    for cell in staged[0].cells:
        if any("image/png" in output.get("data", {}) for output in cell.get("outputs", [])):
            assert len(cell.metadata["mystnb"]["image"]["alt"]) > 20


def test_panels_have_their_sentence_as_caption(staged):
    for cell in staged[0].cells:
        shown = [output["data"] for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]
        if any(data["text/plain"].startswith(notebooks.PANEL) for data in shown):
            assert cell.metadata["mystnb"]["figure"]["caption"].startswith(notebooks.STILL)


def test_every_notebook_has_a_card_with_its_minutes_level_and_objectives():
    text = build.pages()[Path("index.md")]
    assert build.CARDS not in text and text.count(":::{container} notebook") == len(NOTEBOOKS)
    for path in NOTEBOOKS:
        first = nbformat.read(path, as_version=4).cells[0].source
        mine = notebooks.card(path)
        assert mine in text and re.search(r"^# (.*)", first)[1] in mine and f"](notebooks/{path.name})" in mine
        assert re.search(r"\d+ minutes[^*]*", first)[0] in mine and "Paper" not in mine
        said = [line for line in first.splitlines() if re.match(r"\d\. ", line)]
        assert len(said) >= 4 and [line for line in mine.splitlines() if re.match(r"\d\. ", line)] == said


def test_answers_are_parted_from_their_html():
    assert notebooks.opened("<details><summary>A</summary> $x$.</details>") == (
        "<details><summary>A</summary>\n\n$x$.\n\n</details>\n\n"
    )


# ---- slides ----


@pytest.mark.parametrize("name", slides.TALKS)
def test_slides_open_at_headings_and_hold_no_solution(name):
    notebook = slides.talk_of(nbformat.read(ROOT / "notebooks" / name, as_version=4))
    kinds = [cell.metadata["slideshow"]["slide_type"] for cell in notebook.cells]
    headings = [cell.source.startswith("#") for cell in notebook.cells]
    assert [kind == "slide" for kind in kinds] == headings and sum(headings) > 10
    assert not any("<details" in cell.source or "solution" in cell.metadata.get("tags", []) for cell in notebook.cells)


def test_a_text_too_long_for_a_slide_is_cut_between_paragraphs():
    text = "\n\n".join(f"{number} " + "word " * 100 for number in range(12))
    pieces = slides.fitting(text)
    assert len(pieces) > 1 and "\n\n".join(pieces).split() == text.split()
    assert all(slides.text_height(piece) <= slides.HIGHEST for piece in pieces)
    assert slides.fitting("short\n\ntext") == ["short\n\ntext"]


def test_a_setting_has_a_table_per_published_metric_and_one_of_all_others():
    table = results.kept("pmf-table1")
    lines = results.block(table[table["setting"] == "S=1e3"])
    beside = "| method | ours | published | difference | verdict |"
    others = "| method | mse | mre | excess loss (nats) |"
    assert [line for line in lines if line.startswith("| method |")] == [beside, beside, others]
    assert [line for line in lines if line.startswith("*")] == ["*mse (published)*", "*mre (published)*"]


def test_what_was_neither_measured_nor_published_takes_no_row():
    table = results.kept("pmf-table1")
    unmeasured = table[table["setting"] == "S=1e6"].assign(ours=np.nan)
    text = "\n".join(results.block(unmeasured))
    assert "| MLE-AD-EM | - | 0.0296 |" in text and "Independence" not in text


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_number_that_is_worse_than_printed_has_its_cause_or_what_was_tried(name):
    table = results.kept(name)
    reason = table["note"].str.split("; no value in").str[0]
    bare = (table["verdict"] == "worse") & reason.isin(["", UNKNOWN])
    assert table.loc[bare, ["setting", "method", "metric"]].empty
