"""What decides numbers is named, and what does not decide them is left out."""

import re
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from cofactor.data.registry import entries
from evaluation import LINES, origin

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setattr(origin, "code_of_line", lambda line: "0123456789abcdef-" + line)
    origin.origin.cache_clear()
    yield dict(origin.origin("toy"))
    origin.origin.cache_clear()


def test_the_origin_of_a_number_is_code_data_and_versions(here):
    assert here["code"] == "0123456789abcdef" and here["numba"] == metadata.version("numba")
    assert list(here) == ["code", "data sets", "python", "numpy", "scipy", "scikit-learn", "numba"]


def test_checksums_decide_data_and_words_about_them_do_not(monkeypatch):
    known = entries()
    monkeypatch.setattr(origin, "entries", lambda: known)
    before, first = origin.data_sets(), known["bluebird"]
    known["bluebird"] = replace(first, title="Another", citation="Somebody")
    assert origin.data_sets() == before
    file = first.files[0]
    known["bluebird"] = replace(first, files=(replace(file, sha256="0" * 64), *first.files[1:]))
    assert origin.data_sets() != before


def test_what_a_line_takes_from_another_decides_its_numbers():
    library = ROOT / "lib" / "cofactor"
    lines = [line.__name__.rpartition(".")[2] for line in LINES]
    for line in lines:
        rooms = [library / "baselines" / line, ROOT / "evaluation" / line]
        files = [path for room in rooms for path in room.rglob("*.py")]
        files += (ROOT / "evaluation" / "released").glob(f"{line}*.py")
        imported = rf"from cofactor\.({'|'.join({*lines} - {line})})\.(\w+) import"
        taken = {"/".join(names) + ".py" for path in files for names in re.findall(imported, path.read_text("utf8"))}
        assert taken == set(origin.BORROWED.get(line, ())), line
        assert {library / name for name in taken} <= set(origin._sources(line))
