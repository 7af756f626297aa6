"""What a claim is: a function in the file of its paper, whose words are the docstring and whose rules it returns.

The docstring begins with what the paper says. A paragraph that begins with a word of `PARTS` goes on to something else;
a list follows "Assumed:" and "Known defects:".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from evaluation.claims.rules import Rule, Verdict

LINES = ("crowd", "pmf", "separable", "comparisons")
PARTS = {
    "Measured": "measured",
    "Note": "note",
    "Not testable": "untestable",
    "Hunted": "hunted",
    "Assumed": "assumes",
    "Known defects": "defects",
}
WEAKER: tuple[Verdict, ...] = ("supported", "not testable here", "cannot tell", "not supported")
Rules = Rule | Sequence[Rule] | None
Judge = Callable[[], Rules]
_ALL: dict[str, list[Claim]] = {}


@dataclass(frozen=True)
class Claim:
    """What a paper says, and how it is judged; the 14 theorems and propositions have a title and `assumes`.

    Attributes
    ----------
    name, place, says : str
        A short name, where it stands in the paper, and what it says; of a theorem the whole statement.
    judge : function
        Returns its rules.
    measured : str
        What is measured of it, and how the rules read its words.
    note : str
        What to know about the verdict.
    untestable : str
        What cannot be tested here, and why; all of it where there are no rules.
    see : sequence of str
        Experiments that are near, beside those of the rules.
    title : str
        Of a theorem: what it is about.
    printed : str
        Of a theorem that cannot stand as printed: what is wrong, in a few words.
    hunted : str
        Of a theorem: how a counterexample was looked for (`tests/evaluation/test_theorems.py`).
    assumes, defects, notebooks : sequence of str
        Of a theorem: its assumptions, known defects of statement or proof, and where it is taught.
    """

    name: str
    place: str
    says: str
    judge: Judge
    measured: str = ""
    note: str = ""
    untestable: str = ""
    see: Sequence[str] = ()
    title: str = ""
    printed: str = ""
    hunted: str = ""
    assumes: Sequence[str] = ()
    defects: Sequence[str] = ()
    notebooks: Sequence[str] = ()

    @property
    def is_theorem(self) -> bool:
        """Theorems and propositions have a title."""
        return bool(self.title)

    def rules(self) -> list[Rule]:
        """Compute the rules over the kept results."""
        found = self.judge()
        return [found] if isinstance(found, Rule) else list(found or ())


@dataclass(frozen=True)
class Judged:
    """A claim, its rules, and the verdict: that of its weakest rule; without rules it is not testable here."""

    claim: Claim
    rules: Sequence[Rule]

    @property
    def verdict(self) -> Verdict:
        """Supported if all rules are, and not supported if one is not."""
        found: list[Verdict] = [rule.verdict for rule in self.rules]
        return max(found or ["not testable here"], key=WEAKER.index)


def claim(place: str, see: Sequence[str] = ()) -> Callable[[Judge], Judge]:
    """Declare a claim, named as its function."""
    return lambda judge: _declared(judge, judge.__name__.replace("_", "-"), place, see=see)


def theorem(name: str, title: str, place: str, notebooks: Sequence[str], printed: str = "") -> Callable[[Judge], Judge]:
    """Declare a theorem or a proposition."""
    return lambda judge: _declared(judge, name, place, title=title, notebooks=notebooks, printed=printed)


def _declared(judge: Judge, name: str, place: str, **fields: Any) -> Judge:
    line = judge.__module__.rpartition(".")[2]
    _ALL.setdefault(line, []).append(Claim(name, place, judge=judge, **words(judge), **fields))
    return judge


def words(judge: Judge) -> dict[str, Any]:
    """Read a docstring: fields of a claim, each a text on one line, or a list of these."""
    words: dict[str, Any] = {}
    for paragraph in inspect.getdoc(judge).split("\n\n"):  # type: ignore[union-attr]  # one without fails here
        head, _, text = paragraph.partition(":")
        part = PARTS.get(head, "")
        if part in ("assumes", "defects"):
            words[part] = [_joined(item) for item in ("\n" + text.strip()).split("\n- ")[1:]]
        else:
            words[part or "says"] = _joined(text if part else paragraph)
    return words


def _joined(text: str) -> str:
    return " ".join(text.split())


def paper(line: str) -> str:
    """Return which paper a line's claims are of."""
    return str(import_module(f"evaluation.claims.{line}").PAPER)


def declared(line: str) -> list[Claim]:
    """Return the claims of a paper, then its theorems."""
    for room in ("claims", "claims.theorems"):
        import_module(f"evaluation.{room}.{line}")
    return _ALL[line]


@cache
def claims(line: str) -> list[Judged]:
    """Judge all claims of a paper once, in their order."""
    return [Judged(claim, claim.rules()) for claim in declared(line)]
