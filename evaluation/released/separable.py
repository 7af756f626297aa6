"""MERIT as Nguyen, Fu and Wu set it for their figures, topics and communities, from their released code.

Deviation: equal words are merged where topics are sought (`merge_duplicates=False` leaves them apart, as released), or
rounding would choose between them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cofactor.separable import MERIT

STEPS = 100

figure_merit = partial(MERIT, select="top", lam="paper", max_iter=STEPS, merge_duplicates=False)
topic_merit = partial(MERIT, select="top", lam=1e-6, max_iter=STEPS, init="spa", gap_abs=0.5)
community_merit = partial(MERIT, select="top", lam=1e-6, max_iter=120, gap_abs=0.5, merge_duplicates=False)

SEPARABLE: dict[str, Callable[..., MERIT]] = {
    "MERIT (figures)": figure_merit,
    "MERIT (topics)": topic_merit,
    "MERIT (communities)": community_merit,
}
