"""What is claimed by Ibrahim and Fu, ICML 2021."""

from evaluation.claims.declaration import claim
from evaluation.claims.quantities import kept, said, share, slope, spread
from evaluation.claims.rules import Rule

PAPER = "Ibrahim and Fu, ICML 2021"
UCI = ["crowd-table1", "crowd-table2"]
AMT = ["crowd-table4", "crowd-table5"]
PROPOSED = "RobSymNMF (paper protocol)", "DesSymNMF (paper protocol)"
BASELINES = "MultiSPA", "CNMF", "TensorADMM", "Spectral-D&S", "MV-EM (paper protocol)"
PRINTS = {"CNMF-EM": "CNMF"}  # CNMF is printed with EM after it
DENSITIES = "phi=0.7", "phi=0.5", "phi=0.3"
STEPS = [f"t={t}" for t in range(5, 61, 5)]


@claim("Abstract and Section 3; supplement, C.1.1", see=["crowd-table6"])
def one_set_of_specialists() -> None:
    """The model is identified "under much relaxed conditions": one set of class specialists among all annotators is
    enough, where CNMF asks for two in disjoint groups.

    Not testable: That fewer specialists are enough is a theorem: see Proposition 1 below. The claim compares it with
    CNMF, and no experiment of the paper runs CNMF where only one set of specialists is there and nothing is noisy. In
    Table 6, where one annotator is a specialist for all classes, only SymNMF is run.
    """


@claim("Supplement, C.1.1, Table 6")
def low_error_without_noise() -> Rule:
    """Without noise "both the proposed methods output low MSE values in all the cases".

    Measured: Low: at most 0.005, which is the largest printed number, rounded up; both methods, all three shares of
    missing blocks.

    Note: The imputation is exact in every trial. What is left comes from single trials in which SymNMF ends in a local
    minimum: they make the mean of the robust method, which starts from a rotation drawn at random.
    """
    return kept("crowd-table6", "mse")["DesSymNMF (paper protocol)", "RobSymNMF (paper protocol)"] <= 0.005


@claim("Supplement, C.1.1, Table 6")
def robust_better_with_more_blocks() -> Rule:
    """The error of RobSymNMF "decreases when more blocks are observed, which is consistent with Theorem 2".

    Measured: Table 6: the mean error with 30 % of the blocks missing over that with 70 %, below one.

    Note: Theorem 2 is about noise, and there is none here: with exact blocks the imputation is exact at every share.
    Whatever trend there is comes from local minima of SymNMF.
    """
    mse = kept("crowd-table6", "mse")["RobSymNMF (paper protocol)"]
    return mse.at("missing=30%") / mse.at("missing=70%") < 1


@claim("Supplement, C.1.1, Table 6")
def designated_unaffected_by_missing() -> Rule:
    """Without noise DesSymNMF imputes all missing co-occurrences accurately, so that its error is "more or less
    unaffected" by how many are missing.

    Measured: Table 6: the mean error with 70 % and with 50 % of the blocks missing over that with 30 %, between one
    half and two.
    """
    mse = kept("crowd-table6", "mse")["DesSymNMF (paper protocol)"]
    return (mse.at("missing=70%", "missing=50%") / mse.at("missing=30%")).between(0.5, 2)


@claim("Supplement, C.1.1, Table 7")
def synthetic_better_in_most_cases() -> list[Rule]:
    """On synthetic labels the proposed methods "outperform the other methods in most of the cases".

    Measured: Table 7, by the generator of the text and by that of the released code, whose level is the printed one:
    the error of each of two methods, less that of each of five baselines, at three numbers of tasks. Most: 16 of 30
    comparisons. MV-EM is the one that survives a task without labels.

    Note: With a task that nobody labelled, the released MV-EM says class 1 everywhere, and its printed error grows with
    the number of tasks. Written correctly it is among the best. Which form of CNMF is printed is not told: on the AMT
    sets it is CNMF followed by EM, in Table 2 CNMF alone meets two of three numbers.
    """
    mse = kept("crowd-table7-released", "mse")
    table7 = kept("crowd-table7", "mse")
    return [
        (mse[PROPOSED] - mse[BASELINES] < 0).need(16),
        (table7[PROPOSED] - table7[BASELINES] < 0).need(16),
    ]


@claim("Supplement, C.1.1, Table 7")
def forty_per_cent_lower() -> Rule:
    """With 1,000 tasks the errors of the proposed methods "are at least 40% lower than the best-performing baseline".

    Measured: Table 7 with the released generator, whose level is the printed one: error over that of each baseline, at
    most 0.6.
    """
    mse = kept("crowd-table7-released", "mse").at("N=1000")
    return mse[PROPOSED] / mse[BASELINES] <= 0.6


@claim("Supplement, C.1.1, Table 7")
def all_better_with_more_tasks() -> Rule:
    """ "As N increases, the MSEs of all the methods become better".

    Measured: Table 7 with the released generator: the slope of log error against log N, below zero for each method.

    Note: The printed row of MV-EM goes the other way: its error grows with N, since ever more trials have a task
    without labels, on which the released code fails.
    """
    return slope(kept("crowd-table7-released", "mse")[*PROPOSED, *BASELINES]) < 0


@claim("Supplement, C.1.2, Figure 2")
def shift_faster_without_noise() -> Rule:
    """ "For different sparsity levels, the proposed SymNMF algorithm converges faster" with the shift than without.

    Measured: Figure 2: error over that without a shift, below one at all three densities. The paper names no iteration,
    so none is picked here: the ratio is the geometric mean over every fifth of the 60 iterations that are kept, of each
    trial. The shift is as the paper displays it (entries below it are set to zero).

    Note: The paper's prose and its code raise such entries to the shift instead, which is another algorithm: see the
    next claim.
    """
    error = kept("crowd-figure2", *STEPS).at(*DENSITIES)
    return error["zero below the shift"] / error["no shift"] < 1


@claim("Supplement, C.1.2, Figure 2")
def shift_faster_without_noise_as_released() -> Rule:
    """ "For different sparsity levels, the proposed SymNMF algorithm converges faster": by the paper's prose and its
    code, which raise entries below the shift to it.

    Measured: As before, with entries below the shift raised to it.

    Note: A raised entry is off by the shift itself, so that the error cannot fall faster than the square of the shift.
    Without noise a sparse factor gets there faster by itself.
    """
    error = kept("crowd-figure2", *STEPS).at(*DENSITIES)
    return error["clamp to the shift"] / error["no shift"] < 1


@claim("Supplement, C.1.2, Figure 3")
def shift_faster_with_noise() -> Rule:
    """With noise of 30 dB, too, there is "faster convergence for the proposed SymNMF for different sparsity levels".

    Measured: Figure 3: error over that without a shift, below one at all three densities, as before: mean over all
    iterations, with the shift as displayed. Late errors, which are those of the noise, are equal and change no sign.
    """
    error = kept("crowd-figure3", *STEPS).at(*DENSITIES)
    return error["zero below the shift"] / error["no shift"] < 1


@claim("Supplement, C.1.2, Figure 3")
def shift_faster_with_noise_as_released() -> Rule:
    """With noise of 30 dB, too, there is "faster convergence for the proposed SymNMF for different sparsity levels":
    by the paper's prose and its code.

    Measured: As before, with entries below the shift raised to it.
    """
    error = kept("crowd-figure3", *STEPS).at(*DENSITIES)
    return error["clamp to the shift"] / error["no shift"] < 1


@claim("Section 3.3; supplement, C.1.2, Figure 2")
def sparse_factors_faster() -> Rule:
    """The sparser the factor, the faster the convergence.

    Measured: Figure 2: error at density 0.3 over that at density 0.7, below a tenth, with and without the shift. No
    iteration is named: geometric mean over every fifth of the 60 that are kept.
    """
    error = kept("crowd-figure2", *STEPS)["no shift", "zero below the shift"]
    return error.at("phi=0.3") / error.at("phi=0.7") < 0.1


@claim("Section 3.3")
def start_at_identity() -> Rule:
    """ "Simply using Q₀ = I works well in practice" as the start of SymNMF.

    Measured: Figures 2 and 3 start there in every trial. Works well: the error after 60 iterations is at most a
    thousandth of the first one, at all three densities, without noise and with it, with and without the shift (as
    displayed).

    Note: H has 1,000 rows there. With few rows the start matters: with 12 rows a third of random starts end in a local
    minimum, with 50 none (notebook 04).
    """
    error = kept(["crowd-figure2", "crowd-figure3"], "t=60")["no shift", "zero below the shift"]
    return error / error.of("t=0") <= 0.001


@claim("Section 4, UCI data, Tables 1 and 2")
def promising_on_uci() -> Rule:
    """The proposed methods "show promising classification performance in all cases".

    Measured: "Promising" names no measure. Read as: better than the majority vote, in each of six settings. By the
    released scripts of both sets, a task without labels counts as 1/K for the vote.
    """
    error = kept(UCI, "error")
    return error[PROPOSED] - error["MajorityVote (paper protocol)"] < 0


@claim("Section 4, UCI data, Tables 1 and 2")
def clear_improvements_upon_cnmf() -> Rule:
    """The proposed methods "exhibit clear improvements upon the CNMF", especially on Connect4.

    Measured: Clear: 0.2 points of the error rate or more, below which no printed gain falls, in each of six settings.
    CNMF runs as released; its update of the prior takes the sum over pairs.

    Note: Machine annotators differ from trial to trial far more than the methods do on the same labels. Which form
    of CNMF is printed is not told: on the AMT sets it is CNMF followed by EM, in Table 2 CNMF alone meets two of three
    numbers.
    """
    error = kept(UCI, "error")
    return error[PROPOSED] - error["CNMF"] <= -0.2


@claim("Section 4, UCI data, Tables 1 and 2")
def better_than_third_order() -> Rule:
    """The proposed methods "outperform the third-order statistics-based ones (TensorADMM and Spectral-D&S) under most
    settings".

    Measured: Error of two methods less that of two baselines in six settings, below zero in most: 13 of 24 comparisons.
    """
    error = kept(UCI, "error")
    return (error[PROPOSED] - error["TensorADMM", "Spectral-D&S"] < 0).need(13)


@claim("Section 4, UCI data, Tables 1 and 2")
def twenty_times_faster() -> Rule:
    """The SymNMF family is "about 20 to 50 times faster compared to CNMF".

    Measured: Wall time of the whole run over that of CNMF, on the same machine: at most a sixteenth, each method in
    each setting. ("About" 20 times is 80 % of it, 16 times, or more.)

    Not testable: The claim is about the authors' code, whose times the paper prints; times here are of this kit's code.
    Its CNMF, the same steps as the released one, is many times faster than printed, so that little is left to gain.
    """
    seconds = kept(UCI, "seconds")
    return seconds[PROPOSED] / seconds["CNMF"] <= 0.0625


@claim("Section 4, UCI data; supplement, C.1.1")
def all_missing_imputed() -> Rule:
    """Where only the diagonal blocks are missing (10 % on Connect4 and Credit, 4 % in Table 7), DesSymNMF imputes all
    of them, "although we did not assign any designated annotator".

    Measured: Share of the blocks that stay zero after (7)-(8), by the paper's protocol: at most half a per cent, in all
    three cases.

    Not testable: What stays missing hangs on how many tasks a pair must have in common and on which linking annotators
    are taken, and the paper tells neither. Results call the same numbers not comparable.

    Note: The released code draws one linking pair of annotators and gives up where that one fails. This kit's default
    takes all linking pairs: with it no block is left in any of the three.
    """
    missing = kept("crowd-text", "missing, imputed")["DesSymNMF (paper protocol)"].at(
        "table1,p=0.3", "table2,p=0.3", "N=1000"
    )
    return (missing <= 0.5).shown_only()


@claim("Section 4, UCI and AMT data")
def missing_brought_down() -> Rule:
    """DesSymNMF is "able to bring down the missing proportions": of 2.5, 14, 90.68 and 96.57 % missing on Bluebird,
    Dog, RTE and TREC 0, 11.34, 50.15 and 92.18 % are left, of 70, 50 and 30 % on Car 17, 9 and 0 %.

    Measured: Share of the blocks that stay zero after (7)-(8), less the share that was missing, by the paper's
    protocol: at least half of the printed drop, in all seven cases.

    Not testable: As for the claim before: the paper does not tell what its shares after imputation hang on.

    Note: The printed shares after imputation follow neither from (7)-(8) nor from the released rule of one random pair:
    see the table of numbers in the text, which also has what this kit's default leaves, the mean over all linking
    pairs.
    """
    missing = kept("crowd-text", "missing, imputed")["DesSymNMF (paper protocol)"].at(
        "miss=70", "miss=50", "miss=30", "bluebird", "dog", "rte", "trec"
    )
    return (missing - missing.of("missing") >= 0.5).of_the_printed().shown_only()


@claim("Section 4, UCI data, Tables 1 and 2")
def robust_slightly_better_than_designated() -> Rule:
    """Without designated annotators RobSymNMF "slightly (but consistently) outperforms DesSymNMF".

    Measured: First setting of both tables: difference of the error rates on the same labels, below zero in both.
    """
    error = kept(UCI, "error").at("p=0.3")
    return error["RobSymNMF (paper protocol)"] - error["DesSymNMF (paper protocol)"] < 0


@claim("Section 4, UCI data, Tables 1 and 2")
def robust_not_worse_than_unweighted() -> Rule:
    """Robust imputation has errors "smaller than or equal to its non-robust version [...] in 5 out of 6 settings".

    Measured: Difference from the version with all weights one, on the same labels: at most 0.05 points in 5 of 6
    settings, so that equal ones count.
    """
    error = kept(UCI, "error")
    return (error["RobSymNMF (paper protocol)"] - error["RobSymNMF(w=1) (paper protocol)"] <= 0.05).need(5)


@claim("Section 4, UCI data, Table 3")
def car_largely_outperforms() -> Rule:
    """On Car "the proposed method largely outperforms the baselines, especially in the cases where 70% of
    the [co-occurrences] are not observed".

    Measured: Largely: two points of the error rate or more below each of eight baselines, in each of three settings,
    for the robust method. By the paper's protocol, which counts a task without labels as an error of the vote; MV-EM is
    the one that survives such tasks.

    Note: The label rate is not told in the paper and was fitted to its majority vote. At such rates about a third of
    the tasks have no label. The paper counts these as errors of the vote, while the other methods give them class 1,
    which is 70 % of the data, and most of the printed gain is this.
    """
    error = kept("crowd-table3", "error")
    others = *BASELINES[1:], "MinimaxEntropy", "KOS", "MajorityVote (paper protocol)"
    return error["RobSymNMF (paper protocol)"] - error["MultiSPA (paper protocol)", *others] <= -2


@claim("Section 4, UCI data, Table 3")
def car_cnmf_not_competitive() -> Rule:
    """On Car "CNMF is not able to produce competitive results".

    Measured: Not competitive: five points of the error rate or more above RobSymNMF, in all three settings.

    Note: The label rate was fitted to the printed vote. CNMF is far worse here than in print (43.7, 41.5 and 30.6 %):
    its start is random for workers that MultiSPA cannot estimate, nearly all here, so that classes get their names by
    chance; see the note of Table 3. Whether EM followed in print, as on the AMT sets, is not told.
    """
    error = kept("crowd-table3", "error")
    return error["CNMF"] - error["RobSymNMF (paper protocol)"] >= 5


@claim("Section 4, AMT data, Tables 4 and 5")
def amt_robust_comparable_with_cnmf() -> Rule:
    """On the AMT sets the accuracy of RobSymNMF, with and without EM, is "either comparable with or better than that
    of CNMF".

    Measured: Comparable: at most two points of the error rate above CNMF, which is two of the 108 tasks of the smallest
    set; all four sets. CNMF is followed by EM, as in the printed row.
    """
    error = kept(AMT, "error", prints=PRINTS)
    return error["RobSymNMF (paper protocol)", "RobSymNMF-EM (paper protocol)"] - error["CNMF-EM"] <= 2


@claim("Section 4, AMT data, Tables 4 and 5")
def amt_designated_comparable_with_cnmf() -> Rule:
    """On the AMT sets the accuracy of DesSymNMF, with and without EM, is "either comparable with or better than that
    of CNMF".

    Measured: As for the robust method. The rule of the released code: one linking pair, drawn at random.

    Note: Without EM it fails on RTE and TREC in the printed tables as well. The mean over all linking pairs, this kit's
    default, mends most of it.
    """
    error = kept(AMT, "error", prints=PRINTS)
    return error["DesSymNMF (paper protocol)", "DesSymNMF-EM (paper protocol)"] - error["CNMF-EM"] <= 2


@claim("Section 4, AMT data; Conclusion")
def amt_order_of_magnitude_faster() -> Rule:
    """The proposed methods are "order-of-magnitude faster" than CNMF.

    Measured: Wall time of the whole run over that of CNMF followed by EM, as in the printed row, on the same machine:
    at most a fifth, above which no printed ratio lies, both methods on all four sets.

    Not testable: The claim is about the authors' code; times here are of this kit's code, in which CNMF is many times
    faster than printed. CNMF draws nothing and runs once.
    """
    seconds = kept(AMT, "seconds", prints=PRINTS, fixed=True)
    return seconds[PROPOSED] / seconds["CNMF-EM"] <= 0.2


@claim("Section 4, AMT data, Tables 4 and 5")
def best_start_of_em() -> Rule:
    """The proposed methods "most effectively initialize the EM algorithm".

    Measured: No start does better: the error of EM from the robust and from the designated start is at most 0.3 points
    above that of EM from majority vote, from CNMF and from the spectral method, on all four sets.

    Note: On these sets nearly all starts lead EM to the same labels. Where the vote is a poor start, as with one
    specialist among annotators that answer at random, the proposed starts do win: see notebook 02.
    """
    error = kept(AMT, "error", prints=PRINTS)
    return (
        error["RobSymNMF-EM (paper protocol)", "DesSymNMF-EM (paper protocol)"]
        - error["MV-EM (paper protocol)", "CNMF-EM", "Spectral-D&S"]
        <= 0.3
    )


@claim("Section 4, AMT data")
def tensoradmm_cannot_run() -> Rule:
    """TensorADMM "could not run with large M due to [scalability] issues" (RTE and TREC).

    Measured: Whether there is a value: an error rate is at most 100 %, so one above means that there is none.

    Not testable: The claim is about the authors' code, which keeps all third-order moments: these grow with the cube of
    the number of annotators. The code here computes them from the labels when needed, and takes no such memory.
    """
    return (kept("crowd-table5", "error")["TensorADMM"] > 100).shown_only()


@claim("Section 4, AMT data, Tables 4 and 5")
def designated_improves_dog_and_rte() -> list[Rule]:
    """Imputation by designated annotators "can sometimes improve the final accuracy significantly; see the Dog and RTE
    columns".

    Measured: Error rate with imputation less that without, by the paper's protocol. Significantly: 0.3 points or more
    on Dog, near the printed gain of 0.37, and 17 points or more on RTE, half of the printed gain.

    Note: The printed 48.75 % of RTE without imputation come from singular values in the place of eigenvalues: a
    negative one counts as positive. This kit's defaults take positive eigenvalues only, and all linking pairs. With
    them imputation gains 0.50 points on Dog and 1.38 on RTE, so that most of the printed gain on RTE is gone.
    """
    error = kept("crowd-table4", "error").at("dog")
    table5 = kept("crowd-table5", "error").at("rte")
    return [
        error["DesSymNMF (paper protocol)"] - error["SymNMF(no imputation) (paper protocol)"] <= -0.3,
        table5["DesSymNMF (paper protocol)"] - table5["SymNMF(no imputation) (paper protocol)"] <= -17,
    ]


@claim("Section 4, AMT data, Tables 4 and 5")
def amt_robust_visibly_better_than_unweighted() -> Rule:
    """The robust imputation "often" exhibits "visible improvements upon the equally weighted (non-robust) version".

    Measured: Visible: 0.1 points of the error rate or more; often: on two of the four sets. Annotators are matched with
    their own labels.

    Note: The printed gain on TREC comes from an index shift in the released code of the unweighted version: annotators
    are taken off the list, but not off the labels. The row with that bug gives the printed number.
    """
    error = kept(AMT, "error")
    return (error["RobSymNMF (paper protocol)"] - error["RobSymNMF(w=1) (paper protocol)"] <= -0.1).need(2)


@claim("Section 2.3")
def greedy_less_accurate() -> Rule:
    """The outputs of the fast greedy algorithm (MultiSPA) "are less accurate".

    Measured: Tables 2 to 5: error of MultiSPA less that of RobSymNMF, above zero in every one of ten settings.
    """
    error = kept(["crowd-table2", "crowd-table3", "crowd-table4", "crowd-table5"], "error")
    return error["MultiSPA (paper protocol)"] - error["RobSymNMF (paper protocol)"] > 0


@claim("Abstract and Section 1.1")
def robust_to_outlying_co_occurrences() -> Rule:
    """The robust criterion is "provably robust to outlying co-occurrence observations".

    Measured: Notebook 03 puts garbage in the place of some blocks: the error of the others should still fall with the
    number of tasks, by a power of 0.4 or more. Theorem 2 itself is judged below.
    """
    return said("03_imputation_error_vs_samples", "b, garbage, robust") >= 0.4


@claim("Supplement, C.3, Table 9")
def close_to_crowdlayer() -> Rule:
    """On LabelMe the average error rates of CrowdLayer and of RobSymNMF-EM "are close".

    Measured: Close: within two and a half points, twice the printed difference.

    Note: CrowdLayer also sees the images. Plain MV-EM, which the table leaves out, is better than the proposed methods
    here.
    """
    error = kept("crowd-table9", "error")
    return (error["RobSymNMF-EM (paper protocol)"] - error["CrowdLayer (paper protocol)"]).between(-2.5, 2.5)


@claim("Supplement, C.3, Table 9 and Figure 4")
def steadier_than_crowdlayer() -> Rule:
    """CrowdLayer "has an almost 10 times larger standard deviation" than RobSymNMF-EM.

    Measured: Ratio of the standard deviations over trials: eight or more. ("Almost 10" is 80 % of it or more.)
    """
    error = kept("crowd-table9", "error")
    return spread(error["CrowdLayer (paper protocol)"], error["RobSymNMF-EM (paper protocol)"]) >= 8


@claim("Supplement, C.3, Figure 4")
def failed_trials_of_crowdlayer() -> Rule:
    """Of CrowdLayer "multiple failed trials with error rate ≥ 30 % are also observed", in 100 trials.

    Measured: Share of trials with an error rate of 30 % or more. Multiple: two of 100 or more.

    Note: None of our 100 trials fails so; the largest error is 26.8 %. That does not refute it: if two trials in a
    hundred fail on average, 100 trials hold none with a probability of 0.13.
    """
    return share(kept("crowd-table9", "error")["CrowdLayer (paper protocol)"], 30) >= 0.02


@claim("Supplement, C.3, Table 9")
def faster_than_crowdlayer() -> Rule:
    """RobSymNMF-EM is "around 12 times faster" than CrowdLayer.

    Measured: Wall time of the whole run, on the same machine without a graphics card: at least 9.6 times. ("Around" 12
    times is 80 % of it or more.)

    Not testable: The claim is about the authors' code and machine; both methods were written anew here.
    """
    seconds = kept("crowd-table9", "seconds")
    return seconds["CrowdLayer (paper protocol)"] / seconds["RobSymNMF-EM (paper protocol)"] >= 9.6
