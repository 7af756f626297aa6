"""A crowd whose labels lie in a database: from the tables that its queries return to a model, and back.

    1. counts    the database counts pairs of labels              `Queries.counts`
    2. start     a model of the counts                            `WarehouseFit.start`
    3. refine    the database adds up posteriors, the model goes on; as often as wanted
                                                                  `Queries.refine`, `WarehouseFit.refined`
    4. score     the database labels every task                   `Queries.score`, `WarehouseFit.model_table`

Labels never leave the database; what travels is a table of counts to here, and one of log-probabilities back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.core.cells import plain_numbers
from cofactor.core.em import SoftCounts, log_dirichlet
from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import from_json, load_arrays, save_arrays
from cofactor.core.latent_class import FLOOR, LatentClassModel
from cofactor.core.lazy import optimize, pd
from cofactor.core.moments import PairwiseMoments
from cofactor.core.types import Floats, Ints
from cofactor.crowd.aggregators import SymNMF
from cofactor.crowd.base import Aggregator
from cofactor.crowd.evidence import require_same_amounts
from cofactor.crowd.moments import CrowdMoments
from cofactor.crowd.priors import prior_cells
from cofactor.crowd.voting import DawidSkene, MajorityVote
from cofactor.reading.tables import read_frame

COUNTED = ("what", "worker", "label", "other_worker", "other_label", "size", "n")
REFINED = ("what", "worker", "label", "true_class", "amount")
FIELDS = ("prior", "stacked", "pseudo_counts", "votes", "classes", "about")
KINDS = {"worker": "worker", "other_worker": "worker", "label": "label", "other_label": "label", "true_class": "label"}
PARTS = ("cell", "class", "agreement", "evidence", "tasks", "labels")  # of a round's sums
ADVICE = "run the query of `cofactor sql` again, and keep all of its rows"


def read_counts(path: str | PathLike[str]) -> CrowdMoments:
    """Read the result of `Queries.counts` from a file: CSV, TSV, parquet or JSON lines; see `moments_of`."""
    return moments_of(read_frame(path, COUNTED, row="count"), str(path))


def moments_of(frame: pd.DataFrame, name: str = "the counts") -> CrowdMoments:
    """Turn the result of `Queries.counts` into the moments that `CrowdMoments.of` finds in memory, up to rounding.

    Raises a CofactorError where columns are missing; numbers are no whole numbers; labels were missing, or in conflict
    (their workers are named); rows are missing, so that the counts do not fit together.
    """
    rows = _columns(frame, COUNTED, ("size", "n"), name)
    _refuse_bad_labels(rows)
    votes, pairs = rows[rows["what"] == "vote"], rows[rows["what"] == "pair"]
    workers, classes = _ids(votes["worker"], "worker", name), _ids(votes["label"], "label", name)
    if len(classes) < 2:
        raise CofactorError(f"{name}: {len(classes)} classes; at least two are needed to tell anything apart")
    ids = {"worker": workers, "label": classes}
    counted, expected = _vote_counts(votes, ids, name)
    moments = CrowdMoments(_pairs(pairs, ids, counted, name), counted, workers, classes)
    found = moments.pairs.counts.sum() / 2
    if not np.isclose(found, expected, rtol=0, atol=0.25):
        raise CofactorError(f"{name}: {found:.0f} pairs, the votes tell of {expected:.0f}; {ADVICE}")
    return moments


def _columns(frame: pd.DataFrame, names: tuple[str, ...], numbers: tuple[str, ...], name: str) -> pd.DataFrame:
    """Return the columns, those of numbers as such and ids as text or whole numbers, each kind in one way."""
    missing = [column for column in names if column not in frame]
    if missing:
        raise CofactorError(f"{name}: no column {listing(missing)}; {ADVICE}")
    rows = frame[list(names)].copy()
    for column in numbers:
        rows[column] = pd.to_numeric(rows[column], errors="coerce")
        if rows[column].isna().any() or not np.isfinite(rows[column].to_numpy(float)).all():
            raise CofactorError(f"{name}: column {column} must hold numbers; {ADVICE}")
    for kind in ("worker", "label"):
        _as_ids(rows, [column for column in names if KINDS.get(column) == kind])
    return rows


def _as_ids(rows: pd.DataFrame, columns: list[str]) -> None:
    """Make whole numbers of the ids in several columns, if all of them are, as of cells of a CSV file."""
    stacked = pd.concat([rows[column] for column in columns], keys=columns)
    stacked = plain_numbers(stacked.astype("str").mask(stacked.isna() | (stacked == ""))).astype(object)
    stacked = stacked.where(stacked.notna(), None)
    for column in columns:
        rows[column] = stacked[column].to_numpy()


def _refuse_bad_labels(rows: pd.DataFrame) -> None:
    absent = int(rows.loc[rows["what"] == "missing", "n"].sum())
    if absent:
        raise CofactorError(f"{absent} rows of the table have no task, no worker or no label: fill or drop them")
    clash = rows[rows["what"] == "conflict"]
    if len(clash):
        both = zip(clash["worker"], clash["n"], strict=True)
        found = listing(f"worker {worker!r} on {int(n)} tasks" for worker, n in both)
        raise CofactorError(f"conflicting labels: {found}; mend the data, or keep the first or last (--conflicts)")


def _ids(column: pd.Series[Any], kind: str, name: str) -> list[Any]:
    ids = [known.item() if isinstance(known, np.generic) else known for known in column.unique()]
    if not ids or None in ids:
        raise CofactorError(f"{name}: there are no votes, or some without a {kind}; {ADVICE}")
    return sorted(ids)


def _codes(rows: pd.DataFrame, columns: Sequence[str], ids: Mapping[str, list[Any]], name: str) -> list[Ints]:
    """Return the numbers of the ids in several columns."""
    found = []
    for column in columns:
        kind = KINDS[column]
        codes = pd.Index(ids[kind], dtype=object).get_indexer(rows[column].astype(object))
        if (codes < 0).any():
            unknown = listing(repr(known) for known in rows[column][codes < 0].unique())
            raise CofactorError(f"{name}: {kind}s that are not among those counted: {unknown}; {ADVICE}")
        found.append(np.asarray(codes, dtype=np.int64))
    return found


def _sums(
    rows: pd.DataFrame, columns: Sequence[str], ids: Mapping[str, list[Any]], amounts: ArrayLike, name: str
) -> Floats:
    """Add up the amounts of rows by the ids in several columns: an array with an axis for each."""
    shape = [len(ids[KINDS[column]]) for column in columns]
    flat = np.ravel_multi_index(_codes(rows, columns, ids, name), shape)
    return np.bincount(flat, amounts, math.prod(shape)).astype(np.float64, copy=False).reshape(shape)


def _vote_counts(votes: pd.DataFrame, ids: Mapping[str, list[Any]], name: str) -> tuple[SoftCounts, float]:
    """Return the soft counts of the vote shares, and how many pairs of labels there must be.

    A row stands for n votes for a class beside a label, in tasks of `size` labels: each is a share of 1 / size, and
    the label is in size - 1 pairs.
    """
    size, n = votes["size"].to_numpy(float), votes["n"].to_numpy(float)
    if (size < 1).any() or (n < 1).any():
        raise CofactorError(f"{name}: counts and sizes must be at least 1; {ADVICE}")
    by_size = np.bincount(size.astype(np.int64), n / size**2)  # tasks of every size
    if not np.allclose(by_size, np.round(by_size), atol=1e-6):
        raise CofactorError(f"{name}: rows of votes are missing; {ADVICE}")
    M, K = len(ids["worker"]), len(ids["label"])
    cells = _sums(votes, ("worker", "label", "other_label"), ids, n / size, name).reshape(-1, K)
    classes = _sums(votes, ("other_label",), ids, n / size**2, name)
    counted = SoftCounts(cells, classes, int(np.round(by_size).sum()), np.full(M, K))
    return counted, float(np.sum(n / size * (size - 1))) / 2


def _pairs(pairs: pd.DataFrame, ids: Mapping[str, list[Any]], counted: SoftCounts, name: str) -> PairwiseMoments:
    m, i, j, k = _codes(pairs, ("worker", "label", "other_worker", "other_label"), ids, name)
    V, K = counted.cells.shape
    upper = sparse.coo_array((pairs["n"].to_numpy(np.int64), (m * K + i, j * K + k)), shape=(V, V))
    singles = np.round(counted.cells.sum(axis=1)).astype(np.int64)
    return PairwiseMoments((upper + upper.T).tocsr(), singles, counted.sizes, counted.n_rows)


# ---- models ----


@dataclass(frozen=True)
class WarehouseFit:
    """A Dawid-Skene model of labels in a database, to be scored there, or refined by further rounds of EM.

    Attributes
    ----------
    model : LatentClassModel
    workers, classes : lists
        Ids, in the order of the codes.
    votes : SoftCounts
        Of the vote shares: what every round must find again of tasks and labels.
    pseudo_counts : (float, float)
        Of EM, see `Aggregator`.
    rounds : int
        Of EM so far.
    objective : float
        Log-likelihood and prior (nats) of the model before the last round; it never falls. NaN before the first.
    """

    model: LatentClassModel
    workers: list[Any]
    classes: list[Any]
    votes: SoftCounts
    pseudo_counts: tuple[float, float]
    rounds: int = 0
    objective: float = np.nan

    @classmethod
    def start(cls, method: Aggregator, moments: CrowdMoments) -> WarehouseFit:
        """Estimate a model from counts alone, by SymNMF, DesSymNMF, RobSymNMF, or the vote shares (MV-EM).

        Hidden classes are named as the vote shares make most probable, since the votes of single tasks are not known
        here. Raises a CofactorError for other methods.
        """
        if isinstance(method, SymNMF):
            model = named_by_votes(method.estimate_from(moments)[0], moments.votes)
        elif isinstance(method, DawidSkene | MajorityVote):
            model = moments.votes.model()
        else:
            raise CofactorError(f"{type(method).__name__} needs more than counts of pairs")
        return cls(model, moments.workers, moments.classes, moments.votes, method.pseudo_counts)

    def refined(self, frame: pd.DataFrame, name: str = "the sums") -> WarehouseFit:
        """Do one round of EM: the M-step on the result of `Queries.refine`, which was run with this model.

        The same round as that of methods that end in -EM, up to rounding. Classes are named as agrees most with the
        votes. Raises a CofactorError where the table is no result of `Queries.refine`, or of other labels than were
        counted.
        """
        rows = _columns(frame, REFINED, ("amount",), name)
        counts, order = self._soft_counts(rows, name)
        cells = np.tile(prior_cells(self.pseudo_counts, len(self.classes)), (len(self.workers), 1))
        objective = counts.log_likelihood + log_dirichlet(self.model, cells)
        model = counts.model(cells).reorder(order)
        return replace(self, model=model, rounds=self.rounds + 1, objective=objective)

    def _soft_counts(self, rows: pd.DataFrame, name: str) -> tuple[SoftCounts, Ints]:
        """Return the sums over tasks, and the order of the classes that agrees most with the votes."""
        part = {what: rows[rows["what"] == what] for what in PARTS}
        absent = [what for what, found in part.items() if found.empty]
        if absent:
            raise CofactorError(f"{name}: no rows of {listing(absent)}; {ADVICE}")

        def sums(what: str, *columns: str) -> Floats:
            ids = {"worker": self.workers, "label": self.classes}
            return _sums(part[what], columns, ids, part[what]["amount"], name)

        n_tasks, n_labels, evidence = (float(part[what]["amount"].sum()) for what in ("tasks", "labels", "evidence"))
        require_same_amounts(self.votes, round(n_tasks), round(n_labels))
        cells = sums("cell", "worker", "label", "true_class").reshape(-1, len(self.classes))
        classes = sums("class", "true_class")
        if not np.isclose(cells.sum(), n_labels) or not np.isclose(classes.sum(), n_tasks):
            raise CofactorError(f"{name}: rows are missing; {ADVICE}")
        order = optimize.linear_sum_assignment(sums("agreement", "label", "true_class"), maximize=True)[1]
        return SoftCounts(cells, classes, round(n_tasks), self.model.sizes, evidence), order

    def model_table(self) -> pd.DataFrame:
        """Return the table that `Queries.score` and `Queries.refine` read: M K^2 + K rows.

        Columns: worker, label, true_class (text), code (of the class), log_probability (natural). Rows without a worker
        hold the prior.
        """
        M, K = len(self.workers), len(self.classes)
        names, logs = [str(known) for known in self.classes], np.log(np.maximum(self.model.stacked, FLOOR))
        prior = np.log(np.maximum(self.model.prior, FLOOR))
        columns = {
            "worker": [None] * K + [str(worker) for worker in self.workers for _ in range(K * K)],
            "label": [None] * K + [name for name in names for _ in range(K)] * M,
            "true_class": names * (1 + M * K),
            "code": np.tile(np.arange(K), 1 + M * K),
            "log_probability": np.concatenate([prior, logs.ravel()]),
        }
        return pd.DataFrame(columns)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to an .npz file."""
        about = {"workers": self.workers, "classes": self.classes, "rounds": self.rounds}
        amounts = {"n_tasks": self.votes.n_rows, "objective": self.objective}
        arrays = {"prior": self.model.prior, "stacked": self.model.stacked, "pseudo_counts": self.pseudo_counts}
        save_arrays(path, **arrays, votes=self.votes.cells, classes=self.votes.classes, about=about | amounts)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> WarehouseFit:
        """Read a file that `save` wrote; a CofactorError names one that is none."""
        kept = load_arrays(path, FIELDS, "fitted model")
        try:
            about = from_json(kept["about"].tobytes())
            workers, classes = about["workers"], about["classes"]
            K = len(classes)
            blocks = kept["stacked"].reshape(len(workers), K, K)
            sizes = LatentClassModel(kept["prior"], list(blocks)).sizes  # refuses what is no model
            model = LatentClassModel.from_stacked(kept["prior"], kept["stacked"], sizes)
            votes = SoftCounts(kept["votes"].reshape(-1, K), kept["classes"], int(about["n_tasks"]), model.sizes)
            right, wrong = map(float, kept["pseudo_counts"])
            return cls(model, workers, classes, votes, (right, wrong), int(about["rounds"]), float(about["objective"]))
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, CofactorError) as error:
            raise CofactorError(f"{path} is no model of `cofactor fit`: {error}") from None


def named_by_votes(model: LatentClassModel, votes: SoftCounts) -> LatentClassModel:
    """Order the hidden classes so that the vote shares, as soft classes, are most probable together with the labels."""
    gain = votes.cells.T @ np.log(np.maximum(model.stacked, FLOOR))
    gain += np.outer(votes.classes, np.log(np.maximum(model.prior, FLOOR)))
    return model.reorder(optimize.linear_sum_assignment(gain, maximize=True)[1])
