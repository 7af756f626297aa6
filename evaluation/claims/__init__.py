"""What the papers claim, and what the kept results say of it: a file for each paper, a function for each claim."""

from evaluation.claims.declaration import LINES, Claim, Judged, claims, declared, paper
from evaluation.claims.rules import VERDICTS, Rule

__all__ = ["LINES", "VERDICTS", "Claim", "Judged", "Rule", "claims", "declared", "paper"]
