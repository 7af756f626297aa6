"""Exercises of notebook 03 on guarantees: the bounds of both theorems, and crowds for which more labels do not help."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.types import Floats, Ints
from course.crowds import Mask
from course.grading import NONNEGATIVE, Exercise, Given, Part
from course.nb03.crowds import links_every_hole, made_crowds, one_group_with_odd_cycle
from course.seeds import own


class AtMost(Exercise):
    """Which error curves Theorem 1 allows: those whose product with the square root of S stays bounded."""

    hints = (
        "e(S) <= c / sqrt(S) is equivalent to e(S) * sqrt(S) <= c: compute these products for each row",
        "the smallest c for the given sizes is the largest product in a row",
        "a product that keeps growing, as at the last sizes, exceeds every c in the end; one that falls or has "
        "levelled off does not",
    )
    praise = (
        "it is an upper bound for all large S: an error that falls faster, or starts to fall later, still satisfies it"
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
            "this is the product at the last size; the bound must hold at all sizes: take the largest": times[:, -1],
            "this is the product at the first size; the bound must hold at all sizes: take the largest": times[:, 0],
            "this is the smallest product; an upper bound needs the largest": times.min(axis=1),
            "this is the mean of the products; an upper bound needs the largest": times.mean(axis=1),
            "these are the largest errors; first multiply each error by sqrt(S)": errors.max(axis=1),
            "you divided the errors by sqrt(S); multiply instead": (errors / root).max(axis=1),
            "you multiplied the errors by S; multiply by sqrt(S)": (errors * S).max(axis=1),
        }
        return [
            Part("c", times.max(axis=1), of_c, "constants", [NONNEGATIVE]),
            Part("allowed", grows(times) < 0.12, _misread(times), "1 or 0 each"),
        ]


def grows(times: Floats) -> Floats:
    """The exponent with which each product grows over the last two sizes S, (rows,)."""
    return np.asarray(np.log(times[:, -1] / times[:, -2]) / np.log(4))


def _misread(times: Floats) -> dict[str, ArrayLike]:
    """Typical wrong answers about the five curves, keyed by the reply to each."""
    right, end = grows(times) < 0.12, grows(times)
    faster, flat, slower = end < -0.12, end > 0.37, (end >= 0.12) & (end <= 0.37)
    late = right & (times[:, 2] > 2 * times[:, 0])
    return {
        "you ruled out an error that falls faster than 1/sqrt(S); an upper bound allows it": right & ~faster,
        "you ruled out an error that starts to fall late; the bound needs to hold only for large S": right & ~late,
        "you ruled out errors that fall faster or start to fall later; an upper bound for large S allows both": (
            right & ~late & ~faster
        ),
        "you allowed an error that levels off above zero; it eventually exceeds every c / sqrt(S)": right | flat,
        "you allowed an error that falls like S^(-1/4); it eventually exceeds every c / sqrt(S)": right | slower,
        "you allowed all rows; no c suffices for a row whose product with sqrt(S) keeps growing": np.ones(len(times)),
        "this is the wrong way round; give 1 for what the theorem allows": ~right,
    }


class TwoTerms(Exercise):
    """Both terms of Theorem 2 for a crowd and for one twice as large, and the S at which the terms are equal."""

    hints = (
        "L = M (M - 1) / 2; the sum over the observed pairs has |Omega| equal terms, so multiply one by |Omega|",
        "first = sqrt(M K^2 log M / |Omega|), second = (1 + |Omega| / L) (1 + sqrt(M)) / sqrt(S)",
        "write the second term as t / sqrt(S), with t = second * sqrt(S); it equals the first at S = (t / first)^2",
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
            "in the second term, the sum over the observed pairs is missing; multiply by their number, |Omega|": (
                table(second=second / pairs)
            ),
            "in the second term, 1/L is missing from 1/L + 1/|Omega|": table(second=one),
            "in the second term, 1/|Omega| is missing from 1/L + 1/|Omega|": table(second=second - one),
            "you used M^2 for L; L is the number of pairs, M (M - 1) / 2": table(second=(1 + pairs / M**2) * one),
            "in the second term, you divided by S; divide by sqrt(S)": table(second=second / np.sqrt(S)),
            "in the second term, you used M; use sqrt(M)": table(second=(1 + M) / (1 + np.sqrt(M)) * second),
            "in the first term, the square root is missing": table(first**2),
            "you used the logarithm to base 10; use the natural logarithm": table(first / np.sqrt(np.log(10))),
            "in the first term, you used K; use K^2": table(first / np.sqrt(K)),
            "the columns are swapped; the first term is the one without S": table()[:, ::-1],
        }
        ratio = second / first
        of_equal = {
            "this is the factor by which S must grow; multiply it by S": ratio**2,
            "the second term falls with the square root of S; square the ratio of the terms": S * ratio,
            "you divided by the squared ratio; multiply S by (second / first)^2": S / ratio**2,
            "this is the square root of S; square it": np.sqrt(S) * ratio,
        }
        return [
            Part("terms", table(), of_terms, "a row for each crowd", [NONNEGATIVE]),
            Part("S", S * ratio**2, of_equal, "tasks", [NONNEGATIVE]),
        ]


class MoreLabels(Exercise):
    """How many of two imputations converge to the truth as labels are added, read off six drawn crowds."""

    hints = (
        "designated imputation: does every hole (m, n) have a link m - r - l - n of three observed pairs, and is no "
        "block garbage?",
        "robust imputation: leave out the garbage; do the six annotators form one group with an odd cycle?",
        "answer 2 if both converge to the truth, 1 if only robust imputation does, and 0 if neither does",
    )
    praise = (
        "more labels do not help with holes without a link, two groups or teams, or people with only garbage blocks"
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
    """Typical wrong counts, keyed by the reply to each."""
    sound, groups = (right == 0) & ~bad, np.array([not np.linalg.matrix_power(s + np.eye(6), 5).all() for s in seen])
    return {
        "designated imputation fails in a crowd that you gave 2: it cannot fill a hole without a link": (
            np.where((right == 1) & ~linked, 2, right)
        ),
        "designated imputation fails in a crowd that you gave 2: links pass through its garbage block": (
            np.where((right == 1) & bad, 2, right)
        ),
        "robust imputation succeeds in a crowd that you gave 0: it ignores a single garbage block": (
            np.where((right == 1) & bad, 0, right)
        ),
        "robust imputation succeeds in a crowd that you gave 0: it needs no links, only a group with an odd cycle": (
            np.where((right == 1) & ~linked, 0, right)
        ),
        "both methods fail for two teams: without an odd cycle, no method can find the blocks within a team": (
            np.where(sound & ~groups, 1, right)
        ),
        "both methods fail for two groups: no method can find the blocks between them": (
            np.where(sound & groups, 1, right)
        ),
        "both methods fail if an annotator has only garbage blocks: no method can learn about that annotator": (
            np.where((right == 0) & bad, 1, right)
        ),
        "robust imputation also fails in some crowds: it needs one group with an odd cycle of sound blocks": (
            np.maximum(right, 1)
        ),
        "this counts the methods that fail; count those that converge to the truth": 2 - right,
        "each method fails in some crowd; check the six pictures one by one": np.full(len(right), 2),
    }


EXERCISES = {"at_most": AtMost(), "two_terms": TwoTerms(), "more_labels": MoreLabels()}
