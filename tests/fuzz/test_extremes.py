"""One argument of a sound call is bent: an answer or a `CofactorError`; the same answer where no number changed."""

import dataclasses
import functools
import inspect
import types
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import cofactor as cf
from cofactor.core import checks
from tests.each import each
from tests.fuzz.bytes import place
from tests.fuzz.sound import ABSENT, sound

SOUND = sound()
MODULES = [name for name in cf.__all__ if inspect.ismodule(getattr(cf, name)) and name != "plain"]  # checks nothing
ROOMS = {"": cf, **{f"{name}.": getattr(cf, name) for name in MODULES}}
RESULTS = {  # classes that functions return, base classes; and readers of files, which tests.fuzz.bytes calls
    *("CrowdLabels", "crowd.CrowdLabels", "comparisons.Comparisons", "datasets"),
    *("crowd.Aggregator", "crowd.Cooccurrences", "crowd.CrowdBootstrap", "crowd.Difference", "crowd.Score"),
    *(
        "crowd.Readings",
        "pmf.JointPMFEstimator",
        "pmf.PMFBootstrap",
    ),
    *("separable.AnchorFit", "separable.AnchorBootstrap", "separable.Communities", "separable.FrankWolfeResult"),
    *("separable.MeritFit", "separable.TopicModel"),
    *("comparisons.ComparisonBootstrap", "comparisons.Link", "comparisons.PreferenceModel"),
    *("comparisons.Ranking", "reading.read_matrix", "reading.read_truth"),
    *("simulate.Crowd", "simulate.Generator", "simulate.Mixture"),
    *("data.ComparisonsDataset", "data.CrowdDataset", "data.GraphDataset", "data.Items", "data.RatingsDataset"),
    *("data.SpectraDataset", "data.TableDataset", "data.TextsDataset", "data.TopicsDataset"),
    *("anchors", "topics"),  # verbs, whose parts are called
    *("data.datasets", "data.fetch", "data.load", "data.load_mag", "data.load_movielens", "data.movie_lists"),
}
LONG = {"plan"}
REFUSED = object()


@pytest.fixture(autouse=True)
def small_machine(monkeypatch):
    """Give every machine the same memory, little enough that what fits takes no time."""
    monkeypatch.setattr(checks, "available_bytes", lambda: 1e9)


def run(name, /, **changes):
    """The answer of a call with other arguments, or REFUSED; any error but a `CofactorError` fails."""
    function, arguments = SOUND[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(**arguments | changes)
        except cf.CofactorError as error:
            assert str(error)
            return REFUSED
        except Exception as error:
            told = {key: f"{type(value).__name__} {str(value)[:60]}" for key, value in changes.items()}
            pytest.fail(f"{name}({told}): {place(error)}")


@functools.cache
def plain_answer(name):
    found = run(name)
    assert found is not REFUSED, f"the sound call of {name} is refused"
    return found


def same(a, b):
    """Whether two answers are the same but for rounding, whatever they are made of."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.shape != b.shape or a.dtype.kind not in "fiub":
            return a.shape == b.shape and same(a.tolist(), b.tolist())
        return np.allclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True)
    if type(a) is not type(b):
        return isinstance(a, float | int) and isinstance(b, float | int) and bool(np.isclose(a, b, equal_nan=True))
    if isinstance(a, float):
        return bool(np.isclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True))
    if sparse.issparse(a):
        return same(a.toarray(), b.toarray())
    if isinstance(a, pd.DataFrame | pd.Series | pd.Index):
        return same(a.to_numpy(dtype=object).tolist(), b.to_numpy(dtype=object).tolist())
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, types.FunctionType | type | functools.partial | np.random.Generator):
        return True
    if dataclasses.is_dataclass(a) or hasattr(a, "__dict__"):
        return same(dict(vars(a)), dict(vars(b)))
    return a == b


def arrays_of(name):
    """The arguments of a call that are arrays of numbers."""
    found = {key: np.asarray(value) for key, value in SOUND[name][1].items() if isinstance(value, np.ndarray | list)}
    return {key: value for key, value in found.items() if value.dtype.kind in "iuf" and value.size}


WITH_ARRAYS = [name for name in SOUND if arrays_of(name)]


def second(array, value):
    """The array with another second entry."""
    value = np.asarray(value)
    wide = np.result_type(array, value)
    return np.where(np.arange(array.size).reshape(array.shape) == 1, value, array.astype(wide))


# ---- the list is whole ----


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_function_has_a_sound_call(room):
    made = [function.args[0] for function, _ in SOUND.values() if isinstance(function, functools.partial)]
    made = [getattr(kind, "func", kind) for kind in made]
    for name in ROOMS[room].__all__:
        public = getattr(ROOMS[room], name)
        error = isinstance(public, type) and issubclass(public, Exception | Warning)
        known = f"{room}{name}" in SOUND or f"{room}{name}" in RESULTS | ABSENT or public in made or error
        assert known or not callable(public), f"{room}{name}: write a sound call, or name it in RESULTS"


@pytest.mark.parametrize("name", SOUND)
def test_sound_calls_are_answered_the_same_twice(name):
    assert same(plain_answer(name), run(name))


# ---- seeds ----

DRAWS_NOTHING = {
    *(
        f"separable.{name}"
        for name in ("MERIT", "MERIT(0)", "SPA", "SPOC", "XRAY", "FastAnchor", "topic_model", "communities")
    ),
    *("separable.fast_anchor", "pmf.Independence", "pmf.Constant", "pmf.CNMF-SPA", "pmf.CNMF-SPA-EM", "pmf.cnmf_spa"),
    *(
        "pmf.JointPMFRecommender",
        "pmf.GlobalAverage",
        "pmf.UserAverage",
        "pmf.ItemAverage",
        "comparisons.WinRate",
    ),
    *("comparisons.NuclearNormMLE", "comparisons.BradleyTerry"),
    *(f"crowd.{name}" for name in cf.crowd.METHODS if name != "SpectralDS-EM"),
}


def takes_seed(name):
    function = SOUND[name][0]
    return "random_state" in inspect.signature(function).parameters or "random_state" in SOUND[name][1]


@each(
    "name, seed",
    product([name for name in SOUND if takes_seed(name) and name not in DRAWS_NOTHING], [-1, "a", 1.5, np.nan]),
)
def test_bad_seeds_are_refused(name, seed):
    assert run(name, random_state=seed) is REFUSED


# ---- arrays of another make ----


def other_makes(array):
    """The same numbers: read-only, in steps, by columns, of the other byte order, in pandas, with an empty mask."""
    fixed = array.copy()
    fixed.flags.writeable = False
    yield fixed
    yield np.repeat(array, 2, axis=-1)[..., ::2]
    yield np.asfortranarray(array)
    yield array.astype(array.dtype.newbyteorder())
    yield np.ma.array(array, mask=np.zeros(array.shape, dtype=bool))
    yield array.tolist()
    if array.ndim == 1:
        yield pd.Series(array).convert_dtypes()
        yield pd.array(array)


@pytest.mark.parametrize("name", [name for name in WITH_ARRAYS if name not in LONG])
def test_arrays_of_any_make_give_the_same_answer(name):
    for key, array in arrays_of(name).items():
        for other in other_makes(array):
            found = run(name, **{key: other})
            assert found is not REFUSED and same(found, plain_answer(name)), f"{key} as {type(other)}"


@pytest.mark.parametrize("name", [name for name in WITH_ARRAYS if name not in LONG])
def test_what_is_masked_is_missing_or_refused(name):
    for key, array in arrays_of(name).items():
        masked = np.ma.array(array, mask=second(np.zeros(array.shape, dtype=int), 1))
        missing = [second(array, np.nan), second(array, -1)]
        found = run(name, **{key: masked})
        assert found is REFUSED or any(same(found, run(name, **{key: other})) for other in missing), key


def nullable(array, missing=False):
    """The same numbers as pandas keeps them, the second perhaps missing: objects, its own types, those of Arrow."""
    objects = array.astype(object)
    if missing:
        objects[np.arange(array.size).reshape(array.shape) == 1] = pd.NA
    yield objects
    yield objects.tolist()
    make = {1: pd.Series, 2: pd.DataFrame}.get(array.ndim)
    for kind in NULLABLE[array.dtype.kind] if make else ():
        yield make(objects).astype(kind)


NULLABLE = {"f": ["Float64", "double[pyarrow]"], "i": ["Int64", "int64[pyarrow]"], "u": ["UInt64", "uint64[pyarrow]"]}
OTHERWISE = {  # columns of tables have names, which the answer keeps; scikit-learn takes no objects as classes
    ("comparisons.rank", "covariates", pd.DataFrame),
    ("pmf.JointPMFClassifier", "y", np.ndarray),
}


@pytest.mark.parametrize("name", [name for name in WITH_ARRAYS if name not in LONG])
def test_what_pandas_keeps_gives_the_same_answer(name):
    for key, array in arrays_of(name).items():
        for other in nullable(array):
            if (name, key, type(other)) not in OTHERWISE:
                found = run(name, **{key: other})
                assert found is not REFUSED and same(found, plain_answer(name)), f"{key} as {type(other)}"


@pytest.mark.parametrize("name", [name for name in WITH_ARRAYS if name not in LONG])
def test_what_pandas_calls_missing_is_missing_or_refused(name):
    for key, array in arrays_of(name).items():
        if array.size > 1:
            missing = [run(name, **{key: second(array, value)}) for value in (np.nan, -1)]
            for other in nullable(array, missing=True):
                found = run(name, **{key: other})
                assert found is REFUSED or any(same(found, one) for one in missing), f"{key} as {type(other)}"


# ---- numbers at the ends of their range ----

POWERS = [-1022, -1000, -520, -499, 499, 520, 1000, 1021]
ANCHORS = {  # FastGradient adds 0.001 to squares of X, as released
    **{f"separable.{name}": "anchors_" for name in ("SPA", "MERIT", "MERIT(0)", "XRAY", "FastAnchor")},
    **{f"separable.{name}": "anchors" for name in ("merit", "xray", "fast_anchor")},
}
SCALE_FREE = {"separable.spa": "X", "separable.suggest_n_anchors": "X", "separable.mrsa": "found"}
ENDS = [5e-324, -5e-324, 1e-310, 1e-200, 1e155, -1e155, 1e300, 1.7e308, -1.7e308, 2.0**53, 2.0**63, np.inf, np.nan]
WHOLE = [-7, 2**31 - 1, 2**31, 2**53, 2**62, np.uint64(2**63)]


@each("name, power", product([*ANCHORS, *SCALE_FREE], POWERS))
def test_anchors_do_not_depend_on_the_scale(name, power):
    key = SCALE_FREE.get(name, "X")
    scaled = np.ldexp(arrays_of(name)[key], power)
    found, expected, part = run(name, **{key: scaled}), plain_answer(name), ANCHORS.get(name)
    if name in ANCHORS and found is REFUSED:
        assert abs(power) > 499, "squares of such numbers are numbers"
        return
    assert found is not REFUSED
    assert np.array_equal(getattr(found, part), getattr(expected, part)) if part else same(found, expected)


@pytest.mark.parametrize("name", [name for name in WITH_ARRAYS if name not in LONG])
def test_extreme_numbers_are_answered_or_refused(name):
    for key, array in arrays_of(name).items():
        for value in ENDS if array.dtype.kind == "f" else WHOLE:
            run(name, **{key: second(array, value)})
        for power in POWERS if array.dtype.kind == "f" else ():
            run(name, **{key: np.ldexp(array, power)})
        for other in (array[:0], array[None, None], np.array(1), array.astype(complex), [[1, 2], [3]], array * 0):
            run(name, **{key: other})


@pytest.mark.parametrize("name", [name for name in SOUND if name not in LONG])
def test_settings_out_of_range_are_answered_or_refused(name):
    for key, value in SOUND[name][1].items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        others = [2**31, 2**40, 2**70, 0, 1.5, True, *([-1] if key != "n_jobs" else [])] if whole else []
        others += [*ENDS, -1.0, 0.0, 2**70] if isinstance(value, float) else []
        for other in [*others, None, "x", object()]:
            run(name, **{key: other})


# ---- what was once answered wrongly, or not at all ----


def test_one_huge_entry_is_the_only_anchor():
    X = second(np.random.default_rng(0).dirichlet(np.ones(5), 9).T, 1e155)
    assert cf.separable.spa(X, 3).tolist() == cf.separable.spa(sparse.csc_array(X), 3).tolist() == [1]


@pytest.mark.parametrize("sizes", [[2**31, 2], [2**62, 2**62], [2**40, 2]])
def test_sizes_that_no_memory_holds_are_refused_with_their_bytes(sizes):
    with pytest.raises(cf.CofactorError, match=r"would take .* GB \(\d+ bytes\)"):
        cf.CategoricalTable([[0, 1], [1, 0]], sizes)


def test_more_classes_than_rows_tell_apart_are_refused():
    with pytest.raises(cf.CofactorError, match="rank=1000000: 60 rows cannot tell"):
        cf.pmf.RANDEM(10**6, random_state=0).fit(SOUND["pmf.RAND-EM"][1]["table"])


def test_masked_codes_are_missing():
    codes = np.ma.array([[0, 1], [1, 0]], mask=[[True, False], [False, False]], dtype=np.uint8)
    assert cf.CategoricalTable(codes).codes.tolist() == [[-1, 1], [1, 0]]
    assert cf.crowd.error_rate([0, 1], np.ma.array([1, 1], mask=[True, False])) == 0
    with pytest.raises(cf.CofactorError, match=r"label must be whole .* not so in row 0: nan"):
        cf.CrowdLabels.from_arrays([0, 0], [0, 1], np.ma.array([0, 1], mask=[True, False]))


def test_gains_beyond_the_range_of_numbers_are_refused():
    with pytest.raises(cf.CofactorError, match="ratings above 1000 in rows 1"):
        cf.comparisons.ndcg([0, 0], [1, 2000], [1, 2])


def test_unknown_classes_are_no_clusters():
    with pytest.raises(cf.CofactorError, match="NaN in rows 1"):
        cf.separable.clustering_accuracy([0, np.nan], [0, 1])
