"""``cofactor rank``: comparisons in, a ranking with intervals out."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from cofactor.baselines.comparisons.scores import baseline_losses, baseline_scores
from cofactor.comparisons.boards import ENOUGH_PER_ITEM, boards_of, rank_boards, rank_users
from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.diagnose import diagnose
from cofactor.comparisons.places import Ranking
from cofactor.comparisons.plackett_luce import rank_orders
from cofactor.comparisons.ranking import rank as ranked
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.lazy import pd
from cofactor.core.types import Indices
from cofactor.reading.votes import OPTIONAL, reading
from cofactor_app.cli import in_options, tell
from cofactor_app.cli.output import Writer, outputs, write_page
from cofactor_app.cli.parts import noted, refuse_notes
from cofactor_app.reading.orders import read_orders

COLUMNS = ("winner", "loser", *OPTIONAL)  # options that name columns
READING = (
    "covariates",
    "encoding",
    "sep",
    "words",
    "home",
    "spelling",
    "by",
)  # other options of how a file is read
ORDERS_READING = ("encoding", "sep", "spelling")
TABLES = ("output", "probabilities", "coefficients", "users")
PAIRS_ONLY = ("winner", "loser", "tie", "outcome", "words", "users", "by")
ALL = "(all)"  # the board of all comparisons
Boards = dict[Any, Ranking]
Found = tuple[
    Comparisons, "pd.DataFrame", Ranking, Boards, str, list[str]
]  # pairs, covariates, the ranking, those by category, what there is, notes
NOT_OWN = ("covariates", "home", "places", "others", "races")  # of the ranking of this kit alone
SHOWN = 20  # items printed


def rank(arguments: argparse.Namespace) -> None:
    """Fit the ranking; print it, and write what was asked for."""
    tables = [getattr(arguments, name) for name in TABLES]
    if arguments.method and (more := [name for name in NOT_OWN if getattr(arguments, name)]):
        why = "--method is told who chose between which two items, and nothing more"
        raise CofactorError(f"{why}: leave out {listing(f'--{name}' for name in more)}")
    with outputs(arguments, tables, [arguments.comparisons], [arguments.report]) as writer:
        (data, X, found, boards, made, notes), warned = _fitted(arguments)
        checks = diagnose(data, rank=0)
        scale = _scale(arguments.elo, found)
        facts = _facts(found, arguments.method)
        lines = [f"{arguments.comparisons}: {made}", *facts, *found.doubts(), *map(in_options, notes)]
        if arguments.baselines:
            told = (f"{name} {loss:.4f}" for name, loss in baseline_losses(data, X).items())
            lines.append(f"log-loss on comparisons held out, each fold with its own prior: {', '.join(told)}")
        tell(
            [*lines, *_places(found.table(scale)), *_board_lines(boards, arguments.method), *_asked(arguments, found)],
            warned,
        )
        _write_tables(arguments, writer, data, X, found, boards, scale)
        if arguments.report:
            from cofactor_app.pages.rank import rank_page  # pictures take a second to import

            write_page(arguments.report, rank_page(arguments.comparisons, found, data, lines, checks, warned))


def _fitted(arguments: argparse.Namespace) -> tuple[Found, list[str]]:
    """Return the ranking, and what was warned of; where it cannot be made, that is shown before the error."""
    fit = _of_orders if arguments.places or arguments.others or arguments.races else _of_pairs
    try:
        with warnings.catch_warnings(record=True, action="always", category=DataWarning) as caught:
            found = fit(arguments)
    except CofactorError:
        for warning in caught:
            warnings.warn(warning.message, stacklevel=2)
        raise
    return found, [str(warning.message) for warning in caught]


def _of_pairs(arguments: argparse.Namespace) -> Found:
    columns, how = ({name: getattr(arguments, name) for name in names} for names in (COLUMNS, READING))
    with noted(arguments.strict):
        votes = reading(arguments.comparisons, columns, **how)
    refuse_notes(votes.notes, arguments.strict)
    if votes.by is not None and (votes.by == ALL).any():
        raise CofactorError(f"--by {arguments.by}: {ALL} is the board of all comparisons: call that category otherwise")
    data, X = votes.comparisons, votes.covariates
    options = {"min_comparisons": arguments.min_comparisons, "all_parts": arguments.all_parts}
    found, boards = (_by_method if arguments.method else _by_default)(arguments, data, X, votes.by, options)
    if votes.by is not None and (none := int(votes.by.isna().sum())):
        votes.notes.append(f"{none} comparisons have no {arguments.by}, and are in no board")
    weight = np.ones(len(data)) if data.counts is None else data.counts
    ties = float(weight[data.outcome == 0.5].sum())
    users = f", {data.n_users} users" if data.n_users > 1 else ""
    users += "" if data.prompt is None else f", {len(np.unique(data.prompt))} prompts"
    made = f"{data.n_items} items, {data.total:.10g} comparisons, {ties:.10g} of them ties{users}"
    return data, X, found, boards, made, votes.notes


def _by_default(
    arguments: argparse.Namespace, data: Comparisons, X: pd.DataFrame, by: pd.Series | None, options: dict[str, Any]
) -> tuple[Ranking, Boards]:
    found = ranked(data, X, level=arguments.level, random_state=0, **options)
    own = {"level": arguments.level, "min_comparisons": arguments.min_comparisons, "random_state": 0}
    return found, {} if by is None else rank_boards(data, by, X, **own)


def _by_method(
    arguments: argparse.Namespace, data: Comparisons, _: pd.DataFrame, by: pd.Series | None, options: dict[str, Any]
) -> tuple[Ranking, Boards]:
    from cofactor_app.cli.own_rank import rank_by  # brings the bench with it

    def of_board(rows: Indices) -> Ranking:
        own = {"level": arguments.level, "min_comparisons": arguments.min_comparisons}
        return rank_by(arguments.method, data.take(rows), **own)

    found = rank_by(arguments.method, data, level=arguments.level, **options)
    return found, {} if by is None else boards_of(by.reset_index(drop=True), of_board)


def _of_orders(arguments: argparse.Namespace) -> Found:
    """Fit orders of several items; what is for pairs only is refused."""
    unset = {"covariates": (), "home": False, "min_comparisons": 1, "baselines": False}
    given = [name for name in (*PAIRS_ONLY, *unset) if getattr(arguments, name) != unset.get(name)]
    users = arguments.user or [None]
    if given or len(users) > 1:
        named = listing(f"--{name.replace('_', '-')}" for name in given) or "a second --user"
        raise CofactorError(f"{named}: of pairs of items only, not of --places and --races")
    how = {name: getattr(arguments, name) for name in ("places", "others", "races", *ORDERS_READING)}
    orders = read_orders(arguments.comparisons, user=users[0] or None, weight=arguments.weight or None, **how)
    found = rank_orders(orders, level=arguments.level, all_parts=arguments.all_parts, random_state=0)
    who = "" if orders.user is None else f", {len(np.unique(orders.user))} users"
    m = f"{orders.weight.sum():.10g}"
    made = f"{len(orders.items)} items, {m} orders, of {orders.size.min()} to {orders.size.max()} items{who}"
    return orders.pairs(), pd.DataFrame(), found, {}, made, []


def _facts(found: Ranking, method: str | None) -> list[str]:
    """Return lines about the fit, what intervals rest on, and coefficients."""
    prior = f"prior of utilities: normal, standard deviation {found.sd:.3g}, chosen by the evidence of the comparisons"
    own = f"utilities are the mean log-odds of {method} against the other items; intervals are those of its refits"
    counts = {"users": found.n_users, "prompts": found.n_prompts}
    used = " and ".join(name for name, count in counts.items() if count) or "comparisons"
    count = " and ".join(f"{count:.3g}" for count in counts.values() if count)
    rests = f"{used} as independent of each other" + (f" (they count as {count} equally busy ones)" if count else "")
    return [
        f"fit: {'converged' if found.result.converged else 'NOT CONVERGED'}, {found.result.reason}",
        own if method else prior,
        f"log-loss on comparisons held out: {found.log_loss:.4f}; the trivial guess: {found.trivial_log_loss:.4f}",
        f"intervals of {100 * found.level:g} %, taking {rests}",
        *(f"{row.name}: {row.coefficient:.4g} ({row.low:.4g} to {row.high:.4g})"
          for row in found.coefficients().itertuples(index=False)),
    ]  # fmt: skip


def _scale(elo: str | None, found: Ranking) -> tuple[Any, float] | None:
    """Read ITEM=1500, or 1500 for the mean of all items."""
    if elo is None:
        return None
    name, _, number = elo.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        raise CofactorError(f"--elo {elo}: give ITEM=NUMBER, or a number for the mean of all items") from None
    return next((item for item in found.items if str(item) == name), name or None), value


def _asked(arguments: argparse.Namespace, found: Ranking) -> list[str]:
    """Return lines about a match and about pairs to compare next, where asked for."""
    lines, named = [], {str(item): item for item in found.items}
    if arguments.given and not arguments.chance:
        raise CofactorError("--given is of a match: name its two items by --chance")
    if arguments.chance:
        one, two = (named.get(name, name) for name in arguments.chance)
        match = found.chance(one, two, dict(_given(text) for text in arguments.given))
        tie = f", of a tie {match['tie']:.3f}" if match["tie"] else ""
        interval = f"{match['chance']:.3f} ({match['low']:.3f} to {match['high']:.3f})"
        lines.append(f"chance that {one} beats {two}, if one does: {interval}{tie}")
    if arguments.next:
        pairs = found.next_pairs(arguments.next).itertuples(index=False)
        lines.append(f"compare next: {', '.join(f'{row.item} and {row.against}' for row in pairs)}")
    return lines


def _given(text: str) -> tuple[str, float]:
    name, _, number = text.rpartition("=")
    try:
        return name, float(number)
    except ValueError:
        raise CofactorError(f"--given {text}: give COVARIATE=NUMBER") from None


def _places(table: pd.DataFrame) -> list[str]:
    """Return the ranking as lines, and how much of it the comparisons tell."""
    width = max(len(str(item)) for item in table["item"].head(SHOWN))
    scale, digits = ("elo", 0) if "elo" in table else ("utility", 3)
    low, high = ("elo_low", "elo_high") if "elo" in table else ("low", "high")
    lines = [f"{'rank':>4}  {'allowed':>9}  {'item':<{width}}  {scale}"]
    for row in table.head(SHOWN).to_dict("records"):
        allowed = f"{row['rank_low']} to {row['rank_high']}"
        interval = f"{row[scale]:.{digits}f} ({row[low]:.{digits}f} to {row[high]:.{digits}f})"
        lines.append(f"{row['rank']:>4}  {allowed:>9}  {row['item']!s:<{width}}  {interval}")
    if len(table) > SHOWN:
        lines.append(f"... and {len(table) - SHOWN} more: -o writes all")
    best, settled = (table["rank_low"] == 1).sum(), (table["rank_low"] == table["rank_high"]).sum()
    return [*lines, f"items that may be the best: {best}; items with one possible rank: {settled}"]


def _of_board(scale: tuple[Any, float] | None, board: Ranking) -> tuple[Any, float] | None:
    """Return the scale; of a board without the item that it hangs on, with that number for the mean."""
    return scale if scale is None or scale[0] in board.items else (None, scale[1])


def _board_lines(boards: Boards, method: str | None) -> list[str]:
    """Return a line about every board: its size, and who may be the best in it."""
    lines = ["", f"by category, each with {'fits' if method else 'a prior'} of its own:"] if boards else []
    for name, board in boards.items():
        table = board.table()
        best = listing(table["item"][table["rank_low"] == 1])
        sure = f"may be the best: {best}" if board.told_apart else "no order can be told"
        told = f"{len(table)} items, {table['comparisons'].sum() / 2:.10g} comparisons; {sure}"
        trivial = not board.log_loss < board.trivial_log_loss
        lines.append(
            f"  {name}: {told}" + ("; no better than the trivial guess on comparisons held out" if trivial else "")
        )
    return lines


def _write_tables(
    arguments: argparse.Namespace,
    writer: Writer,
    data: Comparisons,
    X: pd.DataFrame,
    found: Ranking,
    boards: Boards,
    scale: tuple[Any, float] | None,
) -> None:
    if arguments.output:
        table = found.table(scale)
        if arguments.baselines:
            table = table.merge(baseline_scores(data), "left", "item", suffixes=("", "_baseline"))
        if boards:  # baselines are of all comparisons, so that boards have none
            own = [board.table(_of_board(scale, board)).assign(board=name) for name, board in boards.items()]
            table = pd.concat([table.assign(board=ALL), *own], ignore_index=True)
            table = table[["board", *table.columns.drop("board")]]
        writer.write(arguments.output, [table.round(6)], f"{len(found.items)} items")
    if arguments.probabilities:
        pairs = found.probabilities().round(6)
        writer.write(arguments.probabilities, [pairs], f"{len(pairs)} pairs of items")
    if arguments.coefficients:
        coefficients = found.coefficients()
        writer.write(arguments.coefficients, [coefficients], f"{len(coefficients)} coefficients")
    if arguments.users:
        table, failed = _of_users(arguments, data, X)
        told = f"{table['user'].nunique()} of {data.n_users} users, who have {ENOUGH_PER_ITEM} comparisons an item"
        writer.write(arguments.users, [table.round(6)], told + failed)


def _of_users(arguments: argparse.Namespace, data: Comparisons, X: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the rankings of users, and in words on whose comparisons the method failed."""
    if not arguments.method:
        return rank_users(data, X, level=arguments.level), ""
    from cofactor_app.cli.own_rank import users_by

    table, failed = users_by(arguments.method, data, level=arguments.level)
    told = listing([f"{user} ({why})" for user, why in failed.items()])
    return table, f"; the method fails on those of {told}" if failed else ""
