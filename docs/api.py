"""Pages of the API reference, made from `__all__` and the modules as they are: nothing to keep up by hand.

Every public package gets a page with a table of its names and what their docstrings say. A name that several packages
offer is described on the first of their pages, and linked from the others.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import cofactor
import cofactor_app
from docs.docstrings import escaped

PRIVATE = {"cofactor_app.cli", "cofactor_app.pages", "cofactor.__main__"}  # commands and HTML pages: not for import
LONGEST = 90  # characters of a constant that are shown


def packages():
    """Return the public modules, in reading order: the front door, its rooms, then what the rooms are built on."""
    rooms = {name: getattr(cofactor, name) for name in cofactor.__all__ if inspect.ismodule(getattr(cofactor, name))}
    lines = [rooms.pop(name) for name in ("crowd", "pmf", "separable", "comparisons") if name in rooms]
    found = [cofactor, *lines, *rooms.values()]
    for module in (*_rooms_of(cofactor), *_rooms_of(cofactor_app)):
        if module.name not in PRIVATE and importlib.import_module(module.name) not in found:
            found.append(importlib.import_module(module.name))
    inner = [thing for package in found for thing in names(package).values() if inspect.ismodule(thing)]
    return list(dict.fromkeys([*found, *inner]))


def _rooms_of(package):
    return pkgutil.iter_modules(package.__path__, f"{package.__name__}.")


def names(module):
    """Return the public names of a module; without `__all__`, what its own modules define."""
    if hasattr(module, "__all__"):
        return {name: getattr(module, name) for name in module.__all__}
    parts = [part.name for part in _rooms_of(module)] if hasattr(module, "__path__") else [module.__name__]
    return {
        f"{part}.{name}".removeprefix(f"{module.__name__}."): thing
        for part in parts
        for name, thing in vars(importlib.import_module(part)).items()
        if not name.startswith("_") and getattr(thing, "__module__", "") == part and kind_of(thing) != "constant"
    }


def pages():
    """Return the text of every page by its file name, without ending."""
    homes = homes_of_things()
    return {"index": index(packages())} | {module.__name__: page(module, homes) for module in packages()}


def homes_of_things():
    """Return the name under which each class and function is described."""
    homes = {}
    for module in packages():
        for name, thing in names(module).items():
            if kind_of(thing) in ("class", "function"):
                homes.setdefault(thing, f"{module.__name__}.{name}")
    return homes


def index(modules):
    """Return the first page: all packages, with what they are for."""
    rows = [[f":doc:`{module.__name__}`", first_line(module)] for module in modules]
    toctree = [".. toctree::", "   :hidden:", "", *(f"   {module.__name__}" for module in modules)]
    lead = "Everything public, from the docstrings. ``import cofactor as cf``; most of what one needs is ``cf.<name>``."
    return "\n".join([*title("API reference"), lead, "", *table(["package", "what for"], rows), "", *toctree, ""])


def page(module, homes):
    """Return the page of one package: its docstring, a table of its names, and each of them in full."""
    rows, bodies = [], []
    for name, thing in names(module).items():
        full, kind = f"{module.__name__}.{name}", kind_of(thing)
        home = homes.get(thing) if kind in ("class", "function") else full
        link = f":doc:`{thing.__name__}`" if kind == "package" else f":py:obj:`{name} <{home}>`"
        rows.append([link, kind, shown(thing) if kind == "constant" else first_line(thing)])
        if kind != "package" and home == full:
            bodies += [*body(full, thing, kind, homes), ""]
    head = [*title(module.__name__), f".. automodule:: {module.__name__}", ""]
    return "\n".join([*head, *table(["name", "kind", "what"], rows), "", *bodies])


def body(full, thing, kind, homes):
    """Return the full description of one name."""
    if kind == "class":
        return [f".. autoclass:: {full}", "   :members:", "   :show-inheritance:"]
    if kind == "function":
        return [f".. autofunction:: {full}"]
    if isinstance(thing, Mapping) and all(map(callable, thing.values())):
        rows = [[f"``{name}``", call(maker, homes)] for name, maker in thing.items()]
        content = table(["name", "makes"], rows)
    else:
        keys = f" Keys: {', '.join(f'``{key}``' for key in thing)}." if isinstance(thing, dict) else ""
        content = [f"{shown(thing)}.{keys}"]
    module, _, name = full.rpartition(".")
    return [f".. py:data:: {name}", f"   :module: {module}", "", *(f"   {line}" for line in content)]


def call(maker, homes):
    """Write what a value of a table of methods calls: a class or function, and its settings."""
    target = maker.func if isinstance(maker, partial) else maker
    settings = maker.keywords if isinstance(maker, partial) else {}
    home = homes.get(target)
    link = f":py:obj:`{target.__name__} <{home}>`" if home else f"``{target.__name__}``"
    return f"{link} ``({', '.join(f'{name}={value!r}' for name, value in settings.items())})``" if settings else link


def kind_of(thing):
    """Say package, class, function or constant."""
    tests = {"package": inspect.ismodule, "class": inspect.isclass, "function": inspect.isroutine}
    compiled = hasattr(thing, "py_func")  # by Numba
    return next((kind for kind, test in tests.items() if test(thing)), "function" if compiled else "constant")


def first_line(thing):
    """Return the first sentence of a docstring, fit for a table."""
    paragraph = (inspect.getdoc(thing) or "").split("\n\n")[0]
    return escaped(" ".join(paragraph.split()))


def shown(thing):
    """Show a constant, or say what it is where it is long or would name a folder of this machine."""
    text = repr(thing)
    if len(text) <= LONGEST and not isinstance(thing, Path) and not re.search("\n| at 0x", text):
        return f"``{text}``"
    return type(thing).__name__ + (f", {len(thing)} entries" if hasattr(thing, "__len__") else "")


def title(text):
    """Return an underlined title."""
    return [text, "=" * len(text), ""]


def table(head, rows):
    """Return a table; cells are reStructuredText of one line."""
    lines = [".. list-table::", "   :header-rows: 1", "   :class: names", ""]
    for row in [head, *rows]:
        lines += [f"   {'*' if k == 0 else ' '} - {cell}".rstrip() for k, cell in enumerate(row)]
    return lines
