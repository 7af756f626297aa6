"""Joint PMFs at the size of the paper's Table 6: 15 variables of 10 values, 10 classes, 100,000 rows, half observed.

CPU seconds, BLAS on one thread. CNMF-OPT is timed up to the objective at which the paper's mirror descent, from the
same start, comes to rest, which runs once; then with all its descents, to their end. "ns per label" is per observed
entry.
"""

from __future__ import annotations

import time
import warnings
from functools import partial

from runner import Bench, Reference
from threadpoolctl import threadpool_limits

import cofactor as cf
from cofactor import simulate
from cofactor.core.em import expectation
from cofactor.core.moments import PairwiseMoments, pairwise_moments
from cofactor.data.published import published
from cofactor.pmf.cnmf_opt import cnmf_opt, pair_divergence
from cofactor.rivals.triple_moments import triple_moments
from evaluation.released.mirror_descent import SYNTHETIC, mirror_descent

PATIENCE = 5.0


def main() -> None:
    """Run every stage."""
    bench = Bench("pmf", clock=time.process_time, patience=PATIENCE)
    n_variables, rank, n_rows, name = (5, 3, 2_000, "tiny") if bench.tiny else (15, 10, 100_000, "15 variables")
    truth = simulate.joint_model(n_variables, 10, rank, random_state=0)
    table = simulate.joint_table(truth, n_rows, observed=0.5, random_state=0)
    data = name, table.n_entries
    warnings.simplefilter("ignore", cf.ConvergenceWarning)  # stopped where the other's objective is reached
    with threadpool_limits(1):
        moments = bench.measure(data, "pair counts", partial(pairwise_moments, table))
        _closed_form(bench, data, moments, rank)
        _pair_fit(bench, data, moments, rank)
        bench.measure(data, "EM round", partial(expectation, table, truth))
        bench.measure(data, "triple counts", partial(triple_moments, table))
        tensor = cf.pmf.METHODS["CTD"](rank=rank, random_state=0)
        bench.measure(data, "CTD, all of it", partial(tensor.fit, table), reference=_printed("CTD"))
        bench.finish()


def _closed_form(bench: Bench, data: tuple[str, int], moments: PairwiseMoments, rank: int) -> None:
    paper, fit = _printed("CNMF-SPA"), partial(cf.pmf.cnmf_spa, moments, rank)
    bench.measure(data, "CNMF-SPA, one split", partial(fit, split=3), reference=paper)
    bench.measure(data, "CNMF-SPA, ten splits", fit, reference=paper)


def _pair_fit(bench: Bench, data: tuple[str, int], moments: PairwiseMoments, rank: int) -> None:
    start = cf.pmf.cnmf_spa(moments, rank, split=3)
    fit = partial(cnmf_opt, moments, start, "equal")
    released = partial(mirror_descent, moments, start, "equal", 500, 1e-6, settings=SYNTHETIC)
    model, _ = bench.measure(data, "CNMF-OPT by mirror descent", released)
    goal = pair_divergence(moments, model, "equal")
    _, result = fit(max_iter=3000, tol=1e-10)  # the first of the descents of `thorough`
    assert result.objective[-1] <= goal or bench.tiny
    steps = int((result.objective > goal).sum()) + 1
    paper = _printed("CNMF-OPT")
    bench.measure(data, "CNMF-OPT to the same objective", partial(fit, max_iter=steps, tol=0.0), reference=paper)
    bench.measure(data, "CNMF-OPT, all of it", partial(fit, max_iter=3000, thorough=True), reference=paper)


def _printed(method: str) -> Reference:
    frame = published("pmf_table6")
    found = frame[
        (frame["method"] == method) & (frame["metric"] == "seconds") & frame["setting"].str.startswith("N=15")
    ]
    return Reference(float(found["value"].iloc[0]), "the paper (Table 6)")


if __name__ == "__main__":
    main()
