"""What a claim is about, written as it is said: rows of kept results, and differences, ratios and exponents of them.

    error = kept("crowd-table4", "error")
    error["RobSymNMF"] - error["CNMF", "KOS"] < 0
    error["RobSymNMF"].at("dog") / error["RobSymNMF"].at("bluebird") <= 2

A quantity has a case for every setting, method and method it is compared with. Methods are compared with each of the
others; the same methods elsewhere (at another setting, or by another metric) each with itself. Rows on the same data
are compared trial by trial. Of every case there is also the number that the printed ones give.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cofactor.core.errors import CofactorError, listing
from evaluation.claims import estimates
from evaluation.claims.estimates import NOTHING, Estimate, Row, Term, exact, results
from evaluation.claims.rules import Rule
from evaluation.verdicts import MORE, SHARES

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NUMBER = r"\s*([-+−]?[\d.]+(?:e[-+]?\d+)?)"
Of = Callable[[Row, Row], Sequence[Term]]


class Case(NamedTuple):
    """One number: where it is from, ours with its interval, the print's; `terms` are what either is the sum of."""

    experiment: str
    setting: str
    about: str
    number: Estimate
    printed: Estimate
    terms: tuple[Sequence[Term], Sequence[Term]] = ((), ())


class Bounded:
    """What can be compared with a bound, which makes a rule of it."""

    def quantity(self) -> Quantity:
        """Return the numbers."""
        raise NotImplementedError

    def __lt__(self, bound: float) -> Rule:
        return Rule(self.quantity(), below=bound)

    def __le__(self, bound: float) -> Rule:
        return Rule(self.quantity(), at_most=bound)

    def __gt__(self, bound: float) -> Rule:
        return Rule(self.quantity(), above=bound)

    def __ge__(self, bound: float) -> Rule:
        return Rule(self.quantity(), at_least=bound)

    def between(self, low: float, high: float) -> Rule:
        """Make a rule of two bounds, both included."""
        return Rule(self.quantity(), at_least=low, at_most=high)


@dataclass(frozen=True)
class Rows(Bounded):
    """Rows of kept results; alone, their values.

    Attributes
    ----------
    experiments, metrics : tuple of str
        As kept, or "seconds". Several metrics are errors after numbers of steps, such as "t=100", which count together.
    methods, settings : tuple of str
        As kept; all kept settings where none is named, and of several experiments those that each has.
    beside : sequence of str
        Kept experiments on the same data, in which methods are looked for that these have not.
    prints : mapping
        Under which name the paper prints a method, where that is another one.
    fixed : bool
        Nothing is drawn, so that one run of a deterministic method says all.
    """

    experiments: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    beside: Sequence[str] = ()
    prints: Mapping[str, str] = field(default_factory=dict)
    fixed: bool = False

    def __getitem__(self, methods: str | tuple[str, ...]) -> Rows:
        return replace(self, methods=(methods,) if isinstance(methods, str) else methods)

    def at(self, *settings: str) -> Rows:
        """Return the rows of some settings."""
        return replace(self, settings=settings)

    def of(self, metric: str) -> Rows:
        """Return the rows of another metric."""
        return replace(self, metrics=(metric,))

    def within(self, experiment: str) -> Rows:
        """Return the rows of another experiment."""
        return replace(self, experiments=(experiment,))

    def __sub__(self, other: Rows) -> Quantity:
        cancels = self.methods != other.methods  # what is printed with the same bias of all methods
        cases = _compared(self, other, estimates.difference, "less", cancels)
        return Quantity(self, "Difference", cases, is_difference=True)

    def __truediv__(self, other: Rows) -> Quantity:
        what = "Ratio" + (", geometric mean over steps," if len(self.metrics) > 1 else "")
        cases = [_exponential(case) for case in _compared(self, other, estimates.log_ratio, "over")]
        return Quantity(self, what, cases, short="ratio")

    def quantity(self) -> Quantity:
        """Return the values."""
        unit = self.unit if self.metrics[0] in SHARES else None
        return Quantity(
            self, "Value", [_limited(case, unit) for case in self.alone(lambda row: [Term(1, row.summary)])]
        )

    @property
    def unit(self) -> str:
        """Unit of the metric, as the experiment declares it."""
        return results(self.experiments[0]).experiment.metrics.get(self.metrics[0], "")

    def places(self) -> Iterator[tuple[str, str]]:
        """Give experiments with their settings.

        Raises
        ------
        CofactorError
            No experiment has one of the settings; the message names it.
        """
        there = {name: results(name) for name in self.experiments}
        if odd := set(self.settings) - {setting for own in there.values() for setting in own.experiment.settings}:
            raise CofactorError(f"no setting {listing(sorted(odd))} in {listing(self.experiments)}")
        for name, own in there.items():
            wanted = [setting for setting in self.settings if setting in own.experiment.settings]
            yield from ((name, setting) for setting in (wanted if self.settings else own.settings()))

    def alone(self, of: Callable[[Row], Sequence[Term]]) -> list[Case]:
        """Make a case of every single row."""
        rows = product(self.places(), self.methods)
        return [_case(*at, method, *map(of, self.both(*at, method))) for at, method in rows]

    def both(self, name: str, setting: str, method: str, cancels: bool = False) -> tuple[Row, Row]:
        """Return a row as kept, and as printed; over steps the geometric mean."""
        keys = [(setting, method, metric) for metric in self.metrics]
        ours, printed = [self.kept(name, key) for key in keys], [self.printed(name, key, cancels) for key in keys]
        return estimates.over_steps(ours), estimates.over_steps(printed)

    def kept(self, name: str, where: estimates.Where) -> Row:
        """Return a row as kept.

        Raises
        ------
        CofactorError
            There is no such method or metric; the message names the row.
        """
        found = [results(each) for each in (name, *self.beside)]
        if not any(own.knows(where) for own in found):
            raise CofactorError(f"{name} knows no {' / '.join(where)}: see evaluation/reproduced/{name}.csv")
        return max((own.row(where, self.fixed) for own in found), key=lambda row: row.summary.trials)

    def printed(self, name: str, where: estimates.Where, cancels: bool) -> Row:
        """Return a row as printed; what is printed with a bias counts where that `cancels`."""
        own, (setting, method, metric) = results(name), where
        if own.experiment.printed_as.get(metric) == "" and not cancels:
            return Row(NOTHING)
        return own.printed((setting, self.prints.get(method, method), metric))


@dataclass(frozen=True)
class Quantity(Bounded):
    """Numbers made of rows.

    Attributes
    ----------
    rows : Rows
        What they are made of: of a comparison the first part.
    what, short : str
        What they are, and the same before a single number where that is not plain.
    cases : sequence of Case
    is_difference, is_printed : bool
        Whether they have a sign; whether the paper's own numbers are judged.
    notebook : str
        Where a number of a stored output is from.
    """

    rows: Rows
    what: str
    cases: Sequence[Case]
    short: str = ""
    is_difference: bool = False
    is_printed: bool = False
    notebook: str = ""

    def quantity(self) -> Quantity:
        """Return itself."""
        return self

    def __sub__(self, elsewhere: Quantity) -> Quantity:
        cases = []
        for a, b in zip(self.cases, elsewhere.cases, strict=True):
            sums = ([*here, *_weighted(there, -1)] for here, there in zip(a.terms, b.terms, strict=True))
            cases.append(_case(a.experiment, a.setting, a.about, *sums))
        return replace(self, what=f"{self.what} less that elsewhere", cases=cases)


def kept(
    experiments: str | Sequence[str],
    *metrics: str,
    beside: Sequence[str] = (),
    prints: Mapping[str, str] | None = None,
    fixed: bool = False,
) -> Rows:
    """Return all rows of one metric, or of errors after several numbers of steps: see `Rows`."""
    names = (experiments,) if isinstance(experiments, str) else tuple(experiments)
    return Rows(names, metrics, beside=beside, prints=prints or {}, fixed=fixed)


def mean(quantity: Quantity) -> Quantity:
    """Take the mean over the settings of an experiment, instead of a case for each."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in quantity.cases:
        groups.setdefault((case.experiment, case.about), []).append(case)
    cases = []
    for (name, about), group in groups.items():
        kinds = zip(*(case.terms for case in group), strict=True)  # ours, and the printed ones
        sums = ([term for terms in kind for term in _weighted(terms, 1 / len(group))] for kind in kinds)
        cases.append(_case(name, "", about, *sums))
    return replace(quantity, what=f"{quantity.what}, mean over settings,", cases=cases)


def printed(quantity: Quantity) -> Quantity:
    """Judge the paper's own numbers."""
    cases = [case._replace(number=case.printed) for case in quantity.cases]
    return replace(quantity, cases=cases, is_printed=True)


def slope(rows: Rows) -> Quantity:
    """Take the exponent of a power law; x is the number at the end of a setting's name, such as 1e5 of "S=1e5"."""
    cases = []
    for name, places in groupby(rows.places(), key=lambda place: place[0]):
        settings = [setting for _, setting in places]
        x = [ending(setting) for setting in settings]
        for method in rows.methods:
            pairs = zip(*(rows.both(name, setting, method) for setting in settings), strict=True)
            cases.append(_case(name, "", method, *(estimates.slope(each, x) for each in pairs)))
    return Quantity(rows, "Exponent of the power law", cases, short="exponent")


def rate(rows: Rows) -> Quantity:
    """Take the factor that a step leaves of an error."""
    steps = [ending(metric) for metric in rows.metrics]
    cases = []
    for at, method in product(rows.places(), rows.methods):
        pairs = zip(*(rows.of(metric).both(*at, method) for metric in rows.metrics), strict=True)
        cases.append(_exponential(_case(*at, method, *(estimates.log_rate(each, steps) for each in pairs))))
    return Quantity(rows, "Share left by a step", cases, short="share left")


def share(rows: Rows, limit: float) -> Quantity:
    """Take the share of trials with `limit` or more."""
    cases = [_limited(case, "1") for case in rows.alone(lambda row: estimates.share(row, limit))]
    return Quantity(rows, f"Share of trials with {limit:g} or more", cases, short="share")


def spread(rows: Rows, others: Rows) -> Quantity:
    """Take the ratio of standard deviations over trials."""
    cases = []
    for at, method, other in product(rows.places(), rows.methods, others.methods):
        ours, in_print = map(estimates.spread, rows.both(*at, method), others.both(*at, other))
        cases.append(Case(*at, f"{method} over {other}", ours, in_print))
    return Quantity(rows, "Ratio of standard deviations", cases, short="ratio of deviations")


def rank(rows: Rows, others: Rows) -> Quantity:
    """Take the place of the best of some methods among these and others."""
    cases = []
    for at in rows.places():
        best, rest = (zip(*(side.both(*at, each) for each in side.methods), strict=True) for side in (rows, others))
        ours, in_print = (estimates.rank(*sides, rows.metrics[0] in MORE) for sides in zip(best, rest, strict=True))
        cases.append(Case(*at, ", ".join(rows.methods), ours, in_print))
    return Quantity(rows, "Place among all", cases, short="place")


def said(notebook: str, after: str) -> Quantity:
    """Return the number behind a text in a stored output of a notebook."""
    case = Case("", "", after, exact(behind(notebook, after)), exact(np.nan))
    return Quantity(Rows(), "Value", [case], short=f"{after}:", notebook=notebook)


def behind(notebook: str, after: str) -> float:
    """Return the number behind a text in the stored outputs of a notebook.

    Raises
    ------
    CofactorError
        No stored output has this text before a number.
    """
    cells = json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text(encoding="utf8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    texts = ["".join(output.get("text", []) or output.get("data", {}).get("text/plain", [])) for output in outputs]
    for text in texts:
        if found := re.search(re.escape(after) + NUMBER, text):
            return float(found[1].replace("−", "-"))
    raise CofactorError(f"no number behind {after!r} in the outputs of notebook {notebook}")


def ending(name: str) -> float:
    """Return the number at the end of a name, such as 1e5 of "S=1e5" and 100 of "t=100"."""
    return float(name.rpartition("=")[2].replace(",", ""))


# ---- cases ----


def _compared(a: Rows, b: Rows, of: Of, word: str, cancels: bool = False) -> list[Case]:
    """Compare rows with others on the same data, trial by trial, or with the same methods elsewhere."""
    same = a.methods == b.methods
    methods = list(zip(a.methods, b.methods, strict=True) if same else product(a.methods, b.methods))
    cases = []
    for at, (method, other) in product(a.places(), methods):
        there = _elsewhere(at, a, b)
        pairs = zip(a.both(*at, method, cancels), b.both(*there, other, cancels), strict=True)
        terms = [of(one if there == at else Row(one.summary), two) for one, two in pairs]
        cases.append(_case(*at, method if same else f"{method} {word} {other}", *terms))
    return cases


def _elsewhere(at: tuple[str, str], a: Rows, b: Rows) -> tuple[str, str]:
    """Where the other rows are: at the same place, but for the one experiment or the one setting that they name."""
    named = (b.experiments, a.experiments, at[0]), (b.settings or a.settings, a.settings, at[1])
    if odd := [theirs for theirs, ours, _ in named if theirs != ours and len(theirs) > 1]:
        raise CofactorError(f"rows can be compared with those of one other place, not of {listing(odd[0])}")
    name, setting = (same if theirs == ours else theirs[0] for theirs, ours, same in named)
    return name, setting


def _case(name: str, setting: str, about: str, ours: Sequence[Term], printed: Sequence[Term]) -> Case:
    return Case(name, setting, about, estimates.combined(ours), estimates.combined(printed), (ours, printed))


def _exponential(case: Case) -> Case:
    return case._replace(number=estimates.exponential(case.number), printed=estimates.exponential(case.printed))


def _limited(case: Case, unit: str | None) -> Case:
    """An interval of a share ends where shares do; other values have no unit here."""
    if unit is None:
        return case
    ends = 0.0, 100.0 if unit == "%" else 1.0
    number, printed = (Estimate(*(float(np.clip(end, *ends)) for end in each)) for each in (case.number, case.printed))
    return case._replace(number=number, printed=printed)


def _weighted(terms: Sequence[Term], weight: float) -> list[Term]:
    return [term._replace(weight=term.weight * weight) for term in terms]
