"""The five pages of reports, drawn from small fixed data, and the stored fingerprints of their figures.

`python -m tests.plots.drawn` stores them anew.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor import simulate
from cofactor_app.pages import render
from tests.fingerprint import fingerprint

STORED = Path(__file__).with_name("fingerprints")


def labels():
    """Labels of nine workers of two kinds, with intervals."""
    model = simulate.dawid_skene_model(9, 3, skill=0.5, random_state=1)
    return cf.aggregate(simulate.crowd(model, 80, 0.6, random_state=1).labels, method="MV-EM", draws=10)


def votes():
    """Votes between six items."""
    rng = np.random.default_rng(0)
    pairs = np.array([rng.permutation(6)[:2] for _ in range(90)])
    ahead = rng.random(90) < 1 / (1 + np.exp(pairs[:, 0] - pairs[:, 1]))
    best = np.where(ahead, pairs[:, 0], pairs[:, 1])
    return cf.rank(pd.DataFrame({"winner": best, "loser": pairs.sum(axis=1) - best}).astype(str))


def table():
    """Two latent classes, and gaps."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 200)
    frame = pd.DataFrame({f"q{n}": kind ^ (rng.random(200) < 0.1) for n in range(4)}).astype(str)
    return cf.joint(frame.mask(rng.random(frame.shape) < 0.1), method="RAND-EM", rank=2)


def points():
    """Mixtures of three pure columns."""
    rng = np.random.default_rng(0)
    X = rng.random((8, 3)) @ np.hstack([np.eye(3), rng.dirichlet(np.ones(3), 30).T])
    return cf.anchors(X, n_anchors=3)


def texts():
    """Counts of the words of two topics."""
    counts = np.random.default_rng(0).poisson(np.kron(np.eye(2), np.full((20, 5), 2.0)) + 0.1)
    return cf.topics(pd.DataFrame(counts, columns=[f"word{n}" for n in range(10)]), n_topics=2)


PAGES = {make.__name__: make for make in (labels, votes, table, points, texts)}


def text_of(name):
    """Fingerprints of the figures of this page, one after the other."""
    found = []
    with (
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(action="ignore"),
        tempfile.TemporaryDirectory() as folder,
    ):
        patch.setattr(render, "to_png", lambda figure, dpi: found.append(figure) or b"")
        PAGES[name]().report(Path(folder, "page.html"))
    return "\n".join(map(fingerprint, found)) + "\n"


if __name__ == "__main__":
    STORED.mkdir(exist_ok=True)
    for page in sys.argv[1:] or PAGES:
        (STORED / f"{page}.txt").write_text(text_of(page), encoding="utf8", newline="\n")
