"""The aggregators of the paper: co-occurrences, imputation, SymNMF, then the MAP label of every task.

Source: Ibrahim and Fu, ICML 2021, Section 3 ("RobSymNMF", "DesSymNMF", "SymNMF (w/o imput.)", each also "-EM").
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError, DataWarning, NotIdentifiableError, listing
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.result import Result
from cofactor.core.types import Floats, Ints
from cofactor.crowd import paper_protocol as released
from cofactor.crowd.base import PRIOR, Aggregator, PseudoCounts, name_classes
from cofactor.crowd.baselines.voting import MajorityVote
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import designated_imputation, factors_of_model, robust_imputation
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.moments import CrowdMoments
from cofactor.crowd.symnmf import model_of_factor, square_root, symnmf

START_COUNT = 0.1  # pseudo-count of the majority-vote start: no factor starts exactly singular
MOVEMENT = 1e-7  # of the rotation, at which SymNMF stops: far below the noise of any labels
FLOOR = 1e-3  # smallest entry of a confusion matrix read off a factor; the released code's value for real data
MANY_CLASSES = 30  # above, pairs of workers share far fewer tasks than a block has cells
UNREACHED = 0.1  # share of blocks left zero from which designated imputation says so


class SymNMF(Aggregator):
    """SymNMF of the co-occurrences as they are, missing blocks zero ("w/o imput." in the tables).

    Parameters
    ----------
    min_common : int, optional
        Pairs of workers with fewer tasks in common count as missing; default as in `Cooccurrences.from_moments`.
    em : bool
        Refine by expectation-maximisation.
    pseudo_counts : (float, float)
        Prior of EM, see `Aggregator`.
    random_state, verbose
        See `Aggregator`; the method is deterministic.
    paper_protocol : bool or {"real", "uci", "synthetic"}
        Take the released code's choices instead of this kit's, see `cofactor.crowd.paper_protocol`: for comparison
        with the printed tables, not for use. `random_state` then matters, `min_common` is 1 unless given (the paper
        seems to have used 6 on Dog and 2 on TREC), and data that cannot be identified only gets a `DataWarning`.

    Raises (in `fit`)
    -----------------
    NotIdentifiableError
        The co-labelling graph is disconnected or bipartite.
    CofactorError
        More classes than the co-occurrences have rank.

    Cost: see `square_root` and `symnmf`. Source: ICML 2021, Eq. (6), (12)-(13), Proposition 1.
    """

    def __init__(
        self,
        min_common: int | None = None,
        em: bool = False,
        pseudo_counts: PseudoCounts = PRIOR,
        random_state: int | None = None,
        verbose: bool = False,
        paper_protocol: released.Which = False,
    ) -> None:
        super().__init__(em, pseudo_counts, random_state, verbose)
        self.min_common = min_common
        self.paper_protocol = paper_protocol

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        model, result = self.estimate_from(CrowdMoments.of(labels))
        if self.paper_protocol and released.protocol_of(self.paper_protocol).align:
            return model, result
        return name_classes(model, labels), result

    def _refine(
        self, model: LatentClassModel, labels: CrowdLabels, gold: Ints | None = None
    ) -> tuple[LatentClassModel, Result]:
        if self.paper_protocol:
            return released.ten_rounds(model, labels, self.verbose)
        return super()._refine(model, labels, gold)

    def _takes_gold(self) -> bool:
        return self.em and not self.paper_protocol

    def estimate_from(self, moments: CrowdMoments) -> tuple[LatentClassModel, Result]:
        """Estimate the model from sums over tasks alone; which hidden class is which label is not settled yet."""
        _require_used_classes(moments)
        if self.paper_protocol:
            return self._estimate_as_released(moments, released.protocol_of(self.paper_protocol))
        cooc = Cooccurrences.from_moments(moments.pairs, self.min_common)
        cooc.require_identifiable(moments.workers)
        informative = _informative(cooc, moments.workers)
        U = self._root(moments, cooc) * np.repeat(informative, cooc.n_classes)[:, None]
        H, _, result = symnmf(U, tol=MOVEMENT, verbose=self.verbose)
        return self._model(H, informative), result

    def _estimate_as_released(
        self, moments: CrowdMoments, protocol: released.Protocol
    ) -> tuple[LatentClassModel, Result]:
        cooc = Cooccurrences.from_moments(moments.pairs, 1 if self.min_common is None else self.min_common)
        _warn_if_unidentifiable(cooc, moments.workers)
        informative = _informative(cooc, moments.workers)
        U = self._released_root(cooc, protocol)
        H, result = released.rotate(U, protocol, self.verbose)
        return released.read_model(H, informative, protocol, not self._released_prior(protocol)), result

    def _released_root(self, cooc: Cooccurrences, protocol: released.Protocol) -> Floats:
        return released.singular_root(cooc.sparse(), cooc.n_classes)

    def _released_prior(self, protocol: released.Protocol) -> bool:
        return protocol.designated_prior

    def _root(self, moments: CrowdMoments, cooc: Cooccurrences) -> Floats:
        """Return a (M K, K) square root of the co-occurrence matrix."""
        return square_root(cooc.sparse(), cooc.n_classes)

    def _model(self, H: Floats, informative: NDArray[np.bool_]) -> LatentClassModel:
        """Proposition 1, except that the prior stays uniform: blocks left at zero distort the column sums of H."""
        K = H.shape[1]
        model = model_of_factor(H, informative, FLOOR)
        return LatentClassModel.from_stacked(np.full(K, 1 / K), model.stacked, model.sizes)


class _ImputingSymNMF(SymNMF):
    """SymNMF of a completed co-occurrence matrix, so that the prior can be read off as well."""

    def _model(self, H: Floats, informative: NDArray[np.bool_]) -> LatentClassModel:
        return model_of_factor(H, informative, FLOOR)


class DesSymNMF(_ImputingSymNMF):
    """SymNMF after designated-annotator imputation, from all linking pairs of annotators at once.

    Parameters as `SymNMF`; with `paper_protocol`, one pair drawn at random instead. Warns where links reach less than
    90 % of the blocks. Cost: see `designated_imputation`.
    Source: ICML 2021, Eq. (7)-(8), (12)-(13).
    """

    def _root(self, moments: CrowdMoments, cooc: Cooccurrences) -> Floats:
        imputed = designated_imputation(cooc)
        if imputed.unreached_share > UNREACHED:
            message = (
                f"designated imputation left {imputed.unreached_share:.0%} of the co-occurrence blocks empty: too few "
                "annotators are linked by well-conditioned blocks; prefer RobSymNMF or MV-EM"
            )
            warnings.warn(message, DataWarning, stacklevel=2)
        return square_root(imputed.X, cooc.n_classes)

    def _released_root(self, cooc: Cooccurrences, protocol: released.Protocol) -> Floats:
        imputed = released.random_pair_imputation(cooc, np.random.default_rng(self.random_state))
        return released.singular_root(imputed.X, cooc.n_classes)


class RobSymNMF(_ImputingSymNMF):
    """SymNMF after robust imputation: the paper's main method.

    Parameters
    ----------
    p : float
        1 is the robust criterion; 2 weighs all blocks by their sample size alone ("w=1" in the tables).
    min_common, em, pseudo_counts, random_state, verbose, paper_protocol
        As in `SymNMF`.

    Cost: see `robust_imputation`. Source: ICML 2021, Eq. (9)-(13), (17)-(18). The fitted factors U_m are the square
    root of the completed matrix, which is never formed.
    """

    def __init__(
        self,
        p: float = 1.0,
        min_common: int | None = None,
        em: bool = False,
        pseudo_counts: PseudoCounts = PRIOR,
        random_state: int | None = None,
        verbose: bool = False,
        paper_protocol: released.Which = False,
    ) -> None:
        super().__init__(min_common, em, pseudo_counts, random_state, verbose, paper_protocol)
        self.p = p

    def _root(self, moments: CrowdMoments, cooc: Cooccurrences) -> Floats:
        start = factors_of_model(moments.votes.model(START_COUNT))
        U, _ = robust_imputation(cooc, start, p=self.p, verbose=self.verbose)
        return U.reshape(-1, cooc.n_classes)

    def _released_root(self, cooc: Cooccurrences, protocol: released.Protocol) -> Floats:
        rng = np.random.default_rng(self.random_state)
        U, _ = released.projected_gradient_factors(cooc, rng, self.p, protocol, self.verbose)
        U[cooc.isolated] = 0  # their random start must not turn the rotation
        return U.reshape(-1, cooc.n_classes)

    def _released_prior(self, protocol: released.Protocol) -> bool:
        return protocol.robust_prior


@dataclass(frozen=True)
class Start:
    """One start of `MultiStartEM`: its posterior density after EM (log, nats), or why it could not be had."""

    name: str
    log_posterior: float
    refusal: str = ""


class MultiStartEM(Aggregator):
    """EM from majority vote, DesSymNMF and RobSymNMF; the run with the highest posterior density wins.

    Useful where majority vote is a poor start: workers who are wrong more often than right. On most crowds `BayesDS` is
    better. The choice needs no ground truth; it protects from bad starts, it does not pick the lowest error among
    good ones. Without a prior (`pseudo_counts=(0, 0)`) it picks by likelihood, and with few labels a worker the start
    that overfits most wins. A start whose method refuses the data (for example a disconnected co-labelling graph) is
    left out, with a `DataWarning`; so are the two SymNMF starts where there are more than 30 classes.

    Parameters
    ----------
    pseudo_counts, random_state, verbose
        See `Aggregator`.

    Attributes after `fit`
    ----------------------
    starts_ : list of Start
    best_start_ : str
    model_, result_ : see `Aggregator`

    Cost: the sum of its parts. Source: Ibrahim and Fu, ICML 2021, for the starts; the choice is this kit's.
    """

    starts_: list[Start]
    best_start_: str

    def __init__(
        self, pseudo_counts: PseudoCounts = PRIOR, random_state: int | None = None, verbose: bool = False
    ) -> None:
        super().__init__(True, pseudo_counts, random_state, verbose)

    def _fit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        self.starts_, runs = [], {}
        for method in self._methods(labels):
            name = type(method).__name__
            try:
                model, result = self._refine(method.fit(labels).model_, labels, gold)
            except CofactorError as refusal:
                self.starts_.append(Start(name, -np.inf, str(refusal)))
                continue
            self.starts_.append(Start(name, float(result.objective[-1])))
            runs[name] = model, result
        self._report_refusals()
        self.best_start_ = max(self.starts_, key=lambda start: start.log_posterior).name
        self.model_, self.result_ = runs[self.best_start_]

    def _methods(self, labels: CrowdLabels) -> list[Aggregator]:
        """Methods to start from; the vote only, where a pair of workers shares far fewer tasks than K^2."""
        if labels.n_classes > MANY_CLASSES:
            message = (
                f"started from the vote only: with {labels.n_classes} classes the co-occurrences of two workers have "
                f"{labels.n_classes**2} cells, too many for the labels to fill"
            )
            warnings.warn(message, DataWarning, stacklevel=4)
            return [MajorityVote()]
        return [MajorityVote(), DesSymNMF(verbose=self.verbose), RobSymNMF(verbose=self.verbose)]

    def _report_refusals(self) -> None:
        refused = [start for start in self.starts_ if start.refusal]
        if len(refused) == len(self.starts_):
            raise CofactorError(refused[0].refusal)
        if refused:
            names = listing(start.name for start in refused)
            message = f"started without {names}: {refused[0].refusal}"
            warnings.warn(message, DataWarning, stacklevel=3)


def _require_used_classes(moments: CrowdMoments) -> None:
    used = moments.pairs.singles.reshape(-1, len(moments.classes)).sum(axis=0)
    never = [moments.classes[k] for k in np.flatnonzero(used == 0)]
    if never:
        raise CofactorError(
            f"more classes ({len(moments.classes)}) than the co-occurrences have rank: no label is of class "
            f"{listing(never)}; leave it out, or use MV-EM or MajorityVote"
        )


def _warn_if_unidentifiable(cooc: Cooccurrences, workers: Sequence[Any]) -> None:
    try:
        cooc.require_identifiable(list(workers))
    except NotIdentifiableError as refusal:
        if not cooc.components:
            raise
        warnings.warn(f"going on as the released code does, although {refusal}", DataWarning, stacklevel=4)


def _informative(cooc: Cooccurrences, workers: Sequence[Any]) -> NDArray[np.bool_]:
    informative = np.ones(cooc.n_workers, dtype=bool)
    informative[cooc.isolated] = False
    if cooc.isolated.size:
        message = (
            "workers who share too few tasks with anybody, kept out of the factorisation (EM still uses their labels): "
            f"{listing(workers[m] for m in cooc.isolated)}"
        )
        warnings.warn(message, DataWarning, stacklevel=3)
    return informative
