"""The scripts that complete commands are asked in the shells themselves."""

import shutil
import subprocess

import pytest

from cofactor_app.cli import main

ASK = '{script}\nCOMP_WORDS=({words} "$1")\nCOMP_CWORD={number}\n_shtab_cofactor\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
METHODS = {"ProjectedSPA", "SPA", "MERIT", "FastAnchor"}


def script_for(shell, capsys):
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "begun", "offered"),
    [
        ("cofactor", "ra", {"rank"}),
        ("cofactor rank", "--co", {"--covariates", "--coefficients"}),
        ("cofactor anchors points.npz --method", "", METHODS),
        ("cofactor rank", "vo", {"votes.csv"}),
        ("cofactor rank votes.csv --report", "vo", {"votes.csv"}),
        ("cofactor joint votes.csv --sample 9", "vo", {"votes.csv"}),
        ("cofactor rank votes.csv --winner", "vo", {""}),
        ("cofactor datasets", "f", {"fetch"}),
    ],
)
def test_bash_completes_commands_options_choices_and_files(words, begun, offered, tmp_path, capsys):
    (tmp_path / "votes.csv").touch()
    asked = ASK.format(script=script_for("bash", capsys), words=words, number=len(words.split()))
    answer = subprocess.run(["bash", "-c", asked, "bash", begun], cwd=tmp_path, capture_output=True, text=True)
    assert (set(answer.stdout.splitlines()), answer.stderr) == (offered, "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_their_script(shell, capsys):
    script = script_for(shell, capsys)
    assert "cofactor" in script and "rank" in script
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=script, text=True).returncode == 0
