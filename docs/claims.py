"""The page of claims: each claim of each paper, what was measured of it, and the verdict."""

from itertools import groupby

import numpy as np
import pandas as pd

from docs.results import markdown
from docs.tables import LINES, cell
from evaluation import EXPERIMENTS
from evaluation.claims import VERDICTS, claims, paper
from evaluation.claims.estimates import SECONDS
from evaluation.trials import KEPT

UNFOLDED = 6  # cases that stand open; more would bury the next claim
PAGE = """# Claims of the papers

What the four papers claim, and what the kept results say of it. Each claim was taken from the abstract, the
contributions or the experiments of its paper. A rule says what numbers it stands for; the verdict is computed from the
kept results by that rule, each time that this page is built.

- *supported*: the rule holds, with its whole interval of 95 %;
- *not supported*: it fails, with its whole interval;
- *cannot tell*: the interval is too wide for either;
- *not testable here*: the reason stands with the claim. Speed is among this: times here are of this kit's code, and
  the sentence is about the authors'. So are numbers that the [results](results/index.md) call not comparable. They are
  shown all the same, with how many would hold.

Words such as "clearly" or "close" need a number before they can be tested. It was chosen from the paper's words and
from its printed numbers, and stands with every claim. "About X times" is at least 80 % of X; a gain that the sentence
puts in numbers is at least half of the printed one. All cases of a rule must hold, unless the paper says "most" or
"often", or names a number. "In print" tells how many hold by the printed numbers. Differences, those of shares of
trials too, are taken trial by trial where methods share their data. Times are not: they are compared by their medians.
How many trials there are is told with each experiment. Rows marked "(paper protocol)" use the paper's own choices, and
methods are compared by these rows where there are any; what this kit's own choices give stands in the note. Of
theorems, "tested" is about the part that can be seen in an experiment: no experiment proves one. "Hunted" says how a
counterexample was looked for, among random draws that meet the conditions (`tests/evaluation/test_theorems.py`). Where
a theorem cannot stand as printed, this is said first; [what is wrong in the papers](errata.md) says why, and what is
right.

{summary}
"""
COLUMNS = ("experiment", "setting", "of", "ours", "printed", "outcome")
NUMBERS = ("ours", "printed")  # columns that end in one place; texts begin in one
UNITS = ("MB", "s", "%", "points")  # that are written behind a number


def claims_page():
    """Return the page: a summary, then paper by paper a table of claims and all the details."""
    judged = {line: claims(line) for line in LINES}
    parts = [PAGE.format(summary="\n".join(summary(judged)))]
    for line, title in LINES.items():
        parts += [f"## {title}", "", f"{cell(paper(line))}. [All its results](results/{line}.md).", ""]
        parts += [*overview(line, judged[line]), f"### {title}, claim by claim", ""]
        parts += [text for number, each in enumerate(judged[line], 1) for text in details(line, number, each)]
    return "\n".join(parts)


def summary(judged):
    """Count verdicts: a row for the claims and one for the theorems of every paper."""
    rows = []
    for line, title in LINES.items():
        for is_theorem, group in groupby(judged[line], key=lambda each: each.claim.is_theorem):
            found = [each.verdict for each in group]
            what = "theorems, tested part" if is_theorem else "claims"
            rows.append({"paper": f"{title}: {what}", "all": len(found)} | {v: found.count(v) for v in VERDICTS})
    total = pd.DataFrame(rows).sum(numeric_only=True)
    return markdown(pd.DataFrame([*rows, {"paper": "together", **total}]).replace(0, ""))


def overview(line, judged):
    """Return the short table of a paper: what it says, the verdict, what was found."""
    rows = ["::::{container} claims", "", "| | claim | verdict | found |", "|--:|---|---|---|"]
    for number, each in enumerate(judged, 1):
        claim = each.claim
        says = f"{claim.name}: {claim.title}" if claim.is_theorem else claim.says
        rows.append(f"| [{number}](#{target(line, claim)}) | {cell(says)} | {verdict(each)} | {cell(found(each))} |")
    return [*rows, "", "::::", ""]


def verdict(each):
    """Write a verdict; of a theorem it is about the part that was tested, after what is wrong in print."""
    tested = f"tested part {each.verdict}" if each.claim.is_theorem and each.rules else each.verdict
    return f"{each.claim.printed}; {tested}" if each.claim.printed else tested


def target(line, claim):
    """Return the name by which a claim is linked."""
    return f"claim-{line}-{claim.name.lower().replace(' ', '-')}"


def found(each):
    """Say what the rules found in a few words."""
    return "; ".join(in_short(rule) for rule in each.rules)


def in_short(rule):
    """Write the number of a single case; of several, how many hold; then the same of the printed numbers."""
    quantity = rule.quantity
    if all(np.isnan(case.number.value) for case in quantity.cases):
        return "no value"
    if len(quantity.cases) == 1:
        (case,) = quantity.cases
        printed = short(quantity, case.printed.value)
        printed = f", in print {printed}{unit(quantity)}" if printed and not quantity.is_printed else ""
        before = f"{quantity.short} " if quantity.short else ""
        return f"{before}{written(quantity, case.number)}{unit(quantity)}{printed}"
    needed = f", {rule.needed} needed" if rule.needed else ""
    printed = f", in print {holding(rule.in_print)}" if rule.in_print and not quantity.is_printed else ""
    return f"{holding(rule.outcomes)} hold{needed}{printed}"


def unit(quantity):
    """Return what to write behind a value or a difference: its unit, if it has one."""
    rows = quantity.rows
    if quantity.short or not rows.experiments:
        return ""
    found = "s" if rows.metrics == (SECONDS,) else rows.unit
    found = "points" if found == "%" and quantity.is_difference else found
    return f" {found}" if found in UNITS else ""


def holding(outcomes):
    """Write how many hold."""
    return f"{outcomes.count('holds')} of {len(outcomes)}"


def details(line, number, each):
    """Return all that is said about one claim."""
    claim = each.claim
    says = f"{claim.name}: {claim.title}." if claim.is_theorem else claim.says
    heading = f"**{number}. {cell(says)}** *{verdict(each)}*. {cell(claim.place)}."
    parts = [f"({target(line, claim)})=", "", heading, ""]
    if claim.assumes:
        parts += ["Assumed:", "", *(f"- {cell(text)}" for text in claim.assumes), ""]
    said = {"Stated": claim.says, "Tested": claim.measured} if claim.is_theorem else {"Measured": claim.measured}
    said |= {"Hunted": claim.hunted, "Not testable": claim.untestable, "Note": claim.note}
    parts += [line for word, text in said.items() if text for line in (f"{word}: {cell(text)}", "")]
    if claim.defects:
        parts += ["Known defects:", "", *(f"- {cell(text)}" for text in claim.defects), ""]
    return [*parts, *tables(each), *links(each)]


def tables(each):
    """Return the numbers behind a claim, rule by rule."""
    return [text for rule in each.rules for text in table_of(rule)]


def table_of(rule):
    """Return what a rule asks for, and its cases, folded where there are many."""
    said = [f"{cell(asked(rule))}: {cell(in_short(rule))}; *{rule.verdict}*.", ""]
    if rule.quantity.notebook:
        return said  # a single number
    rows = pd.DataFrame([case_row(rule, case) for case in rule.quantity.cases], columns=COLUMNS)
    rows = rows[[name for name in COLUMNS if (rows[name] != "").any()]]
    if "experiment" in rows and len(set(rows["experiment"])) == 1:
        rows = rows.drop(columns="experiment")  # the links below name it
    head, _, *lines = markdown(rows)
    ends = "|".join("--:" if name in NUMBERS else "---" for name in rows)
    table = ["::::{container} cases", "", head, f"|{ends}|", *lines, "", "::::", ""]
    if len(rows) > UNFOLDED:
        table = [f"<details><summary>All {len(rows)} numbers</summary>", "", *table, "</details>", ""]
    return [*said, *table]


def asked(rule):
    """Say what a rule asks of its numbers."""
    return f"{rule.quantity.what} {rule.bounds}{' of the printed one' if rule.of_printed else ''}"


def case_row(rule, case):
    """Return the cells of one case."""
    quantity, experiment = rule.quantity, EXPERIMENTS[case.experiment]
    metric = quantity.rows.metrics[0] if len(quantity.rows.metrics) == 1 else "error"
    outcome = "no value" if np.isnan(case.number.value) else rule.outcome(case)
    numbers = written(quantity, case.number), short(quantity, case.printed.value)
    where = experiment.title.partition(":")[0], experiment.settings.get(case.setting, "")
    return *where, f"{case.about}: {metric}", *numbers, outcome


def links(each):
    """Return links to the experiments and notebooks of a claim."""
    quantities = [rule.quantity for rule in each.rules]
    named = [name for quantity in quantities for name in (*quantity.rows.experiments, *quantity.rows.beside)]
    names = dict.fromkeys([*named, *each.claim.see])
    names = [name for name in names if (KEPT / f"{name}.csv").exists()]  # others have no section yet
    lines = {name: name.removeprefix("practice-").split("-")[0] for name in names}
    texts = [f"[{cell(EXPERIMENTS[name].title)}](results/{line}.md#{name})" for name, line in lines.items()]
    books = dict.fromkeys([*(quantity.notebook for quantity in quantities), *each.claim.notebooks])
    texts += [f"[notebook {name[:2]}](../notebooks/{name}.ipynb)" for name in books if name]
    return [f"See {', '.join(texts)}.", ""] if texts else []


def written(quantity, number):
    """Write a number with its interval, where that has ends and they differ."""
    value, low, high = number
    if np.isnan(value):
        return "no value"
    if not np.isfinite([low, high]).all():
        return f"{short(quantity, value)} (no interval)"
    return (
        short(quantity, value)
        if low == high
        else f"{short(quantity, value)} ({short(quantity, low)} to {short(quantity, high)})"
    )


def short(quantity, value):
    """Write a number with three digits; differences have a sign."""
    if np.isnan(value):
        return ""
    sign = "+" if quantity.is_difference and value else ""
    return f"{value:{sign}.3g}" if abs(value) < 1000 else f"{value:{sign},.0f}"
