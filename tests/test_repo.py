"""The repository agrees with itself: dependencies, pins, licence, paths."""

import ast
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import cofactor

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))
PROJECT, BUILD = PYPROJECT["project"], PYPROJECT["build-system"]

# conda name: PyPI name
PYPI_NAME = {"matplotlib-base": "matplotlib", "python-duckdb": "duckdb", "seaborn-base": "seaborn"}
SEEDED = {"pip", "setuptools"}  # venv brings its own
NOTHING = SpecifierSet("==0,!=0")
READERS_TESTS = {"pytest", "nbval"}  # of the dev extra, what a reader needs to run notebooks as tests
HOST = re.compile(r"https?://|--(extra-)?index|--find-links")
HOSTLESS = ["constraints.txt", "environment.yml", "pyproject.toml", "kit.py", "conftest.py", ".ci/run"]
MACHINE_PATH = re.compile(r"(?<![\w.:/])/(?:home|root|Users|work|mnt)/\w|\b[A-Z]:\\+Users\b")
LINES = ("crowd", "pmf", "separable", "comparisons")
TEXT = {".cff", ".cfg", ".css", ".html", ".ipynb", ".json", ".md", ".py", ".toml", ".txt", ".yaml", ".yml", ""}


def text_of(name):
    return (ROOT / name).read_text(encoding="utf8")


def requirements(lines):
    """Allowed versions by name; of this Python, and not what only others need."""
    here = [r for r in map(Requirement, lines) if r.marker is None or r.marker.evaluate()]
    return {canonicalize_name(r.name): r.specifier for r in here}


# ---- dependencies ----


def conda_environment():
    """Names and versions of environment.yml, with PyPI's names; its python; its pip section."""
    conda, pip = {}, []
    for entry in yaml.safe_load(text_of("environment.yml"))["dependencies"]:
        if isinstance(entry, dict):
            pip = entry["pip"]
        else:
            name, version = re.fullmatch(r"([\w.-]+)\s*(.*)", entry).groups()
            conda[PYPI_NAME.get(name, name)] = version
    return conda, pip


def test_environment_is_the_runtime_and_the_notebook_tests():
    conda, pip = conda_environment()
    runtime = requirements(PROJECT["dependencies"])
    tests = requirements(PROJECT["optional-dependencies"]["dev"])
    assert SpecifierSet(PROJECT["requires-python"]).contains(conda.pop("python").lstrip("="))
    assert conda.pop("pip") == "" and pip == ["-e .[notebooks]"]
    listed = {name: SpecifierSet(version) for name, version in conda.items()}
    notebooks = requirements(PROJECT["optional-dependencies"]["notebooks"])
    assert listed == runtime | notebooks | {name: tests[name] for name in READERS_TESTS}


def test_environment_uses_free_channels_only():
    assert yaml.safe_load(text_of("environment.yml"))["channels"] == ["conda-forge", "nodefaults"]


ENTRIES = re.split(r"\n(?=\S)", text_of("constraints.txt").rstrip("\n"))
HASHES = r"( \\\n    --hash=sha256:[0-9a-f]{64})+"
NEEDED_BY = r"(\n    # via( [\w-]+( \(pyproject\.toml\))?|(\n    #   [\w-]+( \(pyproject\.toml\))?)+))?"


def pins():
    """Pins of constraints.txt that apply to this Python and machine."""
    return requirements(entry.partition(" \\")[0] for entry in ENTRIES)


def test_a_package_has_one_version_on_all_pythons():
    """Stored outputs, types and kept results belong to it."""
    names = [canonicalize_name(Requirement(entry.partition(" \\")[0]).name) for entry in ENTRIES]
    assert len(set(names)) == len(names) > 100


def test_constraints_satisfy_every_dependency():
    pinned = {name: str(version).removeprefix("==") for name, version in pins().items()}
    for group in [PROJECT["dependencies"], BUILD["requires"], *PROJECT["optional-dependencies"].values()]:
        for name, allowed in requirements(group).items():
            assert allowed.contains(pinned[name]), name


IMPORT_NAME = {"scikit-learn": "sklearn", "crowd-kit": "crowdkit", "pillow": "PIL"}
OWN = {"cofactor", "cofactor_app", "course", "evaluation"}


def imported():
    """What the four packages import, other than themselves and Python's own."""
    rooms = (ROOT / "lib", ROOT / "notebooks" / "course", ROOT / "evaluation")
    files = [path for room in rooms for path in room.rglob("*.py")]
    trees = [ast.parse(path.read_text(encoding="utf8")) for path in files]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {name.split(".")[0] for name in names} - sys.stdlib_module_names - OWN


@pytest.mark.slow
def test_what_is_imported_is_declared_and_the_other_way_round():
    runtime = {IMPORT_NAME.get(name, name) for name in requirements(PROJECT["dependencies"])}
    extras = {IMPORT_NAME.get(n, n) for group in PROJECT["optional-dependencies"].values() for n in requirements(group)}
    assert runtime <= imported() <= runtime | extras


ABOVE = re.compile(r"(cofactor_app|course|evaluation)(\.|:|$)")  # packages that know the library


def named(source):
    """Strings of a source that name a package above the library, by which it could be imported unseen by the linter."""
    strings = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    return [text for text in strings if isinstance(text, str) and ABOVE.match(text)]


def test_the_library_imports_no_package_above_it_by_name():
    code = 'load(f"cofactor_app.cli.{name}"), load("evaluation"), "of course"'
    assert sorted(named(code)) == ["cofactor_app.cli.", "evaluation"]
    files = sorted((ROOT / "lib" / "cofactor").rglob("*.py"))
    assert len(files) > 100
    assert [(path.name, text) for path in files for text in named(path.read_text(encoding="utf8"))] == []


def test_constraints_hold_pins_each_with_its_hashes_and_nothing_else():
    pin = r"[\w.-]+==[\w.]+( ; [^\\\n]+)?"
    odd = [entry.splitlines()[0] for entry in ENTRIES if not re.fullmatch(pin + HASHES + NEEDED_BY, entry)]
    assert len(ENTRIES) > 200 and not odd


@pytest.mark.skipif("COFACTOR_VERSIONS" in os.environ, reason="the oldest or newest versions are asked for")
def test_installed_is_what_is_pinned():
    here = metadata.distributions(path=[sysconfig.get_path("purelib")])  # not what setuptools brings for itself
    installed = {canonicalize_name(d.name): d.version for d in here if d.name}
    installed = {name: version for name, version in installed.items() if name not in {*SEEDED, PROJECT["name"]}}
    pinned = pins()
    wrong = {name: version for name, version in installed.items() if version not in pinned.get(name, NOTHING)}
    assert installed and not wrong


# ---- texts ----


def tracked_texts():
    """Tracked text files, or none outside a clone."""
    try:
        answer = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git clone, or no git")
    paths = [ROOT / name for name in answer.stdout.split("\0") if name]
    paths = [path for path in paths if "corpus/files" not in path.as_posix()]  # which are hostile on purpose
    return [p for p in paths if p.suffix in TEXT and p.is_file() and p.stat().st_size < 2_000_000]


def test_every_file_of_python_is_linted():
    ruff = [sys.executable, "-m", "ruff", "check", "--show-files"]
    answer = subprocess.run(ruff, cwd=ROOT, capture_output=True, text=True, check=True)
    python = {path for path in tracked_texts() if path.suffix == ".py"}
    assert python and not python - {Path(line) for line in answer.stdout.splitlines()}


def test_no_path_of_a_machine_in_tracked_files():
    found = [path.name for path in tracked_texts() if MACHINE_PATH.search(path.read_text(encoding="utf8"))]
    assert not found


@pytest.mark.parametrize("name", HOSTLESS)
def test_no_host_where_none_belongs(name):
    assert not HOST.search(text_of(name))


def test_citation_agrees_with_pyproject():
    citation = yaml.safe_load(text_of("CITATION.cff"))
    assert citation["title"] == f"{PROJECT['name']}: {PROJECT['description']}"
    assert citation["date-released"] and "version" not in citation
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]


def test_the_version_is_stated_once():
    assert "version" in PROJECT["dynamic"] and "version" not in PROJECT
    assert metadata.version(PROJECT["name"]) == cofactor.__version__
    stated = f'__version__ = "{cofactor.__version__}"'
    assert stated in text_of(PYPROJECT["tool"]["hatch"]["version"]["path"])


def test_a_forge_runs_the_same_task_on_the_pythons_that_are_declared():
    job = yaml.safe_load(text_of(".github/workflows/ci.yml"))["jobs"]["test"]
    declared = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert job["strategy"]["matrix"]["python"] == declared and job["steps"][-1]["run"] == "python kit.py test"
    hooks = yaml.safe_load(text_of(".pre-commit-config.yaml"))["repos"][0]["hooks"]
    pinned = re.search(r"^ruff==\S+", text_of("constraints.txt"), re.MULTILINE)[0]
    assert {one for hook in hooks for one in hook["additional_dependencies"]} == {pinned}


def test_licence_is_the_one_declared():
    first, _, holder = text_of("LICENSE").splitlines()[:3]
    assert first == f"{PROJECT['license']} License"
    assert holder.endswith(PROJECT["authors"][0]["name"])


def test_changelog_has_a_place_for_what_comes():
    assert "## [Unreleased]" in text_of("CHANGELOG.md")


# ---- pages for whoever inherits it ----

GUIDES = ("ARCHITECTURE.md", "CONTRIBUTING.md")
FOR_EXAMPLE = {"<line>": "crowd", "nbNN": "nb04", "NAME": "crowd_table1", "NN_name": "04_symnmf_convergence"}
NAMED_PATH = re.compile(r"(?:[\w.-]+/)+[\w.-]*|[\w-]*\.(?:py|csv|tsv|toml|json|md|js|ipynb)")
PLACES = [
    ROOT,
    ROOT / "notebooks" / "course" / "nb04",
    ROOT / "lib" / "cofactor",
    ROOT / "lib" / "cofactor_app",
    ROOT / "lib" / "cofactor_app" / "cli",
    ROOT / "notebooks",
    *(ROOT / "lib" / "cofactor" / line for line in LINES),
]


def paths_in(text):
    """Files and folders that a text names between backticks, alone or in a command; an example for each placeholder."""
    for placeholder, example in FOR_EXAMPLE.items():
        text = text.replace(placeholder, example)
    words = [word for quoted in re.findall(r"`([^`\n]+)`", text) for word in quoted.split()]
    return [word for word in words if NAMED_PATH.fullmatch(word) and not word.startswith(".venv")]


def map_of_files():
    """Return what ARCHITECTURE.md says of every file of lib, by its path; a folder stands for its __init__.py."""
    found, folder = [], ""
    for line in text_of("ARCHITECTURE.md").partition("## Every file of lib\n")[2].splitlines():
        if heading := re.fullmatch(r"### `(lib/[\w/]+)`: (.+)", line):
            folder = heading[1]
            found.append((f"{folder}/__init__.py", heading[2]))
        elif entry := re.fullmatch(r"- `(\w+\.py)`: (.+)", line):
            found.append((f"{folder}/{entry[1]}", entry[2]))
    return found


def test_the_map_names_every_file_of_the_library_once_in_a_line():
    named = [path for path, _ in map_of_files()]
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "lib").rglob("*.py")}
    assert len(set(named)) == len(named), "named twice"
    assert not there - set(named), f"not in ARCHITECTURE.md: {sorted(there - set(named))}"
    assert not set(named) - there, f"in ARCHITECTURE.md, and not there: {sorted(set(named) - there)}"
    assert all(10 < len(said) <= 120 for _, said in map_of_files())


@pytest.mark.parametrize("name", GUIDES)
def test_every_path_that_a_guide_names_is_there(name):
    assert paths_in("`cli/`, `kit.py lint`, `a/nbNN`, `NAME.csv`, `x_hat`, `<p>no</p>`") == [
        *("cli/", "kit.py", "a/nb04", "crowd_table1.csv")
    ]
    named = paths_in(text_of(name).partition("## Every file of lib")[0])  # which has a test of its own
    assert len(named) > 20
    assert not [path for path in named if not any((place / path).exists() for place in PLACES)]


def test_every_promise_names_a_test_that_there_is():
    named = re.findall(r"\| `(tests/[^`]+)` \|", text_of("docs/promises.md"))
    missing = []
    for path, _, function in (name.partition("::") for name in named):
        there = (ROOT / path).exists() and (not function or f"def {function}(" in (ROOT / path).read_text("utf8"))
        missing += [] if there else [f"{path}::{function}"]
    assert len(named) > 30 and not missing
