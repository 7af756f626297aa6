import json
import sys
from dataclasses import replace

import pandas as pd
import pytest
from filelock import FileLock

from cofactor.data import DATASETS_DIR
from cofactor_app.cli import main
from evaluation import cli as experiments
from evaluation import raw_trials
from tests.evaluation.toy import toy

TOY = toy(trials=3)


@pytest.fixture
def only_toy(monkeypatch, tmp_path):
    monkeypatch.setattr(experiments, "EXPERIMENTS", {"toy": TOY})
    monkeypatch.setattr(experiments, "find_experiment", {"toy": TOY}.__getitem__)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def reproduce(*extra):
    return main(["reproduce", "toy", "--jobs", "1", *extra])


def test_the_quick_profile_says_that_it_is_one(only_toy, capsys):
    assert reproduce() == 0
    printed = capsys.readouterr().out
    assert "toy: 2 of the paper's 3 trials (--full runs them all)" in printed
    assert "small set" in printed and "not for this data" in printed


def test_full_runs_the_paper_s_trials_and_trials_as_many_as_asked(only_toy, capsys):
    reproduce("--full")
    assert "--full" not in capsys.readouterr().out
    assert set(pd.read_csv(only_toy / "results/toy/table.csv")["trials"]) == {0, 3}
    reproduce("--trials", "1")
    assert set(pd.read_csv(only_toy / "results/toy/table.csv")["trials"]) == {0, 1}


def test_settings_that_take_long_are_named_where_they_are_left_out(only_toy, monkeypatch, capsys):
    slow = toy(trials=1, quick=1, full_only=("large",))
    monkeypatch.setattr(experiments, "find_experiment", {"toy": slow}.__getitem__)
    reproduce()
    assert "toy: without large (--full runs them as well)" in capsys.readouterr().out
    reproduce("--full")
    printed = capsys.readouterr().out
    assert "toy: 1 of 2 tasks were finished before" in printed and "without" not in printed


def test_the_record_names_versions_machine_and_seeds_of_every_run(only_toy):
    reproduce()
    reproduce("--full")
    first, second = json.loads((only_toy / "results/toy/run.json").read_text())["runs"]
    assert (len(first["seeds"]), len(second["seeds"])) == (4, 6)
    assert first["seeds"].items() <= second["seeds"].items()
    assert {"numpy", "scipy", "blas", "cpu", "python", "commit"} <= second["machine"].keys()
    assert first["failed"] == [] and first["jobs"] == 1 and first["seconds"] >= 0


def test_any_number_of_jobs_gives_the_same_table(only_toy):
    frames = []
    for jobs in ("1", "2"):
        main(["reproduce", "toy", "--jobs", jobs, "--results", f"jobs{jobs}"])
        frames.append(pd.read_csv(only_toy / f"jobs{jobs}/toy/table.csv").drop(columns=["seconds"]))
    pd.testing.assert_frame_equal(*frames, check_exact=True)


def test_a_second_run_says_what_is_there_already(only_toy, capsys):
    reproduce("--trials", "1")
    assert "finished before" not in capsys.readouterr().out
    reproduce()
    assert "toy: 2 of 4 tasks were finished before" in capsys.readouterr().out


def test_no_trials_are_an_error(only_toy, capsys):
    assert reproduce("--trials", "0") == 1
    printed = capsys.readouterr()
    assert "ask for at least one" in printed.err and printed.out == ""


def test_failed_tasks_are_named_and_the_exit_code_says_so(monkeypatch, tmp_path, capsys):
    broken = toy(settings=("broken", "small"))
    monkeypatch.setattr(experiments, "find_experiment", {"toy": broken}.__getitem__)
    monkeypatch.chdir(tmp_path)
    assert reproduce() == 1
    outcome = capsys.readouterr()
    assert "1 of 4 tasks failed: broken trial 1: RuntimeError: this trial breaks" in outcome.err
    assert "small set" in outcome.out and (tmp_path / "results/toy/table.csv").exists()


def test_without_a_name_it_lists_what_there_is(only_toy, capsys):
    assert main(["reproduce"]) == 0
    assert "toy  Toy (2 of 3 trials)" in capsys.readouterr().out


def test_an_unknown_name_gets_a_hint(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "crowd-tabel4"]) == 1
    assert "did you mean 'crowd-table4'?" in capsys.readouterr().err


def test_the_figure_of_a_table_is_that_table():
    assert experiments.find_experiment("crowd-figure4").name == "crowd-table9"


def test_printed_stands_for_what_the_papers_print_once(only_toy, monkeypatch, capsys):
    kinds = {
        "table": {"published": "crowd_table4"},
        "variant": {"published": "crowd_table4", "beside": True},
        "more": {"published": "crowd_benchmark", "source": "Beyond Nobody"},
        "drawn": {},
    }
    named = {name: replace(toy(trials=1, quick=1, **fields), name=name) for name, fields in kinds.items()}
    monkeypatch.setattr(experiments, "EXPERIMENTS", named)
    assert [one.name for one in experiments.printed()] == ["table"]
    assert main(["reproduce", "printed", "--jobs", "1"]) == 0
    assert [path.name for path in (only_toy / "results").iterdir() if path.is_dir()] == ["table"]
    assert main(["reproduce"]) == 0 and "printed: those whose numbers a paper prints" in capsys.readouterr().out


def test_every_file_of_printed_numbers_is_among_what_is_printed():
    files = {path.stem for path in (DATASETS_DIR / "published").glob("*.csv")}
    assert {one.published for one in experiments.printed()} == files - {"crowd_benchmark"}  # of other papers


def test_one_trial_of_what_is_printed_leaves_a_reviewer_time_for_more():
    """By the seconds of the kept first trials, settings spread over two processes as they come."""
    total = 0.0
    for one in experiments.printed():
        first = raw_trials(one.name).query("trial == 0").drop_duplicates(["setting", "method"])
        seconds = first.groupby("setting")["seconds"].sum()
        busy = [0.0, 0.0]
        for task in experiments.tasks_of(one, 1):
            busy[int(busy[1] < busy[0])] += seconds[task.setting]
        total += max(busy)
    assert 5 < total / 60 < 40


def test_report_is_written_once_unless_forced(only_toy, capsys):
    reproduce()
    assert main(["report"]) == 0
    assert "wrote report.html: toy" in capsys.readouterr().out
    page = (only_toy / "report.html").read_text()
    assert main(["report"]) == 1
    assert "report.html exists" in capsys.readouterr().err
    (only_toy / "report.html").write_text("mine")
    assert main(["report", "--force"]) == 0
    assert (only_toy / "report.html").read_text()[:200] == page[:200]


def test_report_without_results_says_how_to_get_some(only_toy, capsys):
    assert main(["report"]) == 1
    assert "cofactor reproduce" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["reproduce", "report"])
def test_the_library_alone_says_where_the_experiments_are(command, monkeypatch, tmp_path, capsys):
    for name in ("evaluation", "evaluation.cli"):
        monkeypatch.setitem(sys.modules, name, None)  # as where only the wheel is installed
    monkeypatch.chdir(tmp_path)
    assert main([command]) == 1
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1 and "clone the project and run this command there" in printed.err
    assert printed.out == "" and not list(tmp_path.iterdir())


def test_a_damaged_clone_is_not_taken_for_the_library_alone(monkeypatch):
    monkeypatch.delitem(sys.modules, "evaluation.cli")
    monkeypatch.setitem(sys.modules, "evaluation.record", None)
    with pytest.raises(ModuleNotFoundError, match=r"evaluation\.record"):
        main(["reproduce"])


def test_tidying_leaves_what_somebody_still_writes(tmp_path):
    left, held = tmp_path / "sub" / ".left.json.part", tmp_path / "sub" / ".held.json.part"
    left.parent.mkdir()
    for path in (left, held):
        path.touch()
        path.with_suffix(".lock").touch()
    with FileLock(held.with_suffix(".lock")):
        experiments.tidy(tmp_path)
    assert sorted(path.name for path in left.parent.iterdir()) == [".held.json.lock", ".held.json.part"]
