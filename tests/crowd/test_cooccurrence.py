"""Co-occurrences: the right blocks, the right graph, and a refusal where fitting well proves nothing."""

import numpy as np
import pytest
from hypothesis import given

from cofactor.core.errors import CofactorError, NotIdentifiableError
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import factors_of_model, robust_imputation
from tests.each import each
from tests.oracles.crowd import bipartite_by_trying, components_by_spreading
from tests.oracles.generators import laws, random_model, random_table, recorded, seeds, skilled_crowd

TEAMS = np.zeros((6, 6), dtype=bool)
TEAMS[:3, 3:] = TEAMS[3:, :3] = True  # everybody with everybody of the other team, nobody with a mate


def random_mask(seed, M=7, density=0.25):
    mask = np.triu(np.random.default_rng(seed).random((M, M)) < density, 1)
    return mask | mask.T


def of_mask(mask, seed=0):
    return Cooccurrences.from_model(random_model(seed, n_classes=2, sizes=(2,) * len(mask)), mask)


@laws
@given(seed=seeds)
def test_blocks_are_the_moments(seed):
    moments = pairwise_moments(random_table(seed, sizes=(3,) * 4, missing=0.6))
    cooc = Cooccurrences.from_moments(moments, min_common=1)
    assert np.array_equal(cooc.graph.toarray(), moments.n_joint.toarray())
    dense = cooc.dense().reshape(4, 3, 4, 3)
    for m, j in zip(cooc.rows, cooc.indices, strict=True):
        assert np.array_equal(dense[m, :, j], moments.joint(m, j))
    assert cooc.missing_share == pytest.approx(1 - np.count_nonzero(moments.n_joint.toarray()) / 12)
    assert np.array_equal(cooc.dense(), cooc.dense().T)


@pytest.mark.parametrize("min_common", [1, 4, 7])
def test_thin_pairs_are_missing(min_common):
    moments = pairwise_moments(random_table(0, sizes=(2,) * 6, missing=0.5))
    cooc = Cooccurrences.from_moments(moments, min_common)
    n = moments.n_joint.toarray()
    assert n[n > 0].min() < 7
    assert np.array_equal(cooc.graph.toarray(), np.where(n >= min_common, n, 0))


@pytest.mark.parametrize(("others", "kept"), [(9, True), (10, False)])
def test_thin_pairs_are_left_out_only_where_pairs_are_thick(others, kept):
    cooc = Cooccurrences.from_moments(
        sharing({(0, 1): 5, (0, 2): others, (1, 2): others, (0, 3): others, (2, 3): others})
    )
    assert (cooc.graph.toarray()[0, 1] == 5) == kept


@pytest.mark.parametrize(
    "thick",
    [
        pytest.param({(0, 2): 20, (2, 3): 20, (0, 3): 20}, id="worker 1 would be cut off"),
        pytest.param({(0, 2): 20, (1, 2): 20, (0, 3): 20}, id="the odd cycle would be cut"),
    ],
)
def test_thin_pairs_stay_where_the_pattern_needs_them(thick):
    cooc = Cooccurrences.from_moments(sharing({(0, 1): 5} | thick))
    assert cooc.graph.toarray()[0, 1] == 5


def sharing(pairs):
    """Moments of workers of whom each pair labelled so many tasks together."""
    rows = np.full((sum(pairs.values()), 4), -1)
    ends = np.cumsum(list(pairs.values()))
    for (pair, count), end in zip(pairs.items(), ends, strict=True):
        rows[end - count : end, list(pair)] = 0
    return pairwise_moments(CategoricalTable(rows, [2] * 4))


def test_exact_blocks_of_a_model():
    model = random_model(3, sizes=(3,) * 4)
    dense = Cooccurrences.from_model(model).dense().reshape(4, 3, 4, 3)
    for m in range(4):
        for j in range(4):
            expected = np.zeros((3, 3)) if m == j else model.pairwise(m, j)
            assert np.allclose(dense[m, :, j], expected, atol=1e-15)


def test_refuses_annotators_with_other_classes():
    with pytest.raises(CofactorError, match="the same classes, found alphabets of size 2, 3, 4"):
        Cooccurrences.from_moments(pairwise_moments(random_table(0)))


# ---- the graph ----


@laws
@given(seed=seeds)
def test_graph_facts_equal_the_slow_version(seed):
    mask = random_mask(seed)
    cooc, components = of_mask(mask), components_by_spreading(mask)
    found = [set(component.tolist()) for component in cooc.components]
    assert sorted(map(sorted, found)) == sorted(map(sorted, components))
    assert [len(c) for c in found] == sorted(map(len, found), reverse=True)
    assert cooc.bipartite == [bipartite_by_trying(mask, component) for component in found]
    assert cooc.isolated.tolist() == [m for m in range(7) if not mask[m].any()]


def test_a_triangle_with_a_loner_is_identifiable():
    mask = np.zeros((4, 4), dtype=bool)
    mask[:3, :3] = True
    of_mask(mask).require_identifiable()


def test_refuses_components_and_lists_them():
    mask = np.zeros((6, 6), dtype=bool)
    mask[:3, :3] = mask[3:, 3:] = True
    with pytest.raises(NotIdentifiableError, match=r"2 components, .*: \[a, b, c\]; \[d, e, f\]\..*MV-EM"):
        of_mask(mask).require_identifiable(list("abcdef"))


@each(
    "call, message",
    [
        (lambda: of_mask(np.zeros((3, 3), dtype=bool)).require_identifiable(), "no two workers"),
        (lambda: of_mask(np.ones((2, 2), dtype=bool)).require_identifiable(), "bipartite"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(call, message):
    with pytest.raises(NotIdentifiableError, match=message):
        call()


# ---- two teams: fitted to rounding, and wrong ----


def fitted(model, mask, seed=1):
    """Least squares from a random start, run until rounding; worst entry of observed and of unobserved blocks."""
    cooc = Cooccurrences.from_model(model, mask)
    start = 0.5 * np.random.default_rng(seed).random((model.n_variables, 2, 2))
    (U, _), _ = recorded(robust_imputation, cooc, start, p=2.0, max_iter=20_000, tol=0.0)
    stacked, truth = U.reshape(-1, 2), factors_of_model(model).reshape(-1, 2)
    error = np.abs(stacked @ stacked.T - truth @ truth.T).reshape(len(mask), 2, len(mask), 2).max(axis=(1, 3))
    return error[mask].max(), error[~mask].max()


def two_class_model():
    return skilled_crowd(0, n_workers=6, n_classes=2, n_tasks=1).model


def test_a_bipartite_graph_fits_perfectly_and_is_wrong_and_is_refused():
    observed, unobserved = fitted(two_class_model(), TEAMS)
    assert observed < 1e-7
    assert unobserved > 0.05
    with pytest.raises(NotIdentifiableError, match=r"bipartite.*Let two workers of one team share tasks"):
        Cooccurrences.from_model(two_class_model(), TEAMS).require_identifiable()


def test_one_more_edge_makes_it_right():
    mended = TEAMS.copy()
    mended[0, 1] = mended[1, 0] = True
    observed, unobserved = fitted(two_class_model(), mended)
    assert max(observed, unobserved) < 1e-6
    Cooccurrences.from_model(two_class_model(), mended).require_identifiable()
