"""A joint distribution kept in a file: the same fills from the same rows; files that are none, or do not agree."""

import json

import numpy as np
import pandas as pd
import pytest

from cofactor import CofactorError
from cofactor.core.files import LARGE, load_arrays, save_arrays
from cofactor.pmf.estimators import RANDEM
from cofactor.pmf.frames import CategoricalFrame
from cofactor_app.joint.filling import fill
from cofactor_app.joint.forbidden import Pair, without_pairs
from cofactor_app.joint.kept import JointFit, _check_cells
from tests.each import each


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 300)
    frame = pd.DataFrame({"hat": np.where(kind ^ (rng.random(300) < 0.1), "red", "blue")})
    frame["age"] = (20 + 30 * kind + rng.gamma(3, 3, 300)).round(1).astype(str)
    frame["kids"] = (kind + rng.integers(0, 3, 300)).astype(str)
    frame["coat"] = np.where((kind == 1) & (rng.random(300) < 0.7), "new", "old")
    frame.loc[frame["hat"] == "red", "coat"] = frame["coat"].mask(frame["coat"] == "old", "torn")
    return CategoricalFrame.from_frame(frame.mask(rng.random(frame.shape) < 0.15).fillna("-7"), gaps=["-7"])


@pytest.fixture(scope="module")
def fit(data):
    method = RANDEM(2, random_state=0).fit(data.table)
    pairs = [Pair.parse("hat=red & coat=old", data)]
    return JointFit(without_pairs(method.model_, pairs), data.columns, ["-7"], [2], pairs)


@pytest.fixture
def path(fit, tmp_path):
    fit.save(tmp_path / "model.npz")
    return tmp_path / "model.npz"


def test_a_kept_fit_fills_as_it_did_before(data, fit, path):
    again = JointFit.load(path)
    expected = fill(fit.model, data, [2], fit.pairs)
    found = again.fill(again.coded(data.frame))
    assert found.value == expected.value and np.array_equal(found.probability, expected.probability)
    assert np.array_equal(again.model.stacked, fit.model.stacked) and again.gaps == ["-7"]
    few = again.coded(data.frame.iloc[7:12].fillna("-7").reset_index(drop=True))
    assert np.array_equal(few.table.codes, data.table.codes[7:12])
    assert again.fill(few).value == [v for v, s in zip(expected.value, expected.row, strict=True) if 7 <= s < 12]
    with pytest.raises(CofactorError, match=r"hat holds values never seen before: data rows 0 \('-7'\)"):
        again.coded(pd.DataFrame([["-7", "30", "1", "new"]], columns=data.names), gaps=[])
    with pytest.raises(CofactorError, match="forbid='hat=red & coat=old': stands in data rows 0 "):
        again.coded(pd.DataFrame([["red", "30", "1", "old"]], columns=data.names))


def changed(path, change):
    """Write the kept file anew with its description, prior and conditionals changed."""
    kept = load_arrays(path, ("about", "prior", "stacked"), "")
    parts = {"about": json.loads(kept["about"].tobytes()), "prior": kept["prior"], "stacked": kept["stacked"]}
    change(parts)
    save_arrays(path, **parts)


def set_column(**values):
    return lambda parts: parts["about"]["columns"][1].update(values)


def scaled(parts):
    parts["stacked"] = parts["stacked"] * 2


def likely(parts):
    parts["stacked"] = np.maximum(parts["stacked"], 0.01)
    sizes = [len(column["values"]) for column in parts["about"]["columns"]]
    blocks = np.split(parts["stacked"], np.cumsum(sizes)[:-1])
    parts["stacked"] = np.vstack([block / block.sum(axis=0) for block in blocks])


BROKEN = {
    "edges that are others": (set_column(edges=list(range(7))), "'age' has values outside their intervals"),
    "edges that fall": (set_column(edges=list(range(7, 0, -1))), "'age' has values outside their intervals"),
    "a name twice": (set_column(name="hat"), "its columns have the same name: hat"),
    "no name": (set_column(name=3), "its column 3 has no values"),
    "counts of other values": (set_column(often=[1]), "'age' does not say how often"),
    "values of other columns": (set_column(values=[[["30", 1]]], edges=[], often=[1]), "values, its model "),
    "no probabilities": (scaled, "columns must be nonnegative and sum to one"),
    "pairs of other columns": (lambda parts: parts["about"].update(pairs=[[0, 1, 9, 0]]), "are of other columns"),
    "pairs of other values": (lambda parts: parts["about"].update(pairs=[[0, 1, 1, 99]]), "are of other values"),
    "pairs that can be": (likely, "its model gives forbidden pairs a probability"),
    "text by its median": (lambda parts: parts["about"].update(alone=[0]), "are no columns of numbers"),
    "gaps that are no words": (lambda parts: parts["about"].update(gaps=[3]), "its words for gaps are no text"),
    "nothing about columns": (lambda parts: parts["about"].pop("columns"), "'columns'"),
}


@each("case", BROKEN)
def test_files_that_do_not_agree_with_themselves_are_refused(fit, tmp_path, case):
    change, said = BROKEN[case]
    fit.save(tmp_path / "model.npz")
    changed(tmp_path / "model.npz", change)
    with pytest.raises(CofactorError, match=f"is no kept joint distribution, as .*{said}"):
        JointFit.load(tmp_path / "model.npz")


def test_files_of_other_kinds_are_refused(tmp_path):
    (tmp_path / "a.npz").write_text("hat,coat")
    np.savez(tmp_path / "b.npz", about=np.array([{"a": 1}], dtype=object))
    for name in ("a.npz", "b.npz"):
        with pytest.raises(CofactorError, match="is no kept joint distribution"):
            JointFit.load(tmp_path / name)
    with pytest.raises(CofactorError, match="no such file"):
        JointFit.load(tmp_path / "c.npz")


def test_counts_are_refused_that_are_far_more_than_the_file_could_hold():
    """A large file may count many cells; a small one that does would fill the memory when it is read."""
    about = {"columns": [{"values": [[["red", LARGE], ["blue", 1]]]}]}
    _check_cells(about, size=LARGE)
    with pytest.raises(CofactorError, match=f"its columns count {LARGE + 1} cells"):
        _check_cells(about, size=1000)
