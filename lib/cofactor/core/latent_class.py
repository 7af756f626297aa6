"""The latent-class (naive Bayes) model: variables are independent given one latent class.

    Pr(x_1, ..., x_N) = sum_f lambda_f prod_n A_n[x_n, f]

A Dawid-Skene model is this model with annotators as variables: A_n is the annotator confusion matrix and
lambda the class prior.

    symbol    meaning                                            shape
    lambda    prior of the latent class                          (F,)
    A_n       conditional of variable n, columns sum to one      (I_n, F)
    A         all A_n stacked                                    (sum I_n, F)
    F         one-hot indicator of a table                       (S, sum I_n), sparse

Source: Dawid and Skene, 1979; Ibrahim and Fu, ICML 2021, Eq. (1); Ibrahim and Fu, IEEE TSP 2021, Eq. (2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.checks import finite_matrix, numbers, rng_of
from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import optimize, special
from cofactor.core.tables import MISSING, CategoricalTable
from cofactor.core.types import Floats, Indices, Ints

FLOOR = 1e-12  # smallest probability whose logarithm is taken: an impossible observation must not give NaN
SUM_TOLERANCE = 1e-6  # how far the columns given by a caller may be from summing to one
CLASSES_AT_ONCE = 8  # whose logarithms are held
MOST_BYTES = 2_000_000_000  # largest joint tensor that is formed
TIE = 1e-9  # posteriors this close count as tied, so that rounding never breaks a tie


def normalize_blocks(stacked: ArrayLike, sizes: ArrayLike) -> Floats:
    """Scale every column of every block of rows to sum to one.

    Parameters
    ----------
    stacked : (I_1 + ... + I_N, F) array, nonnegative
        Blocks of rows, one block per variable.
    sizes : (N,) positive ints
        Rows of each block.

    Returns
    -------
    Array of the same shape. A column of a block that is all zero becomes uniform.

    Cost: O(F sum(I_n)) time and memory.

    >>> normalize_blocks([[1.0, 0.0], [3.0, 0.0]], [2])
    array([[0.25, 0.5 ],
           [0.75, 0.5 ]])
    """
    stacked, sizes = np.asarray(stacked, dtype=np.float64), np.asarray(sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    totals = np.add.reduceat(stacked, starts, axis=0)
    empty = ~(totals > 0)
    found = stacked / np.repeat(np.where(empty, 1.0, totals), sizes, axis=0)
    if empty.any():
        found = np.where(np.repeat(empty, sizes, axis=0), np.repeat(1.0 / sizes, sizes)[:, None], found)
    return found


class LatentClassModel:
    """Prior and conditionals of a latent-class model; immutable.

    Parameters
    ----------
    prior : (F,) array
        Probability of each latent class; nonnegative, sums to one.
    conditionals : N arrays of shape (I_n, F)
        ``conditionals[n][i, f]`` = Pr(variable n takes value i | class f); columns sum to one.

    Raises a CofactorError if shapes do not match, entries are negative or not finite, or columns do not sum to one (the
    variables are named).

    >>> model = LatentClassModel([0.5, 0.5], [[[0.9, 0.2], [0.1, 0.8]]] * 2)
    >>> model.posterior(CategoricalTable([[0, 0], [0, -1], [-1, -1]], sizes=[2, 2])).round(3)
    array([[0.953, 0.047],
           [0.818, 0.182],
           [0.5  , 0.5  ]])
    """

    def __init__(self, prior: ArrayLike, conditionals: Sequence[ArrayLike]) -> None:
        if not isinstance(conditionals, Iterable) or not getattr(conditionals, "ndim", 1):
            raise CofactorError(f"conditionals must be a list of matrices, one per variable; got {conditionals!r}")
        prior = numbers(prior, "prior")
        blocks = [numbers(block, f"conditional {n}") for n, block in enumerate(conditionals)]
        if prior.ndim != 1 or not prior.size or not blocks:
            raise CofactorError(f"need a prior of shape (F,) and at least one conditional; got shape {prior.shape}")
        bad = [n for n, A in enumerate(blocks) if A.ndim != 2 or A.shape[1] != len(prior) or not len(A)]
        if bad:
            raise CofactorError(f"conditionals must have shape (I_n, {len(prior)}); see variables {listing(bad)}")
        if not _sum_to_one(prior):
            raise CofactorError(f"the prior must be nonnegative and sum to one, got {prior}")
        bad = [n for n, A in enumerate(blocks) if not _sum_to_one(A)]
        if bad:
            raise CofactorError(f"columns must be nonnegative and sum to one; see variables {listing(bad)}")
        sizes = np.array([len(block) for block in blocks], dtype=np.int64)
        self._store(prior / prior.sum(), normalize_blocks(np.vstack(blocks), sizes), sizes)

    @classmethod
    def from_stacked(cls, prior: Floats, stacked: Floats, sizes: Ints) -> LatentClassModel:
        """Create a model from valid arrays; `stacked` (sum I_n, F) contains the conditionals, one below another."""
        model = cls.__new__(cls)
        model._store(prior, stacked, sizes)
        return model

    def _store(self, prior: Floats, stacked: Floats, sizes: Ints) -> None:
        self.prior, self.stacked, self.sizes = prior.view(), stacked.view(), sizes
        for array in (self.prior, self.stacked):
            array.setflags(write=False)

    def __repr__(self) -> str:
        return f"LatentClassModel({self.n_classes} classes, {self.n_variables} variables)"

    @property
    def n_classes(self) -> int:
        """F, the number of latent classes."""
        return len(self.prior)

    @property
    def n_variables(self) -> int:
        """N, the number of variables."""
        return len(self.sizes)

    @property
    def n_parameters(self) -> int:
        """F - 1 + F sum (I_n - 1), the number of free parameters."""
        return self.n_classes - 1 + self.n_classes * int((self.sizes - 1).sum())

    @cached_property
    def conditionals(self) -> list[Floats]:
        """The N matrices A_n of shape (I_n, F), columns summing to one."""
        return np.split(self.stacked, np.cumsum(self.sizes)[:-1])

    def pairwise(self, m: int, j: int) -> Floats:
        """Return A_m diag(lambda) A_j', the (I_m, I_j) joint PMF of two different variables; ICML 2021, Eq. (2)."""
        self._check_variable(m)
        self._check_variable(j)
        return self.conditionals[m] * self.prior @ self.conditionals[j].T

    def log_joint(self, table: CategoricalTable) -> Floats:
        """Return (S, F): log lambda_f + sum over observed n of log A_n[x_n, f]. O(entries F) time.

        The table must have the model's variables. Codes outside an alphabet of the model count as missing, with a
        `DataWarning` that gives their number.
        """
        table = self._known_codes(table)
        log_prior = np.log(self.prior, where=self.prior > 0, out=np.full(self.n_classes, -np.inf))
        some = (self.stacked[:, f : f + CLASSES_AT_ONCE] for f in range(0, self.n_classes, CLASSES_AT_ONCE))
        return np.hstack([table.indicator @ np.log(np.maximum(A, FLOOR)) for A in some]) + log_prior

    def _check_variable(self, n: int) -> None:
        if not isinstance(n, int | np.integer) or not 0 <= n < self.n_variables:
            raise CofactorError(f"there is no variable {n!r}: the model has {self.n_variables}, numbered from 0")

    def _known_codes(self, table: CategoricalTable) -> CategoricalTable:
        """Give a table the alphabets of the model."""
        if not isinstance(table, CategoricalTable):
            raise CofactorError(f"expected a CategoricalTable, got {type(table).__name__}: CategoricalTable(codes)")
        if table.n_variables != self.n_variables:
            raise CofactorError(
                f"the table has {table.n_variables} variables, the model {self.n_variables}: "
                "use a table with the variables it was fitted on"
            )
        return table if np.array_equal(table.sizes, self.sizes) else table.with_sizes(self.sizes)

    def explain(self, table: CategoricalTable) -> tuple[Floats, Floats]:
        """Return the (S, F) posterior and the (S,) log-likelihood (nats) of the observed entries of every row.

        A row that is impossible under the model has a log-likelihood of minus infinity; its posterior is computed with
        conditionals floored at 1e-12.
        """
        table = self._known_codes(table)
        joint = np.ascontiguousarray(self.log_joint(table).T)  # (F, S): NumPy is fast along the long axis only
        top = joint.max(axis=0)
        joint -= top
        np.exp(joint, out=joint)
        total = joint.sum(axis=0)
        joint /= total
        log_likelihood = top + np.log(total)
        low = (self.stacked < FLOOR).any(axis=1)
        rows = np.flatnonzero(table.indicator @ low.astype(np.float64)) if low.any() else np.zeros(0, dtype=np.intp)
        if rows.size:  # few, as a rule: where EM has been, a value seen has a chance in some class
            F, there = table.indicator[rows], self.prior > 0
            zero = self.stacked[:, there] == 0
            logs = np.log(self.stacked[:, there], where=~zero, out=np.zeros(zero.shape))
            without = F @ logs + np.log(self.prior[there])  # any floor
            impossible = F @ zero.astype(np.float64) > 0
            log_likelihood[rows] = special.logsumexp(np.where(impossible, -np.inf, without), axis=1)
        return joint.T, log_likelihood

    def posterior(self, table: CategoricalTable) -> Floats:
        """Return the (S, F) class probabilities of every row; a row without observed entries gets the prior."""
        return self.explain(table)[0]

    def predict(self, table: CategoricalTable) -> Ints:
        """Return the (S,) most probable class of every row; for ties see `map_class`."""
        return map_class(self.posterior(table), self.prior)

    def log_likelihood(self, table: CategoricalTable) -> float:
        """Return the log-likelihood of all observed entries (nats); minus infinity if a row is impossible."""
        return float(self.explain(table)[1].sum())

    def conditional(self, table: CategoricalTable, target: int) -> Floats:
        """Return Pr(variable `target` | the other observed entries) for every row: (S, I_target).

        The table has all variables of the model; its entries of `target` are ignored. A row without other observed
        entries gets the marginal distribution of `target`. Raises a CofactorError for an unknown variable or another
        number of variables.

        Cost: O(entries F + S I_target F) time, O(S (F + I_target)) memory. Source: IEEE TSP 2021, Eq. (2) and Sec. 5.3;
        the released code multiplies probabilities, which underflows for long rows.

        >>> model = LatentClassModel([0.5, 0.5], [[[0.9, 0.2], [0.1, 0.8]]] * 3)
        >>> model.conditional(CategoricalTable([[0, 0, -1], [-1, 1, 0]], sizes=[2, 2, 2]), target=2).round(3)
        array([[0.867, 0.133],
               [0.278, 0.722]])
        """
        self._check_variable(target)
        table = self._known_codes(table)
        joint = self.log_joint(table)
        rows, codes = table.column(target)
        joint[rows] -= np.log(np.maximum(self.conditionals[target], FLOOR))[codes]
        joint -= joint.max(axis=1, keepdims=True)
        Q = np.exp(joint, out=joint)
        Q /= Q.sum(axis=1, keepdims=True)
        return np.asarray(Q @ self.conditionals[target].T)

    def predict_map(self, table: CategoricalTable, target: int) -> Ints:
        """Return the (S,) most probable code of variable `target` given the others; see `conditional`.

        Ties go to the value that is more frequent under the model, then to the lower code.
        """
        shares = self.conditional(table, target)
        return map_class(shares, self.marginal(target))

    def expectation(self, table: CategoricalTable, target: int, values: ArrayLike | None = None) -> Floats:
        """Return the (S,) expected value of an ordinal variable given the others: the MMSE estimate.

        `values` are the (I_target,) numbers that the codes stand for, such as stars; by default the codes themselves.
        Source: IEEE TSP 2021, Sec. 5.4. The released code leaves lambda out of this sum.
        """
        shares = self.conditional(table, target)
        stars = numbers(np.arange(shares.shape[1]) if values is None else values, "values")
        if stars.shape != shares.shape[1:] or not np.isfinite(stars).all():
            raise CofactorError(f"variable {target} has {shares.shape[1]} values: give one finite number for each")
        return np.asarray(shares @ stars)

    def marginal(self, n: int) -> Floats:
        """Return the (I_n,) distribution of one variable."""
        self._check_variable(n)
        return np.asarray(self.conditionals[n] @ self.prior)

    def impute(self, table: CategoricalTable) -> Ints:
        """Return the (S, N) codes, with each missing one replaced by its most probable value given the row."""
        table = self._known_codes(table)
        Q, codes = self.posterior(table), table.codes
        for n, A in enumerate(self.conditionals):
            rows = codes[:, n] == MISSING
            codes[rows, n] = map_class(Q[rows] @ A.T, self.marginal(n))
        return codes

    def joint_tensor(self, most_bytes: int = MOST_BYTES) -> Floats:
        """Return the joint PMF as an array of shape (I_1, ..., I_N); raise if it would exceed `most_bytes`.

        Most questions about a joint PMF do not need it: see `conditional`, `log_likelihood`, `pairwise` and `sample`.
        """
        needed = 8 * float(np.prod(self.sizes.astype(np.float64)))
        if needed > most_bytes:
            raise CofactorError(
                f"the joint PMF of {self.n_variables} variables has {needed / 8:.3g} cells, {needed / 1e9:.3g} GB: "
                "use conditional, log_likelihood, pairwise or sample, which do not need it"
            )
        half = self.n_variables // 2
        left = right = np.ones((1, self.n_classes))  # products of all rows of half of the conditionals (Khatri-Rao)
        for A in self.conditionals[:half]:
            left = (left[:, None] * A).reshape(-1, self.n_classes)
        for A in self.conditionals[half:]:
            right = (right[:, None] * A).reshape(-1, self.n_classes)
        return np.asarray((left * self.prior) @ right.T).reshape(self.sizes)

    def reorder(self, order: ArrayLike) -> LatentClassModel:
        """Return the model with its latent classes in this order."""
        order = np.asarray(order)
        return LatentClassModel.from_stacked(self.prior[order], self.stacked[:, order], self.sizes)

    def lift(self, floor: float) -> LatentClassModel:
        """Return the model with probabilities of at least about `floor`: multiplicative updates never leave zero."""
        prior = np.maximum(self.prior, floor)
        stacked = normalize_blocks(np.maximum(self.stacked, floor), self.sizes)
        return LatentClassModel.from_stacked(prior / prior.sum(), stacked, self.sizes)

    def align_to(self, reference: LatentClassModel) -> LatentClassModel:
        """Return the model with its latent classes in the order closest to `reference` in least squares.

        This order attains the minimum in `mse`.
        """
        if self.n_classes != reference.n_classes or not np.array_equal(self.sizes, reference.sizes):
            raise CofactorError(f"cannot align {self!r} to {reference!r}: classes or alphabets differ")
        return self.reorder(match_columns(_with_prior(reference), _with_prior(self)))

    def mse(self, estimate: LatentClassModel) -> float:
        """Return the mean squared error of an estimate of this model, up to the order of the latent classes.

        MSE = min over permutations P of (||P'lambda - lambda^||^2 + sum_n ||A_n P - A^_n||_F^2) / (N F + 1).

        Raises a CofactorError if the two have different classes or variables. Source: Ibrahim and Fu, ICML 2021,
        Eq. (19); the released code matches each annotator separately, this is the one permutation of the equation.
        """
        aligned = estimate.align_to(self)
        error = np.sum((aligned.prior - self.prior) ** 2) + np.sum((aligned.stacked - self.stacked) ** 2)
        return float(error / (self.n_variables * self.n_classes + 1))

    def sample(
        self,
        n_rows: int,
        entries: tuple[ArrayLike, ArrayLike] | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> tuple[CategoricalTable, Ints]:
        """Draw a table of rows from the model, and return it with the (n_rows,) latent class of every row.

        `entries`, a pair of (E,) index arrays (row, variable), gives the observed entries; default: all.
        O(E max(I_n)) time, O(E) memory.
        """
        rng = rng_of(random_state)
        classes = rng.choice(self.n_classes, size=n_rows, p=self.prior)
        if entries is None:
            entries = np.divmod(np.arange(n_rows * self.n_variables), self.n_variables)
        row, variable = (np.asarray(index, dtype=np.int64) for index in entries)
        offsets, states, uniform = np.cumsum(self.sizes) - self.sizes, classes[row], rng.random(len(row))
        code, below = np.zeros(len(row), dtype=np.int64), np.zeros(len(row))
        for value in range(int(self.sizes.max()) - 1):  # inverts the cumulative conditionals, one value at a time
            inside = value < self.sizes[variable] - 1
            below += np.where(inside, self.stacked[np.where(inside, offsets[variable] + value, 0), states], np.inf)
            code += uniform >= below
        return CategoricalTable.from_entries(row, variable, code, self.sizes, n_rows), classes


def match_columns(reference: ArrayLike, estimate: ArrayLike) -> Indices:
    """Return the order of the F columns of `estimate` that is closest to `reference`.

    Solves min over permutations of ||reference - estimate[:, order]||_F^2 exactly (Hungarian algorithm), so that
    ``estimate[:, order]`` matches `reference`. O(I F^2 + F^3) time.

    >>> match_columns([[1, 0], [0, 1]], [[0, 1], [1, 0]]).tolist()
    [1, 0]
    """
    reference, estimate = finite_matrix(reference, "reference"), finite_matrix(estimate, "estimate")
    _check_same_rows(reference, estimate)
    size = max(np.abs(reference).max(), np.abs(estimate).max()) or 1.0  # so that no square leaves the range of numbers
    reference, estimate = reference / size, estimate / size
    squares = (reference**2).sum(axis=0)[:, None] + (estimate**2).sum(axis=0)
    return np.asarray(optimize.linear_sum_assignment(squares - 2 * reference.T @ estimate)[1])


def match_classes(votes: ArrayLike, posterior: ArrayLike) -> Indices:
    """Return the order of the columns of `posterior` that agrees most with `votes`.

    Both are (S, F) class probabilities. No ground truth is needed: majority votes are the reference, which
    identifies the classes as long as the crowd as a whole is better than chance.
    """
    votes, posterior = finite_matrix(votes, "votes"), finite_matrix(posterior, "posterior")
    _check_same_rows(votes, posterior)
    return np.asarray(optimize.linear_sum_assignment(votes.T @ posterior, maximize=True)[1])


def _check_same_rows(one: Floats, other: Floats) -> None:
    if len(one) != len(other):
        raise CofactorError(f"matrices must have the same number of rows, got shapes {one.shape} and {other.shape}")


def map_class(posterior: ArrayLike, prior: ArrayLike) -> Ints:
    """Return the most probable class of each row.

    Ties (within 1e-9) go to the tied class with the larger prior, then to the lower code, so that ties do not
    favour the first class and do not depend on rounding.

    >>> map_class([[0.5, 0.5], [0.7, 0.3]], prior=[0.4, 0.6]).tolist()
    [1, 0]
    """
    columns = np.ascontiguousarray(np.asarray(posterior, dtype=np.float64).T)  # NumPy is fast along the long axis only
    least, found = columns.max(axis=0) - TIE, np.zeros(columns.shape[1], dtype=np.intp)
    for k in np.argsort(-np.asarray(prior), kind="stable")[::-1]:  # the preferred ones last, over the others
        np.copyto(found, k, where=columns[k] >= least)
    return found


def _with_prior(model: LatentClassModel) -> Floats:
    return np.vstack([model.prior, model.stacked])


def _sum_to_one(columns: Floats) -> bool:
    return bool(np.all(columns >= 0) and np.allclose(columns.sum(axis=0), 1, atol=SUM_TOLERANCE))
