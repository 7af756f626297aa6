"""Methods that `cofactor aggregate` offers, by what they are for; a list of its own, so that --help imports none."""

from __future__ import annotations

DEFAULT = "WorkerTypes"
GROUPS = {
    "the default, in which the labels choose what every worker is; relatives with a prior": (DEFAULT, "IBCC", "EBCC"),
    "simple: votes, plain or weighted by worker; one accuracy per worker (also for many classes)": (
        *("MajorityVote", "Wawa", "CATD", "OneCoin", "MACE"),
    ),
    "Dawid-Skene and other models fitted from the vote; GLAD knows hard tasks, and is slow": ("MV-EM", "BWA", "GLAD"),
    "from co-occurrences of labels (the papers); with -EM, refined by EM": (
        *("RobSymNMF-EM", "RobSymNMF", "RobSymNMF(w=1)-EM", "RobSymNMF(w=1)", "DesSymNMF-EM", "DesSymNMF"),
        *("SymNMF(no imputation)-EM", "SymNMF(no imputation)", "MultiStart-EM"),
    ),
    "what the papers compare with": (
        *("MultiSPA-EM", "MultiSPA", "CNMF-EM", "CNMF", "TensorADMM-EM", "TensorADMM"),
        *("Spectral-D&S", "Spectral-D&S(no EM)", "MinimaxEntropy", "KOS", "KOS(ordinal)"),
        *("GhoshSVD", "GhoshSVD(ordinal)", "EigenRatio", "EigenRatio(ordinal)"),
    ),
}
OFFERED = [name for names in GROUPS.values() for name in names]


class Choices(tuple[str, ...]):
    """Names to choose from, or where another method is: FILE.py:NAME."""

    def __contains__(self, name: object) -> bool:
        """Tell whether this is one of the names, or says where a method is."""
        return super().__contains__(name) or ":" in str(name)
