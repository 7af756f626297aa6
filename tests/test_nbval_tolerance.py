"""Stored outputs are compared: closely where digits may differ, exactly everywhere else, and always."""

import operator
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest
from nbformat import v4

from cofactor_app.plots.style import new_picture
from tests.each import each
from tests.fingerprint import HEAD, MIME, fingerprint
from tests.nbval_tolerance import FINGERPRINT, approx, changed_lines

ROOT = Path(__file__).resolve().parents[1]


@each(
    "stored, new, tags",
    [
        ("x = 0.5", "x = 0.5", ()),
        ("x = 0.3333333333", "x = 0.3333333334", ()),
        ("np.float64(3.6180339887498953)", "np.float64(3.6180339887498949)", ()),
        ("   a\n0  1.5000000", "     a\n0    1.50000001", ()),
        ("1e-14", "3.2e-13", ()),
        ("x = 0.50", "x = 0.51", ("nbval-rtol=0.1",)),
        ("x = 0.001", "x = 0.002", ("nbval-atol=0.01",)),
        (f"{HEAD} at 0.1234", f"{HEAD} at 0.1236", ()),
        (f"{HEAD} at 5000.0000", f"{HEAD} at 5000.9000", ()),
    ],
)
def test_close_outputs_are_equal(stored, new, tags):
    assert operator.eq(approx(stored, tags), new)
    assert not operator.ne(approx(stored, tags), new)


@each(
    "stored, new, tags",
    [
        ("x = 0.5", "x = 0.50003", ()),
        ("n = 12", "n = 13", ("nbval-rtol=1",)),
        ("12 of 20", "12.0 of 20", ()),
        ("gap 0.5", "gaps 0.5", ()),
        ("0.5 0.5", "0.5", ()),
        ("0.5", "nan", ()),
        ("0.5", "-0.5", ()),
        ("a1.5", "a1.6", ("nbval-rtol=1",)),
        ("x = 0.50", "x = 0.51", ("nbval-rtol=1e-3",)),
        ("at 0.1234", "at 0.1236", ()),
        (f"{HEAD} at 0.1234", f"{HEAD} at 0.1254", ()),
        (f"{HEAD} ticks 0.001", f"{HEAD} ticks 0.0011", ()),
    ],
)
def test_other_outputs_differ(stored, new, tags):
    assert operator.ne(approx(stored, tags), new)
    assert not operator.eq(approx(stored, tags), new)


def claimed(source, *outputs):
    """Build a code cell with made-up stored outputs."""
    return v4.new_code_cell(source, outputs=list(outputs), execution_count=1)


def printed(source, stored):
    """Build a code cell that claims to have printed `stored`."""
    return claimed(source, v4.new_output("stream", name="stdout", text=stored))


def shown(source, text, image):
    """Build a code cell that claims to have displayed a picture with a caption."""
    return claimed(source, v4.new_output("display_data", data={"text/plain": text, "image/png": image}))


def drawn(*heights, told=True):
    """Build a code cell that draws a curve, and claims to have drawn one of these heights."""
    fig = new_picture()
    fig.subplots().plot(heights)
    bundle, _ = fig._repr_mimebundle_()
    source = (
        "from cofactor_app.plots.style import new_picture\nfig = new_picture()\nfig.subplots().plot([0, 1, 4])\nfig"
    )
    bundle |= {MIME: fingerprint(fig)} if told else {}
    return claimed(source, v4.new_output("execute_result", data=bundle, execution_count=1))


DISPLAY = "from IPython.display import display; display({'text/plain': 'fig', 'image/png': 'QQ=='}, raw=True)"


def cells():
    """Cells by name, with whether they pass."""
    return {
        "equal": (True, printed("print(1 / 3)", "0.3333333333333333\n")),
        "change of 3e-10": (True, printed("print(1 / 3)", "0.3333333334333333\n")),
        "change of 3e-5": (False, printed("print(1 / 3)", "0.3333433333333333\n")),
        "wrong integer": (False, printed("print(12)", "13\n")),
        "wrong word": (False, printed("print('gap 0.5')", "gab 0.5\n")),
        "output cleared": (False, claimed("print(1)")),
        "output added": (False, printed("pass", "1\n")),
        "raises": (False, claimed("1 / 0")),
        "another picture": (True, shown(DISPLAY, "fig", "Qg==")),
        "another caption": (False, shown(DISPLAY, "pic", "QQ==")),
        "the same figure": (True, drawn(0, 1, 4)),
        "less than a pixel": (True, drawn(0, 1.0005, 4)),
        "a point moved": (False, drawn(0, 1.04, 4)),
        "a figure without fingerprint": (False, drawn(0, 1, 4, told=False)),
        "address in a repr": (True, printed("print('<f at 0x7fa1b2c3d4e5>')", "<f at 0xADDR>\n")),
    }


def run_nbval(folder, cells):
    """Run nbval over one notebook made of `cells`, as `kit.py test` does."""
    nbformat.write(v4.new_notebook(cells=cells), folder / "mutants.ipynb")
    options = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=60"]
    options += ["--nbval-sanitize-with", "tests/nbval_sanitize.cfg", "-p", "tests.nbval_tolerance"]
    options += ["-p", "no:cacheprovider", "-c", "pyproject.toml", f"--junitxml={folder / 'report.xml'}"]
    command = [sys.executable, "-m", "pytest", *options, str(folder / "mutants.ipynb")]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_each_mutant_of_a_notebook_gets_its_verdict(tmp_path):
    made = cells()
    answer = run_nbval(tmp_path, [cell for _, cell in made.values()])
    cases = ElementTree.parse(tmp_path / "report.xml").iter("testcase")
    verdicts = [case.find("failure") is None and case.find("error") is None for case in cases]
    expected = {name: passes for name, (passes, _) in made.items()}
    assert dict(zip(made, verdicts, strict=True)) == expected, answer.stdout


@pytest.mark.slow
def test_a_notebook_that_was_never_run_is_refused(tmp_path):
    answer = run_nbval(tmp_path, [v4.new_code_cell("print(1)")])
    assert answer.returncode == pytest.ExitCode.USAGE_ERROR
    assert "never run" in answer.stdout + answer.stderr


def test_only_what_differs_of_a_figure_is_told():
    assert HEAD == FINGERPRINT
    stored, new = f"{HEAD}\nline at 0.1000\nbar 1\nline at 0.3000", f"{HEAD}\nline at 0.1001\nbar 2\nline at 0.3000"
    assert changed_lines(stored, new) == ["- bar 1", "+ bar 2"]
    assert changed_lines(stored, stored) == []
