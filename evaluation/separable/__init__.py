"""Every table and figure of Nguyen, Fu and Wu, IEEE TSP 2022, as code, and practice beyond them.

Rows named as in the paper are this kit's defaults; rows marked "(paper protocol)" use the choices of the released
code: lambda by the paper's rule, 100 steps, the data term not halved.

Source: Nguyen, Fu and Wu, "Memory-efficient convex optimization for self-dictionary separable nonnegative matrix
factorization: a Frank-Wolfe approach", IEEE TSP 2022: Figures 2-7, Tables I, II and IV.
"""

from functools import partial

from evaluation.experiment import declared
from evaluation.separable.communities import memberships, spread
from evaluation.separable.memory import mixtures, nodes, peaks, words
from evaluation.separable.practice import digest, practice
from evaluation.separable.synthetic import FINDERS, SMOOTHINGS, WEIGHTS, WEIGHTS_BY_RULE, counted, recovered
from evaluation.separable.topics import topics

EXPERIMENTS = declared(
    "separable",
    {
        "separable-figure2": partial(recovered, FINDERS),
        "separable-figure2-gaussian": partial(recovered, FINDERS),
        "separable-figure4a": partial(recovered, FINDERS),
        "separable-table1": counted,
        "separable-figure5a": partial(recovered, WEIGHTS),
        "separable-figure5b": partial(recovered, SMOOTHINGS),
        "separable-lambda": partial(recovered, WEIGHTS_BY_RULE),
        "separable-table2-tdt2": topics,
        "separable-table2-reuters": topics,
        "separable-table4": memberships,
        "separable-table4-range": spread,
        "separable-figure4b": partial(peaks, mixtures),
        "separable-figure6": partial(peaks, words),
        "separable-figure7": partial(peaks, nodes),
        "practice-separable": practice,
    },
    {"practice-separable": digest},
)
