"""What notebook 07 computes and draws about priors: a thin crowd, beliefs, types of workers."""

import numpy as np

from cofactor.crowd import error_rate, vote_shares
from course.nb07 import priors


def test_a_thin_crowd_has_fewer_labels_a_worker_than_cells_and_repeats_itself():
    crowd = priors.thin_crowd(3)
    labels = crowd.labels
    assert (labels.n_tasks, labels.n_classes) == (700, 10) and labels.table.entries_per_row.max() <= 4
    assert np.median(labels.table.entries_per_variable) < 30
    assert error_rate(vote_shares(labels), crowd.truth) < 0.3
    assert np.array_equal(labels.table.values, priors.thin_crowd(3).labels.table.values)
    errors = np.stack([A / (1 - np.diag(A)) for A in crowd.model.conditionals])  # given that a label is wrong
    off = ~np.eye(10, dtype=bool)
    assert np.allclose(errors[:, off], errors[0, off])
