"""Images of ENVI: a header and numbers beside it."""

import sys

import numpy as np
import pandas as pd
import pytest

from cofactor import CofactorError, simulate
from cofactor.core.errors import DataWarning
from cofactor.reading.matrices import read_matrix
from cofactor_app.cli import main
from cofactor_app.reading.envi import load_envi

ORDER = {"bsq": (2, 0, 1), "bil": (0, 2, 1), "bip": (0, 1, 2)}
TYPES = {"4": "<f4", "12": "<u2", "2": "<i2", "5": "<f8"}


def write(path, cube, interleave="bip", kind="5", numbers=".img", **more):
    """Write a header by hand, and numbers in this order beside it."""
    rows, columns, bands = cube.shape
    fields = {"samples": columns, "lines": rows, "bands": bands, "header offset": 0, "data type": kind}
    fields |= {"interleave": interleave, "byte order": 0} | {
        name.replace("_", " "): value for name, value in more.items()
    }
    path.with_suffix(".hdr").write_text("ENVI\n" + "".join(f"{name} = {value}\n" for name, value in fields.items()))
    path.with_suffix(numbers).write_bytes(cube.transpose(ORDER[interleave]).astype(TYPES[kind]).tobytes())
    return path.with_suffix(".hdr")


@pytest.fixture
def cube():
    pytest.importorskip("spectral")
    return np.random.default_rng(0).integers(1, 9000, (5, 4, 3)).astype(float)


@pytest.mark.parametrize("interleave", ORDER)
def test_numbers_are_read_in_every_order_and_type(cube, tmp_path, interleave):
    for kind in TYPES:
        header = write(tmp_path / "scene", cube, interleave, kind)
        assert np.array_equal(load_envi(header)[0], cube) and load_envi(header)[1] is None
        assert np.array_equal(load_envi(tmp_path / "scene.img")[0], cube)
    header = write(tmp_path / "other", cube, interleave, numbers=f".{interleave}", reflectance_scale_factor=10000)
    assert np.array_equal(load_envi(header)[0], cube / 10000)


def test_bands_are_called_by_wavelength_else_by_name(cube, tmp_path):
    waves = {"wavelength": "{450.5, 550,\n 2100}"}
    assert load_envi(write(tmp_path / "a", cube, **waves))[1] == ["450.5", "550", "2100"]
    assert load_envi(write(tmp_path / "a", cube, band_names="{blue, green, red}", **waves))[1][0] == "450.5"
    assert load_envi(write(tmp_path / "a", cube, band_names="{blue, green, red}"))[1] == ["blue", "green", "red"]
    assert load_envi(write(tmp_path / "a", cube, Wavelength="{1, 2}"))[1] is None


def test_bad_bands_are_left_out_and_missing_pixels_are_zero(cube, tmp_path):
    header = write(tmp_path / "a", cube, bbl="{1, 0, 1}", wavelength="{1, 2, 3}")
    with pytest.warns(DataWarning, match="1 of 3 bands are marked as bad in the header: left out"):
        found, names = load_envi(header)
    assert np.array_equal(found, cube[:, :, [0, 2]]) and names == ["1", "3"]
    cube[1, 2, 0] = cube[3, 3] = -9999
    with pytest.warns(DataWarning, match="2 pixels hold -9999, which the header keeps for missing numbers"):
        found, _ = load_envi(write(tmp_path / "a", cube, data_ignore_value=-9999))
    cube[1, 2] = cube[3, 3] = 0
    assert np.array_equal(found, cube)


def test_what_cannot_be_read_is_said(cube, tmp_path, capsys):
    header = write(tmp_path / "a", cube)
    (tmp_path / "a.img").write_bytes(b"short")
    with pytest.raises(CofactorError, match="holds fewer numbers than the header says"):
        load_envi(header)
    (tmp_path / "alone.bil").write_bytes(b"1234")
    with pytest.raises(CofactorError, match=r"alone.bil needs its header beside it: .*alone.hdr, .*alone.bil.hdr"):
        load_envi(tmp_path / "alone.bil")
    with pytest.raises(CofactorError, match="library of spectra"):
        load_envi(write(tmp_path / "b", cube[:, :, :1], file_type="ENVI Spectral Library"))
    (tmp_path / "no.hdr").write_text("something else")
    assert main(["anchors", str(tmp_path / "no.hdr")]) == 1
    assert "no.hdr cannot be read as a matrix: File does not appear to be an ENVI header" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::cofactor.core.errors.DataWarning")
def test_headers_that_are_damaged_are_read_or_refused(cube, tmp_path):
    fields = {
        "bbl": "{1, 0, 1}",
        "data_ignore_value": -9999,
        "reflectance_scale_factor": 100,
        "wavelength": "{1, 2, 3}",
    }
    header = write(tmp_path / "a", cube, **fields)
    sound, rng, refused = header.read_bytes(), np.random.default_rng(0), 0
    for _ in range(300):
        place, gone = rng.integers(len(sound)), rng.integers(20)
        more = rng.choice([b"", b"9999999999", b"-1", b"nan", b"{", b"}", b"0", b"1e400", b"\n", b"\xff"])
        header.write_bytes(sound[:place] + more + sound[place + gone :])
        try:
            assert read_matrix(header)[0].ndim == 3
        except CofactorError:
            refused += 1
    assert 100 < refused < 290
    with pytest.raises(CofactorError, match="the header says to divide by 0: a positive number is needed"):
        load_envi(write(tmp_path / "a", cube, reflectance_scale_factor=0))


def test_without_the_package_one_sentence_says_what_to_install(tmp_path, monkeypatch, capsys):
    for name in [name for name in sys.modules if name.partition(".")[0] == "spectral"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "spectral", None)
    (tmp_path / "a.hdr").write_text("ENVI")
    assert main(["anchors", str(tmp_path / "a.hdr")]) == 1
    assert "pip install 'cofactor[images]'" in capsys.readouterr().err


def test_corners_of_an_image_are_written_by_wavelength(cube, tmp_path, capsys):
    X = simulate.dirichlet_mixtures(6, 60, 3, 40.0, random_state=0).X
    waves = [400.5, 500.0, 600.0, 700.0, 800.0, 900.0]
    header = write(tmp_path / "scene", X.T.reshape(12, 5, 6), wavelength="{" + ", ".join(map(str, waves)) + "}")
    words = ["--method", "SISAL", "--anchors", "3", "-o", str(tmp_path / "o.csv")]
    assert main(["anchors", str(header), *words]) == 0
    assert "an image of 12 x 5 pixels in 6 bands" in capsys.readouterr().out
    assert pd.read_csv(tmp_path / "o.csv").columns[5:].tolist() == [str(wave) for wave in waves]
