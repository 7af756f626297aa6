"""psi and log Gamma at once: those of SciPy, on all sides of the table, of few numbers and of many."""

import numpy as np
from scipy.special import digamma, gammaln

from cofactor.core.gamma import FROM, UNTIL, psi_and_log_gamma


def test_values_are_those_of_scipy():
    rng = np.random.default_rng(0)
    for low, high in ((1e-6, FROM), (FROM, 3.0), (3.0, UNTIL), (UNTIL, 100.0), (100.0, 1e9)):
        many = np.exp(rng.uniform(np.log(low), np.log(high), size=(20_000, 3)))
        for x in (many, many[:5]):
            for found, expected in zip(psi_and_log_gamma(x), (digamma(x), gammaln(x)), strict=True):
                assert found.shape == x.shape
                assert (np.abs(found - expected) <= 2e-15 * np.maximum(1, np.abs(expected))).all(), (low, high)


def test_values_at_the_edges_of_the_table():
    for edge in (FROM, UNTIL, 1.5, 1 + 1 / 256):
        x = np.tile([np.nextafter(edge, 0), edge, np.nextafter(edge, 99)], 20_000)
        psi, log_gamma = psi_and_log_gamma(x)
        assert np.allclose(psi, digamma(edge), rtol=1e-14) and np.allclose(log_gamma, gammaln(edge), 1e-14, 1e-14)


def test_arrays_that_are_no_single_block():
    x = np.asfortranarray(np.random.default_rng(0).uniform(1, 9, size=(30_000, 4)))
    assert np.allclose(psi_and_log_gamma(x)[0], digamma(x), rtol=1e-14)
    assert np.allclose(psi_and_log_gamma(x[::3, 1:])[1], gammaln(x[::3, 1:]), atol=1e-14)
