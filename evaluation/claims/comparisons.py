"""What is claimed by Sankagiri, Etesami and Grossglauser, ICML 2025."""

from evaluation.claims.declaration import claim
from evaluation.claims.quantities import kept, rate, said
from evaluation.claims.rules import Rule

PAPER = "Sankagiri, Etesami and Grossglauser, ICML 2025"
STEPS = "t=20", "t=50", "t=100", "t=150", "t=200"
RANKS = tuple(f"r={rank} (paper protocol)" for rank in range(2, 7))


# ---- Section 6, Figure 1 ----


@claim("Abstract; Section 6, Figure 1 a and c")
def linear_convergence() -> list[Rule]:
    """Gradient-based methods converge exponentially to the latent features, given a warm start.

    Measured: Start at the truth with noise of standard deviation θ = 0.5 on every feature, which is about as large as
    the features, exact outcomes, step of one over the curvature at the truth. The error after 500 steps is at most a
    millionth of the first one, and from step 20 to step 200 a step leaves at most 0.99 of it, in all four settings.

    Note: The step is ours: the paper's own does not converge (claim 4). θ = 0.5 is no warm start in the sense of
    Theorem 4.1, whose ball is many powers of ten smaller.
    """
    error = kept("comparisons-figure1", "t=500")["theta=0.5"]
    return [
        error / error.of("t=0") <= 1e-6,
        rate(kept("comparisons-figure1", *STEPS)["theta=0.5"]) <= 0.99,
    ]


@claim("Section 1; Section 6, Figure 1 a and c")
def warm_start_not_needed() -> Rule:
    """A warm start is required for the guarantee, but not needed in practice.

    Measured: The same from θ = 1 and 2, where the start is further from the truth than zero is. The error after 500
    steps is at most a hundredth of the first one, in at least 7 of these 8 cases (two starts, four settings).

    Note: From far starts a single trial can be slow. This is with the printed numbers of comparisons. With few of them
    the start matters: see "Random starts against the spectral start".
    """
    error = kept("comparisons-figure1", "t=500")["theta=1", "theta=2"]
    return (error / error.of("t=0") <= 0.01).need(7)


@claim("Section 4; Section 6, Figure 1 a and c")
def projection_not_needed() -> list[Rule]:
    """The projections are required for the guarantee, but not needed in practice.

    Measured: Error after 100 steps with both projections over that without, from all three starts: between a half and
    two. (Later both are rounding in some settings.) The projections have the true incoherence of each drawn matrix.

    Note: With the printed incoherence of 1.01, which no matrix of these shapes can have, the first projection cuts rows
    of the truth.
    """
    error = kept("comparisons-figure1", "t=100")
    return [
        (error["theta=0.5, projected"] / error["theta=0.5"]).between(0.5, 2),
        (error["theta=1, projected"] / error["theta=1"]).between(0.5, 2),
        (error["theta=2, projected"] / error["theta=2"]).between(0.5, 2),
    ]


@claim("Section 6, Figure 1 a and c")
def step_of_the_theorem() -> Rule:
    """With the step "as recommended by Theorem 4.1", the simulations confirm linear convergence.

    Measured: Error after 500 steps with the step and the regulariser of the released notebook, n1 n2 / (280 μ r)² and
    200 / (n1 n2), over the first one: at most a tenth. (The theorem's own step is many powers of ten shorter still.)

    Note: The released notebook holds no outputs, so that nobody can see how the figure was made. Its constants do not
    give it, and those of the theorem even less. With a step of one over the curvature the figure's message holds (claim
    1).
    """
    error = kept("comparisons-figure1", "t=500")["theta=1 (paper protocol)"]
    return error / error.of("t=0") <= 0.1


@claim("Section 6, Figure 1 b and d")
def enough_comparisons() -> list[Rule]:
    """A large enough number m of comparisons leads to linear convergence.

    Measured: From θ = 1, with 8.6 and 9.3 comparisons per degree of freedom: the error after 500 steps is at most a
    millionth of the first one.
    """
    error = kept("comparisons-figure1-amounts", "t=500")["8.6 per degree"].at("200x300,unit", "200x300,gauss")
    amounts = kept("comparisons-figure1-amounts", "t=500")["9.3 per degree"].at("2000x3000,unit", "2000x3000,gauss")
    return [
        error / error.of("t=0") <= 1e-6,
        amounts / amounts.of("t=0") <= 1e-6,
    ]


@claim("Section 6, Figure 1 b and d")
def too_few_comparisons() -> list[Rule]:
    """For a small m the error "does not go to zero" as the number of steps increases.

    Measured: With the fewest comparisons that were tried (1 and 1.5 per degree of freedom) the error after 500 steps is
    at least a hundredth of the first one.
    """
    error = kept("comparisons-figure1-amounts", "t=500")["1 per degree"].at("200x300,unit", "200x300,gauss")
    amounts = kept("comparisons-figure1-amounts", "t=500")["1.5 per degree"].at("2000x3000,unit", "2000x3000,gauss")
    return [
        error / error.of("t=0") >= 0.01,
        amounts / amounts.of("t=0") >= 0.01,
    ]


@claim("Abstract; Sections 1 and 4")
def constants_are_conservative() -> list[Rule]:
    """The constants of the theory, of the number of comparisons and of the rate, "are quite conservative"; the
    empirical performance exceeds the predictions.

    Measured: Notebook 06 puts its run (60 users, 80 items, 2 features) into the formulas of Theorem 4.1: powers of ten
    of the comparisons and of the steps to a digit that the theorem asks for, each 10 or more. The run itself has 1,500
    comparisons and reaches the truth.
    """
    return [
        said("06_comparison_mf_recovery", "theorem: log10 comparisons") >= 10,
        said("06_comparison_mf_recovery", "theorem: log10 steps to a digit") >= 10,
    ]


@claim("Section 6, data generation")
def constants_of_the_truth() -> list[Rule]:
    """ "In both settings, we had r = 3, μ ≈ 1.01, κ = 1.1", where the truth is a Gaussian matrix cut to rank r.

    Measured: μ and κ of drawn Gaussian truths of both sizes, mean over draws: μ at most 1.1, κ between 1 and 1.2.

    Note: By its definition (10) μ is at least n / (2 min(n1, n2)) = 1.25 at both sizes, whatever the matrix. The
    released notebook has 1.01 as a constant, and draws another truth, with rows of length one.
    """
    return [
        kept("comparisons-text", "mu")["truth"].at("200x300,gauss", "2000x3000,gauss") <= 1.1,
        kept("comparisons-text", "kappa")["truth"].at("200x300,gauss", "2000x3000,gauss").between(1, 1.2),
    ]


@claim("Abstract; conclusion")
def sparse_data() -> Rule:
    """The result "holds in a sparse data regime, where each user compares only a few pairs of items".

    Measured: In practice: with as many comparisons as in the released notebook, 5,554 for 200 users (28 of 44,850 pairs
    each) and 138,863 for 2,000 (69 of 4.5 million), the error after 500 steps from θ = 0.5 is at most a millionth of
    the first one.

    Note: This is about the descent. The theorem itself asks for more comparisons than there are different ones at these
    sizes: see Theorem 4.1.
    """
    error = kept("comparisons-figure1", "t=500")["theta=0.5"]
    return error / error.of("t=0") <= 1e-6


@claim("Section 1; Section 5")
def bowl_around_the_truth() -> Rule:
    """Within a neighbourhood of the true solution the negative log-likelihood has "a strong convexity-like property",
    once its symmetries are taken out.

    Measured: Notebook 06 computes all second derivatives at the truth: directions without curvature, of which the
    symmetries (shift of all items, change of basis) explain r² + r = 6.
    """
    return said("06_comparison_mf_recovery", "flat directions").between(6, 6)


# ---- starts, rank ----


@claim("Section 2.3", see=["comparisons-starts"])
def svd_start_does_not_work() -> None:
    """In matrix completion a start comes from the singular vectors of the observed matrix; "this initialization method
    does not work here".

    Not testable: The start takes singular vectors of the observed entries of X. Comparisons observe no entry of X, so
    that there is no such matrix, and nothing to run. Taken literally the sentence is right.

    Note: Another matrix can take its place: half off each outcome, plus at one item and minus at the other. Its mean is
    proportional to X as long as utilities are small. Its singular vectors are the best start of all that were tried:
    with 2 comparisons per degree of freedom 9 and 10 of 10 trials are solved from there, of the two kinds of truth.
    """


@claim("Appendix F, Figure 2")
def error_rises_with_rank() -> list[Rule]:
    """The reconstruction error grows with the rank r, and falls with the number m of comparisons.

    Measured: The published recipe (Adam, 300 epochs, regulariser 0.01): the error of rank 6 less that of rank 2 is
    above zero for every m; the error of every rank at 100,000 comparisons is below that at 30,000.
    """
    error = kept("comparisons-figure2", "error")
    figure2 = kept("comparisons-figure2", "error")[RANKS]
    return [
        error["r=6 (paper protocol)"] - error["r=2 (paper protocol)"] > 0,
        figure2.at("m=100,000") - figure2.at("m=30,000") < 0,
    ]


@claim("Appendix F, Figure 2")
def figure_shows_sample_complexity() -> Rule:
    """Figure 2 highlights "the dependency of the sample complexity of the learning problem on the rank": how many
    comparisons are needed to find the truth.

    Measured: If the figure shows what is needed, no solver can do with less. So: share of trials that another solver
    brings to a relative error of 1e-6 on the same data, rank 6, 50,000 and 60,000 comparisons, where the printed recipe
    is still far off: less than a half.

    Note: The figure shows how far 300 epochs of Adam get. Its regulariser, λ/4 = 0.01 as Appendix F prints it, is
    120,000 times γ, and 4.8 million times the γ/40 of the theory, which makes the problem stiff. From
    a spectral start and with L-BFGS, all ranks from 2 to 6 are solved from fewer comparisons, and their limits lie
    closer together.
    """
    return kept("comparisons-figure2", "success")["r=6"].at("m=50,000", "m=60,000") < 0.5


# ---- efficiency ----


@claim("Sections 1 and 2.2; abstract")
def computationally_efficient() -> Rule:
    """The nonconvex problem in the features is "computationally much easier to solve" than the convex one in the whole
    utility matrix.

    Measured: Wall time of NuclearNormMLE (convex) over that of ComparisonMF (nonconvex) on the same comparisons of some
    500 people and 1,297 movies; both choose their penalty. Much easier: 5 times or more.

    Not testable: Times here are of this kit's code, and the convex rival is its own choice.

    Note: On a few dozen items the convex problem is as fast or faster, since ComparisonMF chooses among more penalties:
    see the times of "In practice". The convex one needs memory for all utilities, and refuses above a million of them.
    """
    seconds = kept("comparisons-movies", "seconds").at("A", "B")
    return seconds["NuclearNormMLE"] / seconds["ComparisonMF"] >= 5


@claim("Abstract; conclusion")
def statistically_efficient() -> Rule:
    """Learning personalised recommendations from comparison data is statistically efficient.

    Measured: Exact outcomes: share of trials solved with 3 comparisons per degree of freedom, from the spectral start:
    more than a half for both kinds of truth.

    Note: With outcomes 0 and 1 the error falls only as one over the root of m: see the next claim.
    """
    return kept("comparisons-starts", "success")["spectral"].at("unit,m/dof=3", "gauss,m/dof=3") > 0.5


@claim("Sections 2.3, 3.1 and 7")
def extends_to_choices() -> Rule:
    """ "We believe it is possible to extend our results to the noisy case", outcomes 0 and 1, but for a residual error
    due to the noise.

    Measured: Slope of log error against log number of choices, 80,000 to 1,280,000: between -0.55 and -0.45, the usual
    rate of a residual error.

    Note: A choice tells much less than an exact chance. The truth of the paper's Appendix F is so weak that choices
    teach nothing of it; the slope is measured on rows of length one.
    """
    return kept("comparisons-choices-slope", "slope")["ComparisonMF"].between(-0.55, -0.45)


@claim("Sections 1 and 7", see=["comparisons-few"])
def viable_on_real_comparisons() -> Rule:
    """Asking users to compare pairs of items (instead of rating them) "can be a viable approach to learning user
    preferences".

    Measured: On four public sets in which people were asked to compare pairs: held-out pairs that ComparisonMF-bias
    orders rightly less those of BradleyTerry, one ranking for everybody, in points: above zero on each.

    Note: The paper knows of no public data of this kind. These four are small: food, two sets of cars, and colours.
    With 5 or 10 answers a person the gain vanishes on some of them.
    """
    accuracy = kept("comparisons-real", "accuracy")
    return accuracy["ComparisonMF-bias"] - accuracy["BradleyTerry"] > 0


@claim("Section 1")
def comparisons_or_ratings() -> None:
    """Comparisons are said to be less noisy than ratings, and easier to give; whether they lead to better
    recommendations is left open.

    Not testable: It needs people who were asked both ways about the same items. Comparisons that are made from ratings
    know less than the ratings they come from.
    """


@claim("Sections 1 and 2.3")
def first_guarantee() -> None:
    """These are the first recovery guarantees for the nonconvex problem of learning from comparisons.

    Not testable: It is a statement about all that was published before; running code cannot show it.
    """
