"""The picture of the README is what the kit draws today."""

import io

import matplotlib.image
import numpy as np

from tools.draw_overview import PICTURE, picture


def test_picture_is_current():
    drawn = matplotlib.image.imread(io.BytesIO(picture()))
    stored = matplotlib.image.imread(PICTURE)
    assert drawn.shape == stored.shape
    assert np.abs(drawn - stored).mean() < 1e-3, "python tools/draw_overview.py"
