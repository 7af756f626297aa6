"""Names of methods that a command offers."""

from __future__ import annotations


class Choices(tuple[str, ...]):
    """Names to choose from, or where another method is: FILE.py:NAME."""

    def __contains__(self, name: object) -> bool:
        """Return whether this is one of the names, or says where a method is."""
        return super().__contains__(name) or ":" in str(name)
