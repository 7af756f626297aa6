"""The page "Public API": every public name, package by package, in tables of which Sphinx makes a page an object.

What is public is what `__all__` says of `cofactor` and of the packages that it names; there is no list to keep up.
"""

import inspect
from collections.abc import Mapping
from functools import partial

import cofactor

LEAD = "Everything public. ``import cofactor as cf``; start with the verbs. What is not on this page is private."


def packages():
    """Return the public packages by name: the front door, then those that it names."""
    named = {name: getattr(cofactor, name) for name in cofactor.__all__}
    first = ("crowd", "pmf", "separable", "comparisons")
    rooms = [*first, *(name for name, thing in named.items() if inspect.ismodule(thing) and name not in first)]
    return {"cofactor": cofactor} | {f"cofactor.{name}": named[name] for name in rooms}


def names(module):
    """Return the public names of a package that are no packages."""
    found = {name: getattr(module, name) for name in module.__all__}
    return {name: thing for name, thing in found.items() if not inspect.ismodule(thing)}


def is_documented(thing):
    """Tell classes and functions, compiled ones too, from constants."""
    return inspect.isclass(thing) or inspect.isroutine(thing) or hasattr(thing, "py_func")


def pages():
    """Return the text of the page by its file name, without ending."""
    text = ["Public API", "==========", "", LEAD, ""]
    for package, module in packages().items():
        text += [package, "-" * len(package), "", f".. automodule:: {package}", "   :no-members:", ""]
        text += [".. autosummary::", f"   :toctree: {package.rpartition('.')[2]}", "   :nosignatures:", ""]
        found, own = [name for name, thing in names(module).items() if is_documented(thing)], homes_of_things()
        text += [f"   {name}" for name in found if own[getattr(module, name)] == f"{package}.{name}"]
        others = [
            f":py:obj:`{name} <{home}>`"
            for name in found
            if (home := own[getattr(module, name)]) != f"{package}.{name}"
        ]
        text += ["", f"Also here: {', '.join(others)}." if others else ""]
        constants = {name: thing for name, thing in names(module).items() if not is_documented(thing)}
        text += ["", *(line for name, thing in constants.items() for line in constant(package, name, thing)), ""]
    return {"index": "\n".join(text)}


def constant(package, name, thing):
    """Return the description of a constant: for a table of methods, what each name makes."""
    yield from [f".. py:data:: {name}", f"   :module: {package}", "", f"   {type(thing).__name__}.", ""]
    if isinstance(thing, Mapping):
        yield from ["   .. list-table::", ""]
        for key, value in thing.items():
            yield from [f"      * - ``{key}``", f"        - {made(package, value)}"]
        yield ""


def made(package, maker):
    """Say what a value of a table of methods is: a class or function, with its settings."""
    target, settings = (maker.func, maker.keywords) if isinstance(maker, partial) else (maker, {})
    name = getattr(target, "__name__", "")
    if not name:
        return f"{type(target).__name__}"
    public = name in names(packages()[package])
    link = f":py:obj:`{name} <{package}.{name}>`" if public else f"``{name}``"
    return f"{link} ``({', '.join(f'{key}={value!r}' for key, value in settings.items())})``" if settings else link


def homes_of_things():
    """Return the first public name of each class and function."""
    found = {}
    for package, module in packages().items():
        for name, thing in names(module).items():
            if is_documented(thing):
                found.setdefault(thing, f"{package}.{name}")
    return found
