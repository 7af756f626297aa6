"""Labels as platforms and people write them are the labels of the plain table; a note says what was taken for what."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from cofactor import CofactorError, DataWarning
from cofactor.core.cells import nested_cells, plain_numbers
from cofactor.crowd import CrowdLabels
from cofactor.reading.labels import of_table
from cofactor.reading.layouts import _are_counts, without_headers
from cofactor.reading.tables import Coded, cleaned
from cofactor_app.cli import main

ROWS = [(f"t{i}", f"A{w}", ("neg", "neu", "pos")[(i + (w == i % 5)) % 3]) for i in range(12) for w in range(5)]
TASK, WORKER, LABEL = zip(*ROWS, strict=True)
PLAIN = pd.DataFrame({"task": TASK, "worker": WORKER, "label": LABEL})
CLASSES = ("neg", "neu", "pos")
KNOWN = {"t0": "neg", "t4": "neu"}


def wide():
    return PLAIN.pivot_table(index="task", columns="worker", values="label", aggfunc="first").reset_index(names="id")


def mturk(answer="Answer.sentiment"):
    frame = pd.DataFrame({"HITId": TASK, "AssignmentId": range(60), "WorkerId": WORKER, answer: LABEL})
    return frame.assign(AssignmentStatus="Approved", **{"Input.text": "x"})


def figure_eight():
    frame = pd.DataFrame({"_unit_id": TASK, "_golden": [str(t in KNOWN).lower() for t in TASK], "_tainted": "false"})
    gold = [KNOWN.get(task, "") for task in TASK]
    return frame.assign(_worker_id=WORKER, sentiment=LABEL, sentiment_gold=gold, text="x")


def toloka():
    gold = [KNOWN.get(task, "") for task in TASK]
    frame = pd.DataFrame({"INPUT:image": TASK, "OUTPUT:result": LABEL, "GOLDEN:result": gold})
    return frame.assign(**{"ASSIGNMENT:task_id": TASK, "ASSIGNMENT:worker_id": WORKER, "ASSIGNMENT:status": "APPROVED"})


def label_studio():
    frame = pd.DataFrame({"text": [f"of {task}" for task in TASK], "id": TASK, "sentiment": LABEL, "annotator": WORKER})
    return frame.assign(annotation_id=range(60), lead_time=np.linspace(1, 9, 60))


def zooniverse(label):
    return json.dumps([{"task": "T0", "task_label": "Which one?", "value": label}])


def one_hot():
    return PLAIN.assign(text="x", **{k: (PLAIN.label == k).astype(int) for k in CLASSES}).drop(columns="label")


TABLES = {
    "Mechanical Turk: task from HITId, worker from WorkerId, label from Answer.sentiment": mturk(),
    "label from Answer.taskAnswers": mturk("Answer.taskAnswers").assign(
        **{"Answer.taskAnswers": [json.dumps([{"sentiment": {"label": label}}]) for label in LABEL]}
    ),
    "left out 1 rejected assignments": pd.concat(
        [mturk(), mturk().head(1).assign(AssignmentStatus="Rejected", WorkerId="A9")]
    ),
    "Figure Eight: .* 2 tasks of known class are used as gold": figure_eight(),
    "Toloka: .* 2 tasks of known class are used as gold": toloka(),
    "Label Studio: task from id, worker from annotator, label from sentiment": label_studio(),
    "one column per worker: A0, A1, A2, A3, A4; task from id": wide(),
    "columns: task from item_id, worker from Rater, label from response": PLAIN.set_axis(
        ["item_id", "Rater", "response"], axis=1
    ),
    "Mechanical Turk: .* label from Answer.sentiment;": mturk("Answer.note")
    .assign(**{f"Answer.sentiment.{k}": [str(k == label).lower() for label in LABEL] for k in CLASSES})
    .drop(columns="Answer.note"),
    "Figure Eight: .* label from sentiment;": figure_eight().drop(columns=["sentiment_gold", "_golden"]),
    "Toloka: task from ASSIGNMENT:task_id": toloka().drop(columns=["ASSIGNMENT:task_id", "GOLDEN:result"]),
    "Zooniverse: task from subject_ids, worker from user_name": pd.DataFrame(
        {"user_name": WORKER, "user_id": WORKER, "subject_ids": TASK, "annotations": map(zooniverse, LABEL)}
    ),
    "Kili: task from externalId, worker from author, label from label": PLAIN.set_axis(
        ["externalId", "author", "label"], axis=1
    ).assign(createdAt="2023-01-01T10:00:00Z"),
    "PYBOSSA: task from task_id, worker from user_id or user_ip, label from info": pd.DataFrame(
        {
            "task_id": TASK,
            "user_id": ["" if worker == "A0" else worker for worker in WORKER],
            "user_ip": ["A0" if worker == "A0" else "" for worker in WORKER],
            "info": LABEL,
        }
    ),
    "label from the columns neg, neu, pos": one_hot(),
    "label from the columns q:::neg, q:::neu, q:::pos": one_hot().rename(
        columns=lambda n: f"q:::{n}" * (n in CLASSES) or n
    ),
    "one column per worker: .* 2 tasks of known class are used as gold; columns not read: text, final": wide().assign(
        text="x", gold=lambda frame: frame["id"].map(KNOWN), final="neg"
    ),
    "columns: task from instance_id, worker from performer": PLAIN.set_axis(
        ["instance_id", "performer", "label"], axis=1
    ),
    "columns: task from Image URL, worker from Annotator-ID, label from annotation": PLAIN.set_axis(
        ["Image URL", "Annotator-ID", "annotation"], axis=1
    ),
    "columns: task from sample_id, worker from llm, label from verdict": PLAIN.set_axis(
        ["sample_id", "llm", "verdict"], axis=1
    ).assign(note="x", length=7),
    "columns: task from document, worker from judge, label from score": PLAIN.set_axis(
        ["document", "judge", "score"], axis=1
    ),
    "left out 1 row repeating the header": pd.concat(
        [PLAIN.head(30), pd.DataFrame([{name: name for name in PLAIN}]), PLAIN.tail(30)]
    ),
}


def read(path, **options):
    return CrowdLabels.from_file(path, **options)


@pytest.mark.parametrize("note", TABLES)
def test_tables_of_platforms_and_people(note, tmp_path):
    for form in ("csv", "tsv", "parquet"):
        path = tmp_path / f"labels.{form}"
        if form == "parquet":
            TABLES[note].astype(str).to_parquet(path)
        else:
            TABLES[note].to_csv(path, index=False, sep="," if form == "csv" else "\t")
        with pytest.warns(DataWarning, match=note):
            labels = read(path)
        assert sorted(map(tuple, labels.to_frame().to_numpy())) == sorted(ROWS), form
        assert labels.gold == (KNOWN if "gold" in note else {})


def test_an_index_without_a_name_names_the_tasks_of_a_wide_table_alone(tmp_path):
    numbered = wide().set_index("id").rename_axis(None).set_axis(range(5), axis=1)
    numbered.to_csv(tmp_path / "wide.csv")
    with pytest.warns(DataWarning, match="one column per worker: 0, 1, 2, 3, 4; task from Unnamed: 0"):
        assert read(tmp_path / "wide.csv").tasks == sorted(wide()["id"])
    PLAIN.drop(columns="task").to_csv(tmp_path / "long.csv")
    with pytest.raises(CofactorError, match="no column task; found Unnamed: 0, worker, label"):
        read(tmp_path / "long.csv")


@pytest.mark.parametrize(
    ("names", "time"), [(("item", "rater", "answer"), "updated_at"), (("externalId", "author", "label"), "createdAt")]
)
def test_times_settle_conflicts_in_tables_that_are_recognised_too(names, time, tmp_path):
    given = [("a", "w", "new", "2024-02-01"), ("a", "w", "old", "2024-01-01"), ("b", "w", "old", "2024-01-01")]
    pd.DataFrame(given, columns=[*names, time]).to_csv(tmp_path / "l.csv", index=False)
    with warnings.catch_warnings(record=True, action="always") as notes:
        found = read(tmp_path / "l.csv", conflicts="last").to_frame()
    assert found["label"].tolist() == ["new", "old"]
    assert any("the last one by column updated_at counts" in str(note.message) for note in notes)


def record(i, **more):
    return {"id": f"t{i}", **more}


def answers(i):
    return [(worker, label) for task, worker, label in ROWS if task == f"t{i}"]


def job(i):
    given = [
        {"workerId": w, "annotationData": {"content": json.dumps({"classifier": {"label": k}})}} for w, k in answers(i)
    ]
    return {"datasetObjectId": f"t{i}", "annotations": given}


def argilla(i, newer):
    draft = {"user_id": "A0", "status": "draft"}
    if newer:
        given = [{"value": k, "user_id": w, "status": "submitted"} for w, k in answers(i)]
        return record(
            i, fields={}, suggestions={"q": {"value": "neg"}}, responses={"q": [*given, draft | {"value": "neg"}]}
        )
    given = [{"user_id": w, "values": {"q": {"value": k}}, "status": "submitted"} for w, k in answers(i)]
    return record(i, responses=[*given, draft | {"values": {"q": {"value": "neg"}}}])


def studio(i, kind="choices"):
    def annotation(worker, label, truth=False):
        value = {"choices": [label]} if kind == "choices" else {"selected" if kind == "pairwise" else kind: label}
        result = [{"type": kind, "from_name": "q", "value": value}]
        return {"id": f"{i}{worker}", "completed_by": worker, "ground_truth": truth, "result": result}

    given = [annotation(w, k) for w, k in answers(i)]
    known = [annotation("boss", KNOWN[f"t{i}"], truth=True)] if f"t{i}" in KNOWN else []
    return record(i, data={"text": "x"}, annotations=[*given, *known])


RECORDS = {
    "worker from annotators, label from labels": lambda i: record(
        i, annotators=[w for w, _ in answers(i)], labels=[k for _, k in answers(i)]
    ),
    "Argilla export: left out responses 'draft' (12)": lambda i: argilla(i, newer=False),
    "Argilla export: left out responses 'draft' (12); newer": lambda i: argilla(i, newer=True),
    "ground-truth annotations of 2 tasks are used as gold": studio,
    "2 tasks are used as gold; ratings": lambda i: studio(i, "rating"),
    "2 tasks are used as gold; pairs": lambda i: studio(i, "pairwise"),
    "": job,
}


@pytest.mark.parametrize("note", RECORDS)
def test_exports_of_tools(note, tmp_path, recwarn):
    path = tmp_path / "export.json"
    path.write_text(json.dumps([RECORDS[note](i) for i in range(12)]))
    labels = read(path)
    assert sorted(map(tuple, labels.to_frame().to_numpy())) == sorted(ROWS)
    assert any(note.split(";")[0] in str(one.message) for one in recwarn) or not note
    assert labels.gold == (KNOWN if "gold" in note else {})


def test_one_file_for_each_worker(tmp_path, capsys, recwarn):
    paths = []
    for worker, rows in PLAIN.groupby("worker"):
        paths.append(tmp_path / f"{worker}.jsonl")
        lines = [{"id": task, "text": "x", "label": [label]} for task, label in zip(rows.task, rows.label, strict=True)]
        paths[-1].write_text("\n".join(map(json.dumps, lines)))
    labels = read(paths)
    assert any("labels of A3: task from id, label from label" in str(one.message) for one in recwarn)
    assert sorted(map(tuple, labels.to_frame().to_numpy())) == sorted(ROWS)
    assert main(["aggregate", *map(str, paths)]) == 0
    assert "12 tasks, 5 workers, 3 classes, 60 labels" in capsys.readouterr().out
    with pytest.raises(CofactorError, match="no file of labels was given"):
        read([])


def test_objects_with_lists_and_objects_by_task_are_read(tmp_path):
    each = [(task, [{"worker": w, "label": k} for w, k in zip(one.worker, one.label, strict=True)])
            for task, one in PLAIN.groupby("task", sort=False)]  # fmt: skip
    nested = [{"id": task, "text": "x", "annotations": answers} for task, answers in each]
    by_task = {task: {one["worker"]: one["label"] for one in answers} for task, answers in each}
    wanted = CrowdLabels.from_frame(PLAIN)
    for name, content, note in (
        (
            "nested.json",
            nested,
            "answers in the list annotations: worker from worker, label from label, task from task",
        ),
        (
            "renamed.json",
            [{"id": one["id"], "votes": one["annotations"]} for one in nested],
            "answers in the list votes",
        ),
        ("by_task.json", by_task, "one object per task, with a label for each worker"),
    ):
        (tmp_path / name).write_text(json.dumps(content), encoding="utf8")
        with pytest.warns(DataWarning, match=note):
            found = read(tmp_path / name)
        assert found.to_frame().astype(str).equals(wanted.to_frame().astype(str)), name


def test_a_file_without_a_header_is_told_as_one(tmp_path):
    PLAIN.to_csv(tmp_path / "bare.csv", index=False, header=False)
    with pytest.raises(
        CofactorError, match=r"the first line \(.*\) is not a header, since its values also occur below it"
    ):
        read(tmp_path / "bare.csv")


def test_a_score_that_is_the_label_is_not_called_unused(tmp_path, recwarn):
    PLAIN.set_axis(["document", "judge", "score"], axis=1).to_csv(tmp_path / "scores.csv", index=False)
    read(tmp_path / "scores.csv")
    assert not [one for one in recwarn if "not used" in str(one.message)]


def test_nobody_is_named(tmp_path):
    path = tmp_path / "labels.csv"
    PLAIN[["task", "label"]].to_csv(path, index=False)
    with pytest.warns(DataWarning, match="each label counts as a different worker's, as in a vote"):
        labels = read(path)
    assert labels.n_workers == labels.n_labels == 60
    counts = pd.crosstab(PLAIN["task"], PLAIN["label"]).reset_index(names="id")
    counts.to_csv(path, index=False)
    with pytest.warns(DataWarning, match=r"one column per class .neg, neu, pos.; cells count answers"):
        again = read(path)
    order = [labels.tasks.index(task) for task in again.tasks]
    assert np.array_equal(again.votes, labels.votes[order])
    counts.melt("id", var_name="label", value_name="count").to_csv(path, index=False)
    with pytest.warns(DataWarning, match="column count counts answers"):
        again = read(path)
    assert np.array_equal(again.votes, labels.votes[[labels.tasks.index(task) for task in again.tasks]])
    counts["neg"], counts["pos"] = counts["neg"] * 3, counts["pos"] * 2  # rows of different sums
    counts.assign(total=counts[[*CLASSES]].sum(axis=1)).to_csv(path, index=False)
    with pytest.warns(DataWarning, match="cells count answers"):
        assert read(path).classes == [*CLASSES]


def test_a_column_that_may_name_the_workers_is_asked_for(tmp_path):
    path = tmp_path / "labels.csv"
    table = PLAIN[["task", "label"]].assign(shift=PLAIN["worker"].str[-1:])
    table.to_csv(path, index=False)
    with pytest.raises(CofactorError, match="say which column is which, for example worker='shift'"):
        read(path)
    table.assign(shift=table["task"].str[-1]).to_csv(path, index=False)  # a property of the task
    with pytest.warns(DataWarning, match="each label counts as a different worker's"):
        assert read(path).n_workers == len(PLAIN)


def test_what_can_mean_several_things_is_refused(tmp_path):
    path = tmp_path / "labels.csv"
    mturk().assign(**{"Answer.tone": "calm"}).to_csv(path, index=False)
    with pytest.raises(
        CofactorError, match=r"several columns of answers .*: choose one, such as label='Answer\.sentiment'"
    ):
        read(path)
    with pytest.warns(DataWarning, match="label from Answer"):
        assert read(path, label="Answer.sentiment").n_labels == 60
    one_hot().assign(neg=1).to_csv(path, index=False)
    with pytest.raises(
        CofactorError, match=r"neg, neu, pos seem to be one column per class, but several are marked in"
    ):
        read(path)
    for frame in (
        PLAIN.set_axis(["doc", "who", "what"], axis=1),
        PLAIN.assign(item="x").set_axis(["item", "item_id", "answer", "rating"], axis=1),
        pd.DataFrame({"id": range(4), "age": [3, 4, 5, 6], "town": list("abcd")}),
        PLAIN.drop(columns="label"),
    ):
        frame.to_csv(path, index=False)
        with pytest.raises(CofactorError, match="no column"):
            read(path)


def test_several_answers_in_one_cell_are_named(tmp_path):
    path = tmp_path / "labels.csv"
    PLAIN.assign(label=PLAIN["label"].where(PLAIN.index % 7 > 0, "pos|neg")).to_csv(path, index=False)
    with pytest.warns(DataWarning, match=r"labels such as 'pos\|neg' hold several answers"):
        read(path)


def test_names_that_look_alike_are_named_or_merged(tmp_path):
    path = tmp_path / "labels.csv"
    rows = ["t1,ann,yes", "T1,cy,yes", "t1,b\u0435n,Yes", "t2,ann,no", "t2,ben,no\u200b", "7,ann,no", "7.0,ben,no"]
    path.write_text("\n".join(["task,worker,label", *rows, "t2,cy,no", "7,cy,no"]), encoding="utf8")
    with pytest.warns(DataWarning) as said:
        assert (read(path).n_tasks, read(path).classes) == (5, ["no", "yes"])
    found = " ".join(str(one.message) for one in said)
    for named in ("'T1' = 't1'", "'7' = '7.0'", r"'ben' = 'b\u0435n'", "'Yes' = 'yes'", r"'no' = 'no\u200b'"):
        assert named in found, named
    with pytest.warns(DataWarning) as said:
        assert read(path, spelling="keep").n_classes == 4
    assert any("classes that look alike count as different: 'Yes' = 'yes'" in str(one.message) for one in said)
    with pytest.warns(DataWarning, match="."):
        labels = read(path, spelling="all")
    assert (labels.tasks, labels.classes) == (["7", "7.0", "t1", "t2"], ["no", "yes"])
    assert labels.workers == ["ann", "ben", "b\u0435n", "cy"]
    assert main(["diagnose", str(path), "--spelling", "all"]) == 0
    with pytest.raises(CofactorError, match="spelling='some': choose 'classes', 'keep' or 'all'"):
        read(path, spelling="some")


def test_rules_are_applied_to_distinct_values_and_equal_results_become_one():
    seen = []
    column = Coded.of(pd.Series([" a", None, "b ", "a", " a"]))
    found = column.map(lambda values: (seen.extend(values), cleaned(values))[1])
    assert seen == [" a", "b ", "a"] and (found.codes.tolist(), found.values) == ([0, -1, 1, 0, 0], ["a", "b"])
    assert found.counts.tolist() == [3, 1] and found.missing.tolist() == [False, True, False, False, False]
    assert plain_numbers(["12", None, "-3"]) == [12, None, -3] and plain_numbers(["12", "012"]) == ["12", "012"]
    joined = Coded.joined([found, Coded.of(pd.Series(["c", "a"], dtype="category"))])
    assert [joined.values[code] if code >= 0 else None for code in joined.codes] == ["a", None, "b", "a", "a", "c", "a"]
    assert nested_cells(pd.Series(["a", ["b"], {}])).tolist() == [False, True, True]


def test_a_row_repeats_the_header_where_all_three_cells_do():
    rows = [["task", "worker", "label"], ["task", "ann", "label"], ["t1", "worker", "label"], ["task", "worker", "yes"]]
    for more in ([], [[f"t{n}", "ann", f"c{n}"] for n in range(2000)]):  # few classes, and more of them than workers
        frame = pd.DataFrame([*rows, *more], columns=["task", "worker", "label"])
        with pytest.warns(DataWarning, match="left out 1 row repeating the header"):
            left = without_headers(frame, ["task", "worker", "label"])
        assert left.to_numpy().tolist() == [*rows[1:], *more]


def test_columns_count_answers_where_sums_are_equal_or_one_falls_as_the_other_rises():
    for first, second, counted in (
        (["2", "0", "1"], ["0", "2", "1"], True),  # two answers each
        (["5", "0", "3", "1"], ["0", "2", "1", "3"], True),  # other sums, and one class or the other
        (["0", "2", "3", "1"], ["0", "2", "3", "2"], False),  # two workers who grade alike
        (["1", "0", "1"], ["0", "1", "0"], False),  # an answer each
    ):
        assert _are_counts(pd.DataFrame({"neg": first, "pos": second})) == counted, (first, second)


def test_blanks_are_taken_off_and_what_cannot_be_seen_is_empty():
    texts = [" a ", "\u200b", "\u200b\ufe0f ", "\u200ba", "é", "\u00a0?\u2003", "", 5]
    assert cleaned(texts) == ["a", "", "", "\u200ba", "é", "?", "", None]


def test_two_columns_are_enough_for_two_workers_or_two_classes(tmp_path):
    """And what else stands beside two numbered workers is no third."""
    texts = {
        "task,annotator_1,annotator_2,lang\na,x,x,de\nb,y,x,de\nc,x,x,fr\nd,y,y,fr\n": (
            "one column per worker: annotator_1, annotator_2; .* columns not read: lang",
            (["annotator_1", "annotator_2"], ["x", "y"]),
        ),
        "task,worker,label.cat,label.dog\na,1,1,0\na,2,1,0\nb,1,0,1\nb,2,0,1\n": (
            "one column per class",
            ([1, 2], ["cat", "dog"]),
        ),
    }
    for text, (told, expected) in texts.items():
        (tmp_path / "labels.csv").write_text(text, encoding="utf8")
        with pytest.warns(DataWarning, match=told):
            labels = CrowdLabels.from_csv(tmp_path / "labels.csv")
        assert (labels.workers, labels.classes) == expected


def test_a_task_with_two_rows_of_a_wide_table_is_named(tmp_path):
    path = tmp_path / "wide.csv"
    lines = [f"t{n},{'xy'[n % 2]},{'xy'[n % 3 % 2]}\n" for n in range(20)]
    path.write_text("item,Ann,Ben\n" + "".join([*lines, lines[3]]))
    with pytest.raises(CofactorError, match=r"tasks of column item are repeated in row 22 \('t3'\) .*: keep"):
        CrowdLabels.from_file(path)
    path.write_text("item,Ann,Ben\n" + "".join(2 * lines))
    with pytest.raises(CofactorError, match="no column task, worker, label"):
        CrowdLabels.from_file(path)


def test_sums_means_and_counts_below_or_beside_a_wide_table_are_left_out(tmp_path):
    grades = wide().replace(dict(zip(CLASSES, "012", strict=True)))
    numbers, words = grades.set_index("id").astype(int), wide().set_index("id")
    sums, width = numbers.sum(), len(numbers)
    below = {
        "sums of the rows above": (grades, sums),
        "means of the rows above": (grades, numbers.mean().round(2)),
        "numbers of answers of the rows above": (wide(), words.notna().sum()),
        "counts of 'pos' of the rows above": (wide(), (words == "pos").sum()),
        "shares of 'pos' of the rows above": (wide(), (words == "pos").mean().round(2)),
    }
    for said, (table, last) in below.items():
        frame = pd.concat([table, pd.DataFrame([["Total", *last]], columns=table.columns)])
        frame.to_csv(tmp_path / "wide.csv", index=False)
        with pytest.warns(DataWarning) as told:
            found = CrowdLabels.from_csv(tmp_path / "wide.csv")
        assert str(told[0].message).startswith(f"left out the {said} in row {width + 2} ('Total')")
        assert found.n_tasks == width and found.n_classes == 3, said
    counts = pd.DataFrame({"id": [*"abcde"], "neg": [3, 0, 2, 1, 3], "pos": [0, 3, 1, 2, 0]})
    with_total = pd.concat([counts, pd.DataFrame([["Sum", 9, 6]], columns=list(counts))])
    with pytest.warns(DataWarning) as told:
        found = of_table(with_total)
    assert "left out the sums of the rows above" in str(told[0].message)
    assert (found.n_tasks, found.classes) == (5, ["neg", "pos"])
    with pytest.warns(DataWarning) as told:
        found = of_table(grades.assign(Sum=numbers.sum(axis=1).to_numpy()))
    assert str(told[0].message) == "left out the sums of the other columns in column Sum"
    assert found.workers == [f"A{w}" for w in range(5)]
    two = [["n pos", *(words == "pos").sum()], ["accuracy", *["77%", ".9", "88 %", ".99", ".85"]]]
    frame = pd.concat([wide(), pd.DataFrame(two, columns=list(wide()))])
    with pytest.warns(DataWarning) as told:
        amounts = {name: [*(words == name).sum(axis=1), None, None] for name in ("neg", "pos")}
        found = of_table(frame.assign(**amounts))
    assert str(told[0].message) == (
        "left out the numbers in data row 13 ('accuracy') (counting from 0) and the counts of 'pos' of the rows above "
        "in data row 12 ('n pos') (counting from 0) and the counts of 'pos' of the other columns in column pos "
        "and the counts of 'neg' of the other columns in column neg"
    )
    assert (found.n_tasks, found.classes, found.n_workers) == (width, list(CLASSES), 5)
    tasks = pd.DataFrame({"id": [*"abcdef"], "x": [*"010001"], "y": [*"010001"], "z": [*"010001"]})  # f is no sum
    with pytest.warns(DataWarning) as told:
        assert of_table(tasks).n_tasks == 6
    assert not any("left out" in str(one.message) for one in told)


def test_columns_of_other_things_do_not_hide_those_of_workers():
    """As long as they are not more."""
    things = {"fold": [*"pqr"] * 4, "site": [f"s{n}" for n in range(12)], "mean": [f"{n}.5" for n in range(12)]}
    with pytest.warns(DataWarning, match=r"columns not read: fold \(its values occur in no other column\), site"):
        found = of_table(wide().assign(**things))
    assert found.workers == [f"A{w}" for w in range(5)] and found.classes == list(CLASSES)
    survey = wide()[["id", "A0", "A1"]].assign(**things)
    with pytest.raises(CofactorError, match="no column task, worker, label"):
        of_table(survey)


def test_tasks_without_labels_are_named_in_every_layout(tmp_path):
    table = wide().mask(wide()["id"] == "t3").fillna({"id": "t3"})
    counts = pd.DataFrame({"task": [*"abcdef"], "yes": [3, 1, 0, 4, 5, 2], "no": [2, 4, 0, 1, 0, 3]})
    for frame, said in (
        (table, "data row 5 ('t3')"),
        (table.set_index("id").eq("neg").astype("boolean").where(table.set_index("id").notna()), "data row 5 ('t3')"),
        (counts, "data row 2 ('c')"),
    ):
        with pytest.warns(DataWarning) as told:
            found = of_table(frame)
        assert str(told[0].message) == f"left out 1 task without labels: {said} (counting from 0)"
        assert found.n_tasks == len(frame) - 1
    exports = {
        "lists": [
            {"task": name, "annotators": [*said], "labels": [*said]}
            for name, said in zip("abc", ("xy", "", "yx"), strict=True)
        ],
        "objects": [
            {"id": name, "answers": [{"worker": one, "label": one} for one in said]}
            for name, said in zip("abc", ("xy", "", "yx"), strict=True)
        ],
        "Label Studio": [
            {"id": name, "data": {}, "annotations": [
                {"completed_by": one, "result": [{"type": "choices", "from_name": "q", "value": {"choices": [one]}}]}
                for one in said
            ]} for name, said in zip("abc", ("xy", "", "yx"), strict=True)
        ],
    }  # fmt: skip
    for name, records in exports.items():
        (tmp_path / "x.json").write_text(json.dumps(records))
        with pytest.warns(DataWarning) as told:
            assert CrowdLabels.from_file(tmp_path / "x.json").n_tasks == 2
        assert any("left out task b without" in str(one.message) for one in told), name


def test_labels_of_wide_frames_keep_their_kind():
    numbers = wide().replace(dict(zip(CLASSES, (0, 1, 2), strict=True))).set_index("id").astype(float)
    with pytest.warns(DataWarning, match="one column per worker"):
        found = of_table(numbers.mask(np.eye(len(numbers), 5) > 0))
    assert found.classes == [0, 1, 2] and all(type(one) is int for one in found.classes)
    with pytest.warns(DataWarning, match="one column per worker"):
        assert of_table(numbers == 1).classes == [False, True]
    for index in (["task", "worker"], ["task"]):
        assert of_table(PLAIN.set_index(index)).n_labels == len(PLAIN)


def test_two_columns_for_one_role_are_asked_for():
    frame = PLAIN.rename(columns={"task": "item"})
    for more, said in (
        ({"question": "?"}, "columns item, question may name the task: choose one, as in task='item'"),
        ({"id": range(60), "question": "?"}, "columns item, question may name the task"),
    ):
        with pytest.raises(CofactorError, match=said.replace("?", ".")):
            of_table(frame.assign(**more))
    for more in ({"annotator": "a", "model": "m"}, {"user": "u"}):
        with pytest.raises(CofactorError, match="may name the worker: choose one, as in worker="):
            of_table(PLAIN.rename(columns={"worker": "rater"}).assign(**more))
