"""``cofactor page``: a page that aggregates labels in a browser, by the default method in JavaScript.

The scripts of `cofactor_app/pages` read a file (`notes.js`, `reading.js`), fit (`copies.js`, `types.js`,
`difficulty.js`) and sum up (`near_copies.js`, `grades.js`, `readings.js`, `consensus.js`) in the background;
`aggregate.js` shows the result; both need `shared.js`. What is a number or a word in the library comes from there.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
from importlib import resources
from types import ModuleType
from typing import Any

import numpy as np

import cofactor as cf
from cofactor.core import errors, frames, latent_class, look_alikes, spelling, text_tables
from cofactor.core.files import whole_file
from cofactor.crowd import (
    copies,
    dependence,
    difficulty,
    disputes,
    exports,
    files,
    fit,
    groups,
    kinds,
    near_copies,
    order,
    shares,
    types,
    usual_names,
    worker_types,
    workers,
)
from cofactor.crowd.diagnose import FEW_PER_WORKER
from cofactor.crowd.readings import MANY_DIFFER
from cofactor_app.cli import facts
from cofactor_app.cli.output import STDOUT, as_in_files, reserved
from cofactor_app.pages.render import render
from cofactor_app.plots import crowd

FITTING = ("copies.js", "types.js", "difficulty.js")
READING, SUMMING_UP = ("notes.js", "reading.js"), ("near_copies.js", "grades.js", "readings.js", "consensus.js")
BACKGROUND = ("shared.js", *READING, *FITTING, *SUMMING_UP)
SHOWN = ("shared.js", "aggregate.js")
METHOD = worker_types.WorkerTypes
EXAMPLE = "bluebird"
ENCODINGS = {  # as browsers call them, and who writes them
    "utf-8": "UTF-8",
    "utf-16": "UTF-16 (Unicode text of spreadsheets)",
    "windows-1252": "Windows-1252, Latin-1 (Western Europe)",
    "windows-1250": "Windows-1250 (Central Europe)",
    "windows-1251": "Windows-1251 (Cyrillic)",
    "koi8-r": "KOI8-R (Cyrillic)",
    "shift-jis": "Shift JIS (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "euc-kr": "EUC-KR (Korean)",
}
TAKEN: dict[ModuleType, tuple[str, ...]] = {  # constants of the library that scripts use
    copies: ("MIN_COMMON", "FALSE_ALARMS"),
    crowd: ("SURE",),
    dependence: ("SHRINKAGE_COUNT", "PRIOR_RIGHT", "PRIOR_TOTAL", "MAX_INDEPENDENT_Z", "TINY"),
    difficulty: (
        *("NODES", "WEIGHTS", "DESIGN_EFFECTS", "RESIDUAL_DESIGN_EFFECT"),
        *("INITIAL_SPREAD", "MIN_PROBABILITY", "MAX_ABILITY", "MAX_SPREAD"),
    ),
    disputes: ("FEW_VOTES", "SAME_SHARE"),
    errors: ("SHOWN",),
    exports: ("TIME",),
    facts: ("BEHIND", "MANY_BEHIND", "MANY_UNANIMOUS", "NOTHING_KNOWN", "RANKED"),
    files: ("NO_LABEL",),
    fit: ("MIN_CLASS_VOTES",),
    frames: ("SEPARATORS", "HEAD"),
    spelling: ("NO_ANSWERS",),
    groups: ("LEAST_CROWD", "MOST_CROWD", "USUAL_TASKS"),
    kinds: ("MANY", "CONFIDENCES"),
    latent_class: ("FLOOR", "TIE"),
    look_alikes: ("SAME_LETTER", "TRUTH_VALUES", "UNSEEN"),
    near_copies: ("LEAST_WORKERS", "MOST_WORKERS", "LEAST_AGREEMENT", "SUSPECTS", "LEFT"),
    order: ("FEWEST", "MOST", "ALL_ORDERS", "DRAWN", "LUCK", "SCALES"),
    shares: ("SHARE_STEPS", "SHARES_SETTLED"),
    text_tables: ("MOST_COLUMNS",),
    types: ("NO_INFORMATION_COUNT", "ROUNDS_OF_ONE_STEP"),
    usual_names: ("USUAL", "RARER"),
    worker_types: ("USUAL_DESIGN_EFFECT", "MAX_CLASSES", "ONE_LABEL_ACCURACY"),
    workers: ("NO_INFORMATION", "MIN_NONE", "MIN_JUDGED_CROWD", "ALL_SURE", "MAY_BE_GRADES"),
}


def page(arguments: argparse.Namespace) -> None:
    """Write the page, and say so; or print it."""
    if arguments.output == STDOUT:
        print(html(), end="", file=as_in_files())
        return
    with reserved([arguments.output], arguments.force, ()), whole_file(arguments.output) as part:
        part.write_text(html(), encoding="utf8")
    print(f"wrote {arguments.output}: open it in a browser")


def html() -> str:
    """Return one page that needs no other file and no network, and may not connect to any host."""
    numbers = f"const CONSTANTS = {_json(constants())};\n"
    shown, background = (numbers + "".join(map(_script, scripts)) for scripts in (SHOWN, BACKGROUND))
    digest = base64.b64encode(hashlib.sha256(shown.encode("utf8")).digest()).decode()
    return render(
        "aggregate",
        digest=digest,
        version=cf.__version__,
        method=METHOD.__name__,
        columns=files.COLUMNS,
        encodings=ENCODINGS,
        sure=crowd.SURE,
        shown=shown,
        background=background,
        example=_json(cf.load(EXAMPLE).labels.to_frame().to_csv(index=False, lineterminator="\n")),
    )


def _script(name: str) -> str:
    return resources.files("cofactor_app.pages").joinpath(name).read_text(encoding="utf8")


def _json(content: Any) -> str:
    """JSON that no browser takes for the end of a script."""
    return json.dumps(content, default=np.ndarray.tolist).replace("<", "\\u003c")


def constants() -> dict[str, Any]:
    """Return what the scripts take from the library: settings of the method, and `TAKEN` in camel case."""
    method = METHOD()
    found = {"method": METHOD.__name__, "diagonal": method.diagonal, "off": method.off, "tol": method.tol}
    found |= {"maxIter": method.max_iter, "tolWords": f"{method.tol:g}"}
    found |= {"difficultyRounds": difficulty.SCORING_ROUNDS, "difficultyTol": difficulty.SCORING_TOL}
    found |= {"fewPerWorker": FEW_PER_WORKER, "manyDiffer": MANY_DIFFER}
    known = [*usual_names.USUAL.items(), *usual_names.RARER.items()]
    found |= {"roles": [(look_alikes.plain_name(name), n % 3) for n, (_, names) in enumerate(known) for name in names]}
    unread = frames.MAGIC | {b"PAR1": "parquet, which this page cannot read: save the table as CSV"}
    found |= {"packed": [[what, *magic] for magic, what in unread.items()]}
    return found | {_camel(name): getattr(module, name) for module, names in TAKEN.items() for name in names}


def _camel(name: str) -> str:
    first, *others = name.lower().split("_")
    return first + "".join(map(str.capitalize, others))
