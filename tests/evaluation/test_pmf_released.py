"""Joint PMFs as released: CTD by plain loops and its scripts, the order of triples of MLE-AD, ratings."""

from itertools import combinations

import numpy as np
import pytest

from cofactor import CofactorError, LatentClassModel, simulate
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.pmf import BMF, GlobalAverage, ItemAverage, JointPMFRecommender, mse
from cofactor.pmf.base import random_model
from cofactor.rivals.pmf import alternate, cells_of
from cofactor.rivals.triple_moments import triple_moments
from evaluation.pmf.ratings import Known, best_on
from evaluation.released import RELEASED
from evaluation.released.mirror_descent import REAL, mirror_descent
from evaluation.released.pmf import (
    SCRIPTS,
    ReleasedBMF,
    ReleasedCTD,
    ReleasedRecommender,
    combnk_triples,
    misplaced,
    released_spa,
)
from evaluation.released.tensor import Script, released_change, released_tensor
from tests.oracles import generators
from tests.oracles.coupled import exact_triples, triple_blocks
from tests.oracles.generators import random_codes, recorded
from tests.oracles.paper_protocol import biased_sweeps, single_spa
from tests.oracles.triples import at_most_one, clipped, released_ctd
from tests.pmf.test_ratings import EM, some_ratings
from tests.pmf.test_triples import separated_mle_ad as separated

SIZES = (2, 3, 1, 4)


def fit(*arguments, **named):
    return recorded(released_tensor, *arguments, **named)[0]


# ---- CNMF-SPA and what starts from it ----


def test_anchors_weights_and_prior_are_those_of_plain_loops():
    sizes, codes = (3, 4, 3, 4, 5), random_codes(0, 300, (3, 4, 3, 4, 5), 0.3)
    codes[codes[:, 0] >= 0, 4] = -1  # a pair never observed is zeros
    H = np.random.default_rng(1).random((9, 3))
    prior, A = single_spa(codes, sizes, 3, H, 3, 50)
    moments = pairwise_moments(CategoricalTable(codes, sizes))
    found = released_spa(moments, 3, np.random.default_rng(1), split=3, steps=50)
    assert found.prior == pytest.approx(prior, abs=1e-9) and found.stacked == pytest.approx(np.vstack(A), abs=1e-9)


@pytest.mark.slow
def test_opt_goes_on_from_the_floored_start_with_its_tolerance_in_the_inner_steps():
    truth = simulate.joint_model(7, 3, 2, random_state=0)
    table = simulate.joint_table(truth, 300, random_state=0)
    moments = pairwise_moments(table)
    start = released_spa(moments, 2, np.random.default_rng(0))
    uniform = LatentClassModel.from_stacked(np.full(2, 0.5), start.lift(1e-6).stacked, start.sizes)
    loose = RELEASED["pmf"]["CNMF-OPT"](2, tol=1e-2, uniform_prior=True, pseudo_count=0, random_state=0).fit(table)
    settings = REAL._replace(still=1e-2)
    same, _ = recorded(mirror_descent, moments, uniform, "equal", 200, 1e-2, 1e-6, settings)[0]
    other, _ = recorded(mirror_descent, moments, uniform, "equal", 200, 1e-2, 1e-6, REAL)[0]
    assert loose.model_.stacked == pytest.approx(same.stacked, abs=1e-12)
    assert not np.allclose(same.stacked, other.stacked)


# ---- CTD ----


@pytest.mark.slow
def test_the_released_penalty_crawls():
    truth = simulate.joint_model(15, 10, 10, random_state=0)
    table = simulate.joint_table(truth, 10_000, observed=0.5, random_state=1)
    found, result = fit(triple_moments(table), random_model(table.sizes, 10, 2), Script(), max_iter=30)
    assert not result.converged
    assert mse(truth, found) > 0.03  # .046 after 60 sweeps with the authors' code


@pytest.mark.parametrize(("projection", "project"), [("at most one", at_most_one), ("clipped", clipped)])
def test_released_settings_equal_the_slow_version(projection, project):
    codes = random_codes(0, 60, SIZES, 0.3)
    codes[(codes[:, 0] >= 0) & (codes[:, 1] >= 0), 2] = -1  # one triple is never observed
    start, blocks = generators.random_model(1, 3, SIZES), triple_blocks(codes, SIZES)
    data = {
        t: blocks[t][0] if t in blocks else np.zeros([SIZES[n] for n in t]) for t in combinations(range(len(SIZES)), 3)
    }
    assert len(blocks) < len(data)
    settings = Script((0.01, 0.1), (20, 10), 1e-6, projection)
    prior, A = released_ctd(data, start, *settings[:3], project, 4)
    found, _ = fit(triple_moments(CategoricalTable(codes, SIZES)), start, settings, max_iter=4, tol=0)
    assert found.prior == pytest.approx(prior, abs=1e-9) and found.stacked == pytest.approx(np.vstack(A), abs=1e-9)


def test_released_stopping_rules():
    assert released_change(0, 0.1, (0.5, 0.25), Script()) == np.inf
    assert released_change(1, 0.1, (0.5, 0.25), Script()) == 0.2
    assert released_change(1, 0.1, (0.5, 0.25), Script(stop="objective")) == 0.4


def test_the_scripts_of_the_paper_set_what_they_set():
    truth = simulate.joint_model(4, 3, 2, random_state=0)
    table = simulate.joint_table(truth, 200, random_state=0)
    assert {name: (*script.penalty, sweeps) for name, (script, sweeps, _, _) in SCRIPTS.items()} == {
        "separable": (0.01, 0.1, 500),
        "synthetic": (10, 10, 200),
        "uci": (10, 10, 100),
        "ratings": (10, 10, 200),
    }
    short = recorded(ReleasedCTD(2, script="uci", sweeps=3, random_state=0).fit, table)[0]
    assert short.result_.n_iter <= 3
    with pytest.raises(CofactorError, match="script='votes': choose one of separable"):
        ReleasedCTD(2, script="votes").fit(table)


def test_a_released_run_that_fits_exactly_stops():
    one_row = CategoricalTable(np.array([[0, 0, 0]]), np.array([2, 2, 2]))
    fit = ReleasedCTD(rank=2, script="separable", random_state=0).fit(one_row)
    assert fit.result_.objective[-1] == 0 and fit.result_.n_iter < 10


# ---- the order of triples ----


def test_triples_are_listed_as_combnk_lists_them():
    assert combnk_triples(4) == list(combinations(range(4), 3))
    assert combnk_triples(5) == list(combinations(range(5), 3))[::-1]
    wrong = {
        N: sum(t != s for t, s in zip(combnk_triples(N), combinations(range(N), 3), strict=True)) for N in range(3, 23)
    }
    assert wrong == {3: 0, 4: 0, 5: 10, 6: 20, **dict.fromkeys(range(7, 23), 16)}
    assert all(sorted(combnk_triples(N)) == list(combinations(range(N), 3)) for N in (6, 9, 15))


@pytest.mark.slow
def test_the_published_order_of_triples_fits_the_wrong_variables():
    truth = separated()
    start = random_model(truth.sizes, 3, 0)
    cells = cells_of(exact_triples(truth), start)
    both = cells, misplaced(exact_triples(truth), cells)
    right, wrong = (recorded(alternate, each, start, 20, 1e-6)[0][0] for each in both)
    assert mse(truth, right) < 1e-3
    assert mse(truth, wrong) > 0.02


# ---- ratings ----


def test_sweeps_of_bmf_are_those_of_plain_least_squares():
    user, item, rating = some_ratings(users=12, items=6)
    R = np.full((12, 6), np.nan)
    R[user, item] = rating
    B = np.random.default_rng(0).standard_normal((6, 2))
    found = ReleasedBMF(2, random_state=0).fit(user, item, rating)
    mu, a, b, A, B = biased_sweeps(R, B, 2, 10.0, found.result_.n_iter)
    assert found.level_ == pytest.approx(mu, abs=1e-9)
    assert np.append(a, b) == pytest.approx(np.append(found.user_bias_[:-1], found.item_bias_[:-1]), abs=1e-9)
    assert found.user_factors_[:-1] @ found.item_factors_[:-1].T == pytest.approx(A @ B.T, abs=1e-9)


def test_released_biases_hardly_move_and_ours_do():
    known = some_ratings()
    released = ReleasedBMF(5, random_state=0).fit(*known)
    assert np.abs(released.predict(*known[:2]) - known[2].mean()).max() < 0.1
    assert np.std(BMF(0, bias_ridge=2.0).fit(*known).predict(*known[:2])) > 0.1


def test_the_released_expectation_leaves_the_prior_out():
    known = some_ratings(items=5)
    ours, released = (r.fit(*known) for r in (JointPMFRecommender(EM, biases=False), ReleasedRecommender(EM)))
    uniform = LatentClassModel(np.full(2, 0.5), ours.model_.conditionals)
    assert released.model_.prior == pytest.approx(uniform.prior)
    assert released.model_.stacked == pytest.approx(ours.model_.stacked)


def test_the_best_on_validation_wins():
    known, held = some_ratings(), some_ratings(seed=1)
    found = [one.fit(*known) for one in (GlobalAverage(), JointPMFRecommender(EM, biases=False), ItemAverage())]
    assert best_on(Known(*held), found) is min(found, key=lambda one: one.errors(*held)[0])
