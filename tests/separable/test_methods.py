"""The table of methods: one protocol, and weights of new columns."""

import numpy as np
import pytest
from sklearn.base import clone

from cofactor import CofactorError, simulate
from cofactor.separable import METHODS, communities, merit
from cofactor.separable.methods import OF_POINTS
from tests.each import each
from tests.separable.test_graphs import mixed_graph

PROBLEM = simulate.dirichlet_mixtures(30, 150, 5, snr_db=30, random_state=0)


@each("name", OF_POINTS)
def test_methods_of_points_find_anchors_and_weights(name):
    fitted = METHODS[name](random_state=0).fit(PROBLEM.X)
    assert sorted(fitted.anchors_) == sorted(PROBLEM.anchors)
    H = fitted.transform(PROBLEM.X)
    mine = [list(PROBLEM.anchors).index(anchor) for anchor in fitted.anchors_]
    assert np.abs(H - PROBLEM.H[mine]).max() < 0.2 and np.allclose(H.sum(axis=0), 1)
    again = clone(fitted).fit(PROBLEM.X)
    assert np.array_equal(again.anchors_, fitted.anchors_) and np.array_equal(again.scores_, fitted.scores_)
    assert len(fitted.result_.objective) and fitted.result_.reason


@each("name", OF_POINTS)
def test_points_of_other_rows_are_refused(name):
    with pytest.raises(CofactorError, match="29 rows, but the matrix of the fit has 30"):
        METHODS[name](5).fit(PROBLEM.X).transform(PROBLEM.X[1:])


@each("name", ["SPOC", "GeoNMF"])
def test_methods_of_graphs_give_new_nodes_their_memberships(name):
    A, _ = mixed_graph()
    fitted = METHODS[name](3, random_state=0).fit(A)
    found = fitted.transform(A.toarray()[:, :50])
    whole = communities(A, 3, name, random_state=0).memberships
    assert np.abs(found.T - whole[:50]).mean() < 0.15
    with pytest.raises(CofactorError, match="set the number of communities"):
        METHODS[name]().fit(A)


def test_the_estimator_is_the_function():
    fit, fitted = merit(PROBLEM.X, 5, lam=0.1, n_iter=20), METHODS["MERIT"](5, lam=0.1, max_iter=20).fit(PROBLEM.X)
    assert np.array_equal(fit.scores, fitted.scores_) and fitted.model_.lam == 0.1


def test_the_default_starts_from_spa_where_mixtures_of_its_anchors_are_no_model():
    lengths = np.where(np.arange(150) % 2, 0.02, 1.0)  # mixtures whose weights do not sum to one
    lengths[PROBLEM.anchors] = 1
    scaled = 0.05 * PROBLEM.X
    scaled[:, PROBLEM.anchors] = PROBLEM.X[:, PROBLEM.anchors]
    fit = merit(scaled, 5)
    assert fit.lam == 0 and set(fit.anchors) == set(PROBLEM.anchors)
    assert merit(PROBLEM.X, 5).lam > 0
