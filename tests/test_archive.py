"""tools/archive.py: the last commit as one file, with its checksum."""

import hashlib
import subprocess
import tarfile

import pytest

from tools.archive import archive

WHO = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org"]
LONG_AGO = 978307200  # seconds since 1970


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_COMMITTER_DATE", f"{LONG_AGO} +0000")
    (tmp_path / "read.me").write_text("as committed")
    (tmp_path / ".gitignore").write_text("/dist/\n")
    for command in (["init", "-q"], ["add", "."], [*WHO, "commit", "-q", "-m", "All of it"]):
        subprocess.run(["git", "-C", tmp_path, *command], check=True)
    return tmp_path


def test_the_archive_is_that_of_the_commit_and_has_its_checksum(project):
    packed, sums = archive(project)
    commit = subprocess.run(["git", "-C", project, "rev-parse", "HEAD"], capture_output=True, text=True).stdout
    assert packed.name == f"cofactor-{commit[:12]}.tar.gz" and packed.parent == project / "dist"
    with tarfile.open(packed) as content:
        assert content.extractfile(f"cofactor-{commit[:12]}/read.me").read() == b"as committed"
        assert {member.mtime for member in content} == {LONG_AGO}  # of the commit, whenever the archive is made
    assert sums.read_text() == f"{hashlib.sha256(packed.read_bytes()).hexdigest()}  {packed.name}\n"


def test_the_same_commit_gives_the_same_bytes(project):
    packed, sums = archive(project)
    first = sums.read_text()
    assert packed.read_bytes()[4:8] == bytes(4)  # gzip would keep the time of day here
    packed.unlink()
    sums.unlink()
    (project / "read.me").touch()  # the time of a file is not in it
    assert archive(project)[1].read_text() == first


def test_nothing_is_written_over(project):
    packed, sums = archive(project)
    sums.unlink()
    packed.write_bytes(b"mine")
    with pytest.raises(SystemExit, match=f"dist has {packed.name} already"):
        archive(project)
    assert packed.read_bytes() == b"mine" and not sums.exists()


@pytest.mark.parametrize("name", ["read.me", "new.txt"])
def test_what_is_not_committed_is_told_and_ends_it(project, name):
    (project / name).write_text("changed since")
    with pytest.raises(SystemExit, match=name):
        archive(project)
    assert not (project / "dist").exists()
