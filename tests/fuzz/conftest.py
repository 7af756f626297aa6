"""What odd arguments do does not depend on how often a crowd is simulated: a few times are enough here."""

import pytest

from cofactor.crowd import plan_next


@pytest.fixture(autouse=True)
def few_simulated_tasks(monkeypatch):
    """Simulate few tasks: a plan for a crowd of one task would simulate it two thousand times per difficulty."""
    monkeypatch.setattr(plan_next, "MIN_SIMULATED_TASKS", 40)
