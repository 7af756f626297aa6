"""Who does the work on many pieces of data: threads of this process, or the workers of a Dask cluster.

Both give results in the order of the pieces, whoever was first. So a sum over them is added up in one order, and has
the same bits at any number of workers.
"""

from __future__ import annotations

import logging
import os
import pickle
import platform
import re
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from importlib import import_module
from importlib.metadata import version
from threading import Thread
from typing import Any

from cofactor.core.errors import CofactorError, listing

ADDRESS = re.compile(r"(\w+://)?[^\s/]+:\d+(/.*)?")
PATIENCE = 5  # seconds for a scheduler to answer, and for a worker to be there
DECIDING = ("cofactor", "numpy", "scipy", "numba", "pandas", "pyarrow")  # packages that the last bits depend on


class Crew(ABC):
    """What can be asked for; what is submitted may stand as an argument for its result."""

    @abstractmethod
    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Begin a call, perhaps elsewhere. The result stays there until it is asked for, or given to another call."""

    def result(self, begun: Any) -> Any:
        """Wait for a call, and return its result."""
        return begun.result()

    def share(self, value: Any) -> Any:
        """Send a value once that many calls need."""
        return value

    @property
    @abstractmethod
    def ahead(self) -> int:
        """Calls to begin before the first result is needed."""

    def together(self, n: int) -> int:
        """Return how many of n small calls to make as one: of calls that cost next to nothing, each alone."""
        return 1


def in_order(crew: Crew, calls: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """Yield results of calls (function, arguments) in their order, with few of them begun ahead."""
    begun: deque[Any] = deque()
    ahead = crew.ahead
    try:
        for call in calls:
            begun.append(crew.submit(*call))
            if len(begun) >= ahead:
                yield crew.result(begun.popleft())
        while begun:
            yield crew.result(begun.popleft())
    finally:
        for one in begun:
            one.cancel()


class Threads(Crew):
    """`n_jobs` threads of this process, or one per processor (-1): compiled code, numpy and pyarrow run side by side.

    With one, every call is made when it is submitted, without a thread.
    """

    def __init__(self, n_jobs: int = 1) -> None:
        if n_jobs == 0:
            raise CofactorError("n_jobs=0: at least one processor has to work (-1: all of them)")
        self.n = n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
        self.pool = ThreadPoolExecutor(self.n) if self.n > 1 else None

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """See `Crew`."""
        if self.pool:
            return self.pool.submit(_called, function, *arguments)
        done: Future[Any] = Future()
        done.set_result(_called(function, *arguments))
        return done

    @property
    def ahead(self) -> int:
        """See `Crew`."""
        return 2 * self.n if self.n > 1 else 1


def _called(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*(one.result() if isinstance(one, Future) else one for one in arguments))


class Cluster(Crew):
    """The workers of a Dask cluster; what a lost worker was doing, and what it kept, is done again by others.

    `scheduler` is its address, such as tcp://host:8786. Raises a CofactorError where Dask is not installed, no
    scheduler answers, it has no workers, or some have other versions; and, from calls, what the function raises, or
    that the cluster is lost.
    """

    def __init__(self, scheduler: str) -> None:
        self.scheduler = scheduler
        self.client = connected(scheduler)
        try:
            self._refuse_other_versions()
        except CofactorError:
            self.close()
            raise

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """See `Crew`. A function without a name is sent as it is: so the scheduler need not import all this."""
        return self._submit(lambda packed, *given: pickle.loads(packed)(*given), pickle.dumps(function), *arguments)

    def result(self, begun: Any) -> Any:
        """See `Crew`."""
        try:
            return begun.result()
        except CofactorError:
            raise
        except Exception as error:
            if begun.cancelled() or begun.status == "lost":
                raise self._lost(error) from None
            why = f"{type(error).__name__}: {error}"
            if isinstance(error, OSError):
                why += "; files must be on a disk that all machines see under the same name"
        raise CofactorError(f"a worker of the Dask cluster at {self.scheduler} cannot do its part ({why})")

    def share(self, value: Any) -> Any:
        """See `Crew`. The scheduler keeps it, so that it survives the workers."""
        return self._submit(lambda packed: pickle.loads(packed), pickle.dumps(value))

    @property
    def ahead(self) -> int:
        """See `Crew`. Workers may have come or gone."""
        return max(8, 2 * self._n_threads)

    def together(self, n: int) -> int:
        """See `Crew`. Each call takes all sides some milliseconds; a lost worker loses what it was called for."""
        return max(1, n // (4 * self._n_threads))

    @property
    def _n_threads(self) -> int:
        return max(1, sum(self.client.nthreads().values()))

    def close(self) -> None:
        """Leave the cluster; it goes on without what was kept there."""
        self.client.close(timeout=PATIENCE)

    def _submit(self, *call: Any) -> Any:
        with warnings.catch_warnings(action="ignore"):  # that something is large: it goes once, not with every call
            try:
                return self.client.submit(*call, pure=False)
            except Exception as error:
                raise self._lost(error) from None

    def _refuse_other_versions(self) -> None:
        here = versions()
        try:
            found = self.client.run(lambda: import_module("cofactor_app.scale.crew").versions(), on_error="return")
        except Exception as error:
            raise self._lost(error) from None
        told = [f"{address} ({text})" for address, there in found.items() if (text := _differences(there, here))]
        if told:
            raise CofactorError(f"workers with other versions than here: {listing(told)}; bring them to the same")

    def _lost(self, error: Exception) -> CofactorError:
        what = f"the Dask cluster at {self.scheduler} is lost ({type(error).__name__})"
        return CofactorError(f"{what}: what was finished is kept, run again to go on")


def connected(scheduler: str) -> Any:
    """Return a client of a Dask scheduler that has workers; refuse, in one sentence, what is none or has none."""
    if not ADDRESS.fullmatch(scheduler):
        raise CofactorError(f"scheduler {scheduler!r} is no address: give one such as tcp://host:8786")
    try:
        distributed: Any = import_module("distributed")  # by name: it may not be installed
    except ImportError:
        raise CofactorError("a cluster needs Dask: pip install 'cofactor[scale]'") from None
    for name in ("distributed", "distributed.client"):  # which write a page where one sentence will do
        logging.getLogger(name).setLevel(logging.CRITICAL)
    client = distributed.Client.__new__(distributed.Client)  # by hand: one that fails has to be closed
    connect = partial(client.__init__, scheduler, timeout=PATIENCE, set_as_default=False, direct_to_workers=True)
    try:
        with warnings.catch_warnings(action="ignore"):  # of versions, which the caller compares
            _in_time(connect, 3 * PATIENCE, client.close)
    except Exception as error:
        client.status = "closed"  # else it waits ten seconds more, and may print a traceback at the end
        why = str(error) or "no answer" if isinstance(error, OSError) else "what answers there is something else"
        raise CofactorError(f"no Dask scheduler at {scheduler}: {why}") from None
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        client.close()
        raise CofactorError(f"the Dask scheduler at {scheduler} has no workers: start some") from None
    return client


def _in_time(job: Callable[[], None], limit: float, undo: Callable[[], object]) -> None:
    """Do a job, or raise its error, or TimeoutError: Dask waits for ever where a server says nothing.

    What is done too late is undone, so that nothing stays open that nobody knows of.
    """
    done: Future[None] = Future()

    def work() -> None:
        try:
            job()
            done.set_result(None)
        except Exception as error:  # of many kinds, where something else than a scheduler answers
            done.set_exception(error)

    Thread(target=work, daemon=True).start()
    try:
        done.result(timeout=limit)
    except TimeoutError:
        done.add_done_callback(lambda late: None if late.exception() else undo())
        raise


def _differences(there: Any, here: dict[str, str]) -> str:
    if not isinstance(there, dict):
        return f"{type(there).__name__}: {there}"
    return ", ".join(f"{name} {there.get(name)} for {own}" for name, own in here.items() if there.get(name) != own)


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that results depend on."""
    return {"python": platform.python_version(), **{name: _version(name) for name in DECIDING}}


def _version(package: str) -> str:
    try:
        return version(package)
    except ImportError:
        return "none"
