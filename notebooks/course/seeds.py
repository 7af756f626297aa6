"""The learner's seed: a name that determines the data of the capstone and of exercises.

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
    """Return the seed of this session, or the one stored in a learner's folder, or the placeholder."""
    return _chosen.get(SEED) or seed_in(Path.cwd()) or PLACEHOLDER


def choose(seed: str) -> None:
    """Set the seed of this session, and store it in a learner's folder; the placeholder changes nothing.

    Raises
    ------
    CofactorError
        The seed is not a string, or it is empty.
    """
    if number_of(seed) != number_of(PLACEHOLDER):
        _chosen[SEED] = seed.strip()
        keep(Path.cwd(), SEED, seed.strip())


def number_of(seed: str) -> int:
    """Return the number for a name; capitals and surrounding blanks are ignored.

    >>> number_of("Ada") == number_of(" ada ")
    True
    """
    if not isinstance(seed, str) or not seed.strip():
        raise CofactorError(f'seed={seed!r}: must be a name in quotes, such as seed = "Ada"')
    return zlib.crc32(unicodedata.normalize("NFC", seed.strip().casefold()).encode("utf8"))


def own(number: int) -> int:
    """Return the number that seeds random data: `number` itself with the placeholder, another with the learner's seed.

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
    """Draw data with `make`, seeded by `own(number)`, until they are clear enough for an exercise.

    >>> drawn(3, lambda rng: {"n": int(rng.integers(9))}, lambda data: data["n"] > 5)["n"] > 5
    True
    """
    first = own(number)
    return next(data for i in range(10_000) if clear(data := make(np.random.default_rng([first, i]))))
