"""``topics``: from texts or word counts to topics, their leading words, and the topics of each document."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from cofactor.core.cells import Spelling
from cofactor.core.checks import check_whole, require_bytes, unmasked
from cofactor.core.errors import CofactorError, DataWarning, amount, listing
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Seed
from cofactor.data import fetch, load
from cofactor.data.registry import entries
from cofactor.reading.texts import (
    LIST,
    TEXT,
    Asked,
    Texts,
    counted,
    is_counts_file,
    of_matrix,
    of_texts,
    read_counts,
    read_texts,
)
from cofactor.separable.methods import predicted_bytes
from cofactor.separable.metrics import pair_coherence
from cofactor.separable.topics import TopicModel, topic_model
from cofactor.verbs.result import Result, as_frame, frame_like, is_path, named_source, noting, paths_of

NAMES = ("NMF", "SPA", "MERIT", "FastAnchor", "LDA")  # the default first
ANCHORED = ("SPA", "MERIT", "FastAnchor")  # whose topics are those of anchor words
DOUBLE = 8  # bytes


@dataclass(repr=False, eq=False)
class TopicsResult(Result):
    """Result of `topics`: leading words, topics of documents and of new documents, notes, the fit, and a report.

    Attributes
    ----------
    topics : DataFrame
        One row per topic and word: topic, share (of all words), coherence (mean over pairs of its leading words, see
        `pair_coherence`), anchor (for methods with anchor words), place, word, probability.
    documents : DataFrame
        One row per document, in the input's order: document, topic_1 to topic_K (probabilities; zero if it has no word
        that is used), weight_1 to weight_K (how many of its words each topic accounts for).
    method : TopicModel
    counts : (D, N) scipy.sparse csr_array
    words : list of N words
    """

    page: ClassVar[str] = "topics"
    source: str
    topics: pd.DataFrame
    documents: pd.DataFrame
    method: TopicModel
    counts: sparse.csr_array
    words: list[str]
    called: str
    about: list[str]
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def shown(self) -> pd.DataFrame:
        """One row per topic: topic, share, coherence, words."""
        own = self.topics.groupby("topic")
        words = own["word"].agg(", ".join).rename("words")
        return pd.concat([own[["share", "coherence"]].first(), words], axis=1).reset_index()

    @property
    def details(self) -> list[str]:
        """Details of the fit, one line each."""
        return self.about

    @property
    def summary(self) -> list[str]:
        """The size of the data, and the number of topics."""
        D, N = self.counts.shape
        used = N - self.method.dropped.size
        left = f" ({N - used:,} dropped)" if used < N else ""
        topics = amount(self.method.topics.shape[1], "topic")
        return [f"{amount(D, 'document')}, {amount(used, 'word')}{left}, {topics}"]

    def screen(self, more: str = "topics has all") -> list[str]:
        """Return the answer as the command prints it, line by line; `more` says where the rest of the table is."""
        table = self.shown
        lines = [*self.summary, "topic  share  coherence  words"]
        columns = (table[name].head(10) for name in ("topic", "share", "coherence", "words"))
        for topic, share, coherence, words in zip(*columns, strict=True):
            together = "-" if np.isnan(coherence) else f"{coherence:.2f}"  # of a single word
            lines.append(f"{topic:>5}  {f'{100 * share:.0f} %':>5}  {together:>9}  {words}")
        hidden = len(table) - 10
        return [*lines, *([f"... and {hidden:,} more: {more}"] if hidden > 0 else [])]

    def transform(self, texts: Any) -> pd.DataFrame:
        """Return the table `documents` for new texts, or for a (D, N) matrix of counts of the same words.

        Words that are not in the vocabulary are ignored. Raises a CofactorError if counts have a different number of
        words. Cost: O(words of the texts + D K^3).
        """
        if sparse.issparse(texts) or (isinstance(texts, np.ndarray) and texts.dtype.kind in "buif"):
            counts = sparse.csr_array(texts, dtype=np.float64)
        elif isinstance(texts, str):
            raise CofactorError("expected several texts, got one string: give a list")
        else:
            counts = of_texts([text if isinstance(text, str) else "" for text in texts], self.words)
        names = (
            [str(name) for name in texts.index] if isinstance(texts, pd.Series) else map(str, range(counts.shape[0]))
        )
        return _documents(_weights(self.method, self.called, counts), list(names))


def topics(
    source: Any,
    n_topics: int | None = None,
    *,
    document: str | None = None,
    word: str | None = None,
    count: str | None = None,
    vocabulary: str | PathLike[str] | Sequence[str] | None = None,
    stop_words: str | PathLike[str] | Sequence[str] | None = None,
    ngrams: int = 1,
    min_documents: int = 2,
    method: str = NAMES[0],
    words: int = 10,
    spelling: Spelling = "classes",
    skip_bad: bool = False,
    encoding: str = "utf-8-sig",
    sep: str | None = None,
    random_state: Seed = 0,
) -> TopicsResult:
    """Find topics in texts or word counts, and the topic probabilities of each document.

    Parameters
    ----------
    source : path, several paths, name of a data set, DataFrame, list of texts, array or sparse matrix
        A table with a column of texts, with document, word and count, or with one column per word; or a matrix of
        documents by words. Documents from several files are joined.
    n_topics : int
        Required: the number cannot be inferred from texts.
    document, word, count : names of columns that are not recognised; `document` also applies to texts
    vocabulary : path or list
        The words of a matrix, one per line.
    stop_words : "english", path or list
        Words to leave out of texts.
    ngrams : int
        Count sequences of up to this many words in texts.
    min_documents : int
        Leave out words that occur in fewer documents, and those that occur in all.
    method : {"NMF", "SPA", "MERIT", "FastAnchor", "LDA"}
        See `cofactor.separable.topic_model`. "NMF" is started twice, and the fit with the smaller error is kept.
    words : int
        Number of leading words per topic in the table.
    spelling : {"classes", "keep", "all"}
        "all": words and documents of a table of counts are merged if they differ only in capitals, surrounding blanks
        or invisible characters.
    skip_bad : bool
        Leave out rows of counts that cannot be read, and documents of a matrix with values that are no counts, and name
        them, instead of raising an error.
    encoding, sep : encoding and column separator of text files
    random_state : of FastAnchor and LDA

    Returns a `TopicsResult`. Documents keep their names and their order.

    Raises a CofactorError if the texts cannot be read (rows are named), a number is out of range, or memory is short.
    Warns (`DataWarning`) about columns that were recognised, and about documents without a word that is used.
    Cost: see `topic_model`.

    >>> import warnings
    >>> pets, sky = "cat dog pet", "sun rain sky"
    >>> with warnings.catch_warnings(action="ignore"):
    ...     found = topics([pets, sky, pets, "", sky], 2, words=3)
    >>> found.documents.filter(like="topic_").to_numpy().round(2).sum(axis=1).tolist()
    [1.0, 1.0, 1.0, 0.0, 1.0]
    """
    if n_topics is None:
        raise CofactorError(
            "n_topics is required, because texts do not suggest a number: give n_topics, such as n_topics=10"
        )
    check_whole(1, n_topics=n_topics, words=words, ngrams=ngrams, min_documents=min_documents)
    if method not in NAMES:
        raise CofactorError(f"no method {method!r}: choose one of {listing(NAMES)}")
    notes, warned = list[str](), list[str]()
    with noting(notes, []):  # what was recognised questions no answer
        asked = Asked(document, word, count, stop_words, ngrams, spelling, skip_bad)
        texts = _texts(source, asked, vocabulary, encoding, sep)
        _check_memory(texts, n_topics, method)
    with noting(notes, warned):
        model = topic_model(texts.counts, n_topics, method, min_documents, random_state, second_start=True)
        weights = np.where(_has_words(texts.counts, model)[:, None], model.weights, 0.0)
        empty = [texts.documents[n] for n in np.flatnonzero(~_has_words(texts.counts, model))]
    with noting(notes, []):
        if empty:
            count_of = f"{len(empty):,} of {len(texts.documents):,} documents contain no word that is used"
            warnings.warn(f"{count_of}, so their rows are zero: {listing(empty)}", DataWarning, stacklevel=2)
    table = _table(model, weights, texts, words, method)
    reason = model.result.reason if model.result else "done"
    tables = named_source(source), table, _documents(weights, texts.documents)
    return TopicsResult(*tables, model, texts.counts, texts.words, method, [f"{method}: {reason}"], notes, warned)


def _texts(source: Any, asked: Asked, vocabulary: Any, encoding: str, sep: str | None) -> Texts:
    """Read documents from whatever was given."""
    texts = [] if is_path(source) or frame_like(source) or not isinstance(source, Sequence) else list(source)
    missing = [pd.api.types.is_scalar(one) and pd.isna(one) for one in texts]
    several = not all(missing) and all(none or isinstance(one, str) for one, none in zip(texts, missing, strict=True))
    files = several and all(one in entries() or (len(str(one)) < 1000 and Path(str(one)).is_file()) for one in texts)
    paths = paths_of(source) if files or not several else []
    if paths:
        parts = [_read(path, asked, vocabulary, encoding, sep) for path in paths]
        return parts[0] if len(parts) == 1 else _joined(parts, [Path(path).stem for path in paths])
    if several:
        return counted(pd.DataFrame({TEXT: texts}), asked, LIST)
    if vocabulary is None and frame_like(source):
        frame = as_frame(source)
        return counted(frame.set_axis([TEXT], axis=1) if isinstance(source, pd.Series) else frame, asked)
    array = as_frame(source).to_numpy() if frame_like(source) else source
    array = array if sparse.issparse(array) else unmasked(array)
    if array.ndim != 2 or array.dtype.kind not in "buif":
        raise CofactorError(
            f"expected texts or counts, got {type(source).__name__}: give a path, a DataFrame, a list, or a matrix"
        )
    return of_matrix(array, vocabulary, encoding, asked.skip_bad)


def _read(path: str, asked: Asked, vocabulary: Any, encoding: str, sep: str | None) -> Texts:
    known = entries().get(path)
    if known is not None and known.kind in ("texts", "topics") and not Path(path).exists():
        if known.kind == "topics":
            return of_matrix(load(path).counts, vocabulary, encoding)
        with warnings.catch_warnings(action="ignore", category=DataWarning):  # its columns are known
            return read_texts(str(fetch(path)[0]), asked, "utf-8-sig", None)
    if is_counts_file(path):
        return read_counts(path, vocabulary, encoding, asked.skip_bad)
    if vocabulary is not None:
        raise CofactorError("vocabulary can only be used with a matrix (.npz, .mtx): a table has its words in a column")
    return read_texts(path, asked, encoding, sep)


def _joined(parts: list[Texts], stems: list[str]) -> Texts:
    """Return the documents of several files, one behind the other; names that occur in several get the file's first."""
    words = sorted({word for part in parts for word in part.words})
    place = {word: n for n, word in enumerate(words)}
    blocks = []
    for part in parts:
        entries_ = part.counts.tocoo()
        row, column = entries_.coords
        column = np.array([place[word] for word in part.words], dtype=np.intp)[column]
        blocks.append(sparse.coo_array((entries_.data, (row, column)), shape=(len(part.documents), len(words))))
    names = [name for part in parts for name in part.documents]
    if len(set(names)) < len(names):
        names = [f"{stem}:{name}" for stem, part in zip(stems, parts, strict=True) for name in part.documents]
    return Texts(sparse.csr_array(sparse.vstack(blocks)), names, words)


def _check_memory(texts: Texts, K: int, method: str) -> None:
    D, N = texts.counts.shape
    needed = 6 * 12 * texts.counts.nnz + 6 * DOUBLE * K * (D + N)
    if method != "LDA":
        M = N if method == "FastAnchor" else 2 * K
        needed += predicted_bytes("SPA" if method == "NMF" else method, max(min(M, 1000), 1), N, K)
    require_bytes(needed, f"{method} on {N} words", "use --method SPA, or a larger --min-documents")


def _has_words(counts: sparse.csr_array, model: TopicModel) -> Any:
    """Return which documents contain a word that is used."""
    used = np.setdiff1d(np.arange(counts.shape[1]), model.dropped)
    return np.asarray(counts[:, used].sum(axis=1)).ravel() > 0


def _weights(model: TopicModel, method: str, counts: sparse.csr_array) -> Floats:
    """Return the weights of new documents, zero for those without a word that is used."""
    if counts.shape[1] != len(model.topics):
        raise CofactorError(f"counts have {counts.shape[1]} words, but the topics have {len(model.topics)}")
    there = _has_words(counts, model)
    weights = np.zeros((counts.shape[0], model.topics.shape[1]))
    if there.any() and method == "LDA":
        from cofactor.rivals.separable import LDA, document_shares

        weights[there] = document_shares(counts[there], model.topics, LDA().alpha)
    elif there.any():
        weights[there] = model.weights_of(counts[there])
    return weights


def _documents(weights: Floats, names: list[str]) -> pd.DataFrame:
    """Return a row a document: its name, probabilities of the topics, and weights."""
    total = weights.sum(axis=1, keepdims=True)
    shares = weights / np.where(total > 0, total, 1.0)
    columns = {f"topic_{k}": one for k, one in enumerate(shares.T, 1)}
    return pd.DataFrame({"document": names, **columns, **{f"weight_{k}": one for k, one in enumerate(weights.T, 1)}})


def _table(model: TopicModel, weights: Floats, texts: Texts, n_words: int, method: str) -> pd.DataFrame:
    """Return the leading words of every topic, with its share of all weights and its coherence."""
    total, rows = weights.sum() or 1.0, []
    for k, chosen in enumerate(model.top_words(n_words)):
        chosen = chosen[model.topics[chosen, k] > 0]
        about = {
            "topic": k + 1,
            "share": weights[:, k].sum() / total,
            "coherence": pair_coherence(texts.counts, chosen),
        }
        if method in ANCHORED:
            about["anchor"] = texts.words[model.anchors[k]]
        for place, n in enumerate(chosen.tolist(), 1):
            rows.append({**about, "place": place, "word": texts.words[n], "probability": model.topics[n, k]})
    return pd.DataFrame(rows)
