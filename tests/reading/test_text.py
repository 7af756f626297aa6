"""Delimited text: the separator is the one of the header and of the data lines."""

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
