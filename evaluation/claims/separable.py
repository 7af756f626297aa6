"""What is claimed by Nguyen, Fu and Wu, IEEE TSP 2022."""

from evaluation.claims.declaration import claim
from evaluation.claims.quantities import kept, mean, printed, rank, slope
from evaluation.claims.rules import Rule

PAPER = "Nguyen, Fu and Wu, IEEE TSP 2022"
CONVEX = "FastGradient", "MERIT (paper protocol)"
PROPOSED = "MERIT (paper protocol)", "MERIT(0) (paper protocol)"
BASELINES = "SPA", "XRAY", "FastAnchor", "LDA", "FastGradient"
DBLP = "dblp1", "dblp2", "dblp3", "dblp4", "dblp5"


# ---- memory ----


@claim("Abstract; Section I, contributions 1 and 2")
def memory_grows_linearly() -> Rule:
    """The memory of MERIT grows linearly with the number N of points: O(KN) numbers besides X, K being the number of
    anchors.

    Measured: Exponent of N in the peak memory of a fresh process, over the sizes of Figure 4b; linear means 1, and up
    to 1.2 is taken for it. A fixed part makes the exponent of small sizes less than 1.

    Note: The reason is plainer than the paper's. Its theorems keep all picks among the K anchors, so that C has K rows.
    With noise all N rows are used. C stays small because a step adds at most one entry to a column: T steps, at most TN
    entries. This needs no condition.
    """
    return slope(kept("separable-figure4b", "peak")["MERIT", "MERIT(0)"]).between(0.7, 1.2)


@claim("Abstract; Section I; Section II-C")
def others_grow_quadratically() -> Rule:
    """Existing convex methods for this problem need O(N²) memory.

    Measured: The same exponent for FastGradient, the one convex method that the paper compares with, over the sizes of
    Figure 4b. Quadratically means 2, and 1.8 to 2.2 is taken for it. The other methods that the paper names were not
    run.
    """
    return slope(kept("separable-figure4b", "peak")["FastGradient"]).between(1.8, 2.2)


@claim("Section VI")
def convex_hardly_feasible() -> Rule:
    """The memory of existing convex methods "is hardly feasible for datasets that have more than 1000 samples".

    Measured: Peak memory of FastGradient with 2,000, 4,000 and 10,000 points, in millions of bytes. Hardly feasible:
    8,000 or more, the whole memory of a small computer.

    Note: The paper itself runs FastGradient with 10,000 points, in close to 5 GB. With 20,000 points ours takes 8
    GB.
    """
    return kept("separable-figure4b", "peak")["FastGradient"].at("N=2,000", "N=4,000", "N=10,000") >= 8000


@claim("Section V, Figures 4b, 6 and 7")
def memory_of_merit() -> list[Rule]:
    """MERIT takes less than 0.1 GB at N = 10,000 (Figure 4b), MERIT and MERIT(0) less than 2 GB at 20,000 words
    (Figure 6) and less than 0.3 GB at 6,500 nodes (Figure 7).

    Measured: Peak memory in millions of bytes above what the process held before the call, X included.

    Not testable: The paper counts the whole process, MATLAB included, and ours is the memory of the call alone. Results
    call the same numbers not comparable.
    """
    found = [
        kept("separable-figure4b", "peak")["MERIT"].at("N=10,000") <= 100,
        kept("separable-figure6", "peak")["MERIT", "MERIT(0)"].at("tdt2,K=10") <= 2000,
        kept("separable-figure6-reuters", "peak")["MERIT", "MERIT(0)"] <= 2000,
        kept("separable-figure7", "peak")["MERIT", "MERIT(0)"].at("dblp1") <= 300,
    ]
    return [rule.shown_only() for rule in found]


@claim("Section V, Figures 4b, 6 and 7")
def memory_of_fastgradient() -> list[Rule]:
    """FastGradient takes close to 5 GB at N = 10,000, more than 20 GB at 20,000 words, and more than 2 GB at 6,500
    nodes.

    Measured: Peak memory of our FastGradient in millions of bytes: at least 4,000 (close to 5 GB), 20,000 and 2,000.

    Not testable: The paper counts a whole MATLAB process, and ours is the memory of the call alone, in which our
    FastGradient holds two N × N matrices of doubles. Results call the same numbers not comparable.

    Note: The growth is as claimed (claim 2). For Figure 7 the released logs say that FastGradient was given the
    adjacency matrix, while MERIT had its eigenvectors.
    """
    found = [
        kept("separable-figure4b", "peak")["FastGradient"].at("N=10,000") >= 4000,
        kept("separable-figure6", "peak")["FastGradient"].at("tdt2,K=10") >= 20000,
        kept("separable-figure7", "peak")["FastGradient"].at("dblp1") >= 2000,
    ]
    return [rule.shown_only() for rule in found]


@claim("Section V-C, Figure 7; conclusion")
def much_less_memory() -> Rule:
    """MERIT uses "significant less memory" than FastGradient: on the network of 6,437 nodes less than a sixth (0.3
    against 2 GB).

    Measured: Peak of FastGradient over that of MERIT on the same network: at least six.
    """
    peak = kept("separable-figure7", "peak").at("dblp1")
    return peak["FastGradient"] / peak["MERIT", "MERIT(0)"] >= 6


@claim("Section I, contribution 2")
def penalty_keeps_memory_small() -> Rule:
    """The penalty "can better safeguard the memory consumption within the range of O(KN) compared to the unregularized
    version".

    Measured: Peak memory of MERIT over that of MERIT(0), which has no penalty, on the same mixtures with noise of 10
    dB: at most 1.

    Note: Without the penalty a noisy column mostly picks itself, step after step, which is one entry. With it, the
    column has to use anchors, and uses many: C has more entries, not fewer. All N rows of C are filled with and without
    it. Both stay linear in N.
    """
    peak = kept("separable-figure4b", "peak").at("N=10,000", "N=20,000")
    return peak["MERIT"] / peak["MERIT(0)"] <= 1


@claim("Abstract; Section I")
def first_linear_memory() -> None:
    """This is the first convex method for self-dictionaries whose memory is linear in N.

    Not testable: It is a statement about all that was published before; running code cannot show it.
    """


# ---- drawn mixtures ----


@claim("Section V-A, Figure 2; abstract")
def convex_more_robust_as_released() -> Rule:
    """Mid-points: FastGradient and MERIT "both exhibit more satisfactory performance relative to SPA", since methods
    that find all anchors at once do not hand on errors.

    Measured: Share of trials in which all anchors are found, less that of SPA, mean over the noise levels, with the
    noise of the released script: pure columns stay exact, mid-points are pushed outwards.

    Note: The script's noise decides it. It moves only columns that are no anchors, and away from the others, so that a
    greedy method takes them first; exact anchors are what a method likes that explains columns by themselves. See the
    next claim.
    """
    success = kept("separable-figure2", "success")
    return mean(success[CONVEX] - success["SPA"]) > 0


@claim("Section V-A, Figure 2")
def convex_more_robust_as_written() -> Rule:
    """The same, with the noise that the text describes: Gaussian, on all columns.

    Measured: Share of trials in which all anchors are found, less that of SPA, mean over the noise levels, with
    Gaussian noise on all columns.

    Note: Noise that is alike on all columns leaves the anchors the longest ones, which is what SPA looks for. The
    convex methods lose what they had from exact anchors.
    """
    success = kept("separable-figure2-gaussian", "success")
    return mean(success[CONVEX] - success["SPA"]) > 0


@claim("Section V-A, Figure 2")
def merit_all_at_10_db() -> Rule:
    """MERIT reaches a success rate of 100 % at 10 dB.

    Measured: Share of trials at 10 dB, noise as released. 50 of 50 trials, as printed, tell that the true rate is 0.93
    or more (95 % interval), so the interval of our share has to be above 0.93.
    """
    return kept("separable-figure2", "success")["MERIT (paper protocol)"].at("SNR=10") >= 0.93


@claim("Section V-A, Figure 2")
def fastgradient_all_at_16_db() -> Rule:
    """FastGradient reaches a success rate of 100 % at 16 dB.

    Measured: Share of trials at 16 dB, noise as released, against 0.93 as in the claim before.
    """
    return kept("separable-figure2", "success")["FastGradient"].at("SNR=16") >= 0.93


@claim("Section V-A, Figure 2")
def spa_not_all_at_20_db() -> Rule:
    """SPA does not reach a success rate of 100 % even at 20 dB.

    Measured: Share of trials at 20 dB, noise as released: below 0.93.
    """
    return kept("separable-figure2", "success")["SPA"].at("SNR=20") < 0.93


@claim("Section V-A, Figure 3")
def same_in_other_metrics() -> list[Rule]:
    """In the angle of found anchors (MRSA, less is better) and in the share of X explained (RAE, more is better)
    "similar observations are made".

    Measured: Differences from SPA on the same data, mean over the noise levels, noise as released: MRSA below zero, RAE
    above.
    """
    mrsa = kept("separable-figure2", "mrsa")
    rae = kept("separable-figure2", "rae")
    return [
        mean(mrsa[CONVEX] - mrsa["SPA"]) < 0,
        mean(rae[CONVEX] - rae["SPA"]) > 0,
    ]


@claim("Section V-A, Figure 4a")
def convex_more_robust_uniform_weights() -> Rule:
    """With uniform weights and Gaussian noise the algorithms perform similarly as in Figure 2: FastGradient and MERIT
    find the anchors at more noise than SPA.

    Measured: Share of trials in which all anchors are found, less that of SPA, mean over the noise levels.
    """
    success = kept("separable-figure4a", "success")
    return mean(success[CONVEX] - success["SPA"]) > 0


@claim("Section V-A, Figure 4a")
def larger_gap_with_uniform_weights() -> Rule:
    """The gap between SPA and the convex approaches is larger than in Figure 2.

    Measured: Share of trials in which all anchors are found, less that of SPA, mean over the eight noise levels that
    both figures have: how much more it is in Figure 4a than in Figure 2, above zero for FastGradient and for MERIT. The
    curves are only drawn, so that no size can be asked for.

    Note: In Figure 2 MERIT has the larger gap already. Measured in decibels, between the noise that SPA and the others
    bear, the gap is smaller in Figure 4a for both.
    """
    here = kept("separable-figure4a", "success").at(*(f"SNR={level}" for level in (8, 9, 10, 11, 12, 14, 15, 16)))
    there = here.within("separable-figure2")
    return mean((here[CONVEX] - here["SPA"]) - (there[CONVEX] - there["SPA"])) > 0


@claim("Abstract; Section I, contribution 2; Section IV")
def penalty_against_noise() -> list[Rule]:
    """The smoothed group-sparsity penalty improves the robustness against noise.

    Measured: MERIT less MERIT(0), which has no penalty: share of trials in which all anchors are found, mean over the
    noise levels, on both kinds of drawn data.
    """
    success = kept("separable-figure4a", "success")
    figure2 = kept("separable-figure2", "success")
    return [
        mean(success["MERIT (paper protocol)"] - success["MERIT(0)"]) > 0,
        mean(figure2["MERIT (paper protocol)"] - figure2["MERIT(0)"]) > 0,
    ]


@claim("Section V-A, Table I")
def spa_fails_with_many_anchors() -> list[Rule]:
    """SPA works better when K is relatively small; it deteriorates when K increases.

    Measured: Share of trials in which SPA finds all anchors: more than half with 40 and 50 anchors, less than half with
    60 and 70 (as printed).
    """
    return [
        kept("separable-table1", "success")["SPA"].at("K=40", "K=50") > 0.5,
        kept("separable-table1", "success")["SPA"].at("K=60", "K=70") < 0.5,
    ]


@claim("Section V-A, Table I")
def convex_good_for_all_k() -> Rule:
    """The convex approaches "exhibit consistently good performance across all the K's under test".

    Measured: Share of trials in which FastGradient and MERIT find all anchors: 0.9 or more for every K.

    Note: MERIT(0) is a convex approach as well. The table leaves it out; it finds all anchors in no trial.
    """
    return kept("separable-table1", "success")[CONVEX] >= 0.9


@claim("Section V-A, Figure 5a")
def larger_lambda_at_low_snr() -> Rule:
    """For lower SNRs, a larger λ often works better.

    Measured: Share of trials in which all anchors are found at 7, 8 and 10 dB, the three lowest levels: λ of 0.5, 1 and
    2 against 0.01. Often: in most of nine comparisons, five.

    Note: Up to a cliff: at λ = 5 and more the penalty outweighs the data, and all trials are lost at every noise level.
    """
    success = kept("separable-figure5a", "success").at("SNR=7", "SNR=8", "SNR=10")
    return (success["lambda=0.5", "lambda=1", "lambda=2"] - success["lambda=0.01"] > 0).need(5)


@claim("Section V-A, Figure 5b")
def mu_hardly_matters() -> Rule:
    """The parameter μ is less consequential: a wide range of μ gives "almost the same success rate curves".

    Measured: Share of trials in which all anchors are found, μ from 1e-7 to 0.1 against the paper's choice of 1e-5, on
    the same data. Almost the same: less than 0.1 apart at each noise level.

    Note: There are 30 trials, so that a single one that differs leaves the case open. The shares of single anchors
    found are less than 0.02 apart. From μ = 1 on it matters: the smoothed maximum is no maximum any more. Every μ below
    0.01 acts as the row maximum itself.
    """
    success = kept("separable-figure5b", "success")
    others = success["mu=1e-07", "mu=1e-06", "mu=0.0001", "mu=0.001", "mu=0.01", "mu=0.1"]
    return (others - success["mu=1e-05"]).between(-0.1, 0.1)


@claim("Abstract; Sections I and II")
def rank_need_not_be_known() -> Rule:
    """Self-dictionary methods can work without knowing the matrix rank, that is the number of anchors.

    Measured: How often the number is found from the largest drop of MERIT's scores (the paper has no rule for it), in
    per cent of drawn matrices at 20 dB: more than half the time in each setting.

    Note: With more noise the number is often wrong: see the settings at 10 and 15 dB.
    """
    number = kept("practice-separable", "number")["MERIT"].at(
        "uniform,K=5,SNR=20",
        "uniform,K=10,SNR=20",
        "uniform,K=40,SNR=20",
        "midpoints,K=5,SNR=20",
        "midpoints,K=10,SNR=20",
        "noisy midpoints,K=5,SNR=20",
        "noisy midpoints,K=10,SNR=20",
    )
    return number > 50


# ---- topics ----


@claim("Section V-B, Table II")
def tdt2_coherence() -> Rule:
    """The proposed methods outperform all the baselines on TDT2 in terms of coherence.

    Measured: Coherence of MERIT and of MERIT(0), both as released, less that of each of five baselines on the same
    choices of classes: above zero for each of eight numbers of topics, 80 comparisons.

    Note: MERIT(0) starts at SPA's anchors and keeps them in every choice, so that it beats neither SPA nor XRAY; in
    print it is below SPA for five of the eight numbers. Only the settings of SPA and XRAY are published. FastAnchor,
    whose threshold on rare words is not, is not beaten here. MERIT alone, mean over the numbers of topics, is 12.5
    above SPA and XRAY (-2.0 to 26.9).
    """
    coherence = kept("separable-table2-tdt2", "coherence", beside=["separable-table2-tdt2-fastgradient"])
    return coherence[PROPOSED] - coherence[BASELINES] > 0


@claim("Section V-B, Table II")
def tdt2_accuracy() -> Rule:
    """The proposed methods outperform all the baselines on TDT2 in terms of clustering accuracy.

    Measured: As before, with clustering accuracy.

    Note: MERIT(0) has SPA's numbers; in print, too, but for two that are lower. MERIT alone, mean over the numbers of
    topics, is 5.9 points above SPA and XRAY (1.3 to 10.4).
    """
    accuracy = kept("separable-table2-tdt2", "accuracy", beside=["separable-table2-tdt2-fastgradient"])
    return accuracy[PROPOSED] - accuracy[BASELINES] > 0


@claim("Section V-B, Table II")
def five_points_at_ten_topics() -> Rule:
    """With 10 topics of TDT2, MERIT's clustering accuracy "exhibits a 5% improvement compared to the best baseline".

    Measured: Accuracy of MERIT as released less that of SPA, the best baseline, in points, on the same choices of 10
    classes: 2.5 or more, half of the printed gain.
    """
    accuracy = kept("separable-table2-tdt2", "accuracy").at("tdt2,K=10")
    return accuracy["MERIT (paper protocol)"] - accuracy["SPA"] >= 2.5


@claim("Section V-B, Table II")
def reuters_top_two() -> Rule:
    """On Reuters-21578, MERIT "consistently offers the best and second best performance in terms of ClustAcc in most
    cases".

    Measured: Place of MERIT's mean accuracy among seven methods, MERIT(0) included, over the choices of classes that
    all have: first or second in most cases, 5 of the 8 numbers of topics. The interval of a place is that of 1,000
    resamplings of these choices.

    Note: FastGradient was run on five choices of each number of topics, too few to settle most places.
    """
    accuracy = kept("separable-table2-reuters", "accuracy", beside=["separable-table2-reuters-fastgradient"])
    others = accuracy[*BASELINES, "MERIT(0) (paper protocol)"]
    return (rank(accuracy["MERIT (paper protocol)"], others) <= 2).need(5)


@claim("Section V-B, Table II")
def convex_better_on_topics() -> Rule:
    """The convex methods FastGradient, MERIT and MERIT(0) "in general work better than the greedy methods" SPA, XRAY
    and FastAnchor.

    Measured: The sentence against the printed table, which needs no run of ours: accuracy of FastGradient beyond that
    of SPA, the best of the greedy methods, in at least 9 of the 16 columns of both sets.

    Note: In TDT2 FastGradient has the least of all printed accuracies for 7 of 8 numbers of topics, and in both sets
    its printed coherence is below that of SPA everywhere. MERIT(0) starts at SPA's anchors and keeps them in all 800
    choices, so that its words are SPA's. Of the three only MERIT with its penalty is another answer.
    """
    accuracy = kept(["separable-table2-tdt2", "separable-table2-reuters"], "accuracy")
    return (printed(accuracy["FastGradient"] - accuracy["SPA"]) > 0).need(9)


@claim("Section V-B, Table II")
def penalty_on_topics() -> list[Rule]:
    """MERIT slightly outperforms MERIT(0), "which shows that the designed regularization is still effective on topic
    modeling problems".

    Measured: Clustering accuracy of MERIT less that of MERIT(0), both as released, on the same choices of classes, mean
    over the numbers of topics, on both sets.
    """
    accuracy = kept("separable-table2-tdt2", "accuracy")
    reuters = kept("separable-table2-reuters", "accuracy")
    return [
        mean(accuracy["MERIT (paper protocol)"] - accuracy["MERIT(0) (paper protocol)"]) > 0,
        mean(reuters["MERIT (paper protocol)"] - reuters["MERIT(0) (paper protocol)"]) > 0,
    ]


# ---- communities ----


@claim("Section V-C, Table IV", see=["separable-table4-range"])
def communities_top_two() -> Rule:
    """The SRC values of MERIT and MERIT(0) "are in top 2 over five out of seven datasets".

    Measured: Place of the better of the two among GeoNMF, SPOC and FastGradient (by its own weight, where it has a
    value): first or second on 4 of the 5 networks that were downloaded. In the printed table it is 4 of these 5, and
    one of the two MAG networks, which are public, but were not downloaded here.

    Note: FastGradient draws weights at random and was run once or twice, which leaves DBLP1 and DBLP5 open; without it
    5 of 5 hold. Every number is one point of a wide range: the table of ranges shows how far other penalties and
    stopping rules move it. It shows that the code is the same, not which method is better.
    """
    src = kept("separable-table4", "src", beside=["separable-table4-fastgradient"]).at(*DBLP)
    return (rank(src["MERIT", "MERIT(0)"], src["GeoNMF", "SPOC", "FastGradient"]) <= 2).need(4)


@claim("Section V-C, Table IV", see=["separable-table4-range"])
def competitive_on_communities() -> list[Rule]:
    """MERIT "offers competitive SRC results over all the datasets under test".

    Measured: SRC of MERIT over that of GeoNMF, SPOC and FastGradient (by its own weight): 0.9 or more on each of the
    five DBLP networks. In print MERIT is the last of these four on DBLP1, with 0.93 of the best, so that "competitive"
    is about the level and no place. FastGradient has no value on DBLP3.

    Note: On DBLP1 MERIT (0.294) is below SPOC (0.300). FastGradient draws weights at random and was run once or twice
    on each network: its two runs on DBLP1 give 0.339 and 0.280. So its part is open.
    """
    src = kept("separable-table4", "src").at(*DBLP)
    slow = kept("separable-table4", "src", beside=["separable-table4-fastgradient"])
    slow = slow.at("dblp1", "dblp2", "dblp4", "dblp5")
    return [
        src["MERIT"] / src["GeoNMF", "SPOC"] >= 0.9,
        slow["MERIT"] / slow["FastGradient"] >= 0.9,
    ]


@claim("Section V-C, Table IV")
def gap_on_dblp2() -> Rule:
    """In MAG2 and DBLP2 the gap between the greedy methods GeoNMF and SPOC and the convex ones is particularly clear.

    Measured: DBLP2 only: SRC of MERIT less that of GeoNMF and SPOC, 0.01 or more. MAG2 is public, but was not
    downloaded here.

    Note: SPOC finds the same nodes as SPA here. What sets it apart is that it puts a tiny number in place of negative
    memberships, which breaks ties of the rank correlation. SPA's nodes with MERIT's memberships are far better (row
    SPA), so that most of the gap to SPOC is no matter of convex or greedy.
    """
    src = kept("separable-table4", "src", fixed=True).at("dblp2")
    return src["MERIT"] - src["GeoNMF", "SPOC"] >= 0.01
