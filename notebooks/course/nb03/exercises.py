"""The exercises of notebook 03: links, a power law, labels needed, weights, a sweep of robust imputation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np

from cofactor.core.types import Floats, Ints
from course.crowds import Mask
from course.grading import NONNEGATIVE, SUMS_TO_ONE, Exercise, FunctionExercise, Given, Part
from course.nb03 import promises
from course.seeds import own

XI = 1e-6  # of Eq. (9)
SINGULAR = 1e-20  # squared singular value of a block that has no inverse


class Rate(Exercise):
    """The exponent of a power law, from five errors."""

    hints = (
        "take logarithms: log e = log c - b log S is a line in log S",
        "np.polyfit(x, y, 1) returns slope and intercept of the least-squares line",
        "b = -np.polyfit(np.log(sizes), np.log(errors), 1)[0]",
    )
    praise = "it is slightly below one half: this crowd also has nearly the rate of Theorem 1"

    def given(self) -> Given:
        return self.own(33, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        S = np.array([50, 200, 800, 3200, 12_800])
        e = rng.uniform(2, 4) * S ** -rng.uniform(0.4, 0.6) * np.exp(0.12 * rng.standard_normal(len(S)))
        return {"sizes": S, "errors": e.round(4)}

    def solve(self, sizes: Ints, errors: Floats) -> list[Part]:
        x, y = np.log(sizes), np.log(errors)
        slope, intercept = np.polyfit(x, y, 1)
        mistakes = {
            "this is the slope, which is negative; in e = c S^-b, b is minus the slope": slope,
            "you did not take the logarithm of the sizes; a power law is a line only on log-log axes": line(sizes, y),
            "you did not take the logarithm of the errors; a power law is a line only on log-log axes": line(x, errors),
            "you mixed two kinds of logarithm; use the same for both axes": -line(x, np.log10(errors)),
            "the axes are swapped; np.polyfit takes the logarithms of the sizes first": -line(y, x),
            "you used only the first and the last point; fit a line to all points": (y[0] - y[-1]) / (x[-1] - x[0]),
            "this is the intercept, log c; np.polyfit returns the slope first": intercept,
            "this is the factor c; give the exponent b": np.exp(intercept),
            "this is the exponent of Theorem 1; fit the exponent of these errors": 0.5,
        }
        return [Part("b", -slope, mistakes, unit="an exponent")]


def line(x: Floats | Ints, y: Floats) -> float:
    """Slope of the least-squares line."""
    return float(np.polyfit(x, y, 1)[0])


class LabelsNeeded(Exercise):
    """How many times as many items a smaller error requires."""

    hints = (
        "e = c / sqrt(S): what happens to e when S is multiplied by f?",
        "e is divided by sqrt(f), and sqrt(f) must equal error / target",
        "f = (error / target)**2",
    )
    praise = "to divide the error by some factor, multiply the labels by the square of that factor"

    def given(self) -> Given:
        return self.own(31, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        error, target = rng.choice([0.12, 0.15, 0.18, 0.24]), rng.choice([0.04, 0.05, 0.06])
        return {"items": int(rng.choice([150, 250, 400])), "error": float(error), "target": float(target)}

    def solve(self, items: int, error: float, target: float) -> list[Part]:
        ratio = error / target
        mistakes = {
            "this is the ratio of the errors; the error falls with the square root of S, so square the ratio": ratio,
            "you took the square root of the ratio; square the ratio instead": np.sqrt(ratio),
            "you squared the ratio of the errors twice; square it once": ratio**4,
            "this is the difference of the errors; divide them, then square": error - target,
            "this is the inverse of the factor; a smaller error needs more items": 1 / ratio**2,
            "this is the number of items; give the factor by which it grows": items * ratio**2,
            "this is the number of additional items; give the factor by which the number grows": (
                items * (ratio**2 - 1)
            ),
            "this is the factor minus one; give the factor by which the number of items grows": ratio**2 - 1,
            "you used the measured exponent 0.49; use the exponent 1/2 of the law": ratio ** (1 / 0.49),
        }
        return [Part("factor", ratio**2, mistakes, unit="a factor")]


class Weights(Exercise):
    """The weight of each observed block in robust imputation, and which of the four blocks is garbage."""

    hints = (
        "the misfit of block j is the Frobenius norm of R[j] - U_m @ U[j].T",
        "w_j = (misfit_j**2 + 1e-6)**(-1/2), then divide by the sum",
        "the garbage block fits worst, so its weight is the smallest: np.argmin(w)",
    )
    praise = "the garbage block keeps only a small weight, and the method found it without help"

    def given(self) -> Given:
        return self.own(32, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        U = np.stack([0.6 * np.eye(3) + 0.4 * rng.dirichlet(np.ones(3), 3).T for _ in range(5)]) / np.sqrt(3)
        R = U[0] @ U[1:].transpose(0, 2, 1) + 0.01 * rng.standard_normal((4, 3, 3))
        R[rng.integers(4)] = rng.dirichlet(np.ones(9)).reshape(3, 3)
        return {"R": R, "U_m": U[0], "U": U[1:]}

    def solve(self, R: Floats, U_m: Floats, U: Floats) -> list[Part]:
        off = R - U_m @ U.transpose(0, 2, 1)
        misfit, spectral = np.linalg.norm(off, axis=(1, 2)), np.linalg.norm(off, 2, axis=(1, 2))
        swapped, raw = np.linalg.norm(R - U @ U_m.T, axis=(1, 2)), (misfit**2 + XI) ** -0.5
        mistakes = {
            "you used the exponent -1 in (3); it is -1/2, one over the square root": shares(raw**2),
            "these weights grow with the misfit; a block that fits badly must get a smaller weight": shares(misfit),
            "you used the spectral norm; (3) uses the Frobenius norm": shares(1 / spectral),
            "you transposed the fit; compare R[j] with U_m @ U[j].T": shares(1 / swapped),
            "you added xi to the norm; square the norm first: ||.||^2 + xi": shares((misfit + XI) ** -0.5),
            "this is a softmax of the negative misfits; (3) uses a power, not an exponential": shares(np.exp(-misfit)),
            "these are exponentials of the negative misfits; (3) uses a power": np.exp(-misfit),
            "these are the weights (3) before normalisation; divide them by their sum": raw,
            "you divided by the largest weight; divide by the sum of the weights": raw / raw.max(),
        }
        places = {
            "count the blocks from 0, not from 1": raw.argmin() + 1,
            "this is the block that fits best; the garbage block fits worst": raw.argmax(),
        }
        w = Part("w", shares(raw), mistakes, "weights that sum to one", (NONNEGATIVE, SUMS_TO_ONE))
        return [w, Part("garbage", raw.argmin(), places, "the number of a block")]


def shares(weights: Floats) -> Floats:
    """Weights that sum to one."""
    return np.asarray(weights / weights.sum())


def puzzle(n_workers: int, K: int, share: float, seed: int) -> Given:
    """Draw noisy blocks of a small crowd, some missing and one garbage, and factors to start from."""
    M, rng = n_workers, np.random.default_rng(seed)
    A = 0.6 * np.eye(K) + 0.4 * rng.dirichlet(np.ones(K), (M, K)).transpose(0, 2, 1)
    R = np.einsum("mac,jbc->mjab", A, A) / K + 0.01 * rng.standard_normal((M, M, K, K))
    R[0, 1] = rng.dirichlet(np.ones(K * K)).reshape(K, K)
    above = np.triu(rng.random((M, M)) >= share, k=1)
    above[0, 1:] = above[:-1, -1] = True
    R *= above[:, :, None, None]
    return {"R": R + R.transpose(1, 0, 3, 2), "seen": above | above.T, "U": (0.5 * np.eye(K) + 0.5 * A) / np.sqrt(K)}


def sweep(R: Floats, seen: Mask, U: Floats, power: float = -0.5, **wrong: bool) -> Floats:
    """Refit every factor to its observed blocks; the settings introduce typical mistakes."""
    new = U.copy()
    for m in np.flatnonzero(seen.any(axis=1)):
        others, j = U if "stale" in wrong else new, np.flatnonzero(seen[m])
        at = U if "weigh_first" in wrong else others
        off = np.abs(R[m, j] - at[m] @ at[j].transpose(0, 2, 1))
        w = ((off if "absolute" in wrong else off**2).sum(axis=(1, 2)) + XI) ** power
        G, B = np.einsum("j,jab,jac->bc", w, others[j], others[j]), np.einsum("j,jab,jbc->ac", w, R[m, j], others[j])
        new[m] = np.linalg.inv(G) @ B if "left" in wrong else B @ np.linalg.inv(G)
    return new


def criterion(R: Floats, seen: Mask, U: Floats) -> float:
    """Sum of the misfits of the observed blocks, Eq. (17)."""
    misfit = ((R - np.einsum("mac,jbc->mjab", U, U)) ** 2).sum(axis=(2, 3))
    return float(np.sqrt(misfit + XI)[seen].sum()) / 2


def links(
    R: Floats,
    seen: Mask,
    m: int,
    n: int,
    weigh: Callable[..., Any] = lambda s: s[:, -1] ** 2,
    middle: Callable[..., Any] = np.linalg.pinv,
    everyone: bool = False,
) -> tuple[Floats, Floats]:
    """Estimate R_mn through every link (l, r), with weights; the settings introduce typical mistakes."""
    estimates, weights = np.zeros_like(R), np.zeros(seen.shape)
    l, r = np.nonzero(seen if everyone else seen & np.outer(seen[n], seen[m]))
    estimates[l, r] = R[m, r] @ middle(R[l, r]) @ R[l, n]
    weights[l, r] = weigh(np.linalg.svd(R[l, r], compute_uv=False))
    return estimates, weights


class Links(FunctionExercise):
    """Designated imputation: the estimate of a missing block through every link, and its weight."""

    hints = (
        "l and r link m and n if seen[m, r], seen[l, r] and seen[l, n] are all true; use two loops, or np.argwhere of "
        "seen & np.outer(seen[n], seen[m])",
        "estimates[l, r] = R[m, r] @ np.linalg.pinv(R[l, r]) @ R[l, n]",
        "weights[l, r] = np.linalg.svd(R[l, r], compute_uv=False)[-1] ** 2; without a link, both stay zero",
    )
    praise = "together with the weighted mean of the estimates, this is designated imputation"

    def given(self) -> Given:
        return self._hole(6, 3, 0.2, seed=1)

    def cases(self) -> list[Given]:
        dull, alone = self._hole(6, 3, 0.1, own(32)), self._hole(5, 2, 0.0, own(33))
        l, r = np.argwhere(dull["seen"] & np.outer(dull["seen"][dull["n"]], dull["seen"][dull["m"]]))[0]
        dull["R"][l, r, 0] = dull["R"][r, l, :, 0] = 0.0  # a label that l never gave to these tasks: no inverse
        alone["seen"][alone["m"]] = alone["seen"][:, alone["m"]] = False  # nobody links m with n
        alone["R"][~alone["seen"]] = 0.0
        return [self._hole(7, 4, 0.3, own(31)), dull, alone]

    def _hole(self, n_workers: int, K: int, share: float, seed: int) -> Given:
        """Draw the blocks of a crowd, and a pair of annotators whose block is missing."""
        made = puzzle(n_workers, K, share, seed)
        R, seen, (m, n) = made["R"], made["seen"], (n_workers - 2, 0)
        seen[m, n] = seen[n, m] = False
        R[m, n] = R[n, m] = 0.0
        return {"R": np.abs(R), "seen": seen, "m": m, "n": n}

    def solve(self, R: Floats, seen: Mask, m: int, n: int) -> list[Part]:
        estimates, weights = links(R, seen, m, n)
        return [Part("estimates", estimates, {}, "blocks"), Part("weights", weights, {}, laws=(NONNEGATIVE,))]

    def arranged(self, parts: list[Part], result: list[Floats]) -> list[Floats]:
        """Accept any estimate whose weight is zero because the block has no inverse."""
        right, weights = (np.asarray(part.answer) for part in parts)
        return [np.where((weights > SINGULAR)[:, :, None, None], result[0], right), result[1]]

    wrong: ClassVar = {
        "both tables are still zero; fill in the cells [l, r] for which l and r link m and n": (
            lambda R, seen, m, n: (R * 0, seen * 0.0)
        ),
        "the weight is the smallest singular value of R[l, r]; square it": partial(links, weigh=lambda s: s[:, -1]),
        "you squared the largest singular value of R[l, r]; use the smallest, the last one": partial(
            links, weigh=lambda s: s[:, 0] ** 2
        ),
        "the weight is the determinant of R[l, r]; use the square of its smallest singular value": partial(
            links, weigh=lambda s: s.prod(axis=1)
        ),
        "all your links have the same weight; use the square of the smallest singular value of R[l, r]": partial(
            links, weigh=lambda s: s[:, -1] ** 0
        ),
        "you used every observed R[l, r]; l and r link m and n only if m has a block with r, and l one with n": partial(
            links, everyone=True
        ),
        "you normalised the weights; return them as they are": lambda R, seen, m, n: (
            (found := links(R, seen, m, n))[0],
            found[1] / (found[1].sum() or 1.0),
        ),
        "you multiplied by R[l, r] in the middle; multiply by its inverse": partial(
            links, middle=lambda blocks: blocks
        ),
        "you inverted R[r, l], the transpose; invert R[l, r]": partial(
            links, middle=lambda blocks: np.linalg.pinv(blocks).swapaxes(1, 2)
        ),
        "you inverted each entry; use np.linalg.pinv for the inverse of a matrix": partial(
            links, middle=lambda blocks: np.divide(1.0, blocks, out=np.zeros_like(blocks), where=blocks != 0)
        ),
        "the tables are transposed; the rows are l, which shares a block with n": lambda *case: tuple(
            table.swapaxes(0, 1) for table in links(*case)
        ),
        "you estimated the block R_nm; estimate R_mn, whose rows are the labels of m": (
            lambda R, seen, m, n: links(R, seen, n, m)
        ),
    }


class RobustSweep(FunctionExercise):
    """One sweep of robust imputation."""

    hints = (
        "before you refit U_m, compute w_mj = (||R_mj - U_m U_j'||^2 + 1e-6)^(-1/2) for each j with seen[m, j]",
        "then compute G = sum_j w_mj U_j' U_j and B = sum_j w_mj R_mj U_j over the same j",
        "replace U_m by B G^-1 at once, before you go on to m + 1; skip an m without observed blocks",
    )
    praise = "the criterion cannot rise, and repeating this step is all of robust imputation"

    def given(self) -> Given:
        return puzzle(5, 3, 0.3, seed=1)

    def cases(self) -> list[Given]:
        alone, exact = puzzle(5, 2, 0.0, seed=own(2)), puzzle(4, 3, 0.0, seed=own(3))
        alone["seen"][3, :] = alone["seen"][:, 3] = False
        alone["R"][~alone["seen"]] = 0.0
        exact["U"] = np.round(4 * exact["U"]) / 4  # so that the blocks fit to the last digit
        exact["R"] = np.einsum("mac,jbc->mjab", exact["U"], exact["U"])
        return [puzzle(7, 4, 0.3, seed=own(4)), alone, exact]

    def solve(self, R: Floats, seen: Mask, U: Floats) -> list[Part]:
        return [Part("new U", sweep(R, seen, U), {}, unit="factors")]

    wrong: ClassVar = {
        "you returned the factors unchanged; refit each of them": lambda R, seen, U: U,
        "all blocks have the same weight; multiply each term of G and B by w_mj": partial(sweep, power=0.0),
        "the weights grow with the misfit; the exponent in (3) is -1/2": partial(sweep, power=0.5),
        "you used the exponent -1 in the weights; it is -1/2": partial(sweep, power=-1.0),
        "you refitted all factors from the old ones; replace U_m before you refit U_m+1": partial(sweep, stale=True),
        "you computed all weights before the sweep; compute those of m just before you refit U_m": partial(
            sweep, weigh_first=True
        ),
        "the inverse is on the wrong side; U_m = B G^-1": partial(sweep, left=True),
        "you added absolute values in the misfit; add squares: ||.||^2 + xi": partial(sweep, absolute=True),
        "only the first factor was refitted; loop over all m, and return after the loop": (
            lambda R, seen, U: np.concatenate([sweep(R, seen, U)[:1], U[1:]])
        ),
        "you scaled the columns to sum to one; leave them as they are, since U_m = A_m D^1/2": (
            lambda R, seen, U: (new := sweep(R, seen, U)) / new.sum(axis=1, keepdims=True)
        ),
        "you included blocks that were not observed; sum only over the j with seen[m, j]": (
            lambda R, seen, U: sweep(R, ~np.eye(len(U), dtype=bool), U)
        ),
        "you used transposed blocks; use R[m, j]": lambda R, seen, U: sweep(R.transpose(0, 1, 3, 2), seen, U),
    }

    def properties(self, case: Given, result: list[Floats]) -> Iterator[str]:
        before, after = (criterion(case["R"], case["seen"], U) for U in (case["U"], result[0]))
        if after > before * (1 + 1e-9):
            yield f"the sum of misfits rises from {before:.4f} to {after:.4f}, but a correct sweep never increases it"


EXERCISES = {
    "links": Links(),
    "rate": Rate(),
    "labels_needed": LabelsNeeded(),
    "weights": Weights(),
    "robust_sweep": RobustSweep(),
    **promises.EXERCISES,
}


OBJECTIVES = (("links",), ("labels_needed",), ("weights",))  # the exercises of each, in their order
LAB = ("rate", "at_most", "robust_sweep", "two_terms", "more_labels")
