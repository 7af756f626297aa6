"""Tables 7 to 14: the data as the paper has it, how rows and ratings are split, and that choices see no test row."""

import numpy as np
import pytest

from cofactor.core.tables import CategoricalTable
from cofactor.data import load
from cofactor.data.published import published
from cofactor.pmf import METHODS
from evaluation import EXPERIMENTS
from evaluation.pmf import ratings, real
from evaluation.summary import summarise
from tests.evaluation.toy import as_trials

ROUNDS_END = pytest.mark.filterwarnings("ignore:(EM|coupled).*iteration limit")  # rounds of the released scripts
SETTINGS = [*real.RANKS, real.FIVE]


def test_table_7_agrees_with_the_paper_on_the_data_as_used():
    table7 = EXPERIMENTS["pmf-table7"]
    found = summarise(table7, as_trials(table7, (real.LISTED, 0), (real.USED, 0)))
    printed = found[found["published"].notna()]
    assert len(printed) == 16 and set(printed["verdict"]) == {"same"}
    listed = found[found["setting"] == real.LISTED].pivot_table(index="method", columns="metric", values="ours")
    assert listed.loc["nursery", ["variables", "classes"]].tolist() == [9, 5]
    assert listed.loc["mushroom", ["fewest values", "most values"]].tolist() == [1, 12]


def test_nursery_as_released_merges_two_classes_and_drops_a_feature():
    data = load("nursery", "table")
    codes, sizes = real.prepared("nursery")
    assert codes.shape == (12960, 8) and sizes.tolist() == [4, 3, 5, 4, 4, 3, 3, 3]
    high = np.isin(data.target, [data.classes.index("priority"), data.classes.index("spec_prior")])
    assert np.array_equal(codes[:, 0] == 3, high) and np.array_equal(codes[~high, 0], data.target[~high])
    assert np.array_equal(codes[:, -1], data.codes[:, data.columns.index("health")])
    every, alphabets = real.prepared(real.FIVE)
    assert every.shape == (12960, 9) and alphabets[0] == 5 and np.array_equal(every[:, 0], data.target)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_splits_are_50_20_30_and_leave_no_row_out(setting):
    split = real.draw_split(setting, np.random.default_rng(0))
    codes, _ = real.prepared(setting)
    parts = [split.fit.codes, split.valid.codes, split.test.codes]
    assert [len(part) / len(codes) for part in parts] == pytest.approx([0.5, 0.2, 0.3], abs=0.003)
    assert np.array_equal(np.sort(np.vstack(parts), axis=0), np.sort(codes, axis=0))
    again = real.draw_split(setting, np.random.default_rng(1))
    assert not np.array_equal(split.test.codes, again.test.codes)


@pytest.mark.slow
@ROUNDS_END
@pytest.mark.parametrize("method", [method for method in {**real.KIT, **real.PEERS} if method != "JointPMFClassifier"])
def test_no_method_sees_the_classes_of_test_rows(method):
    split = real.draw_split("car", np.random.default_rng(0))
    hidden = split.test.codes.copy()
    hidden[:, 0] = 0
    blind = real.Split(split.fit, split.valid, CategoricalTable(hidden, split.test.sizes), split.ranks, split.seed)
    run = real.AT_ONCE["car"][method]
    assert np.array_equal(run(split), run(blind))


def test_the_rank_is_the_best_on_validation_rows():
    split = real.draw_split("car", np.random.default_rng(3))
    make = METHODS["CNMF-SPA-EM"]
    models = [make(rank=rank, random_state=split.seed).fit(split.fit).model_ for rank in split.ranks]
    scores = [np.mean(model.predict_map(split.valid, 0) == split.valid.codes[:, 0]) for model in models]
    assert len(set(scores)) > 1
    found = real.by_validation(make, split)
    assert np.array_equal(found, models[int(np.argmax(scores))].predict_map(split.test, 0))


def made_up_ratings(seed=0):
    rng = np.random.default_rng(seed)
    user, item = np.nonzero(rng.random((40, 30)) < 0.8)
    return ratings.Known(user, item, rng.integers(1, 6, len(user)).astype(float))


def test_hidden_ratings_are_of_users_of_whom_something_is_known():
    known = made_up_ratings()
    case = ratings.hide(known, np.random.default_rng(0))
    assert len(case.fit.rating) == round(0.5 * len(known.rating))
    assert 0.15 < len(case.valid.rating) / len(known.rating) <= 0.2 + 1e-2
    assert 0.25 < len(case.test.rating) / len(known.rating) <= 0.3 + 1e-2
    pairs = [
        set(zip(part.user.tolist(), part.item.tolist(), strict=True)) for part in (case.fit, case.valid, case.test)
    ]
    assert not (pairs[0] & pairs[1] or pairs[0] & pairs[2] or pairs[1] & pairs[2])
    assert set(case.test.user) | set(case.valid.user) <= set(case.fit.user)


@pytest.mark.slow
@ROUNDS_END
@pytest.mark.parametrize("make", [ratings.EM_OF_RELEASED, ratings.CTD_OF_RELEASED])
def test_the_released_choice_takes_the_worst_rank(make):
    case = ratings.hide(made_up_ratings(), np.random.default_rng(0))
    found = list(ratings.fitted([make], (2, 5), True, case))
    errors = [one.errors(*case.valid.arrays)[0] for one in found]
    worst = ratings.worst_rank(make, (2, 5), case)
    assert worst.errors(*case.valid.arrays)[0] == pytest.approx(max(errors)) and errors[0] != errors[1]


@pytest.mark.parametrize("number", range(8, 15))
def test_methods_of_the_published_tables_are_run(number):
    experiment = EXPERIMENTS[f"pmf-table{number}"]
    setting = next(iter(experiment.settings))
    run = ratings.AT_ONCE | ratings.LATER if setting in ratings.LISTS else real.AT_ONCE[setting] | real.LATER[setting]
    assert set(published(experiment.published)["method"]) <= set(run)
