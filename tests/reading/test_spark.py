"""Spark on this machine: the sums and the consensus of a cluster are those of memory."""

import shutil

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.crowd.method import WorkerTypes
from cofactor.reading import spark as module
from cofactor_app.cli import main

pytest.importorskip("pyspark", reason="PySpark is not installed")
pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
    pytest.mark.filterwarnings("ignore"),  # PySpark's own
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """A crowd with two copies, numbers as tasks, and 40 tasks of known class."""
    found = cf.simulate.crowd(cf.simulate.dawid_skene_model(9, 3, skill=0.5, random_state=0), 400, 0.6, random_state=0)
    frame = found.labels.to_frame()
    frame = pd.concat([frame, frame[frame.worker == 0].assign(worker=9)]).sample(frac=1, random_state=0)
    folder = tmp_path_factory.mktemp("spark")
    frame.astype({"label": str, "worker": str}).to_parquet(folder / "labels.parquet")
    known = pd.DataFrame({"task": np.arange(40), "truth": found.truth[:40]})
    known.to_csv(folder / "gold.csv", index=False)
    pd.DataFrame({"task": np.arange(400), "truth": found.truth}).to_csv(folder / "truth.csv", index=False)
    return folder


def test_a_fit_on_a_cluster_and_what_the_command_writes_are_those_of_memory(crowd, tmp_path, capsys, monkeypatch):
    fits, fit = [], module.SparkLabels.fit

    def watched(labels, *known, **named):
        fits.append((labels, fit(labels, *known, **named)))
        return fits[-1][1]

    monkeypatch.setattr(module.SparkLabels, "fit", watched)
    common = ["aggregate", str(crowd / "labels.parquet"), "--gold", str(crowd / "gold.csv")]
    common += ["--truth", str(crowd / "truth.csv")]
    out, here = tmp_path / "there.parquet", tmp_path / "here.parquet"
    assert main([*common, "--spark", "local[2]", "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert main([*common, "-o", str(here)]) == 0
    assert (
        said.split("majority vote ")[1].split("%")[0]
        == capsys.readouterr().out.split("majority vote ")[1].split("%")[0]
    )
    one, other = pd.read_parquet(out), pd.read_parquet(here)
    assert one.task.tolist() == other.task.tolist() and one.label.tolist() == other.label.tolist()
    np.testing.assert_allclose(one.probability, other.probability, atol=1e-6)
    assert main([*common, "--spark", "local[2]", "-o", str(out)]) == 1
    assert "exists: name another output" in capsys.readouterr().err
    labels = cf.CrowdLabels.from_file(crowd / "labels.parquet")
    ((there, found),) = fits
    assert (there.n_tasks, there.n_labels) == (labels.n_tasks, labels.n_labels)
    assert there.workers == labels.workers and there.classes == labels.classes
    assert there.sample.tasks == labels.tasks and (there.sample.table.indicator != labels.table.indicator).nnz == 0
    truth = pd.read_csv(crowd / "gold.csv")
    gold = {task: code for task, code in zip(truth.task, truth.truth, strict=True) if task in labels.tasks}
    expected = WorkerTypes().fit(labels, gold={t: labels.classes[k] for t, k in gold.items()})
    assert found.copies_ == expected.copies_ == [[0, 9]]
    np.testing.assert_allclose(found.model_.stacked, expected.model_.stacked, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.design_effect_, expected.design_effect_, rtol=1e-9)
    monkeypatch.setattr(module, "SAMPLED_LABELS", 600)
    again = module.read_spark("local[2]", str(crowd / "labels.parquet"))
    step = -(-labels.n_labels // 600)
    assert again.sample.tasks == labels.tasks[::step]


def test_what_cannot_be_read_there_is_told(tmp_path):
    with pytest.raises(cf.CofactorError, match=r"Spark reads files or folders whose names end in .parquet"):
        module.read_spark("local[2]", str(tmp_path / "labels.xlsx"))
    frame = pd.DataFrame({"task": ["a", "a"], "worker": ["w", "w"], "label": ["yes", "no"]})
    frame.to_csv(tmp_path / "twice.csv", index=False)
    with pytest.raises(Exception, match="conflicting labels of one worker for task 'a'"):
        module.read_spark("local[2]", str(tmp_path / "twice.csv"))
    frame.rename(columns={"worker": "who"}).to_csv(tmp_path / "who.csv", index=False)
    with pytest.raises(cf.CofactorError, match="no column worker; found task, who, label"):
        module.read_spark("local[2]", str(tmp_path / "who.csv"))
