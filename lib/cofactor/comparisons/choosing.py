"""Choosing rank and ridges by comparisons held out: a function of the data, the settings and a generator alone.

The ridge of biases is chosen first, for biases alone; then, for every rank, ridges of features are tried from large to
small with warm starts. What counts is the mean loss over all comparisons that were held out, in all folds. A ridge of
infinity stands for no features at all.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.fitting import FitSettings, fit_biases, fit_features, objective_of, start_of
from cofactor.comparisons.folds import Split, folds
from cofactor.comparisons.links import link_named
from cofactor.comparisons.loss import excess_loss
from cofactor.comparisons.spectral import residual_matrix
from cofactor.core.checks import rng_of
from cofactor.core.lazy import sparse_linalg
from cofactor.core.types import Floats, Seed

HELD_OUT = 0.1  # of a single hold-out, and of hidden items
RIDGE_PATH = np.geomspace(0.5, 1e-3, 9)  # ridges, relative to the smallest one at which features vanish
BIAS_PATH = np.geomspace(30, 0.1, 6)
PATIENCE_RIDGES = 2  # ridges in a row that do worse before the path ends
EXACT_CHANCES = 1e-3  # root mean square gap on held-out chances below which they are taken for exact
VANISHED_FEATURES = 1e-3  # features this small, relative to a spectral start, count as gone
ROUGH = 1e-4  # tolerance that tells ridges apart; the fit to all comparisons has the caller's


@dataclass(frozen=True)
class Trial:
    """One setting that was tried: rank, ridges, and the mean excess loss on held-out comparisons."""

    rank: int
    ridge: float
    bias_ridge: float
    loss: float = np.nan


@dataclass(frozen=True)
class Choice:
    """Chosen rank and ridges (infinity: features do not help), all trials, and the number of held-out comparisons."""

    rank: int
    ridge: float
    bias_ridge: float
    path: tuple[Trial, ...] = ()
    n_held_out: int = 0


def choose_rank_and_ridge(data: Comparisons, settings: FitSettings, rng: np.random.Generator) -> Choice:
    """Choose the rank and the ridges that the settings leave to "auto", by the loss on held-out comparisons.

    Cost: for every fold and rank a fit per ridge of the path, until two in a row do worse.
    """
    if settings.ridge is not None and len(settings.ranks) == 1:
        ridge_of_biases = settings.ridge / 4 if settings.bias_ridge is None else settings.bias_ridge
        return Choice(settings.ranks[0], settings.ridge, ridge_of_biases)
    splits = split(data, settings, rng)
    search = _Search(splits, _bias_ridge(splits, settings) if settings.item_bias else 0.0, settings, rng)
    path: list[Trial] = []
    for rank in settings.ranks:
        path += search.trials(rank)
        if settings.ridge is None and not path[-1].ridge:  # exact chances
            break
    best = min(path, key=lambda trial: trial.loss)
    n_held_out = sum(len(held) for _, held in splits)
    if np.isinf(best.ridge):  # biases are what is left, also of a model that has none besides features
        return Choice(0, np.inf, _bias_ridge(splits, settings), tuple(path), n_held_out)
    return Choice(best.rank, best.ridge, best.bias_ridge, tuple(path), n_held_out)


def split(data: Comparisons, settings: FitSettings, rng: np.random.Generator) -> list[Split]:
    """Hold comparisons out: in folds; or a tenth, if that is one fold; or those between items hidden from users."""
    if settings.folds == 1 or settings.new_items:
        return [data.hold_out(HELD_OUT, rng, settings.new_items) for _ in range(settings.folds)]
    return folds(data, settings.folds, rng)


def choose_bias_ridge(splits: Sequence[Split], settings: FitSettings) -> float:
    """Return the ridge of biases alone with the lowest loss on all held-out comparisons."""
    losses = []
    for ridge in BIAS_PATH:
        fits = [fit_biases(learn, ridge, settings, always=True) for learn, _ in splits]
        z = [b[held.left] - b[held.right] for (_, held), b in zip(splits, fits, strict=True)]
        losses.append(_mean_loss(splits, z, settings.link))
    return float(BIAS_PATH[int(np.argmin(losses))])


def _bias_ridge(splits: Sequence[Split], settings: FitSettings) -> float:
    return choose_bias_ridge(splits, settings) if settings.bias_ridge is None else settings.bias_ridge


def _mean_loss(splits: Sequence[Split], z: Sequence[Floats], link: str) -> float:
    losses = [excess_loss(held, found, link) for (_, held), found in zip(splits, z, strict=True)]
    return float(np.average(losses, weights=[held.total for _, held in splits]))


class _Search:
    """Fits to what every split leaves to learn from, and their loss on what it holds out."""

    def __init__(
        self, splits: Sequence[Split], bias_ridge: float, settings: FitSettings, rng: np.random.Generator
    ) -> None:
        self.splits, self.bias_ridge, self.settings, self.rng = splits, bias_ridge, settings, rng
        self.b = [fit_biases(learn, bias_ridge, settings) for learn, _ in splits]

    def trials(self, rank: int) -> list[Trial]:
        """Try one rank: the ridge that is given, none for exact chances, or a path of ridges."""
        starts = [
            start_of(objective_of(learn, rank, 0.0, self.bias_ridge, self.settings), b, self.rng)
            for (learn, _), b in zip(self.splits, self.b, strict=True)
        ]
        if self.settings.ridge is not None:
            return [self._try(Trial(rank, self.settings.ridge, self.bias_ridge), starts)[0]]
        if not self.splits[0][0].noisy and (exact := self._exact(rank, starts)):
            return [exact]
        return self._follow_path(rank, starts)

    def _exact(self, rank: int, starts: list[Floats]) -> Trial | None:
        """Try no ridge at all, where that predicts held-out chances to a thousandth."""
        with warnings.catch_warnings(action="ignore"):
            trial, z = self._try(Trial(rank, 0.0, self.settings.bias_ridge or 0.0), starts, self.settings.tol)[:2]
        g = link_named(self.settings.link).probability
        gaps = [g(found) - held.outcome for (_, held), found in zip(self.splits, z, strict=True)]
        return trial if np.sqrt(np.mean(np.concatenate(gaps) ** 2)) < EXACT_CHANCES else None

    def _follow_path(self, rank: int, starts: list[Floats]) -> list[Trial]:
        """Try ridges from none of the features to small, each from the features of the one before."""
        none = [
            b[held.left] - b[held.right] if b.size else np.zeros(len(held))
            for (_, held), b in zip(self.splits, self.b, strict=True)
        ]
        path = [Trial(rank, np.inf, self.bias_ridge, _mean_loss(self.splits, none, self.settings.link))]
        limits = [
            vanishing_ridge(part[0], self.settings.link, b, self.rng)
            for part, b in zip(self.splits, self.b, strict=True)
        ]
        now, best, worse = starts, np.inf, 0
        for ridge in max(limits) * RIDGE_PATH if any(limits) else ():
            trial, _, now = self._try(Trial(rank, float(ridge), self.bias_ridge), self._revived(now, starts, rank))
            path.append(trial)
            worse = worse + 1 if trial.loss > best else 0
            best = min(best, trial.loss)
            if worse == PATIENCE_RIDGES:
                break
        return path

    def _revived(self, now: Sequence[Floats], starts: Sequence[Floats], rank: int) -> list[Floats]:
        """Return warm starts; one whose features vanished would stay at zero, and is made anew."""
        data = self.splits[0][0]
        size = (data.n_users + data.n_items) * rank
        return [
            fresh if np.linalg.norm(x[:size]) < VANISHED_FEATURES * np.linalg.norm(fresh[:size]) else x
            for x, fresh in zip(now, starts, strict=True)
        ]

    def _try(
        self, trial: Trial, starts: Sequence[Floats], tol: float = ROUGH
    ) -> tuple[Trial, list[Floats], list[Floats]]:
        """Fit to every split: the trial with its loss, held-out differences of utilities, and what was fitted."""
        numbers = trial.rank, trial.ridge, trial.bias_ridge
        rough = replace(self.settings, tol=max(tol, self.settings.tol))
        z, found = [], []
        for (learn, held), start in zip(self.splits, starts, strict=True):
            found.append(fit_features(objective_of(learn, *numbers, rough), start, rough)[0])
            z.append(objective_of(held, *numbers, rough).differences(found[-1]))
        return replace(trial, loss=_mean_loss(self.splits, z, rough.link)), z, found


def vanishing_ridge(comparisons: Comparisons, link: str, b: Floats, random_state: Seed = None) -> float:
    """Return the smallest ridge at which U = V = 0 is a minimum: the largest singular value of the gradient in X."""
    f = link_named(link)
    G = residual_matrix(comparisons, link, b if b.size else None)
    if not np.any(G.data):
        return 0.0
    v0 = rng_of(random_state).standard_normal(min(G.shape))
    s = sparse_linalg.svds(G, k=1, v0=v0, return_singular_vectors=False)
    return float(s[0] * f.information(0.0) / f.steepness(0.0))
