"""Answers to the exercises of notebook 09: exercise, what the reply says, and the answer made from what is given."""

import numpy as np
import pandas as pd
from scipy.linalg import qr
from scipy.spatial.distance import cdist
from scipy.stats import kendalltau, pearsonr, rankdata, spearmanr

from cofactor import plain


def word_pairs(g):
    together = [[sum(F_d[i] * F_d[j] for F_d in g["F"]) for j in range(4)] for i in range(4)]
    return np.array(together) / [sum(row[j] for row in together) for j in range(4)]


def by_diagonal(g):
    P = np.einsum("di,dj->ij", g["F"], g["F"]) / 5
    return P @ np.diag(1 / (P @ np.ones(4)))


def coherent(g):
    documents = [{word for word in range(3) if row[word]} for row in g["counts"]]
    pairs = [(0, 1), (0, 2), (1, 2)]
    return sum(
        2 * np.log((sum({a, b} <= d for d in documents) + 0.01) / sum(a in d for d in documents)) for a, b in pairs
    )


def coherence_of(meet, add=0.01, log=np.log, first=0, factor=2.0):
    """The formula for a table of meetings, wrong where something else is given."""
    pairs = [(0, 1), (0, 2), (1, 2)]
    return factor * sum(log((meet[pair] + add) / meet[pair[first], pair[first]]) for pair in pairs)


def present(g):
    return (g["counts"] > 0).T.astype(float) @ (g["counts"] > 0)


def membership(g):
    weights = np.maximum(g["V"] @ np.linalg.inv(g["V"][g["pure"]]), 0)
    return [row / sum(row) for row in weights]


def raw(g):
    return np.linalg.lstsq(g["V"][g["pure"]].T, g["V"].T, rcond=None)[0].T


def rows(array):
    return array / array.sum(axis=1, keepdims=True)


def by_squares(X, n_anchors):
    """Projection that keeps squared lengths only, by Gram-Schmidt."""
    squares, basis = (X**2).sum(axis=0), []
    chosen = []
    for _ in range(n_anchors):
        k = int(np.argmax(squares))
        chosen.append(k)
        u = X[:, k] - sum((v * (v @ X[:, k]) for v in basis), np.zeros(len(X)))
        basis.append(u / np.linalg.norm(u))
        squares = squares - (basis[-1] @ X) ** 2
    return chosen


def by_pivots(X, n_anchors):
    """Projection is QR with column pivoting."""
    return qr(X, mode="r", pivoting=True)[1][:n_anchors]


def by_projectors(X, n_anchors):
    chosen, keep = [], np.eye(len(X))
    while len(chosen) < n_anchors:
        rest = keep @ X
        chosen += [max(range(X.shape[1]), key=lambda n: np.linalg.norm(rest[:, n]))]
        r = rest[:, chosen[-1] : chosen[-1] + 1]
        keep = keep - r @ r.T / (r.T @ r)
    return tuple(chosen)


def greedy(clear, order=2, first=0):
    """Projection that is wrong in one way; `clear` gets what is left and its longest column."""

    def projection(X, n_anchors):
        R, chosen = X.copy(), []
        for _ in range(n_anchors):
            chosen.append(int(np.linalg.norm(R, ord=order, axis=0).argmax()))
            R = clear(R, R[:, [chosen[-1]]])
        return [k + first for k in chosen]

    return lambda g: projection


def away(R, r):
    return R - r @ (r.T @ R) / (r.T @ r)


def in_place(X, n_anchors):
    chosen = []
    for _ in range(n_anchors):
        chosen.append(int((X**2).sum(axis=0).argmax()))
        u = X[:, chosen[-1]] / np.linalg.norm(X[:, chosen[-1]])
        X -= np.outer(u, u @ X)
    return chosen


# ---- the cost of a table ----


def costs(g, bytes_of_table=8, vectors=2, entry=12, of_words_only=False):
    table = [bytes_of_table * n * n / 1e9 for n in g["N"].tolist()]
    numbers = [vectors * K * (N + D * (not of_words_only)) for D, N, K in zip(g["D"], g["N"], g["K"], strict=True)]
    held = [(entry * z + 8 * n) / 1e9 for z, n in zip(g["z"], numbers, strict=True)]
    return table, held, [int(2 * z * 2 * K < z * (z / D)) for D, z, K in zip(g["D"], g["z"], g["K"], strict=True)]


def costs_with(g, table=None, fewer=None):
    right = costs(g)
    return (right[0] if table is None else table), right[1], (right[2] if fewer is None else fewer)


# ---- contests, ranks, lonely corners ----


def contest(g, ddof=1, paired=True):
    """Difference, standard error and verdict, row by row."""
    found = []
    for one, two in zip(g["first"], g["second"], strict=True):
        d = [b - a for a, b in zip(one, two, strict=True)]
        mean = sum(d) / 30
        variance = np.var(d, ddof=ddof) if paired else np.var(one, ddof=ddof) + np.var(two, ddof=ddof)
        error = (variance / 30) ** 0.5
        found.append((mean, error, (abs(mean) > 2 * error) * (1 if mean > 0 else -1)))
    return [list(column) for column in zip(*found, strict=True)]


def contest_with(g, difference=None, error=None, ahead=None):
    right = map(np.array, contest(g))
    return [
        value if change is None else change(value)
        for value, change in zip(right, (difference, error, ahead), strict=True)
    ]


def ways(g, low=0.0, scale=True):
    """Three ways to make shares of the first community."""
    found = []
    for cut in (np.clip(g["raw"], low, None), np.clip(g["raw"], 2.2e-16, None)):
        found.append((rows(cut) if scale else cut)[:, 0])
    return [*found, (g["raw"].argmax(axis=1) == 0) * 1.0]


def ranks(g, correlate=spearmanr, **how):
    return [correlate(g["truth"], way)[0] for way in ways(g, **how)]


def by_places(a, b):
    return pearsonr(rankdata(a, "ordinal"), rankdata(b, "ordinal"))


def nearest(g, place=1, among=None):
    """Distances of SPA's corners to the column at a place, of all columns or of some."""
    found = []
    for X in g["clouds"]:
        corners = plain.spa(X, 3)
        others = X.T if among is None else X.T[corners]
        found.append(np.sort(cdist(X.T[corners], others), axis=1)[:, place])
    return np.array(found)


def trouble(g):
    return [1 if row.min() == 0 else 2 if row.max() > 0.1 else 0 for row in nearest(g)]


def lonely(g, near=None, wrong=None):
    return (nearest(g) if near is None else near), (trouble(g) if wrong is None else wrong)


ANSWERS = [
    ("word_pairs", "correct", word_pairs),
    ("word_pairs", "correct", by_diagonal),
    ("word_pairs", "correct", lambda g: pd.DataFrame(word_pairs(g)).round(5)),
    ("word_pairs", "these are the co-occurrences P", lambda g: g["F"].T @ g["F"] / 5),
    ("word_pairs", "these are D P", lambda g: g["F"].T @ g["F"]),
    ("word_pairs", "here the rows sum to one", lambda g: rows(g["F"].T @ g["F"])),
    ("word_pairs", "length one", lambda g: g["F"].T @ g["F"] / np.linalg.norm(g["F"].T @ g["F"], axis=0)),
    ("word_pairs", "not all by the total", lambda g: g["F"].T @ g["F"] / (g["F"].T @ g["F"]).sum()),
    ("word_pairs", "here the rows sum to one", lambda g: word_pairs(g).T),
    ("word_pairs", "expected an array of shape (4, 4)", lambda g: g["F"] @ g["F"].T),
    ("word_pairs", "the columns do not sum to one", lambda g: np.corrcoef(g["F"].T) ** 2),
    ("word_pairs", "entry [", lambda g: (g["F"] ** 2).T @ g["F"] / ((g["F"] ** 2).T @ g["F"]).sum(axis=0)),
    ("projection", "correct", lambda g: by_squares),
    ("projection", "correct", lambda g: by_pivots),
    ("projection", "correct", lambda g: by_projectors),
    ("projection", "correct", greedy(away)),
    ("projection", "longest columns of X", greedy(lambda R, r: R * ~np.isclose(R, r).all(axis=0))),
    ("projection", "divide by the norm", greedy(lambda R, r: R - r @ (r.T @ R))),
    ("projection", "throws the rest away", greedy(lambda R, r: r @ (r.T @ R) / (r.T @ r))),
    ("projection", "subtracts the corner", greedy(lambda R, r: R - r)),
    ("projection", "length is Euclidean", greedy(away, order=1)),
    ("projection", "in the order in which they are chosen", lambda g: lambda X, n: sorted(by_squares(X, n))),
    ("projection", "counts columns from zero", greedy(away, first=1)),
    ("projection", "changes what it is given, X", lambda g: in_place),
    ("projection", "a column is chosen twice", greedy(lambda R, r: R - 0.1 * r @ (r.T @ R) / (r.T @ r))),
    ("projection", "on the example, anchors: entry [0]", greedy(away, order=-np.inf)),
    ("projection", "expected an array of shape (3,)", lambda g: lambda X, n: X[:, by_squares(X, n)]),
    ("projection", "on the example, your function stops with", lambda g: lambda X: by_squares(X, 3)),
    ("coherent", "correct", coherent),
    ("coherent", "correct", lambda g: round(coherence_of(present(g)), 3)),
    ("coherent", "correct", lambda g: [coherence_of(present(g))]),
    ("coherent", "the factor 2 is missing", lambda g: coherence_of(present(g), factor=1)),
    ("coherent", "heavier word", lambda g: coherence_of(present(g), first=1)),
    (
        "coherent",
        "the log of zero",
        lambda g: coherence_of(present(g), add=0, log=lambda x: np.log(x) if x > 0 else -np.inf),
    ),
    ("coherent", "not 1", lambda g: coherence_of(present(g), add=1)),
    ("coherent", "the mean over pairs", lambda g: coherence_of(present(g), factor=2 / 3)),
    ("coherent", "to the base e", lambda g: coherence_of(present(g), log=np.log10)),
    ("coherent", "not np.log2", lambda g: coherence_of(present(g), log=np.log2)),
    ("coherent", "not how often", lambda g: coherence_of(g["counts"].T @ g["counts"])),
    ("coherent", "every pair once", lambda g: sum(coherence_of(present(g), first=i, factor=1) for i in (0, 1))),
    ("coherent", "the sign is wrong", lambda g: -coherent(g)),
    ("coherent", "is too", lambda g: coherence_of(present(g), log=lambda x: x)),
    ("membership", "correct", membership),
    ("membership", "correct", lambda g: rows(raw(g).clip(0))),
    ("membership", "correct", lambda g: pd.DataFrame(membership(g)).round(4)),
    ("membership", "set negative ones to zero, and divide", raw),
    ("membership", "rows do not sum to one yet", lambda g: raw(g).clip(0)),
    ("membership", "cut at zero first", lambda g: rows(raw(g)).clip(0)),
    ("membership", "before you divide", lambda g: rows(raw(g))),
    ("membership", "no abs", lambda g: rows(np.abs(raw(g)))),
    ("membership", "V = Theta V_pure", lambda g: rows((g["V"] @ np.linalg.inv(g["V"][g["pure"]].T)).clip(0))),
    ("membership", "not columns", lambda g: raw(g).clip(0) / raw(g).clip(0).sum(axis=0)),
    ("membership", "expected an array of shape (6, 3)", lambda g: raw(g)[3:]),
    ("membership", "to one community; shares", lambda g: np.eye(3)[raw(g).argmax(axis=1)]),
    ("membership", "the rows do not sum to one", lambda g: raw(g).clip(0) ** 2),
    ("contests", "correct", contest),
    ("contests", "correct", lambda g: dict(zip(("difference", "standard error", "ahead"), contest(g), strict=True))),
    ("contests", "the other way round", lambda g: contest_with(g, difference=lambda d: -d)),
    ("contests", "take the mean", lambda g: contest_with(g, difference=lambda d: 30 * d)),
    ("contests", "no abs", lambda g: (np.abs(g["second"] - g["first"]).mean(axis=1), *contest(g)[1:])),
    ("contests", "the median", lambda g: (np.median(g["second"] - g["first"], axis=1), *contest(g)[1:])),
    ("contests", "per cent", lambda g: contest_with(g, difference=lambda d: 100 * d)),
    ("contests", "the spread of the difference", lambda g: (contest(g)[0], *contest(g, paired=False)[1:])),
    ("contests", "the spread of one trial", lambda g: contest_with(g, error=lambda s: s * 30**0.5)),
    ("contests", "not by the number", lambda g: contest_with(g, error=lambda s: s / 30**0.5)),
    ("contests", "take its root", lambda g: contest_with(g, error=lambda s: s**2)),
    ("contests", "give one", lambda g: contest_with(g, error=lambda s: 2 * s)),
    ("contests", "ddof=1", lambda g: contest(g, ddof=0)),
    ("contests", "may be chance", lambda g: (*contest(g)[:2], np.sign(contest(g)[0]))),
    (
        "contests",
        "3 points may be noise",
        lambda g: (*contest(g)[:2], np.trunc(np.array(contest(g)[0]) / 0.02).clip(-1, 1)),
    ),
    ("contests", "each method alone", lambda g: (*contest(g)[:2], contest(g, paired=False)[2])),
    ("contests", "-1 where the first is", lambda g: contest_with(g, ahead=lambda a: -a)),
    ("contests", "give 3 arrays", lambda g: contest(g)[:2]),
    ("ranks", "correct", ranks),
    ("ranks", "correct", lambda g: np.round(ranks(g), 4)),
    ("ranks", "correct", lambda g: [np.corrcoef(rankdata(g["truth"]), rankdata(way))[0, 1] for way in ways(g)]),
    ("ranks", "correlate their ranks", lambda g: ranks(g, pearsonr)),
    ("ranks", "equal shares have equal ranks", lambda g: ranks(g, by_places)),
    ("ranks", "scale the rows", lambda g: ranks(g, scale=False)),
    ("ranks", "zero in the place of", lambda g: ranks(g, low=2.2e-16)),
    ("ranks", "another order", lambda g: ranks(g)[::-1]),
    ("ranks", "per cent", lambda g: 100 * np.array(ranks(g))),
    ("ranks", "the sign is wrong", lambda g: [-value for value in ranks(g)]),
    ("ranks", "furthest off", lambda g: ranks(g, kendalltau)),
    ("ranks", "expected an array of shape (3,)", lambda g: ranks(g)[:2]),
    ("ranks", "NaN", lambda g: [np.nan, *ranks(g)[1:]]),
    ("lonely", "correct", lonely),
    ("lonely", "correct", lambda g: {"trouble": trouble(g), "nearest": nearest(g).round(5)}),
    ("lonely", "leave it out", lambda g: lonely(g, nearest(g, place=0))),
    ("lonely", "take the root", lambda g: lonely(g, nearest(g) ** 2)),
    ("lonely", "nearest among the corners", lambda g: lonely(g, nearest(g, among="corners"))),
    ("lonely", "asked are the nearest", lambda g: lonely(g, nearest(g, place=-1))),
    ("lonely", "one of two columns that are equal", lambda g: lonely(g, None, 2 * (nearest(g).max(axis=1) > 0.1))),
    ("lonely", "corners that are alone, too", lambda g: lonely(g, None, nearest(g).min(axis=1) == 0)),
    ("lonely", "1 for twins", lambda g: lonely(g, None, [(3 - t) % 3 for t in trouble(g)])),
    ("lonely", "one corner of three", lambda g: lonely(g, None, [0, 0, 0, 0])),
    ("lonely", "expected an array of shape (4, 3)", lambda g: lonely(g, nearest(g).T)),
    ("lonely", "give 2 arrays", nearest),
    ("lonely", "no array of numbers", lambda g: lonely(g, None, ["twin", "fine", "alone", "fine"])),
    ("products", "correct", costs),
    ("products", "correct", lambda g: [np.round(part, 5) for part in costs(g)]),
    ("products", "takes 8 bytes", lambda g: costs(g, bytes_of_table=1)),
    ("products", "documents by words", lambda g: costs_with(g, 8e-9 * g["D"] * g["N"])),
    ("products", "give GB", lambda g: costs(g, bytes_of_table=8e9)),
    ("products", "N * N numbers", lambda g: costs_with(g, costs(g)[1])),
    ("products", "the documents alone", lambda g: costs(g, vectors=0)),
    ("products", "not K", lambda g: costs(g, vectors=1)),
    ("products", "both are held", lambda g: costs(g, of_words_only=True)),
    (
        "products",
        "F is sparse",
        lambda g: (costs(g)[0], 8e-9 * (g["D"] * g["N"] + 2 * g["K"] * (g["D"] + g["N"])), costs(g)[2]),
    ),
    ("products", "memory is saved in all four", lambda g: costs_with(g, fewer=[1] * 4)),
    ("products", "the other way round", lambda g: costs_with(g, fewer=[1 - one for one in costs(g)[2]])),
    ("products", "two products with each", lambda g: costs_with(g, fewer=g["K"] * g["D"] < g["z"])),
    ("products", "give 3 arrays", lambda g: costs(g)[:2]),
]
