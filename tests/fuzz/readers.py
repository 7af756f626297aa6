"""Every place where bytes of a file come in: small sound files, and the function that reads them.

A reader's files lie in one folder, sound but for one: the damaged one, whose path `read` gets.
"""

import contextlib
import io
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from unittest import mock

import numpy as np
import pandas as pd

import cofactor as cf
from cofactor.data import (
    comparisons,
    load_mag,
    load_movielens,
    movielens,
    published,
    readers,
    registry,
    tabular,
    topics,
)
from cofactor.reading.truth import read_truth
from cofactor.reading.votes import read_votes
from cofactor_app.cli import main
from evaluation import trials
from tests.fuzz import structures
from tests.fuzz.mutations import PACKERS, damaged, packed


@dataclass
class Reader:
    """Sound files by name, how they are read, and how a broken one is made where its format is not text."""

    files: dict[str, bytes]
    read: Callable[[Path], object]
    made: dict[str, Callable[[Random], bytes]] = field(default_factory=dict)
    packs: tuple[str, ...] = ()


def case(name, number):
    """File `number` of a reader: its name and its bytes."""
    reader, random = READERS[name], Random(f"{name} {number}")
    target = random.choice(list(reader.files))
    if reader.packs and random.random() < 0.3:
        pack = random.choice(reader.packs)
        return target + pack, packed(reader.files[target], pack, random)
    if target in reader.made and random.random() < 0.6:
        return target, reader.made[target](random)
    return target, damaged(reader.files[target], random)


@contextlib.contextmanager
def opened(name):
    """Yield a function that reads file `number` of a reader, in a folder of its own."""
    reader = READERS[name]
    with tempfile.TemporaryDirectory(prefix="cofactor-fuzz-") as folder:
        for file, raw in reader.files.items():
            Path(folder, file).write_bytes(raw)

        def read(number):
            file, raw = case(name, number)
            path = Path(folder, file)
            path.write_bytes(raw)
            try:
                return reader.read(path)
            finally:
                path.unlink(missing_ok=True)
                if file in reader.files:
                    path.write_bytes(reader.files[file])

        yield read


# ---- crowds ----

LABELS = b"task,worker,label\n" + b"".join(b"t%d,w%d,%s\n" % (n % 5, n % 3, b"yn"[n % 2 :][:1]) for n in range(15))
CODES = b"task,worker,label\n" + b"".join(b"%d,%d,%d\n" % (n // 3, n % 3, n % 2) for n in range(12))
CROWD = cf.CrowdLabels.from_arrays(
    [0, 0, 0, 1, 1, 1, 2, 2, 3], [0, 1, 2, 0, 1, 2, 0, 1, 2], [0, 1, 0, 1, 1, 1, 0, 0, 1]
)


def _bytes(write):
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def _use_crowd(labels):
    assert labels.votes.shape == (labels.n_tasks, labels.n_classes)
    return labels


# ---- command line ----


def _command(*arguments):
    """Run a command: exit codes are the answer, also those of argparse."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = main([str(argument) for argument in arguments])
    if code not in (0, 1):
        raise AssertionError(f"exit code {code}")


# ---- data sets ----

FOOD = b"user,item_a,item_b,preference\n0,1,2,1\n1,2,3,-1\n0,3,1,0\n"
CARS = b"User ID, Item1 ID, Item2 ID, Is Control\n1,1,2,0\n2,3,1,0\n2,2,1,1\n"
ANSWERS = np.array([[[0, 1], [1, 2]], [[2, 0], [0, 0]]])
COLORS = {comparisons.ANSWERS: ANSWERS * (1 - np.eye(2, dtype=int))[:, :, None], "CIELAB": np.ones((2, 3))}
DOCUMENTS = {"fea": np.array([[1.0, 0, 2], [0, 3, 0]]), "gnd": np.array([[1], [2]])}
COLUMNS = {"size": ["small", "big"], "weight": "number", "class": ["yes", "no"]}
TABLES = {
    "csv": b"size,weight,class\nsmall,1.5,yes\nbig,2,no\n?,3,no\n",
    "commas": b"small,1.5,yes\nbig,2,no\n",
    "blanks": b"small 1.5 yes\nbig 2 no\n",
    "codes": b"0,1.5,1\n1,2,0\n2,2,0\n",
    "pmlb": b"size\tweight\ttarget\n0\t1.5\t1\n1\t2\t0\n",
}
RATINGS = b"userId,movieId,rating,timestamp\n1,31,2.5,1260759144\n1,29,3.0,1260759179\n7,31,5.0,1260759182\n"
MOVIES = b'movieId,title,genres\n31,Dangerous Minds (1995),Drama\n29,"City, The (1995)",Drama|Thriller\n'
EDGES = b"2\t1\n3\t2\n4\t1\n"
SHARES = b"1 1 1.0\n2 1 0.25\n2 2 0.75\n3 2 1.0\n4 1 0.5\n4 2 0.5\n"
FEATURES = np.arange(6, dtype=np.float32).reshape(3, 2)


def _table(path):
    return tabular.read_table(path, path.stem, COLUMNS, "class")


def _movielens(path):
    data = load_movielens(path.parent)
    return data.table(), data.users


def _labels_of(path):
    reader = {".tsv": "tsv", ".csv": "csv", ".txt": "matrix"}[Path(path.name.removesuffix(".gz")).suffix]
    return readers.read_labels(path, reader, 3, 2, 2)


def _truth_of(path):
    reader = {".tsv": "tsv", ".csv": "csv", ".txt": "classes"}[path.suffix]
    return readers.read_truth(path, reader, 3, 2)


# ---- experiments ----


OUTCOME = {"setting": "small", "trial": 0, "code": "0", "rows": [["A", "error", 0.5, 1.0, ""]]}
PUBLISHED = b"setting,method,metric,value,spread,unit,note\nsmall,A,error,11.11,,%,\nsmall,A,seconds,0.72,0.1,s,\n"


REGISTRY = b"""
[toy]
title = "Toy"
kind = "crowd"
licence = "none"
redistributable = false
citation = "nobody"
source = "nowhere"
n_tasks = 3
files = [{ role = "labels", reader = "tsv", name = "toy.tsv", bytes = 12, sha256 = "00", url = "http://nowhere" }]
"""


def _published(path):
    folder = path.parent / "published"
    folder.mkdir(exist_ok=True)
    shutil.copy(path, folder / "table.csv")
    with mock.patch.object(published, "DATASETS_DIR", path.parent):
        return published.published("table")


def _registry(path):
    with mock.patch.object(registry, "DATASETS_DIR", path.parent):
        return registry.entries()


def _csv_reader(text, read, packs=tuple(PACKERS)):
    return Reader({"file.csv": text}, read, packs=packs)


COMPARED = b"user,left,right,outcome,n\nann,tea,milk,1,2\nbob,tea,gin,0,1\nann,gin,milk,0.5,3\n"
VOTES = b"winner,loser,user,outcome,weight,len\ntea,milk,ann,1,2,0.5\nmilk,gin,bob,tie,1,-1\ngin,tea,ann,0,3,2\n"
TRUTH = b"task,truth\n0,1\n1,0\n"
STUDIO = [
    {
        "id": n,
        "data": {"text": "t"},
        "annotations": [
            {
                "id": 3 * n + m,
                "completed_by": {"id": m, "email": f"{m}@x.org"} if m else 0,
                "was_cancelled": False,
                "result": [{"from_name": "q", "type": "choices", "value": {"choices": ["yn"[(n + m) % 2]]}}],
            }
            for m in range(2)
        ],
    }
    for n in range(2)
]
PRODIGY = {"_input_hash": 1, "_task_hash": 2, "_session_id": "a", "options": [], "accept": ["y"], "answer": "accept"}
ROWS = {"task": ["a", "a", "b"], "worker": [1, 2, 1], "label": ["y", "n", "n"]}
EXPORTS = {
    "studio.json": json.dumps(STUDIO).encode(),
    "prodigy.jsonl": "\n".join(json.dumps(PRODIGY | {"accept": [c], "_session_id": c}) for c in "yn").encode(),
    "rows.jsonl": pd.DataFrame(ROWS).to_json(orient="records", lines=True).encode(),
    "rows.parquet": _bytes(pd.DataFrame(ROWS).to_parquet),
}

READERS = {
    "CrowdLabels.from_file": Reader(
        EXPORTS,
        lambda path: _use_crowd(cf.CrowdLabels.from_file(path)),
        {
            "studio.json": lambda random: structures.json_text(STUDIO, random),
            "prodigy.jsonl": lambda random: structures.json_text(PRODIGY, random),
            "rows.parquet": lambda random: structures.parquet(ROWS, random),
        },
    ),
    "CrowdLabels.from_csv": _csv_reader(LABELS, lambda path: _use_crowd(cf.CrowdLabels.from_csv(path))),
    "read_truth of labels": _csv_reader(TRUTH, lambda path: read_truth(path, CROWD)),
    "read_votes": _csv_reader(VOTES, lambda path: read_votes(path, covariates=["len"])),
    "Comparisons.from_csv": _csv_reader(COMPARED, lambda path: cf.Comparisons.from_csv(path, counts="n").components),
    "cofactor aggregate": _csv_reader(CODES, lambda path: _command("aggregate", path, "--method", "MajorityVote")),
    "cofactor diagnose": _csv_reader(CODES, lambda path: _command("diagnose", path)),
    "codes of labels": Reader(
        {
            "a.tsv": b"1\t1\t2\n2\t2\t1\n3\t1\t1\n",
            "b.csv": b"task,worker,label\n0,0,1\n1,1,0\n2,0,0\n",
            "c.txt": b"0 1\n-1 1\n1 0\n",
        },
        _labels_of,
        packs=(".gz",),
    ),
    "codes of truth": Reader(
        {"a.tsv": b"1\t2\n2\t1\n", "b.csv": b"task,truth\n0,1\n1,0\n", "c.txt": b"0\n1\n1\n"}, _truth_of
    ),
    "features": Reader(
        {"f.npy": _bytes(lambda file: np.save(file, FEATURES))},
        readers.read_features,
        {"f.npy": lambda random: structures.npy(FEATURES, random)},
    ),
    "tables": Reader({f"{name}.txt": text for name, text in TABLES.items()}, _table, packs=()),
    "ratings": Reader({"ratings.csv": RATINGS}, movielens.read_ratings),
    "movies": Reader({"movies.csv": MOVIES}, movielens.read_movies),
    "load_movielens": Reader({"ratings.csv": RATINGS, "movies.csv": MOVIES}, _movielens),
    "documents": Reader(
        {"d.mat": structures.matlab_file(DOCUMENTS)},
        lambda path: topics.read_documents(path, (2, 3), 2),
        {"d.mat": lambda random: structures.mat(DOCUMENTS, random)},
    ),
    "colors": Reader(
        {"c.mat": structures.matlab_file(COLORS)},
        lambda path: comparisons.read_colors(path, 2, 2),
        {"c.mat": lambda random: structures.mat(COLORS, random)},
    ),
    "food": Reader(
        {"food.csv": FOOD, "items.csv": b"item,name\n1,soup\n2,salad\n3,cake\n"},
        lambda path: comparisons.read_food(path.parent / "food.csv", path.parent / "items.csv", 2, 3),
    ),
    "cars": Reader({"cars.csv": CARS}, lambda path: comparisons.read_cars(path, 2, 3)),
    "features of cars": Reader(
        {"cars.csv": b"Item ID,BodyType,Engine\n1,1,2.5\n2,2,3.5\n"},
        lambda path: comparisons.read_car_features(path, 2),
    ),
    "load_mag": Reader({"MAG1_adjacency.txt": EDGES, "MAG1_community.txt": SHARES}, lambda path: load_mag(path.parent)),
    "results of experiments": Reader(
        {"toy.jsonl": json.dumps(OUTCOME).encode() + b"\n"},
        trials.read,
        {"toy.jsonl": lambda random: structures.json_text(OUTCOME, random)},
    ),
    "published numbers": Reader({"p.csv": PUBLISHED}, _published),
    "registry": Reader({"registry.toml": REGISTRY}, _registry),
}
