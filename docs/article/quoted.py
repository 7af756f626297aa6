"""The numbers that the article quotes: where each comes from, and within which range its sentence is true.

The article is a template. `{{ dog["MV-EM"] | within(15, 16, ".2f") }}` writes a cell of a kept table with two digits,
where `dog` is `cells("crowd-table4", "dog", "error")`; `GLOBALS` are the functions that such an expression may call. A
number outside its range is an error that tells number and sentence: then the sentence has to be thought over, not the
range.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

from jinja2 import Environment, StrictUndefined

from cofactor.core.errors import CofactorError
from docs import results
from evaluation import EXPERIMENTS, raw_trials
from evaluation.claims import claims
from evaluation.claims.estimates import Term, combined
from evaluation.crowd.families import family_means
from evaluation.experiment import PAPER_PROTOCOL
from evaluation.fidelity import fidelity
from evaluation.summary import CHANCE, UNKNOWN
from evaluation.verdicts import by_chance, sample

SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z*\d⟦])|\n\s*\n|\n(?=[|-])")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
PROPOSED = ("SymNMF", "RobSymNMF", "DesSymNMF", "CNMF-SPA", "CNMF-OPT", "MERIT")  # begin the papers' own methods
EQUAL = 1e-9  # numbers that differ less are taken to be equal


def filled(template):
    """Write the numbers of a template; CofactorError where one leaves its range or is not there."""
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    environment.filters["within"] = within
    text = environment.from_string(template, globals=GLOBALS).render()
    wrong = [" ".join(part.split()) for part in SENTENCE.split(text) if "⟦" in part]
    if wrong:
        raise CofactorError("numbers of docs/article do not hold what its text says: " + "; ".join(map(repr, wrong)))
    return text


def within(quantity, low, high, form=".0f"):
    """Write a number, or in brackets that it is outside the range that its sentence needs."""
    value = float(quantity)
    if low <= value <= high:  # neither is NaN
        return written(value, form)
    return f"⟦{value:.6g}, not {low} to {high}⟧"


def written(value, form):
    """Write a number as the text has it: thousands apart, a proper minus, powers of ten raised."""
    text, _, power = f"{value:{form}}".partition("e")
    text = text.replace("-", "−")
    return f"{text}·10{str(int(power)).translate(RAISED)}" if power else text


# ---- cells of kept tables ----


@dataclass(frozen=True)
class Cell:
    """One metric of one method in a setting; without a setting the mean over all.

    The crowds of the benchmark go by family, since sets of one family share tasks or workers.
    """

    experiment: str
    setting: str
    metric: str
    method: str = ""
    column: str = "ours"

    @property
    def printed(self):
        """The number that the paper prints."""
        return replace(self, column="published")

    @property
    def se(self):
        """The standard error."""
        return replace(self, column="se")

    @property
    def trials(self):
        """How many trials it is of."""
        return replace(self, column="trials")

    @property
    def median(self):
        """The median over trials."""
        return self.values().median()

    def __float__(self):
        if not self.setting:
            return float(self.values().mean())
        rows = self.rows(kept(self.experiment))
        if len(rows) != 1:
            raise CofactorError(f"the article asks for {self}, of which {len(rows)} rows were kept")
        return float(rows[self.column].iloc[0])

    def __sub__(self, other):
        return Differences(self, other)

    def __mul__(self, factor):
        return float(self) * factor

    def __truediv__(self, other):
        return float(self) / float(other)

    def rows(self, table):
        """Return the rows of a table that are about this; those of all settings where none is named."""
        rows = table[(table["method"] == self.method) & (table["metric"] == self.metric)]
        return rows[rows["setting"] == self.setting] if self.setting else rows

    def values(self):
        """Return the values by trial; where no setting is named the means, by setting or family."""
        if self.setting:
            return self.rows(raw_trials(self.experiment)).set_index("trial")["value"]
        means = self.rows(kept(self.experiment)).set_index("setting")["ours"]
        return family_means(means) if self.experiment == "crowd-benchmark" else means

    def below(self, other):
        """Return how many trials are below all of another cell."""
        return (self.values() < other.values().min()).sum()

    def between(self, low, high):
        """Return how many trials are between two numbers."""
        return self.values().between(low, high).sum()


@dataclass(frozen=True)
class Cells:
    """The cells of an experiment, a setting and a metric, by method; `suffix` ends the names of rows of one kind."""

    experiment: str
    setting: str
    metric: str
    suffix: str = ""

    def __getitem__(self, method):
        return Cell(self.experiment, self.setting, self.metric, method + self.suffix)

    @property
    def protocol(self):
        """The rows by the paper's protocol."""
        return replace(self, suffix=PAPER_PROTOCOL)


@dataclass(frozen=True)
class Differences:
    """The mean difference of two cells on the same data."""

    cell: Cell
    other: Cell

    def values(self):
        """Return the differences, by trial or setting."""
        return (self.cell.values() - self.other.values()).dropna()

    def interval(self):
        """Return the mean with its interval."""
        return combined([Term(1, sample(self.values().to_numpy(), "", "mean"))])

    def __float__(self):
        return self.interval().value

    @property
    def half(self):
        """Half of the 95 % interval."""
        return self.interval().high - self.interval().value

    @property
    def above(self):
        """How many differences are above zero."""
        return (self.values() > EQUAL).sum()


@cache
def kept(experiment):
    """Return the kept table of an experiment."""
    return results.kept(experiment)


# ---- counts ----


def there(beyond=False):
    """Return the experiments that were kept: of the papers, or beyond them."""
    names = [name for name, e in EXPERIMENTS.items() if e.source.startswith("Beyond ") == beyond]
    return [name for name in names if (results.KEPT / f"{name}.csv").exists()]


@cache
def printed_cells():
    """Return the printed cells of the four papers, each once, with the verdict on the row that counts.

    Columns more: line of research; remark ("cause", "chance" or "none"); whether the method is the paper's own, and
    whether the row has fewer trials than the paper.
    """
    cells = results.printed_cells({name: kept(name) for name in there()})
    return cells.assign(
        line=[EXPERIMENTS[table].line for table in cells["table"]],
        remark=cells["note"].map(remark),
        proposed=cells["method"].str.startswith(PROPOSED),
        few=[has_few(*cell) for cell in zip(cells["table"], cells["setting"], cells["trials"], strict=True)],
    )


def has_few(table, setting, trials):
    """Return whether a row has fewer trials than the paper; on one fixed data set some methods need one only."""
    return trials < EXPERIMENTS[table].trials and setting not in EXPERIMENTS[table].granularity


def remark(note):
    """Say what a note tells of the cause: something, that chance suffices, or nothing."""
    return "none" if not note or UNKNOWN in note else "chance" if note.startswith(CHANCE) else "cause"


def chosen(**among):
    """Return the printed cells that have one value, or one of a list, in each of some columns."""
    cells = printed_cells()
    for column, wanted in among.items():
        cells = cells[cells[column].isin(wanted if isinstance(wanted, list) else [wanted])]
    return cells


@cache
def judgements():
    """Return of every claim whether it is a theorem, and the verdict."""
    return [(each.claim.is_theorem, each.verdict) for line in results.LINES for each in claims(line)]


def judged(verdict="", theorems=False):
    """Return how many claims of the papers, or theorems, got a verdict."""
    return sum(is_theorem == theorems and found.startswith(verdict) for is_theorem, found in judgements())


def has_all_trials(name):
    """Whether an experiment was kept with as many trials as the paper has."""
    return results.facts(name)["trials"] >= EXPERIMENTS[name].trials


def with_all_trials(yes=True):
    """Return how many experiments of the papers were kept with as many trials as the paper has, or with fewer."""
    return sum(has_all_trials(name) == yes for name in there())


def settings(experiment):
    """Return how many settings of an experiment were kept."""
    return kept(experiment)["setting"].nunique()


def met(experiment):
    """Return how many numbers of an experiment are reproduced."""
    return (kept(experiment)["verdict"] == "reproduced").sum()


def variants():
    """Return how many rows of all tables follow the paper's protocol."""
    return sum(row.endswith(PAPER_PROTOCOL) for name in there() for row in kept(name)["method"].unique())


GLOBALS = {
    "cells": Cells,
    "count": lambda **among: len(chosen(**among)),
    "by_chance": lambda: by_chance(printed_cells()),
    "calibrated": lambda: (printed_cells()["calibrated"] != "").sum(),
    "claims": judged,
    "settings": settings,
    "experiments": lambda beyond=False: len(there(beyond)),
    "in_full": with_all_trials,
    "met": met,
    "equations": lambda: len(fidelity()),
    "variants": variants,
}
