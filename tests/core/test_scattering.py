"""The certificate of uniqueness: against brute force, on factors with a known answer, and what it promises."""

import re

import numpy as np
import pytest
from hypothesis import given

from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.latent_class import match_columns
from cofactor.core.scattering import _has_clique, scattering_certificate, slice_vertices
from cofactor.crowd.symnmf import symnmf
from tests.each import each
from tests.oracles.generators import laws, recorded, seeds
from tests.oracles.scattering import corners_one_by_one, distances_by_loops, longest_by_climbing

HEXAGON = np.array([[2, 1, 0], [1, 2, 0], [0, 2, 1], [0, 1, 2], [1, 0, 2], [2, 0, 1]])


def random_factor(seed, K=None):
    """Rows of any scale with zeros here and there: some factors are sufficiently scattered, some are not."""
    rng = np.random.default_rng(seed)
    K = K or 3 + seed % 3
    H = rng.dirichlet(np.full(K, rng.uniform(0.2, 0.6)), rng.integers(K + 1, 4 * K if K < 5 else 3 * K))
    H[rng.uniform(0, 0.3) > H] = 0
    return H * rng.uniform(0.1, 5, (len(H), 1))


def blurred(K, share):
    """The identity, shrunken towards its middle."""
    return (1 - share) * np.eye(K) + share / K


def same_points(one, other):
    apart = np.linalg.norm(one[:, None] - other, axis=2) / np.linalg.norm(one, axis=1)[:, None]
    return apart.min(axis=1).max() < 1e-6 and apart.min(axis=0).max() < 1e-6


# ---- against brute force ----


@pytest.mark.slow
@each("first", range(0, 200, 40))
def test_agrees_with_brute_force(first):
    for seed in range(first, first + 40):
        H = random_factor(seed)
        certificate = scattering_certificate(H)
        climbed = longest_by_climbing(H, np.random.default_rng(seed), n_starts=3)
        if np.isinf(certificate.radius):
            assert certificate.condition1 == "fails"
            x = certificate.worst
            assert np.isclose(x @ x, 1) and np.all(H @ x >= -1e-8) and x.sum() <= 1e-8
        else:
            corners = corners_one_by_one(H)
            assert same_points(slice_vertices(H), corners)
            assert np.isclose(certificate.radius, np.linalg.norm(corners, axis=1).max(), rtol=1e-7)
            assert climbed <= certificate.radius + 1e-6
        assert certificate.exact and (certificate.condition1 == "holds") == (certificate.radius <= 1 + 1e-6)
        assert np.allclose(certificate.distances, distances_by_loops(H))


def test_of_two_classes_the_slice_ends_at_its_walls():
    for seed in range(20):
        H = np.vstack([random_factor(seed, K=2), [[1.0, 0.9], [0.8, 1.0]]])  # on both sides of the middle
        assert same_points(slice_vertices(H), corners_one_by_one(H))


def test_brute_force_met_both_answers():
    verdicts = [scattering_certificate(random_factor(seed)) for seed in range(200)]
    assert 30 < sum(certificate.condition1 == "holds" for certificate in verdicts) < 100
    assert sum(certificate.holds and certificate.distances.max() > 0.01 for certificate in verdicts) > 5
    assert sum(np.isfinite(c.radius) and c.condition1 == "fails" for c in verdicts) > 20


@pytest.mark.slow
def test_climbing_never_claims_more_than_all_corners_tell_and_mostly_reaches_the_longest():
    reached = 0
    for seed in range(40):
        H = random_factor(seed)
        exact, searched = scattering_certificate(H), scattering_certificate(H, max_classes=2, n_searches=20)
        possible = {"fails", "cannot tell"} if exact.condition1 == "fails" else {"cannot tell", "holds"}
        assert searched.condition1 in possible, seed
        assert searched.radius <= exact.radius + 1e-6, seed
        reached += searched.radius >= 0.999 * exact.radius or not np.isfinite(exact.radius)
    assert reached >= 38  # climbs are random: of 1,500 such factors six were missed


@given(seed=seeds)
@laws
def test_the_worst_vertex_is_what_it_says(seed):
    certificate = scattering_certificate(H := random_factor(seed))
    x = certificate.worst
    assert np.all(H @ x >= -1e-7 * np.abs(x).max())
    if np.isfinite(certificate.radius):
        assert np.isclose(x.sum(), 1) and np.linalg.norm(x) <= certificate.radius + 1e-6
        assert certificate.margin >= 1 - np.linalg.norm(x) - 1e-9


# ---- laws ----


@given(seed=seeds)
@laws
def test_neither_order_nor_scale_nor_repetition_matters(seed):
    rng = np.random.default_rng(seed)
    H = random_factor(seed)
    I, K = H.shape
    other = np.vstack([H[rng.permutation(I)], H[:2], np.zeros((2, K))]) * rng.uniform(0.2, 9, (I + 4, 1))
    one, two = scattering_certificate(H), scattering_certificate(other[:, rng.permutation(K)])
    assert (one.condition1, one.condition2, one.n_rows) == (two.condition1, two.condition2, two.n_rows)
    assert np.isclose(one.radius, two.radius) and np.isclose(one.margin, two.margin, atol=1e-7)


@given(seed=seeds)
@laws
def test_more_rows_never_hurt(seed):
    H = random_factor(seed)
    more = np.vstack([H, random_factor(seed + 3, H.shape[1])])
    assert scattering_certificate(more).radius <= scattering_certificate(H).radius + 1e-9


@each("K", [2, 3, 5, 8, 12])
def test_separable_is_sufficiently_scattered(K):
    rng = np.random.default_rng(K)
    H = np.vstack([np.eye(K) * rng.uniform(0.1, 3, K), rng.dirichlet(np.ones(K), 3 * K)])
    certificate = scattering_certificate(H)
    assert certificate.holds and certificate.radius == 1 and certificate.exact
    assert np.isclose(certificate.margin, 1 - 1 / np.sqrt(K - 1))
    assert "separable" in str(certificate)


def fits_after_a_rotation(H, seed):
    """Factor H H' from an unknown rotation of H; return the factor, or None where the fit is not perfect."""
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((H.shape[1],) * 2))[0]
    (found, _, result), _ = recorded(symnmf, H @ Q, max_iter=3000)
    return found if result.objective[-1] < 1e-16 else None


def error_of(found, H):
    return np.abs(found[:, match_columns(H, found)] - H).max()


@pytest.mark.slow
def test_a_perfect_fit_with_a_certificate_is_the_truth():
    """The meaning of it all; without a certificate, many perfect fits are wrong."""
    errors = {True: [], False: []}
    for seed in range(60):
        H = random_factor(seed)
        if np.linalg.matrix_rank(H) < H.shape[1]:
            continue
        found = fits_after_a_rotation(H, seed)
        if found is not None:
            errors[scattering_certificate(H).holds].append(error_of(found, H))
    assert len(errors[True]) > 10 and max(errors[True]) < 1e-5
    assert sum(error > 1e-2 for error in errors[False]) > 10


# ---- factors whose answer is known ----


@each("K", [3, 4, 6, 8])
@each("share", [1e-4, 0.1, 0.8])
def test_a_noisy_identity_fails_by_a_known_length(K, share):
    """Shrinking the simplex by s = 1 - share moves its walls to s / sqrt(K(K-1)) from the middle: the dual grows."""
    certificate = scattering_certificate(blurred(K, share))
    wall = (1 - share) / np.sqrt(K * (K - 1))
    assert certificate.condition1 == "fails" and certificate.condition2 == "cannot tell"
    assert np.isclose(certificate.radius, np.sqrt(1 / K + 1 / (K * wall) ** 2), rtol=1e-9)
    assert np.isclose(certificate.margin, 1 - certificate.radius)


def test_the_hexagon_touches_the_disc_and_has_a_second_factor():
    certificate = scattering_certificate(HEXAGON)
    assert (certificate.condition1, certificate.condition2) == ("holds", "fails")
    assert not certificate.holds and abs(certificate.margin) < 1e-9 and np.isclose(certificate.radius, 1)
    Q = np.full((3, 3), 2 / 3) - np.eye(3)
    assert np.all(HEXAGON @ Q >= -1e-12) and np.allclose(np.sort(np.abs(certificate.worst)), [1 / 3, 2 / 3, 2 / 3])


@each("shift, second", [(0, "fails"), (1e-4, "cannot tell"), (0.05, "holds")])
def test_right_angles_are_told_from_nearly_right_ones(shift, second):
    """T with six corners of norm one, every other a unit vector; one of the three others moved along the circle."""
    angle = np.radians([0, 60, 120, 180, 240, 300]) + np.array([0, shift, 0, 0, 0, 0])
    start = np.array([2, -1, -1]) / np.sqrt(6)
    side = np.cross(np.full(3, np.sqrt(1 / 3)), start)
    corners = 1 / 3 + np.sqrt(2 / 3) * (np.outer(np.cos(angle), start) + np.outer(np.sin(angle), side))
    H = np.abs(np.cross(corners, np.roll(corners, -1, axis=0)))
    certificate = scattering_certificate(np.where(H < 1e-12, 0, H))
    assert (certificate.condition1, certificate.condition2) == ("holds", second)


def test_a_wider_hexagon_is_sufficiently_scattered_without_being_separable():
    certificate = scattering_certificate(np.where(HEXAGON == 2, 3, HEXAGON))
    assert certificate.holds and certificate.margin > 0.05 and certificate.distances.min() > 0.3
    assert scattering_certificate(np.where(HEXAGON == 2, 1.9, HEXAGON)).condition1 == "fails"


def test_two_classes_need_a_separable_factor():
    assert scattering_certificate([[0, 2], [1, 0], [1, 1]]).holds
    assert scattering_certificate([[0, 2], [1, 0.1], [1, 1]]).condition1 == "fails"
    assert np.isinf(scattering_certificate([[0, 2], [1, 2]]).radius)


@each("H", [np.ones((5, 3)), np.eye(4)[:3], [[1, 2, 0], [2, 4, 0], [0, 0, 1]], [[1, 2, 3]]])
def test_rank_deficient_factors_fail(H):
    certificate = scattering_certificate(H)
    x = certificate.worst
    assert certificate.condition1 == "fails" and np.isinf(certificate.radius) and certificate.exact
    with pytest.raises(CofactorError, match="unbounded"):
        slice_vertices(H)
    assert np.allclose(H @ x, 0) and x.sum() <= 1e-12 and "unbounded" in str(certificate)


@each("height", [1e-3, 1e-7, 1e-9, 1e-11, 1e-13, 1e-15])
def test_nearly_flat_factors_fail(height):
    flat = np.array(
        [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1], [1, 2, 3, 3 + height], [2, 1, 1 + height, 1]]
    )
    assert scattering_certificate(flat).condition1 == "fails"


def test_small_entries_count_as_zero_when_asked_and_the_report_says_so():
    noisy = np.eye(4) + 0.01
    certificate = scattering_certificate(noisy, threshold=0.05)
    assert scattering_certificate(noisy).condition1 == "fails" and certificate.holds
    assert "0.05 of their row's sum" in str(certificate) and certificate.threshold == 0.05


# ---- many columns ----


def test_above_the_limit_there_is_evidence_against_only():
    rng = np.random.default_rng(1)
    scattered = np.vstack([np.eye(10)[i] + np.eye(10)[j] / 9 for i in range(10) for j in range(10) if i != j])
    certificate = scattering_certificate(scattered, n_searches=10)
    assert (certificate.condition1, certificate.exact) == ("cannot tell", False) and np.isnan(certificate.margin)
    blunt = scattering_certificate(rng.dirichlet(np.ones(10), 60), n_searches=10)
    assert blunt.condition1 == "fails" and blunt.radius > 1.1 and "at least" in str(blunt)
    H = np.random.default_rng(1).dirichlet(np.ones(10), 60)
    climbs = [scattering_certificate(H, n_searches=1, random_state=seed).radius for seed in range(4)]
    assert max(climbs) > 1.4  # 1.21 without going on from the first vertex


@pytest.mark.slow
def test_cliques_are_found_and_the_search_gives_up_in_the_end():
    ring = np.roll(np.eye(5, dtype=bool), 1, axis=0) | np.roll(np.eye(5, dtype=bool), -1, axis=0)
    assert _has_clique(ring, 2, 5) is True and _has_clique(ring, 3, 5) is False
    ring[0, 2] = ring[2, 0] = True
    assert _has_clique(ring, 3, 5) is True and _has_clique(ring, 3, 0) is False
    groups = np.kron(1 - np.eye(9), np.ones((4, 4))) > 0  # nine in a clique, never ten
    with pytest.warns(DataWarning, match="orthogonal sets"):
        assert _has_clique(groups, 10, len(groups)) is None


# ---- the report, and bad input ----


def test_the_report_names_the_farthest_class_and_shows_as_a_table():
    certificate = scattering_certificate([[1, 0, 0], [0, 1, 0], [1, 1, 1]])
    assert "unit vector 2" in certificate.diagnosis["1: hull of rows covers C"].advice
    assert "<table>" in certificate._repr_html_() and str(certificate) == repr(certificate)
    assert certificate.diagnosis.status == "fail" and "other nonnegative factors" in certificate.diagnosis.verdict


@each(
    "H, said",
    [
        (np.ones(3), "got shape (3,)"),
        (np.ones((3, 1)), "at least two"),
        ([[1, np.nan], [1, 1]], "rows 0 are not"),
        ([[1, 1], [1, -1]], "rows 1 are not"),
        (np.zeros((2, 3)), "no nonzero row"),
    ],
)
def test_what_is_no_factor_is_refused(H, said):
    with pytest.raises(CofactorError, match=re.escape(said)):
        scattering_certificate(H)


@each("threshold", [-0.1, 1.0, 0.9])
def test_impossible_thresholds_are_refused(threshold):
    with pytest.raises(CofactorError, match="threshold"):
        scattering_certificate(np.ones((3, 3)), threshold=threshold)
