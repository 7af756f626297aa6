"""The experiments on joint PMFs: what is declared, the metrics as released, Figure 1, the quick profile."""

import numpy as np
import pytest

from cofactor import LatentClassModel
from cofactor.pmf import METHODS, mre, mse
from cofactor.simulate import joint_model
from evaluation import EXPERIMENTS
from evaluation.experiment import Measurement, Task, tasks_of
from evaluation.plots import draw
from evaluation.pmf import ratings, real, synthetic
from evaluation.pmf.figure import KINDS
from evaluation.pmf.methods import (
    PUBLISHED_SCORES,
    Design,
    draw_case,
    excess_loss,
    independence,
    published_mre,
    published_mse,
)
from evaluation.runner import Outcome
from evaluation.summary import summarise

TABLES = [f"pmf-table{number}" for number in range(1, 7)]


def a_pair(rank=3, seed=0):
    """A truth with unequal prior, and an estimate near it whose classes have other names."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(rank, 5.0))
    A = [rng.dirichlet(np.ones(4), rank).T for _ in range(3)]
    near = [0.9 * a + 0.1 * rng.dirichlet(np.ones(4), rank).T for a in A]
    order = np.roll(np.arange(rank), 1)  # not its own inverse
    return LatentClassModel(prior, A), LatentClassModel(prior[order], [a[:, order] for a in near]), near


def tensor(prior, A):
    return np.einsum("f,if,jf,kf->ijk", prior, *A)


# ---- metrics as released ----


def test_the_released_errors_by_hand():
    truth, estimate, near = a_pair()
    wrong = [truth.conditionals[0] * truth.prior, *truth.conditionals[1:]]
    prior = np.roll(truth.prior, 2)  # permuted by P P instead of by P'P
    squares = sum(np.sum((a - b) ** 2) for a, b in zip(wrong, near, strict=True))
    assert published_mse(truth, estimate) == pytest.approx(np.sum((prior - truth.prior) ** 2) + squares / 9)
    T, found = tensor(truth.prior, truth.conditionals), tensor(prior, near)
    assert published_mre(truth, estimate) == pytest.approx(np.linalg.norm(T - found) / np.linalg.norm(found))


def test_a_perfect_estimate_has_the_released_bias():
    truth = joint_model(5, 10, 5, separability=0.1, random_state=0)
    A = truth.conditionals[0]
    assert published_mse(truth, truth) == pytest.approx((1 - 1 / 5) ** 2 * np.sum(A**2) / 25)
    assert published_mse(truth, truth) == pytest.approx(0.0204, abs=0.004)
    assert mse(truth, truth) == 0


def test_large_estimates_are_flattered():
    truth, estimate, _ = a_pair()
    sharp = LatentClassModel(estimate.prior, [a**4 / (a**4).sum(axis=0) for a in estimate.conditionals])
    assert published_mre(truth, sharp.align_to(truth)) < mre(truth, sharp)


@pytest.mark.parametrize(("label", "distance"), [(0.1, 0.0056), (0.2, 0.146), (0.3, 0.258)])
def test_epsilon_is_a_label_and_not_the_distance_from_unit_vectors(label, distance):
    A = joint_model(5, 10, 5, separability=label, random_state=0).conditionals
    rows = max((a[:5] / a[:5].sum(axis=1, keepdims=True) for a in A[3:]), key=lambda r: np.diag(r).min())
    assert np.linalg.norm(rows - np.eye(5), axis=1) == pytest.approx(np.full(5, distance), abs=0.001)


def test_names_of_classes_do_not_matter():
    """The prior alone is permuted wrongly, so that a uniform one is needed."""
    truth = joint_model(4, 5, 3, random_state=1)
    estimate = joint_model(4, 5, 3, random_state=2)
    for score in PUBLISHED_SCORES.values():
        assert score(truth, estimate.reorder([2, 0, 1])) == pytest.approx(score(truth, estimate))


# ---- what is declared ----


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_declared_with_a_printed_metric_and_a_quick_trial(name):
    experiment = EXPERIMENTS[name]
    setting = next(iter(experiment.settings))
    assert experiment.line == "pmf"
    printed = {experiment.printed_as.get(metric, metric) for metric in experiment.metrics}
    assert printed & {"mse", "seconds"}
    assert Task(name, setting, 0) in tasks_of(experiment, experiment.quick)


@pytest.mark.parametrize("name", TABLES[:5])
def test_the_quick_profile_leaves_out_a_million_rows(name):
    experiment = EXPERIMENTS[name]
    quick = {task.setting for task in tasks_of(experiment, experiment.quick)}
    full = {task.setting for task in tasks_of(experiment, experiment.trials, full=True)}
    assert full == set(experiment.settings) and full - quick == set(experiment.full_only)
    assert ("S=1e6" in full) == ("S=1e6" in experiment.full_only)


def test_printed_numbers_stand_beside_the_metric_they_were_computed_with():
    scores = {"mse (published)": 0.0270, "mre (published)": 0.3, "mse": 0.005, "mre": 0.33, "excess loss": 0.1}
    found = tuple(Measurement("CNMF-SPA", metric, value) for metric, value in scores.items())
    table = summarise(EXPERIMENTS["pmf-table1"], [Outcome(Task("pmf-table1", "S=1e4", 0), "", 1.0, found)])
    row = table[(table["setting"] == "S=1e4") & (table["method"] == "CNMF-SPA")].set_index("metric")
    assert row.loc["mse (published)", ["published", "verdict"]].tolist() == [0.0270, "cannot tell"]
    assert row.loc["mre (published)", "published"] == 0.3321
    assert row.loc[["mse", "mre", "excess loss"], "published"].isna().all()


def test_baselines_need_no_more_than_marginals():
    case = draw_case(Design(5, 4, 500, 0.5, 0.1), np.random.default_rng(0))
    model = independence(case)
    assert mre(METHODS["Independence"](pseudo_count=0).fit(case.table).model_, model) == pytest.approx(0, abs=1e-6)
    assert mse(case.truth, model) > 0
    assert excess_loss(case, model) > 0.1 and excess_loss(case, case.truth) == 0


# ---- Figure 1 ----


@pytest.fixture(scope="module")
def drawings():
    experiment = EXPERIMENTS["pmf-figure1"]
    return [
        Outcome(task, "", 0.0, tuple(experiment.run(task.setting, task.trial, np.random.default_rng(task.seed))))
        for task in tasks_of(experiment, 5)
    ]


def test_the_certificate_tells_the_kinds_apart(drawings):
    rows = summarise(EXPERIMENTS["pmf-figure1"], drawings)
    found = rows.pivot_table(index="metric", columns="setting", values="ours")
    assert found.loc["unique"].to_dict() == {"separable": 1, "scattered": 1, "neither": 0}
    assert found.loc["distance", "separable"] == 0 < found.loc["distance", "scattered"]
    assert found.loc["1/r", ["separable", "scattered"]].tolist() == pytest.approx([1, 1])
    assert found.loc["1/r", "neither"] < 0.99


def test_rows_lie_on_the_simplex():
    for kind in KINDS.values():
        H = kind(np.random.default_rng(0))
        assert H.shape == (20, 3) and (H >= 0).all() and H.sum(axis=1) == pytest.approx(np.ones(20))


def test_the_picture_shows_rows_and_verdicts(drawings):
    experiment = EXPERIMENTS["pmf-figure1"]
    panels = draw(experiment, drawings, summarise(experiment, drawings)).axes
    titles = [axes.get_title() for axes in panels]
    assert titles[0].startswith("separable\nunique") and "not shown to be unique" in titles[2]
    assert all({text.get_text() for text in axes.texts} == {"$e_1$", "$e_2$", "$e_3$"} for axes in panels)


LATE = {  # trials without the slow methods: the first ones, which are those of the quick profile
    **dict.fromkeys([f"pmf-table{table}" for table in range(1, 7)], synthetic.QUICK),
    "pmf-table8": real.QUICK["votes"],
    "pmf-table11": real.QUICK["mushroom"],
    **dict.fromkeys([f"pmf-table{table}" for table in (12, 13, 14)], ratings.QUICK),
}


@pytest.mark.parametrize("name", LATE)
def test_the_protocol_says_how_many_trials_slow_methods_have(name):
    experiment = EXPERIMENTS[name]
    assert f"{experiment.trials - LATE[name]} of {experiment.trials}" in experiment.protocol
    assert f"first {['trial', 'two trials', 'three trials'][LATE[name] - 1]}" in experiment.protocol


def test_the_slowest_method_is_timed_once_where_there_are_many_variables(monkeypatch):
    for name, methods in {"TIMED": {"many": {"fast": str}}, "MIRROR": {"mirror": str}, "AD": {"slow": str}}.items():
        monkeypatch.setattr(synthetic, name, methods)
    given = {"many": {"n_variables": 3, "rank": 2, "n_rows": 50, "observed": 1.0, "alphabet": 3}}
    told = [[row.method for row in synthetic.timing(given, "many", t, np.random.default_rng(t))] for t in range(4)]
    assert told == [["fast"], ["fast"], ["fast", "mirror", "slow"], ["fast", "mirror"]]
