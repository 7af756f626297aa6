"""Labels in shards give what the same labels give in memory: counts exactly, models up to rounding."""

import json
import os
import shutil
import warnings
from contextlib import suppress
from unittest import mock
from weakref import ref

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.core import files
from cofactor.crowd import moments as moments_module
from cofactor.crowd.moments import CrowdMoments
from cofactor.crowd.tables import consensus_frame
from cofactor_app.scale import coding, sources
from cofactor_app.scale.sharding import shard_labels
from cofactor_app.scale.shards import VOCABULARY, LabelShards, write_vocabulary

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def frame():
    """A long table in no order, with text ids."""
    crowd = cf.simulate.large_crowd(
        cf.simulate.dawid_skene_model(12, 3, skill=0.6, random_state=1), 900, 5, random_state=1
    )
    frame = crowd.labels.to_frame().sample(frac=1, random_state=0).reset_index(drop=True)
    frame["task"] = "t" + frame["task"].astype(str)
    frame["worker"] = "wörker " + frame["worker"].astype(str)
    frame["label"] = np.array(["ant", "bee", "it's, a fly"])[frame["label"]]
    return frame


@pytest.fixture(scope="module")
def labels(frame):
    return cf.CrowdLabels.from_frame(frame)


@pytest.fixture(scope="module")
def made(frame, tmp_path_factory):
    """A folder with the table, and with its shards."""
    folder = tmp_path_factory.mktemp("made")
    frame.to_csv(folder / "labels.csv", index=False)
    shard_labels([folder / "labels.csv"], folder / "shards", n_shards=4)
    return folder


@pytest.fixture
def csv(made, tmp_path):
    return shutil.copy(made / "labels.csv", tmp_path / "labels.csv")


@pytest.fixture
def shards(made, tmp_path):
    shutil.copytree(made / "shards", tmp_path / "shards")
    return LabelShards.open(tmp_path / "shards")


@pytest.fixture(scope="module")
def moments(labels):
    return CrowdMoments.of(labels)


def same_moments(a, b):
    assert (a.pairs.counts != b.pairs.counts).nnz == 0 and a.pairs.counts.dtype == b.pairs.counts.dtype
    assert np.array_equal(a.pairs.singles, b.pairs.singles)
    assert (a.n_tasks, a.n_labels, a.workers, a.classes) == (b.n_tasks, b.n_labels, b.workers, b.classes)
    assert a.votes.n_rows == b.votes.n_rows
    assert np.allclose(a.votes.cells, b.votes.cells, rtol=0, atol=1e-12 * a.n_tasks)
    assert np.allclose(a.votes.classes, b.votes.classes, rtol=0, atol=1e-12 * a.n_tasks)


def test_shards_hold_the_labels_of_the_file_sorted_by_task(shards, labels):
    assert len(shards.paths) == 4
    parts = list(shards)
    assert [task for part in parts for task in part.tasks] == labels.tasks
    assert (shards.workers, shards.classes) == (labels.workers, labels.classes)
    assert pd.concat([part.to_frame() for part in parts], ignore_index=True).equals(labels.to_frame())
    sizes = [part.n_labels for part in parts]
    assert max(sizes) - min(sizes) <= 2 * 5


@pytest.mark.parametrize("n_shards", [1, 7, 5000])
def test_any_number_of_shards_holds_every_task_once(frame, tmp_path, n_shards):
    few = frame.iloc[:40]
    few.to_csv(tmp_path / "few.csv", index=False)
    labels = cf.CrowdLabels.from_frame(few)
    shards = shard_labels([tmp_path / "few.csv"], tmp_path / "shards", n_shards)
    assert len(shards.paths) == min(n_shards, labels.n_tasks)
    assert [task for part in shards for task in part.tasks] == labels.tasks


def test_whole_numbers_are_numbers_and_other_ids_stay_as_written(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label\n10, 007,0\n9,1,1\n10,1,1\n9, 007 ,0\n")
    shards = shard_labels([path], tmp_path / "shards")
    labels = cf.CrowdLabels.from_csv(path)
    (part,) = shards
    assert (part.tasks, part.workers, part.classes) == (labels.tasks, labels.workers, labels.classes)
    assert part.tasks == [9, 10] and part.workers == ["007", "1"]
    assert np.array_equal(part.table.codes, labels.table.codes)


def test_more_workers_and_classes_than_a_byte_holds(tmp_path):
    path = tmp_path / "labels.csv"
    frame = pd.DataFrame({"task": np.arange(600) // 2, "worker": np.arange(600)[::-1], "label": np.arange(600) % 300})
    frame.to_csv(path, index=False)
    (part,) = shard_labels([path], tmp_path / "shards")
    assert np.array_equal(part.table.codes, cf.CrowdLabels.from_csv(path).table.codes)


@pytest.mark.parametrize(
    "odd", ["007", "+7", "0x1F", "-0", "-07", "00", "1" * 19, "9" * 18, " 7 ", "-3", "7.0", "1e3", "x", "٧", "0"]
)
def test_ids_that_look_like_numbers_are_what_they_are_in_memory(tmp_path, odd):
    path = tmp_path / "labels.csv"
    rows = [f"{task},{worker},{label}\n" for task in (10, 9) for worker, label in ((10, 0), (9, 1))]
    path.write_text("".join(["task,worker,label\n", *rows, f"{odd},{odd},0\n"]), encoding="utf8")
    labels = cf.CrowdLabels.from_csv(path)
    (part,) = shard_labels([path], tmp_path / "shards")
    assert (part.tasks, part.workers, part.classes) == (labels.tasks, labels.workers, labels.classes)
    assert np.array_equal(part.table.codes, labels.table.codes)


def test_a_task_that_is_no_number_makes_text_of_all_those_before(tmp_path):
    path = tmp_path / "labels.csv"
    rows = [f"{task},{task % 3},{task % 2}\n" for task in range(5000)]
    path.write_text("".join(["task,worker,label\n", *rows, "x,0,1\n"]))
    with mock.patch.object(coding, "BATCH", 2048):
        shards = shard_labels([path], tmp_path / "shards", n_shards=3)
    assert [task for part in shards for task in part.tasks] == sorted([*map(str, range(5000)), "x"])


def test_a_file_that_breaks_off_late_is_refused(tmp_path):
    path = tmp_path / "labels.csv"
    rows = [f"{task},{task % 3},{task % 2}\n" for task in range(300_000)]
    path.write_text("".join(["task,worker,label\n", *rows, '1,2,3,4,5\n"1,2\n']))
    with pytest.raises(cf.CofactorError, match=r"more cells than the 3 of the header in row 300002 \(5 cells\)"):
        shard_labels([path], tmp_path / "shards")
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


def test_parquet_files_shard_like_the_csv_file(frame, csv, shards, tmp_path):
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    frame[:700].to_parquet(paths[0], index=False)
    frame[700:].to_parquet(paths[1], index=False)
    other = shard_labels(paths, tmp_path / "other", n_shards=4)
    for a, b in zip(shards, other, strict=True):
        assert a.to_frame().equals(b.to_frame())


def test_moments_of_shards_are_those_of_all_labels_at_any_number_of_jobs(shards, labels, tmp_path):
    one = shards.count(tmp_path / "one", n_jobs=1)
    two = shards.count(tmp_path / "two", n_jobs=2)
    same_moments(one, CrowdMoments.of(labels))
    same_moments(one, two)
    assert np.array_equal(one.votes.cells, two.votes.cells)


def test_moments_survive_the_file(labels, tmp_path):
    moments = CrowdMoments.of(labels)
    moments.save(tmp_path / "moments.npz")
    again = CrowdMoments.load(tmp_path / "moments.npz")
    same_moments(moments, again)
    assert np.array_equal(moments.votes.cells, again.votes.cells)
    with np.load(tmp_path / "moments.npz") as file:
        arrays = dict(file)
    whole = [name for name, array in arrays.items() if array.dtype.kind in "iu" and name != "ids"]
    arrays |= {name: arrays[name].astype(np.uint64) for name in whole}  # as another program may write them
    np.savez(tmp_path / "wide.npz", **arrays)
    wide = CrowdMoments.load(tmp_path / "wide.npz")
    same_moments(moments, wide)
    assert np.array_equal(wide.votes.model().stacked, moments.votes.model().stacked)
    (tmp_path / "broken.npz").write_bytes(b"nothing")
    np.savez(tmp_path / "other.npz", counts=np.zeros(3))
    for name, problem in {
        "none": "no such file",
        "broken": "no file of moments",
        "other": "no file of moments",
    }.items():
        with pytest.raises(cf.CofactorError, match=problem):
            CrowdMoments.load(tmp_path / f"{name}.npz")


def named_twice(ids):
    found = json.loads(ids.tobytes())
    found["workers"][1] = found["workers"][0]
    return np.frombuffer(json.dumps(found).encode(), dtype=np.uint8)


def one_worker_more(ids):
    found = json.loads(ids.tobytes())
    found["workers"].append("nobody")
    return np.frombuffer(json.dumps(found).encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("singles", np.zeros_like, "more often in pairs than alone"),
        ("singles", lambda a: a - np.eye(len(a), dtype=a.dtype)[0], "votes do not add up"),
        ("counts", lambda a: a * 2, "more often in pairs than alone"),
        ("vote_cells", lambda a: a * 1000, "votes do not add up"),
        ("vote_classes", lambda a: a * 1000, "votes do not add up"),
        ("vote_rows", lambda a: a + 1, "votes do not add up"),
        ("ids", named_twice, "named twice"),
        ("ids", one_worker_more, "its ids belong to other moments"),
    ],
)
def test_moments_that_contradict_themselves_are_refused(labels, tmp_path, name, change, problem):
    path = tmp_path / "moments.npz"
    CrowdMoments.of(labels).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **arrays | {name: change(arrays[name])})
    with pytest.raises(cf.CofactorError, match=rf"moments\.npz is no file of moments: .*{problem}"):
        CrowdMoments.load(path)


@pytest.mark.parametrize(
    "name",
    ["WorkerTypes", "MV-EM", "RobSymNMF", "RobSymNMF-EM", "RobSymNMF(w=1)", "DesSymNMF-EM", "SymNMF(no imputation)"],
)
@pytest.mark.filterwarnings("ignore::cofactor.core.errors.DataWarning")  # of SymNMF: only equality is asked here
def test_models_and_consensus_are_those_of_all_labels(shards, labels, moments, name):
    whole = cf.crowd.METHODS[name]().fit(labels)
    method = shards.fit(cf.crowd.METHODS[name](), moments)
    assert np.allclose(method.model_.prior, whole.model_.prior, rtol=0, atol=1e-12)
    assert np.allclose(method.model_.stacked, whole.model_.stacked, rtol=0, atol=1e-12)
    assert method.result_.n_iter == whole.result_.n_iter
    ours = pd.concat(shards.consensus(method), ignore_index=True)
    theirs = consensus_frame(labels, whole.predict_proba(labels), whole)
    assert ours.drop(columns="probability").equals(theirs.drop(columns="probability"))
    assert np.allclose(ours["probability"], theirs["probability"], atol=2e-6)


@pytest.mark.parametrize("name", ["MV-EM", "WorkerTypes"])
def test_rounds_of_em_can_be_limited(shards, labels, moments, name):
    few = {"design_effect": 0.5} if name == "WorkerTypes" else {}
    with pytest.warns(cf.core.errors.ConvergenceWarning, match="limit 2"):
        method = shards.fit(cf.crowd.METHODS[name](**few), moments, max_rounds=2)
        whole = cf.crowd.METHODS[name](**few, max_iter=2).fit(labels)
    assert method.result_.n_iter == 2 and not method.result_.converged
    assert np.allclose(method.model_.stacked, whole.model_.stacked, rtol=0, atol=1e-12)
    ours = pd.concat(shards.consensus(method), ignore_index=True)
    assert ours["label"].equals(consensus_frame(labels, whole.predict_proba(labels), whole)["label"])


original = LabelShards.read


def test_counted_shards_are_not_read_again_unless_they_changed(shards, tmp_path, monkeypatch):
    first = shards.count(tmp_path / "counts")
    read = []
    monkeypatch.setattr(LabelShards, "read", lambda self, path: read.append(path) or original(self, path))
    same_moments(shards.count(tmp_path / "counts"), first)
    assert read == []
    (tmp_path / "counts" / next((tmp_path / "counts").iterdir()).name).unlink()
    same_moments(shards.count(tmp_path / "counts"), first)
    assert len(read) == 1
    changed = shards.paths[2]
    pd.read_parquet(changed).iloc[:-5].to_parquet(changed, index=False)
    write_vocabulary(changed.parent, shards.workers, shards.classes)
    shards = LabelShards.open(changed.parent)
    assert shards.count(tmp_path / "counts").n_labels == first.n_labels - 5
    assert read[1:] == [changed]


def test_moments_of_other_labels_are_refused(shards, labels):
    fewer = CrowdMoments.of(labels.take_tasks(np.arange(10, 900)))
    with pytest.raises(cf.CofactorError, match=r"labels of 890 tasks, the shards hold \d+ of 900"):
        shards.fit(cf.crowd.METHODS["RobSymNMF"](), fewer)
    with pytest.raises(cf.CofactorError, match=r"labels of 890 tasks, the shards hold \d+ of 900"):
        shards.fit(cf.crowd.METHODS["WorkerTypes"](), fewer)
    with pytest.raises(cf.CofactorError, match="other workers or classes"):
        shards.fit(cf.crowd.METHODS["RobSymNMF"](), CrowdMoments.of(labels.take_workers(range(11))))


@pytest.mark.parametrize("name", ["MajorityVote", "MultiStart-EM"])
def test_methods_that_need_all_labels_say_which_do_not(shards, moments, name):
    with pytest.raises(cf.CofactorError, match="needs all labels at once; from moments work WorkerTypes, IBCC, EBCC"):
        shards.fit(cf.crowd.METHODS[name](), moments)


def test_grades_and_groups_are_refused_where_labels_are_sums(shards, labels):
    for setting in ({"order": labels.classes}, {"one_voice": [labels.workers[:2]]}):
        with pytest.raises(cf.CofactorError, match="order and one_voice need all labels in memory"):
            shards.fit(cf.crowd.WorkerTypes(**setting), CrowdMoments.of(labels))


def folder_of(tmp_path, **tasks):
    """Shards with these tasks, written by hand."""
    for name, column in tasks.items():
        workers = np.arange(len(column)) % 3
        pd.DataFrame({"task": column, "worker": workers, "label": workers % 2}).to_parquet(tmp_path / f"{name}.parquet")
    write_vocabulary(tmp_path, [0, 1, 2], ["a", "b"])
    return LabelShards.open(tmp_path)


@pytest.mark.parametrize(
    ("tasks", "problem"),
    [
        ({"a": ["t", "u", "t"]}, "labels of 't' are scattered"),
        ({"a": [5, 4]}, "not sorted by task from 4 on"),
        ({"a": [1, 2], "b": [2, 3]}, "task 2 lies in both"),
        ({"a": [1, 3], "b": [2, 4]}, "tasks from 2 on overlap"),
        ({"a": [1, 2], "b": ["3", "4"]}, "text in one, numbers in the other"),
        ({"a": ["t", None]}, "text or whole numbers, one kind only; found .*, str"),
        ({"a": [1.0, 2.5]}, "text or whole numbers, one kind only; found float"),
    ],
)
def test_tasks_that_are_not_grouped_are_named(tmp_path, tasks, problem):
    shards = folder_of(tmp_path, **tasks)
    with pytest.raises(cf.CofactorError, match=problem):
        list(shards)
    with pytest.raises(cf.CofactorError, match=problem):
        shards.count(tmp_path / "counts")


@pytest.mark.parametrize(
    ("column", "values", "problem"),
    [
        ("worker", [0, 1, 3], "a.parquet: variable index out of range 0..2: 3"),
        ("worker", [-1, 0, 1], "a.parquet: variable index out of range 0..2: -1"),
        ("worker", ["x", "y", "z"], "a.parquet: codes must be integers"),
        ("worker", [0, 0, 1], "a.parquet: observed more than once"),
        ("label", [0, 1, 2], "a.parquet: codes outside their alphabet"),
        ("label", [0, 1, -1], "a.parquet: codes outside their alphabet"),
        ("label", [0, 1, np.nan], "a.parquet: codes must be integers"),
    ],
)
def test_codes_that_the_vocabulary_does_not_know_are_refused(tmp_path, column, values, problem):
    shards = folder_of(tmp_path, a=["t", "t", "t"])
    frame = pd.read_parquet(shards.paths[0]).assign(**{column: values})
    frame.to_parquet(shards.paths[0])
    write_vocabulary(tmp_path, shards.workers, shards.classes)
    with pytest.raises(cf.CofactorError, match=problem):
        list(LabelShards.open(tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[]", '{"workers": []}', '{"workers": 3, "classes": [], "shards": {}}'),
        *('{"workers": [], "classes": []}', '{"workers": [], "classes": [], "shards": {"a.parquet": 3}}'),
    ],
)
def test_broken_vocabularies_are_refused(tmp_path, text):
    folder_of(tmp_path, a=["t"])
    (tmp_path / VOCABULARY).write_text(text)
    with pytest.raises(cf.CofactorError, match="no vocabulary of shards"):
        LabelShards.open(tmp_path)


def test_files_of_two_kinds_or_with_times_in_one_are_refused(frame, csv, tmp_path):
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    with pytest.raises(cf.CofactorError, match="CSV and parquet files cannot be mixed"):
        shard_labels([csv, tmp_path / "a.parquet"], tmp_path / "shards")
    frame.assign(updated_at=1).to_csv(tmp_path / "timed.csv", index=False)
    for paths in ([csv, tmp_path / "timed.csv"], [tmp_path / "timed.csv"]):
        with pytest.raises(cf.CofactorError, match="column updated_at says which label came first, and is not read"):
            shard_labels(paths, tmp_path / "shards", conflicts="first")


def test_numbers_below_one_are_refused(csv, shards, tmp_path):
    for n_shards in (0, -1):
        with pytest.raises(cf.CofactorError, match="a number of files from 1"):
            shard_labels([csv], tmp_path / "other", n_shards)
    with pytest.raises(cf.CofactorError, match="at least one process"):
        shards.count(tmp_path / "counts", n_jobs=0)
    assert {path.name for path in tmp_path.iterdir()} == {"labels.csv", "shards"}


def test_counts_are_added_one_file_at_a_time(shards, tmp_path, monkeypatch):
    known, alive = [], []

    class Part(dict):
        """What a file holds; can be watched."""

    def read(path):
        alive.append(sum(part() is not None for part in known))
        part = Part(originally(path))
        known.append(ref(part))
        return part

    originally = moments_module._read
    monkeypatch.setattr(moments_module, "_read", read)
    shards.count(tmp_path / "counts")
    assert len(alive) == 4 and max(alive) <= 1


def test_folders_that_hold_no_shards_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, ".", "..", "/"):
        with pytest.raises(cf.CofactorError, match=rf"^{os.path.realpath(folder)} holds no shards .*make"):
            LabelShards.open(folder)
    with pytest.raises(cf.CofactorError, match=r"shards of 2 folders: .* name those of one folder"):
        LabelShards.open(tmp_path, "/")
    with pytest.raises(cf.CofactorError, match="no shards are named"):
        LabelShards.open()
    with pytest.raises(cf.CofactorError, match="no such file"):
        LabelShards.open(tmp_path / "a.parquet")
    (tmp_path / "a.parquet").write_bytes(b"no parquet")
    with pytest.raises(cf.CofactorError, match="cofactor shard"):
        LabelShards.open(tmp_path)
    write_vocabulary(tmp_path, [], [])
    with pytest.raises(cf.CofactorError, match="cannot be read as parquet"):
        list(LabelShards.open(tmp_path))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("task,worker,label\na,x,0\na,y,1\nb,x,\n", r"missing label in rows 4 \(the first"),
        ("task,worker,label\na,x,0\na,y,1\n ,x,1\n", r"missing task in rows 4 \(the first"),
        ("task,worker,label\na,x,0\na,y,0\n", "only one class"),
        ("task,worker,label\n", "no labels"),
        ("item,worker,label\na,x,0\n", "no column task; found item, worker, label"),
        ("task,worker,label\na,x,0\na,y,1\na,x,1\n", "conflicting labels: task 'a' by worker 'x'"),
    ],
)
def test_unusable_files_are_refused_and_nothing_is_left(tmp_path, text, problem):
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises(cf.CofactorError, match=problem):
        shard_labels([path], tmp_path / "shards")
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


@pytest.mark.parametrize("conflicts", ["first", "last"])
def test_of_conflicting_labels_the_first_or_last_is_kept(tmp_path, conflicts):
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label\na,x,1\na,y,1\na,x,0\nb,y,0\nb,y,0\n")
    with pytest.warns(cf.DataWarning, match="2 labels were given again"):
        (part,) = shard_labels([path], tmp_path / "shards", conflicts=conflicts)
    with pytest.warns(cf.core.errors.DataWarning):
        labels = cf.CrowdLabels.from_csv(path, conflicts=conflicts)
    assert np.array_equal(part.table.codes, labels.table.codes)


def test_all_rows_that_are_wrong_are_counted(tmp_path):
    path = tmp_path / "labels.csv"
    twice = pd.DataFrame({"task": np.arange(2400) // 2, "worker": 0, "label": np.arange(2400) % 2})
    twice.to_csv(path, index=False)
    with pytest.raises(cf.CofactorError, match=r"task 0 by worker 0, .*task 9 by worker 0, \.\.\. \(1200 in all\)"):
        shard_labels([path], tmp_path / "shards")
    twice.assign(worker="").to_csv(path, index=False)
    with pytest.raises(cf.CofactorError, match=r"missing worker in rows 2, 3, .*, 11, \.\.\. \(2400 in all\)"):
        shard_labels([path], tmp_path / "shards")


@pytest.mark.parametrize("damage", [{b"pandas": b"{}"}, {b"pandas": b'{"columns": [{}], "index_columns": []}'}])
def test_notes_of_pandas_in_parquet_are_not_needed(shards, damage):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"task": ["a"], "worker": [0], "label": [0]}).replace_schema_metadata(damage)
    parquet.write_table(table, shards.paths[0])
    write_vocabulary(shards.paths[0].parent, shards.workers, shards.classes)
    assert LabelShards.open(shards.paths[0]).read(shards.paths[0]).tasks == ["a"]


# ---- the list of shards ----


def test_a_shard_that_is_gone_is_named(shards):
    shards.paths[1].unlink()
    with pytest.raises(cf.CofactorError, match=r"shards are missing: .*shard-001.parquet; make shards"):
        LabelShards.open(shards.paths[0].parent)


def test_a_shard_that_is_in_no_list_is_named(shards):
    shutil.copy(shards.paths[0], shards.paths[0].with_name("copy.parquet"))
    with pytest.raises(cf.CofactorError, match=r"does not list .*copy.parquet; make shards"):
        LabelShards.open(shards.paths[0].parent)
    with pytest.raises(cf.CofactorError, match="does not list"):
        LabelShards.open(shards.paths[0].with_name("copy.parquet"))


def test_a_shard_of_another_size_is_named(shards):
    with open(shards.paths[2], "ab") as file:
        file.write(b"more")
    with pytest.raises(cf.CofactorError, match=r"another size than was written: .*shard-002"):
        LabelShards.open(shards.paths[0].parent)


def test_every_byte_counts_where_shards_are_verified(shards):
    shards.verify()
    content = bytearray(shards.paths[0].read_bytes())
    content[len(content) // 2] ^= 1
    shards.paths[0].write_bytes(content)
    opened = LabelShards.open(shards.paths[0].parent)
    with pytest.raises(cf.CofactorError, match=r"damaged shards: .*shard-000"):
        opened.verify()
    with pytest.raises(cf.CofactorError, match=r"shard-000.parquet is damaged, or was replaced meanwhile: run again"):
        next(iter(opened))


def test_shards_that_are_replaced_while_they_are_counted_are_not_mixed(csv, shards, tmp_path):
    reading = iter(shards)
    next(reading)
    shard_labels([csv], tmp_path / "shards", n_shards=4, conflicts="first", replace=True)  # the same bytes
    next(reading)
    pd.read_csv(csv).replace({"label": {"ant": "bat"}}).to_csv(csv, index=False)
    shard_labels([csv], tmp_path / "shards", n_shards=4, replace=True)
    shards.paths[2].write_bytes(shards.paths[3].read_bytes())
    with pytest.raises(cf.CofactorError, match="replaced meanwhile"):
        next(reading)


def test_counts_of_shards_with_other_ids_are_not_taken_up(tmp_path):
    first = folder_of(tmp_path, a=["t", "u"])
    first.count(tmp_path / "counts")
    write_vocabulary(tmp_path, [0, 1, 9], ["a", "b"])
    assert LabelShards.open(tmp_path).count(tmp_path / "counts").workers == [0, 1, 9]


@pytest.mark.parametrize("call", ["replace", "rmtree", "fsync"])
@pytest.mark.parametrize("survived", range(8))
def test_a_folder_that_is_replaced_is_the_old_one_or_the_new(csv, shards, tmp_path, monkeypatch, call, survived):
    """Stop at each file operation in turn: what is opened then is whole."""
    folder, calls = shards.paths[0].parent, []
    home = files.shutil if call == "rmtree" else files.os
    original = getattr(home, call)

    def stops(*arguments, **more):
        calls.append(arguments)
        if len(calls) > survived:
            raise KeyboardInterrupt
        return original(*arguments, **more)

    with monkeypatch.context() as patched:
        patched.setattr(home, call, stops)
        with suppress(KeyboardInterrupt):
            shard_labels([csv], folder, n_shards=2, replace=True)
    found = LabelShards.open(folder)
    assert len(found.paths) in (2, len(shards.paths))
    found.verify()
    assert len(shard_labels([csv], folder, n_shards=3, replace=True).paths) == 3
    assert {path.name for path in tmp_path.iterdir()} == {"labels.csv", "shards"}


SAME_ROADS = {  # rows behind the header that DuckDB would read in its own way
    "quoted only far below": [
        *(f"t{i},w{j},{'ab'[(i + j) % 2]}" for i in range(6000) for j in range(4)),
        *(f'"u{i}","w{j}","{"ab"[(i + j) % 2]}"' for i in range(50) for j in range(4)),
    ],
    "ids in single quotes": ["'t3',w1,a", "t3,w1,b", "t3,w2,a", "'t3',w2,b"],
    "commas and quotes within quotes": ['"t,1",w1,a', '"t""1",w2,b', "t2,w1,a"],
    "a backslash": ['"t\\",w1,a', "t2,w2,b", "t2,w1,a"],
    "what looks like a comment": ["# c,w1,a", "t2,w2,b", "t2,w1,a"],
    "blanks of other kinds": ["t1\u00a0,w1,a", "t1,w2,b", "t2,w1,a\u3000"],
}
REFUSED = {
    "a title above the header": ["my labels", "task,worker,label", "t1,w1,a", "t1,w2,b"],
    "a quote that is not closed": ["task,worker,label", '"t1,w1,a', "t1,w2,b"],
    "a row too long": ["task,worker,label", "t1,w1,a,x", "t1,w2,b"],
}


LONG = "quoted only far below"  # where DuckDB no longer looks


@pytest.mark.parametrize("names", [[LONG], list(SAME_ROADS)[1:4], list(SAME_ROADS)[4:], list(REFUSED)])
def test_a_file_reads_the_same_from_shards_and_in_memory(tmp_path, names):
    roads = {**SAME_ROADS, **REFUSED}
    for n, (name, rows) in enumerate((name, roads[name]) for name in names):
        path = tmp_path / f"{n}.csv"
        path.write_text("\n".join(rows if name in REFUSED else ["task,worker,label", *rows]) + "\n", encoding="utf8")
        if name in REFUSED:
            with pytest.raises(cf.CofactorError):
                cf.CrowdLabels.from_file(path)
            with pytest.raises(cf.CofactorError):
                shard_labels([path], tmp_path / str(n))
            continue
        with warnings.catch_warnings(action="ignore"):
            in_memory = cf.CrowdLabels.from_file(path).to_frame()
        shards = shard_labels([path], tmp_path / str(n))
        found = pd.concat([part.to_frame() for part in shards])
        assert sorted(map(tuple, found.to_numpy())) == sorted(map(tuple, in_memory.to_numpy())), name


def test_only_plain_texts_are_read_by_duckdb(tmp_path):
    plain = b"task,worker,label\na,x,0\n"
    for text, expected in (
        *((text, True) for text in (plain, b"\xef\xbb\xbf" + plain, plain.replace(b"\n", b"\r\n"))),
        *((text, False) for text in (b"", b"\n\n\n\n" + plain, b'"task"' + plain, plain + b"\0", plain + b"b\ry,1\n")),
    ):
        (tmp_path / "labels.csv").write_bytes(text)
        assert sources._is_plain(tmp_path / "labels.csv") == expected, text


def test_records_without_a_label_are_numbered_from_one(tmp_path):
    frame = pd.DataFrame({"task": ["a", "a", "b"], "worker": ["x", "y", "x"], "label": ["0", "1", None]})
    frame.to_parquet(tmp_path / "labels.parquet", index=False)
    with pytest.raises(cf.CofactorError, match="missing label in records 3 of all"):
        shard_labels([tmp_path / "labels.parquet"], tmp_path / "shards")
