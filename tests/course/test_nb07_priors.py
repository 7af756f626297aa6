"""What notebook 07 computes and draws about priors: a thin crowd, beliefs, types of workers."""

import numpy as np

from cofactor.crowd import error_rate, vote_shares
from course.nb07 import priors


def title(fig):
    return fig.get_suptitle().replace("\n", " ").replace("\xa0", " ")


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


def test_the_picture_of_evidence_tells_gains():
    fig = priors.draw_evidence([2, 4], {"constant": [1.0, 2.5], "right": [-1.0, -3.0]})
    assert title(fig) == "Nats for saying nothing after 4 labels: constant +2.5, right -3.0"
    assert np.allclose(fig.axes[0].lines[2].get_ydata(), [-1, -3])
