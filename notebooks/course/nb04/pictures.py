"""Pictures of notebook 04: two readings of a shift, a linear rate, and rates of sparse and dense factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats
from cofactor.crowd.symnmf import shifted_relu
from cofactor.plots.style import BLUE, FAINT, INK, ORANGE, PURPLE, new_picture, say, styled
from course.rates import linear_rate

PLAIN, ZERO, CLAMP = "no shift", "zero below the shift", "clamp up to the shift"
LINES = {PLAIN: (BLUE, "-", "o"), ZERO: (ORANGE, "--", "s"), CLAMP: (PURPLE, "-.", "^")}
SHOWN = 1e-28  # squared errors below are all rounding


@styled
def draw_operators(alpha: float = 0.3) -> Figure:
    """Draw both readings of ReLU_alpha beside the plain one."""
    fig = new_picture(7.5, 2.9)
    z = np.linspace(-0.6, 1, 641)
    for ax, (name, operator, shift) in zip(
        fig.subplots(1, 3, sharey=True),
        ((PLAIN, "zero", 0.0), (ZERO, "zero", alpha), (CLAMP, "clamp", alpha)),
        strict=True,
    ):
        values = shifted_relu(z, shift, "clamp" if operator == "clamp" else "zero")
        values[1:][np.diff(values) > 0.1] = np.nan  # a jump is no slope
        ax.plot(z, z, color=FAINT, lw=0.8, ls=":")
        ax.plot(z, values, color=LINES[name][0], lw=2.2)
        ax.axvline(shift, color=INK, lw=0.7, ls="--")
        ax.set(title=name, xlabel="entry of $UQ$", aspect="equal", ylim=(-0.12, 1.02))
    fig.axes[0].set_ylabel("entry of $H$")
    say(fig, f"Two readings of ReLU with α = {alpha:g}: below α, zero (formula) or α (prose and released code)")
    return fig


@styled
def draw_linear_rate(errors: Floats, first: int = 10) -> Figure:
    """Draw one error curve on a log scale with the line fitted to log e_t from iteration `first` on."""
    rho = linear_rate(errors, first)
    t = np.arange(len(errors))
    inside = t >= first
    middle = np.log(np.maximum(errors[inside], SHOWN)).mean()
    line = np.exp(middle + np.log(rho) * (t[inside] - t[inside].mean()))
    fig = new_picture()
    ax = fig.subplots()
    ax.semilogy(t, np.maximum(errors, SHOWN), "o", ms=3.5, color=BLUE, label="error $e_t$")
    ax.semilogy(t[inside], line, color=ORANGE, lw=2, label=f"line through $\\log e_t$: × {rho:.3f} per iteration")
    ax.set(xlabel="iteration t", ylabel="error $||H\\Pi - H_t||_F^2 / K$")
    ax.legend()
    tenth = np.log(0.1) / np.log(rho)
    say(fig, f"Linear convergence: each iteration leaves {100 * rho:.0f} % of the error, a digit takes {tenth:.1f}")
    return fig


@styled
def draw_rates(densities: Sequence[float], rates: Mapping[str, Sequence[float]]) -> Figure:
    """Draw the factor per iteration against the share of nonzeros of H, for each iteration of a race."""
    if not rates or any(len(values) != len(densities) for values in rates.values()):
        raise CofactorError("one rate per density, please")
    fig = new_picture()
    ax = fig.subplots()
    for name, values in rates.items():
        colour, line, marker = LINES[name]
        ax.plot(100 * np.asarray(densities), values, color=colour, ls=line, marker=marker, label=name)
    ax.set(xlabel="nonzeros of H (%)", ylabel="error left by an iteration (factor ρ)", ylim=(0, 1))
    ax.legend()
    best = {name: float(values[0]) for name, values in rates.items()}
    sparse, dense = (min(rates, key=lambda name, i=i: rates[name][i]) for i in (0, -1))  # type: ignore[misc]
    say(fig, f"At {100 * densities[0]:.0f} % nonzeros the fastest is “{sparse}” (ρ = {best[sparse]:.2f}), "
             f"at {100 * densities[-1]:.0f} % “{dense}” (ρ = {rates[dense][-1]:.2f})")  # fmt: skip
    return fig
