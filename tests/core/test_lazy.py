"""Stand-ins for slow libraries do what the libraries do, and compiled functions call one another."""

import pickle

import numba
import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.core import lazy


@lazy.njit(cache=False)
def half(x):
    return x / 2


@lazy.njit(cache=False)
def mean_of_halves(x, y):
    return (half(x) + half(y)) / 2


def test_a_kernel_is_compiled_with_those_that_it_calls():
    compiled = mean_of_halves
    assert compiled(2.0, 4.0) == 1.5 and compiled.py_func(2.0, 4.0) == 1.5 and compiled.__name__ == "mean_of_halves"
    assert isinstance(half, numba.core.dispatcher.Dispatcher) and half.signatures == [(numba.float64,)]
    assert compiled.compiled() is compiled.compiled()


def test_a_stand_in_is_the_library():
    assert lazy.pd.DataFrame is pd.DataFrame and lazy.numba.njit is numba.njit
    assert lazy.special.ndtri(0.5) == 0.0
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = lazy.pd.no_such_name


def test_a_package_imports_names_at_first_use():
    for package in (cf, cf.data):
        assert set(package.__all__) <= set(dir(package))
        assert all(getattr(package, name) is not None for name in package.__all__)
        with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'strange'"):
            _ = package.strange
    labels = cf.CrowdLabels.from_arrays(np.array([0, 0]), np.array([0, 1]), np.array([0, 1]))
    assert pickle.loads(pickle.dumps(labels)).n_labels == 2
