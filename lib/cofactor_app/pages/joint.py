"""The page that `cofactor joint --report` writes: how well each column is predicted, and what depends on what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from cofactor.core.diagnosis import Diagnosis
from cofactor.core.lazy import pd
from cofactor.core.types import Floats
from cofactor.pmf.base import JointPMFEstimator
from cofactor.pmf.frames import CategoricalFrame
from cofactor_app.joint.filling import Filling
from cofactor_app.joint.holdout import HeldOutCells, shared_information
from cofactor_app.pages.render import report
from cofactor_app.plots.joint import draw_dependence, draw_gains
from cofactor_app.plots.style import percent

MOST_ROWS = 20  # of a table


def joint_page(
    source: str,
    name: str,
    data: CategoricalFrame,
    method: JointPMFEstimator,
    facts: Sequence[str],
    diagnosis: Diagnosis,
    found: HeldOutCells | None = None,
    classes: pd.DataFrame | None = None,
    target: str = "",
    cells: Filling | None = None,
) -> str:
    """Return the page for a fitted method.

    `source` says where the table of `data` comes from, `facts` is what was printed. Without `found` the page does not
    say how good the model is. `classes` is what `cross_validated` found for the column `target`, `cells` are the gaps
    that were filled.

    Cost: O(N^2 I^2 F) for the dependence of all pairs, and about a second for the pictures.
    """
    shares = shared_information(method.model_)
    columns = None if found is None else found.by_variable()
    return report(
        "joint",
        _pictures(data, shares, columns),
        source=source,
        method=name,
        facts=facts,
        cards=_cards(data, found),
        diagnosis=diagnosis,
        columns=_columns(data, columns),
        pairs=_pairs(shares, data.names),
        doubtful=_doubtful(data, cells) if cells else [],
        measured=found is not None,
        classes=[] if classes is None else classes.to_dict("records"),
        target=target,
    )


def _pictures(data: CategoricalFrame, shares: Floats, columns: pd.DataFrame | None) -> Iterator[tuple[str, Figure]]:
    if columns is not None:
        yield "gains", draw_gains(columns, data.names)
    if len(shares) > 1:
        yield "dependence", draw_dependence(shares, data.names)


def _cards(data: CategoricalFrame, found: HeldOutCells | None) -> list[tuple[str, str]]:
    """Numbers to open with, each with its words."""
    table = data.table
    n_gaps = table.n_rows * table.n_variables - table.n_entries
    cards = [(f"{table.n_rows:,}", "rows"), (f"{table.n_variables:,}", "columns used"), (f"{n_gaps:,}", "gaps")]
    if found is not None:
        cards.append((percent(1 - found.mean(found.right), 1), "of hidden cells predicted wrongly"))
        cards.append((percent(1 - found.mean(found.base_right), 1), "by the most frequent value of each column"))
    return cards


def _columns(data: CategoricalFrame, columns: pd.DataFrame | None) -> list[dict[str, Any]]:
    """Rows of the columns, those that the others tell most about first."""
    if columns is None:
        return []
    order = (columns["loss"] - columns["base_loss"]).sort_values(kind="stable").index[:MOST_ROWS]
    missing = data.table.n_rows - data.table.entries_per_variable
    return [
        {
            "name": data.names[n],
            "n_values": int(data.table.sizes[n]),
            "gaps": int(missing[n]),
            **columns.loc[n].to_dict(),
        }
        for n in order
    ]


def _pairs(shares: Floats, names: Sequence[str]) -> list[tuple[str, str, float]]:
    m, n = np.triu_indices(len(shares), 1)
    order = np.argsort(-shares[m, n], kind="stable")[:MOST_ROWS]
    return [(names[m[k]], names[n[k]], float(shares[m[k], n[k]])) for k in order]


def _doubtful(data: CategoricalFrame, cells: Filling) -> list[dict[str, Any]]:
    """Filled cells to look at: lowest probability first."""
    return [
        {"row": data.frame.index[cells.row[e]], "column": data.names[cells.variable[e]],
         "value": cells.value[e], "probability": float(cells.probability[e])}
        for e in np.argsort(cells.probability, kind="stable")[:MOST_ROWS]
    ]  # fmt: skip
