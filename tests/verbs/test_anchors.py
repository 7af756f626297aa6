"""The verb `anchors` and its command: the user's points, what is left out, the trivial answer, what is written."""

import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import io as scipy_io
from scipy import sparse

import cofactor as cf
from cofactor import separable, simulate
from cofactor.core import checks
from cofactor.core.errors import CofactorError, DataWarning
from cofactor.separable.least_squares import simplex_least_squares
from cofactor.separable.projected import angles, angular_means, leading_directions
from cofactor_app.cli import main
from cofactor_app.plots.results import draw_maps, draw_spectra
from tests.oracles.generators import laws, seeds


@pytest.fixture(scope="module")
def X():
    return np.maximum(simulate.dirichlet_mixtures(30, 120, 5, snr_db=40, random_state=0).X, 0)


@pytest.fixture
def files(tmp_path, monkeypatch, X):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=[f"pixel {n}" for n in range(120)], index=[f"band {m}" for m in range(30)])
    frame.to_csv("a.csv", index_label="band")
    frame.T.to_csv("turned.csv", index_label="pixel")
    frame.iloc[:, :70].to_csv("left.csv", index_label="band")
    frame.iloc[:, 70:].to_csv("right.csv", index_label="band")
    np.save("image.npy", X.T.reshape(12, 10, 30))
    return frame


def quiet(source, *more, **options):
    with warnings.catch_warnings(action="ignore", category=DataWarning):
        return cf.anchors(source, *more, **options)


# ---- the method ----


@laws
@given(seed=seeds)
def test_without_noise_spa_in_the_leading_directions_is_spa(seed):
    drawn = simulate.dirichlet_mixtures(20, 80, 4, None, random_state=seed)
    found = separable.ProjectedSPA(4).fit(drawn.X)
    assert sorted(found.anchors_) == sorted(drawn.anchors)
    assert np.allclose(found.W_, drawn.X[:, found.anchors_])
    U, wide = leading_directions(drawn.X, 4), leading_directions(drawn.X.T.copy(), 4)
    for directions, matrix in ((U, drawn.X), (wide, drawn.X.T)):  # from either Gram matrix
        assert np.allclose(directions.T @ directions, np.eye(4))
        assert np.allclose(directions @ (directions.T @ matrix), matrix)


def test_projected_spectra_are_nearer_to_the_pure_ones_than_the_points_are():
    error = {"SPA": [], "ProjectedSPA": []}
    for seed in range(10):
        drawn = simulate.dirichlet_mixtures(60, 600, 5, snr_db=25, random_state=seed)
        for name, found in error.items():
            W = separable.METHODS[name](5).fit(drawn.X).W_
            found.append(max(min(angles(W[:, [k]], drawn.W[:, [j]])[0] for k in range(5)) for j in range(5)))
    assert np.mean(error["ProjectedSPA"]) < 0.6 * np.mean(error["SPA"])


def test_k_means_by_angle_finds_directions_whatever_the_lengths():
    rng = np.random.default_rng(0)
    own = rng.integers(3, size=90)
    X = np.eye(3)[:, own] + 0.05 * rng.random((3, 90))
    C = angular_means(X * rng.uniform(0.1, 9, 90), 3)
    assert np.allclose(np.linalg.norm(C, axis=0), 1) and sorted(C.argmax(axis=0)) == [0, 1, 2]
    order = C.argmax(axis=0)
    assert (order[(C.T @ X).argmax(axis=0)] == own).all()


def test_k_means_is_said_to_explain_points_better_where_it_does():
    drawn = cf.load("mixture")
    assert not [note for note in quiet(drawn.X, 4).notes if "k-means" in note]
    rng = np.random.default_rng(0)
    own = rng.integers(4, size=600)
    X = drawn.W[:, own] * np.exp(0.3 * rng.standard_normal(600)) + 0.02 * rng.random((60, 600))
    X[:, ::20] = 3 * rng.random((60, 30))  # more odd points than are left out
    found = quiet(X, 4)
    assert found.held_out.centres < found.held_out.mixtures
    assert any(note.startswith("k-means by angle explains held-out points better") for note in found.warnings)


# ---- the user's points ----


def test_every_form_of_points_gives_the_same(files, X):
    expected = quiet("a.csv")
    assert expected.anchors["point"].tolist() == [f"pixel {n}" for n in expected.used[expected.method.anchors_]]
    polars_like = type("Frame", (), {"to_pandas": lambda self: files})()
    for source, options in (("turned.csv", {"rows": True}), (["left.csv", "right.csv"], {}), (files, {}), (X, {}),
                            (sparse.csr_array(X), {}), (polars_like, {}), (np.load("image.npy"), {})):  # fmt: skip
        found = quiet(source, **options)
        assert np.allclose(found.weights.filter(like="anchor_"), expected.weights.filter(like="anchor_")), source
        assert np.allclose(found.spectra, expected.spectra)
    assert quiet(["left.csv", "right.csv"]).weights["point"].tolist()[69:71] == ["left:pixel 69", "right:pixel 70"]
    assert expected.weights["point"].tolist() == list(files.columns)
    assert quiet("image.npy").weights[["row", "column"]].to_numpy()[[0, 11]].tolist() == [[0, 0], [1, 1]]


def test_points_that_are_no_data_are_left_out_by_name_and_have_rows_without_weights(X):
    for value, options, why in (
        (np.nan, {}, "NaN or infinite in some band"),
        (0.0, {}, "zero in all bands"),
        (-9999.0, {}, "the same value in all bands, outside the range of other points"),
        (0.5, {"no_data": 0.5}, "0.5 in all bands"),
    ):
        holed = X.copy()
        holed[:, [7, 90]] = value
        with pytest.warns(
            DataWarning, match=f"2 of 120 points are left out, without weights, as not data .{why}.: 7, 90"
        ):
            found = cf.anchors(holed, 5, **options)
        assert not found.warnings and len(found.weights) == 120
        empty = found.weights.filter(like="anchor_").isna()
        assert empty.any(axis=1).to_numpy().nonzero()[0].tolist() == [7, 90] and empty.iloc[7].all()
        assert not {7, 90} & set(found.used)
    one = X.copy()
    one[3, 7] = np.nan
    assert 7 not in quiet(one, 5).used
    one[:, 7] = 0.5
    assert quiet(one, 5).weights.iloc[7].notna().all()  # flat, but within the others' range
    many = np.where(np.arange(120) < 60, np.nan, X)
    note = quiet(many, 5).notes[0]
    assert "60 of 120" in note and note.count(", ") < 15


def test_an_outlier_is_named_not_chosen_and_has_weights(X):
    odd = np.insert(X, 7, np.random.default_rng(0).random(30) * X.max(), axis=1)
    clean = quiet(X, 5)
    for asked in (None, 5):
        with pytest.warns(
            DataWarning,
            match=r"excluded from the choice of anchors, because each would be an anchor only for itself .*: 7$",
        ):
            found = cf.anchors(odd, asked)
        shifted = clean.used[clean.method.anchors_]
        assert sorted(found.used[found.method.anchors_]) == sorted(shifted + (shifted >= 7))
        assert found.weights.notna().all(axis=None)


def test_scaling_divides_by_sums_and_refuses_what_has_none(X):
    uneven = X * np.random.default_rng(0).uniform(1, 9, 120)
    uneven[3] -= np.quantile(uneven[3], 0.3)  # a dark band: some entries below zero
    found = quiet(uneven, 5, scale=True)
    assert np.allclose(found.spectra, quiet(uneven / uneven.sum(axis=0), 5).spectra)
    assert not any(note.startswith("scale") for note in quiet(X, 5).warnings)
    assert any(
        note.startswith("scale: column sums differ by") for note in quiet(9 ** (np.arange(120) % 2) * X, 5).warnings
    )
    uneven[:, [2, 5]] *= -1
    with pytest.raises(CofactorError, match=r"points whose negative entries outweigh \(2, 5\)"):
        quiet(uneven, 5, scale=True)


def test_an_unclear_number_is_noted_unless_it_was_asked_for():
    cloud, said = np.random.default_rng(0).random((30, 9)), "the number of anchors is uncertain (margin 0.11"
    assert any(said in note for note in quiet(cloud).notes)
    assert not any(said in note for note in quiet(cloud, 5).notes)


def test_weights_and_spectra_explain_the_points(X):
    found = quiet(X)
    H = found.weights.filter(like="anchor_").to_numpy().T
    assert found.chosen == "number chosen by the residual" and len(found.anchors) == 5
    assert np.allclose(H.sum(axis=0), 1) and (H >= 0).all()
    left = np.linalg.norm(X - found.spectra.to_numpy() @ H) / np.linalg.norm(X)
    assert found.left == pytest.approx(left) and left < 0.02
    assert np.allclose(H, simplex_least_squares(found.spectra.to_numpy(), X))
    assert found.anchors["leads"].sum() == 120 and np.allclose(found.anchors["mean_weight"], H.mean(axis=1))
    assert np.allclose(found.anchors.iloc[:, 5:], found.spectra.T)  # behind score: the spectrum
    for name in ("SPA", "MERIT", "FastAnchor"):
        other = quiet(X, 5, method=name)
        assert np.allclose(other.spectra, X[:, other.method.anchors_]), name


def test_the_memory_asked_for_is_that_of_the_method_and_of_what_the_verb_holds(X, monkeypatch):
    monkeypatch.setattr(checks, "available_bytes", lambda: 1e3)
    needed = separable.predicted_bytes("SPA", 30, 120, 5) + 8 * 120 * (3 * 30 + 2 * 5)
    with pytest.raises(CofactorError, match=rf"\({needed:.0f} bytes\)"):
        cf.anchors(X, 5, method="SPA")


def test_what_cannot_be_used_is_refused_in_words(X, monkeypatch):
    for source, options, said in (
        (np.ones((3, 4)), {}, "all 4 points are equal"),
        (np.zeros((3, 4)), {}, "no points are left: all are zero, or NaN"),
        (np.full((3, 4), np.nan), {}, "no points are left"),
        (X, {"n_anchors": 121}, "cannot find n_anchors=121 among 120 points: choose 1 to 120"),
        (X, {"method": "VCA"}, "no method 'VCA': choose one of ProjectedSPA, SPA, MERIT, FastAnchor"),
        (X * 1e300, {}, "the largest entry, .*299, is too extreme for floating-point arithmetic: multiply"),
        (X * 1e-300, {}, "the largest entry, .*-301, is too extreme for floating-point arithmetic: multiply"),
        (X.T.reshape(12, 10, 30), {"rows": True}, "whose pixels are the points: leave out rows"),
        (X, {"n_anchors": "3"}, "n_anchors='3': give a whole number of at least 1"),
        (X, {"no_data": "x"}, "no_data='x': give a number, or None"),
        (
            pd.DataFrame(X).set_axis([*range(119), 7], axis=1),
            {},
            "more than one column is called 7: rename all but one",
        ),
        (pd.DataFrame(X).astype({3: complex}), {}, "the table: columns 3 hold complex numbers: pass their absolute"),
        (np.array([["a"]]), {}, "expected a path, a DataFrame, a matrix of numbers"),
        ("nowhere.csv", {}, "no such file: nowhere.csv"),
    ):
        with pytest.raises(CofactorError, match=said):
            quiet(source, **options)
    monkeypatch.setattr(checks, "available_bytes", lambda: 1e3)
    with pytest.raises(CofactorError, match="SPA on 120 points"):
        quiet(X, 3, method="SPA")


@pytest.mark.slow
def test_predicted_memory_is_near_the_peak(monkeypatch):
    X = simulate.dirichlet_mixtures(50, 8000, 5, snr_db=40, random_state=0).X
    quiet(X[:, :50], 5)  # imports are over
    tracemalloc.start()
    quiet(X, 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    monkeypatch.setattr(checks, "available_bytes", lambda: 1e3)
    with pytest.raises(CofactorError, match="bytes") as refused:
        quiet(X, 5)
    predicted = float(str(refused.value).partition("(")[2].split()[0])
    assert 0.8 <= predicted / peak < 1.6


# ---- the command ----


def test_the_command_writes_what_the_verb_returns(files, capsys):
    options = ["--weights", "w.csv", "-o", "o.csv", "--report", "r.html"]
    assert main(["anchors", "image.npy", *options]) == 0
    said, found = capsys.readouterr(), quiet("image.npy")
    pd.testing.assert_frame_equal(pd.read_csv("o.csv"), found.anchors.round(6), check_dtype=False)
    pd.testing.assert_frame_equal(pd.read_csv("w.csv"), found.weights.round(6))
    assert said.out.splitlines()[: len(found.screen())] == found.screen("-o o.csv")
    assert said.out.splitlines()[-3:] == ["wrote o.csv (5 anchors)", "wrote w.csv (120 points)", "wrote r.html"]
    assert said.err.splitlines() == [f"{'warning' if n in found.warnings else 'note'}: {n}" for n in found.notes]
    page = Path("r.html").read_text(encoding="utf8")
    assert page.count("<img") == 3 and "Maps</h2>" in page and "<th>row, from 0</th>" in page
    assert main(["anchors", "image.npy", "--weights", "w.npz"]) == 0
    with np.load("w.npz") as arrays:
        H = found.weights.filter(like="anchor_").to_numpy()
        assert np.allclose(arrays["weights"], H) and np.allclose(arrays["maps"], H.T.reshape(5, 12, 10))
        assert np.allclose(arrays["anchors"], found.spectra) and arrays["rows"].tolist() == found.points.bands
        assert arrays["names"].tolist() == found.points.names and arrays["columns"].tolist() == list(found.spectra)


@pytest.mark.slow
def test_the_bundled_mixture_is_unmixed_and_its_spectra_are_drawn(tmp_path, capsys):
    assert main(["anchors", "mixture", "--report", str(tmp_path / "r.html")]) == 0
    said = capsys.readouterr()
    assert "4 anchors (number chosen by the residual)" in said.out and said.err == ""
    found, truth = cf.anchors("mixture"), cf.load("mixture")
    assert found.wavelengths.tolist() == truth.wavelengths.tolist()
    for k in range(4):
        assert min(angles(found.spectra.to_numpy(), truth.W[:, [k] * 4])) < 0.6  # degrees
    page = (tmp_path / "r.html").read_text(encoding="utf8")
    assert page.count("<img") == 3 and "Spectra</h2>" in page


def test_notes_are_an_error_with_strict_and_nothing_is_written(files, X, capsys):
    np.save("holed.npy", np.where(np.arange(120) == 7, np.nan, X))
    assert main(["anchors", "holed.npy", "--strict", "-o", "o.csv"]) == 1 and not Path("o.csv").exists()
    assert "--strict: 1 of 120 points are left out" in capsys.readouterr().err
    assert main(["anchors", "holed.npy", "--quiet", "-o", "o.csv"]) == 0 and Path("o.csv").exists()
    assert "".join(capsys.readouterr()) == ""


OWN = """
import numpy as np

def longest(X, K, turned=False):
    return np.argsort(-np.linalg.norm(X, axis=0))[:K]

def same(X, K):
    return np.zeros(K, dtype=int)
"""


@pytest.mark.slow
def test_a_method_of_one_s_own_finds_anchors(files, X, capsys):
    Path("my.py").write_text(OWN)
    assert main(["anchors", "a.csv", "--method", "my.py:longest(turned=True)", "--anchors", "3", "-o", "o.csv"]) == 0
    longest = np.argsort(-np.linalg.norm(X, axis=0))[:3]
    assert set(pd.read_csv("o.csv")["point"]) == {f"pixel {n}" for n in longest}
    for method, told in {
        "my.py:same": "different columns",
        "my.py:none": "has no none",
        "no.py:f": "file no.py does not exist",
    }.items():
        assert main(["anchors", "a.csv", "--method", method, "--anchors", "3", "-o", "no.csv"]) == 1
        assert told in capsys.readouterr().err and not Path("no.csv").exists()


def test_the_jasper_ridge_file_with_its_struct_is_read(tmp_path, X):
    scipy_io.savemat(tmp_path / "jasper.mat", {"Y": X, "nRow": 12, "info": {"sensor": "AVIRIS", "bands": np.arange(3)}})
    assert len(quiet(str(tmp_path / "jasper.mat:Y")).weights) == 120


# ---- pictures ----


@pytest.mark.slow
def test_maps_of_anchors_share_one_scale_and_are_named():
    maps = np.random.default_rng(0).dirichlet(np.ones(6), (8, 9)).transpose(2, 0, 1) * 0.9
    figure = draw_maps([f"pixel {k}" for k in range(6)], maps)
    shown = [ax for ax in figure.axes if ax.images and ax.get_label() != "<colorbar>"]
    assert [ax.get_title() for ax in shown] == [f"pixel {k}" for k in range(6)]
    for ax, one in zip(shown, maps, strict=True):
        assert np.array_equal(ax.images[0].get_array(), one) and ax.images[0].get_clim() == (0, 1)
        assert ax.images[0].get_cmap().name == "viridis"
    most = maps.mean(axis=(1, 2)).argmax()
    assert figure.get_suptitle().startswith(f"pixel {most} has the largest mean weight")


def test_spectra_are_drawn_over_the_first_column():
    bands, spectra = np.linspace(400, 2500, 30), np.random.default_rng(0).random((30, 12))
    ax = draw_spectra([f"p{k}" for k in range(12)], bands, spectra)
    assert [line.get_label() for line in ax.lines] == [f"p{k}" for k in range(10)]
    assert all(
        np.array_equal(line.get_xydata(), np.column_stack([bands, spectra[:, k]])) for k, line in enumerate(ax.lines)
    )
