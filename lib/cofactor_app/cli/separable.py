"""``cofactor anchors`` and ``cofactor topics``: columns that others are mixtures of, and topics of documents."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import cofactor as cf
from cofactor.core.checks import check_whole
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.files import whole_file
from cofactor.core.frames import STDIN, check_present, numeric, read_frame
from cofactor.core.lazy import pd
from cofactor.core.memory import available_bytes, require_bytes
from cofactor.core.types import Floats, Indices
from cofactor.crowd.outside import is_outside
from cofactor.separable.methods import AnchorMethod
from cofactor.separable.selection import CLEAR, MOST_ANCHORS, suggest_n_anchors
from cofactor_app.cli import tell, warned
from cofactor_app.cli.matrices import is_array_file, read_matrix
from cofactor_app.cli.output import Writer, outputs, write_page

COPIES = 3  # of the dense matrix, which the checks hold beside each other
DOUBLE = 8  # bytes
POSITIVE = 0.5  # least share of the sum of absolute values that a sum has to be, to divide by it
FEWEST_WORDS = 8  # columns of counts that make a table of words
USUAL = {  # other names of the columns that topics needs
    "document": ("doc", "doc_id", "docid", "document_id", "id", "text_id", "d"),
    "word": ("token", "term", "feature", "lemma", "w"),
    "count": ("n", "freq", "frequency", "tf", "counts"),
}
SEVERAL = 3  # words make a text


def anchors(arguments: argparse.Namespace) -> None:
    """Find anchors among columns; print what they explain, and write what was asked for."""
    with _outputs(arguments, arguments.matrix) as writer:
        X, names, image = _points(arguments)
        what = f"an image of {image[0]} x {image[1]} pixels, " if image else ""
        lines = [f"{arguments.matrix}: {what}{X.shape[0]} rows, {X.shape[1]} columns to choose from"]
        lines.append(_memory_said(arguments, *X.shape))
        X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        X = _scaled(X, names) if arguments.scale else X
        if X.shape[1] > 1 and X.any() and (X[:, :1] == X).all():
            raise CofactorError(f"all {X.shape[1]} columns are equal: there are no anchors to choose between")
        kept, alone = _without_lone(X, names, arguments.anchors)
        used = X[:, kept]
        diagnosis = cf.separable.diagnose(used, arguments.anchors)
        warnings = alone + warned(diagnosis)
        K, said = _number(used, arguments.anchors)
        method = _finder(arguments.method)(K, random_state=0, verbose=True).fit(used)
        H = method.transform(X)
        table = _anchor_table(method, H, names, kept)
        left = float(np.linalg.norm(used - method.W_ @ H[:, kept]) / np.linalg.norm(used))
        lines += [said, f"{arguments.method}: {method.result_.reason}", *_anchor_lines(table, left)]
        warnings += _leads_itself_said(table)
        tell(lines, warnings)
        if arguments.output:
            writer.write(arguments.output, [table], f"{K} anchors")
        _write_weights(arguments.weights, writer, H.T, "column", names, table["name"].tolist(), image)
        if arguments.report:
            from cofactor_app.pages.separable import anchors_page  # pictures take a second to import

            made = arguments.matrix, arguments.method, used, table, left, lines, diagnosis
            write_page(arguments.report, anchors_page(*made))


def _outputs(arguments: argparse.Namespace, *inputs: str | Path | None) -> AbstractContextManager[Writer]:
    """Hold the files to write; weights that go to an .npz are no table."""
    table, arrays = arguments.weights, None
    if table and table.suffix == ".npz":
        table, arrays = arrays, table
    return outputs(arguments, [arguments.output, table], inputs, [arrays, arguments.report])


def _points(arguments: argparse.Namespace) -> tuple[Any, list[str], tuple[int, int] | None]:
    """Return the matrix, one point per column, the names of its columns, and of an image its rows and columns."""
    matrix, rows, columns = read_matrix(arguments.matrix, arguments.encoding, arguments.sep)
    if matrix.ndim == 3:
        if arguments.rows:
            raise CofactorError(f"{arguments.matrix} is an image: its pixels are the points, so leave --rows out")
        height, width, bands = matrix.shape
        names = [f"{i},{j}" for i in range(height) for j in range(width)]
        return matrix.reshape(-1, bands).T, names, (height, width)
    if arguments.rows:
        matrix, columns = matrix.T, rows
    return matrix, columns or [str(n) for n in range(matrix.shape[1])], None


def _memory_said(arguments: argparse.Namespace, M: int, N: int) -> str:
    """Refuse what would not fit, before anything is made dense; say what is needed."""
    if arguments.anchors is not None and not 1 <= arguments.anchors <= N:
        raise CofactorError(f"--anchors {arguments.anchors}: there are {N} columns, so ask for 1 to that many")
    K = arguments.anchors or min(MOST_ANCHORS, M, N)
    own = is_outside(arguments.method)
    known = 0 if own else cf.separable.predicted_bytes(arguments.method, M, N, K)
    needed = known + DOUBLE * N * (COPIES * M + 2 * K)
    require_bytes(needed, f"{arguments.method} on {N} columns", "use --method SPA, or fewer columns")
    beside = ", beside what the method itself takes" if own else ""
    return f"memory: {needed / 1e9:.2g} GB predicted{beside}, {available_bytes() / 1e9:.2g} GB free"


def _finder(name: str) -> Callable[..., AnchorMethod]:
    """Return the method of this name, or the one that is where the name says."""
    if not is_outside(name):
        return cf.separable.METHODS[name]
    from cofactor_app.cli.own import OwnAnchors  # brings the bench with it

    return partial(OwnAnchors, name=name)


def _scaled(X: Floats, names: list[str]) -> Floats:
    """Divide every column by its sum; a few negative entries, as noise leaves in dark bands, do not hinder that."""
    sums = X.sum(axis=0)
    odd = np.flatnonzero(sums < POSITIVE * np.abs(X).sum(axis=0)).tolist()
    if odd:
        named = listing(names[n] for n in odd)
        raise CofactorError(f"--scale: negative entries outweigh in columns {named}: subtract an offset, or drop them")
    return X / np.where(sums > 0, sums, 1.0)


def _without_lone(X: Floats, names: list[str], asked: int | None) -> tuple[Indices, list[str]]:
    """Return the columns to choose anchors among, and a warning that names the others."""
    every = np.arange(X.shape[1])
    if not (np.isfinite(X).all() and X.any()):
        return every, []  # the checks say it
    lone = cf.separable.lone_columns(X, asked)
    if not lone.size:
        return every, []
    named = listing(names[n] for n in lone)
    said = f"left out, each an anchor of itself alone (an outlier, a glint, a hot entry; look at them): {named}"
    return np.delete(every, lone), [said]


def _leads_itself_said(table: pd.DataFrame) -> list[str]:
    alone = table.loc[table["leads"] <= 1, "name"].tolist() if len(table) > 1 else []
    return [f"these anchors lead no column but themselves, so they may be outliers: {listing(alone)}"] if alone else []


def _number(X: Floats, asked: int | None) -> tuple[int, str]:
    if asked is not None:
        return asked, f"{asked} anchors, as asked for"
    K, margin = suggest_n_anchors(X)
    doubt = "" if margin >= CLEAR else f"; below {CLEAR} it is often wrong: compare several --anchors"
    return K, f"{K} anchors: there the residual drops most, by a margin of {margin:.2f}{doubt}"


def _anchor_table(method: AnchorMethod, H: Floats, names: list[str], kept: Indices) -> pd.DataFrame:
    """Return a row per anchor: its name, column and score, mean weight, and how many columns it leads."""
    H = H[:, kept]
    leads = np.bincount(H.argmax(axis=0), minlength=len(H))
    found = kept[method.anchors_].tolist()
    scores = method.scores_[method.anchors_]
    columns = {"name": [names[n] for n in found], "column": found, "score": scores.round(6)}
    return pd.DataFrame({**columns, "mean_weight": H.mean(axis=1).round(6), "leads": leads})


def _anchor_lines(table: pd.DataFrame, left: float) -> list[str]:
    shown = (f"{row.name} ({row.leads})" for row in table.itertuples(index=False))
    return [
        f"anchors, and how many columns each has the largest weight in: {listing(shown)}",
        f"mixtures of them leave {left:.1%} of the norm of the matrix",
    ]


def _write_weights(
    path: Path | None,
    writer: Writer,
    weights: Floats,
    what: str,
    names: list[str],
    columns: list[str],
    image: tuple[int, int] | None = None,
) -> None:
    """Write weights, one row per point, as a table or as arrays; of an image also `maps`, anchors x rows x columns."""
    if path is None:
        return
    if path.suffix == ".npz":
        with whole_file(path) as part, open(part, "wb") as file:
            maps: dict[str, Any] = {"maps": weights.T.reshape(-1, *image)} if image else {}
            np.savez(file, weights=weights, names=np.array(names), columns=np.array(columns), **maps)
        print(f"wrote {path}: {weights.shape[0]} rows of weights")
        return
    table = pd.DataFrame(weights.round(6), columns=[f"{name}" for name in columns])
    table.insert(0, what, names, allow_duplicates=True)
    writer.write(path, [table], f"{len(table)} rows of weights")


# ---- topics ----


def topics(arguments: argparse.Namespace) -> None:
    """Find topics of documents; print their words, and write what was asked for."""
    with _outputs(arguments, arguments.counts, arguments.vocabulary) as writer:
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
        _write_weights(arguments.weights, writer, model.weights, "document", documents, columns)
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
        words = _lines(arguments.vocabulary, arguments.encoding)
    if len(words) != counts.shape[1]:
        found = f"{len(words)} words for {counts.shape[1]} columns"
        turned = "; the matrix seems to have words as rows: transpose it" if len(words) == counts.shape[0] else ""
        raise CofactorError(f"{arguments.vocabulary}: {found}, one line per column is needed{turned}")
    return counts, [str(n) for n in range(counts.shape[0])], words


def _lines(path: Path, encoding: str) -> list[str]:
    if not path.is_file():
        raise CofactorError(f"no such file: {path}")
    try:
        return path.read_text(encoding=encoding).splitlines()
    except (UnicodeDecodeError, LookupError) as error:
        advice = "save it as UTF-8, or name its encoding, for example encoding=latin-1"
        raise CofactorError(f"{path} cannot be read as text ({error}): {advice}") from None


def _counted(arguments: argparse.Namespace) -> tuple[sparse.csr_array, list[str], list[str]]:
    """Read a table with a row per document and word."""
    names = [arguments.document, arguments.word, arguments.count]
    recognise = partial(_recognised, arguments=arguments)
    frame = read_frame(arguments.counts, names, arguments.encoding, arguments.sep, "count", recognise=recognise)
    for name in names[:2]:
        check_present(frame[name], name, text=True)
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
