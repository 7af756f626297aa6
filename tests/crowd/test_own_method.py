"""`check_method`: methods of this kit pass, and each mistake is told by its check."""

import numpy as np
import pytest

import cofactor as cf
from cofactor.protocol.checks import ALL
from cofactor.protocol.labels import CHECKS
from cofactor.registry import names


def vote(labels):
    return labels.votes / np.maximum(labels.votes.sum(axis=1, keepdims=True), 1)


class FirstWorkerIsRight:
    def fit(self, labels):
        codes = labels.table.codes
        self.found = np.where(codes[:, 0] >= 0, codes[:, 0], labels.votes.argmax(axis=1))
        return self

    def predict_proba(self, labels):
        return np.eye(labels.n_classes)[self.found]


class Remembers:
    """An object that counts its fits, and changes its answer."""

    def __init__(self):
        self.fits = [0]

    def __deepcopy__(self, memo):
        return self

    def fit(self, labels):
        self.fits[0] += 1
        return self

    def predict_proba(self, labels):
        return np.roll(vote(labels), self.fits[0], axis=1)


def by_name(labels):
    return (vote(labels) + np.array([str(task).startswith("t") for task in labels.tasks])[:, None] * [2, 0, 0]) / 3


def overwrites(labels):
    labels.classes.reverse()
    return vote(labels)


def needs_many(labels):
    return vote(labels) / (labels.n_tasks - 2)


def assumes_all_labelled(labels):
    return 1 / (1 / labels.votes.sum(axis=1, keepdims=True).astype(int)[:, :1].tolist()[0][0]) * vote(labels)


WRONG = {
    "order": FirstWorkerIsRight,
    "same again": Remembers,
    "ids": by_name,
    "input": overwrites,
    "two tasks": needs_many,
    "a task without labels": assumes_all_labelled,
    "classes": lambda labels: vote(labels) + np.array([0.5, 0, 0]),
}


# methods whose start or groups follow the order of workers; scales read the order of the classes
BY_ORDER = ("RobSymNMF", "RobSymNMF-EM", "RobSymNMF(w=1)", "TensorADMM", "Spectral-D&S", "Spectral-D&S(no EM)")
BY_CLASSES = ("KOS(ordinal)", "GhoshSVD(ordinal)", "EigenRatio(ordinal)")
FOR_TWO = ("KOS", "GhoshSVD", "EigenRatio")


@pytest.mark.filterwarnings("ignore")
def test_methods_of_this_kit_pass_but_for_what_is_known():
    moved = {"order": set(), "classes": set()}
    for name in names("crowd", takes="labels"):
        if name not in FOR_TWO:
            try:
                cf.check_method(name)
            except cf.CofactorError as error:
                for line in str(error).splitlines():
                    moved[line.split(": ")[0]].add(name)
    assert moved["classes"] <= set(BY_CLASSES) and moved["order"] <= set(BY_ORDER)
    assert "Spectral-D&S(no EM)" in moved["order"] and "KOS(ordinal)" in moved["classes"]


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.filterwarnings("ignore")
def test_a_mistake_is_told_by_its_check(name):
    with pytest.raises(cf.CofactorError, match=rf"(?m)^{name}: "):
        cf.check_method(WRONG[name])


def test_the_vote_passes_and_a_wrong_shape_ends_it():
    assert cf.check_method(vote) == ["shape", *CHECKS, *ALL]
    with pytest.raises(cf.CofactorError, match=r"^the method must answer with \(60, 3\) probabilities or 60 class"):
        cf.check_method(lambda labels: labels.votes[0])
