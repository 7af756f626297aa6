"""Simulate comparisons by users with known utilities."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.objective import link_named
from cofactor.core.checks import check_positive, check_whole, finite_matrix, rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import sparse_linalg, special
from cofactor.core.types import Floats, Indices, Seed

Truth = Literal["unit", "gauss", "factor"]

LARGEST_SCALE = 1e100


def comparison_factors(
    n_users: int = 200,
    n_items: int = 300,
    rank: int = 3,
    kind: Truth = "unit",
    scale: float = 1.0,
    random_state: Seed = None,
) -> tuple[Floats, Floats]:
    """Draw utilities X = U V' of rank r as balanced features, U'U = V'V, with centred items.

    Parameters
    ----------
    n_users, n_items, rank : int
        n1, n2 and r.
    kind : {"unit", "gauss", "factor"}
        "unit": rows of both features are random unit vectors, as in the authors' notebook. "gauss": the best rank-r
        approximation of a centred N(0, 1) matrix, as in the paper; its utilities are small (0.07 at 2000 x 3000) and
        their rows uneven. "factor": features from N(0, 1).
    scale : float
        X is multiplied by this.
    random_state : int, Generator or None

    Returns
    -------
    U : (n1, r) array, V : (n2, r) array

    Raises
    ------
    CofactorError
        An unknown kind, a rank that is too large, or a scale that is not positive or above 1e100.

    Cost: O((n1 + n2) r^2), without an n1 x n2 matrix; only "gauss" forms one.

    Source: ICML 2025, Sec. 6 ("gauss") and its released notebook ("unit").

    >>> U, V = comparison_factors(20, 30, 2, random_state=0)
    >>> bool(np.allclose(U.T @ U, V.T @ V)), bool(np.allclose(V.sum(axis=0), 0))
    (True, True)
    """
    check_whole(1, n_users=n_users, n_items=n_items, rank=rank)
    check_positive(scale=scale)
    if scale > LARGEST_SCALE:
        raise CofactorError(f"scale={scale!r}: must be at most {LARGEST_SCALE:g}, or products overflow")
    if not rank < min(n_users, n_items):
        raise CofactorError(f"rank={rank}: must be from 1 to {min(n_users, n_items) - 1}")
    rng = rng_of(random_state)
    if kind == "gauss":
        X = rng.standard_normal((n_users, n_items))
        A, s, Ct = sparse_linalg.svds(X - X.mean(axis=1, keepdims=True), k=rank, v0=rng.standard_normal(min(X.shape)))
        return _signed(A * np.sqrt(scale * s), Ct.T * np.sqrt(scale * s))
    if kind not in ("unit", "factor"):
        raise CofactorError(f"kind={kind!r}: choose 'unit', 'gauss' or 'factor'")
    W, H = rng.standard_normal((n_users, rank)), rng.standard_normal((n_items, rank))
    if kind == "unit":
        W, H = (F / np.linalg.norm(F, axis=1, keepdims=True) for F in (W, H))
    return balanced(W * scale, H - H.mean(axis=0))


def balanced(W: Floats, H: Floats) -> tuple[Floats, Floats]:
    """Return U, V with U V' = W H' and U'U = V'V diagonal, by two QRs and one r x r SVD."""
    (Qw, Rw), (Qh, Rh) = np.linalg.qr(W), np.linalg.qr(H)
    A, s, Ct = np.linalg.svd(Rw @ Rh.T)
    return _signed(Qw @ (A * np.sqrt(s)), Qh @ (Ct.T * np.sqrt(s)))


def _signed(U: Floats, V: Floats) -> tuple[Floats, Floats]:
    """Make the largest entry of each column of U positive, since a singular value decomposition leaves signs open.

    LAPACK's choice depends on the processor; without this rule, so would the features that one seed draws.
    """
    largest = np.abs(U).argmax(axis=0)
    sign = np.where(U[largest, np.arange(U.shape[1])] < 0, -1.0, 1.0)
    return U * sign, V * sign


def tennis_seasons(
    n_players: int = 387,
    n_seasons: int = 2,
    *,
    n_weeks: int = 44,
    field: int = 32,
    sd: float = 1.0,
    drift: float = 0.03,
    eager: float = 0.8,
    random_state: Seed = None,
) -> tuple[list[Comparisons], Floats]:
    """Draw seasons of two knock-out tournaments per week, in which skills drift and better players play more.

    Half of the players are available in a week. Entrants are drawn with weights exp(eager u / sd), where u is the
    skill; pairings are random, and left beats right with probability 1 / (1 + exp(u_right - u_left)).

    Parameters
    ----------
    n_players, n_seasons, n_weeks : int
    field : int
        Players per tournament, a power of two and at most a sixth of all players.
    sd, drift : float >= 0
        Standard deviation of skills, and that of their weekly steps in units of it (0.2 per year by default).
    eager : float >= 0
        How much more the better players play; 0: all alike.
    random_state : int, Generator or None

    Returns
    -------
    matches : list of Comparisons, one per season, in the order of play
    skills : (n_seasons, n_players) array, means of each season

    Raises a CofactorError if the field is not a power of two or too large. Cost: O(n_seasons n_weeks n_players log n).

    >>> seasons, skills = tennis_seasons(48, 1, n_weeks=10, field=8, random_state=0)
    >>> seasons[0], skills.shape
    (Comparisons(140 comparisons of 48 items by 1 users), (1, 48))
    """
    check_whole(1, n_players=n_players, n_seasons=n_seasons, n_weeks=n_weeks)
    check_whole(2, field=field)
    check_positive(zero=True, sd=sd, drift=drift, eager=eager)
    if field & (field - 1) or 6 * field > n_players:
        raise CofactorError(f"field={field}: must be a power of two, at most a sixth of the {n_players} players")
    rng = rng_of(random_state)
    u, seasons, skills = sd * rng.standard_normal(n_players), [], np.zeros((n_seasons, n_players))
    for season in range(n_seasons):
        matches = []
        for _ in range(n_weeks):
            u = (u + drift * sd * rng.standard_normal(n_players)) / np.hypot(1, drift)
            skills[season] += u / n_weeks
            keen = eager * u / max(sd, np.finfo(float).tiny) + rng.gumbel(size=n_players)
            entered = np.argsort(np.where(rng.random(n_players) < 0.5, -keen, np.inf))[: 2 * field]
            for part in np.split(rng.permutation(entered), 2):
                matches += _knock_out(u, part, rng)
        left, right, won = np.concatenate(matches, axis=1)
        seasons.append(Comparisons(np.zeros_like(left), left, right, won, 1, n_players))
    return seasons, skills


def _knock_out(u: Floats, players: Indices, rng: np.random.Generator) -> list[Indices]:
    """Return left, right and outcome of every round."""
    rounds = []
    while len(players) > 1:
        left, right = players[0::2], players[1::2]
        won = rng.random(len(left)) < special.expit(u[left] - u[right])
        rounds.append(np.stack([left, right, won]))
        players = np.where(won, left, right)
    return rounds


def draw_comparisons(
    U: Floats,
    V: Floats,
    n_comparisons: int,
    outcomes: Literal["exact", "binary"] = "binary",
    link: str = "logistic",
    b: Floats | None = None,
    user_weights: ArrayLike | None = None,
    item_weights: ArrayLike | None = None,
    random_state: Seed = None,
) -> Comparisons:
    """Draw comparisons: a user and a pair of different items at random, then the choice.

    Parameters
    ----------
    U, V : (n1, r) and (n2, r) arrays
        Utilities are U V'.
    n_comparisons : int
        m.
    outcomes : {"exact", "binary"}
        The probability g(x_ui - x_uj) itself, which the paper calls noiseless; or a choice, 1 with that probability.
    link : {"logistic", "probit"}
    b : (n2,) array, optional
        Added to the utilities of every user.
    user_weights, item_weights : (n1,) and (n2,) arrays, optional
        Relative frequencies with which they are drawn. Default: equal.
    random_state : int, Generator or None

    Returns
    -------
    Comparisons, sorted by user

    Raises
    ------
    CofactorError
        Unknown outcomes or link, or nothing to draw.

    Cost: O(m r) time, O(m) memory.

    Source: ICML 2025, Sec. 3.1.

    >>> draw_comparisons(*comparison_factors(20, 30, 2, random_state=0), 100, random_state=0)
    Comparisons(100 comparisons of 30 items by 20 users)
    """
    check_whole(1, n_comparisons=n_comparisons)
    if outcomes not in ("exact", "binary"):
        raise CofactorError(f"outcomes={outcomes!r}: choose 'exact' or 'binary'")
    U, V = finite_matrix(U, "U"), finite_matrix(V, "V")
    if U.shape[1] != V.shape[1] or len(V) < 2:
        raise CofactorError(f"U {U.shape} and V {V.shape} must have equally many columns, and V at least two rows")
    rng, (n1, n2) = rng_of(random_state), (len(U), len(V))
    user = _draw(rng, n1, n_comparisons, user_weights)
    left, right = _pairs(rng, n2, n_comparisons, item_weights)
    z = np.einsum("ka,ka->k", U[user], V[left] - V[right])
    z = z if b is None else z + b[left] - b[right]
    chance = link_named(link).probability(z)
    w = chance if outcomes == "exact" else (rng.random(n_comparisons) < chance).astype(np.float64)
    return Comparisons(user, left, right, w, n1, n2)


def two_way_comparisons(
    n_items: int = 8,
    n_users: int = 40,
    n_prompts: int = 20,
    n_comparisons: int = 900,
    *,
    spread: float = 1.0,
    user_spread: float = 0.5,
    prompt_spread: float = 0.7,
    random_state: Seed = None,
) -> tuple[Comparisons, Floats]:
    """Draw votes that are correlated within users and prompts: users have tastes, and prompts suit some items.

        x_uqi = v_i + a_ui + b_qi,    standard deviations `spread`, `user_spread`, `prompt_spread`

    User u, prompt q and a pair of different items are random; left wins with probability 1 / (1 + exp(x_r - x_l)).

    Parameters
    ----------
    n_items, n_users, n_prompts, n_comparisons : int
        At least two items.
    spread, user_spread, prompt_spread : float >= 0
    random_state : int, Generator or None

    Returns
    -------
    Comparisons, with `prompt`
    v : (n_items,) utilities of mean zero

    Raises a CofactorError if a number is out of range. Cost: O(n_comparisons + (n_users + n_prompts) n_items).

    >>> votes, v = two_way_comparisons(5, 10, 4, 100, random_state=0)
    >>> votes, int(votes.prompt.max()), v.shape
    (Comparisons(100 comparisons of 5 items by 10 users), 3, (5,))
    """
    check_whole(1, n_users=n_users, n_prompts=n_prompts, n_comparisons=n_comparisons)
    check_whole(2, n_items=n_items)
    check_positive(zero=True, spread=spread, user_spread=user_spread, prompt_spread=prompt_spread)
    rng = rng_of(random_state)
    v = spread * rng.standard_normal(n_items)
    v = v - v.mean()
    taste = user_spread * rng.standard_normal((n_users, n_items))
    suits = prompt_spread * rng.standard_normal((n_prompts, n_items))
    user, prompt = rng.integers(n_users, size=n_comparisons), rng.integers(n_prompts, size=n_comparisons)
    left, right = _pairs(rng, n_items, n_comparisons, None)
    z = (v[k] + taste[user, k] + suits[prompt, k] for k in (left, right))
    won = rng.random(n_comparisons) < special.expit(next(z) - next(z))
    return Comparisons(user, left, right, won, n_users, n_items, prompt=prompt), v


def _draw(rng: np.random.Generator, n: int, size: int, weights: ArrayLike | None) -> np.ndarray:
    if weights is None:
        return rng.integers(n, size=size)
    p = np.asarray(weights, dtype=np.float64)
    return rng.choice(n, size, p=p / p.sum())


def _pairs(rng: np.random.Generator, n: int, size: int, weights: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    """Draw pairs of different items: uniformly by shifting the second, weighted by drawing equal ones again."""
    left = _draw(rng, n, size, weights)
    if weights is None:
        right = rng.integers(n - 1, size=size)
        return left, right + (right >= left)
    right = _draw(rng, n, size, weights)
    while (same := np.flatnonzero(left == right)).size:
        right[same] = _draw(rng, n, same.size, weights)
    return left, right
