"""The page about one crowd."""

import re

import pytest

from cofactor.cli import main


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    assert main(["aggregate", "bluebird", "--report", str(path)]) == 0
    return path.read_text(encoding="utf8")


def test_says_what_the_command_line_says(page, capsys):
    main(["aggregate", "bluebird"])
    for line in capsys.readouterr().out.strip().splitlines():
        assert line.replace("'", "&#39;") in page


def test_shows_checks_workers_and_doubtful_tasks(page):
    assert "co-labelling graph" in page and "Verdict:" in page
    assert len(re.findall('src="data:image/png;base64,', page)) == 3
    probabilities = [float(p) for p in re.findall(r"<td>([01]\.\d{3})</td>", page)]
    assert len(probabilities) == 20 and probabilities == sorted(probabilities) and probabilities[0] < 0.95


def test_needs_no_other_file(page):
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)
    assert "<script" not in page


def test_names_from_the_data_are_escaped(tmp_path):
    rows = [(t, w, "<b>" if t % 2 else "b") for t in range(12) for w in ("<script>", "x", "y")]
    text = "task,worker,label\n" + "\n".join(f"{t},{w},{label}" for t, w, label in rows)
    (tmp_path / "labels.csv").write_text(text)
    path = tmp_path / "page.html"
    arguments = ["aggregate", str(tmp_path / "labels.csv"), "--method", "MV-EM", "--report", str(path)]
    assert main(arguments) == 0
    page = path.read_text()
    assert "<script>" not in page and "&lt;script&gt;" in page and "<b>" not in page


def test_is_not_overwritten_unasked(tmp_path, capsys):
    path = tmp_path / "page.html"
    path.write_text("mine")
    assert main(["aggregate", "bluebird", "--report", str(path)]) == 1
    assert path.read_text() == "mine" and "exists" in capsys.readouterr().err


def test_needs_the_labels_in_memory(tmp_path, capsys):
    arguments = ["aggregate", "x.parquet", "--moments", "m.npz", "--report", str(tmp_path / "page.html")]
    assert main(arguments) == 1
    assert "--report" in capsys.readouterr().err
