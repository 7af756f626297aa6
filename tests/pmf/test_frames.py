"""Tables of categories and cut numbers: drawn codes become values again."""

import numpy as np
import pandas as pd

from cofactor.pmf.frames import CategoricalFrame


def test_numbers_drawn_are_all_those_of_their_interval():
    age = np.tile(np.arange(50), 8)
    frame = pd.DataFrame({"age": age.astype(str), "hat": ["red", "blue"] * 200})
    data = CategoricalFrame.from_frame(frame, None, 4)
    drawn = data.drawn(data.table, np.random.default_rng(0))
    found = drawn["age"].astype(int).to_numpy()
    assert (drawn["hat"] == frame["hat"]).all()
    assert set(found) == set(range(50)) and np.corrcoef(found, age)[0, 1] > 0.9
