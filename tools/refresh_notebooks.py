"""Run notebooks and store canonical outputs: two runs give the same bytes.

usage: python3 kit.py notebooks [--check] [notebook ...]
"""

import argparse
import hashlib
import os
import re
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbval.plugin import get_sanitize_patterns

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = [path for folder in ("", "labs") for path in sorted((ROOT / "notebooks" / folder).glob("*.ipynb"))]
PATTERNS = get_sanitize_patterns((ROOT / "tests" / "nbval_sanitize.cfg").read_text(encoding="utf8"))
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
OVERWRITTEN = re.compile(r"^.*\r(?=[^\n])", flags=re.MULTILINE)
UNCHECKED = "nbval-ignore-output"
CELL_TIMEOUT = 300


def main():
    """Refresh or check the notebooks named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, default=NOTEBOOKS)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a notebook would change")
    options = parser.parse_args()
    changed = [refresh(path.resolve(), options.check) for path in options.paths]
    return int(options.check and any(changed))


def refresh(path, check_only):
    """Run one notebook; write it when its canonical form changed; tell whether it did."""
    start = time.perf_counter()
    new = executed(path)
    changed = new != path.read_text(encoding="utf8")
    if changed and not check_only:
        path.write_text(new, encoding="utf8", newline="\n")
    verdict = "same" if not changed else "would change" if check_only else "changed"
    print(f"{path.name}: {verdict} ({time.perf_counter() - start:.1f} s)", file=sys.stderr)
    return changed


def executed(path):
    """Text of the notebook after a run from top to bottom."""
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in code:
        cell.outputs, cell.execution_count = [], None
    execute(notebook, path.parent)
    for cell in code:  # a measurement that no test can compare is not stored: readers make their own
        cell.outputs = [] if UNCHECKED in cell.metadata.get("tags", []) else cell.outputs
    make_canonical(notebook)
    nbformat.validate(notebook)
    return nbformat.writes(notebook, version=4) + "\n"


def execute(notebook, folder):
    """Run all cells in a fresh kernel."""
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        notebook, timeout=CELL_TIMEOUT, kernel_name="python3", record_timing=False, resources=resources
    )
    # nbclient's stand-in for Output widgets can lose wake-ups and then hangs, and hides the outputs from nbval
    client.widget_registry = {}
    client.execute(env={**os.environ, "PYTHONSTARTUP": str(ROOT / "tests" / "kernel_startup.py")})


def make_canonical(notebook):
    """Drop all that changes from run to run or from machine to machine."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata["kernelspec"] = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    notebook.metadata["language_info"] = {"name": "python"}
    notebook.nbformat_minor = 5
    seen = {}
    for cell in notebook.cells:
        digest = hashlib.sha1(cell.source.encode()).hexdigest()[:10]
        seen[digest] = seen.get(digest, 0) + 1
        cell["id"] = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = merged_streams(cell.outputs)
            for output in cell.outputs:
                clean_output(output)


def merged_streams(outputs):
    """Each stream once, at its first place: how often a kernel flushes is chance."""
    merged, streams = [], {}
    for output in outputs:
        if output.output_type == "stream" and output.name in streams:
            streams[output.name].text += output.text
            continue
        if output.output_type == "stream":
            streams[output.name] = output
        merged.append(output)
    return merged


def clean_output(output):
    """Sanitise the text of one output in place, as nbval does before it compares."""
    if output.output_type == "stream":
        output.text = clean_text(output.text)
    elif output.output_type == "error":
        output.traceback = [COLOUR.sub("", clean_text(line)) for line in output.traceback]
    else:
        if len(output.data) > 1:
            output.data.pop(WIDGET_VIEW, None)  # a live view needs a kernel; the picture or text beside it does not
        for kind, value in output.data.items():
            if isinstance(value, str) and not kind.startswith("image/"):
                output.data[kind] = clean_text(value)


def clean_text(text):
    """Apply the patterns shared with nbval; keep what a terminal would show of a progress bar."""
    for pattern, replacement in PATTERNS:
        text = re.sub(pattern, replacement, text)
    return OVERWRITTEN.sub("", text)


if __name__ == "__main__":
    sys.exit(main())
