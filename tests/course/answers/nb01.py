"""Answers to the exercises of notebook 01: exercise, what the reply says, and the answer made from what is given."""

import numpy as np
import pandas as pd
from scipy.optimize import nnls


def posterior(g):
    joint = g["prior"].copy()
    for A, label in zip(g["A"], g["labels"], strict=True):
        joint *= A[label] if label >= 0 else 1
    return joint / joint.sum()


def log_joint(g):
    kept = [(A, label) for A, label in zip(g["A"], g["labels"], strict=True) if label >= 0]
    return np.log(g["prior"]) + sum(np.log(A[label]) for A, label in kept)


def co_occurrence(g):
    pairs = [(i, k) for i, k in zip(g["labels_m"], g["labels_j"], strict=True) if i >= 0 and k >= 0]
    return [[pairs.count((i, k)) / len(pairs) for k in range(3)] for i in range(3)]


def crossed(g):
    a, b = (np.where(g[name] < 0, np.nan, g[name]) for name in ("labels_m", "labels_j"))
    return pd.crosstab(a, b, normalize="all")


def counted_once(g):
    C = np.zeros((3, 3))
    both = (g["labels_m"] >= 0) & (g["labels_j"] >= 0)
    C[g["labels_m"][both], g["labels_j"][both]] += 1
    return C / C.sum()


def read_off(g):
    block = g["H"][g["m"] * 3 : (g["m"] + 1) * 3]
    return block / block.sum(axis=0), block.sum(axis=0) ** 2


def em_loops(labels, q):
    N, M, K = len(labels), len(labels[0]), len(q[0])
    prior = [sum(q[n][c] for n in range(N)) / N for c in range(K)]
    A = [[[0.0] * K for _ in range(K)] for _ in range(M)]
    for m in range(M):
        for c in range(K):
            seen = [n for n in range(N) if labels[n][m] >= 0]
            for n in seen:
                A[m][labels[n][m]][c] += q[n][c] / sum(q[s][c] for s in seen)
    new = []
    for n in range(N):
        joint = [prior[c] for c in range(K)]
        for m in range(M):
            joint = [j * A[m][labels[n][m]][c] if labels[n][m] >= 0 else j for c, j in enumerate(joint)]
        new.append([j / sum(joint) for j in joint])
    return {"prior": prior, "A": A, "new q": new}


def em_vectors(labels, q, axis=1, old=False, prior_counts=True, scale=True):
    Y = np.stack([labels == i for i in range(q.shape[1])], axis=-1).astype(float)
    A = np.tensordot(Y, q, axes=(0, 0))
    A /= A.sum(axis=axis, keepdims=True)
    logs = np.tensordot(Y, np.log(A), axes=([1, 2], [0, 1]))
    logs += np.log(q.mean(axis=0)) if prior_counts else 0
    new = np.exp(logs - logs.max(axis=1, keepdims=True))
    return q.mean(axis=0), A, q if old else new / (new.sum(axis=1, keepdims=True) if scale else 1)


def em_by_all(labels, q):
    A = np.array([[q[given == i].sum(axis=0) / q.sum(axis=0) for i in range(q.shape[1])] for given in labels.T])
    joint = q.mean(axis=0) * np.array([np.prod([a[i] for a, i in zip(A, row, strict=True) if i >= 0], axis=0)
                                       for row in labels])  # fmt: skip
    return q.mean(axis=0), A, joint / joint.sum(axis=1, keepdims=True)


def em_last_class(labels, q):
    return em_vectors(np.where(labels == -1, q.shape[1] - 1, labels), q)


def em_hard(labels, q):
    return em_loops(labels, np.eye(q.shape[1])[np.argmax(q, axis=1)])


def em_in_place(labels, q):
    labels[labels < 0] = 0
    return em_vectors(labels, q)


def colours(links):
    """Colour annotators in turn, each group from its first: the number of groups, and whether two equal ones meet."""
    colour, groups = {}, 0
    for first in range(len(links)):
        groups += first not in colour
        waiting = [(first, 0)] if first not in colour else []
        while waiting:
            one, own = waiting.pop()
            if one not in colour:
                colour[one] = own
                waiting += [(other, 1 - own) for other in np.flatnonzero(links[one])]
    return groups, any(colour[a] == colour[b] for a, b in np.argwhere(links))


def hull_covers(rows):
    """Whether every point of the rim of the disc is a sum of rows with nonnegative weights."""
    across = np.linalg.svd(np.ones((1, 3)))[2][1:]
    rim = [1 / 3 + 0.999 * np.sqrt(1 / 6) * np.array([np.cos(t), np.sin(t)]) @ across for t in np.linspace(0, 6.3, 60)]
    return all(nnls(rows.T, point)[1] < 1e-9 for point in rim)


def read_by_eye(g):
    found = []
    for links in g["graphs"]:
        groups, odd = colours(links)
        found.append(1 if groups > 1 else 3 if odd else 2)
    for rows in g["clouds"]:
        found.append(3 if (rows.max(axis=0) > 0.99).all() else 2 if hull_covers(rows) else 1)
    return found


def mistaken(half, kind, said):
    """All right but for one kind of graphs, or of rows."""

    def answer(g):
        found = np.array(read_by_eye(g)).reshape(2, 4)
        found[half][found[half] == kind] = said
        return tuple(found.ravel())

    return answer


ANSWERS = [
    ("posterior", "correct", posterior),
    ("posterior", "correct", lambda g: np.exp(log_joint(g)) / np.exp(log_joint(g)).sum()),
    ("posterior", "correct", lambda g: list(map(float, posterior(g)))),
    ("posterior", "correct", lambda g: pd.Series(posterior(g), index=["a", "b", "c"])),
    ("posterior", "correct", lambda g: posterior(g)[:, None]),
    ("posterior", "correct", lambda g: posterior(g).round(4)),
    ("posterior", "the maximum was subtracted", lambda g: np.exp(log_joint(g) - log_joint(g).max())),
    ("posterior", "take exp, then divide", log_joint),
    ("posterior", "not normalised", lambda g: np.exp(log_joint(g))),
    ("posterior", "prior is forgotten", lambda g: (p := posterior(g) / g["prior"]) / p.sum()),
    ("posterior", "only the first annotator", lambda g: g["prior"] * g["A"][0][0]),
    ("posterior", "logarithms of the answer", lambda g: np.log(posterior(g))),
    ("posterior", "-1 means no label", lambda g: (
        p := g["prior"] * np.prod([A[i] for A, i in zip(g["A"], g["labels"], strict=True)], axis=0)) / p.sum()),
    ("posterior", "multiplied, not added", lambda g: (
        p := g["prior"] + g["A"][0][0] + g["A"][1][1] + g["A"][3][1]) / p.sum()),
    ("posterior", "wrong columns", lambda g: (
        p := g["prior"] * g["A"][0][:, 0] * g["A"][1][:, 1] * g["A"][3][:, 1]) / p.sum()),
    ("posterior", "do not sum to one", lambda g: posterior(g) ** 2),
    ("posterior", "right numbers, in another order", lambda g: posterior(g)[[0, 2, 1]]),
    ("posterior", "the prior counts once", lambda g: (p := np.exp(log_joint(g)) * g["prior"] ** 2) / p.sum()),
    ("posterior", "is too", lambda g: np.ones(3) / 3),
    ("posterior", "expected an array of shape (3,)", lambda g: posterior(g).max()),
    ("em_round", "correct", lambda g: em_loops),
    ("em_round", "correct", lambda g: em_vectors),
    ("em_round", "correct", lambda g: lambda labels, q: list(em_vectors(labels, q))),
    ("em_round", "correct", lambda g: lambda labels, q: tuple(np.round(part, 5) for part in em_vectors(labels, q))),
    ("em_round", "columns sum to one", lambda g: em_by_all),
    ("em_round", "-1 means no label", lambda g: em_last_class),
    ("em_round", "the rows of A_m", lambda g: lambda labels, q: em_vectors(labels, q, axis=2)),
    ("em_round", "the E-step is missing", lambda g: lambda labels, q: em_vectors(labels, q, old=True)),
    ("em_round", "forgets the prior", lambda g: lambda labels, q: em_vectors(labels, q, prior_counts=False)),
    ("em_round", "the maximum was subtracted", lambda g: lambda labels, q: em_vectors(labels, q, scale=False)),
    ("em_round", "the rows do not sum to one", lambda g: lambda labels, q: (
        *em_vectors(labels, q)[:2], 1 - em_vectors(labels, q)[2])),
    ("em_round", "made hard first", lambda g: em_hard),
    ("em_round", "mean of the new q", lambda g: lambda labels, q: (
        (r := em_vectors(labels, q))[2].mean(axis=0), *r[1:])),
    ("em_round", "A_m is transposed", lambda g: lambda labels, q: (
        (r := em_vectors(labels, q))[0], [A.T for A in r[1]], r[2])),
    ("em_round", "changes what it is given", lambda g: em_in_place),
    ("em_round", "give 3 arrays", lambda g: lambda labels, q: em_vectors(labels, q)[2]),
    ("em_round", "hand in the function itself", lambda g: em_vectors(**g)),
    ("em_round", "returns nothing", lambda g: lambda labels, q: None),
    ("em_round", "stops with TypeError", lambda g: lambda labels: None),
    ("em_round", "this is its sum: divide by the number of tasks", lambda g: lambda labels, q: (
        q.sum(axis=0), *em_vectors(labels, q)[1:])),
    ("em_round", "on data you have not seen", lambda g: lambda labels, q: (
        *em_vectors(labels, q)[:2], np.ones((8, 3)) if len(q) != 8 else em_vectors(labels, q)[2])),
    ("co-occurrence", "correct", co_occurrence),
    ("co-occurrence", "correct", crossed),
    ("co-occurrence", "correct", lambda g: {"R_mj": co_occurrence(g)}["R_mj"]),
    ("co-occurrence", "correct", lambda g: np.round(co_occurrence(g), 4)),
    ("co-occurrence", "only once", counted_once),
    ("co-occurrence", "each row was scaled", lambda g: (R := np.array(co_occurrence(g))) / R.sum(axis=1)[:, None]),
    ("co-occurrence", "each column was scaled", lambda g: (R := np.array(co_occurrence(g))) / R.sum(axis=0)),
    ("co-occurrence", "this is transposed", lambda g: np.transpose(co_occurrence(g))),
    ("co-occurrence", "these are counts", lambda g: np.multiply(co_occurrence(g), 20)),
    ("co-occurrence", "divided by all tasks", lambda g: np.multiply(co_occurrence(g), 20 / 24)),
    ("co-occurrence", "per cent", lambda g: np.multiply(co_occurrence(g), 100)),
    ("co-occurrence", "two margins", lambda g: (
        R := np.array(co_occurrence(g))).sum(axis=1)[:, None] * R.sum(axis=0)),
    ("co-occurrence", "taken for class 0", lambda g: pd.crosstab(
        g["labels_m"].clip(0), g["labels_j"].clip(0), normalize=True)),
    ("co-occurrence", "do not sum to one", lambda g: np.array(co_occurrence(g)) + np.eye(3)),
    ("co-occurrence", "entry [0, 0]", lambda g: np.subtract(co_occurrence(g), [[0.1, -0.05, -0.05], [0] * 3, [0] * 3])),
    ("imputation", "correct", lambda g: g["R_mr"] @ np.linalg.inv(g["R_lr"]) @ g["R_ln"]),
    ("imputation", "correct", lambda g: g["R_mr"] @ np.linalg.solve(g["R_lr"], g["R_ln"])),
    ("imputation", "correct", lambda g: np.einsum("ab,bc,cd->ad", g["R_mr"], np.linalg.pinv(g["R_lr"]), g["R_ln"])),
    ("imputation", "correct", lambda g: (g["R_mr"] @ np.linalg.inv(g["R_lr"]) @ g["R_ln"]).tolist()),
    ("imputation", "take its inverse", lambda g: g["R_mr"] @ g["R_lr"] @ g["R_ln"]),
    ("imputation", "wrong side", lambda g: np.linalg.inv(g["R_lr"]) @ g["R_mr"] @ g["R_ln"]),
    ("imputation", "stands at the end", lambda g: g["R_mr"] @ g["R_ln"] @ np.linalg.inv(g["R_lr"])),
    ("imputation", "not R_rl", lambda g: g["R_mr"] @ np.linalg.inv(g["R_lr"].T) @ g["R_ln"]),
    ("imputation", "not the inverse of a matrix", lambda g: g["R_mr"] @ g["R_lr"] ** -1.0 @ g["R_ln"]),
    ("imputation", "entry by entry", lambda g: g["R_mr"] * np.linalg.inv(g["R_lr"]) * g["R_ln"]),
    ("imputation", "are swapped", lambda g: g["R_ln"] @ np.linalg.inv(g["R_lr"]) @ g["R_mr"]),
    ("imputation", "R_nm", lambda g: (g["R_mr"] @ np.linalg.inv(g["R_lr"]) @ g["R_ln"]).T),
    ("imputation", "the middle alone", lambda g: np.linalg.inv(g["R_lr"])),
    ("imputation", "negative entries", lambda g: np.linalg.inv(g["R_lr"]) @ g["R_ln"]),
    ("read_off", "correct", read_off),
    ("read_off", "correct", lambda g: dict(zip(("A_m", "lambda"), read_off(g), strict=True))),
    ("read_off", "correct", lambda g: [read_off(g)[0].tolist(), read_off(g)[1].round(3).tolist()]),
    ("read_off", "correct", lambda g: (read_off(g)[0], np.square(g["H"].reshape(5, 3, 3).sum(axis=1).mean(axis=0)))),
    ("read_off", "square them", lambda g: (read_off(g)[0], np.sqrt(read_off(g)[1]))),
    ("read_off", "instead of scaling", lambda g: (read_off(g)[0], (s := np.sqrt(read_off(g)[1])) / s.sum())),
    ("read_off", "rows were scaled", lambda g: ((b := g["H"][6:9]) / b.sum(axis=1)[:, None], read_off(g)[1])),
    ("read_off", "divided by one number", lambda g: ((b := g["H"][6:9]) / b.sum(), read_off(g)[1])),
    ("read_off", "rows m, m + M", lambda g: ((b := g["H"][2::5]) / b.sum(axis=0), read_off(g)[1])),
    ("read_off", "sums squared", lambda g: (g["H"][6:9] / read_off(g)[1], read_off(g)[1])),
    ("read_off", "sums of squares", lambda g: (read_off(g)[0], (g["H"][6:9] ** 2).sum(axis=0))),
    ("read_off", "only the sums are, for lambda", lambda g: (g["H"][6:9] ** 2, read_off(g)[1])),
    ("read_off", "give 2 arrays", lambda g: read_off(g)[0][:1]),
    ("conditions", "correct", read_by_eye),
    ("conditions", "correct", lambda g: np.array(read_by_eye(g), dtype=float)),
    ("conditions", "correct", lambda g: dict(zip("abcdefgh", read_by_eye(g), strict=True))),
    ("conditions", "somebody is never reached, so this is not one group", mistaken(0, 1, 2)),
    ("conditions", "an odd cycle helps only the group it is in", mistaken(0, 1, 3)),
    ("conditions", "this is one group", mistaken(0, 2, 1)),
    ("conditions", "even number of links", mistaken(0, 2, 3)),
    ("conditions", "this is one group", mistaken(0, 3, 1)),
    ("conditions", "two colours in turn do not go round", mistaken(0, 3, 2)),
    ("conditions", "a part of the disc stays outside", mistaken(1, 1, 2)),
    ("conditions", "not every corner has a dot", mistaken(1, 1, 3)),
    ("conditions", "the whole disc is inside", mistaken(1, 2, 1)),
    ("conditions", "lie on the sides beside them", mistaken(1, 2, 3)),
    ("conditions", "the hull is the whole triangle", mistaken(1, 3, 1)),
    ("conditions", "more holds", mistaken(1, 3, 2)),
    ("conditions", "give 8 arrays or numbers", lambda g: read_by_eye(g)[:4]),
    ("conditions", "no array of numbers", lambda g: [f"kind {kind}" for kind in read_by_eye(g)]),
]  # fmt: skip
