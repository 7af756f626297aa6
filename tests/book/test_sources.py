"""What the pages are made from: complete against the library, the registry and the fidelity table."""

import json
import re
from pathlib import Path

import nbformat
import pytest

import cofactor
from cofactor.data.registry import entries
from docs import api, build, docstrings, notebooks, tables
from evaluation.fidelity import fidelity

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


# ---- API reference ----


@pytest.fixture(scope="module")
def pages():
    return api.pages()


def test_every_public_name_has_a_page_or_a_description(pages):
    text = pages["index"]
    for package, module in api.packages().items():
        assert f".. automodule:: {package}\n" in text
        for name, thing in api.names(module).items():
            home = api.homes_of_things()[thing] if api.is_documented(thing) else ""
            link = f":py:obj:`{name} <{home}>`" if home != f"{package}.{name}" else f"\n   {name}\n"
            assert (link if home else f".. py:data:: {name}\n   :module: {package}\n") in text, name


def test_a_table_of_methods_names_them_all(pages):
    assert all(f"``{name}``" in pages["index"] for name in cofactor.crowd.METHODS)


# ---- docstrings ----


def test_fields_stay_for_napoleon_and_other_sections_become_rubrics():
    lines = ["Find.", "", "Parameters", "----------", "x_ : (M, N) array", "    Points *here*."]
    lines += ["", "Source", "------", "A *paper*.", "", "Returns", "-------", "A number."]
    new = [line for line in docstrings.converted(lines) if line]
    assert new[1:5] == ["Parameters", "----------", "x_ : (M, N) array", r"    Points \*here\*."]
    assert new[5:] == [".. rubric:: Source", r"A \*paper\*.", ".. rubric:: Returns", "A number."]


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
    text, table = tables.fidelity_page(), fidelity()
    assert text.count("\n| ") == len(table) + table["line"].nunique()  # and a head per section
    assert all(tables.cell(words) in text for words in table["equation"])


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
        assert all(map(folded, shown))  # measurements of a machine are not stored
        assert all(cell.metadata["mystnb"]["code_prompt_show"] == "Show the result" for cell in shown)


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


@pytest.mark.slow
def test_every_notebook_has_a_card_with_its_minutes_level_and_objectives():
    text = build.pages()[Path("index.md")]
    assert build.CARDS not in text and text.count(":::{container} notebook") == len(NOTEBOOKS)
    for path in NOTEBOOKS:
        first = nbformat.read(path, as_version=4).cells[0].source
        mine = notebooks.card(path)
        assert mine in text and re.search(r"^# (.*)", first)[1] in mine and f"](notebooks/{path.name})" in mine
        assert re.search(r"\d+ minutes[^*]*", first)[0] in mine and "Paper" not in mine
        cells = nbformat.read(path, as_version=4).cells
        objectives = next(cell.source for cell in cells if "Objectives" in cell.source)
        said = [line for line in objectives.splitlines() if re.match(r"\d\. ", line)]
        assert len(said) >= 3 and [line for line in mine.splitlines() if re.match(r"\d\. ", line)] == said


def test_answers_are_parted_from_their_html():
    assert notebooks.opened("<details><summary>A</summary> $x$.</details>") == (
        "<details><summary>A</summary>\n\n$x$.\n\n</details>\n\n"
    )
