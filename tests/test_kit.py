"""kit.py: which versions it installs where; and what the page on dependencies says about them."""

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from importlib import metadata
from pathlib import Path
from unittest import mock

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from cofactor.data.registry import entries
from tests.each import each
from tools.pins import MORE, with_more

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
RUNTIME, EXTRAS = PROJECT["dependencies"], PROJECT["optional-dependencies"]
BROUGHT = {"pip", "setuptools"}  # by every environment


@pytest.fixture
def kit(monkeypatch):
    """Give kit.py as it is when started with these arguments."""

    def started(*arguments):
        monkeypatch.setattr(sys, "argv", ["kit.py", *arguments])
        spec = importlib.util.spec_from_file_location("kit", ROOT / "kit.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return started


def names(lines):
    return [Requirement(line).name for line in lines]


def test_all_tests_run_on_all_cores_unless_told_otherwise(kit, monkeypatch):
    module = kit("test")
    monkeypatch.setattr(module.os, "cpu_count", lambda: 3)
    spread = ["--dist", "loadscope", "--no-loadscope-reorder"]
    assert module.processes(False, []) == [*spread, "-n", "3"]
    assert module.processes(False, ["-n", "1"]) == spread
    assert module.processes(True, ["tests/core"]) == []


@pytest.mark.parametrize(
    ("asked", "small"), [([], True), (["-x"], True), (["--all"], False), (["tests/core"], False), (["--newest"], True)]
)
def test_the_small_suite_is_run_where_neither_all_nor_files_are_asked_for(kit, monkeypatch, asked, small):
    module, ran = kit("test", *asked), []
    monkeypatch.setattr(module, "set_up", lambda *extras: None)
    monkeypatch.setattr(module, "lint", lambda extra: 0)
    monkeypatch.setattr(module, "python", lambda *arguments, **changes: ran.append(arguments) or 0)
    assert module.main(["test", *asked]) == 0
    assert (
        ("--small" in ran[0]) == small
        and "--all" not in ran[0]
        and ("notebooks" in ran[0]) == (asked[-1:] != ["tests/core"])
    )


def test_durations_are_those_of_everything_or_of_what_is_named(kit, monkeypatch):
    module, ran = kit("durations"), []
    monkeypatch.setattr(module, "set_up", lambda *extras: None)
    monkeypatch.setattr(module, "python", lambda *arguments, **changes: ran.append(arguments) or 0)
    assert module.main(["durations"]) == module.main(["durations", "tests/core"]) == 0
    assert all("--durations-file" in arguments and "--small" not in arguments for arguments in ran)
    assert "evaluation" in ran[0] and "evaluation" not in ran[1]


@pytest.mark.parametrize(("asked", "runs"), [(["--all"], 2), ([], 1), (["tests/core"], 1), (["--all", "--newest"], 1)])
def test_compiled_code_is_run_once_more_with_indices_checked(kit, monkeypatch, asked, runs):
    module, ran = kit("test", *asked), []
    monkeypatch.setattr(module, "set_up", lambda *extras: None)
    monkeypatch.setattr(module, "lint", lambda extra: 0)
    monkeypatch.setattr(module, "python", lambda *arguments, **changes: ran.append((arguments, changes)) or 0)
    assert module.main(["test", *asked]) == 0 and len(ran) == runs
    first, last = ran[0][1], ran[-1]
    assert "NUMBA_BOUNDSCHECK" not in first
    assert (last[1].get("NUMBA_BOUNDSCHECK") == "1") == (runs == 2)
    assert {(ROOT / name).exists() for name in module.REACH_COMPILED} == {True}
    assert runs == 1 or (set(module.REACH_COMPILED) < set(last[0]) and last[1]["NUMBA_CACHE_DIR"] != "")


@pytest.mark.parametrize(("asked", "folder"), [([], "learner"), (["--instructor"], "notebooks")])
def test_lab_opens_the_copies_or_for_the_instructor_the_sources(kit, monkeypatch, asked, folder):
    module, ran = kit("lab", *asked), []
    monkeypatch.setattr(module, "set_up", lambda *extras: None)
    monkeypatch.setattr(module, "python", lambda *arguments, **changes: ran.append(arguments) or 0)
    assert module.main(["lab", *asked, "--no-browser"]) == 0
    assert [arguments[1] for arguments in ran] == ["cofactor", *["tools.learner"] * (not asked), "jupyterlab"]
    assert f"--LabApp.default_url=/lab/tree/{folder}/00_start_here.ipynb" in ran[-1]
    first = entries()[ran[0][3]]  # a result also where there is no network: all of it is bundled
    assert not any(first.copies(role)[0].url for role in first.roles)
    assert "--instructor" not in ran[-1] and ran[-1][-1] == "--no-browser"


# ---- versions ----


def test_the_pinned_versions_are_the_rule(kit):
    assert kit("test", "-x").versions(["dev"]) == ["-c", "constraints.txt", "-b", "constraints.txt"]
    assert kit("test", "-x").VENV == ROOT / ".venv"


def test_the_oldest_are_the_lower_bounds_beside_pinned_tools(kit):
    asked = {r.name: r.specifier for r in map(Requirement, kit("test", "--oldest").versions(["dev"]))}
    assert sorted(asked) == sorted(names(RUNTIME + EXTRAS["dev"]))
    for allowed in map(Requirement, RUNTIME):
        (bound,) = (s.version for s in allowed.specifier if s.operator == ">=")
        assert asked[allowed.name] == SpecifierSet(f"=={bound}")
    assert all(str(asked[tool]).startswith("==") for tool in names(EXTRAS["dev"]))


def test_the_newest_are_held_back_by_nothing(kit):
    assert kit("test", "--newest").versions(["dev"]) == []
    assert kit("test", "--newest").for_pip(["dev"]) == [["-e", ".[dev]"]]


def needed(name, extras, found):
    """Add what a package needs with some extras, as its own installed metadata say, and what that needs in turn."""
    if (name, extras) in found:
        return
    found.add((name, extras))
    for line in metadata.requires(name) or []:
        one = Requirement(line)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras or {""}):
            needed(canonicalize_name(one.name), frozenset(one.extras), found)


@pytest.mark.skipif("COFACTOR_VERSIONS" in os.environ, reason="the oldest or newest versions are asked for")
def test_pip_alone_gets_the_hashes_of_all_that_is_needed_and_of_little_more(kit, tmp_path, monkeypatch):
    module, found = kit("test"), set()
    monkeypatch.setattr(module, "VENV", tmp_path)
    (*how, listed), own = module.for_pip(["dev", "notebooks"])
    assert how == ["--require-hashes", "--no-deps", "-r"] and own == ["--no-deps", "--no-build-isolation", "-e", "."]
    entries = re.split(r"\n(?=\w)", Path(listed).read_text("utf8"))
    assert all("--hash=sha256:" in entry for entry in entries)
    given = {entry.split("==")[0] for entry in entries}
    needed("cofactor", frozenset(["dev", "notebooks"]), found)
    assert {name for name, _ in found} - {"cofactor", *BROUGHT} <= given
    assert {"hatchling", "pathspec", "duckdb"} <= given and not {"torch", "sphinx", "uv"} & given


def test_the_pinned_installer_is_checked_before_it_runs(kit, tmp_path, monkeypatch):
    module = kit("test")
    monkeypatch.setattr(module, "VENV", tmp_path)
    listed = Path(module.hashed({"uv"})[-1]).read_text("utf8")
    assert re.fullmatch(r"uv==[\d.]+( \\\n    --hash=sha256:[0-9a-f]{64})+\s*", listed)


def test_each_choice_has_its_own_environment_and_compiled_code(kit):
    started = [kit("test", *flags) for flags in ([], ["--oldest"], ["--newest"])]
    assert len({module.VENV for module in started}) == 3
    assert len({module.fingerprint() for module in started}) == 3
    folders = [module.environment().get("NUMBA_CACHE_DIR") for module in started[1:]]
    assert folders == [str(module.VENV / "numba") for module in started[1:]]


def test_what_is_no_choice_goes_to_the_command(kit):
    module, seen = kit("test", "--oldest", "-x"), []
    module.COMMANDS["test"] = seen.extend
    module.main(["test", "--oldest", "-x"])
    assert seen == ["-x"]


def test_an_interrupted_set_up_is_done_again(kit, tmp_path, monkeypatch):
    module, done = kit("test"), []
    monkeypatch.setattr(module, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(module, "PINNED", tmp_path)
    monkeypatch.setattr(module, "LAB_SETTINGS", tmp_path / "lab" / "settings.json")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "install", interrupted)
    with pytest.raises(KeyboardInterrupt):
        module.set_up("dev")
    monkeypatch.setattr(module, "install", lambda extras, uv: not done.append(extras))
    monkeypatch.setattr(module, "warm_up", lambda: done.append("warm"))
    module.set_up("dev")
    module.set_up("dev")  # nothing changed
    module.set_up("book")
    assert done == [["dev", "notebooks"], "warm", ["book", "dev", "notebooks"], "warm"]


def dist_info(folder, *names):
    """Write what an installer leaves of packages of these names."""
    for name in names:
        (folder / f"{name}-1.dist-info").mkdir(parents=True)
        (folder / f"{name}-1.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")


@pytest.mark.parametrize(
    ("last", "taken"),
    [("numpy left_over", ["left-over"]), (None, ["left-over", "own"]), ("numpy", [])],
    ids=["left the pins", "no list: of an older kit", "never pinned"],
)
@pytest.mark.parametrize("uv", ["uv", None])
def test_what_left_the_pins_leaves_the_environment(kit, tmp_path, monkeypatch, last, taken, uv):
    module, ran = kit("test"), []
    monkeypatch.setattr(module, "VENV", tmp_path)
    monkeypatch.setattr(module, "PINNED", tmp_path / "pinned")
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(tmp_path), "platbase": str(tmp_path)}))
    dist_info(site, "numpy", "Left_Over", "own", "pip", "cofactor")
    if last:
        module.PINNED.write_text(last.replace("_", "-").replace(" ", "\n"))
    codes = iter([1, 0])  # the first try fails, and is made again
    monkeypatch.setattr(
        module.subprocess, "run", lambda command, **_: ran.append(command) or mock.Mock(returncode=next(codes))
    )
    module.take_out(uv, {})
    assert [command[command.index("--quiet") + 1 :] for command in ran] == [taken] * bool(taken)
    module.take_out(uv, {})
    module.take_out(uv, {})  # done by now: what stands here was never uninstalled, and is no longer meant
    assert len(ran) == 2 * bool(taken) and all((command[0] == "uv") == bool(uv) for command in ran)
    assert set(module.PINNED.read_text().split()) == {name for name, _ in module.pins()}


def test_an_environment_without_a_list_of_pins_is_set_up_again(kit, tmp_path, monkeypatch):
    module, done = kit("test"), []
    for name in ("STAMP", "PINNED", "LAB_SETTINGS"):
        monkeypatch.setattr(module, name, tmp_path / name)
    module.STAMP.write_text("\n".join([module.fingerprint(), "dev", "notebooks"]))
    monkeypatch.setattr(module, "install", lambda extras, uv: module.PINNED.touch() or not done.append(extras))
    monkeypatch.setattr(module, "warm_up", lambda: None)
    module.set_up("dev")
    module.set_up("dev")
    assert done == [["dev", "notebooks"]]


def test_after_set_up_compiled_code_is_there(kit, monkeypatch, tmp_path):
    module = kit("test")
    monkeypatch.setattr(module, "PYTHON", Path(sys.executable))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    module.warm_up()
    assert list(tmp_path.rglob("*.nbi"))


def test_where_nothing_can_be_written_it_says_so(kit, tmp_path, monkeypatch):
    module = kit("test")
    (tmp_path / "file").touch()
    monkeypatch.setattr(module, "VENV", tmp_path / "file" / ".venv")
    with pytest.raises(SystemExit, match="cannot be made"):
        module.create_venv(uv=None)


FETCHED, FAST, SLOW = "uv", "pip's uv", "pip"  # what pip brings; and who installs the rest


@pytest.mark.parametrize(
    ("broken", "settings", "tried", "ends"),
    [
        ([], {}, [FETCHED, FAST], True),
        ([FETCHED], {}, [FETCHED, SLOW, SLOW], True),  # no uv for this machine; packages first, then the project
        ([FAST], {}, [FETCHED, FAST, SLOW, SLOW], True),
        ([], None, [FETCHED, SLOW, SLOW], True),  # pip is told what uv has no word for
        ([FAST, SLOW], {}, [FETCHED, FAST, SLOW], False),
    ],
)
def test_pip_brings_uv_and_goes_on_alone_where_that_fails(kit, monkeypatch, tmp_path, broken, settings, tried, ends):
    module, told = kit("test"), []
    monkeypatch.setattr(module, "VENV", tmp_path)
    monkeypatch.setattr(module, "PYTHON", tmp_path / "python")
    monkeypatch.setattr(module, "usable", lambda need_pip: True)
    monkeypatch.setattr(module, "settings_of_pip", lambda: settings)
    monkeypatch.setattr(module, "take_out", lambda uv, into_venv: None)

    def ran(command, cwd, env, check=False, **_):
        assert env["PIP_USER"] == "0" and command[0].startswith(str(module.VENV))
        told.append(FAST if "-m" not in command else FETCHED if check else SLOW)
        done = subprocess.CompletedProcess(command, int(told[-1] in broken))
        if check:
            done.check_returncode()
        return done

    monkeypatch.setattr(module.subprocess, "run", ran)
    assert module.install(["dev"], uv=None) == ends and told == tried


@pytest.fixture
def pip_conf(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)  # else those of the machine and the user are read as well
    return lambda **settings: [monkeypatch.setenv(f"PIP_{name}", value) for name, value in settings.items()]


def test_uv_looks_where_pip_is_told_to_look(kit, pip_conf):
    pip_conf(INDEX_URL="https://mirror/simple", FIND_LINKS="/wheels\n/more", TIMEOUT="9", CERT="C:\\certs\\net.pem")
    assert kit("test").settings_of_pip() == {
        "UV_INDEX_URL": "https://mirror/simple",
        "UV_FIND_LINKS": "/wheels,/more",
        "SSL_CERT_FILE": "C:\\certs\\net.pem",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_what_uv_has_no_word_for_is_left_to_pip(kit, pip_conf):
    pip_conf(NO_INDEX="1", FIND_LINKS="/wheels")
    assert kit("test").settings_of_pip() is None


def test_settings_of_install_go_before_those_of_all_commands(kit, monkeypatch):
    module = kit("test")
    told = "download.index-url='https://a'\nglobal.index-url='https://b'\ninstall.index-url='https://c'\n"
    monkeypatch.setattr(module.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, stdout=told))
    assert module.settings_of_pip()["UV_INDEX_URL"] == "https://c"


@each("left", ["a==1 \\\n", "a==1 \\\n    --hash=sha256:cc \\\n"])
def test_hashes_beside_those_of_the_index_are_written_once_and_for_their_version_only(left):
    text = left + "    --hash=sha256:dd\na==2 ; sys_platform == 'linux' \\\n    --hash=sha256:ee\n"
    asked = {"a==1": "cc", "a==2": "ff", "a==3": "00"}
    new = "a==1 \\\n    --hash=sha256:cc \\\n    --hash=sha256:dd\n"
    new += "a==2 ; sys_platform == 'linux' \\\n    --hash=sha256:ff \\\n    --hash=sha256:ee\n"
    assert with_more(text, asked) == new


def test_the_file_has_the_hashes_beside_those_of_the_index():
    text = (ROOT / "constraints.txt").read_text("utf8")
    assert with_more(text) == text and MORE and all(digest in text for digest in MORE.values())


# ---- the page ----


def table(heading):
    """First column of the table under a heading, and the whole rows."""
    text = (
        (ROOT / "docs" / "dependencies.md")
        .read_text(encoding="utf8")
        .partition(f"## {heading}\n")[2]
        .partition("\n## ")[0]
    )
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return {row[0].strip("`"): row for row in rows[2:]}


def test_page_names_exactly_the_dependencies():
    assert list(table("At run time")) == names(RUNTIME)


def test_page_names_exactly_the_extras():
    listed = {extra: re.findall(r"[\w-]+", row[1]) for extra, row in table("Extras").items()}
    assert listed == {extra: names(lines) for extra, lines in EXTRAS.items()}


def test_usage_lists_every_command(kit):
    answer = subprocess.run([sys.executable, ROOT / "kit.py"], capture_output=True, text=True)
    assert all(re.search(rf"^  {command} ", answer.stdout, re.MULTILINE) for command in kit("help").COMMANDS)
