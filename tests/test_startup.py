"""What a command may load: libraries that take long to import are there only where they serve."""

import json
import os
import subprocess
import sys

import pytest

SLOW = {"matplotlib", "seaborn", "jinja2", "narwhals", "requests", "tqdm", "joblib", "IPython", "ipywidgets"}
SLOW |= {"sklearn", "scipy.stats", "scipy.optimize", "scipy.interpolate", "torch", "duckdb", "pyarrow.compute"}
ALL = SLOW | {"numpy", "scipy", "pandas", "numba"}
VOTES = "winner,loser\na,b\nb,c\nc,a\na,c\nb,a\n"
RUN = "from cofactor_app.cli import main; assert main({}) == 0"
MAY_NOT_LOAD = {  # what runs, and the libraries that it must leave alone
    "import cofactor": ALL,
    RUN.format(["completion", "bash"]): ALL,
    "import cofactor as cf; cf.load('bluebird')": SLOW | {"pandas", "numba", "scipy.linalg"},
    "import cofactor as cf; cf.crowd.WorkerTypes().fit(cf.load('bluebird').labels)": SLOW | {"pandas", "numba"},
    RUN.format(["aggregate", "bluebird"]): SLOW - {"pyarrow.compute"} | {"numba"},  # its result has tables
    RUN.format(["aggregate", "bluebird", "-o", "-"]): SLOW - {"pyarrow.compute"} | {"numba"},
    RUN.format(["diagnose", "bluebird"]): SLOW | {"pandas", "numba"},
    RUN.format(["datasets", "list"]): SLOW - {"pyarrow.compute"} | {"numba"},
    RUN.format(["rank", "-"]): SLOW - {"scipy.optimize", "pyarrow.compute"},
}
QUICK = ("import cofactor", RUN.format(["aggregate", "bluebird"]))


def loaded_by(code):
    """Return the names of all modules that are there after some code ran in a new process."""
    tell = "\nimport json, sys; print('\\n' + json.dumps(list(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code + tell], input=VOTES, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return set(json.loads(run.stdout.splitlines()[-1]))


@pytest.mark.skipif("COFACTOR_VERSIONS" in os.environ, reason="other versions of SciPy load other parts of it")
@pytest.mark.parametrize(
    "code", [code if code in QUICK else pytest.param(code, marks=pytest.mark.slow) for code in MAY_NOT_LOAD]
)
def test_a_command_loads_only_what_it_needs(code):
    assert not MAY_NOT_LOAD[code] & loaded_by(code)


@pytest.mark.slow
def test_what_is_loaded_is_seen():
    assert {"numpy", "scipy"} <= loaded_by("import cofactor as cf; cf.load('bluebird')")
