"""Figure 1: rows of a nonnegative factor on the simplex, and what the certificate says of them.

Source: Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP
2021.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cofactor.core.scattering import scattering_certificate
from cofactor.core.types import Floats
from evaluation.experiment import Measurement, experiment, measure

Draw = Callable[[np.random.Generator], Floats]

N_ROWS = 20
NEAR, FAR = 0.08, 0.25  # how far along an edge rows lie from a corner; below 1/3 their hull covers the cone C


def separable_rows(rng: np.random.Generator) -> Floats:
    """Draw rows on the simplex, three of them unit vectors."""
    return np.vstack([np.eye(3), rng.dirichlet(np.ones(3), N_ROWS - 3)])


def scattered_rows(rng: np.random.Generator) -> Floats:
    """Draw rows, six of them on the edges near the corners, none at a corner."""
    ends = [(i, j) for i in range(3) for j in range(3) if i != j]
    edge = np.zeros((6, 3))
    for row, (i, j), share in zip(edge, ends, rng.uniform(NEAR, FAR, 6), strict=True):
        row[i], row[j] = 1 - share, share
    return np.vstack([edge, rng.dirichlet(np.ones(3), N_ROWS - 6)])


def crowded_rows(rng: np.random.Generator) -> Floats:
    """Draw rows inside the simplex, none near a corner."""
    return np.asarray(rng.dirichlet(np.full(3, 4.0), N_ROWS))


KINDS: dict[str, Draw] = {"separable": separable_rows, "scattered": scattered_rows, "neither": crowded_rows}


@experiment(
    "pmf-figure1",
    title="Figure 1: separable and sufficiently scattered rows",
    source="Ibrahim and Fu, IEEE TSP 2021, Figure 1",
    settings={"separable": "separable", "scattered": "sufficiently scattered, not separable", "neither": "neither"},
    metrics={"unique": "share of draws", "1/r": "1", "distance": "1"},
    trials=20,
    told=False,
    plot="simplex",
)
def certified(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Draw rows and judge them; the rows are kept for the picture.

    20 rows in three classes, scaled to sum to one, drawn anew in every trial; the paper shows one picture of each of
    the first two kinds and says nothing of how they were drawn. 'unique': the certificate proves that the factor is
    the only nonnegative one. r is the largest norm in the slice T of the dual cone: one where the hull of the rows
    covers the cone C. 'distance': from the unit vector that no row comes near; zero where separable.
    """
    H = KINDS[setting](rng)
    rows = [Measurement("certificate", f"h{i},{k}", float(value)) for (i, k), value in np.ndenumerate(H)]
    return rows + measure("certificate", lambda: _verdict(H))


def _verdict(H: Floats) -> dict[str, float]:
    found = scattering_certificate(H)
    return {"unique": float(found.holds), "1/r": 1 / found.radius, "distance": float(found.distances.max())}
