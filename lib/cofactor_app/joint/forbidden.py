"""Pairs of values that cannot stand in one row, such as a pregnant man.

A mixture gives every pair some probability, since its columns are independent within a hidden class. What is kept is
the mixture given that no forbidden pair occurs. For the pair x_m = i, x_n = j, what is left of class f is two parts,

    x_m is not i,                  of weight lambda_f (1 - A_m[i, f]);
    x_m is i, and x_n is not j,    of weight lambda_f A_m[i, f] (1 - A_n[j, f]),

and within each part the columns are independent again: so the conditioned mixture is a mixture of at most twice as
many classes, exactly, and all that is asked of a joint PMF can be asked of it.

What this means for the marginals: the probability r that the pair had goes to all other rows in proportion, which are
multiplied by 1 / (1 - r). So i becomes rarer among all rows, and j, and all that went with them; where r is small, as
for a pair that no row of the data has, hardly so. The fit itself does not know of the pairs.

    symbol   meaning                                       shape
    lambda   prior of the hidden class                     (F,)
    A_n      conditional of variable n                     (I_n, F)
    r        probability of the pair under the mixture
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from cofactor.core.cells import located
from cofactor.core.errors import CofactorError, listing
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.simplex import normalize_blocks
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.pmf.frames import CategoricalFrame

COMBINATION_FORM = re.compile(r"(.+?)=(.*?)\s*&\s*(.+?)=(.*)")
MOST_HIDDEN_CLASSES = 10_000  # hidden classes


@dataclass(frozen=True)
class Pair:
    """Two values that cannot stand in one row: value `i` of variable `m`, and value `j` of variable `n`."""

    m: int
    i: int
    n: int
    j: int

    @classmethod
    def parse(cls, text: str, data: CategoricalFrame) -> Self:
        """Read "pregnant=yes & sex=male".

        Raises a CofactorError for another form, or columns or values that are not in `data`.
        """
        found = COMBINATION_FORM.fullmatch(text.strip())
        if not found:
            raise CofactorError(f"forbid={text!r}: say which two values cannot stand together: 'hat=red & coat=old'")
        names, values = [found[1].strip(), found[3].strip()], [found[2].strip(), found[4].strip()]
        if not set(names) <= set(data.names) or names[0] == names[1]:
            raise CofactorError(f"forbid={text!r}: needs two of the columns {listing(data.names)}")
        m, n = (data.names.index(name) for name in names)
        return cls(m, _code(data, m, values[0], text), n, _code(data, n, values[1], text))

    def holds(self, codes: Ints) -> NDArray[np.bool_]:
        """Return the (S,) mask of the rows of (S, N) codes that have both values."""
        return np.asarray((codes[:, self.m] == self.i) & (codes[:, self.n] == self.j))

    def probability(self, model: LatentClassModel) -> float:
        """Return the probability of the pair, r."""
        return float(model.pairwise(self.m, self.n)[self.i, self.j])


def refuse_rows(pairs: Sequence[Pair], data: CategoricalFrame) -> None:
    """Refuse rows that have a forbidden pair, or to whose gaps the pairs leave no value."""
    for pair in pairs:
        there = pair.holds(data.table.codes)
        if there.any():
            told = (f"{data.names[n]}={data.shown(n, code)}" for n, code in ((pair.m, pair.i), (pair.n, pair.j)))
            where = located(data.frame, there)
            raise CofactorError(f"forbid={' & '.join(told)!r}: stands in {where}; mend or empty these cells")
    if pairs:
        equal = [np.full((size, 1), 1 / size) for size in data.table.sizes.tolist()]
        never = _excluded(without_pairs(LatentClassModel([1.0], equal), pairs), data.table).all(axis=1)
        if never.any():
            where = located(data.frame, never)
            raise CofactorError(f"forbidden pairs leave no value for a gap of {where}; mend or empty these cells")


def _code(data: CategoricalFrame, variable: int, value: str, text: str) -> int:
    shown = [data.shown(variable, code) for code in range(len(data.observed[variable]))]
    if value not in shown:
        raise CofactorError(f"forbid={text!r}: {data.names[variable]} has no value {value!r}; it has {listing(shown)}")
    return shown.index(value)


def any_pair(codes: Ints, pairs: Sequence[Pair]) -> NDArray[np.bool_]:
    """Return the (S,) mask of the rows of (S, N) codes that have a forbidden pair."""
    return np.any([pair.holds(codes) for pair in pairs], axis=0) if pairs else np.zeros(len(codes), dtype=bool)


def without_pairs(model: LatentClassModel, pairs: Sequence[Pair]) -> LatentClassModel:
    """Return the model given that none of the pairs occurs; see the module, also for what becomes of the marginals.

    Raises a CofactorError where nothing is left, or more than 10,000 hidden classes. Cost: O(sum I_n F) for each pair,
    and up to twice the classes; pairs of one value with several others double them once.

    >>> model = LatentClassModel([1.0], [[[0.5], [0.5]], [[0.8], [0.2]]])
    >>> without_pairs(model, [Pair(0, 1, 1, 1)]).joint_tensor().round(3)
    array([[0.444, 0.111],
           [0.444, 0.   ]])
    """
    prior, stacked = model.prior, model.stacked
    first = np.cumsum(model.sizes) - model.sizes
    for pair in pairs:
        prior, stacked = _without(prior, stacked, model.sizes, first[pair.m] + pair.i, first[pair.n] + pair.j)
        if not 0 < len(prior) <= MOST_HIDDEN_CLASSES:
            told = "every row has one of them" if not len(prior) else f"{len(prior)} hidden classes are left"
            raise CofactorError(f"forbidden pairs: {told}; name fewer pairs")
    return LatentClassModel.from_stacked(prior / prior.sum(), stacked, model.sizes) if pairs else model


def _without(prior: Floats, stacked: Floats, sizes: Ints, i: int, j: int) -> tuple[Floats, Floats]:
    """Split the classes in which values i and j, rows of `stacked`, can stand together; what is empty is left out."""
    both = stacked[i] * stacked[j] > 0
    kept, split = stacked[:, ~both], stacked[:, both]
    parts, weights = [kept], [prior[~both]]
    for certain, never in ((None, i), (i, j)):
        part, weight = split.copy(), prior[both]
        for fixed, value in ((True, certain), (False, never)):
            if value is not None:
                of_variable = _variable(sizes, value)
                rest = np.zeros_like(part[of_variable]) if fixed else part[of_variable].copy()
                rest[value - of_variable.start] = part[value] if fixed else 0.0
                weight = weight * rest.sum(axis=0)
                part[of_variable] = rest
        parts.append(part)
        weights.append(weight)
    prior, stacked = np.concatenate(weights), np.hstack(parts)
    left = prior > 0
    return prior[left], normalize_blocks(stacked[:, left], sizes)


def _variable(sizes: Ints, value: int) -> slice:
    """Return the rows of the variable that has this row."""
    ends = np.cumsum(sizes)
    n = int(np.searchsorted(ends, value, side="right"))
    return slice(int(ends[n] - sizes[n]), int(ends[n]))


def exact_posterior(model: LatentClassModel, table: CategoricalTable) -> Floats:
    """Return (S, F) class probabilities of every row, as `posterior`; zero where a class excludes what was observed.

    `posterior` takes zeros for 1e-12, and so does this where every class excludes a row.
    """
    Q = model.posterior(table)
    if (model.stacked > 0).all():
        return Q
    kept = np.where(_excluded(model, table), 0.0, Q)
    total = kept.sum(axis=1, keepdims=True)
    return np.where(total > 0, kept / np.where(total > 0, total, 1.0), Q)


def _excluded(model: LatentClassModel, table: CategoricalTable) -> NDArray[np.bool_]:
    """Tell which (S, F) classes exclude what was observed in a row."""
    return np.asarray(table.indicator @ (model.stacked == 0).astype(np.float64) > 0)


def settled(
    model: LatentClassModel, table: CategoricalTable, pairs: Sequence[Pair], row: Ints, variable: Ints, code: Ints
) -> tuple[Ints, Floats]:
    """Change filled cells that form a forbidden pair: return the (E,) codes, and the probabilities of changed ones.

    Each cell by itself has its most probable code; two of a row can be a pair. There, the variables of all pairs are
    filled one after another, each given those before it. NaN is the probability of a code that stays.
    """
    codes, order = table.codes, dict.fromkeys(n for pair in pairs for n in (pair.m, pair.n))
    codes[row, variable] = code
    bad = np.flatnonzero(any_pair(codes, pairs))
    rest, found = table.take_rows(bad).codes, np.full(codes.shape, np.nan)
    for n in order if len(bad) else ():
        gap = rest[:, n] < 0
        P = exact_posterior(model, CategoricalTable(rest, table.sizes)) @ model.conditionals[n].T
        rest[gap, n] = P[gap].argmax(axis=1)
        codes[bad, n], found[bad[gap], n] = rest[:, n], P[gap].max(axis=1)
    return codes[row, variable], found[row, variable]
