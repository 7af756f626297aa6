"""Every table and figure of Ibrahim and Fu, ICML 2021, as code, and 29 crowds beyond it.

Rows named as in the paper are this kit's defaults; rows marked "(paper protocol)" use the paper's own choices, and rows
marked "(… bug)" emulate a defect of the released code, to show where a printed number comes from. No method sees the
truth.

Source: Ibrahim and Fu, "Crowdsourcing via annotator co-occurrence imputation and provable symmetric nonnegative matrix
factorization", ICML 2021: Tables 1-5, supplement Tables 6, 7, 9 and Figures 2-4.
"""

from evaluation.crowd import benchmark, machines, next_labels, pairs, real, synthetic, tables
from evaluation.experiment import declared

EXPERIMENTS = declared(
    "crowd",
    {
        **dict.fromkeys(("crowd-table1", "crowd-table2", "crowd-table3"), machines.machines),
        **dict.fromkeys(("crowd-table4", "crowd-table5"), real.real_data),
        **dict.fromkeys(("crowd-table6", "crowd-table6-released"), synthetic.exact),
        **dict.fromkeys(("crowd-table7", "crowd-table7-released"), synthetic.synthetic),
        "crowd-table9": real.labelme,
        **dict.fromkeys(("crowd-figure2", "crowd-figure3"), synthetic.convergence),
        "crowd-text": pairs.missing,
        "crowd-benchmark": benchmark.benchmark,
        "crowd-next": next_labels.revealed,
    },
    {"crowd-benchmark": tables.digest},
)
