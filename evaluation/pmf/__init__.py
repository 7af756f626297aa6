"""Every table and figure of Ibrahim and Fu, IEEE TSP 2021, as code, and thin tables beyond it.

Rows named as in the paper are this kit's defaults, but for the smoothing that the paper does not have; rows marked
"(paper protocol)" use the choices of the released code. Metrics marked "(published)" are computed as that code does, to
be compared with what was printed; the others are what the paper's text says. No method sees the truth, but for CNMF-OPT
(paper protocol), which starts at the true prior as released.

Source: Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP
2021: Figure 1 and Tables 1-14.
"""

from evaluation.pmf.figure import FIGURE1
from evaluation.pmf.practice import PRACTICE
from evaluation.pmf.ratings import TABLE12, TABLE13, TABLE14
from evaluation.pmf.real import TABLE7, TABLE8, TABLE9, TABLE10, TABLE11
from evaluation.pmf.synthetic import TABLE1, TABLE2, TABLE3, TABLE4, TABLE5, TABLE6

EXPERIMENTS = (
    FIGURE1,
    TABLE1,
    TABLE2,
    TABLE3,
    TABLE4,
    TABLE5,
    TABLE6,
    TABLE7,
    TABLE8,
    TABLE9,
    TABLE10,
    TABLE11,
    TABLE12,
    TABLE13,
    TABLE14,
    PRACTICE,
)
