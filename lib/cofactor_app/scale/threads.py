"""Work on many pieces of data, by threads of this process.

Results come in the order of the pieces, whichever was first. So a sum over them is added up in one order, and has the
same bits at any number of threads.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from cofactor.core.errors import CofactorError


class Threads:
    """`n_jobs` threads, or one per processor (-1): compiled code, numpy and pyarrow run side by side.

    With one, every call is made when it is submitted, without a thread. A call that was submitted may stand as an
    argument of another, for its result. Raises a CofactorError for no thread at all.
    """

    def __init__(self, n_jobs: int = 1) -> None:
        if n_jobs == 0:
            raise CofactorError("n_jobs=0: at least one processor has to work (-1: all of them)")
        self.n = n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
        self.pool = ThreadPoolExecutor(self.n) if self.n > 1 else None

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begin a call in a thread, and return its future."""
        if self.pool:
            return self.pool.submit(_called, function, *arguments)
        done: Future[Any] = Future()
        done.set_result(_called(function, *arguments))
        return done

    @property
    def most_begun(self) -> int:
        """Most calls that are begun before the first result is taken."""
        return 2 * self.n if self.n > 1 else 1

    def in_order(self, calls: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield results of calls (function, arguments) in their order, with few of them begun ahead."""
        begun: deque[Future[Any]] = deque()
        try:
            for call in calls:
                begun.append(self.submit(*call))
                if len(begun) >= self.most_begun:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for one in begun:
                one.cancel()


def _called(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*(one.result() if isinstance(one, Future) else one for one in arguments))
