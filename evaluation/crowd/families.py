"""The 29 crowds of the benchmark in families of tasks, and where their labels are read.

Seventeen are registered data sets. Twelve are read from a folder of the user's: they are used to develop, and are not
distributed with the kit.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.types import Ints
from cofactor.crowd import CrowdLabels
from cofactor.data import load
from cofactor.reading.truth import read_truth
from cofactor_app.bench import FAMILIES as REGISTERED

FOLDER, MIRROR = "COFACTOR_UNSEEN", "COFACTOR_MIRROR"
GRADES = ("anger", "disgust", "fear", "joy", "sadness", "surprise", "valence")
DEVELOPED = MappingProxyType(
    {
        **{
            name: REGISTERED[name]
            for name in ("adult", "bluebird", "film reviews", "trec", "weather", "web", "zencrowd")
        },
        "affect": tuple(f"snow_{name}" for name in GRADES),
        "fact": ("fact",),
        "search spam": ("hitspam_cf",),
        "judges": ("judgebench",),
        "videos": ("ws_video",),
        "word senses": ("snow_wsd",),
    }
)  # families that were looked at while WorkerTypes was chosen
READ_ONCE = MappingProxyType(
    {name: REGISTERED[name] for name in ("dog", "faces", "music", "products", "rte", "tweets")}
)  # families on which it was scored when it had been chosen
FAMILIES = MappingProxyType({**DEVELOPED, **READ_ONCE})
FAMILY = MappingProxyType({name: family for family, names in FAMILIES.items() for name in names})
FROM_A_FOLDER = tuple(
    name for family in ("affect", "fact", "search spam", "judges", "videos", "word senses") for name in FAMILIES[family]
)


def crowd_of(setting: str) -> tuple[CrowdLabels, Ints]:
    """Return labels and true classes of a set; those of the twelve that are not registered from the user's folder."""
    if setting not in FROM_A_FOLDER:
        found = load(setting, "crowd")
        return found.labels, found.truth
    folder = folder_of_sets()
    if folder is None or not (folder / f"{setting}.csv.gz").is_file():
        raise CofactorError(
            f"not on this machine: {FOLDER} names a folder with NAME.csv.gz (task, worker, label) and NAME_truth.csv.gz"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # labels given again: as in all sets, the last counts
        labels = CrowdLabels.from_file(folder / f"{setting}.csv.gz", conflicts="last")
    return labels, read_truth(folder / f"{setting}_truth.csv.gz", labels)


def folder_of_sets() -> Path | None:
    """Return the folder of the sets that are not registered: the one that is named, or `unseen` beside the mirror."""
    if named := os.environ.get(FOLDER):
        return Path(named).expanduser()
    mirror = os.environ.get(MIRROR)
    return Path(mirror).expanduser().parent / "unseen" if mirror else None


def family_means(values: pd.Series) -> pd.Series:
    """Return means by family of values by set, in the order of `FAMILIES`; families without values are left out."""
    means = values.dropna().groupby(FAMILY.get).mean()
    return means.reindex([family for family in FAMILIES if family in means.index])


def chosen_elsewhere(values: pd.DataFrame) -> pd.DataFrame:
    """Choose for each family the method that is best on the others, and score it on the one left out.

    Parameters
    ----------
    values : DataFrame, families by methods
        Without gaps; where two methods are equally good, the first column is kept.

    Returns
    -------
    DataFrame by family: `method` and its `value` on that family
    """
    chosen = {family: values.drop(index=family).mean().idxmax() for family in values.index}
    scores = {family: values.loc[family, method] for family, method in chosen.items()}
    return pd.DataFrame({"method": chosen, "value": scores}, index=values.index)
