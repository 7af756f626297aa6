"""How much data a wanted error takes, line by line, and which labels to ask for next.

>>> from cofactor import crowd, simulate
>>> from cofactor_app import planning
>>> model = simulate.dawid_skene_model(9, 2, skill=0.5, random_state=0)
>>> labels = simulate.crowd(model, 100, random_state=0).labels
>>> planning.next_tasks(labels, wanted_error=0.2).stop
True
"""

from typing import TYPE_CHECKING

from cofactor.core.lazy import lazy_exports

if TYPE_CHECKING:
    from cofactor_app.planning import crowd
    from cofactor_app.planning.asking import NextTasks, next_tasks
    from cofactor_app.planning.plan import Plan

__all__ = ["NextTasks", "Plan", "crowd", "next_tasks"]

if not TYPE_CHECKING:  # imported at first use: a plan for one line needs no other
    __getattr__, __dir__ = lazy_exports(__name__)
