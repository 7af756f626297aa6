"""The methods of this line by name. The evaluation adds what only the papers' rows need."""

from __future__ import annotations

from cofactor.comparisons.base import PreferenceModel
from cofactor.comparisons.baselines.altsvm import AltSVM
from cofactor.comparisons.baselines.bpr import BPR
from cofactor.comparisons.baselines.nuclear import NuclearNormMLE
from cofactor.comparisons.baselines.ranking import BradleyTerry, ItemCount, WinRate
from cofactor.comparisons.estimators import ComparisonMF

METHODS: dict[str, type[PreferenceModel]] = {
    "ComparisonMF": ComparisonMF,
    "BPR": BPR,
    "AltSVM": AltSVM,
    "NuclearNormMLE": NuclearNormMLE,
    "BradleyTerry": BradleyTerry,
    "WinRate": WinRate,
    "ItemCount": ItemCount,
}
