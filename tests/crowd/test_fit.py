"""A fit is sums over tasks: they are the same however a crowd is cut, and whichever tasks are known."""

import pickle
from dataclasses import astuple
from functools import partial

import numpy as np
import pytest

from cofactor.core.latent_class import LatentClassModel
from cofactor.crowd import WorkerTypes
from cofactor.crowd import confidence as dependence_module
from cofactor.crowd import fit as fit_module
from cofactor.crowd.confidence import confidence_of, dependence_of
from cofactor.crowd.fit import Evidence
from cofactor.crowd.labels import UNKNOWN
from cofactor.crowd.model import Rows
from cofactor.simulate import crowd, dawid_skene_model
from tests.each import each


class Elsewhere:
    """Pieces of which only a copy is seen, each in a process of its own, added up pair by pair: as on a cluster."""

    def __init__(self, pieces):
        self.pieces = pieces

    def sum(self, f):
        parts = [pickle.loads(pickle.dumps(f))(pickle.loads(pickle.dumps(piece))) for piece in self.pieces]
        return parts[0] if len(parts) == 1 else sum(parts[2:], parts[1] + parts[0])

    def map(self, f):
        return Elsewhere([f(piece) for piece in self.pieces])


def labels_and_gold(seed=0, n_known=20):
    found = crowd(dawid_skene_model(7, 3, skill=0.5, random_state=seed), 120, 0.6, random_state=seed)
    known = np.random.default_rng(seed).permutation(found.labels.n_tasks) < n_known
    return found.labels, np.where(known, found.truth, UNKNOWN)


def whole_and_cut(monkeypatch, labels, gold):
    """The same labels as one piece, as some, and as some elsewhere."""
    whole = Evidence.of(labels, gold).occurring()
    with monkeypatch.context() as patched:
        patched.setattr(fit_module, "LABELS_OF_A_PIECE", 1)
        cut = Evidence.of(labels, gold).occurring()
    assert len(whole.pieces.pieces) == 1 < len(cut.pieces.pieces)
    return whole, cut, Evidence(Elsewhere(cut.pieces.pieces), cut.rows)


def same_counts(one, other):
    for name in ("cells", "classes", "log_likelihood", "n_rows"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-10, atol=1e-10)


@each("seed", range(3))
def test_every_sum_is_the_same_wherever_the_tasks_are(seed, monkeypatch):
    labels, gold = labels_and_gold(seed)
    whole, *others = whole_and_cut(monkeypatch, labels, gold if seed else None)
    random = np.random.default_rng(seed)
    n_rows, sizes = len(whole.rows.owner), whole.rows.sizes
    states = LatentClassModel.from_stacked(random.dirichlet(np.ones(6)), random.uniform(0.1, 1, (n_rows, 6)), sizes)
    model = LatentClassModel.from_stacked(random.dirichlet(np.ones(3)), random.uniform(0.1, 1, (n_rows, 3)), sizes)
    p, tasks = random.uniform(0.5, 0.9, (7, 3)), np.array([0, 3, 50, 119])
    for other in others:
        for chosen in (lambda one: one, lambda one: one.hiding(tasks), lambda one: one.sample(31)):
            one, two = chosen(whole), chosen(other)
            same_counts(two.start(), one.start())
            same_counts(two.e_step(model), one.e_step(model))
            same_counts(two.e_step(states), one.e_step(states))
            np.testing.assert_array_equal(two.gold(), one.gold())
            of_p = partial(dependence_of, model=model, p=p, rows=whole.rows)
            np.testing.assert_allclose(astuple(two.pieces.sum(of_p)), astuple(one.pieces.sum(of_p)), rtol=1e-9)
            of_states = partial(confidence_of, model=model, other=states, n_classes=3)
            sure, expected = two.pieces.sum(of_states), one.pieces.sum(of_states)
            np.testing.assert_allclose(sure.by_difficulty, expected.by_difficulty, rtol=1e-10)
            np.testing.assert_allclose(sure.tempered, expected.tempered, rtol=1e-10)
        for found, expected in zip(other.posterior(model, tasks), whole.posterior(model, tasks), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_dependence_of_many_labels_is_computed_task_by_task_to_the_same_sums(monkeypatch):
    for seed in range(3):
        labels, _ = labels_and_gold(seed)
        posterior = np.random.default_rng(seed).dirichlet(np.ones(3), labels.n_tasks)
        p, rows = np.random.default_rng(seed).uniform(0.2, 0.9, (7, 3)), Rows.all(7, 3)
        expected = dependence_module.dependence(labels.table, posterior, p, rows)
        with monkeypatch.context() as patched:
            patched.setattr(dependence_module, "WORTH_COMPILING", 0)
            found = dependence_module.dependence(labels.table, posterior, p, rows)
        np.testing.assert_allclose(astuple(found), astuple(expected), rtol=1e-10)


def test_a_sample_is_every_so_many_th_task(monkeypatch):
    labels, gold = labels_and_gold()
    _, cut, _ = whole_and_cut(monkeypatch, labels, gold)
    found, expected = cut.sample(31), Evidence.of(labels.take_tasks(np.arange(0, 120, 4)), gold[::4])
    assert np.array_equal(found.gold()[0], 4 * expected.gold()[0])
    columns = cut.rows.owner * 3 + cut.rows.label
    np.testing.assert_allclose(found.start().cells, expected.start().cells[columns], rtol=1e-12)


def test_gold_that_is_hidden_is_not_told():
    labels, gold = labels_and_gold()
    known = np.flatnonzero(gold != UNKNOWN)
    some = np.where(np.isin(np.arange(120), known[::2]), UNKNOWN, gold)
    same_counts(Evidence.of(labels, gold).hiding(known[::2]).start(), Evidence.of(labels, some).start())


def test_rows_are_the_pairs_that_occur():
    labels, _ = labels_and_gold()
    rows = Evidence.of(labels).occurring().rows
    pairs = sorted({(w, x) for w, x in zip(labels.table.variables.tolist(), labels.table.values.tolist(), strict=True)})
    assert list(zip(rows.owner.tolist(), rows.label.tolist(), strict=True)) == pairs
    assert len(Evidence.of(labels).rows.owner) == len(Rows.all(7, 3).owner) == 21


@pytest.mark.slow
@each("n_known", [4, 35])
def test_a_fit_is_the_same_wherever_the_tasks_are(n_known, monkeypatch):
    """35 gold tasks are held out in turn, and choose the design effect."""
    labels, gold = labels_and_gold(5, n_known)
    expected = WorkerTypes(merge_copies=False).fit(labels, gold=gold)
    assert (expected.gold_check_ is None) == (n_known < 30)
    with monkeypatch.context() as patched:
        patched.setattr(fit_module, "LABELS_OF_A_PIECE", 1)
        cut = Evidence.of(labels, gold)
    for pieces in (cut.pieces, Elsewhere(cut.pieces.pieces)):
        found = WorkerTypes()
        found.fit_evidence(Evidence(pieces, cut.rows))
        np.testing.assert_allclose(found.model_.stacked, expected.model_.stacked, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.design_effect_, expected.design_effect_, rtol=1e-6)
        assert (found.gold_check_ is None) == (n_known < 30)
