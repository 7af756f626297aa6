"""Tables that come in parts, in the order of a column: sorted on disk where memory is short."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from cofactor.core.lazy import pd
from cofactor_app.scale.coding import BATCH, batches
from cofactor_app.scale.sharding import database


def rising(frames: Iterable[pd.DataFrame], column: str, work: Path, memory: str) -> Iterator[pd.DataFrame]:
    """Yield the rows of tables of one kind, the smallest of a column first; equal ones stay in their order.

    `work` is a folder for what does not fit into `memory`, such as "1GB"; it is made, and removed at the end.
    Raises a CofactorError where DuckDB is not installed. Cost: O(E log E) time for E rows.
    """
    import pyarrow as pa

    with database(work, memory) as base:
        for number, frame in enumerate(frames):
            base.register("part", pa.Table.from_pandas(frame, preserve_index=False))
            base.execute(f"{'INSERT INTO sorted' if number else 'CREATE TABLE sorted AS'} SELECT * FROM part")
            base.unregister("part")
        for batch in batches(base, f'SELECT * FROM sorted ORDER BY "{column}", rowid', BATCH):
            yield batch.to_pandas()
