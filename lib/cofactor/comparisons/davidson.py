"""One ranking for all users, with ties and covariates: Davidson's likelihood, its prior, and the covariance.

    symbol   meaning                                                              shape
    u        utilities of the items, of mean zero                                 (n,)
    beta     coefficients of the covariates                                       (k,)
    tau      log of the tie parameter nu; absent if there are no ties             ()
    X        covariates, left item minus right item                               (c, k)
    z        u_left - u_right + X beta                                            (c,)
    theta    u, beta and tau, one after another                                   (p,)
    sd       standard deviation of the normal prior on utilities, mean zero
    R        inverse variances of the prior: 1 / sd^2 for utilities               (p,)
    H        negative Hessian of the log-likelihood, including R                  (p, p)
    P        inverse of H: utilities are approximately normal, N(theta, P)        (p, p)
    G        number of users; user g made m_g comparisons
    s_g      gradient of the log-likelihood of user g in theta                    (p,)
    H_g      negative Hessian of the log-likelihood of user g                     (p, p)
    x_g      (I - H_g P)^-1 s_g: theta would move by -P x_g without user g        (p,)

The likelihood.

    P(left wins) : P(right wins) : P(tie) = exp(z / 2) : exp(-z / 2) : exp(tau)

For comparisons that are not ties, this is the Bradley-Terry model. The model of Rao and Kupper has a threshold instead
of tau; Davidson's model is used because it is log-linear: its likelihood is concave, its gradient compares observed
with expected counts, and a tie counts as half a win.

The prior.

    log p(comparisons | sd) > E log-likelihood - (theta' R theta + tr(R P)) / 2 - n log sd - log det(H) / 2

E is the mean over N(theta, P). Laplace's approximation uses the log-likelihood at theta and its second derivatives
instead. It underestimates the differences between items that were compared only a few times: for 100 items with
standard deviation 0.8 and two comparisons each, it chose 0.6, and 90 % intervals contained 81 % of the true values. The
bound above chooses 0.8.

Items that are compared more often may be better: in sports, strong players play more. The comparisons do not show this,
and then all rarely compared items are weaker than the prior assumes. `with_doubt` allows for that.

Without a prior, an item that won its only comparison would rank first. With a prior chosen in this way, an item moves
little after few comparisons and far after many. Coefficients of covariates, in units of their root mean square, have a
fixed prior with standard deviation `COEFFICIENT_SD`; the tie parameter has no prior.

The covariance. For independent comparisons it is P. Users with different tastes answer consistently in all of their
comparisons, so users, not comparisons, are independent:

    V = P ((G - 1) / G sum_g x_g x_g' + R) P,    quantiles of Student's t with (sum m_g)^2 / (sum m_g^2) - 1 degrees

The error of the estimate is P (s - R theta), with s the gradient of the log-likelihood at the truth, so R is what the
prior adds if the truth is drawn from it; if s has covariance H - R, the result is P again.

Prompts (pictures, questions) differ in the same way as users. If both repeat, V contains the sum over users plus the
sum over prompts minus the sum over pairs of user and prompt, which both contain; negative eigenvalues are set to zero.
The quantile uses the smaller of the two effective numbers.

The sum over x_g is the one-step jackknife; without it, or with G - 1 degrees of freedom, intervals are too short if
some users made many more comparisons than others.

Sources: Davidson, "On extending the Bradley-Terry model to accommodate ties", JASA 1970; Ford, "Solution of a ranking
problem from binary comparisons", American Mathematical Monthly 1957 (when the maximum is finite).
MacKay, "Bayesian interpolation", Neural Computation 1992 (evidence); Opper and Archambeau, "The variational Gaussian
approximation revisited", Neural Computation 2009, Eq. (5) (the bound), at Laplace's normal; Chung et al., "A
nondegenerate penalized likelihood estimator for variance parameters in multilevel models", Psychometrika 2013: a
factor sd exp(-sd / 2) on the evidence, which keeps sd away from zero (few comparisons would leave no uncertainty) and
from infinity (an item that won every comparison).
Bell and McCaffrey, Survey Methodology 2002 (x_g); Carter, Schnepel and Steigerwald, Review of Economics and
Statistics 2017 (effective number of users), simplified; Cameron, Gelbach and Miller, "Robust inference with multiway
clustering", Journal of Business and Economic Statistics 2011 (users and prompts). Deviation: x_g is s_g for users who
made less than a fiftieth of the comparisons of each of their items; the effect on V is equally small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.comparisons.data import Codes, Comparisons
from cofactor.core.checks import require_bytes
from cofactor.core.estimator import History, Result
from cofactor.core.lazy import csgraph, linalg, optimize
from cofactor.core.types import Floats, Indices, Ints

NEWTON_ROUNDS, NEWTON_HALVINGS = 100, 40
NORMAL_NODES, NORMAL_WEIGHTS = np.polynomial.hermite_e.hermegauss(5)  # nine change no standard deviation that is chosen
NORMAL_WEIGHTS = NORMAL_WEIGHTS / NORMAL_WEIGHTS.sum()  # of a standard normal variable
NEWTON_TOL = 1e-12  # of the gain that Newton's next step predicts, relative to the number of comparisons
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
HEAVY = 0.02  # share of an item's comparisons from which on a user counts as heavy
ALONE = 1e-6  # smallest share of the information, in any direction, that is left without a user and can be divided by


@dataclass(frozen=True)
class Cells:
    """Counts of wins, losses and ties of the left item, for every cell (a pair of items with equal covariates).

    `has_ties` is true if there are ties, and hence a tau.
    """

    n_items: int
    left: Codes
    right: Codes
    won: Floats
    lost: Floats
    tied: Floats
    X: Floats
    has_ties: bool

    @property
    def total(self) -> Floats:
        """(c,) number of comparisons in every cell."""
        return self.won + self.lost + self.tied

    @property
    def size(self) -> int:
        """Number of parameters, p."""
        return self.n_items + self.X.shape[1] + self.has_ties

    def split(self, theta: Floats) -> tuple[Floats, Floats, float]:
        """Return u, beta and tau; without ties, tau is minus infinity."""
        n, k = self.n_items, self.X.shape[1]
        return theta[:n], theta[n : n + k], float(theta[-1]) if self.has_ties else -np.inf

    def differences(self, theta: Floats) -> Floats:
        """Return the (c,) differences in utility z, left minus right, including the covariates."""
        u, beta, _ = self.split(theta)
        return np.asarray(u[self.left] - u[self.right] + self.X @ beta)

    def chances(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the probabilities that left wins, that right wins, and of a tie."""
        return outcome_chances(self.differences(theta), self.split(theta)[2])

    def objective(self, theta: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient, and its negative Hessian."""
        tau, z = self.split(theta)[2], self.differences(theta)
        (win, lose, tie), log_total = _chances_and_log_total(z, tau)
        value = (self.won - self.lost) @ z / 2 - self.total @ log_total
        value += tau * self.tied.sum() if self.has_ties else 0.0
        in_z, in_tau = scores(self, win, lose, tie)
        last = [in_tau.sum()] if self.has_ties else []
        gradient = np.concatenate([self.scatter(in_z), in_z @ self.X, last])
        return float(value), gradient, information_of_cells(self, win, lose, tie)

    def expected(self, theta: Floats, P: Floats) -> float:
        """Return the expected log-likelihood for normal z with covariance P; tau is treated as known.

        By Gauss-Hermite quadrature. Cost: O(c (k + 1)^2).
        """
        (_, _, tau), z, reach = self.split(theta), self.differences(theta), np.sqrt(self.variances(P))
        value = tau * self.tied.sum() if self.has_ties else 0.0
        for node, weight in zip(NORMAL_NODES, NORMAL_WEIGHTS, strict=True):
            at = z + node * reach
            value += weight * float((self.won - self.lost) @ at / 2 - self.total @ _chances_and_log_total(at, tau)[1])
        return float(value)

    def variances(self, P: Floats) -> Floats:
        """Return the (c,) variances of z for parameters with covariance P."""
        n, k = self.n_items, self.X.shape[1]
        items = P[self.left, self.left] + P[self.right, self.right] - 2 * P[self.left, self.right]
        B, C = P[:n, n : n + k], P[n : n + k, n : n + k]
        both = ((B[self.left] - B[self.right]) * self.X).sum(axis=1)
        return np.maximum(items + 2 * both + ((self.X @ C) * self.X).sum(axis=1), 0.0)

    def scatter(self, values: Floats) -> Floats:
        """Return the (n,) sums of values over cells with an item on the left, minus those with it on the right."""
        n = self.n_items
        return np.asarray(np.bincount(self.left, values, n) - np.bincount(self.right, values, n), dtype=np.float64)


def rows_of(data: Comparisons, X: Floats) -> Cells:
    """Return comparisons and their covariates as `Cells`, one cell per comparison."""
    weight = np.ones(len(data)) if data.counts is None else data.counts
    won, lost, tied = (weight * (data.outcome == value) for value in (1.0, 0.0, 0.5))
    return Cells(data.n_items, data.left, data.right, won, lost, tied, X, bool(tied.any()))


def pairs_of(rows: Cells) -> Cells:
    """Aggregate the cells of every pair of items; cells with covariates are returned unchanged.

    Cost: O(m), plus a sort if there are more pairs than comparisons.
    """
    if rows.X.shape[1]:
        return rows
    turned = rows.left > rows.right
    low, high = np.minimum(rows.left, rows.right), np.maximum(rows.left, rows.right)
    key = low.astype(np.int64) * rows.n_items + high
    if rows.n_items**2 <= 4 * len(key):
        there = np.bincount(key, minlength=rows.n_items**2) > 0
        code, pairs = (np.cumsum(there) - 1)[key], np.flatnonzero(there)
    else:
        pairs, code = np.unique(key, return_inverse=True)
    won, lost = np.where(turned, rows.lost, rows.won), np.where(turned, rows.won, rows.lost)
    won, lost, tied = (np.bincount(code, values, len(pairs)).astype(float) for values in (won, lost, rows.tied))
    i, j = (part.astype(np.int32) for part in np.divmod(pairs, rows.n_items))
    return Cells(rows.n_items, i, j, won, lost, tied, np.zeros((len(pairs), 0)), rows.has_ties)


def linked_both_ways(cells: Cells) -> NDArray[np.int32]:
    """Return the (n,) group of every item; within a group, every item lost to every other, directly or through others.

    The maximum-likelihood utilities are finite if and only if there is one group (Ford 1957); a tie counts as both a
    win and a loss.
    """
    beaten = cells.won + cells.tied > 0, cells.lost + cells.tied > 0
    winner = np.concatenate([cells.left[beaten[0]], cells.right[beaten[1]]])
    loser = np.concatenate([cells.right[beaten[0]], cells.left[beaten[1]]])
    edges = sparse.coo_array((np.ones(len(winner), dtype=bool), (winner, loser)), (cells.n_items,) * 2)
    return np.asarray(csgraph.connected_components(edges.tocsr(), connection="strong")[1])


def outcome_chances(z: Floats, tau: float) -> tuple[Floats, Floats, Floats]:
    """Return the probabilities that left wins, that right wins, and of a tie."""
    return _chances_and_log_total(z, tau)[0]


def averaged(z: Floats, v: Floats) -> Floats:
    """Return the difference in utility whose win probability is the mean over N(z, v): z / sqrt(1 + pi v / 8).

    The logistic curve is approximated by a normal one with the same slope. Source: MacKay, "The evidence framework
    applied to classification networks", Neural Computation 1992, Eq. (10).
    """
    return z / np.sqrt(1 + np.pi * v / 8)


def _chances_and_log_total(z: Floats, tau: float) -> tuple[tuple[Floats, Floats, Floats], Floats]:
    top = np.maximum(np.abs(z) / 2, tau)
    win, lose = np.exp(z / 2 - top), np.exp(-z / 2 - top)
    tie = np.exp(tau - top) if np.isfinite(tau) else np.zeros_like(z)
    total = win + lose + tie
    return (win / total, lose / total, tie / total), top + np.log(total)


@dataclass(frozen=True)
class Fitted:
    """Result of `fit_ranking`: parameters theta, their penalised log-likelihood, and its negative Hessian H.

    `ridge` contains the (p,) inverse variances of the prior, which H includes; without a prior, H is singular because a
    constant can be added to all utilities.
    """

    theta: Floats
    value: float
    H: Floats
    ridge: Floats
    result: Result


def fit_ranking(cells: Cells, ridge: Floats | None = None, start: Floats | None = None) -> Fitted:
    """Maximise the log-likelihood minus theta' diag(ridge) theta / 2 by Newton's method with step halving.

    Cost: O(c (k + 1)^2 + p^3) time per step, about six steps; O(c (k + 1) + p^2) memory.
    """
    require_bytes(40.0 * cells.size**2, f"the covariance of {cells.n_items} items", "keep fewer items")
    ridge = np.zeros(cells.size) if ridge is None else ridge
    theta = np.zeros(cells.size) if start is None else start
    value, gradient, H = _penalised(cells, ridge, theta)
    history = History("Davidson", NEWTON_ROUNDS, NEWTON_TOL * max(float(cells.total.sum()), 1.0))
    for _ in history:
        step = solve(cells.n_items, H, gradient)
        gain = float(gradient @ step)
        for _ in range(NEWTON_HALVINGS):
            found = _penalised(cells, ridge, theta + step)
            if found[0] >= value - abs(value) * 1e-15:
                break
            step = step / 2
        theta, (value, gradient, H) = theta + step, found
        history.record(-value, gain)
    return Fitted(centred(theta, cells.n_items), value, H, ridge, history.result())


def centred(theta: Floats, n_items: int) -> Floats:
    """Return parameters (one set per column) whose utilities have mean zero."""
    return np.concatenate([theta[:n_items] - theta[:n_items].mean(axis=0), theta[n_items:]])


def _penalised(cells: Cells, ridge: Floats, theta: Floats) -> tuple[float, Floats, Floats]:
    """Return the penalised log-likelihood, its gradient and its negative Hessian."""
    value, gradient, H = cells.objective(theta)
    return value - float(ridge @ theta**2) / 2, gradient - ridge * theta, H + np.diag(ridge)


def scores(cells: Cells, win: Floats, lose: Floats, tie: Floats) -> tuple[Floats, Floats]:
    """Return the (c,) derivatives of the log-likelihood with respect to z and to tau."""
    total = cells.total
    return (cells.won - cells.lost - total * (win - lose)) / 2, cells.tied - total * tie


def information_of_cells(cells: Cells, win: Floats, lose: Floats, tie: Floats) -> Floats:
    """Return the (p, p) negative Hessian of the log-likelihood."""
    n, total, lead = cells.n_items, cells.total, win - lose
    a = total * (win + lose - lead**2) / 4
    H = np.zeros((cells.size,) * 2)
    pair = cells.left.astype(np.int64) * n + cells.right
    met = np.bincount(pair, a, n * n).reshape(n, n)
    H[:n, :n] = -met - met.T
    H[np.arange(n), np.arange(n)] = met.sum(axis=0) + met.sum(axis=1)
    columns = [(a * x, x) for x in cells.X.T]
    for k, (weighted, _) in enumerate(columns, n):
        H[k, :n] = H[:n, k] = cells.scatter(weighted)
        H[k, n : n + len(columns)] = weighted @ cells.X
    if cells.has_ties:
        b = -total * lead * tie / 2
        H[-1, :-1] = H[:-1, -1] = np.concatenate([cells.scatter(b), b @ cells.X])
        H[-1, -1] = total @ (tie * (1 - tie))
    return H


def counts(cells: Cells) -> Floats:
    """Return the (n, 3) numbers of wins, losses and comparisons of every item."""
    n, sides = cells.n_items, ((cells.won, cells.lost), (cells.lost, cells.won), (cells.total, cells.total))
    return np.column_stack([np.bincount(cells.left, a, n) + np.bincount(cells.right, b, n) for a, b in sides])


def covariate_information(cells: Cells, theta: Floats) -> tuple[Floats, Floats]:
    """Return the (k, k) information on covariates given unknown utilities, and the (k,) one for known utilities."""
    n, k = cells.n_items, cells.X.shape[1]
    H = information_of_cells(cells, *cells.chances(theta))
    items, both, own = H[:n, :n], H[:n, n : n + k], H[n : n + k, n : n + k]
    return own - both.T @ solve(n, items, both), np.diag(own)


def solve(n: int, H: Floats, right_side: Floats) -> Floats:
    """Solve H x = right_side, up to a constant added to the n utilities."""
    gauged = H.copy()
    gauged[:n, :n] += max(np.trace(H[:n, :n]) / n**2, np.finfo(float).tiny)
    scale = 1 / np.sqrt(np.maximum(np.diag(gauged), np.finfo(float).tiny))
    factor = linalg.cho_factor(gauged * np.outer(scale, scale) + 1e-14 * np.eye(len(H)))
    rescaled = (right_side.T * scale).T
    return np.asarray((linalg.cho_solve(factor, rescaled).T * scale).T)


# ---- the prior: how far apart items are, chosen by the evidence of the comparisons ----


def chosen(cells: Cells) -> tuple[float, float, Fitted]:
    """Return the standard deviation of the prior on utilities, the variance of its logarithm, and the fit.

    Cost: about twelve fits, each started at the previous one.
    """
    last: list[Fitted] = []

    def loss(log_sd: float) -> float:
        fitted = fit_ranking(cells, precisions(cells, float(np.exp(log_sd))), last[-1].theta if last else None)
        last.append(fitted)
        return -log_evidence(cells, fitted, float(np.exp(log_sd)))

    best = optimize.minimize_scalar(
        loss, bounds=np.log([LEAST_SD, MOST_SD]), method="bounded", options={"xatol": LOG_SD_TOLERANCE}
    )
    bend = (loss(best.x - LOG_SD_STEP) + loss(best.x + LOG_SD_STEP) - 2 * best.fun) / LOG_SD_STEP**2
    loss(best.x)
    return float(np.exp(best.x)), float(1 / max(bend, 1 / DOUBT)), last[-1]


def with_doubt(V: Floats, P: Floats, fitted: Fitted, doubt: float, compared: Floats) -> Floats:
    """Return the covariance V of the parameters with the variance added that is due to the uncertain prior.

    To first order, theta changes by 2 P R theta per unit of log sd, which has variance `doubt`. If items that are
    compared more often are better or worse, the prior mean of the utilities is b x instead of zero, with x the
    logarithms of the (n,) numbers of comparisons `compared`. Theta changes by P R x per unit of b, which has standard
    deviation `SLOPE` sd. As b is common to all items, rarely compared items move together. x is zero if all items were
    compared equally often.

    Source: Kass and Steffey, JASA 1989 (sd); b is treated in the same way. It is not estimated, because in tournaments
    the number of comparisons reveals who won.
    """
    n, x = len(compared), np.log(np.maximum(compared, 1.0))
    R, V = fitted.ridge[:n], V.copy()
    for variance, change in ((doubt, 2 * R * fitted.theta[:n]), (SLOPE**2, np.sqrt(R) * (x - x.mean()))):
        way = centred(P[:, :n] @ change, n)
        V += variance * np.outer(way, way)
    return V


def precisions(cells: Cells, sd: float) -> Floats:
    """Return the diagonal of R, the (p,) inverse variances of the prior, for utilities with standard deviation `sd`."""
    k = cells.X.shape[1]
    return np.repeat([sd**-2, COEFFICIENT_SD**-2, 0.0], [cells.n_items, k, int(cells.has_ties)])


def log_evidence(cells: Cells, fitted: Fitted, sd: float) -> float:
    """Return a lower bound of the log marginal likelihood of `sd` plus its log-prior, up to a constant."""
    determinant, P = float(np.linalg.slogdet(fitted.H)[1]), independent(cells, fitted)
    prior = fitted.ridge @ (fitted.theta**2 + np.diag(P))  # but for the mean of utilities, which adds a constant
    value = cells.expected(fitted.theta, P) - prior / 2 - cells.n_items * np.log(sd) - determinant / 2
    return float(value + np.log(sd) - RATE * sd)


# ---- what chances are worth on comparisons that were held out ----


def held_out_loss(cells: Cells, fitted: Fitted, doubt: float, V: Floats) -> tuple[float, float]:
    """Return the mean log-loss in five-fold cross-validation, and that of the trivial prediction.

    Predicted probabilities are averaged over the uncertainty of the fit to the other folds, whose variance is inflated
    in the same ratio as V, the covariance of the intervals, exceeds that of independent comparisons. The trivial
    prediction knows the rate of ties and treats both sides as equally good; if a covariate is constant, such as that of
    the home side, it also knows how often each side wins.

    Cost: five fits, started at the fit to all comparisons.
    """
    parts, sided = _parts(cells), is_sided(cells)
    wider = cells.variances(V) / np.maximum(cells.variances(_with_all_doubt(cells, fitted, doubt)), LEAST_VARIANCE)
    losses, made = np.zeros(2), 0.0
    for held in parts:
        learn = replace(cells, **{name: getattr(cells, name) - getattr(held, name) for name in ("won", "lost", "tied")})
        if cells.has_ties:  # half a tie more, so that their chance is not none where no tie is left
            learn = replace(learn, tied=learn.tied + 0.5 / len(learn.tied))
        found = fit_ranking(learn, fitted.ridge, fitted.theta)
        v = wider * learn.variances(_with_all_doubt(learn, found, doubt))
        z = averaged(learn.differences(found.theta), v)
        chances = outcome_chances(z, learn.split(found.theta)[2])
        losses += loss_of(held, chances), loss_of(held, _trivial(learn, sided))
        made += float(held.total.sum())
    return float(losses[0] / made), float(losses[1] / made)


def is_sided(cells: Cells) -> bool:
    """Whether a covariate is constant over all comparisons, such as that of the home side."""
    return bool((np.ptp(cells.X, axis=0) == 0).any())


def _with_all_doubt(cells: Cells, fitted: Fitted, doubt: float) -> Floats:
    """Return the covariance of a fit to independent comparisons, including the uncertainty of the prior."""
    P = independent(cells, fitted)
    return with_doubt(P, P, fitted, doubt, counts(cells)[:, 2])


def _parts(cells: Cells) -> list[Cells]:
    """Split comparisons into folds: individually if counts are integers, otherwise by cell."""
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
    """Return the total log-loss of the predicted probabilities of a win, a loss and a tie."""
    counts = (held.won, held.lost, held.tied)
    least = np.finfo(float).tiny
    return -sum(float(count @ np.log(np.maximum(chance, least))) for count, chance in zip(counts, chances, strict=True))


# ---- covariance of independent comparisons, and of comparisons grouped by users, prompts, or both ----


def independent(rows: Cells, fitted: Fitted) -> Floats:
    """Return P, the covariance for independent comparisons, for utilities with mean zero."""
    n = rows.n_items
    P = solve(n, fitted.H, np.eye(rows.size))
    return centred(centred(P, n).T, n)


def clustered(rows: Cells, fitted: Fitted, *ways: Codes) -> Floats:
    """Return V, clustered by users or by users and prompts; each of `ways` contains the (c,) codes of one of them.

    Cost: O(m (k + 1)), the cube of the number of items of every heavy user, and p^3 for two ways.
    """
    P = independent(rows, fitted)
    M = sum((_spread(rows, fitted, P, way) for way in ways), np.zeros(P.shape))
    if len(ways) > 1:
        user, prompt = ways  # what one user answered to one prompt is in both sums
        pair = user.astype(np.int64) * (int(prompt.max()) + 1) + prompt
        code = np.unique(pair, return_inverse=True)[1].astype(np.int32)
        S = _sums(rows, *scores(rows, *rows.chances(fitted.theta)), code)
        values, vectors = np.linalg.eigh(M - (S.T @ S).toarray())
        M = vectors * np.maximum(values, 0.0) @ vectors.T
    return np.asarray(P @ (M + np.diag(fitted.ridge)) @ P)


def _spread(rows: Cells, fitted: Fitted, P: Floats, way: Codes) -> Floats:
    """Return (G - 1) / G sum_g x_g x_g'."""
    order = np.argsort(way, kind="stable")
    rows, user = _taken(rows, order), np.unique(way[order], return_inverse=True)[1].astype(np.int32)
    S = _sums(rows, *scores(rows, *rows.chances(fitted.theta)), user)
    made, G = _made(rows, user), S.shape[0]
    much = made.data > HEAVY * made.sum(axis=0)[made.indices]
    heavy = np.unique(np.repeat(np.arange(G), np.diff(made.indptr))[much])
    X = [_change_of_user(rows, fitted, P, S, user, int(g)) for g in heavy]
    light = S[np.setdiff1d(np.arange(G), heavy)]
    M = (light.T @ light).toarray() + sum((np.outer(x, x) for x in X), np.zeros(P.shape))
    return np.asarray((G - 1) / G * M)


def _taken(rows: Cells, at: Indices | slice) -> Cells:
    names = ("left", "right", "won", "lost", "tied", "X")
    return replace(rows, **{name: getattr(rows, name)[at] for name in names})


def users_that_count(rows: Cells, user: Codes) -> float:
    """Return the effective number of users, (sum m_g)^2 / sum m_g^2, for m_g comparisons of user g."""
    m = np.bincount(user, rows.total)
    return float(m.sum() ** 2 / (m @ m))


def users_of_items(rows: Cells, user: Codes) -> Ints:
    """Return the (n,) number of users who compared each item."""
    return np.bincount(_made(rows, user).indices, minlength=rows.n_items)


def _sums(rows: Cells, in_z: Floats, in_tau: Floats, user: Codes) -> sparse.csr_array:
    """(G, p) s_g."""
    n, k = rows.n_items, rows.X.shape[1]
    columns = [(rows.left, in_z), (rows.right, -in_z)]
    columns += [(np.full_like(user, n + a), in_z * rows.X[:, a]) for a in range(k)]
    columns += [(np.full_like(user, n + k), in_tau)] if rows.has_ties else []
    places, values = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    owner = np.tile(user, len(columns))
    return sparse.csr_array((values, (owner, places)), (int(user.max()) + 1, rows.size))


def _made(rows: Cells, user: Codes) -> sparse.csr_array:
    """Return the (G, n) numbers of comparisons that each user made of each item."""
    who, what = np.tile(user, 2), np.concatenate([rows.left, rows.right])
    return sparse.csr_array((np.tile(rows.total, 2), (who, what)), (int(user.max()) + 1, rows.n_items))


def _change_of_user(rows: Cells, fitted: Fitted, P: Floats, S: sparse.csr_array, user: Codes, g: int) -> Floats:
    """Return x_g; H_g and s_g are zero except for the user's own items, covariates and tau."""
    part = slice(*np.searchsorted(user, [g, g + 1]))
    own = _taken(rows, part)
    items, code = np.unique(np.concatenate([own.left, own.right]), return_inverse=True)
    at = np.concatenate([items, np.arange(rows.n_items, rows.size)])
    left, right = np.split(code.astype(np.int32), 2)
    small = replace(own, n_items=len(items), left=left, right=right)
    H = information_of_cells(small, *own.chances(fitted.theta))
    x = np.zeros(rows.size)
    x[at] = np.linalg.pinv(np.eye(len(at)) - H @ P[np.ix_(at, at)], rcond=ALONE) @ S[[g]].toarray()[0, at]
    return x
