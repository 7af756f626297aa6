"""Every table and figure of the papers as code, and the tools that run and compare them with the printed numbers."""

from difflib import get_close_matches

from cofactor.core.errors import CofactorError
from evaluation import comparisons, crowd, pmf, separable
from evaluation.experiment import Experiment
from evaluation.trials import raw_trials

LINES = (crowd, pmf, separable, comparisons)
EXPERIMENTS: dict[str, Experiment] = {e.name: e for line in LINES for e in line.EXPERIMENTS}
ALSO = {"crowd-figure4": "crowd-table9", "separable-figure3": "separable-figure2"}  # pictures of the same trials


def find_experiment(name: str) -> Experiment:
    """Return the experiment of this name; for an unknown name, raise a CofactorError that lists all experiments."""
    name = ALSO.get(name, name)
    if name not in EXPERIMENTS:
        near = get_close_matches(name, EXPERIMENTS, n=1)
        advice = f"did you mean {near[0]!r}? There are:" if near else "choose one of"
        raise CofactorError(f"no experiment {name!r}: {advice} {', '.join(EXPERIMENTS)}, printed, all")
    return EXPERIMENTS[name]


__all__ = ["EXPERIMENTS", "find_experiment", "raw_trials"]
