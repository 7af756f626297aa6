"""The best shares of types: one point from any start, where single steps end, and no step that falls."""

import numpy as np

from cofactor.crowd.model import best_shares, type_probabilities


def bound(rho, L):
    return type_probabilities(rho, L)[1].sum() + np.log(rho).sum()


def one_step(rho, L):
    return (1 + type_probabilities(rho, L)[0].sum(axis=0)) / (len(L) + len(rho))


def evidence_of_types(seed, n_workers, spread):
    """Log-probabilities that tell the types apart more or less, of workers who gave more or fewer labels."""
    rng = np.random.default_rng(seed)
    return rng.normal(scale=spread, size=(n_workers, 3)) - rng.uniform(0, 900, size=(n_workers, 1))


def test_a_step_from_the_best_shares_leads_nowhere_and_all_starts_lead_there():
    starts = np.array([1, 1, 1]) / 3, np.array([1e-6, 1 - 2e-6, 1e-6]), np.array([0.9, 0.09, 0.01])
    for n_workers, spread in ((2, 1.0), (300, 0.02), (300, 0.5), (300, 2.0), (300, 40.0)):
        L = evidence_of_types(0, n_workers, spread)
        found = [best_shares(start, L) for start in starts]
        assert np.allclose(one_step(found[0], L), found[0], rtol=1e-10, atol=0), spread
        assert np.allclose(found, found[0], rtol=1e-8, atol=0), spread


def test_best_shares_are_where_many_steps_end():
    L, rho = evidence_of_types(0, 300, 2.0), np.full(3, 1 / 3)
    for _ in range(5000):
        rho = one_step(rho, L)
    assert np.allclose(best_shares(np.full(3, 1 / 3), L), rho, rtol=1e-6)


def test_steps_that_are_cut_off_do_not_fall(monkeypatch):
    start, L = np.array([1e-6, 1 - 2e-6, 1e-6]), evidence_of_types(1, 200, 3.0)
    bounds = [bound(start, L)]
    for n_steps in range(1, 8):
        monkeypatch.setattr("cofactor.crowd.model.SHARE_STEPS", n_steps)
        found = best_shares(start, L)
        assert np.isclose(found.sum(), 1) and (found > 0).all()
        bounds.append(bound(found, L))
    assert (np.diff(bounds) > 0).all()


def test_one_type_has_it_all():
    assert best_shares(np.ones(1), np.zeros((4, 1))).tolist() == [1.0]
