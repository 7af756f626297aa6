"""The data sets and the locations of their files, as listed in datasets/registry.toml."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from platformdirs import user_cache_path

from cofactor.core.errors import CofactorError

Kind = Literal["crowd", "table", "ratings", "topics", "graph", "comparisons", "spectra", "texts"]
CrowdRole = Literal["labels", "truth", "features", "valid_features", "valid_truth", "test_features", "test_truth"]
OtherRole = Literal["table", "ratings", "movies", "readme", "documents", "edges", "memberships", "comparisons", "items"]
SmallRole = Literal["spectra", "materials", "texts", "lists"]
Role = CrowdRole | OtherRole | SmallRole

NUMBER = "number"  # in place of the values of a column that holds numbers
PACKAGE = Path(__file__).resolve().parents[1]
IN_WHEEL, IN_SOURCE = PACKAGE / "_datasets", PACKAGE.parents[1] / "datasets"
DATASETS_DIR = IN_WHEEL if IN_WHEEL.is_dir() else IN_SOURCE


@dataclass(frozen=True)
class File:
    """A copy of a file; it is bundled if it has no `url`."""

    role: Role
    reader: str
    name: str
    bytes: int
    sha256: str
    url: str = ""

    @property
    def path(self) -> Path:
        """Where the file is, or will be after a download."""
        return (data_folder() if self.url else DATASETS_DIR / "bundled") / self.name


@dataclass(frozen=True)
class Entry:
    """A data set in the registry."""

    name: str
    title: str
    kind: Kind
    licence: str
    redistributable: bool
    citation: str
    source: str
    files: tuple[File, ...]
    n_classes: int = 0  # of crowds, tables, topics, spectra (materials) and texts (lists of words)
    classes: list[str] = field(default_factory=list)
    n_tasks: int = 0  # of crowds
    n_workers: int = 0
    workers: list[str] = field(default_factory=list)  # their names, where the files have codes
    n_labels: int = 0
    n_truth: int = 0
    n_rows: int = 0  # of tables, as what follows
    target: str = ""
    columns: dict[str, list[str] | str] = field(default_factory=dict)  # name: values in code order, or NUMBER
    n_users: int = 0  # of ratings and comparisons
    n_items: int = 0
    n_ratings: int = 0
    n_documents: int = 0  # of topics
    n_words: int = 0
    n_nodes: int = 0  # of graphs
    n_edges: int = 0
    n_communities: int = 0
    n_comparisons: int = 0
    n_controls: int | None = None
    n_bands: int = 0  # of spectra
    n_points: int = 0
    n_texts: int = 0

    @property
    def n_columns(self) -> int:
        """The number of columns of a table."""
        return len(self.columns)

    @property
    def roles(self) -> list[Role]:
        """The roles of the files of the set, in the order of the registry."""
        return list(dict.fromkeys(file.role for file in self.files))

    def copies(self, role: Role) -> list[File]:
        """Return the copies of a file, the preferred one first."""
        return [file for file in self.files if file.role == role]


def entries() -> dict[str, Entry]:
    """Read the registry as a mapping from names to data sets."""
    path = DATASETS_DIR / "registry.toml"
    try:
        known = tomllib.loads(path.read_text(encoding="utf8"))
        return {
            name: Entry(name=name, files=tuple(File(**file) for file in fields.pop("files")), **fields)
            for name, fields in known.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CofactorError(f"{path} is damaged ({type(error).__name__}: {error}): reinstall cofactor") from None


def find(name: str) -> Entry:
    """Return the registry entry of a data set; raises a CofactorError that lists the known names for an unknown one."""
    known = entries()
    if name not in known:
        near = get_close_matches(str(name).lower(), known, n=1)
        advice = f"did you mean {near[0]!r}? There are:" if near else "choose one of"
        raise CofactorError(f"no data set {name!r}: {advice} {', '.join(known)}")
    return known[name]


def data_folder() -> Path:
    """Return the folder for downloads."""
    return Path(os.environ.get("COFACTOR_DATA") or user_cache_path("cofactor")).expanduser()
