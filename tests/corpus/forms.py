"""Hostile files of other forms: JSON, parquet, and packed ones."""

# fmt: off

import bz2
import gzip
import io
import json
import lzma
import zipfile

from tests.corpus.case import DATA, Case, Row, bad, good, rows, text

JSON, PACKED, PARQUET = ("JSON",), ("packed",), ("parquet",)


def records(cells: list[Row] = DATA) -> list[dict[str, str]]:
    """Rows as objects."""
    return [dict(zip(("task", "worker", "label"), row, strict=True)) for row in cells]


def lines(cells: list[Row] = DATA, end: str = "\n") -> str:
    """Rows as objects, one a line."""
    return "".join(json.dumps(one) + end for one in records(cells))


def one(label: str, task: str = '"a"') -> str:
    """Objects of which the first is written by hand."""
    return f'{{"task": {task}, "worker": "w1", "label": {label}}}\n' + lines(DATA[1:])


def gzipped(content: bytes) -> bytes:
    """Pack without a time; the byte that names the system is that of Unix, whatever this version of Python writes."""
    packed = gzip.compress(content, mtime=0)
    return packed[:9] + b"\x03" + packed[10:]


def of_json() -> list[Case]:
    """Arrays, lines, nested objects, and what is nearly JSON."""
    nested = [{"task": t, "answers": [{"worker": w, "label": y} for u, w, y in DATA if u == t]} for t in "ab"]
    lists = [{"task": t, "workers": ["w1", "w2"], "labels": [y for u, _, y in DATA if u == t]} for t in "ab"]
    by_task = {t: {w: y for u, w, y in DATA if u == t} for t in "ab"}
    columns = {name: [row[n] for row in DATA] for n, name in enumerate(("task", "worker", "label"))}
    deep = "[" * 20_000 + "]" * 20_000
    return [
        good("json/records.json", json.dumps(records()), needs=JSON),
        good("json/records_indented.json", json.dumps(records(), indent=2), needs=JSON),
        good("json/records_called_csv.csv", json.dumps(records()), needs=JSON),
        good("json/lines.jsonl", lines(), needs=JSON),
        good("json/lines_with_blank_ones.jsonl", lines().replace("\n", "\n\n"), needs=JSON),
        good("json/lines_with_returns.jsonl", lines(end="\r\n"), needs=JSON),
        good("json/lines_with_a_mark.jsonl", "\ufeff" + lines(), needs=JSON),
        good("json/lines_without_the_last_end.jsonl", lines()[:-1], needs=JSON),
        good("json/line_separator_in_a_text.jsonl", "".join(json.dumps(x, ensure_ascii=False) + "\n" for x in records(rows(a="a\u2028b"))), rows(a="a\u2028b"), needs=JSON),
        good("json/capitals.jsonl", lines().replace('"task"', '"Task"'), needs=JSON),
        good("json/more_keys.jsonl", lines().replace('"task"', '"n": 1, "task"'), needs=JSON),
        good("json/keys_in_other_orders.jsonl", '{"label": "yes", "worker": "w1", "task": "a"}\n' + lines(DATA[1:]), needs=JSON),
        good("json/nested.json", json.dumps(nested), DATA, "answers in the list answers", needs=JSON),
        good("json/lists.jsonl", "".join(json.dumps(x) + "\n" for x in lists), DATA, "lists of equal length", needs=JSON),
        good("json/by_task.json", json.dumps(by_task), DATA, "one object per task", needs=JSON),
        good("json/utf16.json", json.dumps(records()).encode("utf-16"), needs=(*JSON, "encoding"), encoding="utf-16"),
        good("json/escapes.jsonl", one('"\\u0079es"'), needs=JSON),
        good("json/two_escapes_for_one_character.jsonl", one('"\\ud83d\\ude00"'), rows(yes="\U0001f600"), needs=JSON),
        good("json/number.jsonl", one("1"), rows(yes="1"), needs=JSON),
        good("json/number_with_decimals.jsonl", one("1.0"), rows(yes="1.0"), needs=JSON),
        good("json/number_with_a_power.jsonl", one("1e3"), rows(yes="1e3"), needs=JSON),
        good("json/huge_number.jsonl", one('"yes"', "1" + "0" * 30), [("1" + "0" * 30, "w1", "yes"), *DATA[1:]], needs=JSON),
        good("json/truth.jsonl", one("true"), rows(yes="True"), needs=JSON),
        good("json/number_and_text.jsonl", one('"yes"', "7") + '{"task": "7", "worker": "w2", "label": "no"}\n', [("7", "w1", "yes"), *DATA[1:], ("7", "w2", "no")], needs=JSON),
        good("json/list_of_one.jsonl", "".join(json.dumps(x | {"label": [x["label"]]}) + "\n" for x in records()), needs=JSON),
        bad("json/null.jsonl", one("null"), "missing label in line 1", needs=JSON),
        bad("json/nan.jsonl", one("NaN"), "missing label in line 1", needs=JSON),
        bad("json/infinity.jsonl", one("Infinity"), "missing label in line 1", needs=JSON),
        bad("json/word_for_nothing.jsonl", one('"NA"'), "missing label in line 1", needs=JSON),
        bad("json/key_missing.jsonl", '{"task": "a", "worker": "w1"}\n' + lines(DATA[1:]), "missing label in line 1", needs=JSON),
        bad("json/key_missing_everywhere.jsonl", '{"task": "a", "worker": "w1"}\n' * 2, "no column label", needs=JSON),
        bad("json/key_twice.jsonl", one('"yes", "label": "no"'), "line 1", "label", "twice", needs=JSON),
        bad("json/key_twice_in_an_array.json", "[" + ",".join(one('"yes", "label": "no"').splitlines()) + "]", "label", "twice", needs=JSON),
        bad("json/task_twice_as_a_key.json", '{"a": {"w1": "yes", "w2": "no"}, "a": {"w1": "no", "w2": "no"}}', "a", "twice", needs=JSON),
        bad("json/key_twice_by_capitals.jsonl", lines().replace('"label"', '"Label": "x", "LABEL"'), "no column label", needs=JSON),
        bad("json/list_of_two.jsonl", one('["yes", "no"]'), "a list or an object", "line 1", needs=JSON),
        bad("json/unknown_list.json", json.dumps([{"id": 1, "answers": [{"user": "a", "value": "x"}]}]), "cells of answers hold lists or objects in record 1,", "with task, worker and label", needs=JSON),
        bad("json/object_in_a_wide_table.json", json.dumps([{"id": n, "w1": "yes", "w2": {"label": "no"}} for n in (1, 2)]), "cells of w2 hold lists or objects in records 1 and 2,", needs=JSON),
        bad("json/object_as_label.jsonl", one('{"choice": "yes"}'), "a list or an object", "line 1", needs=JSON),
        bad("json/half_a_character.jsonl", one('"\\ud83d"'), "line 1", "half of a surrogate pair", "ud83d", "remove it", needs=JSON),
        good("json/backslash_before_zeros.jsonl", one('"\\\\u0000"'), rows(yes="\\u0000"), needs=JSON),
        bad("json/comma_at_the_end.json", json.dumps(records())[:-1] + ",]", "cannot be read as JSON", needs=JSON),
        bad("json/single_quotes.jsonl", lines().replace('"', "'"), "cannot be read as JSON", "line 1", needs=JSON),
        bad("json/comment.json", "[\n// labels\n" + json.dumps(records())[1:], "cannot be read as JSON", needs=JSON),
        bad("json/cut.json", json.dumps(records())[:-9], "cannot be read as JSON", needs=JSON),
        bad("json/line_cut.jsonl", lines()[:-9], "line 4", needs=JSON),
        bad("json/two_objects_on_a_line.jsonl", lines().replace("\n", ""), "line 1", needs=JSON),
        bad("json/empty_array.json", "[]", "there is none", needs=JSON),
        bad("json/empty_object.json", "{}", "no column task, worker, label", needs=JSON),
        bad("json/array_of_arrays.json", json.dumps([list(row) for row in DATA]), "must be an object", needs=JSON),
        bad("json/array_of_numbers.json", "[1, 2]", "must be an object", needs=JSON),
        good("json/columns.json", json.dumps(columns), needs=JSON),
        good("json/columns_of_pandas.json", json.dumps({name: {str(n): cell for n, cell in enumerate(one)} for name, one in columns.items()}), needs=JSON),
        good("json/rows_of_pandas.json", json.dumps({str(n): row for n, row in enumerate(records())}), needs=JSON),
        good("json/split_by_pandas.json", json.dumps({"columns": list(columns), "index": [0, 1, 2, 3], "data": [list(row) for row in DATA]}), needs=JSON),
        good("json/table_of_pandas.json", json.dumps({"schema": {"fields": [{"name": "task"}]}, "data": records()}), needs=JSON),
        good("json/under_a_key.json", json.dumps({"data": records()}), needs=JSON),
        good("json/under_a_key_indented.json", json.dumps({"data": records()}, indent=1), needs=JSON),
        bad("json/columns_of_two_lengths.json", json.dumps(columns | {"label": ["yes"]}), "have different rows", needs=JSON),
        bad("json/columns_of_other_rows.json", json.dumps({name: {f"row {n}": name, "last": "x"} for n, name in enumerate(columns)}), "task, worker, label have different rows", needs=JSON),
        bad("json/split_with_a_column_twice.json", json.dumps({"columns": ["task", *columns], "data": [["x", *row] for row in DATA]}), "duplicate keys ('task')", needs=JSON),
        bad("json/split_with_a_short_row.json", json.dumps({"columns": list(columns), "data": [["a", "w1"], *DATA]}), "record 1 has 2 cells for 3 columns", needs=JSON),
        bad("json/indented_object.json", json.dumps(records()[0], indent=1), "only one class (yes)", needs=JSON),
        bad("json/very_deep.json", deep, "cannot be read as JSON", needs=JSON),
        bad("json/control_character.jsonl", one('"y\tes"'), "line 1", needs=JSON),
        bad("json/zero_character.jsonl", one('"y\\u0000es"'), "the text contains a zero character", needs=JSON),
    ]


def packed() -> list[Case]:
    """Packed files, under their own name or another."""
    plain = text().encode()
    return [
        good("packed/gzip.csv.gz", gzipped(plain), needs=PACKED),
        good("packed/gzip_capitals.CSV.GZ", gzipped(plain), needs=PACKED),
        good("packed/gzip_of_two_parts.csv.gz", gzipped(plain[:30]) + gzipped(plain[30:]), needs=PACKED),
        good("packed/json.jsonl.gz", gzipped(lines().encode()), needs=(*PACKED, *JSON)),
        good("packed/bzip2.csv.bz2", bz2.compress(plain), needs=PACKED),
        good("packed/xz.csv.xz", lzma.compress(plain), needs=PACKED),
        good("packed/zip.csv.zip", zipped(labels=plain), needs=PACKED),
        bad("packed/gzip_called_csv.csv", gzipped(plain), "compressed with gzip"),
        bad("packed/bzip2_called_csv.csv", bz2.compress(plain), "compressed with bzip2"),
        bad("packed/csv_called_gzip.csv.gz", plain, "cannot be read", needs=PACKED),
        bad("packed/gzip_twice.csv.gz", gzipped(gzipped(plain)), "compressed with gzip", needs=PACKED),
        bad("packed/gzip_cut.csv.gz", gzipped(plain)[:-9], "cannot be read", needs=PACKED),
        bad("packed/gzip_with_rest.csv.gz", gzipped(plain) + b"rest", "cannot be read", needs=PACKED),
        bad("packed/gzip_of_nothing.csv.gz", gzipped(b""), "is empty", needs=PACKED),
        bad("packed/zip_of_two.csv.zip", zipped(a=plain, b=plain), "holds 2 files", needs=PACKED),
        bad("packed/zip_of_none.csv.zip", zipped(), "holds 0 files", needs=PACKED),
        bad("packed/spreadsheet.xlsx", zipped(sheet=b"<x/>"), "a zip archive or a spreadsheet"),
        bad("packed/spreadsheet_called_csv.csv", zipped(sheet=b"<x/>"), "a zip archive or a spreadsheet"),
        bad("packed/zstandard.csv.zst", b"\x28\xb5\x2f\xfd\x04\x58" + bytes(30), "compressed with zstandard"),
    ]


def zipped(**members: bytes) -> bytes:
    """A zip archive, always of the same bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.csv"), content)
    return file.getvalue()


def of_parquet() -> list[Case]:
    """Parquet, of text, numbers and truth, whole and damaged."""
    numbers = [("1", "7", "0"), ("1", "8", "1"), ("2", "7", "1"), ("2", "8", "1")]
    whole = parquet(DATA)
    return [
        good("parquet/text.parquet", whole, needs=PARQUET),
        good("parquet/called_csv.csv", whole, needs=PARQUET),
        good("parquet/numbers.parquet", parquet(numbers, int), numbers, needs=PARQUET),
        good("parquet/floats.parquet", parquet(numbers, float), numbers, needs=PARQUET),
        good("parquet/truth.parquet", parquet(numbers, label=lambda cell: cell == "1"), [(t, w, str(y == "1")) for t, w, y in numbers], needs=PARQUET),
        good("parquet/blanks.parquet", parquet([(f" {t}", f"{w} ", y) for t, w, y in DATA]), needs=PARQUET),
        good("parquet/index_of_pandas.parquet", parquet(DATA, index="task"), needs=PARQUET),
        bad("parquet/column_twice.parquet", parquet(DATA, twice="label"), "more than one column is called label", needs=PARQUET),
        bad("parquet/no_rows.parquet", parquet([]), "no labels", needs=PARQUET),
        bad("parquet/missing.parquet", parquet(rows(), label=lambda cell: None if cell == "yes" else cell), "missing label in record 1", needs=PARQUET),
        bad("parquet/word_for_nothing.parquet", parquet(rows(yes="NA")), "missing label in record 1", needs=PARQUET),
        bad("parquet/lists.parquet", parquet(rows(), label=lambda cell: [cell]), "a list or an object", needs=PARQUET),
        bad("parquet/cut.parquet", whole[:-9], "cannot be read as parquet", needs=PARQUET),
        bad("parquet/first_bytes_only.parquet", b"PAR1", "cannot be read as parquet", needs=PARQUET),
        bad("parquet/csv_called_parquet.parquet", text(rows(yes="NA")), "missing label in row 2", needs=PARQUET),
    ]


def parquet(cells: list[Row], kind=str, label=None, index=None, twice=None) -> bytes:
    """Rows as parquet, all of one type; `label` makes the cells of the third column.

    One column may be the index of a frame of pandas, or be there twice.
    """
    import pyarrow as pa
    from pyarrow import parquet as files

    columns = {name: [kind(row[n]) for row in cells] for n, name in enumerate(("task", "worker", "label"))}
    if label:
        columns["label"] = [label(row[2]) for row in cells]
    file = io.BytesIO()
    table = pa.table(columns, pa.schema([(name, pa.string()) for name in columns])) if not cells else pa.table(columns)
    table = pa.Table.from_pandas(table.to_pandas().set_index(index)) if index else table
    files.write_table(table.append_column(twice, table[twice]) if twice else table, file)
    return file.getvalue()
