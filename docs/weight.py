"""Take out of the theme's styles and icons what no page of the book uses: they come for every possible page.

A rule for a class can apply only where a page has the class, or where a script gives it. Names of classes are words of
a page or a script, or begin with a word of a script that ends with a hyphen, to which the script joins the rest. Other
classes are never used. Two thirds of the theme's styles go by this.
"""

import re

import tinycss2
from fontTools import subset

WORD = re.compile(r"[\w-]+")
CLASS = re.compile(r"\.([A-Za-z][\w-]*)")
BEGINNING = re.compile(r"[A-Za-z]{2}[\w-]*-")  # of a name that a script makes; one letter is a variable, less something
ICON = re.compile("[\ue000-\uf8ff]")  # icons are characters for private use, as Unicode calls them
PRINTED = {*range(32, 127)}  # some icons are plain characters, such as +
GROUPS = {"media", "supports", "layer", "container"}  # at-rules that hold rules


def lighten(site):
    """Rewrite the styles and icon fonts in `site/_static`, for the pages and scripts of the site."""
    static = site / "_static"
    words = set()
    for path in [*site.rglob("*.html"), *static.rglob("*.js")]:
        words.update(WORD.findall(path.read_text(encoding="utf8")))
    beginnings = tuple(word for word in words if BEGINNING.fullmatch(word))
    icons = set(PRINTED)
    for path in static.rglob("*.css"):
        style = path.read_text(encoding="utf8")
        style = used(style, words | {name for name in CLASS.findall(style) if name.startswith(beginnings)})
        path.write_text(style, encoding="utf8")
        icons.update(map(ord, ICON.findall(style)))
    for path in static.rglob("*.woff2"):
        keep_letters(path, icons)


def used(style, words):
    """Return a style sheet without the selectors that name a class which is not among `words`."""
    return "".join(parts(tinycss2.parse_stylesheet(style, skip_whitespace=True), words))


def parts(rules, words):
    """Yield the text of each rule that can apply, and of the comments that name a licence."""
    for rule in rules:
        if rule.type == "qualified-rule":
            live = [text for text, classes in selectors(rule.prelude) if classes <= words]
            if live:
                yield f"{','.join(live)}{{{tinycss2.serialize(rule.content).strip()}}}"
        elif rule.type == "at-rule" and rule.lower_at_keyword in GROUPS and rule.content is not None:
            inner = "".join(parts(tinycss2.parse_rule_list(rule.content, True, True), words))
            if inner:
                yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude).rstrip()}{{{inner}}}"
        elif rule.type != "comment" or rule.value.startswith("!"):
            yield rule.serialize()


def selectors(prelude):
    """Yield each selector of a list with the classes that it asks for, but for those within :not() and the like."""
    texts, classes = [], set()
    for before, token in zip([None, *prelude], [*prelude, None], strict=True):
        if token is None or token == ",":
            yield tinycss2.serialize(texts).strip(), classes
            texts, classes = [], set()
            continue
        texts.append(token)
        if token.type == "ident" and before == ".":
            classes.add(token.value)


def keep_letters(path, codes):
    """Leave only the characters `codes` in a font."""
    options = subset.Options(flavor="woff2")
    with subset.load_font(path, options) as font:
        chosen = subset.Subsetter(options)
        chosen.populate(unicodes=codes)
        chosen.subset(font)
        subset.save_font(font, path, options)
