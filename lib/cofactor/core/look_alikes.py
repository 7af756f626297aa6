"""Names that differ only in how they are written: capitals, blanks, invisible characters, scripts, numbers."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping

from cofactor.core.errors import listing

# letters of Cyrillic and Greek that look like Latin ones, small letters only: capitals are folded first
SAME_LETTER = str.maketrans("аеорсухіјѕԁһӏԛԝοανρτυιкмтв", "aeopcyxijsdhlqwoavptuikmtb")
TRUTH_VALUES = {"true": "1", "false": "0"}
MERGED = "merge_look_alikes (--merge-look-alikes) makes them one"


def plain_name(name: object) -> str:
    """Return a column's name without what tells no two names apart: capitals, and how its words are joined."""
    return re.sub(r"[\s_-]+", "_", unicodedata.normalize("NFKC", str(name)).strip().casefold())


def skeleton(name: str, truth_values: bool = False) -> str:
    r"""Return a key of a name that is equal for names that differ only in how they are written.

    Unicode forms (NFKC), capitals, blanks, invisible characters (such as a zero-width space), and letters of other
    scripts that look the same do not count; numbers are the same whatever their form. With
    `truth_values`, true is 1 and false is 0.

    >>> skeleton(" Yes"), skeleton("07.0"), skeleton("a\u200b"), skeleton("p\u0430id")
    ('yes', '7.0', 'a', 'paid')
    """
    plain = name.casefold()
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", plain)
        plain = "".join(letter for letter in plain if not has_no_shape(letter)).translate(SAME_LETTER)
    plain = " ".join(plain.split())
    if truth_values:
        plain = TRUTH_VALUES.get(plain, plain)
    if plain[:1].isdigit() or plain[:1] in "+-.":
        try:
            return repr(float(plain) + 0.0)  # -0 is 0
        except ValueError:
            return plain
    return plain


def has_no_shape(letter: str) -> bool:
    """Whether a character is invisible: of category Cf, or one that only selects the form of the one before."""
    return unicodedata.category(letter) == "Cf" or "\ufe00" <= letter <= "\ufe0f"


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
