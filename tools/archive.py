"""Archive the last commit with its checksum: python3 tools/archive.py (standard library and git only).

Writes dist/cofactor-COMMIT.tar.gz, and dist/cofactor-COMMIT.sha256 beside it, which `sha256sum -c` reads. Changes that
are not committed would be missing in it, so they end the command; files that are there are not written over. The same
commit gives the same bytes where git and its zlib are the same.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def git(root, *arguments):
    """Return what git prints in a folder."""
    return subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True).stdout.strip()


def archive(root):
    """Write both files; return their paths."""
    if changed := git(root, "status", "--porcelain"):
        sys.exit(f"Not committed, and so not in an archive:\n{changed}\nCommit or remove it, then run this again.")
    name = f"cofactor-{git(root, 'rev-parse', '--short=12', 'HEAD')}"
    packed, sums = (root / "dist" / f"{name}.{kind}" for kind in ("tar.gz", "sha256"))
    if there := [path.name for path in (packed, sums) if path.exists()]:
        sys.exit(f"dist has {' and '.join(there)} already: remove what is to be made anew.")
    packed.parent.mkdir(exist_ok=True)
    git(root, "archive", "--format=tar.gz", f"--prefix={name}/", f"--output={packed}", "HEAD")
    sums.write_text(f"{hashlib.sha256(packed.read_bytes()).hexdigest()}  {packed.name}\n", encoding="utf8")
    return packed, sums


if __name__ == "__main__":
    print("wrote", *(path.relative_to(ROOT) for path in archive(ROOT)))
