"""An experiment of one's own: run, kept, resumed, drawn and refused as the papers' are."""

import re
from pathlib import Path

import pandas as pd
import pytest

from cofactor_app.cli import main

MINE = '''
from pathlib import Path

from evaluation.declaration import experiment

CALLS = Path(__file__).with_name("calls.txt")
with open(CALLS.with_name("runs.txt"), "a") as file:
    file.write("run\\n")


@experiment(settings=["few", "many"], metrics={"error": "%"}, trials=3, published={("few", "level", "error"): "10.0"})
def sizes(setting, trial, rng):
    """Errors of three methods."""
    with open(CALLS, "a") as file:
        file.write(f"{setting} {trial}\\n")
    return {
        "level": {"error": 10 + trial},
        "drawn": lambda: {"error": float(rng.random())},
        "fails": lambda: {"error": 1 / 0},
    }


@experiment(settings={"one": "one setting"}, metrics={"share": "1"}, trials=1)
def other(setting, trial, rng):
    return {"method": {"share": 0.5}}
'''


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A file with two experiments, in the folder where the command runs."""
    monkeypatch.chdir(tmp_path)
    path = Path("my_experiment.py")
    path.write_text(MINE, encoding="utf8")
    return path


def run(*arguments):
    return main(["reproduce", *map(str, arguments), "--jobs", "1"])


def calls():
    return Path("calls.txt").read_text(encoding="utf8").split("\n")[:-1]


def test_it_is_run_kept_resumed_and_shown_as_those_of_the_papers(mine, capsys):
    assert run(mine, "--trials", 2) == 0
    said = capsys.readouterr().out
    assert "Errors of three methods. (Beyond the papers)" in said and "one setting" in said
    assert re.search(r"level +10\.50 ± 0\.5 +10\.00 .*cannot tell", said), said
    assert "fails: ZeroDivisionError: division by zero" in said
    assert sorted(calls()) == ["few 0", "few 1", "many 0", "many 1"]
    assert Path("runs.txt").read_text(encoding="utf8").count("run") == 2  # to list its experiments, and to run them
    table = pd.read_csv("results/sizes/table.csv").set_index(["setting", "method"])
    assert table.loc[("many", "level"), "ours"] == 10.5 and table.loc[("few", "fails"), "failed"] == 2

    assert run(f"{mine}:sizes") == 0
    assert "4 of 6 tasks were finished before" in capsys.readouterr().out and len(calls()) == 6
    again = pd.read_csv("results/sizes/table.csv").set_index(["setting", "method"])
    assert again.loc[("few", "level"), "ours"] == 11 and again.loc[("few", "level"), "published"] == 10

    mine.write_text(MINE.replace("10 + trial", "20 + trial"), encoding="utf8")
    assert run(f"{mine}:sizes") == 0 and len(calls()) == 12  # other code: all six again
    assert main(["report"]) == 0
    page = Path("report.html").read_text(encoding="utf8")
    assert all(f'id="{name}"' in page for name in ("sizes", "other")) and "Errors of three methods." in page
    mine.unlink()
    capsys.readouterr()
    assert main(["report", "--force"]) == 1
    assert "left out, since their files are gone or have changed: other (" in capsys.readouterr().err


def test_the_same_numbers_from_any_number_of_processes(mine):
    tables = []
    for folder, jobs in (("one", "1"), ("two", "2")):
        assert main(["reproduce", f"{mine}:sizes", "--results", folder, "--jobs", jobs]) == 0
        tables.append(pd.read_csv(Path(folder, "sizes", "table.csv")).drop(columns=["seconds", "published_seconds"]))
    pd.testing.assert_frame_equal(*tables)


def test_what_is_no_experiment_gets_one_sentence(mine, capsys):
    Path("empty.py").write_text("x = 1\n", encoding="utf8")
    Path("taken.py").write_text(MINE.replace("def sizes", "def other_name").replace("def other(", "def sizes("), "utf8")
    for name, body in {
        "trials": "settings=['a'], metrics={'m': '1'}, trials=0",
        "field": "settings=['a'], metrics={'m': '1'}, repeats=2",
        "print": "settings=['a'], metrics={'m': '1'}, published={('b', 'x', 'm'): 1}",
    }.items():
        text = f"from evaluation.declaration import experiment\n@experiment({body})\ndef f(s, t, r):\n    return {{}}\n"
        Path(f"{name}.py").write_text(text, encoding="utf8")
    assert run(mine, "--trials", 1) == 0
    for where, said in (
        ("nowhere.py", "no file nowhere.py: give FILE.py"),
        ("empty.py", "empty.py has no experiment: put @experiment"),
        (f"{mine}:nope", "has no experiment nope; it has sizes, other"),
        ("trials.py", "one trial at least"),
        ("field.py", "no experiment has repeats"),
        ("print.py", r"published has \('b', 'x', 'm'\), which is no"),
        ("taken.py:sizes", "holds results of sizes in .*my_experiment.py: rename the function"),
    ):
        capsys.readouterr()
        assert run(where) == 1, where
        assert re.search(said, capsys.readouterr().err), where
    text = MINE.replace('{"method": {"share": 0.5}}', "[0.5]").replace("def other", "def unreadable")
    Path("list.py").write_text(text, encoding="utf8")
    assert run("list.py:unreadable") == 1
    assert 'return {"method": {"metric": number}}' in capsys.readouterr().err
