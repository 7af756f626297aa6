"""The learner's seed: a name, from which the capstone and what function exercises are tried on are drawn.

With the placeholder, the data are those of the stored notebooks. The same name gives the same data on every machine.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError
from course.record import SEED, keep, seed_in

PLACEHOLDER = "your name"

_chosen: dict[str, str] = {}  # the seed of this session


def current() -> str:
    """Return the seed of this session, else the one kept beside a learner's copies, else the placeholder."""
    return _chosen.get(SEED) or seed_in(Path.cwd()) or PLACEHOLDER


def choose(seed: str) -> None:
    """Let all that is drawn from now on come from a seed, and keep it beside a learner's copies.

    The placeholder changes nothing.

    Raises
    ------
    CofactorError
        The seed is no text, or an empty one.
    """
    if number_of(seed) != number_of(PLACEHOLDER):
        _chosen[SEED] = seed.strip()
        keep(Path.cwd(), SEED, seed.strip())


def number_of(seed: str) -> int:
    """Return the number that a name stands for; capitals and blanks around it do not count.

    >>> number_of("Ada") == number_of(" ada ")
    True
    """
    if not isinstance(seed, str) or not seed.strip():
        raise CofactorError(f'seed={seed!r}: give a name in quotes, such as seed = "Ada"')
    return zlib.crc32(unicodedata.normalize("NFC", seed.strip().casefold()).encode("utf8"))


def own(number: int) -> int:
    """Return the number by which data are drawn: the one given, and with a seed of one's own another.

    >>> own(5)
    5
    """
    seed = current()
    return (
        number if seed == PLACEHOLDER else int(np.random.SeedSequence([number, number_of(seed)]).generate_state(1)[0])
    )


def drawn(
    number: int, make: Callable[[np.random.Generator], dict[str, Any]], clear: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Return the first data, of those that `make` draws by `own(number)`, that are clear enough to be asked about.

    >>> drawn(3, lambda rng: {"n": int(rng.integers(9))}, lambda data: data["n"] > 5)["n"] > 5
    True
    """
    first = own(number)
    return next(data for i in range(10_000) if clear(data := make(np.random.default_rng([first, i]))))
