"""Every plotting function draws where it is asked to, and returns that; without being asked, into a new picture."""

import inspect
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

import cofactor_app.plots
from cofactor.comparisons.ranking import rank
from cofactor.crowd import MVEM, bootstrap
from cofactor.crowd.plan_next import Plan
from cofactor.reading.votes import read_votes
from cofactor.simulate import crowd, dawid_skene_model
from cofactor_app.plots.style import alt_text, new_picture, say
from tests.each import each

MODEL = dawid_skene_model(6, 3, random_state=0)
CROWD = crowd(MODEL, 80, 0.6, random_state=0)
VOTES = pd.DataFrame({"winner": list("aabbcca"), "loser": list("bcaabbb")})
PLAN = Plan("labels per task", "share wrong", np.array([1.0, 2.0]), {"one": np.full((9, 2), 0.2)}, 0.1, 1.0)
LOSSES = pd.DataFrame({"loss": [0.3, 0.5], "base_loss": [0.6, 0.5]})
WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(3), 12)
CASES = {  # every plotting function, with arguments
    "draw_confusions": lambda: (MODEL,),
    "draw_dependence": lambda: (np.array([[1, 0.4], [0.4, 1]]), "ab"),
    "draw_gains": lambda: (LOSSES, "ab"),
    "draw_intervals": lambda: (bootstrap(MVEM(), CROWD.labels, n_draws=10, random_state=0),),
    "draw_maps": lambda: ("abc", WEIGHTS.T.reshape(3, 3, 4)),
    "draw_plan": lambda: (PLAN,),
    "draw_ranking": lambda: (rank(read_votes(VOTES)[0], random_state=0),),
    "draw_residuals": lambda: (np.array([1.0, 0.5, 0.1]), 2),
    "draw_shares": lambda: ("abc", WEIGHTS.mean(axis=0), "mean weight"),
    "draw_spectra": lambda: ("abc", np.arange(12.0), WEIGHTS),
    "draw_triangle": lambda: (WEIGHTS[:, :2],),
    "draw_uncertainty": lambda: (MODEL.posterior(CROWD.labels.table), CROWD.truth),
    "draw_worker_accuracy": lambda: (MODEL, CROWD.labels),
}


def functions():
    """Return every function that draws, by its name."""
    modules = [import_module(f"cofactor_app.plots.{one.name}") for one in iter_modules(cofactor_app.plots.__path__)]
    found = [vars(module) for module in modules]
    return {name: thing for names in found for name, thing in names.items() if name.startswith("draw_")}


def parts(drawn):
    """Count what stands in axes or a figure."""
    axes = [drawn] if isinstance(drawn, Axes) else drawn.axes
    return [(len(ax.lines), len(ax.patches), len(ax.collections), len(ax.images), ax.get_xlabel()) for ax in axes]


@pytest.mark.slow
@each("name", sorted(CASES | functions()))
@pytest.mark.filterwarnings("ignore:.*")
def test_a_plot_is_drawn_where_asked_and_returned_or_in_a_picture_that_says_what_it_shows(name):
    draw, arguments = functions()[name], CASES[name]()
    (place,) = {"ax", "fig"} & set(inspect.signature(draw).parameters)
    new = draw(*arguments)
    assert new.figure.get_suptitle() and new._repr_mimebundle_()[0]["text/plain"] == alt_text(new.figure)
    whole = new_picture(12, 8)
    say(whole, "of the caller")
    asked = whole.add_subplot() if place == "ax" else whole.subfigures(1, 2)[1]
    assert draw(*arguments, **{place: asked}) is asked and isinstance(asked, Axes | SubFigure)
    assert parts(asked) == parts(new) and whole.get_suptitle() == "of the caller"
    assert isinstance(asked.figure, Figure) and whole.get_layout_engine() is not None
