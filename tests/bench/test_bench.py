"""A method of one's own beside the vote and the default: how it is found, what it is told, what comes out."""

import json
from functools import partial
from importlib.metadata import version
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.core.errors import CofactorError
from cofactor.crowd import Outside, error_rate, vote_shares
from cofactor.crowd.scores import score
from cofactor.data.registry import entries
from cofactor.data.storage import offline
from cofactor.registry import source_of
from cofactor_app.bench import (
    FAMILY,
    KnownSet,
    Trial,
    bench,
    by_family,
    choice_report,
    known_sets,
    left_out,
    report,
    run,
)
from cofactor_app.bench.answers import problem_of
from cofactor_app.bench.folder import sets_of
from cofactor_app.bench.sets import SIMULATED, drawn_crowd
from cofactor_app.cli import main
from cofactor_app.peak import CLEAR_REFS

MINE = '''
import gc
import sys
import numpy as np
import cofactor as cf


def vote(labels, power=1):
    return labels.votes.astype(float) ** power


class Half:
    """Right only on large sets."""

    def __init__(self, least=500):
        self.least = least

    def fit(self, labels):
        if labels.n_tasks > 20 and labels.n_tasks < self.least:
            raise ValueError("too few")
        self.fitted = cf.crowd.vote_shares(labels)

    def predict_proba(self, labels):
        return self.fitted


def wrong_shape(labels):
    return [0.5, 0.5]


def takes(labels, more):
    """Take memory where every task has one label."""
    taken = np.ones(more * 10**6 // 8 if labels.n_tasks > 20 and labels.votes.sum() == labels.n_tasks else 1)
    return labels.votes + 0.0 * taken[0]


def reads_truth(labels):
    with open(FOLDER + "/mine_truth.csv") as file:
        return file.read()


def loads_truth(labels):
    return cf.load("bluebird").truth


def searches(labels):
    """Everything in this process that could be the truth: arrays and lists with one class a task."""
    if labels.n_tasks < 20:
        return cf.crowd.vote_shares(labels)
    found = [thing for thing in gc.get_objects() if issubclass(type(thing), list | dict | tuple)]
    frame, seen = sys._getframe(), []
    while frame:
        seen += [value for value in frame.f_locals.values() if issubclass(type(value), np.ndarray)]
        frame = frame.f_back
    arrays = [value for thing in found for value in (thing.values() if isinstance(thing, dict) else thing)]
    likely = [a for a in [*arrays, *seen] if issubclass(type(a), np.ndarray) and a.shape == (labels.n_tasks,)
              and a.dtype.kind in "iu" and a.max() < labels.n_classes and a.min() >= -1]
    for thing in likely:
        if (np.maximum(thing, 0) != labels.votes.argmax(axis=1)).mean() < 0.4:
            return np.maximum(thing, 0)
    return 1 - labels.votes.argmax(axis=1)
'''


@pytest.fixture
def mine(tmp_path):
    """A file with methods, and a folder with one set of one's own."""
    labels, truth = drawn_crowd("sim_one_accuracy", 5)
    labels.to_frame().to_csv(tmp_path / "mine.csv", index=False)
    pd.DataFrame({"task": labels.tasks, "truth": truth}).to_csv(tmp_path / "mine_truth.csv", index=False)
    path = tmp_path / "my.py"
    path.write_text(MINE.replace("FOLDER", repr(str(tmp_path))), encoding="utf8")
    return path


def trials(*methods, sets, **more):
    return [t for t in bench(methods, sets, **more) if t.method in methods]


# ---- a method from outside ----


def test_functions_objects_and_codes_are_methods(mine):
    labels, _ = drawn_crowd("sim_one_accuracy")
    codes = vote_shares(labels).argmax(axis=1)
    for method in (
        vote_shares,
        f"{mine}:vote",
        f"{mine}:Half(least=1)",
        cf.crowd.MajorityVote(),
        f"{mine}:vote(power=1)",
    ):
        found = Outside(method).fit(labels)
        assert np.allclose(found.predict_proba(labels), vote_shares(labels)), method
        assert len(cf.crowd.workers_table(found, labels)) == labels.n_workers
    assert np.array_equal(Outside(lambda labels: codes).fit(labels).predict(labels), codes)
    assert not np.allclose(Outside(f"{mine}:vote(power=2)").fit(labels).predict_proba(labels), vote_shares(labels))
    nothing = Outside(lambda labels: np.zeros((labels.n_tasks, 2))).fit(labels)
    assert (nothing.predict_proba(labels) == 0.5).all()


class LikeCrowdKit:
    """The protocol of crowd-kit: tables in, a table or a Series by task out."""

    def fit(self, data):
        raise AssertionError("fit_predict_proba is there")

    def fit_predict_proba(self, data: pd.DataFrame) -> pd.DataFrame:
        counts = pd.crosstab(data["task"], data["label"])
        return counts.div(counts.sum(axis=1), axis=0).sample(frac=1, random_state=0)


def most_frequent(df):
    return df.groupby("task")["label"].agg(lambda said: said.mode()[0])


@pytest.mark.slow
def test_methods_of_tables_run_as_they_are():
    labels, _ = drawn_crowd("sim_specialists")
    labels = cf.CrowdLabels.from_frame(
        labels.to_frame().assign(label=lambda df: df["label"].map(["c", "a", "b"].__getitem__))
    )
    assert np.allclose(Outside(LikeCrowdKit()).fit(labels).predict_proba(labels), vote_shares(labels))
    first = labels.votes.argmax(axis=1)
    for method in (most_frequent, lambda data: most_frequent(data)):
        assert np.array_equal(Outside(method).fit(labels).predict(labels), first)
    some = Outside(lambda df: most_frequent(df).iloc[1:]).fit(labels).predict_proba(labels)
    assert np.allclose(some[0], 1 / 3) and np.array_equal(some[1:].argmax(axis=1), first[1:])
    for wrong in (lambda df: most_frequent(df).replace("a", "z"), lambda df: pd.DataFrame({"z": [1.0]})):
        with pytest.raises(CofactorError, match=r"the method answers with .*: 'z'"):
            Outside(wrong).fit(labels)


@pytest.mark.slow
def test_a_method_without_any_result_is_an_error_and_one_with_some_is_told_by_the_exit_code(
    here, mine, tmp_path, capsys
):
    kept = ["--keep", str(tmp_path / "kept.jsonl")]
    assert main(["bench", f"{mine}:wrong_shape", "sim_copies", "sim_one_label", *kept]) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("error: wrong_shape failed on all 2 sets: ")
    assert "the method must answer with (400, " in said.err and said.err.count("must answer") <= 2
    assert main(["bench", f"{mine}:Half(least=401)", "sim_copies", "sim_one_label", *kept]) == 1
    assert capsys.readouterr().err.count("too few") == 1
    Path(mine.parent, "few.py").write_text(
        "def f(labels):\n    assert labels.n_workers > 20\n    return labels.votes\n"
    )
    assert main(["bench", f"{mine.parent / 'few.py'}:f", "sim_copies", "sim_one_label", *kept]) == 3
    assert "f failed on sim_copies: the method stops in few.py" in capsys.readouterr().out


def test_what_is_no_method_gets_one_sentence(mine):
    labels, _ = drawn_crowd("sim_one_accuracy")
    for where, said in (
        ("nowhere.py:vote", "file nowhere.py does not exist"),
        (f"{mine}:Mine", "has no Mine; it has vote, Half"),
        (f"{mine}:vote(power=x)", "cannot read the options of"),
        (f"{mine}:vote(strength=2)", "strength"),
        (f"{mine}:", "is not the name of a method"),
        ("no_such_package:vote", "cannot be imported"),
        (f"{mine}:wrong_shape", r"must answer with \(400, 2\) probabilities or 400 class codes, not shape \(2,\)"),
        (f"{mine}:Half", r"stops in my.py, line \d+: ValueError: too few"),
    ):
        with pytest.raises(CofactorError, match=said):
            Outside(where).fit(labels)
    for answer, said in (
        (np.full((400, 2), np.nan), "NaN or negative values for tasks 0"),
        (np.full(400, 7), "from 0 to 1, not 7"),
    ):
        with pytest.raises(CofactorError, match=said):
            Outside(lambda labels, answer=answer: answer).fit(labels)
    for problem, strange, default in (("crowd", "MajorityVotes", "WorkerTypes"), ("pmf", "", "CNMF-EM")):
        with pytest.raises(CofactorError, match=f"no {problem} method is named '{strange}': .*{default}"):
            next(bench([f"{mine}:vote", strange], [], problem=problem))


# ---- the trial ----


def test_each_set_has_the_vote_the_default_and_mine(here, mine):
    sets = known_sets("crowd", ["mine", "sim_copies"], sets_of(mine.parent, "crowd"))
    found = list(bench([f"{mine}:vote"], sets))
    assert [t.method for t in found] == 2 * ["MajorityVote", "WorkerTypes", f"{mine}:vote"]
    for crowd, vote, default, own in zip(sets, found[::3], found[1::3], found[2::3], strict=True):
        labels, truth = crowd.read()
        assert own.accuracy == vote.accuracy == pytest.approx(100 - 100 * error_rate(vote_shares(labels), truth))
        assert own.more == 0 and own.p == 1 and own.above_default == pytest.approx(-default.more)
        assert (own.above_low, own.above_high) == pytest.approx((-default.high, -default.low))
        assert (own.memory is None) != CLEAR_REFS.exists() and (own.memory or 99) > 50
        assert own.ece == pytest.approx(score(vote_shares(labels), truth).ece)
    assert found[4].more > 5 and found[4].low > 0  # copies, which the default merges
    assert list(by_family(found).index) == ["your folder", "sim_copies"]
    said = "\n".join(report(found, {}))
    assert "\nmean " in said and "\nmean " not in "\n".join(report(found[:3], {}))  # of one family there is none
    for own in found[2::3]:
        assert f"{own.above_default:+.2f} ({own.above_low:+.1f} to {own.above_high:+.1f})" in said
    assert not found[1].above_default and "-" in "\n".join(report(found[:2], {})).splitlines()[-1].split()


def test_a_failure_on_one_set_is_one_row(here, mine):
    sets = [*known_sets("crowd", ["sim_copies"]), *known_sets("crowd", ["mine"], sets_of(mine.parent, "crowd"))]
    found = trials(f"{mine}:Half(least=401)", f"{mine}:wrong_shape", f"{mine}:vote", sets=sets)
    assert [bool(t.error) for t in found] == [True, True, False, True, True, False]
    lines = "\n".join(report(found, {"vote": 3}))
    assert "Half(least=401) failed on sim_copies, mine: the method stops in my.py" in lines
    assert "3 variants of vote have been run" in lines


def test_a_method_of_the_kit_that_does_not_fit_or_crashes_is_a_row_too(quick, monkeypatch):
    found = list(bench(["LDA"], known_sets("separable", ["sim_midpoints"]), problem="separable"))
    assert found[-1].error == "LDA finds topics of words, not columns of X" and found[0].accuracy is not None
    monkeypatch.setattr(cf.crowd.METHODS["MV-EM"], "fit", lambda self, labels: 1 / 0)
    assert run._answer("MV-EM", drawn_crowd("sim_copies")[0]).error == "ZeroDivisionError: division by zero"


@pytest.mark.slow
@pytest.mark.skipif(not CLEAR_REFS.exists(), reason="the system does not tell")
def test_memory_is_that_of_the_method_on_this_set(mine, tmp_path, monkeypatch, capsys):
    """A process that takes 300 MB on one set, and gives them back, does not have them on the next one."""
    monkeypatch.chdir(tmp_path)
    asked = [
        "bench",
        f"{mine}:takes(more=300)",
        "sim_one_label",
        "sim_copies",
        "--report",
        "page.html",
        "-o",
        "out.jsonl",
    ]
    assert main(asked) == 0
    out = pd.read_json("out.jsonl", lines=True).pivot_table(index="set", columns="method", values="memory")
    plain, large = out.loc["sim_copies"], out.loc["sim_one_label"]
    assert 290 < large[asked[1]] - plain[asked[1]] < 330 and abs(large["MajorityVote"] - plain["MajorityVote"]) < 50
    assert 50 < plain["MajorityVote"] < 400
    assert f"{large[asked[1]]:.0f}" in capsys.readouterr().out.split("CPU s  MB")[1].splitlines()[1]
    page = (tmp_path / "page.html").read_text(encoding="utf8")
    assert f"<td>{plain['WorkerTypes']:.0f}</td></tr>" in page and "<th>MB</th>" in page


@pytest.mark.slow
def test_no_truth_reaches_the_method(mine):
    own = known_sets("crowd", ["mine"], sets_of(mine.parent, "crowd"))
    for name, said in (("reads_truth", "opens data sets"), ("loads_truth", "opens data sets")):
        (found,) = trials(f"{mine}:{name}", sets=own, folders=[mine.parent])
        assert found.accuracy is None and said in found.error
    (found,) = trials(f"{mine}:searches", sets=own, folders=[mine.parent])
    assert found.accuracy < 50  # it found nothing, and answers against the vote
    labels, truth = own[0].read()
    assert error_rate(Outside(f"{mine}:searches").fit(labels).predict(labels), truth) == 0  # where there is truth


def test_an_open_of_the_data_is_refused_and_told(mine, monkeypatch, tmp_path):
    """The hook that guards the process without truth, called here as Python calls it there."""
    watching = []
    monkeypatch.setattr(run.sys, "addaudithook", watching.append)
    run._seal([str(tmp_path)])
    (watch,) = watching
    for path in (tmp_path / "truth.csv", str(tmp_path / "deep" / "truth.csv"), f"{tmp_path}/../{tmp_path.name}/x"):
        with pytest.raises(run._Sealed):
            watch("open", (path, "r", 0))
    free = (f"{tmp_path}/my.py", f"{tmp_path}/__pycache__/my.pyc", f"{tmp_path}_more/truth.csv", 3, b"truth.csv")
    for path in free:
        watch("open", (path, "r", 0))
    watch("os.listdir", (str(tmp_path),))

    def opens(*_, **__):
        watch("open", (str(tmp_path / "truth.csv"), "r", 0))

    monkeypatch.setattr(cf.crowd.METHODS["MV-EM"], "fit", opens)
    assert run._answer("MV-EM", drawn_crowd("sim_copies")[0]).error == f"the method {run.OPENS}"
    monkeypatch.setattr(run, "loaded", opens)
    with pytest.raises(CofactorError, match=r"my\.py:vote opens data sets"):
        run._find(f"{mine}:vote")


def test_a_process_that_ends_is_a_row_and_another_is_begun(here, monkeypatch):
    given = drawn_crowd("sim_copies")[0]
    with run._Process([]) as process:
        first = process("MajorityVote", given)
        pool = process.pool
        with monkeypatch.context() as patch:
            patch.setattr(pool, "submit", mock.Mock(side_effect=run.BrokenProcessPool))
            broken = process("MajorityVote", given)
        assert "the process ended unexpectedly, perhaps because memory is short" in broken.error and broken.said is None
        again = process("MajorityVote", given)
        assert np.array_equal(again.said, first.said) and process.pool is not pool
    assert process.pool.ended


def test_what_was_run_is_not_run_again(here, mine, tmp_path, monkeypatch):
    sets, kept, name = known_sets("crowd", ["sim_copies"]), tmp_path / "kept.jsonl", f"{mine}:vote"
    first = list(bench([name], sets, kept))
    with monkeypatch.context() as patch:
        patch.setattr(run, "_on_one_set", partial(pytest.fail, "run again"))
        assert list(bench([name], sets, kept)) == first
    assert len(kept.read_text().splitlines()) == 3
    before = source_of(name)
    mine.write_text(mine.read_text() + "\n")
    assert source_of(name) != before
    assert len(list(bench([name], sets, kept))) == 3 and len(kept.read_text().splitlines()) == 4
    kept.write_text("task,worker\n")
    with pytest.raises(CofactorError, match="does not contain results"):
        list(bench([name], sets, kept))


def test_simulated_crowds_are_what_their_names_say():
    for name in SIMULATED["crowd"]:
        labels, truth = drawn_crowd(name)
        assert labels.n_tasks == len(truth) == 400
        kinds = {"sim_specialists": 3, "sim_one_label": 4, "sim_grades": 5, "sim_dawid_skene": 4, "sim_drifting": 2}
        assert labels.n_classes == kinds.get(name, 2) == len(set(truth)), name
        assert (
            np.array_equal(drawn_crowd(name)[1], truth)
            and drawn_crowd(name)[0].table.values.tolist() == labels.table.values.tolist()
        )
        assert error_rate(vote_shares(labels), truth) < 0.5, name
    assert (drawn_crowd("sim_one_label")[0].table.entries_per_row == 1).all()
    codes = drawn_crowd("sim_copies")[0].table.codes
    assert (codes[:, :4] == codes[:, [0]]).all()
    shared = drawn_crowd("sim_shared_errors")
    wrong = shared[0].table.codes != shared[1][:, None]
    among = [np.corrcoef(wrong[:, pair].T)[0, 1] for pair in ([0, 1], [4, 5])]
    assert among[0] > 0.5 > abs(among[1])


def test_sets_by_name():
    assert [c.name for c in known_sets("crowd", ["bluebird"])] == ["bluebird"] and FAMILY["zencrowd_us"] == "zencrowd"
    with pytest.raises(CofactorError, match="no crowd set is named 'nowhere': choose from adult_content"):
        known_sets("crowd", ["nowhere"])
    with pytest.raises(
        CofactorError, match=r"named 'labelme' \(data sets that the bench does not include: labelme; give"
    ):
        known_sets("crowd", ["labelme"])
    own = KnownSet("bluebird", "mine", tuple)
    assert known_sets("crowd", ["bluebird"], [own]) == [own]


@pytest.mark.slow
def test_the_command_prints_and_writes(here, mine, tmp_path, capsys):
    out, kept = tmp_path / "trials.csv", tmp_path / "kept.jsonl"
    assert main(["bench", f"{mine}:vote", "sim_copies", "sim_one_label", "--keep", str(kept), "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "% by family (2, with equal weights):" in said and "WorkerTypes: below the vote on 0 of 2 sets" in said
    assert len(pd.read_csv(out)) == 6 and {json.loads(line)["set"] for line in kept.read_text().splitlines()} == {
        "sim_copies",
        "sim_one_label",
    }
    assert "variants" not in said
    assert main(["bench", f"{mine}:vote(power=2)", "sim_copies", "--keep", str(kept)]) == 0
    assert "2 variants of vote have been run" in capsys.readouterr().out
    for least, told in ((401, ""), (1, ""), (2, "2 variants of Half have been run")):  # the first gives no answer
        main(["bench", f"{mine}:Half(least={least})", "sim_copies", "--keep", str(kept)])
        assert ("variants of Half" in (said := capsys.readouterr().out)) == bool(told) and told in said, least
    assert main(["bench", f"{mine}:nothing", "sim_copies", "--keep", str(kept)]) == 1
    assert "has no nothing" in capsys.readouterr().err


def test_aggregate_takes_it(mine, tmp_path, capsys):
    out = tmp_path / "consensus.csv"
    assert main(["aggregate", str(mine.parent / "mine.csv"), "--method", f"{mine}:vote", "-o", str(out)]) == 0
    labels, _ = known_sets("crowd", ["mine"], sets_of(mine.parent, "crowd"))[0].read()
    assert np.allclose(pd.read_csv(out)["probability"], vote_shares(labels).max(axis=1))


LINES = """
import numpy as np
import cofactor as cf


def mode(table):
    codes = np.array(table.codes)
    for column in codes.T:
        column[:] = np.bincount(column[column >= 0]).argmax()
    return codes


def spa(X, K):
    return cf.separable.spa(X, K)


class Finder:
    n_anchors = None

    def fit(self, X):
        self.anchors_ = cf.separable.spa(X, self.n_anchors)


class Coin:
    def fit(self, comparisons):
        return self

    def predict_proba(self, user, left, right):
        return np.full(len(user), 0.5)


def equal(comparisons):
    return np.zeros(comparisons.n_items)


class Sure(Coin):
    def predict_proba(self, user, left, right):
        return np.full(len(user), 1.5)


class Whole(Coin):
    def predict_proba(self, comparisons):
        return np.full(len(comparisons), 0.5)


def short(comparisons):
    raise ValueError("too short")
"""
OF_PROBLEMS = {  # set, by problem, and the methods with those that they are
    "pmf": ("sim_joint_sparse", {"mode": "Independence"}),
    "separable": ("sim_dirichlet", {"spa": "SPA", "Finder": "SPA"}),
    "comparisons": ("sim_tastes_few", dict.fromkeys(("Coin", "equal", "Sure", "Whole", "short"))),
}


@pytest.mark.parametrize("problem", OF_PROBLEMS)
def test_other_problems_are_known_by_the_argument_and_scored_alike(quick, tmp_path, problem):
    path, (one, methods) = tmp_path / "lines.py", OF_PROBLEMS[problem]
    path.write_text(LINES, encoding="utf8")
    names = {name: f"{path}:{name}" for name in methods}
    assert {problem_of(name) for name in names.values()} == {problem}
    trials = {t.method: t for t in bench(list(names.values()), known_sets(problem, [one]), problem=problem)}
    found = {name: trials[whole] for name, whole in names.items()}
    for name, same in methods.items():
        if same:
            assert found[name].accuracy == pytest.approx(trials[same].accuracy, abs=0.5), name
    if problem == "comparisons":
        assert found["Coin"].accuracy == 50 == found["equal"].accuracy and found["Coin"].high < 0
        assert "2000 probabilities from 0 to 1" in found["Sure"].error
        assert "three arrays of numbers, (user, left, right)" in found["Whole"].error
        assert "ValueError: too short" in found["short"].error


def test_a_file_that_cannot_be_read_as_python_is_of_crowds(tmp_path):
    for name in ("lines.txt", "lines.py", "half.py"):
        (tmp_path / name).write_text(LINES if name != "half.py" else "def spa(X, K", encoding="utf8")
    found = [problem_of(f"{tmp_path / name}:spa") for name in ("lines.py", "lines.txt", "half.py", "none.py")]
    assert found == ["separable", "crowd", "crowd", "crowd"]


def test_simulated_problems_are_what_their_names_say():
    tables = [one.read() for one in known_sets("pmf", list(SIMULATED["pmf"]))]
    for (problem, truth), observed in zip(tables, (1.0, 0.4, 1.0), strict=True):
        assert problem.given.codes.shape == (1000, 8) and set(problem.given.sizes) == {4}
        assert (problem.given.codes[tuple(problem.asked.T)] == -1).all()
        known = problem.given.n_entries + len(truth)
        assert len(truth) == known // 5 and abs(known / 8000 - observed) < 0.03
    for name, n_columns, n_anchors in (
        ("sim_dirichlet", 200, 20),
        ("sim_dirichlet_noisy", 200, 20),
        ("sim_midpoints", 55, 10),
    ):
        problem, truth = known_sets("separable", [name])[0].read()
        assert (problem.given.shape[1], problem.asked, len(set(truth))) == (n_columns, n_anchors, n_anchors)
    for name, n_users, n_items, n, asked in (
        ("sim_tastes", 50, 30, 3000, 2000),
        ("sim_tastes_few", 50, 30, 800, 2000),
        ("sim_one_taste", 50, 30, 3000, 2000),
        ("sim_two_way", 40, 8, 2399, 601),
    ):
        problem, truth = known_sets("comparisons", [name])[0].read()
        assert (problem.given.n_users, problem.given.n_items, len(problem.given)) == (n_users, n_items, n), name
        assert problem.asked.shape == (asked, 3) and 0.4 < truth.mean() < 0.6, name


def test_skills_of_the_next_season_are_asked():
    problem, truth = known_sets("comparisons", ["sim_drifting_skill"])[0].read()
    weeks, asked = problem.given.user, problem.asked[:, 0]
    assert (problem.given.n_users, problem.given.n_items) == (88, 96)
    assert set(weeks) == set(range(44)) and set(asked) == set(range(44, 88))
    assert set(np.bincount(weeks)) == {30} and len(truth) == len(asked) == 44 * 30  # two tournaments a week


def test_the_command_takes_the_problem_of_the_argument(quick, tmp_path, capsys):
    path = tmp_path / "lines.py"
    path.write_text(LINES, encoding="utf8")
    keep = ("--keep", f"{tmp_path}/kept.jsonl")
    assert main(["bench", f"{path}:mode", "sim_joint_sparse", *keep]) == 0
    assert "problem pmf: accuracy is the fraction of hidden cells" in capsys.readouterr().out
    assert main(["bench", f"{path}:mode", "nowhere", *keep]) == 1
    assert "no pmf set is named 'nowhere'" in capsys.readouterr().err


def test_public_tables_and_comparisons_ask_for_what_was_hidden():
    for problem, name in (("pmf", "votes"), ("comparisons", "cars1")):
        if not offline(entries()[name]):
            continue
        (one,) = known_sets(problem, [name])
        problem, truth = one.read()
        assert len(problem.asked) == len(truth) > 400 and 0.1 < len(truth) / (len(truth) + amount(problem)) < 0.25
        if problem == "pmf":
            assert (problem.given.codes[tuple(problem.asked.T)] == -1).all()


def amount(problem):
    return problem.given.n_entries if problem.problem == "pmf" else len(problem.given)


# ---- variants, chosen by the other families ----


def test_what_is_tuned_to_a_family_is_not_chosen_by_it():
    accuracies = {"a": (60, 99, 70), "b": (60, 50, 71), "c": (60, 50, 73)}  # the vote, one tuned to a, a steady one
    names = ("MajorityVote", "my.py:Mine(tuned=1)", "my.py:Mine(tuned=0)")
    found = [
        Trial(f"{family}{place}", family, name, "", 100, accuracy, accuracy - 60, -9, 9, 1, 0, -9, 9, 0.1, 0.0, 150.0)
        for family, values in accuracies.items()
        for place in (1, 2)
        for name, accuracy in zip(names, values, strict=True)
    ]
    choice, chosen = left_out(found, names[1:])
    assert choice == {"a": names[2], "b": names[1], "c": names[1]}
    assert [trial.accuracy for trial in chosen] == [70, 70, 50, 50, 50, 50]
    said = "\n".join(choice_report(found, names[1:]))
    assert "mean" in said and "56.67" in said  # (70 + 50 + 50) / 3, where the best on all has 71.33
    assert "chosen variants: below the vote on 4 of 6 sets" in said and "Mine(tuned=0), has 71.33" in said
    for few in (left_out(found, names[2:]), left_out([t for t in found if t.family == "a"], names[1:])):
        assert few == ({}, [])


@pytest.mark.slow
def test_the_command_chooses_by_families_and_keeps_what_was_chosen(here, mine, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first, second = f"{mine}:vote(power=1)", f"{mine}:vote(power=0)"
    sets = ["sim_copies", "sim_one_accuracy", "sim_spammers"]
    asked = ["bench", first, *sets, "--beside", second, "--leave-family-out"]
    assert main([*asked, "-o", "out.csv"]) == 0
    assert "with one of 2 variants chosen using the other families" in capsys.readouterr().out
    out = pd.read_csv("out.csv")
    chosen = out[out["method"] == "vote (chosen using the other families)"].set_index("set")["accuracy"]
    assert list(chosen.index) == sets
    assert (chosen == out[out["method"] == first].set_index("set")["accuracy"]).all()
    for few in (["bench", first, *sets, "--leave-family-out"], [*asked[:3], *asked[5:]]):
        assert main(few) == 1
        assert "needs two variants of the method and sets of two families" in capsys.readouterr().err


@pytest.mark.slow
def test_the_page_has_the_variants_by_their_names(here, mine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, second = f"{mine}:vote(power=1)", f"{mine}:vote(power=0)"
    sets, page = ["sim_copies", "sim_spammers"], tmp_path / "page.html"
    asked = ["bench", first, *sets, "--beside", second, "KOS", "--leave-family-out"]  # KOS is for two classes only
    assert main([*asked, "--report", str(page)]) == 0
    text = page.read_text(encoding="utf8")
    assert "<h1>Benchmark of vote</h1>" in text and text.count('<td class="text">vote(power=1)</td>') >= 2 * len(sets)
    assert "Content-Security-Policy" in text and str(mine) not in text


@pytest.mark.slow
def test_a_method_tuned_on_a_test_family_does_not_keep_its_lead(here, mine, tmp_path, monkeypatch, capsys):
    """It knows the first labels of one set by heart. What the other families choose is what may be claimed."""
    monkeypatch.chdir(tmp_path)
    labels, truth = drawn_crowd("sim_copies")
    np.savez(tmp_path / "heart.npz", first=labels.table.codes[:50], truth=truth)
    (tmp_path / "cheat.py").write_text(
        f"""
import numpy as np
import cofactor as cf

with np.load({str(tmp_path / "heart.npz")!r}) as kept:
    heart = dict(kept)


class Mine:
    def __init__(self, tuned):
        self.tuned = tuned

    def fit(self, labels):
        steady = cf.crowd.METHODS["MV-EM"]().fit(labels)
        self.found = cf.crowd.vote_shares(labels) if self.tuned else steady.predict_proba(labels)
        same = labels.n_tasks == 400 and np.array_equal(labels.table.codes[:50], heart["first"])
        if self.tuned and same:
            self.found = np.eye(2)[heart["truth"]]
        return self

    def predict_proba(self, labels):
        return self.found
""",
        encoding="utf8",
    )
    sets = ["sim_copies", "sim_spammers", "sim_one_accuracy"]
    asked = ["bench", "cheat.py:Mine(tuned=1)", *sets, "--beside", "cheat.py:Mine(tuned=0)", "--leave-family-out"]
    assert main([*asked, "-o", "out.csv"]) == 0
    out = pd.read_csv("out.csv").pivot_table(index="set", columns="method", values="accuracy")
    tuned, steady = (out[f"cheat.py:Mine(tuned={k})"] for k in (1, 0))
    chosen = out["Mine (chosen using the other families)"]
    assert tuned["sim_copies"] == 100 and tuned.mean() > steady.mean() + 1
    assert chosen["sim_copies"] == steady["sim_copies"] and chosen.mean() < tuned.mean() - 5
    assert "but there the same sets choose and score the variant" in capsys.readouterr().out


def test_methods_of_one_name_in_two_files_are_no_variants_of_each_other(quick, tmp_path, monkeypatch, capsys):
    """A package's own `MajorityVote` is another method than the built-in one, which was never seen to be the same."""
    monkeypatch.chdir(tmp_path)
    answer = "def Independence(table, value=0):\n    return np.where(table.codes < 0, value, table.codes)\n"
    for name in ("one.py", "two.py"):
        Path(name).write_text(f"import numpy as np\n\n\n{answer}", encoding="utf8")
    sets = ["sim_joint", "sim_joint_sparse", "sim_joint_independent"]
    for method, count in (("one.py:Independence", 0), ("two.py:Independence", 0), ("two.py:Independence(value=1)", 2)):
        assert main(["bench", method, *sets, "--problem", "pmf"]) == 0
        said = capsys.readouterr().out
        assert ("variants" in said) == (f"{count} variants of Independence" in said) == (count > 0), method


# ---- other libraries through the same door ----


@pytest.mark.slow
@pytest.mark.parametrize(("module", "method", "sets", "least"), [
    ("crowdkit", "crowd_kit.py:CrowdKit(name='OneCoinDawidSkene')", ["sim_one_accuracy"], 85),
    ("stepmix", "step_mix.py:latent_classes(rank=4)", ["sim_joint"], 35),
    ("sklearn", "scikit_learn.py:boosting(rounds=10)", ["sim_joint"], 30),
    ("sklearn", "scikit_learn.py:iterative_imputer", ["sim_joint"], 20),
    ("sklearn", "scikit_learn.py:nmf", ["sim_dirichlet"], 90),
    ("sklearn", "scikit_learn.py:lda", ["sim_midpoints"], 60),
    ("choix", "rankings.py:Choix", ["sim_tastes"], 65),
    ("evalica", "rankings.py:Evalica(method='elo')", ["sim_tastes"], 65),
])  # fmt: skip
def test_peers_answer(module, method, sets, least, quick, tmp_path, monkeypatch, capsys):
    pytest.importorskip(module)
    peers = Path(__file__).parents[2] / "evaluation" / "peers"
    monkeypatch.chdir(tmp_path)
    assert main(["bench", f"{peers}/{method}", *sets, "-o", "out.csv"]) == 0
    out, said = pd.read_csv("out.csv"), capsys.readouterr().out
    assert out["accuracy"].iloc[-1] > least and method.rpartition(":")[2] in out["method"].iloc[-1]
    distribution = {"crowdkit": "crowd-kit", "sklearn": "scikit-learn"}.get(module, module)
    assert f"{distribution} {version(distribution)}" in said and f"{peers}/{method}" not in said
