"""Labels of which some tasks are held apart: each sum is that over all tasks, with the classes that are known."""

from dataclasses import astuple

import numpy as np

from cofactor.core.latent_class import LatentClassModel
from cofactor.crowd import WorkerTypes
from cofactor.crowd import dependence as module
from cofactor.crowd.evidence import Evidence, GoldEvidence
from cofactor.simulate import crowd, dawid_skene_model
from tests.each import each


def halves(seed, n_known):
    """Some labels as evidence, whole and with 40 tasks held apart, of which some are gold."""
    found = crowd(dawid_skene_model(7, 3, skill=0.5, random_state=seed), 120, 0.6, random_state=seed)
    labels = found.labels
    apart = np.arange(labels.n_tasks) % 3 == 0
    gold = np.where(apart & (np.cumsum(apart) <= n_known), found.truth, -1)
    rest = Evidence.of(labels.take_tasks(~apart))
    return Evidence.of(labels, gold), GoldEvidence(rest, labels.take_tasks(apart)).told(gold[apart])


def same_counts(one, other):
    for name in ("cells", "classes", "log_likelihood", "n_rows"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-10, atol=1e-10)


@each("seed", range(3))
def test_every_sum_is_that_over_all_tasks(seed):
    whole, parts = halves(seed, 20)
    random = np.random.default_rng(seed)
    stacked = random.dirichlet(np.ones(3), (7, 6)).swapaxes(1, 2).reshape(21, 6)
    states = LatentClassModel.from_stacked(random.dirichlet(np.ones(6)), stacked, np.full(7, 3))
    model, rows = dawid_skene_model(7, 3, skill=0.5, random_state=1), np.arange(21)
    same_counts(parts.start(), whole.start())
    for one, other in ((parts, whole), (parts.of_rows(rows), whole.of_rows(rows))):
        same_counts(one.e_step(model), other.e_step(model))
        same_counts(one.e_step(states), other.e_step(states))
    p = np.full((7, 3), 0.7)
    np.testing.assert_allclose(parts.agreement(model), whole.agreement(model), rtol=1e-10)
    np.testing.assert_allclose(astuple(parts.dependence(model, p)), astuple(whole.dependence(model, p)), rtol=1e-9)
    sure, expected = parts.confidence(model, states), whole.confidence(model, states)
    np.testing.assert_allclose(sure.by_difficulty, expected.by_difficulty, rtol=1e-10)
    np.testing.assert_allclose(sure.tempered, expected.tempered, rtol=1e-10)


def test_dependence_of_many_labels_is_computed_task_by_task_to_the_same_sums(monkeypatch):
    for seed in range(3):
        whole, _ = halves(seed, 20)
        (labels,) = whole.pieces
        posterior = np.random.default_rng(seed).dirichlet(np.ones(3), labels.n_tasks)
        p = np.random.default_rng(seed).uniform(0.2, 0.9, (7, 3))
        expected = module.dependence(labels, posterior, p)
        monkeypatch.setattr(module, "WORTH_COMPILING", 0)
        found = module.dependence(labels, posterior, p)
        monkeypatch.undo()
        np.testing.assert_allclose(astuple(found), astuple(expected), rtol=1e-10)


@each("n_known", [4, 35])
def test_a_fit_that_is_told_of_gold_tasks_is_that_to_all_labels(n_known):
    """35 gold tasks are held out in turn, and choose the design effect."""
    whole, parts = halves(5, n_known)
    expected, found = WorkerTypes(merge_copies=False), WorkerTypes()
    (labels,) = whole.pieces
    expected.fit(labels, gold=whole.gold)
    found.fit_evidence(parts)
    np.testing.assert_allclose(found.model_.stacked, expected.model_.stacked, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.design_effect_, expected.design_effect_, rtol=1e-3)
    assert (found.gold_check_ is None) == (expected.gold_check_ is None) == (n_known < 30)
