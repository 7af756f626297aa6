"""Draw the two simulated sets that are bundled: `mixture` (spectra) and `notes` (short texts).

    python -m tools.simulated_sets [FOLDER]     # default: datasets/bundled

The same seeds give the same files; their size and SHA-256 stand in datasets/registry.toml.
"""

from __future__ import annotations

import gzip
import hashlib
import sys
from pathlib import Path

import numpy as np

BUNDLED = Path(__file__).resolve().parents[1] / "datasets" / "bundled"
WAVELENGTHS = np.linspace(400, 2500, 60).round().astype(int)  # nm
N_PIXELS, DECIBELS = 400, 30
MATERIALS = {  # reflectance at the ends, then dips and peaks: nm, width, height
    "grass": (0.08, 0.12, (550, 60, 0.10), (1000, 260, 0.75), (1650, 150, 0.30), (2200, 120, 0.12)),
    "sand": (0.15, 0.60, (900, 120, -0.06), (1450, 60, -0.10), (1940, 80, -0.15)),
    "snow": (0.75, 0.02, (800, 250, 0.25), (1500, 120, -0.12)),
    "roof": (0.12, 0.25, (620, 90, 0.45), (1300, 160, 0.40), (2300, 90, 0.30)),
}
LISTS = {
    "river": "river boat bank water bridge fish current ferry flood reeds canal swan rowing tide harbour",
    "kitchen": "oven flour butter recipe dough sugar pan spoon bake onion soup salt kettle plate garlic",
    "football": "goal match team coach penalty league striker referee stadium keeper season pitch fans corner ball",
    "sky": "star comet orbit telescope planet moon galaxy eclipse meteor lens night astronomer crater dusk light",
    "music": "violin concert piano song rhythm choir melody drum singer stage album tune orchestra guitar chord",
    "garden": "soil seeds roses spade tomato weeds hedge compost bloom lawn bulbs pruning shed mulch beans",
}
COMMON = ["today", "again", "new", "old", "small", "first", "last", "good", "people", "time", "week", "town", "visit"]
COMMON += ["friend", "looking"]
N_TEXTS = 300


def mixture() -> dict[str, str]:
    """Return the pixels and the materials as CSV: the first column is the wavelength in nm."""
    rng, t = np.random.default_rng(1), (WAVELENGTHS - 400) / 2100
    W = np.stack([one[0] + (one[1] - one[0]) * t for one in MATERIALS.values()], axis=1)
    for k, (_, _, *features) in enumerate(MATERIALS.values()):
        for place, width, height in features:
            W[:, k] += height * np.exp(-(((WAVELENGTHS - place) / width) ** 2) / 2)
    W = np.maximum(W, 0.01)
    H = rng.dirichlet(np.full(len(MATERIALS), 0.7), N_PIXELS).T
    H[:, rng.choice(N_PIXELS, len(MATERIALS), replace=False)] = np.eye(len(MATERIALS))
    X = W @ H
    X += rng.standard_normal(X.shape) * np.sqrt(np.mean(X**2) / 10 ** (DECIBELS / 10))
    return {
        "mixture": _table(["wavelength", *(f"p{n}" for n in range(N_PIXELS))], WAVELENGTHS, X.round(4)),
        "mixture_materials": _table(["wavelength", *MATERIALS], WAVELENGTHS, W.round(4)),
    }


def _table(header: list[str], first: np.ndarray, rest: np.ndarray) -> str:
    rows = (",".join([str(one), *(f"{value:.4f}" for value in row)]) for one, row in zip(first, rest, strict=True))
    return "\n".join([",".join(header), *rows]) + "\n"


def notes() -> dict[str, str]:
    """Return the texts, and the list that most words of each come from: three in four, others from a second list."""
    rng, words = np.random.default_rng(2), {name: text.split() for name, text in LISTS.items()}
    names, texts, truth = list(LISTS), ["document,text"], ["document,list"]
    for n in range(1, N_TEXTS + 1):
        one, other = rng.choice(names, 2, replace=False)
        sources = rng.choice([one, other, ""], size=int(rng.integers(7, 15)), p=[0.65, 0.15, 0.2])
        drawn = [str(rng.choice(words.get(str(source), COMMON))) for source in sources]
        texts.append(f"note{n:03d},{' '.join(drawn)}")
        truth.append(f"note{n:03d},{one}")
    return {"notes": "\n".join(texts) + "\n", "notes_lists": "\n".join(truth) + "\n"}


def main(folder: Path = BUNDLED) -> None:
    """Write the four files, packed, and print what the registry says of them."""
    for name, text in (mixture() | notes()).items():
        packed = gzip.compress(text.encode(), mtime=0)
        (folder / f"{name}.csv.gz").write_bytes(packed)
        print(f"{name}.csv.gz", len(packed), hashlib.sha256(packed).hexdigest())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
