"""What `--help` shows can be typed as it stands, and fits on a screen."""

import inspect
import re
import shlex

import pytest

import cofactor as cf
from cofactor_app.cli import main
from cofactor_app.cli.parser import parser

SHOWN = {
    "": 2,
    "aggregate": 2,
    "next": 2,
    "rank": 3,
    "joint": 2,
    "anchors": 2,
    "topics": 2,
}
LINES, COLUMNS = 40, 110


@pytest.mark.parametrize("command", SHOWN)
def test_examples_are_commands_that_exist(command, capsys):
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    lines = re.findall(r"^  cofactor (.+?)(?:   .+)?$", capsys.readouterr().out, re.MULTILINE)
    assert len(lines) >= SHOWN[command]
    for line in lines:
        assert parser().parse_args(shlex.split(line)).run


@pytest.mark.parametrize("command", ["aggregate", "diagnose", "plan", "next", "rank", "joint", "anchors", "topics"])
def test_help_of_a_command_on_data_fits_on_a_screen(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= LINES and max(map(len, lines)) <= COLUMNS


TOLD = re.compile(r"\(default: ([\d.]+)\)|([\w-]+) \(default\)")
VERBS = {"aggregate": cf.aggregate, "plan": cf.plan, "next": cf.next_tasks, "rank": cf.rank, "joint": cf.joint}
VERBS |= {"anchors": cf.anchors, "topics": cf.topics}


PARAMETERS = {  # of options whose parameter has another name
    ("plan", "error"): "wanted_error",
    ("plan", "most"): "amounts",
    ("next", "error"): "wanted_error",
    ("anchors", "anchors"): "n_anchors",
    ("topics", "anchors"): "n_topics",
}


def test_help_tells_the_defaults_that_the_options_and_the_verbs_have():
    told = 0
    for name, command in parser()._subparsers._group_actions[0].choices.items():
        taken = inspect.signature(VERBS[name]).parameters if name in VERBS else {}
        for option in command._actions:
            if found := TOLD.search(option.help or ""):
                told += 1
                assert str(option.default) in found.groups(), (name, option.dest)
            parameter = PARAMETERS.get((name, option.dest), option.dest)
            assert parameter in taken or parameter == option.dest, (name, parameter)
            if parameter in taken and option.default:
                assert option.default == taken[parameter].default, (name, option.dest)
    assert told > 20
