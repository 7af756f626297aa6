"""Answers to the exercises of notebook 08: exercise, what the reply says, and the answer made from what is given."""

import numpy as np
import pandas as pd


def residual(g):
    X, a = g["X"], g["X"][:, 0]
    return [x @ x - (a @ x) ** 2 / (a @ a) for x in X.T]


def turned(A, lam, R):
    A, roots = A @ np.diag(lam**0.5) @ R, lam**0.5 @ R
    return A @ np.diag(1 / roots), roots * roots


def against(A, lam, R):
    roots = R @ lam**0.5
    return A * lam**0.5 @ R / roots, roots**2


def third(g):
    joint = [[sum(g["prior"][f] * g["A_1"][1, f] * g["A_3"][i, f] for f in range(2))] for i in range(3)]
    return np.ravel(joint) / np.sum(joint)


def told(g, q):
    return g["A_3"] @ (q / q.sum())


def filled_in(g):
    """x_2 is not left out, but summed over."""
    joint = np.einsum("f,f,jf,if->i", g["prior"], g["A_1"][1], g["A_2"], g["A_3"])
    return {"Pr(x_3 | x_1)": joint / joint.sum()}


def masses(C, A_1, A_2, lam):
    """Expected counts (I, K, F)."""
    shares = np.einsum("if,kf,f->ikf", A_1, A_2, lam)
    total = shares.sum(axis=2, keepdims=True)
    return C[:, :, None] * np.divide(shares, total, out=np.zeros_like(shares), where=total > 0)


def in_one_go(C, A_1, A_2, lam):
    T = masses(C, A_1, A_2, lam)
    return {"lam": T.sum((0, 1)) / C.sum(), "A_2": T.sum(0) / T.sum((0, 1)), "A_1": T.sum(1) / T.sum((0, 1))}


def with_loops(C, A_1, A_2, lam):
    F, new_1, new_2, new_lam = len(lam), A_1 * 0, A_2 * 0, lam * 0
    for i, row in enumerate(C):
        for k, count in enumerate(row):
            if count:
                m = [lam[f] * A_1[i, f] * A_2[k, f] for f in range(F)]
                for f in range(F):
                    new_1[i, f] += count * m[f] / sum(m)
                    new_2[k, f] += count * m[f] / sum(m)
                    new_lam[f] += count * m[f] / sum(m)
    return [new_1 / new_lam, (new_2 / new_lam).tolist(), tuple(new_lam / new_lam.sum())]


def multiplied(C, A_1, A_2, lam, ratio=lambda C, M: np.where(C > 0, C / M, 0), scale=lambda T: T / T.sum(axis=0)):
    R = ratio(C, A_1 @ np.diag(lam) @ A_2.T)
    T_1, T_2 = A_1 * (R @ A_2 @ np.diag(lam)), A_2 * (R.T @ A_1 @ np.diag(lam))
    return scale(T_1), scale(T_2), T_1.sum(axis=0) / T_1.sum()


def unguarded(C, A_1, A_2, lam):
    return multiplied(C, A_1, A_2, lam, lambda C, M: C / M)


def upside_down(C, A_1, A_2, lam):
    return multiplied(C, A_1, A_2, lam, lambda C, M: np.where(C > 0, M / np.where(C > 0, C, 1), 0))


def by_rows(C, A_1, A_2, lam):
    return multiplied(C, A_1, A_2, lam, scale=lambda T: T / np.maximum(T.sum(axis=1, keepdims=True), 1e-12))


def counted(C, A_1, A_2, lam):
    T = masses(C, A_1, A_2, lam)
    return T.sum(axis=1), T.sum(axis=0), T.sum(axis=(0, 1))


def no_factor(C, A_1, A_2, lam):
    M = A_1 * lam @ A_2.T
    R = np.divide(C, M, out=np.zeros_like(M), where=C > 0)
    T_1, T_2 = R @ (A_2 * lam), R.T @ (A_1 * lam)
    return T_1 / T_1.sum(axis=0), T_2 / T_2.sum(axis=0), T_1.sum(axis=0) / T_1.sum()


def prior_left_out(C, A_1, A_2, lam):
    R = np.divide(C, A_1 * lam @ A_2.T, out=np.zeros(C.shape), where=C > 0)
    T_1, T_2 = A_1 * (R @ A_2), A_2 * (R.T @ A_1)
    return T_1 / T_1.sum(axis=0), T_2 / T_2.sum(axis=0), T_1.sum(axis=0) / C.sum()


def no_ratio(C, A_1, A_2, lam):
    T_1, T_2 = A_1 * (C @ (A_2 * lam)), A_2 * (C.T @ (A_1 * lam))
    return T_1 / T_1.sum(axis=0), T_2 / T_2.sum(axis=0), T_1.sum(axis=0) / C.sum()


def no_prior(C, A_1, A_2, lam):
    return in_one_go(C, A_1, A_2, np.ones(len(lam)) / len(lam))


def in_turn(C, A_1, A_2, lam):
    new = in_one_go(C, A_1, A_2, lam)
    return new["A_1"], in_one_go(C, new["A_1"], A_2, lam)["A_2"], in_one_go(C, new["A_1"], A_2, lam)["lam"]


def in_place(C, A_1, A_2, lam):
    A_1 *= 2
    return in_one_go(C, A_1 / 2, A_2, lam)


def prior_after(C, A_1, A_2, lam):
    first, second, _ = multiplied(C, A_1, A_2, lam)
    return first, second, first.sum(axis=0) / first.sum()


def half_a_step(C, A_1, A_2, lam):
    first, second, prior = multiplied(C, A_1, A_2, lam)
    return (first + A_1) / 2, (second + A_2) / 2, (prior + lam) / 2


def backwards(C, A_1, A_2, lam):
    first, second, prior = multiplied(C, A_1, A_2, lam)
    return np.abs(2 * A_1 - first), np.abs(2 * A_2 - second), np.abs(2 * lam - prior)


def outer_products(g):
    return sum(g["prior"][f] * np.outer(g["A_1"][:, f], g["A_2"][:, f]) for f in range(3))


def off_the_anchor(g):
    """Lengths in the two directions at right angles to the anchor."""
    return np.sum((np.linalg.svd(g["X"][:, :1])[0][:, 1:].T @ g["X"]) ** 2, axis=0)


def lengths_first(g):
    u = g["X"][:, 0] / np.linalg.norm(g["X"][:, 0])
    return (np.linalg.norm(g["X"], axis=0) - u @ g["X"]) ** 2


def projected(g, a, power=2):
    return np.sum(np.abs(g["X"] - np.outer(a, a @ g["X"])) ** power, axis=0)


def rows_a_cell(g, shares=3, cells=3):
    return [S * p**shares / I**cells for S, p, I in zip(*g.values(), strict=True)]


def take(g):
    """3 where a triple has rows enough, 2 where only a pair has, else 0."""
    pairs = rows_a_cell(g, shares=2, cells=2)
    return [3 if t >= 1 else 2 if d >= 1 else 0 for t, d in zip(rows_a_cell(g), pairs, strict=True)]


def taken(g, *choices):
    """The right choice, but for some, such as (2, 3): what is 2 becomes 3."""
    return rows_a_cell(g), [dict(choices).get(one, one) for one in take(g)]


# ---- rows that a fit has not seen, and blind pairs ----


def fitted(g, alpha):
    """The conditionals of one amount of smoothing, variable by variable and class by class."""
    A = np.zeros(g["T"].shape)
    for n, f in np.ndindex(4, 2):
        counts = [count + alpha for count in g["T"][n, :, f]]
        A[n, :, f] = np.array(counts) / sum(counts)
    return A


def nats(g, rows="rows", prior=None, log_first=False, mean=np.mean):
    found = []
    for alpha in g["alpha"]:
        A, weights = fitted(g, alpha), g["prior"] if prior is None else prior
        one = [[np.prod([A[n, row[n], f] for n in range(4)]) for f in range(2)] for row in g[rows]]
        found.append(mean(np.log(one) @ weights if log_first else np.log(one @ weights)))
    return np.array(found)


def held_out(g, **how):
    return nats(g, **how), [value > 4 * np.log(1 / 3) for value in nats(g)]


def better(g, verdict):
    return nats(g), verdict


def over_all(g):
    """Columns that sum to one over all variables."""
    return nats(g | {"T": g["T"]}) + 4 * np.log(1 / 4)


def z_of(coins):
    n = len(coins)
    return abs(sum((-1) ** int(sum(row)) for row in coins)) / n**0.5 if n else 0.0


def blind(g, of_pair=lambda table, pair: table[(table[:, pair] >= 0).all(axis=1)][:, pair], complete=True):
    pairs = [max(z_of(of_pair(table, [a, b])) for a, b in ((0, 1), (0, 2), (1, 2))) for table in g["tables"]]
    whole = [z_of([row for row in table if min(row) >= 0 or not complete]) for table in g["tables"]]
    right = pairs if complete else blind(g)[0]
    return pairs, whole, [2 if p > 4 else 3 if w > 4 else 0 for p, w in zip(right, whole, strict=True)]


def blind_with(g, pairs=None, rows=None, verdict=None):
    right = (np.array(part) for part in blind(g))
    changes = pairs, rows, verdict
    return [value if change is None else change(value) for value, change in zip(right, changes, strict=True)]


def judged(g, verdict):
    pairs, whole, _ = map(np.array, blind(g))
    return pairs, whole, verdict(pairs, whole)


def first_pair(g):
    table = [one[(one[:, :2] >= 0).all(axis=1)][:, :2] for one in g["tables"]]
    return [z_of(one) for one in table]


ANSWERS = [
    ("pair", "correct", lambda g: np.einsum("f,if,kf->ik", g["prior"], g["A_1"], g["A_2"])),
    ("pair", "correct", outer_products),
    ("pair", "correct", lambda g: (g["A_1"] @ np.diag(g["prior"]) @ g["A_2"].T).round(4).tolist()),
    ("pair", "correct", lambda g: pd.DataFrame(g["A_1"]) @ np.diag(g["prior"]) @ g["A_2"].T),
    ("pair", "product of the marginals", lambda g: np.outer(g["A_1"] @ g["prior"], g["A_2"] @ g["prior"])),
    ("pair", "equally frequent", lambda g: g["A_1"] @ g["A_2"].T / 3),
    ("pair", "the prior is missing", lambda g: g["A_1"] @ g["A_2"].T),
    ("pair", "counted twice", lambda g: (g["prior"] * g["A_1"]) @ (g["prior"] * g["A_2"]).T),
    ("pair", "weighs rows", lambda g: np.diag(g["prior"]) @ g["A_1"] @ g["A_2"].T),
    ("pair", "sums over the values", lambda g: (g["A_1"] @ np.diag(g["prior"])).T @ g["A_2"]),
    ("pair", "transpose it", lambda g: g["A_1"] @ np.diag(g["prior"]) @ g["A_2"]),
    ("pair", "transposed", lambda g: g["A_2"] * g["prior"] @ g["A_1"].T),
    ("pair", "not its root", lambda g: g["A_1"] * np.sqrt(g["prior"]) @ g["A_2"].T),
    ("pair", "do not sum to one", lambda g: g["A_1"]),
    ("pair", "expected an array of shape (3, 3)", lambda g: g["A_1"] @ g["prior"]),
    ("residual", "correct", residual),
    ("residual", "correct", off_the_anchor),
    ("residual", "correct", lambda g: tuple(np.round(residual(g), 5))),
    ("residual", "distance to the anchor", lambda g: ((g["X"].T - g["X"].T[0]) ** 2).sum(axis=1)),
    ("residual", "u must have length one", lambda g: projected(g, g["X"][:, 0])),
    ("residual", "asked are their squares", lambda g: np.sqrt(residual(g))),
    ("residual", "before the projection", lambda g: np.linalg.norm(g["X"], axis=0) ** 2),
    ("residual", "what the projection takes away", lambda g: (g["X"] ** 2).sum(axis=0) - residual(g)),
    ("residual", "project first, then square", lengths_first),
    ("residual", "entry [", lambda g: np.zeros(5)),
    ("residual", "sums of absolute entries", lambda g: projected(g, g["X"][:, 0] / np.linalg.norm(g["X"][:, 0]), 1)),
    (
        "residual",
        "the second column was projected out",
        lambda g: projected(g, g["X"][:, 1] / np.linalg.norm(g["X"][:, 1])),
    ),
    ("residual", "expected an array of shape (5,)", lambda g: residual(g)[:3]),
    ("second", "correct", lambda g: turned),
    ("second", "correct", lambda g: lambda A, lam, R: {"mu": turned(A, lam, R)[1], "B": turned(A, lam, R)[0].tolist()}),
    ("second", "correct", lambda g: lambda *case: tuple(array[..., ::-1] for array in turned(*case))),
    ("second", "apart; are B and mu rounded?", lambda g: lambda *case: tuple(a.round(3) for a in turned(*case))),
    ("second", "turn by R', the other way round", lambda g: lambda A, lam, R: turned(A, lam, R.T)),
    ("second", "model that was given", lambda g: lambda A, lam, R: (A, lam)),
    ("second", "these are roots", lambda g: lambda A, lam, R: (turned(A, lam, R)[0], turned(A, lam, R)[1] ** 0.5)),
    ("second", "turn the roots of the shares", lambda g: lambda A, lam, R: (A * lam @ R / (lam @ R), lam @ R)),
    ("second", "scale the columns of A", lambda g: lambda A, lam, R: (A @ R / (lam**0.5 @ R), (lam**0.5 @ R) ** 2)),
    ("second", "divide the columns", lambda g: lambda A, lam, R: (A * lam**0.5 @ R, (lam**0.5 @ R) ** 2)),
    ("second", "go against one another", lambda g: against),
    ("pair_step", "correct", lambda g: in_one_go),
    ("pair_step", "correct", lambda g: with_loops),
    ("pair_step", "correct", lambda g: lambda C, *rest: multiplied(C, *rest, lambda C, M: C / np.where(M > 0, M, 1))),
    ("pair_step", "NaN", lambda g: unguarded),
    ("pair_step", "upside down", lambda g: upside_down),
    ("pair_step", "you divide the rows by their sums", lambda g: by_rows),
    ("pair_step", "need the prior, too", lambda g: prior_left_out),
    ("pair_step", "these are the counts themselves", lambda g: no_ratio),
    ("pair_step", "expected counts still", lambda g: counted),
    ("pair_step", "need the factor itself", lambda g: no_factor),
    ("pair_step", "needs the prior", lambda g: no_prior),
    ("pair_step", "do not use the new A_1", lambda g: in_turn),
    ("pair_step", "before the columns are scaled", lambda g: prior_after),
    (
        "pair_step",
        "the prior stays as it was",
        lambda g: lambda C, A_1, A_2, lam: (*multiplied(C, A_1, A_2, lam)[:2], lam),
    ),
    ("pair_step", "returns what it was given", lambda g: lambda C, A_1, A_2, lam: (A_1, A_2, lam)),
    ("pair_step", "the mean of the old and the new", lambda g: half_a_step),
    ("pair_step", "not yet", lambda g: backwards),
    ("pair_step", "changes what it is given", lambda g: in_place),
    ("pair_step", "returns nothing", lambda g: lambda C, A_1, A_2, lam: None),
    ("pair_step", "give 3 arrays", lambda g: lambda C, A_1, A_2, lam: multiplied(C, A_1, A_2, lam)[:2]),
    ("pair_step", "stops with", lambda g: lambda C, A_1, A_2: (A_1, A_2)),
    ("missing", "correct", third),
    ("missing", "correct", filled_in),
    ("missing", "correct", lambda g: told(g, g["A_1"][1] * g["prior"]).reshape(3, 1)),
    ("missing", "leave its factor out", lambda g: told(g, g["prior"] * g["A_1"][1] * g["A_2"][-1])),
    ("missing", "the prior is missing", lambda g: told(g, g["A_1"][1])),
    ("missing", "what x_1 tells of the class is lost", lambda g: g["A_3"] @ g["prior"]),
    ("missing", "divide by Pr(x_1)", lambda g: g["A_3"] @ (g["prior"] * g["A_1"][1])),
    ("missing", "second value", lambda g: told(g, g["prior"] * g["A_1"][0])),
    ("missing", "the more probable class alone", lambda g: g["A_3"][:, (g["prior"] * g["A_1"][1]).argmax()]),
    ("missing", "does not have the value 0", lambda g: told(g, g["prior"] * g["A_1"][1] * g["A_2"][0])),
    ("missing", "so is the division by the sum", lambda g: g["A_3"] @ g["A_1"][1]),
    ("missing", "expected an array of shape (3,)", lambda g: g["prior"] * g["A_1"][1]),
    ("evidence", "correct", lambda g: (rows_a_cell(g), take(g))),
    ("evidence", "correct", lambda g: {"take": take(g), "rows": pd.Series(rows_a_cell(g)).round(4)}),
    ("evidence", "for each cell of a pair", lambda g: (rows_a_cell(g, shares=2, cells=2), take(g))),
    ("evidence", "not every row shows all three", lambda g: (rows_a_cell(g, shares=0), take(g))),
    ("evidence", "not one: p^3", lambda g: (rows_a_cell(g, shares=1), take(g))),
    ("evidence", "takes the cells of a pair", lambda g: (rows_a_cell(g, cells=2), take(g))),
    ("evidence", "divide by its I^3 cells", lambda g: (rows_a_cell(g, cells=0), take(g))),
    ("evidence", "upside down", lambda g: (1 / np.array(rows_a_cell(g)), take(g))),
    ("evidence", "this looks at pairs alone", lambda g: taken(g, (2, 3))),
    (
        "evidence",
        "S p^3, not S",
        lambda g: (rows_a_cell(g), np.where(np.array(rows_a_cell(g, shares=0)) >= 1, 3, take(g))),
    ),
    ("evidence", "number of rows alone", lambda g: (rows_a_cell(g), np.where(g["S"] > np.median(g["S"]), 3, 2))),
    ("evidence", "thin tables are for pairs", lambda g: taken(g, (2, 3), (3, 2))),
    ("evidence", "not even pairs", lambda g: taken(g, (0, 2))),
    ("evidence", "triples are not the rule", lambda g: (rows_a_cell(g), [3] * 5)),
    ("evidence", "pairs are safe", lambda g: (rows_a_cell(g), [2] * 5)),
    ("evidence", "give 2 arrays", take),
    ("held_out", "correct", held_out),
    ("held_out", "correct", lambda g: {"better": held_out(g)[1], "nats": nats(g).round(4)}),
    ("held_out", "its own rows", lambda g: held_out(g, rows="own_rows")),
    ("held_out", "take the mean", lambda g: held_out(g, mean=np.sum)),
    ("held_out", "the log comes after", lambda g: held_out(g, log_first=True)),
    ("held_out", "not equally frequent", lambda g: held_out(g, prior=np.full(2, 0.5))),
    ("held_out", "the prior is missing", lambda g: held_out(g, prior=np.ones(2))),
    ("held_out", "within each variable", lambda g: (over_all(g), held_out(g)[1])),
    ("held_out", "to the base e", lambda g: (nats(g) / np.log(2), held_out(g)[1])),
    ("held_out", "the log of the mean", lambda g: held_out(g, mean=lambda logs: np.log(np.exp(logs).mean()))),
    ("held_out", "the sign is wrong", lambda g: (-nats(g), held_out(g)[1])),
    ("held_out", "always looks good", lambda g: better(g, nats(g, "own_rows") > -np.log(81))),
    ("held_out", "the other way round", lambda g: better(g, nats(g) < -np.log(81))),
    ("held_out", "log(1/81)", lambda g: better(g, nats(g) > np.log(1 / 3))),
    ("held_out", "give 2 arrays", nats),
    ("held_out", "expected an array of shape (3,)", lambda g: better(g, 1)),
    ("blind", "correct", blind),
    ("blind", "correct", lambda g: dict(zip(("pairs", "rows", "verdict"), blind(g), strict=True))),
    ("blind", "for a side", lambda g: blind(g, lambda table, pair: table[:, pair], complete=False)),
    ("blind", "for a side", lambda g: (blind(g)[0], *blind(g, complete=False)[1:])),
    ("blind", "the z of one pair", lambda g: (first_pair(g), *blind(g)[1:])),
    ("blind", "the third may be missing", lambda g: blind(g, lambda t, pair: t[(t >= 0).all(axis=1)][:, pair])),
    ("blind", "times the root", lambda g: blind_with(g, pairs=np.square)),
    ("blind", "times the root", lambda g: blind_with(g, rows=np.square)),
    ("blind", "look at the three together", lambda g: (blind(g)[0], blind(g)[0], blind(g)[2])),
    ("blind", "look at whole rows", lambda g: judged(g, lambda p, w: np.where(p > 4, 2, 0))),
    ("blind", "nothing can be told", lambda g: judged(g, lambda p, w: np.where(p > 4, 2, 3))),
    ("blind", "may be chance", lambda g: judged(g, lambda p, w: np.where(p > w, 2, 3))),
    ("blind", "give 3 arrays", lambda g: blind(g)[:2]),
    ("blind", "expected an array of shape (5,)", lambda g: blind_with(g, verdict=lambda v: v[:4])),
]
