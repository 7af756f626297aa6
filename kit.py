"""All tasks of this project in one command. It only needs Python 3.11 or newer, and the network for the first set-up.

usage: python3 kit.py TASK [extra arguments]

  lab        print a first result, then open JupyterLab on your copies of the notebooks, in learner/
             (--instructor: the notebooks themselves, with outputs and solutions)
  test       lint, the tests that are not marked slow, and the notebooks of the course
             (--all: everything; FILES: all tests in these files; other arguments are passed to pytest)
  lint       ruff, mypy and the import rules
  notebooks  run the notebooks and store their outputs     (--check: only report what would change)
  bench      run every benchmark in order
  classroom  write copies for learners and an nbgrader course into classroom/    (-o FOLDER; --marks)
  book       build the documentation as a web site in book/_build

The first task in a fresh clone creates .venv and installs the versions pinned in constraints.txt. If that file or
pyproject.toml changes, the next task recreates it. `test --oldest` and `test --newest` use separate environments with
the lowest versions that pyproject.toml allows, or with the newest versions.
"""

from __future__ import annotations  # so that an old Python reaches the message about its version

import hashlib
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VERSIONS = next((name for name in ("oldest", "newest") if f"--{name}" in sys.argv), "pinned")
VENV = ROOT / (".venv" if VERSIONS == "pinned" else f".venv-{VERSIONS}")
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "cofactor-setup.txt"  # written last: fingerprint and extras of a complete set-up

# one thread: BLAS sums in an order that depends on their number, and the notebooks' stored digits are compared
REPRODUCIBLE = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
LAB = ["--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={ROOT}", "--LabApp.news_url=None"]
LAB += ["--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate"]


def set_up(*extras: str) -> None:
    """Install the package with `extras` in the environment, which is recreated if the pins have changed."""
    digest, *installed = STAMP.read_text(encoding="utf8").split() if STAMP.exists() else [""]
    wanted = sorted({*installed, "dev", "notebooks", *extras})
    if digest == fingerprint() and wanted == installed:
        return
    print(f"setting up {VENV.name}, which takes about a minute", file=sys.stderr, flush=True)
    if digest != fingerprint():
        create_venv()
        wanted = sorted({"dev", "notebooks", *extras})
    if not install(wanted):
        sys.exit("The set-up failed (see above). Run the same command again to retry.")
    STAMP.write_text("\n".join([fingerprint(), *wanted]), encoding="utf8")


def fingerprint() -> str:
    """Return a hash of everything that determines what is installed, and where."""
    parts = [(ROOT / name).read_bytes() for name in ("pyproject.toml", "constraints.txt")]
    return hashlib.sha256(b"\0".join([*parts, f"{platform.python_version()} {VENV}".encode()])).hexdigest()


def create_venv() -> None:
    """Create an empty environment in place of any other."""
    try:
        import venv

        venv.create(VENV, with_pip=True, clear=True)
    except (ImportError, subprocess.CalledProcessError):
        sys.exit(
            "This Python cannot create virtual environments. On Debian or Ubuntu: sudo apt install python3-venv;\n"
            "elsewhere install a Python from python.org. Then run the same command again."
        )
    except OSError as error:
        sys.exit(f"Cannot create {VENV} ({error}). Use a writable folder with 3 GB of free space.")


def install(extras: list[str]) -> bool:
    """Install the package with `extras` by uv, which pip installs, or else by pip; return whether that succeeded."""
    own, pins = ["-e", f".[{','.join(extras)}]"], (ROOT / "constraints.txt").read_text(encoding="utf8")
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    uv = [str(PYTHON.with_name("uv")), "pip", "install", "--quiet", "--python", str(PYTHON)]
    calls = {"newest": [["--upgrade", *own]], "pinned": [["-c", "constraints.txt", "-b", "constraints.txt", *own]]}
    calls["oldest"] = [["--resolution", "lowest-direct", "-e", ".[notebooks]"], own]  # tools of dev are the newest
    (VENV / "uv.txt").write_text("".join(re.findall(r"\nuv==.*(?:\n +--hash.*)*", pins)), encoding="utf8")
    if run(*pip, "-r", VENV / "uv.txt") == 0 and all(run(*uv, *call) == 0 for call in calls[VERSIONS]):
        return True
    print("uv could not install the packages; trying pip, without checking hashes", file=sys.stderr, flush=True)
    (VENV / "pins.txt").write_text(re.sub(r" \\\n +--hash=\S+", "", pins), encoding="utf8")
    return VERSIONS == "pinned" and run(*pip, "-c", VENV / "pins.txt", *own) == 0


def run(*command: object, **changes: str) -> int:
    """Run a command in the project folder with these environment variables; return its exit code."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "MPLBACKEND")}
    beside = ROOT.parent / "shared" / "datasets" / "raw"
    if "COFACTOR_MIRROR" not in env and beside.is_dir():
        env["COFACTOR_MIRROR"] = str(beside)
    env |= {"PIP_USER": "0"}  # whatever pip's settings at home say
    if VERSIONS != "pinned":  # two versions of numba would overwrite each other's compiled code beside the sources
        env |= {"NUMBA_CACHE_DIR": str(VENV / "numba"), "COFACTOR_VERSIONS": VERSIONS}
    with subprocess.Popen([str(part) for part in command], cwd=ROOT, env=env | changes) as process:
        while True:
            try:
                code = process.wait()
                return code if code >= 0 else 128 - code
            except KeyboardInterrupt:
                continue  # the command got the same Ctrl-C and decides itself when to stop


def python(*arguments: object, **changes: str) -> int:
    """Run the Python of the environment."""
    return run(PYTHON, *arguments, **changes)


def lab(extra: list[str]) -> int:
    """Print a first result, then open JupyterLab with the learner's copies or, for the instructor, the sources."""
    set_up()
    print("First result: 39 people label 108 photographs (bluebird). Then JupyterLab: Ctrl-C ends it.", flush=True)
    instructor = "--instructor" in extra
    first = f"--LabApp.default_url=/lab/tree/{'notebooks' if instructor else 'learner'}/00_start_here.ipynb"
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return (
        python("-m", "cofactor", "aggregate", "bluebird")  # bundled: a result without the network
        or (0 if instructor else python("-m", "tools.learner"))
        or python("-m", "jupyterlab", *LAB, first, *as_root, *(one for one in extra if one != "--instructor"))
    )


def lint(extra: list[str]) -> int:
    """Run all static checks, up to the first failure."""
    set_up()
    return (
        python("-m", "ruff", "check", *extra)
        or python("-m", "ruff", "format", "--check")
        or python("-m", "mypy")
        or python("-c", "import sys, importlinter.cli as cli; sys.exit(cli.lint_imports(no_logo=True))")
    )


def test(extra: list[str]) -> int:
    """Run static checks, then pytest on tests, notebooks and docstring examples, or on the named files."""
    set_up(*os.environ.get("COFACTOR_EXTRAS", "").split())
    everything, extra = "--all" in extra, [one for one in extra if one != "--all"]
    pytest = ["-m", "pytest", "--doctest-modules"]
    pytest += ["--nbval" if VERSIONS == "pinned" else "--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=120"]
    pytest += ["--nbval-sanitize-with", str(ROOT / "tests" / "nbval_sanitize.cfg")]
    pytest += ["-W", "ignore::DeprecationWarning"] if VERSIONS == "oldest" else []  # of old libraries about new ones
    if any((ROOT / one.split("::")[0]).exists() for one in extra):
        return python(*pytest, *extra, **REPRODUCIBLE)
    # the cells of a notebook share a kernel, so each process gets whole files; of all tests, some wait for browsers
    pytest += ["--dist", "loadscope", "--no-loadscope-reorder"]
    pytest += [] if any(one.startswith("-n") for one in extra) else ["-n", str((os.cpu_count() or 1) + everything)]
    pytest += ["tests", "lib", "evaluation", *(["notebooks"] if everything else sorted(ROOT.glob("notebooks/*.ipynb")))]
    pytest += [] if everything else ["-m", "not slow"]
    return (lint([]) if VERSIONS == "pinned" else 0) or python(*pytest, *extra, **REPRODUCIBLE)


def program(module: str, *extras: str) -> Callable[[list[str]], int]:
    """Return the task that runs one program of the project on one thread."""

    def task(extra: list[str]) -> int:
        set_up(*extras)
        return python("-m", module, *extra, **REPRODUCIBLE)

    return task


def bench(extra: list[str]) -> int:
    """Run benchmarks, then write their page."""
    return program("evaluation.benchmarks", "bench")(extra) or python("-m", "evaluation", "pages")


TASKS = {
    "lab": lab,
    "test": test,
    "lint": lint,
    "notebooks": program("tools.refresh_notebooks"),
    "bench": bench,
}
TASKS |= {"classroom": program("tools.classroom", "classroom"), "book": program("docs.build", "book")}


def main(arguments: list[str]) -> int:
    """Check the Python version, and run the task."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(__doc__.strip())
        return 0
    if arguments[0] not in TASKS:
        print(f"unknown task {arguments[0]!r}\n\n{__doc__.strip()}", file=sys.stderr)
        return 2
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is what an old Python meets first
        sys.exit(f"Python 3.11 or newer is required; this is {platform.python_version()} ({sys.executable}).")
    return TASKS[arguments[0]]([one for one in arguments[1:] if one != f"--{VERSIONS}"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
