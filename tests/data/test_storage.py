"""Files of data sets: only what has the pinned hash is used, and what goes wrong leaves nothing behind."""

import gzip
import hashlib
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from cofactor.core.errors import DatasetUnavailableError
from cofactor.data import registry, storage
from cofactor.data.loading import datasets, load
from cofactor.data.storage import fetch, verify

LABELS, TRUTH = b"1\t1\t1\n1\t2\t2\n2\t1\t2\n", b"1\t1\n"
CRLF = LABELS.replace(b"\n", b"\r\n")
COPIES = [("labels", "a.txt", LABELS), ("truth", "t.txt", TRUTH), ("labels", "b.txt", CRLF)]
NOWHERE = "http://127.0.0.1:9"  # the discard port: nobody answers


def toy(url=NOWHERE):
    """Return a registry of one small set, whose labels have two copies."""
    head = """
    [toy]
    title = "Toy"
    kind = "crowd"
    n_tasks = 2
    n_workers = 2
    n_classes = 2
    n_labels = 3
    n_truth = 1
    classes = ["a", "b"]
    licence = "none"
    redistributable = false
    citation = "nobody"
    source = "here"
    """
    files = [
        f"""
        [[toy.files]]
        role = "{role}"
        reader = "tsv"
        name = "{name}"
        bytes = {len(content)}
        sha256 = "{hashlib.sha256(content).hexdigest()}"
        url = "{url}/{name}"
        """
        for role, name, content in COPIES
    ]
    return head + "".join(files)


def fill(folder, **others):
    """Write the files into a folder; `others` replaces the content of some, None leaves one out."""
    for _, name, content in COPIES:
        content = others.get(name[0], content)
        if content is not None:
            (folder / name).write_bytes(content)


@pytest.fixture
def server(monkeypatch):
    """Serve what a test puts in `files` on the loopback; bytes after `cut` never arrive (0: not even an answer)."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path.strip("/"))
            if serve.cut == 0:
                release.wait(60)
            content = files.get(self.path.strip("/"))
            self.send_response(404 if content is None else 200)
            for header in serve.headers.items():
                self.send_header(*header)
            if not serve.headers:
                self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            for byte in (content or b"")[: serve.cut] if serve.slow else b"":
                self.wfile.write(bytes([byte]))
                release.wait(serve.slow)
            self.wfile.write(b"" if serve.slow else (content or b"")[: serve.cut])
            self.wfile.flush()
            if serve.stall:
                begun.set()
                release.wait(60)

        def log_message(self, *args):
            pass

        def handle(self):
            with suppress(ConnectionError):  # of those who do not wait for the end
                super().handle()

    files, asked, begun, release = {}, [], threading.Event(), threading.Event()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    serve = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serve.files, serve.asked, serve.begun, serve.cut, serve.stall = files, asked, begun, None, False
    serve.slow, serve.headers = 0.0, {}
    serve.url = f"http://127.0.0.1:{serve.server_address[1]}"
    thread = threading.Thread(target=serve.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield serve
    release.set()
    serve.shutdown()
    thread.join()
    serve.server_close()


def contents(folder):
    return sorted(path.name for path in folder.glob("*")) if folder.exists() else []


# ---- the mirror ----


def test_mirror_serves_in_place_of_the_network(register, mirror, data):
    register(toy())
    fill(mirror)
    assert load("toy").labels.votes.tolist() == [[1, 1], [0, 1]]
    assert load("toy").truth.tolist() == [0, -1]
    assert contents(data) == ["a.txt", "t.txt"]


def test_fetch_reads_nothing_and_returns_the_files(register, mirror, data, monkeypatch):
    register(toy())
    fill(mirror)
    assert fetch("toy") == [data / "a.txt", data / "t.txt"]
    monkeypatch.delenv("COFACTOR_MIRROR")
    assert fetch("toy") == [data / "a.txt", data / "t.txt"]


def test_second_copy_serves_if_the_first_is_not_there(register, mirror, data):
    register(toy())
    fill(mirror, a=None)
    assert load("toy").labels.n_labels == 3
    assert contents(data) == ["b.txt", "t.txt"]


def test_cached_second_copy_spares_the_download_of_the_first(register, data):
    register(toy())
    data.mkdir()
    fill(data, a=None)
    assert fetch("toy") == [data / "b.txt", data / "t.txt"]


def test_wrong_hash_says_expected_and_got_and_leaves_no_file(register, mirror, data):
    register(toy())
    fill(mirror, a=b"1\t1\t1\n", b=b"<html>log in</html>")
    with pytest.raises(DatasetUnavailableError) as caught:
        load("toy")
    for content in (LABELS, CRLF, b"1\t1\t1\n", b"<html>log in</html>"):
        assert hashlib.sha256(content).hexdigest() in str(caught.value)
    assert "Do one of the following" in str(caught.value)
    assert set(contents(data)) <= {"t.txt"}


def broken_off(file):
    yield b"1\t"
    raise ConnectionResetError("broken off")


def test_half_file_in_the_cache_is_never_read(register, data, monkeypatch):
    register(toy())
    data.mkdir()
    fill(data, a=LABELS[:12], b=None)  # two whole lines of three: it would read
    monkeypatch.setattr(storage, "_pieces", broken_off)
    with pytest.raises(DatasetUnavailableError, match="broken off"):
        load("toy")


def test_folder_that_cannot_be_written_says_so(register, mirror, data):
    register(toy())
    fill(mirror)
    data.write_text("a file where the folder should be")
    with pytest.raises(DatasetUnavailableError, match="set COFACTOR_DATA to another"):
        load("toy")


# ---- HTTP ----


def test_downloads_once(register, server, data):
    register(toy(server.url))
    server.files.update({name: content for _, name, content in COPIES})
    assert load("toy").labels.n_labels == load("toy").labels.n_labels == 3
    assert sorted(server.asked) == ["a.txt", "t.txt"]
    assert contents(data) == ["a.txt", "t.txt"]


def test_transfer_that_breaks_off_leaves_nothing(register, server, data):
    register(toy(server.url))
    server.files.update({name: content for _, name, content in COPIES})
    server.cut = 2
    with pytest.raises(DatasetUnavailableError, match=r"a\.txt from http"):
        fetch("toy")
    assert contents(data) == []


def test_silent_server_does_not_hang(register, server, data, monkeypatch):
    register(toy(server.url))
    server.files.update({name: content for _, name, content in COPIES})
    server.cut = 0
    monkeypatch.setattr(storage, "TIMEOUT", 0.25)
    with pytest.raises(DatasetUnavailableError, match=r"Read timed out.*0\.25"):
        fetch("toy")
    assert contents(data) == []


def test_slow_server_is_left_in_the_end(register, server, data, monkeypatch):
    register(toy(server.url))
    server.files.update({name: content for _, name, content in COPIES})
    server.slow = 0.05
    monkeypatch.setattr(storage, "LONGEST", 0.2)
    with pytest.raises(DatasetUnavailableError, match=r"TimeoutError: \d of 18 bytes arrived in 0\.2 seconds"):
        fetch("toy")
    assert contents(data) == []


@pytest.mark.slow
@pytest.mark.parametrize("how", ["server", "mirror"])
def test_no_more_is_read_than_is_registered(register, server, data, monkeypatch, tmp_path, how):
    register(toy(server.url))
    large = LABELS + bytes(1 << 26)
    if how == "server":
        server.files.update({"a.txt": large, "b.txt": large})
    else:
        fill(tmp_path, a=large, b=large)
        monkeypatch.setenv("COFACTOR_MIRROR", str(tmp_path))
    read, pieces = [], storage._pieces

    def watched(file):
        for piece in pieces(file):
            read.append(len(piece))
            yield piece

    monkeypatch.setattr(storage, "PIECE", 64)
    monkeypatch.setattr(storage, "_pieces", watched)
    with pytest.raises(DatasetUnavailableError, match="more than the registered 18 bytes arrived"):
        fetch("toy")
    assert max(read) <= 64 and sum(read) <= 128 and contents(data) == []


def test_what_a_server_packed_is_not_unpacked(register, server, data):
    register(toy(server.url))
    packed = gzip.compress(LABELS)
    server.files.update({"a.txt": packed, "b.txt": packed})
    server.headers = {"Content-Encoding": "gzip"}
    with pytest.raises(DatasetUnavailableError, match="more than the registered 18 bytes"):
        fetch("toy")
    assert contents(data) == []


def test_an_answer_in_chunks_is_one_file(register, server, data):
    register(toy(server.url))
    server.files.update({name: b"%x\r\n%s\r\n0\r\n\r\n" % (len(c), c) for _, name, c in COPIES})
    server.headers = {"Transfer-Encoding": "chunked"}
    assert load("toy").labels.n_labels == 3


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_other_users_of_a_cache_can_read_it(register, mirror, data):
    register(toy())
    fill(mirror)
    before = os.umask(0o022)
    try:
        fetch("toy")
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in data.iterdir()} == {0o644}


def test_a_file_is_downloaded_once_by_two_at_the_same_time(register, server, data):
    register(toy(server.url))
    server.files.update({name: content for _, name, content in COPIES})
    server.slow = 0.02
    threads = [threading.Thread(target=fetch, args=["toy"]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(server.asked) == ["a.txt", "t.txt"] and contents(data) == ["a.txt", "t.txt"]


def test_offline_names_set_file_address_and_ways_out(register, server):
    register(toy())
    with pytest.raises(DatasetUnavailableError) as caught:
        load("toy")
    for needed in ["'toy'", "a.txt", "b.txt", f"{NOWHERE}/a.txt", "network", "COFACTOR_MIRROR", "COFACTOR_DATA"]:
        assert needed in str(caught.value)


def test_offline_advises_the_sets_that_need_no_network(monkeypatch, server):
    monkeypatch.setattr(storage, "_pieces", broken_off)
    with pytest.raises(DatasetUnavailableError, match=r"needs no network: bluebird, digits, car, credit, "):
        load("dog")


KILLED = """
import sys
from cofactor.data import registry, fetch
from pathlib import Path
registry.DATASETS_DIR = Path(sys.argv[1])
fetch("toy")
"""


@pytest.mark.slow
def test_killed_download_leaves_no_file_under_a_registered_name(register, server, data):
    register(toy(server.url))
    server.files.update({name: content for _, name, content in COPIES})
    server.cut, server.stall = 2, True
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(registry.DATASETS_DIR)], env=dict(os.environ))
    try:
        assert server.begun.wait(60)
    finally:
        child.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        child.wait()
    assert not {"a.txt", "b.txt", "t.txt"} & set(contents(data))
    server.cut, server.stall = None, False
    assert load("toy").labels.n_labels == 3


# ---- verify and the list ----


def test_verify_tells_sound_damaged_and_absent_files_apart(register, data):
    register(toy())
    assert verify("toy") == {"a.txt": "absent", "t.txt": "absent", "b.txt": "absent"}
    data.mkdir()
    fill(data, a=LABELS + b"2\t2\t1\n", b=None)
    assert verify("toy") == {"a.txt": "damaged", "t.txt": "ok", "b.txt": "absent"}


def test_list_tells_what_can_be_had_offline(register, mirror, data):
    register(toy())
    assert datasets().offline.tolist() == [False]
    fill(mirror, t=None)
    assert datasets().offline.tolist() == [False]
    data.mkdir()
    fill(data, a=None, b=None)
    assert datasets().offline.tolist() == [True]
