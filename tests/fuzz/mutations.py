"""Damaged files: file n of a reader is always the same bytes, so that a failure can be had again by its number."""

import bz2
import gzip
import io
import lzma
import pickle
import zipfile

NUMBERS = ["-1", "0", "1e400", "-1e400", "nan", "inf", "1e-400", str(2**31), str(2**63), "9" * 400, "007", "1.5", "1_0"]
TEXTS = ["", " ", "\x00", "\ufeff", "²", "١٢", "ß", "\u2028", "\x85", "\x1a", '"', '""', "'", "\\", "?", "NA", "=1+1"]
BREAKS = ["\n", "\r", "\r\n", "\n\n", ",", ";", "\t", " ", "|"]
ENCODINGS = ["utf-16", "utf-16-le", "utf-32", "latin-1", "cp037", "utf-7", "utf-8-sig"]
LONG = 4_000  # characters of a very long line
MOST = 4  # mutations of one file
BOMB = 1 << 26  # bytes that a few kilobytes unpack to


UNPICKLED = []


def leave_a_mark():
    UNPICKLED.append(True)


class Evil:
    """What no reader may unpickle: it leaves a mark."""

    def __reduce__(self):
        return leave_a_mark, ()


PICKLE = pickle.dumps(Evil())


# ---- bytes ----


def flip(raw, random):
    place = random.randrange(len(raw))
    return raw[:place] + bytes([raw[place] ^ 1 << random.randrange(8)]) + raw[place + 1 :]


def cut(raw, random):
    return raw[: random.randrange(len(raw))]


def delete(raw, random):
    start, end = sorted((random.randrange(len(raw)), random.randrange(len(raw))))
    return raw[:start] + raw[end:]


def double(raw, random):
    start, end = sorted((random.randrange(len(raw)), random.randrange(len(raw))))
    return raw[:end] + raw[start:end] + raw[end:]


def overwrite(raw, random):
    start = random.randrange(len(raw))
    width = random.choice([1, 2, 4, 8])
    value = random.choice([b"\xff", b"\x00", b"\x7f", b"\x80"]) * width
    return raw[:start] + value + raw[start + width :]


def insert(raw, random):
    place = random.randrange(len(raw) + 1)
    text = random.choice([*NUMBERS, *TEXTS, *BREAKS]) * random.choice([1, 1, 1, 3, 50])
    return raw[:place] + text.encode() + raw[place:]


def insert_noise(raw, random):
    place = random.randrange(len(raw) + 1)
    return raw[:place] + random.randbytes(random.choice([1, 4, 64])) + raw[place:]


def swap_cell(raw, random):
    """Put a hard value in place of a cell."""
    for mark in random.sample([b"\n", b",", b"\t", b" "], 4):
        cells = raw.split(mark)
        if len(cells) > 1:
            cells[random.randrange(len(cells))] = random.choice([*NUMBERS, *TEXTS]).encode()
            return mark.join(cells)
    return raw


def shuffle_lines(raw, random):
    lines = raw.split(b"\n")
    random.shuffle(lines)
    return b"\n".join(lines)


def header_only(raw, random):
    return raw.split(b"\n")[0] + random.choice([b"", b"\n", b"\r\n", b"\n\n\n"])


def other_breaks(raw, random):
    return raw.replace(b"\n", random.choice([b"\r\n", b"\r", b"\n\n", b"\x00", b"\x0b"]))


def other_separator(raw, random):
    return raw.replace(b",", random.choice([b";", b"\t", b"|", b", ", b",,"]))


def recode(raw, random):
    return raw.decode("latin-1").encode(random.choice(ENCODINGS), errors="replace")


def prefix(raw, random):
    return random.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"\n", b"#", b'"', b"\x1f\x8b", b"PK\x03\x04"]) + raw


def long_line(raw, random):
    place = random.randrange(len(raw) + 1)
    return raw[:place] + random.choice([b"1", b",", b"a", b'"', b"\xe9", b"1,"]) * LONG + raw[place:]


def empty(raw, random):
    return b""


MUTATIONS = [flip, cut, delete, double, overwrite, insert, insert, insert_noise, swap_cell, swap_cell, swap_cell]
MUTATIONS += [shuffle_lines, header_only, other_breaks, other_separator, recode, prefix, long_line]


def mutated(raw, random):
    for _ in range(random.randint(1, MOST)):
        raw = random.choice(MUTATIONS)(raw, random) if raw else raw
    return raw


def noise(sample, random):
    """Random bytes, or random draws of the sample's own bytes."""
    size = random.choice([0, 1, 2, 8, 64, 512, 4096])
    return random.choice([random.randbytes(size), bytes(random.choices(sample or b"\x00", k=size)), PICKLE])


def damaged(sample, random):
    """Random bytes (one file in eight), the sample as it is (one in fifty), or the sample with a few mutations."""
    kind = random.random()
    if kind < 1 / 8:
        return noise(sample, random)
    return sample if kind < 1 / 8 + 1 / 50 else mutated(sample, random)


# ---- containers ----


def _zip(raw, names=("inner.csv",)):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, raw)
    return file.getvalue()


PACKERS = {
    ".gz": lambda raw: gzip.compress(raw, 1, mtime=0),
    ".bz2": lambda raw: bz2.compress(raw, 1),
    ".xz": lambda raw: lzma.compress(raw, preset=0),
    ".zip": _zip,
}
BOMBS = {}  # made on first use


def bomb(suffix):
    """A small file that unpacks to many equal lines."""
    if suffix not in BOMBS:
        BOMBS[suffix] = PACKERS[suffix](b"0,0,0\n" * (BOMB // 6))
    return BOMBS[suffix]


def packed(sample, suffix, random):
    """A packed file: the content damaged before or after packing, or very large once unpacked."""
    kind = random.random()
    if kind < 0.001:
        return bomb(suffix)
    if kind < 0.01 and suffix == ".zip":
        return _zip(sample, random.choice([(), ("a.csv", "b.csv"), ("../../a.csv",)]))
    if kind < 0.5:
        return PACKERS[suffix](damaged(sample, random))
    return damaged(PACKERS[suffix](sample), random)
