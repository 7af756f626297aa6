"""The prior of a ranking: how far apart items are, chosen by the evidence of the comparisons; and what that is worth.

    symbol   meaning                                                              shape
    sd       standard deviation of the normal prior on utilities, mean zero
    R        inverse variances of the prior: 1 / sd^2 for utilities               (p,)
    theta    maximum of log-likelihood and prior                                  (p,)
    H        minus the second derivatives there, R included                       (p, p)

    P        inverse of H: utilities are taken for normal, N(theta, P)                (p, p)

    log p(comparisons | sd) > E log-likelihood - (theta' R theta + tr(R P)) / 2 - n log sd - log det(H) / 2

E is the mean over N(theta, P). Laplace's approximation has the log-likelihood at theta and its second derivatives in
its place. It finds items too much alike where each was compared a few times: of 100 items with standard deviation 0.8
and two comparisons each it chose 0.6, and intervals of 90 % held 81 % of the truth. The bound above chooses 0.8.

Who is compared more often may be better: in sports the strong play more. The comparisons do not say so, and then items
that were seldom compared are all weaker than the prior has them. `with_doubt` allows for that.

Without a prior an item that won its only comparison is the best of all. With one that is chosen so, few comparisons
move an item little, and many move it far. Coefficients of covariates, in units of their root mean square, have the
fixed prior of `COEFFICIENT_SD`; the parameter of ties has none.

Source: MacKay, "Bayesian interpolation", Neural Computation 1992 (evidence); Opper and Archambeau, "The variational
Gaussian approximation revisited", Neural Computation 2009, Eq. (5) (the bound), at Laplace's normal; Chung et al.,
"A nondegenerate penalized likelihood estimator for variance parameters in multilevel models", Psychometrika 2013: a
factor sd exp(-sd / 2) on the evidence, which keeps sd away from zero, where few comparisons would leave no doubt at
all, and from infinity, where somebody won everything.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cofactor.comparisons import davidson
from cofactor.comparisons.clusters import independent
from cofactor.comparisons.davidson import Cells, Fitted
from cofactor.core.lazy import optimize
from cofactor.core.types import Floats

COEFFICIENT_SD = 3.0  # so that a covariate which decides every comparison has a finite coefficient
LEAST_SD, MOST_SD = 0.02, 20.0  # standard deviations that are tried
RATE = 0.5  # of the factor on the evidence: its mean is at a standard deviation of 4
# of the logarithm of sd: how exactly it is found, and by what its doubt is told
LOG_SD_TOLERANCE = 0.02
LOG_SD_STEP = 0.25
DOUBT = 1.0  # largest variance of that logarithm
SLOPE = 0.25  # how much better, in units of sd, items with e times the comparisons may be: a standard deviation
FOLDS = 5
Chances = tuple[Floats, Floats, Floats]  # of a win, a loss and a tie, in every cell
LEAST_VARIANCE = 1e-12
UNSPLIT_COUNT = 1e9  # counts that are not split


def chosen(cells: Cells) -> tuple[float, float, Fitted]:
    """Return the standard deviation of the prior on utilities, the variance of its logarithm, and the fit.

    Cost: some twelve fits, each started from the one before.
    """
    last: list[Fitted] = []

    def loss(log_sd: float) -> float:
        fitted = davidson.fit_ranking(cells, precisions(cells, float(np.exp(log_sd))), last[-1].theta if last else None)
        last.append(fitted)
        return -log_evidence(cells, fitted, float(np.exp(log_sd)))

    best = optimize.minimize_scalar(
        loss, bounds=np.log([LEAST_SD, MOST_SD]), method="bounded", options={"xatol": LOG_SD_TOLERANCE}
    )
    bend = (loss(best.x - LOG_SD_STEP) + loss(best.x + LOG_SD_STEP) - 2 * best.fun) / LOG_SD_STEP**2
    loss(best.x)
    return float(np.exp(best.x)), float(1 / max(bend, 1 / DOUBT)), last[-1]


def with_doubt(V: Floats, P: Floats, fitted: Fitted, doubt: float, compared: Floats) -> Floats:
    """Add to the covariance V of utilities (and what follows them) the variance that comes from not knowing the prior.

    To first order, theta changes by 2 P R theta per unit of log sd, which has variance `doubt`. If who is compared more
    often is better or worse, utilities have the prior mean b x in place of zero, x the logarithms of the (n,) numbers
    of comparisons `compared`. Theta changes by P R x per unit of b, which has standard deviation `SLOPE` sd. Common to
    all items, this moves those that were seldom compared together. x is zero where all were compared equally often.

    Source: Kass and Steffey, JASA 1989 (sd); b is treated the same way. It is not estimated, since in tournaments the
    number of comparisons tells who won.
    """
    n, x = len(compared), np.log(np.maximum(compared, 1.0))
    R, V = fitted.ridge[:n], V.copy()
    for variance, change in ((doubt, 2 * R * fitted.theta[:n]), (SLOPE**2, np.sqrt(R) * (x - x.mean()))):
        way = davidson.centred(P[:, :n] @ change, n)
        V += variance * np.outer(way, way)
    return V


def precisions(cells: Cells, sd: float) -> Floats:
    """Return the diagonal of R, the (p,) inverse variances of the prior, for items with standard deviation `sd`."""
    k = cells.X.shape[1]
    return np.repeat([sd**-2, COEFFICIENT_SD**-2, 0.0], [cells.n_items, k, int(cells.has_ties)])


def log_evidence(cells: Cells, fitted: Fitted, sd: float) -> float:
    """Return a bound of the log marginal likelihood of `sd` plus the log of its prior, up to a constant."""
    determinant, P = float(np.linalg.slogdet(fitted.H)[1]), independent(cells, fitted)
    prior = fitted.ridge @ (fitted.theta**2 + np.diag(P))  # but for the mean of utilities, which adds a constant
    value = cells.expected(fitted.theta, P) - prior / 2 - cells.n_items * np.log(sd) - determinant / 2
    return float(value + np.log(sd) - RATE * sd)


# ---- what chances are worth on comparisons that were held out ----


def held_out_loss(cells: Cells, fitted: Fitted, doubt: float, V: Floats) -> tuple[float, float]:
    """Return the mean log-loss on comparisons held out in five folds, and that of the trivial guess.

    Chances are means over what the other folds leave possible: with the variance of a fold's own fit, widened as V, the
    covariance behind the intervals, is wider than that of independent comparisons. The trivial guess knows how often
    comparisons are ties, and takes both sides for equally good; where a covariate is the same in all comparisons, such
    as that of the home side, it knows how often each side wins.

    Cost: five fits, started from that to all.
    """
    parts, sided = _parts(cells), is_sided(cells)
    wider = cells.variances(V) / np.maximum(cells.variances(_with_all_doubt(cells, fitted, doubt)), LEAST_VARIANCE)
    losses, made = np.zeros(2), 0.0
    for held in parts:
        learn = replace(cells, **{name: getattr(cells, name) - getattr(held, name) for name in ("won", "lost", "tied")})
        if cells.has_ties:  # half a tie more, so that their chance is not none where no tie is left
            learn = replace(learn, tied=learn.tied + 0.5 / len(learn.tied))
        found = davidson.fit_ranking(learn, fitted.ridge, fitted.theta)
        v = wider * learn.variances(_with_all_doubt(learn, found, doubt))
        z = davidson.averaged(learn.differences(found.theta), v)
        chances = davidson.outcome_chances(z, learn.split(found.theta)[2])
        losses += loss_of(held, chances), loss_of(held, _trivial(learn, sided))
        made += float(held.total.sum())
    return float(losses[0] / made), float(losses[1] / made)


def is_sided(cells: Cells) -> bool:
    """Whether a covariate is the same in all comparisons, such as that of the home side."""
    return bool((np.ptp(cells.X, axis=0) == 0).any())


def _with_all_doubt(cells: Cells, fitted: Fitted, doubt: float) -> Floats:
    """Return the covariance of a fit to independent comparisons, the doubt about the prior included."""
    P = independent(cells, fitted)
    return with_doubt(P, P, fitted, doubt, davidson.counts(cells)[:, 2])


def _parts(cells: Cells) -> list[Cells]:
    """Split comparisons into folds: one by one where counts are whole numbers, else cell by cell."""
    rng, shares = np.random.default_rng(0), np.full(FOLDS, 1 / FOLDS)
    counts = np.stack([cells.won, cells.lost, cells.tied])
    if (counts % 1 == 0).all() and counts.max(initial=0) < UNSPLIT_COUNT:
        split = np.asarray(rng.multinomial(counts.astype(np.int64), shares), dtype=np.float64)
    else:
        split = counts[..., None] * (rng.integers(0, FOLDS, (counts.shape[1], 1)) == np.arange(FOLDS))
    return [replace(cells, won=split[0, :, k], lost=split[1, :, k], tied=split[2, :, k]) for k in range(FOLDS)]


def _trivial(learn: Cells, sided: bool) -> Chances:
    won, lost, tied = (float(part.sum()) for part in (learn.won, learn.lost, learn.tied))
    if not sided:
        won = lost = (won + lost) / 2
    shares = np.array([won + 0.5, lost + 0.5, tied]) / (won + lost + tied + 1)
    win, lose, tie = (np.full(len(learn.won), share) for share in shares)
    return win, lose, tie


def loss_of(held: Cells, chances: Chances) -> float:
    """Return the sum of the log-losses of chances of a win, a loss and a tie."""
    counts = (held.won, held.lost, held.tied)
    least = np.finfo(float).tiny
    return -sum(float(count @ np.log(np.maximum(chance, least))) for count, chance in zip(counts, chances, strict=True))
