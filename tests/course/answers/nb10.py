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


def of(weight):
    """Scores from weights (M,), made of who said what and the vote shares."""

    def scores(codes, K):
        said = codes[:, :, None] == np.arange(K)
        share = said.sum(axis=1) / said.sum(axis=(1, 2)).clip(1)[:, None]
        return np.einsum("nmk,m->nk", said, weight(said, share))

    return scores


# ---- a messy file, as learners mend it ----


def tidy(g, keep="last", capitals=False):
    frame = pd.DataFrame(g["rows"], columns=["message", "rater", "answer"]).replace(["", "n/a"], np.nan).dropna()
    frame["answer"] = frame["answer"] if capitals else frame["answer"].str.lower()
    counted = frame if keep == "all" else frame.drop_duplicates(["message", "rater"], keep=keep)
    return frame, [int((counted["answer"] == one).sum()) for one in ("complaint", "praise", "question")]


def clash(frame):
    return sum(len(set(own)) > 1 for _, own in frame.groupby(["message", "rater"])["answer"])


def mended(g, keep="last"):
    frame, left = tidy(g, keep)
    return clash(frame), left


def undisputed(g):
    """Without the pairs that have two different answers."""
    cells = [set(own) for _, own in tidy(g)[0].groupby(["message", "rater"])["answer"]]
    return [sum(own == {one} for own in cells) for one in ("complaint", "praise", "question")]


def gaps_counted(g):
    frame = pd.DataFrame(g["rows"], columns=["message", "rater", "answer"])
    return clash(frame.assign(answer=frame["answer"].str.lower()))


def given_again(g):
    return int((tidy(g)[0].groupby(["message", "rater"]).size() > 1).sum())


def pairs(g, prior=True, known=True):
    """The table of pairs, kind by kind."""
    table = np.zeros((3, 3))
    for f, share in enumerate(g["lam"] if prior else np.ones(2)):
        told = g["A"][2, g["known"], f] if known else 1.0
        table += share * told * np.outer(g["A"][0, :, f], g["A"][1, :, f])
    return table / table.sum()


def singly(p):
    return int(p.sum(axis=1).argmax()), int(p.sum(axis=0).argmax())


def most(p):
    return divmod(int(p.argmax()), 3)


def filled(g, chance=None, first=None, last=None):
    p = pairs(g)
    return (
        singly(p) if first is None else first,
        p[singly(p)] if chance is None else chance,
        most(p) if last is None else last,
    )


# ---- intervals that hold ----


def covered(g, error=None, share=None):
    by_crowd = [np.mean(row) for row in g["held"]]
    own = np.std(by_crowd, ddof=1) / len(by_crowd) ** 0.5
    mean = np.mean(by_crowd)
    return mean if share is None else share, own if error is None else error, float(0.9 - mean > 2 * own)


def naive(g):
    share = g["held"].mean()
    return (share * (1 - share) / g["held"].size) ** 0.5


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
    ("groups", "this is the number of tasks", lambda g: lambda task, worker: len(set(task))),
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
    ("enough", "correct",
     lambda g: [(g["errors"] <= 0.05).mean(axis=0), np.quantile(of_each_crowd(g), 0.9, method="inverted_cdf")]),
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
    ("contradicted", "correct", mended),
    ("contradicted", "correct", lambda g: {"labels": mended(g)[1], "contradictions": mended(g)[0]}),
    ("contradicted", "correct", lambda g: (float(mended(g)[0]), np.array(mended(g)[1], dtype=float))),
    ("contradicted", "differ in a capital alone", lambda g: (clash(tidy(g, capitals=True)[0]), mended(g)[1])),
    ("contradicted", "a gap that was filled later", lambda g: (gaps_counted(g), mended(g)[1])),
    ("contradicted", "the same answer again contradicts nobody", lambda g: (given_again(g), mended(g)[1])),
    ("contradicted", "these are rows", lambda g: (2 * mended(g)[0], mended(g)[1])),
    ("contradicted", "the first was kept", lambda g: mended(g, "first")),
    ("contradicted", "counts once", lambda g: mended(g, "all")),
    ("contradicted", "has still given one", lambda g: (mended(g)[0], undisputed(g))),
    ("contradicted", "these are shares", lambda g: (mended(g)[0], np.array(mended(g)[1]) / sum(mended(g)[1]))),
    ("contradicted", "expected an array of shape (3,)", lambda g: (mended(g)[0], sum(mended(g)[1]))),
    ("contradicted", "give 2 arrays or numbers", lambda g: mended(g)[0]),
    ("coverage", "correct", covered),
    ("coverage", "correct", lambda g: covered(g, error=g["held"].mean(axis=1).std() / 20**0.5)),
    ("coverage", "correct", lambda g: np.array(covered(g)).round(4)),
    ("coverage", "does not hold", lambda g: covered(g, share=1 - g["held"].mean())),
    ("coverage", "this is a count", lambda g: covered(g, share=g["held"].sum())),
    ("coverage", "share of crowds in which all", lambda g: covered(g, share=g["held"].all(axis=1).mean())),
    ("coverage", "takes 300 intervals for 300 witnesses", lambda g: covered(g, error=naive(g))),
    ("coverage", "divide by the root of their number", lambda g: covered(g, error=20**0.5 * covered(g)[1])),
    ("coverage", "spread of the zeros and ones", lambda g: covered(g, error=g["held"].std())),
    ("coverage", "two standard errors; asked is one", lambda g: covered(g, error=2 * covered(g)[1])),
    ("coverage", "compare that with two", lambda g: (*covered(g)[:2], 1 - covered(g)[2])),
    ("coverage", "a number of standard errors", lambda g: (*covered(g)[:2], (0.9 - covered(g)[0]) / covered(g)[1])),
    ("coverage", "give 3 arrays or numbers", lambda g: covered(g)[0]),
]  # fmt: skip
