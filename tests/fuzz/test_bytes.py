"""A few hundred damaged files for every reader; `python -m tests.fuzz.bytes` reads as many as one likes."""

import os

import pytest

from tests.fuzz.bytes import fuzz
from tests.fuzz.readers import READERS, case

NUMBER = 100 * int(os.environ.get("COFACTOR_FUZZ", 1))
ONE_WAY = ("cofactor diagnose",)  # a few labels show no damage
SLOW = ("cofactor aggregate",)  # a tenth of the files


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_read_or_refused(name):
    report = fuzz(name, range(NUMBER // 10 if name in SLOW else NUMBER))
    assert report.failures == {}
    assert (report.read and report.refused) or name in (*SLOW, *ONE_WAY)  # else the files would test nothing


def test_a_file_can_be_had_again_by_its_number():
    assert case("ratings", 7) == case("ratings", 7) != case("ratings", 8)
