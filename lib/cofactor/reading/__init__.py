"""Read files, data frames and exports of annotation tools as the data of the four problems.

Every rule is applied to the distinct values of a column; single rows are inspected only to name them in a message.
"""

from typing import TYPE_CHECKING

from cofactor.core.lazy import lazy_exports

if TYPE_CHECKING:
    from cofactor.reading.labels import read_labels
    from cofactor.reading.matrices import read_matrix
    from cofactor.reading.tables import read_frame
    from cofactor.reading.truth import read_truth
    from cofactor.reading.votes import read_votes

__all__ = ["read_frame", "read_labels", "read_matrix", "read_truth", "read_votes"]

if not TYPE_CHECKING:  # imported at first use: who reads votes needs no matrices
    __getattr__, __dir__ = lazy_exports(__name__)
