"""Cells as people write them: that there is no value, and numbers with a decimal comma, thousands, a currency."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from cofactor.core.lazy import pd
from cofactor.core.look_alikes import skeleton

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
COMMA = re.compile(rf"{SIGN}(\d+|[1-9]\d{{0,2}}([.{BLANKS}]\d{{3}})+)(,\d+)?")  # 1.234,5
POINT = re.compile(rf"{SIGN}(\d+|[1-9]\d{{0,2}}([,{BLANKS}]\d{{3}})+)(\.\d+)?")  # 1,234.5
EITHER = re.compile(rf"{SIGN}[1-9]\d{{0,2}},\d{{3}}")  # 1,234: one and a quarter, or more than a thousand


def plain(column: pd.Series[Any], gaps: tuple[str, ...] = ()) -> tuple[pd.Series[Any], str]:
    """Rewrite numbers in plain form, such as "1234.5"; also return how they were written, "" if nothing was changed.

    A column stays as it is unless all of it are numbers, but for missing cells, `gaps` and the words that say that
    there is no value. "1,234" alone can be two numbers: it is one of thousands where another number of the column has
    two such commas or a point, one with a decimal comma where another cannot be else.

    >>> plain(pd.Series(["1.234,50 €", "7,5 €", "NA"]))[0].tolist()
    ['1234.50', '7.5', 'NA']
    >>> plain(pd.Series(["1,234", "2,345"]))[0].tolist()
    ['1,234', '2,345']
    """
    if pd.api.types.is_numeric_dtype(column):
        return column, ""
    try:
        different = pd.unique(column.dropna())
    except TypeError:  # lists and the like, which are no numbers
        return column, ""
    nothing = {"", *NO_VALUE, *LIKE_MISSING, *gaps}
    texts = [text for text in different if text not in nothing]
    if not texts or not all(isinstance(text, str) for text in texts) or _are_plain(texts):
        return column, ""
    bare, unit = _without_unit(texts)
    form = _form(bare)
    if form is None:
        return column, ""
    known = {text: _plainly(one, form) for text, one in zip(texts, bare, strict=True)}
    written = by_value(column, lambda values: values.map(lambda text: known.get(text, text)))
    return written, _told(bare, form, unit)


def says_nothing(name: object) -> bool:
    """Whether a name may say that nothing was answered: it is one of `NO_ANSWERS`, or looks like one.

    >>> says_nothing("Don\u2019t  know"), says_nothing("-999.0"), says_nothing("none")
    (True, True, False)
    """
    return skeleton(str(name)) in NO_ANSWER_KEYS


def by_value(column: pd.Series[Any], clean: Callable[[pd.Series[Any]], pd.Series[Any]]) -> pd.Series[Any]:
    """Clean each different value of a column once, instead of each cell; missing cells stay missing."""
    codes, values = pd.factorize(column)
    cleaned = clean(pd.Series(values, dtype=object)).to_numpy(dtype=object)
    return pd.Series(np.append(cleaned, [None])[codes], column.index, dtype=object, name=column.name)


def _are_plain(texts: list[str]) -> bool:
    numbers = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce")
    return bool(np.isfinite(numbers.to_numpy(dtype=np.float64)).all())


def _without_unit(texts: list[str]) -> tuple[list[str], str]:
    """Return texts without the one unit that at least half of them have, all of %; else, or with two, as they are."""
    units = {unit for text in texts for unit in UNIT_SIGNS if unit in text}
    unit = units.pop() if len(units) == 1 else ""
    if not unit or (2 - (unit == "%")) * sum(unit in text for text in texts) < len(texts):  # 50 % is not 50
        return texts, ""
    return [re.sub(rf"^({SIGN})\s*{re.escape(unit)}\s*|\s*{re.escape(unit)}$", r"\1", text) for text in texts], unit


def _form(texts: list[str]) -> str | None:
    """Return the sign before decimals that all texts agree with; None where they do not, or with both."""
    fits = {",": all(map(COMMA.fullmatch, texts)), ".": all(map(POINT.fullmatch, texts))}
    if fits[","] and fits["."] and any(map(EITHER.fullmatch, texts)):
        return None
    return next((sign for sign, fit in fits.items() if fit), None)


def _plainly(text: str, decimal: str) -> str:
    """Write one number without signs between thousands, and with a point before its decimals."""
    other = "." if decimal == "," else ","
    return re.sub(f"[{other}{BLANKS}]", "", text).replace(decimal, ".").replace("\u2212", "-")


def _told(texts: list[str], decimal: str, unit: str) -> str:
    between = sorted({sign for text in texts for sign in text if sign in f"{BLANKS}{'.' if decimal == ',' else ','}"})
    said = ["with a decimal comma"] * (decimal == "," and any("," in text for text in texts))
    said += [f"with {' or '.join(map(repr, between))} between thousands"] * bool(between) + [f"in {unit}"] * bool(unit)
    return " and ".join(said) or "with a minus sign of its own"
