"""Mirror descent as released: the slow version, and where it ends."""

import numpy as np
import pytest

from cofactor.core.moments import pairwise_moments
from cofactor.pmf.cnmf import cnmf_opt
from evaluation.released.mirror_descent import SYNTHETIC as PMF
from evaluation.released.mirror_descent import Mirror, mirror_descent
from tests.oracles.coupled import mirror_cost, mirror_pass, pair_blocks
from tests.oracles.generators import recorded
from tests.pmf.test_cnmf import SIZES, problem, skilled, weights_of

CLIPPED = Mirror(clip=0.05, clip_prior=0.03, lift=0.02)  # so that all three are felt
STILL = PMF._replace(inner=6, inner_prior=4, still=0.05)  # so that inner steps end early


def fit(*arguments, **named):
    return recorded(mirror_descent, *arguments, **named)[0]


@pytest.mark.slow
@pytest.mark.parametrize("settings", [Mirror(), Mirror(inner=1), PMF._replace(inner=6, inner_prior=4), CLIPPED, STILL])
@pytest.mark.parametrize("kind", ["count", "equal"])
def test_passes_of_mirror_descent_equal_the_slow_version(kind, settings):
    codes, moments, model = problem(3)
    pairs = pair_blocks(codes, SIZES)
    w = weights_of(pairs, kind)
    found, result = fit(moments, model, kind, max_iter=2, tol=0, floor=1e-9, settings=settings)
    prior, A = model.prior, model.conditionals
    for iteration in range(2):
        prior, A = mirror_pass(pairs, prior, A, w, settings)
        slow = mirror_cost(pairs, prior, A, w, settings.clip_prior, settings.lift)
        assert np.isclose(result.objective[iteration], slow, rtol=1e-9)
    assert found.prior == pytest.approx(prior, abs=1e-9) and found.stacked == pytest.approx(np.vstack(A), abs=1e-9)


def test_every_inner_step_starts_from_the_last_one():
    """Three steps on a copy of the start would be one step."""
    _, moments, model = problem(3)
    one, three = (fit(moments, model, max_iter=1, settings=Mirror(inner=inner))[1] for inner in (1, 3))
    assert three.objective[0] < one.objective[0]


@pytest.mark.slow
def test_zero_cells_are_left_out_for_joint_pmfs_and_lifted_for_crowds():
    codes, moments, model = problem(3)
    pairs = pair_blocks(codes, SIZES)
    assert any((R == 0).any() for R, _ in pairs.values())
    left_out, lifted = (fit(moments, model, "equal", max_iter=1, settings=PMF._replace(lift=x))[0] for x in (0, 1e-6))
    assert np.abs(left_out.stacked - lifted.stacked).max() > 1e-6
    assert PMF.lift == 0 and Mirror().lift == 1e-6


@pytest.mark.parametrize("step", [30.0, 700.0])
def test_a_step_that_leaves_no_probability_for_what_was_seen_is_not_taken(step):
    _, moments, model = problem(1)
    settings = PMF._replace(step=step, clip=0.0, clip_prior=0.0)
    found, result = fit(moments, model, max_iter=30, tol=0, floor=1e-9, settings=settings)
    assert np.isfinite(found.stacked).all() and np.isfinite(result.objective).all()
    assert result.objective[-1] < result.objective[0]


def test_both_solvers_reach_the_same_objective():
    truth, start = skilled(1)
    moments = pairwise_moments(truth.sample(5000, random_state=0)[0])
    best = cnmf_opt(moments, start)[1].objective[-1]
    mirror = fit(moments, start, max_iter=200, settings=PMF)[1].objective[-1]
    assert np.isclose(best, mirror, rtol=0.01)
