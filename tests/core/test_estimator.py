"""The base class keeps scikit-learn's protocol, which its own `clone` is the judge of."""

import numpy as np
import pytest
from sklearn import base

from cofactor import CofactorError, crowd
from cofactor.core.estimator import clone


def test_both_clones_give_the_same_and_leave_the_fit_behind():
    rng = np.random.default_rng(0)
    method = crowd.WorkerTypes(diagonal=3.0, random_state=rng)
    method.model_ = "found by a fit"
    for copied in (clone(method), base.clone(method)):
        assert type(copied) is crowd.WorkerTypes and copied.diagonal == 3.0 and not hasattr(copied, "model_")
        assert copied.random_state is not rng and copied.random_state.random() == np.random.default_rng(0).random()


def test_parameters_are_told_changed_and_shown():
    method = crowd.MVEM(random_state=1)
    assert list(method.get_params()) == sorted(method.get_params()) and method.get_params()["random_state"] == 1
    assert method.set_params(max_iter=7) is method and method.max_iter == 7
    assert repr(method) == "MVEM(max_iter=7, random_state=1)" and repr(crowd.MVEM()) == "MVEM()"
    with pytest.raises(CofactorError, match=r"^MVEM has no parameter rounds, taste; it has .*max_iter.*random_state"):
        method.set_params(max_iter=9, rounds=3, taste="x")
    assert method.max_iter == 7
