"""Exercises of notebook 09 that judge: what a table costs, contests of methods, ranks, corners without company."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import rankdata

from cofactor.core.simplex import spa
from cofactor.core.types import Floats, Ints
from course.grading import NONNEGATIVE, Exercise, Given, Part, told_apart
from course.seeds import drawn


def scaled(theta: Floats) -> Floats:
    """Return rows divided by their sums."""
    return np.asarray(theta / theta.sum(axis=1, keepdims=True))


class Products(Exercise):
    """What a table of words by words holds, what products with the documents hold, and which takes less computing."""

    hints = (
        "the table has N * N numbers of 8 bytes; a billion bytes are a GB",
        "F takes 12 bytes for each of its z entries; F U has D x 2K numbers, F'(F U) has N x 2K, of 8 bytes each",
        "8 * N**2 / 1e9; (12 * z + 8 * 2 * K * (D + N)) / 1e9; np.where(2 * z * 2 * K < z**2 / D, 1, 0)",
    )
    praise = "products always save memory; they save computation only if a document has more than 4 K different words"

    def given(self) -> Given:
        return drawn(91, _libraries, lambda given: told_apart(self.solve(**given)))

    def solve(self, D: Ints, N: Ints, z: Ints, K: Ints) -> list[Part]:
        table, held = 8e-9 * N**2, 1e-9 * (12 * z + 16 * K * (D + N))
        fewer = np.where(z / D > 4 * K, 1, 0)
        of_table = {
            "these are billions of numbers; each of them takes 8 bytes": N**2 / 1e9,
            "this is a table of documents by words; the exercise asks for the one of words by words": 8e-9 * D * N,
            "these are bytes; give GB": 8.0 * N**2,
            "this is the memory of the products; the table has N * N numbers": held,
        }
        of_held = {
            "these are the documents alone; F U and F'(F U) are stored as well": 12e-9 * z,
            "there are 2K vectors, not K": 1e-9 * (12 * z + 8 * K * (D + N)),
            "F U has a row for each document and F'(F U) one for each word: both are stored": (
                1e-9 * (12 * z + 16 * K * N)
            ),
            "F is sparse: 12 bytes for each of its z entries, not 8 for each of its D x N places": (
                1e-9 * (8 * D * N + 16 * K * (D + N))
            ),
        }
        of_computing = {
            "memory is saved in all four; the exercise asks which takes fewer multiplications": np.ones(4),
            "the answers are swapped: 1 means that products take fewer": 1 - fewer,
            "there are 2K vectors, and two products with each: 4 K z": np.where(z / D > K, 1, 0),
        }
        return [
            Part("table", table, of_table, "GB", (NONNEGATIVE,)),
            Part("products", held, of_held, "GB", (NONNEGATIVE,)),
            Part("fewer", fewer, of_computing, "1 where products take fewer multiplications, else 0"),
        ]


def _libraries(rng: np.random.Generator) -> Given:
    """Four libraries: long and short documents, few and many topics."""
    K = np.array([3, 30, 5, 20])
    words = np.array([8.0, 3.0, 2.0, 0.5]) * 2 * K * rng.uniform(0.9, 1.1, 4)  # different ones in a document
    D, N = rng.integers(10_000, 60_000, 4), rng.integers(20_000, 60_000, 4)
    order = rng.permutation(4)
    return {name: values[order] for name, values in {"D": D, "N": N, "z": (D * words).astype(int), "K": K}.items()}


class Contests(Exercise):
    """Differences of two methods on the same trials, their standard errors, and who is ahead by two of these."""

    hints = (
        "trial by trial: d = second - first, of shape (3, 30); its mean over trials is the difference",
        "use the standard deviation of d, not that of the trials: s.e. = d.std(axis=1, ddof=1) / np.sqrt(30)",
        "np.where(np.abs(mean) > 2 * se, np.sign(mean), 0)",
    )
    praise = "the largest difference cannot be distinguished from chance, but the smallest can"

    def given(self) -> Given:
        return drawn(93, _contests, lambda given: told_apart(self.solve(**given)) and self._is_clear(**given))

    def solve(self, first: Floats, second: Floats) -> list[Part]:
        d, n = second - first, first.shape[1]
        mean, s_e = d.mean(axis=1), d.std(axis=1, ddof=1) / np.sqrt(n)
        apart = np.sqrt((first.var(axis=1, ddof=1) + second.var(axis=1, ddof=1)) / n)
        of_means = {
            "the sign is reversed: the exercise asks for the second minus the first": -mean,
            "these are sums over the trials; take the mean": d.sum(axis=1),
            "this is the median; the standard error is one of the mean": np.median(d, axis=1),
            "without the sign it is unclear who is ahead: do not use abs": np.abs(d).mean(axis=1),
        }
        of_errors = {
            "this treats the methods as independent; both have the same easy and hard trials, so use the standard "
            "deviation of the differences": apart,
            "this is the standard deviation of one trial; for a mean over 30, divide it by sqrt(30)": s_e * np.sqrt(n),
            "divide by the square root of the number of trials, not by the number": s_e / np.sqrt(n),
            "this is a variance; take its square root": s_e**2,
            "this is two standard errors; give one standard error": 2 * s_e,
            "ddof=1: the spread around a mean that was itself estimated": s_e * np.sqrt((n - 1) / n),
        }
        ahead = np.where(np.abs(mean) > 2 * s_e, np.sign(mean), 0)
        of_verdicts = {
            "a difference may be chance: compare its size with two standard errors": np.sign(mean),
            "the size of a difference does not decide; 3 points may be noise while 1 point is not": (
                np.where(np.abs(mean) > 0.02, np.sign(mean), 0)
            ),
            "the errors of each method alone do not decide; use those of the differences": (
                np.where(np.abs(mean) > 2 * apart, np.sign(mean), 0)
            ),
            "1 where the second is ahead, -1 where the first is": -ahead,
        }
        return [
            Part("difference", mean, of_means, "shares of documents"),
            Part("standard error", s_e, of_errors, "shares of documents", (NONNEGATIVE,)),
            Part("ahead", ahead, of_verdicts, "1 for the second, -1 for the first, 0 for neither"),
        ]

    def _is_clear(self, first: Floats, second: Floats) -> bool:
        """Whether no verdict hangs on a digit, and the largest difference is the one that may be chance."""
        mean, s_e = (np.abs(np.asarray(part.answer)) for part in self.solve(first, second)[:2])
        t = mean / s_e
        return bool(np.all((t > 2.5) | (t < 1.6)) and np.sum(t < 1.6) == 1 and mean.argmax() == t.argmin())


def _contests(rng: np.random.Generator) -> Given:
    """Three pairs of methods on thirty trials, which differ much more than the methods do."""
    first = rng.uniform(0.45, 0.9, (3, 30))
    ahead, spread = np.array([0.01, 0.03, -0.015]), np.array([0.012, 0.11, 0.02])
    second = first + rng.normal(ahead[:, None], spread[:, None], (3, 30))
    order = rng.permutation(3)
    return {"first": first[order].round(3), "second": second[order].round(3)}


FLOOR = 2.2e-16  # what SPOC puts in the place of a negative weight


class Ranks(Exercise):
    """The rank correlation of one community, for three ways of making memberships of the same weights."""

    hints = (
        "cut = np.maximum(raw, 0), or np.maximum(raw, 2.2e-16); shares = cut / cut.sum(axis=1, keepdims=True)",
        "ranks = scipy.stats.rankdata: nodes with equal shares have the mean of their ranks; correlate the ranks",
        "scipy.stats.spearmanr(truth, shares[:, 0]).statistic, and for the third (shares.argmax(axis=1) == 0)",
    )
    praise = "one choice of corners gives three numbers that differ as much as the methods in a paper's table"

    def given(self) -> Given:
        return drawn(95, _weights, lambda given: told_apart(self.solve(**given)))

    def solve(self, truth: Floats, raw: Floats) -> list[Part]:
        def three(correlate: Callable[[Floats, Floats], float], low: float = 0.0) -> Floats:
            zero, floor = scaled(np.maximum(raw, low)), scaled(np.maximum(raw, FLOOR))
            return np.array([correlate(truth, x) for x in (zero[:, 0], floor[:, 0], zero.argmax(axis=1) == 0)])

        def unscaled(cut: float) -> float:
            return _spearman(truth, np.maximum(raw[:, 0], cut))

        right = three(_spearman)
        mistakes = {
            "these are correlations of the shares; correlate their ranks": three(_pearson),
            "equal memberships have equal ranks, the mean of their places; here ties are broken by order": (
                three(lambda a, b: _pearson(_places(a), _places(b)))
            ),
            "scale the rows after the cut: only this breaks a tie of tiny numbers": (
                np.array([unscaled(0), unscaled(FLOOR), right[2]])
            ),
            "the first way replaces negative weights with zero": three(_spearman, FLOOR),
            "the order is wrong: zero, 2.2e-16, then the main community": right[::-1],
        }
        return [Part("SRC", right, mistakes, "rank correlations")]


def _weights(rng: np.random.Generator) -> Given:
    """Memberships of sixty nodes in the first of three communities, and the weights found for all, many below zero."""
    theta = rng.dirichlet([0.12, 0.3, 0.3], 60)
    theta = scaled(np.where(theta < 0.1, 0.0, theta))
    active = rng.lognormal(0, 0.7, 60)
    raw = (theta - 0.05 + rng.normal(0, 0.05, (60, 3))) * active[:, None]
    return {"truth": theta[:, 0].round(3), "raw": raw.round(4)}


def _places(a: Floats) -> Floats:
    """Places in order, of equal numbers the first one first."""
    return a.argsort(kind="stable").argsort().astype(np.float64)


def _pearson(a: Floats, b: Floats) -> float:
    return float(np.corrcoef(a, b)[0, 1])


def _spearman(a: Floats, b: Floats) -> float:
    return _pearson(rankdata(a), rankdata(b))


ALONE = 0.1  # a corner whose nearest column is farther has no other near it


class Lonely(Exercise):
    """How near the nearest other column is to every corner, cloud by cloud, and what is wrong with these corners."""

    hints = (
        "cloud by cloud: K = spa(X, 3), and the distances of X[:, [k]] to all columns of X, for each k in K",
        "np.linalg.norm(X - X[:, [k]], axis=0) is zero at k itself: leave it out, and take the least of the others",
        "near = [np.sort(np.linalg.norm(X - X[:, [k]], axis=0))[1] for k in spa(X, 3)]; trouble is 1 if min(near) is "
        "zero, else 2 if max(near) > 0.1, else 0",
    )
    praise = "a corner with a twin is chosen by chance, and an isolated one may be a rare word instead of a topic"

    def given(self) -> Given:
        return drawn(97, _clouds, lambda given: told_apart(self.solve(**given)) and self._is_clear(**given))

    def solve(self, clouds: Floats) -> list[Part]:
        corners = [spa(X, 3) for X in clouds]
        sorted_distances = np.array([_from_corners(X, K) for X, K in zip(clouds, corners, strict=True)])
        near = sorted_distances[:, :, 1]
        others = np.array([_from_corners(X[:, K], np.arange(3))[:, 1] for X, K in zip(clouds, corners, strict=True)])
        trouble = np.where(near.min(axis=1) == 0, 1, np.where(near.max(axis=1) > ALONE, 2, 0))
        of_distances = {
            "a column is closest to itself: leave it out": sorted_distances[:, :, 0],
            "these are squares; take the square root": near**2,
            "these are the nearest among the corners; the exercise asks for the nearest of all other columns": others,
            "these are the farthest columns; the exercise asks for the nearest": sorted_distances[:, :, -1],
            "these are means over all columns; the exercise asks for the nearest": sorted_distances.mean(axis=2),
        }
        of_trouble = {
            "a distance of zero is a twin: the corner is one of two columns that are equal, 1": (
                np.where(near.max(axis=1) > ALONE, 2, 0)
            ),
            "look for isolated corners as well: one that is far from all other columns is enough, 2": (
                1 * (near.min(axis=1) == 0)
            ),
            "the answers are swapped: 1 is for twins, 2 for an isolated corner": np.choose(trouble, [0, 2, 1]),
            "one bad corner of three is enough": np.where(near.min(axis=1) > ALONE, 2, near.max(axis=1) == 0),
        }
        return [
            Part("nearest", near, of_distances, "distances", (NONNEGATIVE,)),
            Part("trouble", trouble, of_trouble, "1 for equal columns, 2 for an isolated corner, 0 for neither"),
        ]

    def _is_clear(self, clouds: Floats) -> bool:
        """Whether no corner is at the limit, and every kind of trouble occurs."""
        near, trouble = (np.asarray(part.answer) for part in self.solve(clouds))
        return bool(np.all((near < 0.8 * ALONE) | (near > 1.5 * ALONE)) and set(trouble.tolist()) == {0, 1, 2})


def _from_corners(X: Floats, corners: Ints) -> Floats:
    """Distances of every corner (rows) to all columns, the nearest first."""
    return np.sort(np.linalg.norm(X[:, None, :] - X[:, corners, None], axis=0), axis=1)


def _clouds(rng: np.random.Generator) -> Given:
    """Four clouds of 60 mixtures of three columns; every kind of trouble occurs."""
    kinds = rng.permutation([0, 1, 2, int(rng.integers(1, 3))])
    return {"clouds": np.stack([_cloud(kind, rng) for kind in kinds])}


def _cloud(kind: int, rng: np.random.Generator) -> Floats:
    """Mixtures of three columns, eight of them near each corner; with a twin of one corner, or one corner alone."""
    away = rng.uniform(0.02, 0.12, 24)[:, None]
    near = (1 - away) * np.repeat(np.eye(3), 8, axis=0) + away * rng.dirichlet(np.ones(3), 24)
    inner = 0.7 * rng.dirichlet(np.ones(3), 36) + 0.1
    H = np.vstack([near, inner])
    if kind == 2:
        H[1:8] = 0.6 * H[1:8] + 0.4 / 3
    W = 0.8 * np.eye(4)[:, rng.permutation(4)[:3]] + 0.2 * rng.dirichlet(np.ones(4), 3).T
    X = W @ H.T
    if kind == 1:
        X[:, 59] = X[:, spa(X, 3)[0]]
    return np.asarray(X[:, rng.permutation(60)])


JUDGED = {"products": Products(), "contests": Contests(), "ranks": Ranks(), "lonely": Lonely()}
