"""How near finders of pure columns, and SISAL, come where no column is pure: angles in degrees.

    python -m evaluation.separable.corners [DRAWS] > table.csv

Draws mixtures of K pure columns, uniform on (0, 1) in 50 rows, with weights uniform where none is above `most`; adds
noise, and in one family each outliers, brightness or many columns. K-means on columns of length one is the trivial
answer. `lam` of SISAL is its default, and once 0.1; nothing was set by these numbers.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from cofactor.core.errors import ConvergenceWarning, DataWarning
from cofactor.core.types import Floats
from cofactor.separable import METHODS

PURE = 2.0  # in place of the largest weight: the last K columns are pure
FAMILIES = {  # K, columns, dB, the largest weight, outliers, spread of brightness
    "as below": (5, 1000, 30.0, 0.8, 0, 0.0),
    "pure columns nearly there": (5, 1000, 30.0, 1.0, 0, 0.0),
    "no weight above 0.6": (5, 1000, 30.0, 0.6, 0, 0.0),
    "3 pure columns": (3, 300, 30.0, 0.8, 0, 0.0),
    "10 pure columns": (10, 2000, 30.0, 0.8, 0, 0.0),
    "40 dB": (5, 1000, 40.0, 0.8, 0, 0.0),
    "20 dB": (5, 1000, 20.0, 0.8, 0, 0.0),
    "20 dB, 10,000 columns": (5, 10_000, 20.0, 0.8, 0, 0.0),
    "1 outlier": (5, 1000, 30.0, 0.8, 1, 0.0),
    "10 outliers": (5, 1000, 30.0, 0.8, 10, 0.0),
    "50 outliers": (5, 1000, 30.0, 0.8, 50, 0.0),
    "brightness varies by 20 %": (5, 1000, 30.0, 0.8, 0, 0.2),
    "pure columns there": (5, 1000, 30.0, PURE, 0, 0.0),
    "pure columns there, 10,000 columns": (5, 10_000, 30.0, PURE, 0, 0.0),
}


def draw(family: str, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return pure columns and mixtures, of which the first may be outliers: other columns, uniform on (0, 1)."""
    K, N, decibels, most, outliers, spread = FAMILIES[family]
    W, H = rng.random((50, K)), np.empty((K, 0))
    while H.shape[1] < N:
        more = rng.dirichlet(np.ones(K), 4 * N).T
        H = np.hstack([H, more[:, more.max(axis=0) < most]])
    H = np.hstack([H[:, : N - K], np.eye(K)]) if most == PURE else H[:, :N]
    X = W @ H * np.exp(spread * rng.standard_normal(N))
    X[:, :outliers] = rng.random((50, outliers))
    return W, X + rng.standard_normal(X.shape) * np.sqrt(np.mean(X**2) / 10 ** (decibels / 10))


def mean_angle(W: Floats, found: Floats) -> float:
    """Return the mean angle between columns matched one to one, in degrees."""
    cosines = (W / np.linalg.norm(W, axis=0)).T @ (found / np.linalg.norm(found, axis=0))
    angle = np.degrees(np.arccos(np.clip(cosines, -1, 1)))
    return float(angle[linear_sum_assignment(angle)].mean())


def by_means(X: Floats, K: int, seed: int) -> Floats:
    """Return the centres of k-means on columns of length one."""
    from sklearn.cluster import KMeans

    centres = KMeans(K, n_init=3, random_state=seed).fit((X / np.linalg.norm(X, axis=0)).T).cluster_centers_
    return np.asarray(centres.T)


def measured(n_draws: int) -> Iterator[dict[str, object]]:
    """Yield a row per draw."""
    for number, family in enumerate(FAMILIES):
        K, N = FAMILIES[family][:2]
        for seed in range(n_draws):
            W, X = draw(family, np.random.default_rng([29, number, seed]))
            row: dict[str, object] = {"family": family, "k-means": mean_angle(W, by_means(X, K, seed))}
            for name in ("SPA", "VCA", *(["MERIT"] if N <= 1000 else []), "SISAL"):
                row[name] = mean_angle(W, METHODS[name](K, random_state=seed).fit(X).W_)
            row["SISAL, lam 0.1"] = mean_angle(W, METHODS["SISAL"](K, lam=0.1, random_state=seed).fit(X).W_)
            scaled = METHODS["SISAL"](K, random_state=seed).fit(X / X.sum(axis=0)).W_
            row["SISAL, scaled"] = mean_angle(W, scaled)
            yield row


def main() -> None:
    """Print means and their standard errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows = pd.DataFrame(measured(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
    grouped = rows.groupby("family", sort=False)
    print(grouped.mean().round(2).assign(draws=grouped.size()).to_csv())
    print(grouped.sem().round(2).to_csv())


if __name__ == "__main__":
    main()
