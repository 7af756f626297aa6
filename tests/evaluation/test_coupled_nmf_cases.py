"""CNMF-OPT ends no higher than the papers' mirror descent from the same start.

Five variables with planted anchors, half to a twentieth observed; fifteen without, where mirror descent gets twenty
of its passes; the tables of UCI. With 1,000 rows the optima lie far apart: seeds are those where steps that move all
blocks at once end above mirror descent.
"""

import warnings

import numpy as np
import pytest

from cofactor import simulate
from cofactor.core.errors import ConvergenceWarning
from cofactor.core.moments import pairwise_moments
from cofactor.pmf import cnmf_spa
from cofactor.pmf.cnmf import cnmf_opt, pair_divergence
from evaluation.pmf import real
from evaluation.released.mirror_descent import SYNTHETIC, mirror_descent

SIMULATED = [  # variables, rank, label of separability, rows, share observed, passes of mirror descent
    *((5, 5, label, n_rows, 0.5, 500) for label in (0.1, 0.3) for n_rows in (10**3, 10**4, 10**5)),
    *((5, 5, 0.1, 10**5, p, 500) for p in (0.1, 0.05)),
    *((15, 10, None, 10**4, p, 20) for p in (0.5, 0.2)),
]
THIN = [(0.1, 5), (0.1, 10), (0.3, 0), (0.3, 4), (0.3, 8)]  # label and seed


def divergences(moments, rank, split, passes):
    """Divergence of the pairs, all alike, under the fits of both solvers from one start by CNMF-SPA."""
    start = cnmf_spa(moments, rank, split, pad=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mm, _ = cnmf_opt(moments, start, "equal", max_iter=3000, thorough=True)
        mirror, _ = mirror_descent(moments, start, "equal", passes, 1e-6, settings=SYNTHETIC)
    return pair_divergence(moments, mm, "equal"), pair_divergence(moments, mirror, "equal")


@pytest.mark.slow
@pytest.mark.parametrize(("n_variables", "rank", "label", "n_rows", "observed", "passes"), SIMULATED)
def test_simulated_tables(n_variables, rank, label, n_rows, observed, passes):
    truth = simulate.joint_model(n_variables, 10, rank, label, random_state=0)
    table = simulate.joint_table(truth, n_rows, observed, random_state=0)
    mm, mirror = divergences(pairwise_moments(table), rank, 3, passes)
    assert mm <= mirror


@pytest.mark.slow
@pytest.mark.parametrize(("label", "seed"), THIN)
def test_thin_tables(label, seed):
    truth = simulate.joint_model(5, 10, 5, label, random_state=seed)
    table = simulate.joint_table(truth, 1000, 0.5, random_state=seed)
    mm, mirror = divergences(pairwise_moments(table), 5, 3, 500)
    assert mm <= mirror


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rank"), [("votes", 2), ("votes", 6), ("car", 5), ("nursery", 5), ("mushroom", 6)])
def test_tables_of_uci(name, rank):
    split = real.draw_split(name, np.random.default_rng(0))
    mm, mirror = divergences(pairwise_moments(split.fit), rank, None, 20 if name == "mushroom" else 200)
    assert mm <= mirror
