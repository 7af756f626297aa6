"""What users read is in the words of the field: messages, help, docstrings, documents, notebooks, pages."""

import ast
import json
import re

from tests.test_repo import ROOT

PRIVATE = {  # a word that no reader knows, and what to write
    r"aloud": "with a warning",
    r"one voice": "duplicate workers, counted as one",
    r"hangs? (?:up)?on": "depend on",
    r"whole or not at all": "atomically",
    r"(?:the|this) kit": "cofactor",
    r"hidden class(?:es)?": "latent class",
    r"doubtful": "uncertain",
    r"as (?:usual|ever)": "(drop it)",
    r"(?:is|are|was|were|not) told(?! apart)": "reported, printed",
    r"(?:nobody|everybody|somebody)": "no worker, all workers, a user",
    r"(?:four|other) lines": "problems",
    r"lines? of work": "problem",
    r"rooms? of": "package",
}
PATTERN = re.compile("|".join(rf"\b{word}\b" for word in PRIVATE), re.IGNORECASE)
MESSAGES = ("lib/cofactor", "lib/cofactor_app", "notebooks/course")
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("lib/**/*.j2")]


def messages(path):
    """Yield the strings of a file that a user may read: all but private docstrings and what follows the first line."""
    tree, docstrings = ast.parse(path.read_text(encoding="utf8")), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module) and ast.get_docstring(node):
            docstrings.add(node.body[0].value)
            if not getattr(node, "name", "").startswith("_"):
                yield ast.get_docstring(node).partition("\n\n")[0]
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in docstrings)
    yield from (node.value for node in constants if isinstance(node.value, str) and " " in node.value)


def texts():
    """Yield what is read, by its file."""
    for package in MESSAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path, "\n".join(messages(path))
    for path in PAGES:
        yield path, re.sub(r"\{[{%].*?[%}]\}", " ", path.read_text(encoding="utf8"))  # of a template
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf8"))["cells"]
        yield path, "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def test_no_private_word_is_left_in_what_users_read():
    found = []
    for path, text in texts():
        name = path.relative_to(ROOT).as_posix()
        for word in PATTERN.finditer(text):
            found.append(f"{name}: {' '.join(text[max(0, word.start() - 40) : word.end() + 30].split())}")
    assert not found, "\n".join(found)


WORDS_OF_OURS = r"voices?|voiced|told|roads?|rooms?"
IN_A_NAME = re.compile(rf"(?:^|_)(?:{WORDS_OF_OURS})(?!_apart)(?:_|$)")
IN_A_DOCSTRING = re.compile(rf"\b(?:{WORDS_OF_OURS})\b(?! apart)")


def test_public_names_and_docstrings_of_the_library_have_words_of_the_field():
    found = []
    for path in sorted((ROOT / "lib").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                arguments = [one.arg for one in ast.walk(node) if isinstance(one, ast.arg)]
                found += [f"{path.name}: {name}" for name in (node.name, *arguments) if IN_A_NAME.search(name)]
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node) or ""
                found += [
                    f"{path.name}: {text[max(0, m.start() - 40) : m.end() + 20]}" for m in IN_A_DOCSTRING.finditer(text)
                ]
    assert not found, "\n".join(found)
