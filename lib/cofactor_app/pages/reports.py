"""The pages that `--report` writes, one function per page: the results for a data set, and how reliable they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from cofactor.core.bootstrap import LEVEL
from cofactor.core.errors import amount
from cofactor.core.lazy import pd
from cofactor.core.simplex import spa
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import SURE
from cofactor.crowd.diagnose import FEW_PER_WORKER, OF_PAIRS, PAIRS, diagnose
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.workers import (
    ABOVE,
    BELOW,
    BETTER,
    NO_INFORMATION,
    NOT_KNOWN,
    UNCLEAR,
    UNJUDGED,
    WORSE,
    mean_agreement,
)
from cofactor.pmf.metrics import shared_information
from cofactor.separable.columns import MOST_ANCHORS, residuals
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
from cofactor_app.plots.crowd import (
    PANELS,
    draw_confusions,
    draw_intervals,
    draw_uncertainty,
    draw_worker_accuracy,
)
from cofactor_app.plots.results import (
    draw_dependence,
    draw_gains,
    draw_maps,
    draw_ranking,
    draw_residuals,
    draw_shares,
    draw_spectra,
)
from cofactor_app.plots.style import percent

if TYPE_CHECKING:  # a page of one verb imports no other
    from cofactor.pmf.frames import CategoricalFrame
    from cofactor.pmf.metrics import HeldOutCells
    from cofactor.verbs.anchors import AnchorsResult
    from cofactor.verbs.joint import JointResult
    from cofactor.verbs.rank import RankingResult
    from cofactor.verbs.result import Result
    from cofactor.verbs.topics import TopicsResult
    from cofactor_app.bench import Trial

MOST_ROWS = 20  # of a table
MOST_ITEMS = 100  # of a ranking, and of anchors
LEAST_ROWS = 3  # of tasks to look at again
WITHOUT_PAIRS = ("WorkerTypes", "MajorityVote", "MV-EM")  # methods that need no co-occurrences of pairs of workers
MOST_VALUES = 6  # of a latent class
MOST_PAIRS = 20  # of a ranking
ANCHOR_COLUMNS = ("anchor", "point", "row", "column", "score", "mean_weight", "leads")


def page_of(result: Result) -> str:
    """Return the HTML page for the result of a verb."""
    pages: Mapping[str, Any] = {
        "crowd": crowd_page,
        "rank": ranking_page,
        "joint": joint_page,
        "anchors": anchors_page,
        "topics": topics_page,
    }
    return str(pages[result.page](result))


def _card(count: float, noun: str, words: str = "") -> tuple[str, str]:
    """Return a number for the head of the page, and its label."""
    number, _, noun = amount(count, noun).partition(" ")
    return number, f"{noun} {words}".strip()


# ---- crowd labels ----


def crowd_page(result: Consensus) -> str:
    """Return the page for a result of `aggregate`. Cost: refits, checks, and about a second for the pictures."""
    labels, posterior, people = result.crowd, result.posterior, result.workers
    diagnosis, shown = diagnose(labels), _shown(people["accuracy"].to_numpy(dtype=np.float64), labels)
    passed = {PAIRS, *OF_PAIRS[1:]} if result.name in WITHOUT_PAIRS else set()
    checks = tuple(check for check in diagnosis.checks if check.name not in passed)
    unsure, against = int(np.sum(posterior.max(axis=1) < SURE)), int((result.labels["overruled"] > 0).sum())
    accuracy = float(np.average(people["accuracy"], weights=people["n_labels"]))  # over all labels
    agreement = mean_agreement(labels)  # over all pairs of labels of one task
    count = Counter(check.status for check in checks)
    verdicts = _verdicts(1 / labels.n_classes, accuracy)
    return report(
        "crowd",
        _crowd_pictures(result, shown),
        source=result.source,
        method=result.name,
        facts=[size_line(result), error_line(result), doubtful_line(result), *result.details]
        + [note for note in result.notes if note not in result.warnings],
        warnings=result.warnings,
        cards=_crowd_cards(result),
        findings=[
            *([f"The label differs from the majority vote on {amount(against, 'task')}"] if against else []),
            *_of_workers(people, verdicts),
        ],
        diagnosis=replace(diagnosis, checks=checks),
        others=amount(len(passed & {check.name for check in diagnosis.checks}), "more check"),
        checks=f"{count['pass']} passed, {count['warn']} with a warning, {count['fail']} failed",
        draws=len(result.bootstrap.draws) if result.bootstrap else 0,
        level=LEVEL,
        classes=_classes(result),
        workers=_workers(people, verdicts),
        n_workers=labels.n_workers,
        mean={"accuracy": accuracy, "agreement": None if np.isnan(agreement) else agreement},
        doubtful=_doubtful(posterior, labels),
        sure=SURE,
        n_uncertain=unsure,
        uncertain=f"{unsure:,} of {amount(labels.n_tasks, 'task')} {'is' if unsure == 1 else 'are'}",
        n_matrices=len(shown),
        few_labels=FEW_PER_WORKER if (labels.table.entries_per_variable[shown] >= FEW_PER_WORKER).all() else 0,
    )


def _crowd_pictures(result: Consensus, shown: Ints) -> Iterator[tuple[str, Picture]]:
    method, labels, found = result.method, result.crowd, result.bootstrap
    accuracy = result.workers["accuracy"].to_numpy(dtype=np.float64)
    yield "sure", draw_uncertainty(result.posterior)
    judged = found is not None and not result.workers["verdict"].isin([NOT_KNOWN, UNJUDGED]).all()
    yield "workers", draw_intervals(found) if found and judged else draw_worker_accuracy(method.model_, labels)
    yield "confusions", draw_confusions(method.model_, labels.workers, shown, labels.classes, accuracy)


def _shown(accuracy: Floats, labels: CrowdLabels) -> Ints:
    """Workers whose confusions are drawn, from the best to the worst: those of many labels, if there are any."""
    judged = np.flatnonzero(labels.table.entries_per_variable >= FEW_PER_WORKER)
    chosen = judged if judged.size else np.arange(labels.n_workers)
    order = chosen[np.argsort(-accuracy[chosen], kind="stable")]
    return np.asarray(order[np.unique(np.linspace(0, len(order) - 1, min(PANELS, len(order))).round().astype(int))])


def _crowd_cards(result: Consensus) -> list[tuple[str, str]]:
    """Numbers to open with, each with its words."""
    labels, error = result.crowd, result.errors
    doubtful, against = int(np.sum(result.posterior.max(axis=1) < SURE)), result.labels["overruled"] > 0
    expected = as_percent(expected_error(result)) if knows(result.method) else "unknown"
    return [
        _card(labels.n_tasks, "task", "labelled"),
        (expected, "expected error")
        if error is None
        else (f"{100 * error[0]:.1f} %", "error on tasks with known truth"),
        _card(doubtful, "label", f"less than {percent(SURE)} certain"),
        (f"{100 * against.mean():.1f} %", "of the labels differ from the majority vote"),
        _card(labels.n_workers, "worker"),
        (f"{np.median(labels.table.entries_per_row):g}", "labels per task (median)"),
    ]


def _verdicts(chance: float, mean: float) -> dict[str, str]:
    """Return the verdicts with the number that each compares the worker's interval with."""
    above_chance, of_mean = f"{BETTER} ({percent(chance)})", f"the crowd's mean ({percent(mean)})"
    return {
        ABOVE: f"{ABOVE} ({percent(mean)})",
        BETTER: f"{above_chance} but not clearly different from {of_mean}",
        BELOW: f"{BELOW} ({percent(mean)})",
        WORSE: f"{WORSE} ({percent(chance)})",
        UNCLEAR: UNCLEAR,
    }


def _of_workers(people: pd.DataFrame, verdicts: Mapping[str, str]) -> Iterator[str]:
    """Yield how many workers differ from chance, and from the crowd's mean."""
    counts = people["verdict"].value_counts()
    silent = int(counts.get(NO_INFORMATION, 0))
    if silent:
        of = f"{silent} of {amount(len(people), 'worker')}"
        yield f"{NO_INFORMATION.capitalize()}: {of}; their labels change no answer"
    if UNJUDGED in counts:
        return
    depends = int(counts.get(NOT_KNOWN, 0))
    if 0 < depends < len(people):
        why = "because their accuracy depends on who shares a source"
        yield f"Not judged: {depends} of {amount(len(people), 'worker')}, {why}"
    if depends == len(people):
        yield "These labels do not show how reliable each worker is (see the warnings and the details of the fit)"
        return
    said = ", ".join(f"{counts[name]} {words}" for name, words in verdicts.items() if name in counts)
    if said:
        yield f"Of {amount(len(people), 'worker')}: {said} ({percent(LEVEL)} intervals)"


def _classes(result: Consensus) -> list[dict[str, Any]]:
    """Rows of the classes: their share of the labels given, and the tasks of each by the vote and by the method."""
    given, (ours, votes) = result.crowd.votes.sum(axis=0), class_counts(result)
    return [
        {"name": name, "share": given[k] / max(given.sum(), 1), "vote": votes[k], "count": ours[k]}
        for k, name in enumerate(result.crowd.classes)
    ]


def _workers(people: pd.DataFrame, verdicts: Mapping[str, str]) -> list[dict[Hashable, Any]]:
    """Rows of the busiest workers, the most often right first; what is not known is None."""
    busiest = people.sort_values("n_labels", ascending=False, kind="stable").head(MOST_ROWS)
    busiest = busiest.sort_values("accuracy", ascending=False, kind="stable")
    busiest = busiest.assign(verdict=busiest["verdict"].replace(verdicts))
    return busiest.astype(object).where(busiest.notna(), None).to_dict("records")


def _doubtful(posterior: Floats, labels: CrowdLabels) -> list[dict[str, Any]]:
    """Rows of the uncertain tasks, or of a few more: lowest probability of the label first."""
    best: Ints = posterior.argmax(axis=1)
    sure = posterior.max(axis=1)
    wanted = np.clip(np.sum(sure < SURE), LEAST_ROWS, MOST_ROWS)
    rows = np.argsort(sure, kind="stable")[:wanted]
    given, second = labels.table.entries_per_row, np.argsort(-posterior, axis=1, kind="stable")[:, 1]
    return [
        {
            "task": labels.tasks[n],
            "label": labels.classes[best[n]],
            "probability": sure[n],
            "labels": int(given[n]),
            "second": labels.classes[second[n]],
            "other": posterior[n, second[n]],
        }
        for n in rows
    ]


# ---- rankings ----


def ranking_page(result: RankingResult) -> str:
    """Return the page for a ranking. Cost: O(n^2) for the pairs, and about a second for the picture."""
    ranking, table = result.method, result.items
    best = int((table["rank_low"] == 1).sum())
    settled = int((table["rank_low"] == table["rank_high"]).sum())
    cards = [
        _card(len(table), "item"),
        _card(result.comparisons.total, "comparison"),
        (f"{best:,}", f"{'items' if best > 1 else 'item'} could be the best"),
    ]
    if settled:
        cards.append((f"{settled:,}", f"{'item' if settled == 1 else 'items'} with only one possible rank"))
    neighbours = list(pairwise(table["item"].tolist()[: MOST_PAIRS + 1]))  # in rank
    pairs = result.probabilities.set_index(["item", "against"]).loc[neighbours].reset_index()
    return report(
        "rank",
        [("utilities", draw_ranking(ranking))],
        source=result.source,
        facts=[*result.summary, *result.details, *(note for note in result.notes if note not in result.warnings)],
        warnings=result.warnings,
        cards=cards,
        diagnosis=result.checks,
        level=ranking.level,
        n_items=len(table),
        rows=table.head(MOST_ITEMS).to_dict("records"),
        pairs=pairs.to_dict("records"),
        covariates=result.coefficients.head(len(ranking.covariates)).to_dict("records"),
        has_users=ranking.n_users > 0,
    )


# ---- joint distributions ----


def joint_page(result: JointResult) -> str:
    """Return the page for a fitted joint distribution.

    Cost: O(N^2 I^2 F) for the dependence of all pairs, and about a second for the pictures.
    """
    data, found, method = result.data, result.held_out, result.method
    shares = shared_information(method.model_)
    columns = None if found is None else found.by_variable()
    m, n = np.triu_indices(len(shares), 1)
    closest = np.argsort(-shares[m, n], kind="stable")[:MOST_ROWS]
    pictures = [] if columns is None else [("gains", draw_gains(columns, data.names))]
    if len(shares) > 1:
        pictures.append(("dependence", draw_dependence(shares, data.names)))
    return report(
        "joint",
        pictures,
        source=result.source,
        method=result.name,
        facts=[*result.summary, *result.details, *(note for note in result.notes if note not in result.warnings)],
        warnings=result.warnings,
        cards=_joint_cards(data, found),
        diagnosis=result.checks,
        columns=_columns(data, columns),
        pairs=[(data.names[m[k]], data.names[n[k]], float(shares[m[k], n[k]])) for k in closest],
        doubtful=result.cells.sort_values("probability", kind="stable").head(MOST_ROWS).to_numpy().tolist(),
        measured=found is not None,
        profiles=_profiles(result),
    )


def _profiles(result: JointResult) -> list[dict[str, Any]]:
    """Rows of the latent classes: their share, and the values that set each apart from the others."""
    if result.model.n_classes == 1:
        return []
    table = result.classes.assign(lift=lambda t: t["probability"] - t["overall"])
    found = []
    for name, rows in table.groupby("class"):
        values = rows.nlargest(MOST_VALUES, "lift")[["column", "value", "probability", "overall"]]
        found.append({"name": name, "share": rows["share"].iloc[0], "values": values.to_numpy().tolist()})
    return found


def _joint_cards(data: CategoricalFrame, found: HeldOutCells | None) -> list[tuple[str, str]]:
    """Numbers to open with, each with its words."""
    table = data.table
    n_gaps = table.n_rows * table.n_variables - table.n_entries
    cards = [_card(table.n_rows, "row"), _card(table.n_variables, "column", "used"), _card(n_gaps, "gap")]
    if found is not None:
        cards.append((percent(1 - found.right.mean(), 1), "of hidden cells predicted incorrectly"))
        cards.append((percent(1 - found.base_right.mean(), 1), "if each column's most frequent value is predicted"))
    return cards


def _columns(data: CategoricalFrame, columns: pd.DataFrame | None) -> list[dict[str, Any]]:
    """Rows of the columns, those that the others tell most about first."""
    if columns is None:
        return []
    order = (columns["loss"] - columns["base_loss"]).sort_values(kind="stable").index[:MOST_ROWS]
    missing = data.table.n_rows - data.table.entries_per_variable
    return [
        {
            "name": data.names[n],
            "n_values": int(data.table.sizes[n]),
            "gaps": int(missing[n]),
            **columns.loc[n].to_dict(),
        }
        for n in order
    ]


# ---- anchors and topics ----


def anchors_page(result: AnchorsResult) -> str:
    """Return the page for anchors. Cost: that of SPA with 200 anchors, and about a second for the pictures."""
    K, X = len(result.anchors), result.points.X[:, result.used]
    squares = residuals(X, spa(X, min(MOST_ANCHORS, *X.shape)))
    named, shown = result.anchors["point"].tolist(), [name for name in ANCHOR_COLUMNS if name in result.anchors]
    cards = [
        _card(result.points.X.shape[1], "point"),
        _card(K, "anchor"),
        (percent(result.left, 1), "of the norm is not explained by mixtures of the anchors"),
    ]
    pictures: list[tuple[str, Picture]] = [
        ("residuals", draw_residuals(squares, min(K, len(squares)))),
        ("shares", draw_shares(named, result.anchors["mean_weight"], "mean weight")),
    ]
    if (bands := result.wavelengths) is not None:
        pictures.insert(0, ("spectra", draw_spectra(named, bands, result.spectra.to_numpy())))
    if result.points.image is not None:
        maps = result.weights[list(result.spectra)].to_numpy().T.reshape(K, *result.points.image)
        pictures.append(("maps", draw_maps([f"pixel {name}" for name in named], np.asarray(maps))))
    return report(
        "anchors",
        pictures,
        source=result.source,
        method=type(result.method).__name__,
        facts=[*result.summary, *result.details],
        warnings=result.notes,
        cards=cards,
        rows=result.anchors[shown].head(MOST_ITEMS).to_dict("records"),
        diagnosis=result.checks,
    )


def topics_page(result: TopicsResult) -> str:
    """Return the page for topics."""
    topics = [{**own.iloc[0].to_dict(), "words": own["word"].tolist()} for _, own in result.topics.groupby("topic")]
    cards = [
        _card(result.counts.shape[0], "document"),
        _card(result.counts.shape[1] - result.method.dropped.size, "word", "used"),
        _card(len(topics), "topic"),
    ]
    called = [f"{one['topic']} {one['words'][0]}" for one in topics]
    shares = draw_shares(called, [one["share"] for one in topics], "fraction of all words")
    return report(
        "topics",
        [("shares", shares)],
        source=result.source,
        method=result.called,
        facts=[*result.summary, *result.details],
        warnings=result.notes,
        cards=cards,
        topics=topics,
    )


# ---- benchmarks ----


def bench_page(
    method: str, problem: str, asked: str, trials: Sequence[Trial], summary: Sequence[str], variants: Sequence[str] = ()
) -> str:
    """Return the page for the trials of a method.

    `asked` says what accuracy means, `summary` has the printed sentences. From `variants`, if there are any, one is
    chosen for each family using the other families.
    """
    from cofactor_app.bench.answers import ANSWERS
    from cofactor_app.bench.table import by_family, shortened

    trivial, default = ANSWERS[problem]
    families = by_family(shortened(trials))
    if len(families) > 1:
        families.loc["mean"] = families.mean()
    named = {"method": method, "problem": problem, "asked": asked, "trivial": trivial, "default": default}
    return report(
        "bench",
        (),
        **named,
        families=families,
        choice=_choice(trials, variants, problem) if variants else [],
        trials=shortened(trials),
        summary=summary,
    )


def _choice(trials: Sequence[Trial], variants: Sequence[str], problem: str) -> list[dict[str, Any]]:
    """Rows of what was chosen by the other families, family by family."""
    from cofactor_app.bench.answers import ANSWERS
    from cofactor_app.bench.table import by_family, left_out, short

    chosen = left_out(trials, variants)[0]
    table = by_family([trial for trial in trials if trial.method in {*variants, *ANSWERS[problem]}])
    trivial, default = (table.get(name, table.iloc[:, 0] * float("nan")) for name in ANSWERS[problem])
    return [
        {"family": family, "chosen": short(name), "accuracy": table.loc[family, name],
         "trivial": trivial[family], "default": default[family]}
        for family, name in chosen.items()
    ]  # fmt: skip
