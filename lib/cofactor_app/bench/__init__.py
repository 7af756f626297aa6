"""Benchmark your own method beside the vote and the default, on crowds of known truth."""

from cofactor_app.bench.checks import check_method
from cofactor_app.bench.crowds import FAMILIES, FAMILY, Crowd, crowds
from cofactor_app.bench.run import Trial, bench
from cofactor_app.bench.table import by_family, by_set, choice_report, left_out, report

__all__ = [
    "FAMILIES",
    "FAMILY",
    "Crowd",
    "Trial",
    "bench",
    "by_family",
    "by_set",
    "check_method",
    "choice_report",
    "crowds",
    "left_out",
    "report",
]
