"""The figures of Sankagiri, Etesami and Grossglauser, ICML 2025, and what they leave open.

The paper's outcomes are exact chances, drawn from features that are known; it prints no tables. Beyond it: choices,
starts, real comparisons, what a practitioner gets from them, comparisons made from ratings.

Source: Sankagiri, Etesami and Grossglauser, "Recommendations with sparse comparison data: provably fast convergence for
nonconvex matrix factorization", ICML 2025: Figures 1 and 2, Appendix F.
"""

from evaluation.comparisons import choices, figures, movies, practice, real
from evaluation.declaration import experiments_of

MODULES = (figures, choices, real, movies, practice)
EXPERIMENTS = [one for module in MODULES for one in experiments_of(module, "comparisons").values()]
