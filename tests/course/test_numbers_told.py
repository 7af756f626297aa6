"""Numbers in the prose of notebooks and labs are those that a cell prints, or that are computed or named here."""

import re

import nbformat
import numpy as np
import pytest

from cofactor.separable import merit
from course import nb00, nb01, nb02, nb03, nb04, nb05, nb07, nb09
from course.crowds import hide_pairs
from course.desk import find
from course.panel import Panel, named
from tests.each import each
from tests.notebook_rules import LABS, NOTEBOOKS

ASKED = re.compile(r"\*\*(Predict|Exercise|Open question|Hand in|It takes|Try|Ready|\d+ minutes|About \d+ minutes)")
NO_PROSE = re.compile(
    r"(?s:```.*?```|\$\$.*?\$\$|\$[^$]*\$|\*\*Further reading.*)|`[^`\n]*`|\]\([^)]*\)|^#.*|<[^>]*>|\(\d+\w?\)"
    r"|([Tt]heorem|[Ss]ection|Eqs?\.|step[s]?) \d[\d., and]*",
    flags=re.MULTILINE,
)
NUMBER = re.compile(r"(?<![\w.])(\d+(?:[ ,]\d{3})*(?:\.\d+)?|\.\d+)(?:e([-+]?\d+))?")
SMALL = 13  # whole numbers below count things: steps, people, classes
YEARS = range(1900, 2030)
COUNTED = {  # numbers of a text's own, which nothing prints; most are computed below
    "00_start_here": {0.93},  # 100 / 108
    "01_theory_recap": {39},  # people of Bluebird
    "02_synthetic_identifiability": {0.35, 0.872},  # read off a figure; 1 - 0.128
    "03_imputation_error_vs_samples": {520, 440, 560},  # rounded
    "04_symnmf_convergence": {34},  # a power
    "05_fw_memory_profiling": {100_000, 400, 0.93, 0.22, 0.87},
    "06_comparison_mf_recovery": {250, 400, 25, 21},  # of the first figure; 1500 / 60; recipes that a person sorted
    "07_crowd_on_real_data": {90, 127, 62, 40, 34, 461, 300},  # free numbers of a person; 0.157 * 807; a prior; Weather
    "08_joint_pmf": {125, 392},  # cells; votes that are missing
    "09_topics_and_communities": {961, 36_771, 10.8, 0.015, 0.84, 0.21, 81, 0.29},  # words, their square; of lab 09
    "10_your_own_data": {30, 120, 80},  # labels of either shift; read off figures
    "11_capstone": {15, 64, 19},  # per cent in other crowds
    "00_lab": {25, 31, 23},
    "01_lab": {0.026, 25, 10_000, 200, 31, 0.05, 45, 37},  # 0.066 * 0.4; of 200 seeds, not run again
    "02_lab": {0.732, 0.271, 0.262, 600, 262, 431, 200, 10_000, 49, 74, 6000, 279},  # 600 starts, 6000 rounds: not run
    "03_lab": {31, 5.6, 33, 3.9, 9.7, 54, 48, 9.1, 128, 64},  # a root; 2^7; read off figures
    "04_lab": {0.55, 0.71, 0.42, 0.72, 13, 59, 0.006, 0.31, 0.23, 0.95, 0.11, 200, 10_000},  # limits of iterations
    "05_lab": {250, 22, 38, 404, 33, 0.57},
    "05_theorems": {0.293, 108, 400_000, 35, 46, 11.7, 6.6, 384, 998, 18.02, 0.63, 24, 0.0008},  # of proofs
    "06_lab": {189_600, 9000},  # 60 * 80 * 79 / 2; rounded
    "07_lab": {48, 12.03, 91, 15.6},  # printed; of notebook 07
    "08_lab": {0.007, 0.037, 0.063, 0.134, 60_000, 6e-05, 1728, 135},  # not run; rows; 435 - 300
    "09_lab": {21_578, 3248, 7.6, 5156, 400, 171, 0.867, 0.644, 0.279, 12_750, 0.206},  # of the public data
    "10_lab": {108},  # photographs of Bluebird
}


def numbers(text):
    """Every number with its decimals."""
    for found in NUMBER.finditer(text):
        digits = re.sub(r"[ ,]", "", found[1])
        yield float(digits) * 10.0 ** int(found[2] or 0), len(digits.partition(".")[2])


def shown(cell):
    """Numbers that a cell of code has or gave."""
    texts = ["".join(part.get("text", "")) + str(part.get("data", {}).get("text/plain", "")) for part in cell.outputs]
    return [value for text in [cell.source, *texts] for value, _ in numbers(text)]


def stated(cell):
    """Numbers that a cell of words states: what it asks, formulas, links, years and small counts left out."""
    text = "\n\n".join(part for part in cell.source.split("\n\n") if not ASKED.match(part))
    for value, decimals in numbers(NO_PROSE.sub(" ", text.replace("\u202f", " ").replace("\xa0", " "))):
        if decimals or (value >= SMALL and value not in YEARS):
            yield value, decimals


@each("path", [*NOTEBOOKS, *LABS])
def test_numbers_in_prose_are_those_that_the_notebook_shows(path):
    cells = nbformat.read(path, as_version=4).cells
    given = np.array([value for cell in cells if cell.cell_type == "code" for value in shown(cell)])
    shares = given[np.abs(given) <= 1]
    ways = np.concatenate([given, 100 * shares, 100 - 100 * shares])  # as per cent, and as what is left of it
    words = [one for one in cells if one.cell_type == "markdown" and "rubric" not in one.metadata.get("tags", [])]
    for value, decimals in (one for cell in words for one in stated(cell)):
        near = np.abs(ways - value).min() <= 0.5001 * 10.0**-decimals
        assert near or value in COUNTED[path.stem], (path.name, value)


def says(panel, **values):
    """What a panel says of values that its controls have."""
    for name, value in values.items():
        control = panel.controls[name]
        if hasattr(control, "options"):
            values[name] = value = dict(named(control)).get(value, value)
            assert value in dict(named(control)).values(), (name, value)
        else:
            assert control.min <= value <= control.max, (name, value)
    return panel.at(**panel.params | values).text.replace("\xa0", " ")


@pytest.mark.slow
def test_numbers_that_figures_show_without_saying_them():
    live = nb09.community_live()
    at = [says(live, mixing=mixing, shown=True) for mixing in (0.5, 1.0)]
    assert "rank correlation 0.84" in at[0] and "81 %" in at[1] and "rank correlation 0.21" in at[1]
    live = nb07.belief_live()
    for right, said in ((1, "62 %"), (10, "40 %"), (100, "34 %")):
        assert said in says(live, right=right, wrong=2 * right, shown=True)
    noisy = nb05.triangle(60, noise=0.05, seed=0)
    apart = np.isin(np.arange(60), noisy.anchors)
    free, paid = (merit(noisy.X, 3, lam=lam, n_iter=50).scores for lam in (0, 0.02))
    assert np.round([free[~apart].max(), paid[~apart].max(), paid[apart].min()], 2).tolist() == [0.93, 0.22, 0.87]
    live = nb02.certificate_live()
    assert "margin −0.7321" in says(live, accuracy=0.5)
    assert "the factor is unique" in says(live, accuracy=0.8, spam=0.8)
    assert "margin −0.271)" in says(live, accuracy=0.8, spam=0.9)
    assert round(find("split").parts[1].answer, 3) == -0.262
    ab, cd = (part.answer for part in find("unseen").parts[:2])
    assert np.round([*ab, cd[0]], 2).tolist() == [0.27, 0.64, 0.19]
    pairs = [~hide_pairs(12, 0.3, seed) for seed in range(10)]
    holes = [(seen, m, n) for seen in pairs for m, n in np.argwhere(~seen) if m != n]
    assert round(np.mean([(seen & np.outer(seen[n], seen[m])).sum() for seen, m, n in holes])) == 31


@pytest.mark.slow
def test_what_labs_say_of_their_panels():
    panel = nb00.thinning_panel()
    for kept, model, vote in ((10, "13.0", "26.9"), (5, "25.0", "26.9"), (3, "29.6", "27.8"), (2, "31.5", "29.6")):
        assert f"errs on {vote} % of the tasks, WorkerTypes on {model} %" in says(panel, per_task=kept)
    assert "errs on 22.8 % of the tasks, WorkerTypes on 15.2 %" in says(panel, per_task=2, crowd="digits")
    panel = nb01.missing_block_panel()
    for way, n, off in (("designated", 1000, "25.2"), ("designated", 10_000, "24.3"), ("robust", 1000, "6.4")):
        assert f"{off} % off" in says(panel, share=0.6, n_tasks=n, imputation=way)
    assert "3.2 % off" in says(panel, share=0.6, n_tasks=10_000, imputation="robust")
    assert "form two teams" in says(panel, share=0.8)
    panel = nb01.turn_panel()
    assert "from −6° to 8°" in says(panel, specialist_error=0.2)
    assert "from −2° to 2°" in says(panel, specialist_error=0.05)
    assert "No turn of 0.5° or more is left" in says(panel, specialist_error=0.0)
    assert "No turn of 0.5° or more is left" in says(panel, n_workers=40)
    panel = nb01.crowd_panel()
    for n, vote, model in ((2, "36.5", "45.0"), (3, "31.4", "19.8"), (20, "1.3", "0.0")):
        assert f"errs on {vote} % of the tasks, RobSymNMF-EM on {model} %" in says(panel, labels_per_task=n)


@pytest.mark.slow
def test_what_labs_of_imputation_and_of_solvers_say_of_their_panels():
    panel = nb03.sample_panel()
    for share, garbage, said in (
        (0.3, 0.2, "(8.3 %, then 2.4 %)"), (0.3, 0.3, "then 3.9 %)"), (0.3, 0.4, "then 9.7 %)"),
        (0.6, 0.2, "then 9.1 %)"), (0.6, 0.3, "hardly moves (54.0 %, then 48.4 %)"),
        (0.3, 0.05, "(17.4 %, then 17.5 %)"),
    ):  # fmt: skip
        assert said in says(panel, share=share, outlying=garbage)
    panel = nb04.film_panel()
    for share, last in ((0.2, 12), (0.5, 13), (0.9, 60)):
        assert crosses(panel, last - 1, share) and (last == 60 or not crosses(panel, last, share))
    panel = nb04.race_panel()
    for psi, least in ((0.3, "0.2267"), (0.8, "0.005612"), (0.85, "0.005967"), (0.95, "0.1126")):
        said = says(panel, density=0.9, psi=psi)
        assert "no shift: 0.3054" in said and f"clamp up to the shift: {least}" in said
    for noise, end in (("40 dB", "3e−05"), ("30 dB", "3e−04"), ("20 dB", "0.003088"), ("10 dB", "0.03078")):
        assert says(panel, snr_db=noise).count(end) == 3
    panel = nb05.selection_panel()
    assert all("40 of 40 anchors" in says(panel, mu=mu) for mu in (1e-7, 0.1)) and "22 of 40" in says(panel, mu=1.0)
    for snr, said in ((12.0, "after 40 (margin 91 %)"), (8.0, "after 40 (margin 25 %)"), (6.0, "after 38 (")):
        assert said in says(panel, snr_db=snr)
    assert "404 kB; dense: 18 MB" in says(panel, n_points=1500)
    assert "33 of 40" in says(panel, lam="5") and "after 1 (" in says(panel, lam="5")
    assert round(panel.compute(**panel.params | {"lam": 5.0}).fit.scores.max(), 2) == 0.57


def crosses(panel: Panel, after: int, density: float):
    """How many crosses are left in the middle picture."""
    return len(panel.at(after=after, density=density).figure.axes[1].lines[-1].get_xdata())
