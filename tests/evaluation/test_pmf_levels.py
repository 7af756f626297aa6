"""Few trials of the synthetic tables of joint PMFs come to the levels measured for the authors' algorithms.

Levels are means over 20 trials (Tables 4 and 5: 2 to 10) with their standard deviation; a mean of ours may differ by
one standard deviation, theirs or ours, as in the verdicts of the tables.
"""

import numpy as np
import pytest

from evaluation import EXPERIMENTS
from evaluation.experiment import PAPER_PROTOCOL, Task
from evaluation.pmf.methods import PUBLISHED_SCORES, TRUE_SCORES, Design, draw_case, run_methods
from evaluation.pmf.synthetic import DENSE, SEPARABLE

P = PAPER_PROTOCOL
FIVE = "CNMF-SPA (five variables on one side)"

PUBLISHED = {  # MSE as released
    ("pmf-table1", "S=1e3"): {
        "CNMF-SPA": (0.0727, 0.0114), "CNMF-OPT" + P: (0.0546, 0.0082), "CNMF-SPA-EM" + P: (0.0546, 0.0095),
        "RAND-EM" + P: (0.0690, 0.0182),
    },
    ("pmf-table1", "S=1e4"): {
        "CNMF-SPA": (0.0259, 0.0025), "CNMF-OPT" + P: (0.0239, 0.00258), "CNMF-SPA-EM" + P: (0.0232, 0.00232),
        "RAND-EM" + P: (0.0304, 0.0146), "CNMF-OPT": (0.0241, 0.00258), "CNMF-EM": (0.0235, 0.00258),
    },
    ("pmf-table1", "S=1e5"): {
        "CNMF-SPA": (0.0209, 0.0015), "CNMF-OPT" + P: (0.0206, 0.00148), "CNMF-SPA-EM" + P: (0.0206, 0.00145),
        "CTD" + P: (0.0209, 0.00154), "CNMF-OPT": (0.0207, 0.00148), "CNMF-EM": (0.0206, 0.00145),
    },
    ("pmf-table2", "S=1e3"): {
        "CNMF-SPA": (0.0892, 0.025), "CNMF-OPT" + P: (0.0662, 0.0126), "CNMF-SPA-EM" + P: (0.0754, 0.0219),
        "RAND-EM" + P: (0.0791, 0.0117),
    },
    ("pmf-table2", "S=1e4"): {
        "CNMF-SPA": (0.0294, 0.00335), "CNMF-OPT" + P: (0.0250, 0.00192), "CNMF-SPA-EM" + P: (0.0253, 0.00189),
        "RAND-EM" + P: (0.0322, 0.0134), "CNMF-EM": (0.0241, 0.00192),
    },
    ("pmf-table2", "S=1e5"): {
        "CNMF-SPA": (0.0240, 0.00117), "CNMF-OPT" + P: (0.0213, 0.00168), "CNMF-SPA-EM" + P: (0.0222, 0.00215),
        "CTD" + P: (0.0211, 0.00175), "CNMF-EM": (0.0209, 0.00168),
    },
    ("pmf-table3", "p=.1"): {
        "CNMF-SPA": (0.0334, 0.00356), "CNMF-OPT" + P: (0.0265, 0.00261), "CNMF-SPA-EM" + P: (0.0271, 0.00245),
    },
    ("pmf-table3", "p=.01"): {
        "CNMF-SPA": (0.4990, 0.0635), "CNMF-OPT" + P: (0.3785, 0.0334), "CNMF-SPA-EM" + P: (0.2973, 0.0524),
        "RAND-EM" + P: (0.1004, 0.00645),
    },
}  # fmt: skip
TRUE = {  # MSE; Tables 4 and 5 were computed with it
    ("pmf-table4", "S=1e3"): {
        "CNMF-SPA": (0.1549, 0.0112), "CNMF-SPA-EM" + P: (0.1251, 0.0151), "RAND-EM" + P: (0.1037, 0.00805),
    },
    ("pmf-table4", "S=1e4"): {
        "CNMF-SPA": (0.1109, 0.00777), "CNMF-SPA-EM" + P: (0.00757, 0.00998), "CNMF-OPT": (0.00638, 0.00068),
        "CNMF-EM": (0.00274, 0.00011),
    },
    ("pmf-table4", "S=1e5"): {"CNMF-SPA": (0.1161, 0.0182), "CNMF-OPT": (0.00285, 0.00323)},
    ("pmf-table5", "S=1e3"): {
        "CNMF-SPA": (0.2745, 0.0195), "CNMF-SPA-EM" + P: (0.2272, 0.0187), "RAND-EM" + P: (0.2189, 0.00549),
        "CNMF-OPT": (0.2194, 0.0121),
    },
    ("pmf-table5", "S=1e4"): {
        "CNMF-SPA": (0.1480, 0.00947), "CNMF-SPA-EM" + P: (0.0690, 0.0115), "RAND-EM" + P: (0.0737, 0.0118),
        "CNMF-OPT": (0.0399, 0.00993), FIVE: (0.1181, 0.01),  # the printed level
    },
    ("pmf-table5", "S=1e5"): {"CNMF-SPA": (0.1150, 0.0229), "CNMF-OPT": (0.00451, 0.00126)},
}  # fmt: skip


def scored(name, setting, methods, scores, trials):
    """First score of some methods over the experiment's first trials."""
    every = SEPARABLE if name in ("pmf-table1", "pmf-table2", "pmf-table3") else DENSE
    found = {method: [] for method in methods}
    for trial in range(trials):
        case = draw_case(
            Design(**EXPERIMENTS[name].given[setting]), np.random.default_rng(Task(name, setting, trial).seed)
        )
        for row in run_methods({method: every[method] for method in methods}, case, scores):
            if row.metric == next(iter(scores)):
                found[row.method].append(row.value)
    return found


def far_off(name, setting, levels, scores, trials):
    found = scored(name, setting, levels, scores, trials)
    return {
        method: (values, levels[method])
        for method, values in found.items()
        if not abs(np.mean(values) - levels[method][0]) <= max(levels[method][1], np.std(values, ddof=1))
    }


@pytest.mark.slow
@pytest.mark.parametrize(("name", "setting"), PUBLISHED)
def test_levels_of_the_separable_tables(name, setting):
    assert far_off(name, setting, PUBLISHED[name, setting], PUBLISHED_SCORES, 3) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "setting"), TRUE)
def test_levels_without_anchors(name, setting):
    assert far_off(name, setting, TRUE[name, setting], TRUE_SCORES, 3) == {}
