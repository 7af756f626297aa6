"""Exercises of notebook 03 on promises: the bounds of both theorems, and crowds for which more labels do not help."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.types import Floats, Ints
from course.crowds import Mask
from course.grading import NONNEGATIVE, Exercise, Given, Part
from course.nb03.crowds import links_every_hole, made_crowds, one_group_with_odd_cycle
from course.seeds import own


class AtMost(Exercise):
    """Which curves of errors Theorem 1 allows: those whose product with the root of S stays bounded."""

    hints = (
        "e(S) <= c / sqrt(S) says the same as e(S) * sqrt(S) <= c: look at these products, row by row",
        "the smallest c for the sizes at hand is the largest product of a row",
        "a row whose product still grows at the last sizes passes every c if it goes on so; one that falls, or has "
        "come to rest, does not",
    )
    praise = (
        "it is an upper bound from some size on: an error that falls faster, or starts to fall later, "
        "still satisfies it"
    )

    def given(self) -> Given:
        rng, S = np.random.default_rng(own(34)), 100 * 4 ** np.arange(6)
        x, (a, b, c, d, e) = S / 100, rng.uniform(0.8, 1.2, 5)
        late = np.minimum(1, 4 / np.sqrt(x))
        curves = [
            0.3 * a * x**-0.5,
            0.5 * b * x**-0.75,
            0.4 * c * x**-0.25,
            np.hypot(0.25 / np.sqrt(x), 0.07 * d),
            0.7 * e * late,
        ]
        noisy = np.array(curves) * np.exp(0.01 * rng.standard_normal((5, 6)))
        return {"S": S, "errors": rng.permutation(noisy).round(4)}

    def solve(self, S: Ints, errors: Floats) -> list[Part]:
        times, root = errors * np.sqrt(S), np.sqrt(S)
        of_c = {
            "this is the product at the last size; the bound has to hold at all sizes": times[:, -1],
            "this is the product at the first size; the bound has to hold at all sizes": times[:, 0],
            "this is the smallest product; a bound from above needs the largest": times.min(axis=1),
            "this is the mean of the products; a bound from above needs the largest": times.mean(axis=1),
            "these are the largest errors: multiply each error by the root of its S first": errors.max(axis=1),
            "the errors were divided by the root of S; multiply": (errors / root).max(axis=1),
            "the errors were multiplied by S; take its root": (errors * S).max(axis=1),
        }
        return [
            Part("c", times.max(axis=1), of_c, "constants", [NONNEGATIVE]),
            Part("allowed", grows(times) < 0.12, _misread(times), "1 or 0 each"),
        ]


def grows(times: Floats) -> Floats:
    """The exponent of S by which each product grows over the last two sizes, (rows,)."""
    return np.asarray(np.log(times[:, -1] / times[:, -2]) / np.log(4))


def _misread(times: Floats) -> dict[str, ArrayLike]:
    """What is often said of the five curves instead, by what is replied."""
    right, end = grows(times) < 0.12, grows(times)
    faster, flat, slower = end < -0.12, end > 0.37, (end >= 0.12) & (end <= 0.37)
    late = right & (times[:, 2] > 2 * times[:, 0])
    return {
        "the theorem says at most: an error that falls faster than 1/sqrt(S) obeys it as well": right & ~faster,
        "the theorem speaks of S from some number on: it allows an error that begins to fall later": right & ~late,
        "a bound from above, from some number on: it allows errors that fall faster, or that begin later": (
            right & ~late & ~faster
        ),
        "an error that comes to rest above zero passes every c / sqrt(S) in the end": right | flat,
        "an error that falls as the fourth root of S passes every c / sqrt(S) in the end": right | slower,
        "no constant is large enough where the product with the root of S grows for ever": np.ones(len(times)),
        "the other way round: 1 is for what the theorem allows": ~right,
    }


class TwoTerms(Exercise):
    """Both terms of Theorem 2 for a crowd and for one twice as large, and the S from which on the first one rules."""

    hints = (
        "L = M (M - 1) / 2; the sum over the observed pairs has |Omega| equal terms, so it gives a factor of |Omega|",
        "first = sqrt(M K^2 log M / |Omega|), second = (1 + |Omega| / L) (1 + sqrt(M)) / sqrt(S)",
        "the second term is t / sqrt(S) with t = second * sqrt(S); it equals the first at S = (t / first)^2",
    )
    praise = (
        "with more annotators the first term falls and the second rises: only more pairs and more labels together help"
    )

    def given(self) -> Given:
        rng = np.random.default_rng(own(35))
        M = int(rng.integers(60, 140)) * np.array([1, 2])
        pairs = np.round(M * (M - 1) / 2 * rng.choice([0.3, 0.4, 0.6, 0.7])).astype(int)
        return {"M": M, "pairs": pairs, "K": 3, "S": 400}

    def solve(self, M: Ints, pairs: Ints, K: int, S: int) -> list[Part]:
        first, everybody = np.sqrt(M * K**2 * np.log(M) / pairs), M * (M - 1) / 2
        one = (1 + np.sqrt(M)) / np.sqrt(S)  # a summand of the second term
        second = (1 + pairs / everybody) * one

        def table(first: Floats = first, second: Floats = second) -> Floats:
            return np.column_stack([first, second])

        of_terms = {
            "the sum over the observed pairs is missing: it has |Omega| equal terms": table(second=second / pairs),
            "1/L is missing in the second term": table(second=one),
            "1/|Omega| is missing in the second term": table(second=second - one),
            "L is the number of pairs, M (M - 1) / 2, not M^2": table(second=(1 + pairs / M**2) * one),
            "the second term has the root of S": table(second=second / np.sqrt(S)),
            "the second term has the root of M": table(second=(1 + M) / (1 + np.sqrt(M)) * second),
            "take the root in the first term": table(first**2),
            "the logarithm is the natural one": table(first / np.sqrt(np.log(10))),
            "K is squared in the first term": table(first / np.sqrt(K)),
            "the first term is the one without S: swap the columns": table()[:, ::-1],
        }
        ratio = second / first
        of_equal = {
            "this is the number by which S has to be multiplied": ratio**2,
            "the second term falls with the root of S: square the ratio of the terms": S * ratio,
            "upside down: where the first term is the larger one, S can be smaller": S / ratio**2,
            "this is the root of S: square it": np.sqrt(S) * ratio,
        }
        return [
            Part("terms", table(), of_terms, "a row for each crowd", [NONNEGATIVE]),
            Part("S", S * ratio**2, of_equal, "tasks", [NONNEGATIVE]),
        ]


class MoreLabels(Exercise):
    """How many of two imputations come to the truth with more and more labels, read off six drawn crowds."""

    hints = (
        "designated imputation: does every hole (m, n) have a link m - r - l - n, three observed pairs, and is no "
        "block garbage?",
        "robust imputation: leave out the garbage; are the six one group with an odd cycle?",
        "add both: 2 where both come to the truth, 1 where robust imputation alone does, 0 where none does",
    )
    praise = (
        "more labels do not help with holes without a link, a second group, teams, or people with only garbage blocks"
    )

    def given(self) -> Given:
        return made_crowds(own(36))

    def solve(self, seen: Mask, garbage: Mask) -> list[Part]:
        robust = np.array([one_group_with_odd_cycle(s & ~g) for s, g in zip(seen, garbage, strict=True)])
        linked = np.array([links_every_hole(s) for s in seen])
        bad = np.asarray(garbage.any(axis=(1, 2)))
        right = robust * 1 + (robust & linked & ~bad)
        return [Part("methods", right, _miscounted(right, seen, linked, bad), "0, 1 or 2 each")]


def _miscounted(right: Ints, seen: Mask, linked: Mask, bad: Mask) -> dict[str, ArrayLike]:
    """What is often counted instead, by what is replied."""
    sound, groups = (right == 0) & ~bad, np.array([not np.linalg.matrix_power(s + np.eye(6), 5).all() for s in seen])
    return {
        "a hole that no link reaches stays empty in designated imputation": np.where((right == 1) & ~linked, 2, right),
        "a garbage block takes part in links, so it spoils designated imputation for ever": (
            np.where((right == 1) & bad, 2, right)
        ),
        "robust imputation leaves out a single garbage block: the others are enough": (
            np.where((right == 1) & bad, 0, right)
        ),
        "robust imputation needs no links, one group with an odd cycle is enough": (
            np.where((right == 1) & ~linked, 0, right)
        ),
        "two teams: without an odd cycle no method finds the blocks within a team": np.where(sound & ~groups, 1, right),
        "two groups: nothing joins them, and no method finds the blocks between them": (
            np.where(sound & groups, 1, right)
        ),
        "who has garbage blocks only is known to no method": np.where((right == 0) & bad, 1, right),
        "robust imputation has its limits, too: one group with an odd cycle of sound blocks": np.maximum(right, 1),
        "these are the methods that do not come to the truth": 2 - right,
        "both methods fail somewhere: look at each picture": np.full(len(right), 2),
    }


EXERCISES = {"at_most": AtMost(), "two_terms": TwoTerms(), "more_labels": MoreLabels()}
