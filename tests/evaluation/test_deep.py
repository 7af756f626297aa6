"""CrowdLayer and DL-MV: laws, the loss as written on the board, a crowd that votes cannot save, published levels."""

import sys

import numpy as np
import pytest

import cofactor as cf
from cofactor.core.errors import CofactorError
from cofactor.crowd.labels import vote_shares
from cofactor.crowd.scores import error_rate
from evaluation.crowd.deep import DLMV, CrowdLayer

BOTH = pytest.mark.parametrize("method", [CrowdLayer, DLMV])


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="needs PyTorch: pip install cofactor[deep]")


def problem(n_tasks=300, n_classes=3, n_honest=2, n_swappers=3, seed=0, label_rate=0.6):
    """Clouds of points, reliable annotators first, then others who take class 0 for class 1 and the other way round."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_tasks)
    X = 4 * np.eye(n_classes)[truth] + rng.standard_normal((n_tasks, n_classes))
    n_workers = n_honest + n_swappers
    swapped = np.where(truth < 2, 1 - truth, truth)
    said = np.where(np.arange(n_workers) < n_honest, truth[:, None], swapped[:, None])
    slip = rng.random(said.shape) < 0.1
    said = np.where(slip, rng.integers(n_classes, size=said.shape), said)
    task, worker = np.nonzero(rng.random(said.shape) < label_rate)
    labels = cf.CrowdLabels.from_arrays(
        task, worker, said[task, worker], n_classes, n_tasks, n_workers, unlabelled="keep"
    )
    return labels, X, truth


@pytest.mark.slow
@BOTH
def test_the_same_seed_gives_the_same_network(torch, method):
    labels, X, _ = problem()
    first, again, other = (method(max_iter=3, random_state=s).fit(labels, X).posterior_ for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.slow
def test_loss_is_the_cross_entropy_of_every_label_through_its_annotators_matrix(torch):
    labels, X, _ = problem(n_tasks=40)
    plain = dict(dropout=0.0, batch_size=40, learning_rate=0.05, random_state=3)
    one = CrowdLayer(max_iter=1, **plain).fit(labels, X)
    two = CrowdLayer(max_iter=2, **plain).fit(labels, X)
    loss = []
    for n, m, k in zip(labels.table.rows, labels.table.variables, labels.table.values, strict=True):
        z = one.crowd_layer_[m] @ one.posterior_[n]
        loss.append(np.log(np.exp(z).sum()) - z[k])
    assert two.result_.objective[1] == pytest.approx(np.mean(loss), rel=1e-5)
    assert not np.allclose(one.crowd_layer_, np.eye(3))


@pytest.mark.slow
def test_crowd_layer_sees_through_annotators_who_swap_classes(torch):
    """Few labels per task, so that the two who swap classes 0 and 1 often win the vote over the four who do not."""
    labels, X, truth = problem(n_honest=4, n_swappers=2, label_rate=0.4)
    quick = dict(learning_rate=0.01, random_state=0)
    fitted = CrowdLayer(**quick).fit(labels, X)
    layered = error_rate(fitted.predict(labels), truth)
    assert layered < error_rate(DLMV(**quick).fit(labels, X).predict(labels), truth)
    assert layered < 0.02 and error_rate(vote_shares(labels), truth) > 0.2
    told = fitted.crowd_layer_[:, :, :2].argmax(axis=1)  # what each annotator answers to classes 0 and 1
    assert told.tolist() == [[0, 1]] * 4 + [[1, 0]] * 2


@pytest.mark.slow
@BOTH
def test_tasks_and_annotators_without_labels_are_kept(torch, method):
    labels, X, truth = problem(n_swappers=0, label_rate=0.4)
    silent = labels.table.entries_per_row == 0
    assert silent.any()
    table = labels.table
    more = cf.CrowdLabels.from_arrays(table.rows, table.variables, table.values, 3, 300, 4, unlabelled="keep")
    fitted = method(random_state=0).fit(more, X)
    assert error_rate(fitted.predict(more)[silent], truth[silent]) < 0.1  # learnt from the other tasks
    assert np.allclose(fitted.model_.conditionals[3], 1 / 3)


@pytest.mark.slow
@BOTH
def test_says_what_to_install_without_pytorch(monkeypatch, method):
    labels, X, _ = problem()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(CofactorError, match=r"needs PyTorch .*: pip install cofactor\[deep\]"):
        method().fit(labels, X)


# ---- LabelMe ----


@pytest.mark.slow
@pytest.mark.needs_mirror
@pytest.mark.parametrize("standardize", [True, False])
def test_crowd_layer_is_at_the_published_level_or_below(torch, standardize):
    """ICML 2021, Table 9: 20.9 % with a standard deviation of 4.7 over starts, on the labelled images."""
    data, errors = cf.load("labelme"), []
    for seed in range(3):
        fitted = CrowdLayer(standardize=standardize, random_state=seed).fit(data.labels, data.features)
        errors.append(100 * error_rate(fitted.predict(data.labels), data.truth))
    assert np.mean(errors) == pytest.approx(20.9, abs=4.7 + 1)
    assert np.mean(errors) < 100 * error_rate(vote_shares(data.labels), data.truth)


@pytest.mark.slow
@pytest.mark.needs_mirror
def test_network_on_votes_repeats_them(torch):
    """ICML 2021, Table 9: 23.10 %, the error of majority vote with ties going to the lowest class."""
    data = cf.load("labelme")
    fitted = DLMV(random_state=0).fit(data.labels, data.features)
    assert 100 * error_rate(data.labels.votes.argmax(axis=1), data.truth) == pytest.approx(23.1)
    assert 100 * error_rate(fitted.predict(data.labels), data.truth) == pytest.approx(23.1, abs=0.5)
