"""Type aliases used by all packages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.intp]
Seed = int | np.random.Generator | None
