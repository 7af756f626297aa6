"""Every table and figure of Nguyen, Fu and Wu, IEEE TSP 2022, as code, and practice beyond them.

Rows named as in the paper are this kit's defaults; rows marked "(paper protocol)" use the choices of the released
code: lambda by the paper's rule, 100 steps, the data term not halved.

Source: Nguyen, Fu and Wu, "Memory-efficient convex optimization for self-dictionary separable nonnegative matrix
factorization: a Frank-Wolfe approach", IEEE TSP 2022: Figures 2-7, Tables I, II and IV.
"""

from evaluation.separable.communities import TABLE4, TABLE4_RANGE
from evaluation.separable.memory import FIGURE4B, FIGURE6, FIGURE7
from evaluation.separable.practice import PRACTICE
from evaluation.separable.synthetic import (
    FIGURE2,
    FIGURE2_GAUSSIAN,
    FIGURE4A,
    FIGURE5A,
    FIGURE5B,
    LAMBDA,
    TABLE1,
)
from evaluation.separable.topics import TABLE2_REUTERS, TABLE2_TDT2

EXPERIMENTS = (
    FIGURE2,
    FIGURE2_GAUSSIAN,
    FIGURE4A,
    TABLE1,
    FIGURE5A,
    FIGURE5B,
    LAMBDA,
    TABLE2_TDT2,
    TABLE2_REUTERS,
    TABLE4,
    TABLE4_RANGE,
    FIGURE4B,
    FIGURE6,
    FIGURE7,
    PRACTICE,
)
