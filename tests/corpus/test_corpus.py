"""The files of the corpus: the right table, or the right sentence, from the library and from the command."""

import json
import warnings
from pathlib import Path

import pytest

import cofactor as cf
from cofactor.reading import labels
from cofactor_app.cli import main, visible
from tests.corpus import make

EXPECTED = json.loads(make.EXPECTED.read_text(encoding="utf8"))


def test_files_are_those_of_the_table_of_cases():
    cases = make.cases()
    there = {path.relative_to(make.FILES).as_posix() for path in make.FILES.rglob("*") if path.is_file()}
    assert len(cases) == len(there) >= 200 and {case.name for case in cases} == there
    assert make.EXPECTED.read_text(encoding="utf8") == make.expectations(cases)
    kept = [case for case in cases if not case.name.endswith(make.OF_A_LIBRARY) and "parquet" not in case.needs]
    assert [case.name for case in kept if (make.FILES / case.name).read_bytes() != case.content] == []


class Found:
    """What came of a file: labels or an error, all notes, and what is wrong with them."""

    def __init__(self, labels, error, notes):
        self.labels, self.error, self.notes = labels, error, notes

    def wrong(self, expected):
        """Return how this differs from what was expected."""
        said = [visible(self.error)] if self.error is not None else []
        if "labels" in expected and said:
            return [f"refused: {said[0]}"]
        if "labels" in expected and sorted(self.labels) != sorted(map(tuple, expected["labels"])):
            return [f"read: {self.labels}"]
        if "error" in expected and not said:
            return [f"not refused: {self.labels}"]
        wrong = [f"lacks {word!r}: {said[0]}" for word in expected.get("error", ()) if word not in said[0]]
        return wrong + self._wrong_notes(expected.get("notes", []))

    def _wrong_notes(self, words):
        lacking = [f"no note {word!r}: {self.notes}" for word in words if not any(word in note for note in self.notes)]
        return lacking + [f"note {note!r}" for note in self.notes if not any(word in note for word in words)]


def report(differences):
    """Fail with one line a difference, by file."""
    lines = [f"{name}: {one[:300]}" for name, wrong in differences.items() for one in wrong]
    assert not lines, f"{len(lines)} differences\n" + "\n".join(lines)


def text_of(found):
    """Rows of a CrowdLabels, all as text."""
    return [tuple(map(str, row)) for row in found.to_frame().itertuples(index=False, name=None)]


def recorded(read, path, options):
    """What a function that reads labels gives, with all it notes."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", cf.DataWarning)
        try:
            labels, error = text_of(read(path, **options)), None
        except cf.CofactorError as refused:
            labels, error = None, str(refused)
    return Found(labels, error, [str(one.message) for one in told])


def words(options):
    """Options of the library as those of a command."""
    found = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, list):
            found += [f"{option}={','.join(value)}"] if name == "classes" else [f"{option}={one}" for one in value]
        found += [option] * (value is True)
        found += [f"{option}={value}"] if isinstance(value, str) else []
    return found


@pytest.mark.slow
def test_large_files_come_out_as_small_ones(monkeypatch):
    """DuckDB is asked to read each file first, as if it were large: what it reads is read alike."""
    taken, read_by_duckdb = [], labels.coded_file

    def counted(path, *how):
        found = read_by_duckdb(path, *how)
        taken.append(path) if found is not None else None
        return found

    monkeypatch.setattr(labels, "is_large", lambda path: Path(path).is_file())
    monkeypatch.setattr(labels, "coded_file", counted)
    test_memory()
    assert len(taken) >= 150


def test_memory():
    """Every file has its outcome, by the reader of small files."""
    differences = {}
    for name, expected in EXPECTED.items():
        read = recorded(cf.CrowdLabels.from_file, make.FILES / name, expected.get("options", {}))
        differences[name] = read.wrong(expected)
    report(differences)


@pytest.mark.slow
def test_aggregate_says_one_sentence_or_writes_a_table(capsys):
    differences = {}
    for name, expected in EXPECTED.items():
        options = words(expected.get("options", {}))
        code = main(["aggregate", str(make.FILES / name), "--method", "MajorityVote", "-o", "-", *options])
        out, err = capsys.readouterr()
        errors = [line for line in err.splitlines() if line.startswith("error: ")]
        header = "task,label,probability,n_labels,disputed,overruled"
        right = (1, 1, "") if "error" in expected else (0, 0, header)
        found = code, len(errors), out.split("\n")[0]
        differences[name] = [] if found == right else [f"{found}: {err}"]
    report(differences)
