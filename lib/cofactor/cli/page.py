"""``cofactor page``: a page that aggregates labels in a browser, by the default method in JavaScript.

The scripts in `cofactor/pages` read a file (`reading.js`), fit (`bayes.js`, `difficulty.js`) and sum up
(`consensus.js`) in the background; `aggregate.js` shows the result. What is a number or a word in the library comes
from there.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

import cofactor as cf
from cofactor.cli import facts
from cofactor.cli.methods import DEFAULT
from cofactor.cli.output import reserved
from cofactor.core import frames, latent_class
from cofactor.core.errors import SHOWN
from cofactor.core.files import whole_file
from cofactor.crowd import bayes, dependence, difficulty, variational
from cofactor.crowd.files import COLUMNS, NO_LABEL
from cofactor.pages.render import render
from cofactor.plots.crowd import SURE

BACKGROUND = ("reading.js", "bayes.js", "difficulty.js", "consensus.js")  # in this order
EXAMPLE = "bluebird"


def page(arguments: argparse.Namespace) -> None:
    """Write the page, and say so."""
    with reserved([arguments.output], arguments.force, ()), whole_file(arguments.output) as part:
        part.write_text(html(), encoding="utf8")
    print(f"wrote {arguments.output}: open it in a browser")


def html() -> str:
    """Return one page that needs no other file and no network, and may not connect to any host."""
    numbers = f"const CONSTANTS = {_json(constants())};\n"
    shown, background = numbers + _script("aggregate.js"), numbers + "".join(map(_script, BACKGROUND))
    digest = base64.b64encode(hashlib.sha256(shown.encode("utf8")).digest()).decode()
    return render(
        "aggregate",
        digest=digest,
        version=cf.__version__,
        method=DEFAULT,
        columns=COLUMNS,
        sure=SURE,
        shown=shown,
        background=background,
        example=_json(_example()),
    )


def _script(name: str) -> str:
    return files("cofactor.pages").joinpath(name).read_text(encoding="utf8")


def _json(content: Any) -> str:
    """JSON that no browser takes for the end of a script."""
    return json.dumps(content).replace("<", "\\u003c")


def _example() -> str:
    return cf.load(EXAMPLE).labels.to_frame().to_csv(index=False, lineterminator="\n")


def constants() -> dict[str, Any]:
    """Return what the scripts take from the library."""
    method = bayes.BayesDS()
    low, high = variational.STRENGTH_RANGE
    return {
        **{"method": DEFAULT, "diagonal": method.diagonal, "off": method.off, "tol": method.tol},
        **{
            "maxIter": method.max_iter,
            "tolWords": f"{method.tol:g}",
            "kindsCount": variational.Priors.kinds_count,
        },
        **{"strengthRange": [low, high], "strengthSteps": variational.STRENGTH_STEPS},
        **{"maxIndependentZ": bayes.MAX_INDEPENDENT_Z, "usualDesignEffect": bayes.USUAL_DESIGN_EFFECT},
        **{"maxClasses": bayes.MAX_CLASSES, "minClassVotes": bayes.MIN_CLASS_VOTES},
        **{"shrinkage": dependence.SHRINKAGE_COUNT, "priorRight": dependence.PRIOR_RIGHT},
        **{"priorTotal": dependence.PRIOR_TOTAL, "tiny": dependence.TINY, "floor": latent_class.FLOOR},
        **{"tie": latent_class.TIE, **_of_difficulty()},
        **{"shown": SHOWN, "separators": frames.SEPARATORS, "head": frames.HEAD, "noLabel": list(NO_LABEL)},
        **{"packed": [[what, *magic] for magic, what in frames.MAGIC.items()]},
        **{"found": facts.FOUND, "behind": facts.BEHIND, "manyBehind": facts.MANY_BEHIND, "sure": SURE},
        **{"manyUnanimous": facts.MANY_UNANIMOUS},
    }


def _of_difficulty() -> dict[str, Any]:
    return {
        **{"nodes": difficulty.NODES.tolist(), "weights": difficulty.WEIGHTS.tolist()},
        **{
            "designEffects": difficulty.DESIGN_EFFECTS.tolist(),
            "residualDesignEffect": difficulty.RESIDUAL_DESIGN_EFFECT,
        },
        **{"initialSpread": difficulty.INITIAL_SPREAD, "minProbability": difficulty.MIN_PROBABILITY},
        **{"maxAbility": difficulty.MAX_ABILITY, "maxSpread": difficulty.MAX_SPREAD},
        **{"difficultyRounds": difficulty.MAX_ITER, "difficultyTol": difficulty.TOL},
    }
