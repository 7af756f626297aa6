"""A table in, a table out."""

import pandas as pd
import pytest

import cofactor as cf


def test_a_frame_gives_what_its_file_gives(tmp_path):
    labels = cf.load("bluebird").labels
    frame, method = labels.to_frame(), cf.crowd.METHODS["MV-EM"]()
    found = cf.aggregate(frame, method="MV-EM", wide=True)
    posterior = method.fit(labels).predict_proba(labels)
    assert list(found.columns) == ["task", "label", "probability", "n_labels", "probability 0", "probability 1"]
    assert abs(found[["probability 0", "probability 1"]].to_numpy() - posterior).max() < 1e-6
    with pytest.warns(cf.DataWarning, match="worker from annotator"):
        renamed = cf.aggregate(frame.rename(columns={"worker": "annotator"}), method="MV-EM")
    pd.testing.assert_frame_equal(renamed, found.iloc[:, :4], check_dtype=False)


def test_a_column_a_worker_is_recognised_and_names_that_look_alike_are_told():
    wide = pd.DataFrame(
        {"item": ["x", "y", "z"], "ann": ["a", "b", "A"], "ben": ["a", "b", "b"], "cy": ["a", "b", None]}
    )
    with pytest.warns(cf.DataWarning) as told:
        found = cf.aggregate(wide, method="MajorityVote")
    assert found["label"].tolist()[:2] == ["a", "b"] and found["n_labels"].tolist() == [3, 3, 2]
    assert str(told[1].message).startswith(
        "classes that differ in capitals, blanks or invisible characters alone are one"
    )


def test_what_is_missing_is_said():
    with pytest.raises(cf.CofactorError, match="no method 'Best'; there are WorkerTypes"):
        cf.aggregate(cf.load("bluebird").labels.to_frame(), method="Best")
    with pytest.raises(cf.CofactorError, match="label"):
        cf.aggregate(pd.DataFrame({"a": [1.5, 2.5], "b": [3.5, 4.5]}))
