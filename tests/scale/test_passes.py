"""Passes over shards by any number of threads: the same bytes, and no round is made twice."""

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor import simulate
from cofactor.crowd import evidence as evidence_module
from cofactor_app.scale.passes import Passes, bytes_of
from cofactor_app.scale.shards import LabelShards, write_vocabulary
from cofactor_app.scale.threads import Threads

pytest.importorskip("pyarrow")

N_SHARDS, PER_SHARD = 5, 60
METHOD = "RobSymNMF-EM"
SHORT = {"WorkerTypes": {"design_effect": 0.5}}  # else it is fitted twice
pytestmark = pytest.mark.filterwarnings("ignore::cofactor.core.errors.ConvergenceWarning")  # few rounds tell as much


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """Five shards of a crowd whose tasks have one label or more."""
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
    method = cf.crowd.METHODS[name](random_state=0, **SHORT.get(name, {}))
    shards.fit(method, moments, max_rounds=6, passes=passes)
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


def test_pieces_that_are_held_are_the_labels_as_read_and_share_what_is_alike(shards):
    passes = Passes(shards, memory=1e9)
    for _ in range(2):  # read, and held
        held, read = (list(which.map(lambda labels: labels.table)) for which in (passes, Passes(shards)))
        for piece, table in zip(held, read, strict=True):
            assert (piece.indicator != table.indicator).nnz == 0 and np.array_equal(piece.sizes, table.sizes)
            assert piece.shared is table.shared is False
        assert all(np.shares_memory(held[0].indicator.data, piece.indicator.data) for piece in held[1:])
        with pytest.raises(ValueError, match="read-only"):
            held[0].indicator.data[0] = 2


def test_a_budget_is_an_amount_of_memory():
    assert [bytes_of(text) for text in ("0", "500MB", "1.5 gb", "12")] == [0, 5e8, 1.5e9, 12]
    for text in ("much", "-1GB", "", "inf", "GB"):
        with pytest.raises(cf.CofactorError, match="give an amount such as 500MB"):
            bytes_of(text)


def test_few_calls_are_begun_before_their_results_are_needed():
    begun = []
    threads = Threads(2)
    results = threads.in_order((begun.append, n) for n in range(100))
    next(results)
    assert len(begun) <= threads.most_begun < 100


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
