"""Answers to the exercises of notebook 06: exercise, what the reply says, and the answer made from what is given."""

import numpy as np
import pandas as pd
from scipy.special import expit


def apart(g):
    return g["U_u"] @ (g["V_i"] - g["V_j"])


def pull_in_loops(g):
    z = sum(u * (a - b) for u, a, b in zip(g["U_u"], g["V_i"], g["V_j"], strict=True))
    return [(1 / (1 + np.exp(-z)) - g["w"]) * u for u in g["U_u"]]


def products(g):
    return g["U"] @ g["V"].T, g["true_U"] @ g["true_V"].T


def utilities_off(g):
    found, truth = ([[u @ v for v in V - V.mean(axis=0)] for u in U] for U, V in
                    ((g["U"], g["V"]), (g["true_U"], g["true_V"])))  # fmt: skip
    return np.sqrt(np.sum((np.array(found) - truth) ** 2) / np.sum(np.square(truth)))


def with_projector(g):
    J = np.eye(len(g["V"])) - 1 / len(g["V"])
    found, truth = products(g)
    return np.linalg.norm((found - truth) @ J, "fro") / np.sqrt(np.trace(truth @ J @ truth.T))


def true_size(g):
    return np.linalg.norm(g["true_U"] @ (g["true_V"] - g["true_V"].mean(axis=0)).T)


def relative(found, truth, axis=None):
    if axis is not None:
        found, truth = (X - X.mean(axis=axis, keepdims=True) for X in (found, truth))
    return np.linalg.norm(found - truth) / np.linalg.norm(truth)


def freedom(g, shift=1, basis=1):
    n, r = g["n_users"] + g["n_items"], g["rank"]
    return (n - shift) * r - basis * r**2


def left(g, dof=None, information=None):
    return np.sqrt((dof or freedom(g)) / (2 * g["m"] * (information or g["information"]))) / g["spread"]


def by_hand(g):
    dof = g["rank"] * (g["n_users"] + g["n_items"] - 1 - g["rank"])
    return np.sqrt(dof / (2 * g["m"] * g["information"] * g["spread"] ** 2)), 3**2


# ---- the gradient of all comparisons, as learners write it ----


def in_a_loop(U, V, u, i, j, w):
    GU, GV = 0 * U, 0 * V
    for user, first, second, seen in zip(u, i, j, w, strict=True):
        h = 1 / (1 + np.exp(-U[user] @ (V[first] - V[second]))) - seen
        GU[user] += h * (V[first] - V[second]) / len(w)
        GV[first] += h * U[user] / len(w)
        GV[second] -= h * U[user] / len(w)
    return GU, GV


def by_incidence(U, V, u, i, j, w):
    users, D = np.eye(len(U))[u], np.eye(len(V))[i] - np.eye(len(V))[j]
    h = expit(np.einsum("kr,kr->k", users @ U, D @ V)) - w
    return {
        "gradient in U": users.T @ (h[:, None] * (D @ V)) / len(h),
        "gradient in V": D.T @ (h[:, None] * U[u]) / len(h),
    }


def by_a_table(U, V, u, i, j, w):
    h = expit(np.sum(U[u] * (V[i] - V[j]), axis=1)) - w
    G = np.zeros((len(U), len(V)))
    np.add.at(G, (np.r_[u, u], np.r_[i, j]), np.r_[h, -h] / len(h))
    return [G @ V, G.T @ U]


def by_differences(U, V, u, i, j, w):
    def loss(x):
        A, B = np.split(x.reshape(-1, U.shape[1]), [len(U)])
        z = np.sum(A[u] * (B[i] - B[j]), axis=1)
        return np.mean(np.log1p(np.exp(z)) - w * z)

    x = np.vstack([U, V]).ravel()
    slopes = [(loss(x + 1e-5 * e) - loss(x - 1e-5 * e)) / 2e-5 for e in np.eye(x.size)]
    return tuple(np.split(np.reshape(slopes, (-1, U.shape[1])), [len(U)]))


def overwrites(U, V, u, i, j, w):
    h, GU, GV = (expit(np.sum(U[u] * (V[i] - V[j]), axis=1)) - w)[:, None], np.zeros_like(U), np.zeros_like(V)
    GU[u] += h * (V[i] - V[j])
    GV[i] += h * U[u]
    GV[j] -= h * U[u]
    return GU / len(w), GV / len(w)


def users_only(U, V, u, i, j, w):
    return in_a_loop(U, V, u, i, j, w)[0], np.zeros_like(V)


def one_item_only(U, V, u, i, j, w):
    GU, GV = in_a_loop(U, V, u, i, j, w)
    GV[i[0]] += 0.1
    return GU, GV


def in_place(U, V, u, i, j, w):
    U -= U.mean(axis=0)
    return in_a_loop(U, V, u, i, j, w)


def with_slope(slope, times=1.0):
    """A gradient whose h is another function of z and w."""

    def function(U, V, u, i, j, w):
        h = slope(np.sum(U[u] * (V[i] - V[j]), axis=1), w)
        D = np.eye(len(V))[i] - np.eye(len(V))[j]
        return times * np.eye(len(U))[u].T @ (h[:, None] * (D @ V)) / len(w), times * D.T @ (h[:, None] * U[u]) / len(w)

    return function


def flat(U, V, u, i, j, w):
    return np.concatenate([G.ravel() for G in in_a_loop(U, V, u, i, j, w)])


def noticed(g):
    """The rank of the slopes of all z, each found by moving one feature at a time."""
    (u, i, j), features = (g[name] for name in "uij"), np.vstack([g["U"], g["V"]])
    users, columns = len(g["U"]), []
    for place in np.ndindex(features.shape):
        by = np.zeros_like(features)
        by[place] = 1e-3
        z = [np.sum(F[u] * (F[users + i] - F[users + j]), axis=1) for F in (features - by, features + by)]
        columns.append((z[1] - z[0]) / 2e-3)
    return int((np.linalg.svd(np.array(columns), compute_uv=False) > 1e-6).sum())


def unnoticed(g, always=lambda r: r * r + r, here=0):
    r = g["U"].shape[1]
    return always(r), 17 * r - noticed(g) + here


def gaps(g, link=expit, size=lambda gap: np.sqrt(np.mean(gap**2)), other=1):
    found = []
    for U, V in zip(g["U"], g["V"], strict=True):
        z = [U[a] @ (V[b] - other * V[c]) for a, b, c in zip(g["u"], g["i"], g["j"], strict=True)]
        found.append(size(link(np.array(z)) - g["w"]))
    return np.array(found)


def trusted(place, **how):
    """Gaps, and the fit at a place of their order."""
    return lambda g: (gaps(g, **how), np.argsort(gaps(g))[place] + 1)


def differences(g, kind="new items"):
    one, features = np.asarray(g[kind])
    return features - one


def gained(gain=np.mean, error=lambda d: d.std() / len(d) ** 0.5, told=None, kind="new items"):
    def answer(g):
        d = differences(g, kind)
        t = d.mean() / d.std() * 40**0.5
        verdict = 1 if t > 2 else 3 if t < -2 else 2
        return gain(d), error(d), told(verdict) if told else verdict

    return answer


def gain_on(number):
    return lambda g: (number(g), *gained()(g)[1:])


def error_on(number):
    return lambda g: (gained()(g)[0], number(g), gained()(g)[2])


def reached(u, i, j, w):
    """Items that the first is linked to, by walking."""
    found = {0}
    for _ in range(12):
        found |= {b for a, b in [*zip(i, j, strict=True), *zip(j, i, strict=True)] if a in found}
    return len(found)


def looked_at(g):
    kinds = []
    for u, i, j, w in zip(*(g[name] for name in "uijw"), strict=True):
        different = len({(a, min(b, c), max(b, c)) for a, b, c in zip(u, i, j, strict=True)})
        few = 3 if different < 38 else 1
        kinds.append(4 if np.isin(w, [0, 1]).all() else few if reached(u, i, j, w) == 12 else 2)
    return kinds


def taken_for(right, told):
    """The right kinds, but for the first crowd of a kind."""

    def answer(g):
        kinds = looked_at(g)
        kinds[kinds.index(right)] = told
        return kinds

    return answer


ANSWERS = [
    ("pull", "correct", pull_in_loops),
    ("pull", "correct", lambda g: -g["U_u"] * expit(-apart(g))),
    ("pull", "correct", lambda g: pd.Series(g["U_u"]) * (expit(apart(g)) - 1)),
    ("pull", "correct", lambda g: np.round((expit(apart(g)) - 1) * g["U_u"], 4)[None, :]),
    ("pull", "z is a difference of utilities", lambda g: (apart(g) - g["w"]) * g["U_u"]),
    ("pull", "the gradient points the other way", lambda g: (1 - expit(apart(g))) * g["U_u"]),
    ("pull", "this is the gradient in U_u", lambda g: (expit(apart(g)) - 1) * (g["V_i"] - g["V_j"])),
    ("pull", "the other item is missing", lambda g: (expit(g["U_u"] @ g["V_i"]) - 1) * g["U_u"]),
    ("pull", "the outcome is missing", lambda g: expit(apart(g)) * g["U_u"]),
    ("pull", "g'(z) cancels", lambda g: -expit(apart(g)) * expit(-apart(g)) ** 2 * g["U_u"]),
    ("pull", "expected an array of shape (2,)", lambda g: expit(apart(g)) - 1),
    ("pull", "is furthest off", lambda g: 0.7 * (expit(apart(g)) - 1) * g["U_u"]),
    ("pull", "this is half of it", lambda g: 0.5 * (expit(apart(g)) - 1) * g["U_u"]),
    ("error", "correct", utilities_off),
    ("error", "correct", with_projector),
    ("error", "correct", lambda g: [float(relative(*products(g), axis=1))]),
    ("error", "take every user's mean off", lambda g: relative(*products(g))),
    ("error", "takes the mean over users off", lambda g: relative(*products(g), axis=0)),
    ("error", "known up to a change of basis",
     lambda g: relative(np.vstack([g["U"], g["V"]]), np.vstack([g["true_U"], g["true_V"]]))),
    ("error", "divide by the norm",
     lambda g: relative(*products(g), axis=1) * true_size(g)),
    ("error", "the truth must be centred", lambda g: relative(*products(g), axis=1)
     * true_size(g) / np.linalg.norm(products(g)[1])),
    ("error", "take the root", lambda g: relative(*products(g), axis=1) ** 2),
    ("error", "this is in per cent", lambda g: 100 * relative(*products(g), axis=1)),
    ("error", "relative to what was found", lambda g: relative(*products(g)[::-1], axis=1)),
    ("error", "is too large", lambda g: np.linalg.norm(g["U"])),
    ("comparison_gradient", "correct", lambda g: in_a_loop),
    ("comparison_gradient", "correct", lambda g: by_incidence),
    ("comparison_gradient", "correct", lambda g: by_a_table),
    ("comparison_gradient", "correct", lambda g: by_differences),
    ("comparison_gradient", "correct", lambda g: with_slope(lambda z, w: (np.tanh(z / 2) + 1) / 2 - w)),
    ("comparison_gradient", "of several comparisons of a user only the last", lambda g: overwrites),
    ("comparison_gradient", "the loss is a mean", lambda g: lambda *d: [len(d[-1]) * G for G in by_a_table(*d)]),
    ("comparison_gradient", "the gradient points uphill", lambda g: with_slope(lambda z, w: w - expit(z))),
    ("comparison_gradient", "z is a difference of utilities", lambda g: with_slope(lambda z, w: z - w)),
    ("comparison_gradient", "the outcomes are missing", lambda g: with_slope(lambda z, w: expit(z))),
    ("comparison_gradient", "g'(z) cancels", lambda g: with_slope(lambda z, w: (expit(z) - w) * expit(z) * expit(-z))),
    ("comparison_gradient", "the gradient in V is still zero", lambda g: users_only),
    ("comparison_gradient", "the gradient in U is still zero", lambda g: lambda U, *d: (
        np.zeros_like(U), in_a_loop(U, *d)[1])),
    ("comparison_gradient", "its rows do not add up to zero", lambda g: one_item_only),
    ("comparison_gradient", "makes the loss larger", lambda g: with_slope(lambda z, w: expit(z) - w, times=-0.7)),
    ("comparison_gradient", "this is half of it", lambda g: with_slope(lambda z, w: expit(z) - w, times=0.5)),
    ("comparison_gradient", "is furthest off", lambda g: with_slope(lambda z, w: expit(z) - w, times=0.7)),
    ("comparison_gradient", "changes what it is given, U", lambda g: in_place),
    ("comparison_gradient", "give 2 arrays", lambda g: flat),
    ("comparison_gradient", "returns nothing", lambda g: lambda *d: None),
    ("comparison_gradient", "stops with", lambda g: lambda U, V: U),
    ("comparison_gradient", "hand in the function itself", lambda g: in_a_loop(**g)),
    ("choices", "correct", by_hand),
    ("choices", "correct", lambda g: {"error": round(left(g), 4), "times": 9}),
    ("choices", "correct", lambda g: np.array([left(g), 9.0])),
    ("choices", "dof is not the number of utilities", lambda g: (left(g, g["n_users"] * g["n_items"]), 9)),
    ("choices", "a shift of all items goes unnoticed", lambda g: (left(g, freedom(g, shift=0)), 9)),
    ("choices", "a change of basis goes unnoticed", lambda g: (left(g, freedom(g, basis=0)), 9)),
    ("choices", "take the shift, r, and the change of basis", lambda g: (left(g, freedom(g, 0, 0)), 9)),
    ("choices", "what a choice between equals tells", lambda g: (left(g, information=0.25), 9)),
    ("choices", "a factor 2 is missing", lambda g: (np.sqrt(2) * left(g), 9)),
    ("choices", "take the root", lambda g: (left(g) ** 2, 9)),
    ("choices", "take the square root first", lambda g: (left(g) ** 2 * g["spread"], 9)),
    ("choices", "in units of utility", lambda g: (left(g) * g["spread"], 9)),
    ("choices", "square root of m", lambda g: (left(g), 3)),
    ("choices", "the other way round", lambda g: (left(g), 3**0.5)),
    ("choices", "triples the error", lambda g: (left(g), 1 / 9)),
    ("choices", "not how many more", lambda g: (left(g), 8)),
    ("choices", "not how many", lambda g: (left(g), 9 * g["m"])),
    ("choices", "give 2 arrays or numbers", left),
    ("flat", "correct", unnoticed),
    ("flat", "correct", lambda g: {"here": float(unnoticed(g)[1]), "always": np.int64(unnoticed(g)[0])}),
    ("flat", "can be added to all items", lambda g: unnoticed(g, lambda r: r * r)),
    ("flat", "not only a rotation", lambda g: unnoticed(g, lambda r: r * (r - 1) // 2 + r)),
    ("flat", "the shifts of items alone", lambda g: unnoticed(g, lambda r: r)),
    ("flat", "added to all users is noticed", lambda g: unnoticed(g, lambda r: r * r + 2 * r)),
    ("flat", "what comparisons can tell", lambda g: unnoticed(g, lambda r: 16 * r - r * r)),
    ("flat", "nothing holds their features", lambda g: unnoticed(g, here=-4 * g["U"].shape[1])),
    ("flat", "two users and two items", lambda g: unnoticed(g, here=-2 * g["U"].shape[1])),
    ("flat", "has r features, not one", lambda g: unnoticed(g, here=4 - 4 * g["U"].shape[1])),
    ("flat", "this is the rank of A", lambda g: (unnoticed(g)[0], noticed(g))),
    ("flat", "combinations of comparisons", lambda g: (unnoticed(g)[0], 126 - noticed(g))),
    ("flat", "is too large", lambda g: unnoticed(g, here=1)),
    ("flat", "give 2 arrays or numbers", lambda g: unnoticed(g)[0]),
    ("trusted", "correct", trusted(0)),
    ("trusted", "correct", lambda g: {"trust": float(trusted(0)(g)[1]), "gaps": gaps(g).round(5).tolist()}),
    ("trusted", "on each fit's own comparisons", lambda g: (g["gaps_own"], trusted(0)(g)[1])),
    ("trusted", "take the root", trusted(0, size=lambda gap: np.mean(gap**2))),
    ("trusted", "mean of the sizes", trusted(0, size=lambda gap: np.mean(abs(gap)))),
    ("trusted", "take expit of it", trusted(0, link=lambda z: z)),
    ("trusted", "the other item is missing", trusted(0, other=0)),
    ("trusted", "in per cent", lambda g: (100 * gaps(g), trusted(0)(g)[1])),
    ("trusted", "since it had the fewest", lambda g: (gaps(g), g["gaps_own"].argmin() + 1)),
    ("trusted", "trust: not yet: ", trusted(1)),
    ("trusted", "trust: not yet: ", trusted(2)),
    ("trusted", "trust: not yet: ", trusted(3)),
    ("trusted", "give 2 arrays or numbers", lambda g: trusted(0)(g)[1]),
    ("personal", "correct", gained()),
    ("personal", "correct", gained(error=lambda d: d.std(ddof=1) / np.sqrt(40))),
    ("personal", "correct", lambda g: pd.Series(gained()(g), ["gain", "standard error", "verdict"])),
    ("personal", "the gain on new pairs", gain_on(lambda g: differences(g, "new pairs").mean())),
    ("personal", "the gain on new pairs", gained(kind="new pairs")),
    ("personal", "the share that features have right", gain_on(lambda g: g["new items"][1].mean())),
    ("personal", "relative to what one ranking",
     gain_on(lambda g: g["new items"][1].sum() / g["new items"][0].sum() - 1)),
    ("personal", "smaller by the root of 40", gained(error=np.std)),
    ("personal", "take the differences first",
     error_on(lambda g: np.sqrt((g["new items"].std(axis=1) ** 2).sum() / 40))),
    ("personal", "take the root", gained(error=lambda d: d.var(ddof=1) / 40)),
    ("personal", "divided by 40", gained(error=lambda d: d.std() / 40)),
    ("personal", "80 shares are of 40 users", gained(error=lambda d: d.std() / np.sqrt(80))),
    ("personal", "standard error", gained(told=lambda kind: kind % 3 + 1)),
    ("personal", "standard error", gained(told=lambda kind: (kind + 1) % 3 + 1)),
    ("personal", "give 3 arrays or numbers", lambda g: gained()(g)[:2]),
    ("failures", "correct", looked_at),
    ("failures", "correct", lambda g: dict(zip("ABCDE", looked_at(g), strict=True))),
    ("failures", "users need not share an item", taken_for(1, 2)),
    ("failures", "many more different comparisons", taken_for(1, 3)),
    ("failures", "the likelihood has a maximum", taken_for(1, 4)),
    ("failures", "not even through a third", taken_for(2, 1)),
    ("failures", "enough different comparisons", taken_for(2, 3)),
    ("failures", "choices; look which items meet", taken_for(2, 4)),
    ("failures", "tells nothing new", taken_for(3, 1)),
    ("failures", "all items are linked; count", taken_for(3, 2)),
    ("failures", "choices; count the different", taken_for(3, 4)),
    ("failures", "can be explained perfectly", taken_for(4, 1)),
    ("failures", "linked; look at the outcomes", taken_for(4, 2)),
    ("failures", "freedom; look at the outcomes", taken_for(4, 3)),
    ("failures", "give 5 arrays or numbers", lambda g: looked_at(g)[:4]),
]  # fmt: skip
