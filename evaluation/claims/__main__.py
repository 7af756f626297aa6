"""Print claims, cases and verdicts: python -m evaluation.claims [LINE ...]."""

import sys

from evaluation.claims import LINES, claims

for line in sys.argv[1:] or LINES:
    for claim, rulings, verdict in claims(line):
        print(f"{line} {claim.name}: {verdict}")
        for ruling in rulings:
            print(f"  {ruling.verdict}: {ruling.rule.bounds}")
            for case in ruling.cases:
                ends = "{:.4g} ({:.4g} to {:.4g})".format(*case.number)
                where = f"{case.experiment} {case.setting}: {case.about}"
                print(f"    {case.outcome} {ends}, printed {case.printed.value:.4g}; {where}")
