"use strict";
/*
 * From the bytes of a CSV file to coded labels, by the same rules and in the same words as `cofactor aggregate`; what
 * is said of names is in notes.js.
 *
 * A `Refusal` is input that cannot be used. Its message is that of the library (core/frames.py, crowd/labels.py);
 * tests/browser/test_aggregate_page.py holds the two equal. CONSTANTS comes from Python, see cli/page.py.
 */

class Refusal extends Error {}

const QUOTE = 34, LINE_FEED = 10, RETURN = 13;
const FIRST_ROW = " (the first line is row 1)";

// ---- bytes to text ----

/** Return the text of a file; refuse what is no UTF-8, or no text at all. */
function textOf(bytes, name) {
  const begins = (...codes) => codes.every((code, i) => bytes[i] === code);
  for (const [what, ...codes] of CONSTANTS.packed) {
    if (begins(...codes)) throw new Refusal(`${name} is ${what}`);
  }
  const unread = "which this page cannot read: save the table as CSV";
  if (begins(80, 65, 82, 49)) throw new Refusal(`${name} is parquet, ${unread}`);
  const start = begins(0xef, 0xbb, 0xbf) ? 3 : 0;
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(start));
  } catch {
    const where = firstBad(bytes, start) - start;
    throw new Refusal(`${name} is not utf-8 text (byte ${where}): `
      + "save it as UTF-8, or name its encoding, for example encoding='latin-1'");
  }
  const zero = bytes.indexOf(0);
  if (zero >= 0) {
    throw new Refusal(`${name} cannot be read as CSV: it is no text: byte ${zero} is zero; `
      + "name its encoding, for example encoding='utf-16', or save it as UTF-8");
  }
  return text.replace(/^\ufeff+/, "");
}

/** Return the place of the first byte that is not UTF-8. */
function firstBad(bytes, at) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for (let length; at < bytes.length; at += length) {
    length = bytes[at] < 0x80 ? 1 : bytes[at] < 0xe0 ? 2 : bytes[at] < 0xf0 ? 3 : 4;
    try {
      if (length > 1) decoder.decode(bytes.subarray(at, at + length));
    } catch {
      return at;
    }
  }
  return at;
}

// ---- text to cells ----

/** Reads one record after another: cells between separators, in quotes or not. */
class Records {
  constructor(text, separator, at = 0) {
    [this.text, this.separator, this.at, this.unclosed] = [text, separator.charCodeAt(0), at, false];
    this.goesOn = false; // a cell does, behind its closing quote
  }

  /** Return the cells of the next record; null at the end. */
  next() {
    if (this.at >= this.text.length) return null;
    for (const cells = []; ; ) {
      cells.push(this.cell());
      const code = this.text.charCodeAt(this.at++);
      if (code === this.separator) continue;
      if (code === RETURN && this.text.charCodeAt(this.at) === LINE_FEED) this.at++;
      return cells;
    }
  }

  cell() {
    if (this.text.charCodeAt(this.at) !== QUOTE) return this.open();
    const within = this.quoted(), behind = this.open();
    if (strip(behind)) this.goesOn = true;
    return within + behind;
  }

  open() {
    const begin = this.at, text = this.text, end = text.length;
    for (; this.at < end; this.at++) {
      const code = text.charCodeAt(this.at);
      if (code === this.separator || code === LINE_FEED || code === RETURN) break;
    }
    return text.slice(begin, this.at);
  }

  quoted() {
    for (let found = "", begin = this.at + 1; ; ) {
      const close = this.text.indexOf('"', begin);
      this.unclosed = close < 0;
      if (this.unclosed) return found + this.text.slice(begin, (this.at = this.text.length));
      found += this.text.slice(begin, close);
      this.at = close + 1;
      if (this.text.charCodeAt(this.at) !== QUOTE) return found;
      found += '"';
      begin = this.at + 1;
    }
  }
}

// ---- cells to columns ----

/** Return the separator under which the header names most of the wanted columns, then most columns at all. */
function separatorOf(text, columns) {
  const wanted = new Set(columns.map(plain));
  const fits = Array.from(CONSTANTS.separators, (separator) => {
    const names = (new Records(text, separator).next() ?? []).map(plain);
    return [new Set(names.filter((name) => wanted.has(name))).size, names.length, separator];
  });
  return fits.reduce((best, fit) => (fit[0] > best[0] || (fit[0] === best[0] && fit[1] > best[1]) ? fit : best))[2];
}

/** Name columns as pandas does: those without a name by their place, those of one name by a number. */
function namesOf(header) {
  const given = new Map();
  return header.map((name, place) => {
    name ||= `Unnamed: ${place}`;
    for (let count = given.get(name) ?? 0; count; count = given.get(name) ?? 0) {
      given.set(name, count + 1);
      name = `${name}.${count}`;
    }
    given.set(name, 1);
    return strip(name);
  });
}

/** Return the places of the wanted columns; capitals and blanks do not matter where only one column can be meant. */
function placesOf(names, columns) {
  for (const wanted of columns) {
    const alike = names.flatMap((name, i) => (plain(name) === plain(wanted) && !columns.includes(name) ? [i] : []));
    if (!names.includes(wanted) && alike.length === 1) names[alike[0]] = wanted;
  }
  const missing = columns.filter((name) => !names.includes(name));
  if (missing.length) {
    const other = names.length === 1 && Array.from(CONSTANTS.separators).find((one) => names[0].includes(one));
    const which = `say which column is which, for example ${missing[0]}='${names[0]}', or rename`;
    const advice = other ? `columns seem to be separated by another character, say sep='${other}'` : which;
    throw new Refusal(`no column ${listing(missing)}; found ${listing(names)}: ${advice}`);
  }
  const twice = columns.filter((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice.length) throw new Refusal(`more than one column is called ${listing(twice)}: rename all but one`);
  return columns.map((name) => names.indexOf(name));
}

/** The codes of one column by the order in which its values came, and the rows in which there is none. */
class Column {
  constructor(name, absent) {
    [this.name, this.absent, this.codes, this.known, this.missing] = [name, absent, [], new Map(), []];
  }

  add(cell, row) {
    const value = stripped(cell);
    if (this.absent.includes(value)) this.missing.push(row);
    let code = this.known.get(value);
    if (code === undefined) this.known.set(value, (code = this.known.size));
    this.codes.push(code);
  }

  /** Return the values in order, and the codes of the cells in it: whole numbers by size if all are, else text. */
  sorted() {
    const values = [...this.known.keys()], numbers = values.every((value) => PLAIN_NUMBER.test(value));
    const order = values.map((_, code) => code).sort((a, b) => (numbers ? bySize : byPoint)(values[a], values[b]));
    const place = new Int32Array(order.length);
    order.forEach((code, i) => (place[code] = i));
    const codes = Int32Array.from(this.codes, (code) => place[code]);
    return { ids: order.map((code) => values[code]), codes, numbers };
  }
}

function bySize(a, b) {
  if (a.length < 16 && b.length < 16) return Number(a) - Number(b);
  const difference = BigInt(a) - BigInt(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Compare texts by code points, as Python does: JavaScript compares halves of characters beyond 65,535. */
function byPoint(a, b) {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const x = a.charCodeAt(i), y = b.charCodeAt(i);
    if (x !== y) return lifted(x) - lifted(y);
  }
  return a.length - b.length;
}

function lifted(half) {
  return half >= 0xd800 && half < 0xe000 ? half + 0x10000 : half;
}

/** Read the wanted columns of a text, as `read_frame` and `read_labels`. */
function readColumns(text, { columns, conflicts, name }, notes, tell) {
  const begin = text.search(/[^\r\n]/), above = (text.slice(0, begin).match(/\r\n|\r|\n/g) ?? []).length;
  if (begin < 0) throw new Refusal(`${name} is empty: expected a header row and one row per label`);
  if (/^[\s]*[[{]/.test(text)) throw new Refusal(`${name} is JSON, which this page cannot read: save the table as CSV`);
  const separator = separatorOf(text.slice(begin, begin + CONSTANTS.head), columns);
  const records = new Records(text, separator, begin), header = records.next(), names = namesOf(header);
  refuseMany(names);
  const found = columns.map((column, i) => new Column(column, i < 2 ? [""] : CONSTANTS.noLabel));
  const looked = () => (refuseTwice(header.map(strip), columns), placesOf(names, columns));
  const { value: places = [], error } = caught(looked), long = []; // other errors come first
  let row = above + 2, again = 0, goesOn = records.goesOn ? above + 1 : 0;
  for (let cells; (cells = records.next()); row++) {
    if (records.goesOn && !goesOn) goesOn = row;
    if (cells.length > header.length) long.push(`row ${row} (${cells.length} cells)`);
    if (row % 100000 === 0) tell(`reading, row ${row}`);
    if (!cells.some((cell) => cell !== "")) continue;
    if (places.length && places.every((place, i) => repeatsName(cells[place], columns[i]))) again++;
    else places.forEach((place, i) => found[i].add(cells[place] ?? "", row));
  }
  refuseBroken(name, goesOn);
  refuseLong(long, header.length, separator);
  if (records.unclosed) {
    throw new Refusal(`${name} cannot be read as CSV: `
      + `a quote in row ${row - 1}${FIRST_ROW} is never closed: close it, or write a quote within a cell twice`);
  }
  if (error) throw error;
  refuseTimes(names, conflicts);
  noteUnread(names, columns, notes);
  if (again) notes.push(`${again} rows repeat the header and are left out: two files one after the other?`);
  if (!found[0].codes.length && again) throw new Refusal("no labels: all rows repeat the header");
  if (!found[0].codes.length) throw new Refusal("no labels: the table has a header but no rows");
  return found;
}

/** Whether a cell is the name of a column again, perhaps behind the byte order mark of a second file. */
function repeatsName(cell, column) {
  return plain((cell ?? "").replace(/^\ufeff+/, "")) === plain(column);
}

/** Refuse a header without end. */
function refuseMany(names) {
  const { mostColumns } = CONSTANTS;
  if (names.length <= mostColumns) return;
  throw new Refusal(`the table has more than ${mostColumns} columns: leave only those that are needed`);
}

/** Refuse wanted columns of one name: `namesOf` gives the second a new one. */
function refuseTwice(header, columns) {
  const twice = columns.filter((name) => header.indexOf(name) !== header.lastIndexOf(name));
  if (twice.length) throw new Refusal(`more than one column is called ${listing(twice)}: rename all but one`);
}

/** Refuse to choose by the order of the rows where a column says when each label was given. */
function refuseTimes(names, conflicts) {
  if (["first", "last"].includes(conflicts) && names.includes(CONSTANTS.time)) {
    throw new Refusal(`column ${CONSTANTS.time} says which label came ${conflicts}, and is not read here: `
      + "sort the rows by it and rename it, or use the command line");
  }
}

/** Refuse a row in which a cell goes on behind its closing quote. */
function refuseBroken(name, row) {
  if (row) {
    throw new Refusal(`${name} cannot be read as CSV: there is text after a closing quote in row ${row}${FIRST_ROW}: `
      + "write a quote within a cell twice, and put the whole cell in quotes");
  }
}

function caught(action) {
  try {
    return { value: action() };
  } catch (error) {
    return { error };
  }
}

function refuseLong(long, cells, separator) {
  if (long.length) {
    throw new Refusal(`more cells than the ${cells} of the header in ${listing(long)}${FIRST_ROW}: `
      + `mend these rows; cells that hold ${repr(separator)} belong in quotes`);
  }
}

// ---- columns to labels ----

/** Read labels: coded, sorted by task, then worker, one for each pair of them, or parts of one by `share`. */
function readLabels(text, options, notes, tell) {
  const found = readColumns(text, options, notes, tell);
  const names = found.map(({ known, absent }) => [...known.keys()].filter((value) => !absent.includes(value)));
  noteOddNames(names, found[2].codes.length - found[2].missing.length, notes);
  for (const [i, what] of ["tasks", "workers", "classes"].entries()) noteLookalikes(names[i], what, notes);
  for (const { name, missing } of found) {
    if (missing.length) throw new Refusal(`missing ${name} in rows ${listing(missing)}${FIRST_ROW}: fill or drop them`);
  }
  const [task, worker, label] = answered(found.map((column) => column.sorted()), options.ignore);
  noteNoAnswers(label.ids, notes);
  if (label.ids.length < 2) {
    throw new Refusal(`only one class (${listing(label.ids)}): there is nothing to tell apart; `
      + "where others exist but were never used, name them all with classes=[...] (--classes)");
  }
  const of = options.conflicts === "all" ? partsOfOne : oneLabelEach;
  const { kept, share } = of(task, worker, label, options.conflicts, notes);
  const taken = (codes) => kept.map((e) => codes[e]);
  return {
    tasks: task.ids, workers: worker.ids, classes: label.ids, share: share ?? kept.map(() => 1),
    task: taken(task.codes), worker: taken(worker.codes), label: taken(label.codes),
  };
}

/** Leave out rows whose label is none, and ids that no other row has; as crowd/answers.py. */
function answered(columns, ignore) {
  const { ids, codes } = columns[2], none = new Set(ignore.map(oneWay));
  const out = ids.map((name) => none.has(oneWay(name)));
  if (!out.includes(true)) return columns;
  const rows = Array.from(codes, (_, e) => e).filter((e) => !out[codes[e]]);
  if (!rows.length) throw new Refusal(`no labels: all are ${listing(ignore.map(repr))}, which count as no answer`);
  return columns.map((column) => {
    const used = [...new Set(rows.map((e) => column.codes[e]))].sort((a, b) => a - b);
    const place = new Map(used.map((code, k) => [code, k]));
    const left = Int32Array.from(rows, (e) => place.get(column.codes[e]));
    return { ...column, ids: used.map((code) => column.ids[code]), codes: left };
  });
}

/** Return rows by task, worker and label, each different answer once, and its share among those of its worker there. */
function partsOfOne(task, worker, label) {
  const columns = [task, worker, label];
  const order = [...columns].reverse().reduce((rows, { ids, codes }) => sortedBy(codes, ids.length, rows), undefined);
  const same = (i, n) => i > 0 && columns.slice(0, n).every(({ codes }) => codes[order[i]] === codes[order[i - 1]]);
  const kept = [], times = [], opinion = [], answers = []; // the last: of every worker for a task
  order.forEach((e, i) => {
    if (!same(i, 2)) answers.push(0);
    if (!same(i, 3)) (kept.push(e), times.push(0), opinion.push(answers.length - 1));
    times[times.length - 1]++;
    answers[answers.length - 1]++;
  });
  return { kept, share: times.map((n, x) => n / answers[opinion[x]]) };
}

/** Return `kept`, rows by task, then worker: of those of one pair, the first or the last. */
function oneLabelEach(task, worker, label, conflicts, notes) {
  const byWorker = sortedBy(worker.codes, worker.ids.length), order = sortedBy(task.codes, task.ids.length, byWorker);
  const repeats = (i) => i > 0 && i < order.length
    && task.codes[order[i]] === task.codes[order[i - 1]] && worker.codes[order[i]] === worker.codes[order[i - 1]];
  const again = order.map((_, i) => i).filter(repeats), pairs = new Set();
  if (!again.length) return { kept: [...order] };
  const shown = ({ ids, numbers, codes }, e) => (numbers ? ids[codes[e]] : repr(ids[codes[e]]));
  for (const i of conflicts === "error" ? again : []) {
    const clash = label.codes[order[i]] !== label.codes[order[i - 1]];
    if (clash) pairs.add(`task ${shown(task, order[i])} by worker ${shown(worker, order[i])}`);
  }
  if (pairs.size) {
    throw new Refusal(`conflicting labels: ${listing([...pairs])}; `
      + "mend the data, or keep one with conflicts='first' or 'last'; 'all' counts each of m answers of a worker 1/m");
  }
  notes.push(`${again.length} labels were given again by the same worker on the same task: one each was kept`);
  return { kept: [...order].filter((_, i) => !repeats(conflicts === "last" ? i + 1 : i)) };
}

/** Return row numbers sorted by a code, ties as in `rows`. */
function sortedBy(codes, size, rows = codes.map((_, e) => e)) {
  const next = new Int32Array(size + 1), order = new Int32Array(rows.length);
  for (const code of codes) next[code + 1]++;
  for (let k = 0; k < size; k++) next[k + 1] += next[k];
  for (const e of rows) order[next[codes[e]]++] = e;
  return order;
}
