"""From crowd labels to true labels: co-occurrences, imputation, SymNMF, EM, and methods to compare with."""

from typing import TYPE_CHECKING

from cofactor.core.lazy import lazy_exports
from cofactor.crowd.aggregators import MVEM, DesSymNMF, MajorityVote, MultiStartEM, Outside, RobSymNMF, SymNMF
from cofactor.crowd.base import Aggregator, worker_accuracy
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.diagnose import diagnose
from cofactor.crowd.imputation import designated_imputation, robust_imputation
from cofactor.crowd.labels import CrowdLabels, in_order, vote_shares
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.readings import Readings, believed, readings
from cofactor.crowd.scores import Difference, Score, error_rate, krippendorff_alpha, paired_difference, score, sign_test
from cofactor.crowd.symnmf import model_of_factor, square_root, symnmf
from cofactor.crowd.workers import CrowdBootstrap, bootstrap, workers_table
from cofactor.registry import Methods

if TYPE_CHECKING:
    from cofactor.rivals.crowd.binary import KOS, EigenRatio, GhoshSVD
    from cofactor.rivals.crowd.coupled import CNMF, TensorADMM
    from cofactor.rivals.crowd.minimax import MinimaxEntropy
    from cofactor.rivals.crowd.multispa import MultiSPA
    from cofactor.rivals.crowd.spectral import SpectralDS

METHODS = Methods("crowd")

__all__ = [
    "CNMF",
    "KOS",
    "METHODS",
    "MVEM",
    "Aggregator",
    "Cooccurrences",
    "CrowdBootstrap",
    "CrowdLabels",
    "DesSymNMF",
    "Difference",
    "EigenRatio",
    "GhoshSVD",
    "MajorityVote",
    "MinimaxEntropy",
    "MultiSPA",
    "MultiStartEM",
    "Outside",
    "Readings",
    "RobSymNMF",
    "Score",
    "SpectralDS",
    "SymNMF",
    "TensorADMM",
    "WorkerTypes",
    "believed",
    "bootstrap",
    "designated_imputation",
    "diagnose",
    "error_rate",
    "in_order",
    "krippendorff_alpha",
    "model_of_factor",
    "paired_difference",
    "readings",
    "robust_imputation",
    "score",
    "sign_test",
    "square_root",
    "symnmf",
    "vote_shares",
    "worker_accuracy",
    "workers_table",
]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # rivals are imported at first use: the package does not know them
    __getattr__ = lazy_exports(__name__)[0]
