"""A fitted joint distribution in a file, with the coding of its columns: gaps of other rows are filled by it.

The file holds the model, and of each column its name, its values or the edges of its intervals, and how often each was
observed. What row had which value is not in it; what values of numbers there were, is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import chain, repeat
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.checks import is_whole
from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import LARGE, RATIO, from_json, load_arrays, save_arrays
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import pd
from cofactor.pmf.columns import CodedColumn, names_of
from cofactor.pmf.frames import CategoricalFrame
from cofactor_app.joint.filling import Filling, fill
from cofactor_app.joint.forbidden import Pair, refuse_rows


@dataclass(frozen=True, eq=False)
class JointFit:
    """A joint distribution of columns of text, to fill gaps of other rows.

    Attributes
    ----------
    model : LatentClassModel
        Without `pairs`, see `without_pairs`.
    columns : sequence of CodedColumn
        How each variable is coded.
    gaps : list of str or None
        The words that say that nothing was observed; None: the usual ones.
    alone : list of int
        Variables of numbers that are filled with their median, since the others tell nothing of use about them.
    pairs : sequence of Pair
        Which values cannot stand in one row.

    Examples
    --------
    >>> frame = pd.DataFrame({"hat": ["red", "blue"] * 20, "coat": ["old", "new"] * 20})
    >>> data = CategoricalFrame.from_frame(frame)
    >>> fit = JointFit(LatentClassModel([0.5, 0.5], [np.eye(2), np.eye(2)]), data.columns)
    >>> fit.fill(fit.coded(pd.DataFrame({"coat": ["new", "old"], "hat": [None, "?"]}))).value
    ['blue', 'red']
    """

    model: LatentClassModel
    columns: Sequence[CodedColumn]
    gaps: list[str] | None = None
    alone: Sequence[int] = ()
    pairs: Sequence[Pair] = ()

    def coded(self, frame: pd.DataFrame, gaps: Sequence[str] | None = None) -> CategoricalFrame:
        """Code rows of text as the rows of the fit were, with these words for gaps, or with those of the fit.

        Raises a CofactorError for columns that are missing, values that the fit does not know, and rows that have a
        forbidden pair or to whose gaps the pairs leave no value; rows are named.
        """
        data = CategoricalFrame.coded_by(self.columns, frame, self.gaps if gaps is None else gaps)
        refuse_rows(self.pairs, data)
        return data

    def fill(self, data: CategoricalFrame) -> Filling:
        """Return a value for every gap of rows that `coded` gave; see `fill`."""
        return fill(self.model, data, self.alone, self.pairs)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to an .npz file."""
        about = {
            "columns": [_described(column) for column in self.columns],
            "gaps": self.gaps,
            "alone": list(self.alone),
            "pairs": [list(astuple(pair)) for pair in self.pairs],
        }
        save_arrays(path, about=about, prior=self.model.prior, stacked=self.model.stacked)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> JointFit:
        """Read a file that `save` wrote; a CofactorError names one that is none, or does not agree with itself."""
        arrays = load_arrays(path, ("about", "prior", "stacked"), "kept joint distribution")
        try:
            about = from_json(arrays["about"].tobytes())
            _check_cells(about, arrays["about"].size)
            columns = [_column(one) for one in about["columns"]]
            return _checked(cls(_model(arrays, columns), columns, about["gaps"], about["alone"], _pairs(about)))
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, CofactorError) as error:
            said = "no kept joint distribution, as `cofactor joint --keep-model` writes it"
            raise CofactorError(f"{path} is {said}: {error}") from None


def _described(column: CodedColumn) -> dict[str, Any]:
    """Return what JSON can hold of a column: of every code its values, and how often each was observed."""
    counted = [pd.Series(cells, dtype=object).value_counts(sort=False) for cells in column.observed]
    return {
        "name": column.name,
        "values": [[[str(value), int(count)] for value, count in one.items()] for one in counted],
        "edges": None if column.edges is None else column.edges.tolist(),
        "often": column.often.tolist(),
    }


def _check_cells(about: Mapping[str, Any], size: int) -> None:
    """Refuse counts that a few bytes claim and that would fill the memory: every cell counted becomes one again."""
    n_cells = sum(count for column in about["columns"] for one in column["values"] for _, count in one)
    if n_cells > max(LARGE, RATIO * size):
        raise CofactorError(f"its columns count {n_cells} cells: fit fewer rows")


def _column(about: Mapping[str, Any]) -> CodedColumn:
    name, values, often, edges = (about[key] for key in ("name", "values", "often", "edges"))
    texts = all(isinstance(value, str) and is_whole(count) and count > 0 for value, count in chain(*values))
    if not isinstance(name, str) or not values or not all(values) or not texts:
        raise CofactorError(f"its column {name!r} has no values, or values that are no text")
    if len(often) != len(values) or not all(is_whole(count) and count >= 0 for count in often) or not any(often):
        raise CofactorError(f"its column {name!r} does not say how often each value was observed")
    observed = [list(chain(*(repeat(value, count) for value, count in one))) for one in values]
    column = CodedColumn(name, observed, None if edges is None else np.array(edges, dtype=np.float64), np.array(often))
    cells = pd.Series([value for one in values for value, _ in one], dtype=object, name=name)
    expected = np.repeat(np.arange(len(values)), [len(one) for one in values])
    rising = edges is None or (len(edges) == len(values) - 1 and bool((np.diff(edges) > 0).all()))
    if not rising or not np.array_equal(column.codes(cells), expected):
        raise CofactorError(f"its column {name!r} has values outside their intervals, or twice")
    return column


def _model(arrays: Mapping[str, NDArray[Any]], columns: Sequence[CodedColumn]) -> LatentClassModel:
    sizes = np.array([len(column.observed) for column in columns], dtype=np.int64)
    prior, stacked = (np.asarray(arrays[name], dtype=np.float64) for name in ("prior", "stacked"))
    if stacked.shape != (sizes.sum(), len(prior)):
        raise CofactorError(f"its columns have {sizes.sum()} values, its model {len(stacked)}")
    LatentClassModel(prior, np.split(stacked, np.cumsum(sizes)[:-1]))  # refuses what are no probabilities
    return LatentClassModel.from_stacked(prior, stacked, sizes)


def _pairs(about: Mapping[str, Any]) -> list[Pair]:
    pairs = [Pair(*map(int, one)) for one in about["pairs"]]
    sizes = [len(column["values"]) for column in about["columns"]]
    for pair in pairs:
        if not (0 <= pair.m < len(sizes) and 0 <= pair.n < len(sizes) and pair.m != pair.n):
            raise CofactorError("its forbidden pairs are of other columns")
        if not (0 <= pair.i < sizes[pair.m] and 0 <= pair.j < sizes[pair.n]):
            raise CofactorError("its forbidden pairs are of other values")
    return pairs


def _checked(fit: JointFit) -> JointFit:
    names = names_of(fit.columns)
    if len(set(names)) < len(names):
        raise CofactorError(f"its columns have the same name: {listing(names)}")
    if fit.gaps is not None and not all(isinstance(word, str) for word in fit.gaps):
        raise CofactorError("its words for gaps are no text")
    if not all(is_whole(n) and 0 <= n < len(names) and fit.columns[n].is_numeric for n in fit.alone):
        raise CofactorError("its columns that are filled with their median are no columns of numbers")
    if any(pair.probability(fit.model) > 0 for pair in fit.pairs):
        raise CofactorError("its model gives forbidden pairs a probability")
    return fit
