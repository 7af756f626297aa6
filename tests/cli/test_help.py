"""What `--help` shows can be typed as it stands."""

import re
import shlex

import pytest

from cofactor_app.cli import main
from cofactor_app.cli.parser import parser

SHOWN = {
    "": 2,
    "aggregate": 3,
    "next": 2,
    "rank": 3,
    "joint": 3,
    "anchors": 2,
    "topics": 2,
}


@pytest.mark.parametrize("command", SHOWN)
def test_examples_are_commands_that_exist(command, capsys):
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    lines = re.findall(r"^  cofactor (.+?)(?:   .+)?$", capsys.readouterr().out, re.MULTILINE)
    assert len(lines) >= SHOWN[command]
    for line in lines:
        assert parser().parse_args(shlex.split(line)).run
