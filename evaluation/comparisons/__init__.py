"""The figures of Sankagiri, Etesami and Grossglauser, ICML 2025, and what they leave open.

The paper's outcomes are exact chances, drawn from features that are known; it prints no tables. Beyond it: choices,
starts, real comparisons, what a practitioner gets from them, comparisons made from ratings.

Source: Sankagiri, Etesami and Grossglauser, "Recommendations with sparse comparison data: provably fast convergence for
nonconvex matrix factorization", ICML 2025: Figures 1 and 2, Appendix F.
"""

from evaluation.comparisons import choices, figures, movies, practice, real
from evaluation.experiment import declared

EXPERIMENTS = declared(
    "comparisons",
    {
        "comparisons-figure1": figures.starts,
        "comparisons-figure1-amounts": figures.amounts,
        "comparisons-figure2": figures.ranks,
        "comparisons-text": figures.constants,
        "comparisons-starts": figures.from_starts,
        "comparisons-choices": choices.choices,
        "comparisons-choices-slope": choices.slope,
        "comparisons-real": real.held_out,
        "comparisons-few": real.few,
        "comparisons-movies": movies.movies,
        "practice-comparisons": practice.practice,
    },
)
