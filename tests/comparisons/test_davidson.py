"""The model of wins, losses and ties by itself: its chances at the ends of numbers, its ridge, its maximum."""

import numpy as np
import pytest

from cofactor.comparisons import davidson
from cofactor.core import checks
from cofactor.core.errors import CofactorError


def test_chances_of_very_different_items_are_none_and_one():
    win, lose, tie = davidson.outcome_chances(np.array([3000.0, -3000.0, 0.0]), 0.0)
    assert np.allclose([win, lose, tie], [[1, 0, 1 / 3], [0, 1, 1 / 3], [0, 0, 1 / 3]])


def test_a_ridge_pulls_items_together_and_leaves_ties_alone():
    left, right, none = np.array([0, 1, 0]), np.array([1, 2, 2]), np.zeros((3, 0))
    won, lost, tied = np.array([8.0, 7.0, 9.0]), np.array([2.0, 3.0, 1.0]), np.array([1.0, 6.0, 2.0])
    cells = davidson.Cells(3, left, right, won, lost, tied, none, has_ties=True)
    spread = []
    for ridge in (0.0, 5.0):
        u, _, tau = cells.split(davidson.fit_ranking(cells, ridge * np.array([1, 1, 1, 0])).theta)
        win, lose, tie = davidson.outcome_chances(u[left] - u[right], tau)
        assert cells.total @ tie == pytest.approx(tied.sum())  # slope of the likelihood in tau
        half = (won - lost - cells.total * (win - lose)) / 2
        assert cells.scatter(half) == pytest.approx(ridge * u, abs=1e-6)
        spread.append(np.ptp(u))
    assert spread[1] < 0.8 * spread[0]


def test_five_tables_of_eight_bytes_for_every_two_parameters_must_fit(monkeypatch):
    counts = np.array([3.0, 2.0, 1.0])
    cells = davidson.Cells(3, np.array([0, 1, 0]), np.array([1, 2, 2]), counts, counts, counts, np.zeros((3, 0)), True)
    monkeypatch.setattr(checks, "available_bytes", lambda: 5 * 8 * 4**2)
    davidson.fit_ranking(cells)
    monkeypatch.setattr(checks, "available_bytes", lambda: 5 * 8 * 4**2 - 1)
    with pytest.raises(CofactorError, match=r"covariance of 3 items would take .*640 bytes.*keep fewer items"):
        davidson.fit_ranking(cells)
