"""Files as people and tools write them: votes, orders, true classes, matrices and images."""

from typing import TYPE_CHECKING

from cofactor.core.lazy import lazy_exports

if TYPE_CHECKING:
    from cofactor_app.reading.matrices import read_matrix
    from cofactor_app.reading.orders import read_orders
    from cofactor_app.reading.truth import read_truth
    from cofactor_app.reading.votes import read_votes

__all__ = ["read_matrix", "read_orders", "read_truth", "read_votes"]

if not TYPE_CHECKING:  # imported at first use: who reads votes needs no images
    __getattr__, __dir__ = lazy_exports(__name__)
