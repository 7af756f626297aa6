"""Every table and figure of Ibrahim and Fu, ICML 2021, as code: settings, methods, trials, metric.

Rows named as in the paper are this kit's defaults; rows marked "(paper protocol)" use the paper's own choices
(`cofactor.crowd.paper_protocol`), and rows marked "(… bug)" emulate a defect of the released code, to show where a
printed number comes from. No method sees the truth. Beyond the paper: every method on seventeen public crowds.

Source: Ibrahim and Fu, "Crowdsourcing via annotator co-occurrence imputation and provable symmetric nonnegative matrix
factorization", ICML 2021: Tables 1-5, supplement Tables 6, 7, 9 and Figures 2-4.
"""

from evaluation.crowd.benchmark import BENCHMARK
from evaluation.crowd.machines import TABLE1, TABLE2, TABLE3
from evaluation.crowd.real import TABLE4, TABLE5, TABLE9
from evaluation.crowd.synthetic import FIGURE2, FIGURE3, TABLE6, TABLE6_RELEASED, TABLE7, TABLE7_RELEASED

EXPERIMENTS = (
    TABLE1,
    TABLE2,
    TABLE3,
    TABLE4,
    TABLE5,
    TABLE6,
    TABLE6_RELEASED,
    TABLE7,
    TABLE7_RELEASED,
    TABLE9,
    FIGURE2,
    FIGURE3,
    BENCHMARK,
)
