"""The report before anchors are chosen: what is wrong is named, and the methods agree with it."""

import sys

import numpy as np
import pytest
from scipy import sparse

from cofactor import CofactorError, simulate
from cofactor.separable import METHODS, diagnose
from cofactor.separable.methods import OF_POINTS
from tests.each import each

PROBLEM = simulate.dirichlet_mixtures(30, 150, 5, snr_db=30, random_state=0)


def test_a_sound_matrix_passes():
    report = diagnose(np.abs(PROBLEM.X))
    assert report.status == "pass", report
    assert report.verdict == "no method is ruled out"
    assert report["condition of the anchors"].value == f"{np.linalg.cond(np.abs(PROBLEM.X)[:, PROBLEM.anchors]):.3g}"


def spoiled(kind):
    """Return the matrix with one thing wrong, and the number of anchors to plan."""
    X, sizes = np.abs(PROBLEM.X) + 0.1, np.random.default_rng(0).uniform(1, 100, PROBLEM.X.shape[1])
    W = np.random.default_rng(0).random((30, 4))
    if kind in ("NaN", "infinity"):
        X[2, [3, 7]] = np.nan if kind == "NaN" else np.inf
    elif kind == "nothing beside the others":
        X[:, 7] = 1e-20
    elif kind == "equal":
        X[:, 9] = X[:, 4]
    elif kind == "signs":
        X *= sizes
        X[0, :15] *= -1
    elif kind == "near":
        W[:, 3] = W[:, :3].mean(axis=1) + 1e-4 * W[:, 3]
    others = {
        "zeros": (np.insert(X, [0, 80], 0.0, axis=1), None),
        "many equal": (np.random.default_rng(0).random((5, 40))[:, [0] * 30 + list(range(30, 40))], 3),
        "sizes": (X * sizes, None),
        "noise": (np.random.default_rng(0).standard_normal((30, 200)), None),
        "near": (W @ np.hstack([np.eye(4), np.random.default_rng(1).dirichlet(np.ones(4), 50).T]), 4),
        "few": (PROBLEM.X, 2),
        "many": (simulate.dirichlet_mixtures(5, 60, 8, snr_db=30, random_state=0).X, 8),
    }
    return others.get(kind, (X, None))


@pytest.mark.slow
@each(
    "kind, check, status, value",
    [
        ("NaN", "finite", "fail", "NaN or infinity in columns 3, 7"),
        ("infinity", "finite", "fail", "NaN or infinity in columns 3, 7"),
        ("zeros", "zero columns", "warn", "2: 0, 81"),
        ("nothing beside the others", "zero columns", "warn", "1: 7"),
        ("equal", "equal columns", "warn", "1 group: (4, 9)"),
        ("many equal", "equal columns", "warn", "1 group: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... (30 in all))"),
        ("sizes", "scale", "warn", ""),
        ("signs", "scale", "pass", f"{15 / PROBLEM.X.size:.1%} of the entries are negative"),
        ("noise", "number of anchors", "warn", ""),
        ("near", "condition of the anchors", "warn", ""),
        ("few", "residual", "warn", ""),
        ("many", "number of anchors", "warn", "8 requested, 5 found"),
    ],
)
def test_what_is_wrong_is_named_whatever_the_unit_and_the_storage(kind, check, status, value):
    X, K = spoiled(kind)
    report = diagnose(X, K)
    assert (report[check].status, report[check].value) == (status, value or report[check].value)
    if status != "fail":
        scaled = X / np.abs(X).max()
        for other in (sparse.csr_array(X), np.ldexp(scaled, -1000), np.ldexp(scaled, 1023)):
            assert diagnose(other, K)[check].status == status, other
    if kind == "zeros":
        sound = diagnose(np.delete(X, [0, 81], axis=1))
        assert all(report[name] == sound[name] for name in ("number of anchors", "condition of the anchors"))


@each("name", OF_POINTS)
def test_what_fails_every_method_refuses(name):
    for value in (np.nan, np.inf):
        X = PROBLEM.X.copy()
        X[0, [3, 7]] = value
        with pytest.raises(CofactorError, match=r"NaN or infinity in 2 columns \(3, 7\)"):
            METHODS[name](5).fit(X)
    assert diagnose(np.zeros((4, 6))).verdict == "no method can find anchors (zero columns)"
    with pytest.raises(CofactorError, match="all entries of X are zero"):
        METHODS[name](2).fit(np.zeros((4, 6)))
    for X in (np.zeros(3), np.zeros((0, 4))):
        for call in (METHODS[name](2).fit, diagnose):
            with pytest.raises(CofactorError, match="non-empty matrix"):
                call(X)
    for n_anchors in (0, 151, 2.5):
        for call in (METHODS[name](n_anchors).fit, lambda X, n=n_anchors: diagnose(X, n)):
            with pytest.raises(CofactorError, match=f"n_anchors={n_anchors}: X has 150 columns"):
                call(PROBLEM.X)


def test_memory_beyond_what_is_free_is_told(monkeypatch):
    module = sys.modules["cofactor.separable.diagnose"]  # the package's attribute of this name is the function
    monkeypatch.setattr(module, "available_bytes", lambda: 1e6)
    check = diagnose(PROBLEM.X)["memory"]
    assert check.status == "warn" and "MERIT" in check.advice
