"""The live figures of notebook 06: number of comparisons, landscape of the loss, ridge, one ranking or tastes.

symbol   meaning                                                         shape
U, V     features of users and of items                                  (n1, r), (n2, r)
Z        the features of users and of items, one above the other         (n1 + n2, r)
X        utilities, U V'                                                 (n1, n2)
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.special import expit

from cofactor import simulate
from cofactor.comparisons import ComparisonMF, Comparisons, Objective, utility_error
from cofactor.core.errors import ConvergenceWarning, DataWarning
from cofactor.core.types import Floats
from cofactor.data import load
from cofactor_app.plots.style import BLUE, DIVERGING, FAINT, ORANGE, SEQUENTIAL, bare, heat, new_picture, say, styled
from course.live import Live, drag, reveal, sliding

USERS, ITEMS, RANK = 60, 80, 2  # of the small problem that panels and pictures use
SHOWN = 1e-12  # relative errors below are all rounding
AMOUNTS = range(100, 1001, 50)  # comparisons
CHOICES = 4110  # 15 per degree of freedom
RIDGES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6)
PRICES = (1, 3, 8, 16, 22, 30, 40, 300)  # ridges of the recommender; the last leaves one ranking
SPLITS = 2


@cache
def truth() -> tuple[Floats, Floats]:
    """Draw the features of 60 users and 80 items."""
    U, V = simulate.comparison_factors(USERS, ITEMS, RANK, random_state=0)
    return U, V


def fitted(data: Comparisons, **settings: Any) -> tuple[Floats, Floats]:
    """Fit features without biases; warnings of too few comparisons are ignored, since the figures show that."""
    with warnings.catch_warnings():
        for kind in (ConvergenceWarning, DataWarning):
            warnings.simplefilter("ignore", kind)
        fit = ComparisonMF(rank=RANK, item_bias=False, random_state=0, **settings).fit(data)
    return fit.user_factors_, fit.item_factors_


# ---- how many comparisons ----


@cache
def fits_by_amount() -> dict[int, tuple[Floats, float]]:
    """Return centred utilities and their relative error, for each number of comparisons."""
    found = {}
    for m in AMOUNTS:
        data = simulate.draw_comparisons(*truth(), m, "exact", random_state=1)
        F = fitted(data, ridge=0, max_iter=400)
        X = F[0] @ F[1].T
        found[m] = X - X.mean(axis=1, keepdims=True), utility_error(*F, *truth())
    return found


@styled
def _draw_amounts(order: tuple[Any, Any]) -> Figure:
    U, V = truth()
    X = (U @ V.T)[np.ix_(*order)]
    errors = [error for _, error in fits_by_amount().values()]
    fig = new_picture(7.5, 2.7)
    left, middle, right = fig.subplots(1, 3)
    for ax, name in ((left, "estimated"), (middle, "true")):
        heat(ax, X, (-1, 1), DIVERGING)
        bare(ax)
        ax.set(title=f"{name} utilities", xlabel="items", ylabel="users")
    right.plot(list(AMOUNTS), np.minimum(errors, 3), color=BLUE, label="error")
    right.plot([], [], "o", color=ORANGE, label="this fit")
    right.set(xlabel="comparisons", ylabel="relative error", xlim=(0, 1050), ylim=(-0.1, 3.1))
    say(fig, f"{X.size:,} utilities from comparisons alone")
    return fig


def amount_live() -> Live:
    """Drag the number of comparisons until the estimated utilities look like the true ones; then see the error."""
    U, V = truth()
    order = tuple(np.argsort(np.arctan2(side[:, 1], side[:, 0])) for side in (U, V))
    fig = _draw_amounts(order)
    image, (curve, dot) = fig.axes[0].images[0], fig.axes[2].lines

    def update(m: int, shown: bool) -> str:
        X, error = fits_by_amount()[m]
        image.set_data(X[np.ix_(*order)])
        dot.set_data([m], [min(error, 3.0)])
        curve.set_visible(shown)
        dot.set_visible(shown)
        size = "below 1e−6" if error < 1e-6 else f"{error:.2f}"
        told = f"relative error {size}" if shown else "how large is the error?"
        return f"{m:,} comparisons, {m / USERS:.0f} per user: {told}"

    controls = {"m": drag(200, 100, 1000, 50, "comparisons"), "shown": reveal("error")}
    look = "Drag until the estimated utilities look like the true ones. Then show the error."
    return Live(controls, fig, [image, curve, dot], update, look)


# ---- the valley ----


@cache
def _valley() -> tuple[Objective, Floats, Floats]:
    """Return the loss of 1500 comparisons, the true features, and a direction away from them of the same norm."""
    U, V = truth()
    data = simulate.draw_comparisons(U, V, 1500, "exact", random_state=1)
    Z = np.vstack([U, V])
    N = np.random.default_rng(2).standard_normal(Z.shape)
    N[USERS:] -= N[USERS:].mean(axis=0)
    return Objective(data, RANK, balance=0), Z, N * np.linalg.norm(Z) / np.linalg.norm(N)


def placed(angle: float, away: float) -> tuple[Floats, float]:
    """Return features turned by some degrees and moved by some per cent of their norm, and their loss."""
    loss, Z, N = _valley()
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    place = Z @ np.array([[c, -s], [s, c]]) + away / 100 * N
    return place, float(loss(place.ravel())[0])


@styled
def _draw_valley() -> Figure:
    angles, shares = np.linspace(-180, 180, 49), np.linspace(-50, 50, 26)
    losses = np.array([[placed(angle, away)[1] for angle in angles] for away in shares])
    fig = new_picture(7.5, 3)
    left, right = fig.subplots(1, 2)
    left.imshow(
        np.sqrt(np.maximum(losses, 0)), extent=(-180, 180, -50, 50), aspect="auto", origin="lower", cmap=SEQUENTIAL
    )
    left.plot([], [], "o", color=ORANGE, mec="white", ms=9)
    left.set(xlabel="turned by (degrees)", ylabel="moved by (% of norm)", xticks=[-180, -90, 0, 90, 180])
    left.set(title="loss (dark: high)", xlim=(-180, 180), ylim=(-50, 50))
    U, V = truth()
    reach = 1.1 * float(np.abs(U @ V.T).max())
    right.plot([-reach, reach], [-reach, reach], "--", color=FAINT, lw=1)
    right.plot([], [], ",", color=BLUE, alpha=0.6)
    right.set(xlabel="true utility", ylabel="changed utility", xlim=(-reach, reach), ylim=(-2 * reach, 2 * reach))
    say(fig, f"Features of {USERS} users and {ITEMS} items, turned and moved")
    return fig


def valley_live() -> Live:
    """Turn the true features and move them away; see how the loss and the utilities change."""
    fig = _draw_valley()
    X = truth()[0] @ truth()[1].T
    ground, dot, cloud = fig.axes[0].images[0], fig.axes[0].lines[0], fig.axes[1].lines[1]

    def update(angle: float, away: float, shown: bool) -> str:
        place, loss = placed(angle, away)
        dot.set_data([angle], [away])
        cloud.set_data(X.ravel(), (place[:USERS] @ place[USERS:].T).ravel())
        ground.set_visible(shown)
        changed = np.linalg.norm(place - _valley()[1]) / np.linalg.norm(place)
        return f"features changed by {changed:.0%} of their norm, loss {loss - placed(0, 0)[1]:.3f} above the minimum"

    controls = {
        "angle": drag(0, -180, 180, 5, "turned by"),
        "away": drag(0, -50, 50, 5, "moved by (%)"),
        "shown": reveal("loss"),
    }
    look = "Drag as far from the truth as you can without a loss. Then show the loss everywhere."
    return Live(controls, fig, [ground, dot, cloud], update, look)


# ---- the ridge ----


@cache
def fits_by_ridge() -> dict[float, tuple[Floats, float, float, float]]:
    """Return, for each ridge, utilities fitted to 4110 choices, the loss on these and on others, and the error."""
    U, V = truth()
    own = simulate.draw_comparisons(U, V, CHOICES, random_state=1)
    other = simulate.draw_comparisons(U, V, 4000, random_state=7)
    found = {}
    for ridge in RIDGES:
        F = fitted(own, ridge=ridge)
        found[ridge] = F[0] @ F[1].T, _loss(own, *F), _loss(other, *F), utility_error(*F, U, V)
    return found


def _loss(d: Comparisons, U: Floats, V: Floats) -> float:
    z = np.sum(U[d.user] * (V[d.left] - V[d.right]), axis=1)
    return float(np.mean(np.logaddexp(0, z) - d.outcome * z))


@styled
def _draw_ridge() -> Figure:
    own, other = np.array([each[1:3] for each in fits_by_ridge().values()]).T
    fig = new_picture(7.5, 3)
    left, right = fig.subplots(1, 2)
    left.semilogx(RIDGES, own, color=BLUE, label="loss on the fitted choices")
    left.semilogx(RIDGES, other, "--", color=ORANGE, label="loss on other choices")
    left.plot([], [], "o", color=BLUE, mec="white", ms=8)
    left.set(xlabel="ridge β", ylabel="loss (nats per choice)", ylim=(0.54, 0.77))
    left.legend(loc="upper center")
    reach = 1.1 * float(np.abs(truth()[0] @ truth()[1].T).max())
    right.plot([-reach, reach], [-reach, reach], "--", color=FAINT, lw=1)
    right.plot([], [], ",", color=BLUE, alpha=0.6)
    right.set(xlabel="true utility", ylabel="estimated utility", xlim=(-reach, reach), ylim=(-4 * reach, 4 * reach))
    say(fig, f"{CHOICES:,} choices, fitted with ridges from {RIDGES[0]} to {RIDGES[-1]}")
    return fig


def ridge_live() -> Live:
    """Drag the ridge: utilities become too large, right, too small; then see which ridge is best on other choices."""
    fig = _draw_ridge()
    X = truth()[0] @ truth()[1].T
    (_, other, dot), cloud = fig.axes[0].lines, fig.axes[1].lines[1]

    def update(ridge: float, shown: bool) -> str:
        found, own, held, error = fits_by_ridge()[ridge]
        dot.set_data([ridge], [own])
        cloud.set_data(X.ravel(), found.ravel())
        other.set_visible(shown)
        told = f"on other choices {held:.3f}, relative error {error:.2f}" if shown else "and on other choices?"
        return f"ridge {ridge:g}: loss on the fitted choices {own:.3f}, {told}"

    controls = {"ridge": sliding(RIDGES, RIDGES[0], "ridge β"), "shown": reveal("other choices")}
    look = "Drag to the ridge that you would choose. Then show the loss on choices that no fit used."
    return Live(controls, fig, [other, dot, cloud], update, look)


# ---- from one ranking to tastes ----


def hide_recipes(food: Comparisons, seed: int, per_person: int = 7) -> tuple[Comparisons, Comparisons]:
    """Hide recipes from each person; return the comparisons without hidden recipes, and those between two of them."""
    rng = np.random.default_rng(seed)
    hidden = np.zeros((food.n_users, food.n_items), dtype=bool)
    for person in range(food.n_users):
        own = food.user == person
        met = np.union1d(food.left[own], food.right[own])
        hidden[person, rng.permutation(met)[:per_person]] = True
    first, second = hidden[food.user, food.left], hidden[food.user, food.right]
    return food.take(~(first | second)), food.take(first & second)


def share_right(model: ComparisonMF, held: Comparisons) -> float:
    """Return the fraction of held-out comparisons whose winner the model predicts; ties are left out."""
    users, items = np.array(held.users), np.array(held.items)
    margin = model.margin(users[held.user], items[held.left], items[held.right])
    told = held.outcome != 0.5
    return float(((1 + np.sign(margin) * np.sign(held.outcome - 0.5)) / 2)[told].mean())


@cache
def fits_by_price() -> tuple[dict[int, Floats], dict[int, tuple[float, float]]]:
    """Return, for each ridge, utilities of people and recipes, and the accuracies on new pairs and new recipes."""
    food = load("food").comparisons
    cuts = {
        "pairs": lambda seed: food.hold_out(0.2, random_state=seed),
        "recipes": lambda seed: hide_recipes(food, seed),
    }
    shown = np.unique([food.left, food.right])
    utilities, right = {}, {}
    for price in PRICES:
        settings = {"rank": 3, "ridge": price, "max_iter": 10_000, "tol": 1e-7, "random_state": 0}
        fit = ComparisonMF(**settings).fit(food)
        X = (fit.user_factors_ @ fit.item_factors_.T + fit.item_bias_)[:, shown]
        utilities[price] = expit(X - X.mean(axis=1, keepdims=True)) - 0.5
        shares = [[share_right(ComparisonMF(**settings).fit(learn), held) for learn, held in map(cut, range(SPLITS))]
                  for cut in cuts.values()]  # fmt: skip
        right[price] = tuple(map(float, np.mean(shares, axis=1)))
    return utilities, right


@styled
def _draw_tastes(first: Floats, right: dict[int, tuple[float, float]]) -> Figure:
    pairs, recipes = 100 * np.array(list(right.values())).T
    fig = new_picture(7.5, 3)
    left, beside = fig.subplots(1, 2, width_ratios=[1.2, 1])
    heat(left, first, (-0.5, 0.5), DIVERGING)
    left.set(
        xticks=[], yticks=[], xlabel="recipes", ylabel="people", title="utilities, as probabilities", aspect="auto"
    )
    beside.semilogx(PRICES, pairs, color=BLUE, label="new pairs")
    beside.semilogx(PRICES, recipes, "--", color=ORANGE, label="new recipes")
    beside.plot([], [], "o", color=BLUE, mec="white", ms=8)
    beside.axhline(50, color=FAINT, lw=1, ls=":")
    beside.set(xlabel="ridge on tastes", ylabel="accuracy on held-out pairs (%)", ylim=(45, 90))
    beside.invert_xaxis()  # tastes to the right, as on the slider
    beside.legend(loc="upper left")
    say(fig, f"{len(first)} people: from one ranking for all to individual tastes")
    return fig


def taste_live() -> Live:
    """Drag from one ranking for all to individual tastes; then see the accuracy on recipes new to a person."""
    utilities, right = fits_by_price()
    fig = _draw_tastes(utilities[PRICES[-1]], right)
    image, (_, recipes, dot) = fig.axes[0].images[0], fig.axes[1].lines[:3]

    def update(price: int, shown: bool) -> str:
        image.set_data(utilities[price])
        pairs, new = right[price]
        dot.set_data([price], [100 * pairs])
        recipes.set_visible(shown)
        told = f"and {100 * new:.0f} % of pairs of new recipes" if shown else "and of pairs of new recipes?"
        return f"ridge {price}: {100 * pairs:.0f} % of new pairs right, {told}"

    controls = {"price": sliding(PRICES[::-1], PRICES[-1], "ridge on tastes"), "shown": reveal("new recipes")}
    look = "Drag to the right: the rows become different. How far would you go? Then show the accuracy on new recipes."
    return Live(controls, fig, [image, recipes, dot], update, look)
