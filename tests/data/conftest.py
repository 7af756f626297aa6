"""Every test has its own empty data folder, no mirror unless it asks for one, and no network."""

import socket
from pathlib import Path

import pytest

from cofactor.data import registry


class Network(Exception):
    """Not an OSError, which would count as a failed download."""


def refuse(*args, **kwargs):
    raise Network("a test opened a socket")


@pytest.fixture(autouse=True)
def isolated(request, tmp_path, monkeypatch):
    monkeypatch.setenv("COFACTOR_DATA", str(tmp_path / "data"))
    if not request.node.get_closest_marker("needs_mirror"):
        monkeypatch.delenv("COFACTOR_MIRROR", raising=False)
    if "server" not in request.fixturenames:
        monkeypatch.setattr(socket, "socket", refuse)


@pytest.fixture
def data(tmp_path) -> Path:
    """Return the data folder; it is made by the first download."""
    return tmp_path / "data"


@pytest.fixture
def mirror(tmp_path, monkeypatch) -> Path:
    """Return an empty mirror."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    monkeypatch.setenv("COFACTOR_MIRROR", str(folder))
    return folder


@pytest.fixture
def register(tmp_path, monkeypatch):
    """Return a function that replaces the registry by the given text."""

    def replace(text):
        folder = tmp_path / "datasets"
        folder.mkdir(exist_ok=True)
        (folder / "registry.toml").write_text(text, encoding="utf8")
        monkeypatch.setattr(registry, "DATASETS_DIR", folder)

    return replace
