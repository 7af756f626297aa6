"""Every method of crowd labels by its name, as in the papers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cofactor.crowd.aggregators import DesSymNMF, MultiStartEM, RobSymNMF, SymNMF
from cofactor.crowd.base import Aggregator
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
from cofactor.crowd.worker_types import WorkerTypes

METHODS: dict[str, Callable[..., Aggregator]] = {
    "WorkerTypes": WorkerTypes,
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
    "CrowdLayer": CrowdLayer,
    "DL-MV": DeepMajorityVote,
}
NEED_FEATURES = ("CrowdLayer", "DL-MV")  # fit(labels, features); all others need labels only
