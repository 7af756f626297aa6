"""What notebook 00 draws of its own: the overview of a crowd."""

import numpy as np

from cofactor import simulate
from cofactor.crowd import METHODS, error_rate, vote_shares
from cofactor_app.plots.style import percent
from course.crowds import mixed_crowd
from course.nb00 import draw_overview

CROWD = simulate.crowd(mixed_crowd(9, 3, seed=1), 300, 0.5, random_state=1)


def test_overview_tells_both_error_rates():
    method = METHODS["WorkerTypes"]().fit(CROWD.labels)
    fig = draw_overview(CROWD.labels, CROWD.truth, method, "WorkerTypes")
    before = error_rate(vote_shares(CROWD.labels), CROWD.truth)
    after = error_rate(method.predict(CROWD.labels), CROWD.truth)
    title = fig.get_suptitle().replace("\n", " ")
    assert f"{percent(before, 1)} wrong by majority vote, {percent(after, 1)} once" in title
    widths = sorted(bar.get_width() for bar in fig.axes[0].patches)
    assert np.allclose(widths, sorted([100 * before, 100 * after]))
    assert sum(len(ax.images) for ax in fig.axes) == 3
