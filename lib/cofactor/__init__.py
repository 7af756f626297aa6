"""Infer true labels, rankings, joint distributions and topics from pairwise counts.

The verbs take a path, a DataFrame, arrays, or the name of a data set. They return a result with tables and notes, which
the first five also write as an HTML page with `report`:

    aggregate         labels of several workers: one label per task, with its probability
    rank              comparisons: a ranking with intervals
    joint             a table with gaps: the gaps filled, latent classes, drawn rows
    anchors           a matrix of mixtures: the pure columns and the weights
    topics            texts or word counts: topics, and the topic probabilities of each document
    plan, next_tasks  how many labels are needed, and for which tasks

`datasets` lists data sets and `load` reads one. `CrowdLabels`, `CategoricalTable` and `Comparisons` hold data.
`crowd`, `pmf`, `separable` and `comparisons` have the estimators, by name in `METHODS`; `plain` has every algorithm
of the papers on a page of NumPy; `simulate` draws problems with known truth. `cofactor_app.bench.check_method` tests
a method of your own.

>>> import cofactor as cf
>>> bluebird = cf.load("bluebird")
>>> result = cf.aggregate(bluebird.labels)
>>> round(100 * cf.crowd.error_rate(result.posterior, bluebird.truth), 2)
12.04
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cofactor.core.lazy import lazy_exports

if TYPE_CHECKING:
    from cofactor import comparisons, crowd, data, plain, pmf, separable, simulate
    from cofactor.comparisons.data import Comparisons
    from cofactor.core.errors import (
        CofactorError,
        ConvergenceWarning,
        DatasetUnavailableError,
        DataWarning,
        NotIdentifiableError,
    )
    from cofactor.core.estimator import NotFittedError
    from cofactor.core.latent_class import LatentClassModel
    from cofactor.core.moments import pairwise_moments
    from cofactor.core.tables import CategoricalTable
    from cofactor.crowd.labels import CrowdLabels
    from cofactor.data import datasets, load
    from cofactor.verbs.aggregate import aggregate
    from cofactor.verbs.anchors import anchors
    from cofactor.verbs.joint import joint
    from cofactor.verbs.next_tasks import next_tasks
    from cofactor.verbs.plan import plan
    from cofactor.verbs.rank import rank
    from cofactor.verbs.topics import topics

__version__ = "0.1.0"

__all__ = [
    "CategoricalTable",
    "CofactorError",
    "Comparisons",
    "ConvergenceWarning",
    "CrowdLabels",
    "DataWarning",
    "DatasetUnavailableError",
    "LatentClassModel",
    "NotFittedError",
    "NotIdentifiableError",
    "aggregate",
    "anchors",
    "comparisons",
    "crowd",
    "data",
    "datasets",
    "joint",
    "load",
    "next_tasks",
    "pairwise_moments",
    "plain",
    "plan",
    "pmf",
    "rank",
    "separable",
    "simulate",
    "topics",
]


def _let_compiled_code_be_kept() -> None:
    """Give Numba a temporary cache folder if it cannot write to any other, because it would refuse to start.

    This happens in a read-only container, or if another user installed the package and there is no home directory.
    Code is then compiled in every run, which takes a minute; set NUMBA_CACHE_DIR to keep it. The folder's name cannot
    be guessed, because its contents are executed.
    """
    here, home = Path(__file__).parent, os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    above = next(folder for folder in (Path(home, "numba"), *Path(home, "numba").parents) if os.path.exists(folder))
    if "NUMBA_CACHE_DIR" in os.environ or os.access(here, os.W_OK) or os.access(above, os.W_OK):
        return
    import atexit
    import shutil
    import tempfile

    folder = os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="cofactor-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


_let_compiled_code_be_kept()

if not TYPE_CHECKING:  # imported at first use, so that a command takes only the time of what it needs
    __getattr__, __dir__ = lazy_exports(__name__)
