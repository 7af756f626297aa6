"""Every table and figure of Ibrahim and Fu, IEEE TSP 2021, as code, and thin tables beyond it.

Rows named as in the paper are this kit's defaults, but for the smoothing that the paper does not have; rows marked
"(paper protocol)" use the choices of the released code. Metrics marked "(published)" are computed as that code does, to
be compared with what was printed; the others are what the paper's text says. No method sees the truth, but for CNMF-OPT
(paper protocol), which starts at the true prior as released.

Source: Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP
2021: Figure 1 and Tables 1-14.
"""

from evaluation.experiment import declared
from evaluation.pmf import figure, practice, ratings, real, synthetic

EXPERIMENTS = declared(
    "pmf",
    {
        "pmf-figure1": figure.certified,
        **dict.fromkeys(("pmf-table1", "pmf-table2", "pmf-table3"), synthetic.separable),
        **dict.fromkeys(("pmf-table4", "pmf-table5"), synthetic.dense),
        "pmf-table6": synthetic.timing,
        "pmf-table7": real.facts_of_data,
        **dict.fromkeys(("pmf-table8", "pmf-table9", "pmf-table10", "pmf-table11"), real.classify),
        **dict.fromkeys(("pmf-table12", "pmf-table13", "pmf-table14"), ratings.recommend),
        "practice-pmf": practice.practice,
    },
    {"practice-pmf": practice.digest},
)
