"""The registered sets: what the registry, the cards, the files and the published statistics say of each agrees."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.core.errors import CofactorError, DatasetUnavailableError
from cofactor.crowd.labels import vote_shares
from cofactor.crowd.scores import error_rate
from cofactor.data import DATASETS_DIR, fetch, storage, verify
from cofactor.data.registry import NUMBER, entries
from cofactor.separable.least_squares import simplex_least_squares
from tests.each import each
from tools import simulated_sets

TWICE = ["bluebird", "dog", "rte", "trec", "web"]  # two repositories carry them
REAL = [*TWICE, "labelme"]
# tasks, workers, classes, labels, accuracy of the majority vote with ties split: counted from the files by other code
BENCHMARK = {
    "weather_cf": (300, 461, 5, 1720, 0.8822),
    "weather_amt": (300, 110, 5, 6025, 0.8533),
    "music_genre": (700, 44, 10, 2945, 0.7042),
    "sentiment_polarity": (4999, 203, 2, 27746, 0.8859),
    "sentiment_polarity_amt": (500, 143, 2, 10000, 0.943),
    "zencrowd_all": (2040, 78, 2, 20125, 0.8297),
    "zencrowd_in": (2040, 25, 2, 10495, 0.7397),
    "zencrowd_us": (2040, 74, 2, 11155, 0.862),
    "product": (8315, 176, 2, 24945, 0.8966),
    "sentiment_1k": (1000, 85, 2, 20000, 0.9335),
    "face_sentiment": (584, 27, 4, 5242, 0.6367),
    "adult_content": (11040, 825, 4, 89799, 0.7583),
}
TABLES = {
    "car": "uci_car",
    "connect4": "uci_connect4",
    "credit": "uci_credit_australian",
    "credit_approval": "uci_credit_approval",
    "votes": "uci_votes",
    "nursery": "uci_nursery",
    "mushroom": "uci_mushroom",
    "adult": "uci_adult",
}
BUNDLED_TABLES = [name for name in TABLES if name not in ("connect4", "adult")]
RATINGS = {"movielens_small": "movielens_latest_small"}
TOPICS = ["tdt2", "reuters21578"]
GRAPHS = [f"dblp{i}" for i in range(1, 6)]
COMPARISONS = ["food", "cars1", "cars2", "colors"]
KINDS = dict.fromkeys([*REAL, *BENCHMARK, "digits"], "crowd") | dict.fromkeys(TABLES, "table")
KINDS |= dict.fromkeys(RATINGS, "ratings") | dict.fromkeys(TOPICS, "topics") | dict.fromkeys(GRAPHS, "graph")
KINDS |= dict.fromkeys(COMPARISONS, "comparisons")  # of sets that tests name
ALL = list(entries())
ROLES = {
    "crowd": {"labels", "truth"},
    "table": {"table"},
    "ratings": {"ratings", "movies", "readme"},
    "topics": {"documents"},
    "graph": {"edges", "memberships"},
    "comparisons": {"comparisons"},
    "spectra": {"spectra", "materials"},
    "texts": {"texts", "lists"},
}
UNCLEAR = {"movielens_small": "under its own terms only"}
BUNDLED = DATASETS_DIR / "bundled"


def mirror_path(*parts):
    return Path(os.environ["COFACTOR_MIRROR"]).parent.joinpath(*parts)


def manifest(name):
    return json.loads(mirror_path("manifest.json").read_text(encoding="utf8"))["sets"][name]


def codes(labels):
    table = labels.table
    return pd.DataFrame({"task": table.rows, "worker": table.variables, "label": table.values})


# ---- against the statistics and files of whoever prepared the mirror ----


@pytest.mark.slow
@pytest.mark.needs_mirror
@each("name", REAL)
def test_labels_and_truth_are_exactly_the_expected_ones(name):
    data = cf.load(name)
    expected = pd.read_csv(mirror_path("expected", f"{name}_labels.csv.gz")).sort_values(["task", "worker"])
    pd.testing.assert_frame_equal(codes(data.labels), expected.reset_index(drop=True), check_dtype=False)
    truth = pd.read_csv(mirror_path("expected", f"{name}_truth.csv.gz"))
    known = np.flatnonzero(data.truth >= 0)
    assert np.array_equal(known, np.sort(truth.task))
    assert np.array_equal(data.truth[truth.task], truth.truth)


@pytest.mark.slow
@pytest.mark.needs_mirror
@each("name", BENCHMARK)
def test_benchmark_crowds_have_the_expected_size_and_vote(name):
    data, (n_tasks, n_workers, n_classes, n_labels, accuracy) = cf.load(name), BENCHMARK[name]
    labels = data.labels
    assert (labels.n_tasks, labels.n_workers, labels.n_classes) == (n_tasks, n_workers, n_classes)
    assert labels.n_labels == n_labels and labels.votes.sum(axis=1).min() > 0
    assert np.sum(data.truth >= 0) == manifest(name)["counts"]["n_truth"]
    assert round(1 - error_rate(vote_shares(labels), data.truth), 4) == accuracy


@pytest.mark.slow
@pytest.mark.needs_mirror
@each("name", BENCHMARK)
def test_of_labels_given_again_the_last_one_is_loaded(name):
    rows = pd.read_csv(mirror_path("raw", entries()[name].copies("labels")[0].name))
    assert len(rows) == manifest(name)["counts"]["n_rows"]
    last = rows.drop_duplicates(["item", "worker"], keep="last").sort_values(["item", "worker"])
    expected = last.rename(columns={"item": "task"}).reset_index(drop=True)
    pd.testing.assert_frame_equal(codes(cf.load(name).labels), expected, check_dtype=False)


@pytest.mark.needs_mirror
def test_dog_with_the_busiest_workers_of_the_paper():
    data, paper = cf.load("dog"), manifest("dog")["paper_check"]
    labels = data.labels.busiest_workers(52)
    assert labels.workers == paper["workers_top52_0based"]
    assert labels.n_labels == paper["labels_kept"]
    # manifest.json, dog, paper_check.majority_vote: 17.906 %, in the paper 17.91
    assert 100 * error_rate(vote_shares(labels), data.truth) == pytest.approx(17.906, abs=5e-4)


@pytest.mark.slow
@pytest.mark.needs_mirror
@each("name", [*REAL, *BENCHMARK, *TABLES, *RATINGS, *TOPICS, *GRAPHS])
def test_registry_pins_what_the_manifest_says(name):
    listed = manifest((TABLES | RATINGS).get(name, name))["raw"]
    raw = {(r["mirror"], r["url"], r["sha256"], r["bytes"]) for r in listed}
    assert {(f.name, f.url, f.sha256, f.bytes) for f in entries()[name].files if f.url} == raw


@pytest.mark.slow
@pytest.mark.needs_mirror
@each("name", TWICE)
def test_every_copy_reads_as_the_same_set(name):
    first = cf.load(name)
    for source in ("shahanaibrahimosu", "zhangyuc"):
        again = loaded_from(source, name)
        pd.testing.assert_frame_equal(codes(again.labels), codes(first.labels))
        assert np.array_equal(again.truth, first.truth)


def loaded_from(source, name):
    """A data set from the copies of one source alone, whatever is at hand."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage, "_status", lambda file: "absent")
        patch.setattr("cofactor.data.registry.Entry.copies", copies_from(source))
        return cf.load(name)


def copies_from(source):
    return lambda entry, role: [f for f in entry.files if f.role == role and f.name.startswith(source)]


@pytest.mark.needs_mirror
def test_labelme_has_the_expected_features_and_further_items():
    data, expected = cf.load("labelme"), np.load(mirror_path("expected", "labelme_features.npz"))
    for part, items in (("valid", data.valid), ("test", data.test)):
        assert np.array_equal(items.features, expected[f"X_{part}"])
        assert np.array_equal(items.truth, expected[f"y_{part}"])
    assert np.array_equal(data.features, expected["X_train"])
    assert np.array_equal(data.truth, expected["y_train"])
    assert data.labels.classes == list(range(8))


@pytest.mark.slow
@pytest.mark.needs_mirror
@each("name", TABLES)
def test_tables_are_exactly_the_expected_ones(name):
    data = cf.load(name)
    expected = pd.read_csv(mirror_path("expected", f"{TABLES[name]}.csv.gz"), dtype=str, keep_default_na=False)
    assert data.columns == list(expected.columns)
    for n, column in enumerate(data.columns):
        spelling = np.array([*data.values[n], "?"])  # the code of a missing value is -1
        assert np.array_equal(spelling[data.codes[:, n]], expected[column])
    counts = pd.Series(np.array(data.classes)[data.target]).value_counts()
    assert counts.to_dict() == manifest(TABLES[name])["stats"]["target_counts"]


@pytest.mark.slow
@pytest.mark.needs_mirror
@each("name", BUNDLED_TABLES)
def test_the_upstream_copy_of_a_bundled_table_reads_as_the_same(name):
    bundled, upstream = cf.load(name), loaded_from("shahanaibrahimosu", name)
    assert np.array_equal(upstream.codes, bundled.codes) and upstream.values == bundled.values


@pytest.mark.slow
@pytest.mark.needs_mirror
@each("name", ["connect4", "adult"])
def test_downloaded_tables_are_what_the_registry_says(name):
    check_table(name)


@pytest.mark.slow
@each("name", BUNDLED_TABLES)
def test_bundled_tables_need_no_network_and_are_what_the_registry_says(name, data):
    check_table(name)
    assert not data.exists()


def check_table(name):
    data, entry = cf.load(name), entries()[name]
    assert data.codes.shape == (entry.n_rows, len(entry.columns))
    assert data.classes == entry.classes == entry.columns[entry.target]
    assert data.numeric == [values == NUMBER for values in entry.columns.values()]
    assert data.table.n_rows == entry.n_rows and data.table.n_entries == np.sum(data.codes >= 0)
    assert data.table.sizes.tolist() == [len(values) for values in data.values]


def test_features_of_a_table_are_numbers_and_codes_without_the_class():
    car, credit, gaps = (cf.load(name) for name in ("car", "credit", "credit_approval"))
    assert np.array_equal(car.features, car.codes[:, :-1])
    # the first line of the file: 1 22.08 11.46 2 4 4 1.585 0 0 0 1 2 100 1213 0
    assert credit.features[0].tolist() == [1, 22.08, 11.46, 1, 3, 3, 1.585, 0, 0, 0, 1, 1, 100, 1213]
    assert np.array_equal(np.isnan(gaps.features), gaps.codes[:, :-1] < 0)
    # manifest.json, uci_credit_approval, stats.rows_with_missing
    assert np.sum(np.isnan(gaps.features).any(axis=1)) == 37


def test_votes_and_mushroom_miss_what_the_manifest_says():
    """manifest.json: stats.rows_with_missing of uci_votes and uci_mushroom."""
    votes, mushroom = cf.load("votes"), cf.load("mushroom")
    assert np.sum((votes.codes < 0).any(axis=1)) == 203
    gaps = np.sum(mushroom.codes < 0, axis=0)
    assert [(mushroom.columns[n], gaps[n]) for n in np.flatnonzero(gaps)] == [("stalk-root", 2480)]


def test_nursery_is_the_task_of_the_repository_with_every_combination_once():
    nursery = cf.load("nursery")
    assert nursery.columns[5] == "finance"
    assert np.bincount(nursery.target).tolist() == [4320, 2, 328, 4266, 4044]
    assert len(np.unique(nursery.features, axis=0)) == 12960 == np.prod(nursery.table.sizes[:-1])


def test_a_set_of_the_other_kind_is_refused():
    assert cf.data.load("bluebird", "crowd").labels.n_workers == 39
    assert cf.data.load("car", "table").name == "car"
    with pytest.raises(CofactorError, match=r"'car' is a table, but a crowd is needed: choose one of bluebird, dog"):
        cf.data.load("car", "crowd")
    with pytest.raises(CofactorError, match=r"'dog' is a crowd, but a table is needed: choose one of car, connect4"):
        cf.data.load("dog", "table")
    with pytest.raises(
        CofactorError, match=r"'car' is a table, but a list of ratings is needed: choose one of movielens_small"
    ):
        cf.data.load("car", "ratings")
    with pytest.raises(CofactorError, match=r"kind='crowds': choose one of crowd, table, ratings"):
        cf.data.load("dog", "crowds")


# ---- without network and mirror ----


def test_bundled_set_needs_neither_network_nor_cache(data):
    bluebird = cf.load("bluebird")
    assert (bluebird.labels.n_tasks, bluebird.labels.n_workers, bluebird.labels.n_classes) == (108, 39, 2)
    # the datasets card: 26 of 108
    assert error_rate(vote_shares(bluebird.labels), bluebird.truth) == pytest.approx(26 / 108)
    assert not data.exists()


def test_the_simulated_sets_are_what_their_tool_draws():
    for name, text in (simulated_sets.mixture() | simulated_sets.notes()).items():
        assert gzip.decompress((BUNDLED / f"{name}.csv.gz").read_bytes()).decode("utf8") == text, name
    spectra, notes = cf.load("mixture"), cf.load("notes")
    assert (
        spectra.X.shape == (60, 400)
        and spectra.W.shape == (60, 4)
        and spectra.materials == entries()["mixture"].classes
    )
    H = simplex_least_squares(spectra.W, spectra.X)
    assert np.linalg.norm(spectra.X - spectra.W @ H) / np.linalg.norm(spectra.X) < 0.04  # 30 dB
    words = {name: set(text.split()) for name, text in simulated_sets.LISTS.items()}
    main = [max(words, key=lambda name: sum(word in words[name] for word in text.split())) for text in notes.texts]
    assert len(notes.texts) == len(set(notes.documents)) == 300
    assert np.mean(np.array(main) == np.array(notes.classes)[notes.truth]) > 0.95


def test_damaged_bundled_file_is_told(monkeypatch, tmp_path):
    for path in [DATASETS_DIR / "registry.toml", *BUNDLED.glob("*.gz")]:
        target = tmp_path / path.relative_to(DATASETS_DIR)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(path.read_bytes())
    labels = tmp_path / "bundled" / "bluebird_labels.csv.gz"
    labels.write_bytes(labels.read_bytes()[:-1])
    monkeypatch.setattr("cofactor.data.registry.DATASETS_DIR", tmp_path)
    monkeypatch.setenv("COFACTOR_MIRROR", str(tmp_path / "nowhere"))
    assert verify("bluebird")["bluebird_labels.csv.gz"] == "damaged"
    with pytest.raises(DatasetUnavailableError, match="the bundled copy is damaged: reinstall"):
        cf.load("bluebird")


@pytest.mark.parametrize("path", sorted(BUNDLED.glob("*.gz")), ids=lambda path: path.name)
def test_bundled_files_are_packed_reproducibly(path):
    content = path.read_bytes()
    assert content[3:8] == bytes(5), "flags (no file name) and time of the gzip header are zero"
    assert b"\r" not in gzip.decompress(content) and gzip.decompress(content).decode("utf8")


def test_only_what_may_be_redistributed_is_bundled():
    owned = {f.name for e in entries().values() if e.redistributable for f in e.files}
    assert {path.name for path in BUNDLED.glob("*.gz")} <= owned
    assert "Copyright (c) 2011-2012 Peter Welinder" in (BUNDLED / "LICENCE-bluebird.txt").read_text(encoding="utf8")


def test_bundled_tables_come_with_the_attribution_that_their_licence_asks_for():
    attribution = (BUNDLED / "LICENCE-uci.txt").read_text(encoding="utf8")
    assert "CC BY 4.0" in attribution and "https://creativecommons.org/licenses/by/4.0/" in attribution
    for name in BUNDLED_TABLES:
        doi = entries()[name].citation.partition("doi:")[2].split(";")[0]
        assert f"{name}.csv.gz" in attribution and doi and f"doi:{doi}" in attribution


def test_bundled_comparisons_come_with_the_attribution_that_their_licence_asks_for():
    attribution = (BUNDLED / "LICENCE-food.txt").read_text(encoding="utf8")
    assert "CC BY 4.0" in attribution and "https://creativecommons.org/licenses/by/4.0/" in attribution
    assert "https://zenodo.org/records/14068000" in attribution and "https://zenodo.org" in entries()["food"].citation
    assert all(file.name in attribution for file in entries()["food"].files)


def test_unknown_name_lists_the_known_ones_and_guesses():
    with pytest.raises(CofactorError, match=r"no data set 'Bluebrid': did you mean 'bluebird'\?") as caught:
        cf.load("Bluebrid")
    assert all(name in str(caught.value) for name in ALL)
    for function in (fetch, verify):
        with pytest.raises(CofactorError, match="no data set 'xyzzy': choose one of"):
            function("xyzzy")


def test_digits_is_what_the_registry_says():
    digits, entry = cf.load("digits"), entries()["digits"]
    labels = digits.labels
    assert (labels.n_tasks, labels.n_workers, labels.n_classes) == (entry.n_tasks, entry.n_workers, entry.n_classes)
    assert (labels.n_labels, np.sum(digits.truth >= 0)) == (entry.n_labels, entry.n_truth)
    assert labels.workers[:2] == ["100 neighbours", "10 neighbours"] and len(set(labels.workers)) == 10
    assert {f.name: f.path.stat().st_size for f in entry.files} == {f.name: f.bytes for f in entry.files}


# ---- registry, list and cards ----


def test_list_leaves_out_what_a_kind_does_not_have():
    listed = cf.datasets().set_index("name")
    assert {name: listed.kind[name] for name in KINDS} == KINDS
    own = {
        "crowd": ["tasks", "workers", "labels"],
        "table": ["rows", "columns"],
        "ratings": ["ratings"],
        "topics": ["documents", "words"],
        "graph": ["nodes", "edges", "communities"],
        "comparisons": ["comparisons"],
        "spectra": ["bands", "points"],
        "texts": ["texts"],
    }
    for kind, columns in own.items():
        assert listed[columns].isna().all(axis=1).equals(listed.kind != kind)
        assert listed[columns].notna().all(axis=1).equals(listed.kind == kind)
    assert listed.classes.isna().equals(listed.kind.isin(["ratings", "graph", "comparisons"]))
    for column in ("users", "items"):
        assert listed[column].notna().equals(listed.kind.isin(["ratings", "comparisons"]))


def test_list_agrees_with_what_is_loaded():
    listed = cf.datasets().set_index("name")
    assert list(listed.index) == ALL
    for name in ("bluebird", "digits"):
        row, labels = listed.loc[name], cf.load(name).labels
        assert (row.tasks, row.workers, row.classes) == (labels.n_tasks, labels.n_workers, labels.n_classes)
        assert row.labels == labels.n_labels
        assert row["size"] == sum(path.stat().st_size for path in fetch(name))
    bundled = {name for name, one in entries().items() if any((BUNDLED / file.name).exists() for file in one.files)}
    assert bundled >= {"bluebird", "digits", "food", "mixture", "notes", *BUNDLED_TABLES}
    assert set(listed.index[listed.offline]) == bundled


@each("name", ALL)
def test_entry_is_complete(name):
    entry = entries()[name]
    assert len(entry.classes) == entry.n_classes or entry.kind == "topics"  # the sources name no topics
    assert entry.citation and entry.licence and entry.source
    assert ROLES[entry.kind] <= set(entry.roles) and (
        entry.kind == "crowd" or ROLES[entry.kind] == set(entry.roles) - {"items"}
    )
    assert all(len(file.sha256) == 64 for file in entry.files)
    # a branch can move under a pinned hash, a commit cannot
    assert all(
        file.url.startswith("https://") and len(file.url.split("/")[5]) == 40 for file in entry.files if file.url
    )


@each("name", ALL)
def test_card_agrees_with_the_registry(name):
    entry = entries()[name]
    card = (DATASETS_DIR / "cards" / f"{name}.md").read_text(encoding="utf8")
    crowd = {
        "tasks": f"{entry.n_tasks}, true class known for {entry.n_truth}",
        "workers": entry.n_workers,
        "classes": f"{entry.n_classes}: {', '.join(entry.classes)}",
        "labels": entry.n_labels,
    }
    table = {
        "rows": entry.n_rows,
        "columns": f"{len(entry.columns)}, the class is {entry.target}",
        "classes": f"{entry.n_classes}: {', '.join(entry.classes)}",
    }
    ratings = {"users": entry.n_users, "items": entry.n_items, "ratings": entry.n_ratings}
    topics = {"documents": entry.n_documents, "words": entry.n_words, "classes": entry.n_classes}
    graph = {"nodes": entry.n_nodes, "edges": entry.n_edges, "communities": entry.n_communities}
    comparisons = {"users": entry.n_users, "items": entry.n_items, "comparisons": entry.n_comparisons}
    comparisons |= {"questions of control": entry.n_controls} if entry.n_controls else {}
    kinds = {"crowd": crowd, "table": table, "ratings": ratings, "topics": topics, "graph": graph}
    kinds["comparisons"] = comparisons
    classes = f"{entry.n_classes}: {', '.join(entry.classes)}"
    kinds["spectra"] = {"bands": entry.n_bands, "points": entry.n_points, "classes": classes}
    kinds["texts"] = {"texts": entry.n_texts, "classes": classes}
    facts = kinds[entry.kind] | {
        "size": f"{sum(entry.copies(role)[0].bytes for role in entry.roles)} bytes",
        "licence": entry.licence,
        "may be redistributed": "yes" if entry.redistributable else UNCLEAR.get(name, "unclear"),
        "source": entry.source,
    }
    assert card.startswith(f"# {entry.title}\n")
    assert [line for line in card.splitlines() if line.startswith("| ") and line != "| | |"] == [
        f"| {name} | {fact} |" for name, fact in facts.items()
    ]
    assert f"## Cite\n{entry.citation}\n" in card


NOT_DOWNLOADED = {"mag"}  # tests/evaluation/test_mag.py holds its card


def test_every_set_has_a_card_and_every_card_a_set():
    assert {path.stem for path in (DATASETS_DIR / "cards").glob("*.md")} == set(entries()) | NOT_DOWNLOADED
