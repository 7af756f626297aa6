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

from cofactor.core.types import Floats, Ints
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor_app.plots.style import INK, new_picture, percent, say, styled
from course.crowds import MARKS, HoledCrowd, hide_pairs, small_crowd

SIZES = (30, 100, 300, 1000, 3000, 10_000)
LARGE = 100  # the power law is fitted from here on: for smaller S, the errors are not small yet


def holes(
    n_items: int, n_workers: int = 12, n_classes: int = 3, share: float = 0.3, outlying: float = 0.0, seed: int = 0
) -> HoledCrowd:
    """Draw labels of `n_items` tasks, hide a fraction of the pairs, and garble a fraction of the remaining blocks."""
    problem = HoledCrowd.of(small_crowd(n_workers, n_classes, n_items, seed), hide_pairs(n_workers, share, seed))
    return replace(problem, cooc=garble(problem.cooc, outlying, seed))


def garble(cooc: Cooccurrences, share: float, seed: int = 0) -> Cooccurrences:
    """Replace a fraction of the observed blocks by random ones; a larger fraction includes the same blocks."""
    K, blocks, rng = cooc.n_classes, cooc.blocks.copy(), np.random.default_rng(seed)
    mirror = np.lexsort((cooc.rows, cooc.indices))  # of each R_mj the place of R_jm, since both are there
    pairs = np.flatnonzero(cooc.rows < cooc.indices)
    bad = rng.permutation(len(pairs))[: round(share * len(pairs))]
    wrong = rng.dirichlet(np.ones(K * K), len(pairs)).reshape(-1, K, K)[bad]
    blocks[pairs[bad]], blocks[mirror[pairs[bad]]] = wrong, wrong.transpose(0, 2, 1)
    return replace(cooc, blocks=blocks)


class SampleErrors(NamedTuple):
    """Errors e(S) of the missing blocks: (n,) sizes S, a (crowds, n) array per imputation, and the setting in words."""

    sizes: Ints
    by_method: dict[str, Floats]
    setting: str

    def exponent(self, method: str) -> tuple[float, float]:
        """Return the mean and standard error of b over the crowds, fitted from `LARGE` items on."""
        large = self.sizes >= LARGE
        slopes = np.polyfit(np.log(self.sizes[large]), np.log(self.by_method[method][:, large]).T, 1)[0]
        return float(-slopes.mean()), float(slopes.std(ddof=1) / np.sqrt(len(slopes)))


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
    """Measure e(S) on simulated crowds; about 2 ms per crowd, size and method at the defaults."""
    table = np.empty((len(methods), len(seeds), len(sizes)))
    for s, seed in enumerate(seeds):
        for i, n_items in enumerate(sizes):
            problem = holes(n_items, n_workers, n_classes, share, outlying, seed)
            table[:, s, i] = [problem.error(problem.fill(method)) for method in methods]
    setting = f"{percent(share)} of the pairs missing, {percent(outlying)} of the blocks garbage"
    return SampleErrors(np.array(sizes), dict(zip(methods, table, strict=True)), setting)


@styled
def draw_sample_errors(errors: SampleErrors) -> Figure:
    """Draw the error of missing blocks against co-labelled items on log-log axes, beside the slope of Theorem 1."""
    fig = new_picture(height=3.8)
    ax, S = fig.subplots(), errors.sizes
    for name, values in errors.by_method.items():
        colour, marker, line = MARKS[name]
        ax.fill_between(S, 100 * values.min(axis=0), 100 * values.max(axis=0), color=colour, alpha=0.13, lw=0)
        ax.plot(S, 100 * values.mean(axis=0), color=colour, marker=marker, ls=line, label=name)
    best = min(values[:, -1].mean() for values in errors.by_method.values())
    ax.plot(S, 80 * best * np.sqrt(S[-1] / S), color=INK, lw=0.9, ls=":", label="slope of $1/\\sqrt{S}$")
    log_axes(ax)
    ax.legend(title=f"mean and range, {len(values)} crowds", alignment="left", loc="lower left")
    ax.set_title(errors.setting, loc="left", color=INK)
    exponents = {name: errors.exponent(name) for name in errors.by_method}
    slopes = ", ".join(f"\N{MINUS SIGN}{b:.2f}\xa0±\xa0{error:.2f} ({name})" for name, (b, error) in exponents.items())
    say(fig, f"The error falls like S to the power of {slopes} (Theorem 1: \N{MINUS SIGN}0.5)")
    return fig


def log_axes(ax: Axes) -> None:
    """Make both axes logarithmic, with plain numbers as ticks."""
    ax.set(xscale="log", yscale="log", xlabel="co-labelled items S of each observed pair")
    ax.set_ylabel("error of missing blocks (% of norm)")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
