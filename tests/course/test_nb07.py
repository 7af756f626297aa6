"""What notebook 07 computes and draws of public crowds: thinned crowds, trials, pictures, its panel."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from cofactor import simulate
from cofactor.core.errors import CofactorError, DatasetUnavailableError, DataWarning
from cofactor.crowd import METHODS, CrowdLabels, diagnose, error_rate
from cofactor.data.loading import load
from course import crowds, public
from course.crowds import mixed_crowd, without_prior
from course.desk import exercises_of
from course.nb07 import panels, pictures
from course.nb07.pictures import _front, _with_room, family
from tests.course import moved

BLUEBIRD = load("bluebird", "crowd")
SMALL = simulate.crowd(mixed_crowd(9, 3, seed=1), 80, 0.6, random_state=1)


def triples(labels):
    return set(labels.to_frame().itertuples(index=False, name=None))


# ---- crowds ----


def test_crowds_that_cannot_be_had_are_named_and_left_out(monkeypatch, capsys):
    def load(name):
        if name == "rte":
            raise DatasetUnavailableError("no network")
        return replace(BLUEBIRD, name=name)

    monkeypatch.setattr(public, "load", load)
    monkeypatch.setitem(pictures.BUSIEST, "web", 7)
    found = pictures.public_crowds(["bluebird", "rte", "web"])
    assert list(found) == ["bluebird", "web"]
    assert [crowd.labels.n_workers for crowd in found.values()] == [39, 7]
    here, missing = capsys.readouterr().out.splitlines()
    assert here == "available: bluebird, web" and "COFACTOR_MIRROR: rte;" in missing


def test_methods_of_the_papers_are_run_without_a_prior():
    assert without_prior("MV-EM").pseudo_counts == without_prior("RobSymNMF-EM").pseudo_counts == (0, 0)
    assert without_prior("WorkerTypes", diagonal=3.0).diagonal == 3.0
    plain = METHODS["MV-EM"](pseudo_counts=(0, 0)).fit(BLUEBIRD.labels).predict_proba(BLUEBIRD.labels)
    found = pictures.run_method(BLUEBIRD.labels, BLUEBIRD.truth, "MV-EM")
    assert found.error == error_rate(plain, BLUEBIRD.truth) == pytest.approx(11 / 108)


def test_a_larger_number_keeps_the_same_labels_and_more():
    labels = SMALL.labels
    few, many = panels.keep_labels(labels, 2, seed=3), panels.keep_labels(labels, 4, seed=3)
    assert triples(few) < triples(many) < triples(labels)
    for kept, wanted in ((few, 2), (many, 4)):
        assert np.array_equal(kept.table.entries_per_row, np.minimum(labels.table.entries_per_row, wanted))
    assert (few.tasks, few.workers, few.classes) == (labels.tasks, labels.workers, labels.classes)
    assert triples(panels.keep_labels(labels, 2, seed=4)) != triples(few)
    with pytest.raises(CofactorError, match="per_task=0"):
        panels.keep_labels(labels, 0)


# ---- trials ----


def test_a_trial_is_the_method_and_its_error():
    trial = pictures.run_method(SMALL.labels, SMALL.truth, "MV-EM")
    fit = METHODS["MV-EM"](random_state=0).fit(SMALL.labels)
    assert trial.error == error_rate(fit.predict_proba(SMALL.labels), SMALL.truth)
    assert trial.seconds >= 0


def test_refusals_have_no_error_and_only_warnings_of_the_kit_are_hidden():
    assert np.isnan(pictures.run_method(SMALL.labels, SMALL.truth, "KOS").error)  # three classes

    class Talkative(METHODS["MajorityVote"]):
        def fit(self, labels):
            warnings.warn("thin data", DataWarning, stacklevel=1)
            warnings.warn("old function", FutureWarning, stacklevel=1)
            return super().fit(labels)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crowds, "METHODS", {**METHODS, "Talkative": Talkative})
        with pytest.warns(FutureWarning, match="old function") as told:
            assert pictures.run_method(SMALL.labels, SMALL.truth, "Talkative").error >= 0
    assert len(told) == 1


def test_thin_reports_the_errors_of_vote_and_method_and_what_was_overruled():
    outcome = panels.thin(BLUEBIRD, "MV-EM", 10, seed=1)
    labels = panels.keep_labels(BLUEBIRD.labels, 10, seed=1)
    for name in ("MajorityVote", "MV-EM"):
        scores = METHODS[name]().fit(labels).predict_proba(labels)
        assert outcome.errors[name] == error_rate(scores, BLUEBIRD.truth)
    assert np.allclose(outcome.posterior.sum(axis=1), 1)
    votes, winner = labels.votes, outcome.posterior.argmax(axis=1)
    by_hand = sum(votes[n, winner[n]] < votes[n].max() for n in range(labels.n_tasks))
    assert outcome.overruled == by_hand > 0
    assert panels.thin(BLUEBIRD, "MajorityVote", 10).overruled == 0


# ---- pictures ----


def test_the_stairs_join_what_nobody_beats_in_both():
    seconds, errors = np.array([1.0, 2.0, 3.0, 4.0, 0.5]), np.array([5.0, 5.0, 1.0, 2.0, 9.0])
    assert _front(seconds, errors) == [4, 0, 2]


def test_names_are_left_out_where_there_is_no_room():
    assert _with_room([0, 1, 2, 3], np.array([1e-3, 2e-3, 1e-1, 10.0])) == [0, 3, 2]
    assert _with_room([0], np.ones(1)) == [0]


def test_every_method_has_a_look_and_those_for_two_classes_one_of_their_own():
    binary = {name for name in METHODS if "for two classes" in family(name)}
    assert {name.split("(")[0] for name in binary} == {"KOS", "GhoshSVD", "EigenRatio"}


# ---- the panel ----


@pytest.mark.slow
def test_thinning_panel_says_what_is_refused():
    panel = panels.thinning_panel()
    panel.controls["crowd"].value = "digits"
    panel.controls["method"].value = "KOS"
    assert panel.text.startswith("Not possible with these values: KOS is for two classes")
    assert set(panel.controls["method"].options) <= set(METHODS)


# ---- live figures, and what the notebook says of them ----


@pytest.mark.slow
def test_a_model_without_prior_learns_who_misleads_and_the_default_keeps_to_the_vote_in_the_end():
    errors = panels.misled()
    assert (errors["MV-EM"] < 0.11).all() and (errors["DesSymNMF-EM"] < 0.11).all()
    assert (errors["WorkerTypes"][:7] < 0.13).all() and np.array_equal(
        errors["WorkerTypes"][7:], errors["majority vote"][7:]
    )
    assert "MV-EM on 10\xa0%" in moved(panels.mislead_live(), share=40, shown=True)
    labels = panels.mislead(BLUEBIRD.labels, 0.5)
    assert np.sum(labels.table.values != BLUEBIRD.labels.table.values) == 20 * 108


@pytest.mark.slow
def test_a_prior_moves_few_labels_and_is_outweighed_by_many():
    told = [moved(panels.belief_live(), right=r, wrong=2 * r, shown=True) for r in (1, 10, 100)]
    assert [text.split(": ")[1] for text in told] == [
        f"33\xa0% without a prior, {share}\xa0% with the prior" for share in (62, 40, 34)
    ]
    assert moved(panels.belief_live(), right=0, wrong=0).startswith("0 labels, 0 of them right: no estimate")


# ---- exercises ----


@pytest.mark.slow
def test_the_holes_of_the_exercise_are_those_that_the_library_diagnoses():
    exercise = exercises_of("nb07")["holes"]
    seen, K = exercise.given().values()
    missing, cells, trouble = (np.asarray(part.answer) for part in exercise.parts)
    assert sorted(trouble) == [0, 0, 1, 2, 2]
    for crowd, classes, share, tasks in zip(seen, K, missing, cells, strict=True):
        task, worker = np.nonzero(crowd)
        checks = diagnose(CrowdLabels.from_arrays(task, worker, (task + worker) % classes, classes, *crowd.shape))
        assert checks["missing co-occurrences"].value.startswith(f"{share:.1%} of worker pairs")
        assert checks["tasks per pair"].value == f"median {tasks * classes**2:g} for {classes**2} cells"


def test_printed_errors_stand_for_tasks_unless_no_single_run_gives_them():
    exercise = exercises_of("nb07")["printed"]
    N, printed, wrong = exercise.given().values()
    tasks, why = (np.asarray(part.answer) for part in exercise.parts)
    assert sorted(why) == [0, 0, 1, 1, 2, 2] and np.any(tasks % 1 == 0.5)
    for n, told, found, reason in zip(N, printed, tasks, why, strict=True):
        fitting = [w / 2 for w in range(2 * n + 1) if abs(50 * w / n - told) < 0.01]
        assert fitting == ([] if reason == 2 else [found])
    assert np.all(tasks[why == 0] == wrong[why == 0])
