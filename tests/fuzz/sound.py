"""A sound call of every public function and method: what is then bent is one argument of it at a time."""

from __future__ import annotations

import functools
from importlib.util import find_spec

import numpy as np
import pandas as pd

import cofactor as cf
from cofactor.reading.votes import read_votes

crowd, pmf, separable, comparisons, simulate = cf.crowd, cf.pmf, cf.separable, cf.comparisons, cf.simulate


@functools.cache
def made():
    """The data of all calls, drawn once: small, and sound in every respect."""
    model = simulate.dawid_skene_model(4, 2, skill=0.5, random_state=0)
    labels = simulate.crowd(model, 24, 0.9, random_state=1).labels
    joint = simulate.joint_model(3, 2, 2, random_state=0)
    U, V = simulate.comparison_factors(5, 6, 1, random_state=0)
    rng = np.random.default_rng(0)
    X = rng.dirichlet(np.ones(4), 12).T
    X[:, :4] = np.eye(4)
    A = np.triu(rng.random((10, 10)) < 0.7, 1).astype(float)
    ratings = np.divmod(np.arange(24), 4)
    return {
        "model": model,
        "labels": labels,
        "moments": cf.pairwise_moments(labels.table),
        "joint": joint,
        "table": simulate.joint_table(joint, 60, random_state=0),
        "compared": simulate.draw_comparisons(U, V, 90, random_state=0),
        "U": U,
        "V": V,
        "X": X,
        "counts": rng.integers(0, 3, (12, 6)),
        "A": A + A.T,
        "W": X[:, :3].copy(),
        "codes": rng.integers(0, 2, 24),
        "user": ratings[0],
        "item": ratings[1],
        "stars": rng.integers(1, 6, 24).astype(float),
        "votes": pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"], "who": [1, 2], "won": [1, 0], "n": [2.0, 1.0]}),
        "extra": rng.normal(size=(90, 1)),
    }


PACKAGES = {  # that are optional, and what needs them
    "lda": {"separable.LDA", "separable.lda_topics"},
}
ABSENT = {name for package, names in PACKAGES.items() if find_spec(package) is None for name in names}


def sound():
    """Return name -> (function, arguments by name)."""
    d = made()
    labels, model, table, joint, compared = (d[name] for name in ("labels", "model", "table", "joint", "compared"))
    X, W, U, V, codes = (d[name] for name in ("X", "W", "U", "V", "codes"))
    cooc = crowd.Cooccurrences.from_moments(d["moments"])
    start = np.tile(np.eye(2), (4, 1, 1))
    short = {"max_iter": 3}
    objective = comparisons.Objective(compared, 1)
    guess = objective.join(*comparisons.random_start(compared, 1, 0.1, 0))
    plan = {"n_trials": 2, "random_state": 0}
    calls = {
        "CategoricalTable": (cf.CategoricalTable, {"codes": table.codes, "sizes": table.sizes}),
        "CategoricalTable.from_entries": (
            cf.CategoricalTable.from_entries,
            {"row": [0, 1], "variable": [0, 1], "code": [0, 1], "sizes": [2, 2], "n_rows": 2},
        ),
        "Comparisons": (
            cf.Comparisons,
            {
                **{name: getattr(compared, name).copy() for name in ("user", "left", "right", "outcome")},
                **{"n_users": 5, "n_items": 6, "counts": np.ones(len(compared)), "same_item": "error"},
                **{"prompt": compared.user.copy()},
            },
        ),
        "CrowdLabels.from_arrays": (
            cf.CrowdLabels.from_arrays,
            {"task": [0, 0, 1], "worker": [0, 1, 0], "label": [0, 1, 1], "n_classes": 2, "n_tasks": 2, "n_workers": 2},
        ),
        "LatentClassModel": (cf.LatentClassModel, {"prior": joint.prior.copy(), "conditionals": joint.conditionals}),
        "aggregate": (
            lambda source, method: cf.aggregate(source, method=method).labels,
            {"source": labels.to_frame(), "method": "MV-EM"},
        ),
        "load": (cf.load, {"name": "bluebird", "kind": None}),
        "pairwise_moments": (cf.pairwise_moments, {"table": table}),
        "crowd.believed": (crowd.believed, {"labels": labels, "gold": {0: 0, 1: 1}}),
        "crowd.readings": (crowd.readings, {"labels": labels, "method": crowd.WorkerTypes(), "group": None}),
        "crowd.bootstrap": (
            crowd.bootstrap,
            {"method": crowd.MajorityVote(), "labels": labels, "n_draws": 2, "random_state": 0, "n_jobs": 1},
        ),
        "crowd.designated_imputation": (crowd.designated_imputation, {"cooc": cooc, "n_references": 2}),
        "crowd.diagnose": (crowd.diagnose, {"labels": labels, "min_common": 2, "gold": None}),
        "crowd.error_rate": (crowd.error_rate, {"predicted": codes, "truth": codes[::-1].copy()}),
        "crowd.in_order": (crowd.in_order, {"labels": labels, "order": [1, 0]}),
        "crowd.krippendorff_alpha": (crowd.krippendorff_alpha, {"labels": labels, "level": "ordinal"}),
        "crowd.model_of_factor": (crowd.model_of_factor, {"H": model.stacked * 0.5, "floor": 0.0}),
        "next_tasks": (
            cf.next_tasks,
            {"source": labels, "budget": 3, "wanted_error": 0.1, "method": crowd.MajorityVote()},
        ),
        "crowd.paired_difference": (
            crowd.paired_difference,
            {"predicted": codes, "other": 1 - codes, "truth": codes[::-1].copy()},
        ),
        "crowd.sign_test": (
            crowd.sign_test,
            {"predicted": codes, "other": 1 - codes, "truth": codes[::-1].copy()},
        ),
        "crowd.Outside": (
            lambda labels: crowd.Outside(crowd.vote_shares).fit(labels).predict_proba(labels),
            {"labels": labels},
        ),
        "plan": (
            cf.plan,
            {
                **{"source": labels, "methods": ["MajorityVote"], "amounts": [1, 2], "n_tasks": 20},
                **{"method": crowd.MajorityVote(), **plan},
            },
        ),
        "crowd.robust_imputation": (crowd.robust_imputation, {"cooc": cooc, "start": start, "p": 1.0, **short}),
        "crowd.score": (crowd.score, {"predicted": codes, "truth": codes[::-1].copy()}),
        "crowd.square_root": (crowd.square_root, {"X": W @ W.T, "n_classes": 2}),
        "crowd.symnmf": (crowd.symnmf, {"U": W, "shift": 0.0, **short}),
        "crowd.vote_shares": (crowd.vote_shares, {"labels": labels}),
        "crowd.worker_accuracy": (crowd.worker_accuracy, {"model": model}),
        "crowd.workers_table": (crowd.workers_table, {"method": crowd.MajorityVote().fit(labels), "labels": labels}),
        "pmf.bootstrap": (
            pmf.bootstrap,
            {"method": pmf.RANDEM(2, random_state=0), "table": table, "n_draws": 2, "random_state": 0, "n_jobs": 1},
        ),
        "pmf.cnmf_spa": (
            pmf.cnmf_spa,
            {"moments": cf.pairwise_moments(table), "rank": 2, "split": 1, "floor": 0.001, "random_state": 0},
        ),
        "pmf.diagnose": (pmf.diagnose, {"table": table, "rank": 2}),
        "pmf.from_marginals": (
            pmf.from_marginals,
            {"pairs": {(0, 1): np.full((2, 2), 0.25)}, "rank": 1, "method": "CNMF-OPT", "random_state": 0},
        ),
        "pmf.mre": (pmf.mre, {"truth": joint, "estimate": joint}),
        "pmf.mse": (pmf.mse, {"truth": joint, "estimate": joint}),
        "separable.bootstrap": (
            separable.bootstrap,
            {"method": separable.SPA(3), "X": X, "n_draws": 4, "random_state": 0, "n_jobs": 1},
        ),
        "separable.clustering_accuracy": (separable.clustering_accuracy, {"truth": codes, "clusters": 1 - codes}),
        "separable.coherence": (separable.coherence, {"counts": d["counts"], "top_words": [[0, 1], [2, 3]]}),
        "separable.communities": (separable.communities, {"adjacency": d["A"], "n_communities": 2}),
        "separable.diagnose": (separable.diagnose, {"X": X, "n_anchors": 3}),
        "separable.document_accuracy": (
            separable.document_accuracy,
            {"truth": codes[:12], "weights": X.T.copy(), "n_runs": 1, "random_state": 0},
        ),
        "separable.fast_anchor": (separable.fast_anchor, {"X": X, "n_anchors": 3, "random_state": 0}),
        "separable.fast_gradient": (separable.fast_gradient, {"X": X, "n_anchors": 3, "random_state": 0, "nu": 0.1}),
        "separable.geo_nmf": (separable.geo_nmf, {"A": d["A"], "n_anchors": 2, "random_state": 0}),
        "separable.lda_topics": (
            separable.lda_topics,
            {"counts": d["counts"], "n_topics": 2, "max_iter": 3, "alpha": 0.1, "eta": 0.1, "random_state": 0},
        ),
        "separable.lone_columns": (separable.lone_columns, {"X": X, "n_anchors": 3}),
        "separable.merit": (
            separable.merit,
            {"X": X, "n_anchors": 3, "lam": 0.1, "mu": 1e-5, "n_iter": 5, "t_init": None, "tol": None},
        ),
        "separable.mrsa": (separable.mrsa, {"W": W, "found": W[:, ::-1].copy()}),
        "separable.predicted_bytes": (
            separable.predicted_bytes,
            {"method": "MERIT", "n_rows": 4, "n_points": 12, "n_anchors": 3, "max_iter": 5},
        ),
        "separable.rae": (separable.rae, {"X": X, "W": X[:, :4].copy(), "H": X}),
        "separable.sim_count": (separable.sim_count, {"top_words": [[0, 1], [1, 2]]}),
        "separable.spa": (separable.spa, {"X": X, "n_anchors": 3}),
        "separable.spearman_rank_correlation": (
            separable.spearman_rank_correlation,
            {"truth": X.T.copy(), "estimate": X.T.copy()},
        ),
        "separable.spoc": (separable.spoc, {"A": d["A"], "n_anchors": 2}),
        "separable.suggest_n_anchors": (separable.suggest_n_anchors, {"X": X}),
        "separable.topic_model": (
            separable.topic_model,
            {"counts": d["counts"], "n_topics": 2, "method": "SPA", "min_documents": None, "random_state": 0},
        ),
        "separable.xray": (separable.xray, {"X": X, "n_anchors": 3, "sums": 1.0}),
        "comparisons.Objective": (
            comparisons.Objective,
            {"comparisons": compared, "rank": 1, "link": "logistic", "ridge": 0.1, "bias_ridge": 0.1, "balance": 0.1},
        ),
        "comparisons.barzilai_borwein": (
            comparisons.barzilai_borwein,
            {"objective": objective, "start": guess, "max_iter": 3, "tol": 1e-8},
        ),
        "comparisons.bootstrap": (
            comparisons.bootstrap,
            {
                **{"method": comparisons.ComparisonMF(1, ridge=0.5, random_state=0), "comparisons": compared},
                **{"n_draws": 2, "random_state": 0, "n_jobs": 1},
            },
        ),
        "comparisons.comparisons_needed": (
            comparisons.comparisons_needed,
            {"error": 0.1, "n_users": 5, "n_items": 6, "rank": 1, "spread": 1.0},
        ),
        "comparisons.degrees_of_freedom": (comparisons.degrees_of_freedom, {"n_users": 5, "n_items": 6, "rank": 1}),
        "comparisons.diagnose": (comparisons.diagnose, {"comparisons": compared, "rank": 1}),
        "comparisons.eased_start": (comparisons.eased_start, {"objective": objective, "start": guess}),
        "comparisons.expected_error": (
            comparisons.expected_error,
            {"n_comparisons": 100.0, "n_users": 5, "n_items": 6, "rank": 1, "spread": 1.0},
        ),
        "comparisons.feature_error": (
            comparisons.feature_error,
            {"U": U, "V": V, "true_U": 2 * U, "true_V": V},
        ),
        "comparisons.gradient_descent": (
            comparisons.gradient_descent,
            {"objective": objective, "start": guess, "max_iter": 3, "tol": 1e-8},
        ),
        "comparisons.lbfgs": (
            comparisons.lbfgs,
            {"objective": objective, "start": guess, "max_iter": 3, "tol": 1e-8},
        ),
        "comparisons.mean_information": (comparisons.mean_information, {"spread": 1.0}),
        "comparisons.ndcg": (
            comparisons.ndcg,
            {"user": d["user"], "rating": d["stars"], "score": d["stars"][::-1].copy(), "k": 2},
        ),
        "comparisons.pair_accuracy": (
            comparisons.pair_accuracy,
            {"margin": d["stars"] - 3, "outcome": codes.astype(float), "counts": np.ones(24)},
        ),
        "comparisons.random_start": (
            comparisons.random_start,
            {"comparisons": compared, "rank": 1, "scale": 0.1, "random_state": 0},
        ),
        "rank": (cf.rank, {"source": compared, "level": 0.9, "min_comparisons": 1, "random_state": 0}),
        "joint": (cf.joint, {"source": table, "bins": 8, "rank": 2, "method": "RAND-EM", "random_state": 0}),
        "comparisons.rank": (
            comparisons.rank,
            {"comparisons": compared, "covariates": d["extra"], "level": 0.9, "random_state": 0},
        ),
        "reading.read_votes": (
            read_votes,
            {
                **{"source": d["votes"], "winner": "a", "loser": "b", "user": "who", "outcome": "won"},
                **{"weight": "n", "covariates": ["n"]},
            },
        ),
        "comparisons.spectral_start": (
            comparisons.spectral_start,
            {"comparisons": compared, "rank": 1, "random_state": 0},
        ),
        "comparisons.utility_error": (comparisons.utility_error, {"U": U, "V": V, "true_U": 2 * U, "true_V": V}),
        "simulate.comparison_factors": (
            simulate.comparison_factors,
            {"n_users": 5, "n_items": 6, "rank": 1, "scale": 1.0, "random_state": 0},
        ),
        "simulate.crowd": (simulate.crowd, {"model": model, "n_tasks": 5, "label_rate": 0.5, "random_state": 0}),
        "simulate.dawid_skene_model": (
            simulate.dawid_skene_model,
            {"n_workers": 3, "n_classes": 2, "specialist_error": 0.1, "skill": 0.1, "random_state": 0},
        ),
        "simulate.dirichlet_mixtures": (
            simulate.dirichlet_mixtures,
            {"n_rows": 4, "n_points": 9, "n_anchors": 3, "snr_db": 10.0, "random_state": 0},
        ),
        "simulate.draw_comparisons": (
            simulate.draw_comparisons,
            {"U": U, "V": V, "n_comparisons": 20, "random_state": 0},
        ),
        "simulate.tennis_seasons": (
            simulate.tennis_seasons,
            {
                **{"n_players": 24, "n_seasons": 1, "n_weeks": 2, "field": 4},
                **{"sd": 1.0, "drift": 0.1, "eager": 0.5, "random_state": 0},
            },
        ),
        "simulate.two_way_comparisons": (
            simulate.two_way_comparisons,
            {
                **{"n_items": 4, "n_users": 5, "n_prompts": 3, "n_comparisons": 20, "random_state": 0},
                **{"spread": 1.0, "user_spread": 0.5, "prompt_spread": 0.5},
            },
        ),
        "simulate.drifting_crowd": (
            simulate.drifting_crowd,
            {
                **{"n_tasks": 6, "n_workers": 4, "n_classes": 3, "labels_per_task": 3, "random_state": 0},
                **{"accuracy": (0.6, 0.9), "drift": 1.0},
            },
        ),
        "simulate.joint_model": (
            simulate.joint_model,
            {"n_variables": 3, "alphabet": 2, "rank": 2, "separability": None, "random_state": 0},
        ),
        "simulate.joint_table": (
            simulate.joint_table,
            {"model": joint, "n_rows": 5, "observed": 0.9, "random_state": 0},
        ),
        "simulate.large_crowd": (
            simulate.large_crowd,
            {"model": model, "n_tasks": 5, "labels_per_task": 2, "activity": 1.0, "random_state": 0},
        ),
        "simulate.midpoint_mixtures": (
            simulate.midpoint_mixtures,
            {"n_rows": 4, "n_anchors": 3, "snr_db": 10.0, "random_state": 0},
        ),
        "simulate.symnmf_problem": (
            simulate.symnmf_problem,
            {"n_rows": 20, "n_classes": 3, "density": 0.5, "snr_db": None, "random_state": 0},
        ),
        "data.comparisons_from_ratings": (
            cf.data.comparisons_from_ratings,
            {"user": d["user"], "item": d["item"], "rating": d["stars"], "most": 3, "random_state": 0},
        ),
        "data.verify": (cf.data.verify, {"name": "bluebird"}),
    }
    return {name: call for name, call in (calls | methods(d)).items() if name not in ABSENT}


SHORT = {"max_iter": 3, "n_starts": 1, "hidden": 4, "kinds": 2, "n_folds": 2, "n_topics": 2, "rank": 2, "n_anchors": 2}


def methods(d):
    """Return name -> (fit, arguments): the settings of a method with the data that its `fit` takes."""
    X, rows = d["X"], np.column_stack([d["codes"], 1 - d["codes"]])
    ratings = {"user": d["user"], "item": d["item"], "rating": d["stars"]}
    data = {
        "crowd": lambda name: {"labels": d["labels"]},
        "pmf": lambda name: {"table": d["table"]},
        "separable": lambda name: {
            "SPOC": {"X": d["A"]},
            "GeoNMF": {"X": d["A"]},
            "LDA": {"counts": d["counts"]},
        }.get(name, {"X": X}),
        "comparisons": lambda name: {"comparisons": d["compared"]},
    }
    found = {}
    for line, given in data.items():
        for name, kind in getattr(cf, line).METHODS.items():
            found[f"{line}.{name}"] = kind, given(name)
    for kind in pmf.RECOMMENDERS.values():
        found[f"pmf.{kind.__name__}"] = kind, ratings
    found["separable.Topics"] = separable.Topics, {"counts": d["counts"]}
    for kind in pmf.CLASSIFIERS.values():
        found[f"pmf.{kind.__name__}"] = kind, {"X": rows, "y": d["codes"]}
    return {name: (functools.partial(_fit, kind), call) for name, (kind, call) in found.items()}


def settings(kind):
    """Settings of a method that keep a fit short."""
    short = SHORT | {"estimator": pmf.RANDEM(2, random_state=0)}
    return {name: short[name] for name in kind().get_params(deep=False) if name in short}


def _fit(kind, random_state=0, **data):
    method = kind(**settings(kind))
    if "random_state" in method.get_params(deep=False):
        method.set_params(random_state=random_state)
    return method.fit(*data.values())
