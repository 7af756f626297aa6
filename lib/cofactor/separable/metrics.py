"""Quality of topics (coherence, similarity count, accuracy), communities (rank correlation) and mixtures (angles)."""

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
    """Return the coherence of topics, which measures how often leading words of a topic occur in the same documents.

        Coh = 1/K sum_k 2 sum_{a < b} ln((D(v_ka, v_kb) + 0.01) / D(v_ka))

    D is the number of documents that contain a word, or both words; v_ka is the a-th word of topic k.

    Parameters
    ----------
    counts : (D, N) array or scipy.sparse matrix
    top_words : (K, n) ints
        Words of every topic, the heaviest first, as returned by `TopicModel.top_words`; usually n = 20.

    The result is about zero if all words occur in all documents, and the more negative, the less often they occur
    together. Raises a CofactorError for words that occur in no document (they are named).

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
    """Return the mean normalised pointwise mutual information of the words of a topic, from -1 over 0 (chance) to 1.

        mean over pairs a < b of  ln(p_ab / (p_a p_b)) / -ln p_ab

    p_a is the fraction of documents with word a, and p_ab that of documents with both. Pairs that share no document
    count as -1, and pairs that occur in all documents as 1. The result is NaN for fewer than two words.

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
        raise CofactorError(
            f"no document contains the words {listing(absent.tolist())}: leave these words out of the topics"
        )
    a, b = np.triu_indices(len(words), k=1)
    return float(2 * np.log((in_common[a, b] + SMOOTHING_DOCUMENTS) / in_common[a, a]).sum())


def sim_count(top_words: ArrayLike) -> int:
    """Count the leading words that topics share, summed over all pairs of topics.

    `top_words` is (K, n), as for `coherence`. The result is zero if no word leads two topics. Source: see `coherence`.

    >>> sim_count([[0, 1, 2], [2, 3, 4], [2, 1, 5]])
    4
    """
    words = whole_matrix(top_words, "top_words")
    _, times = np.unique(words, return_counts=True)  # a word leads a topic once: its pairs follow from this
    return int(np.sum(times * (times - 1) // 2))


def clustering_accuracy(truth: ArrayLike, clusters: ArrayLike) -> float:
    """Return the fraction of items in the right cluster, after the best matching of clusters and classes.

    `truth` and `clusters` are (D,) codes. Raises a CofactorError if their lengths differ or they are empty. Source:
    Cai, He and Han, IEEE TKDE 2005, Sec. 5.2 (Hungarian algorithm).

    Examples
    --------
    >>> clustering_accuracy([0, 0, 1, 1], [5, 5, 5, 2])
    0.75
    """
    known, found = unmasked(truth), unmasked(clusters)
    if known.shape != found.shape or known.ndim != 1 or not known.size:
        raise CofactorError(
            f"truth {known.shape} and clusters {found.shape} must be one-dimensional, nonempty and of equal length"
        )
    bad = np.flatnonzero(pd.isna(known) | pd.isna(found))
    if bad.size:
        raise CofactorError(f"truth or clusters contain NaN in rows {listing(bad.tolist())}: leave these rows out")
    (classes, known), (groups, found) = (np.unique(codes, return_inverse=True) for codes in (known, found))
    both = np.bincount(known * len(groups) + found, minlength=len(classes) * len(groups)).reshape(len(classes), -1)
    return float(both[optimize.linear_sum_assignment(both, maximize=True)].sum() / len(known))


def document_accuracy(truth: ArrayLike, weights: ArrayLike, n_runs: int = 10, random_state: Seed = None) -> float:
    """Return the mean `clustering_accuracy` of k-means on document weights (ClustAcc of the paper).

    The rows of `weights`, (D, K), are scaled to length one and clustered into K clusters, with the best of 10 starts;
    the mean is taken over `n_runs` runs.

    Cost: O(n_runs * 10 * D K^2) per step of k-means.

    Source: Nguyen, Fu and Wu, Sec. V-B, as in the released code. The code computes weights for TF-IDF documents, but
    the published numbers follow from raw counts, which `topic_model` uses.
    """
    from sklearn.cluster import KMeans  # here: slow to import

    check_whole(1, n_runs=n_runs)
    points = _unit(finite_matrix(weights, "weights"))
    if len(points) < points.shape[1]:
        raise CofactorError(f"{len(points)} documents are too few for {points.shape[1]} clusters: pass more documents")
    rng = rng_of(random_state)
    runs = [
        KMeans(points.shape[1], n_init=10, random_state=int(rng.integers(2**31))).fit_predict(points)
        for _ in range(n_runs)
    ]
    return float(np.mean([clustering_accuracy(truth, clusters) for clusters in runs]))


def spearman_rank_correlation(truth: ArrayLike, estimate: ArrayLike) -> float:
    """Return the mean rank correlation of true and estimated memberships, after matching the communities (SRC).

        SRC = max over permutations of 1/K sum_k corr(ranks of truth_k, ranks of estimate_k)

    Parameters
    ----------
    truth, estimate : (N, K) arrays
        Rows are nonnegative and sum to one; `estimate` may have rows of zeros (nodes without information). Ties share
        their mean rank; the correlation of a constant column is zero.

    Raises
    ------
    CofactorError
        The shapes differ, or rows are not memberships (they are named).

    Cost: O(N K (log N + K)) time.

    Source: Mao, Sarkar and Chakrabarti, ICML 2017; Table IV of Nguyen, Fu and Wu, over all nodes.

    Examples
    --------
    >>> round(spearman_rank_correlation([[1, 0], [0.5, 0.5], [0, 1]], [[0.1, 0.9], [0.3, 0.7], [0.8, 0.2]]), 6)
    1.0
    """
    known, found = _memberships(truth, "truth"), _memberships(estimate, "estimate", zeros=True)
    if known.shape != found.shape:
        raise CofactorError(
            f"truth {known.shape} and estimate {found.shape} must have equal shapes, with one row per node"
        )
    correlation = _standard_ranks(known).T @ _standard_ranks(found)
    return float(correlation[optimize.linear_sum_assignment(correlation, maximize=True)].mean())


def _standard_ranks(M: Floats) -> Floats:
    """Return the ranks in every column, shifted and scaled to mean zero and length one."""
    ranks = stats.rankdata(M, axis=0)
    return _unit((ranks - ranks.mean(axis=0)).T).T


def _unit(rows: Floats) -> Floats:
    """Return rows scaled to length one; rows that are zero up to rounding are not changed."""
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
        raise CofactorError(f"rows {listing(bad.tolist())} of {name} have negative entries or do not sum to one")
    return M


def mrsa(W: ArrayLike, found: ArrayLike) -> float:
    """Return the mean-removed spectral angle between true and estimated pure columns, from 0 to 100.

        MRSA = min over permutations of 1/K sum_k 100/pi arccos( <w_k - w, v_k - v> / (|w_k - w| |v_k - v|) ),

    where w_k and v_k are the columns of W and of `found`, and w and v their means.

    `W` and `found` must both be (M, K), otherwise a CofactorError is raised. Cost: O(M K^2 + K^3). Source: Gillis and
    Luce 2018. As in the released code of Nguyen, Fu and Wu, the mean column is subtracted; Gillis and Luce subtract the
    mean of each column instead. A column equal to the mean has no direction, so its angle counts as a right angle.

    Examples
    --------
    >>> W = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> round(mrsa(W, W[:, ::-1]), 6)
    0.0
    """
    true, other = finite_matrix(W, "W"), finite_matrix(found, "found")
    if true.shape != other.shape:
        raise CofactorError(
            f"pure columns of shapes {true.shape} and {other.shape} cannot be compared: the shapes must be equal"
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
    """Return the relative approximation error, 1 - ||X - W H||_F / ||X||_F, which is one if W H equals X.

    Raises a CofactorError if the shapes do not match, X is zero, or the comparison of W H with X overflows.

    Source: Gillis and Luce 2018, who call it an error although larger values are better.

    >>> rae([[2.0, 0.0]], [[1.0]], [[2.0, 0.0]])
    1.0
    """
    X, W, H = (finite_matrix(matrix, name) for matrix, name in ((X, "X"), (W, "W"), (H, "H")))
    if X.shape != (W.shape[0], H.shape[1]) or W.shape[1] != H.shape[0]:
        raise CofactorError(f"the shape of X {X.shape} does not match W {W.shape} times H {H.shape}")
    if not X.any():
        raise CofactorError("X is zero, so the relative error is undefined")
    largest = np.abs(X).max()  # divided out, lest squares vanish or overflow
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.linalg.norm((X - W @ H) / largest) / np.linalg.norm(X / largest)
    if not np.isfinite(error):
        raise CofactorError("W H is too large to be compared with X: rescale W and H")
    return float(1 - error)
