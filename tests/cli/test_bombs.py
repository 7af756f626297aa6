"""Files made to fill the memory, to hang, or to run code: refused in one sentence, soon, and in little memory.

Every command runs in a copy of one process, which a limit of memory and one of processor time end. Run as a module,
`python -m tests.cli.test_bombs FOLDER` prints the seconds of the processor and the memory that each file took.
"""

import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import pickle
import resource
import struct
import subprocess
import sys
import zipfile
import zlib
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

MEMORY = 900 << 20  # bytes beyond what is loaded before a command runs, which loads some 250 MB more
SECONDS = 4  # of the processor: what is refused takes less than one where nothing else runs
DEEP = b"[" * 10**5 + b"]" * 10**5
ZEROS = b"\0" * (1 << 24)
LABELS = "task,worker,label\n" + "".join(f"t{n // 3},w{n % 3},{'yn'[n % 7 % 2]}\n" for n in range(36))
MATLAB = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x100) + b"IM"
RATED = ("truth", "gold")
ROWS = 6 * 10**7
COO = "%%MatrixMarket matrix coordinate real general\n"


class Mark:
    """What leaves a mark where it is unpickled."""

    def __reduce__(self):
        return (Path.touch, (Path("unpickled"),))


def array(values):
    """Bytes of an .npy file."""
    file = io.BytesIO()
    np.save(file, np.asarray(values), allow_pickle=True)
    return file.getvalue()


def claim(*shape, kind="<f8"):
    """Bytes of an .npy file that claims a shape."""
    head = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + bytes(64)


def archive(parts, fill=None):
    """An .npz file of these members; a packed one of zeros without end, where it is named."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if fill else zipfile.ZIP_STORED) as packed:
        for name, content in parts.items():
            with packed.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(content)
                for _ in range(60 * (name == fill)):
                    member.write(ZEROS)
    return file.getvalue()


def element(kind, content):
    """An element of a .mat file, filled up to 8 bytes."""
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def matrix(rows, columns, content=bytes(64)):
    """A matrix of a .mat file that claims this many rows and columns."""
    head = [(6, struct.pack("<II", 6, 0)), (5, struct.pack("<ii", rows, columns)), (1, b"X"), (9, content)]
    return element(14, b"".join(element(*one) for one in head))


def of_matrices():
    """Yield files of matrices."""
    packed = zlib.compress(matrix(4, 4, bytes(1 << 27)))
    sparse = {"row": array([0]), "col": array([0]), "data": array([1.0]), "format": array(b"coo")}
    found = {
        "claims.npy": claim(10**6, 10**6),
        "pickle.npy": array(np.array([[Mark()]], dtype=object)),
        "claims.npz": archive({"X": claim(10**6, 10**6)}),
        "packed.npz": archive({"X": claim(1000, 10**6, kind="|u1")}, fill="X"),
        "wide.npz": archive(sparse | {"shape": array([3, 10**12])}),
        "tall.npz": archive(sparse | {"shape": array([10**9, 3])}),
        "tall.mtx": f"{COO}1000000000 3 1\n1 1 1.0\n".encode(),
        "wide.mtx": f"{COO}3 1000000000 1\n1 1 1.0\n".encode(),
        "many.mtx": f"{COO}3 3 1000000000000\n1 1 1.0\n".encode(),
        "claims.mat": MATLAB + matrix(2**30, 2**30),
        "packed.mat": MATLAB + struct.pack("<II", 15, len(packed)) + packed,
        "pickle.mat": pickle.dumps(Mark()),
    }
    for name, content in found.items():
        yield name, content, ["anchors", name]


def of_tables():
    """Yield tables, and the commands that read one."""
    head, rows = b"task,worker,label\n", ZEROS * 6
    packers = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    for ending, pack in packers.items():
        yield f"zeros.csv.{ending}", pack(head + rows), ["aggregate", f"zeros.csv.{ending}"]
    commands = (["aggregate"], ["rank"], ["joint"], *(["aggregate", "labels.csv", f"--{n}"] for n in RATED))
    within = b'[{"task":1,"worker":2,"label":' + DEEP + b"}]"
    for words in commands:
        for name, content in {"deep.json": DEEP, "within.json": within, "record.pkl": pickle.dumps(Mark())}.items():
            yield name, content, [*words, name]
    long = b"x" * 10**6
    yield "long.csv", b"a,b," + long + b"\n1,2,3\n", ["rank", "long.csv"]
    many = head + b"".join(b"%d,w%d,c%d\n" % (n, n % 9, n) for n in range(10**6))
    yield "many.csv", many, ["aggregate", "many.csv"]
    records = b"\n".join(b'{"task":%d,"worker":1,"label":"c%d"}' % (n, n) for n in range(10**5))
    yield "many.json", records, ["aggregate", "many.json"]
    for name, content in of_parquet():
        yield name, content, ["aggregate", name]


def of_parquet():
    """Yield parquet files: of one value sixty million times, and two that lie of how often."""
    child = os.fork()
    if not child:  # threads of pyarrow do not outlive a fork
        write_parquet()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    content = Path("rows.parquet").read_bytes()
    assert content.count(varint(ROWS)) >= 4  # rows of the file, values of each column
    yield "rows.parquet", content
    yield "more.parquet", content.replace(varint(ROWS), varint(134 * 10**6))
    yield "fewer.parquet", content.replace(varint(ROWS), varint(1_050_000))


def write_parquet():
    """Write three columns of one value each."""
    from pyarrow import DictionaryArray, array, parquet, table

    cells = DictionaryArray.from_arrays(array(np.zeros(ROWS, dtype=np.int8)), array(["x"]))
    parquet.write_table(table(dict.fromkeys(("task", "worker", "label"), cells)), "rows.parquet", row_group_size=ROWS)


def varint(number):
    """Bytes of a whole number in the tables of a parquet file: seven bits each, the lowest first; here four."""
    left = 2 * number
    return bytes([left & 127 | 128, left >> 7 & 127 | 128, left >> 14 & 127 | 128, left >> 21])


def prepare():
    """Write a sound file."""
    Path("labels.csv").write_text(LABELS)


def refused(words):
    """Run a command in a copy of this process; say what is wrong with how it ends, and what that took."""
    said, peak = Path("said"), Path("peak")
    peak.write_text("0")  # of one that is ended from outside
    child = os.fork()
    if not child:
        code, before = 70, rss()
        try:
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, -1))
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + round(sum(os.times()[:2])), -1))
            with said.open("w") as file, contextlib.redirect_stderr(file):
                code = main(words)
        finally:
            peak.write_text(str(1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
            os._exit(code)
    _, status, took = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    lines = [line for line in said.read_text().splitlines() if not line.startswith(("note: ", "warning: "))]
    sound = code == 1 and len(lines) == 1 and lines[0].startswith("error: ") and len(lines[0]) < 2000
    wrong = "" if sound and "not enough memory" not in lines[0] else f"exit code {code}: {str(lines)[:300]}"
    return wrong, took.ru_utime + took.ru_stime, int(peak.read_text())


def rss():
    """Bytes of memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def outcomes():
    """Yield of every file its name, seconds and bytes, and what is wrong: empty where it is refused as it should be."""
    for name, content, words in chain(of_matrices(), of_tables()):
        Path(name).write_bytes(content)
        found, seconds, size = refused(words)
        found = found or ("unpickled" if Path("unpickled").exists() else "")
        yield name, seconds, size, found and f"{name} by {' '.join(words)}: {found}"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits of memory need Linux")
def test_hostile_files_are_refused_soon_and_in_little_memory(tmp_path):
    command = [sys.executable, "-m", "tests.cli.test_bombs", str(tmp_path)]
    answer = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=300)
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout.splitlines()[-1])
    assert found["wrong"] == [] and found["cases"] > 30


if __name__ == "__main__":
    from cofactor_app.cli import main

    os.chdir(sys.argv[1])
    prepare()
    found = list(outcomes())
    for name, seconds, size, _ in sorted(found, key=lambda one: -one[1]):
        print(f"{name}: {seconds:.2f} s, {size / 1e6:.0f} MB")
    print(json.dumps({"cases": len(found), "wrong": [wrong for *_, wrong in found if wrong]}))
