"""One contract for all verbs and commands: every row of the input has its row in the output, or is named as left out.

Each case has rows that are plainly no datum (`out`, named with their count), and one bad row more, which is an error
that names it, and is left out by name with `skip_bad`.
"""

import re
import warnings
from dataclasses import dataclass, field
from io import StringIO

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.crowd import plan_next
from cofactor_app.cli import main


@dataclass
class Case:
    """A table, what a verb is asked, and what its answer must hold."""

    verb: str
    frame: pd.DataFrame
    ids: list  # of the output, in order
    column: str  # of the output that has them
    bad: dict  # cells of one more row, which cannot be read
    options: dict = field(default_factory=dict)
    output: str = "-o"
    table: str = ""  # attribute of the result
    out: tuple = ()  # what notes say of rows that are no datum
    left: list | None = None  # ids with `skip_bad`; None: those of `ids`


def of_labels():
    rng = np.random.default_rng(0)
    tasks = ["z 1", "Ärger", "007", "b/1", "=sum"]
    rows = [(task, f"w {m}", "ja" if rng.random() < 0.7 else "nein") for task in tasks for m in range(4)]
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"]).sample(frac=1, random_state=0, ignore_index=True)
    bad = {"task": "alone", "worker": "w 1", "label": ""}
    return Case("aggregate", frame, sorted(tasks), "task", bad, {"draws": 0}, table="labels")


def of_votes():
    frame = pd.DataFrame(
        {
            "home": ["c", "a b", "c", "a b", "D", "D", "a b", "c"],
            "away": ["a b", "D", "D", "c", "a b", "c", "D", "a b"],
            "score": ["0-2", "2-1", "1-0", "3-1", "0-1", "1-0", "", "2-1"],
        }
    )
    options = {"winner": "home", "loser": "away", "outcome": "score"}
    bad = {"home": "D", "away": "c", "score": "won"}
    out = ("left out 1 comparison without a result",)
    return Case("rank", frame, ["a b", "c", "D"], "item", bad, options, table="items", out=out)


def of_cells():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 60)
    frame = pd.DataFrame({"who": [f"p {n}" for n in rng.permutation(60)], "mood": np.where(kind, "glad", "sad")})
    frame["age"] = [str(20 + 30 * k + n) for k, n in zip(kind, rng.integers(0, 20, 60), strict=True)]
    frame.loc[5, ["mood", "age"]] = ""
    bad = {"who": "p 99", "mood": "sad", "age": "old"}
    ids = frame["who"].tolist()
    return Case(
        *("joint", frame, ids, "who", bad, {"method": "RAND-EM", "rank": 2}),
        table="table",
        out=("1 row without a value stays empty: row 7",),
        left=[*ids, "p 99"],
    )


def of_points():
    rng = np.random.default_rng(0)
    X = rng.dirichlet(np.ones(3), 30) @ rng.random((3, 6))
    X[4] = np.nan
    names = [f"pixel {n}" for n in rng.permutation(30)]
    frame = pd.DataFrame(X, columns=[f"band {n}" for n in range(6)]).round(6)
    frame.insert(0, "name", names)
    bad = {"name": "pixel 99"} | {f"band {n}": "x" if n == 2 else 0.1 * n for n in range(6)}
    out = ("1 of 30 points are left out, without weights, as not data", f": {names[4]}")
    options = {"rows": True, "n_anchors": 3}
    return Case("anchors", frame, names, "point", bad, options, "--weights", "weights", out, [*names, "pixel 99"])


def of_texts():
    texts = ["river bank water", "money bank loan", "", "loan money bank", "water river fish"] * 5
    ids = [f"d {(7 * n) % 25}" for n in range(25)]
    frame = pd.DataFrame({"doc": ids, "text": texts})
    out = ("5 of 25 documents contain no word that is used, so their rows are zero: d 14, d 24, d 9, d 19, d 4",)
    bad = {"doc": "d 99", "text": "..."}
    options = {"document": "doc", "n_topics": 2}
    return Case("topics", frame, ids, "document", bad, options, "--weights", "documents", out, [*ids, "d 99"])


CASES = [of_labels, of_votes, of_cells, of_points, of_texts]
OPTIONS = {"draws": None, "n_anchors": "--anchors", "n_topics": "--anchors", "rows": "--rows"}


def of_verb(case, source, **more):
    """Return the table, the notes and the error of a verb."""
    with warnings.catch_warnings(action="ignore"):
        try:
            found = getattr(cf, case.verb)(source, **case.options, **more)
        except cf.CofactorError as error:
            return None, [], str(error)
    return getattr(found, case.table), found.notes, ""


def of_command(case, path, capsys, *more):
    """Return the table, what went to standard error, and the exit code of a command."""
    words = [case.verb, str(path), case.output, str(path.with_name("out.csv")), "--force", "--raw-cells", *more]
    for name, value in case.options.items():
        option = OPTIONS.get(name, f"--{name}")
        words += [option] * bool(option) + [str(value)] * (option is not None and value is not True)
    capsys.readouterr()
    code = main(words)
    printed = capsys.readouterr()
    assert "note:" not in printed.out and "warning:" not in printed.out, case.verb
    return path.with_name("out.csv"), printed.err, code


@pytest.mark.parametrize("made", CASES, ids=lambda made: made.__name__)
def test_every_row_has_its_row_or_is_named(made, tmp_path, capsys):
    case, path = made(), tmp_path / "in.csv"
    case.frame.to_csv(path, index=False)
    table, notes, error = of_verb(case, path)
    assert not error and table[case.column].tolist() == case.ids
    assert all(any(said in note for note in notes) for said in case.out), notes
    again, _, error = of_verb(case, case.frame.replace("", None))
    assert not error and again[case.column].tolist() == case.ids, error
    file, said, code = of_command(case, path, capsys)
    assert code == 0 and all(part in said for part in case.out), said
    written = pd.read_csv(file, dtype=str, keep_default_na=False)
    assert written[case.column].tolist() == case.ids
    assert written.equals(pd.read_csv(StringIO(table.round(6).to_csv(index=False)), dtype=str, keep_default_na=False))


@pytest.mark.parametrize("made", CASES, ids=lambda made: made.__name__)
def test_a_bad_row_is_an_error_or_left_out_by_name(made, tmp_path, capsys):
    case, path = made(), tmp_path / "in.csv"
    pd.concat([case.frame, pd.DataFrame([case.bad])]).to_csv(path, index=False)
    row = str(len(case.frame) + 2)  # as a spreadsheet counts
    table, notes, error = of_verb(case, path)
    named = error or "\n".join(notes)
    assert row in named or case.bad[next(iter(case.bad))] in named, named
    table, notes, error = of_verb(case, path, skip_bad=True)
    assert not error and table[case.column].tolist() == (case.left or case.ids), error
    assert any(row in note or case.bad[next(iter(case.bad))] in note for note in notes), notes
    _, said, code = of_command(case, path, capsys, "--skip-bad")
    assert code == 0 and (row in said or case.bad[next(iter(case.bad))] in said)


BEFORE = {  # what the commands before the fit print and write, by the verb
    "diagnose": lambda source: (str(cf.crowd.diagnose(cf.CrowdLabels.from_frame(source))), None),
    "plan": lambda source: ("\n".join(cf.plan(source, 0.3, amounts=[1, 2], random_state=0).summary), None),
    "next": lambda source: (str(cf.next_tasks(source)), cf.next_tasks(source).table),
}


@pytest.fixture
def few_simulated(monkeypatch):
    """Let `plan` measure errors on few tasks: how many it takes is not what these tests hold."""
    monkeypatch.setattr(plan_next, "MIN_SIMULATED_TASKS", 20)


@pytest.mark.slow
@pytest.mark.parametrize("command", BEFORE)
def test_commands_before_the_fit_keep_the_contract(command, tmp_path, capsys, few_simulated):
    frame, path, out = of_labels().frame, tmp_path / "in.csv", tmp_path / "out.csv"
    frame.to_csv(path, index=False)
    with warnings.catch_warnings(action="ignore"):
        answer, table = BEFORE[command](frame)
    capsys.readouterr()
    more = {"plan": ["--error", "0.3", "--most", "2"], "next": ["-o", str(out)]}
    words = [command, str(path), *more.get(command, [])]
    assert main(words) == 0
    said = capsys.readouterr()
    assert said.out.startswith(answer) and "note:" not in said.out and "error:" not in said.out
    if table is not None:
        written = pd.read_csv(out, dtype=str, keep_default_na=False)
        assert not written["task"].duplicated().any() and set(written["task"]) <= {*frame["task"], "'=sum"}
        assert written["task"].tolist() == [f"'{task}" if task == "=sum" else task for task in table["task"]]
        assert (written["n_labels"] == "4").all()
    pd.concat([frame, pd.DataFrame([of_labels().bad])]).to_csv(path, index=False)
    assert main([*words, *["--force"] * (command == "next")]) == 1
    said = capsys.readouterr()
    assert not said.out and f"row {len(frame) + 2}" in said.err
    assert main([*words, "--skip-bad", *["--force"] * (command == "next")]) == 0
    said = capsys.readouterr()
    assert (
        said.out.startswith(answer) and f"row {len(frame) + 2}" in said.err and "task without labels: alone" in said.err
    )


def many(name, n=12):
    return [f"{name} {k:02d}" for k in range(n)]


def many_notable(command):
    """A table with twelve rows, of twelve names, that a note names."""
    if command in ("aggregate", "diagnose", "plan", "next"):
        frame = of_labels().frame
        return pd.concat([frame, pd.DataFrame({"task": many("odd"), "worker": "w 1", "label": ""})]), ["--skip-bad"]
    if command == "rank":
        frame = of_votes().frame
        return pd.concat([frame, pd.DataFrame({"home": many("odd"), "away": "c", "score": ""})]), [
            *("--winner", "home", "--loser", "away", "--outcome", "score")
        ]
    if command == "joint":
        frame = of_cells().frame
        frame.loc[10:21, ["mood", "age"]] = ""
        return frame.assign(who=[f"odd {name}" for name in frame["who"]]), ["--method", "RAND-EM", "--rank", "2"]
    if command == "anchors":
        frame = of_points().frame
        frame.iloc[8:20, 1:] = np.nan
        return frame.assign(name=[f"odd {name}" for name in frame["name"]]), ["--rows", "--anchors", "3"]
    frame = of_texts().frame
    frame.loc[:14, "text"] = ""
    return frame.assign(doc=[f"odd {name}" for name in frame["doc"]]), ["--anchors", "2", "--document", "doc"]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["aggregate", *BEFORE, "rank", "joint", "anchors", "topics"])
def test_no_note_names_more_than_ten(command, tmp_path, capsys, few_simulated):
    frame, options = many_notable(command)
    frame.to_csv(tmp_path / "in.csv", index=False)
    capsys.readouterr()
    assert main([command, str(tmp_path / "in.csv"), *options, *["--most", "2"] * (command == "plan")]) == 0
    notes = capsys.readouterr().err.splitlines()
    lists = [part.split(", ") for note in notes for part in re.split("[:;(]", note)]
    assert max(map(len, lists)) == 11 and all(len(names) < 11 or names[10].startswith("... ") for names in lists), notes


def test_masked_cells_are_gaps_and_never_the_numbers_below_the_mask():
    labels, votes = of_labels().frame.to_numpy(), np.array([["a", "b"], ["b", "a"], ["a", "b"]], dtype=object)
    for verb, array in ((cf.aggregate, labels), (cf.rank, votes)):
        masked = np.ma.masked_array(array, mask=np.arange(array.size).reshape(array.shape) == 1)
        with (
            warnings.catch_warnings(action="ignore"),  # of how three columns are read
            pytest.raises(cf.CofactorError, match=r"missing (worker|loser) in data row 0"),
        ):
            verb(masked)
    codes = np.random.default_rng(0).integers(0, 2, (60, 2)).repeat(2, axis=1)
    hidden = np.ma.masked_array(codes, mask=np.arange(60)[:, None] + np.zeros(4) == 7)
    X = of_points().frame.iloc[:, 1:].fillna(0.5).to_numpy()
    counts = np.ma.masked_array(np.eye(4, dtype=int) + 1, mask=np.eye(4) > 0)
    with warnings.catch_warnings(action="ignore"):
        found = cf.joint(hidden, method="RAND-EM", rank=2)
        assert "1 row without a value stays empty: row 7" in found.notes and found.table.iloc[7].isna().all()
        points = cf.anchors(np.ma.masked_array(X, mask=np.arange(30)[:, None] + np.zeros(6) == 7), 3, rows=True)
        assert points.weights["anchor_1"].isna().to_numpy().nonzero()[0].tolist() == [7]
        with pytest.raises(
            cf.CofactorError,
            match=r"counts must be 0 or at least 1, .* in documents 0 \(nan\), 1 \(nan\), 2 \(nan\), 3",
        ):
            cf.topics(counts, 2)


def test_rows_of_different_lengths_are_no_matrix():
    for verb in (cf.joint, cf.anchors):
        with pytest.raises(cf.CofactorError, match="cannot convert list to an array: its rows differ in length"):
            verb([[1, 2], [3]])


def test_one_column_is_a_table_of_one_column():
    texts = pd.Series(of_texts().frame["text"].to_numpy(), index=list("abcdefghijklmnopqrstuvwxy"))
    with warnings.catch_warnings(action="ignore"):
        assert cf.topics(texts, 2).documents["document"].tolist() == texts.index.tolist()
    for verb in (cf.aggregate, cf.rank, cf.joint):
        with pytest.raises(cf.CofactorError, match=r"no column|is the only column"):
            verb(texts.rename("label"))
