"""What notebook 03 measures: garbage among the blocks, errors of missing pairs, power laws."""

import numpy as np
import pytest

from cofactor.core.errors import CofactorError
from course.nb03 import pictures


def changed(before, after):
    K = before.n_classes
    e = np.flatnonzero(np.abs(before.blocks - after.blocks).max(axis=(1, 2)) > 1e-12)
    return set(zip(before.rows[e].tolist(), before.indices[e].tolist(), strict=True)), K


def test_garbage_replaces_a_share_of_the_pairs_and_more_of_it_the_same_and_more():
    cooc = pictures.holes(200, 8, 3, 0.0).cooc
    few, many = (changed(cooc, pictures.garble(cooc, share, seed=5))[0] for share in (0.25, 0.5))
    assert (len(few), len(many)) == (14, 28) and few < many  # of 28 pairs, both directions counted
    assert all((j, m) in many for m, j in many)
    X = pictures.garble(cooc, 0.5, seed=5).dense()
    assert np.array_equal(X, X.T) and np.allclose(X.reshape(8, 3, 8, 3).sum(axis=(1, 3)) + np.eye(8), 1)
    with pytest.raises(CofactorError, match=r"share=1\.5"):
        pictures.garble(cooc, 1.5)


def test_the_error_is_that_of_the_missing_pairs_alone():
    problem = pictures.holes(300, 6, 3, 0.3, seed=2)
    X = problem.truth.copy()
    seen = np.kron(~problem.missing | np.eye(6, dtype=bool), np.ones((3, 3))) > 0
    X[seen] = 7.0
    assert problem.error(X) == 0
    X[~seen] *= 1.25
    assert np.isclose(problem.error(X), 0.25)
    with pytest.raises(CofactorError, match="hide a larger share"):
        pictures.holes(300, 6, 3, 0.0).error(X)
    with pytest.raises(CofactorError, match="none, designated, robust, least squares"):
        problem.fill("magic")


def test_a_power_law_is_found_again():
    sizes = np.array([100, 1000, 10_000])
    law = pictures.PowerLaw.fit(sizes, np.array([[3.0], [2.0], [4.0]]) * sizes**-0.5)
    assert np.allclose(law.exponents, 0.5) and np.allclose(law.constants, [3, 2, 4])
    assert np.isclose(law.constant[0], 3) and np.isclose(law.items_needed(0.1)[0], 900)
    with pytest.raises(CofactorError, match="two sizes"):
        pictures.PowerLaw.fit(sizes[:1], np.ones((2, 1)))


def test_without_garbage_the_error_falls_with_the_root_of_the_items():
    errors = pictures.sample_errors()
    for method in errors.by_method:
        exponent, spread = errors.rate(method).exponent
        assert abs(exponent - 0.5) < 0.03 and spread < 0.02


def test_garbage_stops_all_but_the_robust_criterion():
    errors = pictures.sample_errors(outlying=0.1, methods=("designated", "robust", "least squares"))
    exponents = {method: errors.rate(method).exponent[0] for method in errors.by_method}
    assert exponents["robust"] > 0.45 and max(exponents["designated"], exponents["least squares"]) < 0.15


def test_the_number_of_items_asked_for_gives_the_error_wanted():
    needed = round(pictures.sample_errors().rate("robust").items_needed(0.1)[0])
    fresh = [pictures.holes(needed, seed=seed) for seed in range(200, 220)]
    assert np.mean([problem.error(problem.fill("robust")) for problem in fresh]) == pytest.approx(0.1, rel=0.1)
