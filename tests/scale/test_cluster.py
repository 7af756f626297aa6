"""Shards on threads and on a Dask cluster over TCP: the same bytes, whoever works, and whoever is killed meanwhile."""

import socket
import subprocess
import sys
from contextlib import closing, suppress
from threading import Thread

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor import simulate
from cofactor.crowd import evidence as evidence_module
from cofactor_app.scale.crew import Cluster as Crew
from cofactor_app.scale.crew import Threads, in_order
from cofactor_app.scale.passes import Passes, bytes_of
from cofactor_app.scale.shards import LabelShards, write_vocabulary

pytest.importorskip("pyarrow")

N_SHARDS, PER_SHARD = 8, 60
METHOD = "RobSymNMF-EM"


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """Eight shards of a crowd whose tasks have one label or more."""
    folder = tmp_path_factory.mktemp("shards")
    model = simulate.dawid_skene_model(10, 3, skill=0.6, random_state=1)
    table = simulate.large_crowd(model, N_SHARDS * PER_SHARD, 4, random_state=1).labels.table
    frame = pd.DataFrame({"task": table.rows, "worker": table.variables, "label": table.values})
    for number, (_, part) in enumerate(frame.groupby(frame["task"] // PER_SHARD)):
        part.to_parquet(folder / f"shard-{number}.parquet", index=False)
    write_vocabulary(folder, [f"w{m}" for m in range(10)], ["a", "b", "c"])
    return LabelShards.open(folder)


@pytest.fixture(scope="module")
def moments(shards, tmp_path_factory):
    return shards.count(tmp_path_factory.mktemp("one") / "parts")


def outcome(shards, moments, passes, name=METHOD):
    """All bits of a model and of its consensus."""
    method = shards.fit(cf.crowd.METHODS[name](random_state=0), moments, passes=passes)
    frames = pd.concat(shards.consensus(method, passes))
    return method.model_.stacked.tobytes(), frames.to_csv(index=False), method.result_.n_iter


@pytest.mark.parametrize("name", [METHOD, "WorkerTypes", "RobSymNMF"])
@pytest.mark.parametrize("memory", [0, 3000])
def test_any_number_of_threads_gives_the_same_bytes(shards, moments, name, memory):
    expected = outcome(shards, moments, None, name)
    assert outcome(shards, moments, Passes(shards, Threads(3), memory), name) == expected


def test_random_starts_see_the_shards_one_after_the_other(shards, moments):
    def fitted(passes):
        method = cf.crowd.EBCC(kinds=2, n_starts=2, max_iter=3, random_state=3)
        return shards.fit(method, moments, passes=passes).model_.stacked

    with pytest.warns(cf.core.errors.ConvergenceWarning):
        assert np.array_equal(fitted(Passes(shards, Threads(3))), fitted(None))


def test_shards_that_fit_into_the_budget_are_read_once(shards, moments, monkeypatch):
    read, original = [], LabelShards.read
    monkeypatch.setattr(LabelShards, "read", lambda self, path: read.append(path.name) or original(self, path))
    bytes_of_two = 8 * sum(shards.n_labels(path) for path in shards.paths[:2])
    passes = Passes(shards, memory=bytes_of_two)
    rounds = shards.fit(cf.crowd.METHODS[METHOD](), moments, passes=passes).result_.n_iter
    assert rounds > 2
    assert [read.count(path.name) for path in shards.paths] == [1, 1] + (N_SHARDS - 2) * [rounds]


@pytest.mark.parametrize("size", [2, 3, N_SHARDS])
def test_shards_that_one_call_reads_give_the_same_bytes_and_stay_together(shards, moments, size, monkeypatch):
    read, original = [], LabelShards.read
    monkeypatch.setattr(LabelShards, "read", lambda self, path: read.append(path.name) or original(self, path))
    expected = outcome(shards, moments, None)
    crew = Threads(2)
    crew.together = lambda n: size
    assert outcome(shards, moments, Passes(shards, crew)) == expected
    read.clear()
    assert outcome(shards, moments, Passes(shards, crew, 1e9)) == expected
    assert sorted(read) == sorted(2 * [path.name for path in shards.paths])  # once for all rounds, once for its tasks


def test_a_budget_is_an_amount_of_memory():
    assert [bytes_of(text) for text in ("0", "500MB", "1.5 gb", "12")] == [0, 5e8, 1.5e9, 12]
    for text in ("much", "-1GB", "", "inf", "GB"):
        with pytest.raises(cf.CofactorError, match="give an amount such as 500MB"):
            bytes_of(text)


def test_few_calls_are_begun_before_their_results_are_needed():
    begun = []
    crew = Threads(2)
    results = in_order(crew, ((begun.append, n) for n in range(100)))
    next(results)
    assert len(begun) <= crew.ahead < 100


class Stopped(Exception):
    """In place of a kill."""


def test_a_run_that_goes_on_makes_no_round_twice(shards, moments, tmp_path, monkeypatch):
    made, original = [], evidence_module.Evidence._sum
    monkeypatch.setattr(evidence_module.Evidence, "_sum", lambda self, parts: made.append(1) or original(self, parts))
    expected = outcome(shards, moments, None)
    rounds = len(made)
    made.clear()

    def stops(self, parts):
        if len(made) == 3:
            raise Stopped
        return made.append(1) or original(self, parts)

    with monkeypatch.context() as patch:
        patch.setattr(evidence_module.Evidence, "_sum", stops)
        with pytest.raises(Stopped):
            outcome(shards, moments, Passes(shards, kept=tmp_path / "rounds"))
    passes = Passes(shards, kept=tmp_path / "rounds")
    assert outcome(shards, moments, passes) == expected and len(made) == rounds
    passes.forget()
    assert list(tmp_path.iterdir()) == []


def test_rounds_of_other_shards_are_not_taken(shards, moments, tmp_path):
    outcome(shards, moments, Passes(shards, kept=tmp_path / "rounds"))
    fewer = LabelShards.open(*shards.paths[:-1])
    counted = fewer.count(tmp_path / "parts")
    assert outcome(fewer, counted, Passes(fewer, kept=tmp_path / "rounds")) == outcome(fewer, counted, None)


def test_a_cluster_that_is_not_there_is_one_error():
    pytest.importorskip("distributed")
    for odd in ("/", "", "host", "tcp://host", "two words:1"):
        with pytest.raises(cf.CofactorError, match="is no address: give one such as tcp://host:8786"):
            Crew(odd)
    with pytest.raises(cf.CofactorError, match=r"no Dask scheduler at tcp://127.0.0.1:9"):
        Crew("tcp://127.0.0.1:9")


ASKS = """
import sys
from cofactor_app.scale.crew import Cluster
from cofactor.core.errors import CofactorError

try:
    Cluster(sys.argv[1])
except CofactorError as error:
    print(error)
    kept = error  # to the end of the process, with all that belongs to it
"""


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n" * 8, b"", None])  # None: it never answers
def test_another_server_is_one_error_and_nothing_is_printed_after_it(answer):
    pytest.importorskip("distributed")
    waiting = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            with suppress(OSError):  # until the server is closed
                while True:
                    peer, _ = server.accept()
                    if answer is None:
                        waiting.append(peer)
                        continue
                    with peer:
                        peer.sendall(answer)
                        peer.recv(4096)  # what a client of Dask says first

        Thread(target=serve, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        told = subprocess.run([sys.executable, "-c", ASKS, address], capture_output=True, text=True, timeout=60)
    assert told.stdout.startswith(f"no Dask scheduler at {address}: ") and told.stdout.count("\n") == 1
    assert told.stderr == ""


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers, each a process of its own."""
    pytest.importorskip("distributed")
    from tests.evaluation.test_cluster import Cluster

    running = Cluster(tmp_path)
    try:
        running.open(2)
        yield running
    finally:
        running.close()


def killing(crew, number, kill):
    """A crew with one call for every shard; somebody is killed when this many results were asked for."""
    crew.together = lambda n: 1
    original, asked = crew.result, []

    def result(begun):
        asked.append(begun)
        if len(asked) == number:
            kill()
        return original(begun)

    crew.result = result
    return crew


@pytest.mark.slow
def test_a_cluster_gives_the_same_bytes_though_a_worker_dies_and_then_the_scheduler(shards, moments, cluster, tmp_path):
    expected = outcome(shards, moments, None)
    with closing(killing(Crew(cluster.address), 5, lambda: None)) as crew:
        counted = shards.count(tmp_path / "parts", crew=crew)
        assert (counted.pairs.counts != moments.pairs.counts).nnz == 0
        assert counted.votes.cells.tobytes() == moments.votes.cells.tobytes()
    with closing(killing(Crew(cluster.address), 2 * N_SHARDS + 3, lambda: cluster.kill(2))) as crew:
        assert outcome(shards, moments, Passes(shards, crew, 1e9)) == expected
    assert len(cluster.client.scheduler_info()["workers"]) == 1, "no worker was killed"
    with (
        closing(killing(Crew(cluster.address), 2 * N_SHARDS + 3, lambda: cluster.kill(0))) as crew,
        pytest.raises(cf.CofactorError, match=r"is lost .*: what was finished is kept, run again to go on"),
    ):
        outcome(shards, moments, Passes(shards, crew, 1e9, tmp_path / "rounds"))
    assert len(list((tmp_path / "rounds").glob("*.npz"))) == 2
    assert outcome(shards, moments, Passes(shards, kept=tmp_path / "rounds")) == expected
