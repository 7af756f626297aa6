"""No test reaches the network."""

import socket

import pytest


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
