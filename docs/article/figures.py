"""The pictures of the article, drawn from the kept results: one of all verdicts, one for each line."""

import matplotlib
import numpy as np
import pandas as pd
from scipy.stats import t as student

from cofactor_app.plots.style import BLUE, FAINT, GREEN, GREY, INK, LOOKS, ORANGE, new_picture, styled
from docs.article.quoted import kept, printed_cells
from docs.tables import LINES
from evaluation import EXPERIMENTS, raw_trials
from evaluation.experiment import PAPER_PROTOCOL
from evaluation.verdicts import CONFIDENCE, VERDICTS

WIDTH = 6.6  # inches: the text of a page
VERDICT_LOOKS = {
    "better": (BLUE, "..."),
    "reproduced": (GREEN, ""),
    "cannot tell": ("#d4d4d4", ""),
    "no value": ("white", ""),
    "not comparable": ("white", "xx"),
    "worse": (ORANGE, "///"),
}
CROWDS = {"bluebird": "Bluebird", "dog": "Dog", "rte": "RTE", "trec": "TREC"}
ERRORS = (7, 10, 15, 20, 30, 50)  # per cent, along the axes
CREDIT = {  # bars: method, column, colour, hatch
    "MV-EM, printed": ("MV-EM (NaN bug)", "published", ORANGE, "///"),
    "MV-EM with the defect": ("MV-EM (NaN bug)", "ours", ORANGE, ""),
    "MV-EM without it": (f"MV-EM{PAPER_PROTOCOL}", "ours", ORANGE, "..."),
    "RobSymNMF, printed": (f"RobSymNMF{PAPER_PROTOCOL}", "published", BLUE, "///"),
    "RobSymNMF, ours": (f"RobSymNMF{PAPER_PROTOCOL}", "ours", BLUE, ""),
}
TRIPLES = {
    "CNMF-OPT": "CNMF-OPT",
    "CTD, released penalty": f"CTD{PAPER_PROTOCOL}",
    "CTD, trace rule": "CTD",
    "CNMF-OPT, then EM": "CNMF-EM",
    "constant": "Constant",
}
ANCHORS = {
    "SPA": "SPA",
    "FastGradient": "FastGradient",
    "MERIT": f"MERIT{PAPER_PROTOCOL}",
    "MERIT, objective as printed": "MERIT (paper protocol, objective as printed)",
}
MEMORY = {  # curves: method, metric, look
    "MERIT": ("MERIT", "peak", LOOKS[2]),
    "FastGradient": ("FastGradient", "peak", LOOKS[1]),
    "predicted": ("FastGradient", "predicted", (GREY, "", ":")),
}
STEPS = {
    "step of one over the curvature": "theta=1",
    "constants of the notebook": f"theta=1{PAPER_PROTOCOL}",
    "regulariser of the notebook": "theta=1, released balance",
}
RANKS = (2, 4, 6)


def write(folder):
    """Write all pictures as SVG, with letters as curves and without dates: the same everywhere."""
    for draw in (verdicts, crowd, pmf, separable, comparisons):
        with matplotlib.rc_context({"svg.hashsalt": draw.__name__, "svg.fonttype": "path"}):
            draw().savefig(folder / f"{draw.__name__}.svg", metadata={"Date": None, "Creator": None})


# ---- verdicts ----


@styled
def verdicts():
    """Draw how the printed cells of every table came out: one panel for each paper with printed numbers."""
    cells = printed_cells()
    lines = [line for line in LINES if (cells["line"] == line).any()]
    figure = new_picture(WIDTH, 3.2)
    panels = figure.subplots(1, len(lines))
    most = cells["table"].map(table_name).groupby(cells["line"]).nunique().max()
    for axes, line in zip(panels, lines, strict=True):
        draw_shares(axes, cells[cells["line"] == line], most)
        axes.set_title(LINES[line].partition(":")[0], fontsize=9)
    named_below(figure, panels[0], 5)
    return figure


def draw_shares(axes, cells, most):
    """Draw a bar for every table, with room for the most that a paper has: the shares of its verdicts."""
    names = cells["table"].map(table_name)
    counts = pd.crosstab(names, cells["verdict"]).reindex(index=names.unique()[::-1], columns=list(VERDICTS)).fillna(0)
    shares, left = counts.div(counts.sum(axis=1), axis=0), np.zeros(len(counts))
    for verdict, (colour, hatch) in VERDICT_LOOKS.items():
        edge = FAINT if colour == "white" else "white"
        axes.barh(shares.index, shares[verdict], left=left, color=colour, hatch=hatch, ec=edge, lw=0.5, label=verdict)
        left = left + shares[verdict].to_numpy()
    axes.set_yticks(range(len(counts)), [f"{name} ({total:.0f})" for name, total in counts.sum(axis=1).items()])
    axes.set(xticks=[0, 1], xticklabels=["0", "all"])
    axes.tick_params(labelsize=7)
    axes.set_ylim(len(counts) - 0.5 - most, len(counts) - 0.5)  # bars of one height, from the top
    axes.spines["left"].set_visible(False)


def table_name(experiment):
    """Return the name of a table as its paper prints it, such as "Table 4" or "Table II, TDT2"."""
    name, _, about = EXPERIMENTS[experiment].title.partition(":")
    if experiment.startswith("separable-table2"):
        return f"{name}, {about.removeprefix(' topics of ').partition(',')[0].partition('-')[0]}"
    return {"Numbers in the text": "text"}.get(name, name.partition(" and Figure")[0])


# ---- crowd ----


@styled
def crowd():
    """Draw printed errors on real crowds beside ours, and what tasks without labels did to MV-EM."""
    figure = new_picture(WIDTH, 2.7)
    real, without = figure.subplots(1, 2, width_ratios=[1, 1.15])
    draw_real(real)
    for k, (name, (method, column, colour, hatch)) in enumerate(CREDIT.items()):
        height, place = level("crowd-table2", method, "error", column), np.arange(3) + 0.16 * (k - 2)
        without.bar(place, height, 0.15, color=colour, hatch=hatch, ec="white", label=name)
        if column == "ours":
            bars(without, place, height, [reach("crowd-table2", method, "error")] * 2, INK)
    without.set_xticks(range(3), ["0.3", "0.3 to 0.5", "0.5 to 0.7"])
    without.set(xlabel="Credit: chance that a task is labelled", ylabel="error (%)")
    without.legend(fontsize=7)
    lettered(real, without)
    return figure


def draw_real(axes):
    """Draw a point for each printed error on the real crowds."""
    cells = printed_cells()
    for (setting, name), (colour, marker, _) in zip(CROWDS.items(), LOOKS, strict=False):
        rows = cells[cells["table"].isin(["crowd-table4", "crowd-table5"]) & (cells["setting"] == setting)]
        axes.plot(rows["published"], rows["ours"], marker, color=colour, ms=4, mfc="none", label=name)
        bars(axes, rows["published"], rows["ours"], [half_interval(rows)] * 2, colour)
    axes.axline((5, 5), (60, 60), color=FAINT, lw=0.8, zorder=0)
    axes.set(xscale="log", yscale="log", xlabel="printed error (%)", ylabel="ours (%)")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ERRORS, minor=False)
        axis.set_ticks([], minor=True)
        axis.set_major_formatter("{x:g}")
    axes.legend(fontsize=7)


# ---- joint PMF ----


@styled
def pmf():
    """Draw the error as the released code measures it beside the error as defined, and pairs beside triples."""
    figure = new_picture(WIDTH, 2.9)
    bias, order = figure.subplots(1, 2)
    draw_bias(bias)
    for (name, method), look in zip(TRIPLES.items(), LOOKS, strict=False):
        curve(order, ("pmf-table5", method, "mse"), look, name)
    for method, look in (("CNMF-OPT", LOOKS[0]), ("CTD", LOOKS[1])):
        printed = level("pmf-table5", method, "mse", "published")
        order.plot(printed.index, printed, "x", color=look[0], ms=6, label=f"{method}, printed")
    bias.set(title="Table 1 of the paper: two measures", ylabel="MSE")
    order.set_title("Table 5 of the paper: pairs, triples")
    for axes, lowest in ((bias, 1e-6), (order, 1e-5)):  # room for the names
        axes.set(xscale="log", yscale="log", xlabel="rows", ylim=(lowest, 1))
        named_inside(axes, "lower left")
    lettered(bias, order)
    return figure


def draw_bias(axes):
    """Draw two measures of the same fits, and what is printed."""
    methods = {name: name + PAPER_PROTOCOL for name in ("CNMF-OPT", "CNMF-SPA-EM")} | {"CNMF-SPA": "CNMF-SPA"}
    for (name, method), (colour, marker, _) in zip(methods.items(), LOOKS, strict=False):
        curve(axes, ("pmf-table1", method, "mse (published)"), (colour, marker, "--"), f"{name}, as released")
        curve(axes, ("pmf-table1", method, "mse"), (colour, marker, "-"), f"{name}, as defined")
        printed = level("pmf-table1", method, "mse (published)", "published")
        axes.plot(printed.index, printed, "x", color=INK, ms=5, label="printed")


# ---- separable ----


@styled
def separable():
    """Draw which noise decides who finds the anchors, and the memory."""
    figure = new_picture(WIDTH, 2.6)
    released, gaussian, memory = figure.subplots(1, 3)
    for axes, experiment in ((released, "separable-figure2"), (gaussian, "separable-figure2-gaussian")):
        for (name, method), look in zip(ANCHORS.items(), LOOKS, strict=False):
            curve(axes, (experiment, method, "success"), look, name, per_cent=True)
        axes.set(xlabel="signal to noise (dB)", xlim=(7.5, 24.5), ylim=(-4, 104))
    for name, (method, metric, look) in MEMORY.items():
        line(memory, level("separable-figure4b", method, metric), look, name)
    released.set(title="noise of the script", ylabel="all anchors found (%)")
    gaussian.set_title("noise of the text")
    memory.set(title="memory", xlabel="points", ylabel="peak (MB)", xscale="log", yscale="log")
    named_inside(memory)
    named_below(figure, released, 4)
    lettered(released, gaussian, memory)
    return figure


# ---- comparisons ----


@styled
def comparisons():
    """Draw gradient descent with three steps, and how far Adam gets where another solver ends."""
    figure = new_picture(WIDTH, 3.1)
    steps, solved = figure.subplots(1, 2)
    draw_steps(steps)
    for rank, (colour, marker, _) in zip(RANKS, LOOKS, strict=False):
        for solver, ending, style in (("Adam", PAPER_PROTOCOL, "--"), ("L-BFGS", "", "-")):
            row = ("comparisons-figure2", f"r={rank}{ending}", "relative")
            curve(solved, row, (colour, marker, style), f"rank {rank}, {solver}")
    solved.axhline(1, color=FAINT, lw=0.8)
    solved.set(
        title="Figure 2 of the paper: solvers",
        xlabel="comparisons",
        ylabel="relative error",
        yscale="log",
        ylim=(1e-10, 10),
    )
    solved.set_xticks([40_000, 70_000, 100_000], ["40,000", "70,000", "100,000"])
    named_below(figure, solved, 3)
    lettered(steps, solved)
    return figure


def draw_steps(axes):
    """Draw the distance from the truth over iterations."""
    trials = raw_trials("comparisons-figure1")
    trials = trials[trials["setting"] == "200x300,unit"]
    for (name, method), look in zip(STEPS.items(), LOOKS, strict=False):
        steps = trials[trials["method"] == method].groupby("metric")["value"]
        low, middle, high = (by_number(found) for found in (steps.min(), steps.median(), steps.max()))
        line(axes, middle, look, name)
        bars(axes, middle.index, middle, [middle - low, high - middle], look[0])
    axes.set(title="Figure 1 of the paper: descent", xlabel="iteration", ylabel="distance from truth", yscale="log")
    axes.set_ylim(1e-21, 1)  # room for the names
    named_inside(axes)


# ---- what pictures share ----


def level(experiment, method, metric, column="ours"):
    """Return one number of a method in every setting, by the setting's own number where all have one."""
    table = kept(experiment)
    rows = table[(table["method"] == method) & (table["metric"] == metric)]
    return by_number(rows.set_index("setting")[column])


def by_number(values):
    """Sort values by the number behind the equals sign of their names, such as S=1e5; others stay as they are."""
    numbers = pd.to_numeric(values.index.str.partition("=").get_level_values(2).str.replace(",", ""), errors="coerce")
    return values if numbers.isna().any() else values.set_axis(numbers).sort_index()


def reach(experiment, method, metric):
    """Return half of the interval of a method's number in every setting, in the order of `level`."""
    table = kept(experiment)
    rows = table[(table["method"] == method) & (table["metric"] == metric)]
    return by_number(rows.set_index("setting").pipe(half_interval))


def half_interval(rows):
    """Return half of Student's interval of the mean of each row of a kept table."""
    return rows["se"] * student.ppf((1 + CONFIDENCE) / 2, (rows["trials"] - 1).clip(lower=1))


def curve(axes, row, look, name, per_cent=False):
    """Draw the numbers of a row, named by experiment, method and metric, over settings, with their intervals."""
    values, half = level(*row), reach(*row)
    low, high = values - half, values + half
    if per_cent:  # shares end at zero and at one
        values, low, high = 100 * values, 100 * low.clip(lower=0), 100 * high.clip(upper=1)
    line(axes, values, look, name)
    bars(axes, values.index, values, [values - low, high - values], look[0])


def bars(axes, x, y, reaches, colour):
    """Draw how far numbers reach, downwards and upwards."""
    axes.errorbar(x, y, yerr=reaches, fmt="none", ecolor=colour, elinewidth=0.8, capsize=1.5, capthick=0.8)


def line(axes, values, look, name):
    """Draw a curve over the index of some values."""
    colour, marker, style = look
    axes.plot(values.index, values, color=colour, marker=marker or None, ls=style, ms=3.7, lw=1.2, label=name)


def named_inside(axes, place="best"):
    """Name what is in a panel, each name once."""
    lines, names = axes.get_legend_handles_labels()
    named = dict(zip(names, lines, strict=True))
    axes.legend(named.values(), named.keys(), fontsize=6.5, loc=place)


def named_below(figure, axes, beside):
    """Name what is in a panel below all of them."""
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=beside, fontsize=7)


def lettered(*panels):
    """Give panels letters, by which the text calls them, and letters of one size."""
    for letter, axes in zip("abc", panels, strict=False):
        axes.set_title(letter, loc="left", fontweight="bold", fontsize=9)
        axes.title.set_size(9)
        axes.xaxis.label.set_size(8)
        axes.yaxis.label.set_size(8)
        axes.tick_params(labelsize=7.5)
