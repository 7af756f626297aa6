"""Every table and figure of Nguyen, Fu and Wu, IEEE TSP 2022, as code, and how the default chooses lambda.

Rows named as in the paper are cofactor's defaults; rows marked "(paper protocol)" use the choices of the released
code: lambda by the paper's rule, 100 steps, the data term not halved.

Source: Nguyen, Fu and Wu, "Memory-efficient convex optimization for self-dictionary separable nonnegative matrix
factorization: a Frank-Wolfe approach", IEEE TSP 2022: Figures 2-7, Tables I to IV.
"""

from evaluation.experiment import experiments_of
from evaluation.separable import communities, memory, synthetic, topics

MODULES = (synthetic, topics, communities, memory)
EXPERIMENTS = [one for module in MODULES for one in experiments_of(module, "separable")]
