"""Write constraints.txt anew: the pinned versions, and the hashes of all files that the package index has of them.

usage: python -m tools.pins                          add what pyproject.toml asks for anew; other versions stay
       python -m tools.pins --upgrade                the newest versions
       python -m tools.pins --upgrade-package numpy  the newest version of one package, and what that needs

The versions hold on all systems, and from the oldest Python on that pyproject.toml allows. Each entry says which
packages need it, by which kit.py finds what pip has to install. SSL_CERT_FILE names the certificates of a network
that has its own.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PINS = ROOT / "constraints.txt"
INSTALLER = "uv"  # pip brings it first, see kit.py
# beside the files of the index, by name and version: builds for processors alone, without gigabytes for graphics cards,
# which whoever has one names in pip's settings
MORE = {
    "torch==2.13.0": "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"
}  # Linux x86-64, Python 3.11
OPTIONS = [
    "--universal",
    "--fork-strategy=fewest",
    "--all-extras",
    "--generate-hashes",
    "--no-header",
    "--quiet",
    "--no-config",
]


def main(extra):
    """Let uv settle the versions; its exit code."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))
    python = content["project"]["requires-python"].removeprefix(">=")
    names = "\n".join([*content["build-system"]["requires"], INSTALLER])
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    command = [uv, "pip", "compile", "pyproject.toml", "-", "-o", PINS.name, "--python-version", python]
    code = subprocess.run([*command, *OPTIONS, *extra], cwd=ROOT, input=names, text=True).returncode
    if code == 0:
        PINS.write_text(with_more(PINS.read_text(encoding="utf8")), encoding="utf8")
    return code


def with_more(text, more=MORE):
    """Return the pins with hashes of files that the index does not have, where the version is still theirs."""
    for pin, digest in more.items():
        own = f"    --hash=sha256:{digest} \\\n"
        text = text.replace(own, "")  # uv keeps what it finds
        text = re.sub(
            rf"^{re.escape(pin)}( ;.*)? \\\n", lambda found, own=own: found[0] + own, text, flags=re.MULTILINE
        )
    return text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
