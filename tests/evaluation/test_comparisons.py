"""The experiments on comparisons give the levels measured for the paper's descent, for starts and for choices."""

import numpy as np
import pytest

from evaluation import EXPERIMENTS
from evaluation.comparisons import figures
from evaluation.experiment import one_trial


def values(rows, metric):
    return {row.method: row.value for row in rows if row.metric == metric}


def trial(name, setting, number=0):
    """Run one trial with the seed that the harness would take."""
    experiment = EXPERIMENTS[f"comparisons-{name}"]
    return one_trial(experiment, setting, number)


@pytest.fixture(scope="module")
def started():
    rows = trial("figure1", "200x300,unit")
    assert not any(row.error for row in rows)
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("theta", ["0.5", "1", "2"])
def test_descent_is_linear_from_every_start_with_and_without_projections(started, theta):
    at = {t: values(started, f"t={t}") for t in (0, 100, 300)}
    name = f"theta={theta}"
    assert at[0][name] == pytest.approx(0.079 * 2 * float(theta), rel=0.05)
    rates = [(at[300][one] / at[100][one]) ** (1 / 200) for one in (name, f"{name}, projected")]
    # measured over five seeds: 0.947 +- 0.011 a step
    assert all(0.90 < rate < 0.98 for rate in rates) and rates[0] == pytest.approx(rates[1], abs=2e-3)
    assert at[300][name] < 1e-6


@pytest.mark.slow
def test_a_spectral_start_finds_the_truth_where_random_ones_do_not():
    rows = [trial("starts", "gauss,m/dof=2.5", number) for number in range(4)]
    share = {method: np.mean([values(one, "success")[method] for one in rows]) for method in values(rows[0], "success")}
    # measured over ten: spectral 10, random 0 or 1
    assert share["spectral"] >= 0.75 and max(share[name] for name in figures.FACTORS) <= 0.5
    easy = values(trial("starts", "unit,m/dof=5"), "passes")
    assert easy["spectral"] == min(easy.values())


@pytest.mark.slow
@pytest.mark.parametrize(("m", "error"), [("40,000", 0.487), ("160,000", 0.255)])
def test_choices_leave_the_error_that_the_planner_predicts(m, error):
    found = values(trial("choices", f"m={m}"), "error")
    assert found["ComparisonMF"] == pytest.approx(error, rel=0.08)
    assert found["ComparisonMF"] < found["spectral start"]
    assert found["planner"] == pytest.approx(found["ComparisonMF"], rel=0.1)
