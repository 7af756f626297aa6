from dataclasses import dataclass

import numpy as np
import pytest

from cofactor import CofactorError, CrowdLabels
from cofactor.core.result import Result
from cofactor.crowd.base import Floats, TaskScorer
from cofactor.crowd.labels import vote_shares


@dataclass(eq=False, repr=False)
class Shares(TaskScorer):
    """Score tasks by their vote shares."""

    em: bool = False

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        return vote_shares(labels), Result(np.zeros(0), 0, True, "closed form")


LABELS = CrowdLabels.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 1, 0])
OTHER = CrowdLabels.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 0, 0])


def test_scores_are_kept_for_the_tasks_fitted_on():
    method = Shares().fit(LABELS)
    np.testing.assert_array_equal(method.predict_proba(LABELS), vote_shares(LABELS))
    np.testing.assert_allclose(method.model_.prior, [0.5, 0.5])
    np.testing.assert_allclose(method.model_.conditionals[0], [[2 / 3, 0], [1 / 3, 1]])


def test_other_labels_are_refused_unless_em_made_a_model_of_them():
    with pytest.raises(CofactorError, match="only the labels it was fitted on"):
        Shares().fit(LABELS).predict_proba(OTHER)
    refined = Shares(em=True).fit(LABELS)
    np.testing.assert_allclose(refined.predict_proba(OTHER), refined.model_.posterior(OTHER.table))


def test_labels_of_a_part_of_the_tasks_are_refused():
    with pytest.raises(CofactorError, match="only the labels it was fitted on"):
        Shares().fit(LABELS).predict_proba(LABELS.take_tasks([0, 1]))
