"""What notebook 03 measures and draws: the error of imputed blocks against the number of co-labelled items.

symbol   meaning
S        tasks that every observed pair of annotators labelled in common
e(S)     error of the missing blocks relative to their norm (Frobenius, all of them together)
c, b     of the power law e(S) = c S^-b; Theorem 1 says b = 1/2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats, Ints
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.plots.style import INK, new_picture, percent, say, styled
from course.crowds import MARKS, HoledCrowd, hide_pairs, small_crowd

SIZES = (30, 100, 300, 1000, 3000, 10_000)
LARGE = 100  # the power law is fitted from here: below, an imputed block is as wrong as it can be


def holes(
    n_items: int, n_workers: int = 12, n_classes: int = 3, share: float = 0.3, outlying: float = 0.0, seed: int = 0
) -> HoledCrowd:
    """Let annotators label `n_items` tasks, hide a share of the pairs, garble a share of the blocks that are left."""
    crowd = small_crowd(n_workers, n_classes, n_items, seed)
    problem = HoledCrowd.of(crowd, hide_pairs(n_workers, share, seed))
    return replace(problem, cooc=garble(problem.cooc, outlying, seed))


def garble(cooc: Cooccurrences, share: float, seed: int = 0) -> Cooccurrences:
    """Replace a share of the observed blocks by random ones: tasks mixed up, answers copied, a broken upload.

    A larger share garbles the same blocks and more. Which blocks they are, nobody tells the methods.
    """
    if not 0 <= share <= 1:
        raise CofactorError(f"share={share}: ask for 0 to 1")
    K, blocks = cooc.n_classes, cooc.blocks.copy()
    e, mirror = _pairs(cooc)
    rng = np.random.default_rng(seed)
    order, wrong = rng.permutation(len(e)), rng.dirichlet(np.ones(K * K), len(e)).reshape(-1, K, K)
    bad = order[: round(share * len(e))]
    blocks[e[bad]], blocks[mirror[bad]] = wrong[bad], wrong[bad].transpose(0, 2, 1)
    return replace(cooc, blocks=blocks)


def _pairs(cooc: Cooccurrences) -> tuple[Ints, Ints]:
    """Places of R_mj and R_jm among the blocks, for each observed pair m < j."""
    place = np.zeros((cooc.n_workers,) * 2, dtype=np.int64)
    place[cooc.rows, cooc.indices] = np.arange(len(cooc.indices))
    e = np.flatnonzero(cooc.rows < cooc.indices)
    return e, place[cooc.indices[e], cooc.rows[e]]


class PowerLaw(NamedTuple):
    """e(S) = c S^-b, fitted crowd by crowd, so that the spread over crowds is known.

    `exponents` holds b of each crowd, by least squares on log-log axes, `constants` c of each crowd with b = 1/2.
    """

    exponents: Floats
    constants: Floats

    @classmethod
    def fit(cls, sizes: Ints, errors: Floats) -> PowerLaw:
        """Fit (seeds, n) errors at (n,) sizes."""
        if len(sizes) < 2:
            raise CofactorError("a power law needs errors at two sizes or more")
        slopes = np.polyfit(np.log(sizes), np.log(errors).T, 1)[0]
        return cls(-slopes, np.exp((np.log(errors) + np.log(sizes) / 2).mean(axis=1)))

    @property
    def exponent(self) -> tuple[float, float]:
        """Mean of b, and its standard error."""
        return float(self.exponents.mean()), float(self.exponents.std(ddof=1) / np.sqrt(len(self.exponents)))

    @property
    def constant(self) -> tuple[float, float, float]:
        """Median of c over crowds, and the range that holds 80 % of them."""
        low, middle, high = np.quantile(self.constants, [0.1, 0.5, 0.9])
        return float(middle), float(low), float(high)

    def items_needed(self, error: float) -> tuple[float, float, float]:
        """Return S = (c / error)^2 for the median crowd, and for the range of 80 %."""
        middle, low, high = ((c / error) ** 2 for c in self.constant)
        return middle, low, high


class SampleErrors(NamedTuple):
    """Errors e(S) of the missing blocks: (n,) sizes S, by imputation a (seeds, n) array, the setting in words."""

    sizes: Ints
    by_method: dict[str, Floats]
    setting: str

    def rate(self, method: str, smallest: int = LARGE) -> PowerLaw:
        """Fit the power law of one method to the sizes from `smallest` on."""
        large = self.sizes >= smallest
        return PowerLaw.fit(self.sizes[large], self.by_method[method][:, large])


@lru_cache(maxsize=64)
def sample_errors(
    n_workers: int = 12,
    n_classes: int = 3,
    share: float = 0.3,
    outlying: float = 0.0,
    methods: Sequence[str] = ("designated", "robust"),
    sizes: Sequence[int] = SIZES,
    seeds: Sequence[int] = range(10),
) -> SampleErrors:
    """Measure e(S) on simulated crowds of `small_crowd`; about 2 ms per crowd, size and method at the defaults."""
    table = np.empty((len(methods), len(seeds), len(sizes)))
    for s, seed in enumerate(seeds):
        for i, n_items in enumerate(sizes):
            problem = holes(n_items, n_workers, n_classes, share, outlying, seed)
            table[:, s, i] = [problem.error(problem.fill(method)) for method in methods]
    setting = f"{100 * share:.0f} % of pairs missing, {100 * outlying:.0f} % of blocks garbage"
    return SampleErrors(np.array(sizes), dict(zip(methods, table, strict=True)), setting)


@styled
def draw_sample_errors(errors: SampleErrors) -> Figure:
    """Draw the error of missing blocks against co-labelled items on log-log axes, beside the slope of Theorem 1."""
    fig = new_picture(height=3.8)
    ax = fig.subplots()
    for name, values in errors.by_method.items():
        colour, marker, line = MARKS[name]
        ax.fill_between(
            errors.sizes, 100 * values.min(axis=0), 100 * values.max(axis=0), color=colour, alpha=0.13, lw=0
        )
        ax.plot(errors.sizes, 100 * values.mean(axis=0), color=colour, marker=marker, ls=line, label=name)
    best = min(values[:, -1].mean() for values in errors.by_method.values())
    ax.plot(
        errors.sizes, 80 * best * np.sqrt(errors.sizes[-1] / errors.sizes), color=INK, lw=0.9, ls=":",
        label="slope of $1/\\sqrt{S}$",
    )  # fmt: skip
    _log_axes(ax)
    ax.legend(
        title=f"mean and range, {len(next(iter(errors.by_method.values())))} crowds", alignment="left", loc="lower left"
    )
    ax.set_title(errors.setting, loc="left", color=INK)
    slopes = ", ".join(_slope(errors, name) for name in errors.by_method)
    say(fig, f"Error falls as S to the power of {slopes} (Theorem 1: \N{MINUS SIGN}0.5)")
    return fig


def _slope(errors: SampleErrors, name: str) -> str:
    exponent, spread = errors.rate(name).exponent
    return f"\N{MINUS SIGN}{exponent:.2f} ± {spread:.2f} ({name})"


def _log_axes(ax: Axes) -> None:
    ax.set(xscale="log", yscale="log", xlabel="co-labelled items S of each observed pair")
    ax.set_ylabel("error of missing blocks (% of norm)")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


@styled
def draw_items_needed(errors: SampleErrors, method: str, target: float) -> Figure:
    """Draw the fitted c / sqrt(S) with its range over crowds, and where it crosses a target error."""
    if not 0 < target < 1:
        raise CofactorError(f"target={target}: ask for a relative error between 0 and 1")
    law = errors.rate(method)
    needed, fewest, most = law.items_needed(target)
    fig = new_picture(height=3.6)
    ax = fig.subplots()
    colour, marker, _ = MARKS[method]
    S = np.geomspace(errors.sizes[0], max(errors.sizes[-1], 1.5 * most), 50)
    _fill_law(ax, law, S, colour)
    ax.plot(errors.sizes, 100 * errors.by_method[method].T, color=colour, marker=marker, ms=3, ls="", alpha=0.5)
    ax.axhline(100 * target, color=INK, lw=0.9, ls="--")
    ax.plot([fewest, most], [100 * target] * 2, color=INK, lw=4, solid_capstyle="butt")
    ax.plot(needed, 100 * target, "D", color=INK, ms=6)
    _log_axes(ax)
    ax.set_title(f"{method} imputation, {errors.setting}; dots: single crowds", loc="left", color=INK)
    say(
        fig,
        f"For {percent(target)} error: {needed:,.0f} co-labelled items per pair "
        f"({fewest:,.0f} to {most:,.0f} for 80\N{NO-BREAK SPACE}% of the crowds)",
    )
    return fig


def _fill_law(ax: Axes, law: PowerLaw, S: np.ndarray, colour: object) -> None:
    middle, low, high = law.constant
    ax.fill_between(S, 100 * low / np.sqrt(S), 100 * high / np.sqrt(S), color=colour, alpha=0.2, lw=0)
    ax.plot(S, 100 * middle / np.sqrt(S), color=colour)
