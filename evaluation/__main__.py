"""Store results, run one method again, and write the pages made from the results.

python -m evaluation keep RESULTS [NAME ...]    trials that `cofactor reproduce` left in a folder
python -m evaluation again METHOD               one method in all kept trials and on the sets of the bench
python -m evaluation pages                      tables of docs/results.md, docs/real_data.md, docs/benchmarks.md
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cofactor.core.errors import CofactorError
from evaluation import EXPERIMENTS
from evaluation.pages import PAGES, write_page
from evaluation.real_data import bench_again
from evaluation.trials import KEPT, again, facts_of, keep, made_by, raw_trials, read


def main() -> int:
    """Run the command and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    keeping = commands.add_parser("keep")
    keeping.add_argument("results", type=Path)
    keeping.add_argument("names", nargs="*", default=list(EXPERIMENTS))
    rerun = commands.add_parser("again")
    rerun.add_argument("method")
    rerun.add_argument("--jobs", type=int, default=1)
    commands.add_parser("pages")
    asked = parser.parse_args()
    try:
        if asked.command == "keep":
            _keep(asked.results, asked.names)
        if asked.command == "again":
            _again(asked.method, asked.jobs)
        for page in PAGES:
            write_page(page)
    except CofactorError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _keep(results: Path, names: list[str]) -> None:
    for name in names:
        path = results / f"{name}.jsonl"
        if path.exists():
            keep(name, read(path), made_by())
            print(f"kept {name}")


def _again(method: str, jobs: int) -> None:
    """Run a method again wherever it is kept; say how many numbers moved."""
    kept = [name for name in EXPERIMENTS if (KEPT / f"{name}.npz").exists()]
    found = [name for name in kept if (raw_trials(name)["method"] == method).any()]
    for name in found:
        trials, moved = again(EXPERIMENTS[name], method, jobs)
        now = made_by()
        keep(name, trials, facts_of(name) | {f"{method} again": f"{now['commit']}, code {now['code']}"})
        print(f"{name}: {moved} numbers of {method} moved", flush=True)
    print(f"leaderboard: {bench_again(method)} rows of {method} moved")


if __name__ == "__main__":
    sys.exit(main())
