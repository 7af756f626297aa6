"""The verb `topics` and its command: the user's documents, leading words, new documents, what is refused."""

import json
import unicodedata
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import io as scipy_io
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

import cofactor as cf
from cofactor.core import checks
from cofactor.core.errors import CofactorError
from cofactor.reading.matrices import read_matrix
from cofactor.separable import document_accuracy, topic_model
from cofactor.separable.metrics import pair_coherence
from cofactor_app.cli import main
from tests.separable.test_topics import planted

TWO_TOPICS = [("cat", "dog", "pet"), ("sun", "rain", "sky")]
TEXTS = [f"{' '.join(TWO_TOPICS[i % 2])} and {TWO_TOPICS[i % 2][i % 3].upper()}" for i in range(12)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def quiet(source, n_topics=2, **options):
    with warnings.catch_warnings(action="ignore"):  # also of 500 steps, which words of few documents take
        return cf.topics(source, n_topics, **options)


def write_counts(extra="", name="counts.csv"):
    rows = [f"d{i},{word},{1 + i % 3}\n" for i in range(20) for word in TWO_TOPICS[i % 2]]
    Path(name).write_text("document,word,count\n" + "".join(rows) + extra)


def words_of(found, n=3):
    return {frozenset(own["word"][:n]) for _, own in found.topics.groupby("topic")}


def test_a_count_without_a_word_or_a_document_is_refused_with_its_row(folder):
    for extra, what in (("d0,,2\n", "word"), (",sun,2\n", "document")):
        write_counts(extra)
        with pytest.raises(CofactorError, match=f"missing {what} in rows? "):
            quiet("counts.csv")


def test_a_list_has_no_column_and_suggests_no_number():
    with pytest.warns(cf.DataWarning, match="^the list holds texts: each row is a document"):
        cf.topics(TEXTS, 2)
    with pytest.raises(CofactorError, match=r"n_topics is required.* give n_topics"):
        cf.topics(TEXTS)


def test_a_list_and_a_column_called_text_are_texts_however_short():
    short = ["cat dog", "dog cat", "sun", "rain sun", "cat", "rain"]
    tables = (pd.DataFrame({"id": range(6), "text": short}), pd.Series(short), pd.DataFrame({"text": short}))
    expected = quiet(short).documents.iloc[:, 1:]
    assert len(expected) == 6 and (expected.to_numpy() > 0).any()
    for source in tables:
        assert quiet(source).documents.iloc[:, 1:].equals(expected)
    with_gaps = quiet([*short, None, np.nan])
    assert len(with_gaps.documents) == 8 and with_gaps.notes[-1].endswith("so their rows are zero: 6, 7")
    for other in ([None, None], [1, 2], [["cat"], ["dog"]], [["cat"], ["dog", "sun"]], [*short, 3]):
        with pytest.raises(CofactorError, match=r"expected texts or counts|its rows differ in length"):
            quiet(other)


def test_a_row_or_a_column_of_sums_of_counts_is_named():
    counts = pd.DataFrame(np.random.default_rng(0).poisson(2, (20, 9)), columns=[f"word{n}" for n in range(9)])
    below = pd.concat([counts, counts.sum().to_frame().T], ignore_index=True)
    below.insert(0, "document", [*(f"d{n}" for n in range(20)), "Total"])
    for frame, said in ((below, "row ('Total')"), (counts.assign(Sum=counts.sum(axis=1)), "column ('Sum')")):
        assert any(note.startswith(f"the last {said} holds the sums") for note in quiet(frame).notes)
    assert not any("sums" in note for note in quiet(counts).notes)


def test_bad_counts_leave_those_with_a_decimal_comma(folder):
    rows = [f"d{i};{word};3,0\n" for i in range(20) for word in TWO_TOPICS[i % 2]]
    text = "document;word;count\n" + "".join(rows)
    for extra, left in (("d0;sun;many\n", "1 row without"), ("d0;;2,0\n", "1 row without"), ("", "")):
        Path("counts.csv").write_text(text + extra)
        found = quiet("counts.csv", skip_bad=True)
        assert found.counts.sum() == 180 and any(left in note for note in found.notes)
    Path("counts.csv").write_text("document;word;count\nd0;sun;many\nd1;sun;few\n")
    with pytest.raises(CofactorError, match="no counts are left after leaving out 2 rows without"):
        quiet("counts.csv", skip_bad=True)


WIDE = pd.DataFrame(np.random.default_rng(0).poisson(1, (20, 9)), columns=[f"word{n}" for n in range(9)])


def test_columns_and_cells_in_the_way_of_word_counts_are_named(folder):
    names, labels = [f"d{n}" for n in range(20)], [*"abcdefghij"] * 2
    cells = WIDE.astype(object)
    cells.iloc[3, 4], cells.iloc[5, 6] = "", "x"
    where = r"cells in rows 5 and 7 \(counting the header line\), columns word4, word6 are not: correct them, with 0"
    for frame, options, said in (
        (WIDE.assign(label=labels), {}, "columns label hold no counts, .*: remove them, or set document='label' if it"),
        (WIDE.assign(label=labels).rename_axis("doc"), {}, "columns label hold no counts, .* words: remove them$"),
        (WIDE.assign(name=names, label=labels), {"document": "name"}, "columns label hold no counts, .* remove them$"),
        (WIDE.assign(name=names), {"document": "word2"}, "columns name hold no counts"),
        (cells, {}, where),
    ):
        frame.to_csv("wide.csv", index=frame.index.name is not None)
        with pytest.raises(CofactorError, match=said):
            quiet("wide.csv", **options)
    found = quiet("wide.csv", skip_bad=True)
    assert found.counts.shape == (18, 9) and found.documents["document"].tolist()[:4] == ["2", "3", "4", "6"]
    assert any("columns word4, word6 are not: left out 2 rows" in note for note in found.notes)
    text = WIDE.assign(body=TEXTS + TEXTS[:8])  # numbers beside a text are no words
    assert "column body holds texts" in quiet(text).notes[0]


def test_advice_on_columns_can_be_followed(folder):
    names = "name,answer\np,cat\nq,sun\n"
    for text, options, said in (
        (
            "mail,word,size,n_chars\nd,cat,x,3\n",
            {},
            "no column document, count; .* document='mail' and count='n_chars', or rename$",
        ),
        ("nr,word,count\n7,cat,3\n", {}, "for example document='nr', or rename"),
        ("doc,word\nd,cat\nd,dog\n", {}, "no column count; .*: add it, with 1 in each row if a row is one occurrence"),
        ("doc,word\nd,cat\nd,dog\n", {"document": "doc"}, "no column count; .*: add it, with 1 in each row"),
        ("name,body\n1,cat\n2,sun\n", {}, "is body a column of texts\\? rename it to text$"),
        (names, {}, "is one of them a column of texts"),
        (names, {"document": "name"}, "no column word, count; .*: is answer a column of texts\\? rename it to text$"),
        ("id,text,title\n1,a b,c d\n", {"word": "text"}, "no column count; .*: is text a column .* leave out word$"),
        ("id,body,title\n1,a b,c d\n", {"word": "body"}, "is body a column .* rename it to text and leave out word$"),
        ("id\nd\n", {}, "is id a column of texts"),
    ):
        Path("a.csv").write_text(text)
        with pytest.raises(CofactorError, match=said):
            quiet("a.csv", **options)
    Path("a.csv").write_text(
        "doc,word,count\n" + "".join(f"d{n % 6},{w},1\n" for n in range(12) for w in TWO_TOPICS[n % 2])
    )
    found = quiet("a.csv")
    assert found.counts.sum() == 36 and found.documents.shape[0] == 6
    assert "18 rows with the document and the word of an earlier row: their counts are added up" in found.notes
    write_counts()
    assert not any("added up" in note for note in quiet("counts.csv").notes)


def test_json_holds_texts_in_a_list_in_columns_and_beside_nested_fields(folder):
    expected = quiet(TEXTS).counts.toarray()
    records = [{"id": f"d{n}", "body": text, "meta": {"a": n}} for n, text in enumerate(TEXTS)]
    cases = {
        "list": json.dumps(TEXTS),
        "columns": json.dumps({"id": [*range(12)], "text": TEXTS}),
        "columns of pandas": pd.DataFrame({"id": range(12), "text": TEXTS}).to_json(),
        "nested": "\n".join(map(json.dumps, records)),
    }
    for name, text in cases.items():
        Path("a.json").write_text(text)
        found = quiet("a.json")
        assert np.array_equal(found.counts.toarray(), expected), name
        assert any("columns meta hold lists or objects and are left out" in one for one in found.notes) == (
            name == "nested"
        )
    assert found.documents["document"].tolist() == [f"d{n}" for n in range(12)]
    with pytest.raises(
        CofactorError, match=r"an object in column meta, lines 1, .*: remove the column, or make a column"
    ):
        quiet("a.json", document="meta")
    with pytest.raises(CofactorError, match="an object in column meta, lines 1"):
        cf.joint("a.json")
    Path("a.json").write_text("[[1, 2], [3, 4]]")
    for verb, example in (
        (lambda: quiet("a.json"), '{"id": 1, "text": "two words"}'),
        (lambda: cf.joint("a.json"), "vote"),
    ):
        with pytest.raises(CofactorError, match=f"every record must be an object, for example .*{example}"):
            verb()
    matrix = np.random.default_rng(0).random((6, 5)).round(3)
    Path("m.json").write_text(json.dumps(matrix.tolist()))
    assert np.array_equal(read_matrix("m.json")[0], matrix)
    Path("m.json").write_text("[[1, 2, 3], [3, 4, 5], [3, 4]]")
    with pytest.raises(
        CofactorError, match=r"lists of 3 numbers are expected, as in the first one; see record 3 \(2\)"
    ):
        cf.anchors("m.json", 2)


def test_marks_belong_to_the_letters_before_them():
    for texts in (
        ["Käse Brötchen Wurst", "Straße Öl Bär"],
        ["हिन्दी भाषा किताब", "नदी पानी नाव"],
        ["วันนี้ เรา ทะเล", "ตลาด หุ้น มาก"],
        ["İstanbul Ankara", "çay şeker süt"],
    ):
        words = {unicodedata.normalize("NFC", word.lower()) for text in texts for word in text.split()}
        for form in ("NFC", "NFD"):
            written = [unicodedata.normalize(form, text) for text in texts]
            frame = pd.DataFrame({"body": [f"{text} {text}" for text in written] * 3})
            found = quiet(frame, stop_words=[unicodedata.normalize("NFD", texts[0].split()[0])])
            left = words - {unicodedata.normalize("NFC", texts[0].split()[0].lower())}
            assert {*found.words} == left and found.counts.sum() == 6 * (len(left)), form
            assert np.allclose(found.transform(frame["body"]).iloc[:, 1:], found.documents.iloc[:, 1:], atol=1e-5)


def test_texts_without_marks_have_the_words_of_scikit_learn():
    rng = np.random.default_rng(0)
    letters = [*"abcdefghijABCDEFG  0123_-'.,;:\n\téüßñØÅœæıſﬁЖдς ΣΩ’“…€½²ª漢かな한\u00a0\u200b"]
    texts = ["".join(rng.choice(letters, 100)) for _ in range(30)] + ["1️⃣ ok️ ❤️ fine"]
    reader = CountVectorizer(ngram_range=(1, 2))
    counts, found = reader.fit_transform(texts).toarray(), quiet(texts, ngrams=2)
    assert found.words == reader.get_feature_names_out().tolist() and np.array_equal(found.counts.toarray(), counts)


def test_documents_with_values_that_are_no_counts_are_left_out_by_name(folder):
    counts = WIDE.to_numpy(dtype=float)
    bad = counts.copy()
    bad[[2, 5, 7], [1, 1, 2]] = np.nan, -1, 0.5
    sparse.save_npz("bad.npz", sparse.csr_array(bad))
    with pytest.raises(
        CofactorError, match=r"documents 2 \(nan\), 5 \(-1\), 7 \(0.5\): correct or drop .*; TF-IDF and"
    ):
        quiet(bad)
    for source in (bad, "bad.npz"):
        found = quiet(source, skip_bad=True)
        assert "left out 3 documents with values that are no counts: 2, 5, 7" in found.notes
        assert found.documents["document"].tolist() == [str(n) for n in range(20) if n not in (2, 5, 7)]
    with pytest.raises(CofactorError, match="no document is left: counts must be 0 or at least 1"):
        quiet(np.full((3, 3), 0.5), skip_bad=True)
    assert quiet(counts, skip_bad=True).documents.equals(quiet(counts).documents)


def test_a_column_of_ids_that_is_not_used_is_said_with_the_reason():
    for ids, said in (
        (["d0", "d1", "d1", *map(str, range(9))], "row, because names in column id occur twice (d1), and words"),
        (["d0", None, *map(str, range(10))], "row, because column id has no name in data row 1 (counting from 0), and"),
        (range(12), "each row is a document, named by id, and words"),
    ):
        assert said in quiet(pd.DataFrame({"id": ids, "text": TEXTS})).notes[0]


@pytest.mark.slow
def test_a_topic_of_one_word_has_no_coherence(folder):
    found = quiet(["cat", "sun", "cat", "sun", "cat dog", "dog"], 3, words=1)
    assert all(line.split()[3] == "-" for line in found.screen()[2:])
    found.report("page.html")
    assert "nan" not in Path("page.html").read_text(encoding="utf8").partition("<table")[2].partition("</table>")[0]


# ---- the method ----


@pytest.mark.filterwarnings("ignore::cofactor.core.errors.ConvergenceWarning")
def test_a_second_start_is_kept_where_its_error_is_clearly_smaller():
    for seed, kept in ((0, 5), (4, 0)):  # anchor words of the first start, none of the second
        counts, _, _ = planted(seed, n_topics=5, n_documents=60, shared=30, length=12)
        one, both = (topic_model(counts, 5, "NMF", 1, second_start=second) for second in (False, True))
        assert one.anchors.size == 5 and both.anchors.size == kept
        assert (both.result.objective[-1] < 0.998 * one.result.objective[-1]) == (kept == 0)
        assert np.allclose(both.weights_of(counts), both.weights)


def test_coherence_of_pairs_is_one_together_zero_by_chance_minus_one_apart():
    present = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]])
    assert pair_coherence(present, [0, 1]) == pytest.approx(1)
    assert pair_coherence(present, [0, 2]) == pytest.approx(0)
    assert pair_coherence(sparse.csr_array(3 * present), [0, 3]) == -1
    assert pair_coherence(present, [0, 1, 2]) == pytest.approx(1 / 3)
    assert pair_coherence(np.ones((3, 2)), [0, 1]) == 1 and np.isnan(pair_coherence(present, [0]))


# ---- the user's documents ----


@pytest.mark.slow
def test_documents_keep_their_names_and_order_and_empty_ones_a_row_of_zeros(folder):
    ids = [f"AX{n}" for n in (10, 1, 2, 3, 100, 20, 5, 7, 9, 11, 12, 13)]
    texts = [*TEXTS[:4], "", *TEXTS[5:]]
    frame = pd.DataFrame({"title": texts, "doc_id": ids})
    frame.to_csv("t.csv", index=False)
    for source, options in ((frame, {}), ("t.csv", {}), ("t.csv", {"document": "doc_id"}), (["t.csv"], {})):
        found = quiet(source, **options)
        assert found.documents["document"].tolist() == ids
        shares = found.documents.filter(like="topic_").to_numpy()
        assert not shares[4].any() and np.allclose(np.delete(shares, 4, axis=0).sum(axis=1), 1)
        assert "1 of 12 documents contain no word that is used, so their rows are zero: AX100" in found.notes
        assert not found.warnings
    assert quiet(frame.drop(columns="doc_id")).documents["document"].tolist() == list(map(str, range(12)))
    assert quiet(texts).documents["document"].tolist() == list(map(str, range(12)))
    Path("lines.csv").write_text("\n".join(["text", *texts]) + "\n")
    numbered = quiet("lines.csv").documents  # an empty line is an empty text
    assert numbered["document"].tolist() == list(map(str, range(2, 14))) and numbered["weight_1"][4] == 0
    Path("bare.csv").write_text("\n".join(TEXTS) + "\n")
    assert quiet("bare.csv").documents["document"].tolist() == list(map(str, range(1, 13)))
    frame.iloc[6:].to_csv("more.csv", index=False)
    frame.iloc[:6].to_csv("first.csv", index=False)
    assert quiet(["first.csv", "more.csv"]).documents["document"].tolist() == ids
    twice = quiet(["first.csv", "first.csv"]).documents["document"].tolist()
    assert twice[:2] == ["first:AX10", "first:AX1"] and len(twice) == 12
    found = quiet(pd.DataFrame({"title": TEXTS, "doc_id": ["AX1", *ids[1:]]}), document="doc_id")
    assert "several documents have the same name, and each keeps its own row: AX1" in found.notes


def test_half_empty_texts_words_for_none_and_scripts_without_blanks(recwarn):
    half = [text if n % 2 else "" for n, text in enumerate(TEXTS * 3)]
    found = quiet(pd.DataFrame({"text": half}))
    empty = "18 of 36 documents contain no word that is used, so their rows are zero: 0, 2, 4"
    assert len(found.documents) == 36 and any(note.startswith(empty) for note in found.notes)
    of_words = quiet(pd.DataFrame({"text": [text or "NA" for text in half]}))
    assert of_words.words == found.words and of_words.documents.equals(found.documents)
    assert "texts that count as empty: 'NA' (18)" in of_words.notes
    alike = ["the quick brown fox" if n % 2 else "" for n in range(30)]  # four words, always together
    assert quiet(alike, 1).topics["word"].tolist() == ["brown", "fox", "quick", "the"]
    recwarn.clear()
    with pytest.raises(CofactorError, match="the 4 words that are used cannot distinguish 2 topics: choose at most 1"):
        cf.topics(alike, 2)
    assert not any(issubclass(one.category, RuntimeWarning) for one in recwarn)
    with pytest.raises(CofactorError, match="columns text have no blanks between words"):
        quiet(pd.DataFrame({"text": ["今日は天気がいいですね", "川の水がとても冷たいので"] * 9}))
    apart = ["今日 天気 散歩 公園", "銀行 お金 預金 利息"]
    assert words_of(quiet(pd.DataFrame({"text": apart * 9})), 4) == {frozenset(text.split()) for text in apart}


def test_topics_are_the_words_that_stand_together_and_lead_with_their_own(folder):
    write_counts()
    for method in ("NMF", "SPA", "MERIT", "FastAnchor"):
        found = quiet("counts.csv", method=method)
        assert words_of(found) == {frozenset(words) for words in TWO_TOPICS}, method
        assert found.documents["document"].tolist() == [f"d{i}" for i in range(20)]
        own = found.topics.groupby("topic").first()
        assert ("anchor" in found.topics) == (method != "NMF") and (own["coherence"] > 0.99).all()
        if method != "NMF":
            assert all(
                row.anchor in set(found.topics.loc[found.topics["topic"] == k, "word"][:3]) for k, row in own.iterrows()
            )
        assert own["share"].sum() == pytest.approx(1)
        raw, shares = (found.documents.filter(like=what).to_numpy() for what in ("weight_", "topic_"))
        assert np.allclose(shares, raw / raw.sum(axis=1, keepdims=True))
        assert np.allclose(raw.sum(axis=1), [3 * (1 + i % 3) for i in range(20)], rtol=0.02)


def test_topics_of_a_random_method_are_the_same_at_every_call():
    counts = np.random.default_rng(0).poisson(0.5, (20, 1200))  # more words than the random projection has rows
    one, again, other = (quiet(counts, 2, method="FastAnchor", **seed) for seed in ({}, {}, {"random_state": 3}))
    assert one.topics.equals(again.topics) and not one.topics.equals(other.topics)


def test_new_documents_are_weighed_as_those_of_the_fit(folder):
    found = quiet(TEXTS, stop_words=["and"])
    again = found.transform(TEXTS)
    assert np.allclose(again.drop(columns="document"), found.documents.drop(columns="document"))
    new = found.transform(pd.Series(["a DOG and a cat", "nothing known", "rain"], index=["x", "y", "z"]))
    assert new["document"].tolist() == ["x", "y", "z"]
    pets = 1 + int("cat" in set(found.topics.loc[found.topics["topic"] == 2, "word"]))
    assert np.allclose(new[f"topic_{pets}"], [1, 0, 0], atol=1e-6) and not new.iloc[1, 1:].any()
    assert np.allclose(found.transform(found.counts)["weight_1"], found.documents["weight_1"])
    pairs = quiet(TEXTS, ngrams=2)
    assert np.allclose(pairs.transform(TEXTS)["weight_1"], pairs.documents["weight_1"])
    for wrong, said in ((np.ones((2, 3)), "counts have 3 words"), ("one text", "expected several texts")):
        with pytest.raises(CofactorError, match=said):
            found.transform(wrong)


@pytest.mark.slow
def test_every_layout_holds_the_same_counts(folder):
    rng = np.random.default_rng(0)
    words = ["oven", "flour", "butter", "goal", "team", "match", "star", "comet", "orbit"]
    counts = np.array([np.bincount(3 * k + rng.integers(3, size=20), minlength=9) for k in rng.integers(3, size=60)])
    wide = pd.DataFrame(counts, columns=words)
    long = wide.rename_axis("document").reset_index().melt("document", var_name="word", value_name="count")
    long = long[long["count"] > 0].sort_values("document", kind="stable")
    long.to_csv("long.csv", index=False)
    long.set_axis(["doc_id", "token", "n"], axis=1).to_csv("tidy.csv", index=False)
    wide.to_csv("wide.csv")
    wide.set_axis([f"d{n}" for n in range(60)]).to_csv("named.csv", index_label="doc")
    scipy_io.mmwrite("c.mtx", sparse.coo_matrix(counts))
    Path("words.txt").write_text("\n".join(words) + "\n")
    expected = quiet("long.csv", 3)
    weights = np.sort(expected.documents.filter(like="weight_"))
    for source, options, note in (
        ("tidy.csv", {}, "document from doc_id, word from token, count from n"),
        ("wide.csv", {}, "one column per word, one row per document"),
        ("named.csv", {}, "named by 'doc'"),
        (long, {}, ""),
        ("c.mtx", {"vocabulary": "words.txt"}, ""),
        (counts, {"vocabulary": words}, ""),
        (sparse.csr_array(counts), {"vocabulary": words}, ""),
    ):
        found = quiet(source, 3, **options)
        assert words_of(found) == words_of(expected) and note in " ".join(found.notes), source
        assert np.allclose(np.sort(found.documents.filter(like="weight_")), weights, atol=0.05)
    polars_like = type("Frame", (), {"to_pandas": lambda self: long})()
    assert words_of(quiet(polars_like, 3)) == words_of(expected)


def test_names_that_look_alike_are_told_or_become_one(folder):
    write_counts("D1,Sun,1\n")
    assert any("'Sun' = 'sun'" in note for note in quiet("counts.csv").notes)
    one = quiet("counts.csv", spelling="all")
    assert "Sun" not in one.words and one.documents["document"].tolist() == [f"d{i}" for i in range(20)]
    assert not any("alike" in note for note in quiet("counts.csv", spelling="keep").notes)
    write_counts("doc_id,word,count\nd1,sun,1\n")
    assert any("left out 1 row repeating the header" in note for note in quiet("counts.csv").notes)
    write_counts("d1,sun,many\n,sun,1\n")
    note = "left out 2 rows without a document, a word or a whole count: rows 62 and 63"
    assert any(note in one for one in quiet("counts.csv", skip_bad=True).notes)


def test_words_of_a_vocabulary_end_where_lines_end_and_nowhere_else(folder, capsys):
    scipy_io.mmwrite("c.mtx", sparse.coo_matrix(np.random.default_rng(0).poisson(1, size=(60, 4))))
    words = ["a\u2028b", "c\x0bd", "e\x1cf", "g\rh"]
    Path("words.txt").write_bytes("\r\n".join([*words, "", "", ""]).encode())  # empty lines at the end are no words
    run = ["topics", "c.mtx", "--vocabulary", "words.txt", "--anchors", "2", "--method", "SPA", "--force"]
    assert main([*run, "-o", "found.jsonl"]) == 0
    found = Path("found.jsonl").read_text().split("\n")
    assert {json.loads(line)["word"] for line in found if line} == set(words)
    for wrong, said in (
        ("a\nb\n\nd", "blank or duplicate words in line 3 ('')"),
        ("a\nb\nc\nb", "line 2 ('b'), line 4 ('b'): give"),
        ("a\nb", "2 words for 4 columns"),
    ):
        Path("words.txt").write_text(wrong)
        capsys.readouterr()
        assert main(run) == 1 and said in capsys.readouterr().err
    Path("words.txt").write_bytes("für\n".encode("latin-1"))
    assert main(run) == 1 and main([*run, "--encoding", "klingon"]) == 1
    assert capsys.readouterr().err.count("words.txt cannot be read as text") == 2


MESSY = {  # what the file holds, what is said
    "counts below zero": ("document,word,count\nd,a,-1\n", "must hold whole numbers of at least 0; see row 2"),
    "parts of a word": ("document,word,count\nd,a,1\nd,b,1.5\n", "see row 3 ('1.5')"),
    "no word": ("document,word,count\nd,,1\n", "missing word in row 2"),
    "other names": ("mail,word,count\nd,a,1\n", "for example --document mail, or rename"),
    "two texts": (
        "a,b\none two three four,five six seven eight\n",
        "columns a, b all hold texts: keep one, or rename one to text",
    ),
    "more topics than words": (
        "document,word,count\nd,a,1\ne,b,1\nd,c,1\ne,c,2\nf,a,1\n",
        "--anchors 3: with ",
    ),
    "another order": (
        "document,word,count\nd,a,1\nword,document,count\nsun,d1,1\n",
        "in row 3 (counting the header line) has the columns in another order",
    ),
}


def test_messy_files_are_refused_in_words(folder, capsys):
    for case, (text, said) in MESSY.items():
        Path("a.csv").write_text(text)
        assert main(["topics", "a.csv", "--anchors", "3"]) == 1, case
        assert said in capsys.readouterr().err, case
    write_counts()
    for options, said in (
        (["--method", "XRAY"], "invalid choice"),
        (["--vocabulary", "counts.csv"], "vocabulary can only be used with a matrix"),
        (["--words", "0"], "--words 0: give a whole number of at least 1"),
        (["--stop-words", "none.txt"], ""),
    ):
        try:
            code = main(["topics", "counts.csv", "--anchors", "2", *options])
        except SystemExit as left:
            code = left.code
        assert code == (2 if "invalid" in said else 0 if not said else 1) and said in capsys.readouterr().err
    np.save("image.npy", np.ones((2, 3, 4)))
    assert main(["topics", "image.npy", "--anchors", "2"]) == 1
    assert "three dimensions, but topics need a matrix of documents by words" in capsys.readouterr().err
    for wrong in (3, [1.5, "x"], np.array(["one text"])):
        with pytest.raises(CofactorError, match="expected texts or counts"):
            quiet(wrong)


def test_topics_need_the_memory_of_the_matrix_that_is_searched(folder, monkeypatch):
    counts = sparse.csr_matrix(([1.0, 2.0], ([0, 1], [0, 1999])), shape=(3, 2000))
    monkeypatch.setattr(checks, "available_bytes", lambda: 1e3)
    for method, n_rows in (("SPA", 4), ("FastAnchor", 1000)):
        needed = cf.separable.predicted_bytes(method, n_rows, 2000, 2) + 72 * 2 + 48 * 2 * 2003
        with pytest.raises(CofactorError, match=f"({needed} bytes)"):
            quiet(counts, method=method)


# ---- the command ----


def test_the_command_writes_what_the_verb_returns(folder, capsys):
    write_counts("d0,sun,0\nd1,pet,5\n")
    options = ["-o", "t.csv", "--weights", "d.csv", "--report", "t.html", "--words", "2"]
    for method in ("NMF", "SPA"):
        assert main(["topics", "counts.csv", "--anchors", "2", "--method", method, "--force", *options]) == 0
        said, found = capsys.readouterr(), quiet("counts.csv", method=method, words=2)
        pd.testing.assert_frame_equal(pd.read_csv("t.csv"), found.topics.round(6), check_exact=True)
        pd.testing.assert_frame_equal(pd.read_csv("d.csv"), found.documents.round(6), check_exact=True)
        wrote = ["wrote t.csv (2 topics)", "wrote d.csv (20 documents)", "wrote t.html"]
        assert said.out.splitlines() == [*found.screen(), *wrote] and said.err == ""
        page = Path("t.html").read_text(encoding="utf8")
        assert all(word in page for word in found.topics["word"]) and page.count("<img") == 1
    assert main(["topics", "counts.csv", "--anchors", "2", "--weights", "d.npz"]) == 0
    with np.load("d.npz") as arrays:
        assert arrays["names"].tolist() == [f"d{i}" for i in range(20)]
        assert arrays["columns"].tolist() == ["topic_1", "topic_2", "weight_1", "weight_2"]
        assert np.allclose(arrays["weights"], quiet("counts.csv").documents.drop(columns="document"))
    report = quiet("counts.csv")
    report.report("verb.html")
    with pytest.raises(CofactorError, match=r"verb.html already exists"):
        report.report("verb.html")
    assert "2 topics" in repr(report) and "<table" in report._repr_html_()


@pytest.mark.slow
def test_the_bundled_notes_are_sorted_into_their_lists(capsys):
    assert main(["topics", "notes", "--anchors", "6"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("300 documents, 105 words, 6 topics\ntopic  share  coherence  words\n") and not said.err
    notes, found = cf.load("notes"), cf.topics("notes", 6)
    assert found.documents["document"].tolist() == notes.documents
    weights = found.documents.filter(like="weight_").to_numpy()
    assert document_accuracy(notes.truth, weights, random_state=0) > 0.95
    assert (found.topics.groupby("topic")["coherence"].first() > 0.3).all()


@pytest.mark.slow
def test_texts_are_counted_in_lower_case_without_stop_words_and_with_neighbours(folder, capsys):
    Path("words.txt").write_text("And\n")
    Path("texts.csv").write_text("\n".join(["text", *TEXTS]) + "\n")
    for options, size in (
        (["--stop-words", "words.txt"], "12 documents, 6 words, 2 topics"),
        (["--stop-words", "english"], "12 documents, 6 words, 2 topics"),
        ([], "12 documents, 6 words (1 dropped), 2 topics"),  # "and" stands in all
        (["--stop-words", "words.txt", "--ngrams", "2"], "12 documents, 16 words, 2 topics"),
    ):
        assert main(["topics", "texts.csv", "--anchors", "2", *options]) == 0
        said = capsys.readouterr()
        assert said.out.startswith(size) and said.err.startswith(
            "note: column text holds texts: each row is a document"
        )
    assert main(["topics", "texts.csv", "--anchors", "2", "--strict"]) == 1
    assert "--strict: column text holds texts" in capsys.readouterr().err
