"""Two studies beyond the papers, whose numbers docs/topics.md quotes; nothing is kept of them.

    python -m evaluation.studies scenes [DRAWS]
    python -m evaluation.studies outliers [DRAWS]

`scenes`: how near finders of pure spectra come on simulated scenes, mean spectral angle in degrees, and when k-means is
ahead. Draws 3 to 6 smooth spectra of 60 bands and 1000 pixels that are mixtures of them; noise is Gaussian. Where
brightness varies, pixels are divided by their sums first, as `cofactor anchors --scale` does. K-means by angle is the
trivial answer. "warned" is the share of draws in which `cofactor anchors` warns that anchors may not be pure; its
factor FAR was set on these scenes.

`outliers`: how often the number of anchors is right, and how many anchors are found, where some columns are outliers.
Draws mixtures of 2 to 10 anchors, 20 to 150 rows, 150 or 400 columns, at 10 to 35 dB, from families that differ in one
thing each; spoils none, one or two columns. `GROWTH` and `WHITE` of `cofactor.separable.columns` were set on uniform
mixtures and looked at on all.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from cofactor.core.errors import ConvergenceWarning, DataWarning
from cofactor.core.simplex import spa
from cofactor.core.types import Floats, Indices
from cofactor.separable import METHODS, lone_columns, suggest_n_anchors
from cofactor.separable.columns import CLEAR_MARGIN
from cofactor.separable.projected import angular_means, held_out_angles
from cofactor.verbs.anchors import FAR

# ---- scenes ----

BANDS, PIXELS = 60, 1000
SCENES = {  # dB, parameter of the Dirichlet weights, whether pure pixels are put in, spread of brightness
    "30 dB": (30.0, 1.0, True, 0.0),
    "20 dB": (20.0, 1.0, True, 0.0),
    "15 dB": (15.0, 1.0, True, 0.0),
    "brightness varies by 30 %": (30.0, 1.0, True, 0.3),
    "weights near the middle": (30.0, 3.0, True, 0.0),
    "most pixels pure": (30.0, 0.1, True, 0.0),
    "no pixel above 0.8": (30.0, 1.0, False, 0.0),
    "shadow, ten odd pixels, materials that vary": (30.0, 0.1, True, 0.3),
}
HARD = "shadow, ten odd pixels, materials that vary"


def curves(n_spectra: int, rng: np.random.Generator) -> Floats:
    """Draw smooth spectra: a rising curve with five peaks or dips."""
    t, W = np.linspace(0, 1, BANDS)[:, None], np.empty((BANDS, n_spectra))
    for k in range(n_spectra):
        place, width, height = rng.random(5), rng.uniform(0.03, 0.15, 5), rng.uniform(-0.25, 0.35, 5)
        peaks = (height * np.exp(-(((t - place) / width) ** 2) / 2)).sum(axis=1)
        W[:, k] = 0.25 + 0.5 * rng.random() * t[:, 0] ** rng.uniform(0.3, 2) + peaks
    return np.clip(W, 0.02, 1.2)


def scene_of(scene: str, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the pure spectra and the pixels, scaled where brightness varies."""
    decibels, alpha, pure, spread = SCENES[scene]
    K = int(rng.integers(3, 7))
    W, H = curves(K, rng), rng.dirichlet(np.full(K, alpha), (1 if pure else 12) * PIXELS).T
    if pure:
        H[:, :K] = np.eye(K)
    else:
        H = H[:, H.max(axis=0) < 0.8][:, :PIXELS]
    X = W @ H * np.exp(spread * rng.standard_normal(H.shape[1]))
    if scene == HARD:
        X *= 1 + 0.1 * np.cumsum(rng.standard_normal(X.shape), axis=0) / np.sqrt(BANDS)
        X[:, 10:100] *= 0.05
        X[:, K : K + 10] = curves(10, rng)
    X = X + rng.standard_normal(X.shape) * np.sqrt(np.mean(X**2) / 10 ** (decibels / 10))
    return W, X / np.abs(X.sum(axis=0)) if spread else X


def mean_angle(W: Floats, found: Floats) -> float:
    """Return the mean angle between columns matched one to one, in degrees."""
    cosines = (W / np.linalg.norm(W, axis=0)).T @ (found / np.linalg.norm(found, axis=0))
    angle = np.degrees(np.arccos(np.clip(cosines, -1, 1)))
    return float(angle[linear_sum_assignment(angle)].mean())


def scenes(n_draws: int) -> Iterator[dict[str, object]]:
    """Yield the angles of every draw, and whether `cofactor anchors` warns that k-means is ahead."""
    for scene in SCENES:
        for seed in range(n_draws):
            W, X = scene_of(scene, np.random.default_rng(seed))
            K = W.shape[1]
            row: dict[str, object] = {"scene": scene, "k-means": mean_angle(W, angular_means(X, K))}
            for name in ("SPA", "FastAnchor", "ProjectedSPA"):
                row[name] = mean_angle(W, METHODS[name](K, random_state=0).fit(X).W_)
            held_out = held_out_angles(X, lambda half, K=K: METHODS["ProjectedSPA"](K).fit(half).W_, K)
            assert held_out is not None
            yield row | {"warned": float(held_out.centres < held_out.mixtures or held_out.ratio > FAR)}


# ---- outliers ----

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


STUDIES = {"scenes": (scenes, 20, ["scene"]), "outliers": (outliers, 30, ["family", "spoiled"])}


def main(name: str, *draws: str) -> None:
    """Print means by family, and by what else differs, and their standard errors."""
    study, usual, differ = STUDIES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows = pd.DataFrame(study(int(draws[0]) if draws else usual))
    for by in differ:
        grouped = rows.drop(columns=set(differ) - {by}).groupby(by, sort=False)
        print(grouped.mean().round(3).assign(draws=grouped.size()).to_csv())
        print(grouped.sem().round(3).to_csv())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
