"""Intervals of a joint PMF: of its parameters and of its entries."""

import numpy as np
import pytest

from cofactor import CategoricalTable, CofactorError, pmf, simulate
from tests.each import each


def problem(seed):
    rng = np.random.default_rng(seed)
    truth = simulate.joint_model(5, 4, 3, random_state=rng)
    return truth, simulate.joint_table(truth, 3000, random_state=rng)


@pytest.fixture(scope="module")
def found():
    return pmf.bootstrap(pmf.CNMFEM(rank=3), problem(0)[1], n_draws=20, random_state=0)


@pytest.mark.slow
def test_intervals_of_ninety_per_cent_hold_nine_truths_in_ten():
    cells, entries = [], []
    every = CategoricalTable(np.argwhere(np.ones((4,) * 5)), sizes=[4] * 5)
    for seed in range(8):
        truth, table = problem(seed)
        boot = pmf.bootstrap(pmf.CNMFEM(rank=3), table, n_draws=60, random_state=seed)
        aligned = truth.align_to(boot.model)
        for rows, p, held in (
            (boot.intervals(0.9), np.concatenate([aligned.prior, aligned.stacked.ravel()]), cells),
            (boot.entries(every, 0.9), truth.joint_tensor().ravel(), entries),
        ):
            held.append(((rows["low"] <= p) & (p <= rows["high"])).to_numpy())
    assert 0.85 <= np.concatenate(cells).mean() <= 0.95
    assert 0.85 <= np.concatenate(entries).mean() <= 0.95


@pytest.mark.slow
def test_entries_are_those_of_the_joint_pmf_and_its_marginals(found):
    table = CategoricalTable([[0, 1, 2, 3, 0], [-1, 2, -1, -1, -1], [-1] * 5], sizes=[4] * 5)
    rows = found.entries(table)
    expected = [found.model.joint_tensor()[0, 1, 2, 3, 0], found.model.marginal(1)[2], 1.0]
    assert rows["estimate"].tolist() == pytest.approx(expected)
    assert rows.loc[2, ["low", "high"]].tolist() == pytest.approx([1, 1])
    assert (rows["high"] > rows["low"])[:2].all()


def test_the_table_names_variable_value_and_class(found):
    table = found.intervals()
    row = table.query("variable == 3 and value == 1").iloc[2]
    assert row["class"] == 2 and row["estimate"] == found.model.conditionals[3][1, 2]
    prior = table[table["quantity"] == "prior"]
    assert prior["estimate"].tolist() == found.model.prior.tolist() and prior["variable"].isna().all()


@pytest.mark.slow
@each("estimator", [pmf.CNMFOPT(rank=2), pmf.RANDEM(rank=2, random_state=0), pmf.Independence()])
def test_any_estimator_can_be_fitted_again(estimator):
    truth = simulate.joint_model(4, 3, 2, random_state=1)
    table = simulate.joint_table(truth, 2000, random_state=1)
    boot = pmf.bootstrap(estimator, table, n_draws=4, random_state=0)
    again = pmf.bootstrap(estimator, table, n_draws=4, random_state=0)
    for draw, same in zip(boot.draws, again.draws, strict=True):
        assert np.array_equal(draw.stacked, same.stacked)
        assert 0 < np.abs(draw.stacked - boot.model.stacked).mean() < 0.1


def test_another_table_is_refused():
    estimator = pmf.Independence().fit(CategoricalTable([[0, 1], [1, 0]]))
    with pytest.raises(CofactorError, match="fitted on 2 variables"):
        pmf.bootstrap(estimator, CategoricalTable([[0, 1, 0], [1, 0, 1]]))
