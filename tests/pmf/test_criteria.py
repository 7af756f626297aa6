"""AIC and BIC of a fitted joint PMF, against hand arithmetic and against StepMix."""

import numpy as np
import pytest

from cofactor import CofactorError, simulate
from cofactor.core.tables import CategoricalTable
from cofactor.pmf.estimators import CNMFEM, RANDEM, Independence
from evaluation.peers.step_mix import latent_classes


def test_criteria_of_two_columns_by_hand():
    # column a: 3 of 4 rows are 0; column b: 1, 2, 1 of 4 are 0, 1, 2; a row without any entry does not count
    table = CategoricalTable([[0, 0], [0, 1], [0, 1], [1, 2], [-1, -1]])
    fitted = Independence(pseudo_count=0).fit(table)
    log_likelihood = 3 * np.log(3 / 4) + np.log(1 / 4) + 2 * np.log(1 / 4) + 2 * np.log(2 / 4)
    assert fitted.model_.n_parameters == 1 + 2
    assert fitted.aic(table) == pytest.approx(2 * 3 - 2 * log_likelihood, rel=1e-12)
    assert fitted.bic(table) == pytest.approx(3 * np.log(4) - 2 * log_likelihood, rel=1e-12)


def test_bic_chooses_the_rank_that_the_table_was_drawn_from():
    table = simulate.joint_table(simulate.joint_model(8, 4, 3, random_state=0), 3000, random_state=0)
    fits = {rank: RANDEM(rank, n_starts=4, pseudo_count=0, random_state=0).fit(table) for rank in (1, 2, 3, 4, 5)}
    assert min(fits, key=lambda rank: fits[rank].bic(table)) == 3
    assert fits[3].aic(table) < min(fits[1].aic(table), fits[2].aic(table))  # it likes more classes than there are
    assert [fits[rank].model_.n_parameters for rank in fits] == [24, 49, 74, 99, 124]
    with pytest.raises(CofactorError, match="the table has 2 variables, the model 8"):
        fits[2].aic(table.take_variables([0, 1]))


def test_criteria_are_those_of_stepmix():
    stepmix = pytest.importorskip("stepmix.stepmix")
    table = simulate.joint_table(simulate.joint_model(5, 3, 2, random_state=0), 400, random_state=0)
    settings = {"measurement": "categorical", "random_state": 0, "verbose": 0, "progress_bar": 0}
    theirs = stepmix.StepMix(n_components=2, **settings).fit(table.codes)
    ours = CNMFEM(2).fit(table)
    ours.model_ = latent_classes(table, 2, 0)
    assert ours.model_.n_parameters == theirs.n_parameters
    assert ours.aic(table) == pytest.approx(theirs.aic(table.codes), rel=1e-6)
    assert ours.bic(table) == pytest.approx(theirs.bic(table.codes), rel=1e-6)
