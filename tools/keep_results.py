"""Keep a run of the papers' tables for the book: python tools/keep_results.py [RESULTS].

RESULTS is the folder that `cofactor reproduce all` filled. Per experiment its table, its picture and its raw trials go
to evaluation/reproduced, with machine, date and commit of the run; experiments without results there stay as they are.
Without RESULTS, tables that today's settings and verdicts would write otherwise are made again from the kept trials.
"""

import argparse
import io
import json
from pathlib import Path

from PIL import Image

from cofactor_app.plots.style import to_png
from evaluation import EXPERIMENTS
from evaluation.plots import draw
from evaluation.record import making, read_records
from evaluation.runner import load_all
from evaluation.summary import summarise
from evaluation.trials import KEPT, kept_outcomes, write_trials

DIGITS = "%.6g"  # four decimals of a percentage: rounded again to two, they are still right
COLOURS = 64  # of a kept picture: a third of the bytes, and nothing to see of it


def keep(experiment, results):
    """Write table, picture, trials and facts of one experiment; whether there was anything to keep."""
    outcomes = load_all(results, experiment)
    record = results / experiment.name / "run.json"
    if not outcomes or not record.exists():
        return False
    write_trials(KEPT / f"{experiment.name}.npz", outcomes)
    show(experiment, kept_outcomes(experiment.name))
    facts = making(outcomes, read_records(record))
    (KEPT / f"{experiment.name}.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf8")
    return True


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
    results = parser.parse_args().results
    KEPT.mkdir(exist_ok=True)
    for experiment in EXPERIMENTS.values():
        if results:
            print(experiment.name, "kept" if keep(experiment, results) else "no results")
        elif (KEPT / f"{experiment.name}.npz").exists() and keep_again(experiment):
            print(experiment.name, "made again")


if __name__ == "__main__":
    main()
