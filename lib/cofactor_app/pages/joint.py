"""The page that `cofactor joint --report` writes: how well each column is predicted, and what depends on what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cofactor.core.lazy import pd
from cofactor.core.types import Floats
from cofactor.pmf.frames import CategoricalFrame
from cofactor.pmf.metrics import HeldOutCells, shared_information
from cofactor.verbs.joint import JointResult
from cofactor_app.pages.render import Picture, report
from cofactor_app.plots.joint import draw_dependence, draw_gains
from cofactor_app.plots.style import percent

MOST_ROWS = 20  # of a table
MOST_VALUES = 6  # of a class


def page(result: JointResult) -> str:
    """Return the page of a fitted joint distribution.

    Cost: O(N^2 I^2 F) for the dependence of all pairs, and about a second for the pictures.
    """
    data, found, method = result.data, result.held_out, result.method
    shares = shared_information(method.model_)
    columns = None if found is None else found.by_variable()
    return report(
        "joint",
        _pictures(data, shares, columns),
        source=result.source,
        method=result.name,
        facts=[*result.summary, *result.details, *(note for note in result.notes if note not in result.warnings)],
        warnings=result.warnings,
        cards=_cards(data, found),
        diagnosis=result.checks,
        columns=_columns(data, columns),
        pairs=_pairs(shares, data.names),
        doubtful=result.cells.sort_values("probability", kind="stable").head(MOST_ROWS).to_numpy().tolist(),
        measured=found is not None,
        profiles=_profiles(result),
    )


def _profiles(result: JointResult) -> list[dict[str, Any]]:
    """Rows of the latent classes: their share, and the values that set each apart from the others."""
    if result.model.n_classes == 1:
        return []
    table = result.classes.assign(lift=lambda t: t["probability"] - t["overall"])
    found = []
    for name, rows in table.groupby("class"):
        values = rows.nlargest(MOST_VALUES, "lift")[["column", "value", "probability", "overall"]]
        found.append({"name": name, "share": rows["share"].iloc[0], "values": values.to_numpy().tolist()})
    return found


def _pictures(data: CategoricalFrame, shares: Floats, columns: pd.DataFrame | None) -> Iterator[tuple[str, Picture]]:
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
        cards.append((percent(1 - found.right.mean(), 1), "of hidden cells predicted wrongly"))
        cards.append((percent(1 - found.base_right.mean(), 1), "by the most frequent value of each column"))
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
