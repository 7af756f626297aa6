"""What holds for every picture: pure, repeatable, titled, legible without colour, kernel or eyes."""

import base64
from itertools import combinations

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import same_color, to_rgb
from matplotlib.container import BarContainer
from matplotlib.text import Text

from cofactor import simulate
from cofactor.core.errors import CofactorError
from cofactor.core.tables import CategoricalTable
from cofactor.crowd import MVEM, Cooccurrences, bootstrap, symnmf
from cofactor.crowd.imputation import factors_of_model
from cofactor.crowd.symnmf import principal_root
from cofactor.data.loading import load
from cofactor.verbs.plan import plan
from cofactor_app.plots import crowd
from cofactor_app.plots.style import (
    CLASS_COLOURS,
    CLASS_HATCHES,
    FAINT,
    INK,
    alt_text,
    new_picture,
    percent,
    say,
    to_png,
)
from course import (
    crowds,
    matrices,
    nb00,
    nb01,
    nb02,
    nb03,
    nb04,
    nb05,
    nb06,
    nb07,
    nb08,
    nb09,
    nb11,
    schematics,
    simplex,
    votes,
)
from tests.each import each

MODEL = crowds.mixed_crowd(9, 3, seed=1)
CROWD = simulate.crowd(MODEL, 80, 0.6, random_state=1)
HIDDEN = crowds.hide_pairs(9, 0.3)
BLOCKS = Cooccurrences.from_model(MODEL, ~HIDDEN)
PROBLEM = simulate.symnmf_problem(60, 3, 0.5, random_state=0)
SCORES = np.array([0.9, 0.8, 0.3, 0.1])
LINES = {"A": [0.3, 0.2, 0.1], "B": [0.4, 0.1, 0.05], "C": [0.5, 0.4, 0.3]}
TRIALS = {name: nb07.pictures.Trial(name, error, 0.01) for name, error in (("MajorityVote", 0.2), ("MV-EM", 0.1))}
PAIRS = pd.MultiIndex.from_product([["rte"], ["ours", "printed"]])
NIGHT = CategoricalTable(np.random.default_rng(0).integers(-1, 5, (50, 9)), [5] * 9)
POINTS, WORDS = np.random.default_rng(0).dirichlet(np.ones(3), 12).T, np.array([f"word{n}" for n in range(12)])


def rotation():
    U = principal_root(factors_of_model(MODEL).reshape(-1, 3))
    return simplex.draw_rotation(U, symnmf(U, max_iter=2000)[1])


def anchors():
    joint = simulate.joint_model(5, 10, 3, 0.1, random_state=0)
    return nb08.draw_anchors({"with anchors": nb08.anchors(joint, joint.stacked[:30] @ joint.stacked[30:].T)})


PICTURES = {  # of pages
    "confusions": lambda: crowd.draw_confusions(MODEL),
    "worker_accuracy": lambda: crowd.draw_worker_accuracy(MODEL, CROWD.labels).figure,
    "uncertainty": lambda: crowd.draw_uncertainty(MODEL.posterior(CROWD.labels.table), CROWD.truth).figure,
    "plan": lambda: crowd.draw_plan(plan(CROWD.labels, 0.1, amounts=[1, 2, 4], n_trials=4, random_state=0)).figure,
    "intervals": lambda: crowd.draw_intervals(bootstrap(MVEM(), CROWD.labels, n_draws=10, random_state=0)).figure,
}
PICTURES |= {  # of several notebooks, and of 00 to 05
    "methods": lambda: votes.draw_methods({"MajorityVote": 0.3, "MV-EM": 0.1}),
    "simplex": lambda: simplex.draw_simplex(factors_of_model(MODEL).reshape(-1, 3)),
    "rotation": rotation,
    "cooccurrence": lambda: matrices.draw_cooccurrence(BLOCKS),
    "blocks": lambda: matrices.draw_blocks(MODEL.pairwise(0, 1), MODEL.pairwise(0, 2)),
    "completion": lambda: crowds.draw_completion(crowds.HoledCrowd.of(CROWD, HIDDEN).complete("designated")),
    "latent_class": schematics.draw_latent_class,
    "kit": schematics.draw_kit,
    "overview": lambda: nb00.draw_overview(CROWD.labels, CROWD.truth, MVEM().fit(CROWD.labels)),
    "em_starts": lambda: nb01.draw_starts({"the vote": ([-3, -2], [0.3, 0.2]), "pairs": ([-2, -1], [0.1, 0.0])}),
    "turn": lambda: nb01.panels.draw_turn(nb01.panels.scattering(0.2, 6, 0)._replace(turn=30.0)),
    "crowd": lambda: nb01.panels.draw_crowd(nb01.panels.compare(60, 6, "MV-EM")),
    "dual": lambda: nb02.draw_dual(np.eye(3) + 0.2),
    "margins": lambda: nb02.draw_margins([-0.2, 0.1], [0.1, 1e-3], [1e-9, 1e-9]),
    "recovery": lambda: nb02.panels.draw_recovery(nb02.panels.recovery(0.1, 0.3, 4)),
    "sample_errors": lambda: nb03.draw_sample_errors(nb03.sample_errors(6, 2, sizes=(100, 300), seeds=(0, 1))),
    "race": lambda: nb04.draw_race(nb04.panels.race(0.5, 0.75, np.inf, n_rows=60, n_trials=3)),
    "clouds": lambda: nb04.draw_turn(nb04.panels.film(*PROBLEM, (0, 1, 20))),
    "starts": lambda: nb04.draw_starts([1e-20, 1e-2, 1e-18], [1e-20, 0.3, 0.2]),
    "operators": nb04.draw_operators,
    "gap": lambda: nb05.draw_gap([9, 4.0, 2.0], [8, 3.0, 1.0]),
    "coefficients": lambda: nb05.draw_coefficients({"here": (np.eye(4), [1, 3]), "there": (np.eye(6), [0])}),
    "scores": lambda: nb05.draw_scores({"with": SCORES, "without": SCORES / 2}, [0, 1]),
    "success": lambda: nb05.draw_success([0, 1, 2], LINES, "λ", 10),
    "selection": lambda: nb05.panels.draw_selection(nb05.panels.select(100, 10, 10.0, "msr", 1e-5)),
}
PICTURES |= {  # of notebooks 06 to 09, and 11
    "descents": lambda: nb06.draw_descents(LINES, rate=0.5),
    "spectrum": lambda: nb06.draw_spectrum(LINES),
    "evidence": lambda: nb07.draw_evidence([2, 4], {"constant": [1.0, 2.5], "right": [-1.0, -3.0]}),
    "who_labelled": lambda: nb07.draw_who_labelled({"made": CROWD.labels}),
    "time_and_error": lambda: nb07.draw_time_and_error({"made": TRIALS, "again": TRIALS}),
    "beside_published": lambda: nb07.draw_beside_published(pd.DataFrame([[9, 10.5]], ["MV-EM"], PAIRS)),
    "thinned": lambda: nb07.panels.draw_thinned(nb07.panels.thin(load("bluebird", "crowd"), "MV-EM", 5)),
    "coins": lambda: nb08.draw_coins({"independent": np.full((2, 2), 0.25), "dependent": np.eye(2) / 2}),
    "anchors": anchors,
    "likelihoods": lambda: nb08.draw_likelihoods({"here": [-9.0, -1.0], "there": [-8.0, -7.5, -7.0]}),
    "starvation": lambda: nb08.draw_starvation([1, 0.1], {"two": [[1, 2]], "three": [[0.5, 3]]}, 900, 8, 0.3),
    "errors": lambda: nb08.draw_errors({"Constant": 0.1, "a": 0.2}, {"Constant": 1.0, "a": 0.4}),
    "columns": lambda: nb08.draw_columns(["first", "second"], [0.9, 0.5], [0.5, 0.5]),
    "ratings": lambda: nb08.draw_ratings([f"film {n}" for n in range(9)], NIGHT, np.full((50, 9), 2.2), range(5)),
    "words": lambda: nb09.draw_words(POINTS, WORDS, {"SPA": [0, 1, 2], "MERIT": [0, 3, 4]}),
    "corners": lambda: nb09.draw_clouds([POINTS, POINTS[::-1]] * 2, [[0, 1, 2], [3, 4, 5]] * 2),
    "range": lambda: nb09.draw_range({0.1: [0.2, 0.3], 1.0: [0.25, 0.1]}, [0.5, 1], {"other": 0.22}),
    "agreement": lambda: nb11.draw_agreement(nb11.draw_crowd("somebody")),
    "delivery": lambda: nb11.draw_delivery("somebody"),
}
REPEATED = ("cooccurrence", "turn", "coefficients", "ratings", "words")  # drawn again, in a session that has settings
LEAST_CONTRAST = 4.5  # of text against paper: WCAG 2.2, success criterion 1.4.3
SCHEMATIC = {"latent_class", "kit", "simplex", "dual"}  # drawn without axes


@pytest.mark.slow
@each("name", REPEATED)
def test_same_bytes_whatever_the_session_has_set_and_it_stays_set(name):
    first = to_png(PICTURES[name]())
    assert first.startswith(b"\x89PNG")
    with sns.plotting_context("poster"), sns.axes_style("darkgrid"), matplotlib.rc_context({"savefig.dpi": 30}):
        before = dict(matplotlib.rcParams)
        assert to_png(PICTURES[name]()) == first
        assert dict(matplotlib.rcParams) == before


@pytest.mark.slow
@each("name", PICTURES)
def test_picture_keeps_the_rules(name):
    before = plt.get_fignums(), dict(matplotlib.rcParams)
    fig = PICTURES[name]()
    assert (plt.get_fignums(), dict(matplotlib.rcParams)) == before
    fits_a_notebook(name, fig)
    states_a_finding_and_names_its_axes(name, fig)
    shows_itself_without_pyplot(fig)
    assert [told_by_colour_alone(ax) for ax in fig.axes if told_by_colour_alone(ax)] == []
    has_readable_words_beside_it(fig)
    has_an_alternative_text_that_names_axes_and_series(fig)


def fits_a_notebook(name, fig):
    width, height = fig.get_size_inches()
    assert (width <= 8 or name == "overview") and height <= 6
    drawn, slack = fig.get_tightbbox(FigureCanvasAgg(fig).get_renderer()), 0.01  # versions measure text differently
    assert min(drawn.x0, drawn.y0, width - drawn.x1, height - drawn.y1) >= -slack


def states_a_finding_and_names_its_axes(name, fig):
    assert fig.get_suptitle()
    if name not in SCHEMATIC:
        assert any(character.isdigit() for character in fig.get_suptitle())
        assert {ax.get_xlabel() for ax in fig.axes} | {fig.get_supxlabel()} != {""}
    assert fig.get_suptitle().replace("\n", " ") in alt_text(fig)


def shows_itself_without_pyplot(fig):
    bundle, metadata = fig._repr_mimebundle_(include=None, exclude=None)
    assert base64.b64decode(bundle["image/png"]) == to_png(fig)
    assert bundle["text/plain"] == alt_text(fig) == f"Figure: {metadata['image/png']['alt']}"


def has_readable_words_beside_it(fig):
    for ax in fig.axes:
        legend = ax.get_legend()
        texts = [ax.title, ax.xaxis.label, ax.yaxis.label, *(legend.get_texts() if legend else ())]
        texts += [*ax.get_xticklabels(), *ax.get_yticklabels()]
        faint = {text.get_text() for text in texts if contrast(text.get_color()) < LEAST_CONTRAST}
        assert not faint - {""}
    assert not [text for text in fig.findobj(Text) if text.get_text() and same_color(text.get_color(), FAINT)]


def has_an_alternative_text_that_names_axes_and_series(fig):
    said = alt_text(fig)
    assert said.startswith("Figure: ") and not set("$\\{}\n") & set(said.replace(fig.get_suptitle(), ""))
    plain = said.replace("‖", "||")
    for ax in fig.axes:
        for label in ax.get_legend_handles_labels()[1]:
            assert "$" in label or label.replace("\n", " ").replace("‖", "||") in plain
    assert len(said) > len(fig.get_suptitle()) + 20, "alternative text is the title only"


def looks(ax):
    """The look of every named series of axes without its colour, and the colour."""
    found = []
    for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
        first = handle[0] if isinstance(handle, tuple) and len(handle) else handle
        if isinstance(handle, BarContainer):
            patch = handle.patches[0]
            found.append((label, ("bar", patch.get_hatch() or ""), patch.get_facecolor()))
        elif hasattr(first, "get_linestyle") and hasattr(first, "get_marker"):
            hollow = not same_color(first.get_markerfacecolor(), first.get_color())
            found.append((label, ("line", first.get_linestyle(), first.get_marker(), hollow), first.get_color()))
    return found


def told_by_colour_alone(ax):
    pairs = combinations(looks(ax), 2)
    return [(a, b) for (a, look, colour), (b, other, paint) in pairs if look == other and not same_color(colour, paint)]


def contrast(colour, paper="white"):
    def luminance(one):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(one)]
        return np.dot([0.2126, 0.7152, 0.0722], linear)

    light, dark = sorted((luminance(colour), luminance(paper)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


REFUSED = [
    (lambda: matrices.draw_blocks(MODEL.pairwise(0, 1), np.ones((1, 3))), "same shape"),
    (lambda: votes.draw_methods({}), "no methods"),
    *(
        (lambda bad=bad: simplex.draw_simplex(bad), "triangle")
        for bad in (np.ones((4, 2)), -np.eye(3), [[np.nan, 1, 1]])
    ),
    *(
        (lambda pair=pair: simplex.draw_rotation(np.ones((6, 3)), np.eye(3), pair), "columns")
        for pair in ((0, 0), (0, 3))
    ),
    (lambda: simplex.draw_rotation(np.ones((6, 3)), np.eye(2)), "do not match"),
    (lambda: crowds.HoledCrowd.of(CROWD, HIDDEN).complete("magic"), "none, designated, robust"),
    (lambda: nb02.draw_dual(np.eye(4)), "three classes"),
    (lambda: nb05.draw_coefficients({}), "nothing to draw"),
    (lambda: nb05.draw_scores({}, [0]), "nothing to draw"),
    (lambda: nb05.draw_success([1], {}, "x", 1), "nothing to draw"),
    (lambda: nb09.draw_words(POINTS, WORDS, {}), "no corners to draw"),
]


@each("draw, said", REFUSED)
def test_what_cannot_be_drawn_is_refused(draw, said):
    with pytest.raises(CofactorError, match=said):
        draw()


# ---- the rules themselves, and what all pictures share ----


def test_two_lines_of_one_style_are_found():
    ax = new_picture().subplots()
    ax.plot([0, 1], color="red", label="a")
    ax.plot([1, 0], color="blue", label="b")
    ax.plot([1, 1], "--", color="blue", label="c")
    ax.bar([0], [1], color="red", label="d")
    ax.bar([1], [1], color="blue", label="e")
    assert told_by_colour_alone(ax) == [("a", "b"), ("d", "e")]


def test_classes_have_hatches_of_their_own():
    assert len(set(CLASS_HATCHES)) == len(CLASS_COLOURS) == len(set(CLASS_COLOURS))


def test_contrast_is_that_of_the_guidelines():
    assert np.isclose(contrast("black"), 21) and np.isclose(contrast("#767676"), 4.54, atol=0.01)
    assert contrast(INK) > 10 and contrast(FAINT) > 3  # lines need three


def test_percent_rounds_and_keeps_the_unit_on_the_line():
    assert percent(0.1019) == "10\xa0%"
    assert percent(0.1019, 1) == "10.2\xa0%"


def test_alternative_text_says_what_is_seen():
    fig = new_picture()
    left, middle, right = fig.subplots(1, 3)
    left.plot([0, 1], label="first")
    left.plot([1, 0], "--", label="second")
    left.set(xlabel="step", ylabel="error $||x||^2$", title="a race")
    middle.imshow(np.eye(3))
    right.barh(["cat", "dog"], [1, 2])
    right.set(xlabel="weight")
    say(fig, "First falls")
    assert alt_text(fig) == (
        "Figure: First falls (a race, error ‖x‖^2 against step: first, second; heat map of 3 × 3; "
        "bars, weight: cat, dog)"
    )
