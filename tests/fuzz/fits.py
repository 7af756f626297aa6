"""What is fitted over and over, or with settings of its own: planners, bootstraps, solvers, imputation, features."""

import numpy as np
from hypothesis import strategies as st

import cofactor as cf
from tests.fuzz import values as v

crowd, pmf, separable, comparisons = cf.crowd, cf.pmf, cf.separable, cf.comparisons
AGGREGATORS = {"MV-EM": crowd.MVEM(), "MultiSPA": crowd.MultiSPA(), "vote": crowd.METHODS["MajorityVote"]()}
ESTIMATORS = {
    "CNMF-OPT": lambda: pmf.CNMFOPT(2, max_iter=5),
    "RAND-EM": lambda: pmf.RANDEM(2, random_state=0),
    "CNMF-SPA": lambda: pmf.CNMFSPA(2),
}
ODD = st.sampled_from([-1, 0, 1, 2.5, np.nan, np.inf, "2", None, True, [2], 1j, np.complex128(1)])


def _rarely(odd, *usual):
    """One of the usual values, in one of eight cases an odd one."""
    return st.integers(1, 8).flatmap(lambda number: odd if number == 8 else st.sampled_from(usual))


def _one_of(choices, *more):
    return _rarely(ODD, *choices, *more)


runs = _rarely(ODD, 2, 3, np.int64(2))
jobs = _rarely(ODD, 1)
levels = _rarely(st.one_of(ODD, v.number), 0.9, 0.5)
errors = _rarely(st.one_of(ODD, v.number), 0.1, 0.3)
amounts = _rarely(st.one_of(ODD, v.codes), None, [1], [3, 1, 1], np.array([2.0]))
names = _rarely(st.sampled_from(["MV-EM", [], None, ["none"], [None], 3, [["MV-EM"]]]), ["MajorityVote"], ("MV-EM",))
truths = st.one_of(st.none(), st.none(), v.codes)
size = _rarely(ODD, 1, 2, 3)
share = _rarely(st.one_of(ODD, v.number), 0.0, 0.5, 1.0)
starts = st.one_of(st.none(), st.none(), st.sampled_from([0.0, 1.0, 1e20, 1e200, np.nan]), v.vector)
cells = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 5)), min_size=1, max_size=12)
rated = st.one_of(
    cells.map(lambda entries: {(user, item): float(rating) for user, item, rating in entries}).map(
        lambda found: (*map(list, zip(*found, strict=True)), list(found.values()))
    ),
    st.tuples(v.codes, v.codes, v.vector),
)


# ---- planners and bootstraps ----


def use_plan(plan, wanted, level):
    assert str(plan) and plan._repr_html_()
    needed = plan.needed(wanted, level)
    assert (needed.low <= needed.high).all()
    return plan.curve(level)


def plan_crowd(name, labels, wanted, methods, tried, truth, n_tasks, n_trials, n_jobs, level):
    found = cf.plan(labels, wanted, methods, tried, truth, n_tasks, n_trials, AGGREGATORS[name], 0, n_jobs)
    use_plan(found, wanted, level)


def preferences(bias):
    return comparisons.ComparisonMF(1, ridge=0.5, bias_ridge=0.5, item_bias=bias, max_iter=20, random_state=0)


def _ordered(table):
    assert ((table.low <= table.estimate) & (table.estimate <= table.high)).all()


def bootstrap_crowd(name, labels, n_draws, n_jobs, level):
    sure = crowd.bootstrap(AGGREGATORS[name], labels, n_draws, 0, n_jobs)
    _ordered(sure.intervals(level))
    return repr(sure), sure.interval(crowd.worker_accuracy, level)


def bootstrap_table(name, table, other, n_draws, n_jobs, level):
    sure = pmf.bootstrap(ESTIMATORS[name](), table, n_draws=n_draws, random_state=0, n_jobs=n_jobs)
    _ordered(sure.intervals(level))
    return repr(sure), sure.entries(other, level)


def bootstrap_choices(bias, data, n_draws, n_jobs, user, left, right, level):
    sure = comparisons.bootstrap(preferences(bias), data, n_draws=n_draws, random_state=0, n_jobs=n_jobs)
    _ordered(sure.margins(0, 0, 1, level))
    return repr(sure), sure.margins(user, left, right, level), sure.chances(user, left, right, level)


# ---- features, imputation, solvers, corners, ratings ----


def impute(labels, n_references, start, p, max_iter, tol):
    cooc = crowd.Cooccurrences.from_moments(cf.pairwise_moments(labels.table))
    found = crowd.designated_imputation(cooc, n_references)
    start = np.tile(np.eye(labels.n_classes), (labels.n_workers, 1, 1)) if start is None else start
    return crowd.robust_imputation(cooc, start, p, max_iter, tol), found


def descend(solver):
    def run(data, rank, bias, start, *settings):
        objective = comparisons.Objective(data, rank, item_bias=bias)
        if start is None:
            start = objective.join(*comparisons.random_start(data, rank, 0.1, 0))
        elif np.isscalar(start):
            start = np.full(objective.size, start)
        x, result = solver(objective, comparisons.eased_start(objective, start), *settings)
        assert np.isfinite(x).all() and np.isfinite(result.objective).all()

    return run


def find_corners(table, rank, split, floor, pad):
    return pmf.cnmf_spa(cf.pairwise_moments(table), rank, split, floor, pad, 0)


def rate(make):
    def run(ratings, asked, about, *settings):
        user, item, rating = ratings
        fitted = make(*settings).fit(user, item, rating)
        assert np.isfinite(fitted.predict(user, item)).all()
        return fitted.predict(asked, about)

    return run


def find_topics(counts, *settings):
    topics = separable.lda_topics(counts, *settings, random_state=0).topics
    assert np.isfinite(topics).all()
    names = ("n_topics", "max_iter", "alpha", "eta")
    fitted = separable.LDA(**dict(zip(names, settings, strict=True)), random_state=0).fit(counts)
    assert np.isfinite(fitted.transform(counts)).all()


def transform_counts(counts, n_topics):
    weights = separable.Topics(n_topics, min_documents=1).fit_transform(counts)
    assert np.isfinite(weights).all() and (weights >= 0).all()


def find_by_merit(*settings):
    names = ("gap_abs", "merge_duplicates", "select", "n_jobs")
    return separable.merit(*settings[:9], **dict(zip(names, settings[9:], strict=True)))


def bootstrap_anchors(name, X, n_anchors, n_draws, n_jobs, level):
    method = separable.METHODS[name](n_anchors)
    found = separable.bootstrap(method, X, n_draws=n_draws, random_state=0, n_jobs=n_jobs)
    return found.stability(), found.intervals(level=level)


RATINGS = {
    "BMF": lambda *settings: pmf.BMF(*settings, max_iter=20, random_state=0),
    "JointPMFRecommender": lambda name: pmf.JointPMFRecommender(ESTIMATORS[name]()),
    "GlobalAverage": pmf.GlobalAverage,
    "ItemAverage": pmf.ItemAverage,
    "UserAverage": pmf.UserAverage,
}
SETTINGS = {"BMF": (size, share, share), "JointPMFRecommender": (st.sampled_from(list(ESTIMATORS)),)}
SOLVERS = {
    "lbfgs": (size, share),
    "barzilai_borwein": (size, share),
    "gradient_descent": (size, share, st.none(), st.just(False), _rarely(ODD, None, 0.1)),
}

FITS = {
    "plan": (
        plan_crowd,
        *(st.sampled_from(list(AGGREGATORS)), v.labels, errors, names, amounts, truths, _rarely(ODD, None, 2)),
        *(runs, jobs, levels),
    ),
    "comparisons.degrees_of_freedom": (comparisons.degrees_of_freedom, *(v.count,) * 3),
    "comparisons.mean_information": (comparisons.mean_information, v.number),
    "crowd.bootstrap": (bootstrap_crowd, st.sampled_from(list(AGGREGATORS)), v.labels, runs, jobs, levels),
    "pmf.bootstrap": (bootstrap_table, st.sampled_from(list(ESTIMATORS)), v.tables, v.tables, runs, jobs, levels),
    "comparisons.bootstrap": (
        bootstrap_choices,
        *(st.booleans(), v.compared, runs, jobs, v.codes, v.codes, v.codes, levels),
    ),
    "crowd.designated_imputation": (
        impute,
        *(v.labels, _rarely(ODD, None, 2), st.one_of(st.none(), v.matrix), share, size, share),
    ),
    "separable.bootstrap": (
        bootstrap_anchors,
        *(st.sampled_from(["SPA", "MERIT", "XRAY", "SPOC"]), v.points, v.count, runs, jobs, levels),
    ),
    "separable.Topics": (transform_counts, v.whole_matrix, size),
    "separable.lda_topics": (find_topics, v.whole_matrix, size, size, share, share),
    "separable.fast_gradient": (separable.fast_gradient, v.points, size, _rarely(ODD, None, 0.1), size),
    "separable.merit": (
        find_by_merit,
        *(
            v.points,
            _rarely(ODD, None, 2),
            _rarely(ODD, "msr", "paper", 0.0),
            share,
            size,
            _rarely(ODD, "full", "half"),
        ),
        *(_rarely(ODD, None, "spa"), _rarely(ODD, None, 2), share, _rarely(ODD, None, 0.1), st.booleans()),
        *(_rarely(ODD, "top", "spa"), _rarely(ODD, None, 1)),
    ),
    "pmf.cnmf_spa": (
        find_corners,
        *(v.tables, size, _rarely(st.one_of(ODD, v.codes), None, 1), share, st.booleans()),
    ),
    **{f"pmf.{name}": (rate(make), rated, v.codes, v.codes, *SETTINGS.get(name, ())) for name, make in RATINGS.items()},
    **{
        f"comparisons.{name}": (
            descend(getattr(comparisons, name)),
            *(v.compared, size, st.booleans(), starts, *settings),
        )
        for name, settings in SOLVERS.items()
    },
}
