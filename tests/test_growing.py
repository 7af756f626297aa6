"""Labels that keep coming: an update ends where a fit of all labels ends; a file keeps all that it needs."""

import warnings

import numpy as np
import pandas as pd
import pytest

from cofactor.core.errors import CofactorError, DataWarning
from cofactor.crowd import CrowdLabels, MajorityVote, WorkerTypes
from cofactor.simulate import crowd, dawid_skene_model
from cofactor_app.growing import CrowdFit

TIGHT = {"tol": 1e-12, "max_iter": 2000}


def everything(n_classes=3, seed=0):
    """A table of labels, half of them to be new; some tasks and workers occur in the new half only."""
    model = dawid_skene_model(14, n_classes, skill=0.6, random_state=seed)
    frame = crowd(model, 160, 0.4, random_state=seed).labels.to_frame()
    new = (frame["task"] >= 130) | (frame["worker"] >= 12) | (np.arange(len(frame)) % 10 == 0)
    return frame, frame[~new], frame[new]


def by_task(fit):
    """The posterior of the tasks and the confusion matrices of the workers, by their ids."""
    K = fit.labels.n_classes
    workers = dict(zip(fit.labels.workers, fit.method.model_.stacked.reshape(-1, K, K), strict=True))
    return dict(zip(fit.labels.tasks, fit.method.predict_proba(fit.labels), strict=True)), workers


def assert_same(fit, other, atol=1e-6):
    for found, expected in zip(by_task(fit), by_task(other), strict=True):
        assert found.keys() == expected.keys()
        for one in found:
            np.testing.assert_allclose(found[one], expected[one], rtol=0, atol=atol)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.filterwarnings("ignore::cofactor.ConvergenceWarning")
def test_an_update_is_the_fit_of_all_labels(n_classes):
    frame, old, new = everything(n_classes)
    settings = {"design_effect": 0.7, **TIGHT}
    updated = CrowdFit.start(old, WorkerTypes(**settings)).updated(new)
    assert_same(updated, CrowdFit.start(frame, WorkerTypes(**settings)))
    assert len(updated.labels.tasks) == frame["task"].nunique() and len(updated.labels.workers) == 14


def test_many_small_updates_are_one(tmp_path):
    frame, old, new = everything()
    settings = {"design_effect": 0.7, **TIGHT}
    fit = CrowdFit.start(old, WorkerTypes(**settings))
    for start in range(0, len(new), 60):
        fit.updated(new[start : start + 60]).save(tmp_path / "fit.npz")
        fit = CrowdFit.load(tmp_path / "fit.npz")
    assert_same(fit, CrowdFit.start(frame, WorkerTypes(**settings)))
    assert fit.n_chosen == len(old)


def test_rounds_of_the_changed_tasks_save_rounds_of_all(monkeypatch):
    """Ten tasks by two new workers and an old one: few labels, so that their rounds are slow."""
    old = crowd(dawid_skene_model(20, 2, skill=0.6, random_state=0), 600, 0.4, random_state=0).labels
    new = pd.DataFrame(
        {"task": np.repeat(range(700, 710), 3), "worker": [20, 21, 0] * 10, "label": [0, 1, 1, 1, 0] * 6}
    )
    fit = CrowdFit.start(old, WorkerTypes(design_effect=0.0, tol=1e-13))
    quick = fit.updated(new).method.result_.n_iter
    monkeypatch.setattr("cofactor_app.growing.PART_ROUNDS", 0)
    assert quick < 0.8 * fit.updated(new).method.result_.n_iter


def test_types_and_design_effect_are_those_of_the_fit_and_the_fit_stays_as_it_was():
    _, old, new = everything()
    fit = CrowdFit.start(old)
    before = fit.method.predict_proba(fit.labels).copy()
    updated = fit.updated(new)
    assert updated.method.types_ == fit.method.types_
    assert updated.method.design_effect_ == fit.method.design_effect_
    assert updated.labels.n_labels == fit.labels.n_labels + len(new)
    np.testing.assert_array_equal(fit.method.predict_proba(fit.labels), before)
    assert updated.method.labels_given_.sum() == updated.labels.n_labels


@pytest.mark.filterwarnings("ignore::cofactor.ConvergenceWarning")
def test_gold_tasks_stay_gold(tmp_path):
    frame, old, new = everything()
    known = {task: task % 3 for task in range(0, 60, 4)}
    settings = {"design_effect": 0.7, **TIGHT}
    labels = CrowdLabels.from_frame(old)
    fit = CrowdFit.of(WorkerTypes(**settings).fit(labels, gold=known), labels)
    fit.save(tmp_path / "fit.npz")
    updated = CrowdFit.load(tmp_path / "fit.npz").updated(new)
    both = CrowdLabels.from_frame(frame)
    assert_same(updated, CrowdFit.of(WorkerTypes(**settings).fit(both, gold=known), both))
    assert updated.method.gold_ == known


def test_labels_given_before():
    _, old, new = everything()
    fit, again = CrowdFit.start(old), pd.concat([old[:5], new])
    with pytest.warns(DataWarning, match="5 labels were given again"):
        assert fit.updated(again).labels.n_labels == len(old) + len(new)
    other = old[:1].assign(label=(old["label"][:1] + 1) % 3)
    row = other.iloc[0]
    with pytest.raises(CofactorError, match=f"conflicting labels: task {row['task']} by worker {row['worker']}"):
        fit.updated(other)
    for conflicts, expected in (("first", int(old["label"].iloc[0])), ("last", int(row["label"]))):
        with pytest.warns(DataWarning):
            kept = fit.updated(other, conflicts).labels.to_frame()
        mine = kept[(kept["task"] == row["task"]) & (kept["worker"] == row["worker"])]
        assert mine["label"].tolist() == [expected]


def test_a_new_class_is_refused_with_its_row_and_nothing_changes():
    _, old, new = everything()
    fit = CrowdFit.start(old)
    new = new.copy()
    new.iloc[3, 2] = 7
    with pytest.raises(CofactorError, match=r"classes that the fit does not know: data rows 3 \(7\)"):
        fit.updated(new)
    with pytest.raises(CofactorError, match="classes that were not there in fit: 3"):
        fit.updated(CrowdLabels.from_arrays([0, 1], [0, 0], [2, 3]))
    assert fit.labels.n_labels == len(old)


def test_ids_are_matched_where_only_one_file_has_whole_numbers(tmp_path):
    (tmp_path / "old.csv").write_text("task,worker,label\n1,7,0\n1,8,0\n2,7,1\n2,8,1\n3,7,1\n3,8,0\n")
    (tmp_path / "new.csv").write_text("task,worker,label\n3,x9,1\n4,7,0\n")
    fit = CrowdFit.start(tmp_path / "old.csv").updated(tmp_path / "new.csv")
    assert fit.labels.tasks == [1, 2, 3, 4] and fit.labels.workers == ["7", "8", "x9"]
    (tmp_path / "more.csv").write_text("task,worker,label\nt5,7,0\n3,9,1\n")
    fit = fit.updated(tmp_path / "more.csv")
    assert fit.labels.tasks == ["1", "2", "3", "4", "t5"] and fit.labels.workers == ["7", "8", "x9", "9"]


def test_a_file_gives_back_what_was_kept(tmp_path):
    for n_classes in (2, 3):
        fit = CrowdFit.start(everything(n_classes)[1])
        fit.save(tmp_path / "fit.npz")
        again = CrowdFit.load(tmp_path / "fit.npz")
        assert_same(again, fit, atol=0)
        assert again.method.get_params() == fit.method.get_params()
        assert np.array_equal(again.method.type_probabilities_, fit.method.type_probabilities_)
        new = everything(n_classes)[2]
        assert_same(again.updated(new), fit.updated(new), atol=1e-12)


def test_copies_and_crowds_of_one_label_a_task_are_kept(tmp_path):
    frame, old, _ = everything(2)
    twice = pd.concat([old, old[old["worker"] == 0].assign(worker=99)])
    fit = CrowdFit.start(twice)
    fit.save(tmp_path / "fit.npz")
    again = CrowdFit.load(tmp_path / "fit.npz")
    assert again.method.copies_ == fit.method.copies_ == [[0, 99]]
    one = CrowdFit.start(old.drop_duplicates("task"))
    one.save(tmp_path / "fit.npz")
    again = CrowdFit.load(tmp_path / "fit.npz")
    assert again.method.types_ == ()
    assert_same(again, one, atol=0)
    rest = frame.drop(old.drop_duplicates("task").index)
    assert_same(again.updated(rest), CrowdFit.start(frame), atol=1e-12)


def test_what_cannot_be_kept_or_read_is_refused(tmp_path):
    labels = CrowdLabels.from_frame(everything()[1])
    with pytest.raises(CofactorError, match="method"):
        CrowdFit.of(MajorityVote().fit(labels), labels)
    with pytest.raises(CofactorError, match="method: expected WorkerTypes"):
        CrowdFit.start(labels, MajorityVote())
    with pytest.raises(CofactorError, match="not fitted"):
        CrowdFit.of(WorkerTypes(), labels)
    with pytest.raises(CofactorError, match="a fit with an order, or with workers who are one voice, cannot be kept"):
        CrowdFit.start(labels, WorkerTypes(order=[0, 1, 2]))
    frame = labels.to_frame()
    frame["task"] = frame["task"].map(lambda task: (task, "tuple"))
    with pytest.raises(CofactorError, match="text or whole numbers"):
        CrowdFit.start(frame).save(tmp_path / "fit.npz")
    fit = CrowdFit.start(labels)
    fit.save(tmp_path / "fit.npz")
    kept = dict(np.load(tmp_path / "fit.npz", allow_pickle=False))
    bad = ({"states": kept["states"][:1]}, {"prior": -kept["prior"]}, {"owner": kept["owner"] + 1})
    for changed in (*bad, {"workers": kept["workers"] + 50}):
        np.savez(tmp_path / "bad.npz", allow_pickle=False, **kept | changed)
        with pytest.raises(CofactorError, match="no kept fit"):
            CrowdFit.load(tmp_path / "bad.npz")
    with pytest.raises(CofactorError, match="no such file"):
        CrowdFit.load(tmp_path / "none.npz")


def test_new_tasks_and_workers_that_look_like_old_ones_are_noted():
    _, old, _ = everything()
    old = old.assign(task="t" + old["task"].astype(str), worker="w" + old["worker"].astype(str))
    fit = CrowdFit.start(old)
    for column, name, found in (("task", "T1", "'T1' = 't1'"), ("worker", "w0\u200b", r"'w0' = 'w0\\u200b'")):
        with pytest.warns(
            DataWarning, match=f"^new {column}s that look like old ones count as different: {found}; write"
        ):
            fit.updated(old.head(1).assign(**{"task": "t900", column: name}))


def test_columns_that_are_swapped_are_refused_and_some_workers_called_as_tasks_noted():
    _, old, new = everything()
    named = [
        frame.assign(task="t" + frame["task"].astype(str), worker="w" + frame["worker"].astype(str))
        for frame in (old, new)
    ]
    fit = CrowdFit.start(named[0])
    with pytest.raises(CofactorError, match=r"new workers are called as old tasks .*t1.* and new tasks as old workers"):
        fit.updated(named[0].rename(columns={"task": "worker", "worker": "task"}))
    with pytest.raises(CofactorError, match=r"new tasks are called as old workers \(w0, w1\): columns may be swapped"):
        fit.updated(pd.DataFrame({"task": ["w0", "w1"], "worker": ["t900", "t901"], "label": named[0]["label"][:2]}))
    with pytest.warns(DataWarning, match="new workers are called as old tasks: t1; see whether"):
        fit.updated(named[0].head(4).assign(task="t900", worker=["t1", "w0", "w1", "w2"]))
    with pytest.warns(DataWarning, match="new tasks are called as old workers: w0; see whether"):
        fit.updated(named[0].head(2).assign(task=["w0", "t900"], worker="w1"))
    with warnings.catch_warnings(action="error"):
        fit.updated(named[1])
        CrowdFit.start(old).updated(new)  # new workers 12 and 13 are old tasks, too
