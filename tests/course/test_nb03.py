"""What notebook 03 measures: garbage among the blocks, errors of missing pairs, power laws, sweeps."""

import numpy as np
import pytest

from cofactor.core.errors import CofactorError
from cofactor.crowd import Cooccurrences, robust_imputation
from cofactor.plain.imputation import designated_imputation
from course.nb03 import crowds, exercises, panels, pictures, promises


def changed(before, after):
    K = before.n_classes
    e = np.flatnonzero(np.abs(before.blocks - after.blocks).max(axis=(1, 2)) > 1e-12)
    return set(zip(before.rows[e].tolist(), before.indices[e].tolist(), strict=True)), K


def test_garbage_replaces_a_share_of_the_pairs_and_more_of_it_the_same_and_more():
    cooc = pictures.holes(200, 8, 3, 0.0).cooc
    few, many = (changed(cooc, pictures.garble(cooc, share, seed=5))[0] for share in (0.25, 0.5))
    assert (len(few), len(many)) == (14, 28) and few < many  # of 28 pairs, both directions counted
    assert all((j, m) in many for m, j in many)
    X = pictures.garble(cooc, 0.5, seed=5).dense()
    assert np.array_equal(X, X.T) and np.allclose(X.reshape(8, 3, 8, 3).sum(axis=(1, 3)) + np.eye(8), 1)


def test_the_error_is_that_of_the_missing_pairs_alone():
    problem = pictures.holes(300, 6, 3, 0.3, seed=2)
    X = problem.truth.copy()
    seen = np.kron(~problem.missing | np.eye(6, dtype=bool), np.ones((3, 3))) > 0
    X[seen] = 7.0
    assert problem.error(X) == 0
    X[~seen] *= 1.25
    assert np.isclose(problem.error(X), 0.25)
    with pytest.raises(CofactorError, match="hide a larger fraction"):
        pictures.holes(300, 6, 3, 0.0).error(X)
    with pytest.raises(CofactorError, match="none, designated, robust, least squares"):
        problem.fill("magic")


def test_a_power_law_is_found_again():
    sizes = np.array([100, 1000, 10_000])
    law = pictures.SampleErrors(sizes, {"robust": np.array([[3.0], [2.0], [4.0]]) * sizes**-0.5}, "")
    assert np.allclose(law.exponent("robust"), (0.5, 0))


@pytest.mark.slow
def test_without_garbage_the_error_falls_with_the_root_of_the_items():
    errors = pictures.sample_errors()
    for method in errors.by_method:
        exponent, spread = errors.exponent(method)
        assert abs(exponent - 0.5) < 0.03 and spread < 0.02


@pytest.mark.slow
def test_garbage_stops_all_but_the_robust_criterion():
    errors = pictures.sample_errors(outlying=0.1, methods=("designated", "robust", "least squares"))
    exponents = {method: errors.exponent(method)[0] for method in errors.by_method}
    assert exponents["robust"] > 0.45 and max(exponents["designated"], exponents["least squares"]) < 0.15


def test_the_panel_says_falls_only_of_an_error_that_falls():
    sizes, down = np.array([100, 300, 1000]), np.array([[0.2, 0.1, 0.05]])
    told = panels.describe_sample_errors(
        pictures.SampleErrors(sizes, {"robust": down, "designated": down[:, ::-1]}, "")
    )
    assert "robust imputation falls (20.0\xa0%, then 5.0\xa0%)" in told
    assert "designated imputation hardly moves (5.0\xa0%, then 20.0\xa0%)" in told


def test_a_sweep_is_the_least_squares_fit_of_each_annotator_in_turn():
    given = exercises.puzzle(5, 2, 0.3, seed=9)
    R, seen, U = given.values()
    expected = U.copy()
    for m in range(5):
        js = np.flatnonzero(seen[m])
        root = [(np.sum((R[m, j] - expected[m] @ expected[j].T) ** 2) + exercises.XI) ** -0.25 for j in js]
        stacked = np.vstack([r * expected[j] for r, j in zip(root, js, strict=True)])
        wanted = np.vstack([r * R[m, j].T for r, j in zip(root, js, strict=True)])
        expected[m] = np.linalg.lstsq(stacked, wanted, rcond=None)[0].T
    assert np.allclose(exercises.sweep(R, seen, U), expected)
    assert np.array_equal(R, R.transpose(1, 0, 3, 2)) and not R[~seen].any() and np.array_equal(seen, seen.T)


def test_repeated_sweeps_lower_the_criterion_and_end_where_the_library_does():
    given = exercises.puzzle(6, 3, 0.3, seed=1)
    R, seen, U = given.values()
    start, values = U, [exercises.criterion(**given)]
    for _ in range(300):
        U = exercises.sweep(R, seen, U)
        values.append(exercises.criterion(R, seen, U))
    assert np.all(np.diff(values) <= 1e-12) and values[-1] < values[0] / 2
    rows, columns = np.nonzero(seen)
    cooc = Cooccurrences(np.searchsorted(rows, np.arange(7)), columns.copy(), R[seen], np.ones(len(rows)))
    _, result = robust_imputation(cooc, start, max_iter=5000, tol=1e-12)
    assert np.isclose(result.objective[-1], values[-1], rtol=1e-6)


def test_links_weighted_are_designated_imputation_as_on_the_page_of_the_plain_library():
    exercise = exercises.EXERCISES["links"]
    for case in [exercise.given(), *exercise.cases()]:
        R, seen, m, n = case.values()
        estimates, weights = exercise.right()(R, seen, m, n)
        total = np.maximum(np.einsum("lr,lrab->ab", weights, estimates), 0)
        blocks = {(int(a), int(b)): (R[a, b], 1.0) for a, b in np.argwhere(seen)}
        assert np.allclose(total / max(total.sum(), 1e-99), designated_imputation(blocks, m, n, len(seen)), atol=1e-12)


def test_links_are_tried_with_a_block_that_has_no_inverse_and_without_any_link():
    _, dull, alone = exercises.EXERCISES["links"].cases()
    R, seen, m, n = dull.values()
    linked = seen & np.outer(seen[n], seen[m])
    assert np.linalg.svd(R[linked], compute_uv=False)[:, -1].min() < 1e-10
    assert not alone["seen"][alone["m"]].any()


# ---- crowds for which more labels do not help ----


def exactly_filled(seen, garbage, seed):
    """Whether exact sound blocks lead designated and robust imputation to the truth in all holes."""
    rng = np.random.default_rng(seed)
    A = 0.6 * np.eye(3) + 0.4 * rng.dirichlet(np.ones(3), (6, 3)).transpose(0, 2, 1)
    truth = np.einsum("mac,jbc->mjab", A, A) / 3
    R, rows = truth.copy(), np.nonzero(seen)
    for m, j in np.argwhere(np.triu(garbage)):
        R[m, j] = rng.dirichlet(np.ones(9)).reshape(3, 3)
        R[j, m] = R[m, j].T
    cooc = Cooccurrences(np.searchsorted(rows[0], np.arange(7)), rows[1].copy(), R[rows], np.ones(len(rows[0])))
    blocks = {(int(m), int(j)): (R[m, j], 1.0) for m, j in np.argwhere(seen)}
    start = 0.7 * A + 0.1 * rng.random(A.shape)  # near the truth, and not at it
    U = robust_imputation(cooc, start / np.sqrt(3), max_iter=20_000)[0]
    holes = [(m, n) for m, n in np.argwhere(~seen) if m != n]
    off = [abs(designated_imputation(blocks, m, n, 6) - truth[m, n]).max() for m, n in holes]
    fitted = [abs(U[m] @ U[n].T - truth[m, n]).max() for m, n in holes]
    return max(off) < 1e-9, max(fitted) < 1e-3


def test_exact_blocks_lead_as_many_methods_to_the_truth_as_the_exercise_says():
    for seed in range(4):
        made = crowds.made_crowds(seed)
        (part,) = promises.EXERCISES["more_labels"].solve(**made)
        assert sorted(part.answer) == [0, 0, 0, 1, 1, 2]
        for seen, garbage, right in zip(made["seen"], made["garbage"], part.answer, strict=True):
            assert sum(exactly_filled(seen, garbage, seed)) == right


def test_terms_of_theorem_2_are_equal_at_the_number_of_tasks_that_is_asked():
    exercise = promises.EXERCISES["two_terms"]
    made = exercise.given()
    table, equal = (np.asarray(part.answer) for part in exercise.solve(**made))
    for row, S in enumerate(equal):
        first, second = np.asarray(exercise.solve(**made | {"S": S})[0].answer)[row]
        assert np.isclose(first, second) and np.isclose(first, table[row, 0])
    assert table[1, 0] < table[0, 0] and table[1, 1] > table[0, 1]


@pytest.mark.slow
def test_the_panel_draws_fewer_crowds_where_few_blocks_are_left_and_the_legend_tells_it():
    panel = panels.sample_panel()
    for share, n_crowds in ((0.5, panels.CROWDS), (0.6, panels.FEWER)):
        errors = panel.compute(**{**panel.params, "share": share})
        assert {len(values) for values in errors.by_method.values()} == {n_crowds}
        assert panel.draw(errors).axes[0].get_legend().get_title().get_text().endswith(f"{n_crowds} crowds")


def test_a_link_fills_the_hole_better_with_more_tasks_and_a_good_annotator():
    exact, shown, errors = panels.through_links()
    assert shown.shape[2:] == exact.shape == (3, 3) and (np.diff(errors[..., 1][:, [5, 15, 25]], axis=1) < 0).all()
    slopes = [np.polyfit(np.log(panels.SAMPLES[15:]), np.log(half[15:]), 1)[0] for half in errors[..., 1]]
    assert np.allclose(np.mean(slopes), -0.5, atol=0.05)
    live = panels.link_live()
    live.controls["place"].value, live.controls["link"].value = 20, 11
    assert f"median error {100 * errors[8, 20, 1]:.0f} %" in live.text


@pytest.mark.slow
def test_a_guessed_slope_is_told_beside_the_measured_one():
    live = panels.rate_live()
    assert "Measured" not in live.text
    live.controls["shown"].value = True
    assert "Measured exponent: −0.49 ± 0.01." in live.text
