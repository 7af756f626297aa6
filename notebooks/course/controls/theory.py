"""The panels of notebook 01: missing blocks, the disc, a crowd, EM round by round."""

from __future__ import annotations

from functools import partial

import ipywidgets as w
import numpy as np

from cofactor.plots.simplex import TOUCH, draw_simplex, hull_margin
from cofactor.plots.style import ROUNDING, number, percent
from course import demos
from course.panel import Panel, choice, slider
from course.figures.matrices import draw_completion
from course.figures.panels import draw_crowd, draw_rounds

METHODS = ("MV-EM", "SymNMF(no imputation)", "DesSymNMF", "RobSymNMF", "RobSymNMF-EM", "MultiStart-EM")
TASKS = (100, 300, 1000, 3000, 10_000)


def missing_block_panel(seed: int = 0) -> Panel:
    """Hide pairs of eight annotators, choose how to fill the holes, see the error."""

    def compute(share: float, n_tasks: int, imputation: str) -> demos.Completion:
        crowd = demos.small_crowd(8, 3, n_tasks, seed)
        return demos.complete(crowd, demos.hide_pairs(8, share, seed), imputation)

    controls = {
        "share": slider(w.FloatSlider, 0.3, 0.0, 0.9, 0.1, "share of pairs missing"),
        "n_tasks": choice(w.SelectionSlider, TASKS, 1000, "tasks"),
        "imputation": choice(w.Dropdown, demos.IMPUTATIONS, "none", "imputation"),
    }
    return Panel(controls, compute, draw_completion, describe_completion)


def describe_completion(completion: demos.Completion) -> str:
    """Say how many blocks are missing, how well they were filled, and whether that can suffice."""
    n_missing, n_pairs = int(completion.pairs.sum()) // 2, len(completion.missing) * (len(completion.missing) - 1) // 2
    unreached = int((completion.unreached & completion.pairs).sum()) // 2
    text = f"{n_missing} of {n_pairs} pairs are missing. {completion.finding}."
    if unreached and completion.imputation != "none":
        text += f" {unreached} of them stay empty: no chain of annotators links them."
    return f"{text} No method can recover the model: {completion.verdict}." if completion.verdict else text


def scattering_panel() -> Panel:
    """Make the specialist worse or the crowd larger, see whether the rows still cover the disc."""
    controls = {
        "specialist_error": slider(w.FloatSlider, 0.0, 0.0, 0.6, 0.05, "error of the specialist"),
        "n_workers": slider(w.IntSlider, 10, 3, 40, 1, "annotators"),
        "seed": slider(w.IntSlider, 0, 0, 20, 1, "seed"),
    }
    return Panel(controls, demos.scattering, lambda outcome: draw_simplex(outcome.H), describe_scattering)


def describe_scattering(outcome: demos.Scattering) -> str:
    """Say whether the hull covers the disc, and how far SymNMF of exact co-occurrences is from the truth."""
    margin = hull_margin(outcome.H)
    covers = "covers the disc" if margin >= -TOUCH else f"is {-margin:.3f} short of the disc"
    ending = "" if outcome.converged else ", not yet converged"
    return (
        f"The hull {covers}. From exact co-occurrences, SymNMF finds the model with a mean squared error "
        f"{'' if outcome.error < ROUNDING else 'of '}{number(outcome.error)}{ending}."
    )


def crowd_panel(seed: int = 0) -> Panel:
    """Choose how many tasks and labels there are and a method; see its errors and what it thinks of the workers."""

    def compute(n_tasks: int, labels_per_task: int, method: str) -> demos.Comparison:
        return demos.compare(n_tasks, labels_per_task, method, seed)

    controls = {
        "n_tasks": choice(w.SelectionSlider, TASKS[:-1], 1000, "tasks"),
        "labels_per_task": slider(w.IntSlider, 5, 2, 20, 1, "labels per task"),
        "method": choice(w.Dropdown, METHODS, "RobSymNMF-EM", "method"),
    }
    return Panel(controls, compute, draw_crowd, describe_comparison)


def describe_comparison(outcome: demos.Comparison) -> str:
    """Say how often majority vote and the method err, and how well the method knows the workers."""
    return (
        f"With {outcome.labels_per_task:.1f} labels per task, majority vote errs on "
        f"{percent(outcome.errors['MajorityVote'], 1)} of the tasks, {outcome.method} on "
        f"{percent(outcome.errors[outcome.method], 1)}. Its estimate of a worker's accuracy is off by "
        f"{percent(outcome.accuracy_error, 1)} on average."
    )


def em_panel(seed: int = 3) -> Panel:
    """Stop EM after so many rounds; see the likelihood reached and the posteriors it then has."""
    rounds = demos.em_rounds(seed=seed)
    controls = {"after": slider(w.IntSlider, 1, 0, rounds.last, 1, "rounds of EM")}
    return Panel(controls, lambda after: after, partial(draw_rounds, rounds), partial(describe_rounds, rounds))


def describe_rounds(rounds: demos.Rounds, after: int) -> str:
    """Say where EM stands after so many rounds."""
    error, n_tasks = rounds.errors[after], len(rounds.truth)
    wrong = f"{round(error * n_tasks, 1):g} of {n_tasks} labels are wrong ({percent(error, 1)})"
    if after == 0:
        return f"Before EM, by majority vote, {wrong}."
    gain = "" if after == 1 else f", {np.diff(rounds.log_likelihood)[after - 1]:.2g} more than a round before"
    level = f"{rounds.log_likelihood[after]:.1f}".replace("-", "\N{MINUS SIGN}")
    return f"After {after} round{'s' if after > 1 else ''} of EM the log-likelihood is {level} nats{gain}; {wrong}."
