"""Scores that arenas use, beside `rank`: Elo, the average win rate, PageRank; and what their chances are worth.

Each gives items a number without intervals. Two items compare by Elo's formula, or as the one score to the sum of both.

Source: Elo, "The rating of chessplayers, past and present", 1978; Page, Brin, Motwani and Winograd, "The PageRank
citation ranking", 1998, a loser linking to the winner.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.comparisons import davidson, evidence
from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.ranking import checked, covariate_scales
from cofactor.core.lazy import pd
from cofactor.core.types import Floats

# points a comparison moves at most, of a new item, and for odds of ten
K = 16.0
START_POINTS = 1500.0
POINTS_OF_TEN = 400.0
DAMPING, PAGERANK_ROUNDS = 0.85, 200
LEAST_CHANCE = 1e-3  # chance of a score that is zero, so that its log-loss is a number


def baseline_scores(comparisons: Comparisons) -> pd.DataFrame:
    """Return a row per item: elo (K = 16, start 1500), average_win_rate over opponents, and pagerank (damping .85).

    A tie is half a win. Elo depends on the order of comparisons, which is that of `comparisons`: sorted by user, and of
    one user as given. Items without comparisons have Elo's start and a win rate of NaN.

    Raises a CofactorError where outcomes are others than 1, 0 and 0.5. Cost: O(m + n^2).

    >>> baseline_scores(Comparisons([0] * 3, [0, 0, 1], [1, 2, 2], [1, 1, 1])).round(2).values.tolist()
    [[0, 1515.82, 1.0, 0.52], [1, 1500.0, 0.5, 0.28], [2, 1484.18, 0.0, 0.2]]
    """
    data = checked(comparisons)[0]
    columns = {"elo": _elo(data), "average_win_rate": _average_win_rate(data), "pagerank": _pagerank(data)}
    return pd.DataFrame({"item": pd.Series(list(data.items), dtype=object), **columns})


def baseline_losses(comparisons: Comparisons, covariates: pd.DataFrame | ArrayLike | None = None) -> dict[str, float]:
    """Return the mean log-loss on comparisons that were held out in five folds: of `rank`, its baselines, and a guess.

    The chance of a tie is its share among the others, for all but `rank`; the trivial guess knows nothing else. Each
    fold is learnt from the others, the prior of `rank` included.

    Raises a CofactorError as `rank`. Cost: five fits of `rank` without intervals.

    >>> data = Comparisons([0] * 60, [0, 0, 1] * 20, [1, 2, 2] * 20, [1, 1, 1, 1, 0] * 12)
    >>> {name: round(loss, 2) for name, loss in baseline_losses(data).items()}
    {'rank': 0.56, 'Elo': 0.57, 'average win rate': 0.55, 'PageRank': 0.63, 'trivial guess': 0.69}
    """
    data, _, X = checked(comparisons, covariates)
    X = X / covariate_scales(X)
    fold = np.random.default_rng(0).permutation(np.arange(len(data)) % evidence.FOLDS)
    losses: dict[str, float] = {}
    for k in range(min(evidence.FOLDS, len(data))):
        held = davidson.rows_of(data.take(fold == k), X[fold == k])
        learn = data.take(fold != k) if (fold != k).any() else data
        for name, chances in _chances(learn, X[fold != k], held).items():
            losses[name] = losses.get(name, 0.0) + evidence.loss_of(held, chances)
    return {name: loss / data.total for name, loss in losses.items()}


def _chances(learn: Comparisons, X: Floats, held: davidson.Cells) -> dict[str, evidence.Chances]:
    rows = davidson.rows_of(learn, X)
    ties = (float(rows.tied.sum()) + 0.5) / (float(rows.total.sum()) + 1) if held.has_ties or rows.has_ties else 0.0
    elo = _elo(learn)[[held.left, held.right]]
    win = {"Elo": 1 / (1 + 10 ** ((elo[1] - elo[0]) / POINTS_OF_TEN))}
    for name, score in {"average win rate": _average_win_rate(learn), "PageRank": _pagerank(learn)}.items():
        one, two = np.nan_to_num(score, nan=0.5)[[held.left, held.right]] + LEAST_CHANCE / len(score)
        win[name] = one / (one + two)
    win["trivial guess"] = np.full(len(held.left), 0.5)
    found = {name: ((1 - ties) * p, (1 - ties) * (1 - p), np.full(len(p), ties)) for name, p in win.items()}
    return {"rank": _of_rank(rows, held, ties), **found}


def _of_rank(rows: davidson.Cells, held: davidson.Cells, ties: float) -> evidence.Chances:
    cells = davidson.pairs_of(rows)
    decided = (rows.won + rows.lost).any()
    u, beta, tau = cells.split(evidence.chosen(cells)[2].theta if decided else np.zeros(cells.size))
    z = u[held.left] - u[held.right] + held.X @ beta
    win, lose, tie = davidson.outcome_chances(z, tau if decided else -np.inf)
    if not (rows.has_ties and decided):  # how common ties are cannot be learnt
        win, lose, tie = (1 - ties) * win, (1 - ties) * lose, np.full(len(win), ties)
    return win, lose, tie


def _elo(data: Comparisons) -> Floats:
    rating = [START_POINTS] * data.n_items
    weight = np.ones(len(data)) if data.counts is None else data.counts
    columns = (data.left.tolist(), data.right.tolist(), data.outcome.tolist(), weight.tolist())
    for i, j, won, often in zip(*columns, strict=True):
        gain = K * min(often, 1.0) * (won - 1 / (1 + 10 ** ((rating[j] - rating[i]) / POINTS_OF_TEN)))
        rating[i] += gain
        rating[j] -= gain
    return np.array(rating)


def _average_win_rate(data: Comparisons) -> Floats:
    cells = davidson.pairs_of(davidson.rows_of(data, np.zeros((len(data), 0))))
    rate, n = (cells.won + cells.tied / 2) / cells.total, data.n_items
    opponents = np.bincount(cells.left, minlength=n) + np.bincount(cells.right, minlength=n)
    rates = np.bincount(cells.left, rate, n) + np.bincount(cells.right, 1 - rate, n)
    return np.where(opponents > 0, rates / np.maximum(opponents, 1), np.nan)


def _pagerank(data: Comparisons) -> Floats:
    n, weight = data.n_items, np.ones(len(data)) if data.counts is None else data.counts
    links = np.concatenate([weight * data.outcome, weight * (1 - data.outcome)])
    winner, loser = np.append(data.left, data.right), np.append(data.right, data.left)
    A = sparse.csr_array((links, (winner, loser)), (n, n))
    lost = np.asarray(A.sum(axis=0))
    score = np.full(n, 1 / n)
    for _ in range(PAGERANK_ROUNDS):
        passed = A @ (score / np.where(lost > 0, lost, 1.0)) + score[lost == 0].sum() / n
        score = DAMPING * passed + (1 - DAMPING) / n
    return np.asarray(score)
