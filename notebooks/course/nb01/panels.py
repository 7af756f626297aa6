"""Panels of notebook 01: missing blocks, a turning corner, a crowd, EM by rounds; and a picture of two starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import ipywidgets as w
import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from scipy.spatial.transform import Rotation

from cofactor import simulate
from cofactor.core.em import maximization
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import worker_accuracy
from cofactor.crowd.imputation import factors_of_model
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.scores import error_rate
from cofactor.crowd.symnmf import model_of_factor, principal_root, symnmf
from cofactor_app.plots.simplex import CENTRE, CORNERS, RADIUS, draw_triangle, to_plane
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
from course.live import Live, drag, reveal
from course.panel import Panel, choice, slider
from course.simplex import TOUCH, hull_margin
from course.votes import fill_methods

METHODS = ("MV-EM", "SymNMF(no imputation)", "DesSymNMF", "RobSymNMF", "RobSymNMF-EM", "MultiStart-EM")
PALE = tuple(1 - (1 - part) / 3 for part in GREEN)
TASKS = (100, 300, 1000, 3000, 10_000)
STEP, MOST = 0.5, 60  # degrees; beyond, the corner is one of these with its edges renamed
TURNS = np.arange(-MOST, MOST + STEP, STEP)


def missing_block_panel(seed: int = 0) -> Panel:
    """Hide pairs of eight annotators, choose an imputation, and see its error."""

    def compute(share: float, n_tasks: int, imputation: str) -> Completion:
        return HoledCrowd.of(small_crowd(8, 3, n_tasks, seed), hide_pairs(8, share, seed)).complete(imputation)

    controls = {
        "share": slider(w.FloatSlider, 0.3, 0.0, 0.9, 0.1, "fraction of pairs missing"),
        "n_tasks": choice(w.SelectionSlider, TASKS, 1000, "tasks"),
        "imputation": choice(w.Dropdown, ("none", "designated", "robust"), "designated", "imputation"),
    }
    return Panel(controls, compute, draw_completion, describe_completion)


def describe_completion(completion: Completion) -> str:
    """Say how many blocks are missing, how well they were imputed, and whether the rest can suffice."""
    pairs = completion.problem.pairs
    n_missing, n_pairs = int(pairs.sum()) // 2, len(pairs) * (len(pairs) - 1) // 2
    unreached = int((completion.unreached & pairs).sum()) // 2
    text = f"{n_missing} of {n_pairs} pairs are missing. {completion.finding}."
    if unreached and completion.imputation != "none":
        text += f" {unreached} of them stay empty: no chain of observed pairs links them."
    refusal = completion.problem.refusal
    return f"{text} No method can recover the model: {refusal}." if refusal else text


class Scattering(NamedTuple):
    """A factor H (M K, 3), the mean squared error of SymNMF's model, whether SymNMF converged, and a turn to try."""

    H: Floats
    error: float
    converged: bool
    turn: float = 0.0

    @property
    def second(self) -> Floats:
        """H Q: a second solution if it has no negative entries."""
        return np.asarray(self.H @ corner(self.turn))

    @property
    def free(self) -> Floats:
        """Angles of `TURNS` at which every row stays inside; zero is one of them."""
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
    """Draw the rows, the disc and the turned corner as seen along (1, 1, 1), and the rows lost at every angle."""
    H, turn = outcome.H, outcome.turn
    fig = new_picture(8, 3.9)
    left, right = fig.subplots(1, 2, width_ratios=[2.8, 1])
    draw_triangle(to_plane(H), ("class 1", "class 2", "class 3"), ax=left)
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
        return f"No turn of {STEP}° or more is left: every corner turned about (1, 1, 1) loses a row"
    if not outcome.turn:
        return "Not turned yet: this is the corner of the model that made the data"
    lose = f"{n_out} of {len(outcome.H)} rows are outside: no solution"
    return f"Turned by {number(outcome.turn)}°, " + (lose if n_out else "every row still fits: a second solution")


def turn_panel() -> Panel:
    """Turn the positive corner until a row falls out; make the specialist worse or the crowd larger."""
    controls = {
        "turn": slider(w.IntSlider, 5, -MOST, MOST, 1, "turn the corner by (degrees)"),
        "specialist_error": slider(w.FloatSlider, 0.2, 0.0, 0.6, 0.05, "error of the specialist"),
        "n_workers": slider(w.IntSlider, 10, 3, 40, 1, "annotators"),
        "seed": slider(w.IntSlider, 2, 0, 20, 1, "seed"),
    }
    return Panel(controls, lambda turn, **crowd: scattering(**crowd)._replace(turn=turn), draw_turn, describe_turn)


def describe_turn(outcome: Scattering) -> str:
    """Say whether the turned corner holds all rows, how far it can turn, and how good SymNMF's model is."""
    text, free, margin = _turned(outcome), outcome.free, hull_margin(outcome.H)
    if outcome.turn and outcome.turn in free:
        first, second = (np.stack(model_of_factor(np.maximum(F, 0)).conditionals) for F in (outcome.H, outcome.second))
        text += f", whose probabilities differ by up to {np.abs(first - second).max():.2f}"
    gaps = ", with gaps" if len(free) <= (free[-1] - free[0]) / STEP else ""
    room = f" The corner can turn from {number(free[0])}° to {number(free[-1])}°{gaps}." if len(free) > 1 else ""
    covers = "covers the disc" if margin >= -TOUCH else f"falls short of the disc by {-margin:.3f}"
    ending = "" if outcome.converged else ", not yet converged"
    return (
        f"{text}.{room} The hull {covers}. From exact co-occurrences, SymNMF finds a model with a mean squared "
        f"error of {number(outcome.error)}{ending}."
    )


class Comparison(NamedTuple):
    """Error rates of the majority vote and of a method on one crowd, with the true model and its estimate."""

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
    """Choose the numbers of tasks and labels and a method; see its error rate and its estimates of the workers."""
    controls = {
        "n_tasks": choice(w.SelectionSlider, TASKS[:-1], 1000, "tasks"),
        "labels_per_task": slider(w.IntSlider, 5, 2, 20, 1, "labels per task"),
        "method": choice(w.Dropdown, METHODS, "RobSymNMF-EM", "method"),
    }
    return Panel(controls, partial(compare, seed=seed), draw_crowd, describe_comparison)


def describe_comparison(outcome: Comparison) -> str:
    """Say how often majority vote and the method err, and how accurately the method estimates the workers."""
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
        """Fraction of wrong labels after each round."""
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
def em_live(seed: int = 3) -> Live:
    """Drag through the rounds of EM: each person is a dot with an ellipse of standard errors; the truth is hidden."""
    labels, truth = bird_crowd(seed)
    rounds = em_rounds(seed=seed)
    places, errors = zip(*(shares_right(labels, posterior) for posterior in rounds.posteriors), strict=True)
    (goal, _), angles = shares_right(labels, np.eye(2)[truth]), np.linspace(0, 2 * np.pi, 25)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    fig = new_picture(6.5, 4.0)
    ax = fig.subplots()
    ax.axhline(50, color=FAINT, lw=0.5, zorder=0)
    ax.axvline(50, color=FAINT, lw=0.5, zorder=0)
    ellipses = PolyCollection([circle], fc=(*BLUE, 0.12), ec=(*BLUE, 0.5), lw=0.6)
    ax.add_collection(ellipses)
    (dots,) = ax.plot([], [], "o", color=BLUE, ms=4, mec="white", mew=0.4, label="a person, estimated by EM")
    (true,) = ax.plot(*goal.T, "x", color=INK, ms=5, label="counted with the true classes")
    ax.set(xlabel="right on class 0 (%)", ylabel="right on class 1 (%)", xlim=(0, 102), ylim=(0, 102))
    ax.legend(loc="lower left")
    say(fig, "39 people, 108 tasks: EM's estimate of each person")

    def update(after: int, shown: bool) -> str:
        dots.set_data(*places[after].T)
        ellipses.set_verts(places[after][:, None] + errors[after][:, None] * circle)
        true.set_visible(shown)
        off = np.abs(places[after] - goal).mean()
        known = f" The estimates are {off:.0f} percentage points off on average." if shown else ""
        wrong = f"{round(rounds.errors[after] * len(truth), 1):g} of {len(truth)} labels are wrong"
        rounds_done = f"After {after} round{'s' if after > 1 else ''} of EM"
        return f"{rounds_done if after else 'Before EM, by majority vote'}, {wrong}.{known}"

    controls = {"after": drag(0, 0, len(rounds.posteriors) - 1, 1, "rounds of EM"), "shown": reveal("truth")}
    look = "Where will the dots go? Guess, then drag. After how many rounds are the fewest labels wrong?"
    return Live(controls, fig, [ellipses, dots, true], update, look)


def shares_right(labels: CrowdLabels, posterior: Floats) -> tuple[Floats, Floats]:
    """Return each person's accuracy on either class, in per cent (M, 2), and its standard errors."""
    right = np.stack([A.diagonal() for A in maximization(labels.table, posterior).conditionals])
    return 100 * right, 100 * np.sqrt(right * (1 - right) / posterior.sum(axis=0))


@styled
def corner_live() -> Live:
    """Turn the positive corner by dragging; see which rows fall out, of timid people or a crowd with a perfect one."""
    clouds = {"eight timid people": timid_factor(), "one perfect person, nine others": specialist_factor()}
    fig = new_picture(6.5, 4.0)
    ax = fig.subplots()
    ax.add_patch(Circle(tuple(CENTRE), RADIUS, fill=False, ec=ORANGE, lw=1.5, ls="--", label="disc"))
    ax.add_patch(Polygon(CORNERS, fill=False, ec=INK, lw=1, label="positive corner"))
    turned = Polygon(CORNERS, fill=False, ec=GREEN, lw=2.2, label="positive corner, turned")
    ax.add_patch(turned)
    (dots,) = ax.plot([], [], "o", color=BLUE, ms=5, mec="white", mew=0.4, label="a row of H")
    (outside,) = ax.plot([], [], "X", color=RED, ms=9, mec="white", mew=0.6, label="a row left outside")
    ax.set(xlim=(-0.5, 3.1), ylim=(-0.5, 1.5), aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.legend(loc="center right")
    say(fig, "Turned about (1, 1, 1): as long as every row stays inside, there is a second solution")

    def update(degrees: int, crowd: str) -> str:
        H = clouds[crowd]
        out = (H @ corner(degrees) < -TOUCH).any(axis=1)
        turned.set_xy(corner(degrees).T @ CORNERS)
        dots.set_data(*to_plane(H)[~out].T)
        outside.set_data(*to_plane(H)[out].T)
        if not degrees:
            return "Not turned yet: all rows lie in the positive corner."
        end = "every row fits: a second solution" if not out.any() else f"{out.sum()} of {len(H)} rows are outside"
        return f"Turned by {degrees}°, {end}."

    controls = {
        "degrees": drag(0, -90, 90, 1, "turn (degrees)"),
        "crowd": choice(w.Dropdown, tuple(clouds), "eight timid people", "crowd"),
    }
    return Live(controls, fig, [turned, dots, outside], update, "How far can the corner turn until a dot falls out?")


def timid_factor() -> Floats:
    """Return the factor of eight people who give the right label most often, but none of them reliably."""
    blurred = np.random.default_rng(0).dirichlet(np.ones(3) * 9, (8, 3)).transpose(0, 2, 1)
    return np.vstack(0.3 * np.eye(3) + 0.7 * blurred) / np.sqrt(3)


def specialist_factor() -> Floats:
    """Return the factor of ten random people, one of whom is always right."""
    model = simulate.dawid_skene_model(10, 3, 0.0, prior=np.full(3, 1 / 3), random_state=2)
    return factors_of_model(model).reshape(-1, 3)


@styled
def draw_starts(paths: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Figure:
    """Draw log-likelihoods (nats) and fractions of wrong labels by round of EM from several starts."""
    fig = new_picture(7.5, 3.5)
    axes = fig.subplots(1, 2)
    for (name, (climb, wrong)), (colour, _, line) in zip(paths.items(), LOOKS, strict=False):
        for ax, values in zip(axes, (np.asarray(climb), 100 * np.asarray(wrong)), strict=True):
            ax.plot(np.arange(1, len(values) + 1), values, color=colour, ls=line, label=f"from {name}")
    axes[0].set(xlabel="round of EM", ylabel="log-likelihood (nats)")
    axes[1].set(xlabel="round of EM", ylabel="wrong labels (%)", ylim=(-1, None))
    axes[0].legend(loc="lower right")
    best = max(paths, key=lambda name: paths[name][0][-1])
    gap = paths[best][0][-1] - min(path[0][-1] for path in paths.values())
    ends = ", ".join(f"{percent(path[1][-1], 1)} from {name}" for name, path in paths.items())
    say(fig, f"EM from {best} ends {number(gap)} nats higher; wrong labels: {ends}")
    return fig
