"""The numbers that the article quotes: where each comes from, and within which range its sentence is true.

`numbers.toml` names every number. Its value is a cell of a kept table (experiment, setting, method, metric), or what
one of `CALLS` computes; `over` divides it by another one. The text writes {{name}}. A value outside `within` is an
error that tells number, value and sentence: then the sentence has to be thought over, not the range.
"""

import re
import tomllib
from functools import cache
from pathlib import Path

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

HERE = Path(__file__).parent
NAME = re.compile(r"\{\{ *([\w.-]+) *\}\}")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z*{])|\n\s*\n|\n(?=[|-])")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
PROPOSED = ("SymNMF", "RobSymNMF", "DesSymNMF", "CNMF-SPA", "CNMF-OPT", "MERIT")  # begin the papers' own methods
EQUAL = 1e-9  # numbers that differ less are taken to be equal


def filled(text, entries):
    """Put the values in the place of their names; CofactorError where one leaves its range or is not there."""
    values, wrong = {}, []
    for name in dict.fromkeys(NAME.findall(text)):
        try:
            values[name] = written(checked(name, entries[name]), entries[name].get("format", ".0f"))
        except (KeyError, CofactorError) as error:
            why = f"{name} is not in numbers.toml" if isinstance(error, KeyError) else error
            wrong.append(f"{why}: {sentence(text, name)!r}")
    if wrong:
        raise CofactorError("numbers of docs/article do not hold what its text says: " + "; ".join(wrong))
    return NAME.sub(lambda found: values[found[1]], text)


def entries():
    """Read numbers.toml: every number by its name, without the list of `plain` texts."""
    table = tomllib.loads((HERE / "numbers.toml").read_text(encoding="utf8"))
    return {name: entry for name, entry in table.items() if name != "plain"}


def checked(name, entry):
    """Return the value of a number; CofactorError where it is outside the range that its sentences need."""
    value = term(name, entry) / (term(name, entry["over"]) if "over" in entry else 1) * entry.get("times", 1)
    low, high = entry["within"]
    if not low <= value <= high:  # neither is NaN
        raise CofactorError(f"{name} is {value:.6g}, outside {low} to {high}")
    return value


def term(name, entry):
    """Return one cell of a kept table, or what a function computes."""
    if "call" in entry:
        return float(CALLS[entry["call"]](**entry.get("with", {})))
    experiment, setting, method, metric = entry["cell"]
    table = kept(experiment)
    row = table[(table["setting"] == setting) & (table["method"] == method) & (table["metric"] == metric)]
    if len(row) != 1:
        raise CofactorError(f"{name} asks for {entry['cell']}, of which {len(row)} rows were kept")
    return float(row[entry.get("column", "ours")].iloc[0])


def written(value, form):
    """Write a number as the text has it: thousands apart, a proper minus, powers of ten raised."""
    text, _, power = f"{value:{form}}".partition("e")
    text = text.replace("-", "−")
    return f"{text}·10{str(int(power)).translate(RAISED)}" if power else text


def sentence(text, name):
    """Return the first sentence that quotes a number, on one line."""
    parts = (part for part in SENTENCE.split(text) if name in NAME.findall(part))
    return " ".join(next(parts).split())


# ---- what is computed ----


@cache
def kept(experiment):
    """Return the kept table of an experiment."""
    return results.kept(experiment)


def there(beyond=False):
    """Return the experiments that were kept: of the papers, or beyond them."""
    names = [name for name, e in EXPERIMENTS.items() if e.source.startswith("Beyond ") == beyond]
    return [name for name in names if (results.KEPT / f"{name}.csv").exists()]


@cache
def printed_cells():
    """Return the printed cells of the four papers, each once, with the verdict on the row that counts.

    Columns more: line of research; remark ("cause", "chance" or "none"); whether the method is the paper's own, and
    whether the experiment was kept with fewer trials than the paper has.
    """
    cells = results.printed_cells({name: kept(name) for name in there()})
    return cells.assign(
        line=[EXPERIMENTS[table].line for table in cells["table"]],
        remark=cells["note"].map(remark),
        proposed=cells["method"].str.startswith(PROPOSED),
        few=[not has_all_trials(table) for table in cells["table"]],
    )


def remark(note):
    """Say what a note tells of the cause: something, that chance suffices, or nothing."""
    return "none" if not note or UNKNOWN in note else "chance" if note.startswith(CHANCE) else "cause"


def chosen(**among):
    """Return the printed cells that have one value, or one of a list, in each of some columns."""
    cells = printed_cells()
    for column, wanted in among.items():
        cells = cells[cells[column].isin(wanted if isinstance(wanted, list) else [wanted])]
    return cells


def values(cell):
    """Return one metric of one method, by trial; of a cell that names no setting its means, by setting.

    The crowds of the benchmark go by family, since sets of one family share tasks or workers.
    """
    experiment, setting, method, metric = cell
    rows = raw_trials(experiment) if setting else kept(experiment)
    rows = rows[(rows["method"] == method) & (rows["metric"] == metric)]
    rows = rows[rows["setting"] == setting] if setting else rows
    if setting:
        return rows.set_index("trial")["value"]
    means = rows.set_index("setting")["ours"]
    return family_means(means) if experiment == "crowd-benchmark" else means


def apart(cell, other, part="mean"):
    """Return the mean difference of two cells on the same data, half of its 95 % interval, or how many are above 0."""
    differences = (values(cell) - values(other)).dropna()
    if part == "above":
        return (differences > EQUAL).sum()
    found = combined([Term(1, sample(differences.to_numpy(), "", "mean"))])
    return {"mean": found.value, "half": found.high - found.value}[part]


def below(cell, other):
    """Return how many raw trials of one method are below all of another."""
    return (values(cell) < values(other).min()).sum()


def mean(experiment, method, metric):
    """Return the mean over all settings of an experiment, or all families of crowds, of one metric of one method."""
    return values((experiment, "", method, metric)).mean()


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


CALLS = {
    "printed": lambda **which: len(chosen(**which)),
    "by chance": lambda: by_chance(printed_cells()),
    "calibrated": lambda: (printed_cells()["calibrated"] != "").sum(),
    "median": lambda cell: values(cell).median(),
    "below": below,
    "runs": lambda cell, over, under: values(cell).between(over, under).sum(),
    "apart": apart,
    "mean": mean,
    "claims": judged,
    "settings": lambda experiment: kept(experiment)["setting"].nunique(),
    "experiments": lambda **which: len(there(**which)),
    "all trials": with_all_trials,
    "met": lambda experiment: (kept(experiment)["verdict"] == "reproduced").sum(),
    "equations": lambda line="": fidelity()["line"].str.startswith(line).sum(),
    "variants": lambda: sum(row.endswith(PAPER_PROTOCOL) for name in there() for row in kept(name)["method"].unique()),
}
