"""Everything the project does, in one command; standard library only.

usage: python3 kit.py COMMAND [extra arguments]

  lab        one result on the command line, then JupyterLab on copies of the notebooks to write in, in learner/
             (--instructor: on the notebooks themselves, with outputs and solutions)
  test       lint, notebooks, and the small suite: what takes at most .3 seconds, of slower tests an item
             (--all: everything; FILES: all of these; extra arguments go to pytest; -n 1: on one core, not on all)
  lint       ruff, mypy and the import rules
  notebooks  run the notebooks and store their outputs     (--check: only say what would change)
  kernels    run the notebooks under each BLAS kernel, and say which stored numbers move     (--threads 1: not on two)
  durations  run all tests, and write into tests/durations.tsv those that take more than .3 seconds  (FILES: only these)
  bench      run every benchmark in order
  mutants    change one place of the library at a time, and see whether a test notices    (a room, -n 40, --seed 0)
  classroom  write what a teacher hands out and collects into classroom/: copies for learners, a course of nbgrader
             (-o FOLDER: into another; --marks: the points of all learners)
  book       build the web site of all this in book/_build, and slides of four notebooks in book/_build/slides
             (--live: panels move there, too; some ten minutes the first time)

The first command of a fresh clone creates .venv and installs the pinned versions of constraints.txt into it.
With --oldest or --newest, `test` uses an environment of its own: the oldest or newest versions that pyproject.toml
allows. Lint and the stored outputs of notebooks belong to the pinned versions; notebooks run all the same.
"""

from __future__ import annotations  # so that an old Python gets as far as being told

import ast
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from datetime import date
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VERSIONS = next((name for name in ("oldest", "newest") if f"--{name}" in sys.argv), "pinned")
VENV = ROOT / (".venv" if VERSIONS == "pinned" else f".venv-{VERSIONS}")
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "cofactor-setup.txt"
PINNED = VENV / "cofactor-pinned.txt"  # names of the pins that the last set-up had

# One thread: BLAS sums in an order that depends on their number, and the notebooks compare stored digits.
REPRODUCIBLE = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
INDICES_CHECKED = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(VENV / "numba-checked")}  # compiled apart
REACH_COMPILED = ["tests/core/test_em.py", "tests/core/test_moments.py", "tests/separable/test_least_squares.py"]
REACH_COMPILED += ["tests/pmf/test_cnmf_opt.py", "tests/fuzz/test_extremes.py", "tests/separable/test_edges.py"]
NBVAL = ["--nbval" if VERSIONS == "pinned" else "--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=120"]
NBVAL += ["--nbval-sanitize-with", str(ROOT / "tests" / "nbval_sanitize.cfg")]
FOR_UV = {"index-url": "UV_INDEX_URL", "extra-index-url": "UV_EXTRA_INDEX_URL", "find-links": "UV_FIND_LINKS"}
FOR_UV |= {"cert": "SSL_CERT_FILE", "constraint": "UV_CONSTRAINT"}
NO_MATTER = {"cache-dir", "config-file", "default-timeout", "disable-pip-version-check", "no-cache-dir", "no-compile"}
NO_MATTER |= {"no-color", "no-input", "progress-bar", "quiet", "retries", "root-user-action", "timeout", "user"}
LAB = ["--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={ROOT}"]
LAB_SETTINGS = VENV / "etc" / "jupyter" / "labconfig" / "page_config.json"
NO_NEWS = '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}'


# ---- set-up ----


def set_up(*extras: str) -> None:
    """Make the environment hold the package, what notebooks need, and `extras`; nothing to do when nothing changed."""
    extras = ("notebooks", *extras)
    digest, installed = read_stamp()
    if digest == fingerprint() and installed >= set(extras) and PINNED.exists():
        return
    STAMP.unlink(missing_ok=True)  # an interrupted set-up must not look finished
    wanted = sorted(installed | set(extras))
    print(f"setting up {VENV.name}: this takes a minute or two the first time", file=sys.stderr, flush=True)
    attempts = dict.fromkeys([shutil.which("uv"), None])  # pip may know a mirror or a certificate that uv does not
    if not any(install(wanted, uv) for uv in attempts):
        sys.exit("The set-up failed, see above. Run the same command again to retry.")
    LAB_SETTINGS.parent.mkdir(parents=True, exist_ok=True)
    LAB_SETTINGS.write_text(NO_NEWS, encoding="utf8")
    warm_up()
    STAMP.write_text("\n".join([fingerprint(), *wanted]), encoding="utf8")


WARM_UP = """
import cofactor as cf
model = cf.simulate.dawid_skene_model(40, 3, random_state=0)
cf.crowd.WorkerTypes().fit(cf.simulate.crowd(model, 8000, random_state=0).labels)
"""  # labels enough to be worth compiling


def warm_up() -> None:
    """Fit labels for what that leaves: byte code, and the loops that Numba compiles; later starts read both."""
    subprocess.run([str(PYTHON), "-c", WARM_UP], cwd=ROOT, env=environment(), capture_output=True)


def set_up_for_tests() -> None:
    """Make the environment hold what the tests need."""
    set_up("dev", *os.environ.get("COFACTOR_EXTRAS", "").split())


def install(extras: list[str], uv: str | None) -> bool:
    """Install the package with `extras`, with uv or (None) with pip; whether that went well.

    pip brings a uv of its own first, which takes a quarter of the time; where that fails, pip goes on alone.
    """
    if VERSIONS != "pinned" or not usable(need_pip=uv is None):  # only pins bring what is there to what is wanted
        create_venv(uv)
    into_venv = environment(PIP_USER="0")  # whatever the settings of pip at home say
    take_out(uv, into_venv)
    pip = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    fast = [uv or str(PYTHON.with_name("uv")), "pip", "install", "--python", str(PYTHON), "--quiet"]
    fast += [] if "PIP_NO_COMPILE" in os.environ else ["--compile-bytecode"]
    fast += [*versions(extras), "-e", f".[{','.join(extras)}]"]
    if uv:
        return subprocess.run(fast, cwd=ROOT, env=into_venv).returncode == 0
    try:
        subprocess.run([*pip, *hashed({"uv"})], cwd=ROOT, env=into_venv, check=True, capture_output=True)
        settings = settings_of_pip()
        if settings is not None:
            subprocess.run(fast, cwd=ROOT, env=into_venv | settings, check=True, capture_output=True)
            return True
    except (OSError, subprocess.CalledProcessError):
        pass
    return all(subprocess.run([*pip, *what], cwd=ROOT, env=into_venv).returncode == 0 for what in for_pip(extras))


def take_out(uv: str | None, into_venv: dict[str, str]) -> None:
    """Uninstall what has no pin any more; what cannot be uninstalled is tried again by the next set-up."""
    gone = no_longer_pinned() if VERSIONS == "pinned" else []
    how = [uv, "pip", "uninstall", "--python", str(PYTHON)] if uv else [str(PYTHON), "-m", "pip", "uninstall", "--yes"]
    if gone:
        print("no longer pinned, taken out:", *gone, file=sys.stderr, flush=True)
    stays = gone if gone and subprocess.run([*how, "--quiet", *gone], cwd=ROOT, env=into_venv).returncode else []
    PINNED.write_text("\n".join([name for name, _ in pins()] + stays), encoding="utf8")


def no_longer_pinned() -> list[str]:
    """Packages of the environment that the last set-up had pins for and this has none.

    An environment that has no list of its last pins is of an older kit.py: what it holds without a pin is meant.
    """
    here = sysconfig.get_path("purelib", "venv", {"base": str(VENV), "platbase": str(VENV)})
    found = {re.sub(r"[-_.]+", "-", one.name).lower() for one in metadata.distributions(path=[here])}
    last = set(PINNED.read_text(encoding="utf8").split()) if PINNED.exists() else found
    return sorted(found & last - {name for name, _ in pins()} - {"cofactor", "pip", "setuptools"})


def for_pip(extras: list[str]) -> list[list[str]]:
    """Arguments for pip, one call after another: where it checks hashes it takes no folder, so packages come first."""
    if VERSIONS != "pinned":
        return [[*versions(extras), "-e", f".[{','.join(extras)}]"]]
    return [hashed(named(extras)), ["--no-deps", "--no-build-isolation", "-e", "."]]


def hashed(wanted: set[str]) -> list[str]:
    """Arguments that make pip install these packages, and all that they need in turn, by their pins and hashes."""
    entries = pins()
    needed_by = [(name, set(re.findall(r"^ +#(?: via)? +([\w-]+)", text, re.MULTILINE))) for name, text in entries]
    while more := {name for name, parents in needed_by if parents & wanted} - wanted:
        wanted = wanted | more
    listed = VENV / "cofactor-pins.txt"
    listed.write_text("\n".join(text for name, text in entries if name in wanted), encoding="utf8")
    return ["--require-hashes", "--no-deps", "-r", str(listed)]


def pins() -> list[tuple[str, str]]:
    """Entries of constraints.txt: the name, and the lines with version, hashes, and which packages need it."""
    entries = re.split(r"\n(?=\w)", (ROOT / "constraints.txt").read_text(encoding="utf8"))
    return [(entry.split("==")[0], entry) for entry in entries]


def named(extras: list[str]) -> set[str]:
    """Names of the packages that pyproject.toml asks for, at run time, in these extras, and to build."""
    import tomllib

    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))
    project, build = content["project"], content["build-system"]["requires"]
    groups = [project["dependencies"], build, *(project["optional-dependencies"][name] for name in extras)]
    return {re.split(r"[^\w.-]", line)[0] for group in groups for line in group}


def settings_of_pip() -> dict[str, str] | None:
    """What pip's own settings say of where packages are, as variables of uv; None where uv has no word for one."""
    ask = [str(PYTHON), "-m", "pip", "config", "list"]
    told = subprocess.run(ask, capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"^(global|install|:env:)\.([a-z-]+)=(.*)$", told, re.MULTILINE)
    lines.sort(key=lambda line: ("global", "install", ":env:").index(line[0]))  # the last one holds
    found = {name: str(ast.literal_eval(value)).split() for _, name, value in lines if name not in NO_MATTER}
    if not found.keys() <= FOR_UV.keys():
        return None
    own = {FOR_UV[name]: ("," if name == "find-links" else " ").join(values) for name, values in found.items()}
    return own | {"UV_INDEX_STRATEGY": "unsafe-best-match"}  # as pip: the best version, from whichever registry


def versions(extras: list[str]) -> list[str]:
    """Arguments that settle versions: pins; lower bounds, beside the pinned tools of dev; or, for the newest, none."""
    if VERSIONS != "oldest":
        return ["-c", "constraints.txt", "-b", "constraints.txt"] if VERSIONS == "pinned" else []
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    groups = [project["dependencies"], *(project["optional-dependencies"][name] for name in extras if name != "dev")]
    bounds = [line.replace(">=", "==") for group in groups for line in group]
    tools = {re.split("[<>=]", line)[0] for line in project["optional-dependencies"]["dev"]}
    return bounds + [text.split(" \\")[0] for name, text in pins() if name in tools]


def read_stamp() -> tuple[str, set[str]]:
    """What the last complete set-up left: its fingerprint and the extras it installed."""
    if not STAMP.exists():
        return "", set()
    digest, *extras = STAMP.read_text(encoding="utf8").split("\n")
    return digest, set(extras)


def fingerprint() -> str:
    """Hash of all that decides what is installed, and where; what is newest holds for a day."""
    parts = [(ROOT / name).read_bytes() for name in ("pyproject.toml", "constraints.txt")]
    parts += [platform.python_version().encode(), str(VENV).encode()]
    parts += [str(date.today()).encode()] if VERSIONS == "newest" else []
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def usable(need_pip: bool) -> bool:
    """Whether the environment runs, with this Python's version."""
    probe = "import platform; print(platform.python_version())" + ("; import pip" if need_pip else "")
    try:
        answer = subprocess.run([str(PYTHON), "-c", probe], capture_output=True, text=True)
    except OSError:
        return False
    return answer.returncode == 0 and answer.stdout.strip() == platform.python_version()


def create_venv(uv: str | None) -> None:
    """Create an empty environment, in place of any other."""
    if uv:
        shutil.rmtree(VENV, ignore_errors=True)
        if subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(VENV)]).returncode == 0:
            return
    try:
        import venv

        venv.create(VENV, with_pip=True, clear=True)
    except (ImportError, subprocess.CalledProcessError):
        sys.exit(
            "This Python cannot create virtual environments. On Debian or Ubuntu: sudo apt install python3-venv;\n"
            "elsewhere install uv or a Python from python.org, then run the same command again."
        )
    except OSError as error:
        sys.exit(
            f"{VENV} cannot be made ({error}). Put the project into a folder where you may write, with 3 GB of room."
        )


# ---- running things ----


def environment(**changes: str) -> dict[str, str]:
    """Variables of every command: byte code is kept, the kernel chooses its plot backend, data are found."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "MPLBACKEND")}
    beside = ROOT.parent / "shared" / "datasets" / "raw"
    if "COFACTOR_MIRROR" not in env and beside.is_dir():
        env["COFACTOR_MIRROR"] = str(beside)
    if VERSIONS != "pinned":  # two versions of numba would overwrite each other's compiled code beside the sources
        env |= {"NUMBA_CACHE_DIR": str(VENV / "numba"), "COFACTOR_VERSIONS": VERSIONS}
    return env | changes


def run(*command: object, **changes: str) -> int:
    """Run a command in the project folder; its exit code, in the shell's counting."""
    with subprocess.Popen([str(part) for part in command], cwd=ROOT, env=environment(**changes)) as process:
        while True:
            try:
                code = process.wait()
                return code if code >= 0 else 128 - code
            except KeyboardInterrupt:
                continue  # the command got the same Ctrl-C and decides itself when to stop


def python(*arguments: object, **changes: str) -> int:
    """Run the Python of the environment."""
    return run(PYTHON, *arguments, **changes)


# ---- commands ----


def lab(extra: list[str]) -> int:
    """Main job, then JupyterLab on the learner's copies or, for the instructor, the sources; the token stays on."""
    set_up("dev")
    instructor = "--instructor" in extra
    first = f"--LabApp.default_url=/lab/tree/{'notebooks' if instructor else 'learner'}/00_start_here.ipynb"
    extra = [argument for argument in extra if argument != "--instructor"]
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return (
        python("-m", "cofactor", "aggregate", "bluebird")  # bundled: a result without the network
        or (0 if instructor else python("-m", "tools.learner"))
        or python("-m", "jupyterlab", *LAB, first, *as_root, *extra)
    )


def lint(extra: list[str]) -> int:
    """All static checks, stopping at the first that fails."""
    set_up("dev")
    return (
        python("-m", "ruff", "check", *extra)
        or python("-m", "ruff", "format", "--check")
        or python("-m", "mypy")
        or python("-c", "import sys, importlinter.cli as cli; sys.exit(cli.lint_imports(no_logo=True))")
    )


def test(extra: list[str]) -> int:
    """Static checks, then pytest over tests, notebooks and the examples in docstrings."""
    set_up_for_tests()
    named = any((ROOT / argument.split("::")[0]).exists() for argument in extra)
    small = not named and "--all" not in extra
    extra = [argument for argument in extra if argument != "--all"] + (["--small"] if small else [])
    if not named:
        print("the small suite" if small else "all tests", f"and all notebooks, on {os.cpu_count()} cores", flush=True)
    code = lint([]) if VERSIONS == "pinned" else 0
    code = code or run_tests(named, extra)
    if code or named or small or VERSIONS != "pinned":
        return code
    print("once more, those that reach compiled code, with every index checked", flush=True)
    spread = processes(named, extra)
    return python("-m", "pytest", "-q", *spread, *REACH_COMPILED, **REPRODUCIBLE, **INDICES_CHECKED)


def run_tests(named: bool, extra: list[str]) -> int:
    """Run pytest over everything, or over what is named."""
    folders = [] if named else [name for name in ("tests", "notebooks", "lib", "evaluation") if (ROOT / name).is_dir()]
    doctest = ["--doctest-modules", "--doctest-ignore-import-errors"]
    # old libraries use what newer ones beneath them no longer like; Python shows such warnings to nobody
    quiet = ["-W", "ignore::DeprecationWarning"] if VERSIONS == "oldest" else []
    spread = processes(named, extra)
    return python("-m", "pytest", *NBVAL, *quiet, *doctest, *spread, *folders, *extra, **REPRODUCIBLE)


def durations(extra: list[str]) -> int:
    """Measure what tests take, by which the small suite is chosen."""
    set_up_for_tests()
    named = any((ROOT / argument.split("::")[0]).exists() for argument in extra)
    return run_tests(named, ["--durations-file", *extra])


def processes(named: bool, extra: list[str]) -> list[str]:
    """Arguments of pytest: one process per core for all tests, one for files that are named, or as asked with -n."""
    asked = any(argument.startswith("-n") for argument in extra)
    if named and not asked:
        return []
    # the cells of a notebook share a kernel, so parallel workers get whole files
    return ["--dist", "loadscope", "--no-loadscope-reorder", *([] if asked else ["-n", str(os.cpu_count() or 1)])]


def program(extras: list[str], module: str) -> Callable[[list[str]], int]:
    """Return the command that runs one program of the project, on one thread."""

    def command(extra: list[str]) -> int:
        set_up("dev", *extras)
        return python("-m", module, *extra, **REPRODUCIBLE)

    return command


COMMANDS = {"lab": lab, "test": test, "lint": lint, "durations": durations}
COMMANDS |= {"notebooks": program([], "tools.refresh_notebooks"), "kernels": program([], "tools.kernels")}
COMMANDS |= {"book": program(["book"], "docs.build"), "classroom": program(["classroom"], "tools.classroom")}
COMMANDS |= {"bench": program(["bench"], "evaluation.benchmarks")}
COMMANDS |= {"mutants": program(["topics"], "tools.mutants")}


def main(arguments: list[str]) -> int:
    """Check the Python, pick the command."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(__doc__.strip())
        return 0
    if arguments[0] not in COMMANDS:
        print(f"unknown command {arguments[0]!r}\n\n{__doc__.strip()}", file=sys.stderr)
        return 2
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is what an old Python meets first
        sys.exit(f"Python 3.11 or newer is needed; this is {platform.python_version()} ({sys.executable}).")
    try:
        return COMMANDS[arguments[0]]([one for one in arguments[1:] if one != f"--{VERSIONS}"])
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
