"""kit.py: which suite it runs, which versions it installs where, and what it opens."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cofactor.data.registry import entries
from tests.each import each

ROOT = Path(__file__).resolve().parents[1]
PINS = (ROOT / "constraints.txt").read_text(encoding="utf8")


def started(*arguments):
    """Return kit.py as a module, as it is when started with these arguments."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["kit.py", *arguments])
        spec = importlib.util.spec_from_file_location("kit", ROOT / "kit.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


@pytest.fixture
def commands(monkeypatch):
    """Return a function that runs a task and gives the arguments of Python in each command."""

    def commands_of(*arguments):
        module, ran = started(*arguments), []
        monkeypatch.setattr(module, "set_up", lambda *extras: None)
        monkeypatch.setattr(module, "run", lambda *command, **changes: ran.append(command[1:]) or 0)
        assert module.main(list(arguments)) == 0
        return ran

    return commands_of


def test_it_stays_small_and_its_usage_names_every_task():
    assert len((ROOT / "kit.py").read_text(encoding="utf8").splitlines()) <= 200
    answer = subprocess.run([sys.executable, ROOT / "kit.py"], capture_output=True, text=True)
    assert all(re.search(rf"^  {task} ", answer.stdout, re.MULTILINE) for task in started().TASKS)
    assert subprocess.run([sys.executable, ROOT / "kit.py", "tset"], capture_output=True).returncode == 2


@each(
    "asked, quick, everything",
    [([], True, True), (["-x"], True, True), (["--all"], False, True), (["kit.py"], False, False)],
)
def test_the_quick_suite_runs_where_neither_all_nor_files_are_asked_for(asked, quick, everything):
    with pytest.MonkeyPatch.context() as patch:
        module, ran = started("test", *asked), []
        patch.setattr(module, "set_up", lambda *extras: None)
        patch.setattr(module, "run", lambda *command, **changes: ran.append([str(one) for one in command]) or 0)
        assert module.main(["test", *asked]) == 0
    pytest_, linted = ran[-1], any("ruff" in command for command in ran)
    assert ("not slow" in pytest_) == quick and "--all" not in pytest_
    assert ("evaluation" in pytest_) == ("-n" in pytest_) == linted == everything
    assert ("notebooks" in pytest_) == ("--all" in asked)
    assert quick == any(one.endswith("11_capstone.ipynb") for one in pytest_)


def test_processes_are_as_many_as_cores_for_all_tests_one_more_or_as_asked(commands, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    for words, processes in (["test"], "7"), (["test", "--all"], "8"):
        ran = commands(*words)[-1]
        assert ran[ran.index("-n") + 1] == processes
    assert commands("test", "-n1")[-1].count("-n") == 0


@pytest.mark.parametrize(("asked", "folder"), [([], "learner"), (["--instructor"], "notebooks")])
def test_lab_opens_the_copies_or_for_the_instructor_the_sources(commands, asked, folder, capsys):
    ran = commands("lab", *asked, "--no-browser")
    assert f"({ran[0][3]})" in capsys.readouterr().out  # whose result comes first
    assert [command[1] for command in ran] == ["cofactor", *["tools.learner"] * (not asked), "jupyterlab"]
    assert f"--LabApp.default_url=/lab/tree/{folder}/00_start_here.ipynb" in ran[-1]
    first = entries()[ran[0][3]]  # a result also where there is no network: all of it is bundled
    assert not any(first.copies(role)[0].url for role in first.roles)
    assert "--instructor" not in ran[-1] and ran[-1][-1] == "--no-browser"


# ---- set-up ----


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Return kit.py over an empty folder in place of .venv, what it did, and what install is to answer."""
    module, did = started("test"), []
    monkeypatch.setattr(module, "VENV", tmp_path)
    monkeypatch.setattr(module, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(module, "create_venv", lambda: did.append("anew"))
    monkeypatch.setattr(module, "install", lambda extras: did.append(" ".join(extras)) or True)
    return module, did


def test_a_set_up_is_done_once_and_more_extras_are_added(fresh):
    module, did = fresh
    module.set_up()
    module.set_up()
    module.set_up("book")
    module.set_up()  # what is there stays
    assert did == ["anew", "dev notebooks", "book dev notebooks"]


def test_other_pins_make_the_environment_anew(fresh, monkeypatch):
    module, did = fresh
    module.set_up("book")
    monkeypatch.setattr(module, "fingerprint", lambda: "other")
    module.set_up()
    assert did == ["anew", "book dev notebooks", "anew", "dev notebooks"]


def test_a_set_up_that_failed_is_tried_again(fresh, monkeypatch):
    module, did = fresh
    monkeypatch.setattr(module, "install", lambda extras: did.append("failed") or False)
    for _ in range(2):
        with pytest.raises(SystemExit, match="Run the same command again"):
            module.set_up()
    assert did == ["anew", "failed", "anew", "failed"]


@each(
    "flags, broken, tried, succeeds",
    [
        ([], "", "pip uv", True),
        ([], "uv", "pip uv pip", True),
        ([], "pip", "pip pip", False),  # no uv for this machine, and pip cannot reach an index either
        (["--newest"], "", "pip uv", True),
        (["--oldest"], "", "pip uv uv", True),
        (["--oldest"], "uv", "pip uv", False),  # pip knows no lowest versions
    ],
)
def test_uv_installs_the_pins_and_pip_the_same_ones_where_uv_fails(flags, broken, tried, succeeds, tmp_path_factory):
    module, ran = started("test", *flags), []
    module.VENV = tmp_path_factory.mktemp("venv")

    def run(*command):
        ran.append([str(part) for part in command])
        return int(broken != "" and broken in tool(ran[-1]))

    module.run = run
    assert module.install(["dev", "notebooks"]) == succeeds
    assert " ".join(map(tool, ran)) == tried
    assert all("-c" not in command for command in ran) or not flags
    uv = (module.VENV / "uv.txt").read_text(encoding="utf8")
    assert re.fullmatch(r"\nuv==[\d.]+( \\\n    --hash=sha256:[0-9a-f]{64})+", uv)
    if not flags and tried.endswith("pip") and "uv" in tried:
        pins = (module.VENV / "pins.txt").read_text(encoding="utf8")
        assert ran[-1][-4:] == ["-c", str(module.VENV / "pins.txt"), "-e", ".[dev,notebooks]"]
        assert "--hash" not in pins and re.findall(r"^\S+==\S+", pins, re.M) == re.findall(r"^\S+==\S+", PINS, re.M)


def tool(command):
    return "uv" if Path(command[0]).name == "uv" else "pip"


def test_each_choice_of_versions_has_its_own_environment():
    kits = [started("test", *flags) for flags in ([], ["--oldest"], ["--newest"])]
    assert [kit.VENV.name for kit in kits] == [".venv", ".venv-oldest", ".venv-newest"]
    assert len({kit.fingerprint() for kit in kits}) == 3


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    module = started("test")
    (tmp_path / "file").touch()
    module.VENV = tmp_path / "file" / ".venv"
    with pytest.raises(SystemExit, match="Cannot create"):
        module.create_venv()
