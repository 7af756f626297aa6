"""Libraries that are slow to import, each imported when it is first used.

A command then spends time only on what it needs. For readers and for mypy, `pd` in this module is pandas; at run time,
it is a proxy that imports pandas at the first `pd.DataFrame`. So its attributes must not be used while a module is
imported: in a default, a base class or a decorator.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import filelock as filelock
    import joblib as joblib
    import numba as numba
    import pandas as pd
    from numba import njit as njit
    from scipy import io as scipy_io
    from scipy import linalg as linalg
    from scipy import optimize as optimize
    from scipy import spatial as spatial
    from scipy import special as special
    from scipy import stats as stats
    from scipy.sparse import csgraph as csgraph
    from scipy.sparse import linalg as sparse_linalg

    __all__ = ["csgraph", "filelock", "joblib", "linalg", "njit", "numba", "optimize", "pd", "scipy_io"]
    __all__ += ["sparse_linalg", "spatial", "special", "stats"]
else:

    class _Library:
        """Stand-in for a library that is not imported yet."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            found = getattr(import_module(self._name), attribute)
            setattr(self, attribute, found)
            return found

    filelock, joblib, numba = map(_Library, ("filelock", "joblib", "numba"))
    pd, scipy_io, sparse_linalg = map(_Library, ("pandas", "scipy.io", "scipy.sparse.linalg"))
    linalg, optimize, csgraph = map(_Library, ("scipy.linalg", "scipy.optimize", "scipy.sparse.csgraph"))
    spatial, special, stats = map(_Library, ("scipy.spatial", "scipy.special", "scipy.stats"))

    class _Kernel:
        """Function that Numba compiles, or reads from its cache, at the first call."""

        def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
            self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__
            self.py_func, self._options, self._compiled = function, options, None

        def __call__(self, *arguments: Any) -> Any:
            return self.compiled()(*arguments)

        def compiled(self) -> Callable[..., Any]:
            """Return the Numba-compiled function; the kernels it calls must be compiled first."""
            if self._compiled is None:
                names = self.py_func.__globals__
                for called in self.py_func.__code__.co_names:
                    if isinstance(names.get(called), _Kernel):
                        names[called] = names[called].compiled()
                self._compiled = numba.njit(**self._options)(self.py_func)
                if names.get(self.__name__) is self:  # from now on its module calls Numba's function itself
                    names[self.__name__] = self._compiled
            return self._compiled

    def njit(**options: Any) -> Callable[[Callable[..., Any]], _Kernel]:
        """Return a decorator that compiles like `numba.njit`, at the first call."""
        return lambda function: _Kernel(function, options)


WORTH_COMPILING = 200_000  # steps of a loop; in fewer, NumPy is done before Numba has begun, which takes a second


def lazy_exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package that imports each name of its `__all__` at first use.

    The imports under `if TYPE_CHECKING` in the package define where a name comes from, so the only list of imports is
    the one that mypy checks.
    """
    module = sys.modules[package]

    def import_name(name: str) -> Any:
        if name not in module.__all__:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = _homes(str(module.__file__))[name]
        found = import_module(f"{package}.{name}") if home == package else getattr(import_module(home), name)
        setattr(module, name, found)
        return found

    return import_name, lambda: sorted({*(name for name in vars(module) if name.startswith("__")), *module.__all__})


@cache
def _homes(file: str) -> dict[str, str]:
    """Return the module of every name that a file imports."""
    imports = [
        node for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf8"))) if isinstance(node, ast.ImportFrom)
    ]
    return {name.name: str(node.module) for node in imports for name in node.names}
