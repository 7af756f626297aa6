"""The plain versions and the fast ones do the same sums; and plain files import nothing but NumPy and SciPy."""

import ast
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import cofactor as cf
from cofactor import plain, simulate
from cofactor.core import simplex as fast_simplex
from cofactor.core.em import em
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.scattering import scattering_certificate
from cofactor.core.simplex import project_to_simplex
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.pmf.cnmf import cnmf_opt, cnmf_spa, pair_divergence
from cofactor.separable.least_squares import simplex_least_squares
from tests.oracles.crowd import blocks_of
from tests.oracles.generators import SIZES, random_model, random_table, recorded

FILES = sorted(Path(plain.__file__).parent.glob("*.py"))


def crowd_blocks(n_workers=6, n_tasks=2000, label_rate=0.5, random_state=0):
    model = simulate.dawid_skene_model(n_workers, 3, random_state=random_state)
    labels = simulate.crowd(model, n_tasks, label_rate, random_state=random_state).labels
    cooc = Cooccurrences.from_moments(cf.pairwise_moments(labels.table))
    return cooc, blocks_of(cooc), model


def test_pairs_and_em_of_a_table_with_gaps():
    for seed in range(3):
        table, start = random_table(seed, n_rows=60), random_model(seed + 1)
        F, S = plain.one_hot(table.codes, SIZES), plain.blocks(SIZES)
        moments = cf.pairwise_moments(table)
        for (m, j), (R, n) in plain.pair_frequencies(plain.pair_counts(F), SIZES).items():
            assert n == moments.n_joint[m, j] and np.allclose(R, moments.joint(m, j))
        assert [block.stop - block.start for block in S] == list(SIZES)
        labelled = table.entries_per_row > 0  # rows without entries do not count there
        prior, A, values = plain.em(F[labelled], start.prior, start.stacked, SIZES, 20, -1)
        model, result = recorded(em, table, start, max_iter=20, tol=-1)[0]
        assert np.allclose(model.prior, prior) and np.allclose(model.stacked, A)
        assert np.allclose(result.objective[:20], values[: len(result.objective)])


def test_simplex():
    rng = np.random.default_rng(0)
    W, X = rng.random((6, 3)), rng.random((6, 20))
    V = rng.normal(size=(5, 20))
    assert np.allclose(np.column_stack([plain.project_to_simplex(v) for v in V.T]), project_to_simplex(V))
    assert np.allclose(plain.mixtures(W, X), simplex_least_squares(W, X), atol=1e-6)


def test_anchors():
    X = simulate.dirichlet_mixtures(20, 60, 4, snr_db=20, random_state=0).X
    assert plain.spa(X, 4).tolist() == fast_simplex.spa(X, 4).tolist()
    for lam in (None, 0.0, 1e-3):
        anchors, C = plain.merit(X, 4, lam)
        fit = cf.separable.merit(X, 4, "msr" if lam is None else lam, merge_duplicates=False, select="top")
        assert anchors.tolist() == fit.anchors.tolist()
        assert np.abs((C - fit.coefficients).toarray()).max() < 1e-8
    assert C.nnz <= 50 * C.shape[1]


def test_joint_distribution_from_pairs():
    truth = simulate.joint_model(6, 4, 3, random_state=0)
    codes = truth.sample(50_000, random_state=1)[0].codes
    moments = cf.pairwise_moments(cf.CategoricalTable(codes, truth.sizes))
    R = plain.pair_frequencies(plain.pair_counts(plain.one_hot(codes, truth.sizes)), truth.sizes)
    found = LatentClassModel.from_stacked(*plain.cnmf_spa(R, truth.sizes, 3, [0, 1, 2]), truth.sizes)
    fast = cnmf_spa(moments, 3, split=[0, 1, 2])
    fast = fast[0] if isinstance(fast, tuple) else fast
    assert fast.mse(found) < 1e-4  # where the fast one lifts zeros
    end = recorded(cnmf_opt, moments, found.lift(0.05), max_iter=2000, tol=1e-12)[0][0]
    stays = plain.cnmf_opt(R, end.prior, end.stacked, truth.sizes, 1)
    assert end.mse(LatentClassModel.from_stacked(*stays, truth.sizes)) < 1e-10
    models = [found.lift(0.05)]
    for _ in range(20):
        state = plain.cnmf_opt(R, models[-1].prior, models[-1].stacked, truth.sizes, 1)
        models.append(LatentClassModel.from_stacked(*state, truth.sizes))
    assert (np.diff([pair_divergence(moments, model) for model in models]) < 0).all()


def test_imputation_of_missing_pairs():
    cooc, R, _ = crowd_blocks(label_rate=0.4)
    for m, n in ((0, 1), (2, 5)):
        left_out = {pair: block for pair, block in R.items() if set(pair) != {m, n}}
        one = plain.designated_imputation(left_out, m, n, 6)
        assert np.abs(one - R[m, n][0]).max() < 0.1
        both = plain.designated_imputation(left_out, n, m, 6)
        assert np.allclose(one, both.T, atol=1e-12)
    start = np.stack([np.eye(3) * 0.4 + 0.05] * 6)
    for p in (1.0, 2.0):
        fast = recorded(cf.crowd.robust_imputation, cooc, start, p, max_iter=7, tol=0)[0][0]
        assert np.allclose(plain.robust_imputation(R, start, p, 7), fast, atol=1e-8)


def test_symmetric_factor_and_its_model():
    _, _, model = crowd_blocks()
    H = np.vstack(model.conditionals) * np.sqrt(model.prior)
    U = plain.square_root(H @ H.T, 3)
    found, Q = plain.symnmf(U)
    fast = cf.crowd.symnmf(U)
    assert np.allclose(found, fast[0]) and np.allclose(Q, fast[1])
    prior, A = plain.model_of_factor(found)
    read = LatentClassModel.from_stacked(prior, A.reshape(-1, 3), model.sizes)
    assert model.mse(read) < 1e-2


def test_features_from_comparisons():
    U, V = simulate.comparison_factors(20, 30, 2, random_state=0)
    data = simulate.draw_comparisons(U, V, 4000, random_state=1)
    found, items = plain.comparison_features(data.user, data.left, data.right, data.outcome, (20, 30), 2, 6.0)
    fast = cf.comparisons.ComparisonMF(rank=2, ridge=6.0, item_bias=False, random_state=0, tol=1e-10).fit(data)
    one, other = (u @ (v - v.mean(axis=0)).T for u, v in ((found, items), (fast.user_factors_, fast.item_factors_)))
    assert np.allclose(one, other, atol=1e-3)


def test_scattering():
    rng = np.random.default_rng(0)
    for _ in range(20):
        H = rng.dirichlet(np.full(3, 0.4), 8)
        certificate = scattering_certificate(H)
        if np.isfinite(certificate.radius):
            assert plain.is_scattered(H) == (certificate.margin > 1e-6), certificate


def test_fast_versions_that_the_table_names_are_there():
    rows = re.findall(r"^    (\w+) .*  ([\w.]+(?:, [\w.]+)*)$", plain.__doc__, re.MULTILINE)
    assert {name for name, _ in rows} == {path.stem for path in FILES} - {"__init__"}
    for name, fast in rows:
        package = ""
        for module in fast.split(", "):
            package = module.partition(".")[0] or package
            assert find_spec(f"cofactor.{package}.{module.rpartition('.')[2]}"), (name, module)


def test_plain_files_are_short_and_import_nothing_else():
    allowed = {"numpy", "scipy", "cofactor", "__future__", "collections", "functools", "itertools", "typing"}
    assert sum(len(path.read_text(encoding="utf8").splitlines()) for path in FILES) <= 1100
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] in allowed, (path.name, name)
                assert name.startswith("cofactor.plain") or not name.startswith("cofactor"), (path.name, name)
