"""What rows of the fidelity table say that no other test knows: starts, limits and settings, against plain loops."""

import inspect

import numpy as np
import pytest

from cofactor import LatentClassModel
from cofactor.comparisons import Objective
from cofactor.core import coupled_nmf
from cofactor.core.least_squares import simplex_least_squares
from cofactor.crowd import METHODS, symnmf
from cofactor.pmf.base import random_model as random_start
from cofactor.separable import spa
from cofactor.simulate import midpoint_mixtures
from evaluation.pmf import methods, real
from evaluation.released.comparisons import projected_gradient_descent
from evaluation.released.pmf import CLASSIFIERS, Released
from evaluation.released.separable import community_merit, figure_merit, topic_merit
from tests.comparisons.problems import few
from tests.oracles.comparisons import logistic_gradient
from tests.oracles.coupled import mirror_pass, pair_blocks
from tests.oracles.generators import random_model, recorded, skilled_crowd
from tests.oracles.merit import dense_merit
from tests.oracles.paper_protocol import em_rounds, single_spa

# ---- crowds ----


def test_symnmf_has_no_shift_and_ten_thousand_rounds_by_default():
    default = {name: p.default for name, p in inspect.signature(symnmf).parameters.items()}
    assert default["shift"] == 0 and default["max_iter"] == 10_000


@pytest.mark.parametrize("name", ["RobSymNMF", "CNMF", "TensorADMM"])
def test_starts_of_the_library_draw_nothing_at_random(name):
    labels = skilled_crowd(1, n_tasks=100).labels
    one, two = (recorded(METHODS[name](random_state=seed).fit, labels)[0].model_ for seed in (0, 1))
    assert np.array_equal(one.stacked, two.stacked)


def test_extrapolation_is_on_logarithms_and_at_most_64_long():
    start, first = random_model(0, 2, (3,)), random_model(1, 2, (3,))
    states = [(m.stacked, m.prior) for m in (start, first, first)]
    sizes = np.array([3])
    A, prior = coupled_nmf._extrapolate(*states, sizes)  # r = -v: length one, which is the second state itself
    assert np.allclose(A, first.stacked) and np.allclose(prior, first.prior)
    log_A, log_prior = 0.01 * np.log(first.stacked), 0.01 * np.log(first.prior)
    line = [(start.stacked * np.exp(n * log_A), start.prior * np.exp(n * log_prior)) for n in (0, 1, 2, 128)]
    A, prior = coupled_nmf._extrapolate(*line[:3], sizes)  # no curvature: 64 steps, twice
    assert np.allclose(prior, line[3][1] / line[3][1].sum())
    assert np.allclose(A, line[3][0] / line[3][0].sum(axis=0))


# ---- joint PMFs ----


@pytest.fixture(scope="module")
def case():
    return methods.draw_case(methods.Design(5, 3, 300, 0.7, alphabet=4), np.random.default_rng(0))


def model_of(prior, A, sizes):
    return LatentClassModel.from_stacked(prior, np.vstack(A), sizes)


def same(found, prior, A):
    assert found.prior == pytest.approx(prior, abs=1e-9) and found.stacked == pytest.approx(np.vstack(A), abs=1e-9)


@pytest.fixture(scope="module")
def start(case):
    H = np.random.default_rng(case.seed).random((8, 3))
    return single_spa(case.table.codes, [4] * 5, 3, H, 3, 1000)


def test_synthetic_scripts_start_from_three_variables_and_a_thousand_steps_with_zeros(case, start):
    found = methods.spa_as_released(case)
    same(found, *start)
    assert (found.stacked == 0).any()


def test_synthetic_scripts_run_thirty_rounds_of_em(case):
    start = methods.spa_as_released(case)  # itself: of what is zero here and rounding there, EM makes a difference
    found = recorded(methods.spa_em_as_released, case)[0]
    same(found, *em_rounds(case.table.codes, start.prior, start.conditionals, 30))
    drawn = random_start(case.table.sizes, 3, case.seed)
    for uniform, prior in ((True, np.full(3, 1 / 3)), (False, drawn.prior)):
        found = recorded(methods.random_em_as_released, uniform, case)[0]
        same(found, *em_rounds(case.table.codes, prior, drawn.conditionals, 30))


def test_synthetic_scripts_start_mirror_descent_at_the_true_prior_from_the_floor(case, start, monkeypatch):
    monkeypatch.setattr(methods, "PASSES", 2)
    found = recorded(methods.opt_as_released, case)[0]
    pairs, prior = pair_blocks(case.table.codes, [4] * 5), case.truth.prior
    A = [np.maximum(block, 1e-6) / np.maximum(block, 1e-6).sum(axis=0) for block in start[1]]
    for _ in range(2):
        prior, A = mirror_pass(pairs, prior, A, dict.fromkeys(pairs, 1.0), methods.SYNTHETIC)
    same(found, prior, A)


@pytest.mark.parametrize(("n_variables", "most"), [(5, 500), (6, 200)])
def test_synthetic_scripts_take_two_hundred_passes_beyond_five_variables(monkeypatch, n_variables, most):
    design = methods.Design(n_variables, 3, 300, 0.7, alphabet=4)
    asked = []
    monkeypatch.setattr(methods, "mirror_descent", lambda *settings: (settings[1], asked.append(settings)))
    methods.opt_as_released(methods.draw_case(design, np.random.default_rng(0)))
    ((_, _, weights, passes, *_),) = asked
    assert (weights, passes) == ("equal", most)


def test_scripts_of_real_data_lift_the_start_to_a_millionth():
    table = methods.draw_case(methods.Design(7, 3, 60, 0.7, alphabet=4), np.random.default_rng(0)).table
    H = np.random.default_rng(0).random((8, 3))
    prior, A = single_spa(table.codes, [4] * 7, 3, H, 5, 300)
    assert (np.vstack(A) == 0).any()
    lifted = [np.maximum(block, 1e-6) / np.maximum(block, 1e-6).sum(axis=0) for block in A]
    same(recorded(Released(3, random_state=0).fit, table)[0].model_, prior, lifted)


def test_the_script_of_uci_takes_the_first_best_rank_and_always_thirty_rounds():
    codes = random_model(0, 3, (2, 3, 3, 2, 3, 3, 2)).sample(120, random_state=0)[0]
    parts = [codes.take_rows(np.arange(120) % 3 == part) for part in range(3)]
    split = real.Split(*parts, (1, 3), 0)
    scores, ends = [], []
    for rank in split.ranks:
        start = Released(rank, pseudo_count=0, random_state=0).fit(split.fit).model_
        steps = [em_rounds(split.fit.codes, start.prior, start.conditionals, n) for n in range(5, 35, 5)]
        found = [model_of(*step, split.fit.sizes) for step in steps]
        scores.append(max(real._accuracy(model.predict_map(split.valid, 0), split.valid) for model in found))
        ends.append(found[-1])
    assert scores[1] > scores[0]
    best = ends[1]
    assert np.array_equal(recorded(real.spa_em_as_released, split)[0], best.predict_map(split.test, 0))


def test_classifiers_have_the_settings_of_matlab():
    made = {name: make(np.full(2, 3), 0) for name, make in CLASSIFIERS.items()}
    assert (made["SVM"].kernel, made["SVM"].C) == ("linear", 1.0)
    assert (made["SVM-RBF"].kernel, made["SVM-RBF"].gamma, made["SVM-RBF"].C) == ("rbf", 1.0, 1.0)
    assert np.inf == made["LogReg"][-1].C and made["NaiveBayes"].alpha == 1
    features, machine = made["SVM-RBF (random features)"].estimator
    assert (features.gamma, features.n_components, machine.loss) == (1.0, 256, "hinge")


# ---- separable matrices ----


def mixtures():
    return midpoint_mixtures(12, 5, 12.0, "released", 0).X


def start_of(X, K):
    """C0 of SPA's anchors, and how much it leaves over."""
    anchors, C0 = spa(X, K), np.zeros((X.shape[1],) * 2)
    C0[anchors] = simplex_least_squares(X[:, anchors], X)
    return C0, np.linalg.norm(X - X @ C0)


def largest(C, K):
    return np.argsort(-C.max(axis=1), kind="stable")[:K].tolist()


def test_merit_of_the_figures_is_a_hundred_cold_steps_with_the_printed_penalty():
    X = mixtures()
    C, *_ = dense_merit(X, start_of(X, 5)[1] / 5, n_iter=100)
    assert figure_merit(5).fit(X).anchors_.tolist() == largest(C, 5)


def test_merit_of_topics_starts_from_spa_and_that_of_communities_at_zero_until_the_gap_is_one_half():
    X = 3 * mixtures()
    C0, rest = start_of(X, 5)
    warm = {"C0": C0, "t_init": max(round(np.sqrt(X.shape[1]) / rest), 1), "n_iter": 100}
    for merit, options in ((topic_merit, warm), (community_merit, {"n_iter": 120})):
        _, _, gaps = dense_merit(X, 1e-6, **options)
        n = next((t + 1 for t, gap in enumerate(gaps) if t and gap <= 0.5), len(gaps))
        C, *_ = dense_merit(X, 1e-6, **{**options, "n_iter": n})
        assert merit(5).fit(X).anchors_.tolist() == largest(C, 5)


# ---- comparisons ----


def test_projected_steps_are_those_of_plain_matrices():
    """P_H(P_C(Z - eta grad f(Z))) with beta = 4/3 sqrt(mu / n) ||Z_0||_F, three times."""
    objective = Objective(few(), 2)
    Z = np.random.default_rng(0).standard_normal((11, 2))
    Z[6:] -= Z[6:].mean(axis=0)
    start, beta = Z.ravel(), 4 / 3 * np.sqrt(1.2 / 11) * np.linalg.norm(Z)
    found = recorded(projected_gradient_descent, objective, start, 3, 0.0, learning_rate=2.0, mu=1.2)[0][0]
    D = np.diag(np.append(np.ones(6), -np.ones(5)))
    for _ in range(3):
        Z = Z - 2.0 * (logistic_gradient(objective.data, Z) + objective.balance * D @ Z @ Z.T @ D @ Z)
        Z = Z * np.minimum(1, beta / np.linalg.norm(Z, axis=1))[:, None]
        Z[6:] -= Z[6:].mean(axis=0)
    assert found.reshape(11, 2) == pytest.approx(Z, abs=1e-9)
