"""CNMF and TensorADMM: the errors of the papers, many workers, and what happens where the start cannot be had."""

from functools import cache

import numpy as np
import pytest

import cofactor as cf
from cofactor import simulate
from cofactor.core.errors import DataWarning, NotIdentifiableError
from cofactor.core.latent_class import LatentClassModel
from cofactor.crowd import CNMF, METHODS, CrowdLabels, TensorADMM, error_rate
from tests.oracles.generators import recorded, skilled_crowd, triples

BUSIEST = 52  # of the Dog set, the paper keeps the workers who gave most labels

# At most this error in per cent. CNMF before EM and TensorADMM: the published one, or that of the released code run
# again; TensorADMM on Dog (published 18.01), RTE and TREC (N/A), and CNMF-EM: the kit's own.
LEVELS = {
    "bluebird": {"CNMF": 12.97, "CNMF-EM": 12.05, "TensorADMM": 12.05},
    "dog": {"CNMF": 17.5, "CNMF-EM": 16.24, "TensorADMM": 18.1},
    "rte": {"CNMF": 8.76, "CNMF-EM": 7.13, "TensorADMM": 8.76},
    "trec": {"CNMF": 31.8, "CNMF-EM": 29.9, "TensorADMM": 30.5},
}
SETS = ["bluebird", *(pytest.param(name, marks=pytest.mark.needs_mirror) for name in ("dog", "rte", "trec"))]


@cache
def data(name):
    found = cf.load(name)
    return (found.labels.busiest_workers(BUSIEST) if name == "dog" else found.labels), found.truth


def percent(method, name):
    labels, truth = data(name)
    return 100 * error_rate(recorded(method.fit, labels)[0].predict_proba(labels), truth)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("method", ["CNMF", "CNMF-EM", "TensorADMM"])
def test_errors_stay_at_their_level(method, name):
    assert percent(METHODS[method](pseudo_counts=(0, 0)), name) <= LEVELS[name][method]  # as in the paper


def random_model(seed, M=25, K=3):
    """Return the annotators of the released generator: uniform columns, one specialist, a uniform prior."""
    rng = np.random.default_rng(seed)
    A = rng.random((M, K, K))
    A /= A.sum(axis=1, keepdims=True)
    A[rng.integers(M)] = 0.88 * np.eye(K) + 0.04
    return LatentClassModel(np.ones(K) / K, list(A))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "level"),
    [(CNMF(), 0.0036), (CNMF(weights="equal"), 0.0036), (TensorADMM(), 0.0041)],
    ids=["CNMF", "all pairs alike", "TensorADMM"],
)
def test_recovers_confusion_matrices_as_published(method, level):
    model = random_model(0)
    labels = simulate.crowd(model, 5000, 0.3, random_state=1).labels
    assert model.mse(recorded(method.fit, labels)[0].model_) <= level


@pytest.mark.parametrize("method", [CNMF(max_iter=2000), TensorADMM()], ids=["CNMF", "TensorADMM"])
def test_starts_from_votes_and_says_so_where_multispa_cannot(method):
    """A class that nobody uses leaves no co-occurrence with full rank."""
    task, worker, label = triples(skilled_crowd(0, n_classes=2).labels)
    labels = CrowdLabels.from_arrays(task, worker, label, n_classes=3, n_tasks=400, unlabelled="keep")
    with pytest.warns(DataWarning, match="started at the majority vote instead of MultiSPA"):
        method.fit(labels)
    assert np.isfinite(method.predict_proba(labels)).all()


def test_refuses_labels_that_share_no_task():
    alone = CrowdLabels.from_arrays([0, 1, 2, 3], [0, 1, 0, 1], [0, 1, 1, 0])
    with pytest.raises(NotIdentifiableError, match="no two variables were observed together"):
        recorded(CNMF().fit, alone)
    pair = CrowdLabels.from_arrays([0, 0, 1, 1, 2, 2], [0, 1] * 3, [0, 0, 1, 1, 0, 1])
    with pytest.raises(NotIdentifiableError, match="no three variables were observed together"):
        recorded(TensorADMM().fit, pair)
