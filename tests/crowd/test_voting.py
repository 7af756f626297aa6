"""Votes and what EM makes of them: the textbook's rounds, one by one; skills; gold; ids of any kind."""

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor import CofactorError, DataWarning
from cofactor.crowd.aggregators import MVEM, MajorityVote
from cofactor.crowd.labels import vote_shares
from cofactor.simulate import crowd, dawid_skene_model
from tests.oracles.textbook import dawid_skene_1979


def thin_crowd(seed, n_classes=5, n_workers=60, n_tasks=90):
    """Four labels a worker, as on crowd platforms: most workers are never seen on most classes."""
    model = dawid_skene_model(n_workers, n_classes, skill=0.6, random_state=seed)
    labels = crowd(model, n_tasks, 4 / n_workers, random_state=seed).labels
    return labels.take_tasks(labels.table.entries_per_row > 0)


def test_without_prior_em_is_that_of_1979_also_where_workers_were_never_seen_on_a_class():
    for seed in range(5):
        labels = thin_crowd(seed)
        model = MVEM(pseudo_counts=(0, 0), max_iter=12, tol=-1)
        with pytest.warns(cf.ConvergenceWarning):
            ours = model.fit(labels)
        expected, log_likelihood = dawid_skene_1979(labels, rounds=12)
        assert np.allclose(ours.result_.objective, log_likelihood, rtol=1e-9)
        *_, last = MVEM(pseudo_counts=(0, 0), max_iter=12, tol=-1).rounds(labels)
        assert np.allclose(last.posterior(labels.table), expected, atol=1e-6)
        assert (expected[vote_shares(labels) == 0] < 1e-9).mean() > 0.5  # zeros stay, else this test holds nothing


def test_rounds_are_those_of_the_fit_beginning_with_the_vote():
    labels = thin_crowd(1)
    models = list(MVEM().rounds(labels))
    fitted = MVEM().fit(labels)
    assert len(models) == fitted.result_.n_iter + 1
    assert np.allclose(models[-1].posterior(labels.table), fitted.predict_proba(labels))
    assert np.allclose(models[0].prior, vote_shares(labels).mean(axis=0))
    assert len(list(MVEM(max_iter=3).rounds(labels))) == 4
    assert len(list(MVEM(tol=1e-2).rounds(labels))) < len(models)


FRAME = pd.DataFrame(
    [("a", 1, "x"), ("a", 2, "y"), ("a", 3, "y"), ("b", 1, "x"), ("b", 2, "x"), ("b", 3, "y"), ("c", 2, "y")],
    columns=["task", "worker", "label"],
)


def test_votes_count_what_their_workers_are_known_for():
    shares = MajorityVote(skills={1: 3.0, 2: 1.0, 3: 1.0}).fit(FRAME).predict_proba(FRAME)
    assert np.allclose(shares.loc["a"], [0.6, 0.4])
    with pytest.warns(DataWarning, match="without a skill count as the mean of the others: 3$"):
        shares = MajorityVote(skills=pd.Series({1: 3.0, 2: 1.0})).fit(FRAME).predict_proba(FRAME)
    assert np.allclose(shares.loc["a"], [0.5, 0.5])
    nobody = MajorityVote(skills={1: 1.0, 2: 0.0, 3: 0.0}).fit(FRAME).predict_proba(FRAME)
    assert np.allclose(nobody.loc["c"], [0.0, 1.0])  # only worker 2, of no weight: the plain vote


def test_skills_are_the_shares_right_on_gold():
    with pytest.warns(DataWarning, match="passed over: 'zz'"):
        method = MajorityVote().fit(FRAME, gold={"a": "x", "b": "x", "zz": "x"})
    assert method.weights_.tolist() == [1.0, 0.5, 0.0]
    assert method.predict(FRAME).to_dict() == {"a": "x", "b": "x", "c": "y"}


@pytest.mark.parametrize(
    ("skills", "message"),
    [({1: -1.0}, "not so for 1"), ({1: 0.0}, "no worker has a skill above zero"), ([1.0], "dict or a Series")],
)
def test_refuses_what_is_no_skill(skills, message):
    with pytest.raises(CofactorError, match=message):
        MajorityVote(skills=skills).fit(FRAME)


def test_gold_of_two_classes_is_refused_and_a_table_is_read():
    twice = pd.Series(["x", "y", "x"], index=["a", "a", "b"])
    for gold in (twice, twice[::-1]):
        with pytest.raises(CofactorError, match="two classes for tasks 'a'"):
            MVEM().fit(FRAME, gold)
    table = pd.DataFrame({"task": ["b", "b"], "label": ["y", "y"]})
    fitted = MVEM().fit(FRAME, table)
    assert fitted.gold_ == {"b": 1}
    assert fitted.predict(FRAME)["b"] == "y"
    with pytest.raises(CofactorError, match="needs the columns task and truth"):
        MVEM().fit(FRAME, table.rename(columns={"label": "class"}))


def test_tuples_are_ids():
    frame = FRAME.assign(task=[("doc", task) for task in FRAME["task"]], label=[("is", c) for c in FRAME["label"]])
    found = MajorityVote().fit_predict(frame)
    assert found.index.tolist() == [("doc", "a"), ("doc", "b"), ("doc", "c")]
    assert found.tolist() == [("is", c) for c in MajorityVote().fit_predict(FRAME)]
    assert cf.crowd.WorkerTypes().fit(frame).predict_proba(frame).columns.tolist() == [("is", "x"), ("is", "y")]


def test_methods_of_signs_follow_the_vote_where_no_worker_varies():
    rows = [(task, worker, "n" if worker == 3 else "y") for task in range(50) for worker in range(4) if task != worker]
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    for name in ("KOS", "GhoshSVD", "EigenRatio"):
        with pytest.warns(DataWarning, match=f"so that {name} cannot weigh workers: the majority vote decides"):
            method = cf.crowd.METHODS[name]().fit(frame)
        assert (method.predict(frame) == "y").all()
        assert np.allclose(method.predict_proba(frame), MajorityVote().fit(frame).predict_proba(frame))
