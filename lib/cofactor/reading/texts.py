"""Read documents: texts, word counts in a long or a wide table, or a matrix with its vocabulary.

Documents keep their names and their order; words are sorted.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.cells import (
    LIKE_MISSING,
    NO_VALUE,
    SEPARATORS,
    Spelling,
    alike_note,
    check_columns,
    check_present,
    check_spelling,
    has_no_shape,
    located,
    look_alikes,
    merged_names,
    merged_note,
    numbered_rows,
    numeric,
)
from cofactor.core.errors import CofactorError, DataWarning, amount, listing
from cofactor.core.lazy import pd
from cofactor.reading.matrices import is_array_file, read_matrix
from cofactor.reading.tables import STDIN, read_frame, without_headers
from cofactor.reading.totals import sums
from cofactor.separable.topics import NO_COUNTS, are_counts

FEWEST_WORDS = 8  # columns of counts that make a table of words
SEVERAL = 3  # words make a text
NO_BLANKS = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"  # Thai to Khmer, kana, Han
LONG_WORD = 8  # of such letters
WANTED = ("document", "word", "count")
USUAL = {  # other names of the columns
    "document": ("doc", "doc_id", "docid", "document_id", "id", "text_id", "d"),
    "word": ("token", "term", "feature", "lemma", "w"),
    "count": ("n", "freq", "frequency", "tf", "counts"),
}
Vocabulary = Sequence[str] | str | PathLike[str] | None
TEXT = "text"  # column of texts, where there are several
LIST = "the list"  # source that has no columns


@dataclass(frozen=True)
class Texts:
    """Word counts of documents, a (D, N) array, with the names of the documents in input order, and the words."""

    counts: sparse.csr_array
    documents: list[str]
    words: list[str]


@dataclass(frozen=True)
class Asked:
    """Options for reading a table: names of columns, stop words, longest sequence of words, spelling."""

    document: str | None = None
    word: str | None = None
    count: str | None = None
    stop_words: str | PathLike[str] | Sequence[str] | None = None
    ngrams: int = 1
    spelling: Spelling = "classes"
    skip_bad: bool = False

    def named(self) -> dict[str, str]:
        """Return the names of columns that were given."""
        return {name: value for name in WANTED if (value := getattr(self, name)) is not None}


def read_texts(path: str, asked: Asked, encoding: str, sep: str | None) -> Texts:
    """Read documents from the file of a table (see `counted`)."""
    frame = read_frame(path, None, encoding, sep, "document", flat=list(asked.named().values()))
    if frame.index.name == "row" and frame.shape[1] == 1:  # an empty line is an empty text
        frame = frame.reindex(pd.RangeIndex(frame.index[0], frame.index[-1] + 1, name="row"))
    elif frame.index.name == "row" and (gone := np.setdiff1d(np.arange(2, frame.index[-1] + 1), frame.index)).size:
        _warn(f"rows that are empty or repeat the header are left out: {numbered_rows(gone)}")
    return counted(frame, asked, path)


def read_counts(path: str, vocabulary: Vocabulary, encoding: str, skip_bad: bool = False) -> Texts:
    """Read a matrix of documents by words from a file (see `of_matrix`)."""
    matrix, _, _ = read_matrix(path)
    if matrix.ndim == 3:
        raise CofactorError(f"{path} has three dimensions, but topics need a matrix of documents by words")
    return of_matrix(matrix, vocabulary, encoding, skip_bad)


def of_matrix(matrix: Any, vocabulary: Vocabulary, encoding: str = "utf-8-sig", skip_bad: bool = False) -> Texts:
    """Convert a matrix of documents by words; documents, and words without a vocabulary, are named by numbers.

    With `skip_bad`, documents with values that are no counts are left out, and a `DataWarning` names them.
    """
    counts = sparse.csr_array(matrix, dtype=np.float64)
    D, N = counts.shape
    if vocabulary is None:
        words = [str(n) for n in range(N)]
    else:
        named = isinstance(vocabulary, str | PathLike)
        source = str(vocabulary) if named else "vocabulary"
        words = _lines(Path(source), encoding) if named else [str(word) for word in cast(Sequence[str], vocabulary)]
        seen = Counter(words)
        bad = [f"line {n} ({word!r})" for n, word in enumerate(words, 1) if seen[word] > 1 or not word.strip()]
        if bad:
            raise CofactorError(
                f"{source}: blank or duplicate words in {listing(bad)}: give each column a word of its own"
            )
        if len(words) != N:
            turned = "; the matrix seems to have words as rows: transpose it" if len(words) == D else ""
            raise CofactorError(f"{source}: {len(words)} words for {N} columns: one word per column is needed{turned}")
    kept = np.arange(D)
    if skip_bad and (wrong := np.unique(counts.tocoo().coords[0][~are_counts(counts.data)])).size:
        _warn(f"left out {amount(len(wrong), 'document')} with values that are no counts: {listing(wrong.tolist())}")
        kept = np.setdiff1d(kept, wrong)
        if not kept.size:
            raise CofactorError(f"no document is left: {NO_COUNTS}")
    return Texts(counts[kept], list(map(str, kept.tolist())), words)


def counted(frame: pd.DataFrame, asked: Asked, source: str = "the table") -> Texts:
    """Return the documents of a table of document, word and count, of one column per word, or of texts.

    Raises a CofactorError if it is none of these, or cells are missing or not counts (their rows are listed). A
    `DataWarning` says what was recognised.
    """
    check_spelling(asked.spelling)
    named = {wanted: asked.named().get(wanted) or _usual(frame, wanted) for wanted in WANTED}
    if asked.word is not None or asked.count is not None or all(named.values()):
        return _long(frame, {wanted: name or wanted for wanted, name in named.items()}, asked)
    wide = _wide(frame, asked)
    if wide is not None:
        return wide
    text = _text_column(frame, asked)
    if text is None and (nearly := _nearly_wide(frame, asked)) is not None:
        return nearly
    if text is None:
        _check_named(frame, {wanted: name or wanted for wanted, name in named.items()}, asked)
        raise CofactorError(f"{source} holds neither texts nor word counts")
    return _texts(frame, text, asked, source)


def of_texts(texts: Sequence[Any], words: Sequence[str]) -> sparse.csr_array:
    """Count given words, and sequences of words, in texts."""
    longest = 1 + max((word.count(" ") for word in words), default=0)
    reader = _counter(texts, vocabulary=list(words), ngram_range=(1, longest))
    return sparse.csr_array(reader.transform(texts), dtype=np.float64)


def _warn(text: str) -> None:
    warnings.warn(text, DataWarning, stacklevel=3)


def _usual(frame: pd.DataFrame, wanted: str) -> str | None:
    """Return the column with the wanted name, or the only one with a usual name for it."""
    if wanted in frame:
        return wanted
    there = [str(name) for name in frame if str(name).strip().casefold() in (wanted, *USUAL[wanted])]
    return there[0] if len(there) == 1 else None


def _check_named(frame: pd.DataFrame, named: dict[str, str], asked: Asked) -> None:
    """Refuse a table without one of the columns of word counts; the advice names columns that may be meant."""
    missing = [wanted for wanted in WANTED if named[wanted] not in frame]
    alone = frame.shape[1] == 1 and any(sep in str(frame.columns[0]) for sep in f"{SEPARATORS} ")
    if not missing or alone or frame.empty:
        return check_columns(frame, list(named.values()), "counts")
    free = [str(name) for name in frame if str(name) not in named.values()]
    numbers = [name for name in free if _whole(_numbers(frame[[name]])).all()]
    others = [name for name in free if name not in numbers]
    chosen = dict[str, str]()
    for wanted, known in (("count", numbers), ("word", others), ("document", others + numbers)):
        left = [name for name in known if name not in chosen.values()]
        if wanted in missing and left:
            chosen[wanted] = (difflib.get_close_matches(wanted, left, 1) or left)[0]
    given = [wanted for wanted in ("word", "count") if getattr(asked, wanted) in frame]
    texts = [named[wanted] for wanted in given if not _whole(_numbers(frame[[named[wanted]]])).any()]
    texts = texts or others or list(map(str, frame.columns))
    if len(chosen) == len(missing):
        told = " and ".join(f"{wanted}={chosen[wanted]!r}" for wanted in missing)
        advice = f"say which column is which, for example {told}, or rename"
    elif missing == ["count"] and not given:
        advice = "add it, with 1 in each row if a row is one occurrence of a word"
    else:
        advice = f"is {texts[0] if len(texts) == 1 else 'one of them'} a column of texts? "
        steps = [f"rename it to {TEXT}"] * (texts != [TEXT]) + [f"leave out {listing(given)}"] * bool(given)
        advice += " and ".join(steps)
    raise CofactorError(f"no column {listing(named[one] for one in missing)}; found {listing(frame)}: {advice}")


def _long(frame: pd.DataFrame, named: dict[str, str], asked: Asked) -> Texts:
    _check_named(frame, named, asked)
    given = {*asked.named().values(), *WANTED}
    if unasked := ", ".join(f"{wanted} from {name}" for wanted, name in named.items() if name not in given):
        _warn(f"columns used: {unasked}")
    frame = pd.DataFrame({wanted: frame[name].astype(object) for wanted, name in named.items()}, index=frame.index)
    spelled = {wanted: (named[wanted], wanted, *USUAL[wanted]) for wanted in reversed(WANTED)}
    frame = without_headers(frame, spelled) if frame.index.name == "row" else frame
    rule = f"{named['count']} must hold whole numbers of at least 0"
    if asked.skip_bad:
        pair = frame[["document", "word"]]
        bad = np.array((pair.isna() | (pair == "")).any(axis=1))
        with warnings.catch_warnings(action="ignore", category=DataWarning):  # the second look says it again
            numeric(frame, "count", rule, _whole, lambda rows, *_: np.logical_or(bad, rows, out=bad))
        found = f"{amount(bad.sum(), 'row')} without a document, a word or a whole count"
        if bad.all():
            raise CofactorError(f"no counts are left after leaving out {found}: {rule}")
        if bad.any():
            _warn(f"left out {found}: {located(frame, bad)}")
        frame = frame[~bad]
    for what in ("document", "word"):
        check_present(frame[what], what, text=True)
    if again := int(frame.duplicated(["document", "word"]).sum()):
        _warn(f"{amount(again, 'row')} with the document and the word of an earlier row: their counts are added up")
    for what in ("document", "word"):
        frame[what] = _spelled(frame[what].astype(str), f"{what}s", asked.spelling)
    count = numeric(frame, "count", rule, _whole)
    row, documents = pd.factorize(frame["document"])
    column, words = pd.factorize(frame["word"], sort=True)
    counts = sparse.coo_array((count, (row, column)), shape=(len(documents), len(words))).tocsr()
    return Texts(counts, list(documents), list(words))


def _numbers(frame: pd.DataFrame) -> NDArray[np.float64]:
    return frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)


def _whole(n: NDArray[np.float64]) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        return np.isfinite(n) & (n >= 0) & (np.floor(n) == n)


def _spelled(column: pd.Series[Any], what: str, spelling: Spelling) -> pd.Series[Any]:
    """Merge names of a column that differ only in capitals and the like if asked; otherwise note them."""
    names = {str(name): int(count) for name, count in column.value_counts(sort=False).items()}
    if spelling == "all" and (known := merged_names(names)):
        _warn(merged_note(known, what))
        return column.map(lambda name: known.get(name, name))
    if spelling != "keep" and (message := alike_note(look_alikes(names), what)):
        _warn(message)
    return column


def _wide(frame: pd.DataFrame, asked: Asked) -> Texts | None:
    """Return the counts of a table with one row per document and one column per word; None for other tables."""
    numbers = _numbers(frame)
    first = asked.document if asked.document is not None and asked.document in frame else str(frame.columns[0])
    at = list(map(str, frame.columns)).index(first)
    named = asked.document is not None or _names_documents(first) or not _whole(numbers[:, at]).all()
    counts = np.delete(numbers, at, axis=1) if named else numbers
    if counts.shape[1] < FEWEST_WORDS or not _whole(counts).all():
        return None
    documents = list(frame[first].astype(str)) if named else list(map(str, frame.index))
    words = [str(name) for n, name in enumerate(frame.columns) if not (named and n == at)]
    _warn(f"one column per word, one row per document ({'named by ' + repr(first) if named else 'numbered'})")
    for message in sums(counts, documents, words):
        _warn(message)
    return Texts(sparse.csr_array(counts), documents, words)


def _names_documents(name: str) -> bool:
    """Whether a first column of this name holds the names of the documents."""
    return name.strip().casefold() in ("document", *USUAL["document"], "", "unnamed: 0", "row_0")


def _nearly_wide(frame: pd.DataFrame, asked: Asked) -> Texts | None:
    """Refuse a table with one column per word in which a few columns or cells are no counts; None for other tables.

    The first column may name the documents. With `skip_bad`, rows with such cells are left out.
    """
    names = list(map(str, frame.columns))
    first = names.index(asked.document) if asked.document in names else 0
    bad = ~_whole(_numbers(frame))
    named = asked.document is not None or _names_documents(names[first]) or bad[:, first].any()
    bad[:, first] = False
    wrong = 2 * bad.sum(axis=0) > len(frame)
    if not bad.any() or len(names) - 1 - wrong.sum() < max(FEWEST_WORDS, 2 * wrong.sum()):
        return None
    if wrong.any():
        texts = [name for name, is_wrong in zip(names, wrong, strict=True) if is_wrong]
        advice = "remove them" if named else f"remove them, or set document={texts[0]!r} if it names the documents"
        raise CofactorError(f"columns {listing(texts)} hold no counts, unlike those of the words: {advice}")
    rows = np.asarray(bad.any(axis=1))
    where = f"{located(frame, rows)}, columns {listing(names[n] for n in np.flatnonzero(bad.any(axis=0)))}"
    rule = f"word counts must be whole numbers of at least 0, but cells in {where} are not"
    if not asked.skip_bad or rows.all():
        raise CofactorError(f"{rule}: correct them, with 0 for none")
    _warn(f"{rule}: left out {amount(rows.sum(), 'row')}")
    return _wide(frame.loc[~rows], asked)


def _text_column(frame: pd.DataFrame, asked: Asked) -> str | None:
    there = [str(name) for name in frame.columns if name != asked.document]
    if without_blanks := [name for name in there if _run_together(frame[name])]:
        split = "separate the words by blanks first, or pass a table of document, word and count"
        raise CofactorError(
            f"columns {listing(without_blanks)} have no blanks between words, as in Chinese, Japanese or Thai: {split}"
        )
    texts = [TEXT] if TEXT in there else [name for name in there if _are_texts(frame[name])]
    if len(texts) > 1:
        raise CofactorError(f"columns {listing(texts)} all hold texts: keep one, or rename one to text")
    return texts[0] if texts else None


def _filled(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return the cells that are neither empty nor a word such as NA."""
    cells = column.dropna().astype(str)
    return cells[~cells.isin((*NO_VALUE, *LIKE_MISSING))]


def _are_texts(column: pd.Series[Any]) -> bool:
    """Whether most nonempty cells hold several words."""
    cells = _filled(column).map(_plainly)
    return bool((cells.str.count(_words_of(cells)) >= SEVERAL).mean() > 0.5)


def _run_together(column: pd.Series[Any]) -> bool:
    """Whether most nonempty cells are longer than a word in a script without blanks between words."""
    cells = _filled(column)
    letters = cells.str.count(NO_BLANKS)
    return bool(((letters >= LONG_WORD) & (cells.str.count(r"\s") < letters / LONG_WORD)).mean() > 0.5)


def _texts(frame: pd.DataFrame, column: str, asked: Asked, source: str) -> Texts:
    """Count the words of a column of texts; its rows are the documents."""
    cells = [str(cell) if isinstance(cell, str) or not pd.isna(cell) else "" for cell in frame[column]]
    if nothing := Counter(cell for cell in cells if cell and cell in NO_VALUE):
        _warn(f"texts that count as empty: {listing(f'{cell!r} ({count})' for cell, count in nothing.items())}")
        cells = ["" if cell in nothing else cell for cell in cells]
    (ids, why), documents = _document_column(frame, column, asked), list(map(str, frame.index))
    if ids is not None:
        documents = ["" if pd.isna(name) else str(name) for name in frame[ids]]
    called = source if source == LIST else f"column {column}"
    if frame.shape[1] == 1 and frame.index.name == "row" and _are_texts(pd.Series([column])):
        documents, cells = (
            [str(frame.index[0] - 1), *documents],
            [column, *cells],
        )  # the header is a text
        called = "the only column, without a header,"
    words = asked.stop_words
    if words is not None and words != "english":
        words = _lines(Path(words), "utf-8-sig") if isinstance(words, str | PathLike) else list(words)
        words = list(map(_plainly, words))
    reader = _counter(cells, stop_words=words, ngram_range=(1, asked.ngrams))
    try:
        counts = sparse.csr_array(reader.fit_transform(cells), dtype=np.float64)
    except ValueError as error:
        raise CofactorError(f"{source}: no words in column {column} ({error})") from None
    by = f"named by {ids}" if ids is not None else f"numbered by its row{why}"
    _warn(f"{called} holds texts: each row is a document, {by}, and words are counted in lower case")
    if twice := [name for name, count in Counter(documents).items() if count > 1]:
        _warn(f"several documents have the same name, and each keeps its own row: {listing(twice)}")
    return Texts(counts, documents, list(map(str, reader.get_feature_names_out())))


def _document_column(frame: pd.DataFrame, text: str, asked: Asked) -> tuple[str | None, str]:
    """Return the column that names the documents: the requested one, or one with a usual name and unique values.

    Without such a column, also return why one with a usual name is not used.
    """
    if asked.document is not None:
        check_columns(frame, [asked.document], "documents")
        return asked.document, ""
    found = _usual(frame.drop(columns=[text]), "document")
    if found is None or (frame[found].is_unique and not frame[found].isna().any()):
        return found, ""
    names = frame[found]
    if gaps := located(frame, names.isna() | (names == "")):
        return None, f", because column {found} has no name in {gaps}"
    return None, f", because names in column {found} occur twice ({listing(names[names.duplicated()].unique())})"


def _plainly(text: str) -> str:
    """Return a text in lower case with letters and their marks composed, which Macs write apart."""
    return unicodedata.normalize("NFC", text.lower())


def _words_of(texts: Iterable[str]) -> str:
    """Return the pattern of words: two or more letters, digits, underscores, or marks upon these as in Hindi and Thai.

    `texts` are in the form of `_plainly`. Without such marks, this is the pattern of scikit-learn.
    """
    letters = set[str]().union(*(text for text in texts if not text.isascii()))
    marks = "".join(
        sorted(one for one in letters if unicodedata.category(one) in ("Mn", "Mc") and not has_no_shape(one))
    )
    return rf"\b\w[\w{re.escape(marks)}]+" if marks else r"\b\w\w+\b"


def _counter(texts: Sequence[Any], **options: Any) -> Any:
    """Return a counter of words in texts."""
    from sklearn.feature_extraction.text import CountVectorizer  # here: slow to import

    return CountVectorizer(preprocessor=_plainly, token_pattern=_words_of(map(_plainly, texts)), **options)


def _lines(path: Path, encoding: str) -> list[str]:
    r"""Return the words of a file, one a line; only \n ends a line, since a word may hold other signs that do.

    Empty lines at the end are no words.
    """
    if not path.is_file():
        raise CofactorError(f"no such file: {path}")
    try:
        text = path.read_bytes().decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        advice = "save it as UTF-8, or set its encoding, for example encoding=latin-1"
        raise CofactorError(f"{path} cannot be read as text ({error}): {advice}") from None
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    return lines


def is_counts_file(path: str) -> bool:
    """Whether a file holds a matrix of counts, judging by its extension."""
    return path != STDIN and is_array_file(path)
