"""How a rule reads a claim: which numbers must lie between which bounds, and what verdict comes out.

A case *holds* if its whole interval is within the bounds, *fails* if all of it is outside, and is *open* otherwise.

| verdict of a rule | when |
|---|---|
| supported | at least `needed` cases hold (all, where nothing else is said) |
| not supported | too many cases fail for that |
| cannot tell | else: intervals are too wide |
| not testable here | no case has a value, or they are shown only, as times are: of this kit's code, not the authors' |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from evaluation.claims.estimates import SECONDS, Estimate

if TYPE_CHECKING:
    from evaluation.claims.quantities import Case, Quantity

Outcome = Literal["holds", "fails", "open"]
Verdict = Literal["supported", "not supported", "cannot tell", "not testable here"]
VERDICTS: tuple[Verdict, ...] = ("supported", "not supported", "cannot tell", "not testable here")


@dataclass(frozen=True)
class Rule:
    """A quantity and its bounds, of which the first two are included.

    Attributes
    ----------
    of_printed : bool
        The bounds are for the number as a share of the printed one.
    needed : int
        Cases that must hold; 0 for all.
    by_setting : bool
        Whether all cases of a setting make one.
    is_judged : bool
        False where numbers are shown, but ours are of something else than the paper's.
    """

    quantity: Quantity
    at_least: float = -np.inf
    at_most: float = np.inf
    above: float = -np.inf
    below: float = np.inf
    of_printed: bool = False
    needed: int = 0
    by_setting: bool = False
    is_judged: bool = True

    def __bool__(self) -> bool:
        raise TypeError("two bounds are asked for by `between`: Python reads a < b < c as (a < b) and (b < c)")

    def need(self, cases: int) -> Rule:
        """Ask that so many cases hold."""
        return replace(self, needed=cases)

    def each_setting(self) -> Rule:
        """Make one case of all cases of a setting."""
        return replace(self, by_setting=True)

    def of_the_printed(self) -> Rule:
        """Take the bounds as shares of the printed number."""
        return replace(self, of_printed=True)

    def shown_only(self) -> Rule:
        """Show numbers and how many would hold, without a verdict: ours are of something else than the paper's."""
        return replace(self, is_judged=False)

    @property
    def bounds(self) -> str:
        """The bounds in words."""
        words = {"at least": self.at_least, "above": self.above, "at most": self.at_most, "below": self.below}
        return " and ".join(f"{word} {bound:g}" for word, bound in words.items() if np.isfinite(bound))

    @cached_property
    def outcomes(self) -> list[Outcome]:
        """What is counted of ours: cases or settings."""
        return self._counted(self.quantity.cases, [self.outcome(case) for case in self.quantity.cases])

    @cached_property
    def in_print(self) -> list[Outcome]:
        """The same of the printed numbers, where there are some."""
        cases = [case for case in self.quantity.cases if not np.isnan(case.printed.value)]
        return self._counted(cases, [self.outcome(case._replace(number=case.printed)) for case in cases])

    @cached_property
    def verdict(self) -> Verdict:
        """What the outcomes say."""
        nothing = all(np.isnan(case.number.value) for case in self.quantity.cases)
        if not self.is_judged or self.quantity.rows.metrics == (SECONDS,) or nothing:
            return "not testable here"
        needed = self.needed or len(self.outcomes)
        if self.outcomes.count("holds") >= needed:
            return "supported"
        return "cannot tell" if len(self.outcomes) - self.outcomes.count("fails") >= needed else "not supported"

    def outcome(self, case: Case) -> Outcome:
        """Say whether the whole interval of a case, none of it, or a part is within the bounds."""
        return self.lies(case.number, case.printed.value)

    def lies(self, number: Estimate, printed: float = np.nan) -> Outcome:
        """Say the same of an interval."""
        _, low, high = number  # of a missing one no comparison is true, so that it is open
        if self.of_printed:
            low, high = sorted((low / printed, high / printed))
        if low >= self.at_least and high <= self.at_most and low > self.above and high < self.below:
            return "holds"
        outside = high < self.at_least or low > self.at_most or high <= self.above or low >= self.below
        return "fails" if outside else "open"

    def _counted(self, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> list[Outcome]:
        """One outcome per case, or per setting: that fails if one of its cases does, and holds if all do."""
        if not self.by_setting:
            return list(outcomes)
        found: dict[tuple[str, str], set[Outcome]] = {}
        for case, outcome in zip(cases, outcomes, strict=True):
            found.setdefault((case.experiment, case.setting), set()).add(outcome)
        return ["fails" if "fails" in each else "open" if "open" in each else "holds" for each in found.values()]
