"""Grades on the command line: the order, what is printed, what is written, what is refused."""

from collections import namedtuple

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor_app.cli import main
from tests.oracles.graders import grader_crowd

Crowd = namedtuple("Crowd", "labels truth")
WORDS = ["awful", "weak", "mixed", "fine", "best"]


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Labels in words, and the truth of half of the tasks, as files; and the crowd."""
    folder = tmp_path_factory.mktemp("grades")
    drawn = Crowd(*grader_crowd(80, 8, per=4, random_share=0.25))
    frame = drawn.labels.to_frame()
    frame.assign(label=[WORDS[k] for k in frame["label"]]).to_csv(folder / "labels.csv", index=False)
    truth = pd.DataFrame({"task": drawn.labels.tasks, "truth": [WORDS[k] for k in drawn.truth]})
    truth.iloc[:40].to_csv(folder / "truth.csv", index=False)
    return folder, drawn


def test_grades_are_read_in_the_declared_order_and_the_table_has_their_interval(graded, tmp_path, capsys):
    folder, drawn = graded
    out = tmp_path / "consensus.csv"
    words = ("--order", " awful, weak,mixed,fine,best", "--truth", folder / "truth.csv", "--wide", "-v")
    assert run("aggregate", folder / "labels.csv", *words, "-o", out) == 0
    said = capsys.readouterr().out
    method = cf.crowd.WorkerTypes(order=drawn.labels.classes).fit(drawn.labels)
    answers, p = method.predict(drawn.labels), method.predict_proba(drawn.labels)
    low, high = method.interval(p)
    written = pd.read_csv(out)
    columns = ["task", "label", "probability", "low", "high", "n_labels", "disputed", "overruled"]
    assert list(written.columns) == [*columns, *(f"probability {word}" for word in WORDS)]
    for column, codes in (("label", answers), ("low", low), ("high", high)):
        assert [WORDS.index(word) for word in written[column]] == codes.tolist(), column
    assert np.allclose(written["probability"], p[np.arange(80), answers], atol=1e-6)
    off, mean = np.abs(answers - drawn.truth)[:40].mean(), np.rint(cf.crowd.vote_shares(drawn.labels) @ np.arange(5))
    assert f"rounded mean {np.abs(mean - drawn.truth)[:40].mean():.3f}, WorkerTypes {off:.3f}" in said
    alpha = cf.crowd.krippendorff_alpha(drawn.labels, "interval")
    assert f"interval {alpha:.2f}" in said and "ordinal 0." in said
    assert "the median grade" in said
    error = np.mean(answers[:40] != drawn.truth[:40])
    assert f"error: {100 * error:.1f} %, majority vote" in said


@pytest.mark.slow
def test_workers_and_report_are_written(graded, tmp_path):
    outputs = ("--workers", tmp_path / "workers.csv", "--report", tmp_path / "report.html")
    assert run("aggregate", graded[0] / "labels.csv", "--order", ",".join(WORDS), *outputs) == 0
    assert len(pd.read_csv(tmp_path / "workers.csv")) == 8
    assert "the median grade" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_grades_that_nobody_chose_may_be_named_and_may_be_true(tmp_path, capsys):
    drawn = Crowd(*grader_crowd(60, 6, 4, 4, seed=1))
    labels, truth = tmp_path / "labels.csv", tmp_path / "truth.csv"
    drawn.labels.to_frame().to_csv(labels, index=False)
    pd.DataFrame({"task": range(60), "truth": [5, *drawn.truth[1:].tolist()]}).to_csv(truth, index=False)
    order = ("--order", "0,1,2,3,4,5")
    assert run("aggregate", labels, "--truth", truth, *order, "--wide", "-o", tmp_path / "p.csv") == 0
    said = capsys.readouterr()
    assert "60 tasks, 6 workers, 6 classes" in said.out and "no worker chose the true class" not in said.err
    assert list(pd.read_csv(tmp_path / "p.csv").columns)[-6:] == [f"probability {k}" for k in range(6)]


def test_classes_that_look_like_grades_are_noted_and_not_taken_for_some(tmp_path, capsys):
    path = tmp_path / "labels.csv"
    drawn = Crowd(*grader_crowd(80, 8, per=4))
    drawn.labels.to_frame().to_csv(path, index=False)
    assert run("aggregate", path, "-o", tmp_path / "consensus.csv") == 0
    assert 'declare the order with --order "0,1,2,3,4"' in capsys.readouterr().err
    assert "low" not in pd.read_csv(tmp_path / "consensus.csv").columns
    assert run("diagnose", path) == 0
    assert "workers agree better in the order 0, 1, 2, 3, 4 than in nine of ten others" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--order", "awful,weak"), "leaves out 'best', 'fine', 'mixed'"),
        (("--order", ""), "must be a list of all classes"),
        (
            ("--order", ",".join(WORDS), "--method", "MV-EM"),
            "order can only be used with WorkerTypes: leave out method MV-EM",
        ),
    ],
)
def test_what_does_not_go_with_grades_is_refused(words, error, graded, capsys):
    assert run("aggregate", graded[0] / "labels.csv", *words) == 1
    assert error in capsys.readouterr().err
