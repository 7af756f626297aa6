"""The computations behind the panels of notebook 02: a crowd made by hand; exact co-occurrences and the model found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cofactor import simulate
from cofactor.core.alignment import mse
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.scattering import Certificate, scattering_certificate
from cofactor.core.types import Floats
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import designated_imputation, factors_of_model
from cofactor.crowd.symnmf import model_of_factor, square_root, symnmf
from course.demos.theory import hide_pairs

PEOPLE = 12
NEXT, PREVIOUS = np.roll(np.eye(3), 1, axis=0), np.roll(np.eye(3), -1, axis=0)  # whom class c is taken for


@dataclass(frozen=True)
class Quality:
    """The factor H (3 M, 3) of a crowd made by hand, and its certificate."""

    H: Floats
    certificate: Certificate


def quality(accuracy: float, n_specialists: int, slips: float, spam: float, n_workers: int) -> Quality:
    """Make a crowd whose members take a class for one certain other: half of them the next, half the one before.

    A_m = (1 - slips) (accuracy I + (1 - accuracy) P) + slips / 3, with P a cyclic permutation; equal priors. The
    specialist for class k gives the label k to no other class. A spammer's label says nothing.

    Parameters
    ----------
    accuracy : float
        Of all who know something, before slips.
    n_specialists : int, 0 to 3
        The first so many annotators are specialists, one each for the first classes.
    slips, spam : float in [0, 1]
        Share of labels that all give at random; share of the annotators who only do that, the last ones.
    n_workers : int
        M.
    """
    matrices = [accuracy * np.eye(3) + (1 - accuracy) * (NEXT, PREVIOUS)[m % 2] for m in range(n_workers)]
    for k, A in enumerate(matrices[:n_specialists]):
        _trust(A, k)
    knows = np.arange(n_workers) < round((1 - spam) * n_workers)
    A = np.where(knows[:, None, None], (1 - slips) * np.stack(matrices) + slips / 3, 1 / 3)
    H = A.reshape(-1, 3) / np.sqrt(3)
    return Quality(H, scattering_certificate(H))


def _trust(A: Floats, k: int) -> None:
    """Let label k be given to class k only: of every other class c, what was called k is now called the third class."""
    for c in {0, 1, 2} - {k}:
        A[3 - k - c, c] += A[k, c]
        A[k, c] = 0.0


@dataclass(frozen=True)
class Recovery:
    """A model, and what SymNMF makes of its exact co-occurrences.

    Attributes
    ----------
    truth, estimate : LatentClassModel
        The estimate with its classes in the order of the truth.
    H : (M K, K) array
        The true factor.
    certificate : Certificate
        Of the true factor.
    misfit : float
        ||H - U Q||^2 at the end: zero is a perfect fit.
    n_hidden : int
        Pairs of annotators whose block was hidden.
    imputation_error : float
        Largest error of any entry of any block after imputation.
    """

    truth: LatentClassModel
    estimate: LatentClassModel
    H: Floats
    certificate: Certificate
    misfit: float
    n_hidden: int
    imputation_error: float

    @property
    def error(self) -> float:
        """Mean squared error of the model; ICML 2021, Eq. (19)."""
        return mse(self.truth, self.estimate)


def recovery(specialist_error: float, share: float, n_classes: int, seed: int = 0) -> Recovery:
    """Hide a share of the exact blocks of a crowd with one specialist, impute them, factor the result.

    Raises
    ------
    NotIdentifiableError
        Too many pairs are hidden for any method.
    """
    prior = np.full(n_classes, 1 / n_classes)
    truth = simulate.dawid_skene_model(PEOPLE, n_classes, specialist_error, prior=prior, random_state=seed)
    hidden = hide_pairs(PEOPLE, share, seed)
    cooc = Cooccurrences.from_model(truth, ~hidden)
    cooc.require_identifiable()
    H = factors_of_model(truth).reshape(-1, n_classes)
    X = designated_imputation(cooc).X
    found, _, result = symnmf(square_root(X, n_classes))
    estimate = model_of_factor(found).align_to(truth)
    n_hidden = (int(hidden.sum()) - PEOPLE) // 2
    worst = float(np.abs(X - H @ H.T).max())
    return Recovery(truth, estimate, H, scattering_certificate(H), float(result.objective[-1]), n_hidden, worst)
