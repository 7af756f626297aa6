"""Hostile cells of text: separators, quotes, encodings, ends of lines, blanks, missing words, look-alikes, numbers."""

# fmt: off

from tests.corpus.case import DATA, HEAD, Case, bad, good, rows, text

YES = '"yes"'
ALIKE = "look alike"
ONE = "differ only in capitals, blanks or invisible characters count as one"
MADE_ONE = ("capitals", "composed", "ligature", "sharp_s", "kelvin", "emoji_style", "final_sigma", "halves_of_a_syllable", "blank_of_hangul", "blank_of_braille", "joiner_of_graphemes", "selector_beyond")  # others look alike and stay different
NO_ANSWER = "look like non-answers"
LONG = [*((t, w, "yes") for t in ("9007199254740993", "9007199254740992", "0.1", "0.10000000000000000001") for w in ("w1", "w2")), ("x", "w1", "no")]
HASHES = [*((t, w, "yes") for t in ("5e93811", "7e20934", "0e46209", "0e83040", "0e12", "0e57") for w in ("w1", "w2")), ("x", "w1", "no")]  # ids of a hash: no numbers


def separators() -> list[Case]:
    """What stands between cells."""
    return [
        good("separators/comma.csv", text()),
        good("separators/tab.tsv", text(sep="\t")),
        good("separators/tab_called_csv.csv", text(sep="\t")),
        good("separators/semicolon.csv", text(sep=";")),
        good("separators/pipe.csv", text(sep="|")),
        good("separators/pipe_with_blanks.csv", text(sep=" | ")),
        good("separators/comma_blank.csv", text(sep=", ")),
        good("separators/semicolon_with_decimal_commas.csv", text(rows(a="1,5", yes="2,5"), ";"), rows("1,5", yes="2,5")),
        good("separators/tab_with_commas_in_cells.tsv", text(rows(a="a,b"), "\t"), rows(a="a,b")),
        good("separators/comma_in_quotes.csv", text(rows(a='"a,b"')), rows(a="a,b")),
        good("separators/semicolon_in_cells.csv", text(rows(yes="y;es")), rows(yes="y;es")),
        good("separators/colon_said.csv", text(sep=":"), sep=":"),
        good("separators/caret_said.csv", text(sep="^"), sep="^"),
        bad("separators/colon_not_said.csv", text(sep=":"), "no column task, worker, label"),
        bad("separators/wrong_one_said.csv", text(sep=";"), "no column", "separated by ';': set sep=';'", sep=","),
        bad("separators/header_with_commas_rows_with_semicolons.csv", HEAD + text(sep=";", head=""), "missing worker"),
        good("separators/two_characters.csv", text(sep="||")),
        bad("separators/section_said.csv", text(sep="\u00a7"), "must be one ASCII character", sep="\u00a7"),
        good("separators/unit_separator_said.csv", text(sep="\x1f"), sep="\x1f"),
    ]


def quotes() -> list[Case]:
    """Quotes and escapes."""
    inch = rows(a='5" disk')
    return [
        good("quotes/all.csv", text([[f'"{c}"' for c in row] for row in DATA], head='"task","worker","label"')),
        good("quotes/header_only.csv", text(head='"task","worker","label"')),
        good("quotes/some.csv", text(rows(yes=YES))),
        good("quotes/doubled.csv", text(rows(yes='"say ""yes"""')), rows(yes='say "yes"')),
        good("quotes/only_doubled.csv", text(rows(yes='""""')), rows(yes='"')),
        good("quotes/line_feed_inside.csv", text(rows(a='"a\nb"')), rows(a="a\nb")),
        good("quotes/return_and_line_feed_inside.csv", text(rows(a='"a\r\nb"'), end="\r\n"), rows(a="a\r\nb")),
        good("quotes/return_inside.csv", text(rows(a='"a\rb"')), rows(a="a\rb")),
        good("quotes/blank_lines_inside.csv", text(rows(a='"a\n\n\nb"')), rows(a="a\n\n\nb")),
        good("quotes/in_the_middle_of_a_cell.csv", text(inch), inch),
        good("quotes/at_the_end_of_a_cell.csv", text(r := rows(yes='3"')), r),
        good("quotes/after_a_blank.csv", text(rows(yes=' "yes"')), rows(yes=YES)),
        good("quotes/single.csv", text(r := rows(yes="'yes'")), r),
        good("quotes/curly.csv", text(r := rows(yes="\u201cyes\u201d")), r),
        good("quotes/backslash.csv", text(r := rows(a="a\\b", yes="\\n")), r, NO_ANSWER),
        good("quotes/backslash_at_the_end.csv", text(r := rows(yes="yes\\")), r),
        good("quotes/blanks_inside_are_around.csv", text(rows(yes='" yes "'))),
        good("quotes/blank_after_the_closing_one.csv", text(rows(yes='"yes" '))),
        bad("quotes/backslash_escapes.csv", text(rows(yes='"say \\"yes\\" now"')), "row 2", "follows a closing quote"),
        bad("quotes/text_after_the_closing_one.csv", text(rows(yes='"y"es')), "row 2", "follows a closing quote"),
        bad("quotes/text_after_the_closing_one_below_quoted_names.csv", text(rows(yes='"y"es'), head='"task","worker","label"'), "row 2", "follows a closing quote"),
        bad("quotes/never_closed.csv", text([('"a', "w1", "yes"), *DATA[1:]]), "row 2", "never closed"),
        bad("quotes/closed_a_row_below.csv", text(rows(a='"a')), "row 2", "follows a closing quote"),
        bad("quotes/never_closed_in_the_last_row.csv", text() + 'c,w1,"yes', "row 6", "never closed"),
        bad("quotes/never_closed_in_the_header.csv", text(head='task,worker,"label'), "never closed"),
        bad("quotes/closed_far_below.csv", text([("a", "w1", '"yes'), *DATA[1:], ("c", "w1", 'n"o')]), "row 2"),
        bad("quotes/nothing_inside.csv", text(rows(yes='""')), "missing label in row 2"),
        bad("quotes/blank_inside.csv", text(rows(w='" "')), "missing worker in rows 2 and 4"),
    ]


def encodings() -> list[Case]:
    """Byte order marks, and encodings that are said or not."""
    cafe = rows(a="caf\u00e9")
    plain, none = text(cafe), ("encoding",)
    return [
        good("encodings/mark.csv", b"\xef\xbb\xbf" + text().encode()),
        good("encodings/mark_before_quotes.csv", "\ufeff" + text(head='"task","worker","label"')),
        good("encodings/mark_blank_line.csv", "\ufeff\n" + text()),
        good("encodings/mark_twice.csv", "\ufeff\ufeff" + text()),
        good("encodings/mark_and_tabs.tsv", "\ufeff" + text(sep="\t")),
        good("encodings/two_files_with_marks.csv", ("\ufeff" + HEAD) * 2 + text(head=""), DATA, "repeating the header"),
        good("encodings/utf8.csv", plain, cafe),
        good("encodings/utf16.csv", plain.encode("utf-16"), cafe, needs=none, encoding="utf-16"),
        good("encodings/utf16_little_no_mark.csv", plain.encode("utf-16-le"), cafe, needs=none, encoding="utf-16-le"),
        good("encodings/utf16_big.csv", b"\xfe\xff" + plain.encode("utf-16-be"), cafe, needs=none, encoding="utf-16"),
        good("encodings/utf32.csv", plain.encode("utf-32"), cafe, needs=none, encoding="utf-32"),
        good("encodings/latin1.csv", plain.encode("latin-1"), cafe, needs=none, encoding="latin-1"),
        good("encodings/cp1252.csv", text(r := rows(yes="5 \u20ac")).encode("cp1252"), r, needs=none, encoding="cp1252"),
        good("encodings/cp1252_dash.csv", text(r := rows(a="a\u2013b")).encode("cp1252"), r, needs=none, encoding="cp1252"),
        good("encodings/shift_jis.csv", text(r := rows(a="\u65e5\u8868")).encode("shift-jis"), r, needs=none, encoding="shift-jis"),
        good("encodings/gb18030.csv", text(r := rows(a="\u4e2d\u6587")).encode("gb18030"), r, needs=none, encoding="gb18030"),
        good("encodings/koi8.csv", text(r := rows(a="\u0434\u0430")).encode("koi8-r"), r, needs=none, encoding="koi8-r"),
        good("encodings/read_twice.csv", text(r := rows(a="caf\u00c3\u00a9")), r),
        bad("encodings/latin1_not_said.csv", plain.encode("latin-1"), "not valid utf-8 text", "byte 21"),
        bad("encodings/cp1252_not_said.csv", text(rows(yes="5 \u20ac")).encode("cp1252"), "not valid utf-8 text"),
        good("encodings/utf16_not_said.csv", plain.encode("utf-16"), cafe),
        bad("encodings/utf16_no_mark_not_said.csv", text().encode("utf-16-le"), "so it is not text", "byte 1 is zero"),
        good("encodings/utf32_not_said.csv", plain.encode("utf-32"), cafe),
        bad("encodings/cut_character_at_the_end.csv", text().encode() + b"c,w1,n\xc3", "not valid utf-8 text", "byte 57"),
        bad("encodings/overlong.csv", text(rows(a="@@")).encode().replace(b"@@", b"\xc0\xaf"), "not valid utf-8 text"),
        bad("encodings/halves_of_a_character.csv", text(rows(a="@@")).encode().replace(b"@@", b"\xed\xa0\xbd\xed\xb8\x80"), "not valid utf-8 text"),
        bad("encodings/unknown.csv", text(), "unknown encoding", "utf-99", needs=none, encoding="utf-99"),
        bad("encodings/utf16_said_of_utf8.csv", text(), "not valid utf-16 text", needs=none, encoding="utf-16"),
    ]


def ends() -> list[Case]:
    """Ends of lines, and what looks like one."""
    first, second = text(DATA[:2]), text(DATA[2:], head="")
    return [
        good("ends/return_and_line_feed.csv", text(end="\r\n")),
        good("ends/return_alone.csv", text(end="\r")),
        good("ends/both_kinds.csv", first + second.replace("\n", "\r\n")),
        good("ends/return_alone_below_line_feeds.csv", first + second.replace("\n", "\r"), DATA, "a carriage return alone, not a line feed, ends row 4 (counting"),
        good("ends/return_alone_above_line_feeds.csv", first.replace("\n", "\r") + second, DATA, "rows 1, 2 and 3 (counting"),
        good("ends/return_alone_between_rows.csv", first[:-1] + "\r\r" + second, DATA, "row 3 (counting"),
        good("ends/return_alone_and_quotes.csv", text(rows(a='"a\rb"')) + 'c,w1,"no"\rc,w2,no\n', [*rows(a="a\rb"), ("c", "w1", "no"), ("c", "w2", "no")], "row 6 (counting"),
        bad("ends/return_alone_in_a_cell.csv", text(rows(a="a\rb")), "missing worker in rows 2 and 4", notes=("rows 2 and 4 (counting",)),
        bad("ends/return_alone_in_the_last_cell.csv", text(rows(yes="y\res")), "missing worker in row 3", notes=("row 2 (counting",)),
        good("ends/none_at_the_end.csv", text()[:-1]),
        good("ends/none_at_the_end_after_returns.csv", text(end="\r")[:-1]),
        good("ends/many_at_the_end.csv", text() + "\n" * 20),
        good("ends/blank_lines_above.csv", "\n\r\n\n" + text()),
        good("ends/blank_lines_between.csv", first + "\n\r\n\n" + second),
        good("ends/rows_of_commas_between.csv", first + ",,\n,,\n" + second),
        bad("ends/lines_of_blanks_between.csv", first + "  \n\t\n" + second, "missing task in rows 4 and 5"),
        good("ends/return_return_line_feed.csv", text(end="\r\r\n")),
        good("ends/line_separator_in_a_cell.csv", text(r := rows(a="a\u2028b")), r),
        good("ends/paragraph_separator_in_a_cell.csv", text(r := rows(a="a\u2029b")), r),
        good("ends/next_line_in_a_cell.csv", text(r := rows(a="a\x85b")), r),
        good("ends/vertical_tab_in_a_cell.csv", text(r := rows(a="a\x0bb")), r),
        good("ends/form_feed_in_a_cell.csv", text(r := rows(a="a\x0cb")), r),
        good("ends/record_separator_in_a_cell.csv", text(r := rows(a="a\x1eb")), r),
        good("ends/written_out.csv", text(r := rows(a="a\\nb")), r),
        bad("ends/control_z.csv", text() + "\x1a", "missing worker in row 6"),
    ]


def blanks() -> list[Case]:
    """Blanks of all widths, and characters of none."""
    around = {"blanks": "  ", "tabs": "\t", "no_break": "\xa0", "ideographic": "\u3000", "thin": "\u2009",
              "narrow_no_break": "\u202f", "em": "\u2003", "vertical_tab": "\x0b", "next_line": "\x85"}
    inside = {"zero_width": "\u200b", "joiner": "\u2060", "mark": "\ufeff", "soft_hyphen": "\xad", "right_to_left": "\u200f"}
    found = [good(f"blanks/{name}_around.csv", text([[f"{one}{c}{one}" for c in row] for row in DATA])) for name, one in around.items()]
    for name, one in inside.items():
        odd = [*DATA, ("c", f"w1{one}", "yes"), ("c", "w2", f"{one}no")]
        one_class = [*odd[:-1], ("c", "w2", "no")]
        found.append(good(f"blanks/{name}_inside.csv", text(odd), one_class, f"workers that {ALIKE}", f"classes that {ONE}"))
    two = [*DATA, ("c", "w1", "not  ok"), ("c", "w2", "not ok"), ("d", "w1", "not\xa0ok")]
    return [
        *found,
        good("blanks/two_within.csv", text(two), two, f"classes that {ALIKE}"),
        good("blanks/around_names.csv", text(head=" task ,\tworker,label\xa0")),
        good("blanks/two_tasks_by_blanks.csv", text([*DATA, ("a ", "w3", "yes")]), [*DATA, ("a", "w3", "yes")]),
        bad("blanks/zero_width_in_a_name.csv", text(head="ta\u200bsk,worker,label"), "no column task", r"ta\u200bsk"),
        bad("blanks/no_break_alone.csv", text(rows(yes="\xa0")), "missing label in row 2"),
        bad("blanks/tab_alone.csv", text(rows(a="\t")), "missing task in rows 2 and 3"),
        bad("blanks/zero_width_alone.csv", text(rows(yes="\u200b")), "missing label in row 2"),
    ]


def missing() -> list[Case]:
    """Words that say that there is nothing."""
    found = []
    for word in ("", "NA", "N/A", "nan", "NaN", "null", "NULL", "None", " NA "):
        name = word.replace("/", "_of_").strip() or "empty"
        folder = "with_blanks_" * (word != word.strip()) + "capitals_" * (word.isupper() or word == "NaN")
        found.append(bad(f"missing/{folder}{name}.csv", text(rows(yes=word)), "missing label in row 2"))
    noted = {"question_mark": "?", "dash": "-", "hash_na": "#N/A", "unknown": "Unknown", "minus_999": "-999",
             "dont_know": "don't  know", "skipped": "skipped", "ref": "#REF!", "pandas": "<NA>", "n_a": "n/a",
             "capitals_of_nan": "NAN", "small_na": "na", "capital_null": "Null", "points": "n.a.", "em_dash": "\u2014", "ellipsis": "\u2026",
             "marks": "??", "blank_in_words": "(blank)", "backslash_n": "\\N", "oracle": "<NULL>", "time": "NaT", "not_a_number": "1.#QNAN",
             "full_width": "\uff2e\uff21", "zero_width": "N\u200bA", "apostrophe": "Don\u2019t know", "no_response": "No response",
             "minus_99": "-99", "minus_999_with_decimals": "-999.0", "german_spreadsheet": "#NV"}
    for name, word in noted.items():
        found.append(good(f"missing/noted_{name}.csv", text(r := rows(yes=word)), r, f"{NO_ANSWER} count as classes: {word!r} (1)"))
    more = [*DATA, ("c", "w1", "Unsure"), ("c", "w2", "no")]
    return [
        *found,
        good("missing/minus_beside_plus.csv", text(r := rows(yes="-", no="+")), r),
        good("missing/dash_beside_plus.csv", text(r := rows(yes="\u2013", no="+")), r),
        good("missing/counted.csv", text(r := [*rows(yes="?"), ("c", "w1", "?")]), r, "classes: '?' (2); to leave"),
        good("missing/all_are_numbers.csv", text(r := rows(yes="-999", no="1")), r, "classes: '-999' (1); to leave"),
        good("missing/none_is_a_class.csv", text(r := rows(yes="none")), r),
        good("missing/zero_is_a_class.csv", text(r := rows(yes="0", no="1")), r),
        good("missing/na_is_a_task.csv", text(r := rows(a="NA")), r),
        good("missing/null_is_a_worker.csv", text(r := rows(w="null")), r),
        good("missing/left_out.csv", text(more), [*DATA, ("c", "w2", "no")], needs=("ignore",), ignore=["unsure"]),
        bad("missing/quoted.csv", text(rows(yes='"NA"')), "missing label in row 2"),
        bad("missing/all.csv", text([(t, w, "") for t, w, _ in DATA]), "missing label in rows 2, 3, 4 and 5"),
        bad("missing/task.csv", text(rows(a="")), "missing task in rows 2 and 3"),
        bad("missing/worker.csv", text(rows(w="")), "missing worker in rows 2 and 4"),
        bad("missing/all_left_out.csv", text(), "no labels", needs=("ignore",), ignore=["yes", "no"]),
    ]


def look_alikes() -> list[Case]:
    """Names that look like another one."""
    pairs = {
        "capitals": ("Yes", "yes"), "cyrillic": ("p\u0430id", "paid"), "greek": ("\u03bf", "o"),
        "full_width": ("\uff59\uff45\uff53", "yes"), "composed": ("caf\u00e9", "cafe\u0301"), "ligature": ("\ufb01sh", "fish"),
        "sharp_s": ("stra\u00dfe", "STRASSE"), "truth": ("True", "1"), "false": ("FALSE", "0"), "decimals": ("1.0", "1"),
        "zeros": ("01", "1"), "power": ("1e3", "1000"), "plus": ("+1", "1"), "minus_zero": ("-0", "0"), "superscript": ("x\u00b2", "x2"),
        "roman": ("\u2163", "IV"), "half_width": ("\uff76", "\u30ab"), "kelvin": ("\u212a", "k"), "emoji_style": ("\u2764\ufe0f", "\u2764"),
        "final_sigma": ("\u03bf\u03c2", "\u03bf\u03c3"), "halves_of_a_syllable": ("\u1112\u1161\u11ab", "\ud55c"),
        "capital_of_mathematics": ("\U0001d400", "a"), "cyrillic_capital": ("\u041d", "h"), "greek_capital": ("\u039a", "k"),
        "minus_sign": ("\u22121", "-1"), "dash_for_minus": ("\u20131", "-1"), "hyphens": ("a\u2011b", "a-b"), "two_dashes": ("a-b", "a\u2013b"),
        "apostrophe": ("don\u2019t", "don't"), "accent_for_apostrophe": ("don\u00b4t", "don't"), "digits_of_arabic": ("\u0667", "7.0"),
        "fraction_of_zeros": (".50", "0.5"), "underscores": ("1_000", "1000"), "blank_of_hangul": ("a\u3164", "a"),
        "blank_of_braille": ("a\u2800", "a"), "joiner_of_graphemes": ("a\u034fb", "ab"), "selector_beyond": ("a\U000e0100", "a"),
    }
    found = []
    for name, (one, other) in pairs.items():
        odd = [("a", "w1", one), ("a", "w2", other), ("b", "w1", "no way"), ("b", "w2", one)]
        if name in MADE_ONE:
            found.append(good(f"look_alikes/{name}.csv", text(odd), [(a, w, one if k == other else k) for a, w, k in odd], f"classes that {ONE}"))
            found.append(good(f"look_alikes/{name}_kept.csv", text(odd), odd, f"classes that {ALIKE}", needs=("merge",), spelling="keep"))
        else:
            found.append(good(f"look_alikes/{name}.csv", text(odd), odd, f"classes that {ALIKE}"))
    workers, tasks = [*DATA, ("a", "W1", "no")], [*DATA, ("A", "w1", "no"), ("B", "w1", "yes")]
    merged = [*DATA, ("c", "W1", "Yes"), ("c", "w2", "no ")]
    return [
        *found,
        good("look_alikes/workers.csv", text(workers), workers, f"workers that {ALIKE}"),
        good("look_alikes/tasks.csv", text(tasks), tasks, f"tasks that {ALIKE}"),
        good("look_alikes/merged.csv", text(merged), [*rows(yes="Yes"), ("c", "w1", "Yes"), ("c", "w2", "no")], f"workers that {ONE}", f"classes that {ONE}", needs=("merge",), spelling="all"),
        good("look_alikes/l_and_i.csv", text(r := rows(yes="l", no="I")), r),
        good("look_alikes/dotless_i.csv", text(r := rows(yes="\u0131", no="i")), r),
        good("look_alikes/long_numbers.csv", text(r := LONG), r),
        good("look_alikes/long_numbers_merged.csv", text(r := LONG), r, needs=("merge",), spelling="all"),
        good("look_alikes/hashes.csv", text(r := HASHES), r),
        good("look_alikes/hashes_merged.csv", text(r := HASHES), r, needs=("merge",), spelling="all"),
        bad("look_alikes/invisible_and_blanks.csv", text(rows(yes="\u200b \u200b")), "missing label in row 2"),
        bad("look_alikes/blank_of_hangul_alone.csv", text(rows(a="\u3164")), "missing task in rows 2 and 3"),
    ]


def numbers() -> list[Case]:
    """Forms of numbers; ids stay as they are written."""
    forms = {"whole": "7", "zeros": "007", "decimals": "7.0", "power": "1e3", "huge": "1" + "0" * 30, "eighteen_digits": "9" * 18,
             "nineteen_digits": "9223372036854775808", "minus": "-7", "plus": "+7", "hexadecimal": "0x1F", "underscores": "1_000",
             "point_first": ".5", "point_last": "5.", "infinity": "inf", "arabic": "\u0663", "full_width": "\uff17", "percent": "50%",
             "date": "2024-01-01", "date_of_a_spreadsheet": "Mar-03", "time": "12:30", "money": "$5", "fraction": "1/2", "version": "1.2.3",
             "bits": "1010", "minus_sign": "\u22127", "float": "0.30000000000000004", "truth": "TRUE"}
    found = [good(f"numbers/{name}.csv", text(r := rows(a=one, w=one)), r) for name, one in forms.items()]
    whole = [("10", "2", "1"), ("10", "11", "0"), ("9", "2", "0"), ("9", "11", "0")]
    cut = [("1.23457E+15", "w1", "yes"), *DATA]
    return [
        *found,
        good("numbers/all_whole.csv", text(whole), whole),
        good("numbers/seven_three_times.csv", text(r := [("7", "w1", "yes"), ("07", "w1", "no"), ("7.0", "w1", "no")]), r, f"tasks that {ALIKE}"),
        good("numbers/thousands_in_quotes.csv", text(rows(a='"1,000"')), rows(a="1,000")),
        good("numbers/cut_by_a_spreadsheet.csv", text(cut), cut, "a spreadsheet has rounded"),
        good("numbers/decimals_as_labels.csv", text(r := rows(yes="1.5", no="2.0")), r, "are decimal numbers"),
        good("numbers/decimal_commas_as_labels.csv", text(r := rows(yes="1,5", no="2,0"), ";"), r, "are decimal numbers"),
        good("numbers/grades.csv", text(r := rows(yes="10", no="9")), r),
        good("numbers/minus_and_zero.csv", text(r := rows(yes="-1", no="0")), r),
    ]
