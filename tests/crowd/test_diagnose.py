"""The pre-flight report says what is there, what is wrong, and which methods can run."""

from importlib import import_module

import numpy as np
import pytest

import cofactor as cf
from cofactor.crowd import METHODS, diagnose
from tests.oracles.crowds import independent, over_callers


def labels_of(pairs, n_classes=2, **kwargs):
    """Every pair of workers in `pairs` labels two tasks of its own, with both classes."""
    task, worker, label = [], [], []
    for number, pair in enumerate(pairs):
        for copy in range(2):
            for m in pair:
                task.append(2 * number + copy)
                worker.append(m)
                label.append(copy)
    return cf.CrowdLabels.from_arrays(task, worker, label, n_classes=n_classes, **kwargs)


TRIANGLE = [(0, 1), (1, 2), (0, 2)]


def test_a_sound_crowd_passes():
    crowd = cf.simulate.crowd(cf.simulate.dawid_skene_model(8, 2, skill=0.6, random_state=0), 500, 0.7, random_state=0)
    report = diagnose(crowd.labels)
    assert report.status == "pass"
    assert (
        report.verdict == "the default method (WorkerTypes) suits these labels; there are enough for other methods, too"
    )


def test_names_the_share_of_missing_pairs_both_ways():
    four = labels_of([*TRIANGLE, (2, 3)])
    assert diagnose(four)["missing co-occurrences"].value == "33.3% of worker pairs (50.0% of blocks with the diagonal)"


def test_a_bipartite_graph_fails_and_the_verdict_names_the_methods_left():
    report = diagnose(labels_of([(0, 1), (1, 2), (2, 3), (3, 0)]))
    assert report["co-labelling cycle"].status == "fail"
    assert report["co-labelling graph"].status == "pass"
    assert "MV-EM" in report.verdict and "cannot be used (co-labelling cycle)" in report.verdict


def test_a_disconnected_graph_fails_with_the_sizes_of_its_components():
    report = diagnose(labels_of([*TRIANGLE, (3, 4), (4, 5), (3, 5)]))
    assert report["co-labelling graph"].status == "fail"
    assert report["co-labelling graph"].value == "2 components of 3, 3 workers"


def test_the_verdict_agrees_with_what_the_methods_do():
    for pairs in (TRIANGLE, [(0, 1), (1, 2)], [*TRIANGLE, (3, 4)]):
        labels = labels_of(pairs)
        refused = diagnose(labels).status == "fail"
        try:
            cf.crowd.METHODS["RobSymNMF"]().fit(labels)
            assert not refused
        except cf.NotIdentifiableError:
            assert refused


def test_a_worker_who_shares_no_task_is_a_warning():
    labels = cf.CrowdLabels.from_arrays([0, 0, 1, 1, 0, 1, 2], [0, 1, 1, 2, 2, 0, 3], [0, 0, 1, 1, 0, 1, 1])
    assert diagnose(labels)["co-labelling graph"].status == "warn"
    assert "1 other with too few shared tasks" in diagnose(labels)["co-labelling graph"].value


def test_a_class_that_was_never_used_fails():
    check = diagnose(labels_of(TRIANGLE, n_classes=3))["classes"]
    assert check.status == "fail" and check.value == "never used: 2"


def test_counts_tasks_without_labels_and_ties():
    labels = cf.CrowdLabels.from_arrays([0, 0, 1], [0, 1, 0], [0, 1, 1], n_tasks=4, unlabelled="keep")
    report = diagnose(labels)
    assert "2 tasks without labels" in report["labels per task"].value
    assert report["tied votes"].value == "75.0% of the tasks"


def test_advice_is_given_where_labels_are_few_or_missing():
    task, worker = np.divmod(np.arange(12), 4)
    enough = diagnose(cf.CrowdLabels.from_arrays(task, worker, task % 2))["labels per task"]
    assert (enough.status, enough.value, enough.advice) == ("pass", "median 4, 4 to 4", "")
    few = diagnose(labels_of(TRIANGLE))["labels per task"]
    assert (few.status, few.advice) == ("warn", "collect more labels")
    missing = diagnose(cf.CrowdLabels.from_arrays([0, 0], [0, 1], [0, 1], n_tasks=2, unlabelled="keep"))
    assert missing["labels per task"].advice == "collect more labels; a task without labels gets the prior"


def test_less_than_half_of_the_workers_may_have_few_labels():
    task, worker = np.divmod(np.arange(60), 5)
    for n_few, status in ((2, "pass"), (3, "warn")):
        kept = (worker >= n_few) | (task < 9)
        check = diagnose(cf.CrowdLabels.from_arrays(task[kept], worker[kept], task[kept] % 2))["labels per worker"]
        assert check.status == status and check.value.endswith(f"{n_few} workers below 10")


def test_reach_counts_observed_and_linked_blocks():
    path = labels_of([*TRIANGLE, (2, 3)])  # all linked but 3 with itself: one neighbour only
    assert diagnose(path)["reach of imputation"].value == "93.8% of blocks observed or linked"
    useless = cf.CrowdLabels.from_arrays([0, 0, 0, 1], [0, 1, 2, 0], [0, 0, 0, 1])  # no block has an inverse
    assert diagnose(useless)["reach of imputation"].value == "66.7% of blocks observed or linked"


@pytest.mark.slow
def test_classes_are_counted_that_pairs_of_labels_tell_apart():
    model = cf.simulate.dawid_skene_model(20, 3, skill=0.6, random_state=2)
    merged = cf.LatentClassModel(model.prior, [A[:, [0, 1, 1]] for A in model.conditionals])
    fine, blurred = (cf.simulate.crowd(m, 1000, 0.4, random_state=0).labels for m in (model, merged))
    assert diagnose(fine)["classes told apart"].status == "pass"
    assert diagnose(fine)["classes told apart"].value.startswith("3 of 3 from pairs of labels; the weakest signal is ")
    check = diagnose(blurred)["classes told apart"]
    assert (check.status, check.value) == ("warn", "2 of 3 from pairs of labels") and "merge classes" in check.advice


@pytest.mark.slow
def test_more_structure_than_classes_is_a_warning():
    """Half of the workers look at one thing, half at another."""
    read = np.array([[0.9, 0.2], [0.1, 0.8]])
    two_things = cf.LatentClassModel(np.full(4, 0.25), [read[:, [0, 0, 1, 1]]] * 10 + [read[:, [0, 1, 0, 1]]] * 10)
    table, _ = two_things.sample(3000, random_state=0)
    check = diagnose(cf.CrowdLabels(table, range(3000), range(20), range(2)))["classes told apart"]
    assert check.status == "warn" and "more than the actual 2" in check.value


def test_labels_are_weighed_against_the_cells_of_a_confusion_matrix():
    """Six workers with 40 labels each: 10 for every cell of two classes, 0.1 for every cell of twenty."""
    rng = np.random.default_rng(0)
    for n_classes, status, value in ((2, "pass", "median 10 for"), (20, "warn", "median 0.1 for")):
        truth = np.arange(40) % n_classes
        label = np.where(rng.random((40, 6)) < 0.8, truth[:, None], rng.integers(n_classes, size=(40, 6)))
        task, worker = np.divmod(np.arange(240), 6)
        report = diagnose(cf.CrowdLabels.from_arrays(task, worker, label.ravel(), n_classes=n_classes))
        check = report["labels per cell"]
        assert check.status == status and check.value.startswith(value)


@pytest.mark.slow
def test_a_camp_that_decides_is_a_warning():
    found = diagnose(cf.CrowdLabels.from_arrays(*over_callers(0)[:3]))
    assert (
        found["readings"].status == "warn" and "workers 0, 1, 2, 3, 4 share their mistakes" in found["readings"].advice
    )
    assert "checking them on tasks of known truth" in found.verdict
    alone = diagnose(cf.CrowdLabels.from_arrays(*independent(0, 200, 8, 2)[:3]))
    assert alone["readings"].status == "pass"


@pytest.mark.slow
def test_coin_flips_fail_whatever_the_classes():
    failed = []
    for seed in range(10):  # of intervals of 90 %, one in twenty lies above zero by chance
        for K, M in ((2, 3), (2, 10), (3, 6)):
            i, w, l, _ = independent(seed, 150, M, K, np.full(M, 1 / K))
            found = diagnose(cf.CrowdLabels.from_arrays(i, w, l))
            failed.append(found["agreement"].status == "fail")
            nothing = found.verdict == "the labels agree no more than by chance: there is nothing to aggregate"
            assert failed[-1] == nothing
    assert np.mean(failed) > 0.85
    assert diagnose(cf.CrowdLabels.from_arrays(*independent(0, 60, 5, 2)[:3]))["agreement"].status == "pass"


def test_gold_with_exchanged_classes_fails():
    i, w, l, truth = independent(0, 60, 6, 2)
    labels = cf.CrowdLabels.from_arrays(i, w, l)
    gold = {task: int(truth[task]) for task in range(20)}
    assert diagnose(labels, gold=gold)["gold"].status == "pass"
    found = diagnose(labels, gold={task: 1 - y for task, y in gold.items()})["gold"]
    assert found.status == "fail" and found.advice.endswith("are its classes swapped?")
    assert "gold" not in [check.name for check in diagnose(labels).checks]


def test_an_answer_by_vote_is_told():
    found = diagnose(cf.CrowdLabels.from_arrays(*independent(0, 300, 20, 2, np.full(20, 0.5))[:3]))
    assert found["who knows"].status == "warn" and "majority vote" in found["who knows"].advice


@pytest.mark.slow
@pytest.mark.needs_mirror
def test_on_thin_real_crowds_the_methods_that_lose_are_advised_against():
    """Music: 44 workers, ten classes, 2,945 labels. The verdict agrees with what the truth says."""
    dataset = cf.load("music_genre")
    report = diagnose(dataset.labels)
    assert report["labels per cell"].status == "warn"
    assert (
        "use the default (WorkerTypes)" in report.verdict
        and "methods without a prior (RobSymNMF, DesSymNMF" in report.verdict
    )
    vote, default, without = (
        cf.crowd.error_rate(METHODS[name]().fit(dataset.labels).predict_proba(dataset.labels), dataset.truth)
        for name in ("MajorityVote", "WorkerTypes", "RobSymNMF")
    )
    assert default < vote < without - 0.1


def test_shows_as_text_table_and_values():
    report = diagnose(labels_of(TRIANGLE))
    for check in report.checks:
        assert check.name in str(report) and check.name in report._repr_html_()
    assert report.to_text() == str(report) == repr(report) and report.to_html() == report._repr_html_()
    assert report.to_dict()["status"] == report.status
    assert [check["name"] for check in report.to_dict()["checks"]] == [check.name for check in report.checks]
    with pytest.raises(KeyError):
        report["no such check"]


def test_text_is_escaped_in_the_table():
    frame = labels_of(TRIANGLE).to_frame().assign(label=lambda f: np.where(f["label"] == 0, "<b>", "c"))
    labels = cf.CrowdLabels.from_frame(frame, classes=["<b>", "c", "<i>"])
    assert "&lt;i&gt;" in diagnose(labels)._repr_html_() and "<i>" not in diagnose(labels)._repr_html_()


@pytest.mark.slow
def test_checks_of_pairs_are_left_out_by_name_where_their_counts_would_take_too_much_memory(monkeypatch):
    labels, module = cf.load("bluebird").labels, import_module("cofactor.crowd.diagnose")
    monkeypatch.setattr(module, "MOST_MEGABYTES", 0.1)
    found = {check.name: check for check in module.diagnose(labels).checks}
    assert found["pairs of workers"].value.startswith("not checked: the co-occurrences of 39 workers")
    for name in module.OF_PAIRS:
        assert name not in found and name in found["pairs of workers"].advice
    monkeypatch.undo()
    assert set(module.OF_PAIRS) <= {check.name for check in module.diagnose(labels).checks}
