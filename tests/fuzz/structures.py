"""Files of a container format whose bytes are sound and whose content is not: .npz, .npy, .mat, parquet, JSON."""

import io
import json
import math

import numpy as np
import pandas as pd
from scipy.io import savemat

from tests.fuzz.mutations import Evil, damaged, mutated

HARD = [0, -1, 1, 2, 255, 2**31, 2**62, math.nan, math.inf, -0.5, 1e300]


def array_like(array, random):
    """An array with other values, another type or shape."""
    array = np.array(array)
    kind = random.randrange(10)
    if kind == 0:
        numbers = ["f8", "i1", "u8", "bool", "c16", "M8[s]", "f2"] if array.dtype.kind in "biuf" else []
        return array.astype(random.choice([*numbers, "U3", "S3", "O"]))
    if kind == 1:
        return array.reshape(random.choice([(1, -1), (-1, 1), (-1,), (*array.shape, 1)]))
    if kind == 2:
        return array.reshape(-1)[: random.randrange(array.size + 1)]
    if kind == 3:
        return np.array(random.choice([*HARD, "text", b"", None, Evil()]), dtype=None)
    if kind == 4:
        return np.concatenate([array.reshape(-1)] * 2)
    if kind == 5:
        return np.empty(random.choice([(0,), (0, 3), (3, 0), (1, 1, 1)]))
    if kind == 6 and array.size:
        return np.array([Evil()] * array.size, dtype=object)
    if array.size:
        hard = random.choice(HARD)
        wide = array.astype(np.int64 if isinstance(hard, int) else np.float64) if array.dtype.kind in "biuf" else array
        array = wide if wide is not array else array.astype(object)
        array.flat[random.randrange(array.size)] = hard
    return array


def changed(arrays, random):
    """A mapping with some of its arrays changed, dropped or exchanged."""
    found = dict(arrays)
    for _ in range(random.randint(1, 3)):
        name, other = random.choice(list(arrays)), random.choice(list(arrays))
        kind = random.random()
        if kind < 0.1:
            found.pop(name, None)
        elif kind < 0.2:
            found[name] = arrays[other]
        else:
            found[name] = array_like(arrays[name], random)
    return found


def npz(arrays, random):
    file = io.BytesIO()
    save = random.choice([np.savez, np.savez, np.savez_compressed])
    save(file, **changed(arrays, random))
    return file.getvalue() if random.random() < 0.7 else mutated(file.getvalue(), random)


def npz_bomb(arrays, random):
    file = io.BytesIO()
    np.savez_compressed(file, **dict.fromkeys(arrays, np.zeros(1 << 22, dtype=np.int64)))
    return file.getvalue()


def npy(array, random):
    file = io.BytesIO()
    np.save(file, array_like(array, random))
    raw = file.getvalue()
    if random.random() < 0.2:  # a header that promises more than there is
        size = random.choice([b"(99999999999, 9)", b"(0, 99999999999)", b"(-1, 3)", b"(2**9, 2)", b"()"])
        raw = raw.replace(str(array.shape).encode(), size, 1)
    return raw if random.random() < 0.7 else mutated(raw, random)


def mat(arrays, random):
    found = {name: value for name, value in changed(arrays, random).items() if not _pickled(value)}
    if random.random() < 0.1:
        found[random.choice(list(arrays))] = random.choice([{"field": 1.0}, np.array([[1, "a"]], dtype=object), "text"])
    try:
        raw = matlab_file(found, format=random.choice(["4", "5", "5"]), do_compression=random.random() < 0.5)
    except (TypeError, ValueError):  # not everything can be written
        raw = matlab_file(arrays)
    return raw if random.random() < 0.6 else damaged(raw, random)


def matlab_file(arrays, **options):
    """The bytes of a MATLAB file, always the same: without the time of writing."""
    file = io.BytesIO()
    savemat(file, arrays, **options)
    raw = file.getvalue()
    return b"MATLAB 5.0 MAT-file".ljust(116) + raw[116:] if raw.startswith(b"MATLAB") else raw


def _pickled(value):
    return isinstance(value, np.ndarray) and value.dtype.kind in "OMm"


def parquet(columns, random):
    found = {name: np.asarray(values) for name, values in changed(columns, random).items()}
    size = max((values.size for values in found.values()), default=0)
    frame = pd.DataFrame({name: _column(values, size, random) for name, values in found.items()})
    file = io.BytesIO()
    try:
        frame.to_parquet(file, compression=random.choice([None, "snappy", "gzip"]))
    except (TypeError, ValueError, OverflowError, NotImplementedError):  # not everything can be written
        return mutated(b"PAR1PAR1", random)
    return file.getvalue() if random.random() < 0.6 else damaged(file.getvalue(), random)


def _column(values, size, random):
    flat = values.reshape(-1).tolist()
    flat = ["x" if isinstance(value, Evil) else value for value in flat]
    if random.random() < 0.1 and flat:
        flat[random.randrange(len(flat))] = random.choice([None, "", [1], {"a": 1}, b"x", True])
    return pd.Series((flat * (size + 1))[:size])


def json_text(value, random):
    """A JSON document with some of its parts replaced; as bytes, half of the time damaged further."""
    for _ in range(random.randint(1, 3)):
        value = _replaced(value, random)
    raw = json.dumps(value).encode()
    return raw if random.random() < 0.6 else damaged(raw, random)


def _replaced(value, random):
    if not isinstance(value, dict | list) or not value or random.random() < 0.25:
        return random.choice([None, [], {}, True, "", "a", "\ud800", [[]], {"a": 1}, *HARD, 10**400])
    if isinstance(value, list):
        place = random.randrange(len(value))
        return [*value[:place], _replaced(value[place], random), *value[place + 1 :]]
    name = random.choice(list(value))
    if random.random() < 0.2:
        return {other: part for other, part in value.items() if other != name} | random.choice([{}, {"more": 1}])
    return value | {name: _replaced(value[name], random)}
