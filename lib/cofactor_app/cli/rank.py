"""``cofactor rank``: the verb `cofactor.rank` on the command line."""

from __future__ import annotations

import argparse
from collections import Counter
from functools import partial

from cofactor.core.errors import CofactorError, amount
from cofactor.verbs.rank import RankingResult
from cofactor.verbs.rank import rank as verb
from cofactor_app.cli.output import answered, outputs, say_later, tell_result, write_report

COLUMNS = ("winner", "loser", "user", "tie", "outcome", "weight")
READING = ("words", "covariates", "home", "method", "encoding", "sep", "spelling", "skip_bad")


def rank(arguments: argparse.Namespace) -> None:
    """Rank, write the requested files, and print the result."""
    options = {name: getattr(arguments, name) for name in (*COLUMNS, *READING)}
    tables = [arguments.output, arguments.probabilities, arguments.coefficients]
    scale = None if arguments.elo is None else _scale(arguments.elo)
    with outputs(arguments, tables, [arguments.comparisons], [arguments.report]) as writer:
        wrote = say_later(writer)
        found = answered(arguments, partial(verb, arguments.comparisons, elo=scale, **options))
        asked = _asked(arguments, found)
        if arguments.output:
            writer.write(arguments.output, [found.items.round(6)], amount(len(found.items), "item"))
        if arguments.probabilities:
            pairs = found.probabilities.round(6)
            writer.write(arguments.probabilities, [pairs], f"{amount(len(pairs), 'pair')} of items")
        if arguments.coefficients:
            writer.write(arguments.coefficients, [found.coefficients], amount(len(found.coefficients), "coefficient"))
        write_report(arguments, found, writer)
        tell_result(arguments, found, asked, wrote)


def _scale(elo: str) -> tuple[str | None, float]:
    """Read ITEM=1500, or 1500 for the mean of all items."""
    name, _, number = elo.rpartition("=")
    try:
        return name or None, float(number)
    except ValueError:
        raise CofactorError(f"--elo {elo}: give ITEM=NUMBER, or one number for the mean of all items") from None


def _asked(arguments: argparse.Namespace, found: RankingResult) -> list[str]:
    """Return lines about a match and about pairs to compare next, where asked for."""
    lines = []
    if arguments.chance:
        one, two = arguments.chance
        match = found.chance(one, two)
        tie = f"; probability of a tie: {match['tie']:.3f}" if match["tie"] else ""
        interval = f"{match['chance']:.3f} ({match['low']:.3f} to {match['high']:.3f})"
        lines.append(f"probability that {one} beats {two}, ties aside: {interval}{tie}")
    if arguments.next is not None:
        pairs = Counter(found.next_pairs(arguments.next)[["item", "against"]].itertuples(index=False, name=None))
        asked = (f"{one} and {other}" + f" ({n} times)" * (n > 1) for (one, other), n in pairs.items())
        lines.append(f"most informative comparisons: {', '.join(asked)}")
    return lines
