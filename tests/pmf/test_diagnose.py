"""The report before a fit: what is missing, thin, twice or falls apart is named, and the methods agree with it."""

import numpy as np
import pytest

from cofactor import simulate
from cofactor.core.errors import CofactorError, NotIdentifiableError
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.pmf import METHODS
from cofactor.pmf.cnmf_spa import cnmf_spa, rank_cap
from cofactor.pmf.diagnose import diagnose
from tests.oracles.generators import recorded

TRUTH = simulate.joint_model(6, 4, 3, random_state=0)


def sound(n_rows=3000, observed=0.8):
    return simulate.joint_table(TRUTH, n_rows, observed, random_state=0)


def changed(table, change):
    codes = table.codes
    change(codes)
    return CategoricalTable(codes, table.sizes)


def test_a_sound_table_passes():
    report = diagnose(sound(), rank=3)
    assert report.status == "pass", report
    assert report.verdict == "no method is ruled out"


def test_hidden_classes_are_counted_that_stand_out():
    check = diagnose(sound())["latent classes"]
    assert (check.status, check.value, check.advice) == ("pass", "3 stand out of the noise in pairs", "")
    assert diagnose(sound(), rank=2)["latent classes"].status == "warn"
    alone = simulate.joint_table(simulate.joint_model(6, 4, 1, random_state=0), 3000, random_state=0)
    assert diagnose(alone)["latent classes"].status == "warn"
    assert "Independence" in diagnose(alone)["latent classes"].advice


def test_empty_rows_are_counted():
    def hide(codes):
        codes[[0, 7]] = -1

    check = diagnose(changed(sound(), hide))["rows"]
    assert (check.status, check.value) == ("warn", "3000, of which 2 without any entry")


def test_variables_never_observed_are_named_and_every_method_refuses():
    def hide(codes):
        codes[:, [1, 4]] = -1

    table = changed(sound(), hide)
    report = diagnose(table)
    assert (report["variables"].status, report["variables"].value) == ("fail", "never observed: 1, 4")
    assert report.verdict.startswith("every method refuses (variables")
    with pytest.raises(CofactorError, match="never observed in any row: 1, 4"):
        METHODS["CNMF-OPT"]().fit(table)


def test_values_never_observed_are_counted():
    table = CategoricalTable(sound().codes, [4, 4, 6, 4, 4, 5])
    check = diagnose(table)["variables"]
    assert (check.status, check.value) == ("warn", "6, all observed; 3 values never, of variables 2, 5")


def test_pairs_never_observed_together_are_named():
    def hide(codes):
        codes[::2, 1] = -1
        codes[1::2, 3] = -1

    report = diagnose(changed(sound(), hide))
    assert report["pairs"].value == "1 of 15 never observed together: (1, 3)"
    assert (report["pairs"].status, report["groups"].status) == ("warn", "pass")


def test_groups_that_fall_apart_are_named_and_every_method_refuses():
    def hide(codes):
        codes[::2, :2] = -1
        codes[1::2, 2:] = -1

    table = changed(sound(), hide)
    check = diagnose(table)["groups"]
    assert (check.status, check.value) == ("fail", "2, never observed together: 0, 1; 2, 3, 4, 5")
    for name in ("CNMF-OPT", "RAND-EM"):
        with pytest.raises(NotIdentifiableError, match="2 groups never observed together: 0, 1; 2, 3, 4, 5"):
            METHODS[name]().fit(table)


def test_thin_pairs_are_told_from_thick_ones():
    check = diagnose(sound(n_rows=20))["rows per pair"]
    assert check.status == "warn" and "for 16 cells" in check.value
    assert diagnose(sound(n_rows=400))["rows per pair"].status == "pass"


def test_parameters_are_counted_against_rows():
    """Six variables of four values: 18 free numbers a class, and one of the prior for every class but the first."""
    check = diagnose(sound(60, observed=1.0), rank=5)["parameters"]
    assert (check.status, check.value) == ("warn", "rank 5 times 18, and 4: 94 for 60 rows")
    assert "rank 3 has as few as rows" in check.advice and "rank='auto'" in check.advice
    assert "rank 2 has as few as rows" in diagnose(sound(55, observed=1.0), rank=5)["parameters"].advice
    assert diagnose(sound(60, observed=1.0), rank=3)["parameters"].status == "pass"
    assert diagnose(sound(17, observed=1.0))["parameters"].status == "warn"
    assert diagnose(sound(18, observed=1.0))["parameters"].value == "18 for each latent class, for 18 rows"


@pytest.mark.parametrize("names", [[0, 1, 2, 3], [2, 0, 3, 1]], ids=["same", "renamed"])
def test_the_same_column_twice_is_found_whatever_its_values_are_called(names):
    def copy(codes):
        seen = codes[:, 1] >= 0
        codes[seen, 5] = np.array(names)[codes[seen, 1]]

    def once_not(codes):
        copy(codes)
        codes[np.flatnonzero(codes[:, 1] == 0)[0], 5] = names[1]

    def copy_where_seen(codes):
        copy(codes)
        codes[codes[:, 1] < 0, 5] = -1

    found = diagnose(changed(sound(), copy_where_seen))["redundant columns"]
    assert (found.status, found.value) == ("warn", "each value of 1 goes with one value of 5")
    assert diagnose(changed(sound(), once_not))["redundant columns"].status == "pass"


def test_a_few_rows_that_agree_by_chance_are_no_twins():
    codes = np.array([[0, 0, 1], [1, 1, 0]] * 5)
    assert diagnose(CategoricalTable(codes))["redundant columns"].status == "pass"
    assert diagnose(CategoricalTable(np.tile(codes, (2, 1))))["redundant columns"].status == "warn"


def test_constants_are_named_and_are_no_twins_of_each_other():
    def fix(codes):
        codes[:, [0, 2]] = 1

    report = diagnose(changed(sound(), fix))
    assert (report["constants"].status, report["constants"].value) == ("warn", "one value only: 0, 2")
    assert report["redundant columns"].status == "pass"


@pytest.mark.parametrize("rank", [3, 10, 11])
def test_the_bound_of_spa_is_where_spa_refuses(rank):
    table = sound()
    check = diagnose(table, rank=rank)["rank of CNMF-SPA"]
    assert rank_cap(pairwise_moments(table)) == 10
    assert check.status == ("warn" if rank > 10 else "pass") and check.value.startswith("at most 10")
    if rank > 10:
        with pytest.raises(CofactorError, match="can find at most 10 classes"):
            cnmf_spa(pairwise_moments(table), rank)
        assert "CNMF-SPA" in diagnose(table, rank=rank).verdict


def test_starved_triples_rule_out_the_methods_that_need_them():
    """Pairs of 0.2^2 * 600 = 24 rows for 16 cells, triples of 4.8 for 64."""
    report = diagnose(sound(n_rows=600, observed=0.2))
    assert report["rows per triple"].status == "warn" and report["rows per pair"].status == "pass"
    assert "do without CTD and MLE-AD-EM" in report.verdict
    assert diagnose(sound())["rows per triple"].status == "pass"


def test_small_and_odd_tables_get_a_report():
    assert diagnose(CategoricalTable([[0], [1]]))["variables"].status == "pass"
    assert diagnose(CategoricalTable([[0, -1], [-1, 1]])).status == "fail"
    assert diagnose(CategoricalTable(np.full((3, 2), -1)))["rows"].value == "3, all without any entry"
    assert diagnose(CategoricalTable(np.zeros((0, 3), dtype=int))).status == "fail"


def test_the_verdict_agrees_with_what_the_methods_do():
    for table in (sound(n_rows=50), CategoricalTable([[0, 0, -1, -1], [-1, -1, 0, 1], [1, 1, -1, -1]])):
        try:
            recorded(METHODS["CNMF-EM"](rank=2).fit, table)
            assert diagnose(table).status != "fail"
        except CofactorError:
            assert diagnose(table).status == "fail"


def test_refuses_what_is_no_table_and_ranks_below_one():
    with pytest.raises(CofactorError, match="expected a CategoricalTable, got ndarray"):
        diagnose(np.zeros((2, 2)))
    with pytest.raises(CofactorError, match="rank=0"):
        diagnose(sound(), rank=0)


def test_variables_have_the_names_that_are_given():
    table = CategoricalTable([[0, 1, -1], [1, -1, 0], [0, 0, -1], [-1, -1, -1]])
    report = diagnose(table, names=["sun", "rain", "snow"])
    assert report["pairs"].value == "1 of 3 never observed together: (rain, snow)"
    for names in (["sun"], 3, [["sun", "rain", "snow"]]):
        with pytest.raises(CofactorError, match="for 3 variables: give each one"):
            diagnose(table, names=names)
