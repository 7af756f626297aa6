"""Crowd labels in many files: counted, fitted and labelled one file (shard) at a time.

A folder of shards holds `vocabulary.json` and parquet files. The vocabulary has workers and classes, in the order of
the codes, and the shards with size and hash. The files have columns task, worker, label: tasks as ids, the others as
codes. Shards are sorted by task, and every task lies within one shard, so that all that is needed of the labels is a
sum over shards. `cofactor_app.scale.sharding` makes such a folder.

Memory everywhere: one shard per processor, the sums, and what `Passes` may keep.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.baselines.crowd.bayesian import VariationalAggregator
from cofactor.core.em import SoftCounts, iterate_em
from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import from_json, load_arrays, read_parquet, reading_parquet, restore, whole_file
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import optimize, pd
from cofactor.core.result import Result, progress
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.aggregators import SymNMF
from cofactor.crowd.base import Aggregator
from cofactor.crowd.evidence import Evidence, GoldEvidence
from cofactor.crowd.labels import COLUMNS, CrowdLabels
from cofactor.crowd.moments import CrowdMoments, save_moments
from cofactor.crowd.priors import prior_cells
from cofactor.crowd.tables import consensus_frame
from cofactor.crowd.voting import CLOSED_FORM, DawidSkene
from cofactor.crowd.worker_types import WorkerTypes
from cofactor_app.scale.copies import owners_of
from cofactor_app.scale.passes import ADVICE, Passes, disjoint
from cofactor_app.scale.threads import Threads

VOCABULARY = "vocabulary.json"
Method = TypeVar("Method", bound=Aggregator)


@dataclass(frozen=True)
class LabelShards:
    """Crowd labels in parquet files that are read one at a time; iterate to get the `CrowdLabels` of each.

    Attributes
    ----------
    paths : list of Path
        In the order of their tasks.
    workers, classes : lists
        Ids of the whole crowd, in the order of the codes.
    manifest : dict of file name to its bytes and sha256
    """

    paths: list[Path]
    workers: list[Any]
    classes: list[Any]
    manifest: dict[str, dict[str, Any]]

    @classmethod
    def open(cls, *sources: str | PathLike[str]) -> LabelShards:
        """Open a folder of shards, or some of its files.

        Raises a CofactorError where a file is missing, there are none, or their folder has no vocabulary, or a broken
        one; where a shard is missing, is not listed there, or has another size.
        """
        given = [Path(source) for source in sources]
        for source in given:
            restore(source)
        lost = [path for path in given if not path.exists()]
        if lost or not given:
            raise CofactorError(f"no such file: {listing(lost)}" if lost else "no shards are named")
        folders = list(dict.fromkeys((path if path.is_dir() else path.parent).resolve() for path in given))
        if len(folders) > 1:
            raise CofactorError(f"shards of {len(folders)} folders: {listing(folders)}; name those of one folder")
        if not (folders[0] / VOCABULARY).is_file():
            raise CofactorError(f"{folders[0]} holds no shards (there is no {VOCABULARY} in it): {ADVICE}")
        vocabulary = _read_vocabulary(folders[0] / VOCABULARY)
        manifest = vocabulary["shards"]
        paths = [path for source in given for path in ([source / m for m in manifest] if source.is_dir() else [source])]
        _check_manifest(paths, manifest)
        return cls(sorted(set(paths)), vocabulary["workers"], vocabulary["classes"], manifest)

    def verify(self) -> None:
        """Read every byte, and refuse shards whose content is not what was written; they are named."""
        bad = [path for path in self.paths if _digest(path) != self.manifest[path.name]["sha256"]]
        if bad:
            raise CofactorError(f"damaged shards: {listing(bad)}; {ADVICE} again")

    def read(self, path: Path) -> CrowdLabels:
        """Read one shard.

        Raises a CofactorError for other bytes than were written, no parquet file, missing columns or tasks, codes that
        the vocabulary does not know, a task that a worker labelled twice, or scattered labels of a task (it is named).
        """
        columns = _read_columns(path, self.manifest[path.name])
        missing = [name for name in COLUMNS if name not in columns]
        if missing or not len(columns["task"]):
            raise CofactorError(f"{path}: {f'no column {listing(missing)}' if missing else 'no labels'}; {ADVICE}")
        task, worker, label = (columns[name] for name in COLUMNS)
        new = np.append(True, task[1:] != task[:-1])
        check_grouped(task[new], path)
        try:
            table = table_of(new, worker, label, len(self.workers), len(self.classes))
        except CofactorError as error:
            raise CofactorError(f"{path}: {error}; {ADVICE}") from None
        return CrowdLabels(table, task[new].tolist(), self.workers, self.classes)

    def n_labels(self, path: Path) -> int:
        """Return how many labels a shard has, from its last bytes only."""
        with reading_parquet(path):
            from pyarrow import parquet

            return int(parquet.read_metadata(path).num_rows)

    def __iter__(self) -> Iterator[CrowdLabels]:
        return Passes(self).map(lambda labels: labels)

    def count(self, kept: str | PathLike[str], n_jobs: int = 1, verbose: bool = False) -> CrowdMoments:
        """Count all shards; equal to the moments of all labels in memory, at any number of jobs.

        Parameters
        ----------
        kept : path
            A folder for the counts of every shard, so that a run that was stopped goes on where it was: shards counted
            there, and not changed since, are not read again. Remove it when the result is safe.
        n_jobs : int
            Threads that count at the same time.
        verbose : bool
            Show a progress bar on a terminal.

        Raises a CofactorError as `read`, where a task lies in two shards (it is named), or `n_jobs` is zero.
        Cost: as `pairwise_moments`, plus O(pairs of values that occurred) per shard to add up.
        """
        threads = Threads(n_jobs)
        folder = Path(kept)
        folder.mkdir(parents=True, exist_ok=True)
        ids = json.dumps([self.workers, self.classes])
        parts = [folder / f"{path.stem}-{_mark(ids, self.manifest[path.name])}.npz" for path in self.paths]
        todo = [pair for pair in zip(self.paths, parts, strict=True) if not pair[1].exists()]
        counted = threads.in_order((_keep, self, *pair) for pair in todo)
        for _ in progress(counted, "shards", verbose, len(parts), len(parts) - len(todo)):
            pass
        return CrowdMoments.load(*disjoint(self.paths, ((part, _read_span(part)) for part in parts)))

    def votes(self, passes: Passes | None = None) -> SoftCounts:
        """Count the vote shares of all shards: all that methods need before EM which take no pairs of labels."""
        return Evidence(passes or Passes(self)).start()

    def fit(
        self,
        method: Method,
        moments: CrowdMoments | SoftCounts,
        max_rounds: int = 500,
        verbose: bool = False,
        passes: Passes | None = None,
        apart: GoldEvidence | None = None,
    ) -> Method:
        """Fit a method to sums over tasks; EM, and the naming of the classes, read the shards, once each round.

        Equal, up to rounding, to what `method.fit` finds with all labels in memory. Classes are named by the labels
        that tasks of every class were given in the last round. In memory, the labels of a task count as one vote, so
        names can differ where tasks with many labels and those with few contradict each other.

        Parameters
        ----------
        method : Aggregator
            One that needs sums over tasks only: WorkerTypes, IBCC, EBCC; SymNMF, DesSymNMF, RobSymNMF, MV-EM, with or
            without EM.
        moments : CrowdMoments or SoftCounts
            Of these shards: `count`; or `votes` alone, which is enough for WorkerTypes, IBCC, EBCC and MV-EM.
        max_rounds : int
            Most rounds of EM.
        passes : Passes, optional
            Who reads these shards, what stays in memory, and where rounds are kept. Default: read here, one by one.
            Where they have no owners, WorkerTypes that merges copies looks for them (`copies.owners_of`).
        apart : GoldEvidence, optional
            The same labels, those of gold tasks in memory (`known.apart`); for methods that take gold tasks. The
            random starts of EBCC then see tasks in another order than in memory.

        Returns `method`, fitted: it predicts the labels of any shard. Raises a CofactorError for a method that needs
        all labels at once, or pairs where there are votes alone, or for moments of other labels.
        """
        votes = moments if isinstance(moments, SoftCounts) else moments.votes
        if not isinstance(moments, SoftCounts) and (moments.workers, moments.classes) != (self.workers, self.classes):
            raise CofactorError("the moments were counted for other workers or classes: count these shards")
        passes = passes or Passes(self)
        if isinstance(method, WorkerTypes) and method.merge_copies and passes.owner is None:
            passes = passes.merged(owners_of(passes)[0])
        evidence = apart or Evidence(passes, votes=votes if passes.given is None else None)
        method.workers_, method.classes_, method.gold_ = self.workers, self.classes, apart.known if apart else {}
        if isinstance(method, VariationalAggregator | WorkerTypes):
            method.max_iter, method.verbose = min(method.max_iter, max_rounds), verbose
            method.fit_evidence(evidence, *[passes.owner] * isinstance(method, WorkerTypes))
        else:
            method.model_, method.result_ = self._fit(method, moments, evidence, max_rounds, verbose)
        method.labels_given_ = labels_given(votes) if passes.given is None else passes.given
        return method

    def _fit(
        self, method: Aggregator, moments: CrowdMoments | SoftCounts, evidence: Evidence, max_rounds: int, verbose: bool
    ) -> tuple[LatentClassModel, Result]:
        """Factorise the moments, go on by EM where the method does, and name the classes by the last E-step."""
        model, result = _from_moments(method, moments)
        K, last = len(self.classes), [] if method.em and max_rounds else [evidence.e_step(model)]

        def e_step(model: LatentClassModel) -> SoftCounts:
            last[:] = [evidence.e_step(model)]
            return last[0]

        if method.em:
            cells = np.tile(prior_cells(method.pseudo_counts, K), (len(self.workers), 1))
            model, result = iterate_em(e_step, model, max_rounds, verbose=verbose, pseudo_count=cells)
        if isinstance(evidence, GoldEvidence) and evidence.known:  # which name the classes
            return model, result
        agreement = last[0].cells.reshape(-1, K, K).sum(axis=0)
        return model.reorder(optimize.linear_sum_assignment(agreement, maximize=True)[1]), result

    def consensus(self, method: Aggregator, passes: Passes | None = None) -> Iterator[pd.DataFrame]:
        """Yield task, label, posterior probability of the label, and number of labels, shard by shard."""
        return self.tables(partial(consensus_frame, method=method), method, passes)

    def tables(
        self, table: Callable[[CrowdLabels, Floats], pd.DataFrame], method: Aggregator, passes: Passes | None = None
    ) -> Iterator[pd.DataFrame]:
        """Yield what `table` makes of the labels of each shard and their posterior by a method."""
        return (passes or Passes(self)).map(lambda labels: table(labels, method.predict_proba(labels)), whole=True)


def labels_given(votes: SoftCounts) -> Ints:
    """Return the number of labels of every worker, from the soft counts of the vote shares."""
    return np.rint(votes.cells.sum(axis=1)).astype(np.int64).reshape(len(votes.sizes), -1).sum(axis=1)


def _keep(shards: LabelShards, path: Path, part: Path) -> None:
    """Write the moments of one shard, with its first and last task; whole or not at all."""
    labels = shards.read(path)
    with whole_file(part) as unfinished:
        save_moments(unfinished, labels, span=[labels.tasks[0], labels.tasks[-1]])


def _from_moments(method: Aggregator, moments: CrowdMoments | SoftCounts) -> tuple[LatentClassModel, Result]:
    if isinstance(method, SymNMF):
        if isinstance(moments, SoftCounts):
            need = "needs the counts of label pairs: count them with `cofactor moments`, and give them with --moments"
            raise CofactorError(f"{type(method).__name__} {need}")
        return method.estimate_from(moments)
    if isinstance(method, DawidSkene):
        return (moments if isinstance(moments, SoftCounts) else moments.votes).model(), CLOSED_FORM
    raise CofactorError(
        f"{type(method).__name__} needs all labels at once; from moments work WorkerTypes, IBCC, EBCC, MV-EM, "
        "RobSymNMF, RobSymNMF(w=1), DesSymNMF and SymNMF(no imputation), the last four also with -EM"
    )


def _read_span(part: Path) -> tuple[Any, Any]:
    """First and last task of a shard, as kept with its counts."""
    with suppress(ValueError, TypeError):
        first, end = from_json(load_arrays(part, ["span"], "file of counts")["span"].tobytes())
        if {type(first), type(end)} in ({str}, {int}):
            return first, end
    raise CofactorError(f"{part} holds no counts of a shard: remove it, and count again")


def write_vocabulary(
    folder: Path, workers: Sequence[Any], classes: Sequence[Any], known: Mapping[str, dict[str, Any]] | None = None
) -> None:
    """Write what the codes of the shards in a folder mean, and which shards there are: bytes and hash of each.

    `known` has these of shards that were written before, which are not looked at.
    """
    paths, manifest = sorted(folder.glob("*.parquet")), dict(known or {})
    for path in paths:
        manifest[path.name] = manifest.get(path.name) or {"bytes": path.stat().st_size, "sha256": _digest(path)}
    content = {"workers": list(workers), "classes": list(classes), "shards": manifest}
    with whole_file(folder / VOCABULARY) as part:
        part.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_manifest(paths: list[Path], manifest: dict[str, dict[str, Any]]) -> None:
    """Refuse shards that are gone, unknown, or of another size."""
    if not paths:
        raise CofactorError(f"the {VOCABULARY} lists no shards; {ADVICE}")
    gone = [path for path in paths if not path.is_file()]
    if gone:
        raise CofactorError(f"shards are missing: {listing(gone)}; {ADVICE}")
    there = dict.fromkeys([*paths, *sorted(paths[0].parent.glob("*.parquet"))])
    unknown = [path for path in there if path.name not in manifest]
    if unknown:
        raise CofactorError(f"the {VOCABULARY} does not list {listing(unknown)}; {ADVICE}")
    changed = [path for path in paths if path.stat().st_size != manifest[path.name]["bytes"]]
    if changed:
        raise CofactorError(f"shards of another size than was written: {listing(changed)}; {ADVICE}")


def _read_vocabulary(path: Path) -> dict[str, Any]:
    try:
        found = from_json(path.read_text(encoding="utf-8"))
        listed = found["shards"].items()
        shards = {name: {"bytes": int(one["bytes"]), "sha256": str(one["sha256"])} for name, one in listed}
        return {"workers": list(found["workers"]), "classes": list(found["classes"]), "shards": shards}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise CofactorError(f"{path} is no vocabulary of shards ({type(error).__name__}: {error}); {ADVICE}") from None


def _read_columns(path: Path, listed: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Return those of the three columns that a file has, which must still be the one that is listed."""
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != listed["sha256"]:
        raise CofactorError(f"{path} is damaged, or was replaced meanwhile: run again, or {ADVICE} again")
    with reading_parquet(path):
        frame = read_parquet(io.BytesIO(content), COLUMNS, path).to_pandas(ignore_metadata=True)
        return {name: frame[name].to_numpy() for name in COLUMNS if name in frame.columns}


def table_of(
    new: NDArray[np.bool_], worker: NDArray[Any], label: NDArray[Any], n_workers: int, n_classes: int
) -> CategoricalTable:
    """Return the table of labels in the order of tasks and workers; labels in another order, or bad ones, take longer.

    `new` tells where tasks begin.
    """
    sizes = np.full(n_workers, n_classes)
    V = n_workers * n_classes
    plain = worker.dtype.kind == "i" and label.dtype.kind == "i" and max(V, len(new)) < np.iinfo(np.int32).max
    inside = plain and min(worker.min(), label.min()) >= 0 and worker.max() < n_workers and label.max() < n_classes
    if not inside or not (new[1:] | (worker[1:] > worker[:-1])).all():
        return CategoricalTable.from_entries(np.cumsum(new) - 1, worker, label, sizes, int(new.sum()))
    columns = worker.astype(np.int32) * np.int32(n_classes) + label.astype(np.int32)
    starts = np.append(np.flatnonzero(new), len(new)).astype(np.int32)
    indicator = sparse.csr_array((np.ones(len(new)), columns, starts), shape=(len(starts) - 1, V))
    return CategoricalTable._with(indicator, sizes)


def check_grouped(ids: NDArray[Any], path: Path) -> None:
    """Refuse tasks (one entry per run of equal ids) that do not rise, or are neither all text nor all whole numbers."""
    if ids.dtype.kind == "i" and (ids[1:] > ids[:-1]).all():
        return
    tasks = np.array(ids.tolist(), dtype=object)
    kinds = sorted({type(task).__name__ for task in tasks})
    if kinds not in (["str"], ["int"]):
        found = listing(kinds)
        raise CofactorError(f"{path}: tasks must be text or whole numbers, one kind only; found {found}; {ADVICE}")
    fallen = tasks[1:][tasks[1:] <= tasks[:-1]]
    again = tasks[pd.Index(tasks, dtype=object).duplicated()]
    if again.size:
        raise CofactorError(f"{path}: labels of {again[0]!r} are scattered; {ADVICE}")
    if fallen.size:
        raise CofactorError(f"{path}: not sorted by task from {fallen[0]!r} on; {ADVICE}")


def _mark(ids: str, listed: dict[str, Any]) -> str:
    """Tell shards of other content, or with other ids, apart."""
    return hashlib.sha256(f"{listed['sha256']} {ids}".encode()).hexdigest()[:16]
