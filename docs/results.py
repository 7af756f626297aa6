"""Pages of the papers' tables as they came out here, made from the kept run."""

import json
import re
import shutil

import pandas as pd
from PIL import Image

from cofactor.data.published import published
from docs.tables import LINES, cell
from evaluation import EXPERIMENTS
from evaluation.experiment import PAPER_PROTOCOL
from evaluation.paired import heading, paired
from evaluation.plots import axis_name
from evaluation.record import in_words
from evaluation.summary import BOUNDS, OURS, PRINTED, bounded, digest, noted, number
from evaluation.trials import KEPT, raw_trials
from evaluation.verdicts import CONFIDENCE, VERDICTS, by_chance, distinct

UNFOLDED = 4  # tables of an experiment that stand open; more would bury the next experiment
TEXTS = ("setting", "method", "metric", "unit", "verdict", "calibrated", "note")
WITH = ("commit", "python", "numpy", "scipy", "scikit-learn", "numba", "blas")  # facts of the page by age
INDEX = """# Results beside published numbers

Every table and figure of the papers, run by `cofactor reproduce`: ours with its standard error, what was printed, and
the difference with an interval of 95 %. Where the paper prints no spread, its trials are taken to scatter as ours, but
by no more than the printed number. Where ours are all of the paper's own draws, only that counts which the method
itself draws, and rounding. Where a method was run on some of them, those that were not run leave an error. If it begins
with the answer of a fast method that was run on all, the fast one tells how much easier or harder these are than the
others, and is taken into account; if they say nothing of the others, we cannot tell.

- *better* or *worse*: the interval does not hold zero; what describes the data, such as a number of nodes, is worse
  where it differs;
- *reproduced*: the interval holds zero, and reaches at most a tenth of the printed number to both sides (0.05 for
  accuracies and rank correlations, 0.1 for shares of trials; or one unit of the last printed digit and, on one fixed
  data set, two tasks);
- *cannot tell*: it holds zero and is wider than that;
- *no value*: the reason stands below the table;
- *not comparable*: the printed number is of other data, or of something else than ours; the reason stands below.

Where a number is not met, the reason stands below the table, as far as it is known. Rows marked "(paper protocol)" use
the paper's own choices, the others this kit's defaults. A star marks numbers for which something was fitted to the
printed ones. Times are measured in the benchmarks, and not judged. `cofactor reproduce all --full` runs as many trials
as the papers, and the settings that take long. Where a paper does not tell how many it took, the table says so; its
numbers are taken to be of as many as ours.

## Printed cells, each counted once

A cell that several rows are beside is counted by the row of the paper's own protocol where there is one, else by the
row of its name; of two experiments that show it, the one with more trials counts. {beside} are not counted again.

{counts}

Of these, {drawn:.0f} have an interval that comes from random trials. If all of them were truly equal, some {chance:.0f}
would be called better by chance alone, and as many worse. {calibrated} of the cells are calibrated.
[Printed numbers that are not met](unmet.md) counts them by experiment, and says why;
[numbers of the running text](stated.md) have a page of their own.

## All rows
"""
UNMET = """# Printed numbers that are not met

Every printed cell is counted once, by the row of the paper's own protocol where there is one, and in the experiment
with most trials; the [overview](index.md) says what the verdicts mean. Cells are counted by experiment first, beside
the trials that were run, of those of the paper. Then every cell stands below its verdict, experiment and reason. Open
cells are those of which nothing can be told, and those without a value. Reproduced cells are counted only.
"""
STATED = """# Numbers of the running text

What the papers say in their sentences only, and the points of drawn figures for which the text gives a number; nothing
was read off a picture. The place and the words of a bound stand beside it.
"""


def pages():
    """Return the pages by their path: an overview, and one per line."""
    tables = {name: kept(name) for name in EXPERIMENTS if (KEPT / f"{name}.csv").exists()}
    texts = {"docs/results/index.md": index(tables), "docs/results/unmet.md": unmet(tables)}
    texts["docs/results/stated.md"] = stated(tables)
    for line, title in LINES.items():
        mine = [
            section(EXPERIMENTS[name], table)
            for name, table in tables.items()
            if name.startswith((f"{line}-", f"practice-{line}"))
        ]
        texts[f"docs/results/{line}.md"] = "\n".join([f"# {title}: results", "", *mine])
    return texts


def copy_pictures(folder):
    """Put the pictures where the pages expect them."""
    for picture in KEPT.glob("*.png"):
        shutil.copy(picture, folder / "docs" / "results")


def kept(name):
    """Return the kept table of an experiment."""
    table = pd.read_csv(KEPT / f"{name}.csv", dtype=dict.fromkeys(TEXTS, str))
    return table.fillna(dict.fromkeys(TEXTS, ""))


def facts(name):
    """Return when and where an experiment was run, and how many trials of it."""
    return json.loads((KEPT / f"{name}.json").read_text(encoding="utf8"))


def index(tables):
    """Return the overview: how many published numbers got which verdict."""
    rows = [f"| experiment | trials | {' | '.join(VERDICTS)} |", "|---|---|" + "---|" * len(VERDICTS)]
    for name, table in tables.items():
        found = table["verdict"].value_counts()
        trials = EXPERIMENTS[name].share(facts(name)["trials"])
        rows.append(f"| {link(name)} | {trials} | {' | '.join(str(found.get(verdict, '')) for verdict in VERDICTS)} |")
    toctree = ["```{toctree}", ":hidden:", "unmet", "stated", *LINES, "```"]
    return "\n".join([overview(tables), *rows, "", *by_age(tables), "", *toctree, ""])


def by_age(names):
    """Return a table of the kept results, the oldest first: when they were made, of which commit, with what."""
    made = sorted((facts(name).get("began", "not told")[:16], name) for name in names)
    rows = [
        {"experiment": link(name), "made": date} | {what: facts(name).get(what, "not told") for what in WITH}
        for date, name in made
    ]
    told = "When they were made, of which commit, with what. `cofactor reproduce NAME --full` makes them anew."
    return ["## By age", "", told, "", *markdown(pd.DataFrame(rows), written=str)]


def overview(tables):
    """Return what the verdicts mean, and how many printed cells got which."""
    cells, beside = printed_cells(tables), [EXPERIMENTS[name].title for name in tables if EXPERIMENTS[name].beside]
    found = cells["verdict"].value_counts()
    counts = pd.DataFrame([{"printed cells": len(cells)} | {verdict: found.get(verdict, 0) for verdict in VERDICTS}])
    chance = by_chance(cells)
    return INDEX.format(
        beside=" and ".join(beside),
        counts="\n".join(markdown(counts.astype(str))),
        drawn=chance * 2 / (1 - CONFIDENCE),
        chance=chance,
        calibrated=(cells["calibrated"] != "").sum(),
    )


def printed_cells(tables):
    """Return the printed cells of some experiments' tables, each once, as the row that counts has it."""
    counted = {name: t for name, t in tables.items() if EXPERIMENTS[name].published and not EXPERIMENTS[name].beside}
    return distinct(counted, {name: EXPERIMENTS[name].published for name in counted}, PAPER_PROTOCOL)


def unmet(tables):
    """Return the page of verdicts: printed cells by experiment, then each that is not met, with its reason."""
    cells = printed_cells(tables)
    parts = [UNMET, *markdown(by_experiment(cells), written=str)]
    for verdict in VERDICTS:
        mine = cells[cells["verdict"] == verdict]
        parts += ["", f"## {verdict.capitalize()}: {len(mine)} printed cells", ""]
        parts += [] if verdict == "reproduced" else by_reason(mine)
    return "\n".join([*parts, ""])


def by_experiment(cells):
    """Return the table of trials and verdicts, a row per experiment."""
    rows = []
    for name, mine in cells.groupby("table", sort=False):
        found = mine["verdict"].value_counts()
        trials = EXPERIMENTS[name].share(facts(name)["trials"])
        counts = {verdict: str(found.get(verdict, "")) for verdict in VERDICTS}
        rows.append({"experiment": link(name), "trials": trials, "printed cells": str(len(mine)), **counts})
    return pd.DataFrame(rows)


def by_reason(cells):
    """Return cells of one verdict: per experiment every reason once, and below it the cells that it is about."""
    lines = []
    for (name, note), mine in cells.groupby(["table", "note"], sort=False):
        lines += [f"{link(name)}, {len(mine)}: {cell(note)}.", "", "::::{container} results", ""]
        shown = {
            "data": mine["setting"].map(EXPERIMENTS[name].settings),
            "method": mine["method"],
            "number": list(map(axis_name, mine["metric"], mine["unit"])),
            "ours": numbers(mine, OURS),
            "printed": numbers(mine, PRINTED),
            "difference": [bounded(*ends) for ends in zip(*(mine[end] for end in BOUNDS), strict=True)],
        }
        lines += [*markdown(pd.DataFrame(shown)), "", "::::", ""]
    return lines


def stated(tables):
    """Return the page of numbers that no table of a paper holds."""
    parts = [STATED]
    for name, table in tables.items():
        if re.search("_(text|figure)", EXPERIMENTS[name].published):
            parts += ["", link(name), "", *markdown(beside_the_text(EXPERIMENTS[name], table)), ""]
    return "\n".join(parts)


def beside_the_text(experiment, table):
    """Return ours beside every number of the text, with the place where it stands."""
    places = published(experiment.published).set_index(["setting", "method", "metric"])["note"]
    rows = table[table["published"].notna()]
    base = rows["method"].str.split(" (", regex=False).str[0]
    return pd.DataFrame(
        {
            "data": rows["setting"].map(experiment.settings),
            "method": rows["method"],
            "number": list(map(axis_name, rows["metric"], rows["unit"])),
            "ours": numbers(rows, OURS),
            "text": numbers(rows, PRINTED),
            "verdict": rows["verdict"],
            "place": [places[key] for key in zip(rows["setting"], base, rows["metric"], strict=True)],
        }
    )


def link(name):
    """Return a link to what is said about an experiment."""
    return f"[{cell(EXPERIMENTS[name].title)}]({name.removeprefix('practice-').split('-')[0]}.md#{name})"


def section(experiment, table):
    """Return what is said about one experiment: protocol, picture, tables, reasons."""
    run = facts(experiment.name)
    about = f"{cell(experiment.source)}. `cofactor reproduce {experiment.name}`: {experiment.averaged(run['trials'])}. "
    about += in_words(run)
    parts = [f"({experiment.name})=", f"## {cell(experiment.title)}", "", about, "", cell(experiment.protocol), ""]
    parts += picture(experiment)
    for told, rows in digest(experiment, table).items():
        parts += [
            "",
            f"**{cell(told)}**",
            "",
            "::::{container} results",
            "",
            *markdown(pd.DataFrame(rows)),
            "",
            "::::",
        ]
    blocks = []
    for setting, rows in table.groupby("setting", sort=False):
        blocks += ["", f"**{cell(experiment.settings[setting])}**", "", "::::{container} results", ""]
        blocks += [*block(rows), "", "::::"]
    if (count := table["setting"].nunique()) > UNFOLDED:
        blocks = ["", f"<details><summary>Tables of {count} settings</summary>", *blocks, "", "</details>"]
    return "\n".join([*parts, *blocks, "", *reasons(table), "", *differences(experiment), ""])


def differences(experiment):
    """Return the folded table of one method beside each other on the same data; nothing where no trials were kept."""
    if not (KEPT / f"{experiment.name}.npz").exists():
        return []
    table = paired(experiment, raw_trials(experiment.name))
    if not len(table):
        return []
    ends = zip(*(table[name] for name in BOUNDS), strict=True)
    shown = pd.DataFrame(
        {
            "other method": table["method"],
            "data": table["setting"].map(experiment.settings),
            "difference": [bounded(*cells) for cells in ends],
            "trials": table["trials"].astype(str),
        }
    )
    opening = ["<details><summary>Differences on the same data</summary>", "", f"{cell(heading(table))}.", ""]
    return [*opening, "::::{container} results", "", *markdown(shown), "", "::::", "", "</details>"]


def picture(experiment):
    """Return the lines of the picture; where a column is narrower than that, it leads to itself in full size."""
    with Image.open(KEPT / f"{experiment.name}.png") as kept_picture:
        width = kept_picture.width
    alt = json.dumps(f"{experiment.title}: ours and published, per setting and method")
    return [f"```{{image}} {experiment.name}.png", f":alt: {alt}", f":width: {width}px", "```"]


def block(rows):
    """Return the lines of one setting: a table for every metric that was published, one for all others together."""
    told = rows[rows["ours"].notna() | rows["published"].notna()]
    told = told.assign(name=list(map(axis_name, told["metric"], told["unit"])))
    printed = told.groupby("name", sort=False)["published"].transform("count") > 0
    lines = []
    for name, of_metric in told[printed].groupby("name", sort=False):
        lines += [f"*{cell(name)}*", "", *beside_published(of_metric), ""]
    return lines + wide(told[~printed])


def beside_published(rows):
    """Return the table of one metric."""
    table = pd.DataFrame({"method": rows["method"], "ours": numbers(rows, OURS), "published": numbers(rows, PRINTED)})
    table["difference"] = [bounded(*ends) for ends in zip(*(rows[name] for name in BOUNDS), strict=True)]
    stars = rows["calibrated"].ne("").map({True: " *", False: ""})
    return markdown(table.assign(verdict=rows["verdict"] + stars))


def wide(rows):
    """Return a row per method and a column per metric, a dash where a method has no value; nothing of no rows."""
    texts = pd.Series(numbers(rows, OURS), index=pd.MultiIndex.from_frame(rows[["method", "name"]]), dtype=object)
    table = pd.DataFrame({name: texts.xs(name, level="name") for name in rows["name"].unique()})
    table = table.reindex(rows["method"].unique()).fillna("-").rename_axis("method").reset_index()
    return markdown(table) if len(table) else []


def markdown(table, written=cell):
    """Return a table's lines: names begin in one place, numbers end in one."""
    head = [f"| {' | '.join(map(cell, table.columns))} |", "|---|" + "--:|" * (len(table.columns) - 1)]
    return [*head, *(f"| {' | '.join(map(written, line))} |" for line in table.itertuples(index=False))]


def numbers(rows, columns):
    """Write the numbers that these columns hold: a value, its spread, how many digits matter."""
    return [number(*cells) for cells in zip(*(rows[name] for name in columns), strict=True)]


def reasons(table):
    """Return every reason once, after the methods and settings it is about."""
    return [f"- {cell(about)}: {cell(note)}" for note, about in noted(table).items()]
