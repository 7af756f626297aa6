"""The computation behind the panel of notebook 02: exact co-occurrences with holes, and the model found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofactor import simulate
from cofactor.core.alignment import mse
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.scattering import Certificate, scattering_certificate
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import designated_imputation, factors_of_model
from cofactor.crowd.symnmf import model_of_factor, square_root, symnmf
from cofactor.teaching.demos.theory import hide_pairs

Floats = NDArray[np.float64]

PEOPLE = 12


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
