"""Reports can be read by keyboard, by a screen reader, on a telephone, at night and on paper; large ones stay small."""

import re
from importlib import resources

import numpy as np
import pandas as pd
import pytest

from cofactor import simulate
from cofactor_app.cli import main

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDE, NARROW = 1200, 400  # pixels
LONG = 500  # letters of a name
ODD = f"\u202e\x07<b>\uff1d1{'x' * LONG}"
ALLOWED = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'"
LARGEST = 2e6  # bytes of a report
VIEWS = [(NARROW, "light"), (WIDE, "dark")]
VIOLATIONS = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
    .map(one => [one.id, one.nodes.map(node => node.target.join(' ')).slice(0, 3)])"""
MINE = """import numpy as np

def Mine(labels):
    return np.full((labels.n_tasks, labels.n_classes), 1 / labels.n_classes)
"""
TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"


def drawn(rng, n_tasks, n_workers):
    """Return labels of three workers a task, nine of ten right."""
    tasks = np.repeat(np.arange(n_tasks), 3)
    frame = pd.DataFrame({"task": tasks, "worker": rng.integers(n_workers, size=len(tasks)), "label": tasks % 3})
    frame.loc[rng.random(len(frame)) < 0.1, "label"] = 0
    return frame.drop_duplicates(["task", "worker"])


@pytest.fixture(scope="module")
def axe():
    package = pytest.importorskip("axe_playwright_python")
    return next(path for path in resources.files(package).rglob("axe.min.js")).read_text(encoding="utf8")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write a report of every command that has one, and the page for the browser; ids are long and hostile."""
    folder, rng = tmp_path_factory.mktemp("reports"), np.random.default_rng(0)
    table = drawn(rng, 60, 6)
    table["worker"] = [f"{worker} {'with a very long name' * 6}<b>" for worker in table["worker"]]
    table = table.astype(str).replace({"worker": {table["worker"].iloc[0]: ODD}, "label": {"2": f"2{ODD}"}})
    table["task"] += ODD
    table.to_csv(folder / "labels.csv", index=False)
    teams = [f"team {letter} {'of somewhere' * 5}" for letter in "abcd"] + [ODD]
    won, lost = rng.integers(5, size=(2, 200))
    matches = pd.DataFrame({"winner": np.array(teams)[won], "loser": np.array(teams)[lost]})[won != lost]
    matches.to_csv(folder / "matches.csv", index=False)
    codes = rng.integers(3, size=(120, 1)) + (rng.random((120, 4)) < 0.2)
    people = pd.DataFrame(np.array(["no", "yes", "perhaps", f"never{ODD}"])[codes], columns=[*"pqr", ODD])
    people.mask(rng.random(people.shape) < 0.1).to_csv(folder / "people.csv", index=False)
    points = pd.DataFrame(simulate.dirichlet_mixtures(20, 80, 3, 30.0, random_state=0).X)
    points.set_axis([f"{n}{ODD}" for n in range(80)], axis=1).to_csv(folder / "points.csv", index=False)
    words = [" ".join(rng.choice([f"word{k}{i}" for i in range(8)], size=12)) for k in range(3) for _ in range(20)]
    words = [f"{text} word{'y' * LONG}" if n % 3 else text for n, text in enumerate(words)]
    pd.DataFrame({"text": words}).to_csv(folder / "texts.csv", index=False)
    (folder / "mine.py").write_text(MINE)
    commands = {
        "crowd": "aggregate labels.csv -o crowd.csv --report crowd.html",
        "rank": "rank matches.csv -o rank.csv --report rank.html",
        "joint": "joint people.csv -o joint.csv --report joint.html",
        "anchors": "anchors points.csv -o anchors.csv --report anchors.html",
        "topics": "topics texts.csv --anchors 3 -o topics.csv --report topics.html",
        "bench": "bench mine.py:Mine bluebird --keep bench.jsonl --report bench.html",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, command in commands.items():
            assert main(command.split()) in (0, None), name
    return [folder / f"{name}.html" for name in commands]


def seen(chromium, page, width, scheme):
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    tab = context.new_page()
    tab.goto(page.as_uri())
    return context, tab


def test_no_rule_of_accessibility_is_broken_at_any_width_by_day_or_night(pages, chromium, axe):
    for page in pages:
        for width, scheme in VIEWS:
            context, tab = seen(chromium, page, width, scheme)
            tab.evaluate(axe)
            tab.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
            assert tab.evaluate(VIOLATIONS) == [], (page.name, width, scheme)
            assert tab.evaluate(TOO_WIDE) <= 0, (page.name, width, scheme)
            context.close()


def test_reports_load_nothing_and_show_names_of_every_kind(pages, chromium):
    for page in pages[:-1]:  # all reports
        context = chromium.new_context(viewport={"width": NARROW, "height": 900})
        tab, said, asked = context.new_page(), [], []
        tab.on("console", lambda one, said=said: said.append(one.text))
        tab.on("pageerror", lambda one, said=said: said.append(str(one)))
        tab.on("request", lambda one, asked=asked: asked.append(one.url))
        tab.goto(page.as_uri())
        assert said == [] and [url[:40] for url in asked if not url.startswith("data:")] == [page.as_uri()[:40]], (
            page.name
        )
        policy = "document.querySelector('meta[http-equiv=Content-Security-Policy]').content"
        assert tab.evaluate(policy) == ALLOWED and tab.evaluate("document.querySelectorAll('b').length") == 0, page.name
        text = page.read_text(encoding="utf8")
        assert "\u202e" not in text and "\x07" not in text, page.name
        if page.name not in ("bench.html", "topics.html"):  # no ids of the data; words of letters alone
            assert r"\u202e\x07&lt;b&gt;" in text, page.name
        if page.name != "bench.html":
            whole = "[...document.querySelectorAll('td [title]')].filter(one => /(x|y){500}/.test(one.title))"
            cut = tab.evaluate(f"{whole}.map(one => one.innerText)")
            assert cut and all(len(one) < 80 and "characters)" in one for one in cut), (page.name, cut)
            assert not re.search(f"<td[^>]*>[^<]*(x|y){{{LONG}}}", text), page.name
        context.close()


def test_tables_that_are_too_wide_are_reached_by_keys(pages, chromium):
    for page in pages:
        context, tab = seen(chromium, page, NARROW, "light")
        stops = tab.evaluate("document.querySelectorAll('main table').length")
        reached = tab.evaluate("document.querySelectorAll('main [tabindex=\"0\"] > table').length")
        assert reached == stops > 0, page.name
        context.close()


def test_paper_is_white_also_at_night(pages, chromium):
    for page in pages:
        context, tab = seen(chromium, page, WIDE, "dark")
        colour = "getComputedStyle(document.body).backgroundColor"
        assert tab.evaluate(colour) == "rgb(24, 25, 27)", page.name
        tab.emulate_media(media="print")
        assert tab.evaluate(colour) == "rgb(255, 255, 255)", page.name
        context.close()


def test_a_report_of_many_tasks_is_as_small_as_one_of_few(tmp_path):
    sizes = []
    for n_tasks in (500, 5_000):
        labels, out, page = (str(tmp_path / f"{n_tasks}{end}") for end in (".csv", "-out.csv", ".html"))
        drawn(np.random.default_rng(0), n_tasks, 50).to_csv(labels, index=False)
        main(["aggregate", labels, "-o", out, "--report", page])
        sizes.append((tmp_path / f"{n_tasks}.html").stat().st_size)
    assert sizes[1] < 1.2 * sizes[0] < LARGEST
