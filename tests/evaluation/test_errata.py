"""What is wrong in the papers as printed, in rational numbers."""

from fractions import Fraction as F
from itertools import product

import numpy as np

from cofactor.core.scattering import scattering_certificate

A = [
    [F(30, 100), F(20, 100), 0],
    [F(10, 100), F(30, 100), 0],
    [F(15, 100), 0, F(30, 100)],
    [F(45, 100), 0, F(15, 100)],
    [0, F(1625, 10000), F(325, 1000)],
    [0, F(3375, 10000), F(225, 1000)],
]
PRIOR = [F(4, 9), F(2, 9), F(3, 9)]
Q = [[F(x, 21) for x in row] for row in ([14, -6, 18], [14, 9, -6], [-7, 18, 9])]
OTHER = [F(27, 90), F(28, 90), F(35, 90)]


def times(X, Y):
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*Y, strict=True)] for row in X]


def table(prior, A, order):
    """The table of `order` variables with these conditionals."""
    rows = range(len(A))
    return {
        cell: sum(p * np.prod([A[i][f] for i in cell]) for f, p in enumerate(prior))
        for cell in product(rows, repeat=order)
    }


def test_theorem_2_of_the_joint_pmf_paper_is_false_as_printed():
    B = times(A, Q)
    assert scattering_certificate(np.array(A, dtype=float)).condition1 == "holds"
    assert scattering_certificate(np.array(A, dtype=float)).condition2 == "holds"
    assert sum(PRIOR) == sum(OTHER) == 1 and min(PRIOR) > 0 and min(OTHER) > 0
    for model in (A, B):
        assert min(map(min, model)) >= 0
        assert [sum(column) for column in zip(*model, strict=True)] == [1, 1, 1]
    assert table(PRIOR, A, 2) == table(OTHER, B, 2)
    first, second = (np.array([*table(*model, 3).values()], dtype=float) for model in ((PRIOR, A), (OTHER, B)))
    assert 0.33 < np.linalg.norm(first - second) / np.linalg.norm(first) < 0.35
    scaled = np.array(A, dtype=float) * np.sqrt(np.array(PRIOR, dtype=float))
    assert scattering_certificate(scaled).condition1 == "fails"  # the condition under which the theorem holds
