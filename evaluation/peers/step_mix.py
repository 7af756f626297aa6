"""StepMix, a library of latent-class models (extra `bench`)."""

from __future__ import annotations

import numpy as np

from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel, normalize_blocks
from cofactor.core.tables import CategoricalTable


def latent_classes(table: CategoricalTable, rank: int = 5, seed: int = 0) -> LatentClassModel:
    """Fit StepMix to the table including missing cells; values that do not occur get probability zero."""
    try:
        from stepmix.stepmix import StepMix
    except ImportError:
        raise CofactorError("stepmix is not installed: pip install 'cofactor[bench]'") from None
    codes, sizes = table.codes, table.sizes
    settings = {"measurement": "categorical_nan", "random_state": seed, "verbose": 0, "progress_bar": 0}
    found = StepMix(n_components=rank, **settings).fit(np.where(codes >= 0, codes, np.nan)).get_parameters()
    pis = np.reshape(found["measurement"]["pis"], (rank, len(sizes), -1))
    padded = np.zeros((rank, len(sizes), int(sizes.max())))
    padded[:, :, : pis.shape[2]] = pis[:, :, : padded.shape[2]]
    stacked = np.vstack([padded[:, n, :size].T for n, size in enumerate(sizes)])
    return LatentClassModel.from_stacked(found["weights"], normalize_blocks(stacked, sizes), sizes)
