"""How good topics (coherence, similarity count, accuracy), communities (rank correlation) and mixtures (angles) are."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.core.checks import (
    added_up,
    check_whole,
    finite_matrix,
    numbers,
    rng_of,
    sound_places,
    unmasked,
    whole_matrix,
)
from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import optimize, pd, stats
from cofactor.core.types import Floats, Indices, Seed

SMOOTHING_DOCUMENTS = 0.01  # documents added to those that two words share
TO_ONE = 1e-4  # rows of memberships sum to one up to the rounding of files
ROUNDING = 10 * np.finfo(np.float64).eps  # a length below this is zero


def coherence(counts: ArrayLike | sparse.sparray | sparse.spmatrix, top_words: ArrayLike) -> float:
    """Return how often the leading words of a topic stand in the same documents.

        Coh = 1/K sum_k 2 sum_{a < b} ln((D(v_ka, v_kb) + 0.01) / D(v_ka))

    D counts the documents that hold a word, or both; v_ka is the a-th word of topic k.

    Parameters
    ----------
    counts : (D, N) array or scipy.sparse matrix
    top_words : (K, n) ints
        Words of every topic, the heaviest first, as `TopicModel.top_words` gives them; usually n = 20.

    The result is zero where all words stand in all documents, the more negative the less they go together. Raises
    `CofactorError` for words that stand in no document (they are named).

    Source: Nguyen, Fu and Wu, Sec. V-B, with the definition of Huang, Fu and Sidiropoulos, NIPS 2016. The factor 2
    comes from summing a matrix and its transpose in the released code; the published numbers have it.

    Examples
    --------
    >>> round(coherence([[1, 2, 0], [3, 1, 0], [0, 0, 1]], [[0, 1]]), 6)  # 2 ln(2.01 / 2)
    0.009975
    """
    given = sound_places(counts, "counts") if sparse.issparse(counts) else numbers(counts, "counts", 2)
    present = added_up(sparse.csc_array(given)) > 0
    words = whole_matrix(top_words, "top_words", present.shape[1])
    return float(np.mean([_coherence_of_one(present[:, own].toarray().astype(np.float64), own) for own in words]))


def pair_coherence(counts: ArrayLike | sparse.sparray | sparse.spmatrix, words: ArrayLike) -> float:
    """Return how much more often the words of one topic share documents than by chance: from -1 over 0 (chance) to 1.

        mean over pairs a < b of  ln(p_ab / (p_a p_b)) / -ln p_ab

    p_a is the share of documents with word a, p_ab of those with both. A pair that shares no document counts as -1, one
    that stands in all documents as 1. NaN of fewer than two words.

    Source: Bouma, GSCL 2009 (normalised pointwise mutual information).

    >>> round(pair_coherence([[1, 2, 0], [3, 1, 0], [0, 0, 1], [0, 0, 2]], [0, 1]), 6)
    1.0
    """
    present = sparse.csc_array(sound_places(counts, "counts") if sparse.issparse(counts) else numbers(counts, "counts"))
    own = (added_up(present) > 0)[:, whole_matrix(np.atleast_2d(words), "words", present.shape[1])[0]]
    p = (own.T.astype(np.float64) @ own.astype(np.float64)).toarray() / own.shape[0]
    together = p[a := np.triu_indices(len(p), 1)]
    single = np.diagonal(p)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.log(together / (single[a[0]] * single[a[1]])) / -np.log(together)
    scores = np.where(together == 0, -1.0, np.where(together == 1, 1.0, scores))
    return float(scores.mean()) if scores.size else float("nan")


def _coherence_of_one(present: Floats, words: Indices) -> float:
    in_common = present.T @ present
    absent = words[np.diagonal(in_common) == 0]
    if absent.size:
        raise CofactorError(f"no document contains the words {listing(absent.tolist())}: leave them out of the topics")
    a, b = np.triu_indices(len(words), k=1)
    return float(2 * np.log((in_common[a, b] + SMOOTHING_DOCUMENTS) / in_common[a, a]).sum())


def sim_count(top_words: ArrayLike) -> int:
    """Count the words that topics share: over all pairs of topics, those that are among the leading words of both.

    `top_words` is (K, n), as for `coherence`. Zero where no word leads two topics. Source: as of `coherence`.

    >>> sim_count([[0, 1, 2], [2, 3, 4], [2, 1, 5]])
    4
    """
    words = whole_matrix(top_words, "top_words")
    _, times = np.unique(words, return_counts=True)  # a word leads a topic once: its pairs follow from this
    return int(np.sum(times * (times - 1) // 2))


def clustering_accuracy(truth: ArrayLike, clusters: ArrayLike) -> float:
    """Return the share of items in the right cluster, under the naming of clusters that is best.

    `truth` and `clusters` are (D,) codes; `CofactorError` where they are not of the same length, or empty. Source: Cai,
    He and Han, IEEE TKDE 2005, Sec. 5.2 (Hungarian algorithm).

    Examples
    --------
    >>> clustering_accuracy([0, 0, 1, 1], [5, 5, 5, 2])
    0.75
    """
    known, found = unmasked(truth), unmasked(clusters)
    if known.shape != found.shape or known.ndim != 1 or not known.size:
        raise CofactorError(f"truth {known.shape} and clusters {found.shape} must be two lists of the same length")
    bad = np.flatnonzero(pd.isna(known) | pd.isna(found))
    if bad.size:
        raise CofactorError(f"NaN in rows {listing(bad.tolist())} of truth or clusters: leave these rows out")
    (classes, known), (groups, found) = (np.unique(codes, return_inverse=True) for codes in (known, found))
    both = np.bincount(known * len(groups) + found, minlength=len(classes) * len(groups)).reshape(len(classes), -1)
    return float(both[optimize.linear_sum_assignment(both, maximize=True)].sum() / len(known))


def document_accuracy(truth: ArrayLike, weights: ArrayLike, n_runs: int = 10, random_state: Seed = None) -> float:
    """Return the mean `clustering_accuracy` of k-means on document weights (ClustAcc of the paper).

    Rows of `weights`, (D, K), are scaled to length one and clustered into K; the best of 10 starts counts, and the mean
    is over `n_runs` such runs.

    Cost: O(n_runs * 10 * D K^2) per step of k-means.

    Source: Nguyen, Fu and Wu, Sec. V-B, as the released code does it. It weights TF-IDF documents, but the published
    numbers follow from raw counts, which `topic_model` weights.
    """
    from sklearn.cluster import KMeans  # here: slow to import

    check_whole(1, n_runs=n_runs)
    points = _unit(finite_matrix(weights, "weights"))
    if len(points) < points.shape[1]:
        raise CofactorError(
            f"{len(points)} documents cannot be put into {points.shape[1]} clusters: give more documents"
        )
    rng = rng_of(random_state)
    runs = [
        KMeans(points.shape[1], n_init=10, random_state=int(rng.integers(2**31))).fit_predict(points)
        for _ in range(n_runs)
    ]
    return float(np.mean([clustering_accuracy(truth, clusters) for clusters in runs]))


def spearman_rank_correlation(truth: ArrayLike, estimate: ArrayLike) -> float:
    """Return the mean rank correlation of true and estimated memberships, communities matched (SRC).

        SRC = max over permutations of 1/K sum_k corr(ranks of truth_k, ranks of estimate_k)

    Parameters
    ----------
    truth, estimate : (N, K) arrays
        Rows nonnegative, summing to one; rows of zeros are allowed in `estimate` (nodes of which nothing is known).
        Ties share their mean rank; a column without differences correlates with nothing.

    Raises
    ------
    CofactorError
        The shapes differ, or rows are no memberships (they are named).

    Cost: O(N K (log N + K)) time.

    Source: Mao, Sarkar and Chakrabarti, ICML 2017; Table IV of Nguyen, Fu and Wu, over all nodes.

    Examples
    --------
    >>> round(spearman_rank_correlation([[1, 0], [0.5, 0.5], [0, 1]], [[0.1, 0.9], [0.3, 0.7], [0.8, 0.2]]), 6)
    1.0
    """
    known, found = _memberships(truth, "truth"), _memberships(estimate, "estimate", zeros=True)
    if known.shape != found.shape:
        raise CofactorError(f"truth {known.shape} and estimate {found.shape} have different shapes: one row per node")
    correlation = _standard_ranks(known).T @ _standard_ranks(found)
    return float(correlation[optimize.linear_sum_assignment(correlation, maximize=True)].mean())


def _standard_ranks(M: Floats) -> Floats:
    """Ranks of every column, shifted and scaled to mean zero and length one."""
    ranks = stats.rankdata(M, axis=0)
    return _unit((ranks - ranks.mean(axis=0)).T).T


def _unit(rows: Floats) -> Floats:
    """Rows scaled to length one; those of zeros, but for rounding, stay."""
    lengths = np.sqrt(np.einsum("nk,nk->n", rows, rows))
    return rows / np.where(lengths < ROUNDING, 1.0, lengths)[:, None]


def _memberships(values: ArrayLike, name: str, zeros: bool = False) -> Floats:
    M = numbers(values, name)
    if M.ndim != 2 or not M.size:
        raise CofactorError(f"{name} must have one row per node and one column per community, got shape {M.shape}")
    good = (M >= 0).all(axis=1) & (np.abs(M.sum(axis=1) - 1) <= TO_ONE)
    if zeros:
        good |= (M == 0).all(axis=1)
    bad = np.flatnonzero(~good)
    if bad.size:
        raise CofactorError(f"{name}: rows {listing(bad.tolist())} are not nonnegative or do not sum to one")
    return M


def mrsa(W: ArrayLike, found: ArrayLike) -> float:
    """Return the mean-removed spectral angle between true and found pure columns, matched, from 0 to 100.

        MRSA = min over permutations of 1/K sum_k 100/pi arccos( <w_k - w, v_k - v> / (|w_k - w| |v_k - v|) ),

    where w and v are the mean columns of W and of what was found.

    `W` and `found` are (M, K); `CofactorError` where they are not. Cost: O(M K^2 + K^3). Source: Gillis and Luce 2018.
    As in the released code of Nguyen, Fu and Wu, the mean column is taken off, where Gillis and Luce take off the mean
    of each column. A column equal to the mean has no direction: its angle is a right one.

    Examples
    --------
    >>> W = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> round(mrsa(W, W[:, ::-1]), 6)
    0.0
    """
    true, other = finite_matrix(W, "W"), finite_matrix(found, "found")
    if true.shape != other.shape:
        raise CofactorError(
            f"pure columns of shapes {true.shape} and {other.shape} cannot be compared: give two (M, K)"
        )
    cosine = np.clip(_directions(true).T @ _directions(other), -1, 1)
    angle = np.arccos(cosine)
    return float(100 / np.pi * angle[optimize.linear_sum_assignment(angle)].mean())


def _directions(W: Floats) -> Floats:
    W = W / (np.abs(W).max() or 1.0)  # no direction depends on it, and no square leaves the range of numbers
    centred = W - W.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=0)
    least = ROUNDING * np.sqrt(len(W))  # of a column that is not the mean but for rounding
    return np.asarray(centred / np.where(lengths > least, lengths, 1.0))


def rae(X: ArrayLike, W: ArrayLike, H: ArrayLike) -> float:
    """Return the relative approximation error, 1 - ||X - W H||_F / ||X||_F: one where W H is X.

    `CofactorError` where shapes do not fit, X is zero, or W H is too large beside X for any number to say.

    Source: Gillis and Luce 2018, who call it an error although more of it is better.

    >>> rae([[2.0, 0.0]], [[1.0]], [[2.0, 0.0]])
    1.0
    """
    X, W, H = (finite_matrix(matrix, name) for matrix, name in ((X, "X"), (W, "W"), (H, "H")))
    if X.shape != (W.shape[0], H.shape[1]) or W.shape[1] != H.shape[0]:
        raise CofactorError(f"X {X.shape} is not of the shape of W {W.shape} times H {H.shape}")
    if not X.any():
        raise CofactorError("X is zero, so that a relative error has no meaning")
    largest = np.abs(X).max()  # divided out, lest squares vanish or overflow
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.linalg.norm((X - W @ H) / largest) / np.linalg.norm(X / largest)
    if not np.isfinite(error):
        raise CofactorError("W H is too large to be compared with X: scale W and H")
    return float(1 - error)
