"""CATD: like Wawa, but workers with few labels get smaller weights.

    v_j = chi2_{alpha/2}(n_j) / d_j,    d_j of the worker's n_j labels lost

This is one over the upper end of the 1 - alpha interval of the variance of a worker's errors: a worker with few labels
has a wide interval, hence little weight, however well they agree.

Source: Li, Li, Gao, Su, Zhao, Demirbas, Fan and Han, "A confidence-aware approach for truth discovery on long-tail
data", VLDB 2014, with the distance 0 or 1 of categorical data; alpha = .05 as there. Deviations: d_j, which the paper
leaves open where it is 0, is at least one half (with the 1e-9 of the code of Zheng et al., VLDB 2017, one label that
won outvotes all workers who ever lost one). Tied winners count in equal parts instead of at random.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv

from cofactor.core.types import Floats
from evaluation.peers.wawa import Wawa

LOST_LABELS = 0.5  # lost labels that a worker without any counts with; without it the weight would be infinite


@dataclass(eq=False, repr=False)
class CATD(Wawa):
    """Weighted vote by the surely right; parameters, attributes and cost as `Wawa`, and `alpha` in (0, 1)."""

    alpha: float = 0.05

    def _weights(self, agreed: Floats, n: Floats) -> Floats:
        quantile = np.where(n > 0, 2 * gammaincinv(np.maximum(n, 1) / 2, self.alpha / 2), 0.0)
        return quantile / np.maximum(n - agreed, LOST_LABELS)
