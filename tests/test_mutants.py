"""The runner of mutants changes one meaningful place at a time, and tells the dead from the living."""

import ast

import pytest

from tools import mutants

SOURCE = '''
def clip(x: int = 3, low=0):
    """Keep x >= 0."""
    if x < low and low >= 1:
        raise ValueError(f"{x + 1} is below {low - 1}")
    return max(x, low) * 2
    list(zip([x], [low], strict=True))
'''


def lines(tmp_path):
    (tmp_path / "toy.py").write_text(SOURCE)
    return {(m.before, m.after): m for m in mutants.mutants_of(tmp_path / "toy.py")}


def test_operators_comparisons_guards_names_and_numbers_are_changed(tmp_path):
    found = lines(tmp_path)
    guard, result = "if x < low and low >= 1:", "return max(x, low) * 2"
    after = {after for before, after in found if before == guard}
    assert {"if x <= low and low >= 1:", "if x < low or low >= 1:", "if x < low and low > 1:"} < after
    assert {"if not (x < low and low >= 1):", "if x < low and low >= 2:"} < after and len(after) == 5
    assert {after for before, after in found if before == result} == {
        "return min(x, low) * 2", "return max(x, low) / 2", "return max(x, low) * 3"
    }  # fmt: skip
    assert {before for before, _ in found} == {guard, result}  # no message, annotation or documentation


def test_a_mutant_differs_from_the_source_in_one_place(tmp_path):
    original = ast.unparse(ast.parse(SOURCE)).split("\n")
    for (before, after), mutant in lines(tmp_path).items():
        changed = mutant.source().split("\n")
        different = [(a.strip(), b.strip()) for a, b in zip(original, changed, strict=True) if a != b]
        assert different == [(before, after)]


def test_a_mutant_is_killed_by_a_test_that_looks_and_survives_one_that_does_not(tmp_path, monkeypatch):
    library = tmp_path / "lib"
    (library / "toys").mkdir(parents=True)
    (library / "toys" / "__init__.py").write_text("def twice(x):\n    return x * 2\n")
    (tmp_path / "test_looks.py").write_text("import toys\ndef test():\n    assert toys.twice(3) == 6\n")
    (tmp_path / "test_blind.py").write_text("import toys\ndef test():\n    assert toys.twice(0) == 0\n")
    monkeypatch.setattr(mutants, "LIBRARY", library)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    divided, more = mutants.mutants_of(library / "toys" / "__init__.py")
    assert (divided.after, more.after) == ("return x / 2", "return x * 3")
    assert mutants.killed(divided, ["test_looks.py"], library, 500)
    assert not mutants.killed(divided, ["test_blind.py"], library, 500)
    assert (library / "toys" / "__init__.py").read_text() == "def twice(x):\n    return x * 2\n"


TOYS = '''
def least(x):
    if x < 0:
        return 0
    return x


def twice(x):
    return least(x) * 2


def alone(x):
    """Subtract.

    >>> alone(3)
    2
    """
    return x - 1
'''
TOY_TESTS = """
import time, cofactor
def test_slow():
    time.sleep(0.3)
    assert cofactor.toys.twice(3) == 6
def test_fast():
    assert cofactor.toys.twice(2) == 4
def test_other():
    assert cofactor.toys.alone(1) == 0
"""


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """A house of one room, and its mutants by the changed line."""
    room = tmp_path / "lib" / "cofactor" / "toys"
    room.mkdir(parents=True)
    (room.parent / "__init__.py").write_text("from cofactor import toys\n")
    (room / "__init__.py").write_text(TOYS)
    (tmp_path / "tests" / "toys").mkdir(parents=True)
    (tmp_path / "tests" / "toys" / "test_toys.py").write_text(TOY_TESTS)
    monkeypatch.setattr(mutants, "LIBRARY", tmp_path / "lib")
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    return {mutant.after: mutant for mutant in mutants.mutants_of(room / "__init__.py")}


def test_a_mutant_meets_the_tests_through_its_line_or_through_the_callers_of_its_function(toys, tmp_path):
    tests = mutants.observed("toys", mutants.copied(mutants.LIBRARY, tmp_path / "copy"))
    fast, slow, other = (f"tests/toys/test_toys.py::test_{name}" for name in ("fast", "slow", "other"))
    assert tests.through(toys["return least(x) / 2"], 60) == [fast, slow]
    assert tests.through(toys["return least(x) / 2"], 0.2) == [fast]
    assert tests.through(toys["return x + 1"], 60) == [other]
    assert tests.through(toys["return 1"], 60) == [fast, slow]  # no test runs through this line


def test_the_suite_that_kills_is_told(toys, tmp_path, monkeypatch):
    library = mutants.copied(mutants.LIBRARY, tmp_path / "copy")
    fast, other = (f"tests/toys/test_toys.py::test_{name}" for name in ("fast", "other"))
    tests, halved = mutants.Tests({fast: 0.1, other: 0.1}, tmp_path), toys["return least(x) / 2"]
    found = []
    for slow in ({}, {fast: 2.0}):
        monkeypatch.setattr(mutants.suites, "read", lambda slow=slow: slow)
        found.append(mutants.suite_that_kills(halved, [fast, other], tests, library))
    assert found == ["small", "all"]
    assert mutants.suite_that_kills(halved, [other], tests, library) == ""


def test_examples_kill_and_the_copy_is_afterwards_what_it_was(toys, tmp_path):
    library = mutants.copied(mutants.LIBRARY, tmp_path / "copy")
    place = library / "cofactor" / "toys" / "__init__.py"
    times = place.stat().st_mtime_ns
    assert mutants.killed(toys["return x + 1"], [], library, 500)
    assert not mutants.killed(toys["return least(x) / 2"], [], library, 500)
    assert (place.read_text(), place.stat().st_mtime_ns) == (TOYS, times)
    with pytest.raises(SystemExit, match="tests cannot be run by their names"):
        mutants.killed(toys["return least(x) / 2"], ["tests/toys/test_toys.py::test_gone"], library, 500)


def test_equivalent_mutants_are_known_by_file_and_lines(tmp_path, monkeypatch):
    one = next(iter(lines(tmp_path).values()))
    monkeypatch.setattr(mutants, "EQUIVALENT", tmp_path / "known.toml")
    (tmp_path / "known.toml").write_text(
        f'[[mutant]]\nfile = "toy.py"\nbefore = "{one.before}"\nafter = "{one.after}"\nwhy = "for this test"\n'
    )
    assert [mutants.is_equivalent(mutant) for mutant in lines(tmp_path).values()].count(True) == 1


def test_every_equivalent_mutant_of_the_library_can_still_be_made_and_has_a_reason():
    import tomllib

    for known in tomllib.loads(mutants.EQUIVALENT.read_text()).get("mutant", []):
        made = {(m.before, m.after) for m in mutants.mutants_of(mutants.LIBRARY / known["file"])}
        assert (known["before"], known["after"]) in made and len(known["why"].split()) > 3
