"""The environment check says what is wrong, and nothing else."""

import shutil
from importlib import metadata

import pytest

from cofactor import CofactorError
from cofactor_app.cli import environment, main
from cofactor_app.cli.environment import check_environment


def test_this_environment_is_ready(capsys):
    assert main(["check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "this machine" and lines[-1] == "verdict: ready"
    assert [line.split()[1] for line in lines if line.startswith("  ok")][:2] == ["Python", "packages"]
    check_environment()
    assert "ready: Python and" in capsys.readouterr().out


def test_missing_and_old_packages_are_named(monkeypatch, capsys):
    def version(name):
        if name == "numba":
            raise metadata.PackageNotFoundError(name)
        return "1.0" if name == "numpy" else "99"

    monkeypatch.setattr(environment.metadata, "version", version)
    assert main(["check"]) == 1
    said = capsys.readouterr()
    assert "numba is missing; numpy 1.0 is too old" in said.out and "python3 kit.py lab" in said.out
    assert "not ready" in said.err
    with pytest.raises(CofactorError, match=r"numba is missing; numpy 1\.0 is too old: run"):
        check_environment()


def test_a_kit_that_was_never_installed_is_named(monkeypatch, capsys):
    def requires(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(environment.metadata, "requires", requires)
    assert main(["check"]) == 1
    said = capsys.readouterr().out
    assert "cofactor is found, but was never installed" in said and "python3 kit.py lab" in said


def test_an_old_python_is_named(monkeypatch):
    monkeypatch.setattr(environment.sys, "version_info", (3, 10, 1))
    assert environment.environment()["Python"].status == "fail"


def test_a_full_disk_and_a_busy_machine_are_said_but_stop_nobody(monkeypatch):
    monkeypatch.setattr(environment.shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 9, 1))
    monkeypatch.setattr(environment.os, "getloadavg", lambda: (1000.0, 0, 0), raising=False)
    found = environment.environment()
    assert (found["disk"].status, found["processor"].status, found.verdict) == ("warn", "warn", "ready")


def test_data_sets_that_are_not_here_are_no_failure(monkeypatch, tmp_path):
    monkeypatch.delenv("COFACTOR_MIRROR", raising=False)
    monkeypatch.setenv("COFACTOR_DATA", str(tmp_path))
    check = environment.environment()["data sets"]
    assert check.status == "pass" and "cofactor datasets fetch" in check.advice


def test_without_a_browser_all_else_runs(monkeypatch):
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    assert environment.environment()["browser for tests"].value.startswith("none")
