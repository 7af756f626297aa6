"""``cofactor topics``: topics of documents, from counts of words."""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import cofactor as cf
from cofactor.core.cells import check_present, look_alikes, numeric, told
from cofactor.core.checks import check_whole
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.lazy import pd
from cofactor.core.memory import available_bytes, require_bytes
from cofactor.reading.matrices import is_array_file, read_matrix
from cofactor.reading.tables import STDIN, read_frame, without_headers
from cofactor_app.cli import tell
from cofactor_app.cli.output import write_page
from cofactor_app.cli.parts import noted
from cofactor_app.cli.separable import DOUBLE, outputs_of, write_weights

FEWEST_WORDS = 8  # columns of counts that make a table of words
SEVERAL = 3  # words make a text
USUAL = {  # other names of the columns that topics needs
    "document": ("doc", "doc_id", "docid", "document_id", "id", "text_id", "d"),
    "word": ("token", "term", "feature", "lemma", "w"),
    "count": ("n", "freq", "frequency", "tf", "counts"),
}


def topics(arguments: argparse.Namespace) -> None:
    """Find topics of documents; print their words, and write what was asked for."""
    with outputs_of(arguments, arguments.counts, arguments.vocabulary) as writer:
        with noted(arguments.strict):
            counts, documents, words = _counts(arguments)
        D, N = counts.shape
        lines = [f"{arguments.counts}: {D} documents, {N} words, {counts.sum():.0f} in all"]
        lines.append(_topic_memory_said(arguments, counts))
        settings = arguments.method, arguments.min_documents, 0
        least = arguments.min_documents
        model = cf.separable.topic_model(counts, arguments.anchors, *settings)
        table = _topic_table(model, counts, words, arguments.words)
        out, used = model.dropped.size, counts.shape[1] - model.dropped.size
        said = f"{used} words used, {out} left out: in fewer than {least} documents, or in all"
        lines.append(f"{said}; another --min-documents can give other topics: compare 2, 5 and 10")
        tell([*lines, *_topic_lines(table)])
        if arguments.output:
            writer.write(arguments.output, [table], f"{arguments.anchors} topics")
        columns = [f"topic_{k}" for k in range(1, arguments.anchors + 1)]
        write_weights(arguments.weights, writer, model.weights, documents, columns)
        if arguments.report:
            from cofactor_app.pages.separable import topics_page

            write_page(arguments.report, topics_page(arguments.counts, arguments.method, model, counts, table, lines))


def _counts(arguments: argparse.Namespace) -> tuple[sparse.csr_array, list[str], list[str]]:
    """Return counts of words in documents, and the names of both."""
    if arguments.counts == STDIN or not is_array_file(arguments.counts):
        if arguments.vocabulary:
            raise CofactorError("--vocabulary goes with a matrix (.npz, .mtx): a table has its words in a column")
        return _counted(arguments)
    matrix, _, _ = read_matrix(arguments.counts)
    if matrix.ndim == 3:
        raise CofactorError(f"{arguments.counts} has three dimensions; topics need documents by words")
    counts = sparse.csr_array(matrix, dtype=np.float64)
    words = [str(n) for n in range(counts.shape[1])]
    if arguments.vocabulary:
        words = _vocabulary(arguments.vocabulary, arguments.encoding)
    if len(words) != counts.shape[1]:
        found = f"{len(words)} words for {counts.shape[1]} columns"
        turned = "; the matrix seems to have words as rows: transpose it" if len(words) == counts.shape[0] else ""
        raise CofactorError(f"{arguments.vocabulary}: {found}, one line per column is needed{turned}")
    return counts, [str(n) for n in range(counts.shape[0])], words


def _vocabulary(path: Path, encoding: str) -> list[str]:
    words = _lines(path, encoding)
    lines = Counter(words)
    bad = [f"line {n} ({word!r})" for n, word in enumerate(words, 1) if lines[word] > 1 or not word.strip()]
    if bad:
        raise CofactorError(f"{path}: words that are blank or there twice in {listing(bad)}: give each column its own")
    return words


def _lines(path: Path, encoding: str) -> list[str]:
    r"""Return the words of a file, one a line; only \n ends a line, since a word may hold other signs that do."""
    if not path.is_file():
        raise CofactorError(f"no such file: {path}")
    try:
        text = path.read_bytes().decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        advice = "save it as UTF-8, or name its encoding, for example encoding=latin-1"
        raise CofactorError(f"{path} cannot be read as text ({error}): {advice}") from None
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _counted(arguments: argparse.Namespace) -> tuple[sparse.csr_array, list[str], list[str]]:
    """Read a table with a row per document and word."""
    names = [arguments.document, arguments.word, arguments.count]
    recognise = partial(_recognised, arguments=arguments)
    frame = read_frame(arguments.counts, names, arguments.encoding, arguments.sep, "count", recognise=recognise)
    frame = without_headers(frame, {name: (name, *USUAL.get(name, ())) for name in reversed(names)})
    for name in names[:2]:
        check_present(frame[name], name, text=True)
        if message := told(look_alikes(frame[name].unique()), f"{name}s"):
            warnings.warn(f"{message.split(';')[0]}; write them in one way", DataWarning, stacklevel=2)
    rule = f"{names[2]}: whole numbers from 0 are needed"
    count = numeric(frame, names[2], rule, lambda n: np.isfinite(n) & (n >= 0) & (np.floor(n) == n))
    (row, documents), (column, words) = (pd.factorize(frame[name], sort=True) for name in names[:2])
    counts = sparse.coo_array((count, (row, column)), shape=(len(documents), len(words))).tocsr()
    return counts, [str(name) for name in documents], [str(name) for name in words]


def _recognised(frame: pd.DataFrame, names: Sequence[str], arguments: argparse.Namespace) -> pd.DataFrame:
    """Return the columns document, word and count of a table that calls them otherwise, or has none of the kind."""
    usual = {wanted: _usual(frame, wanted) for wanted in names}
    if all(usual.values()):
        said = ", ".join(f"{wanted} from {name}" for wanted, name in usual.items() if wanted != name)
        warnings.warn(f"columns: {said}", DataWarning, stacklevel=2)
        return pd.DataFrame({wanted: frame[name] for wanted, name in usual.items()}, index=frame.index)
    found = _wide_counted(frame, names)
    return _texts_counted(frame, names, arguments) if found is None else found


def _usual(frame: pd.DataFrame, wanted: str) -> str | None:
    """Return the only column that is called as wanted, or by another usual name of the same."""
    if wanted in frame:
        return wanted
    there = [str(name) for name in frame if str(name).strip().casefold() in USUAL.get(wanted, ())]
    return there[0] if len(there) == 1 else None


def _wide_counted(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame | None:
    """Return the counts of a table with a row a document and a column a word; None where it is no such table."""
    numbers = frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    whole = (np.isfinite(numbers) & (numbers >= 0) & (np.floor(numbers) == numbers)).all(axis=0)
    first = str(frame.columns[0])
    named = not whole[0] or first.strip().casefold() in (*USUAL["document"], "", "unnamed: 0", "row_0")
    if frame.shape[1] - named < FEWEST_WORDS or not whole[int(named) :].all():
        return None
    documents = frame.iloc[:, 0].astype(str) if named else pd.Series(map(str, frame.index), index=frame.index)
    if documents.duplicated().any():
        return None
    row, column = np.nonzero(numbers[:, int(named) :])
    words, counts = np.array(frame.columns[int(named) :], dtype=str), numbers[:, int(named) :][row, column]
    called = f"a document a row ({'named by ' + repr(first) if named else 'numbered'})"
    warnings.warn(f"one column a word, {called}", DataWarning, stacklevel=2)
    found = documents.to_numpy()[row], words[column], counts.astype(np.int64).astype(str)
    return pd.DataFrame(dict(zip(names, found, strict=True)), index=frame.index[row], dtype=object)


def _texts_counted(frame: pd.DataFrame, names: Sequence[str], arguments: argparse.Namespace) -> pd.DataFrame:
    """Return the counts of words, where a table has one column of texts instead; its rows are the documents."""
    texts = [name for name in frame.columns if _are_texts(frame[name])]
    column = "text" if "text" in texts else texts[0] if len(texts) == 1 else None
    if column is None and len(texts) > 1:
        raise CofactorError(f"columns {listing(texts)} hold texts: keep one, or call it text")
    if column is None:
        return frame
    rows, cells = [str(row) for row in frame.index], frame[column].fillna("").tolist()
    headless = _are_texts(pd.Series([column]))
    if headless:  # the first document stands where the header should
        rows, cells = ["1", *rows], [column, *cells]
    from sklearn.feature_extraction.text import CountVectorizer  # here: slow to import

    words = arguments.stop_words
    left_out = words if words in (None, "english") else [word.lower() for word in _lines(Path(words), "utf-8-sig")]
    reader = CountVectorizer(stop_words=left_out, ngram_range=(1, arguments.ngrams))
    try:
        counts = reader.fit_transform(cells).tocoo()
    except ValueError as error:
        raise CofactorError(f"{arguments.counts}: no words in column {column} ({error})") from None
    called = "the only column, without a header," if headless else f"column {column}"
    warnings.warn(f"{called} holds texts: a document a row, words counted in lower case", DataWarning, stacklevel=2)
    found = np.array(rows)[counts.row], reader.get_feature_names_out()[counts.col], counts.data.astype(str)
    index = pd.Index(frame.index[np.maximum(counts.row - headless, 0)], name=frame.index.name)
    return pd.DataFrame(dict(zip(names, found, strict=True)), index=index, dtype=object)


def _are_texts(column: pd.Series[Any]) -> bool:
    """Whether most cells hold several words."""
    return bool((column.dropna().astype(str).str.count(r"\w\w+") >= SEVERAL).mean() > 0.5)


def _topic_memory_said(arguments: argparse.Namespace, counts: sparse.csr_array) -> str:
    K, N = arguments.anchors, counts.shape[1]
    check_whole(1, n_topics=K, words=arguments.words)
    needed = 6 * 12 * counts.nnz + 6 * DOUBLE * K * sum(counts.shape)
    if arguments.method != "LDA":
        M = N if arguments.method == "FastAnchor" else 2 * K
        finder = "SPA" if arguments.method == "NMF" else arguments.method
        needed += cf.separable.predicted_bytes(finder, min(M, 1000), N, K)
    require_bytes(needed, f"{arguments.method} on {N} words", "use --method SPA, or a larger --min-documents")
    return f"memory: {needed / 1e9:.2g} GB predicted, {available_bytes() / 1e9:.2g} GB free"


def _topic_table(
    model: cf.separable.TopicModel, counts: sparse.csr_array, words: list[str], n_words: int
) -> pd.DataFrame:
    """Return the leading words of every topic, with its anchor word, share of all weights and coherence."""
    top = model.top_words(n_words)
    total = model.weights.sum() or 1.0
    rows = []
    for k, chosen in enumerate(top):
        chosen = chosen[model.topics[chosen, k] > 0]
        anchor = words[model.anchors[k]] if len(model.anchors) else ""
        share, coherence = model.weights[:, k].sum() / total, cf.separable.coherence(counts, [chosen])
        rows += [
            (k + 1, anchor, round(share, 6), round(coherence, 4), place, words[n], round(model.topics[n, k], 6))
            for place, n in enumerate(chosen.tolist(), 1)
        ]
    return pd.DataFrame(rows, columns=["topic", "anchor", "share", "coherence", "place", "word", "probability"])


def _topic_lines(table: pd.DataFrame) -> Iterator[str]:
    for topic, own in table.groupby("topic"):
        head = own.iloc[0]
        yield f"topic {topic} ({head['share']:.1%}, coherence {head['coherence']:.1f}): {' '.join(own['word'])}"
