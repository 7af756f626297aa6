"""The live figure of notebook 00: guess how often a majority errs, and see what happens as people are added."""

from __future__ import annotations

import numpy as np

from cofactor.core.types import Floats
from cofactor.data import load
from cofactor_app.plots.style import BLUE, FAINT, INK, ORANGE, new_picture, percent, say, styled
from course.live import Live, drag, reveal

PEOPLE = np.arange(1, 40, 2)  # odd: no ties
DRAWS = 200


def majorities(right: Floats, rng: np.random.Generator) -> Floats:
    """Return the fraction of tasks on which the majority of 1, 3, ..., 39 people is wrong.

    `right` (N, M) is the probability that an answer is right: 0 or 1 for answers that were given.
    """
    wrong = np.zeros(len(PEOPLE))
    for _ in range(DRAWS):
        hits = rng.random(right.shape) < right
        counted = np.cumsum(hits[:, rng.permutation(right.shape[1])], axis=1)[:, PEOPLE - 1]
        wrong += (2 * counted < PEOPLE).mean(axis=0) / DRAWS
    return wrong


@styled
def majority_live() -> Live:
    """Guess how often the majority of 39 people is wrong; then see it for independent errors, and for the real ones."""
    bluebird, rng = load("bluebird"), np.random.default_rng(0)
    given = (bluebird.labels.table.codes == bluebird.truth[:, None]).astype(float)
    imagined = majorities(np.broadcast_to(given.mean(axis=0), given.shape), rng)
    real = majorities(given, rng)
    imagined[0] = real[0] = 1 - given.mean()
    fig = new_picture(6.5, 3.3)
    ax = fig.subplots()
    ax.plot(PEOPLE[:1], 100 * real[:1], "o", color=INK, ms=7, label="one person")
    (guess,) = ax.plot([], [], "D", color=ORANGE, mec=INK, ms=10, label="your guess", clip_on=False)
    (independent,) = ax.plot(PEOPLE, 100 * imagined, "--", color=FAINT, label="if all erred independently")
    (true,) = ax.plot(PEOPLE, 100 * real, color=BLUE, label="the real majority")
    ax.set(xlabel="number of voters", ylabel="photographs labelled wrongly (%)", xlim=(0, 40), ylim=(0, 45))
    ax.legend(loc="upper center", ncols=2)
    say(fig, "How often is the majority of 39 people wrong?")

    def update(share: int, shown: bool) -> str:
        guess.set_data([39], [share])
        for line in (independent, true):
            line.set_visible(shown)
        if not shown:
            return f"One person is wrong on {percent(real[0])}; your guess for 39 people: {percent(share / 100)}."
        return (
            f"You guessed {percent(share / 100)}. If all erred independently, the majority of 39 people would be wrong "
            f"on {percent(imagined[-1])}; the real majority is wrong on {percent(real[-1])}."
        )

    controls = {"share": drag(36, 0, 45, 1, "your guess (%)"), "shown": reveal()}
    look = "Drag the diamond to the error that you expect of 39 people. Then show the answer: does it keep falling?"
    return Live(controls, fig, [guess, independent, true], update, look)
