"""The released code's choices: each step against plain loops, each defect on a case with a known answer."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given

import cofactor as cf
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import pairwise_moments
from cofactor.crowd import error_rate
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.labels import CrowdLabels, vote_shares
from evaluation.released import RELEASED
from evaluation.released import crowd_steps as released
from evaluation.released.crowd import pairs_fitted, vertex_model
from evaluation.released.em import released_em
from evaluation.released.mirror_descent import Mirror
from tests.oracles.crowd import blocks_of
from tests.oracles.generators import laws, random_model, recorded, seeds, skilled_crowd, triples
from tests.oracles.paper_protocol import (
    cnmf_passes,
    columns_by_row,
    descend,
    em_rounds,
    gradient_sweep,
    pair_blocks,
    read_off,
    rotated,
)


def ring(seed, n_workers=8, n_classes=3, noise=0.0):
    """Exact blocks of the neighbours on a ring and of those next to them; the rest is missing."""
    model = random_model(seed, n_classes, (n_classes,) * n_workers)
    apart = np.abs(np.subtract.outer(range(n_workers), range(n_workers)))
    cooc = Cooccurrences.from_model(model, np.isin(np.minimum(apart, n_workers - apart), [1, 2]))
    rough = np.maximum(cooc.blocks + noise * np.random.default_rng(seed).standard_normal(cooc.blocks.shape), 0)
    return dataclasses.replace(cooc, blocks=rough / rough.sum(axis=(1, 2), keepdims=True)), model


# ---- designated annotators ----


@laws
@given(seed=seeds)
def test_every_block_comes_from_one_linking_pair(seed):
    cooc, _ = ring(seed, noise=0.05)
    imputed = released.random_pair_imputation(cooc, np.random.default_rng(seed))
    blocks, observed = imputed.X.reshape(8, 3, 8, 3).transpose(0, 2, 1, 3), blocks_of(cooc)
    for m in range(8):
        for n in range(m, 8):
            if (m, n) in observed:
                assert np.array_equal(blocks[m, n], observed[m, n][0])
                continue
            choices = pair_blocks(cooc, m, n).values()
            assert any(np.allclose(blocks[m, n], choice, atol=1e-9) for choice in choices)
            assert imputed.reached[m, n] == blocks[m, n].any()


@pytest.mark.slow
def test_every_linking_pair_has_the_same_chance():
    cooc, _ = ring(0)
    rng, linked = np.random.default_rng(0), np.zeros((8, 8), dtype=bool)
    linked[cooc.rows, cooc.indices] = True
    pairs = np.full(20_000, 0), np.full(20_000, 3)
    l, r = released._draw_pairs(linked, cooc.indptr, cooc.indices, *pairs, rng.random((20_000, 2)))
    possible = pair_blocks(cooc, 0, 3)
    drawn = {pair: np.mean((l == pair[0]) & (r == pair[1])) for pair in possible}
    assert sum(drawn.values()) == pytest.approx(1)
    assert max(abs(share - 1 / len(possible)) for share in drawn.values()) < 0.02


def test_annotators_without_a_link_stay_empty():
    mask = np.zeros((5, 5), dtype=bool)
    mask[0, 1] = mask[1, 2] = mask[0, 2] = mask[3, 4] = True
    cooc = Cooccurrences.from_model(random_model(0, 2, (2,) * 5), mask | mask.T)
    imputed = released.random_pair_imputation(cooc, np.random.default_rng(0))
    assert imputed.reached[:3, :3].all() and not imputed.reached[:3, 3:].any()
    assert imputed.reached[3, 4] and not imputed.reached[3, 3]


def test_the_square_root_takes_the_largest_singular_values():
    U = released.singular_root(np.diag([3.0, 1.0, -2.0]), 2)
    assert np.allclose(U, [[np.sqrt(3), 0], [0, 0], [0, np.sqrt(2)]])


def test_the_square_root_of_a_large_matrix_is_that_of_a_small_one():
    H = np.random.default_rng(0).random((500, 3))
    U = released.singular_root(H @ H.T, 3)
    assert np.allclose(U @ U.T, H @ H.T)
    assert (U.sum(axis=0) >= 0).all()


# ---- robust imputation ----


@pytest.mark.slow
@pytest.mark.parametrize("p", [1.0, 2.0])
@pytest.mark.parametrize("protocol", [released.REAL, released.SYNTHETIC])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_sweeps_are_those_of_plain_loops(p, protocol, seed):
    cooc, _ = ring(seed, noise=0.05)
    short = dataclasses.replace(protocol, sweeps=3)
    U = recorded(released.projected_gradient_factors, cooc, np.random.default_rng(seed), p, short)[0][0]
    slow = np.random.default_rng(seed).standard_normal((8, 3, 3))
    for _ in range(3):
        slow = gradient_sweep(cooc, slow, p, short.steps, p == 2 or short.restart, short.fill, short.spectral)
    assert np.allclose(U, slow, atol=1e-9)


def test_gradient_steps_stop_on_the_spectral_norm_of_the_change():
    rng = np.random.default_rng(0)
    U, X = rng.standard_normal((3, 3)), 0.2 * rng.random((3, 12))
    H = np.diag([1, 0.6, 0.6]) @ np.linalg.qr(rng.standard_normal((12, 3)))[0].T  # two directions are equally slow
    slow, found = descend(U, X, H, 5000, False), U.copy()
    released._descend(found, H @ H.T, X @ H.T, 5000)
    assert found == pytest.approx(slow, abs=1e-12)


def test_the_sweep_limit_is_said():
    with pytest.warns(ConvergenceWarning, match=r"robust imputation \(as released\): iteration limit 20"):
        released.projected_gradient_factors(ring(0, noise=0.1)[0], np.random.default_rng(0))


# ---- SymNMF and the model ----


@pytest.mark.parametrize("protocol", [released.REAL, released.SYNTHETIC])
@pytest.mark.parametrize("seed", [0, 1])
def test_factor_and_model_are_those_of_plain_loops(protocol, seed):
    U = np.random.default_rng(seed).standard_normal((18, 3))
    short = dataclasses.replace(protocol, iterations=25)
    H = recorded(released.rotate, U, short)[0][0]
    assert pytest.approx(rotated(U, short.shift, 25), abs=1e-9) == H
    model = released.read_model(H, np.ones(6, dtype=bool), short)
    prior, A = read_off(H, short.floor, short.align)
    assert model.prior == pytest.approx(prior, abs=1e-9) and model.stacked == pytest.approx(np.vstack(A), abs=1e-9)


def test_entries_are_clamped_up_on_synthetic_data():
    H = recorded(released.rotate, np.eye(3), released.SYNTHETIC)[0][0]
    assert H.min() == released.SYNTHETIC.shift > 0


def test_confusion_matrices_are_floored_and_uninformative_ones_keep_their_place():
    sharp, flat = np.eye(2), np.array([[0.7, 0.7], [0.0, 0.0]])
    model = released.read_model(np.vstack([sharp, flat, sharp, sharp]), np.array([True, True, True, False]))
    assert np.allclose(model.conditionals[0], [[1 / 1.001, 0.001 / 1.001], [0.001 / 1.001, 1 / 1.001]])
    assert np.allclose(model.conditionals[1], 0.5)
    assert np.array_equal(model.conditionals[2], model.conditionals[0])
    assert np.allclose(model.conditionals[3], 0.5)
    assert model.prior.sum() == pytest.approx(1)


def test_the_prior_is_uniform_where_asked_for():
    H = np.vstack([np.eye(2)] * 3) * np.sqrt([0.9, 0.1])
    assert np.allclose(released.read_model(H, np.ones(3, dtype=bool)).prior, [0.9, 0.1], atol=1e-3)
    assert np.array_equal(released.read_model(H, np.ones(3, dtype=bool), uniform_prior=True).prior, [0.5, 0.5])


@laws
@given(seed=seeds)
def test_each_annotator_is_ordered_by_itself(seed):
    blocks = np.random.default_rng(seed).dirichlet(np.ones(4), (6, 4)).transpose(0, 2, 1)
    ordered = released.align_each(blocks)
    assert all(np.array_equal(new, columns_by_row(old)) for new, old in zip(ordered, blocks, strict=True))


@pytest.mark.parametrize("wrong", ["", "paper", True])
def test_only_known_protocols(wrong):
    with pytest.raises(CofactorError, match="choose 'real', 'uci' or 'synthetic'"):
        released.protocol_of(wrong)


# ---- EM and the defects ----


def with_empty_task(labels):
    return CrowdLabels.from_arrays(
        *triples(labels), labels.n_classes, labels.n_tasks + 1, labels.n_workers, unlabelled="keep"
    )


def codes_of(labels):
    codes = np.full((labels.n_tasks, labels.n_workers), -1)
    codes[labels.table.rows, labels.table.variables] = labels.table.values
    return codes


def test_rounds_of_em_are_those_of_plain_loops_with_zeros_and_empty_rows():
    labels = with_empty_task(skilled_crowd(3, n_tasks=30, label_rate=0.3).labels)
    start = random_model(0, 3, (3,) * 12)
    A = [np.eye(3), *start.conditionals[1:]]  # a zero floored higher comes back sooner
    model = recorded(released_em, labels.table, LatentClassModel(start.prior, A), 6)[0][0]
    prior, A = em_rounds(codes_of(labels), start.prior, A, 6)
    assert model.prior == pytest.approx(prior, abs=1e-9)
    assert np.allclose(model.stacked, np.vstack(A), rtol=1e-6, atol=0)  # the smallest entries, too


def test_ten_rounds_from_vote_shares_with_a_uniform_prior():
    labels = skilled_crowd(0, skill=0.3).labels
    model, result = recorded(released.votes_em, labels)[0]
    assert result.n_iter == 10 and (np.diff(result.objective) > 0).all()
    assert np.array_equal(model.prior, np.full(3, 1 / 3))
    counts = labels.table.indicator.T @ vote_shares(labels)
    once = counts.reshape(-1, 3, 3)
    once = once / once.sum(axis=1, keepdims=True)
    first = LatentClassModel(model.prior, list(once))
    assert result.objective[0] == pytest.approx(first.log_likelihood(labels.table))


def test_refuses_to_count_no_votes():
    empty = skilled_crowd(0).labels.take_tasks(np.zeros(400, dtype=bool))
    with pytest.raises(CofactorError, match="no task has a label"):
        released.votes_em(empty)


def test_the_division_by_zero_makes_everything_the_first_class():
    labels = skilled_crowd(0).labels
    shares = vote_shares(labels)
    assert np.array_equal(released.nan_bug(shares, labels), shares)
    broken = released.nan_bug(shares, with_empty_task(labels))
    assert (np.argmax(broken, axis=1) == 0).all() and len(broken) == labels.n_tasks + 1


def test_the_shifted_list_spoils_all_after_the_first_gap():
    model = random_model(0, 3, (3,) * 5)
    blocks = list(model.conditionals)
    blocks[1] = np.full((3, 3), 1 / 3)
    shifted = released.index_shift(LatentClassModel(model.prior, blocks))
    expected = [blocks[0], *blocks[2:], np.full((3, 3), 1 / 3)]
    assert all(np.allclose(A, B) for A, B in zip(shifted.conditionals, expected, strict=True))
    assert np.array_equal(released.index_shift(model).stacked, model.stacked)


# ---- the methods ----

STEPWISE = [name for name in RELEASED["crowd"] if name not in ("PG-TAC", "CRIAV")]


def made(name, protocol="real", seed=0, **options):
    return RELEASED["crowd"][name](protocol=protocol, random_state=seed, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPWISE)
@pytest.mark.parametrize("which", ["real", "uci", "synthetic"])
def test_every_protocol_works_on_every_method(name, which):
    crowd = skilled_crowd(1)
    method = recorded(made(name, which).fit, crowd.labels)[0]
    best = np.mean(crowd.model.predict(crowd.labels.table) == crowd.truth)
    found = np.mean(method.predict(crowd.labels) == crowd.truth)
    assert found > best - (0.15 if "MultiSPA" in name else 0.05)


@pytest.mark.parametrize("name", RELEASED["crowd"].keys() - {"CNMF-EM"})  # which ends in the library's EM
def test_gold_is_of_no_use(name):
    labels = skilled_crowd(1).labels
    with pytest.raises(CofactorError, match="cannot use gold"):
        RELEASED["crowd"][name](random_state=0).fit(labels, gold=np.full(labels.n_tasks, -1))


def test_which_prior_each_data_set_gets():
    labels = skilled_crowd(1).labels
    uniform = {
        (name, which): np.ptp(recorded(made(name, which).fit, labels)[0].model_.prior) == 0
        for name in ("DesSymNMF", "RobSymNMF")
        for which in ("real", "uci", "synthetic")
    }
    assert [kind for kind, flat in uniform.items() if flat] == [
        ("DesSymNMF", "real"),
        ("DesSymNMF", "uci"),
        ("RobSymNMF", "uci"),
    ]


@pytest.mark.slow
def test_cnmf_is_nine_passes_over_pairs_of_more_than_rank_one_from_the_vertices():
    labels = skilled_crowd(4, n_workers=14, n_classes=2, n_tasks=60, label_rate=0.2).labels
    cooc = Cooccurrences.from_moments(pairwise_moments(labels.table), 1)
    start, _ = vertex_model(cooc, labels, released.REAL, 0)
    with pytest.warns(ConvergenceWarning, match="mirror descent: iteration limit 9"):
        method = RELEASED["crowd"]["CNMF"](random_state=0).fit(labels)
    pairs, prior, A = cnmf_passes(codes_of(labels), 2, start.prior, start.conditionals, Mirror(), 9)
    assert method.model_.prior == pytest.approx(prior, abs=1e-9)
    assert method.model_.stacked == pytest.approx(np.vstack(A), abs=1e-9)
    assert 0 < len(pairs) == pairs_fitted(cooc).sum() / 2 < len(cooc.indices) / 2 and not start.stacked.all()


def test_goes_on_where_the_released_code_does_and_says_so():
    first, second = triples(skilled_crowd(0).labels), triples(skilled_crowd(1).labels)
    parts = [np.append(a, b + shift) for a, b, shift in zip(first, second, (400, 12, 0), strict=True)]
    labels = CrowdLabels.from_arrays(*parts, 3)
    method, given = recorded(made("RobSymNMF").fit, labels)
    said = [str(w.message) for w in given if w.category is DataWarning]
    assert any(m.startswith("going on as the released code does, although the co-labelling graph") for m in said)
    assert np.isfinite(method.predict_proba(labels)).all()


BUSIEST, LEAST = 52, {"trec": 2}  # workers kept of Dog; pairs below count as missing

# measured before on these sets by another implementation, checked against the released code: mean over seeds, per cent
LEVELS = {
    ("RobSymNMF", "bluebird"): (12.04, 0.1),
    ("RobSymNMF-EM", "bluebird"): (10.19, 0.1),
    ("RobSymNMF", "dog"): (16.11, 0.3),
    ("RobSymNMF-EM", "dog"): (15.86, 0.1),
    ("DesSymNMF", "dog"): (16.6, 0.5),
    ("SymNMF(no imputation)", "dog"): (16.73, 0.4),  # a nearly free eigenvector: 16.36 with older LAPACK
    ("RobSymNMF", "rte"): (7.39, 0.4),
    ("RobSymNMF(w=1)", "rte"): (7.29, 0.4),
    ("DesSymNMF", "rte"): (11.45, 1.0),
    ("DesSymNMF-EM", "rte"): (7.11, 0.1),
    ("SymNMF(no imputation)", "rte"): (48.75, 1e-9),
    ("MV-EM", "rte"): (7.25, 1e-9),
    ("RobSymNMF(w=1)", "trec"): (29.9, 0.8),
    ("MV-EM", "trec"): (30.02, 0.06),
    ("MultiSPA", "rte"): (8.38, 0.3),
    ("MultiSPA", "bluebird"): (13.89, 0.1),
}


def loaded(name):
    found = cf.load(name)
    return (found.labels.busiest_workers(BUSIEST) if name == "dog" else found.labels), found.truth


@pytest.mark.slow
@pytest.mark.needs_mirror
@pytest.mark.parametrize(("method", "name"), LEVELS)
def test_errors_on_public_data_are_those_of_the_released_code(method, name):
    labels, truth = loaded(name)
    least = {"min_common": LEAST[name]} if name in LEAST and method != "MV-EM" else {}
    runs = [made(method, seed=seed, **least) for seed in range(4)]
    errors = [100 * error_rate(recorded(run.fit, labels)[0].predict(labels), truth) for run in runs]
    level, margin = LEVELS[method, name]
    assert abs(np.mean(errors) - level) <= margin


# per cent, as measured for the specification; those of CNMF-EM are what the paper prints for CNMF
CNMF_LEVELS = {
    "bluebird": {"CNMF": 12.96, "CNMF-EM": 11.11},
    "dog": {"CNMF": 17.47, "CNMF-EM": 15.86},
    "rte": {"CNMF": 8.75, "CNMF-EM": 7.125},
    "trec": {"CNMF": 31.75, "CNMF-EM": 29.8},
}


@pytest.mark.slow
@pytest.mark.needs_mirror
@pytest.mark.parametrize("name", CNMF_LEVELS)
@pytest.mark.parametrize("method", ["CNMF", "CNMF-EM"])
def test_errors_of_mirror_descent_are_those_of_the_released_code(method, name):
    labels, truth = loaded(name)
    fitted = recorded(RELEASED["crowd"][method](pseudo_counts=(0, 0), random_state=0).fit, labels)[0]
    found = 100 * error_rate(fitted.predict(labels), truth)
    assert found == pytest.approx(CNMF_LEVELS[name][method], abs=0.1 if name == "trec" else 0.01)


@pytest.mark.slow
@pytest.mark.needs_mirror
def test_the_shifted_list_explains_the_published_error_on_trec():
    labels, truth = loaded("trec")
    method = recorded(made("RobSymNMF(w=1)", min_common=2).fit, labels)[0]
    right, shifted = (
        100 * error_rate(model.predict(labels.table), truth)
        for model in (method.model_, released.index_shift(method.model_))
    )
    assert right < 31 and 32.5 < shifted < 35  # published: 33.23
