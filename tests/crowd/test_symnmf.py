"""SymNMF: the truth where a specialist is perfect, downhill, and never a negative eigenvalue."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from cofactor import simulate
from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.latent_class import LatentClassModel
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import designated_imputation, factors_of_model
from cofactor.crowd.symnmf import (
    DENSE_SIZE,
    model_of_factor,
    require_rank,
    shifted_relu,
    square_root,
    symnmf,
    symnmf_steps,
)
from tests.oracles.generators import laws, random_model, recorded, seeds


def with_specialist(seed, M=25, K=3):
    return simulate.dawid_skene_model(M, K, specialist_error=0, prior=np.ones(K) / K, random_state=seed)


def exact(model):
    H = factors_of_model(model).reshape(-1, model.n_classes)
    return H @ H.T


# ---- the whole way without noise ----


@pytest.mark.parametrize("imputed", [False, True])
def test_finds_the_model_when_one_specialist_is_perfect(imputed):
    errors = []
    for seed in range(20):
        model = with_specialist(seed)
        rng = np.random.default_rng(seed)
        upper = np.triu(rng.random((25, 25)) > 0.5, 1)
        X = designated_imputation(Cooccurrences.from_model(model, upper | upper.T)).X if imputed else exact(model)
        (H, _, _), _ = recorded(symnmf, square_root(X, 3), max_iter=20_000)
        errors.append(model.mse(model_of_factor(H)))
    assert max(errors) < 1e-10


# ---- the iteration ----


@laws
@given(seed=seeds)
def test_objective_never_rises_and_the_rotation_is_one(seed):
    U = np.random.default_rng(seed).standard_normal((24, 3))
    (H, Q, result), _ = recorded(symnmf, U, max_iter=100)
    assert np.all(np.diff(result.objective) <= 1e-12 * np.sum(U**2))
    assert np.allclose(Q.T @ Q, np.eye(3), atol=1e-12)
    assert np.array_equal(H, np.maximum(U @ Q, 0))


def test_a_nonnegative_root_is_a_fixed_point():
    U = np.random.default_rng(0).random((20, 3))
    H, Q, result = symnmf(U)
    assert np.allclose(Q, np.eye(3), atol=1e-12) and np.allclose(H, U)
    assert result.converged and result.objective[-1] == 0


def test_a_column_without_positive_entries_is_turned_whatever_the_processor(monkeypatch):
    U = np.random.default_rng(0).standard_normal((30, 3))
    U[:, 1] = -np.abs(U[:, 1])  # no entry of H is left there, and two rotations are equally near
    svd, found = np.linalg.svd, []

    def other(matrix, sign):
        W, s, Vt = svd(matrix)
        return W * np.where(s < 1e-14 * s[0], sign, 1.0), s, Vt  # where a singular value is zero, signs are free

    for sign in (1.0, -1.0):
        monkeypatch.setattr(np.linalg, "svd", partial(other, sign=sign))
        found.append(next(symnmf_steps(U)).Q)
    assert np.allclose(found[0], found[1], atol=1e-12)
    assert (U @ found[0])[:, 1].sum() > 0
    other_side = found[0] * [1, -1, 1]
    near = [np.sum((np.maximum(U, 0) - U @ Q) ** 2) for Q in (found[0], other_side)]
    assert near[0] == pytest.approx(near[1], rel=1e-12)  # (13b) alone does not tell them apart


def test_undoes_a_small_rotation():
    H = np.vstack([np.eye(3), np.random.default_rng(1).random((20, 3))])
    turn = np.linalg.qr(np.eye(3) + 0.2 * np.random.default_rng(2).standard_normal((3, 3)))[0]
    turn *= np.sign(turn.diagonal())
    found, _, _ = recorded(symnmf, H @ turn, max_iter=20_000)[0]
    assert np.allclose(found, H, atol=1e-6)


def test_the_shift_may_follow_a_schedule():
    asked = []
    recorded(symnmf, np.random.default_rng(0).standard_normal((9, 3)), lambda t: asked.append(t) or 0.0, max_iter=4)
    assert asked == [0, 1, 2, 3]


Z = np.array([-1.0, 0.0, 0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("operator", "alpha", "expected"),
    [
        ("zero", 0.0, [0, 0, 0.1, 0.2, 0.3]),
        ("clamp", 0.0, [0, 0, 0.1, 0.2, 0.3]),
        ("zero", 0.2, [0, 0, 0, 0.2, 0.3]),
        ("clamp", 0.2, [0.2, 0.2, 0.2, 0.2, 0.3]),
    ],
)
def test_the_two_readings_of_the_shifted_relu(operator, alpha, expected):
    assert shifted_relu(Z, alpha, operator).tolist() == expected


# ---- the square root ----


def matrix_with(eigenvalues, seed=0):
    """A symmetric matrix with these eigenvalues, zero otherwise."""
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((12, len(eigenvalues))))[0]
    return (V * eigenvalues) @ V.T


@laws
@given(seed=seeds)
def test_root_is_the_best_positive_approximation(seed):
    S = np.random.default_rng(seed).standard_normal((12, 12))
    S = S @ S.T
    values, V = np.linalg.eigh(S)
    U = square_root(S, 3)
    assert np.allclose(U @ U.T, (V[:, -3:] * values[-3:]) @ V[:, -3:].T, atol=1e-8)
    assert np.all(U.sum(axis=0) >= 0)


def test_a_negative_eigenvalue_is_never_taken_however_large():
    X = matrix_with([5.0, -4.0, 3.0])  # the second largest in size is negative
    with pytest.warns(DataWarning, match=r"eigenvalue 2 .* is 3, the lowest -4: .*prefer a method that imputes"):
        U = square_root(X, 2)
    assert np.allclose(np.linalg.eigvalsh(U @ U.T)[-2:], [3, 5])


def test_no_warning_where_the_negative_part_is_small():
    square_root(matrix_with([5.0, 3.0, -0.5]), 2)


def test_sparse_and_dense_agree():
    X = exact(random_model(0, sizes=(3,) * 5))
    assert np.allclose(square_root(sparse.csr_array(X), 3), square_root(X, 3), atol=1e-10)


def test_refuses_more_classes_than_positive_eigenvalues():
    with pytest.raises(CofactorError, match=r"more classes \(3\) than the co-occurrences have rank \(2\)"):
        square_root(matrix_with([5.0, 3.0, -1.0, -2.0]) - 0.1 * np.eye(12), 3)


def test_refuses_a_root_without_full_rank():
    U = np.random.default_rng(0).random((12, 2)) @ np.random.default_rng(1).random((2, 3))
    for refuse in (require_rank, symnmf):
        with pytest.raises(CofactorError, match=r"rank \(2\)"):
            refuse(U)


def test_the_same_root_in_every_run_when_eigenvalues_repeat():
    X = np.kron(np.ones((5, 5)), np.eye(3) / 3)  # five perfect annotators, equally frequent classes
    first = square_root(X, 3)
    assert all(np.array_equal(square_root(X, 3), first) for _ in range(5))


def twins(M=25):
    """Exact co-occurrences, diagonal blocks missing, of three classes two of which nobody tells apart."""
    A = np.random.default_rng(0).dirichlet(np.ones(3), size=(M, 3)).transpose(0, 2, 1)
    A[:, :, 2] = A[:, :, 1]
    return Cooccurrences.from_model(LatentClassModel(np.ones(3) / 3, list(A))).dense()


@pytest.mark.parametrize("X", [np.zeros((6, 6)), twins()], ids=["all zero", "classes nobody tells apart"])
def test_refuses_what_lanczos_cannot_do(X):
    with pytest.raises(CofactorError, match="rank"):
        square_root(X, 3)


def test_refuses_a_large_matrix_in_which_lanczos_finds_nothing():
    with pytest.raises(CofactorError, match="cannot be told from the rest"):
        square_root(np.zeros((DENSE_SIZE + 3, DENSE_SIZE + 3)), 3)


# ---- the model behind the factor ----


@laws
@given(seed=seeds)
def test_model_of_factor_undoes_the_factor(seed):
    model = random_model(seed, sizes=(3,) * 6)
    found = model_of_factor(factors_of_model(model).reshape(-1, 3))
    assert np.allclose(found.prior, model.prior, atol=1e-13)
    assert np.allclose(found.stacked, model.stacked, atol=1e-13)


def test_annotators_nothing_is_known_about_are_uniform_and_have_no_say():
    model = random_model(1, sizes=(3,) * 5)
    H = factors_of_model(model)
    H[2] = 7.0
    informative = np.array([True, True, False, True, True])
    found = model_of_factor(H.reshape(-1, 3), informative)
    assert found.n_variables == 5
    assert np.array_equal(found.conditionals[2], np.full((3, 3), 1 / 3))
    assert np.allclose(found.prior, model.prior, atol=1e-13)
    assert np.allclose(found.conditionals[4], model.conditionals[4], atol=1e-13)


def test_the_floor_leaves_no_label_impossible():
    found = model_of_factor(np.vstack([np.eye(3), np.eye(3)]), floor=1e-3)
    assert found.stacked.min() == pytest.approx(1e-3 / 1.002)
    assert np.allclose(found.stacked.reshape(2, 3, 3).sum(axis=1), 1)
