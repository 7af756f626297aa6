"""The figures of Sankagiri, Etesami and Grossglauser, ICML 2025, and what they leave open.

The paper's outcomes are exact chances, drawn from features that are known; it prints no tables. Beyond it: choices,
starts, real comparisons, what a practitioner gets from them, comparisons made from ratings.

Source: Sankagiri, Etesami and Grossglauser, "Recommendations with sparse comparison data: provably fast convergence for
nonconvex matrix factorization", ICML 2025: Figures 1 and 2, Appendix F.
"""

from evaluation.comparisons.choices import choices, slope
from evaluation.comparisons.figures import amounts, from_starts, ranks, starts
from evaluation.comparisons.movies import movies
from evaluation.comparisons.practice import practice
from evaluation.comparisons.real import few, held_out
from evaluation.experiment import declared

EXPERIMENTS = declared(
    "comparisons",
    {
        "comparisons-figure1": starts,
        "comparisons-figure1-amounts": amounts,
        "comparisons-figure2": ranks,
        "comparisons-starts": from_starts,
        "comparisons-choices": choices,
        "comparisons-choices-slope": slope,
        "comparisons-real": held_out,
        "comparisons-few": few,
        "comparisons-movies": movies,
        "practice-comparisons": practice,
    },
)
