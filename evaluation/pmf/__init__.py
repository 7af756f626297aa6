"""Every table and figure of Ibrahim and Fu, IEEE TSP 2021, as code.

Rows named as in the paper are cofactor's defaults, but for the smoothing that the paper does not have; rows marked
"(paper protocol)" use the choices of the released code. Metrics marked "(published)" are computed as that code does, to
be compared with what was printed; the others are what the paper's text says. No method sees the truth, but for CNMF-OPT
(paper protocol), which starts at the true prior as released.

Source: Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP
2021: Figure 1 and Tables 1-14.
"""

from evaluation.experiment import experiments_of
from evaluation.pmf import ratings, real, synthetic

MODULES = (synthetic, real, ratings)
EXPERIMENTS = [one for module in MODULES for one in experiments_of(module, "pmf")]
