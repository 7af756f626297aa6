"""The one list of methods: nothing is imported to read it, and methods of other packages stand in it."""

import re
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

import cofactor as cf
from cofactor import registry

LINES = ("crowd", "pmf", "separable", "comparisons")
LISTS = """
import sys
from cofactor import registry
assert [registry.names(line) for line in ("crowd", "pmf", "separable", "comparisons")]
print({"numpy", "cofactor.crowd", "cofactor.rivals"} & set(sys.modules))
"""


def test_nothing_is_imported_to_list_methods():
    answer = subprocess.run([sys.executable, "-c", LISTS], capture_output=True, text=True, check=True)
    assert answer.stdout == "set()\n"


def test_every_name_stands_for_its_own_class_of_a_known_group():
    found = [(one.problem, one.name) for one in registry.OWN]
    assert len(set(found)) == len(found) and {line for line, _ in found} == set(LINES)
    assert all(callable(one.make) and one.group in registry.GROUPS for one in registry.OWN)


def test_a_class_has_the_name_of_its_method_without_hyphens_and_signs():
    """Parentheses, and -EM of a method that can do without, are settings of one class."""
    for one in registry.OWN:
        plain = re.sub(r"\([^)]*\)|-EM$", "", one.name)
        kind = getattr(one.make, "func", one.make).__name__
        assert kind in {re.sub(r"\W", "", name) for name in (one.name, plain)}, one.name
    for name, kind in cf.pmf.RECOMMENDERS.items():
        assert kind.__name__ in (name, f"{name}Recommender")


@pytest.fixture
def with_package(monkeypatch):
    """A package that brings a method of crowds; and one that takes the name of ours."""
    points = [EntryPoint(name, "cofactor.crowd:KOS", registry.ENTRY_POINTS) for name in ("crowd.Theirs", "crowd.MV-EM")]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    registry.listed.cache_clear()
    yield
    registry.listed.cache_clear()


def test_a_package_brings_a_method_but_takes_no_name(with_package):
    assert "Theirs" in registry.names("crowd", group="elsewhere") and "Theirs" not in cf.pmf.METHODS
    assert cf.crowd.METHODS["Theirs"] is cf.crowd.KOS and cf.crowd.METHODS["MV-EM"] is cf.crowd.MVEM


def test_no_method_of_that_name_is_a_key_error():
    with pytest.raises(KeyError, match="Nobody"):
        cf.crowd.METHODS["Nobody"]
    assert "Nobody" not in cf.crowd.METHODS
