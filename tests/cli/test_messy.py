"""Messages in the words of the command, exports of tools, standard streams, and cells that are dangerous to show.

What comes of a file of any form is decided in `tests/corpus`.
"""

import io
import json
import re
import zipfile

import pandas as pd
import pytest

from cofactor_app.cli import main
from tests.each import each

GOOD = "task,worker,label\na,w1,yes\na,w2,yes\na,w3,no\nb,w1,no\nb,w2,no\nb,w3,no\n"
TABLE = pd.read_csv(io.StringIO(GOOD))
READ = "2 tasks, 3 workers, 2 classes, 6 labels"


def lines(*records):
    return "\n".join(map(json.dumps, records))


def studio(*annotations, **more):
    """One task of a Label Studio export."""
    return {"id": 1, "data": {"text": "t", "ref": "T1"}, "annotations": list(annotations), **more}


def choice(worker, *chosen, kind="choices", name="sentiment", **more):
    value = {kind: list(chosen)} if kind == "choices" else {kind: chosen, "start": 0, "end": 3}
    result = [{"from_name": name, "to_name": "text", "type": kind, "value": value}]
    return {"id": 10, "completed_by": worker, "was_cancelled": False, "result": result, **more}


def prodigy(number, worker, answer="accept", **more):
    return {"text": "t", "_input_hash": number, "_task_hash": -number, "_session_id": worker, "answer": answer, **more}


STUDIO = [
    studio(
        choice({"id": 7, "email": "x@y.org"}, "yes"), choice(8, "yes"), choice(9, "no"), predictions=[{"result": []}]
    ),
    studio(choice(8, "no"), choice(9, "no"), choice(4, "yes", was_cancelled=True)) | {"id": 2},
]
CHOICES = [prodigy(n, w, accept=[c], options=[]) for n, w, c in [(1, "a", "x"), (1, "b", "y"), (2, "a", "x")]]

LONG = "".join(f"{n},w{m},{'ab'[(n + m) % 2]}\n" for n in range(3) for m in range(3))


def zip_of_mac():
    """Return an archive with the folder of resources that a Mac adds."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("l.csv", "task,worker,label\n" + LONG)
        archive.writestr("__MACOSX/._l.csv", b"\x00\x05\x16\x07")
        archive.writestr(".DS_Store", b"\x00\x00\x00\x01Bud1")
    return packed.getvalue()


CASES = {  # file, what it holds, options, exit code, what is said (all of it, on either stream)
    "tabs, said so as a shell writes them": ("a.csv", GOOD.replace(",", "\t"), ("--sep", "\\t"), 0, [READ]),
    "the separator in the first line": ("a.csv", "sep=;\r\n" + GOOD.replace(",", ";"), (), 0, [READ]),
    "blanks": ("a.txt", GOOD.replace(",", " "), (), 1, ["the columns seem to be separated by ' ': set --sep ' '"]),
    "the wrong separator asked for": (
        *("a.csv", GOOD.replace(",", ";"), ("--sep", ","), 1),
        ["found task;worker;label: the columns seem to be separated by ';': set --sep ';'"],
    ),
    "other names": (
        *("a.csv", GOOD.replace("task,worker", "item,who"), ("--task", "item"), 1),
        ["no column worker; found item, who, label: say which column is which, for example --worker who, or rename"],
    ),
    "a quote that is never closed in a large file": (
        *("a.csv", GOOD + '"' + "a,w2,yes\n" * 20_000, (), 1),
        ["a quote in row 8 (counting the header line) is never closed"],
    ),
    "conflicting labels": (
        *("a.csv", GOOD + "a,w1,no\n", (), 1),
        ["conflicting labels: task 'a' by worker 'w1'; correct the data, keep one with --conflicts first or last"],
    ),
    "Western Europe's encoding": (
        *("a.csv", GOOD.replace("a,", "é,").encode("cp1252"), (), 1),
        ["is not valid utf-8 text (byte 18): save it as UTF-8, or set its encoding, for example --encoding latin-1"],
    ),
    "Label Studio": (
        *("export.json", json.dumps(STUDIO), (), 0),
        ["2 tasks, 3 workers, 2 classes, 5 labels", "Label Studio export: left out cancelled annotations (1)"],
    ),
    "Label Studio, several choices": (
        *("export.json", json.dumps([studio(choice(1, "x", "y"))]), (), 1),
        ["task 1 has 2 choices in one annotation; each answer must be a single class, not several classes"],
    ),
    "Label Studio, marked regions": (
        *("export.json", json.dumps([studio(choice(1, "PER", kind="labels"))]), (), 1),
        ["no answer can be used; each answer must be a single class", "results of type labels (1)"],
    ),
    "Label Studio, two questions": (
        *("export.json", json.dumps([studio(choice(1, "x"), choice(1, "y", name="topic"))]), (), 1),
        ["several questions (sentiment, topic) were asked: choose one, such as --label sentiment"],
    ),
    "Prodigy, choices": (
        *("db.jsonl", lines(*CHOICES, prodigy(3, "a", "ignore")), (), 0),
        ["2 tasks, 2 workers, 2 classes, 3 labels", "Prodigy export: left out answers 'ignore' (1)"],
    ),
    "Prodigy, accept or reject": (
        *("db.jsonl", lines(prodigy(1, "a", label="SPORT"), prodigy(1, "b", "reject", label="SPORT")), (), 0),
        ["1 task, 2 workers, 2 classes, 2 labels", "accept       1       0"],
    ),
    "Prodigy, marked words": (
        *("db.jsonl", lines(prodigy(1, "a", spans=[{"start": 0}], _view_id="ner_manual")), (), 1),
        ["line 1 is a Prodigy answer of type ner_manual; each answer must be a single class"],
    ),
    "a zip of a Mac": ("l.zip", zip_of_mac(), (), 0, ["3 tasks, 3 workers, 2 classes, 9 labels"]),
    "no such file": ("", "", (), 1, ["no such file: none.csv"]),
    "a folder": (".", "", (), 1, ["is a folder: pass a file"]),
}  # fmt: skip


def aggregate(folder, name, content, options):
    path = folder / name if name else "none.csv"
    if content:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    elif name not in ("", "."):
        path.touch()
    return main(["aggregate", str(path), "--method", "MajorityVote", *options])


@each("case", CASES)
def test_the_command_names_its_options_and_what_an_export_holds(case, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, content, options, code, said = CASES[case]
    found = aggregate(tmp_path, name, content, options)
    out, err = capsys.readouterr()
    assert (found, err.count("error: ")) == (code, code)
    for part in said:
        assert part in out + err


class Bytes:
    def __init__(self, text):
        self.buffer = io.BytesIO(text.encode())


def test_standard_input_and_standard_output(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", Bytes(GOOD.replace(",", "\t")))
    assert main(["aggregate", "-", "-o", "-", "--method", "MajorityVote"]) == 0
    out, err = capsys.readouterr()
    assert out == "task,label,probability,n_labels,disputed,overruled\na,yes,0.666667,3,False,0\nb,no,1.0,3,False,0\n"
    assert err.startswith(READ)
    monkeypatch.setattr("sys.stdin", Bytes(""))
    assert main(["diagnose", "-"]) == 1
    assert "standard input is empty" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_letters_that_a_terminal_lacks_end_no_command(encoding, tmp_path, monkeypatch):
    path, out = tmp_path / "labels.csv", tmp_path / "out.csv"
    path.write_text(GOOD.replace("yes", "日本"), encoding="utf8")
    told, table = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    monkeypatch.setattr("sys.stdout", told)
    monkeypatch.setattr("sys.stderr", told)
    assert main(["diagnose", str(path)]) == 0
    assert main(["aggregate", str(path), "--method", "MajorityVote", "-o", str(out)]) == 0
    assert main(["aggregate", str(path).replace("labels", "日本")]) == 1
    told.flush()
    assert told.buffer.getvalue().count(rb"\u65e5\u672c") >= 2
    monkeypatch.setattr("sys.stdout", table)
    assert main(["aggregate", str(path), "--method", "MajorityVote", "-o", "-"]) == 0
    assert table.buffer.getvalue() == out.read_bytes() and "日本" in out.read_text(encoding="utf8")


def test_export_fields_can_be_chosen(tmp_path, capsys):
    path = tmp_path / "export.json"
    path.write_text(json.dumps([studio(choice(1, "x"), choice(2, "y"), choice(1, "z", name="topic"))]))
    options = ("--task", "ref", "--label", "sentiment", "-o", "-", "--method", "MajorityVote")
    assert main(["aggregate", str(path), *options]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("T1,")


DANGEROUS = "task,worker,label\n=1+1,w1,-x\n=1+1,w2,-x\n+cmd,w1,@SUM(A1)\n-5,w1,-x\nplain,w1,@SUM(A1)\n"


def test_cells_that_a_spreadsheet_would_run_are_escaped_unless_asked_not_to(tmp_path, capsys):
    path = tmp_path / "labels.csv"
    path.write_text(DANGEROUS)
    run = ["aggregate", str(path), "--method", "MajorityVote", "-o"]
    assert main([*run, str(tmp_path / "a.csv"), "--confusion", str(tmp_path / "p.csv")]) == 0
    err = capsys.readouterr().err
    assert err.count("note: an apostrophe was put before 22 cells that a spreadsheet would run as a formula") == 1
    table = pd.read_csv(tmp_path / "a.csv")
    assert table["task"].tolist() == ["'+cmd", "-5", "'=1+1", "plain"]
    assert table["label"].tolist() == ["'@SUM(A1)", "'-x", "'-x", "'@SUM(A1)"]
    assert set(pd.read_csv(tmp_path / "p.csv")["true"]) == {"'-x", "'@SUM(A1)"}
    assert main([*run, str(tmp_path / "raw.csv"), "--raw-cells"]) == 0
    assert pd.read_csv(tmp_path / "raw.csv")["task"].tolist() == ["+cmd", "-5", "=1+1", "plain"]
    assert "apostrophe" not in capsys.readouterr().err


def test_control_characters_of_ids_are_shown_and_not_obeyed_and_stay_in_tables(tmp_path, capsys):
    path, out = tmp_path / "labels.csv", tmp_path / "out.csv"
    path.write_text(GOOD.replace("a,", "\x1b[31ma\u202e,").replace("w3", "\x1b]0;w3\x07"))
    assert main(["aggregate", str(path), "--method", "MajorityVote", "-o", str(out)]) == 0
    assert main(["diagnose", str(path)]) == 0
    path.write_text(path.read_text() + "\x1b[31ma\u202e,w1,no\n")
    assert main(["diagnose", str(path)]) == 1
    told = capsys.readouterr()
    assert "\\x1b[31ma\\u202e" in told.err and not set("\x1b\x07\u202e") & set(told.err + told.out)
    assert pd.read_csv(out)["task"].tolist() == ["\x1b[31ma\u202e", "b"]


def test_numbers_are_never_escaped(tmp_path, capsys):
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label\n-1,w1,-2\n-3,w1,+4\n-3,w2,+4\n")
    assert main(["aggregate", str(path), "--method", "MajorityVote", "-o", "-"]) == 0
    out, err = capsys.readouterr()
    assert re.findall(r"^(-\d),([-+]\d),", out, re.M) == [("-3", "+4"), ("-1", "-2")]
    assert "apostrophe" not in err


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.csv.gz", "x.tsv.gz", "x.parquet"])
def test_every_form_written_is_read_again(name, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(DANGEROUS)
    options = ["--method", "MajorityVote", "--raw-cells"]
    assert main(["aggregate", str(path), "-o", str(tmp_path / name), *options]) == 0
    reader = pd.read_parquet if name.endswith("parquet") else pd.read_csv
    more = {"sep": "\t"} if ".tsv" in name else {}
    assert reader(tmp_path / name, **more)["task"].tolist() == ["+cmd", "-5", "=1+1", "plain"]
    if name.endswith(".gz"):
        assert (tmp_path / name).read_bytes()[3:8] == bytes(5)  # no name and no time: the same table, the same file


@pytest.mark.parametrize("name", ["x.xlsx", "x.parquet.gz", "x.json"])
def test_forms_that_cannot_be_written_are_refused_before_the_work(name, tmp_path, capsys):
    assert main(["aggregate", str(tmp_path / "no-such-file.csv"), "-o", str(tmp_path / name)]) == 1
    assert "tables can be written as .csv, .tsv, .jsonl (each also .gz) or .parquet" in capsys.readouterr().err


def test_two_tables_are_not_written_to_one_file(tmp_path, capsys):
    path = str(tmp_path / "x.csv")
    assert main(["aggregate", "bluebird", "-o", path, "--workers", path]) == 1
    assert "two outputs are the same file" in capsys.readouterr().err
