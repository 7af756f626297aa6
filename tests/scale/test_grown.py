"""Labels that keep coming beyond memory: an update from shards is the update in memory, and shards stay whole."""

import os
import shutil
import warnings

import numpy as np
import pandas as pd
import pytest

from cofactor.core.errors import CofactorError, DataWarning
from cofactor.crowd import CrowdLabels, WorkerTypes
from cofactor.simulate import crowd, dawid_skene_model
from cofactor_app.growing import CrowdFit
from cofactor_app.scale import merging
from cofactor_app.scale.grown import FIT, ShardsFit
from cofactor_app.scale.known import apart, labels_of
from cofactor_app.scale.passes import Passes
from cofactor_app.scale.sharding import shard_labels
from cofactor_app.scale.threads import Threads
from tests.each import each

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

SETTINGS = {"design_effect": 0.7, "tol": 1e-12, "max_iter": 2000}
pytestmark = pytest.mark.filterwarnings("ignore::cofactor.ConvergenceWarning")


def everything(n_classes=3, text=False, seed=0):
    """Old labels and new ones, some by new workers or of new tasks, which lie before and behind the old ones."""
    frame = crowd(dawid_skene_model(12, n_classes, skill=0.6, random_state=seed), 120, 0.4, random_state=seed).labels
    frame = frame.to_frame().assign(task=lambda frame: frame["task"] + 100)
    n = np.arange(len(frame))
    new = (frame["task"] < 105) | (frame["task"] >= 200) | (frame["worker"] >= 10) | (n % 10 == 0)
    copied = frame[frame["worker"] == 1].assign(worker=20)
    frame, new = pd.concat([frame, copied], ignore_index=True), np.append(new, np.arange(len(copied)) % 3 == 0)
    if text:
        frame = pd.DataFrame({name: [f"{name[0]}{code}" for code in frame[name]] for name in frame})
    return frame[~new], frame[new]


def both_kept(old, folder, settings=SETTINGS, gold=None):
    """Fits of the old labels, in memory and from shards, the latter kept in a folder and opened again."""
    method = WorkerTypes(**settings)
    in_memory = CrowdLabels.from_frame(old)
    known = CrowdFit.of(method.fit(in_memory, gold), in_memory)
    path = folder.with_suffix(".csv")
    old.to_csv(path, index=False)
    shards = shard_labels([path], folder.with_suffix(".shards"), n_shards=4)
    passes = Passes(shards).merged(method._owner)
    evidence = None
    if gold:
        evidence = apart(passes, labels_of(passes, list(map(str, gold))))
        codes = [in_memory.classes.index(gold[task]) for task in evidence.labels.tasks]
        evidence = evidence.told(np.array(codes))
    votes = evidence.start() if evidence else shards.votes(passes)
    fitted = shards.fit(WorkerTypes(**settings), votes, settings["max_iter"], passes=passes, apart=evidence)
    with warnings.catch_warnings(action="ignore"):
        ShardsFit.keep(fitted, shards, votes.n_rows, folder)
    return known, ShardsFit.load(folder)


def assert_same(found, expected):
    """Compare labels, probabilities, confusion matrices and what is told of workers."""
    labels, method = expected.labels, expected.method
    frame = pd.concat([part.to_frame() for part in found.shards])
    wanted = labels.to_frame().assign(task=lambda wanted: wanted["task"].astype(frame["task"].dtype))
    columns = ["task", "worker", "label"]
    pd.testing.assert_frame_equal(*(one.sort_values(columns, ignore_index=True) for one in (frame, wanted)))
    K = labels.n_classes
    posterior = np.vstack(list(found.shards.tables(lambda _, posterior: posterior, found.method)))
    tasks = [task for part in found.shards for task in part.tasks]
    order = pd.Index(tasks).get_indexer(pd.Index(labels.tasks).astype(type(tasks[0])))
    np.testing.assert_allclose(posterior[order], method.predict_proba(labels), rtol=0, atol=1e-6)
    workers = pd.Index(found.method.workers_).get_indexer(method.workers_)
    matrices = [one.model_.stacked.reshape(-1, K, K) for one in (found.method, method)]
    np.testing.assert_allclose(matrices[0][workers], matrices[1], rtol=0, atol=1e-6)
    assert found.method.labels_given_[workers].tolist() == method.labels_given_.tolist()
    told = [(fit.method.copies_, fit.method.gold_, fit.method.types_, fit.n_chosen) for fit in (found, expected)]
    assert told[0] == told[1] and (found.n_tasks, found.n_labels) == (labels.n_tasks, labels.n_labels)


def updated(fit, new, folder, **options):
    return fit.updated(CrowdLabels.from_frame(new, classes=fit.shards.classes), folder, **options)


GOLD = {"t110": "l0", "t111": "l1"}
CASES = [(2, False, None), (3, False, None), (3, True, GOLD), (2, False, {110: 0, 131: 1, 150: 1})]


@each("n_classes, text, gold", CASES)
def test_an_update_from_shards_is_that_in_memory(tmp_path, n_classes, text, gold):
    folder = tmp_path / f"kept {n_classes} {text} {len(gold or {})}"
    old, new = everything(n_classes, text)
    known, fit = both_kept(old, folder, gold=gold)
    assert bool(known.method.copies_) == (n_classes == 3)  # of two classes, these few tasks do not tell copies
    found = updated(fit, new, folder, threads=Threads(2), memory=1e9)
    for one in (found, ShardsFit.load(folder)):
        assert_same(one, known.updated(new))


def test_many_updates_and_changed_tasks_beyond_memory_end_the_same(tmp_path, monkeypatch):
    old, new = everything()
    known, fit = both_kept(old, tmp_path / "kept")
    monkeypatch.setattr(merging, "MOST_PART", 150)
    for start in range(0, len(new), 70):
        updated(fit, new[start : start + 70], tmp_path / "kept")
        fit = ShardsFit.load(tmp_path / "kept")
    assert_same(fit, known.updated(new))


def test_labels_that_say_nothing_yet_are_fitted_when_more_come(tmp_path):
    old, new = everything()
    alone = old.drop_duplicates("task")
    known, fit = both_kept(alone, tmp_path / "kept")
    assert fit.method.types_ == ()
    assert_same(updated(fit, new, tmp_path / "kept"), known.updated(new))


def test_labels_that_are_there_change_nothing_and_others_are_settled_as_in_memory(tmp_path):
    old, new = everything()
    known, fit = both_kept(old, tmp_path / "kept")
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    with pytest.warns(DataWarning, match=f"^{len(old)} labels were given again"):
        again = updated(fit, old, tmp_path / "kept")
    assert again.method is fit.method and again.shards is fit.shards and again.n_moved == 0
    other = old[::9].assign(label=(old["label"][::9] + 1) % 3)
    with pytest.raises(CofactorError, match=r"conflicting labels: task 10\d by worker"):
        updated(fit, other, tmp_path / "kept")
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()} == before
    both = pd.concat([other, new])
    for conflicts in ("first", "last"):
        shutil.copytree(tmp_path / "kept", tmp_path / conflicts)
        with pytest.warns(DataWarning, match=f"^{len(other)} labels were given again"):
            found = updated(ShardsFit.load(tmp_path / conflicts), both, tmp_path / conflicts, conflicts=conflicts)
        with warnings.catch_warnings(action="ignore"):
            assert_same(found, known.updated(both, conflicts))


def test_only_shards_whose_tasks_change_are_written_and_large_ones_are_cut(tmp_path, monkeypatch):
    old, _ = everything()
    known, fit = both_kept(old, tmp_path / "kept")
    files = {path.stat().st_ino for path in fit.shards.paths}
    few = pd.DataFrame({"task": [150, 150], "worker": [70, 71], "label": [0, 1]})
    found = updated(fit, few, tmp_path / "kept")
    assert len(found.shards.paths) == 4 and len(files & {path.stat().st_ino for path in found.shards.paths}) == 3
    found.shards.verify()
    assert_same(found, known.updated(few))
    monkeypatch.setattr(merging, "PER_SHARD", 20)
    many = pd.DataFrame({"task": np.arange(900, 990), "worker": 70, "label": np.arange(90) % 3})
    last = updated(found, many, tmp_path / "kept")
    assert len(last.shards.paths) > 5 and max(map(last.shards.n_labels, last.shards.paths[3:])) <= 20 + 12
    assert_same(last, known.updated(few).updated(many))


def test_old_tasks_that_have_another_label_now_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "PER_SHARD", 20)
    old, new = everything()
    known, fit = both_kept(old, tmp_path / "kept")
    after = known.updated(new)
    moved = known.method.predict(known.labels) != after.method.predict(after.labels)[: known.labels.n_tasks]
    found = updated(fit, new, tmp_path / "kept", threads=Threads(2))
    assert found.n_moved == moved.sum() > 0 and len(found.shards.paths) > len(fit.shards.paths)


def test_where_files_cannot_be_linked_they_are_copied(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError("no links here")))
    old, new = everything()
    known, fit = both_kept(old, tmp_path / "kept")
    few = new[new["task"] < 105]
    assert_same(updated(fit, few, tmp_path / "kept"), known.updated(few))


def test_ids_are_matched_as_text_where_old_tasks_are_and_text_is_refused_where_they_are_numbers(tmp_path):
    old, new = everything()
    named = old.assign(task=old["task"].astype(str).replace("150", "x"))
    known, fit = both_kept(named, tmp_path / "kept")
    assert_same(updated(fit, new, tmp_path / "kept"), known.updated(new))
    known, fit = both_kept(old, tmp_path / "numbers")
    letters = new.assign(worker="w" + new["worker"].astype(str))
    assert_same(updated(fit, letters, tmp_path / "numbers"), known.updated(letters))
    with pytest.raises(CofactorError, match=r"tasks of the fit are whole numbers, and new ones are not \('x'\): aggr"):
        updated(fit, new.head(1).assign(task="x"), tmp_path / "numbers")


def test_columns_that_are_swapped_are_refused_as_in_memory(tmp_path):
    old, _ = everything(text=True)
    _, fit = both_kept(old, tmp_path / "kept")
    with pytest.raises(CofactorError, match=r"new workers are called as old tasks .*t1.* and new tasks as old workers"):
        updated(fit, old.rename(columns={"task": "worker", "worker": "task"}), tmp_path / "kept")
    one = old.head(4).assign(task="t900", worker=["t150", "w0", "w1", "w2"])
    with pytest.warns(DataWarning, match="new workers are called as old tasks: t150; see whether"):
        updated(fit, one, tmp_path / "kept")
    for column, name, found in (("task", "T101", "'T101' = 't101'"), ("worker", "w0\u200b", r"'w0' = 'w0\\u200b'")):
        _, fit = both_kept(old, tmp_path / column)
        with pytest.warns(
            DataWarning, match=f"^new {column}s that look like old ones count as different: {found}; write"
        ):
            updated(fit, old.head(1).assign(**{"task": "t901", column: name}), tmp_path / column)
    _, fit = both_kept(old, tmp_path / "other")
    with pytest.raises(CofactorError, match=r"new tasks are called as old workers \(w0, w1\): columns may be swapped"):
        updated(fit, one.head(2).assign(task=["w0", "w1"], worker=["t905", "t906"]), tmp_path / "other")


def test_what_is_no_kept_fit_is_refused(tmp_path):
    old, _ = everything()
    _, fit = both_kept(old, tmp_path / "kept")
    with np.load(tmp_path / "kept" / FIT) as file:
        parts = dict(file)
    told = parts["about"].tobytes()
    for name, value in (
        ("about", np.frombuffer(b"{}", dtype=np.uint8)),
        ("states", parts["states"][1:]),
        ("expected", -parts["expected"]),
        ("anybody", parts["anybody"][:1]),
        ("given", parts["given"].astype(float)),
        ("owner", parts["owner"] + 1),
        ("about", np.frombuffer(told.replace(b'"gold": [[], []]', b'"gold": [[1], [9]]'), dtype=np.uint8)),
    ):
        np.savez(tmp_path / "kept" / FIT, **{**parts, name: value})
        with pytest.raises(CofactorError, match=r"fit.npz is no kept fit, as `cofactor aggregate --model` writes it"):
            ShardsFit.load(tmp_path / "kept")
    (tmp_path / "kept" / FIT).unlink()
    with pytest.raises(CofactorError, match="no such file"):
        ShardsFit.load(tmp_path / "kept")
    assert fit.n_labels == len(old)
