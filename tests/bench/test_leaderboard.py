"""The page of all methods: what its numbers are, and whether the kept ones are those of today's code."""

import numpy as np
import pandas as pd
import pytest

from cofactor_app.bench import bench, known_sets
from cofactor_app.bench.answers import ANSWERS
from cofactor_app.bench.sets import SIMULATED
from evaluation import real_data as leaderboard
from evaluation.real_data import FROM_A_FOLDER

QUICK = 0.5  # CPU seconds of a method on a set, to run it again


def trial(set_, family, method, accuracy, more, above, error=""):
    low, high = (more - 1, more + 1) if accuracy is not None else (None, None)
    ece, seconds = (0.1, 2.0) if accuracy is not None else (None, None)
    numbers = {"accuracy": accuracy, "more": more, "low": low, "high": high, "above_default": above}
    where = {"set": set_, "family": family, "method": method, "tasks": 10}
    return {**where, **numbers, "ece": ece, "seconds": seconds, "error": error}


@pytest.fixture
def kept(tmp_path):
    """A folder with results of two files: the kit's, and somebody's."""
    rows = [
        trial("bluebird", "bluebird", "MajorityVote", 60.0, 0.0, -10.0),
        trial("bluebird", "bluebird", "WorkerTypes", 70.0, 10.0, None),
        trial("zencrowd_us", "zencrowd", "MajorityVote", 80.0, 0.0, 4.0),
        trial("zencrowd_us", "zencrowd", "WorkerTypes", 76.0, -4.0, None),
        trial("zencrowd_in", "zencrowd", "MajorityVote", 70.0, 0.0, 0.0),
        trial("zencrowd_in", "zencrowd", "WorkerTypes", 70.0, 0.0, None),
        trial("bluebird", "bluebird", "KOS", None, None, None, "for two | classes only"),
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "crowd.csv", index=False)
    mine = [
        trial("bluebird", "bluebird", "somewhere/evaluation/peers/mine.py:Mine(alpha=2)", 72.0, 12.0, 2.0),
        trial("bluebird", "bluebird", "MajorityVote", 60.0, 0.0, -10.0),
    ]
    pd.DataFrame(mine).to_csv(tmp_path / "mine.csv", index=False)
    return leaderboard.kept(tmp_path)


def test_sets_of_a_folder_have_their_families(kept, tmp_path):
    pd.DataFrame([trial("snow_joy", "your folder", "WorkerTypes", 80.0, 1.0, None)]).to_csv(tmp_path / "more.csv")
    found = leaderboard.kept(tmp_path).set_index("set").loc["snow_joy"]
    assert (found["family"], found["problem"]) == ("affect", "crowd")
    assert set(FROM_A_FOLDER) <= set(leaderboard.kept()["set"])


def test_families_count_alike_and_rows_are_sorted_by_the_difference_from_the_default(kept):
    drawn = pd.DataFrame({"set": ["bluebird"], "method": ["WorkerTypes"], "mean": [71.0], "std": [0.5]})
    first, types, vote = leaderboard.methods("crowd", kept, drawn.iloc[:0])
    assert first["method"] == "Mine(alpha=2) (mine)" and (first["accuracy, %"], first["families"]) == ("72.00", "1")
    assert first["above the default"] == "+2.00" and first["CPU s"] == "2.0"
    assert types["method"] == "WorkerTypes (default)" and types["above the default"] == "-"
    assert types["accuracy, %"] == "71.50"  # (70 + 73) / 2
    assert [types[name] for name in ("sets", "below MajorityVote", "significantly")] == ["3", "1", "1"]
    assert vote["above the default"].startswith("-")
    _, types, _ = leaderboard.methods("crowd", kept, drawn)
    assert types["accuracy, %"] == "72.00 ± 0.50"  # the mean of the seeds stands for the one that was run


def test_every_method_of_the_registry_stands_there_with_numbers_or_a_reason():
    from cofactor.registry import listed

    trials = leaderboard.kept()
    for problem, (trivial, default) in ANSWERS.items():
        mine = trials[trials["problem"] == problem]
        assert set(listed(problem)) <= set(mine["method"]), problem
        assert (mine["accuracy"].notna() | mine["error"].notna()).all()
        there = set(zip(mine["method"], mine["set"], strict=True))
        lacking = [
            (name, set_) for name in listed(problem) for set_ in mine["set"].unique() if (name, set_) not in there
        ]
        assert not lacking
        assert mine[mine["method"].isin([trivial, default])]["accuracy"].notna().all()


@pytest.mark.slow
@pytest.mark.parametrize("problem", ANSWERS)
def test_quick_methods_on_every_simulated_set_give_what_was_kept(quick, problem):
    """Where this fails: the sets that are drawn, or how answers are scored, are others than on the page."""
    kept = leaderboard.kept().set_index(["set", "method"])
    sets = known_sets(problem, list(SIMULATED[problem]))
    trials = list(bench([], sets, problem=problem))
    assert len(trials) == 2 * len(sets)
    for trial in trials:
        row, few = kept.loc[trial.set, trial.method], 101 / trial.tasks  # a task or an anchor, by the digits of BLAS
        assert trial.tasks == row["tasks"] and not trial.error, trial
        if trial.method == ANSWERS[problem][0]:
            few = 1e-4
            assert trial.more == 0, trial
        assert trial.accuracy == pytest.approx(row["accuracy"], abs=few), trial
        if trial.method == ANSWERS[problem][1]:
            found = (trial.more, trial.low, trial.high)
            assert found == pytest.approx(tuple(row[["more", "low", "high"]]), abs=3 * few), trial


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_set_of_every_problem_run_again_gives_what_was_kept(here):
    """Where this fails: run the method again by `cofactor bench`, and keep what it writes."""
    from cofactor.registry import listed

    trials, tried = leaderboard.kept(), 0
    for problem, set_ in (("crowd", "sim_spammers"), ("pmf", "sim_joint"), ("separable", "sim_midpoints"),
                       ("comparisons", "sim_tastes_few")):  # fmt: skip
        mine = trials[(trials["set"] == set_) & (trials["seconds"] < QUICK)].set_index("method")
        names = [name for name in mine.index if name in listed(problem)]
        sets = known_sets(problem, [set_])
        again = {one.method: one.accuracy for one in bench(names, sets, problem=problem)}
        one_task = 100 / mine["tasks"].iloc[0]
        for name in names:
            tried += 1
            assert np.isclose(again[name], mine.loc[name, "accuracy"], atol=1.01 * one_task), (set_, name)
    assert tried > 25


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_quickest_set_of_every_other_file_gives_what_was_kept(here):
    """Where this fails: run the method again by `cofactor bench`, and keep what it writes."""
    root, tried = leaderboard.KEPT.parents[1], 0
    for path in sorted(leaderboard.KEPT.glob("*.csv")):
        rows = pd.read_csv(path)
        if "seconds" not in rows:  # seeds of random methods, which are no trials
            continue
        rows = rows[rows["accuracy"].notna() & rows["set"].str.startswith("sim_")].sort_values("seconds")
        if path.stem in ANSWERS or rows.empty:
            continue
        kept = rows.iloc[0]
        problem = leaderboard.problem_of(kept["set"])
        sets = known_sets(problem, [kept["set"]])
        again = list(bench([f"{root}/{kept['method']}"], sets, problem=problem))[-1]
        if "not installed" not in again.error:
            tried += 1
            assert again.accuracy == pytest.approx(kept["accuracy"], abs=101 / kept["tasks"]), (path.name, again.error)
    assert tried
