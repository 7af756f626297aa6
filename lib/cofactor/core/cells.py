"""Rules for cells and names: which cells are missing, how numbers are written, which names look alike.

They are used by the data classes, so the same rules apply to a DataFrame and to a file; readers apply them to the
distinct values of a column.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.core.errors import SHOWN, CofactorError, DataWarning, listing
from cofactor.core.lazy import pd
from cofactor.core.types import Floats

INDEX_NAMES = ("row", "line", "record", "annotation")  # names of an index that counts as the file's owner counts
SEPARATORS = ",\t;|"
ROLES = ("task", "worker", "label", "truth", "winner", "loser", "user", "outcome", "document", "word", "count", "case")
WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
# letters of Cyrillic, Greek and Armenian that look like Latin ones, small letters only: capitals are folded first;
# dashes, hyphens and minus signs; apostrophes
SAME_LETTER = str.maketrans(
    "аеорсухіјѕԁһӏԛԝοανρτυιкмтвнԍүκχζεηβօ\u2010\u2011\u2012\u2013\u2014\u2212\u2018\u2019\u02bc\u2032\u00b4",
    "aeopcyxijsdhlqwoavptuikmtbhgykxzehbo------'''''",
)
# beside category Cf: joiners, selectors of forms, blank letters of Hangul and Khmer, the blank of braille
UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef"
HIDDEN = re.compile(f"[{UNSEEN}]")
NUMERAL = re.compile(r"([+-]?)(\d+(?:_\d+)*)?(?:\.(\d+(?:_\d+)*)?)?(?:e([+-]?\d{1,3}))?")
TRUTH_VALUES = {"true": "1", "false": "0"}
Spelling = Literal["classes", "keep", "all"]  # which names that differ by capitals and the like become one
SIMPLE = re.compile(r"[a-z][!-~]*")
DISTINCT = re.compile(r"(?:(?:[a-z][!-@\[-~]*+|0|[1-9][0-9]*+)\n)*+")  # names that are alike only where they are equal


def plain_name(name: object) -> str:
    """Return a column's name in a normal form, without case and with words joined by underscores."""
    return re.sub(r"[\s_-]+", "_", unicodedata.normalize("NFKC", str(name)).strip().casefold())


def skeleton(name: str, truth_values: bool = False) -> str:
    r"""Return a key of a name that is equal for names that differ only in how they are written.

    Unicode forms (NFKC), case, whitespace, invisible characters (such as a zero-width space), similar letters of other
    scripts, and kinds of dashes and apostrophes do not matter; numbers are equal in any notation, but different if any
    digit differs, however long they are. With `truth_values`, true is 1 and false is 0.

    >>> skeleton(" Yes"), skeleton("07.0"), skeleton("a\u200b"), skeleton("p\u0430id")
    ('yes', '7e0', 'a', 'paid')
    """
    plain = name.casefold()
    if SIMPLE.fullmatch(plain) and not truth_values:
        return plain
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", name.translate(SAME_LETTER)).casefold()  # NFKC gives capitals, too
        plain = unicodedata.normalize("NFKC", plain)
        plain = "".join(letter for letter in plain if not has_no_shape(letter)).translate(SAME_LETTER)
    plain = " ".join(plain.split())
    if truth_values:
        plain = TRUTH_VALUES.get(plain, plain)
    return _numeral(plain)


def _numeral(text: str) -> str:
    """Return a number in one form, to its last digit; other texts as they are.

    A power beyond three digits, and one of zero, is none: 5e93811 and 0e46209 are ids, of which floats make one.
    """
    decimal = text if text.isascii() else "".join(str(unicodedata.decimal(letter, letter)) for letter in text)
    found = NUMERAL.fullmatch(decimal)
    whole, part = ((found[n] or "").replace("_", "") for n in (2, 3)) if found else ("", "")
    if not found or not whole + part:
        return text
    digits, power = (whole + part).lstrip("0"), int(found[4] or 0)
    left = digits.rstrip("0")
    if not left:
        return text if power else "0"
    return f"{found[1].strip('+')}{left}e{power - len(part) + len(digits) - len(left)}"


def spellings(name: str) -> set[str]:
    """Return a name with its likely other spellings, for lookups where comparing all names is not possible."""
    forms = {unicodedata.normalize(form, name) for form in ("NFC", "NFD", "NFKC")}
    forms |= {name, skeleton(name), "".join(letter for letter in name if not has_no_shape(letter))}
    forms |= {name.lstrip("0") or "0", name.removesuffix(".0"), f"{name}.0"} if name[:1].isdigit() else set()
    return {change(form) for form in forms for change in (str, str.lower, str.upper, str.capitalize)}


def has_no_shape(letter: str) -> bool:
    """Return whether a character is invisible: of category Cf, or one of `UNSEEN`."""
    return unicodedata.category(letter) == "Cf" or HIDDEN.match(letter) is not None


def look_alikes(names: Iterable[str], truth_values: bool = False, spaced: bool = True) -> list[list[str]]:
    """Return the groups of different names with the same skeleton, in order of appearance. O(names).

    Whitespace within names matters, unless `spaced` is false.

    >>> look_alikes(["yes", "no", "Yes", "no"]), look_alikes(["GPT 4", "gpt4"], spaced=False)
    ([['yes', 'Yes']], [['GPT 4', 'gpt4']])
    """
    names = list(names)
    if DISTINCT.fullmatch("\n".join(names) + "\n"):
        return []
    groups: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for name in names:
        groups[skeleton(name if spaced else "".join(name.split()), truth_values)][name] = None
    return [list(group) for group in groups.values() if len(group) > 1]


def same_name(name: str) -> str:
    r"""Return a key that is equal for names that differ only in case, surrounding whitespace or invisible characters.

    >>> same_name(" Yes"), same_name("a\u200b"), same_name("1.0")
    ('yes', 'a', '1.0')
    """
    plain = name.strip().casefold()
    if plain.isascii():
        return plain
    seen = "".join(letter for letter in plain if not has_no_shape(letter)).strip()
    return unicodedata.normalize("NFC", seen).casefold() or plain


def merged_names(counts: Mapping[str, int], preferred: Iterable[object] = ()) -> dict[str, str]:
    """Return the names that share a `same_name` with others, each with the name that it becomes.

    This is the most frequent of them (in a tie, the first alphabetically), or the one that is `preferred`; if several
    are preferred, they stay separate.

    >>> merged_names({"Yes": 1, "yes": 5, "no": 2})
    {'Yes': 'yes', 'yes': 'yes'}
    """
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in counts:
        groups[same_name(name)].append(name)
    first = {str(name) for name in preferred}
    found: dict[str, str] = {}
    for group in groups.values():
        asked = [name for name in group if name in first]
        if len(group) > 1 and len(asked) < 2:
            found |= dict.fromkeys(group, asked[0] if asked else max(sorted(group), key=counts.__getitem__))
    return found


def check_spelling(spelling: str) -> None:
    """Raise a CofactorError unless the value is a `Spelling`."""
    if spelling not in ("classes", "keep", "all"):
        raise CofactorError(f"spelling={spelling!r}: choose 'classes', 'keep' or 'all'")


def merged_note(known: Mapping[str, str], what: str) -> str:
    """Return a sentence that lists the names merged by `merged_names`; "" if there are none.

    >>> print(merged_note({"Yes": "yes", "yes": "yes"}, "classes").split(": ")[1])
    'Yes' = 'yes'; spelling='keep' keeps them apart
    """
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name, one in known.items():
        groups[one].append(name)
    found = listing(sorted(" = ".join(shown(group)) for group in groups.values()))
    how = "that differ only in capitals, blanks or invisible characters count as one"
    return f"{what} {how}: {found}; spelling='keep' keeps them apart" if found else ""


def alike_note(groups: Iterable[Sequence[str]], what: str) -> str:
    """Return a sentence that lists groups of names that look alike; "" if there are none.

    >>> alike_note([["1", "1.0"]], "answers")
    "answers that look alike count as different: '1' = '1.0'; if they are the same, write them in one way"
    >>> alike_note([["Ann", "ann"]], "workers")
    "workers that look alike count as different: 'Ann' = 'ann'; if they are the same, spelling='all' makes them one"
    """
    groups = list(groups)
    found = listing(sorted(" = ".join(shown(group)) for group in groups))
    mend = (
        "spelling='all' makes them one"
        if all(len(set(map(same_name, g))) == 1 for g in groups)
        else "write them in one way"
    )
    return f"{what} that look alike count as different: {found}; if they are the same, {mend}" if found else ""


def shown(group: Iterable[str]) -> list[str]:
    """Return the sorted names for a message, with escapes if they look identical."""
    names = sorted(group)
    by_eye = len({name.casefold() for name in names}) == 1 or all(map(str.isascii, names))
    return [repr(name) if by_eye else ascii(name) for name in names]


# ---- missing words and numbers ----

NO_VALUE = ("", "nan", "NaN", "NA", "N/A", "null", "NULL", "None")  # how a missing cell reads in a file
LIKE_MISSING = (  # how spreadsheets, databases and surveys write that there is none; as a label, it is noted
    *("?", ".", "n/a", "n.a.", "N.A.", "#N/A", "<NA>", "undefined", "NAN", "Nan", "-nan", "NaT", "Null"),
    *("<NULL>", "(null)", "(blank)", "\\N", "1.#QNAN", "1.#IND", "-1.#IND"),
    *("#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "#N/A N/A", "#N/D", "#NV"),
)
NO_ANSWERS = (  # words that may say that nothing was answered, and may be an answer: they are noted, however written
    *("unsure", "not sure", "uncertain", "skip", "skipped", "no answer", "idk", "dunno", "dk", "refused"),
    *("-", "--", "---", "...", "??", "???", "nil", "inf", "missing", "blank", "empty", "(empty)", "tbd", "k.a.", "na"),
    *("-99", "-999", "-9999", "-888", *(word.casefold() for word in LIKE_MISSING)),
    *("don't know", "dont know", "do not know", "i don't know", "i do not know", "can't tell", "cannot tell"),
    *("can't say", "no response", "not answered", "unanswered", "no data", "no label", "not determined"),
    *("unknown", "not known", "not stated", "not available", "unspecified", "prefer not to say", "not applicable"),
)
NO_ANSWER_KEYS = frozenset(map(skeleton, NO_ANSWERS))
UNIT_SIGNS = "$€£¥₹%"
BLANKS = "\u0020\u00a0\u2009\u202f'\u2019"  # between thousands: blanks of four widths, apostrophes
SIGN = "[+\\-\u2212]?"
COMMA = re.compile(rf"{SIGN}(\d+|[1-9]\d{{0,2}}([.{BLANKS}])\d{{3}}(\2\d{{3}})*)(,\d+)?")  # 1.234,5
POINT = re.compile(rf"{SIGN}(\d+|[1-9]\d{{0,2}}([,{BLANKS}])\d{{3}}(\2\d{{3}})*)(\.\d+)?")  # 1,234.5
FORMS = {",": COMMA, ".": POINT}  # by the sign before decimals
SURELY_THOUSANDS = 10  # different numbers, none with other than three digits behind a comma
EITHER = re.compile(rf"{SIGN}[1-9]\d{{0,2}}([.,])\d{{3}}")  # 1,234: one and a quarter, or more than a thousand
BELOW_THOUSAND = re.compile(rf"{SIGN}(0|[1-9]\d{{0,2}})")
DIGIT = re.compile(r"[^\D0-9]")  # of other scripts, or full-width
HUNDREDS = re.compile(rf"{SIGN}[1-9]\d\d")


def plain(column: pd.Series[Any], gaps: tuple[str, ...] = ()) -> tuple[pd.Series[Any], str]:
    """Rewrite numbers in plain form, such as "1234.5"; also return how they were written, "" if unchanged.

    A column is only changed if all its cells are numbers, apart from missing cells, `gaps` and words for missing
    values. "1,234" alone is ambiguous: the comma separates thousands if another number of the column has two such
    commas or a point, or if ten or more are written so; it is a decimal comma if another number allows nothing else.
    "1.234" alone is a decimal number, except in a currency.

    >>> plain(pd.Series(["1.234,50 €", "7,5 €", "NA"]))[0].tolist()
    ['1234.50', '7.5', 'NA']
    >>> plain(pd.Series(["1,234", "2,345"]))[0].tolist()
    ['1,234', '2,345']
    """
    return plain_columns([column], gaps)[0]


def plain_columns(columns: Sequence[pd.Series[Any]], gaps: tuple[str, ...] = ()) -> list[tuple[pd.Series[Any], str]]:
    """Apply `plain` to the columns of a table; if one is ambiguous, the decimal sign of the others decides.

    A `DataWarning` names columns in which "1.234" is read as a decimal number, but may be thousands: the other columns
    show no decimal sign, and "858" is written beside it.

    >>> [found.tolist() for found, _ in plain_columns([pd.Series(["1.234", "858"]), pd.Series(["1,81", "1,5"])])]
    [['1234', '858'], ['1.81', '1.5']]
    """
    texts = [_texts_of(column, gaps) for column in columns]
    unclear = list(map(are_unclear, texts))
    signs = {_sign_of(found) for found, one in zip(texts, unclear, strict=True) if not one} if any(unclear) else set()
    decimal = "".join(signs) if len("".join(signs)) == 1 else ""
    doubtful: dict[str, str] = {}
    for column, found in ((column, texts[n]) for n, column in enumerate(columns) if unclear[n] and not decimal):
        pointed = next((text for text in found if "." in text), "")
        if pointed and (whole := next(filter(HUNDREDS.fullmatch, found), "")):
            what = f"numbers such as {pointed!r} are read as decimals, but may be thousands, because {whole!r} has none"
            doubtful[str(column.name)] = f"{what}: if they are, write {pointed.replace('.', '')}"
    if doubtful:
        warnings.warn(f"{listing(doubtful)}: {next(iter(doubtful.values()))}", DataWarning, stacklevel=3)
    ways = zip(columns, texts, unclear, strict=True)
    return [_plain(column, found, decimal if one else "") for column, found, one in ways]


def are_unclear(texts: Iterable[object]) -> bool:
    """Return whether all texts are numbers below a million, and their points or commas may separate thousands."""
    found = [text for text in texts if isinstance(text, str)]
    either = all(EITHER.fullmatch(text) or BELOW_THOUSAND.fullmatch(text) for text in found)
    return either and any(map(EITHER.fullmatch, found))


def _texts_of(column: pd.Series[Any], gaps: tuple[str, ...]) -> list[str]:
    """Return the distinct texts of a column except words for missing values; none if it holds anything else."""
    if pd.api.types.is_numeric_dtype(column):
        return []
    try:
        different = pd.unique(column.dropna())
    except TypeError:  # lists and the like, which are no numbers
        return []
    nothing = {"", *NO_VALUE, *LIKE_MISSING, *gaps}
    texts = [text for text in different if text not in nothing]
    return texts if all(isinstance(text, str) for text in texts) else []


def _plain(column: pd.Series[Any], texts: Sequence[str], decimal: str) -> tuple[pd.Series[Any], str]:
    """Apply `plain` to a column with these distinct texts; `decimal` is its decimal sign where they do not show it."""
    if not texts or (decimal != "," and _are_plain(texts)):
        return column, ""
    bare, unit = _without_unit(texts)
    other = not "".join(bare).isascii() and any(sign.isdecimal() and not sign.isascii() for sign in "".join(bare))
    bare = [DIGIT.sub(lambda found: str(unicodedata.decimal(found[0])), one) for one in bare] if other else bare
    form = decimal or _form(bare, unit)
    if not form:
        return column, ""
    between = f"{BLANKS}{'.' if form == ',' else ','}"  # signs between thousands, which go
    plainly = (re.sub(f"[{between}]", "", one).replace(form, ".").replace("\u2212", "-") for one in bare)
    known = dict(zip(texts, plainly, strict=True))
    written = by_value(column, lambda values: values.map(lambda text: known.get(text, text)))
    signs = sorted({sign for text in bare for sign in text if sign in between})
    said = ["with a decimal comma"] * (form == "," and any("," in text for text in bare))
    said += [f"with {' or '.join(map(repr, signs))} between thousands"] * bool(signs) + [f"in {unit}"] * bool(unit)
    said += ["with digits other than 0 to 9"] * other
    return written, " and ".join(said) or "with a minus sign of its own"


def _may_be_number(cell: object) -> bool:
    """Return whether a cell is no text, or one that is a number with either decimal sign, in a unit or not."""
    if not isinstance(cell, str):
        return True
    bare = cell.strip(UNIT_SIGNS + BLANKS)
    return _are_plain([cell]) or any(form.fullmatch(bare) for form in FORMS.values())


def _are_plain(texts: Sequence[str]) -> bool:
    numbers = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy(dtype=np.float64)
    return bool(np.isfinite(numbers).all())


def says_nothing(name: object) -> bool:
    """Return whether a name may be a non-answer: one of `NO_ANSWERS`, or similar to one.

    >>> says_nothing("Don\u2019t  know"), says_nothing("-999.0"), says_nothing("none")
    (True, True, False)
    """
    return skeleton(str(name)) in NO_ANSWER_KEYS


def by_value(column: pd.Series[Any], clean: Callable[[pd.Series[Any]], pd.Series[Any]]) -> pd.Series[Any]:
    """Clean each distinct value of a column once instead of every cell; missing cells stay missing."""
    codes, values = pd.factorize(column)
    cleaned = clean(pd.Series(values, dtype=object)).to_numpy(dtype=object)
    return pd.Series(np.append(cleaned, [None])[codes], column.index, dtype=object, name=column.name)


def _without_unit(texts: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return texts without the one unit that at least half of them have, all of %; else, or with two, as they are."""
    units = {unit for text in texts for unit in UNIT_SIGNS if unit in text}
    unit = units.pop() if len(units) == 1 else ""
    if not unit or (2 - (unit == "%")) * sum(unit in text for text in texts) < len(texts):  # 50 % is not 50
        return texts, ""
    return [re.sub(rf"^({SIGN})\s*{re.escape(unit)}\s*|\s*{re.escape(unit)}$", r"\1", text) for text in texts], unit


def _form(texts: Sequence[str], unit: str) -> str:
    """Return the sign before decimals that texts agree with, "" if there is none; 1,234 and 1.234 agree with both."""
    fits = [sign for sign, form in FORMS.items() if all(map(form.fullmatch, texts))]
    either = {found[1] for text in texts if (found := EITHER.fullmatch(text))}
    if len(fits) == 2 and "," in either:
        return "." if len(texts) >= SURELY_THOUSANDS else ""
    if len(fits) == 2 and either and unit in ("", "%"):
        return "."
    return fits[0] if fits else ""


def _sign_of(texts: Sequence[str]) -> str:
    """Return the decimal sign of a column's numbers if they allow only one; otherwise ""."""
    bare = _without_unit(texts)[0]
    fits = [sign for sign, form in FORMS.items() if all(map(form.fullmatch, bare))]
    return fits[0] if len(fits) == 1 else ""


# ---- columns and rows of a table ----


def check_columns(frame: pd.DataFrame, columns: Sequence[str], rows: str = "labels") -> None:
    """Refuse a table without rows, or in which one of `columns` is missing or there twice; `rows` is what it holds."""
    if not isinstance(frame, pd.DataFrame):
        raise CofactorError(f"expected a pandas DataFrame of {rows}, got {type(frame).__name__}")
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        alone = str(frame.columns[0]) if len(frame.columns) == 1 else ""
        other = [sep for sep in f"{SEPARATORS} " if sep in alone]
        other_names = [str(name) for name in frame.columns if name not in columns] or list(map(str, frame.columns))
        near = difflib.get_close_matches(str(missing[0]), other_names, 1)
        if not other_names:
            advice = "give another table"
        elif missing[0] in ROLES:
            advice = f"say which column is which, for example {missing[0]}='{(near or other_names)[0]}', or rename"
        else:
            advice = f"did you mean {near[0]}?" if near else "name one of these"
        if len(frame.columns) > 1 and all(str(name).startswith("Unnamed: ") for name in frame.columns[1:]):
            advice = f"if {str(frame.columns[0])!r} is a title, remove its line"
        if other:
            advice = f"the columns seem to be separated by {other[0]!r}: set sep={other[0]!r}"
        raise CofactorError(f"no column {listing(missing)}; found {listing(frame.columns)}: {advice}")
    twice = [name for name in columns if list(frame.columns).count(name) > 1]
    if twice:
        raise CofactorError(f"more than one column is called {listing(twice)}: rename all but one")
    if frame.empty:
        if pd.to_numeric(pd.Series(list(map(str, frame.columns)), dtype=object), errors="coerce").notna().all():
            raise CofactorError(f"no {rows}: the only line of the table is read as its header: put a header above it")
        raise CofactorError(f"no {rows}: the table has a header but no rows")


def is_blank(cell: object) -> bool:
    """Return whether a cell is a text of nothing but blanks, and so missing in a DataFrame as in a file."""
    return isinstance(cell, str) and not cell.strip()


def check_present(column: pd.Series[Any], name: str, text: bool = False, advice: str = "fill or drop them") -> None:
    """Raise a CofactorError for missing values, and for empty cells if `text`; their rows are named."""
    bad = located(column, column.isna() | (column == "") if text else column.isna())
    if bad:
        raise CofactorError(f"missing {name} in {bad}: {advice}")


Refuse = Callable[[NDArray[np.bool_], str, str], None]  # bad rows, what is wrong with which, what to do


def refused(_: NDArray[np.bool_], what: str, advice: str) -> None:
    """Raise a CofactorError about bad rows."""
    raise CofactorError(f"{what}{advice}")


def numeric(
    frame: pd.DataFrame,
    name: str,
    rule: str,
    fits: Callable[[Floats], NDArray[np.bool_]] = np.isfinite,
    refuse: Refuse = refused,
) -> Floats:
    """Return a column as numbers; cells that are none, or do not fit, are named with their rows behind the `rule`.

    A `DataWarning` says where numbers are written with a decimal comma and the like, also if other cells hold none.
    `refuse` is called where cells are bad; if it returns, so do they.
    """
    column = frame[name]
    if not pd.api.types.is_numeric_dtype(column):
        column = by_value(column, lambda values: values.where(values.map(_may_be_number)))
    column, how = plain(column)
    if how:
        warnings.warn(f"{name}: numbers {how}, read as 1234.5", DataWarning, stacklevel=2)
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~fits(values)
    if bad.any():
        found = located(frame, bad, frame[name][bad].tolist())
        refuse(bad, f"{rule}; see {found}", ": fill or drop these rows")
    return values


def located(
    table: pd.DataFrame | pd.Series[Any] | pd.Index[Any], where: ArrayLike, values: Sequence[object] | None = None
) -> str:
    """Name rows as the owner of a file counts them, of a frame from 0, with their values if given; "" for none.

    >>> located(pd.Series([1, 2, 3]), [False, True, True])
    'data rows 1 and 2 (counting from 0)'
    """
    bad = np.flatnonzero(np.asarray(where))
    index = table if isinstance(table, pd.Index) else table.index
    of_files = list(index.names[:-1]) == ["file"]  # of several files
    counted = index.names[-1] in INDEX_NAMES and (of_files or index.nlevels == 1)
    if counted and not of_files and not index[bad].is_monotonic_increasing:  # a large file is read task by task
        order = index[bad].argsort(kind="stable")
        bad, values = bad[order], None if values is None else [values[n] for n in order.tolist()]
    numbers: Any = index[bad] if counted else bad
    if counted and of_files:
        numbers = [f"{number} of {file}" for file, number in numbers]
    said = numbers if values is None else [f"{n} ({value!r})" for n, value in zip(numbers, values, strict=True)]
    return numbered_rows(said, str(index.names[-1]) if counted else "data row")


def numbered_rows(numbers: Collection[Any], word: str = "row") -> str:
    """Write row numbers, with the row from which they are counted; "" if there are none.

    `word` says what is counted: rows of a file (its first line is row 1, header or not), lines, records or annotations
    from 1, or data rows of a frame from 0.

    >>> numbered_rows([8]), numbered_rows([3, 8, 12], "line")
    ('row 8 (counting the header line)', 'lines 3, 8 and 12')
    """
    if len(numbers) == 0:
        return ""
    if len(numbers) > SHOWN:  # there may be millions
        found = listing(numbers)
    else:
        *some, last = map(str, numbers)
        found = f"{', '.join(some)} and {last}" if some else last
    bases = {"row": " (counting the header line)", "data row": " (counting from 0)"}
    return f"{word}{'s' if len(numbers) > 1 else ''} {found}{bases.get(word, '')}"


def nested_cells(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a mask of the cells that contain lists or objects, recognised because they cannot be hashed."""
    try:
        pd.factorize(column)
    except TypeError:
        return column.map(lambda cell: isinstance(cell, list | set | dict | np.ndarray))
    return pd.Series(False, column.index)


def plain_numbers(values: list[Any]) -> list[Any]:
    """Return texts as whole numbers if no text loses information ("12", but not "012" or "1.0").

    >>> plain_numbers(["12", None, "-3"]), plain_numbers(["12", "012"])
    ([12, None, -3], ['12', '012'])
    """
    whole = all(one is None or (isinstance(one, str) and WHOLE.fullmatch(one)) for one in values)
    return [None if one is None else int(one) for one in values] if whole and any(values) else values


def one_way(word: object) -> str:
    """Return a word in lower case with single spaces, to compare spellings."""
    return " ".join(str(word).casefold().split())
