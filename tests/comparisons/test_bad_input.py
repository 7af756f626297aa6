"""What does not fit is refused by one clear error, wherever it comes in."""

import numpy as np
import pandas as pd
import pytest

from cofactor import CofactorError, Comparisons, simulate
from cofactor.comparisons import (
    BPR,
    METHODS,
    AltSVM,
    BradleyTerry,
    ComparisonMF,
    NuclearNormMLE,
    Objective,
    WinRate,
    bootstrap,
    comparisons_needed,
    diagnose,
    expected_error,
    feature_error,
    gradient_descent,
    lbfgs,
    mean_information,
    ndcg,
    pair_accuracy,
    random_start,
    spectral_start,
    utility_error,
)
from tests.comparisons.problems import drawn, few, truth
from tests.each import each

DATA = few(m=60)
N = DATA.n_users + DATA.n_items
NAN = float("nan")
EYE = np.eye(3)


@pytest.fixture(scope="module")
def fitted():
    return ComparisonMF(2, ridge=1.0, random_state=0).fit(DATA)


@each(
    "call, message",
    [
        (lambda: Comparisons([[0], [1, 2]], [0], [1], [1]), "user must be one list"),
        (
            lambda: Comparisons([0], [0], [1], [1], n_users=10**12),
            "n_users=1000000000000: give a whole number of at most",
        ),
        (lambda: Comparisons([0], [0], [1], [1], n_items=2.5), r"n_items=2\.5: give a whole number"),
        (lambda: Comparisons.from_frame(None), "expected a pandas DataFrame"),
        (lambda: Comparisons.from_frame(pd.DataFrame({"user": [1]})), "no column winner, loser"),
        (lambda: DATA.take([]), "no comparisons are selected"),
        (lambda: DATA.take([10**6]), "rows to take: give indices from 0 to 59"),
        (lambda: DATA.take([True, False]), "rows to take: give indices from 0 to 59"),
        (lambda: DATA.hold_out("x"), "share='x'"),
        (lambda: ComparisonMF(2.0).fit(DATA), r"rank=2\.0: with 6 users"),
        (lambda: ComparisonMF(None).fit(DATA), "rank=None"),
        (lambda: ComparisonMF([]).fit(DATA), r"rank=\(\)"),
        (lambda: ComparisonMF(2, link=[]).fit(DATA), r"link=\[\]"),
        (lambda: ComparisonMF(2, ridge=np.ones(2)).fit(DATA), "ridge=array"),
        (lambda: ComparisonMF(2, max_iter=1.5).fit(DATA), r"max_iter=1\.5"),
        (lambda: ComparisonMF(2, tol=NAN).fit(DATA), "tol=nan"),
        (lambda: ComparisonMF(0).fit(DATA), "rank=0: with 6 users and 5 items, choose 1 to 4"),
        (lambda: ComparisonMF([2, 9]).fit(DATA), "rank=9"),
        (lambda: ComparisonMF("many").fit(DATA), "rank=many"),
        (lambda: ComparisonMF(2, link="cauchy").fit(DATA), "link='cauchy': must be one of 'logistic', 'probit'"),
        (lambda: ComparisonMF(2, ridge=-1.0).fit(DATA), r"ridge=-1\.0: must be 'auto' or a nonnegative number"),
        (lambda: ComparisonMF(2, ridge="big").fit(DATA), "ridge='big'"),
        (lambda: ComparisonMF(2, bias_ridge=np.inf).fit(DATA), "bias_ridge=inf"),
        (lambda: ComparisonMF(2, folds=0).fit(DATA), "folds=0"),
        (lambda: diagnose(DATA, rank="x"), "rank='x'"),
        (lambda: diagnose([1]), "expected Comparisons or a DataFrame, got list"),
        (lambda: BPR(rank=0).fit(DATA), "rank=0"),
        (lambda: BPR(learning_rate=0.0).fit(DATA), r"learning_rate=0\.0"),
        (lambda: NuclearNormMLE(ridge=0.0).fit(DATA), r"ridge=0\.0"),
        (lambda: NuclearNormMLE().fit(Comparisons([0], [0], [1], [1], 1001, 1000)), "1001 x 1000 utilities.*use Comp"),
        (lambda: BPR(rank=1.5).fit(DATA), r"rank=1\.5"),
        (lambda: BPR(ridge=NAN).fit(DATA), "ridge=nan"),
        (lambda: BPR(learning_rate=1e6).fit(DATA), "features diverged with learning_rate=1e"),
        (lambda: AltSVM(ridge=np.inf).fit(DATA), "ridge=inf"),
        (lambda: AltSVM(max_iter=1.5).fit(DATA), r"max_iter=1\.5"),
        (lambda: NuclearNormMLE(ridge="x").fit(DATA), "ridge='x'"),
        (lambda: NuclearNormMLE(ridge=1.0, max_iter=0).fit(DATA), "max_iter=0"),
        (lambda: BradleyTerry(ridge=-1).fit(DATA), "ridge=-1"),
        (lambda: BradleyTerry(ridge="x").fit(DATA), "ridge='x'"),
        (lambda: WinRate(0).fit(DATA), "ridge=0"),
        (lambda: DATA.with_ids(items=["a", "b"]), "2 ids for 5 items: pass one id each"),
        (lambda: DATA.with_ids(items=list("abcac")), "several items have the same id: a, c; ids must be unique"),
        (lambda: bootstrap(ComparisonMF(1), [1, 2]), "expected Comparisons or a DataFrame, got list"),
        (lambda: expected_error(10, 20, 30, 2, 1e6), "every choice is certain"),
        (lambda: expected_error("x", 20, 30, 2, 0.5), "n_comparisons='x'"),
        (lambda: comparisons_needed(1e-300, 20, 30, 2, 0.5), "error=1e-300"),
        (lambda: comparisons_needed(0.0, 20, 30, 2, 1.0), "error=0"),
        (lambda: comparisons_needed(0.1, 20, 30, 2, 0.0), "spread=0"),
        (lambda: comparisons_needed(0.1, 20, 30, 0, 1.0), "rank=0"),
        (lambda: simulate.comparison_factors(rank=0), "rank"),
        (lambda: simulate.comparison_factors(scale=0.0), "scale"),
        (lambda: simulate.comparison_factors(kind="flat"), "kind"),
        (lambda: drawn(*truth(n_users=5, n_items=6, rank=1), 0), "n_comparisons=0"),
        (lambda: Objective(DATA, -1), "rank=-1"),
        (lambda: Objective(DATA, 2, ridge=-1), "ridge=-1"),
        (lambda: Objective(DATA, 2, n_threads=0), "n_threads=0"),
        (lambda: Objective(None, 2), "expected Comparisons"),
        (lambda: lbfgs(Objective(DATA, 2), np.ones(3)), "x has 3 numbers"),
        (lambda: gradient_descent(Objective(DATA, 2), np.ones(2 * N), learning_rate=-1), "learning_rate=-1"),
        (lambda: Objective(DATA, 2).join(np.zeros((6, 2)), np.zeros((4, 2))), "expected 22"),
        (lambda: spectral_start(DATA, "x"), "rank='x'"),
        (lambda: spectral_start(DATA, 5), "rank=5: choose 1 to 4"),
        (lambda: random_start(DATA, 2, 0.0), "scale=0"),
        (lambda: random_start(DATA, -2, 1.0), "rank=-2"),
        (lambda: pair_accuracy([1.0, 2.0], [1.0]), "2 margin, 1 outcomes"),
        (lambda: pair_accuracy([NAN], [1.0]), "margin contains NaN or infinity in rows 0"),
        (lambda: pair_accuracy([1.0], [1.0], [0]), "counts sum to zero"),
        (lambda: ndcg([0, 0], [1, 2], [1.0]), "2 users, 2 ratings, 1 scores"),
        (lambda: ndcg([0, 0], [-1, 2], [2.0, 1.0]), "ratings in rows 0 are negative"),
        (lambda: ndcg([0, 0], [1, 2], [2.0, 1.0], k=0), "k=0"),
        (lambda: utility_error(EYE[:2], EYE, EYE, EYE), "2 users and 3 items, but 3 and 3"),
        (lambda: utility_error(EYE, EYE[:, :1], EYE, EYE), "need equally many features"),
        (lambda: feature_error(EYE[:, :1], EYE[:, :1], EYE, EYE), "1 and 3 features"),
        (lambda: mean_information(-1.0), "spread=-1"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(CofactorError, match=message):
        call()


@each("name", METHODS)
def test_every_method_refuses_what_is_no_comparisons(name):
    with pytest.raises(CofactorError, match="expected Comparisons or a DataFrame, got list"):
        METHODS[name]().fit([1, 2])


@each(
    "ask, message",
    [
        (lambda mf: mf.recommend(0, 2.5), r"k=2\.5"),
        (lambda mf: mf.recommend(0, 0), "k=0"),
        (lambda mf: mf.utilities(np.zeros(3)), r"shape \(3,\), but this model has 2"),
        (lambda mf: mf.recommend(np.full(2, NAN)), "features contain NaN"),
        (lambda mf: mf.recommend(0, exclude=3), "exclude=3"),
        (lambda mf: mf.recommend({}), "users must be ids"),
        (lambda mf: mf.margin([NAN], [0], [1]), "unknown users: nan"),
        (lambda mf: mf.predict([0], [1]), "pass Comparisons, or three arrays"),
        (lambda mf: mf.predict(few(n2=7)), "unknown items: 5, 6"),
        (lambda mf: mf.fold_in(None), "expected Comparisons or a DataFrame, got NoneType"),
    ],
)
def test_questions_that_make_no_sense_are_refused(fitted, ask, message):
    with pytest.raises(CofactorError, match=message):
        ask(fitted)
