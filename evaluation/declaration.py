"""How an experiment is declared: above the function that runs one trial, whether it is a paper's or somebody's own.

::

    from evaluation.declaration import experiment


    @experiment(settings=["5 workers", "20 workers"], metrics={"error": "%"})
    def crowd_size(setting, trial, rng):
        return {"vote": {"error": 12.0}, "mine": lambda: {"error": 11.5}}
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from numbers import Real
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from cofactor.core.errors import CofactorError, listing
from evaluation.experiment import Experiment, Given, Measurement, measure

OWN = "own"  # line of an experiment that is none of the papers': the code of all lines may decide its numbers
DECLARATION = "__experiments__"  # attribute of a function that is one, or several
FORM = 'return {"method": {"metric": number}}, or a function without arguments in place of the inner dictionary'
Values = Mapping[str, float]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Declared:
    """What one `@experiment` says of the function below it."""

    name: str
    like: str
    run: Callable[..., Any]
    fields: Mapping[str, Any]

    @property
    def described(self) -> tuple[str, str]:
        """First line and the rest of the function's docstring."""
        first, _, rest = (inspect.getdoc(self.run) or self.run.__name__).partition("\n")
        return first, rest.strip()


def experiment(name: str = "", *, like: str = "", **fields: Any) -> Callable[[F], F]:
    """Declare that a function of (setting, trial, rng) is an experiment; the function itself stays as it is.

    It returns ``{"method": {"metric": number}}``. In place of the inner dictionary there may be a function without
    arguments that returns it: that one is timed, and where it fails, the reason is kept and the others go on. A list of
    `Measurement` does as well. `rng` is a generator that depends on experiment, setting and trial alone. Several
    declarations above one function make several experiments of it.

    Parameters
    ----------
    name : str
        Default: the function's name.
    like : str
        Another experiment of the same file, whose fields, notes and words hold where nothing else is said.
    settings : sequence of str, or mapping of str to str
        Names that the function is given; of a mapping its keys, with their headings.
    metrics : mapping of str to str
        Metrics shown in the table, each with its unit: "%", "s", or "1" for none. Less is better, but for accuracy and
        its like (`evaluation.verdicts.MORE`).
    title, protocol : str
        Default: the first line of the function's docstring, and what else it says.
    trials, quick : int
        Of each setting, with ``--full`` and without; 10, and `quick` is `trials` where it is not given.
    given : mapping of setting to mapping, optional
        Numbers of every setting; where there are some, all of them are the function's first argument.
    published : str, or mapping of (setting, method, metric) to number or text, optional
        Numbers to stand beside: a file of `datasets/published`, or they themselves; a text such as "12.30" says how
        many digits were printed.
    notes, apart : mapping, optional
        As in `Experiment`, but that a tuple of names in a key stands for each of them.
    words : mapping of str to str, optional
        Texts in the place of {their names} in protocol, notes and `apart`.
    fields
        Further fields of `Experiment`, such as `centre` or `plot`.

    What is wrong in a declaration is said where it is read: `experiments_of`.
    """

    def declare(run: F) -> F:
        above = Declared(name or run.__name__, like, run, fields)
        setattr(run, DECLARATION, (above, *getattr(run, DECLARATION, ())))
        return run

    return declare


def experiments_of(module: ModuleType, line: str = OWN) -> dict[str, Experiment]:
    """Return the experiments that functions of a module are declared to be, in the order in which they stand there.

    Raises a CofactorError where one has no setting, metric or trial, a field that there is not, numbers of settings
    that it has not, or is like one that there is not.
    """
    mine = [thing for thing in vars(module).values() if getattr(thing, "__module__", "") == module.__name__]
    found = {one.name: one for thing in mine for one in getattr(thing, DECLARATION, ())}
    return {name: _experiment(name, found, line) for name in found}


def _experiment(name: str, found: Mapping[str, Declared], line: str) -> Experiment:
    title, protocol = found[name].described
    fields: dict[str, Any] = {"title": title, "protocol": protocol, "source": "Beyond the papers", "trials": 10}
    fields |= _inherited(name, found)
    fields = {"settings": {}, "metrics": {}, "given": {}, "words": {}, "quick": fields["trials"]} | fields
    words = fields.pop("words")
    if not isinstance(fields["settings"], Mapping):
        fields["settings"] = {setting: setting for setting in fields["settings"]}
    if isinstance(fields.get("published", ""), Mapping):
        fields["printed"] = fields.pop("published")
    for texts in ("notes", "apart"):
        fields[texts] = {key: _filled(name, text, words) for key, text in fields.get(texts, {}).items()}
    fields["notes"] = {key: text for key, text in fields["notes"].items() if key[0] in ("", *fields["settings"])}
    fields["protocol"] = _filled(name, fields["protocol"], words)
    _check(name, fields)
    return Experiment(name, line=line, run=partial(measured, found[name].run, fields["given"]), **fields)


def _inherited(name: str, found: Mapping[str, Declared]) -> dict[str, Any]:
    """Fields of an experiment over those of the one that it is like."""
    one = found[name]
    own = dict(one.fields) | {texts: _each(one.fields[texts]) for texts in ("notes", "apart") if texts in one.fields}
    if not one.like:
        return own
    if one.like not in found:
        raise CofactorError(f"experiment {name}: it is like {one.like}, which its file does not have")
    before = _inherited(one.like, found)
    return before | own | {texts: before.get(texts, {}) | own.get(texts, {}) for texts in ("notes", "words")}


def _each(texts: Mapping[tuple[Any, ...], str]) -> dict[tuple[str, ...], str]:
    """Give every name of a tuple in a key a key of its own."""
    return {
        key: text
        for names, text in texts.items()
        for key in product(*((name,) if isinstance(name, str) else name for name in names))
    }


def _filled(name: str, text: str, words: Mapping[str, str]) -> str:
    """Put words in the place of {their names}; lines of a text are one."""
    try:
        return " ".join((text.format_map(words) if words else text).split())
    except KeyError as missing:
        raise CofactorError(
            f"experiment {name}: there is no word {missing.args[0]}; its words: {listing(words)}"
        ) from None


def _check(name: str, fields: Mapping[str, Any]) -> None:
    settings, given = fields["settings"], fields["given"]
    if strange := set(fields) - set(Experiment.__dataclass_fields__):
        raise CofactorError(f"experiment {name}: no experiment has {listing(sorted(strange))}")
    if not settings or not fields["metrics"] or min(fields["trials"], fields["quick"]) < 1:
        raise CofactorError(f"experiment {name}: give one setting, one metric and one trial at least")
    if odd := given and set(given) ^ set(settings):
        raise CofactorError(f"experiment {name}: settings and given do not both name {listing(sorted(odd))}")
    for key in fields.get("printed", {}):
        if len(key) != 3 or key[0] not in settings or key[2] not in fields["metrics"]:
            what = "no (setting, method, metric) of it"
            raise CofactorError(f"experiment {name}: published has {key!r}, which is {what}")


def measured(
    run: Callable[..., Any], given: Given, setting: str, trial: int, rng: np.random.Generator
) -> list[Measurement]:
    """Run a trial; write what it says as measurements."""
    found = run(given, setting, trial, rng) if given else run(setting, trial, rng)
    if isinstance(found, list) and all(isinstance(row, Measurement) for row in found):
        return found
    if not isinstance(found, Mapping) or not found:
        raise CofactorError(f"{run.__name__} returned {type(found).__name__}: {FORM}")
    return [row for method, said in found.items() for row in measure(str(method), partial(_values, said))]


def _values(said: Values | Callable[[], Values]) -> Values:
    found = said() if callable(said) else said
    if not isinstance(found, Mapping) or not all(isinstance(value, Real) for value in found.values()):
        raise CofactorError(f"{FORM}; this is {found!r:.80}")
    return found
