"""Write the bundled tables from the upstream copies that the registry names: python tools/bundle_tables.py FOLDER.

One plain format for all: CSV, names of the columns in the first line, values as UCI spells them, ? where missing,
rows in the order of the source. Packed without a time, so that the same rows give the same bytes.
"""

import argparse
import gzip
import hashlib
from pathlib import Path

import numpy as np

from cofactor.data.readers import UNKNOWN, read_table
from cofactor.data.registry import DATASETS_DIR, entries


def table_csv(entry, folder):
    """Return the bytes of the CSV, converted from the upstream copy in `folder`."""
    (upstream,) = [file for file in entry.files if file.url]
    columns = read_table(folder / upstream.name, upstream.reader, entry.columns, entry.target)
    spelt = [np.array([*column.values, UNKNOWN])[column.codes] for column in columns]
    lines = [",".join(row) for row in [list(entry.columns), *zip(*spelt, strict=True)]]
    return ("\n".join(lines) + "\n").encode()


def main():
    """Write all bundled tables and print what the registry should say of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the upstream files lie, under their registered names")
    folder = parser.parse_args().folder
    for entry in entries().values():
        for file in entry.files:
            if entry.kind == "table" and not file.url:
                packed = gzip.compress(table_csv(entry, folder), compresslevel=9, mtime=0)
                (DATASETS_DIR / "bundled" / file.name).write_bytes(packed)
                print(f"{file.name}: bytes = {len(packed)}, sha256 = {hashlib.sha256(packed).hexdigest()}")


if __name__ == "__main__":
    main()
