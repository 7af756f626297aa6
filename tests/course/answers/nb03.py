"""Answers to the exercises of notebook 03: exercise, what the reply says, and the answer made from what is given."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats
from scipy.sparse.csgraph import connected_components

XI = 1e-6


def logs(g):
    return np.log(g["sizes"]), np.log(g["errors"])


def slope_by_sums(g):
    x, y = logs(g)
    return -sum((a - x.mean()) * (b - y.mean()) for a, b in zip(x, y, strict=True)) / sum(
        (a - x.mean()) ** 2 for a in x
    )


def through_two_points(g):
    x, y = logs(g)
    return (y[0] - y[-1]) / (x[-1] - x[0])


def weights(g, power=-0.5, xi=XI):
    w = [(np.sum((R - g["U_m"] @ U.T) ** 2) + xi) ** power for R, U in zip(g["R"], g["U"], strict=True)]
    return np.array(w)


def shares(g, **how):
    w = weights(g, **how)
    return w / w.sum()


def weights_by_loops(g):
    off = [[[g["R"][j, a, b] - sum(g["U_m"][a, c] * g["U"][j, b, c] for c in range(3)) for a in range(3)]
            for b in range(3)] for j in range(4)]  # fmt: skip
    w = [1 / (sum(x**2 for row in block for x in row) + XI) ** 0.5 for block in off]
    return [x / sum(w) for x in w]


def spectral(g):
    w = [1 / np.linalg.norm(R - g["U_m"] @ U.T, 2) for R, U in zip(g["R"], g["U"], strict=True)]
    return np.array(w) / sum(w), 2


def transposed(g):
    w = [1 / np.linalg.norm(R - U @ g["U_m"].T) for R, U in zip(g["R"], g["U"], strict=True)]
    return np.array(w) / sum(w), 2


def by_loops(R, seen, U):
    found = [row.copy() for row in U]
    for m, others in enumerate(seen):
        G, B = 0, 0
        for j, there in enumerate(others):
            if there:
                w = 1 / np.sqrt(np.linalg.norm(R[m, j] - found[m] @ found[j].T) ** 2 + XI)
                G, B = G + w * found[j].T @ found[j], B + w * R[m, j] @ found[j]
        if any(others):
            found[m] = np.linalg.solve(G, B.T).T
    return found


def by_least_squares(R, seen, U):
    new = np.array(U)
    for m in range(len(U)):
        js = [j for j in range(len(U)) if seen[m, j]]
        if js:
            root = [(np.sum((R[m, j] - new[m] @ new[j].T) ** 2) + XI) ** -0.25 for j in js]
            left = np.vstack([r * new[j] for r, j in zip(root, js, strict=True)])
            right = np.vstack([r * R[m, j].T for r, j in zip(root, js, strict=True)])
            new[m] = np.linalg.lstsq(left, right, rcond=None)[0].T
    return new


def one_by_one(
    R, seen, U, weigh, refit=lambda G, B: B @ np.linalg.pinv(G), at=lambda new, U: new, of=lambda new, U: new
):
    """A sweep in parts that a learner can get wrong."""
    new = U.copy()
    for m in range(len(U)):
        js = np.flatnonzero(seen[m])
        if len(js) == 0:
            continue
        others = of(new, U)
        w = [weigh(R[m, j] - at(new, U)[m] @ at(new, U)[j].T) for j in js]
        G = sum(w_j * others[j].T @ others[j] for w_j, j in zip(w, js, strict=True))
        B = sum(w_j * R[m, j] @ others[j] for w_j, j in zip(w, js, strict=True))
        new[m] = refit(G, B)
    return new


def robust(off):
    return (np.sum(off**2) + XI) ** -0.5


def sweeps(**how):
    """A function of three arguments with some parts as told."""
    return lambda g: lambda R, seen, U: one_by_one(R, seen, U, **{"weigh": robust} | how)


def in_place(R, seen, U):
    U[:] = one_by_one(R, seen, U, robust)
    return U


def without_masks(R, seen, U):
    everybody = ~np.eye(len(U), dtype=bool)
    return one_by_one(R, everybody, U, robust)


def only_the_first(R, seen, U):
    new = U.copy()
    new[0] = one_by_one(R, seen, U, robust)[0]
    return new


def everybody_refitted(R, seen, U):
    new = U.copy()
    for m in range(len(U)):
        js = np.flatnonzero(seen[m])
        w = np.array([robust(R[m, j] - new[m] @ new[j].T) for j in js])
        G, B = np.einsum("j,jab,jac->bc", w, new[js], new[js]), np.einsum("j,jab,jbc->ac", w, R[m, js], new[js])
        new[m] = B @ np.linalg.inv(G)
    return new


def columns_scaled(R, seen, U):
    new = one_by_one(R, seen, U, robust)
    return new / new.sum(axis=1, keepdims=True)


def linked(seen, l, r, m, n):
    return seen[m, r] and seen[l, r] and seen[l, n]


def tables(weigh=lambda s: s[-1] ** 2, middle=np.linalg.pinv, link=linked):
    """A function that goes through all l and r, with other weights, something else for the inverse, or other links."""

    def function(R, seen, m, n):
        estimates, weights = np.zeros(R.shape), np.zeros(seen.shape)
        for l, r in np.ndindex(seen.shape):
            if link(seen, l, r, m, n):
                weights[l, r] = weigh(np.linalg.svd(R[l, r], compute_uv=False))
                estimates[l, r] = R[m, r] @ middle(R[l, r]) @ R[l, n]
        return estimates, weights

    return lambda g: function


def by_eigenvalues(R, seen, m, n):
    """Zero where a block has no inverse: it has no weight either."""
    estimates, weights = np.zeros_like(R), np.zeros(seen.shape)
    for l, r in np.argwhere(seen):
        s = np.sqrt(np.linalg.eigvalsh(R[l, r].T @ R[l, r]).clip(0))
        if seen[m, r] and seen[l, n] and s[0] > 1e-6:
            weights[l, r] = s[0] ** 2
            estimates[l, r] = R[m, r] @ np.linalg.solve(R[l, r], R[l, n])
    return estimates, weights


def both_turned(R, seen, m, n):
    estimates, weights = tables()(None)(R, seen, m, n)
    return estimates.transpose(1, 0, 2, 3), weights.T


def shared_out(R, seen, m, n):
    estimates, weights = tables()(None)(R, seen, m, n)
    return estimates, weights / (weights.sum() or 1)


# ---- promises ----


def bounded(g, change=None):
    """Constants, and whether a bound can hold, by a line through the last two sizes; some verdicts changed."""
    times = g["errors"] * np.sqrt(g["S"])
    slopes = np.array([np.polyfit(np.log(g["S"][-2:]), np.log(row[-2:]), 1)[0] for row in g["errors"]])
    verdict = slopes < -0.4
    for low, high, value in change or ():
        verdict = np.where((slopes > low) & (slopes < high), value, verdict)
    return times, verdict.astype(int)


def constants(g, of):
    return of(bounded(g)[0]), bounded(g)[1]


def verdicts(*change):
    return lambda g: (bounded(g)[0].max(axis=1), bounded(g, change)[1])


def begin_later(g):
    """Whoever takes the curve that begins to fall later for one that the theorem forbids."""
    times, verdict = bounded(g)
    return times.max(axis=1), verdict * (times[:, 2] < 2 * times[:, 0])


def theorem_2(g, power=0.5, log=np.log, K=2, of_pairs=1.0, of_all=1.0, factor=1.0):
    """Both terms for C = 1, crowd by crowd; its arguments are where learners go wrong."""
    rows = []
    for M, n in zip(g["M"].tolist(), g["pairs"].tolist(), strict=True):
        everybody = len(list(combinations(range(M), 2)))
        summed = factor * sum((of_pairs / n + of_all / everybody) * (1 + M**0.5) / g["S"] ** 0.5 for _ in range(n))
        rows.append(((M * g["K"] ** K * log(M) / n) ** power, summed))
    return np.array(rows)


def equal_at(g):
    table = theorem_2(g)
    return g["S"] * (table[:, 1] / table[:, 0]) ** 2


def terms(**how):
    return lambda g: (theorem_2(g, **how), equal_at(g))


def kind_of(seen, garbage):
    """One group with an odd cycle if its two copies, joined crosswise, are one group."""
    if garbage.any():
        return "garbage" if garbage.sum() == 2 else "lost"
    if connected_components(seen)[0] > 1:
        return "groups"
    if connected_components(np.kron([[0, 1], [1, 0]], seen))[0] > 1:
        return "teams"
    return "dense" if seen.sum() > 20 else "sparse"


RIGHT = {"garbage": 1, "lost": 0, "groups": 0, "teams": 0, "sparse": 1, "dense": 2}


def counted(g, **instead):
    """The methods of each crowd, by its kind; of some kinds another number."""
    return [(RIGHT | instead)[kind_of(*crowd)] for crowd in zip(g["seen"], g["garbage"], strict=True)]


ANSWERS = [
    ("rate", "correct", lambda g: -np.polyfit(np.log(g["sizes"]), np.log(g["errors"]), 1)[0]),
    ("rate", "correct", lambda g: -np.polyfit(np.log10(g["sizes"]), np.log10(g["errors"]), 1)[0]),
    ("rate", "correct", slope_by_sums),
    ("rate", "correct", lambda g: [-stats.linregress(*logs(g)).slope]),
    ("rate", "correct", lambda g: round(-np.polyfit(*logs(g), 1)[0], 3)),
    ("rate", "correct", lambda g: {"b": -np.linalg.lstsq(np.vander(logs(g)[0], 2), logs(g)[1])[0][0]}),
    ("rate", "negative", lambda g: np.polyfit(*logs(g), 1)[0]),
    ("rate", "logarithm of the sizes", lambda g: np.polyfit(g["sizes"], np.log(g["errors"]), 1)[0]),
    ("rate", "logarithm of the errors", lambda g: np.polyfit(np.log(g["sizes"]), g["errors"], 1)[0]),
    ("rate", "two kinds of logarithm", lambda g: -np.polyfit(np.log(g["sizes"]), np.log10(g["errors"]), 1)[0]),
    ("rate", "swapped", lambda g: -np.polyfit(*logs(g)[::-1], 1)[0]),
    ("rate", "first and the last", through_two_points),
    ("rate", "intercept", lambda g: np.polyfit(*logs(g), 1)[1]),
    ("rate", "this is c", lambda g: np.exp(np.polyfit(*logs(g), 1)[1])),
    ("rate", "per cent", lambda g: -100 * np.polyfit(*logs(g), 1)[0]),
    ("rate", "the exponent of Theorem 1", lambda g: 0.5),
    ("rate", "too large", lambda g: 0.6),
    ("rate", "single number", lambda g: np.polyfit(*logs(g), 1)),
    ("rate", "no array of numbers", lambda g: "one half"),
    ("labels_needed", "correct", lambda g: (g["error"] / g["target"]) ** 2),
    ("labels_needed", "correct", lambda g: Fraction(12, 5) ** 2),
    ("labels_needed", "correct", lambda g: np.exp(2 * (np.log(g["error"]) - np.log(g["target"])))),
    ("labels_needed", "correct", lambda g: [5.76]),
    ("labels_needed", "square this", lambda g: g["error"] / g["target"]),
    ("labels_needed", "other way", lambda g: (g["error"] / g["target"]) ** 0.5),
    ("labels_needed", "upside down", lambda g: (g["target"] / g["error"]) ** 2),
    ("labels_needed", "number of items", lambda g: g["items"] * (g["error"] / g["target"]) ** 2),
    ("labels_needed", "additional items", lambda g: g["items"] * ((g["error"] / g["target"]) ** 2 - 1)),
    ("labels_needed", "additional ones", lambda g: (g["error"] / g["target"]) ** 2 - 1),
    ("labels_needed", "0.49", lambda g: (g["error"] / g["target"]) ** (1 / 0.49)),
    ("labels_needed", "squared twice", lambda g: (g["error"] / g["target"]) ** 4),
    ("labels_needed", "this is a difference", lambda g: g["error"] - g["target"]),
    ("labels_needed", "too large", lambda g: 10),
    ("weights", "correct", lambda g: (shares(g), 2)),
    ("weights", "correct", lambda g: (weights_by_loops(g), 2)),
    ("weights", "correct", lambda g: [pd.Series(shares(g)), np.int64(2)]),
    ("weights", "correct", lambda g: {"w": shares(g), "garbage": int(np.argmin(shares(g)))}),
    ("weights", "correct", lambda g: (shares(g, xi=0.0), 2.0)),
    ("weights", "correct", lambda g: (shares(g).round(3).tolist(), [2])),
    ("weights", "-1/2", lambda g: (shares(g, power=-1), 2)),
    ("weights", "grow with the misfit", lambda g: (shares(g, power=0.5), 2)),
    ("weights", "spectral", spectral),
    ("weights", "fit is transposed", transposed),
    ("weights", "squared before", lambda g: ((lambda w: w / w.sum())((1 / weights(g, xi=0) + XI) ** -0.5), 2)),
    ("weights", "divide by their sum", lambda g: (weights(g), 2)),
    ("weights", "not by the largest", lambda g: (weights(g) / weights(g).max(), 2)),
    ("weights", "counted from 0", lambda g: (shares(g), 3)),
    ("weights", "fits best", lambda g: (shares(g), int(np.argmax(shares(g))))),
    ("weights", "these are exponentials", lambda g: (np.exp(-1 / weights(g)), 2)),
    ("weights", "do not sum to one", lambda g: (np.ones(4) / 3, 2)),
    ("weights", "logarithms", lambda g: (np.log(shares(g)), 2)),
    ("weights", "a softmax", lambda g: ((lambda e: e / e.sum())(np.exp(-1 / weights(g))), 2)),
    ("weights", "rounded", lambda g: (shares(g).round(2), 2)),
    ("weights", "entry [", lambda g: (np.ones(4) / 4, 2)),
    ("weights", "give 2 arrays", lambda g: shares(g)),
    ("weights", "shape (4,)", lambda g: (shares(g)[:3], 2)),
    ("robust_sweep", "correct", lambda g: by_loops),
    ("robust_sweep", "correct", lambda g: by_least_squares),
    ("robust_sweep", "correct", sweeps()),
    ("robust_sweep", "correct", sweeps(weigh=lambda off: 1 / np.sqrt(np.trace(off @ off.T) + XI))),
    ("robust_sweep", "correct", sweeps(weigh=lambda off: 7 * robust(off))),  # a common factor cancels
    ("robust_sweep", "count alike", sweeps(weigh=lambda off: 1.0)),
    ("robust_sweep", "grow with the misfit", sweeps(weigh=lambda off: (np.sum(off**2) + XI) ** 0.5)),
    ("robust_sweep", "not -1", sweeps(weigh=lambda off: 1 / (np.sum(off**2) + XI))),
    ("robust_sweep", "in place before", sweeps(at=lambda new, U: U, of=lambda new, U: U)),
    ("robust_sweep", "right before its refit", sweeps(at=lambda new, U: U)),
    ("robust_sweep", "stands on the right", sweeps(refit=lambda G, B: np.linalg.pinv(G) @ B)),
    ("robust_sweep", "no say", lambda g: without_masks),
    ("robust_sweep", "take R[m, j]", lambda g: lambda R, seen, U: by_loops(R.swapaxes(2, 3), seen, U)),
    ("robust_sweep", "rises", sweeps(refit=lambda G, B: 2 * B @ np.linalg.pinv(G))),
    ("robust_sweep", "those of U_m = A_m D^1/2 do not", lambda g: columns_scaled),
    ("robust_sweep", "only the first factor", lambda g: only_the_first),
    ("robust_sweep", "not absolute values", sweeps(weigh=lambda off: (np.abs(off).sum() + XI) ** -0.5)),
    ("robust_sweep", "Singular matrix", lambda g: everybody_refitted),
    ("robust_sweep", "NaN", sweeps(weigh=lambda off: 1 / np.linalg.norm(off), refit=lambda G, B: B @ np.linalg.inv(G))),
    ("robust_sweep", "changes what it is given, U", lambda g: in_place),
    ("robust_sweep", "returns nothing", lambda g: lambda R, seen, U: None),
    ("robust_sweep", "shape (5, 3, 3)", lambda g: lambda R, seen, U: by_loops(R, seen, U)[0]),
    ("robust_sweep", "the function itself", lambda g: by_loops(**g)),
    ("robust_sweep", "TypeError", lambda g: lambda R, seen: R),
    ("links", "correct", tables()),
    ("links", "correct", lambda g: by_eigenvalues),
    ("links", "correct", lambda g: lambda *case: dict(zip("ew", by_eigenvalues(*case), strict=True))),
    ("links", "both tables are still zero", lambda g: lambda R, seen, m, n: (np.zeros(R.shape), np.zeros(seen.shape))),
    ("links", "the square of the smallest", tables(weigh=lambda s: s[-1])),
    ("links", "the last one", tables(weigh=lambda s: s[0] ** 2)),
    ("links", "all links have the same weight", tables(weigh=lambda s: 1.0)),
    ("links", "the size of the determinant", tables(weigh=lambda s: s.prod())),
    ("links", "entry [", tables(weigh=lambda s: s[-1] ** 3)),
    ("links", "not R[l, r] itself", tables(middle=lambda B: B)),
    ("links", "its transpose", tables(middle=lambda B: np.linalg.pinv(B).T)),
    ("links", "only who shares a block links", tables(link=lambda seen, l, r, m, n: seen[l, r])),
    ("links", "the tables are transposed", lambda g: both_turned),
    ("links", "R_nm", lambda g: lambda R, seen, m, n: tables()(g)(R, seen, n, m)),
    ("links", "their sum is divided by later", lambda g: shared_out),
    ("links", "Singular matrix", tables(middle=np.linalg.inv)),
    ("links", "give 2 arrays", lambda g: lambda *case: by_eigenvalues(*case)[0]),
    ("links", "shape (6, 6, 3, 3)", lambda g: lambda *case: tuple(table[:2] for table in by_eigenvalues(*case))),
    ("links", "returns nothing", lambda g: lambda R, seen, m, n: None),
    ("links", "hand in the function itself", lambda g: by_eigenvalues(**g)),
    ("at_most", "correct", lambda g: (bounded(g)[0].max(axis=1), bounded(g)[1])),
    ("at_most", "correct", lambda g: {"allowed": bounded(g)[1] > 0, "c": np.round(bounded(g)[0].max(axis=1), 2)}),
    ("at_most", "correct", lambda g: constants(g, lambda times: [max(row) for row in times])),
    ("at_most", "the product at the last size", lambda g: constants(g, lambda times: times[:, -1])),
    ("at_most", "the product at the first size", lambda g: constants(g, lambda times: times[:, 0])),
    ("at_most", "the smallest product", lambda g: constants(g, lambda times: times.min(axis=1))),
    ("at_most", "the mean of the products", lambda g: constants(g, lambda times: times.mean(axis=1))),
    ("at_most", "these are the largest errors", lambda g: (g["errors"].max(axis=1), bounded(g)[1])),
    ("at_most", "take its root", lambda g: ((g["errors"] * g["S"]).max(axis=1), bounded(g)[1])),
    ("at_most", "multiply", lambda g: ((g["errors"] / g["S"] ** 0.5).max(axis=1), bounded(g)[1])),
    ("at_most", "falls faster than", verdicts((-9, -0.65, 0))),
    ("at_most", "begins to fall later", begin_later),
    ("at_most", "comes to rest above zero", verdicts((-0.15, 9, 1))),
    ("at_most", "the fourth root", verdicts((-0.35, -0.15, 1))),
    ("at_most", "no constant is large enough", verdicts((-9, 9, 1))),
    ("at_most", "the other way round", lambda g: (bounded(g)[0].max(axis=1), 1 - bounded(g)[1])),
    ("at_most", "give 2 arrays", lambda g: bounded(g)[1]),
    ("two_terms", "correct", terms()),
    ("two_terms", "correct", lambda g: {"S": equal_at(g), "terms": theorem_2(g).tolist()}),
    ("two_terms", "correct", lambda g: (pd.DataFrame(theorem_2(g)), equal_at(g).round(1))),
    ("two_terms", "1/L is missing", terms(of_all=0.0)),
    ("two_terms", "1/|Omega| is missing", terms(of_pairs=0.0)),
    ("two_terms", "has |Omega| equal terms", lambda g: (theorem_2(g) / [[1, n] for n in g["pairs"]], equal_at(g))),
    ("two_terms", "take the root in the first", terms(power=1.0)),
    ("two_terms", "the natural one", terms(log=np.log10)),
    ("two_terms", "K is squared", terms(K=1)),
    ("two_terms", "has the root of S", lambda g: (theorem_2(g) / [1, g["S"] ** 0.5], equal_at(g))),
    ("two_terms", "swap the columns", lambda g: (theorem_2(g)[:, ::-1], equal_at(g))),
    ("two_terms", "transposed", lambda g: (theorem_2(g).T, equal_at(g))),
    ("two_terms", "by which S has to be multiplied", lambda g: (theorem_2(g), equal_at(g) / g["S"])),
    ("two_terms", "square the ratio", lambda g: (theorem_2(g), (equal_at(g) * g["S"]) ** 0.5)),
    ("two_terms", "the root of S: square it", lambda g: (theorem_2(g), equal_at(g) ** 0.5)),
    ("two_terms", "upside down", lambda g: (theorem_2(g), g["S"] ** 2 / equal_at(g))),
    ("two_terms", "is too", terms(factor=3.0)),
    ("two_terms", "give 2 arrays", lambda g: [*equal_at(g), 0.0]),
    ("more_labels", "correct", counted),
    ("more_labels", "correct", lambda g: np.array(counted(g), dtype=float)),
    ("more_labels", "correct", lambda g: pd.Series(counted(g), index=list("abcdef"))),
    ("more_labels", "no link reaches", lambda g: counted(g, sparse=2)),
    ("more_labels", "needs no links", lambda g: counted(g, sparse=0)),
    ("more_labels", "spoils designated", lambda g: counted(g, garbage=2)),
    ("more_labels", "leaves out a single", lambda g: counted(g, garbage=0)),
    ("more_labels", "two teams", lambda g: counted(g, teams=1)),
    ("more_labels", "two groups", lambda g: counted(g, groups=1)),
    ("more_labels", "known to no method", lambda g: counted(g, lost=1)),
    ("more_labels", "has its limits", lambda g: [max(n, 1) for n in counted(g)]),
    ("more_labels", "do not come to the truth", lambda g: [2 - n for n in counted(g)]),
    ("more_labels", "look at each picture", lambda g: [2] * 6),
    ("more_labels", "is too small", lambda g: [0] * 6),
    ("more_labels", "shape (6,)", lambda g: counted(g)[:5]),
    ("more_labels", "no array of numbers", lambda g: list("abcdef")),
]
