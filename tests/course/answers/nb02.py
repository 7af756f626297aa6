"""Answers to the exercises of notebook 02: exercise, what the reply says, and the answer made from what is given."""

from itertools import combinations, permutations

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.spatial import ConvexHull
from scipy.spatial.distance import cdist

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.scattering import scattering_certificate, slice_vertices

ORDERS = [list(p) for p in permutations(range(3))]


# ---- specialists ----


def dots(g):
    return g["H"] / g["H"].sum(axis=1, keepdims=True)


def to_corners(rows):
    return np.linalg.norm(rows[:, None] - np.eye(3), axis=2)


# ---- the longest corner ----


def by_pairs(H):
    found = []
    for i, j in combinations(range(len(H)), 2):
        x = np.cross(H[i], H[j])
        if abs(x.sum()) > 1e-12 and np.all(H @ x / x.sum() > -1e-9):
            found.append(np.linalg.norm(x / x.sum()))
    return max(found)


def by_walls(H):
    H = H[H.sum(axis=1) > 0]
    B = np.array([[1, 1], [-1, 1], [0, -2]]) / np.sqrt([2, 6])
    walls = ConvexHull(H / H.sum(axis=1, keepdims=True) @ B).equations
    return np.sqrt(1 / 3 + 1 / (9 * walls[:, 2].max() ** 2))


def by_solving(H):
    longest = 0
    for pair in combinations(range(len(H)), 2):
        try:
            x = np.linalg.solve(np.vstack([H[list(pair)], np.ones(3)]), [0, 0, 1])
        except np.linalg.LinAlgError:
            continue
        if min(h @ x for h in H) > -1e-8:
            longest = max(longest, float(x @ x) ** 0.5)
    return longest


def by_inverse(H):
    X = np.linalg.inv(H[:3])
    return np.linalg.norm(X / X.sum(axis=0), axis=0).max()


def all_points(H):
    return max(np.linalg.norm(x / x.sum()) for x in crossed(H))


def crossed(H):
    xs = [np.cross(u, v) for u, v in combinations(H, 2)]
    return [x for x in xs if abs(x.sum()) > 1e-12]


def inside(H):
    return [x / x.sum() for x in crossed(H) if (H @ x / x.sum()).min() > -1e-9]


def tested_too_early(H):
    crosses = [np.cross(u, v) for u, v in combinations(H, 2)]
    return max(np.linalg.norm(x / x.sum()) for x in crosses if abs(x.sum()) > 1e-12 and (H @ x >= -1e-12).all())


def without_tolerance(H):
    return max((np.linalg.norm(x / x.sum()) for x in crossed(H) if (H @ x / x.sum() >= 0).all()), default=0)


def in_place(H):
    H /= H.sum(axis=1, keepdims=True) + 1e-300
    return by_pairs(H)


# ---- the error of a model ----


def total(g, p, q=None):
    q = p if q is None else q
    return ((g["prior"] - g["prior_hat"][q]) ** 2).sum() + ((g["A"] - g["A_hat"][:, :, p]) ** 2).sum()


def by_loops(g):
    best = np.inf
    for p in ORDERS:
        off = sum((g["prior"][c] - g["prior_hat"][p[c]]) ** 2 for c in range(3))
        for m in range(4):
            off += sum((g["A"][m][k][c] - g["A_hat"][m][k][p[c]]) ** 2 for k in range(3) for c in range(3))
        best = min(best, off)
    return best / (4 * 3 + 1)


def by_einsum(g):
    Pi = np.eye(3)[ORDERS].transpose(0, 2, 1)  # one permutation matrix after another
    off = np.einsum("mkc,pcd->pmkd", g["A_hat"], Pi) - g["A"]
    prior_off = np.einsum("c,pcd->pd", g["prior_hat"], Pi) - g["prior"]
    return (np.einsum("pmkd,pmkd->p", off, off) + np.einsum("pd,pd->p", prior_off, prior_off)).min() / 13


def by_assignment(g):
    truth, found = (np.vstack([g["A" + hat].reshape(-1, 3), g["prior" + hat]]) for hat in ("", "_hat"))
    cost = cdist(truth.T, found.T, "sqeuclidean")
    return cost[linear_sum_assignment(cost)].sum() / 13


def by_library(g):
    return LatentClassModel(g["prior"], list(g["A"])).mse(LatentClassModel(g["prior_hat"], list(g["A_hat"])))


def best(g):
    return min(ORDERS, key=lambda p: total(g, p))


def absolute(g):
    off = [abs(g["prior"] - g["prior_hat"][p]).sum() + abs(g["A"] - g["A_hat"][:, :, p]).sum() for p in ORDERS]
    return min(off) / 13


def own_orders(g):
    each = sum(min(((A - B[:, p]) ** 2).sum() for p in ORDERS) for A, B in zip(g["A"], g["A_hat"], strict=True))
    return each, min(((g["prior"] - g["prior_hat"][p]) ** 2).sum() for p in ORDERS)


def own_orders_but_one_prior(g):
    return (own_orders(g)[0] + ((g["prior"] - g["prior_hat"][best(g)]) ** 2).sum()) / 13


def sorted_by_prior(g):
    p = np.empty(3, dtype=int)
    p[np.argsort(g["prior"])] = np.argsort(g["prior_hat"])
    return total(g, list(p)) / 13


def largest_entries(g):
    moved = np.stack([B[:, B.argmax(axis=1)] for B in g["A_hat"]])
    return (((g["A"] - moved) ** 2).sum() + ((g["prior"] - g["prior_hat"]) ** 2).sum()) / 13


def group_margin(rows):
    """From the corners that the library lists, without its certificate."""
    x = slice_vertices(np.reshape(rows, (-1, 3)))
    far = [corner for corner in x if min(np.abs(corner - e).max() for e in np.eye(3)) > 1e-6]
    return 1 - max(map(np.linalg.norm, far), default=np.sqrt(0.5))


def split_margins(g):
    return [
        [scattering_certificate(np.vstack(g["blocks"][part])).margin for part in (split, ~split)]
        for split in g["splits"]
    ]


def split(g, take=min, best=max):
    return scattering_certificate(np.vstack(g["blocks"])).margin, best(take(pair) for pair in split_margins(g))


def every_split(g):
    """Of all subsets, in the place of the table of splits."""
    found = [
        min(group_margin(g["blocks"][list(one)]), group_margin(np.delete(g["blocks"], one, axis=0)))
        for size in range(1, 6)
        for one in combinations(range(6), size)
    ]
    return {"all": group_margin(g["blocks"]), "best split": max(found)}


def whole(g, rows):
    return scattering_certificate(rows).margin, split(g)[1]


def margins(g, leave_out=1e-6, power=1):
    """One minus the longest corner, crowd by crowd, without those this near to a unit vector."""
    found = []
    for corners in g["corners"]:
        far = [x for x in corners if min(np.abs(x - e).max() for e in np.eye(3)) > leave_out]
        found.append(1 - max(x @ x for x in far) ** (power / 2))
    return found


def promise(g, least=1e-6):
    return [int(margin > least) for margin in margins(g)]


# ---- fool the certificate ----


SIX = np.array([[3, 1, 0], [1, 3, 0], [0, 3, 1], [0, 1, 3], [1, 0, 3], [3, 0, 1]]) / 4


def filled(start, share=0.5):
    """A function that puts a share of the level into each empty cell of a start."""
    return lambda g: lambda level: np.where(start == 0, share * level, start)


PAIR = np.tile(np.eye(3), (2, 1))


ANSWERS = [
    ("specialists", "correct", lambda g: [min(np.linalg.norm(h / sum(h) - e) for h in g["H"]) for e in np.eye(3)]),
    ("specialists", "correct", lambda g: cdist(dots(g), np.eye(3)).min(axis=0)),
    ("specialists", "correct", lambda g: scattering_certificate(g["H"]).distances),
    ("specialists", "correct", lambda g: pd.DataFrame(to_corners(dots(g))).min()),
    ("specialists", "correct", lambda g: np.sqrt(((dots(g)[None] - np.eye(3)[:, None]) ** 2).sum(axis=2).min(axis=1))),
    ("specialists", "correct", lambda g: to_corners(dots(g)).min(axis=0, keepdims=True).round(4)),
    ("specialists", "different sizes", lambda g: to_corners(g["H"]).min(axis=0)),
    ("specialists", "columns were scaled", lambda g: to_corners(g["H"] / g["H"].sum(axis=0)).min(axis=0)),
    ("specialists", "length one", lambda g: to_corners(g["H"] / np.linalg.norm(g["H"], axis=1)[:, None]).min(axis=0)),
    ("specialists", "squared", lambda g: to_corners(dots(g)).min(axis=0) ** 2),
    ("specialists", "absolute", lambda g: np.abs(dots(g)[:, None] - np.eye(3)).sum(axis=2).min(axis=0)),
    ("specialists", "largest entry", lambda g: 1 - dots(g).max(axis=0)),
    ("specialists", "farthest", lambda g: to_corners(dots(g)).max(axis=0)),
    ("specialists", "means", lambda g: to_corners(dots(g)).mean(axis=0)),
    ("specialists", "numbers of the nearest", lambda g: to_corners(dots(g)).argmin(axis=0)),
    ("specialists", "expected an array of shape (3,)", lambda g: to_corners(dots(g)).min(axis=1)),
    ("specialists", "negative entries", lambda g: dots(g).max(axis=0) - 1.2),
    ("specialists", "entry [1] is furthest off", lambda g: to_corners(dots(g)).min(axis=0) + np.array([0, 0.3, 0.1])),
    ("longest_corner", "correct", lambda g: by_pairs),
    ("longest_corner", "correct", lambda g: by_walls),
    ("longest_corner", "correct", lambda g: by_solving),
    ("longest_corner", "correct", lambda g: lambda H: np.linalg.norm(slice_vertices(H), axis=1).max()),
    ("longest_corner", "correct", lambda g: lambda H: scattering_certificate(H).radius),
    (
        "longest_corner",
        "correct",
        lambda g: lambda H: np.linalg.norm(pd.DataFrame(inside(H)), axis=1).max(keepdims=True),
    ),
    ("longest_corner", "by its name and without brackets", lambda g: by_inverse(g["H"])),
    ("longest_corner", "not answered yet", lambda g: lambda H: None),
    ("longest_corner", "not answered yet", lambda g: lambda H: ...),
    ("longest_corner", "keep only those x that lie in T", lambda g: all_points),
    ("longest_corner", "LinAlgError", lambda g: by_inverse),
    ("longest_corner", "first divide x by its sum", lambda g: tested_too_early),
    ("longest_corner", "can come out as -1e-17", lambda g: without_tolerance),
    ("longest_corner", "shortest", lambda g: lambda H: min(np.linalg.norm(x) for x in inside(H))),
    ("longest_corner", "r is a norm", lambda g: lambda H: max(np.abs(x).max() for x in inside(H))),
    ("longest_corner", "the root of a sum of squares", lambda g: lambda H: max(np.abs(x).sum() for x in inside(H))),
    ("longest_corner", "squared", lambda g: lambda H: max(x @ x for x in inside(H))),
    ("longest_corner", "margin", lambda g: lambda H: 1 - by_pairs(H)),
    ("longest_corner", "length one", lambda g: lambda H: 1.0),
    ("longest_corner", "changes what it is given", lambda g: in_place),
    ("longest_corner", "expected a single number", lambda g: lambda H: np.linalg.norm(inside(H), axis=1)[:2]),
    ("longest_corner", "NaN", lambda g: lambda H: np.nan * H[0, 0]),
    ("longest_corner", "is called with H", lambda g: lambda H, rows: by_pairs(H)),
    ("longest_corner", "a corner of T is lost", lambda g: lambda H: 0.9 * by_pairs(H) / by_pairs(H)),
    ("longest_corner", "on the example, r: 3.1 is too large", lambda g: lambda H: 3.1),
    ("model_error", "correct", by_loops),
    ("model_error", "correct", by_einsum),
    ("model_error", "correct", by_assignment),
    ("model_error", "correct", by_library),
    ("model_error", "correct", lambda g: [min(total(g, p) for p in ORDERS) / 13]),
    ("model_error", "correct", lambda g: str(round(by_loops(g), 6))),
    ("model_error", "no names", lambda g: total(g, [0, 1, 2]) / 13),
    ("model_error", "put it in the same order", lambda g: total(g, best(g), [0, 1, 2]) / 13),
    ("model_error", "wrong way round", lambda g: total(g, list(np.argsort(best(g)))) / 13),
    ("model_error", "there is one for all", own_orders_but_one_prior),
    ("model_error", "one order for all", lambda g: sum(own_orders(g)) / 13),
    ("model_error", "one order for all", largest_entries),
    ("model_error", "by the prior alone", sorted_by_prior),
    ("model_error", "prior is missing", lambda g: ((g["A"] - g["A_hat"][:, :, best(g)]) ** 2).sum() / 13),
    ("model_error", "mean over all orders", lambda g: np.mean([total(g, p) for p in ORDERS]) / 13),
    ("model_error", "mean over all entries", lambda g: by_loops(g) * 13 / 39),
    ("model_error", "M + 1", lambda g: by_loops(g) * 13 / 5),
    ("model_error", "without the one for the prior", lambda g: by_loops(g) * 13 / 12),
    ("model_error", "sum of squares", lambda g: by_loops(g) * 13),
    ("model_error", "absolute errors; square them", absolute),
    ("model_error", "square root", lambda g: np.sqrt(by_loops(g))),
    ("model_error", "negative", lambda g: -0.7),
    ("model_error", "expected a single number", lambda g: [total(g, p) / 13 for p in ORDERS]),
    ("model_error", "0.55 is too large", lambda g: 0.55),
    ("split", "correct", split),
    ("split", "correct", every_split),
    ("split", "correct", lambda g: np.round(split(g), 4)),
    ("split", "this is r", lambda g: (1.0, split(g)[1])),
    ("split", "the first annotator alone", lambda g: whole(g, g["blocks"][0])),
    ("split", "averaged", lambda g: whole(g, g["blocks"].mean(axis=0))),
    ("split", "transposed", lambda g: whole(g, np.hstack(g["blocks"]).T)),
    ("split", "the better group", lambda g: split(g, take=max)),
    ("split", "the worst split", lambda g: split(g, best=min)),
    ("split", "the mean over the splits", lambda g: split(g, best=lambda all: np.mean(list(all)))),
    ("split", "the mean of both groups", lambda g: split(g, take=np.mean)),
    ("split", "the first split alone", lambda g: (split(g)[0], min(split_margins(g)[0]))),
    (
        "split",
        "the number of the best split",
        lambda g: (split(g)[0], int(np.argmax(np.min(split_margins(g), axis=1)))),
    ),
    ("split", "the sign is wrong", lambda g: (split(g)[0], -split(g)[1])),
    ("split", "is too", lambda g: (split(g)[0], 0.0)),
    ("split", "give 2 arrays", lambda g: split(g)[0]),
    ("margin", "correct", lambda g: (margins(g), promise(g))),
    ("margin", "correct", lambda g: {"promise": np.array(promise(g)) > 0, "margins": np.round(margins(g), 4)}),
    ("margin", "leave them out", lambda g: (margins(g, -1), promise(g))),
    ("margin", "leave out unit vectors only", lambda g: (margins(g, 0.05), promise(g))),
    ("margin", "norms of the longest corners", lambda g: (1 - np.array(margins(g)), promise(g))),
    ("margin", "squared norms", lambda g: (margins(g, power=2), promise(g))),
    ("margin", "shortest", lambda g: (1 - np.linalg.norm(g["corners"], axis=2).min(axis=1), promise(g))),
    ("margin", "the mean over corners", lambda g: (1 - np.linalg.norm(g["corners"], axis=2).mean(axis=1), promise(g))),
    ("margin", "the sign is wrong", lambda g: (-np.array(margins(g)), promise(g))),
    ("margin", "a margin of zero promises nothing", lambda g: (margins(g), np.array(margins(g)) > -1e-6)),
    (
        "margin",
        "a small negative margin",
        lambda g: (margins(g), [int(m > 1e-6 or -0.05 < m < -1e-6) for m in margins(g)]),
    ),
    ("margin", "only a positive margin promises", lambda g: (margins(g), promise(g, -0.05))),
    ("margin", "the other way round", lambda g: (margins(g), 1 - np.array(promise(g)))),
    ("margin", "one of the margins is positive", lambda g: (margins(g), [0, 0, 0, 0])),
    ("margin", "a perfect fit is possible for all four", lambda g: (margins(g), [1, 1, 1, 1])),
    ("margin", "give 2 arrays", promise),
    ("fool", "correct", filled(PAIR)),
    ("fool", "correct", lambda g: lambda level: PAIR + 0.9 * level),
    ("fool", "correct", filled(SIX)),
    ("fool", "correct", lambda g: lambda level: (PAIR + level / 3) * np.arange(1, 7)[:, None]),
    ("fool", "correct", lambda g: lambda level: pd.DataFrame(np.repeat(np.eye(3), 2, axis=0) + level / 2)),
    ("fool", "fill the empty cells", lambda g: lambda level: PAIR),
    ("fool", "an entry of zero", lambda g: lambda level: SIX),
    ("fool", "too large", lambda g: lambda level: PAIR + 2 * level),
    ("fool", "does not hold when", filled(PAIR, 1.5)),
    ("fool", "a quarter of it", lambda g: lambda level: PAIR + 0.025),
    ("fool", "below a quarter of the level", lambda g: lambda level: PAIR + level / 10),
    ("fool", "in the middle", lambda g: lambda level: np.ones((6, 3))),
    ("fool", "does not hold when", lambda g: lambda level: 0.4 * PAIR + 0.2),
    ("fool", "the six rows at 2 : 1", lambda g: lambda level: np.where(SIX > 0, np.where(SIX > 0.5, 2, 1), 0) + level),
    ("fool", "negative", lambda g: lambda level: PAIR - level / 2),
    ("fool", "shape (6, 3)", lambda g: lambda level: np.eye(3) + level / 2),
    ("fool", "returns nothing", lambda g: lambda level: None),
    ("fool", "hand in the function itself", lambda g: PAIR + g["level"] / 2),
]
