"""Rankings of a million votes between 200 items, beside choix and evalica on the same votes.

CPU seconds. choix solves a linear system a step (`ilsr_pairwise`), evalica runs in compiled code; both fit the model of
Bradley and Terry without intervals. What is not installed (extra `bench`, and `dev` for choix) is skipped.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pandas as pd
from runner import Bench
from threadpoolctl import threadpool_limits

from cofactor.comparisons import Comparisons, davidson, rank
from cofactor.reading.votes import read_votes

N_USERS, TAU = 5000, -0.5
WARM = 5.0  # seconds from which one call is enough


def main() -> None:
    """Run every stage."""
    bench = Bench("rank", clock=time.process_time, patience=WARM)
    n, m, name = (8, 2000, "tiny") if bench.tiny else (200, 1_000_000, "200 items")
    with threadpool_limits(1):
        rng = np.random.default_rng(0)
        u = rng.standard_normal(n)
        u -= u.mean()
        left = rng.integers(0, n, m)
        right = (left + rng.integers(1, n, m)) % n
        won = rng.random(m) < 1 / (1 + np.exp(u[right] - u[left]))
        ours = _ours(bench, (name, m), u, left, right, won)
        names = np.array([f"item {k:03d}" for k in range(n)], dtype=object)
        _others(bench, (name, m), ours, names[left], names[right], won)
        _more(bench, (name, m), u, left, right, rng)
        bench.finish()


def _ours(bench: Bench, data, u, left, right, won):
    """The optimum without a prior, which others are held against; with intervals; from a frame of names."""
    n, m = len(u), len(left)
    votes = Comparisons(np.zeros(m, dtype=int), left, right, won.astype(float), n_items=n)
    optimum = partial(_optimum, votes)
    bench.measure(data, "optimum", optimum)
    _ranked(bench, data, "with intervals", u, votes)
    names = np.array([f"item {k:03d}" for k in range(n)], dtype=object)
    frame = pd.DataFrame({"winner": names[np.where(won, left, right)], "loser": names[np.where(won, right, left)]})
    bench.measure(data, "with intervals, from names", lambda: rank(read_votes(frame)[0], random_state=0))
    return optimum().theta[:n]


def _optimum(votes: Comparisons) -> davidson.Fitted:
    return davidson.fit_ranking(davidson.pairs_of(davidson.rows_of(votes, np.zeros((len(votes), 0)))))


def _ranked(bench: Bench, data, stage: str, u, votes, X=None):
    found, seconds = bench.time(partial(rank, votes, X, random_state=0))
    table = found.table().sort_values("item")
    missed = (table["low"].to_numpy() > u) | (table["high"].to_numpy() < u)
    bench.add(data, stage, seconds, error=float(missed.mean()))
    return found


def _others(bench: Bench, data, ours, left, right, won) -> None:
    """Choix and evalica; the error is the largest gap of utilities."""
    if _there("evalica"):
        evalica = import_module("evalica")
        winners = [evalica.Winner.X if yes else evalica.Winner.Y for yes in won]
        call = partial(evalica.bradley_terry, list(left), list(right), winners, tolerance=1e-9, limit=10_000)
        found, seconds = bench.time(call)
        theirs = np.log(found.scores.sort_index().to_numpy())
        bench.add(data, "evalica", seconds, error=_gap(ours, theirs))
    if _there("choix"):
        code = pd.factorize(np.concatenate([left, right]), sort=True)[0].reshape(2, -1)
        pairs = list(zip(np.where(won, *code).tolist(), np.where(won, *code[::-1]).tolist(), strict=True))
        found, seconds = bench.time(partial(import_module("choix").ilsr_pairwise, len(ours), pairs))
        bench.add(data, "choix", seconds, error=_gap(ours, found))


def _gap(ours, theirs) -> float:
    return float(np.abs(ours - (theirs - theirs.mean())).max())


def _there(name: str) -> bool:
    if find_spec(name) is None:
        print(f"!!! SKIPPED {name}: not installed, see the extras `bench` and `dev`", file=sys.stderr, flush=True)
        return False
    return True


def _more(bench: Bench, data, u, left, right, rng: np.random.Generator) -> None:
    """Users, ties, covariates."""
    m, nobody = len(left), np.zeros(len(left), dtype=int)
    X = rng.standard_normal((m, 2))
    z = u[left] - u[right]
    won = (rng.random(m) < 1 / (1 + np.exp(-z))).astype(float)
    user = rng.integers(0, min(N_USERS, m // 20), m)
    _ranked(bench, data, "with users", u, Comparisons(user, left, right, won, n_items=len(u)))
    chances = davidson.outcome_chances(z, TAU)
    drawn = rng.random(m)
    tied = np.where(drawn < chances[0], 1.0, np.where(drawn < chances[0] + chances[1], 0.0, 0.5))
    _ranked(bench, data, "with ties", u, Comparisons(nobody, left, right, tied, n_items=len(u)))
    won = (rng.random(m) < 1 / (1 + np.exp(-z - X @ [0.2, 0.0]))).astype(float)
    _ranked(bench, data, "with two covariates", u, Comparisons(nobody, left, right, won, n_items=len(u)), X)


if __name__ == "__main__":
    main()
