"""What the authors' own code gives on fixed inputs, run unchanged in Octave 7.3, and what the released rows give here.

`released_outputs.npz` holds both: inputs, and outputs of `N_CTF_AO_KL`, `coupled_fact_U_constrained(_mod)`,
`alg_SymNMF(_mod)`, `EM_yeredor`, `run_EM_MV`, `impute_block_mod`, `MultiSPA`, `KOS`, `GhostSVD`, `EigenRatio` (ICML
2021), and of `N_CTF_AO_KL`, `run_EM`, `N_CTF_AO_ADMM_Paper_Notation`, `SingleSPA`, `BiasedMatrixFactorization` (IEEE
TSP 2021, scripts of synthetic and of real data). Octave lacks `sum(X, "all")`, written sum(X(:)) there, and `svds`,
taken from its `svd`; random starts are those of the fixture, and the three methods for two classes return their labels.
"""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import polar

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.crowd import METHODS
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.labels import CrowdLabels
from cofactor.pmf import ratings
from cofactor.rivals.crowd.multispa import vertex_matrices
from cofactor.rivals.triple_moments import triple_moments
from evaluation.released import crowd_steps as steps
from evaluation.released.crowd import pairs_fitted
from evaluation.released.em import released_em
from evaluation.released.mirror_descent import REAL, SYNTHETIC, mirror_descent
from evaluation.released.pmf import SCRIPTS, released_spa
from evaluation.released.tensor import released_tensor
from tests.oracles.generators import recorded

OUT = dict(np.load(Path(__file__).with_name("released_outputs.npz")))


def model(prior, stacked):
    """Of seven workers or four variables, with three values each."""
    return LatentClassModel.from_stacked(prior, stacked, np.full(len(stacked) // 3, 3))


SEEN = np.nonzero(OUT["crowd_codes"] >= 0)
LABELS = CrowdLabels.from_arrays(*SEEN, OUT["crowd_codes"][SEEN], 3, *OUT["crowd_codes"].shape, unlabelled="keep")
COOC = Cooccurrences.from_moments(pairwise_moments(LABELS.table), 1)
CROWD, START = model(OUT["crowd_prior"], OUT["crowd_start"]), model(OUT["prior"], OUT["start"])
SYMNMF = [("sym_real", steps.REAL, 1e-6), ("sym_syn", steps.SYNTHETIC, 1e-9)]
TABLE = CategoricalTable(OUT["codes"].astype(np.int64), np.full(4, 3))


def same(found, name):
    """As the released code, but for rounding."""
    assert found.stacked == pytest.approx(OUT[f"{name}_A"], abs=1e-12)
    if f"{name}_l" in OUT:
        assert found.prior == pytest.approx(OUT[f"{name}_l"], abs=1e-12)


@pytest.mark.parametrize("limit", [2, 10])  # the released count begins with the look at the start
def test_cnmf_of_crowds_moves_prior_and_matrices_as_released(limit):
    assert (COOC.blocks == 0).any()  # zero cells are lifted
    moments = pairwise_moments(LABELS.table)
    same(recorded(mirror_descent, moments, CROWD, pairs_fitted(COOC), limit - 1, 1e-6, 0.0)[0][0], f"cnmf{limit}")


@pytest.mark.parametrize(("settings", "name"), [(SYNTHETIC, "syn_opt2"), (REAL, "real_opt2")])
def test_cnmf_opt_skips_zero_cells_as_released(settings, name):
    moments = pairwise_moments(TABLE)
    same(recorded(mirror_descent, moments, START, "equal", 2, 1e-6, 0.0, settings)[0][0], name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "p", "protocol"), [("rob1", 1.0, steps.REAL), ("rob2", 2.0, steps.REAL), ("rob_syn", 1.0, steps.SYNTHETIC)]
)
def test_robust_imputation_takes_the_released_steps(name, p, protocol):
    drawn = SimpleNamespace(standard_normal=lambda shape: OUT["U0"].copy())
    U = recorded(steps.projected_gradient_factors, COOC, drawn, p, protocol)[0][0]
    assert U.reshape(-1, 3) == pytest.approx(OUT[name], abs=1e-9)


def turned(U, protocol, rotations):
    """H after some rotations, by the orthogonal factor of U'H in place of a singular value decomposition of H'U."""
    Q = np.eye(U.shape[1])
    for _ in range(rotations):
        H = np.maximum(U @ Q, protocol.shift)
        Q = polar(U.T @ H)[0]
    return H


@pytest.mark.parametrize(("name", "protocol", "atol"), SYMNMF)
def test_symnmf_turns_as_released(name, protocol, atol):
    """Rounding, which processors do differently, decides when the gap falls below 1e-14: so the end varies."""
    for rotations in (1, 2, 5, 20):
        H = recorded(steps.rotate, OUT["Us"], replace(protocol, iterations=rotations))[0][0]
        assert pytest.approx(turned(OUT["Us"], protocol, rotations), abs=1e-9) == H
    assert recorded(steps.rotate, OUT["Us"], protocol)[0][0] == pytest.approx(OUT[name], abs=atol)


def test_blocks_are_imputed_as_released():
    place = dict(zip(zip(COOC.rows, COOC.indices, strict=True), COOC.blocks, strict=True))
    for (m, n, r, l), X in zip(OUT["pairs"], OUT["blocks"], strict=True):
        C = np.concatenate([place[m, r], place[l, r]])
        assert steps._linked_blocks(C[None], place[n, l][None])[0] == pytest.approx(X, abs=1e-12)


def test_em_is_the_released_one():
    same(recorded(released_em, LABELS.table, CROWD, 10)[0][0], "em")
    same(recorded(steps.votes_em, LABELS)[0][0], "mv")
    same(recorded(released_em, TABLE, START, 30)[0][0], "syn_em")


@pytest.mark.parametrize(("script", "name"), [("synthetic", "syn_ctd"), ("uci", "real_ctd")])
def test_ctd_sweeps_as_released_and_leaves_sums_below_one(script, name):
    found = recorded(released_tensor, triple_moments(TABLE), START, SCRIPTS[script][0], 8, 1e-12)[0][0]
    A, prior = OUT[f"{name}_A"].reshape(-1, 2), OUT[f"{name}_l"]
    assert (np.abs([block.sum(axis=0) - 1 for block in found.conditionals]).max() > 1e-3) == (script == "synthetic")
    assert found.stacked == pytest.approx(A, abs=1e-9)
    assert found.prior == pytest.approx(prior / prior.sum(), abs=1e-9)


# ---- starts and other methods ----


def test_multispa_finds_and_orders_columns_as_released():
    A, informative = vertex_matrices(COOC)
    assert informative.all()
    assert A.reshape(-1, 3) == pytest.approx(OUT["multispa"], abs=1e-12)
    assert steps.align_each(A).reshape(-1, 3) == pytest.approx(OUT["multispa_ordered"], abs=1e-12)


def test_cnmf_spa_takes_the_released_gradient_steps():
    moments = pairwise_moments(CategoricalTable(OUT["spa_codes"].astype(np.int64), np.full(4, 3)))
    drawn = SimpleNamespace(random=lambda shape: OUT["spa_H"].copy())
    same(released_spa(moments, 2, drawn, split=2, steps=50), "spa")


def test_bmf_sweeps_as_released(monkeypatch):
    start = SimpleNamespace(standard_normal=lambda shape: OUT["bmf_start"].copy())
    monkeypatch.setattr(ratings, "rng_of", lambda seed: start)
    row, column = np.nonzero(OUT["ratings"])
    pulls = tuple(0.09 * np.bincount(owner) for owner in (row, column))  # the released ridge is a square, here of 0.3
    rating = OUT["ratings"][row, column].astype(float)
    found = recorded(ratings.biased_factors, row, column, rating, 2, 0.09, pulls, max_iter=99, tol=-1)[0]
    assert pytest.approx(OUT["bmf_A"], abs=1e-12) == found.A and pytest.approx(OUT["bmf_B"], abs=1e-12) == found.B


@pytest.mark.parametrize("name", ["KOS", "GhoshSVD", "EigenRatio"])
def test_methods_for_two_classes_label_as_released(name):
    seen = np.nonzero(OUT["binary_codes"] >= 0)
    labels = CrowdLabels.from_arrays(*seen, OUT["binary_codes"][seen], 2, *OUT["binary_codes"].shape)
    assert METHODS[name]().fit(labels).predict(labels).tolist() == OUT[name].tolist()
