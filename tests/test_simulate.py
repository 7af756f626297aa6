"""Generators: the truth they return is the truth they used."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import linalg as sparse_linalg
from scipy.special import expit, logit

from cofactor import simulate
from cofactor.core.errors import CofactorError
from tests.each import each
from tests.oracles.generators import laws, seeds


def distance_from_unit_vectors(model):
    """(M,) largest distance of a row of each confusion matrix from its unit vector; (M,) the smallest."""
    distances = [np.linalg.norm(A - np.eye(len(A)), axis=1) for A in model.conditionals]
    return np.max(distances, axis=1), np.min(distances, axis=1)


@pytest.mark.slow
@laws
@given(seed=seeds, K=st.integers(2, 5), error=st.sampled_from([0.0, 0.1, 0.5]))
def test_one_specialist_exactly_as_good_as_asked(seed, K, error):
    model = simulate.dawid_skene_model(10, K, specialist_error=error, random_state=seed)
    largest, smallest = distance_from_unit_vectors(model)
    assert np.sum(np.isclose(largest, error, atol=1e-12) & np.isclose(smallest, error, atol=1e-12)) == 1
    assert np.allclose([A.sum(axis=0) for A in model.conditionals], 1, atol=1e-14)
    assert model.prior.sum() == pytest.approx(1) and model.prior.min() >= 0


def test_skill_mixes_in_the_identity():
    blunt, skilled = (simulate.dawid_skene_model(10, 3, skill=s, random_state=0) for s in (0.0, 0.6))
    pairs = zip(blunt.conditionals, skilled.conditionals, strict=True)
    mixed = [np.allclose(B, 0.4 * A + 0.6 * np.eye(3)) for A, B in pairs]
    assert sum(mixed) == 9  # all but the specialist


def test_the_prior_may_be_given():
    assert np.allclose(simulate.dawid_skene_model(prior=[0.2, 0.3, 0.5]).prior, [0.2, 0.3, 0.5])


def test_the_released_generator_has_uniform_prior_and_flatter_columns():
    """Uniform entries scaled to sum to one lie nearer the middle of the simplex than Dirichlet(1) columns."""
    models = {g: simulate.dawid_skene_model(200, 3, generator=g, random_state=0) for g in ("dirichlet", "uniform")}
    spread = {g: np.stack(model.conditionals).var() for g, model in models.items()}
    # variance of an entry: 1/18 for Dirichlet(1); 0.0323 for ratios of uniforms (four million draws)
    assert spread["dirichlet"] == pytest.approx(1 / 18, rel=0.1)
    assert spread["uniform"] == pytest.approx(0.0323, rel=0.1)
    np.testing.assert_array_equal(models["uniform"].prior, [1 / 3] * 3)
    assert np.ptp(models["dirichlet"].prior) > 0.1


def test_labels_come_at_the_rate_asked():
    rates = np.array([0.1, 0.5, 0.9])
    model = simulate.dawid_skene_model(3, random_state=0)
    share = simulate.crowd(model, 20_000, rates, random_state=0).labels.table.entries_per_variable / 20_000
    assert np.all(np.abs(share - rates) <= 5 * np.sqrt(rates * (1 - rates) / 20_000))


def test_tasks_that_nobody_labelled_stay():
    crowd = simulate.crowd(simulate.dawid_skene_model(3, random_state=0), 200, 0.1, random_state=0)
    assert crowd.labels.n_tasks == len(crowd.truth) == 200
    assert np.any(crowd.labels.table.entries_per_row == 0)


def test_labels_follow_the_confusion_matrices():
    model = simulate.dawid_skene_model(4, 3, prior=np.ones(3) / 3, random_state=1)
    crowd = simulate.crowd(model, 30_000, 1.0, random_state=1)
    codes = crowd.labels.table.codes
    for m, A in enumerate(model.conditionals):
        for c in range(3):
            of_class = crowd.truth == c
            share = np.bincount(codes[of_class, m], minlength=3) / of_class.sum()
            assert np.all(np.abs(share - A[:, c]) <= 5 * np.sqrt(A[:, c] * (1 - A[:, c]) / of_class.sum()) + 1e-12)


def test_a_large_crowd_has_few_labels_per_task():
    model = simulate.dawid_skene_model(40, random_state=0)
    labels = simulate.large_crowd(model, 5000, labels_per_task=4, random_state=0).labels
    counts = labels.table.entries_per_row
    assert (labels.n_tasks, labels.n_workers) == (5000, 40)
    assert counts.min() >= 1 and counts.max() == 4


@pytest.mark.parametrize("activity", [0.0, 1.0])
def test_activity_falls_with_the_rank(activity):
    model, n_tasks, drawn = simulate.dawid_skene_model(20, random_state=0), 20_000, 3
    table = simulate.large_crowd(model, n_tasks, drawn, activity, random_state=0).labels.table
    share = np.arange(1, 21) ** -activity
    expected = 1 - (1 - share / share.sum()) ** drawn  # labelled at least once among the draws
    deviation = 5 * np.sqrt(expected * (1 - expected) / n_tasks)
    assert np.all(np.abs(table.entries_per_variable / n_tasks - expected) <= deviation)


# ---- SymNMF problems ----


@laws
@given(seed=seeds)
def test_without_noise_the_root_is_the_factor_turned(seed):
    U, H = simulate.symnmf_problem(50, 3, 0.5, random_state=seed)
    assert np.allclose(U @ U.T, H @ H.T) and np.all(U.sum(axis=0) >= 0)
    assert np.all((H >= 0) & (H <= 1))


def test_density_is_the_share_of_nonzeros_and_they_are_uniform():
    _, H = simulate.symnmf_problem(20_000, 3, 0.3, random_state=0)
    assert abs(np.mean(H > 0) - 0.3) <= 5 * np.sqrt(0.21 / H.size)
    assert np.allclose(np.quantile(H[H > 0], [0.1, 0.5, 0.9]), [0.1, 0.5, 0.9], atol=0.02)


def test_noise_has_the_level_asked_for():
    J, K = 400, 3
    errors = [simulate.symnmf_problem(J, K, 0.5, snr_db, random_state=0) for snr_db in (20, 30)]
    noise = [np.linalg.norm(U @ U.T - H @ H.T) / np.linalg.norm(H @ H.T) for U, H in errors]
    assert np.isclose(noise[0] / noise[1], np.sqrt(10), rtol=0.03)
    # of the noise (N + N') / 2, the part that meets the K directions of H: 2 J K - K^2 degrees of J^2, half variance
    assert np.isclose(noise[1], 10**-1.5 * np.sqrt((2 * J * K - K**2) / J**2 / 2), rtol=0.05)


# ---- joint PMFs ----


@laws
@given(seed=seeds, n=st.integers(1, 6), I=st.integers(1, 6), F=st.integers(1, 8))
def test_joint_models_have_the_sizes_asked_for_and_a_uniform_prior(seed, n, I, F):
    model = simulate.joint_model(n, I, F, random_state=seed)
    assert model.sizes.tolist() == [I] * n and model.n_classes == F
    assert np.allclose(model.prior, 1 / F, rtol=1e-14)
    assert np.allclose([A.sum(axis=0) for A in model.conditionals], 1, atol=1e-14)


@pytest.mark.parametrize(("label", "distance"), [(0.1, 0.0056), (0.2, 0.146), (0.3, 0.258)])
def test_planted_rows_are_as_far_from_unit_vectors_as_the_released_code_has_them(label, distance):
    """The labels of the tables are no distances."""
    for seed in range(6):
        model = simulate.joint_model(5, 10, 5, separability=label, random_state=seed)
        rows = [A[:5] / A[:5].sum(axis=1, keepdims=True) for A in model.conditionals]
        gaps = np.array([np.linalg.norm(R - np.eye(5), axis=1).max() for R in rows])
        assert gaps.min() == pytest.approx(distance, rel=0.01)
        assert int(gaps.argmin()) in (3, 4)
        assert np.allclose(np.diag(model.conditionals[gaps.argmin()]), 0.4)


def test_both_of_the_last_two_variables_are_planted_in_their_turn():
    def planted(seed):
        model = simulate.joint_model(separability=0.1, random_state=seed)
        return int(np.argmin([np.linalg.norm(np.diag(A[:5]) - 0.4) for A in model.conditionals]))

    assert {planted(seed) for seed in range(10)} == {3, 4}


def test_entries_are_observed_independently_with_the_share_asked_for():
    model = simulate.joint_model(4, 3, 2, random_state=0)
    seen = simulate.joint_table(model, 20_000, observed=0.3, random_state=1).codes >= 0
    assert np.allclose(seen.mean(axis=0), 0.3, atol=0.015)
    assert np.mean(seen[:, 0] & seen[:, 1]) == pytest.approx(0.09, abs=0.01)
    assert simulate.joint_table(model, 50, random_state=1).codes.min() == 0


def test_rows_follow_the_joint_pmf():
    model = simulate.joint_model(3, 3, 2, random_state=0)
    codes = simulate.joint_table(model, 50_000, random_state=2).codes
    share = np.bincount(codes @ [9, 3, 1], minlength=27) / len(codes)
    P = model.joint_tensor().ravel()
    assert np.all(np.abs(share - P) <= 5 * np.sqrt(P * (1 - P) / len(codes)))


# ---- the smallest that can be drawn, and what is just beyond ----


@pytest.mark.parametrize(
    ("make", "sizes"),
    [
        (lambda: simulate.dawid_skene_model(1, 2, random_state=0).prior, (2,)),
        (lambda: simulate.crowd(MODEL, 1, random_state=0).truth, (1,)),
        (lambda: simulate.large_crowd(MODEL, 1, 1, random_state=0).truth, (1,)),
        (lambda: simulate.symnmf_problem(2, 2, 1.0, random_state=0)[0], (2, 2)),
        (lambda: simulate.dirichlet_mixtures(1, 1, 1, random_state=0).X, (1, 1)),
        (lambda: simulate.midpoint_mixtures(1, 2, random_state=0).X, (1, 3)),
        (lambda: simulate.joint_model(1, 1, 1, random_state=0).prior, (1,)),
        (lambda: simulate.joint_table(MODEL, 1, random_state=0).codes, (1, 2)),
        (lambda: simulate.comparison_factors(2, 2, 1, random_state=0)[0], (2, 1)),
        (lambda: simulate.draw_comparisons(np.ones((1, 1)), np.eye(2)[:, :1], 1, random_state=0).outcome, (1,)),
    ],
    ids=range(10),
)
def test_the_smallest_problems_are_drawn(make, sizes):
    assert make().shape == sizes


MODEL = simulate.dawid_skene_model(2, 2, random_state=0)


@each(
    "make, message",
    [
        (lambda: simulate.dawid_skene_model(n_classes=1), "n_classes=1: give a whole number of at least 2"),
        (lambda: simulate.dawid_skene_model(skill=1.5), r"skill=1\.5: give a number from 0 to 1"),
        (lambda: simulate.crowd(MODEL, 10, [0.5, 1.5]), "give a number from 0 to 1, or one for each of 2 annotators"),
        (lambda: simulate.symnmf_problem(snr_db=-1000.5), "give a number from -1000 to 1000"),
        (lambda: simulate.symnmf_problem(snr_db=1000.5), "give a number from -1000 to 1000"),
        (lambda: simulate.draw_comparisons(np.ones((1, 1)), np.ones((1, 1)), 1), "V at least two rows"),
        (lambda: simulate.dawid_skene_model(generator="beta"), "generator='beta': choose one of dirichlet, uniform"),
        *(
            (lambda e=e: simulate.dawid_skene_model(specialist_error=e), r"must be between 0 and 0\.82 for 3")
            for e in (-0.1, 0.9)
        ),
        *((lambda d=d: simulate.symnmf_problem(density=d), "must be above 0 and at most 1") for d in (0, 1.5)),
        (lambda: simulate.symnmf_problem(2, 3), "n_rows >= n_classes"),
        (lambda: simulate.symnmf_problem(10, 3, density=1e-9, random_state=0), "rank"),
        *((lambda s=s: simulate.joint_table(MODEL, 10, s), "must be above 0 and at most 1") for s in (0, -0.1, 1.1)),
        (lambda: simulate.joint_model(5, 4, 5, separability=0.1), "separability=0.1 with 5 classes and 4 values"),
        (lambda: simulate.joint_model(separability=0.15), "separability=0.15 .* choose one of 0.1, 0.2, 0.3"),
        (lambda: simulate.dirichlet_mixtures(3, 5, 6), "5 points cannot contain 6 anchors"),
        (lambda: simulate.midpoint_mixtures(noise="salt"), "noise='salt'"),
        (lambda: simulate.midpoint_mixtures(n_anchors=1), "n_anchors=1"),
    ],
)
def test_what_is_just_beyond_is_refused(make, message):
    with pytest.raises(CofactorError, match=message):
        make()


@pytest.mark.parametrize("n_variables", [1, 2])
def test_of_few_variables_any_is_planted(n_variables):
    drawn = [simulate.joint_model(n_variables, 4, 3, 0.1, random_state=seed) for seed in range(10)]
    planted = [n for model in drawn for n, A in enumerate(model.conditionals) if np.allclose(np.diag(A[:3]), 0.4)]
    assert sorted(set(planted)) == list(range(n_variables)) and len(planted) == 10


@pytest.mark.parametrize(("kind", "within"), [("unit", True), ("factor", False)])
def test_features_of_length_one_lie_at_most_two_apart(kind, within):
    U, V = simulate.comparison_factors(50, 60, 3, kind, random_state=0)
    utilities = U @ V.T
    assert (np.ptp(utilities, axis=1).max() <= 2) == within


def test_signs_of_features_do_not_depend_on_lapack(monkeypatch):
    """A singular value decomposition leaves the signs open, and processors choose differently."""

    def turned(decompose):
        def flipped(*args, **settings):
            A, s, Ct = decompose(*args, **settings)
            sign = np.array([-1.0, 1.0, -1.0])
            return A * sign, s, Ct * sign[:, None]

        return flipped

    kinds = "unit", "gauss", "factor"
    before = [simulate.comparison_factors(20, 30, 3, kind, random_state=1) for kind in kinds]
    monkeypatch.setattr(np.linalg, "svd", turned(np.linalg.svd))
    monkeypatch.setattr(sparse_linalg, "svds", turned(sparse_linalg.svds))
    for kind, (U, V) in zip(kinds, before, strict=True):
        again = simulate.comparison_factors(20, 30, 3, kind, random_state=1)
        assert np.array_equal(U, again[0]) and np.array_equal(V, again[1])
        assert (U[np.abs(U).argmax(axis=0), range(3)] > 0).all()


def test_popularity_of_items_counts_for_the_left_and_against_the_right():
    U, V, b = np.array([[0.5], [-1.0]]), np.array([[1.0], [0.0], [2.0]]), np.array([0.3, -0.6, 1.1])
    drawn = simulate.draw_comparisons(U, V, 50, "exact", b=b, random_state=0)
    difference = U[drawn.user, 0] * (V[drawn.left, 0] - V[drawn.right, 0]) + b[drawn.left] - b[drawn.right]
    assert np.allclose(drawn.outcome, expit(difference))


def test_seasons_are_knock_outs_of_players_who_drift():
    (one, two), skills = simulate.tennis_seasons(96, 2, n_weeks=30, field=16, random_state=0)
    assert len(one) == len(two) == 30 * 2 * 15
    rounds = one.left[:15], one.right[:15], one.outcome[:15]
    winners = np.where(rounds[2] == 1, rounds[0], rounds[1])
    assert len(np.unique(np.append(rounds[0][:8], rounds[1][:8]))) == 16
    assert set(winners[:8]) == {*rounds[0][8:12], *rounds[1][8:12]}
    assert set(winners[12:14]) == {rounds[0][14], rounds[1][14]}
    assert 0.8 < np.corrcoef(skills)[0, 1] < 0.9999
    assert np.corrcoef(one.per_item, skills[0])[0, 1] > 0.5
    won = one.outcome == 1
    better = skills[0][one.left] > skills[0][one.right]
    assert 0.6 < np.mean(won == better) < 0.8
    alike = simulate.tennis_seasons(96, 1, field=16, sd=0, random_state=0)[0][0]
    assert abs(alike.outcome.mean() - 0.5) < 0.06
    for field in (12, 32):
        with pytest.raises(CofactorError, match=f"field={field}: must be a power of two, at most a sixth of the 96"):
            simulate.tennis_seasons(96, field=field)


def test_workers_of_a_drifting_crowd_change_over_their_tasks():
    drawn = simulate.drifting_crowd(4000, 30, 3, 10, accuracy=(0.75, 0.75), drift=3.0, random_state=0)
    codes, truth = drawn.labels.table.codes, drawn.truth
    assert (drawn.labels.table.entries_per_row == 10).all()
    share = np.empty((30, 3))  # of right labels, in the first, middle and last fifth of each worker's tasks
    for w in range(30):
        mine = np.flatnonzero(codes[:, w] >= 0)
        share[w] = [(codes[part, w] == truth[part]).mean() for part in np.array_split(mine, 5)[::2]]
    slope = (logit(share[:, 2]) - logit(share[:, 0])) / 0.8
    assert np.std(slope) == pytest.approx(3.0, rel=0.3) and abs(np.mean(slope)) < 1.5
    assert np.allclose(share[:, 1], 0.75, atol=0.1) and share[:, 1].mean() == pytest.approx(0.75, abs=0.015)
    wrong = (codes - truth[:, None])[(codes >= 0) & (codes != truth[:, None])] % 3
    assert np.mean(wrong == 1) == pytest.approx(0.5, abs=0.02)
    still = simulate.drifting_crowd(4000, 5, labels_per_task=5, drift=0.0, accuracy=(0.6, 0.9), random_state=1)
    halves = (still.labels.table.codes == still.truth[:, None]).reshape(2, 2000, 5).mean(axis=1)
    assert np.allclose(*halves, atol=0.06) and np.ptp(halves[0]) > 0.05
    for seed in range(5):  # two tasks, and a worker who learns or forgets all between them
        drawn = simulate.drifting_crowd(2, 1, labels_per_task=1, drift=1e4, accuracy=(0.6, 0.6), random_state=seed)
        assert (drawn.labels.table.codes[:, 0] == drawn.truth).sum() == 1
    for wrong in ({"accuracy": (0.9, 0.6)}, {"accuracy": (0.5, 1.0)}, {"n_workers": 3}, {"drift": -1.0}):
        with pytest.raises(CofactorError, match=next(iter(wrong)).split("_")[-1]):
            simulate.drifting_crowd(**wrong)


def test_votes_that_share_a_user_or_a_prompt_are_alike():
    """Residuals of two votes about one pair agree where they share what has a spread, and not otherwise."""
    for way, spreads in (("user", (1.5, 0.0)), ("prompt", (0.0, 1.5))):
        data, v = simulate.two_way_comparisons(
            3, 40, 30, 40000, user_spread=spreads[0], prompt_spread=spreads[1], random_state=0
        )
        assert abs(v.sum()) < 1e-12 and data.prompt.max() == 29
        rest = data.outcome - expit(v[data.left] - v[data.right])
        for shared, names in ((way, 0.03), ("user" if way == "prompt" else "prompt", 0.0)):
            key = (getattr(data, shared) * 3 + data.left) * 3 + data.right
            n = np.bincount(key)
            total, squares = np.bincount(key, rest), np.bincount(key, rest**2)
            alike = (total**2 - squares).sum() / (n * (n - 1.0)).sum()  # mean product of two different ones
            assert alike > names if names else abs(alike) < 0.015, (way, shared)
    with pytest.raises(CofactorError, match="n_items"):
        simulate.two_way_comparisons(1)
