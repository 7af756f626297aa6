"""Write the files of the corpus, and `expected.json`: `python -m tests.corpus.make`.

The table of cases is in `cells.py`, `tables.py` and `forms.py`. Files that are there already stay as they are where
only the library that packs them could change their bytes.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.corpus import cells, forms, tables
from tests.corpus.case import Case

HERE = Path(__file__).parent
FILES = HERE / "files"
EXPECTED = HERE / "expected.json"
FAMILIES = (
    *(cells.separators, cells.quotes, cells.encodings, cells.ends, cells.blanks, cells.missing, cells.look_alikes),
    *(cells.numbers, tables.headers, tables.conflicts, tables.wide, tables.few, tables.ragged, tables.long),
    *(tables.formulas, tables.scripts, tables.several, tables.binary),
    *(forms.of_json, forms.packed, forms.of_parquet),
)
OF_A_LIBRARY = (".gz", ".bz2", ".xz", ".zip", ".parquet", ".GZ")  # whose next release may write other bytes


def cases() -> list[Case]:
    """All cases, by family."""
    return [case for family in FAMILIES for case in family()]


def main() -> None:
    """Write what is not there."""
    found = cases()
    for case in found:
        path = FILES / case.name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not (path.exists() and case.name.endswith(OF_A_LIBRARY)):
            path.write_bytes(case.content)
    EXPECTED.write_text(expectations(found), encoding="utf8", newline="\n")


def expectations(found: list[Case]) -> str:
    """Return the JSON of what should come out, one file a line."""
    each = ",\n".join(f"{json.dumps(case.name)}: {json.dumps(_expected(case))}" for case in found)
    return "{\n" + each + "\n}\n"


def _expected(case: Case) -> dict[str, object]:
    told = {"labels": case.labels} if case.labels is not None else {"error": case.error}
    more = {"notes": case.notes, "options": case.options, "needs": case.needs}
    return told | {name: value for name, value in more.items() if value}


if __name__ == "__main__":
    main()
