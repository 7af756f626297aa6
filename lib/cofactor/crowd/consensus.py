"""A table of labels in, a table of consensus out: the whole of `cofactor aggregate` for who has a DataFrame."""

from __future__ import annotations

from cofactor.core.checks import check_kind, rng_of
from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import pd
from cofactor.core.types import Seed
from cofactor.crowd.labels import Conflicts
from cofactor.crowd.tables import consensus_frame, widened
from cofactor.registry import Methods

METHODS = Methods("crowd")


def aggregate(
    frame: pd.DataFrame,
    task: str = "task",
    worker: str = "worker",
    label: str = "label",
    method: str = "WorkerTypes",
    conflicts: Conflicts = "error",
    wide: bool = False,
    random_state: Seed = 0,
) -> pd.DataFrame:
    """Return one label per task, with its probability.

    Parameters
    ----------
    frame : DataFrame
        One row per label; or a table with one column a worker, or of a crowd platform, which are recognised as files
        are, with a `DataWarning` that says what was taken for what.
    task, worker, label : names of the columns
    method : name of one of `METHODS`
    conflicts : as of `CrowdLabels.from_frame`
    wide : bool
        Add a column with the probability of every class.
    random_state : seed, of methods that draw

    Returns
    -------
    DataFrame with the columns task, label, probability, n_labels; of `WorkerTypes` also disputed, which marks labels
    that most workers do not share. See `consensus_frame`.

    Raises
    ------
    CofactorError
        As `CrowdLabels.from_frame`; or there is no such method.

    Examples
    --------
    >>> rows = [("a", "ann", "cat"), ("a", "ben", "cat"), ("a", "cy", "dog"), ("b", "ann", "dog"), ("b", "ben", "dog")]
    >>> aggregate(pd.DataFrame(rows, columns=["task", "worker", "label"]))[["task", "label", "n_labels"]]
      task label  n_labels
    0    a   cat         3
    1    b   dog         2
    """
    from cofactor.reading.labels import of_table

    check_kind(pd.DataFrame, frame=frame)
    rng_of(random_state)
    if method not in METHODS:
        raise CofactorError(f"no method {method!r}; there are {listing(METHODS, 50)}")
    labels = of_table(frame, (task, worker, label), conflicts=conflicts)
    fitted = METHODS[method](random_state=random_state).fit(labels)
    posterior = fitted.predict_proba(labels)
    found = consensus_frame(labels, posterior, fitted)
    return widened(found, posterior, labels) if wide else found
