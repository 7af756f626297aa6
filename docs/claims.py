"""The page of claims: each claim of each paper, what was measured of it, and the verdict."""

from itertools import groupby

import numpy as np
import pandas as pd

from docs.results import markdown
from docs.tables import LINES, cell
from evaluation import EXPERIMENTS
from evaluation.claims import VERDICTS, claims, paper
from evaluation.trials import KEPT

UNFOLDED = 6  # cases that stand open; more would bury the next claim
PAGE = """# Claims of the papers

What the four papers claim, and what the kept results say of it. Each claim was taken from the abstract, the
contributions or the experiments of its paper. A rule says what numbers it stands for; the verdict is computed from the
kept results by that rule, each time that this page is built.

- *supported*: the rule holds, with its whole interval of 95 %;
- *not supported*: it fails, with its whole interval;
- *cannot tell*: the interval is too wide for either;
- *not testable here*: the reason stands with the claim.

Words such as "clearly" or "close" need a number before they can be tested. It was chosen from the paper's words and
from its printed numbers, and stands with every claim. "About X times" is at least 80 % of X; a gain that the sentence
puts in numbers is at least half of the printed one. All cases of a rule must hold, unless the paper says "most" or
"often", or names a number. "In print" tells how many hold by the printed numbers. Differences, those of shares of
trials too, are taken trial by trial where methods share their data. Times are not: they are compared by their medians.
How many trials there are is told with each experiment. Rows marked "(paper protocol)" use the paper's own choices, and
methods are compared by these rows where there are any; what this kit's own choices give stands in the note. Of
theorems, "tested" is about the part that can be seen in an experiment: no experiment proves one.

{summary}
"""
COLUMNS = ("experiment", "setting", "of", "ours", "printed", "outcome")
NUMBERS = ("ours", "printed")  # columns that end in one place; texts begin in one
IN_SHORT = {"slope": "exponent", "rate": "share left", "rank": "place", "spread": "ratio of deviations"}
UNITS = ("MB", "s", "%", "points")  # that are written behind a number
QUANTITIES = {
    "ratio": "Ratio",
    "slope": "Exponent of the power law",
    "rate": "Share left by a step",
    "rank": "Place among all",
    "spread": "Ratio of standard deviations",
    "share": "Share of trials with {limit:g} or more",
}


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
    """Write a verdict; of a theorem it is about the part that was tested."""
    return f"tested part {each.verdict}" if each.claim.is_theorem and each.rulings else each.verdict


def target(line, claim):
    """Return the name by which a claim is linked."""
    return f"claim-{line}-{claim.name.lower().replace(' ', '-')}"


def found(each):
    """Say what the rules found in a few words."""
    return "; ".join(in_short(ruling) for ruling in each.rulings)


def in_short(ruling):
    """Write the number of a single case; of several, how many hold; then the same of the printed numbers."""
    rule, cases = ruling.rule, ruling.cases
    if ruling.verdict == "not testable here":
        return "no value"
    if len(cases) == 1:
        printed = short(rule, cases[0].printed.value)
        printed = f", in print {printed}{unit(rule)}" if printed and not rule.printed else ""
        return f"{quantity(rule)}{written(rule, cases[0].number)}{unit(rule)}{printed}"
    needed = f", {rule.need} needed" if rule.need else ""
    printed = f", in print {holding(ruling.in_print)}" if ruling.in_print and not rule.printed else ""
    return f"{holding(ruling.outcomes)} hold{needed}{printed}"


def quantity(rule):
    """Say before a single number what it is, where that is not plain."""
    return f"{rule.after}: " if rule.notebook else f"{IN_SHORT.get(rule.of, rule.of)} " if rule.of else ""


def unit(rule):
    """Return what to write behind a value or a difference: its unit, if it has one."""
    known = EXPERIMENTS[rule.experiments[0]].metrics if rule.experiments and not rule.of else {}
    found = "s" if rule.metric == "seconds" and not rule.of else known.get(rule.metric, "")
    found = "points" if found == "%" and (rule.than or rule.against) else found
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
    said |= {"Not testable": claim.untestable, "Note": claim.note}
    parts += [line for word, text in said.items() if text for line in (f"{word}: {cell(text)}", "")]
    if claim.defects:
        parts += ["Known defects:", "", *(f"- {cell(text)}" for text in claim.defects), ""]
    return [*parts, *tables(each), *links(each)]


def tables(each):
    """Return the numbers behind a claim, rule by rule."""
    return [text for ruling in each.rulings for text in table_of(ruling)]


def table_of(ruling):
    """Return what a rule asks for, and its cases, folded where there are many."""
    rule = ruling.rule
    rows = pd.DataFrame([case_row(rule, case) for case in ruling.cases], columns=COLUMNS)
    rows = rows[[name for name in COLUMNS if (rows[name] != "").any()]]
    if "experiment" in rows and len(set(rows["experiment"])) == 1:
        rows = rows.drop(columns="experiment")  # the links below name it
    head, _, *lines = markdown(rows)
    ends = "|".join("--:" if name in NUMBERS else "---" for name in rows)
    table = ["::::{container} cases", "", head, f"|{ends}|", *lines, "", "::::", ""]
    if len(rows) > UNFOLDED:
        table = [f"<details><summary>All {len(rows)} numbers</summary>", "", *table, "</details>", ""]
    said = [f"{cell(asked(rule))}: {cell(in_short(ruling))}; *{ruling.verdict}*.", ""]
    return said if rule.notebook else [*said, *table]  # a single number is said


def asked(rule):
    """Say what a rule asks of its numbers."""
    what = "Difference" if rule.than or rule.against else "Value"
    what = QUANTITIES[rule.of].format(limit=rule.limit) if rule.of else what
    what += " less that elsewhere" if rule.than and rule.against else ""
    what += ", geometric mean over steps," if rule.of == "ratio" and rule.metrics else ""
    what += ", mean over settings," if rule.pool else ""
    return f"{what} {rule.bounds}{' of the printed one' if rule.of_printed else ''}"


def case_row(rule, case):
    """Return the cells of one case."""
    experiment = EXPERIMENTS.get(case.experiment)
    setting = experiment.settings.get(case.setting, "") if experiment else f"notebook {rule.notebook[:2]}"
    title = experiment.title.partition(":")[0] if experiment else ""
    outcome = "no value" if np.isnan(case.number.value) else case.outcome
    rows = f"{case.about}: {rule.metric or 'error'}" if experiment else case.about
    return title, setting, rows, written(rule, case.number), short(rule, case.printed.value), outcome


def links(each):
    """Return links to the experiments and notebooks of a claim."""
    rules = [ruling.rule for ruling in each.rulings]
    names = dict.fromkeys([name for rule in rules for name in (*rule.experiments, *rule.beside)] + [*each.claim.see])
    names = [name for name in names if (KEPT / f"{name}.csv").exists()]  # others have no section yet
    lines = {name: name.removeprefix("practice-").split("-")[0] for name in names}
    texts = [f"[{cell(EXPERIMENTS[name].title)}](results/{line}.md#{name})" for name, line in lines.items()]
    books = dict.fromkeys([*(ruling.rule.notebook for ruling in each.rulings), *each.claim.notebooks])
    texts += [f"[notebook {name[:2]}](../notebooks/{name}.ipynb)" for name in books if name]
    return [f"See {', '.join(texts)}.", ""] if texts else []


def written(rule, number):
    """Write a number with its interval, where that has ends and they differ."""
    value, low, high = number
    if np.isnan(value):
        return "no value"
    if not np.isfinite([low, high]).all():
        return f"{short(rule, value)} (no interval)"
    return short(rule, value) if low == high else f"{short(rule, value)} ({short(rule, low)} to {short(rule, high)})"


def short(rule, value):
    """Write a number with three digits; differences have a sign."""
    if np.isnan(value):
        return ""
    compared = (rule.than or rule.against) and not rule.of
    sign = "+" if compared and value else ""
    return f"{value:{sign}.3g}" if abs(value) < 1000 else f"{value:{sign},.0f}"
