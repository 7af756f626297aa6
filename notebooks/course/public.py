"""Load public data sets in notebooks that must also run without them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from cofactor.core.errors import DatasetUnavailableError
from cofactor.data import load


def load_public(names: Iterable[str], otherwise: str, stand_in: Callable[[str], Any] | None = None) -> dict[str, Any]:
    """Load the data sets that are available, and print which are and which are not.

    If given, `stand_in` makes a replacement from the name of a missing data set; `otherwise` says what is used instead.
    """
    found, missing = {}, []
    for name in names:
        try:
            found[name] = load(name)
        except DatasetUnavailableError:
            missing.append(name)
    print(f"available: {', '.join(found) or 'none'}")
    if missing:
        print(f"not available without network or COFACTOR_MIRROR: {', '.join(missing)}; {otherwise}")
    return found | ({name: stand_in(name) for name in missing} if stand_in else {})
