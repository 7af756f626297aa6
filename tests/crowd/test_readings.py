"""Readings: what one set of labels can be taken to say, where they differ, and which gold tasks choose."""

import numpy as np
import pytest

import cofactor as cf
from cofactor.crowd.readings import (
    Believed,
    Readings,
    alike_beyond_chance,
    believed,
    camps,
    centred,
    dissent,
    dissenters,
    linked,
    readings,
    unexplained,
)
from tests.oracles.crowds import independent, over_callers, with_copies

N, FAMILY = 300, 3


def judges(seed, alike=0.95):
    """Three judges of one family, wrong on 35 % of the tasks and mostly on the same ones, and four others."""
    rng = np.random.default_rng(seed)
    truth, hard = rng.integers(0, 2, N), rng.random(N) < 0.35
    own = [np.where(rng.random(N) < alike, hard, rng.random(N) < 0.35) for _ in range(FAMILY)]
    wrong = np.array([*own, *(rng.random(N) > skill for skill in (0.7, 0.75, 0.8, 0.8))])
    said = np.where(wrong, 1 - truth, truth)
    task, worker = np.meshgrid(np.arange(N), np.arange(len(said)))
    return cf.CrowdLabels.from_arrays(task.ravel(), worker.ravel(), said.ravel()), truth


def crowd_of(drawn):
    return cf.CrowdLabels.from_arrays(*drawn[:3])


# ---- camps and dissenters ----


@pytest.mark.slow
def test_the_numbers_of_three_crowds():
    """Node of highest z with a share of .2: z, share, workers; camps, dissenters, and the share of the warning."""
    cases = {
        "bluebird": (cf.load("bluebird").labels, (4.433303, 0.627550, 14), [], [], 0.0),
        "over-callers": (
            crowd_of(over_callers(0)),
            (3.489049, 0.808546, 5),
            [[0, 1, 2, 3, 4], [5, 6]],
            [],
            0.192,
        ),
        "copies": (crowd_of(with_copies(0, 200, 4, 0.7, 3, 0.85)), None, [], [[4, 5, 6]], 0.0),
    }
    for name, (labels, node, of_camps, dissenting, share) in cases.items():
        method = cf.crowd.WorkerTypes().fit(labels)
        voices = np.unique(method._owner)
        Y, gave, v = centred(labels, voices)
        nodes = [x for x in linked(Y, gave, v) if 2 <= len(x) <= len(voices) - 2]
        z, unlike = unexplained(Y, gave, nodes)
        if node:
            best = max((j for j in range(len(z)) if unlike[j] >= 0.2), key=lambda j: z[j])
            assert np.allclose((z[best], unlike[best], len(nodes[best])), node, atol=5e-7), name
        assert [group.tolist() for group in camps(labels, method._owner)] == of_camps, name
        apart = cf.crowd.WorkerTypes(merge_copies=False).fit(labels)
        groups = dissenters(labels, apart.model_, apart.design_effect_)
        assert [group.tolist() for group in groups] == dissenting, name
        assert readings(labels, method).share_depending == pytest.approx(share, abs=1e-9), name


def test_linkage_and_screen_are_worked_by_the_definition():
    i, w, l, _ = independent(1, 40, 5, 3, per=4)
    labels = cf.CrowdLabels.from_arrays(i, w, l)
    Y, gave, v = centred(labels, np.arange(5))
    codes, group = labels.table.codes, np.array([0, 3])
    y = np.zeros((40, 5, 3))
    for u in range(5):
        share = np.bincount(codes[codes[:, u] >= 0, u], minlength=3) / np.sum(codes[:, u] >= 0)
        assert v[u] == pytest.approx(1 - share @ share)
        for t in np.flatnonzero(codes[:, u] >= 0):
            y[t, u] = np.eye(3)[codes[t, u]] - share
    sums, amounts = np.zeros((3, 40)), np.zeros((3, 40))
    for u in range(5):
        for x in range(u + 1, 5):
            kind = 2 - np.isin([u, x], group).sum()  # both inside, one, none
            for t in range(40):
                if codes[t, u] >= 0 and codes[t, x] >= 0:
                    sums[kind, t] += y[t, u] @ y[t, x]
                    amounts[kind, t] += 1
    a, b, d = sums.sum(axis=1) / amounts.sum(axis=1)
    T, (n_a, n_b, n_d) = a * d - b * abs(b), amounts.sum(axis=1)
    psi = d * (sums[0] - a * amounts[0]) / n_a + a * (sums[2] - d * amounts[2]) / n_d
    psi -= 2 * abs(b) * (sums[1] - b * amounts[1]) / n_b
    z, share = unexplained(Y, gave, [group])
    assert z[0] == pytest.approx(T / np.sqrt(psi @ psi)) and share[0] == pytest.approx(T / (a * d) if a * d > 0 else 0)


def test_dissent_is_worked_by_the_definition():
    """Of one pair: the sum of s over the sum of its variances, less the median of all pairs."""
    i, w, l, _ = independent(2, 30, 5, 3)
    labels = cf.CrowdLabels.from_arrays(i, w, l)
    method = cf.crowd.WorkerTypes().fit(labels)
    A, pi, codes = method.model_.stacked.reshape(5, 3, 3), method.model_.prior, labels.table.codes
    excess, total = {}, {}
    for u in range(5):
        for v in range(u + 1, 5):
            s = var = 0.0
            for t in range(30):
                logs = sum(np.log(A[x, codes[t, x]]) for x in range(5) if x not in (u, v))
                r = np.exp(logs / np.sqrt(1 + method.design_effect_ * 2)) * pi
                r /= r.sum()
                p_u, p_v, p_uv = A[u] @ r, A[v] @ r, (A[u] * A[v]) @ r
                mu = np.sqrt(p_u * p_v).sum()
                x, y = codes[t, u], codes[t, v]
                s += (np.sqrt(p_u[x] * p_v[x]) / p_uv[x] if x == y else 0.0) - mu
                var += (p_u * p_v / p_uv).sum() - mu**2
            excess[u, v], total[u, v] = s / var, var
    c = np.array(list(excess.values())) - max(np.median(list(excess.values())), 0)
    z = c * np.sqrt(np.array(list(total.values())))
    u, v, *found = dissent(labels, method.model_, method.design_effect_)
    assert list(zip(u.tolist(), v.tolist(), strict=True)) == list(excess)
    assert np.allclose(found[0], c) and np.allclose(found[1], z)


@pytest.mark.slow
def test_a_source_in_common_is_found_and_honest_crowds_are_not_warned():
    warned = [readings(crowd_of(over_callers(seed))).ambiguous for seed in range(6)]
    assert sum(warned) >= 4
    for seed in range(4):
        for drawn in (independent(seed, 200, 8, 2), independent(seed, 100, 13, 2, [0.99] * 3 + [0.7] * 10)):
            assert not readings(crowd_of(drawn)).warning()


# ---- what is said ----


def test_who_agrees_by_skill_alone_is_no_group_and_copies_are_one():
    for n, M, K, skill in ((30, 15, 2, 0.85), (20, 12, 3, 0.9), (60, 12, 2, 0.9)):
        crowds = (crowd_of(independent(seed, n, M, K, np.full(M, skill))) for seed in range(5))
        assert [alike_beyond_chance(crowd) for crowd in crowds] == [[]] * 5
    groups = alike_beyond_chance(crowd_of(with_copies(0, 200, 3, 0.7, 8, 0.8)))
    assert [group.tolist() for group in groups] == [[0, 1, 2]]


def test_the_warning_names_workers_consequence_and_command():
    i, w, l, truth = over_callers(0)
    labels = cf.CrowdLabels.from_arrays(i, w, l)
    found = readings(labels)
    assert found.names == ("vote", "model", "merged", "merged 2") and found.decisive == "merged"
    assert found.groups == {"merged": [0, 1, 2, 3, 4], "merged 2": [5, 6]}
    error = {name: cf.crowd.error_rate(found.posterior(name), truth) for name in found.names}
    assert error["merged"] < 0.03 < 0.1 < error["vote"] < error["model"]
    said = found.warning("labels.csv")
    assert said.startswith("96 of 500 labels (19%) depend on whether workers 0, 1, 2, 3, 4 share their mistakes")
    assert "tasks in place of" in said
    assert said.endswith("cofactor next labels.csv --checks 10, then pass them with --gold")


def test_readings_of_independent_workers_agree():
    model = cf.simulate.dawid_skene_model(8, 3, skill=0.7, random_state=0)
    found = readings(cf.simulate.crowd(model, 300, random_state=0).labels)
    assert found.share_depending == 0 and not found.warning() and found.decisive == ""


def test_from_five_per_cent_of_the_labels_on_a_person_is_to_check():
    for n_tasks, ambiguous in ((20, True), (21, False)):
        model = np.tile([1.0, 0.0], (n_tasks, 1))
        merged = np.where(np.arange(n_tasks)[:, None] == 0, [0.0, 1.0], model)  # one label depends on it
        names, differ = ("vote", "model", "merged"), np.arange(n_tasks) == 0
        found = Readings(list(range(n_tasks)), [0, 1], names, np.stack([model, model, merged]), {"merged": [0]}, differ)
        assert found.ambiguous == ambiguous and found.share_depending == 1 / n_tasks


def test_a_label_among_tied_classes_is_no_difference():
    labels = cf.CrowdLabels.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 1, 0, 0, 1, 1])
    assert not readings(labels).differ.any()


def test_a_group_that_the_user_names_is_always_compared():
    labels, _ = judges(0)
    group = {0: "family", 1: "family", 2: "family", 3: "other", 4: None, 5: np.nan, 6: None}
    found = readings(labels, group=group)
    assert found.names[:3] == ("vote", "model", "groups") and found.groups["groups"] == [0, 1, 2]
    together = cf.crowd.WorkerTypes(same_source=[[0, 1, 2]]).fit(labels)
    assert np.allclose(found.posterior("groups"), together.predict_proba(labels))
    with pytest.raises(cf.CofactorError, match="group names workers without labels: 'x'"):
        readings(labels, group={"x": "family"})


def test_checks_are_drawn_among_the_differing_tasks_and_go_on_with_doubtful_ones():
    labels, _ = judges(0)
    found = readings(labels)
    ten = found.checks(10)
    assert len(ten) == 10 and ten["differ"].all() and ten["task"].is_unique
    assert list(ten.columns) == ["task", *found.names, "differ"]
    assert ten.equals(readings(labels).checks(10))
    all_of_them = found.checks(labels.n_tasks)
    assert sorted(all_of_them["task"]) == list(range(N))
    assert all_of_them["differ"].sum() == found.differ.sum() == all_of_them["differ"][: found.differ.sum()].sum()


# ---- gold ----


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ten_checked_tasks_choose_the_reading(seed):
    labels, truth = judges(seed)
    told = cf.crowd.WorkerTypes().fit(labels)
    found = readings(labels, told)
    assert found.ambiguous
    ten = found.checks(10)["task"]
    known = {task: int(truth[task]) for task in ten}
    fitted, right = believed(labels, known)
    assert max(right.values()) >= right["model"] + 2 and max(right, key=right.get) not in ("vote", "model")
    assert fitted.predict(labels)[ten].tolist() == [known[task] for task in ten]
    rest = ~np.isin(np.arange(N), ten)
    before, after = (cf.crowd.error_rate(m.predict_proba(labels)[rest], truth[rest]) for m in (told, fitted))
    assert after < before - 0.1


def test_the_vote_is_taken_where_gold_tasks_say_so():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, N)
    said = np.array([np.where(rng.random(N) < skill, truth, 1 - truth) for skill in (0.97, *[0.65] * 5)])
    task, worker = np.meshgrid(np.arange(N), np.arange(6))
    labels = cf.CrowdLabels.from_arrays(task.ravel(), worker.ravel(), said.ravel())
    found = readings(labels)  # the others follow the one who knows; here somebody says that the vote is right
    vote, *others = found.posteriors.argmax(axis=2)
    against = np.flatnonzero((vote != others).all(axis=0) & found.differ)[:5]
    fitted, right = believed(labels, {task: int(vote[task]) for task in against})
    assert len(against) == 5 and right["vote"] == 5 and right["model"] == 0
    assert isinstance(fitted, cf.crowd.MajorityVote) and np.array_equal(fitted.predict(labels)[against], vote[against])
    assert np.ptp(fitted.weights_) == 0


def test_another_reading_needs_two_more_gold_tasks_than_the_model():
    i, w, l, truth = over_callers(0)
    labels = cf.CrowdLabels.from_arrays(i, w, l)
    found = readings(labels)
    merged, model = (found.posterior(name).argmax(axis=1) == truth for name in ("merged", "model"))
    better, both = np.flatnonzero(merged & ~model), np.flatnonzero(merged & model & ~found.differ)[:4]
    for more in (1, 2):
        fitted, right = believed(labels, {task: int(truth[task]) for task in (*both, *better[:more])})
        assert right["merged"] == right["model"] + more
        assert isinstance(fitted, cf.crowd.WorkerTypes) and bool(fitted.same_source) == (more == 2)


def test_those_who_are_believed_decide_where_they_labelled():
    labels, truth = judges(0)
    gold = np.where(np.arange(N) < 5, truth, -1)
    fitted = Believed([3, 4, 5, 6]).fit(labels, gold)
    others = cf.crowd.WorkerTypes(same_source=[[0, 1, 2]]).fit(labels, gold)
    assert np.allclose(fitted.predict_proba(labels), others.predict_proba(labels))
    part = labels.table.codes.copy()
    part[100:, 3:] = -1
    task, worker = np.nonzero(part >= 0)
    thin = cf.CrowdLabels.from_arrays(task, worker, part[task, worker])
    fitted, model = Believed([3, 4, 5, 6]).fit(thin), cf.crowd.WorkerTypes().fit(thin)
    assert np.allclose(fitted.predict_proba(thin)[100:], model.predict_proba(thin)[100:])
    assert not np.allclose(fitted.predict_proba(thin)[:100], model.predict_proba(thin)[:100], atol=0.1)


def test_fewer_than_five_gold_tasks_choose_nothing():
    labels, truth = judges(0)
    four = {task: int(truth[task]) for task in readings(labels).checks(4)["task"]}
    fitted, right = believed(labels, four)
    assert isinstance(fitted, cf.crowd.WorkerTypes) and not right and not fitted.copies_


def test_workers_who_are_said_to_be_one_are_merged():
    labels, _ = judges(0)
    fitted = cf.crowd.WorkerTypes(same_source=[[1, 2], [2, 0]]).fit(labels)
    assert fitted.copies_ == [[0, 1, 2]]
    with pytest.raises(cf.CofactorError, match="same_source names workers without labels: 'x'"):
        cf.crowd.WorkerTypes(same_source=[[1, "x"]]).fit(labels)
