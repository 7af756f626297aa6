"""Every table and figure of Nguyen, Fu and Wu, IEEE TSP 2022, as code, and practice beyond them.

Rows named as in the paper are this kit's defaults; rows marked "(paper protocol)" use the choices of the released
code: lambda by the paper's rule, 100 steps, the data term not halved.

Source: Nguyen, Fu and Wu, "Memory-efficient convex optimization for self-dictionary separable nonnegative matrix
factorization: a Frank-Wolfe approach", IEEE TSP 2022: Figures 2-7, Tables I to IV.
"""

from functools import partial

from evaluation.experiment import declared
from evaluation.separable import communities, memory, practice, synthetic, topics

EXPERIMENTS = declared(
    "separable",
    {
        "separable-figure2": partial(synthetic.recovered, synthetic.FINDERS),
        "separable-figure2-gaussian": partial(synthetic.recovered, synthetic.FINDERS),
        "separable-figure4a": partial(synthetic.recovered, synthetic.FINDERS),
        "separable-table1": synthetic.counted,
        "separable-figure5a": partial(synthetic.recovered, synthetic.WEIGHTS),
        "separable-figure5b": partial(synthetic.recovered, synthetic.SMOOTHINGS),
        "separable-lambda": partial(synthetic.recovered, synthetic.WEIGHTS_BY_RULE),
        "separable-table2-tdt2": topics.topics,
        "separable-table2-reuters": topics.topics,
        "separable-table2-tdt2-fast": topics.fast,
        "separable-table2-reuters-fast": topics.fast,
        "separable-table2-reuters-fastgradient": topics.dense,
        "separable-table2-tdt2-fastgradient": topics.dense,
        "separable-table3": communities.counts,
        "separable-table4": communities.memberships,
        "separable-table4-fastgradient": communities.dense,
        "separable-table4-range": communities.spread,
        "separable-figure4b": partial(memory.peaks, memory.mixtures),
        "separable-figure6": partial(memory.peaks, memory.words),
        "separable-figure6-reuters": partial(memory.peaks, memory.words),
        "separable-figure7": partial(memory.peaks, memory.nodes),
        "practice-separable": practice.practice,
    },
    {"practice-separable": practice.digest},
)
