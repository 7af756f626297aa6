"""The figures of Sankagiri, Etesami and Grossglauser, ICML 2025, and what they leave open.

The paper's outcomes are exact chances, drawn from features that are known; it prints no tables. Beyond it: choices,
starts, real comparisons, what a practitioner gets from them, comparisons made from ratings.

Source: Sankagiri, Etesami and Grossglauser, "Recommendations with sparse comparison data: provably fast convergence for
nonconvex matrix factorization", ICML 2025: Figures 1 and 2, Appendix F.
"""

from evaluation.comparisons.choices import CHOICES, SLOPE
from evaluation.comparisons.figures import FIGURE1, FIGURE1_AMOUNTS, FIGURE2, STARTS
from evaluation.comparisons.movies import MOVIES
from evaluation.comparisons.practice import PRACTICE
from evaluation.comparisons.real import FEW_ANSWERS, REAL

EXPERIMENTS = (FIGURE1, FIGURE1_AMOUNTS, FIGURE2, STARTS, CHOICES, SLOPE, REAL, FEW_ANSWERS, MOVIES, PRACTICE)
