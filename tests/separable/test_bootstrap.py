"""Bootstrap of anchors, on mixtures whose truth is known."""

import numpy as np
import pytest

from cofactor import CofactorError
from cofactor.separable import METHODS, SPA, bootstrap


def repeated(seed=0, copies=6, noise=0.01):
    """Return mixtures of four anchors, each of which stands there several times, with other noise."""
    rng = np.random.default_rng(seed)
    H = np.hstack([np.tile(np.eye(4), copies), rng.dirichlet(np.ones(4), 100).T])
    return rng.random((20, 4)) @ H + noise * rng.standard_normal((20, H.shape[1])), H


def test_anchors_that_stand_there_often_are_stable_and_single_ones_are_not():
    often = bootstrap(SPA(4), repeated()[0], n_draws=60, random_state=0).stability()
    once = bootstrap(SPA(4), repeated(copies=1)[0], n_draws=60, random_state=0).stability()
    assert (often["near"] > 0.95).all() and (often["near"] >= often["chosen"]).all()
    assert once["chosen"].between(0.45, 0.8).all()


@pytest.mark.slow
def test_intervals_hold_the_weights_and_the_number_of_jobs_does_not_matter():
    X, H = repeated()
    found = bootstrap(METHODS["SPA"](4).fit(X), X, n_draws=40, random_state=0)
    table = found.intervals([30, 40])
    assert table["column"].tolist() == [30] * 4 + [40] * 4
    true = H[np.argmax(H[:, found.anchors], axis=0)][:, [30, 40]].T.ravel()
    assert (table["low"] <= table["high"]).all() and np.abs(table["estimate"] - true).max() < 0.1
    other = bootstrap(METHODS["SPA"](4), X, n_draws=40, random_state=0, n_jobs=2)
    assert all(np.array_equal(a, b) for a, b in zip(found.draws, other.draws, strict=True))


def test_bootstrap_refuses_graphs_and_other_data():
    with pytest.raises(CofactorError, match="does not take points"):
        bootstrap(METHODS["SPOC"](2), np.eye(3))
    X, _ = repeated()
    with pytest.raises(CofactorError, match="fitted to 124 columns, but X has 123"):
        bootstrap(SPA(4).fit(X), X[:, 1:], n_draws=2)
