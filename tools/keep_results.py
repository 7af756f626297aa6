"""Keep a run of the papers' tables for the book: python tools/keep_results.py [RESULTS].

RESULTS is the folder that `cofactor reproduce all` filled. Per experiment its table, its picture and its raw trials go
to evaluation/reproduced, with machine, date and commit of the run; experiments without results there stay as they are.
With --busy, for a machine that did other work beside, times stay those of the trials kept so far, wherever the run gave
the same values, so that the same was computed; the facts say of which run the times are.
Without RESULTS, tables that today's settings and verdicts would write otherwise are made again from the kept trials.
"""

import argparse
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from cofactor_app.plots.style import to_png
from evaluation import EXPERIMENTS
from evaluation.experiment import Measurement
from evaluation.plots import draw
from evaluation.record import making, read_records
from evaluation.runner import Outcome, load_all
from evaluation.summary import summarise
from evaluation.trials import KEPT, kept_outcomes, write_trials

DIGITS = "%.6g"  # four decimals of a percentage: rounded again to two, they are still right
SAME = 1e-9  # relative: values that differ less are of the same computation
COLOURS = 64  # of a kept picture: a third of the bytes, and nothing to see of it


def keep(experiment, results, busy=False):
    """Write table, picture, trials and facts of one experiment; say what was done, "" where there is nothing."""
    outcomes = load_all(results, experiment)
    record = results / experiment.name / "run.json"
    if not outcomes or not record.exists():
        return ""
    facts = making(outcomes, read_records(record))
    path, timed = KEPT / f"{experiment.name}.json", None
    if busy and path.exists():
        timed = with_times_of(kept_outcomes(experiment.name), outcomes)
    if timed:
        del facts["seconds"]
        outcomes, facts = timed, facts | times_of(json.loads(path.read_text(encoding="utf8")))
    write_trials(KEPT / f"{experiment.name}.npz", outcomes)
    show(experiment, kept_outcomes(experiment.name))
    path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf8")
    return "kept, with the times of before" if timed else "kept"


def with_times_of(before: Sequence[Outcome], now: Sequence[Outcome]) -> list[Outcome] | None:
    """Return results with the times of earlier ones; None where a value is another one, or is not there."""
    known = {(o.task.setting, o.task.trial, m.method, m.metric): m for o in before for m in o.measurements}
    found = []
    for outcome in now:
        keys = [(outcome.task.setting, outcome.task.trial, m.method, m.metric) for m in outcome.measurements]
        if not all(key in known and same(known[key], m) for key, m in zip(keys, outcome.measurements, strict=True)):
            return None
        timed = [replace(m, seconds=known[key].seconds) for key, m in zip(keys, outcome.measurements, strict=True)]
        found.append(replace(outcome, measurements=tuple(timed)))
    return found


def same(one: Measurement, other: Measurement) -> bool:
    """Whether two values differ by rounding at most."""
    values = [np.nan if each.value is None else each.value for each in (one, other)]
    return bool(np.isclose(*values, rtol=SAME, atol=0, equal_nan=True))


def times_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return of the facts of an earlier run what its times have to say."""
    told = facts.get("times", f"{facts['began']}, commit {facts['commit']}")
    return {"times": told, **{name: facts[name] for name in ("seconds", "seconds of methods") if name in facts}}


def keep_again(experiment):
    """Write table and picture anew where the table would be another one; whether it would."""
    outcomes, path = kept_outcomes(experiment.name), KEPT / f"{experiment.name}.csv"
    if table(experiment, summarise(experiment, outcomes)) == path.read_text(encoding="utf8"):
        return False
    show(experiment, outcomes)
    return True


def show(experiment, outcomes):
    """Write table and picture of one experiment."""
    summary = summarise(experiment, outcomes)
    picture = Image.open(io.BytesIO(to_png(draw(experiment, outcomes, summary))))
    picture.convert("RGB").quantize(COLOURS).save(KEPT / f"{experiment.name}.png", optimize=True)
    (KEPT / f"{experiment.name}.csv").write_text(table(experiment, summary), encoding="utf8")


def table(experiment, summary):
    """Return the kept table as text; of curves only its head."""
    if experiment.plot == "curves":
        summary = summary.iloc[:0]  # hundreds of points a curve: the picture tells them
    return summary.to_csv(index=False, float_format=DIGITS, lineterminator="\n")


def main():
    """Keep what there is and name it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="?", help="folder that cofactor reproduce filled")
    parser.add_argument("--busy", action="store_true", help="keep times of before, where values are the same")
    arguments = parser.parse_args()
    results = arguments.results
    KEPT.mkdir(exist_ok=True)
    for experiment in EXPERIMENTS.values():
        if results:
            print(experiment.name, keep(experiment, results, arguments.busy) or "no results")
        elif (KEPT / f"{experiment.name}.npz").exists() and keep_again(experiment):
            print(experiment.name, "made again")


if __name__ == "__main__":
    main()
