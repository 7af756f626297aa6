"""The page that aggregates labels in a browser: results of Python, words of the command line, and nothing leaves it."""

import base64
import json
import re
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

import cofactor as cf
from cofactor import simulate
from cofactor.crowd.bootstrap import estimated_accuracy
from cofactor.crowd.near_copies import near_copies
from cofactor.crowd.order import suggested_order
from cofactor.crowd.readings import readings
from cofactor.crowd.workers import NO_INFORMATION, agreement_with_others, without_information
from cofactor_app.cli import facts, grades, in_options, main, page, visible

pytestmark = pytest.mark.browser

SAME = 1e-9
SHOWN_SECONDS = 120
NEAR = "who answer nearly alike"
COMMON = "no task|workers (with|who)|labels that|tied|readings|how reliable|(most|least) reliable"  # lines of both
STOPS = 100  # looks until work that was stopped has ended
PUBLIC = ("rte", "dog", "web", "weather_cf", "zencrowd_in", "face_sentiment", "music_genre", "product", "trec")
GOOD = "task,worker,label\na,w1,yes\na,w2,yes\na,w3,no\nb,w1,no\nb,w2,no\nb,w3,no\n"
FOUND = """() => {
    const names = ["posterior", "predicted", "accuracy", "agreement", "owner"];
    const arrays = [...names.map(name => [name, [...result[name]]]), ["disputed", [...result.disputed].map(Boolean)]];
    return {...result, ...Object.fromEntries(arrays)};
}"""
IN_BACKGROUND = """([bytes, conflicts, ignore]) => new Promise(resolve => {
    const columns = ["task", "worker", "label"], encoding = "utf-8";
    const options = {columns, conflicts, ignore, encoding, name: "bad.csv"};
    const worker = new Worker(source);
    worker.onmessage = ({data}) => {
        if (data.progress) return;
        worker.terminate();
        resolve([data.notes, data.refused ?? null]);
    };
    worker.postMessage({bytes: Uint8Array.from(atob(bytes), letter => letter.charCodeAt(0)), ...options});
})"""
BY_WORKER = """code => new Promise(resolve => {
    const worker = new Worker(URL.createObjectURL(new Blob([`${code}.then(postMessage)`])));
    worker.onmessage = ({data}) => resolve(data);
})"""
MESSY = {  # what a command that refuses or notes something says of it, the page says too
    "nothing in it": b"",
    "blank lines only": b"\n\n",
    "header only": b"task,worker,label\n",
    "no task": b"thing,worker,label\n1,a,x\n",
    "nothing known, quoted": b'"task,worker,label"\n1\n',
    "two columns of one name": b"task,worker,label, label\n1,a,x,y\n",
    "column without a name": b",worker,label\n1,a,x\n",
    "empty cells": b"task,worker,label\n1,a,x\n,a,y\n  ,b,y\n\n3,,y\n",
    "labels that are none": b"task;worker;label\n1;a;NaN\n1;b;\n2;a;None\n3;a;x\n",
    "many empty cells": b"task,worker,label\n" + b"1,,x\n" * 30,
    "short rows": b"task,worker,label\n1,a,x\n2,b\n3\n",
    "long rows": b"task,worker,label\n1,a,x\n2,b,y,z\n3,b,very, very good\n",
    "long rows of tabs": b"\n\r\ntask\tworker\tlabel\n1\ta\tx\ty\n",
    "quote that is not closed": b'task,worker,label\n1,a,x\n2,b,"y\n3,c,z\n',
    "one class": b"task,worker,label\n1,a,x\n2,b,x\n",
    "conflicts": "task,worker,label\n1,a,x\n1,a,y\nit's,b\té,x\nit's,b\té,y\n".encode(),
    "conflicts of numbers": b"task,worker,label\n1,7,x\n1,7,y\n2,7,x\n",
    "ids that look alike": "task,worker,label\n1,a,x\n01,\u0430,y\n2,a\u200b,x\nt,é,x\nT,e\u0301,y\n".encode(),
    "given again, alike": "task,worker,label\n1,a,Straße\n1,a,Straße\n2,a,STRASSE\n3,b,1.0\n3,c,1\n".encode(),
    "numbers that look alike": (
        "task,worker,label\n1_0,+inf,x\n10.0,inf,y\n٣,-inf,x\n03,+nan,y\n1__0,nan,x\n1,infinity,y\n".encode()
    ),
    "no answers": "task,worker,label\n1,a,x\n1,b,Unsure\n2,a,don’t  know\n2,b,don't know\n".encode(),
    "ids that a spreadsheet has cut": b"task,worker,label\n1.23E+11,a,x\n1.24E+11,a,y\n1,1E+15,y\n",
    "several answers": b"task,worker,label\n1,a,x\n1,b,y\n2,a,x | y\n",
    "JSON": ("task,worker,label\n1,a,['%s']\n2,a,x\n" % ("\U0001d4b3" * 60)).encode(),
    "fractions": b"task,worker,label\n1,a,2.0\n1,b,+1.5\n2,a,7\n",
    "free text": b"task,worker,label\n" + b"".join(b"%d,a,it's word %d\n" % (n, n) for n in range(12)),
    "no fractions, but free text": b"task,worker,label\n" + b"".join(b"%d,a,%d.0\n" % (n, n) for n in range(12)),
    "paths": b"task,worker,label\n1,a,animal/cat\n2,a,animal\n3,a,animal/dog/\n",
    "paths of animals alone": b"task,worker,label\n1,a,animal::cat\n2,a,animal\n3,a,animal::dog\n",
    "orders": b"task,worker,label\n1,a,x>y> z\n2,a,z>y>x\n3,a,y>x>z\n",
    "a column that says how sure an answer is": b"Confidence,task,worker,label\n.5,1,a,x\n.6,1,b,y\n",
    "more columns than are read": (",".join(map(str, range(5000))) + ",task,worker,label\n").encode(),
    "Latin-1": "task,worker,label\n1,a,café\n".encode("latin-1"),
    "UTF-16": GOOD.encode("utf-16"),
    "packed": b"\x1f\x8b\x08\x00",
    "spreadsheet": b"PK\x03\x04rest",
}
READABLE = {
    "semicolons, BOM, CRLF": ("\ufeff" + GOOD.replace(",", ";").replace("\n", "\r\n")).encode(),
    "tabs and quotes": b'Task\tWORKER\tlabel \n1\ta\t"say ""x"""\n1\tb\t"y\tz"\n2\ta\t"two\nlines"\n',
    "order of ids": "task,worker,label\n10,z,𝒳\n9,Z,\uffee\n-1,é,b\n0,e,C\n".encode(),
    "numbers as text": b"task,worker,label\n10,01,1.0\n9,1,2\n010,1,10\n",
    "long numbers": b"task,worker,label\n99999999999999999,1,x\n100000000000000000,1,y\n99999999999999998,1,y\n",
    "bars, blank rows, blanks around": b"task | worker | label\n\n1 | a | x\n||\n 2|a|y \n",
}
HOSTILE = (
    'task,worker,label\n=1+1,<b>w</b>,@x\n=1+1,w2,@x\n"a,""b""",w2,-1\n"<img src=x onerror=alert(1)>",w2,-1\n'
    '-5,w2,@x\n+5e3,w2,@x\n"two\nlines",w2,"=cmd|\' /C calc\'!A0"\n</script><script>alert(1)</script>,w2,-1\n'
    "\uff1d1+1,w2,@x\n\uff20b,w2,@x\n"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page as a file: its address."""
    path = tmp_path_factory.mktemp("page") / "aggregate.html"
    path.write_text(page.html(), encoding="utf8")
    return path.as_uri()


@pytest.fixture
def tab(chromium, address):
    """Yield the page in a tab of its own; it must load, and fail nowhere."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(SHOWN_SECONDS * 1000)
    tab, wrong = context.new_page(), []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.goto(address)
    yield tab
    context.close()
    assert not wrong


def aggregate(tab, content, name="labels.csv"):
    """Give the page a file, and wait for what it says."""
    tab.set_input_files("#file", {"name": name, "mimeType": "text/csv", "buffer": content})
    tab.wait_for_selector("#working", state="hidden")


def csv_of(labels):
    return labels.to_frame().to_csv(index=False).encode()


def test_bundled_labels_and_probabilities_are_those_of_python(tab):
    compare(tab, cf.load("bluebird").labels, "bluebird")


@pytest.mark.needs_mirror
def test_labels_and_probabilities_of_public_sets_are_those_of_python(tab):
    for name in PUBLIC:
        compare(tab, cf.load(name).labels, name)


def crowds(seed):
    """Draw crowds, each of which takes a way of its own through the method: (N, M) codes, -1 where there is none."""
    rng = np.random.default_rng(seed)
    truth, (N, M, K) = rng.integers(4, size=300), (300, 10, 4)
    right = np.where(rng.random((N, M)) < 0.75, truth[:, None], rng.integers(K, size=(N, M)))
    own = np.where(
        right == truth[:, None], right, np.stack([rng.permutation(K) for _ in range(M)])[np.arange(M), truth[:, None]]
    )
    some = rng.random((N, M)) < 0.4
    alone = np.arange(M) == rng.integers(M, size=(N, 1))
    edge, guesses = 5 + np.arange(20) // 2, np.repeat(rng.integers(K, size=(40, 10)), 2, axis=1)  # tasks of each pair
    many = np.where(rng.random((N, M)) < 0.6, np.arange(N)[:, None] % 60, rng.integers(60, size=(N, M)))
    return {
        "errors of one's own": own,
        "few labels": np.where(some | alone, right, -1),
        "constant workers and copies": np.hstack([right[:, :5], right[:, :1], right[:, :1], np.zeros((N, 2), int)]),
        "a label of one copy only": np.where(some | alone, np.hstack([right[:, :5], right[:, :5]]), -1),
        "one label a task": np.where(alone, right, -1),
        "two workers": right[:, :2],
        "two workers, one of them constant": np.hstack([right[:, :1], np.zeros((N, 1), int)]),
        "copies on the edge of what chance explains": np.where(np.arange(40)[:, None] < edge, guesses, -1),
        "tasks of more than 20 labels": np.tile(truth, (25, 1)).T % 2 ^ (rng.random((N, 25)) < 0.4),
        "more than 50 classes": many,
        "copies with slips": np.where(rng.random((N, M)) < 0.02, 0, right[:, [0, 0, 1, 1, 1, 2, 3, 4, 5, 6]]),
    }


@pytest.mark.parametrize("seed", [0, 1])
def test_labels_and_probabilities_of_drawn_crowds_are_those_of_python(tab, seed):
    ways = set()
    for case, codes in crowds(seed).items():
        task, worker = np.nonzero(codes >= 0)
        labels = cf.CrowdLabels.from_arrays(task, worker, codes[task, worker])
        method = compare(tab, labels, case)
        assert bool(near_copies(method, labels)) == (case == "copies with slips"), case
        ways |= {method.types_, bool(method.copies_), bool(without_information(method).any())}
    assert {(), ("coin", "class", "none"), ("coin", "class", "own", "none"), True, False} <= ways


def asked_often(labels, seed):
    """Return a table in which workers are asked up to five times, and answer now and then something else, or unsure."""
    rng, frame = np.random.default_rng(seed), labels.whole.to_frame().astype(str)
    rows = frame.iloc[np.repeat(np.arange(len(frame)), rng.choice([1, 1, 2, 3, 5], len(frame)))].copy()
    rows["label"] = rows["label"].where(rng.random(len(rows)) < 0.8, rng.permutation(rows["label"]))
    rows["label"] = rows["label"].where(rng.random(len(rows)) < 0.95, rng.choice(["unsure", "Skip "], len(rows)))
    return rows.sample(frac=1, random_state=seed)


def test_several_answers_of_a_worker_and_answers_that_are_none_count_as_in_python(tab):
    tab.click("#settings summary")
    tab.select_option("#conflicts", "all")
    tab.fill("#ignore", "unsure, skip")
    many = {f"{case}, {seed}": codes for seed in (0, 1) for case, codes in crowds(seed).items()}
    for seed, (case, codes) in enumerate(many.items()):
        task, worker = np.nonzero(codes >= 0)
        frame = asked_often(cf.CrowdLabels.from_arrays(task, worker, codes[task, worker]), seed)
        labels = read(frame, conflicts="all", ignore=["unsure", "skip"])
        assert labels.table.shared and labels.n_labels > len(task)
        compare(tab, labels, case, frame.to_csv(index=False).encode())


def test_classes_that_may_be_grades_are_named_with_the_command_that_reads_them(tab):
    words = ["very good", "Good", "fair", "bad", "very_bad"]
    names = {4: "0123", 5: words, 9: ["-2.0", "-1", "0", "3", "4.0", "5", "6", "7", "1E1"], 3: "abc"}
    crowds = [simulate.grader_crowd(150, 10, K, random_state=seed).labels for K in names for seed in (0, 1)]
    crowds += [simulate.grader_crowd(100, 8, 5, random_state=2).labels]
    flat = [simulate.dawid_skene_model(10, 5, skill=0.5, random_state=seed) for seed in range(6)]
    crowds += [simulate.crowd(model, 200, 0.5, seed).labels for seed, model in enumerate(flat)]
    found = []
    for case, labels in enumerate(crowds):
        own = names[labels.n_classes] if case % 2 else [3, 0, 1, 4, 2, *range(5, labels.n_classes)][: labels.n_classes]
        frame = labels.to_frame()
        frame["label"] = [own[k] for k in frame["label"]]
        again = read(frame)
        aggregate(tab, csv_of(again))
        told, order = tab.inner_text("#facts"), suggested_order(again)
        assert ("may be grades" in told) == (order is not None), case
        assert order is None or grades.suggestion(order).split("; if")[0] in told, case
        assert order is None or grades.suggestion(order).split(": ")[-1] in told, case
        found.append(order)
    assert {len(order) for order in found if order} == {4, 5, 9} and found.count(None) > 5


def read(frame, **options):
    """Read a table of text as a file is read."""
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        frame.to_csv(file.name, index=False)
        return cf.CrowdLabels.from_file(file.name, **options)


def compare(tab, labels, case, content=None):
    aggregate(tab, csv_of(labels) if content is None else content)
    found, method = tab.evaluate(FOUND), page.METHOD().fit(labels)
    posterior = method.predict_proba(labels)
    for ids in ("tasks", "workers", "classes"):
        assert found[ids] == list(map(str, getattr(labels, ids))), case
    assert (found["types"], found["rounds"]) == (list(method.types_), method.result_.n_iter), case
    groups = [[w for w, owner in enumerate(found["owner"]) if owner == u] for u in sorted(set(found["owner"]))]
    assert [[labels.workers[w] for w in group] for group in groups if len(group) > 1] == method.copies_, case
    values = {"posterior": posterior.ravel(), "accuracy": estimated_accuracy(method, labels)}
    values |= {"agreement": agreement_with_others(labels), "effect": method.design_effect_}
    for name, expected in values.items():
        np.testing.assert_allclose(np.array(found[name], dtype=float), expected, rtol=0, atol=SAME, err_msg=case)
    marks = {"predicted": method.predict(labels), "disputed": method.disagreement(labels)}
    for name, expected in (marks | {"none": without_information(method)}).items():
        assert found[name] == expected.tolist(), (case, name)
    for u, v, s, n in near_copies(method, labels):
        remarks = [found["remarks"][labels.workers.index(worker)] for worker in (u, v)]
        told = (f"answers nearly as {other}: {s} of {n} labels are the same" for other in (v, u))
        assert all(words in remark for words, remark in zip(told, remarks, strict=True)), case
    compare_words(tab, labels, method, posterior, case)
    return method


def compare_words(tab, labels, method, posterior, case):
    seen = readings(labels.whole, method) if method.types_ else None
    told = facts.warnings_of(page.METHOD.__name__, posterior, labels, None, seen)
    lines = facts.summary("", page.METHOD.__name__, method, posterior, labels, None, seen)
    told += [line for line in lines if re.match(COMMON, line)]
    said = tab.inner_text("#said") + tab.inner_text("#facts")
    assert (NEAR in said) == any(NEAR in line for line in told), case
    lacking = [line for line in told if visible(line).split(": check")[0] not in said]
    assert len(told) >= 2 and not lacking, (case, said)


@pytest.mark.parametrize(("conflicts", "ignore"), [("error", []), ("last", ["unsure", "X"]), ("all", ["x", "y"])])
def test_bad_input_is_told_in_the_words_of_the_command_line(tab, tmp_path, monkeypatch, capsys, conflicts, ignore):
    monkeypatch.chdir(tmp_path)
    for case, content in MESSY.items():
        (tmp_path / "bad.csv").write_bytes(content)
        code = main(["aggregate", "bad.csv", "--conflicts", conflicts, "--ignore", ",".join(ignore)])
        told = [line for line in capsys.readouterr().err.splitlines() if line.startswith(("error: ", "note: "))]
        notes, refused = tab.evaluate(IN_BACKGROUND, [base64.b64encode(content).decode(), conflicts, ignore])
        ours = [f"note: {note}" for note in notes] + ([] if refused is None else [f"error: {refused}"])
        assert [visible(in_options(line)) for line in ours] == told, case
        assert code == (refused is not None), case


def test_advice_names_what_the_page_has(tab):
    for case, content in MESSY.items():
        aggregate(tab, content)
        said = tab.inner_text("#said")
        foreign = r"\w='|call it|undefined|--ignore|classes=|alikes \(|look-alikes|declare"
        assert said.strip() and not re.search(foreign, said), case


@pytest.mark.filterwarnings("ignore:.*look alike:cofactor.DataWarning")
def test_forms_of_text_are_read_as_by_python(tab, tmp_path):
    for case, content in READABLE.items():
        (tmp_path / "labels.csv").write_bytes(content)
        labels = cf.CrowdLabels.from_file(tmp_path / "labels.csv")
        aggregate(tab, content)
        found = tab.evaluate(FOUND)
        for ids in ("tasks", "workers", "classes"):
            assert found[ids] == list(map(str, getattr(labels, ids))), case
        assert found["labels"] == labels.n_labels, case


def test_other_columns_and_the_last_of_two_labels(tab):
    aggregate(tab, b"thing,worker,label\n1,a,x\n1,a,y\n2,a,x\n")
    assert "“thing” as the task column" in tab.inner_text("#said")
    tab.fill("#task", "thing")
    tab.click("#again")
    tab.wait_for_selector("#said :text('conflicting labels')")
    tab.select_option("#conflicts", "last")
    tab.click("#again")
    tab.wait_for_selector("#result:not([hidden])")
    assert tab.evaluate("result.tasks.map((task, i) => result.classes[result.vote[i]])") == ["y", "x"]


def test_other_encodings_are_read_as_by_python_once_they_are_chosen(tab, tmp_path):
    tab.click("#settings summary")
    for encoding, text in {"windows-1252": "“à” – 5 €", "utf-16": "ſ𝒳", "koi8-r": "да", "shift-jis": "はい"}.items():
        content = f"task,worker,label\n1,a,{text}\n1,b,no\n".encode(encoding)
        (tmp_path / "labels.csv").write_bytes(content)
        tab.select_option("#encoding", "utf-8")
        aggregate(tab, content)
        assert "choose its encoding (under “Settings”)" in tab.inner_text("#said"), encoding
        tab.select_option("#encoding", encoding)
        tab.click("#again")
        tab.wait_for_selector("#result:not([hidden])")
        labels = cf.CrowdLabels.from_file(tmp_path / "labels.csv", encoding=encoding)
        assert tab.evaluate("result.classes") == labels.classes, encoding
    tab.click("#paste summary")
    tab.fill("#text", GOOD.replace("yes", "да"))
    tab.click("#use")
    tab.wait_for_selector("#result:not([hidden])")
    assert tab.evaluate("result.classes") == ["no", "да"]


def test_names_that_look_alike_become_one_where_that_is_asked(tab, tmp_path):
    content = b"task,worker,label\n1,a,yes\n1,b,Yes\n2,A,YES\n2,b,no\n3,a,Yes\n3,B,n\xc3\xb3\n"
    (tmp_path / "labels.csv").write_bytes(content)
    aggregate(tab, content)
    assert "they can be made one (under “Settings”)" in tab.inner_text("#said")
    tab.click("#settings summary")
    tab.check("#merge")
    tab.click("#again")
    tab.wait_for_selector("#result:not([hidden])")
    labels = cf.CrowdLabels.from_file(tmp_path / "labels.csv", merge_look_alikes=True)
    assert tab.evaluate("[result.workers, result.classes]") == [labels.workers, labels.classes]
    assert tab.inner_text("#said") == ""


def test_all_tasks_are_listed_where_none_is_doubtful(tab):
    aggregate(tab, GOOD.encode())
    assert tab.locator("#tasks td:nth-child(1)").all_inner_texts() == ["a", "b"]


def test_long_names_are_cut_with_the_whole_in_a_title(tab):
    name = "\u05e9" + "n" * 3000
    aggregate(tab, GOOD.replace("b,", f"{name},").encode())
    cells = tab.eval_on_selector_all("#tasks td:first-child", "all => all.map(td => [td.textContent, td.title])")
    assert sorted(cells) == [["a", ""], [f"{name[:40]}... (3001 characters)", name]]
    tab.set_viewport_size({"width": 400, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert name in tab.evaluate("savedTable(result, false).text")


def test_columns_are_found_under_their_usual_names(tab):
    aggregate(tab, GOOD.replace("task,worker,label", "Item ID,rater,answer").encode())
    said = tab.inner_text("#said")
    assert "task from Item ID, worker from rater, label from answer; other ones can be named (under “Settings”)" in said
    assert tab.evaluate("result.tasks") == ["a", "b"]


@pytest.mark.parametrize("raw", [False, True])
def test_saved_file_is_that_of_the_command_line_and_ids_stay_text(tab, tmp_path, raw):
    labels, expected, saved = tmp_path / "labels.csv", tmp_path / "expected.csv", tmp_path / "saved.csv"
    labels.write_text(HOSTILE, encoding="utf8")
    assert main(["aggregate", str(labels), "-o", str(expected), *["--raw-cells"] * raw]) == 0
    aggregate(tab, HOSTILE.encode())
    tab.set_checked("#raw", raw)
    with tab.expect_download() as download:
        tab.click("#save")
    download.value.save_as(saved)
    assert saved.read_bytes() == expected.read_bytes()
    tab.select_option("#which", "all")
    shown = tab.inner_text("#tasks") + tab.inner_text("#workers")
    assert "<img src=x onerror=alert(1)>" in shown and "<b>w</b>" in shown and "</script>" in shown
    assert tab.locator("main img, main b:not(#counts b), main script").count() == 0


class Counting(BaseHTTPRequestHandler):
    """Counts who calls."""

    calls = 0

    def do_GET(self):
        Counting.calls += 1
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def test_nothing_is_sent_and_nothing_can_be(tab):
    asked, server = [], HTTPServer(("127.0.0.1", 0), Counting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tab.on("request", lambda request: asked.append(request.url))
    aggregate(tab, GOOD.encode())
    assert asked and all(url.startswith("blob:") for url in asked)
    there = f"http://127.0.0.1:{server.server_port}/"
    tried = f"fetch('{there}').then(() => 'sent', () => 'refused')"
    assert [tab.evaluate(tried), tab.evaluate(BY_WORKER, tried)] == ["refused", "refused"]
    tab.evaluate("url => new Promise(r => { const i = new Image(); i.onload = i.onerror = r; i.src = url; })", there)
    server.shutdown()
    server.server_close()
    assert Counting.calls == 0


def test_the_page_stays_alive_and_a_run_can_be_stopped(tab):
    rows = "\n".join(f"{n % 40000},{n // 40000},{'xyz'[(n * n + n // 7) % 3]}" for n in range(400_000))
    large = f"task,worker,label\n{rows}\n".encode()
    tab.set_input_files("#file", {"name": "large.csv", "mimeType": "text/csv", "buffer": large})
    tab.wait_for_selector("#progress:text-matches('reading|round')")
    tab.click("#stop")
    assert tab.is_hidden("#working") and tab.is_hidden("#result")
    for _ in range(STOPS):
        if tab.workers:
            tab.wait_for_timeout(50)  # the browser ends the work in its own time
    assert not tab.workers
    aggregate(tab, GOOD.encode())
    assert tab.inner_text("#counts").split() == ["2", "tasks", "3", "workers", "2", "classes", "6", "labels"]


def test_keys_alone_lead_to_a_result(tab):
    seen = []
    for _ in range(4):
        tab.keyboard.press("Tab")
        seen.append(tab.evaluate("document.activeElement.id || document.activeElement.textContent"))
        if seen[-1].startswith("Paste"):
            tab.keyboard.press("Enter")
    assert seen == ["file", "Paste labels, or look at an example", "text", "use"]
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#result:not([hidden])")
    assert tab.evaluate("document.activeElement.id") == "found"


def test_a_telephone_shows_it_in_its_width(tab):
    tab.set_viewport_size({"width": 400, "height": 800})
    aggregate(tab, csv_of(cf.load("bluebird").labels))
    tab.click("#paste summary")
    tab.click("#settings summary")
    assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def test_doubtful_and_overruled_tasks_are_listed_in_order(tab):
    labels = cf.load("bluebird").labels
    aggregate(tab, csv_of(labels))
    method = page.METHOD().fit(labels)
    sure = method.predict_proba(labels).max(axis=1)
    while tab.is_visible("#more-tasks"):
        tab.click("#more-tasks")
    shown = [float(cell) for cell in tab.locator("#tasks td:nth-child(3)").all_inner_texts()]
    assert shown == pytest.approx(np.sort(sure[sure < 0.9]), abs=6e-4)
    tab.select_option("#which", "overruled")
    rows = [json.loads(f"[{','.join(cells)}]") for cells in tab.locator("#tasks tbody tr").evaluate_all(
        "rows => rows.map(row => [row.cells[1], row.cells[3], row.cells[2]].map(cell => cell.textContent))"
    )]  # fmt: skip
    assert rows and all(label != vote for label, vote, _ in rows)
    assert [p for *_, p in rows] == sorted((p for *_, p in rows), reverse=True)
    tab.select_option("#which", "disputed")
    listed = tab.locator("#tasks td:nth-child(1)").all_inner_texts()
    assert 1 <= len(listed) < 20 and sorted(map(int, listed)) == np.flatnonzero(method.disagreement(labels)).tolist()
    assert set(tab.locator("#tasks td:nth-child(7)").all_inner_texts()) == {"disputed"}


def test_who_says_nothing_and_who_are_one_is_named_beside_them(tab):
    codes = crowds(0)["constant workers and copies"]
    task, worker = np.nonzero(codes >= 0)
    aggregate(tab, csv_of(cf.CrowdLabels.from_arrays(task, worker, codes[task, worker])))
    rows = tab.locator("#workers tbody tr").evaluate_all(
        "rows => rows.map(r => [r.cells[0], r.cells[4]].map(c => c.innerText))"
    )
    one = {"0": "5, 6", "5": "0, 6", "6": "0, 5", "7": "8", "8": "7"}
    expected = {w: f"counts as one with {others}" for w, others in one.items()}
    expected |= {w: f"{NO_INFORMATION}; {expected[w]}" for w in "78"}
    assert dict(rows) == {str(w): expected.get(str(w), "") for w in range(9)}


def test_one_label_a_task_leaves_the_workers_unknown(tab):
    aggregate(tab, b"task,worker,label\n1,a,x\n2,a,y\n3,b,x\n")
    assert tab.locator("#workers td:nth-child(3)").all_inner_texts() == ["not known"] * 2
    assert facts.NOTHING_KNOWN in tab.inner_text("#facts") and "0.800" in tab.inner_text("#tasks")
