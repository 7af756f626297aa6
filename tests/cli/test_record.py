"""A record of a run says what a second reader needs, and the run can be repeated from it."""

import json
from hashlib import sha256

import pytest

from cofactor_app.cli import main

LABELS = "task,worker,label\n" + "".join(
    f"t{n},w{m},{'Yes' if n == m == 0 else 'yes' if (n + (n == m)) % 2 else 'no'}\n" for n in range(9) for m in range(4)
)


@pytest.fixture
def ran(tmp_path, monkeypatch, capsys):
    """A folder in which a run was recorded."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.csv").write_text(LABELS)
    command = "aggregate labels.csv -o out.csv --workers workers.tsv --draws 5 --model fit.npz --record=run.json"
    assert main(command.split()) == 0
    capsys.readouterr()
    return tmp_path


def test_a_record_has_inputs_outputs_notes_and_versions(ran):
    record = json.loads((ran / "run.json").read_text())
    assert record["inputs"] == {"labels.csv": sha256(LABELS.encode()).hexdigest()}
    assert record["outputs"]["out.csv"] == sha256((ran / "out.csv").read_bytes()).hexdigest()
    assert set(record["outputs"]) == {"out.csv", "workers.tsv", "fit.npz"}
    assert any("'Yes' = 'yes'" in note for note in record["notes"])
    assert "labels.csv: 9 tasks, 4 workers, 3 classes, 36 labels" in record["printed"]
    assert set(record["versions"]) >= {"python", "cofactor", "numpy"} and record["command"][0] == "aggregate"


def test_a_recorded_run_gives_the_same_bytes_or_says_what_changed(ran, capsys):
    before = {path.name: path.read_bytes() for path in ran.iterdir()}
    assert main(["again", "run.json"]) == 0
    assert "the same bytes come out: out.csv, workers.tsv, fit.npz" in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in ran.iterdir()} == before
    (ran / "labels.csv").write_text(LABELS.replace("t8,w0,no", "t8,w0,yes"))
    assert main(["again", "run.json"]) == 1
    said = capsys.readouterr()
    assert "changed since: input labels.csv" in said.out and "other bytes come out: out.csv" in said.err
    (ran / "labels.csv").unlink()
    assert main(["again", "run.json"]) == 1
    assert "inputs that are not here: labels.csv" in capsys.readouterr().err


def test_what_is_no_record_is_refused(ran, capsys):
    strange = {
        "text": "not JSON",
        "[" * 10**5: "not JSON",
        "[1]": "not a record",
        "{}": "not a record",
        json.dumps(dict.fromkeys(json.loads((ran / "run.json").read_text()), "x")): "not a record",
    }
    for text, said in strange.items():
        (ran / "odd.json").write_text(text)
        assert main(["again", "odd.json"]) == 1
        assert said in capsys.readouterr().err, text[:20]
    assert main(["aggregate", "labels.csv", "-o", "x.csv", "--record", "x.csv"]) == 1
    assert main(["aggregate", "labels.csv", "--record", "-"]) == 1
    assert "name another output" in (told := capsys.readouterr().err) and "name a file" in told


def test_a_report_ends_with_the_record_of_its_run_and_can_be_repeated(ran, capsys):
    command = "aggregate labels.csv -o o.csv --report page.html --draws 5 --record page.json"
    assert main(command.split()) == 0
    page = (ran / "page.html").read_text()
    record = page[page.index("Record of the run") :]
    assert "cofactor aggregate labels.csv -o o.csv --report page.html --draws 5</code>" in record
    assert sha256(LABELS.encode()).hexdigest() in record and "numpy" in record
    assert "Noted: " in record and "&#39;Yes&#39; = &#39;yes&#39;" in record
    assert main(["again", "page.json"]) == 0
    assert main(["aggregate", str(ran / "labels.csv"), "--report", str(ran / "far.html"), "--draws=5"]) == 0
    assert "cofactor aggregate labels.csv --report far.html --draws=5</code>" in (ran / "far.html").read_text()
    (ran / "clean.csv").write_text(LABELS.replace("Yes", "yes"))
    assert main(["aggregate", "clean.csv", "-o", "c.csv", "--report", "clean.html", "--draws", "5"]) == 0
    assert "Noted: nothing." in (ran / "clean.html").read_text()


def test_a_model_that_is_none_is_one_sentence_also_where_the_run_is_recorded(ran, capsys):
    (ran / "broken.npz").write_text("nothing")
    assert main(["update", "broken.npz", "labels.csv", "--record", "again.json"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: broken.npz") and not (ran / "again.json").exists()


def test_one_column_for_two_roles_is_refused(ran, capsys):
    for more in ([], ["--preview"]):
        assert main(["aggregate", "labels.csv", "--task", "worker", *more]) == 1
        told = "error: --task worker, --worker worker, --label label: one column is named twice"
        assert capsys.readouterr().err.startswith(told)
