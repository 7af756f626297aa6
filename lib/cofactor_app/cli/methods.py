"""Methods that `cofactor aggregate` offers, by what they are for; none of them is imported to say so."""

from __future__ import annotations

from cofactor.registry import GROUPS, names

DEFAULT = "WorkerTypes"
BY_GROUP = {title: names("crowd", group=group, takes="labels") for group, title in GROUPS.items()}
OFFERED = [name for group in BY_GROUP.values() for name in group]


class Choices(tuple[str, ...]):
    """Names to choose from, or where another method is: FILE.py:NAME."""

    def __contains__(self, name: object) -> bool:
        """Tell whether this is one of the names, or says where a method is."""
        return super().__contains__(name) or ":" in str(name)
