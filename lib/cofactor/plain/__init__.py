"""Every algorithm of the papers on one page of plain NumPy and SciPy, in the papers' symbols.

Start reading here. Data are arrays, nothing is validated or compiled; the fast versions elsewhere in the library
compute the same, and tests compare them with these modules.

    module        contents                                                         fast version
    counts        one-hot codes, counts of all pairs                               core.moments
    em            posterior, weighted frequencies, EM                              core.em, core.latent_class
    simplex       projection onto the simplex, least squares on it                 core.simplex, separable.least_squares
    spa           the successive projection algorithm                              core.simplex
    merit         MERIT: Frank-Wolfe on a self-dictionary with a sparse C          separable.merit
    cnmf          CNMF-SPA and CNMF-OPT: a joint distribution from its pairs       pmf.cnmf
    imputation    designated annotators; robust imputation                         crowd.imputation
    symnmf        square root, symmetric NMF, the model from its factor            crowd.symnmf
    comparisons   features of users and items from comparisons                     comparisons.solvers
    worker_types  the default for crowds: worker types, uncertainty of labels      crowd.model, .fit, .confidence
    copies        detection of workers who are copies of others                    crowd.copies
    scattering    whether a factor is sufficiently scattered                       core.scattering

>>> import cofactor as cf
>>> cf.plain.spa([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]], 2).tolist()
[0, 1]
"""

from cofactor.plain.cnmf import cnmf_opt, cnmf_spa
from cofactor.plain.comparisons import comparison_features, objective
from cofactor.plain.copies import merged, owners
from cofactor.plain.counts import blocks, one_hot, pair_counts, pair_frequencies
from cofactor.plain.em import em, posterior, refit
from cofactor.plain.imputation import designated_imputation, robust_imputation
from cofactor.plain.merit import least_of_gradient, merit, row_softmax
from cofactor.plain.scattering import is_scattered, vertices
from cofactor.plain.simplex import mixtures, project_to_simplex
from cofactor.plain.spa import spa
from cofactor.plain.symnmf import model_of_factor, square_root, symnmf
from cofactor.plain.worker_types import meeting, worker_types

__all__ = [
    "blocks",
    "cnmf_opt",
    "cnmf_spa",
    "comparison_features",
    "designated_imputation",
    "em",
    "is_scattered",
    "least_of_gradient",
    "meeting",
    "merged",
    "merit",
    "mixtures",
    "model_of_factor",
    "objective",
    "one_hot",
    "owners",
    "pair_counts",
    "pair_frequencies",
    "posterior",
    "project_to_simplex",
    "refit",
    "robust_imputation",
    "row_softmax",
    "spa",
    "square_root",
    "symnmf",
    "vertices",
    "worker_types",
]
