"""Copies with slips are named; workers who are good, or misled together, are not."""

import warnings
from itertools import product

import numpy as np
import pytest

import cofactor as cf
from cofactor.crowd.near_copies import near_copies
from cofactor_app.cli import main

SHAPES = ((200, 2, 6), (300, 10, 15), (100, 3, 5))  # tasks, classes, workers


def drawn(shape, seed, slips=None, experts=0, misled=0.0, rate=1.0):
    """Workers of skill .55 to .9; the second repeats the first but for slips; experts; tasks that mislead; gaps."""
    (N, K, M), rng = shape, np.random.default_rng(seed)
    truth, lure = rng.integers(K, size=(N, 1)), rng.integers(1, K, size=(N, 1))
    skill = rng.uniform(0.55, 0.9, M)
    skill[2 : 2 + experts] = 0.95
    wrong = np.where(rng.random((N, M)) < misled, lure, rng.integers(1, K, size=(N, M)))
    codes = (truth + np.where(rng.random((N, M)) < skill, 0, wrong)) % K
    if slips is not None:
        codes[:, 1] = np.where(rng.random(N) < slips, rng.integers(K, size=N), codes[:, 0])
    seen = rng.random((N, M)) < rate
    seen[:, 1] = seen[:, 0]
    return cf.CrowdLabels.from_arrays(*np.nonzero(seen), codes[seen], K, N, M, unlabelled="keep")


def found(labels):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return near_copies(cf.crowd.WorkerTypes().fit(labels), labels)


@pytest.mark.parametrize("shape", SHAPES)
def test_copies_with_slips_are_found_and_nobody_else(shape):
    for seed in range(4):
        for slips in (0.02, 0.1)[: 1 + (shape[0] > 100)]:
            pairs = found(drawn(shape, seed, slips))
            assert [pair[:2] for pair in pairs] == [(0, 1)] and pairs[0][3] == shape[0], (seed, slips)
        for honest in ({}, {"experts": 2}, {"misled": 0.5}):
            assert found(drawn(shape, seed, **honest)) == [], (seed, honest)


def test_copies_with_50_labels_each_are_found_more_often_than_not():
    copies = []
    for n_classes, seed in product((2, 5, 20), range(12, 20)):
        shape = 1000, n_classes, 30
        copies += [pair[:2] for pair in found(drawn(shape, seed, slips=0.1, rate=0.05))]
        assert found(drawn(shape, seed, experts=2, rate=0.05)) == [], shape
    assert set(copies) == {(0, 1)} and len(copies) > 12  # of 24


def test_whole_copies_are_merged_and_not_named_again():
    labels = drawn(SHAPES[0], 0, slips=0.0)
    assert cf.crowd.WorkerTypes().fit(labels).copies_ == [[0, 1]] and found(labels) == []


def test_every_output_names_them(tmp_path, capsys):
    labels, path, workers = drawn(SHAPES[0], 1, slips=0.05), tmp_path / "labels.csv", tmp_path / "workers.csv"
    labels.to_frame().to_csv(path, index=False)
    assert main(["aggregate", str(path), "--workers", str(workers), "--draws", "0"]) == 0
    said = f"0 and 1 ({found(labels)[0][2]} of 200 labels)"
    assert said in capsys.readouterr().out and "answers nearly as 0" in workers.read_text()
    assert said in str(cf.crowd.diagnose(labels))
