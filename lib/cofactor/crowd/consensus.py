"""A table of labels in, a table of consensus out: the whole of `cofactor aggregate` for who has a DataFrame."""

from __future__ import annotations

import warnings

from cofactor.core.checks import check_kind, rng_of
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.frames import plain_numbers
from cofactor.core.lazy import pd
from cofactor.core.look_alikes import look_alikes, told
from cofactor.core.types import Seed
from cofactor.crowd.labels import Conflicts, CrowdLabels
from cofactor.crowd.layouts import recognised
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
    check_kind(pd.DataFrame, frame=frame)
    rng_of(random_state)
    if method not in METHODS:
        raise CofactorError(f"no method {method!r}; there are {listing(METHODS, 50)}")
    labels = CrowdLabels.from_frame(_found(frame, (task, worker, label)), task, worker, label, conflicts=conflicts)
    for what, names in {"tasks": labels.tasks, "workers": labels.workers, "classes": labels.classes}.items():
        texts = [name for name in names if isinstance(name, str)]
        if message := told(look_alikes(texts, truth_values=what == "classes"), what).split(";")[0]:
            warnings.warn(message, DataWarning, stacklevel=2)
    fitted = METHODS[method](random_state=random_state).fit(labels)
    posterior = fitted.predict_proba(labels)
    found = consensus_frame(labels, posterior, fitted)
    return widened(found, posterior, labels) if wide else found


def _found(frame: pd.DataFrame, columns: tuple[str, str, str]) -> pd.DataFrame:
    """Return the table with these columns, which may have other names or be spread over a table."""
    if set(columns) <= set(frame.columns):
        return frame
    text = frame.rename(columns=str)
    text = text.astype("string").astype(object).where(text.notna())
    long = recognised(text, columns)
    if not set(columns) <= set(long.columns):
        return frame  # without what is needed: the reader says what is missing
    return long.assign(**{name: plain_numbers(long[name]) for name in columns})
