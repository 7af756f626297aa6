"""The page that `cofactor aggregate --report` writes: what was found about one crowd, and how sure one may be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from cofactor.core.bootstrap import LEVEL
from cofactor.core.estimator import Diagnosis
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Ints
from cofactor.crowd.diagnose import FEW_PER_WORKER, diagnose
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.workers import (
    ABOVE,
    BELOW,
    NO_INFORMATION,
    NOT_KNOWN,
    UNCLEAR,
    UNJUDGED,
    WORSE,
    mean_agreement,
)
from cofactor.verbs.consensus import (
    Consensus,
    class_counts,
    doubtful_line,
    error_line,
    expected_error,
    knows,
    size_line,
)
from cofactor.verbs.consensus import percent as as_percent
from cofactor_app.pages.render import Picture, report
from cofactor_app.plots.crowd import PANELS, SURE, draw_confusions, draw_uncertainty, draw_worker_accuracy
from cofactor_app.plots.planning import draw_intervals
from cofactor_app.plots.style import percent

MOST_ROWS = 20  # of a table
LEAST_ROWS = 5
CLEAR = 0.99  # tasks more certain than this are listed only to fill the least rows


def page(result: Consensus) -> str:
    """Return the page of what `aggregate` found. Cost: the refits, the checks, and about a second for the pictures."""
    labels, posterior, people = result.crowd, result.posterior, result.workers
    diagnosis = diagnose(labels)
    return report(
        "crowd",
        _pictures(result),
        source=result.source,
        method=result.name,
        facts=[size_line(result), error_line(result), doubtful_line(result), *result.details]
        + [note for note in result.notes if note not in result.warnings],
        warnings=result.warnings,
        cards=_cards(result),
        findings=[
            f"On {(result.labels['overruled'] > 0).sum():,} tasks the label is not the one that most workers gave",
            *_of_workers(people),
        ],
        diagnosis=diagnosis,
        checks=_counted(diagnosis),
        draws=len(result.bootstrap.draws) if result.bootstrap else 0,
        level=LEVEL,
        classes=_classes(result),
        workers=_workers(people),
        n_workers=labels.n_workers,
        mean=_means(people, labels),
        doubtful=_doubtful(posterior, labels),
    )


def _pictures(result: Consensus) -> Iterator[tuple[str, Picture]]:
    method, labels, found = result.method, result.crowd, result.bootstrap
    accuracy = result.workers["accuracy"].to_numpy(dtype=np.float64)
    yield "sure", draw_uncertainty(result.posterior)
    judged = found is not None and not result.workers["verdict"].isin([NOT_KNOWN, UNJUDGED]).all()
    yield "workers", draw_intervals(found) if found and judged else draw_worker_accuracy(method.model_, labels)
    shown = _shown(accuracy, labels)
    yield "confusions", draw_confusions(method.model_, labels.workers, shown, labels.classes, accuracy)


def _shown(accuracy: Floats, labels: CrowdLabels) -> Ints:
    """Workers whose confusions are drawn, from the best to the worst: those of many labels, if there are any."""
    judged = np.flatnonzero(labels.table.entries_per_variable >= FEW_PER_WORKER)
    chosen = judged if judged.size else np.arange(labels.n_workers)
    order = chosen[np.argsort(-accuracy[chosen], kind="stable")]
    return np.asarray(order[np.unique(np.linspace(0, len(order) - 1, min(PANELS, len(order))).round().astype(int))])


def _cards(result: Consensus) -> list[tuple[str, str]]:
    """Numbers to open with, each with its words."""
    labels, error = result.crowd, result.errors
    doubtful, against = int(np.sum(result.posterior.max(axis=1) < SURE)), result.labels["overruled"] > 0
    expected = as_percent(expected_error(result)) if knows(result.method) else "unknown"
    return [
        (f"{labels.n_tasks:,}", "tasks now have a label"),
        (expected, "expected error") if error is None else (f"{100 * error[0]:.1f} %", "error where truth is known"),
        (f"{doubtful:,}", f"labels less than {percent(SURE)} certain"),
        (f"{100 * against.mean():.1f} %", "of the labels differ from the majority vote"),
        (f"{labels.n_workers:,}", "workers"),
        (f"{np.median(labels.table.entries_per_row):g}", "labels per task (median)"),
    ]


def _of_workers(people: pd.DataFrame) -> Iterator[str]:
    """Yield how many workers differ from chance, and from the crowd's mean."""
    counts = people["verdict"].value_counts()
    silent = int(counts.get(NO_INFORMATION, 0))
    if silent:
        yield f"Of {len(people)} workers, {silent} are uninformative: their labels change no answer"
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


def _counted(diagnosis: Diagnosis) -> str:
    count = Counter(check.status for check in diagnosis.checks)
    return f"{count['pass']} passed, {count['warn']} with a warning, {count['fail']} failed"


def _classes(result: Consensus) -> list[dict[str, Any]]:
    """Rows of the classes: their share of the labels given, and the tasks of each by the vote and by the method."""
    given, (ours, votes) = result.crowd.votes.sum(axis=0), class_counts(result)
    return [
        {"name": name, "share": given[k] / max(given.sum(), 1), "vote": votes[k], "count": ours[k]}
        for k, name in enumerate(result.crowd.classes)
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
