"""``cofactor anchors``: columns that others are mixtures of, and the weights of the mixtures."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import cofactor as cf
from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import save_arrays, whole_file
from cofactor.core.lazy import pd
from cofactor.core.memory import available_bytes, require_bytes
from cofactor.core.types import Floats, Indices
from cofactor.crowd.outside import is_outside
from cofactor.reading.matrices import read_matrix
from cofactor.separable.methods import AnchorMethod
from cofactor.separable.selection import CLEAR_MARGIN, MOST_ANCHORS, suggest_n_anchors
from cofactor_app.cli import tell, warned
from cofactor_app.cli.output import Writer, outputs, write_page
from cofactor_app.cli.parts import noted

Image = tuple[int, int] | None  # rows and columns, where points are its pixels

COPIES = 3  # of the dense matrix, which the checks hold beside each other
DOUBLE = 8  # bytes
POSITIVE = 0.5  # least share of the sum of absolute values that a sum has to be, to divide by it


def anchors(arguments: argparse.Namespace) -> None:
    """Find anchors among columns; print what they explain, and write what was asked for."""
    with outputs_of(arguments, arguments.matrix) as writer:
        X, names, rows, image = _points(arguments)
        what = f"{X.shape[0]} rows, {X.shape[1]} columns to choose from"
        if image:
            what = f"an image of {image[0]} x {image[1]} pixels in {X.shape[0]} bands: every pixel is a column"
        lines = [f"{arguments.matrix}: {what}"]
        lines.append(_memory_said(arguments, *X.shape))
        X = _dense(X, names, arguments.scale)
        kept, alone = _without_lone(X, names, arguments.anchors)
        kept, dark = _without_dark(X, kept, image)
        used = X[:, kept]
        diagnosis = cf.separable.diagnose(used, arguments.anchors)
        warnings = alone + dark + warned(diagnosis)
        K, said = _number(used, arguments.anchors)
        method = _finder(arguments.method)(K, random_state=0, verbose=True).fit(used)
        H = method.transform(X)
        H[:, [] if image is None else ~X.any(axis=0)] = np.nan
        table = _anchor_table(method, H, names, kept, image)
        left = float(np.linalg.norm(used - method.W_ @ H[:, kept]) / np.linalg.norm(used))
        lines += [said, f"{arguments.method}: {method.result_.reason}", *_anchor_lines(table, left)]
        warnings += _leads_itself_said(table) if method.anchors_.size else []
        tell(lines, warnings)
        if arguments.output:
            written = table if method.anchors_.size else table.join(pd.DataFrame(method.W_.T, columns=rows))
            writer.write(arguments.output, [written], f"{K} anchors")
        write_weights(arguments.weights, writer, H.T, names, table["name"].tolist(), (rows, method.W_, image))
        if arguments.report:
            from cofactor_app.pages.separable import anchors_page  # pictures take a second to import

            made = arguments.matrix, arguments.method, used, table, left, lines, diagnosis
            write_page(arguments.report, anchors_page(*made, H.reshape(len(H), *image) if image else None))


def outputs_of(arguments: argparse.Namespace, *inputs: str | Path | None) -> AbstractContextManager[Writer]:
    """Hold the files to write; weights that go to an .npz are no table."""
    table, arrays = arguments.weights, None
    if table and table.suffix == ".npz":
        table, arrays = arrays, table
    return outputs(arguments, [arguments.output, table], inputs, [arrays, arguments.report])


def _points(arguments: argparse.Namespace) -> tuple[Any, list[str], list[str], Image]:
    """Return the matrix, one point per column, the names of its columns and rows, and of an image its size."""
    with noted(arguments.strict):
        matrix, rows, columns = read_matrix(arguments.matrix, arguments.encoding, arguments.sep)
    image: Image = None
    if matrix.ndim == 3:
        if arguments.rows:
            raise CofactorError(f"{arguments.matrix} is an image: its pixels are the points, so leave --rows out")
        height, width, bands = matrix.shape
        image, matrix, rows = (height, width), matrix.reshape(-1, bands).T, columns
        columns = [f"{i},{j}" for i in range(height) for j in range(width)]
    elif arguments.rows:
        matrix, rows, columns = matrix.T, columns, rows
    M, N = matrix.shape
    return matrix, columns or [str(n) for n in range(N)], rows or [f"row {m}" for m in range(M)], image


def _memory_said(arguments: argparse.Namespace, M: int, N: int) -> str:
    """Refuse what would not fit, before anything is made dense; say what is needed."""
    if arguments.anchors is not None and not 1 <= arguments.anchors <= N:
        raise CofactorError(f"--anchors {arguments.anchors}: there are {N} columns, so ask for 1 to that many")
    K = arguments.anchors or min(MOST_ANCHORS, M, N)
    own = is_outside(arguments.method)
    known = 0 if own else cf.separable.predicted_bytes(arguments.method, M, N, K)
    needed = known + DOUBLE * N * (COPIES * M + 2 * K)
    require_bytes(needed, f"{arguments.method} on {N} columns", "use --method SPA, or fewer columns")
    beside = ", beside what the method itself takes" if own else ""
    return f"memory: {needed / 1e9:.2g} GB predicted{beside}, {available_bytes() / 1e9:.2g} GB free"


def _finder(name: str) -> Callable[..., AnchorMethod]:
    """Return the method of this name, or the one that is where the name says."""
    if not is_outside(name):
        return cf.separable.METHODS[name]
    from cofactor_app.cli.own import OwnAnchors  # brings the bench with it

    return partial(OwnAnchors, name=name)


def _dense(X: Any, names: list[str], scale: bool) -> Floats:
    """Return the matrix dense, scaled if asked for; refuse one column over and over."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    X = _scaled(X, names) if scale else X
    if X.shape[1] > 1 and X.any() and (X[:, :1] == X).all():
        raise CofactorError(f"all {X.shape[1]} columns are equal: there are no anchors to choose between")
    return np.asarray(X)


def _scaled(X: Floats, names: list[str]) -> Floats:
    """Divide every column by its sum; a few negative entries, as noise leaves in dark bands, do not hinder that."""
    sums = X.sum(axis=0)
    odd = np.flatnonzero(sums < POSITIVE * np.abs(X).sum(axis=0)).tolist()
    if odd:
        named = listing(names[n] for n in odd)
        raise CofactorError(f"--scale: negative entries outweigh in columns {named}: subtract an offset, or drop them")
    return X / np.where(sums > 0, sums, 1.0)


def _without_lone(X: Floats, names: list[str], asked: int | None) -> tuple[Indices, list[str]]:
    """Return the columns to choose anchors among, and a warning that names the others."""
    every = np.arange(X.shape[1])
    if not (np.isfinite(X).all() and X.any()):
        return every, []  # the checks say it
    lone = cf.separable.lone_columns(X, asked)
    if not lone.size:
        return every, []
    named = listing(names[n] for n in lone)
    said = f"left out, each an anchor of itself alone (an outlier, a glint, a hot entry; look at them): {named}"
    return np.delete(every, lone), [said]


def _without_dark(X: Floats, kept: Indices, image: Image) -> tuple[Indices, list[str]]:
    """Return the columns left when pixels of an image without any light are, and a warning that counts these."""
    lit = X[:, kept].any(axis=0)
    if image is None or lit.all() or not lit.any():
        return kept, []
    return kept[lit], [f"{np.sum(~lit)} pixels are zero in all bands: left out, and without weights"]


def _leads_itself_said(table: pd.DataFrame) -> list[str]:
    alone = table.loc[table["leads"] <= 1, "name"].tolist() if len(table) > 1 else []
    return [f"these anchors lead no column but themselves, so they may be outliers: {listing(alone)}"] if alone else []


def _number(X: Floats, asked: int | None) -> tuple[int, str]:
    if asked is not None:
        return asked, f"{asked} anchors, as asked for"
    K, margin = suggest_n_anchors(X)
    doubt = "" if margin >= CLEAR_MARGIN else f"; below {CLEAR_MARGIN} it is often wrong: compare several --anchors"
    return K, f"{K} anchors: there the residual drops most, by a margin of {margin:.2f}{doubt}"


def _anchor_table(method: AnchorMethod, H: Floats, names: list[str], kept: Indices, image: Image) -> pd.DataFrame:
    """Return a row per anchor: its name, column and score, mean weight, and how many columns it leads.

    A corner that is no column has no score, and the column with the largest weight on it.
    """
    H = H[:, kept]
    leads = np.bincount(H.argmax(axis=0), minlength=len(H))
    corners = not method.anchors_.size
    found = kept[H.argmax(axis=1) if corners else method.anchors_]
    called = [f"corner {k}" for k in range(1, len(H) + 1)] if corners else [names[n] for n in found]
    score = {} if corners else {"score": method.scores_[method.anchors_].round(6)}
    columns = {"name": called, **_places(found, image), **score}
    return pd.DataFrame({**columns, "mean_weight": H.mean(axis=1).round(6), "leads": leads})


def _places(columns: Indices, image: Image) -> dict[str, Any]:
    """Say where columns are: in the matrix, or of pixels in the image."""
    return dict(zip(("row", "column"), divmod(columns, image[1]), strict=True)) if image else {"column": columns}


def _anchor_lines(table: pd.DataFrame, left: float) -> list[str]:
    shown = (f"{row.name} ({row.leads})" for row in table.itertuples(index=False))
    return [
        f"anchors, and how many columns each has the largest weight in: {listing(shown)}",
        f"mixtures of them leave {left:.1%} of the norm of the matrix",
    ]


def write_weights(
    path: Path | None,
    writer: Writer,
    weights: Floats,
    names: list[str],
    columns: list[str],
    points: tuple[list[str], Floats, Image] | None = None,
) -> None:
    """Write weights, one row per document or point, as a table or as arrays.

    Arrays of points have also the anchors, rows x anchors, the names of rows and, of an image, anchors x its size.
    """
    if path is None:
        return
    rows, anchors, image = points or ([], None, None)
    if path.suffix == ".npz":
        more: dict[str, Any] = {"anchors": anchors, "rows": np.array(rows)} if points else {}
        more |= {"maps": weights.T.reshape(-1, *image)} if image else {}
        with whole_file(path) as part:
            save_arrays(part, weights=weights, names=np.array(names), columns=np.array(columns), **more)
        print(f"wrote {path}: {weights.shape[0]} rows of weights")
        return
    table = pd.DataFrame(weights.round(6), columns=columns)
    first = _places(np.arange(len(table)), image) if image else {"column" if points else "document": names}
    for place, (what, values) in enumerate(first.items()):
        table.insert(place, what, values, allow_duplicates=True)
    writer.write(path, [table], f"{len(table)} rows of weights")
