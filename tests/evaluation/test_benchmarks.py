"""Every subject of the benchmarks runs; kept rows are whole, are what the page shows, and say if code has changed."""

import pytest

from evaluation import benchmarks, pages
from evaluation.benchmarks import Unavailable, shown
from evaluation.trials import code_hash

OPTIONAL = {"crowd-kit"}  # of the extra `bench`; choix is of `dev`


@pytest.mark.slow
def test_every_subject_runs_and_is_beside_something_else(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(benchmarks, "REPEATS", 1)
    path = tmp_path / "rows.csv"
    assert benchmarks.main(["--size", "1000", "--output", str(path)]) == 0
    rows = benchmarks.kept(path)
    told = capsys.readouterr().err
    assert set(benchmarks.SUBJECTS) - set(rows["subject"]) <= {name for name in OPTIONAL if f"!!! {name}: " in told}
    assert (rows[["seconds", "others"]] > 0).all().all() and (rows["beside"] != "").all()
    assert (rows["code"] == code_hash()).all() and rows["commit"].notna().all()
    assert rows.loc[rows["subject"] == "size", "peak_mb"].gt(50).all()


@pytest.mark.slow
def test_a_subject_measured_again_replaces_its_rows_alone(tmp_path, monkeypatch):
    def subject(name, calls):
        def rows(size):
            if size == 0:
                raise Unavailable("nothing is installed")
            yield from (benchmarks.row(f"{name} {call}", size, [1.0, 2.0, 4.0], "that", [6.0]) for call in range(calls))

        return rows

    monkeypatch.setattr(benchmarks, "SUBJECTS", {"one": subject("one", 2), "two": subject("two", 1)})
    monkeypatch.setattr(benchmarks, "commit", lambda: "54272965")  # digits alone
    path = tmp_path / "rows.csv"
    for asked in (["--size", "10"], ["two", "--size", "20"], ["one", "--size", "0"]):
        assert benchmarks.main([*asked, "--output", str(path)]) == 0
    rows = benchmarks.kept(path)
    assert rows[["call", "n"]].values.tolist() == [["one 0", 10], ["one 1", 10], ["two 0", 20]]
    first, *_ = shown(rows)
    assert first["seconds"] == "2 (1 to 4)" and first["times as fast"] == "3" and first["ns for each"] == "2e+08"


def test_seconds_count_from_the_second_call_on_and_long_calls_are_few():
    for tick, calls in ((1, 1 + benchmarks.REPEATS), (benchmarks.PATIENCE + 1, 2)):
        made, now = [], iter(range(100))
        spans = benchmarks.timed(lambda made=made: made.append(1), lambda now=now, tick=tick: tick * next(now))
        assert len(made) == calls and spans == [tick] * (calls - 1)


@pytest.mark.slow
def test_rows_of_other_code_say_so_and_the_page_shows_what_is_kept():
    rows = benchmarks.kept()
    assert set(rows["subject"]) <= set(benchmarks.SUBJECTS)
    assert rows[["commit", "code"]].notna().all().all() and not rows.duplicated(["subject", "call", "beside"]).any()
    text = (pages.DOCS / "benchmarks.md").read_text(encoding="utf8")
    assert text == pages.written(text, pages.PAGES["benchmarks.md"]), "python -m evaluation pages"
    old = [row["commit"].endswith(", measured on older code") for row in shown(rows, code_hash())]
    assert old == (rows["code"] != code_hash()).tolist()
    if any(old):
        pytest.skip(f"measured on older code: {sum(old)} of {len(old)} rows; python3 kit.py bench measures them again")
