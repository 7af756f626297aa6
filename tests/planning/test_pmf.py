"""Plans of rows agree with what rows do, where the rank is right."""

import numpy as np
import pytest

from cofactor import CofactorError, pmf, simulate
from cofactor.pmf import mre
from cofactor_app.planning.pmf import plan
from tests.each import each

TRUTH = simulate.joint_model(4, 3, 2, random_state=0)
TABLE = simulate.joint_table(TRUTH, 500, observed=0.8, random_state=0)
EM = pmf.CNMFEM(rank=2)
AMOUNTS = [250, 1000, 4000]


def excess(model, fresh):
    return (TRUTH.log_likelihood(fresh) - model.log_likelihood(fresh)) / fresh.n_rows


@pytest.mark.parametrize("measure", ["mre", "log loss"])
def test_planned_errors_are_those_of_new_tables(measure):
    found = plan(TABLE, 0.1, amounts=AMOUNTS, methods=EM, measure=measure, n_trials=12, random_state=0)
    fresh, _ = TRUTH.sample(5000, random_state=9)
    real = np.empty((12, 3))
    for (trial, i), _ in np.ndenumerate(real):
        table = simulate.joint_table(TRUTH, AMOUNTS[i], observed=0.8, random_state=100 + trial)
        model = pmf.CNMFEM(rank=2).fit(table).model_
        real[trial, i] = mre(TRUTH, model) if measure == "mre" else excess(model, fresh)
    ratio = found.curve()["error"].to_numpy() / np.median(real, axis=0)
    assert (ratio > 0.6).all() and (ratio < 1.6).all()
    assert np.abs(np.log(ratio)).mean() < 0.35


def test_rows_tried_are_those_there_are_times_powers_of_two():
    found = plan(TABLE, 0.1, methods="Independence", n_trials=2, random_state=0)
    S = np.count_nonzero(TABLE.entries_per_row)
    assert found.present == S and found.amounts[[4, -1]].tolist() == [S, 8 * S]
    assert list(found.errors) == ["Independence"] and found.unit == "rows"


def test_the_same_seed_gives_the_same_plan():
    one, two, other = (
        plan(TABLE, 0.1, amounts=[100], methods="Independence", n_trials=3, random_state=seed).errors["Independence"]
        for seed in (0, 0, 1)
    )
    assert np.array_equal(one, two) and not np.array_equal(one, other)


def test_where_an_estimator_refuses_there_is_no_error():
    found = plan(TABLE.take_rows(TABLE.entries_per_row == 2), amounts=[1, 300], methods=EM, n_trials=3, random_state=0)
    (errors,) = found.errors.values()
    assert np.isnan(errors[:, 0]).all() and np.isfinite(errors[:, 1]).all()


@each(
    "settings, message",
    [
        ({"measure": "mse"}, "choose one of mre, log loss"),
        ({"wanted_error": 2}, "between 0 and 1"),
        ({"amounts": [0]}, "whole numbers"),
        ({"n_trials": 1}, "at least two trials"),
        ({"methods": "SPA"}, "choose one or more of CNMF-SPA"),
        ({"methods": [EM, 3]}, "choose one or more of"),
        ({"methods": []}, "choose one or more of"),
        ({"methods": [EM, "CNMF-EM"]}, "give every method once"),
    ],
)
def test_names_what_makes_no_sense(settings, message):
    with pytest.raises(CofactorError, match=message):
        plan(TABLE, **{"methods": EM, **settings})


def test_several_methods_meet_the_same_tables():
    both = plan(TABLE, amounts=[100, 400], methods=[EM, "Independence"], n_trials=3, random_state=0)
    one = plan(TABLE, amounts=[100, 400], methods=EM, n_trials=3, random_state=0)
    assert list(both.errors) == ["CNMF-EM", "Independence"]
    assert np.array_equal(both.errors["CNMF-EM"], one.errors["CNMF-EM"])
    assert both.errors["Independence"].shape == (3, 2)
