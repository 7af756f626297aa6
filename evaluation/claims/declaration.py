"""What a claim is, and where it is read from: `<line>.toml`, with the 14 theorems and propositions.

A claim says what the paper says and where, what was measured, and rules. A rule names rows of kept results, and between
which bounds their numbers must lie.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from evaluation.claims.estimates import Estimate

FOLDER = Path(__file__).parent
LINES = ("crowd", "pmf", "separable", "comparisons")
Outcome = Literal["holds", "fails", "open"]
Of = Literal["", "ratio", "slope", "rate", "rank", "spread", "share"]


@dataclass(frozen=True)
class Rule:
    """Which numbers, and between which bounds they must lie.

    Attributes
    ----------
    experiment : str or sequence of str
        Names of kept experiments.
    settings, methods : sequence of str
        As kept; all kept settings where none is named, and of several experiments those that each has.
    metric : str
        As kept, or "seconds".
    metrics : sequence of str
        In its place for "rate": errors after numbers of steps, such as "t=100"; for "ratio" their geometric mean.
    than : sequence of str
        Methods to compare with, on the same data.
    beside : sequence of str
        Kept experiments on the same data, in which methods are looked for that this one has not.
    prints : mapping
        Under which name the paper prints a method, where that is another one.
    against : mapping
        In place of `than`: the same method elsewhere, where "experiment", "setting" or "metric" is replaced. With
        `than`: how much larger the difference is than the same one of another "experiment" or "setting".
    of : str
        "" for the value of a method, or its difference from what it is compared with; "ratio" of means over trials;
        "slope" (exponent of a power law; x is the number at the end of a setting's name, such as "S=1e5"); "rate"
        (factor that a step leaves); "rank" (place of the best of `methods` among these and `than`); "spread" (ratio
        of standard deviations over trials); "share" (of trials with `limit` or more).
    at_least, at_most, above, below : float
        Bounds, the first two included.
    of_printed : bool
        The bounds are for the number as a share of the printed one.
    need : int
        Cases that must hold; 0 for all.
    by : "" or "setting"
        Whether all comparisons of a setting make one case.
    pool : bool
        Take the mean over settings instead of a case for each.
    printed : bool
        Judge the paper's own numbers.
    fixed : bool
        Nothing is drawn, so that one run of a deterministic method says all.
    notebook, after : str
        In place of all but the bounds: the number behind this text in a stored output of this notebook.
    """

    experiment: str | Sequence[str] = ()
    settings: Sequence[str] = ()
    methods: Sequence[str] = ()
    metric: str = ""
    metrics: Sequence[str] = ()
    than: Sequence[str] = ()
    beside: Sequence[str] = ()
    prints: Mapping[str, str] = field(default_factory=dict)
    against: Mapping[str, str] = field(default_factory=dict)
    of: Of = ""
    limit: float = np.nan
    at_least: float = -np.inf
    at_most: float = np.inf
    above: float = -np.inf
    below: float = np.inf
    of_printed: bool = False
    need: int = 0
    by: Literal["", "setting"] = ""
    pool: bool = False
    printed: bool = False
    fixed: bool = False
    notebook: str = ""
    after: str = ""

    @property
    def experiments(self) -> list[str]:
        """Names of the experiments."""
        return [self.experiment] if isinstance(self.experiment, str) else list(self.experiment)

    @property
    def bounds(self) -> str:
        """The bounds in words."""
        words = {"at least": self.at_least, "above": self.above, "at most": self.at_most, "below": self.below}
        return " and ".join(f"{word} {bound:g}" for word, bound in words.items() if np.isfinite(bound))

    def outcome(self, number: Estimate, printed: float) -> Outcome:
        """Say whether the whole interval, none of it, or a part is within the bounds."""
        _, low, high = number  # of a missing one no comparison is true, so that it is open
        if self.of_printed:
            low, high = sorted((low / printed, high / printed))
        if low >= self.at_least and high <= self.at_most and low > self.above and high < self.below:
            return "holds"
        outside = high < self.at_least or low > self.at_most or high <= self.above or low >= self.below
        return "fails" if outside else "open"


@dataclass(frozen=True)
class Claim:
    """What a paper says, and how it is judged; the 14 theorems and propositions have `assumes`.

    Attributes
    ----------
    name, place, says : str
        A short name, where it stands in the paper, and what it says; of a theorem the whole statement.
    measured : str
        What is measured of it, and how the rules read its words.
    rules : sequence of Rule
    note : str
        What to know about the verdict.
    untestable : str
        What cannot be tested here, and why; all of it where there are no rules.
    see : sequence of str
        Experiments that are near, beside those of the rules.
    title : str
        Of a theorem: what it is about.
    assumes, defects, notebooks : sequence of str
        Of a theorem: its assumptions, known defects of statement or proof, and where it is taught.
    """

    name: str
    place: str
    says: str
    measured: str = ""
    rules: Sequence[Rule] = ()
    note: str = ""
    untestable: str = ""
    see: Sequence[str] = ()
    title: str = ""
    assumes: Sequence[str] = ()
    defects: Sequence[str] = ()
    notebooks: Sequence[str] = ()

    @property
    def is_theorem(self) -> bool:
        """Theorems and propositions have a title."""
        return bool(self.title)


def paper(line: str) -> str:
    """Return which paper a line's claims are of."""
    return str(_read(line)["paper"])


def declared(line: str) -> list[Claim]:
    """Read the claims of a paper, then its theorems."""
    tables = _read(line)
    return [_claim(table) for kind in ("claim", "theorem") for table in tables.get(kind, [])]


def _read(line: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{line}.toml").read_text(encoding="utf8"))


def _claim(table: dict[str, Any]) -> Claim:
    """Build a claim; theorems say what they state."""
    rules = [Rule(**rule) for rule in table.pop("rule", [])]
    says = table.pop("states", None) or table.pop("says")
    return Claim(says=says, rules=rules, **table)
