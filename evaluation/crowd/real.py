"""Tables 4, 5 and 9, Figure 4: labels that people gave.

Source: Ibrahim and Fu, "Crowdsourcing via annotator co-occurrence imputation and provable symmetric nonnegative matrix
factorization", ICML 2021.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cofactor.core.types import Ints
from cofactor.crowd.base import error_rate
from cofactor.crowd.labels import CrowdLabels
from cofactor.data import load
from cofactor.data.loading import CrowdDataset
from evaluation.crowd.deep import DLMV, CrowdLayer
from evaluation.crowd.methods import (
    BINARY,
    PROPOSED,
    SPECTRAL,
    Measure,
    Special,
    error_in,
    first_class_error_in,
    method_named,
    run_method,
    run_methods,
    seed_of,
)
from evaluation.experiment import PAPER_PROTOCOL, Measurement, experiment, measure
from evaluation.released.crowd_steps import index_shift

BUSIEST = 52  # of the Dog workers, the paper keeps those who gave most labels
REAL_SPECIAL: Special = {"CNMF (converged)": {"max_iter": 1000, "tol": 1e-9}}
EXTRA = ("MultiStart-EM", "MV-EM", "MinimaxEntropy", *BINARY, "PG-TAC", "CRIAV", "MajorityVote")
AFTER_OR_BEFORE_EM = ("CNMF-EM", "Spectral-D&S(no EM)")


@experiment(
    "crowd-table4",
    title="Table 4: Bluebird and Dog",
    source="Ibrahim and Fu, ICML 2021, Table 4",
    settings={"bluebird": "Bluebird (N=108, M=39, K=2)", "dog": "Dog (N=807, M=52, K=4)"},
    metrics={"error": "%"},
    trials=10,
    told=False,
    published="crowd_table4",
    granularity={"bluebird": 108, "dog": 807, "rte": 800, "trec": 2275},
    cut_off=True,
    protocol="""
        Published label sets, all tasks with known truth. Random rows are averaged over seeds, the others run once.
        The paper protocol counts every pair with a task in common: with the thresholds that give the missing shares
        which the paper prints (5 tasks on Dog, 1 on TREC) its errors are met less well. Binary methods run on Dog
        through ordinal splits, which mean little for unordered classes.
    """,
    notes={
        (
            "bluebird",
            ("MajorityVote", "MV-EM"),
        ): "the printed number is that of the first 30 of the 39 annotators, see that row",
        (
            "bluebird",
            "Spectral-D&S",
        ): "with the first 30 of the 39 annotators it gives the printed number, as the vote does",
        (
            "bluebird",
            (
                "DesSymNMF",
                "DesSymNMF (paper protocol)",
                "SymNMF(no imputation)",
                "SymNMF(no imputation) (paper protocol)",
            ),
        ): """
            one or two of 108 tasks: over 20 seeds the paper's rule for designated annotators gives 11.11 to 13.89 %,
            and without imputation 12.04 %; only EM afterwards comes to 10.19 %
        """,
        ("dog", "DesSymNMF"): """
            the mean over all pairs instead of one random pair: better than the paper's rule with any seed
        """,
        ("dog", "DesSymNMF (paper protocol)"): "one random pair decides: single seeds give 16.3 to 17.0 %",
        ("", "CNMF (converged)"): """
            run to the optimum, which ten iterations do not reach: a better fit labels no better here
        """,
        ("", "Spectral-D&S"): """
            cause unknown: neither another seed nor the released EM of ten rounds with a uniform prior gives the
            printed number (16.11 % on Dog, 7.25 % on RTE, 29.49 % on TREC). On Dog the printed 17.84 % is what a
            prototype of ours gave before EM, where this row has 16.98 % without EM; over eight other splits of the
            workers into three groups errors spread by half a point and more, but the split here is the released one
        """,
        ("", ("PG-TAC", "CRIAV")): """
            reconstructed from a short description: the original definition could not be had; over six seeds of the
            labels held out, errors move by up to 0.9 points
        """,
    },
    apart={
        ("", "CNMF", "error"): """
            the printed row is CNMF followed by EM, see the row CNMF-EM: it has 11.11, 15.86, 7.13 and 29.89 % on
            Bluebird, Dog, RTE and TREC, printed are 11.11, 15.86, 7.12 and 29.84 %; without EM there are 12.96, 17.66,
            8.75 and 31.58 %
        """,
    },
)
@experiment(
    "crowd-table5",
    like="crowd-table4",
    title="Table 5: RTE and TREC",
    source="Ibrahim and Fu, ICML 2021, Table 5",
    settings={"rte": "RTE (N=800, M=164, K=2)", "trec": "TREC (N=19,033, M=762, K=2)"},
    published="crowd_table5",
    notes={
        ("rte", "SymNMF(no imputation)"): """
            the square root of the largest singular values takes a negative eigenvalue for a positive one, as the row
            of the paper protocol does, which gives the printed number
        """,
        ("trec", "SymNMF(no imputation)"): """
            where most blocks are zero, the second direction of X separates groups of workers rather than classes;
            ordering the columns of every annotator by itself, as the paper does, hides much of that
        """,
        ("trec", "SymNMF(no imputation) (paper protocol)"): """
            with annotators shifted against their labels, as in the released code (see the row with that bug), it errs
            on 35.3 %
        """,
        ("trec", "RobSymNMF-EM"): "two of 2,275 tasks",
        ("trec", "MultiSPA"): "five of 2,275 tasks; cause unknown",
        ("trec", "RobSymNMF (paper protocol)"): """
            single seeds give 30.2 to 32.9 %, and the paper does not say over how many runs its number is a mean
        """,
        ("trec", "DesSymNMF (paper protocol)"): """
            with annotators shifted against their labels, as in the released code, six seeds give 34.6 to 36.7 %,
            among which the printed number lies; without that bug 39.9 to 42.5 %
        """,
        ("trec", "MultiSPA (paper protocol)"): """
            198 of the 762 workers have no co-occurrence of full rank and get random confusion matrices: single seeds
            give 31.6 to 32.4 %
        """,
        (
            "trec",
            "RobSymNMF(w=1)",
        ): "the printed number is that of annotators shifted against their labels, see that row",
        ("trec", "EigenRatio"): """
            43.95 % is the share of the first class among the known truths, the error of a method whose scores are all
            NaN; two workers share no task with anybody, so that the formula as printed divides 0 by 0
        """,
    },
)
def real_data(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One trial of Table 4 or 5: what is random in every trial, what is not in the first one only."""
    found = load(setting, "crowd")
    labels, seed = people(found), seed_of(rng)
    rows = _as_published(labels, found.truth, trial, protocol="real", random_state=seed)
    if trial:
        return rows
    names = (*PROPOSED, *SPECTRAL, *EXTRA, *AFTER_OR_BEFORE_EM, *REAL_SPECIAL)
    ours = run_methods(names, labels, error_in(labels, found.truth), REAL_SPECIAL, random_state=seed)
    return ours + rows + (_fewer(labels, found.truth) if setting == "bluebird" else [])


def people(found: CrowdDataset) -> CrowdLabels:
    """Return the labels that the paper uses of a data set."""
    return found.labels.busiest_workers(BUSIEST) if found.name == "dog" else found.labels


def _as_published(labels: CrowdLabels, truth: Ints, trial: int, **options: Any) -> list[Measurement]:
    """The rows of the paper protocol, those without randomness in the first trial only."""
    score = first_class_error_in(labels, truth)
    rows = run_methods(PROPOSED[: -1 if trial else None], labels, score, min_common=1, **options)
    rows += run_methods(("MultiSPA",) if trial else ("MultiSPA", "MV-EM"), labels, score, **options)
    return rows + measure("RobSymNMF(w=1) (index bug)", partial(index_bug, labels, truth, min_common=1, **options))


def _fewer(labels: CrowdLabels, truth: Ints) -> list[Measurement]:
    """Voting with the first 30 of the Bluebird annotators only."""
    labels = labels.take_workers(range(30))
    vote = partial(run_method, "MajorityVote", labels, error_in(labels, truth))
    votes_em = partial(run_method, "MV-EM", labels, first_class_error_in(labels, truth), protocol="real")
    return measure("MajorityVote (30 annotators)", vote) + measure("MV-EM (30 annotators, paper protocol)", votes_em)


def index_bug(labels: CrowdLabels, truth: Ints, **options: Any) -> dict[str, float]:
    """Error of the paper's least squares factorisation with annotators shifted against their labels."""
    model = method_named("RobSymNMF(w=1)", **options).fit(labels).model_
    return {"error": 100 * error_rate(index_shift(model).posterior(labels.table), truth)}


# ---- Table 9 and Figure 4: LabelMe ----

DEEP = {"CrowdLayer": CrowdLayer, "DL-MV": DLMV}


@experiment(
    "crowd-table9",
    title="Table 9 and Figure 4: LabelMe",
    source="Ibrahim and Fu, ICML 2021, supplement, Table 9 and Figure 4",
    settings={"labelme": "LabelMe (N=1,000, M=59, K=8)"},
    metrics={"error": "%"},
    trials=100,
    plot="histogram",
    published="crowd_table9",
    granularity={"labelme": 1000},
    notes={
        ("", "RobSymNMF-EM"): """
            2.5 labels per task cannot settle 8 classes: SymNMF turns the factor, which started in the order of the
            votes, away from them; stopped after 20 sweeps, as in the paper, it stays nearer
        """,
        (
            "",
            ("DesSymNMF", "DesSymNMF-EM"),
        ): "no block has full rank at 2.5 labels per task, so that next to nothing is imputed",
    },
)
def labelme(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One trial of Table 9: the random methods in every trial, the others in the first one only.

    The 1,000 labelled training images; deep methods see image features besides the labels and are scored on the same
    images, standardised or (paper protocol) as stored. Majority vote and MV-EM, which the paper's table leaves out,
    are added.
    """
    found = load(setting, "crowd")
    labels, seed = found.labels, seed_of(rng)
    score = error_in(labels, found.truth)
    names = ("RobSymNMF", "RobSymNMF-EM", "DesSymNMF", "DesSymNMF-EM")
    rows = run_methods(names, labels, score, protocol="real", random_state=seed)
    for name in DEEP:
        rows += measure(name, partial(_deep, name, found, score, random_state=seed))
        rows += measure(name + PAPER_PROTOCOL, partial(_deep, name, found, score, random_state=seed, standardize=False))
    if trial:
        return rows
    plain = ("RobSymNMF", "RobSymNMF-EM", "MultiStart-EM", "MV-EM", "MajorityVote", "DesSymNMF", "DesSymNMF-EM")
    return run_methods(plain, labels, score, random_state=seed) + rows


def _deep(name: str, found: CrowdDataset, score: Measure, **options: Any) -> dict[str, float]:
    return score(DEEP[name](**options).fit(found.labels, found.features))
