"""Sets of a folder: a TOML file and its files are a set of the bench; what is wrong is printed, a line a set."""

import numpy as np
import pandas as pd
import pytest

from cofactor import simulate
from cofactor.core.errors import CofactorError
from cofactor.reading.truth import TruthWarning
from cofactor_app.bench.folder import FIELDS, ROLES, checked, declared, sets_of
from cofactor_app.bench.sets import drawn_crowd
from cofactor_app.cli import main

SAID = {
    "name": "NAME",
    "problem": "crowd",
    "family": "cooking",
    "licence": "CC-BY-4.0",
    "source": "https://example.org",
}


def declare(folder, name, files, **fields):
    """Write a TOML file; a field that is None is left out."""
    said = {**SAID, "name": name, **fields}
    lines = [f"{key} = {value!r}" for key, value in said.items() if value is not None]
    lines += ["[files]", *(f"{role} = {file!r}" for role, file in files.items())]
    (folder / f"{name}.toml").write_text("\n".join(lines).replace("'", '"'), encoding="utf8")


@pytest.fixture
def folder(tmp_path):
    """A set of every problem, and one without a TOML file."""
    labels, truth = drawn_crowd("sim_one_accuracy", 5)
    labels.to_frame().to_csv(tmp_path / "labels.csv", index=False)
    pd.DataFrame({"task": labels.tasks, "truth": truth}).to_csv(tmp_path / "truth.csv", index=False)
    for name in ("plain", "plain_truth"):
        text = (tmp_path / ("labels.csv" if name == "plain" else "truth.csv")).read_text(encoding="utf8")
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf8")
    declare(tmp_path, "kitchen", {"labels": "labels.csv", "truth": "truth.csv"})
    rng = np.random.default_rng(0)
    codes = simulate.joint_table(simulate.joint_model(5, 3, 2, random_state=0), 200, 0.9, random_state=0).codes
    table = pd.DataFrame(np.array(["low", "mid", "high", ""])[codes], columns=list("abcde"))
    table.to_csv(tmp_path / "survey.csv", index=False)
    declare(tmp_path, "survey", {"table": "survey.csv"}, problem="pmf", family="surveys")
    found = simulate.dirichlet_mixtures(20, 50, n_anchors=4, snr_db=30.0, random_state=0)
    names = [f"p{n}" for n in range(found.X.shape[1])]
    pd.DataFrame(found.X, columns=names).to_csv(tmp_path / "spectra.csv", index=False)
    pd.DataFrame({"anchor": [names[k] for k in found.anchors]}).to_csv(tmp_path / "pure.csv", index=False)
    declare(
        tmp_path, "spectra", {"points": "spectra.csv", "anchors": "pure.csv"}, problem="separable", family="spectra"
    )
    u = np.linspace(-1, 1, 6)
    left = rng.integers(0, 6, 400)
    right = (left + rng.integers(1, 6, 400)) % 6
    won = rng.random(400) < 1 / (1 + np.exp(u[right] - u[left]))
    pairs = {
        "winner": np.where(won, left, right),
        "loser": np.where(won, right, left),
        "user": rng.integers(9, size=400),
    }
    pd.DataFrame(pairs).to_csv(tmp_path / "votes.csv", index=False)
    declare(tmp_path, "votes", {"comparisons": "votes.csv"}, problem="comparisons", family="votes")
    return tmp_path


@pytest.mark.slow
def test_a_set_of_every_line_is_read_and_looked_at(folder, capsys):
    assert [one.name for one in sets_of(folder, "crowd")] == ["kitchen", "plain"]
    assert [one.family for one in sets_of(folder, "crowd")] == ["cooking", "your folder"]
    labels, truth = sets_of(folder, "crowd")[0].read()
    assert np.array_equal(truth, drawn_crowd("sim_one_accuracy", 5)[1]) and labels.n_tasks == 400
    sizes = {}
    for problem in ("pmf", "separable", "comparisons"):
        (one,) = sets_of(folder, problem)
        question, truth = one.read()
        sizes[problem] = len(truth)
        assert question.problem == problem
    found = simulate.dirichlet_mixtures(20, 50, n_anchors=4, snr_db=30.0, random_state=0)
    question, truth = sets_of(folder, "separable")[0].read()
    assert np.allclose(question.given[:, truth], found.X[:, found.anchors], atol=1e-9)
    assert sizes["separable"] == 4 and 150 < sizes["pmf"] < 200 and 60 < sizes["comparisons"] < 100
    assert main(["bench", "--check-data", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert [line.split(": ")[0] for line in printed.splitlines()] == ["kitchen", "spectra", "survey", "votes", "plain"]
    assert "kitchen: crowd, CrowdLabels(2000 labels, 400 tasks" in printed and "truth of 400" in printed


def test_anchors_of_a_matrix_without_names_are_numbers_of_columns(folder):
    found = simulate.dirichlet_mixtures(20, 50, n_anchors=4, snr_db=30.0, random_state=0)
    np.save(folder / "plain.npy", found.X)
    pd.DataFrame({"anchor": found.anchors}).to_csv(folder / "numbers.csv", index=False)
    declare(folder, "bare", {"points": "plain.npy", "anchors": "numbers.csv"}, problem="separable")
    bare, named = (one.read() for one in sets_of(folder, "separable"))
    assert np.allclose(bare[0].given, named[0].given) and np.array_equal(bare[1], named[1])


@pytest.mark.slow
def test_methods_of_every_line_run_on_the_folder(quick, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    for problem, method, least in (("crowd", "MV-EM", 70), ("pmf", "Independence", 30), ("separable", "SPA", 90),
                                ("comparisons", "BradleyTerry", 50)):  # fmt: skip
        out = f"{problem}_out.csv"
        assert main(["bench", method, "--problem", problem, "--data", ".", "-o", out]) == 0
        found = pd.read_csv(out)
        assert set(found["set"]) == {one.name for one in sets_of(folder, problem)}, problem
        assert found.loc[found["method"] == method, "accuracy"].min() > least, problem
    assert "cooking" in capsys.readouterr().out


def test_what_is_wrong_with_a_declaration_is_one_line(folder):
    files = {"labels": "labels.csv", "truth": "truth.csv"}
    for fields, its, said in (
        ({"licence": None, "source": None}, files, "missing licence, source"),
        ({"licence": ""}, files, "missing licence"),
        ({"license": "MIT"}, files, "unknown fields license; the fields are name, problem"),
        ({"family": 3}, files, "family must be text"),
        ({"problem": "crowds"}, files, "problem 'crowds' is not one of crowd, pmf"),
        ({}, {"labels": "labels.csv"}, r"\[files\] has no truth \(task, truth\)"),
        ({}, {**files, "table": "survey.csv"}, "has table, which crowd does not use"),
        ({}, {**files, "truth": "gone.csv"}, "no such file: gone.csv"),
        ({}, {**files, "truth": "../x.csv"}, "outside the folder, where a method could open it: ../x.csv"),
        ({}, {**files, "truth": 3}, "must have a file name for each role"),
        (
            {"problem": "pmf", "licence": None},
            files,
            r"missing licence; \[files\] has no table .*; .* has labels",
        ),
    ):
        declare(folder, "wrong", its, **fields)
        with pytest.raises(CofactorError, match=f"^wrong.toml: .*{said}"):
            declared(folder / "wrong.toml")
    (folder / "wrong.toml").write_text("name = kitchen", encoding="utf8")
    with pytest.raises(CofactorError, match=r"wrong\.toml is not valid TOML: "):
        sets_of(folder, "crowd")
    assert set(FIELDS) == {*SAID, "files"} and set(ROLES) == {"crowd", "pmf", "separable", "comparisons"}


def test_labels_beside_their_truth_may_be_declared(tmp_path):
    labels, truth = drawn_crowd("sim_one_accuracy", 5)
    labels.to_frame().to_csv(tmp_path / "kitchen.csv", index=False)
    known = pd.DataFrame({"task": labels.tasks, "truth": truth})
    known.to_csv(tmp_path / "kitchen_truth.csv", index=False)
    declare(tmp_path, "kitchen", {"labels": "kitchen.csv", "truth": "kitchen_truth.csv"})
    assert [(one.name, one.family) for one in sets_of(tmp_path, "crowd")] == [("kitchen", "cooking")]
    assert [sound for sound, _ in checked(tmp_path)] == [True]
    known.assign(task=[*known["task"][:-1], "another"]).to_csv(tmp_path / "kitchen_truth.csv", index=False)
    with pytest.warns(TruthWarning, match="kitchen_truth.csv: ignored 1 task without labels"):
        sets_of(tmp_path, "crowd")[0].read()
    assert [sound for sound, _ in checked(tmp_path)] == [False]


@pytest.mark.slow
def test_what_is_wrong_with_the_files_is_one_line(folder, capsys):
    truth = pd.read_csv(folder / "truth.csv")
    for name, table in (
        ("unknown_tasks", truth.assign(task=truth["task"] + 7)),
        ("one_class", truth.assign(truth=1)),
        ("new_class", truth.assign(truth=truth["truth"].where(truth.index > 0, 8))),
        ("twice", pd.concat([truth, truth.head(1).assign(truth=1 - truth["truth"][0])])),
    ):
        table.to_csv(folder / f"{name}.csv", index=False)
        declare(folder, name, {"labels": "labels.csv", "truth": f"{name}.csv"})
    declare(folder, "again", {"labels": "labels.csv", "truth": "truth.csv"})
    text = (folder / "again.toml").read_text(encoding="utf8")
    (folder / "zagain.toml").write_text(text, encoding="utf8")
    (folder / "wrong_anchors.csv").write_text("anchor\np1\nq2\n", encoding="utf8")
    anchors = {"points": "spectra.csv", "anchors": "wrong_anchors.csv"}
    declare(folder, "anchors", anchors, problem="separable")
    (folder / "ties.csv").write_text("winner,loser\na,b\n", encoding="utf8")
    declare(folder, "few", {"comparisons": "ties.csv"}, problem="comparisons")
    found = dict(line.split(": ", 1) for sound, line in checked(folder) if not sound)
    for name, said in (
        ("unknown_tasks", "ignored 7 tasks without labels"),
        ("one_class", "the truth has only one class"),
        ("new_class", "8"),
        ("twice", "gives several true classes for tasks"),
        ("again", "another set has the same name"),
        ("anchors", "q2 are not columns of spectra.csv"),
        ("few", "nothing to hold out"),
    ):
        assert said in found.pop(name), name
    assert not found
    assert main(["bench", "--check-data", str(folder)]) == 1
    printed = capsys.readouterr()
    assert "WARNING: one_class: the truth has" in printed.out and "7 of 13 sets in" in printed.err
    with pytest.raises(CofactorError, match="two sets have the name again"):
        sets_of(folder, "crowd")


def test_a_folder_without_sets_says_what_it_needs(tmp_path, capsys):
    assert main(["bench", "MV-EM", "--data", str(tmp_path)]) == 1
    assert "it needs NAME.toml, or NAME.csv (task, worker, label) and" in capsys.readouterr().err
    assert (
        main(["bench", "--check-data", str(tmp_path / "gone")]) == 1
        and "gone does not exist" in capsys.readouterr().err
    )
    assert main(["bench", "--check-data", str(tmp_path)]) == 1 and "1 of 1 sets" in capsys.readouterr().err
    assert main(["bench"]) == 1 and "no method is named: give" in capsys.readouterr().err
    declare(tmp_path, "votes", {"comparisons": "votes.csv"}, problem="comparisons")
    (tmp_path / "votes.csv").write_text("winner,loser\na,b\n", encoding="utf8")
    with pytest.raises(CofactorError, match=r"has no pmf set: it has votes \(comparisons\)"):
        sets_of(tmp_path, "pmf")
