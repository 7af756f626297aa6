"""Calls on the workers of a Dask cluster; workers with other code, data sets or versions are refused by name."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from cofactor.core.errors import CofactorError, listing
from cofactor_app.scale.crew import connected
from evaluation.origin import differences, origin, origin_of_old

T = TypeVar("T")


def on_cluster(scheduler: str, line: str, job: Callable[..., T], calls: Sequence[tuple[Any, ...]]) -> Iterator[T]:
    """Call `job` with each of `calls` on the workers, yield the results as they come.

    Raises
    ------
    CofactorError
        No scheduler answers, it has no worker, a worker would give other numbers of this line, or the cluster is lost;
        what was yielded until then stands.
    """
    here = origin(line)
    with connected(scheduler) as client:
        _check_workers(client, line, here)
        jobs = (pickle.dumps(partial(_called, line, here, job, call)) for call in calls)
        # packed, and unpacked by a function without a name: so the scheduler need not import all this
        futures = [client.submit(lambda packed: pickle.loads(packed)(), packed, pure=False) for packed in jobs]
        for future in import_module("distributed").as_completed(futures, loop=client.loop):
            yield _result(scheduler, future)


def _check_workers(client: Any, line: str, here: Mapping[str, str]) -> None:
    """Refuse a cluster with workers that would give other numbers, before anything is computed."""
    try:
        found = client.run(origin_of_old, line, on_error="return")
    except Exception as error:
        raise CofactorError(f"the Dask workers do not answer: {type(error).__name__}: {error}") from None
    _refuse([text for address, there in found.items() if (text := _objection(address, there, here))])


def _objection(address: str, there: Any, here: Mapping[str, str]) -> str:
    """Say what is wrong with a worker; empty where nothing is."""
    if isinstance(there, BaseException):
        return f"{address} ({type(there).__name__}: {there})"
    differ = differences(there, here)
    return f"{address} ({differ})" if differ else ""


def _refuse(told: Sequence[str]) -> None:
    if told:
        raise CofactorError(
            f"workers that do not give the numbers of this machine: {listing(told)}; "
            "bring them to the same code, data sets and versions, and start them again"
        )


def _called(line: str, here: Mapping[str, str], job: Callable[..., T], call: tuple[Any, ...]) -> T:
    """Run on a worker; it may have joined after the others were looked at."""
    try:
        there: Any = origin_of_old(line)
    except CofactorError as error:
        there = error
    told = _objection(import_module("distributed").get_worker().address, there, here)
    _refuse([told] if told else [])
    return job(*call)


def _result(scheduler: str, future: Any) -> Any:
    try:
        return future.result()
    except CofactorError:
        raise
    except Exception as error:
        if future.cancelled() or future.status == "lost":
            why = "is lost"
        else:
            why = f"cannot run the trials ({type(error).__name__}: {error})"
    raise CofactorError(f"the Dask cluster at {scheduler} {why}: results so far are kept, run again to go on")
