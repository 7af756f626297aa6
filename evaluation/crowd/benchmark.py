"""Beyond the paper: 17 public crowds, every method with its defaults, against the plain vote.

Published numbers are those of EBCC, BWA and IBCC; crowd-kit, where it is installed, runs beside.

Source: Li, Rubinstein and Cohn, "Exploiting worker correlation for label aggregation in crowdsourcing", ICML 2019, for
the choice of the sets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats, Ints
from cofactor.crowd import CrowdLabels, paired_difference, score, vote_shares
from cofactor.data import load
from cofactor.simulate import crowd, dawid_skene_model
from evaluation.crowd.methods import BINARY, method_named, seed_of, without_prior
from evaluation.experiment import Experiment, Measurement, measure

DEFAULT, VOTE = "WorkerTypes", "MajorityVote"
WITHOUT_PRIOR = " (no prior)"
CROWD_KIT = " (crowd-kit)"
TIE = 1e-6  # points of accuracy that are rounding
OVERVIEW_HEADING = "Means over the sets; CPU seconds and tasks with p >= .99 are those of all sets together"
SETS_HEADING = "Set by set, accuracy in %; the best other method is known only because the truth is"


# ---- methods ----


@dataclass(frozen=True)
class Case:
    """Labels, what is known of the truth, and the seed of what is random."""

    labels: CrowdLabels
    truth: Ints
    seed: int


Answer = Floats | Ints  # (N, K) probabilities, or (N,) class codes
Method = Callable[[CrowdLabels, int], Answer]


def ours(name: str, labels: CrowdLabels, seed: int) -> Answer:
    """Return the class probabilities of a method of this kit with its defaults."""
    return method_named(name, random_state=seed).fit(labels).predict_proba(labels)


def maximum_likelihood(name: str, labels: CrowdLabels, seed: int) -> Answer:
    """Return those of a method that ends in EM, without its prior."""
    return without_prior(method_named(name, random_state=seed)).fit(labels).predict_proba(labels)


def two_classes(name: str, labels: CrowdLabels, seed: int) -> Answer:
    """Return those of a method for two classes; refuse more."""
    if labels.n_classes > 2:
        raise CofactorError("for two classes only")
    return ours(name, labels, seed)


def crowd_kit(name: str, labels: CrowdLabels, _: int) -> Answer:
    """Return the class probabilities of a method of crowd-kit with its defaults, or its labels where it has no more."""
    try:
        from crowdkit.aggregation import classification
    except ImportError:
        raise CofactorError("crowd-kit is not installed: pip install 'cofactor[bench]'") from None
    method: Any = getattr(classification, name)()
    table = labels.table
    frame = pd.DataFrame({"task": table.rows, "worker": table.variables, "label": table.values})
    try:
        if not hasattr(method, "fit_predict_proba"):
            return np.asarray(method.fit_predict(frame).reindex(range(labels.n_tasks)), dtype=np.int64)
        found = method.fit_predict_proba(frame)
    except AttributeError:  # two of its classes have no __sklearn_tags__, which scikit-learn 1.7 and later ask for
        raise CofactorError(f"this version of crowd-kit ({version('crowd-kit')}) cannot run it") from None
    except ValueError as error:
        raise CofactorError(f"crowd-kit stops here: {error}") from None
    return np.asarray(found.reindex(index=range(labels.n_tasks), columns=range(labels.n_classes)).fillna(0.0))


AT_ONCE: dict[str, Method] = {
    **{
        name: partial(ours, name) for name in (DEFAULT, VOTE, "IBCC", "Wawa", "OneCoin", "BWA", "CATD", "MACE", "MV-EM")
    },
    "MV-EM" + WITHOUT_PRIOR: partial(maximum_likelihood, "MV-EM"),
    **{name: partial(two_classes, name) for name in BINARY},
    **{name + CROWD_KIT: partial(crowd_kit, name) for name in ("Wawa",)},
}
OURS_LATER = (
    *("EBCC", "GLAD", "MultiStart-EM", "RobSymNMF-EM", "DesSymNMF-EM", "MultiSPA-EM", "CNMF-EM", "Spectral-D&S"),
    *("MinimaxEntropy", "PG-TAC", "CRIAV"),
)
PEERS_LATER = ("DawidSkene", "OneCoinDawidSkene", "ZeroBasedSkill", "MMSR", "GLAD")
LATER: dict[str, Method] = {
    **{name: partial(ours, name) for name in OURS_LATER},
    "MultiStart-EM" + WITHOUT_PRIOR: partial(maximum_likelihood, "MultiStart-EM"),
    **{name + CROWD_KIT: partial(crowd_kit, name) for name in PEERS_LATER},
}
ROUNDS: tuple[Mapping[str, Method], ...] = (AT_ONCE, LATER)
TOO_LONG: Mapping[str, tuple[str, ...]] = {"PG-TAC": ("adult_content", "trec")}
A_MINUTE = "takes more than a minute here, and is left out"


# ---- one set ----


def benchmark(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Measure on one set the methods that are quick (first trial) or slow (second trial)."""
    found = load(setting, "crowd")
    case = Case(found.labels, found.truth, seed_of(rng))
    rows: list[Measurement] = []
    for name, method in ROUNDS[trial].items():
        if setting in TOO_LONG.get(name, ()):
            rows.append(Measurement(name, "", None, error=A_MINUTE))
        else:
            compiled(name, method)
            rows += measure(name, partial(scored, method, case))
    return rows


def scored(method: Method, case: Case) -> dict[str, float]:
    """Run one method, and score what it gives."""
    began = time.process_time()
    answer = method(case.labels, case.seed)
    seconds = time.process_time() - began
    found = score(answer, case.truth)
    more = paired_difference(answer, vote_shares(case.labels), case.truth)
    values = {
        "accuracy": 100 * found.accuracy,
        "more than the vote": 100 * more.mean,
        "more, at least": 100 * more.low,
        "more, at most": 100 * more.high,
        "log-loss": found.log_loss,
        "Brier": found.brier,
        "ECE": found.ece,
        "sure": found.n_sure if answer.ndim > 1 else np.nan,
        "sure and wrong": 100 * found.sure_wrong,
        "CPU": seconds,
    }
    return {metric: value for metric, value in values.items() if not np.isnan(value)}


def compiled(name: str, method: Method) -> None:
    """Run a method on a small crowd, once in a process, so that nothing is compiled in the time that counts."""
    if name not in _COMPILED:
        _COMPILED.add(name)
        measure(name, partial(_on_a_small_crowd, method))  # which lets failures pass: they count where labels are real


_COMPILED: set[str] = set()


def _on_a_small_crowd(method: Method) -> dict[str, float]:
    model = dawid_skene_model(n_workers=6, n_classes=2, skill=0.7, random_state=0)
    method(crowd(model, n_tasks=60, label_rate=1.0, random_state=0).labels, 0)
    return {}


# ---- what comes out, over all sets ----


def overview(experiment: Experiment, summary: pd.DataFrame) -> pd.DataFrame:
    """Return a row per method: means over the sets, how often it is below the vote, published beside.

    Methods with a value on every set come first, by accuracy. Of the others, which are those for two classes and those
    that take too long or refuse somewhere, accuracies would not compare and are left out: the difference from the vote
    on the same sets does.
    """
    metrics = list(experiment.metrics)
    rows = [_over_sets(str(name), rows, metrics) for name, rows in summary.groupby("method", sort=False)]
    table = pd.DataFrame([row for row in rows if row["sets"]])
    whole = table["sets"] == table["sets"].max()
    table = table.assign(accuracy=table["accuracy"].where(whole), published=table["published"].where(whole))
    order = ["sets", "accuracy", "more than the vote"]
    return table.sort_values(order, ascending=False, kind="stable").reset_index(drop=True)


def _over_sets(name: str, rows: pd.DataFrame, metrics: list[str]) -> dict[str, Any]:
    values = _grid(rows, "metric").reindex(columns=metrics)
    values = values[values["accuracy"].notna()]
    printed = rows.loc[rows["metric"] == "accuracy", "published"]
    sure, wrong = values["sure"].sum(), (values["sure"] * values["sure and wrong"].fillna(0.0)).sum()
    return {
        "method": name,
        "sets": len(values),
        "accuracy": values["accuracy"].mean(),
        "published": printed.mean() if printed.notna().all() else np.nan,
        "more than the vote": values["more than the vote"].mean(),
        "below": int((values["more than the vote"] < -TIE).sum()),
        "significantly": int((values["more, at most"] < 0).sum()),
        **{metric: values[metric].mean() for metric in ("log-loss", "Brier", "ECE")},
        "sure and wrong": wrong / sure if sure else np.nan,
        "CPU": values["CPU"].sum(),
    }


def _grid(rows: pd.DataFrame, columns: str, values: str = "ours") -> pd.DataFrame:
    """Return values by setting and metric or method; what has none at all is left out."""
    return rows.pivot_table(index="setting", columns=columns, values=values, aggfunc="first", sort=False)


def by_set(experiment: Experiment, summary: pd.DataFrame) -> pd.DataFrame:
    """Return a row per set: the vote, the default with its difference and interval, the best of the other methods."""
    accuracies = summary[summary["metric"] == "accuracy"]
    accuracy, printed = _grid(accuracies, "method"), _grid(accuracies, "method", "published")
    default = _grid(summary[summary["method"] == DEFAULT], "metric")
    others = accuracy.drop(columns=[DEFAULT])
    found = pd.DataFrame(
        {
            "tasks": pd.Series(experiment.granularity),
            "vote": accuracy[VOTE],
            "default": accuracy[DEFAULT],
            "more": default["more than the vote"],
            "at least": default["more, at least"],
            "at most": default["more, at most"],
            "best": others.max(axis=1),
            "method": others.idxmax(axis=1),
            "EBCC": printed.get("EBCC", np.nan),
        }
    )
    return found.reindex([setting for setting in experiment.settings if setting in default.index])


def digest(experiment: Experiment, summary: pd.DataFrame) -> dict[str, list[dict[str, str]]]:
    """Return both tables as texts: by their headings, lists of rows."""
    if not {DEFAULT, VOTE} <= set(summary.loc[summary["ours"].notna(), "method"]):
        return {}
    return {
        OVERVIEW_HEADING: [_overview_row(row) for row in overview(experiment, summary).to_dict("records")],
        SETS_HEADING: [_set_row(str(name), row) for name, row in by_set(experiment, summary).to_dict("index").items()],
    }


def _overview_row(row: Mapping[Any, Any]) -> dict[str, str]:
    return {
        "method": row["method"] + (" (default)" if row["method"] == DEFAULT else ""),
        "sets": str(row["sets"]),
        "accuracy %": _text(row["accuracy"], 2),
        "published": _text(row["published"], 2),
        "more than the vote": _text(row["more than the vote"], 2, sign=True),
        "below the vote / significantly": f"{row['below']} / {row['significantly']}",
        "log-loss": _text(row["log-loss"], 3),
        "Brier": _text(row["Brier"], 3),
        "ECE": _text(row["ECE"], 3),
        "wrong of p >= .99, %": _text(row["sure and wrong"], 1),
        "CPU s": _text(row["CPU"], 1 if row["CPU"] >= 0.095 else 2),
    }


def _set_row(name: str, row: Mapping[Any, Any]) -> dict[str, str]:
    interval = f"{_text(row['at least'], 2, sign=True)} to {_text(row['at most'], 2, sign=True)}"
    return {
        "set": name,
        "tasks with truth": str(row["tasks"]),
        "vote": _text(row["vote"], 2),
        f"{DEFAULT} (default)": _text(row["default"], 2),
        "more than the vote": f"{_text(row['more'], 2, sign=True)} ({interval})",
        "best other": f"{_text(row['best'], 2)} {row['method']}",
        "EBCC, published": _text(row["EBCC"], 2),
    }


def _text(value: float, digits: int, sign: bool = False) -> str:
    return "-" if np.isnan(value) else f"{value:{'+' if sign else ''}.{digits}f}"
