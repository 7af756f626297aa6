"""The figures of Sankagiri, Etesami and Grossglauser, ICML 2025, and what they leave open.

The paper's outcomes are exact chances, drawn from features that are known; it prints no tables. Beyond it: choices
in place of chances, and starts.

Source: Sankagiri, Etesami and Grossglauser, "Recommendations with sparse comparison data: provably fast convergence for
nonconvex matrix factorization", ICML 2025: Figures 1 and 2, Appendix F.
"""

from evaluation.comparisons import choices, figures
from evaluation.experiment import experiments_of

MODULES = (figures, choices)
EXPERIMENTS = [one for module in MODULES for one in experiments_of(module, "comparisons")]
