"""Methods by name: the list of built-in methods, and the user's own methods, `FILE.py:NAME`.

Listing methods imports nothing, so that a command's --help is fast. Methods of other packages are listed as well, if
the package has an entry point PROBLEM.NAME in the group `cofactor.methods`.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from cofactor.core.errors import CofactorError, listing

ENTRY_POINTS = "cofactor.methods"
FORMS = "give FILE.py:NAME or PACKAGE.MODULE:NAME, with options as NAME(alpha=2)"
GROUPS = {  # what methods of a problem are for, in the order in which they are shown
    "default": "the default, which infers each worker's type from the labels",
    "simple": "simple: the vote, plain or weighted by known skills",
    "vote": "Dawid-Skene, started from the majority vote",
    "papers": "from co-occurrences of labels (the papers); with -EM, refined by EM",
    "rivals": "competitors in the papers",
    "trivial": "baselines that other methods should beat",
    "elsewhere": "from other packages",
}


@dataclass(frozen=True)
class Method:
    """A method by name.

    Attributes
    ----------
    name : as in the papers; the class name is the same without hyphens and signs
    problem : "crowd", "pmf", "separable" or "comparisons"
    path : module and class, as "cofactor.crowd.method:WorkerTypes"
    group : key of `GROUPS`
    takes : the input of `fit`: "labels", "table", "points", "graph", "counts" or "comparisons"
    options : settings with which the class is this method
    """

    name: str
    problem: str
    path: str
    group: str
    takes: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def make(self) -> Callable[..., Any]:
        """The class, imported at first use, with its options, if any."""
        module, _, name = self.path.partition(":")
        made: Callable[..., Any] = getattr(import_module(module), name)
        return partial(made, **self.options) if self.options else made


class Methods(Mapping[str, Callable[..., Any]]):
    """The methods of a problem by name; a class is imported when it is looked up."""

    def __init__(self, problem: str) -> None:
        self._problem = problem

    def __getitem__(self, name: str) -> Callable[..., Any]:
        return listed(self._problem)[name].make

    def __iter__(self) -> Iterator[str]:
        return iter(listed(self._problem))

    def __len__(self) -> int:
        return len(listed(self._problem))

    def __contains__(self, name: object) -> bool:
        return name in listed(self._problem)

    def __repr__(self) -> str:
        return f"Methods({', '.join(self)})"


@cache
def listed(problem: str) -> dict[str, Method]:
    """Return the methods of a problem by name: built-in methods first, then those of other packages.

    >>> list(listed("comparisons"))[:3]
    ['ComparisonMF', 'BPR', 'AltSVM']
    >>> listed("crowd")["MV-EM"].path
    'cofactor.crowd.aggregators:MVEM'
    """
    own = {method.name: method for method in OWN if method.problem == problem}
    takes = next(method.takes for method in own.values())
    for point in entry_points(group=ENTRY_POINTS):
        home, _, name = point.name.partition(".")
        if home == problem and name not in own:
            own[name] = Method(name, problem, point.value, "elsewhere", takes)
    return own


def names(problem: str, **wanted: str) -> tuple[str, ...]:
    """Return the names of a problem's methods that have these attributes.

    >>> names("separable", takes="graph")
    ('SPOC', 'GeoNMF')
    """
    found = listed(problem).items()
    return tuple(name for name, one in found if all(getattr(one, key) == value for key, value in wanted.items()))


def _crowd() -> Iterator[Method]:
    make = partial(Method, problem="crowd", takes="labels")
    room, rivals = "cofactor.crowd", "cofactor.rivals.crowd"
    with_em = {"em": True}
    yield make("WorkerTypes", path=f"{room}.method:WorkerTypes", group="default")
    yield make("MajorityVote", path=f"{room}.aggregators:MajorityVote", group="simple")
    yield make("MV-EM", path=f"{room}.aggregators:MVEM", group="vote")
    equal = {"p": 2.0}
    for name, kind, options in (
        ("RobSymNMF", "RobSymNMF", {}),
        ("RobSymNMF(w=1)", "RobSymNMF", equal),
        ("DesSymNMF", "DesSymNMF", {}),
        ("SymNMF(no imputation)", "SymNMF", {}),
    ):
        yield make(name, path=f"{room}.aggregators:{kind}", group="papers", options=options)
        yield make(f"{name}-EM", path=f"{room}.aggregators:{kind}", group="papers", options=options | with_em)
    yield make("MultiStart-EM", path=f"{room}.aggregators:MultiStartEM", group="papers")
    for name, file in (("MultiSPA", "multispa"), ("CNMF", "coupled"), ("TensorADMM", "coupled")):
        yield make(name, path=f"{rivals}.{file}:{name}", group="rivals")
        yield make(f"{name}-EM", path=f"{rivals}.{file}:{name}", group="rivals", options=with_em)
    yield make("Spectral-D&S", path=f"{rivals}.spectral:SpectralDS", group="rivals")
    yield make("Spectral-D&S(no EM)", path=f"{rivals}.spectral:SpectralDS", group="rivals", options={"em": False})
    yield make("MinimaxEntropy", path=f"{rivals}.minimax:MinimaxEntropy", group="rivals")
    binary = ("KOS", "GhoshSVD", "EigenRatio")
    for name in binary:
        yield make(name, path=f"{rivals}.binary:{name}", group="rivals")
    for name in binary:
        ordinal = {"multiclass": "ordinal"}
        yield make(f"{name}(ordinal)", path=f"{rivals}.binary:{name}", group="rivals", options=ordinal)


def _pmf() -> Iterator[Method]:
    make = partial(Method, problem="pmf", takes="table")
    room, rivals = "cofactor.pmf.estimators", "cofactor.rivals.pmf"
    for name in ("CNMF-SPA", "CNMF-SPA-EM", "CNMF-OPT", "CNMF-EM"):
        yield make(name, path=f"{room}:{name.replace('-', '')}", group="papers")
    yield make("RAND-EM", path=f"{room}:RANDEM", group="vote")
    yield make("CTD", path=f"{rivals}:CTD", group="rivals")
    yield make("MLE-AD", path=f"{rivals}:MLEAD", group="rivals")
    yield make("MLE-AD-EM", path=f"{rivals}:MLEADEM", group="rivals")
    yield make("Independence", path=f"{room}:Independence", group="trivial")
    yield make("Constant", path=f"{room}:Constant", group="trivial")


def _separable() -> Iterator[Method]:
    make = partial(Method, problem="separable", takes="points")
    room, rivals = "cofactor.separable", "cofactor.rivals.separable"
    for name, kind in (("SPA", "SPA"), ("MERIT", "MERIT"), ("MERIT(0)", "MERIT0")):
        yield make(name, path=f"{room}.methods:{kind}", group="papers")
    yield make("ProjectedSPA", path=f"{room}.methods:ProjectedSPA", group="default")
    for name in ("FastGradient", "XRAY", "FastAnchor"):
        yield make(name, path=f"{rivals}:{name}", group="rivals")
    for name in ("SPOC", "GeoNMF"):
        yield Method(name, "separable", f"{room}.graphs:{name}", "rivals", "graph")
    yield Method("LDA", "separable", f"{rivals}:LDA", "rivals", "counts")


def _comparisons() -> Iterator[Method]:
    make = partial(Method, problem="comparisons", takes="comparisons")
    rivals = "cofactor.rivals.comparisons"
    yield make("ComparisonMF", path="cofactor.comparisons.estimators:ComparisonMF", group="papers")
    for name in ("BPR", "AltSVM", "NuclearNormMLE"):
        yield make(name, path=f"{rivals}:{name}", group="rivals")
    for name in ("BradleyTerry", "WinRate"):
        yield make(name, path=f"{rivals}:{name}", group="trivial")


OWN = (*_crowd(), *_pmf(), *_separable(), *_comparisons())


# ---- methods of the user's own ----


def is_outside(name: str) -> bool:
    """Return whether a method name says where to find the method, rather than naming a built-in one."""
    return ":" in name


def loaded(where: str) -> Any:
    """Return the method named by `where`: a function, or an object with its options set."""
    home, name, options = parts_of(where)
    module = module_of(home)
    if not hasattr(module, name):
        public = [key for key, thing in vars(module).items() if callable(thing) and not key.startswith("_")]
        raise CofactorError(f"{home} has no {name}; it has {listing(public) or 'no functions or classes'}")
    thing: Callable[..., Any] = getattr(module, name)
    try:
        if inspect.isclass(thing):
            return thing(**options)
        inspect.signature(thing).bind_partial(**options)
    except TypeError as error:
        raise CofactorError(f"{where}: {error}") from None
    return partial(thing, **options) if options else thing


def parts_of(where: str) -> tuple[str, str, dict[str, Any]]:
    """Return file or module, name and options of `FILE.py:NAME(option=1)`; options are literals.

    >>> parts_of("mine.py:Vote(rounds=3)")
    ('mine.py', 'Vote', {'rounds': 3})
    """
    text, _, options = where.partition("(")
    home, _, name = text.rpartition(":")
    if not home or not name.isidentifier() or (options and not options.endswith(")")):
        raise CofactorError(f"{where!r} is not the name of a method: {FORMS}")
    try:
        call = ast.parse(f"_({options or ')'}", mode="eval").body
        assert isinstance(call, ast.Call) and not call.args
        return home, name, {str(key.arg): ast.literal_eval(key.value) for key in call.keywords}
    except (SyntaxError, ValueError, AssertionError):
        raise CofactorError(f"cannot read the options of {where!r}: write them as NAME(alpha=2, beta='x')") from None


def source_of(where: str) -> str:
    """Return a hash of the file that has the method, which changes with the file, or the name of its module."""
    home = parts_of(where)[0]
    path = Path(home)
    if path.suffix != ".py":
        path = Path(str(getattr(module_of(home), "__file__", home)))
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.is_file() else home


def module_of(home: str) -> ModuleType:
    """Import a .py file, or a module by its name; any failure is raised as a CofactorError."""
    path = Path(home).expanduser()
    if path.suffix == ".py":
        if not path.is_file():
            raise CofactorError(f"file {home} does not exist: {FORMS}")
        spec = importlib.util.spec_from_file_location(f"outside_{path.stem}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[module.__name__] = module  # by this name its objects are pickled
        with_own_folder = str(path.resolve().parent)
        if with_own_folder not in sys.path:
            sys.path.insert(0, with_own_folder)
        run: Callable[[], Any] = partial(spec.loader.exec_module, module)
    else:
        module, run = ModuleType(home), partial(importlib.import_module, home)
    try:
        return run() or module
    except Exception as error:
        raise CofactorError(f"{home} cannot be imported: {type(error).__name__}: {error}") from error
