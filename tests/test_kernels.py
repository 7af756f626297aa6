"""`kit.py kernels` and the head of the tests: which BLAS kernel runs, and which stored numbers move with it."""

import os
import subprocess

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from threadpoolctl import threadpool_info

from tools import kernels


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    """Give the settings of OpenBLAS back after the test."""
    monkeypatch.setattr(os, "environ", os.environ.copy())


def cell(text, *tags):
    return new_code_cell(outputs=[new_output("stream", text=text)], metadata={"tags": list(tags)})


def test_what_moves_is_told_by_number_or_by_line():
    cases = [
        ("rate 0.50", "rate 0.50000001", [], []),  # within the tolerance of notebooks
        ("rate 0.50, worst 2.0", "rate 0.51, worst 2.0", [], ["0.50 -> 0.51"]),
        ("rate 0.50", "rate 0.51", ["nbval-atol=0.02"], []),
        ("rate 0.50", "rate 0.51", ["nbval-ignore-output"], []),
        ("same\nrank 3\n", "same\nrank 4\n", [], ["- rank 3", "+ rank 4"]),  # whole numbers are words
        ("a 0.1234\nok\n", "a 0.1240\nLOOK\n", [], ["- a 0.1234", "- ok", "+ a 0.1240", "+ LOOK"]),
    ]
    for stored, new, tags, expected in cases:
        assert kernels.moved(cell(stored, *tags), cell(new)) == expected, stored


def test_an_output_too_many_is_told(monkeypatch):
    more = cell("one")
    more.outputs.append(new_output("execute_result", data={"text/plain": "2", "image/png": "differs"}))
    assert kernels.moved(cell("one"), more) == ["outputs [('stdout', 0)] -> [('stdout', 0), ('text/plain', 1)]"]
    monkeypatch.delenv("COFACTOR_MIRROR", raising=False)
    assert kernels.moved(cell("one", "public-data"), more) == []


def test_each_kernel_runs_once(monkeypatch, capsys):
    answers = {"Haswell": "Haswell", "Zen": "Haswell", "Nehalem": "Nehalem", "SkylakeX": None}

    def run(command, **how):
        assert "OPENBLAS_L2_SIZE" not in os.environ
        runs = answers[os.environ["OPENBLAS_CORETYPE"]]
        return subprocess.CompletedProcess(command, -4 if runs is None else 0, f"{runs}\n", "")

    monkeypatch.setattr(kernels.subprocess, "run", run)
    monkeypatch.setenv("OPENBLAS_L2_SIZE", "4096")
    assert kernels.distinct(answers) == ["Haswell", "Nehalem"]
    said = capsys.readouterr().out
    assert "Zen: OpenBLAS runs Haswell, as for Haswell" in said and "SkylakeX: this processor cannot" in said


@pytest.mark.slow
def test_a_notebook_is_run_and_its_numbers_compared(tmp_path, capsys):
    right, wrong = cell("0.125\n"), cell("3.0\n")
    right.source, wrong.source = "print(1 / 8)", "import os\nprint(4.5, end='\\n')"
    path = tmp_path / "small.ipynb"
    nbformat.write(new_notebook(cells=[right, wrong]), path)
    assert kernels.report(path, "Nehalem, threads: 1") == 1
    assert capsys.readouterr().out.splitlines()[1:] == ["  cell 1: 3.0 -> 4.5"]
    assert nbformat.read(path, as_version=4).cells[1].outputs[0].text == "3.0\n"  # nothing is stored


def test_tests_say_which_kernel_runs(request):
    config = request.config
    said = str(config.hook.pytest_report_header(config=config, start_path=config.rootpath))
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert pools and all(f"{pool['architecture']}, threads: {pool['num_threads']}" in said for pool in pools)
