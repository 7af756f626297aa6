"""How far workers agree beyond chance: Krippendorff's alpha of labels without order."""

from __future__ import annotations

import numpy as np

from cofactor.core.checks import check_kind
from cofactor.core.errors import CofactorError
from cofactor.crowd.labels import CrowdLabels


def krippendorff_alpha(labels: CrowdLabels) -> float:
    r"""Return Krippendorff's alpha for nominal labels: 1 if workers always agree, 0 if as often as by chance.

    Of all pairs of labels on one task, those of a task with n labels weighted by 1 / (n - 1), the observed
    disagreement D_o is the share of pairs that differ; the expected one, D_e, that of pairs drawn from all labels:
    alpha = 1 - D_o / D_e. Tasks with one label hold no pair and are left out.

    Parameters
    ----------
    labels : CrowdLabels

    Returns
    -------
    float, at most 1; below 0 if workers disagree more than by chance. NaN if no two labels on tasks with several
    differ, where chance would agree as well.

    Raises
    ------
    CofactorError
        No task has two labels.

    Cost
    ----
    O(N K) for N tasks and K classes.

    Source
    ------
    K. Krippendorff, Content Analysis, 2nd edition, 2004, chapter 11. With several workers who all know the classes,
    alpha says how clear the tasks are, not whether the majority is right: errors that workers share count as agreement.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 0, 1])
    >>> round(krippendorff_alpha(labels), 3)
    0.444
    """
    check_kind(CrowdLabels, labels=labels)
    votes = labels.votes.astype(np.float64)
    votes = votes[votes.sum(axis=1) > 1]
    if not len(votes):
        raise CofactorError("agreement needs tasks with two labels or more: there is none")
    given, total = votes.sum(axis=1), votes.sum()
    agreeing = np.sum((votes * (votes - 1)).sum(axis=1) / (given - 1))
    expected = total**2 - np.sum(votes.sum(axis=0) ** 2)
    return float(1 - (total - 1) * (total - agreeing) / expected) if expected > 0 else float("nan")
