"""Odd arguments to public functions: an answer or a `CofactorError`, no stray warning, nothing changed in place."""

import os
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

import cofactor as cf
from tests.fuzz.bytes import strict_warnings
from tests.fuzz.fits import FITS
from tests.fuzz.functions import FUNCTIONS

CALLED = FUNCTIONS | FITS
FUZZ = Path(__file__).parent
LINES = {"crowd": cf.crowd, "pmf": cf.pmf, "separable": cf.separable, "comparisons": cf.comparisons}
NOT_CALLED = {  # base classes, what functions return, and what takes none but sound arguments
    *(
        "crowd.Aggregator",
        "crowd.CrowdBootstrap",
        "crowd.Difference",
        "crowd.Readings",
        "crowd.Score",
        "pmf.JointPMFEstimator",
        "pmf.PMFBootstrap",
        *("separable.AnchorFit", "separable.AnchorBootstrap"),
    ),
    *(
        "separable.Communities",
        "separable.FrankWolfeResult",
        "separable.MeritFit",
        "separable.TopicModel",
    ),
    *("comparisons.ComparisonBootstrap", "comparisons.Link", "comparisons.PreferenceModel"),
    "comparisons.Ranking",
}
NUMBER = 10 * int(os.environ.get("COFACTOR_FUZZ", 1))
bounded = settings(
    max_examples=NUMBER, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def content(argument):
    """What an argument holds, in a form that shows any change; caches do not count."""
    if sparse.issparse(argument):
        return argument.toarray().tobytes()
    if isinstance(argument, cf.CrowdLabels):
        return argument.table.codes.tobytes()
    if isinstance(argument, cf.CategoricalTable):
        return argument.codes.tobytes()
    if isinstance(argument, cf.Comparisons):
        return b"".join(array.tobytes() for array in (argument.user, argument.left, argument.right, argument.outcome))
    return pickle.dumps(argument) if isinstance(argument, np.ndarray | list | pd.DataFrame) else b""


def call(function, arguments):
    """Call a function with strict warnings; refusals are an answer too."""
    before = [content(argument) for argument in arguments]
    with warnings.catch_warnings():
        strict_warnings()
        try:
            function(*arguments)
        except cf.CofactorError as error:
            assert str(error)
    assert [content(argument) for argument in arguments] == before, "an argument was changed in place"


@pytest.mark.parametrize("name", CALLED)
def test_odd_arguments_are_answered_or_refused(name):
    function, *strategies = CALLED[name]
    bounded(given(st.tuples(*strategies))(lambda arguments: call(function, arguments)))()


@pytest.mark.parametrize("line", LINES)
def test_every_public_name_of_a_line_is_called(line):
    named = " ".join((FUZZ / file).read_text(encoding="utf8") for file in ("functions.py", "fits.py", "values.py"))
    made = [getattr(method, "func", method) for method in LINES[line].METHODS.values()]
    for name in LINES[line].__all__:
        public = getattr(LINES[line], name)
        known = public in made or f"{line}.{name}" in CALLED or re.search(rf'[."]{name}\b', named)
        assert known or not callable(public) or f"{line}.{name}" in NOT_CALLED, f"{line}.{name} is not fuzzed"
