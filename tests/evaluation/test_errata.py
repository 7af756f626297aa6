"""What docs/errata.md says of the papers as printed: counterexamples, in rational numbers where that can be."""

from fractions import Fraction as F
from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from cofactor.core.scattering import scattering_certificate
from cofactor.plain.merit import least_of_gradient

A = [
    [F(30, 100), F(20, 100), 0],
    [F(10, 100), F(30, 100), 0],
    [F(15, 100), 0, F(30, 100)],
    [F(45, 100), 0, F(15, 100)],
    [0, F(1625, 10000), F(325, 1000)],
    [0, F(3375, 10000), F(225, 1000)],
]
PRIOR = [F(4, 9), F(2, 9), F(3, 9)]
Q = [[F(x, 21) for x in row] for row in ([14, -6, 18], [14, 9, -6], [-7, 18, 9])]
OTHER = [F(27, 90), F(28, 90), F(35, 90)]
STARTS = 20
E1, E2, MIXTURE = [1, 0], [0, 1], [F(7, 10), F(3, 10)]


def times(X, Y):
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*Y, strict=True)] for row in X]


def turned(X):
    return [list(column) for column in zip(*X, strict=True)]


def square(X):
    """The sum of squared entries."""
    return sum(x * x for row in X for x in row)


def table(prior, A, order):
    """The table of `order` variables with these conditionals."""
    rows = range(len(A))
    return {
        cell: sum(p * np.prod([A[i][f] for i in cell]) for f, p in enumerate(prior))
        for cell in product(rows, repeat=order)
    }


def floats(X):
    return np.array(X, dtype=float)


# ---- what is drawn ----

ANOTHER = 0.05  # models so far apart are two
EXACT = 1e-10  # squares of negative entries below this are none


def conditionals(rng, n_values, n_classes):
    """Draw a matrix with columns that sum to one: even, skewed, or with columns that are nearly alike."""
    A = rng.random((n_values, n_classes)) ** rng.choice([0.5, 1, 4])
    A += rng.choice([0, 1]) * rng.random((n_values, 1)) * 10 ** rng.uniform(-1, 1)
    return A / A.sum(axis=0)


def second_model(rng, first, second):
    """Look for G with first G and second G^-T not negative, from a random start; return its distance or None.

    The distance is that of G, in columns of length one, from the nearest permutation.
    """
    K = first.shape[1]

    def negatives(G):
        if abs(np.linalg.det(G.reshape(K, K))) < 1e-9:
            return 1e9
        G = G.reshape(K, K)
        both = first @ G, second @ np.linalg.inv(G).T
        return sum(np.sum((np.minimum(B, 0) / np.linalg.norm(B, axis=0)) ** 2) for B in both)

    found = minimize(negatives, rng.standard_normal(K * K), method="BFGS", options={"gtol": 1e-9, "maxiter": 150})
    G = found.x.reshape(K, K) / np.linalg.norm(found.x.reshape(K, K), axis=0)
    return np.sort(np.abs(G), axis=0)[:-1].max() if found.fun < EXACT else None


def features(rng, n1, n2, r):
    """Draw the balanced features of small utilities of this rank, items centred; and their singular values."""
    X = rng.standard_normal((n1, r)) * 10 ** rng.uniform(-0.5, 0, r) @ rng.standard_normal((r, n2))
    X -= X.mean(axis=1, keepdims=True)
    left, sigma, right = np.linalg.svd(X * 10 ** rng.uniform(-3, -1.5) / np.linalg.norm(X, 2))
    return np.vstack([left[:, :r], right[:r].T]) * np.sqrt(sigma[:r]), sigma[:r]


def chance(x):
    """The logistic link."""
    return 1 / (1 + np.exp(-x))


def triples(n1, n2):
    """Return all users with ordered pairs of different items, as rows of Z."""
    every = np.array([(u, n1 + i, n1 + j) for u in range(n1) for i in range(n2) for j in range(n2) if i != j])
    return every.T


def gradient(Z, truth, drawn, lam, n1):
    """Return the gradient of (14): exact chances, each triple with its share of the comparisons, and the balance."""
    (u, i, j), shares = drawn
    utility = lambda Z: np.sum(Z[u] * (Z[i] - Z[j]), axis=1)  # noqa: E731
    h = (shares * (chance(utility(Z)) - chance(utility(truth))))[:, None]
    G, sign = np.zeros_like(Z), np.where(np.arange(len(Z)) < n1, 1, -1)[:, None]
    for rows, values in ((u, h * (Z[i] - Z[j])), (i, h * Z[u]), (j, -h * Z[u])):
        np.add.at(G, rows, values)
    return G + lam * (sign * Z) @ (Z.T @ (sign * Z))


def start(rng, truth, n1, most):
    """Draw a start so far from the truth: in a random direction, or along the scaling that utilities do not see."""
    off = rng.standard_normal(truth.shape)
    if rng.random() < 0.5:
        off = truth * np.where(np.arange(len(truth)) < n1, 1, -1)[:, None]
    off[n1:] -= off[n1:].mean(axis=0)
    return truth + off / np.linalg.norm(off) * np.sqrt(most) * rng.choice([0.999, 0.1])


# ---- Theorem 2 of the joint-PMF paper ----


def test_two_models_have_the_same_pairs_in_rational_numbers():
    B = times(A, Q)
    assert sum(PRIOR) == sum(OTHER) == 1 and min(PRIOR) > 0 and min(OTHER) > 0
    for model in (A, B):
        assert min(map(min, model)) >= 0
        assert [sum(column) for column in zip(*model, strict=True)] == [1, 1, 1]
    assert table(PRIOR, A, 2) == table(OTHER, B, 2)
    orders = [[[row[f] for f in order] for row in B] for order in permutations(range(3))]
    apart = [
        max(abs(a - b) for one, two in zip(A, C, strict=True) for a, b in zip(one, two, strict=True)) for C in orders
    ]
    assert min(apart) == F(1, 4)  # whatever the order of the classes


def test_their_conditionals_are_scattered_and_their_triples_a_third_apart_in_floats():
    certificate = scattering_certificate(floats(A))
    assert certificate.holds and certificate.margin == pytest.approx(0)
    first, second = (floats([*table(*model, 3).values()]) for model in ((PRIOR, A), (OTHER, times(A, Q))))
    assert 0.33 < np.linalg.norm(first - second) / np.linalg.norm(first) < 0.35


def test_the_conditions_of_both_right_forms_fail_there():
    assert scattering_certificate(floats(A) * np.sqrt(floats(PRIOR))).condition1 == "fails"
    column = turned(Q)[0]
    assert sum(x * x for x in column) == 1 and sum(column) == 1 and min(column) < 0  # length one, no unit vector
    assert min(sum(a * x for a, x in zip(row, column, strict=True)) for row in A) >= 0


@pytest.mark.slow
@pytest.mark.parametrize(("prior", "one_model"), [(PRIOR, False), ([F(1, 3)] * 3, True)])
def test_the_hunt_finds_the_second_model_but_none_with_a_uniform_prior(prior, one_model):
    A_D = floats(A) * floats(prior)
    found = [second_model(np.random.default_rng(start), floats(A), A_D) for start in range(STARTS)]
    found = [apart > ANOTHER for apart in found if apart is not None]
    assert len(found) > STARTS / 3 and any(found) != one_model


# ---- other theorems and lemmas ----


def em_quantities(rng):
    """Draw a model, and return rho_1 and the D_1 and D_2 of the EM theorem, with p = 1."""
    N, n_values, n_classes = rng.integers(1, 6), rng.integers(2, 5), rng.integers(2, 4)
    A = rng.dirichlet(np.full(n_values, 10 ** rng.uniform(-1.5, 1)), (N, n_classes)) + 1e-12
    A, logs = A / A.sum(axis=2, keepdims=True), np.log(rng.dirichlet(np.ones(n_classes)))
    divergence = (A * np.log(A)).sum(axis=2)[:, :, None] - np.einsum("nfi,ngi->nfg", A, np.log(A))
    others = ~np.eye(n_classes, dtype=bool)
    D_2 = 2 / N * (logs[:, None] - logs)[others].min()
    return A.min(), divergence.mean(axis=0)[others].min(), D_2


@pytest.mark.slow
def test_none_of_20_000_models_meets_the_condition_on_d_of_the_em_theorem():
    for number in range(20_000):
        rho, D_1, D_2 = em_quantities(np.random.default_rng(number))
        assert D_2 <= 0 and (D_1 + D_2) / 2 <= np.log(1 / rho) / 2 + 1e-9 < (8 - 4 * rho**2) / rho**2


def test_the_condition_on_d_has_no_solution_in_rational_numbers():
    for rho in (F(part, 1000) for part in range(1, 1001)):
        most = (1 / rho - 1) / 2  # of log(1/rho) / 2
        assert rho**2 * most <= F(1, 8) < 4 <= rho**2 * (8 - 4 * rho**2) / rho**2


def test_a_column_can_be_two_so_that_a_factor_is_unique_with_k_columns_only():
    H, wider = [E1, E2], [[F(3, 5), F(4, 5), 0], [0, 0, 1]]
    assert times(H, turned(H)) == times(wider, turned(wider))
    assert scattering_certificate(floats(H)).holds


def test_condition_15_needs_the_root_of_q_0():
    t, h = F(1, 200), F(1, 200)
    c, s = (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
    H, E = [E1, E2, [0, h]], [[c - 1, -s], [s, c - 1]]
    q_0, size = square(E), square(H)
    assert 4 * size * q_0**2 < h**2 < 4 * size * q_0  # as printed it holds; with the root it does not
    first = times(H, [[c, -s], [s, c]])
    from_zeros = max(first[0][1], first[1][0], first[2][0])
    assert from_zeros > first[2][1]  # so no shift lies above all zeros and below all nonzeros


def eta_and_rate(H):
    """Return eta, and K eta sigma^4 / gamma_0^2."""
    left, beta, _ = np.linalg.svd(H, full_matrices=False)
    eta = np.mean(H > 0) * (1 + len(H) * np.sum(left**2, axis=1).max())
    gamma = -np.diff(np.append(beta**2, 0)).max()
    return eta, len(beta) * eta * np.sum(beta**2) ** 2 / gamma**2


def test_eta_is_above_one_and_no_factor_has_a_rho_below_one():
    for number in range(2000):
        rng = np.random.default_rng(number)
        K, J = int(rng.integers(2, 5)), int(rng.integers(5, 60))
        H = rng.random((J, K)) ** 3 * (rng.random((J, K)) < rng.uniform(0.1, 1))
        eta, rate = eta_and_rate(H + np.eye(J, K) * np.arange(1, K + 1))
        assert eta > 1 and rate > K * (K * (K + 1) / 2) ** 2
    assert eta_and_rate(np.eye(1000, 2) * np.sqrt([2, 1])) == pytest.approx((1.001, 18.018))  # nearly as low as can be


def test_enough_values_do_not_make_the_virtual_matrix_of_full_rank():
    rng = np.random.default_rng(0)
    first, second = (conditionals(rng, 2, 4) for _ in range(2))  # M = 2 variables of I = 2 values, F = 4 = M I
    first, second = [[F(x).limit_denominator(99) for x in A[0]] for A in (first, second)]
    W = [first, [1 - x for x in first], second, [1 - x for x in second]]
    assert [a + b - c - d for a, b, c, d in zip(*W, strict=True)] == [0] * 4


def picks(X, C):
    """Return the step of Frank-Wolfe without penalty: the least entry in each column of the gradient, or the first."""
    off = [[a - b for a, b in zip(*rows, strict=True)] for rows in zip(times(X, C), X, strict=True)]
    return [min(range(len(C)), key=column.__getitem__) for column in turned(times(turned(X), off))]


def test_a_fitted_column_picks_a_row_that_is_no_anchor():
    X = turned([MIXTURE, E1, E2])
    assert picks(X, [[0] * 3] * 3)[1:] == [1, 2]  # the anchors are fitted by the first step
    fitted = [[0, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert picks(X, fitted)[1:] == [0, 0]  # the mixture


def test_lemma_3_needs_the_smallest_entry():
    q = [1 - MIXTURE[0], 0 - MIXTURE[1]]  # W = I, the mixture is written as e_1
    entries = [sum(a * b for a, b in zip(h, q, strict=True)) for h in (E1, E2, MIXTURE)]
    largest, smallest = entries.index(max(entries)), entries.index(min(entries))
    assert picks(turned([E1, E2, MIXTURE]), [[1, 0, 1], [0, 1, 0], [0, 0, 0]])[2] == smallest != largest
    assert all(entry - entries[largest] <= 0 for entry in entries)  # where the lemma has a positive number
    assert all(entry - entries[smallest] > 0 for n, entry in enumerate(entries) if n != smallest)


def test_differences_after_one_iteration_are_below_the_bound_of_proposition_1_of_merit():
    C, X = [[F(9, 10), F(1, 10), F(5, 10)], [F(1, 10), F(9, 10), F(5, 10)], [0, 0, 0]], turned([E1, E2, MIXTURE])
    assert list(least_of_gradient(floats(X), sparse.csc_array(floats(C)), 0.001, 1e-5)) == [0, 1, 0]
    D = [abs(a - b) for a, b in combinations(C[0], 2)]  # t_init = 1
    xi = min(min(d, 1 - d) for d in D)
    after = [F(1, 3) * c + F(2, 3) * (pick == 0) for c, pick in zip(C[0], [0, 1, 0], strict=True)]
    least = min(abs(a - b) for a, b in combinations(after, 2))
    assert least < F(2, 1 * 2) * xi  # T = 1 iteration
    assert least >= F(2, 2 * 3) * xi  # T = 2, the number of the step that is reached


def test_lemma_5_1_needs_the_factor_sigma_r():
    for number in range(50):
        rng = np.random.default_rng(number)
        n1, n2, r = (int(rng.integers(*ends)) for ends in ((3, 8), (4, 8), (1, 3)))
        truth, sigma = features(rng, n1, n2, r)
        every, gamma = triples(n1, n2), 2 / (n1 * (n2 - 1))
        most = 24 * np.sum(truth**2, axis=1).max()
        xi = chance(most) * chance(-most)
        Z = start(rng, truth, n1, 4 * xi * sigma[-1] / 50)
        left, _, right = np.linalg.svd(truth.T @ Z)
        off = Z - truth @ left @ right
        slope = gradient(Z, truth, (every, 1 / every.shape[1]), xi * gamma / 4, n1)
        sign = np.where(np.arange(n1 + n2) < n1, 1, -1)[:, None]
        rest = xi * gamma / 8 * np.sum((off.T @ (sign * (truth @ left @ right))) ** 2)
        size, product = xi * gamma / 4 * np.sum(off**2), np.sum(slope * off)
        assert size * sigma[-1] + rest <= product < size


def test_the_condition_number_of_the_features_is_the_root_of_kappa():
    Z = [[2, 0], [0, 1], [2, 0], [0, 1]]  # of X = diag(4, 1): kappa is 4
    assert times(Z[:2], turned(Z[2:])) == [[4, 0], [0, 1]]
    assert times(turned(Z), Z) == [[8, 0], [0, 2]]  # squares of the singular values of Z: 4 is the square of 2


def test_mu_is_1_25_at_least_with_200_users_and_300_items():
    assert F(200 + 300, 2 * 200) == F(5, 4)
    for number in range(200):
        rng = np.random.default_rng(number)
        n1, n2 = int(rng.integers(3, 30)), int(rng.integers(3, 30))
        squares = np.sum(features(rng, n1, n2, 2)[0] ** 2, axis=1)
        assert (n1 + n2) * squares.max() / squares.sum() >= (n1 + n2) / (2 * min(n1, n2)) - 1e-9


# ---- equations and algorithms ----


def test_the_displayed_relu_is_no_projection():
    alpha, z = 1, F(1, 2)
    displayed = z if z >= alpha else 0
    assert displayed < alpha <= max(z, alpha)  # the nearest point of [alpha, infinity) is alpha


def test_the_projection_onto_a_ball_of_another_radius_needs_the_radius():
    Z, D = [3, 4], 2  # of length 5
    printed, right = [F(z, 5) for z in Z], [F(D * z, 5) for z in Z]
    assert square([right]) == D**2
    assert square([[z - p for z, p in zip(Z, right, strict=True)]]) == 9
    assert square([[z - p for z, p in zip(Z, printed, strict=True)]]) == 16


def test_the_exponential_of_algorithm_1_overflows_without_the_maximum_of_the_row():
    c, mu = np.array([0.01, 0.5, 1.0]), 1e-5
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.isnan(np.exp(c / mu) / np.exp(c / mu).sum()).all()
    shifted = np.exp((c - c.max()) / mu)
    assert (shifted / shifted.sum()).tolist() == [0, 0, 1]


def test_without_the_half_a_weight_acts_half_as_strongly():
    rng = np.random.default_rng(0)
    X, C = rng.random((4, 60)), rng.dirichlet(np.ones(60), 60).T
    P = np.exp((C - C.max(axis=1, keepdims=True)) / 0.05)
    with_half = (X.T @ (X @ C - X) + 10 * P / P.sum(axis=1, keepdims=True)).argmin(axis=0)
    without = {lam: least_of_gradient(X, sparse.csc_array(C), lam, 0.05) for lam in (10, 20)}
    assert (without[20] == with_half).all() and (without[10] != with_half).any()


def test_two_teams_that_never_overlap_inside_leave_their_own_blocks_open():
    U = [[[F(3, 5) * a, F(4, 5) * b], [F(3, 5) * (1 - a), F(4, 5) * (1 - b)]]
         for a, b in ((F(3, 4), F(1, 4)), (F(2, 3), F(1, 3)), (F(3, 5), F(2, 5)), (F(7, 10), F(1, 5)))]  # fmt: skip
    stretch, back = [[F(11, 10), 0], [0, F(10, 11)]], [[F(10, 11), 0], [0, F(11, 10)]]
    V = [times(U[0], stretch), times(U[1], stretch), times(U[2], back), times(U[3], back)]
    assert max(map(square, U + V)) <= 1
    for m, j in product((0, 1), (2, 3)):
        assert times(U[m], turned(U[j])) == times(V[m], turned(V[j]))  # between the teams
    for m, j in ((0, 1), (2, 3)):
        assert times(U[m], turned(U[j])) != times(V[m], turned(V[j]))
