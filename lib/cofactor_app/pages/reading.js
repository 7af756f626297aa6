"use strict";
/*
 * From the bytes of a CSV file to coded labels, by the same rules and in the same words as `cofactor aggregate`; what
 * is said of names is in notes.js.
 *
 * A `Refusal` is input that cannot be used. Its message is that of the library (core/frames.py, crowd/labels.py);
 * tests/browser/test_aggregate_page.py holds the two equal. CONSTANTS comes from Python, see cli/page.py.
 */

class Refusal extends Error {}

const FIRST_ROW = " (the first line is row 1)";

function refuse(wrong, message) {
  if (wrong) throw new Refusal(message);
}

// ---- bytes to text ----

/** Return the text of a file; refuse what is no text in its encoding, or no text at all. */
function textOf(bytes, name, encoding) {
  const begins = (codes) => codes.every((code, i) => bytes[i] === code);
  const packed = CONSTANTS.packed.find(([, ...codes]) => begins(codes));
  refuse(packed, `${name} is ${packed?.[0]}`);
  const big = encoding === "utf-16" && bytes[0] === 0xfe; // the mark of the other order of bytes
  let text;
  try {
    text = new TextDecoder(big ? "utf-16be" : encoding, { fatal: true }).decode(bytes);
  } catch {
    const where = encoding === "utf-8" ? ` (byte ${firstBad(bytes)})` : "", marks = bytes.slice(0, 2).join();
    refuse(true, `${name} is not ${encoding} text${where}: save it as UTF-8, or name its encoding, `
      + `for example encoding='${["255,254", "254,255"].includes(marks) ? "utf-16" : "latin-1"}'`);
  }
  refuse(text.includes("\0"), `${name} cannot be read as CSV: it is no text: byte ${bytes.indexOf(0)} is zero; `
    + "name its encoding, for example encoding='utf-16', or save it as UTF-8");
  return text.replace(/^\ufeff+/, "");
}

/** Return the place of the first byte that is not UTF-8, behind a byte order mark: there, text written anew differs. */
function firstBad(bytes) {
  const text = new TextDecoder().decode(bytes), anew = new TextEncoder().encode(text);
  const old = bytes.subarray(bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0);
  let at = anew.findIndex((byte, i) => byte !== old[i]);
  while ((anew[at] & 0xc0) === 0x80) at--; // the beginning of the character
  return at;
}

// ---- text to cells ----

/** Yield the cells of one record after another; `seen` has the row, and the first row with a quote that is wrong. */
function* recordsOf(text, separator, at = 0, seen = {}) {
  const mark = marked(separator);
  const quoted = '"([^"]*(?:""[^"]*)*)("|$)', open = `[^${mark}\\r\\n]*`, ends = `${mark}|\\r\\n|\\r|\\n|$`;
  const cell = new RegExp(`(?:${quoted})?(${open})(${ends})`, "y");
  cell.lastIndex = at;
  for (let cells = []; cell.lastIndex < text.length || cells.length; ) {
    const [, within, closing, behind, end] = cell.exec(text);
    if (!cells.length) seen.row++;
    if (closing === "") seen.unclosed ??= seen.row;
    if (closing && strip(behind)) seen.goesOn ??= seen.row;
    cells.push(closing === undefined ? behind : within.replaceAll('""', '"') + behind);
    if (end === separator) continue;
    yield cells;
    cells = [];
  }
}

/** A separator as a regular expression has it. */
function marked(separator) {
  return `\\u${separator.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Name the rows that end in a carriage return alone, if some end otherwise: it may belong to a cell. */
function noteReturns(text, separator, notes) {
  if (!text.includes("\n") || !/\r(?![\r\n])/.test(text)) return;
  const ends = new RegExp(`(?<![^\\r\\n${marked(separator)}])"[^"]*(?:""[^"]*)*"|(\\r+)(\\n)?|\\n`, "g"), alone = [];
  let row = 1, others = 0;
  for (const { 0: found, 1: returns, 2: behind, index } of text.matchAll(ends)) {
    if (found[0] === '"') continue;
    if (returns && !behind && index + found.length < text.length) alone.push(row);
    else others++;
    row += returns?.length ?? 1;
  }
  const where = `rows ${listing(alone)}${FIRST_ROW} end in a carriage return alone, others in a line feed`;
  if (alone.length && others) notes.push(`${where}: if it belongs to a cell, put that cell in quotes`);
}

// ---- cells to columns ----

/** Return the separator under which the header names most of the wanted columns, then most columns at all. */
function separatorOf(text, columns) {
  const wanted = new Set(columns.map(plain));
  const fits = Array.from(CONSTANTS.separators, (separator) => {
    const names = (recordsOf(text, separator).next().value ?? []).map(plain);
    return [new Set(names.filter((name) => wanted.has(name))).size, names.length, separator];
  });
  return fits.reduce((best, fit) => (fit[0] - best[0] || fit[1] - best[1]) > 0 ? fit : best)[2];
}

/** Name columns as pandas does: those without a name by their place, those of one name by a number. */
function namesOf(header) {
  const given = new Map();
  return header.map((name, place) => {
    name ||= `Unnamed: ${place}`;
    for (let count; (count = given.get(name)); name = `${name}.${count}`) given.set(name, count + 1);
    given.set(name, 1);
    return strip(name);
  });
}

/** Give wanted columns their names where capitals and blanks alone differ, and only one can be meant. */
function nameColumns(names, columns) {
  for (const wanted of columns) {
    const alike = names.flatMap((name, i) => (plain(name) === plain(wanted) && !columns.includes(name) ? [i] : []));
    if (!names.includes(wanted) && alike.length === 1) names[alike[0]] = wanted;
  }
}

/** Return the wanted columns, or others that all three are usually called, with a note; as crowd/layouts.py. */
function takenColumns(names, columns, notes) {
  const { usual, rarer } = CONSTANTS, roles = Object.keys(usual), form = (name) => folded(name).replace(/[\s-]+/g, "_");
  const found = roles.map((role, i) => {
    if (names.includes(columns[i]) || columns[i] !== role) return columns[i];
    const there = [usual, rarer].map((known) => names.filter((name) => known[role].includes(form(name))));
    return there.find((some) => some.length === 1)?.[0];
  });
  const whole = new Set(found).size === found.length && found.every((name) => names.includes(name));
  if (!whole || columns.every((name) => names.includes(name))) return columns;
  const said = found.map((name, i) => `${roles[i]} from ${name}`).join(", ");
  notes.push(`columns: ${said}; task=, worker= and label= choose other columns`);
  return found;
}

/** Return in words what is wrong with the columns of a table, or with those that were taken. */
function wrongColumns(header, names, columns, taken) {
  const twice = taken.filter((name) => header.filter((other) => strip(other) === name).length > 1);
  if (twice.length) return `more than one column is called ${listing(twice)}: rename all but one`;
  if (taken !== columns) return "";
  const missing = columns.filter((name) => !names.includes(name));
  const other = names.length === 1 && Array.from(CONSTANTS.separators).find((one) => names[0].includes(one));
  const which = `say which column is which, for example ${missing[0]}='${names[0]}', or rename`;
  const advice = other ? `columns seem to be separated by another character, say sep='${other}'` : which;
  return missing.length ? `no column ${listing(missing)}; found ${listing(names)}: ${advice}` : "";
}

/** Compare texts by code points, as Python does: JavaScript compares halves of characters beyond 65,535. */
function byPoint(a, b) {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  const [x, y] = [a, b].map((text) => (text.charCodeAt(i) || -1) + (/^[\ud800-\udfff]/.test(text[i]) ? 0x10000 : 0));
  return x - y;
}

/** Read the cells of the wanted columns of a text, and the numbers of their rows, as `read_frame`. */
function readColumns(text, options, notes, tell) {
  const { columns, conflicts, name } = options, { time } = CONSTANTS, table = tableOf(text, options), { names } = table;
  noteReturns(text, table.separator, notes);
  nameColumns(names, columns);
  const taken = takenColumns(names, columns, notes), places = taken.map((column) => names.indexOf(column));
  const wrong = wrongColumns(table.header, names, columns, taken);
  const cells = columns.map(() => []), rows = [], again = [], moved = [], meant = meaning(columns, taken);
  const long = rowsOf(table, tell, (record, row) => {
    const found = places.map((place) => record[place] ?? ""), roles = meant(found[2]) >= 0 ? found.map(meant) : [];
    if (roles.join() === "0,1,2") again.push(row);
    else if (roles.sort().join() === "0,1,2") moved.push([row, found.map(strip)]);
    else (rows.push(row), found.forEach((cell, i) => cells[i].push(stripped(cell))));
  });
  refuseBroken(table, long, `${name} cannot be read as CSV: `);
  refuse(wrong, wrong);
  refuse(["first", "last"].includes(conflicts) && names.includes(time), `column ${time} says which label came `
    + `${conflicts}, and is not read here: sort the rows by it and rename it, or use the command line`);
  noteUnread(names, taken, notes);
  refuse(moved.length, `rows ${listing(moved.map(([row]) => row))}${FIRST_ROW} name the columns in another order than `
    + `the header (${listing(moved[0]?.[1] ?? [])}), as in two files one after the other: give the files one by one, `
    + "or put their columns in one order");
  if (again[0]) notes.push(`${again.length} rows repeat the header and are left out: two files one after the other?`);
  const none = again[0] ? "all rows repeat the header" : "the table has a header but no rows";
  refuse(!rows.length, `no labels: ${none}`);
  const nested = taken !== columns && cells[2].find((label) => /^[[{]/.test(label));
  refuse(nested, `labels such as ${begun(nested || "")} are JSON, which this page cannot read: use cofactor aggregate`);
  return { cells, rows };
}

/** Read the header of a table, which is below empty lines; its other records come one by one. */
function tableOf(text, { columns, name, sep }) {
  const begin = text.search(/[^\r\n]/), above = text.slice(0, begin).split(/\r\n|\r|\n/).length - 1;
  refuse(begin < 0, `${name} is empty: expected a header row and one row per label`);
  refuse(/^\s*[[{]/.test(text), `${name} is JSON, which this page cannot read: save the table as CSV`);
  const separator = sep || separatorOf(text.slice(begin, begin + CONSTANTS.head), columns), seen = { row: above };
  const records = recordsOf(text, separator, begin, seen), header = records.next().value, names = namesOf(header);
  const { mostColumns } = CONSTANTS, needed = "leave only those that are needed";
  refuse(names.length > mostColumns, `the table has more than ${mostColumns} columns: ${needed}`);
  return { separator, seen, records, header, names };
}

/** Hand on all rows that are not empty; return those that are longer than the header, in words. */
function rowsOf({ header, records, seen }, tell, take) {
  const long = [];
  for (const cells of records) {
    if (cells.length > header.length) long.push(`row ${seen.row} (${cells.length} cells)`);
    if (seen.row % 100000 === 0) tell(`reading, row ${seen.row}`);
    if (cells.some((cell) => cell !== "")) take(cells, seen.row);
  }
  return long;
}

function refuseBroken({ header, separator, seen }, long, unread) {
  refuse(seen.goesOn, `${unread}there is text after a closing quote in row ${seen.goesOn}${FIRST_ROW}: `
    + "write a quote within a cell twice, and put the whole cell in quotes");
  refuse(long.length, `more cells than the ${header.length} of the header in ${listing(long)}${FIRST_ROW}: `
    + `mend these rows; cells that hold ${repr(separator)} belong in quotes`);
  refuse(seen.unclosed, `${unread}a quote in row ${seen.unclosed}${FIRST_ROW} is never closed: `
    + "close it, or write a quote within a cell twice");
}

/** Return a function: which column a cell names, perhaps behind the mark of a second file; as crowd/layouts.py. */
function meaning(columns, taken) {
  const known = new Map([...CONSTANTS.roles, ...[...taken, ...columns].map((name, i) => [plain(name), i % 3])]);
  return (cell) => known.get(plain(cell.replace(/^\ufeff+/, "").replace(/^"+|"+$/g, "")));
}

// ---- columns to labels ----

/** Read labels: coded, sorted by task, then worker, one for each pair of them, or parts of one by `share`. */
function readLabels(text, options, notes, tell) {
  const { cells, rows } = readColumns(text, options, notes, tell), absent = [[""], [""], CONSTANTS.noLabel];
  const different = cells.map((of) => new Set(of));
  const names = different.map((some, i) => [...some].filter((name) => !absent[i].includes(name)));
  const gaps = different.map((some, i) => absent[i].some((name) => some.has(name)));
  const missing = cells.map((of, i) => (gaps[i] ? rows.filter((_, e) => absent[i].includes(of[e])) : []));
  noteOddNames(names, rows.length - missing[2].length, notes);
  const alike = names.map((some, i) => lookAlikes(some, i === 2)), whats = ["tasks", "workers", "classes"];
  if (!options.merge) whats.forEach((what, i) => noteLookAlikes(alike[i], what, notes));
  options.columns.forEach((name, i) => {
    refuse(missing[i].length, `missing ${name} in rows ${listing(missing[i])}${FIRST_ROW}: fill or drop them`);
  });
  const columns = coded(options.merge ? cells.map((of, i) => merged(of, alike[i])) : cells, options.ignore);
  const [task, worker, label] = columns, { ids } = label;
  noteNoAnswers(label, notes);
  refuse(ids.length < 2, `only one class (${listing(ids)}): there is nothing to tell apart; `
    + "where others exist but were never used, name them all with classes=[...] (--classes)");
  const { kept, share } = opinions(columns, options.conflicts, notes), taken = ({ codes }) => kept.map((e) => codes[e]);
  const coding = { task: taken(task), worker: taken(worker), label: taken(label), share };
  return { tasks: task.ids, workers: worker.ids, classes: ids, ...coding };
}

/** Write one name for each group of them, that which is used most, of equal ones the first. */
function merged(cells, groups) {
  const used = grouped(cells, (cell) => cell), count = (name) => used.get(name).length;
  const most = (group) => group.reduce((best, name) => (count(name) > count(best) ? name : best));
  const names = new Map(groups.flatMap((group) => group.map((name) => [name, most(group)])));
  return cells.map((cell) => names.get(cell) ?? cell);
}

/**
 * Return the different cells of every column in order, whole numbers by size if all are, else text; and the places of
 * all cells there. Rows whose label is none are left out, as in crowd/answers.py.
 */
function coded(cells, ignore) {
  const none = new Set(ignore.map(oneWay)), out = (label) => none.size > 0 && none.has(oneWay(label));
  const left = range(cells[2].length).filter((e) => !out(cells[2][e]));
  refuse(!left.length, `no labels: all are ${listing(ignore.map(repr))}, which count as no answer`);
  const bySize = (a, b) => Number(a) - Number(b) || Number(BigInt(a) - BigInt(b));
  return cells.map((column) => {
    const numbers = column.every((cell) => PLAIN_NUMBER.test(cell));
    const first = new Map(), codes = new Int32Array(left.length);
    left.forEach((e, i) => {
      const code = first.get(column[e]) ?? first.size;
      if (code === first.size) first.set(column[e], code);
      codes[i] = code;
    });
    const ids = [...first.keys()].sort(numbers ? bySize : byPoint), place = new Int32Array(ids.length);
    ids.forEach((id, i) => { place[first.get(id)] = i; });
    return { ids, numbers, codes: codes.map((code) => place[code]) };
  });
}

/** Return rows by task, then worker, and their shares: of several answers of one worker to a task what is asked for. */
function opinions([task, worker, label], conflicts, notes) {
  const kept = [], share = [], clashes = [], take = (e, part) => (kept.push(e), share.push(part));
  const shown = ({ ids, numbers, codes }, e) => (numbers ? ids[codes[e]] : repr(ids[codes[e]]));
  const order = byTask(task.codes, worker.codes);
  for (let i = 0, end; i < order.length; i = end) {
    const e = order[i], same = (x) => task.codes[x] === task.codes[e] && worker.codes[x] === worker.codes[e];
    for (end = i + 1; end < order.length && same(order[end]); ) end++;
    const rows = order.slice(i, end), answers = grouped(rows, (x) => label.codes[x]);
    const parts = conflicts === "all" ? [...answers].sort((a, b) => a[0] - b[0]) : [];
    for (const [, alike] of parts) take(alike[0], alike.length / rows.length);
    if (conflicts !== "all") take(conflicts === "last" ? rows.at(-1) : e, 1);
    if (answers.size > 1) clashes.push(e);
  }
  const pair = (e) => `task ${shown(task, e)} by worker ${shown(worker, e)}`;
  refuse(conflicts === "error" && clashes.length, `conflicting labels: ${listing(clashes.map(pair))}; `
    + "mend the data, or keep one with conflicts='first' or 'last'; 'all' counts each of m answers of a worker 1/m");
  const again = conflicts === "all" ? 0 : order.length - kept.length;
  if (again) notes.push(`${again} labels were given again by the same worker on the same task: one each was kept`);
  return { kept, share };
}
