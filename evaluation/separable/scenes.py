"""How near finders of pure spectra come on simulated scenes: mean spectral angle in degrees, and when k-means is ahead.

    python -m evaluation.separable.scenes [DRAWS]

Draws 3 to 6 smooth spectra of 60 bands and 1000 pixels that are mixtures of them; noise is Gaussian. Where brightness
varies, pixels are divided by their sums first, as `cofactor anchors --scale` does. K-means by angle is the trivial
answer. The last column counts the draws in which `cofactor anchors` warns that the anchors are hardly pure; its factor
FAR was set on these scenes.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from cofactor.core.types import Floats
from cofactor.separable import METHODS
from cofactor.separable.projected import angular_means, held_out_angles
from cofactor.verbs.anchors import FAR

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


def spectra(n_spectra: int, rng: np.random.Generator) -> Floats:
    """Draw smooth spectra: a rising curve with five peaks or dips."""
    t, W = np.linspace(0, 1, BANDS)[:, None], np.empty((BANDS, n_spectra))
    for k in range(n_spectra):
        place, width, height = rng.random(5), rng.uniform(0.03, 0.15, 5), rng.uniform(-0.25, 0.35, 5)
        peaks = (height * np.exp(-(((t - place) / width) ** 2) / 2)).sum(axis=1)
        W[:, k] = 0.25 + 0.5 * rng.random() * t[:, 0] ** rng.uniform(0.3, 2) + peaks
    return np.clip(W, 0.02, 1.2)


def draw(scene: str, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the pure spectra and the pixels, scaled where brightness varies."""
    decibels, alpha, pure, spread = SCENES[scene]
    K = int(rng.integers(3, 7))
    W, H = spectra(K, rng), rng.dirichlet(np.full(K, alpha), (1 if pure else 12) * PIXELS).T
    if pure:
        H[:, :K] = np.eye(K)
    else:
        H = H[:, H.max(axis=0) < 0.8][:, :PIXELS]
    X = W @ H * np.exp(spread * rng.standard_normal(H.shape[1]))
    if scene == HARD:
        X *= 1 + 0.1 * np.cumsum(rng.standard_normal(X.shape), axis=0) / np.sqrt(BANDS)
        X[:, 10:100] *= 0.05
        X[:, K : K + 10] = spectra(10, rng)
    X = X + rng.standard_normal(X.shape) * np.sqrt(np.mean(X**2) / 10 ** (decibels / 10))
    return W, X / np.abs(X.sum(axis=0)) if spread else X


def mean_angle(W: Floats, found: Floats) -> float:
    """Return the mean angle between columns matched one to one, in degrees."""
    cosines = (W / np.linalg.norm(W, axis=0)).T @ (found / np.linalg.norm(found, axis=0))
    angle = np.degrees(np.arccos(np.clip(cosines, -1, 1)))
    return float(angle[linear_sum_assignment(angle)].mean())


def measured(scene: str, seed: int) -> dict[str, float]:
    """Return the angles of one draw, and whether k-means explains held-out pixels better."""
    W, X = draw(scene, np.random.default_rng(seed))
    K = W.shape[1]
    row = {"k-means": mean_angle(W, angular_means(X, K))}
    for name in ("SPA", "FastAnchor", "ProjectedSPA"):
        row[name] = mean_angle(W, METHODS[name](K, random_state=0).fit(X).W_)
    held_out = held_out_angles(X, lambda half: METHODS["ProjectedSPA"](K).fit(half).W_, K)
    assert held_out is not None
    return row | {"warned": float(held_out.centres < held_out.mixtures or held_out.ratio > FAR)}


def main(draws: int = 20) -> None:
    """Print the means over all draws, and how often there is a warning."""
    found = {scene: pd.DataFrame([measured(scene, seed) for seed in range(draws)]) for scene in SCENES}
    table = pd.DataFrame({scene: rows.mean() for scene, rows in found.items()}).T
    warned = [f"{int(rows['warned'].sum())} of {draws}" for rows in found.values()]
    print(table.round(1).assign(warned=warned).to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
