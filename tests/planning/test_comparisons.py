"""Plans of choices agree with what choices do, and with the formula."""

import numpy as np
import pytest

from cofactor import CofactorError, DataWarning
from cofactor.comparisons import BradleyTerry, ComparisonMF
from cofactor_app.planning.comparisons import plan
from tests.comparisons.problems import drawn, error_of, truth

U, V = truth(0, 40, 30, 2)
DATA = drawn(U, V, 4000, "binary")
MF = ComparisonMF(2, ridge=5.0, item_bias=False)


def test_planned_errors_are_those_of_new_choices_and_of_the_formula():
    amounts = [2000, 8000, 16_000]
    found = plan(DATA, 0.3, amounts=amounts, methods={"ComparisonMF": MF}, n_trials=6, random_state=0)
    real = [[error_of(MF.fit(drawn(U, V, m, "binary", seed)), U, V) for m in amounts] for seed in range(6)]
    errors = found.curve().pivot_table(index="amount", columns="method", values="error")
    assert (errors["ComparisonMF"] / np.median(real, axis=0)).between(0.8, 1.3).all()
    assert (errors["ComparisonMF"] / errors["formula"]).iloc[1:].between(0.8, 1.25).all()
    needed = found.needed().set_index("method")
    assert 2000 < needed.loc["ComparisonMF", "low"] <= needed.loc["ComparisonMF", "high"] < 16_000
    assert needed["amount"]["formula"] == pytest.approx(needed["amount"]["ComparisonMF"], rel=0.4)


def test_the_same_seed_gives_the_same_plan_whose_amounts_are_multiples_of_what_there_is():
    one, two, other = (
        plan(DATA.take(np.arange(800)), methods={"ComparisonMF": MF}, n_trials=2, random_state=seed)
        for seed in (0, 0, 1)
    )
    assert one.amounts.tolist() == [200, 400, 800, 1600, 3200, 6400] and one.present == 800
    errors = [found.errors["ComparisonMF"] for found in (one, two, other)]
    assert np.array_equal(errors[0], errors[1]) and not np.array_equal(errors[0], errors[2])


def test_with_biases_there_is_no_formula():
    methods = {"ComparisonMF": ComparisonMF(1, ridge=5.0)}
    found = plan(DATA, 0.3, amounts=[3000], methods=methods, n_trials=2, random_state=0)
    assert list(found.errors) == ["ComparisonMF"] and 0 < found.errors["ComparisonMF"].mean() < 1


def test_plans_need_choices_and_preferences():
    with pytest.raises(CofactorError, match="plans are for choices"):
        plan(drawn(U, V, 100), 0.3)
    with pytest.raises(CofactorError, match="between 0 and 1"):
        plan(DATA, 2.0)
    coins = drawn(1e-9 * U, V, 1500, "binary")
    with pytest.raises(CofactorError, match="no preferences are found"), pytest.warns(DataWarning, match="do not help"):
        plan(coins, 0.3, methods={"mine": ComparisonMF(2, random_state=1)})


def test_methods_are_planned_beside_one_another():
    """One ranking for all never comes near to tastes that differ."""
    methods = {"one ranking": BradleyTerry(ridge=1.0), "tastes": MF}
    found = plan(DATA, 0.3, amounts=[2000, 16_000], methods=methods, n_trials=2, random_state=0)
    assert list(found.errors) == ["one ranking", "tastes", "formula"]
    assert found.errors["one ranking"].min() > 0.9 and found.errors["tastes"][:, 1].max() < 0.4
    alone = plan(DATA, 0.3, amounts=[2000, 16_000], methods={"tastes": MF}, n_trials=2, random_state=0)
    assert np.array_equal(alone.errors["tastes"], found.errors["tastes"])
