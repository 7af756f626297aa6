"""Hostile tables: headers, conflicts, wide tables, few labels, ragged rows, long cells, formulas, scripts, several answers."""

# fmt: off

from itertools import product

from tests.corpus.case import DATA, HEAD, Case, bad, good, rows, text

LAYOUT, WIDE = ("layout",), ("wide",)
TAKEN = "columns: task from"


def headers() -> list[Case]:
    """Names of columns, and lines that are none."""
    body, again = text(head=""), "repeating the header"
    return [
        good("headers/capitals.csv", text(head="TASK,Worker,lABEL")),
        good("headers/full_width.csv", text(head="\uff54\uff41\uff53\uff4b,worker,label")),
        good("headers/other_order.csv", text([(y, t, w) for t, w, y in DATA], head="label,task,worker")),
        good("headers/more_columns.csv", text([("1", t, "x", w, y) for t, w, y in DATA], head="n,task,note,worker,label")),
        good("headers/index_without_a_name.csv", text([("0", *row) for row in DATA], head=",task,worker,label")),
        good("headers/separator_at_the_end.csv", text([(*row, "") for row in DATA], head="task,worker,label,")),
        good("headers/separator_at_the_end_of_the_header.csv", text(head="task,worker,label,")),
        good("headers/other_column_twice.csv", text([("x", *row, "z") for row in DATA], head="note,task,worker,label,note")),
        good("headers/exact_name_wins.csv", text([(*row, "x") for row in DATA], head="task,worker,label,Label")),
        good("headers/named.csv", text(head="item no,who,says"), task="item no", worker="who", label="says"),
        good("headers/named_with_commas.csv", text(head='"a,b",worker,label'), task="a,b"),
        good("headers/named_with_quotes.csv", text(head='"a ""b""",worker,label'), task='a "b"'),
        good("headers/other_words.csv", text(head="item,annotator,answer"), DATA, TAKEN, needs=LAYOUT),
        good("headers/other_words_and_blanks.csv", text(head="Item ID,User-ID,rating"), DATA, TAKEN, needs=LAYOUT),
        good("headers/other_words_rare.csv", text(head="image,expert,grade"), DATA, TAKEN, needs=LAYOUT),
        good("headers/repeated.csv", text() + HEAD + text([("c", "w1", "yes")], head=""), [*DATA, ("c", "w1", "yes")], "repeating the header"),
        good("headers/repeated_other_words.csv", text(head="item,annotator,answer") + "item,annotator,answer\n" + "c,w1,yes\n", [*DATA, ("c", "w1", "yes")], "repeating the header", TAKEN, needs=LAYOUT),
        good("headers/repeated_capitals.csv", text(head="Task,Worker,Label") + "Task,Worker,Label\nc,w1,yes\n", [*DATA, ("c", "w1", "yes")], "repeating the header"),
        good("headers/repeated_quoted_behind_a_mark.csv", text() + '\ufeff"task","worker","label"\n"c","w1","yes"\n', more := [*DATA, ("c", "w1", "yes")], again),
        good("headers/repeated_in_other_words.csv", text() + "Item ID,annotator,answer\nc,w1,yes\n", more, again),
        good("headers/two_rows_of_names.csv", "Task ID,Worker ID,Label\n" + text(), DATA, TAKEN, again, needs=LAYOUT),
        good("headers/usual_names_as_ids.csv", text([*DATA, ("item", "w1", "yes"), ("item", "user", "no")]), [*DATA, ("item", "w1", "yes"), ("item", "user", "no")]),
        bad("headers/repeated_in_another_order.csv", text() + "worker,task,label\nw1,c,yes\n", "a second header (worker, task, label) in row 6 (counting the header line) has the columns in another order"),
        bad("headers/repeated_in_another_order_and_words.csv", text() + "answer,annotator,item\nyes,w1,c\n", "in row 6 (counting the header line) has the columns in another order"),
        good("headers/no_worker.csv", text([(t, y) for t, _, y in DATA], head="task,label"), [("a", "answer 1", "yes"), ("a", "answer 2", "no"), ("b", "answer 3", "no"), ("b", "answer 4", "no")], "no column names the workers", needs=WIDE),
        bad("headers/none.csv", body, "is not a header", "add a header above it"),
        bad("headers/none_and_all_different.csv", text([("a", "u", "x"), ("b", "v", "y")], head=""), "no column task, worker, label"),
        bad("headers/no_label.csv", text([(t, w) for t, w, _ in DATA], head="task,worker"), "no column label"),
        bad("headers/no_task.csv", text(head="thing,worker,label"), "no column task"),
        bad("headers/label_twice.csv", text([(*row, "x") for row in DATA], head="task,worker,label,label"), "more than one column is called label"),
        bad("headers/label_twice_by_blanks.csv", text([(*row, "x") for row in DATA], head="task,worker,label, label"), "more than one column is called label"),
        bad("headers/two_capitals.csv", text([(*row, "x") for row in DATA], head="task,worker,Label,LABEL"), "no column label"),
        bad("headers/title_above.csv", "Export of labels\n" + text(), "more cells than in the header (1)"),
        bad("headers/comment_above.csv", "# made by a tool, version 2\n" + text(), "more cells than in the header (2)"),
        good("headers/separator_hint_above.csv", "sep=;\n" + text(sep=";")),
        bad("headers/named_and_not_there.csv", text(), "no column item", task="item"),
        bad("headers/all_blank.csv", text(head=",,"), "no column task, worker, label"),
    ]


def conflicts() -> list[Case]:
    """One worker, one task, and more than one label."""
    again, other = [*DATA, DATA[0]], [*DATA, ("c", "w1", "yes"), ("a", "w1", "no")]
    timed = [("a", "w1", "yes", "2024-01-02T00:00:00Z"), ("a", "w1", "no", "2024-01-01T00:00:00Z"), *((*row, "2024-01-01T00:00:00Z") for row in [*DATA[1:], ("c", "w1", "yes")])]
    last = [("a", "w1", "no"), *DATA[1:], ("c", "w1", "yes")]
    first = [*DATA, ("c", "w1", "yes")]
    times = "task,worker,label,updated_at"
    return [
        good("conflicts/same_again.csv", text(again), DATA, "given again"),
        good("conflicts/same_many_times.csv", text(DATA + DATA[:1] * 50), DATA, "50 labels were given again"),
        good("conflicts/same_by_blanks.csv", text([*DATA, (" a", "w1 ", "yes ")]), DATA, "given again"),
        good("conflicts/first.csv", text(other), first, "given again", conflicts="first"),
        good("conflicts/last.csv", text(other), last, "given again", conflicts="last"),
        good("conflicts/last_of_three.csv", text([*other, DATA[0]]), first, "given again", conflicts="last"),
        good("conflicts/last_by_time.csv", text(timed, head=times), first, "given again", conflicts="last", needs=("time",)),
        good("conflicts/first_by_time.csv", text(timed, head=times), last, "given again", conflicts="first", needs=("time",)),
        bad("conflicts/other.csv", text(other), "conflicting labels: task 'a' by worker 'w1'"),
        bad("conflicts/numbers.csv", text([("1", "7", "x"), ("1", "7", "y"), ("2", "7", "x")]), "conflicting labels: task 1 by worker 7"),
        bad("conflicts/by_blanks.csv", text([*DATA, ("a ", " w1", "no")]), "conflicting labels: task 'a' by worker 'w1'"),
        good("conflicts/capitals.csv", text([*DATA, ("a", "w1", "Yes")]), rows(yes="Yes"), "differ only in capitals", "one of each was kept"),
        bad("conflicts/capitals_kept.csv", text([*DATA, ("a", "w1", "Yes")]), "conflicting labels", notes=("classes that look alike",), needs=("merge",), spelling="keep"),
        bad("conflicts/forms_of_a_number.csv", text([("a", "w1", "1"), ("a", "w1", "1.0"), ("b", "w1", "0")]), "conflicting labels", notes=("classes that look alike",)),
        good("conflicts/none_by_quotes.csv", text([*DATA, ("a", "w1", '"yes"')]), DATA, "given again"),
    ]


def wide() -> list[Case]:
    """A row a task."""
    three = [("a", "ann", "yes"), ("a", "ben", "no"), ("b", "ann", "no"), ("b", "ben", "no"), ("c", "ann", "yes"), ("c", "ben", "yes")]
    gaps = [row for row in three if row[:2] != ("c", "ben")]
    said = "one column per worker"
    onehot = text([("a", "w1", "1", "0"), ("a", "w2", "0", "1"), ("b", "w1", "0", "1"), ("b", "w2", "0", "1")], head="task,worker,yes,no")
    counts = [("a", "answer 1", "no"), ("a", "answer 2", "yes"), ("a", "answer 3", "yes"), ("b", "answer 4", "no"), ("b", "answer 5", "no"), ("b", "answer 6", "no")]
    return [
        good("wide/workers.csv", "task,ann,ben\na,yes,no\nb,no,no\nc,yes,yes\n", three, said, needs=WIDE),
        good("wide/workers_with_gaps.csv", "task,ann,ben\na,yes,no\nb,no,no\nc,yes,\n", gaps, said, needs=WIDE),
        good("wide/workers_with_words_for_gaps.csv", "task,ann,ben\na,yes,no\nb,no,no\nc,yes,NA\n", gaps, said, needs=WIDE),
        good("wide/numbered_workers.csv", "id,annotator_1,annotator_2\na,yes,no\nb,no,no\n", [("a", "annotator_1", "yes"), ("a", "annotator_2", "no"), ("b", "annotator_1", "no"), ("b", "annotator_2", "no")], said, needs=WIDE),
        good("wide/columns_of_yes_and_no.csv", onehot, DATA, "one column per class", needs=WIDE),
        good("wide/counts.csv", "task,no,yes\na,1,2\nb,3,0\n", counts, "cells count answers", needs=WIDE),
        bad("wide/worker_twice.csv", "task,ann,ann\na,yes,no\nb,no,no\nc,yes,yes\n", "more than one column is called ann", notes=(said,), needs=WIDE),
        bad("headers/other_word_twice.csv", text([(*row, "x") for row in DATA], head="item,annotator,answer,answer"), "more than one column is called answer", notes=("columns: task from",), needs=LAYOUT),
        bad("wide/task_twice.csv", "task,ann,ben\na,yes,no\na,no,no\nc,yes,yes\n", "no column worker, label"),
        bad("wide/two_classes_marked.csv", onehot.replace("a,w1,1,0", "a,w1,1,1"), "several are marked in row 2 (", needs=LAYOUT),
    ]


def few() -> list[Case]:
    """Hardly anything, or nothing."""
    one = [(t, w, "yes") for t, w, _ in DATA]
    return [
        bad("few/one_class.csv", text(one), "only one class (yes)"),
        good("few/one_class_of_two.csv", text(one), one, needs=("classes",), classes=["no", "yes"]),
        bad("few/class_that_is_not_named.csv", text(), "outside the classes", needs=("classes",), classes=["yes", "maybe"]),
        good("few/one_worker.csv", text(r := [("a", "w", "yes"), ("b", "w", "no")]), r),
        good("few/one_task.csv", text(DATA[:2]), DATA[:2]),
        bad("few/one_row.csv", text(DATA[:1]), "only one class (yes)"),
        bad("few/empty.csv", b"", "is empty"),
        bad("few/line_feeds.csv", "\n\n\n", "is empty"),
        bad("few/blanks.csv", "   ", "no column task, worker, label"),
        bad("few/mark.csv", b"\xef\xbb\xbf", "is empty"),
        bad("few/header.csv", HEAD, "has a header but no rows"),
        bad("few/header_without_an_end.csv", HEAD.strip(), "has a header but no rows"),
        bad("few/header_and_empty_lines.csv", HEAD + "\n,,\n\n", "has a header but no rows"),
        bad("few/header_twice.csv", HEAD * 2, "no labels", notes=("repeating the header",)),
        bad("few/header_of_others.csv", "a,b,c\n", "no column task, worker, label"),
        bad("few/one_column.csv", "task\na\nb\n", "no column worker, label"),
        bad("few/one_byte.csv", "x", "no column task, worker, label"),
    ]


def ragged() -> list[Case]:
    """Rows longer or shorter than the header."""
    return [
        bad("ragged/too_long.csv", text([*DATA, ("c", "w1", "yes", "oops")]), "more cells than in the header (3) in row 6 (4 cells)"),
        bad("ragged/too_long_by_a_comma.csv", text([*DATA, ("c", "w1", "very, very good")]), "row 6 (4 cells)"),
        bad("ragged/empty_cell_too_many.csv", text([*DATA, ("c", "w1", "yes", "")]), "row 6 (4 cells)"),
        bad("ragged/all_too_long.csv", text([(*row, "") for row in DATA]), "more cells than in the header (3) in rows 2 (4 cells), 3"),
        bad("ragged/too_short.csv", text() + "c,w1\n", "missing label in row 6"),
        bad("ragged/much_too_short.csv", text() + "c\n", "missing worker in row 6"),
        bad("ragged/blank_lines_count.csv", HEAD + "\n\na,w1,yes,x\n", "row 4 (4 cells)"),
        bad("ragged/lines_in_cells_count_once.csv", HEAD + '"a\n\nb",w1,yes\nc,w1\n', "missing label in row 3"),
        bad("ragged/first_row_is_long.csv", HEAD + "a,w1,yes,x\n" + text(DATA[1:], head=""), "row 2 (4 cells)"),
        good("ragged/short_where_nothing_is_read.csv", text(head="task,worker,label,note")),
    ]


def long() -> list[Case]:
    """Much of something."""
    name, many = "x" * 140_000, [(f"t{n}", f"w{m}", f"k{(n + m) % 40}") for n, m in product(range(40), range(6))]
    columns = [f"c{n}" for n in range(1000)]
    return [
        good("long/task.csv", text(r := [(name[:70_000], "w1", "yes"), *DATA]), r),
        good("long/quoted_label.csv", text(rows(yes=f'"{name}"')), rows(yes=name)),
        good("long/task_of_many_lines.csv", text(rows(a='"' + "x\n" * 20_000 + 'x"')), rows(a="x\n" * 20_000 + "x")),
        good("long/columns.csv", text([[*row, *["0"] * 1000] for row in DATA], head=",".join(["task", "worker", "label", *columns]))),
        good("long/name_of_a_column.csv", text([("0", *row) for row in DATA], head=f"{name},task,worker,label")),
        good("long/classes.csv", text(many), many),
        bad("long/free_text.csv", text([*(("a", f"w{n}", f"word {n}") for n in range(12)), ("a", "w0", "other")]), "conflicting", notes=("13 distinct labels",)),
        good("long/free_texts.csv", text(r := [(f"t{n}", "w", f"word {n}") for n in range(12)]), r, "12 distinct labels"),
    ]


def formulas() -> list[Case]:
    """Cells that a spreadsheet would run: they are ids like others."""
    cells = {"equals": "=1+1", "plus": "+cmd", "minus": "-x", "at": "@SUM(A1)", "link": "=HYPERLINK(\"http://x\")".replace('"', "'"),
             "apostrophe": "'=1", "html": "<b>x</b>", "script": "</script><script>alert(1)</script>", "sql": "'; DROP TABLE labels; --",
             "braces": "{{7*7}}", "shell": "$(id)", "path": "../../etc/passwd", "escape": "\x1b[31mred", "bell": "\x07"}
    noted = {"braces": ["are JSON"]}
    return [good(f"formulas/{name}.csv", text(r := rows(one, one, one)), r, *noted.get(name, ())) for name, one in cells.items()]


def scripts() -> list[Case]:
    """Characters of all kinds in ids."""
    words = {"japanese": "\u65e5\u672c\u8a9e", "arabic": "\u0646\u0639\u0645", "hebrew": "\u05db\u05df", "devanagari": "\u0939\u093e\u0901",
             "thai": "\u0e43\u0e0a\u0e48", "emoji": "\U0001f600", "emoji_family": "\U0001f468\u200d\U0001f469\u200d\U0001f467", "flag": "\U0001f1e9\U0001f1ea",
             "skin": "\U0001f44d\U0001f3fd", "old_letters": "\U00010330", "private": "\ue000", "no_character": "\uffff", "replacement": "\ufffd",
             "many_marks": "z" + "\u0301" * 50, "composed": "\u00e9", "decomposed": "e\u0301", "turkish": "\u0130", "tags": "x\U000e0041",
             "overridden": "\u202eabc\u202c", "mathematical": "\U0001d54f"}
    order = [("\uffee", "w1", "\U0001d4b3"), ("\U0001d4b3", "w1", "\uffee"), ("\u00e9", "w2", "z")]
    found = [good(f"scripts/{name}.csv", text(r := rows(a=one, w=one, yes=one)), r) for name, one in words.items()]
    return [*found, good("scripts/order_of_code_points.csv", text(order), order)]


def several() -> list[Case]:
    """Several answers in a cell."""
    bars = [*DATA, ("c", "w1", "no|yes"), ("c", "w2", "no")]
    return [
        good("several/bars.csv", text(bars), bars, "hold several answers"),
        good("several/python_list.csv", text(r := rows(yes="['yes']")), r, "are JSON"),
        good("several/json_list.csv", text(rows(yes='"[""yes""]"')), rows(yes='["yes"]'), "are JSON"),
        good("several/json_object.csv", text(rows(yes='"{""label"": ""yes""}"')), rows(yes='{"label": "yes"}'), "are JSON"),
        good("several/paths.csv", text(r := rows(yes="animal/cat", no="animal/dog")), r, "are paths"),
        good("several/orders.csv", text(r := rows(yes="a>b>c", no="c>b>a")), r, "are orderings"),
        good("several/commas_in_quotes.csv", text(rows(yes='"yes,no"')), rows(yes="yes,no")),
    ]


def binary() -> list[Case]:
    """Files that are no text, and text that is no table."""
    return [
        bad("binary/picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "is a picture: pass a table"),
        bad("binary/zeros.csv", bytes(1000), "not text"),
        bad("binary/zero_in_a_cell.csv", text(rows(a="a\0b")), "so it is not text", "byte 19 is zero"),
        bad("binary/zero_in_the_last_cell.csv", text() + "c,w1,n\0", "so it is not text", "byte 57 is zero"),
        bad("binary/program.csv", b"\x7fELF\x02\x01\x01" + bytes(9) + bytes(range(256)), "not valid utf-8 text"),
        bad("binary/pickle.csv", b"\x80\x04\x95\x0b\x00\x00\x00", "not valid utf-8 text"),
        bad("binary/database.csv", b"SQLite format 3\x00\x10\x00\x01\x01", "an SQLite database"),
        bad("binary/page.csv", "<!DOCTYPE html>\n<html><body><p>sign in, please</p></body></html>\n", "more cells"),
        bad("binary/document.csv", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "is a PDF document: save the table as CSV"),
        bad("binary/pointer_of_git.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "no column task, worker, label"),
        bad("binary/old_spreadsheet.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a spreadsheet in an old format"),
        bad("binary/feather.arrow", b"ARROW1\0\0" + bytes(100), "an Arrow file"),
        bad("binary/hdf5.mat", b"\x89HDF\r\n\x1a\n" + bytes(100), "an HDF5 file"),
    ]
