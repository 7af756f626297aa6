"""One self-contained HTML page of all results found: tables beside published numbers, plots, the fidelity table."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from cofactor.core.errors import CofactorError
from cofactor.core.files import whole_file
from cofactor_app.pages.render import as_source, render
from evaluation import machine
from evaluation.experiment import Experiment
from evaluation.fidelity import fidelity
from evaluation.origin import code_of
from evaluation.paired import heading, paired
from evaluation.plots import draw
from evaluation.record import in_words, making, read_records
from evaluation.runner import failures, load_all
from evaluation.summary import bounded, number, seconds, summarise
from evaluation.trials import measurements
from evaluation.verdicts import VERDICTS, by_chance


@dataclass(frozen=True)
class Section:
    """What the page says about one experiment."""

    experiment: Experiment
    summary: pd.DataFrame
    paired: pd.DataFrame
    picture: str
    trials: int
    failures: str
    stale: bool
    made: str

    @property
    def counts(self) -> dict[str, int]:
        """How many published numbers got which verdict."""
        found = self.summary["verdict"].value_counts()
        return {verdict: int(found.get(verdict, 0)) for verdict in VERDICTS}


def write_report(path: Path, folder: Path, experiments: Mapping[str, Experiment]) -> list[str]:
    """Write the page for every experiment with results in `folder`; returns their names.

    Raises
    ------
    CofactorError
        There are no results yet; the message says how to get some.
    """
    sections = [section for experiment in experiments.values() if (section := _section(folder, experiment))]
    if not sections:
        raise CofactorError(f"no results in {folder} yet: run 'cofactor reproduce crowd-table4' first")
    page = render(
        "results",
        sections=sections,
        verdicts=VERDICTS,
        by_chance=by_chance(pd.concat([section.summary for section in sections])),
        facts=machine.facts(),
        fidelity=fidelity().to_dict("records"),
        written=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        number=number,
        bounded=bounded,
        heading=heading,
        time=seconds,
    )
    with whole_file(path) as part:
        part.write_text(page, encoding="utf8")
    return [section.experiment.name for section in sections]


def _section(folder: Path, experiment: Experiment) -> Section | None:
    outcomes = load_all(folder, experiment)
    if not outcomes:
        return None
    summary = summarise(experiment, outcomes)
    return Section(
        experiment=experiment,
        summary=summary,
        paired=paired(experiment, measurements(outcomes)),
        picture=as_source(draw(experiment, outcomes, summary)),
        trials=1 + max(outcome.task.trial for outcome in outcomes),
        failures=failures(outcomes),
        stale=any(outcome.code != code_of(experiment, outcome.task.setting) for outcome in outcomes),
        made=in_words(making(outcomes, read_records(folder / experiment.name / "run.json"))),
    )
