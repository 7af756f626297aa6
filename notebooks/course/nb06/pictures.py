"""Pictures of notebook 06 and what they show: utilities, maps, the landscape, descents, amounts, accuracies."""

from __future__ import annotations

import warnings
from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import ArrayLike
from scipy.special import expit

from cofactor import simulate
from cofactor.comparisons import (
    ComparisonMF,
    Comparisons,
    Objective,
    PreferenceModel,
    barzilai_borwein,
    expected_error,
    pair_accuracy,
    spectral_start,
    utility_error,
)
from cofactor.comparisons.formulas import degrees_of_freedom
from cofactor.comparisons.spectral import residual_matrix
from cofactor.core.errors import CofactorError, ConvergenceWarning
from cofactor.core.types import Floats
from cofactor.plots import style
from cofactor.plots.style import BLUE, FAINT, INK, LOOKS, ORANGE, WIDTH, heat, new_picture, number, percent, say, styled
from course.nb06.panels import ITEMS, SHOWN, USERS

BESIDE = 2  # maps in a row
SMALL = 1e-8  # smaller errors depend on when a solver stops
FLAT = 1e-6  # where eigenvalues that are zero are drawn, relative to the largest

Tastes = namedtuple("Tastes", "users items U V")


@styled
def draw_utilities(data: Comparisons, found: Floats, truth: Floats) -> Figure:
    """Draw what comparisons say of each user and item, utilities found and true ones; rows and columns sorted."""
    seen = residual_matrix(data).toarray()
    rows, columns = (np.argsort(_angle(side)) for side in (truth, truth.T))
    reach = float(np.abs(truth).max())
    fig = new_picture(7.5, 2.7)
    shown = {f"{len(data):,} comparisons": seen / np.abs(seen).max(), "found": found / reach, "true": truth / reach}
    for ax, (name, X) in zip(fig.subplots(1, 3), shown.items(), strict=True):
        heat(ax, X[np.ix_(rows, columns)], (-1, 1), style.DIVERGING)
        style.bare(ax)
        ax.set(title=name, xlabel="items", ylabel="users")
    error = float(np.linalg.norm(found - truth) / np.linalg.norm(truth))
    said = f"{truth.size:,} utilities from {len(data):,} comparisons"
    say(fig, f"{said}: relative error {number(error) if error > SMALL else f'below {number(SMALL)}'}")
    return fig


def _angle(X: Floats) -> Floats:
    """Direction of every row in the plane of the first two singular vectors."""
    A = np.linalg.svd(X, full_matrices=False)[0]
    A = A * np.sign(A[np.abs(A).argmax(axis=0), np.arange(A.shape[1])])  # the sign of singular vectors is chance
    return np.asarray(np.arctan2(A[:, 1], A[:, 0]))


# ---- maps ----


def tastes() -> Tastes:
    """Four people and six dishes, centred, of two features: hot against mild, meat against plants."""
    U = np.array([[1.6, 0.4], [0.3, -1.5], [-1.3, 0.9], [-0.8, -1.0]])
    V = np.array([[1.0, 0.9], [1.2, -0.8], [-0.9, 1.1], [-1.0, -0.2], [0.2, -1.3], [0.1, 0.6]])
    dishes = "chilli", "curry", "roast", "risotto", "salad", "pizza"
    return Tastes(("Ann", "Ben", "Cleo", "Dan"), dishes, U, V - V.mean(axis=0))


def differences(U: Floats, V: Floats) -> Floats:
    """Return the (n1, n2, n2) differences of utilities, all that comparisons depend on."""
    X = U @ V.T
    return np.asarray(X[:, :, None] - X[:, None, :])


@styled
def draw_maps(people: Tastes, maps: Mapping[str, tuple[Floats, Floats]]) -> Figure:
    """Draw users (arrows) and items (points) under several features; the title says what comparisons notice."""
    if not maps:
        raise CofactorError("no map to draw: give at least one name with its features U and V")
    rows = -(-len(maps) // BESIDE)
    fig = new_picture(WIDTH, 0.3 + 2.7 * rows)
    axes = fig.subplots(rows, min(len(maps), BESIDE), squeeze=False).ravel()
    for ax in axes[len(maps) :]:
        ax.remove()
    for ax, (name, (U, V)) in zip(axes, maps.items(), strict=False):
        _fill_map(ax, people, U, V)
        ax.set_title(name)
    base = differences(people.U, people.V)
    worst = max(float(np.abs(differences(U, V) - base).max()) for U, V in maps.values())
    told = f"a difference of utilities changes by {worst:.2g}"
    told = "no difference of utilities changes" if worst < SHOWN else told
    say(fig, f"{'Different' if len(maps) > 1 else 'These'} features, and {told}")
    return fig


def _fill_map(ax: Axes, people: Tastes, U: Floats, V: Floats) -> None:
    small: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8, "path_effects": style.HALO}
    for name, u in zip(people.users, U, strict=True):
        ax.annotate("", u, (0, 0), arrowprops={"arrowstyle": "-|>", "color": ORANGE, "lw": 1.3})
        shift, va = ((0, 3), "bottom") if u[1] >= 0 else ((0, -3), "top")
        ax.annotate(name, u, shift, ha="center", va=va, color=INK, **small)
    ax.plot(*V.T, "o", color=BLUE, ms=5, zorder=4)
    for name, v in zip(people.items, V, strict=True):
        ax.annotate(name, v, (4, 3), color=BLUE, **small)
    ax.axhline(0, color=FAINT, lw=0.5, zorder=0)
    ax.axvline(0, color=FAINT, lw=0.5, zorder=0)
    everything = np.vstack([U, V, [[0, 0]]])
    margin = 0.2 * np.ptp(everything, axis=0).max()
    low, high = everything.min(axis=0) - margin, everything.max(axis=0) + margin
    ax.set(xlim=(low[0], high[0] + margin), ylim=(low[1], high[1]), xticks=[], yticks=[])


# ---- the landscape ----


def losses_around(objective: Objective, U: Floats, V: Floats, seed: int = 2) -> tuple[Floats, Floats, Floats]:
    """Return angles, shares, and the (shares, angles) loss.

    The first two features are turned by an angle (degrees), and a share of their length is added in a random direction.
    """
    angles, shares = np.linspace(-180, 180, 73), np.linspace(-0.5, 0.5, 41)
    N = np.random.default_rng(seed).standard_normal((len(U) + len(V), U.shape[1]))
    N *= np.sqrt((np.sum(U**2) + np.sum(V**2)) / np.sum(N**2))
    loss = np.empty((len(shares), len(angles)))
    for (i, j), _ in np.ndenumerate(loss):
        c, s = np.cos(np.radians(angles[j])), np.sin(np.radians(angles[j]))
        Q = np.eye(U.shape[1])
        Q[:2, :2] = [[c, -s], [s, c]]
        Z = np.vstack([U, V]) @ Q + shares[i] * N
        loss[i, j] = objective(Z.ravel())[0]
    return angles, shares, loss


@styled
def draw_plane(objective: Objective, U: Floats, V: Floats) -> Figure:
    """Draw the loss around the truth: turned left to right, moved away up and down."""
    angles, shares, loss = losses_around(objective, U, V)
    fig = new_picture(height=3.2)
    ax = fig.subplots()
    image = ax.contourf(angles, 100 * shares, np.sqrt(np.maximum(loss, 0)), levels=12, cmap=style.SEQUENTIAL)
    fig.colorbar(image, label="square root of the loss", ax=ax)
    ax.axhline(0, color=ORANGE, lw=1.5, ls="--")
    ax.set(xlabel="features turned by (degrees)", ylabel="moved by (% of their length)")
    ax.set(xticks=[-180, -90, 0, 90, 180])
    most = float(loss[np.abs(shares).argmin()].max())
    largest = number(most) if most > SHOWN else f"below {number(SHOWN)}"
    say(fig, f"A valley of equals: on the dashed line the loss is {largest}; steps off it cost")
    return fig


def curvature(objective: Objective, x: Floats) -> Floats:
    """Return the eigenvalues (increasing) of the Gauss-Newton matrix of the likelihood at x."""
    product = objective.curvature(x)
    return np.maximum(np.linalg.eigh(np.array([product(e) for e in np.eye(x.size)]))[0], 0.0)


def flat_directions(values: ArrayLike) -> int:
    """Count eigenvalues that are zero but for rounding."""
    values = np.asarray(values, dtype=np.float64)
    return int(np.sum(values < 1e-10 * values.max()))


@styled
def draw_spectrum(spectra: Mapping[str, ArrayLike]) -> Figure:
    """Draw eigenvalues of the curvature, largest first, relative to the largest; zeros lie on the floor."""
    if not spectra:
        raise CofactorError("no curvature to draw: give at least one name with its eigenvalues")
    fig = new_picture(height=3.1)
    ax = fig.subplots()
    for (name, values), (colour, marker, line) in zip(spectra.items(), LOOKS, strict=False):
        values = np.sort(np.asarray(values, dtype=np.float64))[::-1]
        shown = np.maximum(values / values[0], FLAT)
        shown[len(values) - flat_directions(values) :] = FLAT
        ax.semilogy(np.arange(1, len(values) + 1), shown, color=colour, marker=marker, ls=line, ms=2.5, label=name)
    ax.axhline(FLAT, color=FAINT, lw=0.8, ls=":")
    ax.text(1, 1.3 * FLAT, "zero", color=INK, fontsize=8.5, va="bottom")
    ax.set(xlabel="direction, steepest first", ylabel="curvature, relative")
    ax.legend(loc="center left")
    told = [f"{flat_directions(values)} with {name}" for name, values in spectra.items()]
    say(fig, f"Flat directions: {', '.join(told)}")
    return fig


# ---- descents ----


@styled
def draw_descents(runs: Mapping[str, ArrayLike], rate: float | None = None) -> Figure:
    """Draw relative errors of utilities, iteration by iteration, with a line of the given rate beside them."""
    if not runs:
        raise CofactorError("no descent to draw: give at least one name with its errors")
    fig = new_picture(height=3.4)
    ax = fig.subplots()
    curves = {name: np.maximum(np.asarray(errors, dtype=np.float64), SHOWN) for name, errors in runs.items()}
    for (name, errors), (colour, marker, line) in zip(curves.items(), LOOKS, strict=False):
        every = max(len(errors) // 12, 1)
        ax.semilogy(errors, color=colour, ls=line, lw=1.8, marker=marker, ms=4, markevery=every, label=name)
    if rate is not None:
        t = np.arange(max(map(len, curves.values())))
        ax.semilogy(t, np.maximum(3 * rate**t, SHOWN), color=FAINT, lw=1, ls=":", label=f"× {rate:.3f} per iteration")
    ax.set(xlabel="iteration", ylabel="relative error of utilities")
    ax.legend()
    say(fig, _arrivals(curves))
    return fig


def _arrivals(curves: Mapping[str, Floats], level: float = 1e-6) -> str:
    told = []
    for name, errors in curves.items():
        below = np.flatnonzero(errors < level)
        told.append(f"{below[0]} ({name})" if below.size else f"more than {len(errors) - 1} ({name})")
    return f"Iterations to a relative error of {number(level)}: {', '.join(told)}"


# ---- amounts ----


def too_few(multiples: Sequence[float], n_trials: int = 5, rank: int = 2, max_iter: int = 400) -> dict[str, Floats]:
    """Fit ever more exact comparisons of one crowd, multiples of the degrees of freedom, from the spectral start.

    Returns (trials, multiples) arrays: the relative error of utilities, and the root mean square gaps of chances on
    other comparisons and on those fitted to.
    """
    truth = simulate.comparison_factors(USERS, ITEMS, rank, random_state=0)
    dof = degrees_of_freedom(USERS, ITEMS, rank)
    found = np.empty((3, n_trials, len(multiples)))
    for seed in range(n_trials):
        fresh = simulate.draw_comparisons(*truth, 2000, "exact", random_state=1000 + seed)
        for k, multiple in enumerate(multiples):
            data = simulate.draw_comparisons(*truth, round(multiple * dof), "exact", random_state=seed + 1)
            objective = Objective(data, rank)
            start = objective.join(*spectral_start(data, rank, random_state=0))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # hopeless ones run as long as they may
                x, _ = barzilai_borwein(objective, start, max_iter, tol=1e-10)
            error = utility_error(*objective.split(x)[:2], *truth)
            found[:, seed, k] = error, gap(fresh, x, rank), gap(data, x, rank)
    return dict(zip(LEFT, found, strict=True))


LEFT = ("error of utilities, relative", "gap on held-out comparisons", "gap on its own comparisons")


def gap(data: Comparisons, x: Floats, rank: int) -> float:
    """Root mean square of chances less outcomes."""
    z = Objective(data, rank).differences(x)
    return float(np.sqrt(np.mean((expit(z) - data.outcome) ** 2)))


@styled
def draw_too_few(multiples: Sequence[float], found: Mapping[str, ArrayLike]) -> Figure:
    """Draw what `too_few` found, against comparisons per degree of freedom (medians over trials)."""
    fig = new_picture(height=3.3)
    ax = fig.subplots()
    medians = [np.median(np.asarray(found[name]), axis=0) for name in LEFT]
    for name, values, (colour, marker, line) in zip(LEFT, medians, LOOKS, strict=False):
        ax.semilogy(multiples, np.maximum(values, SHOWN), color=colour, marker=marker, ls=line, label=name)
    ax.set(xlabel="comparisons per degree of freedom", ylabel="median over trials")
    ax.legend()
    error, _, trained = (values[0] for values in medians)
    within = number(10 ** np.ceil(np.log10(trained)))
    off = "more than half" if error > 0.5 else percent(error)  # the digits of a hopeless fit are chance
    first = f"With {multiples[0]:g} per degree of freedom"
    say(fig, f"{first} the gap of the fit is below {within}, and the utilities are off by {off}")
    return fig


class Choices(NamedTuple):
    """Relative errors of fits to choices: (trials, sizes) beside the (sizes,) predicted ones."""

    n_comparisons: Floats
    errors: Floats
    expected: Floats

    @property
    def slope(self) -> float:
        """Of log error against log m."""
        mean = np.log(self.errors).mean(axis=0)
        return float(np.polyfit(np.log(self.n_comparisons), mean, 1)[0])


def choices(per_dof: Sequence[float], n_trials: int = 3, rank: int = 2) -> Choices:
    """Fit ever more binary choices of one crowd, the ridge chosen on held-out ones."""
    U, V = simulate.comparison_factors(USERS, ITEMS, rank, random_state=0)
    spread = float(np.sqrt(np.mean((U @ V.T) ** 2)))
    m = [round(multiple * degrees_of_freedom(USERS, ITEMS, rank)) for multiple in per_dof]
    errors = np.empty((n_trials, len(m)))
    for (seed, k), _ in np.ndenumerate(errors):
        data = simulate.draw_comparisons(U, V, m[k], "binary", random_state=seed + 1)
        fit = ComparisonMF(rank, item_bias=False, random_state=seed).fit(data)
        errors[seed, k] = utility_error(fit.user_factors_, fit.item_factors_, U, V)
    expected = [expected_error(size, USERS, ITEMS, rank, spread) for size in m]
    return Choices(np.array(m, dtype=np.float64), errors, np.array(expected))


@styled
def draw_choices(found: Choices) -> Figure:
    """Draw errors of fits to binary choices against their number, beside the predicted ones."""
    fig = new_picture(height=3.2)
    ax = fig.subplots()
    m, mean = found.n_comparisons, found.errors.mean(axis=0)
    ax.loglog(m, found.expected, color=FAINT, lw=1.5, ls="--", label="predicted")
    ax.loglog(m, found.errors.T, "o", color=BLUE, ms=4, alpha=0.5, mew=0)
    ax.loglog(m, mean, "D", color=BLUE, ms=6, mec="white", label="found (mean; dots: trials)")
    ax.set(xlabel="choices m", ylabel="relative error of utilities")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_formatter(NullFormatter())
    ax.set_xticks(m, [f"{amount:,.0f}" for amount in m])
    ax.set_yticks([0.1, 0.2, 0.4, 0.8], ["0.1", "0.2", "0.4", "0.8"])
    ax.legend()
    slope = f"{found.slope:.2f}".replace("-", "−")
    say(fig, f"{m[-1] / m[0]:.0f} times the choices, an error {mean[0] / mean[-1]:.1f} times smaller: slope {slope}")
    return fig


# ---- recommending ----


def hide_items(data: Comparisons, per_user: int = 7, seed: int = 0) -> tuple[Comparisons, Comparisons]:
    """Hide some items of every user: learn from comparisons without them, test on those among them."""
    rng = np.random.default_rng(seed)
    hidden = np.zeros((data.n_users, data.n_items), dtype=bool)
    for user in range(data.n_users):
        own = data.user == user
        met = np.unique(np.concatenate([data.left[own], data.right[own]]))
        hidden[user, rng.permutation(met)[:per_user]] = True
    left, right = hidden[data.user, data.left], hidden[data.user, data.right]
    return data.take(~(left | right)), data.take(left & right)


def accuracy(model: PreferenceModel, held: Comparisons) -> float:
    """Share of held-out comparisons whose winner the model has on top."""
    users, items = (np.array(list(names), dtype=object) for names in (held.users, held.items))
    margin = model.margin(users[held.user], items[held.left], items[held.right])
    return pair_accuracy(margin, held.outcome, held.counts)


@styled
def draw_accuracies(settings: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Draw held-out pair accuracies of methods (mean and all splits), one panel per way of holding out."""
    if not settings:
        raise CofactorError("nothing to draw: give at least one setting with its methods' accuracies")
    names = list(next(iter(settings.values())))[::-1]
    fig = new_picture(WIDTH, 1.4 + 0.35 * len(names))
    axes = fig.subplots(1, len(settings), sharey=True, squeeze=False)[0]
    told = []
    for ax, (setting, found) in zip(axes, settings.items(), strict=True):
        means = {name: float(np.mean(found[name])) for name in names}
        for y, name in enumerate(names):
            values = 100 * np.asarray(found[name])
            ax.plot(values, np.full(len(values), y), "o", color=BLUE, ms=3.5, alpha=0.45, mew=0)
            ax.plot(values.mean(), y, "D", color=BLUE, ms=6, mec="white")
        ax.axvline(50, color=FAINT, lw=1, ls=":")
        ax.set(title=setting, xlabel="held-out pairs right (%)", yticks=range(len(names)), yticklabels=names)
        ax.margins(y=0.25)
        ax.set_xlim(45, 100)
        best = max(means, key=lambda name: means[name])
        told.append(f"{setting}, {best} with {percent(means[best])}")
    say(fig, f"Best: {'; '.join(told)}")
    return fig
