"""Crowd labels to true labels: co-occurrences, imputation, SymNMF, EM, and what they are compared with."""

from cofactor.crowd.aggregators import DesSymNMF, MultiStartEM, RobSymNMF, SymNMF
from cofactor.crowd.agreement import krippendorff_alpha
from cofactor.crowd.base import Aggregator, error_rate, worker_accuracy
from cofactor.crowd.baselines.bayesian import EBCC, IBCC
from cofactor.crowd.baselines.binary import KOS, EigenRatio, GhoshSVD
from cofactor.crowd.baselines.coupled import CNMF, TensorADMM
from cofactor.crowd.baselines.deep import CrowdLayer, DeepMajorityVote
from cofactor.crowd.baselines.glad import GLAD
from cofactor.crowd.baselines.mace import MACE
from cofactor.crowd.baselines.minimax import MinimaxEntropy
from cofactor.crowd.baselines.multispa import MultiSPA
from cofactor.crowd.baselines.one_coin import OneCoin
from cofactor.crowd.baselines.spectral import SpectralDS
from cofactor.crowd.baselines.voting import DawidSkene, MajorityVote
from cofactor.crowd.baselines.weighted_votes import BWA, CATD, Wawa
from cofactor.crowd.bootstrap import CrowdBootstrap, bootstrap
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.diagnose import diagnose
from cofactor.crowd.growing import CrowdFit
from cofactor.crowd.imputation import designated_imputation, robust_imputation
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.methods import METHODS, NEED_FEATURES
from cofactor.crowd.next_tasks import NextTasks, next_tasks
from cofactor.crowd.order import in_order
from cofactor.crowd.outside import Outside
from cofactor.crowd.planner import plan
from cofactor.crowd.readings import Readings, believed, readings
from cofactor.crowd.scores import Difference, Score, paired_difference, score, sign_test
from cofactor.crowd.symnmf import model_of_factor, square_root, symnmf
from cofactor.crowd.truth import read_truth
from cofactor.crowd.worker_types import WorkerTypes
from cofactor.crowd.workers import workers_table

__all__ = [
    "BWA",
    "CATD",
    "CNMF",
    "EBCC",
    "GLAD",
    "IBCC",
    "KOS",
    "MACE",
    "METHODS",
    "NEED_FEATURES",
    "Aggregator",
    "Cooccurrences",
    "CrowdBootstrap",
    "CrowdFit",
    "CrowdLabels",
    "CrowdLayer",
    "DawidSkene",
    "DeepMajorityVote",
    "DesSymNMF",
    "Difference",
    "EigenRatio",
    "GhoshSVD",
    "MajorityVote",
    "MinimaxEntropy",
    "MultiSPA",
    "MultiStartEM",
    "NextTasks",
    "OneCoin",
    "Outside",
    "Readings",
    "RobSymNMF",
    "Score",
    "SpectralDS",
    "SymNMF",
    "TensorADMM",
    "Wawa",
    "WorkerTypes",
    "believed",
    "bootstrap",
    "designated_imputation",
    "diagnose",
    "error_rate",
    "in_order",
    "krippendorff_alpha",
    "model_of_factor",
    "next_tasks",
    "paired_difference",
    "plan",
    "read_truth",
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
