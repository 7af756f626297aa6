"""Every public function and estimator, with strategies for its arguments."""

from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import cofactor as cf
from cofactor.core.latent_class import match_classes, match_columns
from cofactor.core.scattering import scattering_certificate
from cofactor.core.simplex import project_to_simplex
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.separable.least_squares import nonnegative_least_squares, simplex_least_squares
from tests.fuzz import values as v

crowd, pmf, separable, comparisons, simulate = cf.crowd, cf.pmf, cf.separable, cf.comparisons, cf.simulate
SHORT = {
    "CNMF": {"max_iter": 3},
    "TensorADMM": {"max_iter": 20},
    "MLE-AD": {"max_iter": 20},
    "MLE-AD-EM": {"max_iter": 20},
    "CTD": {"max_iter": 20},
}


def _of(strategy, *chosen):
    return st.one_of(strategy, st.sampled_from(chosen)) if chosen else strategy


def _frame(columns, *more):
    return pd.DataFrame(dict(zip(columns, zip(*more, strict=True), strict=True)))


cells = st.sampled_from([0, 1, 2, "a", "b", "", None, np.nan, 1.5, -1, True, (1, 2), [1], 2**70, pd.NaT, b"x"])


@st.composite
def frames(draw, names):
    """Data frames with mixed cells; a column may be missing, there twice, or of another name."""
    rows = draw(st.lists(st.tuples(*(st.one_of(st.integers(0, 2), cells),) * len(names)), max_size=6))
    frame = pd.DataFrame(rows, columns=names).astype(object)
    change = draw(st.integers(0, 12))
    if change == 0:
        return frame.drop(columns=names[0])
    if change == 1:
        return frame.set_axis([names[0]] * len(names), axis=1)
    return frame.convert_dtypes() if change == 2 else frame


# ---- estimators: fit, then everything that they answer ----


def aggregate(name):
    def run(labels, other):
        method = crowd.METHODS[name](random_state=0, **SHORT.get(name, {})).fit(labels)
        assert method.predict(labels).shape == (labels.n_tasks,)
        shares = method.predict_proba(labels)
        assert np.isfinite(shares).all() and (shares >= 0).all()
        return method.predict(other)

    return run


def estimate(name):
    def run(table, rank, target):
        short = {} if name == "Independence" else {"rank": rank, "random_state": 0} | SHORT.get(name, {})
        model = pmf.METHODS[name](**short).fit(table).model_
        assert np.isfinite(model.prior).all()
        return model.predict_map(table, target), model.expectation(table, target, np.arange(3.0))

    return run


def prefer(name):
    def run(data, user, left, right, k):
        model = comparisons.METHODS[name]().fit(data)
        assert np.isfinite(model.utilities(0)).all()
        return model.margin(user, left, right), model.recommend(0, k)

    return run


def find_anchors(name):
    def run(X, n_anchors):
        fit = separable.METHODS[name](n_anchors).fit(X)
        assert len(fit.anchors_) <= np.shape(X)[1] and np.isfinite(fit.transform(X)).all()

    return run


def recommend(make):
    def run(table, values):
        return make().fit(table, values).predict(table)

    return run


def classify(X, y, new):
    return pmf.JointPMFClassifier(rank=2, pseudo_count=1.0, n_starts=1, random_state=0).fit(X, y).predict_proba(new)


# ---- methods of classes ----


def use_table(codes, sizes, rows, variables, n):
    table = cf.CategoricalTable(codes, sizes)
    assert np.array_equal(table.codes, np.asarray(codes))
    table.take_rows(rows), table.take_variables(variables), table.with_sizes(sizes)
    return cf.pairwise_moments(table).joint(0, 1)


def use_labels(labels, workers, tasks, n):
    labels.take_workers(workers), labels.take_tasks(tasks), labels.busiest_workers(n)
    return labels.to_frame()


def use_comparisons(data, rows, share):
    data.take(rows)
    return data.hold_out(share, 0), data.components


def use_model(prior, conditionals, table):
    model = cf.LatentClassModel(prior, conditionals)
    assert np.isclose(model.prior.sum(), 1)
    return model.posterior(table), model.log_likelihood(table), model.joint_tensor()


def csv(reader):
    def run(text, sep, encoding):
        with TemporaryDirectory() as folder:
            path = f"{folder}/file.csv"
            with open(path, "w", encoding="utf8", errors="surrogatepass", newline="") as file:
                file.write(text)
            return reader(path, sep=sep, encoding=encoding)

    return run


texts = st.text(st.sampled_from('task,worker,label\n\r"01a \t;\x00é\ud800²'), max_size=60).map(
    "task,worker,label\n".__add__
)
joined = st.sampled_from([",", ";", "\t", "", ",,", "é", "\n", '"'])
encodings = st.sampled_from(["utf-8-sig", "utf-16", "latin-1", "klingon", "idna", "rot13", "hex", "undefined", ""])

FUNCTIONS = {
    "CategoricalTable": (use_table, v.whole_matrix, _of(v.codes, None), v.codes, v.codes, v.count),
    "CategoricalTable.from_entries": (
        cf.CategoricalTable.from_entries,
        *(v.codes, v.codes, v.codes, _of(v.codes, [3, 3]), v.count),
    ),
    "CrowdLabels.from_arrays": (
        cf.CrowdLabels.from_arrays,
        *(v.codes, v.codes, v.codes, _of(v.count, None), _of(v.count, None), _of(v.count, None)),
        *(st.sampled_from(["error", "first", "other"]), st.sampled_from(["error", "keep", "other"])),
    ),
    "aggregate": (lambda frame: cf.aggregate(frame, method="MajorityVote"), frames(["task", "worker", "label"])),
    "CrowdLabels.from_frame": (cf.CrowdLabels.from_frame, frames(["task", "worker", "label"])),
    "CrowdLabels.from_csv": (csv(cf.CrowdLabels.from_csv), texts, joined, encodings),
    "CrowdLabels": (use_labels, v.labels, v.codes, v.codes, v.count),
    "Comparisons": (
        cf.Comparisons,
        *(v.codes, v.codes, v.codes, v.vector, _of(v.count, None), _of(v.count, None), _of(v.vector, None)),
        *(st.sampled_from(["error", "drop", "other"]), _of(v.codes, None)),
    ),
    "Comparisons.from_frame": (cf.Comparisons.from_frame, frames(["user", "left", "right", "outcome"])),
    "Comparisons.take": (use_comparisons, v.compared, v.codes, v.number),
    "LatentClassModel": (use_model, v.vector, st.one_of(st.lists(v.matrix, max_size=3), v.oddities), v.tables),
    "project_to_simplex": (project_to_simplex, v.matrix),
    "simplex_least_squares": (simplex_least_squares, v.matrix, v.matrix),
    "nonnegative_least_squares": (nonnegative_least_squares, v.matrix, v.matrix),
    "match_columns": (match_columns, v.matrix, v.matrix),
    "match_classes": (match_classes, v.matrix, v.matrix),
    "scattering_certificate": (scattering_certificate, v.matrix),
    "crowd.error_rate": (crowd.error_rate, _of(v.codes, [0, 1]), v.codes),
    "crowd.score": (crowd.score, _of(v.codes, [0, 1]), v.codes),
    "crowd.paired_difference": (crowd.paired_difference, _of(v.codes, [0, 1]), v.codes, v.codes),
    "crowd.sign_test": (crowd.sign_test, _of(v.codes, [0, 1]), v.codes, v.codes),
    "crowd.Outside": (
        lambda labels, answer: crowd.Outside(lambda _: answer).fit(labels),
        v.labels,
        _of(v.matrix, [0, 1]),
    ),
    "crowd.krippendorff_alpha": (
        crowd.krippendorff_alpha,
        v.labels,
        st.sampled_from(["nominal", "ordinal", "interval", "odd"]),
    ),
    "crowd.in_order": (crowd.in_order, v.labels, _of(v.codes, [0, 1, 2])),
    "crowd.workers_table": (lambda labels: crowd.workers_table(crowd.MajorityVote().fit(labels), labels), v.labels),
    "crowd.vote_shares": (crowd.vote_shares, v.labels),
    "crowd.worker_accuracy": (crowd.worker_accuracy, v.models()),
    "crowd.diagnose": (crowd.diagnose, v.labels, _of(v.count, None)),
    "next_tasks": (cf.next_tasks, v.labels, v.count),
    "crowd.readings": (crowd.readings, v.labels),
    "crowd.believed": (crowd.believed, v.labels, v.codes),
    "crowd.square_root": (crowd.square_root, v.matrix, v.count),
    "crowd.symnmf": (crowd.symnmf, v.matrix, v.number),
    "crowd.model_of_factor": (crowd.model_of_factor, v.matrix),
    "crowd.Cooccurrences.from_model": (Cooccurrences.from_model, v.models(), _of(v.matrix, None)),
    "pmf.mse": (pmf.mse, v.models(), v.models()),
    "pmf.mre": (pmf.mre, v.models(), v.models()),
    "pmf.diagnose": (lambda table, rank: pmf.diagnose(table, rank=rank), v.tables, _of(v.count, None)),
    "pmf.JointPMFClassifier": (classify, v.matrix, v.codes, v.matrix),
    **{
        f"separable.{name}": (getattr(separable, name), v.graph if name in ("spoc", "geo_nmf") else v.points, v.count)
        for name in ("spa", "xray", "fast_anchor", "spoc", "geo_nmf")
    },
    "separable.diagnose": (separable.diagnose, v.points, _of(v.count, None)),
    "anchors": (cf.anchors, v.points, _of(v.count, None)),
    "topics": (cf.topics, v.points, v.count),
    "separable.topic_model": (separable.topic_model, v.points, v.count),
    "separable.communities": (separable.communities, v.graph, v.count),
    "separable.suggest_n_anchors": (separable.suggest_n_anchors, v.points),
    "separable.lone_columns": (separable.lone_columns, v.points, _of(v.count, None)),
    "separable.mrsa": (separable.mrsa, v.matrix, v.matrix),
    "separable.rae": (separable.rae, v.matrix, v.matrix, v.matrix),
    "separable.coherence": (separable.coherence, v.points, v.whole_matrix),
    "separable.sim_count": (separable.sim_count, v.whole_matrix),
    "separable.clustering_accuracy": (separable.clustering_accuracy, v.codes, v.codes),
    "separable.document_accuracy": (separable.document_accuracy, v.codes, v.matrix, v.count),
    "separable.spearman_rank_correlation": (separable.spearman_rank_correlation, v.matrix, v.matrix),
    "separable.predicted_bytes": (
        separable.predicted_bytes,
        st.sampled_from(["MERIT", "SPA", "none"]),
        *(v.count,) * 3,
    ),
    "comparisons.diagnose": (comparisons.diagnose, v.compared, v.count),
    "comparisons.rank": (comparisons.rank, v.compared),
    "rank": (cf.rank, v.compared),
    "joint": (lambda table: cf.joint(table, method="RAND-EM", rank=2), v.matrix),
    "pmf.from_marginals": (lambda table, rank: cf.pmf.from_marginals({(0, 1): table}, rank), v.matrix, v.count),
    "comparisons.ndcg": (comparisons.ndcg, v.codes, v.vector, v.vector, v.count),
    "comparisons.pair_accuracy": (comparisons.pair_accuracy, v.vector, v.vector, _of(v.vector, None)),
    "comparisons.utility_error": (comparisons.utility_error, *(v.matrix,) * 4),
    "comparisons.feature_error": (comparisons.feature_error, *(v.matrix,) * 4),
    "comparisons.comparisons_needed": (comparisons.comparisons_needed, v.number, *(v.count,) * 3, v.number),
    "comparisons.expected_error": (comparisons.expected_error, v.number, *(v.count,) * 3, v.number),
    "comparisons.random_start": (comparisons.random_start, v.compared, v.count, v.number, v.seed),
    "comparisons.spectral_start": (comparisons.spectral_start, v.compared, v.count),
    "comparisons.Objective": (
        comparisons.Objective,
        v.compared,
        v.count,
        st.sampled_from(["logistic", "odd"]),
        v.number,
    ),
    "simulate.crowd": (simulate.crowd, v.models(), v.count, _of(v.vector, 0.5), v.seed),
    "simulate.dawid_skene_model": (simulate.dawid_skene_model, v.count, v.count, v.number, v.number),
    "simulate.large_crowd": (simulate.large_crowd, v.models(), v.count, v.count, v.number),
    "simulate.joint_model": (simulate.joint_model, v.count, v.count, v.count, _of(v.number, None)),
    "simulate.joint_table": (simulate.joint_table, v.models(), v.count, v.number),
    "simulate.comparison_factors": (simulate.comparison_factors, v.count, v.count, v.count),
    "simulate.drifting_crowd": (simulate.drifting_crowd, *(v.count,) * 4),
    "simulate.two_way_comparisons": (simulate.two_way_comparisons, *(v.count,) * 4),
    "simulate.tennis_seasons": (simulate.tennis_seasons, v.count, v.count),
    "simulate.draw_comparisons": (simulate.draw_comparisons, v.matrix, v.matrix, v.count),
    "simulate.dirichlet_mixtures": (simulate.dirichlet_mixtures, v.count, v.count, v.count, _of(v.number, None)),
    "simulate.midpoint_mixtures": (simulate.midpoint_mixtures, v.count, v.count, _of(v.number, None)),
    "simulate.symnmf_problem": (simulate.symnmf_problem, v.count, v.count, v.number, _of(v.number, None)),
    "data.comparisons_from_ratings": (cf.data.comparisons_from_ratings, v.codes, v.codes, v.vector, _of(v.count, None)),
    "data.RatingsDataset": (cf.data.RatingsDataset, st.just("a"), st.just("b"), v.codes, v.codes, v.vector),
    "data.load": (cf.load, st.sampled_from(["none", "", "BLUEBIRD", "../x", "\x00", 3, None])),
    **{f"crowd.{name}": (aggregate(name), v.labels, v.labels) for name in crowd.METHODS},
    **{f"pmf.{name}": (estimate(name), v.tables, v.count, v.count) for name in pmf.METHODS},
    **{
        f"comparisons.{name}": (prefer(name), v.compared, v.codes, v.codes, v.codes, v.count)
        for name in comparisons.METHODS
    },
    **{
        f"separable.{name}": (find_anchors(name), v.graph if name in ("SPOC", "GeoNMF") else v.points, v.count)
        for name in separable.METHODS
        if name != "LDA"
    },
}
