"""Choosing rank and ridges by comparisons held out: a function of the data, the settings and a generator alone.

The ridge of biases is chosen first, for biases alone; then, for every rank, ridges of features are tried from large to
small with warm starts. What counts is the mean loss over all comparisons that were held out, in all folds.

    symbol     meaning
    fold       comparisons to learn from, held-out ones, biases learnt from the first
    path       ridges relative to the smallest one at which features vanish
    infinity   the ridge that stands for no features at all
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.linalg import svds

from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.fitting import Settings, fit, fit_biases, objective_of, start_of
from cofactor.comparisons.folds import Split, folds
from cofactor.comparisons.links import link_named
from cofactor.comparisons.loss import excess_loss
from cofactor.comparisons.spectral import residual_matrix
from cofactor.core.types import Floats

HELD_OUT = 0.1  # of a single hold-out, and of hidden items
PATH = np.geomspace(0.5, 1e-3, 9)
BIAS_PATH = np.geomspace(30, 0.1, 6)
PATIENCE = 2  # ridges in a row that do worse before the path ends
EXACT = 1e-3  # root mean square gap on held-out chances below which they are taken for exact
VANISHED = 1e-3  # features this small, relative to a spectral start, count as gone
ROUGH = 1e-4  # tolerance that tells ridges apart; the fit to all comparisons has the caller's


@dataclass(frozen=True)
class Trial:
    """What was tried: rank and ridges, and the mean excess loss on held-out comparisons."""

    rank: int
    ridge: float
    bias_ridge: float
    loss: float


@dataclass(frozen=True)
class Choice:
    """What was chosen: ridge infinity where features do not help; the trials; how many comparisons were held out."""

    rank: int
    ridge: float
    bias_ridge: float
    path: tuple[Trial, ...] = ()
    n_held_out: int = 0


@dataclass(frozen=True)
class _Fold:
    learn: Comparisons
    held: Comparisons
    b: Floats  # empty in a model without biases


def choose(data: Comparisons, settings: Settings, rng: np.random.Generator) -> Choice:
    """Choose what the settings leave open; with one rank and a ridge that is nothing.

    Cost
    ----
    For every fold and rank a fit per ridge of the path, until two in a row do worse.
    """
    if settings.ridge is not None and len(settings.ranks) == 1:
        own = settings.ridge / 4 if settings.bias_ridge is None else settings.bias_ridge
        return Choice(settings.ranks[0], settings.ridge, own)
    splits = split(data, settings, rng)
    bias_ridge = _bias_ridge(splits, settings) if settings.item_bias else 0.0
    parts = [_Fold(*pair, _biases(pair[0], bias_ridge, settings)) for pair in splits]
    path: list[Trial] = []
    for rank in settings.ranks:
        path += _trials(parts, rank, bias_ridge, settings, rng)
        if settings.ridge is None and not path[-1].ridge:  # chances are foretold to a thousandth already
            break
    best = min(path, key=lambda trial: trial.loss)
    n_held_out = sum(len(held) for _, held in splits)
    if np.isinf(best.ridge):  # biases are what is left, also of a model that has none besides features
        return Choice(0, np.inf, _bias_ridge(splits, settings), tuple(path), n_held_out)
    return Choice(best.rank, best.ridge, best.bias_ridge, tuple(path), n_held_out)


def split(data: Comparisons, settings: Settings, rng: np.random.Generator) -> list[Split]:
    """Hold comparisons out: in folds; or a tenth, if that is one fold; or those between items hidden from users."""
    if settings.folds == 1 or settings.new_items:
        return [data.hold_out(HELD_OUT, rng, settings.new_items) for _ in range(settings.folds)]
    return folds(data, settings.folds, rng)


def choose_bias_ridge(splits: Sequence[Split], settings: Settings) -> float:
    """Return the ridge of biases alone with the lowest loss on all held-out comparisons."""
    return float(BIAS_PATH[int(np.argmin([_loss_of_biases(splits, ridge, settings) for ridge in BIAS_PATH]))])


def _loss_of_biases(splits: Sequence[Split], ridge: float, settings: Settings) -> float:
    found = [(held, fit_biases(learn, ridge, settings)) for learn, held in splits]
    return _mean_loss([held for held, _ in found], [b[held.left] - b[held.right] for held, b in found], settings.link)


def _bias_ridge(splits: Sequence[Split], settings: Settings) -> float:
    return choose_bias_ridge(splits, settings) if settings.bias_ridge is None else settings.bias_ridge


def _biases(data: Comparisons, ridge: float, settings: Settings) -> Floats:
    return fit_biases(data, ridge, settings) if settings.item_bias else np.empty(0)


def _mean_loss(held: Sequence[Comparisons], z: Sequence[Floats], link: str) -> float:
    losses = [excess_loss(data, found, link) for data, found in zip(held, z, strict=True)]
    return float(np.average(losses, weights=[data.total for data in held]))


# ---- one rank ----


def _trials(
    parts: Sequence[_Fold], rank: int, bias_ridge: float, settings: Settings, rng: np.random.Generator
) -> list[Trial]:
    starts = [start_of(objective_of(part.learn, rank, 0.0, bias_ridge, settings), part.b, rng) for part in parts]
    if settings.ridge is not None:
        return [_try(parts, Trial(rank, settings.ridge, bias_ridge, 0.0), starts, settings)[0]]
    if not parts[0].learn.noisy and (exact := _exact(parts, rank, starts, settings)):
        return [exact]
    return _follow_path(parts, rank, bias_ridge, starts, settings, rng)


def _exact(parts: Sequence[_Fold], rank: int, starts: list[Floats], settings: Settings) -> Trial | None:
    """Try no ridge at all, where that foretells held-out chances to a thousandth."""
    free = Trial(rank, 0.0, settings.bias_ridge or 0.0, 0.0)
    with warnings.catch_warnings(action="ignore"):
        trial, found = _try(parts, free, starts, settings, settings.tol)
    g = link_named(settings.link).probability
    gaps = [
        g(objective_of(part.held, rank, 0.0, 0.0, settings).differences(x)) - part.held.outcome
        for part, x in zip(parts, found, strict=True)
    ]
    return trial if np.sqrt(np.mean(np.concatenate(gaps) ** 2)) < EXACT else None


def _follow_path(
    parts: Sequence[_Fold],
    rank: int,
    bias_ridge: float,
    starts: list[Floats],
    settings: Settings,
    rng: np.random.Generator,
) -> list[Trial]:
    """Try ridges from none of the features to small, each from the features of the one before."""
    none = [
        part.b[part.held.left] - part.b[part.held.right] if part.b.size else np.zeros(len(part.held)) for part in parts
    ]
    path = [Trial(rank, np.inf, bias_ridge, _mean_loss([part.held for part in parts], none, settings.link))]
    largest = max(vanishing_ridge(part.learn, settings.link, part.b, rng) for part in parts)
    now, best, worse = starts, np.inf, 0
    for ridge in largest * PATH if largest else ():
        trial, now = _try(
            parts, Trial(rank, float(ridge), bias_ridge, 0.0), _revived(now, starts, parts, rank), settings
        )
        path.append(trial)
        worse = worse + 1 if trial.loss > best else 0
        best = min(best, trial.loss)
        if worse == PATIENCE:
            break
    return path


def _revived(now: Sequence[Floats], starts: Sequence[Floats], parts: Sequence[_Fold], rank: int) -> list[Floats]:
    """Return warm starts; one whose features vanished would stay at zero, and is made anew."""
    size = (parts[0].learn.n_users + parts[0].learn.n_items) * rank
    return [
        fresh if np.linalg.norm(x[:size]) < VANISHED * np.linalg.norm(fresh[:size]) else x
        for x, fresh in zip(now, starts, strict=True)
    ]


def _try(
    parts: Sequence[_Fold], trial: Trial, starts: Sequence[Floats], settings: Settings, tol: float = ROUGH
) -> tuple[Trial, list[Floats]]:
    """Fit to every fold; return the trial with its loss on what was held out, and what was fitted."""
    numbers = trial.rank, trial.ridge, trial.bias_ridge
    rough = replace(settings, tol=max(tol, settings.tol))
    found = [fit(objective_of(part.learn, *numbers, rough), x, rough)[0] for part, x in zip(parts, starts, strict=True)]
    z = [objective_of(p.held, *numbers, rough).differences(x) for p, x in zip(parts, found, strict=True)]
    return replace(trial, loss=_mean_loss([part.held for part in parts], z, settings.link)), found


def vanishing_ridge(
    comparisons: Comparisons, link: str, b: Floats, random_state: int | np.random.Generator | None = None
) -> float:
    """Return the smallest ridge at which U = V = 0 is a minimum: the largest singular value of the gradient in X."""
    f = link_named(link)
    G = residual_matrix(comparisons, link, b if b.size else None)
    if not np.any(G.data):
        return 0.0
    v0 = np.random.default_rng(random_state).standard_normal(min(G.shape))
    s = svds(G, k=1, v0=v0, return_singular_vectors=False)
    return float(s[0] * f.information(0.0) / f.steepness(0.0))
