"""`cofactor anchors` and `cofactor topics`: what is found, written and refused."""

import codecs
import io
import json
import re
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import io as scipy_io
from scipy import sparse

from cofactor import separable, simulate
from cofactor.core import memory
from cofactor.core.errors import CofactorError
from cofactor.reading.matrices import read_matrix
from cofactor_app.cli import main
from cofactor_app.plots.separable import draw_maps

TWO_TOPICS = [("cat", "dog", "pet"), ("sun", "rain", "sky")]


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Mixtures of five anchors, in all the forms of files."""
    monkeypatch.chdir(tmp_path)
    mixtures = simulate.dirichlet_mixtures(30, 120, 5, snr_db=40, random_state=0)
    X = np.maximum(mixtures.X, 0)
    frame = pd.DataFrame(X, columns=[f"pixel {n}" for n in range(120)], index=[f"band {m}" for m in range(30)])
    frame.to_csv("a.csv", index_label="band")
    frame.T.to_csv("turned.csv", index_label="pixel")
    np.savez("a.npz", X=X)
    sparse.save_npz("sparse.npz", sparse.csr_matrix(X))
    scipy_io.mmwrite("a.mtx", sparse.coo_matrix(X))
    np.save("a.npy", X)
    scipy_io.savemat("a.mat", {"Y": X, "nRow": 12, "wavelengths": np.arange(30)})
    numbers = frame.set_axis(400 + 10.5 * np.arange(30) ** 1.1, axis="index")
    numbers.to_csv("waves.csv", index_label="Wavelength (nm)")
    frame.reset_index(drop=True).to_csv("counted.csv")
    Path("bom.mtx").write_bytes(codecs.BOM_UTF8 + Path("a.mtx").read_bytes())
    return mixtures, X


@pytest.mark.parametrize(
    "given",
    [["a.csv"], ["turned.csv", "--rows"], ["a.npz"], ["sparse.npz"], ["a.mtx"], ["bom.mtx"], ["a.npy"], ["a.mat"]],
)
def test_anchors_are_those_of_the_library_from_every_form(drawn, given, capsys):
    assert main(["anchors", *given, "--method", "SPA", "-o", "anchors.csv", "--weights", "w.npz"]) == 0
    table = pd.read_csv("anchors.csv")
    found = separable.METHODS["SPA"](5).fit(drawn[1])
    assert table["column"].tolist() == found.anchors_.tolist()
    assert str(table["name"][0]).endswith(str(found.anchors_[0])) and table["leads"].sum() == 120
    with np.load("w.npz", allow_pickle=False) as file:
        assert np.allclose(file["weights"], found.transform(drawn[1]).T, atol=1e-6)
        assert file["columns"].tolist() == table["name"].astype(str).tolist() and len(file["names"]) == 120
    said = capsys.readouterr().out
    assert "5 anchors: there the residual drops most" in said and "GB predicted" in said


NUMBERS = [f"0.{n},{n % 3}.5,{n % 4},{n % 5}" for n in (7, 1, 4, 9, 11, 2)]  # rows under the header a,b,c,d


@pytest.mark.parametrize(
    ("header", "rows", "shape", "names", "notes"),
    [
        ("id,a,b,c,d", [f"{n},{row}" for n, row in zip((3, 5, 1, 0, 2, 4), NUMBERS, strict=True)], (6, 4), "351024", 1),
        (
            "index,a,b,c,d",
            [f"{n},{row}" for n, row in zip((0, 1, 2, 0, 1, 2), NUMBERS, strict=True)],
            (6, 4),
            "012012",
            1,
        ),
        (",a,b,c,d", [f"{n},{row}" for n, row in zip((0, 1, 2, 0, 1, 2), NUMBERS, strict=True)], (6, 4), "012012", 1),
        (",id,a,b,c,d", [f"{n},{9 - n},{row}" for n, row in enumerate(NUMBERS)], (6, 4), "987654", 2),
        ("id,name,a,b,c,d", [f"{n},{'xyzuvw'[n]},{row}" for n, row in enumerate(NUMBERS)], (6, 4), "xyzuvw", 1),
        ("name,a,b,c,d", [f"{n}{'b' * (n == 2)},{row}" for n, row in enumerate(NUMBERS)], (6, 4), "012b345", 0),
        ("a,b,c,d,id", [f"{row},{n}" for n, row in enumerate(NUMBERS)], (6, 5), None, 1),
        ("0.3,0.1,0.2,0.4", NUMBERS, (7, 4), None, 0),
        ("400,410,420,430", NUMBERS, (6, 4), None, 0),
    ],
)
def test_columns_that_count_or_name_rows_are_no_data_and_said(tmp_path, header, rows, shape, names, notes, recwarn):
    (tmp_path / "x.csv").write_text("\n".join([header, *rows]) + "\n")
    matrix, found, _ = read_matrix(tmp_path / "x.csv")
    assert matrix.shape == shape and (found is None if names is None else "".join(found) == names)
    said = [str(one.message) for one in recwarn]
    assert len(said) == notes and all(re.search("out if it counts|no point|if it is a row", one) for one in said)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([*NUMBERS, "1+2j,1,1,1"], "cells that are no numbers in rows 8 .*, columns a: fill"),
        ([*NUMBERS, "x,y,1,1"], "cells that are no numbers in rows 8 .*, columns a, b: fill"),
        ([*NUMBERS, ",1,1,1"], "gaps in rows 8 .*, columns a: fill"),
        ([*NUMBERS, "NA,1,1,1"], "gaps in rows 8 .*, columns a: fill"),
        ([f"true,{row.partition(',')[2]}" for row in NUMBERS], "columns a hold text"),
        ([*NUMBERS[:2], *["50%,20%,1%,3%"] * 4], "are no numbers in rows 4, 5, 6, 7"),
    ],
)
def test_some_cells_of_a_first_column_that_are_no_numbers_do_not_make_it_names(tmp_path, rows, said):
    (tmp_path / "x.csv").write_text("\n".join(["a,b,c,d", *rows]) + "\n")
    with pytest.raises(CofactorError, match=said):
        read_matrix(tmp_path / "x.csv")


def test_counts_of_two_files_and_words_that_look_alike_are_seen(tmp_path, capsys):
    rows = [f"d{n},{word},{1 + (n + len(word)) % 3}" for n in range(12) for word in ("sun", "rain", "cats", "mouse")]
    table, more, out = (
        tmp_path / "t.csv",
        ["--anchors", "2", "--min-documents", "1"],
        ["-o", str(tmp_path / "o.csv"), "--force"],
    )
    for extra, said in (
        (["Document,Word,Count", "d1,sun,1"], "1 rows repeat the header and are left out"),
        (["doc_id,word,count", "d1,sun,1"], "1 rows repeat the header and are left out"),
        (["D1,Sun,1"], "words that look alike count as different: 'Sun' = 'sun'; write them in one way"),
        (["D1,Sun,1"], "documents that look alike count as different: 'D1' = 'd1'; write them in one way"),
        (["word,document,count", "sun,d1,1"], "rows 50 (the first line is row 1) name the columns in another order"),
    ):
        table.write_text("\n".join(["document,word,count", *rows, *extra]) + "\n")
        main(["topics", str(table), *more, *out])
        assert said in "".join(capsys.readouterr()), extra


def test_decimal_commas_in_matrix_market_are_refused_with_their_line(tmp_path):
    (tmp_path / "x.mtx").write_text("%%MatrixMarket matrix coordinate real general\n% a, b\n2 2 2\n1 1 1\n2 2 2,5\n")
    with pytest.raises(
        CofactorError, match=r"x\.mtx: a comma in line 5, behind which SciPy reads nothing: write decimals"
    ):
        read_matrix(tmp_path / "x.mtx")


def test_whole_numbers_in_unequal_steps_in_a_first_column_are_never_a_point_in_silence(tmp_path, capsys):
    out, kept = "counts or names the rows, and is no point", "never repeats, and is used as numbers: leave it out"
    for name in ("", "id", "Nr", "sample", "Time (s)", "a", "counts"):
        told = kept if name in ("a", "counts") else out
        for numbers in ([1, 2, 4, 9, 11], [30, 20, 12, 5, 1]):
            rows = "".join(f"{n},{n % 3},{n % 4},{n % 5}\n" for n in numbers)
            (tmp_path / "x.csv").write_text(f"{name},b,c,d\n{rows}")
            for options in ([], ["--rows"]):
                main(["anchors", str(tmp_path / "x.csv"), *options])
                said = capsys.readouterr()
                assert told in said.out + said.err, (name, numbers, options)
    (tmp_path / "x.csv").write_text("a,b,c\n" + "".join(f"{n},{n % 3},{n % 4}\n" for n in (1, 2, 4, 4, 9, 11)))
    main(["anchors", str(tmp_path / "x.csv")])
    assert "first column" not in "".join(capsys.readouterr())


def test_a_first_column_of_wavelengths_or_row_numbers_is_no_point(drawn, capsys):
    for name, told in {"waves.csv": "Wavelength (nm), 400.0 to", "counted.csv": "without a name, 0 to 29"}.items():
        assert main(["anchors", name, "--method", "SPA"]) == 0
        said = capsys.readouterr()
        assert "30 rows, 120 columns to choose from" in said.out
        assert f"its first column ({told}" in said.err
    pd.DataFrame({"a": [3.0, 1, 2], "b": [1.0, 2, 4], "c": [1.0, 1, 1]}).to_csv("points.csv", index=False)
    assert main(["anchors", "points.csv", "--anchors", "2", "--method", "SPA"]) == 0
    assert "3 rows, 3 columns to choose from" in capsys.readouterr().out


def test_the_pixels_of_an_image_are_points_and_weights_are_maps(drawn, capsys):
    image = drawn[1].T.reshape(12, 10, 30)
    np.save("image.npy", image)
    np.savez("image.npz", image)
    scipy_io.savemat("image.mat", {"Y": image, "bands": np.arange(30)})
    found = separable.METHODS["SPA"](5).fit(drawn[1])
    H = found.transform(drawn[1])
    for name in ("image.npy", "image.npz", "image.mat"):
        files = ["-o", "o.csv", "--weights", "w.npz", "--report", "r.html", "--force"]
        assert main(["anchors", name, "--method", "SPA", *files]) == 0
        assert "an image of 12 x 10 pixels in 30 bands: every pixel is a column" in capsys.readouterr().out
        table = pd.read_csv("o.csv")
        assert (10 * table["row"] + table["column"]).tolist() == found.anchors_.tolist()
        assert table["name"].tolist() == [f"{n // 10},{n % 10}" for n in found.anchors_.tolist()]
        with np.load("w.npz") as file:
            assert np.allclose(file["maps"], H.reshape(5, 12, 10), atol=1e-6)
            assert np.allclose(file["anchors"], found.W_) and file["rows"][3] == "row 3"
        page = Path("r.html").read_text(encoding="utf8")
        assert page.count("<img") == 3 and "Maps</h2>" in page and "<th>row, from 0</th>" in page
    assert main(["anchors", "image.npy", "--method", "SPA", "--weights", "w.csv"]) == 0
    weights = pd.read_csv("w.csv")
    assert weights.columns.tolist() == ["row", "column", *table["name"]]
    assert (10 * weights["row"] + weights["column"]).tolist() == list(range(120))
    assert np.allclose(weights.to_numpy()[:, 2:], H.T, atol=1e-6)
    capsys.readouterr()
    for wrong, said in {
        ("anchors", "--rows"): "leave --rows out",
        ("topics", "--anchors=2"): "three dimensions",
    }.items():
        assert main([wrong[0], "image.npy", wrong[1]]) == 1
        assert said in capsys.readouterr().err


def test_pixels_without_light_have_no_weights(drawn, capsys):
    image = drawn[1].T.reshape(12, 10, 30).copy()
    found = separable.METHODS["SPA"](5).fit(drawn[1]).anchors_
    dark = np.setdiff1d(np.arange(120), found)[:7]
    image.reshape(120, 30)[dark] = 0
    np.save("image.npy", image)
    assert (
        main(["anchors", "image.npy", "--method", "SPA", "--weights", "w.npz", "-o", "o.csv", "--report", "r.html"])
        == 0
    )
    assert "WARNING: 7 pixels are zero in all bands: left out, and without weights" in capsys.readouterr().out
    table = pd.read_csv("o.csv")
    assert (10 * table["row"] + table["column"]).tolist() == found.tolist() and table["leads"].sum() == 113
    with np.load("w.npz") as file:
        assert np.array_equal(np.flatnonzero(np.isnan(file["weights"]).any(axis=1)), dark)


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


def test_corners_that_are_no_columns_are_written_with_their_rows(drawn, capsys):
    words = ["--method", "SISAL", "--anchors", "5", "--force"]
    assert main(["anchors", "a.csv", *words, "-o", "o.csv", "--weights", "w.npz", "--report", "r.html"]) == 0
    found = separable.METHODS["SISAL"](5, random_state=0).fit(drawn[1])
    table = pd.read_csv("o.csv")
    assert table.columns.tolist() == ["name", "column", "mean_weight", "leads", *(f"band {m}" for m in range(30))]
    assert table["name"].tolist() == [f"corner {k}" for k in range(1, 6)]
    assert np.allclose(table.filter(like="band").to_numpy().T, found.W_)
    H = found.transform(drawn[1])
    assert table["column"].tolist() == H.argmax(axis=1).tolist()
    with np.load("w.npz") as file:
        assert np.allclose(file["anchors"] @ file["weights"].T, found.W_ @ H) and file["rows"][2] == "band 2"
    page = Path("r.html").read_text(encoding="utf8")
    assert "Corners are no columns" in page and "<th>score</th>" not in page and "corner 5" in page
    assert "lead no column but themselves" not in capsys.readouterr().out
    assert main(["anchors", "turned.csv", "--rows", *words, "-o", "turned_o.csv"]) == 0
    assert pd.read_csv("turned_o.csv").equals(table)


def test_a_file_of_matlab_holds_one_matrix(drawn, capsys):
    scipy_io.savemat("two.mat", {"A": np.eye(3), "B": np.ones((3, 2))})
    Path("new.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x00" * 400)
    scipy_io.savemat("none.mat", {"a": np.ones((1, 3)), "b": 2.0})
    said = {"two.mat": "holds 2 matrices (A, B): name one as two.mat:A", "new.mat": "new.mat"}
    said |= {"two.mat:C": "holds no matrix C; it holds A, B", "three.mat:A": "no such file: three.mat"}
    said["none.mat"] = "holds no matrix: a, b are single rows, columns or numbers"
    for name, sentence in said.items():
        assert main(["anchors", name]) == 1
        assert sentence in capsys.readouterr().err


def test_one_of_several_matrices_is_named_behind_the_file(drawn, capsys):
    _, X = drawn
    scipy_io.savemat("two.mat", {"A": X, "B": np.eye(3)})
    np.savez("two.npz", A=X, B=np.eye(3))
    tables = []
    for name in ("a.npy", "two.mat:A", "two.npz:A"):
        assert main(["anchors", name, "-o", "out.csv", "--force"]) == 0
        tables.append(pd.read_csv("out.csv"))
    assert tables[0].equals(tables[1]) and tables[0].equals(tables[2])
    assert main(["anchors", "two.npz"]) == 1
    assert "two.npz holds 2 matrices (A, B): name one as two.npz:A" in capsys.readouterr().err


def test_an_outlier_is_named_left_out_and_has_weights(drawn, capsys):
    X = np.insert(drawn[1], 7, np.random.default_rng(0).random(30) * drawn[1].max(), axis=1)
    pd.DataFrame(X, columns=[f"pixel {n}" for n in range(121)]).to_csv("odd.csv", index=False)
    anchors = (drawn[0].anchors + (drawn[0].anchors >= 7)).tolist()
    for asked in ([], ["--anchors", "5"]):
        assert main(["anchors", "odd.csv", *asked, "--weights", "w.csv", "-o", "o.csv", "--force"]) == 0
        said = capsys.readouterr().out
        assert "WARNING: left out, each an anchor of itself alone" in said and "look at them): pixel 7\n" in said
        table = pd.read_csv("o.csv")
        assert sorted(table["column"]) == sorted(anchors) and len(pd.read_csv("w.csv")) == 121
        assert (table["score"] > 0).all() and (np.diff(table["score"]) <= 0).all()


def test_weights_explain_the_columns(drawn, capsys):
    assert main(["anchors", "a.csv", "--anchors", "5", "--weights", "w.csv", "-o", "-"]) == 0
    out, err = capsys.readouterr()
    table, weights = pd.read_csv(io.StringIO(out)), pd.read_csv("w.csv", index_col="column")
    X = drawn[1]
    left = np.linalg.norm(X - X[:, table["column"]] @ weights.to_numpy().T) / np.linalg.norm(X)
    assert weights.columns.tolist() == table["name"].tolist() and weights.sum(axis=1).to_numpy() == pytest.approx(
        1, abs=1e-4
    )
    assert f"leave {left:.1%} of the norm" in err and left < 0.02


def test_pages_show_what_was_found(drawn, tmp_path):
    assert main(["anchors", "a.csv", "--method", "SPA", "--report", "a.html", "-o", "a_.csv"]) == 0
    page = (tmp_path / "a.html").read_text(encoding="utf8")
    assert all(name in page for name in pd.read_csv("a_.csv")["name"]) and page.count("<img") == 2
    write_counts()
    assert main(["topics", "counts.csv", "--anchors", "2", "--method", "SPA", "--report", "t.html"]) == 0
    page = (tmp_path / "t.html").read_text(encoding="utf8")
    assert all(word in page for words in TWO_TOPICS for word in words) and page.count("<img") == 1


def test_scaling_divides_by_sums(drawn, capsys):
    X = drawn[1] * np.random.default_rng(0).uniform(1, 9, 120)
    np.savez("uneven.npz", X)
    assert main(["anchors", "uneven.npz", "--scale", "--method", "SPA", "--anchors", "5", "-o", "s.csv"]) == 0
    assert (
        pd.read_csv("s.csv")["column"].tolist() == separable.METHODS["SPA"](5).fit(X / X.sum(axis=0)).anchors_.tolist()
    )
    assert "WARNING: scale" not in capsys.readouterr().out
    assert main(["anchors", "uneven.npz", "--method", "SPA", "--anchors", "5"]) == 0
    assert "WARNING: scale" in capsys.readouterr().out


def test_scaling_bears_a_few_negative_entries_and_refuses_many(drawn, capsys):
    X = drawn[1] * np.random.default_rng(0).uniform(1, 9, 120)
    X[3] -= np.quantile(X[3], 0.3)  # a dark band
    np.savez("dark.npz", X)
    assert (X < 0).any()
    words = ["--scale", "--method", "SPA", "--anchors", "5", "-o", "s.csv", "--force"]
    assert main(["anchors", "dark.npz", *words]) == 0
    found = separable.METHODS["SPA"](5).fit(X / X.sum(axis=0)).anchors_
    assert pd.read_csv("s.csv")["column"].tolist() == found.tolist()
    X[:, [2, 5]] *= -1
    np.savez("negative.npz", X)
    assert main(["anchors", "negative.npz", *words]) == 1
    assert "--scale: negative entries outweigh in columns 2, 5" in capsys.readouterr().err


def test_scaling_leaves_columns_of_zeros_as_they_are(tmp_path, capsys):
    X = np.insert(np.eye(4)[:, [0, 1, 2, 3, 0]], 2, 0.0, axis=1)
    np.savez(tmp_path / "a.npz", X)
    words = ["anchors", str(tmp_path / "a.npz"), "--scale", "--anchors", "4", "--method", "SPA"]
    assert main(words) == 0
    assert "WARNING: zero columns: 1: 2" in capsys.readouterr().out


def test_what_does_not_fit_is_refused_before_it_is_made(tmp_path, capsys):
    wide = sparse.csr_matrix(([1.0], ([0], [0])), shape=(1_000_000, 2_000_000))
    sparse.save_npz(tmp_path / "wide.npz", wide)
    assert main(["anchors", str(tmp_path / "wide.npz"), "--method", "SPA"]) == 1
    assert "claims a matrix of 1000000 x 2000000 with 1 entries" in capsys.readouterr().err


def test_predicted_memory_is_near_the_peak(drawn, capsys):
    np.savez("many.npz", simulate.dirichlet_mixtures(50, 8000, 5, snr_db=40, random_state=0).X)
    asked = ["--method", "SPA", "--anchors", "5"]
    assert main(["anchors", "a.npz", *asked]) == 0  # imports are over
    tracemalloc.start()
    assert main(["anchors", "many.npz", *asked]) == 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    predicted = 1e9 * float(capsys.readouterr().out.split("memory: ")[-1].split(" GB")[0])
    assert 1 <= predicted / peak < 1.4


def write_counts(extra=""):
    rows = [f"d{i},{word},{1 + i % 3}\n" for i in range(20) for word in TWO_TOPICS[i % 2]]
    with open("counts.csv", "w") as file:
        file.write("document,word,count\n" + "".join(rows) + extra)


@pytest.mark.parametrize("method", ["SPA", "MERIT"])
def test_topics_are_the_words_that_stand_together(drawn, method, capsys):
    write_counts()
    words = ["topics", "counts.csv", "--anchors", "2", "--method", method, "-o", "t.csv", "--weights", "d.csv"]
    assert main(words) == 0
    table = pd.read_csv("t.csv")
    found = {frozenset(own.loc[own["probability"] > 0.1, "word"]) for _, own in table.groupby("topic")}
    anchors = {frozenset(own["word"][:3]): set(own["anchor"]) for _, own in table.groupby("topic")}
    assert all(len(anchor) == 1 and anchor <= words for words, anchor in anchors.items())
    assert found == {frozenset(words) for words in TWO_TOPICS} and table["share"].drop_duplicates().sum() <= 1.0001
    weights = pd.read_csv("d.csv", index_col="document")
    pets = table.loc[table["word"] == "cat"].sort_values("probability")["topic"].iloc[-1]
    assert (weights.idxmax(axis=1) == f"topic_{pets}").equals(weights.index.to_series().str[1:].astype(int) % 2 == 0)


def test_tables_of_topics_count_from_one_and_have_six_digits(drawn, capsys):
    write_counts("d0,sun,2\nd1,pet,5\nd3,dog,3\n")
    words = ["topics", "counts.csv", "--anchors", "2", "--method", "SPA", "-o", "t.csv", "--weights", "d.csv"]
    assert main(words) == 0
    table, weights = pd.read_csv("t.csv"), pd.read_csv("d.csv", index_col="document")
    assert table.groupby("topic")["place"].apply(list).tolist() == [[1, 2, 3, 4], [1, 2, 3, 4, 5]]
    assert table["probability"].nunique() > 6 and table["share"].nunique() == 2
    for numbers in (table[["share", "probability"]], weights):
        assert numbers.equals(numbers.round(6)) and not numbers.equals(numbers.round(5))
    assert table["coherence"].equals(table["coherence"].round(4))


def test_texts_are_counted_with_and_without_a_header(drawn, capsys):
    texts = [f"{' '.join(TWO_TOPICS[i % 2])} and {TWO_TOPICS[i % 2][i % 3].upper()}" for i in range(12)]
    Path("words.txt").write_text("And\n")
    given = ["--anchors", "2", "--stop-words", "words.txt", "--force", "--weights", "w.csv", "-o", "t.csv"]
    for header in (["text"], []):
        Path("texts.csv").write_text("\n".join(header + texts) + "\n")
        assert main(["topics", "texts.csv", *given]) == 0
        out, err = capsys.readouterr()
        assert "12 documents, 6 words, 48 in all" in out and "holds texts: a document a row" in err
        assert "6 words used, 0 left out: in fewer than 2 documents, or in all; another --min-documents" in out
        topics = {frozenset(own["word"][:3]) for _, own in pd.read_csv("t.csv").groupby("topic")}
        assert topics == {frozenset(words) for words in TWO_TOPICS}
        assert sorted(pd.read_csv("w.csv")["document"]) == [n + 1 + len(header) for n in range(12)]
    assert main(["topics", "texts.csv", *given, "--ngrams", "2"]) == 0
    assert "12 documents, 16 words" in capsys.readouterr().out  # and ten pairs of neighbours


def test_other_names_and_a_column_a_word_are_the_same_counts(drawn, capsys):
    rng = np.random.default_rng(0)
    words = ["oven", "flour", "butter", "goal", "team", "match", "star", "comet", "orbit"]
    counts = np.array([np.bincount(3 * k + rng.integers(3, size=20), minlength=9) for k in rng.integers(3, size=60)])
    wide = pd.DataFrame(counts, columns=words)
    long = wide.rename_axis("document").reset_index().melt("document", var_name="word", value_name="count")
    long = long[long["count"] > 0]
    long.to_csv("long.csv", index=False)
    long.set_axis(["doc_id", "token", "n"], axis=1).to_csv("tidy.csv", index=False)
    wide.to_csv("wide.csv")
    wide.set_axis([f"d{n}" for n in range(60)]).to_csv("named.csv", index_label="doc")
    tables = []
    for name, note in (("long", ""), ("tidy", "document from doc_id, word from token, count from n"),
                       ("wide", "one column a word, a document a row"), ("named", "named by 'doc'")):  # fmt: skip
        assert main(["topics", f"{name}.csv", "--anchors", "3", "-o", "out.csv", "--force"]) == 0
        assert note in capsys.readouterr().err
        tables.append(pd.read_csv("out.csv"))
    for other in tables[1:]:
        assert set(other["word"]) == set(tables[0]["word"]) and np.allclose(
            other["share"], tables[0]["share"], atol=1e-3
        )
    wide.iloc[:, :4].to_csv("few.csv", index=False)
    assert main(["topics", "few.csv", "--anchors", "3"]) == 1
    assert "no column document, word, count" in capsys.readouterr().err


def test_a_topic_can_be_shown_by_one_word(drawn, capsys):
    write_counts()
    assert main(["topics", "counts.csv", "--anchors", "2", "--method", "SPA", "--words", "1", "-o", "t.csv"]) == 0
    assert len(pd.read_csv("t.csv")) == 2 and "topic 2 (" in capsys.readouterr().out


def test_a_count_of_zero_is_a_count(drawn, capsys):
    write_counts("d0,sun,0\n")
    assert main(["topics", "counts.csv", "--anchors", "2", "--method", "SPA"]) == 0
    assert "20 documents, 6 words, 117 in all" in capsys.readouterr().out


@pytest.mark.parametrize(("method", "n_rows"), [("SPA", 4), ("FastAnchor", 1000)])
def test_topics_need_the_memory_of_the_matrix_that_is_searched(tmp_path, monkeypatch, capsys, method, n_rows):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1e3)
    sparse.save_npz(tmp_path / "c.npz", sparse.csr_matrix(([1.0, 2.0], ([0, 1], [0, 1999])), shape=(3, 2000)))
    assert main(["topics", str(tmp_path / "c.npz"), "--anchors", "2", "--method", method]) == 1
    needed = separable.predicted_bytes(method, n_rows, 2000, 2) + 72 * 2 + 48 * 2 * 2003
    assert f"({needed} bytes)" in capsys.readouterr().err


def test_anchors_need_the_memory_of_dense_copies_and_of_weights(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1e3)
    np.savez(tmp_path / "a.npz", np.eye(20)[:4])
    assert main(["anchors", str(tmp_path / "a.npz"), "--anchors", "3", "--method", "SPA"]) == 1
    needed = separable.predicted_bytes("SPA", 4, 20, 3) + 8 * 20 * (3 * 4 + 2 * 3)
    assert f"({needed} bytes)" in capsys.readouterr().err


def test_a_matrix_with_a_vocabulary_is_the_same(drawn, capsys):
    write_counts()
    frame = pd.read_csv("counts.csv").pivot_table(index="document", columns="word", values="count", fill_value=0)
    scipy_io.mmwrite("c.mtx", sparse.coo_matrix(frame.to_numpy()))
    with open("words.txt", "w") as file:
        file.write("\n".join(frame.columns) + "\n")
    given = ["--anchors", "2", "--method", "SPA", "-o"]
    assert main(["topics", "counts.csv", *given, "a_.csv"]) == 0
    assert main(["topics", "c.mtx", "--vocabulary", "words.txt", *given, "b_.csv"]) == 0
    one, other = (pd.read_csv(name).drop(columns="topic").sort_values("word") for name in ("a_.csv", "b_.csv"))
    assert one.reset_index(drop=True).equals(other.reset_index(drop=True))  # the two topics weigh nearly the same
    with open("words.txt", "a") as file:
        file.write("more\n")
    assert main(["topics", "c.mtx", "--vocabulary", "words.txt", *given, "c_.csv"]) == 1
    assert "7 words for 6 columns" in capsys.readouterr().err


def test_words_of_a_vocabulary_end_where_lines_end_and_nowhere_else(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scipy_io.mmwrite("c.mtx", sparse.coo_matrix(np.random.default_rng(0).poisson(1, size=(60, 4))))
    words = ["a\u2028b", "c\x0bd", "e\x1cf", "g\rh"]
    (tmp_path / "words.txt").write_bytes("\r\n".join([*words, ""]).encode())
    run = ["topics", "c.mtx", "--vocabulary", "words.txt", "--anchors", "2", "--method", "SPA", "--force"]
    assert main([*run, "-o", "found.jsonl"]) == 0
    found = (tmp_path / "found.jsonl").read_text().split("\n")
    assert {json.loads(line)["word"] for line in found if line} == set(words)
    for wrong, said in ((["a", "b", "", "d"], "line 3 ('')"), (["a", "b", "c", "b"], "line 2 ('b'), line 4 ('b')")):
        (tmp_path / "words.txt").write_text("\n".join(wrong))
        capsys.readouterr()
        assert main(run) == 1
        assert f"words that are blank or there twice in {said}: give" in capsys.readouterr().err


MESSY = {  # command, what the file holds, what is said
    "a gap": ("anchors", "a,b\n1,2\n3,\n", "gaps in rows 3 (the first line is row 1), columns b"),
    "text among numbers": ("anchors", "a,b\n1,2\n3,x\n", "no numbers in rows 3 (the first line is row 1), columns b"),
    "a column of text": ("anchors", "a,b,c\n1,2,x\n3,5,y\n", "columns c hold text, and no number: leave them out"),
    "equal columns": ("anchors", "a,b,c\n1,1,1\n3,3,3\n", "all 3 columns are equal"),
    "infinity": ("anchors", "a,b\n1,inf\n3,4\n", "no numbers in rows 2 (the first line is row 1), columns b"),
    "nothing but zeros": ("anchors", "a,b\n0,0\n0,0\n", "zero columns: all of them"),
    "counts below zero": (
        "topics",
        "document,word,count\nd,a,-1\n",
        "whole numbers from 0 are needed; not so in rows 2",
    ),
    "parts of a word": ("topics", "document,word,count\nd,a,1\nd,b,1.5\n", "not so in rows 3 ('1.5')"),
    "no word": ("topics", "document,word,count\nd,,1\n", "missing word in rows 2"),
    "other names": ("topics", "mail,word,count\nd,a,1\n", "for example --document mail, or rename"),
    "two texts": (
        "topics",
        "a,b\none two three four,five six seven eight\n",
        "columns a, b hold texts: keep one, or call it text",
    ),
    "more topics than words": (
        "topics",
        "document,word,count\nd,a,1\ne,b,1\nd,c,1\ne,c,2\nf,a,1\n",
        "--anchors 3: ask for",
    ),
}


@pytest.mark.parametrize("case", MESSY)
def test_messy_files_are_refused_in_words(tmp_path, capsys, case):
    command, text, said = MESSY[case]
    (tmp_path / "a.csv").write_text(text)
    assert main([command, str(tmp_path / "a.csv"), *(["--anchors", "3"] if command == "topics" else [])]) == 1
    assert said in capsys.readouterr().err


ARRAYS = {
    "no archive": (b"nope", "cannot be read as a matrix"),
    "two arrays": ({"a": np.eye(2), "b": np.eye(2)}, "holds 2 matrices (a, b)"),
    "objects": ({"a": np.array([[1, "x"]], dtype=object)}, "cannot be read as a matrix"),
    "a vector": ({"a": np.ones(3)}, "or an image of rows x columns x bands, got float64 of shape (3,)"),
    "NaN": ({"a": np.array([[1, np.nan], [1, 2]])}, "finite: NaN or infinity in columns 1"),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_messy_arrays_are_refused_in_words(tmp_path, capsys, case):
    content, said = ARRAYS[case]
    path = tmp_path / "a.npz"
    path.write_bytes(content) if isinstance(content, bytes) else np.savez(path, **content)
    assert main(["anchors", str(path)]) == 1
    assert said in capsys.readouterr().err


def test_an_archive_of_something_else_is_no_matrix(tmp_path, capsys):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.txt", "hello")
    assert main(["anchors", str(tmp_path / "a.npz")]) == 1
    assert "a.npz holds no array: write it with numpy.savez" in capsys.readouterr().err


@pytest.mark.parametrize("indices", [[0, 1, 9], [0, 1, -1]])
@pytest.mark.parametrize("command", ["anchors", "topics"])
def test_entries_outside_of_a_sparse_matrix_are_refused(command, indices, tmp_path, capsys):
    wrong = {"data": np.ones(3), "indices": np.array(indices), "indptr": np.arange(4), "shape": np.array([3, 3])}
    np.savez(tmp_path / "a.npz", format=np.array(b"csc"), **wrong)
    assert main([command, str(tmp_path / "a.npz"), "--anchors", "2", "--method", "SPA"]) == 1
    assert "entries lie outside of the matrix" in capsys.readouterr().err


def test_places_in_a_sparse_matrix_are_whole_numbers(tmp_path, capsys):
    wrong = {"data": np.ones(3), "indices": np.array([0, 1, 1.5]), "indptr": np.arange(4), "shape": np.array([3, 3])}
    np.savez(tmp_path / "a.npz", format=np.array(b"csc"), **wrong)
    assert main(["anchors", str(tmp_path / "a.npz"), "--anchors", "2"]) == 1
    assert "a.npz: indices must hold whole numbers" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["anchors", "topics"])
def test_a_matrix_that_says_it_is_huge_ends_in_one_sentence(command, tmp_path, capsys):
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 1000000000000000 1\n1 1 1\n")
    assert main([command, str(tmp_path / "a.mtx"), "--anchors", "2"]) == 1
    assert "claims a matrix of 3 x 1000000000000000 with 1 entries" in capsys.readouterr().err


def test_words_in_another_encoding_are_refused_in_words(tmp_path, capsys):
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix array real general\n1 1\n1\n")
    (tmp_path / "words.txt").write_bytes("für\n".encode("latin-1"))
    run = ["topics", str(tmp_path / "a.mtx"), "--vocabulary", str(tmp_path / "words.txt"), "--anchors", "1"]
    assert main(run) == 1 and main([*run, "--encoding", "klingon"]) == 1
    assert capsys.readouterr().err.count("words.txt cannot be read as text") == 2


def test_a_small_file_cannot_fill_the_memory(tmp_path, capsys):
    np.savez_compressed(tmp_path / "a.npz", np.zeros((2000, 2000)))
    assert main(["anchors", str(tmp_path / "a.npz")]) == 1
    assert "more than 200 times its size" in capsys.readouterr().err


def test_an_anchor_may_be_called_as_the_weights_first_column(tmp_path):
    X = np.column_stack([np.eye(3), np.full(3, 1 / 3)])
    pd.DataFrame(X, columns=["column", "b", "c", "d"]).to_csv(tmp_path / "a.csv", index=False)
    run = ["anchors", str(tmp_path / "a.csv"), "--anchors", "3", "--method", "SPA"]
    assert main([*run, "--weights", str(tmp_path / "w.csv")]) == 0
    header, first = (tmp_path / "w.csv").read_text().splitlines()[:2]
    assert header.split(",")[0] == "column" and sorted(header.split(",")[1:]) == ["b", "c", "column"]
    assert first.split(",")[0] == "column"


OWN = """
import numpy as np

def longest(X, K, turned=False):
    lengths = np.linalg.norm(X, axis=0)
    return np.argsort(-lengths)[:K]

def same(X, K):
    return np.zeros(K, dtype=int)

class Spread:
    def fit(self, X, n_anchors):
        left = X.copy()
        self.anchors_ = np.empty(n_anchors, dtype=int)
        for k in range(n_anchors):
            self.anchors_[k] = np.argmax((left**2).sum(axis=0))
            u = left[:, self.anchors_[k]] / np.linalg.norm(left[:, self.anchors_[k]])
            left -= np.outer(u, u @ left)
        return self
"""


def test_a_method_of_one_s_own_finds_anchors_with_everything_else_as_usual(drawn, capsys):
    Path("my.py").write_text(OWN)
    for method in ("SPA", "my.py:Spread"):
        assert main(["anchors", "a.csv", "--method", method, "-o", "anchors.csv", "--report", "p.html", "--force"]) == 0
        said = capsys.readouterr().out
        found = pd.read_csv("anchors.csv")
        if method == "SPA":
            expected = found
    pd.testing.assert_frame_equal(found, expected)
    assert "beside what the method itself takes" in said and "5 anchors: there the residual drops most" in said
    assert (
        main(["anchors", "a.csv", "--method", "my.py:longest(turned=True)", "--anchors", "3", "-o", "three.csv"]) == 0
    )
    lengths = np.linalg.norm(drawn[1], axis=0)
    assert set(pd.read_csv("three.csv")["column"]) == set(np.argsort(-lengths)[:3].tolist())
    capsys.readouterr()
    for method, told in {
        "my.py:same": "5 different columns; 4 of its",
        "my.py:none": "has no none",
        "no.py:f": "no file",
    }.items():
        assert main(["anchors", "a.csv", "--method", method, "-o", "no.csv"]) == 1
        assert told in capsys.readouterr().err and not Path("no.csv").exists()
