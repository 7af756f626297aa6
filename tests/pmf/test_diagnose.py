"""The report before a fit: what is missing, thin, twice or falls apart is named, and the methods agree with it."""

import numpy as np
import pytest

from cofactor import simulate
from cofactor.core.errors import CofactorError, NotIdentifiableError
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.pmf import METHODS
from cofactor.pmf.cnmf import cnmf_spa, rank_cap
from cofactor.pmf.diagnose import diagnose

TRUTH = simulate.joint_model(6, 4, 3, random_state=0)


def sound(n_rows=3000, observed=0.8):
    return simulate.joint_table(TRUTH, n_rows, observed, random_state=0)


def hidden(*cells):
    """The sound table with these cells (rows, columns) missing."""
    codes = sound().codes
    for rows, columns in cells:
        codes[rows, columns] = -1
    return CategoricalTable(codes, [4] * 6)


def fixed(table):
    codes = table.codes
    codes[:, [0, 2]] = 1
    return CategoricalTable(codes, table.sizes)


ALL, EVEN, ODD = slice(None), slice(None, None, 2), slice(1, None, 2)
APART = hidden((EVEN, slice(2)), (ODD, slice(2, 6)))
REPORTS = (  # table, rank, check, status, value
    (hidden(([0, 7], ALL)), None, "rows", "warn", "3000, of which 2 are empty"),
    (hidden((ALL, [1, 4])), None, "variables", "fail", "never observed: 1, 4"),
    (CategoricalTable(sound().codes, [4, 4, 6, 4, 4, 5]), None, "variables", "warn",
     "6, all observed, except 3 values of variables 2, 5"),
    (hidden((EVEN, 1), (ODD, 3)), None, "pairs", "warn", "1 of 15 never observed together: (1, 3)"),
    (hidden((EVEN, 1), (ODD, 3)), None, "groups", "pass", "one: every variable is linked to every other"),
    (APART, None, "groups", "fail", "2, never observed together: 0, 1; 2, 3, 4, 5"),
    (fixed(sound()), None, "constants", "warn", "variables with only one value: 0, 2"),
    (fixed(sound()), None, "redundant columns", "pass", "none"),
    # six variables of four values: 18 free numbers a class, and one of the prior for every class but the first
    (sound(60, 1.0), 5, "parameters", "warn", "94 (5 x 18 + 4) for 60 rows"),
    (sound(60, 1.0), 3, "parameters", "pass", "56 (3 x 18 + 2) for 60 rows"),
    (sound(17, 1.0), None, "parameters", "warn", "18 per latent class, for 17 rows"),
    (sound(18, 1.0), None, "parameters", "pass", "18 per latent class, for 18 rows"),
    (sound(), None, "latent classes", "pass", "pairs show 3 above the noise"),
    (CategoricalTable([[0], [1]]), None, "variables", "pass", "1, all observed"),
    (CategoricalTable(np.full((3, 2), -1)), None, "rows", "fail", "3, all of them empty"),
)  # fmt: skip


@pytest.mark.slow
def test_each_check_has_its_status_and_names_what_it_found():
    for table, rank, name, status, value in REPORTS:
        check = diagnose(table, rank=rank)[name]
        assert (check.status, check.value) == (status, value), (name, check)
    report = diagnose(sound(), rank=3)
    assert report.status == "pass" and report.verdict == "no method is ruled out", report
    assert diagnose(CategoricalTable(np.zeros((0, 3), dtype=int))).status == "fail"


def test_thin_pairs_triples_and_parameters_are_told_from_thick_ones_with_advice():
    """Pairs of 0.2^2 * 600 = 24 rows for 16 cells, triples of 4.8 for 64."""
    assert (
        diagnose(sound(20))["rows per pair"].status == "warn" and diagnose(sound(400))["rows per pair"].status == "pass"
    )
    report = diagnose(sound(600, 0.2))
    assert report["rows per triple"].status == "warn" and report["rows per pair"].status == "pass"
    assert "avoid CTD and MLE-AD-EM" in report.verdict
    assert diagnose(sound())["rows per triple"].status == "pass"
    for n_rows, rank in ((60, 3), (55, 2)):
        advice = diagnose(sound(n_rows, 1.0), rank=5)["parameters"].advice
        assert f"use rank {rank} at most" in advice and "rank='auto'" in advice


def test_more_or_fewer_hidden_classes_than_stand_out_are_a_warning():
    assert diagnose(sound(), rank=2)["latent classes"].status == "warn"
    alone = simulate.joint_table(simulate.joint_model(6, 4, 1, random_state=0), 3000, random_state=0)
    check = diagnose(alone)["latent classes"]
    assert check.status == "warn" and "Independence" in check.advice


def test_what_fails_is_what_every_method_refuses():
    for table, said, error in (
        (hidden((ALL, [1, 4])), "these variables were never observed: 1, 4", CofactorError),
        (APART, r"2 groups that were never observed together \(0, 1; 2, 3, 4, 5\)", NotIdentifiableError),
    ):
        assert diagnose(table).verdict.startswith("every method refuses")
        for name in ("CNMF-OPT", "RAND-EM"):
            with pytest.raises(error, match=said):
                METHODS[name]().fit(table)


def test_the_same_column_twice_is_found_whatever_its_values_are_called():
    for names in ([0, 1, 2, 3], [2, 0, 3, 1]):
        codes = sound().codes
        seen = codes[:, 1] >= 0
        codes[seen, 5] = np.array(names)[codes[seen, 1]]
        once = codes.copy()
        once[np.flatnonzero(codes[:, 1] == 0)[0], 5] = names[1]
        codes[~seen, 5] = -1
        found = diagnose(CategoricalTable(codes, [4] * 6))["redundant columns"]
        assert (found.status, found.value) == ("warn", "each value of 1 occurs with one value of 5")
        assert diagnose(CategoricalTable(once, [4] * 6))["redundant columns"].status == "pass"
    few = np.array([[0, 0, 1], [1, 1, 0]] * 5)  # ten rows that agree are no evidence, twenty are
    assert diagnose(CategoricalTable(few))["redundant columns"].status == "pass"
    assert diagnose(CategoricalTable(np.tile(few, (2, 1))))["redundant columns"].status == "warn"


def test_the_bound_of_spa_is_where_spa_refuses():
    table = sound()
    assert rank_cap(pairwise_moments(table)) == 10
    for rank in (3, 10, 11):
        check = diagnose(table, rank=rank)["rank of CNMF-SPA"]
        assert check.status == ("warn" if rank > 10 else "pass") and check.value.startswith("at most 10")
    assert "CNMF-SPA" in diagnose(table, rank=11).verdict
    with pytest.raises(CofactorError, match="can find at most 10 classes"):
        cnmf_spa(pairwise_moments(table), 11)


def test_names_are_those_given_and_what_is_no_table_rank_or_name_is_refused():
    table = CategoricalTable([[0, 1, -1], [1, -1, 0], [0, 0, -1], [-1, -1, -1]])
    report = diagnose(table, names=["sun", "rain", "snow"])
    assert report["pairs"].value == "1 of 3 never observed together: (rain, snow)"
    for names in (["sun"], 3, [["sun", "rain", "snow"]]):
        with pytest.raises(CofactorError, match="pass one name for each of the 3 variables"):
            diagnose(table, names=names)
    with pytest.raises(CofactorError, match="expected a CategoricalTable, got ndarray"):
        diagnose(np.zeros((2, 2)))
    with pytest.raises(CofactorError, match="rank=0"):
        diagnose(table, rank=0)
