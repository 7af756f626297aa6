"""The page that `cofactor aggregate --report` writes: what was found about one crowd, and how sure one may be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from cofactor.core.bootstrap import LEVEL
from cofactor.core.diagnosis import Diagnosis
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator
from cofactor.crowd.bootstrap import CrowdBootstrap
from cofactor.crowd.diagnose import FEW_PER_WORKER
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.readings import Readings
from cofactor.crowd.tables import overruled
from cofactor.crowd.workers import (
    ABOVE,
    BELOW,
    NO_INFORMATION,
    NOT_KNOWN,
    UNCLEAR,
    UNJUDGED,
    WORSE,
    mean_agreement,
    workers_table,
)
from cofactor_app.pages.render import report
from cofactor_app.planning.plan import Plan
from cofactor_app.plots.crowd import PANELS, SURE, draw_confusions, draw_uncertainty, draw_worker_accuracy
from cofactor_app.plots.planning import draw_intervals, draw_plan
from cofactor_app.plots.style import percent

MOST_ROWS = 20  # of a table
LEAST_ROWS = 5
CLEAR = 0.99  # tasks more certain than this are listed only to fill the least rows


def crowd_page(
    source: str,
    name: str,
    method: Aggregator,
    labels: CrowdLabels,
    facts: Sequence[str],
    diagnosis: Diagnosis,
    found: CrowdBootstrap | None = None,
    plan: Plan | None = None,
    warnings: Sequence[str] = (),
    readings: Readings | None = None,
) -> str:
    """Return the page for a fitted method.

    `source` says where the labels come from, `facts` is what was printed, `warnings` stand on top of the page. Without
    `found`, the bootstrap of this method on these labels, no number has an interval; without `plan` the page does not
    say how many labels are enough. `readings` of the labels that differ much keep workers from being judged.

    Cost: that of the posterior, and about a second for the pictures.
    """
    posterior, people = method.predict_proba(labels), workers_table(method, labels, found, readings=readings)
    return report(
        "crowd",
        _pictures(method, labels, posterior, people, found, plan),
        source=source,
        method=name,
        facts=facts,
        warnings=warnings,
        cards=_cards(posterior, labels),
        findings=[*_findings(posterior, labels), *_of_workers(people), *_of_plan(plan)],
        diagnosis=diagnosis,
        checks=_counted(diagnosis),
        draws=len(found.draws) if found else 0,
        level=LEVEL,
        classes=_classes(method, labels),
        workers=_workers(people),
        n_workers=labels.n_workers,
        mean=_means(people, labels),
        doubtful=_doubtful(posterior, labels),
        plan=plan,
        answers=plan.in_words() if plan else [],
    )


def _pictures(
    method: Aggregator,
    labels: CrowdLabels,
    posterior: Floats,
    people: pd.DataFrame,
    found: CrowdBootstrap | None,
    plan: Plan | None,
) -> Iterator[tuple[str, Figure]]:
    accuracy = people["accuracy"].to_numpy(dtype=np.float64)
    yield "sure", draw_uncertainty(posterior)
    yield "workers", draw_intervals(found) if found else draw_worker_accuracy(method.model_, labels)
    shown = _shown(accuracy, labels)
    yield "confusions", draw_confusions(method.model_, labels.workers, shown, labels.classes, accuracy)
    if plan:
        yield "plan", draw_plan(plan)


def _shown(accuracy: Floats, labels: CrowdLabels) -> Ints:
    """Workers whose confusions are drawn, from the best to the worst: those of many labels, if there are any."""
    judged = np.flatnonzero(labels.table.entries_per_variable >= FEW_PER_WORKER)
    chosen = judged if judged.size else np.arange(labels.n_workers)
    order = chosen[np.argsort(-accuracy[chosen], kind="stable")]
    return np.asarray(order[np.unique(np.linspace(0, len(order) - 1, min(PANELS, len(order))).round().astype(int))])


def _cards(posterior: Floats, labels: CrowdLabels) -> list[tuple[str, str]]:
    """Numbers to open with, each with its words."""
    doubtful = int(np.sum(posterior.max(axis=1) < SURE))
    return [
        (f"{labels.n_tasks:,}", "tasks now have a label"),
        (f"{doubtful:,}", f"of them less than {percent(SURE)} certain"),
        (f"{overruled(posterior.argmax(axis=1), labels).mean():.1%}", "of the labels differ from the majority vote"),
        (f"{labels.n_workers:,}", "workers"),
        (f"{np.median(labels.table.entries_per_row):g}", "labels per task (median)"),
    ]


def _findings(posterior: Floats, labels: CrowdLabels) -> Iterator[str]:
    """Yield sentences on the tasks, which can be passed on as they are."""
    differ = overruled(posterior.argmax(axis=1), labels).sum()
    yield f"On {differ:,} tasks the label is not the one that most workers gave"


def _of_workers(people: pd.DataFrame) -> Iterator[str]:
    """Yield how many workers can be told from chance, and from the crowd's mean."""
    counts = people["verdict"].value_counts()
    silent = int(counts.get(NO_INFORMATION, 0))
    if silent:
        yield f"Of {len(people)} workers, {silent} say nothing beside the others: their labels move none"
    if UNJUDGED in counts:
        return
    depends = int(counts.get(NOT_KNOWN, 0))
    if 0 < depends < len(people):
        yield f"Of {len(people)} workers, {depends} are not judged: that depends on who shares a source"
    if depends == len(people):
        yield "How reliable each worker is cannot be told from these labels (the warnings and facts say why)"
        return
    below, above, worse, unclear = (int(counts.get(words, 0)) for words in (BELOW, ABOVE, WORSE, UNCLEAR))
    yield (
        f"Of {len(people)} workers, {above} are above the mean of the crowd and {below + worse} below it, {worse} of "
        f"them worse than chance; of {unclear} too little is known to say even that ({percent(LEVEL)} intervals)"
    )


def _of_plan(plan: Plan | None) -> Iterator[str]:
    if plan:
        for method, needed, least, most in plan.in_words():
            yield (
                f"At most {percent(plan.wanted, 1)} of the tasks wrong takes {needed} {plan.unit} with {method}"
                f"{f' ({least} to {most})' * (least != most)}; now there are {plan.present:.3g}"
            )


def _counted(diagnosis: Diagnosis) -> str:
    count = Counter(check.status for check in diagnosis.checks)
    return f"{count['pass']} passed, {count['warn']} with a warning, {count['fail']} failed"


def _classes(method: Aggregator, labels: CrowdLabels) -> list[dict[str, Any]]:
    """Rows of the classes: their share of the labels given, and the tasks that have this label."""
    counts = np.bincount(method.predict(labels), minlength=labels.n_classes)
    given = labels.votes.sum(axis=0)
    return [
        {"name": name, "share": given[k] / max(given.sum(), 1), "count": counts[k]}
        for k, name in enumerate(labels.classes)
    ]


def _workers(people: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """Rows of the busiest workers, who come first; what is not known is None."""
    busiest = people.sort_values("n_labels", ascending=False, kind="stable").head(MOST_ROWS)
    return busiest.astype(object).where(busiest.notna(), None).to_dict("records")


def _means(people: pd.DataFrame, labels: CrowdLabels) -> dict[str, float | None]:
    """Accuracy over all labels, and agreement over all pairs of labels of one task."""
    agreement = mean_agreement(labels)
    accuracy = float(np.average(people["accuracy"], weights=people["n_labels"]))
    return {"accuracy": accuracy, "agreement": None if np.isnan(agreement) else agreement}


def _doubtful(posterior: Floats, labels: CrowdLabels) -> list[dict[str, Any]]:
    """Tasks to look at again: lowest probability of the label first."""
    best: Ints = posterior.argmax(axis=1)
    sure = posterior.max(axis=1)
    wanted = np.clip(np.sum(sure < CLEAR), LEAST_ROWS, MOST_ROWS)
    rows = np.argsort(sure, kind="stable")[:wanted]
    given = labels.table.entries_per_row
    return [
        {
            "task": labels.tasks[n],
            "label": labels.classes[best[n]],
            "probability": sure[n],
            "labels": int(given[n]),
            "second": labels.classes[int(np.argsort(-posterior[n], kind="stable")[1])],
        }
        for n in rows
    ]
