"""Rows of large tables as text: the bytes that pandas writes."""

import io

import numpy as np
import pandas as pd

from cofactor_app.cli import output
from cofactor_app.cli.output import Writer
from tests.each import each

RNG = np.random.default_rng(0)
FRACTIONS = [*RNG.random(500).round(6), *10.0 ** RNG.integers(-20, 20, 500) * RNG.normal(size=500)]
FRACTIONS += [0.0, -0.0, 1.0, 1e-4, 9.9e-5, 1e-6, 123456.0, 1e15, 1e16, 1e300, 5e-324, 0.1 + 0.2]
COLUMNS = {
    "fractions": (FRACTIONS, True),
    "whole numbers": ([0, -1, 2**62, 7], True),
    "true or false": ([True, False], True),
    "text": (["a b", "", " é ", "'=1", "猫"], True),
    "text that needs quotes": (["plain", 'he said "no"'], False),
    "text with a comma": (["a,b", "c"], False),
    "text in two lines": (["a\nb", "c"], False),
    "text with a return": (["a\rb", "c"], False),
    "gaps": ([0.5, np.nan], False),
    "no end": ([0.5, np.inf], False),
    "text with gaps": (["a", None], False),
    "half a letter": (pd.Series(["\ud800", "a"], dtype=object), False),
    "mixed": (["a", 1], False),
    "dates": (pd.to_datetime(["2020-01-01", "2021-01-01"]), False),
}


@each("name", COLUMNS)
def test_rows_are_those_of_pandas_or_left_to_it(name, monkeypatch):
    monkeypatch.setattr(output, "LONG", 1)
    cells, ours = COLUMNS[name]
    frame = pd.DataFrame({"place": np.arange(len(cells)), name: cells})
    for sep in (",", "\t"):
        text = output.text_of(frame, sep)
        assert (text is not None) == (ours or (sep, name) == ("\t", "text with a comma"))
        assert text is None or text == frame.to_csv(index=False, header=False, sep=sep, lineterminator="\n")


def test_the_header_stands_once_and_few_rows_are_left_to_pandas(monkeypatch):
    frames = [pd.DataFrame({"task, id": [first, first + 1], "p": [0.5, 1e-5]}) for first in (0, 2)]
    written = []
    for long in (1, 3):
        monkeypatch.setattr(output, "LONG", long)
        assert (output.text_of(frames[0], ",") is None) == (long == 3)
        file = io.StringIO()
        Writer(file, raw=False)._write_text(file, frames, ",")
        written.append(file.getvalue())
    assert written[0] == written[1] == pd.concat(frames).to_csv(index=False, lineterminator="\n")
