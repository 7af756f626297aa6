"""Rules of the core path: it takes about an hour, is counted and not guessed, and readers see where it leaves off.

A rule takes a notebook and yields complaints, as those of `notebook_rules`, which holds them.
"""

import re
from importlib import import_module

from tests.notebook_parts import CORE, FENCE, HEADING, MARK, code_cells, opening, tags
from tools.minutes import CHECKED, FURTHER, claimed, counted

WITHIN = 0.15  # of the counted minutes
FEWEST, MOST = 45, 60  # minutes of a core path
NAMED = re.compile(r"\b[Oo]bjectives? (\d(?:(?:, | and )\d)*)")  # objectives that a line names


def minutes_are_counted(notebook):
    """The minutes told are those that the rates of `tools/minutes.py` give, within 15 %."""
    for told, core in zip(claimed(notebook), (True, False), strict=True):
        found = counted(notebook, core)
        if abs(told - found) > WITHIN * found:
            yield f"{told} minutes are told {'on the core path' if core else 'in all'}; counted are {found:.0f}"


def core_takes_an_hour(notebook):
    """The core path takes 45 to 60 minutes."""
    found = counted(notebook, core=True)
    if not FEWEST <= found <= MOST:
        yield f"the core path takes {found:.0f} minutes, and not {FEWEST} to {MOST}: which sections are further?"


def further_is_marked(notebook):
    """What is further begins at a heading that says so, and ends at a heading of the same level or a higher one."""
    level = 0  # of the heading that opened what is further; 0: on the core path
    for cell in (cell for cell in notebook.cells if "told" not in tags(cell)):
        found, begins = _headings(cell), cell.source.startswith("#")
        first = found[0][0] if found else 9
        if FURTHER not in tags(cell):
            yield from (f"'{title}' is called further, without the tag" for _, title in found if title.endswith(MARK))
            if level and not (begins and first <= level):
                yield f"the core path goes on without a heading: {cell.source[:60]!r}"
            level = 0
        elif not level or first <= level:
            if not (found and begins and found[0][1].endswith(MARK)):
                yield f"what is further begins without a heading that ends in '{MARK}': {cell.source[:60]!r}"
            level = first


def core_has_exercises(notebook):
    """Objectives that have exercises keep one on the core path, or the first cell says that they are met further on."""
    cells = [cell for cell in notebook.cells if FURTHER not in tags(cell)]
    line = re.search(rf"^{re.escape(CORE)} .*$", opening(notebook), re.MULTILINE)
    if len(cells) < len(notebook.cells) and not line:
        yield f"the first cell needs a line '{CORE} ...': what is further, and which objectives are met there"
    here = {name for cell in code_cells(notebook) if FURTHER not in tags(cell) for name in CHECKED.findall(cell.source)}
    named = {number for found in NAMED.findall(line[0] if line else "") for number in re.findall(r"\d", found)}
    for number, own in enumerate(_names_by_objective(notebook), start=1):
        if own and not here & set(own) and str(number) not in named:
            yield f"objective {number} has no exercise on the core path, and the line '{CORE}' does not name it"


def _names_by_objective(notebook):
    """The names of the exercises of each objective, as the checkpoint knows them."""
    found = re.search(r"\bcheckpoint\(\"(nb\d\d)\"\)", "\n".join(cell.source for cell in code_cells(notebook)))
    return import_module(f"course.{found[1]}.exercises").OBJECTIVES if found else ()


def _headings(cell):
    """Level and title of every heading of a text."""
    text = FENCE.sub("", cell.source) if cell.cell_type == "markdown" else ""
    return [(len(signs), title.strip()) for signs, title in HEADING.findall(text)]


PATH_RULES = (minutes_are_counted, core_takes_an_hour, further_is_marked, core_has_exercises)
