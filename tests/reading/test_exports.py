"""Exports of annotation tools, record by record: which are exports, and which answers are classes."""

import pytest

from cofactor.core.errors import CofactorError, DataWarning
from cofactor.reading.records import _annotator, unfold

COLUMNS = ("task", "worker", "label")
MARKED = [{"start": 0, "end": 3}]


def prodigy(number, worker, answer="accept", **more):
    return {"_input_hash": number, "_task_hash": -number, "_session_id": worker, "answer": answer, **more}


def test_a_chosen_option_is_a_class_even_where_words_are_marked():
    """The words are marked for the annotators to see; what they answer is the option."""
    records = [
        prodigy(1, "a", accept=["x"], options=["x", "y"], spans=MARKED),
        prodigy(1, "b", accept=["y"], spans=MARKED),
        prodigy(2, "a", "reject", options=["x", "y"], spans=MARKED),
    ]
    with pytest.warns(DataWarning, match="left out answers 'reject' .1."):
        table = unfold(records, COLUMNS)
    assert table[list(COLUMNS)].to_numpy().tolist() == [["1", "a", "x"], ["1", "b", "y"]]


def test_marked_words_alone_are_no_class():
    with pytest.raises(CofactorError, match="line 2 is a Prodigy answer of type span"):
        unfold([prodigy(1, "a", label="x"), prodigy(1, "b", spans=MARKED)], COLUMNS)


@pytest.mark.parametrize("gone", ["_input_hash", "_task_hash"])
def test_one_of_both_hashes_tells_an_export_of_prodigy(gone):
    record = {name: value for name, value in prodigy(1, "a", accept=["x"]).items() if name != gone}
    assert unfold([record], ("_session_id", "worker", "label"))["label"].tolist() == ["x"]


def test_records_with_an_answer_and_no_hash_are_no_export():
    assert unfold([{"task": 1, "worker": 2, "answer": "accept"}], COLUMNS) is None


def test_an_annotator_is_the_address_or_else_the_number():
    for who, name in (({"email": "a@b.c", "id": 3}, "a@b.c"), ({"id": 3}, 3), ({"email": "", "id": 3}, 3), (3, 3)):
        assert _annotator({"completed_by": who}, "worker") == name
        assert _annotator({"updated_by": who}, "updated_by") == name
