"""What notebook 00 makes of its own: crowds with one fault each, a file with corrections."""

import numpy as np
import pytest
from scipy.stats import binom

from cofactor.crowd import METHODS, diagnose
from course.nb00 import draws, panels
from course.nb00.exercises import EXERCISES
from tests.each import each

LINES = {1: "co-labelling graph", 2: "copies", 3: "labels per task", 4: "no information beside the others"}


@pytest.mark.slow
@each("seed", range(6))
def test_of_four_crowds_each_has_one_fault_and_the_diagnosis_names_it_alone(seed):
    found = []
    for codes in draws.crowds(seed):
        bad = {line.name for line in diagnose(draws.labels_of(codes)).checks if line.status != "pass"}
        found.append([kind for kind, line in LINES.items() if line in bad])
        assert found[-1] == draws.faults(codes)
    assert sorted(found) == [[1], [2], [3], [4]]


def test_faults_are_found_one_by_one_and_together():
    sound = draws.crowd(3, np.random.default_rng(0))
    sound = sound[(sound >= 0).any(axis=1)]
    assert draws.faults(sound) == []
    spoilt = sound.copy()
    spoilt[0], spoilt[:, 0] = -1, np.where(spoilt[:, 0] >= 0, 1, -1)
    assert draws.faults(spoilt) == [3, 4]


@pytest.mark.slow
@each("seed", range(3))
def test_a_file_tells_by_its_counts_what_was_done_with_corrections(seed):
    text = draws.file_text(seed)
    first, last = (draws.read(text, conflicts) for conflicts in ("first", "last"))
    rows = text.splitlines()[1:]
    assert first.n_labels == last.n_labels < len(rows) and first.n_tasks == draws.N_PHOTOGRAPHS
    assert (first.table.codes != last.table.codes).sum() == len(rows) - last.n_labels
    counts = [count for count, _ in draws.teals(text).values()]
    assert len({*counts, *(draws.N_PHOTOGRAPHS - count for count in counts)}) == 6
    own = METHODS["WorkerTypes"]().fit_predict(last.to_frame())
    assert (own == "teal").sum() == counts[0]


def test_faults_of_the_stored_notebook_come_in_no_order():
    assert [part.answer for part in EXERCISES["faults"].parts] != [1, 2, 3, 4]


def test_the_majority_falls_as_it_must():
    right = np.full((200, 39), 0.7)
    found = panels.majorities(right, np.random.default_rng(0))
    exact = [binom.cdf(n // 2, n, 0.7) for n in panels.PEOPLE]
    assert np.allclose(found, exact, atol=0.01)
    live = panels.majority_live()
    live.controls["share"].value, live.controls["shown"].value = 12, True
    assert live.text.startswith("You guessed 12\xa0%.") and live.text.endswith("wrong on 24\xa0%.")
