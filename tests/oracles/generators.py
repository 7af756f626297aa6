"""Small random problems, and the settings of every law."""

import warnings

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from cofactor import simulate
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.crowd.labels import CrowdLabels

laws = settings(deadline=None, max_examples=20, derandomize=True)
seeds = st.integers(0, 10_000)
SIZES = (2, 3, 4)


def random_codes(seed, n_rows=20, sizes=SIZES, missing=0.4):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, sizes, size=(n_rows, len(sizes)))
    codes[rng.random(codes.shape) < missing] = -1
    return codes


def random_table(seed, n_rows=20, sizes=SIZES, missing=0.4):
    return CategoricalTable(random_codes(seed, n_rows, sizes, missing), sizes)


def random_model(seed, n_classes=3, sizes=SIZES):
    rng = np.random.default_rng(seed)
    columns = np.ones(n_classes)
    return LatentClassModel(rng.dirichlet(columns), [rng.dirichlet(np.ones(size), n_classes).T for size in sizes])


def skilled_crowd(seed=0, n_workers=12, n_classes=3, n_tasks=400, label_rate=0.5, skill=0.6):
    """Return a crowd clearly better than chance, every worker and all pairs of workers with many labels."""
    prior = np.full(n_classes, 1 / n_classes) + np.linspace(-0.05, 0.05, n_classes)
    model = simulate.dawid_skene_model(n_workers, n_classes, skill=skill, prior=prior, random_state=seed)
    return simulate.crowd(model, n_tasks, label_rate, random_state=seed)


def triples(labels):
    return labels.table.rows, labels.table.variables, labels.table.values


def relabel(labels, tasks=None, workers=None, classes=None):
    """Give every code a new name: old code c becomes tasks[c], workers[c], classes[c]."""
    sizes = (labels.n_tasks, labels.n_workers, labels.n_classes)
    new = [
        np.arange(size) if order is None else order
        for size, order in zip(sizes, (tasks, workers, classes), strict=True)
    ]
    task, worker, label = (order[code] for order, code in zip(new, triples(labels), strict=True))
    return CrowdLabels.from_arrays(task, worker, label, sizes[2], sizes[0], sizes[1], unlabelled="keep")


def permutations_of(labels, seed):
    rng = np.random.default_rng(seed)
    return [rng.permutation(size) for size in (labels.n_tasks, labels.n_workers, labels.n_classes)]


def recorded(function, *arguments, **named):
    """Return what the function returns, and the warnings it gave."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        return function(*arguments, **named), given
