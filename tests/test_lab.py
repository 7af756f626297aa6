"""`kit.py lab` starts a server that listens on this machine alone and answers only those who know its token."""

import socket
import subprocess
import sys

import pytest
import requests

import kit
from tests.browser.conftest import lab_environment, stop, wait_for_server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Yield what JupyterLab, started as by `kit.py lab`, says about itself."""
    home = tmp_path_factory.mktemp("lab")
    words = [sys.executable, "-m", "jupyterlab", *kit.LAB, "--ServerApp.port=0", "--no-browser", "--allow-root"]
    with (home / "lab.log").open("wb") as log:
        started = subprocess.Popen(words, env=lab_environment(home), stdout=log, stderr=subprocess.STDOUT, cwd=home)
        try:
            yield wait_for_server(started, home)
        finally:
            stop(started)


@pytest.fixture
def ask(server):
    """Return a function that asks the server, on this machine without a proxy, and gives the status."""
    with requests.Session() as session:
        session.trust_env = False

        def status(path, method="GET", **headers):
            session.cookies.clear()
            address = f"http://127.0.0.1:{server['port']}/{path}"
            return session.request(method, address, headers=headers, allow_redirects=False, timeout=60).status_code

        yield status


@pytest.mark.slow
def test_only_this_machine_is_listened_to(server):
    assert server["hostname"] == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.2", server["port"]), timeout=60):
        pass


@pytest.mark.slow
def test_nobody_gets_in_without_the_token(server, ask):
    assert len(server["token"]) >= 40 and server["password"] is False
    token = {"Authorization": f"token {server['token']}"}
    for path in ("api/contents", "api/kernels", "api/terminals", "files/README.md"):
        assert ask(path) in (302, 403) and ask(path, Authorization="token wrong") in (302, 403)
        assert ask(path, **token) == 200
    assert ask("api/kernels", "POST") == 403


@pytest.mark.slow
def test_pages_of_other_sites_are_not_served(server, ask):
    token = {"Authorization": f"token {server['token']}"}
    assert ask("api/contents", Host="attacker.example", **token) == 403  # a name that was pointed at this machine
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    upgrade |= {"Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw==", "Origin": "http://attacker.example"}
    assert ask("terminals/websocket/1", **upgrade) == 403
