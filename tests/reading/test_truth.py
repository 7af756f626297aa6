"""What a file of true classes may say, and what a matrix is refused for."""

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor import CofactorError, DataWarning
from cofactor.reading.matrices import read_matrix
from cofactor.reading.truth import read_truth

LABELS = pd.DataFrame({"task": ["a", "a", "b", "b"], "worker": ["x", "y"] * 2, "label": ["no", "yes", "no", "no"]})


def written(folder, *rows):
    path = folder / "truth.csv"
    path.write_text("\n".join(["task,truth", *rows]), encoding="utf8")
    return path


def test_tasks_that_nobody_labelled_are_passed_over_and_told(tmp_path):
    labels = cf.CrowdLabels.from_frame(LABELS)
    with pytest.warns(DataWarning, match="ignored 2 tasks without labels"):
        found = read_truth(written(tmp_path, "b,yes", "c,no", "d,no"), labels)
    assert found.tolist() == [-1, 1]


def test_an_apostrophe_that_results_have_before_formulas_is_taken_off(tmp_path):
    labels = cf.CrowdLabels.from_frame(LABELS.replace({"no": "-", "yes": "+", "a": "=a"}))
    assert read_truth(written(tmp_path, "'=a,'+", "b,-"), labels).tolist() == [0, 1]
    quoted = cf.CrowdLabels.from_frame(LABELS.replace({"no": "@no", "yes": "'@no"}))
    assert read_truth(written(tmp_path, "a,'@no", "b,@no"), quoted).tolist() == [0, 1]


def test_an_export_tells_the_tasks_whose_class_it_knows(tmp_path):
    export = pd.DataFrame({"_unit_id": list("aabb"), "_worker_id": list("xyxy"), "word": ["no", "yes", "no", "no"]})
    export.assign(_golden=["true", "true", "false", "false"], word_gold="yes").to_csv(tmp_path / "f.csv", index=False)
    assert read_truth(tmp_path / "f.csv", cf.CrowdLabels.from_frame(LABELS)).tolist() == [1, -1]
    export.to_csv(tmp_path / "f.csv", index=False)
    with pytest.raises(CofactorError, match=r"no columns task and truth .or label.; found _unit_id"):
        read_truth(tmp_path / "f.csv", cf.CrowdLabels.from_frame(LABELS))


def test_tasks_that_look_like_labelled_ones_are_told(tmp_path):
    labels = cf.CrowdLabels.from_frame(LABELS)
    alike = "; some differ from labelled tasks only in spelling: 'A' like 'a'"
    with pytest.warns(DataWarning, match=f"ignored 2 tasks without labels{alike}$"):
        read_truth(written(tmp_path, "b,yes", "A,no", "z,no"), labels)
    with pytest.raises(CofactorError, match=rf"none of its tasks has labels \(A, z\){alike}$"):
        read_truth(written(tmp_path, "A,no", "z,no"), labels)


def test_a_word_for_a_missing_class_is_no_class_that_nobody_chose(tmp_path):
    labels = cf.CrowdLabels.from_frame(LABELS)
    with pytest.raises(CofactorError, match=r"missing truth in row 3 \(counting .*: fill or drop them"):
        read_truth(written(tmp_path, "b,yes", "a,NA"), labels)
    with pytest.warns(DataWarning, match="look like non-answers"):
        known = cf.CrowdLabels.from_frame(LABELS.replace("yes", "NA"))
    assert read_truth(written(tmp_path, "b,NA", "a,no"), known).tolist() == [1, 0]


@pytest.mark.filterwarnings("error")
def test_a_row_that_stands_twice_is_one_and_two_truths_are_refused(tmp_path):
    labels = cf.CrowdLabels.from_frame(LABELS)
    assert read_truth(written(tmp_path, "b,yes", "b,yes", "a,no"), labels).tolist() == [0, 1]
    with pytest.raises(CofactorError, match=r"gives several true classes for tasks b: keep one each$"):
        read_truth(written(tmp_path, "a,no", "b,yes", "b,no"), labels)


def test_truth_is_read_by_id_with_any_spelling_of_columns_and_classes(tmp_path):
    labels, path = cf.CrowdLabels.from_frame(LABELS), tmp_path / "truth.tsv"
    path.write_text("Truth\tTASK\nyes\tb\n", encoding="utf8")
    assert read_truth(path, labels).tolist() == [-1, 1]
    with pytest.warns(DataWarning, match=r"are read as them: 'NO' as 'no', 'y\\u200bes' as 'yes'"):
        assert read_truth(written(tmp_path, "a,NO", "b,y\u200bes"), labels).tolist() == [0, 1]
    path.write_text("task\tclass\na\tno\n", encoding="utf8")
    for wrong, message in ((path, "no columns task and truth"), (written(tmp_path, "a,cow"), r"\(cow\) occurs among")):
        with pytest.raises(CofactorError, match=message):
            read_truth(wrong, labels)


def test_a_wrong_separator_of_a_truth_file_is_told_as_such(tmp_path):
    labels, path = cf.CrowdLabels.from_frame(LABELS), tmp_path / "truth.csv"
    for name in ("truth", "label", "class"):
        path.write_text(f"task;{name}\nb;yes\n", encoding="utf8")
        with pytest.raises(
            CofactorError, match=rf"found task;{name}: the columns seem to be separated by ';': set sep=';'"
        ):
            read_truth(path, labels, sep=",")


def test_a_true_class_that_nobody_chose_is_an_error_of_every_method(tmp_path):
    labels = cf.CrowdLabels.from_frame(LABELS)
    with pytest.warns(DataWarning, match=r"no worker chose the true class of 1 task \(cow\), so every"):
        truth = read_truth(written(tmp_path, "a,cow", "b,yes"), labels)
    assert truth.tolist() == [2, 1]
    assert cf.crowd.error_rate([[0.5, 0.5], [0, 1]], truth) == cf.crowd.error_rate([0, 1], truth) == 0.5


def test_a_refused_matrix_is_refused_by_the_columns_that_are_wrong(tmp_path):
    (tmp_path / "x.csv").write_text("p,q,r,s\n1,2,3,4\n1,,3,4\n1,,3,\n1,2,3,4\n", encoding="utf8")
    with pytest.raises(CofactorError, match=r"gaps in .*, columns q, s: fill or drop them"):
        read_matrix(tmp_path / "x.csv")


def test_the_only_matrix_of_a_file_needs_no_name(tmp_path):
    np.savez(tmp_path / "x.npz", spectra=np.eye(3))
    assert (read_matrix(tmp_path / "x.npz")[0] == np.eye(3)).all()
