"""Rules for cells that were not asked because of the value of another column; such cells are not filled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import pd

RULE_FORM = re.compile(r"(.+?) if (.+?)=(.*)")


@dataclass(frozen=True)
class NotAsked:
    """Cells of `column` are no gaps where `other` has the value `value`: nothing was asked there.

    >>> NotAsked.parse("job if married=no", ["job", "married"])
    NotAsked(column='job', other='married', value='no')
    """

    column: str
    other: str
    value: str

    @classmethod
    def parse(cls, text: str, names: Sequence[str]) -> Self:
        """Read "job if married=no"; raises a CofactorError for another form, or columns not among `names`."""
        found = RULE_FORM.fullmatch(text.strip())
        if not found:
            raise CofactorError(f"not_asked={text!r}: say which column if which has which value: 'job if married=no'")
        column, other, value = (part.strip() for part in found.groups())
        missing = [name for name in (column, other) if name not in names]
        if missing or column == other:
            raise CofactorError(f"not_asked={text!r}: needs two of the columns {listing(names)}")
        return cls(column, other, value)

    def holds(self, table: pd.DataFrame) -> NDArray[np.bool_]:
        """Return the (S,) mask of the rows of a table in which `column` was not asked."""
        return (table[self.other] == self.value).to_numpy(dtype=bool, na_value=False)


def without_unasked(table: pd.DataFrame, given: pd.DataFrame, rules: Sequence[NotAsked]) -> pd.DataFrame:
    """Return a completed table in which cells that were not asked are empty, where `given` was empty there, too."""
    for rule in rules:  # in their order: what one empties, another may depend on
        unasked = rule.holds(table) & given[rule.column].isna().to_numpy()  # the indices of the two differ
        table = table.assign(**{rule.column: table[rule.column].mask(unasked)})
    return table
