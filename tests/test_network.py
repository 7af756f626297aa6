"""No test reaches the network."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
AWAY = ("dog", "rte", "trec", "labelme", "weather", "music_genre", "zencrowd", "movielens", "tdt2", "colors")
READERS = ("crowd", "comparisons", "separable", "evaluation")  # rooms whose tests read these sets


@pytest.mark.parametrize("host", ["192.0.2.1", "example.org", "2001:db8::1"])
def test_the_world_is_out_of_reach(host):
    with pytest.raises(BaseException, match="reached for") as caught:
        socket.create_connection((host, 80), timeout=0.2)
    assert not isinstance(caught.value, Exception)  # so that no handler of errors hides it


@pytest.mark.parametrize("method", ["connect", "connect_ex"])
def test_nor_by_number(method):
    with socket.socket() as client, pytest.raises(BaseException, match=r"reached for 192\.0\.2\.1"):
        client.settimeout(0.2)
        getattr(client, method)(("192.0.2.1", 80))


def test_this_machine_is_not():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()


@pytest.mark.slow
def test_without_a_mirror_what_needs_one_is_skipped_and_nothing_else_reaches_for_it(tmp_path):
    """The tests that name a set which is not bundled, as on a machine that has none of them."""
    files = [path for room in READERS for path in sorted((ROOT / "tests" / room).glob("test_*.py"))]
    files = [path for path in files if any(f'"{name}' in path.read_text(encoding="utf8") for name in AWAY)]
    bare = {name: value for name, value in os.environ.items() if name != "COFACTOR_MIRROR"}
    bare |= {"COFACTOR_DATA": str(tmp_path)}
    names = " or ".join(AWAY)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:nbval", "-n", "0", "-k", names]
    if os.environ.get("COFACTOR_VERSIONS") == "oldest":  # as kit.py does: they warn of each other
        command += ["-W", "ignore::DeprecationWarning"]
    done = subprocess.run([*command, *files], cwd=ROOT, env=bare, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "tests did NOT run, for want of data that are not bundled (" in done.stdout
    assert not any(tmp_path.iterdir())
