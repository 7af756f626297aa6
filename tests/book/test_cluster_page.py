"""The page on clusters shows what its numbers come to, and nothing older."""

from dataclasses import replace

import pytest

from docs.cluster_costs import PAGE, Job, hours, renewed


def test_the_tables_are_those_of_the_measured_times():
    page = PAGE.read_text(encoding="utf8")
    assert renewed(page) == page, "run python -m docs.cluster_costs"


def test_hours_follow_labels_cores_and_memory():
    ns = {"shard": 600.0, "one shard: count and keep": 60.0, "one shard: read": 30.0, "one shard: E-step": 10.0}
    ns["one shard: MAP"] = 20.0
    job = Job(labels=3.6e9, cores=1, rounds=10, gigabytes=1e9, network=float("inf"))
    assert [number for _, number in hours(job, ns)] == pytest.approx([0.6, 0.09, 0.1, 0.05])
    assert [number for _, number in hours(replace(job, cores=2), ns)] == pytest.approx([0.6, 0.045, 0.05, 0.025])
    assert [number for _, number in hours(replace(job, gigabytes=0), ns)][2] == pytest.approx(0.4)
    sums = [number for _, number in hours(replace(job, network=1e9), ns)][2] - 0.1
    assert sums == pytest.approx(10 * 3600 * 8 * 1000 * 16 / 1e9 / 3600)
