"""The files of the corpus: the right table, or the right sentence, on every road on which labels come in."""

import copy
import csv
import io
import json
import warnings

import pandas as pd
import pytest

import cofactor as cf
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
    """What came of a file on one road: labels or an error, notes where the road has some, and what is wrong with it."""

    def __init__(self, labels=None, error=None, notes=None):
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
        return wrong + ([] if self.notes is None else self._wrong_notes(expected.get("notes", [])))

    def _wrong_notes(self, words):
        lacking = [f"no note {word!r}: {self.notes}" for word in words if not any(word in note for note in self.notes)]
        return lacking + [f"note {note!r}" for note in self.notes if not any(word in note for word in words)]


def report(differences):
    """Fail with one line a difference, by file."""
    lines = [f"{name}: {one[:300]}" for name, wrong in differences.items() for one in wrong]
    assert not lines, f"{len(lines)} differences\n" + "\n".join(lines)


def text_of(labels):
    """Rows of a CrowdLabels, all as text."""
    return [tuple(map(str, row)) for row in labels.to_frame().itertuples(index=False, name=None)]


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


def test_memory():
    differences = {}
    for name, expected in EXPECTED.items():
        read = recorded(cf.CrowdLabels.from_file, make.FILES / name, expected.get("options", {}))
        differences[name] = read.wrong(expected)
    report(differences)


def test_aggregate_says_one_sentence_or_writes_a_table(capsys):
    differences = {}
    for name, expected in EXPECTED.items():
        options = words(expected.get("options", {}))
        code = main(["aggregate", str(make.FILES / name), "--method", "MajorityVote", "-o", "-", *options])
        out, err = capsys.readouterr()
        errors = [line for line in err.splitlines() if line.startswith("error: ")]
        right = (1, 1, "") if "error" in expected else (0, 0, "task,label,probability,n_labels")
        found = code, len(errors), out.split("\n")[0]
        differences[name] = [] if found == right else [f"{found}: {err}"]
    report(differences)


def through(road, lacks, notes=True):
    """Hold one road to what is expected; returns of how many files.

    `lacks` has, of what a file may need, what the road says where it lacks it; None where there is no such option. A
    road without notes has words of its own, too.
    """
    differences = {}
    for name, expected in copy.deepcopy(EXPECTED).items():
        differs = expected.get("differs", {}).get(road.__name__)
        refused = [lacks[need] for need in expected.get("needs", ()) if need in lacks]
        if differs:
            expected = {"options": expected.get("options", {})} | differs
        elif None in refused:
            continue
        elif refused:
            expected = {"error": [refused[0]], "options": expected.get("options", {})}
        found = road(make.FILES / name, expected)
        if found is not None and not notes and "error" in expected:
            differences[name] = [] if found.error else [f"not refused: {found.labels}"]
        elif found is not None:
            found.notes = found.notes if notes and not refused else None
            differences[name] = found.wrong(expected)
    report(differences)
    return len(differences)


NO_OPTION = dict.fromkeys(("ignore", "classes", "merge"))


def test_shards(tmp_path, capsys):
    pytest.importorskip("duckdb")
    from cofactor_app.scale.shards import LabelShards

    def shards(path, expected):
        options = words(expected.get("options", {}))
        code = main(["shard", str(path), "-o", str(tmp_path / "shards"), "--force", *options])
        told = capsys.readouterr().err.splitlines()
        notes = [line.removeprefix("note: ") for line in told if line.startswith("note: ")]
        if code:
            return Found(error=told[-1], notes=notes)
        return Found([row for part in LabelShards.open(tmp_path / "shards") for row in text_of(part)], notes=notes)

    lacks = {"JSON": "JSON, which is not read in pieces", "wide": "told from all labels", "time": "is not read here"}
    lacks |= NO_OPTION | {"encoding": None}
    assert through(shards, lacks) > 400


def test_database():
    duckdb = pytest.importorskip("duckdb")
    from cofactor_app.scale.queries import Queries
    from cofactor_app.scale.warehouse import moments_of

    def database(path, expected):
        options = expected.get("options", {})
        table = loaded(path, options.get("sep"))
        names = [options.get(name, name) for name in ("task", "worker", "label")]
        if table is None or not set(names) <= set(table):
            return None
        when = "updated_at" if "updated_at" in table else "place"
        order = {"conflicts": options["conflicts"], "order": when} if "conflicts" in options else {}
        with duckdb.connect() as base:
            base.register("labels", table)
            quoted = ['"' + name.replace('"', '""') + '"' for name in names]
            queries = Queries("labels", quoted, **order)
            try:
                moments_of(base.execute(queries.counts()).df())
            except cf.CofactorError as refused:
                return Found(error=str(refused))
            found = base.execute(queries._translated("SELECT task, worker, label FROM cofactor_labels")).fetchall()
        return Found([(task.strip(), worker, label) for task, worker, label in found])

    assert through(database, NO_OPTION | {"encoding": None, "packed": None}, notes=False) > 200


def loaded(path, sep):
    """A text file as the owner of a database loads it: every row with all cells, as they stand there; else None."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        sep = sep or max(",\t;|", key=text.split("\n")[0].count)
        header, *rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=sep, strict=True) if row]
    except (ValueError, csv.Error):
        return None
    if (
        any(len(row) != len(header) for row in rows)
        or len({name.strip() for name in header}) < len(header)
        or "\0" in text
        or not rows
    ):
        return None
    return pd.DataFrame(rows, columns=header).assign(place=range(len(rows)))
