"""CNMF-SPA: a joint PMF in closed form, from the anchors of one virtual nonnegative matrix.

Split the variables into S_1 and S_2 and put their joint PMFs side by side. Since X_jk = A_j diag(lambda) A_k',

    X = [X_jk, j in S_1, k in S_2] = W H',   W = [A_j, j in S_1],   H = [A_k diag(lambda), k in S_2].

A value of a variable in S_2 that (nearly) one latent class alone takes makes its column of X a multiple of a column
of W: an anchor. Successive projection finds them.

    symbol   meaning                                                        shape
    X_jk     joint frequencies of variables j and k                         (I_j, I_k)
    X        the virtual matrix                                             (sum over S_1 of I_j, sum over S_2 of I_k)
    W        its anchor columns, block j proportional to A_j                (sum over S_1 of I_j, F)
    H        their weights, block k proportional to A_k by column           (sum over S_2 of I_k, F)

Source: Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP
2021, Algorithm 2.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from cofactor.core.checks import check_between, check_kind, check_whole, is_whole, numbers, rng_of
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.latent_class import LatentClassModel, normalize_blocks
from cofactor.core.lazy import optimize
from cofactor.core.moments import PairwiseMoments
from cofactor.core.simplex import spa
from cofactor.core.types import Floats, Ints
from cofactor.pmf.base import START_FLOOR
from cofactor.pmf.cnmf_opt import pair_divergence

SPLITS = 10  # tried by default
TRIALS = 200  # random splits looked at for one in which all pairs were observed
JITTER = 0.05  # relative, of classes added beyond the rank of X
LEAST_EIGENVALUE = 1e-12  # smallest eigenvalue that counts, relative to the largest


def cnmf_spa(
    moments: PairwiseMoments,
    rank: int,
    split: int | Sequence[int] | None = None,
    floor: float = START_FLOOR,
    pad: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> LatentClassModel:
    """Estimate a latent-class model from pairwise moments by successive projection.

        Lambda = SPA(columns of X scaled to sum one, F),   W = X[:, Lambda],   H = argmin_{H >= 0} ||X - W H'||_F
        A_n = blocks of W and H, columns scaled to sum one,   lambda = argmin_{l >= 0} ||X - W diag(l) H'||_F

    (W and H scaled, in the last problem).

    Parameters
    ----------
    moments : PairwiseMoments
        Alphabets may differ.
    rank : int
        F <= 1 + sum (I_n - 1) over S_1, and over S_2: the row blocks of X all have the same column sums.
    split : int, sequence of ints, or None
        S_1: its variables, or how many of the first (the papers: 3 or 5). Default: ten splits are tried, both ways
        round since only values in S_2 can be anchors, and the model with the smallest `pair_divergence` is kept. Sides
        are about equal, such that both caps are high, with as few pairs never observed as can be.
    floor : float
        Smallest probability of the result. EM and majorise-minimise multiply, so that a zero would stay zero.
    pad : bool
        Where X has fewer than F anchors, add copies of the classes with the largest prior, shaken by 5 %: a start for
        EM and CNMF-OPT. Default: refuse.
    random_state : int, Generator or None
        For the search of a split where some pairs were never observed, and for `pad`; else nothing is random.

    Raises a CofactorError where the rank exceeds the cap, or the anchors that X has, or a side of the split is empty.
    Warns with a DataWarning where pairs in X were never observed: independence is put in their place.

    Cost: O(I J F^2) time per split, for J columns of I rows; O(I J) memory.

    Source: IEEE TSP 2021, Algorithm 2. Deviations: H and lambda solve their least-squares problems exactly (released:
    300 to 1000 projected gradient steps from a random start, and a ratio of maxima); columns of zeros are left out
    (released: NaN); several splits are tried; unobserved pairs are not taken for zeros; entries are floored at 1e-3
    (released: 1e-6).

    >>> from cofactor.core.moments import pairwise_moments
    >>> truth = LatentClassModel([0.6, 0.4], [[[0.9, 0.0], [0.1, 0.6], [0.0, 0.4]]] * 4)
    >>> table, _ = truth.sample(100_000, random_state=1)
    >>> cnmf_spa(pairwise_moments(table), rank=2).align_to(truth).prior.round(2)
    array([0.6, 0.4])
    """
    check_between(0, 1, floor=floor)
    check_kind(PairwiseMoments, moments=moments)
    check_whole(1, rank=rank)
    rng = rng_of(random_state)
    found, refused = [], []
    for S1, S2 in _splits(moments, split, rng):
        try:
            found.append((_on_split(moments, rank, S1, S2, floor, pad), S1, S2))
        except CofactorError as refusal:
            refused.append(refusal)
    if not found:
        raise refused[0]
    model, S1, S2 = found[0] if len(found) == 1 else min(found, key=lambda one: pair_divergence(moments, one[0]))
    unobserved = np.argwhere(moments.n_joint[S1][:, S2].toarray() == 0)
    if len(unobserved):
        pairs = [(int(S1[j]), int(S2[k])) for j, k in unobserved]
        message = f"pairs never observed, which CNMF-SPA treats as independent: {listing(pairs)}"
        warnings.warn(message, DataWarning, stacklevel=2)
    return _padded(model, rank, rng) if model.n_classes < rank else model


def _on_split(moments: PairwiseMoments, rank: int, S1: Ints, S2: Ints, floor: float, pad: bool) -> LatentClassModel:
    """Run Algorithm 2 on one split: anchors W, weights H by nonnegative least squares, then the prior."""
    cap = _cap(moments.sizes, S1, S2)
    if rank > cap and not pad:
        raise CofactorError(
            f"rank={rank}: with variables {listing(S1.tolist())} on one side of the split, successive projection can "
            f"find at most {cap} classes; ask for fewer, split otherwise, or use CNMF-OPT or EM"
        )
    X = virtual_matrix(moments, S1, S2)
    totals = X.sum(axis=0)
    columns = np.flatnonzero(totals > 0)  # columns of zeros are of values that never occurred
    anchors = columns[spa(X[:, columns] / totals[columns], min(rank, cap, len(columns)))]
    if len(anchors) < rank and not pad:
        raise CofactorError(
            f"rank={rank}: the pairwise frequencies show only {len(anchors)} classes; ask for at most that many, or "
            "use CNMF-OPT or EM"
        )
    W = X[:, anchors]
    H = np.stack([optimize.nnls(W, x)[0] for x in X.T])
    W, H = normalize_blocks(W, moments.sizes[S1]), normalize_blocks(H, moments.sizes[S2])
    stacked = np.empty((int(moments.sizes.sum()), W.shape[1]))
    stacked[_rows(moments.sizes, S1)], stacked[_rows(moments.sizes, S2)] = W, H
    return LatentClassModel.from_stacked(_prior(X, W, H), stacked, moments.sizes).lift(floor)


def rank_cap(moments: PairwiseMoments, split: int | Sequence[int] | None = None) -> int:
    """Return the most classes `cnmf_spa` can find, 1 + sum (I_n - 1) over the side where that is less."""
    return max(_cap(moments.sizes, *sides) for sides in _splits(moments, split, np.random.default_rng(0)))


def virtual_matrix(moments: PairwiseMoments, S1: Ints, S2: Ints) -> Floats:
    """Return X, the joint frequencies of every variable in S_1 (rows) with every one in S_2 (columns).

    Pairs never observed are taken for independent.
    """
    sizes = moments.sizes
    X = moments.counts[_rows(sizes, S1)][:, _rows(sizes, S2)].toarray().astype(np.float64)
    n = np.asarray(moments.n_joint[S1][:, S2].toarray(), dtype=np.float64)
    every = np.repeat(np.repeat(n, sizes[S1], axis=0), sizes[S2], axis=1)
    X = np.divide(X, every, out=X, where=every > 0)
    if (n == 0).any():
        p = normalize_blocks(moments.singles[:, None], sizes)[:, 0]
        X = np.where(every > 0, X, np.outer(p[_rows(sizes, S1)], p[_rows(sizes, S2)]))
    return X


def _prior(X: Floats, W: Floats, H: Floats) -> Floats:
    """Minimise ||X - W diag(l) H'||_F over l >= 0 from its F x F normal equations; scaled to sum one."""
    s, V = np.linalg.eigh((W.T @ W) * (H.T @ H))
    positive = s > LEAST_EIGENVALUE * s[-1]
    root, V = np.sqrt(s[positive]), V[:, positive]
    b = np.einsum("if,ij,jf->f", W, X, H, optimize=True)
    prior = optimize.nnls((V * root).T, V.T @ b / root)[0]
    return np.asarray(prior / prior.sum())


def _padded(model: LatentClassModel, rank: int, rng: np.random.Generator) -> LatentClassModel:
    """Add copies of the classes with the largest prior, shaken; the copied class shares its prior with them."""
    missing = rank - model.n_classes
    source = np.resize(np.argsort(-model.prior, kind="stable"), missing)
    order = np.concatenate([np.arange(model.n_classes), source])
    shaken = model.stacked[:, order]
    shaken[:, model.n_classes :] *= rng.uniform(1 - JITTER, 1 + JITTER, (len(shaken), missing))
    prior = (model.prior / np.bincount(order))[order]
    return LatentClassModel.from_stacked(prior, normalize_blocks(shaken, model.sizes), model.sizes)


def _splits(
    moments: PairwiseMoments, split: int | Sequence[int] | None, rng: np.random.Generator
) -> list[tuple[Ints, Ints]]:
    """The split asked for, or several, both ways round, of those with the fewest pairs never observed."""
    N = len(moments.sizes)
    if N < 2:
        raise CofactorError("one variable has no pairs: give at least two")
    if split is None:
        halves = _halves(moments, rng)[: SPLITS // 2]
        return [sides for S1, S2 in halves for sides in ((S1, S2), (S2, S1))]
    asked = np.arange(min(split, N)) if is_whole(split) else np.unique(numbers(split, "split"))
    if not 0 < len(asked) < N or asked[0] < 0 or asked[-1] >= N or (np.floor(asked) != asked).any():
        raise CofactorError(f"split={split!r}: give some, but not all, of the variables 0..{N - 1}, or how many")
    S1 = asked.astype(np.int64)
    return [(S1, np.setdiff1d(np.arange(N), S1))]


def _halves(moments: PairwiseMoments, rng: np.random.Generator) -> list[tuple[Ints, Ints]]:
    """Deal the variables out to two sides, the largest alphabets first, beginning anywhere.

    Where pairs would be missing in all of these, random orders are tried, too.
    """
    N = len(moments.sizes)
    mine = np.isin(np.arange(N) % 4, (0, 3))  # one, two to the other, two back, ...: as equal as falling sums get
    unobserved = moments.n_joint.toarray() == 0
    tried: dict[bytes, tuple[int, Ints, Ints]] = {}
    for trial in range(N + TRIALS):
        if trial >= N and not min(one[0] for one in tried.values()):
            break
        order = np.roll(np.arange(N), -trial) if trial < N else rng.permutation(N)
        order = order[np.argsort(-moments.sizes[order], kind="stable")]
        S1, S2 = np.sort(order[mine]), np.sort(order[~mine])
        tried[S1.tobytes()] = int(unobserved[np.ix_(S1, S2)].sum()), S1, S2
    fewest = min(one[0] for one in tried.values())
    return [(S1, S2) for missing, S1, S2 in tried.values() if missing == fewest]


def _cap(sizes: Ints, S1: Ints, S2: Ints) -> int:
    return 1 + min(int((sizes[S] - 1).sum()) for S in (S1, S2))


def _rows(sizes: Ints, variables: Ints) -> Ints:
    """Stacked rows of these variables, in this order."""
    first = np.cumsum(sizes) - sizes
    return np.concatenate([np.arange(first[n], first[n] + sizes[n]) for n in variables])
