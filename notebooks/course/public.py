"""Public data sets for notebooks that must run without them, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from cofactor.core.errors import DatasetUnavailableError
from cofactor.data import load


def load_public(names: Iterable[str], otherwise: str, stand_in: Callable[[str], Any] | None = None) -> dict[str, Any]:
    """Load what can be had, and print what is here and what is not.

    In the place of what cannot be had stands what `stand_in` makes of the name, if it is given; `otherwise` says so.
    """
    found, missing = {}, []
    for name in names:
        try:
            found[name] = load(name)
        except DatasetUnavailableError:
            missing.append(name)
    print(f"here: {', '.join(found) or 'nothing'}")
    if missing:
        print(f"not available without network or COFACTOR_MIRROR: {', '.join(missing)}; {otherwise}")
    return found | ({name: stand_in(name) for name in missing} if stand_in else {})
