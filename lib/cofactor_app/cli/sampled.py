"""What is shown of labels that do not fit into memory: a sample of the tasks, which is said."""

from __future__ import annotations

import cofactor as cf
from cofactor.crowd.base import Aggregator
from cofactor_app.cli import facts
from cofactor_app.scale.known import sample_of
from cofactor_app.scale.passes import Passes

MOST_SHOWN = 500_000  # labels of the sample behind a page


def page_of_sample(source: str, name: str, method: Aggregator, passes: Passes) -> str:
    """Return the report of a method that was fitted to all labels, on a sample of the tasks. Without intervals."""
    from cofactor_app.pages.crowd import crowd_page

    labels, step = sample_of(passes, MOST_SHOWN)
    source += f" (one task in {step})" * (step > 1)
    posterior = method.predict_proba(labels)
    lines = facts.summary(source, name, method, posterior, labels, None)
    about = facts.warnings_of(name, posterior, labels, None)
    return crowd_page(source, name, method, labels, lines, cf.crowd.diagnose(labels), warnings=[_said(step), *about])


def _said(step: int) -> str:
    shown = "all tasks" if step == 1 else f"one task in {step}, and its numbers of tasks and labels are those of these"
    return f"This page shows {shown}; the model was fitted to all labels, piece by piece: no number has an interval"
