"""Delimited text: the separator is the one of the header and of the data lines; a title is no header."""

import pytest

from cofactor import CofactorError, CrowdLabels
from cofactor.reading.text import separator_of


def test_data_lines_choose_the_separator_where_the_header_allows_several():
    cases = {
        "decimal commas below commas": ("size, cm;weight, kg;kind\n150,0;50,0;m\n151,5;52,0;f\n", ";"),
        "more commas than semicolons in the header": ("a, b;c, d;e, f\n1,5;2,0;3\n1;2;3\n", ";"),
        "a semicolon in a name": ("a;b,c,d\n1,2,3\n4,5,6\n", ","),
        "a semicolon in a cell": ("a;b,c,d\n1;9,2,3\n4,5,6\n7,8,9\n", ","),
        "quotes": ('a;b,c\n"x;y",2\n"x;z",3\n', ","),
        "one bad line": ("a;b,c,d\n1,2,3\n4,5\n4,5,6\n7,8,9\n", ","),
        "a cut last line": ("a|b,c\n1,5|2\n1,5", "|"),
        "a return that ends lines": ("a, b;c\r1;2\r3;4\r", ";"),
        "no line": ("a;b,c,d\n", ","),
        "one column": ("text\nfirst, second; third\nfourth, fifth\n", ","),
    }
    for name, (text, sep) in cases.items():
        assert separator_of(text, []) == sep, name
    assert separator_of("a;b|label\n1;2\n3;4\n", ["label"]) == "|"  # wanted columns come first


def test_a_title_above_the_header_is_told_as_one(tmp_path):
    rows = "task,worker,label\nt1,a,x\nt1,b,y\nt2,a,x\n"
    cases = {
        f"Survey of 2024\n{rows}": r"more cells than in the header \(1\) .*; if 'Survey of 2024' is a title",
        f"Survey of 1 May, 2024\n{rows}": "if 'Survey of 1 May, 2024' is a title, remove its line$",
        f"Survey of 2024,,\n{rows}": "Survey of 2024, Unnamed: 1, .*: if 'Survey of 2024' is a title, remove its line$",
        f"{rows}t2,b,x,oops\n": r"more cells than in the header \(3\) in row 5 .* in quotes$",
    }
    for text, said in cases.items():
        (tmp_path / "labels.csv").write_text(text)
        with pytest.raises(CofactorError, match=said):
            CrowdLabels.from_csv(tmp_path / "labels.csv")
