"""Exercises of notebook 07 on what comes before and after a method: holes, printed errors, a file with mistakes."""

from __future__ import annotations

import numpy as np

from cofactor.core.types import Floats, Ints
from course.grading import NONNEGATIVE, Exercise, Given, Part, told_apart
from course.seeds import drawn

N_TASKS, N_PEOPLE = 80, 24  # of every crowd of `Holes`
BATCHES = 4


class Holes(Exercise):
    """Which pairs of people share no task, what is left for each cell of a pair, and which methods that troubles."""

    hints = (
        "seen.T @ seen counts the tasks that two people share; above its diagonal, every pair occurs once",
        "shared = (seen.T @ seen)[np.triu_indices(24, 1)]; pairs with common tasks are shared[shared > 0], and a "
        "pair has K * K cells",
        "np.mean(shared == 0); np.median(shared[shared > 0]) / K**2; 2 where that is below one, else 1 where more than "
        "half of the pairs share nothing, else 0",
    )
    praise = "imputation estimates missing pairs from observed ones; if these are mostly noise, so are the estimates"

    def given(self) -> Given:
        return drawn(71, _crowds, lambda given: told_apart(self.solve(**given)))

    def solve(self, seen: Ints, K: Ints) -> list[Part]:
        shared = np.einsum("cni,cnj->cij", seen, seen)[:, *np.triu_indices(N_PEOPLE, 1)]
        without, meeting = np.mean(shared == 0, axis=1), [row[row > 0] for row in shared]
        tasks = np.array([np.median(row) for row in meeting])
        cells, square = tasks / K**2, N_PEOPLE * (N_PEOPLE - 1) / N_PEOPLE**2
        trouble = np.where(cells < 1, 2, np.where(without > 0.5, 1, 0))
        of_pairs = {
            "these are the pairs that share a task; the exercise asks for the fraction of the others": 1 - without,
            "a person is not a pair: leave out the diagonal": without * square,
            "these are missing labels; the exercise is about pairs of people": 1 - seen.mean(axis=(1, 2)),
            "these are numbers of pairs; the exercise asks for fractions": without * N_PEOPLE * (N_PEOPLE - 1) / 2,
        }
        of_cells = {
            "these are tasks per pair; divide by its K x K cells": tasks,
            "a pair has K x K cells, one for every two labels, not K": tasks / K,
            "only pairs with common tasks count here; the others have no block": np.median(shared, axis=1) / K**2,
            "these are tasks per person, not per pair": np.median(seen.sum(axis=1), axis=1) / K**2,
            "this is inverted: divide tasks by cells": 1 / cells,
        }
        of_trouble = {
            "look at the observed blocks as well: with fewer tasks than cells they are noise": 1 * (without > 0.5),
            "if the observed blocks are noise, imputation cannot estimate the missing ones: test for 2 first": (
                np.where(without > 0.5, 1, np.where(cells < 1, 2, 0))
            ),
            "if the observed blocks are good but most are missing, the answer is 1": np.where(cells < 1, 2, 0),
            "the two answers are swapped: 2 is for noisy blocks, 1 for missing ones": np.choose(trouble, [0, 2, 1]),
        }
        return [
            Part("missing", without, of_pairs, "shares of pairs", (NONNEGATIVE,)),
            Part("cells", cells, of_cells, "tasks for each cell", (NONNEGATIVE,)),
            Part(
                "trouble",
                trouble,
                of_trouble,
                "2 for every method of pairs, 1 for those without imputation, 0 for none",
            ),
        ]


def _crowds(rng: np.random.Generator) -> Given:
    """Five crowds: nearly full, half full, of a few batches, thin, and of batches with many classes."""
    K = np.array([2, 3, 2, rng.integers(5, 7), rng.integers(6, 8)])
    fill = rng.uniform([0.85, 0.65, 0.85, 0.25, 0.85], [0.95, 0.75, 0.95, 0.35, 0.95])
    seen = rng.random((5, N_TASKS, N_PEOPLE)) < fill[:, None, None]
    for crowd in (2, 4):
        batch = rng.permutation(N_PEOPLE) % BATCHES
        seen[crowd] &= (np.arange(N_TASKS) * BATCHES // N_TASKS)[:, None] == batch
    order = rng.permutation(5)
    return {"seen": seen[order].astype(int), "K": K[order]}


class Printed(Exercise):
    """How many tasks a printed error stands for, and what its gap to a measured one can come from."""

    hints = (
        "a single run is wrong on a whole number w of the N tasks, or on half a task more if ties are half wrong",
        "w = np.round(2 * printed / 100 * N) / 2 is the nearest; it fits if 100 * w / N is within 0.01 of the error",
        "fits = np.abs(100 * w / N - printed) < 0.01; tasks = np.where(fits, w, -1); why = np.where(fits, w "
        "!= wrong, 2)",
    )
    praise = "a gap of any size can be a number of tasks; only the last digits show that no single run gives this error"

    def given(self) -> Given:
        return drawn(73, _printed, lambda given: told_apart(self.solve(**given)))

    def solve(self, N: Ints, printed: Floats, wrong: Floats) -> list[Part]:
        exact = printed * N / 100
        w = np.round(2 * exact) / 2
        fits = np.abs(100 * w / N - printed) < 0.01
        tasks, why = np.where(fits, w, -1), np.where(fits, w != wrong, 2)
        gap = np.abs(printed - 100 * wrong / N)
        of_tasks = {
            "some printed errors are not a number of tasks, to the last digit: give -1 for these": w,
            "if two classes tie, a task is half wrong, so halves are possible": (
                np.where(np.abs(100 * np.round(exact) / N - printed) < 0.01, np.round(exact), -1)
            ),
            "these are gaps; the exercise asks for the number of tasks that a printed error stands for": np.where(
                fits, w - wrong, -1
            ),
            "these are the numbers of tasks for the errors measured here": wrong,
            "printed digits are truncated or rounded, so 100 w / N is within 0.01 of the error, not equal to it": (
                np.where(np.abs(100 * w / N - printed) < 1e-4, w, -1)
            ),
        }
        of_reasons = {
            "an error that is not a number of tasks is a mean of several runs, or of other tasks: the answer is 2": (
                1 * (gap > 0.01)
            ),
            "the size of a gap does not show its cause: even a small gap may not be a number of tasks": (
                np.where(gap > 1.5, 2, np.where(gap > 0.01, 1, 0))
            ),
            "printed digits are truncated or rounded: ignore a gap below 0.01 points": (
                np.where(fits, np.where(gap > 1e-4, 1, 0), 2)
            ),
            "the two answers are swapped: 2 is for an error that no number of tasks fits": np.choose(why, [0, 2, 1]),
        }
        return [
            Part("tasks", tasks, of_tasks, "whole or half, and -1 where none fits", tolerance=1e-3),
            Part("why", why, of_reasons, "0 for the same, 1 for other tasks wrong, 2 for no single run"),
        ]


def _printed(rng: np.random.Generator) -> Given:
    """Six errors: two the same as here, one with a digit cut off; two other numbers of tasks; two of no single run."""
    N = rng.choice([108, 300, 462, 800, 807], 6)
    wrong = np.floor(rng.uniform(0.05, 0.1, 6) * N) + 5.0
    other = wrong + np.array([0, 0, rng.integers(9, 16), 0.5, 0, 0])
    other[4:] += rng.choice([0.2, 0.3], 2) + np.array([rng.integers(9, 16), 0])
    percent, order = 100 * other / N, rng.permutation(6)
    printed = np.where(np.arange(6) % 2, np.floor(100 * percent), np.round(100 * percent)) / 100
    return {"N": N[order], "printed": printed[order], "wrong": wrong[order]}


DOUBTS = {"holes": Holes(), "printed": Printed()}
