"""Crowd labels to true labels: co-occurrences, imputation, SymNMF, EM, and what they are compared with."""

from collections.abc import Callable
from functools import partial

from cofactor.crowd.aggregators import DesSymNMF, MultiStartEM, RobSymNMF, SymNMF
from cofactor.crowd.agreement import krippendorff_alpha
from cofactor.crowd.base import Aggregator, error_rate, worker_accuracy
from cofactor.crowd.baselines.binary import KOS, EigenRatio, GhoshSVD
from cofactor.crowd.baselines.completion import CRIAV, PGTAC
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
from cofactor.crowd.bayes import EBCC, IBCC, BayesDS
from cofactor.crowd.bootstrap import CrowdBootstrap, bootstrap
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.diagnose import diagnose
from cofactor.crowd.imputation import designated_imputation, robust_imputation
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.planner import plan
from cofactor.crowd.scores import Difference, Score, paired_difference, score
from cofactor.crowd.symnmf import model_of_factor, square_root, symnmf
from cofactor.crowd.workers import workers_table

METHODS: dict[str, Callable[..., Aggregator]] = {
    "BayesDS": BayesDS,
    "MajorityVote": MajorityVote,
    "MV-EM": DawidSkene,
    "RobSymNMF": RobSymNMF,
    "RobSymNMF-EM": partial(RobSymNMF, em=True),
    "RobSymNMF(w=1)": partial(RobSymNMF, p=2.0),
    "RobSymNMF(w=1)-EM": partial(RobSymNMF, p=2.0, em=True),
    "DesSymNMF": DesSymNMF,
    "DesSymNMF-EM": partial(DesSymNMF, em=True),
    "SymNMF(no imputation)": SymNMF,
    "SymNMF(no imputation)-EM": partial(SymNMF, em=True),
    "MultiStart-EM": MultiStartEM,
    "MultiSPA": MultiSPA,
    "MultiSPA-EM": partial(MultiSPA, em=True),
    "CNMF": CNMF,
    "CNMF-EM": partial(CNMF, em=True),
    "TensorADMM": TensorADMM,
    "TensorADMM-EM": partial(TensorADMM, em=True),
    "Spectral-D&S": SpectralDS,
    "Spectral-D&S(no EM)": partial(SpectralDS, em=False),
    "MinimaxEntropy": MinimaxEntropy,
    "KOS": KOS,
    "GhoshSVD": GhoshSVD,
    "EigenRatio": EigenRatio,
    "KOS(ordinal)": partial(KOS, multiclass="ordinal"),
    "GhoshSVD(ordinal)": partial(GhoshSVD, multiclass="ordinal"),
    "EigenRatio(ordinal)": partial(EigenRatio, multiclass="ordinal"),
    "IBCC": IBCC,
    "EBCC": EBCC,
    "Wawa": Wawa,
    "CATD": CATD,
    "BWA": BWA,
    "OneCoin": OneCoin,
    "MACE": MACE,
    "GLAD": GLAD,
    "PG-TAC": PGTAC,
    "CRIAV": CRIAV,
    "CrowdLayer": CrowdLayer,
    "DL-MV": DeepMajorityVote,
}
NEED_FEATURES = ("CrowdLayer", "DL-MV")  # fit(labels, features); all others need labels only

__all__ = [
    "BWA",
    "CATD",
    "CNMF",
    "CRIAV",
    "EBCC",
    "GLAD",
    "IBCC",
    "KOS",
    "MACE",
    "METHODS",
    "NEED_FEATURES",
    "PGTAC",
    "Aggregator",
    "BayesDS",
    "Cooccurrences",
    "CrowdBootstrap",
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
    "OneCoin",
    "RobSymNMF",
    "Score",
    "SpectralDS",
    "SymNMF",
    "TensorADMM",
    "Wawa",
    "bootstrap",
    "designated_imputation",
    "diagnose",
    "error_rate",
    "krippendorff_alpha",
    "model_of_factor",
    "paired_difference",
    "plan",
    "robust_imputation",
    "score",
    "square_root",
    "symnmf",
    "vote_shares",
    "worker_accuracy",
    "workers_table",
]
