"""Command lines made by chance over the parser: each ends well or in one sentence, never in a traceback.

python -m tests.cli.test_generated FOLDER LINES SEED      tries as many in an empty folder, and prints those that fail
"""

import json
import os
import random
import re
import signal
import sys
import time
import traceback
from pathlib import Path

import pytest

from cofactor_app.cli import main
from tests.cli.test_nonsense import FILES, MORE, NONSENSE, RUNS, commands

resource = pytest.importorskip("resource")
SECONDS, PATIENCE = 5, 60  # of the processor, and of the clock, that a line may take before it is ended
VALUES = (
    *(*NONSENSE, *MORE, "1", "2", "0.5", "inf", "-inf", "1e-300", "1e308", *FILES, "model.npz", "out.csv", "out.html"),
    *(
        "task",
        "worker",
        "label",
        "a",
        "a,b",
        ",",
        ";",
        "\\t",
        "\n",
        "=1+1",
        "None",
        "[]",
        "{}",
        "%s",
        "\u202e",
        "x" * 3000,
    ),
)
ENDED = (-signal.SIGXCPU, -signal.SIGKILL)  # for its time
SAID = re.compile(r"^(cofactor[\w -]*: )?error: ", re.MULTILINE)


def line(rng):
    """Return a command with sound or odd inputs and up to four of its options, most with odd values."""
    command = rng.choice(list(RUNS))
    odd = rng.random() < 0.3
    words = [command, *(rng.choice(VALUES) if odd and rng.random() < 0.5 else word for word in RUNS[command])]
    options = [one for one in commands()[command]._actions if one.option_strings and one.dest != "help"]
    for option in rng.sample(options, min(len(options), rng.choice([0, 1, 1, 2, 2, 3, 4]))):
        words += spelled(option, rng)
    if rng.random() < 0.1:
        words.insert(rng.randrange(len(words) + 1), rng.choice(VALUES))
    return words


def spelled(option, rng):
    """Return an option with a value, in one word or in two."""
    name = rng.choice(option.option_strings)
    if option.nargs == 0:
        return [name]
    sound = list(map(str, option.choices or [])) if rng.random() < 0.7 else []
    value = rng.choice(sound or VALUES)
    return [f"{name}={value}"] if name.startswith("--") and rng.random() < 0.6 else [name, value]


def ended(words, said):
    """Run a line in a copy of this process; return its exit code, or the signal below zero, and what it said."""
    child = os.fork()
    if not child:
        _run(words, said)
    before = time.monotonic()
    while not (found := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > before + PATIENCE:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.01)
    return os.waitstatus_to_exitcode(found[1]), said.read_text(encoding="utf8", errors="replace")


def _run(words, said):
    """Run a line in this process, and end it; libraries write to the files below Python's, so both are exchanged."""
    code = 70
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        sys.stdin, sys.stdout = open(os.devnull), open(os.devnull, "w")  # noqa: SIM115
        sys.stderr = open(said, "w", encoding="utf8")  # noqa: SIM115
        for number, file in enumerate((sys.stdin, sys.stdout, sys.stderr)):
            os.dup2(file.fileno(), number)
        code = main(words)
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def wrong(folder, n_lines, seed):
    """Return lines that did not end as they should with what they said, and how many were ended for their time."""
    os.chdir(folder)
    rng, found, late = random.Random(seed), [], 0
    for _ in range(n_lines):
        for name, text in FILES.items():  # a line may have written over them
            Path(name).unlink(missing_ok=True)
            Path(name).write_text(text, encoding="utf8")
        words = line(rng)
        code, said = ended(words, Path("..") / "said")
        late += code in ENDED
        sentences = len(SAID.findall(said))
        if code not in ENDED and (code not in (0, 1, 2) or "Traceback" in said or sentences != (code > 0)):
            found.append((words, code, said[-800:]))
    return found, late


@pytest.mark.slow
def test_lines_made_by_chance_end_well_or_in_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    found, late = wrong(tmp_path / "here", 40, seed=0)
    assert not found and late < 20


if __name__ == "__main__":
    folder, n_lines, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    bad, late = wrong(folder, n_lines, seed)
    print(f"{n_lines} lines: {len(bad)} wrong, {late} ended after {SECONDS} s")
    for words, code, said in bad:
        print(json.dumps(words)[:300], code, said, sep="\n", end="\n\n")
