"""The theorems and propositions of the paper, as `evaluation.claims.declaration` says."""

from evaluation.claims.declaration import theorem
from evaluation.claims.quantities import kept, said, slope
from evaluation.claims.rules import Rule


@theorem(
    "Theorem 1",
    "every joint distribution is a naive Bayes model",
    "Section 2.2, from Kargas et al. 2018",
    ["08_joint_pmf"],
)
def theorem_1() -> None:
    """Pr(i₁, …, i_N) = Σ_{f=1}^{F} λ(f) Π_n A_n(i_n, f) with λ ≥ 0, 1ᵀλ = 1, A_n ≥ 0, 1ᵀA_n = 1ᵀ holds for some F ≤
    min over k of Π_{n ≠ k} I_n.

    Assumed:
    - None: variable n has I_n values.

    Hunted: 3,000 draws: the construction in rational numbers, tables of two to four variables with cells of zero.
    It was always exact, with no more classes than the bound.

    Not testable: It is proved by a construction, which notebook 08 gives: a class for every outcome of all variables
    but one. No experiment can add to it. It says nothing of how small F is for data as they come.
    """


@theorem(
    "Theorem 2",
    "recoverability from pairwise marginals",
    "Section 3.3, proof in Appendix A",
    ["08_joint_pmf", "01_theory_recap"],
    printed="false as printed",
)
def theorem_2() -> list[Rule]:
    """Every solution of problem (4), X_jk = A_j D(λ) A_kᵀ for all pairs in Ω with A_n ≥ 0, 1ᵀA_n = 1ᵀ, λ ≥ 0, 1ᵀλ = 1,
    is the true model up to one common order of the classes, and gives the joint distribution.

    Assumed:
    - The marginals of all pairs in Ω are known exactly, and λ(f) > 0 for all f.
    - There are disjoint sets S₁ and S₂ of variables, whose union may leave some out, such that (i) the stacks of A_n
      over S₁ and over S₂ are both sufficiently scattered,
    - (ii) all pairs of a variable of S₁ with one of S₂ are in Ω,
    - (iii) every stack of some A_n with F rows or more has full column rank,
    - (iv) every variable outside of both sets is paired, in Ω, with variables of them whose stack has F rows or more.

    Measured: False as printed: two models with rational entries (docs/errata.md, `tests/evaluation/test_errata.py`)
    meet all conditions, have the same pairs, and tables of three variables that are 34 per cent apart. It holds with
    A_n D(λ)^½ in (i), so also with a uniform prior, which the models below have. A model whose zeros make (i) certain,
    exact pairs, five random starts (notebook 08): the worst mean squared error is below 10^-9. And Figure 1: the
    certificate proves uniqueness of every factor drawn with scattered rows, and of none drawn without.

    Hunted: as printed it is false. Its two right forms (docs/errata.md): 20 draws each of two groups with one
    variable and three classes, and a search for a second model. None was found; the same search finds that of the
    errata in half of its starts.

    Not testable: Sufficient scattering cannot be checked in general: it is NP-hard. The certificate decides small cases
    only, and real data never tell the A_n.
    """
    return [
        said("08_joint_pmf", "Theorem 2: worst MSE, with zeros") < 1e-9,
        kept("pmf-figure1", "unique")["certificate"].at("separable", "scattered") >= 1,
        kept("pmf-figure1", "unique")["certificate"].at("neither") <= 0,
    ]


@theorem("Theorem 3", "error of CNMF-SPA", "Section 4.3, proof in Appendix B", ["08_joint_pmf"])
def theorem_3() -> list[Rule]:
    """With probability at least 1 − δ, for all m in S₁ and the best order of the classes: ‖Â_m Π − A_m‖₂ = O(κ²(W) √F
    ζ), where ζ = max(σ_max(W) ε, M √(I log(1/δ)) / (η p √S)).

    Assumed:
    - Rows of every A_n are drawn uniformly from the simplex of F entries and then scaled, so that 1ᵀA_n = 1ᵀ; all
      variables have I values.
    - Every column of an estimated marginal X̂_jk sums to η > 0 or more; the first M ≥ F/I variables are one side of the
      virtual matrix, W their stack, κ its condition number.
    - Each value is observed with probability p ≥ (8 log(4/δ) / S)^(1/2).
    - 0 < ε ≤ M min(1 / (2√(F − 1)), 1/4) / (2κ (1 + 80 κ²)).
    - S = Ω(M² I log(1/δ) / (σ_max²(W) η² ε² p²)) rows and N = M + Ω(ε^(−2(F − 1)) log(F/δ) / (I F)) variables.

    Measured: The shape of the bound, 1/√S down to a floor set by ε. Table 1, where ε is small: the exponent of the mean
    squared error in S is between −1.15 and −0.85, a root of which is the exponent of the error. Table 2, where ε is
    larger: from 100,000 to a million rows it falls by less than a fifth.

    Hunted: 3,000 draws: counts with S and ε at their edges and all constants one. None exceeded the bound. Rows
    that are nearly separable are drawn; that many variables lead to them was not tried.

    Not testable: The constants in Ω and O are not given. With constants of one, notebook 08 computes what a table of
    common size would need: some 10^12 rows and variables. So no table in use meets the conditions.

    Known defects:
    - F is bounded by more than M ≥ F/I: all row blocks of the virtual matrix have the same column sums, so its rank is
      at most 1 + Σ (I_n − 1) over either side. Above that, CNMF-SPA returns fewer columns or picks noise.
    - λ is not bounded by the theorem; the authors' code does not compute it as Algorithm 2 says.
    """
    mse = kept("pmf-table2", "mse")["CNMF-SPA"]
    return [
        slope(kept("pmf-table1", "mse")["CNMF-SPA"]).between(-1.15, -0.85),
        mse.at("S=1e6") / mse.at("S=1e5") >= 0.8,
    ]


@theorem(
    "Theorem 4",
    "EM from a good start",
    "Section 4.4, proof in Appendix C",
    ["08_joint_pmf"],
    printed="no model meets its conditions",
)
def theorem_4() -> list[Rule]:
    """With probability at least 1 − μ, EM ends with |Â_n(i, f) − A_n(i, f)|² ≤ 48 log(12NFI/μ) / (S p λ(f)) ≤ δ₁² and
    |λ̂(f) − λ(f)|² ≤ 192 F² λ(f) log(12NFI/μ) / S ≤ δ₂².

    Assumed:
    - A_n(i, f) ≥ ρ₁ and λ(f) ≥ ρ₂ for all n, i, f.
    - D₁ = min over f ≠ f' of (1/N) Σ_n p KL(A_n(:, f), A_n(:, f')); D₂ = (2/N) min over f ≠ f' of log(λ(f) / λ(f')); D
      = (D₁ + D₂)/2.
    - The start is off by at most δ₁ = 4 / (ρ₁ (4 + D)) in every A_n(i, f), and by at most δ₂ = 4 / (ρ₂ (4 + N D)) in
      every λ(f); δ_min is the smaller.
    - N ≥ max(33 log(3SF/μ) / (ρ₁ D₁), 4 log(4SF² / (3pρ₂μ)) / D).
    - S ≥ 192 F² log(12NFI/μ) / (p² ρ₂² δ_min²).
    - D ≥ max((8 − 4ρ₁²) / ρ₁², (8 − 4ρ₂²) / (N ρ₂²)).

    Measured: The rate 1/S of the squared error. Notebook 08 starts EM at the truth: from 1,000 to 100,000 rows the
    worst squared error falls by a factor between 50 and 200. Table 1: the exponent of the mean squared error of
    CNMF-SPA-EM in S is between −1.15 and −0.85.

    Hunted: not possible, since no model meets the conditions: `tests/evaluation/test_errata.py` looks for one among
    20,000.

    Not testable: The conditions exclude each other: entries of ρ₁ or more make D ≤ log(1/ρ₁)/2, far below what the last
    condition asks for, whatever ρ₁ is (notebook 08). So no model meets them, and "provably improves" stays without a
    case. The bound itself is hundreds of times above what is measured.

    Known defects:
    - D₂ is never above zero: of λ(f)/λ(f') and its inverse one is at most one.
    - The released EM stops by the error to the truth on synthetic data, which a user does not have.
    """
    return [
        said("08_joint_pmf", "Theorem 4: errors fall by").between(50, 200),
        slope(kept("pmf-table1", "mse")["CNMF-SPA-EM (paper protocol)"]).between(-1.15, -0.85),
    ]
