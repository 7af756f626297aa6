"""The population that a plan draws from."""

import numpy as np
import pytest

from cofactor.separable import SPA
from cofactor_app.planning.separable import _population


def test_noise_is_what_is_left_in_the_directions_that_anchors_leave_free():
    """Mixtures of three anchors fill two of four directions; anchors fit themselves."""
    X = np.random.default_rng(0).random((4, 40))
    found, fitted = _population(X, 3), SPA(3).fit(X)
    rest = np.linalg.norm(X - X[:, fitted.anchors_] @ fitted.transform(X))
    assert found.sigma == pytest.approx(rest / np.sqrt(2 * 37))
