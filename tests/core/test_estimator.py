"""History: what it records, when it stops, what it says, and where it shows a bar."""

import io
import sys

import numpy as np
import pytest

from cofactor.core.errors import ConvergenceWarning
from cofactor.core.estimator import History


def run(objectives, **named):
    history = History("counting down", **{"max_iter": 100, "tol": 1e-3, **named})
    for _, objective in zip(history, objectives, strict=False):
        history.record(objective)
    return history


def halving():
    return 1 + 0.5 ** np.arange(100)


def test_keeps_every_objective_and_stops_at_the_first_small_change():
    history = run(halving())
    changes = np.abs(np.diff(halving())) / halving()[:-1]
    expected = int(np.argmax(changes <= 1e-3)) + 2
    result = history.result()
    assert result.objective.tolist() == halving()[:expected].tolist()
    assert (result.n_iter, result.converged) == (expected, True)
    assert result.reason == f"change at most 0.001 after {expected} iterations"


def test_one_step_is_never_convergence():
    with pytest.warns(ConvergenceWarning):
        assert not run([0.0], max_iter=1, tol=np.inf).result().converged


def test_the_change_is_relative():
    assert len(run([1e9, 1e9 + 1e5]).objective) == 2
    assert run([1e9, 1e9 + 1e5]).converged
    assert not run([1e-9, 2e-9]).converged


def test_a_change_of_its_own_replaces_that_of_the_objective():
    history = History("own", max_iter=10, tol=0.1)
    for step in history:
        history.record(5.0, change=1.0 / (step + 1))
    assert len(history.objective) == 10
    assert history.converged


def test_warns_at_the_limit_with_name_and_reason():
    with pytest.warns(
        ConvergenceWarning, match=r"down: iteration limit 3 reached .* fell to 0\.001; increase max_iter or"
    ):
        result = run(halving(), max_iter=3).result()
    assert (result.n_iter, result.converged) == (3, False)
    assert result.reason.startswith("iteration limit 3")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("verbose", [False, True])
def test_no_bar_in_a_pipe(capsys, verbose):
    run(halving(), verbose=verbose)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("verbose", "shown"), [(True, True), (False, False)])
def test_a_bar_on_a_terminal_only_if_asked(monkeypatch, verbose, shown):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    run(halving(), verbose=verbose)
    assert ("counting down" in terminal.getvalue()) == shown
