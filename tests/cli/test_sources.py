"""What is no regular file is read once; streams that are closed, folders of the user, and signals end in order."""

import os
import signal
import subprocess
import sys
import time

import pytest

MAIN = "import sys; from cofactor_app.cli import main; sys.exit(main())"
ROWS = "task,worker,label\n" + "".join(f"{n},w{m},{'ab'[n % 2]}\n" for n in range(4) for m in range(3))


def run(words, folder, shell="", **options):
    """Run a command as a process in a folder; a shell may redirect its streams."""
    command = [sys.executable, "-P", "-c", MAIN, *words]
    if shell:
        command = ["bash", "-c", f'"$@" {shell}', "bash", *command]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, **options)


@pytest.mark.slow
def test_pipes_and_standard_streams_are_read_and_written_once(tmp_path):
    file = tmp_path / "l.csv"
    file.write_text(ROWS)
    quick = ["--method", "MajorityVote"]
    expected = run(["aggregate", str(file), *quick], tmp_path).stdout
    assert expected.startswith("4 tasks, 3 workers")
    for source, shell in (("/dev/stdin", f"< <(cat {file})"), ("/dev/fd/3", f"3< <(cat {file})"), ("-", f"< {file}")):
        found = run(["aggregate", source, *quick], tmp_path, shell)
        assert (found.stdout, found.returncode) == (expected, 0), (source, found.stderr)
    written = run(["aggregate", str(file), *quick, "-o", "/dev/stdout"], tmp_path)
    assert written.stdout.startswith("task,label,probability") and written.returncode == 0
    closed = run(["aggregate", "-", *quick], tmp_path, "<&-")
    assert (
        closed.returncode == 1
        and closed.stderr == "error: standard input is closed: redirect a file to it, or pass a file name\n"
    )


@pytest.mark.slow
def test_a_module_in_the_working_folder_enters_no_process(tmp_path):
    for name in ("queue", "tempfile", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('entered')\n")
    (tmp_path / "own.py").write_text(
        "import numpy\n\nclass Own:\n    def fit(self, labels):\n        return self\n\n"
        "    def predict(self, labels):\n        return numpy.zeros(len(labels.tasks), int)\n"
    )
    found = run(["bench", "own.py:Own", "bluebird", "--keep", "k.jsonl"], tmp_path)
    assert found.returncode == 0 and "entered" not in found.stdout + found.stderr, found.stderr


@pytest.mark.slow
def test_sigterm_leaves_no_lock_and_no_part_of_an_output(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import time\n\nclass Slow:\n    def fit(self, labels):\n"
        "        open('begun', 'w').close()\n        time.sleep(100)\n"
    )
    (tmp_path / "l.csv").write_text(ROWS)
    words = [sys.executable, "-P", "-c", MAIN, "aggregate", "l.csv", "--method", "slow.py:Slow", "-o", "out.csv"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        for _ in range(600):
            if (tmp_path / "begun").exists():
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
    assert not [name for name in os.listdir(tmp_path) if "out.csv" in name]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of address space are Linux's")
def test_a_capped_address_space_ends_in_a_sentence(tmp_path):
    import resource

    (tmp_path / "l.csv").write_text(ROWS)

    def cap():
        resource.setrlimit(resource.RLIMIT_AS, (350 << 20, 350 << 20))

    found = run(["aggregate", "l.csv"], tmp_path, preexec_fn=cap)
    assert found.returncode == 1 and found.stderr.count("\n") == 1 and "memory" in found.stderr, found.stderr


def test_the_package_starts_where_the_home_may_not_be_looked_into(tmp_path, monkeypatch):
    import cofactor

    seen = os.path.exists
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "locked"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(cofactor.os, "access", lambda *_: False)
    monkeypatch.setattr(cofactor.os.path, "exists", lambda path: "locked" not in str(path) and seen(path))
    monkeypatch.setattr("pathlib.Path.exists", lambda path: (_ for _ in ()).throw(PermissionError(str(path))))
    cofactor._let_compiled_code_be_kept()
    assert os.path.isdir(os.environ["NUMBA_CACHE_DIR"])
