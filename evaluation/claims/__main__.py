"""Print claims, cases and verdicts: python -m evaluation.claims [LINE ...]."""

import sys

from evaluation.claims import LINES, claims

for line in sys.argv[1:] or LINES:
    for judged in claims(line):
        print(f"{line} {judged.claim.name}: {judged.verdict}")
        for rule in judged.rules:
            print(f"  {rule.verdict}: {rule.bounds}")
            for case in rule.quantity.cases:
                ends = "{:.4g} ({:.4g} to {:.4g})".format(*case.number)
                where = f"{case.experiment} {case.setting}: {case.about}"
                print(f"    {rule.outcome(case)} {ends}, printed {case.printed.value:.4g}; {where}")
