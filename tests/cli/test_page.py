"""The page for a browser: written whole, needs nothing else, may connect to nobody; tests/browser tries it."""

import base64
import hashlib
import math
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cofactor_app.cli import main, page

SCRIPTS = sorted(Path(page.__file__).parents[1].joinpath("pages").glob("*.js"))


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "aggregate.html"
    assert main(["page", "-o", str(path)]) == 0
    return path.read_text(encoding="utf8")


def test_loads_nothing_and_names_no_host(html):
    assert not re.search(r"https?:|//[a-z]+\.[a-z]|<link|<img|\bsrc=", html)


def test_its_example_is_a_table_of_labels(html):
    assert r'"task,worker,label\n' in html


def test_only_its_own_script_may_run_and_nothing_may_be_connected_to(html):
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)[1]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode("utf8")).digest()).decode()
    assert rules["default-src"] == "'none'" and "connect-src" not in rules
    assert rules["script-src"] == f"'sha256-{digest}' blob:"


def test_is_not_written_over_an_old_one_unasked(tmp_path, capsys):
    path = tmp_path / "aggregate.html"
    path.write_text("mine", encoding="utf8")
    assert main(["page", "-o", str(path)]) == 1 and path.read_text(encoding="utf8") == "mine"
    assert "--force" in capsys.readouterr().err
    assert main(["page", "-o", str(path), "--force"]) == 0 and "<main>" in path.read_text(encoding="utf8")


def test_every_script_is_on_the_page(html):
    assert {path.name for path in SCRIPTS} == {*page.BACKGROUND, *page.SHOWN}
    assert all(path.read_text(encoding="utf8") in html for path in SCRIPTS)


def test_scripts_use_every_constant_and_no_other():
    used = set()
    for path in SCRIPTS:
        text = path.read_text(encoding="utf8")
        used |= set(re.findall(r"CONSTANTS\.(\w+)", text))
        for names in re.findall(r"\{([^{}]*)\} = CONSTANTS\b", text):
            used |= {name.split(":")[0].strip() for name in names.split(",")}
    assert used == set(page.constants())


def test_constants_are_numbers_that_json_knows():
    numbers = [value for value in page.constants().values() if isinstance(value, float)]
    assert numbers and all(map(math.isfinite, numbers))


def test_scripts_put_no_data_into_html():
    for path in SCRIPTS:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|\bFunction\(",
            path.read_text(encoding="utf8"),
        )


def test_scripts_are_short_enough_to_read():
    lines = {path.name: path.read_text(encoding="utf8").splitlines() for path in SCRIPTS}
    assert all(len(text) <= 400 and max(map(len, text)) <= 120 for text in lines.values())
    assert sum(len(lines[name]) for name in page.FITTING) <= 566 and sum(map(len, lines.values())) <= 1785


@pytest.mark.skipif(not shutil.which("node"), reason="needs node; tests/browser runs them in Chromium")
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_javascript(path):
    checked = subprocess.run(["node", "--check", path], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
