"""The page of anchors: spectra, residuals, mean weights, maps of an image, checks."""

from __future__ import annotations

import numpy as np

from cofactor.core.simplex import spa
from cofactor.separable.columns import MOST_ANCHORS, residuals
from cofactor.verbs.anchors import AnchorsResult
from cofactor_app.pages.render import Picture, report
from cofactor_app.plots.separable import draw_maps, draw_residuals, draw_shares, draw_spectra
from cofactor_app.plots.style import percent

MOST_ROWS = 100  # of the table


def page(result: AnchorsResult) -> str:
    """Return the page of anchors. Cost: that of SPA with 200 anchors, and about a second for the pictures."""
    K, X = len(result.anchors), result.points.X[:, result.used]
    squares = residuals(X, spa(X, min(MOST_ANCHORS, *X.shape)))
    named = result.anchors["point"].tolist()
    cards = [
        (f"{result.points.X.shape[1]:,}", "points"),
        (f"{K:,}", "anchors"),
        (percent(result.left, 1), "of the norm is left by mixtures of them"),
    ]
    pictures: list[tuple[str, Picture]] = [
        ("residuals", draw_residuals(squares, min(K, len(squares)))),
        ("shares", draw_shares(named, result.anchors["mean_weight"], "mean weight")),
    ]
    if (bands := result.wavelengths) is not None:
        pictures.insert(0, ("spectra", draw_spectra(named, bands, result.spectra.to_numpy())))
    if result.points.image is not None:
        maps = result.weights[list(result.spectra)].to_numpy().T.reshape(K, *result.points.image)
        pictures.append(("maps", draw_maps([f"pixel {name}" for name in named], np.asarray(maps))))
    return report(
        "anchors",
        pictures,
        source=result.source,
        method=type(result.method).__name__,
        facts=[*result.summary, *result.details],
        warnings=result.notes,
        cards=cards,
        rows=result.anchors[[name for name in ROWS if name in result.anchors]].head(MOST_ROWS).to_dict("records"),
        diagnosis=result.checks,
    )


ROWS = ("anchor", "point", "row", "column", "score", "mean_weight", "leads")
