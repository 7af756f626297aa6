"""Crowds in which votes mislead are what their names say, and known workers do better than the votes."""

import numpy as np

from cofactor.crowd import error_rate, vote_shares
from evaluation.crowd.cases import CASES


def test_cases_are_what_their_names_say():
    for name, draw in CASES.items():
        case = draw(np.random.default_rng(0))
        codes = case.labels.table.codes
        for w, matrix in enumerate(case.matrices):
            mine = codes[:, w] >= 0
            right, expected = codes[mine, w] == case.truth[mine], np.diag(matrix)[case.truth[mine]]
            assert abs(right.mean() - expected.mean()) <= 4 * np.sqrt(np.mean(expected * (1 - expected)) / len(right))
        others = np.setdiff1d(np.arange(codes.shape[1]), case.voices)
        assert (codes[:, others] == codes[:, :1]).all()
        per_task, alone = case.labels.table.entries_per_row, "one label a task" in name
        assert len(set(per_task)) == 1 and (per_task[0] == 1) == alone
        wrong_votes, wrong = (error_rate(p, case.truth) for p in (vote_shares(case.labels), case.known()))
        assert wrong == wrong_votes if alone else wrong < wrong_votes - 0.05
