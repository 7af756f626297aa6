"""Plans of choices agree with what choices do, and with the formula."""

import numpy as np
import pytest

from cofactor import CofactorError, DataWarning
from cofactor.comparisons import ComparisonMF, plan
from tests.comparisons.problems import drawn, error_of, truth

U, V = truth(0, 40, 30, 2)
DATA = drawn(U, V, 4000, "binary")
MF = ComparisonMF(2, ridge=5.0, item_bias=False)


def test_planned_errors_are_those_of_new_choices_and_of_the_formula():
    amounts = [2000, 8000, 16_000]
    found = plan(MF, DATA, 0.3, amounts, n_trials=6, random_state=0)
    real = [[error_of(MF.fit(drawn(U, V, m, "binary", seed)), U, V) for m in amounts] for seed in range(6)]
    errors = found.curve().pivot_table(index="amount", columns="method", values="error")
    assert (errors["ComparisonMF"] / np.median(real, axis=0)).between(0.8, 1.3).all()
    assert (errors["ComparisonMF"] / errors["formula"]).iloc[1:].between(0.8, 1.25).all()
    needed = found.needed().set_index("method")
    assert 2000 < needed.loc["ComparisonMF", "low"] <= needed.loc["ComparisonMF", "high"] < 16_000
    assert needed["amount"]["formula"] == pytest.approx(needed["amount"]["ComparisonMF"], rel=0.4)


def test_the_same_seed_gives_the_same_plan_whose_amounts_are_multiples_of_what_there_is():
    one, two, other = (plan(MF, DATA.take(np.arange(800)), n_trials=2, random_state=seed) for seed in (0, 0, 1))
    assert one.amounts.tolist() == [200, 400, 800, 1600, 3200, 6400] and one.present == 800
    errors = [found.errors["ComparisonMF"] for found in (one, two, other)]
    assert np.array_equal(errors[0], errors[1]) and not np.array_equal(errors[0], errors[2])


def test_with_biases_there_is_no_formula():
    found = plan(ComparisonMF(1, ridge=5.0), DATA, 0.3, [3000], n_trials=2, random_state=0)
    assert list(found.errors) == ["ComparisonMF"] and 0 < found.errors["ComparisonMF"].mean() < 1


def test_plans_need_choices_and_preferences():
    with pytest.raises(CofactorError, match="plans are for choices"):
        plan(MF, drawn(U, V, 100), 0.3)
    with pytest.raises(CofactorError, match="between 0 and 1"):
        plan(MF, DATA, 2.0)
    coins = drawn(1e-9 * U, V, 1500, "binary")
    with pytest.raises(CofactorError, match="no preferences are found"), pytest.warns(DataWarning, match="do not help"):
        plan(ComparisonMF(2, random_state=1), coins, 0.3)
