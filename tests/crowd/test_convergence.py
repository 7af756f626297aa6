"""Figures 2 and 3 of the paper: how fast SymNMF approaches the factor, with and without shift, both readings of it."""

from functools import cache

import numpy as np
import pytest

from cofactor import simulate
from cofactor.core.errors import CofactorError
from cofactor.crowd.symnmf import convergence_curve, symnmf, symnmf_steps
from tests.oracles.generators import recorded

TRIALS = 20
PLAIN, ZERO, CLAMP = "plain", "zero", "clamp"

# median of ||H P - H_t||_F^2 / K over 20 trials, J = 1000, K = 3, measured by an independent implementation;
# rows: (density, SNR in dB), iteration -> plain ReLU, entries below the shift to zero, entries clamped up to the shift
MEDIANS = {
    (0.7, None): {20: (3.8e-1, 7.2e-1, 3.5e-3), 40: (2.2e-3, 3.9e-3, 3.6e-8), 60: (1.5e-5, 1.9e-5, 3.8e-13)},
    (0.5, None): {20: (3.8e-3, 1.1e-5, 5.1e-3), 40: (2.5e-7, None, 5.1e-8), 60: (None, None, 5.1e-13)},
    (0.3, None): {20: (6.9e-6, 2.7e-6, 7.0e-3), 40: (8.1e-13, None, 7.1e-8), 60: (None, None, 7.1e-13)},
    (0.7, 30): {20: (3.8e-1, 5.1e-1, 6.0e-3), 40: (3.0e-3, 3.9e-3, 7.6e-4), 60: (7.4e-4, 7.4e-4, 7.2e-4)},
    (0.5, 30): {10: (0.57, 0.79, 1.9e-2), 15: (4.5e-2, 6.5e-2, 3.9e-4), 20: (4.1e-3, 5.8e-3, 3.1e-4)},
    (0.3, 30): {10: (2.3e-2, 5.6e-3, 2.6e-2), 15: (5.0e-4, 1.4e-4, 2.4e-4)},
}


@cache
def medians(density, snr_db):
    """Median curves of the plain ReLU, the zeroing and the clamping one."""
    psi = 0.75 if snr_db is None else 0.60
    shifts = ((0.0, "zero"), (lambda t: psi ** (t + 1), "zero"), (lambda t: psi ** (t + 1), "clamp"))
    problems = [simulate.symnmf_problem(1000, 3, density, snr_db, seed) for seed in range(TRIALS)]
    return [np.median([convergence_curve(U, H, *shift) for U, H in problems], axis=0) for shift in shifts]


@pytest.mark.parametrize("density, snr_db", MEDIANS)
def test_medians_are_those_of_an_independent_implementation(density, snr_db):
    curves = medians(density, snr_db)
    for t, levels in MEDIANS[density, snr_db].items():
        for curve, level in zip(curves, levels, strict=True):
            assert level is None or 1 / 3 <= curve[t] / level <= 3, (t, curve[t], level)  # about one iteration


def test_neither_reading_of_the_shift_is_always_the_faster():
    plain, zero, clamp = medians(0.7, None)
    assert clamp[40] < 1e-3 * plain[40] and zero[40] > plain[40]  # dense
    plain, zero, clamp = medians(0.3, None)
    assert zero[30] < plain[30] < clamp[30]  # sparse


def test_without_noise_the_clamp_errs_by_the_square_of_its_shift():
    clamp = medians(0.5, None)[2]
    assert np.allclose(clamp[31:61] / clamp[30:60], 0.75**2, rtol=0.02)
    # every zero of H holds the shift: half of 3000 entries, over K
    assert np.allclose(clamp[40:61], 500 * 0.75 ** (2 * np.arange(40, 61)), rtol=0.03)


def test_with_noise_all_end_at_the_same_error():
    ends = [curve[60] for curve in medians(0.7, 30)]
    assert max(ends) < 1.1 * min(ends)


# ---- the curve ----


def test_the_curve_is_the_distance_of_every_step():
    U, H = simulate.symnmf_problem(40, 3, 0.5, random_state=3)
    curve = convergence_curve(U, H, 0.01, "clamp", n_iter=5)
    steps = symnmf_steps(U, 0.01, "clamp")
    orders = np.array([(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
    for error, found in zip(curve, [U, *(next(steps).H for _ in range(5))], strict=True):
        assert np.isclose(error, min(np.sum((H[:, order] - found) ** 2) for order in orders) / 3)


def test_the_order_of_classes_does_not_count():
    U, H = simulate.symnmf_problem(60, 3, 0.4, random_state=0)
    assert np.allclose(convergence_curve(U, H[:, [2, 0, 1]]), convergence_curve(U, H), atol=1e-12)


def test_steps_are_those_symnmf_takes():
    U, _ = simulate.symnmf_problem(60, 3, 0.5, 30, random_state=1)
    (_, Q, result), _ = recorded(symnmf, U, lambda t: 0.5**t, "zero", max_iter=7)
    steps = symnmf_steps(U, lambda t: 0.5**t, "zero")
    taken = [next(steps) for _ in range(7)]
    assert np.array_equal(taken[-1].Q, Q)
    assert np.allclose(result.objective, [np.sum((H - Z) ** 2) for Z, H, _ in taken])
    assert np.array_equal(taken[0].Z, U)


def test_the_curve_refuses_another_shape_and_a_lower_rank():
    U, H = simulate.symnmf_problem(20, 3, 0.5, random_state=0)
    with pytest.raises(CofactorError, match="one shape"):
        convergence_curve(U[:10], H)
    with pytest.raises(CofactorError, match=r"rank \(2\)"):
        convergence_curve(U[:, [0, 1, 1]], H)
