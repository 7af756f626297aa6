"""The projection onto the simplex as the quadratic programme that defines it."""

import numpy as np
from scipy.optimize import minimize


def project_by_quadratic_programme(v):
    on_plane = {"type": "eq", "fun": lambda x: x.sum() - 1}
    start = np.full(len(v), 1 / len(v))
    found = minimize(
        lambda x: np.sum((x - v) ** 2), start, bounds=[(0, None)] * len(v), constraints=[on_plane], tol=1e-14
    )
    return found.x
