"""scikit-learn: its own checks for methods of samples by features, its tools for all, and what cannot apply."""

import copy
import io
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn import base, exceptions, set_config
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import cofactor as cf
from cofactor import pmf, separable
from tests.each import each
from tests.test_protocol import CASES, NEED_MORE, data_of, findings, fitted, made

QUICK = dict(rank=4, pseudo_count=0.1, n_starts=1, max_iter=200, random_state=0)


def of_counts(kind):
    """A method whose tags call counts categories: only for categories do the checks draw whole numbers."""

    def tags(self):
        found = kind.__sklearn_tags__(self)
        found.input_tags.categorical = True
        return found

    return type(kind.__name__, (kind,), {"__sklearn_tags__": tags, "__module__": __name__})


Topics, LDA = of_counts(separable.Topics), of_counts(separable.LDA)  # by name, for pickles
CHECKED = [pmf.JointPMFClassifier(**QUICK), Topics(1, min_documents=1)]
CHECKED += [] if "LDA" in NEED_MORE else [LDA(1, max_iter=30, min_documents=1, random_state=0)]
NAMES_DOCUMENTS = "the message names the documents in place of scikit-learn's words"
EXPECTED = {  # check: why a transformer of counts fails it
    "check_positive_only_tag_during_fit": NAMES_DOCUMENTS,
    "check_estimators_nan_inf": NAMES_DOCUMENTS,
    "check_estimators_empty_data_messages": NAMES_DOCUMENTS,
    "check_complex_data": "the message is that of all methods here, for numbers of any other type",
    "check_dtype_object": "a cell that is no number is a CofactorError, a ValueError, and no TypeError",
    "check_fit2d_1sample": "the message says why: every word stands in all documents, if there is but one",
}
CANNOT = {  # base class: why scikit-learn's checks cannot apply
    cf.crowd.Aggregator: "labels are triples of task, worker and label, no matrix; tasks have no features",
    pmf.JointPMFEstimator: "predict needs to be told which variable; JointPMFClassifier has that as y",
    pmf.ratings.RatingPredictor: "fit takes users, items and ratings",
    cf.comparisons.PreferenceModel: "fit takes comparisons of two items by a user, no matrix",
    separable.methods.AnchorMethod: "points are the columns, as in the papers, and anchors are chosen among them",
}


def is_expected(estimator):
    return {} if isinstance(estimator, pmf.JointPMFClassifier) else EXPECTED


with warnings.catch_warnings(action="ignore"):  # that none derives from scikit-learn's base class
    mark = parametrize_with_checks(CHECKED)
    checks = pytest.mark.parametrize(mark.args[0], list(mark.args[1]), **mark.kwargs)  # 1.6 warns as it lists


@pytest.mark.slow
@checks
def test_keeps_the_rules_of_scikit_learn(estimator, check):
    name = check.func.__name__
    if name in is_expected(estimator):
        errors = (AssertionError, cf.CofactorError, TypeError)  # the last by the check of version 1.6 for counts
        with pytest.raises(errors):  # leaves the table when it passes
            check(estimator)
    else:
        with warnings.catch_warnings(action="ignore"):
            check(estimator)


def everyone():
    yield from (cf_line[name] for cf_line in (getattr(cf, line).METHODS for line, _ in CASES) for name in cf_line)
    yield from [*pmf.RECOMMENDERS.values(), pmf.JointPMFClassifier, separable.Topics]


def test_every_method_is_checked_or_cannot_be_for_a_reason():
    applies = (pmf.JointPMFClassifier, separable.topics.TopicTransformer)
    for make in everyone():
        kind = getattr(make, "func", make)
        assert issubclass(kind, applies) + sum(issubclass(kind, base) for base in CANNOT) == 1, kind


@each("line, name", [case for case in CASES if not (case[0] == "separable" and case[1] == "LDA")])
def test_what_cannot_apply_refuses_samples_or_has_no_predict_of_them(line, name):
    """Samples by features with a class each: refused, or answered with something else than one row per sample."""
    X = np.random.default_rng(0).integers(0, 3, (30, 6)).astype(float)
    y = np.arange(30) % 2
    with warnings.catch_warnings(action="ignore"):
        try:
            found = made(line, name).fit(X, y)
            answer = getattr(found, "predict", getattr(found, "transform", None))(X)
        except (cf.CofactorError, TypeError):
            return
    assert len(answer) != len(X)


# ---- tools of scikit-learn ----


def again(found):
    """Yield a fitted method as pickle, joblib and deepcopy give it back."""
    yield pickle.loads(pickle.dumps(found))
    file = io.BytesIO()
    joblib.dump(found, file)
    yield joblib.load(io.BytesIO(file.getvalue()))
    yield copy.deepcopy(found)


@pytest.mark.slow
@each("line, name", CASES)
def test_a_fitted_method_survives_clone_pickle_joblib_and_copy(line, name):
    found = fitted(line, name)
    parameters, values = found.get_params(), findings(found)
    assert values
    for other in again(found):
        assert type(other) is type(found) and repr(other) == repr(found)
        stored = findings(other)
        assert stored.keys() == values.keys()
        for key, value in values.items():
            np.testing.assert_array_equal(stored[key], value)
    cloned = base.clone(found)
    assert repr(cloned) == repr(found) and not findings(cloned)
    assert list(cloned.set_params(**parameters).get_params()) == list(parameters)


@pytest.mark.slow
@each("line, name", CASES)
def test_tags_pipelines_and_their_pictures_take_every_method(line, name):
    found = fitted(line, name)
    tags = sklearn.utils.get_tags(found)
    assert (tags.transformer_tags is not None) == hasattr(found, "transform")
    assert not base.is_classifier(found) and not base.is_regressor(found)
    assert tags.non_deterministic is False
    pipeline = make_pipeline(FunctionTransformer(), found)
    assert type(found).__name__ in pipeline._repr_html_()
    if hasattr(found, "transform"):
        expected, data = found.transform(data_of(line, name)), data_of(line, name)
        np.testing.assert_array_equal(pipeline.transform(data), expected)
        with warnings.catch_warnings(action="ignore"):
            np.testing.assert_allclose(made(line, name).fit_transform(data), expected)


def test_before_fit_the_error_is_also_scikit_learn_s_and_can_be_pickled():
    with pytest.raises(exceptions.NotFittedError) as refusal:
        separable.SPA(3).transform(np.eye(3))
    assert isinstance(refusal.value, cf.NotFittedError)
    stored = pickle.loads(pickle.dumps(refusal.value))
    assert isinstance(stored, cf.NotFittedError) and str(stored) == str(refusal.value)


def samples():
    """Features and the class, which they tell well."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 240)
    return np.where(rng.random((240, 5)) < 0.6, y[:, None], rng.integers(0, 3, (240, 5))), y


def test_classifiers_take_pipelines_searches_and_cross_validation():
    X, y = samples()
    classifier = pmf.JointPMFClassifier(**QUICK)
    assert base.is_classifier(classifier)
    search = GridSearchCV(make_pipeline(FunctionTransformer(), classifier), {"jointpmfclassifier__rank": [1, 3]}, cv=3)
    search.fit(X, y)
    assert search.best_params_ == {"jointpmfclassifier__rank": 3} and search.score(X, y) > 0.7
    assert min(cross_val_score(search.best_estimator_, X, y, cv=3)) > 0.6
    for other in again(search.best_estimator_):
        assert np.array_equal(other.predict_proba(X), search.predict_proba(X))


@pytest.mark.slow
def test_searches_choose_the_rank_of_a_joint_pmf_by_its_likelihood():
    X, y = samples()
    codes = np.column_stack([X, y])
    search = GridSearchCV(pmf.CNMFEM(random_state=0), {"rank": [1, 3]}, cv=3, error_score="raise").fit(codes)
    best = search.best_estimator_
    assert search.best_params_ == {"rank": 3} and best.n_features_in_ == 6
    known = cf.CategoricalTable(codes)
    assert best.score(codes) == pytest.approx(best.model_.log_likelihood(known) / len(codes))


@pytest.mark.parametrize("method", ["NMF", "SPA", "MERIT"])
def test_weights_of_the_documents_fitted_are_those_of_the_model(method):
    counts = data_of("separable", "LDA")
    topics = separable.Topics(2, method=method)
    found = topics.fit_transform(counts)
    np.testing.assert_allclose(found, topics.model_.weights, atol=1e-9)
    np.testing.assert_allclose(topics.transform(counts[:3]), found[:3], atol=1e-9)


def test_topics_are_features_of_a_classifier_and_come_as_a_data_frame_where_asked_for():
    texts = ["apples and pears grow here", "pears and plums grow", "ships sail far", "fast ships and boats sail"] * 5
    y = [0, 0, 1, 1] * 5
    pipeline = make_pipeline(CountVectorizer(), separable.Topics(2), LogisticRegression()).fit(texts, y)
    assert pipeline.score(texts, y) == 1.0
    counts = pd.DataFrame(data_of("separable", "LDA"), columns=list("abcdefghijkl")).rename(index=str)
    topics = separable.Topics(2).set_output(transform="pandas")
    shown = base.clone(topics).fit_transform(counts)
    assert list(shown.columns) == ["topics0", "topics1"] and list(shown.index) == list(counts.index)
    array = topics.set_output(transform="default").fit(counts).transform(counts)
    np.testing.assert_array_equal(array, shown)
    try:
        set_config(transform_output="pandas")
        assert isinstance(separable.Topics(2).fit_transform(counts), pd.DataFrame)
    finally:
        set_config(transform_output="default")
    with pytest.raises(cf.CofactorError, match="feature names"):
        topics.transform(counts.rename(columns={"a": "z"}))
    with pytest.raises(cf.CofactorError, match="transform='xml': must be 'default' or 'pandas'"):
        topics.set_output(transform="xml")
    with pytest.raises(cf.CofactorError, match=r"use the transformer cofactor\.separable\.LDA"):
        separable.Topics(2, method="LDA").fit(counts)
