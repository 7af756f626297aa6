"""The theorems and propositions of the paper, as `evaluation.claims.declaration` says."""

from evaluation.claims.declaration import theorem
from evaluation.claims.quantities import said
from evaluation.claims.rules import Rule


@theorem(
    "Proposition 1",
    "identifiability of SymNMF",
    "Section 3, from Theorem 4 of its reference [21]",
    ["02_synthetic_identifiability"],
)
def proposition_1() -> Rule:
    """For every H* ≥ 0 with K columns and X = H* H*ᵀ there is one permutation matrix Π with A*_m = A_m Π for all m, and
    λ* = Πᵀ λ, where A*_m is block m of H*, each column scaled to sum to one: the model is unique up to the order of
    the classes.

    Assumed:
    - H = [A₁; …; A_M] D^(1/2) is sufficiently scattered (Definition 1), and rank(H) = K.
    - All of X = HHᵀ is known exactly, its diagonal blocks too.

    Measured: Drawn crowds whose H the certificate proves to be sufficiently scattered, exact X (notebook 02): the
    largest error of the model that SymNMF finds from one start is at most 10^-12.

    Hunted: 400 draws: SymNMF from a random rotation of a factor that is barely scattered, with two to four columns.
    Every factor that it ended at was the true one. A factor that it does not reach is not seen.

    Not testable: "Every solution" cannot be tried: a run shows one. And sufficient scattering is NP-hard to check, so
    that the certificate decides small cases only. Of real crowds neither H nor the diagonal blocks of X are known.

    Known defects:
    - "With K columns" is not printed. Without it a column h can be replaced by .6 h and .8 h (docs/errata.md).
    """
    return said("02_synthetic_identifiability", "largest error of these") <= 1e-12


@theorem(
    "Theorem 1",
    "error of a block imputed by designated annotators",
    "Section 3.1, proof in supplement D",
    ["03_imputation_error_vs_samples"],
)
def theorem_1() -> Rule:
    """For any (m, n) not in Ω, with probability at least 1 − δ: ‖R̂_mn − R_mn‖_F ≤ C₁ · K² γ³ √log(1/δ) / (ϱ² √S) with
    a constant C₁ (printed as O).

    Assumed:
    - The missing block R_mn is computed by (7)-(8) from the estimates of R_mr, R_nℓ and R_ℓr, each counted by (3) on at
      least S tasks that both annotators labelled.
    - All confusion matrices A_m and the prior D have full rank K, and the condition number of every A_m is at most γ.
    - ϱ is the smallest singular value of all observed blocks, min σ_min(R_mj) over (m, j) in Ω; 0 < δ < 1.
    - S ≥ C₂ · K² γ² log(1/δ) / ϱ⁴ with a constant C₂ (printed as Ω).

    Measured: The rate 1/√S. Notebook 03 counts blocks on more and more tasks and fits the exponent of the error:
    between 0.45 and 0.55, for designated imputation.

    Hunted: 3,000 draws: annotators nearly alike or nearly of lower rank, S at its bound with C₂ = 1, δ = 0.01. No
    error exceeded the bound with C₁ = 0.01, which is more than the theorem promises.

    Not testable: The constants C₁ and C₂ are not given. With both set to one, a common crowd needs so many tasks for
    the condition, and still more before the bound falls below √2, which no error of two blocks exceeds, that the bound
    itself is never seen: notebook 03 computes both numbers.

    Known defects:
    - The authors' code takes absolute values and normalises each imputed block, which (8) does not.
    - The released rule uses one linking pair, drawn at random; the theorem is about a given pair. The mean over all
      pairs has a closed form and is more accurate.
    """
    return said("03_imputation_error_vs_samples", "b, designated").between(0.45, 0.55)


@theorem(
    "Theorem 2",
    "stability of the robust imputation",
    "Section 3.2, proof in supplement E",
    ["03_imputation_error_vs_samples"],
)
def theorem_2() -> list[Rule]:
    """With L = M(M − 1)/2 there is a constant C > 0 so that, with probability at least 1 − 3 exp(−M): (1/L) Σ_{m<j}
    ‖U_m* U_j*ᵀ − R_mj‖_F ≤ C √(M K² log(M) / |Ω|) + (1/|Ω| + 1/L) Σ_{(m,j) in Ω} (1 + √M) / √S_mj.

    Assumed:
    - Each R̂_mj with (m, j) in Ω is counted by (3) on S_mj tasks.
    - Each block is observed with the same probability.
    - U₁*, …, U_M* is any optimal solution of (9): least sum over Ω of ‖R̂_mj − U_m U_jᵀ‖_F, where every ‖U_m‖_F is at
      most D.

    Measured: The second term. In notebook 03 the left side is a constant share of it, at most one, while the number of
    tasks grows; and with garbage in some blocks the error of the robust fit still falls with an exponent of 0.4 or
    more.

    Hunted: 50 draws: fits that cost no more than the truth, 6 to 12 annotators, uneven counts, few or many blocks.
    None exceeded the bound with C = 0.1.

    Not testable: C is not given. With C = 1, or with the constants in the last line of the proof, the first term does
    not depend on the number of tasks and exceeds all errors that are measured. And the loop (11) finds a point that no
    sweep improves, not surely an optimal solution of (9).

    Known defects:
    - The step (40) of the proof allows any noise, so garbage adds a constant to the bound: that garbage is harmless is
      measured, not proved.
    - The printed projection divides by ‖Z‖ and leaves out D; it is right for D = 1 only, which is always a valid bound.
    """
    return [
        said("03_imputation_error_vs_samples", "share of the second term") < 1,
        said("03_imputation_error_vs_samples", "b, garbage, robust") >= 0.4,
    ]


@theorem(
    "Theorem 3",
    "linear convergence of SymNMF with a shifted ReLU",
    "Section 3.3, proof in supplement F",
    ["04_symnmf_convergence"],
    printed="no factor meets all conditions",
)
def theorem_3() -> list[Rule]:
    """Iteration (13): H ← ReLU_α(Û Q), then Q by the singular value decomposition of Hᵀ Û. With q_t = ‖Q_t − QΠ‖_F²
    and h_t = ‖H_t − HΠ‖_F², where Π is a permutation, there is a constant shift α_t = α > 0 so that with
    probability at least 1 − δ: q_t ≤ ρ q_{t−1} + O(K σ² ν² / γ₀²) and h_t ≤ 2 η σ² q_{t−1} + 2ν², where δ = 2
    exp(−2|Δ| / (K² (1 − (|Δ| − 1)/(MK²)))).

    Assumed:
    - H (MK × K, not negative) has rank K and ‖H‖_F = σ; Û = H Qᵀ + N with an orthogonal Q and ν = ‖N‖_F.
    - The energy is spread over rows: ‖H(j,:)Θ‖² ≤ ζ ‖HΘ‖_F² for all rows j and all K × K matrices Θ.
    - The places of the nonzeros Δ are drawn uniformly at random, and |Δ| = O(MK γ₀² / ((1 + MKζ) σ⁴)).
    - 0 < γ₀ ≤ min over k of β_k² − β_{k+1}², where β_k are the singular values of H and β_{K+1} = 0.
    - With η = (|Δ| / (MK²)) (1 + MKζ): ρ = O(K η σ⁴ / γ₀²) lies in (0, 1), and ν ≤ σ min{(1 − ρ) √η q₀, 1}.
    - The start is near: 2σ q₀ + 2ν < the smallest nonzero entry of H (15).

    Measured: The form, without noise and with a constant shift of 0.1 on a factor whose nonzeros are 0.4 or more
    (notebook 04): each iteration leaves at most 0.9 of the error, and h_t is at most its bound by q_{t−1}.

    Hunted: 3,000 draws: ten steps from starts that meet (15) with the root, at the edge or near it; without the
    condition ρ < 1, since no factor meets it. None exceeded (16b), or (16a) with both constants one. A rate below
    one was not tried.

    Not testable: The number ρ: its O hides a constant, which the proof only says to be above one. Since K η σ⁴ / γ₀² is
    more than 18 for every factor of two classes, and more than 108 for three, no factor meets ρ < 1 with it: notebook
    04 derives this. So no factor meets all conditions, and the rate below one is measured, not proved. Condition (15)
    fails at Q₀ = I, from which all runs of the paper start.

    Known defects:
    - (15) and the condition on ν print q₀ where the proof needs its root: Lemma 8 has ‖Q₀ − Q‖_F.
    - The displayed ReLU sets entries below α to zero; prose and code raise them to α. The theorem is about the first: a
      raised entry would be α for ever.
    - η is above one for every H, so that (16b) does not show what zeros of H gain.
    - A constant of one or more in ρ makes ρ larger than one for every H (docs/errata.md).
    """
    return [
        said("04_symnmf_convergence", "rate, constant shift") < 0.9,
        said("04_symnmf_convergence", "h_t as a share of (16b)") <= 1,
    ]
