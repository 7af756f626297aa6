"""Strategies for arguments: mostly of the kind that a function expects, often at its edges, sometimes of another."""

import warnings

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import sparse

import cofactor as cf
from cofactor.core.errors import DataWarning

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-300, 2.0**53, 2.0**63]
TYPES = [np.float64, np.float32, np.int64, np.uint8, np.bool_, np.complex128, object, "U3", "M8[s]"]


def _of_type(array, kind):
    with np.errstate(all="ignore"):
        return np.nan_to_num(array).clip(0, 200).astype(kind) if kind in (np.int64, np.uint8) else array.astype(kind)


@st.composite
def laid_out(draw, values):
    """The same array in another order in memory, in steps, or read-only."""
    array = draw(values)
    if not isinstance(array, np.ndarray):
        return array
    kind = draw(st.integers(0, 4))
    if kind == 0 and array.ndim:
        array = np.repeat(array, 2, axis=0)[::2]
    elif kind == 1:
        array = np.asfortranarray(array)
    elif kind == 2:
        array = array.copy()
        array.flags.writeable = False
    elif kind == 3:
        return array.tolist()
    return array


specials = arrays(
    np.float64, array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4), elements=st.sampled_from(SPECIAL)
)
oddities = st.one_of(
    st.builds(_of_type, specials.map(np.nan_to_num), st.sampled_from(TYPES[:4])),
    st.sampled_from([None, [], [[]], [[], []], [[1, 2], [3]], "text", [["a", "b"]], [None, 1], [1j], np.array("x")]),
    st.sampled_from(
        [np.array([["a", 1]], dtype=object), np.array(["2020-01-01"], dtype="M8[s]"), b"bytes", {}, {1: 2}]
    ),
    st.sampled_from([2**70, [2**70], [[2**63, 1]], np.zeros((0, 3)), np.zeros((3, 0)), np.ones((2, 2), dtype=complex)]),
    st.sampled_from(
        [sparse.csr_array((3, 4)), sparse.coo_array(np.eye(2)), sparse.csc_matrix(np.full((2, 3), np.nan))]
    ),
)


def or_odd(values, share=4):
    """Values of a strategy, in one of `share` cases an oddity."""
    return st.integers(1, share).flatmap(lambda number: oddities if number == share else laid_out(values))


def _shaped(low, high, most=6):
    return array_shapes(min_dims=low, max_dims=high, min_side=0, max_side=most)


nonnegative = st.sampled_from([0.0, 1.0, 0.5, 2.0, 3.0, 0.1, 1e-300, 1e150])
signed = st.sampled_from([0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e150, -1e-300])
whole = st.integers(-1, 3)
vector = or_odd(st.one_of(arrays(np.float64, _shaped(1, 1), elements=signed), specials))
matrix = or_odd(st.one_of(arrays(np.float64, _shaped(2, 2), elements=signed), specials))
points = or_odd(
    st.one_of(
        *(arrays(np.float64, _shaped(2, 2), elements=nonnegative),) * 2,
        arrays(np.float64, _shaped(2, 2), elements=nonnegative).map(sparse.csr_array),
        arrays(np.float64, (5, 7), elements=st.floats(0, 1, width=32)),
        specials,
    )
)
graph = or_odd(
    arrays(np.float64, (6, 6), elements=st.sampled_from([0.0, 1.0])).map(lambda A: np.triu(A, 1) + np.triu(A, 1).T)
)
codes = or_odd(arrays(np.int64, _shaped(1, 1, 8), elements=whole), 6)
whole_matrix = or_odd(arrays(np.int64, _shaped(2, 2), elements=whole))
count = st.sampled_from([-1, 0, 1, 2, 2, 2, 3, 3, 5, 0.5, np.nan, np.int64(2), True])
number = st.sampled_from([-1.0, 0.0, 0.1, 0.3, 0.5, 0.9, 1.0, 2.0, np.nan, np.inf, 1e-300, 1e300])
seed = st.one_of(st.sampled_from([0, 1]), st.builds(np.random.default_rng, st.just(0)))


# ---- data as its own classes accept it, small and poor ----


def _made(make, *strategies):
    """Values that `make` accepts."""

    @st.composite
    def draw_one(draw):
        arguments = [draw(strategy) for strategy in strategies]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # what is dropped while data are made up is no finding
                return make(*arguments)
        except cf.CofactorError:
            return make_default[make]()

    return draw_one()


def _labels(entries, n_classes):
    task, worker, label = np.array(entries).T
    return cf.CrowdLabels.from_arrays(task, worker, label % n_classes, n_classes, conflicts="last", unlabelled="keep")


def _table(codes, sizes):
    return cf.CategoricalTable(codes, sizes)


def _comparisons(entries, outcome):
    user, left, right = np.array(entries).T
    outcomes = np.resize(np.array(outcome), len(user))
    return cf.Comparisons(user, left, right, outcomes, n_users=4, n_items=5, same_item="drop")


make_default = {
    _labels: lambda: _labels([(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)], 2),
    _table: lambda: cf.CategoricalTable([[0, 1, -1], [1, 0, 1]]),
    _comparisons: lambda: cf.Comparisons([0, 1], [0, 1], [1, 2], [1, 0]),
}
triples = st.lists(st.tuples(*(st.integers(0, 4),) * 3), min_size=1, max_size=25)
labels = _made(_labels, triples, st.sampled_from([2, 2, 3]))
tables = _made(_table, arrays(np.int64, _shaped(2, 2), elements=st.integers(-1, 2)), st.none())
compared = _made(
    _comparisons,
    st.lists(st.tuples(*(st.integers(0, 3),) * 3), min_size=1, max_size=20),
    st.lists(st.sampled_from([0, 1, 0.5, 0.25]), min_size=1, max_size=3),
)


@st.composite
def models(draw):
    """Latent-class models with zeros in them."""
    rank, sizes = draw(st.integers(1, 3)), draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    kept = [np.where(rng.random((size, rank)) < 0.3, 0, 1.0) + 1e-9 for size in sizes]
    return cf.LatentClassModel(rng.dirichlet(np.full(rank, 0.3)), [A / A.sum(axis=0) for A in kept])
