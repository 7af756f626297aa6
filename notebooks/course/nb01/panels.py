"""Panels of notebook 01: missing blocks, the corner that turns, a crowd, EM by rounds; and a picture of two starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import ipywidgets as w
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from scipy.spatial.transform import Rotation

from cofactor import simulate
from cofactor.core.em import maximization
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import error_rate, worker_accuracy
from cofactor.crowd.imputation import factors_of_model
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.symnmf import model_of_factor, principal_root, symnmf
from cofactor_app.plots.crowd import fill_uncertainty
from cofactor_app.plots.simplex import CORNERS, fill_simplex, to_plane
from cofactor_app.plots.style import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    LOOKS,
    ORANGE,
    RED,
    new_picture,
    number,
    percent,
    say,
    styled,
)
from course.crowds import Completion, HoledCrowd, draw_completion, hide_pairs, mixed_crowd, small_crowd, without_prior
from course.panel import Panel, choice, slider
from course.simplex import TOUCH, hull_margin
from course.votes import fill_methods

METHODS = ("MV-EM", "SymNMF(no imputation)", "DesSymNMF", "RobSymNMF", "RobSymNMF-EM", "MultiStart-EM")
PALE = tuple(1 - (1 - part) / 3 for part in GREEN)
TASKS = (100, 300, 1000, 3000, 10_000)
STEP, MOST = 0.5, 60  # degrees; beyond, the corner is one of these with its edges renamed
TURNS = np.arange(-MOST, MOST + STEP, STEP)


def missing_block_panel(seed: int = 0) -> Panel:
    """Hide pairs of eight annotators, choose how to fill the holes, see the error."""

    def compute(share: float, n_tasks: int, imputation: str) -> Completion:
        return HoledCrowd.of(small_crowd(8, 3, n_tasks, seed), hide_pairs(8, share, seed)).complete(imputation)

    controls = {
        "share": slider(w.FloatSlider, 0.3, 0.0, 0.9, 0.1, "share of pairs missing"),
        "n_tasks": choice(w.SelectionSlider, TASKS, 1000, "tasks"),
        "imputation": choice(w.Dropdown, ("none", "designated", "robust"), "designated", "imputation"),
    }
    return Panel(controls, compute, draw_completion, describe_completion)


def describe_completion(completion: Completion) -> str:
    """Say how many blocks are missing, how well they were filled, and whether that can suffice."""
    pairs = completion.problem.pairs
    n_missing, n_pairs = int(pairs.sum()) // 2, len(pairs) * (len(pairs) - 1) // 2
    unreached = int((completion.unreached & pairs).sum()) // 2
    text = f"{n_missing} of {n_pairs} pairs are missing. {completion.finding}."
    if unreached and completion.imputation != "none":
        text += f" {unreached} of them stay empty: no chain of annotators links them."
    refusal = completion.problem.refusal
    return f"{text} No method can recover the model: {refusal}." if refusal else text


class Scattering(NamedTuple):
    """A factor H (M K, 3), the mean squared error of SymNMF's model, whether that had converged, and a turn to try."""

    H: Floats
    error: float
    converged: bool
    turn: float = 0.0

    @property
    def second(self) -> Floats:
        """H Q: without negative entries, a second answer."""
        return np.asarray(self.H @ corner(self.turn))

    @property
    def free(self) -> Floats:
        """Angles of `TURNS` at which no dot falls out; zero is one of them."""
        return np.asarray(TURNS[lost(self.H, TURNS) == 0])


def corner(degrees: float | Floats) -> Floats:
    """Return the rotation Q about (1, 1, 1), whose columns are the edges of the turned corner; one for each angle."""
    axis = np.ones(3) / np.sqrt(3)
    return np.asarray(Rotation.from_rotvec(np.multiply.outer(np.radians(degrees), axis)).as_matrix())


def lost(H: Floats, degrees: float | Floats) -> Ints:
    """Count the rows of H outside the corner turned by each angle."""
    return np.asarray((H @ corner(degrees) < -TOUCH).any(axis=-1).sum(axis=-1))


@lru_cache(maxsize=32)
def scattering(specialist_error: float, n_workers: int, seed: int) -> Scattering:
    """Factor the exact co-occurrences of a random crowd with one specialist (three classes, equal priors)."""
    model = simulate.dawid_skene_model(n_workers, 3, specialist_error, prior=np.full(3, 1 / 3), random_state=seed)
    H = factors_of_model(model).reshape(-1, 3)
    found, _, result = symnmf(principal_root(H))
    return Scattering(H, model.mse(model_of_factor(found)), result.converged)


@styled
def draw_turn(outcome: Scattering) -> Figure:
    """Draw the dots, the disc and the turned corner as seen along (1, 1, 1), and the dots lost at every angle."""
    H, turn = outcome.H, outcome.turn
    fig = new_picture(8, 3.9)
    left, right = fig.subplots(1, 2, width_ratios=[2.8, 1])
    fill_simplex(left, to_plane(H), ("class 1", "class 2", "class 3"))
    label = f"corner, turned by {number(turn)}°"
    left.add_patch(Polygon(corner(turn).T @ CORNERS, fill=False, ec=GREEN, lw=2.2, label=label))
    out = (outcome.second < -TOUCH).any(axis=1)
    left.plot(*to_plane(H)[out].T, "X", ms=8, color=RED, mec="white", mew=0.6, label="row left outside")
    left.legend(loc="upper right", handlelength=1.6)
    left.set(xlim=(-0.35, 2.75), ylim=(-0.45, 1.35))
    right.vlines(outcome.free, 0, 1, color=PALE, lw=1.5, transform=right.get_xaxis_transform())
    right.plot(TURNS, lost(H, TURNS), color=BLUE)
    right.plot([turn], [out.sum()], "D", color=ORANGE, ms=8, mec=INK)
    right.set(xlabel="turn (degrees)", ylabel="rows left outside", xticks=(-60, -30, 0, 30, 60))
    right.set_ylim(-0.8, max(4, right.get_ylim()[1]))
    say(fig, _turned(outcome))
    return fig


def _turned(outcome: Scattering) -> str:
    n_out = int(lost(outcome.H, outcome.turn))
    if len(outcome.free) == 1:
        return f"No turn of {STEP}° or more is left: turned about (1, 1, 1), every corner loses a row"
    if not outcome.turn:
        return "Not turned yet: this is the corner of the model that made the data"
    lose = f"{n_out} of {len(outcome.H)} rows are outside: no answer"
    return f"Turned by {number(outcome.turn)}°, " + (lose if n_out else "every row still fits: a second answer")


def turn_panel() -> Panel:
    """Turn the positive corner until a row falls out; make the specialist worse, the crowd larger."""
    controls = {
        "turn": slider(w.IntSlider, 5, -MOST, MOST, 1, "turn the corner by (degrees)"),
        "specialist_error": slider(w.FloatSlider, 0.2, 0.0, 0.6, 0.05, "error of the specialist"),
        "n_workers": slider(w.IntSlider, 10, 3, 40, 1, "annotators"),
        "seed": slider(w.IntSlider, 2, 0, 20, 1, "seed"),
    }
    return Panel(controls, lambda turn, **crowd: scattering(**crowd)._replace(turn=turn), draw_turn, describe_turn)


def describe_turn(outcome: Scattering) -> str:
    """Say whether the turned corner holds all rows, how much room there is, and what SymNMF makes of it."""
    text, free, margin = _turned(outcome), outcome.free, hull_margin(outcome.H)
    if outcome.turn and outcome.turn in free:
        first, second = (np.stack(model_of_factor(np.maximum(F, 0)).conditionals) for F in (outcome.H, outcome.second))
        text += f", whose probabilities differ by up to {np.abs(first - second).max():.2f}"
    gaps = ", with gaps" if len(free) <= (free[-1] - free[0]) / STEP else ""
    room = f" The corner can turn from {number(free[0])}° to {number(free[-1])}°{gaps}." if len(free) > 1 else ""
    covers = "covers the disc" if margin >= -TOUCH else f"is {-margin:.3f} short of the disc"
    ending = "" if outcome.converged else ", not yet converged"
    return (
        f"{text}.{room} The hull {covers}. From exact co-occurrences, SymNMF finds a model with the mean squared "
        f"error {number(outcome.error)}{ending}."
    )


class Comparison(NamedTuple):
    """Errors of the majority vote and of a method on one crowd, the model of the crowd and its estimate."""

    method: str
    errors: dict[str, float]
    truth: LatentClassModel
    estimate: LatentClassModel
    labels_per_task: float

    @property
    def accuracy_error(self) -> float:
        """Mean absolute error of the estimated accuracies of the workers."""
        return float(np.mean(np.abs(worker_accuracy(self.estimate) - worker_accuracy(self.truth))))


def compare(n_tasks: int, labels_per_task: float, method: str, seed: int = 0) -> Comparison:
    """Aggregate the labels of 25 workers, one specialist and the others poor, by majority vote and by a method."""
    model = mixed_crowd(25, 3, seed)
    drawn = simulate.crowd(model, n_tasks, labels_per_task / model.n_variables, random_state=seed)
    fitted = without_prior(method, random_state=seed).fit(drawn.labels)
    errors = {"MajorityVote": error_rate(vote_shares(drawn.labels), drawn.truth)}
    errors[method] = error_rate(fitted.predict(drawn.labels), drawn.truth)
    return Comparison(method, errors, model, fitted.model_, drawn.labels.n_labels / n_tasks)


@styled
def draw_crowd(outcome: Comparison) -> Figure:
    """Draw the errors of majority vote and a method, and its estimate of each worker's accuracy against the truth."""
    fig = new_picture(height=3.4)
    left, right = fig.subplots(1, 2, width_ratios=[1, 1.15])
    fill_methods(left, outcome.errors, "MajorityVote")
    left.margins(y=0.3)
    true, estimate = 100 * worker_accuracy(outcome.truth), 100 * worker_accuracy(outcome.estimate)
    right.plot([0, 100], [0, 100], "--", color=FAINT, lw=1)
    right.plot(true, estimate, "o", color=BLUE, ms=5, alpha=0.8, mec="white", mew=0.5)
    right.set(xlabel="true accuracy of a worker (%)", ylabel="estimated accuracy (%)")
    right.set(xlim=(0, 100), ylim=(0, 100), aspect="equal")
    before, after = outcome.errors["MajorityVote"], outcome.errors[outcome.method]
    say(fig, f"{outcome.method} errs on {percent(after, 1)} of the tasks, majority vote on {percent(before, 1)}")
    return fig


def crowd_panel(seed: int = 0) -> Panel:
    """Choose how many tasks and labels there are and a method; see its errors and what it thinks of the workers."""
    controls = {
        "n_tasks": choice(w.SelectionSlider, TASKS[:-1], 1000, "tasks"),
        "labels_per_task": slider(w.IntSlider, 5, 2, 20, 1, "labels per task"),
        "method": choice(w.Dropdown, METHODS, "RobSymNMF-EM", "method"),
    }
    return Panel(controls, partial(compare, seed=seed), draw_crowd, describe_comparison)


def describe_comparison(outcome: Comparison) -> str:
    """Say how often majority vote and the method err, and how well the method knows the workers."""
    return (
        f"With {outcome.labels_per_task:.1f} labels per task, majority vote errs on "
        f"{percent(outcome.errors['MajorityVote'], 1)} of the tasks, {outcome.method} on "
        f"{percent(outcome.errors[outcome.method], 1)}. Its estimate of a worker's accuracy is off by "
        f"{percent(outcome.accuracy_error, 1)} on average."
    )


class Rounds(NamedTuple):
    """Rounds of EM: (N, K) posteriors, log-likelihoods in nats, and the (N,) true classes.

    The first of each is the majority vote, which has no log-likelihood (NaN).
    """

    posteriors: list[Floats]
    log_likelihood: Floats
    truth: Ints

    @property
    def errors(self) -> list[float]:
        """Share of wrong labels, round by round."""
        return [error_rate(posterior, self.truth) for posterior in self.posteriors]


@lru_cache(maxsize=8)
def em_rounds(n_rounds: int = 20, seed: int = 3) -> Rounds:
    """Run EM from the majority vote on a simulated Bluebird."""
    labels, truth = bird_crowd(seed)
    posteriors, log_likelihood = [vote_shares(labels)], [np.nan]
    for _ in range(n_rounds):
        Q, rows = maximization(labels.table, posteriors[-1]).explain(labels.table)
        posteriors.append(Q)
        log_likelihood.append(float(rows.sum()))
    return Rounds(posteriors, np.array(log_likelihood), truth)


def bird_crowd(seed: int = 3) -> tuple[CrowdLabels, Ints]:
    """Let 39 workers label 108 tasks; as in Bluebird, they know class 0 well and class 1 poorly on average."""
    rng = np.random.default_rng(seed)
    know = np.stack([rng.beta(10, 5, 39), rng.beta(4, 4.4, 39)])
    model = LatentClassModel([0.55, 0.45], [np.array([[p, 1 - q], [1 - p, q]]) for p, q in know.T])
    drawn = simulate.crowd(model, 108, label_rate=1.0, random_state=seed)
    return drawn.labels, drawn.truth


@styled
def draw_rounds(rounds: Rounds, after: int) -> Figure:
    """Draw the log-likelihood round by round with a mark at `after`, beside the posteriors at that point."""
    fig = new_picture(height=3.5)
    left, right = fig.subplots(1, 2)
    left.plot(rounds.log_likelihood, color=FAINT, marker="o", ms=3)
    left.plot([after], rounds.log_likelihood[[after]], "D", color=ORANGE, ms=8, mec=INK)
    left.set(xlabel="rounds of EM", ylabel="log-likelihood (nats)", xlim=(0, len(rounds.posteriors)))
    fill_uncertainty(right, rounds.posteriors[after], rounds.truth)
    start, now = percent(rounds.errors[0], 1), percent(rounds.errors[after], 1)
    text = f"{now} of labels wrong after {_rounds(after)} of EM, {start} by majority vote"
    say(fig, text if after else f"{start} of labels wrong before EM, by majority vote")
    return fig


def _rounds(number: int) -> str:
    return f"{number} round{'s' if number > 1 else ''}"


def em_panel(seed: int = 3) -> Panel:
    """Stop EM after so many rounds; see the likelihood reached and the posteriors it then has."""
    rounds = em_rounds(seed=seed)
    controls = {"after": slider(w.IntSlider, 1, 0, len(rounds.posteriors) - 1, 1, "rounds of EM")}
    return Panel(controls, lambda after: after, partial(draw_rounds, rounds), partial(describe_rounds, rounds))


def describe_rounds(rounds: Rounds, after: int) -> str:
    """Say where EM stands after so many rounds."""
    error, n_tasks = rounds.errors[after], len(rounds.truth)
    wrong = f"{round(error * n_tasks, 1):g} of {n_tasks} labels are wrong ({percent(error, 1)})"
    if after == 0:
        return f"Before EM, by majority vote, {wrong}."
    gain = "" if after == 1 else f", {np.diff(rounds.log_likelihood)[after - 1]:.2g} more than a round before"
    level = f"{rounds.log_likelihood[after]:.1f}".replace("-", "\N{MINUS SIGN}")
    return f"After {_rounds(after)} of EM the log-likelihood is {level} nats{gain}; {wrong}."


@styled
def draw_starts(paths: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Figure:
    """Draw log-likelihoods (nats) and shares of wrong labels, round by round, of EM from several starts."""
    fig = new_picture(7.5, 3.5)
    axes = fig.subplots(1, 2)
    for (name, (climb, wrong)), (colour, _, line) in zip(paths.items(), LOOKS, strict=False):
        for ax, values in zip(axes, (np.asarray(climb), 100 * np.asarray(wrong)), strict=True):
            ax.plot(np.arange(1, len(values) + 1), values, color=colour, ls=line, label=f"from {name}")
    axes[0].set(xlabel="round of EM", ylabel="log-likelihood (nats)")
    axes[1].set(xlabel="round of EM", ylabel="labels wrong (%)", ylim=(-1, None))
    axes[0].legend(loc="lower right")
    best = max(paths, key=lambda name: paths[name][0][-1])
    gap = paths[best][0][-1] - min(path[0][-1] for path in paths.values())
    ends = ", ".join(f"from {name} {percent(path[1][-1], 1)}" for name, path in paths.items())
    say(fig, f"EM from {best} ends {number(gap)} nats higher; labels wrong: {ends}")
    return fig
