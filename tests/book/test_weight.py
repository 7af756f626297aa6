"""Styles and icons of the book: what no page can use goes, all else stays as it was."""

import pytest
import tinycss2
from fontTools.ttLib import TTFont

from docs import weight

STYLE = """
/*! a licence */ /* a note */
@charset "UTF-8";
:root { --size: 1px }
a:hover, .used > b, .gone .used { color: red }
.used:not(.gone) { color: blue }
.gone { color: green }
@media print { .gone { top: 0 } .used.also { left: 0 } }
@media screen { .gone { top: 0 } }
@font-face { font-family: "Icons"; src: url(icons.woff2) }
@keyframes turn { from { top: 0 } to { top: 1px } }
"""


@pytest.fixture(scope="module")
def style():
    return weight.used(STYLE, {"used", "also"})


@pytest.mark.parametrize("part", ["/*! a licence */", ":root{--size: 1px}", "a:hover,.used > b{color: red}"])
def test_what_can_apply_stays(style, part):
    assert part in style


@pytest.mark.parametrize("part", ["a note", ".gone{", ".gone .used", "screen"])
def test_what_can_not_apply_goes(style, part):
    assert part not in style


def test_a_class_that_must_be_absent_needs_no_word(style):
    assert ".used:not(.gone){color: blue}" in style


def test_groups_are_looked_into_and_definitions_stay(style):
    assert "@media print{.used.also{left: 0}}" in style
    assert "@font-face" in style and "from { top: 0 }" in style and style.count("@charset") == 1


def test_what_is_left_is_a_style_sheet(style):
    assert not [rule for rule in tinycss2.parse_stylesheet(style) if rule.type == "error"]
    assert weight.used(style, {"used", "also"}) == style


def test_a_folder_is_made_lighter_by_the_words_of_its_pages_and_scripts(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "page.html").write_text('<p class="used">', encoding="utf8")
    (tmp_path / "_static" / "moves.js").write_text('add("also", `tip-${side}`)', encoding="utf8")
    (tmp_path / "_static" / "style.css").write_text(STYLE + ".tip-left { top: 0 }", encoding="utf8")
    weight.lighten(tmp_path)
    left = weight.used(STYLE, {"used", "also"}) + ".tip-left{top: 0}"
    assert (tmp_path / "_static" / "style.css").read_text(encoding="utf8") == left


@pytest.mark.slow
@pytest.mark.timeout(1200)  # waits for the build
def test_icons_that_styles_name_are_in_the_fonts_and_few_others(site):
    styles = "".join(path.read_text(encoding="utf8") for path in (site / "_static").rglob("*.css"))
    wanted = set(map(ord, weight.ICON.findall(styles)))
    fonts = [TTFont(path).getBestCmap() for path in (site / "_static").rglob("*.woff2")]
    held = {code for letters in fonts for code in letters}
    assert len(wanted) > 10 and wanted <= held and len(held) < len(wanted) + 120
