"""Every table and figure of Ibrahim and Fu, ICML 2021, as code, and which task to label next beyond it.

Rows named as in the paper are cofactor's defaults; rows marked "(paper protocol)" use the paper's own choices, and rows
marked "(… bug)" emulate a defect of the released code, to show where a printed number comes from. No method sees the
truth.

Source: Ibrahim and Fu, "Crowdsourcing via annotator co-occurrence imputation and provable symmetric nonnegative matrix
factorization", ICML 2021: Tables 1-5, supplement Tables 6, 7, 9 and Figures 2-4.
"""

import re

from evaluation.crowd import machines, next_labels, real, synthetic
from evaluation.experiment import Experiment, experiments_of

MODULES = (machines, synthetic, real, next_labels)


def _table(one: Experiment) -> float:
    """Return the number of a table; what is none comes after all tables, in the order of its module."""
    found = re.match(r"crowd-table(\d+)", one.name)
    return int(found[1]) if found else float("inf")


EXPERIMENTS = sorted((one for module in MODULES for one in experiments_of(module, "crowd")), key=_table)
