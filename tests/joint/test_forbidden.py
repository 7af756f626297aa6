"""Pairs of values that cannot stand in one row: nowhere in the model, in filled cells, in draws, among classes."""

import numpy as np
import pandas as pd
import pytest

from cofactor import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.pmf.base import random_model
from cofactor.pmf.estimators import RANDEM
from cofactor.pmf.frames import CategoricalFrame
from cofactor_app.joint.draws import draw
from cofactor_app.joint.filling import fill
from cofactor_app.joint.forbidden import Pair, any_pair, exact_posterior, refuse_rows, without_pairs
from cofactor_app.joint.target import LOGISTIC, classified
from tests.each import each

PAIRS = {
    "one": [Pair(0, 1, 2, 0)],
    "one, the other way round": [Pair(2, 0, 0, 1)],
    "a value with two others": [Pair(0, 1, 2, 0), Pair(0, 1, 2, 1), Pair(0, 1, 1, 1)],
    "two apart": [Pair(0, 0, 1, 0), Pair(2, 1, 3, 2)],
    "a chain": [Pair(0, 0, 1, 0), Pair(1, 1, 2, 1), Pair(2, 0, 3, 2)],
}


def conditioned(model, pairs):
    """The tensor of all cells, in which those of the pairs are zero, over its sum."""
    tensor = model.joint_tensor()
    for pair in pairs:
        place = [slice(None)] * tensor.ndim
        place[pair.m], place[pair.n] = pair.i, pair.j
        tensor[tuple(place)] = 0
    return tensor / tensor.sum()


@each("case", PAIRS)
def test_the_model_is_the_mixture_given_that_no_pair_occurs(case):
    model, pairs = random_model(np.array([2, 3, 2, 4]), 3, 0), PAIRS[case]
    found = without_pairs(model, pairs)
    np.testing.assert_allclose(found.joint_tensor(), conditioned(model, pairs), atol=1e-15)
    assert found.n_classes <= 3 * 2 ** len({(p.m, p.i) for p in pairs} if "two others" in case else pairs)
    assert not any_pair(found.sample(20_000, random_state=0)[0].codes, pairs).any()
    assert all(pair.probability(found) == 0 for pair in pairs) and without_pairs(model, []) is model


@each("case", PAIRS)
def test_what_is_asked_of_rows_with_gaps_is_that_of_the_tensor(case):
    pairs = PAIRS[case]
    found = without_pairs(random_model(np.array([2, 3, 2, 4]), 3, 1), pairs)
    codes = CategoricalTable(found.sample(40, random_state=0)[0].codes, found.sizes).codes
    codes[np.random.default_rng(0).random(codes.shape) < 0.5] = -1
    Q, tensor = exact_posterior(found, CategoricalTable(codes, found.sizes)), found.joint_tensor()
    for s, row in enumerate(codes):
        cell = tensor[tuple(slice(None) if code < 0 else slice(code, code + 1) for code in row)]
        for n in range(4):
            shares = cell.sum(axis=tuple(set(range(4)) - {n})) / cell.sum()
            if row[n] < 0:
                np.testing.assert_allclose(found.conditionals[n] @ Q[s], shares, atol=1e-12)


def test_pairs_that_leave_nothing_or_too_many_classes_are_refused():
    model = random_model(np.array([2, 2]), 2, 0)
    with pytest.raises(CofactorError, match="forbidden pairs: every row has one of them"):
        without_pairs(model, [Pair(0, i, 1, j) for i in range(2) for j in range(2)])
    wide = random_model(np.full(30, 3), 8, 0)
    with pytest.raises(CofactorError, match="hidden classes are left; name fewer pairs"):
        without_pairs(wide, [Pair(2 * n, 0, 2 * n + 1, 0) for n in range(15)])


def clinic(n_rows=600):
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], n_rows)
    frame = pd.DataFrame({"sex": sex, "pregnant": np.where((sex == "f") & (rng.random(n_rows) < 0.6), "yes", "no")})
    frame["ward"] = np.where((frame["pregnant"] == "yes") ^ (rng.random(n_rows) < 0.2), "a", "b")
    frame["tall"] = np.where((sex == "m") ^ (rng.random(n_rows) < 0.2), "yes", "no")
    return frame.mask(rng.random(frame.shape) < 0.3)


def test_filled_and_drawn_cells_and_classes_have_no_pair():
    data = CategoricalFrame.from_frame(clinic())
    pairs = [Pair.parse("pregnant=yes & sex=m", data)]
    method = RANDEM(1, random_state=0).fit(data.table)  # knows of no dependence at all
    plain = [data.filled(c.row, c.variable, c.value) for c in (fill(method.model_, data),)]
    plain += list(draw(method, data, 2, random_state=0))
    model = without_pairs(method.model_, pairs)
    cells = fill(model, data, pairs=pairs)
    found = [data.filled(cells.row, cells.variable, cells.value)]
    found += list(draw(method, data, 2, random_state=0, pairs=pairs))
    for table, other in zip(found, plain, strict=True):
        assert table.notna().all(axis=None) and not ((table["pregnant"] == "yes") & (table["sex"] == "m")).any()
        assert table is found[0] or ((other["pregnant"] == "yes") & (other["sex"] == "m")).sum() > 10
    rows, code, share = classified(data.table, 1, 2, LOGISTIC, pairs)
    male = data.table.codes[rows, 0] == 1
    assert (data.shown(1, 1), data.shown(0, 1)) == ("yes", "m")
    assert (code[male] == 0).all() and (share[male] == 1).all() and (code[~male] == 1).any()


def test_two_gaps_that_are_most_probable_as_a_pair_are_filled_one_after_the_other():
    frame = pd.DataFrame({"a": [*"xyz", None], "b": [*"uvw", None], "c": [*"sts", None]})
    data = CategoricalFrame.from_frame(frame)
    shares = [[0.52], [0.24], [0.24]]
    pairs = [Pair(0, 0, 1, 0)]
    left = without_pairs(LatentClassModel([1.0], [shares, shares, [[0.7], [0.3]]]), pairs)
    assert fill(left, data).value == ["x", "u", "s"]  # each by itself
    cells = fill(left, data, pairs=pairs)
    assert cells.value == ["x", "v", "s"] and cells.code.tolist() == [0, 1, 0]
    assert cells.probability == pytest.approx([0.52 * 0.48 / (1 - 0.52**2), 0.5, 0.7])


WRONG = {
    "in other words": ("pregnant men", "say which two values cannot stand together"),
    "no such column": ("pregnant=yes & age=3", "needs two of the columns sex, pregnant"),
    "one column": ("sex=f & sex=m", "needs two of the columns sex, pregnant"),
    "no such value": ("pregnant=maybe & sex=m", "pregnant has no value 'maybe'; it has no, yes"),
    "in the data": ("pregnant=yes & sex=f", r"stands in data rows \d+, .* \(0 is the first\); mend or empty"),
}


def test_gaps_to_which_pairs_leave_no_value_are_refused():
    frame = pd.DataFrame({"a": ["x", "y"] * 9, "b": ["u", "v"] * 9, "c": ["s", "t"] * 9})
    frame.loc[4] = [None, "u", "t"]
    data = CategoricalFrame.from_frame(frame)
    pairs = [Pair.parse(text, data) for text in ("a=x & c=t", "b=u & a=y")]
    with pytest.raises(CofactorError, match=r"leave no value for a gap of data rows 4 \(0 is the first\)"):
        refuse_rows(pairs, data)
    refuse_rows(pairs[:1], data)


@each("case", WRONG)
def test_pairs_that_are_none_or_stand_in_the_data_are_refused(case):
    text, said = WRONG[case]
    data = CategoricalFrame.from_frame(clinic())
    with pytest.raises(CofactorError, match=f"forbid='{text}': .*{said}"):
        refuse_rows([Pair.parse(text, data)], data)
