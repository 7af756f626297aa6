"""Answers to the exercises of notebook 10: exercise, what the reply says, and the answer made from what is given."""

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

# ---- groups that never meet, as learners count them ----


def merged(task, worker):
    group = {m: {m} for m in set(worker.tolist())}
    for n in set(task.tolist()):
        members = set().union(*(group[m] for m in worker[task == n].tolist()))
        for m in members:
            group[m] = members
    return len({frozenset(members) for members in group.values()})


def by_parents(task, worker):
    parent = {("worker", m): ("worker", m) for m in worker} | {("task", n): ("task", n) for n in task}

    def root(x):
        return x if parent[x] == x else root(parent[x])

    for n, m in zip(task, worker, strict=True):
        parent[root(("task", n))] = root(("worker", m))
    return float(sum(x == y for x, y in parent.items()))


def by_scipy(task, worker):
    row, column = pd.factorize(task)[0], pd.factorize(worker)[0]
    gave = coo_array((np.ones(len(row)), (row, column))).tocsr()
    return connected_components(gave.T @ gave, directed=False)[0]


def by_spreading(task, worker):
    """The smallest label that reaches somebody, until nothing changes."""
    labels = worker.copy()
    for _ in range(len(worker)):
        for ids in (task, worker):
            for one in np.unique(ids):
                labels[ids == one] = labels[ids == one].min()
    return np.array([len(np.unique(labels))])


def by_powers(task, worker):
    together = pd.crosstab(task, worker).clip(upper=1)
    reach = (together.T @ together).to_numpy() > 0
    for _ in range(len(reach)):
        reach = reach @ reach
    return len(np.unique(reach, axis=0))


def pairs_apart(task, worker):
    together = pd.crosstab(task, worker)
    return np.sum(np.triu((together.T @ together).to_numpy() == 0))


def without_those_alone(task, worker):
    frame = pd.DataFrame({"task": task, "worker": worker}).drop_duplicates()
    kept = frame[frame.groupby("task").worker.transform("size") > 1]
    return merged(kept.task.to_numpy(), kept.worker.to_numpy()) if len(kept) else 0


def in_one_pass(task, worker):
    groups = []
    for n in pd.unique(task):
        team = set(worker[task == n])
        for group in groups:
            if group & team:
                group |= team
                break
        else:
            groups.append(team)
    return len(groups)


def with_gaps(task, worker):
    gave = np.zeros((task.max() + 1, worker.max() + 1))
    gave[task, worker] = 1
    return connected_components(gave.T @ gave, directed=False)[0]


def alone(task, worker):
    together = pd.crosstab(task, worker).clip(upper=1)
    return np.sum(((together.T @ together) > 0).sum() == 1)


def sorts_in_place(task, worker):
    task.sort()
    return merged(task, worker)


def sides(g, times, middle=None):
    return (g["refits"].mean() if middle is None else middle) + times * g["refits"].std() * np.array([-1, 1])


def middle_nine_of_ten(g):
    ordered = sorted(g["refits"])
    ends = [q * (len(ordered) - 1) for q in (0.05, 0.95)]
    return [ordered[int(x)] + (x % 1) * (ordered[int(x) + 1] - ordered[int(x)]) for x in ends]


def share(g):
    return [sum(row[j] <= g["wanted"] for row in g["errors"]) / len(g["errors"]) for j in range(len(g["amounts"]))]


def first(g, level=0.9):
    return next(d for d, s in zip(g["amounts"], share(g), strict=True) if s >= level)


def of_each_crowd(g):
    return [d[np.argmax(row <= g["wanted"])] for row in g["errors"] for d in [g["amounts"]]]


ANSWERS = [
    ("groups", "correct", lambda g: merged),
    ("groups", "correct", lambda g: by_parents),
    ("groups", "correct", lambda g: by_scipy),
    ("groups", "correct", lambda g: by_spreading),
    ("groups", "correct", lambda g: by_powers),
    ("groups", "a third worker may link them", lambda g: pairs_apart),
    ("groups", "whoever meets nobody is a group, too", lambda g: without_those_alone),
    ("groups", "merge all groups that it touches", lambda g: in_one_pass),
    ("groups", "workers are numbered with gaps", lambda g: with_gaps),
    ("groups", "how many workers meet nobody", lambda g: alone),
    ("groups", "this is the number of workers", lambda g: lambda task, worker: len(set(worker))),
    ("groups", "is too large", lambda g: lambda task, worker: len(set(task))),
    ("groups", "on data you have not seen", lambda g: lambda task, worker: 4),
    ("groups", "changes what it is given, task", lambda g: sorts_in_place),
    ("groups", "hand in the function itself", lambda g: merged(**g)),
    ("groups", "expected a single number", lambda g: lambda task, worker: np.unique(worker)),
    ("refits", "correct", middle_nine_of_ten),
    ("refits", "correct", lambda g: np.percentile(g["refits"], (5, 95))),
    ("refits", "correct", lambda g: np.sort(g["refits"])[[20, 380]]),
    ("refits", "correct", lambda g: np.sort(g["refits"])[[19, 379]]),
    ("refits", "correct", lambda g: np.quantile(g["refits"], [0.05, 0.95], method="weibull").tolist()),
    ("refits", "correct", lambda g: np.quantile(g["refits"], [0.05, 0.95], method="inverted_cdf")),
    ("refits", "correct", lambda g: pd.Series(g["refits"]).quantile([0.05, 0.95])),
    ("refits", "correct", lambda g: {"low": middle_nine_of_ten(g)[0].round(3), "high": max(middle_nine_of_ten(g))}),
    ("refits", "holds 95 %", lambda g: np.quantile(g["refits"], [0.025, 0.975])),
    ("refits", "holds 80 %", lambda g: np.quantile(g["refits"], [0.1, 0.9])),
    ("refits", "1 standard deviations", lambda g: sides(g, 1)),
    ("refits", "1.645 standard deviations", lambda g: sides(g, 1.645)),
    ("refits", "1.96 standard deviations", lambda g: sides(g, 1.96)),
    ("refits", "1.96 standard deviations about the estimate", lambda g: sides(g, 1.96, g["estimate"])),
    ("refits", "1.645 standard deviations about the estimate", lambda g: sides(g, 1.645, g["estimate"])),
    ("refits", "do not divide by the root of their number", lambda g: sides(g, 1.645 / 20)),
    ("refits", "these are the extremes", lambda g: (g["refits"].min(), g["refits"].max())),
    ("refits", "the lower end comes first", lambda g: np.quantile(g["refits"], [0.95, 0.05])),
    ("refits", "this is in per cent", lambda g: np.percentile(100 * g["refits"], (5, 95))),
    ("refits", "expected an array of shape (2,)", lambda g: np.quantile(g["refits"], 0.9)),
    ("refits", "entry [0] is furthest off", lambda g: [0.5, np.quantile(g["refits"], 0.95)]),
    ("enough", "correct", lambda g: (share(g), first(g))),
    ("enough", "correct", lambda g: [(g["errors"] <= 0.05).mean(axis=0), float(np.quantile(of_each_crowd(g), 0.9))]),
    ("enough", "correct", lambda g: {"amount": first(g), "share": pd.Series(share(g))}),
    ("enough", "the mean error gets there",
     lambda g: (share(g), g["amounts"][np.argmax(g["errors"].mean(axis=0) <= g["wanted"])])),
    ("enough", "half of the crowds get there",
     lambda g: (share(g), g["amounts"][np.argmax(np.median(g["errors"], axis=0) <= g["wanted"])])),
    ("enough", "a position in `amounts`", lambda g: (share(g), np.argmax(np.array(share(g)) >= 0.9))),
    ("enough", "here every crowd gets there", lambda g: (share(g), first(g, 1.0))),
    ("enough", "not there yet", lambda g: (1 - np.array(share(g)), first(g))),
    ("enough", "give their share", lambda g: ((g["errors"] <= g["wanted"]).sum(axis=0), first(g))),
    ("enough", "this is the mean error", lambda g: (g["errors"].mean(axis=0), first(g))),
    ("enough", "expected an array of shape (11,)", lambda g: ((g["errors"] <= g["wanted"]).mean(axis=1), first(g))),
    ("enough", "this is in per cent", lambda g: (100 * np.array(share(g)), first(g))),
    ("enough", "is too small", lambda g: (share(g), 5)),
    ("enough", "give 2 arrays or numbers", first),
]  # fmt: skip
