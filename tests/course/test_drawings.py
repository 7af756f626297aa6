"""What holds for every figure: pure, repeatable, titled, named axes, legible without colour or kernel."""

import base64
from functools import cache

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from cofactor import simulate
from cofactor.crowd import Cooccurrences, DawidSkene, bootstrap, plan, symnmf
from cofactor.crowd.imputation import factors_of_model
from cofactor.crowd.symnmf import convergence_curve
from cofactor.data.loading import load_crowd
from cofactor.plots.style import alt_text, percent, to_png
from course import demos, figures

MODEL = demos.mixed_crowd(9, 3, seed=1)
CROWD = simulate.crowd(MODEL, 80, 0.6, random_state=1)
POSTERIOR = MODEL.posterior(CROWD.labels.table)
BLOCKS = Cooccurrences.from_model(MODEL, ~demos.hide_pairs(9, 0.3))
H = factors_of_model(MODEL).reshape(-1, 3)
U = demos.principal_root(H)
_, Q, RESULT = symnmf(U, max_iter=2000)
ERRORS = demos.ImputationErrors(np.array([0.1, 0.5]), {"designated": np.eye(2), "robust": np.ones((2, 2)) / 4})

BIRDS = load_crowd("bluebird")
BOOT = bootstrap(DawidSkene(), CROWD.labels, n_draws=10, random_state=0)
PLAN = plan(CROWD.labels, 0.1, amounts=[1, 2, 4], n_trials=4, random_state=0)

DRAWINGS = {
    "confusions": lambda: figures.draw_confusions(MODEL),
    "worker_accuracy": lambda: figures.draw_worker_accuracy(MODEL, CROWD.labels),
    "uncertainty": lambda: figures.draw_uncertainty(POSTERIOR, CROWD.truth),
    "methods": lambda: figures.draw_methods({"MajorityVote": 0.3, "MV-EM": 0.1}),
    "votes": lambda: figures.draw_votes(CROWD.labels, POSTERIOR, [0, 1, 2]),
    "overview": lambda: figures.draw_overview(CROWD.labels, CROWD.truth, DawidSkene().fit(CROWD.labels)),
    "plan": lambda: figures.draw_plan(PLAN),
    "intervals": lambda: figures.draw_intervals(BOOT),
    "cooccurrence": lambda: figures.draw_cooccurrence(BLOCKS),
    "blocks": lambda: figures.draw_blocks(MODEL.pairwise(0, 1), MODEL.pairwise(0, 2)),
    "completion": lambda: figures.draw_completion(demos.complete(CROWD, demos.hide_pairs(9, 0.2), "designated")),
    "imputation_error": lambda: figures.draw_imputation_error(ERRORS),
    "simplex": lambda: figures.draw_simplex(H),
    "rotation": lambda: figures.draw_rotation(U, Q),
    "convergence": lambda: figures.draw_convergence(RESULT),
    "latent_class": figures.draw_latent_class,
    "kit": figures.draw_kit,
    "crowd": lambda: figures.draw_crowd(demos.compare(60, 6, "MV-EM")),
    "rounds": lambda: figures.draw_rounds(demos.em_rounds(3), 2),
}
PROBLEM = simulate.symnmf_problem(60, 3, 0.5, random_state=0)
SAMPLES = demos.sample_errors(6, 2, sizes=(100, 300), seeds=(0, 1))
BOUND = demos.Bound(np.array([-9.0, -8.5, -8.4]), -8.0)
GAIN = demos.KindsGain(np.array([0.0, 0.2]), np.array([[-2.0, 5.0], [-1.0, 9.0]]))
DRAWINGS |= {
    "belief": lambda: figures.draw_belief([(1, 2), (10, 20)]),
    "evidence": lambda: figures.draw_evidence(BOUND, GAIN),
    "sample_errors": lambda: figures.draw_sample_errors(SAMPLES),
    "items_needed": lambda: figures.draw_items_needed(SAMPLES, "robust", 0.1),
    "race": lambda: figures.draw_race(demos.race(n_rows=60, n_trials=3, n_iter=20)),
    "film": lambda: figures.draw_film(demos.film(*PROBLEM)),
    "linear_rate": lambda: figures.draw_linear_rate(convergence_curve(*PROBLEM)),
    "rates": lambda: figures.draw_rates([0.3, 0.5], {demos.PLAIN: [0.4, 0.6], demos.CLAMP: [0.5, 0.5]}),
    "starts": lambda: figures.draw_starts(demos.many_starts(*PROBLEM, n_starts=3)),
    "operators": figures.draw_operators,
}
TRIALS = {"MajorityVote": demos.Trial("MajorityVote", 0.2, 1e-3), "MV-EM": demos.Trial("MV-EM", 0.1, 0.01)}
PAIRS = pd.MultiIndex.from_product([["rte"], ["ours", "printed"]])
DRAWINGS |= {
    "who_labelled": lambda: figures.draw_who_labelled({"made": CROWD.labels}),
    "time_and_error": lambda: figures.draw_time_and_error({"made": TRIALS, "again": TRIALS}),
    "beside_published": lambda: figures.draw_beside_published(pd.DataFrame([[9, 10.5]], ["MV-EM"], PAIRS)),
    "curves": lambda: figures.draw_curves([2, 5], {"made": {"MV-EM": [[0.3, 0.1]] * 2}}, "labels", "5 labels do"),
    "thinned": lambda: figures.draw_thinned(demos.thin(BIRDS, "MV-EM", 5)),
}
JOINT = simulate.joint_model(5, 10, 3, 0.1, random_state=0)
NIGHT = demos.film_night(50)
DRAWINGS |= {
    "coins": lambda: figures.draw_coins({"independent": np.full((2, 2), 0.25), "dependent": np.eye(2) / 2}),
    "growth": figures.draw_growth,
    "anchors": lambda: figures.draw_anchors({"with anchors": demos.anchors(JOINT, demos.endless(JOINT))}),
    "likelihoods": lambda: figures.draw_likelihoods({"here": [-9.0, -1.0], "there": [-8.0, -7.5, -7.0]}),
    "starvation": lambda: figures.draw_starvation([1, 0.1], {"two": [[1, 2]], "three": [[0.5, 3]]}, 900, 8, 0.3),
    "errors": lambda: figures.draw_errors({"Constant": 0.1, "a": 0.2}, {"Constant": 1.0, "a": 0.4}),
    "columns": lambda: figures.draw_columns(["first", "second"], [0.9, 0.5], [0.5, 0.5]),
    "ratings": lambda: figures.draw_ratings(NIGHT.films, NIGHT.seen, np.full((50, 9), 2.2), range(5)),
    "recovered": lambda: figures.draw_recovered(demos.recover(1000, 0.5, 4, None)),
}
SCORES = np.array([0.9, 0.8, 0.3, 0.1])
DRAWINGS |= {
    "walk": lambda: figures.draw_walk(demos.walk(demos.triangle().X, 5, 9), demos.CORNERS),
    "gap": lambda: figures.draw_gap([9, 4.0, 2.0], [8, 3.0, 1.0]),
    "coefficients": lambda: figures.draw_coefficients({"here": (np.eye(4), [1, 3]), "there": (np.eye(6), [0])}),
    "thin": lambda: figures.draw_thin([10, 19, 25], 10, 4),
    "scores": lambda: figures.draw_scores({"with": SCORES, "without": SCORES / 2}, [0, 1]),
    "success": lambda: figures.draw_success([0, 0.1], {"A": [0.5, 1.0], "B": [0.4, 0.9]}, "λ", 10),
    "selection": lambda: figures.draw_selection(demos.select(100, 10, 10.0, "msr", 1e-5)),
    "expected": lambda: figures.draw_expected("read_off"),
    "memory": lambda: figures.draw_memory([10, 100], {"A": [1e6, 1e7]}, {"A": {10: 1e6}}, machine=1e8),
}
SCHEMATIC = {"latent_class", "kit", "simplex", "walk"}  # drawn without axes


@pytest.fixture(params=DRAWINGS)
def name(request):
    return request.param


@cache
def once(name):
    return DRAWINGS[name]()


def test_returns_a_figure_and_leaves_pyplot_alone(name):
    before = plt.get_fignums()
    assert isinstance(DRAWINGS[name](), Figure)
    assert plt.get_fignums() == before


def test_same_bytes_whatever_the_session_has_set(name):
    first = to_png(once(name))
    with sns.plotting_context("poster"), sns.axes_style("darkgrid"), matplotlib.rc_context({"savefig.dpi": 30}):
        assert to_png(DRAWINGS[name]()) == first
    assert to_png(once(name)) == first
    assert first.startswith(b"\x89PNG")


def test_leaves_the_settings_of_the_session_alone(name):
    with matplotlib.rc_context({"lines.linewidth": 7.5, "font.size": 3.25}):
        before = dict(matplotlib.rcParams)
        DRAWINGS[name]()
        assert dict(matplotlib.rcParams) == before


def test_fits_a_notebook(name):
    fig = once(name)
    width, height = fig.get_size_inches()
    assert (width <= 8 or name == "overview") and height <= 6
    drawn, slack = fig.get_tightbbox(FigureCanvasAgg(fig).get_renderer()), 0.01  # versions measure text differently
    assert min(drawn.x0, drawn.y0, width - drawn.x1, height - drawn.y1) >= -slack


def test_states_a_finding_and_names_its_axes(name):
    fig = once(name)
    assert fig.get_suptitle()
    if name not in SCHEMATIC:
        assert any(character.isdigit() for character in fig.get_suptitle())
        assert {ax.get_xlabel() for ax in fig.axes} | {fig.get_supxlabel()} != {""}
    assert fig.get_suptitle().replace("\n", " ") in alt_text(fig)


def test_shows_itself_without_pyplot(name):
    fig = once(name)
    bundle, metadata = fig._repr_mimebundle_(include=None, exclude=None)
    assert base64.b64decode(bundle["image/png"]) == to_png(fig)
    assert bundle["text/plain"] == alt_text(fig) == f"Figure: {metadata['image/png']['alt']}"


def test_percent_rounds_and_keeps_the_unit_on_the_line():
    assert percent(0.1019) == "10\xa0%"
    assert percent(0.1019, 1) == "10.2\xa0%"
