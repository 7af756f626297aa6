"""Compare your own method with the trivial answer and the default, on data sets with known truth."""

from cofactor_app.bench.checks import check_method
from cofactor_app.bench.run import Trial, bench
from cofactor_app.bench.sets import FAMILIES, FAMILY, KnownSet, known_sets
from cofactor_app.bench.table import by_family, by_set, choice_report, left_out, report

__all__ = [
    "FAMILIES",
    "FAMILY",
    "KnownSet",
    "Trial",
    "bench",
    "by_family",
    "by_set",
    "check_method",
    "choice_report",
    "known_sets",
    "left_out",
    "report",
]
