"""Delimited text: the separator is the one of the header and of the data lines; titles and data are no header."""

import warnings

import pytest

import cofactor as cf
from cofactor import CofactorError, CrowdLabels, DataWarning
from cofactor.reading.tables import read_frame
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
        f"Survey of 2024,,\n{rows}": r"row 2 \(task, worker, label\) looks like .*: if 'Survey of 2024' is a title",
        f"# of X\n# 3 May\n{rows}": r"if '# of X' \(row 1\) and '# 3 May' \(row 2\) are titles, remove their lines$",
        f"{rows}t2,b,x,oops\nt3,b,x,oops\n": r"header \(3\) in rows 5 .* in quotes$",
        f"sep=,\n{rows}t2,b,x,oops\n": r"header \(3\) in row 6 .* in quotes$",
        f"{rows}t2,b,x,oops\n": r"more cells than in the header \(3\) in row 5 .* in quotes$",
    }
    for text, said in cases.items():
        (tmp_path / "labels.csv").write_text(text)
        with pytest.raises(CofactorError, match=said):
            CrowdLabels.from_csv(tmp_path / "labels.csv")


def test_titles_padded_with_empty_cells_and_second_headers_are_refused_by_every_reader(tmp_path):
    rows = "sex;job;vote\nm;sea;yes\nf;farm;no\nf;sea;yes\n"
    two = "if 'Survey' (row 1) and 'exported 3 May' (row 2) are titles, remove their lines"
    cases = {
        f"Survey;;\nexported 3 May;;\n\n{rows}": f"row 4 (sex, job, vote) looks like the header, .*: {two}",
        f"Survey;;\n{rows}": "row 2 .*: if 'Survey' is a title, remove its line",
        f"person;;\n{rows}": "if 'person' is a title, remove its line",
        f";;\n{rows}": "row 2 .*: remove the empty line above it",
        "My corpus;\n\nid;text\n1;one two three\n2;two three four\n": "row 3 (id, text) .*: if 'My corpus' is a title",
        "person;;answer;\na;b;c;d\n1;2;3;4\n": "row 2 .*: if 'person, answer' is a title, remove its line",
    }
    path = tmp_path / "table.csv"
    for text, said in cases.items():
        path.write_text(text)
        pattern = said.replace("(", r"\(").replace(")", r"\)")
        for read in (
            cf.joint,
            cf.rank,
            cf.aggregate,
            lambda source: cf.topics(source, 2),
            lambda source: cf.anchors(source, 2),
        ):
            with pytest.raises(CofactorError, match=pattern), warnings.catch_warnings(action="ignore"):
                read(path)
    for text in (  # an index of pandas, nameless columns, empty columns at the end, names that rows repeat
        f";{rows}".replace("\nm", "\n0;m").replace("\nf", "\n1;f"),
        ";text\n1;one two three\n2;two three four\n",
        "sex;;vote\nm;sea;yes\nf;farm;no\n",
        "sex;job;;;\nm;sea;;;\nf;farm;;;\n",
        "id;;;\na;yes;no;well\nb;yes;yes;no\n",
        "id;;;\na;1;2;3\nb;2;3;4\n",
    ):
        path.write_text(text)
        assert len(read_frame(path, None)) in (2, 3), text


def test_a_first_line_of_data_is_noted_and_no_row_like_it_is_dropped(tmp_path):
    path = tmp_path / "table.csv"
    data = {
        "m,office,yes,1498\nf,farm,no,1502\nm,office,yes,1498\nm,office,no,1512\nf,farm,yes,1440\n": 4,
        "1,one two\n2,two three\n3,four five\n4,six seven\n": 3,
        "5,3,1\n4,3,2\n5,2,1\n5,3,2\n": 3,
    }
    for text, n_rows in data.items():
        path.write_text(text)
        with pytest.warns(
            DataWarning, match="the first line .* looks like data, .* names the columns: add a header above"
        ):
            assert len(read_frame(path, None)) == n_rows
    path.write_text("yes,yes,1\nno,yes,2\nyes,no,1\n")
    with pytest.raises(
        CofactorError, match=r"\(yes, yes, 1\) looks like data, .* more than one column yes: add a header"
    ):
        read_frame(path, None)
    ordinary = {
        "header repeated": "sex,vote\nm,yes\nf,no\nsex,vote\nm,no\n",
        "years": "country,2019,2020\na,2019,2020\nb,3,2020\nc,2019,4\n",
        "questions by number": "3,1,2\n3,1,2\n3,2,2\n1,1,3\n",
        "options as their own answers": "id,Apple,Pear\n1,Apple,\n2,,Pear\n3,Apple,Pear\n",
        "one answer like its question": "sex,yes\nm,yes\nf,no\n",
        "numbers that do not count on": "1,2\n3,4\n2,2\n5,1\n",
        "pandas without names": "0,1,2\na,b,c\na,c,1\nb,b,2\n",
    }
    for name, text in ordinary.items():
        path.write_text(text)
        with warnings.catch_warnings(record=True, action="always") as found:
            read_frame(path, None)
        assert not any("looks like data" in str(one.message) for one in found), name
        assert any("repeating" in str(one.message) for one in found) == (name == "header repeated")
