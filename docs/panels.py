"""Panels that move in the book: each is computed over a grid of its controls before, and a script swaps the pictures.

`panels.toml` says which values. Computed pictures are kept by a hash of all that they depend on, so that the next
build computes only what has changed. A page loads the sentences of a panel when its first control is moved, and each
picture when it is shown; without JavaScript the picture stored in the notebook stands.

The folder of a panel holds `0.webp`, `1.webp`, ... and `states.js`, which gives for each combination of positions
("0,2,1") the sentence, the alternative text, and the picture ("" where cofactor refuses the values).
"""

import hashlib
import html
import io
import json
import re
import shutil
import tempfile
import tomllib
from functools import cache
from importlib import import_module, metadata
from itertools import product
from math import prod
from pathlib import Path

from ipywidgets import Dropdown
from joblib import Parallel, delayed
from PIL import Image

import cofactor
from cofactor.core.errors import CofactorError
from cofactor_app.plots.style import alt_text
from course.panel import label, named
from evaluation.trials import VERSIONS, bare

ROOT = Path(__file__).resolve().parents[1]
GRIDS, COURSE = ROOT / "docs" / "panels.toml", ROOT / "notebooks" / "course"
MOST = 150  # states of a panel
SOME = "Here are some values; JupyterLab has all of them."
CALL = re.compile(r"\b(nb\d\d)\.(\w+_live)\(\)\s*\Z")  # as it ends the cell of a notebook


def grids():
    """Return what is written in `panels.toml`: the values of every control, by the name of the panel."""
    return tomllib.loads(GRIDS.read_text(encoding="utf8"))


def called(source):
    """Return the name of the panel that the code of a cell ends with, by the package that makes it; None if none."""
    if not (found := CALL.search(source)):
        return None
    home = getattr(import_module(f"course.{found[1]}"), found[2]).__module__
    return f"{home.split('.')[1]}.{found[2]}"


# ---- what is kept from build to build ----


def computed(kept, few=False):
    """Compute the panels that are not yet in the folder `kept`; return the folder of each panel by its name.

    `few` computes only what a panel starts with, and one other value of its first control.
    """
    wanted = grids()
    folders = {name: kept / f"{name}-{mark(name, written, few)}" for name, written in wanted.items()}
    kept.mkdir(parents=True, exist_ok=True)
    missing = [name for name in wanted if not folders[name].exists()]
    Parallel(n_jobs=-1)(delayed(compute)(name, wanted[name], folders[name], few) for name in missing)
    for old in {path for path in kept.glob("nb*") if path.is_dir()} - set(folders.values()):
        shutil.rmtree(old)
    return folders


def mark(name, written, few):
    """Hash all that decides what a panel shows: code, versions, data sets, values."""
    own = sorted([*COURSE.glob("*.py"), *(COURSE / name.partition(".")[0]).glob("*.py"), Path(__file__)])
    code = [library(), *(bare(path.read_text(encoding="utf8")) for path in own)]
    versions = [metadata.version(package) for package in (*VERSIONS, "matplotlib", "pandas", "pillow")]
    registry = (ROOT / "datasets" / "registry.toml").read_text(encoding="utf8")
    parts = [*code, *versions, registry, written, few]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


@cache
def library():
    """Hash the code of the library without docstrings and comments."""
    code = [bare(path.read_text(encoding="utf8")) for path in sorted(Path(cofactor.__file__).parent.rglob("*.py"))]
    return hashlib.sha256("\0".join(code).encode()).hexdigest()


# ---- a panel over its grid ----


def compute(name, written, folder, few=False):
    """Write the pictures, sentences and controls of a panel into a folder of its own."""
    panel = made(name)
    values, states = meant(name, panel, written, few), {}
    with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
        part = Path(unfinished, folder.name)
        part.mkdir()
        for place in places(panel, values, few):
            shown = panel.at(**{key: values[key][i] for i, key in zip(place, values, strict=True)})
            picture, alt = "", ""
            if shown.figure is not None:
                picture, alt = f"{len(states)}.webp", alt_text(shown.figure).removeprefix("Figure: ")
                (part / picture).write_bytes(to_webp(panel.frame()))
            states[",".join(map(str, place))] = [shown.text, alt, picture]
        text = f"cofactorPanel({json.dumps(name)}, {json.dumps(states, ensure_ascii=False, indent=0)});\n"
        (part / "states.js").write_text(text, encoding="utf8")
        (part / "controls.html").write_text(controls(panel, values), encoding="utf8")
        part.replace(folder)


def made(name):
    """Return a new live figure."""
    home, make = name.split(".")
    return getattr(import_module(f"course.{home}"), make)()


def meant(name, panel, written, few):
    """Return the values of every control that are written in `panels.toml`, in the order of the controls."""
    if set(written) != set(panel.controls):
        raise CofactorError(f"{GRIDS.name}, {name}: name its controls, which are {', '.join(panel.controls)}")
    values = {key: _offered(name, control, written[key]) for key, control in panel.controls.items()}
    if (n := prod(map(len, values.values()))) > MOST:
        raise CofactorError(f"{GRIDS.name}, {name}: {n} combinations; leave out values until there are {MOST}")
    return {key: _two(panel.controls[key], some) if few else some for key, some in values.items()}


def _offered(name, control, written):
    """Return values that are written for a control, where it has all of them and the one it starts with."""
    options = dict(named(control)) if hasattr(control, "options") else {}
    values = [options.get(one, one) for one in written]
    wrong = [one for one in written if (one not in options if options else not control.min <= one <= control.max)]
    if wrong or control.value not in values or len(set(values)) < 2:
        said = f"{GRIDS.name}, {name}, {control.description!r}: {written}"
        raise CofactorError(f"{said} needs two values of the control, among them {label(control, control.value)!r}")
    return values


def _two(control, values):
    """Keep what a control starts with, and the first other value."""
    other = next(one for one in values if one != control.value)
    return [one for one in values if one in (control.value, other)]


def places(panel, values, few):
    """Return the combinations to compute, as the positions of their values."""
    sizes = [range(len(some)) for some in values.values()]
    start = [values[key].index(value) for key, value in panel.params.items()]
    return [place for place in product(*sizes) if not few or list(place[1:]) == start[1:]]


def to_webp(png):
    """Return a frame as WebP of 64 colours without further loss: some 9 kB, in a tenth of a PNG's time."""
    buffer = io.BytesIO()
    picture = Image.open(io.BytesIO(png)).convert("RGB").quantize(64, dither=Image.Dither.NONE)
    picture.convert("RGB").save(buffer, "webp", lossless=True, method=2)
    return buffer.getvalue()


# ---- controls ----


def controls(panel, values):
    """Return the controls of a panel as HTML: lists for choices of words, else sliders over the positions."""
    return "\n".join(_control(control, values[key]) for key, control in panel.controls.items())


def _control(control, values):
    names, start = [html.escape(label(control, value)) for value in values], values.index(control.value)
    title = html.escape(control.description)
    if isinstance(control, Dropdown):
        options = [f"<option{' selected' * (i == start)}>{one}</option>" for i, one in enumerate(names)]
        return f"<label><span>{title}</span><select>{''.join(options)}</select></label>"
    told = html.escape(json.dumps([html.unescape(one) for one in names]))
    slider = f'<input type="range" min="0" max="{len(names) - 1}" value="{start}" data-labels="{told}">'
    return f"<label><span>{title}</span>{slider}<output>{names[start]}</output></label>"


def box(name, folder, figure, sentence):
    """Return the HTML that the script puts above a figure: the controls, hidden while no script runs."""
    said, inner = html.escape(sentence), (folder / "controls.html").read_text(encoding="utf8")
    opening = f'<div class="panel-controls" data-panel="{name}" data-figure="{figure}" data-sentence="{said}" hidden>'
    return f"{opening}\n{inner}\n<small>{SOME}</small>\n</div>"
