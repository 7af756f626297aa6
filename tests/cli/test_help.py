"""What `--help` shows can be typed as it stands, and fits on a screen."""

import re
import shlex

import pytest

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
