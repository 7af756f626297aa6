"""Spectral-D&S: EM for the Dawid-Skene model, started at third-order moments of three groups of workers.

Workers are split into three groups. Given the class of a task, the groups vote independently, so the moments of their
vote counts factor over the classes, and a tensor decomposition finds the factors without an initial guess:

    E[x~_a x~_b'] = sum_c w_c mu_c mu_c',    E[x~_a (x) x~_b (x) x_g] = sum_c w_c mu_c (x) mu_c (x) mu_c

    symbol   meaning                                                          shape
    x_g      votes of group g for each class, one row per task: `x[g]`        (N, K)
    x~_a     E[x_g x_b'] E[x_a x_b']^-1 x_a: votes of a, transformed to g     (N, K)
    M2       E[x~_a x~_b'], symmetric in the limit                            (K, K)
    W        whitening: W' M2 W = I                                           (K, K)
    T        the third moment, whitened: T = sum_c w_c^-1/2 v_c (x) v_c (x) v_c   (K, K, K)
    mu_g     expected votes of group g given the class: `mu[g]`               (K, K)
    w_g      weights of the classes, as seen from group g: `w[g]`             (K,)

Source: Zhang, Chen, Zhou and Jordan, "Spectral methods meet EM: a provably optimal algorithm for crowdsourcing",
NIPS 2014, Algorithm 1; robust tensor power method: Anandkumar, Ge, Hsu, Kakade and Telgarsky, JMLR 2014, Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofactor.core.checks import rng_of
from cofactor.core.errors import CofactorError, listing
from cofactor.core.estimator import Result
from cofactor.core.latent_class import LatentClassModel, normalize_blocks
from cofactor.core.lazy import optimize
from cofactor.core.types import Floats
from cofactor.crowd.aggregators import CLOSED_FORM
from cofactor.crowd.base import Aggregator, name_classes
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.model import PRIOR, PseudoCounts

N_GROUPS = 3
RESTARTS, ITERATIONS = 100, 100  # of the tensor power method, as released
RELEASED_FLOOR = 1e-6  # smallest entry of a confusion matrix before its columns are normalised, as released
DEFICIENT_CONDITION = 1e10  # condition number from which a co-occurrence of two groups counts as rank-deficient


@dataclass(eq=False, repr=False)
class SpectralDS(Aggregator):
    """Spectral-D&S: EM started at the tensor decomposition of the votes of three groups of workers.

    Estimates A_m and lambda of Pr(labels) = sum_c lambda_c prod_m A_m[label_m, c] by moments of triples, and then
    maximises the likelihood from there.

    Parameters
    ----------
    em, pseudo_counts
        Refine by EM, which is part of the published method; for its prior, see `Aggregator`.
    random_state, verbose
        See `Aggregator`; the seed draws the starting vectors of the power method, which are so many that it hardly
        matters.

    Raises a CofactorError in `fit` if there are fewer than three workers, a group never used a class, or the
    co-occurrence of the votes of two groups has rank below K; the message names the groups and a remedy.

    Cost: O(labels + N K^3 + 100 * 100 K^4) time, O(N K) memory; then EM. Source: Zhang et al., NIPS 2014, Algorithm 1.
    As in the code released with the ICML 2021 paper, worker m is in group m mod 3 (the paper allows any split), so the
    split depends on the order of the workers, and the confusion matrix of a worker is estimated from the two other
    groups. Deviations: M2 and T are symmetrised, as their limits are, so the order of two groups does not matter;
    columns of mu are assigned to classes by the best matching instead of greedily; EM estimates the prior and continues
    until the likelihood converges. Before EM, the prior is uniform, as there, because the weights w are too noisy.

    Dependence on the order: 20 other orders of the workers changed probabilities by up to .01 on bluebird, .007 on rte,
    .025 on face_sentiment and .17 on dog; one task changed its class on face_sentiment and one on dog. Without `em`,
    the changes are much larger, and some probabilities change from 0 to 1: up to 5 of 108 tasks changed their class on
    bluebird (accuracy 87.0 to 90.7 %), 45 of 800 on rte (89.4 to 92.6 %), 39 of 584 on face_sentiment and 37 of 807 on
    dog.

    Examples
    --------
    >>> from cofactor import simulate
    >>> crowd = simulate.crowd(simulate.dawid_skene_model(9, 3, skill=0.7, random_state=0), 300, 0.8, random_state=0)
    >>> method = SpectralDS().fit(crowd.labels)
    >>> bool(np.mean(method.predict(crowd.labels) == crowd.truth) > 0.9)
    True
    """

    em: bool = True
    pseudo_counts: PseudoCounts = PRIOR
    random_state: int | None = 0
    verbose: bool = False

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        group = np.arange(labels.n_workers) % N_GROUPS
        x = _group_votes(labels, group)
        _require_full_groups(x, labels, group)
        rng = rng_of(self.random_state)
        mu, w = np.zeros((N_GROUPS, *2 * x.shape[2:])), np.zeros((N_GROUPS, x.shape[2]))
        for g, a, b in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            mu[g], w[g] = group_factor(x[a], x[b], x[g], rng)
        uniform = np.full(labels.n_classes, 1 / labels.n_classes)
        model = LatentClassModel.from_stacked(uniform, _confusion(labels, group, x, mu, w), labels.table.sizes)
        return name_classes(model, labels), CLOSED_FORM


def group_factor(x_a: Floats, x_b: Floats, x_g: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Decompose the moments of three groups' votes (N, K) into (mu, w) of the third; Algorithm 1, step 2."""
    to_a = np.linalg.solve(x_b.T @ x_a, x_b.T @ x_g)  # x~_a = x_a to_a, the transpose of E[x_g x_b'] E[x_a x_b']^-1
    to_b = np.linalg.solve(x_a.T @ x_b, x_a.T @ x_g)
    M2 = to_a.T @ (x_a.T @ x_b) @ to_b / len(x_g)
    W, unwhiten = whitening((M2 + M2.T) / 2)
    T = third_moment(x_a @ (to_a @ W), x_b @ (to_b @ W), x_g @ W)
    eigenvalues, V = tensor_power(T, rng)
    mu = unwhiten @ (V * eigenvalues)
    order = optimize.linear_sum_assignment(mu, maximize=True)[1]
    return mu[:, order], eigenvalues[order] ** -2


def whitening(M2: Floats) -> tuple[Floats, Floats]:
    """Return W with W' M2 W = I, and the inverse of W'; negative eigenvalues, due to noise, are replaced by |s|."""
    s, U = np.linalg.eigh(M2)
    s = np.sqrt(np.abs(s))
    if s.min() ** 2 * DEFICIENT_CONDITION <= s.max() ** 2:
        raise CofactorError(_too_few("the second moment of the groups' votes"))
    return U / s, U * s


def third_moment(y_a: Floats, y_b: Floats, y_c: Floats) -> Floats:
    """Return the symmetrised mean of y_a (x) y_b (x) y_c over the rows; O(N K) memory, as it is computed by slices."""
    T = np.stack([(y_a * y_c[:, [k]]).T @ y_b for k in range(y_c.shape[1])], axis=2) / len(y_c)
    orders = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    return np.mean([T.transpose(order) for order in orders], axis=0)


def tensor_power(T: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Decompose a symmetric T ~ sum_c l_c v_c (x) v_c (x) v_c by simultaneous restarts and deflation.

    Returns the (K,) eigenvalues, which decrease only without noise, and the eigenvectors as columns (K, K).
    Source: Anandkumar et al., 2014, Algorithm 1.
    """
    K = len(T)
    eigenvalues, V = np.zeros(K), np.zeros((K, K))
    for c in range(K):
        theta = _power(T, _unit(rng.standard_normal((K, RESTARTS))))
        best = np.argmax(_value(T, theta))
        theta = _power(T, theta[:, [best]])
        eigenvalues[c], V[:, c] = _value(T, theta)[0], theta[:, 0]
        T = T - eigenvalues[c] * np.einsum("i,j,k->ijk", *[V[:, c]] * 3)
    if not eigenvalues.min() > 1 / DEFICIENT_CONDITION:
        raise CofactorError(_too_few("the third moment of the groups' votes"))
    return eigenvalues, V


def _power(T: Floats, theta: Floats) -> Floats:
    for _ in range(ITERATIONS):
        theta = _unit(_contract(T, theta))
    return theta


def _contract(T: Floats, theta: Floats) -> Floats:
    """Return T(I, theta, theta) for every column theta."""
    K = len(T)
    pairs = theta[:, None, :] * theta[None, :, :]
    return T.reshape(K, K * K) @ pairs.reshape(K * K, -1)


def _value(T: Floats, theta: Floats) -> Floats:
    return np.sum(theta * _contract(T, theta), axis=0)


def _unit(V: Floats) -> Floats:
    return V / np.maximum(np.linalg.norm(V, axis=0), np.finfo(float).tiny)


def _group_votes(labels: CrowdLabels, group: NDArray[np.int64]) -> Floats:
    K, table = labels.n_classes, labels.table
    cell = (group[table.variables] * table.n_rows + table.rows) * K + table.values
    counts = np.bincount(cell, minlength=N_GROUPS * table.n_rows * K)
    return counts.reshape(N_GROUPS, table.n_rows, K).astype(np.float64)


def _confusion(labels: CrowdLabels, group: NDArray[np.int64], x: Floats, mu: Floats, w: Floats) -> Floats:
    """Return (M K, K): A_m ~ E[x_m x_o'] (diag(w_o) mu_o')^-1, with o the two groups that m is not in; step 3."""
    F, K = labels.table.indicator, labels.n_classes
    raw = np.zeros((F.shape[1], K))
    for g in range(N_GROUPS):
        others = [o for o in range(N_GROUPS) if o != g]
        x_o, mu_o, w_o = x[others].sum(axis=0), mu[others].sum(axis=0), w[others].mean(axis=0)
        mine = np.repeat(group == g, K)
        raw[mine] = np.linalg.solve(mu_o * w_o, (F[:, mine].T @ x_o / len(x_o)).T).T
    return normalize_blocks(np.maximum(raw, RELEASED_FLOOR), labels.table.sizes)


def _require_full_groups(x: Floats, labels: CrowdLabels, group: NDArray[np.int64]) -> None:
    if labels.n_workers < N_GROUPS:
        raise CofactorError(f"Spectral-D&S needs at least three workers, but there are {labels.n_workers}: use MV-EM")
    for g in range(N_GROUPS):
        never = [labels.classes[k] for k in np.flatnonzero(x[g].sum(axis=0) == 0)]
        if never:
            workers = listing(labels.workers[m] for m in np.flatnonzero(group == g))
            raise CofactorError(
                f"no worker of group {g} ({workers}) ever gave the label {listing(never)}: leave out classes that "
                "no worker uses, put the workers in another order (worker m is in group m mod 3), or use MV-EM"
            )
    for a, b in ((0, 1), (1, 2), (0, 2)):
        if np.linalg.cond(x[a].T @ x[b]) > DEFICIENT_CONDITION:
            raise CofactorError(_too_few(f"the co-occurrence of the votes of groups {a} and {b}"))


def _too_few(what: str) -> str:
    return (
        f"{what} has a rank below the number of classes, because too few tasks have labels of all three groups or a "
        "class cannot be distinguished: put the workers in another order (worker m is in group m mod 3), or use MV-EM"
    )
