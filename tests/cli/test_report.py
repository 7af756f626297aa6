"""The page about one crowd, and the last section of every report."""

import platform
import re
import shlex
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.crowd.readings import readings
from cofactor_app.cli import main
from cofactor_app.pages.render import _legible
from cofactor_app.running import Run


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    assert main(["aggregate", "bluebird", "--report", str(path)]) == 0
    return path.read_text(encoding="utf8")


@pytest.mark.slow
def test_says_what_the_command_line_says(page, capsys):
    main(["aggregate", "bluebird", "-v"])
    said = capsys.readouterr().out.strip().splitlines()
    for line in (said[0], *said[4:]):
        assert line.replace("'", "&#39;").replace("<", "&lt;") in page
    assert "<td>76</td><td>65</td>" in page and "<strong>12.0 %</strong>error on tasks with known truth" in page


@pytest.mark.slow
def test_shows_checks_workers_and_doubtful_tasks(page):
    assert "co-labelling graph" in page and "Verdict:" in page
    probabilities = [float(p) for p in re.findall(r"<td>([01]\.\d{3})</td>", page)]
    assert len(probabilities) >= 5 and probabilities == sorted(probabilities) and probabilities[0] < 0.95


@pytest.mark.slow
def test_uncertain_tasks_are_counted_and_only_a_few_others_stand_beside_them(page, tmp_path):
    assert "39 of 108 tasks are less than 90 % certain; the table lists the 20 least certain" in page
    rows = [(t, w, t % 2) for t in range(40) for w in range(5)]
    frame = pd.DataFrame([*rows, (40, 0, 0), (40, 1, 1)], columns=["task", "worker", "label"])
    cf.aggregate(frame, method="MV-EM", draws=0).report(tmp_path / "page.html")
    sure = (tmp_path / "page.html").read_text("utf8")
    assert "1 of 41 tasks is less than 90 % certain; the table lists the 3 least certain" in sure
    assert re.search(r'<td class="text">40</td>.*<td class="text">[01] \(0\.\d{3}\)</td>', sure)


@pytest.mark.slow
def test_checks_are_those_that_concern_the_method(page, tmp_path):
    of_pairs = ("co-labelling cycle", "missing co-occurrences", "tasks per pair", "reach of imputation")
    assert not any(name in page for name in of_pairs) and "4 more checks of pairs of workers" in page
    cf.aggregate("bluebird", method="RobSymNMF", draws=0).report(tmp_path / "page.html")
    other = (tmp_path / "page.html").read_text("utf8")
    assert all(name in other for name in of_pairs) and "more checks" not in other


@pytest.mark.slow
def test_workers_stand_in_the_order_of_the_picture(page):
    table = page.partition("<h3>The 20 of 39 workers with most labels, most accurate first</h3>")[2].partition(
        "</table>"
    )[0]
    right = [int(number) for number in re.findall(r'<td>(\d+) <span class="ends">', table)]
    assert len(right) == 20 and right == sorted(right, reverse=True)


@pytest.mark.slow
def test_every_number_of_a_worker_has_its_interval(page):
    found = re.findall(r'<td>([\d.]+) <span class="ends">\((\d+) to (\d+)\)</span></td>', page)
    assert len(found) == 20
    for estimate, low, high in found:
        assert float(low) - 0.5 <= float(estimate) <= float(high) + 0.5 and float(low) < float(high)


@pytest.mark.slow
def test_intervals_are_those_of_the_library(page):
    data = cf.load("bluebird")
    method = cf.crowd.WorkerTypes(random_state=0).fit(data.labels)
    row = cf.crowd.bootstrap(method, data.labels, 50, random_state=0).accuracy().iloc[3]
    numbers = (f"{100 * row[name]:.0f}" for name in ("estimate", "low", "high"))
    assert '{} <span class="ends">({} to {})</span>'.format(*numbers) in page


@pytest.mark.slow
def test_workers_are_those_of_the_table(page):
    labels = cf.load("bluebird").labels
    method = cf.crowd.WorkerTypes(random_state=0).fit(labels)
    boot, seen = cf.crowd.bootstrap(method, labels, 50, random_state=0), readings(labels, method)
    table = cf.crowd.workers_table(method, labels, boot, readings=seen)
    text = page.replace("&#39;", "'").replace("\N{NO-BREAK SPACE}", " ")
    mean, chance = f"({100 * table['accuracy'].mean():.0f} %)", "(50 %)"  # all gave equally many labels
    numbers = {"above the crowd's mean": mean, "below the crowd's mean": mean, "worse than chance": chance}
    numbers["better than chance"] = f"{chance} but not clearly different from the crowd's mean {mean}"
    assert {*numbers} - {*table["verdict"]} == {"worse than chance"}
    for row in table.head(20).itertuples():
        verdict = f"{row.verdict} {numbers.get(row.verdict, '')}".strip()
        words = f'<td class="text why">{verdict}</td><td class="text why">{row.mistake}</td>'
        assert f"<td>{100 * row.agreement:.0f}</td>{words}" in text
    assert len(set(table["verdict"])) > 3 and "not known from these labels" not in set(table["verdict"])
    assert "These labels do not show how reliable" not in page and "Without intervals" not in page


@pytest.mark.slow
def test_shares_of_the_classes_are_those_of_the_labels_given(page):
    labels = cf.load("bluebird").labels
    share = labels.votes.sum(axis=0) / labels.n_labels
    for k, name in enumerate(labels.classes):
        assert f'<td class="text">{name}</td><td>{100 * share[k]:.1f}</td>' in page


@pytest.mark.slow
def test_says_how_many_labels_differ_from_the_vote(page):
    data = cf.load("bluebird")
    method = cf.crowd.WorkerTypes().fit(data.labels)
    votes = data.labels.votes
    against = np.mean(votes[np.arange(len(votes)), method.predict(data.labels)] < votes.max(axis=1))
    assert f"<strong>{100 * against:.1f} %</strong>of the labels differ from the majority vote" in page


@pytest.mark.slow
def test_pictures_say_what_they_show(page):
    alternatives = re.findall(r'<img src="data:image/png;base64,[^"]+" alt="Figure: ([^"]+)">', page)
    assert len(alternatives) == 3 and all(len(words) > 20 for words in alternatives)
    assert len(re.findall("<img", page)) == 3


@pytest.mark.slow
def test_intervals_can_be_left_out(tmp_path):
    path = tmp_path / "page.html"
    cf.aggregate("bluebird", draws=0).report(path)
    page = path.read_text(encoding="utf8")
    assert "Without intervals no worker is judged" in page and "no interval, not judged" in page
    assert 'class="ends"' not in page
    assert len(re.findall('src="data:image/png;base64,', page)) == 3


@pytest.mark.slow
def test_needs_no_other_file(page):
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)
    assert "<script" not in page


@pytest.mark.slow
def test_names_from_the_data_are_escaped(tmp_path):
    rows = [(t, w, "<b>" if t % 2 else "b") for t in range(12) for w in ("<script>", "x", "y")]
    text = "task,worker,label\n" + "\n".join(f"{t},{w},{label}" for t, w, label in rows)
    (tmp_path / "labels.csv").write_text(text)
    path = tmp_path / "page.html"
    arguments = ["aggregate", str(tmp_path / "labels.csv"), "--method", "MV-EM", "--report", str(path)]
    assert main(arguments) == 0
    page = path.read_text()
    assert "<script>" not in page and "&lt;script&gt;" in page and "<b>" not in page
    assert page.count("Content-Security-Policy") == 1 and "default-src 'none'" in page


HOSTILE = ["a $ b", r"$\frac{", "$x$", "100 % $5 to $6", "tab\there", "\u202eright to left", "\x1b[31mred"]
HOSTILE += ["n" * 10_000, r"\$"]


def test_what_cannot_be_seen_is_shown_as_an_escape():
    assert _legible("a\u202eb\x1b[31mc\u200bd é 日\n") == "a\\u202eb\\x1b[31mc\\u200bd é 日\n"


@pytest.mark.slow
def test_any_id_can_be_drawn(tmp_path):
    ids = [f"{name}{n}" for n in range(2) for name in HOSTILE]
    frame = pd.DataFrame([(t, w, HOSTILE[(n + m) % 3]) for n, t in enumerate(ids) for m, w in enumerate(HOSTILE[:4])])
    frame.set_axis(["task", "worker", "label"], axis=1).to_parquet(tmp_path / "labels.parquet")
    path = tmp_path / "page.html"
    source = str(tmp_path / "labels.parquet")
    assert main(["aggregate", source, "--method", "MV-EM", "--report", str(path)]) == 0
    assert "data:image/png" in path.read_text()


def test_is_not_overwritten_unasked(tmp_path, capsys):
    path = tmp_path / "page.html"
    path.write_text("mine")
    assert main(["aggregate", "bluebird", "--report", str(path)]) == 1
    assert path.read_text() == "mine" and "exists" in capsys.readouterr().err


# ---- the last section of every report ----

TABLES = {
    "labels.csv": "task,worker,label\n"
    + "".join(f"t{n},w{m},{(n + m // 3) % 2}\n" for n in range(12) for m in range(4)),
    "votes.csv": "winner,loser\n" + "".join(f"i{a},i{(a + b) % 6}\n" for a in range(6) for b in range(1, 4)),
    "table.csv": "a,b,c\n" + "".join(f"v{n % 2},w{n % 3},{'xy'[n % 2]}\n" for n in range(60)),
    "points.csv": "a,b,c,d\n1,0,.5,.2\n0,1,.5,.8\n1,1,1,1\n",
    "texts.csv": "text\n" + "cat dog pet\nsun rain sky\n" * 9,
}
COMMANDS = {
    "aggregate": "labels.csv --method MajorityVote",
    "rank": "votes.csv",
    "joint": "table.csv --method Independence",
    "anchors": "points.csv --method SPA --anchors 2",
    "topics": "texts.csv --method SPA --anchors 2",
}


@pytest.mark.slow
def test_every_report_ends_with_its_command_the_versions_and_the_sha256_of_its_inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command, words in COMMANDS.items():
        name = words.split()[0]
        (tmp_path / name).write_text(TABLES[name])
        assert main([command, *words.split(), "--report", str(tmp_path / f"{command}.html")]) == 0
        _, heading, last = (tmp_path / f"{command}.html").read_text("utf8").partition("Command, versions and inputs")
        assert heading and "<h2>" not in last, command
        assert f"<code>cofactor {command} {words} --report {command}.html</code>" in last, command
        assert f"{name}, SHA-256 <code>{sha256((tmp_path / name).read_bytes()).hexdigest()}</code>" in last, command
        assert f"python {platform.python_version()}, cofactor {cf.__version__}, numpy {np.__version__}" in last, command


def test_the_command_of_a_report_can_be_given_to_a_shell_again(tmp_path):
    words = ["rank", str(tmp_path / "my votes.csv"), "--chance", "More trees", "Bus lane", "--user", ""]
    said = Run(words, [], []).words()
    assert shlex.split(said) == ["cofactor", "rank", "my votes.csv", "--chance", "More trees", "Bus lane", "--user", ""]


@pytest.mark.slow
def test_the_last_section_has_the_notes_and_no_folder_of_this_machine(tmp_path):
    (tmp_path / "labels.csv").write_text(
        TABLES["labels.csv"].replace("t0,w0,0", "t0,w0,Yes").replace("t1,w0,1", "t1,w0,yes")
    )
    (tmp_path / "clean.csv").write_text(TABLES["labels.csv"])
    for name, noted in (("labels", "Note: "), ("clean", "Notes: none")):
        page = tmp_path / f"{name}.html"
        words = ["--method=MajorityVote", f"--report={page}"]
        assert main(["aggregate", str(tmp_path / f"{name}.csv"), *words]) == 0
        last = page.read_text("utf8").partition("Command, versions and inputs")[2]
        said = f"cofactor aggregate {name}.csv --method=MajorityVote --report={name}.html</code>"
        assert said in last and noted in last, name
        assert ("&#39;Yes&#39; = &#39;yes&#39;" in last) == (name == "labels")
