"""Names that differ only in how they are written: capitals, blanks, invisible characters, scripts, numbers."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping

from cofactor.core.errors import listing

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
MERGED = "merge_look_alikes (--merge-look-alikes) makes them one"


def plain_name(name: object) -> str:
    """Return a column's name without what tells no two names apart: capitals, and how its words are joined."""
    return re.sub(r"[\s_-]+", "_", unicodedata.normalize("NFKC", str(name)).strip().casefold())


def skeleton(name: str, truth_values: bool = False) -> str:
    r"""Return a key of a name that is equal for names that differ only in how they are written.

    Unicode forms (NFKC), capitals, blanks, invisible characters (such as a zero-width space), letters of other
    scripts that look the same, kinds of dashes and of apostrophes do not count; numbers are the same whatever their
    form, and other ones in their last digit, be they as long as they will. With `truth_values`, true is 1 and false 0.

    >>> skeleton(" Yes"), skeleton("07.0"), skeleton("a\u200b"), skeleton("p\u0430id")
    ('yes', '7e0', 'a', 'paid')
    """
    plain = name.casefold()
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
    """Return how a name is likely to be written elsewhere, where names cannot all be looked through: and as it is."""
    forms = {unicodedata.normalize(form, name) for form in ("NFC", "NFD", "NFKC")}
    forms |= {name, skeleton(name), "".join(letter for letter in name if not has_no_shape(letter))}
    forms |= {name.lstrip("0") or "0", name.removesuffix(".0"), f"{name}.0"} if name[:1].isdigit() else set()
    return {change(form) for form in forms for change in (str, str.lower, str.upper, str.capitalize)}


def has_no_shape(letter: str) -> bool:
    """Whether a character is invisible: of category Cf, or one of `UNSEEN`."""
    return unicodedata.category(letter) == "Cf" or HIDDEN.match(letter) is not None


def look_alikes(names: Iterable[str], truth_values: bool = False, spaced: bool = True) -> list[list[str]]:
    """Return the groups of different names with one skeleton, in the order in which they come. O(names).

    Blanks within names count, unless `spaced` is false.

    >>> look_alikes(["yes", "no", "Yes", "no"]), look_alikes(["GPT 4", "gpt4"], spaced=False)
    ([['yes', 'Yes']], [['GPT 4', 'gpt4']])
    """
    groups: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for name in names:
        groups[skeleton(name if spaced else "".join(name.split()), truth_values)][name] = None
    return [list(group) for group in groups.values() if len(group) > 1]


def merged_names(counts: Mapping[str, int], truth_values: bool = False, spaced: bool = True) -> dict[str, str]:
    """Return, of every name with look-alikes, the one that is used most (of equal ones, the first).

    >>> merged_names({"Yes": 1, "yes": 5, "no": 2})
    {'Yes': 'yes', 'yes': 'yes'}
    """
    groups = look_alikes(counts, truth_values, spaced)
    return {name: max(group, key=counts.__getitem__) for group in groups for name in group}


def told(groups: Iterable[Iterable[str]], what: str) -> str:
    """Return a sentence for the user that lists groups of names that look alike; "" where there are none.

    >>> told([["yes", "Yes"]], "answers")
    "answers that look alike count as different: 'Yes' = 'yes'; merge_look_alikes (--merge-look-alikes) makes them one"
    """
    found = listing(" = ".join(shown(group)) for group in groups)
    return f"{what} that look alike count as different: {found}; {MERGED}" if found else ""


def shown(group: Iterable[str]) -> list[str]:
    """Return the names for a message, in order; with escapes where they cannot be told apart by eye."""
    names = sorted(group)
    by_eye = len({name.casefold() for name in names}) == 1 or all(map(str.isascii, names))
    return [repr(name) if by_eye else ascii(name) for name in names]
