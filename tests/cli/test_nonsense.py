"""Every option of each command, given nonsense: one sentence and an exit code, never a traceback."""

import argparse
import os
import re
import subprocess
import sys

import pytest

from cofactor import CofactorError
from cofactor.verbs import plan as planner
from cofactor_app.cli import main
from cofactor_app.cli.parser import output_file, parser
from tests.each import each

VOTES = "winner,loser,user\n" + "".join(f"i{a},i{(a + b) % 6},u{b}\n" for a in range(6) for b in range(1, 4))
TABLE = "a,b,x\n" + "".join(f"v{n % 2},w{n % 3},{n}\n" for n in range(12))
LABELS = "task,worker,label\n" + "".join(f"t{n},w{m},{(n + m // 3) % 2}\n" for n in range(12) for m in range(4))
FILES = {"labels.csv": LABELS, "votes.csv": VOTES, "table.csv": TABLE, "X.csv": "1,0,.5\n0,1,.5\n1,1,1\n"}
RUNS = {  # inputs of a command that are sound
    "aggregate": ["labels.csv"],
    "diagnose": ["labels.csv"],
    "next": ["labels.csv"],
    "rank": ["votes.csv"],
    "joint": ["table.csv"],
    "anchors": ["X.csv"],
    "topics": ["X.csv"],
    "datasets": ["list"],
    "completion": ["bash"],
    "plan": ["labels.csv", "--most=2"],
    "bench": ["MajorityVote", "bluebird"],
    "report": ["--results=results"],
    "reproduce": ["no-such-experiment"],
}
NONSENSE = ("--", "/", "", "/dev/zero", "'", "9" * 20)
MORE = ("/dev/full", "-1", "0", "nan", ".", "-", "none/none.csv")
NAMED = {  # commands of which a name, a file or a folder is an argument without an option
    "plan": [],
    "bench": [],
    "bench a set": ["bench", "MajorityVote"],
    "reproduce": [],
    "report": [],
}
NO_METHOD = ("binary.py:A", "empty.py:A", "nosuch.py:A", "os:getcwd", "a:b", ":", "binary.py")


def commands():
    """The parsers of all commands by name."""
    return next(one for one in parser()._actions if isinstance(one, argparse._SubParsersAction)).choices


def options(command):
    """The options of a command that take a value."""
    found = [one.option_strings[-1] for one in commands()[command]._actions if one.option_strings and one.nargs != 0]
    return [option for option in found if option.startswith("--")]


def test_a_file_option_without_a_name_is_refused(capsys):
    for command in (
        ["aggregate", "bluebird", "--truth="],
        ["aggregate", "bluebird", "--gold", ""],
        ["aggregate", "bluebird", "--workers", ""],
    ):
        with pytest.raises(SystemExit):
            main(command)
        assert "the file name is empty: name a file, or leave the option out" in capsys.readouterr().err, command


def test_an_output_whose_name_is_a_number_is_refused(tmp_path, monkeypatch, capsys):
    """`--workers 0` is meant as a number of processes; a file of that name can be had as `./0`."""
    monkeypatch.chdir(tmp_path)
    written = [
        (name, action.option_strings[-1])
        for name, command in commands().items()
        for action in command._actions
        if action.type is output_file
    ]
    assert {("aggregate", "--workers"), ("rank", "--output"), ("joint", "--report"), ("bench", "--keep")} <= {*written}
    for name, option in written:
        for number in ("0", "1e3", ".5"):
            with pytest.raises(SystemExit):
                main([name, *RUNS[name], option, number])
            assert f"{number} is a number, not a file name; to name a file" in capsys.readouterr().err, (name, option)
    (tmp_path / "table.csv").write_text(TABLE)
    assert main(["joint", "table.csv", "--sample", "10", "20"]) == 1
    assert "error: --sample: 20 is a number, not a file name" in capsys.readouterr().err
    assert os.listdir() == ["table.csv"] and output_file("./0").name == "0"


def test_every_command_is_given_nonsense():
    assert set(RUNS) == set(commands())


@pytest.mark.slow
@each("command", RUNS)
def test_nonsense_is_one_sentence(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(planner, "_populations", begins)
    values = (*NONSENSE, *MORE) if command in NAMED else NONSENSE
    asked = [[f"{option}={value}"] for option in options(command) for value in values]
    asked += [[f"--{one}"] for one in ("no-such-option", "help=1")]
    for more in asked:
        run([command, *RUNS[command], *more], capsys)


def begins(*_, **__):
    """In the place of simulations, which take long: what is wrong is said before."""
    raise CofactorError("here the work would begin")


def run(words, capsys):
    """Run a command, which must end well or in one sentence."""
    try:
        code = main(words)
    except SystemExit as wrong_usage:
        code = wrong_usage.code
    said = capsys.readouterr().err.strip()
    assert code in (0, 1, 2), words
    assert code == 0 or "error: " in said.splitlines()[-1], (words, said)
    told = [line for line in said.splitlines() if re.match(r"(cofactor[\w -]*: )?error: ", line)]
    assert len(told) == (code > 0), (words, said)


@pytest.mark.slow
@each("case", NAMED)
def test_nonsense_in_the_place_of_a_name_is_one_sentence(case, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "binary.py").write_bytes(bytes(range(256)))
    (tmp_path / "empty.py").touch()
    for value in (*NONSENSE[1:], *MORE, *NO_METHOD):
        run([*(NAMED[case] or [case]), value], capsys)


@pytest.mark.slow
@pytest.mark.parametrize("command", [["datasets"], ["reproduce"]])
def test_a_pipe_whose_reader_has_gone_is_no_failure(command, tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-c", "import sys, cofactor_app.cli as cli; sys.exit(cli.main())", *command]
    done = subprocess.run(words, cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr.count("Traceback"), done.stderr.count("error: ")) == (0, 0, 0), done.stderr


def test_only_tables_are_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    assert main(["aggregate", "labels.csv", "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("task,label,")
    for words in (["aggregate", "labels.csv", "--report", "-"],):
        assert main(words) == 1, words
        assert "error: -: only tables" in capsys.readouterr().err, words
    assert set(os.listdir()) == set(FILES)


def test_what_is_asked_for_is_refused_before_the_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["plan", "none.csv", "--most", "0"]) == 1
    assert re.search(r"^error: --most 0: give a whole number of at least 1$", capsys.readouterr().err)


@pytest.mark.slow
def test_a_full_device_behind_standard_output_is_one_sentence_with_what_to_do(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("no device that is always full")
    words = [sys.executable, "-c", "import sys, cofactor_app.cli as cli; sys.exit(cli.main())", "datasets", "list"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert re.match(r"error: reading or printing failed \(No space left on device\): if", done.stderr)


def test_rows_that_repeat_the_header_are_left_out_by_every_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, words in {
        "labels.csv": ["aggregate", "labels.csv", "--method", "MajorityVote"],
        "votes.csv": ["rank", "votes.csv"],
        "table.csv": ["joint", "table.csv", "--method", "Independence"],
        "truth.csv": ["aggregate", "labels.csv", "--method", "MajorityVote", "--truth", "truth.csv"],
    }.items():
        text = FILES.get(name, "task,truth\n" + "".join(f"t{n},{n % 2}\n" for n in range(12)))
        (tmp_path / name).write_text(text)
        assert main(words) == 0
        alone = capsys.readouterr()
        (tmp_path / name).write_text(text + text.splitlines()[0].upper() + "\n")
        assert main(words) == 0
        twice = capsys.readouterr()
        assert "1 row repeating the header" in twice.out + twice.err and "repeating" not in alone.out + alone.err, name
        known = "|".join((r"\d+ labels", r"\d+ items", r"\d+ rows", "known truth"))
        assert [n for n in re.findall(known, twice.out) if n != "1 rows"] == re.findall(known, alone.out), name
        (tmp_path / name).write_text(text + ",".join(reversed(text.splitlines()[0].split(","))) + "\n")
        assert main(words) == 1
        assert "a second header (" in capsys.readouterr().err, name
        (tmp_path / name).write_text(text)


@pytest.mark.slow
def test_a_carriage_return_alone_is_told_by_every_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, words in {
        "labels.csv": ["aggregate", "labels.csv", "--method", "MajorityVote"],
        "again.csv": ["diagnose", "again.csv"],
        "votes.csv": ["rank", "votes.csv"],
        "table.csv": ["joint", "table.csv", "--method", "Independence"],
        "X.csv": ["anchors", "X.csv"],
        "truth.csv": ["aggregate", "labels.csv", "--method", "MajorityVote", "--truth", "truth.csv"],
    }.items():
        text = FILES.get(name, FILES["labels.csv"]) if name != "truth.csv" else "task,truth\nt1,1\nt2,0\n"
        header, first, rest = text.split("\n", 2)
        (tmp_path / name).write_bytes(f"{header}\nx\r{first}\n{rest}".encode())
        main(words)
        told = capsys.readouterr()
        assert (
            "a carriage return alone, not a line feed, ends row 2 (counting the header line)" in told.out + told.err
        ), name
        (tmp_path / name).write_bytes(text.replace("\n", "\r").encode())
        assert main(words) == 0
        told = capsys.readouterr()
        assert "carriage return" not in told.out + told.err, name


def test_separators_of_several_characters_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.csv").write_text(FILES["labels.csv"])
    for sep in ("a,b", "\n"):
        assert main(["aggregate", "labels.csv", "--sep", sep]) == 1
        assert "must be one ASCII character" in capsys.readouterr().err, sep
