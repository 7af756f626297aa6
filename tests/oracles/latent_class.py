"""Moments, likelihood, EM and alignment of the latent-class model by plain loops, in the probability domain."""

from itertools import permutations

import numpy as np


def counts_by_looping(codes, m, j, sizes):
    """C_mj of Eq. (3), times n_mj."""
    C = np.zeros((sizes[m], sizes[j]), dtype=int)
    for row in codes:
        if row[m] >= 0 and row[j] >= 0:
            C[row[m], row[j]] += 1
    return C


def joint_by_multiplying(model, row):
    """Pr(class f and what was observed in the row), for every f."""
    joint = model.prior.copy()
    for n, code in enumerate(row):
        if code >= 0:
            joint = joint * model.conditionals[n][code]
    return joint


def likelihood_by_summing(model, codes):
    return sum(np.log(joint_by_multiplying(model, row).sum()) for row in codes)


def em_round(prior, conditionals, codes):
    """One round: soft classes of every row, then weighted frequencies. Rows without observations do not count."""
    counts, total, n_rows = [np.zeros_like(A) for A in conditionals], np.zeros_like(prior), 0
    for row in codes:
        seen = [n for n in range(len(row)) if row[n] >= 0]
        if not seen:
            continue
        q = prior * np.prod([conditionals[n][row[n]] for n in seen], axis=0)
        q, n_rows = q / q.sum(), n_rows + 1
        total += q
        for n in seen:
            counts[n][row[n]] += q
    return total / n_rows, [C / C.sum(axis=0) for C in counts]


def best_order(reference, estimate):
    """The order of the columns of `estimate` nearest to `reference`, all orders tried."""
    orders = permutations(range(reference.shape[1]))
    return min(orders, key=lambda order: np.sum((reference - estimate[:, order]) ** 2))


def mse_by_trying(truth, estimate):
    """Eq. (19) with P as a matrix: P'lambda against the estimated prior, A_m P against the estimated A_m."""
    F, errors = truth.n_classes, []
    for order in permutations(range(F)):
        P = np.eye(F)[:, order]
        error = np.sum((P.T @ truth.prior - estimate.prior) ** 2)
        for A, B in zip(truth.conditionals, estimate.conditionals, strict=True):
            error += np.sum((A @ P - B) ** 2)
        errors.append(error / (truth.n_variables * F + 1))
    return min(errors)


def joint_by_outer_products(model):
    """The joint PMF as a sum of rank-one tensors."""
    T = np.zeros(model.sizes)
    for f in range(model.n_classes):
        one = model.prior[f]
        for A in model.conditionals:
            one = np.multiply.outer(one, A[:, f])
        T += one
    return T


def conditional_by_summing(model, row, target):
    """Pr(target | the other observed entries of a row): fix these in the joint PMF, sum out the rest, scale."""
    T = joint_by_outer_products(model)
    for n, code in enumerate(row):
        if n != target:
            T = T.take([code], axis=n) if code >= 0 else T.sum(axis=n, keepdims=True)
    return T.ravel() / T.sum()


def most_probable_fill(model, row):
    """The row with every missing entry replaced by its own most probable value given the observed ones."""
    filled = row.copy()
    for n, code in enumerate(row):
        if code < 0:
            filled[n] = int(np.argmax(conditional_by_summing(model, row, n)))
    return filled
