"""How a rule reads a claim from kept results, and what verdict comes out.

A rule makes a number with an interval of every case. A case *holds* if its whole interval is within the bounds, *fails*
if all of it is outside, and is *open* otherwise.

| verdict of a rule | when |
|---|---|
| supported | at least `need` cases hold (all, where nothing else is said) |
| not supported | too many cases fail for that |
| cannot tell | else: intervals are too wide |
| not testable here | no case has a value |

A claim is supported if all of its rules are, and not supported if one is not. Without rules it says why it is not
testable here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

from cofactor.core.errors import CofactorError, listing
from evaluation.claims.declaration import FOLDER, Claim, Outcome, Rule, declared
from evaluation.claims.estimates import (
    NOTHING,
    Estimate,
    Row,
    Term,
    Where,
    combined,
    difference,
    exact,
    exponential,
    log_rate,
    log_ratio,
    over_steps,
    rank,
    results,
    share,
    slope,
    spread,
)
from evaluation.verdicts import MORE, SHARES

NOTEBOOKS = FOLDER.parents[1] / "notebooks"
NUMBER = r"\s*([-+−]?[\d.]+(?:e[-+]?\d+)?)"
Verdict = Literal["supported", "not supported", "cannot tell", "not testable here"]
VERDICTS: tuple[Verdict, ...] = ("supported", "not supported", "cannot tell", "not testable here")
WEAKER: tuple[Verdict, ...] = ("supported", "not testable here", "cannot tell", "not supported")
GetRow = Callable[[str, Where], Row]  # of an experiment


class Case(NamedTuple):
    """One number that a rule looks at: where it is from, its interval, whether it is within the bounds, the print's."""

    experiment: str
    setting: str
    about: str
    number: Estimate
    outcome: Outcome
    printed: Estimate


class Ruling(NamedTuple):
    """A rule, its cases, what is counted (cases or settings), ours and the print's, and the verdict."""

    rule: Rule
    cases: list[Case]
    outcomes: list[Outcome]
    in_print: list[Outcome]
    verdict: Verdict


class Judged(NamedTuple):
    """A claim, what its rules found, and the verdict."""

    claim: Claim
    rulings: list[Ruling]
    verdict: Verdict


@cache
def claims(line: str) -> list[Judged]:
    """Judge all claims of a paper once, in their order."""
    return [judged(claim) for claim in declared(line)]


def judged(claim: Claim) -> Judged:
    """Judge one claim by its rules."""
    rulings = [ruling(rule) for rule in claim.rules]
    found = {each.verdict for each in rulings}
    if not found:
        return Judged(claim, [], "not testable here")
    return Judged(claim, rulings, max(found, key=WEAKER.index))


def ruling(rule: Rule) -> Ruling:
    """Find the cases of a rule, and count them."""
    cases = cases_of(rule)
    outcomes = _counted(rule, cases)
    in_print = [(case, case.printed.value) for case in cases if not np.isnan(case.printed.value)]
    there = [case._replace(outcome=rule.outcome(case.printed, value)) for case, value in in_print]
    need = rule.need or len(outcomes)
    hold, may = outcomes.count("holds"), len(outcomes) - outcomes.count("fails")
    verdict: Verdict = "supported" if hold >= need else "cannot tell" if may >= need else "not supported"
    if all(np.isnan(case.number.value) for case in cases):
        verdict = "not testable here"
    return Ruling(rule, cases, outcomes, _counted(rule, there), verdict)


def _counted(rule: Rule, cases: Sequence[Case]) -> list[Outcome]:
    """One outcome per case, or per setting: that fails if one of its cases does, and holds if all do."""
    if not rule.by:
        return [case.outcome for case in cases]
    found: dict[tuple[str, str], set[Outcome]] = {}
    for case in cases:
        found.setdefault((case.experiment, case.setting), set()).add(case.outcome)
    return ["fails" if "fails" in each else "open" if "open" in each else "holds" for each in found.values()]


def cases_of(rule: Rule) -> list[Case]:
    """Return every number that a rule looks at.

    Raises
    ------
    CofactorError
        The rule names a setting, method or metric that there is not; the message names them.
    """
    if rule.notebook:
        number = exact(behind(rule.notebook, rule.after))
        return [Case("", "", rule.after, number, rule.outcome(number, np.nan), exact(np.nan))]
    there = [setting for name in rule.experiments for setting in results(name).experiment.settings]
    if odd := set(rule.settings) - set(there):
        raise CofactorError(f"no setting {listing(sorted(odd))} in {listing(rule.experiments)}")
    return [case for name in rule.experiments for case in _cases(rule, name)]


def _cases(rule: Rule, name: str) -> list[Case]:
    """Cases of one experiment: by setting, method and what it is compared with, unless these are taken together."""
    own = results(name)
    there = list(own.experiment.settings) if rule.printed else own.settings()
    settings = [s for s in rule.settings if s in own.experiment.settings] if rule.settings else there
    groups = [settings] if rule.pool or rule.of == "slope" else [[setting] for setting in settings]
    if rule.of == "rank":
        return [_case(rule, name, group, ", ".join(rule.methods), "") for group in groups]
    return [_case(rule, name, *each) for each in product(groups, rule.methods, rule.than or [""])]


def _case(rule: Rule, name: str, settings: list[str], method: str, other: str) -> Case:
    """Make the number of one case from kept rows, and from printed ones."""
    printed = _number(rule, name, settings, method, other, _printed(rule))
    number = printed if rule.printed else _number(rule, name, settings, method, other, _kept(rule))
    setting = settings[0] if len(settings) == 1 else ""
    about = f"{method} {'over' if rule.of else 'less'} {other}" if other else method
    return Case(name, setting, about, number, rule.outcome(number, printed.value), printed)


def _number(rule: Rule, name: str, settings: list[str], method: str, other: str, row: GetRow) -> Estimate:
    """Compute the quantity of a rule from rows; pooled, it is the mean over settings."""
    if rule.of == "rank":
        own, others = (
            [row(name, (settings[0], each, rule.metric)) for each in methods] for methods in (rule.methods, rule.than)
        )
        return rank(own, others, rule.metric in MORE)
    if rule.of == "slope":
        rows = [row(name, (setting, method, rule.metric)) for setting in settings]
        return combined(slope(rows, [ending(setting) for setting in settings]))
    if rule.of == "spread":
        return spread(*_two(rule, name, settings[0], method, other, row))
    found = [_terms(rule, name, setting, method, other, row) for setting in settings]
    number = combined(term._replace(weight=term.weight / len(found)) for terms in found for term in terms)
    if rule.of in ("ratio", "rate"):
        return exponential(number)
    if rule.of == "share":
        return _share(number, "1")
    is_share = rule.metric in SHARES and not other and not rule.against
    return _share(number, results(name).experiment.metrics[rule.metric]) if is_share else number


def _share(number: Estimate, unit: str) -> Estimate:
    """An interval of a share ends where shares do."""
    whole = 100.0 if unit == "%" else 1.0
    return Estimate(*(float(np.clip(end, 0.0, whole)) for end in number))


def _terms(rule: Rule, name: str, setting: str, method: str, other: str, row: GetRow) -> list[Term]:
    """What adds up to the quantity, or to its logarithm, in one setting."""
    if rule.of == "rate":
        rows = [row(name, (setting, method, metric)) for metric in rule.metrics]
        return log_rate(rows, [ending(metric) for metric in rule.metrics])
    if rule.of == "share":
        return share(row(name, (setting, method, rule.metric)), rule.limit)
    if other and rule.against:
        alone = replace(rule, against={})
        there = rule.against.get("experiment", name), rule.against.get("setting", setting)
        elsewhere = [term._replace(weight=-term.weight) for term in _terms(alone, *there, method, other, row)]
        return [*_terms(alone, name, setting, method, other, row), *elsewhere]
    if not other and not rule.against:
        return [Term(1, row(name, (setting, method, rule.metric)).summary)]
    a, b = _two(rule, name, setting, method, other, row)
    return log_ratio(a, b) if rule.of == "ratio" else difference(a, b)


def _two(rule: Rule, name: str, setting: str, method: str, other: str, row: GetRow) -> tuple[Row, Row]:
    """The rows to compare: of two methods, or of one method elsewhere; other data are not paired."""

    def of(experiment: str, setting: str, method: str, metric: str) -> Row:
        return over_steps([row(experiment, (setting, method, each)) for each in rule.metrics or [metric]])

    a, against = of(name, setting, method, rule.metric), rule.against
    if not against:
        return a, of(name, setting, other, rule.metric)
    metric = against.get("metric", rule.metric)
    b = of(against.get("experiment", name), against.get("setting", setting), method, metric)
    return (a, b) if set(against) == {"metric"} else (Row(a.summary), b)


def _kept(rule: Rule) -> GetRow:
    """Rows as kept."""

    def row(name: str, where: Where) -> Row:
        found = [results(each) for each in (name, *rule.beside)]
        if not any(own.knows(where) for own in found):
            raise CofactorError(f"{name} knows no {' / '.join(where)}: see evaluation/reproduced/{name}.csv")
        return max((own.row(where, rule.fixed) for own in found), key=lambda row: row.summary.trials)

    return row


def _printed(rule: Rule) -> GetRow:
    """Rows as printed; what is printed with a bias, the same one of all methods, serves for differences only."""

    def row(name: str, where: Where) -> Row:
        own = results(name)
        biased = own.experiment.printed_as.get(where[2]) == ""
        known = where[0], rule.prints.get(where[1], where[1]), where[2]
        return Row(NOTHING) if biased and (rule.of or not rule.than) else own.printed(known)

    return row


def ending(name: str) -> float:
    """Return the number at the end of a name, such as 1e5 of "S=1e5" and 100 of "t=100"."""
    return float(name.rpartition("=")[2].replace(",", ""))


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
