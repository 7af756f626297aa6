"use strict";
/*
 * Names of tasks, workers and classes: how they stand in a sentence, which of them look alike, and which are hardly
 * what they are taken for; as core/errors.py, core/look_alikes.py, crowd/kinds.py and crowd/answers.py.
 */

const BLANKS = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const OUTER_BLANKS = new RegExp(`^${BLANKS}|${BLANKS}$`, "g"); // what Python's strip takes away
const BLANK = new RegExp(BLANKS, "g"), JOINED = new RegExp(`(${BLANKS}|[_-])+`, "g");
const NO_SHAPE = new RegExp(`[\\p{Cf}${CONSTANTS.unseen}]`, "gu"); // this and the next as core/look_alikes.py
const NUMERAL = /^([+-]?)(\d+(?:_\d+)*)?(?:\.(\d+(?:_\d+)*)?)?(?:e([+-]?\d{1,3}))?$/;
const PLAIN_NUMBER = /^(0|-?[1-9][0-9]{0,17})$/;
const SHORTENED = /^\p{Nd}([.,]\p{Nd}+)?E\+\p{Nd}+$/u; // these three as crowd/kinds.py
const FRACTION = /^[+-]?\p{Nd}+[.,]\p{Nd}+$/u, NUMBER = /^[+-]?\p{Nd}+([.,]\p{Nd}+)?$/u;

// ---- values in a sentence ----

/** Name the first ten values and count them all; as `listing` in core/errors.py. */
function listing(values, count = values.length) {
  const left = count - Math.min(count, CONSTANTS.shown), shown = values.slice(0, CONSTANTS.shown).join(", ");
  return left ? `${shown}, ... (${count} in all)` : shown;
}

/** Write a text as Python's repr does. */
function repr(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const named = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", [quote]: `\\${quote}` };
  const hidden = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u; // what Python calls not printable
  const shown = Array.from(text, (letter) => named[letter] ?? (hidden.test(letter) ? escaped(letter) : letter));
  return quote + shown.join("") + quote;
}

function escaped(letter) {
  const code = letter.codePointAt(0), [mark, digits] = code < 256 ? ["x", 2] : code < 65536 ? ["u", 4] : ["U", 8];
  return `\\${mark}${code.toString(16).padStart(digits, "0")}`;
}

// ---- names without what does not count ----

function strip(text) {
  return text.replace(OUTER_BLANKS, "");
}

/** A cell without blanks around it; of one in which nothing can be seen, nothing is left. */
function stripped(cell) {
  return strip(cell.replace(NO_SHAPE, "")) && strip(cell);
}

/** A text without capitals. */
function folded(text) {
  return text.replace(/[^ı]+/g, (part) => part.toUpperCase().toLowerCase()).replace(/ς/g, "σ");
}

/** A name without capitals and without differences that only Unicode knows. */
function caseless(text) {
  return folded(text.normalize("NFKC"));
}

/** A column's name without what tells no two names apart: capitals, and how its words are joined. */
function plain(name) {
  return caseless(strip(name)).replace(JOINED, "_");
}

/** A word without capitals and with single blanks. */
function oneWay(word) {
  return strip(folded(word)).replace(BLANK, " ");
}

// ---- names that look alike ----

/** Return groups of names that differ only in how they are written; as core/look_alikes.py, whole numbers never do. */
function lookAlikes(names, truthValues) {
  if (names.every((name) => PLAIN_NUMBER.test(name))) return [];
  return [...grouped(names, (name) => skeleton(name, truthValues)).values()].filter((group) => group.length > 1);
}

function noteLookAlikes(groups, what, notes) {
  if (!groups.length) return;
  const shown = listing(groups.map((group) => shownGroup(group).join(" = ")));
  const advice = "merge_look_alikes (--merge-look-alikes) makes them one";
  notes.push(`${what} that look alike count as different: ${shown}; ${advice}`);
}

/** Write names in order; with escapes where they cannot be told apart by eye. */
function shownGroup(group) {
  const byEye = new Set(group.map(folded)).size === 1;
  const plainly = (letter) => (letter.codePointAt(0) > 126 ? escaped(letter) : letter);
  const ascii = (text) => Array.from(text, plainly).join("");
  const readable = byEye || group.every((name) => ascii(name) === name);
  return [...group].sort(byPoint).map((name) => (readable ? repr(name) : ascii(repr(name))));
}

function skeleton(name, truthValues) {
  const alike = (letter) => String.fromCodePoint(CONSTANTS.sameLetter[letter.codePointAt(0)] ?? letter.codePointAt(0));
  const seen = caseless(Array.from(name, alike).join("")).normalize("NFKC").replace(NO_SHAPE, "");
  const words = strip(Array.from(seen, alike).join("")).replace(BLANK, " ");
  return numeral((truthValues ? CONSTANTS.truthValues[words] : undefined) ?? words);
}

/** A number in one form, to its last digit; other texts as they are; as core/look_alikes.py. */
function numeral(text) {
  const [, sign, ...parts] = NUMERAL.exec(text.replace(/\p{Nd}/gu, digit)) ?? [];
  const [whole, part, power] = [0, 1, 2].map((n) => (parts[n] ?? "").replaceAll("_", ""));
  const digits = (whole + part).replace(/^0+/, ""), left = digits.replace(/(?<!0)0+$/, "");
  if (!(whole + part) || (!left && Number(power))) return text;
  return left ? `${sign === "-" ? sign : ""}${left}e${Number(power) - part.length + digits.length - left.length}` : "0";
}

/** The digit of any script, 0 to 9: those of one follow each other. */
function digit(letter) {
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(letter.codePointAt(0) - value - 1))) value++;
  return value % 10;
}

// ---- labels that may not be what they are taken for ----

/** Note what is odd of the different tasks, workers and classes, as they are written, of so many labels. */
function noteOddNames([tasks, workers, classes], nLabels, notes) {
  notes.push(...cutIds(tasks, "tasks"), ...cutIds(workers, "workers"), ...oddLabels(classes, nLabels));
}

function* cutIds(names, what) {
  const cut = names.find((name) => SHORTENED.test(name));
  if (cut !== undefined) {
    yield `${what} such as ${repr(cut)} are numbers whose last digits a spreadsheet has cut, so that different ones `
      + "may have become one: export the ids as text";
  }
}

function* oddLabels(labels, nLabels) {
  const known = new Set(labels), parts = (name) => name.split("|").map(strip), each = "is a class of its own";
  const several = labels.find((name) => name.includes("|") && parts(name).every((part) => known.has(part)));
  if (several !== undefined) {
    yield `labels such as ${repr(several)} hold several answers and count as a class of their own: `
      + "ask one question per answer, with labels yes and no";
  }
  const coded = labels.find((name) => name.length > 1 && ["{}", "[]"].includes(name[0] + name.at(-1)));
  if (coded !== undefined) {
    yield `labels such as ${begun(coded)} are JSON, and count as they are written: take one value out of each`;
  }
  const fraction = labels.find((name) => FRACTION.test(name) && !/[.,]0+$/.test(name));
  if (fraction !== undefined && labels.every((name) => NUMBER.test(name))) {
    const few = "round them, or declare their order";
    yield `labels such as ${repr(fraction)} are numbers with fractions; each ${each}: ${few}`;
  } else if (labels.length > CONSTANTS.many && 2 * labels.length > nLabels) {
    const size = (name) => Array.from(name).length, longest = Math.max(...labels.map(size));
    const shown = begun(labels.find((name) => size(name) === longest));
    yield `${labels.length} different labels in ${nLabels}, such as ${shown}: each ${each}; `
      + "free text, or the answers of an open question, need to be sorted into classes first";
  }
  yield* compound(labels);
}

/** The first letters of a label, of which a message shows so many. */
function begun(name) {
  return repr(Array.from(name).slice(0, 40).join(""));
}

/** Say where all labels are paths, or orders of the same things. */
function* compound(labels) {
  for (const mark of labels.length > 1 ? [">", "<", ","] : []) {
    const things = (name) => JSON.stringify(name.split(mark).map(strip).sort());
    const n = labels[0].split(mark).length, first = things(labels[0]);
    if (n > 2 && labels.every((name) => things(name) === first)) {
      yield `labels such as ${repr(labels[0])} are orders of the same ${n} things: `
        + "give the places in columns of their own to `cofactor rank --places`";
      return;
    }
  }
  for (const mark of ["/", ">", "::"]) {
    const ends = new RegExp(`^[${mark}]+|[${mark}]+$`, "g"), above = (name) => name.split(mark)[0];
    const isPath = (name) => name.replace(ends, "").includes(mark);
    const paths = labels.filter(isPath), heads = new Set(paths.map(above));
    const whole = labels.every((name) => isPath(name) || heads.has(name));
    if (paths.length > 1 && whole && new Set(labels.map(above)).size < labels.length) {
      yield `labels such as ${repr(paths[0])} are paths; each whole path is a class of its own: `
        + `for the upper level alone, keep what stands before ${repr(mark)}`;
      return;
    }
  }
}

/** Note columns that say how sure an answer is, since nothing here uses them. */
function noteUnread(names, used, notes) {
  const unread = names.find((name) => CONSTANTS.confidences.includes(folded(strip(name))) && !used.includes(name));
  if (unread === undefined) return;
  notes.push(`column ${unread} is not used: how good a worker is, is learned from the labels themselves`);
}

/** Note classes that look as if the worker could not tell. */
function noteNoAnswers({ ids, codes }, notes) {
  const sign = ids.includes("+") ? "-" : "", keys = new Set(CONSTANTS.noAnswers.map((word) => skeleton(word)));
  const found = ids.filter((name) => keys.has(skeleton(name)) && skeleton(name) !== sign).sort(byPoint);
  if (!found.length) return;
  const counts = new Map(found.map((name) => [ids.indexOf(name), 0]));
  for (const code of codes) if (counts.has(code)) counts.set(code, counts.get(code) + 1);
  const told = listing(found.map((name) => `${repr(name)} (${counts.get(ids.indexOf(name))})`));
  notes.push(`labels that look like no answer count as a class: ${told}; `
    + `if they are none, leave them out with ignore (--ignore ${repr(found[0])})`);
}
