"""`cofactor reproduce` and `cofactor report`: what is run, compared, refused and written."""

import pandas as pd
import pytest

from cofactor_app.cli import main
from evaluation import EXPERIMENTS, cli, summary
from evaluation.trials import keep, made_by, raw_trials, run
from tests.evaluation.toy import FACTS, toy


@pytest.fixture
def experiments(monkeypatch, tmp_path):
    """Let the toy be the only experiment, its trials kept in a folder; returns the folder of results."""
    monkeypatch.setattr(summary, "published", lambda name: FACTS)
    monkeypatch.setattr(cli, "EXPERIMENTS", {"toy": toy(trials=3)})
    monkeypatch.setattr(cli, "find_experiment", cli.EXPERIMENTS.__getitem__)
    return tmp_path / "results"


def test_without_names_all_are_listed_and_an_unknown_one_is_refused(capsys):
    assert main(["reproduce"]) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in EXPERIMENTS) and "printed" in told
    assert main(["reproduce", "crowd-tabel4"]) == 1
    assert "no experiment 'crowd-tabel4': did you mean 'crowd-table4'?" in capsys.readouterr().err
    assert "crowd-table7-released" in {one.name for one in cli.printed()}
    assert not {"crowd-table7", "crowd-next", "pmf-figure1"} & {one.name for one in cli.printed()}


@pytest.mark.slow
def test_a_run_prints_its_table_and_the_page_is_written_once_unless_forced(experiments, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["report", "--results", str(experiments), "-o", str(page)]) == 1
    assert "no results in" in capsys.readouterr().err
    assert main(["reproduce", "toy", "--jobs", "1", "--results", str(experiments)]) == 0
    told = capsys.readouterr().out
    assert "Toy (nowhere)" in told and "not for this data" in told and "toy.jsonl" in told
    assert main(["report", "--results", str(experiments), "-o", str(page)]) == 0
    text = page.read_text()
    assert "small set" in text and "not for this data" in text and "data:image/png" in text
    assert main(["report", "--results", str(experiments), "-o", str(page)]) == 1
    assert main(["report", "--results", str(experiments), "-o", str(page), "--force"]) == 0


def test_with_fewer_trials_than_are_kept_nothing_is_decided(experiments, tmp_path, monkeypatch, capsys):
    assert main(["reproduce", "toy", "--jobs", "1", "--results", str(experiments)]) == 0
    assert " differs" in capsys.readouterr().out
    monkeypatch.setattr(cli, "needed", lambda name: {("small", "Sum"): 9, ("small", "Largest"): 9})
    assert main(["reproduce", "toy", "--jobs", "1", "--results", str(experiments)]) == 0
    told = capsys.readouterr().out
    assert " differs" not in told and "3 of the 9 trials that are kept, which decide" in told


@pytest.mark.slow
def test_check_says_how_many_numbers_are_as_kept(monkeypatch, capsys):
    assert main(["reproduce", "crowd-table6", "--check"]) == 0
    assert capsys.readouterr().out.splitlines() == ["crowd-table6: 4 of 4 numbers as kept", "4 of 4 numbers as kept"]
    monkeypatch.setattr(cli, "_compared", _other)
    assert main(["reproduce", "crowd-table6", "--check"]) == 1
    told = capsys.readouterr()
    assert "crowd-table6: 1 of 2 numbers as kept" in told.out and "1 of 2 numbers differ" in told.err


def _other(name):
    both = pd.DataFrame({"method": ["A", "B"], "kept": [1.0, 2.0], "found": [1.0, 3.0], "absent": [False, False]})
    return both, both.iloc[1:]


def test_verdicts_need_as_many_trials_as_are_kept(tmp_path, monkeypatch):
    keep("toy", run(toy(), tmp_path / "run", trials=3), made_by(), tmp_path)
    monkeypatch.setattr(cli, "KEPT", tmp_path)
    monkeypatch.setattr(cli, "raw_trials", lambda name: raw_trials(name, tmp_path))
    assert cli.needed("toy")[("small", "Sum")] == 3 and cli.needed("none") == {}
