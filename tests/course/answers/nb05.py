"""Answers to the exercises of notebook 05: exercise, what the reply says, and the answer made from what is given."""

from itertools import permutations

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from scipy.special import softmax

from cofactor import plain


def step(g):
    slopes = [sum(X_n * (g["X"] @ g["c"] - g["x"])) for X_n in g["X"].T]
    return [c / 2 + (n == np.argmin(slopes)) / 2 for n, c in enumerate(g["c"])]


def moved(pick, alpha=0.5, shrink=1.0):
    """A step to the column that `pick` takes of the gradient, of another length."""

    def answer(g):
        gradient = g["X"].T @ (g["X"] @ g["c"] - g["x"])
        return (1 - shrink * alpha) * g["c"] + alpha * np.eye(6)[pick(g, gradient)]

    return answer


def least(g, gradient):
    return gradient.argmin()


def nearest(g, gradient):
    return np.linalg.norm(g["X"] - g["x"][:, None], axis=0).argmin()


def penalty(g):
    return [[np.exp(c / g["mu"]) / sum(np.exp(row / g["mu"])) for c in row] for row in g["C"]]


def by_loops(X, R, t):
    """Thin step, column by column."""
    picks, after = [], []
    for r, x in zip(R.T, X.T, strict=True):
        best = min(range(X.shape[1]), key=lambda n: X[:, n] @ r)
        picks.append(best)
        after.append([t / (t + 2) * a + 2 / (t + 2) * (b - c) for a, b, c in zip(r, X[:, best], x, strict=True)])
    return picks, np.transpose(after)


def by_matrices(X, R, t):
    """Thin step with E written down, by einsum."""
    scores = np.einsum("mn,ml->nl", X, R)
    E = (np.arange(X.shape[1])[:, None] == scores.argmin(0)).astype(float)
    return {"j": scores.argmin(0), "R": R + 2 / (2 + t) * (X @ E - X - R)}


def in_tiles(X, R, t):
    halves = np.array_split(np.arange(X.shape[1]), min(2, X.shape[1]))
    picks = np.concatenate([np.argsort(X.T @ R[:, half], axis=0, kind="stable")[0] for half in halves])
    return [picks.tolist(), (R * t + 2 * X[:, picks] - 2 * X) / (t + 2)]


def in_place(X, R, t):
    j = (X.T @ R).argmin(axis=0)
    R += 2 / (t + 2) * (X[:, j] - X - R)
    return j, R


def thin(score=lambda X, R: X.T @ R, axis=0, alpha=lambda t: 2 / (t + 2), own=1.0, shrink=1.0):
    """A thin step, wrong in one way."""

    def step(X, R, t):
        j = score(X, R).argmin(axis=axis)
        return j, (1 - shrink * alpha(t)) * R + alpha(t) * (X[:, j] - own * X)

    return lambda g: step


def picked(g, steps=4000):
    """The columns that Frank-Wolfe picks for any target, in many steps."""
    X, seen = g["X"], np.zeros(12)
    C = np.zeros((12, 12))
    for t in range(steps):
        R = X @ C - X
        j = (X.T @ R).argmin(axis=0)
        seen[j[np.linalg.norm(R, axis=0) > 1e-9]] = 1
        C += 2 / (t + 2) * (np.eye(12)[:, j] - C)
    return seen


def corners(g):
    """The corners of the hull, by lines through two points that have all others on one side."""
    X, found = g["X"].T, np.zeros(12)
    for a, b in permutations(range(12), 2):
        across = (X[b] - X[a]) @ [[0, -1], [1, 0]]
        if ((X - X[a]) @ across >= -1e-9).all():
            found[[a, b]] = 1
    return found


def filled(who=corners, here=lambda g, n: 12 * n, there=lambda g, n: g["N there"] * g["T"]):
    def answer(g):
        n = corners(g).sum()
        return who(g), here(g, n), there(g, n)

    return answer


def some(columns):
    return lambda g: [float(n in columns(g)) for n in range(12)]


def noise(d=lambda H: H[H < 1].max(), sigma=lambda W: np.linalg.norm(W, 2), longest=max, four=4.0):
    def answer(g):
        gamma = longest(np.sqrt(np.sum(g["W"] ** 2, axis=0)))
        room = g["nu"] * g["eta"] * (1 - d(g["H"])) / (four * sigma(g["W"]))
        allowed = room / (np.sqrt(gamma**2 + room) + gamma)
        return allowed, 10 * np.log10(g["delta"] ** 2 / allowed**2) if allowed else 0

    return answer


def quieter(decibels):
    return lambda g: (noise()(g)[0], decibels(g["delta"] / noise()(g)[0]))


def squares_left(Y, others):
    return np.sum((Y - others @ plain.mixtures(others, Y)) ** 2, axis=0)


def looked_at(g):
    kinds = []
    for X, lam, anchors in zip(g["X"], g["lam"], g["anchors"], strict=True):
        mixtures = max(squares_left(np.delete(X, anchors, axis=1), X[:, anchors]))
        pure = [squares_left(X[:, [k]], np.delete(X, k, axis=1))[0] for k in anchors]
        beside, other = (np.sort(cdist(X[:, anchors].T, Y.T))[:, 1] for Y in (X, X[:, anchors]))
        near = min(beside / other)
        by_price = 5 if lam < mixtures else 6 if lam > max(pure) else 1
        kinds.append(4 if near == 0 else 3 if near < 1 / 3 else 2 if mixtures > min(pure) else by_price)
    return kinds


def taken_for(right, told):
    return lambda g: [told if kind == right else kind for kind in looked_at(g)]


ANSWERS = [
    ("step", "correct", step),
    ("step", "correct", moved(least)),
    ("step", "correct", lambda g: pd.Series(step(g)).round(4)),
    ("step", "correct", lambda g: np.array([[1.0, 3.0, 2.0, 0.0, 0.0, 0.0]]) / 6),
    ("step", "uphill", moved(lambda g, gradient: gradient.argmax())),
    ("step", "nearest", moved(nearest)),
    ("step", "the length is not", moved(least, 2 / 3)),
    ("step", "not 1 / (t + 1)", moved(least, 1 / 3)),
    ("step", "all the way", moved(least, 1.0)),
    ("step", "sum to more than one", moved(least, shrink=0.0)),
    ("step", "the weights before the step", lambda g: g["c"]),
    ("step", "entry [", moved(least, 0.4)),
    ("step", "do not sum to one", lambda g: 0.5 * g["c"]),
    ("step", "negative", lambda g: g["c"] - 0.5 * g["X"].T @ (g["X"] @ g["c"] - g["x"])),
    ("step", "expected an array of shape (6,)", lambda g: g["X"] @ g["c"]),
    ("thin_step", "correct", lambda g: by_loops),
    ("thin_step", "correct", lambda g: by_matrices),
    ("thin_step", "correct", lambda g: in_tiles),
    ("thin_step", "uphill", thin(lambda X, R: -X.T @ R)),
    ("thin_step", "one pick for every point", thin(axis=1)),
    ("thin_step", "the point itself has to come off", thin(own=0.0)),
    ("thin_step", "not shrunk", thin(shrink=0.0)),
    ("thin_step", "not 2 / (t + 1)", thin(alpha=lambda t: 2 / (t + 1))),
    ("thin_step", "not 1 / (t + 1)", thin(alpha=lambda t: 1 / (t + 1))),
    ("thin_step", "changes what it is given, R", lambda g: in_place),
    ("thin_step", "these are the residuals before the step", lambda g: lambda X, R, t: ((X.T @ R).argmin(axis=0), R)),
    ("thin_step", "not 2 / (t + 3)", thin(alpha=lambda t: 2 / (t + 3))),
    ("thin_step", "furthest below zero", thin(lambda X, R: np.abs(X.T @ R))),
    ("thin_step", "give 2 arrays", lambda g: lambda X, R, t: R),
    ("thin_step", "j: expected an array of shape (5,)", lambda g: lambda X, R, t: (R, (X.T @ R).argmin(axis=0))),
    ("thin_step", "on the example, your function stops with", lambda g: lambda X, R: R),
    ("bytes", "correct", lambda g: (12 * 20_000 * 50 / 10**6, 8 * 20_000**2 / 10**6)),
    ("bytes", "correct", lambda g: np.array([12, 3200])),
    ("bytes", "correct", lambda g: {"dense": 3200, "lists": 12}),
    ("bytes", "one entry per anchor", lambda g: (9.6, 3200)),
    ("bytes", "also stores its row", lambda g: (8, 3200)),
    ("bytes", "4 bytes here, not 8", lambda g: (16, 3200)),
    ("bytes", "lists: not yet: this is in GB", lambda g: (0.012, 3.2)),
    ("bytes", "dense: not yet: this is in GB", lambda g: (12, 3.2)),
    ("bytes", "this is in bytes", lambda g: [12e6, 3.2e9]),
    ("bytes", "this is in MiB", lambda g: (12e6 / 2**20, 3.2e9 / 2**20)),
    ("bytes", "what one step adds", lambda g: (0.24, 3200)),
    ("bytes", "where an entry stands", lambda g: (12, 4800)),
    ("bytes", "K x N", lambda g: (12, 6.4)),
    ("bytes", "not 4", lambda g: (12, 1600)),
    ("bytes", "whatever the number of anchors", lambda g: (480, 3200)),
    ("bytes", "give 2 arrays or numbers", lambda g: 12),
    ("penalty", "correct", penalty),
    ("penalty", "correct", lambda g: pd.DataFrame(softmax(g["C"] / g["mu"], axis=1)).round(4)),
    ("penalty", "correct", lambda g: np.exp(g["C"] / g["mu"] - np.log(np.exp(g["C"] * 10).sum(1, keepdims=True)))),
    ("penalty", "down the columns", lambda g: softmax(g["C"] / g["mu"], axis=0)),
    ("penalty", "mu is missing", lambda g: softmax(g["C"], axis=1)),
    ("penalty", "a sum of its own", lambda g: softmax(g["C"] / g["mu"])),
    ("penalty", "divides by the mean", lambda g: 4 * softmax(g["C"] / g["mu"], axis=1)),
    ("penalty", "has to be divided by its sum", lambda g: np.exp((g["C"] - g["C"].max(1, keepdims=True)) / g["mu"])),
    ("penalty", "take the maximum off", lambda g: np.exp(g["C"] / g["mu"])),
    ("penalty", "cancel", lambda g: softmax(g["C"] / g["mu"], axis=1) / g["mu"]),
    ("penalty", "transposed", lambda g: np.transpose(penalty(g))),
    ("penalty", "the slope of the maximum itself", lambda g: np.eye(4)[g["C"].argmax(axis=1)]),
    ("penalty", "the rows do not sum to one", lambda g: g["C"]),
    ("touched", "correct", filled()),
    ("touched", "correct", filled(picked)),
    ("touched", "correct", lambda g: dict(zip(("there", "here", "touched"), filled()(g)[::-1], strict=True))),
    ("touched", "touched: not yet: these are the anchors", filled(some(lambda g: g["anchors"]))),
    ("touched", "as SPA would take them",
     filled(some(lambda g: np.argsort(-np.linalg.norm(g["X"], axis=0))[: int(corners(g).sum())]))),
    ("touched", "a column within the cloud", filled(lambda g: np.ones(12))),
    ("touched", "that are never picked", filled(lambda g: 1 - corners(g))),
    ("touched", "touched: not yet: entry [0]", filled(lambda g: np.where(np.arange(12) == 0, 0, corners(g)))),
    ("touched", "than there are columns that are picked", filled(here=lambda g, n: 12 * g["T"])),
    ("touched", "rows of columns that are never picked", filled(here=lambda g, n: 144)),
    ("touched", "one anchor each", filled(here=lambda g, n: 36)),
    ("touched", "every one of the 12 columns", filled(here=lambda g, n: n)),
    ("touched", "a step adds one entry", filled(there=lambda g, n: g["N there"] ** 2)),
    ("touched", "the steps are the limit", filled(there=lambda g, n: g["N there"] * n)),
    ("touched", "there: not yet: this is one column", filled(there=lambda g, n: g["T"])),
    ("touched", "each has up to T entries", filled(there=lambda g, n: g["N there"])),
    ("touched", "expected an array of shape (12,)", filled(lambda g: np.flatnonzero(corners(g)))),
    ("touched", "give 3 arrays or numbers", corners),
    ("allowed_noise", "correct", noise()),
    ("allowed_noise", "correct", lambda g: noise(lambda H: np.sort(H, axis=None)[-4])(g)),
    ("allowed_noise", "correct", lambda g: {"decibels": noise()(g)[1], "allowed": noise()(g)[0]}),
    ("allowed_noise", "the noise that there is", lambda g: (g["delta"], noise()(g)[1])),
    ("allowed_noise", "in a column that is no anchor", noise(np.max)),
    ("allowed_noise", "not its Frobenius norm", noise(sigma=np.linalg.norm)),
    ("allowed_noise", "with the least singular value", noise(sigma=lambda W: np.linalg.svd(W)[1][-1])),
    ("allowed_noise", "not the shortest", noise(longest=min)),
    ("allowed_noise", "the 4 under the fraction", noise(four=1.0)),
    ("allowed_noise", "in the place of 1 - d(H)", noise(lambda H: 1 - H[H < 1].max())),
    ("allowed_noise", "taken off the root",
     lambda g: (noise()(g)[0] + np.linalg.norm(g["W"], axis=0).max(), noise()(g)[1])),
    ("allowed_noise", "beside gamma^2", lambda g: (
        noise()(g)[0] * (noise()(g)[0] + 2 * np.linalg.norm(g["W"], axis=0).max()), noise()(g)[1])),
    ("allowed_noise", "decibels are of squares", quieter(lambda times: 10 * np.log10(times))),
    ("allowed_noise", "how many times as long", quieter(lambda times: times)),
    ("allowed_noise", "not the natural logarithm", quieter(lambda times: 20 * np.log(times))),
    ("allowed_noise", "this is log10 alone", quieter(np.log10)),
    ("allowed_noise", "decibels: not yet: the sign is wrong", quieter(lambda times: -20 * np.log10(times))),
    ("allowed_noise", "give 2 arrays or numbers", lambda g: noise()(g)[0]),
    ("remedies", "correct", looked_at),
    ("remedies", "correct", lambda g: dict(zip("ABCDEF", looked_at(g), strict=True))),
    ("remedies", "there is room for a price", taken_for(1, 2)),
    ("remedies", "that is no copy", taken_for(1, 3)),
    ("remedies", "no two columns are equal", taken_for(1, 4)),
    ("remedies", "the price is above what any mixture", taken_for(1, 5)),
    ("remedies", "the price is below what every anchor", taken_for(1, 6)),
    ("remedies", "no price lies between", taken_for(2, 1)),
    ("remedies", "that is no copy", taken_for(2, 3)),
    ("remedies", "no two columns are equal", taken_for(2, 4)),
    ("remedies", "a higher price does not lie", taken_for(2, 5)),
    ("remedies", "a lower price does not lie", taken_for(2, 6)),
    ("remedies", "which column explains it so well", taken_for(3, 1)),
    ("remedies", "beside each anchor is a copy", taken_for(3, 2)),
    ("remedies", "so nothing is merged", taken_for(3, 4)),
    ("remedies", "a higher price loses both", taken_for(3, 5)),
    ("remedies", "does not tell it from its copy", taken_for(3, 6)),
    ("remedies", "some column is equal to it", taken_for(4, 1)),
    ("remedies", "and not only near", taken_for(4, 2)),
    ("remedies", "rounding decides between them", taken_for(4, 3)),
    ("remedies", "no price is too low", taken_for(4, 5)),
    ("remedies", "every price is too high", taken_for(4, 6)),
    ("remedies", "costs them nearly nothing", taken_for(5, 1)),
    ("remedies", "a price fits between", taken_for(5, 2)),
    ("remedies", "that is no copy", taken_for(5, 3)),
    ("remedies", "no two columns are equal", taken_for(5, 4)),
    ("remedies", "far below what anchors save", taken_for(5, 6)),
    ("remedies", "none is worth it", taken_for(6, 1)),
    ("remedies", "a price fits between", taken_for(6, 2)),
    ("remedies", "that is no copy", taken_for(6, 3)),
    ("remedies", "no two columns are equal", taken_for(6, 4)),
    ("remedies", "far above what mixtures save", taken_for(6, 5)),
    ("remedies", "give 6 arrays or numbers", lambda g: looked_at(g)[:5]),
]  # fmt: skip
