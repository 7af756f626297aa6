"""Damaged files: every reader reads them, or refuses them in one sentence; no other error comes out of it."""

import gzip
import io
import json
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse

import cofactor as cf
from cofactor.reading import read_frame, read_labels, read_matrix, read_truth, read_votes

LABELS = pd.DataFrame([(f"t{n}", f"w{m}", "ab"[(n + m) % 2]) for n in range(4) for m in range(3)])
LABELS.columns = ["task", "worker", "label"]
VOTES = pd.DataFrame({"winner": list("abcab"), "loser": list("bcacc"), "tie": list("00010")})
TRUTH = pd.DataFrame({"task": ["t0", "t1"], "truth": ["a", "b"]})
NUMBERS = np.arange(12.0).reshape(3, 4) % 5
STUDIO = [
    {"id": n, "data": {}, "annotations": [{"completed_by": m, "result": [
        {"type": "choices", "from_name": "q", "value": {"choices": ["ab"[m]]}}]} for m in range(2)]} for n in range(2)
]  # fmt: skip
PIECES = [b"", b"\x00", b"\xff", b'"', b",", b"\n", b"\r", b"\t", b"[", b"}", b"NaN", b"1e999", b"\xef\xbb\xbf", b"=1"]


def written(save):
    """Return what a function writes to a file."""
    file = io.BytesIO()
    save(file)
    return file.getvalue()


def zipped(data):
    return written(lambda file: zipfile.ZipFile(file, "w").writestr("l.csv", data) or None)


CSV = LABELS.to_csv(index=False).encode()
FILES = {  # name: (reader, bytes)
    "l.csv": (read_labels, CSV),
    "l.csv.gz": (read_labels, gzip.compress(CSV)),
    "l.parquet": (read_labels, written(lambda file: LABELS.to_parquet(file))),
    "l.jsonl": (read_labels, LABELS.to_json(orient="records", lines=True).encode()),
    "studio.json": (read_labels, json.dumps(STUDIO).encode()),
    "wide.csv": (read_labels, b"task,ann,ben,cy\n1,a,b,a\n2,b,b,a\n3,a,,a\n"),
    "v.csv": (read_votes, VOTES.to_csv(index=False).encode()),
    "battles.json": (read_votes, VOTES.to_json(orient="records").encode()),
    "truth.csv": (lambda path: read_truth(path, cf.CrowdLabels.from_frame(LABELS)), TRUTH.to_csv(index=False).encode()),
    "t.csv": (lambda path: read_frame(path, None), VOTES.to_csv(index=False).encode()),
    "m.csv": (read_matrix, b"a,b,c\n1,2,3\n4,5,6\n"),
    "m.npy": (read_matrix, written(lambda file: np.save(file, NUMBERS))),
    "m.npz": (read_matrix, written(lambda file: np.savez(file, X=NUMBERS))),
    "s.npz": (read_matrix, written(lambda file: sparse.save_npz(file, sparse.csr_array(NUMBERS)))),
    "m.mtx": (read_matrix, written(lambda file: scipy_io.mmwrite(file, sparse.coo_array(NUMBERS)))),
    "m.mat": (read_matrix, written(lambda file: scipy_io.savemat(file, {"X": NUMBERS}))),
}
damage = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), st.sampled_from(PIECES)), min_size=1, max_size=4)


def damaged(data, cuts):
    """Replace some bytes at each place by others."""
    for where, length, piece in cuts:
        at = int(where * len(data))
        data = data[:at] + piece + data[at + length :]
    return data


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@settings(max_examples=60, suppress_health_check=list(HealthCheck), derandomize=True)
@given(cuts=damage)
def test_a_damaged_file_is_read_or_refused(tmp_path_factory, name, cuts):
    read, data = FILES[name]
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(damaged(data, cuts))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", cf.DataWarning)
        try:
            read(path)
        except cf.CofactorError as error:
            assert len(str(error)) > 10 and "\n" not in str(error)


def test_sound_files_are_read(tmp_path):
    for name, (read, data) in FILES.items():
        (tmp_path / name).write_bytes(data)
        with warnings.catch_warnings(action="ignore"):
            read(tmp_path / name)
