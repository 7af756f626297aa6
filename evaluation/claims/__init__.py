"""What the papers claim, and what the kept results say of it: see `rules`."""

from evaluation.claims.declaration import LINES, Claim, Rule, declared, paper
from evaluation.claims.rules import VERDICTS, Judged, claims

__all__ = ["LINES", "VERDICTS", "Claim", "Judged", "Rule", "claims", "declared", "paper"]
