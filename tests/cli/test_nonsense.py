"""Every option of each command, given nonsense: one sentence and an exit code, never a traceback."""

import argparse

import pytest

from cofactor_app.cli import main
from cofactor_app.cli.parser import parser
from tests.each import each

VOTES = "winner,loser,user\n" + "".join(f"i{a},i{(a + b) % 6},u{b}\n" for a in range(6) for b in range(1, 4))
TABLE = "a,b,x\n" + "".join(f"v{n % 2},w{n % 3},{n}\n" for n in range(12))
LABELS = "task,worker,label\n" + "".join(f"t{n},w{m},{(n + m // 3) % 2}\n" for n in range(12) for m in range(4))
FILES = {"labels.csv": LABELS, "votes.csv": VOTES, "table.csv": TABLE, "X.csv": "1,0,.5\n0,1,.5\n1,1,1\n"}
RUNS = {  # inputs of a command that are sound
    "aggregate": ["labels.csv"],
    "update": ["model.npz", "labels.csv"],
    "diagnose": ["labels.csv"],
    "next": ["labels.csv"],
    "rank": ["votes.csv"],
    "joint": ["table.csv"],
    "anchors": ["X.csv"],
    "shard": ["labels.csv", "-o", "shards"],
    "sql": ["counts"],
    "topics": ["X.csv"],
    "again": ["labels.csv"],
    "fit": ["labels.csv", "-o", "new.npz"],
    "moments": ["shards", "-o", "moments.npz"],
    "datasets": ["list"],
    "page": ["-o", "page.html"],
    "completion": ["bash"],
}
NONSENSE = ("--", "/", "", "/dev/zero", "'", "9" * 20)


def options(command):
    """The options of a command that take a value."""
    commands = next(one for one in parser()._actions if isinstance(one, argparse._SubParsersAction)).choices
    found = [one.option_strings[-1] for one in commands[command]._actions if one.option_strings and one.nargs != 0]
    return [option for option in found if option.startswith("--")]


def test_a_file_option_without_a_name_is_refused(capsys):
    for command in (
        ["aggregate", "bluebird", "--truth="],
        ["aggregate", "bluebird", "--gold", ""],
        ["plan", "bluebird", "--truth", " "],
    ):
        with pytest.raises(SystemExit):
            main(command)
        assert "no file is named: leave the option out, or name one" in capsys.readouterr().err, command


@pytest.mark.slow
@each("command", RUNS)
def test_nonsense_is_one_sentence(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    asked = [[f"{option}={value}"] for option in options(command) for value in NONSENSE]
    asked += [[f"--{one}"] for one in ("no-such-option", "help=1")]
    for more in asked:
        try:
            code = main([command, *RUNS[command], *more])
        except SystemExit as wrong_usage:
            code = wrong_usage.code
        said = capsys.readouterr().err.strip()
        assert code in (0, 1, 2), more
        assert code == 0 or "error: " in said.splitlines()[-1], (more, said)
