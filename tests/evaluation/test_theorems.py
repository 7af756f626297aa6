"""Every theorem and proposition of the four papers is hunted for a counterexample, by random draws with fixed seeds.

A draw must meet the conditions of the theorem, and many lie at their edges. What is tried, with how many draws, and how
near the worst one came to the bound, is printed (`pytest -s`). What a hunt can and cannot see:

- Crowd, Proposition 1: factors are looked for by SymNMF from random rotations, so that a factor that it does not reach
  is not seen.
- Crowd, Theorem 1: its constants are hidden. That of the condition is taken as 1, that of the bound as 0.01, which is
  more than the theorem promises. It allows failures in one draw of a hundred; none is allowed here.
- Crowd, Theorem 2: the same with C = 0.1; the other term of the bound is so large that no C is ever too small.
  "Optimal" is read as "costs no more than the truth", of which the proof uses no more; a fit that costs more is left
  out.
- Crowd, Theorem 3: no factor has a rho below one (docs/errata.md), so this condition is left out, and a rate below one
  is not tested. (16a) is tried with both constants at 1; (16b) is tried as it is, with the root in (15).
- Joint PMF, Theorem 1: its proof is a construction, and the draws check that the construction is right.
- Joint PMF, Theorem 2: false as printed; both right forms are hunted, for three classes and one variable in each group.
- Joint PMF, Theorem 3: the constants are taken as 1. That many variables make rows nearly separable is not tried: the
  number of variables that it asks for is out of reach. Such rows are drawn.
- Joint PMF, Theorem 4: no hunt, since no model meets its conditions (`test_errata.py` hunts for one that does).
- MERIT, Theorem 1: "gives the solution" is a limit. After each of 150 steps the gap must be below the known bound of
  Frank-Wolfe (Jaggi 2013). Columns that are fitted stop.
- MERIT, Theorem 3: minimisers are computed until at most a ten-millionth of lambda is left to gain.
- MERIT, Proposition 1: false as printed where T counts from the start (`test_errata.py`); hunted with T the number of
  the last step, as in its proof.
- Comparisons, Theorem 4.1: five steps, from three to seven users and four to seven items; utilities are small, so that
  tau is near one. It allows failures in one draw of a hundred; none is allowed here.
"""

import pytest

from evaluation.claims import LINES, declared
from tests.evaluation.hunts import comparisons, crowd, pmf, separable, worst

HUNTS = [  # all together a minute
    ("crowd", "Proposition 1", crowd.other_factors, 400),
    ("crowd", "Theorem 1", crowd.imputed_block, 3000),
    ("crowd", "Theorem 2", crowd.robust_fit, 50),
    ("crowd", "Theorem 3", crowd.shifted_steps, 3000),
    ("pmf", "Theorem 1", pmf.naive_bayes, 3000),
    ("pmf", "Theorem 2", pmf.with_the_prior, 20),
    ("pmf", "Theorem 2", pmf.with_a_margin, 20),
    ("pmf", "Theorem 3", pmf.cnmf_spa, 3000),
    ("separable", "Theorem 1", separable.noiseless, 500),
    ("separable", "Theorem 2", separable.with_noise, 4000),
    ("separable", "Theorem 3", separable.penalised, 20),
    ("separable", "Theorem 4", separable.penalised_step, 5000),
    ("separable", "Proposition 1", separable.warm_start, 5000),
    ("comparisons", "Theorem 4.1", comparisons.descent, 3000),
]
SHARPER = [  # than the paper's
    (crowd.imputed_block, {"constant": 0.0001}),
    (pmf.cnmf_spa, {"constant": 0.05}),
    (separable.penalised_step, {"of_lambda": 0.05}),
    (separable.warm_start, {"counted_from_the_start": True}),  # as printed
    (comparisons.descent, {"of_rate": 10}),
]
NOT_HUNTED = {("pmf", "Theorem 4")}  # no model meets its conditions
ROUNDING = 1e-9
THEOREMS = {(line, one.name): one for line in LINES for one in declared(line) if one.is_theorem}


@pytest.mark.parametrize(("line", "name", "trial", "draws"), HUNTS, ids=lambda value: getattr(value, "__name__", None))
def test_no_counterexample_is_found(line, name, trial, draws):
    assert worst(trial, draws) <= 1 + ROUNDING


@pytest.mark.parametrize(("trial", "sharper"), SHARPER, ids=lambda value: getattr(value, "__name__", None))
def test_the_hunts_find_what_refutes_a_sharper_statement(trial, sharper):
    assert worst(trial, 300, **sharper) > 1 + ROUNDING


def test_every_theorem_is_hunted_and_its_claim_says_with_how_many_draws():
    assert {key[:2] for key in HUNTS} | NOT_HUNTED == set(THEOREMS)
    for line, name, _, draws in HUNTS:
        assert f"{draws:,} draws" in THEOREMS[line, name].hunted
