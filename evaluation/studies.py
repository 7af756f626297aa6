"""A study beyond the papers, whose numbers docs/topics.md quotes; nothing is kept of it.

    python -m evaluation.studies [DRAWS] > table.csv

How often the number of anchors is right, and how many anchors are found, where some columns are outliers. Draws
mixtures of 2 to 10 anchors, 20 to 150 rows, 150 or 400 columns, at 10 to 35 dB, from families that differ in one thing;
spoils none, one or two columns. `GROWTH` and `WHITE` of `cofactor.separable.columns` were set on uniform mixtures and
looked at on all.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd

from cofactor.core.errors import DataWarning
from cofactor.core.spa import spa
from cofactor.core.types import Floats, Indices
from cofactor.separable import lone_columns, suggest_n_anchors
from cofactor.separable.columns import CLEAR_MARGIN

OUTLIERS = {
    "uniform": "weights uniform on the simplex, pure columns uniform",
    "sparse": "weights of Dirichlet 0.3",
    "inner": "weights of Dirichlet 3: few near the corners",
    "rare": "one anchor of which others hold a third of their share",
    "midpoints": "half-way points of 6 to 10 anchors",
    "smooth": "pure columns are smooth spectra on a common slope: alike",
    "shade": "columns brighter or darker by some 20 per cent",
    "rows": "noise of another size in every row",
    "varied": "columns vary smoothly by some per cent, as materials do",
}
KINDS = ("none", "spectrum", "hot", "glint", "dark", "two")


def spectra(family: str, rng: np.random.Generator) -> tuple[Floats, int]:
    """Return columns, of which the first K are pure, and K."""
    K = int(rng.integers(6 if family == "midpoints" else 2, 11))
    M, N = int(rng.choice([20, 50, 150])), int(rng.choice([150, 400]))
    alpha = {"sparse": 0.3, "inner": 3.0}.get(family, 1.0)
    H = rng.dirichlet(np.full(K, alpha), N - K).T
    if family == "rare":
        H[0] *= 0.3
        H /= H.sum(axis=0)
    if family == "midpoints":
        one, other = np.triu_indices(K, 1)
        H = (np.eye(K)[one] + np.eye(K)[other]).T / 2
    S = (_smooth(M, K, rng) if family == "smooth" else rng.random((M, K))) @ np.hstack([np.eye(K), H])
    if family == "shade":
        S *= np.exp(0.2 * rng.standard_normal(S.shape[1]))
    if family == "varied":
        S *= 1 + 0.02 * np.cumsum(rng.standard_normal(S.shape), axis=0) / np.sqrt(M)
    noise = rng.standard_normal(S.shape) * (np.exp(rng.standard_normal((M, 1))) if family == "rows" else 1.0)
    level = np.mean(S**2) / np.mean(noise**2) / 10 ** (rng.uniform(10, 35) / 10)
    return S + np.sqrt(level) * noise, K


def _smooth(M: int, K: int, rng: np.random.Generator) -> Floats:
    x = np.linspace(0, 1, M)[:, None, None]
    centre, width, height = rng.random((1, K, 4)), rng.uniform(0.05, 0.3, (1, K, 4)), rng.random((1, K, 4))
    return np.asarray(0.5 + 0.3 * x[:, :, 0] + 0.5 * (height * np.exp(-(((x - centre) / width) ** 2) / 2)).sum(axis=2))


def spoil(X: Floats, K: int, kind: str, rng: np.random.Generator) -> None:
    """Turn one mixture, or two, into another spectrum, one with a hot entry, a glint, or a dark column."""
    chosen = rng.choice(np.arange(K, X.shape[1]), 2, replace=False)
    for n, one in zip(chosen, ("spectrum", "hot") if kind == "two" else (kind,), strict=False):
        if one == "spectrum":
            X[:, n] = rng.random(len(X)) * rng.uniform(0.5, 2) * X.max()
        elif one == "hot":
            X[rng.integers(len(X)), n] += X.max() * np.exp(rng.uniform(0, np.log(30)))
        elif one == "glint":
            X[:, n] *= np.exp(rng.uniform(np.log(1.5), np.log(30)))
        elif one == "dark":
            X[:, n] *= rng.uniform(0, 0.3)


def outliers(n_draws: int) -> Iterator[dict[str, object]]:
    """Yield a row per draw."""
    for number, family in enumerate(OUTLIERS):
        for draw_number in range(n_draws):
            for place, kind in enumerate(KINDS):
                rng = np.random.default_rng([23, number, draw_number, place])
                X, K = spectra(family, rng)
                spoil(X, K, kind, rng)
                k, margin = suggest_n_anchors(X)
                lone = lone_columns(X)
                kept = np.delete(np.arange(X.shape[1]), lone_columns(X, K))
                yield {
                    "family": family,
                    "spoiled": kind,
                    "number right": k == K,
                    "clear": margin >= CLEAR_MARGIN,
                    "right where clear": float(k == K) if margin >= CLEAR_MARGIN else np.nan,
                    "pure left out": float((lone < K).any()),
                    "found of all": _found(np.arange(X.shape[1]), X, K),
                    "found": _found(kept, X, K),
                }


def _found(kept: Indices, X: Floats, K: int) -> float:
    return float(np.isin(np.arange(K), kept[spa(X[:, kept], K, restart=True)]).mean())


def main(n_draws: int = 30) -> None:
    """Print means by family, and by what was spoiled, and their standard errors."""
    with warnings.catch_warnings(action="ignore", category=DataWarning):
        rows = pd.DataFrame(outliers(n_draws))
    for by in ("family", "spoiled"):
        grouped = rows.drop(columns={"family", "spoiled"} - {by}).groupby(by, sort=False)
        print(grouped.mean().round(3).assign(draws=grouped.size()).to_csv())
        print(grouped.sem().round(3).to_csv())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
