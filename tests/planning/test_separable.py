"""The population that a plan draws from."""

import re

import numpy as np
import pytest

from cofactor.separable import SPA
from cofactor_app.planning.separable import _population, plan


def test_noise_is_what_is_left_in_the_directions_that_anchors_leave_free():
    """Mixtures of three anchors fill two of four directions; anchors fit themselves."""
    X = np.random.default_rng(0).random((4, 40))
    found, fitted = _population(X, 3), SPA(3).fit(X)
    rest = np.linalg.norm(X - X[:, fitted.anchors_] @ fitted.transform(X))
    assert found.sigma == pytest.approx(rest / np.sqrt(2 * 37))


def test_a_plan_says_how_far_the_noise_is_below_the_signal():
    """Entries of a signal of 1, noise of a tenth: 20 dB. Anchors with noise of their own leave a little less."""
    rng = np.random.default_rng(0)
    H = np.c_[np.eye(3), rng.dirichlet(np.ones(3), 197).T]
    X = np.clip(rng.random((30, 3)) @ H, 0, None)
    X += np.sqrt(np.mean(X**2)) / 10 * rng.normal(size=X.shape)
    found = plan(X, n_anchors=3, amounts=[200], vary="columns", n_trials=2, random_state=0)
    told = re.search(r": (\d+) dB below the signal", found.notes[0])
    assert 18 <= int(told.group(1)) <= 22
