"""The protocol of all methods of the line: made by name, fitted, asked, drawn from, refused before `fit`."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from cofactor import CategoricalTable, CofactorError, NotFittedError, pmf, simulate
from tests.oracles.generators import recorded

TABLE = simulate.joint_table(simulate.joint_model(4, 3, 2, random_state=0), 300, observed=0.8, random_state=0)
each_method = pytest.mark.parametrize("name", pmf.METHODS)
each_recommender = pytest.mark.parametrize("name", pmf.RECOMMENDERS)


def made(name):
    return pmf.METHODS[name](random_state=0) if name == "Independence" else pmf.METHODS[name](rank=2, random_state=0)


@each_method
def test_answers_and_draws_as_its_model_does(name):
    fitted = recorded(made(name).fit, TABLE)[0]
    shares = fitted.predict_proba(TABLE, 2)
    assert shares == pytest.approx(fitted.model_.conditional(TABLE, 2)) and shares.shape == (300, 3)
    assert np.array_equal(fitted.predict(TABLE, 2), fitted.model_.predict_map(TABLE, 2))
    one, two, other = (fitted.sample(50, random_state=seed).codes for seed in (0, 0, 1))
    assert np.array_equal(one, two) and not np.array_equal(one, other) and one.shape == (50, 4) and one.min() == 0
    assert fitted.result_.reason and len(fitted.result_.objective) == fitted.result_.n_iter


@each_method
def test_clones_and_copies_are_alike(name):
    method = made(name)
    assert {"random_state", "verbose"} <= set(method.get_params())
    fitted = recorded(clone(method).fit, TABLE)[0]
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.model_.stacked, fitted.model_.stacked)
    assert "ource" in type(method).__doc__ and "ost" in type(method).__doc__


@each_method
def test_refuses_to_answer_before_it_is_fitted_and_about_other_variables(name):
    for ask in (lambda one: one.predict(TABLE, 0), lambda one: one.predict_proba(TABLE, 0), lambda one: one.sample(3)):
        with pytest.raises(NotFittedError, match="is not fitted"):
            ask(made(name))
    fitted = recorded(made(name).fit, TABLE)[0]
    with pytest.raises(CofactorError, match="the table has 2 variables, the model 4"):
        fitted.predict(CategoricalTable([[0, 1]]), 0)
    with pytest.raises(CofactorError, match="no variable 4"):
        fitted.predict(TABLE, 4)
    with pytest.raises(CofactorError, match="n_rows=-1"):
        fitted.sample(-1)


@each_recommender
def test_recommenders_are_found_by_name_and_refuse_likewise(name):
    user, item = (index.ravel() for index in np.indices((30, 4)))
    rating = 1.0 + (user + item) % 5
    films = pmf.RECOMMENDERS[name](random_state=0)
    with pytest.raises(NotFittedError, match="is not fitted"):
        films.predict([0], [0])
    if name == "JointPMF":
        films.estimator = pmf.RANDEM(rank=2, random_state=0)
    fitted = recorded(films.fit, user, item, rating)[0]
    assert ((fitted.predict(user, item) >= 1) & (fitted.predict(user, item) <= 5)).all()
    assert fitted.result_.reason


@pytest.mark.slow
def test_the_recommender_takes_cnmf_em_where_no_estimator_is_given():
    user, item = (index.ravel() for index in np.indices((30, 4)))
    known = user, item, 1.0 + (user % 3 + item) % 5
    default, given = (
        recorded(pmf.JointPMFRecommender(one, random_state=0).fit, *known)[0].predict(user, item)
        for one in (None, pmf.CNMFEM(random_state=0))
    )
    assert np.array_equal(default, given)


def test_what_is_shown_is_what_is_public():
    assert dir(pmf) == sorted(pmf.__all__) and {"METHODS", "RECOMMENDERS", "CLASSIFIERS"} <= set(dir(pmf))
